/* line_diff.h - compares two launches line by line: launches of one kernel in two traces, even if
 * its PTX changed in between. */
#ifndef PL_TRACES_LINE_DIFF_H
#define PL_TRACES_LINE_DIFF_H

#include "base/status.h"
#include <stddef.h>
#include <stdint.h>

struct sqlite3;

/* The cost of one PTX line in a launch. line 0: the launch has no such line. */
typedef struct pl_tracedb_line_sum {
    uint32_t line;
    uint64_t issues, stall_cycles, sectors, conflicts;
    const char *cuda; /* CUDA source position, or NULL; in a diff: owned by it */
} pl_tracedb_line_sum;

typedef struct pl_tracedb_diff_line {
    char *text; /* owned */
    pl_tracedb_line_sum side[2];
} pl_tracedb_diff_line;

typedef struct pl_tracedb_diff_lines {
    pl_tracedb_diff_line *line;
    size_t n;
} pl_tracedb_diff_lines;

/* The launch of trace b that corresponds to launch `kernel` of trace a: the same entry, and the
 * same position among the launches of that entry. If b never launches that entry (for example
 * another version of the kernel), the position among all launches is used. 0: none; -1: SQLite
 * failed, and its error code remains; -2: out of memory. */
int64_t pl_tracedb_matching_launch(struct sqlite3 *a, int64_t kernel, struct sqlite3 *b);
/* Lines executed in either launch, in order; equal lines are paired as in a text comparison.
 * PL_INVALID: SQLite failed. */
pl_status pl_tracedb_diff(struct sqlite3 *a, int64_t ka, struct sqlite3 *b, int64_t kb,
                          pl_tracedb_diff_lines *out);
void pl_tracedb_diff_free(pl_tracedb_diff_lines *d);

#endif
