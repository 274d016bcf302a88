/* exec.h - the architectural state of a running grid: warps, blocks, memory; and the two functions
 * that advance a warp.
 *
 * This is the functional half of the machine: the semantics of instructions. Timing is modelled in
 * emu/sm, which calls pl_warp_step for one instruction at a time and inspects the recorded effect.
 * Functional mode calls pl_warp_run, which runs a warp until it must wait. */
#ifndef PL_EMU_EXEC_H
#define PL_EMU_EXEC_H

#include "emu/exec/cta.h"
#include "emu/exec/grid.h"
#include "emu/exec/warp.h"

#endif
