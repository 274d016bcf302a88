/* convert.h - conversions between integers, f16, bf16, f32, tf32 and f64.
 *
 * Names read D_from_S. Integer results saturate to the type as on the hardware, with or without
 * .sat. NaN gives 0, except that conversions with a 64-bit type as source or destination give only
 * the destination's top bit. f64 to a narrower float keeps the upper payload of a NaN; most others
 * make it canonical (H200, driver 580.159.04, 2026-11). PTX manual, "Data Movement and Conversion
 * Instructions: cvt". The 8-bit and smaller floats are in convert_fp8.h. */
#ifndef PL_EMU_EXEC_NUM_CONVERT_H
#define PL_EMU_EXEC_NUM_CONVERT_H

#include "f64.h"
#include "half2.h"

/* ---- rounding to an integer, in a floating-point format ---- */

/* Adding and subtracting 2^52 leaves no fraction bits, so the host rounds the fraction away (to
 * nearest even). A comparison with the operand then determines the direction in which the other
 * modes must step. */
PL_LANE_INLINE double f64_round(double x, int rnd)
{
    uint64_t sign = f64_bits(x) & PL_F64_SIGN;
    double m = f64_value(f64_bits(x) & PL_F64_MAG);
    double t = (m + 0x1p52) - 0x1p52;
    bool away = rnd == PL_RM ? sign != 0 : rnd == PL_RP ? sign == 0 : false;
    if (rnd != PL_RN) t += away ? (t < m ? 1.0 : 0.0) : (t > m ? -1.0 : 0.0);
    return f64_value(blend64(m < 0x1p52, f64_bits(t), f64_bits(m)) | sign);
}

static inline float f32_round(float x, int rnd)
{
    uint32_t sign = f32_bits(x) & PL_F32_SIGN;
    float m = f32_value(f32_bits(x) & PL_F32_MAG);
    float t = (m + 0x1p23f) - 0x1p23f;
    bool away = rnd == PL_RM ? sign != 0 : rnd == PL_RP ? sign == 0 : false;
    const uint32_t up = f32_bits(1.0f), down = f32_bits(-1.0f);
    if (rnd != PL_RN) t += f32_value(away ? blend32(t < m, up, 0) : blend32(t > m, down, 0));
    return f32_value(blend32(m < 0x1p23f, f32_bits(t), f32_bits(m)) | sign);
}

static inline uint32_t f32_to_integral(uint32_t a, int rnd, bool ftz, bool sat)
{
    return f32_finish(f32_bits(f32_round(f32_value(f32_ftz(a, ftz)), rnd)), false, sat);
}

static inline uint64_t f64_to_integral(uint64_t a, int rnd, bool sat)
{
    uint64_t r = f64_bits(f64_round(f64_value(a), rnd));
    r = f64_is_nan(a) ? f64_nan2(a, a) : r;
    return sat ? f64_clamp01(r) : r;
}

/* ---- float to integer ----
 * Every operand fits in a double. `lo` and `hi` are the limits of the destination, at most 32 bits
 * wide. */

static inline int32_t int_from_double(double x, int rnd, double lo, double hi)
{
    double r = f64_round(x, rnd);
    r = r > lo ? r : lo; /* also handles NaN */
    r = r < hi ? r : hi;
    return (int32_t)r;
}

static inline int32_t s32_from_f32(uint32_t a, int rnd, bool ftz)
{
    enum { TOO_LARGE = 0x4f000000 }; /* 2^31 */
    const uint32_t x = f32_ftz(a, ftz), r = f32_bits(f32_round(f32_value(x), rnd));
    const bool large = (r & PL_F32_MAG) >= TOO_LARGE;
    const int32_t within = (int32_t)f32_value(blend32(large, 0, r));
    const uint32_t limit = INT32_MAX + (r >> 31);
    return (int32_t)blend32(f32_is_nan(x), 0, blend32(large, limit, (uint32_t)within));
}

/* Unsigned: offset by -2^31, so that the conversion is a signed one, which vector units have. */
static inline uint32_t u32_from_double(double x, int rnd)
{
    double r = f64_round(x, rnd) - 0x1p31;
    r = r > -0x1p31 ? r : -0x1p31;
    r = r < 0x1.fffffffcp30 ? r : 0x1.fffffffcp30;
    return (uint32_t)(int32_t)r ^ 0x80000000u;
}

/* u8, s8, u16, s16. */
static inline int32_t narrow_from_f32(uint32_t a, int rnd, bool ftz, int width, bool is_signed)
{
    int32_t span = 1 << width, hi = (is_signed ? span >> 1 : span) - 1,
            lo = is_signed ? -hi - 1 : 0;
    uint32_t x = f32_ftz(a, ftz);
    int32_t r = int_from_double(f32_value(x), rnd, lo, hi);
    return f32_is_nan(x) ? 0 : r;
}

static inline int32_t narrow_from_f64(uint64_t a, int rnd, int width, bool is_signed)
{
    int32_t span = 1 << width, hi = (is_signed ? span >> 1 : span) - 1,
            lo = is_signed ? -hi - 1 : 0;
    int32_t r = int_from_double(f64_value(a), rnd, lo, hi);
    return f64_is_nan(a) ? is_signed ? lo : span >> 1 : r;
}

static inline uint32_t u32_from_f32(uint32_t a, int rnd, bool ftz)
{
    uint32_t x = f32_ftz(a, ftz);
    uint32_t r = u32_from_double(f32_value(x), rnd);
    return f32_is_nan(x) ? 0 : r;
}

static inline int32_t s32_from_f64(uint64_t a, int rnd)
{
    int32_t r = int_from_double(f64_value(a), rnd, -0x1p31, 0x1.fffffffcp30);
    return f64_is_nan(a) ? INT32_MIN : r;
}

static inline uint32_t u32_from_f64(uint64_t a, int rnd)
{
    return f64_is_nan(a) ? 0x80000000u : u32_from_double(f64_value(a), rnd);
}

static inline int64_t s64_from_f64(uint64_t a, int rnd)
{
    double r = f64_round(f64_value(a), rnd);
    if (r >= 0x1p63) return INT64_MAX;
    return r >= -0x1p63 ? (int64_t)r : INT64_MIN;
}

static inline uint64_t u64_from_f64(uint64_t a, int rnd)
{
    double r = f64_round(f64_value(a), rnd);
    if (f64_is_nan(a)) return 0x8000000000000000u;
    if (r >= 0x1p64) return UINT64_MAX;
    if (r >= 0x1p63) return (uint64_t)(int64_t)(r - 0x1p63) | 0x8000000000000000u;
    return r > 0.0 ? (uint64_t)(int64_t)r : 0;
}

static inline int64_t s64_from_f32(uint32_t a, int rnd, bool ftz)
{
    return s64_from_f64(f64_bits((double)f32_value(f32_ftz(a, ftz))), rnd);
}

static inline uint64_t u64_from_f32(uint32_t a, int rnd, bool ftz)
{
    return u64_from_f64(f64_bits((double)f32_value(f32_ftz(a, ftz))), rnd);
}

/* ---- integer to integer with saturation ---- */

static inline int64_t clamp_s64(int64_t x, int64_t lo, int64_t hi)
{
    x = x < lo ? lo : x;
    return x > hi ? hi : x;
}

static inline uint64_t clamp_u64(uint64_t x, uint64_t hi)
{
    return x > hi ? hi : x;
}

/* ---- integer to float ---- */

static inline uint32_t f32_from_s32(int32_t a, int rnd)
{
    return rnd == PL_RN ? f32_bits((float)a) : f32_narrow((double)a, rnd);
}

static inline uint32_t f32_from_u32(uint32_t a, int rnd)
{
    return f32_narrow((double)a, rnd);
}

static inline uint32_t f32_from_s64(int64_t a, int rnd)
{
    return pl_soft_f32_from_int(a < 0, a < 0 ? 0u - (uint64_t)a : (uint64_t)a, rnd);
}

static inline uint32_t f32_from_u64(uint64_t a, int rnd)
{
    return pl_soft_f32_from_int(false, a, rnd);
}

/* Every 32-bit integer is exact in f64; the mode exists for uniformity. */
static inline uint64_t f64_from_s32(int32_t a, int rnd)
{
    (void)rnd;
    return f64_bits((double)a);
}

static inline uint64_t f64_from_u32(uint32_t a, int rnd)
{
    (void)rnd;
    return f64_bits((double)a);
}

static inline uint64_t f64_from_s64(int64_t a, int rnd)
{
    return pl_soft_f64_from_int(a < 0, a < 0 ? 0u - (uint64_t)a : (uint64_t)a, rnd);
}

static inline uint64_t f64_from_u64(uint64_t a, int rnd)
{
    return pl_soft_f64_from_int(false, a, rnd);
}

/* 16-bit floats: through an f32 rounded to odd, which makes the second rounding exact. */
static inline uint16_t f16_from_s64(int64_t a, int rnd)
{
    return f16_from_f32(f32_from_s64(a, PL_RO), rnd);
}

static inline uint16_t f16_from_u64(uint64_t a, int rnd)
{
    return f16_from_f32(f32_from_u64(a, PL_RO), rnd);
}

static inline uint16_t bf16_from_s64(int64_t a, int rnd)
{
    return bf16_from_f32(f32_from_s64(a, PL_RO), rnd);
}

static inline uint16_t bf16_from_u64(uint64_t a, int rnd)
{
    return bf16_from_f32(f32_from_u64(a, PL_RO), rnd);
}

static inline uint16_t f16_from_s32(int32_t a, int rnd)
{
    return f16_from_f32(f32_narrow((double)a, PL_RO), rnd);
}

static inline uint16_t f16_from_u32(uint32_t a, int rnd)
{
    return f16_from_f32(f32_narrow((double)a, PL_RO), rnd);
}

static inline uint16_t bf16_from_s32(int32_t a, int rnd)
{
    return bf16_from_f32(f32_narrow((double)a, PL_RO), rnd);
}

static inline uint16_t bf16_from_u32(uint32_t a, int rnd)
{
    return bf16_from_f32(f32_narrow((double)a, PL_RO), rnd);
}

static inline uint16_t f16_clamp01(uint16_t h)
{
    uint32_t low = h > 0x7c00 ? 0u : h;
    return (uint16_t)(low > 0x3c00 ? 0x3c00 : low);
}

/* ---- float to float ---- */

/* cvt.f32.f32: a move, unless .ftz or .sat makes it an operation. */
static inline uint32_t f32_from_f32(uint32_t a, bool ftz, bool sat)
{
    return ftz || sat ? f32_finish(f32_ftz(a, ftz), false, sat) : a;
}

static inline uint64_t f64_from_f32(uint32_t a, bool ftz)
{
    uint32_t x = f32_ftz(a, ftz);
    x = ftz && f32_is_nan(x) ? PL_F32_NAN : x; /* .ftz is a separate f32 operation */
    uint64_t r = f64_bits((double)f32_value(x));
    return f32_is_nan(x) ? r | PL_F64_QUIET : r;
}

static inline uint32_t f32_from_f64(uint64_t a, int rnd, bool ftz, bool sat)
{
    double x = f64_value(a);
    uint32_t r = f32_narrow(x, rnd);
    uint32_t sign = (uint32_t)(a >> 32) & PL_F32_SIGN;
    uint32_t nan = sign | 0x7fc00000u | ((uint32_t)(a >> 29) & 0x7fffffu);
    r = ftz && f32_is_tiny(x, rnd) ? r & PL_F32_SIGN : r;
    r = f64_is_nan(a) ? nan : r;
    return sat ? f32_clamp01(r) : r;
}

static inline uint16_t f16_from_f64(uint64_t a, int rnd, bool sat)
{
    uint32_t r = f16_from_f32(f32_narrow(f64_value(a), PL_RO), rnd);
    uint32_t nan = ((uint32_t)(a >> 48) & 0x8000u) | 0x7e00u | ((uint32_t)(a >> 42) & 0x3ffu);
    r = f64_is_nan(a) ? nan : r;
    return sat ? f16_clamp01((uint16_t)r) : (uint16_t)r;
}

static inline uint16_t bf16_from_f64(uint64_t a, int rnd)
{
    uint32_t r = bf16_from_f32(f32_narrow(f64_value(a), PL_RO), rnd);
    uint32_t nan = ((uint32_t)(a >> 48) & 0x8000u) | 0x7fc0u | ((uint32_t)(a >> 45) & 0x7fu);
    return (uint16_t)(f64_is_nan(a) ? nan : r);
}

/* .satfinite: the largest finite number instead of Inf. */
static inline uint16_t half_finite(uint16_t h, bool satfinite, uint16_t inf)
{
    return satfinite && (h & 0x7fff) == inf ? (uint16_t)(h - 1) : h;
}

static inline uint16_t bf16_to_integral(uint16_t a, int rnd)
{
    return bf16_from_f32(f32_bits(f32_round(f32_value(f32_from_bf16(a)), rnd)), PL_RN);
}

static inline uint16_t f16_to_integral(uint16_t a, int rnd, bool sat)
{
    uint16_t r = f16_from_f32(f32_bits(f32_round(f16_value(a), rnd)), PL_RN);
    return sat ? f16_clamp01(r) : r;
}

/* tf32 is an f32 whose low 13 bits are zero. .rn and .rz make NaN canonical. The older .rna only
 * truncates a NaN, and its .satfinite subtracts one from every result with the largest exponent,
 * including NaN. */
static inline uint32_t tf32_from_f32(uint32_t a, int rnd, bool relu)
{
    uint32_t kept = a >> 13, lost = a & 0x1fff;
    uint32_t up = rnd == PL_RN ? lost + (kept & 1) > 0x1000 : 0;
    uint32_t r = f32_is_nan(a) ? 0x7fffe000u : (kept + up) << 13;
    return relu && (int32_t)r < 0 ? 0 : r;
}

static inline uint32_t tf32_from_f32_rna(uint32_t a, bool satfinite)
{
    uint32_t special = (a & PL_F32_INF) == PL_F32_INF;
    uint32_t r = (special ? a : a + 0x1000) & ~0x1fffu;
    return satfinite && (r & PL_F32_INF) == PL_F32_INF ? r - 0x2000 : r;
}

/* .rn and .rz with .satfinite (sm_100 and later). */
static inline uint32_t tf32_finite(uint32_t r)
{
    return (r & PL_F32_MAG) == PL_F32_INF ? r - 0x2000 : r;
}

#endif
