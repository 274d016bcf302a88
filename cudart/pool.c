/* pool.c - memory pools and stream-ordered allocation.
 *
 * An allocation exists when its call returns; a release takes effect immediately unless its stream
 * is blocked. A pool only keeps counts. */
#define _GNU_SOURCE /* memfd_create */
#include "cudart/blocked.h"
#include "cudart/checking.h"
#include "cudart/graph.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    ATTRIBUTE_REUSE_FIRST = 1, /* three switches */
    ATTRIBUTE_THRESHOLD = 4,
    RESERVED_NOW = 5,
    RESERVED_HIGH = 6,
    USED_NOW = 7,
    USED_HIGH = 8,
    CHUNK = 32 << 20 /* bytes that a pool reserves from the device at once */
};

/* cudaMemPoolProps */
typedef struct pool_properties {
    int type, handle_types, location_type, location;
    void *security;
    size_t max_size;
    unsigned short usage;
    unsigned char reserved[54];
} pool_properties;
_Static_assert(sizeof(pool_properties) == 88, "layout of CUDA 13");

typedef struct cuda_pool {
    struct cuda_pool *next; /* of pools created by the program */
    int device;
    int type;        /* MEMORY_...: of its allocations */
    unsigned access; /* bit k: kernels of device k can access its allocations */
    bool shareable, imported;
    uint64_t id;                  /* known to other processes; 0: none */
    int reuse[4];                 /* by attribute */
    uint64_t threshold, max_size; /* max_size 0: that of the device */
    uint64_t used, used_high, reserved, reserved_high;
    uint64_t held; /* largest use since the host last waited: it is not returned before that */
} cuda_pool;

static cuda_pool *pools;

/* By device; `current`: NULL means the default one. */
static cuda_pool default_pool[CUDA_DEVICES], *current[CUDA_DEVICES];

/* Pools of host and managed memory, by type of location and by kind of memory. */
static struct {
    cuda_pool pool, *current;
} other_pool[CUDA_LOCATION_HOST_NUMA + 1][MEMORY_MANAGED + 1];
static cuda_table owners; /* by address: the pool of an allocation */

static cuda_pool new_pool(int device, int type)
{
    return (cuda_pool){.device = device,
                       .type = type,
                       .access = type == MEMORY_DEVICE ? 1u << device : 0,
                       .reuse = {0, 1, 1, 1}};
}

static cuda_pool *default_pool_of(int device)
{
    if (!default_pool[device].access) default_pool[device] = new_pool(device, MEMORY_DEVICE);
    return &default_pool[device];
}

static cuda_pool *current_pool_of(int device)
{
    return current[device] ? current[device] : default_pool_of(device);
}

static void trim(cuda_pool *pool, uint64_t keep)
{
    const uint64_t min_reserved = cuda_round_up(pool->held > keep ? pool->held : keep, CHUNK);
    if (pool->reserved > min_reserved) pool->reserved = min_reserved;
}

/* Returns unused memory to the device, down to the threshold. */
static void settle(cuda_pool *p)
{
    p->held = p->used;
    if (p->threshold < p->reserved) trim(p, p->threshold);
}

static void settle_all(void)
{
    for (cuda_pool *p = pools; p; p = p->next) settle(p);
    for (int d = 0; d < cuda.devices; d++) settle(default_pool_of(d));
}

/* Reserves this many bytes of device memory. */
static void reserve(cuda_pool *pool, uint64_t bytes)
{
    cuda.on_wait = settle_all;
    pool->reserved = cuda_round_up(bytes, CHUNK);
    if (pool->reserved > pool->reserved_high) pool->reserved_high = pool->reserved;
}

/* Makes an allocation accessible to the devices that have access to the pool. Managed memory is
 * accessible to all. */
static int grant_access(const cuda_pool *pool, uint64_t address)
{
    int error = CU_OK;
    if (pool->type == MEMORY_MANAGED) return CU_OK;
    for (int d = 0; d < cuda.devices && !error; d++)
        error = cuda_set_access(address, d, pool->access >> d & 1);
    return error;
}

static int allocate_host(int type, size_t bytes, uint64_t *out)
{
    void *p;
    const int error = cuda_alloc_host(bytes, type, 0, &p);
    if (error) return error;
    *out = (uintptr_t)p;
    cuda_alloc_at_address(*out)->pooled = true;
    return CU_OK;
}

static int allocate(cuda_pool *pool, void **out, size_t bytes)
{
    uint64_t address;
    if (!out || pool->imported) return CU_INVALID_VALUE;
    *out = NULL;
    if (!bytes) return CU_OK;
    if (pool->max_size &&
        cuda_round_up(pool->used + bytes, CHUNK) > cuda_round_up(pool->max_size, CHUNK))
        return CU_MEMORY_ALLOCATION;
    int error = pool->type == MEMORY_DEVICE ? cuda_alloc_device(bytes, pool->device, true, &address)
                                            : allocate_host(pool->type, bytes, &address);
    if (!error) error = grant_access(pool, address);
    if (error) return error;
    *out = (void *)(uintptr_t)address;
    if (!cuda_table_put(&owners, *out, pool)) return CU_MEMORY_ALLOCATION;
    pool->used += bytes;
    if (pool->used > pool->used_high) pool->used_high = pool->used;
    if (pool->used > pool->held) pool->held = pool->used;
    if (pool->used > pool->reserved) reserve(pool, pool->used);
    return CU_OK;
}

static int allocate_in_stream(cuda_pool *pool, void **out, size_t bytes, void *stream)
{
    cuda_stream *s = cuda_stream_of(stream);
    if (!s) return CU_INVALID_HANDLE;
    if (!s->capture) {
        int error = cuda_check_captures(CUDA_UNSAFE_CALL);
        if (!error) error = allocate(pool, out, bytes);
        if (!error && *out) cuda_order_allocated((uintptr_t)*out, s);
        return error;
    }
    if (s->capture->invalid) return CAPTURE_INVALIDATED;
    cuda_op op = {.kind = OP_ALLOC};
    size_t n;
    void **before;
    int status;
    const int capture_error =
        pl_cudaStreamGetCaptureInfo(stream, &status, NULL, NULL, &before, NULL, &n);
    if (capture_error || !out) return capture_error ? capture_error : CU_INVALID_VALUE;
    const int error = cuda_graph_memory_op(s->capture->graph, before, n, bytes, &op);
    if (error) return error;
    *out = (void *)(uintptr_t)op.u.memory->address;
    return cuda_submit(s, &op);
}

int pl_cudaMallocAsync(void **out, size_t bytes, void *stream)
{
    const cuda_stream *s = cuda_stream_of(stream);
    return s ? allocate_in_stream(current_pool_of(s->device), out, bytes, stream)
             : CU_INVALID_HANDLE;
}

int pl_cudaMallocFromPoolAsync(void **out, size_t bytes, void *pool, void *stream)
{
    return pool ? allocate_in_stream(pool, out, bytes, stream) : CU_INVALID_VALUE;
}

static int free_in_stream(cuda_stream *s, void *p)
{
    const cuda_alloc *a = cuda_alloc_find((uintptr_t)p);
    if (!a || a->address != (uintptr_t)p) return CU_INVALID_VALUE;
    cuda_order_freed((uintptr_t)p, s);
    cuda_pool *pool = cuda_table_get(&owners, p);
    if (pool) pool->used -= a->size;
    cuda_table_remove(&owners, p);
    return cuda_release((uintptr_t)p, 1u << a->type);
}

int pl_cudaFreeAsync(void *p, void *stream)
{
    cuda_stream *s = cuda_stream_of(stream);
    if (!s) return CU_INVALID_HANDLE;
    if (!p) return CU_OK;
    if (s->capture) return cuda_capture_free(s, p);
    const cuda_alloc *a = cuda_alloc_find((uintptr_t)p);
    if (a && a->type == MEMORY_MANAGED && !a->pooled) return CU_NOT_SUPPORTED;
    if (!a || a->address != (uintptr_t)p || (a->type != MEMORY_DEVICE && !a->pooled))
        return CU_INVALID_VALUE;
    const int unsafe = cuda_check_captures(CUDA_UNSAFE_CALL);
    if (unsafe) return unsafe;
    return cuda_is_blocked(s) ? cuda_defer(s, &(cuda_work){.run = free_in_stream, .what = p})
                              : free_in_stream(s, p);
}

int pl_cudaDeviceGetDefaultMemPool(void **out, int device)
{
    if (!out) return CU_INVALID_VALUE;
    if (!cuda_is_device(device)) return CU_INVALID_DEVICE;
    *out = default_pool_of(device);
    return CU_OK;
}

int pl_cudaDeviceGetMemPool(void **out, int device)
{
    if (!out) return CU_INVALID_VALUE;
    if (!cuda_is_device(device)) return CU_INVALID_DEVICE;
    *out = current_pool_of(device);
    return CU_OK;
}

int pl_cudaDeviceSetMemPool(int device, void *pool)
{
    if (!cuda_is_device(device)) return CU_INVALID_VALUE;
    const cuda_pool *p = pool;
    if (!p || p->device != device || p->type != MEMORY_DEVICE || p->imported)
        return CU_INVALID_VALUE;
    current[device] = pool;
    return CU_OK;
}

static void add_pool(cuda_pool *pool)
{
    pool->next = pools;
    pools = pool;
}

enum { ALLOCATION_PINNED = 1, ALLOCATION_MANAGED = 2 }; /* cudaMemAllocationType */

/* Returns the kind of memory of a pool; 0: there is none there. */
static int type_at(int location_type, int kind)
{
    if (location_type < 0 || location_type > CUDA_LOCATION_HOST_NUMA) return 0;
    if (kind == ALLOCATION_MANAGED) return MEMORY_MANAGED;
    if (kind != ALLOCATION_PINNED || !location_type) return 0;
    return location_type == CUDA_LOCATION_DEVICE ? MEMORY_DEVICE : MEMORY_HOST;
}

int pl_cudaMemPoolCreate(void **out, const void *properties)
{
    const pool_properties *p = properties;
    enum { FABRIC = 8, HANDLES = CUDA_POSIX_FILE | FABRIC }; /* cudaMemAllocationHandleType */
    if (!out || !p || p->handle_types & ~HANDLES) return CU_INVALID_VALUE;
    for (size_t k = 0; k < sizeof p->reserved; k++)
        if (p->reserved[k]) return CU_INVALID_VALUE;
    const int type = type_at(p->location_type, p->type);
    const bool of_device = p->location_type == CUDA_LOCATION_DEVICE;
    if (!type || (of_device && !cuda_is_device(p->location))) return CU_INVALID_VALUE;
    const int unsafe = cuda_check_captures(CUDA_UNSAFE_CALL);
    if (unsafe) return unsafe;
    cuda_pool *pool = malloc(sizeof *pool);
    if (!pool) return CU_MEMORY_ALLOCATION;
    *pool = new_pool(of_device ? p->location : cuda_self.device, type);
    pool->shareable = p->handle_types & CUDA_POSIX_FILE;
    pool->max_size = p->max_size;
    add_pool(pool);
    *out = pool;
    return CU_OK;
}

void *cuda_pool_of(uint64_t address)
{
    return cuda_table_get(&owners, (void *)(uintptr_t)address);
}

static bool is_other_default(const cuda_pool *p)
{
    for (int l = 0; l <= CUDA_LOCATION_HOST_NUMA; l++)
        if (p == &other_pool[l][p->type].pool) return true;
    return false;
}

int pl_cudaMemPoolDestroy(void *pool)
{
    const cuda_pool *p = pool;
    if (!pool || pool == default_pool_of(p->device) || is_other_default(p)) return CU_INVALID_VALUE;
    const int unsafe = cuda_check_captures(CUDA_UNSAFE_CALL);
    if (unsafe) return unsafe;
    if (current[p->device] == pool) current[p->device] = NULL;
    for (int l = 0; l <= CUDA_LOCATION_HOST_NUMA; l++)
        if (other_pool[l][p->type].current == p) other_pool[l][p->type].current = NULL;
    for (size_t k = 0; k < owners.cap; k++) /* remaining allocations move to the default pool */
        if (owners.slot[k].key && owners.slot[k].value == pool)
            owners.slot[k].value = default_pool_of(p->device);
    cuda_pool **at = &pools;
    while (*at && *at != p) at = &(*at)->next;
    if (*at) *at = p->next;
    free(pool);
    return CU_OK;
}

int pl_cudaMemPoolGetAttribute(void *handle, int attribute, void *value)
{
    const cuda_pool *pool = handle;
    if (!pool || !value || attribute < ATTRIBUTE_REUSE_FIRST || attribute > USED_HIGH ||
        pool->imported)
        return CU_INVALID_VALUE;
    if (attribute < ATTRIBUTE_THRESHOLD) {
        memcpy(value, &pool->reuse[attribute], sizeof(int));
        return CU_OK;
    }
    const uint64_t n = attribute == ATTRIBUTE_THRESHOLD ? pool->threshold
                       : attribute == RESERVED_NOW      ? pool->reserved
                       : attribute == RESERVED_HIGH     ? pool->reserved_high
                       : attribute == USED_NOW          ? pool->used
                                                        : pool->used_high;
    memcpy(value, &n, sizeof n);
    return CU_OK;
}

/* The high watermarks can only be set to zero: they are reset to the current values. */
static int reset_watermark(cuda_pool *pool, int attribute, const void *value)
{
    uint64_t zero;
    memcpy(&zero, value, sizeof zero);
    if (zero) return CU_INVALID_VALUE;
    if (attribute == RESERVED_HIGH)
        pool->reserved_high = pool->reserved;
    else
        pool->used_high = pool->used;
    return CU_OK;
}

int pl_cudaMemPoolSetAttribute(void *handle, int attribute, void *value)
{
    cuda_pool *pool = handle;
    if (!pool || pool->imported || !value || attribute < ATTRIBUTE_REUSE_FIRST ||
        attribute > USED_HIGH)
        return CU_INVALID_VALUE;
    const int unsafe = cuda_check_captures(CUDA_UNSAFE_CALL);
    if (unsafe) return unsafe;
    int on;
    memcpy(&on, value, sizeof on);
    if (attribute < ATTRIBUTE_THRESHOLD)
        pool->reuse[attribute] = on != 0;
    else if (attribute == ATTRIBUTE_THRESHOLD)
        memcpy(&pool->threshold, value, sizeof pool->threshold);
    else if (attribute != RESERVED_HIGH && attribute != USED_HIGH)
        return CU_INVALID_VALUE;
    else
        return reset_watermark(pool, attribute, value);
    return CU_OK;
}

int pl_cudaMemPoolTrimTo(void *pool, size_t bytes)
{
    if (!pool || ((cuda_pool *)pool)->imported) return CU_INVALID_VALUE;
    const int error = cuda_check_captures(CUDA_UNSAFE_CALL);
    if (!error) trim(pool, bytes);
    return error;
}

/* cudaMemAccessDesc */
typedef struct pool_access {
    int location_type, location, flags;
} pool_access;

int pl_cudaMemPoolSetAccess(void *handle, const void *access, size_t n)
{
    cuda_pool *pool = handle;
    const pool_access *a = access;
    enum { UNDEFINED_ACCESS = 2 };
    if (!pool || (!a && n)) return CU_INVALID_VALUE;
    for (size_t k = 0; k < n; k++) {
        if (a[k].location_type != CUDA_LOCATION_DEVICE) return CU_INVALID_VALUE;
        if (!cuda_is_device(a[k].location)) return CU_INVALID_DEVICE;
        if (a[k].flags == UNDEFINED_ACCESS) return CU_INVALID_VALUE;
        if (a[k].flags && a[k].flags != CUDA_READ_WRITE) return CU_NOT_SUPPORTED;
        const unsigned bit = 1u << a[k].location;
        if (pool->type == MEMORY_DEVICE && a[k].location == pool->device && !a[k].flags)
            return CU_INVALID_DEVICE;
        pool->access = a[k].flags ? pool->access | bit : pool->access & ~bit;
    }
    for (size_t k = 0; k < owners.cap; k++) {
        const int error = owners.slot[k].key && owners.slot[k].value == pool
                              ? grant_access(pool, owners.slot[k].key)
                              : CU_OK;
        if (error) return error;
    }
    return CU_OK;
}

int pl_cudaMemPoolGetAccess(int *flags, void *handle, void *location)
{
    const cuda_pool *pool = handle;
    const int *where = location; /* cudaMemLocation: its type, its number */
    if (!flags || !pool || !where) return CU_INVALID_VALUE;
    if (where[0] == CUDA_LOCATION_HOST || where[0] == CUDA_LOCATION_HOST_NUMA) {
        *flags = pool->type == MEMORY_HOST ? CUDA_READ_WRITE : 0;
        return CU_OK;
    }
    if (where[0] != CUDA_LOCATION_DEVICE || !cuda_is_device(where[1])) return CU_INVALID_VALUE;
    *flags = pool->access >> where[1] & 1 ? CUDA_READ_WRITE : 0;
    return CU_OK;
}

/* ---- pools of other processes ---- */

/* Contents of the file of a pool: each allocation has a separate file. */
typedef struct shared_pool {
    char magic[8];
    uint64_t id;
} shared_pool;

static const char pool_magic[8] = "PLPOOL1";
enum { POOL_ID_OFFSET = 32 }; /* in the data of an allocation: id of its pool */

static uint64_t id_of(cuda_pool *pool)
{
    if (!pool->id) pool->id = (uint64_t)getpid() << 32 | ++cuda.ids;
    return pool->id;
}

int pl_cudaMemPoolExportToShareableHandle(void *out, void *handle, int type, unsigned flags)
{
    cuda_pool *pool = handle;
    if (!out || !pool || !pool->shareable || flags || type != CUDA_POSIX_FILE)
        return CU_INVALID_VALUE;
    shared_pool contents = {.id = id_of(pool)};
    memcpy(contents.magic, pool_magic, sizeof contents.magic);
    const int fd = memfd_create("ptxloom pool", MFD_CLOEXEC);
    if (fd < 0) return CU_UNKNOWN;
    if (write(fd, &contents, sizeof contents) != sizeof contents) {
        close(fd);
        return CU_UNKNOWN;
    }
    memcpy(out, &fd, sizeof fd);
    return CU_OK;
}

int pl_cudaMemPoolImportFromShareableHandle(void **out, void *file, int type, unsigned flags)
{
    shared_pool contents;
    const int fd = (int)(uintptr_t)file;
    if (!out || flags || type != CUDA_POSIX_FILE ||
        pread(fd, &contents, sizeof contents, 0) != sizeof contents ||
        memcmp(contents.magic, pool_magic, sizeof contents.magic) != 0)
        return CU_INVALID_VALUE;
    cuda_pool *pool = malloc(sizeof *pool);
    if (!pool) return CU_MEMORY_ALLOCATION;
    *pool = new_pool(cuda_self.device, MEMORY_DEVICE);
    pool->imported = true;
    add_pool(pool);
    pool->id = contents.id;
    *out = pool;
    return CU_OK;
}

int pl_cudaMemPoolExportPointer(void *out, void *p)
{
    const cuda_alloc *a = cuda_alloc_find((uintptr_t)p);
    cuda_pool *pool = p ? cuda_table_get(&owners, p) : NULL;
    cuda_ipc data;
    if (!out || !a || !pool || !pool->shareable) return CU_INVALID_VALUE;
    const int error = cuda_export(a, &data);
    if (error) return error;
    memcpy(data.bytes + POOL_ID_OFFSET, &(uint64_t){id_of(pool)}, sizeof pool->id);
    memcpy(out, &data, sizeof data);
    return CU_OK;
}

/* Data of another pool's allocation is rejected: programs try which pool matches. */
int pl_cudaMemPoolImportPointer(void **out, void *handle, void *data_in)
{
    cuda_pool *pool = handle;
    cuda_ipc data;
    if (!out || !pool || !pool->imported || !data_in) return CU_INVALID_VALUE;
    memcpy(&data, data_in, sizeof data);
    if (memcmp(data.bytes + POOL_ID_OFFSET, &pool->id, sizeof pool->id) != 0)
        return CU_INVALID_VALUE;
    int error = cuda_import(&data, out);
    const cuda_alloc *a = error ? NULL : cuda_alloc_find((uintptr_t)*out);
    if (a && !cuda_table_put(&owners, *out, pool)) error = CU_MEMORY_ALLOCATION;
    if (a && !error) pool->used += a->size;
    if (pool->used > pool->held) pool->held = pool->used;
    return error;
}

/* ---- pools by location and kind of memory ---- */

/* Finds the pool of a location (cudaMemLocation): the default one, and the location of the current
 * one; NULL: that of a device. */
static int pool_at(const void *location, int kind, cuda_pool **pool, cuda_pool ***now)
{
    int where[2];
    if (!location) return CU_INVALID_VALUE;
    memcpy(where, location, sizeof where);
    if (where[0] > CUDA_LOCATION_HOST_NUMA) return CU_NOT_SUPPORTED;
    const int type = type_at(where[0], kind);
    const bool of_device = where[0] == CUDA_LOCATION_DEVICE;
    if (!type || (of_device && !cuda_is_device(where[1]))) return CU_INVALID_VALUE;
    *now = NULL;
    if (type == MEMORY_DEVICE) {
        *pool = default_pool_of(where[1]);
        return CU_OK;
    }
    *pool = &other_pool[where[0]][type].pool;
    if (!(*pool)->type) **pool = new_pool(of_device ? where[1] : 0, type);
    *now = &other_pool[where[0]][type].current;
    return CU_OK;
}

int pl_cudaMemGetDefaultMemPool(void **out, const void *location, int kind)
{
    cuda_pool *pool = NULL, **now;
    if (!out) return CU_INVALID_VALUE;
    const int error = pool_at(location, kind, &pool, &now);
    if (!error) *out = pool;
    return error;
}

int pl_cudaMemGetMemPool(void **out, const void *location, int kind)
{
    cuda_pool *pool = NULL, **now;
    if (!out) return CU_INVALID_VALUE;
    const int error = pool_at(location, kind, &pool, &now);
    if (error) return error;
    *out = !now ? current_pool_of(pool->device) : *now ? *now : pool;
    return CU_OK;
}

int pl_cudaMemSetMemPool(const void *location, int kind, void *pool)
{
    cuda_pool *at = NULL, **now;
    const int error = pool_at(location, kind, &at, &now);
    if (error) return error;
    if (!now) return pl_cudaDeviceSetMemPool(at->device, pool);
    if (!pool || ((const cuda_pool *)pool)->type != at->type) return CU_INVALID_VALUE;
    *now = pool;
    return CU_OK;
}
