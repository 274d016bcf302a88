/* tlb.c - see tlb.h. */
#include "memmodel/tlb.h"
#include <stdlib.h>
#include <string.h>

enum { FIRST_ENTRIES = 64 };

void pl_tlb_close(pl_tlb *t)
{
    free(t->at);
    memset(t, 0, sizeof *t);
}

void pl_tlb_begin(pl_tlb *t)
{
    for (size_t k = 0; k < t->cap; k++) t->at[k].ready = 0;
}

/* The entry of a page, or the free entry for it. */
static pl_tlb_entry *entry_of(const pl_tlb *t, uint64_t page)
{
    size_t k = (size_t)(page * 0x9E3779B97F4A7C15ull >> 20) & (t->cap - 1);
    while (t->at[k].page && t->at[k].page != page + 1) k = (k + 1) & (t->cap - 1);
    return &t->at[k];
}

static bool grow(pl_tlb *t)
{
    const pl_tlb old = *t;
    const size_t cap = old.cap ? 2 * old.cap : FIRST_ENTRIES;
    pl_tlb_entry *at = calloc(cap, sizeof *at);
    if (!at) return false;
    t->at = at;
    t->cap = cap;
    for (size_t k = 0; k < old.cap; k++)
        if (old.at[k].page) *entry_of(t, old.at[k].page - 1) = old.at[k];
    free(old.at);
    return true;
}

bool pl_tlb_translate(pl_tlb *t, uint64_t page, uint64_t now, uint32_t walk, uint64_t *ready)
{
    if (2 * t->n >= t->cap && !grow(t)) return false;
    pl_tlb_entry *e = entry_of(t, page);
    if (!e->page) {
        *e = (pl_tlb_entry){.page = page + 1, .ready = now + walk};
        t->n++;
    }
    *ready = e->ready > now ? e->ready : now;
    return true;
}
