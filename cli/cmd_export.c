/* cmd_export.c - `ptxloom export`: converts a trace to files for other programs. */
#include "cli/perfetto.h"
#include "cli/query.h"
#include "cli/stop.h"
#include "cli/terminal.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { O_FORMAT, O_OUTPUT, O_FORCE, O_TABLE, O_LAUNCH, O_SM, O_TIMEOUT, O_COUNT };
static const cli_option option[O_COUNT] = {
    [O_FORMAT] =
        {"format", 'f', "perfetto|csv|ndjson",
         "events for ui.perfetto.dev; a file for each table; one object per row (perfetto)"},
    [O_OUTPUT] = {"output", 'o', "OUT",
                  "file to write, or - for standard output; for the tables of csv a folder"},
    [O_FORCE] = CLI_FORCE,
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
    bool has_sm, force;
    sqlite3 *db;
    char **name; /* names of the tables */
    size_t names;
}
export;

static int sql_failed(const export *x)
{
    return cli_sql_failed(x->gpu, x->db, NULL);
}

/* ---- tables ---- */

/* Returns an SQLite result code. */
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

/* Reports that --table names no table. */
static int report_no_table(const export *x)
{
    char help[300], printable[200];
    sqlite3_stmt *s = NULL;
    int code = sqlite3_prepare_v2(x->db, "SELECT count(*) FROM query WHERE name = ?", -1, &s, NULL);
    if (code == SQLITE_OK) code = sqlite3_bind_text(s, 1, x->table, -1, SQLITE_STATIC);
    const bool query =
        code == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW && sqlite3_column_int(s, 0) > 0;
    if (sqlite3_finalize(s) != SQLITE_OK || code != SQLITE_OK) return sql_failed(x);
    if (query)
        snprintf(help, sizeof help, "it is a query: `ptxloom query %s %s --%s` prints its rows",
                 cli_printable(printable, sizeof printable, x->path), x->table,
                 x->format == CSV ? "csv" : "ndjson");
    pl_gpu_report(x->gpu, "E0005", x->table, "--table", "the name of a table or view of the trace",
                  query ? help : "`.tables` in `ptxloom shell FILE` lists them");
    return CLI_INPUT;
}

/* Prepares the statement for the rows of a table; named: with the name of the table. Tables without
 * a launch column are exported completely. */
static int prepare(const export *x, const char *table, bool named, sqlite3_stmt **s)
{
    bool found = false;
    *s = NULL;
    if (has_column(x->db, table, "kernel", &found) != SQLITE_OK) return sql_failed(x);
    const char *column = strcmp(table, "kernel") == 0 ? "id" : found ? "kernel" : NULL;
    char where[64] = "";
    if (column && x->launch)
        snprintf(where, sizeof where, " WHERE %s = %" PRIu64, column, x->launch);
    char *sql =
        named ? sqlite3_mprintf("SELECT %Q AS \"table\", * FROM \"%w\"%s", table, table, where)
              : sqlite3_mprintf("SELECT * FROM \"%w\"%s", table, where);
    if (!sql) return cli_no_memory();
    int code = sqlite3_prepare_v2(x->db, sql, -1, s, NULL);
    sqlite3_free(sql);
    if (code == SQLITE_ERROR && table == x->table) return report_no_table(x);
    return code == SQLITE_OK ? CLI_OK : sql_failed(x);
}

static query_format row_format(const export *x)
{
    return x->format == CSV ? QUERY_CSV : QUERY_NDJSON;
}

static int write_table(const export *x, const char *table, bool named, FILE *f)
{
    sqlite3_stmt *s;
    int status = prepare(x, table, named, &s);
    if (s && query_print(f, s, row_format(x), 0) != SQLITE_DONE) status = sql_failed(x);
    sqlite3_finalize(s);
    return status;
}

/* Returns the first line of a table's file, to be freed. NULL: *status gives the reason. */
static char *first_line_of(const export *x, const char *table, bool named, int *status)
{
    char *text = NULL;
    size_t n;
    sqlite3_stmt *s;
    *status = prepare(x, table, named, &s);
    FILE *f = s ? open_memstream(&text, &n) : NULL;
    if (f) query_head(f, s, row_format(x));
    const bool ok = f && !ferror(f);
    /* if memory is exhausted while a stream in memory is closed, it has no text and no error */
    if (s && (!f || fclose(f) != 0 || !ok || !text)) {
        *status = cli_no_memory();
        free(text);
        text = NULL;
    }
    sqlite3_finalize(s);
    return text;
}

/* Returns the file name of a table. A table may have any name: characters with a meaning in a path
 * or on a terminal are written as %XX. To be freed with sqlite3_free; NULL: out of memory. */
static char *file_name_of(const char *table)
{
    sqlite3_str *s = sqlite3_str_new(NULL);
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

static int read_names(export *x)
{
    sqlite3_stmt *s = NULL;
    int code = sqlite3_prepare_v2(
        x->db,
        /* packed_...: storage of inst and mem in --trace-format packed; inst and mem themselves are
         * listed */
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE "
        "'\\' AND name NOT LIKE 'packed\\_%' ESCAPE '\\' ORDER BY name",
        -1, &s, NULL);
    if (code != SQLITE_OK) return sql_failed(x);
    int status = CLI_OK;
    while (status == CLI_OK && (code = sqlite3_step(s)) == SQLITE_ROW) {
        const char *table = (const char *)sqlite3_column_text(s, 0);
        if (!table) continue;
        char **grown = realloc(x->name, (x->names + 1) * sizeof *grown), *copy = strdup(table);
        if (grown) x->name = grown;
        if (grown && copy)
            x->name[x->names++] = copy;
        else
            free(copy), status = cli_no_memory();
    }
    if (status == CLI_OK && code != SQLITE_DONE) status = sql_failed(x);
    sqlite3_finalize(s);
    return status;
}

/* Writes a table into the folder; check: only checks that it is possible. */
static int table_to_folder(const export *x, const char *table, bool check)
{
    int status;
    char *name = file_name_of(table),
         *path = name ? sqlite3_mprintf("%s/%s", x->output, name) : NULL,
         *head = first_line_of(x, table, false, &status);
    pl_output *o = NULL;
    if (!path) status = cli_no_memory();
    const pl_output_how how = {.kind = PL_OUTPUT_TABLE, .force = x->force, .begins = head};
    if (status == CLI_OK)
        status = cli_status(check ? pl_output_check(x->gpu, path, &how)
                                  : pl_output_open(x->gpu, path, &how, &o));
    if (o) {
        status = write_table(x, table, false, pl_output_stream(o));
        const pl_status st = pl_output_close(o, status == CLI_OK ? PL_OK : PL_INVALID);
        if (status == CLI_OK) status = cli_status(st);
    }
    free(head);
    sqlite3_free(path);
    sqlite3_free(name);
    return status;
}

/* ---- the folder of the tables ---- */

/* Determines whether it is one of the files to be written, or the remains of one after a kill. */
static int check_own_file(const export *x, const char *entry, bool *own)
{
    const size_t n = strlen(entry);
    *own = n > 5 && strcmp(entry + n - 5, ".part") == 0;
    for (size_t i = 0; i < x->names && !*own; i++) {
        char *name = file_name_of(x->name[i]);
        if (!name) return cli_no_memory();
        *own = strcmp(name, entry) == 0;
        sqlite3_free(name);
    }
    return CLI_OK;
}

/* Creates the folder; an existing one must contain nothing but tables. */
static int make_folder(const export *x)
{
    if (mkdir(x->output, 0777) == 0) return CLI_OK;
    DIR *d = errno == EEXIST ? opendir(x->output) : NULL;
    if (!d) {
        const int why = errno;
        if (why == ENOMEM) return cli_no_memory();
        pl_gpu_report(x->gpu, "E0002", x->output, strerror(why), NULL,
                      "several tables go into a folder; --table NAME writes one into a file");
        return why == ENOENT || why == ENOTDIR || why == EACCES ? CLI_INPUT : CLI_SYSTEM;
    }
    int status = CLI_OK;
    for (struct dirent *e; status == CLI_OK && !x->force && (e = readdir(d)) != NULL;) {
        bool own = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;
        if (!own) status = check_own_file(x, e->d_name, &own);
        if (status != CLI_OK || own) continue;
        pl_gpu_report(x->gpu, "E0016", x->output, e->d_name, NULL, NULL);
        status = CLI_INPUT;
    }
    closedir(d);
    return status;
}

static int write_folder(const export *x)
{
    int status = make_folder(x);
    for (int check = 1; check >= 0; check--)
        for (size_t i = 0; i < x->names && status == CLI_OK; i++)
            status = table_to_folder(x, x->name[i], check);
    return status;
}

/* ---- one file ---- */

static int write_rows(const export *x, FILE *f)
{
    if (x->format == PERFETTO)
        return perfetto_write(x->gpu, x->db, (int64_t)x->launch, x->has_sm ? (int64_t)x->sm : -1,
                              f);
    if (x->table) return write_table(x, x->table, false, f);
    int status = CLI_OK;
    for (size_t i = 0; i < x->names && status == CLI_OK; i++)
        status = write_table(x, x->name[i], true, f);
    return status;
}

/* Checks that the trace has the launch and the multiprocessor that the options select. */
static int check_selection(const export *x)
{
    static const char *const sql[] = {"SELECT 1 FROM kernel WHERE id = ?",
                                      "SELECT 1 FROM block WHERE sm = ? LIMIT 1"};
    const bool selected[] = {x->launch != 0, x->has_sm};
    const uint64_t value[] = {x->launch, x->sm};
    for (int k = 0; k < 2; k++) {
        sqlite3_stmt *s = NULL;
        char number[24];
        if (!selected[k]) continue;
        if (sqlite3_prepare_v2(x->db, sql[k], -1, &s, NULL) != SQLITE_OK) return sql_failed(x);
        sqlite3_bind_int64(s, 1, (int64_t)value[k]);
        const int code = sqlite3_step(s);
        if (sqlite3_finalize(s) != SQLITE_OK) return sql_failed(x);
        if (code == SQLITE_ROW) continue;
        snprintf(number, sizeof number, "%" PRIu64, value[k]);
        if (k == 0)
            pl_gpu_report(x->gpu, "E0707", x->path, number, NULL,
                          "`ptxloom query FILE launches` lists them");
        else
            pl_gpu_report(x->gpu, "E0005", number, "--sm",
                          "the trace has no block on this multiprocessor", NULL);
        return CLI_INPUT;
    }
    return CLI_OK;
}

static int write_all(export *x)
{
    int status = check_selection(x);
    if (status == CLI_OK) status = x->table || x->format == PERFETTO ? CLI_OK : read_names(x);
    if (status != CLI_OK) return status;
    if (x->format == CSV && !x->table) return write_folder(x);
    if (strcmp(x->output, "-") == 0) return write_rows(x, stdout);
    char *head = NULL;
    const char *first = x->table ? x->table : x->names ? x->name[0] : NULL;
    if (x->format != PERFETTO && first) head = first_line_of(x, first, !x->table, &status);
    const pl_output_how how = {.kind = x->format == PERFETTO ? PL_OUTPUT_PERFETTO : PL_OUTPUT_TABLE,
                               .force = x->force,
                               .begins = head ? head : ""};
    pl_output *o = NULL;
    if (status == CLI_OK) status = cli_status(pl_output_open(x->gpu, x->output, &how, &o));
    free(head);
    if (!o) return status;
    status = write_rows(x, pl_output_stream(o));
    const pl_status st = pl_output_close(o, status == CLI_OK ? PL_OK : PL_INVALID);
    return status == CLI_OK ? cli_status(st) : status;
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
        case O_FORCE: x->force = true; break;
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
        cli_make_interruptible(x.db);
        pl_gpu_stop_flag(x.gpu, &cli_stop);
        if (strcmp(x.output, "-") != 0 || !isatty(STDOUT_FILENO)) cli_busy("export");
        status = write_all(&x);
        cli_busy_end();
    }
    if (status == CLI_HELP) status = CLI_OK;
    for (size_t i = 0; i < x.names; i++) free(x.name[i]);
    free(x.name);
    sqlite3_close(x.db);
    cli_flush();
    cli_messages(x.gpu, 0);
    pl_gpu_close(x.gpu);
    return status;
}
