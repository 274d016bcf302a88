/* loop_unroll.c - counted loops are unrolled, inner ones first: where the number of iterations is
 * known wholly or by a part of them, else four times.
 *
 * ptxas 13.0 does so (its output for sm_90, 2026-11): a loop `do { body; v += c; } while (v < n)`
 * whose body is short becomes
 *
 *     if (four iterations are due) do { body x 4; v += 4 c; } while (four more are due);
 *     if (two are due) { body x 2; v += 2 c; } if (another iteration is due) { body; v += c; }
 *
 * "Four iterations are due" is n - v > 3 c in the preheader of the loop, v < n - 3 c in it. The
 * first iteration is due whatever v is: of constants with a sign a flag says at the last test that
 * none has run; of those without, where n - v means nothing if v is beyond n, a copy of the body
 * before it is that iteration then. ptxas takes it that neither a counter passes the end of its
 * range nor the distance from it to n, if they have signs; here a compare more, v < n, says whether
 * the distance means anything, unless v begins with 0, and the last iteration is a loop if v may
 * come back from the other end. For `!=`, the distance is without a sign; where v is beyond n, the
 * original loop runs instead, as it does for the last iteration. Of a known number of iterations
 * those that do not fill the unrolled loop go before it. Copies of the body write registers of
 * their own where the original wrote a value that it also reads; a counter becomes counter plus
 * number, which later passes fold into addresses.
 *
 * A body of several blocks is copied block by block. What only some iterations write keeps its name
 * where an iteration that has not written it may read it. One that has another way out than its
 * end, or that goes on only while something else holds as well, is written out wholly or left. */
#include <string.h>

#include "compiler/passes.h"
#include "compiler/tuning.h"
#include "isa/program/operand_plan.h"
#include "compiler/analysis/divergence.h"

/* What ptxas unrolls, read off its code for some 5,000 loops made for it, whose bodies differ in
 * one instruction each (2026-11). A body has a cost: about one for each PTX instruction, with one
 * more for an address with a distance, as none are joined yet, and less or more where ptxas has put
 * several of the machine's, or none, in its place by then: halves of 64-bit values, extensions of
 * 16-bit ones, signs.
 *
 * Where the number of iterations is not known, the cost must be no more than loop_unroll.max_cost
 * and loop_unroll.max_cost_per_shared_load for each load from shared memory, or
 * loop_unroll.max_cost_loading if the body loads from elsewhere. Where it is known, what is the
 * same number or event in each run of an iteration, once it is written out, is saved: the counter
 * and the compare, other variables that start with constants and become what is computed of them,
 * all that is computed of such and of constants alone, constants, barriers. Then all iterations are
 * written out if `is_fully_unrolled` says so; else the body may cost loop_unroll.max_cost_partial,
 * with what is saved, and loop_unroll.max_copies_cost by cost is how many copies there may be. */

/* Copies of a body whose trip count is not known; bound on known ones. */
enum { FACTOR = 4, MAX_TRIP_COUNT = 4096 };

typedef struct counted_loop {
    uint32_t block, exit; /* where an iteration begins, where the loop ends */
    uint32_t latch; /* where an iteration ends, with the compare and the branch: the same block, or
                       another */
    uint32_t *member, members; /* its blocks in reverse postorder, from `block` on */
    uint32_t test;             /* position of the compare */
    uint32_t counter, bound;   /* rows */
    uint32_t counter_copy;     /* position in `latch` of v = w, where the counter v becomes w = v +
                          number so;     PL_IR_NONE */
    uint32_t next_counter;     /* w, PL_IR_NONE */
    uint32_t start;            /* the row of the number that the counter begins with, PL_IR_NONE */
    uint64_t step;             /* added each iteration, as wide as the counter */
    unsigned bits;
    bool is_signed;
    pl_word cmp;                           /* lt le gt ge ne, counter on the left */
    uint32_t n;                            /* instructions of the body */
    uint32_t cost;                         /* what they come to */
    uint32_t savings;                      /* as much of it would be known if the counter were */
    uint32_t shared_loads;                 /* loads from shared memory */
    bool has_global_loads;                 /* it loads from elsewhere */
    bool convergent;                       /* the lanes of a warp or block do something together */
    uint32_t joined_test, other_condition; /* position in `latch` where the compare is joined with
                            what else must hold, and that; PL_IR_NONE */
    bool has_other_exits;                  /* there are other ways out */
    bool branches, divergent,
        has_barrier; /* there is a branch; that some lanes may take; a barrier */
} counted_loop;

/* Is its end not the only way out of the loop? */
static bool has_several_exits(const counted_loop *c)
{
    return c->has_other_exits || c->other_condition != PL_IR_NONE;
}

typedef struct unroll_copy {
    pl_ir *x;
    uint32_t *row_to, *pred_to; /* names in the copy being made */
    uint32_t *block_to;         /* blocks of the copy being made */
    uint32_t from;              /* block that is being copied */
    uint8_t *steps;             /* by row: counter or another row that only grows by a constant */
    uint8_t *keep,
        *keep_pred; /* what may be read in an iteration that has not written it keeps its name */
    const counted_loop *c;
    bool is_last_copy; /* copy that writes the original names */
    bool guarded;
    uint32_t at;
} unroll_copy;

static uint64_t truncate(uint64_t v, unsigned bits)
{
    return bits == 32 ? (uint32_t)v : v;
}

static int64_t sign_extend(uint64_t v, unsigned bits)
{
    return bits == 32 ? (int64_t)(int32_t)(uint32_t)v : (int64_t)v;
}

typedef struct writes {
    uint32_t row;
    unsigned n;
} writes;

static void count_writes(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    writes *w = ctx;
    if (!(use & PL_USE_PRED) && w->row - *row < rows) w->n++;
}

static unsigned writes_in(pl_ir *x, const counted_loop *c, uint32_t row)
{
    writes w = {row, 0};
    for (uint32_t m = 0; m < c->members; m++)
        for (size_t k = 0; k < x->blocks.at[c->member[m]].code.n; k++)
            pl_insn_writes_here(x->p, &x->blocks.at[c->member[m]].code.at[k], count_writes, &w);
    return w.n;
}

/* w = v + number, unguarded */
static bool adds_number(const pl_ir *x, const pl_insn *i, uint64_t *step)
{
    pl_word t = pl_insn_type(i);
    return pl_insn_mnem(i) == M_add && i->guard == PL_PT && pl_forms[i->form].noperands == 3 &&
           pl_type_kind(t) != 'f' && pl_type_bits(t) >= 32 && t != W_u16x2 && t != W_s16x2 &&
           pl_insn_pure(i) && !pl_insn_has(i, W_sat) && pl_ir_constant_value(x, i->op[2], step);
}

/* v = v + number */
static bool is_increment(const pl_ir *x, const pl_insn *i, uint64_t *step)
{
    return i->op[0] == i->op[1] && adds_number(x, i, step);
}

static pl_word mirrored(pl_word cmp)
{
    switch ((int)cmp) {
    case W_lt: return W_gt;
    case W_le: return W_ge;
    case W_gt: return W_lt;
    case W_ge: return W_le;
    default: return cmp;
    }
}

/* What holds while the loop goes on; `other`: while the comparison does not. */
static pl_word comparison(const pl_insn *i, bool other)
{
    static const uint16_t words[][3] = {
        {W_lt, W_lt, W_ge},   {W_le, W_le, W_gt},   {W_gt, W_gt, W_le}, {W_ge, W_ge, W_lt},
        {W_ne, W_ne, W_none}, {W_eq, W_none, W_ne}, {W_lo, W_lt, W_ge}, {W_ls, W_le, W_gt},
        {W_hi, W_gt, W_le},   {W_hs, W_ge, W_lt}};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (pl_insn_has(i, (pl_word)words[k][0])) return (pl_word)words[k][1 + other];
    return W_none;
}

/* Does the row grow by this instruction alone, in each iteration? */
static bool is_only_increment(pl_ir *x, const counted_loop *c, uint32_t block, const pl_insn *i,
                              uint64_t *step)
{
    return is_increment(x, i, step) && pl_ir_dominates(x, block, c->latch) &&
           writes_in(x, c, i->op[0]) == 1;
}

/* What a body may not hold: what leaves it, and what ptxas does not copy: what is done by a
 * subroutine, for one. */
static bool copyable(const pl_insn *i)
{
    uint32_t e = pl_insn_effects(i);
    if (i->latency_class == C_cp_async || i->latency_class == C_cp_commit ||
        i->latency_class == C_cp_wait)
        return !(i->flags & PL_IF_NOUNROLL);
    if ((e & (PL_EF_EXIT | PL_EF_CALL | PL_EF_ASYNC | PL_EF_FENCE)) ||
        ((e & PL_EF_BRANCH) && pl_forms[i->form].noperands != 1))
        return false;
    return !pl_classes[i->latency_class].no_copy && i->latency_class != C_sleep &&
           !(i->flags & PL_IF_NOUNROLL);
}

/* Is the address a parameter of the kernel as it is? */
static bool at_parameter(const pl_ir *x, const pl_insn *i)
{
    const uint32_t row = i->op[(pl_insn_effects(i) & PL_EF_STORE) ? 0 : 1];
    const pl_insn *w = row < x->f->rows && x->regs[row].ndefs == 1 ? pl_ir_writer(x, row) : NULL;
    return w && pl_insn_mnem(w) == M_ld && w->sel[PL_M_SPACE] == PL_SP_PARAM;
}

typedef struct piece_count {
    const pl_ir *x;
    uint32_t n; /* pieces that somebody reads */
} piece_count;

static inline void count_piece(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    piece_count *p = ctx;
    (void)rows;
    p->n += !(use & PL_USE_PRED) && p->x->regs[*row].nuses > 0;
}

/* A mov that takes a 64-bit value apart is one instruction for each piece that is read, one that
 * puts something together is one, any other none. */
static uint32_t cost_of_mov(const pl_ir *x, pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    piece_count p = {x, 0};
    if (pl_operand_count(f, 1, i->mods)) return 1;
    if (pl_operand_count(f, 0, i->mods) && pl_type_bits(pl_insn_type(i)) == 64)
        pl_insn_writes_here(x->p, i, count_piece, &p);
    return p.n;
}

/* Does the reader do it on the way: the sign of a number that is no integer, a predicate the other
 * way iteration? */
static bool is_free_modifier(const pl_insn *i)
{
    const uint16_t m = pl_insn_mnem(i);
    const pl_word type = pl_insn_type(i);
    return ((m == M_neg || m == M_abs) &&
            (type == W_f32 || type == W_f64 || type == W_f16 || type == W_bf16)) ||
           (m == M_not && type == W_pred);
}

/* Is it the lower half of a register, read as it stands? */
static bool is_free_truncation(const pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    return i->latency_class == C_cvt_int && f->noperands == 2 &&
           pl_type_bits(pl_operand_type(f, 0, i->mods)) == 16 &&
           pl_type_bits(pl_operand_type(f, 1, i->mods)) == 32;
}

/* The 16-bit integers in registers that have to be extended for it (lower_int16.c), which for a
 * product bytes from memory need not be. */
static uint32_t count_extensions(const pl_ir *x, const pl_insn *i)
{
    const uint16_t m = pl_insn_mnem(i);
    const bool product = m == M_mul || m == M_mad;
    uint64_t v;
    uint32_t n = 0;
    if (!product && m != M_setp && m != M_shr && m != M_sub) return 0;
    const pl_form *f = &pl_forms[i->form];
    const unsigned first = m == M_sub ? 2 : 1, end = m == M_shr ? 2 : f->noperands;
    for (unsigned k = first; k < end; k++) {
        const pl_word type = pl_operand_type(f, k, i->mods);
        if (pl_type_bits(type) != 16 || pl_type_kind(type) == 'f' ||
            pl_ir_constant_value(x, i->op[k], &v))
            continue;
        const pl_insn *w = x->regs[i->op[k]].ndefs == 1 ? pl_ir_writer(x, i->op[k]) : NULL;
        n += !product || !w || pl_insn_mnem(w) != M_ld || pl_type_bits(pl_insn_type(w)) != 8;
    }
    return n;
}

/* Is it the sign of an integer that only a sum after it in the block reads? */
static bool is_folded_extension(const pl_ir *x, const pl_ir_block *b, size_t k)
{
    const pl_insn *i = &b->code.at[k];
    const uint16_t m = pl_insn_mnem(i);
    if ((m != M_neg && m != M_abs) || pl_insn_type(i) != W_s32 || x->regs[i->op[0]].nuses != 1)
        return false;
    while (++k < b->code.n) {
        const pl_insn *r = &b->code.at[k];
        const uint16_t by = pl_insn_mnem(r);
        if ((by == M_add || by == M_sub) && pl_insn_is_integer(r, 32) &&
            (r->op[1] == i->op[0] || r->op[2] == i->op[0]))
            return true;
    }
    return false;
}

/* Does it load 16 bits that become a word? The register is one of 32 bits if what comes after it
 * in the block reads it as such. */
static bool loads_as_word(const pl_ir_block *b, size_t k)
{
    const pl_insn *i = &b->code.at[k];
    const pl_space space = (pl_space)i->sel[PL_M_SPACE];
    if (!(pl_insn_effects(i) & PL_EF_LOAD) || !(i->flags & PL_IF_MEM) ||
        pl_type_bits(pl_insn_type(i)) != 16 || i->sel[PL_M_COUNT] != 1 ||
        (space != PL_SP_GLOBAL && space != PL_SP_SHARED && space != PL_SP_GENERIC))
        return false;
    while (++k < b->code.n) {
        const pl_insn *r = &b->code.at[k];
        const pl_form *f = &pl_forms[r->form];
        for (unsigned o = 0; r->form != PL_IR_DEAD && o < f->noperands && o < PL_INLINE_OPERANDS;
             o++)
            if (f->operand[o].kind == PL_K_VALUE && !f->operand[o].written && r->op[o] == i->op[0])
                return pl_type_bits(pl_operand_type(f, o, r->mods)) == 32;
    }
    return false;
}

/* What an instruction adds to the cost of its body. */
static uint32_t cost_of(const pl_ir *x, counted_loop *c, pl_insn *i)
{
    const uint32_t e = pl_insn_effects(i);
    const pl_space space = (pl_space)i->sel[PL_M_SPACE];
    const pl_word type = pl_insn_type(i);
    uint64_t by;
    const uint32_t far = (i->flags & PL_IF_MEM) && (i->imm != 0 || at_parameter(x, i));
    c->convergent |= (e & (PL_EF_ATOMIC | PL_EF_BARRIER | PL_EF_CONVERGE)) != 0;
    c->has_barrier |= i->latency_class == C_barrier;
    if (i->latency_class == C_mov) return cost_of_mov(x, i);
    if (i->latency_class == C_free || is_free_modifier(i) || is_free_truncation(i)) return 0;
    if (e & PL_EF_ATOMIC) {
        const bool one =
            pl_insn_has(i, W_cas) || pl_insn_has(i, W_exch) ||
            (space != PL_SP_SHARED && (pl_type_kind(type) == 'f' || pl_type_bits(type) != 32 ||
                                       pl_insn_has(i, W_inc) || pl_insn_has(i, W_dec)));
        return far + (one ? 1 : x->p->tuning->loop_unroll.cost_atomic);
    }
    if (e & (PL_EF_STORE | PL_EF_LOAD)) {
        const bool near = space == PL_SP_SHARED,
                   bank = space == PL_SP_PARAM || space == PL_SP_CONST;
        c->shared_loads += near && (e & PL_EF_LOAD);
        c->has_global_loads |= !near && !bank && (e & PL_EF_LOAD);
        const uint32_t bytes =
            (e & PL_EF_LOAD) && !bank && pl_type_bits(type) == 8 ? i->sel[PL_M_COUNT] : 0;
        const uint32_t narrow =
            bytes > 1 ? 2 * bytes
                      : bytes; /* its registers are made of it, several after they are told apart */
        return space == PL_SP_LOCAL ? x->p->tuning->loop_unroll.cost_local
               : bank               ? 1
                                    : 1 + far + narrow;
    }
    if (pl_classes[i->latency_class].unroll_cost) return pl_classes[i->latency_class].unroll_cost;
    if (pl_insn_mnem(i) == M_mad && pl_insn_has(i, W_wide))
        return x->p->tuning->loop_unroll.cost_mad_wide;
    if ((pl_insn_mnem(i) == M_shl || pl_insn_mnem(i) == M_shr) && pl_type_bits(type) == 64 &&
        !pl_ir_constant_value(x, i->op[2], &by))
        return x->p->tuning->loop_unroll.cost_shift64;
    const bool packed = (i->latency_class == C_half || i->latency_class == C_half_minmax ||
                         pl_insn_mnem(i) == M_cvt) &&
                        pl_insn_mnem(i) != M_neg && pl_insn_mnem(i) != M_abs;
    return packed && (type == W_f16x2 || type == W_bf16x2) ? x->p->tuning->loop_unroll.cost_packed
                                                           : 1 + count_extensions(x, i);
}

/* The most expensive body that is unrolled where the number of iterations is not known. */
static uint32_t max_cost(const pl_ir *x, const counted_loop *c)
{
    const uint32_t b = x->p->tuning->loop_unroll.max_cost +
                       x->p->tuning->loop_unroll.max_cost_per_shared_load * c->shared_loads;
    return c->has_global_loads && b < x->p->tuning->loop_unroll.max_cost_loading
               ? x->p->tuning->loop_unroll.max_cost_loading
           : b < x->p->tuning->loop_unroll.max_cost_total
               ? b
               : x->p->tuning->loop_unroll.max_cost_total;
}

/* ---- what is known in each iteration, once the counter is ---- */

typedef struct iteration_constants {
    pl_ir *x;
    struct {
        uint32_t *at;
        size_t n;
    } row, pred; /* the loop, plus one, in which it is known */
    uint32_t loop;
    bool all, changed;         /* answers */
    pl_divergence divergence;  /* what differs between them, once somebody has asked */
    uint32_t npreds_described; /* predicates of which it tells */
} iteration_constants;

static bool iteration_constants_init(iteration_constants *k, pl_ir *x, uint32_t loop)
{
    k->x = x;
    k->loop = loop + 1;
    if (k->row.n < x->f->rows) {
        k->row.n = 2 * (size_t)x->f->rows;
        k->row.at = pl_arena_array(x->tmp, uint32_t, k->row.n);
    }
    if (k->pred.n < x->f->preds) {
        k->pred.n = 2 * (size_t)x->f->preds;
        k->pred.at = pl_arena_array(x->tmp, uint32_t, k->pred.n);
    }
    return k->row.at && k->pred.at;
}

/* A number, or a place in the constant bank. Where other variables are only the linker knows. */
static bool is_known(const pl_ir *x, uint32_t row)
{
    uint64_t number;
    const pl_frame_init *i = row < x->f->rows && x->kind.at[row] == PL_REG_PRESET
                                 ? &x->f->init.at[x->init.at[row]]
                                 : NULL;
    return pl_ir_constant_value(x, row, &number) ||
           (i && i->reloc == PL_RELOC_VAR && x->p->vars.at[i->symbol].space == PL_SP_CONST);
}

static void test_known(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    iteration_constants *k = ctx;
    (void)rows;
    if (use & PL_USE_PRED)
        k->all &= *row == PL_PT || *row == PL_PF || k->pred.at[*row] == k->loop;
    else
        k->all &= is_known(k->x, *row) || k->row.at[*row] == k->loop;
}

/* Values, and variables of which find_variables has said that they are known. */
static void test_written_known(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    iteration_constants *k = ctx;
    const bool pred = (use & PL_USE_PRED) != 0;
    for (unsigned n = 0; n < (pred ? 1 : rows); n++)
        k->all &= (pred ? k->x->preds : k->x->regs)[*row + n].ndefs == 1 ||
                  (pred ? k->pred.at : k->row.at)[*row + n] == k->loop;
}

static void note_known(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    iteration_constants *k = ctx;
    for (unsigned n = 0; n < ((use & PL_USE_PRED) ? 1 : rows); n++)
        ((use & PL_USE_PRED) ? k->pred.at : k->row.at)[*row + n] = k->loop;
}

/* Is it known in each iteration what this reads? An event reads nothing. */
static bool reads_only_known(iteration_constants *k, const pl_insn *i)
{
    const pl_space space = (pl_space)i->sel[PL_M_SPACE];
    const bool event = i->latency_class == C_barrier || i->latency_class == C_cp_commit,
               bank = (i->flags & PL_IF_MEM) && (space == PL_SP_PARAM || space == PL_SP_CONST);
    if (i->form == PL_IR_DEAD || !(event || bank || pl_insn_pure(i)) ||
        (i->guard != PL_PT && k->pred.at[i->guard] != k->loop))
        return false;
    pl_insn copy = *i;
    k->all = true;
    pl_insn_reads_here(k->x->p, &copy, test_known, k);
    return k->all;
}

/* Is this known in each iteration? */
static bool mark_if_known(iteration_constants *k, const pl_insn *i)
{
    pl_insn copy = *i;
    if (!reads_only_known(k, i)) return false;
    pl_insn_writes_here(k->x->p, &copy, test_written_known, k);
    if (k->all) pl_insn_writes_here(k->x->p, &copy, note_known, k);
    return k->all;
}

static int by_order(const pl_ir *x, uint32_t a, uint32_t b)
{
    return x->blocks.at[a].rpo_index < x->blocks.at[b].rpo_index
               ? -1
               : x->blocks.at[a].rpo_index > x->blocks.at[b].rpo_index;
}

/* The blocks of the loop that begins in c->block: one latch, no loop inside. */
static bool find_members(pl_ir *x, counted_loop *c)
{
    enum { MOST_MEMBERS = 64 };
    const pl_ir_block *header = &x->blocks.at[c->block];
    c->latch = PL_IR_NONE;
    for (uint32_t k = 0; k < header->npreds; k++)
        if (pl_ir_dominates(x, c->block, x->predecessors[header->first_pred + k]))
            c->latch = x->predecessors[header->first_pred + k];
    c->member = pl_arena_array(x->tmp, uint32_t, MOST_MEMBERS);
    if (!c->member || c->latch == PL_IR_NONE) return false;
    c->member[c->members++] = c->block;
    if (c->latch != c->block) c->member[c->members++] = c->latch;
    for (uint32_t m = 1; m < c->members; m++) { /* backwards from the latch */
        const pl_ir_block *b = &x->blocks.at[c->member[m]];
        if (b->loop != c->block) return false;
        for (uint32_t k = 0; k < b->npreds; k++) {
            const uint32_t from = x->predecessors[b->first_pred + k];
            uint32_t known = 0;
            while (known < c->members && c->member[known] != from) known++;
            if (known == MOST_MEMBERS) return false;
            if (known == c->members) c->member[c->members++] = from;
        }
    }
    for (uint32_t m = 2; m < c->members; m++) /* few, and nearly in order */
        for (uint32_t k = m; k > 1 && by_order(x, c->member[k - 1], c->member[k]) > 0; k--) {
            const uint32_t other = c->member[k];
            c->member[k] = c->member[k - 1];
            c->member[k - 1] = other;
        }
    for (uint32_t m = 0; m < c->members; m++)
        for (uint32_t e = 0; c->member[m] != c->latch && e < pl_ir_successors(x, c->member[m]);
             e++) {
            const uint32_t to = pl_ir_successor(x, c->member[m], e);
            uint32_t known = 0;
            while (known < c->members && c->member[known] != to) known++;
            if (known == 0) return false;
            c->has_other_exits |= known == c->members;
        }
    return c->member[c->members - 1] == c->latch;
}

/* Does this instruction of the last block give a counter its next value? */
static bool is_counter_step(pl_ir *x, counted_loop *c, uint32_t at)
{
    const pl_insn *i = &x->blocks.at[c->latch].code.at[at];
    c->counter_copy = c->next_counter = PL_IR_NONE;
    c->counter = i->op[0];
    if (is_only_increment(x, c, c->latch, i, &c->step))
        return (unsigned)pl_type_bits(pl_insn_type(i)) == c->bits;
    if (!pl_insn_is_copy(i) || i->guard != PL_PT || i->op[1] >= x->nregs_described ||
        x->regs[i->op[1]].ndefs != 1 || writes_in(x, c, c->counter) != 1)
        return false;
    const pl_ir_reg *w = &x->regs[i->op[1]];
    const pl_insn *by = pl_ir_writer(x, i->op[1]);
    if (!by || x->blocks.at[w->def_block].loop != c->block ||
        !pl_ir_dominates(x, w->def_block, c->latch) || by->op[0] != i->op[1] ||
        by->op[1] != c->counter || !adds_number(x, by, &c->step) ||
        (w->def_block == c->latch && w->def_index >= at) ||
        (unsigned)pl_type_bits(pl_insn_type(by)) != c->bits)
        return false;
    c->counter_copy = at;
    c->next_counter = i->op[1];
    return true;
}

/* Looks for the counter that the compare reads. ptxas 13.0 takes it for one only if the compare
 * stands in the block where it changes. */
static bool find_counter(pl_ir *x, counted_loop *c, const pl_insn *test)
{
    for (unsigned side = 0; side < 2; side++) {
        const uint32_t v = test->op[2 + side], n = test->op[3 - side];
        for (uint32_t k = 0; k < x->blocks.at[c->latch].code.n; k++) {
            if (k == c->test || !is_counter_step(x, c, k) ||
                !((k < c->test && v == c->counter) || v == c->next_counter) ||
                writes_in(x, c, n) != 0)
                continue;
            c->bound = n;
            if (side) c->cmp = mirrored(c->cmp);
            return true;
        }
    }
    return false;
}

/* Is this predicate of the last block a compare of a counter, while which the loop goes on?
 * `other`: while it does not hold. */
static bool find_test(pl_ir *x, counted_loop *c, uint32_t pred, bool other)
{
    const pl_ir_reg *p = &x->preds[pred];
    if (p->ndefs != 1 || p->nuses != 1 || p->def_block != c->latch) return false;
    const pl_insn *test = &x->blocks.at[c->latch].code.at[p->def_index];
    const pl_word t = pl_insn_type(test);
    if (pl_insn_mnem(test) != M_setp || test->guard != PL_PT ||
        pl_forms[test->form].noperands != 4 || test->op[1] != UINT32_MAX || pl_type_bits(t) < 32 ||
        (pl_type_kind(t) != 'u' && pl_type_kind(t) != 's' && pl_type_kind(t) != 'b'))
        return false;
    c->test = p->def_index;
    c->bits = (unsigned)pl_type_bits(t);
    c->is_signed = pl_type_kind(t) == 's';
    c->cmp = comparison(test, other);
    return find_counter(x, c, test) && c->cmp != W_none && c->step != 0;
}

/* The same of one of two compares that both must hold. */
static bool find_test_of_two(pl_ir *x, counted_loop *c, uint32_t pred)
{
    const pl_ir_reg *p = &x->preds[pred];
    if (p->ndefs != 1 || p->nuses != 1 || p->def_block != c->latch) return false;
    const pl_insn *i = &x->blocks.at[c->latch].code.at[p->def_index];
    if (pl_insn_mnem(i) != M_and || pl_insn_type(i) != W_pred || i->guard != PL_PT) return false;
    for (unsigned k = 1; k < 3; k++) {
        const pl_ir_reg *q = &x->preds[i->op[3 - k]];
        if (q->ndefs != 1 || q->def_block != c->latch ||
            pl_insn_mnem(&x->blocks.at[c->latch].code.at[q->def_index]) != M_setp ||
            !find_test(x, c, i->op[k], false))
            continue;
        c->joined_test = p->def_index;
        c->other_condition = i->op[3 - k];
        return true;
    }
    return false;
}

static bool analyze_loop(pl_ir *x, uint32_t block, counted_loop *c)
{
    const pl_ir_block *header = &x->blocks.at[block];
    *c = (counted_loop){.block = block};
    if (header->loop != block || header->nlatches != 1 || !find_members(x, c)) return false;
    const pl_ir_block *b = &x->blocks.at[c->latch];
    const pl_insn *branch = pl_ir_branch(x, c->latch);
    if (!branch || branch->target != block || b->fallthrough == PL_IR_NONE ||
        b->fallthrough == block || x->blocks.at[b->fallthrough].loop == block ||
        branch->guard <= PL_PF || pl_forms[branch->form].noperands != 1 ||
        (branch->flags & PL_IF_NOUNROLL))
        return false;
    const bool negated = (branch->flags & PL_IF_GUARD_NEG) != 0;
    c->exit = b->fallthrough;
    c->joined_test = c->other_condition = PL_IR_NONE;
    if (!find_test(x, c, branch->guard, negated) &&
        (negated || !find_test_of_two(x, c, branch->guard)))
        return false;
    int64_t s = sign_extend(c->step, c->bits);
    if (((c->cmp == W_lt || c->cmp == W_le) && s < 0) ||
        ((c->cmp == W_gt || c->cmp == W_ge) && s > 0) || s > 1 << 20 || s < -(1 << 20))
        return false;
    for (uint32_t m = 0; m < c->members; m++) {
        b = &x->blocks.at[c->member[m]];
        c->n += (uint32_t)b->code.n;
        for (size_t k = 0; k + (c->member[m] == c->latch) < b->code.n; k++)
            if (!copyable(&b->code.at[k])) return false;
    }
    return true;
}

/* The last instruction of the block that writes the row, NULL. */
static const pl_insn *last_write(const pl_ir *x, uint32_t block, uint32_t row)
{
    writes w = {row, 0};
    for (size_t k = x->blocks.at[block].code.n; k-- > 0;) {
        pl_insn_writes_here(x->p, &x->blocks.at[block].code.at[k], count_writes, &w);
        if (w.n) return &x->blocks.at[block].code.at[k];
    }
    return NULL;
}

static void test_constant(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    iteration_constants *k = ctx;
    (void)rows;
    k->all &= use & PL_USE_PRED ? *row <= PL_PF : is_known(k->x, *row);
}

/* Is a constant computed here? */
static bool computes_constant(pl_ir *x, const pl_insn *i)
{
    iteration_constants k = {.x = x, .all = i->guard == PL_PT && pl_insn_pure(i)};
    pl_insn copy = *i;
    if (k.all) pl_insn_reads_here(x->p, &copy, test_constant, &k);
    return k.all;
}

enum { COMPUTED = PL_IR_NONE - 1 };

/* What the row holds whenever the loop is entered, if that is known: of all writes that get there
 * (several loops may count with one register), what they copy; COMPUTED, if the only one computes a
 * constant; PL_IR_NONE. */
static uint32_t beginning(pl_ir *x, uint32_t header, uint32_t row)
{
    enum { MOST_BLOCKS = 64 };
    uint32_t block[MOST_BLOCKS] = {header}, n = 1, found = PL_IR_NONE;
    for (uint32_t at = 0; at < n; at++) { /* backwards, up to a write on each way */
        const pl_ir_block *b = &x->blocks.at[block[at]];
        const pl_insn *i = at ? last_write(x, block[at], row) : NULL;
        if (i) {
            if (i->guard != PL_PT || i->op[0] != row || !computes_constant(x, i)) return PL_IR_NONE;
            const uint32_t number = pl_insn_is_copy(i) ? i->op[1] : (uint32_t)COMPUTED;
            if (found != PL_IR_NONE && (found != number || found == COMPUTED)) return PL_IR_NONE;
            found = number;
        } else if (block[at] == 0) {
            return PL_IR_NONE;
        }
        for (uint32_t k = 0; !i && k < b->npreds; k++) {
            const uint32_t from = x->predecessors[b->first_pred + k];
            uint32_t known = 0;
            while (known < n && block[known] != from) known++;
            if (at == 0 && pl_ir_dominates(x, header, from)) continue; /* iteration by iteration */
            if (known == MOST_BLOCKS || known == 0) /* 0: it goes on from where it was */
                return PL_IR_NONE;
            if (known == n) block[n++] = from;
        }
    }
    return found;
}

static void note_induction(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    iteration_constants *k = ctx;
    for (unsigned n = 0; !(use & PL_USE_PRED) && n < rows; n++) {
        const pl_ir_reg *r = &k->x->regs[*row + n];
        if (r->ndefs > 1 && r->kind == PL_REG_VIRTUAL && !r->precolored)
            k->row.at[*row + n] = k->loop;
    }
}

/* What an instruction writes that is not known: values may be in the next try. */
static void note_unknown(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    iteration_constants *k = ctx;
    for (unsigned n = 0; n < ((use & PL_USE_PRED) ? 1 : rows); n++) {
        uint32_t *at = &((use & PL_USE_PRED) ? k->pred.at : k->row.at)[*row + n];
        k->changed |=
            *at == k->loop && ((use & PL_USE_PRED) ? k->x->preds : k->x->regs)[*row + n].ndefs != 1;
        *at = 0;
    }
}

static void test_start(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    iteration_constants *k = ctx;
    for (unsigned n = 0; !(use & PL_USE_PRED) && n < rows && k->x->regs[*row + n].ndefs > 1; n++)
        if (k->row.at[*row + n] == k->loop && beginning(k->x, k->loop - 1, *row) == PL_IR_NONE) {
            k->row.at[*row + n] = 0;
            k->changed = true;
        }
}

/* What a variable holds is known in each iteration if it starts with a constant and becomes what is
 * computed of constants and such variables alone: counters, and what goes round a table or is a
 * random number. All are taken for it at first; those that depend on something else go, and with
 * them what depends on them. */
static void find_induction_variables(pl_ir *x, const counted_loop *c, iteration_constants *known)
{
    enum { TRIES = 8 };
    for (unsigned arm = 0; arm < 2; arm++) /* those that only some iterations write are not known */
        for (uint32_t m = 0; m < c->members; m++)
            for (size_t k = 0; k < x->blocks.at[c->member[m]].code.n &&
                               pl_ir_dominates(x, c->member[m], c->latch) != (arm != 0);
                 k++)
                pl_insn_writes_here(x->p, &x->blocks.at[c->member[m]].code.at[k],
                                    arm ? note_unknown : note_induction, known);
    bool asked = false;
    for (unsigned n = 0; !asked || known->changed; n++) {
        known->changed = false;
        for (uint32_t m = 0; m < c->members; m++)
            for (size_t k = 0; k < x->blocks.at[c->member[m]].code.n; k++) {
                pl_insn *i = &x->blocks.at[c->member[m]].code.at[k];
                if (n >= TRIES || !mark_if_known(known, i))
                    pl_insn_writes_here(x->p, i, note_unknown, known);
            }
        for (uint32_t m = 0; m < c->members && !known->changed && !asked; m++) /* few are left */
            for (size_t k = 0; k < x->blocks.at[c->member[m]].code.n; k++)
                pl_insn_writes_here(x->p, &x->blocks.at[c->member[m]].code.at[k], test_start,
                                    known);
        asked |= !known->changed || n >= TRIES;
    }
}

/* The cost of the body; and what of it is saved where the number of iterations is known. */
static void compute_cost(pl_ir *x, counted_loop *c, iteration_constants *known)
{
    if (known) find_induction_variables(x, c, known);
    if (c->other_condition != PL_IR_NONE) { /* a branch */
        c->branches = c->divergent = true;
        c->cost++;
    }
    for (uint32_t m = 0; m < c->members; m++) {
        const pl_ir_block *b = &x->blocks.at[c->member[m]];
        const bool last = c->member[m] == c->latch;
        for (size_t k = 0; k + last < b->code.n; k++) {
            pl_insn *i = &b->code.at[k];
            uint64_t step;
            bool saved = false;
            if ((last && (k == c->test || k == c->counter_copy || k == c->joined_test)) ||
                (i->op[0] == c->counter && is_increment(x, i, &step)) ||
                (i->op[0] == c->next_counter && adds_number(x, i, &step)))
                continue;
            if (pl_insn_effects(i) & PL_EF_BRANCH) {
                c->branches = true;
                saved = known && i->guard < x->f->preds && known->pred.at[i->guard] == known->loop;
                c->divergent |= !saved && i->guard != PL_PT;
                *(saved ? &c->savings : &c->cost) += 1;
                continue;
            }
            const uint32_t price =
                is_folded_extension(x, b, k)
                    ? 0
                    : cost_of(x, c, i) + ((i->flags & PL_IF_CONTRACTED) != 0) + loads_as_word(b, k);
            saved = known && mark_if_known(known, i);
            *(saved ? &c->savings : &c->cost) += price;
            if (i->guard != PL_PT) { /* a branch around it, for ptxas, which guards later */
                saved = known && known->pred.at[i->guard] == known->loop;
                *(saved ? &c->savings : &c->cost) += 1;
                c->branches = true;
                c->divergent |= !saved;
            }
        }
    }
}

/* Rounds of a loop whose counter starts and ends with constants; 0: not known, or too many. */
static unsigned trip_count(pl_ir *x, counted_loop *c)
{
    uint64_t v = 0, n;
    c->start = beginning(x, c->block, c->counter);
    if (!pl_ir_constant_value(x, c->bound, &n) || !pl_ir_constant_value(x, c->start, &v)) return 0;
    for (unsigned r = 1; r <= MAX_TRIP_COUNT; r++) {
        v = truncate(v + c->step, c->bits);
        bool less = c->is_signed ? sign_extend(v, c->bits) < sign_extend(n, c->bits)
                                 : v < truncate(n, c->bits);
        bool equal = v == truncate(n, c->bits);
        bool more = c->cmp == W_lt   ? less
                    : c->cmp == W_le ? less || equal
                    : c->cmp == W_gt ? !less && !equal
                    : c->cmp == W_ge ? !less
                                     : !equal;
        if (!more) return r;
    }
    return 0;
}

/* ---- copies ---- */

static void rename_reads(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    unroll_copy *u = ctx;
    (void)rows;
    if (use & PL_USE_WRITE) return;
    uint32_t *to = use & PL_USE_PRED ? u->pred_to : u->row_to;
    if (to[*row] != PL_IR_NONE) *row = to[*row];
}

static void rename_writes(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    unroll_copy *u = ctx;
    pl_ir *x = u->x;
    if (!(use & PL_USE_WRITE) || (use & PL_USE_READ) || u->guarded) return;
    bool pred = (use & PL_USE_PRED) != 0;
    const pl_ir_reg *r = &(pred ? x->preds : x->regs)[*row];
    bool keep = false;
    for (unsigned k = 0; k < (pred ? 1 : rows); k++)
        keep |= (pred ? u->keep_pred : u->keep)[*row + k] != 0;
    if (r->ndefs != 1 || r->def_block != u->from || r->def_index != u->at || keep ||
        (!pred && (r->kind != PL_REG_VIRTUAL || r->width != rows)))
        return;
    uint32_t fresh = u->is_last_copy ? *row : pred ? pl_ir_new_pred(x) : pl_ir_new(x, rows);
    for (unsigned k = 0; k < (pred ? 1 : rows); k++)
        (pred ? u->pred_to : u->row_to)[*row + k] = fresh + k;
    *row = fresh;
}

/* A read of what only some lanes write in this loop, where that is not certain to have been
 * written. */
static void note_read(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    unroll_copy *u = ctx;
    const pl_ir *x = u->x;
    const bool pred = (use & PL_USE_PRED) != 0;
    for (unsigned k = 0; k < (pred ? 1 : rows); k++) {
        const pl_ir_reg *r = &(pred ? x->preds : x->regs)[*row + k];
        if (r->ndefs == 1 && r->def_block != PL_IR_NONE &&
            !pl_ir_dominates(x, r->def_block, u->c->latch) &&
            !pl_ir_dominates(x, r->def_block, u->from))
            (pred ? u->keep_pred : u->keep)[*row + k] = 1;
        else if (r->ndefs == 1 && r->def_block == u->from && r->def_index >= u->at &&
                 !pl_ir_dominates(x, r->def_block, u->c->latch))
            (pred ? u->keep_pred : u->keep)[*row + k] = 1;
    }
}

/* A read outside of a loop with several ways out: which iteration it leaves in is not known. */
static void note_outside(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    unroll_copy *u = ctx;
    if (*row != UINT32_MAX)
        memset((use & PL_USE_PRED ? u->keep_pred : u->keep) + *row, 1,
               use & PL_USE_PRED ? 1 : rows);
}

static void find_unrenamed(unroll_copy *u)
{
    pl_ir *x = u->x;
    for (uint32_t j = 0; has_several_exits(u->c) && j < x->nrpo; j++)
        for (size_t k = 0; k < x->blocks.at[x->rpo[j]].code.n; k++)
            if (x->blocks.at[x->rpo[j]].loop != u->c->block)
                pl_insn_reads_here(x->p, &x->blocks.at[x->rpo[j]].code.at[k], note_outside, u);
    for (uint32_t j = 0; u->c->members > 1 && j < x->nrpo; j++) {
        u->from = x->rpo[j];
        for (u->at = 0; u->at < x->blocks.at[u->from].code.n; u->at++)
            pl_insn_reads_here(x->p, &x->blocks.at[u->from].code.at[u->at], note_read, u);
    }
}

/* Where the copy being made goes on for a block; those outside of the loop are the same. */
static uint32_t copy_of(const unroll_copy *u, uint32_t block)
{
    for (uint32_t m = 0; m < u->c->members; m++)
        if (u->c->member[m] == block) return u->block_to[block];
    return block;
}

/* Appends one copy of the body to a block: number `copy` of `copies`. Returns the block where it
 * ends. */
static uint32_t append(unroll_copy *u, uint32_t to, unsigned copy, unsigned copies)
{
    pl_ir *x = u->x;
    const counted_loop *c = u->c;
    u->is_last_copy = copy + 1 == copies;
    u->block_to[c->block] = to;
    for (uint32_t m = 1; m < c->members; m++) u->block_to[c->member[m]] = pl_ir_new_block(x);
    for (uint32_t m = 0; m < c->members && pl_ir_ok(x); m++) {
        u->from = c->member[m];
        const pl_ir_block body = x->blocks.at[u->from];
        const bool latch = u->from == c->latch;
        to = u->block_to[u->from];
        for (uint32_t k = 0; k + latch < body.code.n; k++) {
            if (latch && (k == c->test || k == c->joined_test)) continue;
            const bool counts_on = latch && k == c->counter_copy;
            pl_insn i =
                pl_ir_clone(x, counts_on ? pl_ir_writer(x, c->next_counter) : &body.code.at[k]);
            uint64_t step;
            if (counts_on) i.op[0] = i.op[1];
            u->at = k;
            u->guarded = i.guard != PL_PT;
            if (is_increment(x, &i, &step) && (counts_on || u->steps[i.op[0]] == 1)) {
                unsigned bits = (unsigned)pl_type_bits(pl_insn_type(&i)), rows = bits / 32;
                uint32_t v = i.op[0];
                const bool kept =
                    u->keep[v] != 0; /* who leaves the loop reads it: a copy of what
                                        it is, which the next iteration counts on from */
                if (kept && u->row_to[v] != PL_IR_NONE)
                    i.op[1] = u->row_to[v];
                else if (!kept)
                    i.op[2] = pl_ir_constant(x, step * (copy + 1u), bits);
                i.op[0] = u->is_last_copy && !kept ? v : pl_ir_new(x, rows);
                for (unsigned r = 0; r < rows; r++) u->row_to[v + r] = i.op[0] + r;
                if (kept) {
                    *pl_push(x->a, &x->blocks.at[to].code) = i;
                    const uint32_t now = i.op[0];
                    if (!pl_insn_make(&i, M_mov, 2, &(pl_word){bits == 64 ? W_b64 : W_b32}, 1))
                        return PL_IR_NONE;
                    i.op[0] = v;
                    i.op[1] = now;
                }
            } else {
                pl_insn_reads_here(x->p, &i, rename_reads, u);
                pl_insn_writes_here(x->p, &i, rename_writes, u);
            }
            if (pl_insn_effects(&i) & PL_EF_BRANCH) i.target = copy_of(u, i.target);
            *pl_push(x->a, &x->blocks.at[to].code) = i;
        }
        x->blocks.at[to].fallthrough =
            latch || body.fallthrough == PL_IR_NONE ? PL_IR_NONE : copy_of(u, body.fallthrough);
    }
    return to;
}

/* So many of them, from block `to` on. Returns where they end; PL_IR_NONE: out of memory. */
static uint32_t copies(unroll_copy *u, uint32_t to, unsigned n)
{
    size_t rows = u->x->f->rows, preds = u->x->f->preds;
    /* names are by original row: what copies add is never renamed again */
    memset(u->row_to, 0xff, rows * sizeof *u->row_to);
    memset(u->pred_to, 0xff, preds * sizeof *u->pred_to);
    for (unsigned r = 0; has_several_exits(u->c) && r < u->c->bits / 32; r++)
        u->row_to[u->c->counter + r] = u->c->start + r;
    for (unsigned k = 0; k < n && to != PL_IR_NONE && pl_ir_ok(u->x); k++) {
        to = append(u, to, k, n);
        if (u->c->other_condition == PL_IR_NONE || to == PL_IR_NONE || k + 1 == n) continue;
        const uint32_t from = to, also = u->pred_to[u->c->other_condition];
        to = pl_ir_new_block(u->x);
        pl_ir_jump(u->x, from, pl_ir_branch(u->x, u->c->latch)->line,
                   also == PL_IR_NONE ? u->c->other_condition : also, true, u->c->exit);
        u->x->blocks.at[from].fallthrough = to;
    }
    return pl_ir_ok(u->x) ? to : PL_IR_NONE;
}

/* The original is not needed any more; its first block stays for what comes instead. */
static void forget(pl_ir *x, const counted_loop *c)
{
    for (uint32_t m = 0; m < c->members; m++) {
        memset(&x->blocks.at[c->member[m]].code, 0, sizeof x->blocks.at[c->member[m]].code);
        x->blocks.at[c->member[m]].fallthrough = PL_IR_NONE;
    }
}

/* ---- the frame around them ---- */

/* The branch that ends the block goes back in a loop that is done with. */
static void settle(pl_ir *x, uint32_t block)
{
    if (x->blocks.at[block].code.n)
        x->blocks.at[block].code.at[x->blocks.at[block].code.n - 1].flags |= PL_IF_NOUNROLL;
}

static pl_word type_of(const counted_loop *c)
{
    return c->bits == 64 ? c->is_signed ? W_s64 : W_u64 : c->is_signed ? W_s32 : W_u32;
}

/* A limit that is a constant: does n - 3 c wrap around, or the counter when it passes n? */
static bool limit_wraps(const counted_loop *c, uint64_t bound)
{
    const uint64_t k = truncate((uint64_t)(FACTOR - 1) * c->step, c->bits),
                   m = truncate(bound - k, c->bits);
    const uint64_t lowest = c->is_signed ? (uint64_t)1 << (c->bits - 1) : 0,
                   highest = c->is_signed ? lowest - 1 : truncate(UINT64_MAX, c->bits);
    const bool up = sign_extend(c->step, c->bits) > 0, reached = c->cmp == W_le || c->cmp == W_ge;
    /* step and k are negative when counting down */
    const uint64_t edge = up ? truncate(highest - k - c->step + !reached, c->bits)
                             : truncate(lowest - k - c->step - !reached, c->bits);
    if (c->is_signed)
        return up ? sign_extend(m, c->bits) > sign_extend(edge, c->bits)
                  : sign_extend(m, c->bits) < sign_extend(edge, c->bits);
    return up ? m > edge : m < edge;
}

/* Predicate: so many iterations are due, by the distance between counter and bound, which has a
 * sign or not, if `also` holds. */
static uint32_t emit_remaining_test(pl_ir *x, const counted_loop *c, uint32_t block, uint32_t line,
                                    uint32_t counter, unsigned n, bool is_signed, uint32_t also)
{
    const bool up = sign_extend(c->step, c->bits) > 0, reached = c->cmp == W_le || c->cmp == W_ge;
    const uint64_t step = truncate(up ? c->step : 0 - c->step, c->bits);
    const pl_word type = is_signed ? type_of(c) : c->bits == 64 ? W_u64 : W_u32;
    uint64_t bound;
    uint32_t distance = counter;
    if (up || !pl_ir_constant_value(x, c->bound, &bound) || bound != 0) {
        pl_insn *i = pl_ir_append(x, block, line);
        distance = pl_ir_new(x, c->bits / 32);
        if (!i || !pl_insn_make(i, M_sub, 3, &type, 1)) return PL_PF;
        i->op[0] = distance;
        i->op[1] = up ? c->bound : counter;
        i->op[2] = up ? counter : c->bound;
    }
    return pl_ir_compare(x, block, line, W_gt, type, distance,
                         pl_ir_constant(x, truncate((n - 1) * step - reached, c->bits), c->bits),
                         also);
}

/* Writes true or false to a predicate. */
static bool emit_set(pl_ir *x, uint32_t block, uint32_t line, uint32_t pred, bool value)
{
    const pl_word type = W_pred;
    pl_insn *i = pl_ir_append(x, block, line);
    if (!i || !pl_insn_make(i, M_and, 3, &type, 1)) return false;
    i->op[0] = pred;
    i->op[1] = PL_PT;
    i->op[2] = value ? PL_PT : PL_PF;
    return true;
}

/* Can a counter that was before the bound pass the end of its range? Not by steps of one to a
 * bound that it does not pass itself, nor where the bound is a constant: limit_wraps has looked at
 * that. */
static bool passes_end(const pl_ir *x, const counted_loop *c)
{
    uint64_t bound;
    const bool reached = c->cmp == W_le || c->cmp == W_ge;
    const int64_t step = sign_extend(c->step, c->bits);
    return !pl_ir_constant_value(x, c->bound, &bound) && (reached || (step != 1 && step != -1));
}

/* Ends block `last`: the loop is left unless another iteration is due, or the first one is. */
static bool emit_last_test(pl_ir *x, const counted_loop *c, uint32_t last, uint32_t line,
                           uint32_t first)
{
    const uint32_t more = pl_ir_new_pred(x);
    pl_insn *i = pl_ir_append(x, last, line);
    if (!i || !pl_insn_make(i, M_setp, 5, (pl_word[]){c->cmp, W_or, type_of(c)}, 3)) return false;
    i->op[0] = more;
    i->op[2] = c->counter;
    i->op[3] = c->bound;
    i->op[4] = first;
    pl_ir_jump(x, last, line, more, true, c->exit);
    return true;
}

/* While the counter is less than the bound, or more. */
static bool unroll_ordered(unroll_copy *u, const counted_loop *c)
{
    pl_ir *x = u->x;
    const pl_word type = type_of(c);
    const uint32_t header = c->block, line = pl_ir_branch(x, c->latch)->line,
                   first = pl_ir_new_pred(x);
    const uint32_t enter = pl_ir_new_block(x), four = pl_ir_new_block(x), few = pl_ir_new_block(x),
                   two = pl_ir_new_block(x), last = pl_ir_new_block(x), one = pl_ir_new_block(x);
    uint64_t number = 1;
    uint32_t start = beginning(x, c->block, c->counter), test = header;
    if (!pl_ir_ok(x)) return false;
    const uint32_t end4 = copies(u, four, FACTOR), end2 = copies(u, two, 2),
                   end1 = copies(u, one, 1);
    if (end4 == PL_IR_NONE || end2 == PL_IR_NONE || end1 == PL_IR_NONE) return false;
    uint32_t peel = PL_IR_NONE, end = PL_IR_NONE;
    if (!c->is_signed) {
        peel = pl_ir_new_block(x);
        test = pl_ir_new_block(x);
        end = pl_ir_ok(x) ? copies(u, peel, 1) : PL_IR_NONE;
        if (end == PL_IR_NONE) return false;
    }
    forget(x, c);
    start = pl_ir_constant_value(x, start, &number) ? start : c->counter;
    const bool plain = c->is_signed && sign_extend(c->step, c->bits) > 0 && start != c->counter &&
                       number == 0; /* n - 0 does not wrap */
    if (c->is_signed) {
        if (!emit_set(x, header, line, first, true)) return false;
    } else {
        pl_ir_compare(x, header, line, c->cmp, type, start, c->bound, PL_PT);
        x->blocks.at[header].code.at[x->blocks.at[header].code.n - 1].op[0] = first;
        pl_ir_jump(x, header, line, first, false, test);
        x->blocks.at[header].fallthrough = peel;
        x->blocks.at[end].fallthrough = test;
        start = c->counter;
    }
    uint32_t below =
        PL_PT; /* the counter is before the bound: their distance without a sign is right */
    for (unsigned k = 0; k < 2; k++) {
        const uint32_t block = k ? few : test;
        if (!plain && !(k && c->is_signed)) /* what was before the bound is not far after it after
                                               four iterations: with a sign the distance is right */
            below = pl_ir_compare(x, block, line, c->cmp, type, c->counter, c->bound, PL_PT);
        const bool with_sign = c->is_signed && (plain || k);
        pl_ir_jump(x, block, line,
                   emit_remaining_test(x, c, block, line, k ? c->counter : start, k ? 2 : FACTOR,
                                       with_sign, below),
                   true, k ? last : few);
        x->blocks.at[block].fallthrough = k ? two : enter;
    }
    const uint32_t limit = pl_ir_new(x, c->bits / 32);
    pl_insn *i = pl_ir_append(x, enter, line);
    if (!i || !pl_insn_make(i, M_add, 3, &type, 1)) return false;
    i->op[0] = limit;
    i->op[1] = c->bound;
    i->op[2] = pl_ir_constant(x, truncate(0 - (FACTOR - 1) * c->step, c->bits), c->bits);
    if (!emit_set(x, enter, line, first, false) || !emit_set(x, end2, line, first, false))
        return false;
    x->blocks.at[enter].fallthrough = four;
    pl_ir_jump(x, end4, line, pl_ir_compare(x, end4, line, c->cmp, type, c->counter, limit, PL_PT),
               false, four);
    settle(x, end4);
    x->blocks.at[end4].fallthrough = few;
    x->blocks.at[end2].fallthrough = last;
    if (!emit_last_test(x, c, last, line, first)) return false;
    x->blocks.at[last].fallthrough = one;
    if (passes_end(x, c) ||
        (c->is_signed && !plain)) { /* it may go on from the other end of its range */
        pl_ir_jump(x, end1, line,
                   pl_ir_compare(x, end1, line, c->cmp, type, c->counter, c->bound, PL_PT), false,
                   one);
        settle(x, end1);
    }
    x->blocks.at[end1].fallthrough = c->exit;
    return pl_ir_ok(x);
}

/* Until the counter is the bound. */
static bool unroll_until(unroll_copy *u, const counted_loop *c)
{
    pl_ir *x = u->x;
    const pl_word type = c->bits == 64 ? W_b64 : W_b32;
    const uint32_t header = c->block, line = pl_ir_branch(x, c->latch)->line;
    const bool up = sign_extend(c->step, c->bits) > 0;
    /* block numbers: the header becomes the first test, so that all edges into the loop still fit
     */
    const uint32_t four = pl_ir_new_block(x), few = pl_ir_new_block(x), two = pl_ir_new_block(x),
                   last = pl_ir_new_block(x);
    const uint32_t first = pl_ir_new_block(x), original = pl_ir_new_block(x);
    if (!pl_ir_ok(x)) return false;
    const uint32_t end4 = copies(u, four, FACTOR), end2 = copies(u, two, 2);
    if (end4 == PL_IR_NONE || end2 == PL_IR_NONE) return false;
    x->blocks.at[original].code = x->blocks.at[header].code;
    x->blocks.at[original].fallthrough = x->blocks.at[header].fallthrough;
    const uint32_t latch = c->latch == header ? original : c->latch;
    x->blocks.at[latch].code.at[x->blocks.at[latch].code.n - 1].target = original;
    settle(x, latch);
    x->blocks.at[latch].fallthrough = c->exit;
    memset(&x->blocks.at[header].code, 0, sizeof x->blocks.at[header].code);
    pl_ir_jump(x, header, line,
               pl_ir_compare(x, header, line, up ? W_lt : W_gt, c->bits == 64 ? W_s64 : W_s32,
                             c->counter, c->bound, PL_PT),
               true, original);
    x->blocks.at[header].fallthrough = first;
    pl_ir_jump(x, first, line,
               emit_remaining_test(x, c, first, line, c->counter, FACTOR, false, PL_PT), true, few);
    x->blocks.at[first].fallthrough = four;
    pl_ir_jump(x, end4, line,
               emit_remaining_test(x, c, end4, line, c->counter, FACTOR, false, PL_PT), false,
               four);
    settle(x, end4);
    x->blocks.at[end4].fallthrough = few;
    pl_ir_jump(x, few, line, emit_remaining_test(x, c, few, line, c->counter, 2, false, PL_PT),
               true, last);
    x->blocks.at[few].fallthrough = two;
    x->blocks.at[end2].fallthrough = last;
    pl_ir_jump(x, last, line, pl_ir_compare(x, last, line, W_ne, type, c->counter, c->bound, PL_PT),
               true, c->exit);
    x->blocks.at[last].fallthrough = original;
    return pl_ir_ok(x);
}

static bool unroll_fully(unroll_copy *u, const counted_loop *c, unsigned n)
{
    pl_ir *x = u->x;
    uint32_t to = pl_ir_new_block(x), end = pl_ir_ok(x) ? copies(u, to, n) : PL_IR_NONE;
    if (end == PL_IR_NONE) return false;
    forget(x, c);
    x->blocks.at[end].fallthrough = c->exit;
    x->blocks.at[c->block].fallthrough = to;
    return true;
}

/* A known number of iterations: `rest` of them before it, then `n` at once. */
static bool unroll_part(unroll_copy *u, const counted_loop *c, unsigned n, unsigned rest)
{
    pl_ir *x = u->x;
    uint32_t header = c->block, line = pl_ir_branch(x, c->latch)->line;
    uint32_t loop = pl_ir_new_block(x), front = pl_ir_new_block(x);
    pl_word type = c->cmp == W_ne ? (c->bits == 64 ? W_b64 : W_b32) : type_of(c);
    if (!pl_ir_ok(x)) return false;
    const uint32_t end = copies(u, loop, n), first = rest ? copies(u, front, rest) : front;
    if (end == PL_IR_NONE || first == PL_IR_NONE) return false;
    pl_ir_jump(x, end, line, pl_ir_compare(x, end, line, c->cmp, type, c->counter, c->bound, PL_PT),
               false, loop);
    settle(x, end);
    x->blocks.at[end].fallthrough = c->exit;
    forget(x, c);
    x->blocks.at[header].fallthrough = front;
    x->blocks.at[first].fallthrough = loop;
    return pl_ir_ok(x);
}

/* Are all iterations written out? What they add to the first may be the more, the larger the share
 * that is saved; a little is added for each, too. 162 bodies of 2 to 512 iterations, of which 1 to
 * 60 % is saved, are written out to within one instruction. */
static bool is_fully_unrolled(const pl_ir *x, const counted_loop *c, unsigned trip_count)
{
    enum { UNITS = 20 }; /* of an instruction: everything is in twentieths */
    const uint64_t savings = c->savings + x->p->tuning->loop_unroll.loop_overhead,
                   percent = 100 * savings / (c->cost + savings);
    const uint64_t max = x->p->tuning->loop_unroll.full_constant +
                         x->p->tuning->loop_unroll.full_linear * percent +
                         x->p->tuning->loop_unroll.full_quadratic * percent * percent;
    const uint64_t saved = x->p->tuning->loop_unroll.each_saved_constant +
                           x->p->tuning->loop_unroll.each_saved_linear * c->savings;
    uint64_t beside =
        x->p->tuning->loop_unroll.each_constant + x->p->tuning->loop_unroll.each_linear * percent;
    beside = beside < saved ? beside : saved;
    beside =
        beside < x->p->tuning->loop_unroll.each_max ? beside : x->p->tuning->loop_unroll.each_max;
    return (trip_count - 1) * (UNITS * (uint64_t)c->cost + beside) <= max;
}

/* How many copies of its body a loop of so many iterations becomes: all of them, or the most in the
 * loop that do, with those before it, for the cost; with branches in it all or none. */
static unsigned unroll_factor(const pl_ir *x, unsigned trip_count, const counted_loop *c)
{
    const uint32_t price = c->cost + c->savings;
    if (is_fully_unrolled(x, c, trip_count)) return trip_count;
    unsigned max = x->p->tuning->loop_unroll.max_copies_cost / price;
    for (unsigned n = max < trip_count ? max : trip_count - 1;
         n >= FACTOR && price <= x->p->tuning->loop_unroll.max_cost_partial && !c->branches; n--)
        if (n + trip_count % n <= max) return n;
    return 1;
}

/* ---- loops that wait for themselves ---- */

/* Where an access may go, as bits. */
static unsigned where(const pl_insn *i)
{
    enum { ELSEWHERE = 1, SHARED = 2, LOCAL = 4 };
    switch ((pl_space)i->sel[PL_M_SPACE]) {
    case PL_SP_SHARED: return SHARED;
    case PL_SP_LOCAL: return LOCAL;
    case PL_SP_PARAM:
    case PL_SP_CONST: return 0;
    case PL_SP_GLOBAL: return ELSEWHERE;
    default: return ELSEWHERE | SHARED | LOCAL;
    }
}

typedef struct memory_recurrence {
    uint8_t *row, *pred; /* by row, by predicate: loads of this iteration that it is computed of, as
                            bits of where they may have read */
    uint8_t of_insn;     /* the same of the instruction at work */
} memory_recurrence;

static void ask_traced(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    memory_recurrence *t = ctx;
    for (unsigned k = 0; k < ((use & PL_USE_PRED) ? 1 : rows); k++)
        t->of_insn |= ((use & PL_USE_PRED) ? t->pred : t->row)[*row + k];
}

static void note_traced(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    memory_recurrence *t = ctx;
    for (unsigned k = 0; k < ((use & PL_USE_PRED) ? 1 : rows); k++)
        ((use & PL_USE_PRED) ? t->pred : t->row)[*row + k] = t->of_insn;
}

/* The instruction that writes the row in each iteration, if there is only one in the loop; NULL. */
static const pl_insn *only_write(pl_ir *x, const counted_loop *c, uint32_t row)
{
    if (writes_in(x, c, row) != 1) return NULL;
    for (uint32_t m = 0; m < c->members; m++) {
        const pl_insn *i = last_write(x, c->member[m], row);
        if (i)
            return i->guard == PL_PT && i->op[0] == row &&
                           pl_ir_dominates(x, c->member[m], c->latch)
                       ? i
                       : NULL;
    }
    return NULL;
}

/* Is it a row that grows by a constant each iteration, perhaps by way of a copy, or a constant away
 * from one? */
static bool moves_on(pl_ir *x, const counted_loop *c, uint32_t row)
{
    enum { STEPS = 4 };
    uint32_t seen[STEPS];
    uint64_t number;
    for (unsigned k = 0; k < STEPS; k++) {
        const pl_insn *i = only_write(x, c, row);
        if (!i || !(pl_insn_is_copy(i) ||
                    (pl_insn_mnem(i) == M_add && pl_ir_constant_value(x, i->op[2], &number))))
            return false;
        seen[k] = row;
        row = i->op[1];
        for (unsigned j = 0; j <= k; j++)
            if (seen[j] == row) return true;
    }
    return false;
}

/* Does a load of the next iteration have to wait for what this one stores, because that is computed
 * of a load from there, and this holds for each load? It does where the place is not one that moves
 * on in each iteration. ptxas 13.0 does not unroll such a loop if its lanes may do different
 * numbers of iterations (200 loops made for it, 2026-11). */
static bool has_memory_recurrence(pl_ir *x, const counted_loop *c, bool *failed)
{
    memory_recurrence t = {pl_arena_array(x->tmp, uint8_t, x->f->rows + 4),
                           pl_arena_array(x->tmp, uint8_t, x->f->preds + 1), 0};
    unsigned waits = 0, elsewhere = 0, branches = 0;
    *failed = !t.row || !t.pred;
    for (uint32_t m = 0; m < c->members && !*failed; m++)
        for (size_t k = 0; k < x->blocks.at[c->member[m]].code.n; k++) {
            pl_insn *i = &x->blocks.at[c->member[m]].code.at[k];
            const uint32_t e = pl_insn_effects(i);
            t.of_insn = 0;
            pl_insn_reads_here(x->p, i, ask_traced, &t);
            if ((e & PL_EF_STORE) && ((t.of_insn | branches) & where(i)) &&
                (i->guard != PL_PT || !pl_ir_dominates(x, c->member[m], c->latch) ||
                 !pl_insn_address(i) || !moves_on(x, c, i->op[pl_insn_address(i) - 1])))
                waits |= where(i);
            if (e & PL_EF_BRANCH) branches |= t.of_insn;
            if (e & PL_EF_LOAD) t.of_insn |= (uint8_t)where(i);
            pl_insn_writes_here(x->p, i, note_traced, &t);
        }
    for (uint32_t m = 0; m < c->members && waits; m++)
        for (size_t k = 0; k < x->blocks.at[c->member[m]].code.n; k++) {
            const pl_insn *i = &x->blocks.at[c->member[m]].code.at[k];
            elsewhere |= (pl_insn_effects(i) & PL_EF_LOAD) && where(i) && !(where(i) & waits);
        }
    return waits && !elsewhere;
}

/* May the lanes of a warp do different numbers of iterations? The tests of loops still to be
 * unrolled are older than the answer. */
static bool may_diverge(pl_ir *x, const counted_loop *c, iteration_constants *known)
{
    const uint32_t p = pl_ir_branch(x, c->latch)->guard;
    if (!known->npreds_described) {
        if (!pl_divergence_find(&known->divergence, x)) return false;
        known->npreds_described = x->f->preds;
    }
    return p < known->npreds_described && known->divergence.pred[p];
}

/* What lanes do together is unrolled only where their number of iterations is plainly the same:
 * from what is the same in all of them to a constant or a parameter. */
static bool in_step(pl_ir *x, const counted_loop *c, iteration_constants *known)
{
    uint64_t v;
    const pl_insn *i = x->regs[c->bound].ndefs == 1 ? pl_ir_writer(x, c->bound) : NULL;
    const bool parameter = i && pl_insn_mnem(i) == M_ld && i->sel[PL_M_SPACE] == PL_SP_PARAM;
    return (parameter || pl_ir_constant_value(x, c->bound, &v)) && !may_diverge(x, c, known);
}

static bool unroll(pl_ir *x, counted_loop *c, iteration_constants *known)
{
    const unsigned n = trip_count(x, c);
    bool failed = false;
    if (n && !iteration_constants_init(known, x, c->block)) return false;
    compute_cost(x, c, n ? known : NULL);
    const unsigned part = n ? unroll_factor(x, n, c) : 0;
    uint64_t bound;
    /* of barriers beside branches ptxas writes out less than this cost says, and less of it is
     * known */
    const bool parted =
        c->has_barrier && c->divergent &&
        (!n || (uint64_t)c->cost * n > x->p->tuning->loop_unroll.max_cost_divergent_barrier);
    if (parted || (has_several_exits(c) && !n) ||
        (n ? part == 1 && n > 1
           : c->cost > max_cost(x, c) || (c->convergent && !in_step(x, c, known)) ||
                 ((c->has_global_loads || c->shared_loads) && may_diverge(x, c, known) &&
                  has_memory_recurrence(x, c, &failed)))) {
        settle(x, c->latch);
        return !failed && pl_ir_ok(x);
    }
    if (!n && c->cmp != W_ne && pl_ir_constant_value(x, c->bound, &bound) && limit_wraps(c, bound))
        return true;
    size_t max = (n ? part + n % part : FACTOR + 3) * (size_t)(c->n + 1) * 8 + 64;
    unroll_copy u = {.x = x,
                     .c = c,
                     .block_to = pl_arena_array(x->tmp, uint32_t, x->blocks.n),
                     .row_to = pl_arena_array(x->tmp, uint32_t, x->f->rows + max),
                     .pred_to = pl_arena_array(x->tmp, uint32_t, x->f->preds + max),
                     .steps = pl_arena_array(x->tmp, uint8_t, x->f->rows)};
    u.keep = pl_arena_array(x->tmp, uint8_t, x->f->rows + 4);
    u.keep_pred = pl_arena_array(x->tmp, uint8_t, x->f->preds + 1);
    if (!u.row_to || !u.pred_to || !u.steps || !u.block_to || !u.keep || !u.keep_pred) return false;
    find_unrenamed(&u);
    for (uint32_t m = 0; m < c->members; m++) {
        const pl_ir_block *b = &x->blocks.at[c->member[m]];
        for (size_t k = 0; k < b->code.n; k++) {
            uint64_t step;
            if (is_only_increment(x, c, c->member[m], &b->code.at[k], &step))
                u.steps[b->code.at[k].op[0]] = 1;
        }
    }
    if (!n) return c->cmp == W_ne ? unroll_until(&u, c) : unroll_ordered(&u, c);
    return part == n ? unroll_fully(&u, c, n) : unroll_part(&u, c, part, n % part);
}

/* Each loop without others inside. *any: there was one; *outer: one that stood in another is
 * written out, which may be due now. */
static bool unroll_loops(pl_ir *x, bool *any, bool *outer)
{
    if (!pl_pass_merge_blocks(x) || !pl_ir_analyze(x)) return false;
    size_t n = x->blocks.n;
    iteration_constants known = {0};
    *any = *outer = false;
    for (uint32_t b = 0; b < n; b++) {
        counted_loop c;
        if (x->blocks.at[b].rpo_index == PL_IR_NONE || !analyze_loop(x, b, &c)) continue;
        const uint32_t rows = x->f->rows;
        const size_t blocks = x->blocks.n;
        const bool inside = x->blocks.at[b].parent_loop != PL_IR_NONE;
        if (!unroll(x, &c, &known)) return false;
        /* rows and blocks that copies made are described before the next loop is looked at */
        if (x->f->rows != rows || x->blocks.n != blocks) {
            *any = true;
            if (!pl_ir_graph(x) || !pl_ir_count(x)) return false;
            *outer |= inside && x->blocks.at[b].nlatches == 0;
        }
    }
    if (!*any) pl_ir_preserve_all(x);
    return true;
}

bool pl_pass_loop_unroll(pl_ir *x)
{
    enum { MOST_NESTED = 4 };
    bool any = true, outer = true;
    for (unsigned k = 0; outer && k < MOST_NESTED; k++) {
        if (!unroll_loops(x, &any, &outer)) return false;
        pl_arena_reset(x->tmp);
        /* what is the same in each iteration, now that it is written out */
        if (any && (!pl_pass_split_webs(x) || !pl_pass_gvn(x))) return false;
        pl_arena_reset(x->tmp);
    }
    return true;
}
