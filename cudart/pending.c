/* pending.c - blocked streams. Operations that follow a wait for a value that has not been written
 * yet are queued here in call order, and executed once the value is available. The same applies to
 * operations that depend on such a stream.
 *
 * Streams poll their values when an operation has been executed, when a call begins, and while the
 * host waits for a blocked stream. A thread of this library also polls every millisecond: some
 * programs write a value and then poll for its effects. If nothing is left that could write the
 * value, the wait is reported and the context fails. */
#define _POSIX_C_SOURCE 200809L
#include "cudart/state.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { LIMIT = 30 /* seconds that the host waits for other threads; --timeout overrides it */ };

typedef struct cuda_pending {
    struct cuda_pending *next;
    uint64_t number; /* unique in the process */
    cuda_work work;
    double since; /* ns: time at which the host enqueued it */
    int64_t call;
    bool running; /* a host function may be running */
} cuda_pending;

static cuda_stream *blocked; /* streams with pending operations, linked by ->next_blocked */
static uint64_t numbers;
static unsigned waiting; /* threads in cuda_settle... */

/* ---------------------------------------------------------------- queues */

static bool is_legacy(const cuda_stream *s)
{
    return s == &cuda.device[s->device].legacy;
}

/* True if something is pending for which the legacy stream of a device waits. */
static bool legacy_pends(const void *device)
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
    return legacy_pends(&s->device);
}

/* The legacy stream and the blocking streams wait for earlier operations of each other. */
static bool is_first(const cuda_stream *s, const cuda_pending *p)
{
    const cuda_pending *other = cuda.device[s->device].legacy.first;
    if (!is_legacy(s)) return !cuda_blocking(s) || !other || other->number > p->number;
    for (const cuda_stream *w = blocked; w; w = w->next_blocked)
        if (w != s && w->device == s->device && cuda_blocking(w) && w->first->number < p->number)
            return false;
    return true;
}

static void append(cuda_stream *s, cuda_pending *p)
{
    cuda_pending **at = &s->first;
    if (!*at) {
        s->next_blocked = blocked;
        blocked = s;
    }
    while (*at) at = &(*at)->next;
    *at = p;
}

/* Its first operation has completed. Dropping it may destroy the stream. */
static void advance(cuda_stream *s)
{
    cuda_pending *p = s->first;
    s->first = p->next;
    if (!s->first) {
        cuda_stream **at = &blocked;
        while (*at != s) at = &(*at)->next_blocked;
        *at = s->next_blocked;
    }
    if (p->work.drop) p->work.drop(p->work.what);
    free(p);
}

/* Drops all operations except running ones. */
static void drop_all(void)
{
    cuda_stream *s = blocked;
    while (s) {
        cuda_stream *next = s->next_blocked;
        while (s && !s->first->running) {
            const bool last = !s->first->next;
            advance(s);
            if (last) s = NULL;
        }
        s = next;
    }
}

/* Executes the first operation of a stream if it can begin. True if progress was made. */
static bool step(cuda_stream *s)
{
    cuda_pending *p = s->first;
    const uint64_t before = cuda.steps;
    const int64_t call = cuda_self.call_id;
    if (p->running || !is_first(s, p)) return false;
    if (p->since > s->ready) s->ready = p->since;
    cuda_self.call_id = p->call;
    cuda_self.deferred = true;
    p->running = true;
    const int error = p->work.run(s, p->work.what);
    p->running = false;
    cuda_self.deferred = false;
    cuda_self.call_id = call;
    if (error == CUDA_BLOCKED) return cuda.steps != before;
    if (error) cuda_fail(error);
    cuda_watch(s->ready);
    advance(s);
    return true;
}

bool cuda_progress(void)
{
    bool any = false, more = blocked && !cuda_self.callback && !cuda_self.deferred;
    while (more && !cuda.sticky) {
        more = false;
        for (cuda_stream *s = blocked; s && !more; s = s->next_blocked) more = step(s);
        any |= more;
    }
    if (cuda.sticky) drop_all();
    return any;
}

static pthread_cond_t is_blocked = PTHREAD_COND_INITIALIZER;

static void *look(void *unused)
{
    const struct timespec nap = {.tv_nsec = 1000000};
    prctl(PR_SET_NAME, CUDA_THREAD_NAME);
    pthread_mutex_lock(&cuda.lock);
    for (;;) {
        while (!blocked) pthread_cond_wait(&is_blocked, &cuda.lock);
        pthread_mutex_unlock(&cuda.lock);
        nanosleep(&nap, NULL);
        pthread_mutex_lock(&cuda.lock);
        if (!blocked) continue;
        cuda_host_enter();
        cuda_watch(cuda.now);
        cuda_progress();
        cuda_host_leave();
    }
    return unused;
}

/* A forked process has none of its parent's threads. Without the thread, streams still poll at
 * other times. */
static void begin_to_look(void)
{
    static pid_t process;
    pthread_t thread;
    if (!blocked) return;
    if (process == getpid()) {
        pthread_cond_signal(&is_blocked);
    } else if (pthread_create(&thread, NULL, look, NULL) == 0) {
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
    *p = (cuda_pending){
        .number = ++numbers, .work = *work, .since = cuda.now, .call = cuda_self.call_id};
    append(s, p);
    cuda_progress();
    begin_to_look();
    return CU_OK;
}

/* ---------------------------------------------------------------- the host waits */

/* Returns the values that the first operation of a stream waits for, or NULL. */
static const cuda_memory_ops *value_of(const cuda_work *w)
{
    return w->values ? w->values(w->what) : NULL;
}

/* True if threads of the program other than those waiting here exist. */
static bool others_run(void)
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
    return n > waiting;
}

static bool others_may_write(void)
{
    for (const cuda_stream *s = blocked; s; s = s->next_blocked) {
        const cuda_memory_ops *m = value_of(&s->first->work);
        if (s->first->running || (m && cuda_memory_ops_shared(m))) return true;
    }
    return others_run();
}

static void report(bool alone)
{
    char text[300], name[40];
    for (const cuda_stream *s = blocked; s; s = s->next_blocked) {
        const cuda_memory_ops *m = value_of(&s->first->work);
        if (!m || !cuda_memory_ops_text(m, text, sizeof text)) continue;
        snprintf(name, sizeof name, "stream %llu", (unsigned long long)s->id);
        cuda_say("%s waits %s; %s", is_legacy(s) ? "the default stream" : name, text,
                 alone ? "nothing is left that could write it" : "nothing has written it for long");
    }
}

void cuda_settle_until(bool (*pending)(const void *), const void *what)
{
    const double limit = cuda.options.timeout ? (double)cuda.options.timeout : LIMIT;
    const struct timespec nap = {.tv_nsec = 200000};
    double end = 0;
    waiting++;
    while (blocked && pending(what)) {
        cuda_watch(cuda.now);
        if (cuda_progress()) continue;
        if (!blocked || !pending(what)) break;
        const bool alone = !others_may_write();
        const double now = cuda_seconds();
        if (end <= 0) end = now + limit;
        if (alone || now > end) {
            report(alone);
            cuda_fail(CU_LAUNCH_TIMEOUT);
            cuda_progress();
            break;
        }
        cuda_host_leave();
        pthread_mutex_unlock(&cuda.lock);
        nanosleep(&nap, NULL);
        pthread_mutex_lock(&cuda.lock);
        cuda_host_enter();
    }
    waiting--;
}

/* The stream may have been destroyed meanwhile. */
static bool stream_pends(const void *stream)
{
    for (const cuda_stream *w = blocked; w; w = w->next_blocked)
        if (w == stream) return true;
    return false;
}

static bool device_pends(const void *device)
{
    const int d = *(const int *)device;
    for (const cuda_stream *w = blocked; w; w = w->next_blocked)
        if (w->device == d) return true;
    return false;
}

bool cuda_has_pending(const cuda_stream *s)
{
    return is_legacy(s) ? legacy_pends(&s->device) : stream_pends(s);
}

void cuda_settle(const cuda_stream *s)
{
    if (!blocked) return;
    if (is_legacy(s))
        cuda_settle_until(legacy_pends, &(int){s->device});
    else
        cuda_settle_until(stream_pends, s);
}

void cuda_settle_device(int device)
{
    if (blocked) cuda_settle_until(device_pends, &device);
}
