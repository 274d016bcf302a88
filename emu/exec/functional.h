/* functional.h - what the files of functional mode share. */
#ifndef PL_EMU_EXEC_FUNCTIONAL_H
#define PL_EMU_EXEC_FUNCTIONAL_H

#include "emu/exec/exec.h"

/* One turn of every warp of a block. Returns the instructions executed; *paused: all that its warps
 * did was to poll. */
uint64_t pl_cta_turn(pl_cta *c, bool *paused);

/* After a turn in which the block only polled: it has been in this state before, and nobody has
 * changed memory since. */
bool pl_cta_recurs(pl_cta *c);

/* Blocks of a grid that have started and not ended; in the order of their numbers. */
typedef struct pl_live_blocks {
    pl_cta **at; /* room for pl_grid.max_resident of them at the least */
    size_t n;
} pl_live_blocks;

/* Runs blocks of a launch of one grid with several host threads, if it may have them and is large
 * enough, until all have ended or one of them waits for a later one. The blocks that are left in
 * *live and those that have not started are the caller's. PL_NOMEM, PL_INTERRUPTED: the launch has
 * to end. */
pl_status pl_run_blocks_in_parallel(pl_grid *g, pl_live_blocks *live);

#endif
