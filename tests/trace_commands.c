/* trace_commands.c - the trace commands diff, export and shell give the same results as SQL. */
#include "tests/harness.h"
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECONDS 300

static char *folder;
static char trace_a[4096], trace_b[4096], trace_async[4096];

static run_result loom(const char *const words[])
{
    const char *argv[24] = {loom_path()};
    for (int i = 0; words[i]; i++) argv[i + 1] = words[i];
    return run_command(argv, SECONDS);
}

static sqlite3 *open_db(const char *path)
{
    sqlite3 *db = NULL;
    sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL);
    return db;
}

static int64_t value(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *s = NULL;
    int64_t v = INT64_MIN;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW)
        v = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return v;
}

static void make_trace(const char *name, const char *case_name, char *path, size_t size)
{
    char part[256];
    snprintf(path, size, "%s/%s", folder, name);
    snprintf(part, sizeof part, "suite/cases/%s.json", case_name);
    char *launch = data_path(part);
    run_result r =
        loom((const char *const[]){"run", launch, "--trace", path, "--trace-level", "mem", NULL});
    if (r.status != 0) tap_note("%s: %s", case_name, r.err);
    run_free(&r);
    free(launch);
}

/* ---- diff ---- */

static int64_t member(const json_t *o, const char *key)
{
    return json_integer_value(json_object_get(o, key));
}

static void check_diff(void)
{
    run_result r = loom((const char *const[]){"diff", trace_a, trace_b, "--json", "--all", NULL});
    json_t *root = json_loads(r.out, 0, NULL);
    const json_t *launch = json_array_get(json_object_get(root, "launches"), 0), *line;
    sqlite3 *db[2] = {open_db(trace_a), open_db(trace_b)};
    static const char *const column[] = {"issues", "stall_cycles", "sectors", "conflicts"},
                             *const side[] = {"a", "b"};
    size_t i;
    int wrong = json_array_size(json_object_get(launch, "lines")) == 0, paired = 0;
    for (int k = 0; k < 2; k++) {
        int64_t sum[4] = {0};
        json_array_foreach(json_object_get(launch, "lines"), i, line)
        {
            const json_t *s = json_object_get(line, side[k]);
            char sql[300];
            paired += k == 0 && json_is_object(s) && json_is_object(json_object_get(line, "b"));
            for (int c = 0; c < 4 && json_is_object(s); c++) {
                sum[c] += member(s, column[c]);
                snprintf(sql, sizeof sql,
                         "SELECT sum(s.%s) FROM pc_stat s JOIN instruction i USING (module, pc) "
                         "WHERE i.ptx_line = %" PRId64,
                         column[c], member(s, "line"));
                wrong += member(s, column[c]) != value(db[k], sql);
            }
        }
        for (int c = 0; c < 4; c++) {
            char sql[100];
            snprintf(sql, sizeof sql, "SELECT sum(%s) FROM pc_stat", column[c]);
            wrong += sum[c] != value(db[k], sql);
        }
        wrong += member(json_object_get(launch, side[k]), "cycles") !=
                 value(db[k], "SELECT cycles FROM kernel");
    }
    tap(r.status == 0 && wrong == 0 && paired > 20,
        "diff --json: every line has the sums of its trace, %d lines are paired", paired);
    json_decref(root);
    run_free(&r);
    r = loom((const char *const[]){"diff", trace_a, trace_a, NULL});
    tap(r.status == 0 && strstr(r.out, " 0 of ") && strstr(r.out, "+0.0 %"),
        "a trace does not differ from itself");
    run_free(&r);
    r = loom((const char *const[]){"diff", trace_a, trace_b, "--limit", "3", NULL});
    int lines = 0;
    for (const char *p = strstr(r.out, "  was"); p && *p; p++) lines += *p == '\n';
    tap(r.status == 0 && lines == 4, "diff shows the requested number of lines");
    run_free(&r);
    r = loom((const char *const[]){"diff", trace_a, trace_async, NULL});
    tap(r.status == 0 && strstr(r.out, "two kernels, 'transpose_shared' and 'tma1d_copy'"),
        "diff reports different kernels");
    run_free(&r);
    r = loom((const char *const[]){"diff", trace_a, NULL});
    tap(r.status == 2 && strstr(r.err, "E0007"), "diff needs two traces (E0007)");
    run_free(&r);
    r = loom((const char *const[]){"diff", trace_a, trace_b, "--launch", "9", NULL});
    tap(r.status == 2 && strstr(r.err, "E0707"), "diff rejects a nonexistent launch (E0707)");
    run_free(&r);
    sqlite3_close(db[0]);
    sqlite3_close(db[1]);
}

/* ---- export ---- */

typedef struct totals {
    int64_t issues, wait, names, begun, ended, counters, launches, outside, length;
} totals;

static totals count_events(const json_t *events)
{
    totals t = {0};
    const json_t *e;
    size_t i;
    json_array_foreach(events, i, e)
    {
        const char *ph = json_string_value(json_object_get(e, "ph")),
                   *cat = json_string_value(json_object_get(e, "cat"));
        double ts = json_number_value(json_object_get(e, "ts")) * 1000,
               dur = json_number_value(json_object_get(e, "dur")) * 1000;
        if (*ph == 'M')
            t.names += strcmp(json_string_value(json_object_get(e, "name")), "thread_name") == 0;
        if (*ph == 'C') t.counters++;
        if (*ph == 'b') t.begun++;
        if (*ph == 'e') t.ended++;
        if (*ph != 'X') continue;
        if (strcmp(cat, "launch") == 0) t.launches++, t.length = (int64_t)(dur + 0.5);
        if (strcmp(cat, "issue") == 0) t.issues++;
        if (strcmp(cat, "stall") == 0) t.wait += (int64_t)(dur + 0.5);
        if (ts < -0.001) t.outside++;
    }
    return t;
}

static void check_perfetto(const char *trace, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/events.json", folder);
    run_result r =
        loom((const char *const[]){"export", trace, "--format", "perfetto", "-o", path, NULL});
    json_error_t error;
    json_t *root = json_load_file(path, 0, &error);
    if (!root) tap_note("line %d: %s", error.line, error.text);
    totals t = count_events(json_object_get(root, "traceEvents"));
    sqlite3 *db = open_db(trace);
    int64_t spans = value(db, "SELECT (SELECT count(*) FROM barrier WHERE resumed IS NOT NULL) + "
                              "(SELECT count(*) FROM async)");
    tap(r.status == 0 && root && t.issues == value(db, "SELECT count(*) FROM inst") &&
            t.wait == value(db, "SELECT sum(min(stall_cycles, cycle)) FROM inst"),
        "%s: %" PRId64 " issues and %" PRId64 " stall cycles match inst", name, t.issues, t.wait);
    tap(t.begun == spans && t.ended == spans,
        "%s: %" PRId64 " barriers and copies have begin and end events", name, spans);
    tap(t.names == value(db, "SELECT count(*) + 1 FROM warp") &&
            t.counters == value(db, "SELECT count(*) FROM counter_time") && t.launches == 1 &&
            t.length == value(db, "SELECT cycles FROM kernel") && t.outside == 0,
        "%s: every warp has a name, every window its counters, the launch its cycles", name);
    json_decref(root);
    run_free(&r);
    r = loom((const char *const[]){"export", trace, "-o", path, "--sm", "1", NULL});
    root = json_load_file(path, 0, NULL);
    t = count_events(json_object_get(root, "traceEvents"));
    tap(t.issues == value(db, "SELECT count(*) FROM inst WHERE sm = 1"),
        "%s: a single multiprocessor", name);
    json_decref(root);
    run_free(&r);
    sqlite3_close(db);
}

static double field(const json_t *e, const char *name)
{
    return json_number_value(json_object_get(e, name));
}

/* True if both are X events of one thread, and overlap without containing each other. */
static bool cross(const json_t *a, const json_t *b)
{
    const double digits = 2e-6, from = field(a, "ts"), to = from + field(a, "dur"),
                 other = field(b, "ts"), last = other + field(b, "dur");
    return json_object_get(a, "dur") && json_object_get(b, "dur") &&
           field(a, "pid") == field(b, "pid") && field(a, "tid") == field(b, "tid") &&
           from + digits < other && other + digits < to && to + digits < last;
}

/* Kernels that run at the same time. */
static void check_application_events(void)
{
    char db[4096], path[4096];
    if (access("tests/cudart/app", X_OK) != 0) return; /* configured without the CUDA runtime */
    snprintf(db, sizeof db, "%s/application.db", folder);
    snprintf(path, sizeof path, "%s/application.json", folder);
    run_result r = loom(
        (const char *const[]){"exec", "--arch", "toy", "--timing", "all", "--trace", db, "sh", "-c",
                              "tests/cudart/app priorities >/dev/null; test $? = 5", NULL});
    tap(r.status == 0, "a program with kernels of several streams is traced");
    run_free(&r);
    r = loom((const char *const[]){"export", db, "--format", "perfetto", "-o", path, NULL});
    json_t *root = json_load_file(path, 0, NULL);
    const json_t *events = json_object_get(root, "traceEvents"), *a, *b;
    size_t i, k;
    int64_t crossing = 0, beside = 0;
    json_array_foreach(events, i, a)
    {
        json_array_foreach(events, k, b) crossing += cross(a, b);
        const char *name = json_string_value(json_object_get(json_object_get(a, "args"), "name"));
        beside += name && strcmp(name, "beside") == 0;
    }
    tap(r.status == 0 && crossing == 0 && beside > 0,
        "events of a thread do not cross, %" PRId64 " threads were added for that", beside);
    json_decref(root);
    run_free(&r);
}

/* Number of records of a CSV file, which may span several lines; -1: no file. */
static int64_t records_of(const char *path)
{
    int64_t n = 0;
    bool quoted = false;
    FILE *f = fopen(path, "r");
    if (!f) return -1;
    for (int c; (c = getc(f)) != EOF;) {
        if (c == '"') quoted = !quoted;
        n += c == '\n' && !quoted;
    }
    fclose(f);
    return n;
}

static void check_tables(void)
{
    char path[4096], file[8192], sql[200];
    sqlite3 *db = open_db(trace_a);
    sqlite3_stmt *s = NULL;
    int wrong = 0, tables = 0;
    snprintf(path, sizeof path, "%s/csv", folder);
    run_result r =
        loom((const char *const[]){"export", trace_a, "--format", "csv", "-o", path, NULL});
    sqlite3_prepare_v2(
        db, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'", -1,
        &s, NULL);
    for (; sqlite3_step(s) == SQLITE_ROW; tables++) {
        const char *name = (const char *)sqlite3_column_text(s, 0);
        snprintf(file, sizeof file, "%s/%s.csv", path, name);
        snprintf(sql, sizeof sql, "SELECT count(*) + 1 FROM \"%s\"", name);
        if (records_of(file) == value(db, sql)) continue;
        tap_note("%s has %" PRId64 " records", file, records_of(file));
        wrong++;
    }
    sqlite3_finalize(s);
    tap(r.status == 0 && wrong == 0 && tables > 20, "csv: %d tables with all their rows", tables);
    run_free(&r);

    r = loom((const char *const[]){"export", trace_a, "--format", "ndjson", "-o", "-", NULL});
    int64_t rows = 0, bad = 0, issues = 0;
    for (char *line = strtok(r.out, "\n"); line; line = strtok(NULL, "\n"), rows++) {
        /* A sample, and one complete table. */
        if (rows % 997 && !strstr(line, "\"table\": \"pc_stat\"")) continue;
        json_t *o = json_loads(line, 0, NULL);
        bad += !json_is_string(json_object_get(o, "table"));
        if (o && strcmp(json_string_value(json_object_get(o, "table")), "pc_stat") == 0)
            issues += member(o, "issues");
        json_decref(o);
    }
    tap(r.status == 0 && bad == 0 && rows > value(db, "SELECT count(*) FROM inst") &&
            issues == value(db, "SELECT sum(issues) FROM pc_stat"),
        "ndjson: %" PRId64 " rows of all tables", rows);
    run_free(&r);
    static const struct {
        const char *what, *words[8], *says;
        int status;
    } bad_use[] = {
        {"invalid format", {"export", trace_a, "--format", "xml", "-o", "x"}, "E0005", 2},
        {"no output", {"export", trace_a}, "E0007", 2},
        {"nonexistent table",
         {"export", trace_a, "--format", "csv", "--table", "nothing", "-o", "-"},
         "E0005",
         2},
        {"several tables to standard output",
         {"export", trace_a, "--format", "csv", "-o", "-"},
         "E0010",
         2},
        {"nonexistent folder", {"export", trace_a, "-o", "/nowhere/at/all.json"}, "E0002", 2}};
    for (size_t i = 0; i < sizeof bad_use / sizeof *bad_use; i++) {
        const char *argv[10] = {loom_path()};
        for (int k = 0; k < 8 && bad_use[i].words[k]; k++) argv[k + 1] = bad_use[i].words[k];
        run_result e = run_command(argv, SECONDS);
        tap(e.status == bad_use[i].status && strstr(e.err, bad_use[i].says),
            "export rejects: %s (%s)", bad_use[i].what, bad_use[i].says);
        run_free(&e);
    }
    sqlite3_close(db);
}

/* ---- shell ---- */

static void check_piped_shell(void)
{
    char command[8192];
    snprintf(command, sizeof command,
             "printf '%%s\\n' 'SELECT count(*) AS rows' 'FROM lane;' '.mode csv' 'ipc' '.mode "
             "table' '.queries roofline' '.schema lane' '.metrics branch_eff' 'hot_lines limit=1' "
             "'.quit' 'SELECT 7 * 1111111;' "
             "| '%s' shell '%s' 2>&1",
             loom_path(), trace_a);
    run_result r = run_command((const char *const[]){"sh", "-c", command, NULL}, SECONDS);
    tap(r.status == 0 && strstr(r.out, "rows\n----\n  32\n") && strstr(r.out, "kernel,value\n1,") &&
            strstr(r.out, "roofline") && strstr(r.out, "CREATE TABLE lane") &&
            strstr(r.out, "branch_efficiency") && strstr(r.out, "ptx_line") &&
            !strstr(r.out, "7777777"),
        "shell answers multi-line SQL, names and dot-commands, and stops at .quit");
    run_free(&r);
    snprintf(command, sizeof command,
             "printf '%%s\\n' '.tabels' 'nosuch' 'DELETE FROM lane;' 'SELECT FROM;' | '%s' shell "
             "'%s' 2>&1",
             loom_path(), trace_a);
    r = run_command((const char *const[]){"sh", "-c", command, NULL}, SECONDS);
    tap(r.status == 2 && strstr(r.out, "did you mean '.tables'?") && strstr(r.out, "E0705") &&
            strstr(r.out, "E0704") && strstr(r.out, "E0703"),
        "shell reports errors, continues, and ends with status 2");
    run_free(&r);
}

/* Returns the terminal output of ptxloom with these words while `keys` are typed. */
static char *on_terminal(const char *const words[], const char *const keys[])
{
    enum { MOST = 1 << 16 };
    char *screen = calloc(MOST, 1);
    size_t n = 0;
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (!screen || master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) return screen;
    pid_t child = fork();
    if (child == 0) {
        setsid();
        int terminal = open(ptsname(master), O_RDWR);
        if (terminal < 0) _exit(98);
        for (int fd = 0; fd < 3; fd++) dup2(terminal, fd);
        setenv("TERM", "xterm", 1);
        const char *argv[8] = {loom_path()};
        for (int i = 0; words[i]; i++) argv[i + 1] = words[i];
        execv(argv[0], (char *const *)(uintptr_t)argv);
        _exit(99);
    }
    for (int k = 0;;) {
        struct pollfd p = {.fd = master, .events = POLLIN};
        int ready = poll(&p, 1, keys[k] ? 1500 : 60000);
        if (ready > 0) {
            ssize_t got = read(master, screen + n, MOST - 1 - n);
            if (got <= 0) break;
            n += (size_t)got;
        } else if (keys[k]) {
            if (write(master, keys[k], strlen(keys[k])) < 0) break;
            k++;
        } else {
            kill(child, SIGKILL);
            break;
        }
    }
    waitpid(child, NULL, 0);
    close(master);
    return screen;
}

/* True if this machine has pseudo-terminals: a minimal chroot without /dev/pts has none. */
static bool has_terminals(void)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY), terminal = -1;
    if (master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0)
        terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
    if (terminal >= 0) close(terminal);
    if (master >= 0) close(master);
    return terminal >= 0;
}

static void check_terminal(void)
{
    if (!has_terminals()) {
        tap(true,
            "completion and progress on a terminal # SKIP no pseudo-terminal can be opened here");
        return;
    }
    run_result r = run_command(
        (const char *const[]){"grep", "-q", "define PL_HAVE_LIBEDIT", "config.h", NULL}, SECONDS);
    bool editing = r.status == 0;
    run_free(&r);
    char *screen = on_terminal((const char *const[]){"shell", trace_a, NULL},
                               (const char *const[]){"SELECT count(*) AS n FROM acc\t_k\t;\n",
                                                     "summ\t\n", ".qui\t\n", NULL});
    if (editing)
        tap(strstr(screen, "\r\n6\r\n") && strstr(screen, "achieved_occupancy") &&
                !strstr(screen, "error"),
            "on a terminal Tab completes tables, queries and commands");
    else
        tap(strstr(screen, "ptxloom> ") != NULL,
            "on a terminal there is a prompt # SKIP built without libedit, so nothing completes");
    free(screen);
}

static void check_progress(void)
{
    char *launch = data_path("suite/cases/nested_divergence.json");
    if (has_terminals()) {
        char *screen =
            on_terminal((const char *const[]){"run", launch, NULL}, (const char *const[]){NULL});
        const char *at = strstr(screen, "blocks, ");
        double millions = at ? atof(at + 8) : -1;
        tap(at && strstr(at, " M instructions, ") && strstr(at, " M/s") && millions >= 0 &&
                strstr(screen, "\033[K"),
            "a run on a terminal shows progress and speed");
        free(screen);
    }
    run_result r = loom((const char *const[]){"run", launch, NULL});
    tap(r.status == 0 && !strstr(r.err, "M/s") && !strstr(r.out, "\033"),
        "no progress is shown without a terminal");
    run_free(&r);
    free(launch);
}

/* ---- damaged files ---- */

static void check_damaged(void)
{
    enum { PAGE = 4096, VARIANTS = 12 };
    char good[4096], bad[4096], out[4096];
    char *launch = data_path("suite/cases/transpose_padded.json");
    snprintf(good, sizeof good, "%s/good.db", folder);
    snprintf(bad, sizeof bad, "%s/bad.db", folder);
    snprintf(out, sizeof out, "%s/bad.out", folder);
    run_result r = loom(
        (const char *const[]){"run", launch, "--trace", good, "--trace-level", "summary", NULL});
    run_free(&r);
    size_t size;
    char *bytes = read_whole(good, &size);
    int died = 0, refused = 0, silent = 0;
    for (size_t k = 1; k <= VARIANTS && size > PAGE * (VARIANTS + 1); k++) {
        const char *const command[][6] = {{"report", bad, "-o", out, NULL},
                                          {"diff", bad, good, NULL},
                                          {"export", bad, "-o", out, NULL},
                                          {"export", bad, "-o", out, "--format=ndjson", NULL}};
        FILE *f = fopen(bad, "wb");
        size_t at = size / PAGE * k / (VARIANTS + 1) * PAGE;
        fwrite(bytes, 1, at, f);
        for (int i = 0; i < PAGE; i++) putc((int)(i * 37 + (int)k) & 0xff, f);
        fwrite(bytes + at + PAGE, 1, size - at - PAGE, f);
        fclose(f);
        for (size_t c = 0; c < sizeof command / sizeof *command; c++) {
            r = loom(command[c]);
            died += r.status < 0 || r.status > 3;
            refused += r.status == 2;
            silent += r.status != 0 && !strstr(r.err, "error: ");
            run_free(&r);
        }
    }
    tap(died == 0 && refused > 0 && silent == 0,
        "a trace with a damaged page is rejected with a message or read (%d of %d rejected)",
        refused, 4 * VARIANTS);
    free(bytes);
    free(launch);
}

int main(void)
{
    folder = scratch_make();
    make_trace("a.db", "transpose_shared", trace_a, sizeof trace_a);
    make_trace("b.db", "transpose_padded", trace_b, sizeof trace_b);
    make_trace("c.db", "tma1d_copy", trace_async, sizeof trace_async);
    check_diff();
    check_perfetto(trace_a, "transpose_shared");
    check_perfetto(trace_async, "tma1d_copy");
    check_application_events();
    check_tables();
    check_piped_shell();
    check_terminal();
    check_progress();
    check_damaged();
    scratch_remove(folder);
    return tap_done();
}
