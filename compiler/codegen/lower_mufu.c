/* lower_mufu.c - makes the scaling around instructions of the multi-function unit (MUFU) explicit.
 *
 * MUFU flushes subnormal operands to zero. For ex2, lg2, rsqrt and sqrt without .ftz, ptxas 13.0
 * (sm_90, 14 small kernels, 2026-11) tests whether the operand is too small (FSETP). If so, it
 * multiplies it by a power of two, and the result by another one (lg2: adds a constant):
 *     FSETP p, x    @p FMUL x    MUFU y, x    @p FMUL y          if x has no other use
 *     FMUL t, x    FSETP p, x    FSEL t, t, x, p    MUFU y, t    @p FMUL y     otherwise
 * MUFU.SIN and MUFU.COS are preceded by an FMUL that converts radians to turns. Here one
 * instruction computes all of it, as the emulator defines it (emu/exec/num/mufu_sequences.h).
 * ~scale, which has no effect, stands for the machine instructions around it, so that the scheduler
 * places others between them and their predicate has its latency. Predicated instructions are not
 * split. */
#include "compiler/passes.h"

typedef struct mufu_lowering {
    pl_ir *x;
    uint32_t block, line;
    /* By row: the register with its value in turns; block (plus one) where that is valid. */
    uint32_t *in_turns_reg, *in_turns_block;
} mufu_lowering;

static pl_insn *insert_insn(mufu_lowering *s, size_t at, uint16_t mnem, unsigned operands,
                            const pl_word *words, unsigned n)
{
    pl_insn *i = pl_ir_insert_deferred(s->x, s->block, at);
    if (!i || !pl_insn_make(i, mnem, operands, words, n)) return NULL;
    i->line = s->line;
    return i;
}

static bool insert_scale(mufu_lowering *s, size_t at, uint32_t to, uint32_t from, uint32_t guard)
{
    pl_insn *i = insert_insn(s, at, M__scale, 2, NULL, 0);
    if (!i) return false;
    i->op[0] = to;
    i->op[1] = from;
    i->guard = guard;
    return true;
}

/* True if this is the last read of the value. */
static bool is_last_use(const mufu_lowering *s, uint32_t row)
{
    const pl_ir *x = s->x;
    const pl_ir_reg *r = &x->regs[row];
    return row < x->f->rows && r->kind == PL_REG_VIRTUAL && !r->precolored && r->ndefs == 1 &&
           r->nuses == 1 && x->blocks.at[r->def_block].loop == x->blocks.at[s->block].loop;
}

static bool scale_operand(mufu_lowering *s, size_t at)
{
    enum { SMALLEST_EX2 = 0xc2fc0000, SMALLEST = 0x800000 }; /* -126; 2^-126 */
    pl_ir *x = s->x;
    const pl_insn i = x->blocks.at[s->block].code.at[at];
    const uint32_t small = pl_ir_new_pred(x),
                   limit =
                       pl_ir_constant(x, pl_insn_mnem(&i) == M_ex2 ? SMALLEST_EX2 : SMALLEST, 32);
    const bool last = is_last_use(s, i.op[1]);
    const uint32_t scaled = last ? i.op[1] : pl_ir_new(x, 1),
                   chosen = last ? i.op[1] : pl_ir_new(x, 1);
    if (!last && !insert_scale(s, at, scaled, i.op[1], PL_PT)) return false;
    pl_insn *test = insert_insn(s, at, M_setp, 4, (const pl_word[]){W_lt, W_f32}, 2);
    if (!test) return false;
    test->op[0] = small;
    test->op[2] = i.op[1];
    test->op[3] = limit;
    if (last) {
        if (!insert_scale(s, at, scaled, scaled, small)) return false;
    } else {
        pl_insn *select = insert_insn(s, at, M_selp, 4, (const pl_word[]){W_b32}, 1);
        if (!select) return false;
        select->op[0] = chosen;
        select->op[1] = scaled;
        select->op[2] = i.op[1];
        select->op[3] = small;
    }
    x->blocks.at[s->block].code.at[at].op[1] = chosen;
    x->blocks.at[s->block].code.at[at].latency_class = C_mufu;
    return insert_scale(s, at + 1, i.op[0], i.op[0], small);
}

/* If both functions of one angle are computed, the second reuses the angle in turns. */
static bool scale_angle(mufu_lowering *s, size_t at)
{
    pl_insn *i = &s->x->blocks.at[s->block].code.at[at];
    const uint32_t row = i->op[1];
    const bool reused = s->in_turns_block[row] == s->block + 1 && s->x->regs[row].ndefs == 1;
    if (!reused) s->in_turns_reg[row] = pl_ir_new(s->x, 1);
    s->in_turns_block[row] = s->block + 1;
    i->latency_class = C_mufu;
    i->op[1] = s->in_turns_reg[row];
    return reused || insert_scale(s, at, i->op[1], row, PL_PT);
}

static bool needs_scaling(const pl_insn *i)
{
    const uint16_t m = pl_insn_mnem(i);
    return (i->latency_class == C_mufu_scaled && m != M_rcp) || i->latency_class == C_mufu_trig;
}

bool pl_pass_lower_mufu(pl_ir *x)
{
    if (!pl_ir_any(x, needs_scaling)) return true;
    if (!pl_ir_analyze(x)) return false;
    const uint32_t rows = x->f->rows;
    mufu_lowering s = {.x = x,
                       .in_turns_reg = pl_arena_array(x->tmp, uint32_t, rows + 1),
                       .in_turns_block = pl_arena_array(x->tmp, uint32_t, rows + 1)};
    if (!s.in_turns_reg || !s.in_turns_block) return false;
    for (s.block = 0; s.block < x->blocks.n; s.block++)
        for (size_t k = 0; k < x->blocks.at[s.block].code.n; k++) {
            const pl_insn *i = &x->blocks.at[s.block].code.at[k];
            if (i->form == PL_IR_DEAD || i->guard != PL_PT || !needs_scaling(i)) continue;
            s.line = i->line;
            if (!(i->latency_class == C_mufu_trig ? scale_angle(&s, k) : scale_operand(&s, k)))
                return false;
        }
    return pl_ir_flush_inserts(x);
}
