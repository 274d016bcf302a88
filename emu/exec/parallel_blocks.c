/* parallel_blocks.c - functional mode with several host threads: blocks run in parallel.
 *
 * A job of a team (base/team.h) is a range of consecutive blocks, which it runs sequentially. A
 * block stops before its first instruction that may order the effects of different blocks
 * (PL_IF_ORDERED) until all preceding blocks have ended. So atomics, and everything that depends on
 * their order, happen in block order, and the results are those of one thread unless the program
 * has data races.
 *
 * A block that polls although all preceding blocks have ended waits for a later one. Then the
 * threads stop, and functional.c continues with the blocks that have started. The same holds for a
 * block that runs for long while no other one can continue. functional.c also continues
 * when jobs execute many of their instructions after such a stop, since threads then only wait for
 * each other. */
#include <stdlib.h>
#include <string.h>

#include "emu/exec/async/async.h"
#include "emu/exec/dispatch.h"
#include "emu/exec/functional.h"
#include <pthread.h>

enum {
    SERIAL_INSTRUCTIONS = 20000, /* instructions that one thread executes before others are woken:
                      half a millisecond, several times the cost of waking them */
    POLLING_ROUNDS = 4,          /* consecutive rounds in which a block only polls */
    JOB_INSTRUCTIONS = 4000,     /* instructions of a job: a tenth of a millisecond, many times the
                      overhead of a job */
    TRIAL_JOBS = 64,             /* jobs of the first wave */
    LATE_FRACTION = 3            /* fewer than one in this many instructions should follow a stop */
};

typedef enum job_state { NOT_STARTED, RUNNING, ENDED } job_state;

/* The blocks of one job. */
typedef struct block_job {
    pl_cta *cta;      /* the running block, or NULL between two blocks */
    uint32_t at, end; /* number of that block; one past the last block */
    job_state state;
    pl_team_turn turn; /* reached: all preceding blocks have ended */
    bool stopped;      /* it has waited for them */
    uint64_t advances;
    uint64_t executed, lane_executed, blocks; /* of the blocks that have ended */
    uint64_t late_executed;                   /* instructions after a stop */
} block_job;

typedef struct parallel_run {
    pl_grid *g;
    pl_team *team;
    pthread_mutex_t lock; /* protects the pool and the sums of the grid */
    block_job *job;
    pl_pc_stat **stat; /* per worker, or NULL */
    uint32_t base;     /* number of the first job's first block */
    uint32_t each;     /* blocks per job */
    uint32_t running;  /* jobs that a worker executes */
    bool stopping;     /* all blocks stop at their current position */
    bool no_memory;
} parallel_run;

/* ---- one block ---- */

static bool is_stopping(const parallel_run *r)
{
    return __atomic_load_n(&r->stopping, __ATOMIC_RELAXED) || pl_failed(r->g) ||
           pl_stop_flag(r->g->cancel);
}

/* Starts the next block of a job. */
static bool start_block(parallel_run *r, block_job *j)
{
    pl_grid *g = r->g;
    pthread_mutex_lock(&r->lock);
    j->cta = pl_cta_acquire(g, j->at, pl_grid_block_sm(g, j->at));
    pthread_mutex_unlock(&r->lock);
    if (!j->cta || !pl_cta_begin(j->cta)) {
        __atomic_store_n(&r->no_memory, true, __ATOMIC_RELAXED);
        __atomic_store_n(&r->stopping, true, __ATOMIC_RELAXED);
        return false;
    }
    j->state = RUNNING;
    j->cta->turn = &j->turn;
    j->cta->advances = &j->advances;
    j->cta->pc_stat = r->stat ? r->stat[j->turn.worker] : NULL;
    j->cta->stops_at_ordered = !j->turn.reached;
    return true;
}

static void end_block(parallel_run *r, block_job *j)
{
    for (uint32_t k = 0; k < j->cta->nwarps; k++) {
        j->executed += j->cta->warp[k].executed;
        j->lane_executed += j->cta->warp[k].lane_executed;
    }
    j->blocks++;
    pthread_mutex_lock(&r->lock);
    pl_cta_end(j->cta);
    pthread_mutex_unlock(&r->lock);
    j->cta = NULL;
    if (++j->at == j->end) j->state = ENDED;
}

/* Updates and returns whether all preceding blocks have ended. */
static bool update_preceding_ended(block_job *j)
{
    const bool ended = pl_team_turn_reached(&j->turn);
    j->cta->stops_at_ordered = !ended;
    return ended;
}

/* True if the block has run for long, and may wait for blocks that have stopped until it ends. */
static bool may_wait_for_later(const parallel_run *r, const block_job *j, uint64_t executed)
{
    return executed > PL_FIRST_BLOCK_SLICE && j->turn.reached &&
           __atomic_load_n(&r->running, __ATOMIC_RELAXED) == 1;
}

/* Runs the block of a job until it ends. False: it has stopped until the preceding blocks have
 * ended, or permanently (is_over). */
static bool run_block(parallel_run *r, block_job *j)
{
    pl_cta *c = j->cta;
    uint64_t ran = 0;
    for (unsigned polling_rounds = 0; c->warps_done < c->nwarps;) {
        const bool had_ended = update_preceding_ended(j);
        bool paused;
        const uint64_t executed = pl_cta_run_round(c, &paused);
        j->late_executed += j->stopped ? executed : 0;
        ran += executed;
        if (may_wait_for_later(r, j, ran)) __atomic_store_n(&r->stopping, true, __ATOMIC_RELAXED);
        if (is_stopping(r)) return false;
        polling_rounds = executed && !paused ? 0 : polling_rounds + 1;
        if (c->warps_done == c->nwarps || !polling_rounds ||
            update_preceding_ended(j) != had_ended || (executed && polling_rounds < POLLING_ROUNDS))
            continue;
        if (j->turn.reached) __atomic_store_n(&r->stopping, true, __ATOMIC_RELAXED);
        j->stopped = true;
        return false;
    }
    return true;
}

/* The work function of the team: runs a job until it ends, or stops until the preceding blocks have
 * ended. */
static bool run_job(void *ctx, uint32_t job, uint32_t worker)
{
    parallel_run *r = ctx;
    block_job *j = &r->job[job];
    bool ended = true;
    __atomic_fetch_add(&r->running, 1, __ATOMIC_RELAXED);
    j->turn.worker = worker;
    if (j->cta) j->cta->pc_stat = r->stat ? r->stat[worker] : NULL;
    while (!is_stopping(r) && j->at < j->end && (j->cta || start_block(r, j))) {
        ended = run_block(r, j);
        if (!ended) break;
        end_block(r, j);
    }
    __atomic_fetch_sub(&r->running, 1, __ATOMIC_RELAXED);
    return ended || is_stopping(r);
}

/* ---- the launch ---- */

/* The conditions that depend on the launch; these are cheap to check. */
static bool may_be_parallel(const pl_grid *g)
{
    return g->threads > 1 && !g->next && !g->cluster[0] && !g->cooperative && !g->sink &&
           !g->hooks && !g->weak && !g->random && !g->max_slice && !g->limits.instructions &&
           !g->simt_stack;
}

/* The conditions that depend on the program: all instructions that order blocks are marked as
 * such. */
static bool orders_are_marked(const pl_grid *g)
{
    return !g->program->launch_control &&
           (g->async_mode == PL_ASYNC_EAGER || !g->program->bulk_reductions);
}

/* Runs the first blocks in this thread, until others are worth waking. The last of them may then
 * remain, if it has run for long. False: one of them waits for others, or the launch has ended. */
static bool run_first_blocks(pl_grid *g, pl_live_blocks *live, pl_status *st)
{
    const uint64_t blocks = pl_grid_blocks(g);
    for (uint64_t ran = 0; ran < SERIAL_INSTRUCTIONS && g->next_block < blocks;) {
        const uint32_t number = (uint32_t)g->next_block++;
        pl_cta *c = pl_cta_start(g, number, pl_grid_block_sm(g, number));
        live->at[live->n++] = c;
        *st = c ? PL_OK : PL_NOMEM;
        while (c && c->warps_done < c->nwarps) {
            bool paused;
            const uint64_t executed = pl_cta_run_round(c, &paused);
            ran += executed;
            g->instructions += executed;
            if (pl_failed(g)) return false;
            if (pl_grid_stop(g, 0, g->instructions, live->at, live->n)) {
                *st = PL_INTERRUPTED;
                return false;
            }
            if (c->warps_done < c->nwarps && (!executed || paused)) return false;
            if (c->warps_done < c->nwarps && g->may_wait && ran > PL_LONG_RUN &&
                pl_polls_memory(live->at, live->n, true))
                return false;
            if (c->warps_done < c->nwarps && ran > PL_FIRST_BLOCK_SLICE) return true;
        }
        if (!c) return false;
        pl_cta_end(c);
        live->n--;
    }
    return g->next_block < blocks;
}

/* Discards the counts of blocks after one that has failed: with one thread they would not have
 * started. */
static void discard_later_blocks(parallel_run *r, uint32_t jobs)
{
    uint32_t failed = 0;
    while (failed < jobs &&
           !(r->job[failed].cta &&
             memcmp(r->job[failed].cta->id, r->g->fault.block, sizeof r->g->fault.block) == 0))
        failed++;
    for (uint32_t k = failed + 1; k < jobs; k++) {
        block_job *j = &r->job[k];
        r->g->executed -= j->executed;
        r->g->lane_executed -= j->lane_executed;
        r->g->blocks_done -= j->blocks;
        *j = (block_job){.state = ENDED, .at = j->end, .end = j->end};
    }
}

/* Adds a block that has not ended to the live blocks, without its job. */
static void hand_over_block(const parallel_run *r, block_job *j, pl_live_blocks *live)
{
    j->cta->stops_at_ordered = false;
    j->cta->turn = NULL;
    j->cta->advances = &r->g->head->advances;
    j->cta->pc_stat = r->g->pc_stat;
    live->at[live->n++] = j->cta;
    j->cta = NULL;
}

/* After a run of the team: collects the remaining blocks. Blocks that precede a started block are
 * also started. */
static pl_status collect_remaining(parallel_run *r, uint32_t jobs, pl_live_blocks *live)
{
    pl_grid *g = r->g;
    const bool failed = pl_failed(g);
    uint32_t started = jobs;
    if (failed) discard_later_blocks(r, jobs);
    while (started && r->job[started - 1].state == NOT_STARTED) started--;
    for (uint32_t k = 0; k < started; k++) {
        block_job *j = &r->job[k];
        const uint32_t last = k + 1 < started ? j->end : j->at + 1;
        g->head->advances += j->advances;
        for (; j->at < j->end && j->at < last; j->at++) {
            if (!j->cta && failed) break;
            if (!j->cta && !start_block(r, j)) return PL_NOMEM;
            hand_over_block(r, j, live);
        }
        g->next_block = j->at;
    }
    return PL_OK;
}

static pl_team_turn turn_of(const parallel_run *r, uint32_t job)
{
    return (pl_team_turn){.team = r->team, .job = job};
}

/* Runs each live block as a job. Blocks that remain wait for others, or the launch has ended. */
static pl_status run_live_blocks(parallel_run *r, pl_live_blocks *live)
{
    const uint32_t jobs = (uint32_t)live->n;
    for (uint32_t k = 0; k < jobs; k++) {
        pl_cta *c = live->at[k];
        r->job[k] =
            (block_job){.turn = turn_of(r, k), .cta = c, .at = k, .end = k + 1, .state = RUNNING};
        c->turn = &r->job[k].turn;
        c->advances = &r->job[k].advances;
        c->stops_at_ordered = true;
    }
    live->n = 0;
    pl_team_run(r->team, jobs, 0, NULL);
    for (uint32_t k = 0; k < jobs; k++) {
        r->g->head->advances += r->job[k].advances;
        r->g->instructions += r->job[k].executed;
        if (r->job[k].cta) hand_over_block(r, &r->job[k], live);
    }
    return pl_grid_stop(r->g, 0, r->g->instructions, live->at, live->n) ? PL_INTERRUPTED : PL_OK;
}

/* Sets up the jobs of the next wave. */
static uint32_t plan_wave(parallel_run *r, uint32_t most)
{
    const uint64_t left = pl_grid_blocks(r->g) - r->g->next_block;
    uint64_t jobs = r->g->max_resident / r->each, needed = (left + r->each - 1) / r->each;
    jobs = jobs < most ? jobs : most;
    jobs = jobs < needed ? jobs : needed;
    r->base = (uint32_t)r->g->next_block;
    for (uint32_t k = 0; k < jobs; k++) {
        const uint64_t at = (uint64_t)k * r->each, n = left - at < r->each ? left - at : r->each;
        r->job[k] = (block_job){.turn = turn_of(r, k),
                                .at = r->base + (uint32_t)at,
                                .end = r->base + (uint32_t)(at + n)};
    }
    return (uint32_t)jobs;
}

/* Makes the block that run_first_blocks left the first of the wave. */
static void begin_with(parallel_run *r, pl_cta *c)
{
    r->job[0].cta = c;
    r->job[0].state = RUNNING;
    c->turn = &r->job[0].turn;
    c->advances = &r->job[0].advances;
    c->stops_at_ordered = true;
}

/* True if threads have mostly waited for each other. */
static bool is_serial(const parallel_run *r, uint32_t jobs)
{
    uint64_t late = 0, all = 0;
    for (uint32_t k = 0; k < jobs; k++) {
        late += r->job[k].late_executed;
        all += r->job[k].executed;
    }
    return late * LATE_FRACTION > all;
}

/* Called after a wave whose threads waited for each other: with single blocks as jobs, others
 * continue while one waits. False: jobs are single blocks already, or the blocks are too short. */
static bool shorten_jobs(parallel_run *r)
{
    const bool shorter = r->each > 1 && r->g->executed / r->g->blocks_done > JOB_INSTRUCTIONS / 4;
    r->each = 1;
    return shorter;
}

static pl_status run_waves(parallel_run *r, pl_live_blocks *live)
{
    pl_grid *g = r->g;
    const uint64_t blocks = pl_grid_blocks(g);
    pl_status st = PL_OK;
    uint32_t most = TRIAL_JOBS;
    while (st == PL_OK && g->next_block < blocks && !is_stopping(r)) {
        pl_cta *first = live->n ? live->at[--live->n] : NULL;
        if (first) g->next_block--;
        const uint32_t jobs = plan_wave(r, most);
        if (first) begin_with(r, first);
        pl_team_run(r->team, jobs, 0, NULL);
        st = r->no_memory ? PL_NOMEM : collect_remaining(r, jobs, live);
        if (g->progress) g->progress(g->progress_ctx, g->blocks_done, blocks, g->executed);
        g->instructions = g->executed;
        if (st == PL_OK && pl_grid_stop(g, 0, g->instructions, live->at, live->n))
            st = PL_INTERRUPTED;
        const bool serial = is_serial(r, jobs);
        if (serial && !shorten_jobs(r)) break;
        most = serial ? TRIAL_JOBS : PL_TEAM_JOBS;
    }
    return st;
}

/* Allocates a table of counters for each worker but the first, which uses that of the grid. */
static bool open_stats(parallel_run *r)
{
    const pl_grid *g = r->g;
    const uint32_t n = pl_team_size(r->team);
    if (!g->pc_stat) return true;
    r->stat = calloc(n, sizeof *r->stat);
    if (!r->stat) return false;
    r->stat[0] = g->pc_stat;
    for (uint32_t k = 1; k < n; k++) {
        r->stat[k] = calloc(g->program->code.n + 1, sizeof **r->stat);
        if (!r->stat[k]) return false;
    }
    return true;
}

static void close_stats(parallel_run *r)
{
    for (uint32_t w = 1; r->stat && w < pl_team_size(r->team); w++) {
        if (r->stat[w]) pl_pc_stat_add(r->g->pc_stat, r->stat[w], r->g->counted);
        free(r->stat[w]);
    }
    free(r->stat);
}

/* Enough blocks to make a job worth its overhead, judging by the blocks that have run; few enough
 * that every thread has several jobs per wave. */
static uint32_t choose_blocks_per_job(const pl_grid *g)
{
    const uint64_t each = g->executed / g->blocks_done + 1, suitable = JOB_INSTRUCTIONS / each + 1,
                   most = g->max_resident / (4u * g->threads) + 1;
    return (uint32_t)(suitable < most ? suitable : most);
}

pl_status pl_run_blocks_in_parallel(pl_grid *g, pl_live_blocks *live)
{
    pl_status st = PL_OK;
    const size_t begun = live->n, most = begun > g->max_resident ? begun : g->max_resident;
    if (!may_be_parallel(g) || (!begun && !run_first_blocks(g, live, &st)) || !orders_are_marked(g))
        return st;
    parallel_run r = {.g = g, .lock = PTHREAD_MUTEX_INITIALIZER};
    r.job = calloc(most, sizeof *r.job);
    r.team = pl_launch_cache_take_team(g->launch_cache, g->threads, run_job, &r);
    if (!r.job || !r.team || !open_stats(&r)) {
        st = PL_NOMEM;
    } else if (pl_team_size(r.team) > 1) {
        if (begun) st = run_live_blocks(&r, live);
        if (st == PL_OK && !(begun && live->n) && (live->n || g->blocks_done)) {
            r.each = live->n ? 1 : choose_blocks_per_job(g);
            st = run_waves(&r, live);
        }
    }
    if (r.team) {
        close_stats(&r);
        pl_launch_cache_put_team(g->launch_cache, r.team, g->threads);
    }
    free(r.job);
    return st;
}
