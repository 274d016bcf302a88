/* driver_array.c - arrays, textures and surfaces of the driver API: descriptions are converted to
 * those of the runtime. */
#include "cudart/state.h"
#include <string.h>

enum { READ_AS_INTEGER = 1, NORMALIZED = 2, SRGB = 0x10, NO_TRILINEAR = 0x20, SEAMLESS = 0x40 };
_Static_assert(CUDA_TEXTURE_FLAGS ==
                   (READ_AS_INTEGER | NORMALIZED | SRGB | NO_TRILINEAR | SEAMLESS),
               "all flags");

static const struct {
    int format, bits, kind; /* CUarray_format; cudaChannelFormatKind */
    unsigned channels;      /* 0: any number */
} formats[] = {{0x01, 8, 1, 0},  {0x02, 16, 1, 0},  {0x03, 32, 1, 0},  {0x08, 8, 0, 0},
               {0x09, 16, 0, 0}, {0x0a, 32, 0, 0},  {0x10, 16, 2, 0},  {0x20, 32, 2, 0},
               {0xc0, 8, 5, 1},  {0xc1, 8, 6, 2},   {0xc2, 8, 7, 4},   {0xc3, 16, 8, 1},
               {0xc4, 16, 9, 2}, {0xc5, 16, 10, 4}, {0xc6, 8, 11, 1},  {0xc7, 8, 12, 2},
               {0xc8, 8, 13, 4}, {0xc9, 16, 14, 1}, {0xca, 16, 15, 2}, {0xcb, 16, 16, 4}};
enum { FORMATS = sizeof formats / sizeof *formats };

static bool channel_of(int format, unsigned channels, cuda_channel *c)
{
    int k = 0;
    while (k < FORMATS && formats[k].format != format) k++;
    if (k == FORMATS || channels < 1 || channels > 4) return false;
    if (formats[k].channels && formats[k].channels != channels) return false;
    const int bits = formats[k].bits;
    *c = (cuda_channel){bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0,
                        channels > 3 ? bits : 0, formats[k].kind};
    return true;
}

int pl_cuArray3DCreate_v2(struct cuda_array **out, const void *params)
{
    const cuda_array_3d *d = params;
    cuda_channel c;
    if (!out || !d || !channel_of(d->format, d->channels, &c)) return CU_INVALID_VALUE;
    return pl_cudaMalloc3DArray(out, &c, (cuda_extent){d->width, d->height, d->depth}, d->flags);
}

int pl_cuArrayCreate_v2(struct cuda_array **out, const void *params)
{
    const cuda_array_2d *d = params;
    if (!d) return CU_INVALID_VALUE;
    const cuda_array_3d whole = {d->width, d->height, 0, d->format, d->channels, 0};
    return pl_cuArray3DCreate_v2(out, &whole);
}

int pl_cuMipmappedArrayCreate(struct cuda_array **out, const void *params, unsigned levels)
{
    const cuda_array_3d *d = params;
    cuda_channel c;
    if (!out || !d || !channel_of(d->format, d->channels, &c)) return CU_INVALID_VALUE;
    return pl_cudaMallocMipmappedArray(out, &c, (cuda_extent){d->width, d->height, d->depth},
                                       levels, d->flags);
}

int pl_cuArray3DGetDescriptor_v2(void *out, struct cuda_array *a)
{
    cuda_channel c;
    cuda_extent e;
    cuda_array_3d d = {0};
    const int error = out ? pl_cudaArrayGetInfo(&c, &e, &d.flags, a) : CU_INVALID_VALUE;
    if (error) return error;
    d.width = e.width;
    d.height = e.height;
    d.depth = e.depth;
    d.channels = 1u + (c.y > 0) + (c.z > 0) + (c.w > 0);
    for (int k = 0; k < FORMATS; k++)
        if (formats[k].bits == c.x && formats[k].kind == c.kind) d.format = formats[k].format;
    memcpy(out, &d, sizeof d);
    return CU_OK;
}

int pl_cuArrayGetDescriptor_v2(void *out, struct cuda_array *a)
{
    cuda_array_3d d;
    const int error = out ? pl_cuArray3DGetDescriptor_v2(&d, a) : CU_INVALID_VALUE;
    if (error) return error;
    const cuda_array_2d flat = {d.width, d.height, d.format, d.channels};
    memcpy(out, &flat, sizeof flat);
    return CU_OK;
}

static int resource_of(const cuda_driver_resource *r, cuda_resource *out)
{
    *out = (cuda_resource){.type = r->type, .flags = r->flags};
    switch (r->type) {
    case RESOURCE_ARRAY:
    case RESOURCE_MIPMAPPED: out->u.array = r->u.array; return CU_OK;
    case RESOURCE_LINEAR:
        out->u.linear.p = (void *)(uintptr_t)r->u.linear.address;
        out->u.linear.bytes = r->u.linear.bytes;
        return channel_of(r->u.linear.format, r->u.linear.channels, &out->u.linear.channel)
                   ? CU_OK
                   : CU_INVALID_VALUE;
    case RESOURCE_PITCH:
        out->u.pitch.p = (void *)(uintptr_t)r->u.pitch.address;
        out->u.pitch.width = r->u.pitch.width;
        out->u.pitch.height = r->u.pitch.height;
        out->u.pitch.pitch = r->u.pitch.pitch;
        return channel_of(r->u.pitch.format, r->u.pitch.channels, &out->u.pitch.channel)
                   ? CU_OK
                   : CU_INVALID_VALUE;
    default: return CU_INVALID_VALUE;
    }
}

/* 8- and 16-bit integers are read as floats from 0 or -1 to 1 unless a flag prevents it. */
static bool becomes_float(const cuda_resource *r, unsigned flags)
{
    const cuda_channel *c = r->type == RESOURCE_LINEAR  ? &r->u.linear.channel
                            : r->type == RESOURCE_PITCH ? &r->u.pitch.channel
                                                        : &r->u.array->channel;
    return !(flags & READ_AS_INTEGER) && c->kind != 2 && c->x < 32;
}

int pl_cuTexObjectCreate(unsigned long long *out, const void *resource, const void *texture,
                         const void *view)
{
    const cuda_driver_texture *t = texture;
    cuda_resource r;
    const cuda_driver_resource *given = resource;
    if (!given || given->flags || !t || t->flags & ~(unsigned)CUDA_TEXTURE_FLAGS)
        return CU_INVALID_VALUE;
    const int error = resource_of(resource, &r);
    if (error) return error;
    if (r.type <= RESOURCE_MIPMAPPED && !r.u.array) return CU_INVALID_VALUE;
    cuda_texture d = {.filter = t->filter,
                      .read = becomes_float(&r, t->flags),
                      .srgb = (t->flags & SRGB) != 0,
                      .normalized = (t->flags & NORMALIZED) != 0,
                      .anisotropy = t->anisotropy,
                      .mip_filter = t->mip_filter,
                      .lod_bias = t->lod_bias,
                      .lod_min = t->lod_min,
                      .lod_max = t->lod_max,
                      .no_trilinear = (t->flags & NO_TRILINEAR) != 0,
                      .seamless = (t->flags & SEAMLESS) != 0};
    memcpy(d.address, t->address, sizeof d.address);
    memcpy(d.border, t->border, sizeof d.border);
    return cuda_create_texture(out, &r, &d, view, true);
}

int pl_cuSurfObjectCreate(unsigned long long *out, const void *resource)
{
    cuda_resource r;
    const int error = resource ? resource_of(resource, &r) : CU_INVALID_VALUE;
    return error ? error : pl_cudaCreateSurfaceObject(out, &r);
}

/* ---- conversion to the driver's description ---- */

static void format_of(const cuda_channel *c, int *format, unsigned *channels)
{
    *channels = 1u + (c->y > 0) + (c->z > 0) + (c->w > 0);
    for (int k = 0; k < FORMATS; k++)
        if (formats[k].bits == c->x && formats[k].kind == c->kind) *format = formats[k].format;
}

int pl_cuTexObjectGetResourceDesc(void *out, unsigned long long handle)
{
    cuda_resource r;
    cuda_driver_resource *d = out;
    const int error = out ? pl_cudaGetTextureObjectResourceDesc(&r, handle) : CU_INVALID_VALUE;
    if (error) return error;
    *d = (cuda_driver_resource){.type = r.type, .flags = r.flags};
    if (r.type == RESOURCE_LINEAR) {
        d->u.linear.address = (uintptr_t)r.u.linear.p;
        d->u.linear.bytes = r.u.linear.bytes;
        format_of(&r.u.linear.channel, &d->u.linear.format, &d->u.linear.channels);
    } else if (r.type == RESOURCE_PITCH) {
        d->u.pitch.address = (uintptr_t)r.u.pitch.p;
        d->u.pitch.width = r.u.pitch.width;
        d->u.pitch.height = r.u.pitch.height;
        d->u.pitch.pitch = r.u.pitch.pitch;
        format_of(&r.u.pitch.channel, &d->u.pitch.format, &d->u.pitch.channels);
    } else {
        d->u.array = r.u.array;
    }
    return CU_OK;
}

int pl_cuTexObjectGetTextureDesc(void *out, unsigned long long handle)
{
    cuda_texture t;
    cuda_resource r;
    int error = out ? pl_cudaGetTextureObjectTextureDesc(&t, handle) : CU_INVALID_VALUE;
    if (!error) error = pl_cudaGetTextureObjectResourceDesc(&r, handle);
    if (error) return error;
    cuda_driver_texture d = {.filter = t.filter,
                             .flags = (t.normalized ? NORMALIZED : 0u) | (t.srgb ? SRGB : 0u) |
                                      (t.no_trilinear ? NO_TRILINEAR : 0u) |
                                      (t.seamless ? SEAMLESS : 0u) |
                                      (becomes_float(&r, 0) && !t.read ? READ_AS_INTEGER : 0u),
                             .anisotropy = t.anisotropy,
                             .mip_filter = t.mip_filter,
                             .lod_bias = t.lod_bias,
                             .lod_min = t.lod_min,
                             .lod_max = t.lod_max};
    memcpy(d.address, t.address, sizeof d.address);
    memcpy(d.border, t.border, sizeof d.border);
    memcpy(out, &d, sizeof d);
    return CU_OK;
}

int pl_cuDeviceGetTexture1DLinearMaxWidth(size_t *width, int format, unsigned channels, int device)
{
    cuda_channel c;
    if (!channel_of(format, channels, &c)) return CU_INVALID_VALUE;
    return pl_cudaDeviceGetTexture1DLinearMaxWidth(width, &c, device);
}

int pl_cuArrayDestroy(cuda_array *a)
{
    return a ? pl_cudaFreeArray(a) : CU_INVALID_HANDLE;
}

int pl_cuMemMapArrayAsync(const void *list, unsigned n, void *stream)
{
    cuda_stream *s = cuda_stream_of(stream);
    int error = CU_OK;
    if (!s) return CU_INVALID_HANDLE;
    if (!list || !n) return CU_INVALID_VALUE;
    if (s->capture) return cuda_invalidate_capture(s);
    cuda_wait(s);
    for (unsigned k = 0; k < n && !error; k++) {
        uint64_t size = 0;
        const cuda_array *a = cuda_mapped_array(list, k);
        if (!a || !cuda_is_array(a)) return CU_INVALID_VALUE;
        const int fd = cuda_tile_pool(cuda_mapped_pool(list, k), &size);
        error = cuda_map_tiles(list, k, s->device, fd, size);
    }
    return error;
}
