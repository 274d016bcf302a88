/* access.c - resolving addresses of one lane, and the messages for those that mean nothing. See access.h. */
#include "emu/exec/access.h"

#include <inttypes.h>

static uint8_t *shared_at(pl_warp *w, uint64_t address, uint64_t bytes)
{
    pl_cta *c = w->cta;
    uint32_t rank = (uint32_t)(address / PL_SHARED_SLICE);
    uint64_t offset = address % PL_SHARED_SLICE;
    if (rank) {
        if (!c->cluster) {
            if (rank != 1)
                return NULL;
        } else {
            if (rank > c->cluster->size || !c->cluster->cta[rank - 1])
                return NULL;
            c = c->cluster->cta[rank - 1];
        }
    }
    if (offset > c->shared_bytes || bytes > c->shared_bytes - offset)
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
        return w->local + (size_t)lane * w->local_bytes + address;
    case PL_SP_PARAM: {
        uint32_t n = w->grid->entry->param_bytes;
        if (address > n || bytes > n - address)
            return NULL;
        return (uint8_t *)(uintptr_t)w->grid->params + address;
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
        pl_fault(w, 1u << lane, address, "CUDA_ERROR_ILLEGAL_ADDRESS", "%s of %" PRIu64 " bytes at shared address 0x%" PRIx64
                 "; the block has %" PRIu32 " bytes", what, bytes, at, w->cta->shared_bytes);
        return;
    }
    if (real == PL_SP_LOCAL || real == PL_SP_PARAM) {
        pl_fault(w, 1u << lane, address, "CUDA_ERROR_ILLEGAL_ADDRESS", "%s of %" PRIu64 " bytes at %s address 0x%" PRIx64
                 ", out of bounds", what, bytes, names[real], at);
        return;
    }
    const pl_alloc *a = pl_memory_nearest(w->grid->memory, address);
    if (!a) {
        pl_fault(w, 1u << lane, address, "CUDA_ERROR_ILLEGAL_ADDRESS", "%s of %" PRIu64 " bytes at 0x%" PRIx64
                 "; nothing is allocated", what, bytes, address);
        return;
    }
    bool before = address < a->address;
    uint64_t distance = before ? a->address - address : address - a->address;
    pl_fault(w, 1u << lane, address, "CUDA_ERROR_ILLEGAL_ADDRESS", "%s of %" PRIu64 " bytes at 0x%" PRIx64 ", %" PRIu64 " bytes %s%s of '%s' (%" PRIu64
             " bytes at 0x%" PRIx64 ")", what, bytes, address, before || distance < a->size ? distance : distance - a->size,
             before ? "before the start" : distance < a->size ? "from the start" : "behind the end", "", a->name ? a->name : "an allocation", a->size,
             a->address);
}
