/* recorded.c - see recorded.h. */
#include "tests/recorded.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH         16
#define MOST_OPTIONS  8
#define BATCH_SECONDS 300
#define ALONE_SECONDS 120

table recorded_results(const char *folder)
{
    char relative[64];
    snprintf(relative, sizeof relative, "%s/results.tsv", folder);
    char *path = data_path(relative);
    table t = table_read(path);
    free(path);
    return t;
}

static bool chosen(const char *name, char *const *names, int n)
{
    for (int k = 0; k < n; k++)
        if (strcmp(names[k], name) == 0) return true;
    return n == 0;
}

double recorded_number(const json_t *result, const char *key)
{
    return json_number_value(json_object_get(result, key));
}

static json_t *find_case(const json_t *document, const char *name)
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

/* The launch file of a case. The build generates those of the corpus and of Triton. */
static char *case_path(const char *folder, const char *name)
{
    const bool made = strcmp(folder, "corpus") == 0 || strcmp(folder, "triton") == 0;
    char relative[256];
    snprintf(relative, sizeof relative, "%s%scases/%s.json", made ? "" : folder, made ? "" : "/",
             name);
    return made ? corpus_path(relative) : data_path(relative);
}

/* The row of first .. end - 1 to run: one that fails on hardware, else the one with the least
 * work. */
static size_t cheapest(const table *t, size_t first, size_t end)
{
    const size_t work = table_column(t, "thread_inst_executed"), status = table_column(t, "status");
    size_t best = first;
    double least = HUGE_VAL;
    for (size_t row = first; row < end; row++) {
        const bool fails = strcmp(t->row[row][status], "OK") != 0;
        const double cost = fails ? -1 : strtod(t->row[row][work], NULL);
        if (cost < least) {
            least = cost;
            best = row;
        }
    }
    return best;
}

/* A row with its module: `ptxloom run` assembles a module once for consecutive cases. */
typedef struct ordered {
    char **row;
    char *module;
    size_t at;
} ordered;

static int by_module(const void *a, const void *b)
{
    const ordered *x = a, *y = b;
    const int order = strcmp(x->module, y->module);
    return order ? order : x->at < y->at ? -1 : 1;
}

static void sort_by_module(const char *folder, table *t)
{
    const size_t name = table_column(t, "case");
    ordered *o = calloc(t->rows + 1, sizeof *o);
    if (!o) exit(EXIT_FAILURE);
    for (size_t k = 0; k < t->rows; k++) {
        char *path = case_path(folder, t->row[k][name]);
        json_t *launch = json_load_file(path, 0, NULL);
        const char *ptx = json_string_value(json_object_get(launch, "ptx"));
        o[k] = (ordered){t->row[k], strdup(ptx ? ptx : ""), k};
        json_decref(launch);
        free(path);
    }
    qsort(o, t->rows, sizeof *o, by_module);
    for (size_t k = 0; k < t->rows; k++) {
        t->row[k] = o[k].row;
        free(o[k].module);
    }
    free(o);
}

void recorded_choose(const char *folder, table *results, int one_of, char *const *names, int n)
{
    const size_t name = table_column(results, "case"), group = n > 0 ? 1 : (size_t)one_of;
    size_t kept = 0;
    for (size_t first = 0; first < results->rows; first += group) {
        const size_t end = first + group < results->rows ? first + group : results->rows,
                     best = group > 1 ? cheapest(results, first, end) : first;
        for (size_t row = first; row < end; row++)
            if (row == best && chosen(results->row[row][name], names, n))
                results->row[kept++] = results->row[row];
            else
                free(results->row[row]);
    }
    results->rows = kept;
    sort_by_module(folder, results);
}

static json_t *run_files(char *const *file, size_t n, const char *mode, const char *const *options,
                         int seconds, run_result *r)
{
    const char *argv[BATCH + MOST_OPTIONS + 8] = {loom_path(), "run"};
    for (size_t i = 0; i < n; i++) argv[2 + i] = file[i];
    const char *const tail[] = {"--mode", mode, "--json", NULL};
    memcpy(argv + 2 + n, tail, sizeof tail);
    for (size_t i = 0; options && options[i] && i < MOST_OPTIONS; i++) argv[5 + n + i] = options[i];
    *r = run_command(argv, seconds);
    return json_loads(r->out ? r->out : "", 0, NULL);
}

void recorded_run(const char *folder, const table *results, const char *mode, recorded_each *each,
                  void *ctx)
{
    recorded_run_with(folder, results, mode, NULL, each, ctx);
}

void recorded_run_with(const char *folder, const table *results, const char *mode,
                       const char *const *options, recorded_each *each, void *ctx)
{
    size_t name = table_column(results, "case");
    for (size_t first = 0; first < results->rows; first += BATCH) {
        char *file[BATCH];
        size_t n = results->rows - first < BATCH ? results->rows - first : BATCH;
        for (size_t i = 0; i < n; i++) {
            file[i] = case_path(folder, results->row[first + i][name]);
        }
        run_result r;
        json_t *document = run_files(file, n, mode, options, BATCH_SECONDS, &r);
        for (size_t i = 0; i < n; i++) {
            const char *expected = results->row[first + i][name];
            const json_t *result = find_case(document, expected);
            if (result) {
                each(ctx, first + i, result, &r);
                continue;
            }
            run_result alone;
            json_t *again = run_files(&file[i], 1, mode, options, ALONE_SECONDS, &alone);
            each(ctx, first + i, find_case(again, expected), &alone);
            json_decref(again);
            run_free(&alone);
        }
        json_decref(document);
        run_free(&r);
        for (size_t i = 0; i < n; i++) free(file[i]);
    }
}
