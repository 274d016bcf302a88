/* resources.h - what a function takes, its callees included: barriers, stack, registers. */
#ifndef PL_ISA_RESOURCES_H
#define PL_ISA_RESOURCES_H

#include "base/status.h"
#include "isa/program.h"

/* Sets barriers and stack_bytes of every function of a finished program; its registers are no fewer
 * than a callee's. */
pl_status pl_program_resources(pl_program *p);

/* Bytes of constant bank 0 in front of the kernel parameters, by target (size of .nv.constant0 in
 * what nvcc 13.0 makes of an empty kernel, 2026-11; before sm_75: as disassembled kernels show). */
uint32_t pl_constant_base(unsigned sm);

#endif
