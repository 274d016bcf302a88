/* gvn.h - global value numbering: declarations shared by its parts. Private to compiler/opt/. */
#ifndef PL_COMPILER_OPT_GVN_H
#define PL_COMPILER_OPT_GVN_H

#include "compiler/passes.h"
#include "isa/program/operand_plan.h"
#include "isa/program/cache_policy.h"

typedef struct value {
    uint32_t block, at, next; /* next in the same bucket, plus one */
} value;

typedef struct value_table {
    pl_ir *x;
    uint32_t *leader;      /* by row: a row that holds the same value, PL_IR_NONE: none */
    uint32_t capacity;     /* number of rows that fit */
    uint32_t *pred_leader; /* the same for predicates */
    uint32_t *bucket, mask;
    struct {
        value *at;
        size_t n, cap;
    } values;
    bool changed;  /* an instruction was removed, or may now be removable */
    bool edited;   /* any instruction has changed */
    bool replaced; /* some row or predicate has a leader */
} value_table;

typedef struct operation {
    uint16_t mnem;
    unsigned bits;
    bool is_signed, simple; /* simple: integer arithmetic without further modifiers; otherwise the
                               other fields except mnem are not set */
} operation;

static inline operation pl_gvn_operation_of(const pl_insn *i)
{
    if (i->guard != PL_PT || !(pl_insn_traits(i) & PL_TRAIT_INTEGER) || !pl_insn_pure(i))
        return (operation){.mnem = pl_insn_mnem(i)};
    return (operation){pl_insn_mnem(i), pl_insn_traits(i) & PL_TRAIT_WIDE ? 64 : 32,
                       pl_type_kind(pl_insn_type(i)) == 's', true};
}

static inline bool pl_gvn_is_copy(const pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    if (i->guard != PL_PT || f->noperands != 2 || f->operand[1].kind == PL_K_IMM) return false;
    if (f->mnem == M_mov && !pl_operand_count(f, 0, i->mods) && !pl_operand_count(f, 1, i->mods))
        return pl_type_bits(pl_operand_type(f, 0, i->mods)) >= 32;
    return f->mnem == M_cvta && pl_mod(f, i->mods, G_size) == W_u64 &&
           pl_mod(f, i->mods, G_ss) == W_global; /* global addresses equal generic addresses */
}

/* constant_fold.c */
uint64_t pl_gvn_truncate(uint64_t v, unsigned bits);
/* Evaluates an integer instruction with constant operands. */
bool pl_gvn_evaluate(const pl_insn *i, operation o, const uint64_t v[3], uint64_t *out,
                     unsigned *width);
/* The same for 16-bit integers, conversions between integers, and upper halves of 32-bit
 * products. */
bool pl_gvn_evaluate_rare(const pl_insn *i, const uint64_t v[3], uint64_t *out, unsigned *width);
bool pl_gvn_compare(const pl_insn *i, operation o, uint64_t a, uint64_t b, bool *out);
double pl_gvn_constant_of(uint64_t bits, pl_word type);
/* Evaluates a floating-point instruction with constant operands. ptxas 13.0 does not fold fma (70
 * kernels made for it, sm_90, 2026-11). */
bool pl_gvn_evaluate_real(const pl_ir *x, const pl_insn *i, uint64_t *out, unsigned *width);
bool pl_gvn_compare_real(const pl_insn *i, pl_word type, uint64_t x, uint64_t y, bool *out);

#endif
