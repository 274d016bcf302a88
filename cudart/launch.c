/* launch.c - kernel launches: the calls that configure and launch. */
#include "cudart/activity.h"
#include "cudart/blocked.h"
#include "cudart/graph.h"
#include "cudart/green_context.h"
#include <string.h>

/* The driver's launch has 32 bits for the size of dynamic shared memory; higher ones are lost. */
static int launch(const void *function, const cuda_launch *l, void *const *args, void *stream)
{
    cuda_function *f;
    cuda_op op = {.kind = OP_KERNEL, .u.kernel.l = *l};
    op.u.kernel.l.shared &= UINT32_MAX;
    cuda_stream *s = cuda_stream_of(stream);
    /* The device on which it runs, whether or not it is current. */
    const int previous = cuda_use_device(s ? s->device : cuda_self.device);
    int error = cuda_function_of(function, &f);
    cuda_use_device(previous);
    if (error) return error;
    if (!s) return CU_INVALID_HANDLE;
    if (cuda.options.log) cuda_self.kernel = cuda_shown_name(f);
    op.u.kernel.f = f;
    op.u.kernel.device = s->device;
    op.u.kernel.l.green = cuda_stream_green(s);
    error = cuda_copy_arguments(f, args, &op.u.kernel.params);
    return error ? error : cuda_submit(s, &op);
}

/* ---------------------------------------------------------------- the calls */

unsigned pl___cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream)
{
    enum { MAX_DEPTH = sizeof cuda_self.configuration / sizeof *cuda_self.configuration };
    if (cuda_self.depth == MAX_DEPTH) return CU_MISSING_CONFIGURATION;
    cuda_self.configuration[cuda_self.depth++] =
        (struct cuda_configuration){grid, block, shared, stream};
    return 0;
}

int pl___cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
    if (!cuda_self.depth) return CU_MISSING_CONFIGURATION;
    const struct cuda_configuration *c = &cuda_self.configuration[--cuda_self.depth];
    *grid = c->grid;
    *block = c->block;
    *shared = c->shared;
    memcpy(stream, &c->stream, sizeof c->stream);
    return CU_OK;
}

int pl_cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **args, size_t shared,
                        void *stream)
{
    const cuda_launch l = {.grid = grid, .block = block, .shared = shared};
    return launch(function, &l, args, stream);
}

int pl___cudaLaunchKernel(void *kernel, dim3 grid, dim3 block, void **args, size_t shared,
                          void *stream)
{
    return pl_cudaLaunchKernel(kernel, grid, block, args, shared, stream);
}

int pl_cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block, void **args,
                                   size_t shared, void *stream)
{
    const cuda_launch l = {.grid = grid, .block = block, .shared = shared, .cooperative = true};
    return launch(function, &l, args, stream);
}

/* cudaAccessPolicyWindow */
typedef struct policy_window {
    void *base;
    size_t bytes;
    float ratio;
    int hit, miss;
} policy_window;

int cuda_check_window(const void *value)
{
    enum { PERSISTING = 2, MAX_WINDOW = 109 }; /* cudaAccessProperty, cudaDeviceAttr */
    policy_window w;
    int max_bytes = 0;
    memcpy(&w, value, sizeof w);
    pl_cudaDeviceGetAttribute(&max_bytes, MAX_WINDOW, cuda_self.device);
    return !(w.ratio >= 0 && w.ratio <= 1) || w.miss == PERSISTING || w.bytes > (size_t)max_bytes
               ? CU_INVALID_VALUE
               : CU_OK;
}

/* Further results of a launch: the event that it records, and the location for the handle of its
 * graph node; or NULL. */
typedef struct launch_extras {
    void *event, *node_handle;
    bool updatable;        /* the attribute is given, on or off */
    bool at_start;         /* the event waits for the start of the kernel, not for its end */
    bool external;         /* the event is recorded by a node of its own, in a capture only */
    unsigned preferred[3]; /* cluster shape */
} launch_extras;

static int event_error(const cuda_event *e)
{
    if (!e) return CU_INVALID_HANDLE;
    return e->flags & EVENT_NO_TIMING ? CU_OK : CU_NOT_SUPPORTED;
}

static int apply_attribute(const cuda_launch_attribute *a, cuda_launch *l, launch_extras *b)
{
    switch (a->id) {
    case ATTRIBUTE_COOPERATIVE: l->cooperative = a->value.number != 0; return CU_OK;
    case ATTRIBUTE_CLUSTER:
        memcpy(l->cluster, a->value.cluster, sizeof l->cluster);
        l->clustered = l->cluster[0] || l->cluster[1] || l->cluster[2]; /* 0, 0, 0: no attribute */
        return CU_OK;
    case ATTRIBUTE_PREFERRED_CLUSTER:
        memcpy(b->preferred, a->value.cluster, sizeof b->preferred);
        return CU_OK;
    case ATTRIBUTE_SERIALIZATION: l->dependent = a->value.number != 0; return CU_OK;
    case ATTRIBUTE_SYNC_POLICY:
    case ATTRIBUTE_RESERVED: return CU_INVALID_VALUE; /* not attributes of launches */
    case ATTRIBUTE_PRIORITY:
        l->prioritised = true;
        l->priority = cuda_clamp_priority((int)a->value.number);
        return CU_OK;
    case ATTRIBUTE_EVENT:
    case ATTRIBUTE_COMPLETION_EVENT:
        if (a->value.event.flags & ~1) return CU_INVALID_VALUE;
        b->event = a->value.event.event;
        b->external = a->value.event.flags != 0;
        b->at_start = a->id == ATTRIBUTE_COMPLETION_EVENT || a->value.event.at_start;
        return event_error(cuda_table_get(&cuda.events, b->event));
    case ATTRIBUTE_UPDATABLE: /* a flag, followed by the returned handle */
        b->updatable = true;
        if (a->value.number)
            b->node_handle = (void *)(uintptr_t)(a->value.bytes + sizeof(uint64_t));
        return a->value.number > 1 ? CU_INVALID_VALUE : CU_OK;
    default:
        return a->id < 0 || a->id > LAST_ATTRIBUTE ? CU_INVALID_VALUE
                                                   : cuda_check_attribute(a->id, a->value.bytes);
    }
}

/* A preferred cluster consists of whole clusters of the shape that the launch specifies. */
static bool is_valid_preference(const unsigned *preferred, const cuda_launch *l)
{
    if (!preferred[0] && !preferred[1] && !preferred[2]) return true;
    for (int k = 0; k < 3; k++)
        if (!l->cluster[k] || preferred[k] % l->cluster[k]) return false;
    return true;
}

int pl_cudaLaunchKernelExC(const cuda_launch_config *c, const void *function, void **args)
{
    if (!c || (c->attributes && !c->attribute)) return CU_INVALID_VALUE;
    cuda_launch l = {.grid = c->grid, .block = c->block, .shared = c->shared};
    launch_extras b = {.event = NULL};
    for (unsigned k = 0; k < c->attributes; k++) {
        const int error = apply_attribute(&c->attribute[k], &l, &b);
        if (error) return error;
    }
    if (!is_valid_preference(b.preferred, &l)) return CU_INVALID_CLUSTER;
    cuda_stream *s = cuda_stream_of(c->stream);
    if (b.updatable && s && !s->capture) return CU_NOT_SUPPORTED;
    if (b.external && s && !s->capture) return CU_ILLEGAL_STATE;
    const bool starts = s && !s->capture && !cuda_is_blocked(s);
    const int error = launch(function, &l, args, c->stream);
    if (error) return error;
    if (b.event && b.at_start && starts && cuda_is_blocked(s)) { /* the kernel polls memory */
        cuda_record_event(s, b.event);
        return CU_OK;
    }
    if (b.node_handle && s) {
        const uint64_t handle = cuda_enable_updates(cuda_capture_last(s));
        memcpy(b.node_handle, &handle, sizeof handle);
    }
    return b.event ? pl_cudaEventRecordWithFlags(b.event, c->stream, b.external) : CU_OK;
}
