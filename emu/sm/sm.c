/* sm.c - the issue stage of an SM: which warp issues in a cycle, when its result can be used, why
 * it had to wait.
 *
 * Each sub-core issues in order within a warp, one instruction a cycle. A warp's next issue cycle
 * is known as soon as it has issued: the latest of its operands (scoreboard), the end of a branch
 * or barrier, and its instruction line; or it is unknown, and the thing it waits for wakes it.
 * Instructions that cost nothing (class price "-") are executed on the way to the next one that
 * does; their results are there when their operands are. */
#include "emu/sm/sm.h"
#include "emu/exec/async/async.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

enum {
    BULK_OTHERS = 2
}; /* instructions of a lane's bulk copy beside those of the ALU: UBLKCP, BRA */

/* A cache for the instructions of a program of so many bytes. */
static void code_cache(pl_icache *c, pl_arena *a, const pl_machine *m, uint64_t size, uint32_t ways,
                       uint64_t bytes)
{
    const uint64_t line = m->fetch.line, lines = (bytes + line - 1) / line;
    uint64_t all = size / line ? size / line : 1, each = ways == 0 || ways > all ? all : ways,
             sets = all / each;
    *c = (pl_icache){.shift = (uint32_t)__builtin_ctzll(line)};
    if (lines <= sets * each)
        c->lines = (uint32_t)lines; /* they follow each other, and so fill all sets alike */
    else
        pl_cache_init(&c->tags, a, a, size, (uint32_t)line, ways, false);
    c->when = pl_arena_array(a, uint64_t, c->lines ? c->lines : pl_cache_indices(&c->tags));
}

bool pl_const_l15_init(pl_const_l15 *c, pl_arena *a, pl_arena *large, const pl_machine *m)
{
    c->tags = pl_arena_array(a, pl_cache, m->sm.count);
    if (!c->tags) return false;
    pl_cache_init_all(c->tags, m->sm.count, a, large, m->constant.mid_size,
                      (uint32_t)m->constant.line, m->constant.mid_ways, false);
    c->when = pl_arena_array(large, uint64_t, pl_cache_indices(c->tags));
    return pl_arena_ok(a) && pl_arena_ok(large);
}

bool pl_sm_init(pl_sm *s, pl_sm_status *status, pl_arena *a, pl_arena *large, pl_arena *sparse,
                const pl_machine *m, const pl_decoded *dec, pl_grid *g, uint32_t id,
                uint64_t l1_bytes, const pl_const_l15 *constants)
{
    memset(s, 0,
           offsetof(
               pl_sm,
               warp)); /* a warp's state is written when it begins: half a launch's SMs have few */
    memset((unsigned char *)s + offsetof(pl_sm, cta), 0, sizeof *s - offsetof(pl_sm, cta));
    for (uint32_t k = 0; k < PL_SM_WARPS; k++) s->warp[k].w = NULL;
    s->status = status;
    s->status->next = PL_NEVER;
    s->m = m;
    s->dec = dec;
    s->g = g;
    s->pc_stat = g->pc_stat;
    s->in_turn = true;
    s->async_timed = g->async_mode == PL_ASYNC_TIMED;
    s->async_at = PL_NEVER;
    s->id = id;
    s->nsub = m->sm.subcores;
    s->xbar_cost = pl_up_costs_of(&m->mem);
    s->ncta = m->sm.blocks;
    s->cta = pl_arena_array(a, pl_sm_cta, s->ncta);
    s->placed = pl_arena_alloc(a, s->ncta * sizeof *s->placed);
    s->ntoken = m->l1.misses * 2 + m->l1.stores + 256;
    if (s->ntoken > 65536) s->ntoken = 65536;
    s->token = pl_arena_array(sparse, pl_inflight, s->ntoken);
    if (g->sink && g->sink->mem) s->late = pl_arena_array(sparse, pl_pending_event, s->ntoken);
    s->free_tokens = pl_arena_array(sparse, uint32_t, s->ntoken);
    s->const_wait = pl_arena_alloc(sparse, PL_CONST_WAITS * sizeof *s->const_wait);
    if (m->sm.lanes <= PL_LANES) s->queue = pl_arena_array(sparse, pl_lsu_entry, m->l1.input);
    s->queue_next = s->leaves = s->fences = PL_NEVER;
    s->out.cap = m->l1.misses + m->l1.stores + 2048;
    s->out.at = pl_arena_array(sparse, pl_mem_req, s->out.cap);
    const uint32_t second =
        m->sm.lanes > PL_LANES ? PL_L1_BURST : 0; /* the access of a warp's other half */
    pl_l1_init(&s->l1, a, large, sparse, l1_bytes, (uint32_t)m->l1.line, (uint32_t)m->l1.sector,
               m->l1.ways, m->l1.misses + second, m->l1.misses * 8 + second);
    if (m->l1.last > 0) pl_cache_keep_last(&s->l1.tags, m->l1.last);
    s->l1.burst += second;
    s->l1.most = m->l1.fills;
    s->l1.own = PL_LOCAL_BASE;
    s->l1.own_bytes = PL_LOCAL_BYTES;
    code_cache(&s->icache, a, m, m->fetch.l1_size, m->fetch.l1_ways, dec->bytes);
    pl_cache_init(&s->const_indexed, a, a, m->constant.size, (uint32_t)m->constant.line,
                  m->constant.ways, false);
    pl_cache_init(&s->const_operand, a, a, m->constant.size, (uint32_t)m->constant.line,
                  m->constant.ways, false);
    s->const_l15 = constants->tags[id];
    s->const_l15_when = constants->when + (s->const_l15.line - constants->tags[0].line);
    s->const_when = pl_arena_array(a, uint64_t, pl_cache_indices(&s->const_indexed));
    s->operand_when = pl_arena_array(a, uint64_t, pl_cache_indices(&s->const_operand));
    for (uint32_t k = 0; k < s->nsub; k++) {
        pl_subcore *c = &s->sub[k];
        c->n = m->sm.warps / s->nsub;
        c->next = PL_NEVER;
        for (uint32_t p = 0; p < c->n; p++) c->ready[p] = PL_NEVER;
        code_cache(&c->l0, a, m, m->fetch.l0_size, m->fetch.l0_ways, dec->bytes);
        if (s->queue) c->queue = pl_arena_array(sparse, pl_lsu_entry, m->issue.lg_queue);
    }
    return pl_arena_ok(a) && pl_arena_ok(large) && pl_arena_ok(sparse);
}

static pl_subcore *subcore_of(pl_sm *s, uint32_t warp)
{
    return &s->sub[warp % s->nsub];
}

static void set_ready(pl_sm *s, uint32_t warp, uint64_t at)
{
    pl_subcore *c = subcore_of(s, warp);
    c->ready[warp / s->nsub] = at;
    if (at < c->next) c->next = at;
}

/* --- tokens --- */

uint32_t pl_inflight_new(pl_sm *s, pl_sm_warp *t, uint32_t pc, uint64_t now, uint64_t seq,
                         uint8_t kind)
{
    assert(s->used_tokens < s->ntoken && "pl_lsu_room was asked before the instruction issued");
    uint32_t slot = s->nfree_tokens ? s->free_tokens[--s->nfree_tokens] : s->fresh_token++;
    s->used_tokens++;
    s->last_token = slot;
    t->outstanding++;
    s->token[slot] = (pl_inflight){.id = ++s->generation << 16 | slot,
                                   .issued = now,
                                   .seq = seq,
                                   .pc = pc,
                                   .remaining = 1,
                                   .barrier = UINT32_MAX,
                                   .warp = (uint16_t)pl_warp_index(s, t),
                                   .age = t->age,
                                   .scoreboard = PL_SB_NONE,
                                   .kind = kind,
                                   .level = PL_LV_L1};
    return slot;
}

/* --- what a warp does next --- */

/* Cycles until a warp's exit is resolved. */
static uint32_t exit_after(const pl_sm *s)
{
    return s->m->issue.exit ? s->m->issue.exit : s->m->op[PL_OP_BRANCH].latency;
}

/* Cycles from the exit until the warp has gone: that is resolved, and its stores leave the SM
 * first. */
static uint64_t drain(const pl_sm *s, const pl_sm_warp *t, uint64_t now)
{
    const uint64_t least = exit_after(s) + s->m->launch.warp_end;
    return t->stores_sent_at > now + least ? t->stores_sent_at - now : least;
}

static void end_warp(pl_sm *s, pl_sm_warp *t, uint64_t now)
{
    pl_sm_cta *b = t->cta;
    uint32_t index = pl_warp_index(s, t);
    if (t->queued || !pl_lsu_left(s, t)) {
        t->wait = PL_WAIT_QUEUED;
        t->next = NULL;
        if (!t->queued && t->last_request < s->leaves) s->leaves = t->last_request;
        set_ready(s, index, PL_NEVER);
        return;
    }
    now += drain(s, t, now);
    s->stat.warp_cycles += now + 1 - t->started;
    t->w = NULL;
    t->wait = PL_WAIT_DONE;
    t->next = NULL;
    set_ready(s, index, PL_NEVER);
    if (--s->live_warps == 0) s->stat.cycles_active += now + 1 - s->busy_since;
    pl_subcore *c = &s->sub[index % s->nsub];
    if (--c->live == 0) c->cycles_active += now + 1 - c->busy_since;
    if (now > s->last_exit) s->last_exit = now;
    if (--b->live > 0) return;
    s->ended[s->nended].time = now + 1;
    s->ended[s->nended++].cta = b->cta;
    b->cta = NULL;
}

void pl_sm_unqueued(pl_sm *s, pl_sm_warp *t, uint64_t now)
{
    if (t->wait == PL_WAIT_STORES) pl_sm_wake(s, pl_warp_index(s, t), now);
    if (t->wait != PL_WAIT_QUEUED) return;
    if (!pl_lsu_left(s, t)) {
        if (t->last_request < s->leaves) s->leaves = t->last_request;
        return;
    }
    /* it ended long ago: all that came after counts as its way out */
    const uint64_t cycles = now - t->issued + drain(s, t, now) - drain(s, t, t->issued);
    s->stat.stall[PL_STALL_DRAIN] += cycles;
    if (s->pc_stat) s->pc_stat[t->exit_pc].stall[PL_STALL_DRAIN] += cycles;
    end_warp(s, t, now);
}

void pl_sm_leave(pl_sm *s, uint64_t now)
{
    s->leaves = PL_NEVER;
    for (uint32_t k = 0; k < s->m->sm.warps; k++) {
        pl_sm_warp *t = &s->warp[k];
        if (t->w && t->wait == PL_WAIT_QUEUED && !t->queued) pl_sm_unqueued(s, t, now);
    }
}

void pl_sm_fences_answered(pl_sm *s, uint64_t now)
{
    s->fences = PL_NEVER;
    for (uint32_t k = 0; k < s->m->sm.warps; k++) {
        pl_sm_warp *t = &s->warp[k];
        if (t->w && t->wait == PL_WAIT_STORES) pl_sm_wake(s, k, now);
    }
}

/* A fence leaves behind all that its SM has sent before (fence.tsv: it waits for stores of other
 * warps, too). True: some of that is not answered yet. */
static bool fence_waits(pl_sm *s, pl_sm_warp *t, uint64_t now)
{
    if (t->answered) return false;
    if (!t->fence_from && !t->queued) {
        t->fence_mark = s->requests;
        t->fence_from = t->deps_ready > t->not_before ? t->deps_ready : t->not_before;
        if (t->drained && now > t->fence_from) t->fence_from = now;
        if (t->stores_sent_at > t->fence_from) t->fence_from = t->stores_sent_at;
    }
    if (!t->queued && s->requests - s->requests_out >= t->fence_mark) {
        if (t->drained) t->answered = now;
        return false;
    }
    if (t->fence_from && t->fence_mark < s->fences) s->fences = t->fence_mark;
    t->drained = true;
    return true;
}

/* Warps of a block that the functional model has released from a barrier go on at cycle `at`; tells
 * whether there were any. Called after whatever a warp has executed: it may have arrived, or lanes
 * of it have ended. */
static bool release_barrier(pl_sm *s, pl_sm_cta *b, uint64_t now, uint64_t at);

/* By PL_SB_*. */
static const uint8_t waits_for[] = {PL_STALL_SHORT_SCOREBOARD, PL_STALL_LONG_SCOREBOARD,
                                    PL_STALL_IMC_MISS};

/* Works out when the instruction in t->next can issue. */
static void settle(pl_sm *s, pl_sm_warp *t, uint64_t now)
{
    const pl_decoded_insn *d = t->next;
    uint32_t index = pl_warp_index(s, t);
    uint64_t line = PL_FETCH_BASE + (d->address & ~(uint32_t)(s->m->fetch.line - 1));
    t->wait = PL_WAIT_NONE;
    if (line != t->fetch_line) {
        uint64_t at = pl_fetch(s, subcore_of(s, index), line, now);
        if (at == PL_NEVER) {
            t->wait = PL_WAIT_FETCH;
            t->not_before_reason = PL_STALL_NO_INSTRUCTION;
            set_ready(s, index, PL_NEVER);
            return;
        }
        t->fetch_line = line;
        if (at > t->not_before) {
            t->not_before = at;
            t->not_before_reason = PL_STALL_NO_INSTRUCTION;
        }
    }
    t->deps_ready = t->stall;
    t->dep_reason = PL_STALL_WAIT;
    for (unsigned waits = d->wait_mask; waits; waits &= waits - 1) {
        const pl_scoreboard *sb = &t->sb[__builtin_ctz(waits)];
        if (sb->pending) {
            t->wait = PL_WAIT_TOKEN;
            t->dep_reason = waits_for[sb->kind];
            set_ready(s, index, PL_NEVER);
            return;
        }
        if (sb->ready > t->deps_ready) {
            t->deps_ready = sb->ready;
            t->dep_reason = waits_for[sb->kind];
        }
    }
    if (d->kind == PL_KIND_COPY_WAIT ||
        d->kind == PL_KIND_FENCE_PROXY) { /* the fence waits for all (metrics.tsv membar of
                                             group_tiles_in_a_long_loop) */
        const uint8_t why =
            d->kind == PL_KIND_COPY_WAIT ? PL_STALL_LONG_SCOREBOARD : PL_STALL_MEMBAR;
        uint32_t under_way = 0;
        for (uint32_t g = d->wait_n; g < PL_GROUPS; g++)
            under_way += t->copies[(t->open_group + 2u * PL_GROUPS - g - 1) % PL_GROUPS];
        if (d->wait_n == 0) under_way += t->copies[t->open_group];
        uint64_t copied = 0;
        for (uint32_t g = d->wait_n; g < PL_GROUPS; g++) {
            uint64_t at = t->copied[(t->open_group + 2u * PL_GROUPS - g - 1) % PL_GROUPS];
            if (at > copied) copied = at;
        }
        if (d->wait_n == 0 && t->copied[t->open_group] > copied) copied = t->copied[t->open_group];
        if (copied > t->deps_ready) {
            t->deps_ready = copied;
            t->dep_reason = why;
        }
        if (under_way) {
            t->wait = PL_WAIT_COPIES;
            t->dep_reason = why;
            set_ready(s, index, PL_NEVER);
            return;
        }
    } else if (d->kind == PL_KIND_WGMMA_WAIT) {
        uint64_t done = d->wait_n == 0 ? t->wgmma_done
                        : d->wait_n < t->wgmma_open && d->wait_n < PL_GROUPS
                            ? t->wgmma_group[(t->wgmma_open - 1 - d->wait_n) % PL_GROUPS]
                            : 0;
        if (done > t->deps_ready) t->deps_ready = done;
        t->dep_reason = PL_STALL_MATH_PIPE;
    } else if (d->fence && !t->released && fence_waits(s, t, now)) {
        t->wait = PL_WAIT_STORES;
        t->dep_reason = PL_STALL_MEMBAR;
        set_ready(s, index, PL_NEVER);
        return;
    }
    if (t->answered > t->deps_ready) {
        t->deps_ready = t->answered;
        t->dep_reason = PL_STALL_MEMBAR;
    }
    uint64_t at = t->deps_ready > t->not_before ? t->deps_ready : t->not_before;
    if (at < t->issued + 1) at = t->issued + 1;
    if (d->price->again && at < t->reissue_at) at = t->reissue_at;
    if (d->interlock && d->interlock <= t->nlate_results) {
        const uint64_t there = t->late_result[(t->nlate_results - d->interlock) % PL_PRODUCTS];
        if (at < there) {
            at = there;
            t->structural_reason = PL_STALL_DISPATCH;
        }
    }
    set_ready(s, index, at);
}

uint64_t pl_sm_shared_port(const pl_sm *s, pl_port *way, double turn, uint64_t now)
{
    const double all = turn * *s->sharers;
    return pl_port_enter(way, now, (uint64_t)(all * PL_SUBCYCLES)) + (uint64_t)(all - turn);
}

/* Where it is noted when a line of the constant bank is there. */
static uint64_t *bank_line(uint64_t *when, const pl_sm *s, const pl_decoded_insn *d)
{
    return &when[d->bank_at / s->m->constant.line % PL_BANK_LINES];
}

/* An instruction reads a word of the constant bank, or makes one of its registers. A sub-core
 * fetches each line of it once, one after the other for a warp, from a cache near the SM to which
 * the launch has brought it, if LDC has not brought it into the SM by then. The cycle at which it
 * has it. */
static uint64_t read_bank(pl_sm *s, pl_sm_warp *t, const pl_decoded_insn *d, uint64_t now)
{
    uint64_t *when = bank_line(subcore_of(s, pl_warp_index(s, t))->bank_when, s, d);
    pl_scoreboard *sb = &t->sb[PL_SB_BANK_WAIT];
    const uint64_t from = now > sb->ready ? now : sb->ready,
                   loaded = *bank_line(s->loaded_when, s, d);
    if (!*when && ((loaded && loaded <= now) || !s->m->constant.first)) *when = now;
    if (!*when)
        *when = pl_sm_shared_port(s, &s->const_bank_port, s->m->constant.first_turn, from) +
                s->m->constant.first;
    if (*when > sb->ready) sb->ready = *when;
    sb->kind = PL_SB_BANK;
    return *when;
}

/* When LDC has such a value in a register: the first one of each line fetches it. */
static uint64_t loaded_constant(pl_sm *s, const pl_decoded_insn *d, uint64_t now)
{
    uint64_t *when = bank_line(s->loaded_when, s, d);
    const uint64_t ready = now + (d->guarded ? s->m->constant.guarded : s->m->constant.latency);
    if (!*when)
        *when = pl_sm_shared_port(s, &s->const_bank_port, s->m->constant.first_turn, now) +
                s->m->constant.mid_latency;
    s->stat.const_misses += *when > now;
    return *when > ready ? *when : ready;
}

void pl_sm_turn(pl_sm *s)
{
    if (s->in_turn) return;
    pl_team_turn(s->team, s->job, s->worker);
    s->in_turn = true;
}

/* A warp has called a function of the driver: the cycle at which it has its answer. It works on
 * some things for itself, others are done for one after the other on the whole GPU; calls are
 * ordered (pl_decoded_insn.ordered), so that who comes first does not depend on host threads. */
static uint64_t driver_answers(const pl_sm *s, pl_warp *w, uint64_t now)
{
    const pl_driver_config *m = &s->m->driver;
    const uint64_t lanes = w->asked.lanes,
                   bytes = w->asked.bytes <= m->alloc_small ? w->asked.bytes : 80;
    uint64_t own = 0, turn = 0;
    switch ((pl_driver_work)w->asked.what) {
    case PL_DRIVER_PRINT:
        own = m->print + m->print_turn;
        turn = m->print_turn;
        break;
    case PL_DRIVER_ALLOC:
        own =
            m->alloc + (uint64_t)((m->alloc_lane + m->alloc_byte * (double)bytes) * (double)lanes);
        turn = (uint64_t)((m->alloc_turn + m->alloc_turn_byte * (double)bytes) * (double)lanes);
        break;
    case PL_DRIVER_FREE:
        own = m->free + m->free_lane * lanes;
        turn = m->free_turn * lanes;
        break;
    case PL_DRIVER_NONE: break;
    }
    w->asked.what = PL_DRIVER_NONE;
    uint64_t *free = &s->g->driver_free, start = *free > now ? *free : now;
    *free = start + turn;
    return start + own;
}

/* An instruction that costs nothing: executed at once; what waits for its results waits for its
 * operands (control_codes.c). */
static void execute_free(pl_sm *s, pl_sm_warp *t, const pl_decoded_insn *d, uint32_t pc,
                         uint64_t now)
{
    if (d->ordered) pl_sm_turn(s);
    pl_warp_step(t->w, NULL);
    release_barrier(s, t->cta, now, now + s->m->sync.barrier);
    if (s->pc_stat) s->pc_stat[pc].executed++; /* lanes count by issues, of which there are none */
    if (d->bank) read_bank(s, t, d, now);
}

/* A wait for the phase of an mbarrier has failed: the hardware holds the warp, and the instruction
 * is executed again and again without being issued. Only where no other lanes of the warp can go on
 * meanwhile. */
static bool try_again(pl_sm *s, pl_sm_warp *t, const pl_decoded_insn *d, uint32_t pc,
                      pl_lanes lanes, uint64_t now)
{
    pl_warp *w = t->w;
    const pl_insn *i = &w->code[pc];
    if (!d->tries || w->halves > 1 || w->state != PL_WARP_READY || w->pc != pc + 1 ||
        i->guard == i->op[0] || pl_guarded(w, i) != lanes)
        return false;
    if (!((uint32_t)lanes & ~w->pred[i->op[0]])) return false;
    w->pc = pc;
    t->next = NULL;
    t->wait = PL_WAIT_TRY;
    set_ready(s, pl_warp_index(s, t), now + s->m->sync.mbarrier);
    return true;
}

/* Looks at the phase again; true: the warp goes on. */
static bool tried(pl_sm *s, pl_sm_warp *t, uint64_t now)
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
    if (try_again(s, t, d, pc, lanes, now)) return false;
    if (woken)
        pl_sm_result(t, d, now, PL_SB_LONG); /* the copy's end is what it waited for */
    else
        pl_lsu_passed(s, t, d, now);
    return true;
}

static void advance(pl_sm *s, pl_sm_warp *t, uint64_t now)
{
    pl_warp *w = t->w;
    if (t->wait == PL_WAIT_TRY && !tried(s, t, now)) return;
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
            settle(s, t, now);
            return;
        }
        execute_free(s, t, d, pc, now);
    }
    t->next = NULL;
    switch ((pl_warp_state)w->state) {
    case PL_WARP_DONE: end_warp(s, t, now); return;
    case PL_WARP_FAULT:
        s->fault = true;
        t->wait = PL_WAIT_DONE;
        set_ready(s, pl_warp_index(s, t), PL_NEVER);
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
        set_ready(s, pl_warp_index(s, t), t->not_before);
        return;
    }
    default:
        t->wait = PL_WAIT_BARRIER;
        t->not_before_reason = PL_STALL_BARRIER;
        set_ready(s, pl_warp_index(s, t), PL_NEVER);
        return;
    }
}

/* A warp whose next instruction is not known because its lanes wait for others. */
static bool waits_for_others(const pl_sm_warp *t)
{
    return t->wait == PL_WAIT_BARRIER || t->wait == PL_WAIT_SLEEP;
}

static bool may_go_on(const pl_warp *w)
{
    for (uint32_t k = 0; k < w->nsplits; k++) {
        if (w->split[k].wait == PL_SPLIT_READY) return true;
    }
    return false;
}

static bool release_barrier(pl_sm *s, pl_sm_cta *b, uint64_t now, uint64_t at)
{
    bool any = false;
    if (!b->cta || b->releases == b->cta->releases) return false;
    b->releases = b->cta->releases;
    for (uint32_t i = 0; i < s->m->sm.warps; i++) {
        pl_sm_warp *t = &s->warp[i];
        if (!t->w || t->cta != b || !waits_for_others(t) || !may_go_on(t->w)) continue;
        t->not_before = at;
        t->not_before_reason = PL_STALL_BARRIER;
        any = true;
        advance(s, t, now);
    }
    return any;
}

void pl_sm_wake(pl_sm *s, uint32_t warp, uint64_t now)
{
    pl_sm_warp *t = &s->warp[warp];
    if (t->w && t->next) settle(s, t, now);
}

void pl_sm_end_wait(pl_sm *s, pl_sm_warp *t, uint8_t scoreboard, uint64_t ready)
{
    pl_scoreboard *sb = &t->sb[scoreboard];
    sb->pending--;
    if (ready > sb->ready) sb->ready = ready;
    if (!sb->pending && t->wait == PL_WAIT_TOKEN) settle(s, t, s->now);
}

void pl_inflight_done(pl_sm *s, uint32_t slot, uint64_t at)
{
    pl_inflight *k = &s->token[slot];
    if (at > k->base) k->base = at;
    if (--k->remaining > 0) return;
    k->ready = k->passes ? pl_lsu_pass(s, k, k->base) : k->base;
    if (k->owner) {
        pl_async_done(k->owner, k->id, k->ready);
        if (k->ready < s->async_at) s->async_at = k->ready;
    }
    if (k->told_later) pl_lsu_tell(s, slot);
    if (k->awaited) s->g->sink->done(s->g->sink->ctx, k->seq, (uint32_t)(k->ready - k->issued));
    s->free_tokens[s->nfree_tokens++] = slot;
    s->used_tokens--;
    pl_sm_warp *t = &s->warp[k->warp];
    if (k->copy && --t->copies[k->group] == 0) t->copied[k->group] = k->ready;
    for (uint32_t w = 0; k->bulk && w < s->m->sm.warps;
         w++) { /* other warps that the copy's mbarrier holds */
        pl_sm_warp *v = &s->warp[w];
        if (!v->w || v->awaited_copy != k->id) continue;
        v->awaited_copy = 0;
        pl_sm_end_wait(s, v, v->awaited_copy_sb, k->ready);
    }
    if (!t->w || t->age != k->age) return;
    if (!k->bulk) t->outstanding--;
    if (k->scoreboard != PL_SB_NONE) pl_sm_end_wait(s, t, k->scoreboard, k->ready);
    if (k->copy && t->wait == PL_WAIT_COPIES) settle(s, t, s->now);
    if (k->copy && t->wait == PL_WAIT_NONE && t->next && t->next->kind == PL_KIND_COPY_WAIT &&
        k->ready > t->not_before) {
        t->not_before = k->ready;
        settle(s, t, s->now);
    }
    if (t->wait == PL_WAIT_QUEUED && !t->outstanding && !t->queued)
        pl_sm_unqueued(s, t, k->ready > s->now ? k->ready : s->now);
}

/* --- asynchronous operations that happen when they are complete (--async timed) --- */

/* Those that the warp has just started wait for the token of their instruction; without one they
 * take as long as the access did. */
static void wait_to_land(pl_sm *s, const pl_sm_warp *t, uint64_t now)
{
    pl_inflight *k = s->last_token == PL_NO_TOKEN ? NULL : &s->token[s->last_token];
    uint64_t at = k ? k->ready : t->remote_done > now ? t->remote_done : now + s->m->shared.latency;
    bool open = k && k->remaining;
    if (!pl_async_name(t->w, open ? k->id : 0, at)) return;
    if (open)
        k->owner = t->w;
    else if (at < s->async_at)
        s->async_at = at;
}

/* Copies have ended: warps that the hardware holds for an mbarrier look at it. */
static void wake_tries(pl_sm *s, uint64_t now)
{
    for (uint32_t k = 0; k < s->m->sm.warps; k++) {
        pl_sm_warp *t = &s->warp[k];
        if (!t->w || t->wait != PL_WAIT_TRY) continue;
        t->copy_ended = true;
        set_ready(s, k, now);
    }
}

static void land(pl_sm *s, uint64_t now)
{
    bool landed = false;
    s->async_at = PL_NEVER;
    if (s->dec->late_atomics)
        pl_sm_turn(
            s); /* reductions in global memory: those of the SMs before this one come first */
    for (uint32_t k = 0; k < s->ncta; k++) {
        pl_cta *c = s->cta[k].cta;
        for (uint32_t n = 0; c && n < c->nwarps; n++) {
            if (!c->warp[n].async || !c->warp[n].async->n) continue;
            const size_t before = c->warp[n].async->n;
            uint64_t at = pl_async_land(&c->warp[n], now);
            landed |= c->warp[n].async->n < before;
            if (at < s->async_at) s->async_at = at;
        }
    }
    if (landed) wake_tries(s, now);
}

/* --- issue --- */

/* Reads of registers that an instruction's dispatch can wait for (Huerta et al., MICRO 2025: a
 * window of three cycles). */
enum { READ_WINDOW = 2 };

/* What instruction d has to read from each bank when the warp issues it now. */
static const uint8_t *reads_of(const pl_sm *s, const pl_subcore *c, const pl_decoded_insn *d,
                               uint32_t warp)
{
    uint32_t pc = (uint32_t)(d - s->dec->at);
    return d
        ->reads[c->read_warp == warp && d->reuse_distance && c->read_pc + d->reuse_distance == pc];
}

/* The first cycle from `now` at which units and queues can take instruction d. */
static uint64_t structural(const pl_sm *s, const pl_subcore *c, const pl_decoded_insn *d,
                           uint32_t warp, uint64_t now, uint8_t *why)
{
    uint64_t at = now;
    const pl_price *p = d->price;
    for (uint32_t k = 0; k < p->npipes; k++) {
        if (p->pipe[k].pipe >= PL_PIPE_FIRST_SHARED) continue;
        uint64_t wait = pl_port_wait(&c->pipe[pl_decoded_pipe(d, p->pipe[k].pipe)], now);
        if (now + wait > at) {
            at = now + wait;
            *why = PL_STALL_MATH_PIPE;
        }
    }
    const uint8_t *reads = reads_of(s, c, d, warp);
    for (uint32_t b = 0; b < s->m->sm.register_banks; b++) {
        if (!reads[b] || c->bank_free[b] <= at + READ_WINDOW) continue;
        at = c->bank_free[b] - READ_WINDOW;
        *why = PL_STALL_DISPATCH;
    }
    if (p->variable || d->metric.ldc) {
        uint64_t room = pl_lsu_room(s, c, d, now);
        if (room > at) {
            at = room;
            *why = pl_decoded_is_lg(d) ? PL_STALL_LG_THROTTLE : PL_STALL_MIO_THROTTLE;
        }
    }
    return at;
}

/* Cycles from an issue to its result: of its class, of its access, or PL_LATENCY_LATER. */
static uint32_t result_after(const pl_sm *s, uint64_t now, uint64_t latency)
{
    pl_inflight *k = s->last_token == PL_NO_TOKEN ? NULL : &s->token[s->last_token];
    if (k && k->remaining > 0) {
        k->awaited = s->g->sink->done != NULL;
        return k->awaited ? PL_LATENCY_LATER : 0;
    }
    uint64_t at = k ? k->ready : s->answered;
    return (uint32_t)(at > now ? at - now : latency);
}

static void emit(const pl_sm *s, const pl_sm_warp *t, uint32_t pc, pl_lanes mask, uint32_t active,
                 uint32_t weight, uint64_t now, uint64_t seq, uint8_t stall, uint64_t stall_cycles,
                 uint64_t latency)
{
    const pl_sink *sink = s->g->sink;
    if (!sink || !sink->inst) return;
    pl_inst_event e = {.seq = seq,
                       .cycle = now,
                       .block = (uint32_t)t->w->cta->number,
                       .warp = t->w->index,
                       .pc = pc,
                       .mask = mask,
                       .weight = weight,
                       .active = (uint8_t)active,
                       .sm = (uint16_t)s->id,
                       .subcore = (uint8_t)(pl_warp_index(s, t) % s->nsub),
                       .stall = stall,
                       .stall_cycles = (uint32_t)stall_cycles,
                       .latency = result_after(s, now, latency)};
    sink->inst(sink->ctx, &e);
}

/* The end of a fence that takes `cycles` from when the warp came to it and its last store has left
 * the SM, and fence_drain from when all that was before it has been answered. */
static uint64_t fence_end(pl_sm *s, pl_sm_warp *t, uint64_t now, double each, uint32_t cycles)
{
    const uint64_t from = pl_port_enter(&s->fence_port, t->fence_from ? t->fence_from : now,
                                        (uint64_t)(each * PL_SUBCYCLES));
    const uint64_t last = t->answered ? t->answered + s->m->sync.fence_drain : 0,
                   end = from + cycles > last ? from + cycles : last;
    t->drained = false;
    t->fence_from = t->fence_mark = t->answered = 0;
    return end;
}

/* The cycle at which a fence of gpu scope that a warp issues now is over. It goes where requests of
 * the SM went since the fence before; one that comes while that is under way ends no sooner
 * (fence.tsv). */
static uint64_t fence_gpu(pl_sm *s, pl_sm_warp *t, uint64_t now)
{
    const pl_sync_config *m = &s->m->sync;
    const uint32_t there = s->far_l2_replied ? m->fence_far : s->l2_replied ? m->fence_near : 0;
    const uint64_t end = fence_end(s, t, now, there ? 0 : m->fence_gpu_each,
                                   there > m->fence_gpu ? there : m->fence_gpu);
    if (end > s->fence_end) s->fence_end = end;
    s->l2_replied = s->far_l2_replied = false;
    s->stat.exchanges += 2;
    return s->fence_end;
}

/* The fence in front of an access that releases: one or two MEMBAR, ERRBAR, CGAERRBAR. */
static void issue_release(pl_sm *s, pl_subcore *c, pl_sm_warp *t, uint64_t now)
{
    const uint32_t fence = t->next->releases, pc = t->w->pc, active = pl_count_lanes(t->w->active),
                   lanes = pl_count_lanes(pl_guarded(t->w, &t->w->code[pc]));
    const uint64_t from = t->issued + 1,
                   known = t->deps_ready > t->not_before ? t->deps_ready : t->not_before;
    const uint8_t why = t->deps_ready >= t->not_before ? t->dep_reason : t->not_before_reason;
    s->stat.stall[why] += known > from && now > from ? (known < now ? known : now) - from : 0;
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
    t->not_before = fence_gpu(s, t, now);
    t->not_before_reason = PL_STALL_MEMBAR;
    t->released = true;
    settle(s, t, now);
}

static void issue(pl_sm *s, pl_subcore *c, pl_sm_warp *t, uint64_t now)
{
    const pl_decoded_insn *d = t->next;
    if (d->releases && !t->released) {
        issue_release(s, c, t, now);
        return;
    }
    const uint32_t fences =
        t->released ? d->releases : 0; /* issued by issue_release for this instruction */
    t->released = false;
    const pl_price *p = d->price;
    pl_warp *w = t->w;
    const uint32_t pc = w->pc;
    const pl_lanes mask = pl_guarded(w, &w->code[pc]);
    const uint32_t active = pl_count_lanes(w->active);
    const bool twice =
        (uint32_t)mask &&
        mask >> PL_LANES; /* both halves of the warp have lanes to execute: two passes */
    uint64_t seq = s->g->sink ? s->g->seq++ : 0;
    uint8_t throttle = t->structural_reason;
    t->structural_reason = PL_STALL_NOT_SELECTED;

    /* what held the warp since its last issue: operands or control flow first, then units, then
     * other warps */
    uint64_t from = t->issued + 1,
             known = t->deps_ready > t->not_before ? t->deps_ready : t->not_before;
    uint8_t why = t->deps_ready >= t->not_before ? t->dep_reason : t->not_before_reason,
            main_why = PL_STALL_NONE;
    if (known > now) known = now;
    pl_pc_stat *st = s->pc_stat ? &s->pc_stat[pc] : NULL;
    if (known > from) {
        uint64_t fixed =
            t->stall < known
                ? t->stall
                : known; /* the stall count holds the warp first, then what comes later */
        fixed = fixed > from ? fixed - from : 0;
        const uint64_t rest = known - from - fixed, fetch = why != PL_STALL_BRANCH ? 0
                                                            : t->refetch_cycles < rest
                                                                ? t->refetch_cycles
                                                                : rest;
        s->stat.stall[PL_STALL_WAIT] += fixed;
        s->stat.stall[PL_STALL_NO_INSTRUCTION] += fetch;
        s->stat.stall[why] += rest - fetch;
        if (st) {
            st->stall[PL_STALL_WAIT] += fixed;
            st->stall[PL_STALL_NO_INSTRUCTION] += fetch;
            st->stall[why] += rest - fetch;
        }
        main_why = 2 * fixed > known - from ? PL_STALL_WAIT : why;
    } else {
        known = from;
    }
    if (now > known) {
        s->stat.stall[throttle] += now - known;
        if (throttle == PL_STALL_NOT_SELECTED) c->passed_over += now - known;
        if (st) st->stall[throttle] += now - known;
        if (main_why == PL_STALL_NONE || now - known > known - from) main_why = throttle;
    }
    uint64_t waited = now > from ? now - from : 0;

    w->clock = now;
    uint32_t splits = w->nsplits;
    s->fx.mask = 0;
    s->last_token = PL_NO_TOKEN;
    s->answered = 0;
    if (d->ordered) pl_sm_turn(s);
    pl_warp_step(w, !d->wants_effect ? NULL : w->halves > 1 ? s->halves : &s->fx);

    const uint32_t lanes = pl_count_lanes(mask),
                   rounds = d->kind == PL_KIND_BULK && lanes
                                ? lanes - 1
                                : 0; /* one for each lane but the first */
    const uint32_t issues = p->issues + d->nops + rounds * s->m->async.bulk_lane_issues;
    s->stat.exchanges += d->exchange;
    s->stat.inst += issues;
    s->stat.thread_inst += (uint64_t)issues * active;
    s->stat.thread_on += (uint64_t)issues * lanes;
    if (st) {
        st->issues += issues;
        st->executed++;
        st->lanes += (uint64_t)issues * lanes;
    }
    if (w->state == PL_WARP_DONE) {
        t->exit_pc = pc;
        const uint64_t resolved = exit_after(s),
                       wait = s->m->issue.branch <= resolved ? s->m->issue.branch - 1 : resolved;
        const uint64_t spent[][2] = {{PL_STALL_WAIT, wait},
                                     {PL_STALL_BRANCH, resolved - wait},
                                     {PL_STALL_DRAIN, drain(s, t, now) - resolved}};
        for (size_t k = 0; k < sizeof spent / sizeof *spent; k++) {
            s->stat.stall[spent[k][0]] += spent[k][1];
            if (st) st->stall[spent[k][0]] += spent[k][1];
        }
    }
    c->issues += issues;
    const uint8_t *reads = reads_of(s, c, d, pl_warp_index(s, t));
    for (uint32_t b = 0; b < s->m->sm.register_banks; b++)
        if (reads[b])
            c->bank_free[b] =
                (c->bank_free[b] > now ? c->bank_free[b] : now) + ((uint64_t)reads[b] << twice);
    c->read_warp = pl_warp_index(s, t);
    c->read_pc = pc;
    uint64_t busy = (uint64_t)p->issues * s->m->issue.interval, start = now;
    c->issue_free = now + (busy + s->m->issue.width - 1) / s->m->issue.width;
    t->issued = now + busy - 1;
    t->not_before = 0;
    t->refetch_cycles = 0;
    uint32_t f32 = 0;
    uint64_t second = 0,
             behind = d->extra_latency; /* cycles that the second pass comes behind the first;
                                    that the result comes later than by its class */
    bool heavy = false, addressed = false;
    const uint32_t more =
        w->values ? w->values - 1u
                  : 0; /* a comparison of all lanes looks up value by value (match.tsv) */
    w->values = 0;
    for (uint32_t k = 0; k < p->npipes; k++) {
        uint32_t pipe = pl_decoded_pipe(d, p->pipe[k].pipe);
        uint64_t pass = (uint64_t)p->pipe[k].cycles * d->scale;
        if (pipe == PL_PIPE_ADU) {
            addressed = true;
            behind += more * (s->m->constant.pass_latency +
                              (pass > s->m->constant.pass ? pass - s->m->constant.pass : 0));
            pass *= 1 + more;
        }
        const uint64_t cost = pass * PL_SUBCYCLES << twice;
        if (twice && pass > second) second = pass;
        s->stat.pipe_inst[pipe] += p->pipe[k].n;
        if (pipe != p->pipe[k].pipe)
            s->stat.pipe_inst[PL_PIPE_FMA] += p->pipe[k].n; /* IMAD.MOV, IMAD.IADD and their like */
        if (pipe == PL_PIPE_FMA) f32 = p->pipe[k].n;
        heavy |= pipe == PL_PIPE_HEAVY;
        if (pipe == PL_PIPE_TENSOR) s->stat.tensor_cycles += cost / PL_SUBCYCLES;
        pl_port *port = pipe >= PL_PIPE_FIRST_SHARED ? &s->pipe[pipe] : &c->pipe[pipe];
        if (pipe == PL_PIPE_LSU) continue; /* lsu.c knows how long */
        uint64_t in = pl_port_enter(port, now, cost);
        if (in > start) start = in;
        if (pipe == PL_PIPE_MIO) { /* what lanes exchange goes through the banks */
            in = pl_port_enter(&s->data, now, cost);
            if (in > start) start = in;
        }
    }
    if (p->again) t->reissue_at = start + p->again;
    if (pl_decoded_is_late(d))
        t->late_result[t->nlate_results++ % PL_PRODUCTS] = start + p->latency;
    if (!addressed && d->metric.adu && d->kind != PL_KIND_BARRIER && d->kind != PL_KIND_BRANCH &&
        !d->division_path && d->kind != PL_KIND_MEMORY && d->kind != PL_KIND_MBARRIER &&
        d->kind != PL_KIND_MBARRIER_WAIT) { /* those are counted where they wait */
        uint64_t in =
            pl_port_enter(&s->pipe[PL_PIPE_ADU], now, (uint64_t)s->m->constant.pass * PL_SUBCYCLES);
        if (in > start) start = in;
    }
    uint64_t latency = p->latency + second + behind;
    t->stall = now + d->stall + second + (uint64_t)rounds * s->m->async.bulk_lane;
    if (rounds)
        s->stat.pipe_inst[PL_PIPE_ALU] +=
            (uint64_t)rounds * (s->m->async.bulk_lane_issues > BULK_OTHERS
                                    ? s->m->async.bulk_lane_issues - BULK_OTHERS
                                    : 0);
    if (p->variable && d->kind == PL_KIND_MATH) {
        pl_sm_result(t, d, start + latency, PL_SB_SHORT);
        pl_sm_read(t, d, start + s->m->issue.read, PL_SB_SHORT);
        c->mio[c->mio_at % s->m->issue.mio_queue] = start;
        c->mio_at++;
    }

    if (f32 && !heavy &&
        c->lite_free <=
            now) { /* half of the f32 lanes multiply integers too: used when the others are busy */
        c->lite_free = now + 2;
        s->stat.lite += f32;
    }
    s->stat.targets += d->metric.targets;
    s->stat.cbu += d->metric.cbu;
    s->stat.adu += d->metric.adu;
    s->stat.writebacks += d->metric.writebacks;
    s->stat.const_requests += d->metric.ldc;
    s->stat.lsu += (uint64_t)(int64_t)d->metric.lsu;
    s->stat.branches += p->branches;
    if (st) st->branches += d->metric.targets; /* leaving the kernel is none */
    if (d->division_path) { /* the lanes that do not need it wait for the others */
        t->not_before = now + p->latency;
        t->not_before_reason = PL_STALL_BRANCH;
    }

    if (p->ends && d->kind == PL_KIND_MATH) {
        t->not_before = start + latency;
        t->not_before_reason = PL_STALL_WAIT;
    }

    switch ((pl_kind)d->kind) {
    case PL_KIND_SLEEP:
        t->not_before =
            pl_port_enter(&s->sleep_port, now, (uint64_t)(s->m->sync.sleep_each * PL_SUBCYCLES)) +
            s->m->sync.sleep;
        t->not_before_reason = PL_STALL_SLEEPING;
        break;
    case PL_KIND_MEMORY:
    case PL_KIND_MATRIX_MEMORY:
    case PL_KIND_COPY:
    case PL_KIND_BULK:
    case PL_KIND_MBARRIER:
    case PL_KIND_MBARRIER_WAIT: pl_lsu_issue(s, c, t, d, pc, now, seq); break;
    case PL_KIND_PARAM:
        if (d->metric.ldc) {
            c->mio[c->mio_at++ % s->m->issue.mio_queue] = start;
            pl_sm_result(t, d, loaded_constant(s, d, start), PL_SB_SHORT);
        } else if (d->bank) { /* it has the line before it issues: here the warp goes on when that
                                 is there */
            t->not_before = read_bank(s, t, d, now);
            t->not_before_reason = PL_STALL_IMC_MISS;
        }
        break;
    case PL_KIND_COMMIT: t->open_group = (uint8_t)((t->open_group + 1u) % PL_GROUPS); break;
    case PL_KIND_WGMMA: {
        s->stat.wgmma_halves += 8u + d->scale; /* rows of the banks that a warp reads, times two: a
                                                  quarter of A (2 KiB) and of B */
        uint64_t done = c->pipe[PL_PIPE_TENSOR].free / PL_SUBCYCLES + latency;
        if (done > t->wgmma_done) t->wgmma_done = done;
        break;
    }
    case PL_KIND_WGMMA_COMMIT: t->wgmma_group[t->wgmma_open++ % PL_GROUPS] = t->wgmma_done; break;
    case PL_KIND_FENCE_CTA:
    case PL_KIND_FENCE_VIEW: /* a fence of the block and one of the view */
        t->not_before = pl_port_enter(&s->fence_port, now,
                                      (uint64_t)(s->m->sync.fence_cta_each * PL_SUBCYCLES)) +
                        s->m->sync.fence_cta;
        t->not_before_reason =
            d->kind == PL_KIND_FENCE_CTA ? PL_STALL_MEMBAR : PL_STALL_SHORT_SCOREBOARD;
        break;
    case PL_KIND_FENCE_GPU:
        t->not_before = fence_gpu(s, t, now);
        t->not_before_reason = PL_STALL_MEMBAR;
        pl_l1_invalidate(&s->l1);
        break;
    case PL_KIND_FENCE_SYS:
        t->not_before = fence_end(s, t, now, s->m->sync.fence_sys_each, s->m->sync.fence_sys);
        t->not_before_reason = PL_STALL_MEMBAR;
        pl_l1_invalidate(&s->l1);
        break;
    case PL_KIND_FENCE_PROXY:
        t->not_before = now + s->m->sync.fence_proxy;
        t->not_before_reason = PL_STALL_MEMBAR;
        break;
    case PL_KIND_BRANCH: {
        const bool parts = w->nsplits > splits;
        s->stat.divergent += parts; /* pc_stat counts it where lanes part (op_control.c) */
        if (w->state == PL_WARP_DONE || (d->guarded && w->pc == pc + 1 && !parts))
            break; /* not taken: the stall count is all */
        t->not_before_reason = PL_STALL_BRANCH;
        if (d->indirect) /* the stall count holds the warp first */
            t->not_before = pl_port_enter(&s->jump_port, t->stall,
                                          (uint64_t)s->m->issue.jump_each * PL_SUBCYCLES) +
                            s->m->issue.jump;
        else if (d->yields)
            t->not_before = pl_port_enter(&s->jump_port, t->stall,
                                          (uint64_t)s->m->issue.jump_each * PL_SUBCYCLES) +
                            s->m->issue.yield;
        else {
            const uint64_t in = d->reconverges
                                    ? pl_port_enter(&s->jump_port, t->stall,
                                                    (uint64_t)s->m->issue.join_each * PL_SUBCYCLES)
                                    : t->stall;
            t->not_before =
                in + (p->latency > s->m->issue.branch ? p->latency - s->m->issue.branch : 0) +
                (parts ? s->m->issue.divergence : 0);
        }
        if (d->reconverges && w->pc == pc) t->not_before = t->stall + s->m->issue.rejoin;
        if (s->m->issue.refetch && (w->pc != pc + 1 || d->yields)) {
            const uint64_t resolved = t->not_before;
            t->not_before = pl_port_enter(&c->redirected, resolved,
                                          (uint64_t)s->m->issue.refetch * PL_SUBCYCLES) +
                            s->m->issue.refetch;
            t->refetch_cycles = (uint32_t)(t->not_before - resolved);
        }
        break;
    }
    case PL_KIND_BARRIER: {
        uint64_t at =
            pl_port_enter(&s->barrier_port, now, (uint64_t)s->m->sync.barrier_warp * PL_SUBCYCLES) +
            s->m->sync.barrier;
        if (d->nwrite || d->npwrite) at += s->m->sync.barrier_reduce;
        t->not_before = at;
        t->not_before_reason = PL_STALL_BARRIER;
        if ((release_barrier(s, t->cta, now, at) || t->cta->live == 1) &&
            t->cta->accessed) { /* else it has nothing to wait for */
            s->stat.barriers++;
            t->cta->accessed = false;
        }
        break;
    }
    case PL_KIND_CLUSTER_ARRIVE: { /* what it did to other SMs must be seen there, and all that it
                                      did unless it says .relaxed */
        uint64_t fenced = d->fence ? fence_gpu(s, t, now) : now;
        if (t->remote_done > fenced) fenced = t->remote_done;
        if (fenced > t->cta->fenced) t->cta->fenced = fenced;
        t->not_before = fenced;
        t->not_before_reason = PL_STALL_MEMBAR;
        release_barrier(s, t->cta, now, t->cta->fenced + s->m->sync.cluster);
        break;
    }
    case PL_KIND_CLUSTER_WAIT:
        pl_l1_invalidate(&s->l1);
        t->not_before = t->cta->fenced + s->m->sync.cluster;
        t->not_before_reason = PL_STALL_BARRIER;
        break;
    default: break;
    }
    release_barrier(s, t->cta, now, now + s->m->sync.barrier);
    if (w->asked.what != PL_DRIVER_NONE) {
        t->not_before = driver_answers(s, w, now);
        t->not_before_reason = PL_STALL_LONG_SCOREBOARD;
    }
    if (s->async_timed && w->async && w->async->n) wait_to_land(s, t, now);
    if (st) st->latency += latency;
    emit(s, t, pc, mask, active, issues + fences, now, seq, main_why, waited, latency);
    if (!try_again(s, t, d, pc, mask, now)) advance(s, t, now);
}

/* When the constant that the warp's next instruction has as an operand is there; PL_NEVER: the
 * reply wakes the warp. */
static uint64_t operand_there(pl_sm *s, pl_sm_warp *t, uint64_t now)
{
    uint64_t at = pl_const_operand_ready(s, PL_CONST_BASE + t->next->constant - 1, now);
    if (at > now) t->structural_reason = PL_STALL_IMC_MISS;
    if (at == PL_NEVER) t->wait = PL_WAIT_CONSTANT;
    return at;
}

/* The warp that was picked is about to execute something for which the SM has to wait, and may do
 * so by stopping. */
static bool stops(pl_sm *s, const pl_sm_warp *t)
{
    if (s->in_turn || !s->may_stop || !t->next->ordered || (t->next->releases && !t->released))
        return false;
    s->in_turn = pl_team_may(s->team, s->job);
    return !s->in_turn;
}

/* What is left of a sub-core's cycle when a warp has been picked; `picked`: there was one. */
static void end_subcore_cycle(pl_sm *s, pl_subcore *c, bool picked, uint64_t now)
{
    if (picked) {
        c->active++;
        issue(s, c, &s->warp[c->last * s->nsub + (uint32_t)(c - s->sub)], now);
    }
    const uint64_t soonest = c->issue_free > now ? c->issue_free : now + 1;
    uint64_t next = PL_NEVER;
    for (uint32_t p = 0; p < c->n && next > soonest; p++) {
        if (c->ready[p] < next) next = c->ready[p];
    }
    c->next = next > soonest ? next : soonest;
}

/* How far in front a ready warp is, at position `p` of its sub-core. Among the warps of a block
 * none stays behind: 32 of one block run for as long as all of them together, those of four blocks
 * for two thirds of that (start.tsv). */
static inline uint64_t rank(const pl_sm *s, const pl_subcore *c, const pl_sm_warp *t, uint32_t p)
{
    switch (s->m->issue.policy) {
    case PL_POLICY_YOUNGEST: return t->age;
    case PL_POLICY_OLDEST: return UINT32_MAX - t->age;
    case PL_POLICY_TURNS: return (c->last + c->n - p - 1) % c->n;
    default: return (uint64_t)t->cta->age << 32 | (UINT32_MAX - (uint32_t)t->issued);
    }
}

/* One sub-core, one cycle: picks a warp and issues its instruction, or says when to look again.
 * False: it has picked one, and stops. */
static bool subcore_cycle(pl_sm *s, pl_subcore *c, uint64_t now)
{
    if (now < c->issue_free) {
        c->next = c->issue_free;
        return true;
    }
    bool picked = false;
    uint32_t sub = (uint32_t)(c - s->sub), tries = 0;
    for (;;) {
        uint32_t best = UINT32_MAX;
        uint64_t best_age = 0;
        if (c->ready[c->last] <= now && tries == 0) {
            best = c->last;
        } else {
            for (uint32_t p = 0; p < c->n; p++) {
                if (c->ready[p] > now) continue;
                const uint64_t age = rank(s, c, &s->warp[p * s->nsub + sub], p);
                if (best == UINT32_MAX || age > best_age) {
                    best = p;
                    best_age = age;
                }
            }
        }
        if (best == UINT32_MAX) break;
        tries++;
        pl_sm_warp *t = &s->warp[best * s->nsub + sub];
        if (!t->next) { /* asleep: has its time come? */
            advance(s, t, now);
            if (c->ready[best] <= now && !t->next) c->ready[best] = now + 1;
            continue;
        }
        uint64_t at = structural(s, c, t->next, best * s->nsub + sub, now, &t->structural_reason);
        if (at <= now && t->next->constant) at = operand_there(s, t, now);
        if (at > now) {
            c->ready[best] = at;
            continue;
        }
        c->last = best;
        if (stops(s, t)) return false;
        picked = true;
        break;
    }
    end_subcore_cycle(s, c, picked, now);
    return true;
}

/* When the SM has something to do of itself, without a reply. */
static uint64_t next_event(const pl_sm *s)
{
    uint64_t next = s->async_at < s->queue_next ? s->async_at : s->queue_next;
    for (uint32_t k = 0; k < s->nsub; k++) {
        if (s->sub[k].next < next) next = s->sub[k].next;
    }
    return next;
}

void pl_sm_report(pl_sm *s)
{
    pl_sm_status *b = s->status;
    b->next = next_event(s);
    b->starts = s->nplaced > 0;
    b->sends = s->out.n > 0 || s->store_buffer_until;
    b->ended = s->nended > 0 || s->no_memory || s->advances;
}

/* The sub-cores from this one on do what is due at cycle `now`. False: the SM has stopped. */
static bool issue_all(pl_sm *s, uint32_t first, uint64_t now)
{
    for (uint32_t k = first; k < s->nsub; k++) {
        if (s->sub[k].next > now || subcore_cycle(s, &s->sub[k], now)) continue;
        s->stopped = true;
        s->stopped_at = k;
        return false;
    }
    s->now = now + 1;
    return true;
}

bool pl_sm_run(pl_sm *s, pl_memsys *mem, uint64_t until)
{
    if (s->stopped) {
        s->stopped = false;
        end_subcore_cycle(s, &s->sub[s->stopped_at], true, s->now);
        if (!issue_all(s, s->stopped_at + 1, s->now)) return false;
    }
    for (;;) {
        const uint64_t reply = pl_memsys_reply_time(mem, s->id), own = next_event(s);
        uint64_t now = reply < own ? reply : own;
        if (now < s->now) now = s->now;
        if (now >= until || s->fault) return true;
        s->now = now;
        pl_mem_reply r;
        while (reply <= now && pl_memsys_reply(mem, s->id, now, &r)) {
            switch (r.client) {
            case PL_CL_CODE: pl_fetch_reply(s, r.line, now); break;
            case PL_CL_CONST: pl_const_reply(s, r.line, now); break;
            default: pl_lsu_reply(s, &r, now); break;
            }
        }
        if (s->nqueue) pl_lsu_pump(s, now);
        if (s->async_at <= now) land(s, now);
        if (!issue_all(s, 0, now)) return false;
    }
}

void pl_sm_poll(pl_sm *s, uint64_t now)
{
    for (uint32_t i = 0; i < s->m->sm.warps && s->live_warps; i++) {
        pl_sm_warp *t = &s->warp[i];
        if (!t->w || t->wait != PL_WAIT_BARRIER || (!t->w->cta->cluster && !t->w->grid->before))
            continue;
        if (!pl_warp_poll(t->w, now)) {
            if (t->w->state == PL_WARP_DONE || t->w->state == PL_WARP_FAULT) advance(s, t, now);
            continue;
        }
        /* the blocks of a cluster come to their barrier at about the same time: the fences of this
         * one stand for all */
        uint64_t arrived = t->cta->fenced > now ? t->cta->fenced : now;
        t->not_before = t->w->cta->cluster ? arrived + s->m->sync.cluster : now + s->m->launch.end;
        advance(s, t, now);
    }
}

bool pl_sm_place(pl_sm *s, pl_cta *c, uint64_t at)
{
    if (s->nplaced == s->ncta) return false;
    s->placed[s->nplaced].at = at;
    s->placed[s->nplaced++].cta = c;
    s->status->starts = true;
    return true;
}

/* The warps of a block get their slots. */
static bool begin(pl_sm *s, pl_cta *c, uint64_t at)
{
    pl_sm_cta *b = NULL;
    for (uint32_t k = 0; k < s->ncta && !b; k++) {
        if (!s->cta[k].cta) b = &s->cta[k];
    }
    if (!b) return false;
    *b = (pl_sm_cta){.cta = c, .live = c->nwarps, .age = s->arrivals, .started = at};
    s->stat.blocks++;
    if (s->live_warps == 0) s->busy_since = at - s->m->launch.block_start;
    if (s->now < at && s->live_warps == 0) s->now = at;
    uint32_t k = 0, sub = s->arrivals % s->nsub;
    for (uint32_t tries = 0; k < c->nwarps && tries < s->m->sm.warps; tries++) {
        /* the warps of a block go to the sub-cores in turn */
        uint32_t found = UINT32_MAX;
        for (uint32_t turn = 0; turn < s->nsub && found == UINT32_MAX; turn++) {
            uint32_t q = (sub + turn) % s->nsub;
            for (uint32_t p = 0; p < s->sub[q].n; p++) {
                if (s->warp[p * s->nsub + q].w) continue;
                found = p * s->nsub + q;
                break;
            }
        }
        if (found == UINT32_MAX) return false;
        sub = (found % s->nsub + 1) % s->nsub;
        pl_sm_warp *t = &s->warp[found];
        const uint64_t start = at + (uint64_t)(k * s->m->launch.warp_each);
        *t = (pl_sm_warp){.w = &c->warp[k],
                          .cta = b,
                          .age = s->arrivals++,
                          .started = start,
                          .issued = start,
                          .not_before = start,
                          .not_before_reason = PL_STALL_NO_INSTRUCTION,
                          .structural_reason = PL_STALL_NOT_SELECTED,
                          .fetch_line = PL_NEVER};
        s->live_warps++;
        if (s->sub[found % s->nsub].live++ == 0)
            s->sub[found % s->nsub].busy_since = at - s->m->launch.block_start;
        s->stat.warps++;
        advance(s, t, at);
        k++;
    }
    return k == c->nwarps;
}

void pl_sm_begin(pl_sm *s)
{
    for (uint32_t k = 0; k < s->nplaced; k++) {
        if (pl_cta_begin(s->placed[k].cta) && begin(s, s->placed[k].cta, s->placed[k].at)) continue;
        s->no_memory = true;
    }
    s->nplaced = 0;
}
