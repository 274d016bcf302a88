/* cmd_query.c - `ptxloom query`: runs SQL, or a named query, on a trace file.
 *
 * The file is opened read-only. Named queries are built into this program; the table `query` of the
 * file may contain more. SQL from the file is not trusted: it may only read. A name may also be a
 * table or view: `ptxloom query run.db gld_efficiency`. */
#include "cli/cli.h"
#include "cli/query.h"
#include "cli/stop.h"
#include "cli/terminal.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { O_CSV, O_JSON, O_NDJSON, O_LIST, O_ADVISE, O_TIMEOUT, O_COUNT };
static const cli_option option[O_COUNT] = {
    [O_CSV] = {"csv", 0, NULL, "print comma-separated values"},
    [O_JSON] = {"json", 0, NULL, "print an array of objects"},
    [O_NDJSON] = {"ndjson", 0, NULL, "print one object per line"},
    [O_LIST] = {"list", 0, NULL, "list the named queries of the trace"},
    [O_ADVISE] = {"advise", 0, NULL, "report performance bottlenecks, with evidence and remedies"},
    [O_TIMEOUT] = CLI_TIMEOUT,
};

static int report(query_request *q, const char *code, const char *a, const char *b,
                  const char *help)
{
    pl_gpu_report(q->gpu, code, a, b, NULL, help);
    return CLI_INPUT;
}

/* Returns the first column of the query's first row in *found, to be freed; NULL: no row, or no
 * text. False: the query failed, which has been reported in *status. */
static bool lookup(query_request *q, const char *sql, const char *name, char **found, int *status)
{
    sqlite3_stmt *s = NULL;
    bool no_memory = false;
    *found = NULL;
    if (sqlite3_prepare_v2(q->db, sql, -1, &s, NULL) == SQLITE_OK) {
        sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC);
        if (sqlite3_step(s) == SQLITE_ROW && sqlite3_column_type(s, 0) != SQLITE_NULL) {
            const char *text = (const char *)sqlite3_column_text(s, 0);
            *found = text ? sqlite3_mprintf("%s", text) : NULL;
            no_memory = !*found;
        }
    }
    const bool ok = s && sqlite3_finalize(s) == SQLITE_OK && !no_memory;
    if (!ok) *status = no_memory ? cli_no_memory() : cli_sql_failed(q->gpu, q->db, NULL);
    return ok;
}

/* Writes the nearest of the names that `sql` selects as the help of a message, else `otherwise`. */
static void suggest_name(query_request *q, const char *sql, const char *name, const char *otherwise,
                         char *help, size_t size)
{
    enum { MAX_NAMES = 1000 };
    char *names[MAX_NAMES], printable[200];
    size_t n = 0;
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(q->db, sql, -1, &s, NULL) == SQLITE_OK) {
        while (n < MAX_NAMES && sqlite3_step(s) == SQLITE_ROW) {
            const char *text = (const char *)sqlite3_column_text(s, 0);
            if (!text) continue;
            names[n] = strdup(text);
            if (!names[n]) break;
            n++;
        }
    }
    sqlite3_finalize(s);
    const char *nearest = pl_nearest(name, (const char *const *)names, n);
    if (nearest)
        snprintf(help, size, "did you mean '%s'?",
                 cli_printable(printable, sizeof printable, nearest));
    else
        snprintf(help, size, "%s", otherwise);
    for (size_t i = 0; i < n; i++) free(names[i]);
}

/* Reports an unknown name, with the most likely correction. */
static int report_unknown_name(query_request *q, const char *name)
{
    char help[256];
    suggest_name(q,
                 "SELECT name FROM query UNION ALL SELECT name FROM sqlite_schema WHERE "
                 "type IN ('table', 'view')",
                 name, "`ptxloom query FILE --list` lists the queries", help, sizeof help);
    report(q, "E0705", name, NULL, help);
    return CLI_INPUT;
}

/* Prints the line of sql that contains the byte `offset`, and a caret below it. */
static void show_position(const char *sql, int offset)
{
    int begin = offset, end = offset;
    while (begin > 0 && sql[begin - 1] != '\n') begin--;
    while (sql[end] && sql[end] != '\n') end++;
    fputs("    ", stderr);
    cli_print_lines(stderr, sql + begin, (size_t)(end - begin));
    fputs("\n    ", stderr);
    for (int i = begin; i < offset; i++)
        if ((sql[i] & 0xc0) != 0x80) putc(sql[i] == '\t' ? '\t' : ' ', stderr);
    fputs("^\n", stderr);
}

/* If the last statement failed since a table does not exist: reports that, with the nearest one. */
static bool report_unknown_table(query_request *q)
{
    static const char start[] = "no such table: ";
    char why[256], help[256];
    snprintf(why, sizeof why, "%s", sqlite3_errmsg(q->db));
    if (strncmp(why, start, sizeof start - 1) != 0) return false;
    suggest_name(q, "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')",
                 why + sizeof start - 1, "`ptxloom query FILE sqlite_schema` shows the tables",
                 help, sizeof help);
    report(q, "E0703", why, NULL, help);
    return true;
}

/* Reports why the statement at `sql` failed with `code`; `all` is the whole text that contains it.
 * The connection does not record memory failures of the printer. */
static int report_sql_error(query_request *q, const char *text, const char *sql, int code)
{
    int offset = -1;
    size_t first = pl_gpu_diag_count(q->gpu);
#if SQLITE_VERSION_NUMBER >= 3038000
    offset = sqlite3_error_offset(q->db);
#endif
    const char *help = text[strspn(text, " \t\n")] == '.'
                           ? "ptxloom shell F.db has commands that begin with a point"
                       : strcmp(q->what, "-") == 0 && !strpbrk(text, " ;")
                           ? "standard input is SQL; ptxloom query F.db NAME runs a named query"
                           : NULL;
    int status = code != SQLITE_NOMEM && report_unknown_table(q)
                     ? CLI_INPUT
                     : cli_sql_failed(q->gpu, code == SQLITE_NOMEM ? NULL : q->db, help);
    cli_messages(q->gpu, first);
    pl_gpu_diag_clear(q->gpu);
    if (offset >= 0) show_position(text, (int)(sql - text) + offset);
    return status;
}

static void bind_value(sqlite3_stmt *s, int at, const char *value)
{
    char *end;
    long long i = strtoll(value, &end, 0);
    if (*value && !*end) {
        sqlite3_bind_int64(s, at, i);
        return;
    }
    double d = strtod(value, &end);
    if (*value && !*end)
        sqlite3_bind_double(s, at, d);
    else
        sqlite3_bind_text(s, at, value, -1, SQLITE_STATIC);
}

static bool is_whole_number(const char *text)
{
    const size_t sign = *text == '-';
    return text[sign] && !text[sign + strspn(text + sign, "0123456789")];
}

/* Checks that limit is a number, and kernel the number of a launch. */
static int check_parameters(query_request *q)
{
    for (int k = 0; k < q->nparameters; k++) {
        char *found;
        int status;
        const char *value = q->parameter[k] + 6;
        if (strncmp(q->parameter[k], "limit=", 6) == 0 && !is_whole_number(value)) {
            pl_gpu_report(q->gpu, "E0005", value, "limit", "a whole number", NULL);
            return CLI_INPUT;
        }
        if (strncmp(q->parameter[k], "kernel=", 7) != 0) continue;
        if (!lookup(q, "SELECT 1 FROM kernel WHERE id = ? COLLATE NOCASE", q->parameter[k] + 7,
                    &found, &status))
            return status;
        sqlite3_free(found);
        if (found) continue;
        pl_gpu_report(q->gpu, "E0707", q->path, q->parameter[k] + 7, NULL,
                      "`ptxloom query FILE launches` lists them");
        return CLI_INPUT;
    }
    return CLI_OK;
}

/* Binds the statement's :names to the values of the command line; others stay NULL. */
static void bind_parameters(query_request *q, sqlite3_stmt *s)
{
    for (int at = 1; at <= sqlite3_bind_parameter_count(s); at++) {
        const char *name = sqlite3_bind_parameter_name(s, at);
        for (int k = 0; name && k < q->nparameters; k++) {
            size_t n = strcspn(q->parameter[k], "=");
            if (strlen(name + 1) != n || strncmp(name + 1, q->parameter[k], n) != 0) continue;
            bind_value(s, at, q->parameter[k] + n + 1);
            q->used[k] = true;
        }
    }
}

/* Reports a value of the command line that no statement of the text takes, before any runs. */
static int refuse_unused(query_request *q, const char *text)
{
    const char *tail;
    char names[200] = "";
    size_t length = 0;
    for (const char *sql = text; q->nparameters && *sql; sql = tail) {
        sqlite3_stmt *s = NULL;
        if (sqlite3_prepare_v2(q->db, sql, -1, &s, &tail) != SQLITE_OK) return CLI_OK;
        bind_parameters(q, s);
        for (int at = 1; s && at <= sqlite3_bind_parameter_count(s); at++) {
            const char *name = sqlite3_bind_parameter_name(s, at);
            if (!name || length + strlen(name) + 3 > sizeof names) continue;
            length += (size_t)sprintf(names + length, "%s%s", length ? ", " : "", name + 1);
        }
        sqlite3_finalize(s);
    }
    for (int k = 0; k < q->nparameters; k++) {
        char help[240] = "the query has no parameters";
        if (q->used[k]) continue;
        if (length) snprintf(help, sizeof help, "the parameters of the query are %s", names);
        return report(q, "E0706", q->parameter[k], NULL, help);
    }
    return CLI_OK;
}

enum { ADVICE_TEXTS = 5 };

/* Formats a row of advice; NULL: out of memory. */
static char *advice_text(sqlite3_stmt *s, int share, const int column[ADVICE_TEXTS])
{
    char *part[ADVICE_TEXTS];
    bool ok = true;
    for (int i = 0; i < ADVICE_TEXTS; i++) {
        const char *text = (const char *)sqlite3_column_text(s, column[i]);
        size_t size = text ? strlen(text) + 1 : 1;
        part[i] = sqlite3_malloc64(size);
        if (part[i])
            cli_printable(part[i], size, text ? text : "");
        else
            ok = false;
    }
    char *result =
        ok ? sqlite3_mprintf("  %s (%s)\n    %.1f %% of %s: %s\n    try: %s\n", part[0], part[1],
                             sqlite3_column_double(s, share), part[2], part[3], part[4])
           : NULL;
    for (int i = 0; i < ADVICE_TEXTS; i++) sqlite3_free(part[i]);
    return result;
}

/* Prints the findings of rules: a sentence, its share of the launch, the evidence and what to try.
 * The columns are those of the query advice. Returns SQLite's result code. */
static int print_advice(sqlite3_stmt *s, int width)
{
    enum { KERNEL, SHARE, RULE, PTX_LINE, ADVICE, EVIDENCE, CHECK, SHARE_OF };
    int code, findings = 0;
    sqlite3_int64 kernel = -1;
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        cli_busy_end();
        if (sqlite3_column_int64(s, KERNEL) != kernel) {
            kernel = sqlite3_column_int64(s, KERNEL);
            printf("%skernel %lld\n", findings ? "\n" : "", (long long)kernel);
        }
        char *text = advice_text(s, SHARE, (const int[]){ADVICE, RULE, SHARE_OF, EVIDENCE, CHECK});
        if (!text) return SQLITE_NOMEM;
        cli_put_wrapped(stdout, text, width, -1);
        sqlite3_free(text);
        findings++;
    }
    cli_busy_end();
    if (code == SQLITE_DONE && !findings) puts("no rule found anything");
    return code;
}

/* Parameters kernel and limit leave out nothing that a query's title promises; the others select
 * single rows. */
static bool is_selector(const char *parameter)
{
    return strncmp(parameter, "kernel=", 7) != 0 && strncmp(parameter, "limit=", 6) != 0;
}

static bool selects_rows(const query_request *q)
{
    for (int k = 0; k < q->nparameters; k++)
        if (is_selector(q->parameter[k])) return true;
    return false;
}

/* Runs every statement of the text. */
static int run_sql(query_request *q, const char *text)
{
    const char *sql = text, *tail;
    int printed = 0, unused = refuse_unused(q, text);
    q->rows = false;
    if (unused != CLI_OK) return unused;
    for (; *sql; sql = tail) {
        sqlite3_stmt *s = NULL;
        int code = sqlite3_prepare_v2(q->db, sql, -1, &s, &tail);
        if (code != SQLITE_OK) return report_sql_error(q, text, sql, code);
        if (!s) continue; /* blanks or a comment */
        if (!sqlite3_stmt_readonly(s)) {
            char words[40];
            while (isspace((unsigned char)*sql)) sql++;
            snprintf(words, sizeof words, "%.*s", (int)(tail - sql), sql);
            sqlite3_finalize(s);
            return report(q, "E0704", words, NULL,
                          "copy the file and use sqlite3 to change the copy");
        }
        bind_parameters(q, s);
        if (selects_rows(q)) {
            q->rows |= sqlite3_step(s) == SQLITE_ROW;
            sqlite3_reset(s);
        }
        if (sqlite3_column_count(s)) {
            if (printed++ && q->format == QUERY_TABLE) putchar('\n');
            if (q->format == QUERY_TABLE || !isatty(STDOUT_FILENO)) cli_busy("query");
            code = q->advise && q->format == QUERY_TABLE
                       ? print_advice(s, q->width)
                       : query_print(stdout, s, q->format, q->width);
            cli_busy_end();
        } else {
            code = sqlite3_step(s);
        }
        int status = code == SQLITE_DONE ? CLI_OK : report_sql_error(q, text, sql, code);
        sqlite3_finalize(s);
        if (status != CLI_OK) return status;
    }
    return CLI_OK;
}

static char *read_all(FILE *f)
{
    size_t n = 0, cap = 4096;
    char *text = malloc(cap);
    while (text) {
        n += fread(text + n, 1, cap - n - 1, f);
        if (feof(f) || ferror(f)) break;
        if (cap - n > 1) continue;
        char *grown = realloc(text, cap *= 2);
        if (!grown) free(text);
        text = grown;
    }
    if (text) text[n] = '\0';
    return text;
}

static bool is_name(const char *s)
{
    if (!isalpha((unsigned char)*s) && *s != '_') return false;
    for (; *s; s++)
        if (!isalnum((unsigned char)*s) && !strchr("_.-:", *s)) return false;
    return true;
}

/* Reports that no row fits the values of the command line. */
static void report_empty(query_request *q)
{
    char values[200] = "";
    size_t n = 0;
    for (int k = 0; k < q->nparameters; k++) {
        const char *at = q->parameter[k];
        if (!is_selector(at)) continue;
        char printable[80];
        cli_printable(printable, sizeof printable, at);
        if (n + strlen(printable) + 2 > sizeof values) break;
        n += (size_t)sprintf(values + n, "%s%s", n ? " " : "", printable);
    }
    if (n) pl_gpu_report(q->gpu, "W0715", q->what, values, NULL, NULL);
}

/* Reports that the named query requires a trace level that no run of the trace has, or the timing
 * model: its result would be empty. */
static int check_level(query_request *q)
{
    char *text;
    int status = CLI_OK;
    if (!lookup(q,
                "SELECT 1 FROM query WHERE name = ? AND instr(title, 'timing mode') AND NOT EXISTS "
                "(SELECT 1 FROM kernel WHERE mode = 'timing') AND EXISTS (SELECT 1 FROM kernel)",
                q->what, &text, &status))
        return status;
    if (text) pl_gpu_report(q->gpu, "W0714", q->what, NULL, NULL, NULL);
    sqlite3_free(text);
    if (!lookup(q,
                "SELECT iif(instr(title, 'needs --trace-level mem'), 'mem', 'inst') || ' ' || "
                "(SELECT max(level) FROM run) FROM query "
                "WHERE name = ? AND (instr(title, 'needs --trace-level mem') AND NOT EXISTS "
                "(SELECT 1 FROM run WHERE level = 'mem') "
                "OR instr(title, 'needs --trace-level inst') AND NOT EXISTS (SELECT 1 FROM run "
                "WHERE level <> 'summary'))",
                q->what, &text, &status))
        return status;
    if (!text) return CLI_OK;
    char *level = strchr(text, ' ');
    *level = '\0';
    pl_gpu_report(q->gpu, "W0710", q->what, text, level + 1, NULL);
    sqlite3_free(text);
    return CLI_OK;
}

/* Authorizer for SQL of the file. */
static int only_reads(void *ctx, int action, const char *a, const char *b, const char *schema,
                      const char *view)
{
    (void)ctx, (void)a, (void)b, (void)schema, (void)view;
    return action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_FUNCTION ||
                   action == SQLITE_RECURSIVE
               ? SQLITE_OK
               : SQLITE_DENY;
}

int query_run(query_request *q)
{
    if (strcmp(q->what, "-") == 0) {
        char *sql = read_all(stdin);
        const int why = ferror(stdin) ? errno : 0;
        if (why) pl_gpu_report(q->gpu, "E0001", "standard input", strerror(why), NULL, NULL);
        int status = sql && !why ? run_sql(q, sql) : CLI_SYSTEM;
        free(sql);
        return status;
    }
    int status = check_parameters(q);
    if (status != CLI_OK) return status;
    if (!is_name(q->what)) return run_sql(q, q->what);
    const char *builtin = pl_trace_query(q->what);
    char *sql = builtin ? sqlite3_mprintf("%s", builtin) : NULL, *name;
    if (!builtin && !lookup(q, "SELECT sql FROM query WHERE name = ?", q->what, &sql, &status))
        return status;
    const bool from_file = sql && !builtin;
    if (!sql && !builtin) {
        if (!lookup(q,
                    "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name = ? "
                    "COLLATE NOCASE",
                    q->what, &name, &status))
            return status;
        if (!name) return report_unknown_name(q, q->what);
        sql = sqlite3_mprintf("SELECT * FROM \"%w\" LIMIT coalesce(:limit, -1)", name);
        sqlite3_free(name);
    }
    if (from_file) sqlite3_set_authorizer(q->db, only_reads, NULL);
    status = sql ? run_sql(q, sql) : CLI_SYSTEM;
    sqlite3_set_authorizer(q->db, NULL, NULL);
    const size_t before = pl_gpu_diag_count(q->gpu);
    if (status == CLI_OK) status = check_level(q);
    if (status == CLI_OK && selects_rows(q) && !q->rows && pl_gpu_diag_count(q->gpu) == before)
        report_empty(q);
    sqlite3_free(sql);
    return status;
}

/* Operands: FILE [SQL | NAME | -] [NAME=VALUE ...]. False after a report. */
static bool read_operand(query_request *q, const char *word)
{
    if (!q->path)
        q->path = word;
    else if (!q->what)
        q->what = word;
    else if (isalpha((unsigned char)word[0]) && strchr(word, '='))
        q->parameter[q->nparameters++] = (char *)word;
    else {
        report(q, "E0005", word, "a query's parameter",
               "write NAME=VALUE, and SQL as one quoted word");
        return false;
    }
    return true;
}

static int parse(query_request *q, cli_args *a)
{
    static const char usage[] =
        "ptxloom query F.db [\"SELECT ...\" | NAME | -] [NAME=VALUE ...]\n"
        "NAME: a query of the trace (--list), a table or a view. -: SQL from standard input. "
        "NAME=VALUE: values for\n"
        "the :parameters of the query, such as kernel=2 limit=50. Without a query: summary.\n";
    int k;
    while ((k = cli_next(a, option, O_COUNT)) != CLI_END) {
        switch (k) {
        case O_CSV: q->format = QUERY_CSV; break;
        case O_JSON: q->format = QUERY_JSON; break;
        case O_NDJSON: q->format = QUERY_NDJSON; break;
        case O_ADVISE:
            q->what = "advice";
            q->advise = true;
            break;
        case O_TIMEOUT:
            if (!cli_timeout(a)) return CLI_INPUT;
            break;
        case O_LIST: q->what = "SELECT name, title FROM query ORDER BY name"; break;
        case CLI_HELP:
            cli_help(usage, option, O_COUNT);
            q->path = NULL;
            return CLI_OK;
        case CLI_OPERAND:
            if (!read_operand(q, a->value)) return CLI_INPUT;
            break;
        default: return CLI_INPUT;
        }
    }
    if (!q->path) {
        pl_gpu_report(q->gpu, "E0007", "query", "a trace", NULL, "ptxloom query run.db --list");
        return CLI_INPUT;
    }
    if (!q->what) q->what = "summary";
    return CLI_OK;
}

int cmd_query(int argc, char **argv)
{
    query_request q = {.format = QUERY_TABLE, .width = cli_width(stdout)};
    if (pl_gpu_open(&q.gpu, NULL) != PL_OK) return CLI_SYSTEM;
    cli_args a = {.gpu = q.gpu, .argc = argc, .argv = argv, .at = 1};
    q.parameter = calloc((size_t)argc + 1, sizeof *q.parameter);
    q.used = calloc((size_t)argc + 1, sizeof *q.used);
    int status = q.parameter && q.used ? parse(&q, &a) : CLI_SYSTEM;
    if (status == CLI_OK && q.path) status = cli_status(pl_trace_connect(q.gpu, q.path, &q.db));
    if (status == CLI_OK && q.path) {
        cli_make_interruptible(q.db);
        status = query_run(&q);
    }
    sqlite3_close(q.db);
    free(q.parameter);
    free(q.used);
    cli_flush();
    cli_messages(q.gpu, 0);
    pl_gpu_close(q.gpu);
    return status;
}
