/* connect.c - opens finished traces for reading, and says why a file is none. */
#include "traces/internal.h"
#include <stdio.h>
#include <string.h>

static pl_status refuse(pl_diags *d, pl_diag_id id, const char *a, const char *b, const char *help)
{
    pl_diag *m = pl_report(d, id, (pl_loc){.file = UINT32_MAX}, a, b);
    if (help) m->help = pl_arena_strdup(d->arena, help);
    return PL_INVALID;
}

static sqlite3_int64 pragma(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *s = NULL;
    sqlite3_int64 v = -1;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW)
        v = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return v;
}

/* Makes an older trace look like one of today, without changing the file: SQLite's code. */
static int migrate(sqlite3 *db, sqlite3_int64 from)
{
    char step[32];
    snprintf(step, sizeof step, "-- from %lld\n", (long long)from);
    const char *sql = strstr(pl_tracedb_migrate, step);
    int code = sqlite3_exec(db, "PRAGMA temp_store = MEMORY", NULL, NULL, NULL);
    if (code == SQLITE_OK && sql) code = sqlite3_exec(db, sql, NULL, NULL, NULL); /* this step and those after it */
    if (code == SQLITE_OK)
        code = sqlite3_exec(db, "CREATE TEMP TABLE metric_info AS SELECT * FROM main.metric_info WHERE 0;"
                                "CREATE TEMP TABLE query AS SELECT * FROM main.query WHERE 0;"
                                "CREATE TEMP TABLE rule AS SELECT * FROM main.rule WHERE 0", NULL, NULL, NULL);
    if (code == SQLITE_OK) code = pl_tracedb_put_views(db, true);
    return code == SQLITE_OK ? pl_tracedb_put_texts(db, "temp") : code;
}

/* What stands in the way of reading the open file; PL_OK: nothing. `code` is that of opening it. */
static pl_status check(pl_diags *d, const char *path, sqlite3 *db, int code)
{
    char schema[64];
    if (code == SQLITE_OK) code = sqlite3_busy_timeout(db, 2000);
    sqlite3_int64 application = code == SQLITE_OK ? pragma(db, "PRAGMA application_id") : 0;
    if (code == SQLITE_OK) code = sqlite3_errcode(db);
    if (code == SQLITE_NOMEM) return PL_NOMEM;
    if (code == SQLITE_NOTADB || (code == SQLITE_OK && application != PL_TRACEDB_APPLICATION))
        return refuse(d, PL_E0701, path, NULL, "traces are written by ptxloom run --trace FILE.db");
    if (code != SQLITE_OK && code != SQLITE_ROW && code != SQLITE_DONE) {
        int system_error = sqlite3_system_errno(db);
        return refuse(d, PL_E0001, path, system_error ? strerror(system_error) : sqlite3_errmsg(db),
                      NULL);
    }
    sqlite3_int64 version = pragma(db, "PRAGMA user_version");
    if (version == PL_TRACEDB_SCHEMA) return PL_OK;
    if (version > 0 && version < PL_TRACEDB_SCHEMA) {
        if (migrate(db, version) == SQLITE_OK) return PL_OK;
        return refuse(d, PL_E0001, path, sqlite3_errmsg(db), NULL);
    }
    if (version == 0)
        return refuse(d, PL_E0702, path, "no end: the run that wrote it is still going on, or died",
                      NULL);
    snprintf(schema, sizeof schema, "schema %lld; this ptxloom reads schema %d", (long long)version,
             PL_TRACEDB_SCHEMA);
    return refuse(d, PL_E0702, path, schema,
                  version > PL_TRACEDB_SCHEMA ? "use the ptxloom that wrote it, or a later one"
                                              : NULL);
}

pl_status pl_tracedb_connect(pl_diags *diags, const char *path, sqlite3 **out)
{
    int code = sqlite3_open_v2(path, out, SQLITE_OPEN_READONLY, NULL);
    if (code == SQLITE_OK) code = pl_tracedb_register(*out);
    pl_status st = check(diags, path, *out, code);
    if (st == PL_OK) return PL_OK;
    sqlite3_close(*out);
    *out = NULL;
    return st;
}
