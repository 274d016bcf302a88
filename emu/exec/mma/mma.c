/* mma.c - mma and wmma: gather the fragments of a warp, multiply tile by tile, scatter.
 *
 * fragment_layout.c maps elements to registers, and dot_product.c computes a tile of results. This
 * file holds the table of arithmetic by generation and the loops that connect the two. */
#include "emu/exec/mma/mma.h"

#include <string.h>

enum { N = PL_TENSOR_N, LANES = PL_TENSOR_LANES };

pl_tensor_gen pl_tensor_gen_of(int sm)
{
    if (sm < 75) return PL_TG_V100;
    if (sm < 80) return PL_TG_T4;
    if (sm < 89) return PL_TG_A100;
    if (sm < 90) return PL_TG_RTX40;
    if (sm < 100) return PL_TG_H100;
    if (sm < 120) return PL_TG_B200;
    return PL_TG_RTX50;
}

/* Widths by generation: fraction bits of the alignment grid, and bytes of A's row per fused sum.
 * V100, T4, A100, RTX 40 and B200, RTX 50 are published figures (arXiv 2511.10909, 2512.07004);
 * H100 is measured on an H200. */
static const struct {
    int8_t frac, bytes;
} width[] = {
    [PL_TG_V100] = {23, 8},   [PL_TG_T4] = {24, 16},   [PL_TG_A100] = {24, 16},
    [PL_TG_RTX40] = {24, 16}, [PL_TG_H100] = {25, 32}, [PL_TG_B200] = {25, 32},
    [PL_TG_RTX50] = {25, 32},
};

pl_tensor_num pl_tensor_number(const pl_tensor_op *op)
{
    pl_tensor_num num = {.a = op->a,
                         .b = op->b,
                         .c = op->c,
                         .d = op->d,
                         .rule = PL_TR_FUSED,
                         .round = op->d == PL_TT_F16 ? PL_TO_F16_RN : PL_TO_F32_RZ,
                         .saturate = op->saturate,
                         .bits_and = op->bits_and};
    const bool fp8 = op->a == PL_TT_E4M3 || op->a == PL_TT_E5M2;
    switch (op->a) {
    case PL_TT_F64: num.rule = PL_TR_F64; return num;
    case PL_TT_B1: num.rule = PL_TR_BITS; return num;
    case PL_TT_S8:
    case PL_TT_U8:
    case PL_TT_S4:
    case PL_TT_U4: num.rule = PL_TR_INT; return num;
    default: break;
    }
    num.frac = width[op->gen].frac;
    if (op->scale_a && op->scale_a->ue4m3) num.factor_frac = 6;
    num.block = width[op->gen].bytes * 8 / pl_tensor_bits(op->a);
    if (op->family == PL_TF_MMA && op->m == 8 && op->gen >= PL_TG_A100) num.rule = PL_TR_FMA4;
    if (op->family == PL_TF_MMA && op->m == 8 && op->gen == PL_TG_T4) num.block = 4;
    if (fp8 && op->family == PL_TF_MMA && (op->gen == PL_TG_H100 || op->gen == PL_TG_B200))
        num.rule = PL_TR_FP8_F16;
    if (fp8 && (op->gen == PL_TG_RTX40 || (op->gen == PL_TG_H100 && op->family == PL_TF_WGMMA))) {
        num.frac = 13;
        if (op->d == PL_TT_F32) num.round = PL_TO_E8M13_RZ;
    }
    return num;
}

/* ------------------------------------------------------------------ block scales */

typedef pl_tensor_scales scales;

/* ue8m0 is a power of two, ue4m3 an unsigned float with three fraction bits; the top code of both
 * is a NaN. */
void pl_tensor_scale_set(pl_tensor_scales *s, int line, int at, uint32_t code, bool ue4m3)
{
    const uint32_t x = code & (ue4m3 ? 0x7f : 0xff);
    const int e = (int)(x >> 3), m = (int)(x & 7);
    if (at == 0) s->nan[line] = false;
    s->nan[line] |= x == (ue4m3 ? 0x7f : 0xff);
    s->sig[line][at] = ue4m3 ? (e ? 8 + m : m) : 1;
    s->exp[line][at] = ue4m3 ? (e ? e : 1) - 7 : (int)x - 127;
}

/* A's scales are in two lanes of each quad, for rows r and r + 8; B's are in one. The choice of
 * lanes was measured by others on an RTX 5090, and agrees with CUTLASS' SM120 layouts; not recorded
 * here. */
static void read_scales(const pl_tensor_scale *from, int lines, scales *s)
{
    s->count = from->count;
    for (int i = 0; i < lines; i++) {
        const int lane =
            lines == N ? 4 * i + from->lane : 4 * (i % 8) + 2 * (from->lane & 1) + i / 8;
        for (int c = 0; c < from->count; c++)
            pl_tensor_scale_set(s, i, c, from->row[lane] >> 8 * ((from->byte + c) & 3),
                                from->ue4m3);
    }
}

/* Applies a scale to the element stored at index I in row ROW of LEFT, which represents position AT
 * of K. */
static void scale_left(pl_mma_left_factor *left, int row, int i, const scales *s, int line, int at,
                       int k)
{
    const int c = at * s->count / k;
    left->sig[row * left->k + i] *= s->sig[line][c];
    left->exp[row * left->k + i] += s->exp[line][c];
}

static void scale_right(pl_tensor_factors *f, int i, const scales *s, int at, int k)
{
    for (int j = 0; j < N; j++) {
        f->sig[i][j] = s->sig[j][at * s->count / k];
        f->exp[i][j] = s->exp[j][at * s->count / k];
    }
}

/* Sets every result with a NaN scale among its operands to NaN. */
static void scale_nans(const scales *a, const scales *b, int m, uint32_t (*d)[N])
{
    for (int r = 0; r < m; r++)
        for (int j = 0; j < N; j++)
            if (a->nan[r] || b->nan[j]) d[r][j] = 0x7fffffff;
}

void pl_tensor_scaled_tile(const pl_tensor_num *num, pl_mma_left_factor *left,
                           const pl_tensor_scales *a, const pl_tensor_scales *b,
                           const uint32_t (*right)[N], uint32_t (*sum)[N])
{
    pl_tensor_factors factors;
    pl_tensor_num scaled = *num;
    for (int i = 0; i < left->k; i++) {
        scale_right(&factors, i, b, i, left->k);
        for (int r = 0; r < left->m; r++) scale_left(left, r, i, a, r, i, left->k);
    }
    scaled.factors = &factors;
    pl_tensor_tile(&scaled, left, right, (const uint32_t(*)[N])sum, sum);
    scale_nans(a, b, left->m, sum);
}

/* ------------------------------------------------------------------ one quad-layout product */

/* Unpacks the elements of a quad-layout matrix of LINES rows and K elements along k into
 * OUT[line][k], or OUT[k][line] for the right-hand side. PER is a constant in each of the copies
 * below. */
__attribute__((always_inline)) static inline void unpack_per(uint32_t *out, const void *const *regs,
                                                             int lines, int k, int per,
                                                             int line_step, int k_step)
{
    const int tall = lines == 16 ? 2 : 1, count = lines * k / (LANES * per), bits = 32 / per;
    const uint32_t mask = ~0u >> (32 - bits);
    for (int r = 0; r < count; r++) {
        const uint32_t *row = regs[r];
        uint32_t *base = out + 8 * (r % tall) * line_step + 4 * per * (r / tall) * k_step;
        for (int l = 0; l < LANES; l++) {
            uint32_t *at = base + l / 4 * line_step + l % 4 * per * k_step;
            for (int j = 0; j < per; j++) at[j * k_step] = row[l] >> (bits * j) & mask;
        }
    }
}

static void unpack(uint32_t *out, const void *const *regs, int lines, int k, int bits,
                   int line_step, int k_step)
{
    switch (bits) {
    case 4: unpack_per(out, regs, lines, k, 8, line_step, k_step); break;
    case 8: unpack_per(out, regs, lines, k, 4, line_step, k_step); break;
    case 16: unpack_per(out, regs, lines, k, 2, line_step, k_step); break;
    default: unpack_per(out, regs, lines, k, 1, line_step, k_step); break; /* words of b1, too */
    }
}

static void unpack_sum(uint32_t (*out)[N], const void *const *regs, int m, pl_tensor_type t)
{
    if (t == PL_TT_F16) {
        for (int r = 0; r < m / 8; r++) {
            const uint32_t *row = regs[r];
            for (int l = 0; l < LANES; l++) {
                out[l / 4 + 8 * r][l % 4 * 2] = row[l] & 0xffff;
                out[l / 4 + 8 * r][l % 4 * 2 + 1] = row[l] >> 16;
            }
        }
    } else {
        for (int r = 0; r < m / 4; r++) {
            const uint32_t *row = regs[r];
            for (int l = 0; l < LANES; l++) out[l / 4 + 8 * (r >> 1)][l % 4 * 2 + (r & 1)] = row[l];
        }
    }
}

static void pack_sum(void *const *regs, const uint32_t (*in)[N], int m, pl_tensor_type t)
{
    if (t == PL_TT_F16) {
        for (int r = 0; r < m / 8; r++) {
            uint32_t *row = regs[r];
            for (int l = 0; l < LANES; l++)
                row[l] = in[l / 4 + 8 * r][l % 4 * 2] | in[l / 4 + 8 * r][l % 4 * 2 + 1] << 16;
        }
    } else {
        for (int r = 0; r < m / 4; r++) {
            uint32_t *row = regs[r];
            for (int l = 0; l < LANES; l++) row[l] = in[l / 4 + 8 * (r >> 1)][l % 4 * 2 + (r & 1)];
        }
    }
}

/* K in the units of the tile routines: 1-bit elements are counted in words of 32. */
static int tile_k(const pl_tensor_num *num, int k)
{
    return num->a == PL_TT_B1 ? k / 32 : k;
}

static void quad_f64(int rounding, int m, int k, void *const *d, const void *const *a,
                     const void *const *b, const void *const *c)
{
    uint64_t left[16 * 16], right[16][N], sum[16][N];
    for (int l = 0; l < LANES; l++) {
        const int line = l / 4, place = l % 4;
        for (int r = 0; r < m * k / LANES; r++) {
            const int half = m == 16 ? r & 1 : 0, piece = m == 16 ? r >> 1 : r;
            left[(line + 8 * half) * k + place + 4 * piece] = ((const uint64_t *)a[r])[l];
        }
        for (int r = 0; r < k / 4; r++) right[place + 4 * r][line] = ((const uint64_t *)b[r])[l];
        for (int r = 0; r < m / 4; r++)
            sum[line + 8 * (r >> 1)][2 * place + (r & 1)] = ((const uint64_t *)c[r])[l];
    }
    pl_tensor_tile_f64(rounding, m, k, left, (const uint64_t(*)[N])right, (const uint64_t(*)[N])sum,
                       sum);
    for (int l = 0; l < LANES; l++)
        for (int r = 0; r < m / 4; r++)
            ((uint64_t *)d[r])[l] = sum[l / 4 + 8 * (r >> 1)][l % 4 * 2 + (r & 1)];
}

/* OP is only used for its block scales; K and NUM may be those of a part of it. */
static void quad_dense(const pl_tensor_op *op, const pl_tensor_num *num, int m, int k,
                       void *const *d, const void *const *a, const void *const *b,
                       const void *const *c)
{
    pl_mma_left_factor left;
    scales sa, sb;
    uint32_t right[PL_TENSOR_MAX_K][N], sum[16][N];
    left.m = m;
    left.k = tile_k(num, k);
    unpack(left.raw, a, m, left.k, pl_tensor_bits(num->a), left.k, 1);
    unpack(right[0], b, N, left.k, pl_tensor_bits(num->b), 1, N);
    unpack_sum(sum, c, m, num->c);
    pl_tensor_prepare(num, &left);
    if (op->scale_a) {
        read_scales(op->scale_a, m, &sa);
        read_scales(op->scale_b, N, &sb);
        pl_tensor_scaled_tile(num, &left, &sa, &sb, (const uint32_t(*)[N])right, sum);
    } else
        pl_tensor_tile(num, &left, (const uint32_t(*)[N])right, (const uint32_t(*)[N])sum, sum);
    pack_sum(d, (const uint32_t(*)[N])sum, m, num->d);
}

/* ------------------------------------------------------------------ sparse A */

/* The rows of B by which the stored elements of one row of A are multiplied. Sparsity is counted in
 * units, four to a chunk, of which two are stored; a 4-bit field names the two, lower field first.
 * A unit is one 8- or 16-bit element, a pair of 4-bit elements, or half of a tf32 element (whose
 * fields are therefore 0b0100 and 0b1110 only).
 *
 * Location of a row's fields (order of CUTLASS' reorder_meta; the uniform recordings agree):
 *   16-bit and tf32: each lane that holds metadata has four chunks of row `group` in its low half
 *     and of row group + 8 in its high half; the next lane has the next four chunks.
 *   8- and 4-bit: lanes alternate: eight chunks of row `group`, eight of row group + 8, then the
 *     next eight of each. */
static void chosen_rows(const pl_tensor_num *num, int k, int selector, const uint32_t *meta,
                        int row, int *rows)
{
    const int bits = pl_tensor_bits(num->a), group = row % 8, half = row / 8;
    const int chunks = bits == 32 ? k / 2 : bits == 4 ? k / 8 : k / 4;
    const int lanes = chunks * 4 * 16 / (8 * 32); /* lanes of each quad that hold metadata: 1, 2 or
                                                     4 */
    const int first = 4 * group + (lanes == 4 ? 0 : selector * lanes);
    for (int x = 0, n = 0; x < chunks; x++) {
        uint32_t field;
        if (bits >= 16)
            field = meta[first + x / 4] >> (16 * half + 4 * (x % 4));
        else
            field = meta[first + 2 * (x / 8) + half] >> (4 * (x % 8));
        if (bits == 32) {
            rows[n++] = 2 * x + (int)(field >> 1 & 1);
            continue;
        }
        for (int i = 0; i < 2; i++) {
            const int unit = (int)(field >> (2 * i) & 3);
            if (bits == 4) {
                rows[n++] = 8 * x + 2 * unit;
                rows[n++] = 8 * x + 2 * unit + 1;
            } else {
                rows[n++] = 4 * x + unit;
            }
        }
    }
}

/* A block scale applies by the position along k that an element represents. SA and SB may be
 * null. */
static void sparse_tile(const pl_tensor_num *num, int selector, const uint32_t *meta,
                        const pl_mma_left_factor *left, const scales *sa, const scales *sb,
                        const uint32_t (*b)[N], const uint32_t (*c)[N], uint32_t (*d)[N])
{
    const int k = left->k;
    int rows[PL_TENSOR_MAX_K];
    uint32_t chosen[PL_TENSOR_MAX_K][N];
    pl_tensor_factors factors;
    pl_tensor_num scaled = *num;
    pl_mma_left_factor one;
    if (sa) scaled.factors = &factors;
    one.m = 1;
    one.k = k;
    for (int r = 0; r < left->m; r++) {
        chosen_rows(num, 2 * k, selector, meta, r, rows);
        memcpy(one.raw, left->raw + r * k, sizeof(uint32_t) * (size_t)k);
        for (int i = 0; i < k; i++) memcpy(chosen[i], b[rows[i]], sizeof chosen[i]);
        pl_tensor_prepare(num, &one);
        for (int i = 0; sa && i < k; i++) {
            scale_left(&one, 0, i, sa, r, rows[i], 2 * k);
            scale_right(&factors, i, sb, rows[i], 2 * k);
        }
        pl_tensor_tile(&scaled, &one, (const uint32_t(*)[N])chosen, c + r, d + r);
    }
    if (sa) scale_nans(sa, sb, left->m, d);
}

void pl_tensor_sparse_tile(const pl_tensor_num *num, int selector, const uint32_t *meta,
                           const pl_mma_left_factor *left, const uint32_t (*b)[N],
                           const uint32_t (*c)[N], uint32_t (*d)[N])
{
    sparse_tile(num, selector, meta, left, NULL, NULL, b, c, d);
}

static void quad_sparse(const pl_tensor_op *op, const pl_tensor_num *num, void *const *d,
                        const void *const *a, const void *const *b, const void *const *c,
                        const uint32_t *meta)
{
    pl_mma_left_factor left;
    scales sa, sb;
    uint32_t right[PL_TENSOR_MAX_K][N], sum[16][N], result[16][N];
    left.m = op->m;
    left.k = op->k / 2;
    unpack(left.raw, a, op->m, left.k, pl_tensor_bits(num->a), left.k, 1);
    unpack(right[0], b, N, op->k, pl_tensor_bits(num->b), 1, N);
    unpack_sum(sum, c, op->m, num->c);
    if (op->scale_a) {
        read_scales(op->scale_a, op->m, &sa);
        read_scales(op->scale_b, N, &sb);
    }
    sparse_tile(num, op->selector, meta, &left, op->scale_a ? &sa : NULL, op->scale_a ? &sb : NULL,
                (const uint32_t(*)[N])right, (const uint32_t(*)[N])sum, result);
    pack_sum(d, (const uint32_t(*)[N])result, op->m, num->d);
}

/* ------------------------------------------------------------------ m8n8k4 */

/* Four products at once: lanes 4q..4q+3 and 16+4q..16+4q+3 hold matrix q. */
static void quad_pairs(const pl_tensor_op *op, const pl_tensor_num *num, void *const *d,
                       const void *const *a, const void *const *b, const void *const *c)
{
    const int regs_c = pl_tensor_regs(op, PL_TM_C), regs_d = pl_tensor_regs(op, PL_TM_D);
    const int slots_c = op->c == PL_TT_F16 ? 2 : 1, slots_d = op->d == PL_TT_F16 ? 2 : 1;
    uint32_t out[4][8][N];
    for (int q = 0; q < 4; q++) {
        pl_mma_left_factor left;
        uint32_t right[4][N], sum[8][N];
        left.m = 8;
        left.k = 4;
        for (int i = 0; i < 8; i++) {
            const int l = 4 * q + i % 4 + (i >= 4 ? 16 : 0);
            pl_fragment_coord at;
            for (int r = 0; r < 2; r++)
                for (int j = 0; j < 2; j++) {
                    at = pl_fragment_coord_of(op, PL_TM_A, l, r, j);
                    left.raw[at.row * 4 + at.col] = ((const uint32_t *)a[r])[l] >> 16 * j & 0xffff;
                    at = pl_fragment_coord_of(op, PL_TM_B, l, r, j);
                    right[at.row][at.col] = ((const uint32_t *)b[r])[l] >> 16 * j & 0xffff;
                }
            for (int r = 0; r < regs_c; r++)
                for (int j = 0; j < slots_c; j++) {
                    const uint32_t x = ((const uint32_t *)c[r])[l];
                    at = pl_fragment_coord_of(op, PL_TM_C, l, r, j);
                    sum[at.row][at.col] = slots_c == 1 ? x : x >> 16 * j & 0xffff;
                }
        }
        pl_tensor_prepare(num, &left);
        pl_tensor_tile(num, &left, (const uint32_t(*)[N])right, (const uint32_t(*)[N])sum, out[q]);
    }
    for (int l = 0; l < LANES; l++) {
        for (int r = 0; r < regs_d; r++) {
            uint32_t x = 0;
            for (int j = 0; j < slots_d; j++) {
                const pl_fragment_coord at = pl_fragment_coord_of(op, PL_TM_D, l, r, j);
                x |= out[l / 4 % 4][at.row][at.col] << 16 * j;
            }
            ((uint32_t *)d[r])[l] = x;
        }
    }
}

/* ------------------------------------------------------------------ entry point */

static void quad(const pl_tensor_op *op, const pl_tensor_num *num, int m, int k, void *const *d,
                 const void *const *a, const void *const *b, const void *const *c)
{
    if (num->rule == PL_TR_F64)
        quad_f64(op->rounding, m, k, d, a, b, c);
    else
        quad_dense(op, num, m, k, d, a, b, c);
}

void pl_tensor_mma(const pl_tensor_op *op, void *const *d, const void *const *a,
                   const void *const *b, const void *const *c, const uint32_t *meta)
{
    pl_tensor_num num = pl_tensor_number(op);
    if (op->sparse) {
        quad_sparse(op, &num, d, a, b, c, meta);
        return;
    }
    if (op->family == PL_TF_MMA) {
        if (op->a == PL_TT_F16 && op->m == 8)
            quad_pairs(op, &num, d, a, b, c);
        else
            quad(op, &num, op->m, op->k, d, a, b, c);
        return;
    }
    /* wmma: tiles of 16x8 (or one of 8x8). Operands that differ between tiles advance by a step.
     * All results are computed before any is written, because D may alias A or B. */
    const int m = op->m == 8 && op->n == 8 ? 8 : 16, tiles = op->m * op->n / (m * N);
    const int bits = pl_tensor_bits(op->a), wide = bits >= 32 ? 32 : bits;
    const int left_regs = m * op->k * wide / (LANES * 32);
    const int right_regs = N * op->k * wide / (LANES * 32);
    const bool flip = op->m == 8 && op->n == 32, tall = flip || op->m == 32;
    const int c_regs = pl_tensor_regs(op, PL_TM_C) / tiles;
    const int d_regs = pl_tensor_regs(op, PL_TM_D) / tiles;
    uint64_t results[8][LANES];
    void *rows[8];
    for (int i = 0; i < 8; i++) rows[i] = results[i];
    if (flip) {
        num.a = op->b;
        num.b = op->a;
    }
    const void *const *left = flip ? b : a, *const *right = flip ? a : b;
    /* HMMA.1684 (generated by ptxas 13.0 for sm_90; the results of an H200 agree). */
    const int steps = op->a == PL_TT_TF32 ? 2 : 1;
    for (int t = 0; t < tiles; t++)
        for (int s = 0; s < steps; s++)
            quad(op, &num, m, op->k / steps, rows + t * d_regs,
                 left + (tall ? t * left_regs : 0) + s * left_regs / steps,
                 right + (tall ? 0 : t * right_regs) + s * right_regs / steps,
                 s ? (const void *const *)(rows + t * d_regs) : c + t * c_regs);
    const size_t bytes = LANES * (op->d == PL_TT_F64 ? sizeof(uint64_t) : sizeof(uint32_t));
    for (int i = 0; i < tiles * d_regs; i++) memcpy(d[i], results[i], bytes);
}
