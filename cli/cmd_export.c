/* cmd_export.c - `ptxloom export`: a trace as files that other programs read. */
#include "cli/perfetto.h"
#include "cli/query.h"
#include "cli/stop.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { O_FORMAT, O_OUTPUT, O_TABLE, O_LAUNCH, O_SM, O_TIMEOUT, O_COUNT };
static const cli_option option[O_COUNT] = {
    [O_FORMAT] = {"format", 'f', "perfetto|csv|ndjson",
                  "events for ui.perfetto.dev; a file for each table; one object a row (perfetto)"},
    [O_OUTPUT] = {"output", 'o', "OUT",
                  "file to write, or - for standard output; for the tables of csv a folder"},
    [O_TABLE] = {"table", 't', "NAME", "csv, ndjson: this table or view only, in one file"},
    [O_LAUNCH] = {"launch", 'l', "N", "rows of launch N only"},
    [O_SM] = {"sm", 0, "N", "perfetto: multiprocessor N only"},
    [O_TIMEOUT] = CLI_TIMEOUT,
};

typedef enum format { PERFETTO, CSV, NDJSON } format;

typedef struct export
{
    pl_gpu *gpu;
    const char *path, *output, *table;
    format format;
    uint64_t launch, sm;
    bool has_sm;
    sqlite3 *db;
}
export;

static int sql_failed(const export *x)
{
    return cli_sql_failed(x->gpu, x->db, NULL);
}

static int write_failed(const export *x, const char *path)
{
    pl_gpu_report(x->gpu, "E0002", path, strerror(errno ? errno : EIO), NULL, NULL);
    return CLI_SYSTEM;
}

/* ---- tables ---- */

/* SQLite's code. */
static int has_column(sqlite3 *db, const char *table, const char *column, bool *found)
{
    sqlite3_stmt *s = NULL;
    int code =
        sqlite3_prepare_v2(db, "SELECT 1 FROM pragma_table_info(?) WHERE name = ?", -1, &s, NULL);
    if (code != SQLITE_OK) return code;
    sqlite3_bind_text(s, 1, table, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 2, column, -1, SQLITE_STATIC);
    *found = sqlite3_step(s) == SQLITE_ROW;
    return sqlite3_finalize(s);
}

/* named: every row says which table it is of. Tables that do not depend on a launch are written
 * whole. */
static int write_table(const export *x, const char *table, bool named, FILE *f)
{
    bool found = false;
    if (has_column(x->db, table, "kernel", &found) != SQLITE_OK) return sql_failed(x);
    const char *column = strcmp(table, "kernel") == 0 ? "id" : found ? "kernel" : NULL;
    char where[64] = "";
    if (column && x->launch)
        snprintf(where, sizeof where, " WHERE %s = %" PRIu64, column, x->launch);
    char *sql =
        named ? sqlite3_mprintf("SELECT %Q AS \"table\", * FROM \"%w\"%s", table, table, where)
              : sqlite3_mprintf("SELECT * FROM \"%w\"%s", table, where);
    sqlite3_stmt *s = NULL;
    int code = sql ? sqlite3_prepare_v2(x->db, sql, -1, &s, NULL) : SQLITE_NOMEM;
    if (code == SQLITE_OK) code = query_print(f, s, x->format == CSV ? QUERY_CSV : QUERY_NDJSON, 0);
    const int status = code == SQLITE_DONE ? CLI_OK : sql ? sql_failed(x) : cli_no_memory();
    sqlite3_finalize(s);
    sqlite3_free(sql);
    return status;
}

/* A file, or standard output for "-". */
static FILE *open_output(const char *path)
{
    errno = 0;
    return strcmp(path, "-") == 0 ? stdout : fopen(path, "wb");
}

static bool close_output(FILE *f)
{
    if (f == stdout) return !ferror(f);
    bool good = !ferror(f);
    return fclose(f) == 0 && good;
}

/* The file of a table, in the folder. A table may have any name: characters that mean something in
 * a path, or to a terminal, are written as %XX. To be freed; NULL: out of memory. */
static char *table_path(const export *x, const char *table)
{
    sqlite3_str *s = sqlite3_str_new(NULL);
    sqlite3_str_appendf(s, "%s/", x->output);
    for (const char *p = table; *p; p++) {
        unsigned char c = (unsigned char)*p;
        if (isalnum(c) || c == '_' || c == '-' || (c == '.' && p > table))
            sqlite3_str_appendchar(s, 1, *p);
        else
            sqlite3_str_appendf(s, "%%%02X", c);
    }
    sqlite3_str_appendall(s, ".csv");
    return sqlite3_str_finish(s);
}

/* Calls write_table for every table, each into its own file of the folder (csv) or all into f. */
static int write_tables(const export *x, FILE *f)
{
    sqlite3_stmt *s = NULL;
    int status = CLI_OK;
    if (sqlite3_prepare_v2(x->db,
                           /* packed_...: how --trace-format packed stores inst and mem, which are
                              there themselves */
                           "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE "
                           "'sqlite\\_%' ESCAPE '\\' "
                           "AND name NOT LIKE 'packed\\_%' ESCAPE '\\' ORDER BY name",
                           -1, &s, NULL) != SQLITE_OK)
        return sql_failed(x);
    int code = SQLITE_ROW;
    while (status == CLI_OK && (code = sqlite3_step(s)) == SQLITE_ROW) {
        const char *table = (const char *)sqlite3_column_text(s, 0);
        if (!table) continue;
        if (f) {
            status = write_table(x, table, true, f);
            continue;
        }
        char *path = table_path(x, table);
        FILE *own = path ? open_output(path) : NULL;
        if (!own) {
            status = path ? write_failed(x, path) : CLI_SYSTEM;
        } else {
            status = write_table(x, table, false, own);
            if (!close_output(own) && status == CLI_OK) status = write_failed(x, path);
        }
        sqlite3_free(path);
    }
    if (status == CLI_OK && code != SQLITE_DONE) status = sql_failed(x);
    sqlite3_finalize(s);
    return status;
}

static int write_all(const export *x)
{
    if (x->format == CSV && !x->table) {
        if (mkdir(x->output, 0777) != 0 && errno != EEXIST) return write_failed(x, x->output);
        return write_tables(x, NULL);
    }
    FILE *f = open_output(x->output);
    if (!f) return write_failed(x, x->output);
    int status = CLI_OK;
    if (x->format == PERFETTO) {
        status =
            perfetto_write(x->gpu, x->db, (int64_t)x->launch, x->has_sm ? (int64_t)x->sm : -1, f);
    } else {
        status = x->table ? write_table(x, x->table, false, f) : write_tables(x, f);
    }
    if (!close_output(f) && status == CLI_OK) status = write_failed(x, x->output);
    return status;
}

/* ---- command line ---- */

static bool read_format(export *x, cli_args *a)
{
    static const char *const words[] = {"perfetto", "csv", "ndjson"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(a->value, words[i]) != 0) continue;
        x->format = (format)i;
        return true;
    }
    pl_gpu_report(a->gpu, "E0005", a->value, "--format", "it is perfetto, csv or ndjson", NULL);
    return false;
}

static int parse(export *x, cli_args *a)
{
    static const char usage[] = "ptxloom export F.db [--format perfetto|csv|ndjson] -o OUT\n";
    int k;
    while ((k = cli_next(a, option, O_COUNT)) != CLI_END) {
        switch (k) {
        case O_FORMAT:
            if (!read_format(x, a)) return CLI_INPUT;
            break;
        case O_OUTPUT: x->output = a->value; break;
        case O_TABLE: x->table = a->value; break;
        case O_TIMEOUT:
            if (!cli_timeout(a)) return CLI_INPUT;
            break;
        case O_LAUNCH:
            if (!cli_number(a, "--launch", 1, INT64_MAX, &x->launch)) return CLI_INPUT;
            break;
        case O_SM:
            x->has_sm = true;
            if (!cli_number(a, "--sm", 0, UINT32_MAX, &x->sm)) return CLI_INPUT;
            break;
        case CLI_HELP: cli_help(usage, option, O_COUNT); return CLI_HELP;
        case CLI_OPERAND:
            if (x->path) {
                pl_gpu_report(a->gpu, "E0010", a->value, x->path, NULL, "one trace at a time");
                return CLI_INPUT;
            }
            x->path = a->value;
            break;
        default: return CLI_INPUT;
        }
    }
    if (!x->path || !x->output) {
        pl_gpu_report(a->gpu, "E0007", "export", x->path ? "-o OUT" : "a trace", NULL,
                      "ptxloom export run.db --format perfetto -o run.json");
        return CLI_INPUT;
    }
    if (x->format == PERFETTO && x->table) {
        pl_gpu_report(a->gpu, "E0010", "--table", "--format perfetto", NULL, NULL);
        return CLI_INPUT;
    }
    if (x->format == CSV && !x->table && strcmp(x->output, "-") == 0) {
        pl_gpu_report(a->gpu, "E0010", "-o -", "several tables of csv", NULL,
                      "name a folder, or one table with --table");
        return CLI_INPUT;
    }
    return CLI_OK;
}

int cmd_export(int argc, char **argv)
{
    export x = {.format = PERFETTO};
    if (pl_gpu_open(&x.gpu, NULL) != PL_OK) return CLI_SYSTEM;
    cli_args a = {.gpu = x.gpu, .argc = argc, .argv = argv, .at = 1};
    int status = parse(&x, &a);
    if (status == CLI_OK) status = cli_status(pl_trace_connect(x.gpu, x.path, &x.db));
    if (status == CLI_OK) {
        cli_stoppable(x.db);
        status = write_all(&x);
    }
    if (status == CLI_HELP) status = CLI_OK;
    sqlite3_close(x.db);
    cli_flush();
    cli_messages(x.gpu, 0);
    pl_gpu_close(x.gpu);
    return status;
}
