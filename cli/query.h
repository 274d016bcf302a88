/* query.h - queries on a trace, for the commands query and shell. */
#ifndef PL_CLI_QUERY_H
#define PL_CLI_QUERY_H

#include "cli/cli.h"
#include "cli/query_out.h"
#include "cli/terminal.h"

typedef struct query_request {
    pl_gpu *gpu; /* receives the messages */
    const char *path, *what;
    char **parameter; /* NAME=VALUE ... */
    int nparameters;
    bool *used; /* by parameter: it was used */
    bool rows;  /* a statement with parameters other than kernel and limit had rows */
    query_format format;
    bool advise; /* show the findings of rules as text */
    int width;
    sqlite3 *db;
} query_request;

/* Runs q->what: SQL, the name of a query, table or view, or "-" for SQL from standard input.
 * Returns an exit status; messages are in q->gpu or already shown. */
int query_run(query_request *q);

#endif
