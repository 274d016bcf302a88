/* sync_places.h - memory locations that carry released vector clocks: strong writes after a fence,
 * atomic operations, mbarriers. There may be one per written word, so they are small: adjacent
 * words are one entry of the table, and locations that threads of a block have written after the
 * same barrier share their state. */
#ifndef PL_CHECK_SYNC_PLACES_H
#define PL_CHECK_SYNC_PLACES_H

#include "check/vector_clock.h"

/* The clock released by threads of a block, at any scope. */
typedef struct sync_block {
    pl_vector_clock *clock;
    uint32_t block;
} sync_block;

typedef struct sync_object {
    pl_vector_clock *phase; /* collected by the current phase; that of completed phases is then in
                            `device_scope` of the location */
    uint32_t number;        /* index of the mbarrier in its block */
    bool initialised;       /* mbarrier.init has been executed, */
    bool invalidated;       /* and mbarrier.inval after it */
    bool odd;               /* parity of the phase of `phase` */
} sync_object;

/* Modified by its only location. */
typedef struct sync_state {
    uint32_t refs;
    uint32_t blocks, cap;          /* blocks: including the first; cap: capacity of `more` */
    sync_block first, *more;       /* by block */
    pl_vector_clock *device_scope; /* released at device scope */
    pl_vector_clock *any_scope;    /* released at any scope */
    sync_object *object;           /* of mbarriers; or NULL */
} sync_state;

typedef struct sync_place {
    uint32_t state;  /* its number, from 1; 0: nothing is released */
    uint16_t writer; /* the lane of block `first` that has released all of it, from 1; 0: several */
} sync_place;

enum { PL_SYNC_WORDS = 8, PL_SYNC_CHUNK = 8 };

/* Locations at PL_SYNC_WORDS adjacent words, or only the first at an address within a word. */
typedef struct sync_group {
    uint64_t key;
    sync_place word[PL_SYNC_WORDS];
} sync_group;

typedef struct sync_places {
    sync_group **group; /* PL_SYNC_CHUNK each, in order of creation */
    uint32_t groups;
    uint32_t *at; /* hash table of their numbers, from 1; 0: free */
    uint32_t cap;
    sync_state **state; /* PL_SYNC_CHUNK each */
    uint32_t states;
    uint32_t unused; /* number of the first state without users, whose `blocks` is the next */
    uint32_t latest; /* the state of the latest release by a single block; 0: none */
} sync_places;

/* NULL: nothing is released. */
static inline sync_state *pl_sync_state(const sync_places *t, const sync_place *p)
{
    const uint32_t n = p->state - 1;
    return p->state ? &t->state[n / PL_SYNC_CHUNK][n % PL_SYNC_CHUNK] : NULL;
}

/* Returns the location at an address; NULL: none. */
sync_place *pl_sync_find(const sync_places *t, uint64_t address);
/* The same, created on demand. NULL: no memory. */
sync_place *pl_sync_make(sync_places *t, uint64_t address);
/* Discards the clocks released at the location. */
void pl_sync_forget(sync_places *t, sync_place *p);
void pl_sync_free(sync_places *t);
/* Returns its state, for modification. NULL: no memory. */
sync_state *pl_sync_own(sync_places *t, sync_place *p);
/* Merges a clock that threads of a block release at block, device and any scope. False: no memory.
 */
bool pl_sync_release(sync_places *t, sync_place *p, uint32_t block, pl_vector_clock *of_block,
                     pl_vector_clock *of_device, pl_vector_clock *of_any);
/* Returns the clock that threads of a block have released, or NULL. */
pl_vector_clock *pl_sync_known(const sync_state *s, uint32_t block);

#endif
