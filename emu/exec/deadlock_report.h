/* deadlock_report.h - explains a launch that cannot make progress: which threads wait at which
 * line, for which others, and what would release them. */
#ifndef PL_EMU_EXEC_DEADLOCK_REPORT_H
#define PL_EMU_EXEC_DEADLOCK_REPORT_H

#include "emu/exec/exec.h"

/* Stops the launch with CUDA_ERROR_LAUNCH_TIMEOUT. live: the n running blocks. spinning: they
 * execute instructions, but only poll memory that no thread changes. */
void pl_hang_report(pl_grid *g, pl_cta **live, size_t n, bool spinning);

#endif
