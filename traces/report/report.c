/* report.c - assembles a report: for each launch the rows of panels.sql and the sums of detail.h,
 * between the two halves of the page. */
#include "traces/report/report.h"
#include "base/sha256.h"
#include "traces/line_diff.h"
#include "traces/report/detail.h"
#include "traces/tracedb.h"
#include <stdlib.h>
#include <string.h>

enum {
    MAX_LAUNCHES = 12,           /* shown in full; the others are listed */
    DEFAULT_MAX_ISSUES = 400000, /* about 2 MB of a report */
    REPORT_WINDOWS = 513,        /* most time windows (timeline.c) */
    MAX_REASONS = 32             /* stall reasons: an issue has five bits for its reason */
};
/* The array sizes of a report come from the trace and are therefore limited: windows of all
 * multiprocessors by reason, and slots for each executed warp. */
#define MAX_CELLS (UINT64_C(1) << 27)
enum { SLOTS_PER_WARP = 64, MIN_WARP_SLOTS = 65536 };

typedef struct report {
    const pl_report_request *r;
    pl_json j;
    int64_t kernel[MAX_LAUNCHES];
    size_t nkernels;
    const char *damage; /* the defect of the trace, or NULL */
    bool failed;        /* a query has failed; no further query is executed, so that SQLite's
                           message is kept */
} report;

/* ---- queries ---- */

static void put_value(pl_json *j, sqlite3_stmt *s, int column)
{
    switch (sqlite3_column_type(s, column)) {
    case SQLITE_NULL: pl_json_null(j); break;
    case SQLITE_INTEGER: pl_json_int(j, sqlite3_column_int64(s, column)); break;
    case SQLITE_FLOAT: pl_json_real(j, sqlite3_column_double(s, column)); break;
    default: pl_json_text(j, (const char *)sqlite3_column_text(s, column));
    }
}

/* {"columns": [...], "rows": [[...], ...]} */
static bool put_rows(pl_json *j, sqlite3 *db, const char *sql, int64_t kernel)
{
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK) return false;
    int n = sqlite3_column_count(s), code, at = sqlite3_bind_parameter_index(s, ":kernel");
    if (at) sqlite3_bind_int64(s, at, kernel);
    pl_json_open(j, '{');
    pl_json_key(j, "columns"), pl_json_open(j, '[');
    for (int c = 0; c < n; c++) pl_json_text(j, sqlite3_column_name(s, c));
    pl_json_close(j);
    pl_json_key(j, "rows"), pl_json_open(j, '[');
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        pl_json_open(j, '[');
        for (int c = 0; c < n; c++) put_value(j, s, c);
        pl_json_close(j);
    }
    pl_json_close(j);
    pl_json_close(j);
    return pl_report_finalize(s, code);
}

/* Rows [name, value, family, unit, meaning] of one metric; none if it has no value. */
static bool put_metric(pl_json *j, sqlite3 *db, const pl_tracedb_metric *m, int64_t kernel)
{
    sqlite3_stmt *s = NULL;
    int code = SQLITE_NOMEM;
    char *sql =
        sqlite3_mprintf("SELECT value FROM \"%w\" WHERE kernel = ? AND value IS NOT NULL", m->name);
    const bool good = sql && sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK;
    sqlite3_free(sql);
    if (!good) return false;
    sqlite3_bind_int64(s, 1, kernel);
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        pl_json_open(j, '[');
        pl_json_text(j, m->name);
        put_value(j, s, 0);
        pl_json_text(j, m->family);
        pl_json_text(j, m->unit);
        pl_json_text(j, m->meaning);
        pl_json_close(j);
    }
    return pl_report_finalize(s, code);
}

static int by_family_and_name(const void *a, const void *b)
{
    const pl_tracedb_metric *const *x = a, *const *y = b;
    const int family = strcmp((*y)->family, (*x)->family);
    return family ? family : strcmp((*x)->name, (*y)->name);
}

/* The rows of the section metrics of panels.sql. One SELECT for each metric: SQLite compiles them
 * in a third of the time of the view `metric`, which contains all. */
static bool put_metrics(pl_json *j, sqlite3 *db, int64_t kernel)
{
    static const char *const column[] = {"name", "value", "family", "unit", "meaning"};
    size_t n = 0;
    while (pl_tracedb_metrics[n].name) n++;
    const pl_tracedb_metric **m = malloc(n * sizeof *m);
    if (!m) return false;
    for (size_t i = 0; i < n; i++) m[i] = &pl_tracedb_metrics[i];
    qsort(m, n, sizeof *m, by_family_and_name);
    pl_json_open(j, '{');
    pl_json_key(j, "columns"), pl_json_open(j, '[');
    for (size_t c = 0; c < sizeof column / sizeof *column; c++) pl_json_text(j, column[c]);
    pl_json_close(j);
    pl_json_key(j, "rows"), pl_json_open(j, '[');
    bool good = true;
    for (size_t i = 0; i < n && good; i++) good = put_metric(j, db, m[i], kernel);
    pl_json_close(j);
    pl_json_close(j);
    free(m);
    return good;
}

static bool put_panel(pl_json *j, sqlite3 *db, const pl_report_query *q, int64_t kernel)
{
    pl_json_key(j, q->name);
    return strcmp(q->name, "metrics") == 0 ? put_metrics(j, db, kernel)
                                           : put_rows(j, db, q->sql, kernel);
}

/* The SQL of a named query of the trace: the report shows its rows too. */
static const char *named_query(const char *name, const char **title)
{
    for (const pl_tracedb_query *q = pl_tracedb_queries; q->name; q++) {
        if (strcmp(q->name, name) != 0) continue;
        *title = q->title;
        return q->sql;
    }
    return *title = "";
}

static int64_t query_number(report *p, const char *sql, int64_t kernel)
{
    sqlite3_stmt *s = NULL;
    int64_t v = 0;
    if (p->failed) return v;
    p->failed = sqlite3_prepare_v2(p->r->db, sql, -1, &s, NULL) != SQLITE_OK;
    if (p->failed) return v;
    sqlite3_bind_int64(s, 1, kernel);
    if (sqlite3_step(s) == SQLITE_ROW) v = sqlite3_column_int64(s, 0);
    p->failed = sqlite3_finalize(s) != SQLITE_OK;
    return p->failed ? 0 : v;
}

/* A non-negative number: 0 if the trace contains a negative one. */
static uint64_t query_count(report *p, const char *sql, int64_t kernel)
{
    int64_t v = query_number(p, sql, kernel);
    return v > 0 ? (uint64_t)v : 0;
}

/* ---- launches ---- */

/* Selects the launches shown in full: the requested one, or the longest ones, in file order. */
static bool choose_launches(report *p)
{
    static const char sql[] = "SELECT id FROM (SELECT id FROM kernel WHERE ?1 = 0 OR id = ?1 ORDER "
                              "BY cycles DESC, inst_executed DESC "
                              "LIMIT ?2) ORDER BY id";
    sqlite3_stmt *s = NULL;
    int code = SQLITE_ERROR;
    if (sqlite3_prepare_v2(p->r->db, sql, -1, &s, NULL) == SQLITE_OK) {
        sqlite3_bind_int64(s, 1, p->r->kernel);
        sqlite3_bind_int(s, 2, MAX_LAUNCHES);
        while ((code = sqlite3_step(s)) == SQLITE_ROW)
            p->kernel[p->nkernels++] = sqlite3_column_int64(s, 0);
    }
    return pl_report_finalize(s, code);
}

static pl_report_launch query_launch(report *p, int64_t kernel)
{
    uint64_t max_issues = p->r->max_issues ? p->r->max_issues : (uint64_t)DEFAULT_MAX_ISSUES;
    pl_report_launch l = {
        .db = p->r->db, .kernel = kernel, .max_issues = max_issues / p->nkernels + 1};
    l.first_inst = query_number(p, "SELECT first_inst FROM kernel WHERE id = ?", kernel);
    l.end_inst =
        query_number(p,
                     "SELECT coalesce(min(first_inst), 9223372036854775807) FROM kernel WHERE "
                     "id > ? AND first_inst IS NOT NULL",
                     kernel);
    l.cycles =
        query_count(p,
                    "SELECT max(coalesce(cycles, 0), coalesce((SELECT max(last_cycle) + 1 FROM "
                    "warp WHERE kernel = k.id), 0)) "
                    "FROM kernel k WHERE id = ?",
                    kernel);
    l.timing = query_number(p, "SELECT mode = 'timing' FROM kernel WHERE id = ?", kernel);
    l.sms = query_count(p, "SELECT max(sm) + 1 FROM block WHERE kernel = ?", kernel);
    l.reasons = query_count(p, "SELECT min(max(id) + 1, 32) FROM stall_reason WHERE ?1", kernel);
    l.lanes = query_count(p, "SELECT min(count(*), 64) FROM lane WHERE ?1", kernel);
    l.code = query_count(
        p, "SELECT count(*) FROM instruction i JOIN kernel k ON k.module = i.module WHERE k.id = ?",
        kernel);
    l.per_block =
        query_count(p, "SELECT coalesce(max(warp), 0) + 1 FROM warp WHERE kernel = ?", kernel);
    const uint64_t blocks =
        query_count(p, "SELECT coalesce(max(block), 0) + 1 FROM warp WHERE kernel = ?", kernel);
    const uint64_t warps = query_count(p, "SELECT count(*) FROM warp WHERE kernel = ?", kernel);
    const uint64_t max_slots = MIN_WARP_SLOTS + SLOTS_PER_WARP * warps;
    if (p->failed) return l;
    if (l.reasons > MAX_REASONS || l.sms > MAX_CELLS / REPORT_WINDOWS / (l.reasons + 1))
        p->damage = "the number of a multiprocessor in the table block is too large";
    if (l.per_block > max_slots || blocks > max_slots / (l.per_block + 1))
        p->damage = "the number of a block or warp in the table warp is too large";
    l.warp_slots = blocks * l.per_block;
    return l;
}

/* Writes the data for comparison with the corresponding launch of the baseline: the same entry at
 * the same position among its launches. */
static bool put_baseline(report *p, int64_t kernel)
{
    static const char *const compared[] = {"facts", "metrics", "speed_of_light", "stalls"};
    const pl_report_request *r = p->r;
    pl_json *j = &p->j;
    int64_t other = pl_tracedb_matching_launch(r->db, kernel, r->baseline);
    pl_tracedb_diff_lines d = {0};
    pl_json_key(j, "baseline");
    if (other < 0) return false;
    if (other == 0) {
        pl_json_null(j);
        return true;
    }
    bool good = true;
    pl_json_open(j, '{');
    for (const pl_report_query *q = pl_report_queries; good && q->name; q++)
        for (size_t i = 0; i < sizeof compared / sizeof *compared; i++)
            if (strcmp(q->name, compared[i]) == 0)
                good = good && put_panel(j, r->baseline, q, other);
    good = good && pl_tracedb_diff(r->baseline, other, r->db, kernel, &d) == PL_OK;
    pl_json_key(j, "lines"), pl_json_open(j, '[');
    for (size_t i = 0; good && i < d.n; i++) {
        const pl_tracedb_diff_line *x = &d.line[i];
        pl_json_open(j, '[');
        pl_json_text(j, x->text);
        for (int side = 0; side < 2; side++) {
            const pl_tracedb_line_sum *v = &x->side[side];
            pl_json_int(j, v->line);
            pl_json_int(j, (int64_t)v->issues);
            pl_json_int(j, (int64_t)v->stall_cycles);
            pl_json_int(j, (int64_t)v->sectors);
        }
        pl_json_close(j);
    }
    pl_json_close(j);
    pl_json_close(j);
    pl_tracedb_diff_free(&d);
    return good;
}

static bool put_launch(report *p, int64_t kernel)
{
    pl_json *j = &p->j;
    pl_report_launch l = query_launch(p, kernel);
    bool good = !p->damage && !p->failed;
    pl_json_open(j, '{');
    pl_json_key(j, "id"), pl_json_int(j, kernel);
    for (const pl_report_query *q = pl_report_queries; good && q->name; q++)
        good = put_panel(j, p->r->db, q, kernel);
    const char *title;
    pl_json_key(j, "advice");
    good = good && put_rows(j, p->r->db, named_query("advice", &title), kernel);
    if (good &&
        query_number(p, "SELECT count(*) FROM (SELECT 1 FROM inst WHERE kernel = ? LIMIT 1)",
                     kernel))
        good = pl_report_timeline(&l, j);
    if (good && query_number(p, "SELECT count(*) FROM (SELECT 1 FROM mem WHERE kernel = ? LIMIT 1)",
                             kernel))
        good = pl_report_memory(&l, j);
    good = good && !p->failed;
    if (good && p->r->baseline) good = put_baseline(p, kernel);
    pl_json_close(j);
    return good && !p->failed;
}

/* ---- the file ---- */

static void put_query(pl_json *j, const char *name, const char *title, const char *sql)
{
    pl_json_key(j, name), pl_json_open(j, '{');
    pl_json_key(j, "title"), pl_json_text(j, title);
    pl_json_key(j, "sql"), pl_json_text(j, sql);
    pl_json_close(j);
}

static void put_queries(pl_json *j)
{
    pl_json_key(j, "queries"), pl_json_open(j, '{');
    for (const pl_report_query *q = pl_report_queries; q->name; q++)
        put_query(j, q->name, q->title, q->sql);
    const char *title, *sql = named_query("advice", &title);
    put_query(j, "advice", title, sql);
    pl_json_close(j);
}

/* Writes the SQL of every metric, so that the page can show the origin of a value. */
static void put_formulas(pl_json *j)
{
    pl_json_key(j, "formulas"), pl_json_open(j, '{');
    for (const pl_tracedb_metric *m = pl_tracedb_metrics; m->name; m++)
        pl_json_key(j, m->name), pl_json_text(j, m->formula);
    pl_json_close(j);
}

/* Writes the application as a whole: rows of named queries, limited for the long ones. */
static bool put_application(report *p)
{
    enum { MAX_ROWS = 20000 };
    static const char *const names[] = {"gpu_trace", "api_trace", "gpu_summary", "api_summary"};
    enum { NAMES = sizeof names / sizeof *names };
    static const char ranges[] = "SELECT start_us, end_us - start_us AS us, thread, depth, name "
                                 "FROM nvtx_range ORDER BY id LIMIT 20000",
                      rows[] = "SELECT max((SELECT count(*) FROM activity), (SELECT count(*) FROM "
                               "api_call)) WHERE ?1 IS NOT NULL";
    pl_json *j = &p->j;
    const int64_t n = query_number(p, rows, 0);
    const char *title;
    bool good = !p->failed;
    pl_json_key(j, "application");
    if (!n) {
        pl_json_null(j);
        return good;
    }
    pl_json_open(j, '{');
    pl_json_key(j, "cut"), pl_json_int(j, n > MAX_ROWS);
    pl_json_key(j, "ranges");
    good = good && put_rows(j, p->r->db, ranges, 0);
    for (int k = 0; k < NAMES; k++) {
        char *sql = sqlite3_mprintf("SELECT * FROM (\n%s) LIMIT %d", named_query(names[k], &title),
                                    (int)MAX_ROWS);
        pl_json_key(j, names[k]);
        good = good && sql && put_rows(j, p->r->db, sql, 0);
        sqlite3_free(sql);
    }
    pl_json_key(j, "queries"), pl_json_open(j, '{');
    for (int k = 0; k < NAMES; k++) {
        const char *sql = named_query(names[k], &title);
        put_query(j, names[k], title, sql);
    }
    pl_json_close(j);
    pl_json_close(j);
    return good;
}

static bool put_data(report *p)
{
    static const char launches[] = "SELECT id, name, entry, mode, status, cycles, inst_executed, "
                                   "grid_x, grid_y, grid_z, block_x, block_y, "
                                   "block_z FROM kernel ORDER BY id";
    pl_json *j = &p->j;
    bool good = choose_launches(p);
    pl_json_open(j, '{');
    pl_json_key(j, "file"), pl_json_text(j, p->r->name);
    pl_json_key(j, "baseline_file"), pl_json_text(j, p->r->baseline ? p->r->baseline_name : NULL);
    put_queries(j);
    put_formulas(j);
    pl_json_key(j, "kernels");
    good = good && put_rows(j, p->r->db, launches, 0);
    good = good && put_application(p);
    pl_json_key(j, "launches"), pl_json_open(j, '[');
    for (size_t i = 0; good && i < p->nkernels; i++) good = put_launch(p, p->kernel[i]);
    pl_json_close(j);
    pl_json_close(j);
    return good;
}

/* Writes the page up to the data. Its security policy allows a single script by the digest of its
 * text. Whatever markup a trace brings into the page, no other script runs, and nothing is loaded
 * or sent. */
static void put_head(FILE *out)
{
    pl_sha256 h;
    unsigned char digest[32];
    pl_sha256_init(&h);
    pl_sha256_add(&h, "\n", 1); /* the newline after <script> */
    pl_sha256_add(&h, pl_report_script, strlen(pl_report_script));
    pl_sha256_end(&h, digest);
    fputs(pl_report_head, out);
    pl_write_base64(out, digest, sizeof digest);
    fputs(pl_report_body, out);
}

pl_status pl_report_write(const pl_report_request *r, FILE *out, const char **damage)
{
    report p = {.r = r, .j = {.file = out, .html = true}};
    put_head(out);
    bool good = put_data(&p);
    fputs(pl_report_tail, out);
    fputs(pl_report_script, out);
    fputs(pl_report_end, out);
    *damage = p.damage;
    if (ferror(out)) return PL_IO;
    if (good) return PL_OK;
    if (p.damage) return PL_INVALID;
    int a = sqlite3_errcode(r->db), b = r->baseline ? sqlite3_errcode(r->baseline) : SQLITE_OK;
    if (a == SQLITE_INTERRUPT || b == SQLITE_INTERRUPT) return PL_INTERRUPTED;
    bool sql = (a != SQLITE_OK && a != SQLITE_DONE && a != SQLITE_ROW) ||
               (b != SQLITE_OK && b != SQLITE_DONE && b != SQLITE_ROW);
    return sql && a != SQLITE_NOMEM && b != SQLITE_NOMEM ? PL_INVALID : PL_NOMEM;
}
