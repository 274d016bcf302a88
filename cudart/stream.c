/* stream.c - streams and events on the application's clock.
 *
 * Stream operations are executed immediately, in call order; the clock determines when they run,
 * and queries report according to it. */
#include "cudart/blocked.h"
#include "cudart/checking.h"
#include "cudart/clock.h"
#include "cudart/graph.h"
#include <stdlib.h>

enum {
    LEAST_PRIORITY = 0,
    GREATEST_PRIORITY = -5,
    LEGACY_ID = 7, /* of the legacy stream (H100, driver 580) */
    EVENT_FLAGS = 7,
    ATTACH_GLOBAL = 1, /* cudaMemAttach... */
    ATTACH_HOST = 2,
    ATTACH_SINGLE = 4
};

/* ---------------------------------------------------------------- streams */

int cuda_clamp_priority(int priority)
{
    return priority > LEAST_PRIORITY      ? LEAST_PRIORITY
           : priority < GREATEST_PRIORITY ? GREATEST_PRIORITY
                                          : priority;
}

int pl_cudaStreamCreateWithPriority(void **stream, unsigned flags, int priority)
{
    if (!stream || flags > CUDA_NON_BLOCKING) return CU_INVALID_VALUE;
    *stream = NULL;
    if (cuda.sticky) return cuda.sticky;
    cuda_self.has_context = true;
    *stream = cuda_new_stream(flags, cuda_clamp_priority(priority));
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

static void end_stream(void *stream)
{
    cuda_stream *s = stream;
    cuda_stream *legacy = &cuda.device[s->device].legacy;
    if (s->ready > legacy->ready && cuda_blocking(s)) legacy->ready = s->ready;
    cuda_order_stream_ends(s);
    cuda_forget_attributes(s);
    free(s);
}

static int run_nothing(cuda_stream *s, void *what)
{
    (void)s;
    (void)what;
    return CU_OK;
}

/* Pending operations of the stream are still executed. */
int pl_cudaStreamDestroy(void *stream)
{
    cuda_stream *s = cuda_stream_of(stream);
    if (!s || (uintptr_t)stream <= CUDA_STREAM_PER_THREAD) return CU_INVALID_HANDLE;
    if (cuda.sticky) return cuda.sticky;
    cuda_table_remove(&cuda.streams, s);
    if (s->first)
        return cuda_defer(s, &(cuda_work){.run = run_nothing, .drop = end_stream, .what = s});
    end_stream(s);
    return CU_OK;
}

int pl_cudaStreamSynchronize(void *stream)
{
    cuda_stream *s = cuda_stream_of(stream);
    if (!s) return CU_INVALID_HANDLE;
    if (s->capture) return cuda_invalidate_capture(s);
    const bool legacy = s == &cuda.device[s->device].legacy;
    int error = legacy ? cuda_check_captures(CUDA_IN_LEGACY_STREAM) : CU_OK;
    if (!error) error = cuda_check_captures(CUDA_UNSAFE_CALL);
    if (error) return error;
    cuda_wait(s);
    cuda_flush();
    return cuda.sticky;
}

int pl_cudaStreamQuery(void *stream)
{
    cuda_stream *s = cuda_stream_of(stream);
    if (!s) return CU_INVALID_HANDLE;
    if (s->capture) {
        s->capture->invalid = true;
        return CU_CAPTURE_UNSUPPORTED;
    }
    const bool legacy = s == &cuda.device[s->device].legacy;
    int error = legacy ? cuda_check_captures(CUDA_IN_LEGACY_STREAM) : CU_OK;
    if (!error) error = cuda_check_captures(CUDA_UNSAFE_CALL);
    if (error) return error;
    cuda_progress_observed();
    const bool blocked = cuda_has_pending(s), ended = cuda_clock_poll(cuda_end_of(s)),
               busy = blocked || !ended;
    cuda_flush();
    if (!busy) cuda_order_host(s);
    return busy ? CU_NOT_READY : CU_OK;
}

int pl_cudaDeviceSynchronize(void)
{
    const int error = cuda_check_captures(CUDA_WAITS_FOR_DEVICE);
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
    if (s == &cuda.device[s->device].legacy) {
        const int implicit = cuda_check_captures(CUDA_IN_LEGACY_STREAM);
        if (implicit) return implicit;
    }
    if (flags > 1) return CU_INVALID_VALUE;
    if (flags && !s->capture) return CU_ILLEGAL_STATE;
    if (e->captured && !e->capture) {
        if (s->capture) s->capture->invalid = true;
        return CU_INVALID_VALUE;
    }
    if (flags) {
        cuda_op op = {.kind = OP_WAIT, .u.event = cuda_table_get(&cuda.events, event)};
        return cuda_submit(s, &op);
    }
    if (e->capture || (s->capture && e->recorded)) return cuda_capture_wait(s, e);
    if (e->mark || cuda_is_blocked(s)) return cuda_defer_wait(s, e);
    if (e->recorded && e->time > s->ready) s->ready = e->time;
    cuda_order_wait(s, e);
    return CU_OK;
}

int pl_cudaStreamGetFlags(void *stream, unsigned *flags)
{
    cuda_stream *s = cuda_stream_of(stream);
    if (!s) return CU_INVALID_HANDLE;
    if (!flags) return CU_INVALID_VALUE;
    if (s->capture) return cuda_invalidate_capture(s); /* H100 */
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
    *id = LEGACY_ID + s->id;
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
    cuda_stream *s = cuda_stream_of(stream);
    const cuda_alloc *a = cuda_alloc_find((uintptr_t)p);
    if (!s) return CU_INVALID_HANDLE;
    if (s->capture) return cuda_invalidate_capture(s);
    if (!p || (flags != ATTACH_GLOBAL && flags != ATTACH_HOST && flags != ATTACH_SINGLE) ||
        (flags == ATTACH_SINGLE && s == &cuda.device[s->device].legacy))
        return CU_INVALID_VALUE;
    if (a && a->type != MEMORY_MANAGED) return CU_INVALID_VALUE;
    return a && ((uintptr_t)p != a->address || (bytes && bytes != a->size))
               ? CU_INVALID_VALUE
               : cuda_check_captures(CUDA_UNSAFE_CALL);
}

int pl_cudaLaunchHostFunc(void *stream, cuda_host_fn *fn, void *arg)
{
    cuda_stream *s = cuda_stream_of(stream);
    if (!s) return CU_INVALID_HANDLE;
    if (!fn) return CU_INVALID_VALUE;
    cuda_op op = {.kind = OP_HOST, .u.host = {.fn = fn, .arg = arg}};
    if (cuda.fault) return cuda.sticky; /* it does not run */
    return cuda_submit(s, &op);
}

typedef struct callback {
    cuda_callback_fn *fn;
    void *stream, *arg;
} callback;

static void run_callback(void *arg)
{
    const callback c = *(callback *)arg;
    free(arg);
    c.fn(c.stream, cuda.fault, c.arg);
}

int pl_cudaStreamAddCallback(void *stream, cuda_callback_fn *fn, void *arg, unsigned flags)
{
    cuda_stream *s = cuda_stream_of(stream);
    if (!s) return CU_INVALID_HANDLE;
    if (!fn || flags) return CU_INVALID_VALUE;
    if (s->capture) return cuda_invalidate_capture(s);
    if (cuda.sticky) return cuda.sticky;
    callback *c = malloc(sizeof *c);
    if (!c) return CU_MEMORY_ALLOCATION;
    *c = (callback){fn, stream, arg};
    cuda_op op = {.kind = OP_HOST, .u.host = {run_callback, c, true}};
    if (cuda.fault) {
        cuda_call_host(run_callback, c); /* it gets the error */
        return CU_OK;
    }
    const int error = cuda_submit(s, &op);
    if (error) free(c);
    return error;
}

/* ---------------------------------------------------------------- events */

static cuda_event *event_of(const void *handle)
{
    return handle ? cuda_table_get(&cuda.events, handle) : NULL;
}

int pl_cudaEventCreateWithFlags(void **event, unsigned flags)
{
    if (!event || flags > EVENT_FLAGS || (flags & EVENT_INTERPROCESS && !(flags & EVENT_NO_TIMING)))
        return CU_INVALID_VALUE;
    if (cuda.sticky) return cuda.sticky;
    cuda_event *e = calloc(1, sizeof *e);
    if (!e || !cuda_table_put(&cuda.events, e, e)) {
        free(e);
        return CU_MEMORY_ALLOCATION;
    }
    e->device = cuda_self.device;
    e->context = cuda_created_context(cuda_self.context);
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
    cuda_forget_mark(e);
    free(e->clock);
    free(e);
    return CU_OK;
}

int pl_cudaEventRecordWithFlags(void *event, void *stream, unsigned flags)
{
    cuda_event *e = event_of(event);
    cuda_stream *s = cuda_stream_of(stream);
    if (s && s->capture && s->capture->invalid) return CAPTURE_INVALIDATED;
    if (!e || !s || e->device != s->device || e->context != cuda_context_of_stream(stream, s))
        return CU_INVALID_HANDLE;
    if (flags > 1) return CU_INVALID_VALUE;
    if (flags && !s->capture) return CU_ILLEGAL_STATE;
    if (s->capture && !flags) return cuda_capture_record(s, e); /* 1: a separate node */
    if (!s->capture) e->capture = NULL;
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
    if (e->capture) return cuda_invalidate_event_capture(e);
    if (e->captured) return CU_INVALID_VALUE;
    const int error = cuda_check_captures(CUDA_UNSAFE_CALL);
    if (error) return error;
    cuda_drain_event(e);
    if (e->recorded) cuda_clock_wait(e->time);
    cuda_order_host_event(e);
    cuda_flush();
    return cuda.sticky;
}

/* A host function observes preceding operations as ended, also in cudaEventElapsedTime. */
int pl_cudaEventQuery(void *event)
{
    const cuda_event *e = event_of(event);
    if (!e) return CU_INVALID_HANDLE;
    if (cuda.sticky) return cuda.sticky;
    if (e->capture) return cuda_invalidate_event_capture(e);
    if (e->captured) return CU_INVALID_VALUE;
    const int error = cuda_check_captures(CUDA_UNSAFE_CALL);
    if (error) return error;
    if (e->mark) cuda_progress_observed();
    const bool must_poll = !cuda_self.callback && (e->recorded || e->mark),
               ended = !must_poll || cuda_clock_poll(e->mark ? cuda.now : e->time),
               busy = e->mark || !ended;
    if (!busy) cuda_order_host_event(e);
    cuda_flush();
    return busy ? CU_NOT_READY : CU_OK;
}

static bool was_recorded(const cuda_event *e)
{
    return e->recorded || e->mark;
}

int pl_cudaEventElapsedTime(float *ms, void *from, void *to)
{
    const cuda_event *a = event_of(from), *b = event_of(to);
    if (!ms) return CU_INVALID_VALUE;
    if ((a && cuda_in_valid_capture(a)) || (b && cuda_in_valid_capture(b)))
        return CU_CAPTURED_EVENT;
    if ((a && a->captured) || (b && b->captured)) return CU_INVALID_VALUE;
    if ((a && a->flags & EVENT_NO_TIMING) || (b && b->flags & EVENT_NO_TIMING))
        return CU_INVALID_HANDLE;
    if (!a || !b || a->device != b->device || !was_recorded(a) || !was_recorded(b))
        return CU_INVALID_HANDLE;
    if (a->mark || b->mark) return CU_NOT_READY;
    if (!cuda_self.callback && (a->time > cuda.now || b->time > cuda.now)) return CU_NOT_READY;
    *ms = (float)((b->time - a->time) * 1e-6);
    return CU_OK;
}
