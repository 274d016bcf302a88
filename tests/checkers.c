/* checkers.c - the checkers report the expected findings in the kernels of tests/check and none
 * in the fixed ones. Functional mode compares kinds and CUDA lines. In timing mode other findings
 * may come first, so only the set of reporting checkers is compared.
 *
 * A line of tests/check/cases.tsv is a launch: file, kernel, blocks, threads, dynamic shared
 * memory, arguments, findings, and the compute-sanitizer tools that reported an error on an H100.
 * The matching checkers must report one too. A finding is KIND:LINE, or KIND:LINE:OTHER for two
 * accesses; "-": none.
 *
 * tests/check/messages.txt has the complete message of one kernel for each kind of finding: the
 * first kernel with a fixed counterpart (NAME_ok). `tests/checkers --messages` prints that file.
 * */
#define _DEFAULT_SOURCE /* wait4 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/finding.h"
#include "include/ptxloom.h"
#include "tests/harness.h"

enum { MOST = 8, TEXT = 400, ROWS = 400 };

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* All findings on one line, sorted. */
static void list(const pl_checks *c, char out[TEXT])
{
    char found[MOST][80];
    size_t n = pl_checks_count(c) < MOST ? pl_checks_count(c) : MOST;
    for (size_t k = 0; k < n; k++) {
        const pl_finding *f = pl_checks_finding(c, k);
        int used = snprintf(found[k], sizeof found[k], "%s-%s:%" PRIu32, f->tool, f->kind, f->line);
        if (f->other_pc != UINT32_MAX)
            snprintf(found[k] + used, sizeof found[k] - (size_t)used, ":%" PRIu32, f->other_line);
    }
    qsort(found, n, sizeof *found, compare);
    snprintf(out, TEXT, "%s", n ? "" : "-");
    for (size_t k = 0; k < n; k++)
        snprintf(out + strlen(out), TEXT - strlen(out), "%s%s", k ? " " : "", found[k]);
}

/* Returns "race sync " for "race-raw:3:4 race-war:4:5 sync-mask:7". */
static void tools_of(const char *findings, char out[TEXT])
{
    char copy[TEXT];
    snprintf(copy, sizeof copy, "%s", findings);
    out[0] = '\0';
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
        word[strcspn(word, "-")] = '\0';
        if (!strstr(out, word)) snprintf(out + strlen(out), TEXT - strlen(out), "%s ", word);
    }
}

typedef struct row {
    char *file, *kernel, *blocks, *threads, *shared, *args, *findings, *sanitizer;
} row;

static bool read_row(char *line, row *r)
{
    char **field[] = {&r->file,   &r->kernel, &r->blocks,   &r->threads,
                      &r->shared, &r->args,   &r->findings, &r->sanitizer};
    line[strcspn(line, "\n")] = '\0';
    for (size_t k = 0; k < sizeof field / sizeof *field; k++) {
        *field[k] = line;
        if (!line) return false;
        line = strchr(line, '\t');
        if (line) *line++ = '\0';
    }
    return true;
}

/* All rows. */
typedef struct rows {
    row at[ROWS];
    size_t n;
} rows;

static void read_rows(rows *r)
{
    static char lines[ROWS][1024];
    FILE *f = fopen("tests/check/cases.tsv", "r");
    while (f && r->n < ROWS && fgets(lines[r->n], sizeof *lines, f))
        if (lines[r->n][0] != '#' && read_row(lines[r->n], &r->at[r->n])) r->n++;
    if (f) fclose(f);
}

static void launch(pl_gpu *gpu, const row *r, pl_mode mode, char out[TEXT])
{
    char path[128], args[TEXT];
    pl_case *c = NULL;
    pl_module *m = NULL;
    pl_checks *checks = NULL;
    pl_result result;
    snprintf(path, sizeof path, "tests/check/%s.ptx", r->file);
    snprintf(args, sizeof args, "%s", r->args);
    snprintf(out, TEXT, "the launch failed");
    pl_status st = pl_case_open(gpu, &c);
    if (st != PL_OK) return;
    c->name = r->kernel;
    c->ptx = path;
    c->entry = r->kernel;
    c->grid[0] = (uint32_t)atoi(r->blocks);
    c->block[0] = (uint32_t)atoi(r->threads);
    c->grid[1] = c->grid[2] = c->block[1] = c->block[2] = 1;
    c->dynamic_shared = (uint32_t)atoi(r->shared);
    for (char *a = strtok(args, " "); a && st == PL_OK; a = strtok(NULL, " "))
        st = pl_case_add_arg(c, a);
    const pl_load_options load = {.opt_level = 2, .keep_loads = true};
    if (st == PL_OK) st = pl_case_load(c, &load, &m);
    const bool init = strcmp(r->file, "init") == 0; /* the others have uninitialised buffers */
    const pl_checks_options tools = {.tools = init ? "all" : "mem,race,sync"};
    if (st == PL_OK) st = pl_checks_open(gpu, &tools, &checks);
    pl_launch l = {.mode = mode, .threads = 2, .checks = checks};
    if (st == PL_OK) st = pl_case_prepare(c, m, &l);
    if (st == PL_OK) {
        pl_launch_kernel(gpu, m, &l, &result);
        pl_checks_report(checks, m);
        list(checks, out);
    }
    pl_checks_close(checks);
    pl_case_close(c);
    pl_module_close(m);
}

/* ---- findings of all rows ---- */

static void test_row(const row *r, pl_mode mode)
{
    static const char *const mode_name[] = {
        [PL_MODE_FUNCTIONAL] = "functional", [PL_MODE_TIMING] = "timing"};
    char found[TEXT], tools[TEXT], wanted[TEXT];
    pl_gpu *gpu; /* its heap retains the state after the launch */
    if (pl_gpu_open(&gpu, "h200") != PL_OK) return;
    launch(gpu, r, mode, found);
    tools_of(found, tools);
    tools_of(r->findings, wanted);
    const bool ok =
        mode == PL_MODE_TIMING ? strcmp(tools, wanted) == 0 : strcmp(found, r->findings) == 0;
    tap(ok, "%s %s", r->kernel, mode_name[mode]);
    if (!ok) tap_note("found %s, expected %s", found, r->findings);
    if (strcmp(r->sanitizer, "race") == 0 || strcmp(r->sanitizer, "mem") == 0 ||
        strcmp(r->sanitizer, "sync") == 0 || strcmp(r->sanitizer, "init") == 0)
        tap(strstr(tools, r->sanitizer) != NULL, "%s %s: compute-sanitizer reports it", r->kernel,
            mode_name[mode]);
    pl_gpu_close(gpu);
}

/* ---- one complete message for each kind ---- */

/* Findings of host programs come last: tests/cudart/findings.txt has their messages. */
static const char *const kinds[] = {
#define X(name, tool, word, severity, text) #tool "-" word,
    PL_FINDING_KINDS(X)
#undef X
};

enum {
#define X(name, tool, word, severity, text) +1
    KERNEL_KINDS = PL_KERNEL_FINDING_KINDS(X)
#undef X
};

/* Converts a kind to the notation of findings, e.g. "RACE-raw". */
static void kind_word(size_t k, char out[64])
{
    snprintf(out, 64, "%s", kinds[k]);
    for (char *p = out; *p != '-'; p++) *p = (char)(*p | 0x20);
}

static bool is_clean(const rows *r, const char *kernel)
{
    char twin[128];
    snprintf(twin, sizeof twin, "%s_ok", kernel);
    for (size_t n = 0; n < r->n; n++)
        if (strcmp(r->at[n].kernel, twin) == 0) return strcmp(r->at[n].findings, "-") == 0;
    return false;
}

/* Returns a row that reports this kind, preferably no other, and whose fixed counterpart reports
 * nothing; NULL: none. */
static const row *row_of(const rows *r, const char *kind)
{
    char word[80];
    const row *found = NULL;
    snprintf(word, sizeof word, "%s:", kind);
    for (size_t n = 0; n < r->n; n++) {
        const bool alone = !strchr(r->at[n].findings, ' ');
        if (strstr(r->at[n].findings, word) && (alone || !found) && is_clean(r, r->at[n].kernel)) {
            found = &r->at[n];
            if (alone) break;
        }
    }
    return found;
}

/* "== KIND" and all messages of the launch. */
static void messages_of(const rows *r, size_t k, char *out, size_t room)
{
    char kind[64], found[TEXT];
    kind_word(k, kind);
    const row *x = row_of(r, kind);
    pl_gpu *gpu;
    snprintf(out, room, "== %s\n", kind);
    if (!x || pl_gpu_open(&gpu, "h200") != PL_OK) return;
    launch(gpu, x, PL_MODE_FUNCTIONAL, found);
    for (size_t n = 0; n < pl_gpu_diag_count(gpu); n++)
        snprintf(out + strlen(out), room - strlen(out), "%s", pl_gpu_diag(gpu, n, false).rendered);
    pl_gpu_close(gpu);
}

/* `have`: the contents of messages.txt. */
static void test_message(const rows *r, size_t k, const char *have)
{
    static char now[16384];
    char kind[64];
    kind_word(k, kind);
    messages_of(r, k, now, sizeof now);
    const char *at = strstr(have, now);
    const size_t length = strlen(now);
    const bool whole = at && (!at[length] || strncmp(at + length, "== ", 3) == 0);
    tap(row_of(r, kind) && whole, "%s: complete message", kind);
    if (!whole) tap_note("%s", now);
}

/* An explanation has an example and three ways to fix it. */
static void test_explanation(pl_gpu *gpu, size_t k)
{
    char kind[64];
    kind_word(k, kind);
    const char *text = pl_explain(gpu, kind);
    const char *fixes = text ? strstr(text, "\n\n  Three ways to fix it: ") : NULL;
    const char *first = fixes ? strchr(fixes, ';') : NULL,
               *second = first ? strchr(first + 1, ';') : NULL;
    tap(text && strstr(text, "\n    ") && second &&
            (strstr(second, "or ") || strstr(second, "or\n")),
        "%s: explanation, an example, three fixes", kind);
}

/* labs/README.md has a line for each kind: a kernel with the error and its fix, which tests/labs
 * runs. */
static void test_lab(size_t k, const char *page)
{
    char kind[64], line[80];
    kind_word(k, kind);
    snprintf(line, sizeof line, "\n| `%s` | `", kind);
    tap(strstr(page, line) != NULL, "%s has a lab", kind);
}

static void read_text(const char *path, char *text, size_t room)
{
    FILE *f = fopen(path, "r");
    text[f ? fread(text, 1, room - 1, f) : 0] = '\0';
    if (f) fclose(f);
}

/* Runs a launch file in a process of its own and returns its maximum resident set in KiB. */
static long resident(const char *path, const char *tools)
{
    struct rusage u = {.ru_maxrss = 0};
    const pid_t child = fork();
    if (child == 0) {
        pl_gpu *gpu = NULL;
        pl_case *c = NULL;
        pl_module *m = NULL;
        pl_checks *checks = NULL;
        pl_result result;
        const pl_checks_options options = {.tools = tools};
        const pl_load_options load = {.opt_level = 2};
        pl_status st = pl_gpu_open(&gpu, "h200");
        if (st == PL_OK) st = pl_case_read(gpu, path, &c);
        if (st == PL_OK) st = pl_case_load(c, &load, &m);
        if (st == PL_OK && tools) st = pl_checks_open(gpu, &options, &checks);
        pl_launch l = {.mode = PL_MODE_FUNCTIONAL, .threads = 1, .checks = checks};
        if (st == PL_OK) st = pl_case_prepare(c, m, &l);
        if (st == PL_OK) st = pl_launch_kernel(gpu, m, &l, &result);
        _exit(st != PL_OK);
    }
    int status = 1;
    return child > 0 && wait4(child, &status, 0, &u) == child && !status ? u.ru_maxrss : 0;
}

/* Each thread of this kernel releases the two words that it writes. */
static void test_memory(void)
{
    static const char path[] = "tests/data/suite/cases/grid_barrier.json";
    const long bytes = 2l * 132 * 256 * 4, without = resident(path, NULL),
               with = resident(path, "race"), each = (with - without) * 1024 / bytes;
#ifndef __SANITIZE_ADDRESS__
    tap(without && with && each <= 16, "at most 16 bytes a byte that threads release");
    tap_note("%ld bytes", each);
#else
    tap(without && with, "grid_barrier: %ld bytes a byte", each);
#endif
}

int main(int argc, char **argv)
{
    static rows all;
    static char have[1 << 17];
    enum { KINDS = sizeof kinds / sizeof *kinds };
    const char *root = getenv("abs_srcdir");
    if (root && chdir(root) != 0) return 1;
    read_rows(&all);
    if (argc > 1 && strcmp(argv[1], "--messages") == 0) {
        for (size_t k = 0; k < KERNEL_KINDS; k++) {
            messages_of(&all, k, have, sizeof have);
            fputs(have, stdout);
        }
        return 0;
    }
    test_memory();
    for (size_t n = 0; n < all.n; n++) {
        test_row(&all.at[n], PL_MODE_FUNCTIONAL);
        test_row(&all.at[n], PL_MODE_TIMING);
    }
    static char page[1 << 16];
    read_text("tests/check/messages.txt", have, sizeof have);
    read_text("labs/README.md", page, sizeof page);
    pl_gpu *gpu;
    if (pl_gpu_open(&gpu, "h200") != PL_OK) return 1;
    for (size_t k = 0; k < KINDS; k++) {
        test_explanation(gpu, k);
        if (k >= KERNEL_KINDS) continue;
        test_message(&all, k, have);
        test_lab(k, page);
    }
    pl_gpu_close(gpu);
    return tap_done();
}
