/* graph_memory.c - memory allocated and freed by graph nodes: its addresses exist from the creation
 * of the node, its bytes only while a launch holds it. */
#include "cudart/graph.h"
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 32 << 20 }; /* granularity in which the device provides memory for graphs */

static cuda_table memories; /* by address: cuda_graph_memory */
/* Bytes; unused memory is retained for the next launch. */
static uint64_t reserved, reserved_high, used_high;

/* Returns the bytes allocated by graphs and not freed. */
static uint64_t live_bytes(void)
{
    uint64_t sum = 0;
    size_t at = 0;
    for (const cuda_graph_memory *m; (m = cuda_table_next(&memories, &at)) != NULL;)
        if (cuda_alloc_find(m->address)) sum += m->size;
    return sum;
}

/* Returns the number of nodes of the graph that allocate or free this memory. */
static size_t count(const cuda_graph *g, cuda_op_kind kind, const cuda_graph_memory *m)
{
    size_t n = 0;
    for (size_t k = 0; k < g->n; k++)
        n += g->node[k]->op.kind == kind && g->node[k]->op.u.memory == m;
    return n;
}

static bool leads_to(const cuda_node *from, const cuda_node *to)
{
    if (from == to) return true;
    for (size_t k = 0; k < to->nbefore; k++)
        if (leads_to(from, to->before[k])) return true;
    return false;
}

/* Returns memory that other nodes of the graph have freed before; NULL: none of that size. */
static cuda_graph_memory *freed_before(const cuda_graph *g, void *const *before, size_t n,
                                       size_t bytes)
{
    for (size_t k = 0; k < g->n; k++) {
        const cuda_node *x = g->node[k];
        cuda_graph_memory *m = x->op.kind == OP_FREE ? x->op.u.memory : NULL;
        if (!m || m->size != bytes || count(g, OP_ALLOC, m) != count(g, OP_FREE, m)) continue;
        for (size_t i = 0; i < n; i++)
            if (leads_to(x, before[i])) return m;
    }
    return NULL;
}

int cuda_graph_memory_op(const cuda_graph *g, void *const *before, size_t n, size_t bytes,
                         cuda_op *op)
{
    cuda_graph_memory *m = freed_before(g, before, n, bytes);
    if (m) {
        m->refs++;
        *op = (cuda_op){.kind = OP_ALLOC, .u.memory = m};
        return CU_OK;
    }
    m = calloc(1, sizeof *m);
    if (!m) return CU_MEMORY_ALLOCATION;
    *m = (cuda_graph_memory){.size = bytes, .refs = 1};
    if (bytes && bytes <= cuda_device_bytes()) m->address = cuda_reserve_addresses(bytes);
    if (!m->address || !cuda_table_put(&memories, (void *)(uintptr_t)m->address, m)) {
        free(m);
        return bytes ? CU_MEMORY_ALLOCATION : CU_INVALID_VALUE;
    }
    *op = (cuda_op){.kind = OP_ALLOC, .u.memory = m};
    return CU_OK;
}

void cuda_graph_memory_drop(cuda_graph_memory *m)
{
    if (--m->refs) return;
    cuda_table_remove(&memories, (void *)(uintptr_t)m->address);
    /* Memory that still exists must be freed by the program. */
    if (!cuda_alloc_find(m->address)) cuda_return_addresses(m->address, m->size);
    free(m);
}

/* Memory of another graph may be freed; memory of this one only once. */
int cuda_graph_memory_free_op(const cuda_graph *g, const void *p, cuda_op *op)
{
    cuda_graph_memory *m = p ? cuda_table_get(&memories, p) : NULL;
    const size_t made = m ? count(g, OP_ALLOC, m) : 0, freed = m ? count(g, OP_FREE, m) : 0;
    if (!m || (made && (freed >= made || g->has_exec))) return CU_INVALID_VALUE; /* H100 */
    m->refs++;
    *op = (cuda_op){.kind = OP_FREE, .u.memory = m};
    return CU_OK;
}

int cuda_graph_memory_execute(const cuda_op *op)
{
    const cuda_graph_memory *m = op->u.memory;
    const bool exists = cuda_alloc_find(m->address) != NULL;
    if (exists == (op->kind == OP_ALLOC)) return CU_INVALID_VALUE;
    return exists ? cuda_release(m->address, 1u << MEMORY_DEVICE)
                  : cuda_alloc_at(m->address, m->size, cuda_self.device);
}

void cuda_graph_memory_free_all(const cuda_graph *g)
{
    for (size_t k = 0; k < g->n; k++) {
        const cuda_op *op = &g->node[k]->op;
        if (op->kind != OP_ALLOC || !cuda_alloc_find(op->u.memory->address)) continue;
        cuda_release(op->u.memory->address, 1u << MEMORY_DEVICE);
    }
}

bool cuda_has_memory_nodes(const cuda_graph *g)
{
    for (size_t k = 0; k < g->n; k++) {
        const cuda_op *op = &g->node[k]->op;
        if (op->kind == OP_ALLOC || op->kind == OP_FREE) return true;
        if (op->kind == OP_GRAPH && cuda_has_memory_nodes(op->u.graph)) return true;
    }
    return false;
}

/* Launches that may still run: other streams cannot use their memory until they end. */
static struct running {
    struct running *next;
    uint64_t stream, bytes;
    double end;
} * running;

/* Returns the memory of launches in other streams that have not ended by then. */
static uint64_t running_bytes(uint64_t stream, double start)
{
    uint64_t sum = 0;
    for (struct running **at = &running; *at;) {
        struct running *r = *at;
        if (r->end <= cuda.now) {
            *at = r->next;
            free(r);
            continue;
        }
        if (r->stream != stream && r->end > start) sum += r->bytes;
        at = &r->next;
    }
    return sum;
}

static void reserve(uint64_t bytes)
{
    reserved = cuda_round_up(bytes, CHUNK);
    if (reserved > reserved_high) reserved_high = reserved;
    if (reserved > used_high) used_high = reserved;
}

uint64_t cuda_graph_memory_launch(const cuda_graph *g, const cuda_stream *s)
{
    uint64_t bytes = 0;
    for (size_t k = 0; k < g->n; k++) {
        const cuda_op *op = &g->node[k]->op;
        bool first = op->kind == OP_ALLOC && !cuda_alloc_find(op->u.memory->address);
        for (size_t i = 0; first && i < k; i++)
            first = g->node[i]->op.kind != OP_ALLOC || g->node[i]->op.u.memory != op->u.memory;
        if (first) bytes += op->u.memory->size;
    }
    bytes = cuda_round_up(bytes, CHUNK);
    if (!bytes) return 0;
    const uint64_t all = bytes + live_bytes() + running_bytes(s->id, cuda_ready(s));
    if (cuda_round_up(all, CHUNK) > reserved) reserve(all);
    return bytes;
}

void cuda_graph_memory_ends(const cuda_stream *s, uint64_t bytes)
{
    struct running *r = running;
    if (!bytes) return;
    while (r && r->stream != s->id) r = r->next;
    if (r) { /* launches in one stream are serialised and share memory */
        if (r->end <= cuda.now || r->bytes < bytes) r->bytes = bytes;
        r->end = s->ready;
        return;
    }
    r = malloc(sizeof *r);
    if (!r) return;
    *r = (struct running){running, s->id, bytes, s->ready};
    running = r;
}

int pl_cudaDeviceGraphMemTrim(int device)
{
    if (!cuda_is_device(device)) return CU_INVALID_DEVICE;
    reserve(live_bytes());
    return CU_OK;
}

int pl_cudaDeviceGetGraphMemAttribute(int device, int attribute, void *value)
{
    const uint64_t values[] = {reserved, used_high, reserved, reserved_high};
    if (!cuda_is_device(device)) return CU_INVALID_DEVICE;
    if (!value || attribute < 0 || attribute > 3) return CU_INVALID_VALUE;
    memcpy(value, &values[attribute], sizeof *values);
    return CU_OK;
}

/* Only the high watermarks can be set, to zero. */
int pl_cudaDeviceSetGraphMemAttribute(int device, int attribute, void *value)
{
    uint64_t zero;
    if (!cuda_is_device(device)) return CU_INVALID_DEVICE;
    if (!value || (attribute != 1 && attribute != 3)) return CU_INVALID_VALUE;
    memcpy(&zero, value, sizeof zero);
    if (zero) return CU_INVALID_VALUE;
    *(attribute == 1 ? &used_high : &reserved_high) = reserved;
    return CU_OK;
}

bool cuda_graph_memory_covers(uint64_t address, uint64_t bytes)
{
    size_t at = 0;
    for (const cuda_graph_memory *m; (m = cuda_table_next(&memories, &at)) != NULL;)
        if (address - m->address < m->size && bytes <= m->size - (address - m->address))
            return true;
    return false;
}
