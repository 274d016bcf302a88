/* aggregate_atomics.c - warp aggregation of atomic operations: one lane performs those on a uniform
 * address for its warp. */
#include "compiler/codegen/reconvergence.h"
#include "isa/program/operand_plan.h"

#include <string.h>

/* Inserts an instruction without operands before position `at` of the block. */
bool pl_reconv_insert(pl_ir *x, uint32_t b, size_t at, uint16_t mnem, uint32_t line)
{
    pl_insn *i = pl_ir_insert(x, b, at);
    if (!i || !pl_insn_make(i, mnem, 0, NULL, 0)) return false;
    i->line = line;
    return true;
}

/* The constant in a row, possibly copied to a register. */
static bool constant_value(const pl_ir *x, uint32_t row, uint64_t *number)
{
    const pl_insn *def = pl_ir_writer(x, row);
    if (def && x->regs[row].ndefs == 1 && def->guard == PL_PT &&
        (pl_insn_mnem(def) == M__mov || pl_insn_is_copy(def)))
        row = def->op[1];
    return pl_ir_constant_value(x, row, number);
}

/* True if at most one lane of a warp satisfies the predicate (`when_true`), or its complement.
 * ptxas recognises comparisons of %tid.x or %laneid with a constant, and elect.sync. */
static bool selects_lane(const pl_ir *x, uint32_t pred, bool when_true)
{
    const pl_ir_reg *p = pred > PL_PF ? &x->preds[pred] : NULL;
    const pl_insn *test =
        p && p->ndefs == 1 ? &x->blocks.at[p->def_block].code.at[p->def_index] : NULL;
    if (test && pl_insn_mnem(test) == M_elect) return when_true;
    if (!test || pl_insn_mnem(test) != M_setp || pl_forms[test->form].noperands != 4 ||
        test->op[1] != UINT32_MAX || !pl_insn_has(test, when_true ? W_eq : W_ne))
        return false;
    for (unsigned side = 2; side < 4; side++) {
        uint32_t row = test->op[side];
        const pl_insn *fetch = pl_ir_writer(x, row);
        uint64_t number;
        if (fetch && pl_insn_mnem(fetch) == M__s2r) row = fetch->op[1];
        const pl_frame_init *from =
            x->regs[row].kind == PL_REG_PRESET ? &x->f->init.at[x->regs[row].init] : NULL;
        if (from && ((from->sreg == W_tid && from->sel == 0) || from->sreg == W_laneid) &&
            constant_value(x, test->op[5 - side], &number))
            return true;
    }
    return false;
}

/* True if only one lane of a warp can reach instruction `at` of the block: because of its guard,
 * because other lanes exit before it, or because of the branches that lead only there. */
static bool is_single_lane(const pl_ir *x, uint32_t b, size_t at)
{
    const pl_insn *i = &x->blocks.at[b].code.at[at];
    if (selects_lane(x, i->guard, !(i->flags & PL_IF_GUARD_NEG))) return true;
    for (;;) {
        while (at-- > 0) {
            i = &x->blocks.at[b].code.at[at];
            if (pl_insn_mnem(i) == M_ret &&
                selects_lane(x, i->guard, (i->flags & PL_IF_GUARD_NEG) != 0))
                return true;
        }
        uint32_t from = x->blocks.at[b].idom;
        if (from == b || from == PL_IR_NONE) return false;
        const pl_insn *branch = pl_ir_branch(x, from);
        bool alone =
            x->blocks.at[b].npreds == 1 && x->predecessors[x->blocks.at[b].first_pred] == from;
        if (alone && branch && !pl_insn_is_table(branch) &&
            branch->target != x->blocks.at[from].fallthrough &&
            selects_lane(x, branch->guard,
                         !(branch->flags & PL_IF_GUARD_NEG) == (branch->target == b)))
            return true;
        b = from;
        at = x->blocks.at[b].code.n;
    }
}

typedef enum aggregation { NOT_AGGREGATED, COUNTED, SUMMED, RANKED } aggregation;

/* Classifies integer atomic operations on a uniform address, which one lane performs for its warp.
 * If the result is unused, it adds the combined value of REDUX. If the result is used and all lanes
 * add the same number, each gets the value found by the one lane, plus the number for each lane
 * before it. For 64 bits only additions of a constant in global memory qualify. */
static aggregation aggregation_of(const pl_ir *x, const pl_divergence *v, uint32_t b, size_t at)
{
    const pl_insn *i = &x->blocks.at[b].code.at[at];
    pl_word t = pl_insn_type(i);
    bool atom = pl_insn_mnem(i) == M_atom, shared = i->sel[PL_M_SPACE] == PL_SP_SHARED;
    unsigned address = atom ? 1 : 0;
    const bool global = i->sel[PL_M_SPACE] == PL_SP_GLOBAL, wide = pl_type_bits(t) == 64;
    uint64_t number;
    if ((!atom && pl_insn_mnem(i) != M_red) ||
        (!global && !shared && i->sel[PL_M_SPACE] != PL_SP_GENERIC) ||
        i->op[address] == UINT32_MAX || v->row[i->op[address]] || pl_type_bits(t) < 32 ||
        pl_type_kind(t) == 'f' || pl_forms[i->form].operand[address].kind != PL_K_ADDR ||
        i->sel[PL_M_COUNT] > 1 || is_single_lane(x, b, at) ||
        (wide &&
         !(global && pl_insn_has(i, W_add) && constant_value(x, i->op[address + 1], &number))))
        return NOT_AGGREGATED;
    bool is_uniform = !v->row[i->op[address + 1]];
    if (atom && x->regs[i->op[0]].nuses)
        return pl_insn_has(i, W_add) && is_uniform ? RANKED : NOT_AGGREGATED;
    /* times the number of lanes; there is ATOMS.POPC.INC */
    if (pl_insn_has(i, W_add) && constant_value(x, i->op[address + 1], &number))
        return shared && number == 1 ? NOT_AGGREGATED : COUNTED;
    return pl_insn_is_warp_aggregable(i) ? SUMMED : NOT_AGGREGATED;
}

static bool accesses_row(pl_ir *x, pl_insn *i, uint32_t row)
{
    bool hit = false;
    PL_FOR_EACH_USE(x->p, i, o) hit |= !(o.use & PL_USE_PRED) && row - *o.row < o.rows;
    return hit;
}

/* Inserts the computation of each lane's rank after atomic operation `at`, before its first use. */
static bool insert_rank(pl_ir *x, uint32_t b, size_t at)
{
    pl_ir_block *k = &x->blocks.at[b];
    const bool wide = pl_type_bits(pl_insn_type(&k->code.at[at])) == 64;
    const uint32_t d = k->code.at[at].op[0], line = k->code.at[at].line,
                   old_value = pl_ir_new(x, wide ? 2 : 1);
    const pl_word type = wide ? W_b64 : W_b32;
    size_t to = at + 1;
    while (to < k->code.n && !pl_insn_is_jump(&k->code.at[to]) &&
           !accesses_row(x, &k->code.at[to], d))
        to++;
    k->code.at[at].op[0] = old_value;
    pl_insn *i = pl_ir_insert_deferred(x, b, to);
    if (!i || !pl_insn_make(i, M__rank, 2, &type, 1)) return false;
    i->op[0] = d;
    i->op[1] = old_value;
    i->line = line;
    i->guard = k->code.at[at].guard;
    i->flags |= (uint16_t)(k->code.at[at].flags & PL_IF_GUARD_NEG);
    return true;
}

/* Multiplies the common addend by the number of lanes: POPC computes that in place of a move of
 * one, and a rank provides it anyway; for another addend it is two instructions. Later operations
 * of a block reuse the POPC. */
static void count_addend(pl_ir *x, pl_insn *i, aggregation how)
{
    const unsigned value = pl_insn_mnem(i) == M_atom ? 2 : 1;
    pl_insn *def = pl_ir_writer(x, i->op[value]);
    uint64_t n;
    if (!def || pl_insn_mnem(def) != M__mov || pl_type_bits(pl_insn_type(def)) != 32 ||
        !pl_ir_constant_value(x, def->op[1], &n))
        return;
    if (how == COUNTED && n != 1)
        def->latency_class = C_alu_x2;
    else if (how == RANKED && n == 1 && x->regs[i->op[value]].nuses == 1)
        def->latency_class = C_free;
}

static bool is_atomic(const pl_insn *i)
{
    return (pl_insn_effects(i) & PL_EF_ATOMIC) != 0;
}

bool pl_reconv_aggregate_atomics(pl_ir *x, const pl_divergence *v)
{
    if (!pl_ir_any(x, is_atomic)) return true;
    x->uses_valid = false; /* positions have changed, and writes are queried */
    if (!pl_ir_count(x)) return false;
    for (uint32_t b = 0; b < x->blocks.n; b++) {
        bool leader = false;
        uint32_t counted = UINT32_MAX; /* the 64-bit addend that has been multiplied */
        for (size_t k = 0; x->blocks.at[b].rpo_index != PL_IR_NONE && k < x->blocks.at[b].code.n;
             k++) {
            pl_insn red = x->blocks.at[b].code.at[k];
            aggregation how = aggregation_of(x, v, b, k);
            if (how == NOT_AGGREGATED) continue;
            const bool wide = pl_type_bits(pl_insn_type(&red)) == 64;
            const uint32_t value = red.op[pl_insn_mnem(&red) == M_atom ? 2 : 1];
            for (int part = leader ? 1 : 0;
                 part < (how == SUMMED || (wide && value != counted) ? 2 : 1); part++) {
                pl_insn *i = pl_ir_insert_deferred(x, b, k);
                if (!i || !pl_insn_make(i,
                                        !part  ? M__leader
                                        : wide ? M__count
                                               : M__gather,
                                        0, NULL, 0))
                    return false;
                i->line = red.line;
                i->guard = red.guard;
                i->flags |= (uint16_t)(red.flags & PL_IF_GUARD_NEG);
            }
            if (how == RANKED && !insert_rank(x, b, k)) return false;
            if (!leader) count_addend(x, &x->blocks.at[b].code.at[k], how);
            leader = true;
            counted = wide ? value : counted;
        }
    }
    return pl_ir_flush_inserts(x);
}

/* ptxas 13.0 inserts three loads that no lane executes before the first copy to shared memory of a
 * block, and again after each barrier. */
bool pl_reconv_precede_copies(pl_ir *x)
{
    for (uint32_t b = 0; b < x->blocks.n; b++) {
        bool preceded = false;
        for (size_t k = 0; k < x->blocks.at[b].code.n; k++) {
            const pl_insn copy = x->blocks.at[b].code.at[k];
            preceded &= !(pl_insn_effects(&copy) & PL_EF_BARRIER);
            if (copy.latency_class != C_cp_async || preceded) continue;
            pl_insn *i = pl_ir_insert_deferred(x, b, k);
            if (!i || !pl_insn_make(i, M__quiet, 0, NULL, 0)) return false;
            i->line = copy.line;
            preceded = true;
        }
    }
    return pl_ir_flush_inserts(x);
}
