/* hostile_traces.c - malicious trace files: each is rejected, or displayed safely.
 *
 * Every row of the table below modifies a trace with SQL and passes it to a command. The command
 * must end with the given status, and its output must contain or not contain the given text. */
#include "tests/harness.h"
#include "traces/vtab.h"
#include <dirent.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Replaces a table by a view; the table keeps another name. SQLite trusts the contents of its
 * schema table. */
#define REPLACE(table, query)                                                                      \
    "UPDATE sqlite_schema SET name = 'real', tbl_name = 'real', sql = replace(sql, '" table        \
    "', 'real') WHERE name = '" table                                                              \
    "'; INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES ('view', '" table   \
    "', '" table "', 0, 'CREATE VIEW " table " AS " query "')"
#define ENDLESS                                                                                    \
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
#define ESCAPES "char(27) || '[2Jx' || char(7) || char(155) || char(8238) || CAST(x'ff' AS TEXT)"

static const struct {
    const char *name, *sql; /* sql: modification of the trace */
    bool packed;
    const char *command[6]; /* after the trace's name; the first word is the command */
    int status;
    const char *says, *not ; /* NULL: any output */
} hostile[] = {
    {"recursive view as the directory of packed events",
     "UPDATE sqlite_schema SET type = 'view', rootpage = 0, sql = 'CREATE VIEW packed_block AS "
     "SELECT id, 0 stream, kernel, sm, 1 rows, "
     "id first_id, id last_id, id first_inst, id last_inst, cycle first_cycle, cycle last_cycle, "
     "block first_block, block last_block, "
     "warp first_warp, warp last_warp, pc first_pc, pc last_pc FROM inst' WHERE name = "
     "'packed_block'",
     true,
     {"query", "SELECT count(*) AS n FROM inst"},
     2,
     "no table packed_block",
     NULL},
    {"recursive view as packed data",
     REPLACE("packed_data", "SELECT id, (SELECT hex(max(pc)) FROM inst) AS data FROM real"),
     true,
     {"query", "SELECT sum(pc) AS n FROM inst"},
     2,
     "no table packed_data",
     NULL},
    {"view declared as a table",
     "INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES ('table', 'x', 'x', "
     "0, 'CREATE VIEW x AS SELECT 1 AS one')",
     false,
     {"query", "SELECT * FROM x"},
     2,
     "malformed",
     NULL},
    {"views of the file are not executed",
     "CREATE VIEW x AS SELECT 1 AS one",
     false,
     {"query", "x"},
     2,
     "prohibited",
     NULL},
    {"ptxloom's own views still work",
     "CREATE VIEW x AS SELECT 1",
     false,
     {"query", "SELECT value AS n FROM inst_executed", "--csv"},
     0,
     "n\n",
     NULL},
    {"modified view of ptxloom is replaced",
     "DROP VIEW listing; CREATE VIEW listing AS " ENDLESS,
     false,
     {"query", "SELECT count(*) > 5 AS good FROM listing", "--csv"},
     0,
     "good\n1\n",
     NULL},
    {"view in place of a table",
     REPLACE("event", "SELECT * FROM real"),
     false,
     {"query", "events"},
     2,
     "prohibited",
     NULL},
    {"mutually recursive views",
     "INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES ('view', 'va', 'va', "
     "0, 'CREATE VIEW va AS SELECT * FROM "
     "vb'), ('view', 'vb', 'vb', 0, 'CREATE VIEW vb AS SELECT * FROM va')",
     false,
     {"query", "va"},
     2,
     "SQL:",
     NULL},
    {"virtual table of another SQLite module",
     "CREATE VIRTUAL TABLE f USING fts5 (a)",
     false,
     {"query", "f"},
     2,
     "no such module",
     NULL},
    {"named query without a name",
     "DROP TABLE query; CREATE TABLE query (name, title, sql); INSERT INTO query VALUES (NULL, "
     "NULL, NULL), "
     "('x', 'y', NULL)",
     false,
     {"query", "nothing"},
     2,
     "E0705",
     NULL},
    {"trace without a level",
     "PRAGMA ignore_check_constraints = 1; DROP TABLE run; CREATE TABLE run (level)",
     false,
     {"query", "strides"},
     0,
     NULL,
     NULL},
    {"built-in named query overrides that of the file",
     "UPDATE query SET sql = '" ENDLESS "' WHERE name = 'launches'",
     false,
     {"query", "launches"},
     0,
     "saxpy",
     NULL},
    {"query of the file cannot open another file",
     "INSERT INTO query VALUES ('mine', '', 'ATTACH ''b.db'' AS b; SELECT 1 AS opened')",
     false,
     {"query", "mine"},
     2,
     "not authorized",
     "opened"},
    {"query of the file cannot change a setting",
     "INSERT INTO query VALUES ('mine', '', 'PRAGMA trusted_schema = 1; SELECT 1 AS changed')",
     false,
     {"query", "mine"},
     2,
     "not authorized",
     "changed"},
    {"query of the file can read",
     "INSERT INTO query VALUES ('mine', '', 'SELECT count(*) AS n FROM kernel')",
     false,
     {"query", "mine", "--csv"},
     0,
     "n\n1\n",
     NULL},
    {"text of a gigabyte",
     "INSERT INTO query VALUES ('mine', '', 'SELECT zeroblob(900000000) AS a')",
     false,
     {"query", "mine"},
     2,
     "too big",
     NULL},
    {"version newer than supported",
     "PRAGMA user_version = 1000",
     false,
     {"query", "launches"},
     2,
     "E0702",
     NULL},
    {"negative version",
     "PRAGMA user_version = -1",
     false,
     {"query", "launches"},
     2,
     "E0702",
     NULL},
    {"older version without its tables",
     "PRAGMA user_version = 1; DROP TABLE query; DROP TABLE rule",
     false,
     {"query", "launches"},
     0,
     "saxpy",
     NULL},
    {"write-ahead logging",
     "PRAGMA journal_mode = WAL",
     false,
     {"query", "launches"},
     0,
     "saxpy",
     NULL},
    {"terminal escapes in cells",
     "UPDATE kernel SET name = " ESCAPES,
     false,
     {"query", "SELECT name, 1 AS b FROM kernel"},
     0,
     "?[2Jx????  1",
     "\033"},
    {"terminal escapes in CSV",
     "UPDATE kernel SET name = " ESCAPES,
     false,
     {"query", "SELECT name FROM kernel", "--csv"},
     0,
     "?[2Jx????",
     "\033"},
    {"in JSON",
     "UPDATE kernel SET name = " ESCAPES,
     false,
     {"query", "SELECT name FROM kernel", "--json"},
     0,
     "\"\\u001b[2Jx\\u0007\\u009b\\u202e\\ufffd\"",
     "\033"},
    {"in advice",
     "UPDATE source_line SET text = " ESCAPES " || text; UPDATE instruction SET text = " ESCAPES
     " || text",
     false,
     {"query", "--advise"},
     0,
     "kernel 1",
     "\033"},
    {"in comparisons",
     "UPDATE kernel SET name = " ESCAPES ", entry = 'e'; UPDATE source_line SET text = " ESCAPES
     " || text",
     false,
     {"diff", "b.db"},
     0,
     "?[2Jx",
     "\033"},
    {"in messages",
     "INSERT INTO query VALUES ('mine', '', 'SELECT ' || " ESCAPES ")",
     false,
     {"query", "mine"},
     2,
     "SQL:",
     "\033"},
    {"terminal escapes in suggested names",
     "INSERT INTO query VALUES (" ESCAPES " || 'tables', '', '')",
     false,
     {"query", "tables"},
     2,
     "E0705",
     "\033"},
    {"table name that is a path",
     "CREATE TABLE \"../../x/../escaped\" (a, b); INSERT INTO \"../../x/../escaped\" VALUES (1, 2)",
     false,
     {"export", "-f", "csv", "-o", "out/tables"},
     0,
     NULL,
     NULL},
    {"extreme numbers",
     "UPDATE kernel SET cycles = 9223372036854775807, blocks = 9223372036854775807; UPDATE inst "
     "SET cycle = -cycle - "
     "9223372036854775807, block = 9223372036854775807",
     false,
     {"export", "-o", "p.json"},
     0,
     NULL,
     NULL},
    {"SM number near 2^32",
     "UPDATE block SET sm = 4000000000",
     false,
     {"report", "-o", "r.html"},
     2,
     "E0711",
     NULL},
    {"negative number of a launch in the baseline",
     "UPDATE kernel SET id = -5",
     false,
     {"report", "-o", "r.html", "--baseline", "x.db"},
     0,
     NULL,
     "memory"},
    {"warp number near 2^32",
     "UPDATE warp SET warp = warp + 4000000000",
     false,
     {"report", "-o", "r.html"},
     2,
     "is damaged",
     NULL},
    {"negative cycles",
     "UPDATE kernel SET cycles = -1; UPDATE warp SET first_cycle = -5, last_cycle = -1; UPDATE "
     "inst SET stall_cycles = "
     "9223372036854775807",
     false,
     {"report", "-o", "r.html"},
     0,
     NULL,
     NULL},
    {"maximum instruction number",
     "UPDATE instruction SET pc = 4294967295 WHERE pc = 1",
     false,
     {"report", "-o", "r.html"},
     0,
     NULL,
     NULL},
    {"stride that overflows",
     "UPDATE mem SET stride = 9223372036854775807, first_lane = -9223372036854775807, mask = -1",
     false,
     {"report", "-o", "r.html"},
     0,
     NULL,
     NULL},
    {"invalid offsets",
     "UPDATE mem SET stride = NULL, mask = -1, offsets = '[' || printf('%.*c', 100000, '[')",
     false,
     {"report", "-o", "r.html"},
     0,
     NULL,
     NULL},
    {"directory with excessive counts",
     "UPDATE packed_block SET rows = 9000000000000000000, last_id = 9223372036854775807, first_id "
     "= "
     "-9223372036854775807",
     true,
     {"report", "-o", "r.html"},
     0,
     NULL,
     NULL},
    {"packed data of the wrong table",
     "UPDATE packed_block SET stream = 1 - stream",
     true,
     {"query", "SELECT sum(latency) AS n FROM mem"},
     2,
     "damaged",
     NULL},
};
enum { CASES = sizeof hostile / sizeof *hostile };

static void change(const char *from, const char *to, const char *sql)
{
    const char *const copy[] = {"cp", from, to, NULL};
    run_result r = run_command(copy, 60);
    run_free(&r);
    sqlite3 *db;
    char *why = NULL;
    int code = sqlite3_open(to, &db);
    if (code == SQLITE_OK) code = pl_tracedb_register(db);
    if (code == SQLITE_OK) code = sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_exec(db, "PRAGMA writable_schema = 1; PRAGMA foreign_keys = 0", NULL, NULL,
                            NULL);
    if (code == SQLITE_OK) code = sqlite3_exec(db, sql, NULL, NULL, &why);
    if (code != SQLITE_OK) {
        printf("Bail out! %s: %s\n", sql, why ? why : sqlite3_errmsg(db));
        exit(EXIT_FAILURE);
    }
    sqlite3_close(db);
}

static run_result loom(const char *const words[])
{
    const char *argv[16] = {loom_path()};
    for (int i = 0; words[i]; i++) argv[i + 1] = words[i];
    return run_command(argv, 60);
}

static void record(const char *trace, const char *format)
{
    char *kernel = data_path("../../examples/saxpy.ptx");
    const char *const words[] = {"run",
                                 kernel,
                                 "-g",
                                 "2",
                                 "-b",
                                 "64",
                                 "u32:128",
                                 "f32:2",
                                 "f32[128]=iota",
                                 "f32[128]=1",
                                 "--trace",
                                 trace,
                                 "--trace-level=mem",
                                 format,
                                 NULL};
    run_result r = loom(words);
    if (r.status != 0) {
        printf("Bail out! %s\n", r.err);
        exit(EXIT_FAILURE);
    }
    run_free(&r);
    free(kernel);
}

static void check(int i)
{
    const char *words[10] = {hostile[i].command[0], "x.db"};
    for (int k = 1; k < 6 && hostile[i].command[k]; k++) words[k + 1] = hostile[i].command[k];
    change(hostile[i].packed ? "p.db" : "b.db", "x.db", hostile[i].sql);
    run_result r = loom(words);
    char *both = malloc(r.nout + r.nerr + 1);
    if (!both) exit(EXIT_FAILURE);
    memcpy(both, r.out, r.nout);
    memcpy(both + r.nout, r.err, r.nerr + 1);
    bool good = r.status == hostile[i].status &&
                (!hostile[i].says || strstr(both, hostile[i].says)) &&
                (!hostile[i].not || !strstr(both, hostile[i].not ));
    tap(good, "%s: %s", hostile[i].command[0], hostile[i].name);
    if (!good) tap_note("status %d: %.900s", r.status, both);
    free(both);
    run_free(&r);
}

/* The same without the command's checks of views: the module in another program. */
static void packed_in_itself(const char *name, const char *sql, const char *says)
{
    sqlite3 *db;
    change("p.db", "x.db", sql);
    bool good = sqlite3_open_v2("x.db", &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
                pl_tracedb_register(db) == SQLITE_OK;
    int code = sqlite3_exec(db, "SELECT sum(pc), count(*) FROM inst", NULL, NULL, NULL);
    tap(good && code != SQLITE_OK && strstr(sqlite3_errmsg(db), says), "module: %s", name);
    tap_note("%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

/* Markup in every text of a trace: the page stores it as string data. */
static void marked_up(void)
{
    sqlite3 *db;
    sqlite3_stmt *s;
    int columns = 0;
    size_t n;
    change("b.db", "x.db", "SELECT 1");
    bool good =
        sqlite3_open("x.db", &db) == SQLITE_OK &&
        sqlite3_exec(db, "PRAGMA ignore_check_constraints = 1", NULL, NULL, NULL) == SQLITE_OK;
    good = good && sqlite3_prepare_v2(db,
                                      "SELECT t.name, c.name FROM sqlite_schema t, "
                                      "pragma_table_info(t.name) c WHERE t.type = 'table' AND "
                                      "c.type = 'TEXT' AND t.name NOT IN ('space', 'mem_level')",
                                      -1, &s, NULL) == SQLITE_OK;
    while (good && sqlite3_step(s) == SQLITE_ROW) {
        char *sql = sqlite3_mprintf(
            "UPDATE \"%w\" SET \"%w\" = \"%w\" || '</script><!--<script><i class=injected>'",
            sqlite3_column_text(s, 0), sqlite3_column_text(s, 1), sqlite3_column_text(s, 1));
        good = sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
        sqlite3_free(sql);
        columns++;
    }
    sqlite3_finalize(s);
    sqlite3_close(db);
    const char *const words[] = {"report", "x.db", "-o", "marked.html", NULL};
    run_result r = loom(words);
    tap(good && columns > 40 && r.status == 0, "report: markup in %d columns", columns);
    char *page = r.status == 0 ? read_whole("marked.html", &n) : NULL;
    int ends = 0;
    for (const char *p = page; p && (p = strstr(p, "</script")) != NULL; p++) ends++;
    tap(page && ends == 2 && !strstr(page, "<i class=injected") && !strstr(page, "<!--") &&
            strstr(page, "\\u003ci class=injected"),
        "no markup becomes part of the page");
    tap(page && strstr(page, "content=\"default-src 'none'; script-src 'sha256-"),
        "the page names the only script that may run");
    free(page);
    run_free(&r);
}

/* A query that does not terminate is ended by the user or by the time limit. The file is
 * unchanged. */
static void stopped(void)
{
    static const char *const endless[][9] = {
        {"query", "x.db",
         "SELECT sum(a.pc * b.pc * c.pc * d.pc) AS n FROM inst a, inst b, inst c, inst d"},
        {"query", "x.db", "mine"},
        {"report", "x.db", "-o", "stopped.html"},
        {"export", "x.db", "-o", "/dev/null", "-f", "csv", "-t", "listing"},
        {"diff", "x.db", "x.db"},
    };
    /* Joins of many millions of rows. */
    change("b.db", "x.db",
           "INSERT INTO query VALUES ('mine', '', '" ENDLESS "');"
           "CREATE TABLE w AS SELECT w.* FROM warp w, lane a, lane b, lane c; DROP TABLE warp; "
           "CREATE TABLE warp AS SELECT * FROM w;"
           "CREATE TABLE p AS SELECT p.* FROM pc_stat p, lane a, lane b, lane c, lane d WHERE "
           "d.lane < 4; DROP TABLE "
           "pc_stat; CREATE TABLE pc_stat AS SELECT * FROM p");
    for (size_t i = 0; i < sizeof endless / sizeof *endless; i++) {
        const char *words[12] = {NULL};
        int n = 0;
        while (endless[i][n]) words[n] = endless[i][n], n++;
        words[n] = "--timeout=1";
        run_result r = loom(words);
        tap(r.status == 3 && strstr(r.err, "stopped by the time limit [E0712]"), "%s --timeout",
            words[0]);
        tap_note("status %d %.300s", r.status, r.err);
        run_free(&r);
    }
    const char *const words[] = {loom_path(), "query", "x.db", "mine", NULL};
    run_result r = run_command(words, 1);
    tap(r.status == 3 && r.interrupted && strstr(r.err, "stopped by an interrupt [E0712]"),
        "an interrupt ends a query");
    run_free(&r);
    tap(access("stopped.html", F_OK) != 0 && access("stopped.html.part", F_OK) != 0,
        "no partial report remains");
}

/* Files of the folder and its parent; no table may have created one there. */
static void exported(void)
{
    bool inside = access("out/tables/kernel.csv", F_OK) == 0 &&
                  access("out/tables/%2E./../x/../escaped.csv", F_OK) != 0;
    bool outside = access("escaped.csv", F_OK) == 0 || access("out/escaped.csv", F_OK) == 0 ||
                   access("../escaped.csv", F_OK) == 0;
    tap(inside && !outside, "export writes only into its folder");
    tap(access("out/tables/%2E.%2F..%2Fx%2F..%2Fescaped.csv", F_OK) == 0,
        "file name without slashes");
}

int main(void)
{
    char *folder = scratch_make(), *loom_file = realpath(loom_path(), NULL),
         *source = realpath(getenv("srcdir") ? getenv("srcdir") : ".", NULL);
    if (!loom_file || !source || chdir(folder) != 0) return EXIT_FAILURE;
    setenv("PTXLOOM", loom_file, 1);
    setenv("srcdir", source, 1);
    record("b.db", "--trace-format=rows");
    record("p.db", "--trace-format=packed");
    if (system("mkdir out x") != 0) return EXIT_FAILURE;
    for (int i = 0; i < CASES; i++) check(i);
    exported();
    stopped();
    marked_up();
    packed_in_itself("recursive view as directory", hostile[0].sql, "no table packed_block");
    packed_in_itself("recursive view as data", hostile[1].sql, "no table packed_data");
    free(loom_file);
    free(source);
    if (chdir("/") != 0) return EXIT_FAILURE;
    scratch_remove(folder);
    return tap_done();
}
