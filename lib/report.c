/* report.c - reports on traces, and comparisons of two traces. */
#include "lib/internal.h"
#include "traces/line_diff.h"
#include "traces/db_open.h"
#include "traces/report/report.h"
#include <stdio.h>
#include <string.h>

enum { STEPS = 10000 }; /* SQLite operations between two polls of pl_report_options.cancel */

static pl_diag *report(pl_gpu *gpu, pl_diag_id id, const char *a, const char *b)
{
    return pl_report(&gpu->diags, id, (pl_loc){.file = UINT32_MAX}, a, b);
}

/* Returns SQLITE_ROW: the trace has that launch; SQLITE_DONE: it does not; or an SQLite error. */
static int find_launch(sqlite3 *db, int64_t kernel)
{
    sqlite3_stmt *s = NULL;
    int code = sqlite3_prepare_v2(db, "SELECT 1 FROM kernel WHERE ?1 = 0 OR id = ?1", -1, &s, NULL);
    if (code == SQLITE_OK) {
        sqlite3_bind_int64(s, 1, kernel);
        code = sqlite3_step(s);
    }
    const int last = sqlite3_finalize(s);
    return code == SQLITE_ROW || code == SQLITE_DONE || last == SQLITE_OK ? code : last;
}

/* Returns the connection that failed. */
static sqlite3 *failed_connection(const pl_report_request *r)
{
    int code = sqlite3_errcode(r->db);
    bool ok = code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE;
    return ok && r->baseline ? r->baseline : r->db;
}

/* Reports the failure of a connection. */
static pl_status sql_failed(pl_gpu *gpu, sqlite3 *db)
{
    PL_GUARD(return pl_gpu_no_memory(gpu, "while reading a trace"))
    int why;
    const pl_status st = pl_tracedb_failure(db, &why);
    if (st == PL_NOMEM) return pl_gpu_no_memory(gpu, "while reading a trace");
    pl_diag *d = report(gpu, PL_E0703, why ? strerror(why) : sqlite3_errmsg(db), NULL);
    if (!why) d->help = pl_tracedb_remedy(db);
    return st;
}

static pl_status write_file(pl_gpu *gpu, const pl_report_request *r, const char *path, bool force)
{
    const pl_output_how how = {.kind = PL_OUTPUT_REPORT, .force = force};
    pl_output *o;
    const char *damage;
    pl_status st = pl_output_open(gpu, path, &how, &o);
    if (st != PL_OK) return st;
    const pl_status written = pl_report_write(r, pl_output_stream(o), &damage);
    st = pl_output_close(o, written);
    PL_GUARD(return pl_gpu_no_memory(gpu, "while writing a report"))
    if (written == PL_NOMEM) return pl_gpu_no_memory(gpu, "while writing a report");
    if (written == PL_INVALID && damage) report(gpu, PL_E0711, r->path, damage);
    if (written == PL_INVALID && !damage) return sql_failed(gpu, failed_connection(r));
    return st;
}

static pl_status check_launch(pl_gpu *gpu, const char *trace, sqlite3 *db, int64_t kernel)
{
    PL_GUARD(return pl_gpu_no_memory(gpu, "while reading a trace"))
    char number[24];
    const int code = find_launch(db, kernel);
    if (code == SQLITE_ROW) return PL_OK;
    if (code != SQLITE_DONE) return sql_failed(gpu, db);
    snprintf(number, sizeof number, "%lld", (long long)kernel);
    report(gpu, PL_E0707, trace, kernel ? number : "to show")->help =
        "`ptxloom query FILE launches` lists them";
    return PL_INVALID;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int is_flag_set(void *flag)
{
    return *(const volatile int *)flag != 0;
}

pl_status pl_trace_report(pl_gpu *gpu, const char *trace, const char *out,
                          const pl_report_options *o)
{
    pl_report_request r = {
        .path = trace, .name = base_name(trace), .kernel = o->launch, .max_issues = o->issue_slots};
    pl_status st = pl_trace_connect(gpu, trace, &r.db);
    if (st == PL_OK) st = check_launch(gpu, trace, r.db, r.kernel);
    if (st == PL_OK && o->baseline) {
        r.baseline_name = base_name(o->baseline);
        st = pl_trace_connect(gpu, o->baseline, &r.baseline);
    }
    for (int i = 0; i < 2 && o->cancel; i++) {
        sqlite3 *db = i ? r.baseline : r.db;
        if (db) sqlite3_progress_handler(db, STEPS, is_flag_set, (void *)(uintptr_t)o->cancel);
    }
    if (st == PL_OK) st = write_file(gpu, &r, out, o->force);
    sqlite3_close(r.db);
    sqlite3_close(r.baseline);
    return st;
}

int64_t pl_trace_partner(struct sqlite3 *a, int64_t launch, struct sqlite3 *b)
{
    return pl_tracedb_matching_launch(a, launch, b);
}

static pl_line_cost cost(const pl_tracedb_line_sum *s)
{
    return (pl_line_cost){.line = s->line,
                          .issues = s->issues,
                          .stall_cycles = s->stall_cycles,
                          .sectors = s->sectors,
                          .conflicts = s->conflicts,
                          .cuda = s->cuda};
}

pl_status pl_trace_diff(pl_gpu *gpu, struct sqlite3 *a, int64_t launch_a, struct sqlite3 *b,
                        int64_t launch_b,
                        void (*line)(void *ctx, const char *text, const pl_line_cost *a,
                                     const pl_line_cost *b),
                        void *ctx)
{
    pl_tracedb_diff_lines d;
    pl_status st = pl_tracedb_diff(a, launch_a, b, launch_b, &d);
    if (st == PL_NOMEM) return pl_gpu_no_memory(gpu, "while comparing traces");
    if (st == PL_INTERRUPTED) return st;
    if (st != PL_OK) {
        return sql_failed(gpu, sqlite3_errcode(a) ? a : b);
    }
    for (size_t i = 0; i < d.n; i++) {
        pl_line_cost x = cost(&d.line[i].side[0]), y = cost(&d.line[i].side[1]);
        line(ctx, d.line[i].text, &x, &y);
    }
    pl_tracedb_diff_free(&d);
    return PL_OK;
}
