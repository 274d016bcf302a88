/* driver.c - kernels, events and entry points of the driver API. Most calls are those of the
 * runtime under another name. */
#include "cudart/activity.h"
#include "cudart/blocked.h"
#include "cudart/green_context.h"
#include "cudart/image.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- kernels */

int pl_cuFuncGetAttribute(int *value, int attribute, cuda_function *f)
{
    cuda_func_attributes a;
    if (!value) return CU_INVALID_VALUE;
    const int error = pl_cudaFuncGetAttributes(&a, f);
    if (error) return error;
    const int values[] = {
        a.max_threads,        (int)a.shared,   (int)a.constant,       (int)a.local,
        a.registers,          a.ptx_version,   a.binary_version,      a.cache_mode,
        a.max_dynamic_shared, a.carveout,      a.cluster_must_be_set, a.cluster_width,
        a.cluster_height,     a.cluster_depth, a.nonportable_cluster, a.cluster_policy};
    if (attribute < 0 || attribute >= (int)(sizeof values / sizeof *values))
        return CU_INVALID_VALUE;
    *value = values[attribute];
    return CU_OK;
}

int pl_cuFuncGetModule(cuda_module **out, cuda_function *f)
{
    if (!out || !f) return CU_INVALID_VALUE;
    *out = f->module;
    return CU_OK;
}

int pl_cuFuncIsLoaded(int *state, cuda_function *f)
{
    if (!state || !f) return CU_INVALID_VALUE;
    *state = f->ready;
    return CU_OK;
}

int pl_cuFuncLoad(cuda_function *f)
{
    return f ? cuda_function_ready(f) : CU_INVALID_VALUE;
}

int pl_cuKernelSetCacheConfig(const void *function, int config, int device)
{
    return cuda_set_cache_config(function, config, device);
}

int pl_cuKernelGetAttribute(int *value, int attribute, cuda_function *f, int device)
{
    if (!cuda_is_device(device)) return CU_INVALID_DEVICE;
    const int previous = cuda_use_device(device);
    const int error = pl_cuFuncGetAttribute(value, attribute, f);
    cuda_use_device(previous);
    return error;
}

int pl_cuKernelSetAttribute(int attribute, int value, cuda_function *f, int device)
{
    return cuda_set_function_attribute(f, attribute, value, device);
}

int pl_cuFuncSetAttribute(cuda_function *f, int attribute, int value)
{
    return cuda_set_function_attribute(f, attribute, value, cuda_self.device);
}

/* Returns the block size with the most threads per multiprocessor; of several, the largest. */
int pl_cuOccupancyMaxPotentialBlockSize(int *grid, int *block, cuda_function *f,
                                        cuda_shared_fn *shared_of, size_t shared, int most)
{
    enum { STEP = 32, MOST = 1024 };
    int best = 0, fit = 0;
    if (!grid || !block || !f) return CU_INVALID_VALUE;
    if (most <= 0 || most > MOST) most = MOST;
    for (int k = (most + STEP - 1) / STEP; k > 0; k--) {
        const int n = k * STEP < most ? k * STEP : most;
        const int error = pl_cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &fit, f, n, shared_of ? shared_of(n) : shared);
        if (error) return error;
        if (fit * n <= best) continue;
        best = fit * n;
        *block = n;
        *grid = fit * (int)cuda_current_device()->sms;
    }
    return best ? CU_OK : CU_INVALID_VALUE;
}

int pl_cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, cuda_function *f,
                                                 cuda_shared_fn *shared_of, size_t shared, int most,
                                                 unsigned flags)
{
    if (flags > 1) return CU_INVALID_VALUE;
    return pl_cuOccupancyMaxPotentialBlockSize(grid, block, f, shared_of, shared, most);
}

/* True if the kernel is in the context of the stream, or in all contexts. */
static bool is_in_context(const cuda_function *f, const void *stream, const cuda_stream *s)
{
    cuda_function *found;
    return !f || cuda_function_of(f, &found) || !found->module->bound ||
           found->module->context == cuda_context_of_stream(stream, s);
}

/* Launches with a parameter block built by the program. */
static int launch_block(cuda_function *f, const cuda_launch *l, void **extra, cuda_stream *s)
{
    cuda_op op = {.kind = OP_KERNEL, .u.kernel = {.f = f, .device = s->device, .l = *l}};
    op.u.kernel.l.green = cuda_stream_green(s);
    if (cuda.options.log) cuda_self.kernel = cuda_shown_name(f);
    const int error = cuda_copy_param_block(extra, &op);
    return error ? error : cuda_submit(s, &op);
}

int pl_cuLaunchKernel(cuda_function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                      unsigned by, unsigned bz, unsigned shared, void *stream, void **params,
                      void **extra)
{
    const cuda_launch l = {.grid = {gx, gy, gz}, .block = {bx, by, bz}, .shared = shared};
    cuda_stream *s = cuda_stream_of(stream);
    if (!s || !is_in_context(f, stream, s)) return CU_INVALID_HANDLE;
    if (params && extra) return CU_INVALID_VALUE;
    if (!params && extra) {
        const int previous = cuda_use_device(s->device);
        const int error = cuda_function_of(f, &f);
        cuda_use_device(previous);
        return error ? error : launch_block(f, &l, extra, s);
    }
    return pl_cudaLaunchKernel(f, l.grid, l.block, params, shared, stream);
}

int pl_cuLaunchCooperativeKernel(cuda_function *f, unsigned gx, unsigned gy, unsigned gz,
                                 unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                 void *stream, void **params)
{
    return pl_cudaLaunchCooperativeKernel(f, (dim3){gx, gy, gz}, (dim3){bx, by, bz}, params, shared,
                                          stream);
}

/* CUlaunchConfig has 32 bits for shared memory where the runtime has 64. */
static cuda_launch_config configuration(const void *config)
{
    struct {
        unsigned grid[3], block[3], shared;
        void *stream;
        cuda_launch_attribute *attribute;
        unsigned attributes;
    } c;
    memcpy(&c, config, sizeof c);
    return (cuda_launch_config){.grid = {c.grid[0], c.grid[1], c.grid[2]},
                                .block = {c.block[0], c.block[1], c.block[2]},
                                .shared = c.shared,
                                .stream = c.stream,
                                .attribute = c.attribute,
                                .attributes = c.attributes};
}

int pl_cuLaunchKernelEx(const void *config, cuda_function *f, void **params, void **extra)
{
    if (!config || extra) return CU_INVALID_VALUE;
    const cuda_launch_config same = configuration(config);
    if (!cuda_self.has_context &&
        cuda_stream_enters(same.stream, CUDA_BY_HANDLE) == CUDA_IN_CONTEXT)
        return CU_INVALID_CONTEXT;
    return pl_cudaLaunchKernelExC(&same, f, params);
}

int pl_cuOccupancyMaxActiveClusters(int *n, const void *function, const void *config)
{
    if (!config) return CU_INVALID_VALUE;
    const cuda_launch_config same = configuration(config);
    return pl_cudaOccupancyMaxActiveClusters(n, function, &same);
}

int pl_cuOccupancyMaxPotentialClusterSize(int *size, const void *function, const void *config)
{
    if (!config) return CU_INVALID_VALUE;
    const cuda_launch_config same = configuration(config);
    return pl_cudaOccupancyMaxPotentialClusterSize(size, function, &same);
}

/* ---------------------------------------------------------------- errors and entry points */

int pl_cuEventElapsedTime_v2(float *ms, void *from, void *to)
{
    return pl_cudaEventElapsedTime(ms, from, to);
}

static void report_stripped(const char *path)
{
    static char reported[512];
    cuda_host_image i;
    const bool found =
        cuda_host_image_open(path, &i) && i.size > 0 && cuda_host_image_is_stripped_runtime(&i);
    cuda_host_image_close(&i);
    if (found && strcmp(reported, path) != 0) {
        snprintf(reported, sizeof reported, "%s", path);
        cuda_report(CUDA_RELINK, path);
    }
}

/* Files whose calls fail: libraries whose kernels are machine code, and those with NVIDIA's runtime
 * that could not be redirected. Each is reported once, since they report no reason. */
static void report_failing_caller(void)
{
    static const char *const name[] = {"libcublas.",   "libcublasLt.", "libcufft.", "libcurand.",
                                       "libcusolver.", "libcusparse.", "libcudnn",  "libnpp",
                                       "libnvjpeg.",   "libnccl."};
    enum { NAMES = sizeof name / sizeof *name };
    static bool told[NAMES];
    char path[512];
    cuda_calling_object(path, sizeof path);
    const char *slash = strrchr(path, '/'), *caller = slash ? slash + 1 : path;
    for (int k = 0; k < NAMES; k++) {
        if (strncmp(caller, name[k], strlen(name[k])) != 0) continue;
        if (!told[k])
            cuda_report("%s holds machine code only, which does not run here: its calls fail",
                        caller);
        told[k] = true;
        return;
    }
    report_stripped(path);
}

/* Libraries of the toolkit request undocumented tables, and work without them. */
int pl_cuGetExportTable(const void **table, const void *id)
{
    (void)id;
    if (!table) return CU_INVALID_VALUE;
    report_failing_caller();
    *table = NULL;
    return CU_NOT_FOUND;
}
