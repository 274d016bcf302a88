/* stream.c - streams and events on the application's clock.
 *
 * What is put into a stream is executed at once, in the order of the calls; the clock says when it
 * runs, and queries answer by it. */
#include "cudart/state.h"
#include <stdlib.h>

enum {
    LEGACY = 1, /* handles with a meaning of their own */
    PER_THREAD = 2,
    NON_BLOCKING = 1,
    LEAST_PRIORITY = 0,
    GREATEST_PRIORITY = -5,
    EVENT_FLAGS = 7,
    EVENT_NO_TIMING = 2
};

void *const cuda_legacy_handle = (void *)(uintptr_t)LEGACY;

static cuda_stream *new_stream(unsigned flags, int priority)
{
    cuda_stream *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    *s = (cuda_stream){
        .id = ++cuda.ids, .device = cuda_self.device, .flags = flags, .priority = priority};
    if (cuda_table_put(&cuda.streams, s, s)) return s;
    free(s);
    return NULL;
}

cuda_stream *cuda_stream_of(const void *handle)
{
    const uintptr_t h = (uintptr_t)handle;
    if (h == LEGACY || (h == 0 && !cuda_self.per_thread)) return &cuda_here()->legacy;
    if (h > PER_THREAD) return cuda_table_get(&cuda.streams, handle);
    cuda_stream **own = &cuda_self.stream[cuda_self.device];
    if (!*own) *own = new_stream(0, 0);
    return *own;
}

static bool blocking(const cuda_stream *s)
{
    return !(s->flags & NON_BLOCKING);
}

/* The latest of all blocking streams of a device, which its legacy stream waits for. */
static double all_ready(int device, bool every)
{
    double t = cuda.device[device].legacy.ready;
    for (size_t k = 0; k < cuda.streams.cap; k++) {
        const struct cuda_slot *slot = &cuda.streams.slot[k];
        const cuda_stream *s = slot->key ? cuda_table_get(&cuda.streams, (void *)slot->key) : NULL;
        if (s && s->device == device && (every || blocking(s)) && s->ready > t) t = s->ready;
    }
    return t;
}

double cuda_ready(const cuda_stream *s)
{
    const double at = cuda.now > s->ready ? cuda.now : s->ready;
    const cuda_stream *legacy = &cuda.device[s->device].legacy;
    const double barrier = s == legacy   ? all_ready(s->device, false)
                           : blocking(s) ? legacy->ready
                                         : 0;
    return barrier > at ? barrier : at;
}

cuda_span cuda_timeline(cuda_stream *s, double ns, double *unit)
{
    double at = cuda_ready(s);
    if (unit && *unit > at) at = *unit;
    s->ready = at + ns;
    s->host_function = false;
    if (unit) *unit = s->ready;
    return (cuda_span){at, s->ready};
}

double cuda_end_of(cuda_stream *s)
{
    if (!s) return all_ready(cuda_self.device, true);
    return s != &cuda.device[s->device].legacy ? s->ready : all_ready(s->device, false);
}

void cuda_wait(cuda_stream *s)
{
    cuda_clock_wait(cuda_end_of(s));
}

/* ---------------------------------------------------------------- streams */

int pl_cudaStreamCreateWithPriority(void **stream, unsigned flags, int priority)
{
    if (!stream || flags > NON_BLOCKING) return CU_INVALID_VALUE;
    if (priority > LEAST_PRIORITY) priority = LEAST_PRIORITY;
    if (priority < GREATEST_PRIORITY) priority = GREATEST_PRIORITY;
    *stream = new_stream(flags, priority);
    return *stream ? CU_OK : CU_MEMORY_ALLOCATION;
}

int pl_cudaStreamCreateWithFlags(void **stream, unsigned flags)
{
    return pl_cudaStreamCreateWithPriority(stream, flags, 0);
}

int pl_cudaStreamCreate(void **stream)
{
    return pl_cudaStreamCreateWithPriority(stream, 0, 0);
}

int pl_cudaStreamDestroy(void *stream)
{
    cuda_stream *s = cuda_stream_of(stream);
    if (!s || (uintptr_t)stream <= PER_THREAD) return CU_INVALID_HANDLE;
    cuda_stream *legacy = &cuda.device[s->device].legacy;
    if (s->ready > legacy->ready && blocking(s)) legacy->ready = s->ready;
    cuda_table_remove(&cuda.streams, s);
    free(s);
    return CU_OK;
}

int pl_cudaStreamSynchronize(void *stream)
{
    cuda_stream *s = cuda_stream_of(stream);
    if (!s) return CU_INVALID_HANDLE;
    if (s->capture) return cuda_capture_broken(s);
    cuda_wait(s);
    cuda_flush();
    return CU_OK;
}

int pl_cudaStreamQuery(void *stream)
{
    cuda_stream *s = cuda_stream_of(stream);
    if (!s) return CU_INVALID_HANDLE;
    if (s->capture) return cuda_capture_broken(s);
    const double end = cuda_end_of(s);
    const bool busy = end > cuda.now;
    cuda_clock_poll(end);
    cuda_flush();
    return busy ? CU_NOT_READY : CU_OK;
}

int pl_cudaDeviceSynchronize(void)
{
    const int error = cuda_capture_allows(CUDA_WAITS_FOR_DEVICE);
    if (error) return error;
    cuda_wait(NULL);
    cuda_flush();
    return cuda.sticky;
}

int pl_cudaStreamWaitEvent(void *stream, void *event, unsigned flags)
{
    cuda_stream *s = cuda_stream_of(stream);
    const cuda_event *e = event ? cuda_table_get(&cuda.events, event) : NULL;
    if (!s || !e) return CU_INVALID_HANDLE;
    if (flags > 1) return CU_INVALID_VALUE;
    if (e->capture || (s->capture && e->recorded)) return cuda_capture_wait(s, e);
    if (e->recorded && e->time > s->ready) s->ready = e->time;
    return CU_OK;
}

int pl_cudaStreamGetFlags(void *stream, unsigned *flags)
{
    const cuda_stream *s = cuda_stream_of(stream);
    if (!s) return CU_INVALID_HANDLE;
    if (!flags) return CU_INVALID_VALUE;
    *flags = s->flags;
    return CU_OK;
}

int pl_cudaStreamGetPriority(void *stream, int *priority)
{
    const cuda_stream *s = cuda_stream_of(stream);
    if (!s) return CU_INVALID_HANDLE;
    if (!priority) return CU_INVALID_VALUE;
    *priority = s->priority;
    return CU_OK;
}

int pl_cudaStreamGetId(void *stream, unsigned long long *id)
{
    const cuda_stream *s = cuda_stream_of(stream);
    if (!s) return CU_INVALID_HANDLE;
    if (!id) return CU_INVALID_VALUE;
    *id = s->id;
    return CU_OK;
}

int pl_cudaStreamGetDevice(void *stream, int *device)
{
    const cuda_stream *s = cuda_stream_of(stream);
    if (!s) return CU_INVALID_HANDLE;
    if (!device) return CU_INVALID_VALUE;
    *device = s->device;
    return CU_OK;
}

int pl_cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    if (least) *least = LEAST_PRIORITY;
    if (greatest) *greatest = GREATEST_PRIORITY;
    return CU_OK;
}

int pl_cudaStreamAttachMemAsync(void *stream, void *p, size_t bytes, unsigned flags)
{
    (void)p, (void)bytes, (void)flags;
    return cuda_stream_of(stream) ? CU_OK : CU_INVALID_HANDLE;
}

int pl_cudaLaunchHostFunc(void *stream, cuda_host_fn *fn, void *arg)
{
    cuda_stream *s = cuda_stream_of(stream);
    if (!s) return CU_INVALID_HANDLE;
    if (!fn) return CU_INVALID_VALUE;
    cuda_op op = {.kind = OP_HOST, .u.host = {fn, arg}};
    return cuda_submit(s, &op);
}

int pl_cudaStreamAddCallback(void *stream, cuda_callback_fn *fn, void *arg, unsigned flags)
{
    if (!cuda_stream_of(stream)) return CU_INVALID_HANDLE;
    if (!fn || flags) return CU_INVALID_VALUE;
    if (cuda_stream_of(stream)->capture) return cuda_capture_broken(cuda_stream_of(stream));
    cuda_host_leave();
    pthread_mutex_unlock(&cuda.lock);
    cuda_self.callback = true;
    fn(stream, CU_OK, arg);
    cuda_self.callback = false;
    pthread_mutex_lock(&cuda.lock);
    cuda_host_enter();
    return CU_OK;
}

/* ---------------------------------------------------------------- events */

static cuda_event *event_of(const void *handle)
{
    return handle ? cuda_table_get(&cuda.events, handle) : NULL;
}

int pl_cudaEventCreateWithFlags(void **event, unsigned flags)
{
    if (!event || flags > EVENT_FLAGS) return CU_INVALID_VALUE;
    cuda_event *e = calloc(1, sizeof *e);
    if (!e || !cuda_table_put(&cuda.events, e, e)) {
        free(e);
        return CU_MEMORY_ALLOCATION;
    }
    e->device = cuda_self.device;
    e->flags = flags;
    *event = e;
    return CU_OK;
}

int pl_cudaEventCreate(void **event)
{
    return pl_cudaEventCreateWithFlags(event, 0);
}

int pl_cudaEventDestroy(void *event)
{
    cuda_event *e = event_of(event);
    if (!e) return CU_INVALID_HANDLE;
    cuda_table_remove(&cuda.events, e);
    free(e);
    return CU_OK;
}

int pl_cudaEventRecordWithFlags(void *event, void *stream, unsigned flags)
{
    cuda_event *e = event_of(event);
    cuda_stream *s = cuda_stream_of(stream);
    if (!e || !s || e->device != s->device) return CU_INVALID_HANDLE;
    if (flags > 1) return CU_INVALID_VALUE;
    if (s->capture && !flags) return cuda_capture_record(s, e); /* 1: a node of its own */
    cuda_op op = {.kind = OP_RECORD, .u.event = e};
    return cuda_submit(s, &op);
}

int pl_cudaEventRecord(void *event, void *stream)
{
    return pl_cudaEventRecordWithFlags(event, stream, 0);
}

int pl_cudaEventSynchronize(void *event)
{
    const cuda_event *e = event_of(event);
    if (!e) return CU_INVALID_HANDLE;
    if (e->capture) return cuda_capture_event(e);
    if (e->recorded) cuda_clock_wait(e->time);
    cuda_flush();
    return CU_OK;
}

int pl_cudaEventQuery(void *event)
{
    const cuda_event *e = event_of(event);
    if (!e) return CU_INVALID_HANDLE;
    if (e->capture) return cuda_capture_event(e);
    const bool busy = e->recorded && e->time > cuda.now;
    if (e->recorded) cuda_clock_poll(e->time);
    cuda_flush();
    return busy ? CU_NOT_READY : CU_OK;
}

int pl_cudaEventElapsedTime(float *ms, void *from, void *to)
{
    const cuda_event *a = event_of(from), *b = event_of(to);
    if (!ms) return CU_INVALID_VALUE;
    if (!a || !b || a->device != b->device || !a->recorded || !b->recorded ||
        (a->flags | b->flags) & EVENT_NO_TIMING)
        return CU_INVALID_HANDLE;
    if (a->time > cuda.now || b->time > cuda.now) return CU_NOT_READY;
    *ms = (float)((b->time - a->time) * 1e-6);
    return CU_OK;
}
