/* compile_function.h - compiles one function independently of the rest of its program, and joins
 * the result to the program.
 *
 * A compile unit is a program with the code of one function, which begins at instruction 0. It
 * shares functions and variables with the whole program: the properties of other functions that
 * passes query (linked, name, system) are fixed before compilation starts. So several host threads
 * can compile several units concurrently. Units are joined in the order of the functions, so the
 * program does not depend on the order in which they finish. */
#ifndef PL_COMPILER_COMPILE_FUNCTION_H
#define PL_COMPILER_COMPILE_FUNCTION_H

#include "base/status.h"
#include "isa/program/program.h"

/* Initialises *part as an empty part that allocates from `arena`. before: the program before it has
 * any code. */
void pl_compile_unit_start(pl_program *part, const pl_program *before, pl_arena *arena,
                           pl_plan_cache *plans);
/* After a function with more instructions, working memory is freed rather than kept for the next
 * function. */
enum { PL_COMPILE_UNIT_LARGE = 1 << 14 };
/* Copies the contents of a finished part to `arena`, where they wait until the preceding functions
 * have been joined. */
void pl_compile_unit_keep(pl_program *part, pl_prog_func *f, pl_arena *arena);
/* Appends a finished part to the code of the program. */
void pl_compile_unit_join(pl_program *p, pl_prog_func *f, const pl_program *part);

#endif
