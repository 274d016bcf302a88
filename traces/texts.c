/* texts.c - what every trace says about itself: metrics as views, their definitions, rules and named queries. */
#include "traces/internal.h"

/* Runs a statement with these texts; SQLite's code. */
static int put(sqlite3_stmt *s, const char *const *text, int n)
{
    for (int i = 0; i < n; i++) sqlite3_bind_text(s, i + 1, text[i], -1, SQLITE_STATIC);
    sqlite3_step(s);
    return sqlite3_reset(s);
}

/* A view. CREATE VIEW would read its text twice and search the schema for it; for hundreds of views that costs more than a small
 * launch. In a file that is being written it becomes a row of the table that SQLite keeps its schema in. */
static int put_view(sqlite3 *db, sqlite3_stmt *row, const char *name, char *body)
{
    char *sql = body ? sqlite3_mprintf("CREATE %sVIEW \"%w\" AS %s", row ? "" : "TEMP ", name, body) : NULL;
    const char *const column[] = {name, name, sql};
    int code = !sql ? SQLITE_NOMEM : row ? put(row, column, 3) : sqlite3_exec(db, sql, NULL, NULL, NULL);
    sqlite3_free(sql);
    sqlite3_free(body);
    return code;
}

/* One view for each metric, and the view `metric` over all of them. */
static int put_views(sqlite3 *db, sqlite3_stmt *row)
{
    sqlite3_str *all = sqlite3_str_new(db);
    sqlite3_str_appendall(all, "-- every metric of every launch\n");
    int code = SQLITE_OK;
    for (const pl_tracedb_metric *m = pl_tracedb_metrics; code == SQLITE_OK && m->name; m++) {
        code = put_view(db, row, m->name, sqlite3_mprintf("-- %s [%s]\nSELECT k.id AS kernel, %s AS value FROM kernel k", m->meaning, m->unit, m->formula));
        sqlite3_str_appendf(all, "SELECT kernel, %Q AS name, value FROM \"%w\" WHERE value IS NOT NULL UNION ALL\n", m->name, m->name);
    }
    sqlite3_str_appendall(all, "SELECT kernel, name, sum(value) FROM counter WHERE name NOT IN (SELECT name FROM metric_info) GROUP BY kernel, name");
    char *body = sqlite3_str_finish(all);
    if (code == SQLITE_OK) return put_view(db, row, "metric", body);
    sqlite3_free(body);
    return code;
}

/* The rows of metric_info, query and rule. */
static int put_rows(sqlite3 *db, const char *schema)
{
    static const char *const table[] = {"metric_info", "query", "rule"};
    static const int columns[] = {4, 3, 5};
    sqlite3_stmt *s[3] = {0};
    int code = SQLITE_OK;
    for (int i = 0; i < 3 && code == SQLITE_OK; i++) {
        char *sql = sqlite3_mprintf("INSERT INTO %s.%s VALUES (?, ?, ?%s)", schema, table[i], i == 0 ? ", ?" : i == 2 ? ", ?, ?" : "");
        code = sql ? sqlite3_prepare_v2(db, sql, -1, &s[i], NULL) : SQLITE_NOMEM;
        sqlite3_free(sql);
    }
    for (const pl_tracedb_metric *m = pl_tracedb_metrics; code == SQLITE_OK && m->name; m++)
        code = put(s[0], (const char *const[]){m->name, m->family, m->unit, m->meaning}, columns[0]);
    for (const pl_tracedb_query *q = pl_tracedb_queries; code == SQLITE_OK && q->name; q++)
        code = put(s[1], (const char *const[]){q->name, q->title, q->sql}, columns[1]);
    for (const pl_tracedb_rule *r = pl_tracedb_rules; code == SQLITE_OK && r->name; r++)
        code = put(s[2], (const char *const[]){r->name, r->title, r->of, r->check, r->sql}, columns[2]);
    for (int i = 0; i < 3; i++) sqlite3_finalize(s[i]);
    return code;
}

int pl_tracedb_put_texts(sqlite3 *db, bool beside)
{
    if (beside) {
        int code = sqlite3_exec(db, "CREATE TEMP TABLE metric_info AS SELECT * FROM main.metric_info WHERE 0;"
                                    "CREATE TEMP TABLE query AS SELECT * FROM main.query WHERE 0;"
                                    "CREATE TEMP TABLE rule AS SELECT * FROM main.rule WHERE 0", NULL, NULL, NULL);
        if (code == SQLITE_OK) code = put_views(db, NULL);
        return code == SQLITE_OK ? put_rows(db, "temp") : code;
    }
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL); /* some systems' libraries begin with it */
    sqlite3_stmt *row = NULL;
    int code = sqlite3_exec(db, "PRAGMA writable_schema = ON", NULL, NULL, NULL);
    if (code == SQLITE_OK) code = sqlite3_prepare_v2(db, "INSERT INTO sqlite_master VALUES ('view', ?, ?, 0, ?)", -1, &row, NULL);
    if (code == SQLITE_OK) code = put_views(db, row);
    sqlite3_finalize(row);
    if (code == SQLITE_OK) code = sqlite3_exec(db, "PRAGMA writable_schema = OFF", NULL, NULL, NULL);
    return code == SQLITE_OK ? put_rows(db, "main") : code;
}
