/* shadow.h - the latest accesses to each byte of global and shared memory.
 *
 * A context identifies an accessor: group of lanes, instruction, time. It covers all accesses of
 * the group by that instruction until the group synchronises. An access is a context number plus a
 * lane, in 32 bits. A cell has four of them: the last write, and three that later writes must not
 * race with. For any number of reads these three suffice: the latest, one by another group of the
 * block, one by another block. A thread that has not synchronised with one of the reading threads,
 * groups or blocks finds one of them.
 *
 * Cells describe words of four bytes until a part of a word is accessed in a page of 256 bytes;
 * then they describe bytes: 4 or 16 bytes per accessed byte of memory. */
#ifndef PL_CHECK_SHADOW_H
#define PL_CHECK_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PL_ACCESS_WRITES = 1,
    PL_ACCESS_STRONG = 2, /* volatile, relaxed, acquire, release, atomic: has a scope */
    PL_ACCESS_ATOMIC = 4,
    PL_ACCESS_ASYNC = 8,
    PL_ACCESS_VOLATILE = 16, /* strong, too: inhibits compiler optimisation, but is not atomic */
    PL_ACCESS_TEXTURE = 32,  /* through the texture path: tex, tld4, ld.global.nc */
    PL_ACCESS_SURFACE = 64
};

typedef struct pl_context {
    uint32_t block, stamp, pc;
    uint8_t unit, flags;  /* PL_ACCESS_* */
    uint16_t level : 4;   /* of strong accesses: PL_SCOPE_* */
    uint16_t issuer : 12; /* agents: index of the thread that started it */
} pl_context;

/* A list of contexts; number 0 is none. When it is full, contexts that no cell references are
 * removed, and the others are renumbered: a new generation. */
typedef struct pl_contexts {
    pl_context *at;
    uint32_t n, cap, generation;
    bool fresh; /* a generation has just begun: if many contexts remain, the list grows */
} pl_contexts;

enum { PL_MAX_CONTEXTS = 1 << 26 };

struct pl_shadow;

/* Adds a context. s: the shadow memory whose cells reference the contexts. 0: no memory, or too
 * many. */
uint32_t pl_context_new(pl_contexts *c, const struct pl_shadow *s, const pl_context *x);
void pl_contexts_free(pl_contexts *c);

/* An access: context, a flag for several lanes of the group, and (one of) the lanes. */
typedef uint32_t pl_access_id;
static inline pl_access_id pl_access_id_make(uint32_t context, unsigned lane)
{
    return context << 6 | lane;
}
static inline uint32_t pl_access_context(pl_access_id t)
{
    return t >> 6;
}
static inline bool pl_access_multi_lane(pl_access_id t)
{
    return t >> 5 & 1u;
}
static inline unsigned pl_access_lane(pl_access_id t)
{
    return t & 31u;
}
enum { PL_MULTI_LANE = 32 };

typedef struct pl_cell {
    pl_access_id write;    /* 0: none */
    pl_access_id other[3]; /* the latest read; by another group; by another block */
} pl_cell;

enum { PL_PAGE = 256 };

typedef struct pl_page {
    bool fine; /* cells describe bytes */
    pl_cell cell[];
} pl_page;

/* Pages of an address range that starts at 0. */
typedef struct pl_shadow {
    struct pl_shadow_leaf **leaf;
    size_t leaves;
    uint64_t first; /* index of leaf[0] */
    bool small;     /* a range of a few KiB: leaves are small, too */
} pl_shadow;

/* Returns the page that contains the address, allocated on demand; fine: with cells for bytes.
 * NULL: no memory. */
pl_page *pl_shadow_page(pl_shadow *s, uint64_t address, bool fine);
/* Removes all accesses to [address, address + bytes), which are whole words. */
void pl_shadow_clear(pl_shadow *s, uint64_t address, uint64_t bytes);
/* Calls fn for each page. */
void pl_shadow_each(const pl_shadow *s, void (*fn)(void *ctx, uint64_t address, pl_page *p),
                    void *ctx);
void pl_shadow_free(pl_shadow *s);

/* Returns the cells of [address, address + bytes), which is within one page, and their number. */
static inline pl_cell *pl_page_cells(pl_page *p, uint64_t address, unsigned bytes, unsigned *n)
{
    const unsigned at = (unsigned)(address % PL_PAGE);
    *n = p->fine ? bytes : bytes / 4;
    return &p->cell[p->fine ? at : at / 4];
}

#endif
