/* graph_launch.c - execution of graphs, and of the graphs that their kernels launch.
 *
 * A launch executes the nodes in an order that their dependencies permit. A node begins when its
 * dependencies have ended. */
#include "cudart/blocked.h"
#include "cudart/checking.h"
#include "cudart/clock.h"
#include "cudart/graph.h"
#include <stdlib.h>

/* Returns a stream with the same identity, for operations that do not wait for all of its
 * operations. */
static cuda_stream concurrent_stream(const cuda_stream *s, double start)
{
    return (cuda_stream){.id = s->id,
                         .device = s->device,
                         .flags = CUDA_NON_BLOCKING,
                         .priority = s->priority,
                         .ready = start};
}

static int run_graph(cuda_stream *s, cuda_graph *g);

static unsigned value_of(const cuda_condition *c)
{
    uint32_t value = 0;
    return pl_gpu_conditional(cuda_current_device()->gpu, c->handle, &value) == PL_OK ? value : 0;
}

static int run_condition(cuda_stream *s, const cuda_condition *c)
{
    int error = CU_OK;
    unsigned value = value_of(c);
    switch (c->kind) {
    case CONDITION_IF:
        if (value) return run_graph(s, c->body[0]);
        return c->n > 1 ? run_graph(s, c->body[1]) : CU_OK;
    case CONDITION_SWITCH: return value < c->n ? run_graph(s, c->body[value]) : CU_OK;
    case CONDITION_WHILE:
        for (; value && !error && !cuda.fault; value = value_of(c))
            error = run_graph(s, c->body[0]);
        return error;
    }
    return CU_INVALID_VALUE;
}

/* Maximum nodes of a graph whose dependencies are used for ordering: larger graphs use the
 * execution order. */
enum { MAX_ORDERED_NODES = 512 };

/* Returns the *n kernels that the node may overlap until griddepcontrol.wait; the caller frees
 * them. NULL: none. */
static cuda_order_position *programmatic_edges(const cuda_node *x, size_t *n)
{
    cuda_order_position *at = NULL;
    *n = 0;
    for (size_t k = 0; cuda_order_is_enabled() && k < x->nbefore; k++) {
        if (cuda_is_plain_edge(&x->edge[k])) continue;
        if (!at && !(at = calloc(x->nbefore, sizeof *at))) return NULL;
        const cuda_stream of = {.slot = x->before[k]->slot, .clock = x->before[k]->clock};
        at[(*n)++] = cuda_order_now(&of);
    }
    return at;
}

/* A node begins when all its dependencies have ended, concurrently with independent nodes. */
static int run_node(cuda_stream *s, cuda_node *x, double start)
{
    cuda_stream own = concurrent_stream(s, start);
    int error = CU_OK;
    own.node = true;
    own.slot = x->slot;
    cuda_order_join(&own.clock, x->graph->n > MAX_ORDERED_NODES ? s->clock : x->graph->clock);
    for (size_t k = 0; k < x->nbefore; k++) {
        if (x->before[k]->end > own.ready) own.ready = x->before[k]->end;
        cuda_order_join(&own.clock, x->before[k]->clock);
    }
    own.open = programmatic_edges(x, &own.nopen);
    if (!x->disabled)
        error = x->op.kind == OP_GRAPH       ? run_graph(&own, x->op.u.graph)
                : x->op.kind == OP_CONDITION ? run_condition(&own, x->op.u.condition)
                : x->op.kind == OP_HOST
                    ? cuda_run_host(&own, x->op.u.host.fn, x->op.u.host.arg, &x->host_call)
                    : cuda_execute(&own, &x->op);
    free(own.open);
    x->end = own.ready;
    x->slot = own.slot;
    free(x->clock);
    x->clock = own.clock;
    return error;
}

/* ---- graphs that kernels launch ---- */

/* Graphs launched by the kernels of a graph. An H200 rejects a launch beyond the limits with the
 * error of a pending graph. */
typedef struct cuda_device_launches {
    enum { MAX_CONCURRENT = 120, MAX_TAIL = 255 } limit; /* maxima of the programming guide */
    cuda_graph *concurrent[MAX_CONCURRENT], *tail[MAX_TAIL];
    unsigned nconcurrent, executed, ntail; /* executed: of the concurrent ones */
    double end; /* ns: end of the concurrent graphs that are not siblings */
    double sibling_end;
    bool sibling[MAX_CONCURRENT];
} cuda_device_launches;

static cuda_graph *running; /* graph whose kernels are running; NULL: they are in none, */
static cuda_graph outside;  /* and this one stands for it */
static pthread_mutex_t device_launch_lock = PTHREAD_MUTEX_INITIALIZER;

static uint32_t enqueue_device_launch(cuda_device_launches *f, cuda_graph *g, uint64_t stream)
{
    enum { TAIL = 1, FIRE_AND_FORGET = 2, SIBLING = 3 };
    const uint64_t how = stream >> 56;
    const bool follows_itself = how == TAIL && g == running;
    if (stream << 8 || !g->uploaded || g->pending || (g->in_progress && !follows_itself))
        return CU_INVALID_VALUE;
    if (how == TAIL && f->ntail < MAX_TAIL) {
        f->tail[f->ntail++] = g;
    } else if ((how == FIRE_AND_FORGET || how == SIBLING) && f->nconcurrent < MAX_CONCURRENT) {
        f->sibling[f->nconcurrent] = how == SIBLING;
        f->concurrent[f->nconcurrent++] = g;
    } else {
        return CU_INVALID_VALUE;
    }
    g->pending = true;
    return CU_OK;
}

/* A kernel launches a graph. Threads of the emulator call this, while the
 * thread that runs the graph waits for them and holds the lock. */
uint32_t cuda_launch_from_kernel(void *unused, uint64_t handle, uint64_t stream)
{
    cuda_graph *g = cuda_exec_of((const void *)(uintptr_t)handle),
               *by = running ? running : &outside;
    (void)unused;
    if (!g) return CU_INVALID_VALUE;
    if (!(g->flags & DEVICE_LAUNCH)) return CU_ILLEGAL_ADDRESS; /* for the host only */
    pthread_mutex_lock(&device_launch_lock);
    if (!by->device_launches) by->device_launches = calloc(1, sizeof *by->device_launches);
    const uint32_t error = by->device_launches
                               ? enqueue_device_launch(by->device_launches, g, stream)
                               : CU_MEMORY_ALLOCATION;
    pthread_mutex_unlock(&device_launch_lock);
    return error;
}

/* Executes the graphs that run concurrently with this one, starting at the end of the node that
 * launched them. */
static int run_concurrent_launches(cuda_stream *s, double start)
{
    cuda_device_launches *f = running ? running->device_launches : NULL;
    int error = CU_OK;
    while (f && !error && !cuda.fault && f->executed < f->nconcurrent) {
        const unsigned k = f->executed++;
        cuda_stream own = concurrent_stream(s, start);
        cuda_order_join(&own.clock, s->clock);
        error = cuda_execute_graph(&own, f->concurrent[k]);
        cuda_order_join(&s->clock, own.clock);
        cuda_order_release(&own);
        double *end = f->sibling[k] ? &f->sibling_end : &f->end;
        if (own.ready > *end) *end = own.ready;
    }
    return error;
}

/* Starts an execution, unless one that waits for a value is in progress. */
static void start_execution(const cuda_stream *s, cuda_graph *g)
{
    if (g->in_progress) return;
    g->in_progress = true;
    g->start = s->ready;
    free(g->clock);
    g->clock = NULL;
    cuda_order_join(&g->clock, s->clock);
    for (size_t k = 0; k < g->n; k++) g->node[k]->done = false;
}

static bool can_begin(const cuda_node *x)
{
    for (size_t k = 0; k < x->nbefore; k++)
        if (!x->before[k]->done) return false;
    return true;
}

/* CUDA_BLOCKED: a node waits for a value, and other nodes depend on it. */
static int run_graph(cuda_stream *s, cuda_graph *g)
{
    cuda_node **order = cuda_graph_order(g);
    int error = order ? CU_OK : CU_INVALID_VALUE;
    bool blocked = false;
    start_execution(s, g);
    for (size_t k = 0; !error && !cuda.fault && k < g->n; k++) {
        cuda_node *x = order[k];
        if (x->done) continue;
        const int result = can_begin(x) ? run_node(s, x, g->start) : CUDA_BLOCKED;
        blocked |= result == CUDA_BLOCKED;
        if (result == CUDA_BLOCKED) continue;
        cuda_order_join(&s->clock, x->clock);
        error = result ? result : run_concurrent_launches(s, x->end);
        x->done = true;
        if (x->end > s->ready) s->ready = x->end;
    }
    free(order);
    if (blocked && !error && !cuda.fault) return CUDA_BLOCKED;
    g->in_progress = false;
    return error;
}

static size_t roots_of(const cuda_graph *g)
{
    size_t n = 0;
    for (size_t k = 0; k < g->n; k++) n += !g->node[k]->nbefore;
    return n;
}

/* Includes the graphs that its kernels launch concurrently. */
static int run_single_graph(cuda_stream *s, cuda_graph *g)
{
    enum { AUTO_FREE = 1 };
    cuda_graph *const enclosing = running;
    const int64_t launch = cuda.graph_launch;
    const uint64_t handle = cuda.graph;
    g->pending = false;
    if (!g->launch) {
        if (g->flags & AUTO_FREE) cuda_graph_memory_free_all(g);
        g->bytes = cuda_graph_memory_launch(g, s);
        cuda_reset_conditions(g);
        cuda_clock_graph(s, roots_of(g));
        g->launch = ++cuda.graph_launches;
        if (g->device_launches) *g->device_launches = (cuda_device_launches){.end = 0};
    }
    running = g;
    cuda.graph_launch = g->launch;
    cuda.graph = g->flags & DEVICE_LAUNCH ? (uintptr_t)(g->handle ? g->handle : g) : 0;
    const int error = run_graph(s, g);
    running = enclosing;
    cuda.graph_launch = launch;
    cuda.graph = handle;
    if (error == CUDA_BLOCKED) return error;
    if (g->device_launches && g->device_launches->end > s->ready)
        s->ready = g->device_launches->end;
    cuda_graph_memory_ends(s, g->bytes);
    g->launch = 0;
    return error;
}

/* Tail launches of a graph are executed before the remainder of the list. */
static bool push_tail_launches(cuda_graph ***list, size_t *n, const cuda_graph *g)
{
    const cuda_device_launches *f = g->device_launches;
    if (!f || !f->ntail) return true;
    cuda_graph **more = realloc(*list, (*n + f->ntail) * sizeof **list);
    if (!more) return false;
    for (unsigned k = f->ntail; k-- > 0;) more[(*n)++] = f->tail[k]; /* a stack */
    *list = more;
    return true;
}

/* Applies --timeout to graphs that launch each other endlessly. */
static bool exceeds_time_limit(double begin)
{
    const double limit = (double)cuda.options.timeout;
    if (limit <= 0 || cuda_seconds() - begin < limit) return false;
    cuda_report("graphs that kernels launch follow each other: stopped by the time limit");
    cuda_set_sticky_error(CU_LAUNCH_TIMEOUT);
    return true;
}

/* Runs the graphs that follow a graph, or a kernel outside of graphs. */
static int run_tail_launches(cuda_stream *s, const cuda_graph *g, int error)
{
    const bool deferred = cuda_self.deferred;
    const double begin = cuda_seconds();
    cuda_graph **list = NULL;
    size_t n = 0;
    double siblings_end = g->device_launches ? g->device_launches->sibling_end : 0;
    cuda_self.deferred = true; /* launches by kernels use no host time */
    if (!error && !push_tail_launches(&list, &n, g)) error = CU_MEMORY_ALLOCATION;
    while (n && !error && !cuda.fault) {
        cuda_graph *next = list[--n];
        if (exceeds_time_limit(begin)) break;
        error = run_single_graph(s, next);
        if (!error && !push_tail_launches(&list, &n, next)) error = CU_MEMORY_ALLOCATION;
        if (next->device_launches && next->device_launches->sibling_end > siblings_end)
            siblings_end = next->device_launches->sibling_end;
    }
    cuda_self.deferred = deferred;
    free(list);
    if (siblings_end > s->ready) s->ready = siblings_end;
    return error;
}

int cuda_execute_graph(cuda_stream *s, cuda_graph *g)
{
    const int error = run_single_graph(s, g);
    return error == CUDA_BLOCKED ? error : run_tail_launches(s, g, error);
}

/* On an H100, such launches succeed. A graph that waits cannot continue later. */
int cuda_run_launched_graphs(cuda_stream *s)
{
    cuda_device_launches *f = outside.device_launches;
    if (running || !f || !(f->nconcurrent || f->ntail)) return CU_OK;
    running = &outside;
    int error = run_concurrent_launches(s, s->ready);
    if (f->end > s->ready) s->ready = f->end;
    if (error != CUDA_BLOCKED) error = run_tail_launches(s, &outside, error);
    running = NULL;
    *f = (cuda_device_launches){.end = 0};
    return error == CUDA_BLOCKED ? CU_NOT_SUPPORTED : error;
}

/* True if it has nodes that write values, wait for values or events, or call host functions. */
static bool may_wait(const cuda_graph *g)
{
    for (size_t k = 0; k < g->n; k++) {
        const cuda_op *op = &g->node[k]->op;
        if (op->kind == OP_MEMORY || op->kind == OP_WAIT || op->kind == OP_HOST ||
            (op->kind == OP_GRAPH && may_wait(op->u.graph)))
            return true;
    }
    return false;
}

const cuda_memory_ops *cuda_graph_waits_for(const cuda_graph *g)
{
    for (size_t k = 0; g->in_progress && k < g->n; k++) {
        const cuda_node *x = g->node[k];
        if (x->done || !can_begin(x)) continue;
        if (x->op.kind == OP_MEMORY) return x->op.u.values;
        const cuda_memory_ops *m =
            x->op.kind == OP_GRAPH ? cuda_graph_waits_for(x->op.u.graph) : NULL;
        if (m) return m;
    }
    return NULL;
}

/* A launch that may have to wait uses a copy, so that the program can change the graph meanwhile.
 */
static int launch_graph(cuda_stream *s, cuda_graph *g)
{
    g->uploaded = true;
    if (!may_wait(g) && !cuda_is_blocked(s) && !g->in_progress) return cuda_launch_graph_now(s, g);
    if (may_wait(g)) cuda_progress_observed(); /* host nodes of the previous launch start (H100) */
    cuda_graph *copy = cuda_copy_graph(g);
    if (!copy) return CU_MEMORY_ALLOCATION;
    copy->flags = g->flags;
    copy->handle = g;
    return cuda_submit_graph(s, copy);
}

/* A capture accepts neither graph launches nor uploads (H200). */
int pl_cudaGraphLaunch(void *handle, void *stream)
{
    cuda_graph *g = cuda_exec_of(handle);
    cuda_stream *s = cuda_stream_of(stream);
    if (!g) return CU_INVALID_VALUE;
    if (!s) return CU_INVALID_HANDLE;
    return s->capture ? cuda_invalidate_capture(s) : launch_graph(s, g);
}

int pl_cudaGraphUpload(void *handle, void *stream)
{
    cuda_graph *g = cuda_exec_of(handle);
    cuda_stream *s = cuda_stream_of(stream);
    if (!g) return CU_INVALID_VALUE;
    if (!s) return CU_INVALID_HANDLE;
    if (s->capture) return cuda_invalidate_capture(s);
    g->uploaded = true;
    return CU_OK;
}
