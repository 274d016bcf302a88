/* statement.c - SQL statements of a trace being written: the first failure is kept, and nothing is
 * executed after it. */
#include "traces/tracedb.h"
#include <stdio.h>
#include <string.h>

bool pl_tracedb_fail(pl_tracedb *t, pl_status status, const char *why)
{
    if (t->status != PL_OK) return false;
    t->status = status;
    snprintf(t->error, sizeof t->error, "%s", why);
    return false;
}

/* Prefers the system's error message over SQLite's, if there is one. */
bool pl_tracedb_succeeded(pl_tracedb *t, int code)
{
    int system_error;
    if (code == SQLITE_OK) return true;
    if (code == SQLITE_NOMEM) return pl_tracedb_fail(t, PL_NOMEM, "out of memory");
    const pl_status st = pl_tracedb_failure(t->db, &system_error);
    const char *why = system_error ? strerror(system_error) : sqlite3_errmsg(t->db);
    return pl_tracedb_fail(t, st == PL_NOMEM ? PL_NOMEM : PL_IO, why);
}

bool pl_tracedb_exec(pl_tracedb *t, const char *sql)
{
    if (t->status != PL_OK) return false;
    return pl_tracedb_succeeded(t, sqlite3_exec(t->db, sql, NULL, NULL, NULL));
}

bool pl_tracedb_transaction(pl_tracedb *t)
{
    if (!t->open) t->open = pl_tracedb_exec(t, "BEGIN EXCLUSIVE");
    return t->open;
}

sqlite3_stmt *pl_tracedb_prepare(pl_tracedb *t, const char *sql)
{
    sqlite3_stmt *s = NULL;
    if (t->status != PL_OK) return NULL;
    pl_tracedb_succeeded(t,
                         sqlite3_prepare_v3(t->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &s, NULL));
    return s;
}

bool pl_tracedb_step(pl_tracedb *t, sqlite3_stmt *s)
{
    if (t->status != PL_OK) return false;
    const int code = sqlite3_step(s);
    /* Before the reset, which may change the error message. */
    if (code != SQLITE_DONE) pl_tracedb_succeeded(t, code);
    sqlite3_reset(s);
    return t->status == PL_OK;
}

void pl_tracedb_text(sqlite3_stmt *stmt, int column, const char *s)
{
    /* SQLITE_STATIC makes no copy and so cannot fail; the statement is executed before the text
     * changes. */
    if (s)
        sqlite3_bind_text(stmt, column, s, -1, SQLITE_STATIC);
    else
        sqlite3_bind_null(stmt, column);
}
