/* memory_dependence.h - which accesses to memory of a region of code must stay after which
 * others.
 *
 * Accesses are told one after the other. Stores keep their order; a load stays after the stores
 * that it may see, and before those that may change what it reads. Told are the nearest ones
 * only: where a store stands between two, it keeps them in order. */
#ifndef PL_COMPILER_ANALYSIS_MEMORY_DEPENDENCE_H
#define PL_COMPILER_ANALYSIS_MEMORY_DEPENDENCE_H

#include "base/arena.h"

#include <stdint.h>

enum { PL_UNKNOWN_BASE = 0xffffffff, PL_NO_ACCESS = 0xffffffff };

typedef struct pl_access {
    uint32_t at;    /* number of the instruction */
    uint32_t space; /* pl_space: a generic access may be in any */
    uint32_t base; /* value that the bytes are counted from, PL_UNKNOWN_BASE: they may be any of the
                      space */
    int64_t from, to;
} pl_access;

typedef struct pl_memory_dependence pl_memory_dependence;

/* NULL: out of memory. */
pl_memory_dependence *pl_memory_dependence_new(pl_arena *a);
/* A new region: nothing has been told. */
void pl_memory_dependence_start(pl_memory_dependence *m);
/* The store that this load must stay after, PL_NO_ACCESS: none. */
uint32_t pl_memory_dependence_of_load(pl_memory_dependence *m, const pl_access *a);
/* The store before this one, PL_NO_ACCESS; *loads are *n loads that it must stay after, until the
 * next call. */
uint32_t pl_memory_dependence_of_store(pl_memory_dependence *m, const pl_access *a,
                                       const uint32_t **loads, uint32_t *n);
/* The same for what must stay after every access so far. */
uint32_t pl_memory_dependence_of_all(pl_memory_dependence *m, const uint32_t **loads, uint32_t *n);

#endif
