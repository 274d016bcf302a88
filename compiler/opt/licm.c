/* licm.c - what is the same in every round of a loop is computed in front of it.
 *
 * Compilers in front of ptxas do that for what they see; what assembly, other compilers and passes
 * of ours leave in a loop, ptxas 13.0 computes in front of it (2026-11: some 2,500 loops made for
 * it, of 70 kinds of instructions), if the loop has no other in it, calls no subroutine and waits
 * for no group of warps' products (wgmma), where
 * - every round comes through its block; other conditions may stand in front, since it does
 *   nothing but compute, or load (see licm_loads.c) from the
 *   first block of the loop;
 * - it is worth the registers that it takes all along. All that may leave one block does so, or
 *   nothing: the register of each result that is
 *   read in the loop, and one more for each pointer that IMAD.WIDE makes, is worth n / WORTH in a
 *     block of n instructions (BESIDE more for the loop
 *   itself). Moving saves the instructions that compute them: ALONE for each, but 1 if the block
 *     waits for global memory meanwhile, which
 *   is if it loads and the load does not need it; and WAIT for each such load. So one instruction
 *     moves out of a block of 195, 64-bit arithmetic of
 *   one instruction out of 95, and a pointer out of 61; two that make one value out of 395, and a
 *     load, with what its address needs, out of 2,395.
 * What is a number when all is known is none of it. Compares of the first block go too, when the
 * bodies of short branches are guarded (pl_pass_if_convert), at most PREDICATES: with more all
 * stay, for the loop needs a predicate for its own end. What divisions and matrix products are
 * made of by then stays. */
#include "compiler/passes.h"
#include "isa/program/operand_plan.h"
#include "compiler/analysis/memory_clobbers.h"
#include "compiler/analysis/insn_cost.h"

enum { PREDICATES = 6, WORTH = 40, ALONE = 5, WAIT = 60, BESIDE = 5 };

/* An instruction whose result is the same in every round. */
typedef struct same {
    uint32_t block, at;
    uint32_t stretch; /* of its block */
    uint8_t rows;     /* registers that it takes, none: a predicate */
    bool pointer;     /* and one more */
    bool number;      /* the result is one */
    bool load;
    bool needed;  /* by a load that the block waits for */
    bool root;    /* something reads it that is not the same in every round */
    bool counted; /* with what needs it */
    bool goes;
    bool behind; /* it goes behind the test whether there is a first round: a load, and what needs
                    one */
} same;

/* What a stretch of a block costs: for ptxas a fence ends a block. */
typedef struct stretch {
    unsigned n;
    bool waits;
} stretch;

/* What the blocks of a loop do, by its head. */
typedef struct body {
    pl_memory_clobbers stored;
    bool is;    /* no others in it, and it calls nothing */
    bool stays; /* for loads: lanes end in it */
} body;

typedef struct lifter {
    pl_ir *x;
    uint32_t head, front;             /* this loop, and the block in front of it */
    const body *does;                 /* this loop */
    uint32_t *of_row, *of_pred;       /* by register: who writes it, an index in `found` plus one */
    uint32_t *row_reads, *pred_reads; /* by register: how often those in `found` read it */
    uint32_t *row_needed,
        *pred_needed; /* by register: the stretch, plus one, in which a load behind needs it */
    struct {
        same *at;
        size_t n, cap;
    } found;
    struct {
        uint32_t *at;
        size_t n, cap;
    } todo; /* indices in `found` */
    struct {
        stretch *at;
        size_t n, cap;
    } in;          /* stretches */
    size_t first;  /* of this loop in `found` */
    unsigned rows; /* answers of the questions below */
    bool number, no;
} lifter;

/* The one in this loop that writes a register, PL_IR_NONE. */
static uint32_t found_at(const lifter *l, uint32_t row, unsigned use)
{
    const uint32_t k = (use & PL_USE_PRED ? l->of_pred : l->of_row)[row];
    return k > l->first ? k - 1 : PL_IR_NONE;
}

static void ask_read(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    lifter *l = ctx;
    uint64_t number;
    for (unsigned k = 0; k < rows && !l->no; k++) {
        const uint32_t at = *row + k, f = at == UINT32_MAX ? PL_IR_NONE : found_at(l, at, use);
        if (f != PL_IR_NONE)
            l->number &= l->found.at[f].number;
        else if (use & PL_USE_PRED)
            l->no = !pl_ir_pred_available_at(l->x, at, l->front);
        else {
            l->no = !pl_ir_available_at(l->x, at, l->front);
            l->number &= pl_ir_constant_value(l->x, *row, &number);
        }
    }
}

static void ask_write(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    lifter *l = ctx;
    const bool pred = (use & PL_USE_PRED) != 0;
    for (unsigned k = 0; k < rows && !l->no; k++) l->no = !pl_ir_is_value(l->x, *row + k, pred);
    l->rows += pred ? 0 : rows;
}

static void note_read(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    lifter *l = ctx;
    for (unsigned k = 0; k < rows; k++)
        (use & PL_USE_PRED ? l->pred_reads : l->row_reads)[*row + k]++;
}

static void note_write(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    lifter *l = ctx;
    for (unsigned k = 0; k < rows; k++)
        (use & PL_USE_PRED ? l->of_pred : l->of_row)[*row + k] = (uint32_t)l->found.n;
}

/* Does somebody else read it? */
static void ask_readers(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    lifter *l = ctx;
    const bool pred = (use & PL_USE_PRED) != 0;
    for (unsigned k = 0; k < rows; k++)
        l->no |= (pred ? l->x->preds : l->x->regs)[*row + k].nuses >
                 (pred ? l->pred_reads : l->row_reads)[*row + k];
}

static bool calls(const pl_insn *i)
{
    return pl_insn_calls_out(i) || i->latency_class == C_wgmma_fence ||
           i->latency_class == C_wgmma_wait;
}

/* Loads too, from the first block, if nothing in the loop may write what they read. */
static bool may_go(lifter *l, uint32_t b, pl_insn *i)
{
    const bool load = pl_far_load(i);
    l->no = i->guard != PL_PT || (i->flags & PL_IF_FROM_WMMA) ||
            (load ? b != l->head || l->does->stays || pl_clobbers_load(&l->does->stored, i)
                  : !pl_insn_pure(i));
    l->number = !load;
    l->rows = 0;
    if (!l->no) pl_insn_reads_here(l->x->p, i, ask_read, l);
    if (!l->no) pl_insn_writes_here(l->x->p, i, ask_write, l);
    return !l->no;
}

/* Does the block wait for it? */
static bool waits(const pl_insn *i)
{
    return pl_insn_effects(i) == PL_EF_LOAD &&
           (i->sel[PL_M_SPACE] == PL_SP_GLOBAL || i->sel[PL_M_SPACE] == PL_SP_GENERIC);
}

static void ask_needed(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    lifter *l = ctx;
    for (unsigned k = 0; k < rows; k++)
        l->no |= (use & PL_USE_PRED ? l->pred_needed : l->row_needed)[*row + k] == l->in.n;
}

static void note_needed(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    lifter *l = ctx;
    for (unsigned k = 0; k < rows && *row + k != UINT32_MAX; k++)
        (use & PL_USE_PRED ? l->pred_needed : l->row_needed)[*row + k] = (uint32_t)l->in.n;
}

static void note_written(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    lifter *l = ctx;
    for (unsigned k = 0; k < rows; k++)
        (use & PL_USE_PRED ? l->pred_needed : l->row_needed)[*row + k] = 0;
}

/* Is it needed by a load further on in its stretch, or one itself? From the last instruction to the
 * first. */
static bool is_needed(lifter *l, pl_insn *i)
{
    l->no = waits(i);
    if (!l->no) pl_insn_writes_here(l->x->p, i, ask_needed, l);
    if (!l->no) return false;
    if (i->guard == PL_PT) pl_insn_writes_here(l->x->p, i, note_written, l);
    pl_insn_reads_here(l->x->p, i, note_needed, l);
    return true;
}

/* Finds what may go of the instructions from here to the end of the stretch, which it returns. */
static uint32_t look_at(lifter *l, uint32_t b, uint32_t at)
{
    pl_ir *x = l->x;
    stretch s = {.n = BESIDE};
    uint32_t end = at;
    for (; end < x->blocks.at[b].code.n && !pl_insn_is_fence(&x->blocks.at[b].code.at[end]);
         end++) {
        const pl_insn *i = &x->blocks.at[b].code.at[end];
        s.n += i->form != PL_IR_DEAD && !pl_insn_is_copy(i) && !pl_insn_is_free_copy(i);
        s.waits |= i->form != PL_IR_DEAD && waits(i);
    }
    const size_t first = l->found.n;
    *pl_push(x->tmp, &l->in) = s;
    for (uint32_t k = at; k < end && pl_ir_ok(x); k++) {
        pl_insn *i = &x->blocks.at[b].code.at[k];
        if (i->form == PL_IR_DEAD || !may_go(l, b, i)) continue;
        *pl_push(x->tmp, &l->found) = (same){.block = b,
                                             .at = k,
                                             .stretch = (uint32_t)l->in.n - 1,
                                             .rows = (uint8_t)l->rows,
                                             .number = l->number,
                                             .load = waits(i),
                                             .pointer = pl_insn_mnem(i) == M_mad && l->rows == 2,
                                             .behind = pl_far_load(i)};
        pl_insn_reads_here(x->p, i, note_read, l);
        pl_insn_writes_here(x->p, i, note_write, l);
    }
    size_t f = l->found.n;
    for (uint32_t k = end; s.waits && f > first && k-- > at && pl_ir_ok(x);) {
        pl_insn *i = &x->blocks.at[b].code.at[k];
        const bool needed = i->form != PL_IR_DEAD && is_needed(l, i);
        if (l->found.at[f - 1].at == k) l->found.at[--f].needed = needed;
    }
    return end + (end < x->blocks.at[b].code.n);
}

static void push_needed(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    lifter *l = ctx;
    for (unsigned k = 0; k < rows; k++) {
        const uint32_t f = *row + k == UINT32_MAX ? PL_IR_NONE : found_at(l, *row + k, use);
        if (f != PL_IR_NONE) *pl_push(l->x->tmp, &l->todo) = f;
    }
}

/* As ptxas counts instructions by then: sums of three and logic of three are still two. */
static unsigned weight(const pl_ir *x, const pl_insn *i)
{
    if (pl_insn_is_copy(i) || pl_insn_is_free_copy(i)) return 0;
    if (pl_insn_mnem(i) == M__iadd3 || pl_insn_mnem(i) == M_lop3) return 2;
    return pl_type_bits(pl_insn_type(i)) == 64 ? 1 : pl_insn_cost(x, i);
}

/* What a value saves in each round with all that it needs and that has not been counted, or has
 * gone; *rows: what that takes beside it. They go: that is what happens. */
static unsigned walk(lifter *l, uint32_t f, bool go, unsigned *rows)
{
    pl_ir *x = l->x;
    unsigned n = 0;
    l->todo.n = 0;
    for (*pl_push(x->tmp, &l->todo) = f; l->todo.n && pl_ir_ok(x);) {
        same *s = &l->found.at[l->todo.at[--l->todo.n]];
        if (s->goes || (!go && s->counted)) continue;
        s->counted = true;
        s->goes = go;
        pl_insn *i = &x->blocks.at[s->block].code.at[s->at];
        n += s->load ? WAIT : weight(x, i) * (s->needed || !l->in.at[s->stretch].waits ? ALONE : 1);
        *rows += s->pointer;
        pl_insn_reads_here(x->p, i, push_needed, l);
    }
    return n;
}

static void ask_behind(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    lifter *l = ctx;
    for (unsigned k = 0; k < rows; k++) {
        const uint32_t f = *row + k == UINT32_MAX ? PL_IR_NONE : found_at(l, *row + k, use);
        l->no |= f != PL_IR_NONE && l->found.at[f].behind;
    }
}

/* Moves what goes. */
static bool move(lifter *l)
{
    pl_ir *x = l->x;
    uint32_t front = PL_IR_NONE;
    bool any = false;
    for (size_t f = l->first; f < l->found.n && pl_ir_ok(x); f++) {
        same *s = &l->found.at[f];
        if (!s->goes) continue;
        l->no = s->behind;
        pl_insn_reads_here(x->p, &x->blocks.at[s->block].code.at[s->at], ask_behind, l);
        s->behind = l->no;
        if (s->behind && front == PL_IR_NONE) front = pl_ir_preheader(x, l->head);
        const uint32_t to = s->behind ? front : l->front;
        pl_insn *i = pl_ir_ok(x) ? pl_ir_insert_deferred(x, to, pl_ir_end(x, to)) : NULL;
        if (!i) return false;
        *i = x->blocks.at[s->block].code.at[s->at];
        pl_ir_remove(x, &x->blocks.at[s->block].code.at[s->at]);
        any = true;
    }
    return any;
}

/* The loop with this head; every round comes through `last`, its last block. */
static bool lift(lifter *l, uint32_t head, uint32_t last, bool compares)
{
    pl_ir *x = l->x;
    l->head = head;
    l->front = x->blocks.at[head].idom;
    l->first = l->found.n;
    l->todo.n = 0;
    for (uint32_t b = last; b != l->front; b = x->blocks.at[b].idom) *pl_push(x->tmp, &l->todo) = b;
    for (size_t k = l->todo.n; k-- > 0 && pl_ir_ok(x);)
        for (uint32_t at = 0; at < x->blocks.at[l->todo.at[k]].code.n && pl_ir_ok(x);)
            at = look_at(l, l->todo.at[k], at);
    unsigned predicates = 0, beside = 0;
    for (size_t f = l->first; f < l->found.n; f++) {
        same *s = &l->found.at[f];
        l->no = false;
        pl_insn_writes_here(x->p, &x->blocks.at[s->block].code.at[s->at], ask_readers, l);
        s->root = l->no && !s->number;
        predicates += s->root && !s->rows && s->block == head;
    }
    for (size_t f = l->first, end; f < l->found.n && pl_ir_ok(x); f = end) {
        const stretch *in = &l->in.at[l->found.at[f].stretch];
        unsigned saved = 0, rows = 0;
        for (end = f; end < l->found.n && l->found.at[end].stretch == l->found.at[f].stretch; end++)
            if (l->found.at[end].root && l->found.at[end].rows) {
                saved += walk(l, (uint32_t)end, false, &rows);
                rows += l->found.at[end].rows;
            }
        for (size_t k = f; k < end; k++) {
            const same *s = &l->found.at[k];
            if (s->root && (compares ? !s->rows && s->block == head && predicates <= PREDICATES
                                     : s->rows && saved * WORTH >= in->n * rows))
                walk(l, (uint32_t)k, true, &beside);
        }
    }
    return move(l);
}

/* What the loops do that have no others in them and call nothing: by head. */
static const body *find_loops(pl_ir *x, bool *some)
{
    body *of = pl_arena_array(x->tmp, body, x->blocks.n + 1);
    if (!of) return NULL;
    for (uint32_t j = 0; j < x->nrpo; j++) {
        const pl_ir_block *b = &x->blocks.at[x->rpo[j]];
        of[x->rpo[j]].is = b->nlatches && b->idom != x->rpo[j];
        if (b->nlatches && b->parent_loop != PL_IR_NONE) of[b->parent_loop].is = false;
        for (size_t k = 0; b->loop != PL_IR_NONE && of[b->loop].is && k < b->code.n; k++)
            if (b->code.at[k].form != PL_IR_DEAD) {
                body *to = &of[b->loop];
                to->is = !calls(&b->code.at[k]);
                to->stays |= (pl_insn_effects(&b->code.at[k]) & PL_EF_EXIT) != 0;
                pl_clobbers_add_in_loop(&to->stored, &b->code.at[k]);
            }
    }
    for (uint32_t j = 0; j < x->nrpo; j++) *some |= of[x->rpo[j]].is;
    return of;
}

static bool lift_all(pl_ir *x, bool compares)
{
    bool some = false, any = false;
    if (!pl_ir_analyze(x)) return false;
    const body *of = find_loops(x, &some);
    if (!of || !some) {
        pl_ir_preserve_all(x);
        return of != NULL;
    }
    const size_t rows = x->f->rows + 4, preds = x->f->preds + 1;
    lifter l = {.x = x,
                .of_row = pl_arena_array(x->tmp, uint32_t, rows),
                .of_pred = pl_arena_array(x->tmp, uint32_t, preds),
                .row_reads = pl_arena_array(x->tmp, uint32_t, rows),
                .pred_reads = pl_arena_array(x->tmp, uint32_t, preds),
                .row_needed = pl_arena_array(x->tmp, uint32_t, rows),
                .pred_needed = pl_arena_array(x->tmp, uint32_t, preds)};
    if (!l.of_row || !l.of_pred || !l.row_reads || !l.pred_reads || !l.row_needed || !l.pred_needed)
        return false;
    for (uint32_t j = 0; j < x->nrpo && pl_ir_ok(x); j++) {
        const uint32_t head = x->rpo[j];
        const pl_ir_block *b = &x->blocks.at[head];
        if (!of[head].is) continue;
        l.does = &of[head];
        uint32_t last = PL_IR_NONE;
        for (uint32_t k = 0; k < b->npreds; k++)
            if (pl_ir_in_loop(x, x->predecessors[b->first_pred + k], head))
                last = pl_ir_common_dominator(x, last, x->predecessors[b->first_pred + k]);
        any |= lift(&l, head, last, compares);
    }
    return pl_ir_finish_inserts(x, any);
}

bool pl_pass_licm(pl_ir *x)
{
    return lift_all(x, false);
}

bool pl_pass_licm_compares(pl_ir *x)
{
    return lift_all(x, true);
}
