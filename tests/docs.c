/* docs.c - runs the console sessions of the documentation and compares their output.
 *
 * A fenced block that begins with ```console is a session: lines that begin with "$ " are
 * commands, the lines after each are its output (standard output and error combined). A line "..."
 * stands for any number of lines, "..." within a line for any text. A command whose last line is
 * "[exit 2]" must end with that status, any other with 0. In a block that begins with ```console
 * figures, numbers and column widths may differ from those shown; `--update` replaces them with
 * the current ones. All sessions of a page share one scratch folder, which contains copies of
 * examples/ and labs/ and has ptxloom in PATH.
 *
 *     tests/docs              checks every Markdown file of the source tree, as `make check` does
 *     tests/docs --list       prints their names
 *     tests/docs --update F   prints page F with current outputs (sessions with "..." are
 *       unchanged) */
#define _GNU_SOURCE /* FTW_ACTIONRETVAL */
#include "tests/harness.h"
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COMMAND_SECONDS 300

typedef struct text {
    char *at;
    size_t n, cap;
} text;

static void append(text *t, const char *s, size_t n)
{
    if (t->n + n + 1 > t->cap) {
        t->at = realloc(t->at, t->cap = (t->n + n + 1) * 2);
        if (!t->at) exit(EXIT_FAILURE);
    }
    memcpy(t->at + t->n, s, n);
    t->at[t->n += n] = '\0';
}

/* True if a line matches a pattern in which "..." stands for any text. */
static bool line_matches(const char *p, size_t np, const char *s, size_t n)
{
    if (np == 0) return n == 0;
    if (np >= 3 && memcmp(p, "...", 3) == 0) {
        for (size_t skip = 0; skip <= n; skip++)
            if (line_matches(p + 3, np - 3, s + skip, n - skip)) return true;
        return false;
    }
    return n > 0 && *p == *s && line_matches(p + 1, np - 1, s + 1, n - 1);
}

static size_t line_length(const char *s)
{
    return strcspn(s, "\n");
}

static const char *next_line(const char *s)
{
    s += line_length(s);
    return *s ? s + 1 : s;
}

static bool output_matches(const char *p, const char *s)
{
    for (; *p; p = next_line(p)) {
        if (line_length(p) == 3 && memcmp(p, "...", 3) == 0) {
            const char *rest = next_line(p);
            for (;; s = next_line(s)) {
                if (output_matches(rest, s)) return true;
                if (!*s) return false;
            }
        }
        if (!*s || !line_matches(p, line_length(p), s, line_length(s))) return false;
        s = next_line(s);
    }
    return !*s;
}

/* Normalises in place, so that figures and columns may differ: numbers become '#', runs of blanks
 * and of bar characters one blank. */
static void blur(char *s)
{
    char *to = s;
    for (const char *p = s; *p;) {
        if (strncmp(p, "\xe2\x96", 2) == 0 && p[2]) {
            if (to == s || to[-1] != ' ') *to++ = ' ';
            p += 3;
            while (*p == ' ') p++;
        } else if (*p == '\n') {
            while (to > s && to[-1] == ' ') to--;
            *to++ = *p++;
        } else if (*p >= '0' && *p <= '9') {
            while ((*p >= '0' && *p <= '9') ||
                   ((*p == '.' || *p == ',') && p[1] >= '0' && p[1] <= '9'))
                p++;
            *to++ = '#';
        } else if (*p == ' ' || *p == '-') {
            char first = ' ';
            for (; *p == ' ' || *p == '-'; p++)
                if (*p == '-') first = '-';
            *to++ = first;
        } else {
            *to++ = *p++;
        }
    }
    *to = '\0';
}

static char *shell_folder; /* working directory of the commands */

static run_result run_shell(const char *command)
{
    const char *const argv[] = {"sh",         "-c",    "cd \"$0\" && eval \"$1\" 2>&1",
                                shell_folder, command, NULL};
    return run_command(argv, COMMAND_SECONDS);
}

/* State while reading a page: the commands of its sessions run as they are read. */
typedef struct page {
    const char *name;
    bool update;
    bool figures; /* the numbers of this block may differ */
    text rewritten;
    int sessions, failed;
    unsigned line;
} page;

static void run_session_command(page *g, const char *command, const char *expected)
{
    text wanted = {0};
    char status_line[32] = "";
    int wanted_status = 0;
    append(&wanted, expected, strlen(expected));
    char *last = strstr(wanted.at, "[exit ");
    if (last && (last == wanted.at || last[-1] == '\n') &&
        sscanf(last, "[exit %d]", &wanted_status) == 1)
        *last = '\0';
    run_result r = run_shell(command);
    g->sessions++;
    bool same = r.status == wanted_status;
    if (g->update) {
        if (strstr(wanted.at, "...\n"))
            append(&g->rewritten, wanted.at, strlen(wanted.at));
        else
            append(&g->rewritten, r.out, r.nout);
        if (r.status != 0) snprintf(status_line, sizeof status_line, "[exit %d]\n", r.status);
        append(&g->rewritten, status_line, strlen(status_line));
        free(wanted.at);
        run_free(&r);
        return;
    }
    text printed = {0};
    append(&printed, r.out, r.nout);
    if (g->figures) {
        blur(wanted.at);
        blur(printed.at);
    }
    same = same && output_matches(wanted.at, printed.at);
    free(printed.at);
    if (!same) {
        g->failed++;
        printf("# %s:%u: $ %s\n# ended with %d and printed:\n", g->name, g->line, command,
               r.status);
        for (const char *p = r.out; *p; p = next_line(p))
            printf("#   %.*s\n", (int)line_length(p), p);
    }
    free(wanted.at);
    run_free(&r);
}

static void run_page(page *g, const char *source)
{
    bool in_session = false;
    text command = {0}, expected = {0};
    unsigned number = 0;
    for (const char *p = source; *p; p = next_line(p)) {
        size_t n = line_length(p);
        number++;
        bool fence = n >= 3 && memcmp(p, "```", 3) == 0;
        bool is_command = in_session && n > 2 && memcmp(p, "$ ", 2) == 0;
        if (in_session && (fence || is_command) && command.n > 0) {
            run_session_command(g, command.at, expected.at ? expected.at : "");
            command.n = expected.n = 0;
            if (expected.at) *expected.at = '\0';
        }
        if (is_command) {
            g->line = number;
            append(&command, p + 2, n - 2);
        } else if (in_session && !fence) {
            append(&expected, p, n);
            append(&expected, "\n", 1);
        }
        if (g->update && (!in_session || fence || is_command)) {
            append(&g->rewritten, p, n);
            append(&g->rewritten, "\n", 1);
        }
        if (fence) {
            in_session = !in_session && n >= 10 && memcmp(p, "```console", 10) == 0;
            g->figures = in_session && n > 10 && strncmp(p + 10, " figures\n", 9) == 0;
        }
    }
    free(command.at);
    free(expected.at);
}

/* Creates a scratch folder with examples/ in it; prepends ptxloom to PATH. */
static char *prepare(void)
{
    char here[4096], command[16384];
    const char *root = getenv("abs_srcdir"), *path = getenv("PATH");
    char *folder = scratch_make();
    if (!getcwd(here, sizeof here)) exit(EXIT_FAILURE);
    if (!root) root = here;
    snprintf(command, sizeof command, "%s:%s", here, path ? path : "");
    setenv("PATH", command, 1);
    setenv("SRC", root, 1);
    shell_folder = folder;
    snprintf(command, sizeof command,
             "cp -r \"$SRC/examples\" \"$SRC/labs\" . && chmod -R u+w examples labs");
    run_result r = run_shell(command);
    if (r.status != 0) { /* --update must not print this as the page */
        fprintf(stderr, "cannot copy examples: %s\n", r.out);
        scratch_remove(folder);
        exit(EXIT_FAILURE);
    }
    run_free(&r);
    return folder;
}

static page read_and_run(const char *name, bool update)
{
    page g = {.name = name, .update = update};
    char *source = read_whole(name, NULL), *folder = prepare();
    run_page(&g, source);
    scratch_remove(folder);
    free(source);
    return g;
}

/* The Markdown files of the source tree, except in hidden folders and build trees. */
typedef struct pages {
    char **at;
    size_t n, cap;
} pages;

static pages found;

static int keep_page(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st;
    const char *name = path + where->base, *end = strrchr(name, '.');
    char status[4200];
    if (type == FTW_D && where->level > 0) {
        snprintf(status, sizeof status, "%s/config.status", path);
        return name[0] == '.' || access(status, F_OK) == 0 ? FTW_SKIP_SUBTREE : FTW_CONTINUE;
    }
    if (type != FTW_F || !end || strcmp(end, ".md") != 0) return FTW_CONTINUE;
    if (found.n == found.cap) {
        found.cap = found.cap ? 2 * found.cap : 64;
        found.at = realloc(found.at, found.cap * sizeof *found.at);
    }
    char *copy = found.at ? strdup(path) : NULL;
    if (!copy) exit(EXIT_FAILURE);
    found.at[found.n++] = copy;
    return FTW_CONTINUE;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void find_pages(void)
{
    const char *root = getenv("abs_srcdir");
    if (nftw(root ? root : ".", keep_page, 16, FTW_PHYS | FTW_ACTIONRETVAL) != 0)
        exit(EXIT_FAILURE);
    qsort(found.at, found.n, sizeof *found.at, by_name);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--update") == 0) {
        page g = read_and_run(argv[2], true);
        fwrite(g.rewritten.at, 1, g.rewritten.n, stdout);
        free(g.rewritten.at);
        return EXIT_SUCCESS;
    }
    int sessions = 0;
    bool labs = false;
    find_pages();
    for (size_t i = 0; i < found.n; i++) {
        if (argc == 2 && strcmp(argv[1], "--list") == 0) {
            puts(found.at[i]);
            continue;
        }
        page g = read_and_run(found.at[i], false);
        const char *base = strrchr(g.name, '/');
        sessions += g.sessions;
        labs |= g.sessions > 0 && strstr(g.name, "labs/README.md");
        if (g.sessions > 0)
            tap(g.failed == 0, "%d commands of %s print the documented output", g.sessions,
                base ? base + 1 : g.name);
    }
    if (argc > 1) return EXIT_SUCCESS;
    tap(sessions > 0, "the documentation has %d commands in %zu files", sessions, found.n);
    tap(labs, "the commands of labs/README.md are included");
    return tap_done();
}
