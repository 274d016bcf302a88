/* fold_approx.h - approximate functions of constants, before registers are allocated. */
#ifndef PL_COMPILER_OPT_FOLD_APPROX_H
#define PL_COMPILER_OPT_FOLD_APPROX_H

#include "base/status.h"
#include "isa/program/program.h"

/* Replaces approximate functions and divisors that are constants. It changes the last bit of
 * results, so it runs at every level. The arguments are those of pl_contract_fma. */
pl_status pl_fold_approx(pl_program *p, pl_prog_func *f, uint32_t *fixed, pl_arena *scratch,
                         pl_arena *tmp);

#endif
