/* passes.h - declares the passes of passes.def that work on the block graph of a function (ir.h).
 * For compiler/ only.
 *
 * Each preserves what the function computes, bit for bit. Returns false when out of memory. */
#ifndef PL_COMPILER_PASSES_H
#define PL_COMPILER_PASSES_H

#include "compiler/ir/ir.h"

#define CODE_PASS(name, level, file, summary)
#define CODE_PASS_REQUIRED(name, level, file, summary)
#define IR_PASS(name, file, summary)          bool pl_pass_##name(pl_ir *x);
#define IR_PASS_REQUIRED(name, file, summary) bool pl_pass_##name(pl_ir *x);
#define LAUNCH_PASS(name, file, summary)
#define NESTED_PASS(name, file, summary) bool pl_pass_##name(pl_ir *x);
#define AGAIN(name)
#include "compiler/passes.def"

/* predicate_select.c: true for a select of two constants that is read by one instruction. A sum
 * with such a select as an operand is not combined with another one. */
bool pl_select_counts_pred(const pl_ir *x, const pl_insn *s);
#endif
