/* num_video.h - the scalar (vadd ...) and SIMD (vadd2, vadd4 ...) video instructions.
 *
 * Scalar form: pick a byte, half or word of each source, extend it by the source's signedness,
 * operate without loss, saturate to the destination's part, then either combine with c (secondary
 * operation) or merge the part into c. SIMD form: the same on two halves or four bytes chosen from
 * the eight bytes of b:a; unselected lanes come from c, or all selected lanes are added to c. PTX
 * manual, "Scalar Video Instructions" and "SIMD Video Instructions".
 */
#ifndef PL_EMU_EXEC_NUM_VIDEO_H
#define PL_EMU_EXEC_NUM_VIDEO_H

#include "num_cmp.h"

/* Parts of a word, in the order in which the parser numbers operand selectors. */
enum { PL_PART_W, PL_PART_B0, PL_PART_B1, PL_PART_B2, PL_PART_B3, PL_PART_H0, PL_PART_H1 };
enum { PL_VADD, PL_VSUB, PL_VABSDIFF, PL_VMIN, PL_VMAX, PL_VAVRG, PL_VSHL, PL_VSHR };
enum { PL_OP2_NONE, PL_OP2_ADD, PL_OP2_MIN, PL_OP2_MAX };

__extension__ typedef __int128 video_wide; /* vmad sums need 66 bits */

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

/* Everything after the operation of a scalar form. */
static inline uint32_t video_finish(int64_t t, uint32_t c, bool d_signed, bool sat, int dsel,
                                    int op2)
{
    int width = part_width(dsel), shift = part_shift(dsel);
    if (sat) t = video_clamp(t, width, d_signed);
    uint32_t r = (uint32_t)t;
    bool less = d_signed ? (int32_t)r < (int32_t)c : r < c;
    switch (op2) {
    case PL_OP2_ADD: return r + c;
    case PL_OP2_MIN: return less ? r : c;
    case PL_OP2_MAX: return less ? c : r;
    default: break;
    }
    uint32_t mask = (uint32_t)((((uint64_t)1 << width) - 1) << shift);
    return (r << shift & mask) | (c & ~mask);
}

static inline uint32_t video_scalar(int op, uint32_t a, uint32_t b, uint32_t c, int asel, int bsel,
                                    int dsel, bool a_signed, bool b_signed, bool d_signed, bool sat,
                                    int op2)
{
    int64_t t = video_op(op, video_part(a, asel, a_signed), video_part(b, bsel, b_signed));
    if (op == PL_VADD && !a_signed && !b_signed && !d_signed)
        t = (uint32_t)t; /* the carry is lost (measured) */
    return video_finish(t, c, d_signed, sat, dsel, op2);
}

/* vshl, vshr: the amount is unsigned; .clamp limits it to 32, .wrap takes it modulo 32. */
static inline uint32_t video_shift(bool left, uint32_t a, uint32_t b, uint32_t c, int asel,
                                   int bsel, int dsel, bool a_signed, bool d_signed, bool sat,
                                   bool wrap, int op2)
{
    int64_t x = video_part(a, asel, a_signed), n = video_part(b, bsel, false);
    n = wrap ? n & 31 : n > 32 ? 32 : n;
    int64_t t = left ? (int64_t)((uint64_t)x << n) : x >> n;
    return video_finish(t, c, d_signed, sat, dsel, op2);
}

static inline uint32_t video_set(uint32_t a, uint32_t b, uint32_t c, int asel, int bsel, int dsel,
                                 bool a_signed, bool b_signed, int cmp, int op2)
{
    bool t = s64_cmp(video_part(a, asel, a_signed), video_part(b, bsel, b_signed), cmp);
    return video_finish(t, c, false, false, dsel, op2);
}

/* vmad: (a * b + c) >> scale; .po adds one more. c is signed whatever the types say (measured);
 * saturation is signed as soon as a source is signed or something is negated. */
static inline uint32_t video_mad(uint32_t a, uint32_t b, uint32_t c, int asel, int bsel,
                                 bool a_signed, bool b_signed, bool neg_product, bool neg_c,
                                 bool plus_one, bool sat, int scale)
{
    bool is_signed = a_signed || b_signed || neg_product || neg_c;
    video_wide p = (video_wide)video_part(a, asel, a_signed) * video_part(b, bsel, b_signed);
    video_wide addend = (int32_t)c;
    if (neg_product) p = -p;
    if (neg_c) addend = -addend;
    p = (p + addend + plus_one) >> scale;
    if (sat) {
        video_wide hi = is_signed ? INT32_MAX : UINT32_MAX, lo = is_signed ? INT32_MIN : 0;
        p = p < lo ? lo : p > hi ? hi : p;
    }
    return (uint32_t)p;
}

/* ---- SIMD --------------------------------------------------------------------------------------
 * `asel` and `bsel` hold one hexadecimal digit a lane, as in .b7654 or .h32; `mask` one bit a lane.
 */

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
