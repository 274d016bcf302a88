/* fence_unit.c - fences and sleeps: when a warp continues after them. */
#include "emu/sm/stall_accounting.h"
#include "emu/sm/units.h"

/* The end of a fence: at least `cycles` after the warp reached it and its last store left the SM,
 * and at least fence_drain after all preceding accesses were answered. */
static uint64_t fence_end(pl_sm *s, pl_sm_warp *t, uint64_t now, double each, uint32_t cycles)
{
    const uint64_t from =
        pl_port_enter(&s->unit[PL_UNIT_FENCE].port, t->fence_from ? t->fence_from : now,
                      (uint64_t)(each * PL_SUBCYCLES));
    const uint64_t last = t->fence_answered_at ? t->fence_answered_at + s->m->sync.fence_drain : 0,
                   end = from + cycles > last ? from + cycles : last;
    t->fence_waited = false;
    t->fence_from = t->fence_mark = t->fence_answered_at = 0;
    return end;
}

/* The cycle at which a fence of gpu scope issued now completes. It goes to the parts of the L2 that
 * requests of the SM reached since the preceding fence; one that starts while that is in progress
 * does not complete earlier (fence.tsv). */
uint64_t pl_fence_gpu(pl_sm *s, pl_sm_warp *t, uint64_t now)
{
    const pl_sync_config *m = &s->m->sync;
    const uint32_t round_trip = s->far_l2_replied ? m->fence_far
                                : s->l2_replied   ? m->fence_near
                                                  : 0;
    const uint64_t end = fence_end(s, t, now, round_trip ? 0 : m->fence_gpu_interval,
                                   round_trip > m->fence_gpu ? round_trip : m->fence_gpu);
    if (end > s->fence_end) s->fence_end = end;
    s->l2_replied = s->far_l2_replied = false;
    s->stat.exchanges += 2;
    return s->fence_end;
}

/* The fence before a releasing access: one or two MEMBAR, ERRBAR, CGAERRBAR. */
void pl_fence_issue_release(pl_sm *s, pl_subcore *c, pl_sm_warp *t, uint64_t now)
{
    const uint32_t fence = t->next->releases, pc = t->w->pc, active = pl_count_lanes(t->w->active),
                   lanes = pl_count_lanes(pl_guarded(t->w, &t->w->code[pc]));
    pl_stall_account_fence(s, t, now);
    s->stat.inst += fence;
    s->stat.exchanges--;      /* no CCTL */
    s->stat.lsu += fence - 2; /* MEMBAR */
    s->stat.adu++;
    s->stat.thread_inst += (uint64_t)fence * active;
    s->stat.thread_on += (uint64_t)fence * lanes;
    c->issues += fence;
    if (s->pc_stat) {
        s->pc_stat[pc].issues += fence;
        s->pc_stat[pc].lanes += (uint64_t)fence * lanes;
    }
    c->issue_free = now + fence;
    t->issued = now + fence - 1;
    t->stall = 0;
    t->not_before = pl_fence_gpu(s, t, now);
    t->not_before_reason = PL_STALL_MEMBAR;
    t->release_fence_done = true;
    pl_scoreboard_settle(s, t, now);
}

/* A fence of the block, or between the proxies of its shared memory. */
static uint64_t fence_cta(pl_issue_slot *x)
{
    const pl_sync_config *m = &x->s->m->sync;
    return pl_port_enter(&x->s->unit[PL_UNIT_FENCE].port, x->now,
                         (uint64_t)(m->fence_cta_interval * PL_SUBCYCLES)) +
           m->fence_cta;
}

void pl_fence_issue(pl_issue_slot *x)
{
    pl_sm *s = x->s;
    pl_sm_warp *t = x->t;
    const pl_sync_config *m = &s->m->sync;
    t->not_before_reason = PL_STALL_MEMBAR;
    switch ((pl_kind)x->d->kind) {
    case PL_KIND_FENCE_VIEW:
        t->not_before = fence_cta(x);
        t->not_before_reason = PL_STALL_SHORT_SCOREBOARD;
        break;
    case PL_KIND_FENCE_CTA: t->not_before = fence_cta(x); break;
    case PL_KIND_FENCE_PROXY: t->not_before = x->now + m->fence_proxy; break;
    case PL_KIND_FENCE_SYS:
        t->not_before = fence_end(s, t, x->now, m->fence_sys_interval, m->fence_sys);
        pl_l1_invalidate(&s->l1);
        break;
    default:
        t->not_before = pl_fence_gpu(s, t, x->now);
        pl_l1_invalidate(&s->l1);
        break;
    }
}

void pl_sleep_issue(pl_issue_slot *x)
{
    const pl_sync_config *m = &x->s->m->sync;
    x->t->not_before = pl_port_enter(&x->s->unit[PL_UNIT_SLEEP].port, x->now,
                                     (uint64_t)(m->sleep_interval * PL_SUBCYCLES)) +
                       m->sleep;
    x->t->not_before_reason = PL_STALL_SLEEPING;
}
