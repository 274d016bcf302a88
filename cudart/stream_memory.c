/* stream_memory.c - calls with which streams write values to memory and wait for values there
 * (cuStreamWriteValue, cuStreamWaitValue, cuStreamBatchMemOp), and corresponding graph nodes. */
#include "cudart/blocked.h"
#include "cudart/graph.h"

enum { WAIT_32 = 1, WRITE_32 = 2, WAIT_64 = 4, WRITE_64 = 5 }; /* CUstreamBatchMemOpType */

int pl_cuStreamBatchMemOp_v2(void *stream, unsigned n, const void *list, unsigned flags)
{
    cuda_stream *s = cuda_stream_of(stream);
    cuda_op op;
    if (!s) return CU_INVALID_HANDLE;
    const int error = cuda_memory_ops_make(n, list, flags, &op);
    return error ? error : cuda_submit(s, &op);
}

static int submit_one(void *stream, int kind, uint64_t address, uint64_t value, unsigned flags)
{
    const cuda_memory_op p = {.kind = kind, .address = address, .value = value, .flags = flags};
    if ((kind == WRITE_32 || kind == WRITE_64) && flags) return CU_INVALID_VALUE; /* H200 */
    return pl_cuStreamBatchMemOp_v2(stream, 1, &p, 0);
}

int pl_cuStreamWriteValue32_v2(void *stream, uint64_t address, uint32_t value, unsigned flags)
{
    return submit_one(stream, WRITE_32, address, value, flags);
}

int pl_cuStreamWriteValue64_v2(void *stream, uint64_t address, uint64_t value, unsigned flags)
{
    return submit_one(stream, WRITE_64, address, value, flags);
}

int pl_cuStreamWaitValue32_v2(void *stream, uint64_t address, uint32_t value, unsigned flags)
{
    return submit_one(stream, WAIT_32, address, value, flags);
}

int pl_cuStreamWaitValue64_v2(void *stream, uint64_t address, uint64_t value, unsigned flags)
{
    return submit_one(stream, WAIT_64, address, value, flags);
}

/* CUDA_BATCH_MEM_OP_NODE_PARAMS */
typedef struct node_params {
    void *context;
    unsigned n;
    cuda_memory_op *list;
    unsigned flags;
} node_params;
_Static_assert(sizeof(node_params) == 32, "layout of CUDA 13");

static int node_op(const node_params *p, cuda_op *op)
{
    return p && p->context ? cuda_memory_ops_make(p->n, p->list, p->flags, op) : CU_INVALID_VALUE;
}

int pl_cuGraphAddBatchMemOpNode(void **out, void *graph, void *const *before, size_t nbefore,
                                const void *params)
{
    cuda_op op;
    const int error = node_op(params, &op);
    return error ? error : cuda_add_node(out, graph, before, nbefore, &op);
}

/* The node keeps ownership of the list. */
int pl_cuGraphBatchMemOpNodeGetParams(void *node, void *params)
{
    const cuda_node *x = node;
    node_params *p = params;
    if (!x || !p || x->op.kind != OP_MEMORY) return CU_INVALID_VALUE;
    *p = (node_params){.context = cuda_context_handle(NULL, cuda_self.device),
                       .n = x->op.u.values->n,
                       .list = x->op.u.values->at};
    return CU_OK;
}

int pl_cuGraphBatchMemOpNodeSetParams(void *node, const void *params)
{
    cuda_op op;
    const int error = node_op(params, &op);
    return cuda_replace_op(node, &op, error);
}

/* The number and the kinds of the operations cannot change. */
int pl_cuGraphExecBatchMemOpNodeSetParams(void *exec, void *node, const void *params)
{
    const node_params *p = params;
    cuda_node *x = cuda_exec_node(exec, node);
    if (!x || !p || x->op.kind != OP_MEMORY || x->op.u.values->n != p->n) return CU_INVALID_VALUE;
    for (unsigned k = 0; p->list && k < p->n; k++)
        if (x->op.u.values->at[k].kind != p->list[k].kind) return CU_INVALID_VALUE;
    return pl_cuGraphBatchMemOpNodeSetParams(x, params);
}
