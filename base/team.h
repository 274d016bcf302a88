/* team.h - host threads that share work: numbered jobs with a joint wait.
 *
 * The timing model creates them once per launch and runs them for every window, the assembler once
 * per module. Between two runs they spin for some microseconds and then sleep, so that a machine
 * with fewer free cores than threads loses little.
 *
 * A job has a home, the worker that preferably executes it, so that its data stay in the caches of
 * one core. A worker without jobs of its own takes those that others would reach last. A job may
 * require that all earlier jobs have completed. It either waits for that (pl_team_wait_turn) or
 * stops, and any worker resumes it when its turn has come. No thread waits for one that has not
 * started: a waiting thread itself executes the first incomplete job if no other thread is
 * executing it. That job never waits, so deadlock is impossible. */
#ifndef PL_BASE_TEAM_H
#define PL_BASE_TEAM_H

#include <stdbool.h>
#include <stdint.h>

typedef struct pl_team pl_team;

enum { PL_TEAM_THREADS = 256, PL_TEAM_JOBS = 65535 };

/* Executes job `job`; `worker` is 0 .. size-1. No two jobs run concurrently with the same worker,
 * except that a job waiting for its turn may have another one executed in between. False: the job
 * has stopped until its turn comes; then it is called again, possibly with another worker. */
typedef bool pl_team_work(void *ctx, uint32_t job, uint32_t worker);

/* Creates a team of n threads, including the caller's, or fewer if the system cannot provide more.
 * NULL: out of memory. */
pl_team *pl_team_open(uint32_t n, pl_team_work *work, void *ctx);
void pl_team_close(pl_team *t); /* NULL is allowed */
/* Sets the work function and its context for the following runs; only between two runs. */
void pl_team_set_work(pl_team *t, pl_team_work *work, void *ctx);
uint32_t pl_team_size(const pl_team *t);
/* Executes jobs 0 .. n-1 (at most PL_TEAM_JOBS) and returns when all have completed. The first
 * `exempt` jobs do not count: no turn waits for them. home: by job, a number that selects its
 * worker, modulo the number of workers; NULL: the job's own number. */
void pl_team_run(pl_team *t, uint32_t n, uint32_t exempt, const uint16_t *home);
/* Called inside a job: true if every earlier job, except the exempt ones, has completed. */
bool pl_team_is_turn(pl_team *t, uint32_t job);
/* Called inside a job: returns once that is true. */
void pl_team_wait_turn(pl_team *t, uint32_t job, uint32_t worker);

/* The position of a job in the order of its run. */
typedef struct pl_team_turn {
    pl_team *team;        /* NULL: one thread; then `reached` is set */
    uint32_t job, worker; /* the worker that executes the job */
    bool reached;         /* every earlier job has completed */
} pl_team_turn;

/* Updates and returns `reached`. */
static inline bool pl_team_turn_reached(pl_team_turn *t)
{
    t->reached = t->reached || pl_team_is_turn(t->team, t->job);
    return t->reached;
}

/* Returns once it is reached. */
static inline void pl_team_turn_wait(pl_team_turn *t)
{
    if (t->reached) return;
    pl_team_wait_turn(t->team, t->job, t->worker);
    t->reached = true;
}

#endif
