/* json_resource.c - arguments of launch files that are neither numbers nor buffers: tensor maps,
 * textures and surfaces.
 *
 * {"tensormap": "f16", "dims": [64, 32], "box": [64, 8], "swizzle": "128B", "init": "iota"} has
 * its own memory; with "of": 1 it describes the buffer of argument 1. The same holds for textures
 * and surfaces: "of" names the argument whose array they read. For linear and pitch memory it names
 * the argument whose buffer they read. */
#include "lib/launch/json_launch.h"
#include "base/plural.h"
#include <inttypes.h>
#include <string.h>

/* Returns the index of a word in a list separated by |; -1: absent. */
static int word_index(const char *words, const char *word)
{
    const size_t n = strlen(word);
    for (int k = 0;; k++) {
        const size_t length = strcspn(words, "|");
        if (length == n && memcmp(words, word, n) == 0) return k;
        if (!words[length]) return -1;
        words += length + 1;
    }
}

/* Returns the words separated by commas, for messages. */
static const char *join_words(const pl_lf_reader *r, const char *words)
{
    const char *list = "";
    for (size_t n; *words; words += n + (words[n] == '|')) {
        n = strcspn(words, "|");
        list =
            pl_arena_printf(r->gpu->messages, "%s%s%.*s", list, *list ? ", " : "", (int)n, words);
    }
    return list;
}

/* Reads the index of the word that is the key's value. Absent: 0. */
static bool read_choice(const pl_lf_reader *r, const pl_lf_place *of, json_t *object,
                        pl_lf_object kind, const char *key, int *out)
{
    pl_lf_place at;
    json_t *v = pl_lf_member(object, of, key, &at);
    const char *word, *words = pl_lf_choices(kind, key);
    *out = 0;
    if (!v) return true;
    if (!(word = pl_lf_string(r, &at, v))) return false;
    *out = word_index(words, word);
    return *out >= 0 || pl_lf_out_of_range(r, &at, join_words(r, words));
}

/* Reads a list of `min` to `max` whole numbers; *n: their number. Absent: 0, unless `min`
 * requires it. */
static bool integer_list(const pl_lf_reader *r, const pl_lf_place *of, json_t *object,
                         const char *key, size_t min, size_t max, uint64_t *out, size_t *n)
{
    pl_lf_place at;
    json_t *v = pl_lf_member(object, of, key, &at), *x;
    size_t i;
    *n = 0;
    if (!v) return min == 0 || pl_lf_missing(r, of, "the argument", key);
    if (!json_is_array(v) || json_array_size(v) < min || json_array_size(v) > max)
        return pl_lf_wrong_type(r, &at,
                                pl_arena_printf(r->gpu->messages, "a list of %zu to %zu number%s",
                                                min, max, pl_plural(max)));
    json_array_foreach(v, i, x)
    {
        const pl_lf_place element = {&at, NULL, i};
        if (!pl_lf_integer(r, &element, x, 0, UINT64_MAX, &out[i])) return false;
    }
    *n = json_array_size(v);
    return true;
}

static bool read_u32(const pl_lf_reader *r, const pl_lf_place *of, json_t *object, const char *key,
                     uint32_t min, uint32_t *out)
{
    pl_lf_place at;
    uint64_t n;
    json_t *v = pl_lf_member(object, of, key, &at);
    if (!v) return true;
    if (!pl_lf_integer(r, &at, v, min, INT32_MAX, &n)) return false;
    *out = (uint32_t)n;
    return true;
}

static bool read_flag(const pl_lf_reader *r, const pl_lf_place *of, json_t *object, const char *key,
                      bool *out)
{
    pl_lf_place at;
    json_t *v = pl_lf_member(object, of, key, &at);
    return !v || pl_lf_boolean(r, &at, v, out);
}

static bool read_float(const pl_lf_reader *r, const pl_lf_place *at, json_t *v, float *out)
{
    pl_number n;
    if (!pl_lf_number(r, at, v, &n)) return false;
    *out = (float)n.real;
    return true;
}

/* Reads a list of up to `max` numbers. */
static bool float_list(const pl_lf_reader *r, const pl_lf_place *of, json_t *object,
                       const char *key, size_t max, float *out)
{
    pl_lf_place at;
    json_t *v = pl_lf_member(object, of, key, &at), *x;
    size_t i;
    if (!v) return true;
    if (!json_is_array(v) || json_array_size(v) > max)
        return pl_lf_wrong_type(
            r, &at,
            pl_arena_printf(r->gpu->messages, "a list of up to %zu number%s", max, pl_plural(max)));
    json_array_foreach(v, i, x)
    {
        const pl_lf_place element = {&at, NULL, i};
        if (!read_float(r, &element, x, &out[i])) return false;
    }
    return true;
}

/* Reads "of": the number of an earlier argument, from 1. */
static bool read_source_arg(const pl_lf_reader *r, const pl_lf_place *of, json_t *object, size_t k,
                            pl_arg_resource *res)
{
    pl_lf_place at;
    uint64_t n;
    json_t *v = pl_lf_member(object, of, "of", &at);
    if (!v) return true;
    if (!pl_lf_integer(r, &at, v, 1, k ? k : 1, &n)) return false;
    if (k == 0) return pl_lf_out_of_range(r, &at, "an earlier argument");
    res->source_arg = (size_t)n;
    return true;
}

/* Reads "init", "output" and "save" of memory that belongs to the argument. */
static bool read_contents(const pl_lf_reader *r, const pl_lf_place *of, json_t *object, size_t k)
{
    pl_lf_place at;
    pl_case_arg *arg = &r->c->arg[k];
    pl_arg_more *a = &r->c->more->arg.at[k];
    json_t *v = pl_lf_member(object, of, "init", &at);
    a->init = (pl_init){.kind = PL_INIT_CONST};
    a->initialised = v != NULL;
    if (v && !pl_lf_initialiser(r, &at, v, a->element, &a->init)) return false;
    if (v && a->init.kind == PL_INIT_LIST && json_array_size(v) != arg->count)
        return pl_lf_out_of_range(r, &at,
                                  pl_arena_printf(r->gpu->messages, "%" PRIu64 " value%s needed",
                                                  arg->count, arg->count == 1 ? " is" : "s are"));
    return pl_lf_save(r, of, object, k) && pl_case_sized(r->c, k);
}

/* ---------------------------------------------------------------- tensor maps */

static bool read_tensor_type(const pl_lf_reader *r, const pl_lf_place *at, json_t *v,
                             pl_arg_more *a, int *type)
{
    const char *name = pl_lf_string(r, at, v), *names[16];
    if (!name) return false;
    *type = word_index(pl_lf_choices(PL_LF_TENSORMAP, "tensormap"), name);
    if (*type >= 0) {
        const char *element_name = *type >= PL_TENSOR_F32_FTZ ? "f32" : name;
        a->element = pl_element_find(element_name, strlen(element_name));
        return true;
    }
    size_t n = 0;
    for (const pl_element *k = pl_elements; k->name && n < 16; k++) names[n++] = k->name;
    const char *nearest = pl_nearest(name, names, n);
    pl_diag *d = pl_report(&r->gpu->diags, PL_E0406, pl_lf_locate(r, at, false), name);
    d->help = nearest ? pl_arena_printf(r->gpu->messages, "did you mean '%s'?", nearest)
                      : "tensors hold u8, u16, u32, s32, u64, s64, f16, bf16, f32, tf32 or f64";
    return false;
}

static bool im2col(const pl_lf_reader *r, const pl_lf_place *of, json_t *object, pl_tensor_desc *d)
{
    pl_lf_place at;
    json_t *v = pl_lf_member(object, of, "im2col", &at);
    float corner[2][3] = {{0}};
    if (!v) return true;
    if (!json_is_object(v)) return pl_lf_wrong_type(r, &at, "an object with channels and pixels");
    d->mode = PL_TENSOR_IM2COL;
    if (!pl_lf_check_keys(r, &at, v, PL_LF_IM2COL) ||
        !float_list(r, &at, v, "lower", 3, corner[0]) ||
        !float_list(r, &at, v, "upper", 3, corner[1]) ||
        !read_u32(r, &at, v, "channels", 1, &d->channels) ||
        !read_u32(r, &at, v, "pixels", 1, &d->pixels))
        return false;
    for (unsigned k = 0; k < 3; k++) {
        d->lower[k] = (int)corner[0][k];
        d->upper[k] = (int)corner[1][k];
    }
    return true;
}

static void copy_clamped(uint32_t *to, const uint64_t *from, size_t n)
{
    for (size_t k = 0; k < n; k++) to[k] = from[k] > UINT32_MAX ? UINT32_MAX : (uint32_t)from[k];
}

/* Saturating products and sums: a size of UINT64_MAX bytes is rejected later. */
static uint64_t saturating_product(uint64_t a, uint64_t b)
{
    uint64_t n;
    return __builtin_mul_overflow(a, b, &n) ? UINT64_MAX : n;
}

static uint64_t saturating_sum(uint64_t a, uint64_t b)
{
    uint64_t n;
    return __builtin_add_overflow(a, b, &n) ? UINT64_MAX : n;
}

static bool read_tensor_map(const pl_lf_reader *r, const pl_lf_place *of, json_t *v, size_t k)
{
    pl_case_arg *arg = &r->c->arg[k];
    pl_arg_more *a = &r->c->more->arg.at[k];
    pl_arg_resource *res = a->resource;
    pl_tensor_desc *d = &res->tensor;
    uint64_t box[PL_TENSOR_DIMS] = {0}, steps[PL_TENSOR_DIMS] = {0}, offset = 0;
    size_t rank, nbox, nsteps, nstrides;
    pl_lf_place type_at, at;
    json_t *type = pl_lf_member(v, of, "tensormap", &type_at), *x;
    if (!pl_lf_check_keys(r, of, v, PL_LF_TENSORMAP) ||
        !read_tensor_type(r, &type_at, type, a, &d->type) ||
        !integer_list(r, of, v, "dims", 1, PL_TENSOR_DIMS, d->dim, &rank) || !im2col(r, of, v, d) ||
        !integer_list(r, of, v, "strides", 0, PL_TENSOR_DIMS - 1, d->stride, &nstrides) ||
        !integer_list(r, of, v, "box", d->mode == PL_TENSOR_TILED ? rank : 0, rank, box, &nbox) ||
        !integer_list(r, of, v, "element_strides", 0, rank, steps, &nsteps) ||
        !read_choice(r, of, v, PL_LF_TENSORMAP, "interleave", &d->interleave) ||
        !read_choice(r, of, v, PL_LF_TENSORMAP, "swizzle", &d->swizzle) ||
        !read_choice(r, of, v, PL_LF_TENSORMAP, "l2", &d->l2_promotion) ||
        !read_choice(r, of, v, PL_LF_TENSORMAP, "fill", &d->fill) ||
        !read_source_arg(r, of, v, k, res))
        return false;
    if ((x = pl_lf_member(v, of, "offset", &at)) &&
        !pl_lf_integer(r, &at, x, 0, INT64_MAX, &offset))
        return false;
    d->rank = (uint32_t)rank;
    d->address = offset; /* offset in the memory, until that has an address */
    copy_clamped(d->box, box, nbox);
    for (size_t i = 0; i < PL_TENSOR_DIMS; i++) {
        d->element_stride[i] = i < nsteps ? (uint32_t)(steps[i] > 9 ? 9 : steps[i]) : 1;
        if (i >= rank) d->dim[i] = 1;
    }
    if (nstrides && nstrides != rank - 1)
        return pl_lf_missing(r, of, "'strides'", "an element for every dimension but the first");
    for (size_t i = 0; !nstrides && i + 1 < rank; i++)
        d->stride[i] = i ? saturating_product(d->stride[i - 1], d->dim[i])
                         : saturating_product(d->dim[0], a->element->bytes);
    arg->type = a->element->name;
    uint64_t bytes = saturating_product(d->dim[0], a->element->bytes);
    for (size_t i = 1; i < rank; i++) {
        const uint64_t n = saturating_product(d->stride[i - 1], d->dim[i]);
        bytes = n > bytes ? n : bytes;
    }
    arg->count = saturating_sum(offset, bytes) / a->element->bytes;
    if (!res->source_arg) return read_contents(r, of, v, k);
    arg->count = 0;
    return true;
}

/* ---------------------------------------------------------------- textures and surfaces */

static bool read_address_modes(const pl_lf_reader *r, const pl_lf_place *of, json_t *object,
                               pl_sampler_desc *s)
{
    const char *modes = pl_lf_choices(PL_LF_TEXTURE, "address");
    pl_lf_place at;
    json_t *v = pl_lf_member(object, of, "address", &at), *x;
    size_t i;
    int mode;
    memset(s->address, PL_ADDRESS_CLAMP, sizeof s->address);
    if (!v) return true;
    if (!json_is_array(v)) {
        if (!read_choice(r, of, object, PL_LF_TEXTURE, "address", &mode)) return false;
        memset(s->address, mode, sizeof s->address);
        return true;
    }
    json_array_foreach(v, i, x)
    {
        const pl_lf_place element = {&at, NULL, i};
        const char *word = pl_lf_string(r, &element, x);
        if (!word) return false;
        mode = word_index(modes, word);
        if (i >= 3 || mode < 0) return pl_lf_out_of_range(r, &element, join_words(r, modes));
        s->address[i] = (uint8_t)mode;
    }
    return true;
}

static bool read_sampler(const pl_lf_reader *r, const pl_lf_place *of, json_t *v,
                         pl_sampler_desc *s)
{
    int filter, mip, read;
    float lod[3] = {0, 0, 0};
    pl_lf_place at;
    if (!read_address_modes(r, of, v, s) ||
        !read_choice(r, of, v, PL_LF_TEXTURE, "filter", &filter) ||
        !read_choice(r, of, v, PL_LF_TEXTURE, "mip_filter", &mip) ||
        !read_choice(r, of, v, PL_LF_TEXTURE, "read", &read) ||
        !read_flag(r, of, v, "normalized", &s->normalized) ||
        !read_flag(r, of, v, "srgb", &s->srgb) || !read_flag(r, of, v, "seamless", &s->seamless) ||
        !float_list(r, of, v, "border", 4, s->border) ||
        !read_u32(r, of, v, "anisotropy", 0, &s->anisotropy) ||
        !float_list(r, of, v, "lod", 3, lod))
        return false;
    s->linear = filter == 1;
    s->mip_linear = mip == 1;
    s->to_float = read == 1;
    s->lod_bias = lod[0];
    s->lod_min = lod[1];
    s->lod_max = pl_lf_member(v, of, "lod", &at) ? lod[2] : (float)PL_MIP_LEVELS;
    return true;
}

/* Returns the texels of all levels. */
static uint64_t total_texels(const pl_array_desc *d)
{
    uint64_t n = 0;
    for (uint32_t k = 0; k < (d->levels ? d->levels : 1); k++) {
        uint64_t w = d->width >> k, h = d->height >> k,
                 z = d->layered || d->cubemap ? d->depth : d->depth >> k;
        n += (w ? w : 1) * (h ? h : 1) * (z ? z : 1);
    }
    return n;
}

static bool read_format(const pl_lf_reader *r, const pl_lf_place *of, json_t *v, const char *kind,
                        pl_arg_more *a, pl_texel_format *f)
{
    pl_lf_place at;
    uint32_t channels = 1;
    json_t *type = pl_lf_member(v, of, kind, &at);
    if (!(a->element = pl_lf_element(r, &at, type))) return false;
    bool supported =
        a->element->bytes <= 4 &&
        (a->element->kind != 'f' || a->element->mantissa == 10 || a->element->mantissa == 23);
    if (!supported)
        return pl_lf_out_of_range(r, &at, "texels are u8, s8, u16, s16, u32, s32, f16, f32");
    if (!read_u32(r, of, v, "channels", 1, &channels)) return false;
    if (channels != 1 && channels != 2 && channels != 4) {
        pl_lf_member(v, of, "channels", &at);
        return pl_lf_out_of_range(r, &at, "1, 2 or 4");
    }
    *f = (pl_texel_format){.channels = (uint8_t)channels,
                           .bits = (uint8_t)(8 * a->element->bytes),
                           .kind = a->element->kind == 'f'   ? PL_CHANNEL_FLOAT
                                   : a->element->kind == 'u' ? PL_CHANNEL_UNSIGNED
                                                             : PL_CHANNEL_SIGNED};
    return true;
}

static bool read_image(const pl_lf_reader *r, const pl_lf_place *of, json_t *v, size_t k,
                       const char *kind)
{
    pl_case_arg *arg = &r->c->arg[k];
    pl_arg_more *a = &r->c->more->arg.at[k];
    pl_arg_resource *res = a->resource;
    pl_array_desc *d = &res->array;
    uint32_t layers = 0;
    bool texture = res->kind == PL_ARG_TEXTURE;
    if (!pl_lf_check_keys(r, of, v, texture ? PL_LF_TEXTURE : PL_LF_SURFACE) ||
        !read_format(r, of, v, kind, a, &d->format) || !read_source_arg(r, of, v, k, res) ||
        !read_u32(r, of, v, "width", 1, &d->width) ||
        !read_u32(r, of, v, "height", 1, &d->height) ||
        !read_u32(r, of, v, "depth", 1, &d->depth) || !read_u32(r, of, v, "layers", 1, &layers) ||
        !read_u32(r, of, v, "levels", 1, &d->levels) ||
        !read_u32(r, of, v, "level", 0, &res->level) || !read_flag(r, of, v, "cube", &d->cubemap))
        return false;
    if (texture && (!read_sampler(r, of, v, &res->texture.sampler) ||
                    !read_choice(r, of, v, PL_LF_TEXTURE, "source", &res->texture.source) ||
                    !read_u32(r, of, v, "pitch", 0, &res->texture.pitch)))
        return false;
    d->layered = layers > 0;
    /* Rejected below. */
    if (layers)
        d->depth = layers > 1u << 14 ? UINT32_MAX : layers * (d->cubemap ? 6 : 1);
    else if (d->cubemap)
        d->depth = 6;
    res->texture.format = d->format;
    res->texture.width = d->width;
    res->texture.height = d->height ? d->height : 1;
    arg->type = a->element->name;
    if (res->source_arg) return true;
    if (!d->width) return pl_lf_missing(r, of, "the argument", "width");
    if (d->width > 1u << 27 || d->height > 1u << 17 || d->depth > 1u << 14 ||
        d->levels > PL_MIP_LEVELS)
        return pl_lf_out_of_range(
            r, of, "a width up to 2^27, a height up to 2^17, a depth up to 2^14, and 17 levels");
    if (res->texture.source != PL_TEXTURE_ARRAY && !res->texture.pitch)
        res->texture.pitch = d->width * d->format.channels * a->element->bytes;
    arg->count = res->texture.source == PL_TEXTURE_ARRAY
                     ? total_texels(d) * d->format.channels
                     : (uint64_t)res->texture.pitch * res->texture.height / a->element->bytes;
    return read_contents(r, of, v, k);
}

bool pl_lf_resource(const pl_lf_reader *r, const pl_lf_place *at, json_t *v, size_t k,
                    bool *is_resource)
{
    static const char *const kinds[] = {"tensormap", "texture", "surface"};
    unsigned kind = 0;
    while (kind < 3 && !json_object_get(v, kinds[kind])) kind++;
    *is_resource = kind < 3;
    if (!*is_resource) return true;
    pl_arg_more *a = &r->c->more->arg.at[k];
    a->resource = pl_arena_new(r->c->more->arena, pl_arg_resource);
    if (!a->resource) return false;
    a->resource->kind = (pl_arg_kind)(PL_ARG_TENSORMAP + kind);
    return kind == 0 ? read_tensor_map(r, at, v, k) : read_image(r, at, v, k, kinds[kind]);
}
