/* test_trace_query.c - `ptxloom query`: its output, its errors, and its exit statuses. */
#include "cli/cli.h"
#include "tests/unit/unit.h"
#include "traces/line_diff.h"
#include "traces/trace.h"
#include <fcntl.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64], path[96], out[8192], err[8192];

static void describe(void *ctx, uint32_t pc, pl_tracedb_insn *o)
{
    (void)ctx;
    *o = (pl_tracedb_insn){.function = "k",
                           .text = "exit",
                           .ptx_line = pc + 1,
                           .form = 1,
                           .mnemonic = "exit",
                           .syntax = "exit",
                           .cls = "exit"};
}

/* A trace of two launches of an empty kernel. */
static void make_trace(void)
{
    pl_tracedb *t;
    pl_tracedb_options o = {.level = PL_TRACEDB_SUMMARY,
                            .version = "0.1.0",
                            .machine = "toy",
                            .sms = 2,
                            .clock_mhz = 1000};
    snprintf(folder, sizeof folder, "/tmp/test_query_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/run.db", folder);
    ck_assert_int_eq(pl_tracedb_open(&t, path, &o), PL_OK);
    for (uint32_t i = 1; i <= 2; i++) {
        pl_tracedb_kernel k = {.name = i == 1 ? "first, \"small\"" : "second",
                               .entry = "k",
                               .timing = true,
                               .grid = {i, 1, 1},
                               .block = {32, 1, 1},
                               .ninsns = 1,
                               .insn = describe};
        pl_pc_stat stat = {.issues = i, .executed = i, .lanes = 32 * i};
        pl_tracedb_result r = {.status = "ok",
                               .complete = true,
                               .cycles = 100 * i,
                               .inst_executed = i,
                               .thread_inst_executed = 32 * i,
                               .pc_stat = &stat,
                               .npc = 1};
        ck_assert_int_eq(pl_tracedb_begin(t, &k), PL_OK);
        ck_assert_int_eq(pl_tracedb_end(t, &r), PL_OK);
    }
    ck_assert_int_eq(pl_tracedb_close(t, true), PL_OK);
}

static void remove_trace(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

static void slurp(const char *name, char *buf)
{
    char file[96];
    snprintf(file, sizeof file, "%s/%s", folder, name);
    FILE *f = fopen(file, "r");
    ck_assert_ptr_nonnull(f);
    size_t n = fread(buf, 1, sizeof out - 1, f);
    buf[n] = '\0';
    fclose(f);
}

static void redirect(const char *name, int to, int flags)
{
    char file[96];
    snprintf(file, sizeof file, "%s/%s", folder, name);
    int fd = open(file, flags, 0666);
    if (fd < 0 || dup2(fd, to) < 0) _exit(99);
}

/* Runs `ptxloom query WORDS...` in a child; its output is in out and err. Returns its exit status.
 * Arguments end with NULL. */
static int query(const char *input, ...)
{
    char *argv[12] = {(char[]){"query"}};
    int argc = 1, status;
    va_list ap;
    va_start(ap, input);
    for (char *word; (word = va_arg(ap, char *)) != NULL;) argv[argc++] = word;
    va_end(ap);
    char file[96];
    snprintf(file, sizeof file, "%s/in", folder);
    FILE *f = fopen(file, "w");
    if (input) fputs(input, f);
    fclose(f);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        redirect("in", 0, O_RDONLY);
        redirect("out", 1, O_WRONLY | O_CREAT | O_TRUNC);
        redirect("err", 2, O_WRONLY | O_CREAT | O_TRUNC);
        _exit(cli_finish(cmd_query(argc, argv)));
    }
    waitpid(child, &status, 0);
    ck_assert(WIFEXITED(status));
    slurp("out", out);
    slurp("err", err);
    return WEXITSTATUS(status);
}

START_TEST(table_alignment)
{
    make_trace();
    ck_assert_int_eq(query(NULL, path,
                           "SELECT id, name, cycles / 3.0 AS third, duration_us * 10 AS ten, NULL "
                           "AS none FROM kernel",
                           NULL),
                     0);
    ck_assert_str_eq(out, "id  name              third  ten  none\n"
                          "--  --------------  -------  ---  ----\n"
                          " 1  first, \"small\"  33.3333    1     -\n"
                          " 2  second          66.6667    2     -\n");
    ck_assert_str_eq(err, "");
    ck_assert_int_eq(
        query(NULL, path, "SELECT 'a\nb' AS x WHERE 0; SELECT '\xc3\xa9' AS y, 1 AS z", NULL), 0);
    ck_assert_str_eq(out, "x\n-\n\ny  z\n-  -\n\xc3\xa9  1\n");
    remove_trace();
}
END_TEST

START_TEST(other_formats)
{
    make_trace();
    ck_assert_int_eq(query(NULL, "--csv", path,
                           "SELECT id, name, 0.1 AS x, NULL AS n, x'00ff' AS b FROM kernel", NULL),
                     0);
    ck_assert_str_eq(out,
                     "id,name,x,n,b\n1,\"first, \"\"small\"\"\",0.1,,00ff\n2,second,0.1,,00ff\n");
    ck_assert_int_eq(
        query(NULL, path, "SELECT id, name, 1e999 AS x, NULL AS n FROM kernel", "--json", NULL), 0);
    ck_assert_str_eq(
        out, "[\n {\"id\": 1, \"name\": \"first, \\\"small\\\"\", \"x\": null, \"n\": null},\n"
             " {\"id\": 2, \"name\": \"second\", \"x\": null, \"n\": null}\n]\n");
    ck_assert_int_eq(query(NULL, path, "SELECT id, 1.0 / 3 AS x FROM kernel", "--ndjson", NULL), 0);
    ck_assert_str_eq(
        out, "{\"id\": 1, \"x\": 0.3333333333333333}\n{\"id\": 2, \"x\": 0.3333333333333333}\n");
    ck_assert_int_eq(query(NULL, path, "SELECT 1 AS x WHERE 0", "--json", NULL), 0);
    ck_assert_str_eq(out, "[]\n");
    remove_trace();
}
END_TEST

START_TEST(names_and_parameters)
{
    make_trace();
    ck_assert_int_eq(query(NULL, path, "launches", "--csv", NULL), 0);
    ck_assert_ptr_nonnull(strstr(out, "2,second,k,timing,2x1x1,32x1x1,200,0.2,2,ok\n"));
    ck_assert_int_eq(query(NULL, path, "hot_instructions", "kernel=2", "--csv", NULL), 0);
    ck_assert_str_eq(
        out,
        "kernel,pc,text,issues,%,lanes/issue,stall_cycles,ptx_line,cuda\n2,0,exit,2,100,32,0,,\n");
    ck_assert_int_eq(query(NULL, path, "smsp__inst_executed.sum", "--csv", NULL), 0); /* a view */
    ck_assert_str_eq(out, "kernel,value\n1,1\n2,2\n");
    ck_assert_int_eq(query(NULL, path, "kernel", "limit=1", "--ndjson", NULL), 0);
    ck_assert_ptr_eq(strchr(out, '\n'), out + strlen(out) - 1);
    ck_assert_int_eq(query("SELECT :a + :b AS s,\n  typeof(:c) AS c", path, "-", "a=2", "b=0x10",
                           "c=word", "--csv", NULL),
                     0);
    ck_assert_str_eq(out, "s,c\n18,text\n");
    ck_assert_int_eq(query(NULL, path, NULL), 0); /* summary */
    ck_assert_ptr_nonnull(strstr(out, "achieved_occupancy"));
    ck_assert_int_eq(query(NULL, path, "--list", NULL), 0);
    ck_assert_ptr_nonnull(strstr(out, "stalls_by_line"));
    remove_trace();
}
END_TEST

START_TEST(invalid_query_messages)
{
    make_trace();
    ck_assert_int_eq(query(NULL, path, "SELECT id,\n       colour FROM kernel", NULL), CLI_INPUT);
    ck_assert_str_eq(out, "");
    ck_assert_ptr_nonnull(strstr(err, "no such column: colour"));
#if SQLITE_VERSION_NUMBER >= 3038000
    ck_assert_ptr_nonnull(strstr(err, "           colour FROM kernel\n           ^\n"));
#endif
    ck_assert_int_eq(query(NULL, path, "SELECT 1; SELEKT 2", NULL), CLI_INPUT);
    ck_assert_ptr_nonnull(strstr(err, "SELEKT"));
    ck_assert_int_eq(query(NULL, path, "launchs", NULL), CLI_INPUT);
    ck_assert_ptr_nonnull(strstr(err, "did you mean 'launches'?"));
    ck_assert_int_eq(query(NULL, path, "launches", "kernle=2", NULL), CLI_INPUT);
    ck_assert_ptr_nonnull(strstr(err, "kernle=2"));
    ck_assert_int_eq(query(NULL, path, "SELECT 1", "more", NULL), CLI_INPUT);
    ck_assert_int_eq(query(NULL, NULL), CLI_INPUT);
    ck_assert_int_eq(query(NULL, path, "--colour", NULL), CLI_INPUT);
    remove_trace();
}
END_TEST

START_TEST(trace_is_opened_read_only)
{
    static const char *const change[] = {"UPDATE kernel SET name = 'x'",
                                         "DELETE FROM pc_stat",
                                         "DROP TABLE kernel",
                                         "VACUUM",
                                         "  CREATE TABLE t (a)",
                                         "INSERT INTO lane VALUES (99)",
                                         "PRAGMA user_version = 7"};
    char sql[200], target[100];
    make_trace();
    for (size_t i = 0; i < sizeof change / sizeof *change; i++) {
        int status = query(NULL, path, change[i], NULL);
        ck_assert_msg(status == CLI_INPUT, "%s: exit status %d", change[i], status);
        ck_assert_msg(strlen(err) > 10, "%s: no message", change[i]);
    }
    /* No file is created either. */
    snprintf(target, sizeof target, "%s/new.db", folder);
    snprintf(sql, sizeof sql, "VACUUM INTO '%s'", target);
    ck_assert_int_eq(query(NULL, path, sql, NULL), CLI_INPUT);
    snprintf(sql, sizeof sql, "ATTACH '%s' AS n; CREATE TABLE n.t (a)", target);
    ck_assert_int_eq(query(NULL, path, sql, NULL), CLI_INPUT);
    ck_assert_int_ne(access(target, F_OK), 0);
    ck_assert_int_eq(
        query(NULL, path, "SELECT count(*) AS n FROM kernel WHERE name <> 'x'", "--csv", NULL), 0);
    ck_assert_str_eq(out, "n\n2\n");
    remove_trace();
}
END_TEST

static void change_file(const char *sql)
{
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

START_TEST(other_files_are_rejected)
{
    char other[128];
    make_trace();
    snprintf(other, sizeof other, "%s/none.db", folder);
    ck_assert_int_eq(query(NULL, other, "launches", NULL), CLI_INPUT);
    ck_assert_ptr_nonnull(strstr(err, "No such file"));
    snprintf(other, sizeof other, "%s/in", folder);
    ck_assert_int_eq(query("this is text, and long enough to be taken for the head of a file\n",
                           other, "launches", NULL),
                     CLI_INPUT);
    ck_assert_ptr_nonnull(strstr(err, "not a ptxloom trace"));
    ck_assert_int_eq(query(NULL, folder, "launches", NULL), CLI_INPUT);
    change_file("PRAGMA user_version = 99");
    ck_assert_int_eq(query(NULL, path, "launches", NULL), CLI_INPUT);
    ck_assert_ptr_nonnull(strstr(err, "schema 99"));
    change_file("PRAGMA user_version = 0"); /* as in a .part file */
    ck_assert_int_eq(query(NULL, path, "launches", NULL), CLI_INPUT);
    ck_assert_ptr_nonnull(strstr(err, "no end"));
    change_file("PRAGMA user_version = 1; PRAGMA application_id = 5");
    ck_assert_int_eq(query(NULL, path, "launches", NULL), CLI_INPUT);
    ck_assert_ptr_nonnull(strstr(err, "not a ptxloom trace"));
    remove_trace();
}
END_TEST

START_TEST(long_results)
{
    make_trace();
    ck_assert_int_eq(
        query("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)"
              " SELECT count(*) AS lines, sum(i) AS s FROM n",
              path, "-", "--csv", NULL),
        0);
    ck_assert_str_eq(out, "lines,s\n5000,12502500\n");
    /* 1,500 rows: more than are inspected for the column widths */
    ck_assert_int_eq(query("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i "
                           "< 1500) SELECT i FROM n",
                           path, "-", NULL),
                     0);
    int lines = 0;
    for (const char *p = out; (p = strchr(p, '\n')) != NULL; p++) lines++;
    ck_assert_int_eq(lines, 1502);
    ck_assert_str_eq(out + strlen(out) - 11, "\n1499\n1500\n");
    remove_trace();
}
END_TEST

static int deny_count(void *ctx, int action, const char *a, const char *b, const char *c,
                      const char *d)
{
    (void)ctx, (void)a, (void)c, (void)d;
    return action == SQLITE_FUNCTION && strcmp(b, "count") == 0 ? SQLITE_DENY : SQLITE_OK;
}

START_TEST(matching_launch_keeps_errors)
{
    make_trace();
    sqlite3 *db[2];
    for (int k = 0; k < 2; k++) ck_assert_int_eq(sqlite3_open(path, &db[k]), SQLITE_OK);
    ck_assert_int_eq(pl_tracedb_matching_launch(db[0], 2, db[1]), 2);
    ck_assert_int_eq(pl_tracedb_matching_launch(db[0], 3, db[1]), 0);
    for (int k = 0; k < 2; k++) {
        ck_assert_int_eq(sqlite3_set_authorizer(db[k], deny_count, NULL), SQLITE_OK);
        ck_assert_int_eq(pl_tracedb_matching_launch(db[0], 2, db[1]), -1);
        ck_assert_int_eq(sqlite3_errcode(db[k]), SQLITE_ERROR);
        ck_assert_int_eq(sqlite3_set_authorizer(db[k], NULL, NULL), SQLITE_OK);
    }
    for (int k = 0; k < 2; k++) ck_assert_int_eq(sqlite3_close(db[k]), SQLITE_OK);
    remove_trace();
}
END_TEST

UNIT_MAIN("query", table_alignment, other_formats, names_and_parameters, invalid_query_messages,
          trace_is_opened_read_only, other_files_are_rejected, long_results,
          matching_launch_keeps_errors)
