/* texture_resource.c - tensor maps, arrays, textures and surfaces of the public interface. */
#include "lib/internal.h"
#include "emu/exec/tma/tensor_map_descriptor.h"
#include <string.h>

/* Alignments that the driver requires of texture memory on the H200 (probe tex.linear_mem). */
enum { TEXTURE_ALIGN = 512, PITCH_ALIGN = 32, MAX_TEXELS = 1 << 27 };

/* Limits of textures in linear memory (H100, driver 580). */
enum { MAX_LINEAR = 1 << 30, MAX_ROW = 131072, MAX_ROWS = 65000, MAX_PITCH = 2097120 };
static const uint64_t max_linear_bytes = UINT64_C(1) << 32;

pl_status pl_tensor_map(const pl_tensor_desc *d, uint8_t out[PL_TENSORMAP_BYTES], const char **why)
{
    return pl_tensormap_encode(d, out, why);
}

static pl_status reject(const char **why, const char *error)
{
    if (why) *why = error;
    return PL_INVALID;
}

static bool is_valid_format(pl_texel_format f)
{
    bool bits = f.bits == 8 || f.bits == 16 || f.bits == 32;
    return bits && (f.channels == 1 || f.channels == 2 || f.channels == 4) &&
           f.kind <= PL_CHANNEL_FLOAT && !(f.kind == PL_CHANNEL_FLOAT && f.bits == 8);
}

/* ---------------------------------------------------------------- arrays */

static uint32_t level_size(uint32_t size, uint32_t level)
{
    return size >> level ? size >> level : 1;
}

static uint64_t level_bytes(const pl_image *i)
{
    return i->slice * i->depth;
}

static void lay_out_levels(pl_image_set *s, const pl_array_desc *d)
{
    uint32_t texel = pl_texel_bytes(d->format);
    bool slices = d->layered || d->cubemap;
    s->format = d->format;
    s->layered = d->layered;
    s->cubemap = d->cubemap;
    s->dims = !d->height ? 1 : d->depth && !slices ? 3 : 2;
    s->levels = d->levels ? d->levels : 1;
    for (uint32_t k = 0; k < s->levels; k++) {
        pl_image *i = &s->level[k];
        uint32_t depth = d->depth ? d->depth : 1;
        i->width = level_size(d->width, k);
        i->height = d->height ? level_size(d->height, k) : 1;
        i->depth = slices ? depth : level_size(depth, k);
        i->pitch = (uint64_t)i->width * texel;
        i->slice = i->pitch * i->height;
    }
}

pl_status pl_array_create(pl_gpu *gpu, const pl_array_desc *d, const char *name, uint64_t *out)
{
    pl_object o = {.kind = PL_OBJECT_ARRAY};
    uint64_t bytes = 0;
    *out = 0;
    if (!is_valid_format(d->format) || d->width == 0 || d->levels > PL_MIP_LEVELS ||
        d->width > MAX_TEXELS || d->height > MAX_TEXELS || d->depth > MAX_TEXELS ||
        (d->cubemap && (d->width != d->height || d->depth % 6 != 0 || d->depth == 0)) ||
        (d->layered && d->depth == 0))
        return PL_INVALID;
    lay_out_levels(&o.images, d);
    for (uint32_t k = 0; k < o.images.levels; k++) bytes += level_bytes(&o.images.level[k]);
    uint64_t address = pl_memory_alloc(&gpu->memory, bytes, name);
    if (!address) return pl_gpu_no_memory(gpu, "while making an array");
    for (uint32_t k = 0; k < o.images.levels; k++) {
        o.images.level[k].address = address;
        address += level_bytes(&o.images.level[k]);
    }
    *out = pl_object_add(&gpu->objects, &o);
    if (*out) return PL_OK;
    pl_memory_release(&gpu->memory, o.images.level[0].address);
    return pl_gpu_no_memory(gpu, "while making an array");
}

static const pl_object *array_of(const pl_gpu *gpu, uint64_t array)
{
    const pl_object *o = pl_object_find(&gpu->objects, array);
    return o && o->kind == PL_OBJECT_ARRAY ? o : NULL;
}

uint64_t pl_array_bytes(const pl_gpu *gpu, uint64_t array, uint32_t level)
{
    const pl_object *o = array_of(gpu, array);
    return o && level < o->images.levels ? level_bytes(&o->images.level[level]) : 0;
}

pl_ptr pl_array_address(const pl_gpu *gpu, uint64_t array, uint32_t level)
{
    const pl_object *o = array_of(gpu, array);
    return o && level < o->images.levels ? o->images.level[level].address : 0;
}

void *pl_array_view(pl_gpu *gpu, uint64_t array, uint32_t level)
{
    const pl_ptr address = pl_array_address(gpu, array, level);
    return address ? pl_memory_at(&gpu->memory, address, pl_array_bytes(gpu, array, level)) : NULL;
}

/* ---------------------------------------------------------------- textures and surfaces */

/* Describes linear memory as one row of texels, and pitched memory as several rows. The description
 * may exceed the allocation, and has at least one texel; rows may overlap (H100, driver 580). */
static const char *lay_out_memory(pl_gpu *gpu, const pl_texture_desc *d, pl_image_set *s)
{
    uint32_t texel = pl_texel_bytes(d->format);
    pl_image *i = &s->level[0];
    bool pitch = d->source == PL_TEXTURE_PITCH;
    if (d->address % TEXTURE_ALIGN) return "CUDA_ERROR_INVALID_VALUE";
    if (pitch && (d->pitch % PITCH_ALIGN || d->pitch > MAX_PITCH || !d->width ||
                  d->width > MAX_ROW || !d->height || d->height > MAX_ROWS))
        return "CUDA_ERROR_INVALID_VALUE";
    if (!pitch && (d->bytes > max_linear_bytes || d->bytes / texel > MAX_LINEAR))
        return "CUDA_ERROR_INVALID_VALUE";
    *s = (pl_image_set){.format = d->format, .dims = pitch ? 2 : 1, .levels = 1};
    i->address = d->address;
    i->width = pitch ? d->width : (uint32_t)(d->bytes < texel ? 1 : d->bytes / texel);
    i->height = pitch ? d->height : 1;
    i->depth = 1;
    i->pitch = pitch ? d->pitch : (uint64_t)i->width * texel;
    i->slice = i->pitch * i->height;
    return pl_memory_at(&gpu->memory, d->address, 1) ? NULL : "CUDA_ERROR_INVALID_VALUE";
}

/* Restricts the images of an array to a view. False: the array has no such view. */
static bool apply_view(const pl_texture_desc *d, pl_image_set *s)
{
    if (!d->view) return true;
    if (!is_valid_format(d->format) || pl_texel_bytes(d->format) != pl_texel_bytes(s->format))
        return false;
    s->format = d->format;
    if (d->levels) {
        if (d->first_level >= s->levels || d->levels > s->levels - d->first_level) return false;
        for (uint32_t k = 0; k < d->levels; k++) s->level[k] = s->level[d->first_level + k];
        s->levels = d->levels;
    }
    for (uint32_t k = 0; d->layers && k < s->levels; k++) {
        pl_image *i = &s->level[k];
        if (d->first_layer >= i->depth) return false;
        const uint32_t most = i->depth - d->first_layer;
        i->address += d->first_layer * i->slice;
        i->depth = d->layers < most ? d->layers : most;
    }
    return true;
}

pl_status pl_texture_create(pl_gpu *gpu, const pl_texture_desc *d, uint64_t *out, const char **why)
{
    pl_object o = {.kind = PL_OBJECT_TEXTURE, .source = (uint8_t)d->source, .sampler = d->sampler};
    *out = 0;
    if (d->source == PL_TEXTURE_ARRAY) {
        const pl_object *a = array_of(gpu, d->array);
        if (!a) return reject(why, "CUDA_ERROR_INVALID_HANDLE");
        o.images = a->images;
        if (!apply_view(d, &o.images)) return reject(why, "CUDA_ERROR_INVALID_VALUE");
    } else {
        const char *error = is_valid_format(d->format) ? lay_out_memory(gpu, d, &o.images)
                                                       : "CUDA_ERROR_INVALID_VALUE";
        if (error) return reject(why, error);
    }
    pl_texel_format f = o.images.format;
    bool is_integer = f.kind != PL_CHANNEL_FLOAT;
    if (d->sampler.linear && is_integer && (!d->sampler.to_float || f.bits == 32) &&
        !d->sampler.whole_numbers)
        return reject(why, "cudaErrorInvalidFilterSetting");
    if (d->sampler.to_float && (!is_integer || f.bits == 32))
        return reject(why, "cudaErrorInvalidNormSetting");
    *out = pl_object_add(&gpu->objects, &o);
    return *out ? PL_OK : pl_gpu_no_memory(gpu, "while making a texture");
}

pl_status pl_surface_create(pl_gpu *gpu, uint64_t array, uint32_t level, uint64_t *out,
                            const char **why)
{
    const pl_object *a = array_of(gpu, array);
    *out = 0;
    if (!a || level >= a->images.levels) return reject(why, "CUDA_ERROR_INVALID_HANDLE");
    pl_object o = {.kind = PL_OBJECT_SURFACE, .images = a->images};
    o.images.level[0] = a->images.level[level];
    o.images.levels = 1;
    *out = pl_object_add(&gpu->objects, &o);
    return *out ? PL_OK : pl_gpu_no_memory(gpu, "while making a surface");
}

pl_status pl_resource_free(pl_gpu *gpu, uint64_t handle)
{
    if (!pl_object_find(&gpu->objects, handle)) return PL_INVALID;
    pl_object *o = &gpu->objects.at[handle - 1];
    if (o->kind == PL_OBJECT_ARRAY) pl_memory_release(&gpu->memory, o->images.level[0].address);
    o->kind = PL_OBJECT_NONE;
    gpu->objects.changes++;
    /* trailing handle numbers are reused, so that a loop of launches does not fill the table */
    while (gpu->objects.n && gpu->objects.at[gpu->objects.n - 1].kind == PL_OBJECT_NONE)
        gpu->objects.n--;
    return PL_OK;
}

pl_status pl_module_bind(pl_module *m, const char *name, uint64_t handle)
{
    pl_ptr address;
    uint64_t bytes;
    pl_status st = pl_module_symbol(m, name, &address, &bytes);
    if (st != PL_OK || bytes != sizeof handle || !pl_module_reference(m, name)) return PL_INVALID;
    return pl_copy_to_device(m->gpu, address, &handle, sizeof handle);
}

pl_reference pl_module_reference(const pl_module *m, const char *name)
{
    for (size_t k = 0; k < m->program->vars.n; k++) {
        const pl_prog_var *v = &m->program->vars.at[k];
        if (v->reference && strcmp(v->name, name) == 0) return (pl_reference)v->reference;
    }
    return PL_REFERENCE_NONE;
}
