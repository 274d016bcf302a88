/* wgmma.c - wgmma: operands in shared memory, located by 64-bit matrix descriptors.
 *
 *   63 62 | 51 49 | 45 ...... 32 | 29 ........ 16 | 13 ....... 0
 *   swizzle  base    stride >> 4    leading >> 4    address >> 4
 *
 * A matrix is a grid of core matrices of 8 lines by 16 bytes. Without a swizzle the 8 lines are
 * contiguous (128 bytes). With a swizzle of W = 32, 64 or 128 bytes they are W bytes apart, and
 * several core matrices share the W bytes of a line. Bits of the final address are then exchanged
 * so that the 8 lines map to different banks: address bits 4-6 (as many as W has) ^= bits 7-9, less
 * the base offset. That offset is the number of 128-byte rows by which the pattern is displaced.
 *
 *                    K-major (a line is along k)      MN-major (transposed; a line is along m or n)
 *   no swizzle       next 16 bytes of k: leading      next 8 of k: leading
 *                    next 8 of m/n: stride            next 16 bytes of m/n: stride
 *   swizzle W        next 16 bytes of k: +16          next 8 of k: stride
 *                    next 8 of m/n: stride            next W bytes of m/n: leading
 *
 * (PTX manual 9.7.15.5; every row of the table was read back on an H200, driver 580.159.04,
 * 2026-11, by multiplying with a unit matrix.) */
#include "emu/exec/mma/mma.h"

#include <string.h>

enum { N = PL_TENSOR_N, LANES = PL_TENSOR_LANES };

pl_wgmma_desc pl_wgmma_decode(uint64_t descriptor)
{
    return (pl_wgmma_desc){
        .start = (uint32_t)(descriptor & 0x3fff) << 4,
        .lead = (uint32_t)(descriptor >> 16 & 0x3fff) << 4,
        .stride = (uint32_t)(descriptor >> 32 & 0x3fff) << 4,
        .base = (uint32_t)(descriptor >> 49 & 7),
        .swizzle = (pl_wgmma_swizzle)(descriptor >> 62),
    };
}

uint32_t pl_wgmma_address(const pl_wgmma_desc *desc, int bits, bool transposed, int mn, int k)
{
    static const uint32_t widths[] = {16, 128, 64, 32, 128}, masks[] = {0, 7, 3, 1, 3};
    const bool by_32 = desc->swizzle == PL_WS_128_BY_32;
    const uint32_t width = widths[desc->swizzle], mask = masks[desc->swizzle],
                   lines = by_32 ? 4 : 8;
    uint32_t along = (uint32_t)((transposed ? mn : k) * bits) / 8; /* bytes along the lines */
    const uint32_t line = (uint32_t)(transposed ? k : mn);
    uint32_t start = desc->start;
    if (desc->absolute && start % width + along >= width) {
        along -= width - start % width;
        start = desc->lead;
    }
    uint32_t at = start + line % lines * width + along % width;
    if (desc->swizzle == PL_WS_NONE)
        at += transposed ? line / 8 * desc->lead + along / width * desc->stride
                         : line / 8 * desc->stride + along / width * desc->lead;
    else
        at += line / lines * desc->stride + along / width * desc->lead;
    if (by_32) return (at ^ (((at >> 7) - desc->base) & mask) << 5) & 0x3ffff;
    return (at ^ (((at >> 7) - desc->base) & mask) << 4) & 0x3ffff;
}

int pl_wgmma_d_regs(const pl_wgmma_op *op)
{
    return op->d == PL_TT_F16 ? op->n / 4 : op->n / 2;
}

/* ------------------------------------------------------------------ operands */

static uint32_t element_at(const uint8_t *p, int bits)
{
    if (bits == 8) return p[0];
    if (bits == 16) return (uint32_t)p[0] | (uint32_t)p[1] << 8;
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Element E of a piece of 16 bytes. Packed e2m1 elements are in bits 2 to 5 of their byte. */
static uint32_t element_of_piece(const pl_matrix_source *s, const uint8_t *piece, int e)
{
    if (s->in_byte == 4) return (uint32_t)(piece[e / 2] >> 4 * (e & 1) & 15) << 2;
    if (s->in_byte == 6) {
        const int at = 6 * e;
        return ((uint32_t)piece[at / 8] | (uint32_t)piece[at / 8 + 1] << 8) >> at % 8 & 63;
    }
    if (s->bits == 4) return piece[e / 2] >> 4 * (e & 1) & 15;
    return element_at(piece + e * s->bits / 8, s->bits);
}

/* A swizzle moves pieces of 16 bytes as a unit, so one address serves all elements of a piece. */
bool pl_matrix_fetch(const pl_matrix_source *s, int first, int lines, int k, uint32_t *out,
                     int line_step, int k_step, uint32_t *fault)
{
    const int per = 128 / s->bits;
    const int di = s->trans ? per : 1, dj = s->trans ? 1 : per; /* step between pieces */
    const int step = s->trans ? line_step : k_step;             /* step within a piece */
    for (int i = 0; i < lines; i += di) {
        for (int j = 0; j < k; j += dj) {
            const uint32_t at = pl_wgmma_address(&s->desc, s->bits, s->trans, first + i, j);
            if (at + 16 > s->size) {
                *fault = at;
                return false;
            }
            if (!out) continue;
            uint32_t *to = out + i * line_step + j * k_step;
            for (int e = 0; e < per; e++)
                to[e * step] = element_of_piece(s, s->shared + at, e) ^ s->negate;
        }
    }
    return true;
}

static int fetched_bits(pl_tensor_type t)
{
    return t == PL_TT_B1 ? 32 : pl_tensor_bits(t);
}

/* A from registers: the quad layout of a 16-row matrix. */
static void from_registers(const uint32_t *const *regs, int k, int bits, uint32_t negate,
                           uint32_t *out)
{
    const int per = 32 / bits;
    for (int r = 0; r < 4; r++)
        for (int l = 0; l < LANES; l++)
            for (int j = 0; j < per; j++) {
                const int row = l / 4 + 8 * (r & 1), col = l % 4 * per + j + 4 * per * (r >> 1);
                const uint32_t x = regs[r][l] >> (bits * j & 31);
                out[row * k + col] = (bits == 32 ? x : x & ((1u << bits) - 1)) ^ negate;
            }
}

int pl_wgmma_sources(const pl_wgmma_op *op, uint64_t a_desc, uint64_t b_desc, const uint8_t *shared,
                     uint32_t shared_size, pl_matrix_source *a, pl_matrix_source *b)
{
    const int bits_a = fetched_bits(op->a), bits_b = fetched_bits(op->b);
    *a = (pl_matrix_source){.desc = pl_wgmma_decode(a_desc),
                            .bits = bits_a,
                            .trans = op->a_trans,
                            .negate = op->negate_a ? 1u << (bits_a - 1) : 0,
                            .shared = shared,
                            .size = shared_size};
    *b = (pl_matrix_source){.desc = pl_wgmma_decode(b_desc),
                            .bits = bits_b,
                            .trans = op->b_trans,
                            .negate = op->negate_b ? 1u << (bits_b - 1) : 0,
                            .shared = shared,
                            .size = shared_size};
    return op->a == PL_TT_B1 ? op->k / 32 : op->k;
}

/* Registers of D for one tile of 16 x N: f16 values are in pairs. */
static int registers_per_tile(const pl_wgmma_op *op)
{
    return op->d == PL_TT_F16 ? 2 : 4;
}

/* Reads a tile of D; 0 without scale_d. */
static void read_tile(const pl_wgmma_op *op, uint32_t *const *tile, uint32_t (*sum)[N])
{
    const bool half = op->d == PL_TT_F16;
    for (int r = 0; r < registers_per_tile(op); r++)
        for (int l = 0; l < LANES; l++) {
            const int row = l / 4 + 8 * (half ? r : r >> 1), col = l % 4 * 2;
            const uint32_t x = op->scale_d ? tile[r][l] : 0;
            if (half) {
                sum[row][col] = x & 0xffff;
                sum[row][col + 1] = x >> 16;
            } else {
                sum[row][col + (r & 1)] = x;
            }
        }
}

static void write_tile(const pl_wgmma_op *op, uint32_t (*result)[N], uint32_t *const *tile)
{
    const bool half = op->d == PL_TT_F16;
    for (int r = 0; r < registers_per_tile(op); r++)
        for (int l = 0; l < LANES; l++) {
            const int row = l / 4 + 8 * (half ? r : r >> 1), col = l % 4 * 2;
            tile[r][l] =
                half ? result[row][col] | result[row][col + 1] << 16 : result[row][col + (r & 1)];
        }
}

bool pl_wgmma_warp(const pl_wgmma_op *op, int warp, uint32_t *const *d,
                   const uint32_t *const *a_regs, uint64_t a_desc, uint64_t b_desc,
                   const uint32_t *meta, const uint8_t *shared, uint32_t shared_size,
                   uint32_t *fault)
{
    const pl_tensor_op as_mma = {.family = PL_TF_WGMMA,
                                 .gen = op->gen,
                                 .m = 64,
                                 .n = op->n,
                                 .k = op->k,
                                 .a = op->a,
                                 .b = op->b,
                                 .c = op->d,
                                 .d = op->d,
                                 .saturate = op->saturate,
                                 .bits_and = true};
    const pl_tensor_num num = pl_tensor_number(&as_mma);
    pl_matrix_source a, b;
    const int k = pl_wgmma_sources(op, a_desc, b_desc, shared, shared_size, &a, &b),
              ka = op->sparse ? k / 2 : k;
    const int per_tile = registers_per_tile(op);
    pl_mma_left_factor left;
    uint32_t right[PL_TENSOR_MAX_K][N], sum[16][N], result[16][N];

    left.m = 16;
    left.k = ka;
    if (a_regs)
        from_registers(a_regs, ka, a.bits, a.negate, left.raw);
    else if (!pl_matrix_fetch(&a, 16 * warp, 16, ka, left.raw, ka, 1, fault))
        return false;
    for (int t = 0; t < op->n / N; t++) /* check for all faults first: D must stay unchanged */
        if (!pl_matrix_fetch(&b, t * N, N, k, NULL, 1, N, fault)) return false;
    pl_tensor_prepare(&num, &left);
    for (int t = 0; t < op->n / N; t++) {
        uint32_t *const *tile = d + t * per_tile;
        pl_matrix_fetch(&b, t * N, N, k, right[0], 1, N, fault);
        read_tile(op, tile, sum);
        if (op->sparse)
            pl_tensor_sparse_tile(&num, op->selector, meta, &left, (const uint32_t(*)[N])right,
                                  (const uint32_t(*)[N])sum, result);
        else
            pl_tensor_tile(&num, &left, (const uint32_t(*)[N])right, (const uint32_t(*)[N])sum,
                           result);
        write_tile(op, result, tile);
    }
    return true;
}
