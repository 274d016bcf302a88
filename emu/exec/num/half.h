/* half.h - f16 and bf16 arithmetic, single and packed in pairs.
 *
 * Operands are widened to f32 exactly. The operation is performed there (or in double for bf16
 * products) without losing bits that the final rounding needs, and float_shrink() rounds once to
 * the small format. f32 has more than 2*11+2 bits for sums and products of f16, so double rounding
 * is harmless for them; fused multiply-adds round to odd first. PTX manual, "Half Precision
 * Floating-Point Instructions"; relu, sat and NaN as measured (H200, driver 580.159.04). */
#ifndef PL_EMU_EXEC_NUM_HALF_H
#define PL_EMU_EXEC_NUM_HALF_H

#include "f32.h"

/* Rounds an f32 pattern to a smaller format with `ebits` exponent and `mbits` fraction bits. The
 * magnitude may exceed the format's last finite number, which the caller must handle. NaN and Inf
 * give large magnitudes, too.
 *
 *   f32   s eeeeeeee fffff|fffffffffffffffffff        keep | lost */
static inline uint32_t float_shrink(uint32_t a, int ebits, int mbits, int rnd)
{
    int bias_step = 127 - ((1 << (ebits - 1)) - 1); /* difference of the exponent biases */
    int32_t m = (int32_t)(a & PL_F32_MAG);
    int32_t e = m >> 23;
    int32_t sig = (m & 0x7fffff) | (e > 0 ? 0x800000 : 0);
    e = e > 1 ? e : 1;
    int32_t below = bias_step + 1 - e; /* number of binades below the smallest normal number of the
                                          format */
    int32_t drop = 23 - mbits + (below > 0 ? below : 0);
    drop = drop < 26 ? drop : 26;
    int32_t base = below > 0 ? 0 : -below * (1 << mbits);
    int32_t kept = sig >> drop;
    int32_t lost = sig - (kept << drop);
    int32_t half = (1 << drop) >> 1;
    int32_t up = 0;
    switch (rnd) {
    case PL_RN: up = (lost + (kept & 1) > half); break;
    case PL_RNA: up = drop > 0 && lost >= half; break;
    case PL_RM: up = lost > 0 && (int32_t)a < 0; break;
    case PL_RP: up = lost > 0 && (int32_t)a >= 0; break;
    default: break;
    }
    return (uint32_t)(base + kept + up);
}

/* ---- f16 ---- */

PL_LANE_INLINE uint32_t f32_from_f16(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, m = h & 0x7fff;
    uint32_t normal = (m << 13) + (112u << 23);
    uint32_t special = m < 0x7c00 ? 0 : PL_F32_INF;
    uint32_t small = f32_bits((float)(int32_t)m * 0x1p-24f);
    return sign | blend32(m < 0x400, small, normal | special);
}

/* Rounds to nearest even. Adding 2^13 times the operand's power of two (at least f16's smallest
 * normal one) leaves ten fraction bits, so the host rounds where f16 does. The addend is subtracted
 * again in the integer pattern. */
static inline uint16_t f16_from_f32_rn(uint32_t a)
{
    uint32_t m = a & PL_F32_MAG;
    bool nan = (int32_t)m > (int32_t)PL_F32_INF;
    uint32_t x = m < 0x47800000u ? m : 0x47800000u; /* 2^16 becomes Inf without a special case */
    uint32_t power = x & PL_F32_INF;
    power = power > 113u << 23 ? power : 113u << 23;
    uint32_t big = power + (13u << 23);
    uint32_t kept = f32_bits(f32_value(x) + f32_value(big)) - big;
    uint32_t r = ((power - (113u << 23)) >> 13) + kept;
    return (uint16_t)(r | (nan ? PL_F16_NAN : a >> 16 & 0x8000));
}

static inline uint16_t f16_from_f32(uint32_t a, int rnd)
{
    if (rnd == PL_RN) return f16_from_f32_rn(a);
    uint32_t m = a & PL_F32_MAG, r = float_shrink(a, 5, 10, rnd);
    bool negative = (int32_t)a < 0;
    bool to_inf = rnd == PL_RNA || (rnd == PL_RM && negative) || (rnd == PL_RP && !negative);
    r = r < 0x7c00 ? r : 0x7c00 - (uint32_t)!to_inf;
    r = m < PL_F32_INF ? r : 0x7c00;
    r |= a >> 16 & 0x8000;
    return (uint16_t)(m > PL_F32_INF ? PL_F16_NAN : r);
}

static inline float f16_value(uint16_t h)
{
    return f32_value(f32_from_f16(h));
}

static inline uint16_t f16_ftz(uint16_t h, bool ftz)
{
    return ftz && (h & 0x7c00) == 0 ? h & 0x8000 : h;
}

static inline bool f16_is_nan(uint16_t h)
{
    return (h & 0x7fff) > 0x7c00;
}

/* From the exact or odd-rounded f32 result: round, then .ftz, .sat ([+0,1], NaN to +0) and .relu
 * (negative to +0). */
static inline uint16_t f16_finish(float s, bool ftz, bool sat, bool relu)
{
    uint32_t h = f16_from_f32(f32_bits(s), PL_RN);
    if (ftz) h = f32_value(f32_bits(s) & PL_F32_MAG) < 0x1.ffep-15f ? h & 0x8000 : h;
    if (sat) {
        h = h > 0x7c00 ? 0 : h;
        h = h > 0x3c00 ? 0x3c00 : h;
    }
    if (relu) h = h & 0x8000 ? 0 : h;
    return (uint16_t)h;
}

PL_LANE_INLINE uint16_t f16_add(uint16_t a, uint16_t b, bool ftz, bool sat)
{
    return f16_finish(f16_value(f16_ftz(a, ftz)) + f16_value(f16_ftz(b, ftz)), ftz, sat, false);
}

static inline uint16_t f16_sub(uint16_t a, uint16_t b, bool ftz, bool sat)
{
    return f16_add(a, b ^ 0x8000, ftz, sat);
}

PL_LANE_INLINE uint16_t f16_mul(uint16_t a, uint16_t b, bool ftz, bool sat)
{
    return f16_finish(f16_value(f16_ftz(a, ftz)) * f16_value(f16_ftz(b, ftz)), ftz, sat, false);
}

PL_LANE_INLINE uint16_t f16_fma(uint16_t a, uint16_t b, uint16_t c, bool ftz, bool sat, bool relu)
{
    float p = f16_value(f16_ftz(a, ftz)) * f16_value(f16_ftz(b, ftz));
    return f16_finish(f32_sum_odd(p, f16_value(f16_ftz(c, ftz))), ftz, sat, relu);
}

/* ---- .oob: the value that TMA fills in outside a tensor in its NaN-request-zero-FMA mode ---- */

/* The value is the same for f16 and bf16 (read back from copies with that fill mode; H200, driver
 * 580.159.04, 2026-11). */
#define PL_OOB_NAN 0x7ff7u

/* fma.oob: +0 if a factor is that value. */
static inline uint16_t half_oob(uint16_t a, uint16_t b, uint16_t r)
{
    return a == PL_OOB_NAN || b == PL_OOB_NAN ? 0 : r;
}

/* The operation that ptxas emits for fma.rz, .rm and .rp on a single bf16. The operands are treated
 * as f16 and rounded to nearest; only the sign of 0 * b + 0 follows .rm (H200, driver 580.159.04,
 * 2026-11; tests/forms). */
static inline uint16_t half_fma_mistaken(uint16_t a, uint16_t b, uint16_t c, bool down)
{
    const uint16_t r = f16_fma(a, b, c, false, false, false);
    const bool product_zero = (a & 0x7fff) == 0 || (b & 0x7fff) == 0;
    return down && r == 0 && product_zero && ((a ^ b) | c) >> 15 ? 0x8000 : r;
}

/* ---- bf16: the upper half of an f32 ---- */

static inline uint32_t f32_from_bf16(uint16_t h)
{
    return (uint32_t)h << 16;
}

static inline uint16_t bf16_from_f32(uint32_t a, int rnd)
{
    uint32_t m = a & PL_F32_MAG, lost = a & 0xffff, odd = a >> 16 & 1;
    bool negative = (int32_t)a < 0;
    uint32_t up = 0;
    switch (rnd) {
    case PL_RN: up = lost + odd > 0x8000; break;
    case PL_RNA: up = lost >= 0x8000; break;
    case PL_RM: up = lost != 0 && negative; break;
    case PL_RP: up = lost != 0 && !negative; break;
    default: break;
    }
    /* An Inf has no lost bits, and the largest number carries into Inf. */
    uint32_t r = (a >> 16) + up;
    return (uint16_t)(m > PL_F32_INF ? PL_F16_NAN : r);
}

static inline double bf16_value(uint16_t h)
{
    return f32_value(f32_from_bf16(h));
}

static inline bool bf16_is_nan(uint16_t h)
{
    return (h & 0x7fff) > 0x7f80;
}

static inline uint16_t bf16_finish(double s, bool relu)
{
    uint32_t h = bf16_from_f32(f32_narrow(s, PL_RO), PL_RN);
    if (relu) h = h & 0x8000 ? 0 : h;
    return (uint16_t)h;
}

static inline uint16_t bf16_add(uint16_t a, uint16_t b)
{
    float s = f32_value(f32_from_bf16(a)) + f32_value(f32_from_bf16(b));
    return bf16_from_f32(f32_bits(s), PL_RN);
}

static inline uint16_t bf16_sub(uint16_t a, uint16_t b)
{
    return bf16_add(a, b ^ 0x8000);
}

static inline uint16_t bf16_mul(uint16_t a, uint16_t b)
{
    return bf16_finish(bf16_value(a) * bf16_value(b), false);
}

static inline uint16_t bf16_fma(uint16_t a, uint16_t b, uint16_t c, bool relu)
{
    return bf16_finish(f64_sum_odd(bf16_value(a) * bf16_value(b), bf16_value(c)), relu);
}

/* ---- common to f16 and bf16: sign, order, comparison ----
 * `inf` is the format's infinity pattern, 0x7c00 or 0x7f80. */

static inline uint16_t half_canon(uint32_t a, uint32_t inf)
{
    return (uint16_t)((a & 0x7fff) > inf ? PL_F16_NAN : a);
}

static inline uint16_t f16_abs(uint16_t a, bool ftz)
{
    return half_canon(f16_ftz(a, ftz) & 0x7fffu, 0x7c00);
}

static inline uint16_t f16_neg(uint16_t a, bool ftz)
{
    return half_canon(f16_ftz(a, ftz) ^ 0x8000u, 0x7c00);
}

static inline uint16_t bf16_abs(uint16_t a)
{
    return half_canon(a & 0x7fffu, 0x7f80);
}

static inline uint16_t bf16_neg(uint16_t a)
{
    return half_canon(a ^ 0x8000u, 0x7f80);
}

static inline uint16_t half_relu(uint16_t a, bool relu)
{
    return relu && (a & 0x8000) ? 0 : a;
}

static inline int32_t half_key(uint32_t a)
{
    int32_t x = (int16_t)a;
    return x ^ (x < 0 ? 0x7fff : 0);
}

static inline uint16_t half_pick(uint16_t a16, uint16_t b16, uint32_t inf, bool max, bool nan,
                                 bool xorsign)
{
    uint32_t a = a16, b = b16;
    uint32_t sign = xorsign ? (a ^ b) & 0x8000 : 0, keep = xorsign ? 0x7fff : 0xffff;
    a &= keep;
    b &= keep;
    bool less = half_key(a)<half_key(b), a_nan = (a & 0x7fff)> inf, b_nan = (b & 0x7fff) > inf;
    uint32_t low = less ? a : b, high = less ? b : a, r = max ? high : low;
    r = a_nan ? b : r;
    r = b_nan ? a : r;
    bool bad = nan ? a_nan | b_nan : a_nan & b_nan;
    return (uint16_t)(bad ? PL_F16_NAN : r | sign);
}

static inline uint16_t f16_min(uint16_t a, uint16_t b, bool ftz, bool nan, bool xorsign)
{
    return half_pick(f16_ftz(a, ftz), f16_ftz(b, ftz), 0x7c00, false, nan, xorsign);
}

static inline uint16_t f16_max(uint16_t a, uint16_t b, bool ftz, bool nan, bool xorsign)
{
    return half_pick(f16_ftz(a, ftz), f16_ftz(b, ftz), 0x7c00, true, nan, xorsign);
}

static inline uint16_t bf16_min(uint16_t a, uint16_t b, bool nan, bool xorsign)
{
    return half_pick(a, b, 0x7f80, false, nan, xorsign);
}

static inline uint16_t bf16_max(uint16_t a, uint16_t b, bool nan, bool xorsign)
{
    return half_pick(a, b, 0x7f80, true, nan, xorsign);
}

#endif
