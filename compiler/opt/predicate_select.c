/* predicate_select.c - predication of selects: a select between a register and a value computed
 * only for it becomes a predicated computation.
 *
 * `add t, a, b; selp d, t, y, p` becomes `mov d, y; @p add d, a, b`; the copy is removed if y is
 * dead afterwards. ptxas 13.0 does so then, and keeps the SEL if y remains live or is a constant
 * (its output for sm_90, 2026-11). A load is such a computation too, if memory is not written in
 * between. Of two computations, the later one waits for the other and for the predicate.
 *
 * A counting sum, `selp s, 1, 0, p; add d, n, s`, becomes `add d, n, 1; @!p mov d, n`, also for
 * other constants. */
#include "compiler/passes.h"
#include "isa/program/operand_plan.h"

/* True if it is a single machine instruction. */
static bool is_predicable(const pl_insn *w)
{
    static const uint16_t mnem[] = {
        M_add,  M_sub,    M_mul,    M_mad,    M_fma,    M_min,   M_max,      M_shl,     M_shr,
        M_shf,  M_and,    M_or,     M_xor,    M_not,    M_lop3,  M_prmt,     M__fms,    M__fnma,
        M__lea, M__leahi, M__iadd3, M__iadd2, M__isub2, M__msub, M__minmax3, M__addmax, M__submax,
        M_neg,  M_abs,    M_popc,   M_sad,    M_ex2,    M_cvt};
    if (w->form == PL_IR_DEAD || w->guard != PL_PT || !pl_insn_pure(w) || pl_insn_has(w, W_cc) ||
        pl_type_bits(pl_insn_type(w)) != 32 || w->latency_class == C_free)
        return false;
    if ((pl_insn_mnem(w) == M_neg || pl_insn_mnem(w) == M_abs) &&
        pl_type_kind(pl_insn_type(w)) == 'f') /* SEL has it as a modifier */
        return false;
    const bool to_float =
        w->latency_class == C_cvt_f2i && pl_type_kind(pl_insn_type(w)) == 'f'; /* I2F */
    if (pl_insn_mnem(w) == M_cvt && w->latency_class != C_cvt_int &&
        w->latency_class != C_cvt_i2f && w->latency_class != C_cvt_rnd && !to_float)
        return false;
    for (size_t k = 0; k < sizeof mnem / sizeof *mnem; k++)
        if (pl_insn_mnem(w) == mnem[k]) return true;
    return false;
}

typedef struct access_count {
    /* Counts reads and writes of row, and renames the reads to `to` unless that is PL_IR_NONE. */
    uint32_t row, to;
    uint32_t reads, writes;
} access_count;

static void count_access(access_count *c, uint32_t *row, unsigned rows, unsigned use)
{
    if ((use & PL_USE_PRED) || c->row - *row >= rows) return;
    c->writes += (use & PL_USE_WRITE) != 0;
    if (use & PL_USE_READ) {
        c->reads++;
        if (c->to != PL_IR_NONE) *row = c->to;
    }
}

/* Counts reads and writes of the row by instructions `from` to `to` - 1 of a block. */
static access_count count_accesses(pl_ir *x, uint32_t block, size_t from, size_t to, uint32_t row)
{
    access_count c = {row, PL_IR_NONE, 0, 0};
    for (size_t k = from; k < to; k++)
        if (x->blocks.at[block].code.at[k].form != PL_IR_DEAD)
            PL_FOR_EACH_USE(x->p, &x->blocks.at[block].code.at[k], o)
                count_access(&c, o.row, o.rows, o.use);
    return c;
}

static bool is_single_row(const pl_ir *x, uint32_t row)
{
    return row != UINT32_MAX && x->regs[row].kind == PL_REG_VIRTUAL && x->regs[row].width == 1 &&
           !x->regs[row].precolored;
}

/* True for a load of at most one word that may move past any instruction that neither writes nor
 * orders memory. */
static bool is_load(const pl_insn *w)
{
    return w->form != PL_IR_DEAD && pl_insn_mnem(w) == M_ld && w->guard == PL_PT &&
           (w->flags & PL_IF_MEM) && w->latency_class == C_ld && w->sel[PL_M_COUNT] == 1 &&
           w->sel[PL_M_LOG2] <= 2 && !(w->sel[PL_M_FLAGS] & (PL_MF_POLL | PL_MF_WIDE)) &&
           (w->sel[PL_M_SPACE] == PL_SP_GLOBAL || w->sel[PL_M_SPACE] == PL_SP_SHARED);
}

static bool writes_between(const pl_ir *x, uint32_t block, size_t from, size_t to)
{
    bool any = false;
    for (size_t k = from; k < to && !any; k++) {
        const pl_insn *i = &x->blocks.at[block].code.at[k];
        any = i->form != PL_IR_DEAD && (pl_insn_effects(i) & ~(uint32_t)PL_EF_LOAD);
    }
    return any;
}

/* The instruction that computes the row only for the instruction at `at`, if it may move there;
 * else NULL. */
static pl_insn *single_use_def(pl_ir *x, uint32_t block, size_t at, uint32_t row)
{
    const pl_ir_reg *r = &x->regs[row];
    if (!is_single_row(x, row) || r->ndefs != 1 || r->nuses != 1 || r->def_block != block ||
        r->def_index >= at)
        return NULL;
    pl_insn *w = &x->blocks.at[block].code.at[r->def_index];
    const bool load = is_load(w);
    if ((!load && !is_predicable(w)) || w->op[0] != row ||
        (load && writes_between(x, block, r->def_index + 1, at)))
        return NULL;
    const pl_form *f = &pl_forms[w->form];
    for (unsigned k = 1; k < f->noperands; k++)
        if ((f->operand[k].kind == PL_K_VALUE || f->operand[k].kind == PL_K_ADDR) &&
            w->op[k] != UINT32_MAX &&
            ((f->operand[k].kind == PL_K_VALUE && pl_operand_type(f, k, w->mods) == W_pred) ||
             count_accesses(x, block, r->def_index + 1, at, w->op[k]).writes))
            return NULL;
    return w;
}

/* The uses of a register: the only block with uses, and the position of the last one there. */
typedef struct use_info {
    uint32_t block, last;
    bool several;
} use_info;

typedef struct use_scan {
    use_info *by_row;
    uint32_t rows, block, at;
} use_scan;

static void note_read(use_scan *n, uint32_t *row, unsigned rows, unsigned use)
{
    for (unsigned k = 0; k < rows && !(use & PL_USE_PRED) && *row + k < n->rows; k++) {
        use_info *r = &n->by_row[*row + k];
        r->several |= r->block != PL_IR_NONE && r->block != n->block;
        r->last = r->block != n->block || n->at > r->last ? n->at : r->last;
        r->block = n->block;
    }
}

/* True for a value that is dead after position `at`. */
static bool has_single_use(const pl_ir *x, const use_scan *n, uint32_t block, size_t at,
                           uint32_t row)
{
    const pl_ir_reg *r = &x->regs[row];
    const use_info *k = &n->by_row[row];
    return is_single_row(x, row) && r->ndefs == 1 && r->def_block != PL_IR_NONE &&
           x->blocks.at[r->def_block].loop == x->blocks.at[block].loop &&
           (r->def_block != block || r->def_index < at) && !k->several && k->block == block &&
           k->last <= at;
}

/* True if the first operand is loaded, and the second one is loaded after it or not loaded. */
static bool has_later_load(pl_ir *x, uint32_t block, size_t at, uint32_t a, uint32_t b)
{
    const pl_insn *first = single_use_def(x, block, at, a),
                  *second = single_use_def(x, block, at, b);
    return first && second && is_load(first) && (!is_load(second) || second > first);
}

/* True for a sign or absolute value that the select folds as a modifier: a copy of it would not be
 * free. */
static bool has_free_sign(const pl_ir *x, uint32_t row)
{
    const pl_insn *w = x->regs[row].ndefs == 1 ? pl_ir_writer(x, row) : NULL;
    return w && w->latency_class == C_free &&
           (pl_insn_mnem(w) == M_neg || pl_insn_mnem(w) == M_abs);
}

/* Predicates the computation of an operand of the select at `at`. Returns true if the code has
 * changed. */
static bool predicate_select(pl_ir *x, use_scan *n, uint32_t block, size_t at)
{
    pl_insn *i = &x->blocks.at[block].code.at[at];
    if (pl_insn_mnem(i) != M_selp || i->guard != PL_PT || i->op[3] <= PL_PF ||
        pl_type_bits(pl_insn_type(i)) != 32 || !is_single_row(x, i->op[0]))
        return false;
    const bool reversed = has_later_load(x, block, at, i->op[1], i->op[2]);
    for (unsigned n1 = 0; n1 < 2; n1++) {
        const unsigned k = reversed ? 2 - n1 : 1 + n1;
        uint32_t other = i->op[3 - k];
        pl_insn *w = single_use_def(x, block, at, i->op[k]);
        if (!w || other == UINT32_MAX || has_free_sign(x, other) ||
            (other != i->op[0] && !has_single_use(x, n, block, at, other)))
            continue;
        pl_insn r = *w, copy = *i, copy_back = *i;
        access_count old = {i->op[0], PL_IR_NONE, 0, 0};
        PL_FOR_EACH_USE(x->p, &r, o) count_access(&old, o.row, o.rows, o.use);
        /* it may read the value that the result replaces */
        uint32_t to = other != i->op[0] && old.reads ? pl_ir_new(x, 1) : i->op[0];
        access_count c = {other, to, 0, 0};
        r.guard = i->op[3];
        r.flags = (uint16_t)(r.flags | (((i->neg >> 3 & 1) != (k == 2)) ? PL_IF_GUARD_NEG : 0));
        r.line = i->line;
        n->block = block;
        n->at = (uint32_t)at;
        PL_FOR_EACH_READ(x->p, &r, op) note_read(n, op.row, op.rows, op.use); /* it moves here */
        PL_FOR_EACH_USE(x->p, &r, o) count_access(&c, o.row, o.rows, o.use);
        r.op[0] = to;
        pl_ir_remove(x, w);
        *i = r;
        static const pl_word b32 = W_b32;
        if (other == copy.op[0] || !pl_insn_make(&copy, M_mov, 2, &b32, 1) ||
            !pl_insn_make(&copy_back, M_mov, 2, &b32, 1))
            return true;
        copy.op[0] = copy_back.op[1] = to;
        copy.op[1] = other;
        pl_insn *m = pl_ir_insert(x, block, at);
        if (m) *m = copy;
        m = to == copy_back.op[0] ? NULL : pl_ir_insert(x, block, at + 2);
        if (m) *m = copy_back;
        return true;
    }
    return false;
}

bool pl_select_counts_pred(const pl_ir *x, const pl_insn *s)
{
    uint64_t v;
    return s && pl_insn_mnem(s) == M_selp && s->guard == PL_PT &&
           pl_type_bits(pl_insn_type(s)) == 32 && pl_type_kind(pl_insn_type(s)) != 'f' &&
           s->op[3] > PL_PF && x->regs[s->op[0]].nuses == 1 && x->regs[s->op[0]].ndefs == 1 &&
           pl_ir_constant_value(x, s->op[1], &v) && pl_ir_constant_value(x, s->op[2], &v);
}

/* Turns a counting sum into a sum and a predicated instruction. Returns true if the code has
 * changed. */
static bool predicate_sum(pl_ir *x, use_scan *n, uint32_t block, size_t at)
{
    pl_insn *i = &x->blocks.at[block].code.at[at];
    if (pl_insn_mnem(i) != M_add || !pl_insn_is_integer(i, 32) ||
        pl_forms[i->form].noperands != 3 || i->guard != PL_PT || !is_single_row(x, i->op[0]))
        return false;
    for (unsigned k = 1; k <= 2; k++) {
        const uint32_t other = i->op[3 - k];
        const pl_ir_reg *r = i->op[k] < x->nregs_described ? &x->regs[i->op[k]] : NULL;
        if (!r || r->def_block != block || r->def_index >= at || !is_single_row(x, i->op[k]) ||
            other == UINT32_MAX || other == i->op[0] || !is_single_row(x, other))
            continue;
        pl_insn *s = &x->blocks.at[block].code.at[r->def_index];
        if (!pl_select_counts_pred(x, s) || x->preds[s->op[3]].ndefs != 1) continue;
        pl_insn sum = *i, copy_back = *i;
        const bool negated = s->neg >> 3 & 1;
        uint64_t else_value = 0;
        pl_ir_constant_value(x, s->op[2], &else_value);
        static const pl_word b32 = W_b32;
        if (!else_value && !pl_insn_make(&copy_back, M_mov, 2, &b32, 1)) return false;
        sum.op[1] = copy_back.op[1] = other;
        sum.op[2] = s->op[1];
        copy_back.op[2] = else_value ? s->op[2] : UINT32_MAX;
        copy_back.guard = s->op[3];
        copy_back.flags = (uint16_t)(copy_back.flags | (negated ? 0 : PL_IF_GUARD_NEG));
        n->block = block;
        n->at = (uint32_t)at;
        PL_FOR_EACH_READ(x->p, &copy_back, o) note_read(n, o.row, o.rows, o.use);
        pl_ir_remove(x, s);
        *i = sum;
        pl_insn *m = pl_ir_insert(x, block, at + 1);
        if (m) *m = copy_back;
        return true;
    }
    return false;
}

bool pl_pass_predicate_selects(pl_ir *x)
{
    if (!pl_ir_analyze(x)) return false;
    use_scan n = {.by_row = pl_arena_array(x->tmp, use_info, x->f->rows + 1), .rows = x->f->rows};
    if (!n.by_row) return false;
    for (uint32_t r = 0; r < n.rows; r++) n.by_row[r].block = PL_IR_NONE;
    for (n.block = 0; n.block < x->blocks.n; n.block++)
        for (n.at = 0; n.at < x->blocks.at[n.block].code.n; n.at++)
            PL_FOR_EACH_READ(x->p, &x->blocks.at[n.block].code.at[n.at], o)
                note_read(&n, o.row, o.rows, o.use);
    bool any = false;
    for (uint32_t b = 0; b < x->blocks.n; b++)
        if (x->blocks.at[b].rpo_index != PL_IR_NONE)
            for (size_t at = x->blocks.at[b].code.n;
                 at-- > 0 && pl_ir_ok(x);) /* backwards, so that earlier positions remain valid */
                any |= predicate_select(x, &n, b, at) || predicate_sum(x, &n, b, at);
    if (!any) pl_ir_preserve_all(x);
    pl_ir_sweep(x);
    return pl_ir_ok(x);
}
