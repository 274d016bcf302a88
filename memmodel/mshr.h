/* mshr.h - miss status holding registers: outstanding misses of a cache, and the loads waiting for
 * each.
 *
 * An MSHR tracks the missing sectors of one line that one request fetches. Later loads of these
 * sectors become targets of the same MSHR (a "merge"). */
#ifndef PL_MEMMODEL_MSHR_H
#define PL_MEMMODEL_MSHR_H

#include "base/arena.h"
#include <stdbool.h>
#include <stdint.h>

/* Entries kept in reserve, so that an admitted access always finds a free one. */
enum { PL_L1_BURST = 64 };

#define PL_NO_MSHR UINT32_MAX

typedef struct pl_mshr {
    uint64_t line;
    uint32_t targets; /* list of pl_mshr_target */
    uint32_t next;    /* next MSHR of the same cache line, or free list */
    uint32_t slot;    /* index in the tags, PL_NO_LINE when the line could not be claimed */
    uint8_t sectors;
} pl_mshr;

typedef struct pl_mshr_target {
    uint32_t token, next;
} pl_mshr_target;

typedef struct pl_mshr_file {
    pl_mshr *at;
    pl_mshr_target *target;
    uint32_t burst; /* most entries that an instruction allocates */
    uint32_t n, ntarget, free, free_target, used, used_target;
    uint32_t first_unused, first_unused_target; /* entries from here on have never been used */
    uint32_t max_sectors;     /* limit of outstanding sectors for starting another access; 0:
                                 none */
    uint32_t sectors_pending; /* outstanding sectors */
} pl_mshr_file;

/* Bytes that pl_mshr_init allocates. */
uint64_t pl_mshr_bytes(uint32_t n, uint32_t targets);
/* `sparse`: for tables that are mostly empty and need not be zeroed; targets: most waiting loads in
 * total. */
void pl_mshr_init(pl_mshr_file *f, pl_arena *sparse, uint32_t n, uint32_t targets);
/* Allocates an MSHR for these sectors; returns its number. */
uint32_t pl_mshr_new(pl_mshr_file *f, uint64_t line, uint32_t slot, uint8_t sectors);
void pl_mshr_add_target(pl_mshr_file *f, pl_mshr *m, uint32_t token);
/* The fill of MSHR k has arrived. Frees the MSHR and calls done(ctx, token) for each target. */
void pl_mshr_complete(pl_mshr_file *f, uint32_t k, void (*done)(void *ctx, uint32_t token),
                      void *ctx);

/* True if a new access may start; if false, retry after the next fill. */
static inline bool pl_mshr_available(const pl_mshr_file *f)
{
    return (!f->max_sectors || f->sectors_pending < f->max_sectors) && f->used + f->burst <= f->n &&
           f->used_target + f->burst <= f->ntarget;
}

#endif
