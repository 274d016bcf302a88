/* knowledge.h - what a thread knows: which accesses of others happened before where it stands.
 *
 * Time is one counter for the whole launch, which grows with every synchronisation. An access is
 * stamped with the time at which its warp last synchronised, so that the accesses of a thread
 * before and after a release differ. Knowledge is a list of "all accesses of this thread (warp,
 * block) up to this time". One line for a block is as good as one for each of its threads, which
 * keeps the lists short where whole blocks meet at barriers. This is FastTrack's vector clock
 * (Flanagan, Freund 2009) over the hierarchy of threads, as in Barracuda (Eizenberg and others
 * 2017).
 *
 * A list does not change once it is made; threads that know the same share one. */
#ifndef PL_CHECK_KNOWLEDGE_H
#define PL_CHECK_KNOWLEDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PL_UNITS = 32, /* groups of PL_LANES lanes that a block has at most */
    /* Numbers from here on are agents: what asynchronous operations of a group's lanes do, by how
     * they complete. */
    PL_AGENTS = PL_UNITS,         /* groups of cp.async */
    PL_BULK_READS = 2 * PL_UNITS, /* bulk groups, whose sources may be read before */
    PL_BULK_WRITES = 3 * PL_UNITS,
    PL_PRODUCTS = 4 * PL_UNITS, /* groups of wgmma */
    PL_OBJECTS = 5 * PL_UNITS   /* copies that complete at an mbarrier, by the object */
};

/* Who: a block, a group of lanes of it, a lane. Groups and lanes count from 0 here. */
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

/* Lists may say of the same accesses up to when a proxy fence has passed them on to the
 * asynchronous proxy, in shared and in global memory: in lines of their own, about block numbers
 * with one of these bits. */
#define PL_PROXY_SHARED (1u << 31)
#define PL_PROXY_GLOBAL (1u << 30)
#define PL_PROXY_BOTH   (PL_PROXY_SHARED | PL_PROXY_GLOBAL)
static inline pl_who pl_who_proxy(pl_who who, uint32_t proxy)
{
    return who | (pl_who)proxy << 16;
}

typedef struct pl_known {
    pl_who who;
    uint32_t until;
} pl_known_of;

typedef struct pl_knowledge {
    uint32_t refs;
    uint32_t n;
    pl_known_of origin; /* who knows of this knows all that stands here; until 0: not known */
    /* Sorted by who: a block stands before its groups, these before their lanes. */
    pl_known_of at[];
} pl_knowledge;

/* Nothing; out of memory: NULL, as from the functions below. NULL counts as nothing. */
pl_knowledge *pl_knowledge_keep(pl_knowledge *a); /* one more reference */
void pl_knowledge_drop(pl_knowledge *a);          /* one less; NULL is allowed */
/* Both together. A new reference, to one of the two if it includes the other. */
pl_knowledge *pl_knowledge_join(pl_knowledge *a, pl_knowledge *b);
/* Makes *to the same list as b if both say the same. */
void pl_knowledge_share(pl_knowledge **to, pl_knowledge *b);
/* The same as *to = join(*to, b). */
void pl_knowledge_learn(pl_knowledge **to, pl_knowledge *b);
/* *to learns of all accesses of `who` up to that time. */
void pl_knowledge_add(pl_knowledge **to, pl_who who, uint32_t until);
/* A proxy fence: what *to knows, the asynchronous proxy does as well. */
void pl_knowledge_pass(pl_knowledge **to, uint32_t proxy);
/* `who` knew all of a when it released at that time. Whoever knows of the accesses of `who` up to
 * then knows a as well, because knowledge is passed on as a whole. NULL is allowed; the first
 * origin stays. */
void pl_knowledge_originates(pl_knowledge *a, pl_who who, uint32_t until);
/* Does a say as much as b? Only true if that is easily seen. */
bool pl_knowledge_covers(const pl_knowledge *a, const pl_knowledge *b);
/* Does it know anything of the block? */
bool pl_knowledge_any(const pl_knowledge *a, uint32_t block);
/* Up to when it knows the accesses of a lane; lane PL_EVERY: of every lane of the group; group
 * PL_EVERY: of all of the block. */
enum { PL_EVERY = 255 };
uint32_t pl_knowledge_of(const pl_knowledge *a, uint32_t block, unsigned unit, unsigned lane);

#endif
