/* cache.h - the tags of a sectored cache: which sectors of which lines are present, on their way,
 * or changed.
 *
 * Sets x ways. Lines of the lowest rank (request.h) go first, of these the one that was not used
 * for longest; a part of each set at most keeps lines that are to go last. A line has one tag and a
 * presence bit for each sector, so a miss fetches single sectors. Holds no data. Used for L1, L2,
 * the instruction caches and the constant caches. */
#ifndef PL_MEMMODEL_CACHE_H
#define PL_MEMMODEL_CACHE_H

#include "base/arena.h"
#include "memmodel/fast_division.h"
#include "memmodel/request.h"
#include <stdint.h>

#define PL_NO_LINE UINT32_MAX

/* Slices of an L2 share memory in pieces of eight lines: of each, two slices (one, if their number
 * is odd) have two lines in turn. */
enum { PL_PIECE_LINES = 8 };
static inline uint32_t pl_slices_together(uint32_t slices)
{
    return slices % 2 ? 1 : 2;
}

typedef struct pl_cache_line {
    uint64_t tag;     /* line number + 1; 0: empty */
    uint32_t waiters; /* head of the owner's list of those who wait for a fill; PL_NO_LINE: none */
    uint8_t valid, pending, dirty; /* sector masks */
    int8_t rank;                   /* pl_mem_rank */
} pl_cache_line;

typedef struct pl_cache {
    pl_cache_line *line;   /* all sets, one every `stride` entries: first what a search looks at
                              (cache.c), then its lines */
    bool *set_initialized; /* by set: it has been looked at; before, it may have any contents */
    uint32_t sets, ways, line_shift;
    uint32_t head;   /* entries of a set before its lines */
    uint32_t stride; /* entries from a set to the next */
    uint32_t slices; /* it is one of so many, which share the lines as pl_slices_together says; 0:
                        it sees all lines */
    /* Neighbouring lines that it sees together; 0: as pl_slices_together says. */
    uint32_t interleave;
    pl_divider by_sets, by_pieces; /* pieces: of memory that the slices have in turn */
    uint32_t clock;
    uint32_t evict_last_quota; /* sixteenths of a way in a set, all ways together, that may keep
                      lines of PL_RANK_LAST */
    bool hashed;               /* spread lines over sets by more than the low bits */
    bool ranked;               /* a line has had another rank than PL_RANK_NORMAL */
} pl_cache;

/* line_bytes must be a power of two; the number of sets need not be. tags: for the sets, of which
 * mostly few are touched; what it hands out need not be zero. */
void pl_cache_init(pl_cache *c, pl_arena *a, pl_arena *tags, uint64_t bytes, uint32_t line_bytes,
                   uint32_t ways, bool hashed);
/* The same for n caches that are used alike: their first sets lie together, and so on, so that what
 * touches few sets touches little memory. */
void pl_cache_init_all(pl_cache *c, uint32_t n, pl_arena *a, pl_arena *tags, uint64_t bytes,
                       uint32_t line_bytes, uint32_t ways, bool hashed);
/* Lines of PL_RANK_LAST may take this part of the cache, 0 to 1; before the call: all of it. */
void pl_cache_keep_last(pl_cache *c, double part);
/* The cache is one of so many slices. */
void pl_cache_is_slice(pl_cache *c, uint32_t slices);
/* The cache sees every n-th piece of so many neighbouring lines. */
void pl_cache_in_turn(pl_cache *c, uint32_t n, uint32_t lines);
/* Empties a line that has no fill pending. */
void pl_cache_drop(pl_cache *c, uint32_t line);
/* Indices of lines are below this. */
static inline size_t pl_cache_indices(const pl_cache *c)
{
    return (size_t)c->sets * c->stride;
}
/* Index of the line that holds the address, or PL_NO_LINE. Marks it as used. */
uint32_t pl_cache_find(pl_cache *c, uint64_t address);
/* The same in two steps, so that what the second one looks at can be on its way meanwhile. */
uint32_t pl_cache_set(pl_cache *c, uint64_t address);
uint32_t pl_cache_find_in(pl_cache *c, uint32_t set, uint64_t address);
static inline void pl_cache_expect(const pl_cache *c, uint32_t set)
{
    const char *at = (const char *)(c->line + set),
               *end = (const char *)(c->line + set + c->head + c->ways);
    for (; at < end; at += 64) __builtin_prefetch(at, 1);
}
/* Makes room for the address: the index of an emptied line whose tag is set, or PL_NO_LINE when
 * every way has a fill pending. *evicted is the line as it was (tag 0: nothing was there). */
uint32_t pl_cache_claim(pl_cache *c, uint64_t address, pl_mem_rank rank, pl_cache_line *evicted);
/* Gives a line another rank. If that is PL_RANK_LAST and its set has as many of these as it may
 * keep, the one that was not used for longest becomes a normal line. */
void pl_cache_rank(pl_cache *c, uint32_t line, pl_mem_rank rank);
/* Address of the first byte of a line. */
static inline uint64_t pl_cache_address(const pl_cache *c, const pl_cache_line *l)
{
    return (l->tag - 1) << c->line_shift;
}

/* The line of a cache that holds an address, claimed when absent: *fresh tells. PL_NO_LINE when
 * there is no room. */
static inline uint32_t pl_cache_find_or_claim(pl_cache *c, uint64_t address, bool *fresh)
{
    uint32_t k = pl_cache_find(c, address);
    *fresh = k == PL_NO_LINE;
    if (*fresh) {
        pl_cache_line old;
        k = pl_cache_claim(c, address, PL_RANK_NORMAL, &old);
    }
    return k;
}

#endif
