/* synchronisation.c - synchronisation of threads: barriers, fences, releases and acquires,
 * mbarriers, waits for copies.
 *
 * A release records the vector clock of a lane and its own accesses so far; an acquire merges the
 * recorded clock. The rules are those of PTX ISA 9.0, chapter "Memory Consistency Model",
 * applied to the order in which the launch executed. The clock of a barrier or wait is acquired
 * when it completes; a fence only turns later strong writes into releases, and earlier strong reads
 * into acquires. The total order of fence.sc operations is not modelled: it is arbitrary, and
 * another run may have the opposite order. */
#include <stdlib.h>
#include <string.h>

#include "check/internal.h"
#include "emu/exec/memory/address.h"

uint8_t pl_order_level(pl_word scope)
{
    return scope == W_cta ? PL_SCOPE_CTA : scope == W_cluster ? PL_SCOPE_CLUSTER : PL_SCOPE_GPU;
}

/* ---- vector clocks of lanes ---- */

static uint32_t first_of_cluster(const pl_cta *c)
{
    const pl_grid *g = c->grid;
    if (!g->cluster[0]) return (uint32_t)c->number;
    const uint32_t *n = g->cluster;
    uint32_t id[3];
    for (unsigned d = 0; d < 3; d++) id[d] = c->id[d] - c->id[d] % n[d];
    return (uint32_t)g->first_block + id[0] + g->grid[0] * (id[1] + g->grid[1] * id[2]);
}

unsigned pl_order_distance(const pl_warp *w, uint32_t block)
{
    const check_block *b = block_of(w->cta);
    if (b->number == block) return PL_SCOPE_CTA;
    const pl_grid *g = w->grid;
    if (!g->cluster[0] || block < g->first_block) return PL_SCOPE_GPU;
    const uint32_t linear = block - (uint32_t)g->first_block;
    const uint32_t id[3] = {linear % g->grid[0], linear / g->grid[0] % g->grid[1],
                            linear / g->grid[0] / g->grid[1]};
    for (unsigned d = 0; d < 3; d++)
        if (id[d] / g->cluster[d] != w->cta->id[d] / g->cluster[d]) return PL_SCOPE_GPU;
    return PL_SCOPE_CLUSTER;
}

static void update_floor(check_unit *u, uint32_t block)
{
    u->floor = pl_vector_clock_time(clock_of(u, 0), block, PL_EVERY, PL_EVERY);
    for (unsigned l = 1; u->diverged && l < PL_LANES; l++) {
        const uint32_t one = pl_vector_clock_time(u->lane[l], block, PL_EVERY, PL_EVERY);
        u->floor = one < u->floor ? one : u->floor;
    }
}

static bool split_clock(pl_check *k, check_unit *u)
{
    if (u->diverged) return true;
    if (!u->lane) u->lane = calloc(PL_LANES, sizeof(*u->lane));
    k->no_memory |= !u->lane;
    if (!u->lane) return false;
    for (unsigned l = 0; l < PL_LANES; l++) u->lane[l] = pl_vector_clock_ref(u->common);
    pl_vector_clock_unref(u->common);
    u->common = NULL;
    u->diverged = true;
    return true;
}

/* Merges a clock into those of lanes; if they are all lanes that have not exited, they share it
 * from now on. `exactly`: k includes the clock of each of them. */
static void merge_clock(pl_warp *w, check_unit *u, uint32_t lanes, pl_vector_clock *k,
                        bool complete)
{
    if (!k || !lanes) return;
    const bool all = !(pl_alive(w) & ~lanes);
    if (all && !u->diverged) {
        pl_vector_clock_merge(&u->common, k);
    } else if (all && complete) {
        for (unsigned l = 0; l < PL_LANES; l++) {
            pl_vector_clock_unref(u->lane[l]);
            u->lane[l] = NULL;
        }
        u->diverged = false;
        u->common = pl_vector_clock_ref(k);
    } else {
        uint32_t missing = 0;
        for (uint32_t m = lanes; m; m &= m - 1)
            missing |= pl_vector_clock_includes(clock_of(u, (unsigned)__builtin_ctz(m)), k)
                           ? 0
                           : m & (0u - m);
        if (!missing || !split_clock(check_of(w), u)) return;
        for (uint32_t m = missing; m; m &= m - 1)
            pl_vector_clock_merge(&u->lane[__builtin_ctz(m)], k);
    }
    update_floor(u, block_of(w->cta)->number);
}

/* Later accesses are stamped after the release. */
static void advance_time(pl_check *k, check_unit *u)
{
    u->stamp = ++k->time;
}

/* True if the lanes of a group may have accessed memory since it last knew all accesses of its
 * block. */
static bool accessed_lately(const pl_check *k, const check_block *b, const check_unit *u)
{
    for (unsigned shared = 0; shared < 2; shared++) {
        const struct recent_contexts *r = u->recent[shared];
        const pl_contexts *pool = shared ? &b->contexts : &k->contexts;
        if (r && r->generation != pool->generation) return true;
        for (unsigned n = 0; r && n < RECENT; n++)
            if (r->context[n] && pool->at[r->context[n]].stamp > u->floor) return true;
    }
    return false;
}

/* The end of a thread does not release its accesses: a barrier orders those of the threads that
 * arrive (PTX ISA 9.0, "Synchronizes-with"). */
static void note_exits(const pl_check *k, const check_block *b, check_unit *u, uint32_t exited)
{
    if (exited == u->exited) return;
    if (accessed_lately(k, b, u)) u->unordered |= exited & ~u->exited;
    u->exited = exited;
}

/* True if these are all lanes of the group whose accesses may be unordered. */
static bool is_whole_group(const pl_check *k, const pl_warp *w, check_unit *u, uint32_t lanes)
{
    if (w->exited) note_exits(k, block_of(w->cta), u, pl_of_half(w, w->exited));
    return !u->unordered && !(pl_alive(w) & ~lanes);
}

/* Merges the clocks and the accesses of lanes into *to. */
static void add_release(pl_check *k, pl_warp *w, check_unit *u, uint32_t lanes,
                        pl_vector_clock **to)
{
    const uint32_t block = block_of(w->cta)->number;
    const unsigned n = unit_index(w);
    const bool all = is_whole_group(k, w, u, lanes), first = !*to;
    pl_vector_clock *last = NULL;
    for (uint32_t m = lanes; m; m &= m - 1) {
        pl_vector_clock *one = clock_of(u, (unsigned)__builtin_ctz(m));
        if (one != last) pl_vector_clock_merge(to, one);
        last = one;
    }
    if (all) {
        pl_vector_clock_add(to, pl_who_unit(block, n), k->time);
        if (first) pl_vector_clock_set_origin(*to, pl_who_unit(block, n), k->time);
        return;
    }
    for (uint32_t m = lanes; m; m &= m - 1)
        pl_vector_clock_add(to, pl_who_lane(block, n, (unsigned)__builtin_ctz(m)), k->time);
    if (first && lanes && !(lanes & (lanes - 1)))
        pl_vector_clock_set_origin(*to, pl_who_lane(block, n, (unsigned)__builtin_ctz(lanes)),
                                   k->time);
}

/* ---- state of fences ---- */

static fence_state *keep_fence(fence_state *f)
{
    if (f) f->refs++;
    return f;
}

static void clear_fences(fence_state *f)
{
    for (unsigned s = 0; s < PL_SCOPES; s++) {
        pl_vector_clock_replace(&f->released[s], NULL);
        pl_vector_clock_replace(&f->acquired[s], NULL);
    }
}

static void drop_fence(fence_state *f)
{
    if (!f || --f->refs) return;
    clear_fences(f);
    free(f);
}

/* Returns the state for its only user, who may modify it: created, or copied if others use it.
 * NULL: no memory. */
static fence_state *own_fence(pl_check *k, fence_state **f)
{
    if (*f && (*f)->refs == 1) return *f;
    fence_state *own = calloc(1, sizeof *own);
    k->no_memory |= !own;
    if (!own) return NULL;
    for (unsigned s = 0; *f && s < PL_SCOPES; s++) {
        own->released[s] = pl_vector_clock_ref((*f)->released[s]);
        own->acquired[s] = pl_vector_clock_ref((*f)->acquired[s]);
        own->at[s] = (*f)->at[s];
    }
    own->refs = 1;
    drop_fence(*f);
    return *f = own;
}

/* The lanes share one state from now on. */
static void share_fence(check_unit *u, fence_state *f)
{
    for (unsigned l = 0; u->lane_fence && l < PL_LANES; l++) drop_fence(u->lane_fence[l]);
    free(u->lane_fence);
    u->lane_fence = NULL;
    drop_fence(u->fence);
    u->fence = keep_fence(f);
}

/* Returns where the state of one lane is. NULL: no memory. */
static fence_state **lane_fence(pl_check *k, check_unit *u, unsigned lane)
{
    if (!u->lane_fence) {
        u->lane_fence = calloc(PL_LANES, sizeof(*u->lane_fence));
        k->no_memory |= !u->lane_fence;
        if (!u->lane_fence) return NULL;
        for (unsigned l = 0; l < PL_LANES; l++) u->lane_fence[l] = keep_fence(u->fence);
        drop_fence(u->fence);
        u->fence = NULL;
    }
    return &u->lane_fence[lane];
}

/* ---- barriers of the block ---- */

/* Merges the clock that the lanes' fences of that scope have released. */
static void add_fence_release(const pl_warp *w, const check_unit *u, uint32_t lanes, unsigned scope,
                              pl_vector_clock **to)
{
    const uint32_t block = block_of(w->cta)->number;
    uint32_t earliest = UINT32_MAX;
    const pl_vector_clock *last = NULL;
    for (uint32_t m = lanes; m; m &= m - 1) {
        const fence_state *f = fence_of(u, (unsigned)__builtin_ctz(m));
        if (f && f->released[scope] != last) pl_vector_clock_merge(to, f->released[scope]);
        last = f ? f->released[scope] : last;
        earliest = f && f->at[scope] ? f->at[scope] < earliest ? f->at[scope] : earliest : 0;
    }
    if (earliest && !u->unordered && !(pl_alive(w) & ~lanes)) {
        pl_vector_clock_add(to, pl_who_unit(block, unit_index(w)), earliest);
        return;
    }
    for (uint32_t m = lanes; m; m &= m - 1) {
        const unsigned l = (unsigned)__builtin_ctz(m);
        const fence_state *f = fence_of(u, l);
        if (f && f->at[scope])
            pl_vector_clock_add(to, pl_who_lane(block, unit_index(w), l), f->at[scope]);
    }
}

/* Collects fence state at a barrier. A fence, a barrier and another thread's strong write form a
 * release; a strong read, a barrier and another thread's fence form an acquire. Fences are
 * cumulative across threads that synchronise. */
static void collect_fences(const pl_warp *w, const check_unit *u, uint32_t lanes, fence_state *to)
{
    for (unsigned s = 0; (u->fence || u->lane_fence) && s < PL_SCOPES; s++) {
        const pl_vector_clock *last = NULL;
        add_fence_release(w, u, lanes, s, &to->released[s]);
        for (uint32_t m = lanes; m; m &= m - 1) {
            const fence_state *f = fence_of(u, (unsigned)__builtin_ctz(m));
            if (!f || f->acquired[s] == last) continue;
            pl_vector_clock_merge(&to->acquired[s], f->acquired[s]);
            last = f->acquired[s];
        }
    }
}

/* Moves collected state to one that lanes may share. NULL: there is none, or no memory. */
static fence_state *collected_fences(pl_check *k, fence_state *from)
{
    bool any = false;
    for (unsigned s = 0; s < PL_SCOPES; s++) {
        any |= from->released[s] || from->acquired[s];
        if (s) pl_vector_clock_share(&from->released[s], from->released[s - 1]);
        if (s) pl_vector_clock_share(&from->acquired[s], from->acquired[s - 1]);
    }
    fence_state *f = any ? calloc(1, sizeof *f) : NULL;
    k->no_memory |= any && !f;
    if (!f) {
        clear_fences(from);
        return NULL;
    }
    *f = *from;
    f->refs = 1;
    *from = (fence_state){0};
    return f;
}

/* f includes the state of these lanes. */
static void distribute_fences(pl_warp *w, check_unit *u, uint32_t lanes, fence_state *f)
{
    if (!f || !lanes) return;
    if (!(pl_alive(w) & ~lanes)) {
        share_fence(u, f);
        return;
    }
    for (uint32_t m = lanes; m; m &= m - 1) {
        fence_state **at = lane_fence(check_of(w), u, (unsigned)__builtin_ctz(m));
        if (!at) return;
        drop_fence(*at);
        *at = keep_fence(f);
    }
}

static void barrier_arrives(const pl_hooks *h, pl_warp *w, const pl_arrival *a)
{
    pl_check *k = (pl_check *)(uintptr_t)h;
    check_barrier *b = barrier_of(k, block_of(w->cta), a->id);
    const unsigned from = w->half;
    if (!b) return;
    for (unsigned half = 0; half < w->halves; half++) {
        const uint32_t lanes = (uint32_t)(a->lanes >> half * PL_LANES);
        if (!lanes) continue;
        pl_warp_set_half(w, half);
        check_unit *u = unit_of(w);
        const unsigned n = unit_index(w);
        if (k->tools & PL_CHECK_SYNC) pl_sync_arrives(k, w, a);
        if (!(k->tools & PL_CHECK_RACE)) continue;
        if (!b->per_unit) b->per_unit = calloc(block_of(w->cta)->units, sizeof *b->per_unit);
        k->no_memory |= !b->per_unit;
        if (!b->per_unit) break;
        pl_order_apply_barriers(w, u);
        add_release(k, w, u, lanes, &b->all);
        collect_fences(w, u, lanes, &b->fence);
        b->per_unit[n].arrived |= lanes;
        b->per_unit[n].waiting |= a->wait ? lanes : 0;
        if (!a->wait) advance_time(k, u);
    }
    pl_warp_set_half(w, from);
}

/* True if all threads of the block that have not exited wait at the barrier, and the others had
 * accessed nothing since the one before. */
static bool is_block_barrier(const pl_check *k, const pl_cta *c, const check_barrier *b)
{
    check_block *block = block_of(c);
    for (uint32_t n = 0; n < c->nwarps; n++) {
        const pl_warp *w = &c->warp[n];
        for (unsigned half = 0; half < w->halves; half++) {
            const uint32_t left = (uint32_t)((w->lanes & ~w->exited) >> half * PL_LANES);
            check_unit *u = &block->unit[n * w->halves + half];
            if (left & ~b->per_unit[n * w->halves + half].waiting) return false;
            if (w->exited) note_exits(k, block, u, (uint32_t)(w->exited >> half * PL_LANES));
            if (u->unordered) return false;
        }
    }
    return true;
}

/* Returns the time up to which every thread of the block has released its accesses by a fence of
 * that scope; 0: a thread has executed none since it last synchronised, or has exited. */
static uint32_t released_by_all(const pl_cta *c, unsigned scope)
{
    uint32_t earliest = UINT32_MAX;
    for (uint32_t n = 0; n < c->nwarps; n++) {
        const pl_warp *w = &c->warp[n];
        if (w->exited) return 0;
        for (unsigned half = 0; half < w->halves; half++) {
            const check_unit *u = &block_of(c)->unit[n * w->halves + half];
            for (uint32_t m = (uint32_t)(w->lanes >> half * PL_LANES); m; m &= m - 1) {
                const fence_state *f = fence_of(u, (unsigned)__builtin_ctz(m));
                const uint32_t at = f ? f->at[scope] : 0;
                earliest = at < earliest ? at : earliest;
            }
        }
    }
    return earliest;
}

/* Adds the accesses of the whole block. */
static void join_block(const pl_check *k, const pl_cta *c, check_barrier *b)
{
    const check_block *block = block_of(c);
    pl_vector_clock_add(&b->all, pl_who_block(block->number), k->time);
    pl_vector_clock_set_origin(b->all, pl_who_block(block->number), k->time);
    for (unsigned s = 0; s < PL_SCOPES; s++) {
        const uint32_t earliest = released_by_all(c, s);
        if (earliest)
            pl_vector_clock_add(&b->fence.released[s], pl_who_block(block->number), earliest);
        pl_vector_clock_set_origin(b->fence.released[s], pl_who_block(block->number), k->time);
    }
}

/* The waiting threads continue with the merged clocks of all arrivals. */
static void barrier_completes(const pl_hooks *h, pl_cta *c, uint32_t id)
{
    pl_check *k = (pl_check *)(uintptr_t)h;
    check_block *block = block_of(c);
    check_barrier *b = block->barrier[id];
    if (b) b->line = 0;
    if (!b || !b->per_unit) return;
    if (is_block_barrier(k, c, b)) join_block(k, c, b);
    k->time++;
    fence_state *fences = collected_fences(k, &b->fence);
    pl_vector_clock *next = NULL; /* of early arrivals for the next phase */
    for (uint32_t n = 0; n < c->nwarps; n++) {
        pl_warp *w = &c->warp[n];
        const unsigned from = w->half;
        for (unsigned half = 0; half < w->halves; half++) {
            pl_warp_set_half(w, half);
            check_unit *u = unit_of(w);
            const unsigned at = unit_index(w);
            const uint32_t early = (uint32_t)(w->reached[id] >> half * PL_LANES),
                           lanes = b->per_unit[at].waiting & ~early;
            merge_clock(w, u, lanes, b->all, true);
            distribute_fences(w, u, lanes, fences);
            if (lanes) u->stamp = k->time;
            b->per_unit[at].arrived &= early;
            b->per_unit[at].waiting &= early;
            if (b->per_unit[at].arrived) add_release(k, w, u, b->per_unit[at].arrived, &next);
        }
        pl_warp_set_half(w, from);
    }
    pl_vector_clock_replace(&b->all, next);
    drop_fence(fences);
}

/* ---- cluster barriers ---- */

static void cluster_arrive(pl_warp *w, const pl_insn *i)
{
    pl_check *k = check_of(w);
    const check_insn *x = check_insn_of(k, w, i);
    check_unit *u = unit_of(w);
    check_cluster *c = block_of(w->cta)->cluster;
    const uint64_t phase = pl_cluster_phase(w->cta);
    pl_order_apply_barriers(w, u);
    if (c->of[phase % 2] != phase) {
        pl_vector_clock_replace(&c->phase[phase % 2], NULL);
        c->of[phase % 2] = phase;
    }
    if (x->release) {
        add_release(k, w, u, w->exec, &c->phase[phase % 2]);
        advance_time(k, u);
    }
    u->cluster_phase = phase;
    x->plain(w, i);
}

static void cluster_wait(pl_warp *w, const pl_insn *i)
{
    check_unit *u = unit_of(w);
    pl_order_apply_barriers(w, u);
    u->cluster_wait |= w->exec;
    u->cluster_synced |= w->exec;
    check_insn_of(check_of(w), w, i)->plain(w, i);
}

void pl_order_apply_barriers(pl_warp *w, check_unit *u)
{
    /* before accesses of the other lanes, which do not leave those of the exited ones unordered */
    if (w->exited) note_exits(check_of(w), block_of(w->cta), u, pl_of_half(w, w->exited));
    if (!u->cluster_wait) return;
    const uint32_t lanes = u->cluster_wait & w->exec;
    u->cluster_wait &= ~lanes;
    if (lanes)
        merge_clock(w, u, lanes, block_of(w->cta)->cluster->phase[u->cluster_phase % 2], false);
}

/* ---- chains of grids ---- */

/* An entry with this block number: all grids before that of the warp have completed. */
static uint32_t earlier_grids(const pl_warp *w)
{
    enum { EARLIER_GRIDS = 1 << 29 };
    return EARLIER_GRIDS | (uint32_t)w->grid->first_block;
}

bool pl_order_knows_earlier_grids(const pl_warp *w, unsigned lane)
{
    const pl_grid *g = w->grid;
    if (g->previous && !check_of(w)->launched_dependents) return g->previous->complete;
    return pl_vector_clock_time(clock_of(unit_of(w), lane), earlier_grids(w), PL_EVERY, PL_EVERY);
}

static void grid_control(pl_warp *w, const pl_insn *i)
{
    pl_check *k = check_of(w);
    check_unit *u = unit_of(w);
    pl_order_apply_barriers(w, u);
    if (pl_insn_has(i, W_wait)) {
        pl_vector_clock *completed = NULL;
        pl_vector_clock_add(&completed, pl_who_block(earlier_grids(w)), k->time);
        merge_clock(w, u, w->exec, completed, false);
        pl_vector_clock_unref(completed);
    } else {
        const unsigned l = (unsigned)__builtin_ctz(w->exec);
        k->launched_dependents = true;
        k->launched_early |= !pl_order_knows_earlier_grids(w, l);
    }
    check_insn_of(k, w, i)->plain(w, i);
}

/* ---- warps ---- */

static void warp_barrier(pl_warp *w, const pl_insn *i)
{
    pl_check *k = check_of(w);
    check_unit *u = unit_of(w);
    const uint32_t row = i->op[0], exec = w->exec, pc = w->pc,
                   mask = row == PL_NO_OPERAND ? UINT32_MAX : pl_row32(w, row)[__builtin_ctz(exec)];
    if (row != PL_NO_OPERAND && pl_lanes_with(pl_row32(w, row), mask, exec) != exec) {
        check_insn_of(k, w, i)->plain(w,
                                      i); /* it executes for each group of lanes, or splits them */
        return;
    }
    pl_order_apply_barriers(w, u);
    const unsigned splits = w->nsplits;
    check_insn_of(k, w, i)->plain(w, i);
    if (w->stop || w->next != pc + 1 || w->nsplits != splits) return; /* it waits, or has split */
    const uint32_t lanes = (mask | exec) & pl_alive(w);
    pl_vector_clock *all = NULL;
    fence_state collected = {.at = {0}};
    add_release(k, w, u, lanes, &all);
    collect_fences(w, u, lanes, &collected);
    merge_clock(w, u, lanes, all, true);
    fence_state *fences = collected_fences(k, &collected);
    distribute_fences(w, u, lanes, fences);
    drop_fence(fences);
    pl_vector_clock_unref(all);
    advance_time(k, u);
}

/* ---- fences, and releases by atomic operations ---- */

/* Lanes with the same clock and the same state execute a fence. f: that state. */
static void fence_by(pl_warp *w, const check_insn *x, check_unit *u, uint32_t lanes, fence_state *f)
{
    const unsigned l = (unsigned)__builtin_ctz(lanes);
    if (!f) return;
    if (x->acquire) merge_clock(w, u, lanes, f->acquired[x->level], false);
    for (unsigned s = 0; x->acquire && s <= x->level; s++)
        pl_vector_clock_replace(&f->acquired[s], NULL);
    pl_vector_clock *now = clock_of(u, l);
    if (x->release)
        pl_vector_clock_set_origin(now, pl_who_lane(block_of(w->cta)->number, unit_index(w), l),
                                   u->stamp);
    for (unsigned s = 0; x->release && s < PL_SCOPES; s++) {
        if (s > x->level && s != PL_SCOPE_NONE) continue;
        pl_vector_clock_replace(&f->released[s], pl_vector_clock_ref(now));
        f->at[s] = u->stamp; /* of all their accesses since the latest barrier or release */
    }
}

static void fence(pl_warp *w, const pl_insn *i)
{
    pl_check *k = check_of(w);
    const check_insn *x = check_insn_of(k, w, i);
    check_unit *u = unit_of(w);
    pl_order_apply_barriers(w, u);
    const bool all = !(pl_alive(w) & ~w->exec) && !u->lane_fence && !u->diverged;
    if (all) fence_by(w, x, u, w->exec, own_fence(k, &u->fence));
    for (uint32_t m = all ? 0 : w->exec; m; m &= m - 1) {
        fence_state **f = lane_fence(k, u, (unsigned)__builtin_ctz(m));
        fence_by(w, x, u, m & (0u - m), f ? own_fence(k, f) : NULL);
    }
    advance_time(k, u);
    x->plain(w, i);
}

/* fence.proxy.async: makes the clocks and accesses of the lanes visible to the asynchronous
 * proxy. */
static void proxy_fence(pl_warp *w, const pl_insn *i)
{
    pl_check *k = check_of(w);
    check_unit *u = unit_of(w);
    const uint32_t block = block_of(w->cta)->number,
                   proxies = check_insn_of(k, w, i)->operand == PL_SP_GLOBAL   ? PL_PROXY_GLOBAL
                             : check_insn_of(k, w, i)->operand == PL_SP_SHARED ? PL_PROXY_SHARED
                                                                               : PL_PROXY_BOTH;
    pl_order_apply_barriers(w, u);
    const bool all = !u->diverged && !(pl_alive(w) & ~w->exec);
    const bool possible = all || split_clock(k, u);
    for (uint32_t proxy = PL_PROXY_GLOBAL; proxy; proxy <<= 1) {
        if (!(proxies & proxy) || !possible) continue;
        if (all) {
            pl_vector_clock_proxy_fence(&u->common, proxy);
            pl_vector_clock_add(&u->common, pl_who_proxy(pl_who_unit(block, unit_index(w)), proxy),
                                k->time);
        }
        for (uint32_t m = all ? 0 : w->exec; m; m &= m - 1) {
            const unsigned l = (unsigned)__builtin_ctz(m);
            pl_vector_clock_proxy_fence(&u->lane[l], proxy);
            pl_vector_clock_add(&u->lane[l],
                                pl_who_proxy(pl_who_lane(block, unit_index(w), l), proxy), k->time);
        }
    }
    advance_time(k, u);
    check_insn_of(k, w, i)->plain(w, i);
}

static sync_places *places_of(pl_check *k, const place *p)
{
    return p->owner ? &p->owner->places : &k->places;
}

void pl_order_reads(pl_warp *w, const check_insn *x, unsigned lane, const place *p)
{
    pl_check *k = check_of(w);
    const sync_place *at = pl_sync_find(places_of(k, p), p->address);
    const sync_state *s = at ? pl_sync_state(places_of(k, p), at) : NULL;
    if (!s) return;
    check_unit *u = unit_of(w);
    const uint32_t block = block_of(w->cta)->number;
    pl_vector_clock *block_clock = pl_sync_known(s, block), *device_scope = s->device_scope;
    if (x->acquire) {
        merge_clock(w, u, 1u << lane, block_clock, false);
        if (x->level != PL_SCOPE_CTA) merge_clock(w, u, 1u << lane, device_scope, false);
        return;
    }
    const pl_vector_clock *clock = clock_of(u, lane);
    if (pl_vector_clock_includes(clock, block_clock) &&
        pl_vector_clock_includes(clock, device_scope) &&
        pl_vector_clock_includes(clock, s->any_scope))
        return;
    fence_state **f = lane_fence(k, u, lane);
    if (!f || !own_fence(k, f)) return;
    pl_vector_clock **acquired = (*f)->acquired;
    const bool same_scopes = acquired[PL_SCOPE_CLUSTER] == acquired[PL_SCOPE_GPU];
    pl_vector_clock_merge(&acquired[PL_SCOPE_NONE], s->any_scope);
    for (unsigned r = 0; r <= PL_SCOPE_GPU; r++) {
        if (r == PL_SCOPE_GPU && same_scopes) {
            pl_vector_clock_replace(&acquired[r], pl_vector_clock_ref(acquired[PL_SCOPE_CLUSTER]));
            break;
        }
        pl_vector_clock_merge(&acquired[r], block_clock);
        if (r != PL_SCOPE_CTA && x->level != PL_SCOPE_CTA)
            pl_vector_clock_merge(&acquired[r], device_scope);
    }
}

/* A strong write releases the clock of its lane; a store replaces the clock at the
 * location, an atomic operation adds to it. */
void pl_order_writes(pl_warp *w, const check_insn *x, unsigned lane, const place *p)
{
    pl_check *k = check_of(w);
    check_unit *u = unit_of(w);
    const uint32_t block = block_of(w->cta)->number;
    pl_vector_clock *out[PL_SCOPES] = {NULL};
    bool any = false;
    const pl_who self = pl_who_lane(block, unit_index(w), lane);
    const fence_state *f = fence_of(u, lane);
    for (unsigned r = 0; f && x->flags & PL_ACCESS_STRONG && r < PL_SCOPES; r++) {
        if (r > x->level && r != PL_SCOPE_NONE) continue;
        if (r && r <= x->level + 1u && f->released[r] == f->released[r - 1] &&
            f->at[r] == f->at[r - 1]) {
            out[r] = pl_vector_clock_ref(out[r - 1]);
            continue;
        }
        out[r] = pl_vector_clock_ref(f->released[r]);
        if (!f->at[r]) continue;
        pl_vector_clock_add(&out[r], self, f->at[r]);
        pl_vector_clock_set_origin(out[r], self, f->at[r]);
    }
    if (x->release) {
        pl_vector_clock *now = NULL;
        add_release(k, w, u, 1u << lane, &now);
        for (unsigned r = 0; r < PL_SCOPES; r++)
            if (r <= x->level || r == PL_SCOPE_NONE) pl_vector_clock_merge(&out[r], now);
        pl_vector_clock_unref(now);
        advance_time(k, u);
    }
    for (unsigned r = 0; r < PL_SCOPES; r++) any |= out[r] != NULL;
    const bool store = !(x->flags & PL_ACCESS_ATOMIC);
    sync_places *places = places_of(k, p);
    sync_place *s = any ? pl_sync_make(places, p->address) : pl_sync_find(places, p->address);
    if (any && !s) k->no_memory = true;
    /* a thread's strong write after its release on the same bytes continues the release */
    const uint16_t writer = (uint16_t)(unit_index(w) * PL_LANES + lane + 1);
    const bool continues = s && x->flags & PL_ACCESS_STRONG && s->state && s->writer == writer &&
                           pl_sync_state(places, s)->first.block == block;
    if (s && store && !continues) pl_sync_forget(places, s);
    if (s && any) {
        s->writer = store || continues ? writer : 0;
        pl_vector_clock_merge(&out[PL_SCOPE_GPU], out[PL_SCOPE_CLUSTER]);
        k->no_memory |= !pl_sync_release(places, s, block, out[PL_SCOPE_CTA], out[PL_SCOPE_GPU],
                                         out[PL_SCOPE_NONE]);
    }
    for (unsigned r = 0; r < PL_SCOPES; r++) pl_vector_clock_unref(out[r]);
}

bool pl_order_has_release(pl_check *k, const place *p)
{
    const sync_place *at = pl_sync_find(places_of(k, p), p->address);
    return at && at->state && pl_sync_state(places_of(k, p), at)->blocks;
}

/* ---- mbarriers ---- */

/* Handles a phase that has completed since the last access to the mbarrier. */
static void advance_phase(sync_state *s, const uint8_t *object)
{
    const bool odd = pl_mbar_read(object).phase;
    if (odd == s->object->odd) return;
    pl_vector_clock_merge(&s->device_scope, s->object->phase);
    pl_vector_clock_replace(&s->object->phase, NULL);
    s->object->odd = odd;
}

/* Returns the state of the mbarrier there, if there is one. */
static sync_state *known_mbarrier(const place *p)
{
    const sync_place *at =
        p->bytes && p->owner ? pl_sync_find(&p->owner->places, p->address) : NULL;
    sync_state *s = at ? pl_sync_state(&p->owner->places, at) : NULL;
    return s && s->object ? s : NULL;
}

/* The same, created on demand. NULL: it is not in shared memory, or no memory. */
static sync_state *mbarrier_at(pl_check *k, const place *p)
{
    if (!p->bytes || !p->owner) return NULL;
    sync_place *at = pl_sync_make(&p->owner->places, p->address);
    sync_state *s = at ? pl_sync_own(&p->owner->places, at) : NULL;
    if (s && !s->object && (s->object = calloc(1, sizeof *s->object)) != NULL) {
        s->object->odd = pl_mbar_read(p->bytes).phase;
        check_block *b = p->owner;
        if (!b->objects || p->address < b->objects_from) b->objects_from = p->address;
        if (p->address + 8 > b->objects_to) b->objects_to = p->address + 8;
        s->object->number = b->objects++;
    }
    if (s && s->object) return s;
    k->no_memory = true;
    return NULL;
}

/* Returns those lanes whose arrivals follow the completion of the current phase: they count for the
 * next one. */
static uint32_t arrive_late(const pl_insn *i, const place *p, uint32_t lanes)
{
    if (pl_forms[i->form].mnem != M_mbarrier ||
        (i->op[2] != PL_NO_OPERAND && !pl_insn_has(i, W_expect_tx)))
        return 0;
    for (uint32_t n = pl_mbar_read(p->bytes).pending; n && lanes; n--) lanes &= lanes - 1;
    return lanes;
}

/* The lanes of the mask that access the address of the first of them. */
static uint32_t lanes_at(const uint64_t addr[PL_LANES], uint32_t mask)
{
    const uint64_t first = addr[__builtin_ctz(mask)];
    uint32_t same = 0;
    for (uint32_t m = mask; m; m &= m - 1)
        same |= addr[__builtin_ctz(m)] == first ? m & (0u - m) : 0;
    return same;
}

/* An instruction on mbarrier objects: by lane, the address and its place. */
typedef struct mbarrier_insn {
    const check_insn *x;
    check_unit *u;
    uint64_t addr[PL_LANES];
    place at[PL_LANES];
} mbarrier_insn;

static void begin_mbarrier_insn(mbarrier_insn *o, pl_warp *w, const pl_insn *i)
{
    o->x = check_insn_of(check_of(w), w, i);
    o->u = unit_of(w);
    pl_order_apply_barriers(w, o->u);
    pl_addresses(w, i, o->x->operand, i->sel[PL_M_FLAGS] & PL_MF_ADDR32, i->imm, o->addr);
}

/* Executes it. Its releases are before what the unit does from here on. */
static void end_mbarrier_insn(const mbarrier_insn *o, pl_warp *w, const pl_insn *i, bool released)
{
    pl_check *k = check_of(w);
    if (released) {
        advance_time(k, o->u);
        o->u->group[0].stamp = k->time;
    }
    o->x->plain(w, i);
}

static void mbarrier(pl_warp *w, const pl_insn *i)
{
    pl_check *k = check_of(w);
    mbarrier_insn o;
    uint32_t late[PL_LANES] = {0};
    const uint32_t exec = w->exec;
    const pl_space space = i->sel[PL_M_SPACE] ? (pl_space)i->sel[PL_M_SPACE] : PL_SP_GENERIC;
    begin_mbarrier_insn(&o, w, i);
    const check_insn *x = o.x;
    check_unit *u = o.u;
    place *at = o.at;
    for (uint32_t m = exec, same; m; m &= ~same) {
        const unsigned l = (unsigned)__builtin_ctz(m);
        same = lanes_at(o.addr, m);
        pl_place_of(w, l, space, o.addr[l], 8, &at[l]);
        for (uint32_t n = same; n; n &= n - 1) at[__builtin_ctz(n)] = at[l];
        sync_state *s = mbarrier_at(k, &at[l]);
        if (s) pl_sync_mbarrier(w, i, l, same, &at[l], s->object);
        if (s) advance_phase(s, at[l].bytes);
        if (s && x->release) late[l] = arrive_late(i, &at[l], same);
        if (s && x->release) add_release(k, w, u, same & ~late[l], &s->object->phase);
        if (s && x->release && pl_forms[i->form].mnem == M_cp) /* on completion of their copies */
            pl_vector_clock_add(&s->object->phase,
                                pl_who_unit(block_of(w->cta)->number, PL_AGENTS + unit_index(w)),
                                k->time);
    }
    end_mbarrier_insn(&o, w, i, x->release);
    const uint32_t done = x->acquire && i->op[0] != PL_NO_OPERAND ? w->pred[i->op[0]] & exec : 0;
    for (uint32_t m = exec; m; m &= m - 1) {
        const unsigned l = (unsigned)__builtin_ctz(m);
        sync_state *s = known_mbarrier(&at[l]);
        if (!s) continue;
        if (pl_insn_has(i, W_init)) {
            sync_places *places = &at[l].owner->places;
            pl_sync_forget(places, pl_sync_find(places, at[l].address));
            s->object->odd = false;
        }
        advance_phase(s, at[l].bytes);
        if (late[l]) add_release(k, w, u, late[l], &s->object->phase);
        if (done >> l & 1u) merge_clock(w, u, 1u << l, s->device_scope, false);
    }
}

/* tcgen05.commit arrives at one mbarrier, or at that of each block in a mask. */
static void tensor_commit(pl_warp *w, const pl_insn *i)
{
    pl_check *k = check_of(w);
    mbarrier_insn o; /* at: by block */
    const bool multicast = i->op[1] != PL_NO_OPERAND;
    const unsigned l = (unsigned)__builtin_ctz(w->exec);
    unsigned n = 0;
    begin_mbarrier_insn(&o, w, i);
    uint32_t ranks = multicast ? pl_row32(w, i->op[1])[l] : 1;
    if (!pl_insn_has(i, W_multicast__cluster__32b)) ranks &= 0xffff;
    for (; ranks; ranks &= ranks - 1) {
        const uint32_t to = (uint32_t)o.addr[l], rank = (uint32_t)__builtin_ctz(ranks);
        pl_place_of(w, l, PL_SP_SHARED,
                    multicast ? to % PL_SHARED_SLICE + PL_SHARED_SLICE * rank : to, 8, &o.at[n]);
        sync_state *s = mbarrier_at(k, &o.at[n]);
        if (!s) continue;
        advance_phase(s, o.at[n++].bytes);
        add_release(k, w, o.u, 1u << l, &s->object->phase);
    }
    end_mbarrier_insn(&o, w, i, true);
    while (n-- > 0) {
        sync_state *s = known_mbarrier(&o.at[n]);
        if (s) advance_phase(s, o.at[n].bytes);
    }
}

/* Without race checking, only misuse matters. */
static void mbarrier_sync_only(pl_warp *w, const pl_insn *i)
{
    pl_check *k = check_of(w);
    const check_insn *x = check_insn_of(k, w, i);
    uint64_t addr[PL_LANES];
    const pl_space space = i->sel[PL_M_SPACE] ? (pl_space)i->sel[PL_M_SPACE] : PL_SP_GENERIC;
    pl_addresses(w, i, x->operand, i->sel[PL_M_FLAGS] & PL_MF_ADDR32, i->imm, addr);
    for (uint32_t m = w->exec, same; m; m &= ~same) {
        const unsigned l = (unsigned)__builtin_ctz(m);
        place at;
        same = lanes_at(addr, m);
        pl_place_of(w, l, space, addr[l], 8, &at);
        sync_state *s = mbarrier_at(k, &at);
        if (s) pl_sync_mbarrier(w, i, l, same, &at, s->object);
    }
    x->plain(w, i);
}

/* ---- groups of copies ---- */

static void close_group(pl_check *k, check_unit *u, unsigned family)
{
    if (!u->group[family].at) u->group[family].at = calloc(GROUPS, sizeof *u->group[family].at);
    k->no_memory |= !u->group[family].at;
    if (u->group[family].at) u->group[family].at[u->group[family].n++ % GROUPS] = k->time;
    k->time++;
    u->group[family].stamp = k->time;
}

/* Lanes have waited for the operations that an agent started up to that time. */
static void complete_agent(pl_warp *w, check_unit *u, uint32_t lanes, unsigned agent,
                           uint32_t until)
{
    const uint32_t block = block_of(w->cta)->number;
    pl_vector_clock *done = NULL;
    /* a product belongs to all four warps */
    if (!(pl_alive(w) & ~lanes) || agent / PL_UNITS * PL_UNITS == PL_PRODUCTS) {
        pl_vector_clock_add(&done, pl_who_unit(block, agent), until);
        merge_clock(w, u, lanes, done, false);
        pl_vector_clock_unref(done);
        return;
    }
    for (uint32_t m = lanes; m; m &= m - 1) {
        const unsigned l = (unsigned)__builtin_ctz(m);
        pl_vector_clock *one = NULL;
        pl_vector_clock_add(&one, pl_who_lane(block, agent, l), until);
        merge_clock(w, u, 1u << l, one, false);
        pl_vector_clock_unref(one);
    }
}

/* The lanes wait for a group: determines its agents, and the time up to which they have completed.
 */
static void wait_group(pl_warp *w, check_unit *u, uint32_t lanes, unsigned family, uint32_t number,
                       bool reads_only)
{
    static const unsigned first[] = {PL_AGENTS, PL_BULK_READS, PL_PRODUCTS};
    const unsigned n = unit_index(w), agent = first[family];
    const uint32_t until = u->group[family].at[number % GROUPS];
    if (family < 2) complete_agent(w, u, lanes, agent + n, until);
    if (family == 1 && !reads_only) complete_agent(w, u, lanes, PL_BULK_WRITES + n, until);
    for (unsigned other = n / 4 * 4; family == 2 && other < n / 4 * 4 + 4; other++) {
        const check_unit *x = &block_of(w->cta)->unit[other];
        if (other < block_of(w->cta)->units && x->group[2].n > number)
            complete_agent(w, u, lanes, agent + other, x->group[2].at[number % GROUPS]);
    }
}

static void copy_group(pl_warp *w, const pl_insn *i)
{
    pl_check *k = check_of(w);
    const bool all = pl_insn_has(i, W_wait_all), commit = pl_insn_has(i, W_commit_group);
    const unsigned family = pl_forms[i->form].mnem == M_wgmma ? 2 : pl_insn_has(i, W_bulk);
    const unsigned from = w->half;
    for (unsigned half = 0; half < w->halves; half++) {
        const uint32_t lanes = (uint32_t)(w->all >> half * PL_LANES);
        if (!lanes) continue;
        pl_warp_set_half(w, half);
        check_unit *u = unit_of(w);
        pl_order_apply_barriers(w, u);
        if (commit || all) close_group(k, u, family);
        const uint64_t pending = all ? 0 : (uint64_t)i->imm;
        if (!commit && u->group[family].n > pending && pending < GROUPS)
            wait_group(w, u, lanes, family, (uint32_t)(u->group[family].n - 1 - pending),
                       pl_insn_has(i, W_read));
    }
    pl_warp_set_half(w, from);
    check_insn_of(k, w, i)->plain(w, i);
}

unsigned pl_order_agent(pl_warp *w, const pl_async_op *o, unsigned *lane, uint32_t *stamp)
{
    pl_check *k = check_of(w);
    check_unit *u = unit_of(w);
    *stamp = k->time;
    if (o->family == PL_ASYNC_BULK_GROUP) {
        *stamp = u->group[1].stamp;
        return PL_BULK_READS + unit_index(w);
    }
    const pl_cluster *x = w->cta->cluster; /* owner of the mbarrier */
    pl_cta *owner = NULL;
    for (uint32_t r = 0; r < (x ? x->size : 1); r++) {
        pl_cta *c = x ? x->cta[r] : w->cta;
        if (c && o->bar >= c->shared && o->bar < c->shared + c->shared_end) owner = c;
    }
    const place at = {.bytes = o->bar,
                      .owner = owner ? block_of(owner) : NULL,
                      .address = owner ? (uint64_t)(o->bar - owner->shared) : 0};
    sync_state *s = mbarrier_at(k, &at);
    if (!s) return 0;
    advance_phase(s, o->bar);
    const unsigned agent = PL_OBJECTS + s->object->number / PL_LANES % (UINT8_MAX - 1 - PL_OBJECTS);
    *lane = s->object->number % PL_LANES;
    pl_vector_clock_add(&s->object->phase, pl_who_lane(block_of(w->cta)->number, agent, *lane),
                        k->time++);
    return agent;
}

/* ---- blocks and launches ---- */

pl_vector_clock *pl_order_final_clock(const pl_cta *c)
{
    const check_block *b = block_of(c);
    pl_vector_clock *all = NULL;
    for (unsigned n = 0; n < b->units; n++) {
        const check_unit *u = &b->unit[n];
        for (unsigned l = 0; l < (u->diverged ? PL_LANES : 1u); l++)
            pl_vector_clock_merge(&all, clock_of(u, l));
        if (u->cluster_wait) pl_vector_clock_merge(&all, b->cluster->phase[u->cluster_phase % 2]);
    }
    return all;
}

void pl_order_block_starts(pl_check *k, pl_cta *c, check_block *b)
{
    const uint32_t first = first_of_cluster(c);
    check_cluster *x = k->clusters;
    while (x && x->first != first) x = x->next;
    if (!x && (x = calloc(1, sizeof *x)) != NULL) {
        x->first = first;
        x->next = k->clusters;
        k->clusters = x;
    }
    if (!x) return;
    x->refs++;
    b->cluster = x;
    for (unsigned n = 0; n < b->units; n++)
        b->unit[n].common = pl_vector_clock_ref(k->launches.clock);
    for (unsigned n = 0; n < b->units; n++)
        b->unit[n].stamp = b->unit[n].group[0].stamp = b->unit[n].group[1].stamp =
            b->unit[n].group[2].stamp = k->time;
}

static void free_unit(check_unit *u)
{
    pl_vector_clock_unref(u->common);
    for (unsigned l = 0; u->lane && l < PL_LANES; l++) pl_vector_clock_unref(u->lane[l]);
    share_fence(u, NULL);
    free(u->lane);
    free(u->recent[0]);
    free(u->recent[1]);
    for (unsigned n = 0; n < 3; n++) free(u->group[n].at);
}

void pl_order_block_ends(pl_check *k, check_block *b)
{
    for (unsigned n = 0; n < b->units; n++) free_unit(&b->unit[n]);
    for (unsigned n = 0; n < PL_NAMED_BARRIERS; n++) {
        if (!b->barrier[n]) continue;
        pl_vector_clock_unref(b->barrier[n]->all);
        free(b->barrier[n]->per_unit);
        clear_fences(&b->barrier[n]->fence);
        free(b->barrier[n]);
    }
    pl_sync_free(&b->places);
    check_cluster **at = &k->clusters;
    while (*at && *at != b->cluster) at = &(*at)->next;
    if (!*at || --(*at)->refs) return;
    check_cluster *x = *at;
    *at = x->next;
    pl_vector_clock_unref(x->phase[0]);
    pl_vector_clock_unref(x->phase[1]);
    free(x);
}

void pl_order_end(pl_check *k)
{
    pl_sync_free(&k->places);
}

/* A launch by device code releases the clock of its thread. */
static uint32_t launches(const pl_hooks *h, pl_warp *w, unsigned lane, uint64_t stream)
{
    pl_check *k = (pl_check *)(uintptr_t)h;
    check_unit *u = unit_of(w);
    pl_vector_clock *clock = NULL;
    if (!(k->tools & PL_CHECK_RACE)) return 0;
    pl_order_apply_barriers(w, u);
    add_release(k, w, u, 1u << lane, &clock);
    advance_time(k, u);
    return pl_device_launch_add(k, w, stream, clock);
}

void pl_order_hooks(pl_hooks *h)
{
    h->launches = launches;
    h->barrier_arrives = barrier_arrives;
    h->barrier_completes = barrier_completes;
}

static pl_exec_fn *wrapper(const pl_insn *i, check_insn *x)
{
    const pl_form *f = &pl_forms[i->form];
    const pl_word sem = pl_mod(f, i->mods, G_sem), scope = pl_mod(f, i->mods, G_scope);
    switch ((int)f->mnem) {
    case M_membar:
    case M_fence:
        if (pl_insn_has(i, W_async) || pl_insn_has(i, W_async__generic)) {
            x->operand =
                pl_insn_has(i, W_global) ? PL_SP_GLOBAL
                : f->noperands || pl_insn_has(i, W_shared__cta) || pl_insn_has(i, W_shared__cluster)
                    ? PL_SP_SHARED
                    : PL_SP_GENERIC;
            return proxy_fence;
        }
        if (pl_insn_has(i, W_alias) || pl_insn_has(i, W_proxy)) return NULL;
        x->level = pl_order_level(f->mnem == M_membar ? pl_mod(f, i->mods, G_level) : scope);
        x->acquire = sem != W_release;
        x->release = sem != W_acquire;
        return fence;
    case M_bar:
    case M_barrier:
        if (pl_insn_has(i, W_warp)) return warp_barrier;
        if (!pl_insn_has(i, W_cluster)) return NULL; /* handled by hooks */
        x->release = pl_insn_has(i, W_arrive) && sem != W_relaxed;
        return pl_insn_has(i, W_wait) ? cluster_wait : cluster_arrive;
    case M_mbarrier:
        x->operand = pl_insn_has(i, W_arrive) || pl_insn_has(i, W_arrive_drop) ||
                     pl_mod(f, i->mods, G_how) != W_none;
        x->acquire = pl_mod(f, i->mods, G_how) != W_none && sem != W_relaxed;
        x->release =
            (pl_insn_has(i, W_arrive) || pl_insn_has(i, W_arrive_drop)) && sem != W_relaxed;
        return pl_insn_has(i, W_pending_count) ? NULL : mbarrier;
    case M_cp:
        if (pl_insn_has(i, W_commit_group) || pl_insn_has(i, W_wait_group) ||
            pl_insn_has(i, W_wait_all))
            return copy_group;
        if (pl_insn_has(i, W_mbarrier) && pl_insn_has(i, W_arrive)) {
            x->release = true;
            return mbarrier;
        }
        return NULL;
    case M_griddepcontrol: return grid_control;
    case M_tcgen05: return pl_insn_has(i, W_commit) ? tensor_commit : NULL;
    case M_wgmma:
        return pl_insn_has(i, W_commit_group) || pl_insn_has(i, W_wait_group) ? copy_group : NULL;
    default: return NULL;
    }
}

pl_exec_fn *pl_order_wrapper(const pl_check *k, const pl_insn *i, check_insn *x)
{
    pl_exec_fn *e = wrapper(i, x);
    return k->tools & PL_CHECK_RACE ? e : e == mbarrier ? mbarrier_sync_only : NULL;
}
