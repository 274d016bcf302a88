/* cache.c - tags of a sectored cache with least-recently-used replacement; see cache.h. */
#include "memmodel/cache.h"

void pl_cache_init_all(pl_cache *c, uint32_t n, pl_arena *a, uint64_t bytes, uint32_t line_bytes, uint32_t ways, bool hashed)
{
    uint64_t lines = bytes / line_bytes;
    if (lines == 0) lines = 1;
    if (ways == 0 || ways > lines) ways = (uint32_t)lines;
    const uint32_t sets = (uint32_t)(lines / ways), stride = n * ways;
    pl_cache_line *line = pl_arena_array(a, pl_cache_line, (size_t)sets * stride); /* zeroed: all empty. A line gets its list when it is claimed */
    uint32_t *low = pl_arena_array(a, uint32_t, (size_t)sets * stride), *used = pl_arena_array(a, uint32_t, (size_t)sets * stride), shift = 0;
    while ((1u << shift) < line_bytes) shift++;
    for (uint32_t k = 0; k < n && pl_arena_ok(a); k++)
        c[k] = (pl_cache){.line = line + (size_t)k * ways, .low = low + (size_t)k * ways, .used = used + (size_t)k * ways,
                          .sets = sets, .ways = ways, .stride = stride, .line_shift = shift, .hashed = hashed,
                          .by_sets = pl_divider_of(sets)};
}

void pl_cache_init(pl_cache *c, pl_arena *a, uint64_t bytes, uint32_t line_bytes, uint32_t ways, bool hashed)
{
    pl_cache_init_all(c, 1, a, bytes, line_bytes, ways, hashed);
}

void pl_cache_is_slice(pl_cache *c, uint32_t slices)
{
    c->slices = slices;
    c->by_pieces = pl_divider_of(slices / pl_slices_together(slices));
}

/* First way of the set of a line. Neighbouring lines fill the sets one after the other; hashing begins each such row one set later, so that
 * power-of-two strides do not pile up. */
static size_t set_of(const pl_cache *c, uint64_t number)
{
    uint64_t index = number;
    if (c->slices) { /* the lines that this slice sees, without gaps */
        uint32_t each = pl_slices_together(c->slices);
        uint64_t within = number % PL_PIECE_LINES, piece = pl_divide(number / PL_PIECE_LINES, &c->by_pieces);
        index = each == 1 ? piece * PL_PIECE_LINES + within : piece * (PL_PIECE_LINES / 2) + ((within >> 1 & 2) | (within & 1));
    }
    if (c->hashed) index += pl_divide(index, &c->by_sets);
    return (size_t)pl_remainder(index, &c->by_sets) * c->stride;
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
