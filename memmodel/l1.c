/* l1.c - tags and miss table of a first-level cache; see l1.h. */
#include "memmodel/l1.h"
#include <assert.h>

void pl_l1_init(pl_l1 *l, pl_arena *a, pl_arena *tags, pl_arena *sparse, uint64_t bytes,
                uint32_t line_bytes, uint32_t sector_bytes, uint32_t ways, uint32_t misses,
                uint32_t waiters)
{
    *l = (pl_l1){.sector_bytes = sector_bytes,
                 .burst = PL_L1_BURST,
                 .nmiss = misses + PL_L1_BURST,
                 .nwaiter = waiters + PL_L1_BURST};
    pl_cache_init(&l->tags, a, tags, bytes, line_bytes, ways, true);
    l->miss = pl_arena_array(sparse, pl_mshr, l->nmiss);
    l->waiter = pl_arena_array(sparse, pl_mshr_target, l->nwaiter);
    if (!pl_arena_ok(a)) return;
    l->free_miss = l->free_waiter = PL_NO_LINE;
}

static bool is_own(const pl_l1 *l, uint64_t line)
{
    return line - l->own < l->own_bytes;
}

static uint32_t claim(pl_l1 *l, uint64_t line, pl_mem_rank rank)
{
    pl_cache_line old;
    uint32_t slot = pl_cache_claim(&l->tags, line, rank, &old);
    if (slot == PL_NO_LINE || is_own(l, line)) return slot;
    if (l->nrecent < PL_L1_RECENT)
        l->recent[l->nrecent++] = slot;
    else
        l->nrecent = PL_L1_RECENT + 1;
    return slot;
}

static void wait_for(pl_l1 *l, pl_mshr *m, uint32_t token)
{
    uint32_t w = l->free_waiter != PL_NO_LINE ? l->free_waiter : l->fresh_waiter++;
    assert(w < l->nwaiter && "pl_mshr_available was asked before the access");
    if (w == l->free_waiter) l->free_waiter = l->waiter[w].next;
    l->used_waiter++;
    l->waiter[w] = (pl_mshr_target){.token = token, .next = m->waiters};
    m->waiters = w;
}

/* An access finds a line (policy.tsv.xz): one that lets it go first or last says so, an ordinary
 * one makes it ordinary unless it was to go last. */
static void use(pl_l1 *l, uint32_t slot, pl_mem_rank rank)
{
    if (rank == PL_RANK_NORMAL && !l->tags.ranked) return;
    if (rank == PL_RANK_UNCHANGED ||
        (rank == PL_RANK_NORMAL && l->tags.line[slot].rank == PL_RANK_LAST))
        return;
    pl_cache_rank(&l->tags, slot, rank);
}

uint32_t pl_l1_load(pl_l1 *l, uint64_t line, uint8_t sectors, uint32_t token, pl_l1_policy way,
                    pl_mem_rank rank, uint32_t *request, uint8_t *ask)
{
    uint32_t fills = 0, slot = PL_NO_LINE;
    uint8_t missing = sectors;
    *ask = 0;
    if (way != PL_L1_TAG_BYPASS) {
        slot = pl_cache_find(&l->tags, line);
        if (slot != PL_NO_LINE) {
            use(l, slot, rank);
            pl_cache_line *t = &l->tags.line[slot];
            missing &= (uint8_t)~t->valid;
            l->hits += (uint32_t)__builtin_popcount(sectors & t->valid);
            if (!missing) return 0;
            for (uint32_t i = t->waiters; i != PL_NO_LINE && missing; i = l->miss[i].next) {
                uint8_t shared = missing & l->miss[i].sectors;
                if (!shared) continue;
                wait_for(l, &l->miss[i], token);
                fills++;
                l->merges += (uint32_t)__builtin_popcount(shared);
                missing &= (uint8_t)~shared;
            }
            if (!missing) return fills;
        } else if (way == PL_L1_TAG_ALLOCATE) {
            slot = claim(l, line, rank);
        }
    }
    uint32_t i = l->free_miss != PL_NO_LINE ? l->free_miss : l->fresh_miss++;
    assert(i < l->nmiss && "pl_mshr_available was asked before the access");
    if (i == l->free_miss) l->free_miss = l->miss[i].next;
    l->used_miss++;
    l->misses += (uint32_t)__builtin_popcount(missing);
    l->asked += (uint32_t)__builtin_popcount(missing);
    l->miss[i] = (pl_mshr){
        .line = line, .waiters = PL_NO_LINE, .next = PL_NO_LINE, .slot = slot, .sectors = missing};
    if (slot != PL_NO_LINE) {
        pl_cache_line *t = &l->tags.line[slot];
        t->pending |= missing;
        l->miss[i].next = t->waiters;
        t->waiters = i;
    }
    wait_for(l, &l->miss[i], token);
    *request = i;
    *ask = missing;
    return fills + 1;
}

bool pl_l1_store(pl_l1 *l, uint64_t line, uint8_t sectors, pl_l1_policy way, pl_mem_rank rank)
{
    uint32_t slot = pl_cache_find(&l->tags, line);
    const bool there = slot != PL_NO_LINE;
    if (way == PL_L1_TAG_BYPASS) return there;
    if (there)
        use(l, slot, rank);
    else if (way == PL_L1_TAG_ALLOCATE)
        slot = claim(l, line, rank);
    if (slot != PL_NO_LINE)
        l->tags.line[slot].valid |= sectors & (uint8_t)~l->tags.line[slot].pending;
    return there;
}

void pl_l1_invalidate_sectors(pl_l1 *l, uint64_t line, uint8_t sectors)
{
    uint32_t slot = sectors ? pl_cache_find(&l->tags, line) : PL_NO_LINE;
    if (slot != PL_NO_LINE) l->tags.line[slot].valid &= (uint8_t)~sectors;
}

void pl_l1_fill(pl_l1 *l, uint32_t request, void (*done)(void *ctx, uint32_t token), void *ctx)
{
    pl_mshr *m = &l->miss[request];
    if (m->slot != PL_NO_LINE) {
        pl_cache_line *t = &l->tags.line[m->slot];
        t->pending &= (uint8_t)~m->sectors;
        t->valid |= m->sectors;
        uint32_t *link = &t->waiters;
        while (*link != request) link = &l->miss[*link].next;
        *link = m->next;
    }
    uint32_t w = m->waiters;
    m->next = l->free_miss;
    l->free_miss = request;
    l->used_miss--;
    l->asked -= (uint32_t)__builtin_popcount(m->sectors);
    while (w != PL_NO_LINE) {
        uint32_t next = l->waiter[w].next, token = l->waiter[w].token;
        l->waiter[w].next = l->free_waiter;
        l->free_waiter = w;
        l->used_waiter--;
        done(ctx, token);
        w = next;
    }
}

/* Forgets a line, but for those that nobody else writes; tells whether a fill is still to come for
 * it. */
static bool forget(pl_l1 *l, uint32_t slot)
{
    pl_cache_line *t = &l->tags.line[slot];
    if (t->tag && is_own(l, pl_cache_address(&l->tags, t))) return false;
    t->valid = 0;
    if (!t->pending) pl_cache_drop(&l->tags, slot);
    return t->pending;
}

/* Warps that wait for others by looking at memory come here with each look, and few lines have been
 * claimed since the last one. */
void pl_l1_invalidate(pl_l1 *l)
{
    const uint32_t n = l->nrecent;
    l->nrecent = 0;
    if (n <= PL_L1_RECENT) {
        for (uint32_t i = 0; i < n; i++)
            if (forget(l, l->recent[i])) l->recent[l->nrecent++] = l->recent[i];
        return;
    }
    const pl_cache *c = &l->tags;
    for (uint32_t set = 0; set < c->sets; set++) {
        const uint32_t first = set * c->stride + c->head;
        for (uint32_t k = first; c->known[set] && k < first + c->ways; k++) {
            if (!forget(l, k)) continue;
            if (l->nrecent < PL_L1_RECENT)
                l->recent[l->nrecent++] = k;
            else
                l->nrecent = PL_L1_RECENT + 1;
        }
    }
}
