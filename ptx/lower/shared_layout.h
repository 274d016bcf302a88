/* shared_layout.h - where shared variables lie in each kernel. For ptx/lower/assemble.c. */
#ifndef PL_PTX_LOWER_SHARED_LAYOUT_H
#define PL_PTX_LOWER_SHARED_LAYOUT_H

#include "isa/program/program.h"
#include "ptx/ast.h"

typedef struct pl_shared_place {
    uint32_t var; /* of the module */
    uint64_t offset;
} pl_shared_place;

typedef struct pl_shared_plan {
    uint32_t *home; /* by function: the one kernel that executes it; PL_NO_HOME: none, or several */
    uint64_t *dynamic; /* by function: where unsized arrays start */
    struct pl_shared_places {
        pl_shared_place *at;
        size_t n, cap;
    } * places; /* by kernel, in the order of the variables */
} pl_shared_plan;

#define PL_NO_HOME UINT32_MAX

/* Gives the shared variables of a module their places, and every kernel the size of its shared
 * memory (static_shared). Reports kernels that have more than fits. False: out of memory. */
bool pl_place_shared(const pl_ast *ast, pl_program *p, pl_arena *scratch, pl_shared_plan *out);

/* Where a variable lies for a function. */
uint64_t pl_shared_offset(const pl_shared_plan *s, const pl_func *f, const pl_var *v);

/* Gives the shared variables of a kernel that uses no others, and calls nothing, their places:
 * those that pl_place_shared would give them. */
void pl_place_own_shared(pl_func *f);

#endif
