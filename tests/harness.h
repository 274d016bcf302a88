/* harness.h - shared by the larger test programs: running a command with a time limit, TAP output,
 * and reading tables. */
#ifndef PL_TESTS_HARNESS_H
#define PL_TESTS_HARNESS_H

#include <stdbool.h>
#include <stddef.h>

/* ---- commands ---- */

#define RUN_TIMEOUT 124 /* run_result.status of a command stopped by the time limit */

typedef struct run_result {
    int status;       /* exit status, 128 + signal, or RUN_TIMEOUT */
    bool interrupted; /* stopped by SIGINT after the time limit */
    char *out, *err;  /* its output, NUL-terminated; free with run_free */
    size_t nout, nerr;
    double seconds;
} run_result;

/* Runs argv[0] with the arguments up to NULL. Sends SIGINT after `seconds` and SIGKILL ten seconds
 * later. */
run_result run_command(const char *const argv[], int seconds);
void run_free(run_result *r);

/* Path of the built command: $PTXLOOM, or ./ptxloom. */
const char *loom_path(void);
/* Path of a corpus file unpacked by the build: tests/corpus/PATH in the build folder. */
char *corpus_path(const char *path);
/* "$srcdir/tests/data/PATH" in an allocated buffer; the caller frees it. */
char *data_path(const char *path);

/* Creates a scratch folder; exits on failure. Remove it with scratch_remove. */
char *scratch_make(void);
void scratch_remove(char *path);

/* ---- TAP ---- */

/* Prints "ok N - NAME" or "not ok N - NAME". */
void tap(bool ok, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Prints a comment line after the last test line. */
void tap_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Prints the plan; returns the program's exit status. */
int tap_done(void);

/* ---- tables ---- */

/* Tab-separated rows after a header line that begins with '#'; a file with suffix .xz is
 * decompressed with xz. */
typedef struct table {
    char *text;
    char **head;
    char ***row; /* row[i][column] */
    size_t columns, rows;
} table;

table table_read(const char *path); /* exits with a message on failure */
void table_free(table *t);
/* Returns the column's index; exits if the table has no such column. */
size_t table_column(const table *t, const char *name);

/* Reads the whole file into memory, NUL-terminated; decompresses .xz. Exits on failure. */
char *read_whole(const char *path, size_t *size);

#endif
