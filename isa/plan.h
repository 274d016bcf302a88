/* plan.h - pl_insn_uses for passes that spend their time in it: written out in line around the visiting function.
 *
 * A plan says which operands of an instruction name registers, how wide they are and how they are used: all that does not differ between
 * instructions of one form with the same modifiers. */
#ifndef PL_ISA_PLAN_H
#define PL_ISA_PLAN_H

#include "isa/operands.h"

/* One operand that names registers. */
typedef struct pl_plan_use {
    uint8_t operand, use, rows;
    uint16_t count; /* of a vector, 0: a scalar */
} pl_plan_use;

typedef struct pl_plan {
    uint16_t form;
    uint8_t flags, memory; /* of the instruction, as far as they matter */
    uint16_t mods[PL_MAX_MODS];
    bool made, calls;
    uint8_t n;
    pl_plan_use use[PL_INLINE_OPERANDS];
} pl_plan;

/* The plan for an instruction: one that the program keeps, or one that is made in *own. */
const pl_plan *pl_plan_of(const pl_program *p, const pl_insn *i, pl_plan *own);
/* What a call passes and receives in registers. */
void pl_call_uses(pl_program *p, const pl_insn *i, pl_use_fn *fn, void *ctx);

static inline void pl_plan_walk(pl_program *p, pl_insn *i, const pl_plan *t, pl_use_fn *fn, void *ctx)
{
    if (i->guard != PL_PT)
        fn(ctx, &i->guard, 1, PL_USE_READ | PL_USE_PRED);
    for (const pl_plan_use *u = t->use, *end = u + t->n; u < end; u++) {
        uint32_t *op = &i->op[u->operand];
        if (*op == UINT32_MAX)
            continue;
        if (!u->count)
            fn(ctx, op, u->rows, u->use);
        for (unsigned e = 0; e < u->count; e++)
            fn(ctx, &p->pool.at[i->more + *op + e], u->rows, u->use);
    }
    if (t->calls)
        pl_call_uses(p, i, fn, ctx);
}

static inline void pl_insn_uses_here(pl_program *p, pl_insn *i, pl_use_fn *fn, void *ctx)
{
    pl_plan own;
    pl_plan_walk(p, i, pl_plan_of(p, i, &own), fn, ctx);
}

/* Two walks over one instruction. */
static inline void pl_insn_uses_twice(pl_program *p, pl_insn *i, pl_use_fn *first, pl_use_fn *second, void *ctx)
{
    pl_plan own;
    const pl_plan *t = pl_plan_of(p, i, &own);
    pl_plan_walk(p, i, t, first, ctx);
    pl_plan_walk(p, i, t, second, ctx);
}

#endif
