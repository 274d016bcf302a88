/* race_async.c - races with accesses that are not loads and stores of threads: bulk and tensor
 * copies, operands of wgmma.
 *
 * An agent accesses memory for the thread that started it, until it is waited for (vector_clock.h).
 * Most use the asynchronous proxy (PTX ISA 9.0, "Async proxy"): writes of threads require a proxy
 * fence in addition. Bytes that a thread has only read may be overwritten without one. The same
 * holds for those of a copy that has been waited for: its completion acts as a proxy fence. */
#include <string.h>

#include "check/race.h"
#include "emu/exec/memory/address.h"
#include "emu/exec/tma/tma_copy.h"

bool pl_place_at(pl_warp *w, uint8_t *bytes, place *p)
{
    const pl_cluster *x = w->cta->cluster;
    *p = (place){.bytes = bytes};
    for (uint32_t r = 0; r < (x ? x->size : 1); r++) {
        pl_cta *c = x ? x->cta[r] : w->cta;
        if (!c || bytes < c->shared || bytes >= c->shared + c->shared_end) continue;
        p->owner = block_of(c);
        p->address = (uint64_t)(bytes - c->shared);
        return true;
    }
    const pl_memory *m = w->grid->memory;
    for (size_t n = 0; n < m->n; n++)
        if (bytes >= m->alloc[n].bytes && bytes < m->alloc[n].bytes + m->alloc[n].size) {
            p->address =
                m->alloc[n].address + (uint64_t)(bytes - m->alloc[n].bytes) - check_of(w)->base;
            return !(m->alloc[n].flags & PL_ALLOC_CONSTANT) && p->address < PL_CHECK_SPAN;
        }
    return false;
}

/* Accesses of an operation in one direction. */
typedef struct access_pass {
    pl_visit v;
    const pl_async_op *o;
    place tile; /* tiles: start in shared memory */
    unsigned issuer;
} access_pass;

static void open_access_pass(access_pass *p, pl_warp *w, const pl_async_op *o, unsigned agent,
                             unsigned lane, uint32_t stamp, bool write)
{
    const check_insn x = {.flags = (uint8_t)(PL_ACCESS_ASYNC | (write ? PL_ACCESS_WRITES : 0))};
    p->o = o;
    p->issuer = w->exec ? (unsigned)__builtin_ctz(w->exec) : 0;
    pl_visit_open(&p->v, w, &w->code[w->pc], &x);
    p->v.self.unit = (uint8_t)agent;
    p->v.self.stamp = stamp;
    p->v.self.issuer = (unit_index(w) * PL_LANES + p->issuer) & 0xfffu;
    p->v.agent_lane = lane;
}

static void enter_at(access_pass *p, const place *at, uint32_t bytes)
{
    const bool registers = p->o->kind != PL_ASYNC_TENSOR && !p->o->from; /* st.async, red.async */
    p->v.proxy = registers ? 0 : at->owner ? PL_PROXY_SHARED : PL_PROXY_GLOBAL;
    for (uint32_t done = 0; done < bytes;) {
        place part = *at;
        const bool masked = p->v.self.flags & PL_ACCESS_WRITES && p->o->mask != 0xffff; /* bytes */
        const uint32_t max = masked ? 1 : 16, n = bytes - done < max ? bytes - done : max;
        part.bytes += done;
        part.address += done;
        if (!masked || p->o->mask >> done % 16 & 1u) pl_visit_enter(&p->v, p->issuer, &part, n);
        done += n;
    }
}

/* Enters a piece of a tile in global memory. */
static bool enter_global(void *ctx, const pl_tma_piece *piece)
{
    access_pass *p = ctx;
    const pl_check *k = p->v.k;
    const place at = {.address = piece->address - k->base,
                      .bytes = pl_memory_at(p->v.w->grid->memory, piece->address, piece->valid)};
    if (piece->valid && at.bytes && is_tracked(k, piece->address)) enter_at(p, &at, piece->valid);
    return true;
}

/* The same in shared memory, where the remainder is filled. */
static bool enter_shared(void *ctx, const pl_tma_piece *piece)
{
    access_pass *p = ctx;
    place at = p->tile;
    const uint32_t offset = piece->shared - p->o->tensor->at;
    at.bytes += offset;
    at.address += offset;
    if (piece->valid || p->o->tensor->kind == PL_TMA_LOAD) enter_at(p, &at, 16);
    return true;
}

static void enter_tile(access_pass *p, pl_warp *w, bool write)
{
    const pl_tma_copy *c = p->o->tensor;
    const bool shared = write == (c->kind == PL_TMA_LOAD);
    if (!shared)
        pl_tma_walk(c, enter_global, p);
    else if (pl_place_at(w, c->tile, &p->tile) && p->tile.owner)
        pl_tma_walk(c, enter_shared, p);
}

void pl_race_copy(pl_warp *w, const pl_async_op *o)
{
    if (o->family == PL_ASYNC_GROUP || o->kind == PL_ASYNC_ARRIVE) return;
    unsigned lane = w->exec ? (unsigned)__builtin_ctz(w->exec) : 0;
    uint32_t stamp;
    const unsigned agent = pl_order_agent(w, o, &lane, &stamp);
    const bool tile = o->kind == PL_ASYNC_TENSOR,
               reduces = tile ? o->tensor->kind == PL_TMA_REDUCE : o->kind == PL_ASYNC_REDUCE;
    for (int write = 0; agent && write < 2; write++) {
        access_pass p;
        place at;
        if (!tile && !write && !o->from) continue;
        open_access_pass(&p, w, o, agent + (write && agent < PL_OBJECTS ? PL_UNITS : 0), lane,
                         stamp, write);
        if (write && reduces) {
            p.v.self.flags |= PL_ACCESS_ATOMIC | PL_ACCESS_STRONG;
            p.v.self.level = PL_SCOPE_GPU;
        }
        if (tile)
            enter_tile(&p, w, write);
        else if (pl_place_at(w, write ? o->to : (uint8_t *)(uintptr_t)o->from, &at))
            enter_at(&p, &at, o->bytes);
        pl_visit_close(&p.v, &w->code[w->pc]);
    }
}
