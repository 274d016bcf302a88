/* opt.h - what a real assembler does to a function before registers are allocated (-O2). */
#ifndef PL_ISA_OPT_H
#define PL_ISA_OPT_H

#include "base/status.h"
#include "isa/program.h"

/* Flags for the passes only: an instruction behind `.pragma "nounroll"`: a loop that holds it is
 * not unrolled; a sum of a product that contraction has joined: where the length of a loop is asked
 * for these are still two; part of a matrix product's load or store, which ptxas takes apart later
 * than we do. */
enum {
    PL_IF_NOUNROLL = 1 << 9,
    PL_IF_JOINED = 1 << 10,
    PL_IF_PART = 1 << 11,
    PL_IF_NOTES = PL_IF_NOUNROLL | PL_IF_JOINED | PL_IF_PART
};

/* *fixed is the first row that is no register of the program, before and after; `tmp` may be reset
 * on the way. */
/* Multiply-add contraction only: the part of optimisation that changes results, done at every level
 * as ptxas does. */
pl_status pl_opt_contract(pl_program *p, pl_prog_func *f, uint32_t *fixed, pl_arena *scratch,
                          pl_arena *tmp);

#endif
