/* compile_function.h - a function compiled apart from the others of its program, and how it is
 * joined to the program.
 *
 * A compile unit is a program with the code of one function, which begins at instruction 0. It
 * shares functions and variables with the whole program: what passes ask of other functions
 * (linked, name, system) is settled before. So several host threads can compile several units.
 * Units are joined in the order of the functions: the program does not depend on which was ready
 * first. */
#ifndef PL_COMPILER_COMPILE_FUNCTION_H
#define PL_COMPILER_COMPILE_FUNCTION_H

#include "base/status.h"
#include "isa/program/program.h"

/* Makes *part an empty part that takes its memory from `arena`. before: the program while it has no
 * code. */
void pl_compile_unit_start(pl_program *part, const pl_program *before, pl_arena *arena,
                           pl_plan_cache *plans);
/* After a function with more instructions working memory is given back, not kept for the next. */
enum { PL_COMPILE_UNIT_LARGE = 1 << 14 };
/* Copies what a finished part holds to `arena`, where it waits until the functions before it are
 * there. */
void pl_compile_unit_keep(pl_program *part, pl_prog_func *f, pl_arena *arena);
/* Puts a finished part after the code that the program has. */
void pl_compile_unit_join(pl_program *p, pl_prog_func *f, const pl_program *part);

#endif
