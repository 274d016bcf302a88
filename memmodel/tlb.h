/* tlb.h - which pages the TLBs of the GPU have translated.
 *
 * The first access to a page that no launch has accessed waits for the page table. Accesses to the
 * page wait with it until the translation is there; later launches find it. */
#ifndef PL_MEMMODEL_TLB_H
#define PL_MEMMODEL_TLB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pl_tlb_entry {
    uint64_t page;  /* number plus one; 0: free */
    uint64_t ready; /* cycle of the launch at which it can be used; 0: from the start */
} pl_tlb_entry;

typedef struct pl_tlb {
    pl_tlb_entry *at; /* open-addressed by the number of the page; owned */
    size_t n, cap;    /* cap: 0 or a power of two */
} pl_tlb;

void pl_tlb_close(pl_tlb *t);
/* A launch begins: all pages that are known are translated. */
void pl_tlb_begin(pl_tlb *t);
/* Cycle at which an access of cycle `now` goes on. walk: cycles that a translation takes.
 * False: out of memory. */
bool pl_tlb_translate(pl_tlb *t, uint64_t page, uint64_t now, uint32_t walk, uint64_t *goes_on);

#endif
