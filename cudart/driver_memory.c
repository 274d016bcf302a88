/* driver_memory.c - memory, copies and sets of the driver API. */
#include "cudart/blocked.h"
#include "cudart/state.h"
#include <string.h>

enum {
    MEMORY_OF_HOST = 1, /* CUmemorytype */
    MEMORY_OF_DEVICE = 2,
    MEMORY_OF_ARRAY = 3,
    MEMORY_OF_EITHER = 4
};

#define POINTER(address) ((void *)(uintptr_t)(address))

int pl_cuMemAlloc_v2(uint64_t *out, size_t bytes)
{
    if (!out || !bytes) return CU_INVALID_VALUE;
    const int unsafe = cuda_check_captures(CUDA_UNSAFE_CALL);
    return unsafe ? unsafe : cuda_alloc_device(bytes, cuda_self.device, false, out);
}

int pl_cuMemAllocPitch_v2(uint64_t *out, size_t *pitch, size_t width, size_t height,
                          unsigned element)
{
    void *p = NULL;
    if (!width || !height) return CU_INVALID_VALUE;
    if (pitch) *pitch = 0;
    if (!out || !pitch || (element != 4 && element != 8 && element != 16)) return CU_INVALID_VALUE;
    const int error = pl_cudaMallocPitch(&p, pitch, width, height);
    *out = (uintptr_t)p;
    return error;
}

int pl_cuMemAllocManaged(uint64_t *out, size_t bytes, unsigned flags)
{
    void *p = NULL;
    if (!out || !bytes) return CU_INVALID_VALUE;
    const int error = pl_cudaMallocManaged(&p, bytes, flags);
    *out = (uintptr_t)p;
    return error;
}

int pl_cuMemFree_v2(uint64_t address)
{
    return pl_cudaFree(POINTER(address));
}

int pl_cuMemHostGetDevicePointer_v2(uint64_t *out, void *p, unsigned flags)
{
    void *device = NULL;
    if (!out) return CU_INVALID_VALUE;
    const int error = pl_cudaHostGetDevicePointer(&device, p, flags);
    *out = (uintptr_t)device;
    return error;
}

int pl_cuMemGetAddressRange_v2(uint64_t *base, size_t *bytes, uint64_t address)
{
    const cuda_alloc *a = cuda_alloc_find(address);
    uint64_t start, size;
    if (!a && !cuda_variable_at(address, &start, &size)) return CU_NOT_FOUND;
    if (base) *base = a ? a->address : start;
    if (bytes) *bytes = a ? a->size : size;
    return CU_OK;
}

int pl_cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes)
{
    return pl_cudaMemcpy(POINTER(to), from, bytes, COPY_H2D);
}

int pl_cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes)
{
    return pl_cudaMemcpy(to, POINTER(from), bytes, COPY_D2H);
}

int pl_cuMemcpyDtoD_v2(uint64_t to, uint64_t from, size_t bytes)
{
    return pl_cudaMemcpy(POINTER(to), POINTER(from), bytes, COPY_D2D);
}

int pl_cuMemcpy(uint64_t to, uint64_t from, size_t bytes)
{
    return pl_cudaMemcpy(POINTER(to), POINTER(from), bytes, COPY_DEFAULT);
}

int pl_cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream)
{
    return pl_cudaMemcpyAsync(POINTER(to), from, bytes, COPY_H2D, stream);
}

int pl_cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream)
{
    return pl_cudaMemcpyAsync(to, POINTER(from), bytes, COPY_D2H, stream);
}

int pl_cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream)
{
    return pl_cudaMemcpyAsync(POINTER(to), POINTER(from), bytes, COPY_D2D, stream);
}

int pl_cuMemcpyAsync(uint64_t to, uint64_t from, size_t bytes, void *stream)
{
    return pl_cudaMemcpyAsync(POINTER(to), POINTER(from), bytes, COPY_DEFAULT, stream);
}

/* ---------------------------------------------------------------- copies with a shape */

/* CUDA_MEMCPY2D */
typedef struct side_2d {
    size_t x, y;
    unsigned type;
    void *host;
    uint64_t device;
    cuda_array *array;
    size_t pitch;
} side_2d;
typedef struct copy_2d {
    side_2d from, to;
    size_t width, height;
} copy_2d;
_Static_assert(sizeof(copy_2d) == 128, "layout of CUDA 13");

static int side_of(const cuda_copy_side *s, size_t width, cuda_side *out)
{
    switch (s->type) {
    case MEMORY_OF_ARRAY:
        *out = (cuda_side){.array = s->array, .x = s->x, .y = s->y, .z = s->z};
        return s->array && !s->level ? CU_OK : CU_INVALID_VALUE; /* the level must be 0 */
    case MEMORY_OF_HOST:
    case MEMORY_OF_DEVICE:
    case MEMORY_OF_EITHER: break;
    default: return CU_INVALID_VALUE;
    }
    const uint64_t base = s->type == MEMORY_OF_HOST ? (uintptr_t)s->host : s->device;
    const uint64_t pitch = s->pitch ? s->pitch : width; /* 0: rows have no gaps */
    *out = (cuda_side){.p = POINTER(base + s->x + pitch * (s->y + s->height * s->z)),
                       .pitch = pitch,
                       .slice = pitch * s->height};
    return base ? CU_OK : CU_INVALID_VALUE;
}

/* False if the copied part of a row continues in the next row. Pitch 0: rows have no gaps. */
static bool is_inside_rows(const cuda_copy_side *s, size_t width)
{
    return s->type == MEMORY_OF_ARRAY || !s->pitch ||
           (width <= s->pitch && s->x <= s->pitch - width);
}

/* A height of 0 is not checked (H200). */
static bool has_low_slices(const cuda_copy_side *s, size_t height)
{
    return s->type != MEMORY_OF_ARRAY && s->height && s->height < height;
}

int cuda_convert_driver(const cuda_driver_copy *p, cuda_copy *c)
{
    *c = (cuda_copy){
        .width = p->width, .height = p->height, .depth = p->depth, .kind = COPY_DEFAULT};
    int error = side_of(&p->from, p->width, &c->from);
    if (!error) error = side_of(&p->to, p->width, &c->to);
    if (error) return error;
    if (c->height > 1 && (!is_inside_rows(&p->from, p->width) || !is_inside_rows(&p->to, p->width)))
        return CU_INVALID_VALUE;
    if (c->depth > 1 && (has_low_slices(&p->from, c->height) || has_low_slices(&p->to, c->height)))
        return CU_INVALID_VALUE;
    return cuda_check_copy(c);
}

static int submit(const cuda_driver_copy *p, void *stream, bool wait)
{
    cuda_stream *s = cuda_stream_of(stream);
    if (!s) return CU_INVALID_HANDLE;
    cuda_op op = {.kind = OP_COPY};
    int error = cuda_convert_driver(p, &op.u.copy);
    if (!error) error = cuda_submit(s, &op);
    if (wait) cuda_wait_for_copy(s, &op.u.copy);
    return error || !wait ? error : cuda.sticky;
}

static int submit_2d(const copy_2d *p, void *stream, bool wait)
{
    if (!p) return CU_INVALID_VALUE;
    if (!p->width || !p->height) return CU_OK;
    const side_2d *f = &p->from, *t = &p->to;
    const cuda_driver_copy c = {.from = {.x = f->x,
                                         .y = f->y,
                                         .type = f->type,
                                         .host = f->host,
                                         .device = f->device,
                                         .array = f->array,
                                         .pitch = f->pitch},
                                .to = {.x = t->x,
                                       .y = t->y,
                                       .type = t->type,
                                       .host = t->host,
                                       .device = t->device,
                                       .array = t->array,
                                       .pitch = t->pitch},
                                .width = p->width,
                                .height = p->height,
                                .depth = 1};
    return submit(&c, stream, wait);
}

int pl_cuMemcpy2DAsync_v2(const void *params, void *stream)
{
    return submit_2d(params, stream, false);
}

int pl_cuMemcpy2D_v2(const void *params)
{
    return submit_2d(params, NULL, true);
}

int pl_cuMemcpy2DUnaligned_v2(const void *params)
{
    return submit_2d(params, NULL, true);
}

int pl_cuMemcpy3D_v2(const void *params)
{
    return params ? submit(params, NULL, true) : CU_INVALID_VALUE;
}

int pl_cuMemcpy3DAsync_v2(const void *params, void *stream)
{
    return params ? submit(params, stream, false) : CU_INVALID_VALUE;
}

/* ---- parts of a row of an array ---- */

static cuda_copy_side in_array(cuda_array *a, size_t x)
{
    return (cuda_copy_side){.type = MEMORY_OF_ARRAY, .array = a, .x = x};
}

static cuda_copy_side in_memory(uint64_t address, size_t bytes)
{
    return (cuda_copy_side){.type = MEMORY_OF_EITHER, .device = address, .pitch = bytes};
}

static int line(cuda_copy_side to, cuda_copy_side from, size_t bytes, void *stream, bool wait)
{
    const cuda_driver_copy c = {.from = from, .to = to, .width = bytes, .height = 1, .depth = 1};
    return submit(&c, stream, wait);
}

int pl_cuMemcpyAtoH_v2(void *to, cuda_array *from, size_t x, size_t bytes)
{
    return line(in_memory((uintptr_t)to, bytes), in_array(from, x), bytes, NULL, true);
}

int pl_cuMemcpyHtoA_v2(cuda_array *to, size_t x, const void *from, size_t bytes)
{
    return line(in_array(to, x), in_memory((uintptr_t)from, bytes), bytes, NULL, true);
}

int pl_cuMemcpyAtoHAsync_v2(void *to, cuda_array *from, size_t x, size_t bytes, void *stream)
{
    return line(in_memory((uintptr_t)to, bytes), in_array(from, x), bytes, stream, false);
}

int pl_cuMemcpyHtoAAsync_v2(cuda_array *to, size_t x, const void *from, size_t bytes, void *stream)
{
    return line(in_array(to, x), in_memory((uintptr_t)from, bytes), bytes, stream, false);
}

int pl_cuMemcpyAtoD_v2(uint64_t to, cuda_array *from, size_t x, size_t bytes)
{
    return line(in_memory(to, bytes), in_array(from, x), bytes, NULL, true);
}

int pl_cuMemcpyDtoA_v2(cuda_array *to, size_t x, uint64_t from, size_t bytes)
{
    return line(in_array(to, x), in_memory(from, bytes), bytes, NULL, true);
}

int pl_cuMemcpyAtoA_v2(cuda_array *to, size_t to_x, cuda_array *from, size_t from_x, size_t bytes)
{
    return line(in_array(to, to_x), in_array(from, from_x), bytes, NULL, true);
}

/* ---------------------------------------------------------------- sets */

static int set_in(uint64_t to, size_t pitch, unsigned value, unsigned element, size_t width,
                  size_t height, void *stream, bool async)
{
    if (!cuda_stream_of(stream)) return CU_INVALID_HANDLE;
    if (to % element || (height > 1 && (pitch % element || width * element > pitch)))
        return CU_INVALID_VALUE;
    const cuda_set x = {.p = POINTER(to),
                        .pitch = pitch,
                        .width = width,
                        .height = height,
                        .depth = 1,
                        .value = value,
                        .element = element};
    return cuda_submit_set(&x, stream, async);
}

int pl_cuMemsetD8_v2(uint64_t to, unsigned char value, size_t n)
{
    return set_in(to, 0, value, 1, n, 1, NULL, false);
}

int pl_cuMemsetD8Async(uint64_t to, unsigned char value, size_t n, void *stream)
{
    return set_in(to, 0, value, 1, n, 1, stream, true);
}

int pl_cuMemsetD2D8_v2(uint64_t to, size_t pitch, unsigned char value, size_t width, size_t height)
{
    return set_in(to, pitch, value, 1, width, height, NULL, false);
}

int pl_cuMemsetD2D8Async(uint64_t to, size_t pitch, unsigned char value, size_t width,
                         size_t height, void *stream)
{
    return set_in(to, pitch, value, 1, width, height, stream, true);
}

int pl_cuMemsetD16_v2(uint64_t to, unsigned short value, size_t n)
{
    return set_in(to, 0, value, 2, n, 1, NULL, false);
}

int pl_cuMemsetD16Async(uint64_t to, unsigned short value, size_t n, void *stream)
{
    return set_in(to, 0, value, 2, n, 1, stream, true);
}

int pl_cuMemsetD2D16_v2(uint64_t to, size_t pitch, unsigned short value, size_t width,
                        size_t height)
{
    return set_in(to, pitch, value, 2, width, height, NULL, false);
}

int pl_cuMemsetD2D16Async(uint64_t to, size_t pitch, unsigned short value, size_t width,
                          size_t height, void *stream)
{
    return set_in(to, pitch, value, 2, width, height, stream, true);
}

int pl_cuMemsetD32_v2(uint64_t to, unsigned value, size_t n)
{
    return set_in(to, 0, value, 4, n, 1, NULL, false);
}

int pl_cuMemsetD32Async(uint64_t to, unsigned value, size_t n, void *stream)
{
    return set_in(to, 0, value, 4, n, 1, stream, true);
}

int pl_cuMemsetD2D32_v2(uint64_t to, size_t pitch, unsigned value, size_t width, size_t height)
{
    return set_in(to, pitch, value, 4, width, height, NULL, false);
}

int pl_cuMemsetD2D32Async(uint64_t to, size_t pitch, unsigned value, size_t width, size_t height,
                          void *stream)
{
    return set_in(to, pitch, value, 4, width, height, stream, true);
}

/* ---------------------------------------------------------------- pointer attributes */

/* CUpointer_attribute */
enum {
    POINTER_CONTEXT = 1,
    POINTER_TYPE = 2,
    POINTER_DEVICE = 3,
    POINTER_HOST = 4,
    SYNC_MEMOPS = 6,
    BUFFER_ID = 7,
    IS_MANAGED = 8,
    ORDINAL = 9,
    IPC_CAPABLE = 10,
    RANGE_START = 11,
    RANGE_SIZE = 12,
    MAPPED = 13,
    HANDLE_TYPES = 14,
    RDMA_CAPABLE = 15,
    ACCESS_FLAGS = 16,
    POOL = 17,
    MAPPING_SIZE = 18,
    MAPPING_START = 19,
    BLOCK_ID = 20,
    DECOMPRESS_CAPABLE = 21
};

static void put_int(void *out, int value)
{
    memcpy(out, &value, sizeof value);
}

static void put_word(void *out, uint64_t value)
{
    memcpy(out, &value, sizeof value);
}

/* Returns the value that denotes an absent attribute. */
static int no_attribute(void *out, int attribute)
{
    switch (attribute) {
    case ORDINAL: put_int(out, -2); return CU_OK;
    case POINTER_TYPE:
    case SYNC_MEMOPS:
    case IS_MANAGED:
    case IPC_CAPABLE:
    case MAPPED:
    case HANDLE_TYPES:
    case RDMA_CAPABLE:
    case DECOMPRESS_CAPABLE:
    case ACCESS_FLAGS: put_int(out, 0); return CU_OK;
    case MAPPING_SIZE:
    case MAPPING_START:
    case BLOCK_ID:
    case POINTER_CONTEXT:
    case POINTER_DEVICE:
    case POINTER_HOST:
    case BUFFER_ID:
    case RANGE_START:
    case POOL: put_word(out, 0); return CU_OK;
    case RANGE_SIZE: return CU_OK;
    default: return CU_INVALID_VALUE;
    }
}

static cuda_table synchronous_variables; /* by address: with attribute SYNC_MEMOPS */

/* Returns the range of the program's allocation, reservation or variable. */
static void range_of(const cuda_alloc *a, uint64_t address, uint64_t *start, uint64_t *size)
{
    *start = a ? a->address : address;
    *size = a ? a->size : 0;
    if (a && a->physical) (void)cuda_reserved_range(address, start, size);
    if (!a && !cuda_variable_at(address, start, size)) *start = address, *size = 0;
}

/* Enlarges the range of an allocation or a variable (NULL) to the memory that the driver has mapped
 * for it (H100). */
static void mapping_of(const cuda_alloc *a, uint64_t *start, uint64_t *size)
{
    enum { BLOCK = 2 << 20, POOL_CHUNK = 32 << 20 };
    const uint64_t unit = a && a->registered ? cuda_page() : a && a->pooled ? POOL_CHUNK : BLOCK;
    const uint64_t from = a && a->physical ? a->address : *start,
                   end = from + (a && a->physical ? a->size : *size);
    *start = from / unit * unit;
    *size = cuda_round_up(end, unit) - *start;
}

/* True for memory of cudaMalloc. */
static bool is_plain_device_memory(const cuda_alloc *a)
{
    return a && a->type == MEMORY_DEVICE && !a->pooled && !a->physical;
}

int pl_cuPointerGetAttribute(void *out, int attribute, uint64_t address)
{
    cuda_pointer_attributes a;
    if (!out) return CU_INVALID_VALUE;
    pl_cudaPointerGetAttributes(&a, POINTER(address));
    if (a.type == MEMORY_UNREGISTERED) return CU_INVALID_VALUE;
    const cuda_alloc *r = cuda_alloc_find(address);
    uint64_t start, size;
    range_of(r, address, &start, &size);
    switch (attribute) {
    case POINTER_CONTEXT: /* memory of pools has none */
        put_word(out, r && r->pooled
                          ? 0
                          : (uintptr_t)cuda_context_handle(r ? r->context : NULL, a.device));
        return CU_OK;
    case POINTER_TYPE:
        put_int(out, a.type == MEMORY_HOST ? MEMORY_OF_HOST : MEMORY_OF_DEVICE);
        return CU_OK;
    case POINTER_DEVICE: put_word(out, address); return CU_OK;
    case POINTER_HOST:
        put_word(out, (uintptr_t)a.host_pointer);
        return a.host_pointer ? CU_OK : CU_INVALID_VALUE;
    case SYNC_MEMOPS:
        put_int(out, a.type == MEMORY_MANAGED || (r && r->sync_memops) ||
                         (!r && cuda_table_get(&synchronous_variables, POINTER(start))));
        return CU_OK;
    case BUFFER_ID: put_word(out, r ? r->id : 0); return CU_OK;
    case IS_MANAGED: put_int(out, a.type == MEMORY_MANAGED); return CU_OK;
    case ORDINAL: put_int(out, a.device); return CU_OK;
    case IPC_CAPABLE: put_int(out, is_plain_device_memory(r)); return CU_OK;
    case RANGE_START: put_word(out, start); return CU_OK;
    case RANGE_SIZE: put_word(out, size); return CU_OK;
    case MAPPED: put_int(out, 1); return CU_OK;
    case HANDLE_TYPES: put_word(out, 0); return CU_OK;
    case RDMA_CAPABLE:
    case DECOMPRESS_CAPABLE: put_int(out, is_plain_device_memory(r)); return CU_OK;
    case ACCESS_FLAGS:
        put_int(out, r && r->read_only >> cuda_self.device & 1 ? CUDA_READ_ONLY : CUDA_READ_WRITE);
        return CU_OK;
    case MAPPING_SIZE:
        mapping_of(r, &start, &size);
        put_word(out, size);
        return CU_OK;
    case MAPPING_START:
        mapping_of(r, &start, &size);
        put_word(out, start);
        return CU_OK;
    case BLOCK_ID: put_word(out, r ? r->id : 1); return CU_OK;
    case POOL: put_word(out, r ? (uintptr_t)cuda_pool_of(r->address) : 0); return CU_OK;
    default: return CU_INVALID_VALUE;
    }
}

/* Absent attributes of a pointer are zero; its size is left unchanged. */
int pl_cuPointerGetAttributes(unsigned n, const int *attribute, void **out, uint64_t address)
{
    if (!n || !attribute || !out) return CU_INVALID_VALUE;
    for (unsigned k = 0; k < n; k++)
        if (pl_cuPointerGetAttribute(out[k], attribute[k], address)) {
            const int error = no_attribute(out[k], attribute[k]);
            if (error) return error;
        }
    return CU_OK;
}

int pl_cuPointerSetAttribute(const void *value, int attribute, uint64_t address)
{
    unsigned on;
    if (!value || attribute != SYNC_MEMOPS) return CU_INVALID_VALUE;
    memcpy(&on, value, sizeof on);
    if (!cuda_alloc_find(address)) {
        uint64_t start, size;
        if (!cuda_variable_at(address, &start, &size)) return CU_INVALID_VALUE;
        if (!on) cuda_table_remove(&synchronous_variables, POINTER(start));
        return !on || cuda_table_put(&synchronous_variables, POINTER(start), &cuda)
                   ? CU_OK
                   : CU_MEMORY_ALLOCATION;
    }
    return cuda_alloc_mark(address, on != 0) ? CU_OK : CU_INVALID_VALUE;
}
