/* deadlock_report.h - explaining a launch that cannot go on: who waits at which line, for whom, and
 * what would release them. */
#ifndef PL_EMU_EXEC_DEADLOCK_REPORT_H
#define PL_EMU_EXEC_DEADLOCK_REPORT_H

#include "emu/exec/exec.h"

/* Stops the launch with CUDA_ERROR_LAUNCH_TIMEOUT. live: the n blocks that run. spinning: they
 * execute instructions, but only poll memory that no thread changes. */
void pl_hang_report(pl_grid *g, pl_cta **live, size_t n, bool spinning);

#endif
