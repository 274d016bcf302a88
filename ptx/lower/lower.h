/* lower.h - from a checked function to machine instructions, one for each PTX instruction. For
 * ptx/lower/assemble.c. */
#ifndef PL_PTX_LOWER_LOWER_H
#define PL_PTX_LOWER_LOWER_H

#include "isa/program/program.h"
#include "ptx/ast.h"
#include "ptx/lower/shared_layout.h"

/* A module of the program: its file in the diagnostics, and how many lines of the program's text
 * stand before its own. */
typedef struct pl_lower_source {
    const char *name;
    uint32_t file, lines_before;
} pl_lower_source;

/* What functions have in common. */
typedef struct pl_lower_module {
    const pl_lower_source *source; /* the modules, in the order of the text */
    size_t sources;
    const pl_shared_plan *shared; /* where shared variables lie that are not a kernel's own */
} pl_lower_module;

/* Writes a function's code to `part`, which is empty, and what is known of its frame to *out.
 * *fixed: the first row that register allocation leaves alone. False: a form cannot be executed.
 * Memory that ran out is the arenas' error. */
bool pl_lower_function(const pl_lower_module *m, const pl_func *f, pl_arena *scratch,
                       pl_program *part, pl_prog_func *out, uint32_t *fixed);

#endif
