/* operands.h - which register rows and predicates an instruction reads and writes, for any form of the table. */
#ifndef PL_ISA_OPERANDS_H
#define PL_ISA_OPERANDS_H

#include "isa/program.h"

enum { PL_USE_READ = 1, PL_USE_WRITE = 2, PL_USE_PRED = 4 };

/* Called for each register operand: *row is its first row (or predicate number) and may be changed; rows is how many it takes. */
typedef void pl_use_fn(void *ctx, uint32_t *row, unsigned rows, unsigned use);

/* Room for what pl_insn_uses has worked out; a program that has it (pl_program.plans) is walked over faster. NULL: out of memory. */
pl_plans *pl_plans_new(pl_arena *a);

/* Visits guard, operands, vectors, and what a call passes and receives in registers. */
void pl_insn_uses(pl_program *p, pl_insn *i, pl_use_fn *fn, void *ctx);

#endif
