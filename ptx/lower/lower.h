/* lower.h - lowers a checked function to machine instructions, one for each PTX instruction. For
 * ptx/lower/assemble.c. */
#ifndef PL_PTX_LOWER_LOWER_H
#define PL_PTX_LOWER_LOWER_H

#include "isa/program/program.h"
#include "ptx/ast.h"
#include "ptx/lower/shared_layout.h"

/* A module of the program: its file in the diagnostics, and the number of lines that precede it in
 * the program's text. */
typedef struct pl_lower_source {
    const char *name;
    uint32_t file, lines_before;
} pl_lower_source;

/* Data shared by all functions. */
typedef struct pl_lower_module {
    const pl_lower_source *source; /* the modules, in text order */
    size_t sources;
    const pl_shared_plan *shared; /* offsets of shared variables not private to a kernel */
    uint64_t open_bytes;          /* of a frame for an unsized parameter (pl_ast) */
} pl_lower_module;

/* Writes a function's code to `part`, which is empty, and the data of its frame to *out. *fixed:
 * the first row that register allocation must not change. Returns false if a form cannot be
 * executed. Out of memory is recorded in the arenas. */
bool pl_lower_function(const pl_lower_module *m, const pl_func *f, pl_arena *scratch,
                       pl_program *part, pl_prog_func *out, uint32_t *fixed);

#endif
