/* variables.h - from the variables of a checked module to those of a machine program. For ptx/lower.c. */
#ifndef PL_PTX_VARIABLES_H
#define PL_PTX_VARIABLES_H

#include "isa/program.h"
#include "ptx/ast.h"

static inline uint64_t pl_align_up(uint64_t x, uint64_t a)
{
    return a > 1 ? (x + a - 1) / a * a : x;
}

/* Places shared variables: those of one kernel start at 0 for that kernel; those that several kernels use come first in all.
 * dynamic[k] becomes where unsized arrays start in function k. False: out of memory. */
bool pl_place_shared(const pl_ast *ast, pl_program *p, pl_arena *scratch, uint64_t *dynamic);

/* Places .const variables in the constant bank, and reports the first one that does not fit. Memory that ran out is the arena's error. */
void pl_place_constants(const pl_ast *ast, pl_arena *arena);

/* Adds a variable to the program. */
void pl_lower_variable(const pl_var *v, pl_program *p);

#endif
