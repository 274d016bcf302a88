/* resource_usage.h - resources of a function, including its callees: barriers, stack, registers. */
#ifndef PL_ISA_PROGRAM_RESOURCE_USAGE_H
#define PL_ISA_PROGRAM_RESOURCE_USAGE_H

#include "base/status.h"
#include "isa/program/program.h"

/* Sets barriers and stack_bytes of every function of a complete program. A function has at least as
 * many registers as its callees. */
pl_status pl_program_resources(pl_program *p);

/* Bytes of constant bank 0 before the kernel parameters, by target (size of .nv.constant0 in the
 * nvcc 13.0 output for an empty kernel, 2026-11; before sm_75: as disassembled kernels show). */
uint32_t pl_constant_base(unsigned sm);

/* Most registers that a thread of this function may have. */
uint32_t pl_register_limit(const pl_program *p, const pl_prog_func *f);
/* Initial registers of a kernel that changes their number at run time (setmaxnreg). 0 if it does
 * not, or if ptxas cannot determine the number and ignores setmaxnreg. The number is the maximum
 * that the kernel's limits allow, allocated to whole warp groups of a block, but no more than it
 * ever requests. */
uint32_t pl_registers_at_entry(const pl_program *p, const pl_prog_func *f);

#endif
