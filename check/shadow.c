/* shadow.c - pages of cells. See shadow.h. */
#include "check/shadow.h"

#include <stdlib.h>
#include <string.h>

enum { LEAF_SHIFT = 12, SMALL_SHIFT = 5, WORDS = PL_PAGE / 4, COLLECT_MIN = 1 << 16 };

struct pl_shadow_leaf {
    uint32_t pages;
    pl_page *page[];
};

static unsigned shift(const pl_shadow *s)
{
    return s->small ? SMALL_SHIFT : LEAF_SHIFT;
}

static uint32_t leaf_pages(const pl_shadow *s)
{
    return 1u << shift(s);
}

static struct pl_shadow_leaf *new_leaf(const pl_shadow *s)
{
    struct pl_shadow_leaf *l = calloc(1, sizeof *l + leaf_pages(s) * sizeof(*l->page));
    if (l) l->pages = leaf_pages(s);
    return l;
}

typedef struct renaming {
    uint32_t *number; /* by context: its new number, 0: unreferenced */
    bool assigning;   /* numbers have been assigned */
} renaming;

static void rename_access(const renaming *r, pl_access_id *t)
{
    if (!*t) return;
    uint32_t *number = &r->number[pl_access_context(*t)];
    if (r->assigning)
        *t = *number << 6 | (*t & 63u);
    else
        *number = 1;
}

static void rename_page(void *ctx, uint64_t address, pl_page *p)
{
    const unsigned n = p->fine ? PL_PAGE : WORDS;
    (void)address;
    for (unsigned k = 0; k < n; k++) {
        rename_access(ctx, &p->cell[k].write);
        for (unsigned j = 0; j < 3; j++) rename_access(ctx, &p->cell[k].other[j]);
    }
}

/* Retains the contexts that cells reference. */
static void collect_contexts(pl_contexts *c, const pl_shadow *s)
{
    renaming r = {.number = calloc(c->n, sizeof *r.number)};
    uint32_t n = 1;
    if (!r.number) return;
    pl_shadow_each(s, rename_page, &r);
    for (uint32_t k = 1; k < c->n; k++) {
        if (!r.number[k]) continue;
        c->at[n] = c->at[k];
        r.number[k] = n++;
    }
    r.assigning = true;
    pl_shadow_each(s, rename_page, &r);
    free(r.number);
    c->n = n;
    c->generation++;
    c->fresh = true;
}

uint32_t pl_context_new(pl_contexts *c, const pl_shadow *s, const pl_context *x)
{
    if (c->n == c->cap && c->cap >= COLLECT_MIN) collect_contexts(c, s);
    if (c->n == c->cap || (c->cap >= COLLECT_MIN && c->n > c->cap / 2 && c->fresh)) {
        const uint32_t cap = c->cap ? 2 * c->cap : 64;
        if (cap > PL_MAX_CONTEXTS) return 0;
        pl_context *p = realloc(c->at, cap * sizeof *p);
        if (!p) return 0;
        c->at = p;
        c->cap = cap;
    }
    c->fresh = false;
    if (!c->n) c->at[c->n++] = (pl_context){0};
    c->at[c->n] = *x;
    return c->n++;
}

void pl_contexts_free(pl_contexts *c)
{
    free(c->at);
    *c = (pl_contexts){0};
}

static pl_page *new_page(bool fine)
{
    pl_page *p = calloc(1, sizeof *p + (fine ? PL_PAGE : WORDS) * sizeof *p->cell);
    if (p) p->fine = fine;
    return p;
}

/* The state of a word applies to each of its bytes. */
static pl_page *refine(const pl_page *coarse)
{
    pl_page *p = new_page(true);
    for (unsigned n = 0; p && n < PL_PAGE; n++) p->cell[n] = coarse->cell[n / 4];
    return p;
}

/* Extends the array to a leaf before or after the existing ones, with as many spare leaves on that
 * side. */
static bool extend(pl_shadow *s, uint64_t leaf)
{
    const uint64_t end = s->first + s->leaves, spare = s->leaves;
    uint64_t first = s->first, end_leaf = end;
    if (!s->leaves) {
        first = leaf;
        end_leaf = leaf + 1;
    } else if (leaf < first) {
        first = leaf > spare ? leaf - spare : 0;
    } else {
        end_leaf = leaf + 1 + spare;
    }
    struct pl_shadow_leaf **l = calloc(end_leaf - first, sizeof(*l));
    if (!l) return false;
    if (s->leaves) memcpy(l + (s->first - first), s->leaf, s->leaves * sizeof(*l));
    free(s->leaf);
    s->leaf = l;
    s->leaves = end_leaf - first;
    s->first = first;
    return true;
}

pl_page *pl_shadow_page(pl_shadow *s, uint64_t address, bool fine)
{
    const uint64_t number = address / PL_PAGE, leaf_number = number >> shift(s);
    if (leaf_number - s->first >= s->leaves && !extend(s, leaf_number)) return NULL;
    const uint64_t leaf = leaf_number - s->first;
    if (!s->leaf[leaf] && !(s->leaf[leaf] = new_leaf(s))) return NULL;
    pl_page **page = &s->leaf[leaf]->page[number & (leaf_pages(s) - 1)];
    if (!*page) return *page = new_page(fine);
    if (fine && !(*page)->fine) {
        pl_page *p = refine(*page);
        if (!p) return NULL;
        free(*page);
        *page = p;
    }
    return *page;
}

void pl_shadow_clear(pl_shadow *s, uint64_t address, uint64_t bytes)
{
    const uint64_t end = address + bytes;
    while (address < end) {
        const uint64_t number = address / PL_PAGE, next = (number + 1) * PL_PAGE,
                       leaf = (number >> shift(s)) - s->first;
        const unsigned here = (unsigned)((end < next ? end : next) - address);
        pl_page *p = leaf < s->leaves && s->leaf[leaf]
                         ? s->leaf[leaf]->page[number & (leaf_pages(s) - 1)]
                         : NULL;
        unsigned n;
        pl_cell *c = p ? pl_page_cells(p, address, here, &n) : NULL;
        if (c) memset(c, 0, n * sizeof *c);
        address = next;
    }
}

void pl_shadow_each(const pl_shadow *s, void (*fn)(void *ctx, uint64_t address, pl_page *p),
                    void *ctx)
{
    for (size_t k = 0; k < s->leaves; k++)
        for (size_t n = 0; s->leaf[k] && n < s->leaf[k]->pages; n++)
            if (s->leaf[k]->page[n])
                fn(ctx, ((s->first + k) * leaf_pages(s) + n) * PL_PAGE, s->leaf[k]->page[n]);
}

void pl_shadow_free(pl_shadow *s)
{
    for (size_t k = 0; k < s->leaves; k++) {
        for (size_t n = 0; s->leaf[k] && n < s->leaf[k]->pages; n++) free(s->leaf[k]->page[n]);
        free(s->leaf[k]);
    }
    free(s->leaf);
    *s = (pl_shadow){.small = s->small};
}
