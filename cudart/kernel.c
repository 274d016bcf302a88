/* kernel.c - what a program can ask about its kernels and set for them: attributes and occupancy.
 */
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
    SHARED_DEFAULT = 48 << 10
};

static uint64_t shared_most(void)
{
    double bytes = 0;
    pl_gpu_value(cuda_here()->gpu, "shared.per_block", "B", &bytes);
    return (uint64_t)bytes;
}

static uint32_t most_threads(const cuda_function *f)
{
    const uint32_t *m = f->info.maxntid[0] ? f->info.maxntid : f->info.reqntid;
    const uint32_t said = m[0] * (m[1] ? m[1] : 1) * (m[2] ? m[2] : 1);
    uint32_t n = said ? said : 1024;
    pl_occupancy_info o;
    /* registers may allow fewer */
    while (n > 32 &&
           pl_gpu_occupancy(cuda_here()->gpu, n, f->info.registers, f->info.static_shared,
                            f->info.barriers, &o) == PL_OK &&
           !o.blocks)
        n -= 32;
    return n;
}

int pl_cudaFuncGetAttributes(cuda_func_attributes *out, const void *function)
{
    cuda_function *f;
    if (!out) return CU_INVALID_VALUE;
    const int error = cuda_function_of(function, &f);
    if (error) return error;
    const pl_kernel_info *k = &f->info;
    const int most = SHARED_DEFAULT - (int)k->static_shared;
    *out = (cuda_func_attributes){.shared = k->static_shared,
                                  .constant = pl_module_total(cuda_loaded(f->module)).const_bytes,
                                  .local = k->stack_bytes,
                                  .max_threads = (int)most_threads(f),
                                  .registers = (int)k->registers,
                                  .ptx_version = (int)cuda_capability(),
                                  .binary_version = (int)cuda_capability(),
                                  .max_dynamic_shared =
                                      f->max_dynamic_shared >= 0 ? f->max_dynamic_shared : most,
                                  .carveout = f->carveout,
                                  .cluster_must_be_set = k->reqcluster[0] != 0,
                                  .cluster_width = (int)k->reqcluster[0],
                                  .cluster_height = (int)k->reqcluster[1],
                                  .cluster_depth = (int)k->reqcluster[2]};
    return CU_OK;
}

int pl_cudaFuncSetAttribute(const void *function, int attribute, int value)
{
    cuda_function *f;
    const int error = cuda_function_of(function, &f);
    if (error) return error;
    switch (attribute) {
    case MAX_DYNAMIC_SHARED:
        if (value < 0 || (uint64_t)value + f->info.static_shared > shared_most())
            return CU_INVALID_VALUE;
        f->max_dynamic_shared = value;
        return CU_OK;
    case CARVEOUT:
        if (value < -1 || value > 100) return CU_INVALID_VALUE;
        f->carveout = value;
        return CU_OK;
    case CLUSTER_WIDTH:
    case CLUSTER_HEIGHT:
    case CLUSTER_DEPTH:
    case NON_PORTABLE_CLUSTER:
    case CLUSTER_POLICY: return value < 0 ? CU_INVALID_VALUE : CU_OK;
    default: return CU_INVALID_VALUE;
    }
}

int pl_cudaFuncSetCacheConfig(const void *function, int config)
{
    cuda_function *f;
    return config < 0 || config > 3 ? CU_INVALID_VALUE : cuda_function_of(function, &f);
}

int pl_cudaFuncSetSharedMemConfig(const void *function, int config)
{
    return pl_cudaFuncSetCacheConfig(function, config);
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
    if ((uint32_t)threads > 1024 || shared + f->info.static_shared > shared_most()) return CU_OK;
    if (pl_gpu_occupancy(cuda_here()->gpu, (uint32_t)threads, f->info.registers,
                         f->info.static_shared + shared, f->info.barriers, &o) != PL_OK)
        return CU_INVALID_VALUE;
    *blocks = (int)o.blocks;
    return CU_OK;
}

int pl_cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int threads,
                                                     size_t shared)
{
    return pl_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads,
                                                                     shared, 0);
}

/* The largest amount with which as many blocks still fit. */
int pl_cudaOccupancyAvailableDynamicSMemPerBlock(size_t *shared, const void *function, int blocks,
                                                 int threads)
{
    size_t lo = 0, hi = shared_most();
    int fit = 0;
    if (!shared || blocks < 1) return CU_INVALID_VALUE;
    while (lo < hi) {
        const size_t mid = (lo + hi + 1) / 2;
        const int error =
            pl_cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, function, threads, mid);
        if (error) return error;
        if (fit >= blocks)
            lo = mid;
        else
            hi = mid - 1;
    }
    *shared = lo;
    return CU_OK;
}

static int clusters(int *n, const void *function, const cuda_launch_config *c, unsigned size)
{
    int blocks;
    double sms = 0;
    const int error = pl_cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, function, (int)(c->block.x * c->block.y * c->block.z), c->shared);
    if (error) return error;
    pl_gpu_value(cuda_here()->gpu, "sm.count", "", &sms);
    *n = size ? blocks * (int)sms / (int)size : 0;
    return CU_OK;
}

int pl_cudaOccupancyMaxActiveClusters(int *n, const void *function, const cuda_launch_config *c)
{
    unsigned size = 1;
    if (!n || !c) return CU_INVALID_VALUE;
    for (unsigned k = 0; k < c->attributes; k++)
        if (c->attribute[k].id == ATTRIBUTE_CLUSTER)
            size = c->attribute[k].value.cluster[0] * c->attribute[k].value.cluster[1] *
                   c->attribute[k].value.cluster[2];
    return clusters(n, function, c, size);
}

int pl_cudaOccupancyMaxPotentialClusterSize(int *size, const void *function,
                                            const cuda_launch_config *c)
{
    if (!size || !c) return CU_INVALID_VALUE;
    for (*size = 8; *size > 1; *size /= 2) {
        int n;
        const int error = clusters(&n, function, c, (unsigned)*size);
        if (error) return error;
        if (n) break;
    }
    return CU_OK;
}
