/* isel_logic.c - combines logic trees into one LOP3, and logic on predicates into comparisons. */
#include "compiler/codegen/isel_combine.h"

#include <string.h>

/* ---- logic ---- */

enum { LUT_A = 0xf0, LUT_B = 0xcc, LUT_C = 0xaa };

typedef struct logic {
    uint32_t in[3];
    unsigned n;
    uint8_t lut;
} logic;

static uint8_t input_mask(unsigned k)
{
    return (uint8_t)(k == 0 ? LUT_A : k == 1 ? LUT_B : LUT_C);
}

/* Evaluates a table whose input k is the pattern v[k]. */
static uint8_t evaluate_lut(uint8_t lut, const uint8_t v[3])
{
    uint8_t out = 0;
    for (unsigned bit = 0; bit < 8; bit++) {
        unsigned at = (unsigned)(v[0] >> bit & 1) << 2 | (unsigned)(v[1] >> bit & 1) << 1 |
                      (unsigned)(v[2] >> bit & 1);
        out |= (uint8_t)((lut >> at & 1) << bit);
    }
    return out;
}

static bool logic_of(const pl_insn *i, logic *l)
{
    uint16_t m = pl_insn_mnem(i);
    *l = (logic){.n = 2};
    if ((m == M_lop3 || m == M__lop3) && pl_forms[i->form].noperands == 5) {
        static const uint8_t step[3] = {
            4, 2, 1}; /* distance from a table bit to the one where input k is set */
        uint8_t lut = (uint8_t)i->op[4], v[3] = {0};
        l->n = 0;
        /* Inputs on which the result does not depend are dropped. */
        for (unsigned k = 0; k < 3; k++)
            if ((lut >> step[k] ^ lut) & (uint8_t)~input_mask(k)) {
                v[k] = input_mask(l->n);
                l->in[l->n++] = i->op[1 + k];
            }
        l->lut = evaluate_lut(lut, v);
        return true;
    } else if (pl_insn_type(i) != W_b32 && pl_insn_type(i) != W_b64)
        return false;
    else if (m == M_and)
        l->lut = LUT_A & LUT_B;
    else if (m == M_or)
        l->lut = LUT_A | LUT_B;
    else if (m == M_xor)
        l->lut = LUT_A ^ LUT_B;
    else if (m == M_not) {
        l->n = 1;
        l->lut = (uint8_t)~LUT_A;
    } else
        return false;
    for (unsigned k = 0; k < l->n; k++) l->in[k] = i->op[1 + k];
    return true;
}

static unsigned add_input(logic *l, uint32_t row)
{
    for (unsigned k = 0; k < l->n && k < 3; k++) /* n above 3: too many inputs */
        if (l->in[k] == row) return k;
    if (l->n < 3) l->in[l->n] = row;
    return l->n++;
}

/* If operand k is an inversion, which is free, returns the inverted row, else UINT32_MAX. */
static uint32_t inverted_operand(const combiner *c, const pl_insn *i, unsigned k)
{
    const pl_insn *w = pl_isel_absorbable_def(c, i, k);
    uint64_t n;
    if (!w || pl_insn_type(w) != pl_insn_type(i)) return UINT32_MAX;
    if (pl_insn_mnem(w) == M_not) return w->op[1];
    const uint64_t ones = pl_insn_type(i) == W_b64 ? UINT64_MAX : UINT32_MAX;
    return pl_insn_mnem(w) == M_xor && pl_ir_constant_value(c->x, w->op[2], &n) && n == ones
               ? w->op[1]
               : UINT32_MAX;
}

/* True if the register has uses other than the current instruction. A constant needs no register. A
 * 64-bit result of a load or a product counts two uses if its halves are used, one for each; a
 * parameter is not in a register. */
static bool has_other_uses(const combiner *c, uint32_t row)
{
    uint64_t n;
    if (pl_ir_constant_value(c->x, row, &n)) return true;
    const pl_insn *w = c->x->regs[row].ndefs == 1 && c->x->regs[row].def_block != PL_IR_NONE
                           ? pl_ir_writer(c->x, row)
                           : NULL;
    if (w && w->sel[PL_M_SPACE] == PL_SP_PARAM && pl_insn_mnem(w) == M_ld) return false;
    if (c->x->regs[row].nuses > 1) return true;
    return w && pl_type_bits(pl_insn_type(w)) == 64 ? pl_insn_mnem(w) == M_ld && w->op[0] == row
                                                    : w && pl_insn_has(w, W_wide);
}

/* True if the use may duplicate the computation of operand k. If it is the only use, nothing is
 * duplicated. If the operands' registers have other uses, no live range is extended, and the use
 * need not wait for it. */
static bool may_duplicate(const combiner *c, uint32_t row, const logic *s)
{
    if (pl_isel_has_one_use(c, row)) return true;
    for (unsigned n = 0; n < s->n; n++)
        if (!has_other_uses(c, s->in[n])) return false;
    return true;
}

/* True if the constants fit: an instruction encodes one, and a half that is all zeros or all ones
 * needs none. */
static bool constants_fit(const combiner *c, const logic *l)
{
    for (unsigned half = 0; half < 2; half++) {
        uint32_t seen = 0;
        for (unsigned n = 0; n < l->n && n < 3; n++) {
            uint64_t v;
            if (!pl_ir_constant_value(c->x, l->in[n], &v)) continue;
            const uint32_t part = (uint32_t)(v >> 32 * half);
            if (part != 0 && part != UINT32_MAX && seen != 0 && part != seen) return false;
            if (part != 0 && part != UINT32_MAX) seen = part;
        }
    }
    return true;
}

/* Merges the computation of operand k into *l, if that is one of its inputs. */
static bool absorb(const combiner *c, const pl_insn *i, unsigned k, logic *l)
{
    unsigned at = 0;
    while (at < l->n && l->in[at] != i->op[k]) at++;
    const pl_insn *w = at < l->n ? pl_isel_absorbable_def(c, i, k) : NULL;
    logic s, m = {0};
    if (!w || pl_insn_type(w) != pl_insn_type(i) || pl_insn_mnem(w) == M_not || !logic_of(w, &s) ||
        !may_duplicate(c, i->op[k], &s))
        return false;
    uint8_t child[3] = {0}, v[3] = {0};
    for (unsigned n = 0; n < s.n; n++) add_input(&m, s.in[n]);
    for (unsigned n = 0; n < l->n; n++)
        if (n != at) add_input(&m, l->in[n]);
    if (m.n > 3 || !constants_fit(c, &m)) return false;
    for (unsigned n = 0; n < s.n; n++) child[n] = input_mask(add_input(&m, s.in[n]));
    for (unsigned n = 0; n < l->n; n++)
        v[n] = n == at ? evaluate_lut(s.lut, child) : input_mask(add_input(&m, l->in[n]));
    m.lut = evaluate_lut(l->lut, v);
    if (!pl_isel_has_one_use(c, i->op[k])) { /* otherwise its uses become those of its user */
        for (unsigned n = 0; n < s.n; n++) c->x->regs[s.in[n]].nuses++;
        c->x->regs[i->op[k]].nuses--;
    }
    *l = m;
    return true;
}

/* A logic tree with up to three inputs is one LOP3, as in ptxas 13.0 (100 small programs for
 * sm_90a, 2026-11). In program order, each instruction absorbs the inversion of an operand, even if
 * that has other uses. Then it absorbs the producers of its second and its first operand, once. An
 * inversion absorbs nothing, nor does a LOP3 of the PTX. */
void pl_isel_merge_logic(const combiner *c, pl_insn *i)
{
    const pl_word type = pl_insn_type(i);
    logic l;
    if (pl_insn_mnem(i) == M_not || pl_forms[i->form].noperands != 3 || !logic_of(i, &l)) return;
    bool changed = false;
    pl_insn r = *i;
    for (unsigned k = 1; k <= 2; k++)
        for (uint32_t row;
             l.n == 2 && (row = inverted_operand(c, &r, k)) != UINT32_MAX && row != r.op[3 - k];
             changed = true) {
            c->x->regs[row].nuses +=
                !pl_isel_has_one_use(c, r.op[k]); /* the inversion is removed with its last use */
            c->x->regs[r.op[k]].nuses--;
            l.in[k - 1] = r.op[k] = row;
            l.lut = evaluate_lut(l.lut, (const uint8_t[3]){k == 1 ? (uint8_t)~LUT_A : LUT_A,
                                                           k == 2 ? (uint8_t)~LUT_B : LUT_B, 0});
        }
    for (unsigned k = 2; k >= 1; k--) changed |= absorb(c, &r, k, &l);
    if (!changed || !pl_insn_make(&r, type == W_b64 ? M__lop3 : M_lop3, 5, &type, 1)) return;
    for (unsigned n = 0; n < 3; n++)
        r.op[1 + n] = n < l.n ? l.in[n] : pl_ir_constant(c->x, 0, type == W_b64 ? 64 : 32);
    r.op[4] = l.lut;
    *i = r;
}

/* ---- predicates ---- */

/* setp followed by and/or/xor with another predicate: one comparison does both. If both operands
 * are comparisons with other uses, the first one is duplicated, unless it compares 64-bit integers,
 * which takes two instructions. That costs no more than the logic would, and nothing if it has no
 * other use (guards of one to four compares and each of one to three others, ptxas 13.0 for sm_90,
 * 2026-11). */
void pl_isel_merge_compare(const combiner *c, pl_insn *i)
{
    uint16_t m = pl_insn_mnem(i);
    const pl_ir *x = c->x;
    if (i->guard != PL_PT || (m != M_and && m != M_or && m != M_xor) || pl_insn_type(i) != W_pred)
        return;
    for (unsigned n = 0; n < 4; n++) {
        const unsigned k = 1 + n % 2;
        const bool duplicate = n >= 2;
        const pl_ir_reg *r = &x->preds[i->op[k]];
        if (r->ndefs != 1 || (r->nuses != 1 && !duplicate) || r->def_block == PL_IR_NONE ||
            (i->neg >> k & 1) || i->op[k] <= PL_PF || i->op[3 - k] == i->op[k])
            continue;
        const pl_insn *w = &x->blocks.at[r->def_block].code.at[r->def_index];
        const pl_form *f = &pl_forms[w->form];
        if (w->form == PL_IR_DEAD || f->mnem != M_setp || f->noperands != 4 || w->guard != PL_PT ||
            w->op[1] != UINT32_MAX || !pl_isel_is_unchanged(c, w->op[2], r) ||
            !pl_isel_is_unchanged(c, w->op[3], r) || (duplicate && pl_insn_is_integer(w, 64)))
            continue;
        pl_word words[PL_MAX_MODS];
        unsigned nwords = 0;
        for (unsigned s = 0; s < f->nslots; s++)
            if (w->mods[s]) words[nwords++] = (pl_word)w->mods[s];
        words[nwords++] = m == M_and ? W_and : m == M_or ? W_or : W_xor;
        pl_insn t = *i;
        if (!pl_insn_make(&t, M_setp, 5, words, nwords)) continue;
        t.op[1] = UINT32_MAX;
        t.op[2] = w->op[2];
        t.op[3] = w->op[3];
        t.op[4] = i->op[3 - k];
        t.neg = (uint8_t)((i->neg >> (3 - k) & 1) << 4);
        *i = t;
        return;
    }
}
