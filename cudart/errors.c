/* errors.c - numbers, names and texts of runtime and driver errors. */
#include "cudart/state.h"
#include <string.h>

enum { ERRORS = 1000 }; /* numbers are below */

int cuda_error_number(const char *name)
{
    for (int k = 1; name && k < ERRORS; k++) {
        const char *driver = pl_cuda_driver_error(k, NULL), *runtime = pl_cuda_error(k, NULL);
        if ((driver && strcmp(driver, name) == 0) || (runtime && strcmp(runtime, name) == 0))
            return k;
    }
    return 0;
}

const char *pl_cudaGetErrorName(int error)
{
    const char *name = pl_cuda_error(error, NULL);
    return name ? name : "unrecognized error code";
}

const char *pl_cudaGetErrorString(int error)
{
    const char *text = "unrecognized error code";
    pl_cuda_error(error, &text);
    return text;
}

int pl_cuGetErrorName(int error, const char **name)
{
    if (!name) return CU_INVALID_VALUE;
    *name = pl_cuda_driver_error(error, NULL);
    return *name ? CU_OK : CU_INVALID_VALUE;
}

int pl_cuGetErrorString(int error, const char **text)
{
    if (!text) return CU_INVALID_VALUE;
    *text = NULL;
    return pl_cuda_driver_error(error, text) ? CU_OK : CU_INVALID_VALUE;
}

/* Maps numbers of the runtime that the driver does not have. */
int cuda_driver_error(int error)
{
    switch (error) {
    case CU_UNAVAILABLE: return cuda.fault; /* the driver returns the first error (H100) */
    case CU_INVALID_FUNCTION: return CU_INVALID_HANDLE;
    case CU_INVALID_CONFIGURATION:
    case CU_INVALID_PITCH:
    case CU_INVALID_SYMBOL:
    case CU_INVALID_CHANNEL:
    case CU_INVALID_DIRECTION:
    case 26:
    case 27: return CU_INVALID_VALUE;
    default: return error;
    }
}
