/* gvn.c - global value numbering: constant folding, copy propagation, common subexpression
 * elimination (CSE), and dead code elimination (DCE) of the remainder.
 *
 * One walk over the blocks in reverse postorder. A row with one write is a value (ir.h), so that
 * its propagation requires no data-flow analysis; variables are left unchanged. Equal computations
 * are found by hashing; the first one must dominate the second. Additions of constants are
 * combined, so that addresses in unrolled copies become base plus constant. */
#include "compiler/opt/gvn.h"

#include <string.h>

static bool is_value(const pl_ir *x, uint32_t row)
{
    return row == UINT32_MAX || x->regs[row].ndefs == 1;
}

static inline void substitute(value_table *f, uint32_t *row, unsigned rows, unsigned use)
{
    (void)rows;
    if (use & PL_USE_WRITE) return;
    const uint32_t *to = use & PL_USE_PRED ? f->pred_leader : f->leader, old = *row;
    uint32_t r = old;
    while (to[r] != PL_IR_NONE) r = to[r];
    if (r != old) {
        *row = r;
        f->edited = true;
    }
}

static bool reserve_leaders(value_table *f, uint32_t rows)
{
    pl_ir *x = f->x;
    uint32_t *to = pl_arena_array(x->tmp, uint32_t, rows);
    if (!to) return false;
    if (f->capacity) memcpy(to, f->leader, f->capacity * sizeof *to);
    memset(to + f->capacity, 0xff, (rows - f->capacity) * sizeof *to);
    f->leader = to;
    f->capacity = rows;
    return true;
}

/* The row that holds this constant, with complete register info; an arbitrary row when out of
 * memory. */
static uint32_t constant_row(value_table *f, uint64_t bits, unsigned width)
{
    pl_ir *x = f->x;
    uint32_t row = pl_ir_constant(x, bits, width), rows = x->f->rows;
    return pl_ir_extend_reg_info(x) && (rows <= f->capacity || reserve_leaders(f, 2 * rows)) ? row
                                                                                             : 0;
}

static void replace_with(value_table *f, pl_insn *i, uint32_t row)
{
    unsigned rows = f->x->regs[i->op[0]].width;
    for (unsigned k = 0; k < rows; k++) f->leader[i->op[0] + k] = row + k;
    pl_ir_remove(f->x, i);
    f->changed = f->edited = f->replaced = true;
}

/* Rewrites x - c as x + -c, also for variables, so that decrementing counters are recognised. */
static void sub_to_add(value_table *f, pl_insn *i, operation *o)
{
    uint64_t c;
    pl_word t = pl_insn_type(i);
    if (o->mnem != M_sub || pl_forms[i->form].noperands != 3 ||
        !pl_ir_constant_value(f->x, i->op[2], &c) || !pl_insn_make(i, M_add, 3, &t, 1))
        return;
    i->op[2] = constant_row(f, 0 - c, o->bits);
    o->mnem = M_add;
    f->edited = true;
}

/* x + c1 + c2: additions of constants are combined. */
static void combine_sums(value_table *f, pl_insn *i, operation o)
{
    pl_ir *x = f->x;
    uint64_t c, d;
    if (o.mnem != M_add) return;
    if (pl_ir_constant_value(x, i->op[1], &c)) {
        uint32_t t = i->op[1];
        i->op[1] = i->op[2];
        i->op[2] = t;
        f->edited = true;
    }
    if (!pl_ir_constant_value(x, i->op[2], &c) || !is_value(x, i->op[1]) ||
        x->regs[i->op[1]].def_block == PL_IR_NONE)
        return;
    const pl_insn *w = pl_ir_writer(x, i->op[1]);
    if (w->form == PL_IR_DEAD || w->op[0] != i->op[1] || pl_insn_mnem(w) != M_add) return;
    operation p = pl_gvn_operation_of(w);
    if (p.simple && p.bits == o.bits && is_value(x, w->op[1]) &&
        pl_ir_constant_value(x, w->op[2], &d)) {
        i->op[1] = w->op[1];
        i->op[2] = constant_row(f, c + d, o.bits);
        f->changed = f->edited = true;
    }
}

static int log2_exact(uint64_t v)
{
    return v && !(v & (v - 1)) ? __builtin_ctzll(v) : -1;
}

/* Rewrites a mad whose factors are constants as an addition. */
static void add_product(value_table *f, pl_insn *i, operation o, uint64_t a, uint64_t b)
{
    const uint32_t to = i->op[3];
    uint64_t product;
    unsigned width;
    o.mnem = M_mul;
    if (!pl_gvn_evaluate(i, o, (uint64_t[3]){a, b, 0}, &product, &width) ||
        !pl_insn_make(i, M_add, 3, &(pl_word){width == 64 ? W_s64 : W_s32}, 1))
        return;
    i->op[1] = to;
    i->op[2] = constant_row(f, pl_gvn_truncate(product, width), width);
    f->changed = f->edited = true;
}

/* Removes identities, and strength-reduces products with powers of two. True: the instruction was
 * removed. */
static bool simplify(value_table *f, pl_insn *i, operation o)
{
    pl_ir *x = f->x;
    uint64_t a = 1, b = 1;
    bool a_known = pl_ir_constant_value(x, i->op[1], &a),
         b_known = pl_forms[i->form].noperands > 2 && pl_ir_constant_value(x, i->op[2], &b);
    b = b_known ? pl_gvn_truncate(b, o.mnem == M_shl || o.mnem == M_shr ? 32 : o.bits) : b;
    if (a_known && b_known && o.mnem == M_mad) add_product(f, i, o, a, b);
    if (a_known && !b_known &&
        (o.mnem == M_mul || o.mnem == M_and || o.mnem == M_or || o.mnem == M_xor ||
         o.mnem == M_mad)) {
        uint32_t t = i->op[1];
        i->op[1] = i->op[2];
        i->op[2] = t;
        b_known = f->edited = true;
        b = pl_gvn_truncate(a, o.bits);
    }
    if (!b_known || pl_insn_mnem(i) != o.mnem) return false;
    bool lo = pl_insn_has(i, W_lo), is_identity = false;
    switch ((int)o.mnem) {
    case M_add:
    case M_sub:
    case M_shl:
    case M_shr:
    case M_or:
    case M_xor: is_identity = b == 0; break;
    case M_and: is_identity = b == pl_gvn_truncate(UINT64_MAX, o.bits); break;
    case M_mul: is_identity = lo && b == 1; break;
    default: break;
    }
    if (is_identity && is_value(x, i->op[1]) && is_value(x, i->op[0])) {
        replace_with(f, i, i->op[1]);
        return true;
    }
    if (o.mnem == M_mul && lo && log2_exact(b) > 0) {
        pl_word t = o.bits == 64 ? W_b64 : W_b32;
        if (pl_insn_make(i, M_shl, 3, &t, 1)) {
            i->op[2] = constant_row(f, (uint64_t)log2_exact(b), 32);
            f->edited = true;
        }
    }
    return false;
}

/* The register of operand k, or of its element p if it is a vector. */
static uint32_t row_of(const pl_ir *x, const pl_insn *i, unsigned k, unsigned p)
{
    return pl_operand_count(&pl_forms[i->form], k, i->mods)
               ? x->p->pool.at[i->extra_ops + i->op[k] + p]
               : i->op[k];
}

static bool all_values(const pl_ir *x, pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    if (pl_insn_traits(i) & PL_TRAIT_SCALARS) {
        pl_operand_plan own;
        const pl_operand_plan *t = pl_plan_of(x->p, i, &own);
        for (const pl_operand_slot *u = t->use.slot + 1; u < t->use.slot + t->use.n; u++) {
            uint32_t row = ((const uint32_t *)(const void *)i)[u->at];
            if (row != UINT32_MAX && (u->use & PL_USE_PRED ? x->preds : x->regs)[row].ndefs != 1)
                return false;
        }
        return true;
    }
    for (unsigned k = 0; k < f->noperands && k < PL_INLINE_OPERANDS; k++) {
        const pl_ospec *s = &f->operand[k];
        if (s->kind == PL_K_IMM || i->op[k] == UINT32_MAX) continue;
        if ((s->kind != PL_K_VALUE && s->kind != PL_K_VAR) || (s->read && s->written)) return false;
        const unsigned parts = (unsigned)pl_operand_count(f, k, i->mods);
        if (parts && f->mnem != M_mov) return false;
        bool pred = pl_operand_type(f, k, i->mods) == W_pred;
        for (unsigned p = 0; p < (parts ? parts : 1); p++) {
            const uint32_t row = row_of(x, i, k, p);
            if (row != UINT32_MAX && (pred ? x->preds : x->regs)[row].ndefs != 1) return false;
        }
    }
    return true;
}

/* A load of a kernel parameter at a constant offset, or of memory that is constant during the
 * launch from an address with one definition: it can be treated as a constant. */
static bool is_constant(const pl_ir *x, const pl_insn *i)
{
    if (pl_insn_mnem(i) != M_ld || i->guard != PL_PT || i->sel[PL_M_COUNT] != 1 ||
        x->regs[i->op[0]].ndefs != 1)
        return false;
    if (i->sel[PL_M_SPACE] == PL_SP_PARAM) return x->f->entry && i->op[1] == UINT32_MAX;
    return pl_insn_has(i, W_nc) && i->op[1] != UINT32_MAX && is_value(x, i->op[1]);
}

static uint32_t hash_of(const pl_ir *x, const pl_insn *i)
{
    uint32_t h = i->form * 2654435761u ^ (uint32_t)i->imm * 40503u ^ i->neg;
    const pl_form *f = &pl_forms[i->form];
    for (unsigned k = 0; k < f->noperands && k < PL_INLINE_OPERANDS; k++)
        if (!f->operand[k].written) h = (h ^ row_of(x, i, k, 0)) * 16777619u + k;
    return h ^ h >> 15;
}

static bool is_equal(const pl_ir *x, const pl_insn *a, const pl_insn *b)
{
    const pl_form *f = &pl_forms[a->form];
    if (a->form != b->form || memcmp(a->mods, b->mods, sizeof a->mods) || a->imm != b->imm ||
        a->neg != b->neg || memcmp(a->sel, b->sel, sizeof a->sel))
        return false;
    for (unsigned k = 0; k < f->noperands && k < PL_INLINE_OPERANDS; k++) {
        const int parts = pl_operand_count(f, k, a->mods);
        for (int p = 0; p < (parts ? parts : 1) && !f->operand[k].written; p++)
            if (row_of(x, a, k, (unsigned)p) != row_of(x, b, k, (unsigned)p)) return false;
    }
    return true;
}

/* True if w writes every element of a word that i writes. */
static bool has_parts(const pl_ir *x, const pl_insn *w, const pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    for (int p = 0; f->mnem == M_mov && p < pl_operand_count(f, 0, i->mods); p++)
        if (row_of(x, w, 0, (unsigned)p) == UINT32_MAX &&
            row_of(x, i, 0, (unsigned)p) != UINT32_MAX)
            return false;
    return true;
}

/* Reuses the results of an earlier equal computation. values: all of its operands and results are
 * known to be values. */
static void reuse_equal(value_table *f, uint32_t block, uint32_t at, bool values)
{
    pl_ir *x = f->x;
    pl_insn *i = &x->blocks.at[block].code.at[at];
    bool constant = is_constant(x, i);
    bool elects = pl_insn_mnem(i) == M_elect; /* selects the same lane within a block */
    /* ptxas 13.0 has expanded exact quotients and roots to branches before CSE, and computes them
     * twice (12 pairs, sm_90, 2026-11) */
    if (i->guard != PL_PT || pl_insn_is_ieee_div_sqrt(i) || !pl_forms[i->form].noperands ||
        (!constant && ((!elects && !pl_insn_pure(i)) || (!values && !all_values(x, i)))))
        return;
    const pl_form *fm = &pl_forms[i->form];
    uint32_t slot = hash_of(x, i) & f->mask;
    for (uint32_t n = f->bucket[slot]; n; n = f->values.at[n - 1].next) {
        const value *v = &f->values.at[n - 1];
        const pl_insn *w = &x->blocks.at[v->block].code.at[v->at];
        if (w->form == PL_IR_DEAD || !is_equal(x, w, i) || !has_parts(x, w, i) ||
            !pl_ir_dominates(x, v->block, block) || (elects && v->block != block))
            continue;
        for (unsigned k = 0; k < fm->noperands; k++) {
            if (!fm->operand[k].written || i->op[k] == UINT32_MAX) continue;
            const int parts = constant ? 0 : pl_operand_count(fm, k, i->mods);
            for (int p = 0; p < (parts ? parts : 1); p++) {
                const uint32_t row = row_of(x, i, k, (unsigned)p),
                               by = row_of(x, w, k, (unsigned)p);
                if (!constant && pl_operand_type(fm, k, i->mods) == W_pred)
                    f->pred_leader[row] = by;
                else
                    for (unsigned r = 0; row != UINT32_MAX && r < x->regs[row].width; r++)
                        f->leader[row + r] = by + r;
            }
        }
        pl_ir_remove(x, i);
        f->changed = f->edited = f->replaced = true;
        return;
    }
    uint32_t next = f->bucket[slot];
    *pl_push(x->tmp, &f->values) = (value){block, at, next};
    f->bucket[slot] = (uint32_t)f->values.n;
}

/* Folds a fractional cache policy whose fraction is a constant. */
static bool fold_policy(value_table *f, pl_insn *i)
{
    const pl_form *m = &pl_forms[i->form];
    uint64_t bits = 0x3f800000; /* 1.0f */
    if (m->mnem != M_createpolicy || !pl_insn_has(i, W_fractional) || i->guard != PL_PT ||
        f->x->regs[i->op[0]].ndefs != 1)
        return false;
    if (i->op[1] != UINT32_MAX && !pl_ir_constant_value(f->x, i->op[1], &bits)) return false;
    const int primary = (int)pl_mod(m, i->mods, G_primary),
              secondary = (int)pl_mod(m, i->mods, G_secondary);
    replace_with(
        f, i,
        constant_row(
            f, policy_of_fraction(primary, secondary, (float)pl_gvn_constant_of(bits, W_f32)), 64));
    return true;
}

/* Folds a known guard: makes the instruction unconditional, or removes it (returns true). */
static bool fold_guard(value_table *f, pl_insn *i)
{
    const bool negated = (i->flags & PL_IF_GUARD_NEG) != 0;
    if (i->guard > PL_PF || (i->guard == PL_PT && !negated) || (pl_insn_effects(i) & PL_EF_BRANCH))
        return false;
    f->changed = f->edited = true;
    if ((i->guard == PL_PT) == negated) {
        pl_ir_remove(f->x, i);
        return true;
    }
    i->guard = PL_PT;
    i->flags &= (uint16_t)~PL_IF_GUARD_NEG;
    return false;
}

/* Turns a select with a known condition into a copy. */
static void fold_select(value_table *f, pl_insn *i)
{
    enum { CONDITION = 3 };
    if (pl_insn_mnem(i) != M_selp || i->op[CONDITION] > PL_PF || pl_type_bits(pl_insn_type(i)) < 32)
        return;
    const pl_word type = pl_type_bits(pl_insn_type(i)) == 64 ? W_b64 : W_b32;
    const uint32_t chosen =
        (i->op[CONDITION] == PL_PT) != (i->neg >> CONDITION & 1) ? i->op[1] : i->op[2];
    if (!pl_insn_make(i, M_mov, 2, &type, 1)) return;
    i->op[1] = chosen;
    i->neg = 0;
    f->changed = f->edited = true;
}

/* Folds floating-point arithmetic and comparisons of constants, and conversions of them. */
static bool fold_float(value_table *f, pl_insn *i)
{
    pl_ir *x = f->x;
    uint64_t a, b, r;
    unsigned width;
    bool is_true;
    const pl_word t = pl_insn_type(i);
    if (pl_insn_mnem(i) == M_setp && (t == W_f32 || t == W_f64)) {
        if (pl_forms[i->form].noperands != 4 || i->guard != PL_PT || i->neg ||
            i->op[1] != UINT32_MAX || x->preds[i->op[0]].ndefs != 1 ||
            !pl_ir_constant_value(x, i->op[2], &a) || !pl_ir_constant_value(x, i->op[3], &b) ||
            !pl_gvn_compare_real(i, t, a, b, &is_true))
            return false;
        f->pred_leader[i->op[0]] = is_true ? PL_PT : PL_PF;
        pl_ir_remove(x, i);
        f->changed = f->edited = f->replaced = true;
        return true;
    }
    const uint16_t m = pl_insn_mnem(i);
    if ((m != M_add && m != M_sub && m != M_mul && m != M_cvt) ||
        pl_operand_type(&pl_forms[i->form], 0, i->mods) == W_pred ||
        !pl_gvn_evaluate_real(x, i, &r, &width) || width / 32u != x->regs[i->op[0]].width)
        return false;
    replace_with(f, i, constant_row(f, r, width));
    return true;
}

/* Propagates a copy of a value. Copies of special registers are kept: the hardware has to read
 * them. */
static bool propagate_copy(value_table *f, pl_insn *i)
{
    const pl_ir *x = f->x;
    if (!pl_gvn_is_copy(i) || !is_value(x, i->op[0]) || !is_value(x, i->op[1]) ||
        i->op[0] == i->op[1] || pl_ir_special_register(x, i->op[1]))
        return false;
    replace_with(f, i, i->op[1]);
    return true;
}

/* Folds a comparison of two constants. */
static bool fold_compare(value_table *f, pl_insn *i, operation o)
{
    pl_ir *x = f->x;
    uint64_t a, b;
    bool r;
    if (!o.simple || o.mnem != M_setp || pl_forms[i->form].noperands != 4 ||
        !is_value(x, i->op[2]) || i->op[1] != UINT32_MAX || x->preds[i->op[0]].ndefs != 1 ||
        !pl_ir_constant_value(x, i->op[2], &a) || !pl_ir_constant_value(x, i->op[3], &b) ||
        !pl_gvn_compare(i, o, a, b, &r))
        return false;
    f->pred_leader[i->op[0]] = r ? PL_PT : PL_PF;
    pl_ir_remove(x, i);
    f->changed = f->edited = f->replaced = true;
    return true;
}

/* Collects the constant operands of a computation; true if all are constant. scalars: vector
 * operands do not count. */
static bool constant_operands(const pl_ir *x, const pl_insn *i, bool scalars, uint64_t v[3])
{
    const pl_form *fm = &pl_forms[i->form];
    unsigned known = 0;
    for (unsigned k = 1; k < fm->noperands; k++)
        known += fm->operand[k].kind == PL_K_VALUE && pl_operand_type(fm, k, i->mods) != W_pred &&
                 (!scalars || !pl_operand_count(fm, k, i->mods)) &&
                 pl_ir_constant_value(x, i->op[k], &v[k - 1]);
    return known + 1u == fm->noperands;
}

/* True if the first operand is the only result, and a value. */
static bool has_one_result(const pl_ir *x, const pl_insn *i)
{
    const pl_form *fm = &pl_forms[i->form];
    return fm->operand[0].written && pl_operand_type(fm, 0, i->mods) != W_pred &&
           x->regs[i->op[0]].ndefs == 1;
}

/* Folds constants in operations other than simple integer arithmetic. */
static bool fold_rare(value_table *f, pl_insn *i)
{
    const pl_ir *x = f->x;
    const pl_form *fm = &pl_forms[i->form];
    uint64_t v[3] = {0}, r;
    unsigned width;
    if (i->guard != PL_PT || !pl_insn_pure(i) || fm->noperands < 2 || fm->noperands > 3 ||
        !has_one_result(x, i) || !constant_operands(x, i, true, v) ||
        pl_operand_count(fm, 0, i->mods) || !pl_gvn_evaluate_rare(i, v, &r, &width) ||
        width / 32u != x->regs[i->op[0]].width)
        return false;
    replace_with(f, i, constant_row(f, r, width));
    return true;
}

/* Simple integer arithmetic on values: constant folding, combination with the definitions of its
 * operands, algebraic simplification. True if it was removed. */
static bool fold_simple(value_table *f, pl_insn *i, operation o)
{
    const pl_ir *x = f->x;
    uint64_t v[3] = {0}, r;
    unsigned width;
    if (constant_operands(x, i, false, v) && pl_gvn_evaluate(i, o, v, &r, &width) &&
        width / 32u == x->regs[i->op[0]].width) {
        replace_with(f, i, constant_row(f, r, width));
        return true;
    }
    combine_sums(f, i, o);
    return simplify(f, i, o);
}

static void visit_insn(value_table *f, uint32_t block, uint32_t at)
{
    pl_ir *x = f->x;
    pl_insn *i = &x->blocks.at[block].code.at[at];
    if (i->form == PL_IR_DEAD) return;
    PL_FOR_EACH_READ(x->p, i, o) substitute(f, o.row, o.rows, o.use);
    if (fold_guard(f, i)) return;
    fold_select(f, i);
    if (propagate_copy(f, i) || fold_policy(f, i) || fold_float(f, i)) return;
    operation o = pl_gvn_operation_of(i);
    if (o.simple) sub_to_add(f, i, &o);
    if (fold_compare(f, i, o) || fold_rare(f, i)) return;
    const pl_form *fm = &pl_forms[i->form];
    bool values = false;
    if (o.simple && fm->noperands >= 2 && fm->noperands <= 4 && fm->operand[1].kind == PL_K_VALUE &&
        has_one_result(x, i) && (values = all_values(x, i)) /* and folding preserves that */ &&
        fold_simple(f, i, o))
        return;
    reuse_equal(f, block, at, values);
}

/* ---- branches on known conditions; unused results ---- */

static void fold_branches(value_table *f)
{
    pl_ir *x = f->x;
    for (uint32_t b = 0; b < x->blocks.n; b++) {
        pl_insn *i = pl_ir_branch(x, b);
        if (!i || (i->guard != PL_PT && i->guard != PL_PF)) continue;
        const bool taken = (i->guard == PL_PT) != ((i->flags & PL_IF_GUARD_NEG) != 0);
        if (taken && x->blocks.at[b].fallthrough == PL_IR_NONE) continue; /* already a jump */
        if (taken) x->blocks.at[b].fallthrough = i->target;
        pl_ir_remove(x, i);
        f->changed = true;
    }
}

bool pl_pass_gvn(pl_ir *x)
{
    for (unsigned iteration = 0; iteration < 4; iteration++) {
        value_table f = {.x = x};
        uint32_t size = 64;
        size_t insns = 0;
        for (size_t b = 0; b < x->blocks.n; b++) insns += x->blocks.at[b].code.n;
        while (size < insns) size *= 2;
        if (!pl_ir_graph(x) || !pl_ir_count(x)) return false;
        f.mask = size - 1;
        f.bucket = pl_arena_array(x->tmp, uint32_t, size);
        f.pred_leader = pl_arena_array(x->tmp, uint32_t, x->f->preds + 1);
        if (!f.bucket || !f.pred_leader || !reserve_leaders(&f, x->f->rows + x->f->rows / 8 + 16))
            return false;
        memset(f.pred_leader, 0xff, (x->f->preds + 1) * sizeof *f.pred_leader);
        for (uint32_t j = 0; j < x->nrpo; j++)
            for (uint32_t k = 0; k < x->blocks.at[x->rpo[j]].code.n; k++)
                visit_insn(&f, x->rpo[j], k);
        /* uses in blocks that precede the definition in this order, or that are unreachable */
        for (uint32_t b = 0; b < x->blocks.n && f.replaced; b++)
            for (size_t k = 0; k < x->blocks.at[b].code.n; k++)
                if (x->blocks.at[b].code.at[k].form != PL_IR_DEAD)
                    PL_FOR_EACH_READ(x->p, &x->blocks.at[b].code.at[k], o)
                        substitute(&f, o.row, o.rows, o.use);
        for (size_t k = 0; k < x->f->result.n; k++)
            if (x->f->result.at[k].reg)
                substitute(&f, &x->f->result.at[k].from, 1,
                           PL_USE_READ | (x->f->result.at[k].pred ? PL_USE_PRED : 0));
        fold_branches(&f);
        if (!f.edited && !f.changed) pl_ir_preserve_all(x);
        if (iteration && !f.changed) break; /* DCE has run already */
        if (!pl_pass_dce(x)) return false;
        if (!f.changed) break;
    }
    return pl_ir_ok(x);
}
