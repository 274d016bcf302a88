/* webs.c - registers that hold unrelated values one after the other are given a register for each.
 *
 * A web is a set of writes that some read cannot tell apart. Reaching definitions are solved with bit sets over the writes of rows that
 * are written more than once; writes that reach a common read are joined (union-find), and every web but one gets a row of its own.
 * A guarded write keeps what other lanes hold, so it reads too. Hand-written PTX, and copies of loop bodies, profit: what is left with
 * a single write is a value for the other passes. */
#include <string.h>

#include "isa/passes.h"
#include "isa/plan.h"

typedef struct var {
    uint32_t row, rows;   /* or the number of a predicate */
    uint32_t first, n;    /* its writes: bits first .. first + n; the first one is "before the function" */
    bool pred, mixed;     /* mixed: seen with different widths */
} var;

typedef struct webs {
    pl_ir *x;
    uint32_t *of[2];      /* by row, by predicate: variable, plus one */
    struct { var *at; size_t n, cap; } v;
    uint32_t bits, words;
    uint64_t *in, *out, *gen, *kill;
    uint32_t *up;         /* union-find over writes */
    uint32_t *row;        /* by write that represents a web: its row */
    uint32_t *now;        /* by variable: write that reaches this point in the block, PL_IR_NONE: those of `in` */
    uint32_t *seen;       /* by variable: writes numbered so far */
    uint32_t block;
    int phase;            /* 0 numbering, 1 joining, 2 renaming */
    bool guarded;
} webs;

static uint32_t find(webs *w, uint32_t k)
{
    while (w->up[k] != k)
        k = w->up[k] = w->up[w->up[k]];
    return k;
}

static void join(webs *w, uint32_t a, uint32_t b)
{
    a = find(w, a);
    b = find(w, b);
    if (a < b)
        w->up[b] = a;
    else
        w->up[a] = b;
}

static bool bit(const uint64_t *s, uint32_t k)
{
    return s[k / 64] >> (k % 64) & 1;
}

static void clear_range(uint64_t *s, uint32_t first, uint32_t n)
{
    for (uint32_t k = first; k < first + n; k++)
        s[k / 64] &= ~(1ull << (k % 64));
}

/* Finds the variables: rows with several writes, always used with the same width. */
static void survey(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    webs *w = ctx;
    bool pred = (use & PL_USE_PRED) != 0;
    pl_ir *x = w->x;
    const pl_ir_row *info = pred ? x->pred_row : x->row;
    unsigned n = pred ? 1 : rows;
    bool eligible = true;
    for (unsigned k = 0; k < n; k++)
        eligible &= !info[*row + k].pinned && info[*row + k].kind == PL_ROW_REG && !(pred && *row <= PL_PF);
    uint32_t have = w->of[pred][*row];
    if (!have) {
        if (!eligible || info[*row].defs < 2)
            return;
        *pl_push(x->tmp, &w->v) = (var){.row = *row, .rows = n, .pred = pred, .n = 1};
        if (!pl_ir_ok(x))
            return;
        for (unsigned k = 0; k < n; k++) {
            uint32_t other = w->of[pred][*row + k];
            if (other)
                w->v.at[other - 1].mixed = w->v.at[w->v.n - 1].mixed = true;
            w->of[pred][*row + k] = (uint32_t)w->v.n;
        }
        have = (uint32_t)w->v.n;
    }
    var *v = &w->v.at[have - 1];
    v->mixed |= v->row != *row || v->rows != n || !eligible;
    for (unsigned k = 1; k < n; k++)
        if (w->of[pred][*row + k] != have) {
            v->mixed = true;
            if (w->of[pred][*row + k])
                w->v.at[w->of[pred][*row + k] - 1].mixed = true;
        }
    v->n += (use & PL_USE_WRITE) != 0;
}

static void reading(webs *w, var *v, uint32_t index, uint32_t *row)
{
    uint32_t def = w->now[index];
    if (def == PL_IR_NONE) {
        const uint64_t *in = w->in + (size_t)w->block * w->words;
        for (uint32_t k = v->first; k < v->first + v->n; k++) {
            if (!bit(in, k))
                continue;
            if (def == PL_IR_NONE)
                def = k;
            else if (w->phase == 1)
                join(w, def, k);
            else
                break;
        }
        if (def == PL_IR_NONE)
            def = v->first;
    }
    if (w->phase == 2)
        *row = w->row[find(w, def)];
    else
        w->now[index] = def;
}

static void writing(webs *w, var *v, uint32_t index, uint32_t *row, bool keeps)
{
    uint32_t def = v->first + ++w->seen[index];
    if (w->phase == 0) {
        uint64_t *gen = w->gen + (size_t)w->block * w->words;
        if (!keeps) {
            clear_range(gen, v->first, v->n);
            for (uint32_t k = v->first; k < v->first + v->n; k++)
                w->kill[(size_t)w->block * w->words + k / 64] |= 1ull << (k % 64);
        }
        gen[def / 64] |= 1ull << (def % 64);
        return;
    }
    if (keeps) { /* reads what was there */
        uint32_t ignored = 0;
        if (w->phase == 1) {
            reading(w, v, index, &ignored);
            join(w, w->now[index], def);
        }
    }
    w->now[index] = def;
    if (w->phase == 2)
        *row = w->row[find(w, def)];
}

static void step(void *ctx, uint32_t *row, unsigned use, bool write)
{
    webs *w = ctx;
    bool pred = (use & PL_USE_PRED) != 0;
    uint32_t index = w->of[pred][*row];
    if (!index || w->v.at[index - 1].mixed || w->v.at[index - 1].row != *row)
        return;
    index--;
    var *v = &w->v.at[index];
    if (!write && w->phase > 0)
        reading(w, v, index, row);
    else if (write)
        writing(w, v, index, row, w->guarded || (use & PL_USE_READ));
}

static void step_read(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    (void)rows;
    if ((use & PL_USE_READ) && !(use & PL_USE_WRITE))
        step(ctx, row, use, false);
}

static void step_write(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    (void)rows;
    if (use & PL_USE_WRITE)
        step(ctx, row, use, true);
}

/* Reads before writes within an instruction. Each operand is one or the other, so it is renamed once. */
static void walk(webs *w, int phase)
{
    pl_ir *x = w->x;
    w->phase = phase;
    memset(w->seen, 0, w->v.n * sizeof *w->seen);
    for (w->block = 0; w->block < x->b.n; w->block++) {
        memset(w->now, 0xff, w->v.n * sizeof *w->now);
        for (size_t k = 0; k < x->b.at[w->block].code.n; k++) {
            pl_insn *i = &x->b.at[w->block].code.at[k];
            if (i->form == PL_IR_DEAD)
                continue;
            w->guarded = i->guard != PL_PT;
            pl_insn_uses_twice(x->p, i, step_read, step_write, w);
        }
    }
}

static void solve(webs *w)
{
    pl_ir *x = w->x;
    bool changed = true;
    for (size_t k = 0; k < w->v.n; k++) /* before the function: nothing has been written */
        w->in[w->v.at[k].first / 64] |= 1ull << (w->v.at[k].first % 64);
    while (changed) {
        changed = false;
        for (uint32_t j = 0; j < x->nrpo; j++) {
            uint32_t b = x->rpo[j];
            uint64_t *in = w->in + (size_t)b * w->words, *out = w->out + (size_t)b * w->words;
            const uint64_t *gen = w->gen + (size_t)b * w->words, *kill = w->kill + (size_t)b * w->words;
            for (uint32_t e = 0; e < x->b.at[b].npred; e++) {
                const uint64_t *from = w->out + (size_t)x->preds[x->b.at[b].pred + e] * w->words;
                for (uint32_t k = 0; k < w->words; k++)
                    in[k] |= from[k];
            }
            for (uint32_t k = 0; k < w->words; k++) {
                uint64_t v = gen[k] | (in[k] & ~kill[k]);
                changed |= v != out[k];
                out[k] = v;
            }
        }
    }
}

bool pl_pass_webs(pl_ir *x)
{
    webs w = {.x = x};
    if (!pl_ir_ready(x))
        return false;
    w.of[0] = pl_arena_array(x->tmp, uint32_t, x->f->rows + 4);
    w.of[1] = pl_arena_array(x->tmp, uint32_t, x->f->preds + 1);
    if (!w.of[0] || !w.of[1])
        return false;
    for (size_t b = 0; b < x->b.n; b++)
        for (size_t k = 0; k < x->b.at[b].code.n; k++)
            pl_insn_uses_here(x->p, &x->b.at[b].code.at[k], survey, &w);
    if (!pl_ir_ok(x))
        return false;
    for (size_t k = 0; k < w.v.n; k++) {
        w.v.at[k].first = w.bits;
        w.bits += w.v.at[k].mixed ? 0 : w.v.at[k].n;
    }
    w.words = (w.bits + 63) / 64;
    size_t size = (size_t)w.words * x->b.n + 1;
    if (!w.bits || size > (size_t)1 << 23) /* 64 MB a set: such a function keeps its registers */
        return true;
    w.in = pl_arena_array(x->tmp, uint64_t, size);
    w.out = pl_arena_array(x->tmp, uint64_t, size);
    w.gen = pl_arena_array(x->tmp, uint64_t, size);
    w.kill = pl_arena_array(x->tmp, uint64_t, size);
    w.up = pl_arena_array(x->tmp, uint32_t, w.bits);
    w.row = pl_arena_array(x->tmp, uint32_t, w.bits);
    w.now = pl_arena_array(x->tmp, uint32_t, w.v.n);
    w.seen = pl_arena_array(x->tmp, uint32_t, w.v.n);
    if (!w.in || !w.out || !w.gen || !w.kill || !w.up || !w.row || !w.now || !w.seen)
        return false;
    for (uint32_t k = 0; k < w.bits; k++)
        w.up[k] = k;
    walk(&w, 0);
    solve(&w);
    walk(&w, 1);
    for (size_t k = 0; k < w.v.n; k++) {
        var *v = &w.v.at[k];
        bool kept = false;
        for (uint32_t d = v->first; !v->mixed && d < v->first + v->n; d++) {
            if (find(&w, d) != d)
                continue;
            w.row[d] = !kept ? v->row : v->pred ? pl_ir_new_pred(x) : pl_ir_new(x, v->rows);
            kept = true;
        }
    }
    walk(&w, 2);
    return pl_ir_ok(x);
}
