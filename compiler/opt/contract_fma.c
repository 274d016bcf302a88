/* contract_fma.c - contraction of multiply and add, with the copy propagation and dead code
 * elimination that it requires.
 *
 * Contraction follows ptxas 13.0 (its output for small modules and 2,700 random sequences,
 * 2026-11). A product without an explicit rounding modifier is fused into a sum without one. Each
 * of its uses must be such a sum in the same basic block, and none of these sums may have a better
 * product: one without other uses. A block also ends where a machine block does: at the slow path
 * of a quotient or root, at a fence, at a predicated instruction with side effects. Sums are
 * visited in program order. Of two products a sum takes the one with fewer uses, else the first;
 * the other one becomes its addend, and is not fused into later sums. div.approx, div.full and
 * rcp.approx without .ftz end in such a product; no other instruction that ptxas expands does.
 * Contraction changes the last bit of results, so it runs at every optimisation level.
 *
 * The pass works on registers as numbered by lower.c: before allocation nearly every register has
 * one write. Where a register with several writes prevents contraction, its webs are renamed first
 * (split_webs.c), without the dead instructions that join them (dce.c). Removed instructions are
 * dropped from the list at the end. */
#include "compiler/opt/contract_fma.h"

#include <assert.h>
#include <string.h>

#include "compiler/analysis/loop_carried.h"
#include "compiler/passes.h"
#include "isa/program/operand_plan.h"

typedef struct reg_info {
    uint32_t defs, uses, def; /* number of writes, number of reads, code index of the last write */
    uint32_t width;           /* width of the last write */
    uint32_t fma_candidates, ncontracted; /* uses that could be contracted; uses that have been */
    uint32_t dead_uses;                   /* reads by instructions whose results are dead */
    bool written_by_product;              /* some write of it is a product */
    bool needed;                          /* the product itself is needed by some use */
} reg_info;

typedef struct contraction {
    pl_program *p;
    pl_prog_func *f;
    reg_info *r; /* by row */
    uint32_t *pred_uses;
    uint8_t *dead;      /* by instruction, relative to f->first */
    uint8_t *is_target; /* likewise: it is a branch target */
    bool *is_constant;  /* by row: initialised at frame entry, with a constant or an address */
    bool *loop_carried; /* by row: its only write may be in an earlier iteration than a read */
    uint32_t *region;   /* by instruction: number of its basic block, the scope of contraction */
    uint32_t at;
} contraction;

static inline void count(contraction *o, uint32_t *row, unsigned rows, unsigned use)
{
    if (use & PL_USE_PRED) {
        if (use & PL_USE_READ) o->pred_uses[*row]++;
        return;
    }
    for (unsigned k = 0; k < rows; k++) {
        reg_info *r = &o->r[*row + k];
        if (use & PL_USE_WRITE) {
            r->defs++;
            r->def = o->at;
            r->width = rows;
        }
        if (use & PL_USE_READ) r->uses++;
    }
}

static bool analyse(contraction *o, pl_arena *a)
{
    pl_prog_func *f = o->f;
    o->r = pl_arena_array(a, reg_info, f->rows + 4);
    o->pred_uses = pl_arena_array(a, uint32_t, f->preds + 1);
    if (!o->dead) {
        o->dead = pl_arena_array(a, uint8_t, f->count + 1);
        o->is_target = pl_arena_array(a, uint8_t, f->count + 1);
    }
    if (!pl_arena_ok(a)) return false;
    for (uint32_t k = 0; k < f->count; k++) {
        const pl_insn *i = &o->p->code.at[f->first + k];
        const pl_form *fm = &pl_forms[i->form];
        if ((fm->effects & PL_EF_BRANCH) && fm->noperands == 1)
            o->is_target[i->target - f->first] = 1;
        else if ((fm->effects & PL_EF_BRANCH) && fm->noperands == 2)
            for (uint32_t t = 0; t < i->nextra; t++)
                o->is_target[o->p->pool.at[i->extra_ops + t] - f->first] = 1;
    }
    for (o->at = f->first; o->at < f->first + f->count; o->at++)
        if (!o->dead[o->at - f->first])
            PL_FOR_EACH_USE(o->p, &o->p->code.at[o->at], op) count(o, op.row, op.rows, op.use);
    for (size_t k = 0; k < f->init.n;
         k++) /* initialised at frame entry: a write before all others */
        for (unsigned n = 0; n < f->init.at[k].width / 32u; n++) o->r[f->init.at[k].row + n].defs++;
    for (size_t k = 0; k < f->formal.n; k++) /* written by the caller, read by it */
        if (f->formal.at[k].reg && !f->formal.at[k].pred) o->r[f->formal.at[k].to].defs += 2;
    for (size_t k = 0; k < f->result.n; k++) {
        if (f->result.at[k].reg && !f->result.at[k].pred)
            o->r[f->result.at[k].from].uses += 2;
        else if (f->result.at[k].reg)
            o->pred_uses[f->result.at[k].from]++;
    }
    return true;
}

/* Removes the instructions marked dead and renumbers code references. */
static pl_status compact(contraction *o, pl_arena *a)
{
    pl_program *p = o->p;
    pl_prog_func *f = o->f;
    uint32_t *to = pl_arena_array(a, uint32_t, f->count + 1), n = 0;
    if (!pl_arena_ok(a)) return PL_NOMEM;
    for (uint32_t k = 0; k < f->count; k++) {
        to[k] = f->first + n;
        n += !o->dead[k];
    }
    to[f->count] = f->first + n;
    for (uint32_t k = 0; k < f->count; k++) {
        pl_insn *i = &p->code.at[f->first + k];
        const pl_form *fm = &pl_forms[i->form];
        if (o->dead[k]) continue;
        if ((fm->effects & PL_EF_BRANCH) && fm->noperands == 1)
            i->target = to[i->target - f->first];
        else if ((fm->effects & PL_EF_BRANCH) && fm->noperands == 2)
            for (uint32_t t = 0; t < i->nextra; t++)
                p->pool.at[i->extra_ops + t] = to[p->pool.at[i->extra_ops + t] - f->first];
        p->code.at[to[k]] = *i;
    }
    f->count = n;
    p->code.n = f->first + n;
    return PL_OK;
}

/* ---- contraction ---- */

/* The type of a plain mul/add/sub that can be contracted, W_none for anything else. */
static pl_word plain_type(const pl_insn *i)
{
    static const uint16_t types[] = {W_f32, W_f64, W_f16, W_f16x2, W_bf16, W_bf16x2};
    const pl_form *f = &pl_forms[i->form];
    if (f->noperands > 3 || pl_type_kind(pl_insn_type(i)) != 'f' || pl_insn_has_rounding(i))
        return W_none;
    pl_word found = W_none;
    for (unsigned t = 0; t < sizeof types / sizeof *types; t++)
        if (pl_insn_has(i, (pl_word)types[t])) {
            if (found) return W_none; /* mixed precision */
            found = (pl_word)types[t];
        }
    return found;
}

/* True if the last step of an approximate quotient or reciprocal is a multiplication. */
static bool ends_in_product(const pl_insn *i)
{
    switch (pl_forms[i->form].mnem) {
    case M_div: return pl_insn_has(i, W_approx) || pl_insn_has(i, W_full);
    case M_rcp: return pl_insn_has(i, W_approx) && !pl_insn_has(i, W_ftz);
    default: return false;
    }
}

static bool is_product(const pl_insn *i)
{
    return (pl_forms[i->form].mnem == M_mul || ends_in_product(i)) && plain_type(i) &&
           !pl_insn_has(i, W_sat) && i->guard == PL_PT;
}

static bool is_sum(const pl_insn *i)
{
    uint16_t m = pl_forms[i->form].mnem;
    return (m == M_add || m == M_sub) && pl_forms[i->form].noperands == 3 && plain_type(i);
}

typedef struct writes {
    /* Rows of the product's operands, and their width; a reciprocal's operand appears twice. */
    uint32_t a, b, rows;
    bool hit;
} writes;

static void check_write(writes *w, uint32_t *row, unsigned rows, unsigned use)
{
    if ((use & PL_USE_PRED) || !(use & PL_USE_WRITE)) return;
    w->hit |=
        w->a - *row < rows || w->b - *row < rows || *row - w->a < w->rows || *row - w->b < w->rows;
}

static bool is_value(const contraction *o, uint32_t row)
{
    return o->r[row].defs == 1 && !o->loop_carried[row];
}

/* True if the row keeps its value from `def` to each use of its product: it is a value, or all of
 * its writes precede `def`, and every use follows `def` within an iteration. */
static bool is_settled(const contraction *o, const pl_insn *def, uint32_t row)
{
    const uint32_t at = (uint32_t)(def - o->p->code.at);
    const uint32_t rows = plain_type(def) == W_f64 ? 2 : 1;
    bool precede = is_value(o, def->op[0]);
    for (uint32_t k = 0; k < rows; k++)
        precede &= o->r[row + k].defs != 0 && o->r[row + k].def < at;
    return is_value(o, row) || precede;
}

/* True if the factors still have their values at `use`: no later instruction writes them, or only
 * straight-line code that does not write them lies between. */
static bool factors_unchanged(const contraction *o, const pl_insn *def, uint32_t use)
{
    const uint32_t second = def->op[pl_forms[def->form].noperands - 1];
    if (is_settled(o, def, def->op[1]) && is_settled(o, def, second)) return true;
    uint32_t at = (uint32_t)(def - o->p->code.at);
    writes w = {def->op[1], second, plain_type(def) == W_f64 ? 2 : 1, false};
    for (uint32_t pc = at + 1; pc <= use && !w.hit; pc++) {
        pl_insn *i = &o->p->code.at[pc];
        if (o->is_target[pc - o->f->first] ||
            (pl_forms[i->form].effects & (PL_EF_BRANCH | PL_EF_CALL)))
            return false;
        if (pc < use)
            PL_FOR_EACH_USE(o->p, i, op) check_write(&w, op.row, op.rows, op.use);
    }
    return !w.hit;
}

/* True if the machine's basic block ends after the instruction. */
static bool ends_block(const pl_insn *i)
{
    const uint32_t effects = pl_forms[i->form].effects;
    const uint16_t m = pl_forms[i->form].mnem;
    if ((effects & (PL_EF_BRANCH | PL_EF_EXIT | PL_EF_CALL)) || (i->guard != PL_PT && effects))
        return true;
    return pl_insn_has_slow_path(i) ||
           (m == M_rsqrt && pl_insn_has(i, W_f64) && !pl_insn_has(i, W_ftz)) || pl_insn_is_fence(i);
}

/* Numbers the basic blocks. A label whose only predecessor is an unguarded forward jump does not
 * begin a block. */
static bool number_regions(contraction *o, pl_arena *a)
{
    const pl_prog_func *f = o->f;
    uint32_t *jumps = pl_arena_array(a, uint32_t, f->count + 1),
             *from = pl_arena_array(a, uint32_t, f->count + 1), n = 0;
    o->region = pl_arena_array(a, uint32_t, f->count + 1);
    o->is_constant = pl_arena_array(a, bool, f->rows + 4);
    if (!pl_arena_ok(a)) return false;
    for (size_t k = 0; k < f->init.n; k++)
        o->is_constant[f->init.at[k].row] =
            !f->init.at[k].sreg && o->r[f->init.at[k].row].defs == 1;
    for (uint32_t k = 0; k < f->count; k++) {
        const pl_insn *i = &o->p->code.at[f->first + k];
        const pl_form *fm = &pl_forms[i->form];
        if (!(fm->effects & PL_EF_BRANCH) || fm->noperands != 1) continue;
        jumps[i->target - f->first]++;
        from[i->target - f->first] = i->guard == PL_PT ? k : f->count;
    }
    bool falls_through = true; /* control falls through from the preceding instruction */
    for (uint32_t k = 0, current = 0; k < f->count; k++) {
        const pl_insn *i = &o->p->code.at[f->first + k];
        if (o->is_target[k] && (!jumps[k] || jumps[k] > 1 || falls_through || from[k] >= k))
            current = ++n;
        else if (o->is_target[k])
            current = o->region[from[k]];
        o->region[k] = current;
        falls_through =
            i->guard != PL_PT || !(pl_forms[i->form].effects & (PL_EF_BRANCH | PL_EF_EXIT));
        if (ends_block(i)) current = ++n;
    }
    return true;
}

/* True if the operand takes no register: it is a constant, possibly negated, or, if `bank`, a
 * parameter or another constant-bank word. */
static bool is_free_operand(const contraction *o, uint32_t row, bool bank)
{
    enum { MAX_STEPS = 8 };
    for (unsigned steps = 0; steps < MAX_STEPS; steps++) {
        const reg_info *r = &o->r[row];
        if (o->is_constant[row]) return true;
        if (r->defs != 1 || r->def < o->f->first || r->def >= o->f->first + o->f->count)
            return false;
        const pl_insn *d = &o->p->code.at[r->def];
        const uint16_t m = pl_forms[d->form].mnem;
        const unsigned space = d->sel[PL_M_SPACE];
        if (m == M_ld)
            return bank && d->guard == PL_PT &&
                   (space == PL_SP_CONST || (space == PL_SP_PARAM && o->f->entry)) &&
                   (d->op[1] == UINT32_MAX || o->is_constant[d->op[1]]);
        if ((m != M_mov && m != M_neg) || d->guard != PL_PT || pl_forms[d->form].noperands != 2 ||
            pl_operand_count(&pl_forms[d->form], 1, d->mods))
            return false;
        row = d->op[1];
    }
    return false;
}

/* Operand k of a sum: its row, seen through a negation that has no other use (`sign`, NULL: none).
 * The negated value may be a product of the sum, too. */
typedef struct addend {
    uint32_t row;
    pl_insn *sign;
} addend;

static addend addend_of(contraction *o, const pl_insn *i, unsigned k, uint32_t at)
{
    const addend plain = {i->op[k], NULL};
    const reg_info *r = &o->r[i->op[k]];
    if (!is_value(o, i->op[k]) || r->uses != 1 || r->def < o->f->first || r->def >= at)
        return plain;
    pl_insn *d = &o->p->code.at[r->def];
    const bool sign = pl_forms[d->form].mnem == M_neg && d->op[0] == i->op[k] &&
                      d->guard == PL_PT && d->op[1] != UINT32_MAX;
    return sign && pl_insn_has(d, plain_type(i)) && pl_insn_has(d, W_ftz) == pl_insn_has(i, W_ftz)
               ? (addend){d->op[1], d}
               : plain;
}

/* True if a factor of the final multiplication takes no register. The factors of quotients are
 * computed values: only the dividend of div.approx.ftz is a factor itself, and ptxas folds the
 * reciprocal of a constant. */
static bool has_free_factor(const contraction *o, const pl_insn *d)
{
    switch (pl_forms[d->form].mnem) {
    case M_mul: return is_free_operand(o, d->op[1], true) || is_free_operand(o, d->op[2], true);
    case M_div:
        return (pl_insn_has(d, W_approx) && pl_insn_has(d, W_ftz) &&
                is_free_operand(o, d->op[1], true)) ||
               is_free_operand(o, d->op[2], false);
    default: return false;
    }
}

/* The product that is this term of a sum, or NULL. A product in another block qualifies only if it
 * keeps one register live, as its factors would. */
static pl_insn *product_of(contraction *o, const pl_insn *i, uint32_t row, uint32_t at)
{
    const reg_info *r = &o->r[row];
    if (r->defs != 1 || r->def < o->f->first || r->def >= at) return NULL;
    pl_insn *d = &o->p->code.at[r->def];
    if (d->op[0] != row || !is_product(d) || plain_type(d) != plain_type(i) ||
        pl_insn_has(d, W_ftz) != pl_insn_has(i, W_ftz))
        return NULL;
    if (o->region[r->def - o->f->first] != o->region[at - o->f->first] &&
        (o->loop_carried[row] || !has_free_factor(o, d)))
        return NULL;
    return factors_unchanged(o, d, at) ? d : NULL;
}

/* Rewrites the sum as the fused form of this mnemonic, with the sum's type and modifiers and
 * .approx or .full of product d. */
static bool fuse(pl_insn *i, const pl_insn *d, const char *mnemonic)
{
    const pl_word type = plain_type(i);
    int m = pl_mnem_find(mnemonic, strlen(mnemonic));
    for (unsigned n = 0; m >= 0 && n < pl_mnems[m].count; n++) {
        const pl_form *f = &pl_forms[pl_mnems[m].first + n];
        uint16_t mods[PL_MAX_MODS] = {0};
        bool typed = false, ok = f->noperands == pl_forms[d->form].noperands + 1 && !f->unsupported;
        bool need_ftz = pl_insn_has(i, W_ftz), need_sat = pl_insn_has(i, W_sat);
        for (unsigned k = 0; k < f->nslots && ok; k++) {
            const pl_slot *s = &f->slot[k];
            for (unsigned w = 0; w < s->n; w++) {
                if (s->word[w] == type || s->word[w] == W_rn || (s->word[w] == W_ftz && need_ftz) ||
                    (s->word[w] == W_sat && need_sat) ||
                    ((s->word[w] == W_approx || s->word[w] == W_full) &&
                     pl_insn_has(d, (pl_word)s->word[w])))
                    mods[k] = s->word[w];
                typed |= s->word[w] == type && s->type;
            }
            need_ftz = need_ftz && mods[k] != W_ftz;
            need_sat = need_sat && mods[k] != W_sat;
            ok = s->optional || mods[k];
        }
        if (!ok || !typed || need_ftz || need_sat) continue;
        i->form = (uint16_t)(pl_mnems[m].first + n);
        memcpy(i->mods, mods, sizeof i->mods);
        i->plan = 0;
        i->latency_class = f->latency_class(mods);
        return true;
    }
    return false;
}

/* A function without a product, or without a sum, needs no analysis. */
static bool may_contract(const pl_program *p, const pl_prog_func *f)
{
    bool products = false, sums = false;
    for (uint32_t at = f->first; at < f->first + f->count && !(products && sums); at++) {
        const pl_insn *i = &p->code.at[at];
        products |= is_product(i);
        sums |= is_sum(i);
    }
    return products && sums;
}

static void find_products(contraction *o)
{
    for (uint32_t at = o->f->first; at < o->f->first + o->f->count; at++) {
        const pl_insn *i = &o->p->code.at[at];
        if (is_product(i)) o->r[i->op[0]].written_by_product = true;
    }
}

/* True if there is a sum of a product whose register, or the register of a factor, also holds other
 * values. */
static bool needs_renaming(contraction *o)
{
    for (uint32_t at = o->f->first; at < o->f->first + o->f->count; at++) {
        const pl_insn *i = &o->p->code.at[at];
        for (unsigned k = 1; k < 3 && is_sum(i); k++) {
            const reg_info *r = &o->r[i->op[k]];
            if (r->written_by_product &&
                (r->defs > 1 || (r->def < at && !factors_unchanged(o, &o->p->code.at[r->def], at))))
                return true;
        }
    }
    return false;
}

typedef struct result_use {
    contraction *o;
    bool read;
} result_use;

/* Counts uses by dead instructions, which ptxas has removed before contraction. */
static void find_dead_uses(contraction *o)
{
    for (uint32_t at = o->f->first + o->f->count; at-- > o->f->first;) {
        pl_insn *i = &o->p->code.at[at];
        result_use u = {o, pl_forms[i->form].effects != 0};
        if (!u.read)
            PL_FOR_EACH_WRITE(o->p, i, op) {
                u.read |= (op.use & PL_USE_PRED) && u.o->pred_uses[*op.row];
                for (unsigned k = 0; !(op.use & PL_USE_PRED) && k < op.rows; k++)
                    u.read |= u.o->r[*op.row + k].uses > u.o->r[*op.row + k].dead_uses;
            }
        if (!u.read)
            PL_FOR_EACH_READ(o->p, i, op)
                for (unsigned k = 0; !(op.use & PL_USE_PRED) && k < op.rows; k++)
                    u.o->r[*op.row + k].dead_uses++;
    }
}

/* True if a dead instruction reads a register of several writes, some of which are products. It may
 * be all that joins these writes. */
static bool is_joined_by_dead_use(const contraction *o)
{
    for (uint32_t row = 0; row < o->f->rows; row++)
        if (o->r[row].written_by_product && o->r[row].defs > 1 && o->r[row].dead_uses) return true;
    return false;
}

/* Renames each web to a register of its own: writes that reach a common read share one. */
static pl_status rename_webs(contraction *o, bool remove_dead, uint32_t *fixed, pl_arena *a,
                             pl_arena *tmp)
{
    pl_ir x;
    pl_status st = pl_ir_open(&x, o->p, o->f, *fixed, a, tmp);
    if (st != PL_OK) return st;
    if (remove_dead && !pl_pass_dce(&x)) return PL_NOMEM;
    if (!pl_pass_split_webs(&x) || !pl_ir_ok(&x)) return PL_NOMEM;
    pl_arena_reset(tmp);
    return pl_ir_close(&x, fixed);
}

/* Analyses the function, and renames its webs where that enables contraction: first all of them,
 * then those that only dead instructions had joined. */
static pl_status prepare(contraction *o, uint32_t *fixed, pl_arena *scratch, pl_arena *tmp)
{
    uint32_t limit = UINT32_MAX; /* ends the loop when nothing more is removed */
    for (bool renamed = false;; renamed = true) {
        *o = (contraction){.p = o->p, .f = o->f};
        if (!analyse(o, scratch) || !pl_carried_rows(o->p, o->f, scratch, &o->loop_carried))
            return PL_NOMEM;
        find_products(o);
        find_dead_uses(o);
        const bool remove_dead = renamed && o->f->count < limit && is_joined_by_dead_use(o);
        if (!remove_dead && (renamed || !needs_renaming(o))) return PL_OK;
        if (remove_dead) limit = o->f->count;
        pl_status st = rename_webs(o, remove_dead, fixed, scratch, tmp);
        if (st != PL_OK) return st;
    }
}

/* product + c, product - c, c - product */
static const char *const *fused_name(const pl_insn *d)
{
    static const char *const of_product[] = {"fma", "~fms", "~fnma"},
                             *const of_quotient[] = {"~divadd", "~divsub", "~divrsub"},
                             *const of_reciprocal[] = {"~rcpadd", "~rcpsub", "~rcprsub"};
    const uint16_t m = pl_forms[d->form].mnem;
    return m == M_div ? of_quotient : m == M_rcp ? of_reciprocal : of_product;
}

static uint32_t live_uses(const reg_info *r)
{
    return r->uses - r->dead_uses;
}

pl_status pl_contract_fma(pl_program *p, pl_prog_func *f, uint32_t *fixed, pl_arena *scratch,
                          pl_arena *tmp)
{
    contraction o = {.p = p, .f = f};
    if (!may_contract(p, f)) return PL_OK;
    pl_status st = prepare(&o, fixed, scratch, tmp);
    if (st != PL_OK) return st;
    if (!number_regions(&o, scratch)) return PL_NOMEM;
    const uint32_t end = f->first + f->count;
    for (uint32_t at = f->first; at < end; at++) {
        const pl_insn *i = &p->code.at[at];
        if (!is_sum(i) || !live_uses(&o.r[i->op[0]])) continue;
        const addend t[2] = {addend_of(&o, i, 1, at), addend_of(&o, i, 2, at)};
        if (t[0].row == t[1].row) /* a value with itself, or with its negative */
            continue;
        reg_info *r[2] = {&o.r[t[0].row], &o.r[t[1].row]};
        bool is[2] = {product_of(&o, i, t[0].row, at) != NULL,
                      product_of(&o, i, t[1].row, at) != NULL};
        for (unsigned k = 0; k < 2; k++) {
            r[k]->fma_candidates += is[k];
            r[k]->needed |= is[!k] && live_uses(r[!k]) == 1 && live_uses(r[k]) > 1;
        }
    }
    bool any = false;
    for (uint32_t at = f->first; at < end; at++) {
        pl_insn *i = &p->code.at[at], *d[2] = {NULL, NULL};
        if (!is_sum(i) || !live_uses(&o.r[i->op[0]])) continue;
        const addend t[2] = {addend_of(&o, i, 1, at), addend_of(&o, i, 2, at)};
        if (t[0].row == t[1].row) /* a value with itself, or with its negative */
            continue;
        reg_info *r[2] = {&o.r[t[0].row], &o.r[t[1].row]};
        for (unsigned k = 0; k < 2; k++)
            if (r[k]->fma_candidates == live_uses(r[k]) && !r[k]->needed)
                d[k] = product_of(&o, i, t[k].row, at);
        const unsigned k = d[1] && (!d[0] || live_uses(r[1]) < live_uses(r[0]));
        if (!d[k]) continue;
        const unsigned kind = pl_forms[i->form].mnem != M_sub ? 0 : 1 + k,
                       last = pl_forms[d[k]->form].noperands;
        uint32_t other = i->op[2 - k];
        if (!fuse(i, d[k], fused_name(d[k])[kind])) continue;
        if (t[k].sign) /* now negates a factor */
            t[k].sign->op[1] = d[k]->op[1];
        i->op[1] = t[k].sign ? t[k].sign->op[0] : d[k]->op[1];
        i->op[2] = d[k]->op[2];
        i->op[last] = other;
        r[!k]->needed = true;
        o.dead[(uint32_t)(d[k] - p->code.at) - f->first] = ++r[k]->ncontracted == r[k]->uses;
        if (r[k]->ncontracted == live_uses(r[k])) i->flags |= PL_IF_CONTRACTED;
        any = true;
    }
    return any ? compact(&o, scratch) : PL_OK;
}
