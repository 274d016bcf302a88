/* licm.c - loop-invariant code motion (LICM): hoists invariant computations of a loop to its
 * preheader.
 *
 * The passes licm and licm_compares hoist arithmetic. Front-end compilers do that for the
 * invariants that they recognise. ptxas 13.0 also does it for those that assembly and its own
 * passes leave in a loop (some 2,500 loops made for it, of 70 kinds of instructions, 2026-11). The
 * loop must be innermost, without calls and without waits for a wgmma group. An instruction may be
 * hoisted if every iteration executes its block. Other branches may precede it, since it only
 * computes, or loads from the first block of the loop.
 *
 * A block hoists all its candidates, or none. The savings must be worth the registers: one for each
 * result that is used in the loop, and one more for each pointer that IMAD.WIDE computes. A
 * register costs n / licm.insns_per_reg in a block of n instructions; licm.loop_insns are added for
 * the loop itself. A hoisted instruction saves licm.saved_alone. If the block waits for a global
 * load that does not depend on the instruction, it saves 1. A hoisted load saves
 * licm.saved_waiting. So one instruction leaves a block of up to 195, 64-bit arithmetic one of 95,
 * and a pointer one of 61. Two instructions for one value leave one of 395, a load with its address
 * one of 2,395. Constants do not count.
 *
 * Comparisons of the first block are hoisted after if_convert, at most licm.max_predicates: if
 * there are more, none is hoisted, since the loop needs a predicate for its own exit. Code that
 * divisions and matrix products are lowered to is not hoisted.
 *
 * The pass licm_loads hoists loads past code that front-end compilers cannot analyse, such as
 * exchanges and assembly (27 loops made for it with 1 to 200 loads each, 2026-11). The number of
 * loads and of registers does not matter. Loads are hoisted past the test for a first iteration,
 * and out of several nested loops successively, if
 * - the load is in the first block of the loop, before its first branch, and not predicated;
 * - its address is invariant;
 * - nothing in the loop may overwrite the loaded memory: no store to its state space, and no
 *   barrier, fence or atomic that waits for another thread. No thread writes memory that .nc loads
 *   read;
 * - the loop has no calls, subroutines included;
 * - it is not a load of shared memory in a loop of more than licm.shared_load_insns instructions,
 *   copies not counted, or licm.shared_load_insns_waiting if the loop waits for memory anyway.
 * The limits hold for all but two of 96 loops with 2 to 128 such loads. */
#include "compiler/passes.h"
#include "compiler/tuning.h"
#include "isa/program/operand_plan.h"
#include "compiler/analysis/memory_clobbers.h"
#include "compiler/analysis/insn_cost.h"

/* An instruction whose result is the same in every iteration. */
typedef struct invariant_insn {
    uint32_t block, at;
    uint32_t region;  /* region of its block */
    uint8_t nregs;    /* registers that its results take; 0: a predicate */
    bool extra_reg;   /* and one more */
    bool is_constant; /* the result is a constant */
    bool is_load;
    bool feeds_load;      /* used by a load that the block waits for */
    bool has_variant_use; /* it has a use that is not loop-invariant */
    bool is_counted;      /* counted, with its dependences */
    bool hoistable;
    bool after_guard; /* to be placed after the test for a first iteration: a load, or an
                         instruction that depends on one */
} invariant_insn;

/* The cost of a region of a block: in ptxas, a fence ends a block. */
typedef struct region_cost {
    unsigned n;
    bool waits_for_load;
} region_cost;

/* Effects of the blocks of a loop. */
typedef struct loop_effects {
    pl_memory_clobbers stored;
    bool is_innermost;     /* it has no nested loops and no calls */
    bool lanes_exit;       /* lanes exit in it */
    unsigned ninsns;       /* licm_loads: instructions, without copies */
    bool waits_for_memory; /* licm_loads: for a load that is not invariant */
} loop_effects;

typedef struct licm {
    pl_ir *x;
    uint32_t header, preheader;       /* header of the current loop, and the block before it */
    const loop_effects *effects;      /* of the current loop */
    uint32_t *of_row, *of_pred;       /* by register: its writer, an index in `found` plus one */
    uint32_t *row_reads, *pred_reads; /* by register: number of reads by instructions in `found` */
    /* By register: the region, plus one, in which a later load needs it. */
    uint32_t *row_needed, *pred_needed;
    struct {
        invariant_insn *at;
        size_t n, cap;
    } found;
    struct {
        uint32_t *at;
        size_t n, cap;
    } worklist; /* indices in `found` */
    struct {
        region_cost *at;
        size_t n, cap;
    } regions;
    size_t first; /* first index in `found` of this loop */
} licm;

/* True if the register or predicate is available at the end of the block. */
static bool is_available(const pl_ir *x, uint32_t row, unsigned use, uint32_t block)
{
    return use & PL_USE_PRED ? pl_ir_pred_available_at(x, row, block)
                             : pl_ir_available_at(x, row, block);
}

/* True if all its results are values, which may be written in another block. */
static bool writes_values(const pl_ir *x, pl_insn *i)
{
    PL_FOR_EACH_WRITE(x->p, i, o)
        for (unsigned k = 0; k < o.rows; k++)
            if (!pl_ir_is_value(x, *o.row + k, (o.use & PL_USE_PRED) != 0)) return false;
    return true;
}

/* ---- arithmetic ---- */

/* The instruction of this loop in `found` that writes a register, PL_IR_NONE. */
static uint32_t found_at(const licm *l, uint32_t row, unsigned use)
{
    if (row == UINT32_MAX) return PL_IR_NONE;
    const uint32_t k = (use & PL_USE_PRED ? l->of_pred : l->of_row)[row];
    return k > l->first ? k - 1 : PL_IR_NONE;
}

/* True if each operand is available before the loop, or is written by an instruction in `found`.
 * *is_constant: the result is a constant. */
static bool operands_available(const licm *l, pl_insn *i, bool *is_constant)
{
    uint64_t constant;
    PL_FOR_EACH_READ(l->x->p, i, o) {
        for (unsigned k = 0; k < o.rows; k++) {
            const uint32_t at = *o.row + k, f = found_at(l, at, o.use);
            if (f != PL_IR_NONE) {
                *is_constant &= l->found.at[f].is_constant;
                continue;
            }
            if (!is_available(l->x, at, o.use, l->preheader)) return false;
            if (!(o.use & PL_USE_PRED))
                *is_constant &= pl_ir_constant_value(l->x, *o.row, &constant);
        }
    }
    return true;
}

/* Number of registers that it writes, without predicates. */
static unsigned count_result_regs(const pl_ir *x, pl_insn *i)
{
    unsigned n = 0;
    PL_FOR_EACH_WRITE(x->p, i, o) n += o.use & PL_USE_PRED ? 0 : o.rows;
    return n;
}

/* Records operands and results of the last instruction in `found`. */
static void note_operands(licm *l, pl_insn *i)
{
    PL_FOR_EACH_READ(l->x->p, i, o)
        for (unsigned k = 0; k < o.rows; k++)
            (o.use & PL_USE_PRED ? l->pred_reads : l->row_reads)[*o.row + k]++;
    PL_FOR_EACH_WRITE(l->x->p, i, o)
        for (unsigned k = 0; k < o.rows; k++)
            (o.use & PL_USE_PRED ? l->of_pred : l->of_row)[*o.row + k] = (uint32_t)l->found.n;
}

/* True if an instruction not in `found` uses its results. */
static bool has_other_readers(const licm *l, pl_insn *i)
{
    PL_FOR_EACH_WRITE(l->x->p, i, o) {
        const bool pred = (o.use & PL_USE_PRED) != 0;
        for (unsigned k = 0; k < o.rows; k++)
            if ((pred ? l->x->preds : l->x->regs)[*o.row + k].nuses >
                (pred ? l->pred_reads : l->row_reads)[*o.row + k])
                return true;
    }
    return false;
}

static bool is_call(const pl_insn *i)
{
    return pl_insn_calls_out(i) || i->latency_class == C_wgmma_fence ||
           i->latency_class == C_wgmma_wait;
}

/* True if the instruction may be hoisted. This includes loads from the first block that read memory
 * not overwritten in the loop. */
static bool is_hoistable(const licm *l, uint32_t b, pl_insn *i, bool *is_constant)
{
    const bool load = pl_insn_is_hoistable_load(i);
    *is_constant = !load;
    if (i->guard != PL_PT || (i->flags & PL_IF_FROM_WMMA) ||
        (load ? b != l->header || l->effects->lanes_exit || pl_clobbers_load(&l->effects->stored, i)
              : !pl_insn_pure(i)))
        return false;
    return operands_available(l, i, is_constant) && writes_values(l->x, i);
}

/* True for a load that the block waits for. */
static bool is_global_load(const pl_insn *i)
{
    return pl_insn_effects(i) == PL_EF_LOAD && pl_insn_loads(i, PL_SPACES_GLOBAL);
}

/* True if it is a global load, or a later load of its region depends on it. Called for instructions
 * from last to first. */
static bool feeds_load(licm *l, pl_insn *i)
{
    const uint32_t region = (uint32_t)l->regions.n;
    bool needed = is_global_load(i);
    PL_FOR_EACH_WRITE(l->x->p, i, o)
        for (unsigned k = 0; k < o.rows; k++)
            needed |= (o.use & PL_USE_PRED ? l->pred_needed : l->row_needed)[*o.row + k] == region;
    if (!needed) return false;
    if (i->guard == PL_PT)
        PL_FOR_EACH_WRITE(l->x->p, i, o)
            for (unsigned k = 0; k < o.rows; k++)
                (o.use & PL_USE_PRED ? l->pred_needed : l->row_needed)[*o.row + k] = 0;
    PL_FOR_EACH_READ(l->x->p, i, o)
        for (unsigned k = 0; k < o.rows && *o.row + k != UINT32_MAX; k++)
            (o.use & PL_USE_PRED ? l->pred_needed : l->row_needed)[*o.row + k] = region;
    return true;
}

/* Finds the candidates from here to the end of the region. Returns the start of the next region. */
static uint32_t scan_region(licm *l, uint32_t b, uint32_t at)
{
    pl_ir *x = l->x;
    region_cost s = {.n = l->x->p->tuning->licm.loop_insns};
    uint32_t end = at;
    for (; end < x->blocks.at[b].code.n && !pl_insn_is_fence(&x->blocks.at[b].code.at[end]);
         end++) {
        const pl_insn *i = &x->blocks.at[b].code.at[end];
        s.n += i->form != PL_IR_DEAD && !pl_insn_is_copy(i) && !pl_insn_is_free_copy(i);
        s.waits_for_load |= i->form != PL_IR_DEAD && is_global_load(i);
    }
    const size_t first = l->found.n;
    *pl_push(x->tmp, &l->regions) = s;
    for (uint32_t k = at; k < end && pl_ir_ok(x); k++) {
        pl_insn *i = &x->blocks.at[b].code.at[k];
        bool is_constant;
        if (i->form == PL_IR_DEAD || !is_hoistable(l, b, i, &is_constant)) continue;
        const unsigned nregs = count_result_regs(x, i);
        *pl_push(x->tmp, &l->found) =
            (invariant_insn){.block = b,
                             .at = k,
                             .region = (uint32_t)l->regions.n - 1,
                             .nregs = (uint8_t)nregs,
                             .is_constant = is_constant,
                             .is_load = is_global_load(i),
                             .extra_reg = pl_insn_mnem(i) == M_mad && nregs == 2,
                             .after_guard = pl_insn_is_hoistable_load(i)};
        note_operands(l, i);
    }
    size_t f = l->found.n;
    for (uint32_t k = end; s.waits_for_load && f > first && k-- > at && pl_ir_ok(x);) {
        pl_insn *i = &x->blocks.at[b].code.at[k];
        const bool needed = i->form != PL_IR_DEAD && feeds_load(l, i);
        if (l->found.at[f - 1].at == k) l->found.at[--f].feeds_load = needed;
    }
    return end + (end < x->blocks.at[b].code.n);
}

/* The instruction count in ptxas at this stage: three-operand sums and logic are still two
 * instructions. */
static unsigned cost_of(const pl_ir *x, const pl_insn *i)
{
    if (pl_insn_is_copy(i) || pl_insn_is_free_copy(i)) return 0;
    if (pl_insn_mnem(i) == M__iadd3 || pl_insn_mnem(i) == M_lop3) return 2;
    return pl_type_bits(pl_insn_type(i)) == 64 ? 1 : pl_insn_cost(x, i);
}

/* The savings per iteration of hoisting a value with all dependences that have not been counted or
 * hoisted; *rows: additional registers that this takes. `mark`: marks them as hoisted. */
static unsigned count_savings(licm *l, uint32_t f, bool mark, unsigned *rows)
{
    pl_ir *x = l->x;
    unsigned n = 0;
    l->worklist.n = 0;
    for (*pl_push(x->tmp, &l->worklist) = f; l->worklist.n && pl_ir_ok(x);) {
        invariant_insn *s = &l->found.at[l->worklist.at[--l->worklist.n]];
        if (s->hoistable || (!mark && s->is_counted)) continue;
        s->is_counted = true;
        s->hoistable = mark;
        pl_insn *i = &x->blocks.at[s->block].code.at[s->at];
        n += s->is_load ? l->x->p->tuning->licm.saved_waiting
                        : cost_of(x, i) * (s->feeds_load || !l->regions.at[s->region].waits_for_load
                                               ? l->x->p->tuning->licm.saved_alone
                                               : 1);
        *rows += s->extra_reg;
        PL_FOR_EACH_READ(x->p, i, o)
            for (unsigned k = 0; k < o.rows; k++) {
                const uint32_t needed = found_at(l, *o.row + k, o.use);
                if (needed != PL_IR_NONE) *pl_push(x->tmp, &l->worklist) = needed;
            }
    }
    return n;
}

/* True if it depends on an instruction placed after the test for a first iteration. */
static bool reads_after_guard(const licm *l, pl_insn *i)
{
    PL_FOR_EACH_READ(l->x->p, i, o)
        for (unsigned k = 0; k < o.rows; k++) {
            const uint32_t f = found_at(l, *o.row + k, o.use);
            if (f != PL_IR_NONE && l->found.at[f].after_guard) return true;
        }
    return false;
}

/* Moves the instructions marked hoistable. */
static bool hoist(licm *l)
{
    pl_ir *x = l->x;
    uint32_t preheader = PL_IR_NONE;
    bool any = false;
    for (size_t f = l->first; f < l->found.n && pl_ir_ok(x); f++) {
        invariant_insn *s = &l->found.at[f];
        if (!s->hoistable) continue;
        s->after_guard |= reads_after_guard(l, &x->blocks.at[s->block].code.at[s->at]);
        if (s->after_guard && preheader == PL_IR_NONE) preheader = pl_ir_preheader(x, l->header);
        const uint32_t to = s->after_guard ? preheader : l->preheader;
        pl_insn *i = pl_ir_ok(x) ? pl_ir_insert_deferred(x, to, pl_ir_end(x, to)) : NULL;
        if (!i) return false;
        *i = x->blocks.at[s->block].code.at[s->at];
        pl_ir_remove(x, &x->blocks.at[s->block].code.at[s->at]);
        any = true;
    }
    return any;
}

/* Processes the loop with this header; `last` is the last block that every iteration executes. */
static bool hoist_from_loop(licm *l, uint32_t header, uint32_t last, bool compares)
{
    pl_ir *x = l->x;
    l->header = header;
    l->preheader = x->blocks.at[header].idom;
    l->first = l->found.n;
    l->worklist.n = 0;
    for (uint32_t b = last; b != l->preheader; b = x->blocks.at[b].idom)
        *pl_push(x->tmp, &l->worklist) = b;
    for (size_t k = l->worklist.n; k-- > 0 && pl_ir_ok(x);)
        for (uint32_t at = 0; at < x->blocks.at[l->worklist.at[k]].code.n && pl_ir_ok(x);)
            at = scan_region(l, l->worklist.at[k], at);
    unsigned predicates = 0, unused_rows = 0;
    for (size_t f = l->first; f < l->found.n; f++) {
        invariant_insn *s = &l->found.at[f];
        s->has_variant_use =
            !s->is_constant && has_other_readers(l, &x->blocks.at[s->block].code.at[s->at]);
        predicates += s->has_variant_use && !s->nregs && s->block == header;
    }
    for (size_t f = l->first, end; f < l->found.n && pl_ir_ok(x); f = end) {
        const region_cost *in = &l->regions.at[l->found.at[f].region];
        unsigned saved = 0, rows = 0;
        for (end = f; end < l->found.n && l->found.at[end].region == l->found.at[f].region; end++)
            if (l->found.at[end].has_variant_use && l->found.at[end].nregs) {
                saved += count_savings(l, (uint32_t)end, false, &rows);
                rows += l->found.at[end].nregs;
            }
        for (size_t k = f; k < end; k++) {
            const invariant_insn *s = &l->found.at[k];
            if (s->has_variant_use &&
                (compares
                     ? !s->nregs && s->block == header &&
                           predicates <= l->x->p->tuning->licm.max_predicates
                     : s->nregs && saved * l->x->p->tuning->licm.insns_per_reg >= in->n * rows))
                count_savings(l, (uint32_t)k, true, &unused_rows);
        }
    }
    return hoist(l);
}

/* By header: the effects of innermost loops without calls. */
static const loop_effects *find_innermost_loops(pl_ir *x, bool *found_any)
{
    loop_effects *of = pl_arena_array(x->tmp, loop_effects, x->blocks.n + 1);
    if (!of) return NULL;
    for (uint32_t j = 0; j < x->nrpo; j++) {
        const pl_ir_block *b = &x->blocks.at[x->rpo[j]];
        of[x->rpo[j]].is_innermost = b->nlatches && b->idom != x->rpo[j];
        if (b->nlatches && b->parent_loop != PL_IR_NONE) of[b->parent_loop].is_innermost = false;
        for (size_t k = 0; b->loop != PL_IR_NONE && of[b->loop].is_innermost && k < b->code.n; k++)
            if (b->code.at[k].form != PL_IR_DEAD) {
                loop_effects *to = &of[b->loop];
                to->is_innermost = !is_call(&b->code.at[k]);
                to->lanes_exit |= (pl_insn_effects(&b->code.at[k]) & PL_EF_EXIT) != 0;
                pl_clobbers_add_in_loop(&to->stored, &b->code.at[k]);
            }
    }
    for (uint32_t j = 0; j < x->nrpo; j++) *found_any |= of[x->rpo[j]].is_innermost;
    return of;
}

static bool run_licm(pl_ir *x, bool compares)
{
    bool found_any = false, any = false;
    if (!pl_ir_analyze(x)) return false;
    const loop_effects *of = find_innermost_loops(x, &found_any);
    if (!of || !found_any) {
        pl_ir_preserve_all(x);
        return of != NULL;
    }
    const size_t rows = x->f->rows + 4, preds = x->f->preds + 1;
    licm l = {.x = x,
              .of_row = pl_arena_array(x->tmp, uint32_t, rows),
              .of_pred = pl_arena_array(x->tmp, uint32_t, preds),
              .row_reads = pl_arena_array(x->tmp, uint32_t, rows),
              .pred_reads = pl_arena_array(x->tmp, uint32_t, preds),
              .row_needed = pl_arena_array(x->tmp, uint32_t, rows),
              .pred_needed = pl_arena_array(x->tmp, uint32_t, preds)};
    if (!l.of_row || !l.of_pred || !l.row_reads || !l.pred_reads || !l.row_needed || !l.pred_needed)
        return false;
    for (uint32_t j = 0; j < x->nrpo && pl_ir_ok(x); j++) {
        const uint32_t header = x->rpo[j];
        const pl_ir_block *b = &x->blocks.at[header];
        if (!of[header].is_innermost) continue;
        l.effects = &of[header];
        uint32_t last = PL_IR_NONE;
        for (uint32_t k = 0; k < b->npreds; k++)
            if (pl_ir_in_loop(x, x->predecessors[b->first_pred + k], header))
                last = pl_ir_common_dominator(x, last, x->predecessors[b->first_pred + k]);
        any |= hoist_from_loop(&l, header, last, compares);
    }
    return pl_ir_finish_inserts(x, any);
}

bool pl_pass_licm(pl_ir *x)
{
    return run_licm(x, false);
}

bool pl_pass_licm_compares(pl_ir *x)
{
    return run_licm(x, true);
}

/* ---- loads ---- */

/* By block: next block of the same innermost loop. By loop header: a block of it, a nested loop,
 * and the next loop nested in the same outer loop. */
typedef struct loop_tree {
    uint32_t next, block, first_inner, sibling;
} loop_tree;

typedef struct licm_loads {
    pl_ir *x;
    const loop_tree *loops;
    uint32_t header;
} licm_loads;

static bool is_invariant_load(const licm_loads *l, pl_insn *i)
{
    if (i->guard != PL_PT || !pl_insn_is_hoistable_load(i)) return false;
    PL_FOR_EACH_READ(l->x->p, i, o)
        for (unsigned k = 0; k < o.rows; k++)
            if (!is_available(l->x, *o.row + k, o.use, l->x->blocks.at[l->header].idom))
                return false;
    return true;
}

static bool is_hoistable_load(const licm_loads *l, const loop_effects *b, pl_insn *i)
{
    if (i->form == PL_IR_DEAD || !is_invariant_load(l, i) || pl_clobbers_load(&b->stored, i))
        return false;
    if (i->sel[PL_M_SPACE] == PL_SP_SHARED &&
        b->ninsns > (b->waits_for_memory ? l->x->p->tuning->licm.shared_load_insns_waiting
                                         : l->x->p->tuning->licm.shared_load_insns))
        return false;
    return writes_values(l->x, i);
}

/* Adds the effects of a block. False: it has calls, or lanes exit in it. */
static bool add_block_effects(const licm_loads *l, loop_effects *to, pl_ir_block *b)
{
    for (size_t k = 0; k < b->code.n; k++) {
        pl_insn *i = &b->code.at[k];
        if (i->form == PL_IR_DEAD) continue;
        if (pl_insn_calls_out(i) || (pl_insn_effects(i) & PL_EF_EXIT)) return false;
        pl_clobbers_add_in_loop(&to->stored, i);
        to->ninsns += !pl_insn_is_copy(i) && !pl_insn_is_free_copy(i);
        to->waits_for_memory |= pl_insn_effects(i) == PL_EF_LOAD &&
                                i->sel[PL_M_SPACE] != PL_SP_SHARED && !is_invariant_load(l, i);
    }
    return true;
}

/* Adds the effects of a loop and its nested loops. */
static bool add_loop_effects(const licm_loads *l, loop_effects *to)
{
    const pl_ir *x = l->x;
    *to = (loop_effects){.ninsns = 0};
    for (uint32_t loop = l->header;;) {
        for (uint32_t b = l->loops[loop].block; b != PL_IR_NONE; b = l->loops[b].next)
            if (!add_block_effects(l, to, &x->blocks.at[b])) return false;
        if (l->loops[loop].first_inner != PL_IR_NONE) {
            loop = l->loops[loop].first_inner;
            continue;
        }
        while (loop != l->header && l->loops[loop].sibling == PL_IR_NONE)
            loop = x->blocks.at[loop].parent_loop;
        if (loop == l->header) return true;
        loop = l->loops[loop].sibling;
    }
}

/* Builds the lists of blocks and nested loops of each loop. Returns NULL when out of memory. */
static const loop_tree *build_loop_tree(pl_ir *x)
{
    loop_tree *of = pl_arena_array(x->tmp, loop_tree, x->blocks.n + 1);
    if (!of) return NULL;
    for (size_t b = 0; b < x->blocks.n; b++)
        of[b] = (loop_tree){PL_IR_NONE, PL_IR_NONE, PL_IR_NONE, PL_IR_NONE};
    for (uint32_t j = 0; j < x->nrpo; j++) {
        const uint32_t b = x->rpo[j], loop = x->blocks.at[b].loop,
                       outer = x->blocks.at[b].nlatches ? x->blocks.at[b].parent_loop : PL_IR_NONE;
        if (loop != PL_IR_NONE) {
            of[b].next = of[loop].block;
            of[loop].block = b;
        }
        if (outer != PL_IR_NONE) {
            of[b].sibling = of[outer].first_inner;
            of[outer].first_inner = b;
        }
    }
    return of;
}

static bool hoist_loads_from_loop(pl_ir *x, const loop_tree *of, uint32_t header)
{
    loop_effects b;
    licm_loads l = {.x = x, .loops = of, .header = header};
    uint32_t preheader = PL_IR_NONE;
    bool found_any = false;
    for (size_t k = 0; k < x->blocks.at[header].code.n && !found_any; k++)
        found_any = x->blocks.at[header].code.at[k].form != PL_IR_DEAD &&
                    is_invariant_load(&l, &x->blocks.at[header].code.at[k]);
    if (!found_any || x->blocks.at[header].idom == header || !add_loop_effects(&l, &b))
        return false;
    for (size_t k = 0; k < x->blocks.at[header].code.n; k++) {
        if (!is_hoistable_load(&l, &b, &x->blocks.at[header].code.at[k])) continue;
        if (preheader == PL_IR_NONE) preheader = pl_ir_preheader(x, header);
        pl_insn *to = preheader == PL_IR_NONE
                          ? NULL
                          : pl_ir_insert_deferred(x, preheader, x->blocks.at[preheader].code.n);
        if (!to) return false;
        *to = x->blocks.at[header].code.at[k];
        pl_ir_remove(x, &x->blocks.at[header].code.at[k]);
    }
    return preheader != PL_IR_NONE;
}

/* Hoists loads out of one loop at a time in each nest, inner loops first. False: nothing more to
 * hoist, or out of memory. */
static bool hoist_loads_one_level(pl_ir *x)
{
    bool any = false;
    if (!pl_ir_analyze(x)) return false;
    /* By loop header: loads were hoisted out of a nested loop. */
    bool *inner_hoisted = pl_arena_array(x->tmp, bool, x->blocks.n + 1);
    const loop_tree *of = build_loop_tree(x);
    if (!inner_hoisted || !of) return false;
    for (uint32_t j = x->nrpo; j-- > 0 && pl_ir_ok(x);) {
        const uint32_t header = x->rpo[j];
        if (!x->blocks.at[header].nlatches || inner_hoisted[header] ||
            !hoist_loads_from_loop(x, of, header))
            continue;
        any = true;
        for (uint32_t outer = x->blocks.at[header].parent_loop; outer != PL_IR_NONE;
             outer = x->blocks.at[outer].parent_loop)
            inner_hoisted[outer] = true;
    }
    return pl_ir_finish_inserts(x, any) && any;
}

bool pl_pass_licm_loads(pl_ir *x)
{
    if (!pl_ir_any(x, pl_insn_is_hoistable_load)) return true;
    while (hoist_loads_one_level(x)) {
    }
    return pl_ir_ok(x);
}
