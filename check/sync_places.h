/* sync_places.h - memory locations that carry released knowledge: strong writes after a fence,
 * atomic operations, mbarriers. There may be one per written word, so they are small: most have one
 * writer, whose block is stored in the location itself. */
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

typedef struct sync_place {
    uint64_t address;
    pl_knowledge *device_scope; /* released at device scope */
    pl_knowledge *any_scope;    /* released at any scope */
    pl_who writer;              /* the lane that has released all of it; 0: several */
    sync_block first, *more;    /* by block */
    uint32_t blocks, cap;       /* blocks: including the first; cap: capacity */
    sync_object *object;        /* of mbarriers; or NULL */
} sync_place;

typedef struct sync_places {
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
/* Return the knowledge that threads of a block have released there, or NULL; and the address of
 * that pointer, NULL: no memory. */
pl_knowledge *pl_sync_known(const sync_place *p, uint32_t block);
pl_knowledge **pl_sync_of_block(sync_place *p, uint32_t block);

#endif
