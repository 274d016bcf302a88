/* op_control.c - branches, calls, returns and exits: their effects on the splits of a warp
 * (simt_splits.c). */
#include "emu/exec/memory/address.h"
#include "base/plural.h"

/* Counts a divergence. Several threads may call this at once. */
static inline void count_divergence(const pl_warp *w)
{
    if (w->grid->pc_stat)
        __atomic_fetch_add(&w->grid->pc_stat[w->pc].divergent, 1, __ATOMIC_RELAXED);
}

/* Lanes in w->all branch to `target`; the others of the split continue after the instruction. */
static inline void branch_to(pl_warp *w, const pl_insn *i, uint32_t target)
{
    if (w->all == w->active) {
        w->next = target;
        return;
    }
    count_divergence(w);
    pl_warp_branch(w, w->all, target, i->reconv);
}

void exec_bra(pl_warp *w, const pl_insn *i)
{
    branch_to(w, i, i->target);
}

/* Lanes that execute the instruction and whose register holds `value`; wide: a 64-bit register. */
static pl_lanes lanes_with(pl_warp *w, uint32_t row, bool wide, uint64_t value)
{
    const unsigned from = w->half;
    pl_lanes same = 0;
    for (unsigned h = 0; h < w->halves; h++) {
        pl_warp_set_half(w, h);
        const uint32_t *a = pl_row32(w, row);
        const uint64_t *b = pl_row64(w, row);
        for (unsigned l = 0; l < PL_LANES; l++)
            same |= pl_from_half(w, (uint32_t)((wide ? b[l] : a[l]) == value) << l);
    }
    pl_warp_set_half(w, from);
    return same & w->all;
}

void exec_brx(pl_warp *w, const pl_insn *i)
{
    /* Lanes whose guard is false continue; the others return to this instruction as a split. */
    if (w->all != w->active) {
        count_divergence(w);
        pl_warp_diverge(w, w->all, w->pc, w->pc + 1, i->reconv);
        return;
    }
    uint32_t first = pl_row32(w, i->op[0])[__builtin_ctz(w->exec)], n = i->nextra;
    const pl_lanes same = lanes_with(w, i->op[0], false, first);
    if (first >= n) {
        pl_fault(w, pl_of_half(w, same), first, "CUDA_ERROR_ILLEGAL_INSTRUCTION",
                 "brx.idx with index %u; the table has %u label%s", first, n, pl_plural(n));
        return;
    }
    uint32_t target = pl_more(w, i, first);
    if (same == w->active) {
        w->next = target;
        return;
    }
    count_divergence(w);
    /* One group branches to its label; the others execute this instruction again. */
    pl_warp_diverge(w, same, target, w->pc, i->reconv);
}

void exec_call(pl_warp *w, const pl_insn *i)
{
    const pl_prog_call *c = &w->program->calls.at[i->target];
    uint32_t callee = c->callee;
    if (w->all != w->active) { /* lanes whose predicate is false wait after the call */
        pl_warp_diverge(w, w->all, w->pc, w->pc + 1,
                        pl_reconvergence_pc(w->program, w->pc + 1, (uint32_t)w->program->code.n));
        return;
    }
    if (callee == UINT32_MAX) {
        unsigned k = pl_forms[i->form].operand[0].kind == PL_K_RETS;
        const uint64_t first = pl_row64(w, i->op[k])[__builtin_ctz(w->exec)];
        const pl_lanes same = lanes_with(w, i->op[k], true, first);
        if (same != w->active) { /* one group calls now; the others return to this instruction */
            count_divergence(w);
            pl_warp_diverge(w, w->active & ~same, w->pc, w->pc, i->reconv);
            w->all = same;
        }
        callee = pl_program_func_at(w->program, first);
        if (callee == UINT32_MAX) {
            pl_fault(w, pl_of_half(w, same), first, "CUDA_ERROR_ILLEGAL_ADDRESS",
                     "indirect call to 0x%llx, which is not a function", (unsigned long long)first);
            return;
        }
        if (w->program->funcs.at[callee].entry) {
            pl_fault(w, pl_of_half(w, same), first, "CUDA_ERROR_INVALID_PC",
                     "indirect call to 0x%llx, which is kernel '%s': kernels are launched",
                     (unsigned long long)first, w->program->funcs.at[callee].name);
            return;
        }
    }
    pl_warp_call(w, i, callee, c);
}

void exec_ret(pl_warp *w, const pl_insn *i)
{
    (void)i;
    pl_warp_return(w, w->all);
}

void exec_exit(pl_warp *w, const pl_insn *i)
{
    (void)i;
    pl_warp_exit(w, w->all);
}

void exec_trap(pl_warp *w, const pl_insn *i)
{
    (void)i;
    pl_fault(w, w->exec, 0, "CUDA_ERROR_LAUNCH_FAILED", "trap");
}

void exec_brkpt(pl_warp *w, const pl_insn *i)
{
    (void)i;
    pl_fault(w, w->exec, 0, "CUDA_ERROR_LAUNCH_FAILED", "breakpoint");
}

void exec_yield(pl_warp *w, const pl_insn *i)
{
    (void)i;
    pl_warp_yield(w);
}

/* ---- convergence barriers across calls ----
 *
 * A function that may be called recursively saves the barriers that its callers use (BMOV), and
 * restores them. The BSYNC of a restored barrier executes twice: call trees have one additional
 * BSYNC for each that is preceded by calls (H200, 2026-11, tests/data/corpus). A split records the
 * number of executed BSSY whose BSYNC is pending, and which of the latest of them were restored. */

static uint64_t barrier_of(const pl_simt_split *s, uint32_t further_out)
{
    return 1ull << ((s->barriers - further_out) & 63u);
}

/* The lanes with the mask of the first one continue; the others execute this instruction again. */
void exec_groups(pl_warp *w, const pl_insn *i)
{
    const uint32_t *mask = pl_row32(w, i->op[0]),
                   same = pl_lanes_with(mask, mask[__builtin_ctz(w->exec)], w->exec);
    if (same != w->exec && w->halves == 1)
        pl_warp_diverge(w, pl_from_half(w, same), w->pc + 1, w->pc, i->reconv);
}

void exec_bssy(pl_warp *w, const pl_insn *i)
{
    (void)i;
    pl_simt_split *s = &w->split[w->current];
    s->barriers++;
    s->restored_barriers &= ~barrier_of(s, 0);
}

void exec_bsync(pl_warp *w, const pl_insn *i)
{
    (void)i;
    pl_simt_split *s = &w->split[w->current];
    const uint64_t own = barrier_of(s, 0);
    if (s->barriers && s->restored_barriers & own) {
        s->restored_barriers &= ~own;
        w->next = w->pc;
    } else
        s->barriers -= s->barriers > 0;
}

void exec_regain(pl_warp *w, const pl_insn *i)
{
    pl_simt_split *s = &w->split[w->current];
    if (s->barriers > i->op[0]) s->restored_barriers |= barrier_of(s, i->op[0]);
}
