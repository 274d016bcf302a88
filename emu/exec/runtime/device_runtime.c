/* device_runtime.c - the device runtime: queries of device code about the device and its functions,
 * copies issued by device code, names of errors, and conditionals of graphs.
 *
 * Copies belong to a stream, as launches do: they execute after their parent, in issue order
 * (lib/launch/launch.c). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/node_field.h"
#include "emu/exec/memory/address.h"
#include "emu/exec/runtime/syscall.h"

enum { VERSION = 6000 }; /* of the device runtime: the answer of an H100 with CUDA 13.0 */
enum { KIND_DEVICE_TO_DEVICE = 3, KIND_DEFAULT = 4 }; /* cudaMemcpyKind */
/* Per block without an opt-in; per multiprocessor. */
enum { STATIC_SHARED = 49152, REGISTERS = 65536 };

/* ---- copies ---- */

/* True if an asynchronous operation may use this address. Memory of the block or the thread no
 * longer exists when it executes. */
static bool is_global(pl_warp *w, unsigned lane, uint64_t address, uint64_t bytes)
{
    pl_space real;
    uint64_t in;
    pl_resolve(w, lane, PL_SP_GENERIC, address, bytes ? bytes : 1, &real, &in);
    return real == PL_SP_GLOBAL;
}

static void add_copy(const pl_call *k, unsigned lane, pl_child_copy x, uint64_t stream)
{
    pl_warp *w = k->w;
    const pl_grid *g = w->grid;
    if (!is_global(w, lane, x.to, 1) || (!x.is_set && !is_global(w, lane, x.from, 1))) {
        pl_call_return_error(k, lane, PL_CUDA_INVALID_VALUE);
        return;
    }
    if (!x.width || !x.height || !x.depth) {
        pl_call_return(k, lane, 0);
        return;
    }
    if (x.height * x.depth > 1 && (x.to_pitch < x.width || (!x.is_set && x.from_pitch < x.width))) {
        pl_call_return_error(k, lane, PL_CUDA_INVALID_PITCH);
        return;
    }
    uint64_t bytes = 0;
    const bool overflows =
        __builtin_mul_overflow(x.to_pitch, x.height, &bytes) || (x.depth > 1 && x.to_slice < bytes);
    if (overflows || (!x.is_set && (__builtin_mul_overflow(x.from_pitch, x.height, &bytes) ||
                                    (x.depth > 1 && x.from_slice < bytes)))) {
        pl_call_return_error(k, lane, PL_CUDA_INVALID_VALUE);
        return;
    }
    x.pc = w->pc;
    pl_grid_thread(g, pl_first_thread(w) + lane, x.thread);
    memcpy(x.block, w->cta->id, sizeof x.block);
    const pl_child c = {.func = (uint32_t)(g->entry - g->program->funcs.at),
                        .is_copy = true,
                        .copy = x,
                        .tail = stream == PL_TAIL_LAUNCH};
    pl_call_return_error(k, lane, pl_call_add_child(w, lane, &c) ? 0 : PL_CUDA_PENDING_EXCEEDED);
}

static bool check_direction(const pl_call *k, unsigned lane, uint64_t kind)
{
    if (kind == KIND_DEVICE_TO_DEVICE || kind == KIND_DEFAULT) return true;
    pl_call_return_error(k, lane, PL_CUDA_INVALID_DIRECTION);
    return false;
}

/* (dst, src, count, kind, stream) */
void pl_call_memcpy(const pl_call *k, unsigned lane)
{
    if (check_direction(k, lane, pl_call_argument(k, 3, lane)))
        add_copy(k, lane,
                 (pl_child_copy){.to = pl_call_argument(k, 0, lane),
                                 .from = pl_call_argument(k, 1, lane),
                                 .width = pl_call_argument(k, 2, lane),
                                 .height = 1,
                                 .depth = 1},
                 pl_call_argument(k, 4, lane));
}

/* (dst, dpitch, src, spitch, width, height, kind, stream) */
void pl_call_memcpy2d(const pl_call *k, unsigned lane)
{
    if (check_direction(k, lane, pl_call_argument(k, 6, lane)))
        add_copy(k, lane,
                 (pl_child_copy){.to = pl_call_argument(k, 0, lane),
                                 .to_pitch = pl_call_argument(k, 1, lane),
                                 .from = pl_call_argument(k, 2, lane),
                                 .from_pitch = pl_call_argument(k, 3, lane),
                                 .width = pl_call_argument(k, 4, lane),
                                 .height = pl_call_argument(k, 5, lane),
                                 .depth = 1},
                 pl_call_argument(k, 7, lane));
}

/* cudaPitchedPtr and cudaExtent */
typedef struct pitched {
    uint64_t at, pitch, xsize, ysize;
} pitched;

typedef struct extent {
    uint64_t width, height, depth;
} extent;

/* cudaMemcpy3DParms */
typedef struct copy3d {
    uint64_t from_array, from_pos[3];
    pitched from;
    uint64_t to_array, to_pos[3];
    pitched to;
    extent size;
    uint64_t kind; /* 32 bits and padding */
} copy3d;

static uint64_t start_of(const pitched *p, const uint64_t pos[3])
{
    return p->at + pos[0] + p->pitch * (pos[1] + p->ysize * pos[2]);
}

/* (parameters, stream) */
void pl_call_memcpy3d(const pl_call *k, unsigned lane)
{
    copy3d p;
    const uint8_t *from = pl_call_memory(k->w, lane, pl_call_argument(k, 0, lane), sizeof p - 4);
    if (!from) {
        pl_call_return_error(k, lane, PL_CUDA_INVALID_VALUE);
        return;
    }
    memset(&p, 0, sizeof p);
    memcpy(&p, from, sizeof p - 4);
    if (p.from_array || p.to_array) {
        pl_call_return_error(k, lane, PL_CUDA_NOT_SUPPORTED);
        return;
    }
    if (check_direction(k, lane, p.kind))
        add_copy(k, lane,
                 (pl_child_copy){.to = start_of(&p.to, p.to_pos),
                                 .to_pitch = p.to.pitch,
                                 .to_slice = p.to.pitch * p.to.ysize,
                                 .from = start_of(&p.from, p.from_pos),
                                 .from_pitch = p.from.pitch,
                                 .from_slice = p.from.pitch * p.from.ysize,
                                 .width = p.size.width,
                                 .height = p.size.height,
                                 .depth = p.size.depth},
                 pl_call_argument(k, 1, lane));
}

/* (dst, value, count, stream) */
void pl_call_memset(const pl_call *k, unsigned lane)
{
    add_copy(k, lane,
             (pl_child_copy){.is_set = true,
                             .to = pl_call_argument(k, 0, lane),
                             .value = (uint8_t)pl_call_argument(k, 1, lane),
                             .width = pl_call_argument(k, 2, lane),
                             .height = 1,
                             .depth = 1},
             pl_call_argument(k, 3, lane));
}

/* (dst, pitch, value, width, height, stream) */
void pl_call_memset2d(const pl_call *k, unsigned lane)
{
    add_copy(k, lane,
             (pl_child_copy){.is_set = true,
                             .to = pl_call_argument(k, 0, lane),
                             .to_pitch = pl_call_argument(k, 1, lane),
                             .value = (uint8_t)pl_call_argument(k, 2, lane),
                             .width = pl_call_argument(k, 3, lane),
                             .height = pl_call_argument(k, 4, lane),
                             .depth = 1},
             pl_call_argument(k, 5, lane));
}

/* (cudaPitchedPtr, value, cudaExtent, stream) */
void pl_call_memset3d(const pl_call *k, unsigned lane)
{
    pitched p;
    extent e;
    pl_call_copy_argument(k, 0, lane, &p, sizeof p);
    pl_call_copy_argument(k, 2, lane, &e, sizeof e);
    add_copy(k, lane,
             (pl_child_copy){.is_set = true,
                             .to = p.at,
                             .to_pitch = p.pitch,
                             .to_slice = p.pitch * p.ysize,
                             .value = (uint8_t)pl_call_argument(k, 1, lane),
                             .width = e.width,
                             .height = e.height,
                             .depth = e.depth},
             pl_call_argument(k, 3, lane));
}

/* Address of the first row of a copy that is not in memory; UINT64_MAX: all rows are. */
static uint64_t first_unmapped_row(const pl_memory *m, uint64_t at, uint64_t pitch, uint64_t slice,
                                   const pl_child_copy *x, bool write)
{
    for (uint64_t z = 0; z < x->depth; z++)
        for (uint64_t y = 0; y < x->height; y++) {
            const uint64_t row = at + z * slice + y * pitch;
            const pl_alloc *a = pl_memory_find(m, row);
            if (!a || (write && pl_alloc_read_only(a)) || !pl_alloc_holds(a, row, x->width))
                return row;
        }
    return UINT64_MAX;
}

uint64_t pl_child_copy_run(const pl_memory *m, const pl_child_copy *x)
{
    uint64_t wrong = first_unmapped_row(m, x->to, x->to_pitch, x->to_slice, x, true);
    if (wrong == UINT64_MAX && !x->is_set)
        wrong = first_unmapped_row(m, x->from, x->from_pitch, x->from_slice, x, false);
    for (uint64_t z = 0; wrong == UINT64_MAX && z < x->depth; z++)
        for (uint64_t y = 0; y < x->height; y++) {
            uint8_t *to = pl_memory_at(m, x->to + z * x->to_slice + y * x->to_pitch, x->width);
            if (x->is_set)
                memset(to, x->value, x->width);
            else
                memmove(to,
                        pl_memory_at(m, x->from + z * x->from_slice + y * x->from_pitch, x->width),
                        x->width);
        }
    return wrong;
}

/* ---- the device ---- */

void pl_call_device_count(const pl_call *k, unsigned lane)
{
    pl_call_store(k, lane, 1, 4);
}

void pl_call_get_device(const pl_call *k, unsigned lane)
{
    pl_call_store(k, lane, 0, 4);
}

/* (int *, attribute, device): attributes that kernels query, by number of cudaDeviceAttr. */
void pl_call_get_attribute(const pl_call *k, unsigned lane)
{
    const pl_grid *g = k->w->grid;
    if (pl_call_argument(k, 2, lane)) {
        pl_call_return_error(k, lane, PL_CUDA_INVALID_DEVICE);
        return;
    }
    switch (pl_call_argument(k, 1, lane)) {
    case 1: pl_call_store(k, lane, 1024, 4); break;                /* threads per block */
    case 10: pl_call_store(k, lane, g->width, 4); break;           /* warp size */
    case 16: pl_call_store(k, lane, g->nsm, 4); break;             /* multiprocessors */
    case 75: pl_call_store(k, lane, g->capability / 10, 4); break; /* compute capability */
    case 76: pl_call_store(k, lane, g->capability % 10, 4); break;
    default: pl_call_return_error(k, lane, PL_CUDA_NOT_SUPPORTED); break;
    }
}

/* (size_t *, cudaLimit) */
void pl_call_get_limit(const pl_call *k, unsigned lane)
{
    enum { STACK, PRINT, HEAP, SYNC_DEPTH, PENDING, PENDING_LAUNCHES = 2048 };
    const pl_grid *g = k->w->grid;
    switch (pl_call_argument(k, 1, lane)) {
    case STACK: pl_call_store(k, lane, g->stack_limit, 8); break;
    case PRINT: pl_call_store(k, lane, g->system->out.limit, 8); break;
    case HEAP:
        pl_call_store(k, lane, g->system->heap.size ? g->system->heap.size : PL_HEAP_DEFAULT, 8);
        break;
    case PENDING: pl_call_store(k, lane, PENDING_LAUNCHES, 8); break;
    default: pl_call_return_error(k, lane, PL_CUDA_UNSUPPORTED_LIMIT); break;
    }
}

void pl_call_cache_config(const pl_call *k, unsigned lane)
{
    pl_call_store(k, lane, 0, 4); /* cudaFuncCachePreferNone */
}

void pl_call_bank_config(const pl_call *k, unsigned lane)
{
    pl_call_store(k, lane, 1, 4); /* cudaSharedMemBankSizeFourByte */
}

void pl_call_runtime_version(const pl_call *k, unsigned lane)
{
    pl_call_store(k, lane, VERSION, 4);
}

/* ---- functions ---- */

/* cudaFuncAttributes */
typedef struct attributes {
    uint64_t shared, constant, local;
    int32_t max_threads, registers, ptx, binary, cached, max_dynamic, carveout, cluster_set,
        cluster[3], scheduling, large_cluster, reserved[16];
} attributes;

static const pl_prog_func *function_at(const pl_call *k, uint64_t address)
{
    const pl_program *p = k->w->program;
    const uint32_t n = pl_program_func_at(p, address);
    return n == UINT32_MAX ? NULL : &p->funcs.at[n];
}

static int32_t max_threads(const pl_prog_func *f)
{
    uint64_t max = 1024, bound = f->maxntid[0];
    for (int d = 1; d < 3; d++) bound *= f->maxntid[d] ? f->maxntid[d] : 1;
    if (f->registers) max = REGISTERS / ((f->registers + 7u) / 8u * 8u) / PL_LANES * PL_LANES;
    max = max > 1024 ? 1024 : max;
    return (int32_t)(bound && bound < max ? bound : max);
}

/* (cudaFuncAttributes *, function) */
void pl_call_func_attributes(const pl_call *k, unsigned lane)
{
    const pl_prog_func *f = function_at(k, pl_call_argument(k, 1, lane));
    attributes a = {.shared = f ? f->static_shared : 0,
                    .constant = k->w->program->bank.size,
                    .local = f ? f->local_bytes : 0};
    uint8_t *to = pl_call_memory(k->w, lane, pl_call_argument(k, 0, lane), sizeof a);
    if (!f || !f->entry || !to) {
        pl_call_return_error(k, lane, to ? PL_CUDA_INVALID_FUNCTION : PL_CUDA_INVALID_VALUE);
        return;
    }
    a.max_threads = max_threads(f);
    a.registers = (int32_t)f->registers;
    a.ptx = a.binary = k->w->program->sm;
    a.max_dynamic =
        f->static_shared < STATIC_SHARED ? STATIC_SHARED - (int32_t)f->static_shared : 0;
    a.carveout = -1;
    a.cluster_set = f->reqnctapercluster[0] != 0;
    for (int d = 0; d < 3; d++) a.cluster[d] = (int32_t)f->reqnctapercluster[d];
    memcpy(to, &a, sizeof a);
    pl_call_return(k, lane, 0);
}

/* (int *, function, threads per block, dynamic shared memory[, flags]) */
void pl_call_occupancy(const pl_call *k, unsigned lane)
{
    const pl_program *p = k->w->program;
    const pl_system *s = k->w->grid->system;
    const pl_prog_func *f = function_at(k, pl_call_argument(k, 1, lane));
    const uint64_t shared = pl_call_argument(k, 3, lane),
                   threads = (uint32_t)pl_call_argument(k, 2, lane);
    if (!f || !f->entry || !threads || threads > 1024 || !s->launchable) {
        pl_call_return_error(k, lane,
                             f && f->entry ? PL_CUDA_INVALID_VALUE : PL_CUDA_INVALID_FUNCTION);
        return;
    }
    const pl_child c = {.func = (uint32_t)(f - p->funcs.at),
                        .grid = {1, 1, 1},
                        .block = {(uint32_t)threads, 1, 1},
                        .shared = shared > UINT32_MAX ? UINT32_MAX : (uint32_t)shared};
    pl_call_store(k, lane, s->launchable(s->ctx, &c), 4);
}

/* ---- errors ---- */

static const struct {
    uint32_t number;
    const char *text[2]; /* name, description */
} errors[] = {
#define ERROR(number, name, description) {number, {name, description}},
#include "emu/exec/runtime/errors.def"
#undef ERROR
};
enum { ERRORS = sizeof errors / sizeof *errors };
static const char *const unknown[2] = {"unrecognized error code", "unrecognized error code"};

size_t pl_runtime_texts(uint8_t *to)
{
    size_t n = 0;
    for (size_t e = 0; e <= ERRORS; e++)
        for (int which = 0; which < 2; which++) {
            const char *s = e < ERRORS ? errors[e].text[which] : unknown[which];
            const size_t bytes = strlen(s) + 1;
            if (to) memcpy(to + n, s, bytes);
            n += bytes;
        }
    return n;
}

static void return_error_text(const pl_call *k, unsigned lane, int which_text)
{
    const uint32_t number = (uint32_t)pl_call_argument(k, 0, lane);
    uint64_t at = k->w->grid->system->texts;
    for (size_t e = 0; e <= ERRORS; e++)
        for (int which = 0; which < 2; which++) {
            if (which == which_text && (e == ERRORS || errors[e].number == number)) {
                pl_call_return(k, lane, at);
                return;
            }
            at += strlen(e < ERRORS ? errors[e].text[which] : unknown[which]) + 1;
        }
}

void pl_call_error_name(const pl_call *k, unsigned lane)
{
    return_error_text(k, lane, 0);
}

void pl_call_error_string(const pl_call *k, unsigned lane)
{
    return_error_text(k, lane, 1);
}

/* ---- graphs ---- */

bool pl_set_conditional(pl_system *s, uint64_t handle, uint32_t value)
{
    size_t n = 0;
    while (n < s->conditional.n && s->conditional.at[n].handle != handle) n++;
    if (n == s->conditional.cap &&
        !pl_array_grow(&s->conditional.at, &s->conditional.cap, sizeof *s->conditional.at))
        return false;
    s->conditional.n += n == s->conditional.n;
    s->conditional.at[n] = (pl_conditional){handle, value};
    return true;
}

/* (handle, value): the latest value of each handle is recorded for the host. */
void pl_call_set_conditional(const pl_call *k, unsigned lane)
{
    if (!pl_set_conditional(k->w->grid->system, pl_call_argument(k, 0, lane),
                            (uint32_t)pl_call_argument(k, 1, lane)))
        pl_fault(k->w, 1u << lane, 0, "CUDA_ERROR_OUT_OF_MEMORY",
                 "no memory for a conditional of a graph");
}

/* cudaError_t cudaGraphLaunch(graph, stream): the graph runs when the launch has ended. */
void pl_call_launch_graph(const pl_call *k, unsigned lane)
{
    const pl_grid *g = k->w->grid;
    const uint64_t graph = pl_call_argument(k, 0, lane), stream = pl_call_argument(k, 1, lane);
    const uint32_t error =
        g->launch_graph ? g->launch_graph(g->graph_ctx, graph, stream) : PL_CUDA_INVALID_VALUE;
    pl_call_return_error(k, lane, error);
    if (error == PL_CUDA_ILLEGAL_ADDRESS)
        pl_fault(k->w, 1u << lane, graph, "CUDA_ERROR_ILLEGAL_ADDRESS",
                 "cudaGraphLaunch of 0x%llx, a graph that was not instantiated for launches by "
                 "kernels",
                 (unsigned long long)graph);
}

static uint32_t update_node(const pl_call *k, uint64_t node, uint32_t field, const void *value,
                            uint64_t offset, uint64_t bytes)
{
    const pl_grid *g = k->w->grid;
    return g->update_node && value ? g->update_node(g->graph_ctx, node, field, value, offset, bytes)
                                   : PL_CUDA_INVALID_VALUE;
}

/* (node, offset, value, bytes) */
void pl_call_node_param(const pl_call *k, unsigned lane)
{
    const uint64_t bytes = pl_call_argument(k, 3, lane);
    const uint8_t *value = pl_call_memory(k->w, lane, pl_call_argument(k, 2, lane), bytes);
    pl_call_return_error(k, lane,
                         update_node(k, pl_call_argument(k, 0, lane), PL_NODE_PARAM, value,
                                     pl_call_argument(k, 1, lane), bytes));
}

/* (node, dim3) */
void pl_call_node_grid(const pl_call *k, unsigned lane)
{
    uint32_t grid[3];
    pl_call_copy_argument(k, 1, lane, grid, sizeof grid);
    pl_call_return_error(
        k, lane, update_node(k, pl_call_argument(k, 0, lane), PL_NODE_GRID, grid, 0, sizeof grid));
}

/* (node, bool) */
void pl_call_node_enabled(const pl_call *k, unsigned lane)
{
    const uint8_t enabled = (uint8_t)pl_call_argument(k, 1, lane) != 0;
    pl_call_return_error(
        k, lane, update_node(k, pl_call_argument(k, 0, lane), PL_NODE_ENABLED, &enabled, 0, 1));
}

/* cudaGraphKernelNodeUpdate */
typedef struct node_update {
    uint64_t node;
    uint32_t field;
    union {
        uint32_t grid[3];
        struct {
            uint64_t value, offset, bytes;
        } param;
        uint32_t enabled;
    } u;
} node_update;
_Static_assert(sizeof(node_update) == 40, "layout of CUDA 12 and 13");

static uint32_t apply(const pl_call *k, unsigned lane, const node_update *n)
{
    const uint8_t enabled = n->u.enabled != 0;
    switch (n->field) {
    case PL_NODE_GRID: return update_node(k, n->node, n->field, n->u.grid, 0, sizeof n->u.grid);
    case PL_NODE_PARAM:
        return update_node(k, n->node, n->field,
                           pl_call_memory(k->w, lane, n->u.param.value, n->u.param.bytes),
                           n->u.param.offset, n->u.param.bytes);
    case PL_NODE_ENABLED: return update_node(k, n->node, n->field, &enabled, 0, 1);
    default: return PL_CUDA_INVALID_VALUE;
    }
}

/* (updates, count): applies them up to the first that fails. */
void pl_call_node_updates(const pl_call *k, unsigned lane)
{
    const uint64_t at = pl_call_argument(k, 0, lane), n = pl_call_argument(k, 1, lane);
    uint32_t error = 0;
    for (uint64_t i = 0; i < n && !error; i++) {
        node_update update;
        const uint8_t *from = pl_call_memory(k->w, lane, at + i * sizeof update, sizeof update);
        if (from) memcpy(&update, from, sizeof update);
        error = from ? apply(k, lane, &update) : PL_CUDA_INVALID_VALUE;
    }
    pl_call_return_error(k, lane, error);
}
