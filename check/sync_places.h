/* sync_places.h - memory locations that carry released knowledge: strong writes after a fence,
 * atomic operations, mbarriers. There may be one per written word, so they are small: locations
 * that threads of a block have written after the same barrier share their state. */
#ifndef PL_CHECK_SYNC_PLACES_H
#define PL_CHECK_SYNC_PLACES_H

#include "check/knowledge.h"

/* Knowledge released by threads of a block, at any scope. */
typedef struct sync_block {
    pl_knowledge *knowledge;
    uint32_t block;
} sync_block;

typedef struct sync_object {
    pl_knowledge *phase; /* collected by the current phase; that of completed phases is then in
                            `device_scope` of the location */
    uint32_t number;     /* index of the mbarrier in its block */
    bool initialised;    /* mbarrier.init has been executed */
    bool odd;            /* parity of the phase of `phase` */
} sync_object;

/* Modified by its only location. */
typedef struct sync_state {
    uint32_t refs;
    uint32_t blocks, cap;       /* blocks: including the first; cap: capacity of `more` */
    sync_block first, *more;    /* by block */
    pl_knowledge *device_scope; /* released at device scope */
    pl_knowledge *any_scope;    /* released at any scope */
    sync_object *object;        /* of mbarriers; or NULL */
} sync_state;

enum { PL_SYNC_ADDRESS_BITS = 48 };

typedef struct sync_place {
    uint64_t address : PL_SYNC_ADDRESS_BITS;
    uint64_t writer : 64 - PL_SYNC_ADDRESS_BITS; /* the lane of block `first` that has released all
                                                    of it, from 1; 0: several */
    sync_state *state;                           /* NULL: nothing is released */
} sync_place;

typedef struct sync_places {
    sync_state *latest; /* that of the latest release by a single block; or NULL */
    sync_place **chunk; /* PL_SYNC_CHUNK locations each, in order of creation */
    uint32_t *at;       /* hash table of their numbers, from 1; 0: free */
    uint32_t n, cap;
} sync_places;
enum { PL_SYNC_CHUNK = 32 };

/* Returns the location at an address; NULL: none. */
sync_place *pl_sync_find(const sync_places *t, uint64_t address);
/* The same, created on demand. NULL: no memory. */
sync_place *pl_sync_make(sync_places *t, uint64_t address);
/* Discards the knowledge released at the location. */
void pl_sync_forget(sync_place *p);
void pl_sync_free(sync_places *t);
/* Returns its state, for modification. NULL: no memory. */
sync_state *pl_sync_own(sync_place *p);
/* Adds knowledge that threads of a block release at block, device and any scope. False: no memory.
 */
bool pl_sync_release(sync_places *t, sync_place *p, uint32_t block, pl_knowledge *of_block,
                     pl_knowledge *of_device, pl_knowledge *of_any);
/* Returns the knowledge that threads of a block have released there, or NULL. */
pl_knowledge *pl_sync_known(const sync_place *p, uint32_t block);

#endif
