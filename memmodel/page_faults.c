/* page_faults.c - see page_faults.h. */
#include "memmodel/page_faults.h"
#include <string.h>

enum { CHUNKS = PL_MANAGED_BLOCK / PL_MANAGED_CHUNK };

pl_page_faults *pl_page_faults_new(pl_arena *a, size_t n)
{
    pl_page_faults *f = pl_arena_new(a, pl_page_faults);
    if (!f) return NULL;
    f->block = pl_arena_array(a, pl_fault_block, n);
    if (!f->block) return NULL;
    memset(f->block, 0, n * sizeof *f->block);
    f->n = n;
    pl_page_faults_begin(f);
    return f;
}

void pl_page_faults_begin(pl_page_faults *f)
{
    f->begin = f->end = f->since = UINT64_MAX;
    f->nentries = 0;
    f->stat = (pl_fault_stat){0};
    for (size_t k = 0; k < f->n; k++) f->block[k].faulted = f->block[k].moving = 0;
}

/* The block of an address, or NULL. */
static pl_fault_block *block_at(pl_page_faults *f, uint64_t address)
{
    const uint64_t start = address / PL_MANAGED_BLOCK * PL_MANAGED_BLOCK;
    if (f->latest < f->n && f->block[f->latest].address == start) return &f->block[f->latest];
    size_t lo = 0, hi = f->n;
    while (lo < hi) {
        const size_t mid = (lo + hi) / 2;
        if (f->block[mid].address < start)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == f->n || f->block[lo].address != start) return NULL;
    f->latest = lo;
    return &f->block[lo];
}

static bool is_listed(const pl_page_faults *f, uint64_t page, uint32_t node)
{
    for (uint32_t k = f->nentries; k-- > 0;)
        if (f->entry[k].page == page && f->entry[k].node == node) return true;
    return false;
}

bool pl_page_faults_access(pl_page_faults *f, const pl_fault_config *c, uint64_t address,
                           uint32_t node, uint64_t now)
{
    pl_fault_block *b = block_at(f, address);
    const uint32_t chunk = 1u << address % PL_MANAGED_BLOCK / PL_MANAGED_CHUNK;
    if (!b || !(b->absent & chunk)) return false;
    if (f->since == UINT64_MAX) f->since = now;
    if (b->moving & chunk) return true;
    const uint64_t page = address / PL_MANAGED_PAGE;
    if (f->nentries < c->max_faults && !is_listed(f, page, node)) {
        f->entry[f->nentries++] = (pl_fault_entry){page, node};
        b->faulted |= chunk;
    }
    if (f->begin == UINT64_MAX) {
        const uint64_t from = f->end == UINT64_MAX ? now : f->end;
        f->begin = from + (f->stat.batches ? c->wake : c->first);
    }
    return true;
}

/* The chunks of a block that a batch with these faulting chunks migrates. */
static uint32_t with_prefetch(const pl_fault_block *b, uint32_t faulted)
{
    const uint32_t present = (b->managed & ~b->absent) | faulted;
    uint32_t all = faulted;
    for (uint32_t n = 2; n <= CHUNKS; n *= 2)
        for (uint32_t first = 0; first < CHUNKS; first += n) {
            const uint32_t part = (n < CHUNKS ? (1u << n) - 1 : UINT32_MAX) << first;
            const int on_gpu = __builtin_popcount(part & present);
            if (part & faulted && 2 * on_gpu > __builtin_popcount(part & b->managed)) all |= part;
        }
    return all & b->absent;
}

static uint64_t duration(const pl_fault_config *c, const pl_fault_block *b, uint32_t chunks)
{
    const uint32_t host = (uint32_t)__builtin_popcount(chunks & b->on_host),
                   other = (uint32_t)__builtin_popcount(chunks & ~b->on_host);
    return c->block + (b->absent == b->managed ? c->new_block : 0) + (host ? c->host_block : 0) +
           (uint64_t)host * c->host_chunk + (uint64_t)other * c->chunk;
}

static void begin_batch(pl_page_faults *f, const pl_fault_config *c)
{
    uint64_t cycles = c->batch + (uint64_t)f->nentries * c->fault;
    for (size_t k = 0; k < f->n; k++) {
        pl_fault_block *b = &f->block[k];
        if (!b->faulted) continue;
        b->moving = with_prefetch(b, b->faulted);
        b->faulted = 0;
        cycles += duration(c, b, b->moving);
        f->stat.chunks += (uint32_t)__builtin_popcount(b->moving);
    }
    f->end = f->begin + cycles;
    f->begin = UINT64_MAX;
    f->nentries = 0;
    f->stat.batches++;
}

static void end_batch(pl_page_faults *f)
{
    for (size_t k = 0; k < f->n; k++) {
        f->block[k].absent &= ~f->block[k].moving;
        f->block[k].moving = 0;
    }
    f->stat.cycles += f->end - f->since;
    f->since = f->begin == UINT64_MAX ? UINT64_MAX : f->end;
    f->end = UINT64_MAX;
}

uint64_t pl_page_faults_next(const pl_page_faults *f)
{
    return f->end != UINT64_MAX ? f->end : f->begin;
}

bool pl_page_faults_step(pl_page_faults *f, const pl_fault_config *c)
{
    const bool ends = f->end != UINT64_MAX;
    if (ends)
        end_batch(f);
    else
        begin_batch(f, c);
    return ends;
}
