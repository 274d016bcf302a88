/* faults.c - injects a system fault at every point of every command: out of memory, disk full,
 * kill.
 *
 * Each command of the table runs as a child of this process, which contains the command-line
 * program (cli/main.c is compiled in); the n-th allocation or system call fails there
 * (tests/inject.h). A command must end within the time limit and without a signal. Either it ends
 * with status 3 and an error message, or its results equal those without the fault: status,
 * standard output and output file. A file with the output's name is always complete.
 *
 *     tests/faults           some points of each command
 *     tests/faults --every N [COMMAND ...]    every N-th point of the commands with this name
 *       prefix; 1: all
 *     tests/faults --at KIND N COMMAND    one point, in this process: for a debugger, with a
 *       breakpoint at inject_fired */
#define _GNU_SOURCE /* MAP_ANONYMOUS, GLOB_BRACE, O_TMPFILE */
#include "tests/harness.h"
#include "tests/inject.h"
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#undef main
int cli_main(int argc, char **argv);

enum { SECONDS = 60, FEW = 8, SKIP = 77 };

#define SAXPY           "run", "$/examples/saxpy.ptx", "-g", "2", "-b", "64", "--arch", "toy"
#define SAXPY_ARGUMENTS "u32:128", "f32:2", "f32[128]=iota", "out:f32[128]=iota"

#define TRACED "run", "$/examples/tensor_copy.json", "--trace", "out.db", "--trace-level", "mem"

static const struct trial {
    const char *name;
    const char *words[20]; /* $: the source tree */
    const char *output;    /* the file it writes; NULL: none */
    const char *input;     /* contents of its standard input; NULL: empty */
    int status;
    bool makes;         /* other commands read its output */
    const char *before; /* previous contents of its output; NULL: the file does not exist */
} trials[] = {
    {"trace rows",
     {"run", "$/examples/tensor_copy.json", "--trace", "rows.db", "--trace-level", "mem"},
     "rows.db",
     NULL,
     0,
     true,
     NULL},
    {"trace packed",
     {"run", "$/examples/tensor_copy.json", "--trace", "packed.db", "--trace-level", "mem",
      "--trace-format", "packed"},
     "packed.db",
     NULL,
     0,
     true,
     NULL},
    {"trace overwriting a trace", {TRACED}, "out.db", NULL, 0, false, NULL},
    {"trace summary",
     {SAXPY, SAXPY_ARGUMENTS, "--trace", "out.db", "--trace-level", "summary"},
     "out.db",
     NULL,
     0,
     false,
     NULL},
    {"run timing", {SAXPY, SAXPY_ARGUMENTS}, NULL, NULL, 0, false, NULL},
    {"run functional",
     {SAXPY, SAXPY_ARGUMENTS, "--mode", "functional"},
     NULL,
     NULL,
     0,
     false,
     NULL},
    {"run streams",
     {"run", "$/examples/overlap.json", "--arch", "toy"},
     NULL,
     NULL,
     0,
     false,
     NULL},
    {"run textures",
     {"run", "$/examples/named_texture.json", "--mode", "functional"},
     NULL,
     NULL,
     0,
     false,
     NULL},
    {"run threads",
     {"run", "$/examples/overlap.json", "--arch", "toy", "--threads", "2", "--json"},
     NULL,
     NULL,
     0,
     false,
     NULL},
    {"run prints",
     {"run", "$/tests/ptx/exec/cuda/printf.ptx", "-k", "helloCUDA", "-g", "1", "-b", "5",
      "f32:1.5"},
     NULL,
     NULL,
     0,
     false,
     NULL},
    {"run weak",
     {SAXPY, SAXPY_ARGUMENTS, "--mode", "functional", "--consistency", "weak", "--schedule",
      "random:1"},
     NULL,
     NULL,
     0,
     false,
     NULL},
    {"run metrics",
     {SAXPY, SAXPY_ARGUMENTS, "--metrics", "all", "--json"},
     NULL,
     NULL,
     0,
     false,
     NULL},
    {"run faults",
     {SAXPY, "u32:128", "f32:2", "f32[8]=iota", "out:f32[8]=iota"},
     NULL,
     NULL,
     1,
     false,
     NULL},
    {"dis", {"dis", "$/examples/matmul.ptx"}, NULL, NULL, 0, false, NULL},
    {"dis object", {"dis", "in.plo", "--asm"}, NULL, NULL, 0, false, NULL},
    {"check",
     {"check", "$/examples/matmul.ptx", "$/examples/blend.ptx"},
     NULL,
     NULL,
     0,
     false,
     NULL},
    {"check json", {"check", "wrong.ptx", "--json"}, NULL, NULL, 2, false, NULL},
    {"fmt", {"fmt", "$/examples/matmul.ptx"}, NULL, NULL, 0, false, NULL},
    {"fmt -w",
     {"fmt", "-w", "unformed.ptx"},
     "unformed.ptx",
     NULL,
     0,
     false,
     ".version 9.0\n .target sm_90\n.address_size   64\n.visible .entry k(){ret;}\n"},
    {"as", {"as", "$/examples/matmul.ptx", "-o", "made.plo"}, "made.plo", NULL, 0, false, NULL},
    {"explain",
     {"explain", "add.f32", "E0402", "l1.latency", "achieved_occupancy", "hot_lines"},
     NULL,
     NULL,
     0,
     false,
     NULL},
    {"explain unknown", {"explain", "addd"}, NULL, NULL, 2, false, NULL},
    {"occupancy", {"occupancy", "-b", "256", "-r", "32"}, NULL, NULL, 0, false, NULL},
    {"occupancy of a file",
     {"occupancy", "$/examples/matmul.ptx", "-b", "256"},
     NULL,
     NULL,
     0,
     false,
     NULL},
    {"litmus", {"litmus", "$/examples/mp.litmus", "--runs", "100"}, NULL, NULL, 0, false, NULL},
    {"query", {"query", "rows.db", "hot_lines"}, NULL, NULL, 0, false, NULL},
    {"query json",
     {"query", "packed.db", "SELECT * FROM inst LIMIT 20", "--json"},
     NULL,
     NULL,
     0,
     false,
     NULL},
    {"query advice", {"query", "packed.db", "--advise"}, NULL, NULL, 0, false, NULL},
    {"report", {"report", "rows.db", "-o", "out.html"}, "out.html", NULL, 0, false, NULL},
    {"report overwriting a report",
     {"report", "packed.db", "-o", "over.html", "--baseline", "rows.db"},
     "over.html",
     NULL,
     0,
     false,
     "<!DOCTYPE html>\n<title>ptxloom report</title>\n"},
    {"diff", {"diff", "rows.db", "packed.db"}, NULL, NULL, 0, false, NULL},
    {"export perfetto",
     {"export", "rows.db", "-o", "over.json"},
     "over.json",
     NULL,
     0,
     false,
     "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[]}\n"},
    {"export table",
     {"export", "rows.db", "-f", "ndjson", "-t", "kernel", "-o", "over.txt"},
     "over.txt",
     NULL,
     0,
     false,
     "{\"id\": 77}\n"},
    {"export tables",
     {"export", "rows.db", "-f", "csv", "-o", "tables"},
     "tables/kernel.csv",
     NULL,
     0,
     false,
     NULL},
    {"save an output",
     {SAXPY, "u32:128", "f32:2", "f32[128]=iota", "out=over.npy:f32[128]=iota", "--mode",
      "functional"},
     "over.npy",
     NULL,
     0,
     false,
     "\x93NUMPY of before"},
    {"dis to a file",
     {"dis", "$/examples/matmul.ptx", "-o", "over.s"},
     "over.s",
     NULL,
     0,
     false,
     "old:\n     0  ret\n"},
    {"shell",
     {"shell", "rows.db"},
     NULL,
     "hot_lines\n.schema\nSELECT count(*)\n FROM inst;\n",
     0,
     false,
     NULL},
};
enum { TRIALS = sizeof trials / sizeof *trials };

static const struct mode {
    const char *name;
    inject_kind kind;
    int code, few;
} modes[] = {
    {"one allocation fails", INJECT_MEMORY, 0, 3 * FEW / 2},
    {"all further allocations fail", INJECT_MEMORY_FROM, 0, FEW / 2},
    {"input/output error", INJECT_ERROR, EIO, FEW},
    {"disk full", INJECT_ERROR_FROM, ENOSPC, FEW / 2},
    {"short transfers", INJECT_SHORT, 0, FEW / 4},
    {"kill", INJECT_KILL, 0, FEW / 3},
};
enum { MODES = sizeof modes / sizeof *modes };

/* The results of a run. */
typedef struct outcome {
    int status; /* 128 + signal if killed by one */
    char *out, *err, *file;
    size_t nout, nerr, nfile;
    bool has_file;
} outcome;

typedef struct fault {
    inject_kind kind;
    long at;
    int code;
    const inject_forks *forks; /* many points in one run; NULL: one */
} fault;

static char *top, *folder;
static inject_counts *counts;

/* ---- one run ---- */

static char *read_if(const char *path, size_t *n, bool *there)
{
    struct stat s;
    *n = 0;
    *there = stat(path, &s) == 0;
    return *there ? read_whole(path, n) : NULL;
}

static void free_outcome(outcome *o)
{
    free(o->out);
    free(o->err);
    free(o->file);
}

static void redirect(int to, const char *path, int flags)
{
    int fd = open(path, flags, 0666);
    if (fd < 0 || dup2(fd, to) < 0) _exit(125);
    close(fd);
}

static _Noreturn void child(const struct trial *t, const fault *f, const char *out)
{
    char *argv[24] = {(char *)(uintptr_t) "ptxloom"}, paths[4096];
    int argc = 1;
    size_t used = 0;
    for (; t->words[argc - 1]; argc++) {
        const char *w = t->words[argc - 1];
        argv[argc] = paths + used;
        used += 1 + (size_t)snprintf(paths + used, sizeof paths - used, "%s%s",
                                     *w == '$' ? top : "", w + (*w == '$'));
    }
    redirect(STDIN_FILENO, t->input ? "stdin" : "/dev/null", O_RDONLY);
    redirect(STDERR_FILENO, "stderr", O_WRONLY | O_CREAT | O_TRUNC);
    if (out)
        redirect(STDOUT_FILENO, out, O_WRONLY | O_CREAT | O_TRUNC);
    else
        close(STDOUT_FILENO);
    if (f->forks)
        inject_fork(f->kind, f->forks, counts);
    else {
        alarm(SECONDS);
        if (!inject_arm(f->kind, f->at, f->code, counts)) _exit(SKIP);
    }
    exit(cli_main(argc, argv));
}

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    if (!f || fputs(text, f) < 0 || fclose(f) != 0) exit(EXIT_FAILURE);
}

static void prepare(const struct trial *t)
{
    if (t->output && t->before)
        write_text(t->output, t->before);
    else if (t->output)
        remove(t->output);
    if (t->input) write_text("stdin", t->input);
}

static pid_t start_child(const struct trial *t, const fault *f, const char *out)
{
    prepare(t);
    memset(counts, 0, sizeof *counts);
    fflush(stdout);
    const pid_t pid = fork();
    if (pid < 0) exit(EXIT_FAILURE);
    if (pid == 0) child(t, f, out);
    return pid;
}

static int status_of(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int wait_for(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) exit(EXIT_FAILURE);
    return status_of(status);
}

/* Run times differ between runs. */
static void drop_times(char *text, size_t *n)
{
    static const char *const before[] = {"emulated in", "wall_seconds\":"};
    for (size_t k = 0; k < 2; k++)
        for (char *p = text; (p = strstr(p, before[k])) != NULL;) {
            p += strlen(before[k]);
            const size_t digits = strspn(p, " 0123456789.e-");
            memmove(p, p + digits, strlen(p + digits) + 1);
            *n -= digits;
        }
}

static outcome outcome_of(const struct trial *t, int status)
{
    bool there;
    outcome o = {.status = status};
    o.out = read_if("stdout", &o.nout, &there);
    o.err = read_if("stderr", &o.nerr, &there);
    if (t->output) o.file = read_if(t->output, &o.nfile, &o.has_file);
    if (o.out) drop_times(o.out, &o.nout);
    return o;
}

static outcome run_trial(const struct trial *t, inject_kind kind, long at, int code)
{
    const fault f = {.kind = kind, .at = at, .code = code};
    return outcome_of(t, wait_for(start_child(t, &f, "stdout")));
}

/* ---- checks ---- */

/* Number of rows of all tables of a trace; -1: not a trace, or damaged. */
static long long rows_of(const char *path)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *s = NULL, *c;
    long long sum = -1;
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &s, NULL) == SQLITE_OK &&
        sqlite3_step(s) == SQLITE_ROW && strcmp((const char *)sqlite3_column_text(s, 0), "ok") == 0)
        sum = 0;
    sqlite3_finalize(s);
    s = NULL;
    if (sum == 0 && sqlite3_prepare_v2(db,
                                       "SELECT 'SELECT count(*) FROM \"' || name || '\"' FROM "
                                       "sqlite_schema WHERE type = 'table' AND sql NOT LIKE "
                                       "'%VIRTUAL%' UNION ALL SELECT 'PRAGMA user_version' UNION "
                                       "ALL SELECT 'SELECT sum(cycles) FROM kernel'",
                                       -1, &s, NULL) == SQLITE_OK)
        while (sum >= 0 && sqlite3_step(s) == SQLITE_ROW) {
            c = NULL;
            if (sqlite3_prepare_v2(db, (const char *)sqlite3_column_text(s, 0), -1, &c, NULL) ==
                    SQLITE_OK &&
                sqlite3_step(c) == SQLITE_ROW)
                sum += sqlite3_column_int64(c, 0);
            else
                sum = -1;
            sqlite3_finalize(c);
        }
    sqlite3_finalize(s);
    sqlite3_close(db);
    return sum;
}

static bool is_trace(const struct trial *t)
{
    return t->output && strstr(t->output, ".db");
}

static bool same_file(const struct trial *t, const outcome *o, const outcome *good, long long rows)
{
    if (!o->has_file) return false;
    if (is_trace(t)) return rows_of(t->output) == rows;
    return o->nfile == good->nfile && memcmp(o->file, good->file, o->nfile) == 0;
}

/* Permitted contents of the output when the command failed, other than complete: those before. */
static bool as_before(const struct trial *t, const outcome *o)
{
    if (!t->output || !t->before) return !o->has_file;
    return o->has_file && o->nfile == strlen(t->before) &&
           memcmp(o->file, t->before, o->nfile) == 0;
}

/* Removes unnamed outputs; true if there were any. */
static bool parts_left(void)
{
    glob_t g;
    const bool some = glob("{,tables/}*.part", GLOB_BRACE, NULL, &g) == 0;
    for (size_t k = 0; some && k < g.gl_pathc; k++) remove(g.gl_pathv[k]);
    if (some) globfree(&g);
    return some;
}

/* NULL: as expected. */
static const char *verdict(const struct trial *t, const struct mode *m, const outcome *o,
                           const outcome *good, long long rows)
{
    static char text[80];
    const bool complete = !t->output || same_file(t, o, good, rows);
    if (m->kind == INJECT_KILL && o->status == 128 + SIGKILL) {
        parts_left(); /* a killed process may leave one */
        return complete || as_before(t, o) ? NULL : "it left a truncated output";
    }
    if (o->status > 127) {
        snprintf(text, sizeof text, "it was killed by signal %d", o->status - 128);
        return text;
    }
    if (o->status == good->status) {
        if (o->nout != good->nout || memcmp(o->out, good->out, o->nout) != 0)
            return "standard output differs, without an error message";
        if (good->status == 0 && !complete)
            return "the output file differs, without an error message";
        return NULL;
    }
    if (o->status != 3) {
        snprintf(text, sizeof text, "status %d", o->status);
        return text;
    }
    if (!o->nerr) return "status 3 without a message";
    const bool memory = m->kind == INJECT_MEMORY || m->kind == INJECT_MEMORY_FROM;
    if (memory && !strstr(o->err, "memory")) return "the message does not mention memory";
    if (m->code && !strstr(o->err, strerror(m->code)))
        return "the message does not mention the error";
    if (t->output && !complete && !as_before(t, o)) return "it failed and left a truncated output";
    if (t->output && parts_left()) return "it left a temporary part of an output";
    return NULL;
}

/* ---- many points in one run ---- */

static const struct trial *forked;
static int results[2], answers[2]; /* pipes from and to the run */
static glob_t kept;

/* The files that a run can change. */
static void changeable(glob_t *g)
{
    glob("{std{out,err},*.part,tables/*}", GLOB_BRACE, NULL, g);
    if (forked->output) glob(forked->output, GLOB_APPEND, NULL, g);
}

static const char *kept_name(size_t k)
{
    static char name[40];
    snprintf(name, sizeof name, "kept/%zu", k);
    return name;
}

/* Moves them, so that the system still knows the names of those that are open. */
static void keep_files(void)
{
    changeable(&kept);
    for (size_t k = 0; k < kept.gl_pathc; k++)
        if (rename(kept.gl_pathv[k], kept_name(k)) != 0 && errno != ENOENT) _exit(EXIT_FAILURE);
}

static void restore_files(void)
{
    glob_t now;
    changeable(&now);
    for (size_t k = 0; k < now.gl_pathc; k++) remove(now.gl_pathv[k]);
    for (size_t k = 0; k < kept.gl_pathc; k++) /* a path may be there twice */
        if (rename(kept_name(k), kept.gl_pathv[k]) != 0 && errno != ENOENT) _exit(EXIT_FAILURE);
    globfree(&now);
    globfree(&kept);
}

/* Copies a file that the run is writing, and gives the copy its name. Returns fd for other files.
 */
static int copy_open_file(int fd, const char *descriptor, const struct stat *s)
{
    char path[PATH_MAX];
    const ssize_t n = readlink(descriptor, path, sizeof path - 1);
    path[n < 0 ? 0 : n] = '\0';
    const char *number = strstr(path, "/kept/");
    if (!number && s->st_nlink) return fd; /* such as the log of the test */
    const int from = open(descriptor, O_RDONLY);
    const int to = number ? open("copy", O_RDWR | O_CREAT | O_TRUNC, s->st_mode)
                          : open(".", O_RDWR | O_TMPFILE, s->st_mode);
    off_t at = 0;
    if (from < 0 || to < 0) return -1;
    while (at < s->st_size)
        if (sendfile(to, from, &at, (size_t)(s->st_size - at)) <= 0) return -1;
    close(from);
    return number && rename("copy", kept.gl_pathv[atol(number + 6)]) != 0 ? -1 : to;
}

/* The child has its own files and offsets, since those of the run are still needed. */
static void separate_files(void)
{
    struct stat s;
    char descriptor[40];
    for (size_t k = 0; k < kept.gl_pathc; k++)
        if (link(kept_name(k), kept.gl_pathv[k]) != 0 && errno != ENOENT) _exit(125);
    for (int fd = 0; fd < 64; fd++) {
        if (fstat(fd, &s) != 0 || !S_ISREG(s.st_mode)) continue;
        const int flags = fcntl(fd, F_GETFL), close_flag = fcntl(fd, F_GETFD);
        const off_t at = lseek(fd, 0, SEEK_CUR);
        snprintf(descriptor, sizeof descriptor, "/proc/self/fd/%d", fd);
        const int own = (flags & O_ACCMODE) == O_RDONLY ? open(descriptor, O_RDONLY)
                                                        : copy_open_file(fd, descriptor, &s);
        if (own == fd) continue;
        if (own < 0 || lseek(own, at, SEEK_SET) != at || dup2(own, fd) < 0 ||
            fcntl(fd, F_SETFD, close_flag) != 0)
            _exit(125);
        close(own);
    }
    alarm(SECONDS);
}

typedef struct ended {
    long at, later;
    int status;
} ended;

static void tell_end(long at, int status)
{
    const ended e = {at, counts->later, status_of(status)};
    char answer;
    if (write(results[1], &e, sizeof e) != sizeof e || read(answers[0], &answer, 1) != 1)
        _exit(EXIT_FAILURE);
    restore_files();
}

/* ---- all points ---- */

/* The points of one kind of fault. */
typedef struct points {
    const struct trial *trial;
    const struct mode *mode;
    const outcome *good;
    long long rows;
    long *at, n;
    bool *tried;
    bool *last; /* for each allocation: if it fails there is no later one */
    long bad;
} points;

static long choose(long most, long few, long k)
{
    if (few >= most) return k;
    /* The first points, and some of the others. */
    return k < few / 2 ? k : few / 2 + (k - few / 2) * (most - few / 2) / (few - few / 2);
}

static void judge(points *p, long at, outcome *o)
{
    const char *why = verdict(p->trial, p->mode, o, p->good, p->rows);
    if (why && p->bad++ < 5)
        tap_note("%s, %s at %ld: %s; it said: %.200s", p->trial->name, p->mode->name, at, why,
                 o->err ? o->err : "");
    free_outcome(o);
}

static void try_forks(points *p)
{
    const inject_forks forks = {p->at, p->n, keep_files, separate_files, tell_end};
    const fault f = {.kind = p->mode->kind, .forks = &forks};
    ended e;
    long k = 0;
    forked = p->trial;
    if (pipe(results) != 0 || pipe(answers) != 0) exit(EXIT_FAILURE);
    const pid_t pid = start_child(p->trial, &f, "stdout");
    close(results[1]);
    close(answers[0]);
    while (read(results[0], &e, sizeof e) == sizeof e) {
        outcome o = outcome_of(p->trial, e.status);
        judge(p, e.at, &o);
        while (p->at[k] != e.at) k++;
        p->tried[k] = true;
        p->last[e.at] = e.later == 0;
        if (write(answers[1], "", 1) != 1) break;
    }
    close(results[0]);
    close(answers[1]);
    outcome o = outcome_of(p->trial, wait_for(pid));
    if (o.status != p->good->status) {
        p->bad++;
        tap_note("the run that forks: status %d, %.200s", o.status, o.err ? o.err : "");
    }
    judge(p, -1, &o);
}

static void try_mode(const struct trial *t, const struct mode *m, const outcome *good,
                     long long rows, long most, long every, bool *last)
{
    const bool reads_only = m->kind == INJECT_KILL && !t->output;
    /* The last allocations, since most of the others are those of opening a trace. */
    const long end = !every && m->kind == INJECT_MEMORY && most > 100 ? 12 : 0;
    const long few = every ? (most + every - 1) / every : most < m->few ? most : m->few + end;
    if (reads_only) return;
    long *at = malloc((size_t)(few + 1) * sizeof *at), n = 0, again = 0;
    bool *tried = calloc((size_t)few + 1, sizeof *tried);
    if (!at || !tried) exit(EXIT_FAILURE);
    for (long k = 0; k < few; k++) {
        at[n] = every ? k * every : k >= few - end ? most - few + k : choose(most, few - end, k);
        /* If no allocation follows, both kinds of faults are the same. */
        n += m->kind != INJECT_MEMORY_FROM || !last[at[n]];
    }
    points p = {t, m, good, rows, at, n, tried, last, 0};
    if (m->kind <= INJECT_MEMORY_FROM && n) try_forks(&p);
    for (long k = 0; k < n; k++) {
        if (tried[k]) continue;
        outcome o = run_trial(t, m->kind, at[k], m->code);
        judge(&p, at[k], &o);
        again++;
    }
    tap(p.bad == 0, "%s: %s, %ld of %ld points%s", t->name, m->name, few, most,
        p.bad ? ", some failed" : "");
    if (p.bad) tap_note("%ld points of %ld", p.bad, few);
    if (every && few > n) tap_note("%ld as with one, since no allocation follows", few - n);
    if (every && again) tap_note("%ld in runs of their own", again);
    free(at);
    free(tried);
}

static void try_standard_output(const struct trial *t)
{
    static const char *const out[] = {"/dev/full", NULL};
    for (size_t k = 0; k < 2; k++) {
        size_t n;
        bool there;
        const int status = wait_for(start_child(t, &(fault){.kind = INJECT_NONE}, out[k]));
        char *err = read_if("stderr", &n, &there);
        tap(status == 3 && err && strstr(err, strerror(out[k] ? ENOSPC : EBADF)),
            "%s: standard output is %s", t->name, out[k] ? out[k] : "closed");
        if (status != 3) tap_note("status %d, %s", status, err);
        free(err);
    }
}

static void try_trial(const struct trial *t, long every)
{
    outcome good = run_trial(t, INJECT_ERROR, LONG_MAX, 0);
    if (good.status == SKIP) {
        printf("1..0 # SKIP no seccomp here\n");
        exit(EXIT_SUCCESS);
    }
    const long most[] = {counts->allocations, counts->calls};
    const long long rows = is_trace(t) ? rows_of(t->output) : 0;
    tap(good.status == t->status && rows >= 0 && (!t->output || good.has_file),
        "%s: %ld allocations, %ld calls", t->name, most[0], most[1]);
    if (good.status != t->status) tap_note("status %d: %s", good.status, good.err);
    bool *last = calloc((size_t)most[0] + 1, sizeof *last);
    if (!last) exit(EXIT_FAILURE);
    for (size_t k = 0; k < MODES; k++)
        try_mode(t, &modes[k], &good, rows, most[modes[k].kind >= INJECT_ERROR],
                 modes[k].kind >= INJECT_ERROR && every ? 1 : every, last);
    free(last);
    if (good.nout) try_standard_output(t);
    free_outcome(&good);
}

static int one_point(char **argv)
{
    for (size_t k = 0; k < TRIALS; k++) {
        if (strcmp(trials[k].name, argv[4]) != 0) continue;
        prepare(&trials[k]);
        const int kind = atoi(argv[2]);
        const fault f = {.kind = (inject_kind)kind,
                         .at = atol(argv[3]),
                         .code = kind == INJECT_ERROR ? EIO : ENOSPC};
        child(&trials[k], &f, "stdout");
    }
    return EXIT_FAILURE;
}

static void make_inputs(void)
{
    static const struct trial before[] = {
        {"",
         {SAXPY, "u32:128", "f32:2", "f32[128]=iota", "out=in.npy:f32[128]=iota"},
         NULL,
         NULL,
         0,
         false,
         NULL},
        {"", {"as", "$/examples/matmul.ptx", "-o", "in.plo"}, NULL, NULL, 0, false, NULL},
    };
    const fault none = {.kind = INJECT_NONE};
    if (mkdir("kept", 0777) != 0) exit(EXIT_FAILURE);
    for (size_t k = 0; k < sizeof before / sizeof *before; k++)
        if (wait_for(start_child(&before[k], &none, "stdout")) != 0) exit(EXIT_FAILURE);
    FILE *f = fopen("wrong.ptx", "w");
    if (!f ||
        fputs(".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k() { addd.u32 %r1, "
              "%r2, 3; rett; }\n",
              f) < 0 ||
        fclose(f) != 0)
        exit(EXIT_FAILURE);
}

static bool asked_for(const struct trial *t, int argc, char **argv)
{
    for (int k = 3; k < argc; k++)
        if (strncmp(t->name, argv[k], strlen(argv[k])) == 0) return true;
    return argc <= 3;
}

int main(int argc, char **argv)
{
    const long every = argc > 2 && strcmp(argv[1], "--every") == 0 ? atol(argv[2]) : 0;
    const char *from = getenv("srcdir");
    top = realpath(from ? from : ".", NULL);
    folder = scratch_make();
    counts = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!top || counts == MAP_FAILED || chdir(folder) != 0) return EXIT_FAILURE;
    make_inputs();
    for (size_t k = 0; argc == 5 && k < TRIALS && trials[k].makes; k++)
        wait_for(start_child(&trials[k], &(fault){.kind = INJECT_NONE}, "stdout"));
    if (argc == 5 && strcmp(argv[1], "--at") == 0) return one_point(argv);
    for (size_t k = 0; k < TRIALS; k++)
        if (trials[k].makes || asked_for(&trials[k], argc, argv)) {
            if (asked_for(&trials[k], argc, argv)) try_trial(&trials[k], every);
            if (trials[k].makes) { /* as input of other commands, without faults */
                outcome o = run_trial(&trials[k], INJECT_NONE, 0, 0);
                free_outcome(&o);
            }
        }
    if (chdir("/") != 0) return EXIT_FAILURE;
    scratch_remove(folder);
    free(top);
    return tap_done();
}
