/* integer.h - integer arithmetic, bit fields and shifts on register values.
 *
 * Names start with the PTX type. Signed overflow wraps as on the hardware: sums and products are
 * computed with unsigned words and converted back. PTX manual, "Integer Arithmetic Instructions",
 * "Extended-Precision Integer Arithmetic Instructions" and "Logic and Shift Instructions"; division
 * by zero as measured (H200, driver 580.159.04, 2026-11). */
#ifndef PL_EMU_EXEC_NUM_INTEGER_H
#define PL_EMU_EXEC_NUM_INTEGER_H

#include "num.h"

/* ---- products ---- */

static inline uint16_t u16_mulhi(uint16_t a, uint16_t b)
{
    return (uint16_t)((uint32_t)a * b >> 16);
}

static inline int16_t s16_mulhi(int16_t a, int16_t b)
{
    return (int16_t)((int32_t)a * b >> 16);
}

static inline uint32_t u32_mulhi(uint32_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)a * b >> 32);
}

static inline int32_t s32_mulhi(int32_t a, int32_t b)
{
    return (int32_t)((int64_t)a * b >> 32);
}

/* The upper half from four 32-bit products, so that no 128-bit type is needed. */
static inline uint64_t u64_mulhi(uint64_t a, uint64_t b)
{
    uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    uint64_t mid = ah * bl + (al * bl >> 32);
    uint64_t low = al * bh + (uint32_t)mid;
    return ah * bh + (mid >> 32) + (low >> 32);
}

static inline int64_t s64_mulhi(int64_t a, int64_t b)
{
    uint64_t ua = (uint64_t)a, ub = (uint64_t)b;
    return (int64_t)(u64_mulhi(ua, ub) - (a < 0 ? ub : 0) - (b < 0 ? ua : 0));
}

static inline uint32_t u16_mulwide(uint16_t a, uint16_t b)
{
    return (uint32_t)a * b;
}

static inline int32_t s16_mulwide(int16_t a, int16_t b)
{
    return (int32_t)a * b;
}

static inline uint64_t u32_mulwide(uint32_t a, uint32_t b)
{
    return (uint64_t)a * b;
}

static inline int64_t s32_mulwide(int32_t a, int32_t b)
{
    return (int64_t)a * b;
}

static inline int32_t s32_clamp(int64_t x)
{
    x = x < INT32_MIN ? INT32_MIN : x;
    return (int32_t)(x > INT32_MAX ? INT32_MAX : x);
}

static inline int32_t s32_add_sat(int32_t a, int32_t b)
{
    uint32_t r = (uint32_t)a + (uint32_t)b;
    uint32_t limit = (uint32_t)(a >> 31) ^ 0x7fffffffu;
    return (int32_t)((int32_t)(((uint32_t)a ^ r) & ((uint32_t)b ^ r)) < 0 ? limit : r);
}

static inline int32_t s32_sub_sat(int32_t a, int32_t b)
{
    uint32_t r = (uint32_t)a - (uint32_t)b;
    uint32_t limit = (uint32_t)(a >> 31) ^ 0x7fffffffu;
    return (int32_t)((int32_t)((uint32_t)(a ^ b) & ((uint32_t)a ^ r)) < 0 ? limit : r);
}

static inline int32_t s32_madhi_sat(int32_t a, int32_t b, int32_t c)
{
    return s32_add_sat(s32_mulhi(a, b), c);
}

/* mul24: the 48-bit product of the low 24 bits of each operand; .lo gives bits 31..0, .hi
 * bits 47..16. */
static inline uint32_t u32_mul24(uint32_t a, uint32_t b, bool hi)
{
    uint64_t p = (uint64_t)(a & 0xffffffu) * (b & 0xffffffu);
    return (uint32_t)(hi ? p >> 16 : p);
}

static inline int32_t s32_mul24(int32_t a, int32_t b, bool hi)
{
    int32_t x = (int32_t)((uint32_t)a << 8) >> 8, y = (int32_t)((uint32_t)b << 8) >> 8;
    uint64_t p = (uint64_t)((int64_t)x * y);
    return (int32_t)(uint32_t)(hi ? p >> 16 : p);
}

/* ---- sums with carry ----
 * CC.CF is one bit per thread. Subtraction adds the complement of b, so that after sub.cc the flag
 * is the carry (no borrow): sub.cc is addc(a, ~b, true), subc is addc(a, ~b, flag). A following
 * addc makes it visible (measured). */

static inline uint32_t u32_addc(uint32_t a, uint32_t b, bool carry_in, bool *carry_out)
{
    uint64_t s = (uint64_t)a + b + carry_in;
    *carry_out = s >> 32;
    return (uint32_t)s;
}

static inline uint64_t u64_addc(uint64_t a, uint64_t b, bool carry_in, bool *carry_out)
{
    uint64_t s = a + b, t = s + carry_in;
    *carry_out = s < a || t < s;
    return t;
}

/* ---- quotients: division by zero gives all ones for quotient and remainder ---- */

static inline uint32_t u32_div(uint32_t a, uint32_t b)
{
    return b ? a / b : UINT32_MAX;
}

static inline uint32_t u32_rem(uint32_t a, uint32_t b)
{
    return b ? a % b : UINT32_MAX;
}

static inline uint64_t u64_div(uint64_t a, uint64_t b)
{
    return b ? a / b : UINT64_MAX;
}

static inline uint64_t u64_rem(uint64_t a, uint64_t b)
{
    return b ? a % b : UINT64_MAX;
}

static inline int32_t s32_div(int32_t a, int32_t b)
{
    return b == 0 ? -1 : b == -1 ? (int32_t)(0u - (uint32_t)a) : a / b;
}

static inline int32_t s32_rem(int32_t a, int32_t b)
{
    return b == 0 ? -1 : b == -1 ? 0 : a % b;
}

static inline int64_t s64_div(int64_t a, int64_t b)
{
    return b == 0 ? -1 : b == -1 ? (int64_t)(0u - (uint64_t)a) : a / b;
}

static inline int64_t s64_rem(int64_t a, int64_t b)
{
    return b == 0 ? -1 : b == -1 ? 0 : a % b;
}

static inline uint16_t u16_div(uint16_t a, uint16_t b)
{
    return (uint16_t)u32_div(a, b);
}

static inline uint16_t u16_rem(uint16_t a, uint16_t b)
{
    return (uint16_t)u32_rem(a, b);
}

static inline int16_t s16_div(int16_t a, int16_t b)
{
    return (int16_t)s32_div(a, b);
}

static inline int16_t s16_rem(int16_t a, int16_t b)
{
    return (int16_t)s32_rem(a, b);
}

/* ---- magnitudes ---- */

static inline int16_t s16_abs(int16_t a)
{
    return (int16_t)(a < 0 ? -a : a);
}

static inline int32_t s32_abs(int32_t a)
{
    return (int32_t)(a < 0 ? 0u - (uint32_t)a : (uint32_t)a);
}

static inline int64_t s64_abs(int64_t a)
{
    return (int64_t)(a < 0 ? 0u - (uint64_t)a : (uint64_t)a);
}

/* sad: c + |a - b|, wrapping. */
static inline uint32_t u32_sad(uint32_t a, uint32_t b, uint32_t c)
{
    return c + (a < b ? b - a : a - b);
}

static inline int32_t s32_sad(int32_t a, int32_t b, int32_t c)
{
    uint32_t x = (uint32_t)a, y = (uint32_t)b;
    return (int32_t)((uint32_t)c + (a < b ? y - x : x - y));
}

static inline uint64_t u64_sad(uint64_t a, uint64_t b, uint64_t c)
{
    return c + (a < b ? b - a : a - b);
}

static inline int64_t s64_sad(int64_t a, int64_t b, int64_t c)
{
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    return (int64_t)((uint64_t)c + (a < b ? y - x : x - y));
}

static inline uint16_t u16_sad(uint16_t a, uint16_t b, uint16_t c)
{
    return (uint16_t)u32_sad(a, b, c);
}

static inline int16_t s16_sad(int16_t a, int16_t b, int16_t c)
{
    return (int16_t)s32_sad(a, b, c);
}

static inline int32_t s32_min(int32_t a, int32_t b, bool relu)
{
    int32_t r = a < b ? a : b;
    return relu && r < 0 ? 0 : r;
}

static inline int32_t s32_max(int32_t a, int32_t b, bool relu)
{
    int32_t r = a < b ? b : a;
    return relu && r < 0 ? 0 : r;
}

/* ---- two 16-bit numbers in a word ---- */

static inline uint32_t u16x2_add(uint32_t a, uint32_t b)
{
    return ((a & 0xffff0000u) + (b & 0xffff0000u)) | ((a + b) & 0xffffu);
}

/* Four bytes, added separately. */
static inline uint32_t u8x4_add(uint32_t a, uint32_t b)
{
    return ((a & 0x7f7f7f7fu) + (b & 0x7f7f7f7fu)) ^ ((a ^ b) & 0x80808080u);
}

static inline uint32_t u8x4_sub(uint32_t a, uint32_t b)
{
    return ((a | 0x80808080u) - (b & 0x7f7f7f7fu)) ^ ((a ^ ~b) & 0x80808080u);
}

/* Element k of `bits` bits. */
static inline int64_t packed_part(uint32_t x, int k, int bits, bool is_signed)
{
    const uint32_t up = x << (32 - bits * (k + 1));
    return is_signed ? (int32_t)up >> (32 - bits) : (int64_t)(up >> (32 - bits));
}

/* The elements of a + b, or a - b, each saturated to its range. */
static inline uint32_t packed_saturate(uint32_t a, uint32_t b, int bits, bool is_signed, bool minus)
{
    const int64_t high = (INT64_C(1) << (is_signed ? bits - 1 : bits)) - 1,
                  low = is_signed ? -high - 1 : 0;
    uint32_t d = 0;
    for (int k = 0; k < 32 / bits; k++) {
        const int64_t x = packed_part(a, k, bits, is_signed),
                      y = packed_part(b, k, bits, is_signed);
        const int64_t sum = minus ? x - y : x + y;
        const uint32_t part = (uint32_t)(sum < low ? low : sum > high ? high : sum);
        d |= (part & (uint32_t)(UINT64_MAX >> (64 - bits))) << (bits * k);
    }
    return d;
}

static inline uint32_t packed_add_sat(uint32_t a, uint32_t b, int bits, bool is_signed)
{
    return packed_saturate(a, b, bits, is_signed, false);
}

static inline uint32_t packed_sub_sat(uint32_t a, uint32_t b, int bits, bool is_signed)
{
    return packed_saturate(a, b, bits, is_signed, true);
}

/* The smaller or larger bytes; `relu`: clamped to at least zero. */
static inline uint32_t packed_extreme(uint32_t a, uint32_t b, bool is_signed, bool relu,
                                      bool larger)
{
    uint32_t d = 0;
    for (int k = 0; k < 4; k++) {
        const int64_t x = packed_part(a, k, 8, is_signed), y = packed_part(b, k, 8, is_signed);
        int64_t r = (x < y) == larger ? y : x;
        if (relu && r < 0) r = 0;
        d |= ((uint32_t)r & 255) << (8 * k);
    }
    return d;
}

static inline uint32_t packed_min(uint32_t a, uint32_t b, bool is_signed, bool relu)
{
    return packed_extreme(a, b, is_signed, relu, false);
}

static inline uint32_t packed_max(uint32_t a, uint32_t b, bool is_signed, bool relu)
{
    return packed_extreme(a, b, is_signed, relu, true);
}

/* Low or high half of the product of two polynomials over GF(2): a carry-less multiplication. */
static inline uint64_t u64_clmul(uint64_t a, uint64_t b, bool high)
{
    uint64_t lo = 0, hi = 0;
    for (int k = 0; k < 64; k++) {
        const uint64_t take = 0 - (a >> k & 1);
        lo ^= b << k & take;
        hi ^= (k ? b >> (64 - k) : 0) & take;
    }
    return high ? hi : lo;
}

static inline uint32_t u16x2_min(uint32_t a, uint32_t b)
{
    uint32_t al = a & 0xffffu, bl = b & 0xffffu, ah = a >> 16, bh = b >> 16;
    return (ah < bh ? ah : bh) << 16 | (al < bl ? al : bl);
}

static inline uint32_t u16x2_max(uint32_t a, uint32_t b)
{
    uint32_t al = a & 0xffffu, bl = b & 0xffffu, ah = a >> 16, bh = b >> 16;
    return (ah < bh ? bh : ah) << 16 | (al < bl ? bl : al);
}

static inline uint32_t s16x2_min(uint32_t a, uint32_t b, bool relu)
{
    int32_t low = s32_min((int16_t)a, (int16_t)b, relu),
            high = s32_min((int32_t)a >> 16, (int32_t)b >> 16, relu);
    return (uint32_t)high << 16 | ((uint32_t)low & 0xffffu);
}

static inline uint32_t s16x2_max(uint32_t a, uint32_t b, bool relu)
{
    int32_t low = s32_max((int16_t)a, (int16_t)b, relu),
            high = s32_max((int32_t)a >> 16, (int32_t)b >> 16, relu);
    return (uint32_t)high << 16 | ((uint32_t)low & 0xffffu);
}

/* ---- dot products ---- */

static inline int32_t byte_of(uint32_t x, int i, bool is_signed)
{
    uint32_t byte = x >> (8 * i) & 0xffu;
    return is_signed ? (int8_t)byte : (int32_t)byte;
}

static inline int32_t half_of(uint32_t x, int i, bool is_signed)
{
    uint32_t half = x >> (16 * i) & 0xffffu;
    return is_signed ? (int16_t)half : (int32_t)half;
}

static inline uint32_t b32_dp4a(uint32_t a, uint32_t b, uint32_t c, bool a_signed, bool b_signed)
{
    int32_t p0 = byte_of(a, 0, a_signed) * byte_of(b, 0, b_signed),
            p1 = byte_of(a, 1, a_signed) * byte_of(b, 1, b_signed);
    int32_t p2 = byte_of(a, 2, a_signed) * byte_of(b, 2, b_signed),
            p3 = byte_of(a, 3, a_signed) * byte_of(b, 3, b_signed);
    return c + (uint32_t)(p0 + p1 + p2 + p3);
}

/* dp2a: the two halves of a with the lower or upper two bytes of b. */
static inline uint32_t b32_dp2a(uint32_t a, uint32_t b, uint32_t c, bool a_signed, bool b_signed,
                                bool hi)
{
    int base = hi ? 2 : 0;
    int32_t p0 = half_of(a, 0, a_signed) * byte_of(b, base, b_signed);
    int32_t p1 = half_of(a, 1, a_signed) * byte_of(b, base + 1, b_signed);
    return c + (uint32_t)p0 + (uint32_t)p1;
}

#endif
