/* memory_dependence.c - see memory_dependence.h. Accesses with a known base are hashed by the
 * 16-byte granules that they touch, so that the cost of each does not depend on their number. A
 * load is pending until a store that it must precede is added. */
#include "compiler/analysis/memory_dependence.h"

#include <stdbool.h>

#include "isa/program/insn.h"

enum {
    LOG2_GRANULE = 4,
    SPACES = PL_SP_TEX + 1,
    NONE = 0
}; /* below, indices are array positions plus one */

/* A load that is waiting for a store; a list entry. */
typedef struct pending_load {
    uint32_t at, next;
} pending_load;

/* Accesses of a space relative to one base; all with an unknown base form one group. */
typedef struct group {
    uint32_t space, base;
    uint32_t loads, next; /* pending loads; next group of the space that has any */
    uint32_t chain;       /* next group with the same hash */
    bool listed;
} group;

/* A range of bytes of a group. */
typedef struct location {
    uint32_t group, chain;   /* next location with the same hash */
    uint32_t granule, loads; /* 16-byte granule that this entry is hashed by */
    int64_t from, to;
    uint32_t store; /* the last store, PL_NO_ACCESS: none */
} location;

typedef struct space {
    uint32_t last, other; /* last store; last store of another group than that; PL_NO_ACCESS */
    uint32_t group;       /* of `last` */
    uint32_t open;        /* list of groups with pending loads */
} space;

struct pl_memory_dependence {
    pl_arena *a;
    space space[SPACES];
    uint32_t store; /* last store in any space */
    struct {
        group *at;
        size_t n, cap;
    } groups;
    struct {
        location *at;
        size_t n, cap;
    } locations;
    struct {
        pending_load *at;
        size_t n, cap;
    } pending;
    struct {
        uint32_t *at;
        size_t n, cap;
    } found;
    struct {
        bool *at;
        size_t n, cap;
    } closed;                               /* by instruction number */
    uint32_t *group_of, *location_of, size; /* hash tables; their size is a power of two */
};

pl_memory_dependence *pl_memory_dependence_new(pl_arena *a)
{
    enum { FIRST = 64 };
    pl_memory_dependence *m = pl_arena_new(a, pl_memory_dependence);
    m->a = a;
    m->size = FIRST;
    m->group_of = pl_arena_array(a, uint32_t, FIRST);
    m->location_of = pl_arena_array(a, uint32_t, FIRST);
    pl_memory_dependence_start(m);
    return pl_arena_ok(a) ? m : NULL;
}

static uint32_t hash(const pl_memory_dependence *m, uint32_t a, uint32_t b)
{
    uint64_t h = (a * 0x9e3779b97f4a7c15ull) ^ (b * 0xc2b2ae3d27d4eb4full);
    return (uint32_t)((h ^ h >> 29) * 0x9e3779b97f4a7c15ull >> 32) & (m->size - 1);
}

static uint32_t group_hash(const pl_memory_dependence *m, const group *g)
{
    return hash(m, g->base, g->space);
}

static uint32_t location_hash(const pl_memory_dependence *m, const location *p)
{
    return hash(m, p->group, p->granule);
}

void pl_memory_dependence_start(pl_memory_dependence *m)
{
    for (size_t k = 0; k < m->groups.n; k++) m->group_of[group_hash(m, &m->groups.at[k])] = NONE;
    for (size_t k = 0; k < m->locations.n; k++)
        m->location_of[location_hash(m, &m->locations.at[k])] = NONE;
    for (size_t k = 0; k < m->pending.n; k++) m->closed.at[m->pending.at[k].at] = false;
    m->groups.n = m->locations.n = m->pending.n = 0;
    m->store = PL_NO_ACCESS;
    for (uint32_t s = 0; s < SPACES; s++)
        m->space[s] = (space){.last = PL_NO_ACCESS, .other = PL_NO_ACCESS};
}

/* Grows the hash tables with their contents. */
static void grow_tables(pl_memory_dependence *m)
{
    if (m->groups.n < m->size && m->locations.n < m->size) return;
    uint32_t size = 4 * m->size, *group_of = pl_arena_array(m->a, uint32_t, size),
             *location_of = pl_arena_array(m->a, uint32_t, size);
    if (!group_of || !location_of) return;
    m->size = size;
    m->group_of = group_of;
    m->location_of = location_of;
    for (uint32_t k = 0; k < m->groups.n; k++) {
        uint32_t *slot = &group_of[group_hash(m, &m->groups.at[k])];
        m->groups.at[k].chain = *slot;
        *slot = k + 1;
    }
    for (uint32_t k = 0; k < m->locations.n; k++) {
        uint32_t *slot = &location_of[location_hash(m, &m->locations.at[k])];
        m->locations.at[k].chain = *slot;
        *slot = k + 1;
    }
}

static uint32_t group_of(pl_memory_dependence *m, const pl_access *a)
{
    const group key = {.space = a->space, .base = a->base};
    uint32_t *slot = &m->group_of[group_hash(m, &key)];
    for (uint32_t g = *slot; g; g = m->groups.at[g - 1].chain)
        if (m->groups.at[g - 1].base == a->base && m->groups.at[g - 1].space == a->space) return g;
    group *g = pl_push(m->a, &m->groups);
    *g = key;
    g->chain = *slot;
    return *slot = (uint32_t)m->groups.n;
}

static void add_pending(pl_memory_dependence *m, uint32_t *list, uint32_t at)
{
    *pl_push(m->a, &m->pending) = (pending_load){at, *list};
    *list = (uint32_t)m->pending.n;
}

/* Collects the loads of a list, except those that an earlier store has closed. */
static void close_loads(pl_memory_dependence *m, uint32_t *list)
{
    for (uint32_t w = *list; w; w = m->pending.at[w - 1].next) {
        uint32_t at = m->pending.at[w - 1].at;
        if (!m->closed.at[at]) *pl_push(m->a, &m->found) = at;
        m->closed.at[at] = true;
    }
    *list = NONE;
}

/* Closes every group of the space except `except`. */
static void close_groups(pl_memory_dependence *m, space *s, uint32_t except)
{
    for (uint32_t g = s->open, next; g; g = next) {
        group *k = &m->groups.at[g - 1];
        next = k->next;
        if (g == except) continue;
        close_loads(m, &k->loads);
        k->listed = false;
    }
    s->open = except && m->groups.at[except - 1].listed ? except : NONE;
    if (s->open) m->groups.at[except - 1].next = NONE;
}

/* The number of 16-byte granules that an access touches, from *first on. */
static uint32_t granule_count(const pl_access *a, int64_t *first)
{
    int64_t last = (a->to - 1) >> LOG2_GRANULE;
    *first = a->from >> LOG2_GRANULE;
    return last > *first ? (uint32_t)(last - *first) + 1 : 1;
}

/* The entry for exactly these bytes. */
static location *location_of(pl_memory_dependence *m, uint32_t g, uint32_t granule,
                             const pl_access *a)
{
    uint32_t *slot = &m->location_of[hash(m, g, granule)];
    for (uint32_t p = *slot; p; p = m->locations.at[p - 1].chain) {
        location *k = &m->locations.at[p - 1];
        if (k->group == g && k->granule == granule && k->from == a->from && k->to == a->to)
            return k;
    }
    location *k = pl_push(m->a, &m->locations);
    *k = (location){.group = g,
                    .chain = *slot,
                    .granule = granule,
                    .from = a->from,
                    .to = a->to,
                    .store = PL_NO_ACCESS};
    *slot = (uint32_t)m->locations.n;
    return k;
}

static bool overlap(const location *p, uint32_t g, uint32_t granule, const pl_access *a)
{
    return p->group == g && p->granule == granule && p->to > a->from && a->to > p->from;
}

static uint32_t later_access(uint32_t a, uint32_t b)
{
    return a == PL_NO_ACCESS || (b != PL_NO_ACCESS && b > a) ? b : a;
}

static bool may_alias(uint32_t a, uint32_t b)
{
    return a == b || a == PL_SP_GENERIC || b == PL_SP_GENERIC;
}

uint32_t pl_memory_dependence_of_load(pl_memory_dependence *m, const pl_access *a)
{
    grow_tables(m);
    uint32_t g = group_of(m, a), latest = PL_NO_ACCESS;
    while (m->closed.n <= a->at && pl_arena_ok(m->a)) *pl_push(m->a, &m->closed) = false;
    for (uint32_t k = 0; k < SPACES; k++) {
        const space *s = &m->space[k];
        if (may_alias(k, a->space))
            latest = later_access(
                latest,
                k == a->space && a->base != PL_UNKNOWN_BASE && s->group == g ? s->other : s->last);
    }
    group *own = &m->groups.at[g - 1];
    add_pending(m, &own->loads, a->at);
    if (!own->listed) {
        own->listed = true;
        own->next = m->space[a->space].open;
        m->space[a->space].open = g;
    }
    int64_t first;
    for (uint32_t n = a->base == PL_UNKNOWN_BASE ? 0 : granule_count(a, &first); n-- > 0;) {
        uint32_t granule = (uint32_t)(first + n);
        for (uint32_t p = m->location_of[hash(m, g, granule)]; p; p = m->locations.at[p - 1].chain)
            if (overlap(&m->locations.at[p - 1], g, granule, a))
                latest = later_access(latest, m->locations.at[p - 1].store);
        add_pending(m, &location_of(m, g, granule, a)->loads, a->at);
    }
    return latest;
}

uint32_t pl_memory_dependence_of_store(pl_memory_dependence *m, const pl_access *a,
                                       const uint32_t **loads, uint32_t *n)
{
    grow_tables(m);
    uint32_t g = group_of(m, a), before = m->store;
    m->found.n = 0;
    for (uint32_t k = 0; k < SPACES; k++)
        if (may_alias(k, a->space))
            close_groups(m, &m->space[k], k == a->space && a->base != PL_UNKNOWN_BASE ? g : NONE);
    int64_t first;
    for (uint32_t c = a->base == PL_UNKNOWN_BASE ? 0 : granule_count(a, &first); c-- > 0;) {
        uint32_t granule = (uint32_t)(first + c);
        for (uint32_t p = m->location_of[hash(m, g, granule)]; p; p = m->locations.at[p - 1].chain)
            if (overlap(&m->locations.at[p - 1], g, granule, a))
                close_loads(m, &m->locations.at[p - 1].loads);
        location_of(m, g, granule, a)->store = a->at;
    }
    space *s = &m->space[a->space];
    if (s->group != g) s->other = s->last;
    s->last = m->store = a->at;
    s->group = g;
    *loads = m->found.at;
    *n = (uint32_t)m->found.n;
    return before;
}

uint32_t pl_memory_dependence_of_all(pl_memory_dependence *m, const uint32_t **loads, uint32_t *n)
{
    m->found.n = 0;
    for (uint32_t k = 0; k < SPACES; k++) close_groups(m, &m->space[k], NONE);
    *loads = m->found.at;
    *n = (uint32_t)m->found.n;
    return m->store;
}
