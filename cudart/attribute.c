/* attribute.c - attributes of streams and kernel nodes, and of ranges of managed memory:
 * remembered, without effect on results. */
#include "cudart/graph.h"
#include <stdlib.h>
#include <string.h>

enum {
    VALUE_BYTES = 64,
    ATTRIBUTES = 16,
    PREFERRED_LOCATION = 2, /* cudaMemRangeAttribute */
    LAST_PREFETCH = 4
};

/* By stream or node; the values of all attributes. */
typedef struct cuda_values {
    char value[ATTRIBUTES][VALUE_BYTES];
} cuda_values;

static cuda_table values;

static cuda_values *values_of(const void *key, bool make)
{
    cuda_values *v = cuda_table_get(&values, key);
    if (v || !make) return v;
    v = calloc(1, sizeof *v);
    if (v && cuda_table_put(&values, key, v)) return v;
    free(v);
    return NULL;
}

static int get(const void *key, int attribute, void *value)
{
    if (!value || attribute < 1 || attribute >= ATTRIBUTES) return CU_INVALID_VALUE;
    const cuda_values *v = values_of(key, false);
    if (v)
        memcpy(value, v->value[attribute], VALUE_BYTES);
    else
        memset(value, 0, VALUE_BYTES);
    return CU_OK;
}

static int set(const void *key, int attribute, const void *value)
{
    if (!value || attribute < 1 || attribute >= ATTRIBUTES) return CU_INVALID_VALUE;
    cuda_values *v = values_of(key, true);
    if (!v) return CU_MEMORY_ALLOCATION;
    memcpy(v->value[attribute], value, VALUE_BYTES);
    return CU_OK;
}

static int copy(const void *to, const void *from)
{
    const cuda_values *v = values_of(from, false);
    cuda_values *w = v ? values_of(to, true) : NULL;
    if (v && !w) return CU_MEMORY_ALLOCATION;
    if (v) *w = *v;
    return CU_OK;
}

int pl_cudaStreamGetAttribute(void *stream, int attribute, void *value)
{
    const cuda_stream *s = cuda_stream_of(stream);
    return s ? get(s, attribute, value) : CU_INVALID_HANDLE;
}

int pl_cudaStreamSetAttribute(void *stream, int attribute, const void *value)
{
    const cuda_stream *s = cuda_stream_of(stream);
    return s ? set(s, attribute, value) : CU_INVALID_HANDLE;
}

int pl_cudaStreamCopyAttributes(void *to, void *from)
{
    const cuda_stream *a = cuda_stream_of(to), *b = cuda_stream_of(from);
    return a && b ? copy(a, b) : CU_INVALID_HANDLE;
}

static bool is_kernel(const cuda_node *x)
{
    return x && x->op.kind == OP_KERNEL;
}

int pl_cudaGraphKernelNodeGetAttribute(void *node, int attribute, void *value)
{
    return is_kernel(node) ? get(node, attribute, value) : CU_INVALID_VALUE;
}

int pl_cudaGraphKernelNodeSetAttribute(void *node, int attribute, const void *value)
{
    return is_kernel(node) ? set(node, attribute, value) : CU_INVALID_VALUE;
}

int pl_cudaGraphKernelNodeCopyAttributes(void *from, void *to)
{
    return from && to ? copy(to, from) : CU_INVALID_VALUE;
}

/* Nothing was advised or fetched: the answers of memory that nobody has said anything of. */
static int range(void *value, size_t bytes, int attribute)
{
    const int none = attribute >= PREFERRED_LOCATION && attribute <= LAST_PREFETCH ? -2 : 0;
    if (!value || attribute < 1 || bytes % sizeof none) return CU_INVALID_VALUE;
    for (size_t k = 0; k < bytes; k += sizeof none) memcpy((char *)value + k, &none, sizeof none);
    return CU_OK;
}

int pl_cudaMemRangeGetAttribute(void *value, size_t bytes, int attribute, const void *p, size_t n)
{
    (void)n;
    return p ? range(value, bytes, attribute) : CU_INVALID_VALUE;
}

int pl_cudaMemRangeGetAttributes(void **value, size_t *bytes, int *attribute, size_t count,
                                 const void *p, size_t n)
{
    (void)n;
    if (!value || !bytes || !attribute || !p) return CU_INVALID_VALUE;
    for (size_t k = 0; k < count; k++) {
        const int error = range(value[k], bytes[k], attribute[k]);
        if (error) return error;
    }
    return CU_OK;
}
