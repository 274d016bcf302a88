/* graph_exec.c - executable graphs: instantiation, updates, and changes of the parameters of nodes,
 * which a graph and an executable graph have in common. */
#include "cudart/clock.h"
#include "cudart/graph.h"
#include <stdlib.h>

/* ---------------------------------------------------------------- parameters of nodes */

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
    const cuda_op op = {.kind = OP_HOST, .u.host = {.fn = p->fn, .arg = p->arg}};
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
static int replace_copy(cuda_node *x, const cuda_copy *c)
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
    return error ? CU_INVALID_VALUE : replace_copy(cuda_exec_node(exec, node), &c);
}

int pl_cudaGraphExecMemcpyNodeSetParams1D(void *exec, void *node, void *to, const void *from,
                                          size_t bytes, int kind)
{
    const cuda_copy c = cuda_linear_copy(to, from, bytes, kind);
    return bytes ? replace_copy(cuda_exec_node(exec, node), &c) : CU_INVALID_VALUE;
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
/* ---------------------------------------------------------------- instantiation */

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
    enum { INVALID_STRUCTURE = 2, NODE_NOT_SUPPORTED = 3, HANDLE_UNUSED = 5 }; /* the result */
    cuda_graph *g = cuda_graph_of(graph);
    *why = 1; /* cudaGraphInstantiateError */
    *node = NULL;
    if (!out || !g || flags & ~(unsigned long long)FLAGS ||
        (flags & DEVICE_LAUNCH && (flags & AUTO_FREE || !g->n)))
        return CU_INVALID_VALUE;
    const int unsafe = cuda_check_captures(CUDA_UNSAFE_CALL);
    if (unsafe) return unsafe;
    *why = INVALID_STRUCTURE;
    cuda_node **order = cuda_graph_order(g);
    if (!order) return CU_INVALID_VALUE; /* a cycle */
    free(order);
    *why = NODE_NOT_SUPPORTED;
    *node = unsupported_node(g, flags);
    if (*node) return CU_INVALID_VALUE;
    *why = HANDLE_UNUSED;
    if (g->unused_handles) return CU_INVALID_VALUE;
    const bool single = cuda_has_memory_nodes(g) || cuda_has_condition(g);
    if ((single && g->has_exec) || cuda_is_bound(g)) return CU_NOT_SUPPORTED;
    *why = 0;
    cuda_graph *exec = cuda_copy_graph(g);
    if (!exec || !cuda_bind_updatable(exec)) {
        cuda_free_graph(exec);
        return CU_MEMORY_ALLOCATION;
    }
    exec->exec = true;
    exec->flags = flags & ~(unsigned long long)(PRIORITY | UPLOAD);
    exec->uploaded = flags & UPLOAD;
    exec->source = single ? g : NULL;
    g->has_exec = single;
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
    const int unsafe = cuda_check_captures(CUDA_UNSAFE_CALL);
    if (unsafe) return unsafe;
    if (g->in_progress)
        g->exec = false; /* it is freed at its end */
    else
        cuda_free_graph(g);
    return CU_OK;
}
/* ---------------------------------------------------------------- updates */

enum {
    UPDATE_FAILURE = 910,
    UPDATE_ERROR = 1,
    UPDATE_TOPOLOGY = 2,
    UPDATE_TYPE = 3,
    UPDATE_FUNCTION = 4,
    UPDATE_PARAMETERS = 5,
    UPDATE_ATTRIBUTES = 8
};

/* The nodes of two graphs in an order that their edges permit: they are compared in pairs. */
typedef struct node_pairs {
    cuda_node **a, **b;
    size_t n;
} node_pairs;

static bool pair_nodes(node_pairs *p, const cuda_graph *exec, const cuda_graph *g)
{
    p->a = cuda_graph_order((cuda_graph *)(uintptr_t)exec);
    p->b = cuda_graph_order((cuda_graph *)(uintptr_t)g);
    p->n = g->n;
    return p->a && p->b;
}

static void free_pairs(node_pairs *p)
{
    free(p->a);
    free(p->b);
}

static size_t dependents_of(cuda_node *const *list, size_t n, const cuda_node *x)
{
    size_t found = 0;
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < list[k]->nbefore; i++) found += list[k]->before[i] == x;
    return found;
}

/* True if the nodes of pair k depend on the nodes of other pairs. */
static bool dependencies_differ(const node_pairs *p, size_t k)
{
    const cuda_node *a = p->a[k], *b = p->b[k];
    if (a->nbefore != b->nbefore) return true;
    for (size_t i = 0; i < a->nbefore; i++) {
        size_t x = 0, y = 0;
        while (p->a[x] != a->before[i]) x++;
        while (p->b[y] != b->before[i]) y++;
        if (x != y) return true;
    }
    return false;
}

/* The last node that lost dependents is named, none if one has gained some (H100). */
static int edges_differ(const node_pairs *p, void **at)
{
    for (size_t k = p->n; k-- > 0;) {
        const size_t was = dependents_of(p->a, p->n, p->a[k]),
                     is = dependents_of(p->b, p->n, p->b[k]);
        *at = was > is ? p->b[k] : NULL;
        if (was != is) return UPDATE_TOPOLOGY;
    }
    for (size_t k = p->n; k-- > 0;) {
        *at = p->b[k];
        if (dependencies_differ(p, k)) return UPDATE_TOPOLOGY;
    }
    *at = NULL;
    return 0;
}

static int nodes_differ(const node_pairs *p, size_t k, void **at);

/* Returns the reason why the executable graph cannot be updated from the other graph; 0: it can.
 * *at: the node of the other graph or of a child graph in it, or NULL: a graph as a whole. Edges
 * are compared before types, both from the last node to the first, as on an H100. */
static int differs(const cuda_graph *exec, const cuda_graph *g, void **at)
{
    *at = NULL;
    if (exec->n != g->n) return UPDATE_TOPOLOGY;
    node_pairs p;
    int why = pair_nodes(&p, exec, g) ? edges_differ(&p, at) : UPDATE_ERROR;
    for (size_t k = g->n; k-- > 0 && !why;) why = nodes_differ(&p, k, at);
    free_pairs(&p);
    return why;
}

/* A set of several rows must keep its shape. */
static bool same_rows(const cuda_set *a, const cuda_set *b)
{
    if (a->height <= 1 && b->height <= 1) return true;
    return a->height == b->height && a->width == b->width && a->element == b->element &&
           a->pitch == b->pitch;
}

static int nodes_differ(const node_pairs *p, size_t k, void **at)
{
    const cuda_node *a = p->a[k], *b = p->b[k];
    *at = p->b[k];
    if (a->op.kind != b->op.kind) return UPDATE_TYPE;
    if (a->op.kind == OP_KERNEL && a->op.u.kernel.l.cooperative != b->op.u.kernel.l.cooperative)
        return UPDATE_ATTRIBUTES;
    if (a->op.kind == OP_COPY && !same_memory_kinds(&a->op.u.copy, &b->op.u.copy))
        return UPDATE_PARAMETERS;
    if (a->op.kind == OP_SET && !same_rows(&a->op.u.set, &b->op.u.set)) return UPDATE_PARAMETERS;
    if (a->op.kind == OP_GRAPH) return differs(a->op.u.graph, b->op.u.graph, at);
    *at = NULL;
    return 0;
}

int cuda_same_topology(const cuda_graph *exec, const cuda_graph *g)
{
    void *at;
    return differs(exec, g, &at) ? UPDATE_FAILURE : CU_OK;
}

static int update(cuda_graph *exec, const cuda_graph *g)
{
    node_pairs p;
    int error = pair_nodes(&p, exec, g) ? CU_OK : CU_MEMORY_ALLOCATION;
    for (size_t k = 0; k < g->n && !error; k++) {
        cuda_op op = p.b[k]->op;
        error = cuda_copy_op(&op);
        if (error) break;
        cuda_free_op(&p.a[k]->op);
        p.a[k]->op = op;
    }
    free_pairs(&p);
    if (!error) cuda_replace_user_objects(exec, g);
    return error;
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
