/* f64.h - double precision arithmetic on register bits.
 *
 * Round to nearest uses the host's IEEE operation, the other modes softfloat.c. Unlike f32, f64
 * keeps the payload of a NaN operand, made quiet; the precedence among several NaN operands depends
 * on the operation. All of this is as measured (H200, driver 580.159.04, 2026-11) and independent
 * of the host. */
#ifndef PL_EMU_EXEC_NUM_F64_H
#define PL_EMU_EXEC_NUM_F64_H

#include "softfloat.h"

#define PL_F64_QUIET   0x0008000000000000u
#define PL_F64_INVALID 0xfff8000000000000u /* invalid operation without a NaN operand */

/* NaN operands in order of precedence: the first that is NaN is the result. */
static inline uint64_t f64_nan2(uint64_t a, uint64_t b)
{
    uint64_t r = f64_is_nan(b) ? b | PL_F64_QUIET : PL_F64_INVALID;
    return f64_is_nan(a) ? a | PL_F64_QUIET : r;
}

static inline uint64_t f64_nan3(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t r = f64_nan2(b, c);
    return f64_is_nan(a) ? a | PL_F64_QUIET : r;
}

static inline uint64_t f64_add(uint64_t a, uint64_t b, int rnd)
{
    uint64_t r = f64_bits(f64_value(a) + f64_value(b));
    if (rnd != PL_RN && !f64_is_nan(r)) r = pl_soft_add(a, b, rnd);
    return f64_is_nan(r) ? f64_nan2(b, a) : r;
}

/* A NaN subtrahend keeps its sign. */
static inline uint64_t f64_sub(uint64_t a, uint64_t b, int rnd)
{
    uint64_t r = f64_bits(f64_value(a) - f64_value(b));
    if (rnd != PL_RN && !f64_is_nan(r)) r = pl_soft_add(a, b ^ PL_F64_SIGN, rnd);
    return f64_is_nan(r) ? f64_nan2(b, a) : r;
}

static inline uint64_t f64_mul(uint64_t a, uint64_t b, int rnd)
{
    uint64_t r = f64_bits(f64_value(a) * f64_value(b));
    if (rnd != PL_RN && !f64_is_nan(r)) r = pl_soft_mul(a, b, rnd);
    return f64_is_nan(r) ? f64_nan2(b, a) : r;
}

PL_LANE_INLINE uint64_t f64_fma(uint64_t a, uint64_t b, uint64_t c, int rnd)
{
#ifdef __FMA__
    uint64_t r = f64_bits(__builtin_fma(f64_value(a), f64_value(b), f64_value(c)));
    if (rnd != PL_RN && !f64_is_nan(r)) r = pl_soft_fma(a, b, c, rnd);
#else
    bool nan = f64_is_nan(a) || f64_is_nan(b) || f64_is_nan(c);
    uint64_t r = nan ? PL_F64_INVALID : pl_soft_fma(a, b, c, rnd);
#endif
    return f64_is_nan(r) ? f64_nan3(b, c, a) : r;
}

/* Division is a subroutine on the hardware, in which the dividend's NaN takes precedence. */
static inline uint64_t f64_div(uint64_t a, uint64_t b, int rnd)
{
    uint64_t r = f64_bits(f64_value(a) / f64_value(b));
    if (rnd != PL_RN && !f64_is_nan(r)) r = pl_soft_div(a, b, rnd);
    return f64_is_nan(r) ? f64_nan2(a, b) : r;
}

static inline uint64_t f64_rcp(uint64_t a, int rnd)
{
    return f64_div(PL_F64_ONE, a, rnd);
}

static inline uint64_t f64_sqrt(uint64_t a, int rnd)
{
    uint64_t r = f64_bits(__builtin_sqrt(f64_value(a)));
    if (rnd != PL_RN && !f64_is_nan(r)) r = pl_soft_sqrt(a, rnd);
    return f64_is_nan(r) ? f64_nan2(a, a) : r;
}

/* abs and neg are additions on the hardware: a NaN passes through with its sign, but made quiet. */
static inline uint64_t f64_abs(uint64_t a)
{
    return f64_is_nan(a) ? a | PL_F64_QUIET : a & PL_F64_MAG;
}

static inline uint64_t f64_neg(uint64_t a)
{
    return f64_is_nan(a) ? a | PL_F64_QUIET : a ^ PL_F64_SIGN;
}

static inline uint64_t f64_copysign(uint64_t a, uint64_t b)
{
    return (a & PL_F64_SIGN) | (b & PL_F64_MAG);
}

/* Read as a signed integer, it sorts as a number, -0 below +0 (see f32_key). */
static inline int64_t f64_key(uint64_t a)
{
    return (int64_t)(a ^ ((uint64_t)((int64_t)a >> 63) >> 1));
}

static inline uint64_t f64_pick(uint64_t a, uint64_t b, bool max)
{
    bool less = f64_key(a) < f64_key(b);
    uint64_t r = less != max ? a : b;
    r = f64_is_nan(a) ? b : r;
    r = f64_is_nan(b) ? a : r;
    return f64_is_nan(a) && f64_is_nan(b) ? b | PL_F64_QUIET : r;
}

static inline uint64_t f64_min(uint64_t a, uint64_t b)
{
    return f64_pick(a, b, false);
}

static inline uint64_t f64_max(uint64_t a, uint64_t b)
{
    return f64_pick(a, b, true);
}

/* Zero counts as normal (measured). */
static inline bool f64_testp(uint64_t a, int test)
{
    uint64_t m = a & PL_F64_MAG;
    switch (test) {
    case PL_TESTP_FINITE: return m < PL_F64_INF;
    case PL_TESTP_INFINITE: return m == PL_F64_INF;
    case PL_TESTP_NUMBER: return m <= PL_F64_INF;
    case PL_TESTP_NOTANUMBER: return m > PL_F64_INF;
    case PL_TESTP_NORMAL: return (m == 0 || m >= 0x0010000000000000u) && m < PL_F64_INF;
    default: return m != 0 && m < 0x0010000000000000u;
    }
}

#endif
