/* link.h - links several checked modules into one. */
#ifndef PL_PTX_LOWER_LINK_H
#define PL_PTX_LOWER_LINK_H

#include "ptx/ast.h"

/* True for a function that the driver provides to every program, so that no module defines it. */
typedef bool pl_provided_fn(const char *name);

/* Links n >= 1 modules. Every .extern name is resolved to its definition, a single one of several
 * weak or common definitions is kept, and names without linkage remain private to their module. The
 * modules are modified: uses point at the kept definitions. Reports duplicate, conflicting and
 * missing definitions (PL_INVALID). With `define`, a variable of known size that no module defines
 * is defined, with a warning. The result is allocated in the arena and shares the modules' trees.
 */
pl_status pl_ptx_link(pl_arena *arena, pl_diags *diags, pl_ast *const *module, size_t n,
                      pl_provided_fn *provided, bool define, pl_ast **out);
/* The same for parts of a program before all are available: reports duplicate or conflicting
 * definitions. The modules cannot be linked afterwards. */
pl_status pl_ptx_check_linkable(pl_arena *arena, pl_diags *diags, pl_ast *const *module, size_t n);

#endif
