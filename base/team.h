/* team.h - host threads that share work: numbered jobs, taken in order, waited for together.
 *
 * The timing model makes them once for a launch and runs them for every window, the assembler for a module. Between two runs they spin
 * for some microseconds and then sleep, so that a machine with fewer free cores than threads loses little. A job may wait until all
 * jobs before it are done (pl_team_turn): because jobs are taken in the order of their numbers, the first that is not done never waits,
 * and nothing can lock up. */
#ifndef PL_BASE_TEAM_H
#define PL_BASE_TEAM_H

#include <stdbool.h>
#include <stdint.h>

typedef struct pl_team pl_team;

enum { PL_TEAM_THREADS = 256, PL_TEAM_JOBS = 65535 };

/* Does job `job`; `worker` is 0 .. size-1, and no two jobs run at once with the same one. */
typedef void pl_team_work(void *ctx, uint32_t job, uint32_t worker);

/* A team of n threads, the caller's own included; of fewer when the system gives no more. NULL: out of memory. */
pl_team *pl_team_open(uint32_t n, pl_team_work *work, void *ctx);
void pl_team_close(pl_team *t); /* NULL is allowed */
uint32_t pl_team_size(const pl_team *t);
/* Does jobs 0 .. n-1 (at most PL_TEAM_JOBS) and returns when all are done. Nobody's turn waits for the first `apart` of them. */
void pl_team_run(pl_team *t, uint32_t n, uint32_t apart);
/* Called inside a job: returns when every job before it, except those apart, is done. */
void pl_team_turn(pl_team *t, uint32_t job);

#endif
