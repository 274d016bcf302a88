/* block_order.c - determines which instructions may order the effects of different blocks. Threads
 * that run blocks in parallel execute these in block order. */
#include "emu/exec/dispatch.h"
#include "isa/program/insn_query.h"

/* True for calls of the driver's functions, and for indirect calls in a program that has such
 * functions. */
static bool calls_system(const pl_program *p, const pl_insn *i, const pl_form *f)
{
    if (!(f->effects & PL_EF_CALL)) return false;
    const uint32_t callee = pl_insn_callee(p, i);
    if (callee < p->funcs.n) return p->funcs.at[callee].system;
    for (size_t k = 0; k < p->funcs.n; k++)
        if (p->funcs.at[k].system) return true;
    return false;
}

static pl_kind kind_of(const pl_insn *i)
{
    return (pl_kind)pl_classes[i->latency_class].kind;
}

/* A reduction by the copy engine, possibly in global memory. */
static bool is_bulk_reduction(const pl_insn *i)
{
    return kind_of(i) == PL_KIND_BULK && pl_forms[i->form].effects & PL_EF_ATOMIC;
}

bool pl_has_bulk_reductions(const pl_program *p)
{
    for (size_t pc = 0; pc < p->code.n; pc++)
        if (is_bulk_reduction(&p->code.at[pc])) return true;
    return false;
}

bool pl_insn_is_ordered(const pl_program *p, const pl_insn *i, bool late)
{
    const pl_form *f = &pl_forms[i->form];
    const pl_kind kind = kind_of(i);
    if (calls_system(p, i, f) || is_bulk_reduction(i) || (late && i->latency_class == C_cp_wait))
        return true;
    if (kind == PL_KIND_FENCE_GPU || kind == PL_KIND_FENCE_SYS) return true;
    if (f->mnem == M_clusterlaunchcontrol) return true;
    if (!(f->effects & (PL_EF_ATOMIC | PL_EF_VOLATILE)) || kind == PL_KIND_MBARRIER ||
        kind == PL_KIND_MBARRIER_WAIT)
        return false;
    const pl_space space = (pl_space)i->sel[PL_M_SPACE];
    return !(i->flags & PL_IF_MEM) || (space != PL_SP_SHARED && space != PL_SP_LOCAL);
}
