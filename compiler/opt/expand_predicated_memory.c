/* expand_predicated_memory.c - turns a predicated memory access into a branch around it.
 *
 * ptxas 13.0 does this for `@p ld` (its output for sm_90a, 2026-11). Each access becomes a block of
 * its own, which if_convert.c may predicate again like the body of any branch. An atomic operation
 * is never predicated again, and a load only if other work overlaps it. Lanes that exit the kernel
 * branch around an access before its end. Other predicated instructions are unchanged. */
#include "compiler/passes.h"

static bool is_predicated_access(const pl_insn *i)
{
    const uint32_t e = pl_insn_effects(i);
    const unsigned space = i->sel[PL_M_SPACE];
    return i->guard > PL_PF && (i->flags & PL_IF_MEM) &&
           (e & (PL_EF_LOAD | PL_EF_STORE | PL_EF_ATOMIC)) && space != PL_SP_PARAM &&
           space != PL_SP_CONST &&
           !(e & (PL_EF_BRANCH | PL_EF_EXIT | PL_EF_CALL | PL_EF_BARRIER | PL_EF_CONVERGE |
                  PL_EF_ASYNC | PL_EF_FENCE));
}

/* Splits a block: the instructions after position `at` move to a new block, the instruction at it
 * to another. Returns the block with the rest; PL_IR_NONE: out of memory. */
static uint32_t split_block(pl_ir *x, uint32_t b, size_t at)
{
    const uint32_t arm = pl_ir_new_block(x), remainder = pl_ir_new_block(x);
    if (!pl_ir_ok(x)) return PL_IR_NONE;
    const pl_ir_block from = x->blocks.at[b];
    pl_insn i = from.code.at[at];
    const uint32_t guard = i.guard;
    const bool negated = (i.flags & PL_IF_GUARD_NEG) != 0;
    i.guard = PL_PT;
    i.flags &= (uint16_t)~PL_IF_GUARD_NEG;
    *pl_push(x->a, &x->blocks.at[arm].code) = i;
    for (size_t k = at + 1; k < from.code.n; k++)
        *pl_push(x->a, &x->blocks.at[remainder].code) = from.code.at[k];
    x->blocks.at[remainder].fallthrough = from.fallthrough;
    x->blocks.at[arm].fallthrough = remainder;
    x->blocks.at[b].code.n = at;
    x->blocks.at[b].fallthrough = arm;
    pl_ir_jump(x, b, i.line, guard, !negated, remainder);
    return pl_ir_ok(x) ? remainder : PL_IR_NONE;
}

bool pl_pass_expand_predicated_memory(pl_ir *x)
{
    const size_t blocks = x->blocks.n;
    for (size_t b = 0; b < blocks; b++)
        for (uint32_t at = (uint32_t)b, k = 0; k < x->blocks.at[at].code.n; k++)
            if (is_predicated_access(&x->blocks.at[at].code.at[k])) {
                x->uses_valid = false;
                at = split_block(x, at, k);
                k = UINT32_MAX; /* restart at the beginning of the new block */
                if (at == PL_IR_NONE) return false;
            }
    return pl_ir_graph(x) && pl_ir_ok(x);
}
