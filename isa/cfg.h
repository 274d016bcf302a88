/* cfg.h - control flow of a machine program: where parted lanes meet again. */
#ifndef PL_ISA_CFG_H
#define PL_ISA_CFG_H

#include "base/status.h"
#include "isa/program.h"

/* Fills reconv of every branch that may part a warp with the start of its immediate post-dominator, and marks the meeting points
 * (PL_IF_SYNC_POINT) of function f. scratch is used for temporary memory. */
pl_status pl_cfg_reconverge(pl_program *p, const pl_prog_func *f, pl_arena *scratch);

#endif
