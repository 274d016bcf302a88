/* liveness.c - computes live ranges and register pressure; see liveness.h. */
#include "compiler/analysis/liveness.h"
#include "isa/program/operand_plan.h"

/* ---- one instruction at a time ---- */

/* While rows are joined, in `of`: the row continues a value; it is not a register. */
enum { CONTINUED = 1, EXCLUDED = 2 };

bool pl_liveness_begin(pl_liveness *f, pl_program *p, pl_arena *a, const pl_prog_func *func,
                       bool with_preds)
{
    const uint32_t rows = func->rows, preds = with_preds ? func->preds : 0;
    *f = (pl_liveness){.p = p,
                       .a = a,
                       .rows = rows,
                       .of = pl_arena_array(a, uint32_t, rows + 4),
                       .v = pl_arena_array(a, pl_live_value, (size_t)rows + preds + 1),
                       .of_pred = with_preds ? pl_arena_array(a, uint32_t, preds + 1) : NULL,
                       .pred_def = pl_arena_array(a, uint32_t, func->preds + 1)};
    return f->of && f->v && (!with_preds || f->of_pred) && f->pred_def;
}

void pl_liveness_exclude(pl_liveness *f, uint32_t row)
{
    f->of[row] = EXCLUDED;
}

void pl_liveness_join(pl_liveness *f, uint32_t row, unsigned rows)
{
    if (f->of[row] == EXCLUDED) return;
    for (unsigned k = 1; k < rows; k++)
        if (f->of[row + k] != EXCLUDED) f->of[row + k] = CONTINUED;
}

void pl_liveness_join_operands(pl_liveness *f, pl_insn *i)
{
    pl_operand_plan own;
    if (!pl_plan_of(f->p, i, &own)->wide) return;
    PL_FOR_EACH_USE(f->p, i, o)
        if (!(o.use & PL_USE_PRED)) pl_liveness_join(f, *o.row, o.rows);
}

void pl_liveness_number(pl_liveness *f)
{
    for (uint32_t r = 0; r < f->rows; r++) {
        if (f->of[r] == EXCLUDED) {
            f->of[r] = 0;
            continue;
        }
        if (f->of[r] != CONTINUED) {
            f->v[f->n] = (pl_live_value){.row = r, .first.block = PL_NO_BLOCK, .alias_of = f->n};
            f->n++;
        }
        f->of[r] = f->n;
        f->v[f->n - 1].rows++;
        f->v[f->n - 1].regs++;
    }
}

/* The value of the operand, or NULL. */
static inline pl_live_value *value_at(const pl_liveness *f, const pl_operand_iter *o)
{
    const uint32_t k = pl_liveness_value_of(f, *o->row, o->use);
    return k ? &f->v[k - 1] : NULL;
}

void pl_liveness_locate(pl_liveness *f, pl_insn *i, bool in_cycle)
{
    const bool uniform = i->flags & PL_IF_UNIFORM_REG, narrow = i->flags & PL_IF_NARROW64;
    f->position++;
    PL_FOR_EACH_READ(f->p, i, o) {
        pl_live_value *v = value_at(f, &o);
        if (v) pl_note_read(&v->first, f->block, i, f->pred_def, in_cycle);
    }
    PL_FOR_EACH_WRITE(f->p, i, o) {
        if (o.use & PL_USE_PRED) f->pred_def[*o.row] = f->position;
        pl_live_value *v = value_at(f, &o);
        if (!v) continue;
        pl_note_write(&v->first, f->block, f->at, i, f->pred_def, f->position, o.rows == v->rows);
        v->writes++;
        if (uniform)
            v->regs = 0;
        else if (narrow)
            v->regs = 1;
    }
}

void pl_liveness_free_undefined(pl_liveness *f)
{
    for (uint32_t k = 0; k < f->n; k++) {
        pl_live_value *v = &f->v[k];
        if (!v->writes && !v->precolored && !v->is_pred) v->regs = 0;
    }
}

bool pl_liveness_number_global(pl_liveness *f)
{
    f->value = pl_arena_array(f->a, uint32_t, f->n + 1);
    if (!f->value) return false;
    for (uint32_t k = 0; k < f->n; k++) {
        pl_live_value *v = &f->v[k];
        bool is_local =
            v->first.block == PL_NO_BLOCK || (v->first.def_pos != UINT32_MAX && !v->precolored);
        v->global_index = is_local ? UINT32_MAX : f->sets.values;
        if (!is_local) f->value[f->sets.values++] = k;
    }
    f->seen_block = pl_arena_array(f->a, uint32_t, f->sets.values + 1);
    return f->seen_block != NULL;
}

/* The first access in a block decides. */
static inline void note_access(pl_liveness *f, const pl_operand_iter *o)
{
    const uint32_t k = pl_liveness_value_of(f, *o->row, o->use),
                   n = k ? f->v[k - 1].global_index : UINT32_MAX;
    if (n == UINT32_MAX || f->seen_block[n] == f->block + 1) return;
    f->seen_block[n] = f->block + 1;
    pl_live_spans_access(&f->sets, n, f->block, !pl_liveness_defines(f, k - 1, o->rows, o->use));
}

/* Within one instruction, reads precede writes. */
void pl_liveness_note_accesses(pl_liveness *f, pl_insn *i)
{
    f->guarded = i->guard != PL_PT;
    PL_FOR_EACH_READ(f->p, i, o) note_access(f, &o);
    PL_FOR_EACH_WRITE(f->p, i, o)
        if (!(o.use & PL_USE_READ)) note_access(f, &o);
}

void pl_liveness_alias_result(pl_liveness *f, pl_insn *i)
{
    uint32_t from = 0; /* the only value that it reads, plus one */
    PL_FOR_EACH_READ(f->p, i, o) {
        const uint32_t k = pl_liveness_value_of(f, *o.row, o.use);
        if (k && from && k != from) return;
        if (k) from = k;
    }
    PL_FOR_EACH_WRITE(f->p, i, o) {
        pl_live_value *v = value_at(f, &o);
        if (!v || v->writes != 1) continue;
        if (from)
            v->alias_of = f->v[from - 1].alias_of;
        else
            v->regs = 0;
    }
}

/* ---- over a block graph ---- */

bool pl_liveness_values(pl_liveness *f, pl_ir *x, bool with_preds)
{
    if (!pl_liveness_begin(f, x->p, x->tmp, x->f, with_preds)) return false;
    f->x = x;
    for (uint32_t r = 0; r < f->rows; r++)
        if (x->kind.at[r] != PL_REG_VIRTUAL) pl_liveness_exclude(f, r);
    for (size_t b = 0; b < x->blocks.n; b++)
        for (size_t k = 0; k < x->blocks.at[b].code.n; k++)
            pl_liveness_join_operands(f, &x->blocks.at[b].code.at[k]);
    pl_liveness_number(f);
    for (uint32_t k = 0; k < f->n; k++) f->v[k].precolored = x->regs[f->v[k].row].precolored;
    for (uint32_t p = PL_PF + 1; with_preds && p < x->f->preds; p++) {
        f->v[f->n] = (pl_live_value){.row = p,
                                     .rows = 1,
                                     .regs = 1,
                                     .first.block = PL_NO_BLOCK,
                                     .precolored = x->preds[p].precolored,
                                     .alias_of = f->n,
                                     .is_pred = true};
        f->of_pred[p] = ++f->n;
    }
    for (f->block = 0; f->block < x->blocks.n; f->block++)
        for (f->at = 0; f->at < x->blocks.at[f->block].code.n; f->at++)
            pl_liveness_locate(f, &x->blocks.at[f->block].code.at[f->at],
                               pl_ir_in_cycle(x, f->block));
    pl_liveness_free_undefined(f);
    return true;
}

void pl_liveness_alias(pl_liveness *f)
{
    for (uint32_t j = 0; j < f->x->nrpo; j++) { /* so that a chain's source comes first */
        pl_ir_block *b = &f->x->blocks.at[f->x->rpo[j]];
        for (size_t k = 0; k < b->code.n; k++)
            if (pl_insn_is_free_copy(&b->code.at[k])) pl_liveness_alias_result(f, &b->code.at[k]);
    }
}

bool pl_liveness_spans(pl_live_spans *s, pl_ir *x)
{
    uint32_t n = (uint32_t)x->blocks.n, *pred = pl_arena_array(x->tmp, uint32_t, n + 1),
             *npred = pl_arena_array(x->tmp, uint32_t, n + 1);
    for (uint32_t b = 0; b < n && pred && npred; b++) {
        pred[b] = x->blocks.at[b].first_pred;
        npred[b] = x->blocks.at[b].npreds;
    }
    *s = (pl_live_spans){
        .a = x->tmp, .blocks = n, .preds = x->predecessors, .pred = pred, .npred = npred};
    return pred && npred;
}

bool pl_liveness_solve(pl_liveness *f)
{
    const pl_ir *x = f->x;
    if (!pl_liveness_spans(&f->sets, f->x) || !pl_liveness_number_global(f)) return false;
    for (f->block = 0; f->block < x->blocks.n; f->block++) {
        const pl_ir_block *b = &x->blocks.at[f->block];
        if (b->rpo_index == PL_IR_NONE) continue;
        for (f->at = 0; f->at < b->code.n; f->at++)
            pl_liveness_note_accesses(f, &b->code.at[f->at]);
    }
    return pl_live_spans_solve(&f->sets) && pl_live_spans_index(&f->sets);
}

static void toggle_value(void *ctx, uint32_t index)
{
    pl_liveness *f = ctx;
    pl_live_value *v = &f->v[f->value[index]];
    v->state ^= PL_LIVENESS_AT_END;
    pl_liveness_toggle(f, v);
}

void pl_liveness_go_to_end(pl_liveness *f, uint32_t block)
{
    for (size_t k = 0; k < f->changed.n; k++) {
        pl_live_value *v = &f->v[f->changed.at[k]];
        if (!(v->state & PL_LIVENESS_LIVE) != !(v->state & PL_LIVENESS_AT_END))
            pl_liveness_toggle(f, v);
        v->state &= (uint8_t)~PL_LIVENESS_LISTED;
    }
    f->changed.n = 0;
    pl_live_spans_go_to(&f->sets, block, toggle_value, f);
}

void pl_liveness_step_defs(pl_liveness *f, pl_insn *i)
{
    PL_FOR_EACH_WRITE(f->p, i, o) {
        uint32_t k = pl_liveness_value_of(f, *o.row, o.use);
        if (k-- && pl_liveness_defines(f, k, o.rows, o.use)) pl_liveness_set(f, k, false);
    }
}

void pl_liveness_step_uses(pl_liveness *f, pl_insn *i)
{
    PL_FOR_EACH_USE(f->p, i, o) {
        uint32_t k = pl_liveness_value_of(f, *o.row, o.use);
        if (k-- && !pl_liveness_defines(f, k, o.rows, o.use)) pl_liveness_set(f, k, true);
    }
}
