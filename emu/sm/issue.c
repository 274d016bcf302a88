/* issue.c - the issue stage: executes a warp's instruction, and sends it to the required pipes and
 * units.
 *
 * Steps: stall accounting, execution (one pl_warp_step), operands and arithmetic pipes, the unit of
 * the instruction, then the consequences for the warp. Times of results are recorded in
 * scoreboards. */
#include "emu/exec/async/async.h"
#include "emu/sm/stall_accounting.h"
#include "emu/sm/units.h"

/* Cycles from issue to result: of its class, of its access, or PL_LATENCY_LATER. */
static uint32_t result_latency(const pl_sm *s, uint64_t now, uint64_t latency)
{
    pl_inflight *k = s->inflight.last == PL_NO_TOKEN ? NULL : &s->inflight.at[s->inflight.last];
    if (k && k->remaining > 0) {
        k->inst_event_pending = s->g->sink->done != NULL;
        return k->inst_event_pending ? PL_LATENCY_LATER : 0;
    }
    uint64_t at = k ? k->ready : s->untracked_ready;
    return (uint32_t)(at > now ? at - now : latency);
}

/* Emits the instruction event. */
static void emit(const pl_issue_slot *x)
{
    const pl_sm *s = x->s;
    const pl_sink *sink = s->g->sink;
    if (!sink || !sink->inst) return;
    pl_inst_event e = {.seq = x->seq,
                       .cycle = x->now,
                       .block = (uint32_t)x->t->w->cta->number,
                       .warp = x->t->w->index,
                       .pc = x->pc,
                       .mask = x->mask,
                       .weight = x->issues + x->fences,
                       .active = (uint8_t)x->active,
                       .sm = (uint16_t)s->id,
                       .subcore = (uint8_t)(x->warp % s->nsub),
                       .stall = x->reason,
                       .stall_cycles = (uint32_t)x->waited,
                       .latency = result_latency(s, x->now, x->latency)};
    sink->inst(sink->ctx, &e);
}

/* Executes the instruction. */
static void execute(pl_issue_slot *x)
{
    pl_sm *s = x->s;
    pl_warp *w = x->t->w;
    w->clock = x->now;
    x->nsplits = w->nsplits;
    s->fx.mask = 0;
    s->inflight.last = PL_NO_TOKEN;
    s->untracked_ready = 0;
    if (x->d->ordered) pl_team_turn_wait(&s->turn);
    pl_warp_step(w, !x->d->needs_effect ? NULL : w->halves > 1 ? s->halves : &s->fx);
}

static void count(pl_issue_slot *x)
{
    const pl_decoded_insn *d = x->d;
    pl_sm_stat *sum = &x->s->stat;
    pl_pc_stat *st = x->st;
    sum->exchanges += d->exchange;
    sum->inst += x->issues;
    sum->thread_inst += (uint64_t)x->issues * x->active;
    sum->thread_on += (uint64_t)x->issues * x->lanes;
    sum->targets += d->metric.targets;
    sum->cbu += d->metric.cbu;
    sum->adu += d->metric.adu;
    sum->writebacks += d->metric.writebacks;
    sum->const_requests += d->metric.ldc;
    sum->lsu += (uint64_t)(int64_t)d->metric.lsu;
    sum->branches += d->price->branches;
    x->c->issues += x->issues;
    if (!st) return;
    st->issues += x->issues;
    st->executed++;
    st->lanes += (uint64_t)x->issues * x->lanes;
    st->branches += d->metric.targets; /* exiting the kernel does not count */
}

/* The issue occupies the scheduler and the warp. */
static void occupy_scheduler(pl_issue_slot *x)
{
    const pl_issue_config *m = &x->s->m->issue;
    const uint64_t busy = (uint64_t)x->d->price->issues * m->interval;
    x->c->issue_free = x->now + (busy + m->width - 1) / m->width;
    x->t->issued = x->now + busy - 1;
    x->t->not_before = 0;
    x->t->refetch_cycles = 0;
}

/* Arithmetic that stalls the warp until it completes. */
static void hold_warp(pl_issue_slot *x)
{
    const pl_price *p = x->d->price;
    if (x->d->division_path) { /* the lanes that do not need it wait for the others */
        x->t->not_before = x->now + p->latency;
        x->t->not_before_reason = PL_STALL_BRANCH;
    }
    if (p->ends && x->d->kind == PL_KIND_MATH) {
        x->t->not_before = x->start + x->latency;
        x->t->not_before_reason = PL_STALL_WAIT;
    }
}

/* Processes the effects of the instruction on other warps, and its requests to the driver. */
static void after_unit(pl_issue_slot *x)
{
    pl_sm *s = x->s;
    pl_warp *w = x->t->w;
    if (s->inflight.ncompleted) pl_completions_apply(s, x->now);
    pl_warp_release_barrier(s, x->t->cta, x->now, x->now + s->m->sync.barrier);
    if (w->driver_request.work != PL_DRIVER_NONE) {
        x->t->not_before = pl_driver_response_cycle(s, w, x->now);
        x->t->not_before_reason = PL_STALL_LONG_SCOREBOARD;
    }
    if (s->async_timed && w->async && w->async->n) pl_async_landing_start(s, x->t, x->now);
}

void pl_issue(pl_sm *s, pl_subcore *c, uint32_t warp, uint64_t now)
{
    pl_sm_warp *t = &s->warp[warp];
    const pl_decoded_insn *d = t->next;
    if (d->releases && !t->release_fence_done) {
        pl_fence_issue_release(s, c, t, now);
        return;
    }
    pl_warp *w = t->w;
    const pl_lanes mask = pl_guarded(w, &w->code[w->pc]);
    pl_issue_slot x;
    x.s = s;
    x.c = c;
    x.t = t;
    x.d = d;
    x.warp = warp;
    x.pc = w->pc;
    x.st = pl_sm_pc_stat(s, x.pc);
    x.mask = mask;
    x.active = pl_count_lanes(w->active);
    x.lanes = mask == w->active ? x.active : pl_count_lanes(mask);
    x.both_halves =
        (uint32_t)mask && mask >> PL_LANES; /* both halves of the warp have active lanes */
    x.fences = t->release_fence_done ? d->releases : 0; /* issued by pl_fence_issue_release */
    x.rounds = d->kind == PL_KIND_BULK && x.lanes ? x.lanes - 1 : 0;
    x.issues = d->price->issues + d->code.nops + x.rounds * s->m->async.bulk_lane_issues;
    x.now = now;
    x.seq = s->g->sink ? s->g->seq++ : 0;
    t->release_fence_done = false;
    pl_stall_account(&x, t->structural_reason);
    t->structural_reason = PL_STALL_NOT_SELECTED;
    execute(&x);
    if (w->state == PL_WARP_DONE) {
        t->exit_pc = x.pc;
        pl_stall_account_exit(&x);
    }
    count(&x);
    occupy_scheduler(&x);
    pl_math_pipes_issue(&x);
    hold_warp(&x);
    if (d->unit) s->unit[d->unit].issue(&x);
    after_unit(&x);
    if (x.st) x.st->latency += x.latency;
    emit(&x);
    if (!pl_warp_retry(s, t, d, x.pc, mask, now)) pl_warp_advance(s, t, now);
}
