/* barrier_unit.c - barriers of blocks and clusters: when the released warps continue. Their
 * semantics are in emu/exec. */
#include "emu/sm/units.h"

static void block_barrier(pl_issue_slot *x)
{
    pl_sm *s = x->s;
    pl_sm_cta *b = x->t->cta;
    uint64_t at = pl_port_enter(&s->unit[PL_UNIT_BARRIER].port, x->now,
                                (uint64_t)s->m->sync.barrier_warp * PL_SUBCYCLES) +
                  s->m->sync.barrier;
    if (x->d->nwrite || x->d->npwrite) at += s->m->sync.barrier_reduce;
    x->t->not_before = at;
    x->t->not_before_reason = PL_STALL_BARRIER;
    /* Otherwise there is nothing to wait for. */
    if ((pl_warp_release_barrier(s, b, x->now, at) || b->live == 1) && b->accessed) {
        s->stat.barriers++;
        b->accessed = false;
    }
}

/* Effects on other SMs must be visible there, and all effects unless it is .relaxed. */
static void cluster_arrive(pl_issue_slot *x)
{
    pl_sm *s = x->s;
    pl_sm_warp *t = x->t;
    uint64_t fenced = x->d->fence ? pl_fence_gpu(s, t, x->now) : x->now;
    if (t->remote_done > fenced) fenced = t->remote_done;
    if (fenced > t->cta->fence_end) t->cta->fence_end = fenced;
    t->not_before = fenced;
    t->not_before_reason = PL_STALL_MEMBAR;
    pl_warp_release_barrier(s, t->cta, x->now, t->cta->fence_end + s->m->sync.cluster);
}

void pl_barrier_issue(pl_issue_slot *x)
{
    switch ((pl_kind)x->d->kind) {
    case PL_KIND_BARRIER: block_barrier(x); break;
    case PL_KIND_CLUSTER_ARRIVE: cluster_arrive(x); break;
    default:
        pl_l1_invalidate(&x->s->l1);
        x->t->not_before = x->t->cta->fence_end + x->s->m->sync.cluster;
        x->t->not_before_reason = PL_STALL_BARRIER;
        break;
    }
}
