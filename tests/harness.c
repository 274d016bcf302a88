/* harness.c - see harness.h. Failures of the harness itself terminate the program; automake reports
 * them as errors. */
#define _DEFAULT_SOURCE /* vfork */
#include "tests/harness.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <time.h>
#include <unistd.h>

static _Noreturn void die(const char *what, const char *about)
{
    printf("Bail out! %s '%s': %s\n", what, about, strerror(errno));
    exit(EXIT_FAILURE);
}

static void *must(void *p)
{
    if (!p) die("out of memory", "harness");
    return p;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- commands ---- */

#define GRACE_SECONDS 10

typedef struct stream {
    int fd;
    char *text;
    size_t n, cap;
} stream;

static void drain(stream *s)
{
    if (s->cap - s->n < 4096) s->text = must(realloc(s->text, s->cap = s->cap * 2 + 8192));
    ssize_t n = read(s->fd, s->text + s->n, s->cap - s->n - 1);
    if (n > 0) {
        s->n += (size_t)n;
    } else if (n == 0 || errno != EINTR) {
        close(s->fd);
        s->fd = -1;
    }
    s->text[s->n] = '\0';
}

/* In the new process, which has the memory of its parent until it runs the command. */
static _Noreturn void child(const char *const argv[], const int out[2], const int err[2])
{
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* an interrupted test leaves no child processes */
#endif
    int null = open("/dev/null", O_RDONLY);
    dup2(null, 0);
    dup2(out[1], 1);
    dup2(err[1], 2);
    close(out[0]);
    close(err[0]);
    close(out[1]);
    close(err[1]);
    execvp(argv[0], (char *const *)(uintptr_t)argv);
    _exit(127);
}

run_result run_command(const char *const argv[], int seconds)
{
    int out[2], err[2];
    if (pipe(out) != 0 || pipe(err) != 0) die("cannot make a pipe for", argv[0]);
    double start = now();
    fflush(stdout);
    pid_t pid = vfork(); /* fork copies the page tables of tests that hold much data */
    if (pid < 0) die("cannot fork for", argv[0]);
    if (pid == 0) child(argv, out, err);
    close(out[1]);
    close(err[1]);
    stream s[2] = {{.fd = out[0]}, {.fd = err[0]}};
    const int signal_of[] = {SIGINT, SIGKILL};
    int stops = 0;
    double limit = seconds;
    while (s[0].fd >= 0 || s[1].fd >= 0) {
        struct pollfd p[2] = {{.fd = s[0].fd, .events = POLLIN}, {.fd = s[1].fd, .events = POLLIN}};
        double left = limit - (now() - start);
        if (left <= 0 && stops < 2) {
            kill(pid, signal_of[stops++]);
            limit += GRACE_SECONDS;
        }
        poll(p, 2, left > 0 ? (int)(left * 1000) + 1 : 100);
        for (int i = 0; i < 2; i++)
            if (s[i].fd >= 0 && p[i].revents) drain(&s[i]);
    }
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) die("cannot wait for", argv[0]);
    run_result r = {.out = s[0].text,
                    .err = s[1].text,
                    .nout = s[0].n,
                    .nerr = s[1].n,
                    .seconds = now() - start};
    r.interrupted = stops == 1;
    if (stops == 2)
        r.status = RUN_TIMEOUT;
    else
        r.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return r;
}

void run_free(run_result *r)
{
    free(r->out);
    free(r->err);
}

const char *loom_path(void)
{
    const char *p = getenv("PTXLOOM");
    return p ? p : "./ptxloom";
}

char *data_path(const char *path)
{
    const char *root = getenv("srcdir");
    if (!root) root = ".";
    size_t n = strlen(root) + strlen(path) + 16;
    char *full = must(malloc(n));
    snprintf(full, n, "%s/tests/data/%s", root, path);
    return full;
}

char *corpus_path(const char *path)
{
    const char *build = getenv("builddir");
    const size_t n = strlen(build ? build : ".") + strlen(path) + 16;
    char *full = must(malloc(n));
    snprintf(full, n, "%s/tests/corpus/%s", build ? build : ".", path);
    return full;
}

char *scratch_make(void)
{
    const char *tmp = getenv("TMPDIR");
    size_t n = strlen(tmp ? tmp : "/tmp") + 32;
    char *path = must(malloc(n));
    snprintf(path, n, "%s/ptxloom-test-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(path)) die("cannot make the folder", path);
    return path;
}

void scratch_remove(char *path)
{
    const char *const argv[] = {"rm", "-rf", path, NULL};
    run_result r = run_command(argv, 60);
    run_free(&r);
    free(path);
}

/* ---- TAP ---- */

static int tap_count, tap_failed;

void tap(bool ok, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    printf("%s %d - ", ok ? "ok" : "not ok", ++tap_count);
    vprintf(fmt, ap);
    putchar('\n');
    fflush(stdout);
    va_end(ap);
    tap_failed += !ok;
}

void tap_note(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    printf("# ");
    vprintf(fmt, ap);
    putchar('\n');
    va_end(ap);
}

int tap_done(void)
{
    printf("1..%d\n", tap_count);
    return tap_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* ---- files and tables ---- */

char *read_whole(const char *path, size_t *size)
{
    size_t n = strlen(path);
    if (n > 3 && strcmp(path + n - 3, ".xz") == 0) {
        const char *const argv[] = {"xz", "-dc", path, NULL};
        run_result r = run_command(argv, 120);
        if (r.status != 0) die("xz cannot unpack", path);
        free(r.err);
        if (size) *size = r.nout;
        return r.out;
    }
    FILE *f = fopen(path, "rb");
    if (!f) die("cannot open", path);
    stream s = {.fd = fileno(f)};
    s.fd = dup(s.fd);
    while (s.fd >= 0) drain(&s);
    fclose(f);
    if (size) *size = s.n;
    return s.text;
}

/* Cuts `line` at tabs into at most `max` fields; missing ones are "". */
static void cut(char *line, char **field, size_t max)
{
    for (size_t i = 0; i < max; i++) {
        field[i] = line;
        char *tab = strchr(line, '\t');
        if (!tab) {
            line += strlen(line);
            continue;
        }
        *tab = '\0';
        line = tab + 1;
    }
}

table table_read(const char *path)
{
    table t = {.text = read_whole(path, NULL)};
    size_t cap = 0;
    for (char *line = t.text; *line;) {
        char *newline = strchr(line, '\n'), *next = newline ? newline + 1 : line + strlen(line);
        if (newline) *newline = '\0';
        if (!t.head) {
            t.columns = 1;
            for (char *c = line; *c; c++) t.columns += *c == '\t';
            t.head = must(calloc(t.columns, sizeof *t.head));
            cut(*line == '#' ? line + 1 : line, t.head, t.columns);
        } else if (*line && *line != '#') {
            if (t.rows == cap) t.row = must(realloc(t.row, (cap = cap * 2 + 64) * sizeof *t.row));
            t.row[t.rows] = must(calloc(t.columns, sizeof **t.row));
            cut(line, t.row[t.rows++], t.columns);
        }
        line = next;
    }
    return t;
}

void table_free(table *t)
{
    for (size_t i = 0; i < t->rows; i++) free(t->row[i]);
    free(t->row);
    free(t->head);
    free(t->text);
}

size_t table_column(const table *t, const char *name)
{
    for (size_t i = 0; i < t->columns; i++)
        if (strcmp(t->head[i], name) == 0) return i;
    errno = 0;
    die("the table has no column", name);
}
