/* sm.c - the external interface of an SM: its components, the placement of blocks, and its progress
 * through the cycles of a window. */
#include "emu/exec/async/async.h"
#include "emu/sm/units.h"
#include <string.h>

/* Instructions go to the unit selected by decode.c. */
static const pl_unit units[PL_UNIT_COUNT] = {
    [PL_UNIT_SPECIAL_FUNCTION] = {.name = "special function unit",
                                  .issue = pl_special_function_issue},
    [PL_UNIT_TENSOR] = {.name = "tensor unit", .issue = pl_tensor_issue},
    [PL_UNIT_LSU] = {.name = "load/store unit", .issue = pl_lsu_issue},
    [PL_UNIT_TEXTURE] = {.name = "texture unit"},
    [PL_UNIT_COPY_ENGINE] = {.name = "copy engine"},
    [PL_UNIT_CONSTANT] = {.name = "constant cache", .issue = pl_constant_issue},
    [PL_UNIT_BRANCH] = {.name = "branch unit", .issue = pl_branch_issue},
    [PL_UNIT_BARRIER] = {.name = "barrier unit", .issue = pl_barrier_issue},
    [PL_UNIT_FENCE] = {.name = "fence unit", .issue = pl_fence_issue},
    [PL_UNIT_SLEEP] = {.name = "sleep timer", .issue = pl_sleep_issue},
};

/* Entries of the tables of an SM that are not numbers of the machine. */
enum {
    FURTHER_INFLIGHT = 256,  /* accesses in flight besides misses and stores */
    MAX_INFLIGHT = 65536,    /* tokens have 16 bits */
    FURTHER_REQUESTS = 2048, /* requests of a window besides misses and stores */
    TARGETS_PER_MSHR = 8     /* waiting loads, on average */
};

/* Zeroes an SM with nsub sub-cores, except for the state of its warps, which is initialised when
 * they begin: half of a launch's SMs have few warps. */
static void clear(pl_sm *s, uint32_t nsub)
{
    unsigned char *at = (unsigned char *)s;
    const size_t cta = offsetof(pl_sm, cta), sub = offsetof(pl_sm, sub[0]),
                 pipe = offsetof(pl_sm, pipe);
    memset(s, 0, offsetof(pl_sm, warp));
    memset(at + cta, 0, sub - cta + nsub * sizeof *s->sub);
    memset(at + pipe, 0, sizeof *s - pipe);
    for (uint32_t k = 0; k < PL_SM_WARPS; k++) s->warp[k].w = NULL;
}

/* Further MSHRs, for the access of a warp's other half. */
static uint32_t second_mshrs(const pl_machine *m)
{
    return m->sm.lanes > PL_LANES ? PL_L1_BURST : 0;
}

static uint32_t inflight_entries(const pl_machine *m)
{
    const uint32_t n = m->l1.mshr * 2 + m->l1.outstanding_stores + FURTHER_INFLIGHT;
    return n < MAX_INFLIGHT ? n : MAX_INFLIGHT;
}

/* Requests of a window. */
static uint32_t window_requests(const pl_machine *m)
{
    return m->l1.mshr + m->l1.outstanding_stores + FURTHER_REQUESTS;
}

/* A cache with the cycle at which each line is available. */
static uint64_t cache_bytes(uint64_t bytes, uint64_t line, uint32_t ways)
{
    const uint64_t tags = pl_cache_tag_bytes(bytes, (uint32_t)line, ways);
    return tags + tags / sizeof(pl_cache_line) * sizeof(uint64_t);
}

pl_model_bytes pl_sm_bytes(const pl_machine *m, bool events)
{
    const pl_sm *s = NULL; /* for sizes only */
    const pl_const_config *c = &m->constant;
    const uint32_t second = second_mshrs(m);
    const uint64_t l1 = pl_cache_tag_bytes(m->l1.size - m->l1.reserved, (uint32_t)m->l1.line,
                                           m->l1.ways),
                   constants = cache_bytes(c->l15_size, c->line, c->l15_ways) +
                               2 * cache_bytes(c->size, c->line, c->ways),
                   code = cache_bytes(m->fetch.l1_size, m->fetch.line, m->fetch.l1_ways) +
                          m->sm.subcores *
                              cache_bytes(m->fetch.l0_size, m->fetch.line, m->fetch.l0_ways),
                   blocks = m->sm.blocks * (sizeof *s->cta + sizeof *s->placed),
                   queues = m->sm.lanes <= PL_LANES
                                ? (m->l1.lsu_queue + m->sm.subcores * m->issue.lg_queue) *
                                      sizeof *s->queue
                                : 0;
    return (pl_model_bytes){
        .dense = sizeof *s + l1 + constants + code + blocks,
        .sparse = pl_mshr_bytes(m->l1.mshr + second, m->l1.mshr * TARGETS_PER_MSHR + second) +
                  pl_inflight_bytes(inflight_entries(m), events) +
                  PL_CONST_WAITS * sizeof *s->const_wait + queues +
                  (uint64_t)2 * window_requests(m) * sizeof *s->out.at};
}

static void init_l1(pl_sm *s, const pl_sm_setup *x)
{
    const pl_l1_config *c = &x->m->l1;
    const uint32_t second = second_mshrs(x->m);
    const pl_l1_geometry g = {.bytes = x->l1_bytes,
                              .line_bytes = (uint32_t)c->line,
                              .sector_bytes = (uint32_t)c->sector,
                              .ways = c->ways,
                              .mshrs = c->mshr + second,
                              .targets = c->mshr * TARGETS_PER_MSHR + second};
    pl_l1_init(&s->l1, x->arena, x->large, x->sparse, &g);
    if (c->evict_last_share > 0) pl_cache_set_evict_last_quota(&s->l1.tags, c->evict_last_share);
    s->l1.mshrs.burst += second;
    s->l1.mshrs.max_sectors = c->mshr_sectors;
    s->l1.private_base = PL_LOCAL_BASE;
    s->l1.private_bytes = PL_LOCAL_BYTES;
}

bool pl_sm_init(pl_sm *s, pl_sm_status *status, uint32_t id, const pl_sm_setup *x)
{
    const pl_machine *m = x->m;
    clear(s, m->sm.subcores);
    s->status = status;
    s->status->next = PL_NEVER;
    s->status->open = true;
    s->m = m;
    s->dec = x->dec;
    s->g = x->g;
    s->pc_stat = x->g->pc_stat;
    s->turn.reached = true;
    s->async_timed = x->g->async_mode == PL_ASYNC_TIMED;
    s->id = id;
    s->banks = (pl_banks){m->shared.banks, m->shared.bank, m->shared.rows};
    for (uint32_t k = 0; k < PL_UNIT_COUNT; k++) s->unit[k] = units[k];
    s->nsub = m->sm.subcores;
    s->xbar_cost = x->up_costs;
    s->ncta = m->sm.blocks;
    s->cta = pl_arena_array(x->arena, pl_sm_cta, s->ncta);
    s->placed = pl_arena_alloc(x->arena, s->ncta * sizeof *s->placed);
    pl_inflight_init(&s->inflight, x->sparse, inflight_entries(m), x->g->sink);
    s->const_wait = pl_arena_alloc(x->sparse, PL_CONST_WAITS * sizeof *s->const_wait);
    if (m->sm.lanes <= PL_LANES)
        s->queue = pl_arena_array(x->sparse, pl_lsu_entry, m->l1.lsu_queue);
    s->queue_next = s->exit_waits_for = s->fence_waits_for = PL_NEVER;
    s->out.cap = window_requests(m);
    s->out.at = pl_arena_array(x->sparse, pl_mem_req, s->out.cap);
    init_l1(s, x);
    pl_icache_init(&s->icache, x->arena, m, m->fetch.l1_size, m->fetch.l1_ways, x->dec->bytes);
    pl_const_init(s, x->arena, &x->constants);
    for (uint32_t k = 0; k < s->nsub; k++) {
        pl_subcore *c = &s->sub[k];
        c->n = m->sm.warps / s->nsub;
        c->next = PL_NEVER;
        for (uint32_t p = 0; p < c->n; p++) c->ready[p] = PL_NEVER;
        pl_icache_init(&c->l0, x->arena, m, m->fetch.l0_size, m->fetch.l0_ways, x->dec->bytes);
        if (s->queue) c->queue = pl_arena_array(x->sparse, pl_lsu_entry, m->issue.lg_queue);
    }
    return pl_arena_ok(x->arena) && pl_arena_ok(x->large) && pl_arena_ok(x->sparse);
}

/* The cycle of the SM's next event that does not depend on a reply. */
static uint64_t next_event(const pl_sm *s)
{
    uint64_t next = s->inflight.async_at < s->queue_next ? s->inflight.async_at : s->queue_next;
    for (uint32_t k = 0; k < s->nsub; k++) {
        if (s->sub[k].next < next) next = s->sub[k].next;
    }
    return next;
}

void pl_sm_update_status(pl_sm *s)
{
    pl_sm_status *b = s->status;
    b->next = next_event(s);
    b->starts = s->nplaced > 0;
    b->sends = s->out.n > 0 || s->store_buffer_until;
    b->ended = s->nended > 0 || s->no_memory || s->advances;
}

/* The sub-cores from this one on process cycle `now`. False: the SM has stopped. */
static bool issue_all(pl_sm *s, uint32_t first, uint64_t now)
{
    for (uint32_t k = first; k < s->nsub; k++) {
        if (s->sub[k].next > now || pl_warp_scheduler_cycle(s, &s->sub[k], now)) continue;
        s->stopped = true;
        s->stopped_at = k;
        return false;
    }
    s->now = now + 1;
    return true;
}

/* Accesses that waited for space in the L1 continue, as long as there is space. */
static void continue_accesses(pl_sm *s, uint64_t now)
{
    while (pl_lsu_can_continue(s, now)) {
        pl_lsu_continue(s, now);
        pl_completions_apply(s, now);
    }
    s->queue_next = pl_lsu_retry_cycle(s, now);
}

bool pl_sm_run(pl_sm *s, pl_memsys *mem, uint64_t until)
{
    s->waits_for_pages = pl_memsys_waits_for_pages(mem, s->id);
    if (s->stopped) {
        s->stopped = false;
        pl_warp_scheduler_end(s, &s->sub[s->stopped_at], true, s->now);
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
            case PL_CL_CODE:
                pl_icache_reply(s, r.line, now);
                pl_scoreboard_wake_all(s, PL_WAIT_FETCH, now);
                break;
            case PL_CL_CONST:
                pl_const_reply(s, r.line, now);
                pl_completions_apply(s, now);
                pl_scoreboard_wake_all(s, PL_WAIT_CONSTANT, now);
                break;
            default:
                pl_lsu_reply(s, &r, now);
                pl_completions_apply(s, now);
                break;
            }
        }
        if (s->nqueue) continue_accesses(s, now);
        if (s->inflight.async_at <= now) pl_async_landing(s, now);
        if (!issue_all(s, 0, now)) return false;
    }
}

void pl_sm_poll(pl_sm *s, uint64_t now)
{
    for (uint32_t i = 0; i < s->m->sm.warps && s->live_warps; i++) {
        pl_sm_warp *t = &s->warp[i];
        if (!t->w || t->wait != PL_WAIT_BARRIER || (!t->w->cta->cluster && !t->w->grid->previous))
            continue;
        if (!pl_warp_poll(t->w, now)) {
            if (t->w->state == PL_WARP_DONE || t->w->state == PL_WARP_FAULT)
                pl_warp_advance(s, t, now);
            continue;
        }
        /* the blocks of a cluster reach their barrier at about the same time: the fences of this
         * block represent all of them */
        uint64_t arrived = t->cta->fence_end > now ? t->cta->fence_end : now;
        t->not_before = t->w->cta->cluster ? arrived + s->m->sync.cluster : now + s->m->launch.end;
        pl_warp_advance(s, t, now);
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

/* The slot for the next warp: a free one of the current sub-core, or of the next one with a free
 * slot; UINT32_MAX: none. */
static uint32_t free_slot(const pl_sm *s, uint32_t sub)
{
    for (uint32_t n = 0; n < s->nsub; n++) {
        const uint32_t q = (sub + n) % s->nsub;
        for (uint32_t p = 0; p < s->sub[q].n; p++)
            if (!s->warp[p * s->nsub + q].w) return p * s->nsub + q;
    }
    return UINT32_MAX;
}

/* Assigns the slot to warp k of a block that starts at cycle `at`. */
static void start_warp(pl_sm *s, pl_sm_cta *b, uint32_t k, uint32_t slot, uint64_t at)
{
    pl_sm_warp *t = &s->warp[slot];
    pl_subcore *c = pl_subcore_of(s, slot);
    const uint64_t start = at + (uint64_t)(k * s->m->launch.warp_each);
    *t = (pl_sm_warp){.w = &b->cta->warp[k],
                      .cta = b,
                      .age = s->arrivals++,
                      .started = start,
                      .issued = start,
                      .not_before = start,
                      .not_before_reason = PL_STALL_NO_INSTRUCTION,
                      .structural_reason = PL_STALL_NOT_SELECTED,
                      .fetch_line = PL_NEVER};
    s->live_warps++;
    if (c->live++ == 0) c->busy_since = at - s->m->launch.block_start;
    s->stat.warps++;
    pl_warp_advance(s, t, at);
}

/* Assigns slots to the warps of a block. */
static bool start_block(pl_sm *s, pl_cta *c, uint64_t at)
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
    for (; k < c->nwarps && k < s->m->sm.warps; k++) {
        /* the warps of a block are distributed round-robin over the sub-cores */
        const uint32_t slot = free_slot(s, sub);
        if (slot == UINT32_MAX) return false;
        sub = (slot % s->nsub + 1) % s->nsub;
        start_warp(s, b, k, slot, at);
    }
    return k == c->nwarps;
}

void pl_sm_begin(pl_sm *s)
{
    for (uint32_t k = 0; k < s->nplaced; k++) {
        if (pl_cta_begin(s->placed[k].cta) && start_block(s, s->placed[k].cta, s->placed[k].at))
            continue;
        s->no_memory = true;
    }
    s->nplaced = 0;
}
