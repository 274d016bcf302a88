/* pool.c - memory pools and stream-ordered allocation.
 *
 * What is put into streams is executed in the order of the calls, so that an allocation is there
 * when its call returns and a release can be done at once. A pool only counts. */
#include "cudart/graph.h"
#include <stdlib.h>
#include <string.h>

enum {
    ATTRIBUTE_REUSE_FIRST = 1, /* three switches */
    ATTRIBUTE_THRESHOLD = 4,
    RESERVED_NOW = 5,
    RESERVED_HIGH = 6,
    USED_NOW = 7,
    USED_HIGH = 8,
    READ_WRITE = 3
};

typedef struct cuda_pool {
    int reuse[4]; /* by attribute */
    uint64_t threshold, used, high;
} cuda_pool;

static cuda_pool default_pool = {.reuse = {0, 1, 1, 1}}, *current = &default_pool;
static cuda_table owners; /* by address: the pool of an allocation */

static int take(cuda_pool *pool, void **out, size_t bytes)
{
    uint64_t address;
    if (!out) return CU_INVALID_VALUE;
    *out = NULL;
    if (!bytes) return CU_OK;
    const int error = cuda_alloc_device(bytes, true, &address);
    if (error) return error;
    *out = (void *)(uintptr_t)address;
    if (!cuda_table_put(&owners, *out, pool)) return CU_MEMORY_ALLOCATION;
    pool->used += bytes;
    if (pool->used > pool->high) pool->high = pool->used;
    return CU_OK;
}

static int take_in(cuda_pool *pool, void **out, size_t bytes, void *stream)
{
    cuda_stream *s = cuda_stream_of(stream);
    if (!s) return CU_INVALID_HANDLE;
    if (!s->capture) return take(pool, out, bytes);
    cuda_op op = {.kind = OP_ALLOC};
    const int error = out ? cuda_graph_memory_op(bytes, &op) : CU_INVALID_VALUE;
    if (error) return error;
    *out = (void *)(uintptr_t)op.u.memory->address;
    return cuda_submit(s, &op);
}

int pl_cudaMallocAsync(void **out, size_t bytes, void *stream)
{
    return take_in(current, out, bytes, stream);
}

int pl_cudaMallocFromPoolAsync(void **out, size_t bytes, void *pool, void *stream)
{
    return pool ? take_in(pool, out, bytes, stream) : CU_INVALID_VALUE;
}

int pl_cudaFreeAsync(void *p, void *stream)
{
    cuda_stream *s = cuda_stream_of(stream);
    if (!s) return CU_INVALID_HANDLE;
    if (!p) return CU_OK;
    if (s->capture) return cuda_capture_free(s, p);
    const cuda_alloc *a = cuda_alloc_find((uintptr_t)p);
    if (!a || a->address != (uintptr_t)p || a->type != MEMORY_DEVICE) return CU_INVALID_VALUE;
    cuda_pool *pool = cuda_table_get(&owners, p);
    if (pool) pool->used -= a->size;
    cuda_table_remove(&owners, p);
    return cuda_release((uintptr_t)p, 1u << MEMORY_DEVICE);
}

int pl_cudaDeviceGetDefaultMemPool(void **out, int device)
{
    if (!out) return CU_INVALID_VALUE;
    *out = &default_pool;
    return device == 0 ? CU_OK : CU_INVALID_DEVICE;
}

int pl_cudaDeviceGetMemPool(void **out, int device)
{
    if (!out) return CU_INVALID_VALUE;
    *out = current;
    return device == 0 ? CU_OK : CU_INVALID_DEVICE;
}

int pl_cudaDeviceSetMemPool(int device, void *pool)
{
    if (device != 0) return CU_INVALID_DEVICE;
    if (!pool) return CU_INVALID_VALUE;
    current = pool;
    return CU_OK;
}

int pl_cudaMemPoolCreate(void **out, const void *properties)
{
    if (!out || !properties) return CU_INVALID_VALUE;
    cuda_pool *pool = malloc(sizeof *pool);
    if (!pool) return CU_MEMORY_ALLOCATION;
    *pool = (cuda_pool){.reuse = {0, 1, 1, 1}};
    *out = pool;
    return CU_OK;
}

int pl_cudaMemPoolDestroy(void *pool)
{
    if (!pool || pool == &default_pool) return CU_INVALID_VALUE;
    if (current == pool) current = &default_pool;
    for (size_t k = 0; k < owners.cap; k++) /* what is left of it lives on in the default pool */
        if (owners.slot[k].key && owners.slot[k].value == pool)
            owners.slot[k].value = &default_pool;
    free(pool);
    return CU_OK;
}

int pl_cudaMemPoolGetAttribute(void *handle, int attribute, void *value)
{
    const cuda_pool *pool = handle;
    if (!pool || !value || attribute < ATTRIBUTE_REUSE_FIRST || attribute > USED_HIGH)
        return CU_INVALID_VALUE;
    if (attribute < ATTRIBUTE_THRESHOLD) {
        memcpy(value, &pool->reuse[attribute], sizeof(int));
        return CU_OK;
    }
    const uint64_t n = attribute == ATTRIBUTE_THRESHOLD                     ? pool->threshold
                       : attribute == RESERVED_NOW || attribute == USED_NOW ? pool->used
                                                                            : pool->high;
    memcpy(value, &n, sizeof n);
    return CU_OK;
}

int pl_cudaMemPoolSetAttribute(void *handle, int attribute, void *value)
{
    cuda_pool *pool = handle;
    if (!pool || !value || attribute < ATTRIBUTE_REUSE_FIRST || attribute > USED_HIGH)
        return CU_INVALID_VALUE;
    if (attribute < ATTRIBUTE_THRESHOLD)
        memcpy(&pool->reuse[attribute], value, sizeof(int));
    else if (attribute == ATTRIBUTE_THRESHOLD)
        memcpy(&pool->threshold, value, sizeof pool->threshold);
    else if (attribute == RESERVED_HIGH || attribute == USED_HIGH)
        pool->high = pool->used;
    else
        return CU_INVALID_VALUE;
    return CU_OK;
}

int pl_cudaMemPoolTrimTo(void *pool, size_t bytes)
{
    (void)bytes;
    return pool ? CU_OK : CU_INVALID_VALUE;
}

int pl_cudaMemPoolSetAccess(void *pool, const void *access, size_t n)
{
    return pool && (access || !n) ? CU_OK : CU_INVALID_VALUE;
}

int pl_cudaMemPoolGetAccess(int *flags, void *pool, void *location)
{
    if (!flags || !pool || !location) return CU_INVALID_VALUE;
    *flags = READ_WRITE;
    return CU_OK;
}
