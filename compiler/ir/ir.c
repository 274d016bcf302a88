/* ir.c - builds the block graph of a function and writes it back; see ir.h.
 *
 * Dominators: Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm", 2001. Loops are the
 * natural loops of back edges whose header dominates the latch; a block belongs to the innermost
 * one. */
#include "compiler/ir/ir_internal.h"

#include <stdlib.h>
#include <string.h>

static bool is_end(const pl_insn *i)
{
    return (pl_insn_effects(i) & PL_EF_EXIT) ||
           ((pl_insn_effects(i) & PL_EF_BRANCH) && !pl_forms[i->form].noperands);
}

/* ---- from code to blocks ---- */

pl_ir_block pl_ir_empty_block(pl_insn *code)
{
    return (pl_ir_block){.code = {.at = code},
                         .fallthrough = PL_IR_NONE,
                         .rpo_index = PL_IR_NONE,
                         .idom = PL_IR_NONE,
                         .loop = PL_IR_NONE};
}

static bool make_blocks(pl_ir *x)
{
    const pl_insn *code = x->p->code.at + x->f->first;
    uint32_t first = x->f->first, count = x->f->count, nblocks = 0;
    uint8_t *leader = pl_arena_array(x->tmp, uint8_t, count + 1);
    uint32_t *of = pl_arena_array(x->tmp, uint32_t, count + 1);
    if (!leader || !of) return false;
    leader[0] = 1;
    for (uint32_t k = 0; k < count; k++) {
        if (pl_insn_is_table(&code[k]))
            for (uint32_t t = 0; t < code[k].nextra; t++)
                leader[x->p->pool.at[code[k].extra_ops + t] - first] = 1;
        else if (pl_insn_is_jump(&code[k]))
            leader[code[k].target - first] = 1;
        if (pl_insn_is_jump(&code[k]) || is_end(&code[k])) leader[k + 1] = 1;
    }
    for (uint32_t k = 0; k <= count; k++) {
        nblocks += leader[k] && k < count;
        of[k] = nblocks - 1;
    }
    x->blocks.at = pl_arena_array(x->a, pl_ir_block, nblocks);
    x->blocks.n = x->blocks.cap = nblocks;
    pl_insn *copy = pl_arena_copy(x->a, code, count * sizeof *copy);
    if (!x->blocks.at || !copy) return false;
    for (uint32_t k = 0; k < count; k++) {
        pl_ir_block *b = &x->blocks.at[of[k]];
        pl_insn *i = &copy[k];
        if (leader[k]) *b = pl_ir_empty_block(i);
        b->code.cap = ++b->code.n; /* a block that grows is reallocated */
        if (pl_insn_is_table(i))
            for (uint32_t t = 0; t < i->nextra; t++)
                x->p->pool.at[i->extra_ops + t] = of[x->p->pool.at[i->extra_ops + t] - first];
        else if (pl_insn_is_jump(i)) {
            /* The loop's first instruction may be removed. */
            i->flags |= (uint16_t)(code[i->target - first].flags & PL_IF_NOUNROLL);
            i->target = of[i->target - first];
        }
        if (leader[k + 1]) {
            bool falls = (!pl_insn_is_jump(i) && !is_end(i)) || i->guard != PL_PT;
            b->fallthrough = falls && k + 1 < count ? of[k + 1] : PL_IR_NONE;
        }
    }
    return pl_arena_ok(x->a);
}

pl_status pl_ir_open(pl_ir *x, pl_program *p, pl_prog_func *f, uint32_t sink, pl_arena *scratch,
                     pl_arena *tmp)
{
    *x = (pl_ir){.p = p,
                 .f = f,
                 .a = scratch,
                 .tmp = tmp,
                 .discard_reg = sink < f->rows ? sink : PL_IR_NONE};
    x->kind.n = x->init.n = f->rows;
    x->kind.cap = x->init.cap = f->rows + 64;
    x->kind.at = pl_arena_array(scratch, uint8_t, x->kind.cap);
    x->init.at = pl_arena_array(scratch, uint32_t, x->init.cap);
    if (!x->kind.at || !x->init.at) return PL_NOMEM;
    for (uint32_t r = 0; r < f->rows; r++) {
        x->kind.at[r] = (uint8_t)(r - sink < 4 ? PL_REG_DISCARD : PL_REG_VIRTUAL);
        x->init.at[r] = PL_IR_NONE;
    }
    for (size_t k = 0; k < f->init.n; k++)
        for (unsigned r = 0; r < f->init.at[k].width / 32u; r++) {
            x->kind.at[f->init.at[k].row + r] = PL_REG_PRESET;
            x->init.at[f->init.at[k].row + r] = (uint32_t)k;
        }
    return make_blocks(x) ? PL_OK : PL_NOMEM;
}

/* ---- from blocks to code ---- */

typedef struct renumber {
    pl_ir *x;
    uint8_t *used;
    uint32_t *to, *pred_to;
    uint8_t *pred_used;
} renumber;

static void mark_used(renumber *n, uint32_t row, unsigned rows, unsigned use)
{
    if (use & PL_USE_PRED)
        n->pred_used[row] = 1;
    else
        memset(n->used + row, 1, rows);
}

static void renumber_operand(renumber *n, uint32_t *row, unsigned use)
{
    *row = use & PL_USE_PRED ? n->pred_to[*row] : n->to[*row];
}

/* Renumbers rows: registers first, then the rows initialised at frame entry; unused rows are
 * dropped. */
static bool compact(pl_ir *x, uint32_t *fixed)
{
    pl_prog_func *f = x->f;
    uint32_t rows = f->rows, n = 0, preds = 0;
    renumber r = {.x = x,
                  .used = pl_arena_array(x->tmp, uint8_t, rows + 4),
                  .to = pl_arena_array(x->tmp, uint32_t, rows + 4),
                  .pred_to = pl_arena_array(x->tmp, uint32_t, f->preds + 1),
                  .pred_used = pl_arena_array(x->tmp, uint8_t, f->preds + 1)};
    if (!pl_ir_ok(x)) return false;
    r.pred_used[PL_PT] = r.pred_used[PL_PF] = 1;
    for (size_t b = 0; b < x->blocks.n; b++)
        for (size_t k = 0; k < x->blocks.at[b].code.n; k++)
            if (x->blocks.at[b].code.at[k].form != PL_IR_DEAD)
                PL_FOR_EACH_USE(x->p, &x->blocks.at[b].code.at[k], o)
                    mark_used(&r, *o.row, o.rows, o.use);
    for (pl_interface_iter o = {0}; pl_interface_next(f, &o);) mark_used(&r, *o.row, o.rows, o.use);
    for (size_t k = 0; k < f->init.n; k++) /* both rows of a pair stay adjacent */
        for (unsigned w = 1; w < f->init.at[k].width / 32u; w++)
            r.used[f->init.at[k].row] |= r.used[f->init.at[k].row + w],
                r.used[f->init.at[k].row + w] |= r.used[f->init.at[k].row];
    for (int kind = PL_REG_VIRTUAL; kind <= PL_REG_DISCARD; kind++) {
        for (uint32_t k = 0; k < rows; k++)
            if (x->kind.at[k] == kind && (r.used[k] || kind == PL_REG_DISCARD)) r.to[k] = n++;
        if (kind == PL_REG_VIRTUAL) {
            n = (n + 1u) & ~1u;
            *fixed = n;
        }
    }
    f->rows = (n + 1u) & ~1u;
    for (uint32_t k = 0; k < f->preds; k++) r.pred_to[k] = r.pred_used[k] ? preds++ : 0;
    f->preds = preds;
    for (size_t b = 0; b < x->blocks.n; b++)
        for (size_t k = 0; k < x->blocks.at[b].code.n; k++)
            if (x->blocks.at[b].code.at[k].form != PL_IR_DEAD)
                PL_FOR_EACH_USE(x->p, &x->blocks.at[b].code.at[k], o)
                    renumber_operand(&r, o.row, o.use);
    for (pl_interface_iter o = {0}; pl_interface_next(f, &o);) renumber_operand(&r, o.row, o.use);
    size_t m = 0;
    for (size_t k = 0; k < f->init.n; k++)
        if (r.used[f->init.at[k].row]) {
            f->init.at[m] = f->init.at[k];
            f->init.at[m].row = r.to[f->init.at[k].row];
            m++;
        }
    f->init.n = m;
    return true;
}

/* Block layout: in numerical order, but each block is followed by its `fallthrough` if that one is
 * not yet placed. */
static uint32_t *layout(pl_ir *x, uint32_t *count)
{
    uint32_t *order = pl_arena_array(x->tmp, uint32_t, x->blocks.n + 1), n = 0;
    uint8_t *done = pl_arena_array(x->tmp, uint8_t, x->blocks.n + 1);
    if (!pl_ir_ok(x)) return NULL;
    for (uint32_t k = 0; k < x->blocks.n; k++) {
        uint32_t b = k;
        while (b != PL_IR_NONE && !done[b] && x->blocks.at[b].rpo_index != PL_IR_NONE) {
            done[b] = 1;
            order[n++] = b;
            b = x->blocks.at[b].fallthrough;
        }
    }
    *count = n;
    return order;
}

/* The first block at or after b that is not empty. */
static uint32_t first_nonempty_block(const pl_ir *x, uint32_t b)
{
    for (size_t steps = 0; steps < x->blocks.n; steps++) {
        const pl_ir_block *k = &x->blocks.at[b];
        const pl_insn *i = k->code.n == 1 ? pl_ir_branch(x, b) : NULL;
        if (i && i->guard == PL_PT && !pl_insn_is_table(i))
            b = i->target;
        else if (!k->code.n && k->fallthrough != PL_IR_NONE)
            b = k->fallthrough;
        else
            break;
    }
    return b;
}

/* Retargets branches past empty blocks, since falling into such a block may require a jump out of
 * it. Returns true if one has changed. */
static bool retarget_past_empty_blocks(pl_ir *x)
{
    bool any = false;
    for (uint32_t b = 0; b < x->blocks.n; b++) {
        pl_insn *i = x->blocks.at[b].rpo_index != PL_IR_NONE ? pl_ir_branch(x, b) : NULL;
        if (!i || pl_insn_is_table(i) || x->blocks.at[i->target].rpo_index == PL_IR_NONE) continue;
        const uint32_t target = first_nonempty_block(x, i->target);
        any |= target != i->target;
        i->target = target;
    }
    return any;
}

pl_status pl_ir_close(pl_ir *x, uint32_t *fixed)
{
    pl_program *p = x->p;
    pl_prog_func *f = x->f;
    pl_ir_sweep(x);
    if (!pl_ir_graph(x) || !compact(x, fixed)) return PL_NOMEM;
    if (retarget_past_empty_blocks(x) && !pl_ir_graph(x)) return PL_NOMEM;
    uint32_t n = 0, *order = layout(x, &n),
             *start = pl_arena_array(x->tmp, uint32_t, x->blocks.n + 1);
    static const pl_word uni[] = {W_uni};
    if (!order || !start) return PL_NOMEM;
    p->code.n = f->first;
    size_t max_insns = p->code.n + n; /* plus one jump per block */
    for (uint32_t k = 0; k < n; k++) max_insns += x->blocks.at[order[k]].code.n;
    if (max_insns > p->code.cap)
        pl_reserve(p->arena, &p->code, max_insns > 2 * p->code.cap ? max_insns : 2 * p->code.cap);
    if (!pl_arena_ok(p->arena)) return PL_NOMEM;
    uint32_t line = x->blocks.n && x->blocks.at[0].code.n ? x->blocks.at[0].code.at[0].line : 0;
    for (uint32_t k = 0; k < n; k++) {
        pl_ir_block *b = &x->blocks.at[order[k]];
        const pl_insn *last = pl_ir_branch(x, order[k]);
        start[order[k]] = (uint32_t)p->code.n;
        if (last && last->guard == PL_PT && !pl_insn_is_table(last) && k + 1 < n &&
            last->target == order[k + 1]) { /* next in layout: no branch needed */
            b->fallthrough = last->target;
            b->code.n--;
        }
        if (b->code.n) {
            memcpy(p->code.at + p->code.n, b->code.at, b->code.n * sizeof *b->code.at);
            p->code.n += b->code.n;
            line = b->code.at[b->code.n - 1].line;
        }
        if (b->fallthrough != PL_IR_NONE && (k + 1 == n || order[k + 1] != b->fallthrough)) {
            pl_insn jump = {.line = line};
            pl_insn_make(&jump, M_bra, 1, uni, 1);
            jump.target = b->fallthrough;
            *pl_push(p->arena, &p->code) = jump;
        }
        if (!pl_arena_ok(p->arena)) return PL_NOMEM;
    }
    f->count = (uint32_t)p->code.n - f->first;
    for (uint32_t k = 0; k < f->count; k++) {
        pl_insn *i = &p->code.at[f->first + k];
        if (pl_insn_is_table(i))
            for (uint32_t t = 0; t < i->nextra; t++)
                p->pool.at[i->extra_ops + t] = start[p->pool.at[i->extra_ops + t]];
        else if (pl_insn_is_jump(i))
            i->target = start[i->target];
    }
    return PL_OK;
}
