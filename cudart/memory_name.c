/* memory_name.c - describes the memory that contains a device address, for findings: an allocation,
 * a variable of a module, an array. */
#include "cudart/activity.h"
#include "cudart/state.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Levels of arrays; only under checkers. */
static struct named_array {
    uint64_t address, bytes, handle;
    int device;
    char *site; /* owned by the first level; later ones have the same pointer */
} * arrays;
static size_t narrays, cap;

void cuda_named_array(const cuda_array *a)
{
    const pl_gpu *gpu = cuda.device[a->device].gpu;
    char *site = cuda.options.check ? cuda_made_by("array") : NULL;
    for (uint32_t k = 0; site && pl_array_address(gpu, a->handle, k); k++) {
        struct named_array *at = cuda_array_room(arrays, narrays, &cap, sizeof *at);
        if (!at && !k) free(site);
        if (!at) return;
        arrays = at;
        arrays[narrays++] = (struct named_array){.address = pl_array_address(gpu, a->handle, k),
                                                 .bytes = pl_array_bytes(gpu, a->handle, k),
                                                 .handle = a->handle,
                                                 .device = a->device,
                                                 .site = site};
    }
}

void cuda_named_array_freed(const cuda_array *a)
{
    size_t n = 0;
    char *site = NULL;
    for (size_t k = 0; k < narrays; k++)
        if (arrays[k].handle != a->handle || arrays[k].device != a->device) {
            arrays[n++] = arrays[k];
        } else {
            site = arrays[k].site;
            if (cuda.on_memory.array_freed)
                cuda.on_memory.array_freed(arrays[k].address, arrays[k].bytes);
        }
    narrays = n;
    free(site);
}

static bool find_variable(uint64_t address, cuda_named *n)
{
    for (const cuda_module *m = cuda.modules; m; m = m->next)
        for (int d = 0; d < cuda.devices; d++) {
            pl_ptr start;
            const char *name =
                m->on[d].loaded ? pl_module_variable(m->on[d].loaded, address, &start) : NULL;
            if (!name) continue;
            n->start = start;
            snprintf(n->text, sizeof n->text, "variable '%s'", name);
            return true;
        }
    return false;
}

bool cuda_named_at(uint64_t address, cuda_named *n)
{
    const cuda_alloc *a = cuda_alloc_find(address);
    if (a) {
        n->start = a->address;
        snprintf(n->text, sizeof n->text, "%s", a->site ? a->site : "device memory");
        return true;
    }
    if (!cuda_in_window(address)) return false;
    for (size_t k = 0; k < narrays; k++) {
        if (address - arrays[k].address >= arrays[k].bytes) continue;
        n->start = arrays[k].address;
        snprintf(n->text, sizeof n->text, "%s", arrays[k].site);
        return true;
    }
    return find_variable(address, n);
}
