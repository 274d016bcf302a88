/* register_allocation.h - register allocation of a function: rows that are never live at the same
 * time are shared. */
#ifndef PL_COMPILER_CODEGEN_REGISTER_ALLOCATION_H
#define PL_COMPILER_CODEGEN_REGISTER_ALLOCATION_H

#include "base/status.h"
#include "isa/program/program.h"

/* Renumbers the register rows of function f so that its frame becomes small, and sets f->registers
 * to the largest number of 32-bit registers live at once. Rows from `fixed` on (constants, special
 * registers, scratch) keep their order and move down after the allocated ones. scratch is used for
 * temporary memory. */
pl_status pl_allocate_registers(pl_program *p, pl_prog_func *f, uint32_t fixed, pl_arena *scratch);

#endif
