/* fold_approx.c - approximate functions of constants, and sums and products of constants.
 *
 * ptxas 13.0 computes them when it assembles, from -O1 on: sin, cos, ex2, lg2, rcp, rsqrt and sqrt
 * of .f32, and the reciprocal of the divisor of div.approx and div.full. Its results are the exact
 * values rounded to nearest, not those of the special-function unit (4,888 constants, sm_90,
 * 2026-11). An operand may be computed from constants. ptxas computes sums and products of
 * constants before it contracts them: each is rounded. It leaves fma, results that are NaN, tanh,
 * and all other types to the unit.
 *
 * The pass runs at every level, since it changes the last bit of results. It must precede
 * contraction: a quotient becomes a product. */
#include "compiler/opt/fold_approx.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "compiler/passes.h"
#include "isa/program/operand_plan.h"

static bool is_unary(const pl_insn *i)
{
    switch (pl_insn_mnem(i)) {
    case M_sin:
    case M_cos:
    case M_ex2:
    case M_lg2:
    case M_rcp:
    case M_rsqrt:
    case M_sqrt: return true;
    default: return false;
    }
}

/* The operand whose value decides whether the instruction is folded; 0: it never is. */
static unsigned folded_operand(const pl_insn *i)
{
    const unsigned noperands = pl_forms[i->form].noperands;
    const bool approx = pl_insn_has(i, W_approx);
    if (!(approx || pl_insn_has(i, W_full)) || pl_insn_type(i) != W_f32) return 0;
    if (noperands == 2 && approx && is_unary(i)) return 1;
    return noperands == 3 && pl_insn_mnem(i) == M_div ? 2 : 0;
}

static double function(uint16_t mnem, double x)
{
    switch (mnem) {
    case M_sin: return sin(x);
    case M_cos: return cos(x);
    case M_ex2: return exp2(x);
    case M_lg2: return log2(x);
    case M_rsqrt: return 1 / sqrt(x);
    case M_sqrt: return sqrt(x);
    default: return 1 / x; /* of rcp, and of the divisor */
    }
}

/* Subnormal operands and results are left to the unit where it flushes or rounds them twice. */
static bool evaluate(uint16_t mnem, bool ftz, uint32_t operand, uint32_t *result)
{
    float x, y;
    memcpy(&x, &operand, sizeof x);
    const bool is_root_or_log = mnem == M_rsqrt || mnem == M_sqrt || mnem == M_lg2;
    if (!isnormal(x) && !(fpclassify(x) == FP_SUBNORMAL && is_root_or_log && !ftz)) return false;
    const double exact = function(mnem, x), size = fabs(exact);
    if (!(size <= FLT_MAX) || (size < FLT_MIN && exact != 0 && (mnem != M_ex2 || ftz)))
        return false;
    y = (float)exact;
    memcpy(result, &y, sizeof y);
    return true;
}

/* The number of sources of an unconditional copy or negation, or of a sum or product of .f32 that
 * is rounded to nearest; 0 for other instructions. */
static unsigned constant_sources(const pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    const bool copies = f->mnem == M_mov || f->mnem == M_neg;
    const bool sum_or_product = f->mnem == M_add || f->mnem == M_sub || f->mnem == M_mul;
    const unsigned n = copies ? 1 : sum_or_product ? 2 : 0;
    if (!n || f->noperands != n + 1 || i->guard != PL_PT) return 0;
    if (f->mnem != M_mov && pl_insn_type(i) != W_f32) return 0;
    if (pl_insn_has(i, W_rz) || pl_insn_has(i, W_rm) || pl_insn_has(i, W_rp) ||
        pl_insn_has(i, W_sat))
        return 0;
    for (unsigned k = 0; k <= n; k++)
        if (pl_operand_count(f, k, i->mods)) return 0;
    return n;
}

/* Computes such an instruction. Subnormal values and NaN are left to the unit. */
static bool compute(uint16_t mnem, const uint32_t *operand, unsigned n, uint32_t *result)
{
    float x[2] = {0}, y;
    if (mnem == M_mov) {
        *result = operand[0];
        return true;
    }
    if (mnem == M_neg) {
        *result = operand[0] ^ 0x80000000u;
        return true;
    }
    memcpy(x, operand, n * sizeof x[0]);
    y = mnem == M_mul ? x[0] * x[1] : mnem == M_add ? x[0] + x[1] : x[0] - x[1];
    memcpy(result, &y, sizeof y);
    for (unsigned k = 0; k < n; k++)
        if (!isnormal(x[k]) && x[k] != 0) return false;
    return isnormal(y) || y == 0;
}

/* The value of a register that is computed from constants only. *steps: instructions that may still
 * be followed. */
static bool constant_value(const pl_ir *x, uint32_t row, unsigned *steps, uint32_t *bits)
{
    uint64_t value;
    uint32_t operand[2];
    if (pl_ir_constant_value(x, row, &value)) {
        *bits = (uint32_t)value;
        return true;
    }
    if (row >= x->nregs_described || !*steps) return false;
    --*steps;
    const pl_ir_reg *r = &x->regs[row];
    if (r->ndefs != 1 || r->def_block == PL_IR_NONE) return false;
    const pl_insn *i = &x->blocks.at[r->def_block].code.at[r->def_index];
    const unsigned n = constant_sources(i);
    for (unsigned k = 0; k < n; k++)
        if (!constant_value(x, i->op[k + 1], steps, &operand[k])) return false;
    return n && compute(pl_insn_mnem(i), operand, n, bits);
}

enum { MAX_STEPS = 64 };

/* Replaces a sum or product of constants by a copy of its value, so that no contraction rounds it
 * once with another. */
static void fold_arithmetic(pl_ir *x, pl_insn *i)
{
    static const pl_word words[] = {W_b32};
    const unsigned n = constant_sources(i);
    unsigned steps = MAX_STEPS;
    uint32_t operand[2], value;
    if (n < 2) return;
    for (unsigned k = 0; k < n; k++)
        if (!constant_value(x, i->op[k + 1], &steps, &operand[k])) return;
    if (!compute(pl_insn_mnem(i), operand, n, &value)) return;
    const uint32_t row = pl_ir_constant(x, value, 32);
    if (pl_insn_make(i, M_mov, 2, words, 1)) i->op[1] = row;
}

/* Replaces the function by a copy of its value, the quotient by a product. */
static void fold_function(pl_ir *x, pl_insn *i)
{
    const unsigned k = folded_operand(i);
    unsigned steps = MAX_STEPS;
    uint32_t operand, value;
    if (!k || !constant_value(x, i->op[k], &steps, &operand) ||
        !evaluate(pl_insn_mnem(i), pl_insn_has(i, W_ftz), operand, &value))
        return;
    const bool product = k == 2, ftz = pl_insn_has(i, W_ftz);
    const pl_word words[] = {product ? W_f32 : W_b32, W_ftz};
    const uint32_t row = pl_ir_constant(x, value, 32);
    if (pl_insn_make(i, product ? M_mul : M_mov, k + 1, words, product && ftz ? 2 : 1))
        i->op[k] = row;
}

/* True if a function or an arithmetic instruction may have constant operands. Most kernels have
 * none.
 */
static bool may_fold(const pl_program *p, const pl_prog_func *f, pl_arena *a)
{
    bool *is_constant = pl_arena_array(a, bool, f->rows + 4), found = false;
    if (!is_constant) return true;
    for (size_t k = 0; k < f->init.n; k++)
        is_constant[f->init.at[k].row] = !f->init.at[k].sreg && !f->init.at[k].reloc;
    for (uint32_t at = f->first; at < f->first + f->count && !found; at++) {
        const pl_insn *i = &p->code.at[at];
        const unsigned k = folded_operand(i), n = constant_sources(i);
        bool all = n != 0;
        for (unsigned s = 1; s <= n; s++) all &= i->op[s] < f->rows && is_constant[i->op[s]];
        if (all) is_constant[i->op[0]] = true;
        found = (all && n > 1) || (k && i->op[k] < f->rows && is_constant[i->op[k]]);
    }
    return found;
}

pl_status pl_fold_approx(pl_program *p, pl_prog_func *f, uint32_t *fixed, pl_arena *scratch,
                         pl_arena *tmp)
{
    if (!may_fold(p, f, scratch)) return PL_OK;
    pl_ir x;
    pl_status st = pl_ir_open(&x, p, f, *fixed, scratch, tmp);
    if (st != PL_OK) return st;
    if (!pl_pass_split_webs(&x) || !pl_pass_local_const_prop(&x) || !pl_ir_analyze(&x))
        return PL_NOMEM;
    for (uint32_t b = 0; b < x.blocks.n; b++)
        for (uint32_t k = 0; k < x.blocks.at[b].code.n; k++) {
            pl_insn *i = &x.blocks.at[b].code.at[k];
            fold_function(&x, i);
            fold_arithmetic(&x, i); /* also a quotient that has become a product */
        }
    if (!pl_ir_ok(&x)) return PL_NOMEM;
    pl_arena_reset(tmp);
    return pl_ir_close(&x, fixed);
}
