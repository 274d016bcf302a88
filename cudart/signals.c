/* signals.c - what was asked for is shown, too, when a signal ends the program: Ctrl-C, SIGTERM, a
 * crash.
 *
 * A handler may do next to nothing. So a thread of its own waits for the signal, shows findings,
 * summary and metrics, closes the trace, and lets the signal do what it does by default. Handlers
 * of the program go first: there is none here for a signal that the program handles or ignores. */
#define _GNU_SOURCE /* pthread_mutex_clocklock */
#include "cudart/state.h"
#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum {
    LIMIT = 10,    /* seconds that the program waits for what is shown */
    LOCK_LIMIT = 1 /* seconds until the lock counts as held by a thread that has crashed */
};

volatile int cuda_stop;

static sem_t caught;
static volatile sig_atomic_t signalled; /* 0: no signal yet */
static volatile sig_atomic_t shown;
/* The lock was held, perhaps by the thread that has the signal. */
static volatile sig_atomic_t busy;
static void (*show_all)(void);
static pid_t owner; /* processes that it forks show nothing */

static bool is_crash(int sig)
{
    return sig != SIGINT && sig != SIGTERM && sig != SIGHUP;
}

/* With the lock held. */
static _Noreturn void show_and_end(int sig)
{
    show_all();
    shown = 1;
    signal(sig, SIG_DFL);
    kill(getpid(), sig);
    for (;;) pause();
}

static void on_signal(int sig)
{
    const struct timespec nap = {.tv_nsec = 10000000};
    const int error = errno;
    if (getpid() != owner) {
        raise(sig); /* SA_RESETHAND: the default from here on */
        return;
    }
    if (!signalled) {
        signalled = sig;
        __atomic_store_n(&cuda_stop, 1, __ATOMIC_RELAXED);
        sem_post(&caught);
    }
    const bool crash = is_crash(sig);
    for (int k = 0; !shown && (crash || !busy) && k < 100 * LIMIT; k++) nanosleep(&nap, NULL);
    if (crash) raise(sig);
    errno = error;
}

static void *wait_for_signal(void *unused)
{
    struct timespec until;
    prctl(PR_SET_NAME, CUDA_THREAD_NAME);
    while (sem_wait(&caught) != 0) continue;
    if (pthread_mutex_trylock(&cuda.lock) != 0) {
        busy = 1;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += is_crash(signalled) ? LOCK_LIMIT : LIMIT;
        pthread_mutex_clocklock(&cuda.lock, CLOCK_MONOTONIC, &until);
    }
    show_and_end(signalled);
    return unused;
}

static void catch_signal(int sig)
{
    struct sigaction now,
        own = {.sa_handler = on_signal, .sa_flags = SA_RESTART | SA_ONSTACK | (int)SA_RESETHAND};
    if (sigaction(sig, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
        now.sa_handler == SIG_DFL)
        sigaction(sig, &own, NULL);
}

void cuda_ended_watch(void (*show)(void))
{
    static const int signals[] = {SIGHUP, SIGINT, SIGTERM, SIGSEGV,
                                  SIGBUS, SIGFPE, SIGILL,  SIGABRT};
    sigset_t all, before;
    pthread_t thread;
    show_all = show;
    owner = getpid();
    if (sem_init(&caught, 0, 0) != 0) return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool watched = pthread_create(&thread, NULL, wait_for_signal, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!watched) return;
    pthread_detach(thread);
    for (size_t k = 0; k < sizeof signals / sizeof *signals; k++) catch_signal(signals[k]);
}

void cuda_ended_now(void)
{
    if (signalled) show_and_end(signalled);
}

bool cuda_ended(void)
{
    return signalled && getpid() == owner;
}
