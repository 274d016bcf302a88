/* wgmma_hazards.h - finds accesses to wgmma registers that PTX leaves undefined on some path
 * through a function: between wgmma.mma_async and its wgmma.wait_group, or between wgmma.fence and
 * the wgmma.mma_async. The checkers determine whether a launch takes such a path
 * (check/wgmma_registers.c).
 *
 * It runs before all passes, since these rename registers and remove copies. */
#ifndef PL_COMPILER_ANALYSIS_WGMMA_HAZARDS_H
#define PL_COMPILER_ANALYSIS_WGMMA_HAZARDS_H

#include "isa/program/program.h"

/* Appends the hazards found to the function's list. */
void pl_find_wgmma_hazards(pl_program *part, pl_prog_func *f, pl_arena *scratch);

#endif
