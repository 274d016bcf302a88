/* cache.c - tags of a sectored cache with least-recently-used replacement; see cache.h. */
#include "memmodel/cache.h"
#include <string.h>

void pl_cache_init(pl_cache *c, pl_arena *a, uint64_t bytes, uint32_t line_bytes, uint32_t ways, bool hashed)
{
    uint64_t lines = bytes / line_bytes;
    if (lines == 0) lines = 1;
    if (ways == 0 || ways > lines) ways = (uint32_t)lines;
    *c = (pl_cache){.ways = ways, .sets = (uint32_t)(lines / ways), .hashed = hashed};
    while ((1u << c->line_shift) < line_bytes) c->line_shift++;
    c->line = pl_arena_array(a, pl_cache_line, (size_t)c->sets * c->ways); /* zeroed: all empty. A line gets its list when it is claimed */
    c->low = pl_arena_array(a, uint32_t, (size_t)c->sets * c->ways);
    c->used = pl_arena_array(a, uint32_t, (size_t)c->sets * c->ways);
}

void pl_cache_clear(pl_cache *c)
{
    for (size_t i = 0; i < (size_t)c->sets * c->ways; i++) c->line[i] = (pl_cache_line){.waiters = PL_NO_LINE};
    memset(c->used, 0, (size_t)c->sets * c->ways * sizeof *c->used);
    c->clock = 0;
}

/* First way of the set of a line. Neighbouring lines fill the sets one after the other; hashing begins each such row one set later, so that
 * power-of-two strides do not pile up. */
static size_t set_of(const pl_cache *c, uint64_t number)
{
    uint64_t index = number;
    if (c->slices) { /* the lines that this slice sees, without gaps */
        uint32_t each = pl_slices_together(c->slices), pieces = c->slices / each;
        uint64_t within = number % PL_PIECE_LINES;
        index = number / PL_PIECE_LINES / pieces * (PL_PIECE_LINES / each) + (each == 1 ? within : (within >> 1 & 2) | (within & 1));
    }
    if (c->hashed) index += index / c->sets;
    return (size_t)(index % c->sets) * c->ways;
}

uint32_t pl_cache_find(pl_cache *c, uint64_t address)
{
    uint64_t number = address >> c->line_shift;
    size_t first = set_of(c, number);
    const uint32_t *low = c->low + first;
    for (uint32_t w = 0; w < c->ways; w++) {
        if (low[w] != (uint32_t)(number + 1) || c->line[first + w].tag != number + 1) continue;
        c->used[first + w] = ++c->clock;
        return (uint32_t)(first + w);
    }
    return PL_NO_LINE;
}

uint32_t pl_cache_claim(pl_cache *c, uint64_t address, pl_cache_line *evicted)
{
    uint64_t number = address >> c->line_shift;
    size_t first = set_of(c, number), victim = SIZE_MAX;
    for (size_t k = first; k < first + c->ways; k++) /* one that was never used, or the longest unused one */
        if ((victim == SIZE_MAX || (int32_t)(c->used[k] - c->used[victim]) < 0) && !c->line[k].pending) victim = k;
    if (victim == SIZE_MAX) return PL_NO_LINE;
    *evicted = c->line[victim];
    c->line[victim] = (pl_cache_line){.tag = number + 1, .waiters = PL_NO_LINE};
    c->low[victim] = (uint32_t)(number + 1);
    c->used[victim] = ++c->clock;
    return (uint32_t)victim;
}

void pl_cache_drop(pl_cache *c, size_t line)
{
    c->line[line].tag = 0;
    c->used[line] = 0;
}
