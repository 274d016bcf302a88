/* touched.c - records the accesses of a launch to global memory as byte ranges. The host compares
 * them with those of concurrent operations. */
#include <stdlib.h>

#include "check/internal.h"

enum { MAX_PRECISE = 1 << 16 }; /* ranges beyond this number merge different instructions */

void pl_check_record_accesses(pl_check *k)
{
    k->accessed.requested = true;
}

static void add_range(pl_check *k, uint64_t address, uint32_t bytes, unsigned kinds, uint32_t pc)
{
    pl_accessed_range *last = k->accessed.n ? &k->accessed.at[k->accessed.n - 1] : NULL;
    if (last && last->address + last->bytes == address && last->kinds == kinds &&
        (last->pc == pc || k->accessed.n >= MAX_PRECISE)) {
        last->bytes += bytes;
        return;
    }
    if (k->accessed.n == k->accessed.cap) {
        const size_t cap = k->accessed.cap ? 2 * k->accessed.cap : 64;
        pl_accessed_range *grown = realloc(k->accessed.at, cap * sizeof *grown);
        if (!grown) return;
        k->accessed.at = grown;
        k->accessed.cap = cap;
    }
    k->accessed.at[k->accessed.n++] =
        (pl_accessed_range){.address = address, .bytes = bytes, .kinds = kinds, .pc = pc};
}

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
            add_range(k, k->base + address + from * cell_bytes, (n - from) * cell_bytes, kinds, pc);
    }
}

void pl_accessed_collect(pl_check *k)
{
    if (!k->accessed.requested) return;
    k->accessed.requested = false;
    pl_shadow_each(&k->shadow, add_page, k);
}

pl_accessed_range *pl_check_accessed_ranges(pl_check *k, size_t *n)
{
    pl_accessed_range *at = k->accessed.at;
    *n = k->accessed.n;
    k->accessed.at = NULL;
    k->accessed.n = k->accessed.cap = 0;
    return at;
}
