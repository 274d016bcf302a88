/* ir_print.h - prints a function as text, for --print-after. */
#ifndef PL_COMPILER_IR_IR_PRINT_H
#define PL_COMPILER_IR_IR_PRINT_H

#include "compiler/ir/ir.h"

typedef struct pl_ir_text {
    char *at; /* NULL: out of memory */
    size_t n, cap;
} pl_ir_text;

/* The block graph: each block with its predecessors, its instructions with virtual registers and
 * PTX lines, and its fallthrough block. Allocated from x->tmp. */
pl_ir_text pl_ir_print(const pl_ir *x, const char *pass);
/* The instruction list, with code indices. Allocated from `a`. */
pl_ir_text pl_code_print(const pl_program *p, const pl_prog_func *f, const char *pass, pl_arena *a);

#endif
