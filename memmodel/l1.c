/* l1.c - tags of a first-level cache; its misses are in mshr.c; see l1.h. */
#include "memmodel/l1.h"

void pl_l1_init(pl_l1 *l, pl_arena *a, pl_arena *tags, pl_arena *sparse, const pl_l1_geometry *g)
{
    *l = (pl_l1){.sector_bytes = g->sector_bytes};
    pl_cache_init(&l->tags, a, tags, g->bytes, g->line_bytes, g->ways, true);
    pl_mshr_init(&l->mshrs, sparse, g->mshrs, g->targets);
}

static bool is_private(const pl_l1 *l, uint64_t line)
{
    return line - l->private_base < l->private_bytes;
}

static uint32_t claim(pl_l1 *l, uint64_t line, pl_mem_rank rank)
{
    pl_cache_line old;
    uint32_t slot = pl_cache_claim(&l->tags, line, rank, &old);
    if (slot == PL_NO_LINE || is_private(l, line)) return slot;
    if (l->nrecent < PL_L1_RECENT)
        l->recent[l->nrecent++] = slot;
    else
        l->nrecent = PL_L1_RECENT + 1;
    return slot;
}

/* Updates the rank of a line on a hit (policy.tsv.xz). evict_first and evict_last accesses set
 * their rank; an ordinary access makes the line ordinary unless it is evict_last. */
static void touch_line(pl_l1 *l, uint32_t slot, pl_mem_rank rank)
{
    if (rank == PL_RANK_NORMAL && !l->tags.ranked) return;
    if (rank == PL_RANK_UNCHANGED ||
        (rank == PL_RANK_NORMAL && l->tags.line[slot].rank == PL_RANK_LAST))
        return;
    pl_cache_rank(&l->tags, slot, rank);
}

uint32_t pl_l1_load(pl_l1 *l, uint64_t line, uint8_t sectors, uint32_t token, pl_l1_policy policy,
                    pl_mem_rank rank, uint32_t *request, uint8_t *fetch)
{
    uint32_t fills = 0, slot = PL_NO_LINE;
    uint8_t missing = sectors;
    *fetch = 0;
    if (policy != PL_L1_TAG_BYPASS) {
        slot = pl_cache_find(&l->tags, line);
        if (slot != PL_NO_LINE) {
            touch_line(l, slot, rank);
            pl_cache_line *t = &l->tags.line[slot];
            missing &= (uint8_t)~t->valid;
            l->hits += pl_sector_count(sectors & t->valid);
            if (!missing) return 0;
            for (uint32_t i = t->waiters; i != PL_NO_LINE && missing; i = l->mshrs.at[i].next) {
                uint8_t shared = missing & l->mshrs.at[i].sectors;
                if (!shared) continue;
                pl_mshr_add_target(&l->mshrs, &l->mshrs.at[i], token);
                fills++;
                l->merges += pl_sector_count(shared);
                missing &= (uint8_t)~shared;
            }
            if (!missing) return fills;
        } else if (policy == PL_L1_TAG_ALLOCATE) {
            slot = claim(l, line, rank);
        }
    }
    l->misses += pl_sector_count(missing);
    const uint32_t i = pl_mshr_new(&l->mshrs, line, slot, missing);
    if (slot != PL_NO_LINE) {
        pl_cache_line *t = &l->tags.line[slot];
        t->pending |= missing;
        l->mshrs.at[i].next = t->waiters;
        t->waiters = i;
    }
    pl_mshr_add_target(&l->mshrs, &l->mshrs.at[i], token);
    *request = i;
    *fetch = missing;
    return fills + 1;
}

bool pl_l1_store(pl_l1 *l, uint64_t line, uint8_t sectors, pl_l1_policy policy, pl_mem_rank rank)
{
    uint32_t slot = pl_cache_find(&l->tags, line);
    const bool present = slot != PL_NO_LINE;
    if (policy == PL_L1_TAG_BYPASS) return present;
    if (present)
        touch_line(l, slot, rank);
    else if (policy == PL_L1_TAG_ALLOCATE)
        slot = claim(l, line, rank);
    if (slot != PL_NO_LINE)
        l->tags.line[slot].valid |= sectors & (uint8_t)~l->tags.line[slot].pending;
    return present;
}

void pl_l1_invalidate_sectors(pl_l1 *l, uint64_t line, uint8_t sectors)
{
    uint32_t slot = sectors ? pl_cache_find(&l->tags, line) : PL_NO_LINE;
    if (slot != PL_NO_LINE) l->tags.line[slot].valid &= (uint8_t)~sectors;
}

void pl_l1_fill(pl_l1 *l, uint32_t request, void (*done)(void *ctx, uint32_t token), void *ctx)
{
    const pl_mshr *m = &l->mshrs.at[request];
    if (m->slot != PL_NO_LINE) {
        pl_cache_line *t = &l->tags.line[m->slot];
        t->pending &= (uint8_t)~m->sectors;
        t->valid |= m->sectors;
        uint32_t *link = &t->waiters;
        while (*link != request) link = &l->mshrs.at[*link].next;
        *link = m->next;
    }
    pl_mshr_complete(&l->mshrs, request, done, ctx);
}

/* Invalidates a line, except lines of private memory; true if a fill is pending for it. */
static bool invalidate_line(pl_l1 *l, uint32_t slot)
{
    pl_cache_line *t = &l->tags.line[slot];
    if (t->tag && is_private(l, pl_cache_address(&l->tags, t))) return false;
    t->valid = 0;
    if (!t->pending) pl_cache_drop(&l->tags, slot);
    return t->pending;
}

/* Warps that poll memory invalidate the L1 at each poll, and few lines have been claimed since the
 * previous one. */
void pl_l1_invalidate(pl_l1 *l)
{
    const uint32_t n = l->nrecent;
    l->nrecent = 0;
    if (n <= PL_L1_RECENT) {
        for (uint32_t i = 0; i < n; i++)
            if (invalidate_line(l, l->recent[i])) l->recent[l->nrecent++] = l->recent[i];
        return;
    }
    const pl_cache *c = &l->tags;
    for (uint32_t set = 0; set < c->sets; set++) {
        const uint32_t first = set * c->stride + c->head;
        for (uint32_t k = first; c->set_initialized[set] && k < first + c->ways; k++) {
            if (!invalidate_line(l, k)) continue;
            if (l->nrecent < PL_L1_RECENT)
                l->recent[l->nrecent++] = k;
            else
                l->nrecent = PL_L1_RECENT + 1;
        }
    }
}
