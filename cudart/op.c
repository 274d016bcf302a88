/* op.c - operations of streams: one is executed at once, or captured into a graph. */
#include "cudart/graph.h"
#include <stdlib.h>

static int execute(cuda_stream *s, const cuda_op *op)
{
    cuda_order_op(s);
    switch (op->kind) {
    case OP_KERNEL: return cuda_run(s, op->u.kernel.f, &op->u.kernel.l, op->u.kernel.params);
    case OP_COPY:
        cuda_clock_copy(s, &op->u.copy);
        cuda_order_copy(s, &op->u.copy);
        return cuda_copy_now(&op->u.copy);
    case OP_SET:
        cuda_clock_set(s, &op->u.set);
        cuda_order_set(s, &op->u.set);
        return cuda_set_now(&op->u.set);
    case OP_HOST:
        cuda_clock_host_function(s);
        cuda_order_host(s);
        cuda_call_host(op->u.host.fn, op->u.host.arg);
        return CU_OK;
    case OP_RECORD:
        cuda_clock_event(s);
        cuda_order_record(s, op->u.event);
        op->u.event->recorded = true;
        op->u.event->captured = false;
        op->u.event->time = s->ready;
        return CU_OK;
    case OP_ALLOC:
    case OP_FREE: return cuda_graph_memory_execute(op);
    default: return CU_OK;
    }
}

int cuda_execute(cuda_stream *s, const cuda_op *op)
{
    const int before = cuda_self.device;
    cuda_self.device = op->kind == OP_KERNEL ? op->u.kernel.device : s->device;
    const int error = execute(s, op);
    cuda_self.device = before;
    return error;
}

int cuda_submit(cuda_stream *s, cuda_op *op)
{
    if (s->capture) return cuda_capture_op(s, op);
    int error =
        s == &cuda.device[s->device].legacy ? cuda_capture_allows(CUDA_IN_LEGACY_STREAM) : CU_OK;
    if (!error) error = cuda_execute(s, op);
    if (op->kind == OP_KERNEL) free(op->u.kernel.params);
    return error;
}
