/* report.h - one HTML file about a trace: answers to the questions of panels.sql, the sums of
 * detail.h, and the page that draws them.
 *
 * The data stand in the page as one JSON object in <script type="application/json" id="data">;
 * doc/report.md describes its members. */
#ifndef PL_TRACES_REPORT_REPORT_H
#define PL_TRACES_REPORT_REPORT_H

#include "base/status.h"
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>

typedef struct pl_report_request {
    sqlite3 *db, *baseline;                  /* baseline: NULL: none */
    const char *path, *name, *baseline_name; /* of the trace; file names, shown */
    int64_t kernel;                          /* this launch only; 0: the longest ones that fit */
    uint64_t slots; /* issues kept one by one, over all launches; 0: default */
} pl_report_request;

/* PL_OK; PL_INVALID: *damage says what is wrong with the trace, or is NULL and SQLite's message is
 * in sqlite3_errmsg of one of the connections; PL_NOMEM; PL_IO: writing failed; PL_INTERRUPTED: a
 * progress handler of SQLite stopped it. */
pl_status pl_report_write(const pl_report_request *r, FILE *out, const char **damage);

/* What embed.awk makes of the page's files and of panels.sql. */
typedef struct pl_report_query {
    const char *name, *title, *sql;
} pl_report_query;
extern const pl_report_query pl_report_queries[]; /* ends with a NULL name */
/* The page: head, the digest of the script, body, the data, tail, script, end. */
extern const char pl_report_head[], pl_report_body[], pl_report_tail[], pl_report_script[],
    pl_report_end[];

#endif
