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
}

void pl_cache_clear(pl_cache *c)
{
    for (size_t i = 0; i < (size_t)c->sets * c->ways; i++) c->line[i] = (pl_cache_line){.waiters = PL_NO_LINE};
    c->clock = 0;
}

/* First way of the set of a line. Neighbouring lines fill the sets one after the other; hashing turns each such row by another amount, so that
 * power-of-two strides do not pile up. */
static pl_cache_line *set_of(const pl_cache *c, uint64_t number)
{
    uint64_t index = number;
    if (c->slices) { /* the lines that this slice sees, without gaps */
        uint32_t each = pl_slices_together(c->slices), pieces = c->slices / each;
        uint64_t within = number % PL_PIECE_LINES;
        index = number / PL_PIECE_LINES / pieces * (PL_PIECE_LINES / each) + (each == 1 ? within : (within >> 1 & 2) | (within & 1));
    }
    if (c->hashed) index += index / c->sets * 0x9E3779B97F4A7C15ull >> 40;
    return c->line + (size_t)(index % c->sets) * c->ways;
}

uint32_t pl_cache_find(pl_cache *c, uint64_t address)
{
    uint64_t number = address >> c->line_shift;
    pl_cache_line *set = set_of(c, number);
    for (uint32_t w = 0; w < c->ways; w++) {
        if (set[w].tag != number + 1) continue;
        set[w].used = ++c->clock;
        return (uint32_t)(set + w - c->line);
    }
    return PL_NO_LINE;
}

uint32_t pl_cache_claim(pl_cache *c, uint64_t address, pl_cache_line *evicted)
{
    uint64_t number = address >> c->line_shift;
    pl_cache_line *set = set_of(c, number), *victim = NULL;
    for (uint32_t w = 0; w < c->ways; w++) {
        if (set[w].pending) continue;
        if (set[w].tag == 0) {
            victim = set + w;
            break;
        }
        if (!victim || (int32_t)(set[w].used - victim->used) < 0) victim = set + w;
    }
    if (!victim) return PL_NO_LINE;
    *evicted = *victim;
    *victim = (pl_cache_line){.tag = number + 1, .used = ++c->clock, .waiters = PL_NO_LINE};
    return (uint32_t)(victim - c->line);
}
