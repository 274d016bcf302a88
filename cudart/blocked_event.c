/* blocked_event.c - events in blocked streams: a mark is the position in a stream at which an event
 * has been recorded, and which the stream has not reached yet. */
#include "cudart/blocked.h"
#include "cudart/checking.h"
#include "cudart/clock.h"
#include "cudart/state.h"
#include <stdlib.h>

struct cuda_mark {
    unsigned refs;
    bool done;
    cuda_event position; /* time, and operations ordered before it */
    cuda_event *event;   /* event that is set to it; NULL: no longer needed */
};

static void release_mark(void *mark)
{
    struct cuda_mark *m = mark;
    if (--m->refs) return;
    free(m->position.clock);
    free(m);
}

void cuda_forget_mark(cuda_event *e)
{
    struct cuda_mark *m = e->mark;
    if (!m) return;
    e->mark = NULL;
    m->event = NULL;
    release_mark(m);
}

static void record(cuda_stream *s, cuda_event *e)
{
    cuda_order_record(s, e);
    e->time = s->ready;
    e->stream = s->id;
    e->recorded = true;
    e->captured = false;
}

void cuda_record_event(cuda_stream *s, cuda_event *e)
{
    cuda_forget_mark(e);
    cuda_clock_event(s);
    record(s, e);
}

static int execute_mark(cuda_stream *s, void *mark)
{
    struct cuda_mark *m = mark;
    cuda_event *e = m->event;
    cuda_order_op(s);
    cuda_clock_event(s);
    record(s, &m->position);
    m->done = true;
    if (!e) return CU_OK;
    record(s, e);
    cuda_forget_mark(e);
    return CU_OK;
}

int cuda_defer_record(cuda_stream *s, cuda_event *e)
{
    struct cuda_mark *m = calloc(1, sizeof *m);
    if (!m) return CU_MEMORY_ALLOCATION;
    cuda_forget_mark(e);
    *m = (struct cuda_mark){.refs = 2, .event = e};
    e->mark = m;
    e->captured = false;
    cuda_clock_deferred(&(cuda_op){.kind = OP_RECORD});
    return cuda_defer(s, &(cuda_work){.run = execute_mark, .drop = release_mark, .what = m});
}

static int wait_for_mark(cuda_stream *s, void *mark)
{
    const struct cuda_mark *m = mark;
    if (!m->done) return CUDA_BLOCKED;
    if (m->position.time > s->ready) s->ready = m->position.time;
    cuda_order_wait(s, &m->position);
    return CU_OK;
}

int cuda_defer_wait(cuda_stream *s, const cuda_event *e)
{
    struct cuda_mark *m = e->mark;
    if (!m) {
        m = calloc(1, sizeof *m);
        if (!m) return CU_MEMORY_ALLOCATION;
        *m = (struct cuda_mark){.done = true, .position.time = e->recorded ? e->time : 0};
        cuda_order_copy_event(&m->position, e);
    }
    m->refs++;
    return cuda_defer(s, &(cuda_work){.run = wait_for_mark, .drop = release_mark, .what = m});
}

static bool is_pending(const void *mark)
{
    return !((const struct cuda_mark *)mark)->done;
}

void cuda_drain_event(const cuda_event *e)
{
    struct cuda_mark *m = e->mark;
    if (!m) return;
    m->refs++;
    cuda_drain_until(is_pending, m);
    release_mark(m);
}
