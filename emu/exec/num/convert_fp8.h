/* convert_fp8.h - the 8-, 6- and 4-bit floats of the tensor cores, and cvt.pack.
 *
 *   type    exponent fraction bias  largest        Inf / NaN
 *   e5m2        5        2     15   57344  (0x7b)   yes, as f16
 *   e4m3        4        3      7     448  (0x7e)   NaN 0x7f only
 *   e3m2        3        2      3      28  (0x1f)   none
 *   e2m3        2        3      1     7.5  (0x1f)   none
 *   e2m1        2        1      1       6  (0x7)    none
 *   ue8m0       8        0    127   2^127           NaN 0xff; no sign, no zero
 *
 * All conversions to them are .satfinite: larger values become the largest number. PTX manual,
 * section "Alternate Floating-Point Data Formats"; e4m3 and e5m2 as measured (H200, driver
 * 580.159.04, 2026-11). */
#ifndef PL_EMU_EXEC_NUM_CONVERT_FP8_H
#define PL_EMU_EXEC_NUM_CONVERT_FP8_H

#include <math.h>

#include "convert.h"

/* Rounds to a small format, saturates at `max`, returns NaN as `nan`. `relu` replaces negative
 * numbers by +0. */
static inline uint32_t small_from_f32(uint32_t a, int ebits, int mbits, uint32_t max, uint32_t nan,
                                      bool relu)
{
    uint32_t m = a & PL_F32_MAG, r = float_shrink(a, ebits, mbits, PL_RN);
    r = r > max || m >= PL_F32_INF ? max : r;
    r |= (a >> 31) << (ebits + mbits);
    r = relu && (int32_t)a < 0 ? 0 : r;
    return m > PL_F32_INF ? nan : r;
}

/* Every value of a small format is exact in f32 (the caller handles special patterns). */
static inline uint32_t f32_from_small(uint32_t h, int ebits, int mbits)
{
    uint32_t m = h & ((1u << (ebits + mbits)) - 1), sign = (h >> (ebits + mbits) & 1) << 31;
    uint32_t bias = (1u << (ebits - 1)) - 1;
    uint32_t normal = (m << (23 - mbits)) + ((127 - bias) << 23);
    /* The weight of the last bit of a subnormal. */
    uint32_t unit = (128 - bias - (uint32_t)mbits) << 23;
    uint32_t small = f32_bits((float)(int32_t)m * f32_value(unit));
    return (m >> mbits ? normal : small) | sign;
}

static inline uint32_t e4m3_from_f32(uint32_t a, bool relu)
{
    return small_from_f32(a, 4, 3, 0x7e, 0x7f, relu);
}

static inline uint32_t e5m2_from_f32(uint32_t a, bool relu)
{
    return small_from_f32(a, 5, 2, 0x7b, 0x7f, relu);
}

static inline uint32_t e3m2_from_f32(uint32_t a, bool relu)
{
    return small_from_f32(a, 3, 2, 0x1f, 0x1f, relu);
}

static inline uint32_t e2m3_from_f32(uint32_t a, bool relu)
{
    return small_from_f32(a, 2, 3, 0x1f, 0x1f, relu);
}

static inline uint32_t e2m1_from_f32(uint32_t a, bool relu)
{
    return small_from_f32(a, 2, 1, 0x7, 0x7, relu);
}

static inline uint16_t f16_from_e4m3(uint32_t h)
{
    return (h & 0x7f) == 0x7f ? PL_F16_NAN : f16_from_f32(f32_from_small(h, 4, 3), PL_RN);
}

static inline uint16_t f16_from_e5m2(uint32_t h)
{
    return (uint16_t)((h & 0x7f) > 0x7c ? PL_F16_NAN : h << 8);
}

static inline uint16_t f16_from_e3m2(uint32_t h)
{
    return f16_from_f32(f32_from_small(h, 3, 2), PL_RN);
}

static inline uint16_t f16_from_e2m3(uint32_t h)
{
    return f16_from_f32(f32_from_small(h, 2, 3), PL_RN);
}

static inline uint16_t f16_from_e2m1(uint32_t h)
{
    return f16_from_f32(f32_from_small(h, 2, 1), PL_RN);
}

/* ---- pairs: the first of two operands goes to the upper half ---- */

typedef uint32_t pl_small_from(uint32_t a, bool relu);
typedef uint16_t pl_small_to(uint32_t h);

static inline uint16_t pair_from_f32(pl_small_from *from, uint32_t a, uint32_t b, bool relu)
{
    return (uint16_t)(from(a, relu) << 8 | from(b, relu));
}

static inline uint16_t pair_from_f16x2(pl_small_from *from, uint32_t a, bool relu)
{
    return pair_from_f32(from, f32_from_f16(high_half(a)), f32_from_f16(low_half(a)), relu);
}

static inline uint32_t pair_to_f16x2(pl_small_to *to, uint16_t a, bool relu)
{
    return half2_relu(join_halves(to(a & 0xffu), to((uint32_t)a >> 8)), relu);
}

/* e2m1x2 holds its pair in one byte. */
static inline uint8_t e2m1x2_from_f32(uint32_t a, uint32_t b, bool relu)
{
    return (uint8_t)(e2m1_from_f32(a, relu) << 4 | e2m1_from_f32(b, relu));
}

static inline uint8_t e2m1x2_from_f16x2(uint32_t a, bool relu)
{
    return e2m1x2_from_f32(f32_from_f16(high_half(a)), f32_from_f16(low_half(a)), relu);
}

static inline uint32_t f16x2_from_e2m1x2(uint8_t a, bool relu)
{
    return half2_relu(join_halves(f16_from_e2m1(a & 15u), f16_from_e2m1((uint32_t)a >> 4)), relu);
}

/* ---- PTX 9.1 to 9.4: all of the small formats from and to bf16x2, with scales ---- */

/* A small format, its largest number and the result for a NaN. */
typedef struct pl_small {
    int ebits, mbits;
    uint32_t max, nan;
} pl_small;

static const pl_small pl_e4m3 = {4, 3, 0x7e, 0x7f}, pl_e5m2 = {5, 2, 0x7b, 0x7f},
                      pl_e3m2 = {3, 2, 0x1f, 0x1f}, pl_e2m3 = {2, 3, 0x1f, 0x1f},
                      pl_e2m1 = {2, 1, 0x7, 0x7};

/* Bits from one element of a pair to the next. */
static inline int small_width(pl_small f)
{
    return f.ebits + f.mbits + 1 == 4 ? 4 : 8;
}

static inline uint32_t small_pair(pl_small f, uint32_t a, uint32_t b, bool relu)
{
    return small_from_f32(a, f.ebits, f.mbits, f.max, f.nan, relu) << small_width(f) |
           small_from_f32(b, f.ebits, f.mbits, f.max, f.nan, relu);
}

/* a * 2^(scale - 127); 0xff is a NaN. */
static inline uint32_t f32_scaled(uint32_t a, uint32_t scale)
{
    if (scale == 0xff || (a & PL_F32_MAG) > PL_F32_INF) return 0x7fffffff;
    const int up = (int)scale - 127, half = up / 2;
    return f32_bits(f32_value(a) * f32_value((uint32_t)(half + 127) << 23) *
                    f32_value((uint32_t)(up - half + 127) << 23));
}

static inline uint16_t bf16_scaled(uint32_t value, uint32_t scale, bool relu, bool satfinite)
{
    return half_relu(half_finite(bf16_from_f32(f32_scaled(value, scale), PL_RN), satfinite, 0x7f80),
                     relu);
}

/* A pair of small numbers times a pair of ue8m0 scales. */
static inline uint32_t bf16x2_from_small(pl_small f, uint32_t a, uint32_t scale, bool relu,
                                         bool satfinite)
{
    uint16_t half[2];
    for (int k = 0; k < 2; k++) {
        const uint32_t h = a >> (small_width(f) * k) & ((1u << (f.ebits + f.mbits + 1)) - 1),
                       m = h & ((1u << (f.ebits + f.mbits)) - 1);
        const bool nan = f.ebits == 4 ? m == 0x7f : f.ebits == 5 && m > 0x7c;
        const uint32_t value = nan                         ? 0x7fffffff
                               : f.ebits == 5 && m == 0x7c ? (h >> 7) << 31 | PL_F32_INF
                                                           : f32_from_small(h, f.ebits, f.mbits);
        half[k] = bf16_scaled(value, scale >> (8 * k) & 0xff, relu, satfinite);
    }
    return join_halves(half[0], half[1]);
}

/* s2f6: an 8-bit integer in units of 1/64. The input is divided by its scale. */
static inline uint32_t s2f6_from_f32(uint32_t a, uint32_t scale, int rnd, bool relu)
{
    if (scale == 0xff || (a & PL_F32_MAG) > PL_F32_INF) return 0x7f;
    const float x = f32_value(f32_scaled(a, 254 - scale)) * 64;
    const float limited = x > 127 ? 127 : x < -128 ? -128 : x;
    const int32_t n = (int32_t)(rnd == PL_RN ? rintf(limited) : truncf(limited));
    return relu && n < 0 ? 0 : (uint32_t)n & 0xff;
}

static inline uint16_t s2f6_pair(uint32_t a, uint32_t b, uint32_t scale, int rnd, bool relu)
{
    return (uint16_t)(s2f6_from_f32(a, scale >> 8 & 0xff, rnd, relu) << 8 |
                      s2f6_from_f32(b, scale & 0xff, rnd, relu));
}

static inline uint32_t bf16x2_from_s2f6(uint32_t a, uint32_t scale, bool relu, bool satfinite)
{
    uint16_t half[2];
    for (int k = 0; k < 2; k++)
        half[k] = bf16_scaled(f32_bits((float)(int8_t)(a >> (8 * k)) / 64), scale >> (8 * k) & 0xff,
                              relu, satfinite);
    return join_halves(half[0], half[1]);
}

/* ue8m0 consists of an exponent only: the magnitude rounded to a power of two, towards zero or up.
 * Zero and values below 2^-127 become 2^-127 (code 0); Inf saturates to 2^127 or is NaN. */
static inline uint32_t ue8m0_from_f32(uint32_t a, int rnd, bool satfinite)
{
    uint32_t m = a & PL_F32_MAG, e = m >> 23, up = rnd == PL_RP && (m & 0x7fffff) != 0;
    if (e == 0) return rnd == PL_RP && m > 0x400000 ? 1 : 0; /* 2^-127 is the subnormal 0x400000 */
    if (m > PL_F32_INF) return 0xff;
    uint32_t r = e + up;
    return satfinite && r > 0xfe ? 0xfe : r;
}

static inline uint16_t ue8m0x2_from_f32(uint32_t a, uint32_t b, int rnd, bool satfinite)
{
    return (uint16_t)(ue8m0_from_f32(a, rnd, satfinite) << 8 | ue8m0_from_f32(b, rnd, satfinite));
}

static inline uint16_t ue8m0x2_from_bf16x2(uint32_t a, int rnd, bool satfinite)
{
    return ue8m0x2_from_f32(a & 0xffff0000u, a << 16, rnd, satfinite);
}

static inline uint16_t bf16_from_ue8m0(uint32_t h)
{
    return (uint16_t)(h == 0xff ? PL_F16_NAN : h == 0 ? 0x0040 : h << 7);
}

static inline uint32_t bf16x2_from_ue8m0x2(uint16_t a)
{
    return join_halves(bf16_from_ue8m0(a & 0xffu), bf16_from_ue8m0((uint32_t)a >> 8));
}

/* ---- stochastic rounding (cvt.rs): a random number selects one of the two neighbours ---- */

/* `a` on the grid of a format with `mbits` fraction bits and smallest normal exponent `emin`, as
 * f32. The random number, `rbits` bits wide, is added to the top of the truncated bits, and a carry
 * rounds away from zero. Below the format's smallest number the neighbours are zero and that
 * number. */
PL_LANE_INLINE uint32_t f32_stochastic(uint32_t a, uint32_t random, int rbits, int mbits, int emin)
{
    uint32_t m = a & PL_F32_MAG, sign = a ^ m;
    int e = m >> 23 ? (int)(m >> 23) - 127 : -126, cut = 23 - mbits + (e < emin ? emin - e : 0);
    if (m >= PL_F32_INF) return a;
    if (cut <= 23) return sign | ((m + (random << (cut - rbits))) & ~0u << cut);
    uint64_t sig = (m & 0x7fffff) | (m >> 23 ? 0x800000 : 0);
    bool up = cut < 48 && (sig + ((uint64_t)random << (cut - rbits))) >> cut != 0;
    return sign | (up ? (uint32_t)(emin - mbits + 127) << 23 : 0);
}

/* The manual's layout for pairs: 13 bits at 16 and 0 for f16, halves for bf16. */
static inline uint32_t f16x2_stochastic(uint32_t a, uint32_t b, uint32_t rbits, bool satfinite,
                                        bool relu)
{
    uint32_t x = f32_stochastic(a, rbits >> 16 & 0x1fff, 13, 10, -14),
             y = f32_stochastic(b, rbits & 0x1fff, 13, 10, -14);
    return join_halves(half_relu(half_finite(f16_from_f32(y, PL_RN), satfinite, 0x7c00), relu),
                       half_relu(half_finite(f16_from_f32(x, PL_RN), satfinite, 0x7c00), relu));
}

static inline uint32_t bf16x2_stochastic(uint32_t a, uint32_t b, uint32_t rbits, bool satfinite,
                                         bool relu)
{
    uint32_t x = f32_stochastic(a, rbits >> 16, 16, 7, -126),
             y = f32_stochastic(b, rbits & 0xffff, 16, 7, -126);
    return join_halves(half_relu(half_finite(bf16_from_f32(y, PL_RN), satfinite, 0x7f80), relu),
                       half_relu(half_finite(bf16_from_f32(x, PL_RN), satfinite, 0x7f80), relu));
}

/* The 16 bits for value i of four. The manual only shows them in a figure; two public measurements
 * on B200s agree: each pair of values shares 16 bits, which the first value of the pair reads in
 * reverse. For e2m1x4 a pair takes one byte of each half. */
static inline uint32_t stochastic_bits(uint32_t rbits, int i, bool bytes)
{
    int pair = i < 2 ? 8 : 0;
    uint32_t r = bytes ? (rbits >> pair & 0xff) | (rbits >> (pair + 16) & 0xff) << 8
                       : rbits >> 2 * pair & 0xffff;
    return i & 1 ? r : b32_brev(r) >> 16;
}

/* Converts four values to a format of `mbits` fraction bits, the first one to the top; `wide` bits
 * each. */
static inline uint32_t small_x4_stochastic(pl_small_from *from, const uint32_t *a, uint32_t rbits,
                                           int wide, int mbits, int emin, bool relu)
{
    uint32_t d = 0;
    for (int i = 0; i < 4; i++)
        d = d << wide |
            from(f32_stochastic(a[i], stochastic_bits(rbits, i, wide == 4), 16, mbits, emin), relu);
    return d;
}

/* cvt.pack: saturates a and b to `width` bits and packs them, a above b, below the low bits of
 * c. */
static inline uint32_t cvt_pack(int32_t a, int32_t b, uint32_t c, int width, bool is_signed)
{
    int32_t span = 1 << width, hi = (is_signed ? span >> 1 : span) - 1,
            lo = is_signed ? -hi - 1 : 0;
    int32_t x = a < lo ? lo : a > hi ? hi : a, y = b < lo ? lo : b > hi ? hi : b;
    uint32_t ones = (uint32_t)span - 1, pair = ((uint32_t)x & ones) << width | ((uint32_t)y & ones);
    return width == 16 ? pair : c << (2 * width) | pair;
}

#endif
