/* map.h - string-keyed hash map in an arena (open addressing, FNV-1a). Keys are not copied. */
#ifndef PL_BASE_MAP_H
#define PL_BASE_MAP_H

#include "base/arena.h"
#include <stdint.h>

typedef struct pl_map {
    pl_arena *arena; /* not owned */
    struct pl_map_slot {
        const char *key; /* NULL: free */
        size_t len;
        void *value;
    } * slot;
    size_t n, cap;
} pl_map;

void pl_map_init(pl_map *m, pl_arena *arena);
/* The value stored under the key, or NULL. */
void *pl_map_get(const pl_map *m, const char *key, size_t len);
/* Stores value (not NULL) under the key; returns the previous value, or NULL. */
void *pl_map_put(pl_map *m, const char *key, size_t len, void *value);

#endif
