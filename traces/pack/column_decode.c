/* column_decode.c - reads blocks of packed events, one column at a time. format.h describes the
 * format.
 *
 * The file is untrusted and may be damaged: every read is checked against the end of its part, and
 * every count against the capacity of the block. */
#include "traces/pack/format.h"
#include "isa/program/insn.h"
#include <stdlib.h>
#include <string.h>

enum { PADDING = 16 };
static const char damaged[] = "a block of packed events is damaged";

uint32_t pl_packed_checksum(const uint8_t *p, size_t n)
{
    uint64_t h = n * 0x9e3779b97f4a7c15u;
    for (; n >= 8; n -= 8, p += 8) {
        uint64_t v = 0;
        for (int k = 0; k < 8; k++) v |= (uint64_t)p[k] << 8 * k;
        h = (h ^ v) * 0x9e3779b97f4a7c15u;
        h ^= h >> 32;
    }
    for (; n; n--, p++) h = (h ^ *p) * 0x100000001b3u;
    return (uint32_t)(h ^ h >> 32);
}

/* Reads a varint. False: the part ends within it, or the value exceeds 64 bits. */
static bool read_varint(const uint8_t **at, const uint8_t *end, uint64_t *v)
{
    *v = 0;
    for (unsigned shift = 0; shift < 64 && *at < end; shift += 7) {
        uint8_t byte = *(*at)++;
        *v |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) return shift < 63 || byte <= 1;
    }
    return false;
}

static bool read_warps(pl_unpacker *b, const uint8_t **at, const uint8_t *end)
{
    for (uint32_t i = 0; i < b->nwarps; i++) {
        uint64_t block, warp, subcore;
        if (!read_varint(at, end, &block) || !read_varint(at, end, &warp) ||
            !read_varint(at, end, &subcore))
            return false;
        if (block > UINT32_MAX || warp > UINT32_MAX || subcore > UINT8_MAX) return false;
        b->warp[i] = (pl_packed_warp){(uint32_t)block, (uint32_t)warp, (uint32_t)subcore};
    }
    return true;
}

static bool read_frame(pl_unpacker *u)
{
    const uint8_t *at = u->bytes + 4, *end = u->bytes + u->nbytes;
    uint64_t rows, warps, n;
    if (!read_varint(&at, end, &rows) || !read_varint(&at, end, &warps)) return false;
    if (rows == 0 || rows > PL_PACKED_ROWS || warps == 0 || warps > rows) return false;
    u->n = (uint32_t)rows;
    u->nwarps = (uint32_t)warps;
    u->warp = malloc(u->nwarps * sizeof *u->warp);
    if (!u->warp || !read_warps(u, &at, end)) return false;
    for (unsigned c = 0; c < pl_packed_ncolumns(u->stream); c++) {
        if (!read_varint(&at, end, &n) || n > (uint64_t)(end - at)) return false;
        u->at[c] = at;
        at += n;
        u->end[c] = at;
    }
    /* Schema 2, whose rows have no weight. */
    if (u->stream == PL_PACKED_INST_STREAM && at == end) {
        u->offsets_at = u->offsets_end = end;
        return true;
    }
    if (!read_varint(&at, end, &n) || n != (uint64_t)(end - at)) return false;
    u->offsets_at = at;
    u->offsets_end = end;
    return true;
}

bool pl_unpack_open(pl_unpacker *u, pl_packed_stream stream, const void *bytes, size_t n,
                    const char **why)
{
    *u = (pl_unpacker){.nbytes = n, .stream = stream};
    *why = n < 8 ? damaged : NULL;
    uint8_t *copy = *why ? NULL : calloc(1, n + PADDING);
    if (!copy) return false;
    memcpy(copy, bytes, n);
    u->bytes = copy;
    uint32_t sum = 0;
    for (int i = 0; i < 4; i++) sum |= (uint32_t)copy[i] << 8 * i;
    const bool good = sum == pl_packed_checksum(copy + 4, n - 4) && read_frame(u);
    const bool no_memory = u->nwarps && !u->warp;
    if (!good && !no_memory) *why = damaged;
    return good;
}

static uint64_t load(const uint8_t *p)
{
    uint64_t v = 0;
    for (int k = 0; k < 8; k++) v |= (uint64_t)p[k] << 8 * k;
    return v;
}

/* Reads the low bits of n values; the part must have exactly the required size. A load may read
 * beyond the part, which the padding of the copy makes harmless. */
static bool read_bits(const uint8_t *at, const uint8_t *end, uint64_t *v, uint32_t n, unsigned bits)
{
    const uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    if ((uint64_t)(end - at) != ((uint64_t)n * bits + 7) / 8) return false;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t bit = (uint64_t)i * bits;
        const uint8_t *p = at + bit / 8;
        unsigned low = bit % 8;
        uint64_t word = load(p) >> low;
        if (low + bits > 64) word |= (uint64_t)p[8] << (64 - low);
        v[i] = word & mask;
    }
    return true;
}

static bool read_numbers(const uint8_t *at, const uint8_t *end, uint64_t *v, uint32_t n)
{
    if (at == end) return false;
    unsigned bits = *at++;
    uint64_t exceptions, skip, high, row = 0;
    if (bits > 64 || !read_varint(&at, end, &exceptions) || exceptions > n) return false;
    /* Exceptions precede the low bits that they complete: skip them first. */
    const uint8_t *first = at;
    for (uint64_t i = 0; i < exceptions; i++)
        if (!read_varint(&at, end, &skip) || !read_varint(&at, end, &high)) return false;
    if (!read_bits(at, end, v, n, bits)) return false;
    for (uint64_t i = 0; i < exceptions; i++) {
        if (!read_varint(&first, end, &skip) || !read_varint(&first, end, &high)) return false;
        row += skip;
        if (row >= n || bits >= 64) return false;
        v[row] |= high << bits;
    }
    return true;
}

/* Converts residuals into values, in place. */
static bool predict(pl_unpacker *u, pl_prediction method, uint64_t *v)
{
    uint64_t seen[PL_PACKED_ROWS] = {0};
    uint64_t step[PL_PACKED_INSNS], previous = 0;
    const uint64_t *warp = u->column[PL_PI_WARP], *pc = u->column[PL_PI_PC],
                   *cycle = u->column[PL_PI_CYCLE];
    switch (method) {
    case PL_PRED_NONE: return true;
    case PL_PRED_PREVIOUS:
        for (uint32_t i = 0; i < u->n; i++) previous = v[i] = previous + pl_unzigzag(v[i]);
        return true;
    case PL_PRED_INSN:
        if (!pc) return false;
        for (uint32_t i = 0; i < u->n; i++) {
            uint64_t *last = &seen[pl_packed_insn(pc[i])];
            *last = v[i] = *last + pl_unzigzag(v[i]);
        }
        return true;
    case PL_PRED_INSN_STEP:
        if (!pc) return false;
        memset(step, 0, sizeof step);
        for (uint32_t i = 0; i < u->n; i++) {
            unsigned k = pl_packed_insn(pc[i]);
            step[k] += pl_unzigzag(v[i]);
            seen[k] = v[i] = seen[k] + step[k];
        }
        return true;
    case PL_PRED_WARP:
        if (!warp) return false;
        for (uint32_t i = 0; i < u->nwarps; i++) seen[i] = UINT32_MAX;
        for (uint32_t i = 0; i < u->n; i++) {
            uint64_t *last = &seen[warp[i]];
            *last = v[i] = *last + pl_unzigzag(v[i]);
        }
        return true;
    case PL_PRED_NEXT_PC:
        if (!warp) return false;
        for (uint32_t i = 0; i < PL_PACKED_INSNS; i++) step[i] = 1;
        for (uint32_t i = 0; i < u->n; i++) {
            uint64_t *last = &seen[warp[i]], *next = &step[pl_packed_insn(*last)];
            *next += pl_unzigzag(v[i]);
            *last = v[i] = *last + *next;
        }
        return true;
    case PL_PRED_WAITED:
        if (!warp || !cycle) return false;
        for (uint32_t i = 0; i < u->n; i++) {
            uint64_t *last = &seen[warp[i]];
            v[i] = cycle[i] - *last - 1 + pl_unzigzag(v[i]);
            *last = cycle[i];
        }
        return true;
    case PL_PRED_COUNT: break;
    }
    return false;
}

/* Rejects values that exceed the range of their column. */
static bool is_in_range(const pl_unpacker *b, unsigned column, const uint64_t *v)
{
    uint64_t max = UINT64_MAX;
    if (column == PL_PI_WARP) max = b->nwarps - 1;
    if (column == PL_PI_PC) max = UINT32_MAX;
    if (b->stream == PL_PACKED_MEM_STREAM && column == PL_PM_ACCESS)
        max = PL_ACCESS(UINT8_MAX, UINT8_MAX, UINT16_MAX, PL_SHAPE_BITS);
    for (uint32_t i = 0; max != UINT64_MAX && i < b->n; i++)
        if (v[i] > max) return false;
    return true;
}

const uint64_t *pl_unpack_column(pl_unpacker *u, unsigned column, const char **why)
{
    *why = NULL;
    if (u->column[column]) return u->column[column];
    for (unsigned c = PL_PI_WARP; c <= PL_PI_CYCLE && c < column; c++)
        if (!pl_unpack_column(u, c, why)) return NULL;
    const uint8_t *at = u->at[column], *end = u->end[column];
    const bool absent = u->stream == PL_PACKED_INST_STREAM && column == PL_PI_WEIGHT && at == end;
    uint64_t *v = calloc(u->n, sizeof *v);
    if (!v) return NULL;
    if (absent) return u->column[column] = v;
    bool good = at < end;
    unsigned method = good ? *at++ : 0;
    good = good && read_numbers(at, end, v, u->n) && predict(u, (pl_prediction)method, v) &&
           is_in_range(u, column, v);
    if (!good) {
        free(v);
        *why = damaged;
        return NULL;
    }
    u->column[column] = v;
    return v;
}

/* Reads a PL_SHAPE_BITS list for n lanes; skips it if `value` is NULL. */
static bool read_bit_list(const uint8_t **at, const uint8_t *end, unsigned n, int64_t *value)
{
    uint64_t min, v[PL_PACKED_LANES];
    if (end - *at < 2) return false;
    const unsigned bits = (*at)[0], zeros = (*at)[1];
    *at += 2;
    if (bits > 64 || zeros > 63 || n > PL_PACKED_LANES || !read_varint(at, end, &min)) return false;
    const size_t size = ((size_t)n * bits + 7) / 8;
    if ((size_t)(end - *at) < size || !read_bits(*at, *at + size, v, n, bits)) return false;
    *at += size;
    for (unsigned i = 0; value && i < n; i++)
        value[i] = (int64_t)(pl_unzigzag(min) + (v[i] << zeros));
    return true;
}

/* Locates the offsets of each row. */
static bool find_offsets(pl_unpacker *u, const uint64_t *mask, const uint64_t *access,
                         const char **why)
{
    *why = NULL;
    const uint8_t *at = u->offsets_at, *latest[PL_PACKED_INSNS] = {NULL};
    bool is_bits[PL_PACKED_INSNS] = {false};
    const uint64_t *pc = u->column[PL_PI_PC];
    u->row_offsets = calloc(u->n, sizeof *u->row_offsets);
    u->row_is_bits = calloc(u->n, sizeof *u->row_is_bits);
    if (!u->row_offsets || !u->row_is_bits) return false;
    *why = damaged;
    for (uint32_t i = 0; i < u->n; i++) {
        uint64_t ignored, shape = access[i] >> 32;
        const unsigned k = pl_packed_insn(pc[i]);
        if (shape == PL_SHAPE_REPEATED) {
            u->row_offsets[i] = latest[k];
            u->row_is_bits[i] = is_bits[k];
        }
        if (shape != PL_SHAPE_OFFSETS && shape != PL_SHAPE_BITS) continue;
        u->row_offsets[i] = latest[k] = at;
        u->row_is_bits[i] = is_bits[k] = shape == PL_SHAPE_BITS;
        if (shape == PL_SHAPE_BITS) {
            if (!mask[i] || !read_bit_list(&at, u->offsets_end,
                                           (unsigned)__builtin_popcountll(mask[i]) - 1, NULL))
                return false;
            continue;
        }
        for (uint64_t m = mask[i] & (mask[i] - 1); m; m &= m - 1)
            if (!read_varint(&at, u->offsets_end, &ignored)) return false;
    }
    return at == u->offsets_end;
}

bool pl_unpack_offsets(pl_unpacker *u, uint32_t row, int64_t *offset, const char **why)
{
    const uint64_t *mask = pl_unpack_column(u, PL_PM_MASK, why), *access;
    if (!mask || !(access = pl_unpack_column(u, PL_PM_ACCESS, why))) return false;
    if (!u->row_offsets && !find_offsets(u, mask, access, why)) {
        free(u->row_offsets);
        free(u->row_is_bits);
        u->row_offsets = NULL;
        u->row_is_bits = NULL;
        return false;
    }
    *why = damaged;
    const uint8_t *at = u->row_offsets[row];
    if (!at || !mask[row]) return false;
    uint64_t sum = 0, v;
    offset[__builtin_ctzll(mask[row])] = 0;
    int64_t value[PL_PACKED_LANES];
    unsigned k = 0;
    if (u->row_is_bits[row] &&
        !read_bit_list(&at, u->offsets_end, (unsigned)__builtin_popcountll(mask[row]) - 1, value))
        return false;
    for (uint64_t m = mask[row] & (mask[row] - 1); m; m &= m - 1) {
        if (u->row_is_bits[row]) {
            offset[__builtin_ctzll(m)] = value[k++];
            continue;
        }
        if (!read_varint(&at, u->offsets_end, &v)) return false;
        sum += pl_unzigzag(v);
        offset[__builtin_ctzll(m)] = (int64_t)sum;
    }
    return true;
}

static char *put_number(char *p, int64_t v)
{
    char digit[24];
    int n = 0;
    uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    if (v < 0) *p++ = '-';
    do digit[n++] = (char)('0' + u % 10);
    while (u /= 10);
    while (n) *p++ = digit[--n];
    return p;
}

size_t pl_packed_offsets_text(char *buf, uint64_t mask, const int64_t *offset)
{
    const unsigned lanes = mask >> PL_LANES ? PL_TRACED_LANES : PL_LANES;
    char *p = buf;
    *p++ = '[';
    for (unsigned i = 0; i < lanes; i++) {
        if (i) *p++ = ',';
        if (mask >> i & 1) {
            p = put_number(p, offset[i]);
        } else {
            memcpy(p, "null", 4);
            p += 4;
        }
    }
    *p++ = ']';
    return (size_t)(p - buf);
}

void pl_unpack_close(pl_unpacker *u)
{
    for (unsigned c = 0; c < PL_PACKED_COLUMNS; c++) free(u->column[c]);
    free((void *)(uintptr_t)u->bytes);
    free(u->warp);
    free(u->row_offsets);
    free(u->row_is_bits);
    *u = (pl_unpacker){0};
}
