/* dispatch.h - which compiled function executes an instruction. */
#ifndef PL_EMU_EXEC_DISPATCH_H
#define PL_EMU_EXEC_DISPATCH_H

#include "isa/program/program.h"

/* Finds the functions that the driver provides. */
void pl_bind_system(pl_program *p);

/* Sets exec of every instruction to the best version for this processor (AVX-512, AVX2 or baseline;
 * the results are the same). level: -1 the best, else 0 baseline, 1 AVX2, 2 AVX-512 at most. An
 * instruction without meaning keeps NULL. */
void pl_bind(pl_program *p, int level);

#endif
