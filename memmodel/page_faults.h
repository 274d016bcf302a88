/* page_faults.h - accesses to managed memory whose pages are not on the GPU.
 *
 * Such accesses wait. The driver serves them in batches (managed_order.tsv): it reads up to
 * `max_faults` faults, migrates the 64 KiB chunks that contain them, and lets the accesses repeat.
 * Faults during a batch belong to the next one. The driver also prefetches: in a block of 2 MiB, it
 * completes the largest aligned power of two of chunks of which more than half are on the GPU after
 * the batch. A fault is a page of 4 KiB that an SM accesses. */
#ifndef PL_MEMMODEL_PAGE_FAULTS_H
#define PL_MEMMODEL_PAGE_FAULTS_H

#include "base/arena.h"
#include "base/managed.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PL_MAX_FAULTS = 256 }; /* limit of pl_fault_config.max_faults */

/* Cycles of the driver, and faults of a batch. */
typedef struct pl_fault_config {
    uint32_t first;      /* from the first fault of a launch to its batch */
    uint32_t wake;       /* the same for later batches, also from the end of the batch before */
    uint32_t batch;      /* a batch, in addition to its faults and blocks; 0: no access waits for
                            pages */
    uint32_t fault;      /* a fault of the batch */
    uint32_t block;      /* a block of the batch, in addition to its chunks */
    uint32_t new_block;  /* the same for a block that had no chunk on the GPU, in addition */
    uint32_t host_block; /* the same for a block with chunks that the host has written */
    uint32_t chunk;      /* a chunk that nobody has written */
    uint32_t host_chunk; /* a chunk that the host has written */
    uint32_t max_faults;
} pl_fault_config;

/* A PL_MANAGED_BLOCK of managed memory. Masks by PL_MANAGED_CHUNK. */
typedef struct pl_fault_block {
    uint64_t address;         /* multiple of PL_MANAGED_BLOCK */
    uint32_t managed;         /* chunks in allocations; the prefetcher adds no others */
    uint32_t absent;          /* of these, not on the GPU; cleared as they migrate */
    uint32_t on_host;         /* of these, written by the host */
    uint32_t faulted, moving; /* in the next batch; in the batch in progress */
} pl_fault_block;

typedef struct pl_fault_entry {
    uint64_t page;
    uint32_t node;
} pl_fault_entry;

typedef struct pl_fault_stat {
    uint64_t cycles;  /* in which accesses waited for the driver */
    uint64_t batches; /* of the driver */
    uint64_t chunks;  /* that have migrated */
} pl_fault_stat;

typedef struct pl_page_faults {
    pl_fault_block *block; /* by address; owned by the arena */
    size_t n;
    size_t latest;                       /* index of the block that was found last */
    pl_fault_entry entry[PL_MAX_FAULTS]; /* of the next batch */
    uint32_t nentries;
    uint64_t begin; /* cycle at which the driver reads the next batch; UINT64_MAX: no fault */
    uint64_t end;   /* cycle at which the batch in progress ends; UINT64_MAX: none */
    uint64_t since; /* cycle from which accesses have waited; UINT64_MAX: none waits */
    pl_fault_stat stat;
} pl_page_faults;

/* Adds n zeroed blocks to the arena. Returns NULL when out of memory. The caller sets the address,
 * `managed`, `absent` and `on_host` of each, in the order of addresses. */
pl_page_faults *pl_page_faults_new(pl_arena *a, size_t n);
/* Starts a run of the timing model: no access waits, and the statistics are 0. */
void pl_page_faults_begin(pl_page_faults *f);
/* Returns true if an access of a node to the address waits for a page. It is to be repeated after
 * the next batch that pl_page_faults_step ends. */
bool pl_page_faults_access(pl_page_faults *f, const pl_fault_config *c, uint64_t address,
                           uint32_t node, uint64_t now);
/* The cycle of the next call of pl_page_faults_step, or UINT64_MAX. */
uint64_t pl_page_faults_next(const pl_page_faults *f);
/* Starts or ends a batch. Returns true if one has ended: accesses are to be repeated. */
bool pl_page_faults_step(pl_page_faults *f, const pl_fault_config *c);

#endif
