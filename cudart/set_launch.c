/* set_launch.c - launches as before CUDA 4: calls set the shape and the parameters of a function,
 * which later launches use. */
#include "cudart/state.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_PARAMETERS = 4096 }; /* bytes */

struct cuda_set_launch {
    int block[3];
    unsigned shared, bytes;
    uint8_t params[MAX_PARAMETERS];
};

static int settings_of(const void *function, struct cuda_set_launch **out)
{
    cuda_function *f;
    const int error = cuda_function_of(function, &f);
    if (error) return error;
    if (!f->set_launch) f->set_launch = calloc(1, sizeof *f->set_launch);
    *out = f->set_launch;
    return *out ? CU_OK : CU_MEMORY_ALLOCATION;
}

int pl_cuFuncSetBlockShape(cuda_function *f, int x, int y, int z)
{
    struct cuda_set_launch *l;
    const int error = settings_of(f, &l);
    if (error) return error;
    if (x <= 0 || y <= 0 || z <= 0) return CU_INVALID_VALUE;
    l->block[0] = x;
    l->block[1] = y;
    l->block[2] = z;
    return CU_OK;
}

int pl_cuFuncSetSharedSize(cuda_function *f, unsigned bytes)
{
    struct cuda_set_launch *l;
    const int error = settings_of(f, &l);
    if (!error) l->shared = bytes;
    return error;
}

int pl_cuParamSetSize(cuda_function *f, unsigned bytes)
{
    struct cuda_set_launch *l;
    const int error = settings_of(f, &l);
    if (error) return error;
    if (bytes > MAX_PARAMETERS) return CU_INVALID_VALUE;
    l->bytes = bytes;
    return CU_OK;
}

int pl_cuParamSetv(cuda_function *f, int offset, const void *value, unsigned bytes)
{
    struct cuda_set_launch *l;
    const int error = settings_of(f, &l);
    if (error) return error;
    if (!value || offset < 0 || offset > MAX_PARAMETERS ||
        bytes > MAX_PARAMETERS - (unsigned)offset)
        return CU_INVALID_VALUE;
    memcpy(l->params + offset, value, bytes);
    return CU_OK;
}

int pl_cuParamSeti(cuda_function *f, int offset, unsigned value)
{
    return pl_cuParamSetv(f, offset, &value, sizeof value);
}

int pl_cuParamSetf(cuda_function *f, int offset, float value)
{
    return pl_cuParamSetv(f, offset, &value, sizeof value);
}

int pl_cuLaunchGridAsync(cuda_function *f, int width, int height, void *stream)
{
    enum { POINTER = 1, SIZE = 2 }; /* CU_LAUNCH_PARAM_BUFFER_... */
    struct cuda_set_launch *l;
    const int error = settings_of(f, &l);
    if (error) return error;
    if (width <= 0 || height <= 0) return CU_INVALID_VALUE;
    size_t bytes = l->bytes;
    void *extra[] = {(void *)POINTER, l->params, (void *)SIZE, &bytes, NULL};
    return pl_cuLaunchKernel(f, (unsigned)width, (unsigned)height, 1, (unsigned)l->block[0],
                             (unsigned)l->block[1], (unsigned)l->block[2], l->shared, stream, NULL,
                             extra);
}

int pl_cuLaunchGrid(cuda_function *f, int width, int height)
{
    return pl_cuLaunchGridAsync(f, width, height, NULL);
}

int pl_cuLaunch(cuda_function *f)
{
    return pl_cuLaunchGrid(f, 1, 1);
}
