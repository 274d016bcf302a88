/* cuda_error.c - names and descriptions of CUDA error codes. */
#include "lib/internal.h"

static const struct {
    int number;
    const char *name, *text;
} error[] = {
#define ERROR(number, name, text) {number, name, text},
#include "emu/exec/runtime/errors.def"
#undef ERROR
};

const char *pl_cuda_error(int number, const char **text)
{
    for (size_t k = 0; k < sizeof error / sizeof *error; k++) {
        if (error[k].number != number) continue;
        if (text) *text = error[k].text;
        return error[k].name;
    }
    return NULL;
}
