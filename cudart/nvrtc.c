/* nvrtc.c - programs that compile with NVRTC to machine code receive the PTX instead, which
 * cuModuleLoadData accepts. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <stddef.h>

typedef int size_call(void *program, size_t *bytes);
typedef int text_call(void *program, char *text);

enum { NVRTC_INTERNAL_ERROR = 11 };

/* Returns a function of the library that the program is linked with. */
static void *next_symbol(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

static int query_size(void *program, const char *name, size_t *bytes)
{
    union {
        void *address;
        size_call *call;
    } f = {.address = next_symbol(name)};
    return f.call ? f.call(program, bytes) : NVRTC_INTERNAL_ERROR;
}

/* True if there is machine code, and PTX to replace it. Programs compiled for a virtual
 * architecture (compute_90) have no machine code. */
static int has_ptx(void *program)
{
    size_t bytes = 0, code = 0;
    return query_size(program, "nvrtcGetCUBINSize", &code) == 0 && code > 0 &&
           query_size(program, "nvrtcGetPTXSize", &bytes) == 0 && bytes > 1;
}

int pl_nvrtcGetCUBINSize(void *program, size_t *bytes);
int pl_nvrtcGetCUBIN(void *program, char *text);

int pl_nvrtcGetCUBINSize(void *program, size_t *bytes)
{
    return query_size(program, has_ptx(program) ? "nvrtcGetPTXSize" : "nvrtcGetCUBINSize", bytes);
}

int pl_nvrtcGetCUBIN(void *program, char *text)
{
    union {
        void *address;
        text_call *call;
    } f = {.address = next_symbol(has_ptx(program) ? "nvrtcGetPTX" : "nvrtcGetCUBIN")};
    return f.call ? f.call(program, text) : NVRTC_INTERNAL_ERROR;
}

#define EXPORT(name, version)                                                                      \
    __typeof__(pl_##name) pl_##name##_##version                                                    \
        __attribute__((alias("pl_" #name), visibility("default")));                                \
    __asm__(".symver pl_" #name "_" #version ", " #name "@libnvrtc.so." #version)
EXPORT(nvrtcGetCUBINSize, 12);
EXPORT(nvrtcGetCUBIN, 12);
EXPORT(nvrtcGetCUBINSize, 13);
EXPORT(nvrtcGetCUBIN, 13);
