/* sort.c - bottom-up merge sort: short runs are sorted by insertion, then pairs of runs are merged
 * into runs of twice the length. */
#include "base/sort.h"

#include <stdbool.h>
#include <string.h>

enum { RUN = 12 };

static void insertion_sort(pl_key *at, size_t n)
{
    for (size_t k = 1; k < n; k++) {
        pl_key x = at[k];
        size_t to = k;
        for (; to > 0 && at[to - 1].key > x.key; to--) at[to] = at[to - 1];
        at[to] = x;
    }
}

static void merge(const pl_key *a, const pl_key *middle, const pl_key *end, pl_key *to)
{
    const pl_key *b = middle;
    while (a < middle && b < end) *to++ = a->key <= b->key ? *a++ : *b++;
    while (a < middle) *to++ = *a++;
    while (b < end) *to++ = *b++;
}

void pl_sort_keys(pl_key *at, size_t n, pl_key *scratch)
{
    bool ordered = true;
    for (size_t k = 1; k < n && ordered; k++) ordered = at[k - 1].key <= at[k].key;
    if (ordered) return;
    for (size_t k = 0; k < n; k += RUN) insertion_sort(at + k, n - k < RUN ? n - k : RUN);
    pl_key *from = at, *to = scratch;
    for (size_t run = RUN; run < n; run *= 2) {
        for (size_t k = 0; k < n; k += 2 * run) {
            size_t middle = k + run < n ? k + run : n, end = k + 2 * run < n ? k + 2 * run : n;
            merge(from + k, from + middle, from + end, to + k);
        }
        pl_key *last = from;
        from = to;
        to = last;
    }
    if (from != at) memcpy(at, from, n * sizeof *at);
}
