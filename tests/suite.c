/* suite.c - runs recorded kernels through the ptxloom command and compares every output with the
 * hardware's.
 *
 * Compiled once for each folder of tests/data with kernels (FOLDER), mode (MODE is "functional" or
 * "timing") and further options (EXTRA). A case that this version cannot run is listed in
 * FOLDER/unsupported.tsv with ptxloom's reason. Such a case must fail for exactly that reason, so
 * the list can neither hide a wrong result nor become stale. */
#include "tests/recorded.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef EXTRA
#define EXTRA
#endif
#ifndef ONE_OF
#define ONE_OF 1
#endif
#ifndef FOLDER
#define FOLDER "suite"
#endif

typedef struct suite {
    table results, unsupported;
    size_t name, sums, status;  /* columns of results */
    const char *const *options; /* of `ptxloom run`, ended by NULL */
} suite;

/* The SHA-256 in the result for buffer argument `arg`. */
static const char *sum_of(const json_t *result, int arg)
{
    size_t i;
    json_t *o;
    json_array_foreach(json_object_get(result, "outputs"), i, o)
    {
        json_t *a = json_object_get(o, "arg");
        if (json_is_integer(a) && json_integer_value(a) == arg)
            return json_string_value(json_object_get(o, "sha256"));
    }
    return NULL;
}

/* Compares with "arg1=SUM,arg2=SUM"; reports differences. */
static bool outputs_equal(const json_t *result, const char *sums)
{
    bool equal = true;
    int arg, used;
    char sum[65];
    for (const char *p = sums; sscanf(p, "arg%d=%64[0-9a-f]%n", &arg, sum, &used) == 2;
         p += *p == ',') {
        const char *got = sum_of(result, arg);
        p += used;
        if (got && strcmp(got, sum) == 0) continue;
        tap_note("argument %d: sha256 %s instead of %s", arg, got ? got : "(none)", sum);
        equal = false;
    }
    return equal;
}

static const char *unsupported_reason(const suite *s, const char *name)
{
    const table *t = &s->unsupported;
    size_t name_column = table_column(t, "case"), mode = table_column(t, "mode"),
           reason = table_column(t, "reason");
    for (size_t i = 0; i < t->rows; i++)
        if (strcmp(t->row[i][name_column], name) == 0 && strcmp(t->row[i][mode], MODE) == 0)
            return t->row[i][reason];
    return NULL;
}

static void judge(void *ctx, size_t row, const json_t *result, const run_result *r)
{
    const suite *s = ctx;
    const char *name = s->results.row[row][s->name], *reason = unsupported_reason(s, name);
    const char *sums = s->results.row[row][s->sums];
    bool free_order = strcmp(s->results.row[row][s->status], "OK") != 0 &&
                      (!*sums || (s->options[0] && strncmp(s->options[0], "--schedule", 10) == 0));
    if (free_order) { /* its result depends on the order, on hardware too: it only has to terminate
                       */
        tap(result != NULL, "%s %s terminates in any order", MODE, name);
        return;
    }
    bool equal = result && outputs_equal(result, sums);
    if (!reason) {
        tap(equal, "%s %s", MODE, name);
        if (!equal) tap_note("exit status %d; %.2000s", r->status, r->err ? r->err : "");
        return;
    }
    char *text = result ? json_dumps(result, 0) : NULL;
    bool named = (text && strstr(text, reason)) || (r->err && strstr(r->err, reason));
    tap(!equal && named, "%s %s is not supported: %s", MODE, name, reason);
    if (equal)
        tap_note("it works: remove it from tests/data/" FOLDER "/unsupported.tsv");
    else if (!named)
        tap_note("it fails for another reason; exit status %d; %.2000s", r->status,
                 r->err ? r->err : "");
    free(text);
}

/* suite_functional [--all | --case NAME ...] [OPTION of `ptxloom run` ...]
 *
 * Without --all or --case one of every ONE_OF cases runs. EXTRA has the default options for
 * `ptxloom run`; given options replace them. */
int main(int argc, char **argv)
{
    static const char *const extra[] = {EXTRA NULL};
    suite s = {.results = recorded_results(FOLDER)};
    const bool all = argc > 1 && strcmp(argv[1], "--all") == 0;
    char *names[argc + 1];
    int at = 1 + all, n = 0;
    for (; at + 1 < argc && strcmp(argv[at], "--case") == 0; at += 2) names[n++] = argv[at + 1];
    s.options = at < argc ? (const char *const *)argv + at : extra;
    recorded_choose(FOLDER, &s.results, all ? 1 : ONE_OF, names, n);
    if (s.results.rows == 0) tap(false, "no case of " FOLDER " has this name");
    char *path = data_path(FOLDER "/unsupported.tsv");
    s.unsupported = table_read(path);
    free(path);
    s.name = table_column(&s.results, "case");
    s.sums = table_column(&s.results, "outputs_sha256");
    s.status = table_column(&s.results, "status");
    recorded_run_with(FOLDER, &s.results, MODE, s.options, judge, &s);
    table_free(&s.results);
    table_free(&s.unsupported);
    return tap_done();
}
