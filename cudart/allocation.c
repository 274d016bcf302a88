/* allocation.c - allocations: device, pinned, registered and managed memory.
 *
 * The host and all devices share one address space. An allocation is mapped into every device that
 * can access it: device memory into its own device and into those with peer access. Device memory
 * has addresses in a reserved window that the host cannot access, so that a host access to it fails
 * as on a machine with a GPU; its bytes are stored elsewhere. Pinned and managed memory has the
 * same address as on the host. */
#define _GNU_SOURCE /* MAP_FIXED_NOREPLACE, memfd_create, process_vm_readv */
#include "cudart/activity.h"
#include "cudart/clock.h"
#include "cudart/state.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    GRAIN = 512,         /* alignment of small allocations */
    BIG = 1 << 20,       /* from this size on: */
    BIG_GRAIN = 2 << 20, /* alignment of large allocations */
    SLACK = 64,          /* readable bytes past every allocation (pl_map_device) */
};

typedef struct cuda_free_range {
    uint64_t address, size;
} cuda_free_range;

uint64_t cuda_page(void)
{
    return (uint64_t)sysconf(_SC_PAGESIZE);
}

/* ---------------------------------------------------------------- addresses */

static struct {
    uint64_t base, bytes; /* size of the part of one device */
} windows;

/* at: preferred address, or 0. */
static uint8_t *map_pages(uint64_t at, uint64_t bytes)
{
    void *p = mmap((void *)(uintptr_t)at, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* With --bounds page: module variables end with their pages, and a page of the driver precedes the
 * first allocation. */
static void open_bounds(void)
{
    void *page = map_pages(0, BIG_GRAIN + cuda_page());
    for (int d = 0; d < cuda.devices; d++) {
        pl_gpu_bounds(cuda.device[d].gpu, BIG_GRAIN);
        if (page) (void)pl_map_device(cuda.device[d].gpu, cuda.next, BIG_GRAIN, page, "the driver");
    }
    cuda.next += BIG_GRAIN;
}

/* Reserves the window. Half of it is for allocations of the library itself, such as module
 * variables, with a part for each device, directly below the other half. Returns the start of the
 * parts. */
uint64_t cuda_window_open(void)
{
    enum { PART_BITS = 35 }; /* maximum, per device */
    static const uint64_t preferred_base =
        UINT64_C(0x7c0000000000); /* far from the addresses of libraries on Linux */
    uint64_t size = UINT64_C(1) << 40;
    void *p = MAP_FAILED;
    for (; size >= UINT64_C(1) << 32; size >>= 2) {
        p = mmap((void *)(uintptr_t)preferred_base, size, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p != MAP_FAILED) break;
    }
    cuda.window = p == MAP_FAILED ? preferred_base : (uintptr_t)p;
    cuda.window_end = cuda.window + size;
    cuda.next = cuda.window + size / 2;
    cuda.host_next = cuda.window_end;
    const uint64_t share = size / 2 / (unsigned)cuda.devices, max_part = UINT64_C(1) << PART_BITS,
                   part = share < max_part ? share : max_part,
                   base = cuda.next - part * (unsigned)cuda.devices;
    for (int d = 0; d < cuda.devices; d++)
        pl_gpu_unify(cuda.device[d].gpu, base + (unsigned)d * part);
    if (cuda.options.page_bounds) open_bounds();
    windows.base = base;
    windows.bytes = part;
    return base;
}

bool cuda_in_window(uint64_t address)
{
    return address - cuda.window < cuda.window_end - cuda.window;
}

/* Released addresses are reused for allocations of the same size. */
uint64_t cuda_reserve_addresses(uint64_t bytes)
{
    const uint64_t size = cuda_round_up(bytes, GRAIN);
    for (size_t k = cuda.nfree_ranges; k-- > 0;)
        if (cuda.free_range[k].size == size) {
            const uint64_t address = cuda.free_range[k].address;
            cuda.free_range[k] = cuda.free_range[--cuda.nfree_ranges];
            return address;
        }
    const uint64_t grain = size >= BIG ? BIG_GRAIN : GRAIN, at = cuda_round_up(cuda.next, grain);
    if (size > cuda.window_end - at) return 0;
    cuda.next = at + size + (cuda.options.page_bounds ? 0 : GRAIN); /* overruns hit nothing */
    return at;
}

void cuda_return_addresses(uint64_t address, uint64_t bytes)
{
    cuda_free_range *at =
        cuda_array_room(cuda.free_range, cuda.nfree_ranges, &cuda.cap_free_ranges, sizeof *at);
    if (!at) return; /* they are not reused */
    cuda.free_range = at;
    at[cuda.nfree_ranges++] = (cuda_free_range){address, cuda_round_up(bytes, GRAIN)};
}

void cuda_claim_addresses(uint64_t address, uint64_t bytes)
{
    const uint64_t end = address + bytes;
    size_t kept = 0;
    for (size_t k = 0; k < cuda.nfree_ranges; k++) {
        const cuda_free_range *f = &cuda.free_range[k];
        if (f->address >= end || f->address + f->size <= address) cuda.free_range[kept++] = *f;
    }
    cuda.nfree_ranges = kept;
    if (cuda.next < end) cuda.next = end;
}

/* ---------------------------------------------------------------- the list */

/* Returns the index of the first allocation that starts after the address. */
static size_t position(uint64_t address)
{
    size_t lo = 0, hi = cuda.alloc.n;
    while (lo < hi) {
        const size_t mid = (lo + hi) / 2;
        if (cuda.alloc.at[mid].address <= address)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

const cuda_alloc *cuda_alloc_find(uint64_t address)
{
    const size_t k = position(address);
    const cuda_alloc *a = k ? &cuda.alloc.at[k - 1] : NULL;
    return a && address - a->address < a->size ? a : NULL;
}

bool cuda_alloc_overlaps(uint64_t address, uint64_t bytes)
{
    const size_t k = position(address);
    return cuda_alloc_find(address) ||
           (k < cuda.alloc.n && cuda.alloc.at[k].address - address < bytes);
}

cuda_alloc *cuda_alloc_at_address(uint64_t address)
{
    const size_t k = position(address);
    return k && cuda.alloc.at[k - 1].address == address ? &cuda.alloc.at[k - 1] : NULL;
}

int cuda_host_access(uintptr_t at, size_t size, bool writable)
{
    const uintptr_t end = at + size;
    char line[400], permissions[8];
    uintptr_t from, to;
    if (end < at) return 0;
    FILE *f = fopen("/proc/self/maps", "r");
    if (!f) return -1;
    while (at < end && fgets(line, sizeof line, f)) {
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s", &from, &to, permissions) != 3) continue;
        if (to <= at) continue;
        if (from > at || permissions[0] != 'r' || (writable && permissions[1] != 'w')) break;
        at = to;
    }
    fclose(f);
    return at >= end;
}

const cuda_alloc *cuda_next_parameter_alloc(const void *params, uint64_t bytes, uint64_t *at)
{
    while (*at + sizeof(uint64_t) <= bytes) {
        uint64_t value;
        memcpy(&value, (const uint8_t *)params + *at, sizeof value);
        *at += sizeof value;
        const cuda_alloc *a = value ? cuda_alloc_find(value) : NULL;
        if (a) return a;
    }
    return NULL;
}

bool cuda_alloc_mark(uint64_t address, bool sync_memops)
{
    const size_t k = position(address);
    cuda_alloc *a = k ? &cuda.alloc.at[k - 1] : NULL;
    if (!a || address - a->address >= a->size) return false;
    a->sync_memops = sync_memops;
    return true;
}

static bool insert_allocation(const cuda_alloc *a)
{
    cuda_alloc *at = cuda_array_room(cuda.alloc.at, cuda.alloc.n, &cuda.alloc.cap, sizeof *at);
    if (!at) return false;
    cuda.alloc.at = at;
    const size_t k = position(a->address);
    memmove(&cuda.alloc.at[k + 1], &cuda.alloc.at[k], (cuda.alloc.n - k) * sizeof *a);
    cuda.alloc.at[k] = *a;
    cuda.alloc.at[k].start = cuda.now;
    cuda.alloc.at[k].id = ++cuda.ids;
    cuda.alloc.at[k].context = cuda_self.context;
    cuda.alloc.n++;
    return true;
}

static const char *const names[] = {"", "host memory", "device memory", "managed memory"};

static pl_status map(int device, const cuda_alloc *a)
{
    pl_gpu *gpu = cuda.device[device].gpu;
    const pl_status st = pl_map_device(gpu, a->address, a->mapped ? a->mapped : a->size, a->bytes,
                                       a->site ? a->site : names[a->type]);
    if (st == PL_OK && a->type == MEMORY_HOST) pl_gpu_of_host(gpu, a->address);
    return st;
}

/* Unmaps it from devices 0 to n - 1. */
static void unmap(const cuda_alloc *a, int n)
{
    for (int d = 0; d < n; d++)
        if (a->access >> d & 1) pl_free_device(cuda.device[d].gpu, a->address);
}

/* Returns a bit mask of a device and the devices with peer access to it. */
static unsigned access_mask(int owner)
{
    unsigned mask = 1u << owner;
    for (int d = 0; d < cuda.devices; d++)
        if (cuda.device[d].peers >> owner & 1) mask |= 1u << d;
    return mask;
}

int cuda_map_allocation(const cuda_alloc *of)
{
    cuda_alloc a = *of;
    pl_status st = PL_OK;
    int d = 0;
    a.site = cuda.options.check ? cuda_made_by(names[of->type]) : NULL;
    for (; d < cuda.devices && st == PL_OK; d++)
        if (a.access >> d & 1) st = map(d, &a);
    if (st == PL_OK && insert_allocation(&a)) {
        if (cuda.on_memory.allocated) cuda.on_memory.allocated(&a);
        return CU_OK;
    }
    unmap(&a, st == PL_OK ? d : d - 1);
    free(a.site);
    return st == PL_OK || st == PL_NOMEM ? CU_MEMORY_ALLOCATION : CU_ALREADY_REGISTERED;
}

static int set_access(cuda_alloc *a, int device, bool enable)
{
    const unsigned bit = 1u << device;
    if (enable == ((a->access & bit) != 0)) return CU_OK;
    if (enable && map(device, a) != PL_OK) return CU_MEMORY_ALLOCATION;
    if (!enable) pl_free_device(cuda.device[device].gpu, a->address);
    a->access ^= bit;
    return CU_OK;
}

int cuda_set_access(uint64_t address, int device, bool enable)
{
    const size_t k = position(address);
    return k ? set_access(&cuda.alloc.at[k - 1], device, enable) : CU_INVALID_VALUE;
}

/* Pools and virtual memory management have separate calls that grant access. */
int cuda_set_access_all(int owner, int device, bool enable)
{
    int error = CU_OK;
    for (size_t k = 0; !error && k < cuda.alloc.n; k++) {
        cuda_alloc *a = &cuda.alloc.at[k];
        if (a->type == MEMORY_DEVICE && a->device == owner && !a->pooled && !a->physical)
            error = set_access(a, device, enable);
    }
    return error;
}

uint64_t cuda_device_bytes(void)
{
    double bytes = 0;
    return pl_gpu_value(cuda.device[0].gpu, "device.memory", "B", &bytes) ? (uint64_t)bytes
                                                                          : UINT64_C(16) << 30;
}

/* Returns the bytes that kernels can access, for an allocation of this size on the device. */
static uint64_t bounded_size(uint64_t size)
{
    return cuda.options.page_bounds ? cuda_round_up(size, BIG_GRAIN) : size;
}

bool cuda_alloc_shares_page(uint64_t address)
{
    const uint64_t page = address / BIG_GRAIN;
    for (size_t k = 0; k < cuda.alloc.n; k++) {
        const cuda_alloc *a = &cuda.alloc.at[k];
        if (a->type == MEMORY_DEVICE && a->size && page >= a->address / BIG_GRAIN &&
            page <= (a->address + a->size - 1) / BIG_GRAIN)
            return true;
    }
    return false;
}

static uint64_t context_bytes(void)
{
    static double bytes = -1;
    if (bytes < 0) {
        bytes = 0;
        pl_gpu_value(cuda.device[0].gpu, "device.context_memory", "B", &bytes);
    }
    return (uint64_t)bytes;
}

/* The driver provides memory in units of 2 MiB, which smaller allocations share, and memory of
 * pools in units of 32 MiB (H100). */
uint64_t cuda_free_bytes(void)
{
    enum { UNIT = 2 << 20, POOL_UNIT = 32 << 20 };
    uint64_t small = 0, pooled = 0, large = 0, counted = 0;
    for (size_t k = 0; k < cuda.alloc.n; k++) {
        const cuda_alloc *a = &cuda.alloc.at[k];
        if (a->type != MEMORY_DEVICE || a->device != cuda_self.device || a->physical) continue;
        counted += a->size;
        if (a->pooled)
            pooled += a->size;
        else if (a->size < UNIT)
            small += cuda_round_up(a->size, GRAIN);
        else
            large += cuda_round_up(a->size, UNIT);
    }
    const uint64_t physical = cuda_current_device()->used - counted,
                   taken = context_bytes() + cuda_round_up(small, UNIT) +
                           cuda_round_up(pooled, POOL_UNIT) + large + physical +
                           cuda_managed_resident(cuda_self.device);
    return taken < cuda_device_bytes() ? cuda_device_bytes() - taken : 0;
}

uint64_t cuda_managed_capacity(int device)
{
    const uint64_t taken = context_bytes() + cuda.device[device].used;
    return taken < cuda_device_bytes() ? cuda_device_bytes() - taken : 0;
}

/* Allocates memory for an allocation that has its address. Managed memory makes room for it. */
static int allocate_bytes(cuda_alloc *a)
{
    uint64_t *used = &cuda.device[a->device].used;
    const uint64_t all = cuda_device_bytes() - context_bytes();
    if (a->size > all || *used > all - a->size) return CU_MEMORY_ALLOCATION;
    a->access = a->pooled ? 1u << a->device : access_mask(a->device);
    a->mapped = a->fixed ? a->size : bounded_size(a->size);
    if (a->mapped < BIG) {
        a->bytes = calloc(1, a->mapped + SLACK);
    } else {
        a->host_bytes = cuda_round_up(a->mapped + SLACK, cuda_page());
        a->bytes = map_pages(0, a->host_bytes);
    }
    const int error = a->bytes ? cuda_map_allocation(a) : CU_MEMORY_ALLOCATION;
    if (error && a->host_bytes && a->bytes)
        munmap(a->bytes, a->host_bytes);
    else if (error)
        free(a->bytes);
    cuda_migrated evicted = {0};
    if (!error) *used += a->size;
    if (!error) cuda_evict_managed(a->device, &evicted);
    return error;
}

int cuda_alloc_device(uint64_t size, int device, bool pooled, uint64_t *out)
{
    cuda_alloc a = {.size = size, .type = MEMORY_DEVICE, .device = device, .pooled = pooled};
    *out = 0;
    if (size > cuda_device_bytes()) return CU_MEMORY_ALLOCATION;
    a.address = cuda_reserve_addresses(bounded_size(size));
    if (!a.address) return CU_MEMORY_ALLOCATION;
    const int error = allocate_bytes(&a);
    if (error)
        cuda_return_addresses(a.address, bounded_size(size));
    else
        *out = a.address;
    return error;
}

int cuda_alloc_at(uint64_t address, uint64_t size, int device)
{
    cuda_alloc a = {.address = address,
                    .size = size,
                    .type = MEMORY_DEVICE,
                    .device = device,
                    .pooled = true,
                    .fixed = true};
    return allocate_bytes(&a);
}

int cuda_alloc_file(int fd, uint64_t size, uint64_t *out)
{
    cuda_alloc a = {.size = size,
                    .type = MEMORY_DEVICE,
                    .device = cuda_self.device,
                    .access = access_mask(cuda_self.device),
                    .fd = fd};
    a.host_bytes = cuda_round_up(size + SLACK, cuda_page());
    void *p = mmap(NULL, a.host_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    a.bytes = p;
    a.address = p == MAP_FAILED ? 0 : cuda_reserve_addresses(size);
    const int error = a.address ? cuda_map_allocation(&a) : CU_MEMORY_ALLOCATION;
    if (error) {
        if (a.address) cuda_return_addresses(a.address, size);
        if (p != MAP_FAILED) munmap(p, a.host_bytes);
        close(fd);
        return error;
    }
    cuda_current_device()->used += size;
    *out = a.address;
    return CU_OK;
}

int cuda_memory_file(uint64_t bytes)
{
    const int fd = memfd_create("ptxloom", MFD_CLOEXEC);
    if (fd >= 0 && ftruncate(fd, (off_t)bytes) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

int cuda_share(uint64_t address)
{
    const size_t k = position(address);
    cuda_alloc *a = k ? &cuda.alloc.at[k - 1] : NULL;
    if (!a || a->address != address || a->fd > 0) return a && a->address == address ? a->fd : -1;
    const uint64_t mapped = cuda_round_up(a->size + SLACK, cuda_page());
    const int fd = cuda_memory_file(mapped);
    void *p = fd < 0 ? MAP_FAILED : mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED) {
        if (fd >= 0) close(fd);
        return -1;
    }
    memcpy(p, a->bytes, a->size);
    /* Other processes may write it unobserved. */
    if (cuda.on_memory.written) cuda.on_memory.written(a->address, a->size);
    unmap(a, cuda.devices);
    if (a->host_bytes)
        munmap(a->bytes, a->host_bytes);
    else
        free(a->bytes);
    a->bytes = p;
    a->host_bytes = mapped;
    a->mapped = 0;
    for (int d = 0; d < cuda.devices; d++)
        if (a->access >> d & 1 && map(d, a) != PL_OK) return -1;
    return a->fd = fd;
}

/* Large managed allocations start at blocks of page faults, others do not cross a chunk if they fit
 * into one. */
static uint64_t managed_start(uint64_t from, uint64_t size)
{
    if (size >= BIG) return cuda_round_up(from, PL_MANAGED_BLOCK);
    return from % PL_MANAGED_CHUNK + size > PL_MANAGED_CHUNK ? cuda_round_up(from, PL_MANAGED_CHUNK)
                                                             : from;
}

/* Allocates host memory that the GPU accesses at the same address, after the window if possible, so
 * that checkers can track it. */
int cuda_alloc_host(uint64_t size, int type, unsigned flags, void **out)
{
    cuda_alloc a = {.size = size,
                    .type = type,
                    .device = cuda_self.device,
                    .access = CUDA_ALL_DEVICES,
                    .flags = flags};
    a.host_bytes = cuda_round_up(size + SLACK, cuda_page());
    if (type == MEMORY_MANAGED) cuda.host_next = managed_start(cuda.host_next, size);
    a.bytes = map_pages(cuda.host_next, a.host_bytes);
    if (!a.bytes) return CU_MEMORY_ALLOCATION;
    cuda.host_next += a.host_bytes + cuda_page();
    a.address = (uintptr_t)a.bytes;
    if (type == MEMORY_MANAGED) a.page_map = cuda_page_map_new(size);
    const int error = cuda_map_allocation(&a);
    if (error) munmap(a.bytes, a.host_bytes);
    if (error) cuda_page_map_free(a.page_map);
    if (!error) *out = a.bytes;
    return error;
}

/* Frees an allocation. It must start at the address and have one of the types (a bit set). */
int cuda_release(uint64_t address, unsigned types)
{
    const size_t k = position(address);
    if (!k || cuda.alloc.at[k - 1].address != address) return CU_INVALID_VALUE;
    cuda_alloc a = cuda.alloc.at[k - 1];
    if (!(types >> a.type & 1)) return CU_INVALID_VALUE;
    unmap(&a, cuda.devices);
    cuda_record_allocation(&a, cuda.now);
    if (cuda.on_memory.freed) cuda.on_memory.freed(&a);
    /* Other observers are not notified. */
    if (cuda.on_memory.written) cuda.on_memory.written(a.address, a.size);
    memmove(&cuda.alloc.at[k - 1], &cuda.alloc.at[k], (cuda.alloc.n - k) * sizeof a);
    cuda.alloc.n--;
    if (a.type == MEMORY_DEVICE) {
        if (!a.fixed) cuda_return_addresses(a.address, a.mapped ? a.mapped : a.size);
        if (!a.physical) cuda.device[a.device].used -= a.size;
    }
    free(a.site);
    cuda_page_map_free(a.page_map);
    if (a.fd > 0) close(a.fd);
    if (a.host_bytes)
        munmap(a.bytes, a.host_bytes);
    else if (!a.registered && !a.physical)
        free(a.bytes);
    return CU_OK;
}

/* Returns the device whose part of the window contains the address; 0: none. */
static int device_of_address(uint64_t address)
{
    const uint64_t d = windows.bytes ? (address - windows.base) / windows.bytes : 0;
    return d < (uint64_t)cuda.devices ? (int)d : 0;
}

/* Devices can access variables of other devices, so the address determines the owner. */
uint8_t *cuda_view(uint64_t address, uint64_t bytes, int *device)
{
    const int first = device_of_address(address);
    for (int k = 0; k < cuda.devices; k++) {
        const int d = (first + k) % cuda.devices;
        uint8_t *view = pl_device_view(cuda.device[d].gpu, address, bytes);
        if (!view) continue;
        if (device) *device = d;
        return view;
    }
    return NULL;
}

bool cuda_in_heap(const void *p)
{
    bool found = false;
    for (int d = 0; d < cuda.devices; d++)
        found |= pl_gpu_in_heap(cuda.device[d].gpu, (uintptr_t)p);
    return found;
}

uint8_t *cuda_bytes(const void *p, uint64_t bytes, bool *device)
{
    const uint64_t address = (uintptr_t)p;
    const cuda_alloc *a = cuda_alloc_find(address);
    if (device) *device = a != NULL;
    if (a) {
        if (a->physical && !a->access) return NULL;            /* no device has access */
        uint64_t available = a->size - (address - a->address); /* with contiguous mappings */
        for (const cuda_alloc *b = a; bytes > available && b->physical; available += b->size) {
            const cuda_alloc *next = cuda_alloc_find(b->address + b->size);
            if (!next || !next->physical || next->bytes != b->bytes + b->size) break;
            b = next;
        }
        if (bytes <= available) return a->bytes + (address - a->address);
        return a->type == MEMORY_DEVICE ? NULL : (uint8_t *)(uintptr_t)p;
    }
    uint8_t *view = cuda_view(address, bytes, NULL); /* module variables */
    if (view && device) *device = true;
    if (view || cuda_in_window(address)) return view;
    return (uint8_t *)(uintptr_t)p;
}

/* The emulator may read slightly past the end of memory. If no mapping exists there, a page is
 * mapped. */
bool cuda_readable_beyond(uintptr_t end)
{
    char bytes[SLACK];
    const struct iovec to = {bytes, SLACK}, from = {(void *)end, SLACK};
    if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) == SLACK) return true;
    const uintptr_t next = cuda_round_up(end, cuda_page());
    void *p = mmap((void *)next, cuda_page(), PROT_READ,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (p == (void *)next) return true;
    if (p != MAP_FAILED) munmap(p, cuda_page()); /* old kernels treat the address as a hint */
    return end + SLACK <= next;
}
