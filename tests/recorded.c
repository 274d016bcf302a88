/* recorded.c - see recorded.h. */
#include "tests/recorded.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH         8
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

void recorded_choose(table *results, int one_of, char *const *names, int n)
{
    const size_t name = table_column(results, "case");
    size_t kept = 0;
    for (size_t row = 0; row < results->rows; row++)
        if (chosen(results->row[row][name], names, n) && (n > 0 || row % (size_t)one_of == 0))
            results->row[kept++] = results->row[row];
        else
            free(results->row[row]);
    results->rows = kept;
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

/* The launch file of a case. Those of the corpus and of Triton are made by the build. */
static char *case_path(const char *folder, const char *name)
{
    const bool made = strcmp(folder, "corpus") == 0 || strcmp(folder, "triton") == 0;
    char relative[256];
    snprintf(relative, sizeof relative, "%s%scases/%s.json", made ? "" : folder, made ? "" : "/",
             name);
    return made ? corpus_path(relative) : data_path(relative);
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
            const char *wanted = results->row[first + i][name];
            const json_t *result = find_case(document, wanted);
            if (result) {
                each(ctx, first + i, result, &r);
                continue;
            }
            run_result alone;
            json_t *again = run_files(&file[i], 1, mode, options, ALONE_SECONDS, &alone);
            each(ctx, first + i, find_case(again, wanted), &alone);
            json_decref(again);
            run_free(&alone);
        }
        json_decref(document);
        run_free(&r);
        for (size_t i = 0; i < n; i++) free(file[i]);
    }
}
