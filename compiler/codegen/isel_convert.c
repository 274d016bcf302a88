/* isel_convert.c - combines conversions and bit tests into one instruction. */
#include "compiler/codegen/isel_combine.h"

#include <string.h>

/* and, followed by a comparison of the result with zero: LOP3 writes the predicate. */
void pl_isel_test_bits(const combiner *c, pl_insn *i)
{
    uint64_t zero;
    if (i->guard != PL_PT || !(pl_insn_has(i, W_eq) || pl_insn_has(i, W_ne)) ||
        !pl_ir_constant_value(c->x, i->op[3], &zero) || zero ||
        pl_type_bits(pl_insn_type(i)) != 32 || pl_type_kind(pl_insn_type(i)) == 'f')
        return;
    pl_insn *w = pl_isel_absorbable_def(c, i, 2);
    if (w && pl_isel_has_one_use(c, i->op[2]) &&
        (pl_insn_mnem(w) == M_and || pl_insn_mnem(w) == M_lop3) && w->latency_class == C_alu)
        w->latency_class = C_free;
}

/* The operand of a scaling MUFU needs no scaling if it is a result of ex2, sqrt or abs, since it is
 * not negative. */
void pl_isel_drop_mufu_scaling(const combiner *c, pl_insn *i)
{
    if (i->latency_class != C_mufu_scaled) return;
    const pl_insn *w = pl_isel_absorbable_def(c, i, 1);
    if (w && (pl_insn_mnem(w) == M_ex2 || pl_insn_mnem(w) == M_sqrt || pl_insn_mnem(w) == M_abs))
        i->latency_class = C_mufu;
}

/* A conversion to bf16 and back is F2F, which only rounds; otherwise it would be F2FP. */
void pl_isel_fold_round_trip(const combiner *c, pl_insn *i)
{
    if (!pl_insn_has(i, W_bf16) || !pl_insn_has(i, W_f32) || !pl_insn_pure(i)) return;
    pl_insn *w = pl_isel_absorbable_def(c, i, 1);
    if (pl_insn_type(i) == W_f32 && w && pl_isel_has_one_use(c, i->op[1]) &&
        pl_insn_mnem(w) == M_cvt && pl_insn_type(w) == W_bf16 && pl_insn_has(w, W_f32) &&
        w->latency_class == C_cvt_half)
        w->latency_class = C_cvt_rnd;
}

/* True if a bit field consists of whole bytes. */
bool pl_isel_whole_bytes(uint64_t position, uint64_t width)
{
    return position % 8 == 0 && (width == 8 || width == 16) && position + width <= 32;
}

/* The width of the whole-byte part of a word that a mask, a right shift or an extension extracts,
 * signed or unsigned; 0: it is something else. */
static unsigned whole_part(const combiner *c, const pl_insn *w, bool sign)
{
    const pl_form *f = &pl_forms[w->form];
    uint64_t n = 0, width = 0;
    switch ((int)pl_insn_mnem(w)) {
    case M_and: { /* not of a right shift: these two are combined to a bit field before masks are
                     examined */
        const bool shifted = pl_isel_writer_mnem(c, w, 1) == M_shr;
        return !sign && !shifted && pl_ir_constant_value(c->x, w->op[2], &n) ? n == 0xff     ? 8
                                                                               : n == 0xffff ? 16
                                                                                             : 0
                                                                             : 0;
    }
    case M_shr:
        return !sign && pl_type_kind(pl_insn_type(w)) != 's' &&
                       pl_ir_constant_value(c->x, w->op[2], &n)
                   ? n == 24   ? 8
                     : n == 16 ? 16
                               : 0
                   : 0;
    case M_bfe:
        return (pl_type_kind(pl_insn_type(w)) == 's') == sign &&
                       pl_ir_constant_value(c->x, w->op[2], &n) &&
                       pl_ir_constant_value(c->x, w->op[3], &width) && pl_isel_whole_bytes(n, width)
                   ? (unsigned)width
                   : 0;
    case M_cvt: {
        const pl_word from = f->noperands == 2 ? pl_operand_type(f, 1, w->mods) : W_none;
        return w->latency_class == C_cvt_int && (pl_type_kind(from) == 's') == sign &&
                       pl_type_bits(from) < 32
                   ? (unsigned)pl_type_bits(from)
                   : 0;
    }
    default: return 0;
    }
}

/* Conversion of a byte or half of a word to float: I2F extracts it from the word itself; I2FP,
 * which is faster, cannot. */
void pl_isel_convert_part(const combiner *c, pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    if (i->latency_class != C_cvt_i2f || i->guard != PL_PT || f->noperands != 2 ||
        pl_operand_type(f, 0, i->mods) != W_f32 ||
        pl_type_bits(pl_operand_type(f, 1, i->mods)) != 32)
        return;
    pl_insn *w = pl_isel_absorbable_def(c, i, 1);
    if (!w || !pl_isel_has_one_use(c, i->op[1]) || w->latency_class == C_free ||
        pl_type_bits(pl_insn_type(w)) != 32 ||
        !whole_part(c, w, pl_type_kind(pl_operand_type(f, 1, i->mods)) == 's'))
        return;
    w->latency_class = C_free;
    i->latency_class = C_cvt_f2i;
}

/* Conversion of an unsigned 8-bit or 16-bit number that a load, a shift or PRMT zero-extends only
 * for this use: I2FP. */
void pl_isel_convert_widened(const combiner *c, pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    if (i->latency_class != C_cvt_f2i || f->noperands != 2 ||
        pl_operand_type(f, 0, i->mods) != W_f32 || pl_insn_has(i, W_rp) || pl_insn_has(i, W_rm))
        return;
    const pl_word from = pl_operand_type(f, 1, i->mods);
    if (pl_type_kind(from) != 'u' || i->op[1] == UINT32_MAX || c->x->regs[i->op[1]].ndefs != 1 ||
        !pl_isel_has_one_use(c, i->op[1]))
        return;
    const pl_insn *w = pl_ir_writer(c->x, i->op[1]);
    const uint16_t m = w ? pl_insn_mnem(w) : (uint16_t)M_count;
    if ((m == M_ld || m == M_shr || m == M__cut) && pl_type_kind(pl_insn_type(w)) != 's' &&
        pl_type_bits(pl_insn_type(w)) <= pl_type_bits(from))
        i->latency_class = C_cvt_i2f;
}

/* A float clamped to [0, 1] in either order: the instruction that computes it saturates, else FADD
 * does. */
void pl_isel_saturate(const combiner *c, pl_insn *i)
{
    const uint16_t m = pl_insn_mnem(i), other = m == M_min ? M_max : M_min;
    const uint64_t one = 0x3f800000;
    uint64_t n, bound;
    if (i->latency_class != C_fminmax || i->guard != PL_PT || pl_insn_has(i, W_NaN) ||
        pl_forms[i->form].noperands != 3 || !pl_ir_constant_value(c->x, i->op[2], &n))
        return;
    pl_insn *w = pl_isel_absorbable_def(c, i, 1), *from;
    if (!w || pl_insn_mnem(w) != other || w->latency_class != C_fminmax || pl_insn_has(w, W_NaN) ||
        !pl_isel_has_one_use(c, i->op[1]) || pl_forms[w->form].noperands != 3 ||
        pl_insn_has(w, W_ftz) != pl_insn_has(i, W_ftz) ||
        !pl_ir_constant_value(c->x, w->op[2], &bound) ||
        (m == M_min ? n != one || bound : n || bound != one))
        return;
    from = pl_isel_absorbable_def(c, w, 1);
    const uint16_t by = from ? pl_insn_mnem(from) : 0;
    const bool computes = from && pl_isel_has_one_use(c, w->op[1]) &&
                          (by == M_add || by == M_sub || by == M_mul || by == M_fma ||
                           by == M__fms || by == M__fnma) &&
                          pl_insn_type(from) == W_f32 && !pl_insn_has(from, W_sat) &&
                          pl_insn_has(from, W_ftz) == pl_insn_has(i, W_ftz);
    w->latency_class = C_free;
    i->latency_class = computes ? C_free : C_fma;
}

/* A rounding to an integral value followed by an exact conversion to an integer: F2I with the
 * rounding mode of the former. */
void pl_isel_merge_rounding(const combiner *c, pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    if (i->guard != PL_PT || f->noperands != 2 || !pl_insn_has(i, W_rzi) ||
        pl_type_kind(pl_operand_type(f, 0, i->mods)) == 'f')
        return;
    const pl_word type = pl_operand_type(f, 1, i->mods);
    pl_insn *w = type == W_f32 || type == W_f64 ? pl_isel_absorbable_def(c, i, 1) : NULL;
    if (!w || pl_insn_mnem(w) != M_cvt || !pl_isel_has_one_use(c, i->op[1]) ||
        pl_insn_has(w, W_sat) || pl_forms[w->form].noperands != 2)
        return;
    const bool integral = pl_insn_has(w, W_rni) || pl_insn_has(w, W_rzi) || pl_insn_has(w, W_rmi) ||
                          pl_insn_has(w, W_rpi);
    if (integral && pl_operand_type(&pl_forms[w->form], 0, w->mods) == type &&
        pl_operand_type(&pl_forms[w->form], 1, w->mods) == type)
        w->latency_class = C_free;
}
