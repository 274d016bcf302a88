/* wgmma_hazards.h - accesses to registers of wgmma that PTX leaves undefined on some way through a
 * function: between wgmma.mma_async and the wgmma.wait_group for it, or between wgmma.fence and the
 * wgmma.mma_async. The checkers look whether a launch goes such a way (check/accumulators.c).
 *
 * It is asked before any pass: afterwards registers have other names and copies are gone. */
#ifndef PL_COMPILER_ANALYSIS_WGMMA_HAZARDS_H
#define PL_COMPILER_ANALYSIS_WGMMA_HAZARDS_H

#include "isa/program/program.h"

/* Adds what is found to the function's list. */
void pl_find_wgmma_hazards(pl_program *part, pl_prog_func *f, pl_arena *scratch);

#endif
