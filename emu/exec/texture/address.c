/* address.c - addressing: the texels that a fetch reads, and their weights. */
#include <math.h>

#include "emu/exec/num/mufu_sequences.h"
#include "emu/exec/texture/texture_parts.h"

static int32_t address_index(int64_t i, int32_t n, int mode)
{
    if (i >= 0 && i < n) return (int32_t)i;
    switch (mode) {
    case PL_ADDRESS_WRAP: return (int32_t)(((i % n) + n) % n);
    case PL_ADDRESS_MIRROR: {
        int64_t k = ((i % (2 * (int64_t)n)) + 2 * (int64_t)n) % (2 * (int64_t)n);
        return (int32_t)(k < n ? k : 2 * (int64_t)n - 1 - k);
    }
    case PL_ADDRESS_SEAMLESS: return (int32_t)i;
    case PL_ADDRESS_ZEROS:
    case PL_ADDRESS_BORDER: return i < 0 || i >= n ? PL_TEXEL_OUTSIDE : (int32_t)i;
    default: return (int32_t)(i < 0 ? 0 : i >= n ? n - 1 : i);
    }
}

/* Wrapping and mirroring are only available for normalised coordinates. */
static int mode_of(const pl_sampler_desc *p, bool normalized, unsigned k)
{
    int mode = p->address[k];
    return normalized || mode == PL_ADDRESS_BORDER ? mode : PL_ADDRESS_CLAMP;
}

/* Number of steps of normalised coordinates (H100: 256,000 fetches of six sizes). */
#define COORD_ONE 0x1p21

/* Position in texels. Normalised coordinates are reduced first, so that large ones retain their
 * fraction. */
static double texel_position(float x, int32_t n, bool normalized, int mode)
{
    double limit = 0x1p30, u = (double)x;
    if (isnan(x) || (pl_texel_bits(x) & 0x7f800000u) == 0) u = 0;
    if (normalized && isinf(x) && (mode == PL_ADDRESS_WRAP || mode == PL_ADDRESS_MIRROR)) u = 0;
    if (normalized && mode == PL_ADDRESS_WRAP && !(u >= 0 && u < 1)) u -= floor(u);
    if (normalized && mode == PL_ADDRESS_MIRROR) u -= 2 * floor(u / 2);
    if (normalized) u = floor(u * COORD_ONE) / COORD_ONE * n;
    return u < -limit ? -limit : u > limit ? limit : u;
}

/* Floor of u, whose range texel_position has limited. */
static int64_t floor_of(double u)
{
    const int64_t i = (int64_t)u;
    return i - ((double)i > u);
}

static pl_texel_axis nearest_axis(double u, int32_t n, int mode, int32_t offset)
{
    int32_t i = address_index(floor_of(u) + offset, n, mode);
    return (pl_texel_axis){{i, i}, 0};
}

static pl_texel_axis linear_axis(double u, int32_t n, int mode, int32_t offset)
{
    int64_t g = floor_of(u * PL_TEXEL_ONE - PL_TEXEL_ONE / 2 + 0.5), i = (g >> 8) + offset;
    pl_texel_axis a = {{address_index(i, n, mode), address_index(i + 1, n, mode)},
                       (int32_t)(g & (PL_TEXEL_ONE - 1))};
    if (a.at[0] == a.at[1]) a.weight = 0;
    return a;
}

/* Weights of up to eight texels that sum to `total`; bit d of the index selects the second texel of
 * dimension d. */
void pl_texture_weights(const pl_texel_axis *a, unsigned dims, int32_t total,
                        int32_t w[PL_MAX_TEXELS])
{
    int32_t wx = a[0].weight, wy = dims > 1 ? a[1].weight : 0, wz = dims > 2 ? a[2].weight : 0;
    int32_t far = (total * wz + PL_TEXEL_ONE / 2 - 1) >> 8;
    for (unsigned z = 0; z < 2; z++) {
        int32_t whole = z ? far : total - far, right = (whole * wx + PL_TEXEL_ONE / 2) >> 8,
                left = whole - right;
        int32_t right_low = (right * wy + PL_TEXEL_ONE / 2) >> 8,
                left_low = (left * wy + PL_TEXEL_ONE / 2 - 1) >> 8;
        w[4 * z] = left - left_low;
        w[4 * z + 1] = right - right_low;
        w[4 * z + 2] = left_low;
        w[4 * z + 3] = right_low;
    }
}

static const uint8_t *texel_at(const pl_memory *m, const pl_image_set *s, const pl_image *i,
                               const pl_texel_watch *watch, int32_t x, int32_t y, int32_t z)
{
    uint32_t bytes = pl_texel_bytes(s->format);
    uint64_t at = pl_image_byte(i, (uint64_t)x * bytes, (uint64_t)y, (uint64_t)z);
    if (watch) watch->reads(watch, at, bytes);
    return pl_memory_at(m, at, bytes);
}

/* Unsigned fractions of 8 bits have a border of 8 bits (H100). */
static pl_texel border_texel(const pl_sampler_desc *p, unsigned channel, pl_texel_kind kind,
                             unsigned bits)
{
    pl_texel t = {pl_texel_bits(p->border[channel]), 0};
    float b = p->border[channel];
    if (kind == PL_TEXEL_UNORM && bits == 8)
        t.whole = (int32_t)((b < 0 ? 0 : b > 1 ? 1 : b) * 255) * 257;
    else if (kind == PL_TEXEL_UNORM)
        t.whole = (int32_t)((b < 0 ? 0 : b > 1 ? 1 : b) * 65535 + 0.5f);
    if (kind == PL_TEXEL_SNORM) t.whole = (int32_t)((b < -1 ? -1 : b > 1 ? 1 : b) * 32767);
    return t;
}

/* Layers out of range, including negative ones, map to the last layer. */
static int32_t clamp_layer(const pl_image_set *s, const pl_image *i, int32_t layer)
{
    uint32_t n = s->cubemap ? i->depth / PL_CUBE_FACES : i->depth;
    return (int32_t)((uint32_t)layer < n ? (uint32_t)layer : n - 1);
}

pl_sample_point pl_texture_locate(const pl_image_set *s, const pl_image *i,
                                  const pl_sampler_desc *p, const pl_fetch *f)
{
    pl_sample_point r = {.dims = f->dims, .zeros = f->integer, .watch = f->watch};
    const uint32_t size[3] = {i->width, i->height, i->depth};
    bool normalized = p->normalized && !f->integer;
    for (unsigned k = 0; k < f->dims; k++) {
        int32_t n = (int32_t)size[k];
        int mode = f->integer ? PL_ADDRESS_ZEROS : mode_of(p, normalized, k);
        double u = f->integer ? (double)(int32_t)f->coord[k]
                              : texel_position(pl_texel_float(f->coord[k]), n, normalized, mode);
        r.a[k] = f->gather >= 0 || (p->linear && !f->integer)
                     ? linear_axis(u, n, mode, f->offset[k])
                     : nearest_axis(u, n, mode, f->offset[k]);
    }
    /* a one-dimensional texture is filtered in two dimensions as a single row: the border
     * contributes at its lower edge */
    if (f->dims == 1 && p->linear && !f->integer)
        r.a[r.dims++] = linear_axis(0, 1, mode_of(p, normalized, 1), 0);
    if (s->layered) r.layer = clamp_layer(s, i, f->layer);
    return r;
}

/* Corner `c` of the sample: bit k selects the second texel of dimension k. */
pl_texel pl_texture_corner(const pl_memory *m, const pl_image_set *s, const pl_image *i,
                           const pl_sampler_desc *p, const pl_sample_point *at, unsigned c,
                           unsigned channel, pl_texel_kind kind)
{
    int32_t xyz[3] = {0, 0, at->cube ? at->layer * PL_CUBE_FACES + at->face : at->layer};
    for (unsigned k = 0; k < at->dims; k++) {
        xyz[k] = at->a[k].at[c >> k & 1];
        if (xyz[k] == PL_TEXEL_OUTSIDE)
            return at->zeros ? (pl_texel){0, 0} : border_texel(p, channel, kind, s->format.bits);
    }
    const uint8_t *bytes = texel_at(m, s, i, at->watch, xyz[0], xyz[1], xyz[2]);
    return bytes ? pl_texel_decode(bytes, s->format, channel, kind) : (pl_texel){0, 0};
}

/* Components of a direction by face: +x -x +y -y +z -z. */
typedef struct cube_face {
    uint8_t major, s, t;
    int8_t major_sign, s_sign, t_sign;
} cube_face;

static const cube_face cube_faces[PL_CUBE_FACES] = {{0, 2, 1, 1, -1, -1}, {0, 2, 1, -1, 1, -1},
                                                    {1, 0, 2, 1, 1, 1},   {1, 0, 2, -1, 1, -1},
                                                    {2, 0, 1, 1, 1, -1},  {2, 0, 1, -1, -1, -1}};

/* Ties go to z, then to y. */
static unsigned face_of(const double d[3])
{
    double x = fabs(d[0]), y = fabs(d[1]), z = fabs(d[2]);
    unsigned major = !(x > z) && !(y > z) ? 2 : !(x > y) ? 1 : 0;
    return 2 * major + (d[major] < 0);
}

/* The texel beyond an edge: maps coordinates (x, y) of face *k, one of which is outside, to the
 * adjacent face. */
static void across_edge(unsigned *k, int32_t *x, int32_t *y, int32_t n)
{
    const cube_face *c = &cube_faces[*k];
    double d[3];
    int32_t s = 2 * *x + 1 - n, t = 2 * *y + 1 - n;
    d[c->major] = c->major_sign * (n - 1);
    d[c->s] = c->s_sign * (s < -n ? -n : s > n ? n : s);
    d[c->t] = c->t_sign * (t < -n ? -n : t > n ? n : t);
    *k = face_of(d);
    c = &cube_faces[*k];
    *x = ((int32_t)d[c->s] * c->s_sign + n - 1) / 2;
    *y = ((int32_t)d[c->t] * c->t_sign + n - 1) / 2;
}

/* Reads the four texels of a cube's face, across edges if necessary. At a corner of the cube one of
 * them does not exist: its weight is distributed to the other three. */
void pl_texture_cube_corners(const pl_memory *m, const pl_image_set *s, const pl_image *i,
                             const pl_sample_point *at, int32_t weight[4], unsigned channel,
                             pl_texel_kind kind, pl_texel t[4])
{
    int32_t n = (int32_t)i->width;
    for (unsigned c = 0; c < 4; c++) {
        int32_t x = at->a[0].at[c & 1], y = at->a[1].at[c >> 1];
        unsigned k = at->face;
        bool out_x = x < 0 || x >= n, out_y = y < 0 || y >= n;
        t[c] = (pl_texel){0, 0};
        if (out_x && out_y) {
            int32_t third = (weight[c] + 1) / 3;
            weight[c ^ 1] += third;
            weight[c ^ 2] += third;
            weight[c ^ 3] += weight[c] - 2 * third;
            weight[c] = 0;
            continue;
        }
        if (out_x || out_y) across_edge(&k, &x, &y, n);
        const uint8_t *bytes =
            texel_at(m, s, i, at->watch, x, y, at->layer * PL_CUBE_FACES + (int32_t)k);
        if (bytes) t[c] = pl_texel_decode(bytes, s->format, channel, kind);
    }
}

/* The face that a direction intersects, and the position on it. The assembler's code divides by the
 * largest component with an approximate reciprocal; infinite and tiny directions lose their
 * components in this step. */
pl_sample_point pl_texture_locate_cube(const pl_image_set *s, const pl_image *i,
                                       const pl_sampler_desc *p, const pl_fetch *f)
{
    pl_sample_point r = {.dims = 2, .cube = true, .watch = f->watch};
    float d[3], largest = 0;
    for (unsigned k = 0; k < 3; k++) {
        d[k] = pl_texel_float(f->coord[k]);
        largest = fmaxf(largest, fabsf(d[k]));
    }
    float scale = pl_texel_float(mufu_rcp(pl_texel_bits(largest)));
    double e[3];
    for (unsigned k = 0; k < 3; k++) e[k] = isnan(d[k] * scale) ? 0 : d[k] * scale;
    r.face = (uint8_t)face_of(e);
    const cube_face *c = &cube_faces[r.face];
    int32_t n = (int32_t)i->width;
    for (unsigned k = 0; k < 2; k++) {
        double v = k ? e[c->t] * c->t_sign : e[c->s] * c->s_sign, u;
        v = isfinite(v) ? v : 0;
        u = (v * 0.5 + 0.5) * n;
        int mode = p->seamless ? PL_ADDRESS_SEAMLESS : p->address[k];
        r.a[k] = p->linear || f->gather >= 0
                     ? linear_axis(u, n, mode, f->offset[k])
                     : nearest_axis(u, n, p->seamless ? PL_ADDRESS_CLAMP : mode, f->offset[k]);
    }
    if (s->layered) r.layer = clamp_layer(s, i, f->layer);
    return r;
}

uint64_t pl_image_tiled_address(const pl_image *m, uint64_t x, uint64_t y, uint64_t z)
{
    enum { WIDTH = 32, ROWS = 4 };
    const uint64_t across = (m->pitch + WIDTH - 1) / WIDTH, tile = y / ROWS * across + x / WIDTH;
    return m->address + z * m->slice + tile * WIDTH * ROWS + y % ROWS * WIDTH + x % WIDTH;
}

uint64_t pl_texture_address(const pl_image_set *s, const pl_sampler_desc *p, const pl_fetch *f,
                            bool tiled)
{
    const pl_image *i = &s->level[0];
    pl_sample_point at =
        f->cube ? pl_texture_locate_cube(s, i, p, f) : pl_texture_locate(s, i, p, f);
    int32_t xyz[3] = {0, 0, at.cube ? at.layer * PL_CUBE_FACES + at.face : at.layer};
    for (unsigned k = 0; k < at.dims; k++)
        xyz[k] = at.a[k].at[0] == PL_TEXEL_OUTSIDE ? 0 : at.a[k].at[0];
    const uint64_t x = (uint64_t)xyz[0] * pl_texel_bytes(s->format), y = (uint64_t)xyz[1],
                   z = (uint64_t)xyz[2];
    return tiled ? pl_image_tiled_address(i, x, y, z) : pl_image_byte(i, x, y, z);
}
