/* address.h - maps a lane's address to host bytes; used by every instruction that accesses memory.
 *
 * Registers hold addresses of a state space or generic addresses. Generic addresses are resolved
 * lane by lane against the windows of global_memory.h. Shared addresses carry the cluster rank in
 * bits 24..31, and begin after the bytes reserved by the system (H200, driver 580.159.04, 2026-11,
 * probes mem.windows). */
#ifndef PL_EMU_EXEC_MEMORY_ADDRESS_H
#define PL_EMU_EXEC_MEMORY_ADDRESS_H

#include "emu/exec/lane_loops.h"

/* Address operand k of every lane (the offset of the first ADDR operand is imm, that of the second
 * is target). */
static inline void pl_addresses(const pl_warp *w, const pl_insn *i, unsigned k, bool narrow,
                                int64_t offset, uint64_t out[PL_LANES])
{
    if (i->op[k] == PL_NO_OPERAND) {
        if (i->sel[PL_M_SPACE] == PL_SP_SHARED)
            offset += (int64_t)(w->cta->shared_base + w->cta->shared_start);
        for (unsigned l = 0; l < PL_LANES; l++) out[l] = (uint64_t)offset;
    } else if (narrow) {
        const uint32_t *a = pl_row32(w, i->op[k]);
        for (unsigned l = 0; l < PL_LANES; l++) out[l] = (uint32_t)(a[l] + (uint32_t)offset);
    } else {
        const uint64_t *a = pl_row64(w, i->op[k]);
        for (unsigned l = 0; l < PL_LANES; l++) out[l] = a[l] + (uint64_t)offset;
    }
}

/* Returns the space that a generic address is in. *address becomes the address in that space. */
static inline pl_space pl_generic_space(uint64_t *address)
{
    const uint64_t a = pl_generic_widened(*address);
    if (a - PL_SHARED_WINDOW < PL_SHARED_SLICE * PL_SHARED_RANKS)
        return *address = a - PL_SHARED_WINDOW, PL_SP_SHARED;
    if (a - PL_LOCAL_WINDOW < PL_LOCAL_SIZE) return *address = a - PL_LOCAL_WINDOW, PL_SP_LOCAL;
    if (a - PL_PARAM_WINDOW < PL_LOCAL_SIZE) return *address = a - PL_PARAM_WINDOW, PL_SP_PARAM;
    return PL_SP_GLOBAL;
}

/* Returns the bytes at `address` of `space` for one lane, or NULL (out of bounds). *resolved: the
 * actual space, *in_space: the address in that space. */
uint8_t *pl_resolve(pl_warp *w, unsigned lane, pl_space space, uint64_t address, uint64_t bytes,
                    pl_space *resolved, uint64_t *in_space);

/* The same for a write: also returns NULL for memory that kernels must not write, which is
 * parameters and constants. */
uint8_t *pl_resolve_write(pl_warp *w, unsigned lane, pl_space space, uint64_t address,
                          uint64_t bytes, pl_space *resolved, uint64_t *in_space);

/* Reports an access that pl_resolve or pl_resolve_write rejected, or whose address is not a
 * multiple of its size. If both apply, it is reported as misaligned. */
void pl_access_fault(pl_warp *w, unsigned lane, pl_space space, uint64_t address, uint64_t bytes,
                     const char *what);

/* Reports an access that pl_resolve or pl_resolve_write rejected, regardless of its alignment. */
void pl_bounds_fault(pl_warp *w, unsigned lane, pl_space space, uint64_t address, uint64_t bytes,
                     const char *what);

/* Returns the bytes for an instruction with alignment requirements, or NULL after reporting the
 * fault. bytes may be 0. */
uint8_t *pl_access(pl_warp *w, unsigned lane, pl_space space, uint64_t address, uint64_t bytes,
                   uint64_t align, const char *what);
/* The same for a write. */
uint8_t *pl_access_write(pl_warp *w, unsigned lane, pl_space space, uint64_t address,
                         uint64_t bytes, uint64_t align, const char *what);

/* Records an access for timing and traces. addr may be w->fx->addr. */
static inline void pl_record_effect(pl_warp *w, pl_space space, pl_access_kind kind, unsigned bytes,
                                    uint32_t mask, const uint64_t *addr, unsigned flags)
{
    pl_memory_effect *fx = w->fx;
    w->wrote |= kind == PL_AC_STORE && space != PL_SP_LOCAL;
    if (!fx) return;
    fx->mask = mask;
    fx->space = (uint8_t)space;
    fx->kind = (uint8_t)kind;
    fx->size = (uint16_t)bytes;
    fx->bypass_l1 = (flags & PL_MF_NOL1) != 0;
    if (addr == fx->addr) return;
    for (unsigned l = 0; l < PL_LANES; l++) fx->addr[l] = addr[l];
}

#endif
