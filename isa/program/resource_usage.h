/* resource_usage.h - what a function takes, its callees included: barriers, stack, registers. */
#ifndef PL_ISA_PROGRAM_RESOURCE_USAGE_H
#define PL_ISA_PROGRAM_RESOURCE_USAGE_H

#include "base/status.h"
#include "isa/program/program.h"

/* Sets barriers and stack_bytes of every function of a finished program; its registers are no fewer
 * than a callee's. */
pl_status pl_program_resources(pl_program *p);

/* Bytes of constant bank 0 before the kernel parameters, by target (size of .nv.constant0 in
 * what nvcc 13.0 makes of an empty kernel, 2026-11; before sm_75: as disassembled kernels show). */
uint32_t pl_constant_base(unsigned sm);

/* Most registers that a thread of this function may have. */
uint32_t pl_register_limit(const pl_program *p, const pl_prog_func *f);
/* Registers with which a kernel begins that changes their number as it runs (setmaxnreg), 0: it
 * does not, or ptxas cannot tell and ignores that. They are as many as its limits allow, of which a
 * block takes those of whole warp groups, but not more than it ever asks for. */
uint32_t pl_registers_at_entry(const pl_program *p, const pl_prog_func *f);

#endif
