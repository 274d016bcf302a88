/* op_atom.c - atom and red: lanes take their turns in lane order, so that results are the same in every mode. */
#include <string.h>

#include "emu/exec/access.h"

static bool is_nan64(uint64_t x)
{
    return (x & PL_F64_MAG) > PL_F64_INF;
}

/* New value of a read-modify-write step. Adds in global memory are done by the L2: f32 flushes subnormals, and a NaN operand of an
 * f64 add comes back as it is. Shared memory adds like the SM does (H200, driver 580.159.04, 2026-11, probes mem.atomics). */
static uint64_t stepped(int op, int type, bool global, uint64_t old, uint64_t b, uint64_t c)
{
    switch (op) {
    case W_add:
        switch (type) {
        case W_f32:
            return f32_add((uint32_t)old, (uint32_t)b, PL_RN, global, false);
        case W_f64:
            if (global && (is_nan64(b) || is_nan64(old)))
                return is_nan64(b) ? b : old;
            return f64_add(old, b, PL_RN);
        case W_f16:
            return f16_add((uint16_t)old, (uint16_t)b, false, false);
        case W_bf16:
            return bf16_add((uint16_t)old, (uint16_t)b);
        case W_f16x2:
            return f16x2_add((uint32_t)old, (uint32_t)b, false, false);
        case W_bf16x2:
            return bf16x2_add((uint32_t)old, (uint32_t)b);
        default:
            return old + b;
        }
    case W_and:
        return old & b;
    case W_or:
        return old | b;
    case W_xor:
        return old ^ b;
    case W_exch:
        return b;
    case W_cas:
        return old == b ? c : old;
    case W_inc:
        return (uint32_t)old >= (uint32_t)b ? 0 : old + 1;
    case W_dec:
        return old == 0 || (uint32_t)old > (uint32_t)b ? b : old - 1;
    case W_min:
        return type == W_s32 ? (uint64_t)((int32_t)old < (int32_t)b ? old : b) : type == W_s64 ? ((int64_t)old < (int64_t)b ? old : b)
               : old < b ? old : b;
    case W_max:
        return type == W_s32 ? (uint64_t)((int32_t)old > (int32_t)b ? old : b) : type == W_s64 ? ((int64_t)old > (int64_t)b ? old : b)
               : old > b ? old : b;
    default:
        return old;
    }
}

static uint64_t lane_value(const pl_warp *w, uint32_t row, unsigned l, unsigned bytes)
{
    uint64_t v = bytes == 8 ? pl_row64(w, row)[l] : pl_row32(w, row)[l];
    return bytes >= 4 ? v : v & ((1ull << 8 * bytes) - 1);
}

static void atomic128(pl_warp *w, const pl_insn *i, int op, uint64_t *addr, pl_space space)
{
    uint64_t old[2 * PL_LANES] = {0};
    pl_space real = space;
    for (unsigned l = 0; l < PL_LANES; l++) {
        if (!((w->exec >> l) & 1u))
            continue;
        uint64_t at, have[2];
        uint8_t *p = pl_resolve(w, l, space, addr[l], 16, &real, &at);
        if (!p || addr[l] % 16) {
            pl_access_fault(w, l, space, addr[l], 16, "atomic operation");
            return;
        }
        addr[l] = at;
        memcpy(have, p, 16);
        old[l] = have[0];
        old[PL_LANES + l] = have[1];
        const uint64_t *b = pl_row64(w, i->op[2]);
        if (op == W_exch || (have[0] == b[l] && have[1] == b[PL_LANES + l])) {
            const uint64_t *v = op == W_exch ? b : pl_row64(w, i->op[3]);
            memcpy(p, &v[l], 8);
            memcpy(p + 8, &v[PL_LANES + l], 8);
        }
    }
    if (i->op[0] != PL_NO_OPERAND)
        pl_blend128(w, pl_row64(w, i->op[0]), old);
    pl_record(w, real, PL_AC_ATOMIC, 16, w->exec, addr, PL_MF_NOL1);
}

/* The bytes at an address of the block's shared memory or of the allocation used last: what nearly every access means. NULL: look
 * closer (pl_resolve). */
static inline uint8_t *quick(const pl_warp *w, pl_space space, uint64_t address, unsigned bytes, pl_space *real)
{
    if (space == PL_SP_SHARED) {
        *real = PL_SP_SHARED;
        return address + bytes <= w->cta->shared_bytes && address < PL_SHARED_SLICE ? w->cta->shared + address : NULL;
    }
    const pl_alloc *h = w->hit;
    if ((space != PL_SP_GLOBAL && space != PL_SP_GENERIC) || !h || h->size < bytes || address - h->address > h->size - bytes)
        return NULL;
    *real = PL_SP_GLOBAL;
    return h->bytes + (address - h->address);
}

static void atomic(pl_warp *w, const pl_insn *i, int op, int type, int d, unsigned a)
{
    unsigned bytes = 1u << i->sel[PL_M_LOG2];
    pl_space space = (pl_space)i->sel[PL_M_SPACE], real = space;
    uint64_t addr[PL_LANES], old[PL_LANES] = {0};
    pl_addresses(w, i, a, i->sel[PL_M_FLAGS] & PL_MF_ADDR32, i->imm, addr);
    w->polls += d >= 0;
    if (bytes == 16) {
        atomic128(w, i, op, addr, space);
        return;
    }
    for (uint32_t m = w->exec; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t at = addr[l], have = 0;
        uint8_t *p = quick(w, space, at, bytes, &real);
        if (!p)
            p = pl_resolve(w, l, space, addr[l], bytes, &real, &at);
        if (!p || addr[l] % bytes || (real != PL_SP_GLOBAL && real != PL_SP_SHARED)) {
            pl_access_fault(w, l, space, addr[l], bytes, "atomic operation");
            return;
        }
        addr[l] = at;
        if (bytes == 4 && op == W_add && type != W_f32 && type != W_f16x2 && type != W_bf16x2) { /* the common one */
            uint32_t v;
            memcpy(&v, p, 4);
            old[l] = v;
            v += pl_row32(w, i->op[a + 1])[l];
            memcpy(p, &v, 4);
            continue;
        }
        memcpy(&have, p, bytes);
        old[l] = have;
        uint64_t next = stepped(op, type, real == PL_SP_GLOBAL, have, lane_value(w, i->op[a + 1], l, bytes), op == W_cas ? lane_value(w, i->op[a + 2], l, bytes) : 0);
        memcpy(p, &next, bytes);
    }
    if (d >= 0 && i->op[d] != PL_NO_OPERAND) {
        if (bytes == 8)
            pl_blend64(w, pl_row64(w, i->op[d]), old);
        else {
            uint32_t t[PL_LANES];
            for (unsigned l = 0; l < PL_LANES; l++)
                t[l] = (uint32_t)old[l];
            pl_blend32(w, pl_row32(w, i->op[d]), t);
        }
    }
    pl_record(w, real, d >= 0 ? PL_AC_ATOMIC : PL_AC_REDUCTION, bytes, w->exec, addr, PL_MF_NOL1);
}

void exec_atom(pl_warp *w, const pl_insn *i, int op, int type)
{
    atomic(w, i, op, type, 0, 1);
}

void exec_red(pl_warp *w, const pl_insn *i, int op, int type)
{
    atomic(w, i, op, type, -1, 0);
}
