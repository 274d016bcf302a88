/* f32.h - single precision arithmetic on register bits.
 *
 * Round to nearest uses the host's IEEE operation. The other modes compute in double precision,
 * where a product of two floats is exact and a sum can be rounded to odd, and round once more to
 * f32 (f32_narrow in num.h). PTX manual, "Floating Point Instructions"; NaN patterns and the order
 * of .ftz and .sat as measured (H200, driver 580.159.04, 2026-11). */
#ifndef PL_EMU_EXEC_NUM_F32_H
#define PL_EMU_EXEC_NUM_F32_H

#include "num.h"

PL_LANE_INLINE uint32_t f32_add(uint32_t a, uint32_t b, int rnd, bool ftz, bool sat)
{
    float x = f32_value(f32_ftz(a, ftz)), y = f32_value(f32_ftz(b, ftz));
    if (rnd == PL_RN) return f32_finish(f32_bits(x + y), ftz, sat);
    double p = x, c = y;
    return f32_finish(f32_narrow(zero_sum_sign(f64_sum_odd(p, c), p, c, rnd), rnd), ftz, sat);
}

static inline uint32_t f32_sub(uint32_t a, uint32_t b, int rnd, bool ftz, bool sat)
{
    return f32_add(a, b ^ PL_F32_SIGN, rnd, ftz, sat);
}

/* .ftz flushes results that are below 2^-126 after rounding with an unbounded exponent: a result
 * that gradual underflow would round up to 2^-126 may still be flushed. `s` is exact, or rounded to
 * odd. */
static inline bool f32_is_tiny(double s, int rnd)
{
    uint64_t b = f64_bits(s), m = b & PL_F64_MAG;
    bool negative = (int64_t)b < 0;
    bool away = rnd == PL_RM ? negative : rnd == PL_RP ? !negative : false;
    double limit = rnd == PL_RN ? 0x1.ffffffp-127 : 0x1p-126;
    return away ? f64_value(m) <= 0x1.fffffep-127 : f64_value(m) < limit;
}

/* The same check for round to nearest in f32 only: `scaled` is the result of the operation on
 * operands that were multiplied so that it is 2^50 times as large. */
static inline bool f32_is_tiny_scaled(float scaled)
{
    return f32_value(f32_bits(scaled) & PL_F32_MAG) < 0x1p-76f;
}

static inline uint32_t f32_finish_tiny(uint32_t r, bool tiny, bool ftz, bool sat)
{
    r = ftz && tiny ? r & PL_F32_SIGN : r;
    return f32_finish(r, false, sat);
}

PL_LANE_INLINE uint32_t f32_mul(uint32_t a, uint32_t b, int rnd, bool ftz, bool sat)
{
    float x = f32_value(f32_ftz(a, ftz)), y = f32_value(f32_ftz(b, ftz));
    if (rnd == PL_RN) {
        bool tiny = ftz && f32_is_tiny_scaled(x * 0x1p50f * y);
        return f32_finish_tiny(f32_bits(x * y), tiny, ftz, sat);
    }
    double p = (double)x * y;
    return f32_finish_tiny(f32_narrow(p, rnd), f32_is_tiny(p, rnd), ftz, sat);
}

PL_LANE_INLINE uint32_t f32_fma(uint32_t a, uint32_t b, uint32_t c, int rnd, bool ftz, bool sat)
{
    float x = f32_value(f32_ftz(a, ftz)), y = f32_value(f32_ftz(b, ftz)),
          z = f32_value(f32_ftz(c, ftz));
#ifdef __FMA__
    if (rnd == PL_RN) {
        bool tiny = ftz && f32_is_tiny_scaled(__builtin_fmaf(x * 0x1p50f, y, z * 0x1p50f));
        return f32_finish_tiny(f32_bits(__builtin_fmaf(x, y, z)), tiny, ftz, sat);
    }
#endif
    double p = (double)x * y, q = z;
    double s = zero_sum_sign(f64_sum_odd(p, q), p, q, rnd);
    return f32_finish_tiny(f32_narrow(s, rnd), f32_is_tiny(s, rnd), ftz, sat);
}

/* A quotient or square root of 24-bit numbers that is not itself a 24-bit number differs from every
 * 25-bit number by more than 2^-50 of itself. So the double result is on the correct side of each
 * rounding boundary. */
static inline uint32_t f32_div(uint32_t a, uint32_t b, int rnd, bool ftz)
{
    float x = f32_value(f32_ftz(a, ftz)), y = f32_value(f32_ftz(b, ftz));
    if (rnd == PL_RN) return f32_finish(f32_bits(x / y), ftz, false);
    return f32_finish(f32_narrow((double)x / y, rnd), ftz, false);
}

static inline uint32_t f32_rcp(uint32_t a, int rnd, bool ftz)
{
    return f32_div(PL_F32_ONE, a, rnd, ftz);
}

static inline uint32_t f32_sqrt(uint32_t a, int rnd, bool ftz)
{
    float x = f32_value(f32_ftz(a, ftz));
    if (rnd == PL_RN) return f32_finish(f32_bits(__builtin_sqrtf(x)), ftz, false);
    return f32_finish(f32_narrow(__builtin_sqrt((double)x), rnd), ftz, false);
}

static inline uint32_t f32_abs(uint32_t a, bool ftz)
{
    return f32_finish(f32_ftz(a, ftz) & PL_F32_MAG, false, false);
}

static inline uint32_t f32_neg(uint32_t a, bool ftz)
{
    return f32_finish(f32_ftz(a, ftz) ^ PL_F32_SIGN, false, false);
}

static inline uint32_t f32_copysign(uint32_t a, uint32_t b)
{
    return (a & PL_F32_SIGN) | (b & PL_F32_MAG);
}

/* Read as signed integers, patterns with the magnitude bits of negative numbers inverted sort as
 * numbers, -0 below +0. */
static inline int32_t f32_key(uint32_t a)
{
    return (int32_t)(a ^ ((uint32_t)((int32_t)a >> 31) >> 1));
}

/* min and max: a number is preferred to a NaN unless `nan` (.NaN) is set; `xorsign` (.xorsign.abs)
 * compares magnitudes and gives the result the exclusive or of the operands' signs. */
static inline uint32_t f32_pick(uint32_t a, uint32_t b, bool max, bool ftz, bool nan, bool xorsign)
{
    a = f32_ftz(a, ftz);
    b = f32_ftz(b, ftz);
    uint32_t sign = xorsign ? (a ^ b) & PL_F32_SIGN : 0;
    a = xorsign ? a & PL_F32_MAG : a;
    b = xorsign ? b & PL_F32_MAG : b;
    uint32_t low = f32_key(a) < f32_key(b) ? a : b, high = f32_key(a) < f32_key(b) ? b : a;
    uint32_t r = max ? high : low;
    r = f32_is_nan(a) ? b : r;
    r = f32_is_nan(b) ? a : r;
    bool bad = nan ? f32_is_nan(a) || f32_is_nan(b) : f32_is_nan(a) && f32_is_nan(b);
    return bad ? PL_F32_NAN : r | sign;
}

static inline uint32_t f32_min(uint32_t a, uint32_t b, bool ftz, bool nan, bool xorsign)
{
    return f32_pick(a, b, false, ftz, nan, xorsign);
}

static inline uint32_t f32_max(uint32_t a, uint32_t b, bool ftz, bool nan, bool xorsign)
{
    return f32_pick(a, b, true, ftz, nan, xorsign);
}

/* The three-input forms: .abs takes the magnitude of every operand. */
static inline uint32_t f32_min3(uint32_t a, uint32_t b, uint32_t c, bool ftz, bool nan, bool abs)
{
    uint32_t keep = abs ? PL_F32_MAG : ~0u;
    return f32_min(f32_min(a & keep, b & keep, ftz, nan, false), c & keep, ftz, nan, false);
}

static inline uint32_t f32_max3(uint32_t a, uint32_t b, uint32_t c, bool ftz, bool nan, bool abs)
{
    uint32_t keep = abs ? PL_F32_MAG : ~0u;
    return f32_max(f32_max(a & keep, b & keep, ftz, nan, false), c & keep, ftz, nan, false);
}

/* Zero counts as normal (measured). */
static inline bool f32_testp(uint32_t a, int test)
{
    uint32_t m = a & PL_F32_MAG;
    switch (test) {
    case PL_TESTP_FINITE: return m < PL_F32_INF;
    case PL_TESTP_INFINITE: return m == PL_F32_INF;
    case PL_TESTP_NUMBER: return m <= PL_F32_INF;
    case PL_TESTP_NOTANUMBER: return m > PL_F32_INF;
    case PL_TESTP_NORMAL: return (m == 0 || m >= 0x00800000u) && m < PL_F32_INF;
    default: return m != 0 && m < 0x00800000u;
    }
}

/* ---- f32x2: two floats in a 64-bit register (sm_100 and later) ---- */

static inline uint64_t f32x2_add(uint64_t a, uint64_t b, int rnd, bool ftz)
{
    uint64_t high = f32_add((uint32_t)(a >> 32), (uint32_t)(b >> 32), rnd, ftz, false);
    return high << 32 | f32_add((uint32_t)a, (uint32_t)b, rnd, ftz, false);
}

static inline uint64_t f32x2_sub(uint64_t a, uint64_t b, int rnd, bool ftz)
{
    return f32x2_add(a, b ^ 0x8000000080000000u, rnd, ftz);
}

static inline uint64_t f32x2_mul(uint64_t a, uint64_t b, int rnd, bool ftz)
{
    uint64_t high = f32_mul((uint32_t)(a >> 32), (uint32_t)(b >> 32), rnd, ftz, false);
    return high << 32 | f32_mul((uint32_t)a, (uint32_t)b, rnd, ftz, false);
}

static inline uint64_t f32x2_fma(uint64_t a, uint64_t b, uint64_t c, int rnd, bool ftz)
{
    uint64_t high =
        f32_fma((uint32_t)(a >> 32), (uint32_t)(b >> 32), (uint32_t)(c >> 32), rnd, ftz, false);
    return high << 32 | f32_fma((uint32_t)a, (uint32_t)b, (uint32_t)c, rnd, ftz, false);
}

#endif
