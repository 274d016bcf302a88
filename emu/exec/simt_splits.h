/* simt_splits.h - the splits of a warp, for warp.c, which runs them. */
#ifndef PL_EMU_EXEC_SIMT_SPLITS_H
#define PL_EMU_EXEC_SIMT_SPLITS_H

#include "emu/exec/exec.h"

/* The lanes that execute, as a mask and as a row. */
static inline void pl_warp_set_exec(pl_warp *w, uint32_t exec)
{
    w->exec = exec;
    if (w->wide == exec) return;
    w->wide = exec;
    for (unsigned l = 0; l < PL_LANES; l++) w->mask[l] = 0u - ((exec >> l) & 1u);
}

/* Writes the cached state of the current split back. */
static inline void pl_split_save(pl_warp *w)
{
    w->split[w->current].pc = w->pc;
    w->split[w->current].mask = w->active;
}

/* Splits that wait at reconvergence points go on alone. False: there were none. */
bool pl_split_release_waiting(pl_warp *w);
/* The split that continues after a YIELD takes those along that are at the same instruction. */
void pl_split_gather(pl_warp *w);
/* If `pc` is the reconvergence point of the current split's frame, it waits or merges. False: it
 * must wait. */
bool pl_split_converge(pl_warp *w);
/* The given lanes of the current split end; barrier.c: pl_warp_exit tells the block. */
void pl_split_exit(pl_warp *w, pl_lanes lanes);

#endif
