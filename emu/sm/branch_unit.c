/* branch_unit.c - branches, calls, returns and reconvergence: when the warp continues after
 * them. */
#include "emu/sm/units.h"

/* Indirect branches, yields and reconvergence points pass the branch unit sequentially, after the
 * stall count of the warp. */
static uint64_t enter_unit(pl_issue_slot *x, uint32_t each)
{
    return pl_port_enter(&x->s->unit[PL_UNIT_BRANCH].port, x->t->stall,
                         (uint64_t)each * PL_SUBCYCLES);
}

/* The cycle at which the target is known. */
static uint64_t resolve(pl_issue_slot *x, bool diverges)
{
    const pl_issue_config *m = &x->s->m->issue;
    const pl_decoded_insn *d = x->d;
    if (d->indirect) return enter_unit(x, m->indirect_interval) + m->jump;
    if (d->yields) return enter_unit(x, m->indirect_interval) + m->yield;
    const uint64_t in = d->reconverges ? enter_unit(x, m->reconverge_interval) : x->t->stall;
    const uint32_t latency = d->price->latency;
    return in + (latency > m->branch ? latency - m->branch : 0) + (diverges ? m->divergence : 0);
}

void pl_branch_issue(pl_issue_slot *x)
{
    const pl_issue_config *m = &x->s->m->issue;
    const pl_warp *w = x->t->w;
    pl_sm_warp *t = x->t;
    const bool diverges = w->nsplits > x->nsplits;
    x->s->stat.divergent += diverges; /* pc_stat counts divergence where it occurs (op_control.c) */
    /* Not taken: only the stall count applies. */
    if (w->state == PL_WARP_DONE || (x->d->guarded && w->pc == x->pc + 1 && !diverges)) return;
    t->not_before_reason = PL_STALL_BRANCH;
    t->not_before = resolve(x, diverges);
    if (x->d->reconverges && w->pc == x->pc) t->not_before = t->stall + m->rejoin;
    if (m->refetch && (w->pc != x->pc + 1 || x->d->yields)) {
        const uint64_t resolved = t->not_before;
        t->not_before =
            pl_port_enter(&x->c->redirected, resolved, (uint64_t)m->refetch * PL_SUBCYCLES) +
            m->refetch;
        t->refetch_cycles = (uint32_t)(t->not_before - resolved);
    }
}
