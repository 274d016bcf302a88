/* opt.h - what a real assembler does to a function before registers are allocated (-O2). */
#ifndef PL_ISA_OPT_H
#define PL_ISA_OPT_H

#include "base/status.h"
#include "isa/program.h"

/* Flag of an instruction behind `.pragma "nounroll"`: a loop that holds it is not unrolled. For the passes only. */
enum { PL_IF_NOUNROLL = 1 << 9 };

/* *fixed is the first row that is no register of the program, before and after; `tmp` may be reset on the way. */
/* Multiply-add contraction only: the part of optimisation that changes results, done at every level as ptxas does. */
pl_status pl_opt_contract(pl_program *p, pl_prog_func *f, uint32_t *fixed, pl_arena *scratch, pl_arena *tmp);
/* The passes of passes.h. */
pl_status pl_optimise(pl_program *p, pl_prog_func *f, uint32_t *fixed, pl_arena *scratch, pl_arena *tmp);

#endif
