/* functional.h - declarations shared by the files of functional mode. */
#ifndef PL_EMU_EXEC_FUNCTIONAL_H
#define PL_EMU_EXEC_FUNCTIONAL_H

#include "emu/exec/exec.h"

/* Instructions after which a block has run for so long that it may be waiting for others in a loop
 * that does more than poll: a fraction of a second. */
enum { PL_FIRST_BLOCK_SLICE = 1 << 23 };

/* Runs one time slice of every warp of a block. Returns the number of executed instructions;
 * *paused: its warps only polled. */
uint64_t pl_cta_run_round(pl_cta *c, bool *paused);

/* Called after a round in which the block only polled. True: it has been in this state before, and
 * no thread has changed memory since. */
bool pl_cta_recurs(pl_cta *c);

/* Blocks of a grid that have started and not ended, in the order of their numbers. */
typedef struct pl_live_blocks {
    pl_cta **at; /* space for at least pl_grid.max_resident blocks */
    size_t n;
} pl_live_blocks;

/* Runs blocks of a launch of one grid with several host threads, if that is permitted and the grid
 * is large enough, until all have ended or one of them waits for a later one. Blocks in *live have
 * started and run first. The caller runs the blocks that remain in *live and those that have not
 * started. PL_NOMEM, PL_INTERRUPTED: the launch has to end. */
pl_status pl_run_blocks_in_parallel(pl_grid *g, pl_live_blocks *live);

#endif
