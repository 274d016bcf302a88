/* filter.c - weighted sums of texels. */
#include <math.h>

#include "emu/exec/texture/texture_parts.h"

/* Smallest exponents of normal numbers, and exponents of infinity, biased as in f32. */
enum { NORMAL_F32 = 1, NORMAL_F16 = 113, INF_F32 = 255, INF_F16 = 143 };

/* The exponent of a texel, biased as in f32. */
static int exponent(const pl_texel *t, bool is_srgb)
{
    return (int)(t->bits >> 23 & 255) + (is_srgb ? t->whole : 0);
}

static bool blend_specials(const pl_texel *t, const int32_t *weight, unsigned n, bool half,
                           uint32_t *out)
{
    bool plus = false, minus = false, nan = false;
    for (unsigned k = 0; k < n; k++) {
        if (!weight[k] || (t[k].bits & 0x7f800000u) != 0x7f800000u) continue;
        nan |= (t[k].bits & 0x7fffffu) != 0;
        plus |= !(t[k].bits >> 31);
        minus |= t[k].bits >> 31;
    }
    *out = nan || (plus && minus) ? (half ? 0x7fffe000u : 0x7fffffffu)
           : plus                 ? 0x7f800000u
                                  : 0xff800000u;
    return plus || minus;
}

/* sum of t[k].bits * weight[k] / 256, exact, rounded once with ties away from zero: to f32, or to
 * the eleven bits of an f16 if the texels have no more (halves and sRGB). Subnormal f32 texels and
 * results are flushed to zero. */
static uint32_t blend_floats(const pl_texel *t, const int32_t *weight, unsigned n, bool half,
                             bool is_srgb)
{
    /* Guard bits; bits of an f32 that an sRGB value and a half do not have. */
    enum { GUARD = 4, EIGHT = 16, ELEVEN = 13 };
    int top = 0;
    int64_t sum = 0;
    uint32_t special;
    if (blend_specials(t, weight, n, half, &special)) return special;
    for (unsigned k = 0; k < n; k++)
        if (weight[k] && exponent(&t[k], is_srgb) > top) top = exponent(&t[k], is_srgb);
    /* fixed point at the scale of the largest texel, with guard bits for halves and floats; smaller
     * texels are truncated */
    for (unsigned k = 0; k < n; k++) {
        int e = (int)(t[k].bits >> 23 & 255), shift = top - e;
        if (!weight[k] || e < NORMAL_F32 || shift > 62) continue;
        int64_t m = (int64_t)((t[k].bits & 0x7fffffu) | 0x800000u);
        if (is_srgb)
            m = (m >> EIGHT >> shift) << (EIGHT + GUARD);
        else if (half)
            m = (m >> ELEVEN << GUARD >> shift) << ELEVEN;
        else
            m = m << GUARD >> shift;
        sum += (t[k].bits >> 31 ? -m : m) * weight[k];
    }
    if (!sum) return 0;
    uint32_t sign = sum < 0 ? 0x80000000u : 0;
    uint64_t m = sum < 0 ? (uint64_t)-sum : (uint64_t)sum;
    /* the value is m * 2^(top - 127 - 23 - GUARD - 8) */
    int high = 63 - __builtin_clzll(m), e = top + high - 23 - GUARD - 8, keep = half ? 10 : 23;
    if (half && e < NORMAL_F16) { /* a subnormal half has fewer bits */
        keep -= NORMAL_F16 - e;
        if (keep < -1) return sign;
    }
    if (high > keep)
        m = ((m >> (high - keep - 1)) + 1) >> 1;
    else
        m <<= keep - high;
    if (!m) return sign;
    if (keep >= 0 ? m >> (keep + 1) : m) {
        m >>= 1;
        e++;
    }
    if (!half && e < NORMAL_F32) return sign;
    if (e >= (half ? INF_F16 : INF_F32)) return sign | 0x7f800000u;
    return sign | (uint32_t)e << 23 | ((uint32_t)(m << (23 - keep)) & 0x7fffffu);
}

/* Normalised integers: the sum is rounded to a 16-bit integer, regardless of the texel format. */
static uint32_t blend_integers(const pl_texel *t, const int32_t *weight, unsigned n, bool is_signed,
                               unsigned bits)
{
    int64_t sum = 0, most = is_signed ? 32767 : 65535, one = PL_TEXEL_ONE;
    for (unsigned k = 0; k < n; k++) sum += (int64_t)t[k].whole * weight[k];
    if (is_signed && bits == 8) {
        sum *= most;
        one *= 127;
    }
    sum += one / 2;
    sum = sum >= 0 ? sum / one : -((one - 1 - sum) / one);
    return pl_texel_bits((float)((double)(sum < -most ? -most : sum) / (double)most));
}

/* Unnormalised integers, filtered as on an H100: 32-bit integers are rounded down, smaller ones to
 * nearest, ties up. */
static uint32_t blend_whole(const pl_texel *t, const int32_t *weight, unsigned n, bool is_signed,
                            unsigned bits)
{
    int64_t sum = bits < 32 ? PL_TEXEL_ONE / 2 : 0;
    for (unsigned k = 0; k < n; k++)
        sum += (is_signed ? (int32_t)t[k].bits : (int64_t)t[k].bits) * weight[k];
    const int64_t below = sum < 0 ? PL_TEXEL_ONE - 1 : 0;
    return (uint32_t)((sum - below) / PL_TEXEL_ONE);
}

uint32_t pl_texture_blend(const pl_texel *t, const int32_t *weight, unsigned n, pl_texel_kind kind,
                          pl_texel_format f, bool filtered)
{
    const unsigned channel_bits = f.bits;
    unsigned last = 0;
    for (unsigned k = 0; k < n; k++) last = weight[k] ? k : last;
    if (!filtered) return t[last].bits;
    if (kind == PL_TEXEL_RAW)
        return blend_whole(t, weight, n, f.kind == PL_CHANNEL_SIGNED, channel_bits);
    if (kind == PL_TEXEL_UNORM || kind == PL_TEXEL_SNORM)
        return blend_integers(t, weight, n, kind == PL_TEXEL_SNORM, channel_bits);
    return blend_floats(t, weight, n, kind == PL_TEXEL_SRGB || channel_bits == 16,
                        kind == PL_TEXEL_SRGB);
}
