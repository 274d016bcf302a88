/* graph_nodes.c - parameters of nodes, creation of nodes of every kind by one call, and nodes that
 * allocate and free memory. */
#include "cudart/blocked.h"
#include "cudart/graph.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* cudaMemAllocNodeParams */
typedef struct alloc_params {
    char pool[88];
    const void *access;
    size_t naccess, bytes;
    void *p;
} alloc_params;

typedef struct copy_params {
    int flags, reserved[3];
    cuda_copy3d copy;
} copy_params;

typedef struct child_params {
    void *graph;
    int ownership; /* 0: the node gets a copy; 1: the node takes ownership */
} child_params;

/* cudaGraphNodeParams */
typedef struct node_params {
    int kind, reserved[3];
    union {
        long long room[29];
        kernel_params kernel;
        copy_params copy;
        memset_params set;
        host_params host;
        child_params child;
        void *event;
        alloc_params alloc;
        void *freed;
        condition_params condition;
    } u;
    long long reserved2;
} node_params;

_Static_assert(sizeof(node_params) == 256, "layout of CUDA 13");

/* ---------------------------------------------------------------- memory of graphs */

int cuda_capture_free(cuda_stream *s, void *p)
{
    cuda_op op;
    const int error = cuda_graph_memory_free_op(s->capture->graph, p, &op);
    return error ? error : cuda_submit(s, &op);
}

/* Graphs allocate from a device, and their memory cannot be exported. */
static int check_pool(const alloc_params *p)
{
    enum { PINNED = 1 };
    struct {
        int type, handle_types, location_type, location;
    } pool;
    memcpy(&pool, p->pool, sizeof pool);
    if (pool.type != PINNED || pool.location_type != CUDA_LOCATION_DEVICE ||
        !cuda_is_device(pool.location))
        return CU_INVALID_VALUE;
    if (pool.handle_types) return CU_NOT_SUPPORTED;
    const struct {
        int location_type, location, flags;
    } *access = p->access; /* cudaMemAccessDesc */
    for (size_t k = 0; k < p->naccess; k++) {
        if (!cuda_is_device(access[k].location)) return CU_INVALID_DEVICE;
        if (access[k].flags != CUDA_READ_WRITE) return CU_NOT_SUPPORTED;
    }
    return CU_OK;
}

int pl_cudaGraphAddMemAllocNode(void **out, void *graph, void *const *before, size_t nbefore,
                                void *params)
{
    alloc_params *p = params;
    cuda_op op;
    const cuda_graph *g = cuda_graph_of(graph);
    if (!p || !g || (nbefore && !before)) return CU_INVALID_VALUE;
    int error = check_pool(p);
    if (!error) error = cuda_graph_memory_op(g, before, nbefore, p->bytes, &op);
    if (error) return error;
    p->p = (void *)(uintptr_t)op.u.memory->address;
    return cuda_add_node(out, graph, before, nbefore, &op);
}

int pl_cudaGraphAddMemFreeNode(void **out, void *graph, void *const *before, size_t nbefore,
                               void *p)
{
    cuda_op op;
    const cuda_graph *g = cuda_graph_of(graph);
    const int error = g ? cuda_graph_memory_free_op(g, p, &op) : CU_INVALID_VALUE;
    return error ? error : cuda_add_node(out, graph, before, nbefore, &op);
}

int pl_cudaGraphMemAllocNodeGetParams(void *node, void *params)
{
    const cuda_node *x = node;
    alloc_params *p = params;
    if (!x || !p || x->op.kind != OP_ALLOC) return CU_INVALID_VALUE;
    *p = (alloc_params){.bytes = x->op.u.memory->size,
                        .p = (void *)(uintptr_t)x->op.u.memory->address};
    const int pinned = 1, device = 1; /* allocation type, type of the location */
    memcpy(p->pool, &pinned, sizeof pinned);
    memcpy(p->pool + 8, &device, sizeof device);
    return CU_OK;
}

int pl_cudaGraphMemFreeNodeGetParams(void *node, void *out)
{
    const cuda_node *x = node;
    if (!x || !out || x->op.kind != OP_FREE) return CU_INVALID_VALUE;
    memcpy(out, &(void *){(void *)(uintptr_t)x->op.u.memory->address}, sizeof(void *));
    return CU_OK;
}

/* ---------------------------------------------------------------- nodes of every kind */

static int event_op(int kind, void *event, cuda_op *op)
{
    *op = (cuda_op){.kind = (cuda_op_kind)kind};
    op->u.event = event ? cuda_table_get(&cuda.events, event) : NULL;
    return op->u.event ? CU_OK : event ? CU_INVALID_HANDLE : CU_INVALID_VALUE;
}

static int copy_op(const cuda_copy3d *p, cuda_op *op)
{
    *op = (cuda_op){.kind = OP_COPY};
    const int error = cuda_convert_node3d(p, &op->u.copy);
    return error ? error : cuda_check_copy(&op->u.copy);
}

static int child_op(const child_params *p, cuda_op *op)
{
    cuda_graph *g = cuda_graph_of(p->graph);
    *op = (cuda_op){.kind = OP_GRAPH};
    if (!g) return CU_INVALID_VALUE;
    op->u.graph = p->ownership ? g : cuda_copy_graph(g);
    return op->u.graph ? CU_OK : CU_MEMORY_ALLOCATION;
}

/* Creates the op of a new node that follows these nodes; graph: NULL if a node changes. */
static int op_of(node_params *p, cuda_graph *g, void *const *before, size_t n, cuda_op *op)
{
    int error = CU_OK;
    if (!p || p->reserved[0] || p->reserved[1] || p->reserved[2] || p->reserved2)
        return CU_INVALID_VALUE;
    switch (p->kind) {
    case OP_KERNEL: return cuda_kernel_op(&p->u.kernel, NULL, op);
    case OP_COPY: return p->u.copy.flags ? CU_INVALID_VALUE : copy_op(&p->u.copy.copy, op);
    case OP_SET: return cuda_set_op(&p->u.set, op);
    case OP_HOST:
        *op = (cuda_op){.kind = OP_HOST, .u.host = {.fn = p->u.host.fn, .arg = p->u.host.arg}};
        return p->u.host.fn ? CU_OK : CU_INVALID_VALUE;
    case OP_GRAPH: return child_op(&p->u.child, op);
    case OP_EMPTY: *op = (cuda_op){.kind = OP_EMPTY}; return CU_OK;
    case OP_WAIT:
    case OP_RECORD: return event_op(p->kind, p->u.event, op);
    case OP_ALLOC:
        error = g ? check_pool(&p->u.alloc) : CU_INVALID_VALUE;
        if (!error) error = cuda_graph_memory_op(g, before, n, p->u.alloc.bytes, op);
        if (!error) p->u.alloc.p = (void *)(uintptr_t)op->u.memory->address;
        return error;
    case OP_FREE: return g ? cuda_graph_memory_free_op(g, p->u.freed, op) : CU_INVALID_VALUE;
    case OP_CONDITION: return g ? cuda_condition_op(&p->u.condition, g, op) : CU_INVALID_VALUE;
    case OP_SIGNAL_SEMAPHORE:
    case OP_WAIT_SEMAPHORE: return CU_NOT_SUPPORTED;
    default: return CU_INVALID_VALUE;
    }
}

int pl_cudaGraphAddNode(void **out, void *graph, void *const *before, const void *data,
                        size_t nbefore, void *params)
{
    cuda_op op;
    cuda_graph *g = cuda_graph_of(graph);
    if (!g || (nbefore && !before)) return CU_INVALID_VALUE;
    const int error = op_of(params, g, before, nbefore, &op);
    return error ? error : cuda_add_node_with_edges(out, graph, before, data, nbefore, &op);
}

int pl_cudaGraphAddNode_12(void **out, void *graph, void *const *before, size_t nbefore,
                           void *params)
{
    return pl_cudaGraphAddNode(out, graph, before, NULL, nbefore, params);
}

static int set_params(void *node, node_params *p)
{
    cuda_op op;
    if (p && (p->kind == OP_ALLOC || p->kind == OP_FREE || p->kind == OP_CONDITION))
        return CU_NOT_SUPPORTED;
    if (p && p->kind == OP_KERNEL) return pl_cudaGraphKernelNodeSetParams(node, &p->u.kernel);
    const int error = op_of(p, NULL, NULL, 0, &op);
    return cuda_replace_op(node, &op, error);
}

int pl_cudaGraphNodeSetParams(void *node, void *params)
{
    node_params *p = params;
    return p && p->kind == OP_GRAPH ? CU_NOT_SUPPORTED : set_params(node, p);
}

int pl_cudaGraphExecNodeSetParams(void *exec, void *node, void *params)
{
    node_params *p = params;
    if (p && p->kind == OP_SET) return pl_cudaGraphExecMemsetNodeSetParams(exec, node, &p->u.set);
    if (p && p->kind == OP_COPY)
        return pl_cudaGraphExecMemcpyNodeSetParams(exec, node, &p->u.copy.copy);
    return set_params(cuda_exec_node(exec, node), p);
}

int pl_cudaGraphExecChildGraphNodeSetParams(void *exec, void *node, void *child)
{
    const child_params p = {.graph = child};
    cuda_node *x = cuda_exec_node(exec, node);
    const cuda_graph *g = cuda_graph_of(child);
    cuda_op op;
    if (!x || x->op.kind != OP_GRAPH || !g) return CU_INVALID_VALUE;
    int error = cuda_same_topology(x->op.u.graph, g);
    if (!error) error = child_op(&p, &op);
    return cuda_replace_op(x, &op, error);
}

static int at_symbol(const void *symbol, size_t bytes, size_t offset, void **p)
{
    uint64_t address, size;
    const int error = cuda_variable_of(symbol, &address, &size);
    if (error) return error;
    *p = (void *)(uintptr_t)(address + offset);
    return offset > size || bytes > size - offset ? CU_INVALID_VALUE : CU_OK;
}

static int set_copy(void *node, void *to, const void *from, size_t bytes, int kind)
{
    const cuda_op op = {.kind = OP_COPY, .u.copy = cuda_linear_copy(to, from, bytes, kind)};
    return cuda_replace_op(node, &op, cuda_check_copy(&op.u.copy));
}

int pl_cudaGraphMemcpyNodeSetParamsToSymbol(void *node, const void *symbol, const void *from,
                                            size_t bytes, size_t offset, int kind)
{
    void *p;
    const int error = at_symbol(symbol, bytes, offset, &p);
    return error ? error : set_copy(node, p, from, bytes, kind);
}

int pl_cudaGraphMemcpyNodeSetParamsFromSymbol(void *node, void *to, const void *symbol,
                                              size_t bytes, size_t offset, int kind)
{
    void *p;
    const int error = at_symbol(symbol, bytes, offset, &p);
    return error ? error : set_copy(node, to, p, bytes, kind);
}

int pl_cudaGraphExecMemcpyNodeSetParamsToSymbol(void *exec, void *node, const void *symbol,
                                                const void *from, size_t bytes, size_t offset,
                                                int kind)
{
    void *p;
    const int error = at_symbol(symbol, bytes, offset, &p);
    if (error) return error;
    return pl_cudaGraphExecMemcpyNodeSetParams1D(exec, node, p, from, bytes, kind);
}

int pl_cudaGraphExecMemcpyNodeSetParamsFromSymbol(void *exec, void *node, void *to,
                                                  const void *symbol, size_t bytes, size_t offset,
                                                  int kind)
{
    void *p;
    const int error = at_symbol(symbol, bytes, offset, &p);
    if (error) return error;
    return pl_cudaGraphExecMemcpyNodeSetParams1D(exec, node, to, p, bytes, kind);
}

/* ---------------------------------------------------------------- parameters of nodes */

static const cuda_op *op_in(const cuda_node *x, cuda_op_kind kind)
{
    return x && x->op.kind == kind ? &x->op : NULL;
}

/* Points `to` at the arguments of a kernel node, in the form in which they were given. */
static int arguments_of(cuda_node *x, kernel_params *to)
{
    enum { BLOCK_WORDS = 6 }; /* of a block: pointer, size, end and the length */
    const cuda_function *f = x->op.u.kernel.f;
    uint8_t *params = x->op.u.kernel.params;
    const size_t n = f->info.nparams + 1;
    void **args = realloc(x->args, (n > BLOCK_WORDS ? n : BLOCK_WORDS) * sizeof *args);
    if (!args) return CU_MEMORY_ALLOCATION;
    x->args = args;
    if (x->op.u.kernel.as_block) {
        memcpy(&args[BLOCK_WORDS - 1], &x->op.u.kernel.block_bytes, sizeof(size_t));
        args[0] = (void *)(uintptr_t)CUDA_PARAM_POINTER;
        args[1] = params;
        args[2] = (void *)(uintptr_t)CUDA_PARAM_SIZE;
        args[3] = &args[BLOCK_WORDS - 1];
        args[4] = NULL;
        to->extra = args;
        return CU_OK;
    }
    for (uint32_t k = 0; k < f->info.nparams; k++) args[k] = params + f->param[k].offset;
    to->args = args;
    return CU_OK;
}

int pl_cudaGraphKernelNodeGetParams(void *node, void *params)
{
    cuda_node *x = node;
    kernel_params *p = params;
    const cuda_op *op = op_in(x, OP_KERNEL);
    if (!op || !p) return CU_INVALID_VALUE;
    const cuda_function *f = op->u.kernel.f;
    *p = (kernel_params){.function = f->host ? f->host : f,
                         .grid = op->u.kernel.l.grid,
                         .block = op->u.kernel.l.block,
                         .shared = (unsigned)op->u.kernel.l.shared};
    return arguments_of(x, p);
}

/* Rows without a pitch have none here either, except between host memory (H100). */
static void side_of(const cuda_side *s, const cuda_copy *c, struct cuda_array **array, cuda_pos *at,
                    cuda_pitched *memory)
{
    const size_t texel = s->array ? cuda_texel_bytes(s->array) : 1;
    *array = s->array;
    *at = (cuda_pos){s->x / texel, s->y, s->z};
    const size_t pitch = s->pitch || c->kind != COPY_H2H ? s->pitch : c->width;
    if (!s->array)
        *memory = (cuda_pitched){
            .ptr = s->p, .pitch = pitch, .ysize = pitch && s->slice ? s->slice / pitch : 0};
}

/* Widths count texels if an array is involved. */
int pl_cudaGraphMemcpyNodeGetParams(void *node, cuda_copy3d *p)
{
    const cuda_op *op = op_in(node, OP_COPY);
    if (!op || !p) return CU_INVALID_VALUE;
    const cuda_copy *c = &op->u.copy;
    const cuda_array *a = c->from.array ? c->from.array : c->to.array;
    const size_t texel = a ? cuda_texel_bytes(a) : 1;
    *p = (cuda_copy3d){.extent = {c->width / texel, c->height, c->depth}, .kind = c->kind};
    side_of(&c->from, c, &p->from_array, &p->from_pos, &p->from);
    side_of(&c->to, c, &p->to_array, &p->to_pos, &p->to);
    return CU_OK;
}

int pl_cudaGraphMemsetNodeGetParams(void *node, void *params)
{
    const cuda_op *op = op_in(node, OP_SET);
    memset_params *p = params;
    if (!op || !p) return CU_INVALID_VALUE;
    const cuda_set *s = &op->u.set;
    *p = (memset_params){.p = s->p,
                         .pitch = s->pitch,
                         .value = s->value,
                         .element = s->element,
                         .width = s->width,
                         .height = s->height};
    return CU_OK;
}

int pl_cudaGraphHostNodeGetParams(void *node, void *params)
{
    const cuda_op *op = op_in(node, OP_HOST);
    host_params *p = params;
    if (!op || !p) return CU_INVALID_VALUE;
    *p = (host_params){op->u.host.fn, op->u.host.arg};
    return CU_OK;
}

static int get_event(void *node, cuda_op_kind kind, void **out)
{
    const cuda_op *op = op_in(node, kind);
    if (!op || !out) return CU_INVALID_VALUE;
    *out = op->u.event;
    return CU_OK;
}

static int set_event(void *node, cuda_op_kind kind, void *event)
{
    cuda_op op;
    const int error = event_op((int)kind, event, &op);
    return cuda_replace_op(node, &op, error);
}

int pl_cudaGraphEventRecordNodeGetEvent(void *node, void **out)
{
    return get_event(node, OP_RECORD, out);
}

int pl_cudaGraphEventWaitNodeGetEvent(void *node, void **out)
{
    return get_event(node, OP_WAIT, out);
}

int pl_cudaGraphEventRecordNodeSetEvent(void *node, void *event)
{
    return set_event(node, OP_RECORD, event);
}

int pl_cudaGraphEventWaitNodeSetEvent(void *node, void *event)
{
    return set_event(node, OP_WAIT, event);
}

int pl_cudaGraphExecEventRecordNodeSetEvent(void *exec, void *node, void *event)
{
    return set_event(cuda_exec_node(exec, node), OP_RECORD, event);
}

int pl_cudaGraphExecEventWaitNodeSetEvent(void *exec, void *node, void *event)
{
    return set_event(cuda_exec_node(exec, node), OP_WAIT, event);
}

int pl_cudaGraphInstantiateWithParams(void **out, void *graph, void *params)
{
    struct {
        unsigned long long flags;
        void *upload, *node;
        int result;
    } *p = params;
    if (!p) return CU_INVALID_VALUE;
    return cuda_instantiate(out, graph, p->flags, &p->result, &p->node);
}

int pl_cudaGraphExecGetFlags(void *exec, unsigned long long *flags)
{
    const cuda_graph *g = cuda_exec_of(exec);
    if (!g || !flags) return CU_INVALID_VALUE;
    *flags = g->flags;
    return CU_OK;
}
