/* state.c - the state of the process and of its threads, and messages to the user. */
#include "cudart/state.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

cuda_state cuda = {.lock = PTHREAD_MUTEX_INITIALIZER};
_Thread_local cuda_thread cuda_self;

double cuda_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void cuda_report(const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fflush(stdout);
    fprintf(stderr, "ptxloom: %s\n", text);
}

unsigned cuda_capability(void)
{
    double capability = 0;
    pl_gpu_value(cuda.device[0].gpu, "machine.capability", "", &capability);
    return (unsigned)capability;
}

void cuda_print_messages_of(pl_gpu *gpu)
{
    const size_t n = pl_gpu_diag_count(gpu);
    if (n) fflush(stdout);
    for (size_t k = 0; k < n; k++)
        fputs(pl_gpu_diag(gpu, k, isatty(STDERR_FILENO) && !getenv("NO_COLOR")).rendered, stderr);
    pl_gpu_diag_clear(gpu);
}

void cuda_print_messages(void)
{
    for (int d = 0; d < cuda.devices; d++) cuda_print_messages_of(cuda.device[d].gpu);
}

void cuda_flush(void)
{
    for (int d = 0; d < cuda.devices; d++) {
        size_t n;
        const char *text = pl_gpu_printed_bytes(cuda.device[d].gpu, &n);
        if (!text) continue;
        cuda.device[d].printed = true;
        const size_t errors = pl_gpu_printed_errors(cuda.device[d].gpu);
        fwrite(text, 1, n - errors, stdout);
        fflush(stdout);
        fwrite(text + n - errors, 1, errors, stderr);
    }
}

void cuda_show_fault(void)
{
    cuda.sticky = cuda.unavailable >> cuda_self.device & 1 ? CU_UNAVAILABLE : cuda.fault;
}

void cuda_set_sticky_error(int error)
{
    if (!cuda.fault) cuda.fault = error;
    cuda_show_fault();
}

/* ---------------------------------------------------------------- attributes of kernels */

static const cuda_func_settings default_settings = {.max_dynamic_shared = -1, .carveout = -1};

const cuda_func_settings *cuda_settings_of(const cuda_function *f)
{
    return f->settings ? &f->settings[cuda_self.device] : &default_settings;
}

cuda_func_settings *cuda_settings_at(cuda_function *f, int device)
{
    if (!f->settings) {
        f->settings = malloc(CUDA_DEVICES * sizeof *f->settings);
        for (int d = 0; f->settings && d < CUDA_DEVICES; d++) f->settings[d] = default_settings;
    }
    return f->settings ? &f->settings[device] : NULL;
}

uint64_t cuda_max_dynamic_shared(const cuda_function *f)
{
    enum { SHARED_DEFAULT = 48 << 10 }; /* bytes of a block, unless the attribute is set */
    const cuda_func_settings *set = cuda_settings_of(f);
    const uint64_t own = f->info.static_shared;
    if (set->max_dynamic_shared >= 0) return (uint64_t)set->max_dynamic_shared;
    return own < SHARED_DEFAULT ? SHARED_DEFAULT - own : 0;
}
