/* trace_open.c - opens finished traces for reading, and diagnoses files that are not traces.
 *
 * The tables of a trace are data, its views are code. Views run only if all of them are verbatim
 * those of ptxloom. Otherwise SQLite disables the views of the file, and the current ones are
 * created in the temporary schema of the connection. */
#include "base/nearest.h"
#include "traces/tracedb.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static pl_status report_invalid(pl_diags *d, pl_diag_id id, const char *a, const char *b,
                                const char *help)
{
    PL_GUARD(return PL_NOMEM)
    pl_diag *m = pl_report(d, id, (pl_loc){.file = UINT32_MAX}, a, b);
    if (help) m->help = pl_arena_strdup(d->arena, help);
    return PL_INVALID;
}

static pl_status report_not_a_trace(pl_diags *d, const char *path)
{
    return report_invalid(d, PL_E0701, path, NULL,
                          "traces are written by ptxloom run --trace FILE.db");
}

static pl_status report_unreadable(pl_diags *d, const char *path, sqlite3 *db)
{
    int why;
    const pl_status st = pl_tracedb_failure(db, &why);
    if (st == PL_NOMEM) return st;
    PL_GUARD(return PL_NOMEM)
    const char *near = why == ENOENT ? pl_nearest_file(d->arena, path) : NULL,
               *help = near            ? pl_arena_printf(d->arena, "did you mean '%s'?", near)
                       : why == ENOENT ? "traces are written by ptxloom run --trace FILE.db"
                       : why           ? NULL
                                       : pl_tracedb_remedy(db);
    return report_invalid(d, PL_E0001, path, why ? strerror(why) : sqlite3_errmsg(db), help) ==
                   PL_NOMEM
               ? PL_NOMEM
               : st;
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

/* Creates the views, metrics, rules and named queries of this program in the temporary schema,
 * where they shadow those of the file. Returns SQLite's code. An older trace also gets the tables
 * that it lacks; `from` is its schema. */
static int create_temp_schema(sqlite3 *db, sqlite3_int64 from)
{
    char step[32];
    snprintf(step, sizeof step, "-- from %lld\n", (long long)from);
    const char *sql = strstr(pl_tracedb_migrate, step);
    /* Disables views of the file; those in temp stay enabled. */
    int code = sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    if (code == SQLITE_OK) code = sqlite3_exec(db, "PRAGMA temp_store = MEMORY", NULL, NULL, NULL);
    /* This step and all later ones. */
    if (code == SQLITE_OK && sql) code = sqlite3_exec(db, sql, NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_exec(db,
                            "CREATE TEMP TABLE metric_info (name, family, unit, meaning);"
                            "CREATE TEMP TABLE query (name, title, sql);"
                            "CREATE TEMP TABLE rule (name, title, of, \"check\", sql)",
                            NULL, NULL, NULL);
    if (code == SQLITE_OK) code = pl_tracedb_put_views(db, true);
    return code == SQLITE_OK ? pl_tracedb_put_texts(db, "temp") : code;
}

/* Length of a statement without trailing blanks and semicolons. */
static size_t statement_length(const char *sql)
{
    size_t n = strlen(sql);
    while (n && strchr(" \t\r\n;", sql[n - 1])) n--;
    return n;
}

/* True if the view is one of ptxloom's; *at: index at which the search starts. */
static bool is_our_view(const char *name, const char *sql, size_t *at)
{
    for (size_t tries = 0; tries < 2; tries++, *at = 0) {
        for (const pl_tracedb_view *v = &pl_tracedb_views[*at]; v->name; v++) {
            if (strcmp(v->name, name) != 0) continue;
            *at = (size_t)(v + 1 - pl_tracedb_views);
            size_t n = statement_length(v->sql);
            return n == statement_length(sql) && memcmp(v->sql, sql, n) == 0;
        }
    }
    return false;
}

static bool starts_with(const char *sql, const char *words)
{
    return strncmp(sql, words, strlen(words)) == 0;
}

/* Determines whether the views of the file are exactly ptxloom's. SQLite interprets only the text
 * of a statement, so the column `type` is not trusted here either. Returns SQLite's code. */
static int has_our_views(sqlite3 *db, bool *ours)
{
    sqlite3_stmt *s = NULL;
    size_t found = 0, all = 0, at = 0;
    bool others = false;
    while (pl_tracedb_views[all].name) all++;
    int code = sqlite3_prepare_v2(
        db, "SELECT name, sql FROM main.sqlite_master WHERE sql IS NOT NULL", -1, &s, NULL);
    while (code == SQLITE_OK && (code = sqlite3_step(s)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(s, 0),
                   *sql = (const char *)sqlite3_column_text(s, 1);
        code = SQLITE_OK;
        if (!name || !sql)
            others = true;
        else if (is_our_view(name, sql, &at))
            found++;
        else
            others |=
                !starts_with(sql, "CREATE TABLE ") && !starts_with(sql, "CREATE VIRTUAL TABLE ") &&
                !starts_with(sql, "CREATE INDEX ") && !starts_with(sql, "CREATE UNIQUE INDEX ");
    }
    int last = sqlite3_finalize(s);
    *ours = found == all && !others;
    return code == SQLITE_DONE ? last : code;
}

/* Diagnoses why the open file cannot be read; PL_OK if it can. `code` is the result of opening it.
 */
static pl_status check(pl_diags *d, const char *path, sqlite3 *db, int code)
{
    char schema[64];
    if (code == SQLITE_OK) code = sqlite3_busy_timeout(db, 2000);
    sqlite3_int64 application = code == SQLITE_OK ? pragma(db, "PRAGMA application_id") : 0;
    if (code == SQLITE_OK) code = sqlite3_errcode(db);
    if (code == SQLITE_NOMEM) return PL_NOMEM;
    if (code == SQLITE_NOTADB || (code == SQLITE_OK && application != PL_TRACEDB_APPLICATION))
        return report_not_a_trace(d, path);
    if (code != SQLITE_OK && code != SQLITE_ROW && code != SQLITE_DONE)
        return report_unreadable(d, path, db);
    sqlite3_int64 version = pragma(db, "PRAGMA user_version");
    if (sqlite3_errcode(db) != SQLITE_OK) return report_unreadable(d, path, db);
    if (version > 0 && version <= PL_TRACEDB_SCHEMA) {
        bool ours = false;
        code = has_our_views(db, &ours);
        if (code == SQLITE_OK && (!ours || version < PL_TRACEDB_SCHEMA))
            code = create_temp_schema(db, version);
        if (code == SQLITE_OK) return PL_OK;
        return code == SQLITE_NOMEM ? PL_NOMEM : report_unreadable(d, path, db);
    }
    if (version == 0)
        return report_invalid(d, PL_E0702, path,
                              "no end: the run that wrote it is still going on, or died", NULL);
    snprintf(schema, sizeof schema, "schema %lld; this ptxloom reads schema %d", (long long)version,
             PL_TRACEDB_SCHEMA);
    return report_invalid(
        d, PL_E0702, path, schema,
        version > PL_TRACEDB_SCHEMA ? "use the ptxloom that wrote it, or a later one" : NULL);
}

/* SQLite takes a last page that is cut off for one that ends in zeros. */
static bool is_cut_off(sqlite3 *db, sqlite3_int64 size)
{
    return size < pragma(db, "PRAGMA page_count") * pragma(db, "PRAGMA page_size");
}

pl_status pl_tracedb_connect(pl_diags *diags, const char *path, sqlite3 **out)
{
    struct stat file;
    *out = NULL;
    /* Opening a pipe would block. */
    if (stat(path, &file) == 0 && !S_ISREG(file.st_mode) && !S_ISDIR(file.st_mode))
        return report_not_a_trace(diags, path);
    int code = pl_tracedb_open_file(path, PL_TRACEDB_READ, out);
    if (code == SQLITE_OK) code = pl_tracedb_register(*out);
    pl_status st = check(diags, path, *out, code);
    if (st == PL_OK && stat(path, &file) == 0 && is_cut_off(*out, file.st_size))
        st = report_invalid(diags, PL_E0001, path, "its end is missing", pl_tracedb_damaged);
    if (st == PL_OK) return PL_OK;
    sqlite3_close(*out);
    *out = NULL;
    return st;
}
