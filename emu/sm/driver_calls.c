/* driver_calls.c - latencies of functions of the driver: printf, malloc, free. */
#include "emu/sm/units.h"

/* A warp has called a function of the driver. Returns the cycle of the response. Part of the work
 * is done in parallel, the rest is serialised over the whole GPU. Calls are ordered
 * (pl_decoded_insn.ordered), so that their order does not depend on host threads. */
uint64_t pl_driver_response_cycle(const pl_sm *s, pl_warp *w, uint64_t now)
{
    const pl_driver_config *m = &s->m->driver;
    const uint64_t lanes = w->driver_request.lanes,
                   bytes = w->driver_request.bytes <= m->alloc_small ? w->driver_request.bytes : 80;
    uint64_t total = 0, serialised = 0;
    switch ((pl_driver_work)w->driver_request.work) {
    case PL_DRIVER_PRINT:
        total = m->print + m->print_interval + m->print_lane * lanes;
        if (!s->g->printed) total += m->print_first;
        s->g->printed = true;
        serialised = m->print_interval;
        break;
    case PL_DRIVER_ALLOC:
        total =
            m->alloc + (uint64_t)((m->alloc_lane + m->alloc_byte * (double)bytes) * (double)lanes);
        serialised = (uint64_t)((m->alloc_interval + m->alloc_interval_byte * (double)bytes) *
                                (double)lanes);
        break;
    case PL_DRIVER_FREE:
        total = m->free + m->free_lane * lanes;
        serialised = m->free_interval * lanes;
        break;
    case PL_DRIVER_NONE: break;
    }
    w->driver_request.work = PL_DRIVER_NONE;
    uint64_t *busy_until = &s->g->driver_free, start = *busy_until > now ? *busy_until : now;
    *busy_until = start + serialised;
    return start + total;
}
