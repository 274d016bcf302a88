/* address.c - resolves the addresses of one lane, and reports invalid ones. See address.h. */
#include "emu/exec/memory/address.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/plural.h"
#include "emu/exec/runtime/cuda_builtins.h"

enum { NULL_PAGE = 4096 };               /* addresses derived from a null pointer */
#define MAX_DISTANCE (UINT64_C(1) << 40) /* larger distances do not explain a mistake */
#define WINDOW_REACH 0x80000000ull /* distance of addresses that likely derive from a window */

/* True if a block of the cluster has ended for w. Blocks of a cluster run together on hardware, and
 * one after the other in functional mode: there a warp that has executed less than the longest warp
 * of an ended block finds it still running. */
static bool has_ended(const pl_warp *w, const pl_cta *c)
{
    if (c->live) return false;
    uint64_t end = 0;
    for (uint32_t k = 0; k < c->nwarps; k++)
        if (c->warp[k].clock > end) end = c->warp[k].clock;
    return w->grid->head->hooks || w->clock >= end;
}

static uint8_t *shared_bytes(pl_warp *w, uint64_t address, uint64_t bytes)
{
    pl_cta *c = w->cta;
    uint32_t rank = (uint32_t)(address / PL_SHARED_SLICE);
    uint64_t offset = address % PL_SHARED_SLICE;
    if (rank != c->cluster_rank)
        c = c->cluster && rank < c->cluster->size ? c->cluster->cta[rank] : NULL;
    if (!c || has_ended(w, c) || offset < c->shared_first || offset > c->shared_end ||
        bytes > c->shared_end - offset)
        return NULL;
    return c->shared + offset;
}

uint8_t *pl_resolve(pl_warp *w, unsigned lane, pl_space space, uint64_t address, uint64_t bytes,
                    pl_space *resolved, uint64_t *in_space)
{
    if (space == PL_SP_GENERIC)
        space = pl_generic_space(&address);
    else if (space == PL_SP_SHARED)
        address = (uint32_t)address; /* the hardware instructions use 32-bit addresses here, so
                                        generic addresses work as well: the low bits of the window
                                        are 0 */
    *resolved = space;
    *in_space = address;
    switch (space) {
    case PL_SP_SHARED: return shared_bytes(w, address, bytes);
    case PL_SP_LOCAL: {
        const uint32_t top = pl_local_top(w);
        if (address > top || bytes > top - address) return NULL;
        return w->local + (size_t)(pl_first_lane(w) + lane) * w->local_bytes + address;
    }
    case PL_SP_PARAM: {
        uint32_t n = w->grid->entry->param_bytes;
        if (address > n || bytes > n - address) return NULL;
        return (uint8_t *)(uintptr_t)w->grid->params + address;
    }
    case PL_SP_CONST: {
        const pl_bank *b = &w->program->bank;
        return address <= b->size && bytes <= b->size - address ? b->bytes + address : NULL;
    }
    default: {
        const pl_alloc *a = w->last_alloc;
        if (!a || address - a->address >= a->size) a = pl_memory_find(w->grid->memory, address);
        if (!a || !pl_alloc_holds(a, address, bytes)) return NULL;
        if (!a->valid) w->last_alloc = a;
        return a->bytes + (address - a->address);
    }
    }
}

/* A constant bank, or NULL. */
static const pl_alloc *find_constants(const pl_warp *w, uint64_t address)
{
    const pl_alloc *a = pl_memory_find(w->grid->memory, address);
    return a && a->flags & PL_ALLOC_CONSTANT ? a : NULL;
}

uint8_t *pl_resolve_write(pl_warp *w, unsigned lane, pl_space space, uint64_t address,
                          uint64_t bytes, pl_space *resolved, uint64_t *in_space)
{
    uint8_t *p = pl_resolve(w, lane, space, address, bytes, resolved, in_space);
    /* The allocation that contains the address, unless that is restricted. */
    const pl_alloc *a = w->last_alloc;
    if (*resolved == PL_SP_PARAM || *resolved == PL_SP_CONST) return NULL;
    return p && *resolved == PL_SP_GLOBAL && a && pl_alloc_read_only(a) &&
                   address - a->address < a->size
               ? NULL
               : p;
}

static uint8_t *aligned_access(pl_warp *w, unsigned lane, pl_space space, uint64_t address,
                               uint64_t bytes, uint64_t align, const char *what, bool write)
{
    pl_space real;
    uint64_t in;
    if (address % align) {
        pl_fault(w, 1u << lane, address, "CUDA_ERROR_MISALIGNED_ADDRESS",
                 "%s at address 0x%" PRIx64 ", which is not a multiple of %" PRIu64, what, address,
                 align);
        return NULL;
    }
    const uint64_t n = bytes ? bytes : 1;
    uint8_t *p = write ? pl_resolve_write(w, lane, space, address, n, &real, &in)
                       : pl_resolve(w, lane, space, address, n, &real, &in);
    if (!p) pl_bounds_fault(w, lane, space, address, n, what);
    return p;
}

uint8_t *pl_access(pl_warp *w, unsigned lane, pl_space space, uint64_t address, uint64_t bytes,
                   uint64_t align, const char *what)
{
    return aligned_access(w, lane, space, address, bytes, align, what, false);
}

uint8_t *pl_access_write(pl_warp *w, unsigned lane, pl_space space, uint64_t address,
                         uint64_t bytes, uint64_t align, const char *what)
{
    return aligned_access(w, lane, space, address, bytes, align, what, true);
}

/* Reports the distance of an address from an allocation, and the element that it would be. */
static void fault_outside(pl_warp *w, unsigned lane, const char *access, uint64_t address,
                          uint64_t bytes, const pl_alloc *of, const char *history)
{
    const bool before = address < of->address, within = !before && address - of->address < of->size;
    const uint64_t from_start = before ? of->address - address : address - of->address;
    const uint64_t distance = before || within ? from_start : from_start - of->size;
    if (distance > MAX_DISTANCE) {
        pl_fault(w, 1u << lane, address, "CUDA_ERROR_ILLEGAL_ADDRESS", "%s; no allocation is near",
                 access);
        return;
    }
    char shape[80] = "", element[60] = "";
    if (of->element && of->size % of->element == 0)
        snprintf(shape, sizeof shape, "%s[%" PRIu64 "], ", of->type, of->size / of->element);
    if (within && bytes > of->size - from_start) {
        const uint64_t beyond = bytes - (of->size - from_start);
        snprintf(element, sizeof element, ", and reaches %" PRIu64 " byte%s past its end", beyond,
                 pl_plural(beyond));
    } else if (shape[0]) {
        const uint64_t index = (from_start + (before ? of->element - 1 : 0)) / of->element;
        snprintf(element, sizeof element, ": element %s%" PRIu64, before ? "-" : "", index);
    }
    pl_fault(w, 1u << lane, address, "CUDA_ERROR_ILLEGAL_ADDRESS",
             "%s, %" PRIu64 " byte%s %s of '%s' (%s%" PRIu64 " byte%s at 0x%" PRIx64 "%s)%s",
             access, distance, pl_plural(distance),
             before   ? "before the start"
             : within ? "from the start"
                      : "past the end",
             of->name ? of->name : "an allocation", shape, of->size, pl_plural(of->size),
             of->address, history, element);
}

/* An access to the device heap outside of the blocks in use. */
static void fault_heap(pl_warp *w, unsigned lane, const char *access, uint64_t address,
                       uint64_t bytes)
{
    const pl_heap *h = &w->grid->system->heap;
    const pl_heap_block *b = pl_heap_block_at(h, address);
    const uint64_t start = b ? h->base + b->offset : 0;
    char history[500] = "";
    if (b) pl_heap_history(h, b, history, sizeof history);
    if (!b) {
        pl_fault(w, 1u << lane, address, "CUDA_ERROR_ILLEGAL_ADDRESS",
                 "%s, in the device heap before all blocks of malloc", access);
    } else if (!b->used) {
        pl_fault(w, 1u << lane, address, "CUDA_ERROR_ILLEGAL_ADDRESS",
                 "%s, %" PRIu64 " byte%s from the start of a block of malloc that has been freed "
                 "(%" PRIu64 " byte%s at 0x%" PRIx64 "%s)",
                 access, address - start, pl_plural(address - start), b->size, pl_plural(b->size),
                 start, history);
    } else {
        const pl_alloc block = {.address = start, .size = b->size, .name = "a block of malloc"};
        fault_outside(w, lane, access, address, bytes, &block, history);
    }
}

/* A load beyond the constant bank. */
static void fault_constant(pl_warp *w, unsigned lane, uint64_t address, uint64_t bytes,
                           const char *access)
{
    const pl_program *p = w->program;
    const pl_prog_var *last = NULL; /* last variable that starts at or before the address */
    bool generic = address - p->bank.address < p->bank.size;
    uint64_t offset = generic ? address - p->bank.address : address;
    for (size_t k = 0; k < p->vars.n; k++) {
        const pl_prog_var *v = &p->vars.at[k];
        if (v->space == PL_SP_CONST && v->address <= offset &&
            (!last || v->address >= last->address))
            last = v;
    }
    if (!last)
        pl_fault(w, 1u << lane, address, "CUDA_ERROR_ILLEGAL_ADDRESS",
                 "%s; the program has no constants", access);
    else if (generic)
        pl_fault(w, 1u << lane, address, "CUDA_ERROR_ILLEGAL_ADDRESS",
                 "%s, a generic address in '%s' (%" PRIu64 " byte%s at constant address 0x%" PRIx64
                 "); cvta.to.const converts it",
                 access, last->name, last->size, pl_plural(last->size), last->address);
    else
        fault_outside(w, lane, access, address, bytes,
                      &(pl_alloc){.address = last->address, .size = last->size, .name = last->name},
                      "");
}

enum { ACCESS_TEXT = 80, PLACE_TEXT = 120 }; /* bytes for an access, and for it and its address */

/* Writes "store of 4 bytes". */
static void describe_access(char text[ACCESS_TEXT], const char *what, uint64_t bytes)
{
    snprintf(text, ACCESS_TEXT, "%s of %" PRIu64 " byte%s", what, bytes, pl_plural(bytes));
}

static const char *const space_names[] = {
    [PL_SP_GENERIC] = "generic", [PL_SP_CONST] = "constant",  [PL_SP_GLOBAL] = "global",
    [PL_SP_LOCAL] = "local",     [PL_SP_PARAM] = "parameter", [PL_SP_SHARED] = "shared",
    [PL_SP_REG] = "register",    [PL_SP_SREG] = "register",   [PL_SP_TEX] = "texture"};

/* A shared memory address, `at`, outside of the block's shared memory. */
static void fault_shared(pl_warp *w, unsigned lane, uint64_t address, uint64_t at,
                         const char *access)
{
    const pl_cta *c = w->cta;
    const uint32_t size = c->shared_end - c->shared_start;
    uint64_t rank = at / PL_SHARED_SLICE;
    if (rank != c->cluster_rank && (!c->cluster || rank >= c->cluster->size))
        pl_fault(w, 1u << lane, address, "CUDA_ERROR_ILLEGAL_INSTRUCTION",
                 "%s at shared address 0x%" PRIx64 " of block %" PRIu64
                 " of the cluster, which has %" PRIu32,
                 access, at, rank, c->cluster ? c->cluster->size : 1);
    else if (rank != c->cluster_rank && !c->cluster->cta[rank])
        pl_fault(w, 1u << lane, address, "CUDA_ERROR_ILLEGAL_INSTRUCTION",
                 "%s at shared address 0x%" PRIx64 " of block %" PRIu64
                 " of the cluster, which has not started",
                 access, at, rank);
    else if (rank != c->cluster_rank && has_ended(w, c->cluster->cta[rank]))
        /* recorded: exec.groups */
        pl_fault(w, 1u << lane, address, "CUDA_ERROR_LAUNCH_FAILED",
                 "%s at shared address 0x%" PRIx64 " of block %" PRIu64
                 " of the cluster, which has ended",
                 access, at, rank);
    else
        pl_fault(w, 1u << lane, address, "CUDA_ERROR_ILLEGAL_ADDRESS",
                 "%s at shared address 0x%" PRIx64 "; the block has %" PRIu32
                 " byte%s from 0x%" PRIx64,
                 access, at, size, pl_plural(size),
                 (uint64_t)(at - at % PL_SHARED_SLICE + c->shared_start));
}

/* An address beyond the end of local memory or of the kernel's parameters. */
static void fault_frame(pl_warp *w, unsigned lane, pl_space real, uint64_t address, uint64_t at,
                        const char *access)
{
    const uint32_t size = real == PL_SP_LOCAL ? pl_local_top(w) : w->grid->entry->param_bytes;
    pl_fault(w, 1u << lane, address, "CUDA_ERROR_ILLEGAL_ADDRESS",
             "%s at %s address 0x%" PRIx64 ", out of bounds: %s %" PRIu32 " byte%s", access,
             space_names[real], at,
             real == PL_SP_LOCAL ? "the stack of the thread has" : "the kernel's parameters have",
             size, pl_plural(size));
}

/* Reports an address near the windows of shared and local memory. False: the address is not near
 * them. */
static bool fault_near_window(pl_warp *w, unsigned lane, pl_space space, uint64_t address,
                              const char *access)
{
    if (space != PL_SP_GENERIC && (address - PL_SHARED_WINDOW < PL_SHARED_SLICE * PL_SHARED_RANKS ||
                                   address - PL_LOCAL_WINDOW < PL_LOCAL_SIZE)) {
        pl_fault(w, 1u << lane, address, "CUDA_ERROR_INVALID_ADDRESS_SPACE",
                 "%s at %s address 0x%" PRIx64 ", which is in the window of %s memory", access,
                 space_names[space], address,
                 address - PL_LOCAL_WINDOW < PL_LOCAL_SIZE ? "local" : "shared");
        return true;
    }
    const uint64_t beyond = address - (PL_LOCAL_WINDOW - WINDOW_REACH);
    if (beyond < 2 * WINDOW_REACH) {
        const bool before = address < PL_LOCAL_WINDOW;
        const uint64_t distance = before ? PL_LOCAL_WINDOW - address : address - PL_LOCAL_WINDOW;
        pl_fault(w, 1u << lane, address, "CUDA_ERROR_ILLEGAL_ADDRESS",
                 "%s at 0x%" PRIx64 ", %" PRIu64 " byte%s %s local memory; "
                 "the stack of the thread has %" PRIu32,
                 access, address, distance, pl_plural(distance),
                 before ? "before the start of" : "from the start of", pl_local_top(w));
        return true;
    }
    return false;
}

/* An address in global memory without an allocation, or an access beyond the end of one. */
static void fault_global(pl_warp *w, unsigned lane, uint64_t address, uint64_t bytes,
                         const char *access)
{
    char place[PLACE_TEXT];
    if (address < NULL_PAGE) {
        pl_fault(w, 1u << lane, address, "CUDA_ERROR_ILLEGAL_ADDRESS",
                 "%s at 0x%" PRIx64 ", a null pointer", access, address);
        return;
    }
    const pl_freed *freed = pl_memory_freed(w->grid->memory, address);
    if (freed) {
        pl_fault(w, 1u << lane, address, "CUDA_ERROR_ILLEGAL_ADDRESS",
                 "%s at 0x%" PRIx64 ", %" PRIu64
                 " byte%s from the start of '%s', which has been freed (%" PRIu64
                 " byte%s at 0x%" PRIx64 ")",
                 access, address, address - freed->address, pl_plural(address - freed->address),
                 freed->name, freed->size, pl_plural(freed->size), freed->address);
        return;
    }
    const pl_alloc *const inside = pl_memory_find(w->grid->memory, address);
    snprintf(place, sizeof place, "%s at 0x%" PRIx64, access, address);
    if (inside && inside->valid) {
        fault_heap(w, lane, place, address, bytes);
        return;
    }
    const pl_alloc *a = pl_memory_nearest(w->grid->memory, address);
    if (!a) {
        pl_fault(w, 1u << lane, address, "CUDA_ERROR_ILLEGAL_ADDRESS",
                 "%s at 0x%" PRIx64 "; nothing is allocated", access, address);
        return;
    }
    fault_outside(w, lane, place, address, bytes, a, "");
}

/* Reports a write to existing memory that cannot be written: parameters and constants. False: it is
 * neither. */
static bool is_read_only(pl_warp *w, unsigned lane, pl_space real, uint64_t address, uint64_t at,
                         const char *access)
{
    const pl_alloc *constants = real == PL_SP_GLOBAL ? find_constants(w, address) : NULL;
    if (real == PL_SP_PARAM) {
        pl_fault(w, 1u << lane, address, "CUDA_ERROR_ILLEGAL_ADDRESS",
                 "%s at parameter address 0x%" PRIx64 "; parameters of a kernel cannot be written",
                 access, at);
    } else if (constants) {
        pl_fault(w, 1u << lane, address, "CUDA_ERROR_ILLEGAL_ADDRESS",
                 "%s at 0x%" PRIx64 ", constant address 0x%" PRIx64 "; constants cannot be written",
                 access, address, address - constants->address);
    }
    return real == PL_SP_PARAM || constants;
}

void pl_bounds_fault(pl_warp *w, unsigned lane, pl_space space, uint64_t address, uint64_t bytes,
                     const char *what)
{
    char access[ACCESS_TEXT];
    pl_space real = space;
    uint64_t at = address;
    describe_access(access, what, bytes);
    const uint8_t *p = pl_resolve(w, lane, space, address, bytes, &real, &at);
    if (real == PL_SP_SHARED) {
        fault_shared(w, lane, address, at, access);
    } else if (p && is_read_only(w, lane, real, address, at, access)) {
        /* already reported */
    } else if (real == PL_SP_LOCAL || real == PL_SP_PARAM) {
        fault_frame(w, lane, real, address, at, access);
    } else if (space == PL_SP_CONST) {
        char place[PLACE_TEXT];
        snprintf(place, sizeof place, "%s at constant address 0x%" PRIx64, access, address);
        fault_constant(w, lane, address, bytes, place);
    } else if (!fault_near_window(w, lane, space, address, access)) {
        fault_global(w, lane, address, bytes, access);
    }
}

void pl_access_fault(pl_warp *w, unsigned lane, pl_space space, uint64_t address, uint64_t bytes,
                     const char *what)
{
    char access[ACCESS_TEXT];
    pl_space real = space;
    uint64_t at = address;
    describe_access(access, what, bytes);
    if (address % bytes && pl_resolve(w, lane, space, address, 1, &real, &at))
        pl_fault(w, 1u << lane, address, "CUDA_ERROR_MISALIGNED_ADDRESS",
                 "%s at %s address 0x%" PRIx64 ", which is not a multiple of %" PRIu64, access,
                 space_names[real], at, bytes);
    else
        pl_bounds_fault(w, lane, space, address, bytes, what);
}
