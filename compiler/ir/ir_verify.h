/* ir_verify.h - is a function between two passes one that the next pass may get? For --verify-ir,
 * tests and sanitizer builds. */
#ifndef PL_COMPILER_IR_IR_VERIFY_H
#define PL_COMPILER_IR_IR_VERIFY_H

#include "compiler/ir/ir.h"

typedef struct pl_ir_verifier {
    /* Registers and predicates may be read without a value on some path. In PTX that is legal, so a
     * function that has such reads when it comes is not asked again; in any other a pass must not
     * make one. */
    bool undefined_reads;
} pl_ir_verifier;

/* Of a function as it comes. PL_NOMEM. */
pl_status pl_ir_verify_open(pl_ir_verifier *v, pl_ir *x);
/* After a pass: structure of blocks and edges, forms, operands within the frame, no writes of
 * constants, no new read without a value. may_undefine: the pass turns memory into registers, whose
 * first read may have no value. PL_INVALID: `why` says what is wrong. x->tmp is used. */
pl_status pl_ir_verify(pl_ir_verifier *v, pl_ir *x, bool may_undefine, char *why, size_t size);

#endif
