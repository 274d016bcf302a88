/* tensor_unit.c - asynchronous matrix instructions (wgmma) and their groups. The pipe of the tensor
 * unit belongs to the sub-core, and accepts instructions like an arithmetic pipe (math_pipes.c). */
#include "emu/sm/units.h"

void pl_tensor_issue(pl_issue_slot *x)
{
    pl_sm_warp *t = x->t;
    if (x->d->kind == PL_KIND_WGMMA_COMMIT) {
        t->wgmma_group[t->wgmma_open++ % PL_GROUPS] = t->wgmma_done;
        return;
    }
    /* bank rows read by a warp, times two: a quarter of A (2 KiB) and of B */
    x->s->stat.wgmma_halves += 8u + x->d->scale;
    const uint64_t done = x->c->pipe[PL_PIPE_TENSOR].free / PL_SUBCYCLES + x->latency;
    if (done > t->wgmma_done) t->wgmma_done = done;
}
