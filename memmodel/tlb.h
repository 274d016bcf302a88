/* tlb.h - the pages that the TLBs of the GPU have translated.
 *
 * The first access to a page that no launch has accessed waits for a page walk. Later accesses to
 * the page wait for the same translation; later launches find it present. */
#ifndef PL_MEMMODEL_TLB_H
#define PL_MEMMODEL_TLB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pl_tlb_entry {
    uint64_t page;  /* number plus one; 0: free */
    uint64_t ready; /* cycle of the launch at which it becomes usable; 0: from the start */
} pl_tlb_entry;

typedef struct pl_tlb {
    pl_tlb_entry *at; /* open-addressed by the number of the page; owned */
    size_t n, cap;    /* cap: 0 or a power of two */
} pl_tlb;

void pl_tlb_close(pl_tlb *t);
/* Starts a launch: all known pages are translated. */
void pl_tlb_begin(pl_tlb *t);
/* *ready receives the cycle at which an access of cycle `now` continues. walk: cycles of a
 * translation. Returns false when out of memory. */
bool pl_tlb_translate(pl_tlb *t, uint64_t page, uint64_t now, uint32_t walk, uint64_t *ready);

#endif
