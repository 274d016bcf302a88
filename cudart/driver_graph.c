/* driver_graph.c - graph nodes of the driver API whose parameters differ from those of the runtime.
 */
#include "cudart/graph.h"
#include <stdlib.h>
#include <string.h>

/* CUDA_KERNEL_NODE_PARAMS_v2: that of the runtime, followed by additional members of the driver. */
typedef struct driver_kernel {
    kernel_params same; /* function may be NULL, then: */
    void *kernel;       /* CUkernel */
    void *context;
} driver_kernel;
_Static_assert(sizeof(driver_kernel) == 72, "layout of CUDA 13");

/* CUgraphNodeParams */
typedef struct driver_node {
    int kind, reserved[3];
    union {
        long long room[29];
        driver_kernel kernel;
        struct {
            int flags, reserved;
            void *context;
            cuda_driver_copy copy;
        } copy;
    } u;
    long long reserved2;
} driver_node;
_Static_assert(sizeof(driver_node) == 256, "layout of CUDA 13");

static kernel_params kernel_of(const driver_kernel *p)
{
    kernel_params same = p->same;
    if (!same.function) same.function = p->kernel;
    return same;
}

static int copy_op(const cuda_driver_copy *p, cuda_op *op)
{
    *op = (cuda_op){.kind = OP_COPY};
    return p ? cuda_convert_driver(p, &op->u.copy) : CU_INVALID_VALUE;
}

int pl_cuGraphAddKernelNode_v2(void **out, void *graph, void *const *before, size_t nbefore,
                               const void *params)
{
    if (!params) return CU_INVALID_VALUE;
    const kernel_params p = kernel_of(params);
    return pl_cudaGraphAddKernelNode(out, graph, before, nbefore, &p);
}

int pl_cuGraphKernelNodeSetParams_v2(void *node, const void *params)
{
    if (!params) return CU_INVALID_VALUE;
    const kernel_params p = kernel_of(params);
    return pl_cudaGraphKernelNodeSetParams(node, &p);
}

int pl_cuGraphExecKernelNodeSetParams_v2(void *exec, void *node, const void *params)
{
    if (!params) return CU_INVALID_VALUE;
    const kernel_params p = kernel_of(params);
    return pl_cudaGraphExecKernelNodeSetParams(exec, node, &p);
}

int pl_cuGraphKernelNodeGetParams_v2(void *node, void *params)
{
    driver_kernel *p = params;
    if (!p) return CU_INVALID_VALUE;
    *p = (driver_kernel){.context = NULL};
    const int error = pl_cudaGraphKernelNodeGetParams(node, &p->same);
    if (error) return error;
    p->kernel = ((const cuda_node *)node)->op.u.kernel.f;
    p->same.function = p->kernel;
    p->context = cuda_context_handle(NULL, cuda_self.device);
    return CU_OK;
}

int pl_cuGraphKernelNodeGetParams(void *node, void *params)
{
    kernel_params *p = params;
    driver_kernel latest;
    if (!p) return CU_INVALID_VALUE;
    const int error = pl_cuGraphKernelNodeGetParams_v2(node, &latest);
    if (!error) *p = latest.same;
    return error;
}

int pl_cuGraphAddMemcpyNode(void **out, void *graph, void *const *before, size_t nbefore,
                            const void *params, void *context)
{
    cuda_op op;
    (void)context;
    const int error = copy_op(params, &op);
    return error ? error : cuda_add_node(out, graph, before, nbefore, &op);
}

int pl_cuGraphMemcpyNodeSetParams(void *node, const void *params)
{
    cuda_op op;
    const int error = copy_op(params, &op);
    return cuda_replace_op(node, &op, error);
}

int pl_cuGraphExecMemcpyNodeSetParams(void *exec, void *node, const void *params, void *context)
{
    (void)context;
    return pl_cuGraphMemcpyNodeSetParams(cuda_exec_node(exec, node), params);
}

static cuda_copy_side side_of(const cuda_side *s, const cuda_copy *c, int host)
{
    enum { HOST = 1, DEVICE = 2, ARRAY = 3 };
    if (s->array)
        return (cuda_copy_side){.x = s->x, .y = s->y, .z = s->z, .type = ARRAY, .array = s->array};
    const cuda_alloc *a = cuda_alloc_find((uintptr_t)s->p);
    const bool device =
        a ? a->type == MEMORY_DEVICE : c->kind != host && cuda_in_window((uintptr_t)s->p);
    const size_t pitch = s->pitch ? s->pitch : c->width;
    cuda_copy_side out = {.type = device ? DEVICE : HOST,
                          .pitch = pitch,
                          .height = s->slice ? s->slice / pitch : c->height};
    if (device)
        out.device = (uintptr_t)s->p;
    else
        out.host = s->p;
    return out;
}

int pl_cuGraphMemcpyNodeGetParams(void *node, void *params)
{
    const cuda_node *x = node;
    cuda_driver_copy *p = params;
    if (!x || !p || x->op.kind != OP_COPY) return CU_INVALID_VALUE;
    const cuda_copy *c = &x->op.u.copy;
    *p = (cuda_driver_copy){.from = side_of(&c->from, c, COPY_H2D),
                            .to = side_of(&c->to, c, COPY_D2H),
                            .width = c->width,
                            .height = c->height,
                            .depth = c->depth};
    return CU_OK;
}

int pl_cuGraphAddMemsetNode(void **out, void *graph, void *const *before, size_t nbefore,
                            const void *params, void *context)
{
    (void)context;
    return pl_cudaGraphAddMemsetNode(out, graph, before, nbefore, params);
}

int pl_cuGraphExecMemsetNodeSetParams(void *exec, void *node, const void *params, void *context)
{
    (void)context;
    return pl_cudaGraphExecMemsetNodeSetParams(exec, node, params);
}

int pl_cuGraphConditionalHandleCreate(uint64_t *out, void *graph, void *context, unsigned value,
                                      unsigned flags)
{
    if (!context) return CU_INVALID_CONTEXT;
    return pl_cudaGraphConditionalHandleCreate(out, graph, value, flags);
}

/* Returns the parameters in the runtime's form. Copies have none there. */
static driver_node converted(const driver_node *p)
{
    driver_node same = *p;
    if (p->kind == OP_KERNEL) same.u.kernel.same = kernel_of(&p->u.kernel);
    return same;
}

int pl_cuGraphAddNode_v2(void **out, void *graph, void *const *before, const void *data,
                         size_t nbefore, void *params)
{
    driver_node *p = params;
    if (!p) return CU_INVALID_VALUE;
    if (p->kind == OP_COPY)
        return pl_cuGraphAddMemcpyNode(out, graph, before, nbefore, &p->u.copy.copy, NULL);
    if (p->kind == OP_MEMORY)
        return pl_cuGraphAddBatchMemOpNode(out, graph, before, nbefore, &p->u);
    driver_node same = converted(p);
    const int error = pl_cudaGraphAddNode(out, graph, before, data, nbefore, &same);
    /* Outputs: the address of the memory, or the graphs of the condition. */
    if (p->kind == OP_ALLOC || p->kind == OP_CONDITION) *p = same;
    return error;
}

int pl_cuGraphAddNode(void **out, void *graph, void *const *before, size_t nbefore, void *params)
{
    return pl_cuGraphAddNode_v2(out, graph, before, NULL, nbefore, params);
}

int pl_cuGraphNodeSetParams(void *node, void *params)
{
    driver_node *p = params;
    if (!p) return CU_INVALID_VALUE;
    if (p->kind == OP_COPY) return pl_cuGraphMemcpyNodeSetParams(node, &p->u.copy.copy);
    if (p->kind == OP_MEMORY) return pl_cuGraphBatchMemOpNodeSetParams(node, &p->u);
    driver_node same = converted(p);
    return pl_cudaGraphNodeSetParams(node, &same);
}

int pl_cuGraphExecNodeSetParams(void *exec, void *node, void *params)
{
    return pl_cuGraphNodeSetParams(cuda_exec_node(exec, node), params);
}
