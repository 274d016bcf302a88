/* device_heap.c - blocks of the device heap. See device_heap.h. */
#include "emu/exec/runtime/device_heap.h"
#include "base/array.h"

#include "emu/exec/memory/global_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The cost of a block: the distances between blocks allocated by an H200. */
static uint64_t cost_of(uint64_t size)
{
    if (size <= 64) return 80;
    if (size <= 128) return 160;
    if (size <= 256) return 320;
    if (size <= 4096) return size + 320;
    return size + size / 1000 * 279 + 64;
}

/* Blocks of one class are interchangeable if they have the same cost. */
static unsigned class_of(uint64_t cost)
{
    return (unsigned)(cost / 80 % PL_HEAP_CLASSES);
}

void pl_heap_close(pl_heap *h)
{
    free(h->block);
    free(h->valid);
    free(h->site);
    memset(h, 0, sizeof *h);
}

bool pl_heap_track_valid(pl_heap *h)
{
    h->valid = calloc((size_t)(h->size / PL_GRANULE) + 1, 1);
    return h->valid != NULL;
}

/* Makes the first `size` bytes of the block accessible. Other host threads may read this
 * concurrently. */
static void set_valid_bytes(pl_heap *h, const pl_heap_block *b, uint64_t size)
{
    for (uint64_t at = 0; h->valid && at < b->cost; at += PL_GRANULE) {
        const uint64_t left = at < size ? size - at : 0;
        __atomic_store_n(&h->valid[(b->offset + at) / PL_GRANULE],
                         (uint8_t)(left < PL_GRANULE ? left : PL_GRANULE), __ATOMIC_RELAXED);
    }
}

static pl_heap_block *take_free_block(pl_heap *h, uint64_t cost, uint64_t align)
{
    for (uint32_t *at = &h->free_list[class_of(cost)]; *at; at = &h->block[*at - 1].next) {
        pl_heap_block *b = &h->block[*at - 1];
        if (b->cost != cost || (h->base + b->offset) % align) continue;
        *at = b->next;
        return b;
    }
    return NULL;
}

/* If no unused space is left: any free block that is large enough. */
static pl_heap_block *take_any_free_block(pl_heap *h, uint64_t cost, uint64_t align)
{
    for (unsigned c = 0; c < PL_HEAP_CLASSES; c++)
        for (uint32_t *at = &h->free_list[c]; *at; at = &h->block[*at - 1].next) {
            pl_heap_block *b = &h->block[*at - 1];
            if (b->cost < cost || (h->base + b->offset) % align) continue;
            *at = b->next;
            return b;
        }
    return NULL;
}

/* Gives free blocks at the end of the used space back to the unused space. */
static void trim(pl_heap *h)
{
    while (h->n && !h->block[h->n - 1].used) {
        const pl_heap_block *b = &h->block[h->n - 1];
        uint32_t *at = &h->free_list[class_of(b->cost)];
        while (*at && *at != h->n) at = &h->block[*at - 1].next;
        if (!*at) return;
        *at = b->next;
        h->top = b->offset;
        h->n--;
    }
}

static uint64_t aligned_top(const pl_heap *h, uint64_t align)
{
    return ((h->base + h->top + align - 1) & ~(align - 1)) - h->base;
}

uint64_t pl_heap_alloc(pl_heap *h, uint64_t size, uint64_t align)
{
    if (size > UINT64_MAX - 15) size = 0; /* rounded up, it overflows (H100) */
    if (!h->base || size > h->size) return 0;
    uint64_t cost = (cost_of(size) + 15) & ~15ull;
    pl_heap_block *b = take_free_block(h, cost, align);
    if (!b) {
        if (aligned_top(h, align) + cost > h->size) b = take_any_free_block(h, cost, align);
        if (!b && aligned_top(h, align) + cost > h->size) trim(h);
        const uint64_t start = aligned_top(h, align);
        if (!b && start + cost <= h->size) {
            if (h->n == h->cap && !pl_array_grow(&h->block, &h->cap, sizeof *h->block)) return 0;
            b = &h->block[h->n++];
            *b = (pl_heap_block){.offset = start, .cost = cost};
            h->top = start + cost;
        }
    }
    if (!b) return 0;
    b->used = true;
    b->size = size;
    b->next = b->alloc_site = b->free_site = 0;
    set_valid_bytes(h, b, size);
    return h->base + b->offset;
}

const pl_heap_block *pl_heap_block_at(const pl_heap *h, uint64_t address)
{
    const uint64_t offset = address - h->base;
    size_t lo = 0, hi = h->n; /* lo: the first block after the address */
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (h->block[mid].offset <= offset)
            lo = mid + 1;
        else
            hi = mid;
    }
    return h->base && lo ? &h->block[lo - 1] : NULL;
}

/* Index + 1; 0: out of memory. */
static uint32_t site_number(pl_heap *h, const pl_heap_site *s)
{
    for (uint32_t k = 0; k < h->nsites; k++)
        if (h->site[k].program == s->program && h->site[k].pc == s->pc &&
            strcmp(h->site[k].kernel, s->kernel) == 0)
            return k + 1;
    if (h->nsites == h->capsites && !pl_array_grow(&h->site, &h->capsites, sizeof *h->site))
        return 0;
    h->site[h->nsites] = *s;
    return (uint32_t)++h->nsites;
}

void pl_heap_record_site(pl_heap *h, uint64_t address, bool freed, const pl_heap_site *s)
{
    const pl_heap_block *found = pl_heap_block_at(h, address);
    if (!found || h->base + found->offset != address) return;
    pl_heap_block *b = &h->block[found - h->block];
    *(freed ? &b->free_site : &b->alloc_site) = site_number(h, s);
}

static void append_site(const pl_heap *h, uint32_t site, const char *what, char *text, size_t size)
{
    const size_t used = strlen(text);
    if (!site) return;
    const pl_heap_site *s = &h->site[site - 1];
    snprintf(text + used, size - used, ", %s by kernel '%s' at %s", what, s->kernel, s->location);
}

void pl_heap_history(const pl_heap *h, const pl_heap_block *b, char *text, size_t size)
{
    text[0] = '\0';
    append_site(h, b->alloc_site, "made", text, size);
    append_site(h, b->free_site, "freed", text, size);
}

bool pl_heap_empty(const pl_heap *h)
{
    for (size_t k = 0; k < h->n; k++)
        if (h->block[k].used) return false;
    return true;
}

bool pl_heap_free(pl_heap *h, uint64_t address)
{
    const pl_heap_block *found = pl_heap_block_at(h, address);
    if (!found || h->base + found->offset != address || !found->used) return false;
    const size_t k = (size_t)(found - h->block);
    pl_heap_block *b = &h->block[k];
    set_valid_bytes(h, b, 0);
    b->used = false;
    b->next = h->free_list[class_of(b->cost)];
    h->free_list[class_of(b->cost)] = (uint32_t)k + 1;
    return true;
}
