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
    p->address = address;
    t->at[slot_of(t, address)] = ++t->n;
    return p;
}

static void release_knowledge(pl_knowledge **k)
{
    pl_knowledge_drop(*k);
    *k = NULL;
}

static sync_block *block_at(const sync_place *p, uint32_t n)
{
    return n ? &p->more[n - 1] : (sync_block *)(uintptr_t)&p->first;
}

void pl_sync_forget(sync_place *p)
{
    release_knowledge(&p->device_scope);
    release_knowledge(&p->any_scope);
    if (p->object) release_knowledge(&p->object->phase);
    p->writer = 0;
    for (uint32_t n = 0; n < p->blocks; n++) pl_knowledge_drop(block_at(p, n)->knowledge);
    p->blocks = 0;
}

void pl_sync_free(sync_places *t)
{
    for (uint32_t n = 0; n < t->n; n++) {
        sync_place *p = place_at(t, n);
        pl_sync_forget(p);
        free(p->more);
        free(p->object);
    }
    for (uint32_t n = 0; n < t->n; n += PL_SYNC_CHUNK) free(t->chunk[n / PL_SYNC_CHUNK]);
    free(t->chunk);
    free(t->at);
    *t = (sync_places){0};
}

pl_knowledge *pl_sync_known(const sync_place *p, uint32_t block)
{
    for (uint32_t n = 0; n < p->blocks; n++)
        if (block_at(p, n)->block == block) return block_at(p, n)->knowledge;
    return NULL;
}

pl_knowledge **pl_sync_of_block(sync_place *p, uint32_t block)
{
    for (uint32_t n = 0; n < p->blocks; n++)
        if (block_at(p, n)->block == block) return &block_at(p, n)->knowledge;
    if (p->blocks > p->cap) {
        const uint32_t cap = p->cap ? 2 * p->cap : 1;
        sync_block *grown = realloc(p->more, cap * sizeof *grown);
        if (!grown) return NULL;
        p->more = grown;
        p->cap = cap;
    }
    sync_block *b = block_at(p, p->blocks++);
    *b = (sync_block){.block = block};
    return &b->knowledge;
}
