/* host_thread.c - the thread on which streams call host functions, as in CUDA, one at a time. */
#define _GNU_SOURCE /* pthread_cond_clockwait */
#include "cudart/blocked.h"
#include "cudart/checking.h"
#include "cudart/clock.h"
#include "cudart/state.h"
#include <sys/prctl.h>
#include <unistd.h>

static const uint64_t ENDED = UINT64_MAX; /* number of a call that ran without the thread */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pid_t process; /* process that owns the thread; 0: none yet */
    void (*fn)(void *);
    void *arg;
    bool busy, pending; /* a function is running; it has not started yet */
    uint64_t done;      /* number of functions so far */
} worker = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void *run_worker(void *unused)
{
    prctl(PR_SET_NAME, CUDA_THREAD_NAME);
    cuda_self.callback = true;
    pthread_mutex_lock(&worker.lock);
    for (;;) {
        while (!worker.pending) pthread_cond_wait(&worker.changed, &worker.lock);
        worker.pending = false;
        pthread_mutex_unlock(&worker.lock);
        worker.fn(worker.arg);
        pthread_mutex_lock(&worker.lock);
        worker.busy = false;
        worker.done++;
        pthread_cond_broadcast(&worker.changed);
    }
    return unused;
}

/* Called with worker.lock. A forked process has none of its parent's threads. */
static bool ensure_thread(void)
{
    pthread_t thread;
    if (worker.process == getpid()) return true;
    if (pthread_create(&thread, NULL, run_worker, NULL) != 0) return false;
    pthread_detach(thread);
    worker.process = getpid();
    worker.busy = worker.pending = false;
    return true;
}

/* Called with worker.lock, by a thread that has it. Returns the number of the call. */
static uint64_t begin(void (*fn)(void *), void *arg)
{
    worker.fn = fn;
    worker.arg = arg;
    worker.busy = worker.pending = true;
    pthread_cond_broadcast(&worker.changed);
    return worker.done + 1;
}

static void call_here(void (*fn)(void *), void *arg)
{
    cuda_self.callback = true;
    fn(arg);
    cuda_self.callback = false;
}

static void call(void (*fn)(void *), void *arg)
{
    pthread_mutex_lock(&worker.lock);
    const bool has_thread = ensure_thread();
    while (has_thread && worker.busy) pthread_cond_wait(&worker.changed, &worker.lock);
    if (has_thread) {
        const uint64_t number = begin(fn, arg);
        while (worker.done < number) pthread_cond_wait(&worker.changed, &worker.lock);
    }
    pthread_mutex_unlock(&worker.lock);
    if (!has_thread) call_here(fn, arg);
}

void cuda_release_lock(void)
{
    cuda_host_pause();
    pthread_mutex_unlock(&cuda.lock);
}

void cuda_take_lock(void)
{
    pthread_mutex_lock(&cuda.lock);
    cuda_host_resume();
}

void cuda_call_host(void (*fn)(void *), void *arg)
{
    cuda_host_race_function(true);
    cuda_release_lock();
    call(fn, arg);
    cuda_take_lock();
    cuda_host_race_function(false);
}

uint64_t cuda_host_begin(void (*fn)(void *), void *arg)
{
    pthread_mutex_lock(&worker.lock);
    const bool has_thread = ensure_thread();
    const uint64_t number = has_thread && !worker.busy ? begin(fn, arg) : 0;
    pthread_mutex_unlock(&worker.lock);
    if (has_thread) return number;
    cuda_release_lock();
    call_here(fn, arg);
    cuda_take_lock();
    return ENDED;
}

bool cuda_host_busy(void)
{
    pthread_mutex_lock(&worker.lock);
    const bool busy = worker.busy && worker.process == getpid();
    pthread_mutex_unlock(&worker.lock);
    return busy;
}

/* Called with worker.lock. A function that the parent of this process runs counts as ended. */
static bool has_ended(uint64_t number)
{
    return number == ENDED || worker.done >= number || worker.process != getpid();
}

bool cuda_host_wait(uint64_t number, double seconds)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    const long ns = end.tv_nsec + (long)(seconds * 1e9);
    end.tv_sec += ns / 1000000000;
    end.tv_nsec = ns % 1000000000;
    cuda_release_lock();
    pthread_mutex_lock(&worker.lock);
    while (!has_ended(number) &&
           pthread_cond_clockwait(&worker.changed, &worker.lock, CLOCK_MONOTONIC, &end) == 0)
        ;
    const bool ended = has_ended(number);
    pthread_mutex_unlock(&worker.lock);
    cuda_take_lock();
    return ended;
}
