/* driver_module.c - modules and libraries of the driver API: PTX and fat binaries that a program
 * loads. A library is a module under another name. */
#include "cudart/blocked.h"
#include "cudart/state.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    INFO_BUFFER = 3, /* CUjit_option */
    INFO_SIZE = 4,
    LOG_BUFFER = 5,
    LOG_SIZE = 6,
    JIT_MAX_REGISTERS = 0,
    JIT_WALL_TIME = 2,
    JIT_TARGET = 9,
    JIT_VERBOSE = 12,
    JIT_OPTIONS = 40,          /* number of options */
    WRAPPER_MAGIC = 0x466243B1 /* of cuda_fatbin_wrapper */
};

/* True if the text names its PTX version. */
bool cuda_is_ptx(const char *text)
{
    return strstr(text, ".version") != NULL;
}

/* True if the version is newer than that of this driver. */
static bool is_too_new(const cuda_module *m)
{
    const char *version = m->ntexts ? strstr(m->text[0], ".version") : NULL;
    return version && strtod(version + strlen(".version"), NULL) >= 10;
}

/* Creates a module from a fat binary or PTX. Machine code is rejected. */
static int module_of(const void *image, cuda_module **out)
{
    uint32_t magic;
    if (!image) return CU_INVALID_VALUE;
    memcpy(&magic, image, sizeof magic);
    cuda_module *m = calloc(1, sizeof *m);
    if (!m) return CU_MEMORY_ALLOCATION;
    m->name = cuda_unnamed_text;
    m->linked = m->container;
    if (magic == WRAPPER_MAGIC) {
        m->container[0] = ((const cuda_fatbin_wrapper *)image)->data;
    } else if (cuda_is_fatbin(image)) {
        m->container[0] = image;
    } else if (cuda_is_link(image)) {
        const int error = cuda_link_texts(image, &m->text, &m->ntexts);
        if (error) {
            cuda_module_free(m);
            return error;
        }
    } else if (memcmp(image, "\177ELF", 4) == 0) {
        cuda_report("the program loads machine code (a cubin), which does not run here: load PTX, "
                    "or a fat binary with PTX");
        free(m);
        return CU_NO_IMAGE;
    } else if (!cuda_is_ptx(image)) {
        free(m);
        return CU_INVALID_IMAGE;
    } else {
        m->text = calloc(1, sizeof *m->text);
        if (m->text) m->text[0] = strdup(image);
        m->ntexts = 1;
        if (!m->text || !m->text[0]) {
            free(m->text);
            free(m);
            return CU_MEMORY_ALLOCATION;
        }
    }
    *out = m;
    return CU_OK;
}

static cuda_module *add_to_list(cuda_module *m)
{
    m->next = cuda.modules;
    cuda.modules = m;
    return m;
}

unsigned cuda_target_of(const cuda_module *m)
{
    const char *target = m->ntexts ? strstr(m->text[0], ".target") : NULL;
    unsigned sm = 0;
    return target && sscanf(target, ".target sm_%u", &sm) == 1 ? sm : 0;
}

static int check_version(const cuda_module *m, unsigned max_target, char *log, size_t log_size)
{
    if (is_too_new(m)) {
        unsigned line = 1;
        const char *version = strstr(m->text[0], ".version");
        for (const char *c = m->text[0]; c < version; c++) line += *c == '\n';
        if (log)
            snprintf(log, log_size,
                     "ptxas application ptx input, line %u; fatal   : unsupported .version\n"
                     "ptxas fatal   : Ptx assembly aborted due to errors\n",
                     line);
        return CU_UNSUPPORTED_PTX;
    }
    const char *bits = m->ntexts ? strstr(m->text[0], ".address_size") : NULL;
    unsigned address_size = 64;
    if (bits && sscanf(bits, ".address_size %u", &address_size) == 1 && address_size == 32) {
        if (log) snprintf(log, log_size, "ptxas fatal   : 32-bit addresses are not supported\n");
        return CU_INVALID_PTX;
    }
    if (cuda_target_of(m) <= max_target) return CU_OK;
    if (log)
        snprintf(log, log_size, "ptxas fatal   : PTX for sm_%u cannot be loaded for sm_%u\n",
                 cuda_target_of(m), max_target);
    return CU_INVALID_PTX;
}

/* Buffers of the program for messages of a load; NULL: none. */
typedef struct load_logs {
    char *log, *info;
    size_t log_size, info_size;
} load_logs;

/* max_target: the highest one that is accepted. */
static int load_image(cuda_module **out, const void *image, unsigned max_target,
                      const load_logs *logs)
{
    cuda_module *m;
    char *log = logs->log;
    const size_t log_size = logs->log_size;
    if (log && log_size) *log = '\0';
    if (!out) return CU_INVALID_VALUE;
    int error = module_of(image, &m);
    if (error && log) snprintf(log, log_size, "neither PTX nor a fat binary with PTX");
    if (error) return error;
    error = check_version(m, max_target, log, log_size);
    m->log = log;
    m->log_size = log_size;
    m->info = logs->info;
    m->info_size = logs->info_size;
    if (!error) error = cuda_module_load(m);
    if (error) {
        cuda_module_free(m);
        return error;
    }
    m->bound = true;
    m->context = cuda_created_context(cuda_self.context);
    *out = add_to_list(m);
    return CU_OK;
}

int cuda_load_image(cuda_module **out, const void *image, char *log, size_t log_size)
{
    const load_logs logs = {.log = log, .log_size = log_size};
    return load_image(out, image, cuda_capability(), &logs);
}

int pl_cuModuleLoadData(cuda_module **out, const void *image)
{
    return cuda_load_image(out, image, NULL, 0);
}

static void find_log(unsigned n, const int *option, void **value, char **log, size_t *log_size)
{
    for (unsigned k = 0; k < n; k++) {
        if (option[k] == LOG_BUFFER) *log = value[k];
        if (option[k] == LOG_SIZE) *log_size = (size_t)(uintptr_t)value[k];
    }
}

size_t cuda_log_bytes(const char *log, size_t room)
{
    const size_t n = log && room ? strlen(log) : 0;
    return n && n + 1 == room ? room : n;
}

/* Stores what an option returns: the time in ms, as a float, or the number of bytes written. */
static void store_option(int option, void **value, const load_logs *l, const struct timespec *began)
{
    if (option == JIT_WALL_TIME) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        const float ms = (float)(now.tv_sec - began->tv_sec) * 1e3F +
                         (float)(now.tv_nsec - began->tv_nsec) * 1e-6F;
        memcpy(value, &ms, sizeof ms);
    }
    if (option == LOG_SIZE) *value = (void *)cuda_log_bytes(l->log, l->log_size);
    if (option == INFO_SIZE) *value = (void *)cuda_log_bytes(l->info, l->info_size);
}

int pl_cuModuleLoadDataEx(cuda_module **out, const void *image, unsigned n, int *option,
                          void **value)
{
    load_logs logs = {.log = NULL};
    bool verbose = false, foreign = false;
    unsigned max_target = cuda_capability();
    if (n && (!option || !value)) return CU_INVALID_VALUE;
    for (unsigned k = 0; k < n; k++) {
        if (option[k] < 0 || option[k] >= JIT_OPTIONS) return CU_INVALID_VALUE;
        const unsigned number = (unsigned)(uintptr_t)value[k];
        if (option[k] == JIT_MAX_REGISTERS && !number) return CU_INVALID_VALUE;
        if (option[k] == JIT_TARGET) {
            foreign = (number & 0xffff) / 10 != cuda_capability() / 10;
            if ((number & 0xffff) < max_target) max_target = number & 0xffff;
        }
        if (option[k] == JIT_VERBOSE) verbose = number != 0;
        if (option[k] == INFO_BUFFER) logs.info = value[k];
        if (option[k] == INFO_SIZE) logs.info_size = (size_t)(uintptr_t)value[k];
    }
    if (logs.info && logs.info_size) *logs.info = '\0';
    find_log(n, option, value, &logs.log, &logs.log_size);
    struct timespec began;
    clock_gettime(CLOCK_MONOTONIC, &began);
    int error = load_image(out, image, max_target, &logs);
    if (!error && foreign) { /* compiled for a GPU that this one is not */
        cuda_module_free(*out);
        error = CU_INVALID_SOURCE;
    }
    if (!error && verbose) cuda_append_info(logs.info, logs.info_size, *out);
    for (unsigned k = 0; k < n; k++) store_option(option[k], &value[k], &logs, &began);
    return error;
}

int pl_cuModuleLoadFatBinary(cuda_module **out, const void *image)
{
    return cuda_load_image(out, image, NULL, 0);
}

int pl_cuFuncGetName(const char **name, const void *function)
{
    return function ? pl_cudaFuncGetName(name, function) : CU_INVALID_VALUE;
}

char *cuda_read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    char *bytes = NULL;
    long n = -1;
    if (!f) return NULL;
    if (fseek(f, 0, SEEK_END) == 0 && (n = ftell(f)) >= 0 && fseek(f, 0, SEEK_SET) == 0)
        bytes = malloc((size_t)n + 4);
    if (bytes) {
        const size_t got = fread(bytes, 1, (size_t)n, f);
        if (size) *size = got;
        memset(bytes + got, 0, 4);
    }
    fclose(f);
    return bytes;
}

int pl_cuModuleLoad(cuda_module **out, const char *path)
{
    char *bytes = path ? cuda_read_file(path, NULL) : NULL;
    if (!bytes) return path ? CU_FILE_NOT_FOUND : CU_INVALID_VALUE;
    const int error = cuda_load_image(out, bytes, NULL, 0);
    free(bytes);
    return error;
}

static int unload(cuda_module *m)
{
    if (!cuda_is_module(m)) return CU_INVALID_HANDLE;
    const int unsafe = cuda_check_captures(CUDA_UNSAFE_CALL);
    if (unsafe) return unsafe;
    for (int d = 0; d < cuda.devices; d++) cuda_drain_device(d);
    cuda_free_references(m);
    cuda_module_free(m);
    return CU_OK;
}

int pl_cuModuleUnload(cuda_module *m)
{
    return cuda_is_module(m) && m->library ? CU_NOT_PERMITTED : unload(m);
}

int pl_cuModuleGetFunction(cuda_function **out, cuda_module *m, const char *name)
{
    if (!m) return CU_INVALID_HANDLE;
    if (!out || !name || !*name) return CU_INVALID_VALUE;
    if (!cuda_is_module(m)) return CU_INVALID_HANDLE;
    const int error = cuda_module_load(m);
    if (error) return error;
    *out = cuda_module_function(m, name);
    return *out ? cuda_function_ready(*out) : CU_NOT_FOUND;
}

int pl_cuModuleGetFunctionCount(unsigned *n, cuda_module *m)
{
    if (!n || !m) return CU_INVALID_VALUE;
    const int error = cuda_module_load(m);
    if (error) return error;
    *n = (unsigned)pl_module_kernel_count(cuda_loaded(m));
    return CU_OK;
}

int pl_cuModuleGetGlobal_v2(uint64_t *address, size_t *bytes, cuda_module *m, const char *name)
{
    pl_ptr at;
    uint64_t size;
    if (!m || !name || (!address && !bytes)) return CU_INVALID_VALUE;
    const int error = cuda_module_load(m);
    if (error) return error;
    if (pl_module_symbol(cuda_loaded(m), name, &at, &size) != PL_OK)
        return cuda_module_function(m, name) ? CU_INVALID_VALUE : CU_NOT_FOUND;
    if (address) *address = at;
    if (bytes) *bytes = size;
    pl_module_open_constants(cuda_loaded(m));
    return CU_OK;
}

int pl_cuModuleGetLoadingMode(int *mode)
{
    if (!mode) return CU_INVALID_VALUE;
    *mode = 2; /* lazy */
    return CU_OK;
}

/* ---------------------------------------------------------------- libraries */

/* Errors in a library are reported when its contents are first used. */
static int load_library(cuda_module **out, const void *code, char *log, size_t log_size)
{
    cuda_module *m = NULL;
    if (!out || !code) return CU_INVALID_VALUE;
    int error = cuda_load_image(&m, code, log, log_size);
    if (error != CU_INVALID_PTX && error != CU_INVALID_IMAGE && error != CU_UNSUPPORTED_PTX) {
        if (m) {
            m->library = true;
            m->bound = false;
        }
        *out = m;
        return error;
    }
    if (log && log_size && !*log) snprintf(log, log_size, "no PTX");
    m = calloc(1, sizeof *m);
    if (!m) return CU_MEMORY_ALLOCATION;
    m->name = "a library with errors";
    m->library = true;
    m->linked = m->container;
    for (int d = 0; d < cuda.devices; d++)
        m->on[d] = (struct cuda_image){.tried = true, .error = error};
    *out = add_to_list(m);
    return CU_OK;
}

int pl_cudaLibraryLoadData(cuda_module **out, const void *code, int *option, void **value,
                           unsigned n, void *library_option, void **library_value,
                           unsigned library_n)
{
    char *log = NULL;
    size_t log_size = 0;
    enum { LIBRARY_OPTIONS = 2 };
    const int *which = library_option;
    (void)library_value;
    for (unsigned k = 0; which && k < library_n; k++)
        if (which[k] < 0 || which[k] >= LIBRARY_OPTIONS) return CU_INVALID_VALUE;
    find_log(n, option, value, &log, &log_size);
    return load_library(out, code, log, log_size);
}

int pl_cudaLibraryLoadFromFile(cuda_module **out, const char *path, int *option, void **value,
                               unsigned n, void *library_option, void **library_value,
                               unsigned library_n)
{
    char *bytes = path ? cuda_read_file(path, NULL) : NULL;
    if (!bytes) return path ? CU_FILE_NOT_FOUND : CU_INVALID_VALUE;
    const int error = pl_cudaLibraryLoadData(out, bytes, option, value, n, library_option,
                                             library_value, library_n);
    free(bytes);
    return error;
}

int pl_cudaLibraryUnload(cuda_module *m)
{
    return unload(m);
}

int pl_cudaLibraryGetKernel(cuda_function **out, cuda_module *m, const char *name)
{
    return pl_cuModuleGetFunction(out, m, name);
}

int pl_cudaLibraryGetKernelCount(unsigned *n, cuda_module *m)
{
    return pl_cuModuleGetFunctionCount(n, m);
}

int pl_cudaLibraryEnumerateKernels(cuda_function **out, unsigned n, cuda_module *m)
{
    if (!out || !m) return CU_INVALID_VALUE;
    const int error = cuda_module_load(m);
    for (unsigned k = 0; k < n && !error; k++) {
        const char *name = pl_module_kernel_name(cuda_loaded(m), k);
        if (!name) break;
        out[k] = cuda_module_function(m, name);
    }
    return error;
}

int pl_cudaLibraryGetGlobal(void **p, size_t *bytes, cuda_module *m, const char *name)
{
    uint64_t address;
    if (!p && !bytes) return CU_INVALID_VALUE;
    const int error = pl_cuModuleGetGlobal_v2(&address, bytes, m, name);
    if (!error && p) *p = (void *)(uintptr_t)address;
    return error;
}

/* No library has functions shared by host and device. */
int pl_cudaLibraryGetUnifiedFunction(void **out, cuda_module *m, const char *name)
{
    (void)out, (void)m, (void)name;
    return CU_INVALID_VALUE;
}

int pl_cudaLibraryGetManaged(void **p, size_t *bytes, cuda_module *m, const char *name)
{
    void *at;
    size_t size;
    const int error = pl_cudaLibraryGetGlobal(&at, &size, m, name);
    if (error) return error;
    if (cuda_in_window((uintptr_t)at)) return CU_NOT_FOUND; /* device memory */
    if (p) *p = at;
    if (bytes) *bytes = size;
    return CU_OK;
}

int pl_cuLibraryGetModule(cuda_module **out, cuda_module *m)
{
    if (!out || !m) return CU_INVALID_VALUE;
    const int error = cuda_module_load(m);
    if (!error) *out = m;
    return error;
}

int pl_cuKernelGetFunction(cuda_function **out, cuda_function *f)
{
    if (!out || !f) return CU_INVALID_VALUE;
    *out = f;
    return CU_OK;
}
