/* op_atom.c - atom, red and multimem: lanes execute in lane order, so that results are the same in
 * every mode.
 *
 * atomic_ops.h defines the effect of one operation on one element. */
#include <string.h>

#include "emu/exec/memory/address.h"
#include "emu/exec/memory/atomic_ops.h"

/* The reduction of an instruction. KEEP: .noftz, which keeps f32 subnormals in global memory. */
typedef struct reduction {
    int op, type;
    bool keep_subnormals;
} reduction;

static pl_atomic_arith arith_of(pl_space space, pl_space real, bool keep)
{
    return real == PL_SP_GLOBAL     ? keep ? PL_ATOMIC_BULK : PL_ATOMIC_GLOBAL
           : space == PL_SP_GENERIC ? PL_ATOMIC_GENERIC
                                    : PL_ATOMIC_SHARED;
}

static uint64_t lane_value(const pl_warp *w, uint32_t row, unsigned l, unsigned bytes)
{
    uint64_t v = bytes == 8 ? pl_row64(w, row)[l] : pl_row32(w, row)[l];
    return bytes >= 4 ? v : v & ((1ull << 8 * bytes) - 1);
}

/* An element of 2, 4 or 8 bytes. */
static inline uint64_t element_at(const uint8_t *p, unsigned bytes)
{
    uint16_t half;
    uint32_t word;
    uint64_t pair;
    switch (bytes) {
    case 2: memcpy(&half, p, 2); return half;
    case 4: memcpy(&word, p, 4); return word;
    default: memcpy(&pair, p, 8); return pair;
    }
}

static inline void put_element(uint8_t *p, uint64_t v, unsigned bytes)
{
    switch (bytes) {
    case 2: memcpy(p, &v, 2); break;
    case 4: memcpy(p, &v, 4); break;
    default: memcpy(p, &v, 8); break;
    }
}

static void atomic128(pl_warp *w, const pl_insn *i, int op, uint64_t *addr, pl_space space)
{
    uint64_t old[2 * PL_LANES] = {0};
    pl_space real = space;
    for (unsigned l = 0; l < PL_LANES; l++) {
        if (!((w->exec >> l) & 1u)) continue;
        uint64_t at, current[2];
        uint8_t *p = pl_resolve_write(w, l, space, addr[l], 16, &real, &at);
        if (!p || addr[l] % 16) {
            pl_access_fault(w, l, space, addr[l], 16, "atomic operation");
            return;
        }
        addr[l] = at;
        memcpy(current, p, 16);
        old[l] = current[0];
        old[PL_LANES + l] = current[1];
        const uint64_t *b = pl_row64(w, i->op[2]);
        if (op == W_exch || (current[0] == b[l] && current[1] == b[PL_LANES + l])) {
            const uint64_t *v = op == W_exch ? b : pl_row64(w, i->op[3]);
            memcpy(p, &v[l], 8);
            memcpy(p + 8, &v[PL_LANES + l], 8);
            w->wrote |= v[l] != current[0] || v[PL_LANES + l] != current[1];
        }
    }
    if (i->op[0] != PL_NO_OPERAND) pl_blend128(w, pl_row64(w, i->op[0]), old);
    pl_record_effect(w, real, PL_AC_ATOMIC, 16, w->exec, addr, PL_MF_NOL1);
}

/* The bytes at an address of the block's shared memory or of the last used allocation, which covers
 * nearly every access. NULL: use pl_resolve. */
static inline uint8_t *resolve_fast(const pl_warp *w, pl_space space, uint64_t address,
                                    unsigned bytes, pl_space *real)
{
    if (space == PL_SP_SHARED) {
        *real = PL_SP_SHARED;
        uint64_t offset = address - w->cta->shared_base;
        return offset >= w->cta->shared_first && offset < w->cta->shared_end &&
                       bytes <= w->cta->shared_end - offset
                   ? w->cta->shared + offset
                   : NULL;
    }
    const pl_alloc *h = w->last_alloc;
    if ((space != PL_SP_GLOBAL && space != PL_SP_GENERIC) || !h || pl_alloc_read_only(h) ||
        h->size < bytes || address - h->address > h->size - bytes)
        return NULL;
    *real = PL_SP_GLOBAL;
    return h->bytes + (address - h->address);
}

/* The memory of a lane's atomic at *at, which becomes the address in its space. NULL: a fault. */
static inline uint8_t *resolve_atomic(pl_warp *w, unsigned lane, pl_space space, unsigned bytes,
                                      pl_space *real, uint64_t *at)
{
    const uint64_t address = *at;
    uint8_t *p = resolve_fast(w, space, address, bytes, real);
    if (!p) p = pl_resolve_write(w, lane, space, address, bytes, real, at);
    if (p && address % bytes == 0) return p;
    pl_access_fault(w, lane, space, address, bytes, "atomic operation");
    return NULL;
}

/* A vector: every element is a separate operation; the address is aligned to the whole vector (PTX
 * ISA 9.0, atom). */
static void atomic_vector(pl_warp *w, const pl_insn *i, reduction r, int d, unsigned a)
{
    unsigned bytes = 1u << i->sel[PL_M_LOG2], count = i->sel[PL_M_COUNT], size = bytes * count;
    pl_space space = (pl_space)i->sel[PL_M_SPACE], real = space;
    uint64_t addr[PL_LANES];
    uint32_t old[8][PL_LANES] = {{0}};
    pl_addresses(w, i, a, i->sel[PL_M_FLAGS] & PL_MF_ADDR32, i->imm, addr);
    const unsigned first = pl_initial_lane(w);
    for (uint32_t m = pl_lanes_from(w->exec, first); m; m &= m - 1) {
        unsigned l = pl_lane_from(m, first);
        uint64_t at;
        uint8_t *p = pl_resolve_write(w, l, space, addr[l], size, &real, &at);
        if (!p || addr[l] % size || real != PL_SP_GLOBAL) {
            pl_access_fault(w, l, space, addr[l], size, "atomic operation on a vector");
            return;
        }
        addr[l] = at;
        for (unsigned k = 0; k < count; k++) {
            uint32_t b = pl_row32(w, pl_more(w, i, i->op[a + 1] + k))[l];
            uint64_t current = 0;
            memcpy(&current, p + k * bytes, bytes);
            old[k][l] = (uint32_t)current;
            current = pl_atomic_step(r.op, r.type, arith_of(space, real, r.keep_subnormals),
                                     current, b, 0);
            memcpy(p + k * bytes, &current, bytes);
        }
    }
    w->wrote = true;
    for (unsigned k = 0; d >= 0 && i->op[d] != PL_NO_OPERAND && k < count; k++) {
        uint32_t row = pl_more(w, i, i->op[d] + k);
        if (row != PL_NO_OPERAND) pl_blend32(w, pl_row32(w, row), old[k]);
    }
    pl_record_effect(w, real, d >= 0 ? PL_AC_ATOMIC : PL_AC_REDUCTION, size, w->exec, addr,
                     PL_MF_NOL1);
}

static void atomic(pl_warp *w, const pl_insn *i, reduction r, int d, unsigned a)
{
    unsigned bytes = 1u << i->sel[PL_M_LOG2];
    if (i->sel[PL_M_COUNT] > 1) {
        atomic_vector(w, i, r, d, a);
        return;
    }
    pl_space space = (pl_space)i->sel[PL_M_SPACE], real = space;
    uint64_t addr[PL_LANES], old[PL_LANES] = {0};
    pl_addresses(w, i, a, i->sel[PL_M_FLAGS] & PL_MF_ADDR32, i->imm, addr);
    if (d >= 0) pl_warp_note_poll(w, addr[__builtin_ctz(w->exec)]);
    if (bytes == 16) {
        atomic128(w, i, r.op, addr, space);
        return;
    }
    const unsigned first = pl_initial_lane(w);
    for (uint32_t m = pl_lanes_from(w->exec, first); m; m &= m - 1) {
        unsigned l = pl_lane_from(m, first);
        uint64_t at = addr[l], current = 0;
        uint8_t *p = resolve_atomic(w, l, space, bytes, &real, &at);
        if (!p) return;
        addr[l] = at;
        /* The most frequent case. */
        if (bytes == 4 && r.op == W_add && r.type != W_f32 && r.type != W_f16x2 &&
            r.type != W_bf16x2) {
            uint32_t v;
            memcpy(&v, p, 4);
            old[l] = v;
            v += pl_row32(w, i->op[a + 1])[l];
            w->wrote |= v != (uint32_t)old[l];
            memcpy(p, &v, 4);
            continue;
        }
        current = element_at(p, bytes);
        old[l] = current;
        uint64_t next = pl_atomic_step(r.op, r.type, arith_of(space, real, r.keep_subnormals),
                                       current, lane_value(w, i->op[a + 1], l, bytes),
                                       r.op == W_cas ? lane_value(w, i->op[a + 2], l, bytes) : 0);
        w->wrote |= next != current;
        put_element(p, next, bytes);
    }
    if (d >= 0 && i->op[d] != PL_NO_OPERAND) {
        if (bytes == 8)
            pl_blend64(w, pl_row64(w, i->op[d]), old);
        else {
            uint32_t t[PL_LANES];
            for (unsigned l = 0; l < PL_LANES; l++) t[l] = (uint32_t)old[l];
            pl_blend32(w, pl_row32(w, i->op[d]), t);
        }
    }
    pl_record_effect(w, real, d >= 0 ? PL_AC_ATOMIC : PL_AC_REDUCTION, bytes, w->exec, addr,
                     PL_MF_NOL1);
}

void exec_atom(pl_warp *w, const pl_insn *i, int op, int type)
{
    atomic(w, i, (reduction){op, type, false}, 0, 1);
}

void exec_atom_noftz(pl_warp *w, const pl_insn *i, int op, int type)
{
    atomic(w, i, (reduction){op, type, true}, 0, 1);
}

void exec_red(pl_warp *w, const pl_insn *i, int op, int type)
{
    atomic(w, i, (reduction){op, type, false}, -1, 0);
}

void exec_red_noftz(pl_warp *w, const pl_insn *i, int op, int type)
{
    atomic(w, i, (reduction){op, type, true}, -1, 0);
}

/* Of the lanes that access words of one bank the first compares and swaps; the others must try
 * again. A warp's access to 64-bit words is split in two, of sixteen lanes each; a lane of the
 * second may observe what one of the first has just written (tests/data/micro/cast.tsv.xz, H200,
 * 2026-11). */
void exec_cast(pl_warp *w, const pl_insn *i, int type)
{
    const unsigned bytes = type == W_b64 ? 8 : 4, banks = 128 / bytes;
    pl_space space = (pl_space)i->sel[PL_M_SPACE], real = space;
    uint64_t addr[PL_LANES], done[PL_LANES] = {0};
    uint32_t busy_banks[2] = {0}; /* banks, by access */
    pl_addresses(w, i, 1, i->sel[PL_M_FLAGS] & PL_MF_ADDR32, i->imm, addr);
    for (uint32_t m = w->exec; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m), access = bytes == 8 && l >= 16;
        uint64_t at = addr[l], current = 0;
        uint8_t *p = resolve_atomic(w, l, space, bytes, &real, &at);
        if (!p) return;
        addr[l] = at;
        uint32_t bank = 1u << (at / bytes % banks);
        if (busy_banks[access] & bank) continue;
        busy_banks[access] |= bank;
        current = element_at(p, bytes);
        if (current != lane_value(w, i->op[2], l, bytes)) continue;
        uint64_t next = lane_value(w, i->op[3], l, bytes);
        w->wrote |= next != current;
        put_element(p, next, bytes);
        done[l] = 1;
    }
    if (bytes == 8)
        pl_blend64(w, pl_row64(w, i->op[0]), done);
    else {
        uint32_t t[PL_LANES];
        for (unsigned l = 0; l < PL_LANES; l++) t[l] = (uint32_t)done[l];
        pl_blend32(w, pl_row32(w, i->op[0]), t);
    }
    pl_record_effect(w, real, PL_AC_ATOMIC, bytes, w->exec, addr, PL_MF_NOL1);
}
