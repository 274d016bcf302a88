/* warp_progress.c - the progress of a warp from one issue to the next. Zero-cost instructions in
 * between are executed. It ends at an instruction to issue, at an event to wait for, or with the
 * exit of the warp. */
#include "emu/sm/units.h"

/* Cycles until a warp's exit is resolved. */
uint32_t pl_warp_exit_resolved(const pl_sm *s)
{
    return s->m->issue.exit ? s->m->issue.exit : s->m->op[PL_OP_BRANCH].latency;
}

/* Cycles from the exit until the warp has left the SM: the exit is resolved, and its stores leave
 * the SM first. */
uint64_t pl_warp_exit_drain(const pl_sm *s, const pl_sm_warp *t, uint64_t now)
{
    const uint64_t least = pl_warp_exit_resolved(s) + s->m->launch.warp_end;
    return t->stores_sent_at > now + least ? t->stores_sent_at - now : least;
}

void pl_warp_end(pl_sm *s, pl_sm_warp *t, uint64_t now)
{
    pl_sm_cta *b = t->cta;
    uint32_t index = pl_warp_index(s, t);
    if (t->queued || !pl_warp_stores_sent(s, t)) {
        t->wait = PL_WAIT_QUEUED;
        t->next = NULL;
        if (!t->queued && t->last_request < s->exit_waits_for) s->exit_waits_for = t->last_request;
        pl_warp_set_ready(s, index, PL_NEVER);
        return;
    }
    now += pl_warp_exit_drain(s, t, now);
    s->stat.warp_cycles += now + 1 - t->started;
    t->w = NULL;
    t->wait = PL_WAIT_DONE;
    t->next = NULL;
    pl_warp_set_ready(s, index, PL_NEVER);
    if (--s->live_warps == 0) s->stat.cycles_active += now + 1 - s->busy_since;
    pl_subcore *c = &s->sub[index % s->nsub];
    if (--c->live == 0) c->cycles_active += now + 1 - c->busy_since;
    if (now > s->last_exit) s->last_exit = now;
    if (--b->live > 0) return;
    s->ended[s->nended].time = now + 1;
    s->ended[s->nended++].cta = b->cta;
    b->cta = NULL;
}

/* A zero-cost instruction: executed at once; an instruction that needs its results waits for its
 * operands instead (compiler/codegen/control_codes.c). */
static void execute_zero_cost(pl_sm *s, pl_sm_warp *t, const pl_decoded_insn *d, uint32_t pc,
                              uint64_t now)
{
    if (d->ordered) pl_team_turn_wait(&s->turn);
    pl_warp_step(t->w, NULL);
    pl_warp_release_barrier(s, t->cta, now, now + s->m->sync.barrier);
    if (s->pc_stat) s->pc_stat[pc].executed++; /* lanes are counted per issue, and there is none */
    if (d->bank) pl_const_bank_ready(s, t, d, now);
}

/* A wait for the phase of an mbarrier has failed: the hardware holds the warp, and the instruction
 * is retried without being issued. Only if no other lanes of the warp can continue meanwhile. */
bool pl_warp_retry(pl_sm *s, pl_sm_warp *t, const pl_decoded_insn *d, uint32_t pc, pl_lanes lanes,
                   uint64_t now)
{
    pl_warp *w = t->w;
    const pl_insn *i = &w->code[pc];
    if (!d->is_try_wait || w->halves > 1 || w->state != PL_WARP_READY || w->pc != pc + 1 ||
        i->guard == i->op[0] || pl_guarded(w, i) != lanes)
        return false;
    if (!((uint32_t)lanes & ~w->pred[i->op[0]])) return false;
    w->pc = pc;
    t->next = NULL;
    t->wait = PL_WAIT_TRY;
    pl_warp_set_ready(s, pl_warp_index(s, t), now + s->m->sync.mbarrier);
    return true;
}

/* Checks the phase again; true: the warp continues. */
static bool retry_succeeds(pl_sm *s, pl_sm_warp *t, uint64_t now)
{
    pl_warp *w = t->w;
    const pl_insn *i = pl_warp_peek(w);
    if (!i) return true;
    const uint32_t pc = (uint32_t)(i - w->code);
    const pl_decoded_insn *d = &s->dec->at[pc];
    const pl_lanes lanes = pl_guarded(w, i);
    w->clock = now;
    s->fx.mask = 0;
    pl_warp_step(w, &s->fx);
    const bool woken = t->copy_ended;
    t->copy_ended = false;
    if (pl_warp_retry(s, t, d, pc, lanes, now)) return false;
    t->not_before = now;
    t->not_before_reason = PL_STALL_LONG_SCOREBOARD;
    /* It waited for the end of the copy. */
    if (woken)
        pl_scoreboard_result(t, d, now, PL_SB_LONG);
    else
        pl_mbarrier_passed(s, t, d, now);
    return true;
}

/* The warp has no instruction to issue: its lanes have exited, wait, or have faulted. */
static void stop_issuing(pl_sm *s, pl_sm_warp *t, uint64_t now)
{
    const pl_warp *w = t->w;
    t->next = NULL;
    switch ((pl_warp_state)w->state) {
    case PL_WARP_DONE: pl_warp_end(s, t, now); return;
    case PL_WARP_FAULT:
        s->fault = true;
        t->wait = PL_WAIT_DONE;
        pl_warp_set_ready(s, pl_warp_index(s, t), PL_NEVER);
        return;
    case PL_WARP_SLEEP: {
        uint64_t wake = PL_NEVER;
        for (uint32_t k = 0; k < w->nsplits; k++) {
            if (w->split[k].wait == PL_SPLIT_SLEEP && w->split[k].wake < wake)
                wake = w->split[k].wake;
        }
        t->wait = PL_WAIT_SLEEP;
        t->not_before = wake > now ? wake : now + 1;
        if (wake == PL_NEVER) t->not_before = now + s->m->sync.sleep;
        t->not_before_reason = PL_STALL_SLEEPING;
        pl_warp_set_ready(s, pl_warp_index(s, t), t->not_before);
        return;
    }
    default:
        t->wait = PL_WAIT_BARRIER;
        t->not_before_reason = PL_STALL_BARRIER;
        pl_warp_set_ready(s, pl_warp_index(s, t), PL_NEVER);
        return;
    }
}

void pl_warp_advance(pl_sm *s, pl_sm_warp *t, uint64_t now)
{
    pl_warp *w = t->w;
    if (t->wait == PL_WAIT_TRY && !retry_succeeds(s, t, now)) return;
    t->wait = PL_WAIT_NONE;
    for (;;) {
        w->clock = now;
        const pl_insn *i = pl_warp_peek(w);
        if (!i) break;
        uint32_t pc = (uint32_t)(i - w->code);
        const pl_decoded_insn *d = &s->dec->at[pc];
        if (d->price->issues &&
            (!d->division_path ||
             pl_division_path_needed(w, i, (pl_division_path)d->division_path))) {
            t->next = d;
            pl_scoreboard_settle(s, t, now);
            return;
        }
        execute_zero_cost(s, t, d, pc, now);
    }
    stop_issuing(s, t, now);
}

/* True for a warp whose next instruction is unknown because its lanes wait for others. */
static bool waits_for_others(const pl_sm_warp *t)
{
    return t->wait == PL_WAIT_BARRIER || t->wait == PL_WAIT_SLEEP;
}

static bool has_ready_split(const pl_warp *w)
{
    for (uint32_t k = 0; k < w->nsplits; k++) {
        if (w->split[k].wait == PL_SPLIT_READY) return true;
    }
    return false;
}

bool pl_warp_resume_released(pl_sm *s, pl_sm_cta *b, uint64_t now, uint64_t at)
{
    bool any = false;
    b->releases = b->cta->releases;
    for (uint32_t i = 0; i < s->m->sm.warps; i++) {
        pl_sm_warp *t = &s->warp[i];
        if (!t->w || t->cta != b || !waits_for_others(t) || !has_ready_split(t->w)) continue;
        t->not_before = at;
        t->not_before_reason = PL_STALL_BARRIER;
        any = true;
        pl_warp_advance(s, t, now);
    }
    return any;
}
