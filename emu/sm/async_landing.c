/* async_landing.c - asynchronous operations that take effect when they are complete (--async
 * timed). */
#include "emu/exec/async/async.h"
#include "emu/sm/units.h"

/* Operations that the warp has just started wait for the token of their instruction; without one
 * they take as long as the access. */
void pl_async_landing_start(pl_sm *s, const pl_sm_warp *t, uint64_t now)
{
    pl_inflight *k = s->inflight.last == PL_NO_TOKEN ? NULL : &s->inflight.at[s->inflight.last];
    uint64_t at = k ? k->ready : t->remote_done > now ? t->remote_done : now + s->m->shared.latency;
    bool open = k && k->remaining;
    if (!pl_async_set_token(t->w, open ? k->id : 0, at)) return;
    if (open)
        k->owner = t->w;
    else if (at < s->inflight.async_at)
        s->inflight.async_at = at;
}

/* Copies have completed: warps held by the hardware for an mbarrier check it again. */
static void wake_try_waits(pl_sm *s, uint64_t now)
{
    for (uint32_t k = 0; k < s->m->sm.warps; k++) {
        pl_sm_warp *t = &s->warp[k];
        if (!t->w || t->wait != PL_WAIT_TRY) continue;
        t->copy_ended = true;
        pl_warp_set_ready(s, k, now);
    }
}

void pl_async_landing(pl_sm *s, uint64_t now)
{
    bool any_applied = false;
    s->inflight.async_at = PL_NEVER;
    /* Reductions in global memory: those of preceding SMs come first. */
    if (s->dec->late_atomics) pl_team_turn_wait(&s->turn);
    for (uint32_t k = 0; k < s->ncta; k++) {
        pl_cta *c = s->cta[k].cta;
        for (uint32_t n = 0; c && n < c->nwarps; n++) {
            if (!c->warp[n].async || !c->warp[n].async->n) continue;
            const size_t before = c->warp[n].async->n;
            uint64_t at = pl_async_apply_due(&c->warp[n], now);
            any_applied |= c->warp[n].async->n < before;
            if (at < s->inflight.async_at) s->inflight.async_at = at;
        }
    }
    if (any_applied) wake_try_waits(s, now);
}
