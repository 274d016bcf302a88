/* parallel_windows.c - simulates one window of a launch: SMs and the memory system, by one host
 * thread or several. */
#include "base/clock.h"
#include "emu/sm/gpu_parts.h"

enum {
    MIN_WARPS = 8, /* minimum number of resident warps for which waking other threads pays off */
    /* Adjacent SMs assigned to the same worker: the order passes from one to the next without
     * another thread. */
    NEIGHBOURS = 4,
    MEASURE_WINDOWS = 4, /* windows that run with the other policy to measure their duration */
    FIRST_INTERVAL = 32, /* windows until the first measurement, doubled if it changes nothing, */
    MAX_INTERVAL = 1024  /* up to this limit */
};

/* Runs only the memory system: accepts the requests of the preceding window, and processes the
 * events before the end of this one. */
void pl_window_memory(pl_gpu_model *x)
{
    if (x->unsent) {
        pl_memsys_set_horizon(x->mem, x->from);
        for (uint32_t k = 0; k < x->m->sm.count; k++) pl_memsys_send(x->mem, &x->sending[k]);
        x->unsent = false;
    }
    pl_memsys_run_events(x->mem, x->until);
}

/* False: the unit's SM has stopped until the preceding SMs have completed. alone: no other host
 * thread simulates SMs. */
static bool run_sms(pl_gpu_model *x, uint32_t job, uint32_t worker, bool alone)
{
    bool waits = !alone;
    const uint32_t first = x->sm_range[job - 1].first, last = x->sm_range[job - 1].last;
    if (!x->status[first].open || !x->sm[first].stopped) {
        for (uint32_t k = first; k < last; k++) { /* initialise all before one runs: blocks of a
                                                     cluster access each other's shared memory */
            pl_sm *s = &x->sm[k];
            if (!x->status[k].open) continue;
            s->turn = (pl_team_turn){x->team, job, worker, !waits};
            s->may_stop = last - first == 1;
            s->pc_stat = x->stat[worker];
            if (x->status[k].starts) pl_sm_begin(s);
            waits = !s->turn.reached;
        }
    } else { /* it resumes */
        waits = false;
        x->sm[first].turn.worker = worker;
        x->sm[first].pc_stat = x->stat[worker];
    }
    for (uint32_t k = first; k < last && !pl_failed(x->g); k++) {
        pl_sm *s = &x->sm[k];
        if (!x->status[k].open) continue;
        s->turn.reached = !waits;
        if (x->clusters) pl_sm_poll(s, x->now);
        if (!pl_sm_run(s, x->mem, x->until)) return false;
        waits = !s->turn.reached;
        s->turn.reached = true;
    }
    for (uint32_t k = first; k < last; k++)
        if (x->status[k].open) pl_sm_update_status(&x->sm[k]);
    return true;
}

static bool run_job(void *ctx, uint32_t job, uint32_t worker)
{
    pl_gpu_model *x = ctx;
    if (job == 0) {
        pl_window_memory(x);
        return true;
    }
    if (x->spread) return run_sms(x, job, worker, false);
    for (uint32_t k = 1; k <= x->nranges; k++) run_sms(x, k, worker, true);
    return true;
}

/* Collects the SMs with events. The blocks of a cluster access each other's shared memory: with
 * clusters the SMs of a group are one job. */
static void collect_busy_sms(pl_gpu_model *x)
{
    uint32_t sms = x->m->sm.count, groups = x->clusters ? x->m->mem.groups : sms;
    x->nranges = 0;
    for (uint32_t q = 0; q < groups; q++) {
        uint32_t first = q * sms / groups, last = (q + 1) * sms / groups;
        if (!x->clusters && pl_gpu_sm_event(x, q) >= x->until && !x->status[q].starts) continue;
        x->sm_range[x->nranges].first = first;
        x->sm_range[x->nranges++].last = last;
        /* The first SMs go to worker 1, since worker 0 has the memory system. */
        x->home_worker[x->nranges] = (uint16_t)(q / NEIGHBOURS + 1);
    }
}

/* Relative time below which the other policy counts as faster. */
#define FASTER_BELOW 0.85

/* Distributes the window over several threads. In most cases the SMs are spread over all of them.
 * If SMs mostly wait for each other's order, that costs more than it saves: then one thread
 * simulates all SMs, and another the memory system. The policy is selected by measured time, at
 * intervals. */
static void choose_parallelism(pl_gpu_model *x)
{
    if (!x->dec->ordered) {
        pl_team_run(x->team, x->nranges + 1, 1, x->home_worker);
        return;
    }
    const bool better = x->cost[0] == 0 || x->cost[1] * FASTER_BELOW <= x->cost[0],
               before = x->spread;
    if (++x->window > x->next_measurement + MEASURE_WINDOWS) {
        if (better != x->preferred)
            x->next_measurement = FIRST_INTERVAL;
        else if (x->next_measurement < MAX_INTERVAL)
            x->next_measurement *= 2;
        x->preferred = better;
        x->window = 0;
    }
    x->spread = x->window <= x->next_measurement ? x->preferred : !x->preferred;
    const double start = pl_clock_seconds();
    static const uint16_t together[] = {1, 0}; /* the SMs stay with the thread that hands over */
    pl_team_run(x->team, x->spread ? x->nranges + 1 : 2, 1, x->spread ? x->home_worker : together);
    if (before != x->spread) return; /* its data had to migrate to another core */
    const double elapsed = (pl_clock_seconds() - start) / x->nranges;
    double *cost = &x->cost[x->spread];
    *cost = *cost > 0 ? (7 * *cost + elapsed) / 8 : elapsed;
}

/* Simulates cycles x->now .. x->until. */
void pl_window_simulate(pl_gpu_model *x)
{
    collect_busy_sms(x);
    uint32_t warps = 0;
    for (uint32_t k = 0; k < x->nranges && warps < MIN_WARPS; k++) {
        for (uint32_t s = x->sm_range[k].first; s < x->sm_range[k].last; s++)
            if (x->status[s].open) warps += x->sm[s].live_warps + x->sm[s].nplaced * MIN_WARPS;
    }
    if (x->team && x->nranges > 1 && warps >= MIN_WARPS) {
        choose_parallelism(x);
    } else {
        pl_window_memory(x);
        for (uint32_t k = 1; k <= x->nranges; k++) run_sms(x, k, 0, true);
    }
}

/* Between two windows: exchanges replies and requests. An SM with an event in the next window keeps
 * stores that others may still be merged with. */
void pl_window_exchange(pl_gpu_model *x)
{
    pl_memsys_publish_replies(x->mem);
    for (uint32_t k = 0; k < x->m->sm.count; k++) {
        pl_sm *s = &x->sm[k];
        if (!x->status[k].sends) continue;
        pl_store_buffer_drain(
            s, pl_gpu_sm_event(x, k) < x->until + x->m->mem.xbar_latency ? x->until : PL_NEVER);
        x->status[k].sends = s->store_buffer_until;
        if (s->out.n == 0) continue;
        pl_mem_outbox empty = x->sending[k];
        x->sending[k] = s->out;
        s->out = empty;
        x->unsent = true;
        x->from = x->before;
    }
}

/* Adds up the counts of the workers. */
void pl_window_add_up(const pl_gpu_model *x)
{
    pl_pc_stat *to = x->g->pc_stat;
    for (uint32_t w = 1; to && x->team && w < pl_team_size(x->team); w++)
        pl_pc_stat_add(to, x->stat[w], x->g->counted);
}

void pl_window_put_team(pl_gpu_model *x)
{
    for (uint32_t k = 0; x->team && k < x->m->sm.count; k++)
        if (x->status[k].open) x->sm[k].turn.reached = true;
    pl_launch_cache_put_team(x->g->launch_cache, x->team, x->g->threads);
}

/* Starts several threads, if requested. Listeners receive the instructions in order, and weak
 * consistency and checkers maintain the history of memory in order, so with any of these there is
 * one thread. */
pl_status pl_window_open_team(pl_gpu_model *x)
{
    pl_grid *g = x->g;
    uint32_t n = g->sink || g->weak || g->hooks ? 1 : g->threads;
    if (n > 1) {
        x->spread = x->preferred = true;
        x->next_measurement = FIRST_INTERVAL;
        x->team = pl_launch_cache_take_team(g->launch_cache, n, run_job, x);
        if (!x->team) return PL_NOMEM;
        n = pl_team_size(x->team);
    }
    x->stat = pl_arena_array(x->arena, pl_pc_stat *, n);
    if (!x->stat) return PL_NOMEM;
    x->stat[0] = g->pc_stat;
    for (uint32_t w = 1; w < n && g->pc_stat; w++) {
        x->stat[w] = pl_arena_array(x->arena, pl_pc_stat, g->program->code.n);
        if (!x->stat[w]) return PL_NOMEM;
    }
    return PL_OK;
}
