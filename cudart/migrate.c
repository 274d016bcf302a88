/* migrate.c - location of the pages of managed memory.
 *
 * All pages are initially on the host, whether it has written them or they are uninitialised. In
 * timing mode, page faults of a kernel migrate pages to its device (pl_launch.managed). Otherwise a
 * kernel migrates the whole allocations that its parameters point into. Copies and sets migrate the
 * pages that they access. Prefetches migrate pages to a device or to the host.
 *
 * Managed memory may exceed the memory of a device. Then the pages of the allocation that was used
 * least recently return to the host; of one that does not fit, its first pages.
 *
 * Writes of the host to pages on a device are detected by checksums. These are recorded when work
 * of the device ends, and compared before the device gets work again. Pages that have changed are
 * on the host, together with the 64 KiB around them (H200). Reads by the host are not detected;
 * such pages stay on the device. If more than 256 KiB are on devices, a checksum covers some bytes
 * of its page. If more than 8 MiB are on devices, only some pages have one. A host that writes all
 * bytes is detected nevertheless. */
#define _DEFAULT_SOURCE /* mincore */
#include "cudart/clock.h"
#include "cudart/state.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    PAGE = PL_MANAGED_PAGE,
    SCAN_PAGES = 1024,    /* pages per call of mincore */
    MAX_WHOLE = 64,       /* up to this many pages on devices, checksums cover whole pages */
    MAX_CHECKSUMS = 2048, /* maximum checksums of all allocations */
    SAMPLE_BYTES = 64,    /* bytes of a page that its checksum covers otherwise */
    CHUNK_PAGES = PL_MANAGED_CHUNK / PAGE, /* migrate when the host writes one of them, or a device
                                              accesses one that is uninitialised */
    BLOCK_PAGES = PL_MANAGED_BLOCK / PAGE, /* a device migrates pages of one block at a time */
    MAX_SCANNED = 65536 /* up to this many pages elsewhere, a launch may access those that its
                           parameters do not point to */
};

struct cuda_page_map {
    uint64_t pages;
    uint64_t on_devices;       /* pages */
    uint64_t on[CUDA_DEVICES]; /* pages by device */
    uint64_t used;             /* when pages last migrated to a device; a larger number is later */
    int all_on;                /* 1 + the device that has all pages; 0: there may be none */
    bool whole_pages;          /* checksums cover whole pages */
    uint64_t step;             /* one in this many pages has a checksum */
    uint64_t *checksum; /* by page, for pages on a device; 0: the page was not resident; owned */
    uint8_t location[]; /* by page: 1 + its device; 0: on the host, or uninitialised */
};

static bool any_managed;                 /* managed memory has been allocated */
static uint64_t pages_on_devices;        /* pages of all allocations */
static uint64_t on_device[CUDA_DEVICES]; /* by device */
static uint64_t uses;                    /* numbers cuda_page_map.used */

struct cuda_page_map *cuda_page_map_new(uint64_t bytes)
{
    const uint64_t pages = (bytes + PAGE - 1) / PAGE;
    struct cuda_page_map *p = calloc(1, sizeof *p + pages);
    if (!p) return NULL;
    p->pages = pages;
    p->step = 1;
    p->checksum = calloc(pages ? pages : 1, sizeof *p->checksum);
    any_managed = true;
    if (p->checksum) return p;
    free(p);
    return NULL;
}

void cuda_page_map_free(struct cuda_page_map *p)
{
    if (!p) return;
    pages_on_devices -= p->on_devices;
    for (int d = 0; d < CUDA_DEVICES; d++) on_device[d] -= p->on[d];
    free(p->checksum);
    free(p);
}

static void set_location(struct cuda_page_map *p, uint64_t page, uint8_t to)
{
    const uint8_t from = p->location[page];
    const uint64_t added = to != 0, removed = from != 0;
    if (from) {
        p->on[from - 1]--;
        on_device[from - 1]--;
    }
    if (to) {
        p->on[to - 1]++;
        on_device[to - 1]++;
    }
    p->on_devices += added - removed;
    pages_on_devices += added - removed;
    p->location[page] = to;
}

/* True if a page of another allocation, in the 64 KiB at which this one starts, is at `to`: the
 * fault for that page has allocated the uninitialised ones of this allocation as well. */
static bool neighbour_is_at(const cuda_alloc *a, uint8_t to)
{
    const uint64_t chunk = a->address - a->address % PL_MANAGED_CHUNK;
    for (uint64_t k = 0; k < CHUNK_PAGES; k++) {
        const uint64_t at = chunk + k * PAGE;
        const cuda_alloc *b = cuda_alloc_find(at);
        if (b && b != a && b->page_map && b->page_map->location[(at - b->address) / PAGE] == to)
            return true;
    }
    return false;
}

/* Migrates n pages from `first` on, except for those that are already at `to`. */
static void migrate(const cuda_alloc *a, uint64_t first, uint64_t n, uint8_t to, cuda_migrated *m)
{
    struct cuda_page_map *p = a->page_map;
    unsigned char present[SCAN_PAGES];
    memset(present, 0, sizeof present);
    (void)mincore(a->bytes + first * PAGE, n * PAGE, present);
    uint64_t block = UINT64_MAX;
    for (uint64_t k = 0; k < n; k++) {
        const uint8_t at = p->location[first + k];
        if (at == to) continue;
        if (at || present[k] & 1) {
            m->written += PAGE;
            m->blocks += (first + k) / BLOCK_PAGES != block;
            block = (first + k) / BLOCK_PAGES;
        } else if (p->pages > CHUNK_PAGES || !neighbour_is_at(a, to)) {
            m->fresh += PAGE;
        }
        set_location(p, first + k, to);
    }
}

static void migrate_range(const cuda_alloc *a, uint64_t first, uint64_t n, int device,
                          cuda_migrated *m)
{
    struct cuda_page_map *p = a->page_map;
    const int to = device < 0 ? 0 : device + 1;
    if (to) p->used = ++uses;
    if (to && p->all_on == to) return;
    for (uint64_t k = 0; k < n; k += SCAN_PAGES)
        migrate(a, first + k, n - k < SCAN_PAGES ? n - k : SCAN_PAGES, (uint8_t)to, m);
    p->all_on = n == p->pages ? to : 0;
}

/* ---------------------------------------------------------------- memory of a device */

/* Returns the bytes of blocks of an allocation with pages on the device. *last: the last block that
 * has been counted. */
static uint64_t resident_bytes(const cuda_alloc *a, int device, uint64_t *last)
{
    const struct cuda_page_map *p = a->page_map;
    uint64_t bytes = 0;
    for (uint64_t k = 0; p->on[device] && k < p->pages;) {
        const uint64_t block = (a->address + k * PAGE) / PL_MANAGED_BLOCK;
        if (p->location[k] != device + 1) {
            k++;
            continue;
        }
        if (block != *last) bytes += PL_MANAGED_BLOCK;
        *last = block;
        k = ((block + 1) * PL_MANAGED_BLOCK - a->address + PAGE - 1) / PAGE;
    }
    return bytes;
}

uint64_t cuda_managed_resident(int device)
{
    uint64_t bytes = 0, last = UINT64_MAX;
    for (size_t k = 0; on_device[device] && k < cuda.alloc.n; k++)
        if (cuda.alloc.at[k].page_map) bytes += resident_bytes(&cuda.alloc.at[k], device, &last);
    return bytes;
}

static struct cuda_page_map *least_recently_used(int device)
{
    struct cuda_page_map *found = NULL;
    for (size_t k = 0; k < cuda.alloc.n; k++) {
        struct cuda_page_map *p = cuda.alloc.at[k].page_map;
        if (p && p->on[device] && (!found || p->used < found->used)) found = p;
    }
    return found;
}

void cuda_evict_managed(int device, cuda_migrated *m)
{
    const uint64_t capacity = cuda_managed_capacity(device) / PAGE;
    while (on_device[device] > capacity) {
        struct cuda_page_map *p = least_recently_used(device);
        if (!p) return;
        for (uint64_t k = 0; k < p->pages && p->on[device] && on_device[device] > capacity; k++)
            if (p->location[k] == device + 1) {
                set_location(p, k, 0);
                m->evicted += PAGE;
            }
        p->all_on = 0;
    }
}

cuda_migrated cuda_migrate_pages(const void *from, uint64_t bytes, int device)
{
    cuda_migrated m = {0};
    const cuda_alloc *a = any_managed && bytes ? cuda_alloc_find((uintptr_t)from) : NULL;
    if (!a || !a->page_map) return m;
    const uint64_t at = (uintptr_t)from - a->address, remaining = a->size - at, first = at / PAGE,
                   end = at + (bytes < remaining ? bytes : remaining);
    migrate_range(a, first, (end + PAGE - 1) / PAGE - first, device, &m);
    if (device >= 0) cuda_evict_managed(device, &m);
    return m;
}

cuda_migrated cuda_migrate_parameters(const void *params, uint64_t bytes, int device)
{
    cuda_migrated m = {0};
    uint64_t at = 0;
    for (const cuda_alloc *a;
         any_managed && (a = cuda_next_parameter_alloc(params, bytes, &at)) != NULL;)
        if (a->page_map) migrate_range(a, 0, a->page_map->pages, device, &m);
    if (any_managed) cuda_evict_managed(device, &m);
    return m;
}

/* ---------------------------------------------------------------- page faults */

/* A list of blocks in the order of addresses. */
typedef struct block_list {
    pl_managed_block *at;
    size_t n, cap;
} block_list;

/* Returns the block of an address, at the end of the list; NULL: no memory. */
static pl_managed_block *last_block(block_list *l, uint64_t address)
{
    const uint64_t start = address - address % PL_MANAGED_BLOCK;
    if (l->n && l->at[l->n - 1].address == start) return &l->at[l->n - 1];
    pl_managed_block *at = cuda_array_room(l->at, l->n, &l->cap, sizeof *at);
    if (!at) return NULL;
    l->at = at;
    at[l->n] = (pl_managed_block){.address = start};
    return &at[l->n++];
}

/* Adds n pages of an allocation from `first` on, n <= SCAN_PAGES. */
static bool add_pages(block_list *l, const cuda_alloc *a, uint64_t first, uint64_t n, uint8_t to)
{
    unsigned char present[SCAN_PAGES];
    memset(present, 0, sizeof present);
    (void)mincore(a->bytes + first * PAGE, n * PAGE, present);
    for (uint64_t k = 0; k < n; k++) {
        const uint64_t address = a->address + (first + k) * PAGE;
        const uint32_t chunk = 1u << address / PAGE % BLOCK_PAGES / CHUNK_PAGES;
        const uint8_t at = a->page_map->location[first + k];
        pl_managed_block *b = last_block(l, address);
        if (!b) return false;
        b->managed |= chunk;
        if (at != to) b->absent |= chunk;
        if (at != to && (at || present[k] & 1)) b->on_host |= chunk;
    }
    return true;
}

static bool add_allocation(block_list *l, const cuda_alloc *a, uint8_t to)
{
    const uint64_t pages = a->page_map->pages;
    for (uint64_t k = 0; k < pages; k += SCAN_PAGES)
        if (!add_pages(l, a, k, pages - k < SCAN_PAGES ? pages - k : SCAN_PAGES, to)) return false;
    return true;
}

/* Pages of managed memory that are not on the device. */
static uint64_t absent_pages(uint8_t to)
{
    uint64_t pages = 0;
    for (size_t k = 0; k < cuda.alloc.n; k++) {
        const struct cuda_page_map *p = cuda.alloc.at[k].page_map;
        if (p && p->all_on != to) pages += p->pages;
    }
    return pages;
}

/* A fault for a neighbour has allocated the pages of a small allocation that nobody has written. */
static void adopt_new_pages(const cuda_alloc *a, uint8_t to)
{
    struct cuda_page_map *p = a->page_map;
    unsigned char present[CHUNK_PAGES] = {0};
    if (p->pages > CHUNK_PAGES || !neighbour_is_at(a, to)) return;
    (void)mincore(a->bytes, p->pages * PAGE, present);
    for (uint64_t k = 0; k < p->pages; k++)
        if (!p->location[k] && !(present[k] & 1)) set_location(p, k, to);
}

static bool is_parameter(const cuda_alloc *a, const void *params, uint64_t bytes)
{
    uint64_t at = 0;
    const cuda_alloc *b;
    while ((b = cuda_next_parameter_alloc(params, bytes, &at)) != NULL)
        if (a == b) return true;
    return false;
}

pl_managed_block *cuda_managed_blocks(const void *params, uint64_t bytes, int device, size_t *n)
{
    block_list l = {0};
    const uint8_t to = (uint8_t)(device + 1);
    const bool all = any_managed && absent_pages(to) <= MAX_SCANNED;
    for (size_t k = 0; any_managed && k < cuda.alloc.n; k++) {
        const cuda_alloc *a = &cuda.alloc.at[k];
        if (!a->page_map || a->page_map->all_on == to) continue;
        if (!all && !is_parameter(a, params, bytes)) continue;
        adopt_new_pages(a, to);
        if (!add_allocation(&l, a, to)) break;
    }
    *n = l.n;
    return l.at;
}

static void update_all_on(struct cuda_page_map *p, uint8_t to)
{
    if (p->on_devices != p->pages) return;
    for (uint64_t k = 0; k < p->pages; k++)
        if (p->location[k] != to) return;
    p->all_on = to;
}

/* Sets the location of the pages of an allocation in the chunks of a block that have migrated. */
static void set_chunks(const cuda_alloc *a, const pl_managed_block *b, uint8_t to)
{
    struct cuda_page_map *p = a->page_map;
    for (uint64_t k = 0; k < BLOCK_PAGES; k++) {
        const uint64_t page = (b->address + k * PAGE - a->address) / PAGE;
        if (b->address + k * PAGE < a->address || page >= p->pages) continue;
        if (~b->absent >> k / CHUNK_PAGES & 1) set_location(p, page, to);
    }
    p->used = ++uses;
}

void cuda_set_migrated(const pl_managed_block *block, size_t n, int device)
{
    size_t k = 0;
    for (size_t i = 0; i < cuda.alloc.n; i++) {
        const cuda_alloc *a = &cuda.alloc.at[i];
        if (!a->page_map || a->page_map->all_on == device + 1) continue;
        while (k < n && block[k].address + PL_MANAGED_BLOCK <= a->address) k++;
        for (size_t j = k; j < n && block[j].address < a->address + a->size; j++)
            set_chunks(a, &block[j], (uint8_t)(device + 1));
        update_all_on(a->page_map, (uint8_t)(device + 1));
    }
}

/* ---------------------------------------------------------------- writes of the host */

static uint64_t checksum_of(const uint8_t *bytes, size_t n)
{
    const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t a = 1, b = 2, c = 3, d = 4, w[4];
    for (size_t k = 0; k < n; k += sizeof w) {
        memcpy(w, bytes + k, sizeof w);
        a = (a ^ w[0]) * factor;
        b = (b ^ w[1]) * factor;
        c = (c ^ w[2]) * factor;
        d = (d ^ w[3]) * factor;
    }
    a ^= b >> 32 ^ b << 16 ^ c >> 16 ^ c << 32 ^ d;
    return a ? a : 1;
}

/* Returns the checksum of the whole page, or of a part whose offset depends on the page number. */
static uint64_t page_checksum(const cuda_alloc *a, uint64_t page, bool whole)
{
    enum { STEP = 7 }; /* offset between consecutive pages, in parts */
    const uint8_t *bytes = a->bytes + page * PAGE;
    return whole ? checksum_of(bytes, PAGE)
                 : checksum_of(bytes + page * STEP % (PAGE / SAMPLE_BYTES) * SAMPLE_BYTES,
                               SAMPLE_BYTES);
}

/* True if the page is resident. An uninitialised page is not, and does not become resident here. */
static bool is_resident(const cuda_alloc *a, uint64_t page)
{
    unsigned char present = 0;
    return a->page_map->checksum[page] ||
           (mincore(a->bytes + page * PAGE, PAGE, &present) == 0 && present & 1);
}

/* Calls `visit` for the pages of an allocation that are on a device and have a checksum. */
static void for_each_checksum(const cuda_alloc *a, void (*visit)(struct cuda_page_map *p,
                                                                 uint64_t page, uint64_t checksum))
{
    struct cuda_page_map *p = a->page_map;
    for (uint64_t page = 0; p->on_devices && page < p->pages; page += p->step)
        if (p->location[page])
            visit(p, page, is_resident(a, page) ? page_checksum(a, page, p->whole_pages) : 0);
}

static void record_checksum(struct cuda_page_map *p, uint64_t page, uint64_t checksum)
{
    p->checksum[page] = checksum;
}

static void detect_write(struct cuda_page_map *p, uint64_t page, uint64_t checksum)
{
    if (checksum == p->checksum[page]) return;
    const uint64_t first = page / CHUNK_PAGES * CHUNK_PAGES,
                   n = p->step > CHUNK_PAGES ? p->step : CHUNK_PAGES;
    for (uint64_t k = first; k < p->pages && k < first + n; k++) set_location(p, k, 0);
    p->all_on = 0;
}

static void detect_writes(const cuda_alloc *a)
{
    if (a && a->page_map) for_each_checksum(a, detect_write);
}

static void record_checksums(const cuda_alloc *a)
{
    if (!a || !a->page_map) return;
    a->page_map->whole_pages = pages_on_devices <= MAX_WHOLE;
    a->page_map->step = pages_on_devices / MAX_CHECKSUMS + 1;
    for_each_checksum(a, record_checksum);
}

static const cuda_alloc *managed_at(const void *p)
{
    const cuda_alloc *a = pages_on_devices ? cuda_alloc_find((uintptr_t)p) : NULL;
    return a && a->page_map ? a : NULL;
}

void cuda_detect_host_writes(const void *p)
{
    if (p) detect_writes(managed_at(p));
    for (size_t k = 0; !p && pages_on_devices && k < cuda.alloc.n; k++)
        detect_writes(&cuda.alloc.at[k]);
}

void cuda_record_checksums(const void *p)
{
    if (p) record_checksums(managed_at(p));
    for (size_t k = 0; !p && pages_on_devices && k < cuda.alloc.n; k++)
        record_checksums(&cuda.alloc.at[k]);
}
