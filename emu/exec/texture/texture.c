/* texture.c - objects and fetches; see texture.h. The steps of a fetch are in lod.c, address.c,
 * format.c and filter.c.
 *
 * The arithmetic was derived from tables of the H200 (driver 580.159.04, 2026-11; tests/data/probes
 * tex.*), which it reproduces bit for bit:
 *   - linear filtering uses x * 256 - 128 rounded to an integer: 8 bits of fraction
 *   - weights of two and three dimensions are split dimension by dimension and rounded to 1/256
 *     each time
 *   - the weighted sum is exact, then rounded once, ties away from zero; subnormal texels count as
 *     zero
 *   - normalised integers are filtered as 16-bit integers and divided afterwards
 *   - sRGB texels have 8 bits of mantissa, and are truncated to the exponent of the largest when
 *     several contribute */
#include <stdlib.h>

#include "base/array.h"
#include "emu/exec/texture/texture_parts.h"

const pl_object *pl_object_find(const pl_objects *t, uint64_t handle)
{
    return t && handle && handle <= t->n && t->at[handle - 1].kind != PL_OBJECT_NONE
               ? &t->at[handle - 1]
               : NULL;
}

uint64_t pl_object_add(pl_objects *t, const pl_object *o)
{
    if (t->n == t->cap && !pl_array_grow(&t->at, &t->cap, sizeof *t->at)) return 0;
    t->at[t->n++] = *o;
    t->changes++;
    return t->n;
}

void pl_objects_free(pl_objects *t)
{
    free(t->at);
    memset(t, 0, sizeof *t);
}

/* The sample position on one level, for all channels: the texels' weights sum to `total`. */
typedef struct level_point {
    const pl_image *image;
    pl_sample_point at;
    int32_t weight[PL_MAX_TEXELS];
} level_point;

static level_point locate(const pl_image_set *s, const pl_image *i, const pl_sampler_desc *p,
                          const pl_fetch *f, int32_t total)
{
    level_point r = {.image = i};
    r.at = f->cube ? pl_texture_locate_cube(s, i, p, f) : pl_texture_locate(s, i, p, f);
    pl_texture_weights(r.at.a, r.at.dims, total, r.weight);
    return r;
}

/* The texels of one level and their weights. Returns their number. */
static unsigned texels_of(const pl_memory *m, const pl_image_set *s, const pl_sampler_desc *p,
                          const level_point *l, unsigned ch, pl_texel_kind kind, pl_texel *t,
                          int32_t *weight)
{
    const unsigned n = 1u << l->at.dims;
    memcpy(weight, l->weight, sizeof l->weight);
    if (l->at.cube && p->seamless && p->linear) {
        pl_texture_cube_corners(m, s, l->image, &l->at, weight, ch, kind, t);
        return n;
    }
    for (unsigned k = 0; k < n; k++)
        t[k] = weight[k] ? pl_texture_corner(m, s, l->image, p, &l->at, k, ch, kind)
                         : (pl_texel){0, 0};
    return n;
}

/* The four texels that bilinear filtering would blend, counter-clockwise from the lower left. */
static void gather_texels(const pl_memory *m, const pl_image_set *s, const pl_image *i,
                          const pl_sampler_desc *p, const pl_fetch *f, uint32_t out[4])
{
    static const uint8_t order[4] = {2, 3, 1, 0};
    pl_sample_point at =
        f->cube ? pl_texture_locate_cube(s, i, p, f) : pl_texture_locate(s, i, p, f);
    unsigned ch = (unsigned)f->gather;
    for (unsigned k = 0; k < 4; k++)
        out[k] =
            ch < s->format.channels
                ? pl_texture_corner(m, s, i, p, &at, order[k], ch, pl_texel_kind_of(s, p, ch)).bits
                : 0;
}

/* One fetch at one position, at a level in 1/256. */
static void sample(const pl_memory *m, const pl_image_set *s, const pl_sampler_desc *p,
                   const pl_fetch *f, int32_t level, uint32_t out[4])
{
    int32_t fraction = p->mip_linear ? level % PL_TEXEL_ONE : 0;
    uint32_t first = (uint32_t)((p->mip_linear ? level : level + PL_TEXEL_ONE / 2) / PL_TEXEL_ONE);
    first = first < s->levels ? first : s->levels - 1;
    if (f->gather >= 0) {
        gather_texels(m, s, &s->level[first], p, f, out);
        return;
    }
    level_point low = locate(s, &s->level[first], p, f, PL_TEXEL_ONE - fraction), high;
    if (fraction) high = locate(s, &s->level[first + 1], p, f, fraction);
    for (unsigned ch = 0; ch < 4; ch++) {
        pl_texel t[2 * PL_MAX_TEXELS];
        int32_t weight[2 * PL_MAX_TEXELS];
        pl_texel_kind kind = pl_texel_kind_of(s, p, ch);
        out[ch] = 0;
        if (ch >= s->format.channels) continue;
        unsigned n = texels_of(m, s, p, &low, ch, kind, t, weight);
        if (fraction) n += texels_of(m, s, p, &high, ch, kind, t + n, weight + n);
        out[ch] =
            pl_texture_blend(t, weight, n, kind, s->format,
                             (fraction && kind != PL_TEXEL_RAW) || (p->linear && !f->integer));
    }
}

void pl_texture_fetch(const pl_memory *m, const pl_image_set *s, const pl_sampler_desc *p,
                      const pl_fetch *f, uint32_t out[4])
{
    double sum[4] = {0};
    int32_t level = s->levels > 1 ? pl_texture_level(s, p, f) : 0;
    if (p->anisotropy <= 1) {
        sample(m, s, p, f, level, out);
        return;
    }
    pl_texel_weights o = pl_anisotropic_samples(s, p, f, level);
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
