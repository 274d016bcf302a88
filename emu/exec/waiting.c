/* waiting.c - what the threads of a launch wait for that only poll memory: whether others than its
 * own threads could change that memory. */
#include "emu/exec/exec.h"
#include "emu/exec/memory/address.h"

/* Returns the allocation that a split polls; NULL: it does not poll global memory, or polls the
 * grid barrier, which only the launch itself changes. */
static const pl_alloc *polled_memory(pl_warp *w, const pl_simt_split *s)
{
    const pl_grid *g = w->grid;
    if (!s->poll_pc || (s->wait != PL_SPLIT_READY && s->wait != PL_SPLIT_SLEEP)) return NULL;
    const pl_insn *i = &w->code[s->poll_pc - 1];
    if (pl_forms[i->form].mnem == M_mbarrier) return NULL;
    pl_space real = (pl_space)i->sel[PL_M_SPACE];
    uint64_t in = s->poll_address;
    pl_warp_set_half(w, (uint32_t)s->mask == 0);
    const unsigned lane = (unsigned)__builtin_ctz(pl_of_half(w, s->mask) | 1u << (PL_LANES - 1));
    pl_resolve(w, lane, real, s->poll_address, 1, &real, &in);
    pl_warp_set_half(w, 0);
    const pl_alloc *a = real == PL_SP_GLOBAL ? pl_memory_find(g->memory, in) : NULL;
    return a && a->address == g->workspace ? NULL : a;
}

/* True if a load of the split polls memory that the host accesses at the same address. */
static bool polls_host(const pl_warp *w, const pl_simt_split *s, const pl_alloc *a)
{
    return pl_forms[w->code[s->poll_pc - 1].form].mnem == M_ld && (uintptr_t)a->bytes == a->address;
}

bool pl_polls_memory(pl_cta *const *live, size_t n, bool of_host)
{
    for (size_t k = 0; k < n; k++)
        for (uint32_t j = 0; j < live[k]->nwarps; j++) {
            pl_warp *w = &live[k]->warp[j];
            if (w->state == PL_WARP_DONE) continue;
            for (unsigned m = 0; m < w->nsplits; m++) {
                const pl_alloc *a = polled_memory(w, &w->split[m]);
                if (a && (!of_host || polls_host(w, &w->split[m], a))) return true;
            }
        }
    return false;
}

void pl_forget_allocations(pl_cta *const *live, size_t n)
{
    for (size_t k = 0; k < n; k++)
        for (uint32_t j = 0; j < live[k]->nwarps; j++)
            live[k]->warp[j].last_alloc = live[k]->warp[j].previous_alloc = NULL;
}
