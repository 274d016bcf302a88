/* invariant.c - compares of what a loop does not change are done in front of it.
 *
 * Compilers in front of ptxas leave a compare beside its branch even where both operands are known before the loop. ptxas 13.0 does those in the first
 * block of an innermost loop in front of it (2026-11: integers and floats, for guards, selections and branches), if a register is left for each
 * predicate: with seven or more they stay where they are, for the loop needs one for its own end. */
#include "isa/passes.h"
#include "isa/plan.h"

enum { PREDICATES = 6 };

static bool compares(const pl_insn *i)
{
    return pl_insn_mnem(i) == M_setp && i->guard == PL_PT && pl_insn_pure(i) && pl_forms[i->form].noperands == 4 && i->op[1] == UINT32_MAX;
}

/* The predicate has one writer: here. */
static bool once(const pl_ir *x, uint32_t pred)
{
    return pred > PL_PF && x->pred_row[pred].defs == 1;
}

/* Compares of the block that may go in front of the loop that it begins. */
static bool may_go(const pl_ir *x, uint32_t head, const pl_insn *i)
{
    return i->form != PL_IR_DEAD && compares(i) && once(x, i->op[0]) && pl_ir_outermost(x, head, i->op[2], i->op[3]) != head;
}

static bool lift(pl_ir *x, uint32_t head)
{
    const pl_irb *b = &x->b.at[head];
    unsigned n = 0;
    for (size_t k = 0; k < b->code.n; k++)
        n += may_go(x, head, &b->code.at[k]);
    if (!n || n > PREDICATES)
        return false;
    for (size_t k = 0; k < b->code.n; k++) {
        pl_insn *i = &b->code.at[k];
        pl_insn *to = may_go(x, head, i) ? pl_ir_later(x, b->idom, pl_ir_end(x, b->idom)) : NULL;
        if (!to)
            continue;
        *to = *i;
        pl_ir_remove(x, i);
    }
    return true;
}

bool pl_pass_invariants(pl_ir *x)
{
    bool any = false;
    if (!pl_ir_any(x, compares))
        return true;
    if (!pl_ir_ready(x))
        return false;
    bool *outer = pl_arena_array(x->tmp, bool, x->b.n + 1); /* by head of a loop: there are loops in it */
    if (!outer)
        return false;
    for (uint32_t j = 0; j < x->nrpo; j++) {
        const pl_irb *b = &x->b.at[x->rpo[j]];
        if (b->latches && b->outer != PL_IR_NONE)
            outer[b->outer] = true;
    }
    for (uint32_t j = 0; j < x->nrpo && pl_ir_ok(x); j++)
        if (x->b.at[x->rpo[j]].latches && !outer[x->rpo[j]])
            any |= lift(x, x->rpo[j]);
    if (!any) {
        pl_ir_same(x);
        return true;
    }
    if (!pl_ir_settle(x))
        return false;
    pl_ir_sweep(x);
    return pl_ir_ok(x);
}
