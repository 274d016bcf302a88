/* linker.c - cuLink...: PTX that is linked at run time.
 *
 * The result of linking is a list of the texts, which cuModuleLoadData recognises by its signature.
 * It is assembled once here, so that errors are reported by the link. */
#include "cudart/state.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    INPUT_PTX = 1, /* CUjitInputType */
    INPUT_FATBINARY = 2,
    WALL_TIME = 2, /* CUjit_option */
    INFO_BUFFER = 3,
    INFO_SIZE = 4,
    LOG_BUFFER = 5,
    LOG_SIZE = 6,
    VERBOSE = 12
};
enum { FIRST_EXACT = 90 }; /* from this capability on, the driver compiles for sm_90a and so on */

typedef struct cuda_link {
    char **text;
    size_t n, cap;
    unsigned char *list; /* set once it is complete */
    char *log, *info;
    size_t log_room, info_room;
    bool verbose, duplicate_names; /* two texts define the same name */
    bool invalid;                  /* a text could not be compiled */
    bool completed;
    void **log_size, **info_size; /* where the program receives the sizes, or NULL */
} cuda_link;

static void read_options(cuda_link *l, unsigned n, const int *option, void **value)
{
    for (unsigned k = 0; k < n; k++) {
        const size_t size = (size_t)(uintptr_t)value[k];
        switch (option[k]) {
        case WALL_TIME: value[k] = NULL; break; /* it takes no time */
        case INFO_BUFFER: l->info = value[k]; break;
        case INFO_SIZE:
            l->info_room = size;
            l->info_size = &value[k];
            break;
        case LOG_BUFFER: l->log = value[k]; break;
        case LOG_SIZE:
            l->log_room = size;
            l->log_size = &value[k];
            break;
        case VERBOSE: l->verbose = size != 0; break;
        default: break;
        }
    }
}

int pl_cuLinkCreate_v2(unsigned n, int *option, void **value, void **out)
{
    if (!out || (n && (!option || !value))) return CU_INVALID_VALUE;
    cuda_link *l = calloc(1, sizeof *l);
    if (!l) return CU_MEMORY_ALLOCATION;
    read_options(l, n, option, value);
    if (l->log && l->log_room) *l->log = '\0';
    if (l->info && l->info_room) *l->info = '\0';
    *out = l;
    return CU_OK;
}

static bool can_be_compiled(const cuda_link *l, char *text)
{
    const char *target = strstr(text, ".target");
    unsigned sm = 0;
    if (target && sscanf(target, ".target sm_%u", &sm) == 1 && sm > cuda_capability()) {
        if (l->log)
            snprintf(l->log, l->log_room, "ptxas fatal   : PTX for sm_%u cannot be linked\n", sm);
        return false;
    }
    return cuda_can_link_texts(&text, 1, l->log, l->log_room) == CU_OK;
}

/* Takes ownership of the text. Names that were defined before are reported immediately, as by the
 * driver. */
static int add_text(cuda_link *l, char *text)
{
    if (!text) return CU_MEMORY_ALLOCATION;
    char **texts = cuda_array_room(l->text, l->n, &l->cap, sizeof *texts);
    if (!texts) {
        free(text);
        return CU_MEMORY_ALLOCATION;
    }
    if (!can_be_compiled(l, text)) {
        free(text);
        l->invalid = true;
        return CU_INVALID_PTX;
    }
    l->text = texts;
    l->text[l->n++] = text;
    if (l->n == 1) return CU_OK;
    const int error = cuda_can_link_texts(l->text, l->n, l->log, l->log_room);
    l->duplicate_names |= error == CU_INVALID_SOURCE;
    return error;
}

/* ptxloom has functions in place of those of the toolkit's device library. */
static int take_text(cuda_text_sink *sink, char *text)
{
    if (cuda_is_device_library(text)) {
        free(text);
        return CU_OK;
    }
    sink->texts++;
    return add_text(sink->link, text);
}

static int add_data(cuda_link *l, int type, const void *data, size_t bytes)
{
    if (type == INPUT_PTX) {
        char *ptx = strndup(data, bytes);
        if (!ptx || cuda_is_ptx(ptx)) return add_text(l, ptx);
        free(ptx);
        if (l->log) snprintf(l->log, l->log_room, "the input is not PTX");
        return CU_INVALID_IMAGE;
    }
    cuda_text_sink sink = {take_text, l, 0};
    const int error = cuda_link_input(data, bytes, &sink);
    if (error == CU_INVALID_IMAGE || (!error && !sink.texts && type <= INPUT_FATBINARY)) {
        cuda_report("only PTX, and fat binaries, objects and libraries with PTX can be linked");
        return CU_INVALID_IMAGE;
    }
    return error;
}

static void store_log_sizes(const cuda_link *l)
{
    if (l->log_size) *l->log_size = (void *)cuda_log_bytes(l->log, l->log_room);
    if (l->info_size) *l->info_size = (void *)cuda_log_bytes(l->info, l->info_room);
}

int pl_cuLinkAddData_v2(void *link, int type, void *data, size_t bytes, const char *name,
                        unsigned n, int *option, void **value)
{
    enum { INPUT_TYPES = 6 };
    (void)name, (void)n, (void)option, (void)value;
    const cuda_link *l = link;
    if (!l) return CU_INVALID_HANDLE;
    if (!data || !bytes || l->completed || type < 0 || type >= INPUT_TYPES) return CU_INVALID_VALUE;
    const int error = add_data(link, type, data, bytes);
    if (error) store_log_sizes(l);
    return error;
}

int pl_cuLinkAddFile_v2(void *link, int type, const char *path, unsigned n, int *option,
                        void **value)
{
    size_t bytes;
    (void)n, (void)option, (void)value;
    if (!link || !path) return CU_INVALID_VALUE;
    char *data = cuda_read_file(path, &bytes);
    if (!data) return CU_FILE_NOT_FOUND;
    const int error = add_data(link, type, data, bytes);
    free(data);
    if (error) store_log_sizes(link);
    return error;
}

/* Appends ptxas-style output, as far as space permits. */
static void append(char *info, size_t room, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void append(char *info, size_t room, const char *format, ...)
{
    const size_t at = info ? strlen(info) : 0;
    va_list args;
    if (!info || at + 1 >= room) return;
    va_start(args, format);
    vsnprintf(info + at, room - at, format, args);
    va_end(args);
}

/* Appends the lines of ptxas, which compiles the kernels last to first (H100, CUDA 13). */
static void append_compiler_info(char *info, size_t room, const cuda_module *m, double seconds)
{
    const pl_module *p = cuda_loaded(m);
    const unsigned capability = cuda_capability();
    append(info, room, "ptxas info    : %llu bytes gmem\n",
           (unsigned long long)pl_module_total(p).global_bytes);
    for (size_t k = pl_module_kernel_count(p); k-- > 0;) {
        const char *name = pl_module_kernel_name(p, k);
        pl_kernel_info i;
        if (pl_module_kernel(p, name, &i) != PL_OK) continue;
        append(info, room, "ptxas info    : Compiling entry function '%s' for 'sm_%u%s'\n", name,
               capability, capability >= FIRST_EXACT ? "a" : "");
        append(info, room,
               "ptxas info    : Function properties for %s\nptxas         .     %u bytes stack "
               "frame, %u bytes spill stores, %u bytes spill loads\n",
               name, i.local_bytes, i.spill_stores, i.spill_loads);
        append(info, room, "ptxas info    : Used %u registers, used %u barriers", i.registers,
               i.barriers);
        if (i.stack_bytes) append(info, room, ", %u bytes cumulative stack size", i.stack_bytes);
        if (i.static_shared) append(info, room, ", %u bytes smem", i.static_shared);
        append(info, room, "\nptxas info    : Compile time = %.3f ms\n",
               seconds * 1e3 / (double)pl_module_kernel_count(p));
    }
}

void cuda_append_info(char *info, size_t room, const cuda_module *m)
{
    const pl_module *p = cuda_loaded(m);
    const pl_module_totals totals = pl_module_total(p);
    const char *name;
    append(info, room, "info    : %llu bytes gmem", (unsigned long long)totals.global_bytes);
    if (totals.const_bytes)
        append(info, room, ", %llu bytes cmem[3]", (unsigned long long)totals.const_bytes);
    append(info, room, "\n");
    for (size_t k = 0; (name = pl_module_kernel_name(p, k)) != NULL; k++) {
        pl_kernel_info i;
        if (pl_module_kernel(p, name, &i) != PL_OK) continue;
        append(info, room,
               "info    : Function properties for '%s':\ninfo    : used %u registers, used %u "
               "barriers, %u stack, %u bytes smem, %u bytes cmem[0], %u bytes lmem\n",
               name, i.registers, i.barriers, i.stack_bytes, i.static_shared, i.constant_bytes,
               i.local_bytes);
    }
}

static const char empty_text[] = ".version 8.0\n.target sm_50\n.address_size 64\n";

int pl_cuLinkComplete(void *link, void **out, size_t *bytes)
{
    cuda_link *l = link;
    if (!l) return CU_INVALID_HANDLE;
    if (!out) return CU_INVALID_VALUE;
    if (l->completed) return CU_INVALID_HANDLE;
    l->completed = true;
    if (l->invalid || l->duplicate_names) {
        store_log_sizes(l);
        return l->invalid ? CU_UNKNOWN : CU_INVALID_SOURCE;
    }
    if (!l->n) { /* the result is an empty module */
        const int error = add_text(l, strdup(empty_text));
        if (error) return error;
    }
    const size_t size = cuda_link_image(NULL, l->text, l->n);
    free(l->list);
    l->list = malloc(size);
    if (!l->list) return CU_MEMORY_ALLOCATION;
    cuda_link_image(l->list, l->text, l->n);
    cuda_module *m = NULL;
    const double start = cuda_seconds();
    const int error = cuda_load_image(&m, l->list, l->log, l->log_room);
    if (!error && m && l->verbose) {
        append_compiler_info(l->info, l->info_room, m, cuda_seconds() - start);
        cuda_append_info(l->info, l->info_room, m);
    }
    store_log_sizes(l);
    /* Each text has been checked before: the error is in their combination. */
    if (error) return error == CU_INVALID_PTX ? CU_INVALID_SOURCE : error;
    if (m) cuda_module_free(m);
    *out = l->list;
    if (bytes) *bytes = size;
    return CU_OK;
}

int pl_cuLinkDestroy(void *link)
{
    cuda_link *l = link;
    if (!l) return CU_INVALID_HANDLE;
    for (size_t k = 0; k < l->n; k++) free(l->text[k]);
    free(l->text);
    free(l->list);
    free(l);
    return CU_OK;
}
