/* harness.h - what the larger test programs share: running a command with a time limit, TAP lines,
 * and reading tables. */
#ifndef PL_TESTS_HARNESS_H
#define PL_TESTS_HARNESS_H

#include <stdbool.h>
#include <stddef.h>

/* ---- commands ---- */

#define RUN_TIMEOUT 124 /* run_result.status of a command that was stopped for taking too long */

typedef struct run_result {
    int status;       /* exit status, 128 + signal, or RUN_TIMEOUT */
    bool interrupted; /* it was asked to stop for taking too long, and did */
    char *out, *err;  /* what it wrote, NUL-terminated; free with run_free */
    size_t nout, nerr;
    double seconds;
} run_result;

/* Runs argv[0] with the arguments up to NULL. After `seconds` it gets SIGINT, ten seconds later
 * SIGKILL. */
run_result run_command(const char *const argv[], int seconds);
void run_free(run_result *r);

/* The built command: $PTXLOOM, or ./ptxloom. */
const char *loom_path(void);
/* "$srcdir/tests/data/PATH" in a buffer of its own; free it. */
/* A file of the corpus as the build has unpacked it: tests/corpus/PATH in the build folder. */
char *corpus_path(const char *path);
char *data_path(const char *path);

/* A fresh folder for scratch files; exits on failure. Remove it with scratch_remove. */
char *scratch_make(void);
void scratch_remove(char *path);

/* ---- TAP ---- */

/* Prints "ok N - NAME" or "not ok N - NAME". */
void tap(bool ok, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A remark under the last line. */
void tap_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Prints the plan; returns the exit status of the program. */
int tap_done(void);

/* ---- tables ---- */

/* Tab-separated rows under a head line that begins with '#'; a name ending in .xz is unpacked with
 * xz. */
typedef struct table {
    char *text;
    char **head;
    char ***row; /* row[i][column] */
    size_t columns, rows;
} table;

table table_read(const char *path); /* exits with a message on failure */
void table_free(table *t);
/* The column's index; exits when the table has none of that name. */
size_t table_column(const table *t, const char *name);

/* The whole file in memory, NUL-terminated; .xz is unpacked. Exits on failure. */
char *read_whole(const char *path, size_t *size);

#endif
