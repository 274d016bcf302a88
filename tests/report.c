/* report.c - `ptxloom report` writes the same data as the trace.
 *
 * Creates traces of several kernels and reports of them, extracts the data from the page and
 * queries the trace again. Every answer of panels.sql is compared cell by cell. Every array of the
 * timeline, the maps and the accesses is compared with sums and rows from SQL. The numbers of a
 * run are compared across all outputs: text, --json, --summary, trace, report. */
#include "tests/harness.h"
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS 300

static char *folder;

static const char *in_folder(const char *name)
{
    static char path[8][4096];
    static unsigned k;
    char *to = path[k++ % 8];
    snprintf(to, sizeof path[0], "%s/%s", folder, name);
    return to;
}

/* Runs ptxloom with the words up to NULL; reports a failure. */
static run_result loom(const char *const words[])
{
    const char *argv[24] = {loom_path()};
    for (int i = 0; words[i]; i++) argv[i + 1] = words[i];
    run_result r = run_command(argv, SECONDS);
    if (r.status != 0) tap_note("ptxloom %s ended with %d: %s", words[0], r.status, r.err);
    return r;
}

/* The JSON object of a page; NULL: none. */
static json_t *page_data(const char *path)
{
    static const char open[] = "<script type=\"application/json\" id=\"data\">";
    char *page = read_whole(path, NULL), *at = strstr(page, open),
         *end = at ? strstr(at, "</script>") : NULL;
    json_error_t error;
    json_t *data =
        end ? json_loadb(at + sizeof open - 1, (size_t)(end - at) - sizeof open + 1, 0, &error)
            : NULL;
    if (!data) tap_note("%s: %s", path, end ? error.text : "no data");
    free(page);
    return data;
}

/* ---- SQL ---- */

static sqlite3_stmt *ask(sqlite3 *db, int64_t kernel, const char *sql)
{
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
        tap_note("%s: %s", sql, sqlite3_errmsg(db));
    int at = sqlite3_bind_parameter_index(s, ":kernel");
    if (at) sqlite3_bind_int64(s, at, kernel);
    return s;
}

static int64_t value(sqlite3 *db, int64_t kernel, const char *sql)
{
    sqlite3_stmt *s = ask(db, kernel, sql);
    int64_t v = sqlite3_step(s) == SQLITE_ROW ? sqlite3_column_int64(s, 0) : INT64_MIN;
    sqlite3_finalize(s);
    return v;
}

static bool same_cell(sqlite3_stmt *s, int c, const json_t *v)
{
    switch (sqlite3_column_type(s, c)) {
    case SQLITE_NULL: return json_is_null(v);
    case SQLITE_INTEGER:
        return json_is_integer(v) && json_integer_value(v) == sqlite3_column_int64(s, c);
    case SQLITE_FLOAT:
        return json_is_number(v) && json_number_value(v) == sqlite3_column_double(s, c);
    default:
        return json_is_string(v) &&
               strcmp(json_string_value(v), (const char *)sqlite3_column_text(s, c)) == 0;
    }
}

/* Counts rows that differ from the query's; *cells counts all cells. */
static int wrong_rows(sqlite3 *db, int64_t kernel, const char *sql, const json_t *answer,
                      size_t *cells)
{
    const json_t *rows = json_object_get(answer, "rows");
    sqlite3_stmt *s = ask(db, kernel, sql);
    size_t r = 0;
    int wrong = 0, n = sqlite3_column_count(s);
    for (; sqlite3_step(s) == SQLITE_ROW; r++) {
        const json_t *row = json_array_get(rows, r);
        bool same = json_array_size(row) == (size_t)n;
        for (int c = 0; same && c < n; c++) same = same_cell(s, c, json_array_get(row, (size_t)c));
        wrong += !same;
        *cells += (size_t)n;
    }
    sqlite3_finalize(s);
    return wrong + (json_array_size(rows) != r);
}

static void check_queries(sqlite3 *db, const char *name, const json_t *data)
{
    const json_t *queries = json_object_get(data, "queries"), *launch;
    size_t i, cells = 0;
    int wrong = 0, asked = 0;
    json_array_foreach(json_object_get(data, "launches"), i, launch)
    {
        const char *q;
        json_t *query;
        json_object_foreach((json_t *)(uintptr_t)queries, q, query)
        {
            int w = wrong_rows(db, json_integer_value(json_object_get(launch, "id")),
                               json_string_value(json_object_get(query, "sql")),
                               json_object_get(launch, q), &cells);
            if (w) tap_note("%s: %d rows differ", q, w);
            wrong += w;
            asked++;
        }
    }
    tap(wrong == 0 && asked >= 20, "%s: the page has the answers of %d queries, %zu cells", name,
        asked, cells);
}

/* ---- arrays ---- */

typedef struct bytes {
    unsigned char *at;
    size_t n, next;
    uint64_t zeros; /* remaining zeros of a run */
} bytes;

static bytes decode(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    bytes b = {.at = malloc(text ? strlen(text) + 1 : 1)};
    uint32_t v = 0;
    int bits = 0;
    for (; text && *text && *text != '='; text++) {
        static const char digit[] =
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        v = v << 6 | (uint32_t)(strchr(digit, *text) - digit);
        if ((bits += 6) < 8) continue;
        b.at[b.n++] = (unsigned char)(v >> (bits -= 8));
    }
    return b;
}

static uint64_t number(bytes *b)
{
    uint64_t v = 0;
    for (int shift = 0; b->next < b->n; shift += 7) {
        unsigned char c = b->at[b->next++];
        v |= (uint64_t)(c & 0x7f) << shift;
        if (!(c & 0x80)) break;
    }
    return v;
}

static int64_t signed_number(bytes *b)
{
    uint64_t v = number(b);
    return v & 1 ? -(int64_t)(v >> 1) - 1 : (int64_t)(v >> 1);
}

static uint64_t sparse(bytes *b)
{
    if (b->zeros) {
        b->zeros--;
        return 0;
    }
    uint64_t v = number(b);
    if (v == 0) {
        uint64_t run = number(b);
        b->zeros = run ? run - 1 : 0;
    }
    return v;
}

static int64_t member(const json_t *o, const char *key)
{
    return json_integer_value(json_object_get(o, key));
}

/* The windows: issues of every SM in every window, and stall cycles by reason. */
static bool windows_agree(sqlite3 *db, int64_t kernel, const json_t *t)
{
    size_t windows = (size_t)member(t, "windows"), sms = (size_t)member(t, "sms"),
           reasons = (size_t)member(t, "reasons");
    uint64_t *count = calloc(sms * windows, sizeof *count), wrong = 0;
    char sql[200];
    snprintf(sql, sizeof sql,
             "SELECT sm, cycle / %" PRId64
             ", count(*) FROM inst WHERE kernel = :kernel GROUP BY 1, 2",
             member(t, "width"));
    sqlite3_stmt *s = ask(db, kernel, sql);
    while (sqlite3_step(s) == SQLITE_ROW) {
        size_t at =
            (size_t)sqlite3_column_int64(s, 0) * windows + (size_t)sqlite3_column_int64(s, 1);
        if (at < sms * windows) count[at] = (uint64_t)sqlite3_column_int64(s, 2);
    }
    sqlite3_finalize(s);
    bytes b = decode(t, "issues"), mix = decode(t, "mix");
    for (size_t i = 0; i < sms * windows; i++) wrong += sparse(&b) != count[i];
    for (size_t r = 0; r < reasons; r++) {
        uint64_t sum = 0;
        for (size_t w = 0; w < windows; w++) sum += sparse(&mix);
        snprintf(sql, sizeof sql,
                 "SELECT coalesce(sum(min(stall_cycles, cycle)), 0) FROM inst WHERE kernel = "
                 ":kernel AND stall = %zu",
                 r);
        wrong += r > 0 && sum != (uint64_t)value(db, kernel, sql);
    }
    free(b.at);
    free(mix.at);
    free(count);
    if (wrong) tap_note("%" PRIu64 " windows differ", wrong);
    return wrong == 0;
}

typedef struct warp {
    int64_t sm, block, warp, first;
} warp;

/* The lifetimes of warps, which it returns, and single issues, which it compares with rows of
 * inst. */
static bool warps_agree(sqlite3 *db, int64_t kernel, const json_t *t, warp **out)
{
    size_t n = (size_t)member(t, "warps");
    warp *list = *out = calloc(n + 1, sizeof *list);
    bytes b = decode(t, "lives");
    sqlite3_stmt *s = ask(db, kernel,
                          "SELECT b.sm, w.first_cycle, w.block, w.warp, w.subcore, w.last_cycle - "
                          "w.first_cycle, w.executed, w.lanes FROM warp w "
                          "JOIN block b USING (kernel, block) WHERE kernel = :kernel ORDER BY "
                          "b.sm, w.first_cycle, w.block, w.warp");
    warp last = {0};
    bool same = (int64_t)n == value(db, kernel, "SELECT count(*) FROM warp WHERE kernel = :kernel");
    for (size_t i = 0; i < n && same; i++) {
        int64_t step = (int64_t)number(&b);
        if (step) last.first = 0;
        last.sm += step;
        last.first += (int64_t)number(&b);
        last.block += signed_number(&b);
        last.warp = (int64_t)number(&b);
        const int64_t own[] = {last.sm,
                               last.first,
                               last.block,
                               last.warp,
                               (int64_t)number(&b),
                               (int64_t)number(&b),
                               (int64_t)number(&b),
                               (int64_t)number(&b)};
        same = sqlite3_step(s) == SQLITE_ROW;
        for (int c = 0; same && c < 8; c++) same = own[c] == sqlite3_column_int64(s, c);
        list[i] = last;
    }
    sqlite3_finalize(s);
    free(b.at);
    if (!same) tap_note("warp lifetimes differ");
    return same;
}

static bool issues_agree(sqlite3 *db, int64_t kernel, const json_t *t, const warp *list)
{
    enum { CODE = 1 << 16 };
    const json_t *slots = json_object_get(t, "slots");
    uint32_t *latency = calloc(CODE, sizeof *latency);
    bytes b = decode(slots, "data");
    size_t wrong = 0, rows = 0;
    sqlite3_exec(db,
                 "PRAGMA temp_store = MEMORY; CREATE TEMP TABLE IF NOT EXISTS own (kernel, block, "
                 "warp, cycle, pc, mask, stall, stall_cycles, latency); DELETE FROM own; BEGIN",
                 NULL, NULL, NULL);
    sqlite3_stmt *s = ask(db, 0, "INSERT INTO own VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    while (b.next < b.n) {
        const warp *w = &list[number(&b)];
        size_t n = number(&b);
        uint64_t cycle = (uint64_t)w->first, mask = UINT32_MAX;
        int64_t pc = -1;
        for (size_t i = 0; i < n; i++, rows++) {
            unsigned head = b.at[b.next++];
            cycle += number(&b);
            uint64_t wait = number(&b);
            pc = pc + 1 + (head & 0x20 ? 0 : signed_number(&b));
            if (!(head & 0x40)) mask = number(&b);
            if (!(head & 0x80)) latency[pc & (CODE - 1)] = (uint32_t)number(&b);
            const int64_t own[] = {
                kernel,        w->block,    w->warp,       (int64_t)cycle,          pc,
                (int64_t)mask, head & 0x1f, (int64_t)wait, latency[pc & (CODE - 1)]};
            for (int c = 0; c < 9; c++) sqlite3_bind_int64(s, c + 1, own[c]);
            sqlite3_step(s);
            sqlite3_reset(s);
        }
    }
    sqlite3_finalize(s);
    sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    free(latency);
    free(b.at);
    wrong = (size_t)value(db, kernel,
                          "SELECT count(*) FROM (SELECT * FROM own EXCEPT SELECT kernel, block, "
                          "warp, cycle, pc, mask, stall, stall_cycles, latency "
                          "FROM inst WHERE kernel = :kernel)");
    char sql[400] = "SELECT count(*) FROM inst WHERE kernel = :kernel AND sm IN (";
    for (size_t i = 0; i < json_array_size(json_object_get(slots, "sms")); i++)
        snprintf(sql + strlen(sql), i < 80 ? 8 : 0, "%s%" JSON_INTEGER_FORMAT, i ? "," : "",
                 json_integer_value(json_array_get(json_object_get(slots, "sms"), i)));
    strcat(sql, ")");
    int64_t expected = json_is_null(json_object_get(slots, "until")) &&
                               json_array_size(json_object_get(slots, "sms")) < 80
                           ? value(db, kernel, sql)
                           : (int64_t)rows;
    if (wrong || (int64_t)rows != expected || (int64_t)rows != member(slots, "rows"))
        tap_note("%zu of %zu issues are not in inst; %" PRId64 " expected", wrong, rows, expected);
    return rows > 0 && wrong == 0 && (int64_t)rows == expected &&
           (int64_t)rows == member(slots, "rows");
}

static bool lanes_agree(sqlite3 *db, int64_t kernel, const json_t *launch)
{
    const json_t *lanes = json_object_get(launch, "lanes"),
                 *h = json_object_get(lanes, "histogram"), *w;
    int wrong = json_array_size(h) == 0;
    char sql[200];
    for (size_t i = 0; i < json_array_size(h); i++) {
        snprintf(sql, sizeof sql,
                 "SELECT count(*) FROM inst WHERE kernel = :kernel AND lanes = %zu", i);
        wrong += json_integer_value(json_array_get(h, i)) != value(db, kernel, sql);
    }
    size_t k;
    json_array_foreach(json_object_get(lanes, "warps"), k, w)
    {
        bytes b = decode(w, "data");
        int64_t pc = 0, mask = 0, n = 0;
        snprintf(sql, sizeof sql,
                 "SELECT pc, mask FROM inst WHERE kernel = :kernel AND block = %" PRId64
                 " AND warp = %" PRId64 " ORDER BY id",
                 member(w, "block"), member(w, "warp"));
        sqlite3_stmt *s = ask(db, kernel, sql);
        for (; b.next < b.n; n++) {
            pc += signed_number(&b);
            mask ^= (int64_t)number(&b);
            wrong += sqlite3_step(s) != SQLITE_ROW || sqlite3_column_int64(s, 0) != pc ||
                     sqlite3_column_int64(s, 1) != mask;
        }
        wrong += n != member(w, "rows");
        sqlite3_finalize(s);
        free(b.at);
    }
    if (wrong) tap_note("%d differences in lanes and masks", wrong);
    return wrong == 0;
}

/* The map: all sectors of each level, and of every page of each level. */
static bool maps_agree(sqlite3 *db, int64_t kernel, const json_t *launch)
{
    const json_t *m = json_object_get(launch, "maps"), *levels = json_object_get(m, "levels");
    size_t rows = json_array_size(json_object_get(m, "addresses")),
           windows = (size_t)member(m, "windows"), n = json_array_size(levels);
    uint64_t sum[8] = {0};
    int wrong = n == 0 || n > 8;
    bytes b = decode(m, "sectors");
    for (size_t i = 0; i < rows * n * windows && n <= 8; i++) sum[i / windows % n] += sparse(&b);
    for (size_t i = 0; i < n; i++) {
        char sql[300];
        snprintf(sql, sizeof sql,
                 "SELECT coalesce(sum(sectors), 0) FROM mem WHERE kernel = :kernel AND space = "
                 "(SELECT id FROM space WHERE name = 'global') "
                 "AND level = (SELECT id FROM mem_level WHERE name = '%s')",
                 json_string_value(json_array_get(levels, i)));
        wrong += (int64_t)sum[i] != value(db, kernel, sql);
    }
    free(b.at);
    if (wrong) tap_note("%d levels of the map differ", wrong);
    return wrong == 0;
}

/* Sums of every memory instruction, and the addresses of the drawn accesses. */
static bool accesses_agree(sqlite3 *db, int64_t kernel, const json_t *launch)
{
    const json_t *a, *sample;
    size_t i, k;
    int wrong = 0, lanes = 0;
    char sql[300];
    json_array_foreach(json_object_get(launch, "accesses"), i, a)
    {
        static const char *const sums[] = {"count(*)", "sum(sectors)", "sum(wavefronts)"},
                                 *const key[] = {"rows", "sectors", "wavefronts"};
        for (int c = 0; c < 3; c++) {
            snprintf(sql, sizeof sql, "SELECT %s FROM mem WHERE kernel = :kernel AND pc = %" PRId64,
                     sums[c], member(a, "pc"));
            wrong += member(a, key[c]) != value(db, kernel, sql);
        }
        snprintf(sql, sizeof sql,
                 "SELECT max(%s) FROM mem WHERE kernel = :kernel AND pc = %" PRId64,
                 json_string_value(json_object_get(a, "measure")), member(a, "pc"));
        const json_t *most_expensive = json_array_get(json_object_get(a, "samples"), 0);
        wrong += most_expensive &&
                 member(most_expensive, json_string_value(json_object_get(a, "measure"))) !=
                     value(db, kernel, sql);
        json_array_foreach(json_object_get(a, "samples"), k, sample)
        {
            snprintf(sql, sizeof sql, "SELECT lane, address FROM mem_lane WHERE mem = %" PRId64,
                     member(sample, "mem"));
            sqlite3_stmt *s = ask(db, kernel, sql);
            for (; sqlite3_step(s) == SQLITE_ROW; lanes++)
                wrong += json_integer_value(json_array_get(json_object_get(sample, "lanes"),
                                                           (size_t)sqlite3_column_int64(s, 0))) !=
                         sqlite3_column_int64(s, 1);
            sqlite3_finalize(s);
        }
    }
    if (wrong) tap_note("%d differences in accesses", wrong);
    return wrong == 0 && lanes > 0;
}

static void check_arrays(sqlite3 *db, const char *name, const json_t *data)
{
    const json_t *launch;
    size_t i;
    json_array_foreach(json_object_get(data, "launches"), i, launch)
    {
        int64_t kernel = member(launch, "id");
        const json_t *t = json_object_get(launch, "timeline");
        warp *list = NULL;
        tap(t && windows_agree(db, kernel, t),
            "%s, launch %" PRId64 ": windows of time are sums of inst", name, kernel);
        bool lives = t && warps_agree(db, kernel, t, &list);
        tap(lives && issues_agree(db, kernel, t, list),
            "%s, launch %" PRId64 ": warps and %" PRId64 " issue slots are rows of warp and inst",
            name, kernel, member(json_object_get(t, "slots"), "rows"));
        tap(lanes_agree(db, kernel, launch),
            "%s, launch %" PRId64 ": lanes and masks match those of inst", name, kernel);
        tap(maps_agree(db, kernel, launch),
            "%s, launch %" PRId64 ": maps contain all sectors of mem", name, kernel);
        tap(accesses_agree(db, kernel, launch), "%s, launch %" PRId64 ": accesses are rows of mem",
            name, kernel);
        free(list);
    }
}

static void check_report(const char *name, const char *const cases[])
{
    char db_path[4096], page[4096];
    const char *run[16] = {"run"};
    int n = 1;
    snprintf(db_path, sizeof db_path, "%s", in_folder("t.db"));
    snprintf(page, sizeof page, "%s", in_folder("t.html"));
    for (int i = 0; cases[i]; i++) run[n++] = cases[i];
    run[n++] = "--trace", run[n++] = db_path, run[n++] = "--trace-level", run[n++] = "mem",
    run[n] = NULL;
    run_result a = loom(run), b = loom((const char *const[]){"report", db_path, "-o", page, NULL});
    json_t *data = a.status == 0 && b.status == 0 ? page_data(page) : NULL;
    sqlite3 *db = NULL;
    if (data && sqlite3_open_v2(db_path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK) {
        check_queries(db, name, data);
        check_arrays(db, name, data);
    } else {
        tap(false, "%s: a report is written", name);
    }
    sqlite3_close(db);
    json_decref(data);
    run_free(&a);
    run_free(&b);
}

/* A launch that fails has a timeline up to the failure. */
static void check_fault(const char *ptx)
{
    char db_path[4096], page[4096];
    snprintf(db_path, sizeof db_path, "%s", in_folder("f.db"));
    snprintf(page, sizeof page, "%s", in_folder("f.html"));
    const char *const run[] = {loom_path(),
                               "run",
                               ptx,
                               "-k",
                               "k",
                               "-g",
                               "2",
                               "-b",
                               "32",
                               "u32[64]=0",
                               "--trace",
                               db_path,
                               "--trace-level",
                               "mem",
                               NULL};
    run_result a = run_command(run, SECONDS),
               b = loom((const char *const[]){"report", db_path, "-o", page, NULL});
    json_t *data = b.status == 0 ? page_data(page) : NULL;
    const json_t *timeline =
        json_object_get(json_array_get(json_object_get(data, "launches"), 0), "timeline");
    sqlite3 *db = NULL;
    warp *list = NULL;
    sqlite3_open_v2(db_path, &db, SQLITE_OPEN_READONLY, NULL);
    tap(a.status == 1 && timeline &&
            member(timeline, "width") * member(timeline, "windows") >
                value(db, 1, "SELECT max(cycle) FROM inst") &&
            windows_agree(db, 1, timeline) && warps_agree(db, 1, timeline, &list) &&
            issues_agree(db, 1, timeline, list),
        "a launch that fails has a timeline of its %" PRId64 " instructions",
        member(timeline, "rows"));
    free(list);
    sqlite3_close(db);
    json_decref(data);
    run_free(&a);
    run_free(&b);
}

/* ---- packed traces ---- */

static void check_packed(const char *launch)
{
    static const char *const format[] = {"rows", "packed"};
    json_t *data[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        char db_path[4096], page[4096];
        snprintf(db_path, sizeof db_path, "%s/%s.db", folder, format[i]);
        snprintf(page, sizeof page, "%s/%s.html", folder, format[i]);
        run_result a =
            loom((const char *const[]){"run", launch, "--trace", db_path, "--trace-level", "mem",
                                       "--trace-format", format[i], NULL});
        run_result b = loom((const char *const[]){"report", db_path, "-o", page, NULL});
        if (a.status == 0 && b.status == 0) data[i] = page_data(page);
        run_free(&a);
        run_free(&b);
    }
    const json_t *x = json_array_get(json_object_get(data[0], "launches"), 0),
                 *y = json_array_get(json_object_get(data[1], "launches"), 0);
    const char *key;
    json_t *v;
    int wrong = 0, members = 0;
    json_object_foreach((json_t *)(uintptr_t)x, key, v)
    {
        /* The command differs, and rows of mem have other numbers. */
        if (strcmp(key, "facts") == 0 || strcmp(key, "accesses") == 0) continue;
        members++;
        if (json_equal(v, json_object_get(y, key))) continue;
        tap_note("'%s' differs", key);
        wrong++;
    }
    tap(members > 20 && wrong == 0, "a packed trace gives the same page (%d members)", members);
    json_decref(data[0]);
    json_decref(data[1]);
}

/* ---- the page itself ---- */

static void check_page(void)
{
    char *page = read_whole(in_folder("t.html"), NULL);
    static const char *const outside[] = {"http://www", "https://", "src=",           "@import",
                                          "url(h",      "fetch(",   "XMLHttpRequest", "<link"};
    int found = 0;
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        if (!strstr(page, outside[i])) continue;
        tap_note("the page holds '%s'", outside[i]);
        found++;
    }
    tap(found == 0 && strstr(page, "</html>"), "a page uses no external resources");
    free(page);
}

/* ---- a baseline ---- */

static void check_baseline(const char *a, const char *b)
{
    char first[4096], second[4096], page[4096];
    snprintf(first, sizeof first, "%s", in_folder("a.db"));
    snprintf(second, sizeof second, "%s", in_folder("b.db"));
    snprintf(page, sizeof page, "%s", in_folder("ab.html"));
    run_result r =
        loom((const char *const[]){"run", a, "--trace", first, "--trace-level", "summary", NULL});
    run_result s =
        loom((const char *const[]){"run", b, "--trace", second, "--trace-level", "summary", NULL});
    run_result t =
        loom((const char *const[]){"report", second, "--baseline", first, "-o", page, NULL});
    json_t *data = t.status == 0 ? page_data(page) : NULL;
    const json_t *base = json_object_get(json_array_get(json_object_get(data, "launches"), 0),
                                         "baseline"),
                 *line;
    size_t i, cells = 0;
    uint64_t sums[2][3] = {{0}};
    bool same = data != NULL;
    sqlite3 *db[2] = {NULL, NULL};
    sqlite3_open_v2(first, &db[0], SQLITE_OPEN_READONLY, NULL);
    sqlite3_open_v2(second, &db[1], SQLITE_OPEN_READONLY, NULL);
    static const char *const compared[] = {"facts", "metrics", "speed_of_light", "stalls"};
    for (i = 0; same && i < 4; i++)
        same =
            wrong_rows(db[0], 1,
                       json_string_value(json_object_get(
                           json_object_get(json_object_get(data, "queries"), compared[i]), "sql")),
                       json_object_get(base, compared[i]), &cells) == 0;
    json_array_foreach(json_object_get(base, "lines"), i, line) for (size_t k = 0; k < 6; k++)
        sums[k / 3][k % 3] +=
        (uint64_t)json_integer_value(json_array_get(line, 2 + k / 3 * 4 + k % 3));
    for (int k = 0; same && k < 2; k++) {
        static const char *const column[] = {"issues", "stall_cycles", "sectors"};
        for (int c = 0; c < 3; c++) {
            char sql[100];
            snprintf(sql, sizeof sql, "SELECT sum(%s) FROM pc_stat WHERE kernel = 1", column[c]);
            same &= (int64_t)sums[k][c] == value(db[k], 1, sql);
        }
    }
    tap(same,
        "a baseline's answers match its trace, and the lines of both sum correctly (%zu lines)",
        json_array_size(json_object_get(base, "lines")));
    sqlite3_close(db[0]);
    sqlite3_close(db[1]);
    json_decref(data);
    run_free(&r);
    run_free(&s);
    run_free(&t);
}

/* ---- the same numbers in all outputs ---- */

/* The digits after `label` in the text of a run, without commas. */
static double shown(const char *text, const char *label)
{
    char digits[40];
    size_t n = 0;
    const char *at = strstr(text, label);
    if (!at) return -1;
    at += strlen(label);
    at += strspn(at, " ");
    for (; *at && n < sizeof digits - 1 && strchr("0123456789,.", *at); at++)
        if (*at != ',') digits[n++] = *at;
    digits[n] = '\0';
    return atof(digits);
}

static void check_agreement(const char *launch)
{
    char db_path[4096], page[4096];
    snprintf(db_path, sizeof db_path, "%s", in_folder("n.db"));
    snprintf(page, sizeof page, "%s", in_folder("n.html"));
    run_result text = loom((const char *const[]){"run", launch, "--trace", db_path, NULL});
    run_result json = loom((const char *const[]){"run", launch, "--json", NULL});
    run_result summary = loom((const char *const[]){"run", launch, "--summary", NULL});
    run_result r = loom((const char *const[]){"report", db_path, "-o", page, NULL});
    json_t *data = page_data(page), *root = json_loads(json.out, 0, NULL);
    const json_t *c = json_array_get(json_object_get(root, "cases"), 0),
                 *facts =
                     json_object_get(json_array_get(json_object_get(data, "launches"), 0), "facts");
    sqlite3 *db = NULL;
    sqlite3_open_v2(db_path, &db, SQLITE_OPEN_READONLY, NULL);
    static const struct {
        const char *name, *label;
    } n[] = {{"cycles", "cycles  "},
             {"inst_executed", "instructions  "},
             {"thread_inst_executed", NULL},
             {"registers", NULL}};
    int wrong = 0;
    for (size_t i = 0; i < sizeof n / sizeof *n; i++) {
        char sql[100];
        snprintf(sql, sizeof sql, "SELECT %s FROM kernel", n[i].name);
        int64_t trace = value(db, 0, sql), in_json = member(c, n[i].name), in_page = -1;
        const json_t *columns = json_object_get(facts, "columns"), *name;
        size_t k;
        json_array_foreach(columns, k, name) if (strcmp(json_string_value(name), n[i].name) == 0)
            in_page = json_integer_value(
                json_array_get(json_array_get(json_object_get(facts, "rows"), 0), k));
        bool same = trace > 0 && trace == in_json && trace == in_page;
        if (n[i].label)
            same = same && shown(text.out, n[i].label) == (double)trace &&
                   shown(summary.out, n[i].label) == (double)trace;
        if (!same)
            tap_note("%s: trace %" PRId64 ", --json %" PRId64 ", report %" PRId64
                     ", text %.0f, summary %.0f",
                     n[i].name, trace, in_json, in_page,
                     n[i].label ? shown(text.out, n[i].label) : 0,
                     n[i].label ? shown(summary.out, n[i].label) : 0);
        wrong += !same;
    }
    int longest = 0, column = 0;
    for (const char *p = summary.out; *p; p++) {
        column = *p == '\n' ? 0 : column + ((*p & 0xc0) != 0x80);
        if (column > longest) longest = column;
    }
    tap(longest > 40 && longest <= 80, "--summary fits 80 columns (%d)", longest);
    tap(wrong == 0, "text, --summary, --json, trace and report agree on a run");
    /* Every counter of --json is a counter of the trace. */
    const char *key;
    json_t *v;
    int counters = 0;
    wrong = 0;
    json_object_foreach(json_object_get(c, "metrics"), key, v)
    {
        sqlite3_stmt *s = ask(db, 0, "SELECT value FROM counter WHERE name = ?");
        sqlite3_bind_text(s, 1, key, -1, SQLITE_STATIC);
        wrong +=
            sqlite3_step(s) != SQLITE_ROW || sqlite3_column_double(s, 0) != json_number_value(v);
        sqlite3_finalize(s);
        counters++;
    }
    tap(wrong == 0 && counters > 30, "%d metrics of --json equal the counters of the trace exactly",
        counters);
    sqlite3_close(db);
    json_decref(data);
    json_decref(root);
    run_free(&text);
    run_free(&json);
    run_free(&summary);
    run_free(&r);
}

/* The cell of a named column in a row of an answer; NULL: no such column. */
static const json_t *cell_of(const json_t *answer, const json_t *row, const char *column)
{
    const json_t *name;
    size_t k;
    json_array_foreach(json_object_get(answer, "columns"), k, name)
    {
        if (strcmp(json_string_value(name), column) == 0) return json_array_get(row, k);
    }
    return NULL;
}

/* True if the cell is the only value of the query, which may be NULL. */
static bool is_value(sqlite3 *db, const json_t *v, const char *sql)
{
    sqlite3_stmt *s = ask(db, 1, sql);
    const bool same = v && sqlite3_step(s) == SQLITE_ROW && same_cell(s, 0, v);
    if (!same) tap_note("%s: not the value of the page", sql);
    sqlite3_finalize(s);
    return same;
}

/* What a mode does not count is null in the page, as in pc_stat and in the metrics, and not 0. */
static void check_uncounted(const char *launch, const char *mode)
{
    static const char *const column[] = {"stall_cycles", "requests", "sectors",   "wavefronts",
                                         "conflicts",    "l1_hits",  "from_l2",   "from_dram",
                                         "issues",       "lanes",    "divergent", "latency"};
    static const char *const level[][2] = {
        {"l1_load_sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"},
        {"l1_load_hits", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum"},
        {"l2_sectors", "lts__t_sectors_srcunit_tex.sum"},
        {"shared_wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"},
        {"dram_read", "dram__bytes_read.sum"}};
    char db_path[4096], page[4096], sql[200];
    snprintf(db_path, sizeof db_path, "%s", in_folder("u.db"));
    snprintf(page, sizeof page, "%s", in_folder("u.html"));
    run_result a = loom((const char *const[]){"run", launch, "--mode", mode, "--force", "--trace",
                                              db_path, NULL}),
               b = loom((const char *const[]){"report", db_path, "--force", "-o", page, NULL});
    json_t *data = b.status == 0 ? page_data(page) : NULL;
    const json_t *first = json_array_get(json_object_get(data, "launches"), 0),
                 *program = json_object_get(first, "program"),
                 *levels = json_object_get(first, "levels"), *row;
    size_t i, cells = 0, wrong = 0;
    sqlite3 *db = NULL;
    sqlite3_open_v2(db_path, &db, SQLITE_OPEN_READONLY, NULL);
    json_array_foreach(json_object_get(program, "rows"), i, row)
    {
        const int64_t pc = json_integer_value(cell_of(program, row, "pc"));
        snprintf(sql, sizeof sql, "SELECT count(*) FROM pc_stat WHERE pc = %" PRId64, pc);
        if (value(db, 1, sql) == 0) continue;
        for (size_t c = 0; c < sizeof column / sizeof *column; c++, cells++) {
            snprintf(sql, sizeof sql, "SELECT %s FROM pc_stat WHERE pc = %" PRId64, column[c], pc);
            wrong += !is_value(db, cell_of(program, row, column[c]), sql);
        }
    }
    row = json_array_get(json_object_get(levels, "rows"), 0);
    for (size_t k = 0; k < sizeof level / sizeof *level; k++) {
        snprintf(sql, sizeof sql, "SELECT (SELECT value FROM \"%s\")", level[k][1]);
        wrong += !is_value(db, cell_of(levels, row, level[k][0]), sql);
    }
    tap(cells > 100 && wrong == 0,
        "%s mode: %zu cells of the page are those of pc_stat and metrics", mode, cells);
    sqlite3_close(db);
    json_decref(data);
    run_free(&a);
    run_free(&b);
}

/* ---- named queries ---- */

/* Returns whether the SELECT has a column of this name. */
static bool has_column(sqlite3_stmt *s, const char *name)
{
    for (int c = 0; c < sqlite3_column_count(s); c++)
        if (strcmp(sqlite3_column_name(s, c), name) == 0) return true;
    return false;
}

/* Compares the columns of a query with those of the same names in a table, row by row. Rows are
 * paired by the key columns; those that the query has several times are not compared. */
static int wrong_columns(sqlite3 *db, const char *query, const char *sql, const char *rows,
                         const char *const key[], int *compared)
{
    char select[200];
    int wrong = 0;
    snprintf(select, sizeof select, "SELECT * FROM %s", rows);
    sqlite3_stmt *q = ask(db, 0, sql), *t = ask(db, 0, select);
    bool has_keys = true;
    for (int k = 0; key[k]; k++) has_keys = has_keys && has_column(q, key[k]);
    for (int c = 0; has_keys && c < sqlite3_column_count(t); c++) {
        const char *name = sqlite3_column_name(t, c);
        if (!has_column(q, name)) continue;
        char *on = sqlite3_mprintf("1"), *once = sqlite3_mprintf("1");
        for (int k = 0; key[k]; k++) {
            on = sqlite3_mprintf("%z AND t.\"%s\" = q.\"%s\"", on,
                                 strcmp(rows, "kernel") == 0 ? "id" : key[k], key[k]);
            once = sqlite3_mprintf("%z AND r.\"%s\" = q.\"%s\"", once, key[k], key[k]);
        }
        char *all = sqlite3_mprintf(
            "WITH q AS MATERIALIZED (SELECT * FROM (\n%.*s)) SELECT count(*) FROM q JOIN \"%s\" t "
            "ON %z WHERE q.\"%s\" IS NOT t.\"%s\" AND (SELECT count(*) FROM q r WHERE %z) = 1",
            (int)(strrchr(sql, ';') - sql), sql, rows, on, name, name, once);
        const int64_t n = value(db, 0, all);
        sqlite3_free(all);
        if (n) tap_note("query %s: %" PRId64 " values %s differ from %s", query, n, name, rows);
        wrong += n != 0;
        ++*compared;
    }
    sqlite3_finalize(q);
    sqlite3_finalize(t);
    return wrong;
}

/* A column of a named query has the values of the column of the same name in the table. */
static void check_named_queries(const char *db_path)
{
    static const struct {
        const char *name, *key[4];
    } kind[] = {{"pc_stat", {"kernel", "pc"}},
                {"warp", {"kernel", "block", "warp"}},
                {"block", {"kernel", "block"}},
                {"kernel", {"kernel"}}};
    sqlite3 *db = NULL;
    sqlite3_open_v2(db_path, &db, SQLITE_OPEN_READONLY, NULL);
    sqlite3_stmt *s = ask(db, 0, "SELECT name, sql FROM query");
    int wrong = 0, compared = 0;
    while (sqlite3_step(s) == SQLITE_ROW)
        for (size_t k = 0; k < sizeof kind / sizeof *kind; k++)
            wrong += wrong_columns(db, (const char *)sqlite3_column_text(s, 0),
                                   (const char *)sqlite3_column_text(s, 1), kind[k].name,
                                   kind[k].key, &compared);
    sqlite3_finalize(s);
    sqlite3_close(db);
    tap(wrong == 0 && compared > 40, "%d columns of named queries have the values of the tables",
        compared);
}

/* ---- rejected input ---- */

static void check_refusals(void)
{
    static const struct {
        const char *what, *option, *value;
        int status;
        const char *says;
    } bad[] = {{"nonexistent launch", "--launch", "7", 2, "E0707"},
               {"baseline that is not a trace", "--baseline", "/dev/null", 2, "E0701"},
               {"nonexistent folder", "-o", "/nowhere/at/all.html", 2, "E0002"},
               {"invalid number", "--issue-slots", "many", 2, "E0005"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *argv[] = {loom_path(),           "report",      in_folder("a.db"), "-o",
                              in_folder("bad.html"), bad[i].option, bad[i].value,      NULL};
        run_result r = run_command(argv, SECONDS);
        tap(r.status == bad[i].status && strstr(r.err, bad[i].says), "report rejects: %s (%s)",
            bad[i].what, bad[i].says);
        run_free(&r);
    }
}

int main(void)
{
    char matmul[4096], device[4096], *shared = data_path("suite/cases/transpose_shared.json"),
                                     *padded = data_path("suite/cases/transpose_padded.json"),
                                     *gather = data_path("suite/cases/gather_idx.json"),
                                     *divergent = data_path("suite/cases/recursion.json");
    const char *root = getenv("srcdir");
    snprintf(matmul, sizeof matmul, "%s/examples/matmul.json", root ? root : ".");
    folder = scratch_make();
    check_report("several launches", (const char *const[]){matmul, gather, divergent, NULL});
    check_page();
    check_named_queries(in_folder("t.db"));
    /* Several grids, with different block sizes. */
    snprintf(device, sizeof device, "%s/tests/ptx/exec/programs/cdp.ptx", root ? root : ".");
    check_report("launches from the device",
                 (const char *const[]){device, "-k", "kernel", "-g", "1", "-b", "4",
                                       "u32[1024]=hash:1", "u32[256]", "s32:1024", NULL});
    snprintf(device, sizeof device, "%s/tests/ptx/fault/atomic_misaligned.ptx", root ? root : ".");
    check_fault(device);
    check_packed(matmul);
    check_baseline(shared, padded);
    check_agreement(matmul);
    check_uncounted(matmul, "functional");
    check_uncounted(matmul, "timing");
    check_refusals();
    scratch_remove(folder);
    free(shared);
    free(padded);
    free(gather);
    free(divergent);
    return tap_done();
}
