/* operands.h - which register rows and predicates an instruction reads and writes, for any form of
 * the table. */
#ifndef PL_ISA_PROGRAM_OPERANDS_H
#define PL_ISA_PROGRAM_OPERANDS_H

#include "isa/program/program.h"

enum { PL_USE_READ = 1, PL_USE_WRITE = 2, PL_USE_PRED = 4 };

/* What passes ask of an instruction again and again, and form and modifiers decide: worked out
 * once, with its plan. */
enum {
    PL_TRAIT_PURE = 1 << 0,    /* nothing but its result depends on it, whatever its flags say */
    PL_TRAIT_INTEGER = 1 << 2, /* its first type is a plain integer of 32 or 64 bits, and it does
                                  not saturate or set the carry */
    PL_TRAIT_WIDE = 1 << 3,    /* of 64 */
    PL_TRAIT_SCALARS = 1 << 4, /* operands are constants and scalar registers; each register is read
                                  or written, not both */
    PL_TRAIT_REMOVABLE =
        1 << 5,       /* it may go when nobody reads what it writes, whatever its flags say */
    PL_TRAIT_TYPE = 6 /* from this bit on: its first type */
};
unsigned pl_traits_find(const pl_insn *i);
static inline unsigned pl_insn_traits(const pl_insn *i)
{
    return i->plan ? i->traits : pl_traits_find(i);
}

/* Called for each register operand: *row is its first row (or predicate number) and may be changed;
 * rows is how many it takes. */
typedef void pl_use_fn(void *ctx, uint32_t *row, unsigned rows, unsigned use);

/* Room for what pl_insn_uses has worked out; a program that has it (pl_program.plans) is walked
 * over faster. NULL: out of memory. */
pl_plan_cache *pl_plan_cache_new(pl_arena *a);

/* Visits guard, operands, vectors, and what a call passes and receives in registers. */
void pl_insn_uses(pl_program *p, pl_insn *i, pl_use_fn *fn, void *ctx);

#endif
