/* loop_copy.c - copies the body of a loop, renaming its registers. */
#include "compiler/opt/loop_unroll.h"

#include <string.h>

/* ---- copies ---- */

static void rename_reads(unroll_copy *u, uint32_t *row, unsigned rows, unsigned use)
{
    (void)rows;
    if (use & PL_USE_WRITE) return;
    uint32_t *to = use & PL_USE_PRED ? u->pred_to : u->row_to;
    if (to[*row] != PL_IR_NONE) *row = to[*row];
}

static void rename_writes(unroll_copy *u, uint32_t *row, unsigned rows, unsigned use)
{
    pl_ir *x = u->x;
    if (!(use & PL_USE_WRITE) || (use & PL_USE_READ) || u->guarded) return;
    bool pred = (use & PL_USE_PRED) != 0;
    const pl_ir_reg *r = &(pred ? x->preds : x->regs)[*row];
    bool not_renamed_here = false;
    for (unsigned k = 0; k < (pred ? 1 : rows); k++)
        not_renamed_here |= (pred ? u->pred_not_renamed : u->not_renamed)[*row + k] != 0;
    if (r->ndefs != 1 || r->def_block != u->from || r->def_index != u->at || not_renamed_here ||
        (!pred && (r->kind != PL_REG_VIRTUAL || r->width != rows)))
        return;
    uint32_t new_row = u->is_last_copy ? *row : pred ? pl_ir_new_pred(x) : pl_ir_new(x, rows);
    for (unsigned k = 0; k < (pred ? 1 : rows); k++)
        (pred ? u->pred_to : u->row_to)[*row + k] = new_row + k;
    *row = new_row;
}

/* Marks registers that are written in only some lanes in this loop and read where the write is not
 * certain to have executed. */
static void note_uncertain_read(unroll_copy *u, uint32_t *row, unsigned rows, unsigned use)
{
    const pl_ir *x = u->x;
    const bool pred = (use & PL_USE_PRED) != 0;
    for (unsigned k = 0; k < (pred ? 1 : rows); k++) {
        const pl_ir_reg *r = &(pred ? x->preds : x->regs)[*row + k];
        if (r->ndefs == 1 && r->def_block != PL_IR_NONE &&
            !pl_ir_dominates(x, r->def_block, u->c->latch) &&
            !pl_ir_dominates(x, r->def_block, u->from))
            (pred ? u->pred_not_renamed : u->not_renamed)[*row + k] = 1;
        else if (r->ndefs == 1 && r->def_block == u->from && r->def_index >= u->at &&
                 !pl_ir_dominates(x, r->def_block, u->c->latch))
            (pred ? u->pred_not_renamed : u->not_renamed)[*row + k] = 1;
    }
}

/* Marks registers read outside of a loop with several exits: the iteration in which it exits is
 * unknown. */
static void note_outside(unroll_copy *u, uint32_t *row, unsigned rows, unsigned use)
{
    if (*row != UINT32_MAX)
        memset((use & PL_USE_PRED ? u->pred_not_renamed : u->not_renamed) + *row, 1,
               use & PL_USE_PRED ? 1 : rows);
}

void pl_unroll_find_unrenamed(unroll_copy *u)
{
    pl_ir *x = u->x;
    for (uint32_t j = 0; pl_unroll_has_several_exits(u->c) && j < x->nrpo; j++)
        for (size_t k = 0; k < x->blocks.at[x->rpo[j]].code.n; k++)
            if (x->blocks.at[x->rpo[j]].loop != u->c->block)
                PL_FOR_EACH_READ(x->p, &x->blocks.at[x->rpo[j]].code.at[k], o)
                    note_outside(u, o.row, o.rows, o.use);
    for (uint32_t j = 0; u->c->members > 1 && j < x->nrpo; j++) {
        u->from = x->rpo[j];
        for (u->at = 0; u->at < x->blocks.at[u->from].code.n; u->at++)
            PL_FOR_EACH_READ(x->p, &x->blocks.at[u->from].code.at[u->at], o)
                note_uncertain_read(u, o.row, o.rows, o.use);
    }
}

/* The counterpart of a block in the current copy; blocks outside of the loop map to themselves. */
static uint32_t block_copy(const unroll_copy *u, uint32_t block)
{
    for (uint32_t m = 0; m < u->c->members; m++)
        if (u->c->member[m] == block) return u->block_to[block];
    return block;
}

/* Appends copy number `copy` of `ncopies` of the body to block `to`. Returns the block
 * where it ends. */
static uint32_t append(unroll_copy *u, uint32_t to, unsigned copy, unsigned ncopies)
{
    pl_ir *x = u->x;
    const counted_loop *c = u->c;
    u->is_last_copy = copy + 1 == ncopies;
    u->block_to[c->block] = to;
    for (uint32_t m = 1; m < c->members; m++) u->block_to[c->member[m]] = pl_ir_new_block(x);
    for (uint32_t m = 0; m < c->members && pl_ir_ok(x); m++) {
        u->from = c->member[m];
        const pl_ir_block body = x->blocks.at[u->from];
        const bool latch = u->from == c->latch;
        to = u->block_to[u->from];
        for (uint32_t k = 0; k + latch < body.code.n; k++) {
            if (latch && (k == c->test || k == c->joined_test)) continue;
            const bool is_counter_update = latch && k == c->counter_copy;
            pl_insn i = pl_ir_clone(x, is_counter_update ? pl_ir_writer(x, c->next_counter)
                                                         : &body.code.at[k]);
            uint64_t step;
            if (is_counter_update) i.op[0] = i.op[1];
            u->at = k;
            u->guarded = i.guard != PL_PT;
            if (pl_unroll_is_increment(x, &i, &step) &&
                (is_counter_update || u->steps[i.op[0]] == 1)) {
                unsigned bits = (unsigned)pl_type_bits(pl_insn_type(&i)), rows = bits / 32;
                uint32_t v = i.op[0];
                const bool keeps_value =
                    u->not_renamed[v] != 0; /* read after an exit: keep a copy of its
                                 value, from which the next iteration counts */
                if (keeps_value && u->row_to[v] != PL_IR_NONE)
                    i.op[1] = u->row_to[v];
                else if (!keeps_value)
                    i.op[2] = pl_ir_constant(x, step * (copy + 1u), bits);
                i.op[0] = u->is_last_copy && !keeps_value ? v : pl_ir_new(x, rows);
                for (unsigned r = 0; r < rows; r++) u->row_to[v + r] = i.op[0] + r;
                if (keeps_value) {
                    *pl_push(x->a, &x->blocks.at[to].code) = i;
                    const uint32_t new_value = i.op[0];
                    if (!pl_insn_make(&i, M_mov, 2, &(pl_word){bits == 64 ? W_b64 : W_b32}, 1))
                        return PL_IR_NONE;
                    i.op[0] = v;
                    i.op[1] = new_value;
                }
            } else {
                PL_FOR_EACH_READ(x->p, &i, o) rename_reads(u, o.row, o.rows, o.use);
                PL_FOR_EACH_WRITE(x->p, &i, op) rename_writes(u, op.row, op.rows, op.use);
            }
            if (pl_insn_effects(&i) & PL_EF_BRANCH) i.target = block_copy(u, i.target);
            *pl_push(x->a, &x->blocks.at[to].code) = i;
        }
        x->blocks.at[to].fallthrough =
            latch || body.fallthrough == PL_IR_NONE ? PL_IR_NONE : block_copy(u, body.fallthrough);
    }
    return to;
}

/* Appends n copies of the body to block `to`. Returns the block where they end; PL_IR_NONE: out of
 * memory. */
uint32_t pl_unroll_copies(unroll_copy *u, uint32_t to, unsigned n)
{
    size_t rows = u->x->f->rows, preds = u->x->f->preds;
    /* indexed by original row: rows created by copies are never renamed again */
    memset(u->row_to, 0xff, rows * sizeof *u->row_to);
    memset(u->pred_to, 0xff, preds * sizeof *u->pred_to);
    for (unsigned r = 0; pl_unroll_has_several_exits(u->c) && r < u->c->bits / 32; r++)
        u->row_to[u->c->counter + r] = u->c->start + r;
    for (unsigned k = 0; k < n && to != PL_IR_NONE && pl_ir_ok(u->x); k++) {
        to = append(u, to, k, n);
        if (u->c->other_condition == PL_IR_NONE || to == PL_IR_NONE || k + 1 == n) continue;
        const uint32_t from = to, renamed_condition = u->pred_to[u->c->other_condition];
        to = pl_ir_new_block(u->x);
        pl_ir_jump(u->x, from, pl_ir_branch(u->x, u->c->latch)->line,
                   renamed_condition == PL_IR_NONE ? u->c->other_condition : renamed_condition,
                   true, u->c->exit);
        u->x->blocks.at[from].fallthrough = to;
    }
    return pl_ir_ok(u->x) ? to : PL_IR_NONE;
}

/* Discards the original loop; its first block is reused for the replacement. */
void pl_unroll_discard_original(pl_ir *x, const counted_loop *c)
{
    for (uint32_t m = 0; m < c->members; m++) {
        memset(&x->blocks.at[c->member[m]].code, 0, sizeof x->blocks.at[c->member[m]].code);
        x->blocks.at[c->member[m]].fallthrough = PL_IR_NONE;
    }
}
