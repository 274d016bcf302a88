/* division_slow_path.h - determines which operands of quotients and roots need the subroutine
 * (~slow in the instruction table). */
#ifndef PL_EMU_SM_DIVISION_SLOW_PATH_H
#define PL_EMU_SM_DIVISION_SLOW_PATH_H

#include "emu/exec/exec.h"

/* The test of an instruction class; PL_DIVISION_NEVER: not a subroutine. */
typedef enum pl_division_path {
    PL_DIVISION_NEVER,
    PL_DIVISION_DIV_F32,
    PL_DIVISION_RCP_F32,
    PL_DIVISION_SQRT_F32,
    PL_DIVISION_DIV_F64,
    PL_DIVISION_RCP_F64,
    PL_DIVISION_SQRT_F64,
    PL_DIVISION_COUNT
} pl_division_path;

pl_division_path pl_division_path_of(unsigned cls);
/* Total machine instructions of the subroutine, of which a lane executes a part. */
uint32_t pl_division_path_length(unsigned slow);
/* True if a lane that executes the warp's next instruction needs the subroutine. */
bool pl_division_path_needed(pl_warp *w, const pl_insn *i, pl_division_path test);

#endif
