/* ir_internal.h - declarations shared by the implementation of the block graph. Private to
 * compiler/ir/. */
#ifndef PL_COMPILER_IR_IR_INTERNAL_H
#define PL_COMPILER_IR_IR_INTERNAL_H

#include "compiler/ir/ir.h"
#include "compiler/analysis/loop_carried.h"
#include "isa/program/operand_plan.h"
#include "isa/program/canonicalize.h"

typedef struct counting {
    pl_ir *x;
    uint32_t block, at;
    bool reachable, guarded; /* of the block; of the instruction */
    pl_exposed_regs exposed_regs;
} counting;

/* ir.c */
pl_ir_block pl_ir_empty_block(pl_insn *code);

#endif
