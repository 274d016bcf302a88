/* invariant.c - what is the same in every round of a loop is computed in front of it.
 *
 * Compilers in front of ptxas do that for what they see; what assembly, other compilers and passes of ours leave in a loop, ptxas 13.0 computes in
 * front of it (2026-11: some 2,000 loops made for it, of 60 kinds of instructions), if the loop has no other in it, calls no subroutine and waits for
 * no group of warps' products (wgmma), where
 * - every round comes through its block; other conditions may stand in front, since it does nothing but compute;
 * - it is worth the registers that it takes all along. In a block of n instructions (BESIDE more for the loop itself) a register is worth
 *   n / ROUND of them, or n / WAIT where the block waits for global memory: moving saves the instruction, and those that only it
 *   needs. So one instruction moves out of a block of 195, 64-bit arithmetic of one instruction out of 95, and a pointer that IMAD.WIDE makes, for which
 *   three registers count, out of 61; two that make one value out of 395. It does not matter how many values there are.
 * What is a number when all is known is none of it. Compares of the first block go too, when the bodies of short branches are
 * guarded (pl_pass_predicate), at most PREDICATES: with more all stay, for the loop needs a predicate for its own end. */
#include "isa/passes.h"
#include "isa/plan.h"
#include "isa/weight.h"

enum { PREDICATES = 6, ROUND = 200, WAIT = 40, BESIDE = 5, POINTER = 3 };

/* An instruction whose result is the same in every round. */
typedef struct same {
    uint32_t block, at;
    uint8_t rows;      /* registers that it takes, none: a predicate */
    bool number;       /* the result is one */
    bool root;         /* something reads it that is not the same in every round */
    bool counted;      /* with what needs it */
    bool goes;
} same;

typedef struct lifter {
    pl_ir *x;
    uint32_t front;                                 /* the block in front of this loop */
    uint32_t *of_row, *of_pred;                     /* by register: who writes it, an index in `found` plus one */
    uint32_t *row_reads, *pred_reads;               /* by register: how often those in `found` read it */
    struct { same *at; size_t n, cap; } found;
    struct { uint32_t *at; size_t n, cap; } todo;   /* indices in `found` */
    size_t first;                                   /* of this loop in `found` */
    unsigned rows;                                  /* answers of the questions below */
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
        const pl_ir_row *p = use & PL_USE_PRED ? &l->x->pred_row[at] : NULL;
        if (f != PL_IR_NONE)
            l->number &= l->found.at[f].number;
        else if (p)
            l->no = at > PL_PF && (p->defs != 1 || (p->block != PL_IR_NONE && !pl_ir_dominates(l->x, p->block, l->front)));
        else {
            l->no = !pl_ir_is_there(l->x, at, l->front);
            l->number &= pl_ir_number(l->x, *row, &number);
        }
    }
}

static void ask_write(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    lifter *l = ctx;
    const bool pred = (use & PL_USE_PRED) != 0;
    for (unsigned k = 0; k < rows && !l->no; k++) {
        const pl_ir_row *r = &(pred ? l->x->pred_row : l->x->row)[*row + k];
        l->no = r->defs != 1 || r->pinned || (pred ? *row <= PL_PF : r->kind != PL_ROW_REG);
    }
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
        l->no |= (pred ? l->x->pred_row : l->x->row)[*row + k].uses > (pred ? l->pred_reads : l->row_reads)[*row + k];
}

static bool calls(const pl_insn *i)
{
    return pl_lift_calls(i) || i->cls == C_wgmma_fence || i->cls == C_wgmma_wait;
}

static bool may_go(lifter *l, pl_insn *i)
{
    l->no = i->guard != PL_PT || !pl_insn_pure(i);
    l->number = true;
    l->rows = 0;
    if (!l->no)
        pl_insn_reads_here(l->x->p, i, ask_read, l);
    if (!l->no)
        pl_insn_writes_here(l->x->p, i, ask_write, l);
    return !l->no;
}

static void look_at(lifter *l, uint32_t b)
{
    pl_ir *x = l->x;
    for (uint32_t at = 0; at < x->b.at[b].code.n && pl_ir_ok(x); at++) {
        pl_insn *i = &x->b.at[b].code.at[at];
        if (i->form == PL_IR_DEAD || !may_go(l, i))
            continue;
        const bool pointer = pl_insn_mnem(i) == M_mad && l->rows == 2;
        *pl_push(x->tmp, &l->found) = (same){.block = b, .at = at, .rows = (uint8_t)(pointer ? POINTER : l->rows), .number = l->number};
        pl_insn_reads_here(x->p, i, note_read, l);
        pl_insn_writes_here(x->p, i, note_write, l);
    }
}

static void push_needed(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    lifter *l = ctx;
    for (unsigned k = 0; k < rows; k++) {
        const uint32_t f = *row + k == UINT32_MAX ? PL_IR_NONE : found_at(l, *row + k, use);
        if (f != PL_IR_NONE)
            *pl_push(l->x->tmp, &l->todo) = f;
    }
}

/* As ptxas counts instructions by then: sums of three and logic of three are still two. */
static unsigned weight(const pl_ir *x, const pl_insn *i)
{
    if (pl_insn_copies(i) || pl_insn_carries(i))
        return 0;
    if (pl_insn_mnem(i) == M__iadd3 || pl_insn_mnem(i) == M_lop3)
        return 2;
    return pl_type_bits(pl_insn_type(i)) == 64 ? 1 : pl_weight(x, i);
}

/* What a value costs in each round with all that it needs and that has not been counted, or has gone. They go: that is what happens. */
static unsigned walk(lifter *l, uint32_t f, bool go)
{
    pl_ir *x = l->x;
    unsigned n = 0;
    l->todo.n = 0;
    for (*pl_push(x->tmp, &l->todo) = f; l->todo.n && pl_ir_ok(x);) {
        same *s = &l->found.at[l->todo.at[--l->todo.n]];
        if (s->goes || (!go && s->counted))
            continue;
        s->counted = true;
        s->goes = go;
        pl_insn *i = &x->b.at[s->block].code.at[s->at];
        n += weight(x, i);
        pl_insn_reads_here(x->p, i, push_needed, l);
    }
    return n;
}

/* What a stretch of a block costs: for ptxas a fence ends a block. */
typedef struct stretch {
    uint32_t block, end;
    unsigned n;
    bool waits;
} stretch;

static stretch around(const pl_ir *x, uint32_t block, uint32_t at)
{
    stretch s = {.block = block, .n = BESIDE};
    const pl_irb *b = &x->b.at[block];
    while (at > 0 && !pl_insn_fences(&b->code.at[at - 1]))
        at--;
    for (s.end = at; s.end < b->code.n && !pl_insn_fences(&b->code.at[s.end]); s.end++) {
        const pl_insn *i = &b->code.at[s.end];
        s.n += i->form != PL_IR_DEAD && !pl_insn_copies(i) && !pl_insn_carries(i);
        s.waits |= i->form != PL_IR_DEAD && pl_insn_effects(i) == PL_EF_LOAD && (i->sel[PL_M_SPACE] == PL_SP_GLOBAL || i->sel[PL_M_SPACE] == PL_SP_GENERIC);
    }
    return s;
}

/* Moves what goes. */
static bool move(lifter *l)
{
    pl_ir *x = l->x;
    bool any = false;
    for (size_t f = l->first; f < l->found.n; f++) {
        const same *s = &l->found.at[f];
        pl_insn *i = &x->b.at[s->block].code.at[s->at], *to = s->goes ? pl_ir_later(x, l->front, pl_ir_end(x, l->front)) : NULL;
        if (!to)
            continue;
        *to = *i;
        pl_ir_remove(x, i);
        any = true;
    }
    return any;
}

/* The loop with this head; every round comes through `last`, its last block. */
static bool lift(lifter *l, uint32_t head, uint32_t last, bool compares)
{
    pl_ir *x = l->x;
    l->front = x->b.at[head].idom;
    l->first = l->found.n;
    l->todo.n = 0;
    for (uint32_t b = last; b != l->front; b = x->b.at[b].idom)
        *pl_push(x->tmp, &l->todo) = b;
    for (size_t k = l->todo.n; k-- > 0 && pl_ir_ok(x);)
        look_at(l, l->todo.at[k]);
    unsigned predicates = 0;
    for (size_t f = l->first; f < l->found.n; f++) {
        same *s = &l->found.at[f];
        l->no = false;
        pl_insn_writes_here(x->p, &x->b.at[s->block].code.at[s->at], ask_readers, l);
        s->root = l->no && !s->number;
        predicates += s->root && !s->rows && s->block == head;
    }
    stretch in = {.block = PL_IR_NONE};
    for (size_t f = l->first; f < l->found.n && pl_ir_ok(x); f++) {
        const same *s = &l->found.at[f];
        if (!s->root)
            continue;
        if (s->block != in.block || s->at >= in.end)
            in = around(x, s->block, s->at);
        if (s->rows ? walk(l, (uint32_t)f, false) * (in.waits ? WAIT : ROUND) >= in.n * s->rows : compares && s->block == head && predicates <= PREDICATES)
            walk(l, (uint32_t)f, true);
    }
    return move(l);
}

/* Loops that have no others in them and call nothing: by head. */
static bool *find_loops(pl_ir *x, bool *some)
{
    bool *is = pl_arena_array(x->tmp, bool, x->b.n + 1);
    if (!is)
        return NULL;
    for (uint32_t j = 0; j < x->nrpo; j++) {
        const pl_irb *b = &x->b.at[x->rpo[j]];
        is[x->rpo[j]] = b->latches && b->idom != x->rpo[j];
        if (b->latches && b->outer != PL_IR_NONE)
            is[b->outer] = false;
        for (size_t k = 0; b->loop != PL_IR_NONE && is[b->loop] && k < b->code.n; k++)
            is[b->loop] = b->code.at[k].form == PL_IR_DEAD || !calls(&b->code.at[k]);
    }
    for (uint32_t j = 0; j < x->nrpo; j++)
        *some |= is[x->rpo[j]];
    return is;
}

static bool lift_all(pl_ir *x, bool compares)
{
    bool some = false, any = false;
    if (!pl_ir_ready(x))
        return false;
    const bool *is = find_loops(x, &some);
    if (!is || !some) {
        pl_ir_same(x);
        return is != NULL;
    }
    const size_t rows = x->f->rows + 4, preds = x->f->preds + 1;
    lifter l = {.x = x, .of_row = pl_arena_array(x->tmp, uint32_t, rows), .of_pred = pl_arena_array(x->tmp, uint32_t, preds),
                .row_reads = pl_arena_array(x->tmp, uint32_t, rows), .pred_reads = pl_arena_array(x->tmp, uint32_t, preds)};
    if (!l.of_row || !l.of_pred || !l.row_reads || !l.pred_reads)
        return false;
    for (uint32_t j = 0; j < x->nrpo && pl_ir_ok(x); j++) {
        const uint32_t head = x->rpo[j];
        const pl_irb *b = &x->b.at[head];
        if (!is[head])
            continue;
        uint32_t last = PL_IR_NONE;
        for (uint32_t k = 0; k < b->npred; k++)
            if (pl_ir_in_loop(x, x->preds[b->pred + k], head))
                last = pl_ir_common_dominator(x, last, x->preds[b->pred + k]);
        any |= lift(&l, head, last, compares);
    }
    if (!any) {
        pl_ir_same(x);
        return true;
    }
    if (!pl_ir_settle(x))
        return false;
    pl_ir_sweep(x);
    return pl_ir_ok(x);
}

bool pl_pass_invariants(pl_ir *x)
{
    return lift_all(x, false);
}

bool pl_pass_compares(pl_ir *x)
{
    return lift_all(x, true);
}
