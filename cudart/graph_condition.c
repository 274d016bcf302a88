/* graph_condition.c - conditional nodes, and the handles by whose values they select a graph. */
#include "cudart/graph.h"
#include <stdlib.h>

typedef struct condition_handle {
    unsigned value;
    bool assign; /* value at the start of each launch */
    const void *graph;
    bool used; /* by a node */
} condition_handle;

static cuda_table handles; /* by number */

int pl_cudaGraphConditionalHandleCreate(uint64_t *out, void *graph, unsigned value, unsigned flags)
{
    cuda_graph *g = cuda_graph_of(graph);
    if (!out || !g || flags > 1) return CU_INVALID_VALUE;
    condition_handle *h = calloc(1, sizeof *h);
    const uint64_t number = ++cuda.ids;
    if (!h || !cuda_table_put(&handles, (void *)(uintptr_t)number, h)) {
        free(h);
        return CU_MEMORY_ALLOCATION;
    }
    *h = (condition_handle){value, flags != 0, graph, false};
    *out = number;
    g->handles++;
    g->unused_handles++;
    return CU_OK;
}

void cuda_reset_conditions(const cuda_graph *g)
{
    for (size_t k = 0; k < g->n; k++) {
        const cuda_op *op = &g->node[k]->op;
        if (op->kind == OP_GRAPH) cuda_reset_conditions(op->u.graph);
        if (op->kind != OP_CONDITION) continue;
        const cuda_condition *c = op->u.condition;
        const condition_handle *h = cuda_table_get(&handles, (void *)(uintptr_t)c->handle);
        if (h && h->assign) pl_gpu_set_conditional(cuda_current_device()->gpu, c->handle, h->value);
        for (unsigned i = 0; i < c->n; i++) cuda_reset_conditions(c->body[i]);
    }
}

int cuda_condition_op(condition_params *p, cuda_graph *g, cuda_op *op)
{
    condition_handle *h = cuda_table_get(&handles, (void *)(uintptr_t)p->handle);
    if (!p->n || p->kind < 0 || p->kind > CONDITION_SWITCH ||
        (p->kind == CONDITION_WHILE && p->n != 1) || (p->kind == CONDITION_IF && p->n > 2) || !h ||
        h->used || h->graph != g)
        return CU_INVALID_VALUE;
    cuda_condition *c = calloc(1, sizeof *c);
    if (!c) return CU_MEMORY_ALLOCATION;
    *c = (cuda_condition){p->handle, (cuda_condition_kind)p->kind, p->n, NULL};
    c->body = calloc(c->n, sizeof *c->body);
    bool good = c->body != NULL;
    for (unsigned k = 0; good && k < c->n; k++) good = (c->body[k] = cuda_new_graph()) != NULL;
    if (!good) {
        for (unsigned k = 0; c->body && k < c->n; k++) cuda_free_graph(c->body[k]);
        free(c->body);
        free(c);
        return CU_MEMORY_ALLOCATION;
    }
    h->used = true;
    g->unused_handles--;
    p->out = (void **)(void *)c->body;
    *op = (cuda_op){.kind = OP_CONDITION, .u.condition = c};
    return CU_OK;
}
