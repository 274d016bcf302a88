/* op_barrier.c - bar, barrier, barrier.cluster and fences. The barriers themselves are in
 * barrier.c. */
#include "emu/exec/memory/address.h"

/* An operand that must be uniform: the first executing lane's value. */
static uint32_t first_lane_value(const pl_warp *w, uint32_t row)
{
    return row == PL_NO_OPERAND ? 0 : pl_row32(w, row)[__builtin_ctz(w->exec)];
}

/* True if all executing lanes have that value in the register. */
static bool is_uniform(pl_warp *w, uint32_t row, uint32_t value)
{
    const unsigned from = w->half;
    pl_lanes same = 0;
    if (row == PL_NO_OPERAND) return true;
    for (unsigned h = 0; h < w->halves; h++) {
        pl_warp_set_half(w, h);
        same |= pl_from_half(w, pl_lanes_with(pl_row32(w, row), value, pl_of_half(w, w->all)));
    }
    pl_warp_set_half(w, from);
    return same == w->all;
}

/* The lanes whose guard is true arrive; at an aligned barrier, all lanes of the warp (H100,
 * tests/data/sync: "guarded"). */
static void arrive(pl_warp *w, const pl_insn *i, unsigned k, bool counted, pl_arrival a)
{
    const uint32_t id = i->op[k], threads = counted ? i->op[k + 1] : PL_NO_OPERAND;
    a.id = first_lane_value(w, id);
    a.threads = first_lane_value(w, threads);
    a.lanes = pl_bar_is_aligned(i) ? w->active : w->all;
    if (!is_uniform(w, id, a.id) || !is_uniform(w, threads, a.threads)) {
        pl_fault(w, w->exec, 0, "CUDA_ERROR_ILLEGAL_INSTRUCTION",
                 "lanes of a warp execute a barrier instruction with different %s",
                 is_uniform(w, id, a.id) ? "numbers of threads" : "barriers");
        return;
    }
    pl_bar_arrive(w, &a);
}

void exec_bar_sync(pl_warp *w, const pl_insn *i)
{
    if (pl_bar_gathered(w, i)) arrive(w, i, 0, true, (pl_arrival){.wait = true});
}

void exec_bar_arrive(pl_warp *w, const pl_insn *i)
{
    if (pl_bar_gathered(w, i)) arrive(w, i, 0, true, (pl_arrival){0});
}

void exec_bar_red(pl_warp *w, const pl_insn *i, int op)
{
    unsigned c = pl_forms[i->form].noperands - 1u;
    (void)op;
    if (!pl_bar_gathered(w, i)) return;
    const unsigned from = w->half;
    pl_lanes value = 0;
    for (unsigned h = 0; h < w->halves; h++) {
        pl_warp_set_half(w, h);
        value |= pl_from_half(w, pl_pred_read(w, i, c));
    }
    pl_warp_set_half(w, from);
    arrive(w, i, 1, c == 3, (pl_arrival){.wait = true, .reduces = true, .value = value});
}

void exec_bar_warp(pl_warp *w, const pl_insn *i)
{
    if (pl_warp_split_by_mask(w, i, 0)) return;
    uint32_t mask = first_lane_value(w, i->op[0]);
    pl_warp_note_undefined(w, mask);
    pl_warp_sync(w, mask);
}

void exec_cluster_arrive(pl_warp *w, const pl_insn *i)
{
    (void)i;
    pl_cluster_arrive(w);
}

void exec_cluster_wait(pl_warp *w, const pl_insn *i)
{
    (void)i;
    pl_cluster_wait(w);
}

/* Functional memory is sequentially consistent: a fence has no effect on values, only on timing. */
void exec_fence(pl_warp *w, const pl_insn *i)
{
    (void)w;
    (void)i;
}
