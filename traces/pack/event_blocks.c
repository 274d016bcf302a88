/* event_blocks.c - the event side of a packed trace: collects events by multiprocessor and writes
 * full blocks.
 *
 * Events of one multiprocessor are stored together: their times and warps are similar, and a query
 * about one multiprocessor can skip the others. There is one open block for each multiprocessor and
 * stream. */
#include "base/array.h"
#include "isa/program/insn.h"
#include "traces/tracedb.h"
#include <stdlib.h>
#include <string.h>

bool pl_tracedb_packed_open(pl_tracedb *t)
{
    t->packer = pl_packer_open();
    if (!t->packer) return pl_tracedb_fail(t, PL_NOMEM, "out of memory");
    t->add_block = pl_tracedb_prepare(
        t, "INSERT INTO packed_block VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    t->add_data = pl_tracedb_prepare(t, "INSERT INTO packed_data VALUES (?, ?)");
    return t->status == PL_OK;
}

/* Allocates an empty block; NULL after a failure. Blocks of instructions have indices, by which
 * their rows are located later. */
static pl_packed_block *new_block(pl_tracedb *t, pl_packed_stream stream, uint32_t sm)
{
    pl_packed_block *b = NULL;
    if (stream == PL_PACKED_INST_STREAM && t->free_block) {
        b = t->free_block;
        t->free_block = b->next;
    } else if (stream == PL_PACKED_INST_STREAM) {
        if (t->nblocks < t->cap_blocks ||
            pl_array_grow(&t->block, &t->cap_blocks, sizeof *t->block))
            b = pl_packed_new(stream);
        if (b) {
            b->index = (uint32_t)t->nblocks;
            t->block[t->nblocks++] = b;
        }
    } else {
        b = pl_packed_new(stream);
    }
    if (!b) {
        pl_tracedb_fail(t, PL_NOMEM, "out of memory for packed events");
        return NULL;
    }
    b->sm = sm;
    b->next = NULL;
    pl_packed_clear(b, ++t->epoch);
    return b;
}

/* The open block; NULL after a failure. */
static pl_packed_block *block_of(pl_tracedb *t, pl_packed_stream stream, uint32_t sm)
{
    if (sm >= t->nbuckets[stream]) {
        size_t n = (size_t)sm + 64;
        pl_packed_block **more = realloc(t->bucket[stream], n * sizeof *more);
        if (!more) {
            pl_tracedb_fail(t, PL_NOMEM, "out of memory for packed events");
            return NULL;
        }
        memset(more + t->nbuckets[stream], 0, (n - t->nbuckets[stream]) * sizeof *more);
        t->bucket[stream] = more;
        t->nbuckets[stream] = n;
    }
    pl_packed_block **b = &t->bucket[stream][sm];
    if (!*b) *b = new_block(t, stream, sm);
    return *b;
}

static void write_block(pl_tracedb *t, pl_packed_block *b)
{
    pl_packed_span span[PL_SPAN_COUNT];
    size_t bytes;
    const uint8_t *data = pl_packer_pack(t->packer, b, span, &bytes);
    if (!data) {
        pl_tracedb_fail(t, PL_NOMEM, "out of memory for packed events");
        return;
    }
    int64_t id = t->next_block++;
    const int64_t column[] = {id, (int64_t)b->stream, t->kernel, (int64_t)b->sm, (int64_t)b->n};
    sqlite3_stmt *s = t->add_block;
    for (int i = 0; i < 5; i++) sqlite3_bind_int64(s, i + 1, column[i]);
    for (int i = 0; i < PL_SPAN_COUNT; i++) {
        sqlite3_bind_int64(s, 6 + 2 * i, (int64_t)span[i].first);
        sqlite3_bind_int64(s, 7 + 2 * i, (int64_t)span[i].last);
    }
    pl_tracedb_step(t, s);
    sqlite3_bind_int64(t->add_data, 1, id);
    sqlite3_bind_blob64(t->add_data, 2, data, bytes, SQLITE_STATIC);
    pl_tracedb_step(t, t->add_data);
    t->packed_rows += b->n;
    t->packed_bytes += bytes + 64;
    t->pending_rows -= b->n;
    pl_packed_clear(b, ++t->epoch);
}

uint64_t pl_tracedb_packed_pending(const pl_tracedb *t)
{
    double row = t->packed_rows ? (double)t->packed_bytes / (double)t->packed_rows : 8;
    return (uint64_t)((double)t->pending_rows * row);
}

/* --- instructions whose latency becomes known later ---
 *
 * Their rows are located by id, and a full block with such a row is held back until it is known. */

/* Doubles the table once more than half of it is in use. */
static bool grow_late_table(pl_tracedb *t)
{
    if (t->late.n * 2 < t->late.cap) return true;
    const size_t cap = t->late.cap ? t->late.cap * 2 : 8192;
    pl_tracedb_late *more = calloc(cap, sizeof *more);
    if (!more)
        return pl_tracedb_fail(t, PL_NOMEM,
                               "out of memory for instructions that wait for their results");
    for (size_t i = 0; i < t->late.cap; i++) {
        if (!t->late.at[i].id) continue;
        size_t k = t->late.at[i].id & (cap - 1);
        while (more[k].id) k = (k + 1) & (cap - 1);
        more[k] = t->late.at[i];
    }
    free(t->late.at);
    t->late.at = more;
    t->late.cap = cap;
    return true;
}

static void add_late(pl_tracedb *t, const pl_packed_block *b, uint32_t row)
{
    if (!grow_late_table(t)) return;
    const uint64_t id = b->row.inst[row].id;
    size_t k = id & (t->late.cap - 1);
    while (t->late.at[k].id) k = (k + 1) & (t->late.cap - 1);
    t->late.at[k] =
        (pl_tracedb_late){id, b->epoch, b->index & 0x1fffff, row & (PL_PACKED_ROWS - 1)};
    t->late.n++;
}

/* Removes an entry. Later entries of the probe sequence move up where they would become
 * unreachable. */
static void remove_late(pl_tracedb *t, size_t hole)
{
    const size_t mask = t->late.cap - 1;
    for (size_t k = (hole + 1) & mask; t->late.at[k].id; k = (k + 1) & mask) {
        const size_t home = t->late.at[k].id & mask;
        if (((k - home) & mask) < ((k - hole) & mask)) continue;
        t->late.at[hole] = t->late.at[k];
        hole = k;
    }
    t->late.at[hole].id = 0;
    t->late.n--;
}

/* Writes the block without waiting for missing latencies, and adds it to the free list. It must not
 * be in any other list. */
static void finish_block(pl_tracedb *t, pl_packed_block *b)
{
    for (uint32_t i = 0; b->late > 0 && i < b->n; i++) {
        if (b->row.inst[i].latency != PL_LATENCY_LATER) continue;
        b->row.inst[i].latency = 0;
        b->late--;
    }
    if (b->n && t->status == PL_OK) write_block(t, b);
    b->next = t->free_block;
    t->free_block = b;
}

static void finish_oldest(pl_tracedb *t)
{
    pl_packed_block *b = t->incomplete_block;
    t->incomplete_block = b->next;
    t->nfull--;
    finish_block(t, b);
}

/* Handles a full block of instructions: writes it, or appends it to the waiting blocks. */
static void close_block(pl_tracedb *t, pl_packed_block *b)
{
    t->bucket[PL_PACKED_INST_STREAM][b->sm] = NULL;
    if (!b->late) {
        finish_block(t, b);
        return;
    }
    pl_packed_block **last = &t->incomplete_block;
    while (*last) last = &(*last)->next;
    *last = b;
    b->next = NULL;
    if (++t->nfull > PL_TRACEDB_MAX_QUEUED / PL_PACKED_ROWS) finish_oldest(t);
}

void pl_tracedb_packed_done(pl_tracedb *t, uint64_t seq, uint32_t latency)
{
    const uint64_t id = (uint64_t)t->first_inst + seq;
    if (t->late.n == 0) return;
    size_t k = id & (t->late.cap - 1);
    while (t->late.at[k].id && t->late.at[k].id != id) k = (k + 1) & (t->late.cap - 1);
    const pl_tracedb_late found = t->late.at[k];
    if (!found.id) return; /* filtered out */
    remove_late(t, k);
    pl_packed_block *b = t->block[found.block];
    if (b->epoch != found.epoch) return; /* the block was written without the latency */
    b->row.inst[found.row].latency = latency;
    if (--b->late > 0 || b->n < PL_PACKED_ROWS) return;
    pl_packed_block **at = &t->incomplete_block;
    while (*at != b) at = &(*at)->next;
    *at = b->next;
    t->nfull--;
    finish_block(t, b);
}

/* The index of the event's warp in the block's list, cached in the warp's sums. */
static uint16_t warp_number(const pl_tracedb *t, pl_packed_block *b, uint32_t block, uint32_t warp,
                            uint8_t subcore)
{
    pl_tracedb_warp *w = pl_tracedb_warp_of(t, block, warp);
    if (w && w->epoch[b->stream] == b->epoch) return w->number[b->stream];
    uint16_t n = (uint16_t)b->nwarps++;
    b->warp[n] = (pl_packed_warp){block, warp, subcore};
    if (w) {
        w->epoch[b->stream] = b->epoch;
        w->number[b->stream] = n;
    }
    return n;
}

void pl_tracedb_packed_inst(pl_tracedb *t, const pl_inst_event *e)
{
    pl_packed_block *b = block_of(t, PL_PACKED_INST_STREAM, e->sm);
    if (!b) return;
    t->pending_rows++;
    if (e->latency == PL_LATENCY_LATER) b->late++;
    b->row.inst[b->n++] = (pl_packed_inst){.id = (uint64_t)t->first_inst + e->seq,
                                           .cycle = e->cycle,
                                           .pc = e->pc,
                                           .mask = e->mask,
                                           .waited = e->stall_cycles,
                                           .latency = e->latency,
                                           .weight = e->weight,
                                           .warp = warp_number(t, b, e->block, e->warp, e->subcore),
                                           .stall = e->stall};
    if (e->latency == PL_LATENCY_LATER) add_late(t, b, b->n - 1);
    if (b->n == PL_PACKED_ROWS)
        close_block(t, b);
    else
        __builtin_prefetch((const char *)&b->row.inst[b->n + 1] - 1, 1);
}

void pl_tracedb_packed_mem(pl_tracedb *t, const pl_mem_event *e, const pl_tracedb_lanes *l)
{
    pl_packed_block *b = block_of(t, PL_PACKED_MEM_STREAM, e->sm);
    if (!b) return;
    unsigned shape = l->regular ? PL_SHAPE_STRIDE : PL_SHAPE_NONE;
    if (l->known && !l->regular) {
        shape = pl_packed_add_offsets(b, e->pc, e->mask, e->addr);
        if (shape == PL_SHAPE_NONE) {
            pl_tracedb_fail(t, PL_NOMEM, "out of memory for packed events");
            return;
        }
    }
    t->pending_rows++;
    b->row.mem[b->n++] = (pl_packed_mem){.id = (uint64_t)t->next_mem++,
                                         .inst = (uint64_t)t->first_inst + e->seq,
                                         .cycle = e->cycle,
                                         .address = l->first,
                                         .stride = l->regular ? (uint64_t)l->stride : 0,
                                         .access = PL_ACCESS(e->space, e->kind, e->size, shape),
                                         .pc = e->pc,
                                         .mask = pl_tracedb_mask(e),
                                         .latency = e->latency,
                                         .warp = warp_number(t, b, e->block, e->warp, 0),
                                         .sectors = e->sectors,
                                         .wavefronts = e->wavefronts,
                                         .level = (uint8_t)e->level};
    if (b->n == PL_PACKED_ROWS)
        write_block(t, b);
    else
        __builtin_prefetch((const char *)&b->row.mem[b->n + 1] - 1, 1);
}

void pl_tracedb_packed_end(pl_tracedb *t)
{
    while (t->incomplete_block) finish_oldest(t);
    for (size_t sm = 0; sm < t->nbuckets[PL_PACKED_INST_STREAM]; sm++) {
        pl_packed_block *b = t->bucket[PL_PACKED_INST_STREAM][sm];
        t->bucket[PL_PACKED_INST_STREAM][sm] = NULL;
        if (b) finish_block(t, b);
    }
    for (size_t sm = 0; sm < t->nbuckets[PL_PACKED_MEM_STREAM]; sm++) {
        pl_packed_block *b = t->bucket[PL_PACKED_MEM_STREAM][sm];
        if (b && b->n && t->status == PL_OK) write_block(t, b);
    }
    if (t->late.n) memset(t->late.at, 0, t->late.cap * sizeof *t->late.at);
    t->late.n = 0;
}

void pl_tracedb_packed_close(pl_tracedb *t)
{
    for (size_t i = 0; i < t->nblocks; i++) pl_packed_free(t->block[i]);
    free(t->block);
    free(t->late.at);
    t->block = NULL;
    t->free_block = t->incomplete_block = NULL;
    t->nblocks = t->cap_blocks = t->nfull = 0;
    t->late.at = NULL;
    t->late.n = t->late.cap = 0;
    for (int stream = 0; stream < 2; stream++) {
        for (size_t sm = 0; stream == PL_PACKED_MEM_STREAM && sm < t->nbuckets[stream]; sm++)
            pl_packed_free(t->bucket[stream][sm]);
        free(t->bucket[stream]);
        t->bucket[stream] = NULL;
        t->nbuckets[stream] = 0;
    }
    sqlite3_finalize(t->add_block);
    sqlite3_finalize(t->add_data);
    t->add_block = t->add_data = NULL;
    pl_packer_close(t->packer);
    t->packer = NULL;
}
