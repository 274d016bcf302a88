/* sort.h - putting things in the order of a number: for what is sorted so often that the calls of a
 * comparison function show. */
#ifndef PL_BASE_SORT_H
#define PL_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

typedef struct pl_key {
    uint64_t key;
    uint32_t what; /* the caller's: a number of the thing */
} pl_key;

/* Least key first; what has equal keys stays in its order. `room` is for n more, its contents do
 * not matter. */
void pl_sort_keys(pl_key *at, size_t n, pl_key *room);

#endif
