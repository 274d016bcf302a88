/* dispatch.h - which compiled function executes an instruction. */
#ifndef PL_EMU_EXEC_DISPATCH_H
#define PL_EMU_EXEC_DISPATCH_H

#include "isa/program/program.h"

/* Finds the functions that the driver provides. */
void pl_bind_system(pl_program *p);

/* Sets PL_IF_ORDERED, and exec of every instruction to the best version for this processor
 * (AVX-512, AVX2 or baseline; the results are the same). level: -1 the best, else 0 baseline, 1
 * AVX2, 2 AVX-512 at most. An instruction without meaning keeps NULL. */
void pl_bind(pl_program *p, int level);

/* May the instruction order what different blocks do: atomics, volatile and ordered accesses
 * outside of shared and local memory, fences of gpu and system scope, calls of the driver? late:
 * reductions by the copy engine happen where a warp waits for them. */
bool pl_insn_is_ordered(const pl_program *p, const pl_insn *i, bool late);
/* Does the program have reductions by the copy engine? */
bool pl_has_bulk_reductions(const pl_program *p);

#endif
