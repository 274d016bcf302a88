/* dispatch.h - maps an instruction to the compiled function that executes it. */
#ifndef PL_EMU_EXEC_DISPATCH_H
#define PL_EMU_EXEC_DISPATCH_H

#include "isa/program/program.h"

/* Finds the functions provided by the driver. */
void pl_bind_system(pl_program *p);

/* Sets PL_IF_ORDERED, PL_IF_STORE and PL_IF_GROUP_WAIT, and sets exec of every instruction to the
 * best version for this processor (AVX-512, AVX2 or baseline; the results are identical). level: -1
 * for the best, else at most 0 baseline, 1 AVX2, 2 AVX-512. An instruction without semantics keeps
 * NULL. */
void pl_bind(pl_program *p, int level);

/* True if the instruction may order the effects of different blocks: atomics, volatile and ordered
 * accesses outside of shared and local memory, fences of gpu and system scope, calls of the driver.
 * late: reductions by the copy engine take effect where a warp waits for them. */
bool pl_insn_is_ordered(const pl_program *p, const pl_insn *i, bool late);
/* True if the program has reductions by the copy engine. */
bool pl_has_bulk_reductions(const pl_program *p);

#endif
