/* terminal.c - ptxloom's output fits the terminal: no line exceeds its width, at 60, 80 and 120
 * columns.
 *
 * Commands run on a pseudo-terminal. The same commands print full lines if the output is not a
 * terminal. */
#define _GNU_SOURCE /* posix_openpt, ptsname */
#include "tests/harness.h"
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_WORDS = 16, SECONDS = 120 };

static char *folder, loom[4096];

/* Runs ptxloom with the words on a terminal of this many columns; returns its output, with
 * `messages` also that of standard error. The caller frees it. */
static char *on_terminal(const char *const words[], int columns, bool messages, int *status)
{
    char *text = NULL, buf[4096];
    size_t n = 0;
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    const struct winsize size = {.ws_row = 50, .ws_col = (unsigned short)columns};
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) return NULL;
    const char *name = ptsname(master);
    int slave = name ? open(name, O_RDWR | O_NOCTTY) : -1;
    if (slave < 0 || ioctl(slave, TIOCSWINSZ, &size) != 0) return NULL;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        const char *argv[MOST_WORDS + 2] = {loom};
        for (int i = 0; words[i] && i < MOST_WORDS; i++) argv[i + 1] = words[i];
        dup2(slave, STDOUT_FILENO);
        if (messages) dup2(slave, STDERR_FILENO);
        close(master);
        unsetenv("COLUMNS");
        alarm(SECONDS);
        if (chdir(folder) == 0) execv(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    close(slave);
    for (;;) {
        ssize_t k = read(master, buf, sizeof buf); /* EIO: the other end is closed */
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) break;
        text = realloc(text, n + (size_t)k + 1);
        if (!text) exit(EXIT_FAILURE);
        memcpy(text + n, buf, (size_t)k);
        text[n += (size_t)k] = '\0';
    }
    close(master);
    waitpid(child, status, 0);
    return text;
}

/* Width of the longest line; *at is that line. */
static int longest(const char *text, const char **at, int *length)
{
    int most = 0;
    for (const char *p = text; *p;) {
        int n = (int)strcspn(p, "\r\n"), columns = 0;
        for (int i = 0; i < n; i++) {
            if (p[i] == '\033') {
                while (i < n && p[i] != 'm' && p[i] != 'K') i++;
                continue;
            }
            columns += (p[i] & 0xc0) != 0x80;
        }
        if (columns > most) {
            most = columns;
            *at = p;
            *length = n;
        }
        p += n;
        while (*p == '\r' || *p == '\n') p++;
    }
    return most;
}

static void check(const char *const words[], const char *name)
{
    static const int widths[] = {60, 80, 120};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        int status = -1, length = 0;
        const char *at = "";
        char *text = on_terminal(words, widths[i], false, &status);
        int columns = text ? longest(text, &at, &length) : 0;
        bool good = text && WIFEXITED(status) && WEXITSTATUS(status) == 0 && columns > 0 &&
                    columns <= widths[i];
        tap(good, "%s at %d columns", name, widths[i]);
        if (!good) tap_note("status %d, %d columns: %.*s", status, columns, length, at);
        free(text);
    }
}

/* Messages of a wrong command, and the progress of a run, fit the terminal, too. */
static void check_messages(const char *const words[], int columns, int expected, const char *says)
{
    int status = -1, length = 0;
    const char *at = "";
    char *text = on_terminal(words, columns, true, &status);
    const int n = text ? longest(text, &at, &length) : 0;
    const bool good = text && WIFEXITED(status) && WEXITSTATUS(status) == expected &&
                      n <= columns && strstr(text, says);
    tap(good, "messages of '%s %.40s' at %d columns", words[0], words[1] ? words[1] : "", columns);
    if (!good) tap_note("status %d, %d columns: %.*s", status, n, length, at);
    free(text);
}

/* A launch on all multiprocessors shows its progress several times a second, however few of its
 * blocks end. */
static void check_progress(void)
{
    int status = -1, lines = 0;
    char *text = on_terminal(
        (const char *const[]){"run", "spin.ptx", "-g", "528", "-b", "512", "--timeout", "3", NULL},
        80, true, &status);
    for (const char *p = text; p && (p = strstr(p, "of 528 blocks")); p++) lines++;
    tap(lines >= 4 && WIFEXITED(status) && WEXITSTATUS(status) == 3,
        "%d lines of progress in three seconds", lines);
    free(text);
}

int main(void)
{
    static const char *const command[][MOST_WORDS] = {
        {"help"},
        {"run", "--help"},
        {"query", "--help"},
        {"as", "--help"},
        {"check", "--help"},
        {"dis", "--help"},
        {"diff", "--help"},
        {"explain", "--help"},
        {"report", "--help"},
        {"export", "--help"},
        {"occupancy", "--help"},
        {"explain", "ld.global"},
        {"explain", "E0214"},
        {"explain", "l1.latency"},
        {"explain", "l1"},
        {"explain", "achieved_occupancy"},
        {"explain", "small_grid"},
        {"run", "matmul.json"},
        {"run", "matmul.json", "--summary"},
        {"run", "matmul.json", "--metrics", "branch,gld_efficiency"},
        {"dis", "matmul.ptx"},
        {"dis", "matmul.ptx", "--arch", "h200"},
        {"query", "t.db"},
        {"query", "t.db", "listing"},
        {"query", "t.db", "hot_lines"},
        {"query", "t.db", "memory"},
        {"query", "t.db", "checks"},
        {"query", "t.db", "--list"},
        {"query", "t.db", "--advise"},
        {"query", "t.db", "counters"},
        {"query", "t.db", "launches"},
        {"query", "t.db", "stall_table"},
        {"query", "t.db", "machine"},
        {"diff", "t.db", "u.db"},
        {"occupancy", "matmul.ptx", "-b", "256"},
        {"occupancy", "-b", "256", "-r", "32", "--arch", "v100,rtx4090"},
        {"run", "matmul.json", "matmul.json", "--summary"},
        {"litmus", "mp.litmus", "--runs", "20"},
        {"shell", "--help"},
        {"--version"}};
    char line[20000];
    const char *root = getenv("abs_srcdir");
    if (!realpath(loom_path(), loom)) return EXIT_FAILURE;
    folder = scratch_make();
    snprintf(
        line, sizeof line,
        "cd \"%s\" && cp \"%s\"/examples/*.* . && \"%s\" run matmul.json --trace t.db && "
        "\"%s\" run matmul.json --arch h100 --trace u.db && "
        "printf '.version 8.6\\n.target sm_90\\n.address_size 64\\n.visible .entry k() {\\n"
        ".reg .b32 %%%%r<2>;\\nagain:\\nadd.u32 %%%%r1, %%%%r1, 1;\\nbra again;\\n}\\n' >spin.ptx",
        folder, root ? root : ".", loom, loom);
    const char *const argv[] = {"sh", "-c", line, NULL};
    run_result r = run_command(argv, SECONDS);
    tap(r.status == 0, "traces for the commands");
    if (r.status != 0) tap_note("%s", r.err);
    run_free(&r);
    for (size_t i = 0; i < sizeof command / sizeof *command; i++) {
        char name[200] = "";
        for (int k = 0; command[i][k]; k++)
            snprintf(name + strlen(name), sizeof name - strlen(name), "%s%s", k ? " " : "",
                     command[i][k]);
        check(command[i], name);
    }
    static const int narrow[] = {40, 60, 80};
    for (int i = 0; i < 3; i++) {
        check_messages((const char *const[]){"run", NULL}, narrow[i], 2, "launch.json");
        check_messages((const char *const[]){"run", "matmul.ptx", NULL}, narrow[i], 2, "E0410");
        check_messages((const char *const[]){"explain", "no_such_topic", NULL}, narrow[i], 2,
                       "A topic");
    }
    check_messages((const char *const[]){"run", "saxpy.ptx", "-g", "20000", "-b", "256", "u32:9",
                                         "f32:2", "f32[9]", "f32[9]", "--arch", "toy", NULL},
                   40, 0, "of 20000");
    check_messages((const char *const[]){"query", "t.db", "--timeout", "3",
                                         "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 "
                                         "FROM c) SELECT count(*) FROM c",
                                         NULL},
                   60, 3, "query: 2 s");
    check_progress();
    /* Steps of quickstart: a line that changes each second, and fits. */
    char steps[8192];
    snprintf(steps, sizeof steps,
             "sed -n '/^quiet()/,/^}/p' \"%s/quickstart\" >quiet.sh && log=log && . ./quiet.sh && "
             "quiet compiling sh -c 'echo a line of the log that is much longer than the terminal; "
             "sleep 3'",
             root ? root : ".");
    snprintf(loom, sizeof loom, "/bin/sh");
    for (int i = 0; i < 3; i++)
        check_messages((const char *const[]){"-c", steps, NULL}, narrow[i], 0, "compiling: 2 s");
    scratch_remove(folder);
    return tap_done();
}
