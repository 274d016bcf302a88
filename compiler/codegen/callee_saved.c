/* callee_saved.c - counts the registers that a kernel keeps live across its calls.
 *
 * A function that follows the calling convention preserves R2 and R16 to R31, and R20 and R21 are
 * its return address. So a value that is live across a call of such a function occupies another of
 * these registers for its whole live range; each predicate among them occupies one during the call
 * (P2R). All other values of the kernel are in lower registers (output of ptxas 13.0 for sm_90,
 * kernels that keep 2 to 12; 2026-11). */
#include <string.h>

#include "compiler/analysis/liveness.h"
#include "compiler/passes.h"
#include "isa/program/operand_plan.h"

typedef struct callee_saved {
    pl_ir *x;
    pl_liveness f;
    uint32_t max_regs;    /* maximum registers of marked values live at once */
    uint64_t *live_preds; /* predicates live at the current point: one bit each */
    size_t words;
} callee_saved;

static void mark_live_across_calls(callee_saved *p)
{
    pl_ir *x = p->x;
    for (uint32_t b = 0; b < x->blocks.n; b++) {
        if (x->blocks.at[b].rpo_index == PL_IR_NONE) continue;
        pl_liveness_go_to_end(&p->f, b);
        for (uint32_t at = (uint32_t)x->blocks.at[b].code.n; at-- > 0;) {
            const pl_insn *i = pl_liveness_visit(&p->f, b, at);
            pl_liveness_step_defs(&p->f, &x->blocks.at[b].code.at[at]);
            if (pl_call_uses_abi(x->p, i)) pl_liveness_mark(&p->f);
            p->max_regs = p->f.reg_pressure > p->max_regs ? p->f.reg_pressure : p->max_regs;
            pl_liveness_step_uses(&p->f, &x->blocks.at[b].code.at[at]);
        }
    }
}

static bool find_values(callee_saved *p)
{
    if (!pl_liveness_values(&p->f, p->x, false)) return false;
    pl_liveness_alias(&p->f);
    return pl_liveness_solve(&p->f);
}

/* Counts registers of values that are live across a call. Returns false when out of memory. */
static bool count_values(pl_ir *x, uint32_t *max)
{
    callee_saved first = {.x = x}, weighted = {.x = x};
    if (!find_values(&first)) return false;
    mark_live_across_calls(&first);
    if (!find_values(&weighted)) return false;
    for (uint32_t k = 0; k < first.f.n; k++)
        if (!pl_liveness_was_live_at_mark(&first.f, k)) weighted.f.v[k].regs = 0;
    mark_live_across_calls(&weighted);
    *max = weighted.max_regs;
    return true;
}

static uint32_t count_live_preds(const callee_saved *p)
{
    uint32_t n = 0;
    for (size_t k = 0; k < p->words; k++) n += (uint32_t)__builtin_popcountll(p->live_preds[k]);
    return n;
}

/* Walks backwards through a block with live-out set `live_preds`. Returns the maximum number of
 * predicates live across a call. */
static uint32_t step_block(callee_saved *p, pl_ir_block *b)
{
    uint32_t max_live = 0;
    for (size_t at = b->code.n; at-- > 0;) {
        if (b->code.at[at].guard == PL_PT)
            PL_FOR_EACH_WRITE(p->x->p, &b->code.at[at], o)
                if (o.use & PL_USE_PRED) p->live_preds[*o.row / 64] &= ~(1ull << *o.row % 64);
        const uint32_t n = pl_call_uses_abi(p->x->p, &b->code.at[at]) ? count_live_preds(p) : 0;
        max_live = n > max_live ? n : max_live;
        PL_FOR_EACH_READ(p->x->p, &b->code.at[at], op)
            if ((op.use & PL_USE_PRED) && *op.row > PL_PT + 1u) /* the first two are constants */
                p->live_preds[*op.row / 64] |= 1ull << *op.row % 64;
    }
    return max_live;
}

/* The maximum number of predicates live across one call. Returns false when out of memory. */
static bool count_predicates(pl_ir *x, uint32_t *max)
{
    callee_saved p = {.x = x, .words = x->f->preds / 64 + 1};
    uint64_t *in = pl_arena_array(x->tmp, uint64_t, x->blocks.n * p.words + 1);
    p.live_preds = pl_arena_array(x->tmp, uint64_t, p.words);
    if (!pl_ir_ok(x)) return false;
    *max = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t j = x->nrpo; j-- > 0;) {
            const uint32_t b = x->rpo[j];
            memset(p.live_preds, 0, p.words * sizeof *p.live_preds);
            for (uint32_t k = 0; k < pl_ir_successors(x, b); k++)
                for (size_t w = 0; w < p.words; w++)
                    p.live_preds[w] |= in[pl_ir_successor(x, b, k) * p.words + w];
            const uint32_t n = step_block(&p, &x->blocks.at[b]);
            *max = n > *max ? n : *max;
            changed |= memcmp(in + b * p.words, p.live_preds, p.words * sizeof *p.live_preds) != 0;
            memcpy(in + b * p.words, p.live_preds, p.words * sizeof *p.live_preds);
        }
    }
    return true;
}

bool pl_pass_count_callee_saved(pl_ir *x)
{
    bool any = false;
    uint32_t predicates = 0;
    for (size_t b = 0; b < x->blocks.n && x->f->entry; b++)
        for (size_t k = 0; k < x->blocks.at[b].code.n && !any; k++)
            any = pl_call_uses_abi(x->p, &x->blocks.at[b].code.at[k]);
    x->f->callee_saved_used = 0;
    if (!any) return true;
    pl_ir_sweep(x);
    if (!pl_ir_graph(x) || !pl_ir_count(x) || !count_values(x, &x->f->callee_saved_used) ||
        !count_predicates(x, &predicates))
        return false;
    x->f->callee_saved_used += predicates;
    return true;
}
