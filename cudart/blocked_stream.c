/* blocked_stream.c - blocked streams. Operations that follow a wait for a value that has not been
 * written yet are queued here in call order, and executed once the value is available. The same
 * applies to operations that depend on such a stream.
 *
 * Streams poll their values when an operation has been executed, when a call begins, and while the
 * host waits for a blocked stream. A thread of this library also polls every millisecond: some
 * programs write a value and then poll for its effects. If nothing is left that could write the
 * value, the wait is reported and the context fails.
 *
 * Host functions are queued here, too. The program usually runs for a few more microseconds before
 * they run. They start when it waits for a stream or queries one, or after five milliseconds of its
 * own time between calls. Time in calls does not count: the emulation of other operations is slow.
 */
#define _POSIX_C_SOURCE 200809L
#include "cudart/blocked.h"
#include "cudart/clock.h"
#include "cudart/suspended_kernel.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { MAX_WAIT_SECONDS = 30 /* for other threads; --timeout overrides it */ };

typedef struct cuda_pending {
    struct cuda_pending *next;
    uint64_t number; /* unique in the process */
    cuda_work work;
    double since; /* ns: time at which the host enqueued it */
    int64_t call;
    bool running;    /* a host function may be running */
    double enqueued; /* ns: cuda_host_time at that time */
    double seconds;  /* cuda_seconds at that time */
    pid_t process;   /* that enqueued it */
} cuda_pending;

/* Streams with pending operations, linked by ->next_blocked in the order of their first ones. */
static cuda_stream *blocked;
static _Thread_local const cuda_pending *executing;
static uint64_t last_number;
static unsigned waiting_threads; /* threads in cuda_drain... */

/* ---------------------------------------------------------------- queues */

static bool is_legacy(const cuda_stream *s)
{
    return s == &cuda.device[s->device].legacy;
}

/* True if something is pending for which the legacy stream of a device waits. */
static bool legacy_has_pending(const void *device)
{
    const int d = *(const int *)device;
    for (const cuda_stream *w = blocked; w; w = w->next_blocked)
        if (w->device == d && cuda_blocking(w)) return true;
    return false;
}

bool cuda_is_blocked(const cuda_stream *s)
{
    if (!blocked || s->first) return blocked != NULL;
    if (!is_legacy(s)) return cuda_blocking(s) && cuda.device[s->device].legacy.first;
    return legacy_has_pending(&s->device);
}

/* The legacy stream and the blocking streams wait for earlier operations of each other. */
static bool can_begin(const cuda_stream *s, const cuda_pending *p)
{
    const cuda_pending *other = cuda.device[s->device].legacy.first;
    if (!is_legacy(s)) return !cuda_blocking(s) || !other || other->number > p->number;
    for (const cuda_stream *w = blocked; w; w = w->next_blocked)
        if (w != s && w->device == s->device && cuda_blocking(w) && w->first->number < p->number)
            return false;
    return true;
}

static void link_blocked(cuda_stream *s)
{
    cuda_stream **at = &blocked;
    while (*at && (*at)->first->number < s->first->number) at = &(*at)->next_blocked;
    s->next_blocked = *at;
    *at = s;
}

static void unlink_blocked(const cuda_stream *s)
{
    cuda_stream **at = &blocked;
    while (*at != s) at = &(*at)->next_blocked;
    *at = s->next_blocked;
}

static void enqueue(cuda_stream *s, cuda_pending *p)
{
    cuda_pending **at = &s->first;
    const bool first = !*at;
    while (*at) at = &(*at)->next;
    *at = p;
    if (first) link_blocked(s);
}

/* Its first operation has completed. Dropping it may destroy the stream. */
static void advance(cuda_stream *s)
{
    cuda_pending *p = s->first;
    unlink_blocked(s);
    s->first = p->next;
    if (s->first) link_blocked(s);
    if (p->work.drop) p->work.drop(p->work.what);
    free(p);
}

/* Drops all operations except running ones. */
static void drop_all(void)
{
    cuda_stream *s = blocked;
    while (s) {
        const bool running = s->first->running;
        if (!running) advance(s);
        s = running ? s->next_blocked : blocked; /* callbacks may have changed the list */
    }
    cuda_drop_all_suspended();
}

/* Executes the first operation of a stream if it can begin. True if progress was made. */
static bool execute_first(cuda_stream *s)
{
    cuda_pending *p = s->first;
    const uint64_t before = cuda.steps;
    const int64_t call = cuda_self.call_id;
    if (p->process != getpid()) { /* that of the parent of this process */
        advance(s);
        return true;
    }
    if (p->running || !can_begin(s, p)) return false;
    if (p->since > s->ready) s->ready = p->since;
    cuda_self.call_id = p->call;
    cuda_self.deferred = true;
    p->running = true;
    executing = p;
    const int error = p->work.run(s, p->work.what);
    executing = NULL;
    p->running = false;
    cuda_self.deferred = false;
    cuda_self.call_id = call;
    if (error == CUDA_BLOCKED) return cuda.steps != before;
    if (error) cuda_set_sticky_error(error);
    cuda_record_values(s->ready);
    advance(s);
    return true;
}

bool cuda_progress(void)
{
    bool any = false, progressed = blocked && !cuda_self.callback && !cuda_self.deferred;
    while (progressed && !cuda.fault) {
        progressed = false;
        for (cuda_stream *s = blocked; s && !progressed; s = s->next_blocked)
            progressed = execute_first(s);
        any |= progressed;
    }
    if (cuda.fault && !cuda_self.callback) drop_all();
    return any;
}

void cuda_progress_observed(void)
{
    const bool waits = cuda_self.waits;
    cuda_self.waits = true;
    cuda_progress();
    cuda_self.waits = waits;
}

bool cuda_may_start_host(void)
{
    const double own_ns = 5e6, seconds = 10; /* of the program itself; including long calls */
    return cuda_self.waits || !executing || cuda_host_time() - executing->enqueued >= own_ns ||
           cuda_seconds() - executing->seconds >= seconds;
}

static pthread_cond_t blocked_cond = PTHREAD_COND_INITIALIZER;

static void *poll_thread(void *unused)
{
    enum { SHORT = 20000, LONG = 1000000 }; /* ns: after progress, which often repeats; otherwise */
    struct timespec interval = {.tv_nsec = LONG};
    prctl(PR_SET_NAME, CUDA_THREAD_NAME);
    pthread_mutex_lock(&cuda.lock);
    for (;;) {
        while (!blocked) pthread_cond_wait(&blocked_cond, &cuda.lock);
        pthread_mutex_unlock(&cuda.lock);
        nanosleep(&interval, NULL);
        pthread_mutex_lock(&cuda.lock);
        if (!blocked) continue;
        cuda_host_enter();
        cuda_record_values(cuda.now);
        const bool any = cuda_progress();
        interval.tv_nsec = any ? SHORT : interval.tv_nsec >= LONG / 2 ? LONG : 2 * interval.tv_nsec;
        cuda_host_leave();
    }
    return unused;
}

/* A forked process has none of its parent's threads. Without the thread, streams still poll at
 * other times. */
static void start_poll_thread(void)
{
    static pid_t process;
    pthread_t thread;
    if (!blocked) return;
    if (process == getpid()) {
        pthread_cond_signal(&blocked_cond);
    } else if (pthread_create(&thread, NULL, poll_thread, NULL) == 0) {
        pthread_detach(thread);
        process = getpid();
    }
}

int cuda_defer(cuda_stream *s, const cuda_work *work)
{
    cuda_pending *p = calloc(1, sizeof *p);
    if (!p) {
        if (work->drop) work->drop(work->what);
        return CU_MEMORY_ALLOCATION;
    }
    *p = (cuda_pending){.number = ++last_number,
                        .work = *work,
                        .since = cuda.now,
                        .call = cuda_self.call_id,
                        .enqueued = cuda_host_time(),
                        .seconds = cuda_seconds(),
                        .process = getpid()};
    enqueue(s, p);
    cuda_progress();
    start_poll_thread();
    return CU_OK;
}

/* ---------------------------------------------------------------- the host waits */

/* Returns the values that the first operation of a stream waits for, or NULL. */
static const cuda_memory_ops *awaited_values(const cuda_work *w)
{
    return w->values ? w->values(w->what) : NULL;
}

/* True if threads of the program other than those waiting here exist. */
static bool other_threads_exist(void)
{
    DIR *d = opendir("/proc/self/task");
    unsigned n = 0;
    if (!d) return true;
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        char path[300], name[32] = "";
        if (e->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "/proc/self/task/%.32s/comm", e->d_name);
        FILE *f = fopen(path, "r");
        if (f && !fgets(name, sizeof name, f)) name[0] = '\0';
        if (f) fclose(f);
        n += strcmp(name, CUDA_THREAD_NAME "\n") != 0;
    }
    closedir(d);
    return n > waiting_threads;
}

static bool value_may_change(void)
{
    for (const cuda_stream *s = blocked; s; s = s->next_blocked) {
        const cuda_memory_ops *m = awaited_values(&s->first->work);
        if (s->first->running || (m && cuda_memory_ops_shared(m))) return true;
    }
    return cuda_host_busy() || cuda_kernel_runs() || other_threads_exist();
}

static void report_blocked(bool stuck)
{
    char text[300], name[40];
    for (const cuda_stream *s = blocked; s; s = s->next_blocked) {
        const cuda_memory_ops *m = awaited_values(&s->first->work);
        if (!m || !cuda_memory_ops_text(m, text, sizeof text)) continue;
        snprintf(name, sizeof name, "stream %llu", (unsigned long long)s->id);
        cuda_report("%s waits %s; %s", is_legacy(s) ? "the default stream" : name, text,
                    stuck ? "nothing is left that could write it"
                          : "nothing has written it for long");
    }
}

/* Before a hang is reported. */
static bool progress_patiently(void)
{
    cuda_waits_patiently = true;
    const bool any = cuda.suspended && cuda_progress();
    cuda_waits_patiently = false;
    return any;
}

void cuda_drain_until(bool (*pending)(const void *), const void *what)
{
    const double limit = cuda.options.timeout ? (double)cuda.options.timeout : MAX_WAIT_SECONDS;
    const struct timespec interval = {.tv_nsec = 200000};
    const bool waits = cuda_self.waits;
    double end = 0;
    waiting_threads++;
    cuda_self.waits = true;
    while (blocked && pending(what)) {
        cuda_record_values(cuda.now);
        const bool busy = cuda_host_busy(); /* a function may end between the next two checks */
        if (cuda_progress()) continue;
        if (!blocked || !pending(what)) break;
        const bool stuck = !busy && !value_may_change();
        if (stuck && progress_patiently()) continue;
        const double now = cuda_seconds();
        if (end <= 0 || cuda_host_busy() || cuda_kernel_runs()) end = now + limit;
        if (stuck || now > end) {
            report_blocked(stuck);
            cuda_report_suspended();
            cuda_set_sticky_error(CU_LAUNCH_TIMEOUT);
            cuda_progress();
            break;
        }
        cuda_release_lock();
        nanosleep(&interval, NULL);
        cuda_take_lock();
    }
    waiting_threads--;
    cuda_self.waits = waits;
}

/* The stream may have been destroyed meanwhile. */
static bool stream_has_pending(const void *stream)
{
    for (const cuda_stream *w = blocked; w; w = w->next_blocked)
        if (w == stream) return true;
    return false;
}

static bool device_has_pending(const void *device)
{
    const int d = *(const int *)device;
    for (const cuda_stream *w = blocked; w; w = w->next_blocked)
        if (w->device == d) return true;
    return false;
}

bool cuda_has_pending(const cuda_stream *s)
{
    return is_legacy(s) ? legacy_has_pending(&s->device) : stream_has_pending(s);
}

void cuda_drain(const cuda_stream *s)
{
    if (!blocked) return;
    if (is_legacy(s))
        cuda_drain_until(legacy_has_pending, &(int){s->device});
    else
        cuda_drain_until(stream_has_pending, s);
}

void cuda_drain_device(int device)
{
    if (blocked) cuda_drain_until(device_has_pending, &device);
}
