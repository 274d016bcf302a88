/* query_out.h - prints the rows of a query as an aligned table, CSV, JSON or one JSON object a
 * line. */
#ifndef PL_CLI_QUERY_OUT_H
#define PL_CLI_QUERY_OUT_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>

typedef enum query_format { QUERY_TABLE, QUERY_CSV, QUERY_JSON, QUERY_NDJSON } query_format;

/* Steps the statement to its end and prints every row to f. width: columns of the terminal that a
 * table has to fit, 0: no limit. Returns SQLITE_DONE, or the code with which the statement (or
 * memory: SQLITE_NOMEM) failed. */
int query_print(FILE *f, sqlite3_stmt *s, query_format format, int width);

/* How the rows of the statement begin when they are CSV or objects in lines. */
void query_head(FILE *f, sqlite3_stmt *s, query_format format);

/* Text as a JSON string. */
void query_json_text(FILE *f, const char *text);

#endif
