/* insn_query.h - properties of an instruction, derived from its row of the instruction table and
 * its modifiers. */
#ifndef PL_ISA_PROGRAM_INSN_QUERY_H
#define PL_ISA_PROGRAM_INSN_QUERY_H

#include "isa/program/operands.h"
#include "isa/program/program.h"

static inline uint16_t pl_insn_mnem(const pl_insn *i)
{
    return pl_form_mnem[i->form];
}

static inline uint32_t pl_insn_effects(const pl_insn *i)
{
    return pl_form_effects[i->form];
}

/* A branch to a single target, or through a table. */
static inline bool pl_insn_is_jump(const pl_insn *i)
{
    return (pl_insn_effects(i) & PL_EF_BRANCH) && pl_forms[i->form].noperands >= 1;
}

static inline bool pl_insn_is_table(const pl_insn *i)
{
    return (pl_insn_effects(i) & PL_EF_BRANCH) && pl_forms[i->form].noperands == 2;
}

/* The callee of a call; UINT32_MAX: an indirect call. */
static inline uint32_t pl_insn_callee(const pl_program *p, const pl_insn *i)
{
    return i->target < p->calls.n ? p->calls.at[i->target].callee : UINT32_MAX;
}

/* True for a call of a function that follows the calling convention. */
static inline bool pl_call_uses_abi(const pl_program *p, const pl_insn *i)
{
    if (!(pl_insn_effects(i) & PL_EF_CALL)) return false;
    const uint32_t callee = pl_insn_callee(p, i);
    return callee == UINT32_MAX || p->funcs.at[callee].abi_calls || p->funcs.at[callee].system;
}

/* The code that executing the function can reach: its own instructions, or the whole program if it
 * contains calls. */
static inline pl_code_range pl_func_reach(const pl_program *p, const pl_prog_func *f)
{
    for (uint32_t k = 0; k < f->count; k++)
        if (pl_insn_effects(&p->code.at[f->first + k]) & PL_EF_CALL)
            return (pl_code_range){.count = p->code.n};
    return (pl_code_range){.first = f->first, .count = f->count};
}

/* True if its immediate is the number of a special register (a pl_word). */
static inline bool pl_insn_names_sreg(const pl_insn *i)
{
    return pl_insn_mnem(i) == M__sreg || pl_insn_mnem(i) == M__s2ur;
}

/* The offset of address n (from 0) of an instruction. Those of further addresses are part of their
 * registers. */
static inline int64_t pl_insn_offset(const pl_insn *i, unsigned n)
{
    const uint32_t third = i->op[PL_INLINE_OPERANDS - 1];
    return n == 0                          ? i->imm
           : n == 1                        ? (int32_t)i->target
           : n == 2 && third != UINT32_MAX ? (int32_t)third
                                           : 0;
}

/* True if the register of address n has 32 bits. */
static inline bool pl_insn_has_narrow_address(const pl_insn *i, unsigned n)
{
    static const uint8_t narrow[] = {PL_MF_ADDR32, PL_MF_ADDR32_2, PL_MF_ADDR32_3};
    return i->sel[PL_M_FLAGS] & narrow[n < 2 ? n : 2];
}

/* Sets of state spaces: those with the latency of global memory, and the others that hold data. */
enum {
    PL_SPACES_GLOBAL = 1 << PL_SP_GLOBAL | 1 << PL_SP_GENERIC,
    PL_SPACES_SHARED_LOCAL = 1 << PL_SP_SHARED | 1 << PL_SP_LOCAL
};

/* True for a load from one of these state spaces, regardless of its other effects. */
static inline bool pl_insn_loads(const pl_insn *i, unsigned spaces)
{
    return (pl_insn_effects(i) & PL_EF_LOAD) && (spaces >> i->sel[PL_M_SPACE] & 1);
}

/* True if it has a rounding modifier. */
static inline bool pl_insn_has_rounding(const pl_insn *i)
{
    return pl_insn_has(i, W_rn) || pl_insn_has(i, W_rz) || pl_insn_has(i, W_rm) ||
           pl_insn_has(i, W_rp);
}

/* True for a quotient or root that branches to a subroutine for some operands. */
static inline bool pl_insn_is_ieee_div_sqrt(const pl_insn *i)
{
    const uint16_t m = pl_insn_mnem(i);
    return (m == M_div || m == M_rcp || m == M_sqrt) && pl_insn_has_rounding(i);
}

/* As above, and also 64-bit integer division: some lanes use a subroutine, and the two paths
 * reconverge after it. */
static inline bool pl_insn_has_slow_path(const pl_insn *i)
{
    const uint16_t m = pl_insn_mnem(i);
    return pl_insn_is_ieee_div_sqrt(i) ||
           ((m == M_div || m == M_rem) && (pl_insn_has(i, W_u64) || pl_insn_has(i, W_s64)));
}

/* True for a call of a function, or of a subroutine for some lanes. Nothing is hoisted out of a
 * loop that contains one. */
static inline bool pl_insn_calls_out(const pl_insn *i)
{
    return (pl_insn_effects(i) & PL_EF_CALL) || pl_insn_mnem(i) == M__slow ||
           pl_insn_has_slow_path(i);
}

/* True for a fence between threads, across which ptxas moves nothing; proxy fences are excluded. */
static inline bool pl_insn_is_fence(const pl_insn *i)
{
    return i->latency_class == C_fence_cta || i->latency_class == C_fence_gpu ||
           i->latency_class == C_fence_sys;
}

/* Its type word; the first one if there are several. */
static inline pl_word pl_insn_type(const pl_insn *i)
{
    return i->form == PL_IR_DEAD ? W_none : (pl_word)(pl_insn_traits(i) >> PL_TRAIT_TYPE);
}

/* True if its only effect is its result. */
static inline bool pl_insn_pure(const pl_insn *i)
{
    return i->form != PL_IR_DEAD && !(i->flags & (PL_IF_CONTROL | PL_IF_MEM)) &&
           (pl_insn_traits(i) & PL_TRAIT_PURE);
}

/* The operand index of an access's address register, plus one; 0 if it has none. */
static inline unsigned pl_insn_address(const pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    for (unsigned k = 0; k < f->noperands && k < PL_INLINE_OPERANDS; k++)
        if (f->operand[k].kind == PL_K_ADDR) return i->op[k] == UINT32_MAX ? 0 : k + 1;
    return 0;
}

/* True for integer arithmetic of this width, 32 or 64, without further modifiers. */
static inline bool pl_insn_is_integer(const pl_insn *i, unsigned bits)
{
    const unsigned traits = PL_TRAIT_INTEGER | PL_TRAIT_PURE;
    return pl_insn_pure(i) && (pl_insn_traits(i) & (traits | PL_TRAIT_WIDE)) ==
                                  (bits == 64 ? traits | PL_TRAIT_WIDE : traits);
}

/* True for a mov from one register or number to one register. Excludes predicates, whose numbers
 * are not rows, and packing or unpacking. */
static inline bool pl_insn_is_copy(const pl_insn *i)
{
    if (pl_insn_mnem(i) != M_mov) return false;
    const pl_form *f = &pl_forms[i->form];
    return f->noperands == 2 && !pl_operand_count(f, 0, i->mods) &&
           !pl_operand_count(f, 1, i->mods) && pl_operand_type(f, 0, i->mods) != W_pred;
}

/* True if it costs no instruction: its destination is assigned the register of its source. */
static inline bool pl_insn_is_free_copy(const pl_insn *i)
{
    if (i->form == PL_IR_DEAD || i->guard != PL_PT || (i->flags & PL_IF_MEM) ||
        pl_insn_mnem(i) == M__mov)
        return false;
    const pl_form *f = &pl_forms[i->form];
    return i->latency_class == C_free || i->latency_class == C_cvt_int64 ||
           (f->mnem == M_mov && f->noperands == 2 && pl_operand_count(f, 0, i->mods));
}

#endif
