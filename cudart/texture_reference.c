/* texture_reference.c - texture and surface references of the driver API: .texref and .surfref
 * variables of modules, to which the program assigns memory and a description.
 *
 * Whenever a reference changes, a texture or surface object is created from it, and the variable
 * gets its handle. */
#include "cudart/blocked.h"
#include "cudart/state.h"
#include <stdlib.h>
#include <string.h>

enum {
    OVERRIDE_FORMAT = 1, /* CU_TRSA_OVERRIDE_FORMAT: the format of the array */
    FORMAT_FLOAT = 0x20, /* CU_AD_FORMAT_FLOAT */
    ADDRESS_CLAMP = 1,
    LAST_ADDRESS_MODE = 3,
    LAST_FILTER_MODE = 1,
    REFERENCE_FLAGS = 0x3f, /* those that cuTexRefSetFlags takes (H100) */
    DEFAULT_UNIT = -1,      /* CU_PARAM_TR_DEFAULT */
    ALIGNMENT = 512,        /* of linear memory: texture_align of the device */
    SURFACE_ARRAY = 2       /* CUDA_ARRAY3D_SURFACE_LDST */
};

typedef struct cuda_reference {
    struct cuda_reference *next;
    cuda_module *module; /* NULL: created by cuTexRefCreate */
    char *name;          /* of the variable; owned */
    pl_reference kind;
    int device;
    bool bound; /* the program has assigned memory: */
    cuda_driver_resource resource;
    cuda_driver_texture texture;
    int format, channels;
    unsigned long long handle; /* of the object in the variable; 0: none */
} cuda_reference;

static cuda_reference *references;

static cuda_reference *reference_of(const void *handle, pl_reference kind)
{
    cuda_reference *r = references;
    while (r && (r != handle || r->kind != kind)) r = r->next;
    return r;
}

static cuda_reference *texture_of(const void *handle)
{
    return reference_of(handle, PL_REFERENCE_TEXTURE);
}

/* ---------------------------------------------------------------- creation */

static int add_reference(cuda_reference **out, cuda_module *m, const char *name, pl_reference kind)
{
    cuda_reference *r = calloc(1, sizeof *r);
    char *copy = strdup(name);
    if (!r || !copy) {
        free(r);
        free(copy);
        return CU_MEMORY_ALLOCATION;
    }
    *r = (cuda_reference){.next = references,
                          .module = m,
                          .name = copy,
                          .kind = kind,
                          .device = cuda_self.device,
                          .format = FORMAT_FLOAT,
                          .channels = 1};
    for (int k = 0; k < 3; k++) r->texture.address[k] = ADDRESS_CLAMP;
    references = r;
    *out = r;
    return CU_OK;
}

static void free_object(cuda_reference *r)
{
    const int previous = cuda_use_device(r->device);
    if (r->handle) pl_cudaDestroySurfaceObject(r->handle);
    cuda_use_device(previous);
    r->handle = 0;
}

static void free_reference(cuda_reference *r)
{
    cuda_reference **at = &references;
    while (*at != r) at = &(*at)->next;
    *at = r->next;
    free_object(r);
    free(r->name);
    free(r);
}

void cuda_free_references(const cuda_module *m)
{
    for (cuda_reference *r = references, *next; r; r = next) {
        next = r->next;
        if (r->module == m) free_reference(r);
    }
}

static int get_reference(cuda_reference **out, cuda_module *m, const char *name, pl_reference kind)
{
    if (!m) return CU_INVALID_HANDLE;
    if (!out || !name || !*name) return CU_INVALID_VALUE;
    if (!cuda_is_module(m)) return CU_INVALID_HANDLE;
    const int error = cuda_module_load(m);
    if (error) return error;
    if (pl_module_reference(cuda_loaded(m), name) != kind) return CU_NOT_FOUND;
    for (cuda_reference *r = references; r; r = r->next)
        if (r->module == m && r->device == cuda_self.device && strcmp(r->name, name) == 0) {
            *out = r;
            return CU_OK;
        }
    return add_reference(out, m, name, kind);
}

int pl_cuModuleGetTexRef(void **out, cuda_module *m, const char *name)
{
    return get_reference((cuda_reference **)out, m, name, PL_REFERENCE_TEXTURE);
}

int pl_cuModuleGetSurfRef(void **out, cuda_module *m, const char *name)
{
    return get_reference((cuda_reference **)out, m, name, PL_REFERENCE_SURFACE);
}

int pl_cuTexRefCreate(void **out)
{
    return out ? add_reference((cuda_reference **)out, NULL, "", PL_REFERENCE_TEXTURE)
               : CU_INVALID_VALUE;
}

/* References of modules remain until their module is unloaded. */
int pl_cuTexRefDestroy(void *ref)
{
    cuda_reference *r = texture_of(ref);
    if (!r) return CU_INVALID_HANDLE;
    if (!r->module) free_reference(r);
    return CU_OK;
}

/* ---------------------------------------------------------------- binding */

static int create_object(const cuda_reference *r, unsigned long long *handle)
{
    if (r->kind == PL_REFERENCE_SURFACE) return pl_cuSurfObjectCreate(handle, &r->resource);
    cuda_driver_texture t = r->texture;
    t.flags &= CUDA_TEXTURE_FLAGS;
    t.filter = t.filter != 0;
    return pl_cuTexObjectCreate(handle, &r->resource, &t, NULL);
}

/* Assigns what the reference describes to its variable; nothing if that cannot be read. Kernels
 * that were launched before keep the old assignment. */
static int bind(cuda_reference *r)
{
    unsigned long long handle = 0;
    if (!r->bound || !r->module) return CU_OK;
    cuda_drain_device(r->device);
    const int previous = cuda_use_device(r->device);
    const int error = create_object(r, &handle);
    if (error) handle = 0;
    free_object(r);
    r->handle = handle;
    (void)pl_module_bind(cuda_loaded(r->module), r->name, handle);
    cuda_use_device(previous);
    return error;
}

/* Assigns memory. If that fails, the reference keeps what it had. */
static int set_resource(cuda_reference *r, const cuda_driver_resource *resource, int format,
                        int channels)
{
    const cuda_reference before = *r;
    r->resource = *resource;
    r->format = format;
    r->channels = channels;
    r->bound = true;
    const int error = bind(r);
    if (!error) return CU_OK;
    r->resource = before.resource;
    r->format = before.format;
    r->channels = before.channels;
    r->bound = before.bound;
    (void)bind(r);
    return error;
}

static int set_array(void *ref, cuda_array *a, unsigned flags, int type)
{
    cuda_reference *r = texture_of(ref);
    cuda_array_2d d;
    if (!r) return CU_INVALID_HANDLE;
    if (flags & ~(unsigned)OVERRIDE_FORMAT) return CU_INVALID_VALUE;
    if (!a || !cuda_is_array(a)) return CU_INVALID_HANDLE;
    const int error = pl_cuArrayGetDescriptor_v2(&d, a);
    if (error) return error;
    if (!(flags & OVERRIDE_FORMAT)) {
        d.format = r->format;
        d.channels = (unsigned)r->channels;
    }
    return set_resource(r, &(cuda_driver_resource){.type = type, .u.array = a}, d.format,
                        (int)d.channels);
}

int pl_cuTexRefSetArray(void *ref, cuda_array *a, unsigned flags)
{
    return set_array(ref, a, flags, RESOURCE_ARRAY);
}

int pl_cuTexRefSetMipmappedArray(void *ref, cuda_array *a, unsigned flags)
{
    return set_array(ref, a, flags, RESOURCE_MIPMAPPED);
}

/* Address 0 removes the assignment; the reference has address 0 afterwards (H100). */
static void clear_address(cuda_reference *r, const cuda_driver_resource *linear)
{
    r->resource = *linear;
    r->bound = true;
    (void)bind(r); /* no object exists for address 0: the variable gets none */
}

/* The texture begins at a multiple of the alignment; *offset is what kernels add. */
int pl_cuTexRefSetAddress_v2(size_t *offset, void *ref, uint64_t address, size_t bytes)
{
    cuda_reference *r = texture_of(ref);
    const uint64_t past = address % ALIGNMENT;
    if (!r) return CU_INVALID_HANDLE;
    if (past && !offset) return CU_INVALID_VALUE;
    cuda_driver_resource resource = {.type = RESOURCE_LINEAR};
    resource.u.linear.address = address - past;
    resource.u.linear.format = r->format;
    resource.u.linear.channels = (unsigned)r->channels;
    resource.u.linear.bytes = bytes + past;
    if (!address) {
        clear_address(r, &resource);
        if (offset) *offset = 0;
        return CU_OK;
    }
    const int error = set_resource(r, &resource, r->format, r->channels);
    if (!error && offset) *offset = past;
    return error;
}

int pl_cuTexRefSetAddress2D_v3(void *ref, const void *description, uint64_t address, size_t pitch)
{
    cuda_reference *r = texture_of(ref);
    const cuda_array_2d *d = description;
    if (!r) return CU_INVALID_HANDLE;
    if (!d) return CU_INVALID_VALUE;
    cuda_driver_resource resource = {.type = RESOURCE_PITCH};
    resource.u.pitch.address = address;
    resource.u.pitch.format = d->format;
    resource.u.pitch.channels = d->channels;
    resource.u.pitch.width = d->width;
    resource.u.pitch.height = d->height;
    resource.u.pitch.pitch = pitch;
    return set_resource(r, &resource, d->format, (int)d->channels);
}

int pl_cuSurfRefSetArray(void *ref, cuda_array *a, unsigned flags)
{
    cuda_reference *r = reference_of(ref, PL_REFERENCE_SURFACE);
    if (!r || !a || !cuda_is_array(a)) return CU_INVALID_HANDLE;
    if (flags || !(a->flags & SURFACE_ARRAY)) return CU_INVALID_VALUE;
    return set_resource(r, &(cuda_driver_resource){.type = RESOURCE_ARRAY, .u.array = a}, r->format,
                        r->channels);
}

/* A reference is assigned to its variable when it changes, so a kernel needs no parameter. */
int pl_cuParamSetTexRef(cuda_function *f, int unit, void *ref)
{
    if (!f || !texture_of(ref)) return CU_INVALID_HANDLE;
    return unit == DEFAULT_UNIT ? CU_OK : CU_INVALID_VALUE;
}

/* ---------------------------------------------------------------- descriptions */

/* Descriptions are checked when a kernel reads. */
static int changed(cuda_reference *r)
{
    (void)bind(r);
    return CU_OK;
}

int pl_cuTexRefSetFormat(void *ref, int format, int channels)
{
    cuda_reference *r = texture_of(ref);
    if (!r) return CU_INVALID_HANDLE;
    if (channels != 1 && channels != 2 && channels != 4) return CU_INVALID_VALUE;
    r->format = format;
    r->channels = channels;
    if (r->bound && r->resource.type == RESOURCE_LINEAR) {
        r->resource.u.linear.format = format;
        r->resource.u.linear.channels = (unsigned)channels;
    }
    return changed(r);
}

int pl_cuTexRefSetAddressMode(void *ref, int dim, int mode)
{
    cuda_reference *r = texture_of(ref);
    if (!r) return CU_INVALID_HANDLE;
    if (dim < 0 || dim > 2) return CU_INVALID_VALUE;
    r->texture.address[dim] = mode < 0 || mode > LAST_ADDRESS_MODE ? ADDRESS_CLAMP : mode;
    return changed(r);
}

int pl_cuTexRefSetFilterMode(void *ref, int mode)
{
    cuda_reference *r = texture_of(ref);
    if (!r) return CU_INVALID_HANDLE;
    r->texture.filter = mode;
    return changed(r);
}

int pl_cuTexRefSetMipmapFilterMode(void *ref, int mode)
{
    cuda_reference *r = texture_of(ref);
    if (!r) return CU_INVALID_HANDLE;
    if (mode < 0 || mode > LAST_FILTER_MODE) return CU_INVALID_VALUE;
    r->texture.mip_filter = mode;
    return changed(r);
}

int pl_cuTexRefSetMipmapLevelBias(void *ref, float bias)
{
    cuda_reference *r = texture_of(ref);
    if (!r) return CU_INVALID_HANDLE;
    r->texture.lod_bias = bias;
    return changed(r);
}

int pl_cuTexRefSetMipmapLevelClamp(void *ref, float min, float max)
{
    cuda_reference *r = texture_of(ref);
    if (!r) return CU_INVALID_HANDLE;
    r->texture.lod_min = min;
    r->texture.lod_max = max;
    return changed(r);
}

int pl_cuTexRefSetMaxAnisotropy(void *ref, unsigned ratio)
{
    cuda_reference *r = texture_of(ref);
    if (!r) return CU_INVALID_HANDLE;
    r->texture.anisotropy = ratio;
    return changed(r);
}

int pl_cuTexRefSetBorderColor(void *ref, const float *color)
{
    cuda_reference *r = texture_of(ref);
    if (!r) return CU_INVALID_HANDLE;
    if (!color) return CU_INVALID_VALUE;
    memcpy(r->texture.border, color, sizeof r->texture.border);
    return changed(r);
}

int pl_cuTexRefSetFlags(void *ref, unsigned flags)
{
    cuda_reference *r = texture_of(ref);
    if (!r) return CU_INVALID_HANDLE;
    if (flags & ~(unsigned)REFERENCE_FLAGS) return CU_INVALID_VALUE;
    r->texture.flags = flags;
    return changed(r);
}

/* ---------------------------------------------------------------- queries */

static bool is_memory(int type)
{
    return type == RESOURCE_LINEAR || type == RESOURCE_PITCH;
}

int pl_cuTexRefGetAddress_v2(uint64_t *address, void *ref)
{
    const cuda_reference *r = texture_of(ref);
    if (!r) return CU_INVALID_HANDLE;
    if (!address || !r->bound || !is_memory(r->resource.type)) return CU_INVALID_VALUE;
    *address = r->resource.type == RESOURCE_LINEAR ? r->resource.u.linear.address
                                                   : r->resource.u.pitch.address;
    return CU_OK;
}

static int get_array(cuda_array **out, const cuda_reference *r, int type)
{
    if (!r) return CU_INVALID_HANDLE;
    if (!out || !r->bound || r->resource.type != type) return CU_INVALID_VALUE;
    *out = r->resource.u.array;
    return CU_OK;
}

int pl_cuTexRefGetArray(cuda_array **out, void *ref)
{
    return get_array(out, texture_of(ref), RESOURCE_ARRAY);
}

int pl_cuTexRefGetMipmappedArray(cuda_array **out, void *ref)
{
    return get_array(out, texture_of(ref), RESOURCE_MIPMAPPED);
}

int pl_cuSurfRefGetArray(cuda_array **out, void *ref)
{
    return get_array(out, reference_of(ref, PL_REFERENCE_SURFACE), RESOURCE_ARRAY);
}

int pl_cuTexRefGetFormat(int *format, int *channels, void *ref)
{
    const cuda_reference *r = texture_of(ref);
    if (!r) return CU_INVALID_HANDLE;
    if (format) *format = r->format;
    if (channels) *channels = r->channels;
    return CU_OK;
}

int pl_cuTexRefGetAddressMode(int *mode, void *ref, int dim)
{
    const cuda_reference *r = texture_of(ref);
    if (!r) return CU_INVALID_HANDLE;
    if (!mode || dim < 0 || dim > 2) return CU_INVALID_VALUE;
    *mode = r->texture.address[dim];
    return CU_OK;
}

/* Stores a number of a texture reference; both types have 4 bytes. */
static int get_number(void *out, const void *ref, size_t offset)
{
    const cuda_reference *r = texture_of(ref);
    if (!r) return CU_INVALID_HANDLE;
    if (!out) return CU_INVALID_VALUE;
    memcpy(out, (const char *)&r->texture + offset, sizeof(int));
    return CU_OK;
}

int pl_cuTexRefGetFilterMode(int *mode, void *ref)
{
    return get_number(mode, ref, offsetof(cuda_driver_texture, filter));
}

int pl_cuTexRefGetMipmapFilterMode(int *mode, void *ref)
{
    return get_number(mode, ref, offsetof(cuda_driver_texture, mip_filter));
}

int pl_cuTexRefGetMipmapLevelBias(float *bias, void *ref)
{
    return get_number(bias, ref, offsetof(cuda_driver_texture, lod_bias));
}

int pl_cuTexRefGetMipmapLevelClamp(float *min, float *max, void *ref)
{
    const int error = get_number(min, ref, offsetof(cuda_driver_texture, lod_min));
    return error ? error : get_number(max, ref, offsetof(cuda_driver_texture, lod_max));
}

int pl_cuTexRefGetMaxAnisotropy(int *ratio, void *ref)
{
    return get_number(ratio, ref, offsetof(cuda_driver_texture, anisotropy));
}

int pl_cuTexRefGetFlags(unsigned *flags, void *ref)
{
    return get_number(flags, ref, offsetof(cuda_driver_texture, flags));
}

int pl_cuTexRefGetBorderColor(float *color, void *ref)
{
    const cuda_reference *r = texture_of(ref);
    if (!r) return CU_INVALID_HANDLE;
    if (!color) return CU_INVALID_VALUE;
    memcpy(color, r->texture.border, sizeof r->texture.border);
    return CU_OK;
}
