/* vector_clock.h - the vector clock of a thread: the accesses of other threads that happen before
 * its current position.
 *
 * Time is one counter for the whole launch, which increases with every synchronisation. An access
 * is stamped with the time of its warp's latest synchronisation, so that accesses of a thread
 * before and after a release differ. A vector clock is a list of entries: all accesses of a thread
 * (warp, block) up to a time. One entry for a block replaces entries for each of its threads, which
 * keeps the lists short where whole blocks synchronise at barriers. This is FastTrack's vector
 * clock (Flanagan, Freund 2009) over the hierarchy of threads, as in Barracuda (Eizenberg and
 * others 2017).
 *
 * A list is immutable; threads with the same vector clock share one. A list that differs from a
 * long one in few entries has only these, and refers to the long one for the others. */
#ifndef PL_CHECK_VECTOR_CLOCK_H
#define PL_CHECK_VECTOR_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PL_UNITS = 32, /* maximum groups of PL_LANES lanes in a block */
    /* Numbers from here on are agents: asynchronous operations of a group's lanes, by completion
     * mechanism. */
    PL_AGENTS = PL_UNITS,         /* groups of cp.async */
    PL_BULK_READS = 2 * PL_UNITS, /* bulk groups, whose reads may complete earlier */
    PL_BULK_WRITES = 3 * PL_UNITS,
    PL_PRODUCTS = 4 * PL_UNITS, /* groups of wgmma */
    PL_OBJECTS = 5 * PL_UNITS   /* copies that complete at an mbarrier, by mbarrier */
};

/* Identifies a block, a group of lanes, or a lane. Groups and lanes count from 0 here. */
typedef uint64_t pl_who;
static inline pl_who pl_who_block(uint32_t block)
{
    return (pl_who)block << 16;
}
static inline pl_who pl_who_unit(uint32_t block, unsigned unit)
{
    return (pl_who)block << 16 | (unit + 1) << 8;
}
static inline pl_who pl_who_lane(uint32_t block, unsigned unit, unsigned lane)
{
    return (pl_who)block << 16 | (unit + 1) << 8 | (lane + 1);
}

/* Lists may also record up to which time a proxy fence has made the same accesses visible to the
 * asynchronous proxy, in shared and in global memory. These are separate entries, for block numbers
 * with one of these bits. */
#define PL_PROXY_SHARED (1u << 31)
#define PL_PROXY_GLOBAL (1u << 30)
#define PL_PROXY_BOTH   (PL_PROXY_SHARED | PL_PROXY_GLOBAL)
static inline pl_who pl_who_proxy(pl_who who, uint32_t proxy)
{
    return who | (pl_who)proxy << 16;
}

typedef struct pl_vector_clock_entry {
    pl_who who;
    uint32_t until;
} pl_vector_clock_entry;

typedef struct pl_vector_clock {
    uint32_t refs;
    uint32_t n;
    pl_vector_clock_entry
        origin; /* a thread whose clock includes this includes the whole list; until 0: none */
    struct pl_vector_clock *base; /* a long list that it includes, which has no base; NULL: none */
    /* Sorted by who: a block precedes its groups, which precede their lanes. */
    pl_vector_clock_entry at[];
} pl_vector_clock;

/* NULL is an empty vector clock. The functions return NULL if memory is exhausted. */
pl_vector_clock *pl_vector_clock_ref(pl_vector_clock *a); /* adds a reference */
void pl_vector_clock_unref(pl_vector_clock *a);           /* removes a reference; NULL is allowed */
/* Sets a reference; takes k, and removes the previous one. */
static inline void pl_vector_clock_replace(pl_vector_clock **to, pl_vector_clock *k)
{
    pl_vector_clock_unref(*to);
    *to = k;
}
/* Returns the union. A new reference, to one of the two if it includes the other. */
pl_vector_clock *pl_vector_clock_join(pl_vector_clock *a, pl_vector_clock *b);
/* Makes *to the same list as b if they are equal. */
void pl_vector_clock_share(pl_vector_clock **to, pl_vector_clock *b);
/* The same as *to = join(*to, b). */
void pl_vector_clock_merge(pl_vector_clock **to, pl_vector_clock *b);
/* Adds all accesses of `who` up to that time to *to. */
void pl_vector_clock_add(pl_vector_clock **to, pl_who who, uint32_t until);
/* A proxy fence: makes the accesses in *to visible to the asynchronous proxy as well. */
void pl_vector_clock_proxy_fence(pl_vector_clock **to, uint32_t proxy);
/* The clock of `who` included all of a when it released at that time. A clock with the accesses of
 * `who` up to then also includes a, because a release has the whole clock. NULL is allowed; the
 * first origin is retained. */
void pl_vector_clock_set_origin(pl_vector_clock *a, pl_who who, uint32_t until);
/* True if a includes b; only simple cases are detected. */
bool pl_vector_clock_includes(const pl_vector_clock *a, const pl_vector_clock *b);
/* True if it includes any access of the block. */
bool pl_vector_clock_includes_block(const pl_vector_clock *a, uint32_t block);
/* Returns the time up to which the accesses of a lane are included; lane PL_EVERY: of every lane of
 * the group; group PL_EVERY: of the whole block. */
enum { PL_EVERY = 255 };
uint32_t pl_vector_clock_time(const pl_vector_clock *a, uint32_t block, unsigned unit,
                              unsigned lane);

#endif
