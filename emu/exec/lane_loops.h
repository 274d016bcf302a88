/* lane_loops.h - building blocks of the generated lane loops: rows, masks, blends, and the helpers
 * that their expressions call.
 *
 * This header is included by gen_exec_*.c, which isagen generates from the instruction table, and
 * by the warp-level files op_*.c. All of them are compiled once per vector extension of the host
 * (PL_EXEC_SUFFIX is _base, _avx2 or _avx512), so exported names go through PL_X. An instruction
 * computes all lanes and blends the result by the execution mask. Measured on an AVX2 host, this is
 * three times faster than testing each lane, and as fast as a separate loop for full masks. */
#ifndef PL_EMU_EXEC_LANE_LOOPS_H
#define PL_EMU_EXEC_LANE_LOOPS_H

#include "emu/exec/exec.h"
#include "emu/exec/num/modifier_words.h"

/* A 128-bit register of one lane. */
typedef struct pl_u128 {
    uint64_t lo, hi;
} pl_u128;

#define PL_CAT_(a, b) a##b
#define PL_CAT(a, b)  PL_CAT_(a, b)
#ifndef PL_EXEC_SUFFIX
#define PL_EXEC_SUFFIX _base
#endif
#define PL_X(name) PL_CAT(name, PL_EXEC_SUFFIX)

#include "isa/gen_names.h"
#include "isa/program/cache_policy.h"

/* An absent optional operand. */
#define PL_NO_OPERAND UINT32_MAX

/* Index of the specialised function of a form: sum of choice(slot[k]) * product of the number of
 * choices of the slots before k. */
typedef struct pl_exec_form {
    pl_exec_fn *const *fn; /* NULL: not executed */
    uint8_t nspec;
    uint8_t slot[6];
} pl_exec_form;

extern const pl_exec_form pl_exec_forms_base[];
extern const pl_exec_form pl_exec_forms_avx2[];
extern const pl_exec_form pl_exec_forms_avx512[];

static inline uint32_t *pl_row32(const pl_warp *w, uint32_t row)
{
    return (uint32_t *)__builtin_assume_aligned(w->regs + (size_t)row * PL_LANES, 64);
}

static inline uint64_t *pl_row64(const pl_warp *w, uint32_t row)
{
    return (uint64_t *)(void *)pl_row32(w, row);
}

/* The lane with which an atomic operation of the warp begins: any, in a random schedule, since
 * hardware specifies no order. It depends on the state before the instruction only. */
static inline unsigned pl_initial_lane(const pl_warp *w)
{
    const pl_grid *g = w->grid->head;
    if (!g->random) return 0;
    uint64_t z = g->rng + w->executed * 0x9e3779b97f4a7c15ull + w->index;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    return (unsigned)(z >> 59);
}
/* Lanes in that order: those of bits 0, 1, ... of the mask are lanes `first`, `first` + 1, ... */
static inline uint32_t pl_lanes_from(uint32_t lanes, unsigned first)
{
    return lanes >> first | lanes << (PL_LANES - first) % PL_LANES;
}
static inline unsigned pl_lane_from(uint32_t mask, unsigned first)
{
    return ((unsigned)__builtin_ctz(mask) + first) % PL_LANES;
}

/* Entry k of an instruction's additional operand rows. */
static inline uint32_t pl_more(const pl_warp *w, const pl_insn *i, uint32_t k)
{
    return w->program->pool.at[i->extra_ops + k];
}

/* Predicate operand k as a mask, negation applied. */
static inline uint32_t pl_pred_read(const pl_warp *w, const pl_insn *i, unsigned k)
{
    uint32_t p = i->op[k] == PL_NO_OPERAND ? UINT32_MAX : w->pred[i->op[k]];
    return (i->neg >> k) & 1u ? ~p : p;
}

static inline void pl_pred_write(pl_warp *w, uint32_t p, uint32_t value)
{
    if (p != PL_NO_OPERAND) w->pred[p] = (w->pred[p] & ~w->exec) | (value & w->exec);
}

/* Inactive lanes keep their value. */
PL_LANE_INLINE void pl_blend32(const pl_warp *w, uint32_t *restrict d, const uint32_t *restrict v)
{
    const uint32_t *restrict m = w->mask;
    for (unsigned l = 0; l < PL_LANES; l++) d[l] = (v[l] & m[l]) | (d[l] & ~m[l]);
}

PL_LANE_INLINE void pl_blend64(const pl_warp *w, uint64_t *restrict d, const uint64_t *restrict v)
{
    const uint32_t *restrict m = w->mask;
    for (unsigned l = 0; l < PL_LANES; l++) {
        uint64_t k = (uint64_t)(int64_t)(int32_t)m[l];
        d[l] = (v[l] & k) | (d[l] & ~k);
    }
}

static inline void pl_blend128(const pl_warp *w, uint64_t *d, const uint64_t *v)
{
    pl_blend64(w, d, v);
    pl_blend64(w, d + PL_LANES, v + PL_LANES);
}

#endif
