/* contract_fma.h - what a real assembler does to a function before registers are allocated (-O2).
 */
#ifndef PL_COMPILER_OPT_CONTRACT_FMA_H
#define PL_COMPILER_OPT_CONTRACT_FMA_H

#include "base/status.h"
#include "isa/program/program.h"

/* *fixed is the first row that is no register of the program, before and after; `tmp` may be reset
 * on the way. */
/* Multiply-add contraction only: the part of optimisation that changes results, done at every level
 * as ptxas does. */
pl_status pl_contract_fma(pl_program *p, pl_prog_func *f, uint32_t *fixed, pl_arena *scratch,
                          pl_arena *tmp);

#endif
