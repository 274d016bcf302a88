/* memory_dependence.h - memory dependences between the accesses of a region of code.
 *
 * Accesses are passed in program order. Stores keep their order; a load stays after the stores that
 * it may read from, and before the stores that may overwrite its location. Only the nearest
 * dependences are reported: a store between two accesses keeps them in order. */
#ifndef PL_COMPILER_ANALYSIS_MEMORY_DEPENDENCE_H
#define PL_COMPILER_ANALYSIS_MEMORY_DEPENDENCE_H

#include "base/arena.h"

#include <stdint.h>

enum { PL_UNKNOWN_BASE = 0xffffffff, PL_NO_ACCESS = 0xffffffff };

typedef struct pl_access {
    uint32_t at;    /* instruction number */
    uint32_t space; /* pl_space: a generic access may be in any space */
    uint32_t base; /* value to which `from` and `to` are relative; PL_UNKNOWN_BASE: any bytes of the
                      space */
    int64_t from, to;
} pl_access;

typedef struct pl_memory_dependence pl_memory_dependence;

/* Returns NULL when out of memory. */
pl_memory_dependence *pl_memory_dependence_new(pl_arena *a);
/* Starts a new region without accesses. */
void pl_memory_dependence_start(pl_memory_dependence *m);
/* The store that this load depends on, PL_NO_ACCESS: none. */
uint32_t pl_memory_dependence_of_load(pl_memory_dependence *m, const pl_access *a);
/* The store that precedes this one, PL_NO_ACCESS: none. *loads are the *n loads that it must
 * follow, valid until the next call. */
uint32_t pl_memory_dependence_of_store(pl_memory_dependence *m, const pl_access *a,
                                       const uint32_t **loads, uint32_t *n);
/* The same for an instruction that must follow all earlier accesses. */
uint32_t pl_memory_dependence_of_all(pl_memory_dependence *m, const uint32_t **loads, uint32_t *n);

#endif
