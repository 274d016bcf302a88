/* shared_layout.h - layout of shared variables in each kernel. For ptx/lower/assemble.c. */
#ifndef PL_PTX_LOWER_SHARED_LAYOUT_H
#define PL_PTX_LOWER_SHARED_LAYOUT_H

#include "isa/program/program.h"
#include "ptx/ast.h"

typedef struct pl_shared_place {
    uint32_t var; /* module variable */
    uint64_t offset;
} pl_shared_place;

typedef struct pl_shared_plan {
    uint32_t *home;    /* by function: its only kernel; PL_NO_HOME: none, or several */
    uint64_t *dynamic; /* by function: start of unsized arrays */
    struct pl_shared_places {
        pl_shared_place *at;
        size_t n, cap;
    } * places; /* by kernel, ordered by variable */
} pl_shared_plan;

#define PL_NO_HOME UINT32_MAX

/* Assigns offsets to the shared variables of a module, and the size of its shared memory
 * (static_shared) to every kernel. Reports kernels that exceed the limit. Returns false when out of
 * memory. */
bool pl_place_shared(const pl_ast *ast, pl_program *p, pl_arena *scratch, pl_shared_plan *out);

/* The offset of a variable as seen by a function. */
uint64_t pl_shared_offset(const pl_shared_plan *s, const pl_func *f, const pl_var *v);

/* Assigns offsets to the shared variables of a kernel that uses no others and calls nothing: the
 * same that pl_place_shared would assign. */
void pl_place_own_shared(pl_func *f);

#endif
