/* math_pipes.h - computes when the arithmetic pipes and register banks of a sub-core can accept an
 * instruction. The scheduler calls this for every ready warp, so it is inline. */
#ifndef PL_EMU_SM_MATH_PIPES_H
#define PL_EMU_SM_MATH_PIPES_H

#include "emu/sm/units.h"

/* Register reads that an instruction's dispatch can wait for (Huerta et al., MICRO 2025: a window
 * of three cycles). */
enum { PL_READ_WINDOW = 2 };

/* The registers that instruction d at `pc` reads from each bank if the warp issues it now. */
static inline const uint8_t *pl_bank_reads(const pl_subcore *c, const pl_decoded_insn *d,
                                           uint32_t pc, uint32_t warp)
{
    return d
        ->reads[d->reuse_distance && c->read_warp == warp && c->read_pc + d->reuse_distance == pc];
}

/* The first cycle from `now` on at which pipes and banks can accept instruction d; *reason: the
 * pl_stall of the busy resource. */
static inline uint64_t pl_math_pipes_free(const pl_sm *s, const pl_subcore *c,
                                          const pl_decoded_insn *d, uint32_t warp, uint64_t now,
                                          uint8_t *reason)
{
    const pl_price *p = d->price;
    uint64_t at = now;
    for (uint32_t k = 0; k < p->npipes; k++) {
        if (p->pipe[k].pipe >= PL_PIPE_FIRST_SHARED) continue;
        const uint64_t wait = pl_port_wait(&c->pipe[pl_decoded_pipe(d, p->pipe[k].pipe)], now);
        if (now + wait <= at) continue;
        at = now + wait;
        *reason = PL_STALL_MATH_PIPE;
    }
    const uint8_t *reads = pl_bank_reads(c, d, (uint32_t)(d - s->dec->at), warp);
    for (uint32_t b = 0; b < s->m->sm.register_banks; b++) {
        if (!reads[b] || c->bank_free[b] <= at + PL_READ_WINDOW) continue;
        at = c->bank_free[b] - PL_READ_WINDOW;
        *reason = PL_STALL_DISPATCH;
    }
    return at;
}

#endif
