/* verify.h - is a machine program one that the assembler could have made? For programs that come
 * from files. */
#ifndef PL_ISA_PROGRAM_VERIFY_H
#define PL_ISA_PROGRAM_VERIFY_H

#include "isa/program/program.h"

/* Checks everything that running relies on. NULL, or what is wrong. */
const char *pl_program_check(pl_program *p);
/* True if each modifier is one that its slot of the form takes. */
bool pl_insn_words_fit(const pl_insn *i);

#endif
