/* recorded.h - runs recorded kernels (the folders suite and corpus of tests/data) through the
 * ptxloom command. */
#ifndef PL_TESTS_RECORDED_H
#define PL_TESTS_RECORDED_H

#include "tests/harness.h"
#include <jansson.h>

/* Called once for each row of results.tsv, in order. result is the case's object of --json, or NULL
 * if there was none. */
typedef void recorded_each(void *ctx, size_t row, const json_t *result, const run_result *r);

table recorded_results(const char *folder);
/* Retains only the cases of these n names; n == 0: of each group of `one_of` neighbours one that
 * fails on hardware, else the one with the least work. Sorts them by module. */
void recorded_choose(const char *folder, table *results, int one_of, char *const *names, int n);
/* Runs every case in `mode`, several per process; a case whose process crashed is run again
 * alone. */
void recorded_run(const char *folder, const table *results, const char *mode, recorded_each *each,
                  void *ctx);
/* The same with at most 8 further options for `ptxloom run`, terminated by NULL. */
void recorded_run_with(const char *folder, const table *results, const char *mode,
                       const char *const *options, recorded_each *each, void *ctx);
/* A number of the result; 0: missing. */
double recorded_number(const json_t *result, const char *key);

#endif
