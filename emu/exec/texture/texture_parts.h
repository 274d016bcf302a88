/* texture_parts.h - shared by the steps of a texture fetch. Internal to emu/exec/texture. */
#ifndef PL_EMU_EXEC_TEXTURE_PARTS_H
#define PL_EMU_EXEC_TEXTURE_PARTS_H

#include <string.h>

#include "emu/exec/texture/texture.h"

/* The filtering method for the texels of a format. */
typedef enum pl_texel_kind {
    PL_TEXEL_RAW,
    PL_TEXEL_FLOAT,
    PL_TEXEL_UNORM,
    PL_TEXEL_SNORM,
    PL_TEXEL_SRGB
} pl_texel_kind;

/* Channel k of the texel at `at`, as the unfiltered result, and as the integer or f32 that is
 * filtered. */
typedef struct pl_texel {
    uint32_t bits;
    int32_t whole;
} pl_texel;

enum { PL_TEXEL_OUTSIDE = INT32_MIN, PL_TEXEL_ONE = 256, PL_MAX_TEXELS = 8, PL_CUBE_FACES = 6 };
/* Additional modes: coordinates outside are kept, since they belong to another face; texels outside
 * are zero, as for integer coordinates. */
enum { PL_ADDRESS_SEAMLESS = 4, PL_ADDRESS_ZEROS = 5 };

/* The two texels of one dimension and the weight of the second, in 1/256. Equal for the nearest
 * texel. */
typedef struct pl_texel_axis {
    int32_t at[2];
    int32_t weight;
} pl_texel_axis;

/* The position that a fetch reads: three axes, and the layer. */
typedef struct pl_sample_point {
    pl_texel_axis a[3];
    int32_t layer;
    uint8_t dims, face;
    bool cube;
    bool zeros; /* zeros outside of the texture; otherwise its border */
    const pl_texel_watch *watch;
} pl_sample_point;

/* Anisotropic filters average along the longer axis. */
enum { PL_MAX_SAMPLES = 16 };

typedef struct pl_texel_weights {
    unsigned n;
    double step[2]; /* distance between samples, in coordinates */
    double at[PL_MAX_SAMPLES], weight[PL_MAX_SAMPLES];
} pl_texel_weights;

static inline float pl_texel_float(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

static inline uint32_t pl_texel_bits(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, 4);
    return bits;
}

/* format.c */
pl_texel_kind pl_texel_kind_of(const pl_image_set *s, const pl_sampler_desc *p, unsigned channel);
pl_texel pl_texel_decode(const uint8_t *at, pl_texel_format f, unsigned k, pl_texel_kind kind);

/* address.c */
/* Weights of up to eight texels that sum to `total`; bit d of the index selects the second texel of
 * dimension d. */
void pl_texture_weights(const pl_texel_axis *a, unsigned dims, int32_t total,
                        int32_t w[PL_MAX_TEXELS]);
pl_sample_point pl_texture_locate(const pl_image_set *s, const pl_image *i,
                                  const pl_sampler_desc *p, const pl_fetch *f);
/* Corner `c` of the sample: bit k selects the second texel of dimension k. */
pl_texel pl_texture_corner(const pl_memory *m, const pl_image_set *s, const pl_image *i,
                           const pl_sampler_desc *p, const pl_sample_point *at, unsigned c,
                           unsigned channel, pl_texel_kind kind);
/* Reads the four texels of a cube's face, across edges if necessary. At a corner of the cube one of
 * them does not exist: its weight is distributed to the other three. */
void pl_texture_cube_corners(const pl_memory *m, const pl_image_set *s, const pl_image *i,
                             const pl_sample_point *at, int32_t weight[4], unsigned channel,
                             pl_texel_kind kind, pl_texel t[4]);
/* The face that a direction intersects, and the position on it. The assembler's code divides by the
 * largest component with an approximate reciprocal; infinite and tiny directions lose their
 * components in this step. */
pl_sample_point pl_texture_locate_cube(const pl_image_set *s, const pl_image *i,
                                       const pl_sampler_desc *p, const pl_fetch *f);

/* filter.c */
uint32_t pl_texture_blend(const pl_texel *t, const int32_t *weight, unsigned n, pl_texel_kind kind,
                          pl_texel_format f, bool filtered);

/* lod.c */
/* The level in 1/256, clamped to the sampler's limits; smaller fractions are truncated. */
int32_t pl_texture_level(const pl_image_set *s, const pl_sampler_desc *p, const pl_fetch *f);
pl_texel_weights pl_anisotropic_samples(const pl_image_set *s, const pl_sampler_desc *p,
                                        const pl_fetch *f, int32_t level);

#endif
