/* timing.c - timing mode of a launch: runs the timing model and returns its results. Blocks that
 * exceed the time limit run without the model. */
#include "lib/internal.h"
#include "emu/exec/async/async.h"
#include <stdlib.h>
#include <string.h>

static pl_status run_timed(pl_module *m, pl_grid *head, pl_totals *totals, pl_result *out)
{
    pl_timing_result *t = calloc(1, sizeof *t);
    pl_counter *counter = pl_arena_array(m->results, pl_counter, PL_MAX_COUNTERS);
    pl_status st = t && counter ? PL_OK : PL_NOMEM;
    for (pl_grid *g = head; g && st == PL_OK; g = g->next) st = pl_grid_open(g);
    if (st == PL_OK) {
        st = pl_timing_run(head, totals, t);
        memcpy(counter, t->counter, t->ncounters * sizeof *counter);
        out->cycles = t->cycles;
        out->page_fault_cycles = t->page_fault_cycles;
        out->inst_executed = t->inst_executed;
        out->thread_inst_executed = t->thread_inst_executed;
        out->counter = counter;
        out->ncounters = t->ncounters;
    }
    for (pl_grid *g = head; g; g = g->next)
        if (st != PL_OK || !g->begun) pl_grid_close(g);
    free(t);
    return st;
}

static double ratio(uint64_t a, uint64_t b)
{
    return b ? (double)a / (double)b : 0;
}

void pl_timing_add_untimed(const pl_grid *g, pl_result *out)
{
    const pl_time_limit *limit = g->time_limit;
    const double scale = limit->timed_instructions && limit->executed
                             ? ratio(limit->timed_instructions, limit->executed)
                             : 1;
    const uint64_t executed = g->executed - limit->executed,
                   remaining = (uint64_t)(scale * (double)executed),
                   working = (uint64_t)(scale * (double)(executed - g->waited));
    const uint64_t waiting = out->page_fault_cycles,
                   starting = limit->cycles > waiting ? limit->cycles - waiting : 0;
    const double start_cpi = ratio(starting, limit->instructions),
                 mean_cpi = ratio(out->cycles - waiting, out->inst_executed),
                 cpi = start_cpi > 0 && start_cpi < mean_cpi ? start_cpi : mean_cpi;
    out->cycles += (uint64_t)(cpi * (double)working);
    out->cycles -= limit->idle_cycles < out->cycles ? limit->idle_cycles : 0;
    /* no fewer than the longest warp has counted, which may wait for its clock */
    const uint64_t idle = limit->idle_cycles + g->waited;
    if (g->longest_warp > idle && out->cycles < g->longest_warp - idle)
        out->cycles = g->longest_warp - idle;
    out->inst_executed += remaining;
    out->thread_inst_executed +=
        (uint64_t)(scale * (double)(g->lane_executed - limit->lane_executed));
}

/* Runs the remaining blocks, and the remainder of running blocks, without the model.
 * timed_instructions: instructions so far, as counted by the model. It counts hardware
 * instructions, while functional mode counts program instructions. The remaining instructions are
 * assumed to take the average time of earlier ones, either while blocks were starting or overall,
 * whichever is smaller: the GPU is not full at the beginning and the end. */
static pl_status run_untimed_blocks(pl_grid *g, uint64_t timed_instructions, pl_result *out)
{
    pl_time_limit *limit = g->time_limit;
    uint64_t executed = g->executed, lanes_executed = g->lane_executed;
    for (size_t k = 0; k < g->nbegun; k++)
        for (uint32_t w = 0; w < g->begun[k]->nwarps; w++) {
            executed += g->begun[k]->warp[w].executed;
            lanes_executed += g->begun[k]->warp[w].lane_executed;
        }
    limit->timed_instructions = timed_instructions;
    limit->executed = executed;
    limit->lane_executed = lanes_executed;
    if (!out->timed_blocks) out->timed_blocks = g->first_block + g->blocks_done + g->nbegun;
    g->resumed = g->blocks_done > 0;
    g->has_timing_model = false;
    g->sink = NULL;
    g->pc_stat = NULL;
    if (g->limits.instructions > executed) g->limits.instructions -= executed;
    if (g->async_mode == PL_ASYNC_TIMED) g->async_mode = PL_ASYNC_EAGER;
    const pl_status st = pl_grid_run(g);
    if (st != PL_WAITING) pl_timing_add_untimed(g, out);
    return st;
}

pl_status pl_timing(pl_module *m, pl_grid *head, pl_totals *totals, pl_result *out)
{
    const pl_time_limit *limit = head->time_limit;
    const uint64_t before = out->inst_executed;
    pl_status st = limit && limit->expired ? PL_OK : run_timed(m, head, totals, out);
    if (st == PL_OK && limit && limit->expired && pl_grid_blocks_remaining(head))
        st = run_untimed_blocks(head, out->inst_executed - before, out);
    return st;
}
