/* constant_layout.h - converts the variables of a checked module to those of a machine program. For
 * ptx/lower/lower.c. */
#ifndef PL_PTX_LOWER_CONSTANT_LAYOUT_H
#define PL_PTX_LOWER_CONSTANT_LAYOUT_H

#include "isa/program/program.h"
#include "ptx/ast.h"

static inline uint64_t pl_align_up(uint64_t x, uint64_t a)
{
    return a > 1 ? (x + a - 1) / a * a : x;
}

/* Assigns offsets in the constant bank to .const variables, and reports the first one that does not
 * fit. Out of memory is recorded in the arena. */
void pl_layout_constants(const pl_ast *ast, pl_arena *arena);

/* Moves them apart as far as the bank has space, so that an index past the end of one is not in the
 * next. */
void pl_separate_constants(const pl_ast *ast, pl_arena *arena);

/* Adds a variable to the program. */
void pl_lower_variable(const pl_var *v, pl_program *p);

#endif
