/* simt_splits.h - the splits of a warp, for warp.c, which runs them. */
#ifndef PL_EMU_EXEC_SIMT_SPLITS_H
#define PL_EMU_EXEC_SIMT_SPLITS_H

#include "emu/exec/exec.h"

/* Sets the executing lanes, as a bit mask and as a row. */
static inline void pl_warp_set_exec(pl_warp *w, uint32_t exec)
{
    w->exec = exec;
    if (w->mask_bits == exec) return;
    w->mask_bits = exec;
    static const uint32_t bit[PL_LANES] = {
        1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
        1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
        1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
        1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31};
    for (unsigned l = 0; l < PL_LANES; l++) w->mask[l] = (exec & bit[l]) == bit[l] ? UINT32_MAX : 0;
}

/* Writes back the cached state of the current split. */
static inline void pl_split_save(pl_warp *w)
{
    w->split[w->current].pc = w->pc;
    w->split[w->current].mask = w->active;
}

/* Splits that wait at reconvergence points continue alone. False: there were none. */
bool pl_split_release_waiting(pl_warp *w);
/* The split that continues after a YIELD absorbs those at the same instruction. */
void pl_split_merge_at_yield(pl_warp *w);
/* If `pc` is the reconvergence point of the current split's frame, the split waits or merges.
 * False: it must wait. */
bool pl_split_converge(pl_warp *w);
/* The given lanes of the current split exit; pl_warp_exit in barrier.c also updates the block. */
void pl_split_exit(pl_warp *w, pl_lanes lanes);

#endif
