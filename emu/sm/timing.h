/* timing.h - timing mode: runs a grid on a machine and reports its duration and utilisation.
 *
 * The semantics are those of emu/exec (one pl_warp_step for each instruction, at the cycle it
 * issues); the timing comes from this folder and from memmodel. Start at gpu.c (the block diagram:
 * block scheduler, SMs, memory system), then sm.h (an SM) and units.h (its parts, a file each).
 * doc/accuracy.md describes what is modelled, and its accuracy. */
#ifndef PL_EMU_SM_TIMING_H
#define PL_EMU_SM_TIMING_H

#include "base/event.h"
#include "emu/exec/exec.h"
#include "arch/machine.h"

enum { PL_MAX_COUNTERS = 160 };

typedef struct pl_timing_result {
    uint64_t cycles;    /* launch to last effect, called cycles_cold in results.tsv; consecutive
                           chains of grids add up */
    uint64_t sm_active; /* maximum over SMs of the cycles with resident warps */
    uint64_t page_fault_cycles; /* in which accesses waited for pages of managed memory */
    uint64_t inst_executed;     /* warp instructions as the hardware would count them */
    uint64_t thread_inst_executed;
    pl_occupancy occupancy;
    pl_counter counter[PL_MAX_COUNTERS];
    uint32_t ncounters;
} pl_timing_result;

/* Sums over the grids of a launch, including its device-side launches. */
typedef struct pl_totals pl_totals;
pl_totals *pl_totals_open(const pl_machine *m); /* NULL: out of memory */
void pl_totals_close(pl_totals *t);             /* NULL is allowed */

/* Address space of the timing model for a launch of `blocks` blocks, in bytes, beyond what is there
 * from earlier launches; some of it stays untouched. events: a listener receives memory events. */
uint64_t pl_timing_bytes(const pl_machine *m, uint64_t blocks, bool events,
                         const struct pl_launch_cache *cache);

/* Runs the grid and those of its chain (opened with pl_grid_open) to their end, or, if a time limit
 * expires, a grid to the end of those of its blocks that have started. Their counts are added to
 * *totals, and the result is that of everything so far. PL_OK; PL_FAULT with g->fault set (the
 * program failed, or no event can occur any more: then the fault reports what every component waits
 * for); PL_NOMEM; PL_INTERRUPTED. */
pl_status pl_timing_run(pl_grid *g, pl_totals *totals, pl_timing_result *out);

#endif
