/* canonicalize.h - derived fields of an instruction, and the canonical order of a program's tables.
 */
#ifndef PL_ISA_PROGRAM_CANONICALIZE_H
#define PL_ISA_PROGRAM_CANONICALIZE_H

#include "isa/program/program.h"

/* Sets the latency class and the flags implied by form and modifiers (PL_INSN_DERIVED). */
enum { PL_INSN_DERIVED = PL_IF_MEM | PL_IF_CONTROL };
void pl_insn_finish(pl_insn *i);

/* Sets the sel[] bytes of an instruction with an address (PL_M_*) as far as form and modifiers
 * imply them; a state space that is already set is kept. */
void pl_insn_shape(pl_insn *i);

/* Renumbers operand pool, lines, calls and moves in the order of the code, without gaps. Equivalent
 * programs then have identical tables, whether they come from PTX, an object or text. */
void pl_program_canonicalize(pl_program *p);

#endif
