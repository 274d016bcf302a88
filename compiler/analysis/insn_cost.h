/* insn_cost.h - the instruction count of ptxas's cost model when it weighs a branch against
 * predicating the code after it. */
#ifndef PL_COMPILER_ANALYSIS_INSN_COST_H
#define PL_COMPILER_ANALYSIS_INSN_COST_H

#include "compiler/ir/ir.h"

enum { PL_INSN_COST_MAX = 20 }; /* a body that costs more is never predicated */

unsigned pl_insn_cost(const pl_ir *x, const pl_insn *i);
/* The constant that must be in a register for this instruction, because another operand is a
 * constant already or the instruction cannot encode one; PL_IR_NONE. */
uint32_t pl_insn_constant_in_register(const pl_ir *x, const pl_insn *i);

#endif
