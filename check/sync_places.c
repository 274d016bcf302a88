/* sync_places.c - a table of synchronisation locations by address. See sync_places.h. */
#include "check/sync_places.h"

#include <stdlib.h>

/* ---- the table ---- */

static uint64_t key_of(uint64_t address)
{
    return address % 4 ? address | 1ull << 63 : address / 4 / PL_SYNC_WORDS;
}

static sync_group *group_at(const sync_places *t, uint32_t n)
{
    return &t->group[n / PL_SYNC_CHUNK][n % PL_SYNC_CHUNK];
}

/* Returns the slot of a key, or the free slot for it. */
static uint32_t slot_of(const sync_places *t, uint64_t key)
{
    uint32_t n = (uint32_t)(key * 0x9e3779b97f4a7c15ull >> 32) & (t->cap - 1);
    while (t->at[n] && group_at(t, t->at[n] - 1)->key != key) n = (n + 1) & (t->cap - 1);
    return n;
}

static sync_place *place_in(sync_group *g, uint64_t address)
{
    return &g->word[address % 4 ? 0 : address / 4 % PL_SYNC_WORDS];
}

sync_place *pl_sync_find(const sync_places *t, uint64_t address)
{
    const uint32_t number = t->cap ? t->at[slot_of(t, key_of(address))] : 0;
    return number ? place_in(group_at(t, number - 1), address) : NULL;
}

static bool grow(sync_places *t)
{
    const uint32_t cap = t->cap ? 2 * t->cap : 16;
    uint32_t *at = calloc(cap, sizeof *at);
    if (!at) return false;
    free(t->at);
    t->at = at;
    t->cap = cap;
    for (uint32_t n = 0; n < t->groups; n++) at[slot_of(t, group_at(t, n)->key)] = n + 1;
    return true;
}

/* Returns the array of n chunks with capacity for another one: 1, 2, 4... NULL: no memory. */
static void *with_capacity(void *chunks, uint32_t n)
{
    return n & (n - 1) ? chunks : realloc(chunks, (n ? 2 * n : 1) * sizeof(void *));
}

static bool add_groups(sync_places *t)
{
    const uint32_t n = t->groups / PL_SYNC_CHUNK;
    sync_group **grown = with_capacity(t->group, n);
    if (!grown) return false;
    t->group = grown;
    return (t->group[n] = calloc(PL_SYNC_CHUNK, sizeof **t->group)) != NULL;
}

sync_place *pl_sync_make(sync_places *t, uint64_t address)
{
    sync_place *p = pl_sync_find(t, address);
    if (p) return p;
    if (3 * (t->groups + 1) > 2 * t->cap && !grow(t)) return NULL;
    if (t->groups % PL_SYNC_CHUNK == 0 && !add_groups(t)) return NULL;
    sync_group *g = group_at(t, t->groups);
    g->key = key_of(address);
    t->at[slot_of(t, g->key)] = ++t->groups;
    return place_in(g, address);
}

/* ---- states ---- */

static sync_state *state_at(const sync_places *t, uint32_t number)
{
    return pl_sync_state(t, &(sync_place){.state = number});
}

/* Returns the number of a new state with one user. 0: no memory. */
static uint32_t new_state(sync_places *t)
{
    uint32_t number = t->unused;
    if (number) {
        t->unused = state_at(t, number)->blocks;
    } else {
        const uint32_t n = t->states / PL_SYNC_CHUNK;
        if (t->states % PL_SYNC_CHUNK == 0) {
            sync_state **grown = with_capacity(t->state, n);
            if (!grown) return 0;
            t->state = grown;
            if (!(t->state[n] = calloc(PL_SYNC_CHUNK, sizeof **t->state))) return 0;
        }
        number = ++t->states;
    }
    *state_at(t, number) = (sync_state){.refs = 1};
    return number;
}

static sync_block *block_at(const sync_state *s, uint32_t n)
{
    return n ? &s->more[n - 1] : (sync_block *)(uintptr_t)&s->first;
}

static void empty_state(sync_state *s)
{
    pl_vector_clock_replace(&s->device_scope, NULL);
    pl_vector_clock_replace(&s->any_scope, NULL);
    if (s->object) pl_vector_clock_replace(&s->object->phase, NULL);
    for (uint32_t n = 0; n < s->blocks; n++) pl_vector_clock_unref(block_at(s, n)->clock);
    s->blocks = 0;
}

static void drop_state(sync_places *t, uint32_t number)
{
    sync_state *s = state_at(t, number);
    if (!s || --s->refs) return;
    empty_state(s);
    free(s->more);
    free(s->object);
    *s = (sync_state){.blocks = t->unused};
    t->unused = number;
}

void pl_sync_forget(sync_places *t, sync_place *p)
{
    sync_state *s = pl_sync_state(t, p);
    p->writer = 0;
    if (s && s->object) {
        empty_state(s);
        return;
    }
    drop_state(t, p->state);
    p->state = 0;
}

void pl_sync_free(sync_places *t)
{
    for (uint32_t n = 0; n < t->groups; n++)
        for (unsigned w = 0; w < PL_SYNC_WORDS; w++) drop_state(t, group_at(t, n)->word[w].state);
    drop_state(t, t->latest);
    for (uint32_t n = 0; n < t->groups; n += PL_SYNC_CHUNK) free(t->group[n / PL_SYNC_CHUNK]);
    for (uint32_t n = 0; n < t->states; n += PL_SYNC_CHUNK) free(t->state[n / PL_SYNC_CHUNK]);
    free(t->group);
    free(t->state);
    free(t->at);
    *t = (sync_places){0};
}

pl_vector_clock *pl_sync_known(const sync_state *s, uint32_t block)
{
    for (uint32_t n = 0; n < s->blocks; n++)
        if (block_at(s, n)->block == block) return block_at(s, n)->clock;
    return NULL;
}

/* Returns the address of that pointer. NULL: no memory. */
static pl_vector_clock **of_block(sync_state *s, uint32_t block)
{
    for (uint32_t n = 0; n < s->blocks; n++)
        if (block_at(s, n)->block == block) return &block_at(s, n)->clock;
    if (s->blocks > s->cap) {
        const uint32_t cap = s->cap ? 2 * s->cap : 1;
        sync_block *grown = realloc(s->more, cap * sizeof *grown);
        if (!grown) return NULL;
        s->more = grown;
        s->cap = cap;
    }
    sync_block *b = block_at(s, s->blocks++);
    *b = (sync_block){.block = block};
    return &b->clock;
}

sync_state *pl_sync_own(sync_places *t, sync_place *p)
{
    sync_state *from = pl_sync_state(t, p);
    if (from && from->refs == 1) return from;
    const uint32_t number = new_state(t);
    if (!number) return NULL;
    sync_state *s = state_at(t, number);
    if (from) { /* shared state has one block, and no mbarrier */
        *s = *from;
        s->refs = 1;
        pl_vector_clock_ref(s->first.clock);
        pl_vector_clock_ref(s->device_scope);
        pl_vector_clock_ref(s->any_scope);
        drop_state(t, p->state);
    }
    p->state = number;
    return s;
}

/* Takes the three references. Returns the latest state if it is the same. 0: no memory. */
static uint32_t shared_state(sync_places *t, uint32_t block, pl_vector_clock *of_block,
                             pl_vector_clock *of_device, pl_vector_clock *of_any)
{
    sync_state *s = state_at(t, t->latest);
    const bool same = s && s->blocks == 1 && s->first.block == block &&
                      s->first.clock == of_block && s->device_scope == of_device &&
                      s->any_scope == of_any;
    const uint32_t number = same ? t->latest : new_state(t);
    if (same || !number) {
        pl_vector_clock_unref(of_block);
        pl_vector_clock_unref(of_device);
        pl_vector_clock_unref(of_any);
        if (same) s->refs++;
        return number;
    }
    *state_at(t, number) = (sync_state){.refs = 2,
                                        .blocks = 1,
                                        .first = {.block = block, .clock = of_block},
                                        .device_scope = of_device,
                                        .any_scope = of_any};
    drop_state(t, t->latest);
    return t->latest = number;
}

bool pl_sync_release(sync_places *t, sync_place *p, uint32_t block, pl_vector_clock *of_block_scope,
                     pl_vector_clock *of_device, pl_vector_clock *of_any)
{
    sync_state *s = pl_sync_state(t, p);
    if (!s || (!s->object && s->blocks == 1 && s->first.block == block)) {
        const uint32_t next =
            shared_state(t, block, pl_vector_clock_join(s ? s->first.clock : NULL, of_block_scope),
                         pl_vector_clock_join(s ? s->device_scope : NULL, of_device),
                         pl_vector_clock_join(s ? s->any_scope : NULL, of_any));
        if (!next) return false;
        drop_state(t, p->state);
        p->state = next;
        return true;
    }
    s = pl_sync_own(t, p);
    pl_vector_clock **k = s ? of_block(s, block) : NULL;
    if (!k) return false;
    pl_vector_clock_merge(k, of_block_scope);
    pl_vector_clock_merge(&s->device_scope, of_device);
    pl_vector_clock_merge(&s->any_scope, of_any);
    return true;
}
