/* touched.c - the accesses of a launch to global memory, as byte ranges: for the host, which knows
 * about concurrent operations. */
#include <stdlib.h>

#include "check/internal.h"

enum { PRECISE = 1 << 16 }; /* maximum ranges that record an instruction each */

void pl_check_keep(pl_check *k)
{
    k->touched.keep = true;
}

static void add(pl_check *k, uint64_t address, uint32_t bytes, unsigned how, uint32_t pc)
{
    pl_touched *last = k->touched.n ? &k->touched.at[k->touched.n - 1] : NULL;
    if (last && last->address + last->bytes == address && last->how == how &&
        (last->pc == pc || k->touched.n >= PRECISE)) {
        last->bytes += bytes;
        return;
    }
    if (k->touched.n == k->touched.cap) {
        const size_t cap = k->touched.cap ? 2 * k->touched.cap : 64;
        pl_touched *more = realloc(k->touched.at, cap * sizeof *more);
        if (!more) return;
        k->touched.at = more;
        k->touched.cap = cap;
    }
    k->touched.at[k->touched.n++] =
        (pl_touched){.address = address, .bytes = bytes, .how = how, .pc = pc};
}

/* Returns the accesses in a cell: PL_TOUCHED_*, 0: none. */
static unsigned read_cell(const pl_check *k, const pl_cell *c, uint32_t *pc)
{
    const pl_touch t[] = {c->write, c->other[0], c->other[1], c->other[2]};
    unsigned how = 0;
    for (unsigned j = 0; j < 4; j++) {
        const pl_context *x = &k->contexts.at[pl_touch_context(t[j])];
        if (!t[j]) continue;
        if (!how) *pc = x->pc;
        how |= x->flags & PL_ACCESS_WRITES ? PL_TOUCHED_WRITTEN : PL_TOUCHED_READ;
        if (x->flags & PL_ACCESS_STRONG) how |= PL_TOUCHED_STRONG;
    }
    return how;
}

static bool alike(const pl_cell *a, const pl_cell *b)
{
    return pl_touch_context(a->write) == pl_touch_context(b->write) &&
           pl_touch_context(a->other[0]) == pl_touch_context(b->other[0]) &&
           pl_touch_context(a->other[1]) == pl_touch_context(b->other[1]) &&
           pl_touch_context(a->other[2]) == pl_touch_context(b->other[2]);
}

static void add_page(void *ctx, uint64_t address, pl_page *p)
{
    pl_check *k = ctx;
    const uint32_t each = p->fine ? 1 : 4, all = PL_PAGE / each;
    for (uint32_t n = 0, from = 0; n < all; from = n) {
        uint32_t pc = 0;
        const unsigned how = read_cell(k, &p->cell[from], &pc);
        do n++;
        while (n < all && alike(&p->cell[n], &p->cell[from]));
        if (how) add(k, k->base + address + from * each, (n - from) * each, how, pc);
    }
}

void pl_touched_take(pl_check *k)
{
    if (!k->touched.keep) return;
    k->touched.keep = false;
    pl_shadow_each(&k->shadow, add_page, k);
}

pl_touched *pl_check_touched(pl_check *k, size_t *n)
{
    pl_touched *at = k->touched.at;
    *n = k->touched.n;
    k->touched.at = NULL;
    k->touched.n = k->touched.cap = 0;
    return at;
}
