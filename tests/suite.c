/* suite.c - runs the recorded kernel suite through the ptxloom command and compares every output with the hardware's.
 *
 * Compiled once for each mode (MODE is "functional" or "timing"). A case that this version cannot run stands in
 * tests/data/suite/unsupported.tsv with the reason that ptxloom gives; such a case must fail for exactly that reason, so that
 * the list can neither hide a wrong result nor outlive the feature. */
#include "tests/harness.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH 8
#define BATCH_SECONDS 600

typedef struct suite {
    table results, unsupported;
    size_t name, sums; /* columns of results */
} suite;

/* The result object of a case, or NULL. */
static json_t *find_case(json_t *document, const char *name)
{
    size_t i;
    json_t *c;
    json_array_foreach(json_object_get(document, "cases"), i, c)
    {
        const char *n = json_string_value(json_object_get(c, "name"));
        if (n && strcmp(n, name) == 0) return c;
    }
    return NULL;
}

static json_t *run_cases(char *const *file, size_t n, run_result *r)
{
    const char *argv[BATCH + 8] = {loom_path(), "run"};
    for (size_t i = 0; i < n; i++) argv[2 + i] = file[i];
    const char *const tail[] = {"--mode", MODE, "--json", NULL};
    memcpy(argv + 2 + n, tail, sizeof tail);
    *r = run_command(argv, BATCH_SECONDS);
    return json_loads(r->out ? r->out : "", 0, NULL);
}

/* The SHA-256 that the result gives for buffer argument `arg`. */
static const char *sum_of(json_t *result, int arg)
{
    size_t i;
    json_t *o;
    json_array_foreach(json_object_get(result, "outputs"), i, o)
    {
        json_t *a = json_object_get(o, "arg");
        if (json_is_integer(a) && json_integer_value(a) == arg) return json_string_value(json_object_get(o, "sha256"));
    }
    return NULL;
}

/* Compares with "arg1=SUM,arg2=SUM"; notes what differs. */
static bool outputs_equal(json_t *result, const char *sums)
{
    bool equal = true;
    int arg, used;
    char sum[65];
    for (const char *p = sums; sscanf(p, "arg%d=%64[0-9a-f]%n", &arg, sum, &used) == 2; p += *p == ',') {
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
    size_t name_column = table_column(t, "case"), mode = table_column(t, "mode"), reason = table_column(t, "reason");
    for (size_t i = 0; i < t->rows; i++)
        if (strcmp(t->row[i][name_column], name) == 0 && strcmp(t->row[i][mode], MODE) == 0) return t->row[i][reason];
    return NULL;
}

static void judge(const suite *s, size_t row, json_t *result, const run_result *r)
{
    const char *name = s->results.row[row][s->name], *reason = unsupported_reason(s, name);
    bool equal = result && outputs_equal(result, s->results.row[row][s->sums]);
    if (!reason) {
        tap(equal, "%s %s", MODE, name);
        if (!equal) tap_note("exit status %d; %.2000s", r->status, r->err ? r->err : "");
        return;
    }
    char *text = result ? json_dumps(result, 0) : NULL;
    bool named = (text && strstr(text, reason)) || (r->err && strstr(r->err, reason));
    tap(!equal && named, "%s %s is not supported: %s", MODE, name, reason);
    if (equal) tap_note("it works: take it off tests/data/suite/unsupported.tsv");
    else if (!named) tap_note("it fails for another reason; exit status %d; %.2000s", r->status, r->err ? r->err : "");
    free(text);
}

int main(void)
{
    suite s = {0};
    char *path = data_path("suite/results.tsv");
    s.results = table_read(path);
    free(path);
    path = data_path("suite/unsupported.tsv");
    s.unsupported = table_read(path);
    free(path);
    s.name = table_column(&s.results, "case");
    s.sums = table_column(&s.results, "outputs_sha256");
    for (size_t first = 0; first < s.results.rows; first += BATCH) {
        char *file[BATCH];
        size_t n = s.results.rows - first < BATCH ? s.results.rows - first : BATCH;
        for (size_t i = 0; i < n; i++) {
            char name[256];
            snprintf(name, sizeof name, "suite/cases/%s.json", s.results.row[first + i][s.name]);
            file[i] = data_path(name);
        }
        run_result r;
        json_t *document = run_cases(file, n, &r);
        for (size_t i = 0; i < n; i++) {
            json_t *result = find_case(document, s.results.row[first + i][s.name]);
            if (result) {
                judge(&s, first + i, result, &r);
                continue;
            }
            /* The process ended before this case: once more, alone. */
            run_result alone;
            json_t *again = run_cases(&file[i], 1, &alone);
            judge(&s, first + i, find_case(again, s.results.row[first + i][s.name]), &alone);
            json_decref(again);
            run_free(&alone);
        }
        json_decref(document);
        run_free(&r);
        for (size_t i = 0; i < n; i++) free(file[i]);
    }
    table_free(&s.results);
    table_free(&s.unsupported);
    return tap_done();
}
