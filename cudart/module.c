/* module.c - registered modules: registration by the program's constructors, and lazy loading.
 *
 * A module is loaded by the first call that uses one of its kernels or variables. */
#define _GNU_SOURCE /* program_invocation_short_name, dladdr */
#include "cudart/activity.h"
#include "cudart/blocked.h"
#include "cudart/checking.h"
#include "cudart/clock.h"
#include "cudart/state.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- registration */

/* Registration happens before main and creates no context. */
static void lock(void)
{
    pthread_mutex_lock(&cuda.lock);
}

static void unlock(void)
{
    pthread_mutex_unlock(&cuda.lock);
}

static void out_of_memory(void)
{
    cuda_report("out of memory while the program registers its kernels");
    abort();
}

static void *allocate_zeroed(size_t n)
{
    void *p = calloc(1, n);
    if (!p) out_of_memory();
    return p;
}

/* Returns the array with space for one more element. */
static void *grow_array(void *array, size_t n, size_t *cap, size_t size)
{
    array = cuda_array_room(array, n, cap, size);
    if (!array) out_of_memory();
    return array;
}

/* Returns the name of the program, or of the library that contains the address. It remains valid
 * until the process ends, for messages and the trace. */
static const char *object_name(const void *address)
{
    static struct cuda_object {
        struct cuda_object *next;
        char name[];
    } * names;
    Dl_info object;
    const char *program = program_invocation_short_name;
    if (!dladdr(address, &object) || !object.dli_fname) return program;
    const char *slash = strrchr(object.dli_fname, '/'),
               *name = slash ? slash + 1 : object.dli_fname;
    if (!*name || strcmp(name, program) == 0) return program;
    for (const struct cuda_object *o = names; o; o = o->next)
        if (strcmp(o->name, name) == 0) return o->name;
    struct cuda_object *o = allocate_zeroed(sizeof *o + strlen(name) + 1);
    strcpy(o->name, name);
    o->next = names;
    names = o;
    return o->name;
}

void **pl___cudaRegisterFatBinary(void *data)
{
    const cuda_fatbin_wrapper *w = data;
    cuda_module *m = allocate_zeroed(sizeof *m);
    m->container[0] = w->data; /* with -rdc=true: machine code linked from those of `linked` */
    m->linked = w->version == 2 && w->linked ? w->linked : m->container;
    lock();
    m->name = object_name(data);
    m->next = cuda.modules;
    cuda.modules = m;
    unlock();
    return (void **)m;
}

void pl___cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}

static cuda_function *add_function(cuda_module *m, const void *host, const char *name)
{
    cuda_function *f = allocate_zeroed(sizeof *f);
    *f = (cuda_function){.module = m, .host = host, .name = name, .traffic = -1};
    m->function = grow_array(m->function, m->nfunctions, &m->cap_functions, sizeof *m->function);
    m->function[m->nfunctions++] = f;
    if ((host && !cuda_table_put(&cuda.functions, host, f)) ||
        !cuda_table_put(&cuda.functions, f, f))
        out_of_memory();
    return f;
}

void pl___cudaRegisterFunction(void **handle, const char *stub, char *device_stub, const char *name,
                               int threads, void *tid, void *bid, void *block, void *grid,
                               int *warp)
{
    (void)device_stub, (void)threads, (void)tid, (void)bid, (void)block, (void)grid, (void)warp;
    lock();
    add_function((cuda_module *)handle, stub, name);
    unlock();
}

static void add_variable(cuda_module *m, const void *host, const char *name, size_t size,
                         bool constant, bool managed)
{
    lock();
    m->variable = grow_array(m->variable, m->nvariables, &m->cap_variables, sizeof *m->variable);
    m->variable[m->nvariables++] = (cuda_variable){
        .host = host, .name = name, .size = size, .constant = constant, .managed = managed};
    if (!cuda_table_put(&cuda.variables, host, m)) out_of_memory();
    unlock();
}

void pl___cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external,
                          size_t size, int constant, int global)
{
    (void)device, (void)external, (void)global;
    add_variable((cuda_module *)handle, host, name, size, constant != 0, false);
}

void pl___cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name,
                                 int external, size_t size, int constant, int global)
{
    (void)device, (void)external, (void)global;
    add_variable((cuda_module *)handle, host, name, size, constant != 0, true);
}

/* Makes variables of a module on a device accessible to another device, like its memory. */
static int share_variables(const cuda_module *m, int owner, int device, bool enable)
{
    const pl_module *image = m->on[owner].loaded;
    if (!image || device == owner) return CU_OK;
    return pl_module_share(image, cuda.device[device].gpu, enable) == PL_OK ? CU_OK
                                                                            : CU_MEMORY_ALLOCATION;
}

int cuda_set_variable_access(int owner, int device, bool enable)
{
    int error = CU_OK;
    for (const cuda_module *m = cuda.modules; m && !error; m = m->next)
        error = share_variables(m, owner, device, enable);
    return error;
}

/* The same for all devices with access to the device. */
static int share_variables_with_peers(const cuda_module *m, int owner, bool enable)
{
    int error = CU_OK;
    for (int d = 0; d < cuda.devices && !error; d++)
        if (cuda.device[d].peers >> owner & 1) error = share_variables(m, owner, d, enable);
    return error;
}

bool cuda_is_module(const cuda_module *m)
{
    const cuda_module *k = cuda.modules;
    while (k && k != m) k = k->next;
    return k != NULL;
}

/* The module need not be in the list of modules. */
void cuda_module_free(cuda_module *m)
{
    for (cuda_module **at = &cuda.modules; *at; at = &(*at)->next)
        if (*at == m) {
            *at = m->next;
            break;
        }
    cuda_show_findings(m);
    cuda_code_free(m);
    for (size_t k = 0; k < m->nfunctions; k++) {
        cuda_function *f = m->function[k];
        if (f->host) cuda_table_remove(&cuda.functions, f->host);
        cuda_table_remove(&cuda.functions, f);
        cuda_timed_shapes_free(f);
        free((char *)(uintptr_t)f->shown);
        free(f->param);
        free(f->settings);
        free(f->set_launch);
        free(f);
    }
    for (size_t k = 0; k < m->nvariables; k++)
        cuda_table_remove(&cuda.variables, m->variable[k].host);
    for (int d = 0; d < cuda.devices; d++) share_variables_with_peers(m, d, false);
    for (int d = 0; d < CUDA_DEVICES; d++)
        if (m->on[d].loaded) cuda_stream_race_unloaded(m->on[d].loaded);
    for (int d = 0; d < CUDA_DEVICES; d++) /* the trace reads texts of modules */
        if (m->on[d].loaded && !cuda.trace) pl_module_close(m->on[d].loaded);
    for (size_t k = 0; k < m->ntexts; k++) free(m->text[k]);
    free(m->text);
    free(m->function);
    free(m->variable);
    free(m);
}

void pl___cudaUnregisterFatBinary(void **handle)
{
    lock();
    cuda_flush();
    if (cuda_report_suspended()) { /* the program ends, or unloads their code */
        cuda_set_sticky_error(CU_LAUNCH_TIMEOUT);
        cuda_progress();
    }
    cuda_module_free((cuda_module *)handle);
    unlock();
}

char pl___cudaInitModule(void **handle)
{
    lock();
    const bool ok = cuda_start() == CU_OK && cuda_module_load((cuda_module *)handle) == CU_OK;
    unlock();
    return ok;
}

/* ---------------------------------------------------------------- loading */

static void report_no_image(const cuda_module *m, const char *code)
{
    const unsigned capability = cuda_capability();
    cuda_report("%s: no PTX that a GPU of compute capability %u.%u takes: it holds %s. Build with "
                "nvcc's option -gencode arch=compute_%u,code=compute_%u",
                m->name, capability / 10, capability % 10, *code ? code : "none at all", capability,
                capability);
}

/* Kernels compiled for a newer target differ only in what they choose by __CUDA_ARCH__. */
static void report_newer_target(const cuda_module *m, const char *text)
{
    static bool reported;
    unsigned target = 0;
    const char *at = strstr(text, ".target");
    if (reported || !at || sscanf(at, ".target sm_%u", &target) != 1) return;
    reported = true;
    cuda_report(
        "%s: its machine code for this GPU cannot be executed; the PTX for sm_%u is executed "
        "instead (nvcc's option -gencode arch=compute_%u,code=compute_%u adds PTX for this GPU)",
        m->name, target, cuda_capability(), cuda_capability());
}

/* Managed variables are host memory; sets the program's pointers to it. */
static void set_managed_pointers(cuda_module *m)
{
    for (size_t k = 0; k < m->nvariables; k++) {
        const cuda_variable *v = &m->variable[k];
        pl_ptr address;
        uint64_t bytes;
        if (!v->managed || pl_module_symbol(cuda_loaded(m), v->name, &address, &bytes) != PL_OK)
            continue;
        void *p = (void *)(uintptr_t)address;
        memcpy((void *)(uintptr_t)v->host, &p, sizeof p);
    }
}

/* True for the toolkit's device library, libcudadevrt. It has PTX for the newest target only, which
 * calls functions of the driver. ptxloom has functions in its place. */
bool cuda_is_device_library(const char *text)
{
    return strstr(text, "cnpGetLastError") != NULL;
}

/* Collects the PTX of every container; those with none for this machine are skipped, and so is the
 * device library. */
static int collect_texts(cuda_module *m)
{
    size_t n = 0, found = 0;
    char code[CUDA_FATBIN_CODE] = "";
    while (m->linked[n]) n++;
    m->text = calloc(n ? n : 1, sizeof *m->text);
    if (!m->text) return CU_MEMORY_ALLOCATION;
    for (size_t k = 0; k < n; k++) {
        size_t bytes;
        char available[CUDA_FATBIN_CODE];
        const int error =
            cuda_fatbin_ptx(m->linked[k], cuda_capability(), &m->text[found], &bytes, available);
        if (error == CU_NO_IMAGE && *available && !*code) memcpy(code, available, sizeof code);
        if (error == CU_NO_IMAGE) continue;
        if (error) return error;
        if (cuda_is_device_library(m->text[found])) {
            free(m->text[found]);
            m->text[found] = NULL;
            continue;
        }
        if (*available) report_newer_target(m, m->text[found]);
        found++;
    }
    m->ntexts = found;
    if (found) return CU_OK;
    if (m->nfunctions || m->nvariables || m->name == cuda_unnamed_text) report_no_image(m, code);
    return CU_NO_IMAGE;
}

const char cuda_unnamed_text[] = "a module of the program";

/* Appends a message to a log of the program, in the form of ptxas. */
static void append_message(char *log, size_t size, const pl_message *m)
{
    const size_t at = log && size ? strlen(log) : size;
    if (at < size)
        snprintf(log + at, size - at, "ptxas application ptx input, line %u; %-8s: %s%s%s\n",
                 m->line, m->severity, m->text, m->help ? "; " : "", m->help ? m->help : "");
}

/* Writes the messages to the program's logs, errors to one and others to `info`, or to standard
 * error. */
static void deliver_messages(char *log, size_t size, char *info, size_t info_size)
{
    pl_gpu *gpu = cuda_current_device()->gpu;
    bool failed = false;
    if (!log) {
        cuda_print_messages();
        return;
    }
    if (size) *log = '\0';
    for (size_t k = 0; k < pl_gpu_diag_count(gpu); k++) {
        const pl_message m = pl_gpu_diag(gpu, k, false);
        const bool is_error = strcmp(m.severity, "error") == 0;
        failed |= is_error;
        append_message(is_error ? log : info, is_error ? size : info_size, &m);
    }
    const size_t at = size ? strlen(log) : 0;
    if (failed && at < size)
        snprintf(log + at, size - at, "ptxas fatal   : Ptx assembly aborted due to errors\n");
    pl_gpu_diag_clear(gpu);
}

static pl_input *make_inputs(const char *name, char *const *text, size_t n)
{
    pl_input *in = calloc(n, sizeof *in);
    for (size_t k = 0; in && k < n; k++) in[k] = (pl_input){name, text[k], strlen(text[k])};
    return in;
}

int cuda_can_link_texts(char *const *text, size_t n, char *log, size_t size)
{
    const pl_load_options options = {.check_only = true, .fit = true};
    pl_input *in = make_inputs(cuda_unnamed_text, text, n);
    pl_module *unused;
    if (!in) return CU_MEMORY_ALLOCATION;
    const pl_status st = pl_module_load_texts(cuda_current_device()->gpu, in, n, &options, &unused);
    free(in);
    deliver_messages(log, size, NULL, 0);
    return st == PL_OK ? CU_OK : st == PL_NOMEM ? CU_MEMORY_ALLOCATION : CU_INVALID_SOURCE;
}

/* An error in PTX is reported like that of a driver which cannot compile it. */
static int load_texts(cuda_module *m)
{
    const pl_load_options options = {.opt_level = cuda.options.opt_level,
                                     .keep_loads = cuda.options.check != NULL,
                                     .define = m->ntexts == 1,
                                     .managed = m->on[m->first].loaded};
    pl_input *in = make_inputs(m->name, m->text, m->ntexts);
    if (!in) return CU_MEMORY_ALLOCATION;
    pl_module **loaded = &m->on[cuda_self.device].loaded;
    pl_status st = PL_OK;
    if (!cuda_cache_load(m, &options, loaded)) {
        st = pl_module_load_texts(cuda_current_device()->gpu, in, m->ntexts, &options, loaded);
        if (st == PL_OK) cuda_cache_store(m, *loaded);
    }
    free(in);
    if (st == PL_OK && !m->on[m->first].loaded) m->first = cuda_self.device;
    deliver_messages(m->log, m->log_size, m->info, m->info_size);
    return st == PL_OK ? CU_OK : st == PL_NOMEM ? CU_MEMORY_ALLOCATION : CU_INVALID_PTX;
}

int cuda_module_load(cuda_module *m)
{
    struct cuda_image *image = &m->on[cuda_self.device];
    if (image->tried) return image->error;
    image->tried = true;
    image->error = m->ntexts ? CU_OK : collect_texts(m);
    if (!image->error) image->error = load_texts(m);
    if (!image->error) image->error = share_variables_with_peers(m, cuda_self.device, true);
    if (!image->error) set_managed_pointers(m);
    return image->error;
}

int cuda_module_reset(cuda_module *m)
{
    share_variables_with_peers(m, cuda_self.device, false);
    const pl_status st = pl_module_reset(cuda_loaded(m));
    share_variables_with_peers(m, cuda_self.device, true);
    return st == PL_OK ? CU_OK : CU_MEMORY_ALLOCATION;
}

int cuda_function_ready(cuda_function *f)
{
    const int error = cuda_module_load(f->module);
    if (error || f->ready) return error;
    if (pl_module_kernel(cuda_loaded(f->module), f->name, &f->info) != PL_OK)
        return CU_INVALID_FUNCTION;
    f->param = calloc(f->info.nparams ? f->info.nparams : 1, sizeof *f->param);
    if (!f->param) return CU_MEMORY_ALLOCATION;
    for (uint32_t k = 0; k < f->info.nparams; k++)
        f->param[k] = pl_module_param(cuda_loaded(f->module), f->name, k);
    f->ready = true;
    return CU_OK;
}

int cuda_function_of(const void *key, cuda_function **out)
{
    *out = key ? cuda_table_get(&cuda.functions, key) : NULL;
    if (!*out) return key ? CU_INVALID_HANDLE : CU_INVALID_FUNCTION;
    return cuda_function_ready(*out);
}

cuda_function *cuda_module_function(cuda_module *m, const char *name)
{
    pl_kernel_info info;
    for (size_t k = 0; k < m->nfunctions; k++)
        if (strcmp(m->function[k]->name, name) == 0) return m->function[k];
    if (cuda_module_load(m) || pl_module_kernel(cuda_loaded(m), name, &info) != PL_OK) return NULL;
    return add_function(m, NULL, info.name);
}

/* Returns the shadow of a managed variable, which programs identify by its address in memory. */
static const void *shadow_of(const void *address)
{
    for (const cuda_module *m = cuda.modules; m; m = m->next)
        for (size_t k = 0; k < m->nvariables; k++) {
            const cuda_variable *v = &m->variable[k];
            if (v->managed && *(void *const *)v->host == address) return v->host;
        }
    return NULL;
}

/* Returns the module that has a variable. *host is set to the address with which it was registered.
 */
static cuda_module *module_of(const void **host)
{
    cuda_module *m = *host ? cuda_table_get(&cuda.variables, *host) : NULL;
    if (!m && *host && (*host = shadow_of(*host))) m = cuda_table_get(&cuda.variables, *host);
    return m;
}

int cuda_variable_of(const void *host, uint64_t *address, uint64_t *bytes)
{
    cuda_module *m = module_of(&host);
    if (!m) return CU_INVALID_SYMBOL;
    const int error = cuda_module_load(m);
    if (error) return error;
    for (size_t k = 0; k < m->nvariables; k++) {
        const cuda_variable *v = &m->variable[k];
        if (v->host != host) continue;
        return pl_module_symbol(cuda_loaded(m), v->name, address, bytes) == PL_OK
                   ? CU_OK
                   : CU_INVALID_SYMBOL;
    }
    return CU_INVALID_SYMBOL;
}

bool cuda_variable_at(uint64_t address, uint64_t *start, uint64_t *bytes)
{
    for (const cuda_module *m = cuda.modules; m; m = m->next) {
        pl_module *loaded = cuda_loaded(m);
        const char *name = loaded ? pl_module_variable(loaded, address, start) : NULL;
        if (name && pl_module_symbol(loaded, name, start, bytes) == PL_OK) return true;
    }
    return false;
}

int pl_cudaGetSymbolAddress(void **address, const void *symbol)
{
    uint64_t a, n;
    if (!address) return CU_INVALID_VALUE;
    const int error = cuda_variable_of(symbol, &a, &n);
    if (error || cuda.sticky) return error ? error : cuda.sticky;
    *address = (void *)(uintptr_t)a;
    pl_module_open_constants(cuda_loaded(module_of(&symbol)));
    return CU_OK;
}

int pl_cudaGetSymbolSize(size_t *size, const void *symbol)
{
    uint64_t a, n;
    if (!size) return CU_INVALID_VALUE;
    const int error = cuda_variable_of(symbol, &a, &n);
    if (!error) *size = n;
    return error;
}

int pl___cudaGetKernel(void **kernel, const void *stub)
{
    cuda_function *f = cuda_table_get(&cuda.functions, stub);
    if (f) *kernel = f;
    return f ? CU_OK : CU_INVALID_FUNCTION;
}

int pl_cudaGetKernel(void **kernel, const void *stub)
{
    return kernel ? pl___cudaGetKernel(kernel, stub) : CU_INVALID_VALUE;
}

int pl_cudaGetFuncBySymbol(void **function, const void *symbol)
{
    return function ? pl___cudaGetKernel(function, symbol) : CU_INVALID_VALUE;
}

void pl___cudaRegisterHostVar(void **handle, const char *name, char *host, size_t size)
{
    (void)handle, (void)name, (void)host, (void)size; /* host memory needs no registration here */
}

void pl___cudaRegisterUnifiedTable(void **handle, void *table)
{
    (void)handle, (void)table;
}
