/* cache.c - tags of a sectored cache with replacement by rank and LRU; see cache.h. */
#include "memmodel/cache.h"
#include <string.h>

/* The geometry of a cache, as if it were the only one of its group. */
static pl_cache geometry_of(uint64_t bytes, uint32_t line_bytes, uint32_t ways)
{
    uint64_t lines = bytes / line_bytes;
    if (lines == 0) lines = 1;
    if (ways == 0 || ways > lines) ways = (uint32_t)lines;
    const uint32_t unit = (uint32_t)sizeof(pl_cache_line),
                   head = (ways * 2 * (uint32_t)sizeof(uint32_t) + unit - 1) / unit;
    return (pl_cache){
        .sets = (uint32_t)(lines / ways), .ways = ways, .head = head, .stride = head + ways};
}

uint64_t pl_cache_tag_bytes(uint64_t bytes, uint32_t line_bytes, uint32_t ways)
{
    const pl_cache c = geometry_of(bytes, line_bytes, ways);
    return pl_cache_indices(&c) * sizeof *c.line + c.sets * sizeof *c.set_initialized;
}

void pl_cache_init_group(pl_cache *group, uint32_t n, pl_arena *tags, uint64_t bytes,
                         uint32_t line_bytes, uint32_t ways, bool hashed)
{
    *group = geometry_of(bytes, line_bytes, ways);
    group->stride *= n;
    group->line = pl_arena_alloc_aligned(tags, pl_cache_indices(group) * sizeof *group->line, 64);
    while ((1u << group->line_shift) < line_bytes) group->line_shift++;
    group->hashed = hashed;
    group->by_sets = pl_divider_of(group->sets);
    group->evict_last_quota = 16 * group->ways;
}

pl_cache pl_cache_member(const pl_cache *group, uint32_t k, bool *set_initialized)
{
    pl_cache c = *group;
    c.line += (size_t)k * (c.head + c.ways);
    c.set_initialized = set_initialized;
    return c;
}

void pl_cache_init_all(pl_cache *c, uint32_t n, pl_arena *a, pl_arena *tags, uint64_t bytes,
                       uint32_t line_bytes, uint32_t ways, bool hashed)
{
    pl_cache group;
    pl_cache_init_group(&group, n, tags, bytes, line_bytes, ways, hashed);
    bool *initialized = pl_arena_array(a, bool, (size_t)n *group.sets);
    for (uint32_t k = 0; k < n && pl_arena_ok(a) && pl_arena_ok(tags); k++)
        c[k] = pl_cache_member(&group, k, initialized + (size_t)k * group.sets);
}

void pl_cache_init(pl_cache *c, pl_arena *a, pl_arena *tags, uint64_t bytes, uint32_t line_bytes,
                   uint32_t ways, bool hashed)
{
    pl_cache_init_all(c, 1, a, tags, bytes, line_bytes, ways, hashed);
}

void pl_cache_set_slices(pl_cache *c, uint32_t slices)
{
    c->slices = slices;
    c->by_pieces = pl_divider_of(slices / pl_slices_per_piece(slices));
}

void pl_cache_set_interleave(pl_cache *c, uint32_t n, uint32_t lines)
{
    c->interleave = lines;
    c->by_pieces = pl_divider_of(n * lines);
}

void pl_cache_copy_settings(pl_cache *c, uint32_t n)
{
    for (uint32_t k = 1; k < n; k++) {
        const pl_cache own = c[k];
        c[k] = c[0];
        c[k].line = own.line;
        c[k].set_initialized = own.set_initialized;
    }
}

/* The head of a set holds the low halves of the tags, so that a search reads little memory, then
 * the time stamps of the last accesses (0: empty). */
static uint32_t *low_tags_of(const pl_cache *c, size_t set)
{
    return (uint32_t *)(void *)(c->line + set);
}

/* The set index of a line. Neighbouring lines map to consecutive sets. Hashing shifts each such row
 * by one set, so that power-of-two strides do not conflict. */
static uint32_t set_index_of(const pl_cache *c, uint64_t number)
{
    uint64_t index = number;
    if (c->interleave) {
        index = pl_divide(number, &c->by_pieces) * c->interleave + number % c->interleave;
    } else if (c->slices) { /* number the lines of this slice without gaps */
        uint32_t sharing = pl_slices_per_piece(c->slices);
        uint64_t within = number % PL_PIECE_LINES,
                 piece = pl_divide(number / PL_PIECE_LINES, &c->by_pieces);
        index = sharing == 1 ? piece * PL_PIECE_LINES + within
                             : piece * (PL_PIECE_LINES / 2) + ((within >> 1 & 2) | (within & 1));
    }
    if (c->hashed) index += pl_divide(index, &c->by_sets);
    return (uint32_t)pl_remainder(index, &c->by_sets);
}

/* Index of the first entry of a set. A set is cleared at its first use; a line's waiter list is
 * initialised when the line is claimed. */
static size_t set_of(pl_cache *c, uint64_t number)
{
    const uint32_t k = set_index_of(c, number);
    const size_t set = (size_t)k * c->stride;
    if (!c->set_initialized[k]) {
        memset(c->line + set, 0, (c->head + c->ways) * sizeof *c->line);
        c->set_initialized[k] = true;
    }
    return set;
}

uint32_t pl_cache_set(pl_cache *c, uint64_t address)
{
    return (uint32_t)set_of(c, address >> c->line_shift);
}

uint32_t pl_cache_find(pl_cache *c, uint64_t address)
{
    return pl_cache_find_in(c, pl_cache_set(c, address), address);
}

uint32_t pl_cache_find_in(pl_cache *c, uint32_t set, uint64_t address)
{
    uint64_t number = address >> c->line_shift;
    size_t first = set + c->head;
    uint32_t *low = low_tags_of(c, set);
    for (uint32_t w = 0; w < c->ways; w++) {
        if (low[w] != (uint32_t)(number + 1) || c->line[first + w].tag != number + 1) continue;
        low[c->ways + w] = ++c->clock;
        return (uint32_t)(first + w);
    }
    return PL_NO_LINE;
}

void pl_cache_set_evict_last_quota(pl_cache *c, double fraction)
{
    c->evict_last_quota = (uint32_t)(fraction * 16 * c->ways + 0.5);
}

/* Dirty evict_first lines lose their priority for eviction while they fill less than half a set,
 * because they must be written back first (policy.tsv: 12 MiB of st.cs remain after 24 MiB of
 * loads). */
static int rank_of(const pl_cache *c, const pl_cache_line *line, uint32_t dirty_first)
{
    if (!line->tag) return PL_RANK_FIRST;
    return line->rank == PL_RANK_FIRST && line->dirty && dirty_first < c->ways / 2 ? PL_RANK_NORMAL
                                                                                   : line->rank;
}

/* The victim of a set when lines differ in rank, or UINT32_MAX. */
static uint32_t lowest_rank_victim(const pl_cache *c, size_t first, const uint32_t *used)
{
    uint32_t victim = UINT32_MAX, dirty_first = 0;
    int lowest = 0;
    for (uint32_t w = 0; w < c->ways; w++)
        dirty_first += c->line[first + w].tag && c->line[first + w].rank == PL_RANK_FIRST &&
                       c->line[first + w].dirty;
    for (uint32_t w = 0; w < c->ways; w++) {
        const pl_cache_line *line = &c->line[first + w];
        const int rank = rank_of(c, line, dirty_first);
        if (line->pending || (victim != UINT32_MAX && rank > lowest)) continue;
        if (victim == UINT32_MAX || rank < lowest || (int32_t)(used[w] - used[victim]) < 0) {
            victim = w;
            lowest = rank;
        }
    }
    return victim;
}

/* Number of evict_last lines that a set may hold. A fraction of a way is a whole way in some of the
 * sets. */
static uint32_t evict_last_limit(const pl_cache *c, size_t set)
{
    const uint64_t k = set / c->stride;
    return (uint32_t)(((k + 1) * c->evict_last_quota >> 4) - (k * c->evict_last_quota >> 4));
}

void pl_cache_rank(pl_cache *c, uint32_t line, pl_mem_rank rank)
{
    const size_t way = line % c->stride - c->head, first = line - way, set = first - c->head;
    const uint32_t *used = low_tags_of(c, set) + c->ways;
    if (c->line[line].rank == rank) return;
    c->line[line].rank = (int8_t)rank;
    c->ranked = true;
    if (rank != PL_RANK_LAST) return;
    uint32_t n = 0, oldest = UINT32_MAX;
    for (uint32_t w = 0; w < c->ways; w++) {
        if (!c->line[first + w].tag || c->line[first + w].rank != PL_RANK_LAST) continue;
        n++;
        if (oldest == UINT32_MAX || (int32_t)(used[w] - used[oldest]) < 0) oldest = w;
    }
    if (n > evict_last_limit(c, set)) c->line[first + oldest].rank = PL_RANK_NORMAL;
}

uint32_t pl_cache_claim(pl_cache *c, uint64_t address, pl_mem_rank rank, pl_cache_line *evicted)
{
    uint64_t number = address >> c->line_shift;
    size_t set = set_of(c, number), first = set + c->head;
    uint32_t *low = low_tags_of(c, set), *used = low + c->ways, victim = UINT32_MAX;
    if (c->ranked)
        victim = lowest_rank_victim(c, first, used);
    else
        for (uint32_t w = 0; w < c->ways;
             w++) /* a way never used, or the least recently used one */
            if ((victim == UINT32_MAX || (int32_t)(used[w] - used[victim]) < 0) &&
                !c->line[first + w].pending)
                victim = w;
    if (victim == UINT32_MAX) return PL_NO_LINE;
    *evicted = c->line[first + victim];
    c->line[first + victim] = (pl_cache_line){.tag = number + 1, .waiters = PL_NO_LINE};
    low[victim] = (uint32_t)(number + 1);
    used[victim] = ++c->clock;
    if (rank != PL_RANK_NORMAL) pl_cache_rank(c, (uint32_t)(first + victim), rank);
    return (uint32_t)(first + victim);
}

void pl_cache_drop(pl_cache *c, uint32_t line)
{
    const uint32_t within = line % c->stride, way = within - c->head;
    c->line[line].tag = 0;
    low_tags_of(c, line - within)[c->ways + way] = 0;
}
