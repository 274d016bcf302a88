/* table.c - a hash table from addresses to pointers, with linear probing; growing arrays. */
#include "cudart/state.h"
#include <stdlib.h>

static const char tombstone; /* value of a slot whose key was removed */

static size_t home_slot(const cuda_table *t, uintptr_t key)
{
    return (size_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 20) & (t->cap - 1);
}

static struct cuda_slot *slot_of(const cuda_table *t, uintptr_t key)
{
    if (!t->cap) return NULL;
    for (size_t k = home_slot(t, key);; k = (k + 1) & (t->cap - 1)) {
        struct cuda_slot *s = &t->slot[k];
        if (s->key == key || s->key == 0) return s;
    }
}

void *cuda_table_get(const cuda_table *t, const void *key)
{
    const struct cuda_slot *s = slot_of(t, (uintptr_t)key);
    return s && s->key && s->value != &tombstone ? s->value : NULL;
}

static bool grow(cuda_table *t)
{
    cuda_table grown = {.cap = t->cap ? 2 * t->cap : 64};
    grown.slot = calloc(grown.cap, sizeof *grown.slot);
    if (!grown.slot) return false;
    for (size_t k = 0; k < t->cap; k++) {
        const struct cuda_slot *s = &t->slot[k];
        if (!s->key || s->value == &tombstone) continue;
        *slot_of(&grown, s->key) = *s;
        grown.n++;
    }
    free(t->slot);
    *t = grown;
    return true;
}

bool cuda_table_put(cuda_table *t, const void *key, void *value)
{
    if (2 * (t->n + 1) > t->cap && !grow(t)) return false;
    struct cuda_slot *s = slot_of(t, (uintptr_t)key);
    if (!s->key) t->n++;
    *s = (struct cuda_slot){(uintptr_t)key, value};
    return true;
}

void cuda_table_remove(cuda_table *t, const void *key)
{
    struct cuda_slot *s = slot_of(t, (uintptr_t)key);
    if (s && s->key) s->value = (void *)(uintptr_t)&tombstone;
}

void *cuda_table_next(const cuda_table *t, size_t *at)
{
    while (*at < t->cap) {
        const struct cuda_slot *s = &t->slot[(*at)++];
        if (s->key && s->value != &tombstone) return s->value;
    }
    return NULL;
}

void *cuda_array_room(void *array, size_t n, size_t *cap, size_t size)
{
    if (n < *cap) return array;
    const size_t more = *cap ? 2 * *cap : 8;
    void *grown = realloc(array, more * size);
    if (grown) *cap = more;
    return grown;
}
