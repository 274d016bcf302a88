/* operands.h - register rows and predicates that an instruction reads and writes, for any form of
 * the table. */
#ifndef PL_ISA_PROGRAM_OPERANDS_H
#define PL_ISA_PROGRAM_OPERANDS_H

#include "isa/program/program.h"

enum { PL_USE_READ = 1, PL_USE_WRITE = 2, PL_USE_PRED = 4 };

/* Properties determined by form and modifiers that passes query frequently; computed once, with the
 * plan. */
enum {
    PL_TRAIT_PURE = 1 << 0,    /* its only effect is its result, regardless of its flags */
    PL_TRAIT_INTEGER = 1 << 2, /* its first type is a plain integer of 32 or 64 bits, and it neither
                                  saturates nor clamps (.relu) nor sets the carry */
    PL_TRAIT_WIDE = 1 << 3,    /* 64 bits */
    PL_TRAIT_SCALARS = 1 << 4, /* operands are constants and scalar registers; each register is
                                  either read or written */
    PL_TRAIT_REMOVABLE =
        1 << 5,       /* it may be removed when its results are dead, regardless of its flags */
    PL_TRAIT_TYPE = 6 /* from this bit on: its first type */
};
unsigned pl_traits_find(const pl_insn *i);
static inline unsigned pl_insn_traits(const pl_insn *i)
{
    return i->plan ? i->traits : pl_traits_find(i);
}

/* Allocates a cache for operand plans (operand_plan.h); a program with one (pl_program.plans) is
 * traversed faster. NULL: out of memory. */
pl_plan_cache *pl_plan_cache_new(pl_arena *a);

#endif
