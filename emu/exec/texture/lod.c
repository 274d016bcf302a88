/* lod.c - mipmap levels, and the samples of anisotropic filters. */
#include <math.h>

#include "emu/exec/texture/texture_parts.h"

/* Truncates x to the first nine bits of its mantissa. */
static double truncate_mantissa(double x)
{
    int e;
    double m = frexp(x, &e);
    return ldexp(trunc(ldexp(m, 10)), e - 10);
}

/* The hardware's approximation of a vector's length: the longer component plus 11/32 of the
 * other. */
static double approximate_length(double x, double y)
{
    double a = fabs(x), b = fabs(y);
    return a > b ? a + b * (11.0 / 32) : b + a * (11.0 / 32);
}

/* The ellipse to which a unit circle of the screen maps on the texture: the length of its longer
 * axis in texels, the direction of that axis, and the length of the shorter one. The hardware uses
 * the longest of both derivatives and of 11/16 of their sum and difference, to which half of the
 * circle's diagonals map. This was derived from the recordings of an H200 (probe tex.mipmap: 86 of
 * 106 levels are exact, the others within two 256ths). The shorter axis follows from the area,
 * which is the determinant of the derivatives (found with footprints of single texels, H200, driver
 * 580.159.04, 2026-11). */
typedef struct ellipse {
    double longer, shorter, along[2];
} ellipse;

static void extend_axis(ellipse *e, double x, double y, double part)
{
    double length = approximate_length(x, y) * part;
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
        a[k] = truncate_mantissa(x[k]);
        b[k] = truncate_mantissa(y[k]);
    }
    extend_axis(&e, a[0], a[1], 1);
    extend_axis(&e, b[0], b[1], 1);
    extend_axis(&e, truncate_mantissa(a[0] + b[0]), truncate_mantissa(a[1] + b[1]), 11.0 / 16);
    extend_axis(&e, truncate_mantissa(a[0] - b[0]), truncate_mantissa(a[1] - b[1]), 11.0 / 16);
    e.shorter = e.longer > 0 ? fabs(a[0] * b[1] - a[1] * b[0]) / e.longer : 0;
    return e;
}

/* The derivatives in texels of the first level. */
static void derivatives_in_texels(const pl_image_set *s, const pl_sampler_desc *p,
                                  const pl_fetch *f, double x[3], double y[3])
{
    const double size[3] = {s->level[0].width, s->level[0].height, s->level[0].depth};
    for (unsigned k = 0; k < 3; k++) {
        double n = p->normalized ? size[k] : 1;
        x[k] = k < f->dims ? f->ddx[k] * n : 0;
        y[k] = k < f->dims ? f->ddy[k] * n : 0;
    }
}

/* The logarithm in 256ths is rounded up (recorded where the length is exact: derivatives along the
 * axes). Oblique lengths are slightly shorter on an H200, by half a 256th on average. */
static double round_lod(double lod, bool oblique)
{
    return ceil(lod * PL_TEXEL_ONE - (oblique ? 0.5 : 0)) / PL_TEXEL_ONE;
}

/* The level whose texels have the spacing of neighbouring pixels. Anisotropic filters use the
 * shorter axis, or the longer one divided by the anisotropy if that is larger. Three-dimensional
 * textures use the formula of the ellipse. */
static float gradient_lod(const pl_image_set *s, const pl_sampler_desc *p, const pl_fetch *f)
{
    double dx[3], dy[3];
    derivatives_in_texels(s, p, f, dx, dy);
    if (f->dims < 3) {
        ellipse e = ellipse_of(dx, dy);
        double spacing = p->anisotropy > 1 ? fmax(e.shorter, e.longer / p->anisotropy) : e.longer;
        bool oblique = f->dims > 1 && (dx[0] != 0 || dy[1] != 0) && (dx[1] != 0 || dy[0] != 0);
        return spacing > 0 ? (float)round_lod(log2(spacing), oblique) : -INFINITY;
    }
    double xx = dx[0] * dx[0] + dx[1] * dx[1] + dx[2] * dx[2],
           yy = dy[0] * dy[0] + dy[1] * dy[1] + dy[2] * dy[2];
    double xy = dx[0] * dy[0] + dx[1] * dy[1] + dx[2] * dy[2], half = (xx - yy) / 2,
           longer = (xx + yy) / 2 + sqrt(half * half + xy * xy);
    return longer > 0 ? (float)round_lod(log2(longer) / 2, true) : -INFINITY;
}

/* The level in 1/256, clamped to the sampler's limits; smaller fractions are truncated. */
int32_t pl_texture_level(const pl_image_set *s, const pl_sampler_desc *p, const pl_fetch *f)
{
    const float most = 64;
    float lod = f->level == PL_LEVEL_GRADIENT ? gradient_lod(s, p, f)
                : f->level == PL_LEVEL_GIVEN  ? f->lod
                                              : 0;
    lod = isnan(lod) ? 0 : lod < -most ? -most : lod > most ? most : lod;
    int32_t v = (int32_t)floorf(lod * PL_TEXEL_ONE), low = (int32_t)(p->lod_min * PL_TEXEL_ONE),
            high = (int32_t)(p->lod_max * PL_TEXEL_ONE);
    int32_t last = (int32_t)(s->levels - 1) * PL_TEXEL_ONE;
    if (f->level != PL_LEVEL_BASE) v += (int32_t)(p->lod_bias * PL_TEXEL_ONE);
    v = v > high ? high : v;
    v = v < low ? low : v;
    v = v < 0 ? 0 : v > last ? last : v;
    /* anisotropic filters only blend two levels in the middle half of the interval (recorded) */
    if (p->anisotropy > 1 && p->mip_linear) {
        int32_t fraction = 2 * (v % PL_TEXEL_ONE - PL_TEXEL_ONE / 4);
        v = v - v % PL_TEXEL_ONE +
            (fraction < 0              ? 0
             : fraction > PL_TEXEL_ONE ? PL_TEXEL_ONE
                                       : fraction);
    }
    return v;
}

/* Anisotropic filters average along the longer axis. The behaviour of an H200 was determined with
 * footprints of single texels (driver 580.159.04, 2026-11). Samples are one texel of the level
 * apart. Their number is even and given by the ratio of the axes, and they are symmetric about the
 * centre. All but the two outer ones have the weight 1 / ratio, which is a power of two times an
 * 8-bit value; the outer ones share the remainder. Up to a ratio of 2 there are two samples, which
 * are closer together. Under magnification, the shorter axis counts as one texel. */
enum { RATIO_BITS = 8, STEP_ONE = 64 };

pl_texel_weights pl_anisotropic_samples(const pl_image_set *s, const pl_sampler_desc *p,
                                        const pl_fetch *f, int32_t level)
{
    pl_texel_weights o = {.n = 1};
    double dx[3], dy[3];
    if (p->anisotropy <= 1 || f->level != PL_LEVEL_GRADIENT || f->dims != 2 || f->cube ||
        f->integer || f->gather >= 0 || pl_texel_kind_of(s, p, 0) == PL_TEXEL_RAW)
        return o;
    derivatives_in_texels(s, p, f, dx, dy);
    ellipse e = ellipse_of(dx, dy);
    double shorter = fmax(e.shorter, 1),
           ratio = fmin(e.longer / shorter, fmin(p->anisotropy, PL_MAX_SAMPLES));
    int log = ratio > 1 && isfinite(e.longer) ? (int)ceil(log2(ratio) * (1 << RATIO_BITS)) : 0;
    if (log <= 0) return o;
    double spacing = exp2(p->mip_linear ? (double)level / PL_TEXEL_ONE
                                        : (level + PL_TEXEL_ONE / 2) / PL_TEXEL_ONE),
           length = hypot(e.along[0], e.along[1]);
    for (unsigned k = 0; k < 2; k++)
        o.step[k] = rint(e.along[k] / length * STEP_ONE) / STEP_ONE * spacing /
                    (p->normalized ? (k ? s->level[0].height : s->level[0].width) : 1);
    int fraction =
            (int)floor(256 * exp2(-(double)(log % (1 << RATIO_BITS)) / (1 << RATIO_BITS)) + 0.5),
        octave = log >> RATIO_BITS;
    double inner = (fraction << 2 >> octave) / 1024.0;
    o.n = 2 * (unsigned)ceil(exp2((double)log / (1 << RATIO_BITS)) / 2);
    o.n = o.n > PL_MAX_SAMPLES ? PL_MAX_SAMPLES : o.n;
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
