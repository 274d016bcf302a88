/* loop_carried.c - finds registers that have one write and may be read before it, or in a later
 * iteration of a loop than the write; see loop_carried.h and ir.h.
 *
 *    loop { if (x < least) { least = x; best = v; } }  use(best)
 *
 * The only write of `best` does not dominate its read. It must not be replaced by `v` at that read,
 * since `v` has changed in between. Such a register is live at the latch of a loop around its
 * write, so liveness of the few candidate registers finds it. If it is not live there, a read sees
 * the write of the same iteration or no write at all, and in the latter case the register is
 * undefined. */
#include "compiler/analysis/loop_carried.h"

#include "isa/program/cfg.h"
#include "compiler/analysis/liveness.h"
#include "isa/program/operand_plan.h"

typedef struct carried {
    pl_ir *x;
    pl_live_spans sets;
    /* By index of an exposed row: its number in the sets, plus one; 0: not a candidate. */
    uint32_t *value_id;
    uint32_t *row; /* by number in the sets: index of the exposed row */
    /* By number in the sets: last block whose first access is known, plus one. */
    uint32_t *seen;
    uint32_t *written; /* likewise: block with a guarded write, plus one; that write */
    pl_partial_def *write;
    uint32_t *pred_def; /* by predicate: position of its last write */
    uint32_t block, at; /* current block; position of the instruction */
    const pl_insn *i;
} carried;

static pl_ir_reg *row_of(const pl_ir *x, const pl_exposed_reg *e)
{
    return &(e->pred ? x->preds : x->regs)[e->row];
}

/* For a guarded only write: true if the instruction reads under the same guard, so that the reading
 * lanes are those that have written. */
static bool same_guard(const carried *c, const pl_ir_reg *r)
{
    const pl_ir *x = c->x;
    const pl_insn *w = &x->blocks.at[r->def_block].code.at[r->def_index];
    const pl_ir_reg *guard = &x->preds[w->guard];
    return w->guard > PL_PF && c->i->guard == w->guard &&
           !((c->i->flags ^ w->flags) & PL_IF_GUARD_NEG) && guard->ndefs == 1 &&
           r->def_block != c->block && pl_ir_dominates(x, r->def_block, c->block) &&
           (guard->def_block == r->def_block ? guard->def_index < r->def_index
                                             : pl_ir_dominates(x, guard->def_block, r->def_block));
}

static void mark_carried(pl_ir_reg *r)
{
    r->loop_carried = true;
    r->ndefs++;
}

/* True if the instruction precedes the only write, so that it may read the register before it. */
static bool precedes_write(const carried *c, const pl_ir_reg *r)
{
    const pl_ir_block *read_block = &c->x->blocks.at[c->block],
                      *def_block_at = &c->x->blocks.at[r->def_block];
    return read_block == def_block_at ? (uint32_t)(c->i - read_block->code.at) <= r->def_index
                                      : read_block->rpo_index < def_block_at->rpo_index;
}

static void note_first_access(carried *c, uint32_t value_id, bool reads)
{
    c->seen[value_id] = c->block + 1;
    pl_live_spans_access(&c->sets, value_id, c->block, reads);
}

/* The number in the sets of a candidate that is not decided in this block, plus one. */
static uint32_t undecided_value(const carried *c, const pl_ir_reg *r)
{
    const uint32_t t = r->exposed && !r->loop_carried ? c->value_id[r->exposed - 1] : 0;
    return t && c->seen[t - 1] != c->block + 1 ? t : 0;
}

static void reads(carried *c, uint32_t *row, unsigned rows, unsigned use)
{
    pl_ir_reg *first = &(use & PL_USE_PRED ? c->x->preds : c->x->regs)[*row];
    for (unsigned k = 0; k < rows; k++) {
        const uint32_t t = undecided_value(c, first + k);
        if (t && precedes_write(c, first + k)) mark_carried(first + k);
        if (!t || first[k].loop_carried) continue;
        const bool partly = c->written[t - 1] == c->block + 1;
        if (partly ? !pl_partial_def_same_lanes(&c->write[t - 1], c->i,
                                                c->pred_def[c->write[t - 1].guard])
                   : !same_guard(c, first + k))
            note_first_access(c, t - 1, true);
    }
}

static void writes(carried *c, uint32_t *row, unsigned rows, unsigned use)
{
    const pl_ir_reg *first = &(use & PL_USE_PRED ? c->x->preds : c->x->regs)[*row];
    for (unsigned k = 0; k < rows; k++) {
        const uint32_t t = undecided_value(c, first + k);
        if (t && c->i->guard == PL_PT)
            note_first_access(c, t - 1, false);
        else if (t) {
            c->written[t - 1] = c->block + 1;
            c->write[t - 1] = pl_partial_def_of(c->i, c->at);
        }
    }
    if (use & PL_USE_PRED) c->pred_def[*row] = c->at;
}

/* Only rows with one write are candidates. */
static bool number_candidates(carried *c, const pl_exposed_regs *exposed_regs)
{
    pl_ir *x = c->x;
    c->value_id = pl_arena_array(x->tmp, uint32_t, exposed_regs->n + 1);
    c->row = pl_arena_array(x->tmp, uint32_t, exposed_regs->n + 1);
    if (!c->value_id || !c->row) return false;
    for (uint32_t k = 0; k < exposed_regs->n; k++) {
        const pl_ir_reg *r = row_of(x, &exposed_regs->at[k]);
        if (r->ndefs != 1 || r->def_block == PL_IR_NONE ||
            x->blocks.at[r->def_block].rpo_index == PL_IR_NONE)
            continue;
        c->row[c->sets.values] = k;
        c->value_id[k] = ++c->sets.values;
    }
    return true;
}

static bool find_live(carried *c)
{
    pl_ir *x = c->x;
    const uint32_t n = c->sets.values;
    c->seen = pl_arena_array(x->tmp, uint32_t, n + 1);
    c->written = pl_arena_array(x->tmp, uint32_t, n + 1);
    c->write = pl_arena_array(x->tmp, pl_partial_def, n + 1);
    c->pred_def = pl_arena_array(x->tmp, uint32_t, x->f->preds + 1);
    if (!c->seen || !c->written || !c->write || !c->pred_def || !pl_liveness_spans(&c->sets, x))
        return false;
    c->sets.values = n;
    c->at = 1;
    for (c->block = 0; c->block < x->blocks.n; c->block++) {
        const pl_ir_block *b = &x->blocks.at[c->block];
        for (size_t k = 0; k < b->code.n && b->rpo_index != PL_IR_NONE; k++, c->at++) {
            c->i = &b->code.at[k];
            if (c->i->form == PL_IR_DEAD) continue;
            PL_FOR_EACH_READ(x->p, &b->code.at[k], o) reads(c, o.row, o.rows, o.use);
            PL_FOR_EACH_WRITE(x->p, &b->code.at[k], o) writes(c, o.row, o.rows, o.use);
        }
    }
    return pl_live_spans_solve(&c->sets);
}

/* By loop header: one of its latches. */
static uint32_t *find_latches(const pl_ir *x)
{
    uint32_t *latch = pl_arena_array(x->tmp, uint32_t, x->blocks.n + 1);
    for (uint32_t j = 0; j < x->nrpo && latch; j++)
        for (uint32_t s = 0, n = pl_ir_successors(x, x->rpo[j]); s < n; s++)
            if (pl_ir_dominates(x, pl_ir_successor(x, x->rpo[j], s), x->rpo[j]))
                latch[pl_ir_successor(x, x->rpo[j], s)] = x->rpo[j];
    return latch;
}

bool pl_find_carried(pl_ir *x, const pl_exposed_regs *exposed_regs)
{
    carried c = {.x = x};
    if (!exposed_regs->n) return pl_ir_ok(x);
    if (!pl_ir_ok(x) || !number_candidates(&c, exposed_regs)) return false;
    if (!c.sets.values) return true;
    if (x->irreducible) { /* loops have no header to query */
        for (uint32_t t = 0; t < c.sets.values; t++)
            mark_carried(row_of(x, &exposed_regs->at[c.row[t]]));
        return true;
    }
    const uint32_t *latch = find_latches(x);
    if (!latch || !find_live(&c)) return false;
    for (size_t k = 0; k < c.sets.spans.n; k++) {
        const pl_live_span *s = &c.sets.spans.at[k];
        pl_ir_reg *r = row_of(x, &exposed_regs->at[c.row[s->value]]);
        for (uint32_t head = x->blocks.at[r->def_block].loop;
             head != PL_IR_NONE && !r->loop_carried; head = x->blocks.at[head].parent_loop)
            if (latch[head] >= s->first && latch[head] < s->end) mark_carried(r);
    }
    return true;
}

/* ---- without a block graph ---- */

typedef struct row_write {
    uint32_t writes, block,
        value_id;  /* the only block that writes it; number in the sets, plus one */
    uint32_t seen; /* last block whose first access is known, plus one */
} row_write;

typedef struct code {
    pl_cfg g;
    row_write *row;
    pl_live_spans sets;
    uint32_t *back_target; /* a segment tree over the blocks: the lowest target of back edges */
    uint32_t block;
} code;

static void note_write(code *c, uint32_t row, unsigned rows)
{
    for (uint32_t r = row; r < row + rows; r++) {
        c->row[r].writes++;
        c->row[r].block = c->block;
    }
}

static inline void note_row_access(code *c, uint32_t row, unsigned rows, bool reads)
{
    for (uint32_t r = row; r < row + rows; r++) {
        row_write *w = &c->row[r];
        if (!w->value_id || w->seen == c->block + 1) continue;
        w->seen = c->block + 1;
        pl_live_spans_access(&c->sets, w->value_id - 1, c->block, reads);
    }
}

static void note_writes(code *c)
{
    pl_program *p = (pl_program *)c->g.p;
    for (c->block = 0; c->block < c->g.n; c->block++)
        for (uint32_t pc = c->g.b[c->block].first; pc < c->g.b[c->block].end; pc++)
            PL_FOR_EACH_WRITE(p, &p->code.at[pc], o)
                if (!(o.use & PL_USE_PRED)) note_write(c, *o.row, o.rows);
}

static void note_row_accesses(code *c)
{
    pl_program *p = (pl_program *)c->g.p;
    for (c->block = 0; c->block < c->g.n; c->block++)
        for (uint32_t pc = c->g.b[c->block].first; pc < c->g.b[c->block].end; pc++) {
            PL_FOR_EACH_READ(p, &p->code.at[pc], o)
                if (!(o.use & PL_USE_PRED)) note_row_access(c, *o.row, o.rows, true);
            if (p->code.at[pc].guard != PL_PT) continue; /* it may leave the row unwritten */
            PL_FOR_EACH_WRITE(p, &p->code.at[pc], o)
                if (!(o.use & PL_USE_PRED)) note_row_access(c, *o.row, o.rows, false);
        }
}

static uint32_t min(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Finds, for each block, the lowest block that it branches back to, itself included. *any: there
 * are back edges. Returns false when out of memory. */
static bool find_back_targets(code *c, pl_arena *a, bool *any)
{
    const uint32_t n = c->g.n;
    c->back_target = pl_arena_array(a, uint32_t, 2 * (size_t)n + 2);
    for (uint32_t b = 0; b < n && c->back_target; b++) {
        c->back_target[n + b] = UINT32_MAX;
        for (uint32_t s = 0; s < pl_cfg_successor_count(&c->g.b[b]); s++)
            if (pl_cfg_successor(&c->g, &c->g.b[b], s) <= b)
                c->back_target[n + b] =
                    min(c->back_target[n + b], pl_cfg_successor(&c->g, &c->g.b[b], s));
        *any |= c->back_target[n + b] != UINT32_MAX;
    }
    for (uint32_t k = n; c->back_target && k-- > 1;)
        c->back_target[k] = min(c->back_target[2 * k], c->back_target[2 * k + 1]);
    return c->back_target != NULL;
}

/* The lowest block that blocks `first` to `end` - 1 branch back to. */
static uint32_t lowest_back_target(const code *c, uint32_t first, uint32_t end)
{
    uint32_t lowest = UINT32_MAX;
    for (uint32_t l = first + c->g.n, r = end + c->g.n; l < r; l /= 2, r /= 2) {
        if (l & 1) lowest = min(lowest, c->back_target[l++]);
        if (r & 1) lowest = min(lowest, c->back_target[--r]);
    }
    return lowest;
}

bool pl_carried_rows(pl_program *p, pl_prog_func *f, pl_arena *a, bool **by_row)
{
    code c = {.row = pl_arena_array(a, row_write, f->rows + 4)};
    bool any = false;
    *by_row = pl_arena_array(a, bool, f->rows + 4);
    if (!c.row || !*by_row || pl_cfg_make(p, f, a, &c.g) != PL_OK ||
        !find_back_targets(&c, a, &any))
        return false;
    if (!any) return true;
    note_writes(&c);
    uint32_t *of = pl_arena_array(a, uint32_t, f->rows + 4);
    if (!of || !pl_live_spans_of_cfg(&c.sets, a, &c.g)) return false;
    for (uint32_t r = 0; r < f->rows; r++)
        if (c.row[r].writes == 1) {
            of[c.sets.values] = r;
            c.row[r].value_id = ++c.sets.values;
        }
    note_row_accesses(&c);
    if (!pl_live_spans_solve(&c.sets)) return false;
    for (size_t k = 0; k < c.sets.spans.n; k++) {
        const pl_live_span *s = &c.sets.spans.at[k];
        const uint32_t written = c.row[of[s->value]].block;
        (*by_row)[of[s->value]] |=
            lowest_back_target(&c, s->first > written ? s->first : written, s->end) <= written;
    }
    return true;
}
