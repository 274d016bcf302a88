/* test_team.c - host threads that share jobs: every job is executed once, and ordered sections run
 * in the order of the job numbers, also with more threads than processors. */
#include "base/team.h"
#include "tests/unit/unit.h"
#include <string.h>

enum { JOBS = 100, RUNS = 300 };

typedef struct plan {
    pl_team *team;
    uint32_t done[JOBS], calls[JOBS], order[JOBS], turns, apart, size;
    bool wait, stop; /* action of ordered jobs; both: alternately one and the other */
} plan;

static bool work(void *ctx, uint32_t job, uint32_t worker)
{
    plan *p = ctx;
    p->calls[job]++;
    if (worker >= p->size) return true; /* done[job] stays 0 */
    if (job >= p->apart && (p->wait || p->stop)) {
        if (p->stop && (!p->wait || job % 2) && !pl_team_is_turn(p->team, job)) return false;
        if (p->calls[job] == 1) pl_team_wait_turn(p->team, job, worker);
        p->order[p->turns++] = job; /* no two at once: the turn is one job's */
    }
    p->done[job]++;
    return true;
}

static void run_all(uint32_t threads, bool wait, bool stop, uint32_t apart, bool one_home)
{
    static const uint16_t same[JOBS];
    plan p = {.wait = wait, .stop = stop, .apart = apart};
    p.team = pl_team_open(threads, work, &p);
    ck_assert_ptr_nonnull(p.team);
    p.size = pl_team_size(p.team);
    for (uint32_t run = 0; run < RUNS; run++) {
        const uint32_t n = 1 + run * 7 % JOBS;
        memset(p.done, 0, sizeof p.done);
        memset(p.calls, 0, sizeof p.calls);
        p.turns = 0;
        pl_team_run(p.team, n, apart, one_home ? same : NULL);
        for (uint32_t k = 0; k < JOBS; k++) ck_assert_uint_eq(p.done[k], k < n);
        for (uint32_t k = 0; k < n; k++) ck_assert_uint_le(p.calls[k], 1u + stop);
        if (!wait && !stop) continue;
        ck_assert_uint_eq(p.turns, n > apart ? n - apart : 0);
        for (uint32_t k = 0; k < p.turns; k++) ck_assert_uint_eq(p.order[k], apart + k);
    }
    pl_team_close(p.team);
}

START_TEST(every_job_runs_once)
{
    for (uint32_t threads = 1; threads <= 8; threads *= 2) {
        run_all(threads, false, false, 0, false);
        run_all(threads, false, false, 1, true);
    }
}
END_TEST

START_TEST(waiting_jobs_resume_in_order)
{
    for (uint32_t threads = 1; threads <= 4; threads *= 2) {
        run_all(threads, true, false, 0, false);
        run_all(threads, true, false, 1, true);
    }
}
END_TEST

START_TEST(stopped_job_resumes)
{
    for (uint32_t threads = 1; threads <= 4; threads *= 2) {
        run_all(threads, false, true, 0, false);
        run_all(threads, false, true, 1, true);
    }
}
END_TEST

START_TEST(waiting_and_stopped_jobs)
{
    for (uint32_t threads = 2; threads <= 4; threads++) {
        run_all(threads, true, true, 0, false);
        run_all(threads, true, true, 2, true);
    }
}
END_TEST

UNIT_MAIN("team", every_job_runs_once, waiting_jobs_resume_in_order, stopped_job_resumes,
          waiting_and_stopped_jobs)
