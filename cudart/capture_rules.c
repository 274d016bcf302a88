/* capture_rules.c - calls that stream captures in progress do not permit. */
#include "cudart/graph.h"

static _Thread_local int thread_mode; /* of cudaThreadExchangeStreamCaptureMode */

/* True if the capture of the stream does not permit such a call. */
static bool forbids(const cuda_stream *s, cuda_unsafe what)
{
    enum { THREAD_LOCAL = 1, NON_BLOCKING = 1 };
    const cuda_capture *c = s->capture;
    if (!c || s->device != cuda_self.device) return false;
    if (what == CUDA_UNSAFE_CALL && thread_mode == CAPTURE_RELAXED) return false;
    if (what == CUDA_WAITS_FOR_DEVICE) return true;
    if (what == CUDA_IN_LEGACY_STREAM) return !(s->flags & NON_BLOCKING);
    const bool local = c->mode == THREAD_LOCAL || thread_mode == THREAD_LOCAL;
    return c->mode != CAPTURE_RELAXED && (!local || c->thread == &cuda_self);
}

int cuda_check_captures(cuda_unsafe what)
{
    int error = CU_OK;
    size_t at = 0;
    for (const cuda_stream *s; (s = cuda_table_next(&cuda.streams, &at)) != NULL;) {
        if (!forbids(s, what)) continue;
        s->capture->invalid = true;
        error = what == CUDA_IN_LEGACY_STREAM ? CAPTURE_IMPLICIT : CU_CAPTURE_UNSUPPORTED;
    }
    return error;
}

bool cuda_in_valid_capture(const cuda_event *e)
{
    return e->capture && !e->capture->invalid;
}

int cuda_invalidate_event_capture(const cuda_event *e)
{
    if (e->capture->invalid) return CU_INVALID_VALUE;
    e->capture->invalid = true;
    return CU_CAPTURED_EVENT;
}

int cuda_invalidate_capture(cuda_stream *s)
{
    if (s->capture->invalid) return CAPTURE_INVALIDATED;
    s->capture->invalid = true;
    return CU_CAPTURE_UNSUPPORTED;
}

int pl_cudaThreadExchangeStreamCaptureMode(int *mode)
{
    if (!mode) return CU_INVALID_VALUE; /* the number is not checked (H100) */
    const int old = thread_mode;
    thread_mode = *mode;
    *mode = old;
    return CU_OK;
}
