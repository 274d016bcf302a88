/* packrows.c - the event side of a packed trace: collects events by multiprocessor and writes full blocks.
 *
 * Events of one multiprocessor belong together: their times and warps are close, and a query about one
 * of them can skip the others. So there is a block in the making for each multiprocessor and stream. */
#include "isa/insn.h"
#include "traces/internal.h"
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

/* The block in the making; NULL after a failure. */
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
    if (*b) return *b;
    *b = pl_packed_new(stream);
    if (*b)
        pl_packed_clear(*b, ++t->epoch);
    else
        pl_tracedb_fail(t, PL_NOMEM, "out of memory for packed events");
    return *b;
}

static void write_block(pl_tracedb *t, pl_packed_block *b, uint32_t sm)
{
    pl_packed_span span[PL_SPAN_COUNT];
    size_t bytes;
    const uint8_t *data = pl_packer_pack(t->packer, b, span, &bytes);
    if (!data) {
        pl_tracedb_fail(t, PL_NOMEM, "out of memory for packed events");
        return;
    }
    int64_t id = t->next_block++;
    const int64_t column[] = {id, (int64_t)b->stream, t->kernel, (int64_t)sm, (int64_t)b->n};
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
    return (uint64_t)((double)(t->pending_rows + t->waiting.n) * row);
}

/* The number of the event's warp in the block's list. The warp's own sums remember it. */
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
    b->row.inst[b->n++] = (pl_packed_inst){.id = (uint64_t)t->first_inst + e->seq,
                                           .cycle = e->cycle,
                                           .pc = e->pc,
                                           .mask = e->mask,
                                           .waited = e->stall_cycles,
                                           .latency = e->latency,
                                           .warp = warp_number(t, b, e->block, e->warp, e->subcore),
                                           .stall = e->stall};
    if (b->n == PL_PACKED_ROWS) write_block(t, b, e->sm);
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
    if (b->n == PL_PACKED_ROWS) write_block(t, b, e->sm);
}

void pl_tracedb_packed_end(pl_tracedb *t)
{
    for (int stream = 0; stream < 2; stream++) {
        for (size_t sm = 0; sm < t->nbuckets[stream]; sm++) {
            pl_packed_block *b = t->bucket[stream][sm];
            if (b && b->n && t->status == PL_OK) write_block(t, b, (uint32_t)sm);
        }
    }
}

void pl_tracedb_packed_close(pl_tracedb *t)
{
    for (int stream = 0; stream < 2; stream++) {
        for (size_t sm = 0; sm < t->nbuckets[stream]; sm++) pl_packed_free(t->bucket[stream][sm]);
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
