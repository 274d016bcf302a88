/* stream_op.c - operations of streams: each is executed immediately, or once its stream is no
 * longer blocked, or captured into a graph. */
#include "cudart/activity.h"
#include "cudart/blocked.h"
#include "cudart/checking.h"
#include "cudart/clock.h"
#include "cudart/graph.h"
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- values in memory */

static void write_value(cuda_stream *s, const cuda_memory_op *p)
{
    const unsigned n = cuda_value_bytes(p);
    uint8_t *to = cuda_bytes((void *)(uintptr_t)p->address, n, NULL);
    const cuda_set set = {.p = (void *)(uintptr_t)p->address,
                          .width = 1,
                          .height = 1,
                          .depth = 1,
                          .value = (unsigned)p->value,
                          .element = n};
    cuda_clock_set(s, &set);
    cuda_order_set(s, &set);
    if (to && n == 8) __atomic_store_n((uint64_t *)(void *)to, p->value, __ATOMIC_RELEASE);
    if (to && n == 4)
        __atomic_store_n((uint32_t *)(void *)to, (uint32_t)p->value, __ATOMIC_RELEASE);
    cuda_checked_set(&set);
    cuda_record_values(s->ready);
}

static int run_values(cuda_stream *s, cuda_memory_ops *m)
{
    for (; m->next < m->n; m->next++, cuda.steps++) {
        const cuda_memory_op *p = &m->at[m->next];
        if (!cuda_value_bytes(p)) continue;
        if (!cuda_value_waits(p)) {
            write_value(s, p);
            continue;
        }
        const double begin = cuda_ready(s);
        double end;
        if (!cuda_value_ends(p, begin, &end)) return CUDA_BLOCKED;
        cuda_record_activity(&(cuda_activity){.kind = "event",
                                              .name = "wait for a value",
                                              .stream = s->id,
                                              .span = {begin, end},
                                              .bytes = -1});
        s->ready = end;
        cuda_order_value(s);
    }
    m->next = 0;
    return CU_OK;
}

/* ---------------------------------------------------------------- execution */

static int run_kernel(cuda_stream *s, const cuda_op *op)
{
    cuda.launch_graph = cuda_launch_from_kernel;
    const int error = cuda_run(s, op->u.kernel.f, &op->u.kernel.l, op->u.kernel.params);
    return error ? error : cuda_run_launched_graphs(s);
}

/* The program may have destroyed the event of a node. */
static void record_event(cuda_stream *s, const cuda_event *event)
{
    cuda_event *e = cuda_table_get(&cuda.events, event);
    if (e) cuda_record_event(s, e);
}

static int wait_for_event(cuda_stream *s, const cuda_event *event)
{
    const cuda_event *e = cuda_table_get(&cuda.events, event);
    if (!e) return CU_OK;
    if (e->mark) return CUDA_BLOCKED;
    if (e->recorded && e->time > s->ready) s->ready = e->time;
    cuda_order_wait(s, e);
    return CU_OK;
}

static int execute(cuda_stream *s, const cuda_op *op)
{
    cuda_order_op(s);
    switch (op->kind) {
    case OP_KERNEL: return run_kernel(s, op);
    case OP_COPY:
        cuda_clock_copy(s, &op->u.copy);
        cuda_order_copy(s, &op->u.copy);
        cuda_stream_race_copy(s, &op->u.copy);
        return cuda_copy_now(&op->u.copy);
    case OP_SET:
        cuda_clock_set(s, &op->u.set);
        cuda_order_set(s, &op->u.set);
        cuda_stream_race_set(s, &op->u.set);
        return cuda_set_now(&op->u.set);
    case OP_HOST:
        cuda_clock_host_function(s);
        cuda_order_host(s);
        cuda_call_host(op->u.host.fn, op->u.host.arg);
        return CU_OK;
    case OP_RECORD: record_event(s, op->u.event); return CU_OK;
    case OP_WAIT: return wait_for_event(s, op->u.event);
    case OP_ALLOC:
    case OP_FREE: return cuda_graph_memory_execute(op);
    case OP_MEMORY: return run_values(s, op->u.values);
    case OP_GRAPH: return cuda_execute_graph(s, op->u.graph);
    default: return CU_OK;
    }
}

/* The host may access managed memory between two operations, but not within a graph. */
static void notify_managed(const cuda_op *op, void (*notify)(const void *p))
{
    if (cuda.graph_launch) return;
    switch (op->kind) {
    case OP_KERNEL:
    case OP_GRAPH:
    case OP_MEMORY: notify(NULL); break;
    case OP_COPY:
        if (op->u.copy.from.p) notify(op->u.copy.from.p);
        if (op->u.copy.to.p) notify(op->u.copy.to.p);
        break;
    case OP_SET: notify(op->u.set.p); break;
    default: break;
    }
}

static void note_completion(const cuda_stream *s)
{
    cuda.steps++;
    cuda.latest_end = s->ready;
    cuda_record_values(s->ready);
}

/* After a fault, nothing runs in the stream; it seems busy until the fault is reported. */
static void hold_until_fault(cuda_stream *s)
{
    if (cuda.fault && s->ready < cuda.fault_time) s->ready = cuda.fault_time;
}

int cuda_execute(cuda_stream *s, const cuda_op *op)
{
    hold_until_fault(s);
    if (cuda.fault && op->kind != OP_RECORD) return CU_OK;
    const int previous = cuda_use_device(op->kind == OP_KERNEL ? op->u.kernel.device : s->device);
    notify_managed(op, cuda_detect_host_writes);
    const int error = execute(s, op);
    notify_managed(op, cuda_record_checksums);
    cuda_use_device(previous);
    hold_until_fault(s);
    if (error != CUDA_BLOCKED) note_completion(s);
    return error;
}

/* ---------------------------------------------------------------- blocked streams */

typedef struct deferred_op {
    cuda_op op;   /* owned, including its data */
    void *staged; /* copy of pageable memory; owned, or NULL */
} deferred_op;

static int run_deferred(cuda_stream *s, void *what)
{
    return cuda_execute(s, &((const deferred_op *)what)->op);
}

static void drop_deferred(void *what)
{
    deferred_op *l = what;
    cuda_free_op(&l->op);
    free(l->staged);
    free(l);
}

static const cuda_memory_ops *values_of(const void *what)
{
    const cuda_op *op = &((const deferred_op *)what)->op;
    if (op->kind == OP_MEMORY) return op->u.values;
    return op->kind == OP_GRAPH ? cuda_graph_waits_for(op->u.graph) : NULL;
}

/* True if the host waits for a copy of pageable memory; the driver stages small ones immediately.
 */
static bool blocks_host(const cuda_copy *c)
{
    enum { SMALL = 64 << 10 };
    const bool small = c->height == 1 && c->depth == 1 && c->width <= SMALL;
    return cuda_is_pageable(&c->to) || (cuda_is_pageable(&c->from) && !small);
}

static int stage_source(cuda_copy *c, void **staged)
{
    if (!cuda_is_pageable(&c->from)) return CU_OK;
    *staged = malloc(c->width ? c->width : 1);
    if (!*staged) return CU_MEMORY_ALLOCATION;
    memcpy(*staged, c->from.p, c->width);
    c->from.p = *staged;
    return CU_OK;
}

static int check_deferred(cuda_op *op, void **staged)
{
    uint32_t blocks;
    if (op->kind == OP_COPY) return stage_source(&op->u.copy, staged);
    if (op->kind != OP_KERNEL) return CU_OK;
    const int previous = cuda_use_device(op->u.kernel.device);
    const int error = cuda_check_launch(op->u.kernel.f, &op->u.kernel.l, &blocks);
    cuda_use_device(previous);
    return error;
}

static int defer(cuda_stream *s, cuda_op *op)
{
    deferred_op *l = calloc(1, sizeof *l);
    if (!l) {
        cuda_free_op(op);
        return CU_MEMORY_ALLOCATION;
    }
    l->op = *op;
    const int error = check_deferred(&l->op, &l->staged);
    if (error) {
        drop_deferred(l);
        return error;
    }
    cuda_clock_deferred(&l->op);
    return cuda_defer(
        s,
        &(cuda_work){.run = run_deferred, .drop = drop_deferred, .values = values_of, .what = l});
}

/* ---------------------------------------------------------------- host functions */

typedef struct host_call {
    cuda_host_fn *fn;
    void *arg;
    uint64_t number; /* 0: it has not started */
    bool always, ended;
} host_call;

/* The host waits briefly, so that later operations find the effects of quick functions. The stream
 * of a longer function is blocked until it returns: it may wait for the program. */
int cuda_run_host(cuda_stream *s, cuda_host_fn *fn, void *arg, uint64_t *number)
{
    const double patience = 0.02; /* s */
    const bool starts = !*number;
    if (starts && !cuda_may_start_host()) return CUDA_BLOCKED;
    if (starts) {
        cuda_order_op(s);
        cuda_order_host(s);
        cuda_flush(); /* its output follows that of the kernels (H100) */
        cuda_host_race_function(true);
        *number = cuda_host_begin(fn, arg);
    }
    const bool ended = *number && cuda_host_wait(*number, starts ? patience : 0);
    cuda_host_race_function(false);
    if (!ended) return CUDA_BLOCKED;
    if (!starts && cuda.now > s->ready) s->ready = cuda.now;
    *number = 0;
    const int previous = cuda_use_device(s->device);
    cuda_clock_host_function(s);
    cuda_use_device(previous);
    note_completion(s);
    return CU_OK;
}

static int run_host(cuda_stream *s, void *what)
{
    host_call *h = what;
    const int error = cuda_run_host(s, h->fn, h->arg, &h->number);
    h->ended = error != CUDA_BLOCKED;
    return error;
}

/* A callback also runs if it finds an error. */
static void drop_host(void *what)
{
    host_call *h = what;
    if (h->always && !h->ended && !h->number && cuda.fault) cuda_call_host(h->fn, h->arg);
    free(h);
}

static int submit_host(cuda_stream *s, const cuda_op *op)
{
    host_call *h = malloc(sizeof *h);
    if (!h) return CU_MEMORY_ALLOCATION;
    *h = (host_call){.fn = op->u.host.fn, .arg = op->u.host.arg, .always = op->u.host.always};
    return cuda_defer(s, &(cuda_work){.run = run_host, .drop = drop_host, .what = h});
}

static bool stream_is_blocked(const void *stream)
{
    return cuda_is_blocked(stream);
}

int cuda_submit(cuda_stream *s, cuda_op *op)
{
    if (s->capture) return cuda_capture_op(s, op);
    cuda_clock_enqueued();
    int error =
        s == &cuda.device[s->device].legacy ? cuda_check_captures(CUDA_IN_LEGACY_STREAM) : CU_OK;
    if (!error && op->kind == OP_COPY && cuda_is_blocked(s) && blocks_host(&op->u.copy)) {
        cuda_drain_until(stream_is_blocked, s);
        error = cuda.sticky;
    }
    if (!error && op->kind == OP_HOST) return submit_host(s, op);
    if (!error && (op->kind == OP_MEMORY || cuda_is_blocked(s)))
        return op->kind == OP_RECORD ? cuda_defer_record(s, op->u.event) : defer(s, op);
    if (!error) error = cuda_execute(s, op);
    if (error == CUDA_BLOCKED) return defer(s, op);
    cuda_free_op(op);
    cuda_progress();
    return error;
}

static int run_graph(cuda_stream *s, void *g)
{
    return cuda_execute(s, &(cuda_op){.kind = OP_GRAPH, .u.graph = g});
}

static const cuda_memory_ops *values_of_graph(const void *g)
{
    return cuda_graph_waits_for(g);
}

/* The program may have destroyed it meanwhile. */
static void drop_graph(void *graph)
{
    cuda_graph *g = graph;
    if (!g->exec) cuda_free_graph(g);
}

int cuda_launch_graph_now(cuda_stream *s, cuda_graph *g)
{
    const int error = run_graph(s, g);
    if (error == CUDA_BLOCKED)
        return cuda_defer(
            s, &(cuda_work){
                   .run = run_graph, .drop = drop_graph, .values = values_of_graph, .what = g});
    cuda_progress();
    return error;
}

int cuda_submit_graph(cuda_stream *s, cuda_graph *g)
{
    return defer(s, &(cuda_op){.kind = OP_GRAPH, .u.graph = g});
}
