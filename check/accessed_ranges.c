/* accessed_ranges.c - records the accesses of a launch to global memory as byte ranges. The host
 * compares them with those of concurrent operations. */
#include <stdlib.h>

#include "base/array.h"
#include "check/internal.h"

enum { MAX_PRECISE = 1 << 16 }; /* ranges beyond this number merge different instructions */

void pl_check_record_accesses(pl_check *k, bool dependent)
{
    k->accessed.requested = true;
    k->early.requested = dependent;
}

static bool grow(struct accessed_ranges *r)
{
    return pl_array_grow(&r->at, &r->cap, sizeof *r->at);
}

static void add_range(struct accessed_ranges *r, uint64_t address, uint64_t bytes, unsigned kinds,
                      uint32_t pc)
{
    pl_accessed_range *last = r->n ? &r->at[r->n - 1] : NULL;
    if (last && last->address + last->bytes == address && last->kinds == kinds &&
        (last->pc == pc || r->n >= MAX_PRECISE)) {
        last->bytes += bytes;
        return;
    }
    if (r->n == r->cap && !grow(r)) return;
    r->at[r->n++] =
        (pl_accessed_range){.address = address, .bytes = bytes, .kinds = kinds, .pc = pc};
}

/* ---- accesses before griddepcontrol.wait ---- */

static int by_address(const void *a, const void *b)
{
    const pl_accessed_range *x = a, *y = b;
    return x->address != y->address ? (x->address > y->address) - (x->address < y->address)
                                    : (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

/* Sorts the ranges, and removes those that others of the same kind include. */
static void sort_ranges(struct accessed_ranges *r)
{
    size_t n = 0;
    if (r->n) qsort(r->at, r->n, sizeof *r->at, by_address);
    for (size_t k = 0; k < r->n; k++) {
        pl_accessed_range *last = n ? &r->at[n - 1] : NULL;
        const pl_accessed_range *x = &r->at[k];
        if (!last || last->kinds != x->kinds || x->address > last->address + last->bytes)
            r->at[n++] = *x;
        else if (x->address + x->bytes > last->address + last->bytes)
            last->bytes = x->address + x->bytes - last->address;
    }
    r->n = n;
}

void pl_accessed_early(pl_check *k, const pl_context *x, uint64_t address, unsigned bytes)
{
    struct accessed_ranges *r = &k->early;
    if (r->n == r->cap && r->n >= MAX_PRECISE) {
        sort_ranges(r);
        if (r->n > r->cap / 2 && !grow(r)) return;
    }
    add_range(r, k->base + address, bytes,
              (x->flags & PL_ACCESS_WRITES ? PL_ACCESSED_WRITTEN : PL_ACCESSED_READ) |
                  (x->flags & PL_ACCESS_STRONG ? PL_ACCESSED_STRONG : 0),
              x->pc);
}

pl_check_dependents pl_check_launched_dependents(const pl_check *k)
{
    return k->launched_early        ? PL_DEPENDENTS_OVERLAP_EARLIER
           : k->launched_dependents ? PL_DEPENDENTS_OVERLAP
                                    : PL_DEPENDENTS_WAIT;
}

/* ---- all accesses ---- */

/* Returns the accesses in a cell: PL_ACCESSED_*, 0: none. */
static unsigned read_cell(const pl_check *k, const pl_cell *c, uint32_t *pc)
{
    const pl_access_id t[] = {c->write, c->other[0], c->other[1], c->other[2]};
    unsigned kinds = 0;
    for (unsigned j = 0; j < 4; j++) {
        const pl_context *x = &k->contexts.at[pl_access_context(t[j])];
        if (!t[j]) continue;
        if (!kinds) *pc = x->pc;
        kinds |= x->flags & PL_ACCESS_WRITES ? PL_ACCESSED_WRITTEN : PL_ACCESSED_READ;
        if (x->flags & PL_ACCESS_STRONG) kinds |= PL_ACCESSED_STRONG;
    }
    return kinds;
}

static bool same_accesses(const pl_cell *a, const pl_cell *b)
{
    return pl_access_context(a->write) == pl_access_context(b->write) &&
           pl_access_context(a->other[0]) == pl_access_context(b->other[0]) &&
           pl_access_context(a->other[1]) == pl_access_context(b->other[1]) &&
           pl_access_context(a->other[2]) == pl_access_context(b->other[2]);
}

static void add_page(void *ctx, uint64_t address, pl_page *p)
{
    pl_check *k = ctx;
    const uint32_t cell_bytes = p->fine ? 1 : 4, ncells = PL_PAGE / cell_bytes;
    for (uint32_t n = 0, from = 0; n < ncells; from = n) {
        uint32_t pc = 0;
        const unsigned kinds = read_cell(k, &p->cell[from], &pc);
        do n++;
        while (n < ncells && same_accesses(&p->cell[n], &p->cell[from]));
        if (kinds)
            add_range(&k->accessed, k->base + address + from * cell_bytes, (n - from) * cell_bytes,
                      kinds, pc);
    }
}

void pl_accessed_collect(pl_check *k)
{
    if (k->accessed.requested) pl_shadow_each(&k->shadow, add_page, k);
    if (k->early.requested) sort_ranges(&k->early);
    k->accessed.requested = k->early.requested = false;
}

pl_accessed_range *pl_check_accessed_ranges(pl_check *k, bool early, size_t *n)
{
    struct accessed_ranges *r = early ? &k->early : &k->accessed;
    pl_accessed_range *at = r->at;
    *n = r->n;
    r->at = NULL;
    r->n = r->cap = 0;
    return at;
}
