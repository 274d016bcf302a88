/* column_encode.c - writes blocks of packed events: residuals of predictions, in as few bits as
 * most rows need. format.h describes the format; column_decode.c is the inverse. */
#include "traces/pack/format.h"
#include "isa/program/insn.h"
#include <stdlib.h>
#include <string.h>

struct pl_packer {
    /* The last entry: the state before the first row. */
    uint64_t column[PL_PACKED_COLUMNS][PL_PACKED_ROWS + 1];
    /* Previous row of the same instruction or warp, or that entry. */
    uint16_t prev_of_insn[PL_PACKED_ROWS], prev_of_warp[PL_PACKED_ROWS];
    uint64_t residual[2][PL_PACKED_ROWS]; /* of the best prediction so far, and of the current
                                             candidate */
    uint64_t seen[PL_PACKED_ROWS];        /* by warp, or by instruction (there are fewer
                                             instructions) */
    uint64_t step[PL_PACKED_INSNS];
    uint16_t exception[PL_PACKED_ROWS + 1]; /* exceptions: rows of a column that need more bits than
                                           most */
    uint8_t *bytes;
    size_t cap;
};

/* Candidate predictions for each column. The packer uses the first, or the better of two. */
static const uint8_t inst_predictions[PL_PI_COUNT][2] = {
    [PL_PI_WARP] = {PL_PRED_NONE},
    [PL_PI_PC] = {PL_PRED_NEXT_PC},
    [PL_PI_CYCLE] = {PL_PRED_PREVIOUS},
    [PL_PI_ID] = {PL_PRED_PREVIOUS},
    [PL_PI_MASK] = {PL_PRED_WARP},
    [PL_PI_STALL] = {PL_PRED_INSN},
    [PL_PI_WAITED] = {PL_PRED_WAITED, PL_PRED_INSN},
    [PL_PI_LATENCY] = {PL_PRED_INSN},
    [PL_PI_WEIGHT] = {PL_PRED_INSN},
};
static const uint8_t mem_predictions[PL_PM_COUNT][2] = {
    [PL_PM_WARP] = {PL_PRED_NONE},       [PL_PM_PC] = {PL_PRED_NEXT_PC},
    [PL_PM_CYCLE] = {PL_PRED_PREVIOUS},  [PL_PM_ID] = {PL_PRED_PREVIOUS},
    [PL_PM_INST] = {PL_PRED_PREVIOUS},   [PL_PM_MASK] = {PL_PRED_WARP},
    [PL_PM_ACCESS] = {PL_PRED_INSN},     [PL_PM_ADDRESS] = {PL_PRED_INSN, PL_PRED_INSN_STEP},
    [PL_PM_STRIDE] = {PL_PRED_INSN},     [PL_PM_SECTORS] = {PL_PRED_INSN},
    [PL_PM_WAVEFRONTS] = {PL_PRED_INSN}, [PL_PM_LEVEL] = {PL_PRED_INSN},
    [PL_PM_LATENCY] = {PL_PRED_INSN},
};

pl_packer *pl_packer_open(void)
{
    return calloc(1, sizeof(pl_packer));
}

void pl_packer_close(pl_packer *p)
{
    if (p) free(p->bytes);
    free(p);
}

pl_packed_block *pl_packed_new(pl_packed_stream stream)
{
    pl_packed_block *b = calloc(1, sizeof *b);
    if (!b) return NULL;
    b->stream = stream;
    if (stream == PL_PACKED_INST_STREAM)
        b->row.inst = malloc(PL_PACKED_ROWS * sizeof *b->row.inst);
    else
        b->row.mem = malloc(PL_PACKED_ROWS * sizeof *b->row.mem);
    if (b->row.inst) return b;
    free(b);
    return NULL;
}

void pl_packed_free(pl_packed_block *b)
{
    if (!b) return;
    free(b->row.inst);
    free(b->offsets);
    free(b->lane);
    free(b);
}

void pl_packed_clear(pl_packed_block *b, uint32_t epoch)
{
    b->epoch = epoch;
    b->n = b->late = b->nwarps = b->nlists = 0;
    b->offset_bytes = 0;
    memset(b->list_mask, 0, sizeof b->list_mask);
}

static uint8_t *write_varint(uint8_t *to, uint64_t v)
{
    while (v >= 0x80) {
        *to++ = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    *to++ = (uint8_t)v;
    return to;
}

static uint8_t *write_bits(uint8_t *to, const uint64_t *v, uint32_t n, unsigned bits)
{
    const uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    uint64_t word = 0;
    unsigned used = 0;
    if (bits == 0) return to;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t low = v[i] & mask;
        word |= low << used;
        used += bits;
        if (used < 64) continue;
        for (int k = 0; k < 8; k++) *to++ = (uint8_t)(word >> 8 * k);
        used -= 64;
        word = used ? low >> (bits - used) : 0;
    }
    for (; used > 0; used = used > 8 ? used - 8 : 0) {
        *to++ = (uint8_t)word;
        word >>= 8;
    }
    return to;
}

static bool reserve_list(pl_packed_block *b)
{
    if (b->offset_cap - b->offset_bytes < (size_t)PL_PACKED_LANES * 10) {
        size_t cap = b->offset_cap * 2 + 4096;
        uint8_t *more = realloc(b->offsets, cap);
        if (!more) return false;
        b->offsets = more;
        b->offset_cap = cap;
    }
    if (b->nlists == b->cap_lists) {
        uint32_t cap = b->cap_lists * 2 + 8;
        uint64_t(*more)[PL_PACKED_LANES] = realloc(b->lane, cap * sizeof *more);
        if (!more) return false;
        b->lane = more;
        b->cap_lists = cap;
    }
    return true;
}

/* Writes the list in the other form if that takes less than `max_bytes` bytes; otherwise returns
 * NULL.
 */
static uint8_t *write_bit_list(uint8_t *to, size_t max_bytes, const uint64_t *step, unsigned n)
{
    uint64_t v[PL_PACKED_LANES], sum = 0, any = 0;
    int64_t min = INT64_MAX;
    for (unsigned i = 0; i < n; i++) {
        v[i] = sum += step[i];
        if ((int64_t)sum < min) min = (int64_t)sum;
    }
    for (unsigned i = 0; i < n; i++) any |= v[i] -= (uint64_t)min;
    if (any == 0) return NULL;
    const unsigned zeros = (unsigned)__builtin_ctzll(any),
                   bits = 64 - (unsigned)__builtin_clzll(any) - zeros;
    uint8_t head[12], *end = head;
    *end++ = (uint8_t)bits;
    *end++ = (uint8_t)zeros;
    end = write_varint(end, pl_zigzag((uint64_t)min));
    const size_t first = (size_t)(end - head);
    if (first + ((size_t)n * bits + 7) / 8 >= max_bytes) return NULL;
    for (unsigned i = 0; i < n; i++) v[i] >>= zeros;
    memcpy(to, head, first);
    return write_bits(to + first, v, n, bits);
}

unsigned pl_packed_add_offsets(pl_packed_block *b, uint32_t pc, uint32_t mask, const uint64_t *addr)
{
    uint64_t step[PL_PACKED_LANES], previous = addr[__builtin_ctz(mask)];
    unsigned k = pl_packed_insn(pc), n = 0;
    if (mask + 1 == 0) {
        for (n = 0; n < PL_PACKED_LANES - 1; n++) step[n] = addr[n + 1] - addr[n];
    } else {
        for (uint32_t m = mask & (mask - 1); m; m &= m - 1) {
            uint64_t a = addr[__builtin_ctz(m)];
            step[n++] = a - previous;
            previous = a;
        }
    }
    if (b->list_mask[k] == mask && memcmp(b->lane[b->list[k]], step, n * sizeof *step) == 0)
        return PL_SHAPE_REPEATED;
    if (!reserve_list(b)) return PL_SHAPE_NONE;
    if (!b->list_mask[k]) b->list[k] = (uint16_t)b->nlists++;
    b->list_mask[k] = mask;
    memcpy(b->lane[b->list[k]], step, n * sizeof *step);
    uint8_t *at = b->offsets + b->offset_bytes, *to = at;
    for (unsigned i = 0; i < n; i++) to = write_varint(to, pl_zigzag(step[i]));
    uint8_t *shorter = write_bit_list(at, (size_t)(to - at), step, n);
    b->offset_bytes = (size_t)((shorter ? shorter : to) - b->offsets);
    return shorter ? PL_SHAPE_BITS : PL_SHAPE_OFFSETS;
}

/* Computes the residuals of a column under a prediction. */
static void residuals(pl_packer *p, const pl_packed_block *b, unsigned column, pl_prediction method,
                      uint64_t *out)
{
    const uint64_t *v = p->column[column], *warp = p->column[PL_PI_WARP], *pc = p->column[PL_PI_PC];
    uint64_t *cycle = p->column[PL_PI_CYCLE];
    uint64_t *seen = p->seen, *step = p->step, previous = 0;
    switch (method) {
    case PL_PRED_NONE:
    case PL_PRED_COUNT: memcpy(out, v, b->n * sizeof *out); break;
    case PL_PRED_PREVIOUS:
        for (uint32_t i = 0; i < b->n; i++) {
            out[i] = pl_zigzag(v[i] - previous);
            previous = v[i];
        }
        break;
    case PL_PRED_INSN:
        p->column[column][PL_PACKED_ROWS] = 0;
        for (uint32_t i = 0; i < b->n; i++) out[i] = pl_zigzag(v[i] - v[p->prev_of_insn[i]]);
        break;
    case PL_PRED_INSN_STEP:
        memset(seen, 0, PL_PACKED_INSNS * sizeof *seen);
        memset(step, 0, sizeof p->step);
        for (uint32_t i = 0; i < b->n; i++) {
            unsigned k = pl_packed_insn(pc[i]);
            uint64_t delta = v[i] - seen[k];
            out[i] = pl_zigzag(delta - step[k]);
            step[k] = delta;
            seen[k] = v[i];
        }
        break;
    case PL_PRED_WARP:
        p->column[column][PL_PACKED_ROWS] = UINT32_MAX; /* for masks: all lanes */
        for (uint32_t i = 0; i < b->n; i++) out[i] = pl_zigzag(v[i] - v[p->prev_of_warp[i]]);
        break;
    case PL_PRED_NEXT_PC:
        memset(seen, 0, b->nwarps * sizeof *seen);
        for (uint32_t i = 0; i < PL_PACKED_INSNS; i++) step[i] = 1;
        for (uint32_t i = 0; i < b->n; i++) {
            uint64_t *last = &seen[warp[i]], *next = &step[pl_packed_insn(*last)];
            uint64_t delta = v[i] - *last;
            out[i] = pl_zigzag(delta - *next);
            *next = delta;
            *last = v[i];
        }
        break;
    case PL_PRED_WAITED:
        cycle[PL_PACKED_ROWS] = 0;
        for (uint32_t i = 0; i < b->n; i++)
            out[i] = pl_zigzag(v[i] - (cycle[i] - cycle[p->prev_of_warp[i]] - 1));
        break;
    }
}

/* The bit width that minimises the size of a column, exceptions included, estimated from every
 * fifth row of a long column. *bytes receives the approximate size. */
static unsigned best_bits(const uint64_t *v, uint32_t n, size_t *bytes)
{
    uint32_t length[4][65] = {
        {0}}; /* four histograms, to break dependences between consecutive equal lengths */
    uint64_t any = 0;
    unsigned best = 64;
    *bytes = 0;
    for (uint32_t i = 0; i < n; i++) any |= v[i];
    if (!any) return 0;
    const uint32_t step = n >= 1024 ? 5 : 1; /* odd, because patterns repeat in powers of two */
    n /= step;
    for (uint32_t i = 0; i < n; i++)
        length[i % 4][64 - __builtin_clzll(v[i * step] | 1) - (v[i * step] == 0)]++;
    for (unsigned l = 0; l <= 64; l++) length[0][l] += length[1][l] + length[2][l] + length[3][l];
    *bytes = (size_t)n * 8;
    for (unsigned bits = 0; bits < 64; bits++) {
        size_t size = ((size_t)n * bits + 7) / 8;
        for (unsigned l = bits + 1; l <= 64; l++)
            size += (size_t)length[0][l] * (1 + (l - bits + 6) / 7);
        if (size < *bytes) {
            *bytes = size;
            best = bits;
        }
        if (any >> bits == 0) break;
    }
    *bytes = *bytes * step + 1;
    return best;
}

static uint8_t *write_numbers(pl_packer *p, uint8_t *to, const uint64_t *v, uint32_t n,
                              unsigned bits)
{
    uint32_t last = 0, found = 0;
    /* Collects the exceptions without a branch on the values, which would be unpredictable. */
    for (uint32_t i = 0; i < n && bits < 64; i++) {
        p->exception[found] = (uint16_t)i;
        found += v[i] >> bits != 0;
    }
    *to++ = (uint8_t)bits;
    to = write_varint(to, found);
    for (uint32_t k = 0; k < found; k++) {
        const uint32_t i = p->exception[k];
        to = write_varint(to, i - last);
        to = write_varint(to, v[i] >> bits);
        last = i;
    }
    return write_bits(to, v, n, bits);
}

static uint8_t *write_column(pl_packer *p, uint8_t *to, const pl_packed_block *b, unsigned column)
{
    const uint8_t *method =
        b->stream == PL_PACKED_INST_STREAM ? inst_predictions[column] : mem_predictions[column];
    size_t size, other;
    unsigned chosen = method[0], which = 0;
    residuals(p, b, column, (pl_prediction)method[0], p->residual[0]);
    unsigned bits = best_bits(p->residual[0], b->n, &size);
    if (method[1] && size) {
        residuals(p, b, column, (pl_prediction)method[1], p->residual[1]);
        unsigned bits_1 = best_bits(p->residual[1], b->n, &other);
        if (other < size) {
            bits = bits_1;
            which = 1;
            chosen = method[1];
        }
    }
    /* Reserves the length, which is not known yet: a varint of four bytes. */
    uint8_t *length = to;
    to += 4;
    *to++ = (uint8_t)chosen;
    to = write_numbers(p, to, p->residual[which], b->n, bits);
    uint32_t n = (uint32_t)(to - length - 4);
    for (int i = 0; i < 4; i++) length[i] = (uint8_t)((n >> 7 * i & 0x7f) | (i < 3 ? 0x80 : 0));
    return to;
}

/* Transposes rows into columns. The rows were written interleaved with those of other
 * multiprocessors, and are no longer in the near caches. */
static void transpose(pl_packer *p, const pl_packed_block *b)
{
    enum { PREFETCH_AHEAD = 24 };
    uint64_t(*c)[PL_PACKED_ROWS + 1] = p->column;
    if (b->stream == PL_PACKED_INST_STREAM) {
        for (uint32_t i = 0; i < b->n; i++) {
            const pl_packed_inst *e = &b->row.inst[i];
            __builtin_prefetch(e + PREFETCH_AHEAD);
            c[PL_PI_WARP][i] = e->warp;
            c[PL_PI_PC][i] = e->pc;
            c[PL_PI_CYCLE][i] = e->cycle;
            c[PL_PI_ID][i] = e->id;
            c[PL_PI_MASK][i] = e->mask;
            c[PL_PI_STALL][i] = e->stall;
            c[PL_PI_WAITED][i] = e->waited;
            c[PL_PI_LATENCY][i] = e->latency;
            c[PL_PI_WEIGHT][i] = e->weight;
        }
    } else {
        for (uint32_t i = 0; i < b->n; i++) {
            const pl_packed_mem *e = &b->row.mem[i];
            __builtin_prefetch(e + PREFETCH_AHEAD);
            c[PL_PM_WARP][i] = e->warp;
            c[PL_PM_PC][i] = e->pc;
            c[PL_PM_CYCLE][i] = e->cycle;
            c[PL_PM_ID][i] = e->id;
            c[PL_PM_INST][i] = e->inst;
            c[PL_PM_MASK][i] = e->mask;
            c[PL_PM_ACCESS][i] = e->access;
            c[PL_PM_ADDRESS][i] = e->address;
            c[PL_PM_STRIDE][i] = e->stride;
            c[PL_PM_SECTORS][i] = e->sectors;
            c[PL_PM_WAVEFRONTS][i] = e->wavefronts;
            c[PL_PM_LEVEL][i] = e->level;
            c[PL_PM_LATENCY][i] = e->latency;
        }
    }
}

static void find_previous_rows(pl_packer *p, const pl_packed_block *b)
{
    uint16_t insn[PL_PACKED_INSNS], warp[PL_PACKED_ROWS];
    for (unsigned k = 0; k < PL_PACKED_INSNS; k++) insn[k] = PL_PACKED_ROWS;
    for (unsigned k = 0; k < b->nwarps; k++) warp[k] = PL_PACKED_ROWS;
    for (uint32_t i = 0; i < b->n; i++) {
        uint16_t *last = &insn[pl_packed_insn(p->column[PL_PI_PC][i])];
        p->prev_of_insn[i] = *last;
        *last = (uint16_t)i;
        last = &warp[p->column[PL_PI_WARP][i]];
        p->prev_of_warp[i] = *last;
        *last = (uint16_t)i;
    }
}

static pl_packed_span span_of(const uint64_t *v, uint32_t n)
{
    pl_packed_span s = {v[0], v[0]};
    for (uint32_t i = 1; i < n; i++) {
        if (v[i] < s.first) s.first = v[i];
        if (v[i] > s.last) s.last = v[i];
    }
    return s;
}

static void find_spans(const pl_packer *p, const pl_packed_block *b,
                       pl_packed_span span[PL_SPAN_COUNT])
{
    bool inst = b->stream == PL_PACKED_INST_STREAM;
    span[PL_SPAN_ID] = span_of(p->column[inst ? (int)PL_PI_ID : (int)PL_PM_ID], b->n);
    span[PL_SPAN_INST] = inst ? span[PL_SPAN_ID] : span_of(p->column[PL_PM_INST], b->n);
    span[PL_SPAN_CYCLE] = span_of(p->column[PL_PI_CYCLE], b->n);
    span[PL_SPAN_PC] = span_of(p->column[PL_PI_PC], b->n);
    span[PL_SPAN_BLOCK] = (pl_packed_span){b->warp[0].block, b->warp[0].block};
    span[PL_SPAN_WARP] = (pl_packed_span){b->warp[0].warp, b->warp[0].warp};
    for (uint32_t i = 1; i < b->nwarps; i++) {
        const uint32_t v[2] = {b->warp[i].block, b->warp[i].warp};
        for (int k = 0; k < 2; k++) {
            pl_packed_span *s = &span[k ? PL_SPAN_WARP : PL_SPAN_BLOCK];
            if (v[k] < s->first) s->first = v[k];
            if (v[k] > s->last) s->last = v[k];
        }
    }
}

const uint8_t *pl_packer_pack(pl_packer *p, const pl_packed_block *b,
                              pl_packed_span span[PL_SPAN_COUNT], size_t *bytes)
{
    unsigned columns = pl_packed_ncolumns(b->stream);
    size_t max_bytes = 64 + (size_t)b->nwarps * 15 + columns * ((size_t)b->n * 14 + 64) +
                       b->offset_bytes; /* 14: an exception without low bits */
    if (max_bytes > p->cap) {
        uint8_t *more = realloc(p->bytes, max_bytes);
        if (!more) return NULL;
        p->bytes = more;
        p->cap = max_bytes;
    }
    transpose(p, b);
    find_previous_rows(p, b);
    find_spans(p, b, span);
    uint8_t *to = p->bytes + 4;
    to = write_varint(to, b->n);
    to = write_varint(to, b->nwarps);
    for (uint32_t i = 0; i < b->nwarps; i++) {
        to = write_varint(to, b->warp[i].block);
        to = write_varint(to, b->warp[i].warp);
        to = write_varint(to, b->warp[i].subcore);
    }
    for (unsigned c = 0; c < columns; c++) to = write_column(p, to, b, c);
    to = write_varint(to, b->offset_bytes);
    if (b->offset_bytes) memcpy(to, b->offsets, b->offset_bytes);
    to += b->offset_bytes;
    *bytes = (size_t)(to - p->bytes);
    uint32_t sum = pl_packed_checksum(p->bytes + 4, *bytes - 4);
    for (int i = 0; i < 4; i++) p->bytes[i] = (uint8_t)(sum >> 8 * i);
    return p->bytes;
}
