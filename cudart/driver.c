/* driver.c - the CUDA driver API, on the same contexts as the runtime. Most calls are those of the
 * runtime under another name. */
#include "cudart/green.h"
#include "cudart/image.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    DRIVER_NOT_FOUND = 500,
    INFO_BUFFER = 3, /* CUjit_option */
    INFO_SIZE = 4,
    LOG_BUFFER = 5,
    LOG_SIZE = 6,
    JIT_MAX_REGISTERS = 0,
    JIT_WALL_TIME = 2,
    JIT_TARGET = 9,
    JIT_VERBOSE = 12,
    JIT_OPTIONS = 40,
    WRAPPER_MAGIC = 0x466243B1
};

/* ---------------------------------------------------------------- device and context */

static cuda_context primary[CUDA_DEVICES];
static cuda_table contexts; /* contexts created by the program */
static cuda_table destroyed;

static cuda_context *primary_context(int device)
{
    primary[device].device = device;
    return &primary[device];
}

/* Returns the current context; NULL: none. */
static cuda_context *current_context(void)
{
    if (!cuda_self.has_context) return NULL;
    return cuda_self.context ? cuda_self.context : primary_context(cuda_self.device);
}

static unsigned *flags_of(cuda_context *c)
{
    return c->created ? &c->flags : &cuda.device[c->device].flags;
}

static void make_current(cuda_context *c)
{
    cuda_self.has_context = c != NULL;
    cuda_self.context = c && c->created ? c : NULL;
    if (c) cuda_self.device = c->device;
}

cuda_context *cuda_context_of(void *handle)
{
    for (int d = 0; d < cuda.devices; d++)
        if (handle == primary_context(d)) return handle;
    return handle ? cuda_table_get(&contexts, handle) : NULL;
}

void *cuda_context_handle(void *created, int device)
{
    return cuda_context_of(created) ? created : primary_context(device);
}

int pl_cuInit(unsigned flags)
{
    if (flags) return CU_INVALID_VALUE;
    cuda.initialised = true;
    return CU_OK;
}

int pl_cuDeviceGet(int *device, int ordinal)
{
    if (!device) return CU_INVALID_VALUE;
    *device = cuda_is_device(ordinal) ? ordinal : 0;
    return cuda_is_device(ordinal) ? CU_OK : CU_INVALID_DEVICE;
}

int pl_cuDeviceGetName(char *name, int room, int device)
{
    if (!name || room < 1) return CU_INVALID_VALUE;
    if (!cuda_is_device(device)) return CU_INVALID_DEVICE;
    snprintf(name, (size_t)room, "%s", cuda_device_name());
    return CU_OK;
}

int pl_cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    if (!bytes) return CU_INVALID_VALUE;
    *bytes = cuda_device_bytes();
    return cuda_is_device(device) ? CU_OK : CU_INVALID_DEVICE;
}

int pl_cuDeviceGetUuid_v2(void *uuid, int device)
{
    cuda_prop_13 p;
    if (!uuid) return CU_INVALID_VALUE;
    const int error = pl_cudaGetDeviceProperties(&p, device);
    if (!error) memcpy(uuid, p.uuid, sizeof p.uuid);
    return error;
}

int pl_cuDeviceComputeCapability(int *major, int *minor, int device)
{
    if (!major || !minor) return CU_INVALID_VALUE;
    *major = (int)cuda_capability() / 10;
    *minor = (int)cuda_capability() % 10;
    return cuda_is_device(device) ? CU_OK : CU_INVALID_DEVICE;
}

int pl_cuCtxPushCurrent_v2(void *handle)
{
    cuda_context *c = cuda_context_of(handle);
    if (!c) return handle ? CU_INVALID_CONTEXT : CU_INVALID_VALUE;
    if (cuda_self.context_depth == CUDA_CONTEXTS) return CU_MEMORY_ALLOCATION;
    cuda_self.context_stack[cuda_self.context_depth++] = current_context();
    make_current(c);
    return CU_OK;
}

int pl_cuCtxPopCurrent_v2(void **out)
{
    if (!current_context()) return CU_INVALID_CONTEXT;
    if (out) *out = current_context();
    make_current(cuda_self.context_depth ? cuda_self.context_stack[--cuda_self.context_depth]
                                         : NULL);
    return CU_OK;
}

int pl_cuCtxCreate_v2(void **out, unsigned flags, int device)
{
    if (!out || !cuda_valid_device_flags(flags)) return CU_INVALID_VALUE;
    if (!cuda_is_device(device)) return CU_INVALID_DEVICE;
    if (cuda.sticky) return cuda.sticky;
    cuda_context *c = calloc(1, sizeof *c);
    if (!c || !cuda_register_context(c)) {
        free(c);
        return CU_MEMORY_ALLOCATION;
    }
    *c = (cuda_context){.device = device, .created = true, .flags = flags};
    *out = c;
    return pl_cuCtxPushCurrent_v2(c);
}

int pl_cuCtxCreate_v3(void **out, void *affinity, int n, unsigned flags, int device)
{
    (void)affinity, (void)n;
    return pl_cuCtxCreate_v2(out, flags, device);
}

int pl_cuCtxCreate_v4(void **out, void *params, unsigned flags, int device)
{
    (void)params;
    return pl_cuCtxCreate_v2(out, flags, device);
}

bool cuda_register_context(cuda_context *c)
{
    return cuda_table_put(&contexts, c, c);
}

/* The previous context of the thread becomes current. The memory of the context is not reused:
 * programs may still pass its handle. */
void cuda_end_context(cuda_context *c)
{
    if (c == cuda_self.context) pl_cuCtxPopCurrent_v2(NULL);
    if (!c->green) cuda_release_of_context(c);
    cuda_table_remove(&contexts, c);
    cuda_table_put(&destroyed, c, c);
}

int pl_cuCtxDestroy_v2(void *handle)
{
    cuda_context *c = cuda_context_of(handle);
    if (!handle) return CU_INVALID_VALUE;
    if (cuda_table_get(&destroyed, handle)) return CU_CONTEXT_DESTROYED;
    if (!c || !c->created || c->green) return CU_INVALID_CONTEXT;
    cuda_end_context(c);
    return CU_OK;
}

int pl_cuCtxSetCurrent(void *handle)
{
    cuda_context *c = cuda_context_of(handle);
    if (handle && !c) return CU_INVALID_CONTEXT;
    if (c)
        make_current(c);
    else if (current_context())
        pl_cuCtxPopCurrent_v2(NULL);
    return CU_OK;
}

int pl_cuCtxGetCurrent(void **out)
{
    if (!out) return CU_INVALID_VALUE;
    *out = current_context();
    return CU_OK;
}

int pl_cuCtxGetDevice(int *device)
{
    if (!device) return CU_INVALID_VALUE;
    *device = cuda_self.device;
    return CU_OK;
}

/* NULL: the current context. */
int pl_cuCtxGetDevice_v2(int *device, void *handle)
{
    const cuda_context *c = handle ? cuda_context_of(handle) : current_context();
    if (!device) return CU_INVALID_VALUE;
    if (!c) return CU_INVALID_CONTEXT;
    *device = c->device;
    return CU_OK;
}

int pl_cuCtxSynchronize_v2(void *handle)
{
    if (!handle) return pl_cudaDeviceSynchronize();
    int error = pl_cuCtxPushCurrent_v2(handle);
    if (error) return error;
    error = pl_cudaDeviceSynchronize();
    pl_cuCtxPopCurrent_v2(NULL);
    return error;
}

int pl_cuCtxGetFlags(unsigned *flags)
{
    if (!flags) return CU_INVALID_VALUE;
    enum { MAPS_HOST = 8 }; /* set for the primary context */
    const cuda_context *c = current_context();
    *flags = *flags_of(current_context()) | (c && !c->created ? MAPS_HOST : 0);
    return CU_OK;
}

int pl_cuCtxSetFlags(unsigned flags)
{
    if (!cuda_valid_device_flags(flags)) return CU_INVALID_VALUE;
    unsigned *of = flags_of(current_context());
    *of = (*of & ~(unsigned)SCHEDULE_MASK) | flags;
    return CU_OK;
}

int pl_cuCtxAttach(void **out, unsigned flags)
{
    cuda_context *c = current_context();
    if (!out || flags) return CU_INVALID_VALUE;
    if (!c) return CU_INVALID_CONTEXT;
    c->retained++;
    *out = c;
    return CU_OK;
}

/* The last call destroys the context. */
int pl_cuCtxDetach(void *handle)
{
    cuda_context *c = cuda_context_of(handle);
    if (!c || c != current_context()) return CU_INVALID_CONTEXT;
    if (!c->retained) return pl_cuCtxDestroy_v2(c);
    c->retained--;
    return CU_OK;
}

/* CUexecAffinityParam: the SMs of the current context. */
int pl_cuCtxGetExecAffinity(void *out, int type)
{
    struct {
        int type;
        unsigned sms;
    } *p = out;
    if (!p || type) return CU_INVALID_VALUE;
    p->type = type;
    p->sms = cuda_green_sms(cuda_current_green());
    return CU_OK;
}

/* Execution affinity is supported only under MPS. */
int pl_cuDeviceGetExecAffinitySupport(int *can, int type, int device)
{
    if (!can || type) return CU_INVALID_VALUE;
    *can = 0;
    return cuda_is_device(device) ? CU_OK : CU_INVALID_DEVICE;
}

/* CUdevprop: the first attributes. */
int pl_cuDeviceGetProperties(void *out, int device)
{
    enum { VALUES = 14 };
    int error = out ? CU_OK : CU_INVALID_VALUE;
    for (int k = 0; k < VALUES && !error; k++)
        error = pl_cudaDeviceGetAttribute((int *)out + k, k + 1, device);
    return error;
}

int pl_cuCtxGetApiVersion(void *c, unsigned *version)
{
    if (!version) return CU_INVALID_VALUE;
    if (!c && !current_context()) return CU_INVALID_CONTEXT;
    *version = 3020;
    return CU_OK;
}

int pl_cuDevicePrimaryCtxRetain(void **out, int device)
{
    if (!out) return CU_INVALID_VALUE;
    if (!cuda_is_device(device)) return CU_INVALID_DEVICE;
    if (cuda.sticky) return cuda.sticky;
    *out = primary_context(device);
    primary[device].retained++;
    cuda.was_reset &= ~(1u << device);
    return CU_OK;
}

static bool is_active(int device)
{
    const unsigned bit = 1u << device;
    return !(cuda.was_reset & bit) && (primary[device].retained || cuda.runtime_used & bit);
}

/* The reference of the runtime is the last one. The context ends with its last reference. */
int pl_cuDevicePrimaryCtxRelease_v2(int device)
{
    if (!cuda_is_device(device)) return CU_INVALID_DEVICE;
    if (!is_active(device)) return CU_INVALID_CONTEXT;
    if (primary[device].retained)
        primary[device].retained--;
    else
        cuda.runtime_used &= ~(1u << device);
    return is_active(device) ? CU_OK : pl_cuDevicePrimaryCtxReset(device);
}

int pl_cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags)
{
    if (!cuda_is_device(device)) return CU_INVALID_DEVICE;
    if (!cuda_valid_device_flags(flags)) return CU_INVALID_VALUE;
    cuda.device[device].flags = flags;
    return CU_OK;
}

int pl_cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active)
{
    if (!flags || !active) return CU_INVALID_VALUE;
    if (!cuda_is_device(device)) return CU_INVALID_DEVICE;
    *flags = cuda.device[device].flags;
    *active = is_active(device);
    return CU_OK;
}

int pl_cuDevicePrimaryCtxReset(int device)
{
    const int previous = cuda_self.device;
    if (!cuda_is_device(device)) return CU_INVALID_DEVICE;
    cuda_self.device = device;
    const int error = pl_cudaDeviceReset();
    cuda_self.device = previous;
    return error;
}

int pl_cuCtxGetId(void *context, uint64_t *id)
{
    const cuda_context *c = context ? cuda_context_of(context) : current_context();
    if (!c) return CU_INVALID_CONTEXT;
    if (!id) return CU_INVALID_VALUE;
    if (!c->created && cuda.was_reset >> c->device & 1) return CU_CONTEXT_DESTROYED;
    *id = c->created ? (uintptr_t)c : (uint64_t)c->device + 1;
    return CU_OK;
}

/* ---- peers ---- */

int pl_cuCtxEnablePeerAccess(void *handle, unsigned flags)
{
    const cuda_context *c = cuda_context_of(handle);
    return c ? pl_cudaDeviceEnablePeerAccess(c->device, flags) : CU_INVALID_CONTEXT;
}

int pl_cuCtxDisablePeerAccess(void *handle)
{
    const cuda_context *c = cuda_context_of(handle);
    return c ? pl_cudaDeviceDisablePeerAccess(c->device) : CU_INVALID_CONTEXT;
}

static const cuda_context *context_or_current(void *handle)
{
    return handle ? cuda_context_of(handle) : current_context();
}

int pl_cuMemcpyPeer(uint64_t to, void *to_context, uint64_t from, void *from_context, size_t bytes)
{
    const cuda_context *a = context_or_current(to_context), *b = context_or_current(from_context);
    if (!a || !b) return CU_INVALID_CONTEXT;
    return pl_cudaMemcpyPeer((void *)(uintptr_t)to, a->device, (const void *)(uintptr_t)from,
                             b->device, bytes);
}

int pl_cuMemcpyPeerAsync(uint64_t to, void *to_context, uint64_t from, void *from_context,
                         size_t bytes, void *stream)
{
    const cuda_context *a = context_or_current(to_context), *b = context_or_current(from_context);
    if (!a || !b) return CU_INVALID_CONTEXT;
    return pl_cudaMemcpyPeerAsync((void *)(uintptr_t)to, a->device, (const void *)(uintptr_t)from,
                                  b->device, bytes, stream);
}

int pl_cuStreamGetCtx(void *stream, void **out)
{
    const cuda_stream *s = cuda_stream_of(stream);
    if (!s) return CU_INVALID_HANDLE;
    if (!out) return CU_INVALID_VALUE;
    *out = (uintptr_t)stream > CUDA_STREAM_PER_THREAD ? cuda_context_handle(s->context, s->device)
                                                      : current_context();
    return CU_OK;
}

/* Returns the context or the green context of the stream; the other one is NULL. */
int pl_cuStreamGetCtx_v2(void *stream, void **out, void **green)
{
    const cuda_stream *s = cuda_stream_of(stream);
    cuda_green *g = s ? cuda_stream_green(s) : NULL;
    if (green) *green = g;
    if (!g) return pl_cuStreamGetCtx(stream, out);
    if (out) *out = NULL;
    return CU_OK;
}

int pl_cuStreamBeginCapture(void *stream)
{
    return pl_cudaStreamBeginCapture(stream, 0);
}

/* ---------------------------------------------------------------- modules */

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

static bool is_module(const cuda_module *m)
{
    const cuda_module *k = cuda.modules;
    while (k && k != m) k = k->next;
    return k != NULL;
}

static int unload(cuda_module *m)
{
    if (!is_module(m)) return CU_INVALID_HANDLE;
    const int unsafe = cuda_check_captures(CUDA_UNSAFE_CALL);
    if (unsafe) return unsafe;
    for (int d = 0; d < cuda.devices; d++) cuda_drain_device(d);
    cuda_module_free(m);
    return CU_OK;
}

int pl_cuModuleUnload(cuda_module *m)
{
    return is_module(m) && m->library ? CU_NOT_PERMITTED : unload(m);
}

int pl_cuModuleGetFunction(cuda_function **out, cuda_module *m, const char *name)
{
    if (!m) return CU_INVALID_HANDLE;
    if (!out || !name || !*name) return CU_INVALID_VALUE;
    if (!is_module(m)) return CU_INVALID_HANDLE;
    const int error = cuda_module_load(m);
    if (error) return error;
    *out = cuda_module_function(m, name);
    return *out ? cuda_function_ready(*out) : DRIVER_NOT_FOUND;
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
        return cuda_module_function(m, name) ? CU_INVALID_VALUE : DRIVER_NOT_FOUND;
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

/* ---- libraries: aliases of modules ---- */

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
    const int current = cuda_self.device;
    cuda_self.device = device;
    const int error = pl_cuFuncGetAttribute(value, attribute, f);
    cuda_self.device = current;
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
    const int error = cuda_copy_param_block(f, extra, &op.u.kernel.params);
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
        const int device = cuda_self.device;
        cuda_self.device = s->device;
        const int error = cuda_function_of(f, &f);
        cuda_self.device = device;
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
    return DRIVER_NOT_FOUND;
}
