/* counters.h - from the sums of a launch to named metrics. */
#ifndef PL_EMU_SM_COUNTERS_H
#define PL_EMU_SM_COUNTERS_H

#include "emu/sm/sm.h"
#include "emu/sm/timing.h"

/* Fills out->counter (and the instruction sums) with Nsight Compute's names where it has one. */
void pl_counters(pl_timing_result *out, const pl_machine *m, const pl_grid *g, const pl_sm *sm, const pl_memsys *mem, uint64_t cycles);

#endif
