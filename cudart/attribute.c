/* attribute.c - attributes of streams and kernel nodes are stored; priorities affect the
 * application's clock. */
#include "cudart/graph.h"
#include <string.h>

enum {
    SYNC_POLICY = 3, /* cudaLaunchAttributeID */
    DOMAIN_MAP = 9,
    DOMAIN = 10,
    CARVEOUT = 14,
    NVLINK_SCHEDULING = 16 /* can be set, but not read */
};

static bool is_stream_attribute(int attribute)
{
    return attribute == ATTRIBUTE_ACCESS_POLICY || attribute == SYNC_POLICY ||
           attribute == ATTRIBUTE_PRIORITY || attribute == DOMAIN_MAP || attribute == DOMAIN;
}

int cuda_check_attribute(int attribute, const void *value)
{
    enum { DOMAINS = 4, MAX_CARVEOUT = 100 };
    const unsigned char *map = value;
    int number;
    memcpy(&number, value, sizeof number);
    switch (attribute) {
    case ATTRIBUTE_ACCESS_POLICY: return cuda_check_window(value);
    case ATTRIBUTE_POLICY:
        return number < 0 || number > LAST_CLUSTER_POLICY ? CU_INVALID_VALUE : CU_OK;
    case DOMAIN_MAP: return map[0] >= DOMAINS || map[1] >= DOMAINS ? CU_INVALID_VALUE : CU_OK;
    case DOMAIN: return number < 0 || number > 1 ? CU_INVALID_VALUE : CU_OK;
    case CARVEOUT: return number < 0 || number > MAX_CARVEOUT ? CU_INVALID_VALUE : CU_OK;
    default: return CU_OK;
    }
}

/* CU_OK if the value is valid for a stream. */
static int check_stream_value(int attribute, const void *value)
{
    enum { FIRST_POLICY = 1, LAST_POLICY = 4 };
    int number;
    memcpy(&number, value, sizeof number);
    if (attribute == SYNC_POLICY && (number < FIRST_POLICY || number > LAST_POLICY))
        return CU_INVALID_VALUE;
    return cuda_check_attribute(attribute, value);
}

int pl_cudaStreamGetAttribute(void *stream, int attribute, void *value)
{
    const cuda_stream *s = cuda_stream_of(stream);
    if (!s) return CU_INVALID_HANDLE;
    const int error =
        is_stream_attribute(attribute) ? cuda_get_attribute(s, attribute, value) : CU_INVALID_VALUE;
    if (!error && attribute == ATTRIBUTE_PRIORITY) memcpy(value, &s->priority, sizeof s->priority);
    return error;
}

int pl_cudaStreamSetAttribute(void *stream, int attribute, const void *value)
{
    cuda_stream *s = cuda_stream_of(stream);
    int priority;
    if (!s) return CU_INVALID_HANDLE;
    if (!value || !is_stream_attribute(attribute)) return CU_INVALID_VALUE;
    const int error = check_stream_value(attribute, value);
    if (error) return error;
    memcpy(&priority, value, sizeof priority);
    if (attribute == ATTRIBUTE_PRIORITY) s->priority = cuda_clamp_priority(priority);
    return cuda_set_attribute(s, attribute, value);
}

int pl_cudaStreamCopyAttributes(void *to, void *from)
{
    cuda_stream *a = cuda_stream_of(to);
    const cuda_stream *b = cuda_stream_of(from);
    if (!a || !b) return CU_INVALID_HANDLE;
    a->priority = b->priority;
    return cuda_copy_attributes(a, b);
}

static bool is_kernel(const cuda_node *x)
{
    return x && x->op.kind == OP_KERNEL;
}

/* The others apply to launches or streams only. */
static bool is_node_attribute(int attribute)
{
    return attribute != SYNC_POLICY && attribute != ATTRIBUTE_SERIALIZATION &&
           attribute != ATTRIBUTE_EVENT && attribute != ATTRIBUTE_PREFERRED_CLUSTER &&
           attribute != ATTRIBUTE_COMPLETION_EVENT && attribute != ATTRIBUTE_RESERVED;
}

/* cudaLaunchAttributeValue.deviceUpdatableKernelNode */
typedef struct updatable {
    int on;
    uint64_t handle;
} updatable;

/* Reads the attributes that are stored in the launch of a node. */
static void read_launch(const cuda_node *x, int attribute, void *value)
{
    const cuda_launch *l = &x->op.u.kernel.l;
    const updatable u = {x->updatable != 0, x->updatable};
    int cooperative;
    switch (attribute) {
    case ATTRIBUTE_PRIORITY: memcpy(value, &l->priority, sizeof l->priority); break;
    case ATTRIBUTE_COOPERATIVE: /* any number that the program has set remains */
        memcpy(&cooperative, value, sizeof cooperative);
        if ((cooperative != 0) != l->cooperative) cooperative = l->cooperative;
        memcpy(value, &cooperative, sizeof cooperative);
        break;
    case ATTRIBUTE_CLUSTER: memcpy(value, l->cluster, sizeof l->cluster); break;
    case ATTRIBUTE_UPDATABLE: memcpy(value, &u, sizeof u); break;
    default: break;
    }
}

/* Copies the bytes of a value; the others of the program's union remain (H100). */
static void copy_value(int attribute, char *to, const char *from)
{
    enum { WINDOW_BYTES = 32, CLUSTER_BYTES = 12, MAP_BYTES = 2 };
    const size_t handle = offsetof(updatable, handle);
    memcpy(to, from,
           attribute == ATTRIBUTE_ACCESS_POLICY ? WINDOW_BYTES
           : attribute == ATTRIBUTE_CLUSTER     ? CLUSTER_BYTES
           : attribute == DOMAIN_MAP            ? MAP_BYTES
                                                : sizeof(int));
    if (attribute == ATTRIBUTE_UPDATABLE) memcpy(to + handle, from + handle, sizeof(uint64_t));
}

int pl_cudaGraphKernelNodeGetAttribute(void *node, int attribute, void *value)
{
    const cuda_node *x = node;
    const bool valid =
        is_kernel(node) && is_node_attribute(attribute) && attribute != NVLINK_SCHEDULING;
    char stored[CUDA_ATTRIBUTE_BYTES];
    const int error =
        valid && value ? cuda_get_attribute(node, attribute, stored) : CU_INVALID_VALUE;
    if (error) return error;
    read_launch(x, attribute, stored);
    copy_value(attribute, value, stored);
    return CU_OK;
}

/* A node remains updatable by kernels. Its handle is stored in the value. */
static int set_updatable(cuda_node *x, const void *value)
{
    updatable u;
    memcpy(&u, value, sizeof u);
    if (u.on < 0 || u.on > 1) return CU_INVALID_VALUE;
    if (x->updatable && !u.on) return CU_NOT_SUPPORTED;
    if (!u.on) return CU_OK;
    u.handle = cuda_enable_updates(x);
    memcpy((void *)(uintptr_t)value, &u, sizeof u);
    return CU_OK;
}

/* 0, 0, 0 means no cluster. */
static bool is_shape(const unsigned *cluster)
{
    return cluster[0] || cluster[1] || cluster[2];
}

/* The node must remain a valid launch. */
static int check_cluster(const cuda_node *x, const void *value)
{
    cuda_launch l = x->op.u.kernel.l;
    uint32_t blocks;
    memcpy(l.cluster, value, sizeof l.cluster);
    l.clustered = is_shape(l.cluster);
    return cuda_check_launch(x->op.u.kernel.f, &l, &blocks);
}

int pl_cudaGraphKernelNodeSetAttribute(void *node, int attribute, const void *value)
{
    cuda_node *x = node;
    int number;
    if (!value || !is_kernel(x) || !is_node_attribute(attribute)) return CU_INVALID_VALUE;
    int error = attribute == ATTRIBUTE_CLUSTER  ? check_cluster(x, value)
                : attribute == ATTRIBUTE_POLICY ? CU_OK /* the value is not checked (H100) */
                                                : cuda_check_attribute(attribute, value);
    if (!error) error = cuda_set_attribute(node, attribute, value);
    if (error) return error;
    cuda_launch *l = &x->op.u.kernel.l;
    memcpy(&number, value, sizeof number);
    switch (attribute) {
    case ATTRIBUTE_PRIORITY:
        l->priority = cuda_clamp_priority(number);
        l->prioritised = true;
        return CU_OK;
    case ATTRIBUTE_COOPERATIVE: l->cooperative = number != 0; return CU_OK;
    case ATTRIBUTE_CLUSTER:
        memcpy(l->cluster, value, sizeof l->cluster);
        l->clustered = is_shape(l->cluster);
        return CU_OK;
    case ATTRIBUTE_UPDATABLE: return set_updatable(x, value);
    default: return CU_OK;
    }
}

int pl_cudaGraphKernelNodeCopyAttributes(void *to, void *from)
{
    const cuda_node *x = from;
    cuda_node *y = to;
    if (!is_kernel(x) || !is_kernel(y) || x->updatable || y->updatable) return CU_INVALID_VALUE;
    const cuda_launch *l = &x->op.u.kernel.l;
    cuda_launch *m = &y->op.u.kernel.l;
    m->priority = l->priority;
    m->prioritised = l->prioritised;
    m->cooperative = l->cooperative;
    m->clustered = l->clustered;
    memcpy(m->cluster, l->cluster, sizeof m->cluster);
    return cuda_copy_attributes(to, from);
}
