/* graph_capture.c - stream capture: an operation of a capturing stream becomes a node that depends
 * on the latest nodes of the stream. Events carry dependencies to other streams. */
#include "cudart/graph.h"
#include <stdlib.h>

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
    return cuda_append_edge(&to->node, &to->edge, &to->n, &to->cap, x, edge);
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
    const int error = cuda_insert_node(s->capture->graph, &owned, t->node, t->edge, t->n, &x);
    t->n = 0;
    if (!error && op->kind == OP_KERNEL) (void)cuda_copy_attributes(x, s); /* as on an H200 */
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
    if (s == &cuda.device[s->device].legacy) {
        const int implicit = cuda_check_captures(CUDA_IN_LEGACY_STREAM);
        return implicit ? implicit : CU_CAPTURE_UNSUPPORTED;
    }
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
    if (cuda_is_capture_target(g)) return CU_ILLEGAL_STATE;
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
    if (s->capture->invalid) return CAPTURE_INVALIDATED;
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

static bool is_leaf(const cuda_graph *g, const cuda_node *x)
{
    for (size_t k = 0; k < g->n; k++)
        if (cuda_dependency_index(g->node[k], x) < g->node[k]->nbefore) return false;
    return true;
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
    if (c->origin != s) {
        c->invalid = true;
        return CAPTURE_UNMATCHED;
    }
    int error = c->invalid ? CAPTURE_INVALIDATED : CU_OK;
    if (!error && c->mode != CAPTURE_RELAXED && c->thread != &cuda_self)
        error = CAPTURE_WRONG_THREAD;
    if (!error && !all_joined(c)) error = CAPTURE_UNJOINED;
    /* An invalid capture destroys the graph, also one of the program (H100). */
    if (error && (!c->into_existing || (c->invalid && !c->graph->owned)))
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
    if (error || !s->capture || s->capture->invalid) return error;
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
