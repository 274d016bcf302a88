/* host_thread.c - the thread on which streams call host functions, as in CUDA. The caller waits for
 * it. */
#define _POSIX_C_SOURCE 200809L
#include "cudart/state.h"
#include <sys/prctl.h>
#include <unistd.h>

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

static void call(void (*fn)(void *), void *arg)
{
    pthread_mutex_lock(&worker.lock);
    const bool has_thread = ensure_thread();
    while (has_thread && worker.busy) pthread_cond_wait(&worker.changed, &worker.lock);
    if (has_thread) {
        worker.fn = fn;
        worker.arg = arg;
        worker.busy = worker.pending = true;
        const uint64_t before = worker.done;
        pthread_cond_broadcast(&worker.changed);
        while (worker.done == before) pthread_cond_wait(&worker.changed, &worker.lock);
    }
    pthread_mutex_unlock(&worker.lock);
    if (has_thread) return;
    cuda_self.callback = true;
    fn(arg);
    cuda_self.callback = false;
}

void cuda_call_host(void (*fn)(void *), void *arg)
{
    /* It may wait for other threads, which may call this library. */
    cuda_host_leave();
    pthread_mutex_unlock(&cuda.lock);
    call(fn, arg);
    pthread_mutex_lock(&cuda.lock);
    cuda_host_enter();
}
