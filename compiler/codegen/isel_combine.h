/* isel_combine.h - instruction selection: what its parts share. Private to compiler/codegen/. */
#ifndef PL_COMPILER_CODEGEN_ISEL_COMBINE_H
#define PL_COMPILER_CODEGEN_ISEL_COMBINE_H

#include "compiler/passes.h"
#include "isa/program/operand_plan.h"

typedef struct combiner {
    pl_ir *x;
    uint32_t block, at;
    uint32_t *last_write;       /* by row: position in this block of the last write, plus one */
    uint32_t *last_write_block; /* by row: block (plus one) that position belongs to */
    uint32_t *absorbing_uses;   /* by row: uses that could take over its computation */
    uint32_t *tf32_uses;        /* by row: uses as tf32 by matrix units */
    uint32_t tf32_block;        /* the last block with a conversion to tf32 in place, plus one */
    bool counting;              /* first walk: only count */
    bool changed;
} combiner;

/* True if the row still holds what it held when the writer of `def` ran. */
static inline bool pl_isel_stable(const combiner *c, uint32_t row, const pl_ir_reg *def)
{
    if (row == UINT32_MAX || c->x->regs[row].ndefs == 1) return true;
    if (def->def_block != c->block) return false;
    return c->last_write_block[row] != c->block + 1 || c->last_write[row] <= def->def_index;
}

/* The name of the instruction that wrote operand k last, whether its work can be done here or not;
 * M_count: none did. Most operands need no further look. */
static inline uint16_t pl_isel_writer_name(const combiner *c, const pl_insn *i, unsigned k)
{
    const pl_insn *w = i->op[k] == UINT32_MAX ? NULL : pl_ir_writer(c->x, i->op[k]);
    return w ? pl_insn_mnem(w) : (uint16_t)M_count;
}

/* isel_arithmetic.c */
void pl_isel_note_write(void *ctx, uint32_t *row, unsigned rows, unsigned use);
/* The instruction that computed operand k, when this place may do its work instead. */
pl_insn *pl_isel_source(const combiner *c, const pl_insn *i, unsigned k);
bool pl_isel_single(const combiner *c, uint32_t row);
/* 64 bits times a constant whose upper half is 0 or -1: IMAD.WIDE, IMAD for the upper half, IADD3.
 */
void pl_isel_short_factor(const combiner *c, pl_insn *i);
/* a * b + c and (a << n) + c */
bool pl_isel_multiply_add(combiner *c, pl_insn *i, unsigned bits);
/* c - a * constant, a * b - c, and likewise with a left shift: IMAD. (c - a * b of two registers
 * takes a negation, which is no gain.) */
bool pl_isel_multiply_subtract(combiner *c, pl_insn *i, unsigned bits);
/* (a >> n) + c, and a rotation or the middle of two registers + c: LEA.HI */
bool pl_isel_shift_add(combiner *c, pl_insn *i);
/* a << n | b >> 32 - n: SHF; of 64 bits two of them, where it is a sum, as nvcc writes a rotation:
 * of the other two ptxas makes nothing there. The shifted values have no bit in common, so a sum is
 * the same. */
bool pl_isel_funnel(combiner *c, pl_insn *i);
/* A shift by a count of which only the lower five bits are taken: SHF does that by itself. */
void pl_isel_shift_round(combiner *c, pl_insn *i);
/* a + b + c, a + b - c, a - (b - c), a - b - c */
bool pl_isel_three_sums(const combiner *c, pl_insn *i, unsigned bits);
/* max(a + b, c), min(a - b, c), and max(max(a + b, c), 0); the larger of three values; min(max(a,
 * b), 0) is one, too. A sum that counts stays, as ptxas 13.0 leaves it. */
void pl_isel_sum_and_bound(const combiner *c, pl_insn *i);

/* isel_logic.c */
/* Up to three inputs of a tree of logic are one LOP3. So does ptxas 13.0 (100 small programs for
 * sm_90a, 2026-11). In program order, each instruction absorbs the inversion of an operand,
 * whatever its other readers. Then it absorbs the producers of its second and its first operand,
 * once. An inversion absorbs nothing, nor does a LOP3 of the PTX. */
void pl_isel_merge_logic(const combiner *c, pl_insn *i);
/* setp, then and/or/xor with another predicate: one compare does both. If both operands are
 * compares with other readers, the first is done again, unless it compares 64-bit integers, which
 * takes two instructions. That costs no more than the logic would, and nothing if it has no other
 * reader (guards of one to four compares and each of one to three others, ptxas 13.0 for sm_90,
 * 2026-11). */
void pl_isel_merge_compare(const combiner *c, pl_insn *i);

/* isel_operands.c */
void pl_isel_fold_address(const combiner *c, pl_insn *i);
/* Negation or absolute value of a float is part of its reader. */
void pl_isel_free_sign(const combiner *c, pl_insn *i);
void pl_isel_count_signs(void *ctx, uint32_t *row, unsigned rows, unsigned use);
/* What the arithmetic of floats can take along. */
bool pl_isel_takes_signs(const pl_insn *i);
void pl_isel_count_cutters(void *ctx, uint32_t *row, unsigned rows, unsigned use);
/* cvt.rna.tf32: FSETP and, in place, a guarded sum with a number that a move brings once in a
 * block, for loops before them. FSETP, IADD3 and SEL do where the value itself is wanted as well.
 * LOP3 cuts the low bits away, which a matrix unit does not look at (12 small kernels, ptxas 13.0
 * for sm_90, 2026-11). */
void pl_isel_round_tf32(combiner *c, pl_insn *i);

/* isel_convert.c */
/* and, then a compare of the result with zero: LOP3 writes the predicate. */
void pl_isel_test_bits(const combiner *c, pl_insn *i);
/* The result of ex2 is no number that another ex2 would have to scale: it is not negative. */
void pl_isel_unscaled(const combiner *c, pl_insn *i);
/* A conversion to bf16 and back is F2F, which only rounds, where it would be F2FP otherwise. */
void pl_isel_is_round_trip(const combiner *c, pl_insn *i);
/* True if a field stands at whole bytes. */
bool pl_isel_whole_bytes(uint64_t place, uint64_t width);
/* A byte or half of a word becomes a float: I2F takes it out of the word by itself; I2FP, which is
 * quicker, cannot. */
void pl_isel_convert_part(const combiner *c, pl_insn *i);
/* A number of 8 or 16 bits without sign that a load, a shift or PRMT leaves with zeros above it,
 * for this reader alone: I2FP does. */
void pl_isel_convert_widened(const combiner *c, pl_insn *i);
/* A float held between 0 and 1, from either side: what has computed it saturates, else FADD does.
 */
void pl_isel_saturate(const combiner *c, pl_insn *i);
/* A rounding to an integral value followed by an exact conversion to an integer: F2I rounds as the
 * first one says. */
void pl_isel_round_once(const combiner *c, pl_insn *i);

#endif
