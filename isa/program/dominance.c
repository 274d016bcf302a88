/* dominance.c - see dominance.h. */
#include "isa/program/dominance.h"

#include <stdbool.h>

static uint32_t intersect(const pl_dominance *d, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (d->order[a] < d->order[b]) a = d->idom[a];
        while (d->order[b] < d->order[a]) b = d->idom[b];
    }
    return a;
}

void pl_dominance_solve(const pl_dominance *d)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t j = d->n; j-- > 0;) {
            const uint32_t b = d->postorder[j];
            uint32_t best = UINT32_MAX, from;
            for (uint32_t k = 0; (from = d->edge(d->graph, b, k)) != UINT32_MAX; k++)
                if (d->idom[from] != UINT32_MAX)
                    best = best == UINT32_MAX ? from : intersect(d, from, best);
            changed |= best != d->idom[b];
            d->idom[b] = best;
        }
    }
}
