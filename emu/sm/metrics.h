/* metrics.h - from the sums of a launch to named metrics. */
#ifndef PL_EMU_SM_METRICS_H
#define PL_EMU_SM_METRICS_H

#include "emu/sm/sm.h"
#include "emu/sm/timing.h"

/* What the grids of a launch have done so far. */
struct pl_totals {
    const pl_machine *m;
    pl_sm_stat *sm; /* by SM */
    struct pl_sub_total {
        /* eligible: warps, summed over cycles; active: cycles with a warp of its own. */
        uint64_t issues, eligible, active;
    } * sub; /* by sub-core */
    pl_memsys_stat mem;
    uint64_t dram_read, dram_written; /* sectors */
    uint64_t code_read;               /* sectors, by the launches themselves */
    uint64_t cycles, grids;
    /* Of the first one; cluster: blocks of one, 0 without. */
    uint32_t grid[3], block[3], barriers, cluster;
    pl_occupancy occupancy;
};

/* Adds a row of grids that took so many cycles, `head` the first of them. False: out of memory. */
bool pl_totals_add(pl_totals *t, const pl_grid *head, const pl_occupancy *o, const pl_sm *sm,
                   const pl_memsys *mem, uint64_t cycles);
/* Fills out->counter (and the instruction sums) with Nsight Compute's names where it has one. */
void pl_metrics_of(pl_timing_result *out, const pl_totals *all);

#endif
