/* warp.c - running a warp: the instruction loop and the selection of a split. Divergence is in
 * simt_splits.c, calls are in calls.c.
 *
 * Read next: simt_splits.c, barrier.c (barriers between warps), op_control.c (the instructions that
 * call these functions). */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emu/exec/async/async.h"
#include "emu/exec/hooks.h"
#include "emu/exec/simt_splits.h"

enum {
    SPLIT_QUANTUM = 4096, /* instructions before another ready split runs */
    POLL_YIELD = 24,      /* polls before other warps run */
    PAUSE_WORK = 1 << 12, /* a warp that executes more instructions between two pauses does not only
                             poll (timing mode; otherwise its time slice counts) */
    SPIN_RELEASE = 4,     /* pauses after which splits that wait to reconverge are released ... */
    IDLE_RELEASE = 32     /* ... and, if the loop only reads, pauses during which no other thread
                             makes progress */
};

/* Makes split k the current one. */
static void select_split(pl_warp *w, unsigned k)
{
    pl_simt_split *s = &w->split[k];
    w->current = (uint8_t)k;
    w->active = s->mask;
    w->pc = s->pc;
    w->regs = pl_warp_frame(w, s);
    w->pred = pl_warp_preds(w, s);
    s->executed = 0;
    s->yielded = false;
    w->stop = false;
}

static bool wake_if_due(const pl_warp *w, pl_simt_split *s)
{
    if (s->wait == PL_SPLIT_SLEEP && s->wake <= w->clock) s->wait = PL_SPLIT_READY;
    if (s->wait == PL_SPLIT_CLUSTER && pl_cluster_phase(w->cta) > s->cluster_phase) {
        s->wait = PL_SPLIT_READY;
        s->cluster_arrived = false;
    }
    if (s->wait == PL_SPLIT_GRID && w->grid->previous->complete) s->wait = PL_SPLIT_READY;
    return s->wait == PL_SPLIT_READY;
}

/* The lanes that diverged last, among those that do not wait at a reconvergence point. */
static unsigned top_split(const pl_warp *w)
{
    unsigned top = PL_MAX_SPLITS;
    for (unsigned k = 0; k < w->nsplits; k++)
        if (w->split[k].wait != PL_SPLIT_CONVERGE &&
            (top == PL_MAX_SPLITS || w->split[k].age > w->split[top].age))
            top = k;
    return top;
}

/* The reconvergence stack of GPUs before Volta: only the lanes that diverged last run; the others
 * wait until these have reached the reconvergence point. When the lanes on top wait, the whole warp
 * waits. In irreducible control flow, the points of optimised code, which is that of Volta, may
 * wait for each other. A stack has no such points, so these release their lanes. */
static bool choose_top_split(pl_warp *w)
{
    unsigned top = top_split(w);
    if (top == PL_MAX_SPLITS && pl_split_release_waiting(w)) top = top_split(w);
    if (top == PL_MAX_SPLITS || !wake_if_due(w, &w->split[top])) return false;
    select_split(w, top);
    return true;
}

/* Selects a split that can run, starting after the current one. */
static bool choose_split(pl_warp *w)
{
    if (w->grid->simt_stack) return choose_top_split(w);
    for (int pass = 0; pass < 2; pass++) {
        for (unsigned n = 0; n < 2u * w->nsplits; n++) {
            unsigned k = (w->current + n) % w->nsplits;
            pl_simt_split *s = &w->split[k];
            if ((n >= w->nsplits || !s->yielded) && wake_if_due(w, s)) {
                select_split(w, k);
                pl_split_merge_at_yield(w);
                return true;
            }
        }
        /* Only lanes at reconvergence points remain: those that they wait for are at a barrier. */
        bool converging = false, others = false;
        for (unsigned k = 0; k < w->nsplits; k++) {
            converging |= w->split[k].wait == PL_SPLIT_CONVERGE;
            others |= w->split[k].wait == PL_SPLIT_SLEEP;
        }
        if (!converging || others || !pl_split_release_waiting(w)) break;
    }
    return false;
}

static pl_warp_state waiting_state(pl_warp *w)
{
    if (pl_failed(w->grid)) return PL_WARP_FAULT;
    if (!w->nsplits) return PL_WARP_DONE;
    for (unsigned k = 0; k < w->nsplits; k++)
        if (w->split[k].wait == PL_SPLIT_SLEEP) return PL_WARP_SLEEP;
    return PL_WARP_BARRIER;
}

/* Advances the warp to an instruction that can execute. */
static bool ready(pl_warp *w)
{
    for (;;) {
        if (w->stop || !w->nsplits || w->split[w->current].wait != PL_SPLIT_READY) {
            if (pl_failed(w->grid) || !w->nsplits || !choose_split(w)) return false;
        }
        if (!(w->code[w->pc].flags & PL_IF_SYNC_POINT) || pl_split_converge(w)) return true;
    }
}

bool pl_warp_poll(pl_warp *w, uint64_t clock)
{
    w->clock = clock;
    if (w->state == PL_WARP_DONE || w->state == PL_WARP_FAULT) return false;
    bool ok = ready(w);
    w->state = (uint8_t)(ok ? PL_WARP_READY : waiting_state(w));
    return ok;
}

const pl_insn *pl_warp_peek(pl_warp *w)
{
    if (!ready(w)) {
        w->state = (uint8_t)waiting_state(w);
        return NULL;
    }
    w->state = PL_WARP_READY;
    return &w->code[w->pc];
}

/* Switches to the next ready split of the warp. */
static void rotate(pl_warp *w)
{
    for (unsigned n = 1; n < 2u * w->nsplits; n++) {
        unsigned k = (w->current + n) % w->nsplits;
        if (n == w->nsplits || (n < w->nsplits && w->split[k].yielded)) continue;
        if (wake_if_due(w, &w->split[k])) {
            pl_split_save(w);
            select_split(w, k);
            pl_split_merge_at_yield(w);
            return;
        }
    }
}

void pl_warp_switch_split(pl_warp *w, uint64_t number)
{
    if (w->split[w->current].wait == PL_SPLIT_READY && !w->stop)
        for (uint64_t n = number % w->nsplits; n > 0; n--) rotate(w);
}

void pl_warp_note_poll(pl_warp *w, uint64_t address)
{
    const unsigned n = sizeof w->poll_addresses / sizeof *w->poll_addresses;
    w->polls++;
    w->split[w->current].poll_pc = w->pc + 1;
    w->split[w->current].poll_address = address;
    for (unsigned k = 0; k < n; k++)
        if (w->poll_addresses[k] == address) return;
    w->poll_addresses[w->npoll_addresses++ % n] = address;
    w->wrote = true; /* it walks through memory, which counts as progress */
}

/* True if nothing makes progress while the warp polls: neither threads that count as advances, nor
 * a warp of the block that only computes. */
static bool polls_without_progress(const pl_warp *w)
{
    if (w->idle_pauses < IDLE_RELEASE) return false;
    for (uint32_t k = 0; k < w->cta->nwarps; k++) {
        const pl_warp *o = &w->cta->warp[k];
        if (o->state != PL_WARP_DONE && o->state != PL_WARP_BARRIER &&
            o->idle_pauses < IDLE_RELEASE)
            return false;
    }
    return true;
}

/* Records a polling pause, and whether the instructions since the last one made progress. */
static void note_pause(pl_warp *w)
{
    const pl_grid *g = w->grid->head;
    if (w->wrote || w->executed - w->pause_at > PAUSE_WORK) ++*w->cta->advances;
    const bool others = w->advances != g->advances || w->cta_advances != *w->cta->advances;
    w->idle_pauses = others ? 0 : w->idle_pauses + 1;
    if (w->advances != g->advances) w->spin_pauses = 0;
    w->spin_pauses += w->uses_clock ? 1 : PL_IDLE_STEP;
    w->used_clock = w->uses_clock;
    w->wrote = w->uses_clock = false;
    w->advances = g->advances;
    w->cta_advances = *w->cta->advances;
    w->pause_at = w->executed;
}

/* After an instruction with PL_IF_CONTROL. Spinning splits yield to others. Returns true if the
 * warp should pause. */
static bool after_control(pl_warp *w)
{
    if (w->async) pl_async_tick(w);
    if (pl_failed(w->grid) || !w->nsplits) return false;
    if (w->stop) return false;
    w->pc = w->next;
    if (w->switch_pending) {
        w->switch_pending = false;
        rotate(w);
        w->split[w->current].yielded = false;
    }
    if (w->polls >= POLL_YIELD || w->yield) {
        const bool wrote = w->wrote;
        w->polls = 0;
        w->yield = false;
        note_pause(w);
        if (w->nsplits > 1 && !w->grid->simt_stack) {
            const bool stuck = wrote || polls_without_progress(w);
            if (++w->spins >= SPIN_RELEASE && stuck && pl_split_release_waiting(w)) w->spins = 0;
            rotate(w);
        }
        return true;
    }
    if (w->nsplits > 1 && !w->grid->simt_stack && ++w->split[w->current].executed > SPLIT_QUANTUM)
        rotate(w);
    return false;
}

/* Executes the instruction at pc for the lanes whose guard is true. */
static inline void execute(pl_warp *w, const pl_insn *i)
{
    w->next = w->pc + 1;
    if (w->halves > 1) {
        pl_wave_execute(w, i);
        return;
    }
    uint32_t exec = (uint32_t)w->active;
    if (i->guard != PL_PT || i->flags & PL_IF_GUARD_NEG) {
        const uint32_t p = w->pred[i->guard];
        exec &= i->flags & PL_IF_GUARD_NEG ? ~p : p;
    }
    if (exec) {
        w->all = exec;
        pl_warp_set_exec(w, exec);
        i->exec(w, i);
    } else if (w->grid->hooks) {
        w->grid->hooks->skips(w->grid->hooks, w, i);
    }
}

pl_warp_state pl_warp_step(pl_warp *w, pl_memory_effect *fx)
{
    if (!ready(w)) return (pl_warp_state)(w->state = (uint8_t)waiting_state(w));
    const pl_insn *i = &w->code[w->pc];
    w->executed++;
    w->lane_executed += pl_count_lanes(w->active);
    for (unsigned h = 0; fx && h < w->halves; h++) fx[h].mask = 0;
    w->fx = fx;
    execute(w, i);
    w->fx = NULL;
    w->paused = false;
    if (i->flags & PL_IF_CONTROL)
        w->paused = after_control(w);
    else
        w->pc = w->next;
    return (pl_warp_state)(w->state =
                               (uint8_t)(w->nsplits && !pl_failed(w->grid) ? PL_WARP_READY
                                                                           : waiting_state(w)));
}

/* True if any lane executes the instruction; with two halves, always true. */
static bool executes(const pl_warp *w, const pl_insn *i)
{
    const uint32_t p = w->pred[i->guard];
    return w->halves > 1 || (uint32_t)w->active & (i->flags & PL_IF_GUARD_NEG ? ~p : p);
}

bool pl_warp_stops_at_store(pl_warp *w, const pl_insn *i)
{
    if (w->store_hold != PL_HOLD_NEXT_STORE || !(i->flags & PL_IF_STORE) || !executes(w, i))
        return false;
    w->store_hold = PL_HOLD_AT_STORE;
    return true;
}

/* True if the wait of w must not end before v has come to it. A warp that is at a barrier or has
 * ended does not come. */
static bool is_behind(const pl_warp *v, const pl_warp *w)
{
    if (v->state == PL_WARP_DONE || v->state == PL_WARP_BARRIER) return false;
    return v->group_waits < w->group_waits || (v->group_waits == w->group_waits && !v->group_hold);
}

bool pl_warp_stops_at_group_wait(pl_warp *w)
{
    enum { ROUNDS = 32 }; /* warps of a group that come to different waits do not wait forever */
    const pl_grid *g = w->grid->head;
    if (g->random || g->weak || g->max_slice) return false;
    if (!w->group_hold) w->group_hold = ROUNDS;
    const uint32_t warps = 4u / w->halves, first = w->index / warps * warps;
    const pl_cta *c = w->cta;
    bool stops = false;
    for (uint32_t k = first; k < first + warps && k < c->nwarps; k++)
        stops |= k != w->index && is_behind(&c->warp[k], w);
    w->group_hold = stops ? (uint8_t)(w->group_hold - 1) : 0;
    return w->group_hold;
}

enum { CHECK_EVERY = 1024 }; /* instructions; if they are printf, these take a tenth of a second */

/* The loop of functional mode. Counts are held in local variables; memory events are off
 * (pl_warp_step serves traces). */
pl_warp_state pl_warp_run(pl_warp *w, uint64_t limit)
{
    uint64_t n = 0, lanes = 0;
    pl_pc_stat *stat = w->cta->pc_stat;
    const pl_insn *code = w->code;
    const volatile int *const cancel = w->grid->cancel;
    const uint16_t ordered = w->cta->stops_at_ordered ? PL_IF_ORDERED : 0;
    /* When to check the limit and the stop flag. */
    uint64_t next_check = limit < CHECK_EVERY ? limit : CHECK_EVERY;
    for (;;) {
        if (!ready(w)) {
            w->state = (uint8_t)waiting_state(w);
            break;
        }
        w->state = PL_WARP_READY;
        if (n >= next_check) {
            if (n >= limit || pl_stop_flag(cancel)) break;
            next_check = limit - n < CHECK_EVERY ? limit : n + CHECK_EVERY;
        }
        const pl_insn *i = &code[w->pc];
        const uint16_t stores = w->store_hold == PL_HOLD_NEXT_STORE ? PL_IF_STORE : 0;
        if ((i->flags & ordered) && executes(w, i)) break;
        if ((i->flags & stores) && pl_warp_stops_at_store(w, i)) break;
        if ((i->flags & PL_IF_GROUP_WAIT) && pl_warp_stops_at_group_wait(w)) break;
        bool pause = false;
        const uint64_t before = n;
        const uint32_t active_lanes = pl_count_lanes(w->active);
        /* without a frame no lanes reconverge with the split */
        const uint16_t converges = w->split[w->current].frame ? PL_IF_SYNC_POINT : 0;
        const uint16_t ends = converges | ordered | stores | PL_IF_GROUP_WAIT;
        do { /* straight-line code of one split */
            n++;
            if (stat) {
                stat[w->pc].executed++;
                stat[w->pc].lanes += active_lanes;
            }
            execute(w, i);
            if (i->flags & PL_IF_CONTROL) {
                pause = after_control(w);
                break;
            }
            /* A fault: the following instructions do not execute. */
            if ((i->flags & PL_IF_MEM) && w->stop) break;
            w->pc = w->next;
            i = &code[w->pc];
        } while (!(i->flags & ends));
        w->clock += n - before;
        lanes += (n - before) * active_lanes;
        if (pause) break;
    }
    w->executed += n;
    w->lane_executed += lanes;
    return (pl_warp_state)w->state;
}
