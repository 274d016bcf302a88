/* bool_roundtrip.c - removes round trips of a predicate through a register.
 *
 * `setp p; selp s, 1, 0, p; setp.eq q, s, 0` is how inline assembly passes a condition to the
 * compiler; every half-precision comparison has this form. ptxas 13.0 for sm_90 (20 sequences,
 * 2026-11) reads p, or !p, wherever q was read, even if the integer has other uses. It does so for
 * `eq` and `ne` of any width, and for one bit of the integer, if no further predicate is combined.
 * Ordered comparisons (`lt`, `ge`) with a constant are kept.
 *
 * `not.pred q, p` and `mov.pred q, p` take no instruction either. Nor does combining p with a
 * predicate that is always true or false, which is how a compiler writes `if (x & 1)`. */
#include "compiler/passes.h"

typedef struct predicate_alias {
    uint32_t pred; /* the predicate that it equals, PL_IR_NONE: none */
    bool negated, needed;
} predicate_alias;

static bool is_comparison(const pl_insn *i)
{
    return pl_insn_mnem(i) == M_setp && pl_forms[i->form].noperands == 4 &&
           i->op[1] == UINT32_MAX && (pl_insn_has(i, W_eq) || pl_insn_has(i, W_ne)) &&
           pl_type_kind(pl_insn_type(i)) != 'f';
}

/* True if it may recompute an existing condition. */
static bool recomputes_pred(const pl_insn *i)
{
    const uint16_t m = pl_insn_mnem(i);
    const bool is_logic = m == M_not || m == M_mov || m == M_and || m == M_or || m == M_xor;
    return i->form != PL_IR_DEAD && i->guard == PL_PT &&
           ((is_logic && pl_insn_type(i) == W_pred) || is_comparison(i));
}

/* The only instruction that writes a predicate; NULL: there are several, or the predicate belongs
 * to the function's interface. */
static const pl_insn *pred_def(const pl_ir *x, uint32_t p)
{
    const pl_ir_reg *r = &x->preds[p];
    return p > PL_PF && r->ndefs == 1 && !r->precolored && r->def_block != PL_IR_NONE
               ? &x->blocks.at[r->def_block].code.at[r->def_index]
               : NULL;
}

/* The constant value of operand k of predicate logic: 0, 1; -1: unknown. */
static int constant_operand(const pl_ir *x, const pl_insn *i, unsigned k)
{
    const bool negated = i->neg >> k & 1;
    if (i->op[k] <= PL_PF) return (i->op[k] == PL_PT) != negated;
    const pl_insn *w = pred_def(x, i->op[k]);
    if (!w || pl_insn_mnem(w) != M_mov || w->guard != PL_PT || w->op[1] > PL_PF) return -1;
    return ((w->op[1] == PL_PT) != (w->neg >> 1 & 1)) != negated;
}

/* not, mov; and, or, xor of a predicate and a known value. */
static predicate_alias alias_of_logic(const pl_ir *x, const pl_insn *i)
{
    const uint16_t m = pl_insn_mnem(i);
    const predicate_alias none = {.pred = PL_IR_NONE};
    unsigned of = 1;
    bool negates = m == M_not;
    if (m != M_not && m != M_mov) {
        const int a = constant_operand(x, i, 1), b = constant_operand(x, i, 2),
                  known = a < 0 ? b : a;
        if ((a < 0) == (b < 0) || (m == M_and && !known) || (m == M_or && known)) return none;
        of = a < 0 ? 1 : 2;
        negates = m == M_xor && known;
    }
    return i->op[of] > PL_PF ? (predicate_alias){i->op[of], negates != (i->neg >> of & 1), false}
                             : none;
}

/* A comparison with a constant of an integer, or of some bits of it, that is one of two constants
 * selected by a predicate. */
static predicate_alias alias_of_constant(const pl_ir *x, const pl_insn *i)
{
    const predicate_alias none = {.pred = PL_IR_NONE};
    uint64_t number, if_true, if_false, bits = UINT64_MAX;
    if (!pl_ir_constant_value(x, i->op[3], &number) || i->op[2] == UINT32_MAX ||
        x->regs[i->op[2]].ndefs != 1 || x->regs[i->op[2]].precolored)
        return none;
    const pl_insn *w = pl_ir_writer(x, i->op[2]);
    if (w && pl_insn_mnem(w) == M_and && w->guard == PL_PT &&
        pl_ir_constant_value(x, w->op[2], &bits) && x->regs[w->op[1]].ndefs == 1 &&
        !x->regs[w->op[1]].precolored)
        w = pl_ir_writer(x, w->op[1]);
    if (!w || pl_insn_mnem(w) != M_selp || w->guard != PL_PT || w->op[3] <= PL_PF ||
        !pl_ir_constant_value(x, w->op[1], &if_true) ||
        !pl_ir_constant_value(x, w->op[2], &if_false))
        return none;
    const unsigned width = (unsigned)pl_type_bits(pl_insn_type(i));
    const uint64_t mask = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
    const bool equal = pl_insn_has(i, W_eq),
               t = ((((if_true & bits) ^ number) & mask) == 0) == equal,
               f = ((((if_false & bits) ^ number) & mask) == 0) == equal;
    if (t == f || (unsigned)pl_type_bits(pl_insn_type(w)) < width) return none;
    return (predicate_alias){w->op[3], t == ((w->neg >> 3 & 1) != 0), false};
}

/* The predicate that this one equals, and whether it is negated. */
static predicate_alias alias_of(const pl_ir *x, const pl_insn *i)
{
    const predicate_alias none = {.pred = PL_IR_NONE};
    if (!pred_def(x, i->op[0])) return none;
    const predicate_alias t = is_comparison(i) ? alias_of_constant(x, i) : alias_of_logic(x, i);
    return t.pred != PL_IR_NONE && pred_def(x, t.pred) ? t : none;
}

/* The predicate that operand k reads, PL_IR_NONE. */
static uint32_t pred_operand(const pl_insn *i, unsigned k)
{
    const pl_form *f = &pl_forms[i->form];
    return k < PL_INLINE_OPERANDS && !f->operand[k].written &&
                   pl_operand_type(f, k, i->mods) == W_pred
               ? i->op[k]
               : PL_IR_NONE;
}

/* True if the predicate's only write dominates this position. */
static bool written_before(const pl_ir *x, uint32_t p, uint32_t block, size_t at)
{
    const pl_ir_reg *r = &x->preds[p];
    return r->def_block == block
               ? r->def_index < at
               : r->def_block != PL_IR_NONE && pl_ir_dominates(x, r->def_block, block);
}

/* Counts in `seen` the reads of a predicate that could read it negated. */
static void count_negatable_reads(const pl_ir *x, uint32_t block, size_t at, uint32_t *seen)
{
    const pl_insn *i = &x->blocks.at[block].code.at[at];
    if (i->guard > PL_PF) seen[i->guard] += written_before(x, i->guard, block, at);
    for (unsigned k = 0; k < pl_forms[i->form].noperands; k++)
        if (pred_operand(i, k) != PL_IR_NONE && pl_forms[i->form].operand[k].negatable)
            seen[i->op[k]] += written_before(x, i->op[k], block, at);
}

static predicate_alias resolve_alias(const predicate_alias *t, uint32_t p)
{
    predicate_alias r = {p, false, false};
    while (t[r.pred].pred != PL_IR_NONE && !t[r.pred].needed)
        r = (predicate_alias){t[r.pred].pred, r.negated != t[r.pred].negated, false};
    return r;
}

static void replace(const predicate_alias *t, pl_insn *i)
{
    if (i->guard > PL_PF) {
        const predicate_alias r = resolve_alias(t, i->guard);
        i->guard = r.pred;
        i->flags = (uint16_t)(i->flags ^ (r.negated ? PL_IF_GUARD_NEG : 0));
    }
    for (unsigned k = 0; k < pl_forms[i->form].noperands; k++)
        if (pred_operand(i, k) != PL_IR_NONE && i->op[k] > PL_PF) {
            const predicate_alias r = resolve_alias(t, i->op[k]);
            i->op[k] = r.pred;
            i->neg = (uint8_t)(i->neg ^ (r.negated << k));
        }
}

bool pl_pass_opt_bool_roundtrip(pl_ir *x)
{
    if (!pl_ir_any(x, recomputes_pred)) return true;
    if (!pl_ir_analyze(x)) return false;
    const uint32_t n = x->f->preds;
    predicate_alias *t = pl_arena_array(x->tmp, predicate_alias, n + 1);
    uint32_t *seen = pl_arena_array(x->tmp, uint32_t, n + 1);
    if (!t || !seen) return false;
    bool any = false;
    for (uint32_t p = 0; p <= n; p++) {
        t[p].pred = PL_IR_NONE;
        seen[p] = 0;
    }
    for (uint32_t b = 0; b < x->blocks.n; b++)
        for (size_t k = 0; k < x->blocks.at[b].code.n; k++) {
            const pl_insn *i = &x->blocks.at[b].code.at[k];
            count_negatable_reads(x, b, k, seen);
            if (recomputes_pred(i)) {
                t[i->op[0]] = alias_of(x, i);
                if (t[i->op[0]].pred != PL_IR_NONE && !written_before(x, t[i->op[0]].pred, b, k))
                    t[i->op[0]].pred = PL_IR_NONE;
                any |= t[i->op[0]].pred != PL_IR_NONE;
            }
        }
    if (!any) {
        pl_ir_preserve_all(x);
        return true;
    }
    for (uint32_t p = 0; p < n; p++) t[p].needed = seen[p] != x->preds[p].nuses;
    for (uint32_t b = 0; b < x->blocks.n; b++)
        for (size_t k = 0; k < x->blocks.at[b].code.n; k++) {
            pl_insn *i = &x->blocks.at[b].code.at[k];
            replace(t, i);
            if (recomputes_pred(i) && t[i->op[0]].pred != PL_IR_NONE && !t[i->op[0]].needed)
                pl_ir_remove(x, i);
        }
    return pl_ir_ok(x);
}
