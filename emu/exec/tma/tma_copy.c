/* tma_copy.c - the bytes that a tensor copy moves. See tma_copy.h.
 *
 * All of this was derived from byte maps of some 1,900 copies (H200, driver 580.159.04, 2026-11;
 * tests/data/probes tma.*). Where they differ from the PTX manual, the recording takes precedence:
 *   - rows are consecutive in shared memory; with a swizzle each starts at a multiple of the
 *     swizzle's span
 *   - the swizzle permutes 16-byte pieces by the address in shared memory, regardless of the start
 *     of the tile
 *   - the first element stride only has an effect in interleaved tensors
 *   - interleaved tensors are boxes of slices of 16 or 32 bytes; of the dimension before the last,
 *     that of the slices' index, only the coordinate is used
 *   - loads read elements up to the last one of a row; stores write up to the next multiple of 16
 *     bytes
 *   - NaN fill is the pattern 0x7ff7 in every 16 bits
 *
 * Packed types (.b4x16, .b4x16_p64, .b6x16_p32) of sm_100 follow the manual ("Sub-byte Types"): a
 * piece holds the contents of 8 or 12 bytes of global memory, and padding, which is written as
 * zeros. An mbarrier counts the bytes without padding, as in CUTLASS 4. Not recorded either.
 *
 * The modes im2col::w of sm_100 follow the manual ("im2col::w and im2col::w::128 modes"). Pixels
 * are consecutive along the width, then in the next image at the same height and depth. The halo
 * consists of the next pixels in that order, after the last pixel or, for im2col::w::128, after
 * every 32. The offset moves the box and the first pixel. They have not been compared with
 * hardware. Read next: op_tma.c. */
#include "emu/exec/tma/tma_copy.h"

#include <string.h>

#include "emu/exec/async/async.h"
#include "emu/exec/memory/atomic_ops.h"

enum { PIECE = 16, WIDE_PIXELS = 128, WIDE_GROUP = 32 };

/* ---- location of the bytes ---- */

/* 128-byte swizzles have atoms of 16 (recorded), 32, 32 with exchanged halves, or 64 bytes (PTX ISA
 * 9.0, "Swizzling Modes"). */
static uint32_t swizzled(const pl_tensormap *m, uint32_t at)
{
    if (m->swizzle == 3 && m->atomicity == 3) return at ^ (at >> 1 & 0x40u);
    if (m->swizzle == 3 && m->atomicity) return at ^ (at >> 2 & 0x60u);
    return at ^ ((at >> 7 & ((1u << m->swizzle) - 1)) << 4);
}

static uint32_t row_bytes(const pl_tensormap *m)
{
    if (m->interleave) return 16u * m->interleave;
    return (m->mode == PL_TENSOR_TILED ? m->box[0] : m->channels) * m->padded_bits / 8;
}

/* Bytes of global memory that correspond to n bytes in shared memory: without padding. */
static int64_t unpadded(const pl_tensormap *m, int64_t n)
{
    return m->bits == m->padded_bits ? n : n * m->bits / m->padded_bits;
}

static uint32_t row_pitch(const pl_tensormap *m)
{
    return !m->interleave && m->swizzle ? 16u << m->swizzle : row_bytes(m);
}

/* Elements of a box along a dimension. */
static uint32_t steps(const pl_tma_copy *c, unsigned k)
{
    const pl_tensormap *m = &c->map;
    if (c->rows4) return k == 1 ? 4 : 1;
    if (m->interleave && k == m->rank - 2) return 1;
    return (m->box[k] + m->step[k] - 1) / m->step[k];
}

static uint32_t rows(const pl_tma_copy *c)
{
    const pl_tensormap *m = &c->map;
    if (c->wide == PL_TMA_WIDE_128) return WIDE_PIXELS + WIDE_PIXELS / WIDE_GROUP * c->halo;
    if (m->mode != PL_TENSOR_TILED) return m->pixels + c->halo;
    uint32_t n = 1;
    for (unsigned k = m->interleave ? 0 : 1; k < m->rank; k++) n *= steps(c, k);
    return n;
}

uint32_t pl_tma_bytes(const pl_tma_copy *c)
{
    return rows(c) * (uint32_t)unpadded(&c->map, row_bytes(&c->map));
}

uint32_t pl_tma_extent(const pl_tma_copy *c)
{
    /* swizzling moves pieces within aligned spans, which the tile's alignment contains */
    uint32_t span = c->map.swizzle ? 16u << c->map.swizzle : PIECE,
             n = rows(c) * row_pitch(&c->map);
    return (n + span - 1) / span * span;
}

/* One row: `inside` is true if its position is within the tensor in all dimensions but the
 * first. */
static bool walk_row(const pl_tma_copy *c, uint32_t row, const int64_t *coord,
                     bool (*fn)(void *, const pl_tma_piece *), void *ctx)
{
    const pl_tensormap *m = &c->map;
    uint32_t bytes = row_bytes(m), at = c->at + row * row_pitch(m);
    uint64_t address = m->address;
    bool inside = true;
    for (unsigned k = m->interleave ? 0 : 1; k < m->rank; k++) {
        inside &= coord[k] >= 0 && (uint64_t)coord[k] < m->dim[k];
        address += (uint64_t)coord[k] * m->stride[k];
    }
    const int64_t piece = unpadded(m, PIECE);
    const int64_t first = m->interleave ? 0 : coord[0] * m->bits / 8; /* byte in the tensor's row */
    int64_t end = m->interleave ? unpadded(m, bytes) : (int64_t)(m->dim[0] * m->bits / 8);
    if (c->kind != PL_TMA_LOAD) end = (end + piece - 1) / piece * piece;
    for (uint32_t b = 0; b < bytes; b += PIECE) {
        const int64_t from = first + unpadded(m, b), left = end - from;
        const bool none = !inside || from < 0 || left <= 0;
        const pl_tma_piece p = {.shared = swizzled(m, at + b),
                                .valid = none           ? 0
                                         : left < piece ? (uint32_t)left
                                                        : (uint32_t)piece,
                                .address = address + (uint64_t)from};
        if (!fn(ctx, &p)) return false;
    }
    return true;
}

/* A box: the first dimension varies fastest. */
static bool walk_tiled(const pl_tma_copy *c, bool (*fn)(void *, const pl_tma_piece *), void *ctx)
{
    const pl_tensormap *m = &c->map;
    unsigned first = m->interleave ? 0 : 1;
    uint32_t index[PL_TENSOR_DIMS] = {0}, row = 0;
    for (;;) {
        int64_t coord[PL_TENSOR_DIMS];
        for (unsigned k = 0; k < m->rank; k++)
            coord[k] = (int64_t)c->coord[k] + (k >= first ? (int64_t)index[k] * m->step[k] : 0);
        if (c->rows4) coord[1] = c->coord[1 + index[1]];
        if (!walk_row(c, row++, coord, fn, ctx)) return false;
        unsigned k = first;
        while (k < m->rank && ++index[k] == steps(c, k)) index[k++] = 0;
        if (k >= m->rank) return true;
    }
}

/* Columns of an image: pixels are consecutive inside of the bounding box, then in the next image.
 * The dimensions of a pixel's position follow the channels, or come first if the channels are
 * interleaved. */
static unsigned first_position(const pl_tensormap *m)
{
    return m->interleave ? 0 : 1;
}

/* Corners are relative to the first and the last pixel. */
static int64_t last_in_box(const pl_tensormap *m, unsigned k)
{
    return (int64_t)(int32_t)(uint32_t)(m->dim[first_position(m) + k] - 1) + m->upper[k];
}

static bool walk_im2col(const pl_tma_copy *c, bool (*fn)(void *, const pl_tma_piece *), void *ctx)
{
    const pl_tensormap *m = &c->map;
    unsigned n = m->rank - 2, x = first_position(m);
    int64_t at[PL_TENSOR_DIMS], coord[PL_TENSOR_DIMS];
    for (unsigned k = 0; k < m->rank; k++) at[k] = c->coord[k];
    for (uint32_t p = 0; p < m->pixels; p++) {
        memcpy(coord, at, sizeof coord);
        for (unsigned k = 0; k < n && c->kind == PL_TMA_LOAD; k++) coord[x + k] += c->offset[k];
        if (!walk_row(c, p, coord, fn, ctx)) return false;
        unsigned k = 0;
        for (; k < n; k++) {
            at[x + k] += m->step[x + k];
            if (at[x + k] <= last_in_box(m, k)) break;
            at[x + k] = m->lower[k];
        }
        if (k == n) at[n + 1]++;
    }
    return true;
}

/* Advances one pixel along the width, or to the next image. */
static void next_wide(const pl_tma_copy *c, int64_t *at)
{
    const pl_tensormap *m = &c->map;
    unsigned x = first_position(m);
    int32_t moved = (int16_t)c->offset[0];
    at[x] += m->step[x];
    if (at[x] <= last_in_box(m, 0) + moved) return;
    at[x] = m->lower[0] + moved;
    at[m->rank - 1]++;
}

static bool walk_wide(const pl_tma_copy *c, bool (*fn)(void *, const pl_tma_piece *), void *ctx)
{
    uint32_t pixels = c->wide == PL_TMA_WIDE_128 ? WIDE_PIXELS : c->map.pixels,
             group = c->wide == PL_TMA_WIDE_128 ? WIDE_GROUP : pixels, row = 0;
    int64_t at[PL_TENSOR_DIMS] = {0}, ahead[PL_TENSOR_DIMS];
    for (unsigned k = 0; k < c->map.rank; k++) at[k] = c->coord[k];
    at[first_position(&c->map)] += (int16_t)c->offset[0];
    for (uint32_t p = 0; p < pixels; p++) {
        if (!walk_row(c, row++, at, fn, ctx)) return false;
        next_wide(c, at);
        if ((p + 1) % group) continue;
        memcpy(ahead, at, sizeof ahead);
        for (uint32_t h = 0; h < c->halo; h++, next_wide(c, ahead))
            if (!walk_row(c, row++, ahead, fn, ctx)) return false;
    }
    return true;
}

bool pl_tma_walk(const pl_tma_copy *c, bool (*fn)(void *, const pl_tma_piece *), void *ctx)
{
    return c->wide                          ? walk_wide(c, fn, ctx)
           : c->map.mode == PL_TENSOR_TILED ? walk_tiled(c, fn, ctx)
                                            : walk_im2col(c, fn, ctx);
}

/* ---- validation ---- */

/* Element types of reductions in terms of the atomic operations, and the supported operations; all
 * others are illegal instructions (recorded for all types and operations). */
typedef struct reduction {
    int16_t type;
    bool add, minmax, count, bits;
} reduction;

static reduction reduction_of(uint8_t type)
{
    static const reduction known[] = {[PL_TENSOR_U32] = {W_u32, true, true, true, true},
                                      [PL_TENSOR_S32] = {W_s32, true, true, false, true},
                                      [PL_TENSOR_U64] = {W_u64, true, true, false, true},
                                      [PL_TENSOR_S64] = {W_s64, false, true, false, false},
                                      [PL_TENSOR_F16] = {W_f16, true, true, false, false},
                                      [PL_TENSOR_F32] = {W_f32, true, false, false, false},
                                      [PL_TENSOR_F64] = {W_f64, true, false, false, false},
                                      [PL_TENSOR_BF16] = {W_bf16, true, true, false, false},
                                      [PL_TENSOR_F32_FTZ] = {W_f32, true, false, false, false},
                                      [PL_TENSOR_TF32] = {W_f32, true, false, false, false},
                                      [PL_TENSOR_TF32_FTZ] = {W_f32, true, false, false, false}};
    return type < sizeof known / sizeof *known ? known[type] : (reduction){0};
}

static bool is_reducible(uint8_t type, int op)
{
    reduction r = reduction_of(type);
    switch (op) {
    case W_add: return r.add;
    case W_min:
    case W_max: return r.minmax;
    case W_inc:
    case W_dec: return r.count;
    default: return r.bits;
    }
}

const char *pl_tma_error(const pl_tma_copy *c)
{
    const pl_tensormap *m = &c->map;
    if (!m->interleave && (int64_t)c->coord[0] * m->padded_bits % (PIECE * 8))
        return "the first coordinate is not at a multiple of 16 bytes";
    if (m->bits != m->padded_bits && c->coord[0] % 128)
        return "the first coordinate of a padded type is not a multiple of 128";
    if (m->type == PL_TENSOR_B4X16_P64 && c->kind != PL_TMA_LOAD)
        return "the element type cannot be stored";
    for (unsigned k = 0; k < (c->rows4 ? PL_TENSOR_DIMS : m->rank) && c->kind != PL_TMA_LOAD; k++)
        if (c->coord[k] < 0) return "a store has a negative coordinate";
    if (c->wide && (!m->swizzle || (m->swizzle == 3 && m->atomicity == 2)))
        return "im2col::w needs a swizzle, and not the one of 128 bytes that exchanges halves";
    if (c->wide && c->coord[first_position(m)] > last_in_box(m, 0))
        return "the first pixel is to the right of the bounding box";
    for (unsigned k = 0; !c->wide && m->mode != PL_TENSOR_TILED && k + 2 < m->rank; k++) {
        int64_t at = c->coord[first_position(m) + k];
        if (at < m->lower[k] || at > last_in_box(m, k))
            return "the first pixel is outside the bounding box";
        if (c->kind != PL_TMA_LOAD && m->lower[k] < 0)
            return "a store reaches negative coordinates";
    }
    if (c->kind == PL_TMA_REDUCE && !is_reducible(m->type, c->op))
        return "the reduction does not exist for the element type";
    return NULL;
}

/* ---- data movement ---- */

typedef struct transfer {
    const pl_tma_copy *c;
    const pl_alloc *last_alloc;
    bool matched; /* the inspected data contained the searched value */
} transfer;

static uint8_t *tile_at(const transfer *v, uint32_t shared)
{
    return v->c->tile + (shared - v->c->at);
}

static uint8_t *global_at(transfer *v, uint64_t address)
{
    if (!v->last_alloc || address - v->last_alloc->address >= v->last_alloc->size)
        v->last_alloc = pl_memory_find(v->c->memory, address);
    return v->last_alloc ? v->last_alloc->bytes + (address - v->last_alloc->address) : NULL;
}

/* Loads round to the 10 bits of tf32, to nearest even; a NaN becomes the one with all remaining
 * bits set. Stores do not convert, and neither do the types whose name implies that subnormals are
 * flushed (recorded). */
static void convert(uint8_t type, uint8_t *bytes)
{
    const bool tf32 = type == PL_TENSOR_TF32 || type == PL_TENSOR_TF32_FTZ;
    for (unsigned k = 0; k < PIECE && tf32; k += 4) {
        uint32_t v;
        memcpy(&v, bytes + k, 4);
        v = (v & 0x7fffffffu) > 0x7f800000u ? 0x7fffe000u : (v + 0xfffu + (v >> 13 & 1)) & ~0x1fffu;
        memcpy(bytes + k, &v, 4);
    }
}

static bool load_piece(void *ctx, const pl_tma_piece *p)
{
    transfer *v = ctx;
    uint8_t bytes[PIECE] = {0};
    if (p->valid) {
        memcpy(bytes, global_at(v, p->address), p->valid);
        v->matched |= pl_inspect_matches((pl_inspect)v->c->inspect, bytes, p->valid);
        convert(v->c->map.type, bytes);
    }
    for (uint32_t k = p->valid; k < PIECE && v->c->map.fill; k++) bytes[k] = k & 1 ? 0x7f : 0xf7;
    /* the third kind of 128-byte swizzle exchanges the halves of a piece in every second row */
    if (v->c->map.swizzle == 3 && v->c->map.atomicity == 2 && p->shared & 128) {
        uint8_t half[PIECE / 2];
        memcpy(half, bytes, sizeof half);
        memcpy(bytes, bytes + PIECE / 2, sizeof half);
        memcpy(bytes + PIECE / 2, half, sizeof half);
    }
    memcpy(tile_at(v, p->shared), bytes, PIECE);
    return true;
}

static void fetch_shared(const transfer *v, const pl_tma_piece *p, uint8_t *bytes)
{
    bool halves = v->c->map.swizzle == 3 && v->c->map.atomicity == 2 && p->shared & 128;
    const uint8_t *from = tile_at(v, p->shared);
    memcpy(bytes, from + (halves ? PIECE / 2 : 0), PIECE / 2);
    memcpy(bytes + PIECE / 2, from + (halves ? 0 : PIECE / 2), PIECE / 2);
}

/* Packs sixteen elements of 6 bits, each in the low bits of a byte. */
static void pack_sixes(uint8_t *bytes)
{
    for (unsigned k = 0; k < PIECE; k += 4) {
        const uint32_t v = (bytes[k] & 63u) | (bytes[k + 1] & 63u) << 6 |
                           (bytes[k + 2] & 63u) << 12 | (bytes[k + 3] & 63u) << 18;
        uint8_t *to = bytes + k / 4 * 3;
        to[0] = (uint8_t)v;
        to[1] = (uint8_t)(v >> 8);
        to[2] = (uint8_t)(v >> 16);
    }
}

static bool store_piece(void *ctx, const pl_tma_piece *p)
{
    transfer *v = ctx;
    uint8_t bytes[PIECE];
    fetch_shared(v, p, bytes);
    if (v->c->map.type == PL_TENSOR_B6X16_P32) pack_sixes(bytes);
    if (p->valid) memcpy(global_at(v, p->address), bytes, p->valid);
    return true;
}

static bool reduce_piece(void *ctx, const pl_tma_piece *p)
{
    transfer *v = ctx;
    uint8_t bytes[PIECE], *to = p->valid ? global_at(v, p->address) : NULL;
    unsigned size = 1u << v->c->map.log2;
    /* unlike atomics, plain f32 keeps subnormals (recorded) */
    const bool keeps = v->c->map.type == PL_TENSOR_F32 || v->c->map.type == PL_TENSOR_TF32;
    const pl_atomic_arith arith = keeps ? PL_ATOMIC_SHARED : PL_ATOMIC_GLOBAL;
    fetch_shared(v, p, bytes);
    for (unsigned k = 0; k + size <= p->valid; k += size) {
        uint64_t old = 0, value = 0;
        memcpy(&old, to + k, size);
        memcpy(&value, bytes + k, size);
        value = pl_atomic_step(v->c->op, reduction_of(v->c->map.type).type, arith, old, value, 0);
        memcpy(to + k, &value, size);
    }
    return true;
}

bool pl_tma_apply(const pl_tma_copy *c)
{
    transfer v = {.c = c};
    pl_tma_walk(c,
                c->kind == PL_TMA_LOAD    ? load_piece
                : c->kind == PL_TMA_STORE ? store_piece
                                          : reduce_piece,
                &v);
    return v.matched;
}
