/* nvjitlink.c - programs that link with libnvJitLink receive the result of cuLinkComplete instead
 * of machine code.
 *
 * Inputs with PTX are linked here. LTO-IR is compiled by the library, to PTX instead of machine
 * code (its option -ptx), and the PTX is linked here, too. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "cudart/state.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { JIT_OK = 0, JIT_INVALID_INPUT = 3, JIT_PTX_COMPILE = 4, JIT_INTERNAL = 6, JIT_NULL = 9 };
enum { INPUT_PTX = 2, INPUT_LTOIR = 3, INPUT_ANY = 10 };                  /* nvJitLinkInputType */
enum { LINK_PTX = 1, LINK_LIBRARY = 4, LINK_LOG = 5, LINK_LOG_SIZE = 6 }; /* CUjit... */
enum { LOG_BYTES = 4096 };

typedef struct jit_link {
    void *link; /* of cuLinkCreate */
    void *lto;  /* handle of the library; NULL: the option -lto was not given */
    bool has_lto_inputs;
    char log[LOG_BYTES];
    void *log_values[2]; /* of cuLinkCreate: the log and its size, which is updated */
    void *image;         /* of cuLinkComplete */
    size_t bytes;
} jit_link;

/* The functions of the library that the program is linked with. */
#define LIBRARY                                                                                    \
    F(Create, void **, uint32_t, const char **)                                                    \
    F(Destroy, void **)                                                                            \
    F(AddData, void *, int, const void *, size_t, const char *)                                    \
    F(Complete, void *)                                                                            \
    F(GetLinkedPtxSize, void *, size_t *)                                                          \
    F(GetLinkedPtx, void *, char *)                                                                \
    F(GetErrorLogSize, void *, size_t *)                                                           \
    F(GetErrorLog, void *, char *)                                                                 \
    F(GetInfoLogSize, void *, size_t *)                                                            \
    F(GetInfoLog, void *, char *)
typedef struct library {
#define F(name, ...) int (*name)(__VA_ARGS__);
    LIBRARY
#undef F
} library;

/* False: a function is missing. */
static bool find_library(library *l)
{
    bool found = true;
#define F(name, ...)                                                                               \
    {                                                                                              \
        void *address = dlsym(RTLD_NEXT, "nvJitLink" #name);                                       \
        memcpy(&l->name, &address, sizeof address);                                                \
        found &= address != NULL;                                                                  \
    }
    LIBRARY
#undef F
    return found;
}

/* Creates the handle of the library. */
static int create_lto(jit_link *j, uint32_t n, const char **option)
{
    library l;
    if (!find_library(&l)) return JIT_INTERNAL;
    const char **options = calloc(n + 1, sizeof *options);
    if (!options) return JIT_INTERNAL;
    bool ptx = false;
    for (uint32_t k = 0; k < n; k++) {
        options[k] = option[k];
        ptx |= strcmp(option[k], "-ptx") == 0;
    }
    options[n] = "-ptx";
    const int error = l.Create(&j->lto, ptx ? n : n + 1, options);
    free(options);
    return error;
}

static int destroy(jit_link *j)
{
    library l;
    if (j->link) pl_cuLinkDestroy(j->link);
    const int error = j->lto && find_library(&l) ? l.Destroy(&j->lto) : JIT_OK;
    free(j);
    return error;
}

static int jit_create(void **out, uint32_t n, const char **option)
{
    if (!out || (n && !option)) return JIT_NULL;
    jit_link *j = calloc(1, sizeof *j);
    if (!j) return JIT_INTERNAL;
    int kinds[] = {LINK_LOG, LINK_LOG_SIZE}, error = JIT_OK;
    j->log_values[0] = j->log;
    j->log_values[1] = (void *)(uintptr_t)sizeof j->log;
    if (pl_cuLinkCreate_v2(2, kinds, j->log_values, &j->link) != CU_OK) error = JIT_INTERNAL;
    for (uint32_t k = 0; !error && k < n; k++)
        if (!j->lto && (strcmp(option[k], "-lto") == 0 || strcmp(option[k], "-dlto") == 0))
            error = create_lto(j, n, option);
    if (error)
        destroy(j);
    else
        *out = j;
    return error;
}

static int jit_destroy(void **handle)
{
    if (!handle || !*handle) return JIT_NULL;
    const int error = destroy(*handle);
    *handle = NULL;
    return error;
}

static int take_text(cuda_text_sink *sink, char *text)
{
    sink->texts++;
    free(text);
    return CU_OK;
}

/* True if an image has PTX of the program. */
static bool has_ptx(const void *data, size_t bytes)
{
    cuda_text_sink sink = {take_text, NULL, 0};
    return cuda_link_input(data, bytes, &sink) == CU_OK && sink.texts;
}

static int jit_add_data(void *handle, int type, const void *data, size_t bytes, const char *name)
{
    jit_link *j = handle;
    library l;
    if (!j || !data) return JIT_NULL;
    if (type == INPUT_ANY && memmem(data, bytes, ".version", strlen(".version")) &&
        !has_ptx(data, bytes))
        type = INPUT_PTX;
    if (j->lto && type != INPUT_PTX && (type == INPUT_LTOIR || !has_ptx(data, bytes))) {
        j->has_lto_inputs = true;
        return find_library(&l) ? l.AddData(j->lto, type, data, bytes, name) : JIT_INTERNAL;
    }
    const int error = pl_cuLinkAddData_v2(j->link, type == INPUT_PTX ? LINK_PTX : LINK_LIBRARY,
                                          (void *)(uintptr_t)data, bytes, name, 0, NULL, NULL);
    return !error ? JIT_OK : error == CU_INVALID_PTX ? JIT_PTX_COMPILE : JIT_INVALID_INPUT;
}

static int jit_add_file(void *handle, int type, const char *path)
{
    size_t bytes;
    if (!handle || !path) return JIT_NULL;
    char *data = cuda_read_file(path, &bytes);
    if (!data) return JIT_INVALID_INPUT;
    const int error = jit_add_data(handle, type, data, bytes, path);
    free(data);
    return error;
}

/* Compiles the LTO-IR and adds its PTX to the link. */
static int complete_lto(jit_link *j)
{
    library l;
    size_t bytes = 0;
    if (!find_library(&l)) return JIT_INTERNAL;
    int error = l.Complete(j->lto);
    if (!error) error = l.GetLinkedPtxSize(j->lto, &bytes);
    if (error) return error;
    char *text = calloc(1, bytes + 1);
    if (!text) return JIT_INTERNAL;
    error = l.GetLinkedPtx(j->lto, text);
    if (!error && pl_cuLinkAddData_v2(j->link, LINK_PTX, text, strlen(text) + 1, NULL, 0, NULL,
                                      NULL) != CU_OK)
        error = JIT_PTX_COMPILE;
    free(text);
    return error;
}

static int jit_complete(void *handle)
{
    jit_link *j = handle;
    if (!j) return JIT_NULL;
    const int error = j->has_lto_inputs ? complete_lto(j) : JIT_OK;
    if (error) return error;
    return pl_cuLinkComplete(j->link, &j->image, &j->bytes) == CU_OK ? JIT_OK : JIT_PTX_COMPILE;
}

static int jit_cubin_size(void *handle, size_t *bytes)
{
    const jit_link *j = handle;
    if (!j || !bytes) return JIT_NULL;
    *bytes = j->bytes;
    return j->image ? JIT_OK : JIT_INTERNAL;
}

static int jit_cubin(void *handle, void *cubin)
{
    const jit_link *j = handle;
    if (!j || !cubin) return JIT_NULL;
    if (!j->image) return JIT_INTERNAL;
    memcpy(cubin, j->image, j->bytes);
    return JIT_OK;
}

/* PTX is a result with -lto -ptx. */
static int jit_ptx_size(void *handle, size_t *bytes)
{
    const jit_link *j = handle;
    library l;
    if (!j || !bytes) return JIT_NULL;
    return j->lto && find_library(&l) ? l.GetLinkedPtxSize(j->lto, bytes) : JIT_INTERNAL;
}

static int jit_ptx(void *handle, char *text)
{
    const jit_link *j = handle;
    library l;
    if (!j || !text) return JIT_NULL;
    return j->lto && find_library(&l) ? l.GetLinkedPtx(j->lto, text) : JIT_INTERNAL;
}

/* The log of the library, unless there was an error here. */
static int jit_log_size(void *handle, size_t *bytes)
{
    const jit_link *j = handle;
    library l;
    if (!j || !bytes) return JIT_NULL;
    if (j->lto && !*j->log && find_library(&l)) return l.GetErrorLogSize(j->lto, bytes);
    *bytes = *j->log ? strlen(j->log) + 1 : 0;
    return JIT_OK;
}

static int jit_log(void *handle, char *log)
{
    const jit_link *j = handle;
    library l;
    if (!j || !log) return JIT_NULL;
    if (j->lto && !*j->log && find_library(&l)) return l.GetErrorLog(j->lto, log);
    if (*j->log) memcpy(log, j->log, strlen(j->log) + 1);
    return JIT_OK;
}

static int jit_info_size(void *handle, size_t *bytes)
{
    const jit_link *j = handle;
    library l;
    if (!j || !bytes) return JIT_NULL;
    if (j->lto && find_library(&l)) return l.GetInfoLogSize(j->lto, bytes);
    *bytes = 0;
    return JIT_OK;
}

static int jit_info(void *handle, char *log)
{
    const jit_link *j = handle;
    library l;
    if (!j || !log) return JIT_NULL;
    return j->lto && find_library(&l) ? l.GetInfoLog(j->lto, log) : JIT_OK;
}

/* A header of CUDA 12.N calls __nvJitLinkCreate_12_N, and so on. */
#define EXPORT_AS(function, symbol, id, version)                                                   \
    __typeof__(function) function##_##id __attribute__((alias(#function), visibility("default"))); \
    __asm__(".symver " #function "_" #id ", " #symbol "@libnvJitLink.so." #version);
#define EXPORT_MINOR(function, name, version, minor)                                               \
    EXPORT_AS(function, __nvJitLink##name##_##version##_##minor, version##_##minor, version)
#define EXPORT_VERSION(function, name, version)                                                    \
    EXPORT_AS(function, nvJitLink##name, version, version)                                         \
    EXPORT_MINOR(function, name, version, 0)                                                       \
    EXPORT_MINOR(function, name, version, 1)                                                       \
    EXPORT_MINOR(function, name, version, 2)                                                       \
    EXPORT_MINOR(function, name, version, 3)                                                       \
    EXPORT_MINOR(function, name, version, 4)                                                       \
    EXPORT_MINOR(function, name, version, 5)                                                       \
    EXPORT_MINOR(function, name, version, 6)                                                       \
    EXPORT_MINOR(function, name, version, 7)                                                       \
    EXPORT_MINOR(function, name, version, 8)                                                       \
    EXPORT_MINOR(function, name, version, 9)
#define EXPORT(function, name)                                                                     \
    EXPORT_VERSION(function, name, 12)                                                             \
    EXPORT_VERSION(function, name, 13)
EXPORT(jit_create, Create)
EXPORT(jit_destroy, Destroy)
EXPORT(jit_add_data, AddData)
EXPORT(jit_add_file, AddFile)
EXPORT(jit_complete, Complete)
EXPORT(jit_cubin_size, GetLinkedCubinSize)
EXPORT(jit_cubin, GetLinkedCubin)
EXPORT(jit_ptx_size, GetLinkedPtxSize)
EXPORT(jit_ptx, GetLinkedPtx)
EXPORT(jit_log_size, GetErrorLogSize)
EXPORT(jit_log, GetErrorLog)
EXPORT(jit_info_size, GetInfoLogSize)
EXPORT(jit_info, GetInfoLog)
