/* constant_bank.h - constant-bank words, and how machine code reads them. */
#ifndef PL_COMPILER_ANALYSIS_CONSTANT_BANK_H
#define PL_COMPILER_ANALYSIS_CONSTANT_BANK_H

#include "compiler/ir/ir.h"

/* How machine code reads a 64-bit constant-bank word: as an address (LDC.64), as the addend of
 * IMAD.WIDE or the data of a store (LDC.64), or by arithmetic, which takes a uniform register
 * (ULDC.64). A word read in several ways is loaded once for each. */
enum { PL_CBANK_VIA_ADDRESS, PL_CBANK_VIA_THREAD, PL_CBANK_VIA_UNIFORM, PL_CBANK_READ_KINDS };

/* True for a load from the constant bank at any address: of constants, or of kernel parameters. The
 * bank is read-only during execution. */
bool pl_insn_reads_cbank(const pl_ir *x, const pl_insn *i);
/* True for a load of a kernel parameter, or of a constant at a known address. */
bool pl_insn_reads_cbank_word(const pl_ir *x, const pl_insn *i);
/* How the instruction reads its operand `row`: one of PL_CBANK_VIA_*. */
unsigned pl_cbank_read_kind(const pl_insn *i, const uint32_t *row);

#endif
