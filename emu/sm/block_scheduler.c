/* block_scheduler.c - assigns blocks to SMs, and determines when they start. */
#include "emu/sm/gpu_parts.h"
#include <string.h>

/* The unit that starts the blocks of SM k. */
static pl_port *starter_of(const pl_gpu_model *x, uint32_t k)
{
    return &x->starting[x->m->launch.sms_per_tpc ? k / x->m->launch.sms_per_tpc : 0];
}

/* The earliest cycle, not before `now`, at which SM k can take a block, ignoring the unit that
 * starts its blocks. */
static uint64_t free_at(const pl_gpu_model *x, uint32_t k, uint64_t now)
{
    const uint64_t start = x->m->launch.start + x->g->page_fault_cycles,
                   at = now > start ? now : start;
    return x->place_after[k] > at ? x->place_after[k] : at;
}

/* The same, including the unit that starts its blocks. */
static uint64_t ready_at(const pl_gpu_model *x, uint32_t k, uint64_t now)
{
    const uint64_t at = free_at(x, k, now), free = starter_of(x, k)->free / PL_SUBCYCLES;
    return free > at ? free : at;
}

/* The first SM of a GPC from which blocks are distributed; preceding SMs of the first GPC are
 * served before all others. */
static uint32_t first_sm_of_gpc(const pl_gpu_model *x, uint32_t g)
{
    const uint32_t groups = x->m->mem.groups;
    return g ? (g * x->m->sm.count + groups - 1) / groups : x->m->launch.first_gpc_bias;
}

/* Marks the SMs that get one of `left` blocks each: first those that are served first; then the
 * first SM of a TPC of each GPC, the first of another, and so on; then the second ones. */
static void mark_chosen(pl_gpu_model *x, uint64_t left)
{
    const uint32_t sms = x->m->sm.count, groups = x->m->mem.groups, pair = x->m->launch.sms_per_tpc;
    memset(x->chosen, 0, sms * sizeof *x->chosen);
    for (uint32_t k = 0; k < x->m->launch.first_gpc_bias && left; k++, left--) x->chosen[k] = true;
    for (uint32_t of = 0; of < pair; of++)
        for (uint32_t at = of; at < sms && left; at += pair)
            for (uint32_t g = 0; g < groups && left; g++) {
                const uint32_t k = first_sm_of_gpc(x, g) + at;
                if (k >= first_sm_of_gpc(x, g + 1)) continue;
                x->chosen[k] = true;
                left--;
            }
}

/* The order in which SMs get one block each, of `left` remaining blocks: GPC by GPC, starting
 * with one of them. On the H200 the starting GPC varies (place.tsv.xz); here it is always the
 * middle one. */
static void begin_round(pl_gpu_model *x, uint64_t left)
{
    const uint32_t groups = x->m->mem.groups, first_served = x->m->launch.first_gpc_bias;
    if (!x->m->launch.sms_per_tpc) return;
    mark_chosen(x, left);
    uint32_t n = 0;
    for (uint32_t k = 0; k < first_served; k++) x->round[n++] = k;
    for (uint32_t marked = 2; marked-- > 0;) /* marked SMs first, then the others */
        for (uint32_t q = 0; q < groups; q++) {
            const uint32_t g = (q + groups / 2) % groups;
            for (uint32_t k = first_sm_of_gpc(x, g); k < first_sm_of_gpc(x, g + 1); k++)
                if (x->chosen[k] == marked) x->round[n++] = k;
        }
}

/* Selects the SM for the next block among `n` SMs in an order: the emptiest of those that can take
 * it at cycle `now`, else the one that can take it first. UINT32_MAX: all are full. */
static uint32_t choose_sm(const pl_gpu_model *x, const pl_sm_partition *p, const uint32_t *order,
                          uint32_t n, uint64_t now)
{
    uint32_t best = UINT32_MAX;
    uint64_t soonest = PL_NEVER;
    for (uint32_t j = 0; j < n; j++) {
        const uint32_t k = order[j];
        if (x->used_shares[k] + p->share > PL_WHOLE_SM) continue;
        const uint64_t at = free_at(x, k, now);
        if (best != UINT32_MAX &&
            (at > soonest || (at == soonest && x->used_shares[k] >= x->used_shares[best])))
            continue;
        best = k;
        soonest = at;
    }
    return best;
}

/* Places a block on an SM, not before cycle `now`, the start of the window. */
static pl_status place_block(pl_gpu_model *x, const pl_sm_partition *p, uint32_t sm, uint64_t now)
{
    const pl_launch_config *l = &x->m->launch;
    uint64_t at = ready_at(x, sm, now);
    if (!x->status[sm].open && !pl_gpu_open_sm(x, sm)) return PL_NOMEM;
    pl_cta *c = pl_cta_acquire(p->g, (uint32_t)p->g->next_block, sm);
    if (!c) return PL_NOMEM;
    c->turn = &x->sm[sm].turn;
    c->advances = &x->sm[sm].advances;
    p->g->next_block++;
    const double warps = c->nwarps * l->warp_interval;
    pl_port_enter(
        starter_of(x, sm), at,
        (uint64_t)((warps > l->block_interval ? warps : l->block_interval) * PL_SUBCYCLES));
    if (x->used_shares[sm] == 0) ++*pl_gpu_sharers_of(x, sm);
    x->used_shares[sm] += p->share;
    return pl_sm_place(&x->sm[sm], c, at + l->block_start) ? PL_OK : PL_NOMEM;
}

/* Free block slots of the SMs of one group, or of the whole GPU without clusters. */
uint64_t pl_block_scheduler_free_slots(const pl_gpu_model *x, const pl_sm_partition *p,
                                       uint32_t first, uint32_t last)
{
    uint64_t n = 0;
    for (uint32_t k = first; k < last; k++) n += (PL_WHOLE_SM - x->used_shares[k]) / p->share;
    return n;
}

/* The grid whose blocks are distributed next; NULL: none at present. */
const pl_sm_partition *pl_block_scheduler_next_grid(const pl_gpu_model *x)
{
    const pl_grid *g = x->distribution_ended ? NULL : pl_grid_startable(x->g);
    const pl_sm_partition *p = x->part;
    while (g && p->g != g) p++;
    return g ? p : NULL;
}

/* Frees the slots of blocks that have ended before cycle `until`. */
static void free_slots(pl_gpu_model *x, uint64_t until)
{
    for (uint32_t k = 0; k < x->nfreed;) {
        if (x->freed[k].time >= until) {
            k++;
            continue;
        }
        uint32_t sm = x->freed[k].sm;
        x->used_shares[sm] -= x->freed[k].share;
        if (x->used_shares[sm] == 0) --*pl_gpu_sharers_of(x, sm);
        if (x->freed[k].time > x->place_after[sm]) x->place_after[sm] = x->freed[k].time;
        x->freed[k] = x->freed[--x->nfreed];
    }
}

/* The group of SMs with the most free slots for blocks of a cluster. False: none has enough. */
static bool choose_group(const pl_gpu_model *x, const pl_sm_partition *p, uint32_t *first,
                         uint32_t *last)
{
    const uint32_t groups = x->m->mem.groups, sms = x->m->sm.count;
    uint64_t best = 0;
    for (uint32_t q = 0; q < groups; q++) {
        const uint32_t a = q * sms / groups, b = (q + 1) * sms / groups;
        const uint64_t n = pl_block_scheduler_free_slots(x, p, a, b);
        if (n <= best) continue;
        best = n;
        *first = a;
        *last = b;
    }
    return best >= p->cluster;
}

/* Distributes blocks that can start before `until`. The blocks of a cluster start together, on SMs
 * of one group. */
pl_status pl_block_scheduler_run(pl_gpu_model *x, uint64_t now, uint64_t until)
{
    const pl_machine *m = x->m;
    free_slots(x, until);
    for (const pl_sm_partition *p; (p = pl_block_scheduler_next_grid(x)) != NULL;) {
        uint32_t first = 0, last = m->sm.count;
        if (p->cluster > 1 && !choose_group(x, p, &first, &last)) break;
        const bool single = p->cluster == 1;
        if (single && p->g->next_block % m->sm.count == 0)
            begin_round(x, pl_grid_blocks(p->g) - p->g->next_block);
        bool full = false;
        for (uint32_t k = 0; k < p->cluster && !full; k++) {
            uint32_t sm =
                choose_sm(x, p, single ? x->round : x->numbers + first, last - first, now);
            full = sm == UINT32_MAX || (k == 0 && free_at(x, sm, now) >= until);
            pl_status st = full ? PL_OK : place_block(x, p, sm, now);
            if (st != PL_OK) return st;
        }
        if (full) break;
    }
    return PL_OK;
}

/* Retires blocks that ended in the window just simulated. False: out of memory for a block that
 * started. */
bool pl_block_scheduler_retire(pl_gpu_model *x)
{
    bool ok = true;
    for (uint32_t k = 0; k < x->m->sm.count; k++) {
        pl_sm *s = &x->sm[k];
        if (!x->status[k].ended) continue;
        x->status[k].ended = false;
        ok &= !s->no_memory;
        for (uint32_t e = 0; e < s->nended; e++) {
            const pl_sm_partition *p = x->part;
            while (p->g != s->ended[e].cta->grid) p++;
            pl_cta_end(s->ended[e].cta);
            x->freed[x->nfreed].share = p->share;
            x->last_retired =
                pl_port_enter(&x->retiring, s->ended[e].time,
                              (uint64_t)(x->m->launch.retire_interval * PL_SUBCYCLES));
            x->freed[x->nfreed].time = x->last_retired + x->m->launch.block_end;
            x->freed[x->nfreed++].sm = k;
            x->done++;
        }
        s->nended = 0;
        x->g->advances += s->advances;
        s->advances = 0;
    }
    return ok;
}
