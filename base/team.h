/* team.h - host threads that share work: numbered jobs, waited for together.
 *
 * The timing model makes them once for a launch and runs them for every window, the assembler for a
 * module. Between two runs they spin for some microseconds and then sleep, so that a machine with
 * fewer free cores than threads loses little.
 *
 * A job has a home, the worker that does it whenever it can: what the job works on then stays in
 * the caches of one core. A worker without jobs of its own takes those that others would come to
 * last. A job may need that all jobs before it are done; it either waits for that (pl_team_turn) or
 * stops, and somebody goes on with it when its turn has come. Nobody waits for a thread that has
 * not begun. Who waits does the first job that is not done himself, if nobody is at it. That job
 * never waits, so that nothing can lock up. */
#ifndef PL_BASE_TEAM_H
#define PL_BASE_TEAM_H

#include <stdbool.h>
#include <stdint.h>

typedef struct pl_team pl_team;

enum { PL_TEAM_THREADS = 256, PL_TEAM_JOBS = 65535 };

/* Does job `job`; `worker` is 0 .. size-1, and no two jobs run at once with the same one, but that
 * a job which waits for its turn may have another one done in between. False: the job has stopped
 * until its turn comes; then it is called again, perhaps with another worker. */
typedef bool pl_team_work(void *ctx, uint32_t job, uint32_t worker);

/* A team of n threads, the caller's own included; of fewer when the system gives no more. NULL: out
 * of memory. */
pl_team *pl_team_open(uint32_t n, pl_team_work *work, void *ctx);
void pl_team_close(pl_team *t); /* NULL is allowed */
/* What it does from now on, and for whom; between two runs. */
void pl_team_serve(pl_team *t, pl_team_work *work, void *ctx);
uint32_t pl_team_size(const pl_team *t);
/* Does jobs 0 .. n-1 (at most PL_TEAM_JOBS) and returns when all are done. Nobody's turn waits for
 * the first `apart` of them. home: by job, a number that tells its worker, modulo their number;
 * NULL: the job's own. */
void pl_team_run(pl_team *t, uint32_t n, uint32_t apart, const uint16_t *home);
/* Called inside a job: whether every job before it, except those apart, is done. */
bool pl_team_may(pl_team *t, uint32_t job);
/* Called inside a job: returns when that is so. */
void pl_team_turn(pl_team *t, uint32_t job, uint32_t worker);

#endif
