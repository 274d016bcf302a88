/* system.c - the functions of system.h.
 *
 * Signatures are those that nvcc 13.0 declares. Error codes of launches from the device and the text of a failed assertion are the
 * H200's (driver 580.159.04, 2026-11, probes host.asserts, hostcdp.cdp). */
#include "emu/exec/system.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/exec/access.h"

enum { INVALID_VALUE = 1, INVALID_CONFIGURATION = 9, PENDING_EXCEEDED = 69, NOT_SUPPORTED = 801 }; /* cudaError_t */
enum { TAIL_LAUNCH = 3, STRING_MOST = 4096 };

/* ---- arguments and results; lanes are those of the half whose turn it is ---- */

typedef struct call {
    pl_warp *w;
    const pl_prog_call *c;
    const pl_callnode *node; /* of the caller */
} call;

/* Where a lane of the caller has a value: in a register, or in local memory. */
static uint8_t *place(const call *k, bool reg, uint32_t at, uint32_t bytes, unsigned lane)
{
    const pl_warp *w = k->w;
    if (reg)
        return (uint8_t *)(w->file + ((size_t)w->half * w->file_rows + k->node->row + at) * PL_LANES) + lane * (bytes > 4 ? 8u : 4u);
    return w->local + (size_t)(pl_first_lane(w) + lane) * w->local_bytes + k->node->local + at;
}

static void copy_argument(const call *k, unsigned n, unsigned lane, void *to, size_t bytes)
{
    memset(to, 0, bytes);
    if (n >= k->c->nargs)
        return;
    const pl_prog_move *m = &k->w->program->moves.at[k->c->first_arg + n];
    const uint8_t *from = place(k, m->reg, m->from, m->bytes, lane);
    memcpy(to, from, m->bytes < bytes ? m->bytes : bytes);
}

static uint64_t argument(const call *k, unsigned n, unsigned lane)
{
    uint64_t v;
    copy_argument(k, n, lane, &v, sizeof v);
    return v;
}

static void give(const call *k, unsigned lane, uint64_t value)
{
    if (!k->c->nrets)
        return;
    const pl_prog_move *m = &k->w->program->moves.at[k->c->first_ret];
    uint8_t *to = place(k, m->reg, m->to, m->bytes, lane);
    memcpy(to, &value, m->bytes < 8 ? m->bytes : 8);
}

/* ---- device memory ---- */

static uint8_t *at(pl_warp *w, unsigned lane, uint64_t address, uint64_t bytes)
{
    pl_space real;
    uint64_t in;
    return pl_resolve(w, lane, PL_SP_GENERIC, address, bytes, &real, &in);
}

/* The string at an address; cut when it is longer than `size` or runs into nothing. NULL: nothing is there. */
static const char *string_at(pl_warp *w, unsigned lane, uint64_t address, char *to, size_t size)
{
    size_t n = 0;
    for (; n + 1 < size; n++) {
        const uint8_t *p = at(w, lane, address + n, 1);
        if (!p && !n)
            return NULL;
        if (!p || !*p)
            break;
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
        pl_access_fault(r->w, r->lane, PL_SP_GENERIC, offset, bytes, "printf without the argument that its format names: load");
    for (size_t k = 0; r->buffer && k < bytes; k++) { /* the last argument may be narrower than its conversion says */
        const uint8_t *p = at(r->w, r->lane, r->buffer + offset + k, 1);
        if (p)
            ((uint8_t *)to)[k] = *p;
    }
    return r->buffer != 0;
}

static const char *read_string(void *ctx, uint64_t address, char *to, size_t size)
{
    const reader *r = ctx;
    return string_at(r->w, r->lane, address, to, size);
}

/* A lane has asked the driver for something. */
static void ask(const call *k, pl_driver_work what, uint64_t bytes)
{
    pl_warp *w = k->w;
    w->asked.what = (uint8_t)what;
    w->asked.lanes++;
    if (bytes > w->asked.bytes) w->asked.bytes = bytes;
}

static void call_vprintf(const call *k, unsigned lane)
{
    char format[STRING_MOST];
    uint64_t text = argument(k, 0, lane);
    reader r = {.w = k->w, .lane = lane, .buffer = argument(k, 1, lane)};
    const pl_print_source from = {.ctx = &r, .argument = read_argument, .string = read_string};
    int taken = -1;
    ask(k, PL_DRIVER_PRINT, 0);
    if (text && string_at(k->w, lane, text, format, sizeof format))
        taken = pl_print_format(&k->w->grid->system->out, format, &from);
    if (pl_failed(k->w->grid))
        return;
    give(k, lane, (uint64_t)(int64_t)taken);
}

/* ---- __assertfail ---- */

/* The thread ends; the launch goes on, so that others that fail say so too, and is a failure afterwards. */
static void call_assertfail(const call *k, unsigned lane)
{
    pl_warp *w = k->w;
    pl_grid *g = w->grid;
    char message[STRING_MOST], file[1024], function[1024], text[STRING_MOST + 2200];
    const char *m = string_at(w, lane, argument(k, 0, lane), message, sizeof message);
    const char *f = string_at(w, lane, argument(k, 1, lane), file, sizeof file);
    uint32_t line = (uint32_t)argument(k, 2, lane);
    const char *fn = string_at(w, lane, argument(k, 3, lane), function, sizeof function);
    uint32_t t = pl_first_thread(w) + lane, x = g->block[0], y = g->block[1];
    int n = snprintf(text, sizeof text, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n", f ? f : "", line,
                     fn ? fn : "", w->cta->id[0], w->cta->id[1], w->cta->id[2], t % x, t / x % y, t / x / y, m ? m : "");
    pl_print_add(&g->system->err, text, n > 0 ? (size_t)n : 0, 64);
    pl_fault_note(w, &g->head->failed, 1u << lane, "CUDA_ERROR_ASSERT", "assertion `%.200s` failed in %.200s", m ? m : "", fn ? fn : "");
}

/* ---- malloc, free ---- */

static void call_malloc(const call *k, unsigned lane)
{
    ask(k, PL_DRIVER_ALLOC, argument(k, 0, lane));
    give(k, lane, pl_heap_alloc(&k->w->grid->system->heap, argument(k, 0, lane), 16));
}

static void call_aligned_malloc(const call *k, unsigned lane)
{
    uint64_t align = argument(k, 1, lane);
    bool power = align && !(align & (align - 1));
    ask(k, PL_DRIVER_ALLOC, argument(k, 0, lane));
    give(k, lane, power ? pl_heap_alloc(&k->w->grid->system->heap, argument(k, 0, lane), align < 16 ? 16 : align) : 0);
}

static void call_free(const call *k, unsigned lane)
{
    uint64_t address = argument(k, 0, lane);
    if (address) ask(k, PL_DRIVER_FREE, 0);
    if (address && !pl_heap_free(&k->w->grid->system->heap, address))
        pl_fault(k->w, 1u << lane, address, "CUDA_ERROR_LAUNCH_FAILED", "free of 0x%" PRIx64 ", which malloc did not return or which is free already",
                 address);
}

/* ---- launches from the device ---- */

static uint32_t *last_error(pl_warp *w, unsigned lane)
{
    if (!w->device_error)
        w->device_error = calloc(w->halves * PL_LANES, sizeof *w->device_error);
    return w->device_error ? &w->device_error[pl_first_lane(w) + lane] : NULL;
}

static void remember(pl_warp *w, unsigned lane, uint32_t error)
{
    uint32_t *e = last_error(w, lane);
    if (e && error)
        *e = error;
}

/* In front of the parameters, where the kernel cannot see it: what the buffer is for. */
typedef struct request {
    uint64_t func;
    uint32_t grid[3], block[3], shared, pad;
} request;

/* void *cudaGetParameterBufferV2(kernel, grid, block, shared): NULL when the launch is impossible. */
static void call_parameter_buffer(const call *k, unsigned lane)
{
    pl_warp *w = k->w;
    pl_system *s = w->grid->system;
    const uint32_t func = pl_program_func_at(w->program, argument(k, 0, lane));
    request q = {.func = func, .shared = (uint32_t)argument(k, 3, lane)};
    copy_argument(k, 1, lane, q.grid, sizeof q.grid);
    copy_argument(k, 2, lane, q.block, sizeof q.block);
    pl_child c = {.func = func, .shared = q.shared};
    memcpy(c.grid, q.grid, sizeof c.grid);
    memcpy(c.block, q.block, sizeof c.block);
    bool known = func != UINT32_MAX && w->program->funcs.at[func].entry;
    if (!known || !s->launchable || !s->launchable(s->ctx, &c)) {
        remember(w, lane, known ? INVALID_CONFIGURATION : INVALID_VALUE);
        give(k, lane, 0);
        return;
    }
    uint64_t bytes = (sizeof q + w->program->funcs.at[func].param_bytes + 63) & ~63ull;
    if (s->launch_top + bytes > s->launch_size) {
        remember(w, lane, PENDING_EXCEEDED);
        give(k, lane, 0);
        return;
    }
    uint64_t base = s->launch_base + s->launch_top;
    uint8_t *p = at(w, lane, base, bytes);
    s->launch_top += bytes;
    if (p)
        memcpy(p, &q, sizeof q);
    give(k, lane, p ? base + sizeof q : 0);
}

/* cudaError_t cudaLaunchDeviceV2(buffer, stream) */
static void call_launch(const call *k, unsigned lane)
{
    pl_warp *w = k->w;
    pl_system *s = w->grid->system;
    uint64_t buffer = argument(k, 0, lane);
    request q;
    const uint8_t *p = buffer ? at(w, lane, buffer - sizeof q, sizeof q) : NULL;
    if (!p || buffer - s->launch_base > s->launch_size) {
        remember(w, lane, INVALID_VALUE);
        give(k, lane, INVALID_VALUE);
        return;
    }
    memcpy(&q, p, sizeof q);
    uint32_t bytes = q.func < w->program->funcs.n ? w->program->funcs.at[q.func].param_bytes : 0;
    uint8_t *params = malloc(bytes + 16);
    if (s->child.n == s->child.cap && params) {
        size_t cap = s->child.cap ? 2 * s->child.cap : 16;
        pl_child *a = realloc(s->child.at, cap * sizeof *a);
        if (a) {
            s->child.at = a;
            s->child.cap = cap;
        }
    }
    if (!params || s->child.n == s->child.cap) {
        free(params);
        remember(w, lane, PENDING_EXCEEDED);
        give(k, lane, PENDING_EXCEEDED);
        return;
    }
    memset(params, 0, bytes + 16);
    memcpy(params, p + sizeof q, bytes);
    pl_child c = {.func = (uint32_t)q.func, .shared = q.shared, .params = params, .tail = argument(k, 1, lane) == TAIL_LAUNCH};
    memcpy(c.grid, q.grid, sizeof c.grid);
    memcpy(c.block, q.block, sizeof c.block);
    s->child.at[s->child.n++] = c;
    give(k, lane, 0);
}

static void call_last_error(const call *k, unsigned lane)
{
    uint32_t *e = last_error(k->w, lane);
    give(k, lane, e ? *e : 0);
    if (e)
        *e = 0;
}

static void call_peek_error(const call *k, unsigned lane)
{
    uint32_t *e = last_error(k->w, lane);
    give(k, lane, e ? *e : 0);
}

/* Stores a value of `bytes` bytes where argument 0 points, and succeeds. */
static void store(const call *k, unsigned lane, uint64_t value, size_t bytes)
{
    uint8_t *p = at(k->w, lane, argument(k, 0, lane), bytes);
    if (p)
        memcpy(p, &value, bytes);
    give(k, lane, p ? 0 : INVALID_VALUE);
}

static void call_get_device(const call *k, unsigned lane)
{
    store(k, lane, 0, 4);
}

/* cudaDeviceGetAttribute(int *, attribute, device): those that kernels ask for; numbers of cudaDeviceAttr. */
static void call_get_attribute(const call *k, unsigned lane)
{
    const pl_grid *g = k->w->grid;
    switch (argument(k, 1, lane)) {
    case 1: store(k, lane, 1024, 4); break;                     /* threads of a block */
    case 10: store(k, lane, g->width, 4); break;                 /* warp size */
    case 16: store(k, lane, g->nsm, 4); break;                  /* multiprocessors */
    case 75: store(k, lane, g->capability / 10, 4); break;      /* compute capability */
    case 76: store(k, lane, g->capability % 10, 4); break;
    default: give(k, lane, NOT_SUPPORTED); break;
    }
}

/* Streams and events of the device: launches run in their order anyway, so that a handle is all there is. */
static void call_make_handle(const call *k, unsigned lane)
{
    store(k, lane, 0x100, 8);
}

static void call_succeed(const call *k, unsigned lane)
{
    give(k, lane, 0);
}

/* cudaError_t cudaMalloc(void **, size_t), cudaFree(void *): on the device they are malloc and free. */
static void call_device_malloc(const call *k, unsigned lane)
{
    uint64_t p = pl_heap_alloc(&k->w->grid->system->heap, argument(k, 1, lane), 256);
    ask(k, PL_DRIVER_ALLOC, argument(k, 1, lane));
    store(k, lane, p, 8);
    if (!p)
        give(k, lane, 2); /* cudaErrorMemoryAllocation */
}

static void call_device_free(const call *k, unsigned lane)
{
    uint64_t p = argument(k, 0, lane);
    give(k, lane, !p || pl_heap_free(&k->w->grid->system->heap, p) ? 0 : INVALID_VALUE);
}

/* ---- which is which ---- */

typedef enum need { NEEDS_NOTHING, NEEDS_HEAP, NEEDS_LAUNCHES } need;

static const struct {
    const char *name;
    void (*run)(const call *k, unsigned lane);
    need needs;
} functions[] = {
    {"vprintf", call_vprintf, NEEDS_NOTHING},
    {"__assertfail", call_assertfail, NEEDS_NOTHING},
    {"malloc", call_malloc, NEEDS_HEAP},
    {"free", call_free, NEEDS_HEAP},
    {"__cuda_syscall_aligned_malloc", call_aligned_malloc, NEEDS_HEAP},
    {"__cudaCDP2GetParameterBufferV2", call_parameter_buffer, NEEDS_LAUNCHES},
    {"cudaGetParameterBufferV2", call_parameter_buffer, NEEDS_LAUNCHES},
    {"__cudaCDP2LaunchDeviceV2", call_launch, NEEDS_LAUNCHES},
    {"cudaLaunchDeviceV2", call_launch, NEEDS_LAUNCHES},
    {"__cudaCDP2GetLastError", call_last_error, NEEDS_NOTHING},
    {"__cudaCDP2PeekAtLastError", call_peek_error, NEEDS_NOTHING},
    {"__cudaCDP2GetDevice", call_get_device, NEEDS_NOTHING},
    {"__cudaCDP2DeviceGetAttribute", call_get_attribute, NEEDS_NOTHING},
    {"__cudaCDP2StreamCreateWithFlags", call_make_handle, NEEDS_NOTHING},
    {"__cudaCDP2StreamDestroy", call_succeed, NEEDS_NOTHING},
    {"__cudaCDP2StreamWaitEvent", call_succeed, NEEDS_NOTHING},
    {"__cudaCDP2EventCreateWithFlags", call_make_handle, NEEDS_NOTHING},
    {"__cudaCDP2EventRecord", call_succeed, NEEDS_NOTHING},
    {"__cudaCDP2EventDestroy", call_succeed, NEEDS_NOTHING},
    {"__cudaCDP2Malloc", call_device_malloc, NEEDS_HEAP},
    {"__cudaCDP2Free", call_device_free, NEEDS_HEAP},
};

uint16_t pl_system_find(const char *name)
{
    for (size_t k = 0; name && k < sizeof functions / sizeof *functions; k++)
        if (strcmp(functions[k].name, name) == 0)
            return (uint16_t)(k + 1);
    return 0;
}

static bool uses(const pl_program *p, need what)
{
    for (size_t k = 0; k < p->funcs.n; k++)
        if (p->funcs.at[k].system && functions[p->funcs.at[k].system - 1].needs == what)
            return true;
    return false;
}

bool pl_system_uses_heap(const pl_program *p)
{
    return uses(p, NEEDS_HEAP);
}

bool pl_system_uses_launches(const pl_program *p)
{
    return uses(p, NEEDS_LAUNCHES);
}

void pl_system_call(pl_warp *w, const pl_prog_func *f, const pl_prog_call *c)
{
    const call k = {.w = w, .c = c, .node = pl_warp_node(w)};
    const pl_lanes lanes = w->all;
    w->wrote = true;
    w->asked.what = w->asked.lanes = 0;
    w->asked.bytes = 0;
    for (unsigned h = 0; h < w->halves; h++) {
        pl_warp_half(w, h);
        for (uint32_t m = pl_of_half(w, lanes); m && !pl_failed(w->grid); m &= m - 1)
            functions[f->system - 1].run(&k, (unsigned)__builtin_ctz(m));
    }
    pl_warp_half(w, 0);
    if (functions[f->system - 1].run == call_assertfail)
        pl_warp_exit(w, lanes);
}

void pl_system_close(pl_system *s)
{
    pl_heap_close(&s->heap);
    pl_print_close(&s->out);
    pl_print_close(&s->err);
    for (size_t k = 0; k < s->child.n; k++)
        free(s->child.at[k].params);
    free(s->child.at);
    memset(s, 0, sizeof *s);
}
