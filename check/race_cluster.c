/* race_cluster.c - shared memory of other blocks of the cluster: it exists from the start of that
 * block until its end, so an access must be ordered with both. */
#include <stdio.h>

#include "check/race.h"

/* Reports the access: "writes byte 4 of 'tile' in the shared memory of block 1,0,0 of the cluster,
 * which may have ended". */
static void report(pl_check *k, pl_cta *owner, const pl_context *x, unsigned lane, uint64_t address,
                   const char *what)
{
    bool fresh;
    pl_check_finding *f = pl_finding_of(k, PL_FK_RACE_CLUSTER, x->pc, UINT32_MAX, &fresh);
    k->no_memory |= !f;
    if (!f) return;
    f->count++;
    if (!fresh) return;
    f->space = PL_SP_SHARED;
    f->address = address;
    const bool object = x->unit >= PL_OBJECTS;
    pl_finding_access_fill(k, &f->by, x->block, object ? x->issuer / PL_LANES : x->unit % PL_UNITS,
                           object ? x->issuer % PL_LANES : lane);
    pl_finding_where(&owner->warp[0], f);
    snprintf(f->text, sizeof f->text,
             "%s %s the shared memory of block %u,%u,%u of the cluster, which %s",
             pl_race_verb(x, &owner->warp[0].code[x->pc]), f->where, owner->id[0], owner->id[1],
             owner->id[2], what);
}

void pl_race_remote_access(pl_visit *v, unsigned lane, const place *p)
{
    const pl_cluster *x = v->w->cta->cluster;
    p->owner->accessed_remotely = true;
    if (v->u->cluster_synced >> lane & 1u) return; /* relaxed arrivals also imply that */
    if (pl_vector_clock_includes_block(clock_of(v->u, lane), p->owner->number)) return;
    for (uint32_t r = 0; x && r < x->size; r++)
        if (x->cta[r] && block_of(x->cta[r]) == p->owner)
            report(v->k, x->cta[r], &v->self, lane, p->address, "may not have begun");
}

typedef struct ending {
    pl_check *k;
    pl_cta *c;
    pl_vector_clock *final_clock; /* merged clocks of its threads at their end */
} ending;

static void check_access(const ending *e, pl_access_id t, uint64_t address)
{
    const check_block *b = block_of(e->c);
    const pl_context *x = &b->contexts.at[pl_access_context(t)];
    if (!t || x->block == b->number) return;
    const unsigned lane = pl_access_multi_lane(t) ? PL_EVERY : pl_access_lane(t);
    if (x->stamp > pl_vector_clock_time(e->final_clock, x->block, x->unit, lane))
        report(e->k, e->c, x, pl_access_lane(t), address, "may have ended");
}

static void check_page(void *ctx, uint64_t address, pl_page *p)
{
    const unsigned n = p->fine ? PL_PAGE : PL_PAGE / 4;
    for (unsigned k = 0; k < n; k++) {
        const uint64_t at = address + k * (PL_PAGE / n);
        check_access(ctx, p->cell[k].write, at);
        for (unsigned j = 0; j < 3; j++) check_access(ctx, p->cell[k].other[j], at);
    }
}

void pl_race_block_ends(pl_check *k, pl_cta *c)
{
    const check_block *b = block_of(c);
    if (!b->accessed_remotely) return;
    ending e = {.k = k, .c = c, .final_clock = pl_order_final_clock(c)};
    pl_shadow_each(&b->shadow, check_page, &e);
    pl_vector_clock_unref(e.final_clock);
}
