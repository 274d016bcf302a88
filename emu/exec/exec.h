/* exec.h - the architectural state of a running grid: warps, blocks, memory; and the two ways to
 * advance a warp.
 *
 * This is the functional half of the machine: what instructions mean. Time is decided in emu/sm,
 * which calls pl_warp_step for one instruction at a time and looks at the recorded effect;
 * functional mode calls pl_warp_run, which runs a warp until it must wait. */
#ifndef PL_EMU_EXEC_H
#define PL_EMU_EXEC_H

#include "emu/exec/cta.h"
#include "emu/exec/grid.h"
#include "emu/exec/warp.h"

#endif
