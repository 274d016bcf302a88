/* map.c - open addressing with linear probing; FNV-1a hashes; grows at three quarters full.
 *
 * Hashes are not stored: keys are short words, and a probe compares lengths first. */
#include "base/map.h"
#include <assert.h>
#include <string.h>

static uint64_t fnv1a(const char *key, size_t len)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < len; i++) h = (h ^ (unsigned char)key[i]) * 0x100000001b3u;
    return h;
}

/* The slot of the key, or the free slot for it. */
static struct pl_map_slot *find(struct pl_map_slot *slot, size_t cap, const char *key, size_t len)
{
    size_t i = (size_t)fnv1a(key, len) & (cap - 1);
    while (slot[i].key && (slot[i].len != len || memcmp(slot[i].key, key, len) != 0))
        i = (i + 1) & (cap - 1);
    return &slot[i];
}

static void grow(pl_map *m)
{
    size_t cap = m->cap ? m->cap * 2 : 16;
    struct pl_map_slot *bigger = pl_arena_array(m->arena, struct pl_map_slot, cap);
    if (!pl_arena_ok(m->arena)) return;
    for (size_t i = 0; i < m->cap; i++) {
        if (m->slot[i].key) *find(bigger, cap, m->slot[i].key, m->slot[i].len) = m->slot[i];
    }
    m->slot = bigger;
    m->cap = cap;
}

void pl_map_init(pl_map *m, pl_arena *arena)
{
    *m = (pl_map){.arena = arena};
}

void *pl_map_get(const pl_map *m, const char *key, size_t len)
{
    return m->cap ? find(m->slot, m->cap, key, len)->value : NULL;
}

void *pl_map_put(pl_map *m, const char *key, size_t len, void *value)
{
    assert(key && value && "a map holds no NULL");
    if ((m->n + 1) * 4 > m->cap * 3) grow(m);
    if (m->n + 1 >= m->cap) return NULL; /* out of memory: pl_arena_ok is false */
    struct pl_map_slot *s = find(m->slot, m->cap, key, len);
    void *before = s->value;
    if (!s->key) {
        s->key = key;
        s->len = len;
        m->n++;
    }
    s->value = value;
    return before;
}
