/* half2.h - f16x2 and bf16x2: the operations of half.h on both halves of a word. */
#ifndef PL_EMU_EXEC_NUM_HALF2_H
#define PL_EMU_EXEC_NUM_HALF2_H

#include "compare.h"
#include "half.h"

static inline uint16_t low_half(uint32_t a)
{
    return (uint16_t)a;
}

static inline uint16_t high_half(uint32_t a)
{
    return (uint16_t)(a >> 16);
}

static inline uint32_t join_halves(uint16_t low, uint16_t high)
{
    return (uint32_t)high << 16 | low;
}

static inline uint32_t f16x2_add(uint32_t a, uint32_t b, bool ftz, bool sat)
{
    return join_halves(f16_add(low_half(a), low_half(b), ftz, sat),
                       f16_add(high_half(a), high_half(b), ftz, sat));
}

static inline uint32_t f16x2_sub(uint32_t a, uint32_t b, bool ftz, bool sat)
{
    return f16x2_add(a, b ^ 0x80008000u, ftz, sat);
}

static inline uint32_t f16x2_mul(uint32_t a, uint32_t b, bool ftz, bool sat)
{
    return join_halves(f16_mul(low_half(a), low_half(b), ftz, sat),
                       f16_mul(high_half(a), high_half(b), ftz, sat));
}

static inline uint32_t f16x2_fma(uint32_t a, uint32_t b, uint32_t c, bool ftz, bool sat, bool relu)
{
    return join_halves(f16_fma(low_half(a), low_half(b), low_half(c), ftz, sat, relu),
                       f16_fma(high_half(a), high_half(b), high_half(c), ftz, sat, relu));
}

static inline uint32_t bf16x2_add(uint32_t a, uint32_t b)
{
    return join_halves(bf16_add(low_half(a), low_half(b)), bf16_add(high_half(a), high_half(b)));
}

static inline uint32_t bf16x2_sub(uint32_t a, uint32_t b)
{
    return bf16x2_add(a, b ^ 0x80008000u);
}

static inline uint32_t bf16x2_mul(uint32_t a, uint32_t b)
{
    return join_halves(bf16_mul(low_half(a), low_half(b)), bf16_mul(high_half(a), high_half(b)));
}

static inline uint32_t bf16x2_fma(uint32_t a, uint32_t b, uint32_t c, bool relu)
{
    return join_halves(bf16_fma(low_half(a), low_half(b), low_half(c), relu),
                       bf16_fma(high_half(a), high_half(b), high_half(c), relu));
}

static inline uint32_t f16x2_min(uint32_t a, uint32_t b, bool ftz, bool nan, bool xorsign)
{
    return join_halves(f16_min(low_half(a), low_half(b), ftz, nan, xorsign),
                       f16_min(high_half(a), high_half(b), ftz, nan, xorsign));
}

static inline uint32_t f16x2_max(uint32_t a, uint32_t b, bool ftz, bool nan, bool xorsign)
{
    return join_halves(f16_max(low_half(a), low_half(b), ftz, nan, xorsign),
                       f16_max(high_half(a), high_half(b), ftz, nan, xorsign));
}

static inline uint32_t bf16x2_min(uint32_t a, uint32_t b, bool nan, bool xorsign)
{
    return join_halves(bf16_min(low_half(a), low_half(b), nan, xorsign),
                       bf16_min(high_half(a), high_half(b), nan, xorsign));
}

static inline uint32_t bf16x2_max(uint32_t a, uint32_t b, bool nan, bool xorsign)
{
    return join_halves(bf16_max(low_half(a), low_half(b), nan, xorsign),
                       bf16_max(high_half(a), high_half(b), nan, xorsign));
}

static inline uint32_t f16x2_abs(uint32_t a, bool ftz)
{
    return join_halves(f16_abs(low_half(a), ftz), f16_abs(high_half(a), ftz));
}

static inline uint32_t f16x2_neg(uint32_t a, bool ftz)
{
    return join_halves(f16_neg(low_half(a), ftz), f16_neg(high_half(a), ftz));
}

static inline uint32_t bf16x2_abs(uint32_t a)
{
    return join_halves(bf16_abs(low_half(a)), bf16_abs(high_half(a)));
}

static inline uint32_t bf16x2_neg(uint32_t a)
{
    return join_halves(bf16_neg(low_half(a)), bf16_neg(high_half(a)));
}

static inline uint32_t half2_relu(uint32_t a, bool relu)
{
    return join_halves(half_relu(low_half(a), relu), half_relu(high_half(a), relu));
}

static inline uint32_t half2_oob(uint32_t a, uint32_t b, uint32_t r)
{
    return join_halves(half_oob(low_half(a), low_half(b), low_half(r)),
                       half_oob(high_half(a), high_half(b), high_half(r)));
}

static inline bool f16_cmp(uint16_t a, uint16_t b, int op, bool ftz)
{
    return f32_cmp(f32_from_f16(f16_ftz(a, ftz)), f32_from_f16(f16_ftz(b, ftz)), op, false);
}

static inline bool bf16_cmp(uint16_t a, uint16_t b, int op)
{
    return f32_cmp(f32_from_bf16(a), f32_from_bf16(b), op, false);
}

#endif
