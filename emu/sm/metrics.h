/* metrics.h - derives named metrics from the sums of a launch. */
#ifndef PL_EMU_SM_METRICS_H
#define PL_EMU_SM_METRICS_H

#include "emu/sm/sm.h"
#include "emu/sm/timing.h"

/* Sums over the grids of a launch so far. */
struct pl_totals {
    const pl_machine *m;
    bool *used;     /* per SM: it has had blocks */
    pl_sm_stat *sm; /* per SM; undefined if it is not used */
    struct pl_sub_total {
        /* eligible: warps, summed over cycles; active: cycles with a resident warp. */
        uint64_t issues, eligible, active;
    } * sub; /* per sub-core; the same */
    pl_memsys_stat mem;
    uint64_t dram_read, dram_written; /* sectors */
    uint64_t page_fault_cycles; /* before the first block of a launch starts, and in which accesses
                                   waited for pages */
    uint64_t page_fault_batches, page_fault_bytes;
    uint64_t code_read; /* sectors, by the launches themselves */
    uint64_t cycles, grids;
    /* Of the first one; cluster: blocks per cluster, 0 without. */
    uint32_t grid[3], block[3], barriers, cluster;
    pl_occupancy occupancy;
};

struct pl_gpu_model;
/* Adds a chain of grids, which took `cycles` cycles on this GPU. False: out of memory. */
bool pl_totals_add(pl_totals *t, const struct pl_gpu_model *x, uint64_t cycles);
/* Fills out->counter (and the instruction sums); the names are those of Nsight Compute where it has
 * one. */
void pl_metrics_of(pl_timing_result *out, const pl_totals *all);

#endif
