/* write_history.c - versions of memory locations and sets of them. See write_history.h. */
#include "emu/exec/consistency/write_history.h"

#include <string.h>

void pl_history_init(pl_history *h)
{
    memset(h, 0, sizeof *h);
    h->next = 1;
    for (unsigned k = 0; k < PL_WINDOW; k++) h->bucket[k] = PL_NO_VERSION;
    for (unsigned k = 0; k < PL_GRAINS; k++)
        h->grain[k].next = (uint16_t)(k + 1 < PL_GRAINS ? k + 1 : PL_NO_VERSION);
}

/* ---- views ---- */

/* Drops the versions that have left the window since the set was last used: newer ones occupy their
 * slots. */
static void drop_stale(const pl_history *h, pl_memory_view *v)
{
    if (h->next - v->upto >= PL_WINDOW) {
        memset(v->has, 0, sizeof v->has);
    } else {
        /* Clears the slots of one word at a time. */
        for (uint64_t n = v->upto; n < h->next; n = (n / 64 + 1) * 64) {
            uint64_t left = h->next - n, stale = (left < 64 ? (1ull << left) - 1 : UINT64_MAX)
                                                 << n % 64;
            for (unsigned k = 0; k < PL_KNOWN; k++) v->has[k][n % PL_WINDOW / 64] &= ~stale;
        }
    }
    v->upto = h->next;
}

bool pl_view_has(const pl_history *h, pl_memory_view *v, uint64_t number)
{
    drop_stale(h, v);
    return v->has[PL_SEEN][number % PL_WINDOW / 64] >> number % 64 & 1;
}

void pl_view_add(const pl_history *h, pl_memory_view *v, uint64_t number)
{
    drop_stale(h, v);
    v->has[PL_SEEN][number % PL_WINDOW / 64] |= 1ull << number % 64;
}

void pl_view_join(const pl_history *h, pl_memory_view *to, pl_memory_view *from)
{
    drop_stale(h, to);
    drop_stale(h, from);
    for (unsigned k = 0; k < PL_KNOWN; k++)
        for (unsigned n = 0; n < PL_VIEW_WORDS; n++) to->has[k][n] |= from->has[k][n];
}

void pl_view_fence(const pl_history *h, pl_memory_view *v, pl_known what)
{
    drop_stale(h, v);
    memcpy(v->has[what], v->has[PL_SEEN], sizeof v->has[what]);
}

void pl_view_map(const pl_history *h, pl_memory_view *v, const uint8_t *at, size_t bytes)
{
    drop_stale(h, v);
    for (unsigned n = 0; n < PL_WINDOW; n++) {
        const pl_version *x = &h->version[n];
        uint64_t bit = 1ull << n % 64;
        if (x->number && v->has[PL_SEEN][n / 64] & v->has[PL_OFFERED][n / 64] & bit &&
            (uintptr_t)h->grain[x->grain].at - (uintptr_t)at < bytes)
            v->has[PL_MAPPED][n / 64] |= bit;
    }
}

pl_memory_view pl_view_of(const pl_history *h, pl_memory_view *v, pl_known what)
{
    drop_stale(h, v);
    pl_memory_view f = {.upto = v->upto};
    memcpy(f.has[PL_SEEN], v->has[what], sizeof v->has[what]);
    return f;
}

/* ---- grains ---- */

static unsigned bucket_of(const uint8_t *at)
{
    uint64_t x = (uint64_t)(uintptr_t)at / PL_GRAIN * 0x9e3779b97f4a7c15ull;
    return (unsigned)(x >> 40) % PL_WINDOW;
}

pl_location *pl_grain_find(pl_history *h, const uint8_t *at)
{
    for (uint16_t k = h->bucket[bucket_of(at)]; k != PL_NO_VERSION; k = h->grain[k].next)
        if (h->grain[k].at == at) return &h->grain[k];
    return NULL;
}

/* Frees a grain that is not held and has no versions. */
static void free_if_unused(pl_history *h, pl_location *g)
{
    uint16_t self = (uint16_t)(g - h->grain), *link = &h->bucket[bucket_of(g->at)];
    if (g->n || g->pinned) return;
    while (*link != self) link = &h->grain[*link].next;
    *link = g->next;
    g->at = NULL;
    g->next = h->unused;
    h->unused = self;
}

/* Overwrites `bytes` with those bytes of a version. */
static void apply_version(uint8_t bytes[PL_GRAIN], const pl_version *x, unsigned mask)
{
    for (unsigned b = 0; b < PL_GRAIN; b++)
        if (mask >> b & 1) bytes[b] = x->bytes[b];
}

/* The version at position p becomes visible to all threads, together with the versions that it
 * covers. Other versions below it stay: a thread that acquires from one of those, such as a flag in
 * the same grain, must still find the writes that were released with it. */
static void commit_version(pl_history *h, pl_location *g, unsigned p)
{
    unsigned seen = 0; /* bytes supplied by versions at higher positions */
    for (unsigned k = p + 1; k-- > 0;) {
        pl_version *x = &h->version[g->version[k]];
        if (k < p && !(x->mask & seen)) continue;
        apply_version(g->base, x, x->mask & ~seen);
        seen |= x->mask;
        x->number = 0;
        g->n--;
        memmove(g->version + k, g->version + k + 1, (g->n - k) * sizeof *g->version);
    }
}

/* Removes all versions up to this number. Versions are removed oldest first: otherwise a thread
 * that acquires could miss the writes released with an older one. */
static void retire(pl_history *h, uint64_t number)
{
    for (uint64_t n = h->next > PL_WINDOW ? h->next - PL_WINDOW : 1; n <= number; n++) {
        const uint16_t slot = (uint16_t)(n % PL_WINDOW);
        if (h->version[slot].number != n) continue;
        pl_location *g = &h->grain[h->version[slot].grain];
        unsigned p = 0;
        while (g->version[p] != slot) p++;
        commit_version(h, g, p);
        free_if_unused(h, g);
    }
}

pl_location *pl_grain_pin(pl_history *h, uint8_t *at)
{
    pl_location *g = pl_grain_find(h, at);
    if (g) { /* none of its versions may be removed before the instruction ends */
        uint64_t last = g->n == PL_GRAIN_VERSIONS ? h->version[g->version[0]].number : 0;
        for (unsigned k = 0; k < g->n; k++) {
            const uint64_t number = h->version[g->version[k]].number;
            if (h->next - number >= PL_WINDOW - PL_MAX_PINNED && number > last) last = number;
        }
        g->pinned = true;
        retire(h, last);
        return g;
    }
    g = &h->grain[h->unused];
    h->unused = g->next;
    unsigned b = bucket_of(at);
    g->at = at;
    g->n = 0;
    g->next = h->bucket[b];
    h->bucket[b] = (uint16_t)(g - h->grain);
    memcpy(g->base, at, PL_GRAIN);
    g->pinned = true;
    return g;
}

void pl_grain_unpin(pl_history *h, pl_location *g)
{
    g->pinned = false;
    free_if_unused(h, g);
}

unsigned pl_grain_floor(const pl_history *h, const pl_location *g, pl_memory_view *v, uint16_t mask)
{
    for (unsigned k = g->n; k > 0; k--) {
        const pl_version *x = &h->version[g->version[k - 1]];
        if ((x->mask & mask) && pl_view_has(h, v, x->number)) return k;
    }
    return 0;
}

void pl_grain_bytes(const pl_history *h, const pl_location *g, unsigned end, uint8_t out[PL_GRAIN])
{
    memmove(out, g->base, PL_GRAIN);
    for (unsigned k = 0; k < end; k++) {
        const pl_version *x = &h->version[g->version[k]];
        apply_version(out, x, x->mask);
    }
}

pl_version *pl_grain_insert(pl_history *h, pl_location *g, unsigned position)
{
    uint16_t slot = (uint16_t)(h->next % PL_WINDOW);
    pl_version *x = &h->version[slot];
    /* It leaves the window. */
    if (x->number) retire(h, x->number);
    memmove(g->version + position + 1, g->version + position,
            (g->n - position) * sizeof *g->version);
    g->version[position] = slot;
    g->n++;
    x->number = h->next++;
    x->grain = (uint16_t)(g - h->grain);
    x->nreleases = 0;
    return x;
}

/* Removes all versions of a grain: only its newest bytes are visible from now on. */
static void discard_versions(pl_history *h, pl_location *g)
{
    while (g->n) commit_version(h, g, g->n - 1u);
    free_if_unused(h, g);
}

void pl_history_discard(pl_history *h, const uint8_t *from, size_t bytes)
{
    const uint8_t *first = from ? from - (uintptr_t)from % PL_GRAIN : NULL;
    size_t size = (uintptr_t)from % PL_GRAIN + bytes;
    if (from && size <= 32 * PL_GRAIN) {
        for (size_t k = 0; k < size; k += PL_GRAIN) {
            pl_location *g = pl_grain_find(h, first + k);
            if (g) discard_versions(h, g);
        }
        return;
    }
    for (unsigned k = 0; k < PL_GRAINS; k++)
        if (h->grain[k].at && (!from || (uintptr_t)h->grain[k].at - (uintptr_t)first < size))
            discard_versions(h, &h->grain[k]);
}
