/* warp_frame.c - locates the registers of the current split: by its call frame and the current half
 * of the warp. */
#include "emu/exec/simt_splits.h"

void pl_warp_set_exec_mask(pl_warp *w, uint32_t exec)
{
    pl_warp_set_exec(w, exec);
}

uint32_t *pl_warp_frame(const pl_warp *w, const pl_simt_split *s)
{
    return w->register_file + ((size_t)w->half * w->file_rows + w->call[s->call].row) * PL_LANES;
}

uint32_t *pl_warp_preds(const pl_warp *w, const pl_simt_split *s)
{
    return w->predicate_file + (size_t)w->half * w->pred_rows + w->call[s->call].pred;
}

void pl_warp_set_half(pl_warp *w, unsigned h)
{
    if (h == w->half) return;
    w->other_carry[w->half] = w->carry;
    w->half = (uint8_t)h;
    w->carry = w->other_carry[h];
    w->regs = pl_warp_frame(w, &w->split[w->current]);
    w->pred = pl_warp_preds(w, &w->split[w->current]);
}

pl_call_frame *pl_warp_current_call(pl_warp *w)
{
    return &w->call[w->split[w->current].call];
}
