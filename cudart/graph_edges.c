/* graph_edges.c - calls that add, remove and list the dependencies between nodes of a graph. */
#include "cudart/graph.h"
#include <string.h>

static const cuda_edge plain;

int pl_cudaGraphAddDependencies(void *graph, void *const *from, void *const *to, const void *data,
                                size_t n)
{
    const cuda_graph *g = cuda_graph_of(graph);
    const cuda_edge *edge = data;
    if (!g || (n && (!from || !to))) return CU_INVALID_VALUE;
    for (size_t k = 0; k < n; k++) {
        cuda_node *x = to[k], *on = from[k];
        const cuda_edge *e = edge ? &edge[k] : &plain;
        if (!x || x->graph != g || x == on || !cuda_edge_is_valid(g, on, &x->op, e) ||
            cuda_dependency_index(x, on) < x->nbefore)
            return CU_INVALID_VALUE;
        if (!cuda_add_dependency(x, on, *e)) return CU_MEMORY_ALLOCATION;
    }
    return CU_OK;
}

int pl_cudaGraphAddDependencies_12(void *graph, void *const *from, void *const *to, size_t n)
{
    return pl_cudaGraphAddDependencies(graph, from, to, NULL, n);
}

/* Without data it removes edges of any kind. */
int pl_cudaGraphRemoveDependencies(void *graph, void *const *from, void *const *to,
                                   const void *data, size_t n)
{
    const cuda_graph *g = cuda_graph_of(graph);
    const cuda_edge *edge = data;
    if (!g || (n && (!from || !to))) return CU_INVALID_VALUE;
    if (cuda_has_own_memory_nodes(g)) return CU_NOT_SUPPORTED;
    for (size_t k = 0; k < n; k++) {
        cuda_node *x = to[k];
        const cuda_node *on = from[k];
        if (!x || !on || x->graph != g) return CU_INVALID_VALUE;
        const size_t at = cuda_dependency_index(x, on);
        if (at == x->nbefore || (edge && memcmp(&edge[k], &x->edge[at], sizeof *edge) != 0))
            return CU_INVALID_VALUE;
        cuda_remove_dependency(x, on);
    }
    return CU_OK;
}

int pl_cudaGraphRemoveDependencies_12(void *graph, void *const *from, void *const *to, size_t n)
{
    return pl_cudaGraphRemoveDependencies(graph, from, to, NULL, n);
}

/* A list of edges for the program. Absent arrays are NULL. */
typedef struct edge_list {
    void **from, **to;
    cuda_edge *data;
    size_t room, found;
    bool lossy; /* data that a list without `data` cannot show */
} edge_list;

static void list_edge(edge_list *l, cuda_node *from, cuda_node *to, size_t at)
{
    const cuda_edge *e = &to->edge[at];
    if (l->found < l->room) {
        if (l->from) l->from[l->found] = from;
        if (l->to) l->to[l->found] = to;
        if (l->data) l->data[l->found] = *e;
        l->lossy |= (l->from || l->to) && !l->data && !cuda_is_plain_edge(e);
    }
    l->found++;
}

/* *n: the number of edges, if there is room for more or the program asks for the number only. */
static int end_list(const edge_list *l, size_t *n)
{
    if ((l->from || l->to) && !l->room) return CU_INVALID_VALUE;
    if (l->lossy) return CU_LOSSY_QUERY;
    for (size_t k = l->found; (l->from || l->to) && k < l->room; k++) {
        if (l->from) l->from[k] = NULL;
        if (l->to) l->to[k] = NULL;
    }
    if ((!l->from && !l->to) || l->found < l->room) *n = l->found;
    return CU_OK;
}

static void list_edges_from(edge_list *l, cuda_node *x)
{
    for (size_t k = 0; k < x->graph->n; k++) {
        cuda_node *to = x->graph->node[k];
        const size_t at = cuda_dependency_index(to, x);
        if (at < to->nbefore) list_edge(l, x, to, at);
    }
}

int pl_cudaGraphGetEdges(void *graph, void **from, void **to, void *data, size_t *n)
{
    const cuda_graph *g = cuda_graph_of(graph);
    if (!g || !n || !from != !to) return CU_INVALID_VALUE;
    const bool listed = from && to;
    edge_list l = {.from = listed ? from : NULL,
                   .to = listed ? to : NULL,
                   .data = listed ? data : NULL,
                   .room = *n};
    for (size_t i = 0; i < g->n; i++) list_edges_from(&l, g->node[i]);
    return end_list(&l, n);
}

int pl_cudaGraphGetEdges_12(void *graph, void **from, void **to, size_t *n)
{
    return pl_cudaGraphGetEdges(graph, from, to, NULL, n);
}

int pl_cudaGraphNodeGetDependencies(void *node, void **out, void *data, size_t *n)
{
    cuda_node *x = node;
    if (!x || !n) return CU_INVALID_VALUE;
    edge_list l = {.from = out, .data = out ? data : NULL, .room = *n};
    for (size_t k = 0; k < x->nbefore; k++) list_edge(&l, x->before[k], x, k);
    return end_list(&l, n);
}

int pl_cudaGraphNodeGetDependencies_12(void *node, void **out, size_t *n)
{
    return pl_cudaGraphNodeGetDependencies(node, out, NULL, n);
}

int pl_cudaGraphNodeGetDependentNodes(void *node, void **out, void *data, size_t *n)
{
    cuda_node *x = node;
    if (!x || !n) return CU_INVALID_VALUE;
    edge_list l = {.to = out, .data = out ? data : NULL, .room = *n};
    list_edges_from(&l, x);
    return end_list(&l, n);
}

int pl_cudaGraphNodeGetDependentNodes_12(void *node, void **out, size_t *n)
{
    return pl_cudaGraphNodeGetDependentNodes(node, out, NULL, n);
}
