/* divide.c - 32-bit division in two parts, and the subroutines behind quotients and roots.
 *
 * The hardware has no divider: a division is a scaled reciprocal of the divisor, a product and two corrections. The part that depends on
 * the divisor alone is done once for all divisions by it, outside of loops that do not change it (ptxas 13.0 for sm_90, 2026-11).
 *
 * Quotients, reciprocals and roots of floating-point values are short sequences that do not take every operand: a zero divided by
 * something, the root of zero, numbers with extreme exponents go through a subroutine. ~slow stands behind each of them for that; it
 * costs nothing when no lane needs it (emu/sm/slow.c). */
#include <string.h>

#include "isa/passes.h"
#include "isa/varies.h"

typedef struct prepared {
    uint32_t from, to, block; /* divisor, register of its preparation, where that is done */
    pl_word type;
} prepared;

typedef struct divider {
    pl_ir *x;
    struct { prepared *at; size_t n, cap; } done;
    bool calls;     /* preparations are not kept across calls: they serve their block up to the next one */
} divider;

static bool divides(const pl_insn *i)
{
    pl_word t = pl_insn_type(i);
    uint16_t m = pl_insn_mnem(i);
    return (m == M_div || m == M_rem) && (t == W_u32 || t == W_s32);
}

static uint32_t prepare(divider *d, uint32_t row, pl_word type, uint32_t block, size_t at)
{
    pl_ir *x = d->x;
    if (x->row[row].defs != 1)
        return row;
    uint32_t where = d->calls ? block : pl_ir_outermost(x, block, row, UINT32_MAX);
    for (size_t k = 0; k < d->done.n; k++) {
        const prepared *p = &d->done.at[k];
        if (p->from == row && p->type == type && (d->calls ? p->block == block : pl_ir_dominates(x, p->block, where)))
            return p->to;
    }
    size_t position = where == block ? at : pl_ir_end(x, where);
    uint32_t to = pl_ir_new(x, 1), line = x->b.at[block].code.at[at].line;
    pl_insn *i = pl_ir_later(x, where, position);
    if (!i || !pl_insn_make(i, M__divisor, 2, &type, 1))
        return row;
    i->op[0] = to;
    i->op[1] = row;
    i->line = line;
    *pl_push(x->tmp, &d->done) = (prepared){row, to, where, type};
    return to;
}

bool pl_pass_divide(pl_ir *x)
{
    divider d = {.x = x};
    if (!pl_ir_any(x, divides))
        return true;
    if (!pl_ir_ready(x))
        return false;
    for (size_t b = 0; b < x->b.n; b++)
        for (size_t k = 0; k < x->b.at[b].code.n; k++)
            d.calls |= (pl_insn_effects(&x->b.at[b].code.at[k]) & PL_EF_CALL) != 0;
    for (uint32_t j = 0; j < x->nrpo; j++)
        for (size_t k = 0; k < x->b.at[x->rpo[j]].code.n && pl_ir_ok(x); k++) {
            if (pl_insn_effects(&x->b.at[x->rpo[j]].code.at[k]) & PL_EF_CALL)
                d.done.n = 0;
            if (!divides(&x->b.at[x->rpo[j]].code.at[k]))
                continue;
            pl_word type = pl_insn_type(&x->b.at[x->rpo[j]].code.at[k]);
            uint32_t divisor = x->b.at[x->rpo[j]].code.at[k].op[2], to = prepare(&d, divisor, type, x->rpo[j], k);
            pl_insn *i = &x->b.at[x->rpo[j]].code.at[k];
            if (to != divisor && pl_insn_make(i, pl_insn_mnem(i) == M_div ? M__div : M__rem, 3, &type, 1))
                i->op[2] = to;
        }
    return pl_ir_settle(x);
}

/* ---- slow paths ---- */

/* Quotients and roots with an exact rounding, and what comes behind each. */
static const struct { uint16_t mnem; pl_word op, type; uint16_t same; } exact[] = {
    {M_div, W_div, W_f32, C_div_f32_rn_same}, {M_rcp, W_rcp, W_f32, C_rcp_f32_rn_same}, {M_sqrt, W_sqrt, W_f32, C_sqrt_f32_rn_same},
    {M_div, W_div, W_f64, C_div_f64_same},    {M_rcp, W_rcp, W_f64, C_rcp_f64_same},    {M_sqrt, W_sqrt, W_f64, C_sqrt_f64_same}};

static bool is_exact(const pl_insn *i)
{
    const uint16_t m = pl_insn_mnem(i);
    return (m == M_div || m == M_rcp || m == M_sqrt) && pl_insn_rounds(i);
}

/* Operands that are the same in all lanes send them to the subroutine together, so that they need not meet behind it. */
static bool all_the_same(const pl_ir *x, const pl_varies *v, const pl_insn *i)
{
    bool same = i->guard <= PL_PF || !v->pred[i->guard];
    for (unsigned k = 1; k < pl_forms[i->form].noperands; k++)
        same &= i->op[k] == UINT32_MAX || (i->op[k] < x->f->rows && !v->row[i->op[k]]);
    return same;
}

bool pl_pass_slow(pl_ir *x)
{
    pl_varies v;
    if (!pl_ir_any(x, is_exact))
        return true;
    if (!pl_ir_ready(x) || !pl_varies_find(&v, x))
        return false;
    for (uint32_t b = 0; b < x->b.n; b++)
        for (size_t k = 0; k < x->b.at[b].code.n; k++) {
            if (!is_exact(&x->b.at[b].code.at[k])) /* nearly all */
                continue;
            const pl_insn div = x->b.at[b].code.at[k];
            size_t n = 0;
            while (n < sizeof exact / sizeof *exact && (pl_insn_mnem(&div) != exact[n].mnem || pl_insn_type(&div) != exact[n].type))
                n++;
            if (n == sizeof exact / sizeof *exact)
                continue;
            if (all_the_same(x, &v, &div))
                x->b.at[b].code.at[k].cls = exact[n].same;
            uint32_t quotient = pl_ir_new(x, exact[n].type == W_f64 ? 2 : 1);
            x->b.at[b].code.at[k].op[0] = quotient;
            pl_insn *i = pl_ir_later(x, b, k + 1);
            unsigned operands = pl_forms[div.form].noperands;
            if (!i || !pl_insn_make(i, M__slow, operands + 1, (const pl_word[]){exact[n].op, exact[n].type}, 2))
                return false;
            i->op[0] = div.op[0];
            i->op[1] = quotient;
            for (unsigned o = 1; o < operands; o++)
                i->op[o + 1] = div.op[o];
            i->line = div.line;
            i->guard = div.guard;
            i->flags |= (uint16_t)(div.flags & PL_IF_GUARD_NEG);
        }
    return pl_ir_settle(x);
}
