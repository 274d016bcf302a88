/* timing.c - timing mode of a launch: runs the timing model and hands its figures to the caller. */
#include "emu/sm/timing.h"
#include "lib/internal.h"
#include <stdlib.h>
#include <string.h>

pl_status pl_timing(pl_module *m, pl_grid *g, pl_result *out)
{
    pl_timing_result *t = calloc(1, sizeof *t);
    pl_counter *counter = pl_arena_array(m->results, pl_counter, PL_MAX_COUNTERS);
    pl_status st = t && counter ? pl_grid_open(g) : PL_NOMEM;
    if (st == PL_OK) {
        st = pl_timing_run(g, m->gpu->machine, t);
        memcpy(counter, t->counter, t->ncounters * sizeof *counter);
        out->cycles = t->cycles;
        out->inst_executed = t->inst_executed;
        out->thread_inst_executed = t->thread_inst_executed;
        out->counter = counter;
        out->ncounters = t->ncounters;
        pl_grid_close(g);
    }
    free(t);
    return st;
}
