/* predicate.c - short bodies of branches become guarded instructions, and blocks that follow each other become one.
 *
 * A branch costs ptxas three instructions where lanes may part (BSSY, BRA, BSYNC) and some twenty cycles, so it guards a body of a few
 * instructions instead (its output for sm_90, 2026-11: two instructions are guarded, twelve are not). Only what takes a guard and does
 * not stop the warp may be in such a body; ptxas does not guard atomic operations either. */
#include <string.h>

#include "isa/passes.h"

/* Instructions of a guarded body: fewer when it loads from global memory; more when such a load can join others in front of the branch, or
 * only goes to shared memory. */
enum { MOST = 7, MOST_WAITING = 2, MOST_JOINING = 18 };

static bool can_guard(const pl_insn *i)
{
    uint32_t e = pl_insn_effects(i);
    return i->guard == PL_PT && !(e & (PL_EF_ATOMIC | PL_EF_BRANCH | PL_EF_EXIT | PL_EF_CALL | PL_EF_BARRIER | PL_EF_CONVERGE | PL_EF_ASYNC | PL_EF_FENCE)) &&
           i->cls != C_sleep && i->cls != C_alloca;
}

static bool waits(const pl_insn *i)
{
    return (pl_insn_effects(i) & PL_EF_LOAD) && (i->sel[PL_M_SPACE] == PL_SP_GLOBAL || i->sel[PL_M_SPACE] == PL_SP_GENERIC);
}

/* The body is one block with one way in, behind `head`, which goes on at `join`. */
static bool short_body(const pl_ir *x, uint32_t head, uint32_t body, uint32_t join)
{
    const pl_irb *b = &x->b.at[body];
    size_t n = b->code.n;
    const pl_insn *last = pl_ir_branch(x, body);
    if (b->npred != 1 || b->latches || body == join)
        return false;
    if (last) {
        if (last->guard != PL_PT || last->target != join || pl_forms[last->form].noperands != 1)
            return false;
        n--;
    } else if (b->next != join)
        return false;
    bool loads = false, joins = false, stores = false;
    for (size_t k = 0; k < n; k++) {
        const pl_insn *i = &b->code.at[k];
        if (!can_guard(i))
            return false;
        bool store = (pl_insn_effects(i) & PL_EF_STORE) != 0;
        loads |= waits(i);
        joins |= store && i->sel[PL_M_SPACE] == PL_SP_SHARED;
        stores |= store && i->sel[PL_M_SPACE] != PL_SP_SHARED;
    }
    for (size_t k = 0; k < x->b.at[head].code.n && !joins; k++)
        joins = waits(&x->b.at[head].code.at[k]);
    for (size_t k = 0; k < x->b.at[join].code.n && !joins; k++)
        joins = (pl_insn_effects(&x->b.at[join].code.at[k]) & PL_EF_STORE) && x->b.at[join].code.at[k].sel[PL_M_SPACE] == PL_SP_SHARED;
    size_t most = !loads ? MOST : joins && !stores ? MOST_JOINING : MOST_WAITING;
    const pl_irb *j = &x->b.at[join]; /* lanes that skip to the end leave at once */
    bool ends = j->code.n == 1 && pl_insn_mnem(&j->code.at[0]) == M_ret && x->f->entry;
    return n <= most && !ends;
}

typedef struct writes {
    uint32_t pred;
    bool hit;
} writes;

static void writes_pred(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    writes *w = ctx;
    (void)rows;
    w->hit |= (use & PL_USE_PRED) && (use & PL_USE_WRITE) && *row == w->pred;
}

static bool keeps_predicate(pl_ir *x, uint32_t body, uint32_t pred)
{
    writes w = {pred, false};
    for (size_t k = 0; k < x->b.at[body].code.n; k++)
        pl_insn_uses(x->p, &x->b.at[body].code.at[k], writes_pred, &w);
    return !w.hit;
}

static void move_guarded(pl_ir *x, uint32_t to, uint32_t body, uint32_t guard, bool negated)
{
    const pl_irb from = x->b.at[body];
    for (size_t k = 0; k < from.code.n; k++) {
        pl_insn i = from.code.at[k];
        if (pl_insn_effects(&i) & PL_EF_BRANCH)
            continue;
        i.guard = guard;
        i.flags = (uint16_t)((i.flags & ~PL_IF_GUARD_NEG) | (negated ? PL_IF_GUARD_NEG : 0));
        *pl_push(x->a, &x->b.at[to].code) = i;
    }
    x->b.at[body].code.n = 0;
}

/* A branch to the end of a kernel is a guarded exit. */
static void exits(pl_ir *x, uint32_t b)
{
    pl_insn *branch = pl_ir_branch(x, b);
    if (!x->f->entry || !branch || branch->guard <= PL_PF || pl_forms[branch->form].noperands != 1 || x->b.at[b].next == PL_IR_NONE)
        return;
    const pl_irb *end = &x->b.at[branch->target];
    if (end->code.n != 1 || pl_insn_mnem(&end->code.at[0]) != M_ret || end->code.at[0].guard != PL_PT)
        return;
    uint32_t guard = branch->guard;
    uint16_t negated = branch->flags & PL_IF_GUARD_NEG;
    pl_insn ret = end->code.at[0];
    ret.line = branch->line;
    ret.guard = guard;
    ret.flags = (uint16_t)((ret.flags & ~PL_IF_GUARD_NEG) | negated);
    *branch = ret;
}

/* if (p) body, if (p) body else other */
static bool guard_arms(pl_ir *x, uint32_t b)
{
    pl_insn *branch = pl_ir_branch(x, b);
    if (!branch || branch->guard <= PL_PF || pl_forms[branch->form].noperands != 1 || x->b.at[b].next == PL_IR_NONE)
        return false;
    uint32_t guard = branch->guard, taken = branch->target, next = x->b.at[b].next;
    bool negated = (branch->flags & PL_IF_GUARD_NEG) != 0;
    if (taken == next || taken == b || next == b)
        return false;
    bool skip = short_body(x, b, next, taken) && keeps_predicate(x, next, guard);
    bool only = short_body(x, b, taken, next) && keeps_predicate(x, taken, guard);
    uint32_t join = PL_IR_NONE;
    if (!skip && !only) {
        const pl_insn *jump = pl_ir_branch(x, next);
        join = jump ? jump->guard == PL_PT && pl_forms[jump->form].noperands == 1 ? jump->target : PL_IR_NONE : x->b.at[next].next;
        if (join == PL_IR_NONE || !short_body(x, b, next, join) || !short_body(x, b, taken, join) || !keeps_predicate(x, next, guard) ||
            !keeps_predicate(x, taken, guard) || x->b.at[next].code.n + x->b.at[taken].code.n > MOST + 2)
            return false;
    }
    x->b.at[b].code.n--; /* the branch */
    if (skip || join != PL_IR_NONE)
        move_guarded(x, b, next, guard, !negated);
    if (only || join != PL_IR_NONE)
        move_guarded(x, b, taken, guard, negated);
    x->b.at[b].next = skip ? taken : only ? next : join;
    return true;
}

/* A block whose only predecessor is this one, reached in one way only. */
static bool append_next(pl_ir *x, uint32_t b)
{
    pl_insn *branch = pl_ir_branch(x, b);
    uint32_t next = x->b.at[b].next;
    if (branch && (branch->guard != PL_PT || pl_forms[branch->form].noperands != 1))
        return false;
    if (branch)
        next = branch->target;
    if (next == PL_IR_NONE || next == b || next == 0 || x->b.at[next].npred != 1)
        return false;
    if (branch)
        x->b.at[b].code.n--;
    const pl_irb from = x->b.at[next];
    for (size_t k = 0; k < from.code.n; k++)
        *pl_push(x->a, &x->b.at[b].code) = from.code.at[k];
    x->b.at[b].next = from.next;
    x->b.at[next].code.n = 0;
    x->b.at[next].next = PL_IR_NONE;
    return true;
}

bool pl_pass_merge(pl_ir *x)
{
    pl_ir_sweep(x);
    if (!pl_ir_graph(x))
        return false;
    for (uint32_t j = 0; j < x->nrpo; j++) /* predecessors stay as they were: a block that was appended is empty and unreachable */
        while (append_next(x, x->rpo[j]) && pl_ir_ok(x)) {
        }
    return pl_ir_graph(x) && pl_ir_ok(x);
}

bool pl_pass_predicate(pl_ir *x)
{
    bool changed = true;
    for (unsigned round = 0; round < 3 && changed; round++) {
        changed = false;
        if (!pl_pass_merge(x))
            return false;
        for (uint32_t j = 0; j < x->nrpo; j++)
            changed |= guard_arms(x, x->rpo[j]);
    }
    for (uint32_t j = 0; j < x->nrpo; j++)
        exits(x, x->rpo[j]);
    return pl_pass_merge(x);
}
