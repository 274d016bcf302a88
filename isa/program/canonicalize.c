/* canonicalize.c - sorts the tables of a program into the order of its code.
 *
 * Optimisation removes instructions and leaves their operands behind. After this pass, entry k of a
 * table belongs to the k-th instruction that has one. The text form of a program
 * (isa/object/asm_text.h) depends on it, because it contains no table indices. */
#include "isa/program/canonicalize.h"

#include <string.h>

void pl_insn_finish(pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    i->latency_class = f->latency_class(i->mods);
    i->plan = 0; /* the flags below are part of the look-up key */
    uint32_t e = f->effects;
    if (e & (PL_EF_LOAD | PL_EF_STORE | PL_EF_ATOMIC)) i->flags |= PL_IF_MEM;
    if ((e & (PL_EF_BARRIER | PL_EF_BRANCH | PL_EF_EXIT | PL_EF_CALL | PL_EF_CONVERGE |
              PL_EF_ASYNC | PL_EF_VOLATILE | PL_EF_ATOMIC)) ||
        i->latency_class == C_sleep || i->latency_class == C_yield ||
        i->latency_class == C_alloca || f->mnem == M_griddepcontrol)
        i->flags |= PL_IF_CONTROL;
}

static uint8_t log2_of(int bits)
{
    return (uint8_t)(bits <= 8 ? 0 : bits <= 16 ? 1 : bits <= 32 ? 2 : bits <= 64 ? 3 : 4);
}

static pl_space space_word(pl_word w)
{
    switch ((int)w) {
    case W_global: return PL_SP_GLOBAL;
    case W_const: return PL_SP_CONST;
    case W_local: return PL_SP_LOCAL;
    case W_shared:
    case W_shared__cta:
    case W_shared__cluster: return PL_SP_SHARED;
    case W_param:
    case W_param__entry:
    case W_param__func: return PL_SP_PARAM;
    default: return PL_SP_GENERIC;
    }
}

void pl_insn_shape(pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    pl_word type = pl_mod(f, i->mods, G_type);
    unsigned data = f->operand[0].kind == PL_K_ADDR ? 1 : 0, flags = i->sel[PL_M_FLAGS];
    if (type == W_none && data < f->noperands) type = pl_operand_type(f, data, i->mods);
    i->sel[PL_M_LOG2] = log2_of(pl_type_bits(type));
    int count = data < f->noperands ? pl_operand_count(f, data, i->mods) : 0;
    i->sel[PL_M_COUNT] = (uint8_t)(count ? count : 1);
    if (pl_type_kind(type) == 's') flags |= PL_MF_SIGNED;
    if (data < f->noperands && pl_type_bits(type) > 32 && pl_type_bits(type) <= 64)
        flags |= PL_MF_WIDE;
    if (f->effects & PL_EF_VOLATILE) /* threads of one block see each other's stores in the L1 of
                                        their SM */
        flags |= PL_MF_POLL | (pl_insn_has(i, W_cta) ? 0u : PL_MF_NOL1);
    pl_word cop = pl_mod(f, i->mods, G_cop);
    if (cop == W_cg || cop == W_cv) flags |= PL_MF_NOL1;
    pl_space space =
        i->sel[PL_M_SPACE] ? (pl_space)i->sel[PL_M_SPACE] : space_word(pl_mod(f, i->mods, G_ss));
    if (space == PL_SP_GENERIC) /* `.global` written as a fixed word of the form */
        for (unsigned k = 0; k < f->nslots; k++)
            if (f->slot[k].group == G_none || f->slot[k].group == G_global ||
                f->slot[k].group == G_shared__cluster || f->slot[k].group == G_shared__cta) {
                pl_space t = space_word((pl_word)i->mods[k]);
                space = t != PL_SP_GENERIC ? t : space;
            }
    i->sel[PL_M_SPACE] = (uint8_t)space;
    i->sel[PL_M_FLAGS] = (uint8_t)flags;
    i->plan = 0;
}

static void rebuild_pool(pl_program *p)
{
    uint32_t *old = p->pool.at;
    p->pool.at = NULL;
    p->pool.n = p->pool.cap = 0;
    for (size_t k = 0; k < p->code.n; k++) {
        pl_insn *i = &p->code.at[k];
        uint32_t from = i->extra_ops;
        i->extra_ops = i->nextra ? (uint32_t)p->pool.n : 0;
        for (unsigned e = 0; e < i->nextra; e++) *pl_push(p->arena, &p->pool) = old[from + e];
    }
}

static void rebuild_lines(pl_program *p)
{
    const pl_prog_line *old = p->lines.at;
    size_t n = p->lines.n;
    p->lines.at = NULL;
    p->lines.n = p->lines.cap = 0;
    for (size_t k = 0; k < p->code.n; k++) {
        pl_insn *i = &p->code.at[k];
        const pl_prog_line line = i->line < n ? old[i->line] : (pl_prog_line){0};
        const pl_prog_line *last = p->lines.n ? &p->lines.at[p->lines.n - 1] : NULL;
        if (!last || memcmp(last, &line, sizeof line) != 0) *pl_push(p->arena, &p->lines) = line;
        i->line = (uint32_t)p->lines.n - 1;
    }
}

static uint32_t copy_moves(pl_program *p, const pl_call_move *moves, uint32_t from, uint32_t n)
{
    uint32_t first = n ? (uint32_t)p->moves.n : 0;
    for (uint32_t k = 0; k < n; k++) *pl_push(p->arena, &p->moves) = moves[from + k];
    return first;
}

static void rebuild_calls(pl_program *p)
{
    const pl_prog_call *calls = p->calls.at;
    const pl_call_move *moves = p->moves.at;
    p->calls.at = NULL;
    p->moves.at = NULL;
    p->calls.n = p->calls.cap = p->moves.n = p->moves.cap = 0;
    for (size_t k = 0; k < p->code.n; k++) {
        pl_insn *i = &p->code.at[k];
        if (!(pl_forms[i->form].effects & PL_EF_CALL)) continue;
        pl_prog_call c = calls[i->target];
        c.first_ret = copy_moves(p, moves, c.first_ret, c.nrets); /* in the order of a call */
        c.first_arg = copy_moves(p, moves, c.first_arg, c.nargs);
        i->target = (uint32_t)p->calls.n;
        *pl_push(p->arena, &p->calls) = c;
    }
}

void pl_program_canonicalize(pl_program *p)
{
    for (size_t k = 0; k < p->code.n; k++) { /* clear the passes' annotations */
        p->code.at[k].flags &= (uint16_t)~PL_IF_COMPILE_ONLY;
        p->code.at[k].plan = p->code.at[k].traits = 0;
    }
    rebuild_pool(p);
    rebuild_lines(p);
    rebuild_calls(p);
}
