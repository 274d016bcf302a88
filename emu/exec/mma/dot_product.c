/* dot_product.c - the rounding of a sum of products in a tensor core.
 *
 * A fused sum does not round after every addition. With n products and the addend c:
 *
 *   1. every product is formed exactly; its exponent is the sum of the operands' exponent fields
 *      (a subnormal operand has the smallest normal exponent and is not normalised);
 *   2. E is the largest of these n exponents and c's. Zero terms are ignored;
 *   3. every term is shifted to a common grid of 2^(E - frac), and lower bits are truncated
 *      towards zero;
 *   4. the integers are added exactly, and the sum is rounded once to the result's format.
 *
 *            E            E-frac
 *   p0   1 . 0 1 1 0 1 0 0 0 |                  kept bits | lost bits
 *   p1       1 . 1 1 0 1 0 1 | 1 0 1
 *   c              1 . 0 1 1 | 0 0 1 1 1
 *
 * frac and the number of products per sum differ by generation (mma.c, pl_tensor_number).
 * Published: Khattak and Mikaitis, arXiv 2512.07004; the MMA-Sim paper, arXiv 2511.10909. Measured:
 * every recording under tests/data/mma (H200, driver 580.159.04, 2026-11).
 *
 * Speed: operands are decoded once to integers. The inner loops run over the eight columns of a
 * tile without branches, so a compiler vectorises them. All arithmetic on sums is integer
 * arithmetic, so results do not depend on the host, the compiler or the vector width. */
#include "emu/exec/mma/mma.h"

#include "emu/exec/num/softfloat.h"

#include <math.h>
#include <string.h>

/* The whole path is inlined into two copies, one for any processor and one with 8-wide vectors. */
#define INLINE __attribute__((always_inline))

enum {
    N = PL_TENSOR_N,
    ZERO_EXP = -8192, /* exponent of a zero operand: below every real one, even in a sum */
    GROUP = 8         /* terms that fit an int32 sum: each is below 2^(frac+2) = 2^27; with block
                         scales of ue4m3 at most 3 * 3 * 15 * 15 * 2^(frac-8), of which 8 fit */
};

/* Floating-point formats: fraction and exponent bits, bias, and the meaning of the top exponent. */
typedef struct format {
    int8_t fraction, exponent;
    int16_t bias;
    enum { IEEE, ONE_NAN, FINITE } top;
    int8_t dropped; /* low register bits that are ignored */
} format;

static const format formats[PL_TT_COUNT] = {
    [PL_TT_F16] = {10, 5, 15, IEEE, 0},    [PL_TT_BF16] = {7, 8, 127, IEEE, 0},
    [PL_TT_TF32] = {10, 8, 127, IEEE, 13}, [PL_TT_F32] = {23, 8, 127, IEEE, 0},
    [PL_TT_E4M3] = {3, 4, 7, ONE_NAN, 0},  [PL_TT_E5M2] = {2, 5, 15, IEEE, 0},
    [PL_TT_E3M2] = {2, 3, 3, FINITE, 0},   [PL_TT_E2M3] = {3, 2, 1, FINITE, 0},
    [PL_TT_E2M1] = {1, 2, 1, FINITE, 2}, /* bits 2-5 of its byte; not recorded */
    [PL_TT_E2M1X2] = {1, 2, 1, FINITE, 0},
};

/* The decoded right-hand matrix or addend of one tile. */
typedef struct plane {
    int32_t sig[PL_TENSOR_MAX_K][N], exp[PL_TENSOR_MAX_K][N];
} plane;

/* ------------------------------------------------------------------ decoding */

/* Decodes COUNT floats to signed significands and exponents. Returns true if one is an infinity or
 * a NaN. */
INLINE static inline bool decode_floats(const format *f, int count, const uint32_t *raw,
                                        int32_t *sig, int32_t *exp)
{
    const int frac = f->fraction, drop = f->dropped, bias = f->bias;
    const int32_t exp_mask = (1 << f->exponent) - 1, frac_mask = (1 << frac) - 1;
    const int sign_at = frac + f->exponent;
    int32_t special = 0;
    for (int i = 0; i < count; i++) {
        int32_t x = (int32_t)(raw[i] >> drop);
        int32_t e = (x >> frac) & exp_mask, m = x & frac_mask;
        int32_t normal = e != 0, neg = -((x >> sign_at) & 1);
        int32_t s = m | (normal << frac);
        special |= e == exp_mask;
        sig[i] = (s ^ neg) - neg;
        exp[i] = s == 0 ? ZERO_EXP : e + (1 - normal) - bias;
    }
    if (special == 0 || f->top == FINITE) return false;
    if (f->top == IEEE) return true;
    for (int i = 0; i < count; i++)
        if ((raw[i] & 0x7f) == 0x7f) return true;
    return false;
}

INLINE static inline void decode_ints(pl_tensor_type t, int count, const uint32_t *raw,
                                      int32_t *sig)
{
    const int bits = pl_tensor_bits(t), up = 32 - bits;
    const bool is_signed = t == PL_TT_S8 || t == PL_TT_S4;
    for (int i = 0; i < count; i++) {
        int32_t x = (int32_t)(raw[i] << up);
        sig[i] = is_signed ? x >> up : (int32_t)((uint32_t)x >> up);
    }
}

/* Class of a value, for the rules on infinities and NaNs. */
typedef enum kind { ZERO, FINITE_VALUE, INFINITE, NOT_A_NUMBER } kind;

static kind kind_of(const format *f, uint32_t raw, bool *negative)
{
    uint32_t x = raw >> f->dropped, frac = x & ((1u << f->fraction) - 1);
    uint32_t top = (1u << f->exponent) - 1, e = (x >> f->fraction) & top;
    *negative = (x >> (f->fraction + f->exponent)) & 1;
    if (f->top == IEEE && e == top) return frac ? NOT_A_NUMBER : INFINITE;
    if (f->top == ONE_NAN && e == top && frac == 7) return NOT_A_NUMBER;
    return e == 0 && frac == 0 ? ZERO : FINITE_VALUE;
}

/* ------------------------------------------------------------------ results */

static const uint32_t f32_nan = 0x7fffffff, f16_nan = 0x7fff;

INLINE static inline int bit_length(uint64_t x)
{
    return x == 0 ? 0 : 64 - __builtin_clzll(x);
}

/* sum * 2^q as f32, truncated to KEEP fraction bits (23 or 13). Subnormals are kept; a result
 * truncated to zero is +0; values of 2^128 and above become infinite. */
INLINE static inline uint32_t f32_truncate(int64_t sum, int q, int keep)
{
    if (sum == 0) return 0;
    uint32_t sign = sum < 0 ? 0x80000000u : 0;
    uint64_t u = sum < 0 ? 0 - (uint64_t)sum : (uint64_t)sum;
    int len = bit_length(u), e = q + len - 1;
    uint32_t bits;
    if (e > 127) return sign | 0x7f800000u;
    if (e >= -126) {
        uint32_t m = (uint32_t)(len > 24 ? u >> (len - 24) : u << (24 - len));
        bits = ((uint32_t)(e + 126) << 23) + m;
    } else {
        int down = -149 - q; /* the grid of subnormals is 2^-149 */
        bits = down <= 0 ? (uint32_t)(u << -down) : down < 64 ? (uint32_t)(u >> down) : 0;
    }
    bits &= ~0u << (23 - keep);
    return bits ? bits | sign : 0;
}

/* sum * 2^q as f16, rounded to nearest even. */
INLINE static inline uint32_t f16_nearest(int64_t sum, int q)
{
    if (sum == 0) return 0;
    uint32_t sign = sum < 0 ? 0x8000u : 0;
    uint64_t u = sum < 0 ? 0 - (uint64_t)sum : (uint64_t)sum;
    int e = q + bit_length(u) - 1;
    if (e > 15) return sign | 0x7c00u;
    int grid = (e < -14 ? -14 : e) - 10, down = grid - q;
    uint64_t m;
    if (down <= 0) {
        m = u << -down;
    } else if (down > 63) {
        m = 0;
    } else {
        uint64_t rest = u & ((1ull << down) - 1), half = 1ull << (down - 1);
        m = u >> down;
        m += rest > half || (rest == half && (m & 1));
    }
    /* m includes the hidden bit of a normal number, and a rounding carry propagates into the
     * exponent. */
    uint32_t bits = (uint32_t)m + (e < -14 ? 0 : (uint32_t)(e + 14) << 10);
    return sign | (bits > 0x7c00u ? 0x7c00u : bits);
}

INLINE static inline uint32_t finish(const pl_tensor_num *num, int64_t sum, int q)
{
    switch (num->round) {
    case PL_TO_F16_RN: {
        uint32_t h = f16_nearest(sum, q);
        return (h & 0x7fff) ? h : 0; /* a sum rounded to zero is +0, as when truncated */
    }
    case PL_TO_E8M13_RZ: return f32_truncate(sum, q, 13);
    default: return f32_truncate(sum, q, 23);
    }
}

/* ------------------------------------------------------------------ fused sums */

/* One block of a fused sum for every element of a tile. */
typedef struct block {
    int m, stride;    /* rows, and distance in elements between rows of A */
    int first, count; /* the products k = first .. first+count-1 */
    const int32_t *asig, *aexp;
    const plane *b;
    const int32_t (*csig)[N], (*cexp)[N];
    int up;   /* left shift that aligns a product's fraction to frac bits */
    int c_up; /* the same for c, possibly negative */
    int64_t (*sum)[N];
    int32_t (*top)[N];
} block;

/* A product on the common grid. DOWN: difference between the largest exponent and the product's. */
INLINE static inline int32_t aligned(int32_t product, int32_t down, int up)
{
    const int32_t neg = product >> 31;
    const uint32_t size = (uint32_t)((product ^ neg) - neg) << up >> (down > 31 ? 31 : down);
    return ((int32_t)size ^ neg) - neg;
}

INLINE static inline void fused_block(const block *x)
{
    const int up = x->up;
    for (int r = 0; r < x->m; r++) {
        const int32_t *as = x->asig + r * x->stride + x->first;
        const int32_t *ae = x->aexp + r * x->stride + x->first;
        int32_t top[N], part[N];
        int64_t sum[N];
        for (int j = 0; j < N; j++) top[j] = x->cexp[r][j];
        for (int i = 0; i < x->count; i++) {
            const int32_t *be = x->b->exp[x->first + i], e = ae[i];
            for (int j = 0; j < N; j++) top[j] = top[j] > e + be[j] ? top[j] : e + be[j];
        }
        for (int j = 0; j < N; j++) {
            int64_t c = x->csig[r][j], neg = c >> 63, size = (c ^ neg) - neg;
            int shift = top[j] - x->cexp[r][j] - x->c_up;
            size = shift <= 0 ? size << -shift : size >> (shift > 63 ? 63 : shift);
            sum[j] = (size ^ neg) - neg;
        }
        for (int i = 0; i < x->count; i += GROUP) {
            int stop = x->count - i < GROUP ? x->count : i + GROUP;
            for (int j = 0; j < N; j++) part[j] = 0;
            for (int g = i; g < stop; g++) {
                const int32_t *bs = x->b->sig[x->first + g], *be = x->b->exp[x->first + g];
                const int32_t s = as[g], e = ae[g];
                for (int j = 0; j < N; j++) part[j] += aligned(s * bs[j], top[j] - e - be[j], up);
            }
            for (int j = 0; j < N; j++) sum[j] += part[j];
        }
        for (int j = 0; j < N; j++) {
            x->sum[r][j] = sum[j];
            x->top[r][j] = top[j];
        }
    }
}

/* The result if an operand is an infinity or a NaN: a NaN if one is a NaN, if an infinity is
 * multiplied by zero, or if infinities of both signs are added; otherwise that infinity. Returns
 * false, *RESULT unchanged, if all operands are finite. */
static bool special_sum(const pl_tensor_num *num, int first, int count, const uint32_t *a,
                        const uint32_t (*b)[N], int col, pl_tensor_type ct, uint32_t c,
                        uint32_t *result)
{
    const bool half = num->round == PL_TO_F16_RN;
    bool plus = false, minus = false, nan = false, neg_a, neg_b;
    kind kc = kind_of(&formats[ct], c, &neg_a);
    if (kc == NOT_A_NUMBER) nan = true;
    if (kc == INFINITE) *(neg_a ? &minus : &plus) = true;
    for (int i = first; i < first + count; i++) {
        kind ka = kind_of(&formats[num->a], a[i], &neg_a);
        kind kb = kind_of(&formats[num->b], b[i][col], &neg_b);
        if (ka < INFINITE && kb < INFINITE) continue;
        if (ka == NOT_A_NUMBER || kb == NOT_A_NUMBER || ka == ZERO || kb == ZERO) nan = true;
        *(neg_a != neg_b ? &minus : &plus) = true;
    }
    if (!nan && !plus && !minus) return false;
    if (nan || (plus && minus))
        *result = half ? f16_nan : f32_nan;
    else
        *result = (half ? 0x7c00u : 0x7f800000u) | (minus ? (half ? 0x8000u : 0x80000000u) : 0);
    return true;
}

INLINE static inline void tile_fused(const pl_tensor_num *num, const pl_mma_left_factor *left,
                                     const uint32_t (*b)[N], const uint32_t (*c)[N],
                                     uint32_t (*d)[N])
{
    const format *fa = &formats[num->a], *fb = &formats[num->b];
    const int m = left->m, k = left->k;
    plane right;
    int32_t csig[PL_TENSOR_MAX_M][N], cexp[PL_TENSOR_MAX_M][N], top[PL_TENSOR_MAX_M][N];
    int64_t sum[PL_TENSOR_MAX_M][N];
    uint32_t value[PL_TENSOR_MAX_M][N];
    pl_tensor_type ct = num->c;
    const bool b_special = decode_floats(fb, k * N, b[0], right.sig[0], right.exp[0]);
    memcpy(value, c, sizeof(uint32_t) * N * (size_t)m);
    if (num->factors) {
        for (int i = 0; i < k; i++) {
            for (int j = 0; j < N; j++) {
                right.sig[i][j] *= num->factors->sig[i][j];
                right.exp[i][j] += num->factors->exp[i][j];
            }
        }
    }
    for (int first = 0; first < k; first += num->block) {
        const format *fc = &formats[ct];
        const int count = k - first < num->block ? k - first : num->block;
        const bool bc_special = decode_floats(fc, m * N, value[0], csig[0], cexp[0]) || b_special;
        const block x = {m,
                         k,
                         first,
                         count,
                         left->sig,
                         left->exp,
                         &right,
                         csig,
                         cexp,
                         num->frac - fa->fraction - fb->fraction - num->factor_frac,
                         num->frac - fc->fraction,
                         sum,
                         top};
        fused_block(&x);
        for (int r = 0; r < m; r++) {
            const bool special = bc_special || left->special[r];
            for (int j = 0; j < N; j++) {
                uint32_t v = finish(num, sum[r][j], top[r][j] - num->frac);
                if (special)
                    special_sum(num, first, count, left->raw + r * k, b, j, ct, value[r][j], &v);
                value[r][j] = v;
            }
        }
        ct = num->round == PL_TO_F16_RN ? PL_TT_F16 : PL_TT_F32;
    }
    memcpy(d, value, sizeof(uint32_t) * N * (size_t)m);
}

/* ------------------------------------------------------------------ sums emulated by other
 * instructions */

/* The bits of X; every NaN becomes the canonical one. */
static uint32_t canonical(float f)
{
    uint32_t x = f32_bits(f);
    return (x & 0x7fffffff) > 0x7f800000 ? f32_nan : x;
}

/* f16 widened to f32. Exact, since every f16 is an integer multiple of 2^-24 with 11 bits. */
static float f16_widen(uint32_t x)
{
    uint32_t e = x >> 10 & 31, m = x & 1023, sign = (x & 0x8000) << 16;
    if (e == 31) return f32_value(sign | 0x7f800000u | m << 13);
    if (e) return f32_value(sign | (e + 112) << 23 | m << 13);
    float f = (float)m * 0x1p-24f;
    return sign ? -f : f;
}

/* f32 to f16, rounded to nearest even. */
static uint32_t f16_narrow(uint32_t x)
{
    uint32_t e = x >> 23 & 255, m = x & 0x7fffff, sign = x >> 16 & 0x8000;
    if (e == 255) return m ? f16_nan : sign | 0x7c00u;
    if (e) m |= 0x800000;
    return sign | f16_nearest(m, (int)(e ? e : 1) - 150);
}

/* Index of the i-th of K bytes in the order: the low two bytes of every register, then the high
 * two. */
static int low_first(int i, int k)
{
    return i < k / 2 ? 4 * (i / 2) + (i & 1) : 4 * ((i - k / 2) / 2) + 2 + (i & 1);
}

/* fp8 to f16, exactly. E5M2 is the upper half of an f16; E4M3's subnormals become normal. */
INLINE static inline uint32_t f16_of_fp8(pl_tensor_type t, uint32_t x)
{
    static const uint16_t subnormal[8] = {0,      0x1800, 0x1c00, 0x1e00,
                                          0x2000, 0x2100, 0x2200, 0x2300};
    if (t == PL_TT_E5M2) return x << 8;
    uint32_t sign = (x & 0x80) << 8, magnitude = x & 0x7f;
    if (magnitude == 0x7f) return f16_nan;
    return sign | (magnitude < 8 ? subnormal[magnitude] : (magnitude << 7) + (8 << 10));
}

/* On sm_90 and sm_100, mma.sync on fp8 is not a separate tensor-core operation. ptxas 13.0 converts
 * the operands to f16. It multiplies the two low bytes of every register, then the two high bytes,
 * on the f16 unit, starting from zero. It adds C with an ordinary addition. LEFT already holds f16
 * (pl_tensor_prepare). */
INLINE static inline void tile_fp8_as_f16(const pl_tensor_num *num, const pl_mma_left_factor *left,
                                          const uint32_t (*b)[N], const uint32_t (*c)[N],
                                          uint32_t (*d)[N])
{
    const int m = left->m, k = left->k;
    const bool half = num->round == PL_TO_F16_RN;
    pl_tensor_num fused = *num;
    uint32_t right[PL_TENSOR_MAX_K][N], sum[PL_TENSOR_MAX_M][N] = {{0}};
    fused.a = fused.b = PL_TT_F16;
    fused.block = k / 2;
    for (int i = 0; i < k; i++)
        for (int j = 0; j < N; j++) right[i][j] = f16_of_fp8(num->b, b[low_first(i, k)][j]);
    tile_fused(&fused, left, (const uint32_t(*)[N])right, (const uint32_t(*)[N])sum, sum);
    for (int r = 0; r < m; r++)
        for (int j = 0; j < N; j++)
            d[r][j] = half ? f16_narrow(canonical(f16_widen(sum[r][j]) + f16_widen(c[r][j])))
                           : canonical(f32_value(sum[r][j]) + f32_value(c[r][j]));
}

/* From sm_80 on, m8n8k4 is a subroutine of ordinary instructions (as in the code that ptxas 13.0
 * generates for sm_90a). For f32 results D = C + fma chain over the four products. For f16 results
 * D = f16((C + (p0 + p1)) + (p2 + p3)) in f32. */
static void tile_fma4(const pl_tensor_num *num, const pl_mma_left_factor *left,
                      const uint32_t (*b)[N], const uint32_t (*c)[N], uint32_t (*d)[N])
{
    for (int r = 0; r < left->m; r++) {
        for (int j = 0; j < N; j++) {
            float x[4], y[4], z = num->c == PL_TT_F16 ? f16_widen(c[r][j]) : f32_value(c[r][j]);
            for (int i = 0; i < 4; i++) {
                x[i] = f16_widen(left->raw[r * 4 + i]);
                y[i] = f16_widen(b[i][j]);
            }
            if (num->d == PL_TT_F16) {
                float low = fmaf(x[1], y[1], x[0] * y[0]), high = fmaf(x[3], y[3], x[2] * y[2]);
                z = z + low;
                d[r][j] = f16_narrow(canonical(z + high));
            } else {
                float t = 0;
                for (int i = 0; i < 4; i++) t = fmaf(x[i], y[i], t);
                d[r][j] = canonical(z + t);
            }
        }
    }
}

/* ------------------------------------------------------------------ integers and f64 */

INLINE static inline void tile_int(const pl_tensor_num *num, const pl_mma_left_factor *left,
                                   const uint32_t (*b)[N], const uint32_t (*c)[N], uint32_t (*d)[N])
{
    int32_t right[PL_TENSOR_MAX_K][N];
    const int m = left->m, k = left->k;
    decode_ints(num->b, k * N, b[0], right[0]);
    for (int r = 0; r < m; r++) {
        int32_t sum[N] = {0}; /* at most 128 products of 2^16: no overflow */
        /* k is 16 or more; four products at once keep the sum in a register. */
        for (int i = 0; i < k; i += 4) {
            const int32_t *x = left->sig + r * k + i;
            for (int j = 0; j < N; j++)
                sum[j] += x[0] * right[i][j] + x[1] * right[i + 1][j] + x[2] * right[i + 2][j] +
                          x[3] * right[i + 3][j];
        }
        for (int j = 0; j < N; j++) {
            int64_t exact = (int64_t)(int32_t)c[r][j] + sum[j];
            if (num->saturate && exact > INT32_MAX) exact = INT32_MAX;
            if (num->saturate && exact < INT32_MIN) exact = INT32_MIN;
            d[r][j] = (uint32_t)exact;
        }
    }
}

INLINE static inline void tile_bits(const pl_tensor_num *num, const pl_mma_left_factor *left,
                                    const uint32_t (*b)[N], const uint32_t (*c)[N],
                                    uint32_t (*d)[N])
{
    for (int r = 0; r < left->m; r++) {
        for (int j = 0; j < N; j++) {
            uint32_t sum = c[r][j];
            for (int i = 0; i < left->k; i++) {
                uint32_t x = left->raw[r * left->k + i], y = b[i][j];
                sum += (uint32_t)__builtin_popcount(num->bits_and ? x & y : x ^ y);
            }
            d[r][j] = sum;
        }
    }
}

/* a * b + c as DFMA computes it: IEEE, except that a NaN result is the first NaN among b, c, a,
 * made quiet, or the default NaN (measured, H200, driver 580.159.04, 2026-11). */
static uint64_t f64_fma(uint64_t a, uint64_t b, uint64_t c, int rounding)
{
    const uint64_t order[3] = {b, c, a};
    for (int i = 0; i < 3; i++)
        if ((order[i] & INT64_MAX) > 0x7ff0000000000000ull) return order[i] | 1ull << 51;
    const uint64_t r = f64_bits(fma(f64_value(a), f64_value(b), f64_value(c)));
    if ((r & INT64_MAX) > 0x7ff0000000000000ull) return 0xfff8000000000000ull;
    return rounding == PL_RN ? r : pl_soft_fma(a, b, c, rounding);
}

void pl_tensor_tile_f64(int rounding, int m, int k, const uint64_t *a, const uint64_t (*b)[N],
                        const uint64_t (*c)[N], uint64_t (*d)[N])
{
    for (int r = 0; r < m; r++) {
        for (int j = 0; j < N; j++) {
            uint64_t sum = c[r][j];
            for (int i = 0; i < k; i++) sum = f64_fma(a[r * k + i], b[i][j], sum, rounding);
            d[r][j] = sum;
        }
    }
}

/* ------------------------------------------------------------------ entry points */

int pl_tensor_bits(pl_tensor_type t)
{
    static const uint8_t bits[PL_TT_COUNT] = {
        [PL_TT_F16] = 16, [PL_TT_BF16] = 16, [PL_TT_TF32] = 32,  [PL_TT_F32] = 32,
        [PL_TT_F64] = 64, [PL_TT_E4M3] = 8,  [PL_TT_E5M2] = 8,   [PL_TT_E3M2] = 8,
        [PL_TT_E2M3] = 8, [PL_TT_E2M1] = 8,  [PL_TT_E2M1X2] = 4, [PL_TT_S8] = 8,
        [PL_TT_U8] = 8,   [PL_TT_S4] = 4,    [PL_TT_U4] = 4,     [PL_TT_B1] = 1,
        [PL_TT_S32] = 32,
    };
    return bits[t];
}

INLINE static inline void prepare(const pl_tensor_num *num, pl_mma_left_factor *left)
{
    const int k = left->k;
    if (num->rule == PL_TR_INT) {
        decode_ints(num->a, left->m * k, left->raw, left->sig);
    } else if (num->rule == PL_TR_FUSED || num->rule == PL_TR_FP8_F16) {
        const format *f = &formats[num->rule == PL_TR_FUSED ? num->a : PL_TT_F16];
        if (num->rule == PL_TR_FP8_F16) {
            for (int r = 0; r < left->m; r++) {
                uint32_t *row = left->raw + r * k, bytes[PL_TENSOR_MAX_K];
                memcpy(bytes, row, sizeof(uint32_t) * (size_t)k);
                for (int i = 0; i < k; i++) row[i] = f16_of_fp8(num->a, bytes[low_first(i, k)]);
            }
        }
        for (int r = 0; r < left->m; r++)
            left->special[r] =
                decode_floats(f, k, left->raw + r * k, left->sig + r * k, left->exp + r * k);
    }
}

INLINE static inline void tile(const pl_tensor_num *num, const pl_mma_left_factor *left,
                               const uint32_t (*b)[N], const uint32_t (*c)[N], uint32_t (*d)[N])
{
    switch (num->rule) {
    case PL_TR_FUSED: tile_fused(num, left, b, c, d); break;
    case PL_TR_FP8_F16: tile_fp8_as_f16(num, left, b, c, d); break;
    case PL_TR_FMA4: tile_fma4(num, left, b, c, d); break;
    case PL_TR_INT: tile_int(num, left, b, c, d); break;
    case PL_TR_BITS: tile_bits(num, left, b, c, d); break;
    case PL_TR_F64: break; /* pl_tensor_tile_f64 takes 64-bit elements */
    }
}

/* One m16n8k16 of f16 takes 1.6 us with vectors and 4.7 us without (gcc 12, -O2, one EPYC core). */
#if defined(__x86_64__) && defined(__GNUC__)
#define AVX2 __attribute__((target("avx2,bmi,popcnt")))

AVX2 static void prepare_avx2(const pl_tensor_num *num, pl_mma_left_factor *left)
{
    prepare(num, left);
}

AVX2 static void tile_avx2(const pl_tensor_num *num, const pl_mma_left_factor *left,
                           const uint32_t (*b)[N], const uint32_t (*c)[N], uint32_t (*d)[N])
{
    tile(num, left, b, c, d);
}

static bool have_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt") &&
           __builtin_cpu_supports("bmi");
}
#else
#define prepare_avx2 prepare
#define tile_avx2    tile

static bool have_avx2(void)
{
    return false;
}
#endif

void pl_tensor_prepare(const pl_tensor_num *num, pl_mma_left_factor *left)
{
    if (have_avx2())
        prepare_avx2(num, left);
    else
        prepare(num, left);
}

void pl_tensor_tile(const pl_tensor_num *num, const pl_mma_left_factor *left,
                    const uint32_t (*b)[N], const uint32_t (*c)[N], uint32_t (*d)[N])
{
    if (have_avx2())
        tile_avx2(num, left, b, c, d);
    else
        tile(num, left, b, c, d);
}
