/* array.c - arrays, textures and surfaces. */
#include "cudart/checking.h"
#include "cudart/state.h"
#include <stdlib.h>
#include <string.h>

enum {
    FLAG_LAYERED = 1,
    FLAG_SURFACE = 2,
    FLAG_CUBEMAP = 4,
    FLAG_GATHER = 8,
    FLAG_SPARSE = 0x40,
    FLAG_DEFERRED = 0x80,
    FLAGS = 0x1cf, /* 0x100: for video encoders and decoders */
    MAX_1D = 131072,
    MAX_2D = 65536,
    MAX_3D = 16384,
    ALTERNATE = 8192, /* of width and height, if the volume is deep */
    DEEP = 32768,
    MAX_LAYERED = 32768, /* width and height */
    MAX_GATHER = 32768,
    MAX_LAYERS = 2048
};

/* cudaResourceViewDesc */
typedef struct view_desc {
    int format;
    size_t width, height, depth;
    unsigned first_level, last_level, first_layer, last_layer, reserved[16];
} view_desc;
_Static_assert(sizeof(view_desc) == 112, "layout of CUDA 13");

/* Source of a texture or surface, for queries. */
typedef struct object {
    cuda_resource resource;
    cuda_texture texture;
    view_desc view; /* zeros: none */
    uint64_t handle;
} object;

static cuda_table objects;
static cuda_table arrays; /* by address */

/* Handles are numbered from 1 on each device. */
static void *key_of(uint64_t handle)
{
    return (void *)(uintptr_t)(handle * CUDA_DEVICES + (unsigned)cuda_self.device);
}

/* ---------------------------------------------------------------- arrays */

enum { FIRST_NORMALIZED = 5, LAST_NORMALIZED = 16 }; /* cudaChannelFormatKind */

static bool is_normalized(const cuda_channel *c)
{
    return c->kind >= FIRST_NORMALIZED && c->kind <= LAST_NORMALIZED;
}

/* Kinds that name the bits and the number of channels: integers that are read as fractions. */
static int normalized_format_of(const cuda_channel *c, pl_texel_format *f)
{
    static const int channels[] = {1, 2, 4};
    const int k = c->kind - FIRST_NORMALIZED, n = channels[k % 3], bits = k / 3 % 2 ? 16 : 8;
    if (c->x != bits || c->y != (n > 1 ? bits : 0) || c->z != (n > 2 ? bits : 0) ||
        c->w != (n > 2 ? bits : 0))
        return CU_INVALID_CHANNEL;
    *f = (pl_texel_format){(uint8_t)n, (uint8_t)bits,
                           k < 6 ? PL_CHANNEL_UNSIGNED : PL_CHANNEL_SIGNED};
    return CU_OK;
}

/* Converts a channel description; *f: the texel format. An error if the hardware does not support
 * it. */
static int format_of(const cuda_channel *c, pl_texel_format *f)
{
    enum { NV12 = 4 };
    const int bits[4] = {c->x, c->y, c->z, c->w};
    int n = 0;
    if (c->kind == NV12) return CU_INVALID_VALUE;
    if (is_normalized(c)) return normalized_format_of(c, f);
    while (n < 4 && bits[n]) n++;
    for (int k = 0; k < 4; k++)
        if (bits[k] != (k < n ? bits[0] : 0)) return CU_INVALID_CHANNEL;
    if (n == 0 || n == 3 || (bits[0] != 8 && bits[0] != 16 && bits[0] != 32) || c->kind < 0 ||
        c->kind > 2 || (c->kind == 2 && bits[0] == 8))
        return CU_INVALID_CHANNEL;
    *f = (pl_texel_format){(uint8_t)n, (uint8_t)bits[0], (uint8_t)c->kind};
    return CU_OK;
}

static uint32_t level_size(uint32_t size, uint32_t level)
{
    return size >> level ? size >> level : 1;
}

void cuda_array_size(const cuda_array *a, size_t *width, size_t *height, size_t *depth)
{
    const pl_array_desc *d = &a->desc;
    const uint32_t layers = d->depth ? d->depth : 1;
    *width = level_size(d->width, a->level);
    *height = d->height ? level_size(d->height, a->level) : 1;
    *depth = d->layered || d->cubemap ? layers : level_size(layers, a->level);
}

uint8_t *cuda_array_bytes(const cuda_array *a, size_t *pitch, size_t *slice)
{
    size_t width, height, depth;
    cuda_array_size(a, &width, &height, &depth);
    *pitch = width * a->desc.format.channels * a->desc.format.bits / 8;
    *slice = *pitch * height;
    return pl_array_view(cuda.device[a->device].gpu, a->handle, a->level);
}

/* Volumes have one of two limits. */
static bool is_volume(cuda_extent e, size_t side, size_t depth)
{
    return e.width <= side && e.height <= side && e.depth <= depth;
}

static int check_extent(cuda_extent e, unsigned flags)
{
    const bool layered = flags & FLAG_LAYERED, cube = flags & FLAG_CUBEMAP;
    if (!e.width || flags & ~(unsigned)FLAGS) return CU_INVALID_VALUE;
    if (e.width > MAX_1D || (e.height && (e.width > MAX_1D || e.height > MAX_2D)))
        return CU_INVALID_VALUE;
    if (cube && (e.width != e.height || e.depth % 6 || (!layered && e.depth != 6)))
        return CU_INVALID_VALUE;
    if (layered &&
        (!e.depth || e.depth > MAX_LAYERS || e.width > MAX_LAYERED || e.height > MAX_LAYERED))
        return CU_INVALID_VALUE;
    if (flags & FLAG_GATHER &&
        (!e.height || e.depth || e.width > MAX_GATHER || e.height > MAX_GATHER))
        return CU_INVALID_VALUE;
    if (flags & FLAG_SPARSE && (!e.height || cube || flags & (FLAG_SURFACE | FLAG_DEFERRED)))
        return CU_INVALID_VALUE;
    if (e.depth && !layered && !cube &&
        (!e.height || (!is_volume(e, MAX_3D, MAX_3D) && !is_volume(e, ALTERNATE, DEEP))))
        return CU_INVALID_VALUE;
    return CU_OK;
}

/* Tiles are as square as possible: 256 x 256 texels of a byte; those of volumes are as cubic as
 * possible. */
static void sparse_tile(const cuda_array *a, unsigned tile[3])
{
    const pl_array_desc *d = &a->desc;
    const bool volume = d->depth && !d->layered && !d->cubemap;
    unsigned texel = d->format.channels * d->format.bits / 8u;
    tile[0] = tile[1] = tile[2] = 1;
    for (unsigned k = 0; texel < CUDA_TILE_BYTES; k++, texel *= 2) tile[k % (volume ? 3 : 2)] *= 2;
}

/* Returns the smallest power of two that is not below n, at most `limit`. */
static uint64_t block_of(uint64_t n, uint64_t limit)
{
    uint64_t block = 1;
    while (block < n && block < limit) block *= 2;
    return block;
}

/* Bytes of a mip level as the hardware stores it: in blocks of groups of 64 bytes and 8 rows. A
 * block has up to 16 groups, one above the other, or up to 4 of them in each of up to 4 slices. */
static uint64_t level_bytes(uint64_t row, uint64_t height, uint64_t depth)
{
    enum { GROUP_BYTES = 64, GROUP_ROWS = 8 };
    const uint64_t groups = cuda_round_up(height, GROUP_ROWS) / GROUP_ROWS,
                   rows = GROUP_ROWS * block_of(groups, depth > 1 ? 4 : 16);
    return cuda_round_up(row, GROUP_BYTES) * cuda_round_up(height, rows) *
           cuda_round_up(depth, block_of(depth, 4));
}

/* Bytes of an array with deferred mapping (H100). */
static uint64_t deferred_bytes(const cuda_array *a)
{
    const uint32_t levels = a->desc.levels ? a->desc.levels : 1;
    const bool layered = a->desc.layered || a->desc.cubemap;
    const uint64_t texel = a->desc.format.channels * a->desc.format.bits / 8u,
                   size[3] = {a->desc.width, a->desc.height ? a->desc.height : 1,
                              a->desc.depth ? a->desc.depth : 1};
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < levels; k++) {
        uint64_t n[3];
        for (int i = 0; i < 3; i++) n[i] = size[i] >> k ? size[i] >> k : 1;
        bytes += level_bytes(n[0] * texel, n[1], layered ? 1 : n[2]);
    }
    return cuda_round_up((layered ? size[2] : 1) * bytes, CUDA_TILE_BYTES);
}

static void add_tiles(cuda_array *a)
{
    cuda_tile_layout l = {.whole = a->flags & FLAG_DEFERRED,
                          .layered = a->desc.layered || a->desc.cubemap,
                          .texel = a->desc.format.channels * a->desc.format.bits / 8u,
                          .all_bytes = deferred_bytes(a)};
    sparse_tile(a, l.size);
    l.bytes = cuda_array_bytes(a, &l.pitch, &l.slice);
    cuda_array_size(a, &l.extent[0], &l.extent[1], &l.extent[2]);
    a->tiles = cuda_new_tiles(&l);
}

static int create_array(cuda_array **out, const cuda_channel *channel, cuda_extent e,
                        unsigned levels, unsigned flags)
{
    if (!out || !channel) return CU_INVALID_VALUE;
    cuda_array a = {.device = cuda_self.device, .channel = *channel, .flags = flags};
    int error = cuda_check_captures(CUDA_UNSAFE_CALL);
    if (!error) error = format_of(channel, &a.desc.format);
    if (!error) error = check_extent(e, flags);
    if (error) return error;
    a.desc.width = (uint32_t)e.width;
    a.desc.height = (uint32_t)e.height;
    a.desc.depth = (uint32_t)e.depth;
    a.desc.levels = levels;
    a.desc.layered = (flags & FLAG_LAYERED) != 0;
    a.desc.cubemap = (flags & FLAG_CUBEMAP) != 0;
    const pl_status st = pl_array_create(cuda_current_device()->gpu, &a.desc, "array", &a.handle);
    if (st != PL_OK) return st == PL_NOMEM ? CU_MEMORY_ALLOCATION : CU_INVALID_VALUE;
    const bool mapped = flags & (FLAG_SPARSE | FLAG_DEFERRED);
    const uint64_t bytes = pl_array_bytes(cuda_current_device()->gpu, a.handle, 0);
    *out = mapped || bytes <= cuda_device_bytes() ? malloc(sizeof a) : NULL;
    if (!*out) {
        pl_resource_free(cuda_current_device()->gpu, a.handle);
        return CU_MEMORY_ALLOCATION;
    }
    **out = a;
    if (mapped && levels <= 1) add_tiles(*out);
    (void)cuda_table_put(&arrays, *out, *out);
    cuda_checked_array(&a);
    cuda_named_array(&a);
    return CU_OK;
}

int pl_cudaMallocArray(cuda_array **out, const cuda_channel *channel, size_t width, size_t height,
                       unsigned flags)
{
    if (cuda.sticky && width) return cuda.sticky;
    return create_array(out, channel, (cuda_extent){width, height, 0}, 1, flags);
}

int pl_cudaMalloc3DArray(cuda_array **out, const cuda_channel *channel, cuda_extent e,
                         unsigned flags)
{
    return create_array(out, channel, e, 1, flags);
}

int pl_cudaMallocMipmappedArray(cuda_array **out, const cuda_channel *channel, cuda_extent e,
                                unsigned levels, unsigned flags)
{
    size_t largest = e.width > e.height ? e.width : e.height;
    unsigned max_levels = 1;
    if (!(flags & FLAG_LAYERED) && e.depth > largest) largest = e.depth;
    while (largest >>= 1) max_levels++;
    return create_array(out, channel, e, levels < max_levels ? levels : max_levels, flags);
}

int pl_cudaGetMipmappedArrayLevel(cuda_array **out, cuda_array *whole, unsigned level)
{
    if (!whole) return CU_INVALID_HANDLE;
    if (!out || level >= (whole->desc.levels ? whole->desc.levels : 1)) return CU_INVALID_VALUE;
    *out = malloc(sizeof **out);
    if (!*out) return CU_MEMORY_ALLOCATION;
    **out = *whole;
    (*out)->level = level;
    (*out)->whole = whole;
    (void)cuda_table_put(&arrays, *out, *out);
    return CU_OK;
}

int pl_cudaFreeArray(cuda_array *a)
{
    if (!a) return CU_OK;
    const int unsafe = cuda_check_captures(CUDA_UNSAFE_CALL);
    if (unsafe) return unsafe;
    cuda_table_remove(&arrays, a);
    if (!a->whole) cuda_named_array_freed(a);
    if (!a->whole) {
        pl_resource_free(cuda.device[a->device].gpu, a->handle);
        cuda_free_tiles(a->tiles);
    }
    free(a);
    return CU_OK;
}

int pl_cudaFreeMipmappedArray(cuda_array *a)
{
    return pl_cudaFreeArray(a);
}

int pl_cudaArrayGetInfo(cuda_channel *channel, cuda_extent *extent, unsigned *flags, cuda_array *a)
{
    if (!a || !cuda_table_get(&arrays, a)) {
        if (channel) *channel = (cuda_channel){0};
        if (extent) *extent = (cuda_extent){0};
        if (flags) *flags = 0;
        return CU_INVALID_HANDLE;
    }
    if (channel) *channel = a->channel;
    const pl_array_desc *d = &a->desc;
    const bool shrinks = d->depth && !d->layered && !d->cubemap;
    if (extent)
        *extent = (cuda_extent){level_size(d->width, a->level),
                                d->height ? level_size(d->height, a->level) : 0,
                                shrinks ? level_size(d->depth, a->level) : d->depth};
    if (flags) *flags = a->flags;
    return CU_OK;
}

bool cuda_is_array(const cuda_array *a)
{
    return cuda_table_get(&arrays, a) != NULL;
}

/* cudaArrayMemoryRequirements, for arrays whose memory the program maps. */
int pl_cudaArrayGetMemoryRequirements(void *out, cuda_array *a, int device)
{
    struct {
        size_t size, alignment;
        unsigned reserved[4];
    } *r = out;
    (void)device;
    if (!a) return CU_INVALID_HANDLE;
    if (!r || !(a->flags & FLAG_DEFERRED)) return CU_INVALID_VALUE;
    memset(r, 0, sizeof *r);
    r->size = deferred_bytes(a);
    r->alignment = CUDA_TILE_BYTES;
    return CU_OK;
}

int pl_cudaMipmappedArrayGetMemoryRequirements(void *out, cuda_array *a, int device)
{
    return pl_cudaArrayGetMemoryRequirements(out, a, device);
}

/* Arrays have one plane. */
int pl_cudaArrayGetPlane(cuda_array **out, cuda_array *a, unsigned plane)
{
    (void)out, (void)plane;
    return a && cuda_table_get(&arrays, a) ? CU_INVALID_VALUE : CU_INVALID_HANDLE;
}

/* cudaArraySparseProperties */
typedef struct sparse_properties {
    struct {
        unsigned width, height, depth;
    } tile; /* texels of 64 KiB */
    unsigned tail_level;
    unsigned long long tail_bytes;
    unsigned flags, reserved[4];
} sparse_properties;

/* Levels without whole tiles are in the tail, one tile. */
int pl_cudaArrayGetSparseProperties(void *out, cuda_array *a)
{
    enum { SINGLE_TAIL = 1 };
    sparse_properties *p = out;
    if (!a) return CU_INVALID_HANDLE;
    if (!p || !(a->flags & FLAG_SPARSE)) return CU_INVALID_VALUE;
    const pl_array_desc *d = &a->desc;
    unsigned tile[3];
    sparse_tile(a, tile);
    *p = (sparse_properties){.tile = {tile[0], tile[1], tile[2]}};
    const unsigned levels = d->levels ? d->levels : 1;
    while (p->tail_level < levels && level_size(d->width, p->tail_level) >= tile[0] &&
           level_size(d->height, p->tail_level) >= tile[1])
        p->tail_level++;
    if (p->tail_level < levels || levels > 1) p->tail_bytes = CUDA_TILE_BYTES;
    if (levels == 1 && !p->tail_level) p->flags = SINGLE_TAIL;
    if (levels == 1) p->tail_level = 0;
    return CU_OK;
}

int pl_cudaMipmappedArrayGetSparseProperties(void *out, cuda_array *a)
{
    return pl_cudaArrayGetSparseProperties(out, a);
}

int pl_cudaGetChannelDesc(cuda_channel *channel, const cuda_array *a)
{
    if (!channel) return CU_INVALID_VALUE;
    if (!a || !cuda_table_get(&arrays, a)) return CU_INVALID_HANDLE;
    *channel = a->channel;
    return CU_OK;
}

cuda_channel pl_cudaCreateChannelDesc(int x, int y, int z, int w, int kind)
{
    return (cuda_channel){x, y, z, w, kind};
}

/* ---------------------------------------------------------------- textures */

static pl_sampler_desc sampler_of(const cuda_texture *t)
{
    pl_sampler_desc s = {.linear = t->filter == 1,
                         .mip_linear = t->mip_filter == 1,
                         .normalized = t->normalized != 0,
                         .to_float = t->read == 1,
                         .srgb = t->srgb != 0,
                         .seamless = t->seamless != 0,
                         .anisotropy = t->anisotropy,
                         .lod_bias = t->lod_bias,
                         .lod_min = t->lod_min,
                         .lod_max = t->lod_max};
    for (int k = 0; k < 3; k++) s.address[k] = (uint8_t)t->address[k];
    memcpy(s.border, t->border, sizeof s.border);
    return s;
}

static bool is_valid_sampler(const cuda_texture *t)
{
    for (int k = 0; k < 3; k++)
        if (t->address[k] < 0 || t->address[k] > 3) return false;
    return (t->filter == 0 || t->filter == 1) && (t->mip_filter == 0 || t->mip_filter == 1);
}

/* Converts cudaResourceViewFormat; channels 0: not supported. */
static pl_texel_format format_of_view(int format)
{
    enum { FIRST_FLOAT = 19, LAST = 24, PER_KIND = 3 };
    static const uint8_t integer_bits[] = {8, 8, 16, 16, 32, 32}, channels[] = {1, 2, 4};
    pl_texel_format f = {0};
    if (format < 1 || format > LAST) return f;
    const int group = (format - 1) / PER_KIND;
    f.channels = channels[(format - 1) % PER_KIND];
    f.bits = format >= FIRST_FLOAT ? (group == (FIRST_FLOAT - 1) / PER_KIND ? 16 : 32)
                                   : integer_bits[group];
    f.kind = format >= FIRST_FLOAT ? PL_CHANNEL_FLOAT
             : group % 2           ? PL_CHANNEL_SIGNED
                                   : PL_CHANNEL_UNSIGNED;
    return f;
}

/* The view of an array must have the array's size. Integers of 8 and 16 bits are read as fractions
 * if the array has floats (H100). */
static int apply_view(const cuda_resource *r, const view_desc *v, pl_texture_desc *t)
{
    if (r->type != RESOURCE_ARRAY && r->type != RESOURCE_MIPMAPPED) return CU_INVALID_VALUE;
    const pl_array_desc *d = &r->u.array->desc;
    if (v->width != d->width || v->height != d->height || v->depth != d->depth ||
        v->last_layer < v->first_layer || v->last_level < v->first_level ||
        (!d->layered && !d->cubemap && v->last_layer) ||
        (r->type == RESOURCE_ARRAY && v->last_level) ||
        (r->type == RESOURCE_MIPMAPPED && v->first_level >= (d->levels ? d->levels : 1)))
        return CU_INVALID_VALUE;
    t->view = true;
    t->format = format_of_view(v->format);
    if (t->format.kind != PL_CHANNEL_FLOAT && t->format.bits < 32 &&
        d->format.kind == PL_CHANNEL_FLOAT)
        t->sampler.to_float = true;
    if (d->layered) {
        t->first_layer = v->first_layer;
        t->layers = v->last_layer - v->first_layer + 1;
    }
    if (r->type == RESOURCE_MIPMAPPED) {
        t->first_level = v->first_level;
        const unsigned levels = d->levels ? d->levels : 1; /* the last level may be beyond */
        t->levels = (v->last_level < levels ? v->last_level : levels - 1) - v->first_level + 1;
    }
    return CU_OK;
}

static int describe_resource(const cuda_resource *r, pl_texture_desc *d)
{
    switch (r->type) {
    case RESOURCE_ARRAY:
    case RESOURCE_MIPMAPPED:
        if (!r->u.array) return CU_INVALID_HANDLE;
        d->source = PL_TEXTURE_ARRAY;
        d->array = r->u.array->handle;
        return CU_OK;
    case RESOURCE_LINEAR:
        d->source = PL_TEXTURE_LINEAR;
        d->address = (uintptr_t)r->u.linear.p;
        d->bytes = r->u.linear.bytes;
        return format_of(&r->u.linear.channel, &d->format);
    case RESOURCE_PITCH:
        d->source = PL_TEXTURE_PITCH;
        d->address = (uintptr_t)r->u.pitch.p;
        if (r->u.pitch.width > MAX_1D || r->u.pitch.height > MAX_2D ||
            r->u.pitch.pitch > UINT32_MAX)
            return CU_INVALID_VALUE;
        d->width = r->u.pitch.width ? (uint32_t)r->u.pitch.width : MAX_1D; /* 0 is valid (H100) */
        d->height = r->u.pitch.height ? (uint32_t)r->u.pitch.height : 1;
        d->pitch = (uint32_t)r->u.pitch.pitch;
        return format_of(&r->u.pitch.channel, &d->format);
    default: return CU_INVALID_VALUE;
    }
}

static const cuda_channel *channel_of(const cuda_resource *r)
{
    switch (r->type) {
    case RESOURCE_LINEAR: return &r->u.linear.channel;
    case RESOURCE_PITCH: return &r->u.pitch.channel;
    default: return &r->u.array->channel;
    }
}

static int add_object(uint64_t handle, const cuda_resource *r, const cuda_texture *t,
                      const view_desc *v)
{
    object *o = malloc(sizeof *o);
    if (!o || !cuda_table_put(&objects, key_of(handle), o)) {
        free(o);
        pl_resource_free(cuda_current_device()->gpu, handle);
        return CU_MEMORY_ALLOCATION;
    }
    *o = (object){.resource = *r, .handle = handle};
    if (t) o->texture = *t;
    if (v) o->view = *v;
    return CU_OK;
}

int cuda_create_texture(unsigned long long *out, const cuda_resource *r, const cuda_texture *t,
                        const void *view, bool whole_numbers)
{
    const char *why = NULL;
    uint64_t handle;
    if (!out || !r) return CU_INVALID_VALUE;
    if (!t) return CU_INVALID_HANDLE;
    pl_texture_desc d = {.sampler = sampler_of(t)};
    d.sampler.whole_numbers = whole_numbers;
    int error = describe_resource(r, &d);
    if (!error && !is_valid_sampler(t)) error = CU_INVALID_VALUE;
    if (!error && is_normalized(channel_of(r))) {
        if (!t->read && !whole_numbers) return CU_INVALID_NORM_SETTING;
        d.sampler.to_float = true;
    }
    if (!error && view) error = apply_view(r, view, &d);
    if (error) return error;
    if (view && t->read && r->u.array->desc.format.kind == PL_CHANNEL_FLOAT)
        return CU_INVALID_NORM_SETTING; /* fractions are those of the array's integers */
    error = cuda_check_captures(CUDA_UNSAFE_CALL);
    if (error) return error;
    if (pl_texture_create(cuda_current_device()->gpu, &d, &handle, &why) != PL_OK) {
        error = cuda_error_number(why);
        return error ? error : CU_INVALID_VALUE;
    }
    error = add_object(handle, r, t, view);
    if (!error) *out = handle;
    return error;
}

int pl_cudaCreateTextureObject(unsigned long long *out, const void *resource, const void *texture,
                               const void *view)
{
    return cuda_create_texture(out, resource, texture, view, false);
}

static int destroy_object(unsigned long long handle)
{
    object *o = handle ? cuda_table_get(&objects, key_of(handle)) : NULL;
    if (!o) return CU_OK;
    cuda_table_remove(&objects, key_of(handle));
    free(o);
    pl_resource_free(cuda_current_device()->gpu, handle);
    return CU_OK;
}

int pl_cudaDestroyTextureObject(unsigned long long handle)
{
    const int unsafe = cuda_check_captures(CUDA_UNSAFE_CALL);
    return unsafe ? unsafe : destroy_object(handle);
}

int pl_cudaDestroySurfaceObject(unsigned long long handle)
{
    return destroy_object(handle);
}

int pl_cudaCreateSurfaceObject(unsigned long long *out, const void *resource)
{
    const cuda_resource *r = resource;
    const char *why = NULL;
    uint64_t handle;
    if (!out || !r) return CU_INVALID_VALUE;
    if (r->type != RESOURCE_ARRAY) {
        pl_texel_format unused;
        const bool memory = r->type == RESOURCE_LINEAR || r->type == RESOURCE_PITCH;
        const int error = memory ? format_of(channel_of(r), &unused) : CU_OK;
        return error ? error : CU_INVALID_VALUE;
    }
    if (!r->u.array) return CU_INVALID_HANDLE;
    const cuda_array *a = r->u.array;
    if (pl_surface_create(cuda_current_device()->gpu, a->handle, a->level, &handle, &why) !=
        PL_OK) {
        const int error = cuda_error_number(why);
        return error ? error : CU_INVALID_VALUE;
    }
    const int error = add_object(handle, r, NULL, NULL);
    if (!error) *out = handle;
    return error;
}

static const object *object_of(unsigned long long handle)
{
    return handle ? cuda_table_get(&objects, key_of(handle)) : NULL;
}

int pl_cudaGetTextureObjectResourceDesc(void *out, unsigned long long handle)
{
    const object *o = object_of(handle);
    if (!out || !o) return CU_INVALID_VALUE;
    memcpy(out, &o->resource, sizeof o->resource);
    return CU_OK;
}

int pl_cudaGetTextureObjectTextureDesc(void *out, unsigned long long handle)
{
    const object *o = object_of(handle);
    if (!out || !o) return CU_INVALID_VALUE;
    memcpy(out, &o->texture, sizeof o->texture);
    return CU_OK;
}

int pl_cudaGetSurfaceObjectResourceDesc(void *out, unsigned long long handle)
{
    return out ? pl_cudaGetTextureObjectResourceDesc(out, handle) : CU_INVALID_DEVICE; /* H200 */
}

int pl_cudaGetTextureObjectResourceViewDesc(void *out, unsigned long long handle)
{
    const object *o = object_of(handle);
    if (!out || !o) return CU_INVALID_VALUE;
    memcpy(out, &o->view, sizeof o->view);
    return CU_OK;
}

/* Returns the maximum texels of a linear texture; the limit is in texels, not bytes. */
int pl_cudaDeviceGetTexture1DLinearMaxWidth(size_t *width, const cuda_channel *channel, int device)
{
    enum { MAX_LINEAR_TEXELS = 1 << 30 };
    static const uint64_t max_bytes = UINT64_C(1) << 32;
    pl_texel_format format;
    if (!cuda_is_device(device)) return CU_INVALID_DEVICE;
    if (!width || !channel) return CU_INVALID_VALUE;
    const int error = format_of(channel, &format);
    const uint64_t texels = error ? 0 : max_bytes / (format.channels * format.bits / 8u);
    if (!error) *width = texels < MAX_LINEAR_TEXELS ? (size_t)texels : MAX_LINEAR_TEXELS;
    return error;
}
