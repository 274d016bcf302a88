/* ir_verify.h - checks the invariants of a function between passes. For --verify-ir, tests and
 * sanitizer builds. */
#ifndef PL_COMPILER_IR_IR_VERIFY_H
#define PL_COMPILER_IR_IR_VERIFY_H

#include "compiler/ir/ir.h"

typedef struct pl_ir_verifier {
    /* On some path, a register or predicate may be read while undefined. PTX permits this, so a
     * function that has such reads on input is not checked again; in any other function a pass must
     * not introduce one. */
    bool undefined_reads;
} pl_ir_verifier;

/* Checks the input of the first pass. Returns PL_NOMEM when out of memory. */
pl_status pl_ir_verify_open(pl_ir_verifier *v, pl_ir *x);
/* Checks the result of a pass: structure of blocks and edges, forms, operands within the frame, no
 * writes of constants, no new undefined reads. may_undefine: the pass may introduce reads of
 * undefined registers, as when it promotes memory to registers. PL_INVALID: `why` describes the
 * violation. Uses x->tmp. */
pl_status pl_ir_verify(pl_ir_verifier *v, pl_ir *x, bool may_undefine, char *why, size_t size);

#endif
