/* mufu_sequences.h - the approximate instructions of PTX, as the sequences of machine instructions
 * that sm_90 executes for them.
 *
 * A .ftz form is one MUFU. Without .ftz the assembler scales subnormal operands into the unit's
 * range, and the result back. Sine and cosine first convert radians to turns. The 16-bit forms
 * truncate the f32 result. The sequences were read from ptxas 13.0's output for sm_90a, and produce
 * the recorded bits for all inputs (tests/accuracy/mufu_all.c).
 *
 * PTX manual, "Floating Point Instructions" and "Half Precision Floating-Point Instructions". Read
 * first: mufu_unit.h. */
#ifndef PL_EMU_EXEC_NUM_MUFU_SEQUENCES_H
#define PL_EMU_EXEC_NUM_MUFU_SEQUENCES_H

#include "mufu_unit.h"
#include "f32.h"
#include "f64.h"
#include "half.h"

#define MUFU_2_M12     0x39800000u /* 2^-12 */
#define MUFU_2_M2      0x3e800000u /* 2^-2 */
#define MUFU_2_12      0x45800000u /* 2^12 */
#define MUFU_2_24      0x4b800000u /* 2^24 */
#define MUFU_2_126     0x7e800000u /* 2^126 */
#define MUFU_SMALLEST  0x00800000u /* 2^-126, the smallest normal number */
#define MUFU_HALF      0x3f000000u
#define MUFU_MINUS_24  0xc1c00000u
#define MUFU_MINUS_126 0xc2fc0000u

/* FMUL and FADD: round to nearest, subnormals kept. */
MUFU_INLINE uint32_t mufu_fmul(uint32_t a, uint32_t b)
{
    uint32_t r = f32_bits(f32_value(a) * f32_value(b));
    return blend32(f32_is_nan(r), PL_F32_NAN, r);
}

/* FMUL.FTZ: f32_mul() of f32.h with .ftz, with its selections written as blends. */
MUFU_INLINE uint32_t mufu_fmul_ftz(uint32_t a, uint32_t b)
{
    float x = f32_value(blend32(mufu_is_subnormal(a), a & PL_F32_SIGN, a));
    float y = f32_value(blend32(mufu_is_subnormal(b), b & PL_F32_SIGN, b));
    uint32_t r = f32_bits(x * y);
    r = blend32(f32_is_tiny_scaled(x * 0x1p50f * y), r & PL_F32_SIGN, r);
    return blend32(f32_is_nan(r), PL_F32_NAN, r);
}

MUFU_INLINE uint32_t mufu_fadd(uint32_t a, uint32_t b)
{
    uint32_t r = f32_bits(f32_value(a) + f32_value(b));
    return blend32(f32_is_nan(r), PL_F32_NAN, r);
}

MUFU_INLINE bool mufu_is_small(uint32_t a)
{
    return (a & PL_F32_MAG) < MUFU_SMALLEST;
}

MUFU_INLINE bool mufu_is_large(uint32_t a)
{
    return (a & PL_F32_MAG) - (MUFU_2_126 + 1) <= PL_F32_INF - (MUFU_2_126 + 1);
}

/* ---- f32 ---- */

/* s = 1, or 1/4 for |a| > 2^126, or 2^24 for |a| < 2^-126;  d = RCP(a * s) * s */
MUFU_INLINE uint32_t f32_rcp_approx(uint32_t a, bool ftz)
{
    if (ftz) return mufu_rcp(a);
    uint32_t s =
        blend32(mufu_is_large(a), MUFU_2_M2, blend32(mufu_is_small(a), MUFU_2_24, PL_F32_ONE));
    return mufu_fmul(mufu_rcp(mufu_fmul(a, s)), s);
}

/* The other functions multiply by 1 if no scaling is needed: this changes no value, and lanes need
 * no branch. */
MUFU_INLINE uint32_t f32_rsqrt_approx(uint32_t a, bool ftz)
{
    if (ftz) return mufu_rsq(a);
    bool small = mufu_is_small(a);
    uint32_t y = mufu_rsq(mufu_fmul(a, blend32(small, MUFU_2_24, PL_F32_ONE)));
    return mufu_fmul(y, blend32(small, MUFU_2_12, PL_F32_ONE));
}

MUFU_INLINE uint32_t f32_sqrt_approx(uint32_t a, bool ftz)
{
    if (ftz) return mufu_sqrt(a);
    bool small = mufu_is_small(a);
    uint32_t y = mufu_sqrt(mufu_fmul(a, blend32(small, MUFU_2_24, PL_F32_ONE)));
    return mufu_fmul(y, blend32(small, MUFU_2_M12, PL_F32_ONE));
}

MUFU_INLINE uint32_t f32_lg2_approx(uint32_t a, bool ftz)
{
    if (ftz) return mufu_lg2(a);
    bool small = mufu_is_small(a);
    uint32_t y = mufu_lg2(mufu_fmul(a, blend32(small, MUFU_2_24, PL_F32_ONE)));
    return blend32(small, mufu_fadd(y, MUFU_MINUS_24), y);
}

/* Below -126 the unit would flush the result: d = EX2(a / 2)^2. f32_ex2_operand computes the
 * operand of EX2, f32_ex2_result the final value from its result y. */
MUFU_INLINE bool mufu_ex2_is_low(uint32_t a)
{
    return a - (MUFU_MINUS_126 + 1) < (PL_F32_SIGN | PL_F32_INF) - MUFU_MINUS_126;
}

MUFU_INLINE uint32_t f32_ex2_operand(uint32_t a, bool ftz)
{
    return ftz ? a : blend32(mufu_ex2_is_low(a), mufu_fmul(a, MUFU_HALF), a);
}

MUFU_INLINE uint32_t f32_ex2_result(uint32_t a, uint32_t y, bool ftz)
{
    return ftz ? y : blend32(mufu_ex2_is_low(a), mufu_fmul(y, y), y);
}

MUFU_INLINE uint32_t f32_ex2_approx(uint32_t a, bool ftz)
{
    return f32_ex2_result(a, mufu_ex2(f32_ex2_operand(a, ftz)), ftz);
}

/* Converts radians to turns: the product with the f32 nearest to 1/(2 pi), rounded towards zero.
 * The unit flushes a subnormal. */
MUFU_INLINE uint32_t mufu_turns(uint32_t a)
{
    uint32_t m = a & PL_F32_MAG;
    uint64_t product = (uint64_t)((m & 0x7fffff) | 0x800000) * 0xa2f983u; /* significand of
                                                                             0x3e22f983 */
    uint32_t carry = (uint32_t)(product >> 47);
    uint32_t significand = (uint32_t)(product >> (23 + carry));
    int32_t v = ((int32_t)((m >> 23) + carry) - 4) * 0x800000 + (int32_t)significand;
    v = v < 0x800000 || m < MUFU_SMALLEST ? 0 : v;
    return (a & PL_F32_SIGN) | (m >= PL_F32_INF ? m : (uint32_t)v);
}

MUFU_INLINE uint32_t f32_sin_approx(uint32_t a, bool ftz)
{
    (void)ftz; /* same result in both cases: a subnormal is too small for the fixed-point
                  argument */
    return mufu_sin(mufu_turns(a));
}

MUFU_INLINE uint32_t f32_cos_approx(uint32_t a, bool ftz)
{
    (void)ftz;
    return mufu_cos(mufu_turns(a));
}

MUFU_INLINE uint32_t f32_tanh_approx(uint32_t a)
{
    return mufu_tanh(a);
}

/* Only a subnormal divisor is scaled, by 2^24, together with the dividend. A divisor above 2^126
 * gives zero. */
MUFU_INLINE uint32_t f32_div_approx(uint32_t a, uint32_t b, bool ftz)
{
    if (ftz) return mufu_fmul_ftz(a, mufu_rcp(b));
    uint32_t s = blend32(mufu_is_small(b), MUFU_2_24, PL_F32_ONE);
    return mufu_fmul(mufu_fmul(a, s), mufu_rcp(mufu_fmul(b, s)));
}

/* The full range: a divisor above 2^126 is scaled as well, by 1/4. */
MUFU_INLINE uint32_t f32_div_full(uint32_t a, uint32_t b, bool ftz)
{
    uint32_t s = blend32(mufu_is_large(b), MUFU_2_M2, PL_F32_ONE);
    if (ftz) return mufu_fmul_ftz(mufu_fmul_ftz(a, s), mufu_rcp(mufu_fmul_ftz(b, s)));
    s = blend32(mufu_is_small(b), MUFU_2_24, s);
    return mufu_fmul(mufu_fmul(a, s), mufu_rcp(mufu_fmul(b, s)));
}

/* ptxas fuses the last multiplication of a quotient or reciprocal with an addition that uses it
 * (compiler/opt/contract_fma.c): a / b + c, 1 / a + c. H200, 2026-11: required to match __fdividef
 * in h200/suite f32_special. */
MUFU_INLINE uint32_t f32_div_approx_add(uint32_t a, uint32_t b, uint32_t c, bool ftz, bool sat)
{
    if (ftz) return f32_fma(a, mufu_rcp(b), c, PL_RN, true, sat);
    uint32_t s = blend32(mufu_is_small(b), MUFU_2_24, PL_F32_ONE);
    return f32_fma(mufu_fmul(a, s), mufu_rcp(mufu_fmul(b, s)), c, PL_RN, false, sat);
}

MUFU_INLINE uint32_t f32_div_full_add(uint32_t a, uint32_t b, uint32_t c, bool ftz, bool sat)
{
    uint32_t s = blend32(mufu_is_large(b), MUFU_2_M2, PL_F32_ONE);
    if (ftz)
        return f32_fma(mufu_fmul_ftz(a, s), mufu_rcp(mufu_fmul_ftz(b, s)), c, PL_RN, true, sat);
    s = blend32(mufu_is_small(b), MUFU_2_24, s);
    return f32_fma(mufu_fmul(a, s), mufu_rcp(mufu_fmul(b, s)), c, PL_RN, false, sat);
}

MUFU_INLINE uint32_t f32_rcp_approx_add(uint32_t a, uint32_t c, bool sat)
{
    uint32_t s =
        blend32(mufu_is_large(a), MUFU_2_M2, blend32(mufu_is_small(a), MUFU_2_24, PL_F32_ONE));
    return f32_fma(mufu_rcp(mufu_fmul(a, s)), s, c, PL_RN, false, sat);
}

/* ---- f64 ---- */

/* The unit only reads the high word, and the low word of the result is zero. */
MUFU_INLINE uint64_t f64_rcp_approx_ftz(uint64_t a)
{
    return (uint64_t)mufu_rcp64h((uint32_t)(a >> 32)) << 32;
}

MUFU_INLINE uint64_t mufu_rsq64(uint64_t a)
{
    return (uint64_t)mufu_rsq64h((uint32_t)(a >> 32)) << 32;
}

/* One step of a third-order iteration:  e = 1 - a*y*y,  y + y*e*(1/2 + 3/8 e) */
MUFU_INLINE uint64_t mufu_rsq64_refined(uint64_t a)
{
    uint64_t y = mufu_rsq64(a);
    uint64_t e = f64_fma(a, f64_mul(y, y, PL_RN) ^ PL_F64_SIGN, PL_F64_ONE, PL_RN);
    uint64_t c = f64_fma(e, 0x3fd8000000000000u /* 3/8 */, 0x3fe0000000000000u /* 1/2 */, PL_RN);
    return f64_fma(c, f64_mul(y, e, PL_RN), y, PL_RN);
}

/* Zero, subnormals, infinity, NaN and negative numbers take a slow path; a subnormal is scaled
 * by 2^54. */
MUFU_INLINE uint64_t f64_rsqrt_approx(uint64_t a, bool ftz)
{
    if (ftz) return mufu_rsq64(a);
    uint64_t m = a & PL_F64_MAG, sign = a & PL_F64_SIGN;
    if (m == 0) return sign | PL_F64_INF;
    if (m > PL_F64_INF) return f64_add(a, a, PL_RN);
    if (sign) return 0xfff8000000000000u;
    if (m == PL_F64_INF) return 0;
    if (m >> 52) return mufu_rsq64_refined(a);
    uint64_t y = mufu_rsq64_refined(f64_mul(a, 0x4350000000000000u /* 2^54 */, PL_RN));
    return f64_mul(y, 0x41a0000000000000u /* 2^27 */, PL_RN);
}

/* ---- f16, bf16 ---- */

/* One MUFU for each half, on the operand converted exactly to f32. The result is truncated to the
 * short format, not rounded, but a number too large for f16 becomes infinite. Only f16 has
 * subnormals here. The helpers take 32 bits, which keeps all lanes at one width. */
MUFU_INLINE uint32_t mufu_from_f16(uint32_t h)
{
    uint32_t m = h & 0x7fff;
    uint32_t v = blend32(m >= 0x7c00, PL_F32_INF | m << 13, (m << 13) + (112u << 23));
    v = blend32(m < 0x400, f32_bits((float)(int32_t)m * 0x1p-24f), v);
    return v | (h & 0x8000) << 16;
}

MUFU_INLINE uint32_t mufu_to_f16(uint32_t y)
{
    uint32_t m = y & PL_F32_MAG, r = float_shrink(y, 5, 10, PL_RZ);
    r = (y >> 16 & 0x8000) | blend32(m >= 0x47800000u /* 2^16 */, 0x7c00, r);
    return blend32(m > PL_F32_INF, PL_F16_NAN, r);
}

MUFU_INLINE uint16_t f16_ex2_approx(uint16_t a)
{
    return (uint16_t)mufu_to_f16(mufu_ex2(mufu_from_f16(a)));
}

MUFU_INLINE uint16_t f16_tanh_approx(uint16_t a)
{
    return (uint16_t)mufu_to_f16(mufu_tanh(mufu_from_f16(a)));
}

MUFU_INLINE uint16_t bf16_ex2_approx_ftz(uint16_t a)
{
    return (uint16_t)(mufu_ex2((uint32_t)a << 16) >> 16);
}

MUFU_INLINE uint16_t bf16_tanh_approx(uint16_t a)
{
    return (uint16_t)(mufu_tanh((uint32_t)a << 16) >> 16);
}

MUFU_INLINE uint32_t f16x2_ex2_approx(uint32_t a)
{
    uint32_t low = mufu_to_f16(mufu_ex2(mufu_from_f16(a)));
    return low | mufu_to_f16(mufu_ex2(mufu_from_f16(a >> 16))) << 16;
}

MUFU_INLINE uint32_t f16x2_tanh_approx(uint32_t a)
{
    uint32_t low = mufu_to_f16(mufu_tanh(mufu_from_f16(a)));
    return low | mufu_to_f16(mufu_tanh(mufu_from_f16(a >> 16))) << 16;
}

MUFU_INLINE uint32_t bf16x2_ex2_approx_ftz(uint32_t a)
{
    return mufu_ex2(a << 16) >> 16 | (mufu_ex2(a & 0xffff0000u) & 0xffff0000u);
}

MUFU_INLINE uint32_t bf16x2_tanh_approx(uint32_t a)
{
    return mufu_tanh(a << 16) >> 16 | (mufu_tanh(a & 0xffff0000u) & 0xffff0000u);
}

#endif
