/* uniform.c - values that take no register of a thread, though an instruction computes them.
 *
 * ptxas 13.0 for sm_90 (its output, 2026-11) fetches parameters and sizes into uniform registers (ULDC, S2UR) when every reader can name
 * one: integer, logic and floating-point arithmetic takes one operand that is a uniform register, a word of the constant bank or a
 * number; memory, matrices and IMAD.WIDE's 64-bit sum take none. Constants at known addresses are operands of their readers. */
#include "isa/passes.h"

enum { ROUNDS = 8 };

typedef struct chooser {
    pl_ir *x;
    uint8_t *may;    /* by row: it is fetched or computed without registers of a thread, as far as its readers take that */
    const pl_insn *i;
    bool all, changed; /* every operand of the instruction is uniform; a row was refused */
} chooser;

/* Does the 32-bit operand k, or the 64-bit one, fit a uniform register? */
static bool takes(const pl_insn *i, unsigned k)
{
    static const uint16_t narrow[] = {M_add, M_sub, M_mul, M_mad, M__lea, M__iadd2, M__iadd3, M_and, M_or, M_xor, M_lop3, M_shl, M_shr, M_shf, M_setp,
                                      M_selp, M_min, M_max, M_fma, M__fms, M__fnma, M__mov, M_cvt, M_prmt};
    static const uint16_t wide[] = {M_add, M_sub, M_and, M_or, M_xor, M_setp, M__lea}, doubles[] = {M_mul, M_fma, M_mad, M__fms, M__fnma};
    const pl_form *f = &pl_forms[i->form];
    uint16_t m = pl_insn_mnem(i);
    if (f->operand[k].kind != PL_K_VALUE || f->operand[k].written || pl_operand_count(f, k, i->mods) || (i->flags & PL_IF_MEM))
        return false;
    int bits = pl_type_bits(pl_operand_type(f, k, i->mods));
    if (bits == 64) {
        for (size_t n = 0; n < sizeof wide / sizeof *wide; n++)
            if (wide[n] == m)
                return m != M__lea || k == 3;
        for (size_t n = 0; n < sizeof doubles / sizeof *doubles; n++)
            if (doubles[n] == m)
                return pl_operand_type(f, k, i->mods) == W_f64;
        return false;
    }
    if ((m == M_shl || m == M_shr) && k == 1)
        return false;
    for (size_t n = 0; n < sizeof narrow / sizeof *narrow; n++)
        if (narrow[n] == m)
            return bits == 32;
    return false;
}

static bool is_fetch(const pl_ir *x, const pl_insn *i)
{
    uint16_t m = pl_insn_mnem(i);
    if (i->form == PL_IR_DEAD || i->guard != PL_PT || (m != M_ld && m != M__ldc && m != M__s2r))
        return false;
    const pl_ir_row *r = &x->row[i->op[0]];
    if (r->defs != 1 || r->pinned)
        return false;
    if (m == M_ld && i->sel[PL_M_SPACE] == PL_SP_CONST) /* at a known place */
        return i->cls == C_param && i->op[1] != UINT32_MAX && x->row[i->op[1]].kind == PL_ROW_INIT && i->sel[PL_M_COUNT] == 1;
    if (m == M_ld)
        return x->f->entry && i->sel[PL_M_SPACE] == PL_SP_PARAM && i->op[1] == UINT32_MAX && i->sel[PL_M_COUNT] == 1;
    pl_word s = m == M__s2r ? pl_ir_special(x, i->op[1]) : W_none;
    return m == M__ldc || s == W_ctaid;
}

/* The uniform datapath has integer arithmetic and logic. */
static bool computes(const pl_ir *x, const pl_insn *i)
{
    static const uint16_t units[] = {M_add, M_sub, M_mul, M_mad, M__lea, M__iadd2, M__iadd3, M_and, M_or, M_xor, M_lop3, M_shl, M_shr, M__mov, M_cvt};
    const pl_form *f = &pl_forms[i->form];
    uint16_t m = pl_insn_mnem(i);
    if (i->form == PL_IR_DEAD || i->guard != PL_PT || !f->noperands || !pl_insn_pure(i) || pl_insn_has(i, W_cc) ||
        (f->operand[0].kind != PL_K_VALUE) || !f->operand[0].written || pl_operand_count(f, 0, i->mods) ||
        pl_operand_type(f, 0, i->mods) == W_pred || x->row[i->op[0]].defs != 1 || x->row[i->op[0]].pinned)
        return false;
    for (unsigned k = 0; k < f->noperands; k++)
        if (f->operand[k].kind == PL_K_VALUE && (pl_operand_count(f, k, i->mods) || pl_type_kind(pl_operand_type(f, k, i->mods)) == 'f'))
            return false;
    for (size_t n = 0; n < sizeof units / sizeof *units; n++)
        if (units[n] == m)
            return true;
    return false;
}

static void see(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    chooser *c = ctx;
    (void)rows;
    if (use & PL_USE_PRED)
        c->all = false;
    else if ((use & PL_USE_READ) && c->x->kind.at[*row] == PL_ROW_REG && !c->may[*row])
        c->all = false;
}

static bool all_uniform(chooser *c, pl_insn *i)
{
    c->all = true;
    pl_insn_uses(c->x->p, i, see, c);
    return c->all;
}

static void refuse(chooser *c, uint32_t row, unsigned rows)
{
    for (unsigned k = 0; k < rows; k++) {
        c->changed |= c->may[row + k];
        c->may[row + k] = 0;
    }
}

/* A reader that runs for each thread takes only some. */
static void read_by_thread(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    chooser *c = ctx;
    if ((use & PL_USE_PRED) || !(use & PL_USE_READ) || !c->may[*row])
        return;
    const pl_form *f = &pl_forms[c->i->form];
    bool named = false;
    for (unsigned k = 0; k < f->noperands && k < PL_INLINE_OPERANDS; k++)
        if (c->i->op[k] == *row) {
            if (!takes(c->i, k)) {
                refuse(c, *row, rows);
                return;
            }
            named = true;
        }
    if (!named)
        refuse(c, *row, rows);
}

/* Only one operand of an instruction is no register. */
static void share(chooser *c)
{
    const pl_form *f = &pl_forms[c->i->form];
    uint64_t v;
    uint32_t first = PL_IR_NONE;
    if (c->i->flags & PL_IF_MEM)
        return;
    for (unsigned k = 0; k < f->noperands && k < PL_INLINE_OPERANDS; k++)
        if (takes(c->i, k) && pl_ir_number(c->x, c->i->op[k], &v) && v && !(pl_insn_mnem(c->i) == M__lea && k == 2))
            first = c->i->op[k];
    for (unsigned k = 0; k < f->noperands && k < PL_INLINE_OPERANDS; k++) {
        uint32_t row = c->i->op[k];
        if (!takes(c->i, k) || !c->may[row] || row == first)
            continue;
        if (first != PL_IR_NONE)
            refuse(c, row, pl_type_bits(pl_operand_type(f, k, c->i->mods)) == 64 ? 2 : 1);
        else
            first = row;
    }
}

bool pl_pass_uniform(pl_ir *x)
{
    chooser c = {.x = x};
    if (!pl_ir_ready(x))
        return false;
    c.may = pl_arena_array(x->tmp, uint8_t, x->f->rows + 4);
    if (!c.may)
        return false;
    for (uint32_t j = 0; j < x->nrpo; j++)
        for (size_t k = 0; k < x->b.at[x->rpo[j]].code.n; k++) {
            pl_insn *i = &x->b.at[x->rpo[j]].code.at[k];
            if (!is_fetch(x, i) && (!computes(x, i) || !all_uniform(&c, i)))
                continue;
            c.may[i->op[0]] = 1;
            if (x->row[i->op[0]].rows == 2)
                c.may[i->op[0] + 1] = 1;
        }
    c.changed = true;
    for (unsigned round = 0; round < ROUNDS && c.changed; round++) {
        c.changed = false;
        for (uint32_t j = 0; j < x->nrpo; j++)
            for (size_t k = 0; k < x->b.at[x->rpo[j]].code.n; k++) {
                pl_insn *i = &x->b.at[x->rpo[j]].code.at[k];
                c.i = i;
                bool result = computes(x, i) && c.may[i->op[0]];
                if (result && all_uniform(&c, i))
                    continue;
                if (result)
                    refuse(&c, i->op[0], x->row[i->op[0]].rows);
                pl_insn_uses(x->p, i, read_by_thread, &c);
                share(&c);
            }
    }
    for (size_t b = 0; b < x->b.n && !c.changed; b++)
        for (size_t k = 0; k < x->b.at[b].code.n; k++) {
            pl_insn *i = &x->b.at[b].code.at[k];
            bool constant = i->cls == C_free && pl_insn_mnem(i) == M_ld && i->sel[PL_M_SPACE] == PL_SP_CONST;
            if (constant || ((is_fetch(x, i) || computes(x, i)) && c.may[i->op[0]]))
                i->flags |= PL_IF_ELSEWHERE;
        }
    return true;
}
