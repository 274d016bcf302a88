/* constant_bank.c - see constant_bank.h. */
#include "compiler/analysis/constant_bank.h"

#include "isa/program/operand_plan.h"

bool pl_insn_reads_cbank(const pl_ir *x, const pl_insn *i)
{
    return i->form != PL_IR_DEAD && pl_insn_mnem(i) == M_ld &&
           (i->sel[PL_M_SPACE] == PL_SP_CONST ||
            (x->f->entry && i->sel[PL_M_SPACE] == PL_SP_PARAM));
}

bool pl_insn_reads_cbank_word(const pl_ir *x, const pl_insn *i)
{
    if (!pl_insn_reads_cbank(x, i) || i->sel[PL_M_COUNT] != 1) return false;
    return i->sel[PL_M_SPACE] == PL_SP_CONST
               ? i->op[1] != UINT32_MAX && x->kind.at[i->op[1]] == PL_REG_PRESET
               : i->op[1] == UINT32_MAX;
}

/* The index of the operand that `row` points to, or PL_INLINE_OPERANDS. */
static unsigned operand_at(const pl_insn *i, const uint32_t *row)
{
    const uintptr_t at = (uintptr_t)row, from = (uintptr_t)i->op;
    return at >= from && at < from + sizeof i->op ? (unsigned)((at - from) / sizeof *row)
                                                  : PL_INLINE_OPERANDS;
}

unsigned pl_cbank_read_kind(const pl_insn *i, const uint32_t *row)
{
    const pl_form *f = &pl_forms[i->form];
    const unsigned k = operand_at(i, row);
    if (k >= f->noperands) return PL_CBANK_VIA_THREAD;
    if (f->operand[k].kind == PL_K_ADDR) return PL_CBANK_VIA_ADDRESS;
    const bool uniform = f->operand[k].kind == PL_K_VALUE && pl_insn_pure(i) &&
                         !(i->flags & PL_IF_MEM) && i->latency_class != C_imad_wide &&
                         pl_insn_mnem(i) != M_mov && pl_insn_mnem(i) != M__mov;
    return uniform ? PL_CBANK_VIA_UNIFORM : PL_CBANK_VIA_THREAD;
}
