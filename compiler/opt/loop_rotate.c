/* loop_rotate.c - loop rotation: moves the test of a loop from its header to its latch.
 *
 * `while (c) body`, with the test first, takes two branches per iteration: one out of the loop and
 * one back. ptxas 13.0 turns it into `if (c) do body while (c)`, regardless of the length of the
 * test (its output for sm_90, 2026-11): up to 2,048 instructions were tried, also with votes and
 * barriers among them. It does so before short bodies are predicated, and only if the test is one
 * block. NVVM has rotated most loops already. The exceptions are those with warp-collective tests,
 * those with long tests, and those with exits in the middle. A loop that ends with a branch out of
 * it and a jump back, as clang writes them, already tests in its latch. */
#include <string.h>

#include "compiler/passes.h"
#include "isa/program/operand_plan.h"

typedef struct loop_rotation {
    pl_ir *x;
    uint32_t *row_to, *pred_to;       /* names in the copy, PL_IR_NONE: unchanged */
    uint32_t *row_reads, *pred_reads; /* by the test */
} loop_rotation;

/* True if the loop already tests in its latch. */
static bool is_bottom_tested(const pl_ir *x, uint32_t header)
{
    const pl_ir_block *b = &x->blocks.at[header];
    for (uint32_t k = 0; k < b->npreds; k++) {
        uint32_t from = x->predecessors[b->first_pred + k];
        for (uint32_t s = 0; pl_ir_dominates(x, header, from) && s < pl_ir_successors(x, from); s++)
            if (!pl_ir_in_loop(x, pl_ir_successor(x, from, s), header)) return true;
    }
    return false;
}

/* The test is a header that either continues in the loop or leaves it. Returns its successor in the
 * loop, or PL_IR_NONE if the header is not a test. */
static uint32_t falls_into_loop(const pl_ir *x, uint32_t header)
{
    const pl_ir_block *b = &x->blocks.at[header];
    const pl_insn *branch = pl_ir_branch(x, header);
    if (b->loop != header || !branch || branch->guard == PL_PT || pl_insn_is_table(branch) ||
        b->fallthrough == PL_IR_NONE || branch->target == b->fallthrough)
        return PL_IR_NONE;
    for (size_t k = 0; k < b->code.n; k++)
        if (pl_insn_effects(&b->code.at[k]) & (PL_EF_CALL | PL_EF_EXIT)) return PL_IR_NONE;
    const bool jumps = pl_ir_in_loop(x, branch->target, header);
    return jumps != pl_ir_in_loop(x, b->fallthrough, header) && !is_bottom_tested(x, header)
               ? jumps ? branch->target : b->fallthrough
               : PL_IR_NONE;
}

static void count_reads(loop_rotation *r, uint32_t *row, unsigned rows, unsigned use)
{
    for (unsigned k = 0; k < rows; k++)
        (use & PL_USE_PRED ? r->pred_reads : r->row_reads)[*row + k]++;
}

static void reset_reads(loop_rotation *r, uint32_t *row, unsigned rows, unsigned use)
{
    for (unsigned k = 0; k < rows; k++)
        (use & PL_USE_PRED ? r->pred_reads : r->row_reads)[*row + k] = 0;
}

/* Renames registers in the copy that only the test itself reads, so that they remain values. */
static void rename_writes(loop_rotation *r, uint32_t *row, unsigned rows, unsigned use)
{
    pl_ir *x = r->x;
    const bool pred = (use & PL_USE_PRED) != 0;
    if (use & PL_USE_READ) return;
    for (unsigned k = 0; k < rows; k++) {
        const pl_ir_reg *d = &(pred ? x->preds : x->regs)[*row + k];
        if (d->ndefs != 1 || d->precolored ||
            d->nuses != (pred ? r->pred_reads : r->row_reads)[*row + k] ||
            (!pred && (d->kind != PL_REG_VIRTUAL || d->width != rows)))
            return;
    }
    uint32_t new_reg = pred ? pl_ir_new_pred(x) : pl_ir_new(x, rows);
    for (unsigned k = 0; k < rows; k++) (pred ? r->pred_to : r->row_to)[*row + k] = new_reg + k;
    *row = new_reg;
}

/* Redirects the back edge of a block from the header to the copy of the test, which ends in
 * `last`. */
static void redirect_copy(pl_ir *x, uint32_t from, uint32_t header, uint32_t to, pl_insn *last)
{
    pl_ir_block *b = &x->blocks.at[from];
    const pl_insn *branch = pl_ir_branch(x, from);
    const bool jumps = branch && !pl_insn_is_table(branch) && branch->target == header;
    if (branch) last->flags |= (uint16_t)(branch->flags & PL_IF_NOUNROLL);
    pl_ir_redirect(x, from, header, to);
    if (jumps && branch->guard == PL_PT) {
        b->fallthrough = to;
        b->code.n--;
    }
}

/* A loop that ends with a branch out of it and a jump back already tests in its latch, but ptxas
 * does not unroll it. */
static bool is_back_edge_block(pl_ir *x, uint32_t header, uint32_t body_entry)
{
    const pl_ir_block *b = &x->blocks.at[body_entry];
    const pl_insn *jump = pl_ir_branch(x, body_entry);
    if (b->code.n != (jump != NULL) || pl_ir_successors(x, body_entry) != 1 ||
        pl_ir_successor(x, body_entry, 0) != header || b->npreds != 1)
        return false;
    pl_insn *branch = pl_ir_branch(x, header);
    const uint32_t exit_block =
        branch->target == body_entry ? x->blocks.at[header].fallthrough : branch->target;
    if (branch->target != body_entry) branch->flags ^= PL_IF_GUARD_NEG;
    branch->flags |= PL_IF_NOUNROLL;
    branch->target = header;
    x->blocks.at[header].fallthrough = exit_block;
    return true;
}

static bool rotate(loop_rotation *r, uint32_t header, uint32_t body_entry)
{
    pl_ir *x = r->x;
    if (is_back_edge_block(x, header, body_entry)) return true;
    const uint32_t end = pl_ir_new_block(x);
    if (!pl_ir_ok(x)) return false;
    x->blocks.at[end].loop = header;
    const pl_ir_block test = x->blocks.at[header];
    for (size_t k = 0; k < test.code.n; k++)
        PL_FOR_EACH_READ(x->p, &test.code.at[k], o) count_reads(r, o.row, o.rows, o.use);
    for (size_t k = 0; k < test.code.n; k++) {
        pl_insn i = pl_ir_clone(x, &test.code.at[k]);
        PL_FOR_EACH_READ(x->p, &i, op) {
            const uint32_t *to = op.use & PL_USE_PRED ? r->pred_to : r->row_to;
            if (to[*op.row] != PL_IR_NONE) *op.row = to[*op.row];
        }
        if (i.guard == PL_PT)
            PL_FOR_EACH_WRITE(x->p, &i, o) rename_writes(r, o.row, o.rows, o.use);
        *pl_push(x->a, &x->blocks.at[end].code) = i;
    }
    for (size_t k = 0; k < test.code.n; k++)
        PL_FOR_EACH_READ(x->p, &test.code.at[k], op) reset_reads(r, op.row, op.rows, op.use);
    if (!pl_ir_ok(x)) return false;
    /* the first test branches out of the loop, the test in the latch back into it */
    pl_insn *first = pl_ir_branch(x, header), *last = pl_ir_branch(x, end);
    const uint32_t exit_block = first->target == body_entry ? test.fallthrough : first->target;
    if (first->target == body_entry)
        first->flags ^= PL_IF_GUARD_NEG;
    else
        last->flags ^= PL_IF_GUARD_NEG;
    first->target = x->blocks.at[end].fallthrough = exit_block;
    last->target = x->blocks.at[header].fallthrough = body_entry;
    for (uint32_t k = 0; k < test.npreds; k++) {
        uint32_t from = x->predecessors[test.first_pred + k];
        if (pl_ir_dominates(x, header, from)) redirect_copy(x, from, header, end, last);
    }
    return true;
}

bool pl_pass_loop_rotate(pl_ir *x)
{
    bool any = false;
    pl_ir_sweep(x);
    if (!pl_ir_graph(x)) return false;
    for (uint32_t j = 0; j < x->nrpo && !any; j++)
        any = falls_into_loop(x, x->rpo[j]) != PL_IR_NONE;
    if (!any) return true;
    if (!pl_ir_count(x)) return false;
    const size_t rows = x->f->rows + 4, preds = x->f->preds + 1;
    loop_rotation r = {.x = x,
                       .row_to = pl_arena_array(x->tmp, uint32_t, rows),
                       .pred_to = pl_arena_array(x->tmp, uint32_t, preds),
                       .row_reads = pl_arena_array(x->tmp, uint32_t, rows),
                       .pred_reads = pl_arena_array(x->tmp, uint32_t, preds)};
    if (!r.row_to || !r.pred_to || !r.row_reads || !r.pred_reads) return false;
    memset(r.row_to, 0xff, rows * sizeof *r.row_to);
    memset(r.pred_to, 0xff, preds * sizeof *r.pred_to);
    x->uses_valid = false;
    for (uint32_t j = 0; j < x->nrpo; j++) { /* outer loops first, so that back edges from the test
                                                of an inner loop are copied in their final form */
        uint32_t body_entry = falls_into_loop(x, x->rpo[j]);
        if (body_entry != PL_IR_NONE && !rotate(&r, x->rpo[j], body_entry)) return false;
    }
    return true;
}
