/* wave64.c - warps of 64 lanes: an instruction executes first for one half of the warp, then for
 * the other.
 *
 * The machine has lanes for PL_LANES threads, so a warp of twice as many takes two passes, like the
 * 64-wide waves of AMD's RDNA ("RDNA 3 Instruction Set Architecture", Wave32 and Wave64). Each half
 * has its own registers, predicates and carry flags under the same numbers. Both share one program
 * counter, one set of splits and one reconvergence point. So lanes 0 to 31 and lanes 32 to 63
 * diverge from each other exactly as two lanes of a half do. A half without executing lanes is
 * skipped.
 *
 * PTX has no such warp. Its 32-bit masks then denote lanes of a half, so _sync instructions, votes,
 * shuffles and matrix instructions operate within each half. doc/warp-width.md describes the
 * consequences for programs. */
#include <string.h>

#include "emu/exec/lane_loops.h"

/* Instructions that execute once for the whole warp: they use pl_warp.all. */
static bool executes_once(const pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    if (f->effects & (PL_EF_BRANCH | PL_EF_EXIT | PL_EF_CALL)) return true;
    if (f->effects & PL_EF_BARRIER) return !(f->effects & PL_EF_CONVERGE); /* bar.warp.sync */
    return i->latency_class == C_sleep || i->latency_class == C_cp_commit ||
           i->latency_class == C_cp_wait || f->mnem == M_griddepcontrol;
}

uint32_t pl_member_mask_operand(const pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    if (!(f->effects & PL_EF_CONVERGE) || !f->noperands) return UINT32_MAX;
    const unsigned last = f->noperands - 1u;
    bool names_lanes = strcmp(f->operand[last].name, "mask") == 0 || f->effects & PL_EF_BARRIER;
    return names_lanes && last < PL_INLINE_OPERANDS ? last : UINT32_MAX;
}

/* True if all lanes named by the masks of the half's executing lanes are present. Several groups of
 * lanes may have different masks. */
static bool masks_are_complete(const pl_warp *w, uint32_t mask_row)
{
    const uint32_t *mask = pl_row32(w, mask_row), alive = pl_alive(w);
    for (uint32_t left = w->exec; left;) {
        const uint32_t named = mask[__builtin_ctz(left)];
        uint32_t group = 0;
        for (uint32_t m = left; m; m &= m - 1)
            group |= mask[__builtin_ctz(m)] == named ? m & (0u - m) : 0;
        /* One mask for all lanes, which may exclude some of them. */
        if (group == w->exec) return !(named & alive & ~group);
        if (group != (named & alive)) return false;
        left &= ~group;
    }
    return true;
}

void pl_wave_execute(pl_warp *w, const pl_insn *i)
{
    const pl_lanes all = pl_guarded(w, i);
    if (!all) return;
    w->all = all;
    const unsigned halves = w->halves;
    const bool once_per_warp = executes_once(i);
    const uint32_t mask = pl_member_mask_operand(i),
                   mask_row = mask == UINT32_MAX ? UINT32_MAX : i->op[mask];
    pl_memory_effect *const fx = w->fx;
    for (unsigned h = 0; h < halves && mask_row != UINT32_MAX && (uint32_t)all && all >> PL_LANES;
         h++) {
        pl_warp_set_half(w, h);
        pl_warp_set_exec_mask(w, pl_of_half(w, all));
        if (masks_are_complete(w, mask_row)) continue;
        /* one half has to wait: the halves continue separately, so that neither waits for lanes
         * that its mask does not name */
        pl_warp_set_half(w, 0);
        w->next = w->pc;
        pl_warp_diverge(w, w->active & ~(pl_lanes)UINT32_MAX, w->pc, w->pc, UINT32_MAX);
        return;
    }
    for (unsigned h = 0; h < halves; h++) {
        pl_warp_set_half(w, h);
        const uint32_t exec = pl_of_half(w, all);
        if (!exec) continue;
        pl_warp_set_exec_mask(w, exec);
        w->fx = fx ? fx + h : NULL;
        i->exec(w, i);
        if (once_per_warp || w->stop) break;
    }
    pl_warp_set_half(w, 0);
}
