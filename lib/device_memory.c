/* device_memory.c - the public interface to device memory. */
#include "lib/internal.h"
#include <inttypes.h>
#include <string.h>

pl_status pl_alloc_device(pl_gpu *gpu, uint64_t bytes, const char *name, pl_ptr *out)
{
    *out = 0;
    const char *copy = name ? pl_arena_strdup(gpu->arena, name) : NULL;
    *out = pl_memory_alloc(&gpu->memory, bytes ? bytes : 1, copy);
    return *out ? PL_OK : pl_gpu_no_memory(gpu, "while allocating device memory");
}

/* True if the only remaining allocations are those that launches made for the system: the device
 * heap, the buffer of device-side launches, error names and the grid barrier. */
static bool only_system_memory(const pl_gpu *gpu)
{
    const pl_system *s = &gpu->system;
    const size_t n =
        (size_t)(s->heap.base != 0) + (s->launch_base != 0) + (s->workspace != 0) + (s->texts != 0);
    return gpu->memory.n <= n;
}

void pl_gpu_restart_addresses(pl_gpu *gpu)
{
    pl_system *s = &gpu->system;
    if (!only_system_memory(gpu)) return;
    const uint64_t base = gpu->memory.base, heap_size = s->heap.size;
    pl_heap_close(&s->heap);
    s->heap.size = heap_size;
    s->launch_base = s->launch_size = s->workspace = s->texts = s->texts_size = 0;
    pl_memory_free(&gpu->memory);
    pl_memory_init(&gpu->memory);
    if (base) pl_memory_start(&gpu->memory, base);
}

pl_status pl_gpu_release(pl_gpu *gpu, uint64_t address)
{
    pl_status st = pl_memory_release(&gpu->memory, address);
    if (st == PL_OK && only_system_memory(gpu) && pl_heap_empty(&gpu->system.heap))
        pl_gpu_restart_addresses(gpu);
    return st;
}

void pl_gpu_unify(pl_gpu *gpu, pl_ptr base)
{
    gpu->unified = true;
    pl_memory_start(&gpu->memory, base);
}

void pl_gpu_bounds(pl_gpu *gpu, uint64_t page)
{
    gpu->bounds = page;
}

void pl_gpu_touch(pl_gpu *gpu, pl_ptr address, uint64_t bytes)
{
    const uint64_t page = gpu->machine ? gpu->machine->mem.page_bytes : 0;
    uint64_t ignored;
    if (!gpu->unified || !page || !bytes) return;
    for (uint64_t n = address / page; n <= (address + bytes - 1) / page; n++)
        if (!pl_tlb_translate(&gpu->tlb, n, 0, 0, &ignored)) return; /* it will be waited for */
}

pl_status pl_map_device(pl_gpu *gpu, pl_ptr address, uint64_t bytes, void *host, const char *name)
{
    return pl_memory_map(&gpu->memory, address, bytes ? bytes : 1, host, name);
}

void pl_gpu_of_host(pl_gpu *gpu, pl_ptr p)
{
    pl_memory_mark(&gpu->memory, p, PL_ALLOC_HOST_MEMORY);
}

pl_status pl_free_device(pl_gpu *gpu, pl_ptr p)
{
    const pl_alloc *a = pl_memory_find(&gpu->memory, p);
    /* A module's constants exist as long as the module. */
    return a && (a->flags & PL_ALLOC_CONSTANT) ? PL_INVALID : pl_gpu_release(gpu, p);
}

void *pl_device_view(pl_gpu *gpu, pl_ptr p, uint64_t bytes)
{
    return pl_memory_at(&gpu->memory, p, bytes);
}

pl_status pl_copy_to_device(pl_gpu *gpu, pl_ptr to, const void *from, uint64_t bytes)
{
    void *view = pl_device_view(gpu, to, bytes);
    if (!view) return PL_INVALID;
    memcpy(view, from, bytes);
    return PL_OK;
}

pl_status pl_copy_from_device(pl_gpu *gpu, void *to, pl_ptr from, uint64_t bytes)
{
    const void *view = pl_device_view(gpu, from, bytes);
    if (!view) return PL_INVALID;
    memcpy(to, view, bytes);
    return PL_OK;
}
