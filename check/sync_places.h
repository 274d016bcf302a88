/* sync_places.h - places in memory that pass on what threads have released: strong writes behind a
 * fence, atomic operations, mbarriers. There may be one for each word that is written, so they are
 * small: most have one writer, whose block stands in the place itself. */
#ifndef PL_CHECK_SYNC_PLACES_H
#define PL_CHECK_SYNC_PLACES_H

#include "check/knowledge.h"

/* What threads of a block have released, at any scope. */
typedef struct sync_block {
    pl_knowledge *known;
    uint32_t block;
} sync_block;

typedef struct sync_object {
    pl_knowledge *phase; /* what the phase that is running has collected; `everywhere` of the place
                            then is what complete ones did */
    uint32_t number;     /* of the object among those of its block */
    bool made;           /* mbarrier.init has been here */
    bool odd;            /* the phase bit that `phase` is for */
} sync_object;

typedef struct sync_place {
    uint64_t address;
    pl_knowledge *everywhere; /* released at device scope */
    pl_knowledge *anyhow;     /* released at any scope */
    pl_who writer;            /* the lane that has released all of it; 0: several */
    sync_block first, *more;  /* by block */
    uint32_t blocks, room;    /* blocks: the first included; room: for more */
    sync_object *object;      /* of mbarriers; or NULL */
} sync_place;

typedef struct sync_places {
    sync_place **chunk; /* PL_SYNC_CHUNK places each, in the order of their making */
    uint32_t *at;       /* a hash table of their numbers, from 1 on; 0: free */
    uint32_t n, cap;
} sync_places;
enum { PL_SYNC_CHUNK = 32 };

/* The place at an address; NULL: there is none. */
sync_place *pl_sync_find(const sync_places *t, uint64_t address);
/* The same, made if need be. NULL: no memory. */
sync_place *pl_sync_make(sync_places *t, uint64_t address);
/* Nothing is passed on there any more. */
void pl_sync_forget(sync_place *p);
void pl_sync_free(sync_places *t);
/* What threads of a block have released there, or NULL; and where that stands, NULL: no memory. */
pl_knowledge *pl_sync_known(const sync_place *p, uint32_t block);
pl_knowledge **pl_sync_of_block(sync_place *p, uint32_t block);

#endif
