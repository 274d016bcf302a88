/* nvrtc.c - programs that compile with NVRTC to machine code receive an image with the PTX instead,
 * which cuModuleLoadData and linkers accept (cuda_link_image). */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "cudart/state.h"
#include <dlfcn.h>
#include <stdlib.h>

typedef int size_call(void *program, size_t *bytes);
typedef int text_call(void *program, char *text);

enum { NVRTC_OUT_OF_MEMORY = 1, NVRTC_INTERNAL_ERROR = 11 };

/* Calls a function of the library that the program is linked with. */
static int query_size(void *program, const char *name, size_t *bytes)
{
    union {
        void *address;
        size_call *call;
    } f = {.address = dlsym(RTLD_NEXT, name)};
    return f.call ? f.call(program, bytes) : NVRTC_INTERNAL_ERROR;
}

static int query_text(void *program, const char *name, char *text)
{
    union {
        void *address;
        text_call *call;
    } f = {.address = dlsym(RTLD_NEXT, name)};
    return f.call ? f.call(program, text) : NVRTC_INTERNAL_ERROR;
}

/* True if there is machine code, and PTX to replace it. Programs compiled for a virtual
 * architecture (compute_90) have no machine code. */
static bool has_ptx(void *program)
{
    size_t bytes = 0, code = 0;
    return query_size(program, "nvrtcGetCUBINSize", &code) == 0 && code > 0 &&
           query_size(program, "nvrtcGetPTXSize", &bytes) == 0 && bytes > 1;
}

/* Writes the image to `to` (NULL: nowhere), and its size to *bytes. */
static int image_of(void *program, char *to, size_t *bytes)
{
    size_t n = 0;
    int error = query_size(program, "nvrtcGetPTXSize", &n);
    char *text = error ? NULL : calloc(1, n + 1);
    if (!text) return error ? error : NVRTC_OUT_OF_MEMORY;
    error = query_text(program, "nvrtcGetPTX", text);
    if (!error) *bytes = cuda_link_image((unsigned char *)to, &text, 1);
    free(text);
    return error;
}

int pl_nvrtcGetCUBINSize(void *program, size_t *bytes);
int pl_nvrtcGetCUBIN(void *program, char *code);

int pl_nvrtcGetCUBINSize(void *program, size_t *bytes)
{
    if (!bytes || !has_ptx(program)) return query_size(program, "nvrtcGetCUBINSize", bytes);
    return image_of(program, NULL, bytes);
}

int pl_nvrtcGetCUBIN(void *program, char *code)
{
    size_t bytes;
    if (!code || !has_ptx(program)) return query_text(program, "nvrtcGetCUBIN", code);
    return image_of(program, code, &bytes);
}

#define EXPORT(name, version)                                                                      \
    __typeof__(pl_##name) pl_##name##_##version                                                    \
        __attribute__((alias("pl_" #name), visibility("default")));                                \
    __asm__(".symver pl_" #name "_" #version ", " #name "@libnvrtc.so." #version)
EXPORT(nvrtcGetCUBINSize, 12);
EXPORT(nvrtcGetCUBIN, 12);
EXPORT(nvrtcGetCUBINSize, 13);
EXPORT(nvrtcGetCUBIN, 13);
