/* attribute.c - attributes of streams and kernel nodes: remembered; priorities count on the
 * application's clock. */
#include "cudart/graph.h"
#include <stdlib.h>
#include <string.h>

enum {
    VALUE_BYTES = 64,
    ATTRIBUTES = 17,
    SYNC_POLICY = 3, /* cudaLaunchAttributeID */
    DOMAIN_MAP = 9,
    DOMAIN = 10
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
    if (v && cuda_table_put(&values, key, v)) {
        const int none = -1, remote = 1;
        memcpy(v->value[SYNC_POLICY], &none, sizeof none);
        v->value[DOMAIN_MAP][1] = (char)remote;
        return v;
    }
    free(v);
    return NULL;
}

void cuda_forget_attributes(const void *key)
{
    cuda_values *v = cuda_table_get(&values, key);
    if (!v) return;
    cuda_table_remove(&values, key);
    free(v);
}

static int get(const void *key, int attribute, void *value)
{
    if (!value || attribute < 1 || attribute >= ATTRIBUTES) return CU_INVALID_VALUE;
    const cuda_values *v = values_of(key, true);
    if (!v) return CU_MEMORY_ALLOCATION;
    memcpy(value, v->value[attribute], VALUE_BYTES);
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

static bool of_streams(int attribute)
{
    return attribute == ATTRIBUTE_ACCESS_POLICY || attribute == SYNC_POLICY ||
           attribute == ATTRIBUTE_PRIORITY || attribute == DOMAIN_MAP || attribute == DOMAIN;
}

/* CU_OK when a stream can have that value. */
static int check(int attribute, const void *value)
{
    enum { FIRST_POLICY = 1, LAST_POLICY = 4 };
    int number;
    memcpy(&number, value, sizeof number);
    if (attribute == ATTRIBUTE_ACCESS_POLICY) return cuda_check_window(value);
    return attribute == SYNC_POLICY && (number < FIRST_POLICY || number > LAST_POLICY)
               ? CU_INVALID_VALUE
               : CU_OK;
}

int pl_cudaStreamGetAttribute(void *stream, int attribute, void *value)
{
    const cuda_stream *s = cuda_stream_of(stream);
    if (!s) return CU_INVALID_HANDLE;
    const int error = of_streams(attribute) ? get(s, attribute, value) : CU_INVALID_VALUE;
    if (!error && attribute == ATTRIBUTE_PRIORITY) memcpy(value, &s->priority, sizeof s->priority);
    return error;
}

int pl_cudaStreamSetAttribute(void *stream, int attribute, const void *value)
{
    cuda_stream *s = cuda_stream_of(stream);
    int priority;
    if (!s) return CU_INVALID_HANDLE;
    if (!value || !of_streams(attribute)) return CU_INVALID_VALUE;
    const int error = check(attribute, value);
    if (error) return error;
    memcpy(&priority, value, sizeof priority);
    if (attribute == ATTRIBUTE_PRIORITY) s->priority = cuda_clamp_priority(priority);
    return set(s, attribute, value);
}

int pl_cudaStreamCopyAttributes(void *to, void *from)
{
    cuda_stream *a = cuda_stream_of(to);
    const cuda_stream *b = cuda_stream_of(from);
    if (!a || !b) return CU_INVALID_HANDLE;
    a->priority = b->priority;
    return copy(a, b);
}

static bool is_kernel(const cuda_node *x)
{
    return x && x->op.kind == OP_KERNEL;
}

int pl_cudaGraphKernelNodeGetAttribute(void *node, int attribute, void *value)
{
    const cuda_node *x = node;
    const int error = is_kernel(node) ? get(node, attribute, value) : CU_INVALID_VALUE;
    if (!error && attribute == ATTRIBUTE_PRIORITY)
        memcpy(value, &x->op.u.kernel.l.priority, sizeof x->op.u.kernel.l.priority);
    return error;
}

int pl_cudaGraphKernelNodeSetAttribute(void *node, int attribute, const void *value)
{
    cuda_node *x = node;
    int priority;
    const int error = is_kernel(node) ? set(node, attribute, value) : CU_INVALID_VALUE;
    if (error || attribute != ATTRIBUTE_PRIORITY) return error;
    memcpy(&priority, value, sizeof priority);
    x->op.u.kernel.l.priority = cuda_clamp_priority(priority);
    x->op.u.kernel.l.prioritised = true;
    return CU_OK;
}

int pl_cudaGraphKernelNodeCopyAttributes(void *from, void *to)
{
    const cuda_node *x = from;
    cuda_node *y = to;
    if (!is_kernel(x) || !is_kernel(y)) return CU_INVALID_VALUE;
    y->op.u.kernel.l.priority = x->op.u.kernel.l.priority;
    y->op.u.kernel.l.prioritised = x->op.u.kernel.l.prioritised;
    return copy(to, from);
}
