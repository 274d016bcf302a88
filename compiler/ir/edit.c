/* edit.c - creates registers, constants, instructions and blocks. */
#include "compiler/ir/ir_internal.h"

#include <stdlib.h>
#include <string.h>

uint32_t pl_ir_new(pl_ir *x, unsigned rows)
{
    uint32_t row = x->f->rows;
    for (unsigned k = 0; k < rows; k++) {
        *pl_push(x->a, &x->kind) = PL_REG_VIRTUAL;
        *pl_push(x->a, &x->init) = PL_IR_NONE;
    }
    x->f->rows += rows;
    return row;
}

uint32_t pl_ir_new_pred(pl_ir *x)
{
    return x->f->preds++;
}

/* A new row that is initialised to `preset` at frame entry. */
static uint32_t add_preset(pl_ir *x, pl_frame_init preset)
{
    const unsigned rows = preset.width / 32u;
    preset.row = pl_ir_new(x, rows);
    if (!pl_ir_ok(x)) return preset.row;
    for (unsigned k = 0; k < rows; k++) {
        x->kind.at[preset.row + k] = PL_REG_PRESET;
        x->init.at[preset.row + k] = (uint32_t)x->f->init.n;
    }
    *pl_push(x->p->arena, &x->f->init) = preset;
    return preset.row;
}

uint32_t pl_ir_constant(pl_ir *x, uint64_t bits, unsigned width)
{
    const pl_prog_func *f = x->f;
    if (width == 32) bits = (uint32_t)bits;
    for (size_t k = f->init.n, tries = 0; k-- > 0 && tries < 256; tries++) {
        const pl_frame_init *i = &f->init.at[k];
        if (i->bits == bits && i->width == width && !i->sreg && !i->reloc) return i->row;
    }
    return add_preset(x, (pl_frame_init){.width = (uint16_t)width, .bits = bits});
}

uint32_t pl_ir_frame(pl_ir *x)
{
    const pl_prog_func *f = x->f;
    for (size_t k = 0; k < f->init.n; k++)
        if (f->init.at[k].reloc == PL_RELOC_FRAME && !f->init.at[k].bits &&
            f->init.at[k].width == 64)
            return f->init.at[k].row;
    return add_preset(x, (pl_frame_init){.width = 64, .reloc = PL_RELOC_FRAME});
}

uint32_t pl_ir_sreg(pl_ir *x, pl_word sreg)
{
    const pl_prog_func *f = x->f;
    for (size_t k = 0; k < f->init.n; k++)
        if (f->init.at[k].sreg == sreg && !f->init.at[k].sel && f->init.at[k].width == 32)
            return f->init.at[k].row;
    return add_preset(x, (pl_frame_init){.width = 32, .sreg = (uint16_t)sreg});
}

bool pl_ir_available_at(const pl_ir *x, uint32_t row, uint32_t block)
{
    if (row == UINT32_MAX || x->kind.at[row] == PL_REG_PRESET) return true;
    const pl_ir_reg *r = row < x->nregs_described ? &x->regs[row] : NULL;
    return r && r->ndefs == 1 &&
           (r->def_block == PL_IR_NONE || pl_ir_dominates(x, r->def_block, block));
}

bool pl_ir_pred_available_at(const pl_ir *x, uint32_t pred, uint32_t block)
{
    const pl_ir_reg *p = &x->preds[pred];
    return pred <= PL_PF || (p->ndefs == 1 && (p->def_block == PL_IR_NONE ||
                                               pl_ir_dominates(x, p->def_block, block)));
}

uint32_t pl_ir_hoist_block(const pl_ir *x, uint32_t block, uint32_t a, uint32_t b)
{
    while (x->blocks.at[block].loop != PL_IR_NONE) {
        const uint32_t header = x->blocks.at[block].loop, up = x->blocks.at[header].idom;
        if (up == header || !pl_ir_available_at(x, a, up) || !pl_ir_available_at(x, b, up)) break;
        block = up;
    }
    return block;
}

/* ---- editing ---- */

pl_insn pl_ir_clone(pl_ir *x, const pl_insn *i)
{
    pl_insn c = *i;
    if (c.nextra) {
        c.extra_ops = (uint32_t)x->p->pool.n;
        for (uint32_t k = 0; k < c.nextra; k++) {
            uint32_t v = x->p->pool.at[i->extra_ops + k];
            *pl_push(x->p->arena, &x->p->pool) = v;
        }
    }
    return c;
}

static pl_insn *empty(pl_insn *i)
{
    *i = (pl_insn){.guard = PL_PT, .reconv = UINT32_MAX};
    for (int k = 0; k < PL_INLINE_OPERANDS; k++) i->op[k] = UINT32_MAX;
    return i;
}

pl_insn *pl_ir_insert(pl_ir *x, uint32_t block, size_t at)
{
    pl_ir_block *b = &x->blocks.at[block];
    x->uses_valid = false;
    pl_push(x->a, &b->code);
    if (!pl_arena_ok(x->a)) return NULL;
    memmove(b->code.at + at + 1, b->code.at + at, (b->code.n - 1 - at) * sizeof *b->code.at);
    return empty(&b->code.at[at]);
}

pl_insn *pl_ir_append(pl_ir *x, uint32_t block, uint32_t line)
{
    pl_insn *i = pl_ir_insert(x, block, x->blocks.at[block].code.n);
    if (i) i->line = line;
    return i;
}

uint32_t pl_ir_compare(pl_ir *x, uint32_t block, uint32_t line, pl_word cmp, pl_word type,
                       uint32_t a, uint32_t b, uint32_t and_pred)
{
    pl_insn *i = pl_ir_append(x, block, line);
    uint32_t p = pl_ir_new_pred(x);
    if (!i) return p;
    if (and_pred == PL_PT)
        pl_insn_make(i, M_setp, 4, (pl_word[]){cmp, type}, 2);
    else {
        pl_insn_make(i, M_setp, 5, (pl_word[]){cmp, W_and, type}, 3);
        i->op[4] = and_pred;
    }
    i->op[0] = p;
    i->op[2] = a;
    i->op[3] = b;
    return p;
}

void pl_ir_jump(pl_ir *x, uint32_t block, uint32_t line, uint32_t guard, bool negated,
                uint32_t target)
{
    pl_insn *i = pl_ir_append(x, block, line);
    if (!i || !pl_insn_make(i, M_bra, 1, NULL, 0)) return;
    i->guard = guard;
    i->flags |= (uint16_t)(negated ? PL_IF_GUARD_NEG : 0);
    i->target = target;
}

/* An instruction to be inserted before position `at`. */
typedef struct pl_ir_added {
    uint32_t block, at, number;
    pl_insn i;
} pl_ir_added;

pl_insn *pl_ir_insert_deferred(pl_ir *x, uint32_t block, size_t at)
{
    x->uses_valid = false;
    uint32_t number = (uint32_t)x->pending_inserts.n;
    pl_ir_added *a = pl_push(x->tmp, &x->pending_inserts);
    a->block = block;
    a->at = (uint32_t)at;
    a->number = number;
    return pl_arena_ok(x->tmp) ? empty(&a->i) : NULL;
}

static int by_position(const void *a, const void *b)
{
    const pl_ir_added *x = a, *y = b;
    if (x->block != y->block) return x->block < y->block ? -1 : 1;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Inserts block by block, from the end, so that each instruction moves once. */
bool pl_ir_flush_inserts(pl_ir *x)
{
    pl_ir_added *a = x->pending_inserts.at;
    size_t n = x->pending_inserts.n;
    bool ordered = true;
    for (size_t k = 1; k < n && ordered; k++) ordered = by_position(&a[k - 1], &a[k]) < 0;
    if (!ordered) qsort(a, n, sizeof *a, by_position);
    for (size_t k = 0, end; k < n && pl_ir_ok(x); k = end) {
        pl_ir_block *b = &x->blocks.at[a[k].block];
        size_t old = b->code.n;
        for (end = k; end < n && a[end].block == a[k].block; end++) pl_push(x->a, &b->code);
        if (!pl_arena_ok(x->a)) return false;
        for (size_t from = old, to = b->code.n, next = end; next > k;) {
            next--;
            size_t moved = from - a[next].at;
            to -= moved;
            from -= moved;
            memmove(b->code.at + to, b->code.at + from, moved * sizeof *b->code.at);
            b->code.at[--to] = a[next].i;
        }
    }
    x->pending_inserts.at = NULL; /* tmp is released with the pass */
    x->pending_inserts.n = x->pending_inserts.cap = 0;
    return pl_ir_ok(x);
}

bool pl_ir_finish_inserts(pl_ir *x, bool any)
{
    if (!any) {
        pl_ir_preserve_all(x);
        return pl_ir_ok(x);
    }
    const bool inserted = pl_ir_flush_inserts(x);
    pl_ir_sweep(x);
    return inserted && pl_ir_ok(x);
}

void pl_ir_redirect(pl_ir *x, uint32_t from, uint32_t to, uint32_t new_target)
{
    pl_insn *branch = pl_ir_branch(x, from);
    if (x->blocks.at[from].fallthrough == to) x->blocks.at[from].fallthrough = new_target;
    if (!branch) return;
    if (!pl_insn_is_table(branch)) {
        branch->target = branch->target == to ? new_target : branch->target;
        return;
    }
    for (uint32_t k = 0; k < branch->nextra; k++)
        if (x->p->pool.at[branch->extra_ops + k] == to)
            x->p->pool.at[branch->extra_ops + k] = new_target;
}

uint32_t pl_ir_new_block(pl_ir *x)
{
    *pl_push(x->a, &x->blocks) = pl_ir_empty_block(NULL);
    return (uint32_t)x->blocks.n - 1;
}

uint32_t pl_ir_preheader(pl_ir *x, uint32_t header)
{
    const uint32_t idom = x->blocks.at[header].idom;
    if (pl_ir_successors(x, idom) == 1 && !pl_ir_branch(x, idom)) return idom;
    const uint32_t front = pl_ir_new_block(x);
    if (!pl_ir_ok(x)) return PL_IR_NONE;
    x->blocks.at[front].fallthrough = header;
    for (uint32_t k = 0; k < x->blocks.at[header].npreds; k++) {
        const uint32_t from = x->predecessors[x->blocks.at[header].first_pred + k];
        if (!pl_ir_in_loop(x, from, header)) pl_ir_redirect(x, from, header, front);
    }
    return front;
}
