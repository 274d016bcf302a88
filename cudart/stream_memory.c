/* stream_memory.c - streams that write values to memory, and wait for values there
 * (cuStreamWriteValue, cuStreamWaitValue, cuStreamBatchMemOp).
 *
 * What is put into streams is executed at once, so that a value which is not there yet cannot be
 * waited for: such a wait is refused. */
#include "cudart/state.h"
#include <string.h>

enum {
    WAIT_32 = 1, /* CUstreamBatchMemOpType */
    WRITE_32 = 2,
    FLUSH = 3,
    WAIT_64 = 4,
    WRITE_64 = 5,
    BARRIER = 6,
    MOST = 256,           /* in one call */
    GREATER_OR_EQUAL = 0, /* CUstreamWaitValue_flags */
    EQUAL = 1,
    AND = 2,
    NOR = 3
};

/* CUstreamBatchMemOpParams */
typedef struct memory_op {
    int kind;
    uint64_t address, value;
    unsigned flags;
    uint64_t alias, room;
} memory_op;
_Static_assert(sizeof(memory_op) == 48, "layout of CUDA 13");

static unsigned bytes_of(const memory_op *p)
{
    return p->kind == WAIT_64 || p->kind == WRITE_64 ? 8 : 4;
}

static bool waits(const memory_op *p)
{
    return p->kind == WAIT_32 || p->kind == WAIT_64;
}

static int check(const memory_op *p)
{
    enum { FLUSHES = 1 << 30, NO_BARRIER = 1 };
    bool device = false;
    if (p->kind == FLUSH || p->kind == BARRIER) return CU_OK;
    if (p->kind < WAIT_32 || p->kind > WRITE_64) return CU_INVALID_VALUE;
    if (!p->address || p->address % bytes_of(p) ||
        !cuda_bytes((void *)(uintptr_t)p->address, bytes_of(p), &device) || !device)
        return CU_INVALID_VALUE;
    return (p->flags & ~(unsigned)FLUSHES) > (waits(p) ? NOR : NO_BARRIER) ? CU_INVALID_VALUE
                                                                           : CU_OK;
}

/* 32-bit values are compared as such, around the end of their range. */
static bool is_met(const memory_op *p)
{
    const unsigned n = bytes_of(p);
    const uint64_t mask = n == 8 ? UINT64_MAX : UINT32_MAX;
    uint64_t there = 0;
    memcpy(&there, cuda_bytes((void *)(uintptr_t)p->address, n, NULL), n);
    const uint64_t value = p->value & mask, difference = (there - value) & mask;
    switch (p->flags & 3) {
    case GREATER_OR_EQUAL: return !(difference >> (8 * n - 1));
    case EQUAL: return there == value;
    case AND: return (there & value) != 0;
    default: return (~(there | value) & mask) != 0;
    }
}

static int write_half(cuda_stream *s, uint64_t address, uint32_t value)
{
    cuda_op op = {.kind = OP_SET,
                  .u.set = {.p = (void *)(uintptr_t)address,
                            .width = 1,
                            .height = 1,
                            .depth = 1,
                            .value = value,
                            .element = 4}};
    return cuda_submit(s, &op);
}

static int execute(cuda_stream *s, const memory_op *p)
{
    if (p->kind == FLUSH || p->kind == BARRIER) return CU_OK;
    if (waits(p)) {
        if (s->capture || is_met(p)) return CU_OK;
        cuda_say("a stream waits for a value in memory that is not there yet, which is not "
                 "supported");
        return CU_NOT_SUPPORTED;
    }
    int error = write_half(s, p->address, (uint32_t)p->value);
    if (!error && p->kind == WRITE_64)
        error = write_half(s, p->address + 4, (uint32_t)(p->value >> 32));
    return error;
}

int pl_cuStreamBatchMemOp_v2(void *stream, unsigned n, const void *list, unsigned flags)
{
    const memory_op *p = list;
    cuda_stream *s = cuda_stream_of(stream);
    if (!s) return CU_INVALID_HANDLE;
    if (flags || n > MOST || (n && !p)) return CU_INVALID_VALUE;
    int error = CU_OK;
    for (unsigned k = 0; k < n && !error; k++) error = check(&p[k]);
    for (unsigned k = 0; k < n && !error; k++) error = execute(s, &p[k]);
    return error;
}

static int one(void *stream, int kind, uint64_t address, uint64_t value, unsigned flags)
{
    const memory_op p = {.kind = kind, .address = address, .value = value, .flags = flags};
    return pl_cuStreamBatchMemOp_v2(stream, 1, &p, 0);
}

int pl_cuStreamWriteValue32_v2(void *stream, uint64_t address, uint32_t value, unsigned flags)
{
    return one(stream, WRITE_32, address, value, flags);
}

int pl_cuStreamWriteValue64_v2(void *stream, uint64_t address, uint64_t value, unsigned flags)
{
    return one(stream, WRITE_64, address, value, flags);
}

int pl_cuStreamWaitValue32_v2(void *stream, uint64_t address, uint32_t value, unsigned flags)
{
    return one(stream, WAIT_32, address, value, flags);
}

int pl_cuStreamWaitValue64_v2(void *stream, uint64_t address, uint64_t value, unsigned flags)
{
    return one(stream, WAIT_64, address, value, flags);
}
