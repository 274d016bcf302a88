/* team.c - host threads that share numbered jobs; see team.h.
 *
 * One 64-bit word says what there is to do: the number of the run, how many jobs it has, and the next one. A thread takes a job by
 * advancing that word, which fails when the run is over: a thread that comes late can never take a job of another run. */
#include "base/team.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/* Looks, each some 40 ns, before a thread goes to sleep: longer than sleeping and waking take (30 to 80 us), for threads that take turns in short
 * jobs; fewer where others may need the processor. */
enum { SPINS = 4000, SPINS_SHARED = 100 };

#define RUN_SHIFT 32
#define SIZE_SHIFT 16
#define JOB_MASK 0xffffu

struct pl_team {
    pl_team_work *work;
    void *ctx;
    uint32_t size; /* threads, the caller's included */
    uint32_t spins;
    pthread_t thread[PL_TEAM_THREADS];
    _Atomic uint64_t next;     /* run << 32 | jobs << 16 | job to take next */
    _Atomic uint32_t left;     /* jobs not done */
    _Atomic uint32_t frontier; /* every job below it is done */
    _Atomic uint32_t asleep;   /* threads that wait on `change` */
    _Atomic bool stop;
    _Atomic uint32_t *done;    /* by job: the run that has done it */
    pthread_mutex_t lock;
    pthread_cond_t change;
};

typedef struct member {
    pl_team *team;
    uint32_t worker;
} member;

static inline void breathe(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#endif
}

static uint32_t run_of(uint64_t word) { return (uint32_t)(word >> RUN_SHIFT); }

/* What a thread may wait for. */
typedef bool condition(pl_team *t, uint32_t value);

static bool another_run(pl_team *t, uint32_t run) { return run_of(atomic_load(&t->next)) != run || atomic_load(&t->stop); }
static bool reached(pl_team *t, uint32_t job) { return atomic_load(&t->frontier) >= job; }
static bool all_done(pl_team *t, uint32_t none)
{
    (void)none;
    return atomic_load(&t->left) == 0;
}

static void wait_for(pl_team *t, condition *holds, uint32_t value)
{
    for (uint32_t k = 0; k < t->spins; k++) {
        if (holds(t, value)) return;
        breathe();
    }
    pthread_mutex_lock(&t->lock);
    atomic_fetch_add(&t->asleep, 1); /* from here on a change is announced; the condition is looked at once more after that */
    while (!holds(t, value)) pthread_cond_wait(&t->change, &t->lock);
    atomic_fetch_sub(&t->asleep, 1);
    pthread_mutex_unlock(&t->lock);
}

/* To be called after a change that somebody may wait for. */
static void announce(pl_team *t)
{
    if (atomic_load(&t->asleep) == 0) return;
    pthread_mutex_lock(&t->lock);
    pthread_cond_broadcast(&t->change);
    pthread_mutex_unlock(&t->lock);
}

static void finish(pl_team *t, uint32_t run, uint32_t jobs, uint32_t job)
{
    atomic_store(&t->done[job], run);
    uint32_t f = atomic_load(&t->frontier);
    while (f < jobs && atomic_load(&t->done[f]) == run) {
        if (atomic_compare_exchange_weak(&t->frontier, &f, f + 1)) f++;
    }
    atomic_fetch_sub(&t->left, 1);
    announce(t);
}

/* Does jobs of the run until none is left to take. */
static void take_part(pl_team *t, uint32_t run, uint32_t worker)
{
    uint64_t word = atomic_load(&t->next);
    while (run_of(word) == run) {
        uint32_t jobs = (uint32_t)(word >> SIZE_SHIFT) & JOB_MASK, job = (uint32_t)word & JOB_MASK;
        if (job >= jobs) return;
        if (!atomic_compare_exchange_weak(&t->next, &word, word + 1)) continue;
        t->work(t->ctx, job, worker);
        finish(t, run, jobs, job);
        word = atomic_load(&t->next);
    }
}

static void *live(void *arg)
{
    member me = *(member *)arg;
    free(arg);
    for (uint32_t run = 0;;) {
        wait_for(me.team, another_run, run);
        if (atomic_load(&me.team->stop)) return NULL;
        run = run_of(atomic_load(&me.team->next));
        take_part(me.team, run, me.worker);
    }
}

pl_team *pl_team_open(uint32_t n, pl_team_work *work, void *ctx)
{
    pl_team *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    t->work = work;
    t->ctx = ctx;
    t->done = calloc(PL_TEAM_JOBS, sizeof *t->done);
    t->size = 1;
    t->spins = sysconf(_SC_NPROCESSORS_ONLN) >= (long)n ? SPINS : SPINS_SHARED;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->change, NULL);
    for (uint32_t k = 1; t->done && k < n && k < PL_TEAM_THREADS; k++) {
        member *m = malloc(sizeof *m);
        if (!m) break;
        *m = (member){.team = t, .worker = k};
        if (pthread_create(&t->thread[k], NULL, live, m) != 0) {
            free(m);
            break;
        }
        t->size++;
    }
    if (t->done) return t;
    pl_team_close(t);
    return NULL;
}

void pl_team_close(pl_team *t)
{
    if (!t) return;
    atomic_store(&t->stop, true);
    announce(t);
    for (uint32_t k = 1; k < t->size; k++) pthread_join(t->thread[k], NULL);
    pthread_cond_destroy(&t->change);
    pthread_mutex_destroy(&t->lock);
    free(t->done);
    free(t);
}

uint32_t pl_team_size(const pl_team *t) { return t->size; }

void pl_team_run(pl_team *t, uint32_t n, uint32_t apart)
{
    uint32_t run = run_of(atomic_load(&t->next)) + 1;
    if (run == 0) run = 1; /* 0 marks jobs that no run has done */
    for (uint32_t k = 0; k < apart; k++) atomic_store(&t->done[k], run);
    atomic_store(&t->frontier, apart);
    atomic_store(&t->left, n);
    atomic_store(&t->next, (uint64_t)run << RUN_SHIFT | n << SIZE_SHIFT);
    announce(t);
    take_part(t, run, 0);
    wait_for(t, all_done, 0);
}

void pl_team_turn(pl_team *t, uint32_t job)
{
    if (!reached(t, job)) wait_for(t, reached, job);
}
