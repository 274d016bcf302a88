/* timing.c - timing mode of a launch: runs the timing model and hands its figures to the caller. */
#include "lib/internal.h"
#include <stdlib.h>
#include <string.h>

pl_status pl_timing(pl_module *m, pl_grid *head, pl_totals *totals, pl_result *out)
{
    pl_timing_result *t = calloc(1, sizeof *t);
    pl_counter *counter = pl_arena_array(m->results, pl_counter, PL_MAX_COUNTERS);
    pl_status st = t && counter ? PL_OK : PL_NOMEM;
    for (pl_grid *g = head; g && st == PL_OK; g = g->next) st = pl_grid_open(g);
    if (st == PL_OK) {
        st = pl_timing_run(head, totals, t);
        memcpy(counter, t->counter, t->ncounters * sizeof *counter);
        out->cycles = t->cycles;
        out->inst_executed = t->inst_executed;
        out->thread_inst_executed = t->thread_inst_executed;
        out->counter = counter;
        out->ncounters = t->ncounters;
    }
    for (pl_grid *g = head; g; g = g->next) pl_grid_close(g);
    free(t);
    return st;
}
