/* knowledge.c - vector clocks as sorted lists. See knowledge.h. */
#include "check/knowledge.h"

#include <stdlib.h>
#include <string.h>

pl_knowledge *pl_knowledge_keep(pl_knowledge *a)
{
    if (a) a->refs++;
    return a;
}

void pl_knowledge_drop(pl_knowledge *a)
{
    if (a && --a->refs == 0) free(a);
}

static uint32_t block_of(pl_who who)
{
    return (uint32_t)(who >> 16);
}

/* 0: the entry describes a whole block. */
static unsigned unit_of(pl_who who)
{
    return (unsigned)(who >> 8) & 255u;
}

static unsigned lane_of(pl_who who)
{
    return (unsigned)who & 255u;
}

/* Accesses of agents are not included in those of a block or group of threads. */
static bool is_agent(pl_who who)
{
    return unit_of(who) > PL_UNITS;
}

static pl_knowledge *new_knowledge(size_t n)
{
    pl_knowledge *k = malloc(sizeof *k + n * sizeof *k->at);
    if (k) *k = (pl_knowledge){.refs = 1};
    return k;
}

/* Appends an entry unless earlier ones imply it; entries are sorted. */
static void append(pl_knowledge *k, pl_knowledge_entry x, uint32_t *of_block, uint32_t *of_unit)
{
    const pl_knowledge_entry *last = k->n ? &k->at[k->n - 1] : NULL;
    if (!last || block_of(last->who) != block_of(x.who)) *of_block = *of_unit = 0;
    if (last && unit_of(last->who) != unit_of(x.who)) *of_unit = 0;
    if (!is_agent(x.who) && x.until <= *of_block && unit_of(x.who)) return;
    if (lane_of(x.who) && x.until <= *of_unit) return;
    if (!unit_of(x.who)) *of_block = x.until;
    if (unit_of(x.who) && !lane_of(x.who)) *of_unit = x.until;
    k->at[k->n++] = x;
}

static bool equal(const pl_knowledge *a, const pl_knowledge *b)
{
    if (a->n != b->n) return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (a->at[i].who != b->at[i].who || a->at[i].until != b->at[i].until) return false;
    return true;
}

/* Merges the two lists. */
static pl_knowledge *merge(const pl_knowledge *a, const pl_knowledge_entry *b, uint32_t nb)
{
    pl_knowledge *k = new_knowledge((size_t)a->n + nb);
    uint32_t i = 0, j = 0, of_block = 0, of_unit = 0;
    while (k && (i < a->n || j < nb)) {
        pl_knowledge_entry x;
        if (j == nb || (i < a->n && a->at[i].who < b[j].who)) {
            x = a->at[i++];
        } else if (i == a->n || b[j].who < a->at[i].who) {
            x = b[j++];
        } else {
            x = a->at[i++];
            if (b[j].until > x.until) x.until = b[j].until;
            j++;
        }
        append(k, x, &of_block, &of_unit);
    }
    return k;
}

void pl_knowledge_share(pl_knowledge **to, pl_knowledge *b)
{
    if (!*to || !b || *to == b || !equal(*to, b)) return;
    pl_knowledge_drop(*to);
    *to = pl_knowledge_keep(b);
}

pl_knowledge *pl_knowledge_join(pl_knowledge *a, pl_knowledge *b)
{
    if (!b || a == b || !b->n) return pl_knowledge_keep(a);
    if (!a || !a->n) return pl_knowledge_keep(b);
    if (pl_knowledge_covers(a, b)) return pl_knowledge_keep(a);
    if (pl_knowledge_covers(b, a)) return pl_knowledge_keep(b);
    pl_knowledge *k = merge(a, b->at, b->n);
    pl_knowledge *as = !k || equal(k, a) ? a : equal(k, b) ? b : NULL;
    if (!as) return k;
    free(k);
    return pl_knowledge_keep(as);
}

void pl_knowledge_set_origin(pl_knowledge *a, pl_who who, uint32_t until)
{
    if (a && !a->origin.until) a->origin = (pl_knowledge_entry){.who = who, .until = until};
}

bool pl_knowledge_covers(const pl_knowledge *a, const pl_knowledge *b)
{
    if (!b || a == b) return true;
    const pl_who who = b->origin.who;
    const unsigned unit = unit_of(who), lane = lane_of(who);
    return a && b->origin.until &&
           pl_knowledge_of(a, block_of(who), unit ? unit - 1 : PL_EVERY,
                           lane ? lane - 1 : PL_EVERY) >= b->origin.until;
}

void pl_knowledge_learn(pl_knowledge **to, pl_knowledge *b)
{
    pl_knowledge *k = pl_knowledge_join(*to, b);
    pl_knowledge_drop(*to);
    *to = k;
}

void pl_knowledge_add(pl_knowledge **to, pl_who who, uint32_t until)
{
    static const pl_knowledge nothing = {.refs = 1};
    const pl_knowledge_entry x = {.who = who, .until = until};
    pl_knowledge *k = merge(*to ? *to : &nothing, &x, 1);
    if (!k) return; /* without memory a thread knows less, and the launch ends soon */
    pl_knowledge_drop(*to);
    *to = k;
}

void pl_knowledge_proxy_fence(pl_knowledge **to, uint32_t proxy)
{
    pl_knowledge *a = *to, *added = a ? new_knowledge(a->n) : NULL;
    for (uint32_t n = 0; added && n < a->n; n++) {
        if (block_of(a->at[n].who) >= PL_PROXY_GLOBAL || is_agent(a->at[n].who)) continue;
        added->at[added->n] = a->at[n];
        added->at[added->n].who = pl_who_proxy(a->at[n].who, proxy);
        added->n++;
    }
    pl_knowledge *k = added ? merge(a, added->at, added->n) : NULL;
    pl_knowledge_drop(added);
    if (!k) return;
    pl_knowledge_drop(a);
    *to = k;
}

/* Returns the index of the first entry for `who` or a successor. */
static uint32_t position(const pl_knowledge *a, pl_who who)
{
    uint32_t from = 0, to = a->n;
    while (from < to) {
        const uint32_t middle = (from + to) / 2;
        if (a->at[middle].who < who)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Returns the time of exactly this entry; 0: none. */
static uint32_t entry_time(const pl_knowledge *a, pl_who who)
{
    const uint32_t at = position(a, who);
    return at < a->n && a->at[at].who == who ? a->at[at].until : 0;
}

bool pl_knowledge_any(const pl_knowledge *a, uint32_t block)
{
    const uint32_t at = a ? position(a, pl_who_block(block)) : 0;
    return a && at < a->n && block_of(a->at[at].who) == block;
}

uint32_t pl_knowledge_of(const pl_knowledge *a, uint32_t block, unsigned unit, unsigned lane)
{
    if (!a || !a->n) return 0;
    uint32_t until = unit < PL_UNITS ? entry_time(a, pl_who_block(block)) : 0;
    if (unit == PL_EVERY) return entry_time(a, pl_who_block(block));
    uint32_t narrower = entry_time(a, pl_who_unit(block, unit));
    until = narrower > until ? narrower : until;
    narrower = lane != PL_EVERY ? entry_time(a, pl_who_lane(block, unit, lane)) : 0;
    return narrower > until ? narrower : until;
}
