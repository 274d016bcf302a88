/* errors.c - numbers, names and texts of runtime and driver errors. */
#include "cudart/state.h"
#include <string.h>

static const struct {
    int number;
    const char *name, *text;
} driver_error[] = {
#define DRIVER_ERROR(number, name, text) {number, name, text},
#include "cudart/driver_errors.def"
#undef DRIVER_ERROR
};
enum { DRIVER_ERRORS = sizeof driver_error / sizeof *driver_error };

int cuda_error_number(const char *name)
{
    for (int k = 0; name && k < DRIVER_ERRORS; k++)
        if (strcmp(driver_error[k].name, name) == 0) return driver_error[k].number;
    for (int k = 1; name && k < 1000; k++) {
        const char *one = pl_cuda_error(k, NULL);
        if (one && strcmp(one, name) == 0) return k;
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

static int driver_text(int error, bool name, const char **out)
{
    if (!out) return CU_INVALID_VALUE;
    *out = NULL;
    for (int k = 0; k < DRIVER_ERRORS; k++)
        if (driver_error[k].number == error)
            *out = name ? driver_error[k].name : driver_error[k].text;
    return *out ? CU_OK : CU_INVALID_VALUE;
}

int pl_cuGetErrorName(int error, const char **name)
{
    return driver_text(error, true, name);
}

int pl_cuGetErrorString(int error, const char **text)
{
    return driver_text(error, false, text);
}

/* Maps numbers of the runtime that the driver does not have. */
int cuda_driver_error(int error)
{
    switch (error) {
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
