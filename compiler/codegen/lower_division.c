/* lower_division.c - lowers 32-bit division to multiplication, and inserts subroutines after
 * quotients and roots.
 *
 * The hardware has no divider. With a scaled reciprocal of the divisor b, h = 2^32/b or slightly
 * less, h * a >> 32 is the quotient or up to two less. Two comparisons of the remainder with the
 * divisor correct it. A divisor of zero yields all ones. Computations that depend only on the
 * divisor are shared by all divisions by it, and hoisted out of loops in which it is invariant;
 * quotient and remainder of the same operands are one division. The sequences are those of ptxas
 * 13.0 for sm_90 (2026-11), which computes the reciprocal of a constant divisor like that of any
 * other.
 *
 * Quotients, reciprocals and roots of floating-point values are short sequences that do not handle
 * every operand: a zero dividend, the root of zero, and numbers with extreme exponents go through a
 * subroutine. ~slow is inserted after each of them for that; it costs nothing if no lane needs it
 * (emu/sm/division_slow_path.c). */
#include <string.h>

#include "compiler/passes.h"
#include "compiler/analysis/divergence.h"

/* Values derived from a divisor: the scaled reciprocal of its magnitude (the divisor itself if
 * unsigned), that magnitude and its negative. complement: its complement; UINT32_MAX:
 * its only division computes it. nonzero: the predicate "not zero"; PL_PT: known to be true. */
typedef struct divisor_parts {
    uint32_t row, block;
    pl_word type;
    uint32_t reciprocal, magnitude, negated_magnitude, complement, nonzero;
} divisor_parts;

/* An insertion point. */
typedef struct insert_point {
    uint32_t block, line;
    size_t at;
} insert_point;

typedef struct divider {
    pl_ir *x;
    struct {
        divisor_parts *at;
        size_t n, cap;
    } known_divisors;
    uint32_t *divisions; /* by row: number of divisions by it */
    bool calls; /* derived values are not kept live across calls: they serve their block up to the
                   next one */
} divider;

static bool is_division(const pl_insn *i)
{
    pl_word t = pl_insn_type(i);
    uint16_t m = pl_insn_mnem(i);
    return (m == M_div || m == M_rem) && (t == W_u32 || t == W_s32);
}

enum { WORDS = 4 };

/* Inserts an instruction that writes row `to`, or for a comparison predicate `to`. */
static pl_insn *insert_insn(divider *d, const insert_point *p, uint32_t to, uint16_t mnem,
                            const pl_word words[WORDS], const uint32_t from[3])
{
    unsigned nwords = 0, operands = 1;
    pl_insn *i = pl_ir_insert_deferred(d->x, p->block, p->at);
    while (nwords < WORDS && words[nwords] != W_none) nwords++;
    while (operands < 4 && from[operands - 1] != UINT32_MAX) operands++;
    const unsigned first = mnem == M_setp ? 2 : 1; /* after a comparison's second predicate */
    if (!i || !pl_insn_make(i, mnem, operands + first - 1, words, nwords)) return NULL;
    i->op[0] = to;
    for (unsigned k = 1; k < operands; k++) i->op[k + first - 1] = from[k - 1];
    i->line = p->line;
    return i;
}

static uint32_t emit(divider *d, const insert_point *p, uint16_t mnem, const pl_word words[WORDS],
                     uint32_t a, uint32_t b, uint32_t c)
{
    const uint32_t to = mnem == M_setp ? pl_ir_new_pred(d->x) : pl_ir_new(d->x, 1);
    insert_insn(d, p, to, mnem, words, (const uint32_t[]){a, b, c});
    return to;
}

/* Inserts a predicated instruction that replaces the value of `row`. */
static void emit_predicated(divider *d, const insert_point *p, uint32_t guard, bool negated,
                            uint32_t row, uint16_t mnem, const pl_word words[WORDS], uint32_t a,
                            uint32_t b)
{
    pl_insn *i = insert_insn(d, p, row, mnem, words, (const uint32_t[]){a, b, UINT32_MAX});
    if (!i) return;
    i->guard = guard;
    i->flags |= negated ? PL_IF_GUARD_NEG : 0;
}

enum { NO_ROW = UINT32_MAX };
static const pl_word b32[WORDS] = {W_b32}, s32[WORDS] = {W_s32}, mul_lo[WORDS] = {W_lo, W_s32},
                     mul_hi[WORDS] = {W_hi, W_u32}, gt_u32[WORDS] = {W_gt, W_u32},
                     ge_u32[WORDS] = {W_ge, W_u32}, lt_s32[WORDS] = {W_lt, W_s32},
                     ne_s32[WORDS] = {W_ne, W_s32};

/* True for a register with one write, or a constant. */
static bool has_one_value(const pl_ir *x, uint32_t row)
{
    return row < x->f->rows && (x->kind.at[row] == PL_REG_PRESET ||
                                (row < x->nregs_described && x->regs[row].ndefs == 1));
}

/* The magnitude of a signed operand. */
static uint32_t magnitude_of(divider *d, const insert_point *p, uint32_t row)
{
    uint64_t n;
    if (pl_ir_constant_value(d->x, row, &n))
        return pl_ir_constant(d->x, (int32_t)(uint32_t)n < 0 ? 0u - (uint32_t)n : (uint32_t)n, 32);
    return emit(d, p, M_abs, s32, row, NO_ROW, NO_ROW);
}

/* The reciprocal of a magnitude, scaled by 2^32: in single precision, rounded so that it is not too
 * large, and refined by a Newton step. */
static uint32_t emit_reciprocal(divider *d, const insert_point *p, const divisor_parts *b)
{
    const bool known = b->negated_magnitude != NO_ROW;
    /* added to the bits of a float: multiplies by 2^32, and subtracts two units in the last
     * place */
    const uint32_t scale = pl_ir_constant(d->x, 0x0ffffffe, 32);
    uint32_t f = emit(d, p, M_cvt, (const pl_word[WORDS]){W_rp, W_f32, b->type}, b->magnitude,
                      NO_ROW, NO_ROW);
    f = emit(d, p, M_rcp, (const pl_word[WORDS]){W_approx, W_ftz, W_f32}, f, NO_ROW, NO_ROW);
    f = emit(d, p, M_add, s32, f, scale, NO_ROW);
    f = emit(d, p, M_cvt, (const pl_word[WORDS]){W_rzi, W_ftz, W_u32, W_f32}, f, NO_ROW, NO_ROW);
    const uint32_t negated_divisor =
        known ? b->negated_magnitude
              : emit(d, p, M_neg, s32, b->type == W_s32 ? f : b->row, NO_ROW, NO_ROW);
    const uint32_t error = emit(d, p, M_mul, mul_lo, negated_divisor,
                                !known && b->type == W_s32 ? b->magnitude : f, NO_ROW);
    return emit(d, p, M_mad, mul_hi, f, error, f);
}

/* True for a parameter: ptxas reads it at each use, and computes its magnitude as often. */
static bool is_parameter(const pl_ir *x, uint32_t row)
{
    if (row >= x->f->rows || x->regs[row].ndefs != 1 || x->regs[row].def_block == PL_IR_NONE)
        return false;
    const pl_insn *w = pl_ir_writer(x, row);
    return w->form != PL_IR_DEAD && (pl_insn_effects(w) & PL_EF_LOAD) &&
           w->sel[PL_M_SPACE] == PL_SP_PARAM;
}

/* The derived values of the divisor of the division at p, computed before it or hoisted further
 * out. */
static divisor_parts divisor_parts_of(divider *d, uint32_t row, pl_word type, const insert_point *p)
{
    pl_ir *x = d->x;
    uint64_t n = 0;
    const bool number = pl_ir_constant_value(x, row, &n) && (uint32_t)n,
               reusable = has_one_value(x, row);
    const uint32_t to_block =
        d->calls || !reusable ? p->block : pl_ir_hoist_block(x, p->block, row, UINT32_MAX);
    for (size_t k = 0; reusable && k < d->known_divisors.n; k++) {
        const divisor_parts *o = &d->known_divisors.at[k];
        if (o->row == row && o->type == type &&
            (d->calls ? o->block == p->block : pl_ir_dominates(x, o->block, to_block)))
            return *o;
    }
    const bool in_block = to_block == p->block;
    const insert_point at = {to_block, p->line, in_block ? p->at : pl_ir_end(x, to_block)};
    divisor_parts to = {.row = row,
                        .block = to_block,
                        .type = type,
                        .negated_magnitude = NO_ROW,
                        .complement = NO_ROW,
                        .nonzero = PL_PT};
    to.magnitude = type == W_s32 ? magnitude_of(d, &at, row) : row;
    if (number && pl_ir_constant_value(x, to.magnitude, &n))
        to.negated_magnitude = pl_ir_constant(x, 0u - (uint32_t)n, 32);
    to.reciprocal = emit_reciprocal(d, &at, &to);
    if (!number) {
        if (type == W_s32 && !is_parameter(x, row)) /* ptxas does not reuse the other magnitude */
            to.negated_magnitude = emit(
                d, &at, M_neg, s32, emit(d, &at, M_abs, s32, row, NO_ROW, NO_ROW), NO_ROW, NO_ROW);
        to.nonzero = emit(d, &at, M_setp, ne_s32, row, pl_ir_constant(x, 0, 32), NO_ROW);
        if (!in_block || (reusable && d->divisions[row] > 1))
            to.complement = emit(d, &at, M_not, b32, row, NO_ROW, NO_ROW);
    }
    if (reusable) *pl_push(x->tmp, &d->known_divisors) = to;
    return to;
}

/* The counterpart of division k in its block, the remainder for a quotient and vice versa; NO_ROW:
 * none. */
static size_t find_counterpart(const pl_ir *x, uint32_t block, size_t k)
{
    const pl_insn *i = &x->blocks.at[block].code.at[k];
    for (size_t n = k + 1;
         has_one_value(x, i->op[1]) && has_one_value(x, i->op[2]) && n < x->blocks.at[block].code.n;
         n++) {
        const pl_insn *o = &x->blocks.at[block].code.at[n];
        if (is_division(o) && pl_insn_mnem(o) != pl_insn_mnem(i) &&
            pl_insn_type(o) == pl_insn_type(i) && o->op[1] == i->op[1] && o->op[2] == i->op[2])
            return n;
    }
    return NO_ROW;
}

/* Completes a division: the sign of its result, and the result for a zero divisor; instruction k of
 * the block becomes a copy. */
static void finish_division(divider *d, const divisor_parts *b, const insert_point *p, size_t k,
                            uint32_t result)
{
    pl_ir *x = d->x;
    const pl_insn division = x->blocks.at[p->block].code.at[k];
    if (b->type == W_s32) {
        const uint32_t a = division.op[1], signs = pl_insn_mnem(&division) == M_div
                                                       ? emit(d, p, M_xor, b32, a, b->row, NO_ROW)
                                                       : a;
        emit_predicated(d, p, emit(d, p, M_setp, lt_s32, signs, pl_ir_constant(x, 0, 32), NO_ROW),
                        false, result, M_neg, s32, result, NO_ROW);
    }
    if (b->nonzero != PL_PT && b->complement == NO_ROW)
        emit_predicated(d, p, b->nonzero, true, result, M_not, b32, b->row, NO_ROW);
    pl_insn *i = &x->blocks.at[p->block].code.at[k];
    if (b->complement == NO_ROW ? pl_insn_make(i, M_mov, 2, b32, 1)
                                : pl_insn_make(i, M_selp, 4, b32, 1)) {
        i->op[1] = result;
        if (b->complement != NO_ROW) {
            i->op[2] = b->complement;
            i->op[3] = b->nonzero;
        }
    }
}

/* Lowers the division, and its counterpart with the same operands, which become copies of results
 * computed before it. */
static void divide(divider *d, uint32_t block, size_t k)
{
    pl_ir *x = d->x;
    const pl_insn division = x->blocks.at[block].code.at[k];
    const insert_point p = {block, division.line, k};
    const pl_word type = pl_insn_type(&division);
    const size_t second = find_counterpart(x, block, k);
    const bool both = second != NO_ROW, quotient = both || pl_insn_mnem(&division) == M_div,
               is_signed = type == W_s32;
    const uint32_t a = division.op[1], one = pl_ir_constant(x, 1, 32);
    const divisor_parts b = divisor_parts_of(d, division.op[2], type, &p);
    const bool number = b.nonzero == PL_PT;
    const uint32_t dividend = is_signed ? magnitude_of(d, &p, a) : a;
    const uint32_t magnitude =
        is_signed && b.negated_magnitude == NO_ROW && quotient && b.block != block
            ? magnitude_of(d, &p, b.row)
            : b.magnitude;
    const uint32_t q = emit(d, &p, M_mul, mul_hi, b.reciprocal, dividend, NO_ROW);
    const uint32_t r = b.negated_magnitude != NO_ROW
                           ? emit(d, &p, M_mad, mul_lo, q, b.negated_magnitude, dividend)
                           : emit(d, &p, M_mad, mul_lo, emit(d, &p, M_neg, s32, q, NO_ROW, NO_ROW),
                                  magnitude, dividend);
    const bool inverted =
        is_signed && !number; /* ptxas then tests whether the divisor is greater */
    uint32_t reaches = inverted ? emit(d, &p, M_setp, gt_u32, b.magnitude, r, NO_ROW)
                                : emit(d, &p, M_setp, ge_u32, r, b.magnitude, NO_ROW);
    emit_predicated(d, &p, reaches, inverted, r, M_sub, s32, r, magnitude);
    if (quotient) emit_predicated(d, &p, reaches, inverted, q, M_add, s32, q, one);
    if (quotient) {
        reaches = emit(d, &p, M_setp, ge_u32, r, b.magnitude, NO_ROW);
        emit_predicated(d, &p, reaches, false, q, M_add, s32, q, one);
    }
    uint32_t remainder = r;
    if (both && is_signed) {
        const uint32_t no_correction =
                           inverted ? emit(d, &p, M_setp, gt_u32, b.magnitude, r, NO_ROW) : reaches,
                       corrected = emit(d, &p, M_sub, s32, r, magnitude, NO_ROW);
        remainder = emit(d, &p, M_selp, b32, inverted ? r : corrected, inverted ? corrected : r,
                         no_correction);
    } else if (both || !quotient) {
        if (!both)
            reaches = inverted ? emit(d, &p, M_setp, gt_u32, b.magnitude, r, NO_ROW)
                               : emit(d, &p, M_setp, ge_u32, r, b.magnitude, NO_ROW);
        emit_predicated(d, &p, reaches, inverted, r, M_sub, s32, r, magnitude);
    }
    const bool first = pl_insn_mnem(&division) == M_div;
    finish_division(d, &b, &p, k, first ? q : remainder);
    if (both) finish_division(d, &b, &p, second, first ? remainder : q);
}

bool pl_pass_lower_division(pl_ir *x)
{
    divider d = {.x = x};
    if (!pl_ir_any(x, is_division)) return true;
    if (!pl_ir_analyze(x)) return false;
    const uint32_t rows = x->f->rows;
    d.divisions = pl_arena_array(x->tmp, uint32_t, rows + 1);
    if (!d.divisions) return false;
    memset(d.divisions, 0, (rows + 1) * sizeof *d.divisions);
    for (size_t b = 0; b < x->blocks.n; b++)
        for (size_t k = 0; k < x->blocks.at[b].code.n; k++) {
            const pl_insn *i = &x->blocks.at[b].code.at[k];
            d.calls |= (pl_insn_effects(i) & PL_EF_CALL) != 0;
            if (is_division(i) && i->op[2] < rows) d.divisions[i->op[2]]++;
        }
    for (uint32_t j = 0; j < x->nrpo; j++)
        for (size_t k = 0; k < x->blocks.at[x->rpo[j]].code.n && pl_ir_ok(x); k++) {
            if (pl_insn_effects(&x->blocks.at[x->rpo[j]].code.at[k]) & PL_EF_CALL)
                d.known_divisors.n = 0;
            if (is_division(&x->blocks.at[x->rpo[j]].code.at[k])) divide(&d, x->rpo[j], k);
        }
    return pl_ir_flush_inserts(x);
}

/* ---- slow paths ---- */

/* Correctly rounded quotients and roots, and the latency class of each with uniform operands. */
static const struct {
    uint16_t mnem;
    pl_word op, type;
    uint16_t uniform_class;
} ieee_ops[] = {
    {M_div, W_div, W_f32, C_div_f32_rn_same},    {M_rcp, W_rcp, W_f32, C_rcp_f32_rn_same},
    {M_sqrt, W_sqrt, W_f32, C_sqrt_f32_rn_same}, {M_div, W_div, W_f64, C_div_f64_same},
    {M_rcp, W_rcp, W_f64, C_rcp_f64_same},       {M_sqrt, W_sqrt, W_f64, C_sqrt_f64_same}};

/* True if the operands are uniform: all lanes go to the subroutine together, so that they need not
 * reconverge after it. */
static bool has_uniform_operands(const pl_ir *x, const pl_divergence *v, const pl_insn *i)
{
    bool same = i->guard <= PL_PF || !v->pred[i->guard];
    for (unsigned k = 1; k < pl_forms[i->form].noperands; k++)
        same &= i->op[k] == UINT32_MAX || (i->op[k] < x->f->rows && !v->row[i->op[k]]);
    return same;
}

bool pl_pass_insert_slow_paths(pl_ir *x)
{
    pl_divergence v;
    if (!pl_ir_any(x, pl_insn_is_ieee_div_sqrt)) return true;
    if (!pl_ir_analyze(x) || !pl_divergence_find(&v, x)) return false;
    for (uint32_t b = 0; b < x->blocks.n; b++)
        for (size_t k = 0; k < x->blocks.at[b].code.n; k++) {
            if (!pl_insn_is_ieee_div_sqrt(&x->blocks.at[b].code.at[k])) /* most instructions */
                continue;
            const pl_insn div = x->blocks.at[b].code.at[k];
            size_t n = 0;
            while (
                n < sizeof ieee_ops / sizeof *ieee_ops &&
                (pl_insn_mnem(&div) != ieee_ops[n].mnem || pl_insn_type(&div) != ieee_ops[n].type))
                n++;
            if (n == sizeof ieee_ops / sizeof *ieee_ops) continue;
            if (has_uniform_operands(x, &v, &div))
                x->blocks.at[b].code.at[k].latency_class = ieee_ops[n].uniform_class;
            uint32_t quotient = pl_ir_new(x, ieee_ops[n].type == W_f64 ? 2 : 1);
            x->blocks.at[b].code.at[k].op[0] = quotient;
            pl_insn *i = pl_ir_insert_deferred(x, b, k + 1);
            unsigned operands = pl_forms[div.form].noperands;
            if (!i || !pl_insn_make(i, M__slow, operands + 1,
                                    (const pl_word[]){ieee_ops[n].op, ieee_ops[n].type}, 2))
                return false;
            i->op[0] = div.op[0];
            i->op[1] = quotient;
            for (unsigned o = 1; o < operands; o++) i->op[o + 1] = div.op[o];
            i->line = div.line;
            i->guard = div.guard;
            i->flags |= (uint16_t)(div.flags & PL_IF_GUARD_NEG);
        }
    return pl_ir_flush_inserts(x);
}
