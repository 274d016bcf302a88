/* mshr.h - miss status holding registers: misses of a cache that are under way, and who waits for
 * each of them.
 *
 * An MSHR stands for the missing sectors of one line that one request fetches. Later loads of these
 * sectors become targets of the same MSHR (a "merge"). */
#ifndef PL_MEMMODEL_MSHR_H
#define PL_MEMMODEL_MSHR_H

#include "base/arena.h"
#include <stdbool.h>
#include <stdint.h>

/* Entries that are kept free, so that an access that was let in always finds one. */
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
    uint32_t burst; /* most entries that an instruction takes */
    uint32_t n, ntarget, free, free_target, used, used_target;
    uint32_t fresh, fresh_target; /* entries from here on were never used */
    uint32_t max_sectors;         /* that may be under way when another access starts; 0: any */
    uint32_t sectors_pending;     /* that are under way */
} pl_mshr_file;

/* `sparse`: for tables that are mostly empty and need not be zero; targets: loads that may wait,
 * all together. */
void pl_mshr_init(pl_mshr_file *f, pl_arena *sparse, uint32_t n, uint32_t targets);
/* A new MSHR for these sectors; returns its number. */
uint32_t pl_mshr_new(pl_mshr_file *f, uint64_t line, uint32_t slot, uint8_t sectors);
void pl_mshr_add_target(pl_mshr_file *f, pl_mshr *m, uint32_t token);
/* The fill of MSHR k has come. Calls done(ctx, token) for each target; the MSHR is free. */
void pl_mshr_complete(pl_mshr_file *f, uint32_t k, void (*done)(void *ctx, uint32_t token),
                      void *ctx);

/* True if a new access may start; else try after the next fill. */
static inline bool pl_mshr_available(const pl_mshr_file *f)
{
    return (!f->max_sectors || f->sectors_pending < f->max_sectors) && f->used + f->burst <= f->n &&
           f->used_target + f->burst <= f->ntarget;
}

#endif
