/* graph_memory.c - memory that nodes of graphs allocate and free: its addresses are there from the
 * node on, its bytes while a launch has it. */
#include "cudart/graph.h"
#include <stdlib.h>
#include <string.h>

static cuda_table memories; /* by address: cuda_graph_memory */
static uint64_t reserved, reserved_high, used_high;

/* Bytes that graphs have allocated and nobody has freed. */
static uint64_t used_bytes(void)
{
    uint64_t sum = 0;
    for (size_t k = 0; k < memories.cap; k++) {
        const struct cuda_slot *slot = &memories.slot[k];
        if (slot->key && cuda_table_get(&memories, (void *)slot->key) && cuda_alloc_find(slot->key))
            sum += ((const cuda_graph_memory *)slot->value)->size;
    }
    return sum;
}

int cuda_graph_memory_op(size_t bytes, cuda_op *op)
{
    cuda_graph_memory *m = calloc(1, sizeof *m);
    if (!m) return CU_MEMORY_ALLOCATION;
    *m = (cuda_graph_memory){.size = bytes, .refs = 1};
    if (bytes && bytes <= cuda_device_bytes()) m->address = cuda_reserve_addresses(bytes);
    if (!m->address || !cuda_table_put(&memories, (void *)(uintptr_t)m->address, m)) {
        free(m);
        return bytes ? CU_MEMORY_ALLOCATION : CU_INVALID_VALUE;
    }
    reserved += bytes;
    if (reserved > reserved_high) reserved_high = reserved;
    *op = (cuda_op){.kind = OP_ALLOC, .u.memory = m};
    return CU_OK;
}

void cuda_graph_memory_drop(cuda_graph_memory *m)
{
    if (--m->refs) return;
    cuda_table_remove(&memories, (void *)(uintptr_t)m->address);
    reserved -= m->size;
    /* Memory that is still there is the program's to free. */
    if (!cuda_alloc_find(m->address)) cuda_return_addresses(m->address, m->size);
    free(m);
}

int cuda_graph_memory_free_op(const void *p, cuda_op *op)
{
    cuda_graph_memory *m = p ? cuda_table_get(&memories, p) : NULL;
    if (!m) return CU_INVALID_VALUE;
    m->refs++;
    *op = (cuda_op){.kind = OP_FREE, .u.memory = m};
    return CU_OK;
}

int cuda_graph_memory_execute(const cuda_op *op)
{
    const cuda_graph_memory *m = op->u.memory;
    const bool there = cuda_alloc_find(m->address) != NULL;
    if (there == (op->kind == OP_ALLOC)) return CU_INVALID_VALUE;
    const int error = there ? cuda_release(m->address, 1u << MEMORY_DEVICE)
                            : cuda_alloc_at(m->address, m->size, cuda_self.device);
    if (!error && used_bytes() > used_high) used_high = used_bytes();
    return error;
}

void cuda_graph_memory_free_all(const cuda_graph *g)
{
    for (size_t k = 0; k < g->n; k++) {
        const cuda_op *op = &g->node[k]->op;
        if (op->kind != OP_ALLOC || !cuda_alloc_find(op->u.memory->address)) continue;
        cuda_release(op->u.memory->address, 1u << MEMORY_DEVICE);
    }
}

int pl_cudaDeviceGraphMemTrim(int device)
{
    if (device) return CU_INVALID_DEVICE;
    reserved_high = reserved;
    return CU_OK;
}

int pl_cudaDeviceGetGraphMemAttribute(int device, int attribute, void *value)
{
    const uint64_t now = used_bytes(), is[] = {now, used_high, now, reserved_high};
    if (device) return CU_INVALID_DEVICE;
    if (!value || attribute < 0 || attribute > 3) return CU_INVALID_VALUE;
    memcpy(value, &is[attribute], sizeof *is);
    return CU_OK;
}

/* Only the highest values can be set, to zero. */
int pl_cudaDeviceSetGraphMemAttribute(int device, int attribute, void *value)
{
    uint64_t zero;
    if (device) return CU_INVALID_DEVICE;
    if (!value || (attribute != 1 && attribute != 3)) return CU_INVALID_VALUE;
    memcpy(&zero, value, sizeof zero);
    if (zero) return CU_INVALID_VALUE;
    if (attribute == 1)
        used_high = used_bytes();
    else
        reserved_high = reserved;
    return CU_OK;
}

bool cuda_graph_memory_covers(uint64_t address, uint64_t bytes)
{
    for (size_t k = 0; k < memories.cap; k++) {
        const struct cuda_slot *slot = &memories.slot[k];
        const cuda_graph_memory *m =
            slot->key ? cuda_table_get(&memories, (void *)slot->key) : NULL;
        if (m && address - m->address < m->size && bytes <= m->size - (address - m->address))
            return true;
    }
    return false;
}
