/* small_floats.h - arithmetic and conversions of PTX 9.4 on packed 8-, 6- and 4-bit floats.
 *
 * Elements are computed in double precision, which represents every sum and product of them whose
 * last bit can matter, and are rounded once. An infinite or too large result becomes the largest
 * number with .satfinite, else the format's next code: Inf in e5m2, NaN in the others. PTX manual,
 * sections "Alternate Floating-Point Instructions" and "cvt". Not recorded on hardware. */
#ifndef PL_EMU_EXEC_NUM_SMALL_FLOATS_H
#define PL_EMU_EXEC_NUM_SMALL_FLOATS_H

#include <math.h>

#include "convert_fp8.h"

typedef struct pl_packed {
    int ebits, mbits;
    int step; /* bits from one element of a register to the next */
    bool sign;
    uint32_t max, beyond, nan; /* the largest number, the code for larger results, the code for a
                                  NaN */
} pl_packed;

static const pl_packed packed_e4m3 = {4, 3, 8, true, 0x7e, 0x7f, 0x7f},
                       packed_e5m2 = {5, 2, 8, true, 0x7b, 0x7c, 0x7f},
                       packed_e3m2 = {3, 2, 8, true, 0x1f, 0x1f, 0x1f},
                       packed_e2m3 = {2, 3, 8, true, 0x1f, 0x1f, 0x1f},
                       packed_e2m1 = {2, 1, 4, true, 0x7, 0x7, 0x7},
                       packed_e2m1p4 = {2, 1, 8, true, 0x7, 0x7, 0x7},
                       packed_ue8m0 = {8, 0, 8, false, 0xfe, 0xff, 0xff},
                       packed_ue5m3 = {5, 3, 8, false, 0xfe, 0xff, 0xff};

static inline bool packed_is_nan(pl_packed f, uint32_t magnitude)
{
    const int bits = f.ebits + f.mbits;
    return bits < 7 ? false : f.ebits == 5 && f.sign ? magnitude > 0x7c : magnitude == f.nan;
}

/* The value of the lowest bits of `code`. */
static inline double packed_value(pl_packed f, uint32_t code)
{
    const int bits = f.ebits + f.mbits, bias = (1 << (f.ebits - 1)) - 1;
    const uint32_t m = code & ((1u << bits) - 1), e = m >> f.mbits,
                   frac = m & ((1u << f.mbits) - 1);
    if (packed_is_nan(f, m)) return (double)NAN;
    double x;
    if (f.ebits == 8)
        x = ldexp(1, (int)m - bias);
    else if (f.ebits == 5 && f.sign && m == 0x7c)
        x = (double)INFINITY;
    else
        x = ldexp(e ? (1 << f.mbits) + (int)frac : (int)frac, (e ? (int)e : 1) - bias - f.mbits);
    return f.sign && code >> bits & 1 ? -x : x;
}

/* Rounds to the format. Formats without a sign use the magnitude. */
static inline uint32_t packed_round(pl_packed f, double x, int rnd, bool satfinite)
{
    if (isnan(x)) return f.nan;
    const int bits = f.ebits + f.mbits, bias = (1 << (f.ebits - 1)) - 1;
    const uint32_t sign = f.sign && signbit(x) ? 1u << bits : 0;
    const double m = fabs(x);
    if (m == 0) return sign;
    int e = m < ldexp(1, 1 - bias) ? 1 - bias : m > ldexp(1, bias + 4) ? bias + 4 : ilogb(m);
    const double q = ldexp(m, f.mbits - e);
    const double n = rnd == PL_RZ ? floor(q) : rnd == PL_RP ? ceil(q) : rint(q);
    const double code = n + ((e + bias - 1) << f.mbits);
    const bool over = code > f.max;
    return sign |
           (over ? satfinite || (rnd == PL_RZ && !isinf(x)) ? f.max : f.beyond : (uint32_t)code);
}

/* ---- four elements ---- */

static inline double packed_at(pl_packed f, uint32_t a, int i)
{
    return packed_value(f, a >> (f.step * i) & ((1u << (f.step == 4 ? 4 : 8)) - 1));
}

static inline uint32_t small_x4_add(pl_packed d, pl_packed fa, uint32_t a, uint32_t c,
                                    bool negate_c, bool satfinite)
{
    uint32_t r = 0;
    for (int i = 0; i < 4; i++) {
        const double y = packed_at(d, c, i), x = packed_at(fa, a, i);
        r |= packed_round(d, negate_c ? x - y : x + y, PL_RN, satfinite) << (8 * i);
    }
    return r;
}

static inline uint32_t small_x4_mul(pl_packed d, pl_packed fa, uint32_t a, pl_packed fc, uint32_t c,
                                    bool satfinite)
{
    uint32_t r = 0;
    for (int i = 0; i < 4; i++)
        r |= packed_round(d, packed_at(fa, a, i) * packed_at(fc, c, i), PL_RN, satfinite)
             << (8 * i);
    return r;
}

static inline uint32_t small_x4_fma(pl_packed d, pl_packed fa, uint32_t a, pl_packed fb, uint32_t b,
                                    uint32_t c, bool satfinite)
{
    uint32_t r = 0;
    for (int i = 0; i < 4; i++) {
        const double product = packed_at(fa, a, i) * packed_at(fb, b, i);
        r |= packed_round(d, product + packed_at(d, c, i), PL_RN, satfinite) << (8 * i);
    }
    return r;
}

/* ---- conversions ---- */

static inline uint32_t half_pzo(uint32_t h)
{
    return h == 0x8000 ? 0 : h;
}

static inline uint32_t f32_pzo(uint32_t x)
{
    return x == PL_F32_SIGN ? 0 : x;
}

/* One element of cvt from f32: `scaled` divides by the ue8m0 `scale`, after flushing subnormal
 * inputs to zero. */
static inline uint32_t packed_from_f32(pl_packed f, uint32_t a, bool scaled, uint32_t scale,
                                       int rnd, bool satfinite, bool relu, bool pzo)
{
    double x = (double)f32_value(scaled ? f32_ftz(a, true) : a);
    if (scaled) x = (scale & 0xff) == 0xff ? (double)NAN : ldexp(x, 127 - (int)(scale & 0xff));
    if (relu && signbit(x) && !isnan(x)) x = 0;
    const uint32_t r = packed_round(f, x, rnd, satfinite);
    return pzo && f.sign && r == 1u << (f.ebits + f.mbits) ? 0 : r;
}

static inline uint32_t packed_pair(pl_packed f, uint32_t hi, uint32_t lo, bool scaled,
                                   uint32_t scale, int rnd, bool satfinite, bool relu, bool pzo)
{
    return packed_from_f32(f, hi, scaled, scale, rnd, satfinite, relu, pzo) << f.step |
           packed_from_f32(f, lo, scaled, scale, rnd, satfinite, relu, pzo);
}

/* Four elements of cvt.rs, with zeros made positive. */
static inline uint32_t packed_pzo(uint32_t d, int width, int sign_bit)
{
    const uint32_t ones = width == 4 ? 15 : 255;
    for (int i = 0; i < 4; i++)
        if ((d >> (width * i) & ones) == 1u << sign_bit) d &= ~(ones << (width * i));
    return d;
}

static inline uint32_t f16x2_from_ue5m3(uint32_t a)
{
    uint16_t h[2];
    for (int i = 0; i < 2; i++)
        h[i] = f16_from_f32(f32_bits((float)packed_at(packed_ue5m3, a, i)), PL_RN);
    return join_halves(h[0], h[1]);
}

static inline uint32_t bf16x2_from_ue5m3(uint32_t a, uint32_t scale, bool satfinite)
{
    uint16_t h[2];
    for (int i = 0; i < 2; i++)
        h[i] = bf16_scaled(f32_bits((float)packed_at(packed_ue5m3, a, i)), scale >> (8 * i) & 0xff,
                           false, satfinite);
    return join_halves(h[0], h[1]);
}

/* ---- mixed precision: f32x2 with pairs of halves ---- */

static inline uint32_t half_word_f32(uint32_t pair, int i, bool bf16)
{
    const uint16_t h = i ? high_half(pair) : low_half(pair);
    return bf16 ? f32_from_bf16(h) : f32_from_f16(h);
}

static inline uint64_t pair_to_f32x2(uint32_t pair, bool bf16)
{
    return (uint64_t)half_word_f32(pair, 1, bf16) << 32 | half_word_f32(pair, 0, bf16);
}

/* Truncates two f32, which were rounded towards zero, to halves. .ftz is that of f16. */
static inline uint32_t pair_from_f32x2(uint64_t x, bool bf16, bool ftz)
{
    uint16_t h[2];
    for (int i = 0; i < 2; i++) {
        const uint32_t v = (uint32_t)(x >> (32 * i));
        h[i] = bf16 ? bf16_from_f32(v, PL_RZ) : f16_from_f32(v, PL_RZ);
        if (ftz && !(h[i] & 0x7c00)) h[i] &= 0x8000;
    }
    return join_halves(h[0], h[1]);
}

#endif
