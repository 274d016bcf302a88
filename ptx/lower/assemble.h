/* assemble.h - from a checked module to a machine program, by several host threads. */
#ifndef PL_PTX_LOWER_ASSEMBLE_H
#define PL_PTX_LOWER_ASSEMBLE_H

#include "isa/program/program.h"
#include "ptx/ast.h"
#include "ptx/lower/lower.h"

typedef struct pl_assemble_options {
    uint32_t lanes;   /* per warp */
    int opt_level;    /* 0: one machine instruction for each PTX instruction */
    bool keep_loads;  /* see pl_load_options */
    const char *text; /* the PTX, kept by reference for listings, or NULL */
    size_t text_bytes;
    const pl_lower_source *source; /* the modules, in text order; kept by reference */
    size_t sources;
    pl_pass_options *passes; /* kept by reference, or NULL */
    uint32_t threads; /* host threads that share the functions; the program does not depend on their
                         number. 0: one */
} pl_assemble_options;

typedef struct pl_assembly pl_assembly;

/* The checks that require the whole module: reports kernels that exceed the shared memory limit.
 * For a module that is not assembled. */
pl_status pl_assembly_check(const pl_ast *ast);

/* Returns NULL when out of memory. */
pl_assembly *pl_assembly_open(const pl_assemble_options *o);
/* During parsing of a single module: another thread may start compiling a complete function that
 * does not depend on the rest of the module. */
void pl_assembly_begin(pl_assembly *x, const pl_ast *ast, pl_func *f);
/* Creates the machine program of a module without errors. Forms that cannot be executed are
 * reported as E0801 errors (PL_UNSUPPORTED). *out owns its arena; close it with
 * pl_arena_close((*out)->arena). */
pl_status pl_assembly_finish(pl_assembly *x, const pl_ast *ast, pl_program **out);
void pl_assembly_close(pl_assembly *x); /* NULL is allowed */

#endif
