/* constant_bank.h - words of the constant bank, and how machine code reads them. */
#ifndef PL_COMPILER_ANALYSIS_CONSTANT_BANK_H
#define PL_COMPILER_ANALYSIS_CONSTANT_BANK_H

#include "compiler/ir/ir.h"

/* How machine code reads 64 bits of the bank: as an address (LDC.64), as the sum of IMAD.WIDE or
 * what is stored (LDC.64), by arithmetic, which takes a uniform register (ULDC.64). What is read in
 * several ways is fetched for each. */
enum { PL_CBANK_VIA_ADDRESS, PL_CBANK_VIA_THREAD, PL_CBANK_VIA_UNIFORM, PL_CBANK_READ_KINDS };

/* A load from the bank, at any place: of constants, or of the parameters of a kernel. Nothing that
 * runs writes it. */
bool pl_insn_reads_cbank(const pl_ir *x, const pl_insn *i);
/* A parameter of a kernel, or a constant at a known place. */
bool pl_insn_reads_cbank_word(const pl_ir *x, const pl_insn *i);
/* How operand `row` of the instruction is read. */
unsigned pl_cbank_read_kind(const pl_insn *i, const uint32_t *row);

#endif
