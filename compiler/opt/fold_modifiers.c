/* fold_modifiers.c - peephole: folds negation, saturation and half selection into modifiers of the
 * instruction that reads or writes the value.
 *
 * This follows machine code of ptxas 13.0 for sm_90 (2026-11). Operands of floating-point
 * instructions take a sign or an absolute value, results a saturation. Two conversions to half
 * precision whose results are packed are one F2FP. A shared-memory address may be a register plus a
 * uniform register, which holds the base of the block's shared memory. The zeros of an accumulator
 * are written in pairs (CS2R). Packing halves of different words costs a PRMT. The folded
 * instructions remain, since their results may have other uses, but with class `free`. */
#include <string.h>

#include "compiler/passes.h"
#include "isa/program/operand_plan.h"

typedef struct modifier_folding {
    pl_ir *x;
    uint8_t *unmodifiable_uses;   /* by row: some use cannot take a modifier */
    uint8_t *shared_address_uses; /* by row: uses as a shared-memory address, up to 255 */
    uint32_t *pair_base;          /* by row: the even register of its accumulator pair, plus one */
    uint32_t *zeroed;             /* by row: block that writes zero to it, plus one */
    const pl_insn *i;             /* the instruction being visited */
} modifier_folding;

/* True if operands can take a sign or absolute value: arithmetic, comparisons and conversions of
 * floating-point values. */
static bool can_fold_sign(const pl_insn *i)
{
    static const uint16_t mnems[] = {M_add,   M_sub, M_mul,  M_fma, M_mad, M__fms, M__fnma,
                                     M_min,   M_max, M_setp, M_set, M_cvt, M_rcp,  M_sqrt,
                                     M_rsqrt, M_ex2, M_lg2,  M_sin, M_cos};
    if (pl_type_kind(pl_insn_type(i)) != 'f' && pl_insn_mnem(i) != M_cvt) return false;
    for (size_t k = 0; k < sizeof mnems / sizeof *mnems; k++)
        if (pl_insn_mnem(i) == mnems[k]) return true;
    return false;
}

/* The row that a 32-bit shared-memory access uses as its address, PL_IR_NONE: none. */
static uint32_t shared_address(const pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    if (!(i->flags & PL_IF_MEM) || i->sel[PL_M_SPACE] != PL_SP_SHARED ||
        !(i->sel[PL_M_FLAGS] & PL_MF_ADDR32))
        return PL_IR_NONE;
    for (unsigned k = 0; k < f->noperands && k < PL_INLINE_OPERANDS; k++)
        if (f->operand[k].kind == PL_K_ADDR) return i->op[k];
    return PL_IR_NONE;
}

/* Accumulators: pairs each odd register of a matrix operand that is read and written with the even
 * one before it. */
static void note_accumulator(modifier_folding *f, const pl_insn *i)
{
    const pl_form *form = &pl_forms[i->form];
    uint16_t m = pl_insn_mnem(i);
    if (m != M_mma && m != M_wmma && m != M_wgmma) return;
    for (unsigned k = 0; k < form->noperands && k < PL_INLINE_OPERANDS; k++) {
        int n = form->operand[k].kind == PL_K_VALUE ? pl_operand_count(form, k, i->mods) : 0;
        if (pl_type_bits(pl_operand_type(form, k, i->mods)) != 32) continue;
        for (int e = 1; e < n; e += 2) {
            const uint32_t *row = &f->x->p->pool.at[i->extra_ops + i->op[k] + (uint32_t)e];
            f->pair_base[row[0]] = row[-1] + 1;
        }
    }
}

static bool is_zero(const pl_ir *x, uint32_t row, unsigned depth)
{
    uint64_t v;
    const pl_insn *w = depth < 4 ? pl_ir_writer(x, row) : NULL;
    return (pl_ir_constant_value(x, row, &v) && !v) ||
           (w && x->regs[row].ndefs == 1 && pl_insn_mnem(w) == M__mov &&
            is_zero(x, w->op[1], depth + 1));
}

static bool moves_zero(const pl_ir *x, const pl_insn *i)
{
    return pl_insn_mnem(i) == M__mov && i->guard == PL_PT && pl_insn_has(i, W_b32) &&
           is_zero(x, i->op[1], 0);
}

/* CS2R writes a 64-bit zero; other 64-bit constants take two moves (ptxas 13.0 for sm_90,
 * 2026-11). */
static bool moves_wide_zero(const pl_ir *x, const pl_insn *i)
{
    return pl_insn_mnem(i) == M__mov && pl_insn_has(i, W_b64) && is_zero(x, i->op[1], 0);
}

/* The sum of the shared-memory base and a register, used as an address only. */
static bool is_base_sum(const modifier_folding *f, const pl_insn *i)
{
    const pl_ir *x = f->x;
    if (pl_insn_mnem(i) != M_add || i->guard != PL_PT || pl_type_bits(pl_insn_type(i)) != 32 ||
        pl_insn_has(i, W_cc) || x->regs[i->op[0]].ndefs != 1 || !f->shared_address_uses[i->op[0]] ||
        f->shared_address_uses[i->op[0]] != x->regs[i->op[0]].nuses)
        return false;
    for (unsigned k = 1; k < 3; k++) {
        const pl_frame_init *r =
            x->kind.at[i->op[k]] == PL_REG_PRESET ? &x->f->init.at[x->init.at[i->op[k]]] : NULL;
        if (r && r->reloc == PL_RELOC_SHARED && !r->bits) return true;
    }
    return false;
}

/* A sign or absolute value that all uses can fold. */
static bool is_foldable_sign(const modifier_folding *f, const pl_insn *i)
{
    uint16_t m = pl_insn_mnem(i);
    return (m == M_neg || m == M_abs) && i->guard == PL_PT &&
           pl_type_kind(pl_insn_type(i)) == 'f' && f->x->regs[i->op[0]].ndefs == 1 &&
           f->x->regs[i->op[0]].nuses && !f->unmodifiable_uses[i->op[0]];
}

/* A saturation of the result of an addition or multiplication that has no other use. */
static bool is_foldable_saturation(const pl_ir *x, const pl_insn *i)
{
    if (pl_insn_mnem(i) != M_cvt || !pl_insn_has(i, W_sat) || i->guard != PL_PT ||
        pl_operand_type(&pl_forms[i->form], 0, i->mods) != W_f32 ||
        pl_operand_type(&pl_forms[i->form], 1, i->mods) != W_f32)
        return false;
    const pl_insn *w = x->regs[i->op[1]].ndefs == 1 && x->regs[i->op[1]].nuses == 1
                           ? pl_ir_writer(x, i->op[1])
                           : NULL;
    uint16_t m = w ? pl_insn_mnem(w) : UINT16_MAX;
    return w &&
           (m == M_add || m == M_sub || m == M_mul || m == M_fma || m == M__fms || m == M__fnma) &&
           w->guard == PL_PT;
}

static bool is_cvt_to_half(const pl_insn *i)
{
    return i && pl_insn_mnem(i) == M_cvt && i->guard == PL_PT && pl_forms[i->form].noperands == 2 &&
           pl_insn_has(i, W_rn) && pl_operand_type(&pl_forms[i->form], 1, i->mods) == W_f32 &&
           (pl_operand_type(&pl_forms[i->form], 0, i->mods) == W_f16 ||
            pl_operand_type(&pl_forms[i->form], 0, i->mods) == W_bf16);
}

/* Half of a word: the register of the word, and which half; half 2: it was not extracted from a
 * word. */
typedef struct half_select {
    uint32_t reg;
    unsigned half;
} half_select;

static half_select half_source(const pl_ir *x, uint32_t row)
{
    const pl_insn *w = x->regs[row].ndefs == 1 ? pl_ir_writer(x, row) : NULL;
    const pl_form *f = w ? &pl_forms[w->form] : NULL;
    if (!w || pl_insn_mnem(w) != M_mov || w->guard != PL_PT || f->noperands != 2 ||
        pl_operand_count(f, 0, w->mods) != 2 || pl_operand_count(f, 1, w->mods) ||
        pl_type_bits(pl_operand_type(f, 0, w->mods)) != 16)
        return (half_select){row, 2};
    return (half_select){w->op[1], x->p->pool.at[w->extra_ops + w->op[0]] == row ? 0 : 1};
}

/* True for half-precision arithmetic on one half. The units operate on both halves, so either half
 * of the result may be read. */
static bool has_equal_halves(const pl_ir *x, uint32_t row)
{
    static const uint16_t any[] = {M_add, M_sub, M_mul, M_fma, M_min, M_max, M__fms, M__fnma};
    const pl_insn *w = x->regs[row].ndefs == 1 ? pl_ir_writer(x, row) : NULL;
    for (size_t k = 0; w && k < sizeof any / sizeof *any; k++)
        if (pl_insn_mnem(w) == any[k])
            return pl_type_bits(pl_insn_type(w)) == 16 && pl_type_kind(pl_insn_type(w)) != 'u' &&
                   pl_type_kind(pl_insn_type(w)) != 's';
    return false;
}

/* Two 8-bit numbers from a conversion, which writes either half of a register and preserves the
 * other one. */
static bool is_cvt_to_byte_pair(const pl_ir *x, uint32_t row)
{
    const pl_insn *w =
        x->regs[row].ndefs == 1 && x->regs[row].nuses == 1 ? pl_ir_writer(x, row) : NULL;
    return w && pl_insn_mnem(w) == M_cvt && w->guard == PL_PT &&
           pl_operand_type(&pl_forms[w->form], 0, w->mods) == W_b16;
}

/* The cost of packing two halves into a word (120 pairs, ptxas 13.0 for sm_90, 2026-11): a PRMT,
 * and another instruction to move a constant. It is free if they are the halves of one word,
 * or if both were computed by arithmetic. It is also free if they are the same half twice, and the
 * reader is arithmetic, whose operands select halves, or the half was computed by arithmetic. */
static uint16_t class_of_packing(const modifier_folding *f, const pl_insn *i, uint32_t low,
                                 uint32_t high)
{
    const pl_ir *x = f->x;
    uint64_t v[2] = {0, 0};
    const bool number[2] = {pl_ir_constant_value(x, low, &v[0]),
                            pl_ir_constant_value(x, high, &v[1])};
    if (number[0] || number[1])
        return number[0] && number[1] ? C_free
               : number[0]            ? v[0] ? C_alu_x2 : C_alu
               : v[1]                 ? C_alu_x2
                                      : C_alu;
    if (is_cvt_to_byte_pair(x, low) && is_cvt_to_byte_pair(x, high)) return C_free;
    const half_select a = half_source(x, low), b = half_source(x, high);
    if (a.reg == b.reg &&
        (a.half < b.half ||
         (a.half == b.half && (!f->unmodifiable_uses[i->op[0]] || has_equal_halves(x, low)))))
        return C_free;
    return has_equal_halves(x, low) && has_equal_halves(x, high) ? C_free : C_alu;
}

/* Packs two halves into a word: their conversions become one instruction, or none for constants. */
static void fold_pack(modifier_folding *f, pl_insn *i)
{
    pl_ir *x = f->x;
    const pl_form *form = &pl_forms[i->form];
    if (pl_insn_mnem(i) != M_mov || form->noperands != 2 || i->guard != PL_PT ||
        pl_operand_count(form, 1, i->mods) != 2 || pl_operand_count(form, 0, i->mods) ||
        pl_type_bits(pl_operand_type(form, 1, i->mods)) != 16)
        return;
    uint32_t low = x->p->pool.at[i->extra_ops + i->op[1]],
             high = x->p->pool.at[i->extra_ops + i->op[1] + 1];
    pl_insn *a = x->regs[low].ndefs == 1 ? pl_ir_writer(x, low) : NULL,
            *b = x->regs[high].ndefs == 1 ? pl_ir_writer(x, high) : NULL;
    uint64_t v;
    const bool numbers[2] = {is_cvt_to_half(a) && pl_ir_constant_value(x, a->op[1], &v),
                             is_cvt_to_half(b) && pl_ir_constant_value(x, b->op[1], &v)};
    if (numbers[0]) a->latency_class = C_free;
    if (numbers[1]) b->latency_class = C_free;
    if (is_cvt_to_half(a) && is_cvt_to_half(b) && a != b && !numbers[0] && !numbers[1] &&
        x->regs[low].nuses == 1 && x->regs[high].nuses == 1)
        a->latency_class = C_free;
    else if (!numbers[0] || !numbers[1])
        i->latency_class = class_of_packing(f, i, low, high);
}

/* A conversion of a constant integer to floating point. */
static bool converts_constant(const pl_ir *x, const pl_insn *i)
{
    uint64_t v;
    return pl_insn_mnem(i) == M_cvt && i->guard == PL_PT && pl_forms[i->form].noperands == 2 &&
           pl_ir_constant_value(x, i->op[1], &v) &&
           pl_type_kind(pl_operand_type(&pl_forms[i->form], 0, i->mods)) == 'f' &&
           pl_type_kind(pl_operand_type(&pl_forms[i->form], 1, i->mods)) != 'f';
}

bool pl_pass_fold_modifiers(pl_ir *x)
{
    if (!pl_ir_analyze(x)) return false;
    size_t rows = x->f->rows + 4;
    modifier_folding f = {.x = x,
                          .unmodifiable_uses = pl_arena_array(x->tmp, uint8_t, rows),
                          .shared_address_uses = pl_arena_array(x->tmp, uint8_t, rows),
                          .pair_base = pl_arena_array(x->tmp, uint32_t, rows),
                          .zeroed = pl_arena_array(x->tmp, uint32_t, rows)};
    if (!f.unmodifiable_uses || !f.shared_address_uses || !f.pair_base || !f.zeroed) return false;
    for (size_t b = 0; b < x->blocks.n; b++)
        for (size_t k = 0; k < x->blocks.at[b].code.n; k++) {
            pl_insn *i = &x->blocks.at[b].code.at[k];
            uint32_t address = shared_address(i);
            f.i = i;
            PL_FOR_EACH_READ(x->p, i, o)
                if (!(o.use & PL_USE_PRED) && !can_fold_sign(f.i)) f.unmodifiable_uses[*o.row] = 1;
            if (address != PL_IR_NONE && f.shared_address_uses[address] < UINT8_MAX)
                f.shared_address_uses[address]++;
            note_accumulator(&f, i);
            if (moves_zero(x, i)) f.zeroed[i->op[0]] = (uint32_t)b + 1;
        }
    for (size_t b = 0; b < x->blocks.n; b++)
        for (size_t k = 0; k < x->blocks.at[b].code.n; k++) {
            pl_insn *i = &x->blocks.at[b].code.at[k];
            if (i->form == PL_IR_DEAD) continue;
            if (moves_wide_zero(x, i)) i->latency_class = C_alu;
            fold_pack(&f, i);
            bool pair = moves_zero(x, i) && f.pair_base[i->op[0]] &&
                        f.zeroed[f.pair_base[i->op[0]] - 1] == b + 1;
            if (pair || is_base_sum(&f, i) || is_foldable_sign(&f, i) ||
                is_foldable_saturation(x, i) || converts_constant(x, i))
                i->latency_class = C_free;
        }
    pl_ir_preserve_all(x);
    return true;
}
