/* loop_unroll.c - unrolls counted loops, inner ones first: fully or partially if the trip count is
 * known, else by four.
 *
 * ptxas 13.0 does so (its output for sm_90, 2026-11). A loop `do { body; v += c; } while (v < n)`
 * whose body is short becomes
 *
 *     if (four iterations remain) do { body x 4; v += 4 c; } while (four more remain);
 *     if (two remain) { body x 2; v += 2 c; } if (another iteration remains) { body; v += c; }
 *
 * "Four iterations remain" is n - v > 3 c in the preheader, and v < n - 3 c in the loop. The first
 * iteration executes regardless of v. For signed counters a flag indicates at the last test that no
 * iteration has executed. For unsigned ones n - v is meaningless if v is beyond n; a peeled copy of
 * the body before the loop then is that iteration.
 *
 * ptxas assumes that neither a signed counter nor its distance to n overflows. Here an additional
 * comparison, v < n, determines whether the distance is meaningful, unless v starts with 0. The
 * last iteration is a loop if v may wrap around. For `!=` the distance is unsigned: if v is beyond
 * n, the original loop runs, as it does for the last iteration. For a known trip count, the
 * iterations that do not fill the unrolled loop are peeled before it.
 *
 * Copies of the body write new registers where the original wrote a value that it also reads. A
 * counter becomes counter plus constant, which later passes fold into addresses.
 *
 * A body of several blocks is copied block by block. Registers written under a condition and live
 * around the back edge are not renamed. Loops with extra exits or a conjunctive exit test are fully
 * unrolled or not at all. */
#include "compiler/opt/loop_unroll.h"

#include <string.h>

/* ---- code around the copies ---- */

/* Marks the branch that ends the block, so that its loop is not unrolled again. */
static void mark_unrolled(pl_ir *x, uint32_t block)
{
    if (x->blocks.at[block].code.n)
        x->blocks.at[block].code.at[x->blocks.at[block].code.n - 1].flags |= PL_IF_NOUNROLL;
}

static pl_word type_of(const counted_loop *c)
{
    return c->bits == 64 ? c->is_signed ? W_s64 : W_u64 : c->is_signed ? W_s32 : W_u32;
}

/* For a constant bound n: true if n - 3 c wraps around, or the counter does when it passes n. */
static bool limit_wraps(const counted_loop *c, uint64_t bound)
{
    const uint64_t k = pl_unroll_truncate((uint64_t)(FACTOR - 1) * c->step, c->bits),
                   m = pl_unroll_truncate(bound - k, c->bits);
    const uint64_t lowest = c->is_signed ? (uint64_t)1 << (c->bits - 1) : 0,
                   highest = c->is_signed ? lowest - 1 : pl_unroll_truncate(UINT64_MAX, c->bits);
    const bool up = pl_unroll_sign_extend(c->step, c->bits) > 0,
               reached = c->cmp == W_le || c->cmp == W_ge;
    /* step and k are negative when counting down */
    const uint64_t edge = up ? pl_unroll_truncate(highest - k - c->step + !reached, c->bits)
                             : pl_unroll_truncate(lowest - k - c->step - !reached, c->bits);
    if (c->is_signed)
        return up ? pl_unroll_sign_extend(m, c->bits) > pl_unroll_sign_extend(edge, c->bits)
                  : pl_unroll_sign_extend(m, c->bits) < pl_unroll_sign_extend(edge, c->bits);
    return up ? m > edge : m < edge;
}

/* Emits a predicate: at least n iterations remain, by the signed or unsigned distance between
 * counter and bound, and `and_pred` holds. */
static uint32_t emit_remaining_test(pl_ir *x, const counted_loop *c, uint32_t block, uint32_t line,
                                    uint32_t counter, unsigned n, bool is_signed, uint32_t and_pred)
{
    const bool up = pl_unroll_sign_extend(c->step, c->bits) > 0,
               reached = c->cmp == W_le || c->cmp == W_ge;
    const uint64_t step = pl_unroll_truncate(up ? c->step : 0 - c->step, c->bits);
    const pl_word type = is_signed ? type_of(c) : c->bits == 64 ? W_u64 : W_u32;
    uint64_t bound;
    uint32_t distance = counter;
    if (up || !pl_ir_constant_value(x, c->bound, &bound) || bound != 0) {
        pl_insn *i = pl_ir_append(x, block, line);
        distance = pl_ir_new(x, c->bits / 32);
        if (!i || !pl_insn_make(i, M_sub, 3, &type, 1)) return PL_PF;
        i->op[0] = distance;
        i->op[1] = up ? c->bound : counter;
        i->op[2] = up ? counter : c->bound;
    }
    return pl_ir_compare(
        x, block, line, W_gt, type, distance,
        pl_ir_constant(x, pl_unroll_truncate((n - 1) * step - reached, c->bits), c->bits),
        and_pred);
}

/* Sets a predicate to a constant. */
static bool emit_pred_constant(pl_ir *x, uint32_t block, uint32_t line, uint32_t pred, bool value)
{
    const pl_word type = W_pred;
    pl_insn *i = pl_ir_append(x, block, line);
    if (!i || !pl_insn_make(i, M_and, 3, &type, 1)) return false;
    i->op[0] = pred;
    i->op[1] = PL_PT;
    i->op[2] = value ? PL_PT : PL_PF;
    return true;
}

/* True if a counter before the bound can wrap around. Not with steps of one up to an exclusive
 * bound, nor with a constant bound: limit_wraps has checked that. */
static bool may_wrap(const pl_ir *x, const counted_loop *c)
{
    uint64_t bound;
    const bool reached = c->cmp == W_le || c->cmp == W_ge;
    const int64_t step = pl_unroll_sign_extend(c->step, c->bits);
    return !pl_ir_constant_value(x, c->bound, &bound) && (reached || (step != 1 && step != -1));
}

/* Ends block `last`: exits the loop unless another iteration remains, or the first one does. */
static bool emit_last_test(pl_ir *x, const counted_loop *c, uint32_t last, uint32_t line,
                           uint32_t first)
{
    const uint32_t continues = pl_ir_new_pred(x);
    pl_insn *i = pl_ir_append(x, last, line);
    if (!i || !pl_insn_make(i, M_setp, 5, (pl_word[]){c->cmp, W_or, type_of(c)}, 3)) return false;
    i->op[0] = continues;
    i->op[2] = c->counter;
    i->op[3] = c->bound;
    i->op[4] = first;
    pl_ir_jump(x, last, line, continues, true, c->exit);
    return true;
}

/* The blocks of an unrolled loop: four, two and one copies of the body, the tests before them, and
 * for unsigned counters a peeled copy. */
typedef struct unrolled_blocks {
    uint32_t header;                /* jumps to `test`, or falls through to `peel` */
    uint32_t peel, peel_end, test;  /* test: four iterations remain; `header` for signed counters */
    uint32_t enter, four, four_end; /* enter: computes the limit of the loop */
    uint32_t few, two, two_end;     /* few: two iterations remain */
    uint32_t last, one, one_end;    /* last: another iteration remains */
} unrolled_blocks;

/* Makes the blocks, with the copies in them. False: out of memory. */
static bool make_unrolled_blocks(unroll_copy *u, const counted_loop *c, unrolled_blocks *b)
{
    pl_ir *x = u->x;
    b->header = b->test = c->block;
    b->peel = b->peel_end = PL_IR_NONE;
    b->enter = pl_ir_new_block(x);
    b->four = pl_ir_new_block(x);
    b->few = pl_ir_new_block(x);
    b->two = pl_ir_new_block(x);
    b->last = pl_ir_new_block(x);
    b->one = pl_ir_new_block(x);
    if (!pl_ir_ok(x)) return false;
    b->four_end = pl_unroll_copies(u, b->four, FACTOR);
    b->two_end = pl_unroll_copies(u, b->two, 2);
    b->one_end = pl_unroll_copies(u, b->one, 1);
    if (b->four_end == PL_IR_NONE || b->two_end == PL_IR_NONE || b->one_end == PL_IR_NONE)
        return false;
    if (c->is_signed) return true;
    b->peel = pl_ir_new_block(x);
    b->test = pl_ir_new_block(x);
    b->peel_end = pl_ir_ok(x) ? pl_unroll_copies(u, b->peel, 1) : PL_IR_NONE;
    return b->peel_end != PL_IR_NONE;
}

/* Emits the loop of four copies. Its limit is bound - 3 c. `first` becomes false. */
static bool emit_unrolled_loop(pl_ir *x, const counted_loop *c, const unrolled_blocks *b,
                               uint32_t line, uint32_t first)
{
    const pl_word type = type_of(c);
    const uint32_t limit = pl_ir_new(x, c->bits / 32);
    pl_insn *i = pl_ir_append(x, b->enter, line);
    if (!i || !pl_insn_make(i, M_add, 3, &type, 1)) return false;
    i->op[0] = limit;
    i->op[1] = c->bound;
    i->op[2] = pl_ir_constant(x, pl_unroll_truncate(0 - (FACTOR - 1) * c->step, c->bits), c->bits);
    if (!emit_pred_constant(x, b->enter, line, first, false) ||
        !emit_pred_constant(x, b->two_end, line, first, false))
        return false;
    x->blocks.at[b->enter].fallthrough = b->four;
    pl_ir_jump(x, b->four_end, line,
               pl_ir_compare(x, b->four_end, line, c->cmp, type, c->counter, limit, PL_PT), false,
               b->four);
    mark_unrolled(x, b->four_end);
    x->blocks.at[b->four_end].fallthrough = b->few;
    return true;
}

/* Unrolls a loop that continues while the counter is less than the bound, or greater. */
static bool unroll_ordered(unroll_copy *u, const counted_loop *c)
{
    pl_ir *x = u->x;
    const pl_word type = type_of(c);
    const uint32_t line = pl_ir_branch(x, c->latch)->line, first = pl_ir_new_pred(x);
    unrolled_blocks b;
    if (!make_unrolled_blocks(u, c, &b)) return false;
    uint64_t number = 1;
    uint32_t start = pl_unroll_initial_value(x, c->block, c->counter);
    pl_unroll_discard_original(x, c);
    start = pl_ir_constant_value(x, start, &number) ? start : c->counter;
    const bool plain = c->is_signed && pl_unroll_sign_extend(c->step, c->bits) > 0 &&
                       start != c->counter && number == 0; /* n - 0 does not wrap */
    if (c->is_signed) {
        if (!emit_pred_constant(x, b.header, line, first, true)) return false;
    } else {
        pl_ir_compare(x, b.header, line, c->cmp, type, start, c->bound, PL_PT);
        x->blocks.at[b.header].code.at[x->blocks.at[b.header].code.n - 1].op[0] = first;
        pl_ir_jump(x, b.header, line, first, false, b.test);
        x->blocks.at[b.header].fallthrough = b.peel;
        x->blocks.at[b.peel_end].fallthrough = b.test;
        start = c->counter;
    }
    /* The counter is before the bound, so that their unsigned distance is correct. After four
     * iterations, such a counter is close to the bound, so that the signed distance is. */
    uint32_t below = PL_PT;
    if (!plain) below = pl_ir_compare(x, b.test, line, c->cmp, type, c->counter, c->bound, PL_PT);
    pl_ir_jump(x, b.test, line,
               emit_remaining_test(x, c, b.test, line, start, FACTOR, plain, below), true, b.few);
    x->blocks.at[b.test].fallthrough = b.enter;
    if (!c->is_signed)
        below = pl_ir_compare(x, b.few, line, c->cmp, type, c->counter, c->bound, PL_PT);
    pl_ir_jump(x, b.few, line,
               emit_remaining_test(x, c, b.few, line, c->counter, 2, c->is_signed, below), true,
               b.last);
    x->blocks.at[b.few].fallthrough = b.two;
    if (!emit_unrolled_loop(x, c, &b, line, first)) return false;
    x->blocks.at[b.two_end].fallthrough = b.last;
    if (!emit_last_test(x, c, b.last, line, first)) return false;
    x->blocks.at[b.last].fallthrough = b.one;
    /* The counter may wrap around and continue. */
    if (may_wrap(x, c) || (c->is_signed && !plain)) {
        pl_ir_jump(x, b.one_end, line,
                   pl_ir_compare(x, b.one_end, line, c->cmp, type, c->counter, c->bound, PL_PT),
                   false, b.one);
        mark_unrolled(x, b.one_end);
    }
    x->blocks.at[b.one_end].fallthrough = c->exit;
    return pl_ir_ok(x);
}

/* Unrolls a loop that continues until the counter equals the bound. */
static bool unroll_until_equal(unroll_copy *u, const counted_loop *c)
{
    pl_ir *x = u->x;
    const pl_word type = c->bits == 64 ? W_b64 : W_b32;
    const uint32_t header = c->block, line = pl_ir_branch(x, c->latch)->line;
    const bool up = pl_unroll_sign_extend(c->step, c->bits) > 0;
    /* block numbers: the header becomes the first test, so that edges into the loop remain valid */
    const uint32_t four = pl_ir_new_block(x), few = pl_ir_new_block(x), two = pl_ir_new_block(x),
                   last = pl_ir_new_block(x);
    const uint32_t first = pl_ir_new_block(x), original = pl_ir_new_block(x);
    if (!pl_ir_ok(x)) return false;
    const uint32_t end4 = pl_unroll_copies(u, four, FACTOR), end2 = pl_unroll_copies(u, two, 2);
    if (end4 == PL_IR_NONE || end2 == PL_IR_NONE) return false;
    x->blocks.at[original].code = x->blocks.at[header].code;
    x->blocks.at[original].fallthrough = x->blocks.at[header].fallthrough;
    const uint32_t latch = c->latch == header ? original : c->latch;
    x->blocks.at[latch].code.at[x->blocks.at[latch].code.n - 1].target = original;
    mark_unrolled(x, latch);
    x->blocks.at[latch].fallthrough = c->exit;
    memset(&x->blocks.at[header].code, 0, sizeof x->blocks.at[header].code);
    pl_ir_jump(x, header, line,
               pl_ir_compare(x, header, line, up ? W_lt : W_gt, c->bits == 64 ? W_s64 : W_s32,
                             c->counter, c->bound, PL_PT),
               true, original);
    x->blocks.at[header].fallthrough = first;
    pl_ir_jump(x, first, line,
               emit_remaining_test(x, c, first, line, c->counter, FACTOR, false, PL_PT), true, few);
    x->blocks.at[first].fallthrough = four;
    pl_ir_jump(x, end4, line,
               emit_remaining_test(x, c, end4, line, c->counter, FACTOR, false, PL_PT), false,
               four);
    mark_unrolled(x, end4);
    x->blocks.at[end4].fallthrough = few;
    pl_ir_jump(x, few, line, emit_remaining_test(x, c, few, line, c->counter, 2, false, PL_PT),
               true, last);
    x->blocks.at[few].fallthrough = two;
    x->blocks.at[end2].fallthrough = last;
    pl_ir_jump(x, last, line, pl_ir_compare(x, last, line, W_ne, type, c->counter, c->bound, PL_PT),
               true, c->exit);
    x->blocks.at[last].fallthrough = original;
    return pl_ir_ok(x);
}

static bool unroll_fully(unroll_copy *u, const counted_loop *c, unsigned n)
{
    pl_ir *x = u->x;
    uint32_t to = pl_ir_new_block(x), end = pl_ir_ok(x) ? pl_unroll_copies(u, to, n) : PL_IR_NONE;
    if (end == PL_IR_NONE) return false;
    pl_unroll_discard_original(x, c);
    x->blocks.at[end].fallthrough = c->exit;
    x->blocks.at[c->block].fallthrough = to;
    return true;
}

/* Known trip count: peels `rest` iterations, then unrolls by `n`. */
static bool unroll_partially(unroll_copy *u, const counted_loop *c, unsigned n, unsigned rest)
{
    pl_ir *x = u->x;
    uint32_t header = c->block, line = pl_ir_branch(x, c->latch)->line;
    uint32_t loop = pl_ir_new_block(x), front = pl_ir_new_block(x);
    pl_word type = c->cmp == W_ne ? (c->bits == 64 ? W_b64 : W_b32) : type_of(c);
    if (!pl_ir_ok(x)) return false;
    const uint32_t end = pl_unroll_copies(u, loop, n),
                   first = rest ? pl_unroll_copies(u, front, rest) : front;
    if (end == PL_IR_NONE || first == PL_IR_NONE) return false;
    pl_ir_jump(x, end, line, pl_ir_compare(x, end, line, c->cmp, type, c->counter, c->bound, PL_PT),
               false, loop);
    mark_unrolled(x, end);
    x->blocks.at[end].fallthrough = c->exit;
    pl_unroll_discard_original(x, c);
    x->blocks.at[header].fallthrough = front;
    x->blocks.at[first].fallthrough = loop;
    return pl_ir_ok(x);
}

/* True if the loop is fully unrolled. The larger the percentage saved, the more cost the copies may
 * add to the first one; each copy adds a little more than its cost. This predicts the limit for 162
 * bodies of 2 to 512 iterations, with 1 to 60 % saved, to within one instruction. */
static bool is_fully_unrolled(const pl_ir *x, const counted_loop *c, unsigned trip_count)
{
    enum { UNITS = 20 }; /* per instruction: all quantities are in twentieths */
    const uint64_t savings = c->savings + x->p->tuning->loop_unroll.loop_overhead,
                   percent = 100 * savings / (c->cost + savings);
    const uint64_t max = x->p->tuning->loop_unroll.full_constant +
                         x->p->tuning->loop_unroll.full_linear * percent +
                         x->p->tuning->loop_unroll.full_quadratic * percent * percent;
    const uint64_t saved = x->p->tuning->loop_unroll.each_saved_constant +
                           x->p->tuning->loop_unroll.each_saved_linear * c->savings;
    uint64_t per_copy =
        x->p->tuning->loop_unroll.each_constant + x->p->tuning->loop_unroll.each_linear * percent;
    per_copy = per_copy < saved ? per_copy : saved;
    per_copy = per_copy < x->p->tuning->loop_unroll.each_max ? per_copy
                                                             : x->p->tuning->loop_unroll.each_max;
    return (trip_count - 1) * (UNITS * (uint64_t)c->cost + per_copy) <= max;
}

/* The number of copies of the body: all iterations, or as many as the cost allows, including those
 * that are peeled. A body with branches is fully unrolled or not at all. */
static unsigned unroll_factor(const pl_ir *x, unsigned trip_count, const counted_loop *c)
{
    const uint32_t total_cost = c->cost + c->savings;
    if (is_fully_unrolled(x, c, trip_count)) return trip_count;
    unsigned max = x->p->tuning->loop_unroll.max_copies_cost / total_cost;
    for (unsigned n = max < trip_count ? max : trip_count - 1;
         n >= FACTOR && total_cost <= x->p->tuning->loop_unroll.max_cost_partial && !c->branches;
         n--)
        if (n + trip_count % n <= max) return n;
    return 1;
}

/* ---- loops with a memory recurrence ---- */

/* The memories that an access may reach, as a bit mask. */
static unsigned memory_mask(const pl_insn *i)
{
    enum { OTHER = 1, SHARED = 2, LOCAL = 4 };
    switch ((pl_space)i->sel[PL_M_SPACE]) {
    case PL_SP_SHARED: return SHARED;
    case PL_SP_LOCAL: return LOCAL;
    case PL_SP_PARAM:
    case PL_SP_CONST: return 0;
    case PL_SP_GLOBAL: return OTHER;
    default: return OTHER | SHARED | LOCAL;
    }
}

typedef struct memory_recurrence {
    uint8_t *row, *pred; /* by row, by predicate: loads of this iteration that it depends on, as a
                            mask of the memories they may have read */
    uint8_t of_insn;     /* the same for the current instruction */
} memory_recurrence;

static void propagate_loads(memory_recurrence *t, uint32_t *row, unsigned rows, unsigned use)
{
    for (unsigned k = 0; k < ((use & PL_USE_PRED) ? 1 : rows); k++)
        ((use & PL_USE_PRED) ? t->pred : t->row)[*row + k] = t->of_insn;
}

/* The only instruction in the loop that writes the row, if it executes in each iteration; NULL. */
static const pl_insn *single_write(pl_ir *x, const counted_loop *c, uint32_t row)
{
    if (pl_unroll_writes_in(x, c, row) != 1) return NULL;
    for (uint32_t m = 0; m < c->members; m++) {
        const pl_insn *i = pl_unroll_last_write(x, c->member[m], row);
        if (i)
            return i->guard == PL_PT && i->op[0] == row &&
                           pl_ir_dominates(x, c->member[m], c->latch)
                       ? i
                       : NULL;
    }
    return NULL;
}

/* True if the row increases by a constant in each iteration, possibly through a copy, or is a
 * constant offset from such a row. */
static bool advances(pl_ir *x, const counted_loop *c, uint32_t row)
{
    enum { STEPS = 4 };
    uint32_t seen[STEPS];
    uint64_t number;
    for (unsigned k = 0; k < STEPS; k++) {
        const pl_insn *i = single_write(x, c, row);
        if (!i || !(pl_insn_is_copy(i) ||
                    (pl_insn_mnem(i) == M_add && pl_ir_constant_value(x, i->op[2], &number))))
            return false;
        seen[k] = row;
        row = i->op[1];
        for (unsigned j = 0; j <= k; j++)
            if (seen[j] == row) return true;
    }
    return false;
}

/* True if each load of the next iteration may have to wait for a store of this one, because the
 * stored value depends on a load from the same memory. A store counts unless it executes in each
 * iteration at an address that advances. ptxas 13.0 does not unroll such a loop if its lanes may
 * have different trip counts (200 loops made for it, 2026-11). */
static bool has_memory_recurrence(pl_ir *x, const counted_loop *c, bool *failed)
{
    memory_recurrence t = {pl_arena_array(x->tmp, uint8_t, x->f->rows + 4),
                           pl_arena_array(x->tmp, uint8_t, x->f->preds + 1), 0};
    unsigned dependent_stores = 0, other_loads = 0, branches = 0;
    *failed = !t.row || !t.pred;
    for (uint32_t m = 0; m < c->members && !*failed; m++)
        for (size_t k = 0; k < x->blocks.at[c->member[m]].code.n; k++) {
            pl_insn *i = &x->blocks.at[c->member[m]].code.at[k];
            const uint32_t e = pl_insn_effects(i);
            t.of_insn = 0;
            PL_FOR_EACH_READ(x->p, i, o)
                for (unsigned r = 0; r < ((o.use & PL_USE_PRED) ? 1 : o.rows); r++)
                    t.of_insn |= ((o.use & PL_USE_PRED) ? t.pred : t.row)[*o.row + r];
            if ((e & PL_EF_STORE) && ((t.of_insn | branches) & memory_mask(i)) &&
                (i->guard != PL_PT || !pl_ir_dominates(x, c->member[m], c->latch) ||
                 !pl_insn_address(i) || !advances(x, c, i->op[pl_insn_address(i) - 1])))
                dependent_stores |= memory_mask(i);
            if (e & PL_EF_BRANCH) branches |= t.of_insn;
            if (e & PL_EF_LOAD) t.of_insn |= (uint8_t)memory_mask(i);
            PL_FOR_EACH_WRITE(x->p, i, op) propagate_loads(&t, op.row, op.rows, op.use);
        }
    for (uint32_t m = 0; m < c->members && dependent_stores; m++)
        for (size_t k = 0; k < x->blocks.at[c->member[m]].code.n; k++) {
            const pl_insn *i = &x->blocks.at[c->member[m]].code.at[k];
            other_loads |= (pl_insn_effects(i) & PL_EF_LOAD) && memory_mask(i) &&
                           !(memory_mask(i) & dependent_stores);
        }
    return dependent_stores && !other_loads;
}

/* True if the lanes of a warp may have different trip counts. The divergence info predates
 * unrolling, but covers the tests of loops still to be unrolled. */
static bool may_diverge(pl_ir *x, const counted_loop *c, iteration_constants *known)
{
    const uint32_t p = pl_ir_branch(x, c->latch)->guard;
    if (!known->npreds_described) {
        if (!pl_divergence_find(&known->divergence, x)) return false;
        known->npreds_described = x->f->preds;
    }
    return p < known->npreds_described && known->divergence.pred[p];
}

/* Collective operations are unrolled only if the trip count is evidently uniform: from a uniform
 * start to a constant or parameter. */
static bool has_uniform_trip_count(pl_ir *x, const counted_loop *c, iteration_constants *known)
{
    uint64_t v;
    const pl_insn *i = x->regs[c->bound].ndefs == 1 ? pl_ir_writer(x, c->bound) : NULL;
    const bool parameter = i && pl_insn_mnem(i) == M_ld && i->sel[PL_M_SPACE] == PL_SP_PARAM;
    return (parameter || pl_ir_constant_value(x, c->bound, &v)) && !may_diverge(x, c, known);
}

static bool unroll(pl_ir *x, counted_loop *c, iteration_constants *known)
{
    const unsigned n = pl_unroll_trip_count(x, c);
    bool failed = false;
    if (n && !pl_unroll_iteration_constants_init(known, x, c->block)) return false;
    pl_unroll_compute_cost(x, c, n ? known : NULL);
    const unsigned factor = n ? unroll_factor(x, n, c) : 0;
    uint64_t bound;
    /* bodies with barriers and branches: ptxas unrolls fewer than the cost predicts; its rule is
     * unknown */
    const bool barrier_limited =
        c->has_barrier && c->divergent &&
        (!n || (uint64_t)c->cost * n > x->p->tuning->loop_unroll.max_cost_divergent_barrier);
    if (barrier_limited || (pl_unroll_has_several_exits(c) && !n) ||
        (n ? factor == 1 && n > 1
           : c->cost > pl_unroll_max_cost(x, c) ||
                 (c->convergent && !has_uniform_trip_count(x, c, known)) ||
                 ((c->has_global_loads || c->shared_loads) && may_diverge(x, c, known) &&
                  has_memory_recurrence(x, c, &failed)))) {
        mark_unrolled(x, c->latch);
        return !failed && pl_ir_ok(x);
    }
    if (!n && c->cmp != W_ne && pl_ir_constant_value(x, c->bound, &bound) && limit_wraps(c, bound))
        return true;
    size_t max = (n ? factor + n % factor : FACTOR + 3) * (size_t)(c->n + 1) * 8 + 64;
    unroll_copy u = {.x = x,
                     .c = c,
                     .block_to = pl_arena_array(x->tmp, uint32_t, x->blocks.n),
                     .row_to = pl_arena_array(x->tmp, uint32_t, x->f->rows + max),
                     .pred_to = pl_arena_array(x->tmp, uint32_t, x->f->preds + max),
                     .steps = pl_arena_array(x->tmp, uint8_t, x->f->rows)};
    u.not_renamed = pl_arena_array(x->tmp, uint8_t, x->f->rows + 4);
    u.pred_not_renamed = pl_arena_array(x->tmp, uint8_t, x->f->preds + 1);
    if (!u.row_to || !u.pred_to || !u.steps || !u.block_to || !u.not_renamed || !u.pred_not_renamed)
        return false;
    pl_unroll_find_unrenamed(&u);
    for (uint32_t m = 0; m < c->members; m++) {
        const pl_ir_block *b = &x->blocks.at[c->member[m]];
        for (size_t k = 0; k < b->code.n; k++) {
            uint64_t step;
            if (pl_unroll_is_only_increment(x, c, c->member[m], &b->code.at[k], &step))
                u.steps[b->code.at[k].op[0]] = 1;
        }
    }
    if (!n) return c->cmp == W_ne ? unroll_until_equal(&u, c) : unroll_ordered(&u, c);
    return factor == n ? unroll_fully(&u, c, n) : unroll_partially(&u, c, factor, n % factor);
}

/* Unrolls each innermost loop. *any: there was one; *outer: a nested loop was fully unrolled, so
 * that its outer loop may qualify now. */
static bool unroll_loops(pl_ir *x, bool *any, bool *outer)
{
    if (!pl_pass_merge_blocks(x) || !pl_ir_analyze(x)) return false;
    size_t n = x->blocks.n;
    iteration_constants known = {0};
    *any = *outer = false;
    for (uint32_t b = 0; b < n; b++) {
        counted_loop c;
        if (x->blocks.at[b].rpo_index == PL_IR_NONE || !pl_unroll_analyze_loop(x, b, &c)) continue;
        const uint32_t rows = x->f->rows;
        const size_t blocks = x->blocks.n;
        const bool nested = x->blocks.at[b].parent_loop != PL_IR_NONE;
        if (!unroll(x, &c, &known)) return false;
        /* describe new rows and blocks before analysing the next loop */
        if (x->f->rows != rows || x->blocks.n != blocks) {
            *any = true;
            if (!pl_ir_graph(x) || !pl_ir_count(x)) return false;
            *outer |= nested && x->blocks.at[b].nlatches == 0;
        }
    }
    if (!*any) pl_ir_preserve_all(x);
    return true;
}

bool pl_pass_loop_unroll(pl_ir *x)
{
    enum { MAX_NESTED = 4 };
    bool any = true, outer = true;
    for (unsigned k = 0; outer && k < MAX_NESTED; k++) {
        if (!unroll_loops(x, &any, &outer)) return false;
        pl_arena_reset(x->tmp);
        /* simplify what is now constant in each iteration */
        if (any && (!pl_pass_split_webs(x) || !pl_pass_gvn(x))) return false;
        pl_arena_reset(x->tmp);
    }
    return true;
}
