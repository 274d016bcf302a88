/* insn_cost.h - how many instructions ptxas counts for one where it weighs a branch against what
 * stands after it. */
#ifndef PL_COMPILER_ANALYSIS_INSN_COST_H
#define PL_COMPILER_ANALYSIS_INSN_COST_H

#include "compiler/ir/ir.h"

enum { PL_INSN_COST_MAX = 20 }; /* no body with more is guarded, so what counts more never is */

unsigned pl_insn_cost(const pl_ir *x, const pl_insn *i);
/* The number that needs a register there, as the instruction holds another already or none;
 * PL_IR_NONE. */
uint32_t pl_insn_constant_in_register(const pl_ir *x, const pl_insn *i);

#endif
