/* completion.c - reports completions of units to the warps that wait for them. */
#include "emu/sm/units.h"

/* The last access of the warp in the queue of the L1 has been processed, or its stores have left:
 * the warp's exit or a fence may wait for this. */
static void on_accesses_sent(pl_sm *s, pl_sm_warp *t, uint64_t now)
{
    if (t->wait == PL_WAIT_STORES) pl_scoreboard_wake(s, pl_warp_index(s, t), now);
    if (t->wait != PL_WAIT_QUEUED) return;
    if (!pl_warp_stores_sent(s, t)) {
        if (t->last_request < s->exit_waits_for) s->exit_waits_for = t->last_request;
        return;
    }
    /* it ended earlier: all cycles since then count as exit drain */
    const uint64_t cycles =
        now - t->issued + pl_warp_exit_drain(s, t, now) - pl_warp_exit_drain(s, t, t->issued);
    s->stat.stall[PL_STALL_DRAIN] += cycles;
    if (s->pc_stat) s->pc_stat[t->exit_pc].stall[PL_STALL_DRAIN] += cycles;
    pl_warp_end(s, t, now);
}

/* Ends warps whose stores have left. */
static void end_drained_warps(pl_sm *s, uint64_t now)
{
    s->exit_waits_for = PL_NEVER;
    for (uint32_t k = 0; k < s->m->sm.warps; k++) {
        pl_sm_warp *t = &s->warp[k];
        if (t->w && t->wait == PL_WAIT_QUEUED && !t->queued) on_accesses_sent(s, t, now);
    }
}

/* A store or an atomic operation has completed. */
static void on_store_reply(pl_sm *s, uint64_t now)
{
    s->requests_out--;
    if (s->exit_waits_for <= pl_sm_last_sent(s)) end_drained_warps(s, now);
    if (s->fence_waits_for <= s->requests - s->requests_out) {
        s->fence_waits_for = PL_NEVER;
        pl_scoreboard_wake_all(s, PL_WAIT_STORES, now);
    }
}

/* A bulk copy has completed: warps that wait for its mbarrier continue. */
static void on_bulk_copy_done(pl_sm *s, const pl_completion *c)
{
    for (uint32_t k = 0; k < s->m->sm.warps; k++) {
        pl_sm_warp *t = &s->warp[k];
        if (!t->w || t->awaited_copy != c->id) continue;
        t->awaited_copy = 0;
        pl_scoreboard_end_wait(s, t, t->awaited_copy_sb, c->ready);
    }
}

static void on_inflight_done(pl_sm *s, const pl_completion *c)
{
    pl_sm_warp *t = &s->warp[c->warp];
    if (c->copy && --t->copies[c->group] == 0) t->copies_done_at[c->group] = c->ready;
    if (c->bulk) on_bulk_copy_done(s, c);
    if (!t->w || t->age != c->age) return;
    if (!c->bulk) t->outstanding--;
    if (c->scoreboard != PL_SB_NONE) pl_scoreboard_end_wait(s, t, c->scoreboard, c->ready);
    if (c->copy && t->wait == PL_WAIT_COPIES) pl_scoreboard_settle(s, t, s->now);
    if (c->copy && t->wait == PL_WAIT_NONE && t->next && t->next->kind == PL_KIND_COPY_WAIT &&
        c->ready > t->not_before) {
        t->not_before = c->ready;
        pl_scoreboard_settle(s, t, s->now);
    }
    if (t->wait == PL_WAIT_QUEUED && !t->outstanding && !t->queued)
        on_accesses_sent(s, t, c->ready > s->now ? c->ready : s->now);
}

void pl_completions_apply(pl_sm *s, uint64_t now)
{
    for (uint32_t k = 0; k < s->inflight.ncompleted; k++) {
        const pl_completion *c = &s->inflight.completed[k];
        pl_sm_warp *t = &s->warp[c->warp];
        switch ((pl_completion_kind)c->what) {
        case PL_COMPLETED_INFLIGHT: on_inflight_done(s, c); break;
        case PL_COMPLETED_READ: pl_scoreboard_end_wait(s, t, c->scoreboard, c->ready); break;
        case PL_COMPLETED_QUEUED:
            if (--t->queued == 0) on_accesses_sent(s, t, now);
            break;
        case PL_COMPLETED_STORE: on_store_reply(s, now); break;
        }
    }
    s->inflight.ncompleted = 0;
}
