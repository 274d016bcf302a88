/* cta.c - blocks and clusters: their start and end.
 *
 * Storage of finished blocks returns to a pool of the grid and is reused, so that a launch
 * allocates no more than its resident blocks need. The storage of a block is contiguous; the parts
 * that few warps ever need are in pages that stay untouched until then. A register frame starts as
 * a copy of a template (constants in place, everything else zero). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "emu/exec/async/async.h"
#include "emu/exec/exec.h"
#include "emu/exec/hooks.h"
#include "emu/exec/runtime/cuda_builtins.h"
#include "emu/exec/tcgen05/tensor_memory.h"
#include "emu/exec/consistency/weak_memory.h"

typedef struct pl_exec_pool {
    pl_cta **cta; /* all blocks ever created */
    size_t n, cap;
    pl_cta **idle; /* those that no block of the grid uses; same capacity as cta */
    size_t nidle;
    pl_cluster **cluster;
    size_t nclusters, capclusters;
    pl_arena *storage, *sparse; /* storage of blocks; sparse: the part that mostly stays
                                   untouched */
    uint32_t *image;            /* register frame of the entry function with its constants */
    uint32_t nwarps, nthreads;
    uint32_t shared_bytes;
    bool system_shared; /* the program uses the system's part of shared memory */
} pl_exec_pool;

/* ---- consecutive grids ---- */

/* Several host threads may call this at once for their blocks. */
static void launch_dependents(pl_cta *c)
{
    if (!c->launched_dependents) __atomic_fetch_add(&c->grid->early_launched, 1, __ATOMIC_RELAXED);
    c->launched_dependents = true;
}

void pl_grid_launch_dependents(pl_warp *w)
{
    if (!w->grid->next || w->cta->launched_dependents) return;
    launch_dependents(w->cta);
    w->yield = true; /* functional mode: blocks that may start now do so, as on a GPU with free
                        slots */
}

void pl_grid_wait(pl_warp *w)
{
    if (w->grid->previous && !w->grid->previous->complete) pl_warp_wait(w, PL_SPLIT_GRID);
}

pl_grid *pl_grid_startable(pl_grid *head)
{
    for (pl_grid *g = head; g; g = g->next) {
        if (g->previous &&
            g->previous->early_launched + g->previous->cancelled < pl_grid_blocks(g->previous))
            return NULL;
        if (g->next_block < pl_grid_blocks(g)) return g;
    }
    return NULL;
}

uint64_t pl_grid_blocks_remaining(const pl_grid *head)
{
    uint64_t left = 0;
    for (const pl_grid *g = head; g; g = g->next)
        left += pl_grid_blocks(g) - g->blocks_done - g->cancelled;
    return left;
}

/* ---- blocks ---- */

static void free_cta(pl_cta *c)
{
    for (uint32_t k = 0; c->filled && k < c->nwarps; k++) {
        pl_warp *w = &c->warp[k];
        if (w->grown & PL_GROWN_FILE) free(w->register_file);
        if (w->grown & PL_GROWN_PREDS) free(w->predicate_file);
        if (w->grown & PL_GROWN_LOCAL) free(w->local);
        if (w->grown & PL_GROWN_CALL) free(w->call);
        free(w->device_error);
        pl_async_free(w->async);
    }
    pl_weak_end(c->weak);
    free(c->tmem);
    if (c->grid->hooks) c->grid->hooks->block_freed(c);
    free(c);
}

/* Initial number of call nodes of a warp; cache line size of the host. */
enum { CALLS = 8, LINE = 64 };

/* Offsets of the parts of a block's storage. */
typedef struct layout {
    size_t file, preds, calls, local; /* of the first warp */
    size_t each;                      /* from the parts of one warp to those of the next */
    size_t shared, bytes;
    uint32_t rows, npreds; /* per half */
} layout;

static size_t add_part(size_t *bytes, size_t more)
{
    size_t at = *bytes;
    *bytes += (more + LINE - 1) / LINE * LINE;
    return at;
}

/* Bytes from the local memory of a lane to that of the next. */
static uint32_t local_stride(const pl_prog_func *f)
{
    return (f->frame_bytes + 7u) & ~7u;
}

static layout layout_of(const pl_cta *c)
{
    const pl_prog_func *f = c->grid->entry;
    const size_t halves = c->grid->width / PL_LANES;
    layout l = {.rows = (f->rows + 1u) & ~1u, .npreds = f->preds > 2 ? f->preds : 2};
    add_part(&l.bytes, c->nwarps * sizeof *c->warp);
    const size_t first = l.bytes;
    l.file = add_part(&l.bytes, halves * l.rows * PL_LANES * sizeof(uint32_t));
    l.preds = add_part(&l.bytes, halves * l.npreds * sizeof(uint32_t));
    l.calls = add_part(&l.bytes, CALLS * sizeof(pl_call_frame));
    l.local = add_part(&l.bytes, (size_t)c->grid->width * local_stride(f));
    l.each = l.bytes - first;
    l.bytes = first + c->nwarps * l.each;
    l.shared = add_part(&l.bytes, (size_t)c->shared_end + LINE);
    return l;
}

uint64_t pl_grid_block_bytes(const pl_grid *g)
{
    const uint32_t threads = g->block[0] * g->block[1] * g->block[2];
    const pl_cta c = {.grid = (pl_grid *)(uintptr_t)g,
                      .nwarps = (threads + g->width - 1) / g->width,
                      .shared_end =
                          g->shared_reserved + g->entry->static_shared + g->dynamic_shared};
    return layout_of(&c).bytes;
}

static bool add_room(pl_exec_pool *p)
{
    size_t cap = p->cap;
    return pl_array_grow(&p->idle, &cap, sizeof *p->idle) &&
           pl_array_grow(&p->cta, &p->cap, sizeof *p->cta);
}

/* Creates a block; its storage is not touched. NULL: out of memory, or the launch's limit is
 * reached. */
static pl_cta *new_cta(pl_grid *g)
{
    pl_exec_pool *p = g->pool;
    if (g->head->limits.memory && p->n &&
        (p->n + 1) * pl_grid_block_bytes(g) > g->head->limits.memory)
        return NULL;
    if (p->n == p->cap && !add_room(p)) return NULL;
    pl_cta *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    c->grid = g;
    c->nwarps = p->nwarps;
    c->shared_start = g->shared_reserved;
    c->shared_first = p->system_shared ? 0 : c->shared_start;
    c->shared_end = c->shared_start + p->shared_bytes;
    c->storage = pl_arena_alloc_aligned(p->storage, layout_of(c).bytes, LINE);
    c->split_storage = pl_arena_array(p->sparse, pl_split_storage, p->nwarps);
    p->cta[p->n++] = c;
    return pl_arena_ok(p->storage) && pl_arena_ok(p->sparse) ? c : NULL;
}

/* Partitions the storage of a block, whose contents are undefined. */
static void fill_cta(pl_cta *c)
{
    const layout l = layout_of(c);
    const uint32_t frame_bytes = local_stride(c->grid->entry);
    c->warp = (pl_warp *)(void *)c->storage;
    memset(c->warp, 0, c->nwarps * sizeof *c->warp);
    c->shared = c->storage + l.shared;
    for (uint32_t k = 0; k < c->nwarps; k++) {
        pl_warp *w = &c->warp[k];
        uint8_t *at = c->storage + k * l.each;
        w->halves = (uint8_t)(c->grid->width / PL_LANES);
        w->file_rows = l.rows;
        w->pred_rows = l.npreds;
        w->register_file = (uint32_t *)(void *)(at + l.file);
        w->predicate_file = (uint32_t *)(void *)(at + l.preds);
        w->ncalls = CALLS;
        w->call = (pl_call_frame *)(void *)(at + l.calls);
        w->local_bytes = frame_bytes;
        w->local = frame_bytes ? at + l.local : NULL;
        w->split = w->few_splits;
        w->conv = w->few_convs;
        w->split_storage = &c->split_storage[k];
    }
    c->filled = true;
}

/* Fills a row of the frame that differs between blocks or warps. */
static void fill_row(const pl_warp *w, const pl_frame_init *r, uint32_t *d)
{
    const pl_cta *c = w->cta;
    uint64_t v[PL_LANES], all = c->shared_base + c->shared_start + r->bits;
    if (!r->sreg || pl_warp_sreg_uniform(w, (pl_word)r->sreg, r->sel, &all)) {
        if (r->width != 64) {
            for (unsigned l = 0; l < PL_LANES; l++) d[l] = (uint32_t)all;
            return;
        }
        for (unsigned l = 0; l < PL_LANES; l++) v[l] = all;
    } else {
        pl_warp_sreg(w, (pl_word)r->sreg, r->sel, v);
    }
    if (r->width == 64)
        memcpy(d, v, sizeof v);
    else
        for (unsigned l = 0; l < PL_LANES; l++) d[l] = (uint32_t)v[l];
}

/* Fills the entry function's frame in the registers of one half: the template, and the rows that
 * vary between blocks and lanes. */
static void fill_half(pl_warp *w, unsigned h)
{
    const pl_grid *g = w->grid;
    const pl_prog_func *f = g->entry;
    uint32_t *file = w->register_file + (size_t)h * w->file_rows * PL_LANES;
    w->half = (uint8_t)h;
    memcpy(file, g->pool->image, (size_t)f->rows * PL_LANES * 4);
    w->predicate_file[h * w->pred_rows + PL_PT] = UINT32_MAX;
    for (size_t k = 0; k < f->init.n; k++) {
        const pl_frame_init *r = &f->init.at[k];
        /* The address differs from that in the template. */
        bool moved = r->reloc == PL_RELOC_SHARED && w->cta->shared_base;
        if (r->sreg || moved) fill_row(w, r, file + (size_t)r->row * PL_LANES);
    }
}

static void start_warp(pl_cta *c, uint32_t index)
{
    pl_grid *g = c->grid;
    const pl_prog_func *f = g->entry;
    pl_warp *w = &c->warp[index];
    uint32_t first = index * g->width,
             n = c->nthreads - first < g->width ? c->nthreads - first : g->width;
    w->lanes = n == 64 ? UINT64_MAX : (1ull << n) - 1u;
    w->program = g->program;
    w->code = g->program->code.at;
    w->cta = c;
    w->grid = g;
    w->index = index;
    w->exited = 0;
    w->registers = 0;
    w->clock = 0;
    w->executed = w->lane_executed = 0;
    w->state = PL_WARP_READY;
    w->half = 0;
    w->carry = 0;
    memset(w->other_carry, 0, sizeof w->other_carry);
    w->polls = w->spins = w->idle_pauses = 0;
    w->yield = w->stop = w->wrote = w->async_started = w->uses_clock = w->used_clock = false;
    w->store_hold = PL_HOLD_NONE;
    w->group_hold = 0;
    w->group_waits = 0;
    w->npoll_addresses = 0;
    w->advances = w->cta_advances = w->pause_at = 0;
    w->spin_pauses = 0;
    w->last_alloc = w->previous_alloc = NULL;
    w->fx = NULL;
    memset(w->conv, 0, w->conv_used * sizeof *w->conv); /* frames of the previous block */
    w->conv_used = 1;
    w->splits_created = 0;
    memset(w->reached, 0, sizeof w->reached);
    w->arrived = 0;
    for (uint32_t k = 0; k < w->ncalls; k++) w->call[k].used = false;
    w->call[0] = (pl_call_frame){
        .func = (uint32_t)(f - g->program->funcs.at),
        .local_top = f->frame_bytes,
        .uncounted = f->frame_bytes > f->local_bytes ? f->frame_bytes - f->local_bytes : 0,
        .used = true};
    w->nsplits = 1;
    w->current = 0;
    w->split[0] = (pl_simt_split){.pc = f->first, .mask = w->lanes};
    w->active = w->lanes;
    w->pc = f->first;
    w->regs = w->register_file;
    w->pred = w->predicate_file;
    w->all = w->exec = w->mask_bits = 0;
    memset(w->mask, 0, sizeof w->mask);
    memset(w->predicate_file, 0, w->halves * w->pred_rows * sizeof *w->predicate_file);
    if (w->local) memset(w->local, 0, (size_t)g->width * w->local_bytes);
    for (unsigned h = w->halves; h-- > 0;) fill_half(w, h);
    if (w->device_error) memset(w->device_error, 0, g->width * sizeof *w->device_error);
    pl_async_reset(w->async);
}

static pl_cluster *cluster_of(pl_grid *g, pl_cta *c)
{
    if (!g->cluster[0]) return NULL;
    uint32_t size = g->cluster[0] * g->cluster[1] * g->cluster[2];
    uint32_t rank[3], base[3];
    for (unsigned d = 0; d < 3; d++) {
        rank[d] = c->id[d] % g->cluster[d];
        base[d] = c->id[d] - rank[d];
    }
    c->cluster_rank = rank[0] + g->cluster[0] * (rank[1] + g->cluster[1] * rank[2]);
    pl_exec_pool *p = g->pool;
    for (size_t k = 0; k < p->nclusters; k++) { /* another block of the cluster that is running */
        pl_cluster *x = p->cluster[k];
        for (uint32_t r = 0; x->used && r < x->size; r++) {
            const pl_cta *o = x->cta[r];
            if (o && o->id[0] - o->id[0] % g->cluster[0] == base[0] &&
                o->id[1] - o->id[1] % g->cluster[1] == base[1] &&
                o->id[2] - o->id[2] % g->cluster[2] == base[2]) {
                x->cta[c->cluster_rank] = c;
                return x;
            }
        }
    }
    pl_cluster *x = NULL;
    for (size_t k = 0; k < p->nclusters && !x; k++) x = p->cluster[k]->used ? NULL : p->cluster[k];
    if (!x) {
        if (p->nclusters == p->capclusters &&
            !pl_array_grow(&p->cluster, &p->capclusters, sizeof *p->cluster))
            return NULL;
        x = malloc(sizeof *x);
        if (!x) return NULL;
        p->cluster[p->nclusters++] = x;
    }
    *x = (pl_cluster){.size = size, .used = true, .live = size * c->nthreads};
    x->cta[c->cluster_rank] = c;
    return x;
}

/* Coordinates of the block that starts as number `order`: the blocks of a cluster start
 * consecutively. */
static void block_id(const pl_grid *g, uint64_t order, uint32_t id[3])
{
    uint32_t size[3], count[3];
    for (unsigned d = 0; d < 3; d++) {
        size[d] = g->cluster[0] ? g->cluster[d] : 1;
        count[d] = g->grid[d] / size[d];
    }
    uint32_t blocks = size[0] * size[1] * size[2], n = (uint32_t)(order / blocks),
             r = (uint32_t)(order % blocks);
    id[0] = n % count[0] * size[0] + r % size[0];
    id[1] = n / count[0] % count[1] * size[1] + r / size[0] % size[1];
    id[2] = n / count[0] / count[1] * size[2] + r / size[0] / size[1];
}

bool pl_block_cancel(pl_grid *g, uint32_t id[3])
{
    uint64_t blocks = g->cluster[0] ? (uint64_t)g->cluster[0] * g->cluster[1] * g->cluster[2] : 1;
    if (g->next_block + blocks > (uint64_t)g->grid[0] * g->grid[1] * g->grid[2]) return false;
    block_id(g, g->next_block, id);
    g->next_block += blocks;
    g->cancelled += blocks;
    return true;
}

pl_cta *pl_cta_acquire(pl_grid *g, uint32_t linear, uint32_t sm)
{
    pl_exec_pool *p = g->pool;
    pl_cta *c = p->nidle ? p->idle[--p->nidle] : new_cta(g);
    if (!c) return NULL;
    block_id(g, linear, c->id);
    c->linear = c->id[0] + g->grid[0] * (c->id[1] + g->grid[1] * c->id[2]);
    c->number = g->first_block + c->linear;
    c->advances = &g->head->advances;
    c->recurrence.limit = 0;
    c->pc_stat = g->pc_stat;
    c->stops_at_ordered = c->holds_stores = false;
    c->turn = NULL;
    c->launched_dependents = false;
    c->sm = sm;
    c->warps_done = 0;
    c->nthreads = c->live = g->pool->nthreads;
    memset(c->barrier, 0, sizeof c->barrier);
    c->local_cluster_arrived = 0;
    c->local_cluster_phase = 0;
    c->releases = 0;
    c->free_registers = 0;
    c->cluster = cluster_of(g, c);
    if (g->cluster[0] && !c->cluster) return NULL;
    c->cluster_rank = c->cluster ? c->cluster_rank : 0;
    c->shared_base = c->cluster_rank * PL_SHARED_SLICE;
    return c;
}

uint32_t pl_grid_block_sm(const pl_grid *g, uint64_t block)
{
    const uint32_t all = g->nsm ? g->nsm : 1;
    uint32_t used = all, sm = 0;
    for (uint32_t k = 0; g->sm_mask && k < all; k++) used -= !pl_grid_uses_sm(g, k);
    uint64_t left = block % (used ? used : 1);
    if (!g->sm_mask) return (uint32_t)left;
    while (sm + 1 < all && (!pl_grid_uses_sm(g, sm) || left-- > 0)) sm++;
    return sm;
}

bool pl_cta_begin(pl_cta *c)
{
    const pl_grid *g = c->grid;
    if (!c->filled) fill_cta(c);
    memset(c->shared, 0, c->shared_end);
    if (c->tmem) memset(c->tmem, 0, sizeof *c->tmem);
    /* Initialised shared variables of the module. */
    for (size_t k = 0; k < g->program->vars.n; k++) {
        const pl_prog_var *v = &g->program->vars.at[k];
        if (v->space == PL_SP_SHARED && v->init &&
            c->shared_start + v->address + v->size <= c->shared_end)
            memcpy(c->shared + c->shared_start + v->address, v->init, v->size);
    }
    if (g->weak && !pl_weak_start(c)) return false;
    if (g->hooks && !g->hooks->block_starts(g->hooks, c)) return false;
    for (uint32_t k = 0; k < c->nwarps; k++) start_warp(c, k);
    return true;
}

pl_cta *pl_cta_start(pl_grid *g, uint32_t linear, uint32_t sm)
{
    pl_cta *c = pl_cta_acquire(g, linear, sm);
    return c && pl_cta_begin(c) ? c : NULL;
}

/* The next block may reuse its storage. */
static void return_to_pool(pl_cta *c)
{
    pl_exec_pool *p = c->grid->pool;
    p->idle[p->nidle++] = c;
}

void pl_cta_end(pl_cta *c)
{
    pl_grid *g = c->grid;
    pl_async_finish(c);
    if (g->hooks) g->hooks->block_ends(g->hooks, c);
    for (uint32_t k = 0; k < c->nwarps; k++) {
        g->executed += c->warp[k].executed;
        g->lane_executed += c->warp[k].lane_executed;
        if (c->warp[k].clock > g->longest_warp) g->longest_warp = c->warp[k].clock;
    }
    launch_dependents(c);
    g->blocks_done++;
    for (pl_grid *n = g; n && (!n->previous || n->previous->complete); n = n->next)
        n->complete = n->blocks_done + n->cancelled == pl_grid_blocks(n);
    if (c->cluster) {
        /* its shared memory stays addressable until all blocks of the cluster have ended */
        pl_cluster *x = c->cluster;
        if (++x->blocks_ended == x->size) {
            for (uint32_t r = 0; r < x->size; r++)
                if (x->cta[r]) return_to_pool(x->cta[r]);
            x->used = false;
        }
        return;
    }
    return_to_pool(c);
}

/* ---- resources that launches leave for each other ---- */

pl_arena *pl_launch_cache_take(pl_arena **cached, pl_launch_cache_kind kind)
{
    pl_arena *a = *cached;
    *cached = NULL;
    if (!a) return kind == PL_LAUNCH_CACHE_SPARSE ? pl_arena_open_sparse() : pl_arena_open();
    if (kind == PL_LAUNCH_CACHE_ZEROED)
        pl_arena_reset(a);
    else
        pl_arena_reset_unzeroed(a);
    return a;
}

void pl_launch_cache_put(pl_arena **cached, pl_arena *a)
{
    if (!*cached && a && pl_arena_ok(a))
        *cached = a;
    else
        pl_arena_close(a);
}

pl_team *pl_launch_cache_take_team(pl_launch_cache *s, uint32_t n, pl_team_work *work, void *ctx)
{
    if (!s || !s->team || s->threads != n || s->process != getpid())
        return pl_team_open(n, work, ctx);
    pl_team *t = s->team;
    s->team = NULL;
    pl_team_set_work(t, work, ctx);
    return t;
}

void pl_launch_cache_put_team(pl_launch_cache *s, pl_team *t, uint32_t n)
{
    if (!s || !t) {
        pl_team_close(t);
        return;
    }
    if (s->process == getpid()) pl_team_close(s->team);
    s->team = t;
    s->threads = n;
    s->process = getpid();
}

void pl_launch_cache_close(pl_launch_cache *s)
{
    pl_arena_close(s->blocks);
    pl_arena_close(s->rest);
    pl_arena_close(s->small);
    pl_arena_close(s->large);
    pl_arena_close(s->sparse);
    if (s->process == getpid()) pl_team_close(s->team);
    *s = (pl_launch_cache){0};
}

/* ---- grids ---- */

/* Cooperative groups of several warps synchronise in the system-reserved part of shared memory, of
 * which 288 bytes are theirs (%reserved_smem_offset_1). A kernel that does not read that register
 * accesses this part only by mistake. */
static bool queries_system_shared(const pl_program *p)
{
    for (size_t f = 0; f < p->funcs.n; f++)
        for (size_t k = 0; k < p->funcs.at[f].init.n; k++) {
            int sreg = p->funcs.at[f].init.at[k].sreg;
            if (sreg == W_reserved_smem_offset_begin || sreg == W_reserved_smem_offset_0 ||
                sreg == W_reserved_smem_offset_1)
                return true;
        }
    return false;
}

pl_status pl_grid_open(pl_grid *g)
{
    const pl_prog_func *f = g->entry;
    pl_exec_pool *p = calloc(1, sizeof *p);
    if (!p) return PL_NOMEM;
    g->pool = p;
    p->nthreads = g->block[0] * g->block[1] * g->block[2];
    p->nwarps = (p->nthreads + g->width - 1) / g->width;
    p->shared_bytes = f->static_shared + g->dynamic_shared;
    p->system_shared = queries_system_shared(g->program);
    p->image = aligned_alloc(64, ((size_t)f->rows + 2) / 2 * 2 * PL_LANES * 4);
    pl_launch_cache none = {0}, *cache = g->launch_cache ? g->launch_cache : &none;
    p->storage = pl_launch_cache_take(&cache->blocks, PL_LAUNCH_CACHE_ANY);
    p->sparse = pl_launch_cache_take(&cache->rest, PL_LAUNCH_CACHE_SPARSE);
    if (!p->image || !p->storage || !p->sparse) {
        pl_grid_close(g);
        return PL_NOMEM;
    }
    memset(p->image, 0, (size_t)f->rows * PL_LANES * 4);
    for (size_t k = 0; k < f->init.n; k++) {
        const pl_frame_init *r = &f->init.at[k];
        if (r->sreg) continue;
        uint64_t bits = r->bits;
        if (r->reloc == PL_RELOC_VAR) bits += g->program->vars.at[r->symbol].address;
        if (r->reloc == PL_RELOC_SHARED) bits += g->shared_reserved;
        for (unsigned l = 0; l < PL_LANES; l++)
            if (r->width == 64)
                ((uint64_t *)(void *)(p->image + (size_t)r->row * PL_LANES))[l] = bits;
            else
                p->image[(size_t)r->row * PL_LANES + l] = (uint32_t)bits;
    }
    if (!g->head) g->head = g;
    g->fault.set = g->complete = false;
    g->stopped = (pl_stop){0};
    g->instructions = g->grown_bytes = 0;
    if (g->resumed) return PL_OK;
    g->executed = g->lane_executed = g->blocks_done = g->early_launched = g->longest_warp = 0;
    return PL_OK;
}

void pl_grid_stop_at(pl_grid *head, const pl_warp *w, unsigned lane)
{
    pl_stop *s = &head->stopped;
    const pl_grid *g = w->cta->grid;
    const uint32_t t = pl_first_thread(w) + lane, x = g->block[0], y = g->block[1];
    *s = (pl_stop){.cause = s->cause,
                   .has_location = true,
                   .pc = w->pc,
                   .kernel = g->entry->name,
                   .thread = {t % x, t / x % y, t / x / y}};
    memcpy(s->block, w->cta->id, sizeof s->block);
}

bool pl_grid_stop(pl_grid *head, uint64_t cycles, uint64_t instructions, pl_cta *const *live,
                  size_t n)
{
    pl_stop *s = &head->stopped;
    if (pl_stop_flag(head->cancel))
        s->cause = PL_STOP_FLAG;
    else if (head->limits.cycles && cycles >= head->limits.cycles)
        s->cause = PL_STOP_CYCLES;
    else if (head->limits.instructions && instructions >= head->limits.instructions)
        s->cause = PL_STOP_INSTRUCTIONS;
    else if (head->system && head->system->out.full)
        s->cause = PL_STOP_OUTPUT;
    else
        return false;
    for (size_t k = 0; k < n && !s->has_location; k++)
        for (uint32_t j = 0; j < live[k]->nwarps && !s->has_location; j++) {
            const pl_warp *w = &live[k]->warp[j];
            if (w->state == PL_WARP_DONE || !w->nsplits) continue;
            pl_grid_stop_at(head, w, (unsigned)__builtin_ctzll(w->active ? w->active : w->lanes));
        }
    return true;
}

void pl_grid_close(pl_grid *g)
{
    pl_exec_pool *p = g->pool;
    free(g->begun);
    g->begun = NULL;
    g->nbegun = 0;
    if (!p) return;
    for (size_t k = 0; k < p->n; k++) free_cta(p->cta[k]);
    for (size_t k = 0; k < p->nclusters; k++) free(p->cluster[k]);
    free(p->cta);
    free(p->idle);
    free(p->cluster);
    free(p->image);
    pl_launch_cache none = {0}, *cache = g->launch_cache ? g->launch_cache : &none;
    pl_launch_cache_put(&cache->blocks, p->storage);
    pl_launch_cache_put(&cache->rest, p->sparse);
    pl_launch_cache_close(&none);
    free(p);
    g->pool = NULL;
}
