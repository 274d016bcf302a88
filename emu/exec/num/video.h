/* video.h - the scalar (vadd ...) and SIMD (vadd2, vadd4 ...) video instructions.
 *
 * Scalar form: selects a byte, half or word of each source, extends it by the source's signedness,
 * and operates without loss. Then it saturates to the destination's part, and either combines with
 * c (secondary operation) or merges the part into c. SIMD form: the same on two halves or four
 * bytes selected from the eight bytes of b:a; unselected lanes come from c, or all selected lanes
 * are added to c. PTX manual, "Scalar Video Instructions" and "SIMD Video Instructions". */
#ifndef PL_EMU_EXEC_NUM_VIDEO_H
#define PL_EMU_EXEC_NUM_VIDEO_H

#include "compare.h"

/* Parts of a word, in the order in which the parser numbers operand selectors. */
enum { PL_PART_W, PL_PART_B0, PL_PART_B1, PL_PART_B2, PL_PART_B3, PL_PART_H0, PL_PART_H1 };
enum { PL_VADD, PL_VSUB, PL_VABSDIFF, PL_VMIN, PL_VMAX, PL_VAVRG, PL_VSHL, PL_VSHR };
enum { PL_OP2_NONE, PL_OP2_ADD, PL_OP2_MIN, PL_OP2_MAX };

/* Bit offset and width of a part of a word. */
static inline int part_shift(int sel)
{
    return sel == PL_PART_W    ? 0
           : sel >= PL_PART_H0 ? 16 * (sel - PL_PART_H0)
                               : 8 * (sel - PL_PART_B0);
}

static inline int part_width(int sel)
{
    return sel == PL_PART_W ? 32 : sel >= PL_PART_H0 ? 16 : 8;
}

static inline int64_t extend(uint64_t x, int width, bool is_signed)
{
    uint64_t up = x << (64 - width);
    return is_signed ? (int64_t)up >> (64 - width) : (int64_t)(up >> (64 - width));
}

static inline int64_t video_part(uint32_t x, int sel, bool is_signed)
{
    return extend(x >> part_shift(sel), part_width(sel), is_signed);
}

static inline int64_t video_clamp(int64_t x, int width, bool is_signed)
{
    int64_t hi = ((int64_t)1 << (is_signed ? width - 1 : width)) - 1, lo = is_signed ? -hi - 1 : 0;
    return x < lo ? lo : x > hi ? hi : x;
}

static inline int64_t video_op(int op, int64_t a, int64_t b)
{
    switch (op) {
    case PL_VADD: return a + b;
    case PL_VSUB: return a - b;
    case PL_VABSDIFF: return a < b ? b - a : a - b;
    case PL_VMIN: return a < b ? a : b;
    case PL_VMAX: return a < b ? b : a;
    default: return (a + b + (a + b >= 0)) >> 1; /* vavrg rounds halves away from zero */
    }
}

/* .sat as implemented by GPUs without video units (measured, H200, driver 580.159.04, 2026-11;
 * tests/forms). Shifted values are clamped by their low 34 bits and as words. Values for a byte or
 * half are compared as unsigned numbers, so that negative values become the largest. Sums for an
 * unsigned word are only clamped at 0, and absolute differences for one are truncated. */
static inline int64_t video_saturate(int op, int64_t t, int width, bool d_signed)
{
    const bool word = width == 32;
    const int64_t most = ((int64_t)1 << (d_signed ? width - 1 : width)) - 1;
    if (op == PL_VSHL || op == PL_VSHR)
        return video_clamp(extend((uint64_t)t, 34, true), 32, d_signed);
    if (!word) return (uint64_t)t > (uint64_t)most ? most : t;
    if (!d_signed && op == PL_VABSDIFF) return t;
    if (!d_signed && (op == PL_VADD || op == PL_VSUB)) return t < 0 ? 0 : t;
    return video_clamp(t, 32, d_signed);
}

/* True if a secondary min or max treats t as smaller than c. Sums and saturated shifts are compared
 * as words, and of two unsigned words from 2^31 on the first counts as the larger; the other
 * results keep all their bits (measured likewise). */
static inline bool video_less(int op, int64_t t, uint32_t c, bool d_signed, bool sat)
{
    const bool words = op == PL_VADD || op == PL_VSUB || (sat && (op == PL_VSHL || op == PL_VSHR));
    const uint32_t r = (uint32_t)t;
    if (words && d_signed) return (int32_t)r < (int32_t)c;
    if (words) return r < c && !(r >> 31 & c >> 31);
    return d_signed ? t < (int32_t)c : (uint64_t)t < c;
}

/* The steps of a scalar form after the operation. */
static inline uint32_t video_finish(int op, int64_t t, uint32_t c, bool d_signed, bool sat,
                                    int dsel, int op2)
{
    int width = part_width(dsel), shift = part_shift(dsel);
    if (sat) t = video_saturate(op, t, width, d_signed);
    uint32_t r = (uint32_t)t;
    switch (op2) {
    case PL_OP2_ADD: return r + c;
    case PL_OP2_MIN: return video_less(op, t, c, d_signed, sat) ? r : c;
    case PL_OP2_MAX: return video_less(op, t, c, d_signed, sat) ? c : r;
    default: break;
    }
    uint32_t mask = (uint32_t)((((uint64_t)1 << width) - 1) << shift);
    if (dsel != PL_PART_H1) r <<= shift; /* .h1 takes the upper half of the result (measured) */
    return (r & mask) | (c & ~mask);
}

static inline uint32_t video_scalar(int op, uint32_t a, uint32_t b, uint32_t c, int asel, int bsel,
                                    int dsel, bool a_signed, bool b_signed, bool d_signed, bool sat,
                                    int op2)
{
    int64_t t = video_op(op, video_part(a, asel, a_signed), video_part(b, bsel, b_signed));
    return video_finish(op, t, c, d_signed, sat, dsel, op2);
}

/* vshl, vshr: the amount is unsigned; .clamp limits it to 32, .wrap takes it modulo 32. */
static inline uint32_t video_shift(bool left, uint32_t a, uint32_t b, uint32_t c, int asel,
                                   int bsel, int dsel, bool a_signed, bool d_signed, bool sat,
                                   bool wrap, int op2)
{
    int64_t x = video_part(a, asel, a_signed), n = video_part(b, bsel, false);
    n = wrap ? n & 31 : n > 32 ? 32 : n;
    int64_t t = left ? (int64_t)((uint64_t)x << n) : x >> n;
    return video_finish(left ? PL_VSHL : PL_VSHR, t, c, d_signed, sat, dsel, op2);
}

/* vset: c of a secondary min or max has the signedness of a (measured). */
static inline uint32_t video_set(uint32_t a, uint32_t b, uint32_t c, int asel, int bsel, int dsel,
                                 bool a_signed, bool b_signed, int cmp, int op2)
{
    bool t = s64_cmp(video_part(a, asel, a_signed), video_part(b, bsel, b_signed), cmp);
    return video_finish(PL_VMIN, t, c, a_signed, false, dsel, op2);
}

/* vmad: (a * b + c) >> scale; .po adds one. Factors and c are signed words regardless of the types;
 * saturation is signed if any source is (measured likewise). */
static inline uint32_t video_mad(uint32_t a, uint32_t b, uint32_t c, int asel, int bsel,
                                 bool a_signed, bool b_signed, bool neg_product, bool neg_c,
                                 bool plus_one, bool sat, int scale)
{
    const int64_t x = (int32_t)video_part(a, asel, a_signed),
                  y = (int32_t)video_part(b, bsel, b_signed);
    const uint64_t product = (uint64_t)(x * y), addend = (uint64_t)(int64_t)(int32_t)c;
    const uint64_t sum = (neg_product ? -product : product) + (neg_c ? -addend : addend) + plus_one;
    const int64_t t = (int64_t)sum >> scale;
    if (!sat) return (uint32_t)t;
    if (a_signed || b_signed || neg_product || neg_c) return (uint32_t)video_clamp(t, 32, true);
    if (scale == 0) return (uint32_t)video_clamp(t, 32, false);
    return sum >> scale > UINT32_MAX ? UINT32_MAX : (uint32_t)t;
}

/* ---- SIMD ----
 * `asel` and `bsel` hold one hexadecimal digit per lane, as in .b7654 or .h32; `mask` one bit per
 * lane. */

static inline int64_t simd_lane(uint32_t a, uint32_t b, uint32_t sel, int i, int width,
                                bool is_signed)
{
    uint64_t pair = (uint64_t)b << 32 | a;
    int which = (int)(sel >> (4 * i) & (64u / (unsigned)width - 1));
    return extend(pair >> (which * width), width, is_signed);
}

static inline uint32_t simd_put(uint32_t r, int64_t t, int i, int width)
{
    uint32_t ones = (1u << width) - 1;
    return (r & ~(ones << (i * width))) | ((uint32_t)t & ones) << (i * width);
}

/* Lanes are `width` bits wide: 16 for the *2 forms, 8 for the *4 forms. */
static inline uint32_t video_simd(int op, int width, uint32_t a, uint32_t b, uint32_t c,
                                  uint32_t asel, uint32_t bsel, uint32_t mask, bool a_signed,
                                  bool b_signed, bool d_signed, bool sat, bool add)
{
    uint32_t r = c;
    for (int i = 0; i < 32 / width; i++) {
        int64_t x = simd_lane(a, b, asel, i, width, a_signed),
                y = simd_lane(a, b, bsel, i, width, b_signed);
        int64_t t = video_op(op, x, y);
        if (sat) t = video_clamp(t, width, d_signed);
        if (!(mask >> i & 1)) continue;
        r = add ? r + (uint32_t)t : simd_put(r, t, i, width);
    }
    return r;
}

static inline uint32_t video_simd_set(int cmp, int width, uint32_t a, uint32_t b, uint32_t c,
                                      uint32_t asel, uint32_t bsel, uint32_t mask, bool a_signed,
                                      bool b_signed, bool add)
{
    uint32_t r = c;
    for (int i = 0; i < 32 / width; i++) {
        int64_t x = simd_lane(a, b, asel, i, width, a_signed),
                y = simd_lane(a, b, bsel, i, width, b_signed);
        bool t = s64_cmp(x, y, cmp);
        if (!(mask >> i & 1)) continue;
        r = add ? r + t : simd_put(r, t, i, width);
    }
    return r;
}

#endif
