/* access.c - resolving addresses of one lane, and the messages for those that mean nothing. See access.h. */
#include "emu/exec/access.h"

#include <inttypes.h>
#include <stdio.h>

enum { NULL_PAGE = 4096 }; /* addresses that come from a null pointer */

static uint8_t *shared_at(pl_warp *w, uint64_t address, uint64_t bytes)
{
    pl_cta *c = w->cta;
    uint32_t rank = (uint32_t)(address / PL_SHARED_SLICE);
    uint64_t offset = address % PL_SHARED_SLICE;
    if (rank != c->cluster_rank)
        c = c->cluster && rank < c->cluster->size ? c->cluster->cta[rank] : NULL;
    if (!c || !c->live || offset < c->shared_first || offset > c->shared_end || bytes > c->shared_end - offset)
        return NULL;
    return c->shared + offset;
}

uint8_t *pl_resolve(pl_warp *w, unsigned lane, pl_space space, uint64_t address, uint64_t bytes, pl_space *resolved, uint64_t *in_space)
{
    if (space == PL_SP_GENERIC) {
        if (address - PL_SHARED_WINDOW < PL_SHARED_SLICE * PL_SHARED_RANKS) {
            space = PL_SP_SHARED;
            address -= PL_SHARED_WINDOW;
        } else if (address - PL_LOCAL_WINDOW < PL_LOCAL_SIZE) {
            space = PL_SP_LOCAL;
            address -= PL_LOCAL_WINDOW;
        } else if (address - PL_PARAM_WINDOW < PL_LOCAL_SIZE) {
            space = PL_SP_PARAM;
            address -= PL_PARAM_WINDOW;
        } else
            space = PL_SP_GLOBAL;
    }
    *resolved = space;
    *in_space = address;
    switch (space) {
    case PL_SP_SHARED:
        return shared_at(w, address, bytes);
    case PL_SP_LOCAL:
        if (address > w->local_bytes || bytes > w->local_bytes - address)
            return NULL;
        return w->local + (size_t)(pl_first_lane(w) + lane) * w->local_bytes + address;
    case PL_SP_PARAM: {
        uint32_t n = w->grid->entry->param_bytes;
        if (address > n || bytes > n - address)
            return NULL;
        return (uint8_t *)(uintptr_t)w->grid->params + address;
    }
    case PL_SP_CONST: {
        const pl_bank *b = &w->program->bank;
        return address <= b->size && bytes <= b->size - address ? b->bytes + address : NULL;
    }
    default: {
        const pl_alloc *a = w->hit;
        if (!a || address - a->address >= a->size)
            a = pl_memory_find(w->grid->memory, address);
        if (!a || bytes > a->size || address - a->address > a->size - bytes)
            return NULL;
        w->hit = a;
        return a->bytes + (address - a->address);
    }
    }
}

uint8_t *pl_access(pl_warp *w, unsigned lane, pl_space space, uint64_t address, uint64_t bytes, uint64_t align, const char *what)
{
    pl_space real;
    uint64_t in;
    if (address % align) {
        pl_fault(w, 1u << lane, address, "CUDA_ERROR_MISALIGNED_ADDRESS", "%s at address 0x%" PRIx64 ", which is not a multiple of %" PRIu64,
                 what, address, align);
        return NULL;
    }
    uint8_t *p = pl_resolve(w, lane, space, address, bytes ? bytes : 1, &real, &in);
    if (!p)
        pl_access_fault(w, lane, space, address, bytes ? bytes : 1, what);
    return p;
}

/* Says where an address lies that is in none of the places where it could be: how far from the nearest. */
static void outside(pl_warp *w, unsigned lane, const char *access, uint64_t address, uint64_t start, uint64_t size, const char *name)
{
    bool before = address < start;
    uint64_t distance = before ? start - address : address - start;
    pl_fault(w, 1u << lane, address, "CUDA_ERROR_ILLEGAL_ADDRESS", "%s, %" PRIu64 " bytes %s of '%s' (%" PRIu64 " bytes at 0x%" PRIx64 ")",
             access, before || distance < size ? distance : distance - size,
             before ? "before the start" : distance < size ? "from the start" : "behind the end", name, size, start);
}

/* A load that reaches beyond the constant bank. */
static void outside_bank(pl_warp *w, unsigned lane, uint64_t address, const char *access)
{
    const pl_program *p = w->program;
    const pl_prog_var *last = NULL; /* in front of the address */
    bool generic = address - p->bank.address < p->bank.size;
    uint64_t place = generic ? address - p->bank.address : address;
    for (size_t k = 0; k < p->vars.n; k++) {
        const pl_prog_var *v = &p->vars.at[k];
        if (v->space == PL_SP_CONST && v->address <= place && (!last || v->address >= last->address))
            last = v;
    }
    if (!last)
        pl_fault(w, 1u << lane, address, "CUDA_ERROR_ILLEGAL_ADDRESS", "%s; the program has no constants", access);
    else if (generic)
        pl_fault(w, 1u << lane, address, "CUDA_ERROR_ILLEGAL_ADDRESS", "%s, a generic address in '%s' (%" PRIu64 " bytes at constant address 0x%" PRIx64
                 "); cvta.to.const converts it", access, last->name, last->size, last->address);
    else
        outside(w, lane, access, address, last->address, last->size, last->name);
}

void pl_access_fault(pl_warp *w, unsigned lane, pl_space space, uint64_t address, uint64_t bytes, const char *what)
{
    static const char *const names[] = {[PL_SP_GENERIC] = "generic", [PL_SP_CONST] = "constant", [PL_SP_GLOBAL] = "global",
                                        [PL_SP_LOCAL] = "local",     [PL_SP_PARAM] = "parameter", [PL_SP_SHARED] = "shared",
                                        [PL_SP_REG] = "register",    [PL_SP_SREG] = "register",   [PL_SP_TEX] = "texture"};
    pl_space real = space;
    uint64_t at = address;
    uint8_t *p = pl_resolve(w, lane, space, address, bytes, &real, &at);
    if (p && address % bytes) {
        pl_fault(w, 1u << lane, address, "CUDA_ERROR_MISALIGNED_ADDRESS", "%s of %" PRIu64 " bytes at %s address 0x%" PRIx64
                 ", which is not a multiple of %" PRIu64, what, bytes, names[real], at, bytes);
        return;
    }
    if (real == PL_SP_SHARED) {
        const pl_cta *c = w->cta;
        uint64_t rank = at / PL_SHARED_SLICE;
        if (rank != c->cluster_rank && (!c->cluster || rank >= c->cluster->size))
            pl_fault(w, 1u << lane, address, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "%s of %" PRIu64 " bytes at shared address 0x%" PRIx64
                     " of block %" PRIu64 " of the cluster, which has %" PRIu32, what, bytes, at, rank, c->cluster ? c->cluster->size : 1);
        else if (rank != c->cluster_rank && !c->cluster->cta[rank])
            pl_fault(w, 1u << lane, address, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "%s of %" PRIu64 " bytes at shared address 0x%" PRIx64
                     " of block %" PRIu64 " of the cluster, which has not started", what, bytes, at, rank);
        else if (rank != c->cluster_rank && !c->cluster->cta[rank]->live) /* recorded: exec.groups */
            pl_fault(w, 1u << lane, address, "CUDA_ERROR_LAUNCH_FAILED", "%s of %" PRIu64 " bytes at shared address 0x%" PRIx64
                     " of block %" PRIu64 " of the cluster, which has ended", what, bytes, at, rank);
        else
            pl_fault(w, 1u << lane, address, "CUDA_ERROR_ILLEGAL_ADDRESS", "%s of %" PRIu64 " bytes at shared address 0x%" PRIx64
                     "; the block has %" PRIu32 " bytes from 0x%" PRIx64, what, bytes, at, c->shared_end - c->shared_start,
                     (uint64_t)(at - at % PL_SHARED_SLICE + c->shared_start));
        return;
    }
    if (real == PL_SP_PARAM && p) {
        pl_fault(w, 1u << lane, address, "CUDA_ERROR_ILLEGAL_ADDRESS", "%s of %" PRIu64 " bytes at parameter address 0x%" PRIx64
                 "; parameters of a kernel cannot be written", what, bytes, at);
        return;
    }
    if (real == PL_SP_LOCAL || real == PL_SP_PARAM) {
        pl_fault(w, 1u << lane, address, "CUDA_ERROR_ILLEGAL_ADDRESS", "%s of %" PRIu64 " bytes at %s address 0x%" PRIx64
                 ", out of bounds", what, bytes, names[real], at);
        return;
    }
    char access[80];
    if (space == PL_SP_CONST) {
        snprintf(access, sizeof access, "%s of %" PRIu64 " bytes at constant address 0x%" PRIx64, what, bytes, address);
        outside_bank(w, lane, address, access);
        return;
    }
    if (space != PL_SP_GENERIC && (address - PL_SHARED_WINDOW < PL_SHARED_SLICE * PL_SHARED_RANKS || address - PL_LOCAL_WINDOW < PL_LOCAL_SIZE)) {
        pl_fault(w, 1u << lane, address, "CUDA_ERROR_INVALID_ADDRESS_SPACE", "%s of %" PRIu64 " bytes at %s address 0x%" PRIx64
                 ", which lies in the window of %s memory", what, bytes, names[space], address,
                 address - PL_LOCAL_WINDOW < PL_LOCAL_SIZE ? "local" : "shared");
        return;
    }
    if (address < NULL_PAGE) {
        pl_fault(w, 1u << lane, address, "CUDA_ERROR_ILLEGAL_ADDRESS", "%s of %" PRIu64 " bytes at 0x%" PRIx64 ", a null pointer", what, bytes,
                 address);
        return;
    }
    const pl_freed *gone = pl_memory_freed(w->grid->memory, address);
    if (gone) {
        pl_fault(w, 1u << lane, address, "CUDA_ERROR_ILLEGAL_ADDRESS", "%s of %" PRIu64 " bytes at 0x%" PRIx64 ", %" PRIu64
                 " bytes from the start of '%s', which has been freed (%" PRIu64 " bytes at 0x%" PRIx64 ")", what, bytes, address,
                 address - gone->address, gone->name, gone->size, gone->address);
        return;
    }
    const pl_alloc *a = pl_memory_nearest(w->grid->memory, address);
    if (!a) {
        pl_fault(w, 1u << lane, address, "CUDA_ERROR_ILLEGAL_ADDRESS", "%s of %" PRIu64 " bytes at 0x%" PRIx64
                 "; nothing is allocated", what, bytes, address);
        return;
    }
    snprintf(access, sizeof access, "%s of %" PRIu64 " bytes at 0x%" PRIx64, what, bytes, address);
    outside(w, lane, access, address, a->address, a->size, a->name ? a->name : "an allocation");
}
