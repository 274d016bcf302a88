/* cuda_builtins.c - implements the functions of cuda_builtins.h.
 *
 * Signatures are those declared by nvcc 13.0. Error codes of device-side launches and the text
 * of a failed assertion are the H200's (driver 580.159.04, 2026-11, probes host.asserts,
 * hostcdp.cdp). */
#include "emu/exec/runtime/cuda_builtins.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/exec/hooks.h"
#include "emu/exec/memory/address.h"
#include "emu/exec/runtime/syscall.h"
#include "isa/program/source_position.h"

enum { MAX_STRING = 4096 };

/* The string at an address, truncated if it is longer than `size` or reaches unmapped memory. NULL:
 * the address is unmapped. */
static const char *string_at(pl_warp *w, unsigned lane, uint64_t address, char *to, size_t size)
{
    size_t n = 0;
    for (; n + 1 < size; n++) {
        const uint8_t *p = pl_call_memory(w, lane, address + n, 1);
        if (!p && !n) return NULL;
        if (!p || !*p) break;
        to[n] = (char)*p;
    }
    to[n] = '\0';
    return to;
}

/* ---- vprintf ---- */

typedef struct reader {
    pl_warp *w;
    unsigned lane;
    uint64_t buffer;
} reader;

static bool read_argument(void *ctx, uint64_t offset, void *to, size_t bytes)
{
    const reader *r = ctx;
    memset(to, 0, bytes);
    if (!r->buffer)
        pl_bounds_fault(r->w, r->lane, PL_SP_GENERIC, offset, bytes,
                        "printf without the argument that its format names: load");
    const pl_hooks *h = r->w->grid->hooks;
    if (h && r->buffer) h->prints(h, r->w, r->lane, r->buffer + offset, (unsigned)bytes);
    /* The last argument may be narrower than its conversion specifies. */
    for (size_t k = 0; r->buffer && k < bytes; k++) {
        const uint8_t *p = pl_call_memory(r->w, r->lane, r->buffer + offset + k, 1);
        if (p) ((uint8_t *)to)[k] = *p;
    }
    return r->buffer != 0;
}

static const char *read_string(void *ctx, uint64_t address, char *to, size_t size)
{
    const reader *r = ctx;
    return string_at(r->w, r->lane, address, to, size);
}

/* Records a request of a lane to the driver. */
static void record_request(const pl_call *k, pl_driver_work what, uint64_t bytes)
{
    pl_warp *w = k->w;
    w->driver_request.work = (uint8_t)what;
    w->driver_request.lanes++;
    if (bytes > w->driver_request.bytes) w->driver_request.bytes = bytes;
}

static void call_vprintf(const pl_call *k, unsigned lane)
{
    char format[MAX_STRING];
    uint64_t text = pl_call_argument(k, 0, lane);
    reader r = {.w = k->w, .lane = lane, .buffer = pl_call_argument(k, 1, lane)};
    const pl_print_source from = {.ctx = &r, .argument = read_argument, .string = read_string};
    pl_grid *head = k->w->grid->head;
    pl_print_buffer *out = &k->w->grid->system->out;
    int consumed = -1;
    record_request(k, PL_DRIVER_PRINT, 0);
    if (text && string_at(k->w, lane, text, format, sizeof format))
        consumed = pl_print_format(out, format, &from);
    if (out->full && !head->stopped.has_location) pl_grid_stop_at(head, k->w, lane);
    if (pl_failed(k->w->grid)) return;
    pl_call_return(k, lane, (uint64_t)(int64_t)consumed);
}

/* ---- __assertfail ---- */

/* The thread ends. The launch continues, so that other failing threads also report, and fails at
 * its end. */
static void call_assertfail(const pl_call *k, unsigned lane)
{
    pl_warp *w = k->w;
    pl_grid *g = w->grid;
    char message[MAX_STRING], file[1024], function[1024], text[MAX_STRING + 2200];
    const char *m = string_at(w, lane, pl_call_argument(k, 0, lane), message, sizeof message);
    const char *f = string_at(w, lane, pl_call_argument(k, 1, lane), file, sizeof file);
    uint32_t line = (uint32_t)pl_call_argument(k, 2, lane);
    const char *fn = string_at(w, lane, pl_call_argument(k, 3, lane), function, sizeof function);
    uint32_t t = pl_first_thread(w) + lane, x = g->block[0], y = g->block[1];
    int n = snprintf(text, sizeof text,
                     "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
                     f ? f : "", line, fn ? fn : "", w->cta->id[0], w->cta->id[1], w->cta->id[2],
                     t % x, t / x % y, t / x / y, m ? m : "");
    pl_print_add(&g->system->err, text, n > 0 ? (size_t)n : 0, 64);
    pl_fault_note(w, &g->head->assertion, 1u << lane, "CUDA_ERROR_ASSERT",
                  "assertion `%.200s` failed in %.200s", m ? m : "", fn ? fn : "");
}

/* ---- malloc, free ---- */

/* Records the call site that allocated or freed a block. */
static void record_site(const pl_call *k, uint64_t address, bool freed)
{
    const pl_warp *w = k->w;
    const char *file = "";
    pl_heap_site s = {.program = w->program, .pc = w->pc};
    uint32_t line = 0;
    const uint32_t at = w->code[w->pc].line;
    if (!address) return;
    if (!pl_cuda_user_line(w->program, at, &file, &line) && at < w->program->lines.n)
        line = w->program->lines.at[at].ptx_line;
    const char *slash = strrchr(file, '/');
    snprintf(s.location, sizeof s.location, "%s%s%u", *file ? (slash ? slash + 1 : file) : "line",
             *file ? ":" : " ", line);
    snprintf(s.kernel, sizeof s.kernel, "%s", w->grid->entry->name);
    pl_heap_record_site(&w->grid->system->heap, address, freed, &s);
}

/* Allocates a block for the lane; 0: failed. */
static uint64_t heap_alloc(const pl_call *k, uint64_t size, uint64_t align)
{
    const uint64_t p = pl_heap_alloc(&k->w->grid->system->heap, size, align);
    const pl_hooks *h = k->w->grid->hooks;
    record_site(k, p, false);
    if (p && h) h->allocates(h, p, size);
    return p;
}

static bool heap_free(const pl_call *k, uint64_t address)
{
    const bool ok = pl_heap_free(&k->w->grid->system->heap, address);
    if (ok) record_site(k, address, true);
    return ok;
}

static void call_malloc(const pl_call *k, unsigned lane)
{
    record_request(k, PL_DRIVER_ALLOC, pl_call_argument(k, 0, lane));
    pl_call_return(k, lane, heap_alloc(k, pl_call_argument(k, 0, lane), 16));
}

static void call_aligned_malloc(const pl_call *k, unsigned lane)
{
    uint64_t align = pl_call_argument(k, 1, lane);
    bool power = align && !(align & (align - 1));
    record_request(k, PL_DRIVER_ALLOC, pl_call_argument(k, 0, lane));
    pl_call_return(
        k, lane, power ? heap_alloc(k, pl_call_argument(k, 0, lane), align < 16 ? 16 : align) : 0);
}

static void call_free(const pl_call *k, unsigned lane)
{
    uint64_t address = pl_call_argument(k, 0, lane);
    if (address) record_request(k, PL_DRIVER_FREE, 0);
    if (!address || heap_free(k, address)) return;
    const pl_heap *h = &k->w->grid->system->heap;
    const pl_heap_block *b = pl_heap_block_at(h, address);
    char history[500] = "";
    if (b && h->base + b->offset == address) pl_heap_history(h, b, history, sizeof history);
    pl_fault(k->w, 1u << lane, address, "CUDA_ERROR_LAUNCH_FAILED",
             "free of 0x%" PRIx64 ", which malloc did not return or which is free already%s",
             address, history);
}

/* ---- device-side launches ---- */

/* Precedes the parameters, hidden from the kernel: the launch for which the buffer was
 * allocated. */
typedef struct request {
    uint64_t func;
    uint32_t grid[3], block[3], shared, pad;
} request;

/* The error code of an impossible launch; 0: the launch is possible. */
static uint32_t request_error(const pl_warp *w, const request *q)
{
    const pl_system *s = w->grid->system;
    if (q->func >= w->program->funcs.n || !w->program->funcs.at[q->func].entry)
        return PL_CUDA_INVALID_VALUE;
    pl_child c = {.func = (uint32_t)q->func, .shared = q->shared};
    memcpy(c.grid, q->grid, sizeof c.grid);
    memcpy(c.block, q->block, sizeof c.block);
    return s->launchable && s->launchable(s->ctx, &c) ? 0 : PL_CUDA_INVALID_CONFIGURATION;
}

/* void *cudaGetParameterBufferV2(kernel, grid, block, shared): NULL if the launch is impossible. */
static void call_parameter_buffer(const pl_call *k, unsigned lane)
{
    pl_warp *w = k->w;
    pl_system *s = w->grid->system;
    const uint32_t func = pl_program_func_at(w->program, pl_call_argument(k, 0, lane));
    request q = {.func = func, .shared = (uint32_t)pl_call_argument(k, 3, lane)};
    pl_call_copy_argument(k, 1, lane, q.grid, sizeof q.grid);
    pl_call_copy_argument(k, 2, lane, q.block, sizeof q.block);
    const uint32_t error = request_error(w, &q);
    if (error) {
        pl_call_set_last_error(w, lane, error);
        pl_call_return(k, lane, 0);
        return;
    }
    uint64_t bytes = (sizeof q + w->program->funcs.at[func].param_bytes + 63) & ~63ull;
    if (s->launch_top + bytes > s->launch_size) {
        pl_call_set_last_error(w, lane, PL_CUDA_PENDING_EXCEEDED);
        pl_call_return(k, lane, 0);
        return;
    }
    uint64_t base = s->launch_base + s->launch_top;
    uint8_t *p = pl_call_memory(w, lane, base, bytes);
    s->launch_top += bytes;
    if (p) memcpy(p, &q, sizeof q);
    pl_call_return(k, lane, p ? base + sizeof q : 0);
}

/* Launches the request, with the parameters at device address `buffer`. */
static void launch(const pl_call *k, unsigned lane, const request *q, uint64_t buffer,
                   uint64_t stream)
{
    pl_warp *w = k->w;
    const pl_program *p = w->program;
    const uint32_t bytes = q->func < p->funcs.n ? p->funcs.at[q->func].param_bytes : 0;
    const uint8_t *from = bytes ? pl_call_memory(w, lane, buffer, bytes) : NULL;
    uint8_t *params = calloc(1, bytes + 16);
    if (bytes && !from) {
        free(params);
        pl_call_return_error(k, lane, PL_CUDA_INVALID_VALUE);
        return;
    }
    if (params && bytes) memcpy(params, from, bytes);
    pl_child c = {.func = (uint32_t)q->func,
                  .shared = q->shared,
                  .params = params,
                  .stream = stream,
                  .tail = stream == PL_TAIL_LAUNCH};
    memcpy(c.grid, q->grid, sizeof c.grid);
    memcpy(c.block, q->block, sizeof c.block);
    pl_call_return_error(k, lane,
                         params && pl_call_add_child(w, lane, &c) ? 0 : PL_CUDA_PENDING_EXCEEDED);
}

/* cudaError_t cudaLaunchDeviceV2(buffer, stream) */
static void call_launch(const pl_call *k, unsigned lane)
{
    pl_warp *w = k->w;
    pl_system *s = w->grid->system;
    uint64_t buffer = pl_call_argument(k, 0, lane);
    request q;
    const uint8_t *p = buffer ? pl_call_memory(w, lane, buffer - sizeof q, sizeof q) : NULL;
    if (!p || buffer - s->launch_base > s->launch_size) {
        pl_call_return_error(k, lane, PL_CUDA_INVALID_VALUE);
        return;
    }
    memcpy(&q, p, sizeof q);
    launch(k, lane, &q, buffer, pl_call_argument(k, 1, lane));
}

/* The interface before version 2: the buffer is allocated first, and the launch specifies kernel
 * and shape. */

/* void *cudaGetParameterBuffer(alignment, size) */
static void call_buffer_v1(const pl_call *k, unsigned lane)
{
    pl_system *s = k->w->grid->system;
    const uint64_t size = pl_call_argument(k, 1, lane), left = s->launch_size - s->launch_top,
                   bytes = (size + 63) & ~63ull;
    if (size > left || bytes > left) {
        pl_call_set_last_error(k->w, lane, PL_CUDA_PENDING_EXCEEDED);
        pl_call_return(k, lane, 0);
        return;
    }
    pl_call_return(k, lane, s->launch_base + s->launch_top);
    s->launch_top += bytes;
}

/* cudaError_t cudaLaunchDevice(kernel, buffer, grid, block, shared, stream) */
static void call_launch_v1(const pl_call *k, unsigned lane)
{
    pl_warp *w = k->w;
    request q = {.func = pl_program_func_at(w->program, pl_call_argument(k, 0, lane)),
                 .shared = (uint32_t)pl_call_argument(k, 4, lane)};
    pl_call_copy_argument(k, 2, lane, q.grid, sizeof q.grid);
    pl_call_copy_argument(k, 3, lane, q.block, sizeof q.block);
    const uint32_t error = request_error(w, &q);
    if (error)
        pl_call_return_error(k, lane, error);
    else
        launch(k, lane, &q, pl_call_argument(k, 1, lane), pl_call_argument(k, 5, lane));
}

static void call_last_error(const pl_call *k, unsigned lane)
{
    uint32_t *e = pl_call_last_error(k->w, lane);
    pl_call_return(k, lane, e ? *e : 0);
    if (e) *e = 0;
}

static void call_peek_error(const pl_call *k, unsigned lane)
{
    uint32_t *e = pl_call_last_error(k->w, lane);
    pl_call_return(k, lane, e ? *e : 0);
}

/* Streams and events of the device: launches run in order anyway, and only checkers distinguish
 * the handles. */
static void call_make_handle(const pl_call *k, unsigned lane)
{
    enum { FIRST = 0x100 };
    uint64_t *made = &k->w->grid->system->handles;
    pl_call_store(k, lane, FIRST + __atomic_fetch_add(made, 1, __ATOMIC_RELAXED), 8);
}

/* Events of the device have no time. */
static void call_make_event(const pl_call *k, unsigned lane)
{
    enum { DISABLE_TIMING = 2 };
    if (pl_call_argument(k, 1, lane) & DISABLE_TIMING)
        call_make_handle(k, lane);
    else
        pl_call_return_error(k, lane, PL_CUDA_INVALID_VALUE);
}

static void call_succeed(const pl_call *k, unsigned lane)
{
    pl_call_return(k, lane, 0);
}

/* cudaError_t cudaMalloc(void **, size_t), cudaFree(void *): on the device they are malloc and
 * free. */
static void call_device_malloc(const pl_call *k, unsigned lane)
{
    const uint64_t p = heap_alloc(k, pl_call_argument(k, 1, lane), 256);
    record_request(k, PL_DRIVER_ALLOC, pl_call_argument(k, 1, lane));
    if (p)
        pl_call_store(k, lane, p, 8);
    else                                  /* the pointer stays as it was (H200) */
        pl_call_return_error(k, lane, 2); /* cudaErrorMemoryAllocation */
}

static void call_device_free(const pl_call *k, unsigned lane)
{
    uint64_t p = pl_call_argument(k, 0, lane);
    pl_call_return(k, lane, !p || heap_free(k, p) ? 0 : PL_CUDA_INVALID_VALUE);
}

/* ---- function table ---- */

typedef enum need { NEEDS_NOTHING, NEEDS_HEAP, NEEDS_LAUNCHES, NEEDS_TEXTS } need;

/* A name reserved for the device runtime without an implementation here: the call fails, but a
 * module that does not call it runs. */
static void call_unsupported(const pl_call *k, unsigned lane)
{
    pl_fault(k->w, 1u << lane, 0, "CUDA_ERROR_NOT_SUPPORTED",
             "call of '%s', which this device runtime lacks; a function of that name in a file "
             "that is linked takes its place",
             k->f->name);
}

typedef struct builtin {
    const char *name;
    void (*run)(const pl_call *k, unsigned lane);
    need needs;
} builtin;

/* The first functions have exactly these names. Those of the device runtime have the prefix "cuda"
 * or "__cudaCDP2", and may have the suffix "_ptsz". */
static const builtin functions[] = {
    {"vprintf", call_vprintf, NEEDS_NOTHING},
    {"__assertfail", call_assertfail, NEEDS_NOTHING},
    {"malloc", call_malloc, NEEDS_HEAP},
    {"free", call_free, NEEDS_HEAP},
    {"__cuda_syscall_aligned_malloc", call_aligned_malloc, NEEDS_HEAP},
    {"GetParameterBufferV2", call_parameter_buffer, NEEDS_LAUNCHES},
    {"LaunchDeviceV2", call_launch, NEEDS_LAUNCHES},
    {"GetParameterBuffer", call_buffer_v1, NEEDS_LAUNCHES},
    {"LaunchDevice", call_launch_v1, NEEDS_LAUNCHES},
    {"GetLastError", call_last_error, NEEDS_NOTHING},
    {"PeekAtLastError", call_peek_error, NEEDS_NOTHING},
    {"GetErrorName", pl_call_error_name, NEEDS_TEXTS},
    {"GetErrorString", pl_call_error_string, NEEDS_TEXTS},
    {"GetDeviceCount", pl_call_device_count, NEEDS_NOTHING},
    {"GetDevice", pl_call_get_device, NEEDS_NOTHING},
    {"DeviceGetAttribute", pl_call_get_attribute, NEEDS_NOTHING},
    {"DeviceGetLimit", pl_call_get_limit, NEEDS_NOTHING},
    {"DeviceGetCacheConfig", pl_call_cache_config, NEEDS_NOTHING},
    {"DeviceGetSharedMemConfig", pl_call_bank_config, NEEDS_NOTHING},
    {"RuntimeGetVersion", pl_call_runtime_version, NEEDS_NOTHING},
    {"FuncGetAttributes", pl_call_func_attributes, NEEDS_NOTHING},
    {"OccupancyMaxActiveBlocksPerMultiprocessor", pl_call_occupancy, NEEDS_NOTHING},
    {"OccupancyMaxActiveBlocksPerMultiprocessorWithFlags", pl_call_occupancy, NEEDS_NOTHING},
    {"StreamCreateWithFlags", call_make_handle, NEEDS_NOTHING},
    {"StreamDestroy", call_succeed, NEEDS_NOTHING},
    {"StreamWaitEvent", call_succeed, NEEDS_NOTHING},
    {"EventCreateWithFlags", call_make_event, NEEDS_NOTHING},
    {"EventRecord", call_succeed, NEEDS_NOTHING},
    {"EventRecordWithFlags", call_succeed, NEEDS_NOTHING},
    {"EventDestroy", call_succeed, NEEDS_NOTHING},
    {"Malloc", call_device_malloc, NEEDS_HEAP},
    {"Free", call_device_free, NEEDS_HEAP},
    {"MemcpyAsync", pl_call_memcpy, NEEDS_NOTHING},
    {"Memcpy2DAsync", pl_call_memcpy2d, NEEDS_NOTHING},
    {"Memcpy3DAsync", pl_call_memcpy3d, NEEDS_NOTHING},
    {"MemsetAsync", pl_call_memset, NEEDS_NOTHING},
    {"Memset2DAsync", pl_call_memset2d, NEEDS_NOTHING},
    {"Memset3DAsync", pl_call_memset3d, NEEDS_NOTHING},
    {"GraphSetConditional", pl_call_set_conditional, NEEDS_NOTHING},
    {"GraphLaunch", pl_call_launch_graph, NEEDS_NOTHING},
    {"GraphKernelNodeSetParam", pl_call_node_param, NEEDS_NOTHING},
    {"GraphKernelNodeSetGridDim", pl_call_node_grid, NEEDS_NOTHING},
    {"GraphKernelNodeSetEnabled", pl_call_node_enabled, NEEDS_NOTHING},
    {"GraphKernelNodeUpdatesApply", pl_call_node_updates, NEEDS_NOTHING},
};
enum {
    FUNCTIONS = sizeof functions / sizeof *functions,
    RUNTIME = 5 /* index of the first function of the device runtime */
};
static const builtin unsupported = {NULL, call_unsupported, NEEDS_NOTHING};

static const builtin *builtin_at(uint16_t n)
{
    return n <= FUNCTIONS ? &functions[n - 1] : &unsupported;
}

/* The name after the prefix of the device runtime, or NULL. */
static const char *runtime_name(const char *name)
{
    static const char *const prefixes[] = {"__cudaCDP2", "__cuda", "cuda"};
    for (size_t k = 0; k < sizeof prefixes / sizeof *prefixes; k++) {
        const size_t n = strlen(prefixes[k]);
        if (strncmp(name, prefixes[k], n) == 0 && name[n] >= 'A' && name[n] <= 'Z') return name + n;
    }
    return NULL;
}

uint16_t pl_system_find(const char *name)
{
    const char *runtime = name ? runtime_name(name) : NULL;
    for (size_t k = 0; name && k < RUNTIME; k++)
        if (strcmp(functions[k].name, name) == 0) return (uint16_t)(k + 1);
    for (size_t k = RUNTIME; runtime && k < FUNCTIONS; k++) {
        const size_t n = strlen(functions[k].name);
        if (strncmp(functions[k].name, runtime, n) == 0 &&
            (!runtime[n] || strcmp(runtime + n, "_ptsz") == 0))
            return (uint16_t)(k + 1);
    }
    return runtime ? FUNCTIONS + 1 : 0;
}

static bool uses_feature(const pl_program *p, need what)
{
    for (size_t k = 0; k < p->funcs.n; k++)
        if (p->funcs.at[k].system && builtin_at(p->funcs.at[k].system)->needs == what) return true;
    return false;
}

bool pl_system_uses_heap(const pl_program *p)
{
    return uses_feature(p, NEEDS_HEAP);
}

bool pl_system_uses_texts(const pl_program *p)
{
    return uses_feature(p, NEEDS_TEXTS);
}

bool pl_system_uses_launches(const pl_program *p)
{
    return uses_feature(p, NEEDS_LAUNCHES);
}

void pl_system_call(pl_warp *w, const pl_prog_func *f, const pl_prog_call *c)
{
    const pl_call k = {.w = w, .f = f, .c = c, .node = pl_warp_current_call(w)};
    const builtin *what = builtin_at(f->system);
    const pl_lanes lanes = w->all;
    w->wrote = true;
    w->driver_request.work = w->driver_request.lanes = 0;
    w->driver_request.bytes = 0;
    for (unsigned h = 0; h < w->halves; h++) {
        pl_warp_set_half(w, h);
        for (uint32_t m = pl_of_half(w, lanes); m && !pl_failed(w->grid); m &= m - 1)
            what->run(&k, (unsigned)__builtin_ctz(m));
    }
    pl_warp_set_half(w, 0);
    if (what->run == call_assertfail) pl_warp_exit(w, lanes);
}

void pl_system_close(pl_system *s)
{
    pl_heap_close(&s->heap);
    pl_print_close(&s->out);
    pl_print_close(&s->err);
    for (size_t k = 0; k < s->child.n; k++) free(s->child.at[k].params);
    free(s->child.at);
    free(s->conditional.at);
    memset(s, 0, sizeof *s);
}
