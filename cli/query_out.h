/* query_out.h - prints the rows of a query as an aligned table, CSV, JSON or one JSON object per
 * line. */
#ifndef PL_CLI_QUERY_OUT_H
#define PL_CLI_QUERY_OUT_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>

typedef enum query_format { QUERY_TABLE, QUERY_CSV, QUERY_JSON, QUERY_NDJSON } query_format;

/* Steps the statement to its end and prints every row to f. width: terminal columns that a table
 * must fit, 0: no limit. Returns SQLITE_DONE, or the error code of the statement (SQLITE_NOMEM if
 * memory was exhausted). */
int query_print(FILE *f, sqlite3_stmt *s, query_format format, int width);

/* Prints the header of the statement's rows for CSV or objects in lines. */
void query_head(FILE *f, sqlite3_stmt *s, query_format format);

/* Prints text as a JSON string. */
void query_json_text(FILE *f, const char *text);

#endif
