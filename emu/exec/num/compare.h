/* compare.h - comparisons for set, setp, slct and the min/max of other types.
 *
 * Every operator is a selection among the four outcomes less, equal, greater and unordered. PTX
 * manual, "Comparison and Selection Instructions". */
#ifndef PL_EMU_EXEC_NUM_COMPARE_H
#define PL_EMU_EXEC_NUM_COMPARE_H

#include "num.h"

static inline bool compare_outcome(bool lt, bool eq, bool gt, int op)
{
    switch (op) {
    case PL_CMP_EQ: return eq;
    case PL_CMP_NE: return lt | gt;
    case PL_CMP_LT:
    case PL_CMP_LO: return lt;
    case PL_CMP_LE:
    case PL_CMP_LS: return lt | eq;
    case PL_CMP_GT:
    case PL_CMP_HI: return gt;
    case PL_CMP_GE:
    case PL_CMP_HS: return gt | eq;
    case PL_CMP_EQU: return !(lt | gt);
    case PL_CMP_NEU: return !eq;
    case PL_CMP_LTU: return !(gt | eq);
    case PL_CMP_LEU: return !gt;
    case PL_CMP_GTU: return !(lt | eq);
    case PL_CMP_GEU: return !lt;
    case PL_CMP_NUM: return lt | eq | gt;
    default: return !(lt | eq | gt);
    }
}

PL_LANE_INLINE bool f32_cmp(uint32_t a, uint32_t b, int op, bool ftz)
{
    float x = f32_value(f32_ftz(a, ftz)), y = f32_value(f32_ftz(b, ftz));
    return compare_outcome(x<y, x == y, x> y, op);
}

static inline bool f64_cmp(uint64_t a, uint64_t b, int op)
{
    double x = f64_value(a), y = f64_value(b);
    return compare_outcome(x<y, x == y, x> y, op);
}

static inline bool s32_cmp(int32_t a, int32_t b, int op)
{
    return compare_outcome(a<b, a == b, a> b, op);
}

/* Compares the `bits`-wide parts of a word: ones where the comparison holds. */
static inline uint32_t packed_set(uint32_t a, uint32_t b, int op, int bits, bool is_signed)
{
    const uint32_t ones = UINT32_MAX >> (32 - bits);
    uint32_t d = 0;
    for (int at = 0; at < 32; at += bits) {
        const uint32_t x = a << (32 - bits - at), y = b << (32 - bits - at);
        const bool lt = is_signed ? (int32_t)x < (int32_t)y : x >> (32 - bits) < y >> (32 - bits);
        const bool eq = x >> (32 - bits) == y >> (32 - bits);
        if (compare_outcome(lt, eq, !lt && !eq, op)) d |= ones << at;
    }
    return d;
}

static inline bool u32_cmp(uint32_t a, uint32_t b, int op)
{
    return compare_outcome(a<b, a == b, a> b, op);
}

static inline bool s64_cmp(int64_t a, int64_t b, int op)
{
    return compare_outcome(a<b, a == b, a> b, op);
}

static inline bool u64_cmp(uint64_t a, uint64_t b, int op)
{
    return compare_outcome(a<b, a == b, a> b, op);
}

static inline bool s16_cmp(int16_t a, int16_t b, int op)
{
    return s32_cmp(a, b, op);
}

static inline bool u16_cmp(uint16_t a, uint16_t b, int op)
{
    return u32_cmp(a, b, op);
}

/* slct selects by c >= 0: true for -0, false for NaN and negative numbers. With .ftz a negative
 * subnormal is -0. */
static inline bool f32_selects_first(uint32_t c, bool ftz)
{
    return f32_value(f32_ftz(c, ftz)) >= 0.0f;
}

#endif
