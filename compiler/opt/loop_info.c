/* loop_info.c - recognises counted loops: their counter, bound, step and test. */
#include "compiler/opt/loop_unroll.h"

#include <string.h>

/* The loops that ptxas unrolls, derived from its code for some 5,000 loops made for it, whose
 * bodies differ in one instruction each (2026-11). A body has a cost: about one for each PTX
 * instruction, plus one for an address with an offset, as none are merged yet. The cost is lower or
 * higher where ptxas has already lowered an instruction to none or several: halves of 64-bit
 * values, extensions of 16-bit ones, signs.
 *
 * If the trip count is unknown, the cost must be at most loop_unroll.max_cost plus
 * loop_unroll.max_cost_per_shared_load for each load from shared memory, or
 * loop_unroll.max_cost_loading if the body loads from elsewhere. If it is known, all computations
 * and events that are the same in each execution of an unrolled iteration are saved. These are the
 * counter and the comparison, and other variables that start with constants and are updated from
 * them. They also include everything computed only from such variables and constants, constants
 * themselves, and barriers. The loop is fully unrolled if `is_fully_unrolled` returns true.
 * Otherwise the body may cost loop_unroll.max_cost_partial, including savings, and the number of
 * copies is at most loop_unroll.max_copies_cost divided by that cost. */

/* True if the loop has exits other than its latch. */
bool pl_unroll_has_several_exits(const counted_loop *c)
{
    return c->has_other_exits || c->other_condition != PL_IR_NONE;
}

uint64_t pl_unroll_truncate(uint64_t v, unsigned bits)
{
    return bits == 32 ? (uint32_t)v : v;
}

int64_t pl_unroll_sign_extend(uint64_t v, unsigned bits)
{
    return bits == 32 ? (int64_t)(int32_t)(uint32_t)v : (int64_t)v;
}

void pl_unroll_count_writes(writes *w, const uint32_t *row, unsigned rows, unsigned use)
{
    if (!(use & PL_USE_PRED) && w->row - *row < rows) w->n++;
}

unsigned pl_unroll_writes_in(pl_ir *x, const counted_loop *c, uint32_t row)
{
    writes w = {row, 0};
    for (uint32_t m = 0; m < c->members; m++)
        for (size_t k = 0; k < x->blocks.at[c->member[m]].code.n; k++)
            PL_FOR_EACH_WRITE(x->p, &x->blocks.at[c->member[m]].code.at[k], o)
                pl_unroll_count_writes(&w, o.row, o.rows, o.use);
    return w.n;
}

/* w = v + constant, unpredicated */
bool pl_unroll_adds_number(const pl_ir *x, const pl_insn *i, uint64_t *step)
{
    pl_word t = pl_insn_type(i);
    return pl_insn_mnem(i) == M_add && i->guard == PL_PT && pl_forms[i->form].noperands == 3 &&
           pl_type_kind(t) != 'f' && pl_type_bits(t) >= 32 && t != W_u16x2 && t != W_s16x2 &&
           pl_insn_pure(i) && !pl_insn_has(i, W_sat) && pl_ir_constant_value(x, i->op[2], step);
}

/* v = v + constant */
bool pl_unroll_is_increment(const pl_ir *x, const pl_insn *i, uint64_t *step)
{
    return i->op[0] == i->op[1] && pl_unroll_adds_number(x, i, step);
}

static pl_word swapped_comparison(pl_word cmp)
{
    switch ((int)cmp) {
    case W_lt: return W_gt;
    case W_le: return W_ge;
    case W_gt: return W_lt;
    case W_ge: return W_le;
    default: return cmp;
    }
}

/* The condition under which the loop continues; `other`: it continues while the comparison is
 * false. */
static pl_word continue_condition(const pl_insn *i, bool other)
{
    static const uint16_t words[][3] = {
        {W_lt, W_lt, W_ge},   {W_le, W_le, W_gt},   {W_gt, W_gt, W_le}, {W_ge, W_ge, W_lt},
        {W_ne, W_ne, W_none}, {W_eq, W_none, W_ne}, {W_lo, W_lt, W_ge}, {W_ls, W_le, W_gt},
        {W_hi, W_gt, W_le},   {W_hs, W_ge, W_lt}};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (pl_insn_has(i, (pl_word)words[k][0])) return (pl_word)words[k][1 + other];
    return W_none;
}

/* True if this is the only instruction in the loop that changes the row, by a constant in each
 * iteration. */
bool pl_unroll_is_only_increment(pl_ir *x, const counted_loop *c, uint32_t block, const pl_insn *i,
                                 uint64_t *step)
{
    return pl_unroll_is_increment(x, i, step) && pl_ir_dominates(x, block, c->latch) &&
           pl_unroll_writes_in(x, c, i->op[0]) == 1;
}

static int compare_rpo(const pl_ir *x, uint32_t a, uint32_t b)
{
    return x->blocks.at[a].rpo_index < x->blocks.at[b].rpo_index
               ? -1
               : x->blocks.at[a].rpo_index > x->blocks.at[b].rpo_index;
}

/* Finds the blocks of the loop with header c->block, which must have one latch and no nested
 * loop. */
static bool find_members(pl_ir *x, counted_loop *c)
{
    enum { MAX_MEMBERS = 64 };
    const pl_ir_block *header = &x->blocks.at[c->block];
    c->latch = PL_IR_NONE;
    for (uint32_t k = 0; k < header->npreds; k++)
        if (pl_ir_dominates(x, c->block, x->predecessors[header->first_pred + k]))
            c->latch = x->predecessors[header->first_pred + k];
    c->member = pl_arena_array(x->tmp, uint32_t, MAX_MEMBERS);
    if (!c->member || c->latch == PL_IR_NONE) return false;
    c->member[c->members++] = c->block;
    if (c->latch != c->block) c->member[c->members++] = c->latch;
    for (uint32_t m = 1; m < c->members; m++) { /* backwards from the latch */
        const pl_ir_block *b = &x->blocks.at[c->member[m]];
        if (b->loop != c->block) return false;
        for (uint32_t k = 0; k < b->npreds; k++) {
            const uint32_t from = x->predecessors[b->first_pred + k];
            uint32_t known = 0;
            while (known < c->members && c->member[known] != from) known++;
            if (known == MAX_MEMBERS) return false;
            if (known == c->members) c->member[c->members++] = from;
        }
    }
    for (uint32_t m = 2; m < c->members; m++) /* insertion sort: few, and nearly in order */
        for (uint32_t k = m; k > 1 && compare_rpo(x, c->member[k - 1], c->member[k]) > 0; k--) {
            const uint32_t other = c->member[k];
            c->member[k] = c->member[k - 1];
            c->member[k - 1] = other;
        }
    for (uint32_t m = 0; m < c->members; m++)
        for (uint32_t e = 0; c->member[m] != c->latch && e < pl_ir_successors(x, c->member[m]);
             e++) {
            const uint32_t to = pl_ir_successor(x, c->member[m], e);
            uint32_t known = 0;
            while (known < c->members && c->member[known] != to) known++;
            if (known == 0) return false;
            c->has_other_exits |= known == c->members;
        }
    return c->member[c->members - 1] == c->latch;
}

/* True if this instruction of the latch assigns the counter its next value. */
static bool is_counter_step(pl_ir *x, counted_loop *c, uint32_t at)
{
    const pl_insn *i = &x->blocks.at[c->latch].code.at[at];
    c->counter_copy = c->next_counter = PL_IR_NONE;
    c->counter = i->op[0];
    if (pl_unroll_is_only_increment(x, c, c->latch, i, &c->step))
        return (unsigned)pl_type_bits(pl_insn_type(i)) == c->bits;
    if (!pl_insn_is_copy(i) || i->guard != PL_PT || i->op[1] >= x->nregs_described ||
        x->regs[i->op[1]].ndefs != 1 || pl_unroll_writes_in(x, c, c->counter) != 1)
        return false;
    const pl_ir_reg *w = &x->regs[i->op[1]];
    const pl_insn *by = pl_ir_writer(x, i->op[1]);
    if (!by || x->blocks.at[w->def_block].loop != c->block ||
        !pl_ir_dominates(x, w->def_block, c->latch) || by->op[0] != i->op[1] ||
        by->op[1] != c->counter || !pl_unroll_adds_number(x, by, &c->step) ||
        (w->def_block == c->latch && w->def_index >= at) ||
        (unsigned)pl_type_bits(pl_insn_type(by)) != c->bits)
        return false;
    c->counter_copy = at;
    c->next_counter = i->op[1];
    return true;
}

/* Finds the counter that the comparison reads. ptxas 13.0 recognises it only if the comparison is
 * in the block that updates it. */
static bool find_counter(pl_ir *x, counted_loop *c, const pl_insn *test)
{
    for (unsigned side = 0; side < 2; side++) {
        const uint32_t v = test->op[2 + side], n = test->op[3 - side];
        for (uint32_t k = 0; k < x->blocks.at[c->latch].code.n; k++) {
            if (k == c->test || !is_counter_step(x, c, k) ||
                !((k < c->test && v == c->counter) || v == c->next_counter) ||
                pl_unroll_writes_in(x, c, n) != 0)
                continue;
            c->bound = n;
            if (side) c->cmp = swapped_comparison(c->cmp);
            return true;
        }
    }
    return false;
}

/* True if this predicate of the latch compares a counter, and the loop continues while it holds
 * (`other`: while it does not). */
static bool find_test(pl_ir *x, counted_loop *c, uint32_t pred, bool other)
{
    const pl_ir_reg *p = &x->preds[pred];
    if (p->ndefs != 1 || p->nuses != 1 || p->def_block != c->latch) return false;
    const pl_insn *test = &x->blocks.at[c->latch].code.at[p->def_index];
    const pl_word t = pl_insn_type(test);
    if (pl_insn_mnem(test) != M_setp || test->guard != PL_PT ||
        pl_forms[test->form].noperands != 4 || test->op[1] != UINT32_MAX || pl_type_bits(t) < 32 ||
        (pl_type_kind(t) != 'u' && pl_type_kind(t) != 's' && pl_type_kind(t) != 'b'))
        return false;
    c->test = p->def_index;
    c->bits = (unsigned)pl_type_bits(t);
    c->is_signed = pl_type_kind(t) == 's';
    c->cmp = continue_condition(test, other);
    return find_counter(x, c, test) && c->cmp != W_none && c->step != 0;
}

/* The same for a conjunction of two comparisons, one of which compares a counter. */
static bool find_test_of_two(pl_ir *x, counted_loop *c, uint32_t pred)
{
    const pl_ir_reg *p = &x->preds[pred];
    if (p->ndefs != 1 || p->nuses != 1 || p->def_block != c->latch) return false;
    const pl_insn *i = &x->blocks.at[c->latch].code.at[p->def_index];
    if (pl_insn_mnem(i) != M_and || pl_insn_type(i) != W_pred || i->guard != PL_PT) return false;
    for (unsigned k = 1; k < 3; k++) {
        const pl_ir_reg *q = &x->preds[i->op[3 - k]];
        if (q->ndefs != 1 || q->def_block != c->latch ||
            pl_insn_mnem(&x->blocks.at[c->latch].code.at[q->def_index]) != M_setp ||
            !find_test(x, c, i->op[k], false))
            continue;
        c->joined_test = p->def_index;
        c->other_condition = i->op[3 - k];
        return true;
    }
    return false;
}

bool pl_unroll_analyze_loop(pl_ir *x, uint32_t block, counted_loop *c)
{
    const pl_ir_block *header = &x->blocks.at[block];
    *c = (counted_loop){.block = block};
    if (header->loop != block || header->nlatches != 1 || !find_members(x, c)) return false;
    const pl_ir_block *b = &x->blocks.at[c->latch];
    const pl_insn *branch = pl_ir_branch(x, c->latch);
    if (!branch || branch->target != block || b->fallthrough == PL_IR_NONE ||
        b->fallthrough == block || x->blocks.at[b->fallthrough].loop == block ||
        branch->guard <= PL_PF || pl_forms[branch->form].noperands != 1 ||
        (branch->flags & PL_IF_NOUNROLL))
        return false;
    const bool negated = (branch->flags & PL_IF_GUARD_NEG) != 0;
    c->exit = b->fallthrough;
    c->joined_test = c->other_condition = PL_IR_NONE;
    if (!find_test(x, c, branch->guard, negated) &&
        (negated || !find_test_of_two(x, c, branch->guard)))
        return false;
    int64_t s = pl_unroll_sign_extend(c->step, c->bits);
    if (((c->cmp == W_lt || c->cmp == W_le) && s < 0) ||
        ((c->cmp == W_gt || c->cmp == W_ge) && s > 0) || s > 1 << 20 || s < -(1 << 20))
        return false;
    for (uint32_t m = 0; m < c->members; m++) {
        b = &x->blocks.at[c->member[m]];
        c->n += (uint32_t)b->code.n;
        for (size_t k = 0; k + (c->member[m] == c->latch) < b->code.n; k++)
            if (!pl_unroll_copyable(&b->code.at[k])) return false;
    }
    return true;
}
