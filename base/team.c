/* team.c - host threads that share numbered jobs; see team.h.
 *
 * Each worker has a list of jobs, those whose home it is, in ascending order. One 64-bit word
 * records the untaken ones: the number of the run, the first position and the end. The worker takes
 * the first job, others take the last one, by a compare-and-swap of that word, which fails after
 * the run has ended: a late thread can never take a job of another run.
 *
 * Another word, the frontier, records up to which job all jobs have completed. Threads that need it
 * advance it by examining the states of the jobs. */
#include "base/team.h"
#include "base/guard.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

/* Polls, each some 40 ns, before a thread sleeps. For threads that alternate in short jobs this
 * takes longer than sleeping and waking (30 to 80 us). Fewer are used where other threads may need
 * the processor. */
enum { SPINS = 4000, SPINS_SHARED = 100 };

/* Stopped jobs that a worker accumulates before it waits for their turn: with each of them the next
 * one finds less in the caches. */
enum { MAX_STOPPED = 4 };

#define RUN_SHIFT     32
#define FIRST_SHIFT   16
#define POSITION_MASK 0xffffu

/* The state of a job in the lowest bits of its state word, with the run above them. */
enum { RUNNING, STOPPED, DONE, STATE_BITS = 2 };
#define LAST_RUN (UINT32_MAX >> STATE_BITS)

/* State of one worker. */
typedef struct job_queue {
    /* Run << 32 | first << 16 | end: positions in `list` that are not taken. */
    _Alignas(64) _Atomic uint64_t range;
    _Atomic uint32_t stopped; /* jobs that it has started and that wait for their turn */
    _Atomic bool idle;        /* it is polling for one of them */
} job_queue;

struct pl_team {
    pl_team_work *work;
    void *ctx;
    uint32_t size; /* threads, including the caller's */
    uint32_t spins;
    job_queue *job_queue; /* by worker */
    /* A late thread may read these while they are written for another run: it detects that by the
     * run of a range or of a state. */
    _Atomic uint16_t *owner;    /* by job: its worker */
    _Atomic uint16_t *starter;  /* by stopped job: the worker that started it */
    _Atomic uint16_t *list;     /* the jobs of each worker */
    _Atomic uint16_t *position; /* by job: its position in the lists */
    /* By position, so that a worker writes a contiguous part: run << STATE_BITS | state; with
     * another run: not started yet, or running for the first time. */
    _Atomic uint32_t *state;
    pthread_t thread[PL_TEAM_THREADS];
    pthread_mutex_t lock;
    pthread_cond_t change;
    _Alignas(64) _Atomic uint32_t run;
    _Atomic uint32_t asleep; /* threads waiting on `change` */
    _Atomic bool stop;
    /* Jobs that have not completed, or whose completion a worker has not reported yet. */
    _Alignas(64) _Atomic uint32_t unreported;
    _Alignas(64) _Atomic uint64_t frontier; /* run << 32 | job: all jobs before it have completed,
                                               or are exempt */
    _Atomic uint32_t stopped;               /* jobs waiting for their turn, over all workers */
};

typedef struct member {
    pl_team *team;
    uint32_t worker;
} member;

static inline void cpu_relax(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#endif
}

static uint32_t run_of(uint64_t word)
{
    return (uint32_t)(word >> RUN_SHIFT);
}

static uint32_t state_of(uint32_t run, uint32_t what)
{
    return run << STATE_BITS | what;
}

/* --- sleeping and waking --- */

/* A condition that a thread may wait for. */
typedef bool condition(pl_team *t, uint32_t value);

static bool has_new_run(pl_team *t, uint32_t run)
{
    return atomic_load(&t->run) != run || atomic_load(&t->stop);
}
static bool all_reported(pl_team *t, uint32_t none)
{
    (void)none;
    return atomic_load(&t->unreported) == 0;
}

static void wait_for(pl_team *t, condition *holds, uint32_t value)
{
    for (uint32_t k = 0; k < t->spins; k++) {
        if (holds(t, value)) return;
        cpu_relax();
    }
    pthread_mutex_lock(&t->lock);
    atomic_fetch_add(&t->asleep, 1); /* from here on changes are announced; the condition is checked
                                        once more after that */
    while (!holds(t, value)) pthread_cond_wait(&t->change, &t->lock);
    atomic_fetch_sub(&t->asleep, 1);
    pthread_mutex_unlock(&t->lock);
}

/* Must be called after a change that a sleeping thread may be waiting for. */
static void wake_sleepers(pl_team *t)
{
    if (atomic_load(&t->asleep) == 0) return;
    pthread_mutex_lock(&t->lock);
    pthread_cond_broadcast(&t->change);
    pthread_mutex_unlock(&t->lock);
}

/* --- taking jobs --- */

static uint32_t load_relaxed(const _Atomic uint16_t *at)
{
    return atomic_load_explicit(at, memory_order_relaxed);
}
static void store_relaxed(_Atomic uint16_t *at, uint32_t value)
{
    atomic_store_explicit(at, (uint16_t)value, memory_order_relaxed);
}
static uint32_t first_of(uint64_t word)
{
    return (uint32_t)(word >> FIRST_SHIFT) & POSITION_MASK;
}
static uint32_t end_of(uint64_t word)
{
    return (uint32_t)word & POSITION_MASK;
}

/* Takes one of the worker's own jobs. */
static bool take_first(pl_team *t, uint32_t run, uint32_t worker, uint32_t *job)
{
    job_queue *s = &t->job_queue[worker];
    uint64_t word = atomic_load(&s->range);
    while (run_of(word) == run && first_of(word) < end_of(word)) {
        if (!atomic_compare_exchange_weak(&s->range, &word, word + (1u << FIRST_SHIFT))) continue;
        *job = load_relaxed(&t->list[first_of(word)]);
        return true;
    }
    return false;
}

/* Takes a job of another worker. */
static bool take_last(pl_team *t, uint32_t run, uint32_t worker, uint32_t *job)
{
    job_queue *s = &t->job_queue[worker];
    uint64_t word = atomic_load(&s->range);
    while (run_of(word) == run && first_of(word) < end_of(word)) {
        if (!atomic_compare_exchange_weak(&s->range, &word, word - 1)) continue;
        *job = load_relaxed(&t->list[end_of(word) - 1]);
        return true;
    }
    return false;
}

/* --- turns --- */

static _Atomic uint32_t *state(pl_team *t, uint32_t job)
{
    return &t->state[load_relaxed(&t->position[job])];
}

/* Advances the frontier as far as possible, unless the run has ended. */
static uint64_t advance_frontier(pl_team *t, uint32_t run)
{
    uint64_t word = atomic_load(&t->frontier);
    while (run_of(word) == run && atomic_load(state(t, (uint32_t)word)) == state_of(run, DONE)) {
        if (atomic_compare_exchange_weak(&t->frontier, &word, word + 1)) word++;
    }
    return word;
}

/* The first incomplete job. If it has not started, it is the first of its worker's list. The run
 * may have ended. */
static uint32_t frontier(pl_team *t, uint32_t run)
{
    return (uint32_t)advance_frontier(t, run);
}

/* Takes a stopped job whose turn has come. Leaves it to the worker that started it if that is idle,
 * unless `any`. The run may have ended. */
static bool take_stopped(pl_team *t, uint32_t run, uint32_t worker, bool any, uint32_t *job)
{
    if (atomic_load(&t->stopped) == 0) return false;
    const uint64_t word = advance_frontier(t, run);
    *job = (uint32_t)word;
    if (run_of(word) != run || atomic_load(state(t, *job)) != state_of(run, STOPPED)) return false;
    const uint32_t starter = load_relaxed(&t->starter[*job]);
    if (starter != worker && !any && atomic_load(&t->job_queue[starter].idle)) return false;
    uint32_t expected = state_of(run, STOPPED);
    if (!atomic_compare_exchange_strong(state(t, *job), &expected, state_of(run, RUNNING)))
        return false;
    atomic_fetch_sub(&t->job_queue[starter].stopped, 1);
    atomic_fetch_sub(&t->stopped, 1);
    return true;
}

/* Takes the first incomplete job if it has not started, as the first of its worker's list. The run
 * may have ended. */
static bool take_first_incomplete(pl_team *t, uint32_t run, uint32_t *job)
{
    *job = (uint32_t)advance_frontier(t, run);
    job_queue *s = &t->job_queue[load_relaxed(&t->owner[*job])];
    uint64_t word = atomic_load(&s->range);
    if (run_of(word) != run || first_of(word) == end_of(word) ||
        load_relaxed(&t->list[first_of(word)]) != *job)
        return false;
    return atomic_compare_exchange_strong(&s->range, &word, word + (1u << FIRST_SHIFT));
}

/* Executes a job. True: it has completed, and the caller must report this eventually. */
static bool execute_job(pl_team *t, uint32_t run, uint32_t job, uint32_t worker)
{
    if (t->work(t->ctx, job, worker)) {
        atomic_store(state(t, job), state_of(run, DONE));
        return true;
    }
    store_relaxed(&t->starter[job], worker);
    atomic_fetch_add(&t->job_queue[worker].stopped, 1);
    atomic_fetch_add(&t->stopped, 1);
    atomic_store(state(t, job), state_of(run, STOPPED));
    return false;
}

static void report_completion(pl_team *t, uint32_t jobs)
{
    if (jobs && atomic_fetch_sub(&t->unreported, jobs) == jobs) wake_sleepers(t);
}

bool pl_team_is_turn(pl_team *t, uint32_t job)
{
    return frontier(t, atomic_load(&t->run)) >= job;
}

void pl_team_wait_turn(pl_team *t, uint32_t job, uint32_t worker)
{
    const uint32_t run = atomic_load(&t->run);
    for (uint32_t polls = 0; frontier(t, run) < job; polls++) {
        uint32_t other;
        if (take_stopped(t, run, worker, true, &other) || take_first_incomplete(t, run, &other)) {
            report_completion(t, execute_job(t, run, other, worker));
            polls = 0;
        } else if (polls < t->spins) {
            cpu_relax();
        } else {
            sched_yield(); /* the thread executing that job currently has no processor */
        }
    }
}

/* --- runs --- */

/* Executes jobs of the run until there are none for this worker. */
static void run_jobs(pl_team *t, uint32_t run, uint32_t worker)
{
    job_queue *self = &t->job_queue[worker];
    uint32_t job, done = 0;
    for (uint32_t polls = 0;;) {
        const uint32_t stopped = atomic_load(&self->stopped);
        bool found = take_stopped(t, run, worker, polls > t->spins, &job);
        if (!found && stopped < MAX_STOPPED) {
            found = take_first(t, run, worker, &job);
            for (uint32_t k = 1; k < t->size && !found; k++)
                found = take_last(t, run, (worker + k) % t->size, &job);
        }
        if (!found && stopped == 0) break;
        if (found || take_first_incomplete(t, run, &job)) {
            if (polls) atomic_store(&self->idle, false);
            polls = 0;
            done += execute_job(t, run, job, worker);
            continue;
        }
        if (polls++ == 0) atomic_store(&self->idle, true);
        if (polls < t->spins)
            cpu_relax();
        else
            sched_yield();
    }
    atomic_store(&self->idle, false);
    report_completion(t, done);
}

static void *worker_main(void *arg)
{
#ifdef __linux__
    prctl(PR_SET_NAME, "ptxloom worker"); /* as in cudart/state.h */
#endif
    member self = *(member *)arg;
    free(arg);
    for (uint32_t run = 0;;) {
        wait_for(self.team, has_new_run, run);
        if (atomic_load(&self.team->stop)) return NULL;
        run = atomic_load(&self.team->run);
        run_jobs(self.team, run, self.worker);
    }
}

/* Signals from outside are handled by the program's own threads. */
static void start_threads(pl_team *t, uint32_t n)
{
    static const int synchronous[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    sigset_t all, before;
    sigfillset(&all);
    for (size_t k = 0; k < sizeof synchronous / sizeof *synchronous; k++)
        sigdelset(&all, synchronous[k]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (uint32_t k = 1; k < n; k++) {
        member *m = malloc(sizeof *m);
        if (!m) break;
        *m = (member){.team = t, .worker = k};
        if (pthread_create(&t->thread[k], NULL, worker_main, m) != 0) {
            free(m);
            break;
        }
        t->size++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

pl_team *pl_team_open(uint32_t n, pl_team_work *work, void *ctx)
{
    pl_team *t = aligned_alloc(64, sizeof *t);
    if (!t) return NULL;
    memset(t, 0, sizeof *t);
    n = n < 1 ? 1 : n > PL_TEAM_THREADS ? PL_TEAM_THREADS : n;
    t->work = work;
    t->ctx = ctx;
    t->job_queue = aligned_alloc(64, n * sizeof *t->job_queue);
    /* Here and below: one extra entry after the last job. */
    t->owner = calloc(PL_TEAM_JOBS + 1, sizeof *t->owner);
    t->starter = calloc(PL_TEAM_JOBS, sizeof *t->starter);
    t->list = calloc(PL_TEAM_JOBS, sizeof *t->list);
    t->position = calloc(PL_TEAM_JOBS + 1, sizeof *t->position);
    t->state = calloc(PL_TEAM_JOBS + 1, sizeof *t->state);
    t->size = 1;
    t->spins = sysconf(_SC_NPROCESSORS_ONLN) >= (long)n ? SPINS : SPINS_SHARED;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->change, NULL);
    if (!t->job_queue || !t->owner || !t->starter || !t->list || !t->position || !t->state) {
        pl_team_close(t);
        return NULL;
    }
    memset(t->job_queue, 0, n * sizeof *t->job_queue);
    start_threads(t, n);
    return t;
}

void pl_team_close(pl_team *t)
{
    if (!t) return;
    atomic_store(&t->stop, true);
    wake_sleepers(t);
    for (uint32_t k = 1; k < t->size; k++) pthread_join(t->thread[k], NULL);
    pthread_cond_destroy(&t->change);
    pthread_mutex_destroy(&t->lock);
    free(t->job_queue);
    free(t->owner);
    free(t->starter);
    free(t->list);
    free(t->position);
    free(t->state);
    free(t);
}

void pl_team_set_work(pl_team *t, pl_team_work *work, void *ctx)
{
    t->work = work;
    t->ctx = ctx;
}

uint32_t pl_team_size(const pl_team *t)
{
    return t->size;
}

/* Distributes the jobs to the lists of their workers. */
static void distribute_jobs(pl_team *t, uint32_t run, uint32_t n, const uint16_t *home)
{
    uint32_t end[PL_TEAM_THREADS + 1] = {0};
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t worker = (home ? home[k] : k) % t->size;
        store_relaxed(&t->owner[k], worker);
        end[worker + 1]++;
    }
    /* Start of w's list, temporarily. */
    for (uint32_t w = 0; w < t->size; w++) end[w + 1] += end[w];
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t position = end[load_relaxed(&t->owner[k])]++;
        store_relaxed(&t->list[position], k);
        store_relaxed(&t->position[k], position);
    }
    store_relaxed(&t->position[n], n);
    for (uint32_t w = 0; w < t->size; w++)
        atomic_store(&t->job_queue[w].range,
                     (uint64_t)run << RUN_SHIFT | (w ? end[w - 1] : 0) << FIRST_SHIFT | end[w]);
}

void pl_team_run(pl_team *t, uint32_t n, uint32_t exempt, const uint16_t *home)
{
    PL_UNGUARDED; /* other threads may be running when this one gives up */
    uint32_t run = atomic_load(&t->run) + 1;
    if (run > LAST_RUN) {
        for (uint32_t k = 0; k <= PL_TEAM_JOBS; k++) atomic_store(&t->state[k], 0);
        run = 1;
    }
    atomic_store(&t->frontier, (uint64_t)run << RUN_SHIFT | (exempt < n ? exempt : n));
    atomic_store(&t->unreported, n);
    distribute_jobs(t, run, n, home);
    atomic_store(&t->run, run);
    wake_sleepers(t);
    run_jobs(t, run, 0);
    wait_for(t, all_reported, 0);
}
