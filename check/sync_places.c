/* sync_places.c - a table of synchronisation locations by address. See sync_places.h. */
#include "check/sync_places.h"

#include <stdlib.h>

static sync_place *place_at(const sync_places *t, uint32_t n)
{
    return &t->chunk[n / PL_SYNC_CHUNK][n % PL_SYNC_CHUNK];
}

/* Returns the slot of an address, or the free slot for it. */
static uint32_t slot_of(const sync_places *t, uint64_t address)
{
    uint32_t n = (uint32_t)(address * 0x9e3779b97f4a7c15ull >> 32) & (t->cap - 1);
    while (t->at[n] && place_at(t, t->at[n] - 1)->address != address) n = (n + 1) & (t->cap - 1);
    return n;
}

sync_place *pl_sync_find(const sync_places *t, uint64_t address)
{
    const uint32_t number = t->cap ? t->at[slot_of(t, address)] : 0;
    return number ? place_at(t, number - 1) : NULL;
}

static bool grow(sync_places *t)
{
    const uint32_t cap = t->cap ? 2 * t->cap : 16;
    uint32_t *at = calloc(cap, sizeof *at);
    if (!at) return false;
    free(t->at);
    t->at = at;
    t->cap = cap;
    for (uint32_t n = 0; n < t->n; n++) at[slot_of(t, place_at(t, n)->address)] = n + 1;
    return true;
}

static bool add_chunk(sync_places *t)
{
    const uint32_t n = t->n / PL_SYNC_CHUNK;
    if (!(n & (n - 1))) { /* capacity 1, 2, 4... */
        sync_place **grown = realloc(t->chunk, (n ? 2 * n : 1) * sizeof *grown);
        if (!grown) return false;
        t->chunk = grown;
    }
    t->chunk[n] = calloc(PL_SYNC_CHUNK, sizeof **t->chunk);
    return t->chunk[n] != NULL;
}

sync_place *pl_sync_make(sync_places *t, uint64_t address)
{
    sync_place *p = pl_sync_find(t, address);
    if (p) return p;
    if (3 * (t->n + 1) > 2 * t->cap && !grow(t)) return NULL;
    if (t->n % PL_SYNC_CHUNK == 0 && !add_chunk(t)) return NULL;
    p = place_at(t, t->n);
    p->address = address & (((uint64_t)1 << PL_SYNC_ADDRESS_BITS) - 1);
    t->at[slot_of(t, address)] = ++t->n;
    return p;
}

static void replace_knowledge(pl_knowledge **to, pl_knowledge *k)
{
    pl_knowledge_drop(*to);
    *to = k;
}

static sync_block *block_at(const sync_state *s, uint32_t n)
{
    return n ? &s->more[n - 1] : (sync_block *)(uintptr_t)&s->first;
}

static void empty_state(sync_state *s)
{
    replace_knowledge(&s->device_scope, NULL);
    replace_knowledge(&s->any_scope, NULL);
    if (s->object) replace_knowledge(&s->object->phase, NULL);
    for (uint32_t n = 0; n < s->blocks; n++) pl_knowledge_drop(block_at(s, n)->knowledge);
    s->blocks = 0;
}

static void drop_state(sync_state *s)
{
    if (!s || --s->refs) return;
    empty_state(s);
    free(s->more);
    free(s->object);
    free(s);
}

void pl_sync_forget(sync_place *p)
{
    p->writer = 0;
    if (p->state && p->state->object) {
        empty_state(p->state);
        return;
    }
    drop_state(p->state);
    p->state = NULL;
}

void pl_sync_free(sync_places *t)
{
    for (uint32_t n = 0; n < t->n; n++) drop_state(place_at(t, n)->state);
    drop_state(t->latest);
    for (uint32_t n = 0; n < t->n; n += PL_SYNC_CHUNK) free(t->chunk[n / PL_SYNC_CHUNK]);
    free(t->chunk);
    free(t->at);
    *t = (sync_places){0};
}

pl_knowledge *pl_sync_known(const sync_place *p, uint32_t block)
{
    for (uint32_t n = 0; p->state && n < p->state->blocks; n++)
        if (block_at(p->state, n)->block == block) return block_at(p->state, n)->knowledge;
    return NULL;
}

/* Returns the address of that pointer. NULL: no memory. */
static pl_knowledge **of_block(sync_state *s, uint32_t block)
{
    for (uint32_t n = 0; n < s->blocks; n++)
        if (block_at(s, n)->block == block) return &block_at(s, n)->knowledge;
    if (s->blocks > s->cap) {
        const uint32_t cap = s->cap ? 2 * s->cap : 1;
        sync_block *grown = realloc(s->more, cap * sizeof *grown);
        if (!grown) return NULL;
        s->more = grown;
        s->cap = cap;
    }
    sync_block *b = block_at(s, s->blocks++);
    *b = (sync_block){.block = block};
    return &b->knowledge;
}

sync_state *pl_sync_own(sync_place *p)
{
    sync_state *from = p->state;
    if (from && from->refs == 1) return from;
    sync_state *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->refs = 1;
    if (from) { /* shared state has one block, and no mbarrier */
        *s = *from;
        s->refs = 1;
        pl_knowledge_keep(s->first.knowledge);
        pl_knowledge_keep(s->device_scope);
        pl_knowledge_keep(s->any_scope);
        drop_state(from);
    }
    return p->state = s;
}

/* Takes the three references. Returns the latest state if it is the same. */
static sync_state *shared_state(sync_places *t, uint32_t block, pl_knowledge *of_block,
                                pl_knowledge *of_device, pl_knowledge *of_any)
{
    sync_state *s = t->latest;
    const bool same = s && s->blocks == 1 && s->first.block == block &&
                      s->first.knowledge == of_block && s->device_scope == of_device &&
                      s->any_scope == of_any;
    if (!same) s = calloc(1, sizeof *s);
    if (same || !s) {
        pl_knowledge_drop(of_block);
        pl_knowledge_drop(of_device);
        pl_knowledge_drop(of_any);
        if (s) s->refs++;
        return s;
    }
    *s = (sync_state){.refs = 2,
                      .blocks = 1,
                      .first = {.block = block, .knowledge = of_block},
                      .device_scope = of_device,
                      .any_scope = of_any};
    drop_state(t->latest);
    return t->latest = s;
}

bool pl_sync_release(sync_places *t, sync_place *p, uint32_t block, pl_knowledge *of_block_scope,
                     pl_knowledge *of_device, pl_knowledge *of_any)
{
    sync_state *s = p->state;
    if (!s || (!s->object && s->blocks == 1 && s->first.block == block)) {
        sync_state *next =
            shared_state(t, block, pl_knowledge_join(s ? s->first.knowledge : NULL, of_block_scope),
                         pl_knowledge_join(s ? s->device_scope : NULL, of_device),
                         pl_knowledge_join(s ? s->any_scope : NULL, of_any));
        if (!next) return false;
        drop_state(s);
        p->state = next;
        return true;
    }
    s = pl_sync_own(p);
    pl_knowledge **k = s ? of_block(s, block) : NULL;
    if (!k) return false;
    pl_knowledge_learn(k, of_block_scope);
    pl_knowledge_learn(&s->device_scope, of_device);
    pl_knowledge_learn(&s->any_scope, of_any);
    return true;
}
