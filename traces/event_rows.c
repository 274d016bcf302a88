/* event_rows.c - the event side of a trace: rows of inst and mem, and the rows derived from them
 * for warps, blocks, barriers and time.
 *
 * Each event becomes one prepared INSERT. Sums per warp and per time window are accumulated in
 * memory and written when the launch ends. The sink is not thread-safe: calls must be serialised.
 */
#include "base/array.h"
#include "isa/program/insn.h"
#include "traces/tracedb.h"
#include <stdlib.h>
#include <string.h>

bool pl_tracedb_rows_open(pl_tracedb *t)
{
    if (t->packed) {
        if (!pl_tracedb_packed_open(t)) return false;
    } else {
        t->add_inst = pl_tracedb_prepare(
            t, "INSERT INTO inst VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
        t->add_mem = pl_tracedb_prepare(
            t,
            "INSERT INTO mem VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    }
    t->add_barrier = pl_tracedb_prepare(t, "INSERT INTO barrier VALUES (NULL, ?, ?, ?, ?, ?, ?)");
    t->add_event = pl_tracedb_prepare(t, "INSERT INTO event VALUES (NULL, ?, ?, ?)");
    t->page_count = pl_tracedb_prepare(t, "PRAGMA page_count");
    return t->status == PL_OK;
}

/* True while rows may still be written; checks the size of the file periodically. */
static bool below_size_limit(pl_tracedb *t)
{
    if (t->full) return false;
    if (t->max_bytes == 0 || ++t->rows_since_check < t->size_check) return true;
    t->rows_since_check = 0;
    uint64_t pages = 0;
    if (sqlite3_step(t->page_count) == SQLITE_ROW)
        pages = (uint64_t)sqlite3_column_int64(t->page_count, 0);
    sqlite3_reset(t->page_count);
    /* The index on mem, created at the end, takes about an eighth of the rows' size; statistics
     * need some 200 KiB. Blocks being filled count with the size that earlier ones took, and queued
     * rows count too. */
    uint64_t bytes = pages * t->page_size +
                     (t->packed ? pl_tracedb_packed_pending(t) : t->queue.n * PL_TRACEDB_ROW_BYTES);
    const uint64_t third = t->max_bytes / 3, sixth = t->max_bytes / 6,
                   statistics = third < 256 << 10 ? third : 256 << 10;
    t->full = bytes > t->max_bytes - (sixth > statistics ? sixth : statistics);
    return !t->full;
}

/* The grid that contains a block, usually the latest. */
static const pl_tracedb_grid *grid_of(const pl_tracedb *t, uint32_t block)
{
    const pl_tracedb_grid *g = &t->grid.at[t->grid.n - 1];
    while (g->first_block > block) g--;
    return g;
}

static uint64_t warp_index(const pl_tracedb *t, uint32_t block, uint32_t warp)
{
    const pl_tracedb_grid *g = grid_of(t, block);
    return g->first_warp + (uint64_t)(block - g->first_block) * g->warps + warp;
}

pl_tracedb_warp *pl_tracedb_warp_of(const pl_tracedb *t, uint32_t block, uint32_t warp)
{
    uint64_t index = warp_index(t, block, warp);
    return warp < grid_of(t, block)->warps && index < t->nwarps ? &t->warp[index] : NULL;
}

/* True if an event passes the filter. An instruction and its accesses get the same result, because
 * all of these values are equal for them. */
static bool passes_filter(pl_tracedb *t, uint32_t sm, uint32_t block, uint32_t warp, uint32_t pc,
                          uint64_t cycle)
{
    const pl_tracedb_parsed_filter *f = &t->filter;
    bool pass = !t->skip && (pc >= t->ninsns || t->insn_flags[pc] & PL_TRACEDB_SELECTED);
    if (pass && !f->events) return t->any_selected = true;
    pass = pass && pl_tracedb_in_ranges(&f->sm, sm) && pl_tracedb_in_ranges(&f->block, block) &&
           pl_tracedb_in_ranges(&f->warp, warp) && pl_tracedb_in_ranges(&f->cycle, cycle);
    if (pass && f->one_in > 1) {
        /* Fibonacci hashing: multiply by 2^64 / golden ratio, use the high bits. */
        uint64_t hash = warp_index(t, block, warp) * 0x9e3779b97f4a7c15u;
        pass = (hash >> 32) % f->one_in == 0;
    }
    t->filtered += !pass;
    t->any_selected |= pass;
    return pass;
}

static void count_dropped(pl_tracedb *t)
{
    t->dropped++;
    t->dropped_total++;
}

/* The window of a cycle. When the launch exceeds the last window, neighbouring windows are merged
 * and their length doubles. */
static pl_tracedb_window *window_of(pl_tracedb *t, uint64_t cycle)
{
    while (cycle >> t->window_shift >= PL_TRACEDB_WINDOWS) {
        for (size_t i = 0; i < PL_TRACEDB_WINDOWS; i++) {
            pl_tracedb_window w = {{0}};
            for (size_t half = 2 * i; half < 2 * i + 2 && half < PL_TRACEDB_WINDOWS; half++)
                for (int k = 0; k < PL_SERIES_COUNT; k++) w.sum[k] += t->window[half].sum[k];
            t->window[i] = w;
        }
        t->window_shift++;
    }
    return &t->window[cycle >> t->window_shift];
}

static void write_barrier(pl_tracedb *t, uint64_t block, uint64_t warp, const pl_tracedb_warp *w,
                          const uint64_t *resumed)
{
    sqlite3_bind_int64(t->add_barrier, 1, t->kernel);
    sqlite3_bind_int64(t->add_barrier, 2, (int64_t)block);
    sqlite3_bind_int64(t->add_barrier, 3, (int64_t)warp);
    sqlite3_bind_int64(t->add_barrier, 4, w->barrier_pc);
    sqlite3_bind_int64(t->add_barrier, 5, (int64_t)w->barrier_cycle);
    if (resumed)
        sqlite3_bind_int64(t->add_barrier, 6, (int64_t)*resumed);
    else
        sqlite3_bind_null(t->add_barrier, 6);
    pl_tracedb_step(t, t->add_barrier);
}

static unsigned lane_count(uint64_t mask)
{
    return mask == UINT32_MAX ? PL_LANES : (unsigned)__builtin_popcountll(mask);
}

static void count_warp(pl_tracedb *t, const pl_inst_event *e, unsigned lanes)
{
    pl_tracedb_warp *w = pl_tracedb_warp_of(t, e->block, e->warp);
    if (!w) return;
    if (w->executed == 0) {
        w->first_cycle = w->last_cycle = e->cycle;
        w->first_seq = w->last_seq = e->seq;
        w->sm = e->sm;
        w->subcore = e->subcore;
    }
    if (e->cycle < w->first_cycle) w->first_cycle = e->cycle;
    if (e->cycle > w->last_cycle) w->last_cycle = e->cycle;
    if (e->seq < w->first_seq) w->first_seq = e->seq;
    if (e->seq > w->last_seq) w->last_seq = e->seq;
    w->executed++;
    w->inst_executed += e->weight;
    w->lanes += lanes;
    w->stall_cycles += e->stall_cycles;
    if (w->at_barrier) {
        w->at_barrier = false;
        if (!t->full) write_barrier(t, e->block, e->warp, w, &e->cycle);
    }
    if (e->pc < t->ninsns && t->insn_flags[e->pc] & PL_TRACEDB_BARRIER) {
        w->at_barrier = true;
        w->barrier_pc = e->pc;
        w->barrier_cycle = e->cycle;
    }
}

static void write_inst(pl_tracedb *t, const pl_inst_event *e)
{
    sqlite3_stmt *s = t->add_inst;
    sqlite3_bind_int64(s, 1, t->first_inst + (int64_t)e->seq);
    sqlite3_bind_int64(s, 2, t->kernel);
    sqlite3_bind_int64(s, 3, (int64_t)e->cycle);
    sqlite3_bind_int64(s, 4, e->sm);
    sqlite3_bind_int64(s, 5, e->subcore);
    sqlite3_bind_int64(s, 6, e->block);
    sqlite3_bind_int64(s, 7, e->warp);
    sqlite3_bind_int64(s, 8, e->pc);
    sqlite3_bind_int64(s, 9, (int64_t)e->mask);
    sqlite3_bind_int64(s, 10, lane_count(e->mask));
    sqlite3_bind_int64(s, 11, e->weight);
    sqlite3_bind_int64(s, 12, e->stall);
    sqlite3_bind_int64(s, 13, e->stall_cycles);
    sqlite3_bind_int64(s, 14, e->latency);
    if (pl_tracedb_step(t, s)) t->inst_rows++;
}

/* --- instructions whose latency becomes known later ---
 *
 * The latency of a load that misses is known hundreds of cycles after its issue. Rows are written
 * once and in the order of their ids, so that full pages are appended. A row that is still
 * incomplete is queued here, and so are all rows after it. (Packed rows stay in memory until their
 * block is full, so they are completed there: event_blocks.c.) */

static pl_inst_event *queue_at(const pl_tracedb *t, size_t k)
{
    return &t->queue.at[(t->queue.first + k) & (t->queue.cap - 1)];
}

/* Writes the complete rows at the head of the queue. If the queue is longer than `max_queued`, also
 * writes incomplete ones, without a latency. */
static void flush_queue(pl_tracedb *t, size_t max_queued)
{
    while (t->queue.n > 0) {
        pl_inst_event *e = queue_at(t, 0);
        if (e->latency == PL_LATENCY_LATER) {
            if (t->queue.n <= max_queued) return;
            e->latency = 0;
        }
        write_inst(t, e);
        t->queue.first = (t->queue.first + 1) & (t->queue.cap - 1);
        t->queue.n--;
    }
}

static void enqueue(pl_tracedb *t, const pl_inst_event *e)
{
    flush_queue(t, PL_TRACEDB_MAX_QUEUED - 1);
    if (t->queue.n == t->queue.cap) {
        size_t cap = t->queue.cap ? 2 * t->queue.cap : 1024;
        pl_inst_event *more = malloc(cap * sizeof *more);
        if (!more) {
            pl_tracedb_fail(t, PL_NOMEM,
                            "out of memory for instructions that wait for their results");
            return;
        }
        for (size_t k = 0; k < t->queue.n; k++) more[k] = *queue_at(t, k);
        free(t->queue.at);
        t->queue.at = more;
        t->queue.cap = cap;
        t->queue.first = 0;
    }
    *queue_at(t, t->queue.n++) = *e;
}

static void on_done(void *ctx, uint64_t seq, uint32_t latency)
{
    pl_tracedb *t = ctx;
    if (t->status != PL_OK) return;
    if (t->packed) {
        pl_tracedb_packed_done(t, seq, latency);
        return;
    }
    if (t->queue.n == 0) return;
    size_t low = 0, high = t->queue.n;
    uint64_t index = seq - queue_at(t, 0)->seq;
    /* This is the case without a filter. */
    if (index < high && queue_at(t, index)->seq == seq)
        low = index;
    else
        while (high - low > 1) {
            size_t middle = low + (high - low) / 2;
            *(queue_at(t, middle)->seq <= seq ? &low : &high) = middle;
        }
    pl_inst_event *e = queue_at(t, low);
    if (e->seq != seq) return; /* filtered out, or already written without a latency */
    e->latency = latency;
    flush_queue(t, PL_TRACEDB_MAX_QUEUED);
}

static void on_inst(void *ctx, const pl_inst_event *e)
{
    pl_tracedb *t = ctx;
    if (t->status != PL_OK) return;
    unsigned lanes = lane_count(e->mask);
    if (e->seq > t->last_seq) t->last_seq = e->seq;
    count_warp(t, e, lanes);
    if (t->timing) {
        pl_tracedb_window *w = window_of(t, e->cycle);
        w->sum[PL_SERIES_inst_executed] += e->weight;
        w->sum[PL_SERIES_thread_inst_executed] +=
            (uint64_t)e->weight * (e->active ? e->active : lanes);
        w->sum[PL_SERIES_stall_cycles] += e->stall_cycles;
    }
    if (!passes_filter(t, e->sm, e->block, e->warp, e->pc, e->cycle)) return;
    if (!below_size_limit(t)) {
        count_dropped(t);
        return;
    }
    if (t->packed) {
        pl_tracedb_packed_inst(t, e);
        t->inst_rows++;
    } else if (t->queue.n > 0 || e->latency == PL_LATENCY_LATER)
        enqueue(t, e);
    else
        write_inst(t, e);
}

/* Determines whether the active lanes' addresses have a constant stride. */
static pl_tracedb_lanes analyse_lanes(const pl_mem_event *e)
{
    pl_tracedb_lanes l = {.known = e->mask && e->addr};
    if (!l.known) return l;
    unsigned lowest = (unsigned)__builtin_ctz(e->mask);
    uint32_t rest = e->mask & (e->mask - 1);
    l.first = e->addr[lowest];
    l.regular = true;
    if (!rest) return l;
    unsigned second = (unsigned)__builtin_ctz(rest);
    int64_t distance = (int64_t)(e->addr[second] - l.first), step = (int64_t)(second - lowest);
    l.regular = step == 1 || distance % step == 0;
    l.stride = step == 1 ? distance : distance / step;
    if (e->mask + 1 == 0) { /* the common case, without a branch for each lane */
        uint64_t off = 0;
        for (unsigned i = 1; i < PL_LANES; i++)
            off |= (e->addr[i] - e->addr[i - 1]) ^ (uint64_t)l.stride;
        l.regular = off == 0;
        return l;
    }
    for (; l.regular && rest; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        l.regular = e->addr[i] == l.first + (uint64_t)l.stride * (i - lowest);
    }
    return l;
}

static size_t format_offsets(char *buf, const pl_mem_event *e, uint64_t first)
{
    int64_t offset[PL_TRACED_LANES] = {0};
    for (unsigned i = 0; i < PL_LANES; i++)
        offset[e->half * PL_LANES + i] = (int64_t)(e->addr[i] - first);
    return pl_packed_offsets_text(buf, pl_tracedb_mask(e), offset);
}

static void count_access(pl_tracedb *t, const pl_mem_event *e)
{
    pl_tracedb_window *w = window_of(t, e->cycle);
    w->sum[PL_SERIES_requests]++;
    w->sum[PL_SERIES_sectors] += e->sectors;
    w->sum[PL_SERIES_wavefronts] += e->wavefronts;
    w->sum[PL_SERIES_from_l1] += e->level == PL_LV_L1;
    w->sum[PL_SERIES_from_l2] += e->level == PL_LV_L2;
    w->sum[PL_SERIES_from_dram] += e->level == PL_LV_DRAM;
}

static void on_mem(void *ctx, const pl_mem_event *e)
{
    pl_tracedb *t = ctx;
    if (t->status != PL_OK) return;
    if (t->timing) count_access(t, e);
    if (!passes_filter(t, e->sm, e->block, e->warp, e->pc, e->cycle)) return;
    if (!below_size_limit(t)) {
        count_dropped(t);
        return;
    }
    pl_tracedb_lanes l = analyse_lanes(e);
    if (t->packed) {
        pl_tracedb_packed_mem(t, e, &l);
        return;
    }
    char offsets[PL_TRACED_LANES * 22 + 2];
    sqlite3_stmt *s = t->add_mem;
    sqlite3_bind_int64(s, 1, t->next_mem++);
    sqlite3_bind_int64(s, 2, t->first_inst + (int64_t)e->seq);
    sqlite3_bind_int64(s, 3, t->kernel);
    sqlite3_bind_int64(s, 4, (int64_t)e->cycle);
    sqlite3_bind_int64(s, 5, e->sm);
    sqlite3_bind_int64(s, 6, e->block);
    sqlite3_bind_int64(s, 7, e->warp);
    sqlite3_bind_int64(s, 8, e->pc);
    sqlite3_bind_int64(s, 9, e->space);
    sqlite3_bind_int64(s, 10, e->kind);
    sqlite3_bind_int64(s, 11, (int64_t)pl_tracedb_mask(e));
    sqlite3_bind_int64(s, 12, e->size);
    for (int c = 13; c <= 16; c++) sqlite3_bind_null(s, c);
    if (l.known) {
        if (l.regular)
            sqlite3_bind_int64(s, 15, l.stride);
        else
            sqlite3_bind_text(s, 16, offsets, (int)format_offsets(offsets, e, l.first),
                              SQLITE_STATIC);
        sqlite3_bind_int(s, 13, __builtin_ctzll(pl_tracedb_mask(e)));
        sqlite3_bind_int64(s, 14, (int64_t)l.first);
    }
    sqlite3_bind_int64(s, 17, e->sectors);
    sqlite3_bind_int64(s, 18, e->wavefronts);
    sqlite3_bind_int64(s, 19, e->level);
    sqlite3_bind_int64(s, 20, e->latency);
    pl_tracedb_step(t, s);
}

void pl_tracedb_rows_free(pl_tracedb *t)
{
    free(t->grid.at);
    free(t->warp);
    free(t->window);
    free(t->queue.at);
    memset(&t->queue, 0, sizeof t->queue);
    memset(&t->grid, 0, sizeof t->grid);
    t->warp = NULL;
    t->nwarps = 0;
    t->window = NULL;
}

/* Allocates the sums of the grid's warps. */
static void on_grid(void *ctx, const pl_grid_event *e)
{
    pl_tracedb *t = ctx;
    uint64_t threads = (uint64_t)e->block[0] * e->block[1] * e->block[2],
             blocks = (uint64_t)e->grid[0] * e->grid[1] * e->grid[2];
    pl_tracedb_grid g = {.first_block = e->first_block,
                         .warps = (uint32_t)((threads + t->lanes - 1) / t->lanes),
                         .first_warp = t->nwarps};
    memcpy(g.shape, e->grid, sizeof g.shape);
    uint64_t n = t->nwarps + blocks * g.warps;
    pl_tracedb_warp *warp = realloc(t->warp, (n ? n : 1) * sizeof *warp);
    if (warp) t->warp = warp;
    if (!warp || (t->grid.n == t->grid.cap &&
                  !pl_array_grow(&t->grid.at, &t->grid.cap, sizeof *t->grid.at))) {
        pl_tracedb_fail(t, PL_NOMEM, "out of memory for sums per warp");
        return;
    }
    memset(warp + t->nwarps, 0, (n - t->nwarps) * sizeof *warp);
    t->nwarps = n;
    t->grid.at[t->grid.n++] = g;
}

bool pl_tracedb_rows_begin(pl_tracedb *t, const pl_tracedb_kernel *k)
{
    if (t->status != PL_OK) return false;
    t->first_inst = t->next_inst;
    t->inst_rows = t->dropped = t->filtered = t->last_seq = 0;
    t->skip = !pl_tracedb_selects_kernel(&t->filter, k->name, k->entry);
    if (t->level == PL_TRACEDB_SUMMARY) return true;

    pl_grid_event first = {0};
    memcpy(first.grid, k->grid, sizeof first.grid);
    memcpy(first.block, k->block, sizeof first.block);
    on_grid(t, &first);
    t->ninsns = k->ninsns;
    t->window_shift = PL_TRACEDB_FIRST_WINDOW;
    t->window = calloc(PL_TRACEDB_WINDOWS, sizeof *t->window);
    if (t->status != PL_OK) return false;
    if (!t->window) return pl_tracedb_fail(t, PL_NOMEM, "out of memory for sums per warp");
    t->sink = (pl_sink){.ctx = t,
                        .inst = on_inst,
                        .mem = t->level == PL_TRACEDB_MEM ? on_mem : NULL,
                        .done = on_done,
                        .grid = on_grid,
                        .unit = pl_tracedb_on_unit};
    pl_tracedb_units_begin(t);
    return true;
}

/* Writes the blocks of a grid and their warps. */
static void write_warps(pl_tracedb *t, const pl_tracedb_grid *g)
{
    const uint64_t last =
        g->first_warp + (uint64_t)g->shape[0] * g->shape[1] * g->shape[2] * g->warps;
    sqlite3_stmt *b =
        pl_tracedb_prepare(t, "INSERT INTO block VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    sqlite3_stmt *s =
        pl_tracedb_prepare(t, "INSERT INTO warp VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    for (uint64_t first = g->first_warp; b && s && first < last; first += g->warps) {
        uint64_t linear = (first - g->first_warp) / g->warps, block = g->first_block + linear,
                 begin = UINT64_MAX, end = 0, executed = 0, ran = 0, sm = 0;
        for (uint64_t i = first; i < first + g->warps; i++) {
            const pl_tracedb_warp *w = &t->warp[i];
            if (w->executed == 0) continue;
            if (w->at_barrier) write_barrier(t, block, i - first, w, NULL);
            const uint64_t column[] = {(uint64_t)t->kernel,
                                       block,
                                       i - first,
                                       w->subcore,
                                       w->first_cycle,
                                       w->last_cycle,
                                       (uint64_t)t->first_inst + w->first_seq,
                                       (uint64_t)t->first_inst + w->last_seq,
                                       w->inst_executed,
                                       w->executed,
                                       w->lanes,
                                       w->stall_cycles};
            for (int c = 0; c < (int)(sizeof column / sizeof *column); c++)
                sqlite3_bind_int64(s, c + 1, (int64_t)column[c]);
            pl_tracedb_step(t, s);
            if (w->first_cycle < begin) begin = w->first_cycle;
            if (w->last_cycle > end) end = w->last_cycle;
            executed += w->inst_executed;
            sm = w->sm;
            ran++;
        }
        if (!ran) continue;
        const uint64_t x = linear % g->shape[0], y = linear / g->shape[0] % g->shape[1],
                       z = linear / g->shape[0] / g->shape[1];
        const uint64_t column[] = {
            (uint64_t)t->kernel, block, x, y, z, sm, begin, end, ran, executed};
        for (int c = 0; c < (int)(sizeof column / sizeof *column); c++)
            sqlite3_bind_int64(b, c + 1, (int64_t)column[c]);
        pl_tracedb_step(t, b);
    }
    sqlite3_finalize(b);
    sqlite3_finalize(s);
}

static void write_windows(pl_tracedb *t)
{
    static const char *const series[][2] = {
#define X(name, component) {component, #name},
        PL_TRACEDB_SERIES(X)
#undef X
    };
    sqlite3_stmt *s = pl_tracedb_prepare(t, "INSERT INTO counter_time VALUES (?, ?, ?, ?, ?, ?)");
    for (size_t k = 0; s && k < PL_SERIES_COUNT; k++) {
        for (size_t i = 0; i < PL_TRACEDB_WINDOWS; i++) {
            if (t->window[i].sum[k] == 0) continue;
            sqlite3_bind_int64(s, 1, t->kernel);
            pl_tracedb_text(s, 2, series[k][0]);
            pl_tracedb_text(s, 3, series[k][1]);
            sqlite3_bind_int64(s, 4, (int64_t)(i << t->window_shift));
            sqlite3_bind_int64(s, 5, (sqlite3_int64)1 << t->window_shift);
            sqlite3_bind_int64(s, 6, (int64_t)t->window[i].sum[k]);
            pl_tracedb_step(t, s);
        }
    }
    sqlite3_finalize(s);
}

bool pl_tracedb_rows_end(pl_tracedb *t)
{
    if (t->level != PL_TRACEDB_SUMMARY && t->status == PL_OK) {
        flush_queue(t, 0);
        if (t->packed) pl_tracedb_packed_end(t);
        for (size_t k = 0; k < t->grid.n; k++) write_warps(t, &t->grid.at[k]);
        write_windows(t);
        pl_tracedb_units_end(t);
        t->next_inst = t->first_inst + (int64_t)t->last_seq + 1;
    }
    pl_tracedb_rows_free(t);
    return t->status == PL_OK;
}
