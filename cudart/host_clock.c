/* host_clock.c - --host-clock model: the program's timers show the application's clock. The
 * program's own code takes real time; calls, and waits for them, take modelled time; the time of
 * the emulation is excluded.
 *
 * The C library functions that read the time are interposed in every program. Readings of a thread
 * during a call are made by this library and return real time. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "cudart/clock.h"
#include "cudart/state.h"
#include <dlfcn.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <time.h>

static const int64_t SECOND = 1000000000;

static atomic_bool active;
static _Atomic int64_t excluded_ns;   /* ns of real time excluded so far */
static _Atomic int64_t last_reported; /* ns: latest time returned to any thread, monotonic clock */
static double first_entry, last_exit; /* ns: real time of the first call; end of the latest */
static double outside, left_at;   /* ns: the program's own time between calls; end of the latest */
static unsigned inside;           /* number of threads in calls */
static _Thread_local bool in_api; /* in a call of the API */

static int real_clock(clockid_t id, struct timespec *t)
{
    static int (*_Atomic next)(clockid_t, struct timespec *);
    union {
        void *address;
        int (*call)(clockid_t, struct timespec *);
    } f;
    if (!next) {
        f.address = dlsym(RTLD_NEXT, "clock_gettime");
        next = f.call;
    }
    int (*const call)(clockid_t, struct timespec *) = next;
    return call ? call(id, t) : -1;
}

static double real_now(void)
{
    struct timespec t = {0};
    real_clock(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

void cuda_host_resume(void)
{
    in_api = true;
    if (!cuda.options.host_clock) return;
    const double now = real_now();
    if (!active) {
        first_entry = now - cuda.now;
        active = true;
    } else if (now > last_exit) {
        cuda.now += now - last_exit;
    }
}

void cuda_host_enter(void)
{
    const double now = real_now();
    if (!inside++ && left_at > 0 && now > left_at) outside += now - left_at;
    cuda_host_resume();
}

double cuda_host_time(void)
{
    return outside;
}

bool cuda_host_inside(void)
{
    return in_api;
}

void cuda_host_pause(void)
{
    in_api = false;
    if (!active) return;
    last_exit = real_now();
    excluded_ns = (int64_t)(last_exit - first_entry - cuda.now);
}

void cuda_host_leave(void)
{
    cuda_host_pause();
    if (!--inside) left_at = real_now();
}

static int64_t nanoseconds(const struct timespec *t)
{
    return (int64_t)t->tv_sec * SECOND + t->tv_nsec;
}

static void subtract(struct timespec *t, int64_t ns)
{
    const int64_t result = nanoseconds(t) - ns;
    t->tv_sec = (time_t)(result / SECOND);
    t->tv_nsec = (long)(result % SECOND);
}

/* Returns how far real clocks are ahead of the program's clock. The program's clock is monotonic:
 * while one thread is in a call, the clock of the others continues, and stands still afterwards. */
static int64_t clock_offset(void)
{
    struct timespec t = {0};
    real_clock(CLOCK_MONOTONIC, &t);
    const int64_t real = nanoseconds(&t);
    int64_t reported = real - excluded_ns, before = last_reported;
    while (reported > before && !atomic_compare_exchange_weak(&last_reported, &before, reported)) {
    }
    if (reported < before) reported = before;
    return real - reported;
}

/* Clocks of processor time are not modelled. */
static bool is_modelled(clockid_t id)
{
    switch (id) {
    case CLOCK_REALTIME:
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME: return active && !in_api;
    default: return false;
    }
}

int pl_clock_gettime(clockid_t id, struct timespec *t);
int pl_gettimeofday(struct timeval *t, void *zone);
time_t pl_time(time_t *out);

int pl_clock_gettime(clockid_t id, struct timespec *t)
{
    const int64_t ns = is_modelled(id) ? clock_offset() : 0;
    const int status = real_clock(id, t);
    if (!status) subtract(t, ns);
    return status;
}

/* The time zone argument is obsolete. */
int pl_gettimeofday(struct timeval *t, void *zone)
{
    struct timespec now = {0};
    const int status = pl_clock_gettime(CLOCK_REALTIME, &now);
    if (zone) *(struct timezone *)zone = (struct timezone){0};
    if (t) *t = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return status;
}

time_t pl_time(time_t *out)
{
    struct timespec now = {0};
    pl_clock_gettime(CLOCK_REALTIME, &now);
    if (out) *out = now.tv_sec;
    return now.tv_sec;
}

/* With the symbol versions that programs request from the C library. */
#if defined __GLIBC__ && defined __x86_64__
CUDA_EXPORT(clock_gettime, "GLIBC_2.17");
CUDA_EXPORT(gettimeofday, "GLIBC_2.2.5");
CUDA_EXPORT(time, "GLIBC_2.2.5");
#elif defined __GLIBC__
CUDA_EXPORT(clock_gettime, "GLIBC_2.17");
CUDA_EXPORT(gettimeofday, "GLIBC_2.17");
CUDA_EXPORT(time, "GLIBC_2.17");
#endif
