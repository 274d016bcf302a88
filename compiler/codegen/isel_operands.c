/* isel_operands.c - folds into operands: address offsets, signs, TF32 rounding. */
#include "compiler/codegen/isel_combine.h"

#include <string.h>

/* ---- addresses ---- */

static bool fits_offset(int64_t v)
{
    return v >= -(1 << 23) && v < 1 << 23;
}

/* A constant-bank access with an index: its address is the index times a power of two, of which
 * only 32 bits are needed. */
static void fold_bank_index(const combiner *c, pl_insn *i, unsigned k)
{
    pl_insn *w = pl_isel_absorbable_def(c, i, k);
    uint64_t n;
    if (i->sel[PL_M_SPACE] == PL_SP_CONST && w && pl_isel_has_one_use(c, i->op[k]) &&
        (w->latency_class == C_imad_wide || w->latency_class == C_imad_wide_sum) &&
        pl_ir_constant_value(c->x, w->op[2], &n) && n && !(n & (n - 1)))
        w->latency_class = C_alu;
    if (i->sel[PL_M_SPACE] != PL_SP_CONST || !w || pl_insn_mnem(w) != M_add ||
        !pl_isel_has_one_use(c, i->op[k]) || !pl_insn_is_integer(w, 64))
        return;
    for (unsigned a = 1; a < 3; a++) { /* the variable's address is folded into the access */
        const pl_frame_init *at = c->x->kind.at[w->op[a]] == PL_REG_PRESET
                                      ? &c->x->f->init.at[c->x->init.at[w->op[a]]]
                                      : NULL;
        if (at && at->reloc == PL_RELOC_VAR) w->latency_class = C_free;
    }
}

void pl_isel_fold_address(const combiner *c, pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    pl_ir *x = c->x;
    unsigned k = 0;
    while (k < f->noperands && f->operand[k].kind != PL_K_ADDR) k++;
    if (k >= f->noperands || k >= PL_INLINE_OPERANDS || i->op[k] == UINT32_MAX) return;
    bool narrow = i->sel[PL_M_FLAGS] & PL_MF_ADDR32;
    fold_bank_index(c, i, k);
    for (unsigned depth = 0; depth < 8; depth++) {
        pl_insn *w = pl_isel_absorbable_def(c, i, k);
        uint64_t n;
        if (!w || pl_insn_mnem(w) != M_add || !pl_insn_is_integer(w, narrow ? 32 : 64) ||
            !pl_ir_constant_value(x, w->op[2], &n))
            return;
        int64_t sum = i->imm + (narrow ? (int64_t)(int32_t)(uint32_t)n : (int64_t)n);
        if (!fits_offset(sum)) return;
        i->op[k] = w->op[1];
        i->imm = sum;
    }
}

/* Folds the negation or absolute value of a float into its uses. */
void pl_isel_fold_sign(const combiner *c, pl_insn *i)
{
    pl_word t = pl_insn_type(i);
    if ((t == W_f32 || t == W_f64) && i->guard == PL_PT && c->x->regs[i->op[0]].ndefs == 1 &&
        c->absorbing_uses[i->op[0]] >= c->x->regs[i->op[0]].nuses)
        i->latency_class = C_free;
}

void pl_isel_count_signs(combiner *c, pl_insn *i)
{
    PL_FOR_EACH_READ(c->x->p, i, o)
        if (!(o.use & PL_USE_PRED)) c->absorbing_uses[*o.row]++;
}

/* True for float arithmetic that can fold a sign or absolute value. */
bool pl_isel_can_fold_signs(const pl_insn *i)
{
    pl_word t = pl_insn_type(i);
    return t == W_f32 || t == W_f64;
}

void pl_isel_count_tf32_uses(combiner *c, pl_insn *i)
{
    PL_FOR_EACH_READ(c->x->p, i, o)
        if (!(o.use & PL_USE_PRED)) c->tf32_uses[*o.row]++;
}

/* cvt.rna.tf32: FSETP and, in place, a predicated sum with a constant that is moved to a register
 * once per block, outside of loops. If the original value is also used, it is FSETP, IADD3 and SEL.
 * LOP3 clears the low bits, which a matrix instruction ignores (12 small kernels, ptxas 13.0 for
 * sm_90, 2026-11). */
void pl_isel_round_tf32(combiner *c, pl_insn *i)
{
    const pl_ir *x = c->x;
    if (pl_insn_mnem(i) != M_cvt || !pl_insn_has(i, W_tf32) || !pl_insn_has(i, W_rna) ||
        i->op[1] >= x->f->rows)
        return;
    const bool has_other_use = x->regs[i->op[1]].nuses > 1,
               only_matrix_uses = i->guard == PL_PT && x->regs[i->op[0]].ndefs == 1 &&
                                  c->tf32_uses[i->op[0]] >= x->regs[i->op[0]].nuses;
    const bool first = !has_other_use && x->blocks.at[c->block].loop == PL_IR_NONE &&
                       c->tf32_block != c->block + 1;
    if (first) c->tf32_block = c->block + 1;
    const unsigned n = 2u + has_other_use + first + !only_matrix_uses;
    i->latency_class = n == 2             ? C_alu_x2
                       : n == 4           ? C_minmax64
                       : only_matrix_uses ? C_alu_x3
                                          : C_cvt_tf32;
}
