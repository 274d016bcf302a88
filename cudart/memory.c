/* memory.c - calls that allocate, release, register and query memory. */
#include "cudart/blocked.h"
#include "cudart/checking.h"
#include "cudart/clock.h"
#include "cudart/state.h"
#include <unistd.h>

enum { PITCH = 512 }; /* of cudaMallocPitch, in bytes */

int pl_cudaMalloc(void **p, size_t size)
{
    uint64_t address;
    if (!p) return CU_INVALID_VALUE;
    *p = NULL;
    if (!size) return CU_OK;
    int error = cuda.sticky ? cuda.sticky : cuda_check_captures(CUDA_UNSAFE_CALL);
    if (!error) error = cuda_alloc_device(size, cuda_self.device, false, &address);
    cuda_clock_alloc(false);
    if (!error) *p = (void *)(uintptr_t)address;
    return error;
}

int pl_cudaFree(void *p)
{
    const int error = cuda_check_captures(CUDA_UNSAFE_CALL);
    if (error) return error;
    cuda_wait(NULL);
    cuda_flush();
    if (!p) return CU_OK;
    if (cuda_is_imported(p)) return CU_INVALID_VALUE;
    cuda_clock_alloc(true);
    const cuda_alloc *a = cuda_alloc_find((uintptr_t)p);
    if (a && a->physical) return CU_INVALID_VALUE; /* cuMemUnmap */
    const unsigned pooled_host = a && a->pooled ? 1u << MEMORY_HOST : 0;
    const int result =
        cuda_release((uintptr_t)p, 1u << MEMORY_DEVICE | 1u << MEMORY_MANAGED | pooled_host);
    if (result) cuda_checked_bad_free(p);
    return result;
}

int pl_cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height)
{
    if (!p || !pitch) return CU_INVALID_VALUE;
    if (width > SIZE_MAX - PITCH) return CU_INVALID_VALUE;
    *pitch = width && height ? cuda_round_up(width, PITCH) : 0;
    if (height && *pitch > SIZE_MAX / height) return CU_MEMORY_ALLOCATION;
    return pl_cudaMalloc(p, *pitch * height);
}

int pl_cudaMalloc3D(cuda_pitched *out, cuda_extent extent)
{
    if (!out || extent.width > SIZE_MAX - PITCH) return CU_INVALID_VALUE;
    const size_t rows = extent.height * extent.depth;
    const size_t pitch = rows ? cuda_round_up(extent.width, PITCH) : 0;
    if ((extent.depth && rows / extent.depth != extent.height) || (rows && pitch > SIZE_MAX / rows))
        return CU_MEMORY_ALLOCATION;
    *out = (cuda_pitched){.pitch = pitch, .xsize = extent.width, .ysize = extent.height};
    return pl_cudaMalloc(&out->ptr, pitch * rows);
}

/* On an H100, small portable allocations do not have this flag. */
/* Large allocations cannot exceed the host's memory, since pinned pages are not swapped out. */
static bool exceeds_host(size_t size)
{
    enum { LARGE = 64 << 20 };
    const uint64_t bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * cuda_page();
    uint64_t pinned = 0;
    if (size < LARGE) return false;
    for (size_t k = 0; k < cuda.alloc.n; k++)
        if (cuda.alloc.at[k].type == MEMORY_HOST && !cuda.alloc.at[k].registered)
            pinned += cuda.alloc.at[k].size;
    return size > bytes || pinned > bytes - size;
}

int pl_cudaHostAlloc(void **p, size_t size, unsigned flags)
{
    enum { PORTABLE = 1, SMALL = 4096 };
    if (!p) return CU_INVALID_VALUE;
    *p = NULL; /* also if the flags are invalid (H100) */
    if (flags > 7) return CU_INVALID_VALUE;
    if (flags == PORTABLE && size < SMALL) flags = 0;
    const int error = size ? cuda_check_captures(CUDA_UNSAFE_CALL) : CU_OK;
    if (!error && exceeds_host(size)) return CU_MEMORY_ALLOCATION;
    if (size && !error) cuda_stream_race_begin();
    return size && !error ? cuda_alloc_host(size, MEMORY_HOST, flags, p) : error;
}

int pl_cudaMallocHost(void **p, size_t size)
{
    return pl_cudaHostAlloc(p, size, 0);
}

int pl_cudaFreeHost(void *p)
{
    const cuda_alloc *a = cuda_alloc_find((uintptr_t)p);
    if (p && (!a || a->registered)) return CU_INVALID_VALUE;
    const int unsafe = cuda_check_captures(CUDA_UNSAFE_CALL); /* for NULL, too (H100) */
    if (!p) return unsafe;
    return unsafe ? unsafe : cuda_release((uintptr_t)p, 1u << MEMORY_HOST);
}

/* An H100 accepts every size that has addresses: pages have memory once they are accessed. */
int pl_cudaMallocManaged(void **p, size_t size, unsigned flags)
{
    if (!p || (flags != 1 && flags != 2)) return CU_INVALID_VALUE;
    if (cuda.sticky) return cuda.sticky;
    *p = NULL;
    if (!size) return CU_OK;
    const int error = cuda_check_captures(CUDA_UNSAFE_CALL);
    if (error) return error;
    cuda_stream_race_begin();
    return cuda_alloc_host(size, MEMORY_MANAGED, flags, p);
}

int pl_cudaHostRegister(void *p, size_t size, unsigned flags)
{
    enum { IO_MEMORY = 4, READ_ONLY = 8, FLAGS = 15 };
    if (!p || !size || flags & ~(unsigned)FLAGS || flags & IO_MEMORY) return CU_INVALID_VALUE;
    const cuda_alloc a = {.address = (uintptr_t)p,
                          .size = size,
                          .bytes = p,
                          .type = MEMORY_HOST,
                          .device = cuda_self.device,
                          .access = CUDA_ALL_DEVICES,
                          .flags = flags & ~(unsigned)READ_ONLY,
                          .registered = true};
    const cuda_alloc *existing = cuda_alloc_find((uintptr_t)p);
    if ((existing && !existing->registered) || cuda_is_managed(p, size)) return CU_INVALID_VALUE;
    if (!existing && cuda_host_access((uintptr_t)p, size, !(flags & READ_ONLY)) == 0)
        return CU_INVALID_VALUE;
    if (!cuda_readable_beyond((uintptr_t)p + size)) return CU_NOT_SUPPORTED;
    const int unsafe = cuda_check_captures(CUDA_UNSAFE_CALL);
    if (unsafe) return unsafe;
    return cuda_map_allocation(&a);
}

int pl_cudaHostUnregister(void *p)
{
    const cuda_alloc *a = cuda_alloc_find((uintptr_t)p);
    if (!p) return CU_INVALID_VALUE;
    if (!a) return CU_NOT_REGISTERED;
    if (!a->registered || a->address != (uintptr_t)p) return CU_INVALID_VALUE;
    const int unsafe = cuda_check_captures(CUDA_UNSAFE_CALL);
    return unsafe ? unsafe : cuda_release((uintptr_t)p, 1u << MEMORY_HOST);
}

int pl_cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
    const cuda_alloc *a = cuda_alloc_find((uintptr_t)host);
    if (!device || flags || !a || a->type != MEMORY_HOST) return CU_INVALID_VALUE;
    *device = host;
    return CU_OK;
}

int pl_cudaHostGetFlags(unsigned *flags, void *host)
{
    const cuda_alloc *a = cuda_alloc_find((uintptr_t)host);
    if (!flags || !a || a->type == MEMORY_DEVICE) return CU_INVALID_VALUE;
    *flags = a->flags | 2; /* all of it is mapped */
    return CU_OK;
}

int pl_cudaMemGetInfo(size_t *unused, size_t *total)
{
    if (unused) *unused = cuda_free_bytes();
    if (total) *total = cuda_device_bytes();
    return CU_OK;
}

int pl_cudaPointerGetAttributes(cuda_pointer_attributes *out, const void *p)
{
    if (!out) return CU_INVALID_VALUE;
    const cuda_alloc *a = cuda_alloc_find((uintptr_t)p);
    *out = (cuda_pointer_attributes){.device = -2, .host_pointer = (void *)(uintptr_t)p};
    int device = a ? a->device : 0;
    if (cuda_in_heap(p)) return CU_OK;
    if (!a && !(p && cuda_view((uintptr_t)p, 1, &device))) return CU_OK;
    out->type = a ? a->type : cuda_in_window((uintptr_t)p) ? MEMORY_DEVICE : MEMORY_MANAGED;
    out->device = device;
    /* Memory of the host in a pool is for devices that have been granted access. */
    if (!a || !a->pooled || a->access >> device & 1) out->device_pointer = (void *)(uintptr_t)p;
    out->host_pointer = out->type == MEMORY_DEVICE ? NULL : (void *)(uintptr_t)p;
    return CU_OK;
}

bool cuda_is_managed(const void *p, size_t bytes)
{
    const cuda_alloc *a = cuda_alloc_find((uintptr_t)p);
    if (!a) /* a variable? */
        return p && cuda_view((uintptr_t)p, bytes, NULL) && !cuda_in_window((uintptr_t)p);
    return a->type == MEMORY_MANAGED && bytes <= a->size - ((uintptr_t)p - a->address);
}

/* ---------------------------------------------------------------- reset */

/* Resources of the context are released; a context that failed cannot be restored in this process.
 */
static void release_at_end(const cuda_alloc *a)
{
    if (cuda.options.leak_check) cuda_checked_leak(a);
    cuda_release(a->address, 1u << a->type);
}

void cuda_release_of_context(const cuda_context *c)
{
    cuda_drain_device(c->device);
    cuda_flush();
    for (size_t k = cuda.alloc.n; k-- > 0;)
        if (cuda.alloc.at[k].context == c && !cuda.alloc.at[k].pooled && !cuda.alloc.at[k].physical)
            release_at_end(&cuda.alloc.at[k]);
}

int pl_cudaDeviceReset(void)
{
    cuda_device *device = cuda_current_device();
    cuda_wait(NULL);
    cuda_flush();
    for (size_t k = cuda.alloc.n; k-- > 0;)
        if (cuda.alloc.at[k].device == cuda_self.device) release_at_end(&cuda.alloc.at[k]);
    for (int d = 0; d < cuda.devices; d++) {
        if (device->peers >> d & 1) cuda_set_variable_access(d, cuda_self.device, false);
        cuda_set_access_all(d, cuda_self.device, d == cuda_self.device);
    }
    device->peers = 0;
    device->limits.set = 0;
    device->printed = false;
    device->flags = 0;
    device->cache_config = 0;
    cuda.runtime_used &= ~(1u << cuda_self.device);
    cuda.was_reset |= 1u << cuda_self.device;
    int error = CU_OK;
    for (cuda_module *m = cuda.modules; m && !error; m = m->next)
        if (cuda_loaded(m)) error = cuda_module_reset(m);
    if (cuda.fault) cuda.unavailable |= 1u << cuda_self.device;
    return error;
}
