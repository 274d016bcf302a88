/* assemble.h - from a checked module to a machine program, by several host threads. */
#ifndef PL_PTX_LOWER_ASSEMBLE_H
#define PL_PTX_LOWER_ASSEMBLE_H

#include "isa/program/program.h"
#include "ptx/ast.h"
#include "ptx/lower/lower.h"

typedef struct pl_assemble_options {
    uint32_t lanes;   /* of a warp */
    int opt_level;    /* 0: one machine instruction for each PTX instruction */
    const char *text; /* the PTX, kept by reference for listings; may be NULL */
    size_t text_bytes;
    const pl_lower_source *source; /* the modules, in the order of the text; kept by reference */
    size_t sources;
    pl_pass_options *passes; /* kept by reference; may be NULL */
    uint32_t threads; /* host threads that share the functions; the program does not depend on them.
                         0: one */
} pl_assemble_options;

typedef struct pl_assembly pl_assembly;

/* What only the whole module shows: reports kernels that have more shared memory than fits. For a
 * module that is not assembled. */
pl_status pl_assembly_check(const pl_ast *ast);

/* NULL: out of memory. */
pl_assembly *pl_assembly_open(const pl_assemble_options *o);
/* While the only module is read: another thread may begin with a function that is complete, if it
 * asks nothing of the rest of the module. */
void pl_assembly_begin(pl_assembly *x, const pl_ast *ast, pl_func *f);
/* Makes the machine program of a module without errors. Forms that cannot be executed are reported
 * as E0801 errors (PL_UNSUPPORTED). *out owns its own arena; close it with
 * pl_arena_close((*out)->arena). */
pl_status pl_assembly_finish(pl_assembly *x, const pl_ast *ast, pl_program **out);
void pl_assembly_close(pl_assembly *x); /* NULL is allowed */

#endif
