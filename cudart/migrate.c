/* migrate.c - location of the pages of managed memory.
 *
 * All pages are initially on the host, whether it has written them or they are uninitialised. A
 * kernel migrates the whole allocations that its parameters point into to its device. Copies and
 * sets migrate the pages that they access. Prefetches migrate pages to a device or to the host.
 *
 * Writes of the host to pages on a device are detected by checksums. These are recorded when work
 * of the device ends, and compared before the device gets work again. Pages that have changed are
 * on the host, together with the 64 KiB around them (H200). Reads by the host are not detected;
 * such pages stay on the device. If more than 256 KiB are on devices, a checksum covers some bytes
 * of its page. If more than 8 MiB are on devices, only some pages have one. A host that writes all
 * bytes is detected nevertheless. */
#define _DEFAULT_SOURCE /* mincore */
#include "cudart/state.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    PAGE = 4096,
    CHUNK = 1024,    /* pages per call of mincore */
    MOST_WHOLE = 64, /* up to this many pages on devices, checksums cover whole pages */
    MOST = 2048,     /* maximum checksums of all allocations */
    PART = 64,       /* bytes of a page that its checksum covers otherwise */
    TOGETHER = 16,   /* pages that migrate to the host when it writes one of them */
    BLOCK = 512      /* pages of a 2 MiB block: a device migrates pages of one block at a time */
};

struct cuda_places {
    uint64_t pages;
    uint64_t on_devices; /* pages */
    int whole;           /* 1 + the device that has all pages; 0: there may be none */
    bool whole_sums;     /* checksums cover whole pages */
    uint64_t step;       /* one in so many pages has a checksum */
    uint64_t *sum;       /* by page, for pages on a device; 0: the page was not resident; owned */
    uint8_t at[];        /* by page: 1 + its device; 0: on the host, or uninitialised */
};

static bool any;            /* managed memory has been allocated */
static uint64_t on_devices; /* pages of all allocations */

struct cuda_places *cuda_places_new(uint64_t bytes)
{
    const uint64_t pages = (bytes + PAGE - 1) / PAGE;
    struct cuda_places *p = calloc(1, sizeof *p + pages);
    if (!p) return NULL;
    p->pages = pages;
    p->step = 1;
    p->sum = calloc(pages ? pages : 1, sizeof *p->sum);
    any = true;
    if (p->sum) return p;
    free(p);
    return NULL;
}

void cuda_places_free(struct cuda_places *p)
{
    if (!p) return;
    on_devices -= p->on_devices;
    free(p->sum);
    free(p);
}

static void put(struct cuda_places *p, uint64_t page, uint8_t to)
{
    const uint64_t more = to != 0, less = p->at[page] != 0;
    p->on_devices += more - less;
    on_devices += more - less;
    p->at[page] = to;
}

/* Migrates n pages from `first` on, except for those that are already at `to`. */
static void move(const cuda_alloc *a, uint64_t first, uint64_t n, uint8_t to, cuda_moved *m)
{
    struct cuda_places *p = a->places;
    unsigned char present[CHUNK];
    memset(present, 0, sizeof present);
    (void)mincore(a->bytes + first * PAGE, n * PAGE, present);
    uint64_t block = UINT64_MAX;
    for (uint64_t k = 0; k < n; k++) {
        const uint8_t at = p->at[first + k];
        if (at == to) continue;
        if (at || present[k] & 1) {
            m->written += PAGE;
            m->blocks += (first + k) / BLOCK != block;
            block = (first + k) / BLOCK;
        } else {
            m->fresh += PAGE;
        }
        put(p, first + k, to);
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
    cuda_moved m = {0, 0, 0};
    const cuda_alloc *a = any && bytes ? cuda_alloc_find((uintptr_t)from) : NULL;
    if (!a || !a->places) return m;
    const uint64_t at = (uintptr_t)from - a->address, left = a->size - at, first = at / PAGE,
                   end = at + (bytes < left ? bytes : left);
    move_all(a, first, (end + PAGE - 1) / PAGE - first, device, &m);
    return m;
}

cuda_moved cuda_move_parameters(const void *params, uint64_t bytes, int device)
{
    cuda_moved m = {0, 0, 0};
    for (uint64_t k = 0; any && k + sizeof(uint64_t) <= bytes; k += sizeof(uint64_t)) {
        uint64_t value;
        memcpy(&value, (const uint8_t *)params + k, sizeof value);
        const cuda_alloc *a = value ? cuda_alloc_find(value) : NULL;
        if (a && a->places) move_all(a, 0, a->places->pages, device, &m);
    }
    return m;
}

/* ---------------------------------------------------------------- writes of the host */

static uint64_t sum_of(const uint8_t *bytes, size_t n)
{
    const uint64_t by = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t a = 1, b = 2, c = 3, d = 4, w[4];
    for (size_t k = 0; k < n; k += sizeof w) {
        memcpy(w, bytes + k, sizeof w);
        a = (a ^ w[0]) * by;
        b = (b ^ w[1]) * by;
        c = (c ^ w[2]) * by;
        d = (d ^ w[3]) * by;
    }
    a ^= b >> 32 ^ b << 16 ^ c >> 16 ^ c << 32 ^ d;
    return a ? a : 1;
}

/* Returns the checksum of the whole page, or of a part whose offset depends on the page number. */
static uint64_t page_sum(const cuda_alloc *a, uint64_t page, bool whole)
{
    enum { STEP = 7 }; /* offset between consecutive pages, in parts */
    const uint8_t *bytes = a->bytes + page * PAGE;
    return whole ? sum_of(bytes, PAGE) : sum_of(bytes + page * STEP % (PAGE / PART) * PART, PART);
}

/* True if the page is resident. An uninitialised page is not, and does not become resident here. */
static bool has_bytes(const cuda_alloc *a, uint64_t page)
{
    unsigned char present = 0;
    return a->places->sum[page] ||
           (mincore(a->bytes + page * PAGE, PAGE, &present) == 0 && present & 1);
}

/* Calls `see` for the pages of an allocation that are on a device and have a checksum. */
static void each_sum(const cuda_alloc *a,
                     void (*see)(struct cuda_places *p, uint64_t page, uint64_t sum))
{
    struct cuda_places *p = a->places;
    for (uint64_t page = 0; p->on_devices && page < p->pages; page += p->step)
        if (p->at[page]) see(p, page, has_bytes(a, page) ? page_sum(a, page, p->whole_sums) : 0);
}

static void remember(struct cuda_places *p, uint64_t page, uint64_t sum)
{
    p->sum[page] = sum;
}

static void compare(struct cuda_places *p, uint64_t page, uint64_t sum)
{
    if (sum == p->sum[page]) return;
    const uint64_t first = page / TOGETHER * TOGETHER, n = p->step > TOGETHER ? p->step : TOGETHER;
    for (uint64_t k = first; k < p->pages && k < first + n; k++) put(p, k, 0);
    p->whole = 0;
}

static void look_at(const cuda_alloc *a)
{
    if (a && a->places) each_sum(a, compare);
}

static void leave(const cuda_alloc *a)
{
    if (!a || !a->places) return;
    a->places->whole_sums = on_devices <= MOST_WHOLE;
    a->places->step = on_devices / MOST + 1;
    each_sum(a, remember);
}

static const cuda_alloc *managed_at(const void *p)
{
    const cuda_alloc *a = on_devices ? cuda_alloc_find((uintptr_t)p) : NULL;
    return a && a->places ? a : NULL;
}

void cuda_device_begins(const void *p)
{
    if (p) look_at(managed_at(p));
    for (size_t k = 0; !p && on_devices && k < cuda.alloc.n; k++) look_at(&cuda.alloc.at[k]);
}

void cuda_device_ends(const void *p)
{
    if (p) leave(managed_at(p));
    for (size_t k = 0; !p && on_devices && k < cuda.alloc.n; k++) leave(&cuda.alloc.at[k]);
}
