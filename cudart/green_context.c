/* green_context.c - green contexts: subsets of the SMs of a device. Their memory and modules belong
 * to the primary context. Only streams are their own, whose kernels run on this subset of the SMs.
 *
 * A resource is a set of SMs. It is split into groups of a size that the hardware can partition. A
 * descriptor joins groups of one split, and a green context has the SMs of a descriptor. */
#include "cudart/graph.h"
#include "cudart/green_context.h"
#include <stdlib.h>
#include <string.h>

enum {
    SM_RESOURCE = 1,
    MIN_GROUP_SMS = 8,  /* SMs of a group, from compute capability 9.0 on */
    DEFAULT_STREAM = 1, /* CUgreenCtxCreate_flags */
    /* CUdevSmResourceSplit_flags */
    IGNORE_COSCHEDULING = 1,
    LARGEST_CLUSTERS = 2, /* without effect on an H200 */
    ALL_SPLIT_FLAGS = IGNORE_COSCHEDULING | LARGEST_CLUSTERS,
    INVALID_RESOURCE_TYPE = 914,
    INVALID_RESOURCE_CONFIGURATION = 915
};

/* CUdevResourceDesc: never freed, since the API has no call that destroys one. */
typedef struct descriptor {
    cuda_sm_set r;
} descriptor;

static cuda_table greens, descriptors;
static unsigned splits;

static bool contains_sm(const cuda_sm_set *r, unsigned sm)
{
    return r->bit[sm / 64] >> sm % 64 & 1;
}

/* ---------------------------------------------------------------- resources */

/* Minimum and alignment of the number of SMs in a group (cuda.h, green contexts). */
static void granularity(unsigned flags, unsigned *min_sms, unsigned *alignment)
{
    const unsigned capability = cuda_capability();
    *min_sms = capability >= 90 ? 8 : capability >= 80 ? 4 : 2;
    *alignment = capability >= 90 ? 8 : 2;
    if (flags & IGNORE_COSCHEDULING) *min_sms = *alignment = 2;
}

static int device_resource(int device, cuda_sm_set *r)
{
    const unsigned n = cuda.device[device].sms;
    if (n > CUDA_SM_WORDS * 64) return CU_NOT_SUPPORTED;
    *r = (cuda_sm_set){.type = SM_RESOURCE, .device = device, .sms = n};
    for (unsigned k = 0; k < n; k++) r->bit[k / 64] |= UINT64_C(1) << k % 64;
    granularity(0, &r->min_sms, &r->alignment);
    return CU_OK;
}

int pl_cuDeviceGetDevResource(int device, void *out, int type)
{
    if (!out) return CU_INVALID_VALUE;
    if (!cuda_is_device(device)) return CU_INVALID_DEVICE;
    return type == SM_RESOURCE ? device_resource(device, out) : INVALID_RESOURCE_TYPE;
}

static int green_resource(const cuda_green *g, void *out, int type)
{
    if (!out) return CU_INVALID_VALUE;
    if (type != SM_RESOURCE) return INVALID_RESOURCE_TYPE;
    memcpy(out, &g->r, sizeof g->r);
    return CU_OK;
}

int pl_cuCtxGetDevResource(void *handle, void *out, int type)
{
    const cuda_context *c = cuda_context_of(handle);
    if (!c) return CU_INVALID_CONTEXT;
    return c->green ? green_resource(c->green, out, type)
                    : pl_cuDeviceGetDevResource(c->device, out, type);
}

static cuda_green *green_context_of(void *handle)
{
    return handle ? cuda_table_get(&greens, handle) : NULL;
}

int pl_cuGreenCtxGetDevResource(void *handle, void *out, int type)
{
    const cuda_green *g = green_context_of(handle);
    return g ? green_resource(g, out, type) : CU_INVALID_CONTEXT;
}

/* Removes n SMs from a set and returns them as a set. */
static cuda_sm_set take_sms(cuda_sm_set *from, unsigned n)
{
    cuda_sm_set r = *from;
    memset(r.bit, 0, sizeof r.bit);
    r.sms = n;
    r.split = splits;
    r.min_sms = r.alignment = 0;
    from->sms -= n;
    for (unsigned k = 0; n && k < CUDA_SM_WORDS * 64; k++) {
        if (!contains_sm(from, k)) continue;
        from->bit[k / 64] &= ~(UINT64_C(1) << k % 64);
        r.bit[k / 64] |= UINT64_C(1) << k % 64;
        n--;
    }
    return r;
}

/* Returns the maximum number of groups. A group of the minimum size lies within one part of the
 * GPU (H200). */
static unsigned max_groups(const cuda_sm_set *r, unsigned size, unsigned flags)
{
    const unsigned limit = r->sms / size, device_sms = cuda.device[r->device].sms;
    const unsigned groups_in_parts = pl_gpu_clusters(cuda.device[r->device].gpu, 1, size);
    if (flags & IGNORE_COSCHEDULING || size != MIN_GROUP_SMS || r->sms != device_sms) return limit;
    return groups_in_parts < limit ? groups_in_parts : limit;
}

int pl_cuDevSmResourceSplitByCount(void *result, unsigned *groups, const void *input,
                                   void *remaining, unsigned flags, unsigned count)
{
    cuda_sm_set rest, *out = result;
    unsigned min_sms, alignment;
    if (!groups || !input || (flags & ALL_SPLIT_FLAGS) == ALL_SPLIT_FLAGS || (out && !*groups))
        return CU_INVALID_VALUE;
    memcpy(&rest, input, sizeof rest);
    if (rest.type != SM_RESOURCE) return INVALID_RESOURCE_TYPE;
    if (rest.split) return INVALID_RESOURCE_CONFIGURATION;
    if (count > rest.sms) return INVALID_RESOURCE_CONFIGURATION;
    granularity(flags, &min_sms, &alignment);
    const unsigned requested =
                       (unsigned)cuda_round_up(count > min_sms ? count : min_sms, alignment),
                   size = requested < rest.sms ? requested : rest.sms,
                   most = max_groups(&rest, size, flags),
                   n = out && *groups < most ? *groups : most;
    *groups = n;
    if (!out) return CU_OK;
    splits++;
    for (unsigned k = 0; k < n; k++) out[k] = take_sms(&rest, size);
    rest.split = splits;
    rest.min_sms = rest.alignment = 0;
    if (!rest.sms) rest = (cuda_sm_set){.type = 0};
    if (remaining) memcpy(remaining, &rest, sizeof rest);
    return CU_OK;
}

/* Accepts a single resource, or several of the same split. */
int pl_cuDevResourceGenerateDesc(void **out, void *resources, unsigned n)
{
    const cuda_sm_set *r = resources;
    if (!out || !r || !n) return CU_INVALID_VALUE;
    cuda_sm_set all = r[0];
    for (unsigned k = 0; k < n; k++) {
        if (r[k].type != SM_RESOURCE) return INVALID_RESOURCE_TYPE;
        if (!cuda_is_device(r[k].device)) return CU_INVALID_VALUE;
        if (k && (r[k].device != all.device || r[k].split != all.split || !r[k].split))
            return INVALID_RESOURCE_CONFIGURATION;
        for (unsigned i = 0; i < CUDA_SM_WORDS; i++) all.bit[i] |= r[k].bit[i];
    }
    all.sms = 0;
    for (unsigned i = 0; i < CUDA_SM_WORDS; i++)
        all.sms += (unsigned)__builtin_popcountll(all.bit[i]);
    descriptor *d = calloc(1, sizeof *d);
    if (!d || !cuda_table_put(&descriptors, d, d)) {
        free(d);
        return CU_MEMORY_ALLOCATION;
    }
    d->r = all;
    *out = d;
    return CU_OK;
}

/* ---------------------------------------------------------------- contexts */

int pl_cuGreenCtxCreate(void **out, void *desc, int device, unsigned flags)
{
    const descriptor *d = desc ? cuda_table_get(&descriptors, desc) : NULL;
    if (!out || !d || flags != DEFAULT_STREAM) return CU_INVALID_VALUE;
    if (!cuda_is_device(device)) return CU_INVALID_DEVICE;
    if (d->r.device != device) return CU_INVALID_VALUE;
    cuda_green *g = calloc(1, sizeof *g);
    if (!g) return CU_MEMORY_ALLOCATION;
    if (!cuda_table_put(&greens, g, g) || !cuda_register_context(&g->context)) {
        cuda_table_remove(&greens, g);
        free(g);
        return CU_MEMORY_ALLOCATION;
    }
    *g = (cuda_green){.r = d->r};
    g->r.split = 0; /* its resource can be split again */
    granularity(0, &g->r.min_sms, &g->r.alignment);
    g->context = (cuda_context){.device = device, .created = true, .green = g};
    void *primary;
    *out = g;
    return pl_cuDevicePrimaryCtxRetain(&primary, device);
}

/* Streams and graph nodes may still refer to the context, so its memory is not freed. */
int pl_cuGreenCtxDestroy(void *handle)
{
    cuda_green *g = green_context_of(handle);
    if (!g) return CU_INVALID_CONTEXT;
    cuda_table_remove(&greens, g);
    cuda_end_context(&g->context);
    return pl_cuDevicePrimaryCtxRelease_v2(g->context.device);
}

int pl_cuCtxFromGreenCtx(void **out, void *handle)
{
    cuda_green *g = green_context_of(handle);
    if (!out) return CU_INVALID_VALUE;
    if (!g) return CU_INVALID_CONTEXT;
    *out = &g->context;
    return CU_OK;
}

int pl_cuGreenCtxGetId(void *handle, uint64_t *id)
{
    const cuda_green *g = handle ? green_context_of(handle) : cuda_current_green();
    return g ? pl_cuCtxGetId((void *)(uintptr_t)&g->context, id) : CU_INVALID_CONTEXT;
}

int pl_cuGreenCtxStreamCreate(void **stream, void *handle, unsigned flags, int priority)
{
    cuda_green *g = green_context_of(handle);
    if (!stream || flags != CUDA_NON_BLOCKING) return CU_INVALID_VALUE;
    if (!g) return CU_INVALID_CONTEXT;
    cuda_stream *s = cuda_new_stream(flags, cuda_clamp_priority(priority));
    *stream = s;
    if (!s) return CU_MEMORY_ALLOCATION;
    s->context = &g->context;
    s->device = g->context.device;
    return CU_OK;
}

int pl_cuStreamGetGreenCtx(void *stream, void **out)
{
    const cuda_stream *s = cuda_stream_of(stream);
    if (!s) return CU_INVALID_HANDLE;
    if (!out) return CU_INVALID_VALUE;
    *out = cuda_stream_green(s);
    return CU_OK;
}

/* ---------------------------------------------------------------- events of all its streams */

/* Returns the streams of a context, in malloc memory. Those of a primary context include the
 * streams of all green contexts. */
static void **streams_of(cuda_context *c, size_t *n)
{
    void **list = malloc((cuda.streams.n + 1) * sizeof *list);
    *n = 0;
    if (!list) return NULL;
    if (!c->created) list[(*n)++] = cuda_legacy_handle;
    size_t at = 0;
    for (cuda_stream *s; (s = cuda_table_next(&cuda.streams, &at)) != NULL;)
        if (s->device == c->device && !s->node && (!c->created || s->context == c))
            list[(*n)++] = s;
    return list;
}

/* True if any of the streams is capturing; invalidates these captures. */
static bool invalidate_captures(void *const *list, size_t n)
{
    bool any = false;
    for (size_t k = 0; k < n; k++) {
        const cuda_stream *s = cuda_stream_of(list[k]);
        if (s->capture) any = s->capture->invalid = true;
    }
    return any;
}

/* Records the event in a new stream that waits for all streams of the list. */
static int record_all(void *const *list, size_t n, void *event)
{
    cuda_stream *s = cuda_new_stream(CUDA_NON_BLOCKING, 0);
    int error = s ? CU_OK : CU_MEMORY_ALLOCATION;
    for (size_t k = 0; k < n && !error; k++) {
        void *stream_event;
        error = pl_cudaEventCreateWithFlags(&stream_event, EVENT_NO_TIMING);
        if (error) break;
        error = pl_cudaEventRecord(stream_event, list[k]);
        if (!error) error = pl_cudaStreamWaitEvent(s, stream_event, 0);
        pl_cudaEventDestroy(stream_event);
    }
    if (!error) error = pl_cudaEventRecord(event, s);
    if (s) pl_cudaStreamDestroy(s);
    return error;
}

static int wait_all(void *const *list, size_t n, void *event)
{
    int error = CU_OK;
    for (size_t k = 0; k < n && !error; k++) error = pl_cudaStreamWaitEvent(list[k], event, 0);
    return error;
}

static int apply_to_streams(cuda_context *c, void *event,
                            int (*apply)(void *const *, size_t, void *))
{
    size_t n;
    if (!c) return CU_INVALID_CONTEXT;
    if (!event) return CU_INVALID_HANDLE;
    void **list = streams_of(c, &n);
    if (!list) return CU_MEMORY_ALLOCATION;
    const int previous = cuda_use_device(c->device);
    const int error = invalidate_captures(list, n) ? CU_CAPTURE_UNSUPPORTED : apply(list, n, event);
    cuda_use_device(previous);
    free(list);
    return error;
}

static cuda_context *context_of_green(void *handle)
{
    cuda_green *g = green_context_of(handle);
    return g ? &g->context : NULL;
}

int pl_cuGreenCtxRecordEvent(void *handle, void *event)
{
    return apply_to_streams(context_of_green(handle), event, record_all);
}

int pl_cuGreenCtxWaitEvent(void *handle, void *event)
{
    return apply_to_streams(context_of_green(handle), event, wait_all);
}

/* The event must be of the context. */
int pl_cuCtxRecordEvent(void *handle, void *event)
{
    const cuda_context *c = cuda_context_of(handle);
    const cuda_event *e = event ? cuda_table_get(&cuda.events, event) : NULL;
    if (c && e && e->context != (c->created ? c : NULL)) return CU_INVALID_HANDLE;
    return apply_to_streams(cuda_context_of(handle), event, record_all);
}

int pl_cuCtxWaitEvent(void *handle, void *event)
{
    return apply_to_streams(cuda_context_of(handle), event, wait_all);
}
