/* isel_combine.h - instruction selection: declarations shared by its parts. Private to
 * compiler/codegen/. */
#ifndef PL_COMPILER_CODEGEN_ISEL_COMBINE_H
#define PL_COMPILER_CODEGEN_ISEL_COMBINE_H

#include "compiler/passes.h"
#include "isa/program/operand_plan.h"

typedef struct combiner {
    pl_ir *x;
    uint32_t block, at;
    uint32_t *last_write;       /* by row: position in this block of the last write, plus one */
    uint32_t *last_write_block; /* by row: block of that position, plus one */
    uint32_t *absorbing_uses;   /* by row: uses that could absorb its computation */
    uint32_t *tf32_uses;        /* by row: uses as tf32 by matrix instructions */
    uint32_t tf32_block;        /* the last block with an in-place conversion to tf32, plus one */
    bool counting;              /* first walk: only counts */
    bool changed;
} combiner;

/* True if the row still has the value it had at the write described by `def`. */
static inline bool pl_isel_is_unchanged(const combiner *c, uint32_t row, const pl_ir_reg *def)
{
    if (row == UINT32_MAX || c->x->regs[row].ndefs == 1) return true;
    if (def->def_block != c->block) return false;
    return c->last_write_block[row] != c->block + 1 || c->last_write[row] <= def->def_index;
}

/* The mnemonic of the last instruction to write operand k, whether or not it can be absorbed here;
 * M_count: none. A quick check that suffices for most operands. */
static inline uint16_t pl_isel_writer_mnem(const combiner *c, const pl_insn *i, unsigned k)
{
    const pl_insn *w = i->op[k] == UINT32_MAX ? NULL : pl_ir_writer(c->x, i->op[k]);
    return w ? pl_insn_mnem(w) : (uint16_t)M_count;
}

/* isel_arithmetic.c */
void pl_isel_note_write(combiner *c, const uint32_t *row, unsigned rows, unsigned use);
/* The instruction that computes operand k, if it can be absorbed here; else NULL. */
pl_insn *pl_isel_absorbable_def(const combiner *c, const pl_insn *i, unsigned k);
bool pl_isel_has_one_use(const combiner *c, uint32_t row);
/* A 64-bit product with a constant whose upper half is 0 or -1: IMAD.WIDE, IMAD for the upper half,
 * IADD3. */
void pl_isel_multiply_short(const combiner *c, pl_insn *i);
/* a * b + c and (a << n) + c */
bool pl_isel_multiply_add(combiner *c, pl_insn *i, unsigned bits);
/* c - a * constant, a * b - c, and likewise with a left shift: IMAD. (c - a * b of two registers
 * needs a negation, which gains nothing.) */
bool pl_isel_multiply_subtract(combiner *c, pl_insn *i, unsigned bits);
/* (a >> n) + c, and a rotation or funnel shift + c: LEA.HI */
bool pl_isel_shift_add(combiner *c, pl_insn *i);
/* a << n | b >> 32 - n: SHF; two of them for 64 bits if it is a sum, as nvcc writes a rotation:
 * ptxas does not combine the other forms. The shifted values have no bit in common, so a sum is
 * equivalent. */
bool pl_isel_funnel(combiner *c, pl_insn *i);
/* A shift whose count is masked to its lower five bits: SHF wraps the count itself. */
void pl_isel_wrap_shift(combiner *c, pl_insn *i);
/* a + b + c, a + b - c, a - (b - c), a - b - c */
bool pl_isel_add3(const combiner *c, pl_insn *i, unsigned bits);
/* max(a + b, c), min(a - b, c), and max(max(a + b, c), 0); the maximum of three values; also
 * min(max(a, b), 0). A counting sum is not combined, as in ptxas 13.0. */
void pl_isel_sum_and_bound(const combiner *c, pl_insn *i);

/* isel_logic.c */
/* A logic tree with up to three inputs is one LOP3, as in ptxas 13.0 (100 small programs for
 * sm_90a, 2026-11). In program order, each instruction absorbs the inversion of an operand, even if
 * that has other uses. Then it absorbs the producers of its second and its first operand, once. An
 * inversion absorbs nothing, nor does a LOP3 of the PTX. */
void pl_isel_merge_logic(const combiner *c, pl_insn *i);
/* setp followed by and/or/xor with another predicate: one comparison does both. If both operands
 * are comparisons with other uses, the first one is duplicated, unless it compares 64-bit integers,
 * which takes two instructions. That costs no more than the logic would, and nothing if it has no
 * other use (guards of one to four compares and each of one to three others, ptxas 13.0 for sm_90,
 * 2026-11). */
void pl_isel_merge_compare(const combiner *c, pl_insn *i);

/* isel_operands.c */
void pl_isel_fold_address(const combiner *c, pl_insn *i);
/* Folds the negation or absolute value of a float into its uses. */
void pl_isel_fold_sign(const combiner *c, pl_insn *i);
void pl_isel_count_signs(combiner *c, pl_insn *i);
/* True for float arithmetic that can fold a sign or absolute value. */
bool pl_isel_can_fold_signs(const pl_insn *i);
void pl_isel_count_tf32_uses(combiner *c, pl_insn *i);
/* cvt.rna.tf32: FSETP and, in place, a predicated sum with a constant that is moved to a register
 * once per block, outside of loops. If the original value is also used, it is FSETP, IADD3 and SEL.
 * LOP3 clears the low bits, which a matrix instruction ignores (12 small kernels, ptxas 13.0 for
 * sm_90, 2026-11). */
void pl_isel_round_tf32(combiner *c, pl_insn *i);

/* isel_convert.c */
/* and, followed by a comparison of the result with zero: LOP3 writes the predicate. */
void pl_isel_test_bits(const combiner *c, pl_insn *i);
/* The operand of a scaling MUFU needs no scaling if it is a result of ex2, sqrt or abs, since it is
 * not negative. */
void pl_isel_drop_mufu_scaling(const combiner *c, pl_insn *i);
/* A conversion to bf16 and back is F2F, which only rounds; otherwise it would be F2FP. */
void pl_isel_fold_round_trip(const combiner *c, pl_insn *i);
/* True if a bit field consists of whole bytes. */
bool pl_isel_whole_bytes(uint64_t position, uint64_t width);
/* Conversion of a byte or half of a word to float: I2F extracts it from the word itself; I2FP,
 * which is faster, cannot. */
void pl_isel_convert_part(const combiner *c, pl_insn *i);
/* Conversion of an unsigned 8-bit or 16-bit number that a load, a shift or PRMT zero-extends only
 * for this use: I2FP. */
void pl_isel_convert_widened(const combiner *c, pl_insn *i);
/* A float clamped to [0, 1] in either order: the instruction that computes it saturates, else FADD
 * does. */
void pl_isel_saturate(const combiner *c, pl_insn *i);
/* A rounding to an integral value followed by an exact conversion to an integer: F2I with the
 * rounding mode of the former. */
void pl_isel_merge_rounding(const combiner *c, pl_insn *i);

#endif
