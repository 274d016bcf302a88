/* find_reconvergence.h - marks where diverged lanes reconverge. */
#ifndef PL_COMPILER_CODEGEN_FIND_RECONVERGENCE_H
#define PL_COMPILER_CODEGEN_FIND_RECONVERGENCE_H

#include "base/status.h"
#include "isa/program/program.h"

/* Sets reconv of every branch that may diverge to the start of its immediate post-dominator, and
 * marks the reconvergence points (PL_IF_SYNC_POINT) of function f. scratch is used for temporary
 * memory. */
pl_status pl_find_reconvergence(pl_program *p, const pl_prog_func *f, pl_arena *scratch);

#endif
