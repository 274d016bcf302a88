/* canonicalize.h - what follows from an instruction, and the order in which a program keeps its
 * parts. */
#ifndef PL_ISA_PROGRAM_CANONICALIZE_H
#define PL_ISA_PROGRAM_CANONICALIZE_H

#include "isa/program/program.h"

/* Sets the latency class and the flags that follow from form and modifiers (PL_INSN_DERIVED). */
enum { PL_INSN_DERIVED = PL_IF_MEM | PL_IF_CONTROL };
void pl_insn_finish(pl_insn *i);

/* The sel[] bytes of an instruction with an address (PL_M_*) as far as form and modifiers tell; a
 * state space that is set stays. */
void pl_insn_shape(pl_insn *i);

/* Renumbers operand pool, lines, calls and moves in the order of the code, without gaps: programs
 * that mean the same then look the same, whether they come from PTX, an object or text. */
void pl_program_tidy(pl_program *p);

#endif
