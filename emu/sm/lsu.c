/* lsu.c - the load/store unit: from the lanes' addresses to wavefronts, tags and requests, and back
 * to the scoreboard.
 *
 * The functional model has already moved the data; pl_memory_effect records the addresses accessed
 * by each lane. This file converts them to timing. Each kind of access has its file:
 *   lsu_shared.c    wavefronts through the banks of shared memory
 *   lsu_global.c    lines and sectors, L1 tags, requests to the L2
 *   lsu_constant.c  one access for each distinct address
 *   mbarrier_unit.c, copy_engine.c, texture_unit.c, store_buffer.c
 * The issue stage checks whether the unit accepts an instruction, issues it, and delivers replies.
 * Completions are returned through inflight.h. */
#include "emu/sm/units.h"
#include <assert.h>

/* Cycles until a full table is checked again if it does not report when it has space. */
enum { POLL_CYCLES = 4, PAGE_POLL_CYCLES = 512 };

/* True if there are entries for the misses, stores and atomics of an access. */
static bool has_miss_entries(const pl_sm *s)
{
    return !s->waits_for_pages && pl_mshr_available(&s->l1.mshrs) &&
           s->requests_out + s->operands_out + PL_L1_BURST <= s->m->l1.outstanding_stores;
}

/* The cycle from which the backlog for the L2 is within its limit. */
static uint64_t store_port_free(const pl_sm *s)
{
    const uint64_t free = (s->store_port.free + PL_SUBCYCLES - 1) / PL_SUBCYCLES;
    return free > s->m->l1.backlog ? free - s->m->l1.backlog : 0;
}

/* True if the L1 can accept an access of a warp. */
static bool has_space(const pl_sm *s, uint64_t now)
{
    return has_miss_entries(s) && store_port_free(s) <= now;
}

/* True if the tables of the model can. */
static bool has_model_space(const pl_sm *s)
{
    return s->inflight.used + 128 <= s->inflight.n && s->out.n + 512 <= s->out.cap;
}

uint64_t pl_lsu_accepts(const pl_sm *s, const pl_subcore *c, const pl_decoded_insn *d, uint64_t now)
{
    const bool mio = !pl_decoded_is_lg(d);
    uint32_t n = mio ? s->m->issue.mio_queue : s->m->issue.lg_queue;
    uint64_t oldest = mio ? c->mio[c->mio_at % n] : c->lg[c->lg_at % n];
    if (oldest > now) return oldest;
    if (mio) return now;
    if (s->waits_for_pages && (c->nqueue >= n || !s->queue)) return now + PAGE_POLL_CYCLES;
    if (c->nqueue >= n || !has_model_space(s)) return now + POLL_CYCLES;
    if (!s->queue && !has_space(s, now)) return now + POLL_CYCLES;
    return now;
}

/* --- accesses that wait in the queue of the LSU ---
 *
 * Stores and reductions leave an SM no faster than the L2 accepts them, and misses need an MSHR.
 * Until there is space, accesses wait before the tags: l1.lsu_queue of them that have read their
 * registers, followed by those in the queues of the sub-cores, which are served round-robin.
 * (behind.tsv.xz: a load waits for up to 50 stores or 60 reductions of a warp each that were issued
 * before it.) */

/* The cycle of the next check whether the first waiting access can proceed, if no reply arrives. */
uint64_t pl_lsu_retry_cycle(const pl_sm *s, uint64_t now)
{
    if (!s->nqueue || !has_miss_entries(s)) return PL_NEVER;
    return store_port_free(s) > now ? store_port_free(s) : now + POLL_CYCLES;
}

static void enqueue(pl_sm *s, pl_subcore *c, pl_sm_warp *t, const pl_decoded_insn *d, uint32_t pc,
                    uint64_t now, uint64_t seq)
{
    const uint32_t input = s->m->l1.lsu_queue, own = s->m->issue.lg_queue;
    pl_lsu_entry q = {.fx = s->fx,
                      .d = d,
                      .issued = now,
                      .seq = seq,
                      .pc = pc,
                      .token = PL_NO_TOKEN,
                      .warp = (uint16_t)pl_warp_index(s, t)};
    if (s->fx.kind != PL_AC_STORE &&
        (s->fx.kind != PL_AC_REDUCTION || pl_lsu_returns_value(&s->fx, d))) {
        q.token = pl_lsu_inflight_new(s, t, pc, now, seq, PL_SB_LONG);
        pl_scoreboard_result_later(t, d, &s->inflight.at[q.token]);
        if (d->kind == PL_KIND_COPY) pl_lsu_start_copy(s, t, q.token);
    }
    t->queued++;
    if (s->nqueue < input) {
        s->queue[(s->queue_at + s->nqueue++) % input] = q;
        if (s->queue_next == PL_NEVER) s->queue_next = pl_lsu_retry_cycle(s, now);
        pl_lsu_read_registers(s, t, d, now, PL_SB_LONG);
        return;
    }
    assert(c->nqueue < own && "pl_lsu_accepts was asked before the instruction issued");
    c->queue[(c->queue_at + c->nqueue++) % own] = q;
    if (d->code.read_barrier == PL_SB_NONE) return;
    t->sb[d->code.read_barrier].pending++;
    t->sb[d->code.read_barrier].kind = PL_SB_LONG;
}

/* The input queue has space: serves the sub-cores round-robin. */
static void refill_input_queue(pl_sm *s, uint64_t now)
{
    for (uint32_t k = 0; k < s->nsub; k++) {
        pl_subcore *c = &s->sub[(s->queue_next_sub + k) % s->nsub];
        if (c->nqueue == 0) continue;
        const pl_lsu_entry *q = &s->queue[(s->queue_at + s->nqueue++) % s->m->l1.lsu_queue];
        s->queue[q - s->queue] = c->queue[c->queue_at];
        c->queue_at = (c->queue_at + 1) % s->m->issue.lg_queue;
        c->nqueue--;
        s->queue_next_sub = (s->queue_next_sub + k + 1) % s->nsub;
        s->fx = q->fx;
        if (q->d->code.read_barrier != PL_SB_NONE)
            pl_completion_add(&s->inflight, (pl_completion){.ready = pl_lsu_registers_read(s, now),
                                                            .warp = q->warp,
                                                            .what = PL_COMPLETED_READ,
                                                            .scoreboard = q->d->code.read_barrier});
        return;
    }
}

bool pl_lsu_can_continue(const pl_sm *s, uint64_t now)
{
    return s->nqueue && has_space(s, now) && has_model_space(s);
}

void pl_lsu_continue(pl_sm *s, uint64_t now)
{
    const pl_lsu_entry *first = &s->queue[s->queue_at];
    const uint16_t warp = first->warp;
    s->fx = first->fx;
    pl_lsu_access_global(s, &s->sub[warp % s->nsub], &s->warp[warp], first->d, first->pc, now,
                         first->seq, first);
    s->queue_at = (s->queue_at + 1) % s->m->l1.lsu_queue;
    s->nqueue--;
    pl_completion_add(&s->inflight, (pl_completion){.warp = warp, .what = PL_COMPLETED_QUEUED});
    refill_input_queue(s, now);
}

static void access(pl_sm *s, pl_subcore *c, pl_sm_warp *t, const pl_decoded_insn *d, uint32_t pc,
                   uint64_t now, uint64_t seq)
{
    if (d->kind == PL_KIND_MBARRIER || d->kind == PL_KIND_MBARRIER_WAIT) {
        pl_mbarrier_issue(s, c, t, d, pc, now, seq);
        return;
    }
    if (!s->fx.mask) { /* no lane accessed memory: only the address unit was occupied */
        s->stat.exchanges++;
        pl_port_enter(&s->unit[PL_UNIT_LSU].port, now, PL_SUBCYCLES);
        return;
    }
    if (d->cache_op != PL_UP_NONE) {
        pl_lsu_cache_control(s, c, t, d, pc, now, seq);
        return;
    }
    if (d->kind == PL_KIND_BULK) {
        pl_copy_engine_issue(s, c, t, d, pc, now, seq);
        return;
    }
    switch ((pl_space)s->fx.space) {
    case PL_SP_SHARED: pl_lsu_access_shared(s, c, t, d, pc, now, seq); break;
    case PL_SP_CONST: pl_lsu_access_constant(s, c, t, d, pc, now, seq); break;
    default:
        if (s->queue && (s->nqueue || !has_space(s, now)))
            enqueue(s, c, t, d, pc, now, seq);
        else
            pl_lsu_access_global(s, c, t, d, pc, now, seq, NULL);
        break;
    }
}

void pl_lsu_issue(pl_issue_slot *x)
{
    pl_sm *s = x->s;
    pl_subcore *c = x->c;
    pl_sm_warp *t = x->t;
    pl_warp *w = t->w;
    const pl_decoded_insn *d = x->d;
    const uint32_t pc = x->pc;
    const uint64_t now = x->now, seq = x->seq;
    if (d->kind == PL_KIND_COMMIT) {
        t->open_group = (uint8_t)((t->open_group + 1u) % PL_GROUPS);
        return;
    }
    t->cta->accessed = true;
    s->fx.policy = 0;
    if (d->policy_operand != UINT8_MAX && s->fx.mask)
        s->fx.policy = pl_lsu_operand(t, &w->code[pc], d->policy_operand,
                                      (unsigned)__builtin_ctz(s->fx.mask), true);
    s->stat.exchanges += d->acquires; /* CCTL */
    s->stat.lsu += d->acquires;
    if (w->halves == 1) {
        access(s, c, t, d, pc, now, seq);
        return;
    }
    /* a separate access for each half with executing lanes */
    bool any = false;
    for (unsigned h = 0; h < w->halves; h++) {
        if (!s->halves[h].mask && (any || h + 1 < w->halves)) continue;
        s->fx = s->halves[h];
        pl_warp_set_half(w, h);
        access(s, c, t, d, pc, now, seq);
        any = true;
    }
    pl_warp_set_half(w, 0);
}

/* Data for entries of pl_inflight_table: the cycle of arrival, and the source level. */
typedef struct fill {
    pl_sm *s;
    uint64_t at;
    uint8_t level;
} fill;

static void on_fill(void *ctx, uint32_t token)
{
    fill *f = ctx;
    pl_inflight *k = &f->s->inflight.at[token];
    if (f->level > k->level) k->level = f->level;
    pl_pc_stat *st = pl_sm_pc_stat(f->s, k->pc);
    if (st && k->remaining == 1) st->latency += f->at - k->issued;
    pl_lsu_part_done(f->s, token, f->at);
}

/* A store or an atomic operation has completed. */
static void complete_store(pl_sm *s)
{
    pl_completion_add(&s->inflight, (pl_completion){.what = PL_COMPLETED_STORE});
}

void pl_lsu_reply(pl_sm *s, const pl_mem_reply *r, uint64_t now)
{
    s->l2_replied = true;
    if (r->operands > 1) s->operands_out -= r->operands - 1u;
    s->far_l2_replied |= r->far;
    uint32_t n = pl_sector_count(r->sectors);
    fill f = {.s = s, .at = now + s->m->l1.fill, .level = r->level};
    switch ((pl_mem_client)r->client) {
    case PL_CL_L1: {
        const pl_mshr *miss = &s->l1.mshrs.at[r->token];
        pl_pc_stat *st =
            miss->targets == PL_NO_LINE
                ? NULL
                : pl_sm_pc_stat(s, s->inflight.at[s->l1.mshrs.target[miss->targets].token].pc);
        if (st) *(r->level == PL_LV_DRAM ? &st->from_dram : &st->from_l2) += n;
        pl_l1_fill(&s->l1, r->token, on_fill, &f);
        break;
    }
    case PL_CL_ATOMIC:
        on_fill(&f, r->token);
        complete_store(s);
        break;
    case PL_CL_BULK: on_fill(&f, r->token); break;
    default: complete_store(s); break;
    }
}
