/* sort.h - sorting by a numeric key, for sorts so frequent that calls of a comparison function are
 * significant. */
#ifndef PL_BASE_SORT_H
#define PL_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

typedef struct pl_key {
    uint64_t key;
    uint32_t what; /* the caller's: index of the object */
} pl_key;

/* Sorts by ascending key; stable. `scratch` is scratch space for n entries; its contents do not
 * matter. */
void pl_sort_keys(pl_key *at, size_t n, pl_key *scratch);

#endif
