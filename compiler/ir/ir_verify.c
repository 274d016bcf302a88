/* ir_verify.c - checks the invariants of the block graph that every pass may rely on. See
 * ir_verify.h.
 *
 * The last one, no new read of an undefined register, is checked by liveness at the entry: a
 * register that is live-in there has a path without a definition. A predicated write counts as a
 * definition, since if-conversion produces pairs of a predicated write and a read under the same
 * predicate. */
#include "compiler/ir/ir_verify.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "isa/program/verify.h"
#include "compiler/analysis/live_spans.h"
#include "isa/program/operand_plan.h"

typedef struct verify {
    pl_ir *x;
    char *why;
    size_t size;
    bool bad;
    uint32_t block, at;
} verify;

static void fail(verify *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void fail(verify *v, const char *fmt, ...)
{
    if (v->bad) return;
    v->bad = true;
    int n = snprintf(v->why, v->size, "bb%u, instruction %u: ", v->block, v->at);
    va_list ap;
    va_start(ap, fmt);
    if (n > 0 && (size_t)n < v->size) vsnprintf(v->why + n, v->size - (size_t)n, fmt, ap);
    va_end(ap);
}

static bool ends_thread(const pl_insn *i)
{
    return (pl_insn_effects(i) & PL_EF_EXIT) ||
           ((pl_insn_effects(i) & PL_EF_BRANCH) && !pl_forms[i->form].noperands);
}

static void verify_operand(verify *v, uint32_t *row, unsigned rows, unsigned use)
{
    const pl_prog_func *f = v->x->f;
    if (use & PL_USE_PRED) {
        if (*row >= f->preds) fail(v, "predicate %u, of %u", *row, f->preds);
        return;
    }
    if (*row >= f->rows || rows > f->rows - *row) {
        fail(v, "register %u of width %u, of %u", *row, rows, f->rows);
        return;
    }
    for (unsigned k = 0; k < rows; k++)
        if ((use & PL_USE_WRITE) && v->x->kind.at[*row + k] == PL_REG_PRESET)
            fail(v, "writes register %u, which holds a constant", *row + k);
}

static void verify_insn(verify *v, pl_insn *i, bool last)
{
    if (i->form > pl_nforms) {
        fail(v, "no such form");
        return;
    }
    if (!pl_insn_words_fit(i))
        fail(v, "%s has a modifier that its form does not take",
             pl_mnems[pl_forms[i->form].mnem].name);
    if (i->line >= v->x->p->lines.n && v->x->p->lines.n)
        fail(v, "line %u, of %zu", i->line, v->x->p->lines.n);
    if (!last && pl_insn_is_jump(i)) fail(v, "a branch before the end of its block");
    if (!last && ends_thread(i) && i->guard == PL_PT) fail(v, "code after the end of a thread");
    PL_FOR_EACH_USE(v->x->p, i, o) verify_operand(v, o.row, o.rows, o.use);
}

static void verify_block(verify *v, uint32_t b)
{
    const pl_ir_block *block = &v->x->blocks.at[b];
    v->block = b;
    for (size_t k = 0; k < block->code.n && !v->bad; k++) {
        v->at = (uint32_t)k;
        if (block->code.at[k].form != PL_IR_DEAD)
            verify_insn(v, &block->code.at[k], k + 1 == block->code.n);
    }
    for (uint32_t k = 0; k < pl_ir_successors(v->x, b); k++)
        if (pl_ir_successor(v->x, b, k) >= v->x->blocks.n)
            fail(v, "continues with bb%u, of %zu blocks", pl_ir_successor(v->x, b, k),
                 v->x->blocks.n);
}

/* ---- undefined reads ---- */

/* Values are numbered: `row` for a register, `f->rows + number` for a predicate. */
typedef struct reads {
    pl_ir *x;
    pl_live_spans live;
    uint32_t *seen; /* by value: number of the last block that accessed it, plus one */
    uint32_t block;
} reads;

static void note_access(reads *r, uint32_t value_id, bool read)
{
    if (r->seen[value_id] == r->block + 1) return;
    r->seen[value_id] = r->block + 1;
    pl_live_spans_access(&r->live, value_id, r->block, read);
}

static void note_operand(reads *r, const pl_operand_iter *o, unsigned access)
{
    const pl_ir *x = r->x;
    if (o->use & PL_USE_PRED) {
        if (*o->row > PL_PF) note_access(r, x->f->rows + *o->row, access == PL_USE_READ);
        return;
    }
    for (uint32_t row = *o->row; row < *o->row + o->rows; row++)
        if (x->kind.at[row] == PL_REG_VIRTUAL) note_access(r, row, access == PL_USE_READ);
}

static bool list_predecessors(const pl_ir *x, pl_live_spans *s)
{
    const size_t n = x->blocks.n;
    size_t edges = 0;
    for (uint32_t b = 0; b < n; b++) edges += pl_ir_successors(x, b);
    uint32_t *first = pl_arena_array(x->tmp, uint32_t, n + 1),
             *count = pl_arena_array(x->tmp, uint32_t, n + 1);
    uint32_t *preds = pl_arena_array(x->tmp, uint32_t, edges + 1);
    if (!first || !count || !preds) return false;
    for (uint32_t b = 0; b < n; b++)
        for (uint32_t k = 0; k < pl_ir_successors(x, b); k++) first[pl_ir_successor(x, b, k) + 1]++;
    for (size_t b = 0; b < n; b++) first[b + 1] += first[b];
    for (uint32_t b = 0; b < n; b++)
        for (uint32_t k = 0; k < pl_ir_successors(x, b); k++) {
            const uint32_t to = pl_ir_successor(x, b, k);
            preds[first[to] + count[to]++] = b;
        }
    s->preds = preds;
    s->pred = first;
    s->npred = count;
    return true;
}

/* Finds a value that may be read while undefined; *value_id is PL_IR_NONE if there is none. */
static pl_status find_undefined(pl_ir *x, uint32_t *value_id)
{
    const uint32_t nvalues = x->f->rows + x->f->preds;
    reads r = {.x = x,
               .live = {.a = x->tmp, .values = nvalues, .blocks = (uint32_t)x->blocks.n},
               .seen = pl_arena_array(x->tmp, uint32_t, nvalues + 1)};
    *value_id = PL_IR_NONE;
    if (!r.seen || !list_predecessors(x, &r.live)) return PL_NOMEM;
    for (uint32_t b = 0; b < x->blocks.n; b++) {
        r.block = b;
        for (size_t k = 0; k < x->blocks.at[b].code.n; k++) {
            pl_insn *i = &x->blocks.at[b].code.at[k];
            if (i->form == PL_IR_DEAD) continue;
            PL_FOR_EACH_READ(x->p, i, o) note_operand(&r, &o, PL_USE_READ);
            PL_FOR_EACH_WRITE(x->p, i, o) note_operand(&r, &o, PL_USE_WRITE);
        }
    }
    if (!pl_live_spans_solve(&r.live) || !pl_ir_ok(x)) return PL_NOMEM;
    uint8_t *at_entry = pl_arena_array(x->tmp, uint8_t, nvalues + 1);
    if (!at_entry) return PL_NOMEM;
    for (size_t k = 0; k < r.live.accesses.n; k++) /* read by the first block before any write */
        if (r.live.accesses.at[k].block == 0 && r.live.accesses.at[k].reads)
            at_entry[r.live.accesses.at[k].value] = 1;
    for (size_t k = 0; k < r.live.spans.n; k++) /* or live-out of it and not written in it */
        if (r.live.spans.at[k].first == 0) at_entry[r.live.spans.at[k].value] = 1;
    for (size_t k = 0; k < r.live.accesses.n; k++)
        if (r.live.accesses.at[k].block == 0 && !r.live.accesses.at[k].reads)
            at_entry[r.live.accesses.at[k].value] = 0;
    for (size_t k = 0; k < x->f->formal.n; k++)
        if (x->f->formal.at[k].reg) /* written by the caller */
            for (unsigned w = 0; w < 4 && x->f->formal.at[k].to + w < x->f->rows; w++)
                at_entry[x->f->formal.at[k].to + w] = 0;
    for (uint32_t k = 0; k < nvalues && *value_id == PL_IR_NONE; k++)
        if (at_entry[k]) *value_id = k;
    return PL_OK;
}

pl_status pl_ir_verify_open(pl_ir_verifier *v, pl_ir *x)
{
    uint32_t value_id;
    const pl_status st = find_undefined(x, &value_id);
    v->undefined_reads = value_id != PL_IR_NONE;
    return st;
}

pl_status pl_ir_verify(pl_ir_verifier *v, pl_ir *x, bool may_undefine, char *why, size_t size)
{
    verify c = {.x = x, .why = why, .size = size};
    for (uint32_t b = 0; b < x->blocks.n && !c.bad; b++) verify_block(&c, b);
    if (c.bad) return PL_INVALID;
    uint32_t value_id = PL_IR_NONE;
    if (!v->undefined_reads && find_undefined(x, &value_id) != PL_OK) return PL_NOMEM;
    if (may_undefine)
        v->undefined_reads |= value_id != PL_IR_NONE;
    else if (value_id != PL_IR_NONE) {
        const bool pred = value_id >= x->f->rows;
        snprintf(why, size, "%s %u is read where nothing wrote it", pred ? "predicate" : "register",
                 pred ? value_id - x->f->rows : value_id);
        return PL_INVALID;
    }
    return PL_OK;
}
