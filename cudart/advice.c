/* advice.c - hints for managed memory: advice and prefetches. The program can query its hints, page
 * by page. */
#include "cudart/clock.h"
#include "cudart/state.h"
#include <stdlib.h>
#include <string.h>

enum {
    PAGE = 4096,
    IN_DEVICE = 1, /* cudaMemLocationType */
    IN_HOST = 2,
    ON_NODE = 3, /* of the host's memory */
    ON_OWN_NODE = 4,
    HOST = -1, /* as a device: cudaCpuDeviceId */
    NO_LOCATION = -2
};

typedef struct page {
    bool read_mostly;
    int8_t preferred, prefetched; /* a device, HOST or NO_LOCATION */
    uint8_t prefetched_node;      /* ON_NODE, ON_OWN_NODE: a node of the host; 0: none */
    uint32_t accessed;            /* bit k: by device k; top bit: by the host */
} page;

static const uint32_t BY_HOST = 1u << 31;

/* Hints for an allocation. */
typedef struct hints {
    uint64_t id, pages; /* id of the cuda_alloc */
    page page[];
} hints;

static cuda_table hint_table; /* by address */

static const cuda_alloc *managed_allocation(const void *p, size_t bytes)
{
    static cuda_alloc variable; /* a managed variable, as an allocation */
    const cuda_alloc *a = cuda_alloc_find((uintptr_t)p);
    if (!a && cuda_is_managed(p, bytes)) {
        variable = (cuda_alloc){.type = MEMORY_MANAGED};
        if (cuda_variable_at((uintptr_t)p, &variable.address, &variable.size)) a = &variable;
    }
    return a && a->type == MEMORY_MANAGED && bytes <= a->size - ((uintptr_t)p - a->address) ? a
                                                                                            : NULL;
}

/* Returns the hints; NULL: none, or no memory for them. */
static hints *hints_of(const cuda_alloc *a, bool create)
{
    const void *key = (const void *)(uintptr_t)a->address;
    hints *x = cuda_table_get(&hint_table, key);
    if (x && x->id == a->id) return x;
    free(x);
    if (x) cuda_table_remove(&hint_table, key);
    if (!create) return NULL;
    const uint64_t pages = (a->size + PAGE - 1) / PAGE;
    x = calloc(1, sizeof *x + pages * sizeof *x->page);
    if (!x || !cuda_table_put(&hint_table, key, x)) {
        free(x);
        return NULL;
    }
    x->id = a->id;
    x->pages = pages;
    for (uint64_t k = 0; k < pages; k++)
        x->page[k] = (page){.preferred = NO_LOCATION, .prefetched = NO_LOCATION};
    return x;
}

/* Returns the number of pages that a range overlaps, from *first on. */
static uint64_t pages_of(const cuda_alloc *a, const void *p, size_t bytes, uint64_t *first)
{
    const uint64_t at = (uintptr_t)p - a->address;
    *first = at / PAGE;
    return (at + bytes - 1) / PAGE - *first + 1;
}

/* Decodes cudaMemLocation: a device, HOST, or NO_LOCATION if it does not exist. */
static int device_of_location(uint64_t location)
{
    const int type = (int)(uint32_t)location, id = (int)(location >> 32);
    if (type == IN_DEVICE) return cuda_is_device(id) ? id : NO_LOCATION;
    return type == IN_HOST || type == ON_NODE || type == ON_OWN_NODE ? HOST : NO_LOCATION;
}

static uint64_t location_of(int device)
{
    const uint64_t type = device < 0 ? IN_HOST : IN_DEVICE;
    return type | (uint64_t)(uint32_t)device << 32;
}

int pl_cudaMemPrefetchAsync(const void *p, size_t bytes, uint64_t location, unsigned flags,
                            void *stream)
{
    const int device = device_of_location(location);
    cuda_stream *s = cuda_stream_of(stream);
    if (!s) return CU_INVALID_HANDLE;
    if (s->capture) return cuda_invalidate_capture(s);
    if (flags || !bytes || !(uint32_t)location || !cuda_is_managed(p, bytes))
        return CU_INVALID_VALUE;
    if (device == NO_LOCATION) return CU_INVALID_DEVICE;
    const cuda_alloc *a = managed_allocation(p, bytes);
    hints *x = a ? hints_of(a, true) : NULL;
    uint64_t first = 0, n = x ? pages_of(a, p, bytes, &first) : 0;
    const uint32_t type = (uint32_t)location;
    for (uint64_t k = 0; k < n; k++) {
        x->page[first + k].prefetched = (int8_t)device;
        x->page[first + k].prefetched_node = type >= ON_NODE ? (uint8_t)type : 0;
    }
    cuda_clock_prefetch(s, p, bytes, device);
    return CU_OK;
}

int pl_cudaMemPrefetchAsync_12(const void *p, size_t bytes, int device, void *stream)
{
    return pl_cudaMemPrefetchAsync(p, bytes, location_of(device), 0, stream);
}

/* cudaMemoryAdvise */
enum { READ_MOSTLY = 1, NOT_READ_MOSTLY, PREFER, NOT_PREFER, ACCESSED_BY, NOT_ACCESSED_BY };

static void advise(page *x, int advice, int device)
{
    const uint32_t bit = device == HOST ? BY_HOST : 1u << (device & 31);
    switch (advice) {
    case READ_MOSTLY: x->read_mostly = true; break;
    case NOT_READ_MOSTLY: x->read_mostly = false; break;
    case PREFER: x->preferred = (int8_t)device; break;
    case NOT_PREFER: x->preferred = NO_LOCATION; break;
    case ACCESSED_BY: x->accessed |= bit; break;
    default: x->accessed &= ~bit; break;
    }
}

int pl_cudaMemAdvise(const void *p, size_t bytes, int advice, uint64_t location)
{
    const int device = device_of_location(location);
    const bool accessed = advice == ACCESSED_BY || advice == NOT_ACCESSED_BY;
    const bool needs_location = accessed || advice == PREFER;
    const uint32_t type = (uint32_t)location;
    if (!type || (accessed && type != IN_DEVICE && type != IN_HOST)) return CU_INVALID_VALUE;
    if (advice < READ_MOSTLY || advice > NOT_ACCESSED_BY || !bytes || !cuda_is_managed(p, bytes) ||
        (needs_location && device == NO_LOCATION))
        return CU_INVALID_VALUE;
    const int unsafe = cuda_check_captures(CUDA_UNSAFE_CALL);
    if (unsafe) return unsafe;
    const cuda_alloc *a = managed_allocation(p, bytes);
    hints *x = a ? hints_of(a, true) : NULL;
    uint64_t first = 0, n = x ? pages_of(a, p, bytes, &first) : 0;
    /* A node of the host's memory is not a preferred location (H200). */
    const bool node = advice == PREFER && type >= ON_NODE;
    for (uint64_t k = 0; k < n; k++)
        advise(&x->page[first + k], node ? NOT_PREFER : advice, device);
    return CU_OK;
}

int pl_cudaMemAdvise_12(const void *p, size_t bytes, int advice, int device)
{
    return pl_cudaMemAdvise(p, bytes, advice, location_of(device));
}

/* ---------------------------------------------------------------- queries */

/* Returns the hints common to all pages of a range. */
static page common_hints(const void *p, size_t bytes)
{
    page shared_hints = {.preferred = NO_LOCATION, .prefetched = NO_LOCATION};
    const cuda_alloc *a = managed_allocation(p, bytes);
    const hints *x = a ? hints_of(a, false) : NULL;
    if (!x) return shared_hints;
    uint64_t first, n = pages_of(a, p, bytes, &first);
    shared_hints = x->page[first];
    for (uint64_t k = 1; k < n; k++) {
        const page *q = &x->page[first + k];
        shared_hints.read_mostly = shared_hints.read_mostly && q->read_mostly;
        if (q->preferred != shared_hints.preferred) shared_hints.preferred = NO_LOCATION;
        if (q->prefetched != shared_hints.prefetched ||
            q->prefetched_node != shared_hints.prefetched_node) {
            shared_hints.prefetched = NO_LOCATION;
            shared_hints.prefetched_node = 0;
        }
        shared_hints.accessed &= q->accessed;
    }
    return shared_hints;
}

static int type_of(int device)
{
    return device == HOST ? IN_HOST : device == NO_LOCATION ? 0 : IN_DEVICE;
}

/* Lists devices, then the host, then NO_LOCATION up to the end. */
static void put_accessed(int *out, size_t n, uint32_t accessed)
{
    size_t k = 0;
    for (int d = 0; d < CUDA_DEVICES && k < n; d++)
        if (accessed >> d & 1) out[k++] = d;
    if (accessed & BY_HOST && k < n) out[k++] = HOST;
    while (k < n) out[k++] = NO_LOCATION;
}

int pl_cudaMemRangeGetAttribute(void *value, size_t bytes, int attribute, const void *p, size_t n)
{
    enum { READ = 1, PREFERRED, ACCESSED, PREFETCHED, PREFERRED_TYPE, PREFERRED_ID, TYPE, ID };
    if (!value || !n || bytes % sizeof(int) || !bytes || !cuda_is_managed(p, n) ||
        attribute < READ || attribute > ID || (attribute != ACCESSED && bytes != sizeof(int)))
        return CU_INVALID_VALUE;
    const page x = common_hints(p, n);
    int *out = value;
    switch (attribute) {
    case READ: *out = x.read_mostly; break;
    case PREFERRED:
    case PREFERRED_ID: *out = x.preferred; break;
    case PREFERRED_TYPE: *out = type_of(x.preferred); break;
    case ACCESSED: put_accessed(out, bytes / sizeof(int), x.accessed); break;
    case TYPE: *out = x.prefetched_node ? x.prefetched_node : type_of(x.prefetched); break;
    case ID: *out = x.prefetched_node ? 0 : x.prefetched; break;
    default: *out = x.prefetched; break;
    }
    return CU_OK;
}

int pl_cudaMemRangeGetAttributes(void **value, size_t *bytes, int *attribute, size_t count,
                                 const void *p, size_t n)
{
    if (!value || !bytes || !attribute || !count) return CU_INVALID_VALUE;
    for (size_t k = 0; k < count; k++) {
        const int error = pl_cudaMemRangeGetAttribute(value[k], bytes[k], attribute[k], p, n);
        if (error) return error;
    }
    return CU_OK;
}
