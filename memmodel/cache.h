/* cache.h - the tags of a sectored cache: which sectors of which lines are valid, pending or dirty.
 *
 * Organised as sets x ways. Lines of the lowest rank (request.h) are evicted first, and among them
 * the least recently used. A quota of each set limits the evict_last lines. A line has one tag and
 * a valid bit for each sector, so a miss fetches single sectors. Holds no data. Used for L1, L2,
 * the instruction caches and the constant caches. */
#ifndef PL_MEMMODEL_CACHE_H
#define PL_MEMMODEL_CACHE_H

#include "base/arena.h"
#include "memmodel/fast_division.h"
#include "memmodel/request.h"
#include <stdint.h>

#define PL_NO_LINE UINT32_MAX

/* The slices of an L2 interleave memory in pieces of eight lines. Two slices (one, if their number
 * is odd) share each piece and alternate every two lines. */
enum { PL_PIECE_LINES = 8 };
static inline uint32_t pl_slices_per_piece(uint32_t slices)
{
    return slices % 2 ? 1 : 2;
}

typedef struct pl_cache_line {
    uint64_t tag;     /* line number + 1; 0: empty */
    uint32_t waiters; /* head of the owner's list of waiting requests; PL_NO_LINE: none */
    uint8_t valid, pending, dirty; /* sector masks */
    int8_t rank;                   /* pl_mem_rank */
} pl_cache_line;

typedef struct pl_cache {
    pl_cache_line *line;   /* all sets, one every `stride` entries: first the data that a search
                              reads (cache.c), then the set's lines */
    bool *set_initialized; /* by set: has been accessed; else its contents are undefined */
    uint32_t sets, ways, line_shift;
    uint32_t head;   /* entries of a set before its lines */
    uint32_t stride; /* entries from a set to the next */
    uint32_t slices; /* number of slices that share the lines as pl_slices_per_piece specifies; 0:
                        the cache sees all lines */
    /* Neighbouring lines that the cache sees together; 0: as pl_slices_per_piece specifies. */
    uint32_t interleave;
    pl_divider by_sets, by_pieces; /* pieces: of memory, interleaved over the slices */
    uint32_t clock;
    uint32_t evict_last_quota; /* ways of a set that may hold PL_RANK_LAST lines, in sixteenths of a
                                  way */
    bool hashed;               /* hash lines over sets, not by the low bits alone */
    bool ranked;               /* a line has had another rank than PL_RANK_NORMAL */
} pl_cache;

/* line_bytes must be a power of two; the number of sets need not be. tags: memory for the sets, few
 * of which are usually touched; it need not be zeroed. */
void pl_cache_init(pl_cache *c, pl_arena *a, pl_arena *tags, uint64_t bytes, uint32_t line_bytes,
                   uint32_t ways, bool hashed);
/* The same for n caches with similar access patterns. Their sets of the same index are adjacent, so
 * that a program that touches few sets touches little memory. */
void pl_cache_init_all(pl_cache *c, uint32_t n, pl_arena *a, pl_arena *tags, uint64_t bytes,
                       uint32_t line_bytes, uint32_t ways, bool hashed);
/* The same, for caches of which a launch may use few: only pl_cache_member initialises one. */
void pl_cache_init_group(pl_cache *group, uint32_t n, pl_arena *tags, uint64_t bytes,
                         uint32_t line_bytes, uint32_t ways, bool hashed);
/* Bytes of the tags of one such cache. */
uint64_t pl_cache_tag_bytes(uint64_t bytes, uint32_t line_bytes, uint32_t ways);
/* Cache k of a group. set_initialized: group->sets entries, all false. */
pl_cache pl_cache_member(const pl_cache *group, uint32_t k, bool *set_initialized);
/* Limits PL_RANK_LAST lines to this fraction of the cache, 0 to 1. Without the call the whole cache
 * is available to them. */
void pl_cache_set_evict_last_quota(pl_cache *c, double fraction);
/* Declares the cache one of this many slices. */
void pl_cache_set_slices(pl_cache *c, uint32_t slices);
/* The cache sees every n-th piece of `lines` neighbouring lines. */
void pl_cache_set_interleave(pl_cache *c, uint32_t n, uint32_t lines);
/* Gives the other of n empty caches of the same size the settings of the first. */
void pl_cache_copy_settings(pl_cache *c, uint32_t n);
/* Empties a line that has no fill pending. */
void pl_cache_drop(pl_cache *c, uint32_t line);
/* Indices of lines are below this. */
static inline size_t pl_cache_indices(const pl_cache *c)
{
    return (size_t)c->sets * c->stride;
}
/* Index of the line that holds the address, or PL_NO_LINE. Marks the line as used. */
uint32_t pl_cache_find(pl_cache *c, uint64_t address);
/* The same in two steps, so that the data of the second step can be prefetched in between. */
uint32_t pl_cache_set(pl_cache *c, uint64_t address);
uint32_t pl_cache_find_in(pl_cache *c, uint32_t set, uint64_t address);
static inline void pl_cache_prefetch_set(const pl_cache *c, uint32_t set)
{
    const char *at = (const char *)(c->line + set),
               *end = (const char *)(c->line + set + c->head + c->ways);
    for (; at < end; at += 64) __builtin_prefetch(at, 1);
}
/* Allocates a line for the address. Returns the index of an emptied line whose tag is set, or
 * PL_NO_LINE when every way has a fill pending. *evicted is the previous line (tag 0: none). */
uint32_t pl_cache_claim(pl_cache *c, uint64_t address, pl_mem_rank rank, pl_cache_line *evicted);
/* Changes the rank of a line. If the rank is PL_RANK_LAST and its set exceeds the quota of such
 * lines, the least recently used of them becomes a normal line. */
void pl_cache_rank(pl_cache *c, uint32_t line, pl_mem_rank rank);
/* Address of the first byte of a line. */
static inline uint64_t pl_cache_address(const pl_cache *c, const pl_cache_line *l)
{
    return (l->tag - 1) << c->line_shift;
}

/* The line that holds an address, allocated when absent (*fresh is then true). PL_NO_LINE when no
 * way can be evicted. */
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
