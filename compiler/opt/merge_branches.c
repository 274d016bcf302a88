/* merge_branches.c - branch combining: two branches in sequence to the same target become one on a
 * combined predicate.
 *
 * `if (a && b)` is a branch on a, the computation of b, and a branch on b to the same target. ptxas
 * 13.0 computes b unconditionally and branches once under three conditions (its output for sm_90a,
 * 2026-11; 150 kernels of two to eight conditions). The computation takes five instructions or
 * fewer including the comparison, their results have no other uses, and they include no load. If
 * the second branch is the back edge of a loop that the first one exits, the number is not limited.
 * Merging starts with the last conditions of a sequence: two combined conditions count as one with
 * that many more instructions. */
#include <string.h>

#include "compiler/passes.h"
#include "compiler/tuning.h"
#include "isa/program/operand_plan.h"
#include "compiler/analysis/insn_cost.h"

enum { MAX_IN_LOOP = 64 };

typedef struct read_counts {
    pl_ir *x;
    uint32_t *row, *pred; /* reads in the current block */
    size_t preds;         /* number of predicates covered */
    bool local_only;
} read_counts;

static void count_reads(read_counts *r, uint32_t *row, unsigned rows, unsigned use)
{
    for (unsigned k = 0; k < rows; k++) (use & PL_USE_PRED ? r->pred : r->row)[*row + k]++;
}

static void reset_reads(read_counts *r, uint32_t *row, unsigned rows, unsigned use)
{
    for (unsigned k = 0; k < rows; k++) (use & PL_USE_PRED ? r->pred : r->row)[*row + k] = 0;
}

/* True if all results are read in this block only. */
static void check_local_results(read_counts *r, uint32_t *row, unsigned rows, unsigned use)
{
    for (unsigned k = 0; k < rows; k++) {
        if (use & PL_USE_PRED) {
            const pl_ir_reg *p = *row + k < r->preds ? &r->x->preds[*row + k] : NULL;
            r->local_only &=
                !p || (p->ndefs == 1 && !p->precolored && p->nuses == r->pred[*row + k]);
        } else {
            const pl_ir_reg *v = &r->x->regs[*row + k];
            r->local_only &= *row + k < r->x->nregs_described && v->kind == PL_REG_VIRTUAL &&
                             v->ndefs == 1 && !v->precolored && v->nuses == r->row[*row + k];
        }
    }
}

/* The number of instructions before the block's branch; more than any limit if the block has side
 * effects, or if its results are used elsewhere. */
static unsigned condition_cost(read_counts *r, uint32_t block)
{
    pl_ir *x = r->x;
    const pl_ir_block *b = &x->blocks.at[block];
    unsigned n = 0;
    r->local_only = true;
    for (size_t k = 0; k < b->code.n; k++)
        PL_FOR_EACH_READ(x->p, &b->code.at[k], o) count_reads(r, o.row, o.rows, o.use);
    for (size_t k = 0; k + 1 < b->code.n && r->local_only; k++) {
        pl_insn *i = &b->code.at[k];
        const unsigned space = i->sel[PL_M_SPACE];
        const bool bank = pl_insn_mnem(i) == M_ld && (space == PL_SP_PARAM || space == PL_SP_CONST);
        r->local_only &= i->guard == PL_PT && (bank || pl_insn_pure(i));
        PL_FOR_EACH_WRITE(x->p, i, op) check_local_results(r, op.row, op.rows, op.use);
        n += pl_insn_cost(x, i) + (pl_insn_mnem(i) == M_setp && pl_forms[i->form].noperands == 5);
    }
    for (size_t k = 0; k < b->code.n; k++)
        PL_FOR_EACH_READ(x->p, &b->code.at[k], op) reset_reads(r, op.row, op.rows, op.use);
    return r->local_only ? n : MAX_IN_LOOP + 1;
}

/* True for a conditional branch with two targets, one of which is `to`. *negated: it goes there if
 * its predicate is false. */
static bool branches_to(const pl_ir *x, uint32_t block, uint32_t to, bool *negated)
{
    const pl_insn *i = pl_ir_branch(x, block);
    if (!i || i->guard <= PL_PF || pl_forms[i->form].noperands != 1 ||
        x->blocks.at[block].fallthrough == PL_IR_NONE ||
        i->target == x->blocks.at[block].fallthrough)
        return false;
    const bool inverted = (i->flags & PL_IF_GUARD_NEG) != 0;
    *negated = i->target == to ? inverted : !inverted;
    return i->target == to || x->blocks.at[block].fallthrough == to;
}

/* Merges the branch at the end of `second` to `join` with the one at the end of `first`, which
 * goes to `join` or to `second`. */
static bool merge_condition(read_counts *r, uint32_t first, uint32_t second, uint32_t join)
{
    pl_ir *x = r->x;
    const pl_ir_block *b = &x->blocks.at[second], *to = &x->blocks.at[join];
    bool negated[2];
    if (second == join || second == first || b->npreds != 1 ||
        b->loop != x->blocks.at[first].loop || !branches_to(x, first, join, &negated[0]) ||
        !branches_to(x, second, join, &negated[1]))
        return false;
    const pl_insn last = *pl_ir_branch(x, second);
    const uint32_t other = last.target == join ? b->fallthrough : last.target;
    if (pl_ir_dominates(x, join, first) ||
        (x->f->entry && to->code.n == 1 && pl_insn_mnem(&to->code.at[0]) == M_ret))
        return false;
    if (condition_cost(r, second) > (pl_ir_dominates(x, other, second)
                                         ? MAX_IN_LOOP
                                         : r->x->p->tuning->merge_branches.max_insns))
        return false;
    /* goes to `join` if either condition holds; where the second one is negated, the complement is
     * computed as a conjunction instead */
    const uint32_t guard = pl_ir_branch(x, first)->guard, line = last.line,
                   combined = pl_ir_new_pred(x);
    pl_word type = W_pred;
    x->blocks.at[first].code.n--;
    for (size_t k = 0; k + 1 < b->code.n; k++)
        *pl_push(x->a, &x->blocks.at[first].code) = x->blocks.at[second].code.at[k];
    pl_insn *i = pl_ir_append(x, first, line);
    if (!i || !pl_insn_make(i, negated[1] ? M_and : M_or, 3, &type, 1)) return false;
    i->op[0] = combined;
    i->op[1] = last.guard;
    i->op[2] = guard;
    i->neg = (uint8_t)((negated[0] != negated[1]) << 2);
    pl_ir_jump(x, first, line, combined, negated[1] != (last.target != join), last.target);
    pl_ir_branch(x, first)->flags |= (uint16_t)(last.flags & PL_IF_NOUNROLL);
    x->blocks.at[first].fallthrough = x->blocks.at[second].fallthrough;
    x->blocks.at[join].npreds--;
    x->blocks.at[second].code.n = 0;
    x->blocks.at[second].npreds = 0;
    x->blocks.at[second].fallthrough = PL_IR_NONE;
    return true;
}

bool pl_pass_merge_branches(pl_ir *x)
{
    if (!pl_pass_merge_blocks(x) || !pl_ir_count(x)) return false;
    read_counts r = {
        .x = x,
        .preds = x->f->preds,
        .row = pl_arena_array(x->tmp, uint32_t, x->f->rows + 4),
        .pred = pl_arena_array(x->tmp, uint32_t, 2 * (size_t)x->f->preds + 2 * x->blocks.n + 4)};
    if (!r.row || !r.pred) return false;
    bool any = false;
    for (uint32_t j = x->nrpo; j-- > 0;) {
        const uint32_t b = x->rpo[j];
        const pl_insn *i = pl_ir_branch(x, b);
        if (!i || x->blocks.at[b].fallthrough == PL_IR_NONE || pl_forms[i->form].noperands != 1)
            continue;
        const uint32_t target = i->target, next = x->blocks.at[b].fallthrough;
        any |= merge_condition(&r, b, next, target) || merge_condition(&r, b, target, next);
        if (!pl_ir_ok(x)) return false;
    }
    if (!any) {
        pl_ir_preserve_all(x);
        return true;
    }
    x->uses_valid = false;
    return pl_ir_graph(x) && pl_ir_ok(x);
}
