/* functional.c - functional mode: runs the blocks of a launch sequentially, or interleaved when
 * they wait for each other.
 *
 * A block runs alone until it ends, all its warps spin or wait, or its time slice ends. Then the
 * next block runs, up to max_resident blocks: as many as the machine can hold at once, so that
 * blocks that wait for others (grid barriers, locks) behave as on hardware. Only blocks that wait
 * in loops that also store or contain a barrier use up a time slice. With consecutive grids, the
 * blocks of the next grid start as soon as those of the preceding one permit it.
 *
 * The warps of a block run one after the other, each to a barrier or its end. But each of them
 * stops before and after its first store of a phase, until the others have reached theirs: on
 * hardware they run together, and programs with races between warps rely on that. For the same
 * reason a warp stops before wgmma.wait_group until the other warps of its group have come there.
 */
#include <stdlib.h>
#include <string.h>

#include "emu/exec/deadlock_report.h"
#include "emu/exec/functional.h"
#include "isa/program/insn_query.h"

enum {
    SLICE = 1 << 16,      /* instructions of a warp's time slice */
    PROGRESS_ROUNDS = 64, /* rounds of blocks between progress reports */
    IDLE_ROUNDS = 3, /* rounds of a block without an instruction before the next block starts */
    SPIN_ROUNDS = 1 << 13, /* rounds in which all running blocks only poll: then no other event can
                              follow. PL_IDLE_STEP times as many if they also read a clock */
    RECUR_ROUNDS = 64,     /* the same, per block, if all of them repeat their states */
    SUSPEND_ROUNDS = 256,  /* the same, after which a launch that may wait is suspended, */
    WAIT_ROUNDS = 4,       /* and again suspended */
    RUN_SLICE = 1 << 17,   /* instructions of a launch that is suspended again, for PL_LONG_RUN */
    LATER_BLOCK_SLICE = 1 << 18, /* instructions of a block's time slice, after those of
 PL_FIRST_BLOCK_SLICE */
    RANDOM_SLICE = 96,           /* random schedule: maximum instructions of a time slice */
    RANDOM_BLOCKS = 24,          /* random schedule: blocks that run interleaved */
    SECTOR = 32,
    MOST_SECTORS = 4 * PL_LANES /* of an access of 16 bytes of each lane */
};

/* Number of distinct 32-byte sectors that the lanes access. In local memory lanes with the same
 * offset share lines: word w of lane l is at w * 128 + l * 4. */
static uint16_t count_sectors(const pl_memory_effect *fx)
{
    const bool local = fx->space == PL_SP_LOCAL;
    const uint64_t unit = local ? 4 : SECTOR;
    uint64_t seen[MOST_SECTORS];
    unsigned n = 0;
    for (unsigned l = 0; l < PL_LANES; l++) {
        if (!((fx->mask >> l) & 1u)) continue;
        const uint64_t last = (fx->addr[l] + (fx->size ? fx->size - 1u : 0)) / unit;
        for (uint64_t at = fx->addr[l] / unit; at <= last; at++) {
            const uint64_t s = local ? at * PL_LANES * 4 / SECTOR + l * 4 / SECTOR : at;
            unsigned k = 0;
            while (k < n && seen[k] != s) k++;
            if (k == n && n < MOST_SECTORS) seen[n++] = s;
        }
    }
    return (uint16_t)n;
}

/* Counts the accesses of a half and notifies the event sink. */
static void emit_access(const pl_warp *w, const pl_memory_effect *fx, unsigned half, uint32_t pc,
                        uint64_t seq)
{
    const pl_grid *g = w->grid->head;
    uint16_t touched =
        fx->space == PL_SP_GLOBAL || fx->space == PL_SP_LOCAL ? count_sectors(fx) : 0;
    if (g->pc_stat) {
        g->pc_stat[pc].requests++;
        g->pc_stat[pc].sectors += touched;
    }
    if (!g->sink || !g->sink->mem) return;
    pl_mem_event e = {.seq = seq,
                      .cycle = w->clock,
                      .block = (uint32_t)w->cta->number,
                      .warp = w->index,
                      .pc = pc,
                      .mask = fx->mask,
                      .half = (uint8_t)half,
                      .space = fx->space,
                      .kind = fx->kind,
                      .size = fx->size,
                      .sectors = touched,
                      .addr = fx->addr};
    g->sink->mem(g->sink->ctx, &e);
}

/* pl_warp_run one instruction at a time, with events for the sink. The time of an event is the
 * warp's own instruction count. */
static pl_warp_state run_traced(pl_warp *w, uint64_t limit)
{
    pl_grid *g = w->grid->head;
    const pl_sink *sink = g->sink;
    pl_warp_state s = (pl_warp_state)w->state;
    for (uint64_t n = 0; n < limit; n++) {
        const pl_insn *i = pl_warp_peek(w);
        if (!i || pl_warp_stops_at_store(w, i)) return (pl_warp_state)w->state;
        if ((i->flags & PL_IF_GROUP_WAIT) && pl_warp_stops_at_group_wait(w))
            return (pl_warp_state)w->state;
        const uint32_t pc = w->pc;
        const pl_lanes mask = w->active;
        pl_memory_effect fx[PL_MAX_HALVES];
        w->clock++;
        if (g->pc_stat) {
            g->pc_stat[pc].executed++;
            g->pc_stat[pc].lanes += (unsigned)__builtin_popcountll(mask);
        }
        s = pl_warp_step(w, fx);
        uint64_t seq = g->seq++;
        if (sink && sink->inst) {
            pl_inst_event e = {.seq = seq,
                               .cycle = w->clock,
                               .block = (uint32_t)w->cta->number,
                               .warp = w->index,
                               .pc = pc,
                               .mask = mask,
                               .weight = 1};
            sink->inst(sink->ctx, &e);
        }
        for (unsigned h = 0; h < w->halves && i->flags & PL_IF_MEM; h++)
            if (fx[h].mask) emit_access(w, &fx[h], h, pc, seq);
        if (s != PL_WARP_READY || w->paused) return s;
    }
    return s;
}

/* The next number of a random schedule (splitmix64). */
static uint64_t next_random(pl_grid *g)
{
    uint64_t z = g->rng += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

/* Executes the store before which the warp has stopped. */
static pl_warp_state run_store(pl_warp *w)
{
    const pl_grid *g = w->grid->head;
    pl_pc_stat *stat = w->cta->pc_stat;
    w->store_hold = PL_HOLD_NONE;
    if (g->sink) return run_traced(w, 1);
    if (stat) {
        stat[w->pc].executed++;
        stat[w->pc].lanes += pl_count_lanes(w->active);
    }
    w->clock++;
    return pl_warp_step(w, NULL);
}

/* Starts the first round of a block. */
static void hold_stores(pl_cta *c)
{
    const pl_grid *g = c->grid->head;
    if (c->holds_stores || c->nwarps < 2 || g->random || g->hooks || g->weak || g->max_slice)
        return;
    c->holds_stores = true;
    for (uint32_t k = 0; k < c->nwarps; k++)
        if (!c->warp[k].executed) c->warp[k].store_hold = PL_HOLD_NEXT_STORE;
}

uint64_t pl_cta_run_round(pl_cta *c, bool *paused)
{
    pl_grid *g = c->grid->head;
    uint64_t executed = 0;
    uint32_t first = g->random ? (uint32_t)(next_random(g) % c->nwarps) : 0;
    *paused = true;
    hold_stores(c);
    for (uint32_t n = 0; n < c->nwarps; n++) {
        uint32_t k = first + n < c->nwarps ? first + n : first + n - c->nwarps;
        uint64_t limit =
            g->random ? 1 + next_random(g) % (g->max_slice ? g->max_slice : RANDOM_SLICE) : SLICE;
        pl_warp *w = &c->warp[k];
        if (w->state == PL_WARP_DONE) continue;
        if (w->state == PL_WARP_SLEEP) w->clock += SLICE;
        uint64_t before = w->executed;
        if (g->random && w->nsplits > 1) pl_warp_switch_split(w, next_random(g));
        const bool at_store = w->store_hold == PL_HOLD_AT_STORE;
        pl_warp_state s = at_store                  ? run_store(w)
                          : g->sink || g->max_slice ? run_traced(w, limit)
                                                    : pl_warp_run(w, limit);
        if (at_store || w->store_hold == PL_HOLD_AT_STORE || w->group_hold) *paused = false;
        executed += w->executed - before;
        if (s == PL_WARP_DONE) c->warps_done++;
        /* Counts as progress for threads that poll. */
        if (w->executed - before >= SLICE) ++*c->advances;
        if (s == PL_WARP_DONE || (w->executed - before >= limit && !g->random)) *paused = false;
        if (s == PL_WARP_BARRIER && w->executed > before) *paused = false;
        if (pl_failed(g)) break;
    }
    return executed;
}

/* Blocks of a cluster start together. */
static uint32_t cluster_blocks(const pl_grid *g)
{
    return g->cluster[0] ? g->cluster[0] * g->cluster[1] * g->cluster[2] : 1;
}

/* Limits the concurrent blocks to those for which the host has memory. */
static void limit_to_host_memory(pl_grid *g)
{
    const uint64_t fitting =
        g->head->limits.memory ? g->head->limits.memory / pl_grid_block_bytes(g) : UINT64_MAX;
    if (fitting < g->max_resident) g->max_resident = (uint32_t)fitting;
}

/* True if that limit applies. Then blocks that wait for others may wait forever. */
static bool is_memory_limited(const pl_grid *g)
{
    return g->head->limits.memory &&
           (g->max_resident + 1) * pl_grid_block_bytes(g) > g->head->limits.memory;
}

/* Maximum number of blocks that may run at once while grid g starts some. */
static uint32_t max_blocks(const pl_grid *g)
{
    return g->max_resident > cluster_blocks(g) ? g->max_resident : cluster_blocks(g);
}

/* Starts the next block or cluster of a grid in addition to the n that run. */
static pl_status start_blocks(pl_grid *g, pl_cta **live, size_t *n)
{
    uint64_t total = pl_grid_blocks(g);
    pl_status st = PL_OK;
    for (uint32_t k = 0; k < cluster_blocks(g) && g->next_block < total; k++) {
        live[*n] = pl_cta_start(g, (uint32_t)g->next_block, pl_grid_block_sm(g, g->next_block));
        g->next_block++;
        if (!live[(*n)++]) st = PL_NOMEM;
    }
    return st;
}

static bool any_warp_sleeps(pl_cta *const *live, size_t n)
{
    for (size_t k = 0; k < n; k++)
        for (uint32_t j = 0; j < live[k]->nwarps; j++)
            if (live[k]->warp[j].state == PL_WARP_SLEEP) return true;
    return false;
}

/* Rounds in sequence in which all warps have only polled. */
typedef struct polling {
    uint64_t idle;      /* PL_IDLE_STEP per round, 1 for a block that reads a clock */
    uint64_t recurring; /* rounds of blocks that repeat their states */
    uint64_t executed;  /* instructions of the idle rounds */
} polling;

/* Called after a round of one of n blocks. idle: it has only polled, and nothing else has happened.
 * factor: multiplies the required rounds. True: they poll without progress. */
static bool polls_without_progress(polling *p, const pl_grid *g, pl_cta *c, size_t n, bool idle,
                                   unsigned factor)
{
    const uint64_t required = !g->may_wait || g->patient ? SPIN_ROUNDS
                              : g->waiting               ? WAIT_ROUNDS
                                                         : SUSPEND_ROUNDS,
                   rounds = required * PL_IDLE_STEP * factor,
                   recurring_rounds = RECUR_ROUNDS * PL_IDLE_STEP;
    bool reads_clock = false;
    for (uint32_t k = 0; k < c->nwarps; k++) reads_clock |= c->warp[k].used_clock;
    p->idle = idle ? p->idle + (reads_clock ? 1 : PL_IDLE_STEP) : 0;
    p->recurring =
        p->idle / recurring_rounds > n && !g->random && pl_cta_recurs(c) ? p->recurring + 1 : 0;
    return p->idle > rounds && (p->idle / rounds > n || p->recurring > n);
}

/* Called when all threads poll without progress: suspends the launch, or ends it. from: grid of
 * which a block could not start. */
static pl_status stop_polling(pl_grid *g, pl_cta **live, size_t n, const pl_grid *from,
                              const polling *p)
{
    if (from && is_memory_limited(from)) return PL_NOMEM;
    if (g->may_wait && pl_polls_memory(live, n, false)) {
        g->waited += p->executed;
        return PL_WAITING;
    }
    pl_hang_report(g, live, n, true);
    return PL_OK;
}

/* The time slice of the block that runs. */
typedef struct block_slice {
    const pl_cta *block;
    uint64_t executed, limit;
} block_slice;

/* Adds the instructions of a round. True: the time slice has ended, and other blocks run. */
static bool slice_has_ended(block_slice *t, const pl_cta *c, uint64_t executed)
{
    t->executed = t->block == c ? t->executed + executed : executed;
    t->block = c;
    if (t->executed < t->limit) return false;
    t->block = NULL;
    t->limit = LATER_BLOCK_SLICE;
    return true;
}

/* The blocks that have started and not ended, which run in rounds. */
typedef struct round_robin {
    pl_grid *g; /* the first of the launch */
    pl_cta **live;
    size_t n, at;            /* number of blocks; index of the next to run */
    bool more;               /* another block should start */
    unsigned idle;           /* consecutive rounds without an instruction */
    uint64_t total, rounds;  /* instructions and rounds so far */
    uint64_t blocks;         /* of the launch that had not ended before */
    uint64_t waits_for_host; /* instructions from which on the launch may wait for the host */
    polling poll;
    block_slice slice;
} round_robin;

static void report_progress(const round_robin *r)
{
    pl_grid *g = r->g;
    if (!g->progress) return;
    g->progress(g->progress_ctx, r->blocks - pl_grid_blocks_remaining(g), r->blocks, r->total);
}

static bool has_room(const round_robin *r, const pl_grid *from)
{
    return r->n + cluster_blocks(from) <= max_blocks(from);
}

/* Starts a block or cluster if one should start and may. *from: the grid of which the next one can
 * start, or NULL. */
static pl_status start_next(round_robin *r, pl_grid **from)
{
    *from = pl_grid_startable(r->g);
    if (!r->more || !*from || !has_room(r, *from)) return PL_OK;
    r->at = r->n;
    const pl_status st = start_blocks(*from, r->live, &r->n);
    r->more = false;
    if (st == PL_OK) *from = pl_grid_startable(r->g);
    return st;
}

static pl_cta *select_block(round_robin *r)
{
    if (r->g->random) { /* any of the blocks, and occasionally an additional one */
        r->at = (size_t)(next_random(r->g) % r->n);
        r->more |= r->n < RANDOM_BLOCKS && next_random(r->g) % 4 == 0;
    }
    if (r->at >= r->n) r->at = 0;
    return r->live[r->at];
}

/* Called when the block that has just run has ended. */
static void end_block(round_robin *r, pl_cta *c)
{
    const uint32_t cluster_size = cluster_blocks(c->grid);
    pl_cta_end(c);
    memmove(&r->live[r->at], &r->live[r->at + 1], (r->n - r->at - 1) * sizeof *r->live);
    r->more = --r->n < cluster_size;
    r->idle = 0;
    report_progress(r);
}

/* Determines the block that runs after a round of this one. paused: its warps wait or poll. */
static void advance(round_robin *r, const pl_cta *c, uint64_t executed, bool paused)
{
    if (executed && !paused && cluster_blocks(c->grid) == 1 &&
        !slice_has_ended(&r->slice, c, executed)) {
        r->idle = 0; /* it makes progress: it runs again */
        return;
    }
    r->idle = executed ? 0 : r->idle + 1;
    if (++r->at < r->n) return;
    r->at = 0;
    r->more = true; /* all blocks wait or poll, perhaps for a block that has not started */
}

/* True if the launch has run for long, and may be waiting for the host between other work. */
static bool yields_to_host(round_robin *r)
{
    pl_grid *g = r->g;
    if (!g->may_wait || r->total < r->waits_for_host) return false;
    r->waits_for_host = r->total + PL_LONG_RUN;
    g->running = pl_polls_memory(r->live, r->n, true);
    return g->running;
}

/* r: blocks that have already started. */
static pl_status run(round_robin *r)
{
    pl_grid *g = r->g;
    /* Blocks are drawn at random: a block that can continue may not be drawn for some time. */
    const unsigned factor = g->random ? 16 : 1;
    g->running = false;
    for (uint64_t left = r->blocks; left;) {
        pl_grid *from;
        const pl_status st = start_next(r, &from);
        if (st != PL_OK) return st;
        pl_cta *c = select_block(r);
        bool paused;
        const bool started_all = !from || !has_room(r, from);
        const uint64_t before = left, advances = g->advances,
                       executed = pl_cta_run_round(c, &paused);
        r->total += executed;
        if (++r->rounds % PROGRESS_ROUNDS == 0) report_progress(r);
        if (g->fault.set) break;
        if (c->warps_done == c->nwarps)
            end_block(r, c);
        else
            advance(r, c, executed, paused);
        left = pl_grid_blocks_remaining(g);
        if (r->idle > (r->n + 1) * IDLE_ROUNDS * factor && left == before && started_all &&
            !any_warp_sleeps(r->live, r->n)) {
            if (from && is_memory_limited(from)) return PL_NOMEM;
            pl_hang_report(g, r->live, r->n, false);
            break;
        }
        const bool only_polled = paused && left == before && g->advances == advances;
        r->poll.executed = only_polled ? r->poll.executed + executed : 0;
        g->progressed = r->total > r->poll.executed;
        if (polls_without_progress(&r->poll, g, c, r->n, only_polled, factor) && started_all)
            return stop_polling(g, r->live, r->n, from, &r->poll);
        if (yields_to_host(r)) return PL_WAITING;
        g->instructions += executed;
        if (pl_grid_stop(g, 0, g->instructions, r->live, r->n)) return PL_INTERRUPTED;
    }
    return PL_OK;
}

/* Without a timing model every instruction is one issue. Instructions that end the kernel are no
 * branches: exit, and ret outside of functions. */
static void count_issues(const pl_grid *g)
{
    const pl_program *p = g->program;
    for (size_t k = 0; k < g->counted.count; k++) {
        pl_pc_stat *x = &g->pc_stat[g->counted.first + k];
        x->issues = x->executed;
    }
    for (size_t f = 0; f < p->funcs.n; f++)
        for (size_t k = 0; k < p->funcs.at[f].count; k++) {
            const size_t pc = p->funcs.at[f].first + k;
            if (pc - g->counted.first >= g->counted.count || !g->pc_stat[pc].executed) continue;
            const pl_insn *i = &p->code.at[pc];
            const bool ends = (pl_insn_effects(i) & PL_EF_EXIT) ||
                              (p->funcs.at[f].entry && pl_forms[i->form].mnem == M_ret);
            if ((pl_insn_effects(i) & PL_EF_BRANCH) && !ends)
                g->pc_stat[pc].branches = g->pc_stat[pc].executed;
        }
}

/* Opens the grids, or continues those that have begun. Returns the array for their blocks; NULL:
 * out of memory. */
static pl_cta **begin(pl_grid *head, pl_live_blocks *started, pl_status *st)
{
    size_t capacity = 0;
    for (pl_grid *g = head; g && *st == PL_OK; g = g->next) {
        limit_to_host_memory(g);
        capacity += max_blocks(g) + g->nbegun;
        if (!g->begun) *st = pl_grid_open(g);
    }
    pl_cta **live = malloc(sizeof *live * (capacity ? capacity : 1));
    if (*st == PL_OK && !live) *st = PL_NOMEM;
    *started = (pl_live_blocks){.at = live, .n = live ? head->nbegun : 0};
    for (size_t k = 0; k < started->n; k++) live[k] = head->begun[k];
    free(head->begun);
    head->begun = NULL;
    head->nbegun = 0;
    return live;
}

pl_status pl_grid_run(pl_grid *head)
{
    pl_status st = PL_OK;
    pl_live_blocks started;
    pl_cta **live = begin(head, &started, &st);
    if (st == PL_OK && head->waiting)
        pl_forget_allocations(live, started.n);
    else if (st == PL_OK)
        st = pl_run_blocks_in_parallel(head, &started);
    round_robin r = {.g = head,
                     .live = live,
                     .n = started.n,
                     .blocks = pl_grid_blocks_remaining(head),
                     .more = true,
                     .waits_for_host = head->waiting ? RUN_SLICE : PL_LONG_RUN,
                     .slice.limit = started.n ? LATER_BLOCK_SLICE : PL_FIRST_BLOCK_SLICE};
    if (st == PL_OK && !head->fault.set) st = run(&r);
    if (st == PL_WAITING) {
        head->begun = live;
        head->nbegun = r.n;
        head->waiting = true;
        return st;
    }
    for (size_t k = 0; k < r.n; k++) { /* blocks that never ended count too */
        pl_grid *g = live[k] ? live[k]->grid : head;
        for (uint32_t j = 0; live[k] && j < live[k]->nwarps; j++) {
            g->executed += live[k]->warp[j].executed;
            g->lane_executed += live[k]->warp[j].lane_executed;
        }
    }
    free(live);
    if (head->pc_stat) count_issues(head);
    for (pl_grid *g = head; g; g = g->next) pl_grid_close(g);
    if (st == PL_OK && head->no_memory) st = PL_NOMEM;
    return st != PL_OK ? st : head->fault.set ? PL_FAULT : PL_OK;
}
