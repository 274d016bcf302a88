/* num.h - common to all number helpers: modifier names, bit casts, rounding tools.
 *
 * The lane expressions of the instruction tables call functions on bit patterns: a float is passed
 * as the uint16_t, uint32_t or uint64_t in its register. Results never depend on the host. They
 * only use its IEEE add, subtract, multiply, divide and square root in the default rounding mode.
 * Everything else (directed rounding, fused multiply-add without FMA, conversions) is built from
 * these or from integer arithmetic.
 *
 * Modifiers are passed as plain ints and bools. They are nearly always constants after inlining, so
 * a `switch` on them costs nothing. Code that depends on data is branchless so that 32-lane loops
 * can be vectorised.
 *
 * Read next: f32.h, then half.h and convert.h. */
#ifndef PL_EMU_EXEC_NUM_NUM_H
#define PL_EMU_EXEC_NUM_NUM_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* For the functions that most lane loops call. A compiler that has reached its inlining limit in a
 * file leaves calls, and a loop with a call is not vectorised (measured: with calls to f32_fma, fma
 * kernels ran at a third of their speed). */
#define PL_LANE_INLINE static inline __attribute__((always_inline))

/* Rounding modifiers. The integer roundings .rni .rzi .rmi .rpi use the same four names. PL_RNA is
 * round to nearest with ties away from zero (cvt.rna.tf32). PL_RO, round to odd, is not a PTX
 * modifier: it preserves the information required by a second, final rounding (Boldo and Melquiond,
 * "Emulation of FMA and correctly rounded sums", IEEE ToC 2008). */
enum { PL_RN, PL_RZ, PL_RM, PL_RP, PL_RNA, PL_RO };

/* Comparison operators in the order of the PTX manual, section "Comparison and Selection
 * Instructions". */
enum {
    PL_CMP_EQ,
    PL_CMP_NE,
    PL_CMP_LT,
    PL_CMP_LE,
    PL_CMP_GT,
    PL_CMP_GE,
    PL_CMP_LO,
    PL_CMP_LS,
    PL_CMP_HI,
    PL_CMP_HS,
    PL_CMP_EQU,
    PL_CMP_NEU,
    PL_CMP_LTU,
    PL_CMP_LEU,
    PL_CMP_GTU,
    PL_CMP_GEU,
    PL_CMP_NUM,
    PL_CMP_NAN
};

/* Boolean operators of set, setp and lop3. */
enum { PL_BOOL_AND, PL_BOOL_OR, PL_BOOL_XOR };

/* The predicate tests of testp. */
enum {
    PL_TESTP_FINITE,
    PL_TESTP_INFINITE,
    PL_TESTP_NUMBER,
    PL_TESTP_NOTANUMBER,
    PL_TESTP_NORMAL,
    PL_TESTP_SUBNORMAL
};

#define PL_F32_SIGN 0x80000000u
#define PL_F32_MAG  0x7fffffffu
#define PL_F32_INF  0x7f800000u
#define PL_F32_ONE  0x3f800000u
#define PL_F32_NAN  0x7fffffffu /* the NaN that every f32 operation of the hardware returns */
#define PL_F64_SIGN 0x8000000000000000u
#define PL_F64_MAG  0x7fffffffffffffffu
#define PL_F64_INF  0x7ff0000000000000u
#define PL_F64_ONE  0x3ff0000000000000u
#define PL_F16_NAN  0x7fffu /* both f16 and bf16 */

static inline float f32_value(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint32_t f32_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double f64_value(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint64_t f64_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Returns a if the condition holds, else b, as a blend. With ?:, gcc may move the floating-point
 * work of one arm into a branch, and the enclosing loop is then not vectorised. */
static inline uint32_t blend32(bool first, uint32_t a, uint32_t b)
{
    uint32_t mask = 0u - (uint32_t)first;
    return (a & mask) | (b & ~mask);
}

static inline uint64_t blend64(bool first, uint64_t a, uint64_t b)
{
    uint64_t mask = (uint64_t)0 - (uint64_t)first;
    return (a & mask) | (b & ~mask);
}

/* ---- NaN, subnormals, saturation ---- */

static inline bool f32_is_nan(uint32_t a)
{
    return (int32_t)(a & PL_F32_MAG) > (int32_t)PL_F32_INF;
}

static inline bool f64_is_nan(uint64_t a)
{
    return (int64_t)(a & PL_F64_MAG) > (int64_t)PL_F64_INF;
}

/* .ftz: a subnormal becomes a zero with its sign. */
static inline uint32_t f32_flush(uint32_t a)
{
    return (a & PL_F32_INF) ? a : a & PL_F32_SIGN;
}

static inline uint32_t f32_ftz(uint32_t a, bool ftz)
{
    return blend32(ftz, f32_flush(a), a); /* no branch, so that loops over lanes vectorise */
}

/* .sat: clamps to [+0, 1]; NaN, -0 and negative numbers give +0. As unsigned numbers all of those
 * are above +Inf. */
static inline uint32_t f32_clamp01(uint32_t a)
{
    uint32_t low = a > PL_F32_INF ? 0 : a;
    return low > PL_F32_ONE ? PL_F32_ONE : low;
}

static inline uint64_t f64_clamp01(uint64_t a)
{
    uint64_t low = a > PL_F64_INF ? 0 : a;
    return low > PL_F64_ONE ? PL_F64_ONE : low;
}

/* The last steps of an f32 operation: one NaN pattern, then .ftz, then .sat. */
static inline uint32_t f32_finish(uint32_t r, bool ftz, bool sat)
{
    r = f32_is_nan(r) ? PL_F32_NAN : r;
    r = f32_ftz(r, ftz);
    return sat ? f32_clamp01(r) : r;
}

/* ---- exact sums and directed rounding ---- */

/* p + c rounded to odd. Knuth's two-sum gives the rounding error e exactly; if e is not zero and
 * the sum's last bit is 0, the neighbour on e's side is the odd one. Exact unless an operation
 * overflows or underflows, which cannot happen for doubles that hold floats or products of two
 * floats. */
static inline double f64_sum_odd(double p, double c)
{
    double s = p + c;
    double back = s - p;
    double e = (p - (s - back)) + (c - back);
    uint64_t sb = f64_bits(s), eb = f64_bits(e), em = eb & PL_F64_MAG;
    bool inexact = (int64_t)em > 0 && (int64_t)em < (int64_t)PL_F64_INF;
    uint64_t step = (int64_t)(sb ^ eb) < 0 ? UINT64_MAX : 1;
    return f64_value(sb + (inexact && !(sb & 1) ? step : 0));
}

/* The same in single precision, for values that came from f16. */
static inline float f32_sum_odd(float p, float c)
{
    float s = p + c;
    float back = s - p;
    float e = (p - (s - back)) + (c - back);
    uint32_t sb = f32_bits(s), eb = f32_bits(e), em = eb & PL_F32_MAG;
    bool inexact = (int32_t)em > 0 && (int32_t)em < (int32_t)PL_F32_INF;
    uint32_t step = (int32_t)(sb ^ eb) < 0 ? UINT32_MAX : 1;
    return f32_value(sb + (inexact && !(sb & 1) ? step : 0));
}

/* Rounds a double to f32 in any mode. The host rounds to nearest. A comparison of the result with
 * the operand gives the direction of the error, and one step in the pattern (which also steps
 * through subnormals and into infinity) corrects it. */
static inline uint32_t f32_narrow(double s, int rnd)
{
    float f = (float)s;
    uint32_t b = f32_bits(f);
    if (rnd != PL_RN) {
        uint64_t fm = f64_bits((double)f) & PL_F64_MAG, sm = f64_bits(s) & PL_F64_MAG;
        uint32_t big = (int64_t)fm > (int64_t)sm, small = (int64_t)fm < (int64_t)sm;
        uint32_t negative = b >> 31;
        uint32_t away = rnd == PL_RM ? negative : rnd == PL_RP ? negative ^ 1 : 0;
        uint32_t step = away ? small : 0u - big;
        b += step;
        if (rnd == PL_RO) b |= big | small;
    }
    return f32_is_nan(b) ? PL_F32_NAN : b;
}

/* A sum that is exactly zero has the sign of its terms if they agree, else + (but - when rounding
 * down). */
static inline double zero_sum_sign(double s, double p, double c, int rnd)
{
    if (rnd != PL_RM) return s;
    uint64_t sb = f64_bits(s), sign = (f64_bits(p) | f64_bits(c)) & PL_F64_SIGN;
    return f64_value((sb & PL_F64_MAG) == 0 ? sign : sb);
}

#endif
