/* global_memory.c - the allocations that make up global memory. See global_memory.h. */
#define _DEFAULT_SOURCE /* MAP_NORESERVE */
#include "emu/exec/memory/global_memory.h"
#include "base/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void pl_memory_init(pl_memory *m)
{
    memset(m, 0, sizeof *m);
    m->next = PL_GLOBAL_BASE;
}

enum { SHARED_GRAIN = 1 << 16 };
static const uint64_t shared_offset = UINT64_C(7) << 37; /* relative to the start */

void pl_memory_start(pl_memory *m, uint64_t base)
{
    m->base = m->next = base;
    m->shared_next = base + shared_offset;
}

enum {
    /* Bytes beyond the requested size: lane loops may read a whole vector at the last element. */
    SLACK = 64,
    MAPPED = 64 << 20 /* from this size on the host provides a page on first access, and reserves
                         nothing before */
};

/* at: a hint, or 0. */
static uint8_t *map_pages(uint64_t at, uint64_t size)
{
    void *bytes = mmap((void *)(uintptr_t)at, (size_t)size + SLACK, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return bytes == MAP_FAILED ? NULL : bytes;
}

static uint8_t *alloc_zeroed(uint64_t size)
{
    return size < MAPPED ? calloc(1, (size_t)size + SLACK) : map_pages(0, size);
}

static void free_host_bytes(const pl_alloc *a)
{
    if (a->borrowed) return;
    if (a->size < MAPPED && !a->mapped)
        free(a->bytes);
    else
        munmap(a->bytes, (size_t)a->size + SLACK);
}

void pl_memory_free(pl_memory *m)
{
    for (size_t k = 0; k < m->n; k++) free_host_bytes(&m->alloc[k]);
    free(m->alloc);
    memset(m, 0, sizeof *m);
}

uint64_t pl_memory_alloc(pl_memory *m, uint64_t size, const char *name)
{
    return pl_memory_alloc_gap(m, size, PL_GAP, name);
}

static size_t upper_bound(const pl_memory *m, uint64_t address)
{
    size_t lo = 0, hi = m->n; /* first allocation that starts after the address */
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (m->alloc[mid].address <= address)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Inserts an allocation in address order. */
static bool insert(pl_memory *m, const pl_alloc *a)
{
    if (m->n == m->cap && !pl_array_grow(&m->alloc, &m->cap, sizeof *m->alloc)) return false;
    const size_t k = upper_bound(m, a->address);
    memmove(&m->alloc[k + 1], &m->alloc[k], (m->n - k) * sizeof *m->alloc);
    m->alloc[k] = *a;
    m->n++;
    return true;
}

uint64_t pl_memory_alloc_gap(pl_memory *m, uint64_t size, uint64_t gap, const char *name)
{
    if (size > (uint64_t)1 << 44) return 0;
    uint8_t *bytes = alloc_zeroed(size);
    if (!bytes) return 0;
    const pl_alloc a = {.address = m->next, .size = size, .bytes = bytes, .name = name};
    if (!insert(m, &a)) {
        free_host_bytes(&a);
        return 0;
    }
    m->next += (size + gap + 511) / 512 * 512; /* a gap, so that overruns do not reach another
                                                  allocation */
    return a.address;
}

uint64_t pl_memory_alloc_shared(pl_memory *m, uint64_t size, const char *name)
{
    uint8_t *bytes = map_pages(m->shared_next, size);
    if (m->shared_next) m->shared_next += (size + SHARED_GRAIN) / SHARED_GRAIN * SHARED_GRAIN;
    if (!bytes) return 0;
    const pl_alloc a = {.address = (uintptr_t)bytes,
                        .size = size,
                        .bytes = bytes,
                        .name = name,
                        .flags = PL_ALLOC_WRITTEN,
                        .mapped = true};
    if (insert(m, &a)) return a.address;
    free_host_bytes(&a);
    return 0;
}

pl_status pl_memory_map(pl_memory *m, uint64_t address, uint64_t size, void *bytes,
                        const char *name)
{
    const size_t k = upper_bound(m, address);
    if (k && address - m->alloc[k - 1].address < m->alloc[k - 1].size) return PL_INVALID;
    if (k < m->n && m->alloc[k].address - address < size) return PL_INVALID;
    const pl_alloc a = {.address = address,
                        .size = size,
                        .bytes = bytes,
                        .name = name,
                        .flags = PL_ALLOC_WRITTEN,
                        .borrowed = true};
    return insert(m, &a) ? PL_OK : PL_NOMEM;
}

pl_status pl_memory_release(pl_memory *m, uint64_t address)
{
    size_t k = upper_bound(m, address);
    if (!k || m->alloc[k - 1].address != address) return PL_INVALID;
    pl_freed *f = &m->freed[m->nfreed++ % PL_FREED];
    f->address = address;
    f->size = m->alloc[k - 1].size;
    snprintf(f->name, sizeof f->name, "%s",
             m->alloc[k - 1].name ? m->alloc[k - 1].name : "an allocation");
    free_host_bytes(&m->alloc[k - 1]);
    memmove(&m->alloc[k - 1], &m->alloc[k], (m->n - k) * sizeof *m->alloc);
    m->n--;
    return PL_OK;
}

/* The last allocation that starts at or before the address, or NULL. */
static pl_alloc *find_start(pl_memory *m, uint64_t address)
{
    size_t k = upper_bound(m, address);
    return k ? &m->alloc[k - 1] : NULL;
}

void pl_memory_mark(pl_memory *m, uint64_t address, unsigned flags)
{
    pl_alloc *a = find_start(m, address);
    if (a) a->flags |= flags;
}

void pl_memory_set_type(pl_memory *m, uint64_t address, const char *type, uint32_t element)
{
    pl_alloc *a = find_start(m, address);
    if (!a) return;
    a->type = type;
    a->element = element;
}

uint64_t pl_memory_unwritten_bytes(const pl_memory *m)
{
    uint64_t sum = 0;
    for (size_t k = 0; k < m->n; k++)
        sum += m->alloc[k].flags & PL_ALLOC_WRITTEN ? 0 : m->alloc[k].size;
    return sum;
}

void pl_memory_restrict(pl_memory *m, uint64_t address, const uint8_t *valid)
{
    pl_alloc *a = find_start(m, address);
    if (a) a->valid = valid;
}

bool pl_memory_valid(const uint8_t *valid, uint64_t at, uint64_t bytes)
{
    while (bytes) {
        const uint64_t first = at % PL_GRANULE,
                       n = bytes < PL_GRANULE - first ? bytes : PL_GRANULE - first;
        if (__atomic_load_n(&valid[at / PL_GRANULE], __ATOMIC_RELAXED) < first + n) return false;
        at += n;
        bytes -= n;
    }
    return true;
}

const pl_freed *pl_memory_freed(const pl_memory *m, uint64_t address)
{
    for (size_t k = 0; k < m->nfreed && k < PL_FREED; k++) {
        const pl_freed *f = &m->freed[k];
        if (address - f->address < f->size) return f;
    }
    return NULL;
}

const pl_alloc *pl_memory_find(const pl_memory *m, uint64_t address)
{
    size_t k = upper_bound(m, address);
    if (!k || address - m->alloc[k - 1].address >= m->alloc[k - 1].size) return NULL;
    pl_alloc *a = &m->alloc[k - 1];
    if (!__atomic_load_n(&a->touched, __ATOMIC_RELAXED)) /* called by several threads at once */
        __atomic_store_n(&a->touched, true, __ATOMIC_RELAXED);
    return a;
}

const pl_alloc *pl_memory_nearest(const pl_memory *m, uint64_t address)
{
    size_t k = upper_bound(m, address);
    if (!m->n) return NULL;
    if (!k) return &m->alloc[0];
    if (k == m->n) return &m->alloc[k - 1];
    const pl_alloc *before = &m->alloc[k - 1], *after = &m->alloc[k];
    uint64_t end = before->address + before->size;
    uint64_t past_end = address > end ? address - end : 0;
    return past_end <= after->address - address ? before : after;
}

uint8_t *pl_memory_at(const pl_memory *m, uint64_t address, uint64_t size)
{
    const pl_alloc *a = pl_memory_find(m, address);
    if (!a || size > a->size || address - a->address > a->size - size) return NULL;
    return a->bytes + (address - a->address);
}
