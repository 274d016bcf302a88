/* signals.c - requested output is also shown when a signal terminates the program: Ctrl-C, SIGTERM,
 * a crash.
 *
 * Few functions are async-signal-safe. So a separate thread waits for the signal, shows findings,
 * summary and metrics, closes the trace, and then triggers the signal's default action. Handlers of
 * the program take precedence: none is installed here for a signal that the program handles or
 * ignores. The program's handlers may call _exit, which is therefore intercepted likewise. */
#define _GNU_SOURCE /* pthread_mutex_clocklock */
#include "cudart/state.h"
#include <dlfcn.h>
#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    LIMIT = 10,     /* seconds that the program waits for the output */
    LOCK_LIMIT = 1, /* seconds until the holder of the lock is assumed to be blocked */
    EXITS = -1      /* in place of a signal: _exit and similar */
};

volatile int cuda_stop;

static sem_t caught;
static volatile sig_atomic_t signalled; /* 0: no signal yet */
static volatile sig_atomic_t shown;
/* The lock was held, possibly by the thread that received the signal. */
static volatile sig_atomic_t busy;
static cuda_show *show_all;
static pid_t owner; /* process that has the thread; 0: none. Its forked children show nothing */
static int status;  /* exit status, for EXITS */
static bool within; /* for EXITS: the exiting thread is in a call, which does not continue */

static bool is_crash(int sig)
{
    return sig == EXITS ? within : sig != SIGINT && sig != SIGTERM && sig != SIGHUP;
}

static _Noreturn void end_process(int with)
{
    for (;;) syscall(SYS_exit_group, with);
}

/* Called with the lock held. */
static _Noreturn void show_and_end(int sig)
{
    const int with = show_all(sig == EXITS ? status : EXIT_FAILURE);
    shown = 1;
    if (sig == EXITS) end_process(with);
    signal(sig, SIG_DFL);
    kill(getpid(), sig);
    for (;;) pause();
}

static void on_signal(int sig)
{
    const struct timespec nap = {.tv_nsec = 10000000};
    const int error = errno;
    if (getpid() != owner) {
        raise(sig); /* SA_RESETHAND: the default action applies from here on */
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

void cuda_watch_signals(cuda_show *show)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGTERM, SIGSEGV,
                                  SIGBUS, SIGFPE, SIGILL,  SIGABRT};
    sigset_t all, before;
    pthread_t thread;
    show_all = show;
    if (sem_init(&caught, 0, 0) != 0) return;
    owner = getpid();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool watched = pthread_create(&thread, NULL, wait_for_signal, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!watched) owner = 0;
    if (!watched) return;
    pthread_detach(thread);
    for (size_t k = 0; k < sizeof signals / sizeof *signals; k++) catch_signal(signals[k]);
}

void cuda_end_if_pending(void)
{
    if (signalled) show_and_end(signalled);
}

bool cuda_end_is_pending(void)
{
    return signalled && getpid() == owner;
}

/* ---- _exit, _Exit, quick_exit ---- */

void cuda_show_and_exit(int with)
{
    const struct timespec nap = {.tv_nsec = 10000000};
    if (getpid() != owner) end_process(with);
    if (!signalled) {
        status = with;
        within = cuda_host_inside();
        signalled = EXITS;
        __atomic_store_n(&cuda_stop, 1, __ATOMIC_RELAXED);
        sem_post(&caught);
    }
    for (int k = 0; !shown && k < 100 * (LIMIT + LOCK_LIMIT); k++) nanosleep(&nap, NULL);
    if (signalled == EXITS && shown) pause(); /* the other thread ends the process */
    end_process(with);
}

void cuda_exit_begins(int with)
{
    struct timespec until;
    if (cuda_host_inside()) cuda_show_and_exit(with); /* in a signal handler, during a call */
    if (pthread_mutex_trylock(&cuda.lock) != 0) {
        __atomic_store_n(&cuda_stop, 1, __ATOMIC_RELAXED);
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += LIMIT;
        if (pthread_mutex_clocklock(&cuda.lock, CLOCK_MONOTONIC, &until) != 0)
            cuda_show_and_exit(with);
        __atomic_store_n(&cuda_stop, 0, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&cuda.lock);
}

_Noreturn void pl__exit(int with);
_Noreturn void pl__Exit(int with);
_Noreturn void pl_quick_exit(int with);

void pl__exit(int with)
{
    cuda_show_and_exit(with);
}

void pl__Exit(int with)
{
    cuda_show_and_exit(with);
}

static int quick_status = -1;

/* Runs after the handlers of the program. */
static void at_quick_end(void)
{
    if (quick_status >= 0) cuda_show_and_exit(quick_status);
}

__attribute__((constructor)) static void begin(void)
{
    at_quick_exit(at_quick_end);
}

void pl_quick_exit(int with)
{
    union {
        void *address;
        void (*call)(int);
    } f = {.address = dlsym(RTLD_NEXT, "quick_exit")};
    quick_status = with & 255;
    if (f.address) f.call(with);
    cuda_show_and_exit(with);
}

/* With the symbol versions that programs request from the C library. */
#if defined __GLIBC__ && defined __x86_64__
CUDA_EXPORT(_exit, "GLIBC_2.2.5");
CUDA_EXPORT(_Exit, "GLIBC_2.2.5");
CUDA_EXPORT(quick_exit, "GLIBC_2.24");
#elif defined __GLIBC__
CUDA_EXPORT(_exit, "GLIBC_2.17");
CUDA_EXPORT(_Exit, "GLIBC_2.17");
CUDA_EXPORT(quick_exit, "GLIBC_2.24");
#endif
