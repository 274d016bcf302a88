/* link.h - several checked modules become one. */
#ifndef PL_PTX_LOWER_LINK_H
#define PL_PTX_LOWER_LINK_H

#include "ptx/ast.h"

/* True for a function that the driver gives to every program, so that no module defines it. */
typedef bool pl_provided_fn(const char *name);

/* Joins n >= 1 modules: every .extern name finds its definition, of weak and common ones a single
 * one stays, and names without linkage remain private to their module. The modules are changed:
 * uses point at the definitions that stay. Reports what is defined twice, differently or not at all
 * (PL_INVALID). The result lives in the arena and shares the modules' trees. */
pl_status pl_ptx_link(pl_arena *arena, pl_diags *diags, pl_ast *const *module, size_t n,
                      pl_provided_fn *provided, pl_ast **out);
/* The same for parts of a program, before all are there: reports what is defined twice or
 * differently. The modules cannot be linked afterwards. */
pl_status pl_ptx_fit(pl_arena *arena, pl_diags *diags, pl_ast *const *module, size_t n);

#endif
