/* perfetto.h - a trace in the Trace Event Format, which ui.perfetto.dev and chrome://tracing open.
 */
#ifndef PL_CLI_PERFETTO_H
#define PL_CLI_PERFETTO_H

#include "cli/cli.h"
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>

/* Multiprocessors are processes and warps are threads, with their issues, waits, barriers and
 * asynchronous copies; launches and counters belong to process 0. A cycle is shown as a nanosecond.
 * launch 0: all, sequentially; sm -1: all. Returns an exit status; write failures are detected with
 * ferror. */
int perfetto_write(pl_gpu *gpu, sqlite3 *db, int64_t launch, int64_t sm, FILE *out);

#endif
