/* insn_build.h - creates instructions from mnemonic and words. */
#ifndef PL_ISA_PROGRAM_INSN_BUILD_H
#define PL_ISA_PROGRAM_INSN_BUILD_H

#include "isa/program/program.h"

/* Initialises *i as an instruction of this mnemonic with exactly these words; false if the table
 * has none. */
bool pl_insn_make(pl_insn *i, uint16_t mnem, unsigned noperands, const pl_word *words, unsigned n);

#endif
