/* graph.c - graphs: nodes and their dependencies; creation, copies, destruction and queries.
 *
 * An executable graph is a copy of a graph (graph_exec.c), stream capture creates nodes
 * (graph_capture.c), and graph_launch.c executes them. */
#include "cudart/blocked.h"
#include "cudart/checking.h"
#include "cudart/graph.h"
#include "cudart/green_context.h"
#include <stdlib.h>
#include <string.h>

static cuda_table graphs; /* graphs and executable graphs by handle */

/* ---------------------------------------------------------------- edges */

static bool append(cuda_node ***list, size_t *n, size_t *cap, cuda_node *x)
{
    cuda_node **at = cuda_array_room(*list, *n, cap, sizeof **list);
    if (!at) return false;
    *list = at;
    (*list)[(*n)++] = x;
    return true;
}

size_t cuda_dependency_index(const cuda_node *x, const cuda_node *on)
{
    size_t k = 0;
    while (k < x->nbefore && x->before[k] != on) k++;
    return k;
}

bool cuda_append_edge(cuda_node ***list, cuda_edge **edges, size_t *n, size_t *cap, cuda_node *x,
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
    return cuda_append_edge(&x->before, &x->edge, &x->nbefore, &x->cap_before, on, edge);
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
    const bool kernel = from->op.kind == OP_KERNEL;
    if (e->to_port || e->from_port > LAST_PORT || (e->from_port && !kernel)) return false;
    if (e->type == PROGRAMMATIC) return kernel && to->kind == OP_KERNEL && e->from_port;
    return !e->type && (!e->from_port || e->from_port == LAST_PORT); /* that of the launch (H200) */
}

/* ---------------------------------------------------------------- handles and lifetime */

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
    static uint64_t ids;
    cuda_graph *g = calloc(1, sizeof *g);
    if (g) g->id = ++ids;
    cuda_order_begin();
    if (!g || cuda_table_put(&graphs, g, g)) return g;
    free(g);
    return NULL;
}

void cuda_free_op(cuda_op *op)
{
    if (op->kind == OP_MEMORY) free(op->u.values);
    if (op->kind == OP_KERNEL) cuda_drop_suspended(op->u.kernel.params);
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

int cuda_insert_node(cuda_graph *g, const cuda_op *op, cuda_node *const *before,
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

/* ---------------------------------------------------------------- copies */

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

int cuda_copy_op(cuda_op *op)
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
        good = cuda_copy_op(&op) == CU_OK && cuda_insert_node(g, &op, NULL, NULL, 0, NULL) == CU_OK;
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
/* ---------------------------------------------------------------- order */

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

cuda_node **cuda_graph_order(cuda_graph *g)
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
/* ---------------------------------------------------------------- creation */

int pl_cudaGraphCreate(void **out, unsigned flags)
{
    if (!out || flags) return CU_INVALID_VALUE;
    *out = cuda_new_graph();
    return *out ? CU_OK : CU_MEMORY_ALLOCATION;
}

bool cuda_is_capture_target(const cuda_graph *g)
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
    if (cuda_is_capture_target(g)) return CU_ILLEGAL_STATE;
    cuda_free_graph(g);
    return CU_OK;
}

bool cuda_has_condition(const cuda_graph *g)
{
    for (size_t k = 0; k < g->n; k++)
        if (g->node[k]->op.kind == OP_CONDITION) return true;
    return false;
}

/* True if it has neither memory nodes nor conditional nodes, which cannot be duplicated. */
static bool can_be_copied(const cuda_graph *g)
{
    return !cuda_has_condition(g) && !g->handles && !cuda_has_memory_nodes(g);
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
    const int error =
        cuda_insert_node(g, op, (cuda_node *const *)(const void *)before, edge, nbefore, &x);
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
    return p->extra ? cuda_copy_param_block(p->extra, op)
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
    const int error = cuda_convert_node3d(p, &c);
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
    const cuda_op op = {.kind = OP_HOST, .u.host = {.fn = p->fn, .arg = p->arg}};
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

bool cuda_has_own_memory_nodes(const cuda_graph *g)
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
    if (x->updatable || cuda_has_own_memory_nodes(g)) return CU_NOT_SUPPORTED;
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

/* Also of nodes in child graphs. */
static cuda_node *nested_counterpart(const cuda_graph *copy, const cuda_node *of)
{
    cuda_node *found = counterpart(copy, of);
    for (size_t k = 0; !found && k < copy->n; k++)
        if (copy->node[k]->op.kind == OP_GRAPH)
            found = nested_counterpart(copy->node[k]->op.u.graph, of);
    return found;
}

cuda_node *cuda_exec_node(void *exec, void *node)
{
    const cuda_graph *g = cuda_exec_of(exec);
    return g && node ? nested_counterpart(g, node) : NULL;
}

int pl_cudaGraphChildGraphNodeGetGraph(void *node, void **out)
{
    const cuda_node *x = node;
    if (!x || !out || x->op.kind != OP_GRAPH) return CU_INVALID_VALUE;
    *out = x->op.u.graph;
    return CU_OK;
}
