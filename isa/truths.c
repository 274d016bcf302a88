/* truths.c - a condition that was made a number and is compared with zero again is the condition.
 *
 * `setp p; selp s, 1, 0, p; setp.eq q, s, 0` is how inline assembly hands a condition to the compiler, so that every comparison of half precision
 * comes this way. ptxas 13.0 for sm_90 (20 sequences, 2026-11) reads p, or !p, wherever q was read, also where others want the number, and does so for
 * `eq` and `ne` of any width without a further predicate; an order of numbers, or one joined with a predicate, stays a comparison. */
#include "isa/passes.h"

typedef struct truth {
    uint32_t as;  /* the predicate that it is, PL_IR_NONE: itself */
    bool negated, kept;
} truth;

static bool compares(const pl_insn *i)
{
    return pl_insn_mnem(i) == M_setp && pl_forms[i->form].noperands == 4 && i->guard == PL_PT && i->op[1] == UINT32_MAX &&
           (pl_insn_has(i, W_eq) || pl_insn_has(i, W_ne)) && pl_type_kind(pl_insn_type(i)) != 'f';
}

/* What is compared, and whether it is then true when the condition does not hold. */
static truth truth_of(const pl_ir *x, const pl_insn *i)
{
    const truth none = {.as = PL_IR_NONE};
    uint64_t number, yes, no;
    if (x->pred_row[i->op[0]].defs != 1 || x->pred_row[i->op[0]].pinned || !pl_ir_number(x, i->op[3], &number) || i->op[2] == UINT32_MAX ||
        x->row[i->op[2]].defs != 1 || x->row[i->op[2]].pinned)
        return none;
    const pl_insn *w = pl_ir_writer(x, i->op[2]);
    if (!w || pl_insn_mnem(w) != M_selp || w->guard != PL_PT || w->op[3] <= PL_PF || x->pred_row[w->op[3]].defs != 1 ||
        !pl_ir_number(x, w->op[1], &yes) || !pl_ir_number(x, w->op[2], &no))
        return none;
    const unsigned bits = (unsigned)pl_type_bits(pl_insn_type(i));
    const uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    const bool equal = pl_insn_has(i, W_eq), t = (((yes ^ number) & mask) == 0) == equal, f = (((no ^ number) & mask) == 0) == equal;
    if (t == f || (unsigned)pl_type_bits(pl_insn_type(w)) < bits)
        return none;
    return (truth){w->op[3], t == ((w->neg >> 3 & 1) != 0), false};
}

/* The predicate that operand k reads, PL_IR_NONE. */
static uint32_t read_by(const pl_insn *i, unsigned k)
{
    const pl_form *f = &pl_forms[i->form];
    return k < PL_INLINE_OPERANDS && !f->operand[k].written && pl_operand_type(f, k, i->mods) == W_pred ? i->op[k] : PL_IR_NONE;
}

/* Counts in `seen` the places where a predicate is read and may be read negated. */
static void count_places(const pl_insn *i, uint32_t *seen)
{
    if (i->guard > PL_PF)
        seen[i->guard]++;
    for (unsigned k = 0; k < pl_forms[i->form].noperands; k++)
        if (read_by(i, k) != PL_IR_NONE && pl_forms[i->form].operand[k].negatable)
            seen[i->op[k]]++;
}

static truth followed(const truth *t, uint32_t p)
{
    truth r = {p, false, false};
    while (t[r.as].as != PL_IR_NONE && !t[r.as].kept)
        r = (truth){t[r.as].as, r.negated != t[r.as].negated, false};
    return r;
}

static void replace(const truth *t, pl_insn *i)
{
    if (i->guard > PL_PF) {
        const truth r = followed(t, i->guard);
        i->guard = r.as;
        i->flags = (uint16_t)(i->flags ^ (r.negated ? PL_IF_GUARD_NEG : 0));
    }
    for (unsigned k = 0; k < pl_forms[i->form].noperands; k++)
        if (read_by(i, k) != PL_IR_NONE && i->op[k] > PL_PF) {
            const truth r = followed(t, i->op[k]);
            i->op[k] = r.as;
            i->neg = (uint8_t)(i->neg ^ (r.negated << k));
        }
}

bool pl_pass_truths(pl_ir *x)
{
    if (!pl_ir_any(x, compares))
        return true;
    if (!pl_ir_ready(x))
        return false;
    const uint32_t n = x->f->preds;
    truth *t = pl_arena_array(x->tmp, truth, n + 1);
    uint32_t *seen = pl_arena_array(x->tmp, uint32_t, n + 1);
    if (!t || !seen)
        return false;
    bool any = false;
    for (uint32_t p = 0; p <= n; p++) {
        t[p].as = PL_IR_NONE;
        seen[p] = 0;
    }
    for (uint32_t b = 0; b < x->b.n; b++)
        for (size_t k = 0; k < x->b.at[b].code.n; k++) {
            const pl_insn *i = &x->b.at[b].code.at[k];
            count_places(i, seen);
            if (compares(i)) {
                t[i->op[0]] = truth_of(x, i);
                any |= t[i->op[0]].as != PL_IR_NONE;
            }
        }
    if (!any) {
        pl_ir_same(x);
        return true;
    }
    for (uint32_t p = 0; p < n; p++)
        t[p].kept = seen[p] != x->pred_row[p].uses;
    for (uint32_t b = 0; b < x->b.n; b++)
        for (size_t k = 0; k < x->b.at[b].code.n; k++) {
            pl_insn *i = &x->b.at[b].code.at[k];
            replace(t, i);
            if (compares(i) && t[i->op[0]].as != PL_IR_NONE && !t[i->op[0]].kept)
                pl_ir_remove(x, i);
        }
    return pl_ir_ok(x);
}
