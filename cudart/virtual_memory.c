/* virtual_memory.c - virtual memory management of the driver API, and memory and events that
 * processes share.
 *
 * Physical memory is a file in memory, which other processes can also map. A reserved range of
 * device addresses has a corresponding range of host addresses, where the files are mapped as the
 * program maps them: memory that is contiguous for the GPU is contiguous for the host. */
#define _GNU_SOURCE /* MAP_ANONYMOUS, MAP_NORESERVE */
#include "cudart/state.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { GRANULE = 2 << 20 }; /* granularity of physical memory and of addresses */

/* CUmemAllocationProp */
typedef struct allocation_properties {
    int type, handle_types, location_type, location;
    void *meta;
    unsigned char flags[8];
} allocation_properties;

typedef struct cuda_physical {
    int fd, device;
    uint64_t size;
    unsigned refs;   /* handles of the program, and mappings */
    int host_access; /* 0, CUDA_READ_ONLY, CUDA_READ_WRITE */
    allocation_properties properties;
} cuda_physical;

typedef struct reservation {
    struct reservation *next;
    uint64_t address, size;
    uint64_t enclosing, enclosing_size; /* enclosing range, larger for alignment */
    uint8_t *host_range;                /* corresponding range on the host; one page larger */
} reservation;

static cuda_table physicals; /* by handle */
static reservation *reservations;

static cuda_physical *physical_of(uint64_t handle)
{
    return handle ? cuda_table_get(&physicals, (void *)(uintptr_t)handle) : NULL;
}

static reservation *reservation_of(uint64_t address, uint64_t size)
{
    for (reservation *r = reservations; r; r = r->next)
        if (address - r->address < r->size && size <= r->size - (address - r->address)) return r;
    return NULL;
}

/* Memory for the tiles of sparse arrays. */
static bool is_tile_pool(const cuda_physical *p)
{
    enum { USAGE = 2 }; /* index */
    return p->properties.flags[USAGE] & 1;
}

int cuda_tile_pool(uint64_t handle, uint64_t *bytes)
{
    const cuda_physical *p = physical_of(handle);
    if (!p || !is_tile_pool(p)) return -1;
    *bytes = p->size;
    return p->fd;
}

static bool is_of_host(const cuda_physical *p)
{
    return p->properties.location_type > CUDA_LOCATION_DEVICE;
}

bool cuda_reserved_range(uint64_t address, uint64_t *start, uint64_t *size)
{
    const reservation *r = reservation_of(address, 1);
    if (r) *start = r->address, *size = r->size;
    return r != NULL;
}

static void release_physical(cuda_physical *p)
{
    if (--p->refs) return;
    cuda_table_remove(&physicals, p);
    if (!is_of_host(p)) cuda.device[p->device].used -= p->size;
    close(p->fd);
    free(p);
}

/* Takes ownership of the file. */
static int add_physical(int fd, int device, uint64_t size, const allocation_properties *q,
                        uint64_t *out)
{
    cuda_physical *p = fd >= 0 ? calloc(1, sizeof *p) : NULL;
    if (!p || !cuda_table_put(&physicals, p, p)) {
        free(p);
        if (fd >= 0) close(fd);
        return CU_MEMORY_ALLOCATION;
    }
    *p = (cuda_physical){.fd = fd, .device = device, .size = size, .refs = 1, .properties = *q};
    if (!is_of_host(p)) cuda.device[device].used += size;
    *out = (uintptr_t)p;
    return CU_OK;
}

/* ---------------------------------------------------------------- other drivers */

/* cudaExternalMemoryHandleDesc and cudaExternalSemaphoreHandleDesc begin in this way. */
typedef struct external {
    int type;
    union {
        int fd;
        const void *window[2];
    } u;
} external;

/* Memory and semaphores of other drivers cannot be imported; invalid handles have the errors of an
 * H100. `last`: the last valid type; two of them have a file. */
static int import_external(const char *call, const external *e, void **out, int last)
{
    enum { OPAQUE_FD = 1, TIMELINE_FD = 9 };
    if (!e || !out || e->type < OPAQUE_FD || e->type > last) return CU_INVALID_VALUE;
    if ((e->type == OPAQUE_FD || e->type == TIMELINE_FD) && fcntl(e->u.fd, F_GETFD) < 0)
        return CU_UNKNOWN;
    cuda_report("%s is not supported: it shares memory with other drivers and devices", call);
    return CU_NOT_SUPPORTED;
}

int pl_cudaImportExternalMemory(void **out, const void *description)
{
    return import_external("cudaImportExternalMemory", description, out, 8);
}

int pl_cudaImportExternalSemaphore(void **out, const void *description)
{
    return import_external("cudaImportExternalSemaphore", description, out, 10);
}

/* ---------------------------------------------------------------- virtual memory management */

int pl_cuMemGetAllocationGranularity(size_t *out, const void *properties, int option)
{
    if (!out || !properties || option < 0 || option > 1) return CU_INVALID_VALUE;
    *out = GRANULE;
    return CU_OK;
}

int pl_cuMemAddressReserve(uint64_t *out, size_t size, size_t alignment, uint64_t hint,
                           unsigned long long flags)
{
    (void)hint; /* the library chooses addresses */
    if (!out || !size || size % GRANULE || alignment & (alignment - 1) || flags)
        return CU_INVALID_VALUE;
    const uint64_t padding = alignment > GRANULE ? alignment : 0, padded_size = size + padding;
    if (padded_size < size) return CU_MEMORY_ALLOCATION;
    reservation *r = calloc(1, sizeof *r);
    if (!r) return CU_MEMORY_ALLOCATION;
    void *host_range = mmap(NULL, size + cuda_page(), PROT_READ,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    const uint64_t enclosing = host_range == MAP_FAILED ? 0 : cuda_reserve_addresses(padded_size);
    if (!enclosing) {
        if (host_range != MAP_FAILED) munmap(host_range, size + cuda_page());
        free(r);
        return CU_MEMORY_ALLOCATION;
    }
    const uint64_t address = padding ? (enclosing + padding - 1) / padding * padding : enclosing;
    *r = (reservation){reservations, address, size, enclosing, padded_size, host_range};
    reservations = r;
    *out = address;
    return CU_OK;
}

int pl_cuMemAddressFree(uint64_t address, size_t size)
{
    reservation **at = &reservations;
    while (*at && (*at)->address != address) at = &(*at)->next;
    reservation *r = *at;
    if (!r || r->size != size) return CU_INVALID_VALUE;
    for (uint64_t a = address; a < address + size; a += GRANULE)
        if (cuda_alloc_find(a)) return CU_INVALID_VALUE; /* something is mapped there */
    *at = r->next;
    munmap(r->host_range, r->size + cuda_page());
    cuda_return_addresses(r->enclosing, r->enclosing_size);
    free(r);
    return CU_OK;
}

int pl_cuMemCreate(uint64_t *out, size_t size, const void *properties, unsigned long long flags)
{
    enum { WINDOWS_HANDLES = 2 | 4 };
    const allocation_properties *q = properties;
    if (!out || !q || !size || size % GRANULE || flags || q->type != 1) return CU_INVALID_VALUE;
    if (q->location_type < CUDA_LOCATION_DEVICE ||
        q->location_type > CUDA_LOCATION_HOST_NUMA_CURRENT || q->handle_types & WINDOWS_HANDLES)
        return CU_INVALID_VALUE;
    const bool of_device = q->location_type == CUDA_LOCATION_DEVICE;
    const int device = of_device ? q->location : cuda_self.device;
    if (!cuda_is_device(device)) return CU_INVALID_DEVICE;
    if (size > cuda_device_bytes() ||
        (of_device && cuda.device[device].used > cuda_device_bytes() - size))
        return CU_MEMORY_ALLOCATION;
    return add_physical(cuda_memory_file(size), device, size, q, out);
}

int pl_cuMemRelease(uint64_t handle)
{
    cuda_physical *p = physical_of(handle);
    if (!p) return CU_INVALID_VALUE;
    release_physical(p);
    return CU_OK;
}

/* Maps a file on the host at the place of an address. The H100 accepts a mapping that begins in a
 * reservation and ends after it; it is not contiguous with others on the host. NULL: failed. */
static uint8_t *map_file(const reservation *r, uint64_t address, size_t size, int fd)
{
    const uint64_t at = address - r->address;
    void *p = r->host_range + at;
    if (size > r->size - at) {
        cuda_claim_addresses(address, size);
        p = mmap(NULL, size + cuda_page(), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                 -1, 0);
        if (p == MAP_FAILED) return NULL;
    }
    p = mmap(p, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* True if a mapping in the range begins before it or ends after it. */
static bool cuts_mapping(uint64_t address, size_t size)
{
    const cuda_alloc *first = cuda_alloc_find(address), *last = cuda_alloc_find(address + size - 1);
    return (first && (!first->physical || first->address != address)) ||
           (last && (!last->physical || last->address + last->size > address + size));
}

int pl_cuMemMap(uint64_t address, size_t size, size_t offset, uint64_t handle,
                unsigned long long flags)
{
    cuda_physical *p = physical_of(handle);
    const reservation *r = reservation_of(address, 1);
    if (!p || !size || address % GRANULE || flags || is_tile_pool(p)) return CU_INVALID_VALUE;
    if (offset || size != p->size) return CU_NOT_SUPPORTED; /* only as a whole */
    if (!r || size > cuda.window_end - address || cuda_alloc_overlaps(address, size))
        return CU_INVALID_VALUE;
    uint8_t *bytes = map_file(r, address, size, p->fd);
    if (!bytes) return CU_MEMORY_ALLOCATION;
    const cuda_alloc a = {.address = address,
                          .size = size,
                          .bytes = bytes,
                          .type = is_of_host(p) ? MEMORY_HOST : MEMORY_DEVICE,
                          .device = p->device,
                          .fixed = true,
                          .physical = p};
    const int error = cuda_map_allocation(&a);
    if (!error) p->refs++;
    return error;
}

/* Makes physical memory of the host accessible at its address, or inaccessible. */
static int open_for_host(const cuda_alloc *a, bool enable)
{
    void *at = (void *)(uintptr_t)a->address;
    const void *p = enable ? mmap(at, a->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                                  a->physical->fd, 0)
                           : mmap(at, a->size, PROT_NONE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    return p == MAP_FAILED ? CU_MEMORY_ALLOCATION : CU_OK;
}

/* Mappings must be entirely within the range. */
int pl_cuMemUnmap(uint64_t address, size_t size)
{
    if (!size || !reservation_of(address, 1) || cuts_mapping(address, size))
        return CU_INVALID_VALUE;
    if (!reservation_of(address, size) && !cuda_alloc_find(address + size - 1))
        return CU_INVALID_VALUE;
    for (uint64_t at = address; at < address + size;) {
        const cuda_alloc *a = cuda_alloc_find(at);
        if (!a || !a->physical) {
            at += GRANULE;
            continue;
        }
        cuda_physical *p = a->physical;
        const uint64_t next = a->address + a->size;
        if (mmap(a->bytes, a->size, PROT_READ,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
            return CU_MEMORY_ALLOCATION;
        if (is_of_host(p) && open_for_host(a, false)) return CU_MEMORY_ALLOCATION;
        cuda_release(a->address, 1u << a->type);
        release_physical(p);
        at = next;
    }
    return CU_OK;
}

/* CUmemAccessDesc */
typedef struct access_descriptor {
    int location_type, location, flags;
} access_descriptor;

/* True if mappings fill the range. */
static bool is_mapped(uint64_t address, size_t size)
{
    const uint64_t end = address + size;
    const cuda_alloc *a = NULL;
    for (; address < end; address = a->address + a->size) {
        a = cuda_alloc_at_address(address);
        if (!a || a->size > end - address) return false;
    }
    return true;
}

/* Applies to all mappings in the range. The host can access physical memory of the host. */
static int set_access(uint64_t address, size_t size, const access_descriptor *d)
{
    const bool of_device = d->location_type == CUDA_LOCATION_DEVICE;
    if ((of_device && !cuda_is_device(d->location)) || d->location_type < CUDA_LOCATION_DEVICE ||
        d->location_type > CUDA_LOCATION_HOST_NUMA_CURRENT)
        return CU_INVALID_VALUE;
    if (d->flags && d->flags != CUDA_READ_ONLY && d->flags != CUDA_READ_WRITE)
        return CU_INVALID_VALUE;
    if (!is_mapped(address, size)) return CU_INVALID_VALUE;
    for (uint64_t at = address; at < address + size;) {
        cuda_alloc *a = cuda_alloc_at_address(at);
        if (!of_device && !is_of_host(a->physical)) return CU_NOT_SUPPORTED;
        const int error = of_device ? cuda_set_access(at, d->location, d->flags != 0)
                                    : open_for_host(a, d->flags != 0);
        if (error) return error;
        if (of_device) {
            const unsigned bit = 1u << d->location;
            a->read_only &= ~bit;
            if (d->flags == CUDA_READ_ONLY) a->read_only |= bit;
        } else {
            a->physical->host_access = d->flags;
        }
        at = a->address + a->size;
    }
    return CU_OK;
}

int pl_cuMemSetAccess(uint64_t address, size_t size, const void *access, size_t n)
{
    if (!access || !n || !size || !reservation_of(address, size) || !cuda_alloc_find(address))
        return CU_INVALID_VALUE;
    int error = CU_OK;
    for (size_t k = 0; k < n && !error; k++)
        error = set_access(address, size, (const access_descriptor *)access + k);
    return error;
}

int pl_cuMemGetAccess(unsigned long long *flags, const void *location, uint64_t address)
{
    const cuda_alloc *a = cuda_alloc_find(address);
    const int *where = location; /* CUmemLocation: its type, its number */
    if (!flags || !where || !a || !a->physical) return CU_INVALID_VALUE;
    if (where[0] == CUDA_LOCATION_DEVICE && !cuda_is_device(where[1])) return CU_INVALID_DEVICE;
    if (where[0] != CUDA_LOCATION_DEVICE) {
        *flags = (unsigned)a->physical->host_access;
        return CU_OK;
    }
    const unsigned bit = 1u << where[1];
    *flags = !(a->access & bit) ? 0 : a->read_only & bit ? CUDA_READ_ONLY : CUDA_READ_WRITE;
    return CU_OK;
}

int pl_cuMemGetAllocationPropertiesFromHandle(void *out, uint64_t handle)
{
    const cuda_physical *p = physical_of(handle);
    if (!p || !out) return CU_INVALID_VALUE;
    memcpy(out, &p->properties, sizeof p->properties);
    return CU_OK;
}

int pl_cuMemRetainAllocationHandle(uint64_t *out, void *address)
{
    const cuda_alloc *a = cuda_alloc_find((uintptr_t)address);
    if (!out || !a || !a->physical) return CU_INVALID_VALUE;
    a->physical->refs++;
    *out = (uintptr_t)a->physical;
    return CU_OK;
}

int pl_cuMemExportToShareableHandle(void *out, uint64_t handle, int type, unsigned long long flags)
{
    const cuda_physical *p = physical_of(handle);
    if (!out || !p || flags || type != CUDA_POSIX_FILE) return CU_INVALID_VALUE;
    if (!(p->properties.handle_types & CUDA_POSIX_FILE)) return CU_INVALID_VALUE;
    const int fd = fcntl(p->fd, F_DUPFD_CLOEXEC, 3);
    memcpy(out, &fd, sizeof fd);
    return fd >= 0 ? CU_OK : CU_UNKNOWN;
}

int pl_cuMemImportFromShareableHandle(uint64_t *out, void *file, int type)
{
    struct stat st;
    const int fd = (int)(uintptr_t)file;
    if (!out || type != CUDA_POSIX_FILE) return CU_INVALID_VALUE;
    if (fstat(fd, &st) != 0 || st.st_size <= 0) return CU_UNKNOWN;
    const allocation_properties q = {.type = 1,
                                     .handle_types = CUDA_POSIX_FILE,
                                     .location_type = CUDA_LOCATION_DEVICE,
                                     .location = cuda_self.device};
    return add_physical(fcntl(fd, F_DUPFD_CLOEXEC, 3), cuda_self.device, (uint64_t)st.st_size, &q,
                        out);
}

/* ---------------------------------------------------------------- interprocess communication */

typedef struct ipc_handle {
    uint32_t magic;
    int32_t process, fd;
    uint64_t size;
} ipc_handle;

_Static_assert(sizeof(ipc_handle) <= 32, "it is followed by the id of a pool");

static const uint32_t MEMORY_MAGIC = 0x4d504350, EVENT_MAGIC = 0x45504350;

int cuda_export(const cuda_alloc *a, cuda_ipc *out)
{
    const ipc_handle h = {MEMORY_MAGIC, getpid(), cuda_share(a->address), a->size};
    if (h.fd < 0) return CU_MEMORY_ALLOCATION;
    memset(out, 0, sizeof *out);
    memcpy(out, &h, sizeof h);
    return CU_OK;
}

int cuda_import(const cuda_ipc *handle, void **out)
{
    ipc_handle h;
    char path[64];
    uint64_t address;
    memcpy(&h, handle, sizeof h);
    if (h.magic != MEMORY_MAGIC) return CU_INVALID_VALUE;
    if (h.process == getpid()) return CU_INVALID_CONTEXT;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", h.process, h.fd);
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) return CU_INVALID_HANDLE;
    const int error = cuda_alloc_file(fd, h.size, &address);
    if (!error) *out = (void *)(uintptr_t)address;
    return error;
}

/* Memory of other processes, opened once or several times. */
typedef struct import {
    struct import *next;
    cuda_ipc handle;
    uint64_t address;
    unsigned open_count;
} import;
static import *imports;
enum { LAZY_PEER_ACCESS = 1 };

static import *imported_at(const void *p)
{
    import *i = imports;
    while (i && i->address != (uintptr_t)p) i = i->next;
    return i;
}

bool cuda_is_imported(const void *p)
{
    return p && imported_at(p);
}

int pl_cudaIpcGetMemHandle(cuda_ipc *out, void *p)
{
    const cuda_alloc *a = cuda_alloc_find((uintptr_t)p);
    if (!out || !a || a->type != MEMORY_DEVICE || a->pooled || a->physical || cuda_is_imported(p))
        return CU_INVALID_VALUE;
    return cuda_export(a, out);
}

int pl_cudaIpcOpenMemHandle(void **out, cuda_ipc handle, unsigned flags)
{
    if (!out || flags != LAZY_PEER_ACCESS) return CU_INVALID_VALUE;
    for (import *i = imports; i; i = i->next)
        if (memcmp(&i->handle, &handle, sizeof handle) == 0) {
            i->open_count++;
            *out = (void *)(uintptr_t)i->address;
            return CU_OK;
        }
    import *i = calloc(1, sizeof *i);
    const int error = i ? cuda_import(&handle, out) : CU_MEMORY_ALLOCATION;
    if (error) {
        free(i);
        return error;
    }
    *i = (import){imports, handle, (uintptr_t)*out, 1};
    imports = i;
    return CU_OK;
}

int pl_cudaIpcCloseMemHandle(void *p)
{
    import *i = imported_at(p);
    cuda_wait(NULL);
    if (!i) return CU_INVALID_VALUE;
    if (--i->open_count) return CU_OK;
    import **at = &imports;
    while (*at != i) at = &(*at)->next;
    *at = i->next;
    free(i);
    return cuda_release((uintptr_t)p, 1u << MEMORY_DEVICE);
}

/* Operations of a process have been executed when their calls return: an event of another process
 * is always in the past. */
int pl_cudaIpcGetEventHandle(cuda_ipc *out, void *event)
{
    const ipc_handle h = {.magic = EVENT_MAGIC, .process = getpid()};
    const cuda_event *e = event ? cuda_table_get(&cuda.events, event) : NULL;
    if (!e || !(e->flags & EVENT_INTERPROCESS) || e->imported) return CU_INVALID_HANDLE;
    if (!out) return CU_INVALID_VALUE;
    memset(out, 0, sizeof *out);
    memcpy(out, &h, sizeof h);
    return CU_OK;
}

int pl_cudaIpcOpenEventHandle(void **out, cuda_ipc handle)
{
    ipc_handle h;
    memcpy(&h, &handle, sizeof h);
    if (!out) return CU_INVALID_VALUE;
    if (h.magic != EVENT_MAGIC) return CU_MAP_FAILED;
    if (h.process == getpid()) return CU_INVALID_CONTEXT;
    const int error = pl_cudaEventCreateWithFlags(out, EVENT_INTERPROCESS | EVENT_NO_TIMING);
    cuda_event *e = error ? NULL : cuda_table_get(&cuda.events, *out);
    if (e) e->imported = true;
    return error;
}
