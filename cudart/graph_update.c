/* graph_update.c - kernel nodes that kernels change: cudaGraphKernelNodeSetParam and similar.
 *
 * A node of a graph gets a handle for kernels. Kernels use it to change the corresponding node of
 * the executable graph, of which there is at most one. */
#include "cudart/graph.h"
#include <stdlib.h>
#include <string.h>

static cuda_table updatable_nodes; /* by handle: the node of an executable graph */
static pthread_mutex_t update_lock = PTHREAD_MUTEX_INITIALIZER;

static void *key_of(uint64_t handle)
{
    return (void *)(uintptr_t)handle;
}

static uint32_t update_field(const cuda_device *device, uint64_t node, uint32_t field,
                             const void *value, uint64_t offset, uint64_t bytes)
{
    cuda_node *x = node ? cuda_table_get(&updatable_nodes, key_of(node)) : NULL;
    if (!x || device != &cuda.device[x->op.u.kernel.device]) return CU_INVALID_VALUE;
    const uint32_t param_bytes = x->op.u.kernel.f->info.param_bytes;
    dim3 grid;
    switch (field) {
    case PL_NODE_PARAM:
        if (offset > param_bytes || bytes > param_bytes - offset) return CU_INVALID_VALUE;
        memcpy(x->op.u.kernel.params + offset, value, bytes);
        return CU_OK;
    case PL_NODE_GRID:
        memcpy(&grid, value, sizeof grid);
        if (!grid.x || !grid.y || !grid.z) return CU_INVALID_VALUE;
        x->op.u.kernel.l.grid = grid;
        return CU_OK;
    case PL_NODE_ENABLED: x->disabled = !*(const uint8_t *)value; return CU_OK;
    default: return CU_INVALID_VALUE;
    }
}

/* Called by threads of the emulator; the launching thread waits for them and holds the lock. */
static uint32_t update_node(void *device, uint64_t node, uint32_t field, const void *value,
                            uint64_t offset, uint64_t bytes)
{
    pthread_mutex_lock(&update_lock);
    const uint32_t error = update_field(device, node, field, value, offset, bytes);
    pthread_mutex_unlock(&update_lock);
    return error;
}

uint64_t cuda_enable_updates(cuda_node *x)
{
    enum { HANDLE_STEP = 256 }; /* handles look like addresses */
    if (!x->updatable) x->updatable = HANDLE_STEP * ++cuda.ids;
    cuda.update_node = update_node;
    return x->updatable;
}

/* Calls `visit` for each node of a graph and its nested graphs until it returns false. */
static bool each_node(const cuda_graph *g, bool (*visit)(cuda_node *x))
{
    bool all = true;
    for (size_t k = 0; k < g->n && all; k++) {
        cuda_node *x = g->node[k];
        all = visit(x);
        if (x->op.kind == OP_GRAPH) all = all && each_node(x->op.u.graph, visit);
        for (unsigned i = 0; x->op.kind == OP_CONDITION && i < x->op.u.condition->n; i++)
            all = all && each_node(x->op.u.condition->body[i], visit);
    }
    return all;
}

static bool is_not_updatable(cuda_node *x)
{
    return !x->updatable;
}

bool cuda_has_updatable(const cuda_graph *g)
{
    return !each_node(g, is_not_updatable);
}

static bool is_unbound(cuda_node *x)
{
    return !x->updatable || !cuda_table_get(&updatable_nodes, key_of(x->updatable));
}

bool cuda_is_bound(const cuda_graph *g)
{
    return !each_node(g, is_unbound);
}

static bool bind_node(cuda_node *x)
{
    x->updatable = x->origin ? x->origin->updatable : 0;
    return !x->updatable || cuda_table_put(&updatable_nodes, key_of(x->updatable), x);
}

bool cuda_bind_updatable(cuda_graph *exec)
{
    return each_node(exec, bind_node);
}

void cuda_unbind_updatable(const cuda_node *x)
{
    if (x->updatable && cuda_table_get(&updatable_nodes, key_of(x->updatable)) == x)
        cuda_table_remove(&updatable_nodes, key_of(x->updatable));
}
