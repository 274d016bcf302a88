/* signals.c - requested output is also shown when a signal terminates the program: Ctrl-C, SIGTERM,
 * a crash.
 *
 * Few functions are async-signal-safe. So a separate thread waits for the signal, shows findings,
 * summary and metrics, closes the trace, and then triggers the signal's default action. Handlers of
 * the program take precedence: none is installed here for a signal that the program handles or
 * ignores. The program's handlers may call _exit, which is therefore intercepted likewise. */
#define _GNU_SOURCE /* pthread_mutex_clocklock */
#include "cudart/blocked.h"
#include "cudart/clock.h"
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
    SHOW_SECONDS = 10, /* seconds that the program waits for the output */
    LOCK_SECONDS = 1,  /* seconds until the holder of the lock is assumed to be blocked */
    EXIT_CALL = -1     /* in place of a signal: _exit and similar */
};

volatile int cuda_stop;

static sem_t signal_semaphore;
/* Shared by handlers and threads. */
static _Atomic sig_atomic_t signalled; /* 0: no signal yet */
static _Atomic sig_atomic_t shown;
/* The lock was held, possibly by the thread that received the signal. */
static _Atomic sig_atomic_t lock_held;
static cuda_show *show_all;
/* Process that has the thread; 0: none. Its forked children show nothing. */
static pid_t owner_process;
/* For EXIT_CALL. */
static _Atomic int exit_status;
static _Atomic bool exited_in_call; /* _exit was called during a call */

/* The thread that caused the signal cannot continue. */
static bool is_crash(int sig)
{
    static const int sent[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                               SIGALRM, SIGXCPU, SIGUSR1, SIGUSR2};
    if (sig == EXIT_CALL) return exited_in_call;
    for (size_t k = 0; k < sizeof sent / sizeof *sent; k++)
        if (sig == sent[k]) return false;
    return true;
}

static _Noreturn void exit_process(int status)
{
    for (;;) syscall(SYS_exit_group, status);
}

/* Called with the lock held. */
static _Noreturn void show_and_end(int sig)
{
    const int status = show_all(sig == EXIT_CALL ? exit_status : EXIT_FAILURE);
    shown = 1;
    if (sig == EXIT_CALL) exit_process(status);
    signal(sig, SIG_DFL);
    kill(getpid(), sig);
    for (;;) pause();
}

/* Ends launches and wakes the thread. Async-signal-safe. */
static void request_end(int sig)
{
    signalled = sig;
    __atomic_store_n(&cuda_stop, 1, __ATOMIC_RELAXED);
    sem_post(&signal_semaphore);
}

/* Async-signal-safe. */
static void wait_10_ms(void)
{
    nanosleep(&(const struct timespec){.tv_nsec = 10000000}, NULL);
}

/* Waits for the lock. False: it is still held after this many seconds. */
static bool lock_within(int seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += seconds;
    return pthread_mutex_clocklock(&cuda.lock, CLOCK_MONOTONIC, &until) == 0;
}

static void on_signal(int sig)
{
    const int error = errno;
    if (getpid() != owner_process) {
        raise(sig); /* SA_RESETHAND: the default action applies from here on */
        return;
    }
    if (!signalled) request_end(sig);
    const bool crash = is_crash(sig);
    for (int k = 0; !shown && (crash || !lock_held) && k < 100 * SHOW_SECONDS; k++) wait_10_ms();
    if (crash) raise(sig);
    errno = error;
}

static void *wait_for_signal(void *unused)
{
    prctl(PR_SET_NAME, CUDA_THREAD_NAME);
    while (sem_wait(&signal_semaphore) != 0) continue;
    if (pthread_mutex_trylock(&cuda.lock) != 0) {
        lock_held = 1;
        (void)lock_within(is_crash(signalled) ? LOCK_SECONDS : SHOW_SECONDS);
    }
    show_and_end(signalled);
    return unused;
}

static void catch_signal(int sig)
{
    struct sigaction current,
        action = {.sa_handler = on_signal, .sa_flags = SA_RESTART | SA_ONSTACK | (int)SA_RESETHAND};
    if (sigaction(sig, NULL, &current) == 0 && !(current.sa_flags & SA_SIGINFO) &&
        current.sa_handler == SIG_DFL)
        sigaction(sig, &action, NULL);
}

void cuda_watch_signals(cuda_show *show)
{
    static const int signals[] = {SIGHUP,  SIGINT,  SIGTERM, SIGQUIT, SIGALRM, SIGXCPU, SIGUSR1,
                                  SIGUSR2, SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,  SIGABRT, SIGPIPE};
    sigset_t all, before;
    pthread_t thread;
    show_all = show;
    if (sem_init(&signal_semaphore, 0, 0) != 0) return;
    owner_process = getpid();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = pthread_create(&thread, NULL, wait_for_signal, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!started) owner_process = 0;
    if (!started) return;
    pthread_detach(thread);
    for (size_t k = 0; k < sizeof signals / sizeof *signals; k++) catch_signal(signals[k]);
}

void cuda_end_if_pending(void)
{
    if (signalled) show_and_end(signalled);
}

bool cuda_end_is_pending(void)
{
    return signalled && getpid() == owner_process;
}

/* ---- _exit, _Exit, quick_exit ---- */

void cuda_show_and_exit(int status)
{
    if (getpid() != owner_process) exit_process(status);
    if (!signalled) {
        exit_status = status;
        exited_in_call = cuda_host_inside();
        request_end(EXIT_CALL);
    }
    for (int k = 0; !shown && k < 100 * (SHOW_SECONDS + LOCK_SECONDS); k++) wait_10_ms();
    if (signalled == EXIT_CALL && shown) pause(); /* the other thread ends the process */
    exit_process(status);
}

void cuda_exit_begins(int status)
{
    if (cuda_host_inside()) cuda_show_and_exit(status); /* in a signal handler, during a call */
    if (pthread_mutex_trylock(&cuda.lock) != 0) {
        __atomic_store_n(&cuda_stop, 1, __ATOMIC_RELAXED);
        if (!lock_within(SHOW_SECONDS)) cuda_show_and_exit(status);
        __atomic_store_n(&cuda_stop, 0, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&cuda.lock);
}

_Noreturn void pl__exit(int status);
_Noreturn void pl__Exit(int status);
_Noreturn void pl_quick_exit(int status);

void pl__exit(int status)
{
    cuda_show_and_exit(status);
}

void pl__Exit(int status)
{
    cuda_show_and_exit(status);
}

static int quick_exit_status = -1;

/* Runs after the handlers of the program. */
static void on_quick_exit(void)
{
    if (quick_exit_status >= 0) cuda_show_and_exit(quick_exit_status);
}

__attribute__((constructor)) static void begin(void)
{
    at_quick_exit(on_quick_exit);
}

void pl_quick_exit(int status)
{
    union {
        void *address;
        void (*call)(int);
    } f = {.address = dlsym(RTLD_NEXT, "quick_exit")};
    quick_exit_status = status & 255;
    if (f.address) f.call(status);
    cuda_show_and_exit(status);
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
