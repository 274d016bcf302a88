/* migrate.c - where the pages of managed memory are.
 *
 * All begin on the host: those that it has written, and those that nobody has. A kernel brings the
 * allocations that its parameters point into to its device, as a whole; so do copies and sets with
 * what they touch. Prefetches move pages to a device or to the host. That the host accesses pages
 * of a device is not seen; they stay there. */
#define _DEFAULT_SOURCE /* mincore */
#include "cudart/state.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, CHUNK = 1024 /* pages that are looked at in one go */ };

struct cuda_places {
    uint64_t pages;
    int whole;    /* a device that has all pages, and one; 0: there may be none */
    uint8_t at[]; /* a device and one; 0: the host, or nobody has written it */
};

static bool any; /* there has been managed memory */

struct cuda_places *cuda_places_new(uint64_t bytes)
{
    const uint64_t pages = (bytes + PAGE - 1) / PAGE;
    struct cuda_places *p = calloc(1, sizeof *p + pages);
    if (p) p->pages = pages;
    any = true;
    return p;
}

/* Pages from first on that are elsewhere move there. */
static void move(const cuda_alloc *a, uint64_t first, uint64_t n, uint8_t to, cuda_moved *m)
{
    struct cuda_places *p = a->places;
    unsigned char present[CHUNK];
    memset(present, 0, sizeof present);
    (void)mincore(a->bytes + first * PAGE, n * PAGE, present);
    for (uint64_t k = 0; k < n; k++) {
        uint8_t *at = &p->at[first + k];
        if (*at == to) continue;
        if (*at || present[k] & 1)
            m->written += PAGE;
        else
            m->fresh += PAGE;
        *at = to;
    }
}

static void move_all(const cuda_alloc *a, uint64_t first, uint64_t n, int device, cuda_moved *m)
{
    struct cuda_places *p = a->places;
    const int to = device < 0 ? 0 : device + 1;
    if (to && p->whole == to) return;
    for (uint64_t k = 0; k < n; k += CHUNK)
        move(a, first + k, n - k < CHUNK ? n - k : CHUNK, (uint8_t)to, m);
    p->whole = n == p->pages ? to : 0;
}

cuda_moved cuda_move_pages(const void *from, uint64_t bytes, int device)
{
    cuda_moved m = {0, 0};
    const cuda_alloc *a = any && bytes ? cuda_alloc_find((uintptr_t)from) : NULL;
    if (!a || !a->places) return m;
    const uint64_t at = (uintptr_t)from - a->address, left = a->size - at, first = at / PAGE,
                   end = at + (bytes < left ? bytes : left);
    move_all(a, first, (end + PAGE - 1) / PAGE - first, device, &m);
    return m;
}

cuda_moved cuda_move_parameters(const void *params, uint64_t bytes, int device)
{
    cuda_moved m = {0, 0};
    for (uint64_t k = 0; any && k + sizeof(uint64_t) <= bytes; k += sizeof(uint64_t)) {
        uint64_t value;
        memcpy(&value, (const uint8_t *)params + k, sizeof value);
        const cuda_alloc *a = value ? cuda_alloc_find(value) : NULL;
        if (a && a->places) move_all(a, 0, a->places->pages, device, &m);
    }
    return m;
}
