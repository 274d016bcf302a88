/* driver_calls.c - latencies of functions of the driver: printf, malloc, free. */
#include "emu/sm/units.h"

/* A warp has called a function of the driver. Returns the cycle of the response. Part of the work
 * is done in parallel, the rest is serialised over the whole GPU. Calls are ordered
 * (pl_decoded_insn.ordered), so that their order does not depend on host threads. */
uint64_t pl_driver_answer(const pl_sm *s, pl_warp *w, uint64_t now)
{
    const pl_driver_config *m = &s->m->driver;
    const uint64_t lanes = w->asked.lanes,
                   bytes = w->asked.bytes <= m->alloc_small ? w->asked.bytes : 80;
    uint64_t own = 0, turn = 0;
    switch ((pl_driver_work)w->asked.what) {
    case PL_DRIVER_PRINT:
        own = m->print + m->print_turn;
        turn = m->print_turn;
        break;
    case PL_DRIVER_ALLOC:
        own =
            m->alloc + (uint64_t)((m->alloc_lane + m->alloc_byte * (double)bytes) * (double)lanes);
        turn = (uint64_t)((m->alloc_turn + m->alloc_turn_byte * (double)bytes) * (double)lanes);
        break;
    case PL_DRIVER_FREE:
        own = m->free + m->free_lane * lanes;
        turn = m->free_turn * lanes;
        break;
    case PL_DRIVER_NONE: break;
    }
    w->asked.what = PL_DRIVER_NONE;
    uint64_t *free = &s->g->driver_free, start = *free > now ? *free : now;
    *free = start + turn;
    return start + own;
}
