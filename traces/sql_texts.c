/* sql_texts.c - the self-description of every trace: metrics as views, their definitions, rules and
 * named queries. */
#include "traces/tracedb.h"
#include <string.h>

/* Executes a statement with these texts; returns SQLite's code. */
static int execute(sqlite3_stmt *s, const char *const *text, int n)
{
    for (int i = 0; i < n; i++) sqlite3_bind_text(s, i + 1, text[i], -1, SQLITE_STATIC);
    sqlite3_step(s);
    return sqlite3_reset(s);
}

int pl_tracedb_put_texts(sqlite3 *db, const char *schema)
{
    static const char *const table[] = {"metric_info", "query", "rule"};
    static const int columns[] = {4, 3, 5};
    sqlite3_stmt *s[3] = {0};
    int code = SQLITE_OK;
    for (int i = 0; i < 3 && code == SQLITE_OK; i++) {
        char *sql = sqlite3_mprintf("INSERT INTO %s.%s VALUES (?, ?, ?%s)", schema, table[i],
                                    i == 0   ? ", ?"
                                    : i == 2 ? ", ?, ?"
                                             : "");
        code = sql ? sqlite3_prepare_v2(db, sql, -1, &s[i], NULL) : SQLITE_NOMEM;
        sqlite3_free(sql);
    }
    for (const pl_tracedb_metric *m = pl_tracedb_metrics; code == SQLITE_OK && m->name; m++)
        code = execute(s[0], (const char *const[]){m->name, m->family, m->unit, m->meaning},
                       columns[0]);
    for (const pl_tracedb_query *q = pl_tracedb_queries; code == SQLITE_OK && q->name; q++)
        code = execute(s[1], (const char *const[]){q->name, q->title, q->sql}, columns[1]);
    for (const pl_tracedb_rule *r = pl_tracedb_rules; code == SQLITE_OK && r->name; r++)
        code = execute(s[2], (const char *const[]){r->name, r->title, r->of, r->check, r->sql},
                       columns[2]);
    for (int i = 0; i < 3; i++) sqlite3_finalize(s[i]);
    return code;
}

/* CREATE VIEW would parse its text twice and search the schema for the name; for hundreds of views
 * that costs more than a small launch. In a file that is being written a view is inserted directly
 * into the schema table of SQLite. */
int pl_tracedb_put_views(sqlite3 *db, bool temporary)
{
    sqlite3_stmt *row = NULL;
    int code = SQLITE_OK;
    if (!temporary) {
        /* Some systems' libraries enable it by default. */
        sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
        code = sqlite3_exec(db, "PRAGMA writable_schema = ON", NULL, NULL, NULL);
        if (code == SQLITE_OK)
            code = sqlite3_prepare_v2(db, "INSERT INTO sqlite_master VALUES ('view', ?, ?, 0, ?)",
                                      -1, &row, NULL);
    }
    for (const pl_tracedb_view *v = pl_tracedb_views; code == SQLITE_OK && v->name; v++) {
        if (temporary) {
            char *sql = sqlite3_mprintf("CREATE TEMP %s", v->sql + strlen("CREATE "));
            code = sql ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
            sqlite3_free(sql);
        } else {
            code = execute(row, (const char *const[]){v->name, v->name, v->sql}, 3);
        }
    }
    sqlite3_finalize(row);
    return code == SQLITE_OK && !temporary
               ? sqlite3_exec(db, "PRAGMA writable_schema = OFF", NULL, NULL, NULL)
               : code;
}
