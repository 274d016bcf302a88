/* verify.h - verifies that a machine program could have been created by the assembler. For programs
 * read from files. */
#ifndef PL_ISA_PROGRAM_VERIFY_H
#define PL_ISA_PROGRAM_VERIFY_H

#include "isa/program/program.h"

/* Checks all invariants that execution depends on. Returns NULL, or a description of the error. */
const char *pl_program_check(pl_program *p);
/* True if each modifier is valid for its slot of the form. */
bool pl_insn_words_fit(const pl_insn *i);

#endif
