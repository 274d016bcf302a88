/* l1.h - the first-level cache of an SM: sectored tags, and MSHRs.
 *
 * A load asks for lines with sector masks. Present sectors answer at once. A missing sector sends
 * one request; a second load that needs a sector already under way waits for the same fill (a
 * "merge"). Each load is known by a token of its owner, which is handed back when the last of its
 * sectors is there. Stores go through to the L2 and keep present sectors up to date; whether they
 * also take a place, so that later loads find what was stored, is the machine's choice
 * (l1.allocate). */
#ifndef PL_MEMMODEL_L1_H
#define PL_MEMMODEL_L1_H

#include "base/arena.h"
#include "memmodel/cache.h"
#include "memmodel/mshr.h"
#include "memmodel/request.h"

/* Lines that are remembered as claimed since all were forgotten last. */
enum { PL_L1_RECENT = 128 };

/* How an access deals with lines: goes past them, looks whether they are there, or also gives those
 * a place that are not. */
typedef enum pl_l1_policy { PL_L1_TAG_BYPASS, PL_L1_TAG_LOOKUP, PL_L1_TAG_ALLOCATE } pl_l1_policy;

typedef struct pl_l1 {
    pl_cache tags;
    pl_mshr_file mshrs;
    uint32_t sector_bytes;
    uint64_t hits, merges, misses; /* sectors */
    /* These addresses are the threads' own: no fence forgets their lines. */
    uint64_t private_base, private_bytes;
    /* Lines that may hold something; PL_L1_RECENT + 1: too many to know. */
    uint32_t recent[PL_L1_RECENT], nrecent;
} pl_l1;

/* tags, sparse: for tables that are mostly empty and need not be zero; misses: MSHRs; targets:
 * loads that may wait, all together. */
void pl_l1_init(pl_l1 *l, pl_arena *a, pl_arena *tags, pl_arena *sparse, uint64_t bytes,
                uint32_t line_bytes, uint32_t sector_bytes, uint32_t ways, uint32_t misses,
                uint32_t targets);
/* Looks the sectors up for `token`. Returns how many fills the token must wait for (0: all
 * present). For a new miss, *request gets its number and *ask the sectors to fetch, else *ask is 0.
 * rank: what a line gets that is there, or takes a place. */
uint32_t pl_l1_load(pl_l1 *l, uint64_t line, uint8_t sectors, uint32_t token, pl_l1_policy way,
                    pl_mem_rank rank, uint32_t *request, uint8_t *ask);
/* A store passes: was its line there? PL_L1_TAG_ALLOCATE: its sectors are there afterwards,
 * PL_L1_TAG_LOOKUP: if the line was there. */
bool pl_l1_store(pl_l1 *l, uint64_t line, uint8_t sectors, pl_l1_policy way, pl_mem_rank rank);
/* These sectors are not present any more. */
void pl_l1_invalidate_sectors(pl_l1 *l, uint64_t line, uint8_t sectors);
/* The fill of MSHR `request` has come. Calls done(ctx, token) for each load that waited. */
void pl_l1_fill(pl_l1 *l, uint32_t request, void (*done)(void *ctx, uint32_t token), void *ctx);
/* Forgets all lines but the threads' own (fence at gpu scope, barrier of a cluster). */
void pl_l1_invalidate(pl_l1 *l);

#endif
