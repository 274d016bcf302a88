/* checkers.c - what the checkers find in the kernels of tests/check, and that they find nothing in
 * the repaired ones: kinds and CUDA lines in functional mode; in timing mode, where others may come
 * first, which of the checkers find something.
 *
 * A line of tests/check/cases.tsv is a launch: file, kernel, blocks, threads, dynamic shared
 * memory, arguments, findings, tools of compute-sanitizer that found something on an H100, which
 * must be found here, too. A finding is KIND:LINE, or KIND:LINE:OTHER for two accesses; "-": none.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/ptxloom.h"
#include "tests/harness.h"

enum { MOST = 8, TEXT = 400 };

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* All findings in one line, sorted. */
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

/* "race sync " of "race-raw:3:4 race-war:4:5 sync-mask:7". */
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

static void launch(pl_gpu *gpu, const row *r, pl_mode mode, char out[TEXT])
{
    const char *root = getenv("abs_srcdir");
    char path[4096], args[TEXT];
    pl_case *c = NULL;
    pl_module *m = NULL;
    pl_checks *checks = NULL;
    pl_result result;
    snprintf(path, sizeof path, "%s/tests/check/%s.ptx", root ? root : ".", r->file);
    snprintf(args, sizeof args, "%s", r->args);
    snprintf(out, TEXT, "it could not be launched");
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
    if (st == PL_OK) st = pl_case_load(c, NULL, &m);
    const bool init = strcmp(r->file, "init") == 0; /* the others have buffers without values */
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

int main(void)
{
    static const char *const mode_name[] = {
        [PL_MODE_FUNCTIONAL] = "functional", [PL_MODE_TIMING] = "timing"};
    const char *root = getenv("abs_srcdir");
    char path[4096], line[1024];
    snprintf(path, sizeof path, "%s/tests/check/cases.tsv", root ? root : ".");
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) {
        row r;
        if (line[0] == '#' || !read_row(line, &r)) continue;
        for (int mode = PL_MODE_FUNCTIONAL; mode <= PL_MODE_TIMING; mode++) {
            char found[TEXT];
            pl_gpu *gpu; /* its heap is as the launch left it */
            if (pl_gpu_open(&gpu, "h200") != PL_OK) continue;
            launch(gpu, &r, (pl_mode)mode, found);
            char tools[TEXT], wanted[TEXT];
            tools_of(found, tools);
            tools_of(r.findings, wanted);
            const bool ok = mode == PL_MODE_TIMING ? strcmp(tools, wanted) == 0
                                                   : strcmp(found, r.findings) == 0;
            tap(ok, "%s %s", r.kernel, mode_name[mode]);
            if (!ok) tap_note("found %s, expected %s", found, r.findings);
            if (strcmp(r.sanitizer, "race") == 0 || strcmp(r.sanitizer, "mem") == 0 ||
                strcmp(r.sanitizer, "sync") == 0 || strcmp(r.sanitizer, "init") == 0)
                tap(strstr(tools, r.sanitizer) != NULL, "%s %s: compute-sanitizer finds it",
                    r.kernel, mode_name[mode]);
            pl_gpu_close(gpu);
        }
    }
    if (f) fclose(f);
    return tap_done();
}
