/* licm_loads.c - loop-invariant code motion (LICM) of loads: those that bring the same in every
 * iteration go to the preheader.
 *
 * Compilers before ptxas do that too, but not past what they cannot look into: an exchange
 * between lanes, assembly. ptxas 13.0 does it (27 loops made for it and 1 to 200 loads each,
 * 2026-11) whatever the number of loads and of registers, also past the test whether there is a
 * first iteration, and out of several loops one after the other, where
 * - the load is in the first block of the loop, before its first condition, and not guarded
 *   itself;
 * - the loop does not change its address;
 * - nothing in the loop may write what it reads, neither a store to its state space, nor another
 *   thread that a barrier, fence or atomic
 *   operation waits for; .nc loads read what nobody writes;
 * - there are no calls in the loop, of subroutines neither;
 * - it reads from far away; shared memory is as near as the registers are in a loop of more than
 *   licm.shared_load_insns instructions, moves not counted, and of
 *   more than licm.shared_load_insns_waiting where the loop waits for memory anyway (of 96 loops
 * with 2 to 128 such loads these are the limits for all but two). */
#include "compiler/passes.h"
#include "compiler/tuning.h"
#include "isa/program/operand_plan.h"
#include "compiler/analysis/memory_clobbers.h"

/* What a loop does. */
typedef struct loop_effects {
    pl_memory_clobbers stored;
    unsigned ninsns;       /* instructions */
    bool waits_for_memory; /* for memory, whatever is lifted */
} loop_effects;

/* By block: another one of the same innermost loop; by header of a loop: a block of it, a loop in
 * it, and another loop in the one around it. */
typedef struct loop_tree {
    uint32_t next, block, first_inner, sibling;
} loop_tree;

typedef struct licm_loads {
    pl_ir *x;
    const loop_tree *loops;
    uint32_t header;
    bool unsafe; /* the answer of the questions below */
} licm_loads;

/* Would somebody mind if it were written in the preheader of the loop? */
static void check_write(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    licm_loads *l = ctx;
    for (unsigned k = 0; k < rows && !l->unsafe; k++)
        l->unsafe = !pl_ir_is_value(l->x, *row + k, (use & PL_USE_PRED) != 0);
}

static void check_read(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    licm_loads *l = ctx;
    const uint32_t preheader = l->x->blocks.at[l->header].idom;
    for (unsigned k = 0; k < rows && !l->unsafe; k++)
        l->unsafe = !(use & PL_USE_PRED ? pl_ir_pred_available_at(l->x, *row + k, preheader)
                                        : pl_ir_available_at(l->x, *row + k, preheader));
}

static bool is_invariant(licm_loads *l, pl_insn *i)
{
    l->unsafe = i->guard != PL_PT || !pl_insn_is_hoistable_load(i);
    if (!l->unsafe) pl_insn_reads_here(l->x->p, i, check_read, l);
    return !l->unsafe;
}

static bool is_hoistable(licm_loads *l, const loop_effects *b, pl_insn *i)
{
    if (i->form == PL_IR_DEAD || !is_invariant(l, i) || pl_clobbers_load(&b->stored, i))
        return false;
    if (i->sel[PL_M_SPACE] == PL_SP_SHARED &&
        b->ninsns > (b->waits_for_memory ? l->x->p->tuning->licm.shared_load_insns_waiting
                                         : l->x->p->tuning->licm.shared_load_insns))
        return false;
    pl_insn_writes_here(l->x->p, i, check_write, l);
    return !l->unsafe;
}

bool pl_insn_calls_out(const pl_insn *i)
{
    return (pl_insn_effects(i) & PL_EF_CALL) || pl_insn_mnem(i) == M__slow ||
           pl_insn_has_slow_path(i);
}

/* Adds what a block does. False: it calls functions, or lanes end in it. */
static bool add_block_effects(licm_loads *l, loop_effects *to, pl_ir_block *b)
{
    for (size_t k = 0; k < b->code.n; k++) {
        pl_insn *i = &b->code.at[k];
        if (i->form == PL_IR_DEAD) continue;
        if (pl_insn_calls_out(i) || (pl_insn_effects(i) & PL_EF_EXIT)) return false;
        pl_clobbers_add_in_loop(&to->stored, i);
        to->ninsns += !pl_insn_is_copy(i) && !pl_insn_is_free_copy(i);
        to->waits_for_memory |= pl_insn_effects(i) == PL_EF_LOAD &&
                                i->sel[PL_M_SPACE] != PL_SP_SHARED && !is_invariant(l, i);
    }
    return true;
}

/* The same of a loop and those in it. */
static bool add_loop_effects(licm_loads *l, loop_effects *to)
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

/* Which blocks and loops the loops have; NULL: no memory. */
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

static bool hoist_from_loop(pl_ir *x, const loop_tree *of, uint32_t header)
{
    loop_effects b;
    licm_loads l = {.x = x, .loops = of, .header = header};
    uint32_t preheader = PL_IR_NONE;
    bool some = false;
    for (size_t k = 0; k < x->blocks.at[header].code.n && !some; k++)
        some = x->blocks.at[header].code.at[k].form != PL_IR_DEAD &&
               is_invariant(&l, &x->blocks.at[header].code.at[k]);
    if (!some || x->blocks.at[header].idom == header || !add_loop_effects(&l, &b)) return false;
    for (size_t k = 0; k < x->blocks.at[header].code.n; k++) {
        if (!is_hoistable(&l, &b, &x->blocks.at[header].code.at[k])) continue;
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

/* Lifts loads out of one loop each, the inner ones first: of loops in each other only one at a
 * time. False: there is nothing more to lift, or no memory. */
static bool hoist_one_level(pl_ir *x)
{
    bool any = false;
    if (!pl_ir_analyze(x)) return false;
    bool *around = pl_arena_array(
        x->tmp, bool,
        x->blocks.n + 1); /* by header of a loop: something has been lifted out of one in it */
    const loop_tree *of = build_loop_tree(x);
    if (!around || !of) return false;
    for (uint32_t j = x->nrpo; j-- > 0 && pl_ir_ok(x);) {
        const uint32_t header = x->rpo[j];
        if (!x->blocks.at[header].nlatches || around[header] || !hoist_from_loop(x, of, header))
            continue;
        any = true;
        for (uint32_t outer = x->blocks.at[header].parent_loop; outer != PL_IR_NONE;
             outer = x->blocks.at[outer].parent_loop)
            around[outer] = true;
    }
    return pl_ir_finish_inserts(x, any) && any;
}

bool pl_pass_licm_loads(pl_ir *x)
{
    if (!pl_ir_any(x, pl_insn_is_hoistable_load)) return true;
    while (hoist_one_level(x)) {
    }
    return pl_ir_ok(x);
}
