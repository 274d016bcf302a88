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
    pl_party_place(k, &f->by, x->block, object ? x->issuer / PL_LANES : x->unit % PL_UNITS,
                   object ? x->issuer % PL_LANES : lane);
    pl_finding_where(&owner->warp[0], f);
    snprintf(f->text, sizeof f->text,
             "%s %s the shared memory of block %u,%u,%u of the cluster, which %s",
             pl_race_verb(x, &owner->warp[0].code[x->pc]), f->where, owner->id[0], owner->id[1],
             owner->id[2], what);
}

void pl_race_reaches(pl_visit *v, unsigned lane, const place *p)
{
    const pl_cluster *x = v->w->cta->cluster;
    p->owner->reached = true;
    if (v->u->cluster_begun >> lane & 1u) return; /* relaxed arrivals also imply that */
    if (pl_knowledge_any(knowledge_of(v->u, lane), p->owner->number)) return;
    for (uint32_t r = 0; x && r < x->size; r++)
        if (x->cta[r] && block_of(x->cta[r]) == p->owner)
            report(v->k, x->cta[r], &v->self, lane, p->address, "may not have begun");
}

typedef struct ending {
    pl_check *k;
    pl_cta *c;
    pl_knowledge *known; /* knowledge of its threads at their end */
} ending;

static void look(const ending *e, pl_touch t, uint64_t address)
{
    const check_block *b = block_of(e->c);
    const pl_context *x = &b->contexts.at[pl_touch_context(t)];
    if (!t || x->block == b->number) return;
    const unsigned lane = pl_touch_several(t) ? PL_EVERY : pl_touch_lane(t);
    if (x->stamp > pl_knowledge_of(e->known, x->block, x->unit, lane))
        report(e->k, e->c, x, pl_touch_lane(t), address, "may have ended");
}

static void look_at_page(void *ctx, uint64_t address, pl_page *p)
{
    const unsigned n = p->fine ? PL_PAGE : PL_PAGE / 4;
    for (unsigned k = 0; k < n; k++) {
        const uint64_t at = address + k * (PL_PAGE / n);
        look(ctx, p->cell[k].write, at);
        for (unsigned j = 0; j < 3; j++) look(ctx, p->cell[k].other[j], at);
    }
}

void pl_race_block_ends(pl_check *k, pl_cta *c)
{
    const check_block *b = block_of(c);
    if (!b->reached) return;
    ending e = {.k = k, .c = c, .known = pl_order_last(c)};
    pl_shadow_each(&b->shadow, look_at_page, &e);
    pl_knowledge_drop(e.known);
}
