/* perfetto.c - writes a trace as events of the Trace Event Format.
 *
 * The format is described in "Trace Event Format" (Google, 2016): X events have a start and a
 * duration. b and e events begin and end an asynchronous operation, which is shown next to the
 * thread (here barriers and copies). C events are counter values, M events names. */
#include "cli/perfetto.h"
#include "cli/query_out.h"
#include "cli/stop.h"
#include <inttypes.h>
#include <stdlib.h>

enum {
    APPLICATION = 1 << 30, /* a process in addition to those of the multiprocessors */
    LANES = 32,            /* that events of a thread are distributed over */
    LANE_THREADS = 10000000
};

/* Events of a thread must not overlap unless one contains the other. Those that run at the same
 * time are therefore in different lanes, which are threads as well. */
typedef struct track {
    int64_t pid, tid;
    double end[LANES];
} track;

typedef struct writer {
    sqlite3 *db;
    FILE *f;
    int64_t kernel, sm, offset; /* offset: cycle at which the launch starts */
    int64_t per_block;          /* warps */
    int64_t first_inst, end;    /* rows of inst of this launch: from first_inst, before end */
    int64_t first_barrier, last_barrier; /* rows of barrier, or 1 and 0 */
    int64_t lane;                        /* 0; others: for launches that run at the same time */
    bool application;                    /* a CUDA program: times are on its clock ... */
    double start_us, mhz; /* ... start of the launch on that clock; cycles per microsecond */
    bool has_events;
    track *track;
    size_t ntracks;
} writer;

/* Wrapping sums: a damaged trace may contain any number. */
static int64_t add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* Begins an event: kind, name, category, process and thread; its time follows. */
static void begin_event(writer *w, char kind, const char *name, const char *category, int64_t pid,
                        int64_t tid)
{
    fputs(w->has_events ? ",\n{\"name\":" : "\n{\"name\":", w->f);
    w->has_events = true;
    query_json_text(w->f, name);
    fprintf(w->f, ",\"cat\":\"%s\",\"ph\":\"%c\",\"pid\":%" PRId64 ",\"tid\":%" PRId64 ",\"ts\":",
            category, kind, pid, tid);
}

/* The same with its time. */
static void begin_event_at(writer *w, char kind, const char *name, const char *category,
                           int64_t pid, int64_t tid, int64_t cycle)
{
    begin_event(w, kind, name, category, pid, tid);
    if (w->application) {
        fprintf(w->f, "%.6f", w->start_us + (double)cycle / w->mhz);
        return;
    }
    cycle = add(cycle, w->offset);
    fprintf(w->f, "%" PRId64 ".%03d", cycle / 1000, abs((int)(cycle % 1000)));
}

static void put_duration(writer *w, int64_t cycles)
{
    if (cycles < 0) cycles = 0;
    if (w->application)
        fprintf(w->f, ",\"dur\":%.6f", (double)cycles / w->mhz);
    else
        fprintf(w->f, ",\"dur\":%" PRId64 ".%03d", cycles / 1000, (int)(cycles % 1000));
}

static void put_name(writer *w, const char *what, int64_t pid, int64_t tid, const char *name)
{
    fputs(w->has_events ? ",\n" : "\n", w->f);
    w->has_events = true;
    fprintf(w->f,
            "{\"name\":\"%s\",\"ph\":\"M\",\"pid\":%" PRId64 ",\"tid\":%" PRId64
            ",\"args\":{\"name\":",
            what, pid, tid);
    query_json_text(w->f, name);
    fputs("}}", w->f);
}

/* Prepares a statement about the launch; ?1 is its number, ?2 the multiprocessor or -1. */
static sqlite3_stmt *prepare(const writer *w, const char *sql)
{
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(w->db, sql, -1, &s, NULL) != SQLITE_OK) return NULL;
    sqlite3_bind_int64(s, 1, w->kernel);
    if (sqlite3_bind_parameter_count(s) > 1) sqlite3_bind_int64(s, 2, w->sm);
    return s;
}

static const char *text(sqlite3_stmt *s, int column)
{
    const char *t = (const char *)sqlite3_column_text(s, column);
    return t ? t : "";
}

static int64_t thread_id(const writer *w, int64_t block, int64_t warp)
{
    return (int64_t)((uint64_t)block * (uint64_t)w->per_block + (uint64_t)warp + 1 +
                     (uint64_t)w->lane * LANE_THREADS);
}

static int put_thread_names(writer *w)
{
    sqlite3_stmt *s = prepare(
        w, "SELECT b.sm, p.block, p.warp FROM warp p JOIN block b ON b.kernel = p.kernel AND "
           "b.block = p.block WHERE p.kernel = ?1 AND (?2 < 0 OR b.sm = ?2) ORDER BY b.sm, "
           "p.block, p.warp");
    int64_t last = -1;
    char name[64];
    while (s && sqlite3_step(s) == SQLITE_ROW) {
        int64_t sm = sqlite3_column_int64(s, 0), block = sqlite3_column_int64(s, 1),
                warp = sqlite3_column_int64(s, 2);
        if (sm != last) {
            snprintf(name, sizeof name, "SM %" PRId64, sm);
            put_name(w, "process_name", add(sm, 1), 0, name);
            last = sm;
        }
        snprintf(name, sizeof name, "block %" PRId64 " warp %" PRId64, block, warp);
        put_name(w, "thread_name", add(sm, 1), thread_id(w, block, warp), name);
    }
    return s ? sqlite3_finalize(s) : sqlite3_errcode(w->db);
}

static int put_issues(writer *w)
{
    sqlite3_stmt *s = prepare(
        w, "SELECT i.cycle, i.sm, i.block, i.warp, i.pc, i.lanes, i.stall_cycles, i.latency, "
           "r.name, n.text, n.ptx_line "
           "FROM inst i JOIN kernel k ON k.id = i.kernel JOIN instruction n ON n.module = k.module "
           "AND n.pc = i.pc "
           "JOIN stall_reason r ON r.id = i.stall WHERE i.kernel = ?1 AND (?2 < 0 OR i.sm = ?2) "
           "AND i.id >= ?3 AND i.id < ?4 ORDER BY i.id");
    if (s) {
        sqlite3_bind_int64(s, 3, w->first_inst);
        sqlite3_bind_int64(s, 4, w->end);
    }
    while (s && sqlite3_step(s) == SQLITE_ROW) {
        int64_t cycle = sqlite3_column_int64(s, 0), pid = add(sqlite3_column_int64(s, 1), 1),
                wait = sqlite3_column_int64(s, 6);
        int64_t tid = thread_id(w, sqlite3_column_int64(s, 2), sqlite3_column_int64(s, 3));
        if (wait > cycle) wait = cycle;
        if (wait > 0) {
            begin_event_at(w, 'X', text(s, 8), "stall", pid, tid, add(cycle, -wait));
            put_duration(w, wait);
            fputc('}', w->f);
        }
        begin_event_at(w, 'X', text(s, 9), "issue", pid, tid, cycle);
        put_duration(w, 1);
        fprintf(w->f,
                ",\"args\":{\"pc\":%" PRId64 ",\"line\":%" PRId64 ",\"lanes\":%" PRId64
                ",\"latency\":%" PRId64 "}}",
                (int64_t)sqlite3_column_int64(s, 4), (int64_t)sqlite3_column_int64(s, 10),
                (int64_t)sqlite3_column_int64(s, 5), (int64_t)sqlite3_column_int64(s, 7));
    }
    return s ? sqlite3_finalize(s) : sqlite3_errcode(w->db);
}

/* Converts rows of id, sm, block, warp, start, end, name to pairs of asynchronous events. */
static int put_spans(writer *w, const char *category, const char *sql)
{
    sqlite3_stmt *s = prepare(w, sql);
    if (s && sqlite3_bind_parameter_count(s) > 2) {
        sqlite3_bind_int64(s, 3, w->first_barrier);
        sqlite3_bind_int64(s, 4, w->last_barrier);
    }
    while (s && sqlite3_step(s) == SQLITE_ROW) {
        int64_t pid = add(sqlite3_column_int64(s, 1), 1),
                tid = thread_id(w, sqlite3_column_int64(s, 2), sqlite3_column_int64(s, 3));
        for (int end = 0; end < 2; end++) {
            begin_event_at(w, end ? 'e' : 'b', text(s, 6), category, pid, tid,
                           sqlite3_column_int64(s, 4 + end));
            fprintf(w->f, ",\"id\":\"%s%" PRId64 ".%" PRId64 "\"}", category, w->kernel,
                    (int64_t)sqlite3_column_int64(s, 0));
        }
    }
    return s ? sqlite3_finalize(s) : sqlite3_errcode(w->db);
}

static int put_counters(writer *w)
{
    sqlite3_stmt *s = prepare(w, "SELECT component || ' ' || name, cycle, value FROM counter_time "
                                 "WHERE kernel = ?1 ORDER BY component, name, cycle");
    while (s && sqlite3_step(s) == SQLITE_ROW) {
        begin_event_at(w, 'C', text(s, 0), "counter", 0, 0, sqlite3_column_int64(s, 1));
        fprintf(w->f, ",\"args\":{\"value\":%" PRId64 "}}", (int64_t)sqlite3_column_int64(s, 2));
    }
    return s ? sqlite3_finalize(s) : sqlite3_errcode(w->db);
}

static int put_launch(writer *w)
{
    int code = put_thread_names(w);
    if (code == SQLITE_OK) code = put_issues(w);
    if (code == SQLITE_OK)
        code = put_spans(w, "barrier",
                         "SELECT b.id, k.sm, b.block, b.warp, b.arrived, b.resumed, n.text FROM "
                         "barrier b JOIN block k ON k.kernel = b.kernel AND "
                         "k.block = b.block JOIN kernel l ON l.id = b.kernel JOIN instruction n ON "
                         "n.module = l.module AND n.pc = b.pc "
                         "WHERE b.kernel = ?1 AND b.resumed IS NOT NULL AND (?2 < 0 OR k.sm = ?2) "
                         "AND b.id BETWEEN ?3 AND ?4 ORDER BY b.id");
    if (code == SQLITE_OK)
        code = put_spans(
            w, "async",
            "SELECT a.inst, i.sm, a.block, a.warp, a.issued, a.completed, n.text FROM "
            "async a JOIN inst i ON i.id = a.inst JOIN kernel l "
            "ON l.id = a.kernel JOIN instruction n ON n.module = l.module AND n.pc = a.pc "
            "WHERE a.kernel = ?1 AND (?2 < 0 OR i.sm = ?2) ORDER BY a.inst");
    return code == SQLITE_OK ? put_counters(w) : code;
}

/* ---- a CUDA program: its streams, threads and ranges ---- */

static track *find_track(writer *w, int64_t pid, int64_t tid)
{
    for (size_t k = 0; k < w->ntracks; k++)
        if (w->track[k].pid == pid && w->track[k].tid == tid) return &w->track[k];
    track *more = realloc(w->track, (w->ntracks + 1) * sizeof *more);
    if (!more) return NULL;
    w->track = more;
    more[w->ntracks] = (track){.pid = pid, .tid = tid};
    return &more[w->ntracks++];
}

/* Returns the lane of an event, which may be part of another one if it nests. The name of the lane
 * is written at its first use. */
static int64_t choose_lane(writer *w, int64_t pid, int64_t tid, double start, double end,
                           bool nests)
{
    const double least = 1e-6; /* digits that are written */
    track *t = find_track(w, pid, tid);
    int64_t k = 0;
    if (!t) return 0;
    while (k < LANES - 1 && t->end[k] > start + least && (!nests || t->end[k] < end - least)) k++;
    if (k && t->end[k] == 0) put_name(w, "thread_name", pid, tid + k * LANE_THREADS, "beside");
    if (end > t->end[k]) t->end[k] = end;
    return k;
}

/* Converts rows of thread, name, category, start, end and arguments as JSON to events of a process.
 */
static int put_rows(writer *w, int64_t pid, const char *process, const char *thread_sql,
                    const char *sql)
{
    sqlite3_stmt *s = NULL;
    int code = sqlite3_prepare_v2(w->db, thread_sql, -1, &s, NULL);
    bool has_threads = false;
    while (code == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW) {
        if (!has_threads) put_name(w, "process_name", pid, 0, process);
        has_threads = true;
        put_name(w, "thread_name", pid, sqlite3_column_int64(s, 0), text(s, 1));
    }
    if (code == SQLITE_OK) code = sqlite3_finalize(s);
    if (code == SQLITE_OK) code = sqlite3_prepare_v2(w->db, sql, -1, &s, NULL);
    while (code == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW) {
        const double start = sqlite3_column_double(s, 3), end = sqlite3_column_double(s, 4);
        const int64_t tid = sqlite3_column_int64(s, 0);
        begin_event(w, 'X', text(s, 1), text(s, 2), pid,
                    tid + choose_lane(w, pid, tid, start, end, pid != APPLICATION) * LANE_THREADS);
        fprintf(w->f, "%.6f,\"dur\":%.6f,\"args\":%s}", start, end > start ? end - start : 0,
                text(s, 5));
    }
    return code == SQLITE_OK ? sqlite3_finalize(s) : code;
}

static int put_application(writer *w)
{
    int code = put_rows(
        w, APPLICATION, "streams",
        "SELECT DISTINCT device * 100000 + stream + 1, iif(stream, 'stream ' || stream, 'default "
        "stream') || iif(device, ' of device ' || device, '') FROM activity WHERE kind <> 'event'",
        "SELECT device * 100000 + stream + 1, iif(kind = 'kernel' OR name = kind, name, kind || ' "
        "' || name), kind, start_us, end_us, json_object('bytes', bytes, 'GB/s', bytes / "
        "nullif((end_us - start_us) * 1e3, 0), 'source', source, 'destination', destination, "
        "'graph', graph, 'launch', kernel, 'estimated', estimated) FROM activity WHERE kind <> "
        "'event' ORDER BY id");
    if (code == SQLITE_OK)
        code =
            put_rows(w, APPLICATION + 1, "calls",
                     "SELECT DISTINCT thread, 'thread ' || thread FROM api_call",
                     "SELECT thread, name, 'call', start_us, end_us, json_object('result', result, "
                     "'error', error) FROM api_call ORDER BY id");
    if (code == SQLITE_OK)
        code =
            put_rows(w, APPLICATION + 2, "ranges",
                     "SELECT DISTINCT thread, 'thread ' || thread FROM nvtx_range",
                     "SELECT thread, name, 'range', start_us, end_us, json_object('depth', depth) "
                     "FROM nvtx_range ORDER BY id");
    return code;
}

/* True if the trace is of a CUDA program whose clock is known. */
static bool is_application(sqlite3 *db, double *mhz)
{
    sqlite3_stmt *s = NULL;
    bool found = false;
    if (sqlite3_prepare_v2(db,
                           "SELECT clock_mhz FROM machine WHERE clock_mhz > 0 AND EXISTS (SELECT 1 "
                           "FROM api_call)",
                           -1, &s, NULL) == SQLITE_OK &&
        sqlite3_step(s) == SQLITE_ROW) {
        *mhz = sqlite3_column_double(s, 0);
        found = true;
    }
    sqlite3_finalize(s);
    return found;
}

int perfetto_write(pl_gpu *gpu, sqlite3 *db, int64_t launch, int64_t sm, FILE *out)
{
    writer w = {.db = db, .f = out, .sm = sm};
    sqlite3_stmt *s = NULL;
    /* inst and barrier have no index of kernels, but their rows are in the order of the launches */
    int code = sqlite3_prepare_v2(
        db,
        "WITH start AS (SELECT kernel, min(start_us) AS us FROM activity GROUP BY kernel), "
        "span AS (SELECT id, first_inst, min(first_inst) OVER (ORDER BY id ROWS BETWEEN "
        "1 FOLLOWING AND UNBOUNDED FOLLOWING) AS next FROM kernel), "
        "waits AS (SELECT kernel, min(id) AS first, max(id) AS last FROM barrier GROUP BY kernel) "
        "SELECT k.id, k.name, coalesce(k.cycles, 0), k.warps / max(k.blocks, 1), a.us, "
        "coalesce(p.first_inst, 0), coalesce(p.next, 9223372036854775807), "
        "coalesce(b.first, 1), coalesce(b.last, 0) "
        "FROM kernel k JOIN span p ON p.id = k.id LEFT JOIN start a ON a.kernel = k.id "
        "LEFT JOIN waits b ON b.kernel = k.id "
        "WHERE ?1 = 0 OR k.id = ?1 ORDER BY k.id",
        -1, &s, NULL);
    if (code != SQLITE_OK) return cli_sql_failed(gpu, db, NULL);
    sqlite3_bind_int64(s, 1, launch);
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", out);
    w.application = is_application(db, &w.mhz);
    if (w.application) code = put_application(&w);
    put_name(&w, "process_name", 0, 0, w.application ? "GPU" : "GPU (1 cycle = 1 ns)");
    put_name(&w, "thread_name", 0, 0, "launches");
    while (code == SQLITE_OK && (code = sqlite3_step(s)) == SQLITE_ROW) {
        int64_t cycles = sqlite3_column_int64(s, 2);
        w.kernel = sqlite3_column_int64(s, 0);
        w.per_block = sqlite3_column_int64(s, 3);
        w.start_us = sqlite3_column_double(s, 4);
        w.first_inst = sqlite3_column_int64(s, 5);
        w.end = sqlite3_column_int64(s, 6);
        w.first_barrier = sqlite3_column_int64(s, 7);
        w.last_barrier = sqlite3_column_int64(s, 8);
        if (w.application)
            w.lane = choose_lane(&w, 0, 0, w.start_us, w.start_us + (double)cycles / w.mhz, false);
        begin_event_at(&w, 'X', text(s, 1), "launch", 0, w.lane * LANE_THREADS, 0);
        put_duration(&w, cycles);
        fprintf(out, ",\"args\":{\"launch\":%" PRId64 "}}", w.kernel);
        code = put_launch(&w);
        w.offset = add(w.offset, cycles);
    }
    fputs("\n]}\n", out);
    const int status = code == SQLITE_DONE ? CLI_OK : cli_sql_failed(gpu, db, NULL);
    sqlite3_finalize(s);
    free(w.track);
    return status;
}
