/* stream_time.c - streams on the application's clock: lookup by handle, the time when a stream is
 * ready, and the time that the host waits for it. */
#include "cudart/blocked.h"
#include "cudart/checking.h"
#include "cudart/clock.h"
#include "cudart/state.h"
#include <stdlib.h>

void *const cuda_legacy_handle = (void *)(uintptr_t)CUDA_STREAM_LEGACY;

cuda_stream *cuda_new_stream(unsigned flags, int priority)
{
    cuda_stream *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    cuda_order_begin();
    cuda.streams_created = true;
    *s = (cuda_stream){.id = ++cuda.ids,
                       .device = cuda_self.device,
                       .flags = flags,
                       .priority = priority,
                       .context = cuda_self.context};
    if (cuda_table_put(&cuda.streams, s, s)) return s;
    free(s);
    return NULL;
}

cuda_stream *cuda_stream_of(const void *handle)
{
    const uintptr_t h = (uintptr_t)handle;
    if (h == CUDA_STREAM_LEGACY || (h == 0 && !cuda_self.per_thread))
        return &cuda_current_device()->legacy;
    if (h > CUDA_STREAM_PER_THREAD) return cuda_table_get(&cuda.streams, handle);
    cuda_stream **per_thread_stream = &cuda_self.stream[cuda_self.device];
    if (!*per_thread_stream) *per_thread_stream = cuda_new_stream(0, 0);
    return *per_thread_stream;
}

/* Returns the latest end of all blocking streams of a device, which its legacy stream waits for. */
static double latest_end(int device, bool all_streams)
{
    double t = cuda.device[device].legacy.ready;
    size_t at = 0;
    for (const cuda_stream *s; (s = cuda_table_next(&cuda.streams, &at)) != NULL;)
        if (s->device == device && (all_streams || cuda_blocking(s)) && s->ready > t) t = s->ready;
    return t;
}

double cuda_ready(const cuda_stream *s)
{
    const double at = !cuda_self.deferred && cuda.now > s->ready ? cuda.now : s->ready;
    const cuda_stream *legacy = &cuda.device[s->device].legacy;
    const double barrier = s == legacy        ? latest_end(s->device, false)
                           : cuda_blocking(s) ? legacy->ready
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
    if (!s) return latest_end(cuda_self.device, true);
    return s != &cuda.device[s->device].legacy ? s->ready : latest_end(s->device, false);
}

void cuda_wait_unordered(cuda_stream *s)
{
    if (s)
        cuda_drain(s);
    else
        cuda_drain_device(cuda_self.device);
    cuda_clock_wait(cuda_end_of(s));
    if (cuda.on_wait) cuda.on_wait();
}

void cuda_wait(cuda_stream *s)
{
    cuda_wait_unordered(s);
    cuda_order_host(s);
}
