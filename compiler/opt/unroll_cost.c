/* unroll_cost.c - the cost of a loop body in ptxas's unrolling decision. */
#include "compiler/opt/loop_unroll.h"

#include <string.h>

/* False for instructions that a body must not contain: those that leave it, and those that ptxas
 * does not copy, such as ones implemented by a subroutine. */
bool pl_unroll_copyable(const pl_insn *i)
{
    uint32_t e = pl_insn_effects(i);
    if (i->latency_class == C_cp_async || i->latency_class == C_cp_commit ||
        i->latency_class == C_cp_wait)
        return !(i->flags & PL_IF_NOUNROLL);
    if ((e & (PL_EF_EXIT | PL_EF_CALL | PL_EF_ASYNC | PL_EF_FENCE)) ||
        ((e & PL_EF_BRANCH) && pl_forms[i->form].noperands != 1))
        return false;
    return !pl_classes[i->latency_class].no_copy && i->latency_class != C_sleep &&
           !(i->flags & PL_IF_NOUNROLL);
}

/* True if the address is a kernel parameter itself. */
static bool at_parameter(const pl_ir *x, const pl_insn *i)
{
    const uint32_t row = i->op[(pl_insn_effects(i) & PL_EF_STORE) ? 0 : 1];
    const pl_insn *w = row < x->f->rows && x->regs[row].ndefs == 1 ? pl_ir_writer(x, row) : NULL;
    return w && pl_insn_mnem(w) == M_ld && w->sel[PL_M_SPACE] == PL_SP_PARAM;
}

typedef struct piece_count {
    const pl_ir *x;
    uint32_t n; /* parts with uses */
} piece_count;

/* A mov that splits a 64-bit value costs one instruction for each part with uses, one that builds a
 * vector costs one, any other is free. */
static uint32_t cost_of_mov(const pl_ir *x, pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    piece_count p = {x, 0};
    if (pl_operand_count(f, 1, i->mods)) return 1;
    if (pl_operand_count(f, 0, i->mods) && pl_type_bits(pl_insn_type(i)) == 64)
        PL_FOR_EACH_WRITE(x->p, i, o) p.n += !(o.use & PL_USE_PRED) && p.x->regs[*o.row].nuses > 0;
    return p.n;
}

/* True if the reader folds it as a modifier: the sign of a non-integer number, a negated
 * predicate. */
static bool is_free_modifier(const pl_insn *i)
{
    const uint16_t m = pl_insn_mnem(i);
    const pl_word type = pl_insn_type(i);
    return ((m == M_neg || m == M_abs) &&
            (type == W_f32 || type == W_f64 || type == W_f16 || type == W_bf16)) ||
           (m == M_not && type == W_pred);
}

/* True for a truncation to the lower half of a register, which is free. */
static bool is_free_truncation(const pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    return i->latency_class == C_cvt_int && f->noperands == 2 &&
           pl_type_bits(pl_operand_type(f, 0, i->mods)) == 16 &&
           pl_type_bits(pl_operand_type(f, 1, i->mods)) == 32;
}

/* The number of 16-bit integer operands that must be extended (lower_int16.c). A product needs no
 * extension of bytes from memory. */
static uint32_t count_extensions(const pl_ir *x, const pl_insn *i)
{
    const uint16_t m = pl_insn_mnem(i);
    const bool product = m == M_mul || m == M_mad;
    uint64_t v;
    uint32_t n = 0;
    if (!product && m != M_setp && m != M_shr && m != M_sub) return 0;
    const pl_form *f = &pl_forms[i->form];
    const unsigned first = m == M_sub ? 2 : 1, end = m == M_shr ? 2 : f->noperands;
    for (unsigned k = first; k < end; k++) {
        const pl_word type = pl_operand_type(f, k, i->mods);
        if (pl_type_bits(type) != 16 || pl_type_kind(type) == 'f' ||
            pl_ir_constant_value(x, i->op[k], &v))
            continue;
        const pl_insn *w = x->regs[i->op[k]].ndefs == 1 ? pl_ir_writer(x, i->op[k]) : NULL;
        n += !product || !w || pl_insn_mnem(w) != M_ld || pl_type_bits(pl_insn_type(w)) != 8;
    }
    return n;
}

/* True for the sign of an integer that only a later sum of the block reads. */
bool pl_unroll_is_folded_extension(const pl_ir *x, const pl_ir_block *b, size_t k)
{
    const pl_insn *i = &b->code.at[k];
    const uint16_t m = pl_insn_mnem(i);
    if ((m != M_neg && m != M_abs) || pl_insn_type(i) != W_s32 || x->regs[i->op[0]].nuses != 1)
        return false;
    while (++k < b->code.n) {
        const pl_insn *r = &b->code.at[k];
        const uint16_t by = pl_insn_mnem(r);
        if ((by == M_add || by == M_sub) && pl_insn_is_integer(r, 32) &&
            (r->op[1] == i->op[0] || r->op[2] == i->op[0]))
            return true;
    }
    return false;
}

/* True if it loads 16 bits that become a word. The register is 32 bits wide if later instructions
 * of the block read it as such. */
bool pl_unroll_loads_as_word(const pl_ir_block *b, size_t k)
{
    const pl_insn *i = &b->code.at[k];
    const pl_space space = (pl_space)i->sel[PL_M_SPACE];
    if (!(pl_insn_effects(i) & PL_EF_LOAD) || !(i->flags & PL_IF_MEM) ||
        pl_type_bits(pl_insn_type(i)) != 16 || i->sel[PL_M_COUNT] != 1 ||
        (space != PL_SP_GLOBAL && space != PL_SP_SHARED && space != PL_SP_GENERIC))
        return false;
    while (++k < b->code.n) {
        const pl_insn *r = &b->code.at[k];
        const pl_form *f = &pl_forms[r->form];
        for (unsigned o = 0; r->form != PL_IR_DEAD && o < f->noperands && o < PL_INLINE_OPERANDS;
             o++)
            if (f->operand[o].kind == PL_K_VALUE && !f->operand[o].written && r->op[o] == i->op[0])
                return pl_type_bits(pl_operand_type(f, o, r->mods)) == 32;
    }
    return false;
}

/* The cost that an instruction adds to its body. */
uint32_t pl_unroll_cost_of(const pl_ir *x, counted_loop *c, pl_insn *i)
{
    const uint32_t e = pl_insn_effects(i);
    const pl_space space = (pl_space)i->sel[PL_M_SPACE];
    const pl_word type = pl_insn_type(i);
    uint64_t by;
    const uint32_t has_offset = (i->flags & PL_IF_MEM) && (i->imm != 0 || at_parameter(x, i));
    c->convergent |= (e & (PL_EF_ATOMIC | PL_EF_BARRIER | PL_EF_CONVERGE)) != 0;
    c->has_barrier |= i->latency_class == C_barrier;
    if (i->latency_class == C_mov) return cost_of_mov(x, i);
    if (i->latency_class == C_free || is_free_modifier(i) || is_free_truncation(i)) return 0;
    if (e & PL_EF_ATOMIC) {
        const bool one =
            pl_insn_has(i, W_cas) || pl_insn_has(i, W_exch) ||
            (space != PL_SP_SHARED && (pl_type_kind(type) == 'f' || pl_type_bits(type) != 32 ||
                                       pl_insn_has(i, W_inc) || pl_insn_has(i, W_dec)));
        return has_offset + (one ? 1 : x->p->tuning->loop_unroll.cost_atomic);
    }
    if (e & (PL_EF_STORE | PL_EF_LOAD)) {
        const bool is_shared = space == PL_SP_SHARED,
                   bank = space == PL_SP_PARAM || space == PL_SP_CONST;
        c->shared_loads += is_shared && (e & PL_EF_LOAD);
        c->has_global_loads |= !is_shared && !bank && (e & PL_EF_LOAD);
        const uint32_t bytes =
            (e & PL_EF_LOAD) && !bank && pl_type_bits(type) == 8 ? i->sel[PL_M_COUNT] : 0;
        const uint32_t narrow = bytes > 1 ? 2 * bytes : bytes; /* copies of its parts */
        return space == PL_SP_LOCAL ? x->p->tuning->loop_unroll.cost_local
               : bank               ? 1
                                    : 1 + has_offset + narrow;
    }
    if (pl_classes[i->latency_class].unroll_cost) return pl_classes[i->latency_class].unroll_cost;
    if (pl_insn_mnem(i) == M_mad && pl_insn_has(i, W_wide))
        return x->p->tuning->loop_unroll.cost_mad_wide;
    if ((pl_insn_mnem(i) == M_shl || pl_insn_mnem(i) == M_shr) && pl_type_bits(type) == 64 &&
        !pl_ir_constant_value(x, i->op[2], &by))
        return x->p->tuning->loop_unroll.cost_shift64;
    const bool packed = (i->latency_class == C_half || i->latency_class == C_half_minmax ||
                         pl_insn_mnem(i) == M_cvt) &&
                        pl_insn_mnem(i) != M_neg && pl_insn_mnem(i) != M_abs;
    return packed && (type == W_f16x2 || type == W_bf16x2) ? x->p->tuning->loop_unroll.cost_packed
                                                           : 1 + count_extensions(x, i);
}

/* The maximum cost of a body that is unrolled with an unknown trip count. */
uint32_t pl_unroll_max_cost(const pl_ir *x, const counted_loop *c)
{
    const uint32_t b = x->p->tuning->loop_unroll.max_cost +
                       x->p->tuning->loop_unroll.max_cost_per_shared_load * c->shared_loads;
    return c->has_global_loads && b < x->p->tuning->loop_unroll.max_cost_loading
               ? x->p->tuning->loop_unroll.max_cost_loading
           : b < x->p->tuning->loop_unroll.max_cost_total
               ? b
               : x->p->tuning->loop_unroll.max_cost_total;
}
