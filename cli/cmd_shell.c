/* cmd_shell.c - `ptxloom shell`: a prompt that accepts SQL, names of queries, tables and metrics,
 * and commands that begin with a dot.
 *
 * With libedit, lines can be edited and recalled, and Tab completes words. Without it, or if the
 * input is not a terminal, lines are read unedited, so that a script can be piped in. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "cli/query.h"
#include "cli/stop.h"
#include "cli/terminal.h"
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef PL_HAVE_LIBEDIT
#include <editline/readline.h>
#endif

static const char *const command_word[] = {".explain", ".help", ".metrics", ".mode",
                                           ".queries", ".quit", ".schema",  ".tables"};
enum { COMMANDS = sizeof command_word / sizeof *command_word };

static const char help_text[] =
    "SELECT ...;           any SQL, over several lines if need be; a semicolon ends it\n"
    "NAME [X=VALUE ...]    a named query, a table, a view or a metric: summary, hot_lines limit=5\n"
    ".tables               tables and the more important views\n"
    ".schema [NAME]        the definition of a table or view\n"
    ".queries [WORD]       named queries, those about WORD\n"
    ".metrics [WORD]       metrics with their meaning, those about WORD\n"
    ".explain TOPIC        an instruction (add.f32), a metric, a machine key (l1.latency), a "
    "message\n"
    ".mode table|csv|json|ndjson    how rows are printed\n"
    ".quit                 or end of file (Ctrl-D)\n";

typedef struct shell {
    query_request q;
    bool terminal, quit;
    int error;   /* system error while reading lines, or 0 */
    int status;  /* of the worst statement; exit status of a piped script */
    char **word; /* names for Tab completion, sorted; owned */
    size_t nwords;
} shell;

/* ---- reading lines ---- */

#ifdef PL_HAVE_LIBEDIT
/* libedit's completion function has no context argument; this is the shell whose prompt is open. */
static const shell *prompting;

static char *next_match(const char *prefix, int again)
{
    static size_t next;
    size_t n = strlen(prefix);
    if (!again) next = 0;
    while (next < prompting->nwords) {
        const char *w = prompting->word[next++];
        if (strncmp(w, prefix, n) == 0) return strdup(w);
    }
    return NULL;
}

static char **complete_word(const char *prefix, int start, int end)
{
    (void)start;
    (void)end;
    rl_attempted_completion_over = 1; /* no file names */
    return rl_completion_matches(prefix, next_match);
}
#endif

/* *error: a system error; 0: end of input. */
static char *read_plain(const char *prompt, bool terminal, int *error)
{
    char *line = NULL;
    size_t cap = 0;
    if (terminal) {
        fputs(prompt, stdout);
        cli_flush();
    }
    ssize_t n = getline(&line, &cap, stdin);
    if (n < 0) {
        if (!feof(stdin)) *error = ferror(stdin) ? errno : ENOMEM;
        free(line);
        return NULL;
    }
    line[strcspn(line, "\n")] = '\0';
    return line;
}

/* Returns the next line, to be freed; NULL: end of input. */
static char *read_line(shell *s, const char *prompt)
{
#ifdef PL_HAVE_LIBEDIT
    if (s->terminal) {
        prompting = s;
        char *line = readline(prompt);
        prompting = NULL;
        if (line && *line) add_history(line);
        return line;
    }
#endif
    return read_plain(prompt, s->terminal, &s->error);
}

/* ---- completion ---- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* True if a name may be completed: libedit prints it unchanged. */
static bool is_plain(const char *word)
{
    char as = 0;
    size_t n = word ? strlen(word) : 0, length;
    for (size_t i = 0; i < n && !as; i += length) length = pl_printable(word + i, n - i, &as);
    return word && !as;
}

static bool read_words(shell *s)
{
    static const char sql[] = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') "
                              "UNION SELECT name FROM query UNION "
                              "SELECT value FROM json_each(?) UNION SELECT c.name FROM "
                              "sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table'";
    static const char keywords[] = "[\"SELECT\",\"FROM\",\"WHERE\",\"GROUP BY\",\"ORDER "
                                   "BY\",\"LIMIT\",\"JOIN\",\"USING\",\"DISTINCT\",\"WITH\"]";
    sqlite3_stmt *t = NULL;
    size_t cap = COMMANDS + 1024;
    s->word = calloc(cap, sizeof *s->word);
    bool ok = s->word && sqlite3_prepare_v2(s->q.db, sql, -1, &t, NULL) == SQLITE_OK;
    for (size_t i = 0; ok && i < COMMANDS; i++)
        ok = (s->word[s->nwords++] = strdup(command_word[i])) != NULL;
    if (ok) sqlite3_bind_text(t, 1, keywords, -1, SQLITE_STATIC);
    while (ok && s->nwords < cap && sqlite3_step(t) == SQLITE_ROW) {
        const char *word = (const char *)sqlite3_column_text(t, 0);
        if (is_plain(word)) ok = (s->word[s->nwords++] = strdup(word)) != NULL;
    }
    sqlite3_finalize(t);
    if (ok) qsort(s->word, s->nwords, sizeof *s->word, by_text);
    return ok;
}

/* ---- results ---- */

static void report_messages(shell *s, int status)
{
    cli_flush();
    cli_messages(s->q.gpu, 0);
    pl_gpu_diag_clear(s->q.gpu);
    s->status = cli_worse(s->status, status);
}

/* Runs SQL with one parameter :word, a pattern or NULL. */
static void print_sql(shell *s, const char *sql, const char *word)
{
    const bool filtered = word && *word;
    char *pattern = filtered ? sqlite3_mprintf("%%%s%%", word) : NULL;
    sqlite3_stmt *t = NULL;
    int code = filtered && !pattern ? SQLITE_NOMEM : sqlite3_prepare_v2(s->q.db, sql, -1, &t, NULL);
    if (code == SQLITE_OK) {
        sqlite3_bind_text(t, 1, pattern, -1, SQLITE_STATIC);
        code = query_print(stdout, t, s->q.format, cli_width(stdout));
    }
    if (code != SQLITE_DONE)
        report_messages(s, code == SQLITE_NOMEM ? cli_no_memory()
                                                : cli_sql_failed(s->q.gpu, s->q.db, NULL));
    sqlite3_finalize(t);
    sqlite3_free(pattern);
}

static void schema_of(shell *s, const char *name)
{
    sqlite3_stmt *t = NULL;
    int found = 0,
        code =
            sqlite3_prepare_v2(s->q.db,
                               "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND (name = ?1 "
                               "COLLATE NOCASE OR (?1 = '' AND type = 'table')) "
                               "ORDER BY name",
                               -1, &t, NULL);
    if (code == SQLITE_OK) {
        sqlite3_bind_text(t, 1, name, -1, SQLITE_STATIC);
        for (; (code = sqlite3_step(t)) == SQLITE_ROW; found++) {
            const char *text = (const char *)sqlite3_column_text(t, 0);
            if (!text) continue;
            cli_print_lines(stdout, text, strlen(text));
            puts(";");
        }
    }
    if (code != SQLITE_DONE) report_messages(s, cli_sql_failed(s->q.gpu, s->q.db, NULL));
    sqlite3_finalize(t);
    if (found || code != SQLITE_DONE) return;
    pl_gpu_report(s->q.gpu, "E0705", name, NULL, NULL, "`.tables` and `.queries` list the names");
    report_messages(s, CLI_INPUT);
}

static void set_mode(shell *s, const char *word)
{
    static const char *const mode[] = {"table", "csv", "json", "ndjson"};
    for (int i = 0; i < 4; i++) {
        if (strcmp(word, mode[i]) != 0) continue;
        s->q.format = (query_format)i;
        return;
    }
    pl_gpu_report(s->q.gpu, "E0005", word, ".mode", "it is table, csv, json or ndjson", NULL);
    report_messages(s, CLI_INPUT);
}

static void explain(shell *s, const char *topic)
{
    const char *text = pl_explain(s->q.gpu, topic);
    if (text) fputs(text, stdout);
    report_messages(s, text ? CLI_OK : CLI_INPUT);
}

static void dot_command(shell *s, char *line)
{
    char *argument = line + strcspn(line, " \t");
    if (*argument) *argument++ = '\0';
    while (isspace((unsigned char)*argument)) argument++;
    if (strcmp(line, ".quit") == 0 || strcmp(line, ".exit") == 0)
        s->quit = true;
    else if (strcmp(line, ".help") == 0)
        cli_put_wrapped(stdout, help_text, cli_width(stdout), 4);
    else if (strcmp(line, ".tables") == 0)
        print_sql(s,
                  "SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view') AND name "
                  "NOT LIKE 'sqlite_%' AND "
                  "name NOT IN (SELECT name FROM metric_info) AND (?1 IS NULL OR name LIKE ?1) "
                  "ORDER BY type, name",
                  argument);
    else if (strcmp(line, ".queries") == 0)
        print_sql(s,
                  "SELECT name, title FROM query WHERE ?1 IS NULL OR name LIKE ?1 OR title LIKE ?1 "
                  "ORDER BY name",
                  argument);
    else if (strcmp(line, ".metrics") == 0)
        print_sql(s,
                  "SELECT name, unit, meaning FROM metric_info WHERE ?1 IS NULL OR name LIKE ?1 OR "
                  "meaning LIKE ?1 ORDER BY name",
                  argument);
    else if (strcmp(line, ".schema") == 0)
        schema_of(s, argument);
    else if (strcmp(line, ".mode") == 0)
        set_mode(s, argument);
    else if (strcmp(line, ".explain") == 0)
        explain(s, argument);
    else {
        const char *near = pl_nearest(line, command_word, COMMANDS);
        char text[80];
        snprintf(text, sizeof text, near ? "did you mean '%s'?" : "`.help` lists the commands",
                 near);
        pl_gpu_report(s->q.gpu, "E0006", line, NULL, NULL, text);
        report_messages(s, CLI_INPUT);
    }
}

static void run_query(shell *s, const char *text, char **parameter, int n)
{
    bool used[16] = {false};
    s->q.what = text;
    s->q.parameter = parameter;
    s->q.nparameters = n;
    s->q.used = used;
    cli_stop = CLI_CONTINUE;
    cli_make_interruptible(s->q.db); /* ^C ends a query; at the prompt it ends the shell */
    report_messages(s, query_run(&s->q));
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
}

/* Handles "NAME X=VALUE ..."; true if the line is such a request. */
static bool run_named(shell *s, char *line)
{
    char *word[17];
    int n = 0;
    if (strpbrk(line, ";()*'\"") || !(isalpha((unsigned char)*line) || *line == '_')) return false;
    char *copy = strdup(line), *next_word = copy;
    if (!copy) {
        report_messages(s, cli_no_memory());
        return true;
    }
    while (n < 17 && (word[n] = strtok_r(next_word, " \t", &next_word)) != NULL) n++;
    bool ok = n > 0 && n < 17;
    for (int i = 1; ok && i < n; i++) ok = strchr(word[i], '=') != NULL;
    static const char *const sql_words[] = {"select", "with", "explain", "values", "pragma"};
    for (size_t i = 0; ok && i < sizeof sql_words / sizeof *sql_words; i++)
        ok = sqlite3_stricmp(word[0], sql_words[i]) != 0;
    if (ok) run_query(s, word[0], word + 1, n - 1);
    free(copy);
    return ok;
}

/* Appends a line to the statement; NULL: out of memory. */
static char *append_line(char *statement, const char *line)
{
    size_t n = statement ? strlen(statement) : 0, m = strlen(line);
    char *grown = realloc(statement, n + m + 2);
    if (!grown) {
        free(statement);
        return NULL;
    }
    memcpy(grown + n, line, m);
    grown[n + m] = '\n';
    grown[n + m + 1] = '\0';
    return grown;
}

static void run(shell *s)
{
    char *statement = NULL, *line;
    while (!s->quit && (line = read_line(s, statement ? "    ...> " : "ptxloom> ")) != NULL) {
        char *text = line;
        while (isspace((unsigned char)*text)) text++;
        size_t n = strlen(text);
        while (n && isspace((unsigned char)text[n - 1])) text[--n] = '\0';
        if (!statement && *text == '.') {
            dot_command(s, text);
        } else if (!statement && (*text == '\0' || run_named(s, text))) {
            /* empty, or handled */
        } else {
            statement = append_line(statement, text);
            if (!statement || sqlite3_complete(statement)) {
                if (statement)
                    run_query(s, statement, NULL, 0);
                else
                    report_messages(s, cli_no_memory());
                free(statement);
                statement = NULL;
            }
        }
        free(line);
    }
    if (s->error) {
        pl_gpu_report(s->q.gpu, "E0001", "standard input", strerror(s->error), NULL, NULL);
        report_messages(s, CLI_SYSTEM);
    } else if (statement)
        run_query(s, statement, NULL, 0);
    free(statement);
    if (s->terminal && !s->quit) putchar('\n');
}

int cmd_shell(int argc, char **argv)
{
    static const char usage[] = "ptxloom shell F.db\n";
    shell s = {.q = {.format = QUERY_TABLE, .width = cli_width(stdout)},
               .terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)};
    if (pl_gpu_open(&s.q.gpu, NULL) != PL_OK) return CLI_SYSTEM;
    cli_args a = {.gpu = s.q.gpu, .argc = argc, .argv = argv, .at = 1};
    int k, status = CLI_OK;
    while (status == CLI_OK && (k = cli_next(&a, NULL, 0)) != CLI_END) {
        if (k == CLI_HELP) {
            cli_help(usage, NULL, 0);
            cli_put_wrapped(stdout, help_text, cli_width(stdout), 4);
            pl_gpu_close(s.q.gpu);
            return CLI_OK;
        }
        if (k == CLI_OPERAND && !s.q.path)
            s.q.path = a.value;
        else
            status = CLI_INPUT;
        if (k == CLI_OPERAND && status != CLI_OK)
            pl_gpu_report(s.q.gpu, "E0010", a.value, s.q.path, NULL, "one trace at a time");
    }
    if (status == CLI_OK && !s.q.path) {
        pl_gpu_report(s.q.gpu, "E0007", "shell", "a trace", NULL, "ptxloom shell run.db");
        status = CLI_INPUT;
    }
    if (status == CLI_OK) status = cli_status(pl_trace_connect(s.q.gpu, s.q.path, &s.q.db));
    if (status == CLI_OK && !read_words(&s)) status = CLI_SYSTEM;
    if (status == CLI_OK) {
#ifdef PL_HAVE_LIBEDIT
        rl_readline_name = "ptxloom";
        rl_attempted_completion_function = complete_word;
        rl_basic_word_break_characters = " \t\n\"'`@$><=;|&{(,";
#endif
        if (s.terminal)
            printf("%s - SQL ends with a semicolon; .help lists what else there is\n", s.q.path);
        run(&s);
        status = s.terminal ? CLI_OK : s.status;
    }
    for (size_t i = 0; i < s.nwords; i++) free(s.word[i]);
    free(s.word);
    sqlite3_close(s.q.db);
    cli_flush();
    cli_messages(s.q.gpu, 0);
    pl_gpu_close(s.q.gpu);
    return status;
}
