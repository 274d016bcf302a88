/* atomic_ops.h - the effect of one atomic operation on one element of memory. Used by atom and red
 * (op_atom.c), and by reductions of the copy engines (pending.c). */
#ifndef PL_EMU_EXEC_MEMORY_ATOMIC_OPS_H
#define PL_EMU_EXEC_MEMORY_ATOMIC_OPS_H

#include "emu/exec/lane_loops.h"

static inline bool pl_atomic_nan64(uint64_t x)
{
    return (x & PL_F64_MAG) > PL_F64_INF;
}

static inline uint64_t pl_atomic_smaller(int type, uint64_t a, uint64_t b)
{
    switch (type) {
    case W_f16: return f16_min((uint16_t)a, (uint16_t)b, false, false, false);
    case W_bf16: return bf16_min((uint16_t)a, (uint16_t)b, false, false);
    case W_f16x2: return f16x2_min((uint32_t)a, (uint32_t)b, false, false, false);
    default: return bf16x2_min((uint32_t)a, (uint32_t)b, false, false);
    }
}

static inline uint64_t pl_atomic_larger(int type, uint64_t a, uint64_t b)
{
    switch (type) {
    case W_f16: return f16_max((uint16_t)a, (uint16_t)b, false, false, false);
    case W_bf16: return bf16_max((uint16_t)a, (uint16_t)b, false, false);
    case W_f16x2: return f16x2_max((uint32_t)a, (uint32_t)b, false, false, false);
    default: return bf16x2_max((uint32_t)a, (uint32_t)b, false, false);
    }
}

/* The unit that performs the addition determines the handling of subnormals and NaNs. */
typedef enum pl_atomic_arith {
    PL_ATOMIC_SHARED, /* the arithmetic of the SM */
    PL_ATOMIC_GLOBAL, /* the L2: f32 flushes subnormals, and a NaN operand of an f64 add is returned
                         unchanged */
    PL_ATOMIC_BULK, /* the L2 for a bulk reduction: as PL_ATOMIC_GLOBAL, but f32 keeps subnormals */
    PL_ATOMIC_GENERIC /* shared memory through a generic address: the operands are swapped */
} pl_atomic_arith;

/* The new value of a read-modify-write step (H200, driver 580.159.04, 2026-11, probes
 * mem.atomics). */
static inline uint64_t pl_atomic_step(int op, int type, pl_atomic_arith arith, uint64_t old,
                                      uint64_t b, uint64_t c)
{
    switch (op) {
    case W_add:
        switch (type) {
        case W_f32:
            return f32_add((uint32_t)old, (uint32_t)b, PL_RN, arith == PL_ATOMIC_GLOBAL, false);
        case W_f64:
            if ((arith == PL_ATOMIC_GLOBAL || arith == PL_ATOMIC_BULK) &&
                (pl_atomic_nan64(b) || pl_atomic_nan64(old)))
                return pl_atomic_nan64(b) ? b : old;
            return arith == PL_ATOMIC_GENERIC ? f64_add(b, old, PL_RN) : f64_add(old, b, PL_RN);
        case W_f16: return f16_add((uint16_t)old, (uint16_t)b, false, false);
        case W_bf16: return bf16_add((uint16_t)old, (uint16_t)b);
        case W_f16x2: return f16x2_add((uint32_t)old, (uint32_t)b, false, false);
        case W_bf16x2: return bf16x2_add((uint32_t)old, (uint32_t)b);
        default: return old + b;
        }
    case W_and: return old & b;
    case W_or: return old | b;
    case W_xor: return old ^ b;
    case W_exch: return b;
    case W_cas: return old == b ? c : old;
    case W_inc: return (uint32_t)old >= (uint32_t)b ? 0 : old + 1;
    case W_dec: return old == 0 || (uint32_t)old > (uint32_t)b ? b : old - 1;
    case W_min:
        if (pl_type_kind((pl_word)type) == 'f') return pl_atomic_smaller(type, old, b);
        return type == W_s32   ? (uint64_t)((int32_t)old < (int32_t)b ? old : b)
               : type == W_s64 ? ((int64_t)old < (int64_t)b ? old : b)
               : old < b       ? old
                               : b;
    case W_max:
        if (pl_type_kind((pl_word)type) == 'f') return pl_atomic_larger(type, old, b);
        return type == W_s32   ? (uint64_t)((int32_t)old > (int32_t)b ? old : b)
               : type == W_s64 ? ((int64_t)old > (int64_t)b ? old : b)
               : old > b       ? old
                               : b;
    default: return old;
    }
}

#endif
