/* op_barrier.c - bar, barrier, barrier.cluster and fences. The barriers themselves are in cta.c. */
#include "emu/exec/access.h"

/* An operand that must be the same for all lanes: the first executing lane's value. */
static uint32_t uniform(const pl_warp *w, uint32_t row)
{
    return row == PL_NO_OPERAND ? 0 : pl_row32(w, row)[__builtin_ctz(w->exec)];
}

void exec_bar_sync(pl_warp *w, const pl_insn *i)
{
    pl_bar_arrive(w, uniform(w, i->op[0]), uniform(w, i->op[1]), true, 0);
}

void exec_bar_arrive(pl_warp *w, const pl_insn *i)
{
    pl_bar_arrive(w, uniform(w, i->op[0]), uniform(w, i->op[1]), false, 0);
}

void exec_bar_red(pl_warp *w, const pl_insn *i, int op)
{
    const pl_form *f = &pl_forms[i->form];
    unsigned c = f->noperands - 1u;
    uint32_t id = uniform(w, i->op[1]), threads = c == 3 ? uniform(w, i->op[2]) : 0;
    (void)op;
    const unsigned from = w->half;
    pl_lanes value = 0;
    for (unsigned h = 0; h < w->halves; h++) {
        pl_warp_half(w, h);
        value |= pl_from_half(w, pl_pred_read(w, i, c));
    }
    pl_warp_half(w, from);
    pl_bar_arrive(w, id, threads, true, value);
}

void exec_bar_warp(pl_warp *w, const pl_insn *i)
{
    if (pl_warp_groups(w, i, 0))
        return;
    uint32_t mask = uniform(w, i->op[0]);
    pl_warp_doubt(w, mask);
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

/* Functional memory is sequentially consistent: a fence has no effect on values, only on time. */
void exec_fence(pl_warp *w, const pl_insn *i)
{
    (void)w;
    (void)i;
}
