/* contract_fma.h - contraction of multiplications and additions to fused multiply-add, before
 * registers are allocated. */
#ifndef PL_COMPILER_OPT_CONTRACT_FMA_H
#define PL_COMPILER_OPT_CONTRACT_FMA_H

#include "base/status.h"
#include "isa/program/program.h"

/* *fixed is the first row that is not a program register, on input and output; `tmp` may be reset
 * by the function. */
/* Performs multiply-add contraction only: the optimisation that changes results, which runs at
 * every level as in ptxas. */
pl_status pl_contract_fma(pl_program *p, pl_prog_func *f, uint32_t *fixed, pl_arena *scratch,
                          pl_arena *tmp);

#endif
