/* l1.h - the first-level cache of an SM: sectored tags, and MSHRs.
 *
 * A load requests lines with sector masks. Valid sectors hit at once. Missing sectors send one
 * request; a second load of a sector that is already pending waits for the same fill (a "merge").
 * Each load is identified by a token of its owner, which is returned when the last of its sectors
 * has arrived. Stores write through to the L2 and update valid sectors. Whether they also allocate
 * lines, so that later loads hit, is a property of the machine (l1.allocate). */
#ifndef PL_MEMMODEL_L1_H
#define PL_MEMMODEL_L1_H

#include "base/arena.h"
#include "memmodel/cache.h"
#include "memmodel/mshr.h"
#include "memmodel/request.h"

/* Capacity of the list of lines claimed since the last invalidation. */
enum { PL_L1_RECENT = 128 };

/* How an access treats tags: bypass, look up only, or allocate on a miss. */
typedef enum pl_l1_policy { PL_L1_TAG_BYPASS, PL_L1_TAG_LOOKUP, PL_L1_TAG_ALLOCATE } pl_l1_policy;

typedef struct pl_l1 {
    pl_cache tags;
    pl_mshr_file mshrs;
    uint32_t sector_bytes;
    uint64_t hits, merges, misses; /* sectors */
    /* Addresses of private memory: fences do not invalidate their lines. */
    uint64_t private_base, private_bytes;
    /* Lines that may hold data; PL_L1_RECENT + 1: the list has overflowed. */
    uint32_t recent[PL_L1_RECENT], nrecent;
} pl_l1;

typedef struct pl_l1_geometry {
    uint64_t bytes; /* capacity */
    uint32_t line_bytes, sector_bytes, ways;
    uint32_t mshrs;   /* most lines with misses in flight */
    uint32_t targets; /* most waiting loads in total */
} pl_l1_geometry;

/* tags, sparse: for tables that are mostly empty and need not be zeroed. */
void pl_l1_init(pl_l1 *l, pl_arena *a, pl_arena *tags, pl_arena *sparse, const pl_l1_geometry *g);
/* Looks up the sectors for `token`. Returns the number of fills that the token must wait for (0:
 * all valid). For a new miss, *request receives its number and *fetch the sectors to fetch, else
 * *fetch is 0. rank: the rank that a line receives when hit or allocated. */
uint32_t pl_l1_load(pl_l1 *l, uint64_t line, uint8_t sectors, uint32_t token, pl_l1_policy policy,
                    pl_mem_rank rank, uint32_t *request, uint8_t *fetch);
/* A store writes through. Returns true if its line was present. PL_L1_TAG_ALLOCATE: its sectors are
 * valid afterwards; PL_L1_TAG_LOOKUP: only if the line was present. */
bool pl_l1_store(pl_l1 *l, uint64_t line, uint8_t sectors, pl_l1_policy policy, pl_mem_rank rank);
/* Invalidates these sectors. */
void pl_l1_invalidate_sectors(pl_l1 *l, uint64_t line, uint8_t sectors);
/* The fill of MSHR `request` has arrived. Calls done(ctx, token) for each waiting load. */
void pl_l1_fill(pl_l1 *l, uint32_t request, void (*done)(void *ctx, uint32_t token), void *ctx);
/* Invalidates all lines except those of private memory (fence at gpu scope, barrier of a cluster).
 */
void pl_l1_invalidate(pl_l1 *l);

#endif
