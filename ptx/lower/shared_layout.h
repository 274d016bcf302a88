/* shared_layout.h - layout of shared variables in each kernel. For ptx/lower/assemble.c. */
#ifndef PL_PTX_LOWER_SHARED_LAYOUT_H
#define PL_PTX_LOWER_SHARED_LAYOUT_H

#include "isa/program/program.h"
#include "ptx/ast.h"

typedef struct pl_shared_location {
    uint32_t var; /* module variable */
    uint64_t offset;
} pl_shared_location;

typedef struct pl_shared_plan {
    uint32_t *sole_kernel; /* by function: its only kernel; PL_NO_SOLE_KERNEL: none, or several */
    uint64_t *dynamic;     /* by function: start of unsized arrays */
    struct pl_shared_locations {
        pl_shared_location *at;
        size_t n, cap;
    } * locations; /* by kernel, ordered by variable */
} pl_shared_plan;

#define PL_NO_SOLE_KERNEL UINT32_MAX

/* Assigns offsets to the shared variables of a module, and the size of its shared memory
 * (static_shared) to every kernel. Reports kernels that exceed the limit. Returns false when out of
 * memory. */
bool pl_layout_shared(const pl_ast *ast, pl_program *p, pl_arena *scratch, pl_shared_plan *out);

/* The offset of a variable as seen by a function. */
uint64_t pl_shared_offset(const pl_shared_plan *s, const pl_func *f, const pl_var *v);

/* Assigns offsets to the shared variables of a kernel that uses no others and calls nothing: the
 * same that pl_layout_shared would assign. */
void pl_layout_own_shared(pl_func *f);

#endif
