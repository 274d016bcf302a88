/* use_counts.c - counts the reads and writes of every register. */
#include "compiler/ir/ir_internal.h"

#include <stdlib.h>
#include <string.h>

/* True if the register is known to be written on every path to this read. If not, and it has only
 * one write, pl_find_carried examines it further. */
static inline bool is_written(const counting *c, const pl_ir_reg *r)
{
    if (r->ndefs != 1 || r->def_block == PL_IR_NONE) return r->ndefs != 0;
    if (!pl_ir_dominates(c->x, r->def_block, c->block)) return false;
    if (!r->predicated || !c->x->has_loops) return true;
    const pl_insn *w = &c->x->blocks.at[r->def_block].code.at[r->def_index];
    const pl_insn *i = &c->x->blocks.at[c->block].code.at[c->at];
    const pl_ir_reg *guard = &c->x->preds[w->guard];
    return r->def_block == c->block && i->guard == w->guard &&
           !((i->flags ^ w->flags) & PL_IF_GUARD_NEG) &&
           (guard->def_block != c->block || guard->def_index < r->def_index);
}

static inline void count_read(counting *c, uint32_t *row, unsigned rows, unsigned use)
{
    const bool pred = (use & PL_USE_PRED) != 0;
    pl_ir_reg *r = (pred ? c->x->preds : c->x->regs) + *row;
    for (unsigned k = 0; k < rows; k++) {
        r[k].nuses++;
        if (c->reachable && !r[k].exposed && !is_written(c, &r[k])) {
            *pl_push(c->x->tmp, &c->exposed_regs) = (pl_exposed_reg){*row + k, pred};
            r[k].exposed = (uint32_t)c->exposed_regs.n;
        }
    }
}

static inline void count_write(counting *c, uint32_t *row, unsigned rows, unsigned use)
{
    pl_ir_reg *r = (use & PL_USE_PRED ? c->x->preds : c->x->regs) + *row, *last = r + rows - 1;
    for (;; r++) {
        r->ndefs++;
        r->def_block = c->block;
        r->def_index = c->at;
        r->width = (uint8_t)rows;
        r->predicated = c->guarded;
        if (r == last) return;
    }
}

static void pin(pl_ir *x, uint32_t row, unsigned rows, unsigned use)
{
    bool pred = (use & PL_USE_PRED) != 0;
    for (unsigned k = 0; k < (pred ? 1 : rows); k++) {
        pl_ir_reg *r = &(pred ? x->preds : x->regs)[row + k];
        r->precolored = true;
        r->ndefs += 2; /* never treated as a value */
        r->nuses += 2;
    }
}

static bool reserve_rows(pl_ir *x, size_t rows, size_t preds)
{
    if (rows > x->reg_capacity) {
        x->reg_capacity = rows + rows / 2;
        x->regs = pl_arena_array(x->a, pl_ir_reg, x->reg_capacity);
    }
    if (preds > x->pred_capacity) {
        x->pred_capacity = preds + preds / 2;
        x->preds = pl_arena_array(x->a, pl_ir_reg, x->pred_capacity);
    }
    return x->regs && x->preds && pl_arena_ok(x->a);
}

/* Describes rows from `first` on, initially without reads and writes. */
static void describe(pl_ir *x, uint32_t first)
{
    static const uint8_t defs[] = {[PL_REG_VIRTUAL] = 0, [PL_REG_PRESET] = 1, [PL_REG_DISCARD] = 2};
    uint32_t rows = x->f->rows;
    for (uint32_t r = first; r < rows; r++)
        x->regs[r] = (pl_ir_reg){.kind = x->kind.at[r],
                                 .init = x->init.at[r],
                                 .def_block = PL_IR_NONE,
                                 .ndefs = defs[x->kind.at[r]]};
    x->nregs_described = rows;
}

bool pl_ir_extend_reg_info(pl_ir *x)
{
    const pl_ir_reg *old = x->regs;
    if (!reserve_rows(x, x->f->rows + 4, 0)) return false;
    if (x->regs != old) memcpy(x->regs, old, x->nregs_described * sizeof *old);
    describe(x, x->nregs_described);
    return true;
}

static inline void note_position(counting *c, uint32_t *row, unsigned rows, unsigned use)
{
    pl_ir_reg *r = (use & PL_USE_PRED ? c->x->preds : c->x->regs) + *row;
    for (unsigned k = 0; k < rows; k++) {
        r[k].def_block = c->block;
        r[k].def_index = c->at;
    }
}

/* Finds the position of the last write of each row. */
static void find_positions(pl_ir *x)
{
    counting c = {.x = x};
    for (; c.block < x->blocks.n; c.block++) {
        const pl_ir_block *b = &x->blocks.at[c.block];
        for (c.at = 0; c.at < b->code.n; c.at++)
            if (b->code.at[c.at].form != PL_IR_DEAD)
                PL_FOR_EACH_WRITE(x->p, &b->code.at[c.at], o)
                    note_position(&c, o.row, o.rows, o.use);
    }
}

static bool count_all(pl_ir *x)
{
    counting c = {.x = x};
    for (; c.block < x->blocks.n; c.block++) {
        const pl_ir_block *b = &x->blocks.at[c.block];
        c.reachable = b->rpo_index != PL_IR_NONE;
        for (c.at = 0; c.at < b->code.n; c.at++) {
            c.guarded = b->code.at[c.at].guard != PL_PT;
            if (b->code.at[c.at].form == PL_IR_DEAD) continue;
            PL_FOR_EACH_READ(x->p, &b->code.at[c.at], o) count_read(&c, o.row, o.rows, o.use);
            PL_FOR_EACH_WRITE(x->p, &b->code.at[c.at], o) count_write(&c, o.row, o.rows, o.use);
        }
    }
    for (pl_interface_iter o = {0}; pl_interface_next(x->f, &o);) pin(x, *o.row, o.rows, o.use);
    return pl_find_carried(x, &c.exposed_regs);
}

static bool count_reads_writes(pl_ir *x, bool with_positions)
{
    pl_prog_func *f = x->f;
    bool known = x->uses_valid && f->rows + 4 <= x->reg_capacity;
    x->uses_valid = false;
    if (known) {
        describe(x, x->nregs_described);
        if (with_positions && x->defs_stale) {
            find_positions(x);
            x->defs_stale = false;
        }
        return true;
    }
    if (!reserve_rows(x, f->rows + 4, f->preds + 1)) return false;
    describe(x, 0);
    for (uint32_t r = 0; r < f->preds; r++) x->preds[r] = (pl_ir_reg){.def_block = PL_IR_NONE};
    x->preds[PL_PT].ndefs = x->preds[PL_PF].ndefs = 1;
    x->defs_stale = false;
    return count_all(x);
}

bool pl_ir_count(pl_ir *x)
{
    return count_reads_writes(x, true);
}

bool pl_ir_uses(pl_ir *x)
{
    return count_reads_writes(x, false);
}

bool pl_ir_analyze(pl_ir *x)
{
    pl_ir_sweep(x);
    return pl_ir_graph(x) && pl_ir_count(x);
}

uint32_t pl_ir_reads(const pl_ir *x, pl_insn *i, uint32_t row)
{
    uint32_t n = 0;
    PL_FOR_EACH_READ(x->p, i, o) n += !(o.use & PL_USE_PRED) && *o.row == row;
    return n;
}

void pl_ir_sweep(pl_ir *x)
{
    for (size_t b = 0; b < x->blocks.n && x->has_dead; b++) {
        pl_ir_block *k = &x->blocks.at[b];
        size_t n = 0;
        while (n < k->code.n && k->code.at[n].form != PL_IR_DEAD) n++;
        x->uses_valid &= n == k->code.n;
        for (size_t c = n; c < k->code.n; c++)
            if (k->code.at[c].form != PL_IR_DEAD) k->code.at[n++] = k->code.at[c];
        k->code.n = n;
    }
    x->has_dead = false;
}
