/* logs.c - the log of failed calls, which programs read and watch (cudaLogs...). */
#define _POSIX_C_SOURCE 200809L
#include "cudart/activity.h"
#include "cudart/state.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LOG_LINES = 100, LINE_BYTES = 200, WATCHERS = 16, LEVEL_ERROR = 0 };

typedef void log_watcher(void *arg, int level, char *message, size_t length);

typedef struct watcher {
    log_watcher *fn;
    void *arg;
} watcher;

static struct {
    char line[LOG_LINES][LINE_BYTES]; /* the latest lines; line k is at k % LOG_LINES */
    unsigned n;                       /* so far */
    watcher watcher[WATCHERS];
} logs;

void cuda_log_error(const char *call, const char *error)
{
    struct timespec now;
    struct tm t;
    char *line = logs.line[logs.n++ % LOG_LINES];
    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &t);
    snprintf(line, LINE_BYTES, "[%02d:%02d:%02d.%03ld][%lu][CUDA][E] %s returns %s", t.tm_hour,
             t.tm_min, t.tm_sec, now.tv_nsec / 1000000, (unsigned long)pthread_self(), call, error);
}

/* Called without the lock: a watcher must not call CUDA, but it may take a lock of its own. */
void cuda_log_notify(void)
{
    watcher list[WATCHERS];
    char line[LINE_BYTES];
    pthread_mutex_lock(&cuda.lock);
    memcpy(list, logs.watcher, sizeof list);
    memcpy(line, logs.line[(logs.n - 1) % LOG_LINES], sizeof line);
    pthread_mutex_unlock(&cuda.lock);
    for (int k = 0; k < WATCHERS; k++) {
        char text[LINE_BYTES]; /* a watcher may change its copy */
        if (!list[k].fn) continue;
        memcpy(text, line, sizeof text);
        list[k].fn(list[k].arg, LEVEL_ERROR, text, strlen(text));
    }
}

/* The handle of a watcher is its number, from 1. */
int pl_cudaLogsRegisterCallback(void *fn, void *arg, void **handle)
{
    int k = 0;
    if (!fn) return CU_INVALID_VALUE;
    while (k < WATCHERS && logs.watcher[k].fn) k++;
    if (k == WATCHERS) return CU_MEMORY_ALLOCATION;
    memcpy(&logs.watcher[k].fn, &fn, sizeof fn);
    logs.watcher[k].arg = arg;
    if (handle) *handle = (void *)(uintptr_t)(k + 1);
    return CU_OK;
}

int pl_cudaLogsUnregisterCallback(void *handle)
{
    const uintptr_t k = (uintptr_t)handle;
    if (!k || k > WATCHERS || !logs.watcher[k - 1].fn) return CU_INVALID_VALUE;
    logs.watcher[k - 1].fn = NULL;
    return CU_OK;
}

int pl_cudaLogsCurrent(unsigned *iterator, unsigned flags)
{
    (void)flags;
    if (!iterator) return CU_INVALID_VALUE;
    *iterator = logs.n;
    return CU_OK;
}

/* Returns the first line of a dump: the one after the iterator, or the oldest (NULL). */
static unsigned first_line(const unsigned *iterator)
{
    const unsigned oldest = logs.n > LOG_LINES ? logs.n - LOG_LINES : 0;
    return iterator && *iterator > oldest ? *iterator : oldest;
}

int pl_cudaLogsDumpToFile(unsigned *iterator, const char *path, unsigned flags)
{
    if (!path || flags) return CU_INVALID_VALUE;
    FILE *f = fopen(path, "a");
    if (!f) return CU_INVALID_VALUE;
    for (unsigned k = first_line(iterator); k < logs.n; k++)
        fprintf(f, "%s\n", logs.line[k % LOG_LINES]);
    if (iterator) *iterator = logs.n;
    return fclose(f) == 0 ? CU_OK : CU_OPERATING_SYSTEM;
}

/* *size: the space; then the bytes of the text without its terminating zero. */
int pl_cudaLogsDumpToMemory(unsigned *iterator, char *buffer, size_t *size, unsigned flags)
{
    size_t n = 0;
    unsigned k = first_line(iterator);
    (void)flags;
    if (!buffer || !size || !*size) return CU_INVALID_VALUE;
    buffer[0] = '\0';
    for (; k < logs.n; k++) {
        const char *line = logs.line[k % LOG_LINES];
        if (strlen(line) + 2 > *size - n) break;
        n += (size_t)snprintf(buffer + n, *size - n, "%s\n", line);
    }
    *size = n;
    if (!n && k < logs.n) return CU_INVALID_VALUE; /* no line fits */
    if (iterator) *iterator = k;
    return CU_OK;
}
