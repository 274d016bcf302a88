/* kernel.c - kernel queries and settings: attributes and occupancy. */
#include "cudart/state.h"

enum {
    MAX_DYNAMIC_SHARED = 8, /* cudaFuncAttribute */
    CARVEOUT = 9,
    CLUSTER_MUST_BE_SET = 10,
    CLUSTER_WIDTH = 11,
    CLUSTER_HEIGHT = 12,
    CLUSTER_DEPTH = 13,
    NON_PORTABLE_CLUSTER = 14,
    CLUSTER_POLICY = 15,
    SHARED_GRAIN = 128,
    CLUSTER_PORTABLE = 8,
    CLUSTER_MAX = 16
};

static uint64_t max_shared(void)
{
    double bytes = 0;
    pl_gpu_value(cuda_current_device()->gpu, "shared.per_block", "B", &bytes);
    return (uint64_t)bytes;
}

static uint32_t max_threads_of(cuda_function *f)
{
    const uint32_t *m = f->info.maxntid; /* .reqntid does not count (H100) */
    const uint32_t specified = m[0] * (m[1] ? m[1] : 1) * (m[2] ? m[2] : 1);
    uint32_t n = specified ? specified : 1024;
    pl_occupancy_info o;
    /* registers may allow fewer */
    while (n > 32 &&
           pl_gpu_occupancy(cuda_current_device()->gpu, n, cuda_registers(f), f->info.static_shared,
                            f->info.barriers, &o) == PL_OK &&
           !o.blocks)
        n -= 32;
    return n;
}

/* Returns the cluster shape of the kernel, else that set by the program. */
static unsigned cluster_of(const cuda_function *f, int k)
{
    return f->info.reqcluster[0] ? f->info.reqcluster[k] : cuda_settings_of(f)->cluster[k];
}

int pl_cudaFuncGetAttributes(cuda_func_attributes *out, const void *function)
{
    cuda_function *f;
    if (!out) return CU_INVALID_VALUE;
    const int error = cuda_function_of(function, &f);
    if (error || cuda.sticky) return error ? error : cuda.sticky;
    const pl_kernel_info *k = &f->info;
    const cuda_func_settings *set = cuda_settings_of(f);
    const unsigned target = cuda_target_of(f->module);
    *out = (cuda_func_attributes){.shared = k->static_shared,
                                  .constant = pl_module_total(cuda_loaded(f->module)).const_bytes,
                                  .local = k->stack_bytes,
                                  .max_threads = (int)max_threads_of(f),
                                  .registers = (int)cuda_registers(f),
                                  .ptx_version = (int)(target ? target : cuda_capability()),
                                  .binary_version = (int)cuda_capability(),
                                  .max_dynamic_shared = (int)cuda_max_dynamic_shared(f),
                                  .carveout = set->carveout,
                                  .cluster_must_be_set = k->reqcluster[0] != 0,
                                  .cluster_width = (int)cluster_of(f, 0),
                                  .cluster_height = (int)cluster_of(f, 1),
                                  .cluster_depth = (int)cluster_of(f, 2),
                                  .cluster_policy = set->cluster_policy,
                                  .nonportable_cluster = set->nonportable_cluster};
    return CU_OK;
}

int cuda_set_function_attribute(const void *function, int attribute, int value, int device)
{
    cuda_function *f;
    if (!cuda_is_device(device)) return CU_INVALID_DEVICE;
    const int error = cuda_function_of(function, &f);
    if (error) return error;
    cuda_func_settings *set = cuda_settings_at(f, device);
    if (!set) return CU_MEMORY_ALLOCATION;
    switch (attribute) {
    case MAX_DYNAMIC_SHARED:
        if (value < 0 || (uint64_t)value + f->info.static_shared > max_shared())
            return CU_INVALID_VALUE;
        set->max_dynamic_shared = value;
        return CU_OK;
    case CARVEOUT:
        if (value < -1 || value > 100) return CU_INVALID_VALUE;
        set->carveout = value;
        return CU_OK;
    case CLUSTER_WIDTH:
    case CLUSTER_HEIGHT:
    case CLUSTER_DEPTH:
        if (value < 0 || (f->info.reqcluster[0] &&
                          (uint32_t)value != f->info.reqcluster[attribute - CLUSTER_WIDTH]))
            return CU_INVALID_VALUE;
        set->cluster[attribute - CLUSTER_WIDTH] = (unsigned)value;
        return CU_OK;
    case NON_PORTABLE_CLUSTER: set->nonportable_cluster = value; return CU_OK;
    case CLUSTER_POLICY:
        if (value < 0 || value > LAST_CLUSTER_POLICY) return CU_INVALID_VALUE;
        set->cluster_policy = value;
        return CU_OK;
    default: return CU_INVALID_VALUE;
    }
}

/* If it succeeds, it also clears the last error of the thread (H100). */
int pl_cudaFuncSetAttribute(const void *function, int attribute, int value)
{
    const int error = cuda_set_function_attribute(function, attribute, value, cuda_self.device);
    if (!error) cuda_self.last = CU_OK;
    return error;
}

int pl_cudaKernelSetAttributeForDevice(const void *kernel, int attribute, int value, int device)
{
    return cuda_set_function_attribute(kernel, attribute, value, device);
}

int cuda_set_cache_config(const void *function, int config, int device)
{
    cuda_function *f;
    if (!cuda_is_device(device)) return CU_INVALID_DEVICE;
    if (config < 0 || config > 3) return CU_INVALID_VALUE;
    const int error = cuda_function_of(function, &f);
    if (error) return error;
    cuda_func_settings *set = cuda_settings_at(f, device);
    if (!set) return CU_MEMORY_ALLOCATION;
    set->cache_config = config;
    return CU_OK;
}

int pl_cudaFuncSetCacheConfig(const void *function, int config)
{
    return cuda_set_cache_config(function, config, cuda_self.device);
}

int pl_cudaFuncSetSharedMemConfig(const void *function, int config)
{
    cuda_function *f;
    return config < 0 || config > 3 ? CU_INVALID_VALUE : cuda_function_of(function, &f);
}

int pl_cudaFuncGetName(const char **name, const void *function)
{
    cuda_function *f;
    const int error = cuda_function_of(function, &f);
    if (error || !name) return error ? error : CU_INVALID_VALUE;
    *name = f->name;
    return CU_OK;
}

int pl_cudaFuncGetParamInfo(const void *function, size_t k, size_t *offset, size_t *size)
{
    cuda_function *f;
    const int error = cuda_function_of(function, &f);
    if (error) return error;
    if (!offset || k >= f->info.nparams) return CU_INVALID_VALUE;
    *offset = f->param[k].offset;
    if (size) *size = f->param[k].size;
    return CU_OK;
}

/* ---------------------------------------------------------------- occupancy */

/* Returns the shared memory of an SM with the carve-out that the kernel or the device prefers, or
 * that one block needs. */
static uint64_t carveout_bytes(const cuda_function *f, uint32_t block_bytes)
{
    static const int carveout_of[] = {-1, 100, 0, 50}; /* percent, by cudaFuncCache */
    const cuda_func_settings *set = cuda_settings_of(f);
    const int config = set->cache_config ? set->cache_config : cuda_current_device()->cache_config,
              percent = set->carveout >= 0 ? set->carveout : carveout_of[config];
    const pl_gpu *gpu = cuda_current_device()->gpu;
    double per_sm = 0;
    pl_gpu_value(gpu, "shared.per_sm", "B", &per_sm);
    if (percent < 0) return (uint64_t)per_sm;
    const uint64_t preferred = (uint64_t)(per_sm * percent / 100);
    return pl_gpu_carveout(gpu, preferred > block_bytes ? preferred : block_bytes);
}

int pl_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *function,
                                                              int threads, size_t shared,
                                                              unsigned flags)
{
    cuda_function *f;
    pl_occupancy_info o;
    if (!blocks || threads <= 0 || flags > 1) return CU_INVALID_VALUE;
    const int error = cuda_function_of(function, &f);
    if (error) return error;
    *blocks = 0;
    if ((uint32_t)threads > 1024 || shared > cuda_max_dynamic_shared(f)) return CU_OK;
    if (pl_gpu_occupancy(cuda_current_device()->gpu, (uint32_t)threads, cuda_registers(f),
                         f->info.static_shared + shared, f->info.barriers, &o) != PL_OK)
        return CU_INVALID_VALUE;
    const uint32_t bytes = o.shared_per_block;
    const uint64_t fit = bytes ? carveout_bytes(f, bytes) / bytes : UINT32_MAX;
    *blocks = (int)(o.blocks < fit ? o.blocks : fit);
    return CU_OK;
}

int pl_cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int threads,
                                                     size_t shared)
{
    return pl_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads,
                                                                     shared, 0);
}

/* Returns the shared memory available to each of `blocks` resident blocks. */
int pl_cudaOccupancyAvailableDynamicSMemPerBlock(size_t *shared, const void *function, int blocks,
                                                 int threads)
{
    cuda_function *f;
    int max_blocks = 0;
    if (!shared || blocks < 1) return CU_INVALID_VALUE;
    int error = cuda_function_of(function, &f);
    if (!error)
        error = pl_cudaOccupancyMaxActiveBlocksPerMultiprocessor(&max_blocks, f, threads, 0);
    if (error || max_blocks < blocks) return error ? error : CU_INVALID_VALUE;
    /* A single block may need more than the preferred carve-out (H100). */
    const uint64_t least = f->info.static_shared + (blocks == 1 ? cuda_max_dynamic_shared(f) : 0),
                   per_sm = carveout_bytes(f, (uint32_t)least);
    const uint64_t per_block = per_sm / (unsigned)blocks / SHARED_GRAIN * SHARED_GRAIN,
                   available =
                       per_block > f->info.static_shared ? per_block - f->info.static_shared : 0;
    *shared = available < cuda_max_dynamic_shared(f) ? available : cuda_max_dynamic_shared(f);
    return CU_OK;
}

static int active_clusters(int *n, const void *function, const cuda_launch_config *c, unsigned size)
{
    int blocks;
    const int error = pl_cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, function, (int)(c->block.x * c->block.y * c->block.z), c->shared);
    if (!error) *n = (int)pl_gpu_clusters(cuda_current_device()->gpu, (uint32_t)blocks, size);
    return error;
}

/* *size: the number of blocks in a cluster of the launch, as compiled or by its attribute; 0: none
 * is specified. If the kernel allows sizes that are not portable, none is too large (H100). */
static int cluster_size(const cuda_function *f, const cuda_launch_config *c, unsigned *size)
{
    const uint32_t *required = f->info.reqcluster;
    *size = required[0] * required[1] * required[2];
    if (!c->grid.x || !c->grid.y || !c->grid.z) return CU_INVALID_VALUE;
    for (unsigned k = 0; k < c->attributes; k++) {
        const unsigned *v = c->attribute[k].value.cluster;
        if (c->attribute[k].id != ATTRIBUTE_CLUSTER) continue;
        if (!v[0] && !v[1] && !v[2]) continue; /* no attribute, as for a launch */
        if (!v[0] || !v[1] || !v[2] || c->grid.x % v[0] || c->grid.y % v[1] || c->grid.z % v[2])
            return CU_INVALID_CLUSTER;
        if (*size && (v[0] != required[0] || v[1] != required[1] || v[2] != required[2]))
            return CU_INVALID_CLUSTER; /* the kernel was compiled for another size */
        *size = v[0] * v[1] * v[2];
    }
    return *size > CLUSTER_PORTABLE && !cuda_settings_of(f)->nonportable_cluster
               ? CU_INVALID_CLUSTER
               : CU_OK;
}

int pl_cudaOccupancyMaxActiveClusters(int *n, const void *function, const cuda_launch_config *c)
{
    cuda_function *f;
    if (!n || !c) return CU_INVALID_VALUE;
    int error = cuda_function_of(function, &f);
    if (error) return error;
    unsigned size;
    error = cluster_size(f, c, &size);
    return error ? error : active_clusters(n, function, c, size);
}

int pl_cudaOccupancyMaxPotentialClusterSize(int *size, const void *function,
                                            const cuda_launch_config *c)
{
    cuda_function *f;
    if (!size || !c) return CU_INVALID_VALUE;
    unsigned unused;
    int error = cuda_function_of(function, &f);
    if (!error) error = cluster_size(f, c, &unused);
    if (error) return error;
    *size = cuda_settings_of(f)->nonportable_cluster ? CLUSTER_MAX : CLUSTER_PORTABLE;
    for (; *size > 1; *size /= 2) {
        int n;
        error = active_clusters(&n, function, c, (unsigned)*size);
        if (error) return error;
        if (n) break;
    }
    return CU_OK;
}
