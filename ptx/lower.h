/* lower.h - from a checked module to a machine program. */
#ifndef PL_PTX_LOWER_H
#define PL_PTX_LOWER_H

#include "isa/program.h"
#include "ptx/ast.h"

/* A module of the program: its file in the diagnostics, and how many lines of the program's text stand before its own. */
typedef struct pl_lower_source {
    const char *name;
    uint32_t file, lines_before;
} pl_lower_source;

typedef struct pl_lower_options {
    uint32_t lanes;   /* of a warp */
    int opt_level;    /* 0: one machine instruction for each PTX instruction */
    const char *text; /* the PTX, kept by reference for listings; may be NULL */
    size_t text_bytes;
    const pl_lower_source *source; /* the modules, in the order of the text */
    size_t sources;
    uint32_t threads; /* host threads that share the functions; the program does not depend on them. 0: one */
} pl_lower_options;

/* Makes the machine program of a module without errors. Forms that cannot be executed are reported as E0801 errors (PL_UNSUPPORTED).
 * *out owns its own arena; close it with pl_arena_close((*out)->arena). */
pl_status pl_lower(const pl_ast *ast, const pl_lower_options *o, pl_program **out);

#endif
