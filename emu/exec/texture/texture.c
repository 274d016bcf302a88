/* texture.c - addressing, filtering and conversion of texels. See texture.h.
 *
 * The arithmetic was found from tables of the H200 (driver 580.159.04, 2026-11; tests/data/probes
 * tex.*), which it reproduces bit for bit:
 *   - linear filtering works at x * 256 - 128 rounded to an integer: 8 bits of fraction
 *   - weights of two and three dimensions are split one dimension after the other and rounded to
 *     1/256 each time
 *   - the weighted sum is exact, then rounded once, ties away from zero; subnormal texels count as
 *     zero
 *   - normalised integers are filtered as 16-bit integers and divided afterwards
 *   - sRGB texels have 8 bits of mantissa, and are cut to the exponent of the largest when several
 *     take part */
#include "emu/exec/texture/texture.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "emu/exec/num/mufu_sequences.h"

/* ---- objects ---- */

const pl_object *pl_object_find(const pl_objects *t, uint64_t handle)
{
    return t && handle && handle <= t->n && t->at[handle - 1].kind != PL_OBJECT_NONE
               ? &t->at[handle - 1]
               : NULL;
}

uint64_t pl_object_add(pl_objects *t, const pl_object *o)
{
    if (t->n == t->cap) {
        size_t cap = t->cap ? 2 * t->cap : 8;
        pl_object *p = realloc(t->at, cap * sizeof *p);
        if (!p) return 0;
        t->at = p;
        t->cap = cap;
    }
    t->at[t->n++] = *o;
    return t->n;
}

void pl_objects_free(pl_objects *t)
{
    free(t->at);
    memset(t, 0, sizeof *t);
}

/* ---- texels ---- */

/* How the texels of a format are filtered. */
typedef enum value_kind { RAW, FLOATS, UNORM, SNORM, SRGB } value_kind;

static value_kind kind_of(const pl_image_set *s, const pl_sampler_desc *p, unsigned channel)
{
    if (s->format.kind == PL_CHANNEL_FLOAT) return FLOATS;
    if (!p->to_float) return RAW;
    if (s->format.kind == PL_CHANNEL_SIGNED) return SNORM;
    /* the last channel of two or four is alpha */
    bool alpha = channel == 3 || (channel == 1 && s->format.channels == 2);
    return p->srgb && s->format.bits == 8 && !alpha ? SRGB : UNORM;
}

/* sRGB to linear: upper halves of the f32 results. Bit 15 marks those that have one bit less: the
 * table of the hardware keeps them at the scale of the next power of two, which shows when they are
 * filtered. */
static const uint16_t srgb[256] = {
    0x0000, 0x39a0, 0x3a20, 0x3a70, 0x3aa0, 0x3ac8, 0x3af0, 0x3b0c, 0x3b20, 0x3b34, 0x3b48, 0x3b5c,
    0x3b70, 0x3b84, 0x3b90, 0x3b9c, 0x3baa, 0x3bb8, 0x3bc6, 0x3bd6, 0x3be6, 0x3bf6, 0x3c03, 0x3c0c,
    0x3c16, 0x3c1f, 0x3c29, 0x3c34, 0x3c3e, 0x3c49, 0x3c55, 0x3c60, 0xbc6c, 0xbc7a, 0x3c83, 0x3c8a,
    0x3c91, 0x3c98, 0x3c9f, 0x3ca6, 0x3cae, 0x3cb6, 0x3cbe, 0x3cc6, 0x3cce, 0x3cd7, 0x3ce0, 0x3ce9,
    0x3cf2, 0x3cfc, 0x3d03, 0x3d08, 0x3d0d, 0x3d12, 0x3d17, 0x3d1c, 0x3d22, 0x3d28, 0x3d2d, 0x3d33,
    0x3d39, 0x3d3f, 0x3d45, 0x3d4c, 0x3d52, 0xbd58, 0xbd60, 0xbd66, 0xbd6c, 0xbd74, 0xbd7a, 0x3d81,
    0x3d85, 0x3d88, 0x3d8c, 0x3d90, 0x3d94, 0x3d98, 0x3d9c, 0x3da0, 0x3da4, 0x3da9, 0x3dad, 0x3db1,
    0x3db6, 0x3dba, 0x3dbf, 0x3dc3, 0x3dc8, 0x3dcd, 0x3dd1, 0x3dd6, 0x3ddb, 0x3de0, 0x3de5, 0x3dea,
    0x3df0, 0xbdf4, 0xbdfa, 0x3e00, 0x3e02, 0x3e05, 0x3e08, 0x3e0b, 0x3e0e, 0x3e11, 0x3e14, 0x3e17,
    0x3e1a, 0x3e1d, 0x3e20, 0x3e23, 0x3e26, 0x3e29, 0x3e2c, 0x3e30, 0x3e33, 0x3e36, 0x3e3a, 0x3e3d,
    0x3e40, 0x3e44, 0x3e47, 0x3e4b, 0x3e4e, 0x3e52, 0x3e56, 0x3e59, 0x3e5d, 0x3e61, 0x3e65, 0x3e68,
    0x3e6c, 0x3e70, 0x3e74, 0x3e78, 0xbe7c, 0x3e80, 0x3e82, 0x3e84, 0x3e86, 0x3e88, 0x3e8a, 0x3e8d,
    0x3e8f, 0x3e91, 0x3e93, 0x3e95, 0x3e98, 0x3e9a, 0x3e9c, 0x3e9e, 0x3ea1, 0x3ea3, 0x3ea5, 0x3ea8,
    0x3eaa, 0x3ead, 0x3eaf, 0x3eb2, 0x3eb4, 0x3eb6, 0x3eb9, 0x3ebc, 0x3ebe, 0x3ec1, 0x3ec3, 0x3ec6,
    0x3ec8, 0x3ecb, 0x3ece, 0x3ed1, 0x3ed3, 0x3ed6, 0x3ed9, 0x3edb, 0x3ede, 0x3ee1, 0x3ee4, 0x3ee7,
    0x3eea, 0x3eed, 0x3ef0, 0x3ef2, 0xbef6, 0xbef8, 0xbefc, 0xbefe, 0x3f01, 0x3f02, 0x3f04, 0x3f05,
    0x3f07, 0x3f09, 0x3f0a, 0x3f0c, 0x3f0d, 0x3f0f, 0x3f11, 0x3f12, 0x3f14, 0x3f16, 0x3f17, 0x3f19,
    0x3f1b, 0x3f1c, 0x3f1e, 0x3f20, 0x3f21, 0x3f23, 0x3f25, 0x3f27, 0x3f29, 0x3f2a, 0x3f2c, 0x3f2e,
    0x3f30, 0x3f32, 0x3f33, 0x3f35, 0x3f37, 0x3f39, 0x3f3b, 0x3f3d, 0x3f3f, 0x3f41, 0x3f43, 0x3f45,
    0x3f47, 0x3f49, 0x3f4b, 0x3f4d, 0x3f4f, 0x3f51, 0x3f53, 0x3f55, 0x3f57, 0x3f59, 0x3f5b, 0x3f5d,
    0x3f5f, 0x3f61, 0x3f63, 0x3f65, 0x3f68, 0x3f6a, 0x3f6c, 0x3f6e, 0x3f70, 0xbf72, 0xbf74, 0xbf76,
    0xbf7a, 0xbf7c, 0xbf7e, 0x3f80,
};

static float as_float(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

static uint32_t as_bits(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, 4);
    return bits;
}

/* An f16 as f32; payloads of NaNs stay as they are. */
static uint32_t widen_half(uint32_t h)
{
    uint32_t sign = (h & 0x8000u) << 16, e = h >> 10 & 31, m = h & 0x3ff;
    if (e == 31) return sign | 0x7f800000u | m << 13;
    if (e) return sign | (e + 112) << 23 | m << 13;
    return sign | as_bits((float)m * 0x1p-24f);
}

/* Channel k of the texel at `at`, as the unfiltered result, and as the integer or f32 that is
 * filtered. */
typedef struct texel {
    uint32_t bits;
    int32_t whole;
} texel;

static texel decode(const uint8_t *at, pl_texel_format f, unsigned k, value_kind kind)
{
    texel t = {0, 0};
    uint32_t v = 0;
    memcpy(&v, at + k * f.bits / 8u, f.bits / 8u);
    if (f.kind == PL_CHANNEL_SIGNED && f.bits < 32)
        v = (uint32_t)((int32_t)(v << (32 - f.bits)) >> (32 - f.bits));
    switch (kind) {
    case RAW: t.bits = v; break;
    case FLOATS: t.bits = f.bits == 16 ? widen_half(v) : v; break;
    case UNORM:
        t.whole = (int32_t)(f.bits == 8 ? v * 257 : v);
        t.bits = as_bits((float)((double)v / (f.bits == 8 ? 255.0 : 65535.0)));
        break;
    case SNORM: {
        int32_t most = f.bits == 8 ? 127 : 32767, s = (int32_t)v;
        t.whole = s;
        t.bits = as_bits((float)((double)(s < -most ? -most : s) / most));
        break;
    }
    case SRGB:
        t.bits = (uint32_t)(srgb[v & 255] & 0x7fff) << 16;
        t.whole = srgb[v & 255] >> 15;
        break;
    }
    return t;
}

/* ---- addressing: which texels, with which weights ---- */

enum { OUTSIDE = INT32_MIN, ONE = 256, MOST_TEXELS = 8, CUBE_FACES = 6 };
/* Further modes: coordinates outside stay, another face has them; there are zeros outside, as whole
 * coordinates find them. */
enum { SEAMLESS = 4, ZEROS = 5 };

/* The two texels of one dimension and the weight of the second, in 1/256. Equal for the nearest
 * texel. */
typedef struct axis {
    int32_t at[2];
    int32_t weight;
} axis;

static int32_t in_range(int64_t i, int32_t n, int mode)
{
    switch (mode) {
    case PL_ADDRESS_WRAP: return (int32_t)(((i % n) + n) % n);
    case PL_ADDRESS_MIRROR: {
        int64_t k = ((i % (2 * (int64_t)n)) + 2 * (int64_t)n) % (2 * (int64_t)n);
        return (int32_t)(k < n ? k : 2 * (int64_t)n - 1 - k);
    }
    case SEAMLESS: return (int32_t)i;
    case ZEROS:
    case PL_ADDRESS_BORDER: return i < 0 || i >= n ? OUTSIDE : (int32_t)i;
    default: return (int32_t)(i < 0 ? 0 : i >= n ? n - 1 : i);
    }
}

/* Wrapping and mirroring exist for normalised coordinates only. */
static int mode_of(const pl_sampler_desc *p, bool normalized, unsigned k)
{
    int mode = p->address[k];
    return normalized || mode == PL_ADDRESS_BORDER ? mode : PL_ADDRESS_CLAMP;
}

/* Normalised coordinates have this many steps. */
#define COORD_ONE 0x1p24

/* Position in texels. Normalised coordinates are reduced first, so that large ones keep their
 * fraction. */
static double position(float x, int32_t n, bool normalized, int mode)
{
    double limit = 0x1p30, u = (double)x;
    if (isnan(x) || (as_bits(x) & 0x7f800000u) == 0) u = 0;
    if (normalized && isinf(x) && (mode == PL_ADDRESS_WRAP || mode == PL_ADDRESS_MIRROR)) u = 0;
    if (normalized && mode == PL_ADDRESS_WRAP) u -= floor(u);
    if (normalized && mode == PL_ADDRESS_MIRROR) u -= 2 * floor(u / 2);
    if (normalized) u = floor(u * COORD_ONE) / COORD_ONE * n;
    return u < -limit ? -limit : u > limit ? limit : u;
}

static axis nearest(double u, int32_t n, int mode, int32_t offset)
{
    int32_t i = in_range((int64_t)floor(u) + offset, n, mode);
    return (axis){{i, i}, 0};
}

static axis between(double u, int32_t n, int mode, int32_t offset)
{
    int64_t g = (int64_t)floor(u * ONE - ONE / 2 + 0.5), i = (g >> 8) + offset;
    axis a = {{in_range(i, n, mode), in_range(i + 1, n, mode)}, (int32_t)(g & (ONE - 1))};
    if (a.at[0] == a.at[1]) a.weight = 0;
    return a;
}

/* Weights of up to eight texels that share `total`; bit d of the index chooses the second of
 * dimension d. */
static void weigh(const axis *a, unsigned dims, int32_t total, int32_t w[MOST_TEXELS])
{
    int32_t wx = a[0].weight, wy = dims > 1 ? a[1].weight : 0, wz = dims > 2 ? a[2].weight : 0;
    int32_t far = (total * wz + ONE / 2 - 1) >> 8;
    for (unsigned z = 0; z < 2; z++) {
        int32_t whole = z ? far : total - far, right = (whole * wx + ONE / 2) >> 8,
                left = whole - right;
        int32_t right_low = (right * wy + ONE / 2) >> 8, left_low = (left * wy + ONE / 2 - 1) >> 8;
        w[4 * z] = left - left_low;
        w[4 * z + 1] = right - right_low;
        w[4 * z + 2] = left_low;
        w[4 * z + 3] = right_low;
    }
}

/* ---- filtering ---- */

/* Smallest exponents of normal numbers, biased as in f32. */
enum { NORMAL_F32 = 1, NORMAL_F16 = 113, INF_F32 = 255, INF_F16 = 143 };

/* What becomes of infinities and NaNs; false: there are none. */
static int exponent(const texel *t, bool is_srgb)
{
    return (int)(t->bits >> 23 & 255) + (is_srgb ? t->whole : 0);
}

static bool blend_specials(const texel *t, const int32_t *weight, unsigned n, bool half,
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
 * the eleven bits of an f16 where the texels have no more (halves and sRGB). Subnormal f32 texels
 * and results are zero. */
static uint32_t blend_floats(const texel *t, const int32_t *weight, unsigned n, bool half,
                             bool is_srgb)
{
    enum {
        GUARD = 4,
        EIGHT = 16,
        ELEVEN = 13
    }; /* guard bits; bits of an f32 that an sRGB value and a half lack */
    int top = 0;
    int64_t sum = 0;
    uint32_t special;
    if (blend_specials(t, weight, n, half, &special)) return special;
    for (unsigned k = 0; k < n; k++)
        if (weight[k] && exponent(&t[k], is_srgb) > top) top = exponent(&t[k], is_srgb);
    /* fixed point at the scale of the largest texel, with guard bits for halves and floats; smaller
     * ones lose what lies below */
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
    if (half && e < NORMAL_F16) { /* a subnormal half: fewer bits */
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

/* Normalised integers: the sum is rounded to an integer of 16 bits, whatever the texels have. */
static uint32_t blend_integers(const texel *t, const int32_t *weight, unsigned n, bool is_signed,
                               unsigned bits)
{
    int64_t sum = 0, most = is_signed ? 32767 : 65535, one = ONE;
    for (unsigned k = 0; k < n; k++) sum += (int64_t)t[k].whole * weight[k];
    if (is_signed && bits == 8) {
        sum *= most;
        one *= 127;
    }
    sum += one / 2;
    sum = sum >= 0 ? sum / one : -((one - 1 - sum) / one);
    return as_bits((float)((double)(sum < -most ? -most : sum) / (double)most));
}

static uint32_t blend(const texel *t, const int32_t *weight, unsigned n, value_kind kind,
                      unsigned channel_bits, bool filtered)
{
    unsigned last = 0;
    for (unsigned k = 0; k < n; k++) last = weight[k] ? k : last;
    if (kind == RAW || !filtered) return t[last].bits;
    if (kind == UNORM || kind == SNORM)
        return blend_integers(t, weight, n, kind == SNORM, channel_bits);
    return blend_floats(t, weight, n, kind == SRGB || channel_bits == 16, kind == SRGB);
}

/* ---- one level ---- */

static const uint8_t *texel_at(const pl_memory *m, const pl_image_set *s, const pl_image *i,
                               int32_t x, int32_t y, int32_t z)
{
    uint32_t bytes = pl_texel_bytes(s->format);
    uint64_t at = pl_image_byte(i, (uint64_t)x * bytes, (uint64_t)y, (uint64_t)z);
    return pl_memory_at(m, at, bytes);
}

static texel border_texel(const pl_sampler_desc *p, unsigned channel, value_kind kind)
{
    texel t = {as_bits(p->border[channel]), 0};
    float b = p->border[channel];
    if (kind == UNORM) t.whole = (int32_t)((b < 0 ? 0 : b > 1 ? 1 : b) * 65535 + 0.5f);
    if (kind == SNORM) t.whole = (int32_t)((b < -1 ? -1 : b > 1 ? 1 : b) * 32767);
    return t;
}

/* Where a fetch reads: three axes, and the layer. */
typedef struct spot {
    axis a[3];
    int32_t layer;
    uint8_t dims, face;
    bool cube;
    bool zeros; /* outside of the texture; else its border */
} spot;

/* Layers that do not exist, negative ones too, are the last. */
static int32_t chosen_layer(const pl_image_set *s, const pl_image *i, int32_t layer)
{
    uint32_t n = s->cubemap ? i->depth / CUBE_FACES : i->depth;
    return (int32_t)((uint32_t)layer < n ? (uint32_t)layer : n - 1);
}

static spot locate(const pl_image_set *s, const pl_image *i, const pl_sampler_desc *p,
                   const pl_fetch *f)
{
    spot r = {.dims = f->dims, .zeros = f->integer};
    const uint32_t size[3] = {i->width, i->height, i->depth};
    bool normalized = p->normalized && !f->integer;
    for (unsigned k = 0; k < f->dims; k++) {
        int32_t n = (int32_t)size[k];
        int mode = f->integer ? ZEROS : mode_of(p, normalized, k);
        double u = f->integer ? (double)(int32_t)f->coord[k]
                              : position(as_float(f->coord[k]), n, normalized, mode);
        r.a[k] = f->gather >= 0 || (p->linear && !f->integer) ? between(u, n, mode, f->offset[k])
                                                              : nearest(u, n, mode, f->offset[k]);
    }
    /* a one-dimensional texture is a row that is filtered in two dimensions: the border shows
     * through at its lower edge */
    if (f->dims == 1 && p->linear && !f->integer)
        r.a[r.dims++] = between(0, 1, mode_of(p, normalized, 1), 0);
    if (s->layered) r.layer = chosen_layer(s, i, f->layer);
    return r;
}

/* Corner `c` of the spot: bit k chooses the second texel of dimension k. */
static texel corner(const pl_memory *m, const pl_image_set *s, const pl_image *i,
                    const pl_sampler_desc *p, const spot *at, unsigned c, unsigned channel,
                    value_kind kind)
{
    int32_t xyz[3] = {0, 0, at->cube ? at->layer * CUBE_FACES + at->face : at->layer};
    for (unsigned k = 0; k < at->dims; k++) {
        xyz[k] = at->a[k].at[c >> k & 1];
        if (xyz[k] == OUTSIDE) return at->zeros ? (texel){0, 0} : border_texel(p, channel, kind);
    }
    const uint8_t *bytes = texel_at(m, s, i, xyz[0], xyz[1], xyz[2]);
    return bytes ? decode(bytes, s->format, channel, kind) : (texel){0, 0};
}

/* ---- cubes ---- */

/* Components of a direction by face: +x -x +y -y +z -z. */
typedef struct face {
    uint8_t major, s, t;
    int8_t major_sign, s_sign, t_sign;
} face;

static const face faces[CUBE_FACES] = {{0, 2, 1, 1, -1, -1}, {0, 2, 1, -1, 1, -1},
                                       {1, 0, 2, 1, 1, 1},   {1, 0, 2, -1, 1, -1},
                                       {2, 0, 1, 1, 1, -1},  {2, 0, 1, -1, -1, -1}};

/* Ties go to z, then to y. */
static unsigned face_of(const double d[3])
{
    double x = fabs(d[0]), y = fabs(d[1]), z = fabs(d[2]);
    unsigned major = !(x > z) && !(y > z) ? 2 : !(x > y) ? 1 : 0;
    return 2 * major + (d[major] < 0);
}

/* The texel beyond an edge: coordinates (x, y) of face *k, one of which is outside, on the face
 * that lies there. */
static void across_edge(unsigned *k, int32_t *x, int32_t *y, int32_t n)
{
    const face *c = &faces[*k];
    double d[3];
    int32_t s = 2 * *x + 1 - n, t = 2 * *y + 1 - n;
    d[c->major] = c->major_sign * (n - 1);
    d[c->s] = c->s_sign * (s < -n ? -n : s > n ? n : s);
    d[c->t] = c->t_sign * (t < -n ? -n : t > n ? n : t);
    *k = face_of(d);
    c = &faces[*k];
    *x = ((int32_t)d[c->s] * c->s_sign + n - 1) / 2;
    *y = ((int32_t)d[c->t] * c->t_sign + n - 1) / 2;
}

/* Reads the four texels of a cube's face, across edges if need be. At a corner of the cube one of
 * them does not exist: its weight goes to the three others. */
static void cube_corners(const pl_memory *m, const pl_image_set *s, const pl_image *i,
                         const spot *at, int32_t weight[4], unsigned channel, value_kind kind,
                         texel t[4])
{
    int32_t n = (int32_t)i->width;
    for (unsigned c = 0; c < 4; c++) {
        int32_t x = at->a[0].at[c & 1], y = at->a[1].at[c >> 1];
        unsigned k = at->face;
        bool out_x = x < 0 || x >= n, out_y = y < 0 || y >= n;
        t[c] = (texel){0, 0};
        if (out_x && out_y) {
            int32_t third = (weight[c] + 1) / 3;
            weight[c ^ 1] += third;
            weight[c ^ 2] += third;
            weight[c ^ 3] += weight[c] - 2 * third;
            weight[c] = 0;
            continue;
        }
        if (out_x || out_y) across_edge(&k, &x, &y, n);
        const uint8_t *bytes = texel_at(m, s, i, x, y, at->layer * CUBE_FACES + (int32_t)k);
        if (bytes) t[c] = decode(bytes, s->format, channel, kind);
    }
}

/* The face that a direction hits and where on it. The assembler's code divides by the largest
 * component with an approximate reciprocal; infinite and tiny directions lose their components on
 * the way. */
static spot locate_cube(const pl_image_set *s, const pl_image *i, const pl_sampler_desc *p,
                        const pl_fetch *f)
{
    spot r = {.dims = 2, .cube = true};
    float d[3], largest = 0;
    for (unsigned k = 0; k < 3; k++) {
        d[k] = as_float(f->coord[k]);
        largest = fmaxf(largest, fabsf(d[k]));
    }
    float scale = as_float(mufu_rcp(as_bits(largest)));
    double e[3];
    for (unsigned k = 0; k < 3; k++) e[k] = isnan(d[k] * scale) ? 0 : d[k] * scale;
    r.face = (uint8_t)face_of(e);
    const face *c = &faces[r.face];
    int32_t n = (int32_t)i->width;
    for (unsigned k = 0; k < 2; k++) {
        double v = k ? e[c->t] * c->t_sign : e[c->s] * c->s_sign, u;
        v = isfinite(v) ? v : 0;
        u = (v * 0.5 + 0.5) * n;
        int mode = p->seamless ? SEAMLESS : p->address[k];
        r.a[k] = p->linear || f->gather >= 0
                     ? between(u, n, mode, f->offset[k])
                     : nearest(u, n, p->seamless ? PL_ADDRESS_CLAMP : mode, f->offset[k]);
    }
    if (s->layered) r.layer = chosen_layer(s, i, f->layer);
    return r;
}

/* The texels of one level and their weights, which share `total`. Returns how many there are. */
static unsigned texels_of(const pl_memory *m, const pl_image_set *s, const pl_image *i,
                          const pl_sampler_desc *p, const pl_fetch *f, int32_t total, unsigned ch,
                          value_kind kind, texel *t, int32_t *weight)
{
    spot at = f->cube ? locate_cube(s, i, p, f) : locate(s, i, p, f);
    unsigned n = 1u << at.dims;
    weigh(at.a, at.dims, total, weight);
    if (at.cube && p->seamless && p->linear) {
        cube_corners(m, s, i, &at, weight, ch, kind, t);
        return n;
    }
    for (unsigned k = 0; k < n; k++)
        t[k] = weight[k] ? corner(m, s, i, p, &at, k, ch, kind) : (texel){0, 0};
    return n;
}

/* The four texels that bilinear filtering would mix, counter-clockwise from the lower left. */
static void gather(const pl_memory *m, const pl_image_set *s, const pl_image *i,
                   const pl_sampler_desc *p, const pl_fetch *f, uint32_t out[4])
{
    static const uint8_t order[4] = {2, 3, 1, 0};
    spot at = f->cube ? locate_cube(s, i, p, f) : locate(s, i, p, f);
    unsigned ch = (unsigned)f->gather;
    for (unsigned k = 0; k < 4; k++)
        out[k] = ch < s->format.channels
                     ? corner(m, s, i, p, &at, order[k], ch, kind_of(s, p, ch)).bits
                     : 0;
}

/* ---- mipmap levels ---- */

/* x without the bits of its mantissa behind the ninth. */
static double nine_bits(double x)
{
    int e;
    double m = frexp(x, &e);
    return ldexp(trunc(ldexp(m, 10)), e - 10);
}

/* The length of a vector as the hardware takes it: the longer component and 11/32 of the other one.
 */
static double rough_length(double x, double y)
{
    double a = fabs(x), b = fabs(y);
    return a > b ? a + b * (11.0 / 32) : b + a * (11.0 / 32);
}

/* The ellipse that a unit circle of the screen becomes on the texture: how long its longer axis is,
 * in texels, which way it points, and how long the shorter one is. The hardware takes the longest
 * of both derivatives and of 11/16 of their sum and difference: what half of the circle's diagonals
 * become (worked out from the recordings of an H200, probe tex.mipmap: 86 of 106 levels come out
 * exactly, the others within two 256th). The shorter axis follows from the area, which is the
 * determinant of the derivatives (found with footprints of single texels, H200, driver 580.159.04,
 * 2026-11). */
typedef struct ellipse {
    double longer, shorter, along[2];
} ellipse;

static void lengthen(ellipse *e, double x, double y, double part)
{
    double length = rough_length(x, y) * part;
    if (!(length > e->longer)) return;
    e->longer = length;
    e->along[0] = x;
    e->along[1] = y;
}

static ellipse ellipse_of(const double x[2], const double y[2])
{
    double a[2], b[2];
    ellipse e = {0};
    for (unsigned k = 0; k < 2; k++) {
        a[k] = nine_bits(x[k]);
        b[k] = nine_bits(y[k]);
    }
    lengthen(&e, a[0], a[1], 1);
    lengthen(&e, b[0], b[1], 1);
    lengthen(&e, nine_bits(a[0] + b[0]), nine_bits(a[1] + b[1]), 11.0 / 16);
    lengthen(&e, nine_bits(a[0] - b[0]), nine_bits(a[1] - b[1]), 11.0 / 16);
    e.shorter = e.longer > 0 ? fabs(a[0] * b[1] - a[1] * b[0]) / e.longer : 0;
    return e;
}

/* The derivatives in texels of the first level. */
static void in_texels(const pl_image_set *s, const pl_sampler_desc *p, const pl_fetch *f,
                      double x[3], double y[3])
{
    const double size[3] = {s->level[0].width, s->level[0].height, s->level[0].depth};
    for (unsigned k = 0; k < 3; k++) {
        double n = p->normalized ? size[k] : 1;
        x[k] = k < f->dims ? f->ddx[k] * n : 0;
        y[k] = k < f->dims ? f->ddy[k] * n : 0;
    }
}

/* The logarithm in 256ths is rounded up (recorded where the length is exact: derivatives along the
 * axes). Oblique lengths are a little shorter on an H200, by half a 256th on average. */
static double rounded(double lod, bool oblique)
{
    return ceil(lod * ONE - (oblique ? 0.5 : 0)) / ONE;
}

/* The level whose texels are as far apart as neighbouring pixels; anisotropic filters take the
 * shorter axis, or what is left of the longer one. Textures of three dimensions follow the formula
 * of the ellipse. */
static float gradient_lod(const pl_image_set *s, const pl_sampler_desc *p, const pl_fetch *f)
{
    double dx[3], dy[3];
    in_texels(s, p, f, dx, dy);
    if (f->dims < 3) {
        ellipse e = ellipse_of(dx, dy);
        double apart = p->anisotropy > 1 ? fmax(e.shorter, e.longer / p->anisotropy) : e.longer;
        bool oblique = f->dims > 1 && (dx[0] != 0 || dy[1] != 0) && (dx[1] != 0 || dy[0] != 0);
        return apart > 0 ? (float)rounded(log2(apart), oblique) : -INFINITY;
    }
    double xx = dx[0] * dx[0] + dx[1] * dx[1] + dx[2] * dx[2],
           yy = dy[0] * dy[0] + dy[1] * dy[1] + dy[2] * dy[2];
    double xy = dx[0] * dy[0] + dx[1] * dy[1] + dx[2] * dy[2], half = (xx - yy) / 2,
           longer = (xx + yy) / 2 + sqrt(half * half + xy * xy);
    return longer > 0 ? (float)rounded(log2(longer) / 2, true) : -INFINITY;
}

/* The level in 1/256, between the sampler's limits; fractions below are cut off. */
static int32_t level_of(const pl_image_set *s, const pl_sampler_desc *p, const pl_fetch *f)
{
    const float most = 64;
    float lod = f->level == PL_LEVEL_GRADIENT ? gradient_lod(s, p, f)
                : f->level == PL_LEVEL_GIVEN  ? f->lod
                                              : 0;
    lod = isnan(lod) ? 0 : lod < -most ? -most : lod > most ? most : lod;
    int32_t v = (int32_t)floorf(lod * ONE), low = (int32_t)(p->lod_min * ONE),
            high = (int32_t)(p->lod_max * ONE);
    int32_t last = (int32_t)(s->levels - 1) * ONE;
    if (f->level != PL_LEVEL_BASE) v += (int32_t)(p->lod_bias * ONE);
    v = v > high ? high : v;
    v = v < low ? low : v;
    v = v < 0 ? 0 : v > last ? last : v;
    /* anisotropic filters mix two levels only in the middle half of the way (recorded) */
    if (p->anisotropy > 1 && p->mip_linear) {
        int32_t fraction = 2 * (v % ONE - ONE / 4);
        v = v - v % ONE + (fraction < 0 ? 0 : fraction > ONE ? ONE : fraction);
    }
    return v;
}

/* One fetch at one place, at a level in 1/256. */
static void sample(const pl_memory *m, const pl_image_set *s, const pl_sampler_desc *p,
                   const pl_fetch *f, int32_t level, uint32_t out[4])
{
    int32_t fraction = p->mip_linear ? level % ONE : 0;
    uint32_t first = (uint32_t)((p->mip_linear ? level : level + ONE / 2) / ONE);
    first = first < s->levels ? first : s->levels - 1;
    if (f->gather >= 0) {
        gather(m, s, &s->level[first], p, f, out);
        return;
    }
    for (unsigned ch = 0; ch < 4; ch++) {
        texel t[2 * MOST_TEXELS];
        int32_t weight[2 * MOST_TEXELS];
        value_kind kind = kind_of(s, p, ch);
        out[ch] = 0;
        if (ch >= s->format.channels) continue;
        unsigned n = texels_of(m, s, &s->level[first], p, f, ONE - fraction, ch, kind, t, weight);
        if (fraction)
            n += texels_of(m, s, &s->level[first + 1], p, f, fraction, ch, kind, t + n, weight + n);
        out[ch] = blend(t, weight, n, kind, s->format.bits, fraction || (p->linear && !f->integer));
    }
}

/* Anisotropic filters average along the longer axis. What an H200 does was found with footprints of
 * single texels (driver 580.159.04, 2026-11): places are one texel of the level apart, an even
 * number of them, as many as the ratio of the axes needs, and lie evenly to both sides. All but the
 * two outer ones have the weight 1 / ratio, which is a power of two and 8 bits; the outer ones have
 * the rest. Up to a ratio of 2 there are two places, which are closer together. Magnified, the
 * shorter axis counts as a texel. */
enum { PLACES = 16, RATIO_BITS = 8, STEP_ONE = 64 };

typedef struct places {
    unsigned n;
    double step[2]; /* from one place to the next, in coordinates */
    double at[PLACES], weight[PLACES];
} places;

static places places_along(const pl_image_set *s, const pl_sampler_desc *p, const pl_fetch *f,
                           int32_t level)
{
    places o = {.n = 1};
    double dx[3], dy[3];
    if (p->anisotropy <= 1 || f->level != PL_LEVEL_GRADIENT || f->dims != 2 || f->cube ||
        f->integer || f->gather >= 0 || kind_of(s, p, 0) == RAW)
        return o;
    in_texels(s, p, f, dx, dy);
    ellipse e = ellipse_of(dx, dy);
    double shorter = fmax(e.shorter, 1),
           ratio = fmin(e.longer / shorter, fmin(p->anisotropy, PLACES));
    int log = ratio > 1 && isfinite(e.longer) ? (int)ceil(log2(ratio) * (1 << RATIO_BITS)) : 0;
    if (log <= 0) return o;
    double apart = exp2(p->mip_linear ? (double)level / ONE : (level + ONE / 2) / ONE),
           length = hypot(e.along[0], e.along[1]);
    for (unsigned k = 0; k < 2; k++)
        o.step[k] = rint(e.along[k] / length * STEP_ONE) / STEP_ONE * apart /
                    (p->normalized ? (k ? s->level[0].height : s->level[0].width) : 1);
    int fraction =
            (int)floor(256 * exp2(-(double)(log % (1 << RATIO_BITS)) / (1 << RATIO_BITS)) + 0.5),
        octave = log >> RATIO_BITS;
    double inner = (fraction << 2 >> octave) / 1024.0;
    o.n = 2 * (unsigned)ceil(exp2((double)log / (1 << RATIO_BITS)) / 2);
    o.n = o.n > PLACES ? PLACES : o.n;
    for (unsigned k = 0; k < o.n; k++) {
        o.at[k] = k - (o.n - 1) / 2.0;
        o.weight[k] = k == 0 || k == o.n - 1 ? (1 - (o.n - 2) * inner) / 2 : inner;
    }
    if (o.n == 2 && octave == 0) {
        o.at[1] = 1 - fraction / 256.0;
        o.at[0] = -o.at[1];
    }
    return o;
}

void pl_texture_fetch(const pl_memory *m, const pl_image_set *s, const pl_sampler_desc *p,
                      const pl_fetch *f, uint32_t out[4])
{
    double sum[4] = {0};
    int32_t level = s->levels > 1 ? level_of(s, p, f) : 0;
    places o = places_along(s, p, f, level);
    if (o.n < 2) {
        sample(m, s, p, f, level, out);
        return;
    }
    for (unsigned k = 0; k < o.n; k++) {
        pl_fetch at = *f;
        uint32_t v[4];
        for (unsigned c = 0; c < 2; c++) {
            float x;
            memcpy(&x, &f->coord[c], sizeof x);
            x += (float)(o.step[c] * o.at[k]);
            memcpy(&at.coord[c], &x, sizeof x);
        }
        sample(m, s, p, &at, level, v);
        for (unsigned c = 0; c < 4; c++) {
            float x;
            memcpy(&x, &v[c], sizeof x);
            sum[c] += (double)x * o.weight[k];
        }
    }
    for (unsigned c = 0; c < 4; c++) {
        float x = (float)sum[c];
        memcpy(&out[c], &x, sizeof x);
    }
}

uint64_t pl_image_place(const pl_image *m, uint64_t x, uint64_t y, uint64_t z)
{
    enum { WIDTH = 32, ROWS = 4 };
    const uint64_t across = (m->pitch + WIDTH - 1) / WIDTH, tile = y / ROWS * across + x / WIDTH;
    return m->address + z * m->slice + tile * WIDTH * ROWS + y % ROWS * WIDTH + x % WIDTH;
}

uint64_t pl_texture_address(const pl_image_set *s, const pl_sampler_desc *p, const pl_fetch *f,
                            bool tiled)
{
    const pl_image *i = &s->level[0];
    spot at = f->cube ? locate_cube(s, i, p, f) : locate(s, i, p, f);
    int32_t xyz[3] = {0, 0, at.cube ? at.layer * CUBE_FACES + at.face : at.layer};
    for (unsigned k = 0; k < at.dims; k++) xyz[k] = at.a[k].at[0] == OUTSIDE ? 0 : at.a[k].at[0];
    const uint64_t x = (uint64_t)xyz[0] * pl_texel_bytes(s->format), y = (uint64_t)xyz[1],
                   z = (uint64_t)xyz[2];
    return tiled ? pl_image_place(i, x, y, z) : pl_image_byte(i, x, y, z);
}
