/* vector_clock.c - vector clocks as sorted lists. See vector_clock.h. */
#include "check/vector_clock.h"

#include <stdlib.h>
#include <string.h>

pl_vector_clock *pl_vector_clock_ref(pl_vector_clock *a)
{
    if (a) a->refs++;
    return a;
}

void pl_vector_clock_unref(pl_vector_clock *a)
{
    if (!a || --a->refs) return;
    pl_vector_clock_unref(a->base);
    free(a);
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

static pl_vector_clock *new_clock(size_t n)
{
    pl_vector_clock *k = malloc(sizeof *k + n * sizeof *k->at);
    if (k) *k = (pl_vector_clock){.refs = 1};
    return k;
}

/* Returns the index, `from` or later, of the first own entry for `who` or a successor. */
static uint32_t position(const pl_vector_clock *a, uint32_t from, pl_who who)
{
    uint32_t to = a->n;
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
static uint32_t entry_time(const pl_vector_clock *a, pl_who who)
{
    uint32_t until = 0;
    for (; a; a = a->base) {
        const uint32_t at = position(a, 0, who);
        if (at < a->n && a->at[at].who == who && a->at[at].until > until) until = a->at[at].until;
    }
    return until;
}

/* ---- merging ---- */

enum { LONG = 32 /* entries of a list that may be a base */, BASE_SHARE = 4 };

/* A list: entries, and those of a long list. */
typedef struct view {
    const pl_vector_clock_entry *at;
    uint32_t n;
    pl_vector_clock *base;
} view;

static view view_of(pl_vector_clock *a)
{
    if (!a->base && a->n >= LONG) return (view){.base = a};
    return (view){.at = a->at, .n = a->n, .base = a->base};
}

/* Entries of several lists in order, without those that others imply. */
typedef struct cursor {
    struct {
        const pl_vector_clock_entry *at, *end;
    } part[4];
    unsigned parts;
    pl_who last;
    uint32_t of_block, of_unit; /* times of entries for the block and the group of `last` */
} cursor;

static void read_entries(cursor *c, const pl_vector_clock_entry *at, uint32_t n)
{
    if (!n) return;
    c->part[c->parts].at = at;
    c->part[c->parts++].end = at + n;
}

/* True if earlier entries imply this one. */
static bool implied(cursor *c, pl_vector_clock_entry x)
{
    if (block_of(c->last) != block_of(x.who)) c->of_block = c->of_unit = 0;
    if (unit_of(c->last) != unit_of(x.who)) c->of_unit = 0;
    if (!is_agent(x.who) && x.until <= c->of_block && unit_of(x.who)) return true;
    if (lane_of(x.who) && x.until <= c->of_unit) return true;
    if (!unit_of(x.who)) c->of_block = x.until;
    if (unit_of(x.who) && !lane_of(x.who)) c->of_unit = x.until;
    c->last = x.who;
    return false;
}

static bool next_entry(cursor *c, pl_vector_clock_entry *x)
{
    for (;;) {
        *x = (pl_vector_clock_entry){.who = UINT64_MAX};
        for (unsigned p = 0; p < c->parts; p++)
            if (c->part[p].at < c->part[p].end && c->part[p].at->who < x->who)
                x->who = c->part[p].at->who;
        if (x->who == UINT64_MAX) return false;
        for (unsigned p = 0; p < c->parts; p++) {
            if (c->part[p].at == c->part[p].end || c->part[p].at->who != x->who) continue;
            if (c->part[p].at->until > x->until) x->until = c->part[p].at->until;
            c->part[p].at++;
        }
        if (!implied(c, *x)) return true;
    }
}

static bool equal_entries(cursor *a, cursor *b)
{
    pl_vector_clock_entry x, y;
    for (;;) {
        const bool more = next_entry(a, &x);
        if (next_entry(b, &y) != more) return false;
        if (!more) return true;
        if (x.who != y.who || x.until != y.until) return false;
    }
}

static bool equal(pl_vector_clock *a, pl_vector_clock *b)
{
    const view x = view_of(a), y = view_of(b);
    cursor of_a = {.parts = 0}, of_b = {.parts = 0};
    if (!x.base && !y.base && x.n != y.n) return false;
    read_entries(&of_a, x.at, x.n);
    read_entries(&of_b, y.at, y.n);
    if (x.base != y.base) {
        if (x.base) read_entries(&of_a, x.base->at, x.base->n);
        if (y.base) read_entries(&of_b, y.base->at, y.base->n);
    }
    return equal_entries(&of_a, &of_b);
}

static bool base_implies(const pl_vector_clock *base, pl_vector_clock_entry x)
{
    const pl_who unit = x.who & ~(pl_who)0xff, block = x.who & ~(pl_who)0xffff;
    return entry_time(base, x.who) >= x.until ||
           (lane_of(x.who) && entry_time(base, unit) >= x.until) ||
           (!is_agent(x.who) && unit_of(x.who) && entry_time(base, block) >= x.until);
}

/* Returns the list of the cursor's entries, of which there are at most n, and those of the base. */
static pl_vector_clock *list_of(cursor *c, size_t n, pl_vector_clock *base)
{
    pl_vector_clock *k = new_clock(n);
    pl_vector_clock_entry x;
    while (k && next_entry(c, &x))
        if (!base || !base_implies(base, x)) k->at[k->n++] = x;
    if (k) k->base = pl_vector_clock_ref(base);
    return k;
}

/* Returns the number of entries that differ from those of the base, which k includes. */
static uint32_t differing(const pl_vector_clock *k, const pl_vector_clock *base)
{
    uint32_t same = 0;
    for (uint32_t i = 0, j = 0; base && i < k->n; i++) {
        while (j < base->n && base->at[j].who < k->at[i].who) j++;
        same +=
            j < base->n && base->at[j].who == k->at[i].who && base->at[j].until == k->at[i].until;
    }
    return k->n - same;
}

/* Replaces a list that has no base by one with a base, if that is much shorter. */
static pl_vector_clock *shorten(pl_vector_clock *k, pl_vector_clock *base, pl_vector_clock *other)
{
    if (k->n < LONG || (!base && !other)) return k;
    uint32_t n = differing(k, base);
    const uint32_t n_other = differing(k, other);
    if (n_other < n) {
        base = other;
        n = n_other;
    }
    if (n > k->n / BASE_SHARE) return k;
    cursor c = {.parts = 0};
    read_entries(&c, k->at, k->n);
    pl_vector_clock *short_list = list_of(&c, n, base);
    if (!short_list) return k;
    pl_vector_clock_unref(k);
    return short_list;
}

static pl_vector_clock *merge(view a, view b)
{
    pl_vector_clock *base = !b.base || a.base == b.base ? a.base : !a.base ? b.base : NULL;
    cursor c = {.parts = 0};
    read_entries(&c, a.at, a.n);
    read_entries(&c, b.at, b.n);
    const size_t own = (size_t)a.n + b.n;
    if (base && own <= base->n / BASE_SHARE) return list_of(&c, own, base);
    if (a.base) read_entries(&c, a.base->at, a.base->n);
    if (b.base && b.base != a.base) read_entries(&c, b.base->at, b.base->n);
    pl_vector_clock *k =
        list_of(&c, own + (a.base ? a.base->n : 0) + (b.base ? b.base->n : 0), NULL);
    return k ? shorten(k, b.base, a.base) : NULL;
}

void pl_vector_clock_share(pl_vector_clock **to, pl_vector_clock *b)
{
    if (!*to || !b || *to == b || !equal(*to, b)) return;
    pl_vector_clock_unref(*to);
    *to = pl_vector_clock_ref(b);
}

pl_vector_clock *pl_vector_clock_join(pl_vector_clock *a, pl_vector_clock *b)
{
    if (!b || a == b || (!b->n && !b->base)) return pl_vector_clock_ref(a);
    if (!a || (!a->n && !a->base)) return pl_vector_clock_ref(b);
    if (pl_vector_clock_includes(a, b)) return pl_vector_clock_ref(a);
    if (pl_vector_clock_includes(b, a)) return pl_vector_clock_ref(b);
    pl_vector_clock *k = merge(view_of(a), view_of(b));
    pl_vector_clock *as = !k || equal(k, a) ? a : equal(k, b) ? b : NULL;
    if (!as) return k;
    pl_vector_clock_unref(k);
    return pl_vector_clock_ref(as);
}

void pl_vector_clock_set_origin(pl_vector_clock *a, pl_who who, uint32_t until)
{
    if (a && !a->origin.until) a->origin = (pl_vector_clock_entry){.who = who, .until = until};
}

bool pl_vector_clock_includes(const pl_vector_clock *a, const pl_vector_clock *b)
{
    if (!b || a == b) return true;
    const pl_who who = b->origin.who;
    const unsigned unit = unit_of(who), lane = lane_of(who);
    return a && b->origin.until &&
           pl_vector_clock_time(a, block_of(who), unit ? unit - 1 : PL_EVERY,
                                lane ? lane - 1 : PL_EVERY) >= b->origin.until;
}

void pl_vector_clock_merge(pl_vector_clock **to, pl_vector_clock *b)
{
    pl_vector_clock *k = pl_vector_clock_join(*to, b);
    pl_vector_clock_unref(*to);
    *to = k;
}

void pl_vector_clock_add(pl_vector_clock **to, pl_who who, uint32_t until)
{
    const pl_vector_clock_entry x = {.who = who, .until = until};
    pl_vector_clock *k = merge(*to ? view_of(*to) : (view){.n = 0}, (view){.at = &x, .n = 1});
    if (!k) return; /* without memory an entry is missing, and the launch ends soon */
    pl_vector_clock_unref(*to);
    *to = k;
}

void pl_vector_clock_proxy_fence(pl_vector_clock **to, uint32_t proxy)
{
    pl_vector_clock *a = *to, *base = a ? a->base : NULL,
                    *added = a ? new_clock((size_t)a->n + (base ? base->n : 0)) : NULL;
    cursor c = {.parts = 0};
    pl_vector_clock_entry x;
    if (a) read_entries(&c, a->at, a->n);
    if (base) read_entries(&c, base->at, base->n);
    while (added && next_entry(&c, &x)) {
        if (block_of(x.who) >= PL_PROXY_GLOBAL || is_agent(x.who)) continue;
        x.who = pl_who_proxy(x.who, proxy);
        added->at[added->n++] = x;
    }
    pl_vector_clock *k = added ? merge(view_of(a), view_of(added)) : NULL;
    pl_vector_clock_unref(added);
    if (!k) return;
    pl_vector_clock_unref(a);
    *to = k;
}

bool pl_vector_clock_includes_block(const pl_vector_clock *a, uint32_t block)
{
    for (; a; a = a->base) {
        const uint32_t at = position(a, 0, pl_who_block(block));
        if (at < a->n && block_of(a->at[at].who) == block) return true;
    }
    return false;
}

/* Adds the time of this entry, if the list has it at this index. */
static void add_time(const pl_vector_clock *a, uint32_t at, pl_who who, uint32_t *until)
{
    if (at < a->n && a->at[at].who == who && a->at[at].until > *until) *until = a->at[at].until;
}

uint32_t pl_vector_clock_time(const pl_vector_clock *a, uint32_t block, unsigned unit,
                              unsigned lane)
{
    const pl_who whole = pl_who_block(block), group = pl_who_unit(block, unit);
    uint32_t until = 0;
    for (; a; a = a->base) {
        uint32_t at = position(a, 0, whole);
        if (at == a->n || block_of(a->at[at].who) != block) continue;
        if (unit < PL_UNITS || unit == PL_EVERY) add_time(a, at, whole, &until);
        if (unit == PL_EVERY) continue;
        at = position(a, at, group);
        add_time(a, at, group, &until);
        if (lane != PL_EVERY)
            add_time(a, position(a, at, pl_who_lane(block, unit, lane)),
                     pl_who_lane(block, unit, lane), &until);
    }
    return until;
}
