/* liveness.c - computes live ranges over a block graph, and register pressure; see liveness.h. */
#include "compiler/analysis/liveness.h"
#include "isa/program/operand_plan.h"

static inline void join_rows(pl_liveness *f, uint32_t *row, unsigned rows, unsigned use)
{
    if ((use & PL_USE_PRED) || f->x->kind.at[*row] != PL_REG_VIRTUAL) return;
    for (unsigned k = 1; k < rows; k++) f->of[*row + k] = UINT32_MAX;
}

static inline const pl_insn *current_insn(const pl_liveness *f)
{
    return &f->x->blocks.at[f->block].code.at[f->at];
}

static inline void locate_read(pl_liveness *f, uint32_t *row, unsigned use)
{
    const uint32_t k = pl_liveness_value_of(f, *row, use);
    if (!k) return;
    pl_note_read(&f->v[k - 1].first, f->block, current_insn(f), f->pred_def,
                 pl_ir_in_cycle(f->x, f->block));
}

static inline void locate_write(pl_liveness *f, uint32_t *row, unsigned rows, unsigned use)
{
    const pl_insn *i = current_insn(f);
    if (use & PL_USE_PRED) f->pred_def[*row] = f->position;
    const uint32_t k = pl_liveness_value_of(f, *row, use);
    if (!k) return;
    pl_live_value *v = &f->v[k - 1];
    pl_note_write(&v->first, f->block, f->at, i, f->pred_def, f->position, rows == v->rows);
    v->writes++;
    if (i->flags & PL_IF_UNIFORM_REG)
        v->regs = 0;
    else if (i->flags & PL_IF_NARROW64)
        v->regs = 1;
}

bool pl_liveness_values(pl_liveness *f, pl_ir *x, bool with_preds)
{
    const uint32_t rows = x->f->rows, preds = with_preds ? x->f->preds : 0;
    *f = (pl_liveness){.x = x,
                       .of = pl_arena_array(x->tmp, uint32_t, rows + 4),
                       .v = pl_arena_array(x->tmp, pl_live_value, (size_t)rows + preds + 1),
                       .of_pred = with_preds ? pl_arena_array(x->tmp, uint32_t, preds + 1) : NULL,
                       .pred_def = pl_arena_array(x->tmp, uint32_t, x->f->preds + 1)};
    if (!f->of || !f->v || (with_preds && !f->of_pred) || !f->pred_def) return false;
    for (size_t b = 0; b < x->blocks.n; b++)
        for (size_t k = 0; k < x->blocks.at[b].code.n; k++) {
            pl_operand_plan own;
            if (pl_plan_of(x->p, &x->blocks.at[b].code.at[k], &own)->wide)
                PL_FOR_EACH_USE(x->p, &x->blocks.at[b].code.at[k], o)
                    join_rows(f, o.row, o.rows, o.use);
        }
    for (uint32_t r = 0; r < rows; r++) {
        if (x->kind.at[r] != PL_REG_VIRTUAL) {
            f->of[r] = 0;
            continue;
        }
        if (f->of[r] != UINT32_MAX) {
            f->v[f->n] = (pl_live_value){.row = r,
                                         .first.block = PL_NO_BLOCK,
                                         .precolored = x->regs[r].precolored,
                                         .alias_of = f->n};
            f->n++;
        }
        f->of[r] = f->n;
        f->v[f->n - 1].rows++;
        f->v[f->n - 1].regs++;
    }
    for (uint32_t p = PL_PF + 1; p < preds; p++) {
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
        for (f->at = 0; f->at < x->blocks.at[f->block].code.n; f->at++) {
            f->position++;
            pl_insn *i = &x->blocks.at[f->block].code.at[f->at];
            PL_FOR_EACH_READ(x->p, i, o) locate_read(f, o.row, o.use);
            PL_FOR_EACH_WRITE(x->p, i, o) locate_write(f, o.row, o.rows, o.use);
        }
    return true;
}

typedef struct alias_search {
    pl_liveness *f;
    uint32_t from; /* the only value that the instruction reads, plus one; 0: none so far,
                      UINT32_MAX: several */
} alias_search;

static void note_alias_source(alias_search *c, uint32_t *row, unsigned use)
{
    const uint32_t k = pl_liveness_value_of(c->f, *row, use);
    if (k && k != c->from) c->from = c->from ? UINT32_MAX : k;
}

static void set_alias(alias_search *c, uint32_t *row, unsigned use)
{
    const uint32_t k = pl_liveness_value_of(c->f, *row, use);
    if (!k || c->f->v[k - 1].writes != 1) return;
    if (c->from)
        c->f->v[k - 1].alias_of = c->f->v[c->from - 1].alias_of;
    else
        c->f->v[k - 1].regs = 0;
}

void pl_liveness_alias(pl_liveness *f)
{
    for (uint32_t j = 0; j < f->x->nrpo; j++) { /* so that a chain's source comes first */
        pl_ir_block *b = &f->x->blocks.at[f->x->rpo[j]];
        for (size_t k = 0; k < b->code.n; k++) {
            alias_search c = {f, 0};
            if (!pl_insn_is_free_copy(&b->code.at[k])) continue;
            PL_FOR_EACH_READ(f->x->p, &b->code.at[k], o) note_alias_source(&c, o.row, o.use);
            if (c.from != UINT32_MAX)
                PL_FOR_EACH_WRITE(f->x->p, &b->code.at[k], o) set_alias(&c, o.row, o.use);
        }
    }
}

typedef struct access_walk {
    pl_liveness *f;
    uint32_t *seen_block; /* by global_index: the last block that accesses the value, plus one */
} access_walk;

/* The first access in a block decides. */
static inline void note_access(access_walk *t, const uint32_t *row, unsigned rows, unsigned use)
{
    pl_liveness *f = t->f;
    uint32_t k = pl_liveness_value_of(f, *row, use), n = k ? f->v[k - 1].global_index : UINT32_MAX;
    if (n == UINT32_MAX || t->seen_block[n] == f->block + 1) return;
    t->seen_block[n] = f->block + 1;
    pl_live_spans_access(&f->sets, n, f->block, !pl_liveness_defines(f, k - 1, rows, use));
}

static bool number_global_values(pl_liveness *f)
{
    f->value = pl_arena_array(f->x->tmp, uint32_t, f->n + 1);
    if (!f->value) return false;
    for (uint32_t k = 0; k < f->n; k++) {
        pl_live_value *v = &f->v[k];
        bool is_local =
            v->first.block == PL_NO_BLOCK || (v->first.def_pos != UINT32_MAX && !v->precolored);
        v->global_index = is_local ? UINT32_MAX : f->sets.values;
        if (!is_local) f->value[f->sets.values++] = k;
    }
    return true;
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
    pl_ir *x = f->x;
    if (!pl_liveness_spans(&f->sets, x) || !number_global_values(f)) return false;
    access_walk t = {f, pl_arena_array(x->tmp, uint32_t, f->sets.values + 1)};
    if (!t.seen_block) return false;
    for (uint32_t b = 0; b < x->blocks.n; b++)
        for (uint32_t k = 0; k < x->blocks.at[b].code.n && x->blocks.at[b].rpo_index != PL_IR_NONE;
             k++) {
            pl_liveness_visit(f, b, k);
            pl_insn *i = &x->blocks.at[b].code.at[k]; /* its reads precede its writes */
            PL_FOR_EACH_READ(x->p, i, o) note_access(&t, o.row, o.rows, o.use);
            PL_FOR_EACH_WRITE(x->p, i, o)
                if (!(o.use & PL_USE_READ)) note_access(&t, o.row, o.rows, o.use);
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

static void end_def(pl_liveness *f, uint32_t *row, unsigned rows, unsigned use)
{
    uint32_t k = pl_liveness_value_of(f, *row, use);
    if (k-- && pl_liveness_defines(f, k, rows, use)) pl_liveness_set(f, k, false);
}

static void begin_use(pl_liveness *f, uint32_t *row, unsigned rows, unsigned use)
{
    uint32_t k = pl_liveness_value_of(f, *row, use);
    if (k-- && !pl_liveness_defines(f, k, rows, use)) pl_liveness_set(f, k, true);
}

void pl_liveness_step_defs(pl_liveness *f, pl_insn *i)
{
    PL_FOR_EACH_WRITE(f->x->p, i, o) end_def(f, o.row, o.rows, o.use);
}

void pl_liveness_step_uses(pl_liveness *f, pl_insn *i)
{
    PL_FOR_EACH_USE(f->x->p, i, o) begin_use(f, o.row, o.rows, o.use);
}
