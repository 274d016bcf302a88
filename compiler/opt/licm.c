/* licm.c - loop-invariant code motion (LICM): what is invariant in a loop is computed in its
 * preheader.
 *
 * Compilers before ptxas do that for what they see; what assembly, other compilers and passes
 * of ours leave in a loop, ptxas 13.0 computes before it (2026-11: some 2,500 loops made for
 * it, of 70 kinds of instructions), if the loop has no other in it, calls no subroutine and waits
 * for no group of warps' products (wgmma), where
 * - every iteration comes through its block; other conditions may stand before it, since it does
 *   nothing but compute, or load (see licm_loads.c) from the
 *   first block of the loop;
 * - it is worth the registers that it takes all along. All that may leave one block does so, or
 *   nothing: the register of each result that is
 *   read in the loop, and one more for each pointer that IMAD.WIDE makes, is worth n /
 * licm.insns_per_reg in a block of n instructions (licm.loop_insns more for the loop itself).
 * Moving saves the instructions that compute them: licm.saved_alone for each, but 1 if the block
 *     waits for global memory meanwhile, which
 *   is if it loads and the load does not need it; and licm.saved_waiting for each such load. So one
 * instruction moves out of a block of 195, 64-bit arithmetic of one instruction out of 95, and a
 * pointer out of 61; two that make one value out of 395, and a load, with what its address needs,
 * out of 2,395. What is a constant when all is known is none of it. Compares of the first block go
 * too, when the bodies of short branches are guarded (pl_pass_if_convert), at most
 * licm.max_predicates: with more all stay, for the loop needs a predicate for its own end. What
 * divisions and matrix products are made of by then stays. */
#include "compiler/passes.h"
#include "compiler/tuning.h"
#include "isa/program/operand_plan.h"
#include "compiler/analysis/memory_clobbers.h"
#include "compiler/analysis/insn_cost.h"

/* An instruction whose result is the same in every iteration. */
typedef struct invariant_insn {
    uint32_t block, at;
    uint32_t region;  /* of its block */
    uint8_t nregs;    /* registers that it takes, none: a predicate */
    bool pointer;     /* and one more */
    bool is_constant; /* the result is one */
    bool is_load;
    bool feeds_load;      /* by a load that the block waits for */
    bool has_variant_use; /* something reads it that is not the same in every iteration */
    bool is_counted;      /* with what needs it */
    bool hoistable;
    bool after_guard; /* it goes after the test whether there is a first iteration: a load, and what
                    needs one */
} invariant_insn;

/* What a region of a block costs: for ptxas a fence ends a block. */
typedef struct region_cost {
    unsigned n;
    bool waits_for_load;
} region_cost;

/* What the blocks of a loop do, by its header. */
typedef struct loop_effects {
    pl_memory_clobbers stored;
    bool is_innermost; /* no others in it, and it calls nothing */
    bool lanes_exit;   /* for loads: lanes end in it */
} loop_effects;

typedef struct licm {
    pl_ir *x;
    uint32_t header, preheader;       /* this loop, and the block before it */
    const loop_effects *effects;      /* this loop */
    uint32_t *of_row, *of_pred;       /* by register: who writes it, an index in `found` plus one */
    uint32_t *row_reads, *pred_reads; /* by register: how often those in `found` read it */
    uint32_t *row_needed,
        *pred_needed; /* by register: the region, plus one, in which a load after needs it */
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
    } regions;      /* regions */
    size_t first;   /* of this loop in `found` */
    unsigned nregs; /* answers of the questions below */
    bool is_constant, unsafe;
} licm;

/* The one in this loop that writes a register, PL_IR_NONE. */
static uint32_t found_at(const licm *l, uint32_t row, unsigned use)
{
    const uint32_t k = (use & PL_USE_PRED ? l->of_pred : l->of_row)[row];
    return k > l->first ? k - 1 : PL_IR_NONE;
}

static void check_read(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    licm *l = ctx;
    uint64_t number;
    for (unsigned k = 0; k < rows && !l->unsafe; k++) {
        const uint32_t at = *row + k, f = at == UINT32_MAX ? PL_IR_NONE : found_at(l, at, use);
        if (f != PL_IR_NONE)
            l->is_constant &= l->found.at[f].is_constant;
        else if (use & PL_USE_PRED)
            l->unsafe = !pl_ir_pred_available_at(l->x, at, l->preheader);
        else {
            l->unsafe = !pl_ir_available_at(l->x, at, l->preheader);
            l->is_constant &= pl_ir_constant_value(l->x, *row, &number);
        }
    }
}

static void check_write(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    licm *l = ctx;
    const bool pred = (use & PL_USE_PRED) != 0;
    for (unsigned k = 0; k < rows && !l->unsafe; k++)
        l->unsafe = !pl_ir_is_value(l->x, *row + k, pred);
    l->nregs += pred ? 0 : rows;
}

static void note_read(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    licm *l = ctx;
    for (unsigned k = 0; k < rows; k++)
        (use & PL_USE_PRED ? l->pred_reads : l->row_reads)[*row + k]++;
}

static void note_write(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    licm *l = ctx;
    for (unsigned k = 0; k < rows; k++)
        (use & PL_USE_PRED ? l->of_pred : l->of_row)[*row + k] = (uint32_t)l->found.n;
}

/* Notes whether another instruction reads it. */
static void check_readers(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    licm *l = ctx;
    const bool pred = (use & PL_USE_PRED) != 0;
    for (unsigned k = 0; k < rows; k++)
        l->unsafe |= (pred ? l->x->preds : l->x->regs)[*row + k].nuses >
                     (pred ? l->pred_reads : l->row_reads)[*row + k];
}

static bool calls(const pl_insn *i)
{
    return pl_insn_calls_out(i) || i->latency_class == C_wgmma_fence ||
           i->latency_class == C_wgmma_wait;
}

/* Loads too, from the first block, if nothing in the loop may write what they read. */
static bool is_hoistable(licm *l, uint32_t b, pl_insn *i)
{
    const bool load = pl_insn_is_hoistable_load(i);
    l->unsafe =
        i->guard != PL_PT || (i->flags & PL_IF_FROM_WMMA) ||
        (load ? b != l->header || l->effects->lanes_exit || pl_clobbers_load(&l->effects->stored, i)
              : !pl_insn_pure(i));
    l->is_constant = !load;
    l->nregs = 0;
    if (!l->unsafe) pl_insn_reads_here(l->x->p, i, check_read, l);
    if (!l->unsafe) pl_insn_writes_here(l->x->p, i, check_write, l);
    return !l->unsafe;
}

/* True if the block waits for it. */
static bool is_global_load(const pl_insn *i)
{
    return pl_insn_effects(i) == PL_EF_LOAD && pl_insn_loads(i, PL_SPACES_GLOBAL);
}

static void check_feeds_load(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    licm *l = ctx;
    for (unsigned k = 0; k < rows; k++)
        l->unsafe |= (use & PL_USE_PRED ? l->pred_needed : l->row_needed)[*row + k] == l->regions.n;
}

static void note_feeds_load(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    licm *l = ctx;
    for (unsigned k = 0; k < rows && *row + k != UINT32_MAX; k++)
        (use & PL_USE_PRED ? l->pred_needed : l->row_needed)[*row + k] = (uint32_t)l->regions.n;
}

static void note_written(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    licm *l = ctx;
    for (unsigned k = 0; k < rows; k++)
        (use & PL_USE_PRED ? l->pred_needed : l->row_needed)[*row + k] = 0;
}

/* Is it needed by a load further on in its region, or one itself? From the last instruction to the
 * first. */
static bool feeds_load(licm *l, pl_insn *i)
{
    l->unsafe = is_global_load(i);
    if (!l->unsafe) pl_insn_writes_here(l->x->p, i, check_feeds_load, l);
    if (!l->unsafe) return false;
    if (i->guard == PL_PT) pl_insn_writes_here(l->x->p, i, note_written, l);
    pl_insn_reads_here(l->x->p, i, note_feeds_load, l);
    return true;
}

/* Finds what may go of the instructions from here to the end of the region, which it returns. */
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
        if (i->form == PL_IR_DEAD || !is_hoistable(l, b, i)) continue;
        *pl_push(x->tmp, &l->found) =
            (invariant_insn){.block = b,
                             .at = k,
                             .region = (uint32_t)l->regions.n - 1,
                             .nregs = (uint8_t)l->nregs,
                             .is_constant = l->is_constant,
                             .is_load = is_global_load(i),
                             .pointer = pl_insn_mnem(i) == M_mad && l->nregs == 2,
                             .after_guard = pl_insn_is_hoistable_load(i)};
        pl_insn_reads_here(x->p, i, note_read, l);
        pl_insn_writes_here(x->p, i, note_write, l);
    }
    size_t f = l->found.n;
    for (uint32_t k = end; s.waits_for_load && f > first && k-- > at && pl_ir_ok(x);) {
        pl_insn *i = &x->blocks.at[b].code.at[k];
        const bool needed = i->form != PL_IR_DEAD && feeds_load(l, i);
        if (l->found.at[f - 1].at == k) l->found.at[--f].feeds_load = needed;
    }
    return end + (end < x->blocks.at[b].code.n);
}

static void push_operand(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    licm *l = ctx;
    for (unsigned k = 0; k < rows; k++) {
        const uint32_t f = *row + k == UINT32_MAX ? PL_IR_NONE : found_at(l, *row + k, use);
        if (f != PL_IR_NONE) *pl_push(l->x->tmp, &l->worklist) = f;
    }
}

/* As ptxas counts instructions by then: sums of three and logic of three are still two. */
static unsigned cost_of(const pl_ir *x, const pl_insn *i)
{
    if (pl_insn_is_copy(i) || pl_insn_is_free_copy(i)) return 0;
    if (pl_insn_mnem(i) == M__iadd3 || pl_insn_mnem(i) == M_lop3) return 2;
    return pl_type_bits(pl_insn_type(i)) == 64 ? 1 : pl_insn_cost(x, i);
}

/* What a value saves in each iteration with all that it needs and that has not been counted, or has
 * gone; *rows: what that takes beside it. They go: that is what happens. */
static unsigned count_savings(licm *l, uint32_t f, bool go, unsigned *rows)
{
    pl_ir *x = l->x;
    unsigned n = 0;
    l->worklist.n = 0;
    for (*pl_push(x->tmp, &l->worklist) = f; l->worklist.n && pl_ir_ok(x);) {
        invariant_insn *s = &l->found.at[l->worklist.at[--l->worklist.n]];
        if (s->hoistable || (!go && s->is_counted)) continue;
        s->is_counted = true;
        s->hoistable = go;
        pl_insn *i = &x->blocks.at[s->block].code.at[s->at];
        n += s->is_load ? l->x->p->tuning->licm.saved_waiting
                        : cost_of(x, i) * (s->feeds_load || !l->regions.at[s->region].waits_for_load
                                               ? l->x->p->tuning->licm.saved_alone
                                               : 1);
        *rows += s->pointer;
        pl_insn_reads_here(x->p, i, push_operand, l);
    }
    return n;
}

static void check_after_guard(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    licm *l = ctx;
    for (unsigned k = 0; k < rows; k++) {
        const uint32_t f = *row + k == UINT32_MAX ? PL_IR_NONE : found_at(l, *row + k, use);
        l->unsafe |= f != PL_IR_NONE && l->found.at[f].after_guard;
    }
}

/* Moves what goes. */
static bool hoist(licm *l)
{
    pl_ir *x = l->x;
    uint32_t preheader = PL_IR_NONE;
    bool any = false;
    for (size_t f = l->first; f < l->found.n && pl_ir_ok(x); f++) {
        invariant_insn *s = &l->found.at[f];
        if (!s->hoistable) continue;
        l->unsafe = s->after_guard;
        pl_insn_reads_here(x->p, &x->blocks.at[s->block].code.at[s->at], check_after_guard, l);
        s->after_guard = l->unsafe;
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

/* The loop with this header; every iteration comes through `last`, its last block. */
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
    unsigned predicates = 0, beside = 0;
    for (size_t f = l->first; f < l->found.n; f++) {
        invariant_insn *s = &l->found.at[f];
        l->unsafe = false;
        pl_insn_writes_here(x->p, &x->blocks.at[s->block].code.at[s->at], check_readers, l);
        s->has_variant_use = l->unsafe && !s->is_constant;
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
                count_savings(l, (uint32_t)k, true, &beside);
        }
    }
    return hoist(l);
}

/* What the loops do that have no others in them and call nothing: by header. */
static const loop_effects *find_innermost_loops(pl_ir *x, bool *some)
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
                to->is_innermost = !calls(&b->code.at[k]);
                to->lanes_exit |= (pl_insn_effects(&b->code.at[k]) & PL_EF_EXIT) != 0;
                pl_clobbers_add_in_loop(&to->stored, &b->code.at[k]);
            }
    }
    for (uint32_t j = 0; j < x->nrpo; j++) *some |= of[x->rpo[j]].is_innermost;
    return of;
}

static bool run_licm(pl_ir *x, bool compares)
{
    bool some = false, any = false;
    if (!pl_ir_analyze(x)) return false;
    const loop_effects *of = find_innermost_loops(x, &some);
    if (!of || !some) {
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
