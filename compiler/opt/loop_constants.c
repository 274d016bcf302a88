/* loop_constants.c - values known in each iteration of a counted loop: trip count, induction
 * variables, savings. */
#include "compiler/opt/loop_unroll.h"

#include <string.h>

/* ---- values known in each iteration ---- */

bool pl_unroll_iteration_constants_init(iteration_constants *k, pl_ir *x, uint32_t loop)
{
    k->x = x;
    k->loop = loop + 1;
    if (k->row.n < x->f->rows) {
        k->row.n = 2 * (size_t)x->f->rows;
        k->row.at = pl_arena_array(x->tmp, uint32_t, k->row.n);
    }
    if (k->pred.n < x->f->preds) {
        k->pred.n = 2 * (size_t)x->f->preds;
        k->pred.at = pl_arena_array(x->tmp, uint32_t, k->pred.n);
    }
    return k->row.at && k->pred.at;
}

/* True for a constant, or an address in the constant bank. Addresses of other variables are
 * assigned by the linker. */
static bool is_known(const pl_ir *x, uint32_t row)
{
    uint64_t number;
    const pl_frame_init *i = row < x->f->rows && x->kind.at[row] == PL_REG_PRESET
                                 ? &x->f->init.at[x->init.at[row]]
                                 : NULL;
    return pl_ir_constant_value(x, row, &number) ||
           (i && i->reloc == PL_RELOC_VAR && x->p->vars.at[i->symbol].space == PL_SP_CONST);
}

/* True for values, and for variables that find_induction_variables has found to be known. */
static void test_written_known(iteration_constants *k, uint32_t *row, unsigned rows, unsigned use)
{
    const bool pred = (use & PL_USE_PRED) != 0;
    for (unsigned n = 0; n < (pred ? 1 : rows); n++)
        k->all &= (pred ? k->x->preds : k->x->regs)[*row + n].ndefs == 1 ||
                  (pred ? k->pred.at : k->row.at)[*row + n] == k->loop;
}

/* True if the operands are known in each iteration. A barrier or commit has no operands. */
static bool reads_only_known(iteration_constants *k, const pl_insn *i)
{
    const pl_space space = (pl_space)i->sel[PL_M_SPACE];
    const bool is_event = i->latency_class == C_barrier || i->latency_class == C_cp_commit,
               bank = (i->flags & PL_IF_MEM) && (space == PL_SP_PARAM || space == PL_SP_CONST);
    if (i->form == PL_IR_DEAD || !(is_event || bank || pl_insn_pure(i)) ||
        (i->guard != PL_PT && k->pred.at[i->guard] != k->loop))
        return false;
    pl_insn copy = *i;
    k->all = true;
    PL_FOR_EACH_READ(k->x->p, &copy, o) {
        if (o.use & PL_USE_PRED)
            k->all &= *o.row == PL_PT || *o.row == PL_PF || k->pred.at[*o.row] == k->loop;
        else
            k->all &= is_known(k->x, *o.row) || k->row.at[*o.row] == k->loop;
    }
    return k->all;
}

/* Marks the results as known if the operands are. Returns true if they are known. */
static bool mark_if_known(iteration_constants *k, const pl_insn *i)
{
    pl_insn copy = *i;
    if (!reads_only_known(k, i)) return false;
    PL_FOR_EACH_WRITE(k->x->p, &copy, o) test_written_known(k, o.row, o.rows, o.use);
    if (k->all)
        PL_FOR_EACH_WRITE(k->x->p, &copy, op)
            for (unsigned n = 0; n < ((op.use & PL_USE_PRED) ? 1 : op.rows); n++)
                ((op.use & PL_USE_PRED) ? k->pred.at : k->row.at)[*op.row + n] = k->loop;
    return k->all;
}

/* The last instruction of the block that writes the row, NULL: none. */
const pl_insn *pl_unroll_last_write(const pl_ir *x, uint32_t block, uint32_t row)
{
    writes w = {row, 0};
    for (size_t k = x->blocks.at[block].code.n; k-- > 0;) {
        PL_FOR_EACH_WRITE(x->p, &x->blocks.at[block].code.at[k], o)
            pl_unroll_count_writes(&w, o.row, o.rows, o.use);
        if (w.n) return &x->blocks.at[block].code.at[k];
    }
    return NULL;
}

/* True if the instruction computes a constant. */
static bool computes_constant(pl_ir *x, const pl_insn *i)
{
    iteration_constants k = {.x = x, .all = i->guard == PL_PT && pl_insn_pure(i)};
    pl_insn copy = *i;
    if (k.all)
        PL_FOR_EACH_READ(x->p, &copy, o)
            k.all &= o.use & PL_USE_PRED ? *o.row <= PL_PF : is_known(k.x, *o.row);
    return k.all;
}

enum { COMPUTED = PL_IR_NONE - 1 };

/* The row of the constant that the row holds on loop entry, if that is known. All reaching writes
 * must copy the same constant (several loops may share a counter register). COMPUTED: the only
 * reaching write computes a constant. PL_IR_NONE: unknown. */
uint32_t pl_unroll_initial_value(pl_ir *x, uint32_t header, uint32_t row)
{
    enum { MAX_BLOCKS = 64 };
    uint32_t block[MAX_BLOCKS] = {header}, n = 1, found = PL_IR_NONE;
    for (uint32_t at = 0; at < n; at++) { /* backwards, up to a write on each path */
        const pl_ir_block *b = &x->blocks.at[block[at]];
        const pl_insn *i = at ? pl_unroll_last_write(x, block[at], row) : NULL;
        if (i) {
            if (i->guard != PL_PT || i->op[0] != row || !computes_constant(x, i)) return PL_IR_NONE;
            const uint32_t number = pl_insn_is_copy(i) ? i->op[1] : (uint32_t)COMPUTED;
            if (found != PL_IR_NONE && (found != number || found == COMPUTED)) return PL_IR_NONE;
            found = number;
        } else if (block[at] == 0) {
            return PL_IR_NONE;
        }
        for (uint32_t k = 0; !i && k < b->npreds; k++) {
            const uint32_t from = x->predecessors[b->first_pred + k];
            uint32_t known = 0;
            while (known < n && block[known] != from) known++;
            if (at == 0 && pl_ir_dominates(x, header, from)) continue; /* back edge */
            if (known == MAX_BLOCKS || known == 0) /* 0: the previous value is live-in */
                return PL_IR_NONE;
            if (known == n) block[n++] = from;
        }
    }
    return found;
}

static void note_induction(iteration_constants *k, const uint32_t *row, unsigned rows, unsigned use)
{
    for (unsigned n = 0; !(use & PL_USE_PRED) && n < rows; n++) {
        const pl_ir_reg *r = &k->x->regs[*row + n];
        if (r->ndefs > 1 && r->kind == PL_REG_VIRTUAL && !r->precolored)
            k->row.at[*row + n] = k->loop;
    }
}

/* Marks results as unknown. A value may still become known in the next try. */
static void note_unknown(iteration_constants *k, const uint32_t *row, unsigned rows, unsigned use)
{
    for (unsigned n = 0; n < ((use & PL_USE_PRED) ? 1 : rows); n++) {
        uint32_t *at = &((use & PL_USE_PRED) ? k->pred.at : k->row.at)[*row + n];
        k->changed |=
            *at == k->loop && ((use & PL_USE_PRED) ? k->x->preds : k->x->regs)[*row + n].ndefs != 1;
        *at = 0;
    }
}

static void test_start(iteration_constants *k, uint32_t *row, unsigned rows, unsigned use)
{
    for (unsigned n = 0; !(use & PL_USE_PRED) && n < rows && k->x->regs[*row + n].ndefs > 1; n++)
        if (k->row.at[*row + n] == k->loop &&
            pl_unroll_initial_value(k->x, k->loop - 1, *row) == PL_IR_NONE) {
            k->row.at[*row + n] = 0;
            k->changed = true;
        }
}

/* Finds the induction variables. A variable is known in each iteration if it starts with a constant
 * and is updated only from constants and such variables: counters, ring indices, random number
 * generators. All are assumed to be known at first; those that depend on something else are
 * removed, and then, iteratively, those that depend on them. */
static void find_induction_variables(pl_ir *x, const counted_loop *c, iteration_constants *known)
{
    enum { MAX_TRIES = 8 };
    for (unsigned arm = 0; arm < 2; arm++) /* those written in some iterations only are not known */
        for (uint32_t m = 0; m < c->members; m++)
            for (size_t k = 0; k < x->blocks.at[c->member[m]].code.n &&
                               pl_ir_dominates(x, c->member[m], c->latch) != (arm != 0);
                 k++)
                PL_FOR_EACH_WRITE(x->p, &x->blocks.at[c->member[m]].code.at[k], o)
                    (arm ? note_unknown : note_induction)(known, o.row, o.rows, o.use);
    bool starts_tested = false;
    for (unsigned n = 0; !starts_tested || known->changed; n++) {
        known->changed = false;
        for (uint32_t m = 0; m < c->members; m++)
            for (size_t k = 0; k < x->blocks.at[c->member[m]].code.n; k++) {
                pl_insn *i = &x->blocks.at[c->member[m]].code.at[k];
                if (n >= MAX_TRIES || !mark_if_known(known, i))
                    PL_FOR_EACH_WRITE(x->p, i, o) note_unknown(known, o.row, o.rows, o.use);
            }
        for (uint32_t m = 0; m < c->members && !known->changed && !starts_tested;
             m++) /* few remain */
            for (size_t k = 0; k < x->blocks.at[c->member[m]].code.n; k++)
                PL_FOR_EACH_WRITE(x->p, &x->blocks.at[c->member[m]].code.at[k], o)
                    test_start(known, o.row, o.rows, o.use);
        starts_tested |= !known->changed || n >= MAX_TRIES;
    }
}

/* Computes the cost of the body, and the part of it that is saved if the trip count is known. */
void pl_unroll_compute_cost(pl_ir *x, counted_loop *c, iteration_constants *known)
{
    if (known) find_induction_variables(x, c, known);
    if (c->other_condition != PL_IR_NONE) { /* a branch */
        c->branches = c->divergent = true;
        c->cost++;
    }
    for (uint32_t m = 0; m < c->members; m++) {
        const pl_ir_block *b = &x->blocks.at[c->member[m]];
        const bool last = c->member[m] == c->latch;
        for (size_t k = 0; k + last < b->code.n; k++) {
            pl_insn *i = &b->code.at[k];
            uint64_t step;
            bool saved = false;
            if ((last && (k == c->test || k == c->counter_copy || k == c->joined_test)) ||
                (i->op[0] == c->counter && pl_unroll_is_increment(x, i, &step)) ||
                (i->op[0] == c->next_counter && pl_unroll_adds_number(x, i, &step)))
                continue;
            if (pl_insn_effects(i) & PL_EF_BRANCH) {
                c->branches = true;
                saved = known && i->guard < x->f->preds && known->pred.at[i->guard] == known->loop;
                c->divergent |= !saved && i->guard != PL_PT;
                *(saved ? &c->savings : &c->cost) += 1;
                continue;
            }
            const uint32_t insn_cost = pl_unroll_is_folded_extension(x, b, k)
                                           ? 0
                                           : pl_unroll_cost_of(x, c, i) +
                                                 ((i->flags & PL_IF_CONTRACTED) != 0) +
                                                 pl_unroll_loads_as_word(b, k);
            saved = known && mark_if_known(known, i);
            *(saved ? &c->savings : &c->cost) += insn_cost;
            if (i->guard != PL_PT) { /* in ptxas a branch around it, as predication runs later */
                saved = known && known->pred.at[i->guard] == known->loop;
                *(saved ? &c->savings : &c->cost) += 1;
                c->branches = true;
                c->divergent |= !saved;
            }
        }
    }
}

/* Trip count of a loop whose counter starts and ends with constants; 0: unknown, or too large. */
unsigned pl_unroll_trip_count(pl_ir *x, counted_loop *c)
{
    uint64_t v = 0, n;
    c->start = pl_unroll_initial_value(x, c->block, c->counter);
    if (!pl_ir_constant_value(x, c->bound, &n) || !pl_ir_constant_value(x, c->start, &v)) return 0;
    for (unsigned r = 1; r <= MAX_TRIP_COUNT; r++) {
        v = pl_unroll_truncate(v + c->step, c->bits);
        bool is_less = c->is_signed
                           ? pl_unroll_sign_extend(v, c->bits) < pl_unroll_sign_extend(n, c->bits)
                           : v < pl_unroll_truncate(n, c->bits);
        bool is_equal = v == pl_unroll_truncate(n, c->bits);
        bool continues = c->cmp == W_lt   ? is_less
                         : c->cmp == W_le ? is_less || is_equal
                         : c->cmp == W_gt ? !is_less && !is_equal
                         : c->cmp == W_ge ? !is_less
                                          : !is_equal;
        if (!continues) return r;
    }
    return 0;
}
