/* graph.c - graphs: nodes with dependencies, created individually or by stream capture; an
 * executable graph is a copy of one.
 *
 * A launch executes the nodes in an order that their dependencies permit. */
#include "cudart/graph.h"
#include "cudart/green.h"
#include <stdlib.h>
#include <string.h>

enum {
    UPDATE_FAILURE = 910,
    UPDATE_ERROR = 1,
    UPDATE_TOPOLOGY = 2,
    UPDATE_TYPE = 3,
    UPDATE_FUNCTION = 4,
    UPDATE_PARAMETERS = 5
};

static cuda_table graphs; /* graphs and executable graphs by handle */

/* ---------------------------------------------------------------- lists of nodes */

static bool append(cuda_node ***list, size_t *n, size_t *cap, cuda_node *x)
{
    if (*n == *cap) {
        const size_t more = *cap ? 2 * *cap : 4;
        cuda_node **p = realloc(*list, more * sizeof **list);
        if (!p) return false;
        *list = p;
        *cap = more;
    }
    (*list)[(*n)++] = x;
    return true;
}

size_t cuda_dependency_index(const cuda_node *x, const cuda_node *on)
{
    size_t k = 0;
    while (k < x->nbefore && x->before[k] != on) k++;
    return k;
}

static bool depends_directly(const cuda_node *x, const cuda_node *on)
{
    return cuda_dependency_index(x, on) < x->nbefore;
}

/* Appends a node and the edge from it. */
static bool append_edge(cuda_node ***list, cuda_edge **edges, size_t *n, size_t *cap, cuda_node *x,
                        cuda_edge edge)
{
    const size_t before = *cap;
    if (!append(list, n, cap, x)) return false;
    if (*cap != before) {
        cuda_edge *p = realloc(*edges, *cap * sizeof **edges);
        if (!p) return *cap = before, --*n, false;
        *edges = p;
    }
    (*edges)[*n - 1] = edge;
    return true;
}

bool cuda_add_dependency(cuda_node *x, cuda_node *on, cuda_edge edge)
{
    return append_edge(&x->before, &x->edge, &x->nbefore, &x->cap_before, on, edge);
}

void cuda_remove_dependency(cuda_node *x, const cuda_node *on)
{
    const size_t k = cuda_dependency_index(x, on);
    if (k == x->nbefore) return;
    x->nbefore--;
    x->before[k] = x->before[x->nbefore];
    x->edge[k] = x->edge[x->nbefore];
}

/* Programmatic edges lead from a port of a kernel to a kernel. */
bool cuda_edge_is_valid(const cuda_graph *g, const cuda_node *from, const cuda_op *to,
                        const cuda_edge *e)
{
    enum { PROGRAMMATIC = 1, LAST_PORT = 2 };
    static const cuda_edge none = {0};
    if (!from || from->graph != g || memcmp(e->reserved, none.reserved, sizeof none.reserved) != 0)
        return false;
    if (e->type != PROGRAMMATIC) return cuda_is_plain_edge(e);
    return from->op.kind == OP_KERNEL && to->kind == OP_KERNEL && !e->to_port && e->from_port &&
           e->from_port <= LAST_PORT;
}

static bool is_leaf(const cuda_graph *g, const cuda_node *x)
{
    for (size_t k = 0; k < g->n; k++)
        if (depends_directly(g->node[k], x)) return false;
    return true;
}

cuda_graph *cuda_graph_of(const void *handle)
{
    cuda_graph *g = handle ? cuda_table_get(&graphs, handle) : NULL;
    return g && !g->exec ? g : NULL;
}

cuda_graph *cuda_exec_of(const void *handle)
{
    cuda_graph *g = handle ? cuda_table_get(&graphs, handle) : NULL;
    return g && g->exec ? g : NULL;
}

cuda_graph *cuda_new_graph(void)
{
    cuda_graph *g = calloc(1, sizeof *g);
    cuda_order_begin();
    if (!g || cuda_table_put(&graphs, g, g)) return g;
    free(g);
    return NULL;
}

void cuda_free_op(cuda_op *op)
{
    if (op->kind == OP_MEMORY) free(op->u.values);
    if (op->kind == OP_KERNEL) free(op->u.kernel.params);
    if (op->kind == OP_GRAPH) cuda_free_graph(op->u.graph);
    if (op->kind == OP_ALLOC || op->kind == OP_FREE) cuda_graph_memory_drop(op->u.memory);
    if (op->kind != OP_CONDITION) return;
    for (unsigned k = 0; k < op->u.condition->n; k++) cuda_free_graph(op->u.condition->body[k]);
    free(op->u.condition->body);
    free(op->u.condition);
}

static void free_order(cuda_node *x)
{
    cuda_stream own = {.slot = x->slot, .clock = x->clock};
    cuda_order_release(&own);
}

void cuda_free_graph(cuda_graph *g)
{
    if (!g) return;
    if (g->source && cuda_graph_of(g->source)) g->source->has_exec = false;
    for (size_t k = 0; k < g->n; k++) {
        cuda_unbind_updatable(g->node[k]);
        cuda_free_op(&g->node[k]->op);
        free(g->node[k]->before);
        free(g->node[k]->edge);
        free(g->node[k]->args);
        free_order(g->node[k]);
        free(g->node[k]);
    }
    cuda_release_user_objects(g);
    cuda_table_remove(&graphs, g);
    free(g->device_launches);
    free(g->clock);
    free(g->node);
    free(g);
}

/* Takes ownership of the op's data, also on failure. */
static int add_node(cuda_graph *g, const cuda_op *op, cuda_node *const *before,
                    const cuda_edge *edge, size_t nbefore, cuda_node **out)
{
    cuda_node *x = calloc(1, sizeof *x);
    cuda_op owned = *op;
    bool good = x && append(&g->node, &g->n, &g->cap, x);
    if (!good) {
        cuda_free_op(&owned);
        free(x);
        return CU_MEMORY_ALLOCATION;
    }
    x->op = owned;
    x->graph = g;
    if (op->kind == OP_GRAPH) op->u.graph->owned = true;
    for (unsigned k = 0; op->kind == OP_CONDITION && k < op->u.condition->n; k++)
        op->u.condition->body[k]->owned = true;
    for (size_t k = 0; good && k < nbefore; k++)
        good = cuda_add_dependency(x, before[k], edge ? edge[k] : (cuda_edge){0});
    if (out) *out = x;
    return good ? CU_OK : CU_MEMORY_ALLOCATION;
}

static int copy_condition(cuda_op *op)
{
    cuda_condition *c = malloc(sizeof *c);
    if (!c) return CU_MEMORY_ALLOCATION;
    *c = *op->u.condition;
    c->body = calloc(c->n, sizeof *c->body);
    bool good = c->body != NULL;
    for (unsigned k = 0; good && k < c->n; k++)
        good = (c->body[k] = cuda_copy_graph(op->u.condition->body[k])) != NULL;
    cuda_op copy = {.kind = OP_CONDITION, .u.condition = c};
    if (!c->body) c->n = 0;
    if (!good) cuda_free_op(&copy);
    *op = copy;
    return good ? CU_OK : CU_MEMORY_ALLOCATION;
}

static int copy_op(cuda_op *op)
{
    if (op->kind == OP_CONDITION) return copy_condition(op);
    if (op->kind == OP_ALLOC || op->kind == OP_FREE) op->u.memory->refs++;
    if (op->kind == OP_KERNEL) {
        const uint32_t n = op->u.kernel.f->info.param_bytes;
        uint8_t *params = malloc(n ? n : 1);
        if (!params) return CU_MEMORY_ALLOCATION;
        memcpy(params, op->u.kernel.params, n);
        op->u.kernel.params = params;
    }
    if (op->kind == OP_MEMORY && !(op->u.values = cuda_copy_memory_ops(op->u.values)))
        return CU_MEMORY_ALLOCATION;
    if (op->kind == OP_GRAPH) op->u.graph = cuda_copy_graph(op->u.graph);
    return op->kind == OP_GRAPH && !op->u.graph ? CU_MEMORY_ALLOCATION : CU_OK;
}

static cuda_node *counterpart(const cuda_graph *copy, const cuda_node *of)
{
    for (size_t k = 0; k < copy->n; k++)
        if (copy->node[k]->origin == of) return copy->node[k];
    return NULL;
}

cuda_graph *cuda_copy_graph(const cuda_graph *from)
{
    cuda_graph *g = cuda_new_graph();
    bool good = g != NULL;
    for (size_t k = 0; good && k < from->n; k++) {
        cuda_op op = from->node[k]->op;
        good = copy_op(&op) == CU_OK && add_node(g, &op, NULL, NULL, 0, NULL) == CU_OK;
        if (good) g->node[k]->origin = from->node[k];
        if (good) g->node[k]->disabled = from->node[k]->disabled;
    }
    for (size_t k = 0; good && k < from->n; k++) {
        cuda_node *x = g->node[k];
        for (size_t i = 0; good && i < from->node[k]->nbefore; i++)
            good = cuda_add_dependency(x, counterpart(g, from->node[k]->before[i]),
                                       from->node[k]->edge[i]);
    }
    if (good) cuda_retain_user_objects(g, from);
    if (good) return g;
    cuda_free_graph(g);
    return NULL;
}

/* ---------------------------------------------------------------- order and execution */

/* Appends a node after all its dependencies. False: a cycle. */
static bool visit(cuda_node *x, cuda_node **order, size_t *n)
{
    if (x->mark == 2) return true;
    if (x->mark == 1) return false;
    x->mark = 1;
    for (size_t k = 0; k < x->nbefore; k++)
        if (!visit(x->before[k], order, n)) return false;
    x->mark = 2;
    order[(*n)++] = x;
    return true;
}

static cuda_node **order_of(cuda_graph *g)
{
    cuda_node **order = malloc((g->n ? g->n : 1) * sizeof *order);
    size_t n = 0;
    bool good = order != NULL;
    for (size_t k = 0; k < g->n; k++) g->node[k]->mark = 0;
    for (size_t k = 0; good && k < g->n; k++) good = visit(g->node[k], order, &n);
    if (good) return order;
    free(order);
    return NULL;
}

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

/* Maximum nodes of a graph whose dependencies are used for ordering: larger graphs use the
 * execution order. */
enum { MAX_ORDERED_NODES = 512 };

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
    if (!x->disabled)
        error = x->op.kind == OP_GRAPH       ? cuda_run_graph(&own, x->op.u.graph)
                : x->op.kind == OP_CONDITION ? cuda_run_condition(&own, x->op.u.condition)
                                             : cuda_execute(&own, &x->op);
    x->end = own.ready;
    x->slot = own.slot;
    free(x->clock);
    x->clock = own.clock;
    return error;
}

/* ---- graphs that kernels launch ---- */

enum { DEVICE_LAUNCH = 4 }; /* flag: cudaGraphInstantiateFlagDeviceLaunch */

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

static cuda_graph *running; /* graph whose kernels are running */
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

/* A kernel of the running graph launches a graph. Threads of the emulator call this, while the
 * thread that runs the graph waits for them and holds the lock. */
static uint32_t launch_from_kernel(void *unused, uint64_t handle, uint64_t stream)
{
    cuda_graph *g = cuda_exec_of((const void *)(uintptr_t)handle);
    (void)unused;
    if (!g) return CU_INVALID_VALUE;
    if (!(g->flags & DEVICE_LAUNCH)) return CU_ILLEGAL_ADDRESS; /* for the host only */
    pthread_mutex_lock(&device_launch_lock);
    if (!running->device_launches)
        running->device_launches = calloc(1, sizeof *running->device_launches);
    const uint32_t error = running->device_launches
                               ? enqueue_device_launch(running->device_launches, g, stream)
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
    while (f && !error && !cuda.sticky && f->executed < f->nconcurrent) {
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

int cuda_run_graph(cuda_stream *s, cuda_graph *g)
{
    cuda_node **order = order_of(g);
    int error = order ? CU_OK : CU_INVALID_VALUE;
    bool blocked = false;
    start_execution(s, g);
    for (size_t k = 0; !error && !cuda.sticky && k < g->n; k++) {
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
    if (blocked && !error && !cuda.sticky) return CUDA_BLOCKED;
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
    cuda.launch_graph = launch_from_kernel;
    cuda.graph = g->flags & DEVICE_LAUNCH ? (uintptr_t)(g->handle ? g->handle : g) : 0;
    const int error = cuda_run_graph(s, g);
    running = enclosing;
    cuda.graph_launch = launch;
    cuda.graph = handle;
    if (!enclosing) cuda.launch_graph = NULL;
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

int cuda_execute_graph(cuda_stream *s, cuda_graph *g)
{
    const bool deferred = cuda_self.deferred;
    const double begin = cuda_seconds();
    cuda_graph **list = NULL;
    size_t n = 0;
    int error = run_single_graph(s, g);
    double siblings_end = g->device_launches ? g->device_launches->sibling_end : 0;
    if (error == CUDA_BLOCKED) return error;
    cuda_self.deferred = true; /* launches by kernels use no host time */
    if (!error && !push_tail_launches(&list, &n, g)) error = CU_MEMORY_ALLOCATION;
    while (n && !error && !cuda.sticky) {
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

/* True if it has nodes that write values or wait for them. */
static bool has_values(const cuda_graph *g)
{
    for (size_t k = 0; k < g->n; k++) {
        const cuda_op *op = &g->node[k]->op;
        if (op->kind == OP_MEMORY || (op->kind == OP_GRAPH && has_values(op->u.graph))) return true;
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
    const cuda_op op = {.kind = OP_GRAPH, .u.graph = g};
    g->uploaded = true;
    if (!has_values(g) && !cuda_is_blocked(s)) {
        const int error = cuda_execute(s, &op);
        cuda_progress();
        return error;
    }
    cuda_graph *copy = cuda_copy_graph(g);
    if (!copy) return CU_MEMORY_ALLOCATION;
    copy->flags = g->flags;
    copy->handle = g;
    return cuda_submit_graph(s, copy);
}

/* ---------------------------------------------------------------- creation */

int pl_cudaGraphCreate(void **out, unsigned flags)
{
    if (!out || flags) return CU_INVALID_VALUE;
    *out = cuda_new_graph();
    return *out ? CU_OK : CU_MEMORY_ALLOCATION;
}

static bool is_capture_target(const cuda_graph *g)
{
    size_t at = 0;
    for (const cuda_stream *s; (s = cuda_table_next(&cuda.streams, &at)) != NULL;)
        if (s->capture && s->capture->graph == g) return true;
    return false;
}

int pl_cudaGraphDestroy(void *handle)
{
    cuda_graph *g = cuda_graph_of(handle);
    if (!g || g->owned) return CU_INVALID_VALUE;
    if (is_capture_target(g)) return CU_ILLEGAL_STATE;
    cuda_free_graph(g);
    return CU_OK;
}

/* True if it has neither memory nodes nor conditional nodes, which cannot be duplicated. */
static bool can_be_copied(const cuda_graph *g)
{
    for (size_t k = 0; k < g->n; k++)
        if (g->node[k]->op.kind == OP_CONDITION) return false;
    return !cuda_has_memory_nodes(g);
}

int pl_cudaGraphClone(void **out, void *handle)
{
    const cuda_graph *g = cuda_graph_of(handle);
    if (!out || !g) return CU_INVALID_VALUE;
    if (!can_be_copied(g) || cuda_has_updatable(g)) return CU_NOT_SUPPORTED;
    *out = cuda_copy_graph(g);
    return *out ? CU_OK : CU_MEMORY_ALLOCATION;
}

/* Dependencies must be different nodes of the graph. */
static bool may_depend(const cuda_graph *g, const cuda_op *op, void *const *before,
                       const cuda_edge *edge, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        if (!cuda_edge_is_valid(g, before[k], op, edge ? &edge[k] : &(cuda_edge){0})) return false;
        for (size_t i = 0; i < k; i++)
            if (before[i] == before[k]) return false;
    }
    return true;
}

int cuda_add_node_with_edges(void **out, void *graph, void *const *before, const cuda_edge *edge,
                             size_t nbefore, const cuda_op *op)
{
    cuda_graph *g = cuda_graph_of(graph);
    cuda_node *x = NULL;
    cuda_op owned = *op;
    if (!out || !g || (nbefore && !before) || !may_depend(g, op, before, edge, nbefore)) {
        cuda_free_op(&owned);
        return CU_INVALID_VALUE;
    }
    const int error = add_node(g, op, (cuda_node *const *)(const void *)before, edge, nbefore, &x);
    *out = x;
    return error;
}

int cuda_add_node(void **out, void *graph, void *const *before, size_t nbefore, const cuda_op *op)
{
    return cuda_add_node_with_edges(out, graph, before, NULL, nbefore, op);
}

/* A node keeps the attributes of its launch when its parameters change. */
static void keep_attributes(cuda_launch *to, const cuda_launch *from)
{
    to->prioritised = from->prioritised;
    to->priority = from->priority;
    to->cooperative = from->cooperative;
    to->clustered = from->clustered;
    memcpy(to->cluster, from->cluster, sizeof to->cluster);
}

int cuda_kernel_op(const kernel_params *p, const cuda_node *changed, cuda_op *op)
{
    if (!p) return CU_INVALID_VALUE;
    if (p->args && p->extra) return CU_INVALID_VALUE;
    *op = (cuda_op){.kind = OP_KERNEL,
                    .u.kernel = {.device = cuda_self.device,
                                 .l = {.grid = p->grid,
                                       .block = p->block,
                                       .shared = p->shared,
                                       .green = cuda_current_green()}}};
    uint32_t blocks;
    if (changed) keep_attributes(&op->u.kernel.l, &changed->op.u.kernel.l);
    int error = cuda_function_of(p->function, &op->u.kernel.f);
    if (!error) error = cuda_check_launch(op->u.kernel.f, &op->u.kernel.l, &blocks);
    if (error) return error;
    return p->extra ? cuda_copy_param_block(op->u.kernel.f, p->extra, &op->u.kernel.params)
                    : cuda_copy_arguments(op->u.kernel.f, p->args, &op->u.kernel.params);
}

int pl_cudaGraphAddKernelNode(void **out, void *graph, void *const *before, size_t nbefore,
                              const void *params)
{
    cuda_op op;
    const int error = cuda_kernel_op(params, NULL, &op);
    return error ? error : cuda_add_node(out, graph, before, nbefore, &op);
}

static int add_copy(void **out, void *graph, void *const *before, size_t nbefore,
                    const cuda_copy *c)
{
    const cuda_op op = {.kind = OP_COPY, .u.copy = *c};
    const int error = cuda_check_copy(c);
    return error ? error : cuda_add_node(out, graph, before, nbefore, &op);
}

int pl_cudaGraphAddMemcpyNode(void **out, void *graph, void *const *before, size_t nbefore,
                              const cuda_copy3d *p)
{
    cuda_copy c;
    const int error = p ? cuda_convert3d(p, &c) : CU_INVALID_VALUE;
    return error ? error : add_copy(out, graph, before, nbefore, &c);
}

int pl_cudaGraphAddMemcpyNode1D(void **out, void *graph, void *const *before, size_t nbefore,
                                void *to, const void *from, size_t bytes, int kind)
{
    const cuda_copy c = cuda_linear_copy(to, from, bytes, kind);
    if (!bytes) return CU_INVALID_VALUE;
    return add_copy(out, graph, before, nbefore, &c);
}

static int at_symbol(const void *symbol, size_t bytes, size_t offset, void **p)
{
    uint64_t address, size;
    const int error = cuda_variable_of(symbol, &address, &size);
    if (error) return error;
    if (offset > size || bytes > size - offset) return CU_INVALID_VALUE;
    *p = (void *)(uintptr_t)(address + offset);
    return CU_OK;
}

int pl_cudaGraphAddMemcpyNodeToSymbol(void **out, void *graph, void *const *before, size_t nbefore,
                                      const void *symbol, const void *from, size_t bytes,
                                      size_t offset, int kind)
{
    void *p;
    if (kind == COPY_H2H || kind == COPY_D2H) return CU_INVALID_DIRECTION;
    const int error = at_symbol(symbol, bytes, offset, &p);
    if (error) return error;
    return pl_cudaGraphAddMemcpyNode1D(out, graph, before, nbefore, p, from, bytes, kind);
}

int pl_cudaGraphAddMemcpyNodeFromSymbol(void **out, void *graph, void *const *before,
                                        size_t nbefore, void *to, const void *symbol, size_t bytes,
                                        size_t offset, int kind)
{
    void *p;
    if (kind == COPY_H2H || kind == COPY_H2D) return CU_INVALID_DIRECTION;
    const int error = at_symbol(symbol, bytes, offset, &p);
    if (error) return error;
    return pl_cudaGraphAddMemcpyNode1D(out, graph, before, nbefore, to, p, bytes, kind);
}

int cuda_set_op(const memset_params *p, cuda_op *op)
{
    if (!p || (p->element != 1 && p->element != 2 && p->element != 4) || !p->width || !p->height ||
        (uintptr_t)p->p % p->element)
        return CU_INVALID_VALUE;
    if (p->height > 1 && (p->pitch % p->element || p->pitch / p->element < p->width))
        return CU_INVALID_VALUE;
    *op = (cuda_op){.kind = OP_SET,
                    .u.set = {.p = p->p,
                              .pitch = p->pitch,
                              .width = p->width,
                              .height = p->height,
                              .depth = 1,
                              .value = p->value,
                              .element = p->element}};
    return cuda_check_set(&op->u.set);
}

int pl_cudaGraphAddMemsetNode(void **out, void *graph, void *const *before, size_t nbefore,
                              const void *params)
{
    cuda_op op;
    const int error = cuda_set_op(params, &op);
    return error ? error : cuda_add_node(out, graph, before, nbefore, &op);
}

int pl_cudaGraphAddHostNode(void **out, void *graph, void *const *before, size_t nbefore,
                            const void *params)
{
    const host_params *p = params;
    if (!p || !p->fn) return CU_INVALID_VALUE;
    const cuda_op op = {.kind = OP_HOST, .u.host = {p->fn, p->arg}};
    return cuda_add_node(out, graph, before, nbefore, &op);
}

int pl_cudaGraphAddEmptyNode(void **out, void *graph, void *const *before, size_t nbefore)
{
    const cuda_op op = {.kind = OP_EMPTY};
    return cuda_add_node(out, graph, before, nbefore, &op);
}

int pl_cudaGraphAddChildGraphNode(void **out, void *graph, void *const *before, size_t nbefore,
                                  void *child)
{
    const cuda_graph *c = cuda_graph_of(child);
    cuda_op op = {.kind = OP_GRAPH};
    if (!c) return CU_INVALID_VALUE;
    if (!can_be_copied(c)) return CU_NOT_SUPPORTED;
    op.u.graph = cuda_copy_graph(c);
    return op.u.graph ? cuda_add_node(out, graph, before, nbefore, &op) : CU_MEMORY_ALLOCATION;
}

static int add_event(cuda_op_kind kind, void **out, void *graph, void *const *before,
                     size_t nbefore, void *event)
{
    cuda_op op = {.kind = kind};
    op.u.event = event ? cuda_table_get(&cuda.events, event) : NULL;
    if (!event) return CU_INVALID_VALUE;
    return op.u.event ? cuda_add_node(out, graph, before, nbefore, &op) : CU_INVALID_HANDLE;
}

int pl_cudaGraphAddEventRecordNode(void **out, void *graph, void *const *before, size_t nbefore,
                                   void *event)
{
    return add_event(OP_RECORD, out, graph, before, nbefore, event);
}

int pl_cudaGraphAddEventWaitNode(void **out, void *graph, void *const *before, size_t nbefore,
                                 void *event)
{
    return add_event(OP_WAIT, out, graph, before, nbefore, event);
}

static bool has_own_memory_nodes(const cuda_graph *g)
{
    for (size_t k = 0; k < g->n; k++)
        if (g->node[k]->op.kind == OP_ALLOC || g->node[k]->op.kind == OP_FREE) return true;
    return false;
}

int pl_cudaGraphDestroyNode(void *node)
{
    cuda_node *x = node;
    if (!x) return CU_INVALID_VALUE;
    cuda_graph *g = x->graph;
    if (x->updatable || has_own_memory_nodes(g)) return CU_NOT_SUPPORTED;
    for (size_t k = 0; k < g->n; k++) {
        if (g->node[k] != x) cuda_remove_dependency(g->node[k], x);
        if (g->node[k] != x) continue;
        memmove(&g->node[k], &g->node[k + 1], (g->n - k - 1) * sizeof *g->node);
        g->n--;
        k--;
    }
    cuda_free_op(&x->op);
    free(x->before);
    free(x->edge);
    free(x->args);
    free_order(x);
    free(x);
    return CU_OK;
}

/* ---------------------------------------------------------------- queries */

int pl_cuGraphNodeGetType(void *node, int *type)
{
    if (!node || !type) return CU_INVALID_VALUE;
    *type = (int)((const cuda_node *)node)->op.kind;
    return CU_OK;
}

/* The runtime has no nodes that write values or wait for them. */
int pl_cudaGraphNodeGetType(void *node, int *type)
{
    const cuda_node *x = node;
    return x && x->op.kind == OP_MEMORY ? CU_UNKNOWN : pl_cuGraphNodeGetType(node, type);
}

/* Lists the nodes, or only the roots, in an array with space for *n; *n: the number of nodes. */
static int list_nodes(const cuda_graph *g, bool roots, void **out, size_t *n)
{
    size_t found = 0;
    if (!g || !n) return CU_INVALID_VALUE;
    for (size_t k = 0; k < g->n; k++) {
        if (roots && g->node[k]->nbefore) continue;
        if (out && found < *n) out[found] = g->node[k];
        found++;
    }
    for (size_t k = found; out && k < *n; k++) out[k] = NULL;
    if (!out || found < *n) *n = found;
    return CU_OK;
}

int pl_cudaGraphGetNodes(void *graph, void **out, size_t *n)
{
    return list_nodes(cuda_graph_of(graph), false, out, n);
}

int pl_cudaGraphGetRootNodes(void *graph, void **out, size_t *n)
{
    return list_nodes(cuda_graph_of(graph), true, out, n);
}

int pl_cudaGraphNodeFindInClone(void **out, void *node, void *clone)
{
    const cuda_graph *g = cuda_graph_of(clone);
    if (!out || !node || !g) return CU_INVALID_VALUE;
    *out = counterpart(g, node);
    return *out ? CU_OK : CU_INVALID_VALUE;
}

int pl_cudaGraphChildGraphNodeGetGraph(void *node, void **out)
{
    const cuda_node *x = node;
    if (!x || !out || x->op.kind != OP_GRAPH) return CU_INVALID_VALUE;
    *out = x->op.u.graph;
    return CU_OK;
}

/* ---------------------------------------------------------------- changing nodes */

int cuda_replace_op(cuda_node *x, const cuda_op *op, int error)
{
    if (error) return error;
    cuda_op owned = *op;
    if (!x || x->op.kind != op->kind) {
        cuda_free_op(&owned);
        return CU_INVALID_VALUE;
    }
    cuda_free_op(&x->op);
    x->op = owned;
    return CU_OK;
}

int pl_cudaGraphKernelNodeSetParams(void *node, const void *params)
{
    cuda_op op;
    const cuda_node *x = node;
    if (!x || x->op.kind != OP_KERNEL) return CU_INVALID_VALUE;
    const int error = cuda_kernel_op(params, x, &op);
    return cuda_replace_op(node, &op, error);
}

int pl_cudaGraphMemsetNodeSetParams(void *node, const void *params)
{
    cuda_op op;
    const int error = cuda_set_op(params, &op);
    return cuda_replace_op(node, &op, error);
}

int pl_cudaGraphHostNodeSetParams(void *node, const void *params)
{
    const host_params *p = params;
    if (!p || !p->fn) return CU_INVALID_VALUE;
    const cuda_op op = {.kind = OP_HOST, .u.host = {p->fn, p->arg}};
    return cuda_replace_op(node, &op, CU_OK);
}

int pl_cudaGraphMemcpyNodeSetParams(void *node, const cuda_copy3d *p)
{
    cuda_op op = {.kind = OP_COPY};
    int error = p ? cuda_convert3d(p, &op.u.copy) : CU_INVALID_VALUE;
    if (!error) error = cuda_check_copy(&op.u.copy);
    return cuda_replace_op(node, &op, error);
}

int pl_cudaGraphMemcpyNodeSetParams1D(void *node, void *to, const void *from, size_t bytes,
                                      int kind)
{
    const cuda_op op = {.kind = OP_COPY, .u.copy = cuda_linear_copy(to, from, bytes, kind)};
    return cuda_replace_op(node, &op, bytes ? cuda_check_copy(&op.u.copy) : CU_INVALID_VALUE);
}

/* Returns the node of an executable graph that corresponds to a node of its source. */
cuda_node *cuda_exec_node(void *exec, void *node)
{
    const cuda_graph *g = cuda_exec_of(exec);
    return g && node ? counterpart(g, node) : NULL;
}

int pl_cudaGraphExecKernelNodeSetParams(void *exec, void *node, const void *params)
{
    return pl_cudaGraphKernelNodeSetParams(cuda_exec_node(exec, node), params);
}

/* Only one-dimensional sets can be replaced. */
int pl_cudaGraphExecMemsetNodeSetParams(void *exec, void *node, const void *params)
{
    const memset_params *p = params;
    cuda_node *x = cuda_exec_node(exec, node);
    if (!x || !p || x->op.kind != OP_SET || x->op.u.set.height > 1 || p->height > 1)
        return CU_INVALID_VALUE;
    return pl_cudaGraphMemsetNodeSetParams(x, params);
}

/* Returns the kind of memory of a side. */
static int memory_kind(const cuda_side *s)
{
    enum { HOST, DEVICE, ARRAY };
    bool device = false;
    if (s->array) return ARRAY;
    return cuda_in_window((uintptr_t)s->p) || (cuda_bytes(s->p, 1, &device) && device) ? DEVICE
                                                                                       : HOST;
}

/* The direction determines the kinds of memory, except for cudaMemcpyDefault. */
static bool same_memory_kinds(const cuda_copy *a, const cuda_copy *b)
{
    if (a->kind != b->kind) return false;
    if (a->kind != COPY_DEFAULT)
        return !a->to.array == !b->to.array && !a->from.array == !b->from.array;
    return memory_kind(&a->to) == memory_kind(&b->to) &&
           memory_kind(&a->from) == memory_kind(&b->from);
}

static bool has_one_row(const cuda_copy *c)
{
    return c->height <= 1 && c->depth <= 1;
}

/* A copy of an executable graph must keep the kinds of memory; only copies of one row can be
 * replaced. */
int cuda_replace_copy(cuda_node *x, const cuda_copy *c)
{
    const cuda_op op = {.kind = OP_COPY, .u.copy = *c};
    if (!x || x->op.kind != OP_COPY || !has_one_row(&x->op.u.copy) || !has_one_row(c) ||
        !same_memory_kinds(&x->op.u.copy, c))
        return CU_INVALID_VALUE;
    return cuda_replace_op(x, &op, cuda_check_copy(c));
}

int pl_cudaGraphExecHostNodeSetParams(void *exec, void *node, const void *params)
{
    return pl_cudaGraphHostNodeSetParams(cuda_exec_node(exec, node), params);
}

int pl_cudaGraphExecMemcpyNodeSetParams(void *exec, void *node, const cuda_copy3d *p)
{
    cuda_copy c;
    const int error = p ? cuda_convert3d(p, &c) : CU_INVALID_VALUE;
    return error ? CU_INVALID_VALUE : cuda_replace_copy(cuda_exec_node(exec, node), &c);
}

int pl_cudaGraphExecMemcpyNodeSetParams1D(void *exec, void *node, void *to, const void *from,
                                          size_t bytes, int kind)
{
    const cuda_copy c = cuda_linear_copy(to, from, bytes, kind);
    return cuda_replace_copy(cuda_exec_node(exec, node), &c);
}

int pl_cudaGraphNodeSetEnabled(void *exec, void *node, unsigned enabled)
{
    cuda_node *x = cuda_exec_node(exec, node);
    if (!x || x->op.kind > OP_SET) return CU_INVALID_VALUE; /* kernels, copies and sets */
    x->disabled = !enabled;
    return CU_OK;
}

int pl_cudaGraphNodeGetEnabled(void *exec, void *node, unsigned *enabled)
{
    const cuda_node *x = cuda_exec_node(exec, node);
    if (!x || !enabled || x->op.kind > OP_SET) return CU_INVALID_VALUE;
    *enabled = !x->disabled;
    return CU_OK;
}

/* ---------------------------------------------------------------- executable graphs */

/* The bodies of a conditional node may contain only device work. */
static bool bodies_are_valid(const cuda_condition *c)
{
    for (unsigned i = 0; i < c->n; i++)
        for (size_t k = 0; k < c->body[i]->n; k++) {
            const cuda_op *op = &c->body[i]->node[k]->op;
            if (op->kind > OP_EMPTY ? op->kind != OP_CONDITION : op->kind == OP_HOST) return false;
            if (op->kind == OP_CONDITION && !bodies_are_valid(op->u.condition)) return false;
        }
    return true;
}

static bool is_device_accessible(const cuda_side *s)
{
    return !s->array && !cuda_is_pageable(s);
}

/* Graphs that kernels launch may contain kernels, copies, sets and graphs of them; the copies must
 * be of memory that the device can access. Returns the first other node; NULL: none. */
static cuda_node *only_for_host(const cuda_graph *g)
{
    for (size_t k = 0; k < g->n; k++) {
        const cuda_op *op = &g->node[k]->op;
        if (op->kind > OP_GRAPH || op->kind == OP_HOST) return g->node[k];
        if (op->kind == OP_GRAPH && only_for_host(op->u.graph)) return g->node[k];
        if (op->kind == OP_COPY &&
            !(is_device_accessible(&op->u.copy.from) && is_device_accessible(&op->u.copy.to)))
            return g->node[k];
    }
    return NULL;
}

/* Returns the first node that an executable graph with these flags cannot have; NULL: none. */
static cuda_node *unsupported_node(const cuda_graph *g, unsigned long long flags)
{
    for (size_t k = 0; k < g->n; k++)
        if (g->node[k]->op.kind == OP_CONDITION && !bodies_are_valid(g->node[k]->op.u.condition))
            return g->node[k];
    return flags & DEVICE_LAUNCH ? only_for_host(g) : NULL;
}

int cuda_instantiate(void **out, void *graph, unsigned long long flags, int *why, void **node)
{
    enum { AUTO_FREE = 1, UPLOAD = 2, PRIORITY = 8, FLAGS = 15 };
    enum { INVALID_STRUCTURE = 2, NODE_NOT_SUPPORTED = 3 }; /* cudaGraphInstantiateResult */
    cuda_graph *g = cuda_graph_of(graph);
    *why = 1; /* cudaGraphInstantiateError */
    *node = NULL;
    if (!out || !g || flags & ~(unsigned long long)FLAGS ||
        (flags & DEVICE_LAUNCH && (flags & AUTO_FREE || !g->n)))
        return CU_INVALID_VALUE;
    *why = INVALID_STRUCTURE;
    cuda_node **order = order_of(g);
    if (!order) return CU_INVALID_VALUE; /* a cycle */
    free(order);
    *why = NODE_NOT_SUPPORTED;
    *node = unsupported_node(g, flags);
    if (*node) return CU_INVALID_VALUE;
    const bool memory = cuda_has_memory_nodes(g);
    if ((memory && g->has_exec) || cuda_is_bound(g)) return CU_NOT_SUPPORTED;
    *why = 0;
    cuda_graph *exec = cuda_copy_graph(g);
    if (!exec || !cuda_bind_updatable(exec)) {
        cuda_free_graph(exec);
        return CU_MEMORY_ALLOCATION;
    }
    exec->exec = true;
    exec->flags = flags & ~(unsigned long long)PRIORITY;
    exec->uploaded = flags & UPLOAD;
    exec->source = memory ? g : NULL;
    g->has_exec = memory;
    *out = exec;
    return CU_OK;
}

/* Without a stream there is no upload. */
int pl_cudaGraphInstantiateWithFlags(void **out, void *graph, unsigned long long flags)
{
    enum { UPLOAD = 2 };
    int why;
    void *node;
    return flags & UPLOAD ? CU_INVALID_VALUE : cuda_instantiate(out, graph, flags, &why, &node);
}

int pl_cudaGraphInstantiate(void **out, void *graph, unsigned long long flags)
{
    return pl_cudaGraphInstantiateWithFlags(out, graph, flags);
}

int pl_cudaGraphInstantiate_11(void **out, void *graph, void **node, char *log, size_t room)
{
    if (node) *node = NULL;
    if (log && room) *log = '\0';
    return pl_cudaGraphInstantiateWithFlags(out, graph, 0);
}

int pl_cudaGraphExecDestroy(void *handle)
{
    cuda_graph *g = cuda_exec_of(handle);
    if (!g) return CU_INVALID_VALUE;
    cuda_free_graph(g);
    return CU_OK;
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

static int nodes_differ(const cuda_graph *exec, const cuda_node *a, const cuda_graph *g,
                        const cuda_node *b);

/* Returns the reason why the executable graph cannot be updated from the other graph; 0: it can.
 * *at: the node of the other graph, or NULL: the graph as a whole. */
static int differs(const cuda_graph *exec, const cuda_graph *g, void **at)
{
    *at = NULL;
    if (exec->n != g->n) return UPDATE_TOPOLOGY;
    for (size_t k = 0; k < g->n; k++) {
        const int why = nodes_differ(exec, exec->node[k], g, g->node[k]);
        if (!why) continue;
        *at = g->node[k];
        return why;
    }
    return 0;
}

/* A set of several rows must keep its shape. */
static bool same_rows(const cuda_set *a, const cuda_set *b)
{
    if (a->height <= 1 && b->height <= 1) return true;
    return a->height == b->height && a->width == b->width && a->element == b->element &&
           a->pitch == b->pitch;
}

static int nodes_differ(const cuda_graph *exec, const cuda_node *a, const cuda_graph *g,
                        const cuda_node *b)
{
    void *inside;
    if (a->op.kind != b->op.kind) return UPDATE_TYPE;
    if (a->nbefore != b->nbefore) return UPDATE_TOPOLOGY;
    for (size_t i = 0; i < a->nbefore; i++) {
        size_t x = 0, y = 0;
        while (exec->node[x] != a->before[i]) x++;
        while (g->node[y] != b->before[i]) y++;
        if (x != y) return UPDATE_TOPOLOGY;
    }
    if (a->op.kind == OP_COPY && !same_memory_kinds(&a->op.u.copy, &b->op.u.copy))
        return UPDATE_PARAMETERS;
    if (a->op.kind == OP_SET && !same_rows(&a->op.u.set, &b->op.u.set)) return UPDATE_PARAMETERS;
    return a->op.kind == OP_GRAPH ? differs(a->op.u.graph, b->op.u.graph, &inside) : 0;
}

int cuda_same_topology(const cuda_graph *exec, const cuda_graph *g)
{
    void *at;
    return differs(exec, g, &at) ? UPDATE_FAILURE : CU_OK;
}

static int update(cuda_graph *exec, const cuda_graph *g)
{
    for (size_t k = 0; k < g->n; k++) {
        cuda_op op = g->node[k]->op;
        if (copy_op(&op) != CU_OK) return CU_MEMORY_ALLOCATION;
        cuda_free_op(&exec->node[k]->op);
        exec->node[k]->op = op;
    }
    return CU_OK;
}

int pl_cudaGraphExecUpdate_11(void *handle, void *graph, void **node, int *result)
{
    cuda_graph *exec = cuda_exec_of(handle);
    const cuda_graph *g = cuda_graph_of(graph);
    void *at;
    if (!exec || !g) return CU_INVALID_VALUE;
    if (cuda_has_updatable(exec) || cuda_has_updatable(g)) return CU_NOT_SUPPORTED;
    const int why = differs(exec, g, &at);
    if (node) *node = at;
    if (result) *result = why;
    return why ? UPDATE_FAILURE : update(exec, g);
}

int pl_cudaGraphExecUpdate(void *handle, void *graph, void *info)
{
    struct {
        int result;
        void *node, *from;
    } *out = info;
    if (!out) return pl_cudaGraphExecUpdate_11(handle, graph, NULL, NULL);
    out->from = NULL;
    return pl_cudaGraphExecUpdate_11(handle, graph, &out->node, &out->result);
}

/* ---------------------------------------------------------------- capture */

/* The nodes on which the next node of the stream depends. */
typedef struct dependency_set {
    cuda_node **node;
    cuda_edge *edge; /* the edge from each of them */
    size_t n, cap;
} dependency_set;

static cuda_table dependency_sets; /* by stream and by event: dependency_set */

static dependency_set *dependencies_of(const void *key)
{
    dependency_set *t = cuda_table_get(&dependency_sets, key);
    if (t) return t;
    t = calloc(1, sizeof *t);
    if (t && cuda_table_put(&dependency_sets, key, t)) return t;
    free(t);
    return NULL;
}

static void drop_dependencies(const void *key)
{
    dependency_set *t = cuda_table_get(&dependency_sets, key);
    if (!t) return;
    cuda_table_remove(&dependency_sets, key);
    free(t->node);
    free(t->edge);
    free(t);
}

/* Adds a node unless it is in the set. False: no memory. */
static bool join_node(dependency_set *to, cuda_node *x, cuda_edge edge)
{
    for (size_t i = 0; i < to->n; i++)
        if (to->node[i] == x) return true;
    return append_edge(&to->node, &to->edge, &to->n, &to->cap, x, edge);
}

static bool join(dependency_set *to, const dependency_set *from)
{
    for (size_t k = 0; k < from->n; k++)
        if (!join_node(to, from->node[k], from->edge[k])) return false;
    return true;
}

/* A kernel launched with programmatic serialization begins when kernels before it permit it. */
static void make_programmatic(const dependency_set *t)
{
    static const cuda_edge programmatic = {.from_port = 1, .type = 1};
    for (size_t k = 0; k < t->n; k++)
        if (t->node[k]->op.kind == OP_KERNEL && cuda_is_plain_edge(&t->edge[k]))
            t->edge[k] = programmatic;
}

int cuda_capture_op(cuda_stream *s, const cuda_op *op)
{
    cuda_node *x = NULL;
    dependency_set *t = dependencies_of(s);
    cuda_op owned = *op;
    uint32_t blocks;
    if (s->capture->invalid || !t) {
        cuda_free_op(&owned);
        return t ? CAPTURE_INVALIDATED : CU_MEMORY_ALLOCATION;
    }
    if (cuda_is_empty(op)) return CU_OK;
    if (op->kind == OP_KERNEL) {
        cuda_launch *l = &owned.u.kernel.l;
        if (!l->prioritised) l->priority = s->priority;
        l->prioritised = true;
        const int bad = cuda_check_launch(op->u.kernel.f, &op->u.kernel.l, &blocks);
        if (bad) {
            s->capture->invalid = true;
            cuda_free_op(&owned);
            return bad;
        }
    }
    if (op->kind == OP_KERNEL && op->u.kernel.l.dependent) make_programmatic(t);
    for (size_t k = 0; k < t->n; k++)
        if (!cuda_edge_is_valid(s->capture->graph, t->node[k], op, &t->edge[k]))
            t->edge[k] = (cuda_edge){0};
    const int error = add_node(s->capture->graph, &owned, t->node, t->edge, t->n, &x);
    t->n = 0;
    return error ? error : join_node(t, x, (cuda_edge){0}) ? CU_OK : CU_MEMORY_ALLOCATION;
}

cuda_node *cuda_capture_last(const cuda_stream *s)
{
    return dependencies_of(s)->node[0];
}

int cuda_capture_record(cuda_stream *s, cuda_event *e)
{
    drop_dependencies(e);
    dependency_set *t = dependencies_of(e);
    const dependency_set *from = dependencies_of(s);
    if (!t || !from || !join(t, from)) return CU_MEMORY_ALLOCATION;
    e->capture = s->capture;
    e->captured = true;
    return CU_OK;
}

int cuda_capture_wait(cuda_stream *s, const cuda_event *e)
{
    if (s->capture && s->capture != e->capture) {
        s->capture->invalid = true;
        if (e->capture) e->capture->invalid = true;
        return e->capture ? CAPTURE_MERGE : CAPTURE_ISOLATION;
    }
    if (!s->capture) drop_dependencies(s);
    s->capture = e->capture;
    dependency_set *t = dependencies_of(s);
    const dependency_set *from = dependencies_of(e);
    return t && from && join(t, from) ? CU_OK : CU_MEMORY_ALLOCATION;
}

static bool are_nodes_of(const cuda_graph *g, void *const *node, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (!node[k] || ((const cuda_node *)node[k])->graph != g) return false;
    return true;
}

/* Starts a capture into a graph of the program, or (NULL) into a new one. */
static int begin_capture(void *stream, int mode, cuda_graph *into, void *const *before,
                         const cuda_edge *edge, size_t n)
{
    cuda_stream *s = cuda_stream_of(stream);
    if (!s) return CU_INVALID_HANDLE;
    if (mode < 0 || mode > 2) return CU_INVALID_VALUE;
    if (s == &cuda.device[s->device].legacy) return CU_CAPTURE_UNSUPPORTED;
    if (s->capture) return CU_ILLEGAL_STATE;
    if (!are_nodes_of(into, before, n)) return CU_INVALID_VALUE;
    cuda_capture *c = calloc(1, sizeof *c);
    if (!c) return CU_MEMORY_ALLOCATION;
    *c = (cuda_capture){.graph = into ? into : cuda_new_graph(),
                        .into_existing = into != NULL,
                        .mode = mode,
                        .thread = &cuda_self,
                        .origin = s,
                        .id = ++cuda.ids};
    if (!c->graph) {
        free(c);
        return CU_MEMORY_ALLOCATION;
    }
    drop_dependencies(s);
    s->capture = c;
    dependency_set *t = n ? dependencies_of(s) : NULL;
    for (size_t k = 0; t && k < n; k++)
        if (!join_node(t, before[k], edge ? edge[k] : (cuda_edge){0})) return CU_MEMORY_ALLOCATION;
    return n && !t ? CU_MEMORY_ALLOCATION : CU_OK;
}

int pl_cudaStreamBeginCapture(void *stream, int mode)
{
    return begin_capture(stream, mode, NULL, NULL, NULL, 0);
}

int pl_cudaStreamBeginCaptureToGraph(void *stream, void *graph, void *const *before,
                                     const void *data, size_t n, int mode)
{
    cuda_graph *g = cuda_graph_of(graph);
    if (!g || (n && !before)) return CU_INVALID_VALUE;
    if (is_capture_target(g)) return CU_ILLEGAL_STATE;
    return begin_capture(stream, mode, g, before, data, n);
}

/* The next node of the stream also depends on these nodes (flags 0), or only on them. */
int pl_cudaStreamUpdateCaptureDependencies(void *stream, void **node, const void *data, size_t n,
                                           unsigned flags)
{
    cuda_stream *s = cuda_stream_of(stream);
    const cuda_edge *edge = data;
    if (!s) return CU_INVALID_HANDLE;
    if (!s->capture) return CU_ILLEGAL_STATE;
    dependency_set *t = dependencies_of(s);
    if (flags > 1 || (n && !node) || !are_nodes_of(s->capture->graph, node, n))
        return CU_INVALID_VALUE;
    if (!t) return CU_MEMORY_ALLOCATION;
    if (flags == 1) t->n = 0;
    s->capture->edited = true;
    for (size_t k = 0; k < n; k++)
        if (!join_node(t, node[k], edge ? edge[k] : (cuda_edge){0})) return CU_MEMORY_ALLOCATION;
    return CU_OK;
}

int pl_cudaStreamUpdateCaptureDependencies_12(void *stream, void **node, size_t n, unsigned flags)
{
    return pl_cudaStreamUpdateCaptureDependencies(stream, node, NULL, n, flags);
}

/* True if all nodes without successors are joined to the stream in which the capture began, or the
 * program has set the dependencies itself. */
static bool all_joined(const cuda_capture *c)
{
    const dependency_set *t = dependencies_of(c->origin);
    for (size_t k = 0; !c->into_existing && !c->edited && k < c->graph->n; k++) {
        size_t i = 0;
        if (!is_leaf(c->graph, c->graph->node[k])) continue;
        while (i < t->n && t->node[i] != c->graph->node[k]) i++;
        if (i == t->n) return false;
    }
    return true;
}

static void end_capture(cuda_capture *c)
{
    size_t at = 0;
    for (cuda_stream *s; (s = cuda_table_next(&cuda.streams, &at)) != NULL;) {
        if (s->capture != c) continue;
        s->capture = NULL;
        drop_dependencies(s);
    }
    at = 0;
    for (cuda_event *e; (e = cuda_table_next(&cuda.events, &at)) != NULL;) {
        if (e->capture != c) continue;
        e->capture = NULL;
        drop_dependencies(e);
    }
    free(c);
}

int pl_cudaStreamEndCapture(void *stream, void **graph)
{
    cuda_stream *s = cuda_stream_of(stream);
    if (!s) return CU_INVALID_HANDLE;
    if (graph) *graph = NULL;
    if (!s->capture) return CU_ILLEGAL_STATE;
    if (!graph && !s->capture->into_existing) return CU_INVALID_VALUE;
    cuda_capture *c = s->capture;
    int error = c->invalid ? CAPTURE_INVALIDATED : CU_OK;
    if (!error && c->origin != s) {
        c->invalid = true;
        return CAPTURE_UNMATCHED;
    }
    if (!error && c->mode != CAPTURE_RELAXED && c->thread != &cuda_self)
        error = CAPTURE_WRONG_THREAD;
    if (!error && !all_joined(c)) error = CAPTURE_UNJOINED;
    if (error && !c->into_existing)
        cuda_free_graph(c->graph);
    else if (!error && graph)
        *graph = c->graph;
    end_capture(c);
    return error;
}

/* The legacy stream would wait for it. */
static bool blocking_stream_captures(int device)
{
    size_t at = 0;
    for (const cuda_stream *s; (s = cuda_table_next(&cuda.streams, &at)) != NULL;)
        if (s->capture && s->device == device && cuda_blocking(s)) return true;
    return false;
}

int pl_cudaStreamIsCapturing(void *stream, int *status)
{
    const cuda_stream *s = cuda_stream_of(stream);
    if (!s) return CU_INVALID_HANDLE;
    if (!status) return CU_INVALID_VALUE;
    if (s == &cuda.device[s->device].legacy && blocking_stream_captures(s->device))
        return CAPTURE_IMPLICIT;
    *status = !s->capture ? 0 : s->capture->invalid ? 2 : 1;
    return CU_OK;
}

int pl_cudaStreamGetCaptureInfo(void *stream, int *status, unsigned long long *id, void **graph,
                                void ***dependencies, void **data, size_t *n)
{
    const cuda_stream *s = cuda_stream_of(stream);
    const int error = pl_cudaStreamIsCapturing(stream, status);
    if (error || !s->capture) return error;
    const dependency_set *t = dependencies_of(s);
    for (size_t k = 0; dependencies && !data && t && k < t->n; k++)
        if (!cuda_is_plain_edge(&t->edge[k])) return CU_LOSSY_QUERY;
    if (id) *id = s->capture->id;
    if (graph) *graph = s->capture->graph;
    if (dependencies) *dependencies = t ? (void **)t->node : NULL;
    if (data) *data = t ? t->edge : NULL;
    if (n) *n = t ? t->n : 0;
    return CU_OK;
}

int pl_cudaStreamGetCaptureInfo_12(void *stream, int *status, unsigned long long *id)
{
    return pl_cudaStreamGetCaptureInfo(stream, status, id, NULL, NULL, NULL, NULL);
}

int pl_cudaStreamGetCaptureInfo_v2_12(void *stream, int *status, unsigned long long *id,
                                      void **graph, void ***dependencies, size_t *n)
{
    return pl_cudaStreamGetCaptureInfo(stream, status, id, graph, dependencies, NULL, n);
}
