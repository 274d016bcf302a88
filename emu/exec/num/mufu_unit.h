/* mufu_unit.h - bit-exact model of the special function unit (MUFU).
 *
 * One interpolator implements all its functions (Oberman and Siu, "A High-Performance
 * Area-Efficient Multifunction Interpolator", ARITH-17, 2005). The argument is reduced to a table
 * row and a 17-bit position x in the row's interval. The row holds a parabola, and the result is
 * the first 24 bits of
 *
 *     T = C0 + C1*x + C2*square(x) + K
 *
 * in fixed point, with one constant K per function instead of rounding, and a square whose low
 * columns of partial products are not computed. doc/numerics.md describes how this was determined.
 * All of it is integer arithmetic, or floating point with exact results, so every host and compiler
 * produces the same bits. tests/accuracy/mufu_all.c compares all 2^32 inputs of every function with
 * the recorded chip (H200, driver 580.159.04, 2026-11).
 *
 *      23-bit fraction      RCP    [ row 7 | x 16 ]   x is shifted left by one
 *                           others [ row 6 | x 17 ]   RSQ, SQRT: one more row bit, for the exponent
 *
 * These functions take and return register bits and flush subnormal operands and results. Read
 * next: mufu_sequences.h, which builds the PTX instructions from them. */
#ifndef PL_EMU_EXEC_NUM_MUFU_UNIT_H
#define PL_EMU_EXEC_NUM_MUFU_UNIT_H

#include "num.h"

/* Compilers do not inline functions of this size, and a loop with a call is not vectorised. With
 * these inlined, 32 lanes take about a quarter of the time. */
#define MUFU_INLINE static inline __attribute__((always_inline))

/* The rows of all functions, concatenated: C0 in units of 2^-6 u, and C1 and C2 packed into one
 * word. u is the function's unit, the weight of C2's last bit; the unit of C1 is 2u. Rows of tanh
 * have 15 bits for C2, the others 14. mufu_tables.def lists them; tools/mufu determines them. */
#ifndef MUFU_OWN_ROWS /* tools/mufu/solve.c supplies its own candidates */
extern const int32_t pl_mufu_c0[627], pl_mufu_c12[627];
#endif

enum {
    MUFU_ROW_RCP = 0,
    MUFU_ROW_RSQ = 128,
    MUFU_ROW_SQRT = 256,
    MUFU_ROW_EX2 = 384,
    MUFU_ROW_LG2 = 448,
    MUFU_ROW_SIN = 512,
    MUFU_ROW_TANH = 576
};

#define MUFU_C2_BITS      14
#define MUFU_C2_BITS_TANH 15

/* The constants K, in units of 2^-16 u. All are below the last bit of that function's C0. */
enum {
    MUFU_K_RCP = 4046,
    MUFU_K_RSQ = 16383,
    MUFU_K_SQRT = 32767,
    MUFU_K_EX2 = 12228,
    MUFU_K_LG2 = 837,
    MUFU_K_SIN = 0,
    MUFU_K_TANH = 0
};

/* T in units of 2^-16 u: high * 2^10 + (low & 1023). */
typedef struct mufu_sum {
    uint32_t high, low;
} mufu_sum;

/* The square of a 16-bit number in units of 2^17. Written as rows of partial products, with the
 * symmetric ones added once with double weight, columns 0 to 16 are missing:
 *
 *     a = bits 15..8, b = bits 7..0        a*a       all but a column 16 that is rounded away
 *                                          2*a*b     only products of weight 2^17 and more
 *                                          b*b       nothing */
MUFU_INLINE int32_t mufu_square(uint32_t x)
{
    uint32_t a = x >> 8, b = x & 255;
    uint32_t s = a * a >> 1;
    s += (0u - (a >> 7 & 1)) & (b >> 1);
    s += (0u - (a >> 6 & 1)) & (b >> 2);
    s += (0u - (a >> 5 & 1)) & (b >> 3);
    s += (0u - (a >> 4 & 1)) & (b >> 4);
    s += (0u - (a >> 3 & 1)) & (b >> 5);
    s += (0u - (a >> 2 & 1)) & (b >> 6);
    s += (0u - (a >> 1 & 1)) & (b >> 7);
    return (int32_t)s;
}

/* C1*x needs 34 bits, so x is split in two parts and the sum is held in two words; no product
 * overflows 32 bits. */
MUFU_INLINE mufu_sum mufu_parabola(int32_t c0, int32_t c1, int32_t c2, int32_t k, uint32_t x)
{
    int32_t low = k + c1 * (int32_t)(x & 1023) + 2 * c2 * mufu_square(x >> 1);
    uint32_t high = (uint32_t)c0 + (uint32_t)(c1 * (int32_t)(x >> 10)) + (uint32_t)(low >> 10);
    return (mufu_sum){high, (uint32_t)low & 1023};
}

MUFU_INLINE mufu_sum mufu_packed(int32_t c0, int32_t c12, int c2_bits, int32_t k, uint32_t x)
{
    int32_t c1 = c12 >> c2_bits, c2 = (int32_t)((uint32_t)c12 << (32 - c2_bits)) >> (32 - c2_bits);
    return mufu_parabola(c0, c1, c2, k, x);
}

MUFU_INLINE mufu_sum mufu_row(uint32_t row, int c2_bits, int32_t k, uint32_t x)
{
    const int32_t r = (int32_t)row; /* signed index: compilers then gather eight rows */
    return mufu_packed(pl_mufu_c0[r], pl_mufu_c12[r], c2_bits, k, x);
}

/* T as a double, which represents it exactly. */
MUFU_INLINE double mufu_double(mufu_sum t)
{
    return (double)(int32_t)t.high * 1024.0 + (double)(int32_t)t.low;
}

/* The f32 with the first 24 bits of a positive number, or zero. */
MUFU_INLINE uint32_t mufu_truncate(double t)
{
    return f32_bits((float)f64_value(f64_bits(t) & ~0x1fffffffull));
}

MUFU_INLINE bool mufu_is_subnormal(uint32_t a)
{
    return (a & PL_F32_INF) == 0; /* or zero */
}

/* ---- 1/x ---- */

/* 1/m for the fraction of m in [1, 2), as 2^23 to 2^24 units of 2^-24. */
MUFU_INLINE uint32_t mufu_rcp_fraction(uint32_t fraction)
{
    uint32_t row = MUFU_ROW_RCP + (fraction >> 16);
    return mufu_row(row, MUFU_C2_BITS, MUFU_K_RCP, (fraction & 0xffff) << 1).high >> 6;
}

MUFU_INLINE uint32_t mufu_rcp(uint32_t a)
{
    uint32_t sign = a & PL_F32_SIGN, m = a & PL_F32_MAG;
    int32_t e = (int32_t)(m >> 23);
    int32_t r = (252 - e) * 0x800000 + (int32_t)mufu_rcp_fraction(m & 0x7fffff);
    uint32_t v = blend32((r < 0x800000) | (m == PL_F32_INF), 0, (uint32_t)r); /* |a| > 2^126 */
    v = sign | blend32(mufu_is_subnormal(a), PL_F32_INF, v);
    return blend32(m > PL_F32_INF, PL_F32_NAN, v);
}

/* MUFU.RCP64H: computes the high word of an f64's reciprocal from its high word, with the same
 * table and 20 of its bits. */
MUFU_INLINE uint32_t mufu_rcp64h(uint32_t hi)
{
    uint32_t sign = hi & PL_F32_SIGN, m = hi & PL_F32_MAG;
    int32_t e = (int32_t)(m >> 20);
    int32_t r = (2044 - e) * 0x100000 + (int32_t)(mufu_rcp_fraction((m & 0xfffff) << 3) >> 3);
    uint32_t v = blend32((r < 0x100000) | (m == 0x7ff00000u), 0, (uint32_t)r);
    v = sign | blend32(m < 0x100000, 0x7ff00000u, v);
    return blend32(m > 0x7ff00000u, PL_F32_NAN, v);
}

/* ---- 1/sqrt(x), sqrt(x) ---- */

/* 1/sqrt(m) for m in [1, 2), or in [2, 4) if the exponent is odd. The square root of a power of
 * four is exact: the row by itself would give the next lower number. */
MUFU_INLINE uint32_t mufu_rsq_fraction(uint32_t fraction, uint32_t odd)
{
    uint32_t row = MUFU_ROW_RSQ + (odd << 6 | fraction >> 17);
    uint32_t y = mufu_row(row, MUFU_C2_BITS, MUFU_K_RSQ, fraction & 0x1ffff).high >> 6;
    return blend32((odd | fraction) == 0, 0x1000000u, y);
}

MUFU_INLINE uint32_t mufu_rsq(uint32_t a)
{
    uint32_t m = a & PL_F32_MAG, sign = a & PL_F32_SIGN;
    uint32_t e = m >> 23, odd = ~e & 1;
    uint32_t half = (e + 127 - odd) >> 1; /* 127 + half of the even exponent */
    uint32_t v = ((252 - half) << 23) + mufu_rsq_fraction(m & 0x7fffff, odd);
    v = blend32(a == PL_F32_INF, 0, v);
    v = blend32((sign | (m > PL_F32_INF)) != 0, PL_F32_NAN, v);
    return blend32(mufu_is_subnormal(a), sign | PL_F32_INF, v);
}

/* MUFU.RSQ64H, analogous to MUFU.RCP64H. */
MUFU_INLINE uint32_t mufu_rsq64h(uint32_t hi)
{
    uint32_t m = hi & PL_F32_MAG, sign = hi & PL_F32_SIGN;
    uint32_t e = m >> 20, odd = ~e & 1;
    uint32_t half = (e + 1023 - odd) >> 1;
    uint32_t v = ((2044 - half) << 20) + (mufu_rsq_fraction((m & 0xfffff) << 3, odd) >> 3);
    v = blend32(hi == 0x7ff00000u, 0, v);
    v = blend32((sign | (m > 0x7ff00000u)) != 0, PL_F32_NAN, v);
    return blend32(m < 0x100000, sign | 0x7ff00000u, v);
}

MUFU_INLINE uint32_t mufu_sqrt(uint32_t a)
{
    uint32_t m = a & PL_F32_MAG, sign = a & PL_F32_SIGN, fraction = m & 0x7fffff;
    uint32_t e = m >> 23, odd = ~e & 1;
    uint32_t half = (e + 127 - odd) >> 1;
    uint32_t row = MUFU_ROW_SQRT + (odd << 6 | fraction >> 17);
    uint32_t y = mufu_row(row, MUFU_C2_BITS, MUFU_K_SQRT, fraction & 0x1ffff).high >> 7;
    uint32_t v = (half - 1) * 0x800000u + y;
    v = blend32(a == PL_F32_INF, PL_F32_INF, v);
    v = blend32((sign | (m > PL_F32_INF)) != 0, PL_F32_NAN, v);
    return blend32(mufu_is_subnormal(a), sign, v);
}

/* ---- 2^x ---- */

/* x as a fixed-point number with 23 fraction bits, truncated towards zero. A negative number is
 * complemented, which is one unit less than its negation; only an integer is negated. Numbers of
 * 256 and more are treated as 255: their powers are out of range in both cases. */
MUFU_INLINE int32_t mufu_ex2_fixed(uint32_t a)
{
    bool large = (a & PL_F32_MAG) >= 0x43800000u;
    int32_t fixed = (int32_t)(f32_value(blend32(large, (a & PL_F32_SIGN) | 0x437f0000u, a)) *
                              0x1p23f); /* exact */
    return fixed - ((fixed < 0) & ((fixed & 0x7fffff) != 0));
}

/* mufu_ex2_row returns the row of a fixed-point number; mufu_ex2_result computes the result from
 * the words of that row. */
MUFU_INLINE uint32_t mufu_ex2_row(int32_t fixed)
{
    return (uint32_t)fixed >> 17 & 63;
}

MUFU_INLINE uint32_t mufu_ex2_result(uint32_t a, int32_t fixed, int32_t c0, int32_t c12)
{
    int32_t whole = fixed >> 23;
    uint32_t y =
        mufu_packed(c0, c12, MUFU_C2_BITS, MUFU_K_EX2, (uint32_t)fixed & 0x1ffff).high >> 6;
    uint32_t v = (uint32_t)(whole + 126) * 0x800000u + y;
    v = blend32(whole > 127, PL_F32_INF, v);
    v = blend32(whole < -126, 0, v);
    return blend32((a & PL_F32_MAG) > PL_F32_INF, PL_F32_NAN, v);
}

MUFU_INLINE uint32_t mufu_ex2(uint32_t a)
{
    int32_t fixed = mufu_ex2_fixed(a), row = MUFU_ROW_EX2 + (int32_t)mufu_ex2_row(fixed);
    return mufu_ex2_result(a, fixed, pl_mufu_c0[row], pl_mufu_c12[row]);
}

/* ---- log2(x) ---- */

/* Exponent plus interpolated fraction, a fixed-point number whose last bit is 2^-36 (T has two more
 * bits, which are dropped). A negative sum is complemented, not negated. Then the first 24 bits are
 * kept: near 1, where the leading bits cancel, the fixed-point error is visible. log2(1) is 0,
 * although its row gives a small positive number. */
MUFU_INLINE uint32_t mufu_lg2(uint32_t a)
{
    uint32_t m = a & PL_F32_MAG, fraction = m & 0x7fffff;
    int32_t e = (int32_t)(m >> 23) - 127;
    uint32_t row = MUFU_ROW_LG2 + (fraction >> 17);
    mufu_sum t = mufu_row(row, MUFU_C2_BITS, MUFU_K_LG2, fraction & 0x1ffff);
    t.low &= ~3u;
    double s = (double)e * 0x1p38 + mufu_double(t);
    double magnitude = f64_value(blend64(e < 0, f64_bits(-4.0 - s), f64_bits(s)));
    uint32_t v = mufu_truncate(magnitude * 0x1p-38) | ((uint32_t)e & PL_F32_SIGN);
    v = blend32(a == PL_F32_ONE, 0, v);
    v = blend32(a == PL_F32_INF, PL_F32_INF, v);
    v = blend32(a > PL_F32_INF, PL_F32_NAN, v);
    return blend32(mufu_is_subnormal(a), PL_F32_SIGN | PL_F32_INF, v);
}

/* ---- sin(2 pi x), cos(2 pi x) ---- */

/* The argument is in turns. |x| is truncated to 25 fraction bits and whole turns are dropped:  [
 * quadrant 2 | row 6 | x 17 ]. Odd quadrants run backwards, by complement. `shift` is 0 for the
 * sine and 1 for the cosine, which is one quadrant ahead. */
MUFU_INLINE uint32_t mufu_turn(uint32_t p, uint32_t shift)
{
    uint32_t m = p & PL_F32_MAG;
    int32_t e = (int32_t)(m >> 23) - 125; /* the weight of the last bit is 2^(e - 25) */
    uint32_t significand = (m & 0x7fffff) | 0x800000;
    uint32_t left = (uint32_t)(e > 0 ? e : 0), right = (uint32_t)(e < 0 ? -e : 0);
    uint32_t fixed = (significand << (left < 25 ? left : 25)) >> (right < 31 ? right : 31);
    uint32_t quadrant = (fixed >> 23) + shift;
    uint32_t fraction = (fixed ^ (0u - (quadrant & 1))) & 0x7fffff;
    uint32_t row = MUFU_ROW_SIN + (fraction >> 17);
    mufu_sum t = mufu_row(row, MUFU_C2_BITS, MUFU_K_SIN, fraction & 0x1ffff);
    uint32_t sign = (quadrant & 2) << 30 ^ (shift ? 0 : p & PL_F32_SIGN);
    uint32_t v = mufu_truncate(mufu_double(t) * 0x1p-38) | sign;
    return blend32(m >= PL_F32_INF, PL_F32_NAN, v);
}

MUFU_INLINE uint32_t mufu_sin(uint32_t p)
{
    return mufu_turn(p, 0);
}

MUFU_INLINE uint32_t mufu_cos(uint32_t p)
{
    return mufu_turn(p, 1);
}

/* ---- tanh(x) ---- */

/* Rows depend on the exponent: each binade from [2^-8, 2^-7) to [4, 8) has its own first row,
 * number of rows and unit, packed by MUFU_BINADE. Smaller arguments are returned unchanged, larger
 * ones give 1. */
#define MUFU_BINADE(first, log2_rows, log2_unit) ((first) | (log2_rows) << 8 | (log2_unit) << 16)

static const uint32_t mufu_tanh_binade[11] = {
    MUFU_BINADE(0u, 0u, 0u),  MUFU_BINADE(1u, 0u, 0u),  MUFU_BINADE(2u, 0u, 0u),
    MUFU_BINADE(3u, 1u, 0u),  MUFU_BINADE(5u, 1u, 1u),  MUFU_BINADE(7u, 2u, 1u),
    MUFU_BINADE(11u, 2u, 2u), MUFU_BINADE(15u, 2u, 3u), MUFU_BINADE(19u, 3u, 2u),
    MUFU_BINADE(27u, 4u, 0u), MUFU_BINADE(43u, 3u, 0u),
};

MUFU_INLINE uint32_t mufu_tanh(uint32_t a)
{
    uint32_t m = a & PL_F32_MAG, sign = a & PL_F32_SIGN, fraction = m & 0x7fffff;
    uint32_t b = (m >> 23) - 119;
    uint32_t binade = mufu_tanh_binade[(int32_t)(b < 11 ? b : 10)];
    uint32_t log2_rows = binade >> 8 & 255, log2_unit = binade >> 16;
    uint32_t row = MUFU_ROW_TANH + (binade & 255) + (fraction >> (23 - log2_rows));
    uint32_t x = fraction >> (6 - log2_rows) & 0x1ffff;
    mufu_sum t = mufu_row(row, MUFU_C2_BITS_TANH, MUFU_K_TANH, x);
    double unit = f64_value((uint64_t)(1023 - 39 + log2_unit) << 52);
    uint32_t v = mufu_truncate(mufu_double(t) * unit);
    v = blend32(m < 0x3b800000u, m, v);
    v = blend32(m >= 0x41000000u, PL_F32_ONE, v);
    return blend32(m > PL_F32_INF, PL_F32_NAN, sign | v);
}

#endif
