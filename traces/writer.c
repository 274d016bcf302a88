/* writer.c - the file of a trace: opening it safely, one transaction per launch, and the rename to
 * its final name.
 *
 * SQLite writes PATH.part without a journal and without syncing: a partly written file is of no
 * use, and inserts are several times faster. Safety comes from the order at the end: indexes,
 * commit, close, fsync, rename. If the process terminates before the rename, PATH is unchanged. See
 * listing.c for the program and event_rows.c for the events. */
#include "traces/tracedb.h"
#include "base/outfile.h"
#include "base/plural.h"
#include "isa/program/insn.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char *concat(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    char *s = malloc(n + m + 1);
    if (!s) return NULL;
    memcpy(s, a, n);
    memcpy(s + n, b, m + 1);
    return s;
}

static bool is_sqlite(const void *ctx, const unsigned char *head, size_t n, uint64_t bytes)
{
    (void)ctx, (void)bytes;
    return n >= 16 && memcmp(head, "SQLite format 3", 16) == 0;
}

/* The first 100 bytes of an SQLite file hold its format name and, big-endian at 68, the application
 * id. */
bool pl_tracedb_is_trace(const void *ctx, const unsigned char *head, size_t n, uint64_t bytes)
{
    if (n < 72 || !is_sqlite(ctx, head, n, bytes)) return false;
    const uint32_t id =
        (uint32_t)head[68] << 24 | (uint32_t)head[69] << 16 | (uint32_t)head[70] << 8 | head[71];
    return id == PL_TRACEDB_APPLICATION;
}

/* Guards against mistakes such as `--trace kernel.ptx`. */
static bool may_replace(pl_tracedb *t)
{
    const pl_outfile_rule rule = {.force = t->force, .is_replaceable = pl_tracedb_is_trace};
    const int why = pl_outfile_may_replace(t->path, &rule);
    if (why == 0) return true;
    if (why != EEXIST) return pl_tracedb_fail(t, PL_IO, strerror(why));
    return pl_tracedb_fail(t, PL_INVALID,
                           "the file exists and is not a ptxloom trace; it is left as it is");
}

/* True if the trace is created by copying the template. */
static bool template_fits(const pl_tracedb *t)
{
    return t->part && t->page_size == PL_TRACEDB_SMALL_PAGE && pl_tracedb_template_bytes > 0;
}

/* Claims PATH.part. A file left by a terminated run is removed; one that another run is writing is
 * not. */
static bool create_part_file(pl_tracedb *t)
{
    struct stat st;
    if (!*t->path) return pl_tracedb_fail(t, PL_INVALID, "the name is empty");
    if (stat(t->path, &st) == 0 && !S_ISREG(st.st_mode))
        return pl_tracedb_fail(t, PL_IO, "it is not an ordinary file");
    if (!may_replace(t)) return false;
    if (stat(t->part, &st) == 0) {
        const pl_outfile_rule rule = {.force = t->force, .is_replaceable = is_sqlite};
        if (pl_outfile_may_replace(t->part, &rule) != 0)
            return pl_tracedb_fail(t, PL_INVALID,
                                   "its name with .part is that of a file that is not a trace");
        sqlite3 *other = NULL;
        int code = pl_tracedb_open_file(t->part, PL_TRACEDB_WRITE, &other);
        if (code == SQLITE_OK) code = sqlite3_exec(other, "BEGIN EXCLUSIVE", NULL, NULL, NULL);
        /* While it is locked: no other process is between opening and locking it. */
        if (code != SQLITE_BUSY) unlink(t->part);
        sqlite3_close(other);
        if (code == SQLITE_BUSY)
            return pl_tracedb_fail(
                t, PL_IO, "another program is writing this trace (its .part file is locked)");
    }
    int fd = open(t->part, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);
    if (fd < 0) return pl_tracedb_fail(t, PL_IO, strerror(errno));
    size_t n = template_fits(t) ? pl_tracedb_template_bytes : 0, done = 0;
    while (done < n) {
        ssize_t k = write(fd, pl_tracedb_template + done, n - done);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) break;
        done += (size_t)k;
    }
    if (done < n) pl_tracedb_fail(t, PL_IO, strerror(errno));
    close(fd);
    if (done < n) unlink(t->part);
    return t->status == PL_OK;
}

static void now_utc(char *buf, size_t size)
{
    /* SOURCE_DATE_EPOCH makes identical runs write identical bytes (reproducible-builds.org). */
    const char *fixed = getenv("SOURCE_DATE_EPOCH");
    time_t now = fixed ? (time_t)strtoll(fixed, NULL, 10) : time(NULL);
    struct tm tm;
    if (!gmtime_r(&now, &tm) || strftime(buf, size, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
        snprintf(buf, size, "unknown");
}

/* Writes the names of the numbers in mem.space. */
static bool write_spaces(pl_tracedb *t, const pl_tracedb_options *o)
{
    sqlite3_stmt *s = pl_tracedb_prepare(t, "INSERT INTO space VALUES (?, ?)");
    for (size_t i = 0; s && i < o->nspaces; i++) {
        if (!o->space[i]) continue;
        sqlite3_bind_int64(s, 1, (int64_t)i);
        pl_tracedb_text(s, 2, o->space[i]);
        pl_tracedb_step(t, s);
    }
    sqlite3_finalize(s);
    return t->status == PL_OK;
}

/* Adds the lanes of wide warps that the empty trace lacks. */
static bool write_lanes(pl_tracedb *t)
{
    sqlite3_stmt *s =
        t->lanes > PL_LANES ? pl_tracedb_prepare(t, "INSERT INTO lane VALUES (?)") : NULL;
    for (uint32_t i = PL_LANES; s && i < t->lanes; i++) {
        sqlite3_bind_int64(s, 1, i);
        pl_tracedb_step(t, s);
    }
    sqlite3_finalize(s);
    return t->status == PL_OK;
}

static bool write_views(pl_tracedb *t)
{
    return pl_tracedb_succeeded(t, pl_tracedb_put_views(t->db, false));
}

static bool write_run(pl_tracedb *t, const pl_tracedb_options *o)
{
    static const char *const level[] = {"summary", "inst", "mem"};
    char started[40], filter[1000];
    now_utc(started, sizeof started);
    pl_tracedb_filter_text(&o->filter, filter, sizeof filter);
    sqlite3_stmt *s = pl_tracedb_prepare(t, "INSERT INTO run VALUES (1, ?, ?, ?, ?, ?, ?)");
    if (s) {
        sqlite3_bind_int(s, 1, PL_TRACEDB_SCHEMA);
        pl_tracedb_text(s, 2, o->version ? o->version : "");
        pl_tracedb_text(s, 3, started);
        pl_tracedb_text(s, 4, o->command);
        pl_tracedb_text(s, 5, level[o->level]);
        pl_tracedb_text(s, 6, *filter ? filter : NULL);
        pl_tracedb_step(t, s);
        sqlite3_finalize(s);
    }
    s = pl_tracedb_prepare(t, "INSERT INTO machine VALUES (1, ?, nullif(?, 0), nullif(?, 0), "
                              "nullif(?, 0), nullif(?, 0.0))");
    if (s) {
        pl_tracedb_text(s, 1, o->machine ? o->machine : "");
        sqlite3_bind_int64(s, 2, o->sms);
        sqlite3_bind_int64(s, 3, o->subcores);
        sqlite3_bind_int64(s, 4, o->max_warps);
        sqlite3_bind_double(s, 5, o->clock_mhz);
        pl_tracedb_step(t, s);
        sqlite3_finalize(s);
    }
    s = pl_tracedb_prepare(t, "INSERT OR REPLACE INTO machine_value VALUES (1, ?, ?, ?, ?, ?, ?)");
    for (size_t i = 0; s && i < o->nvalues; i++) {
        const pl_tracedb_value *v = &o->value[i];
        const char *const column[] = {v->section ? v->section : "",
                                      v->key ? v->key : "",
                                      v->value,
                                      v->unit,
                                      v->provenance,
                                      v->source};
        /* NULL is stored as NULL. */
        for (int c = 0; c < 6; c++) sqlite3_bind_text(s, c + 1, column[c], -1, SQLITE_STATIC);
        pl_tracedb_step(t, s);
    }
    sqlite3_finalize(s);
    return t->status == PL_OK;
}

/* Creates the initial contents. With small pages the build has already created them
 * (db_template.c), and create_part_file has written them. */
static bool write_schema(pl_tracedb *t)
{
    char sql[100];
    if (template_fits(t)) return true;
    snprintf(sql, sizeof sql, "PRAGMA page_size = %u; PRAGMA application_id = %d",
             (unsigned)t->page_size, PL_TRACEDB_APPLICATION);
    return pl_tracedb_exec(t, sql) && pl_tracedb_succeeded(t, pl_tracedb_create_tables(t->db));
}

static bool create(pl_tracedb *t, const pl_tracedb_options *o)
{
    return pl_tracedb_succeeded(t, sqlite3_busy_timeout(t->db, 0)) &&
           pl_tracedb_succeeded(t, pl_tracedb_register(t->db)) &&
           pl_tracedb_exec(t, "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = OFF; PRAGMA "
                              "synchronous = OFF;"
                              "PRAGMA foreign_keys = OFF") &&
           write_schema(t) && pl_tracedb_exec(t, "BEGIN EXCLUSIVE") &&
           pl_tracedb_exec(t, t->packed ? pl_tracedb_packed : pl_tracedb_rows) && write_views(t) &&
           write_spaces(t, o) && write_lanes(t) && write_run(t, o) && pl_tracedb_rows_open(t) &&
           pl_tracedb_exec(t, "COMMIT");
}

static bool read_filter(pl_tracedb *t, const pl_tracedb_filter *f)
{
    PL_GUARD(return pl_tracedb_fail(t, PL_NOMEM, "out of memory"))
    pl_tracedb_filter_error bad;
    if (!pl_tracedb_filter_parse(t->arena, f, &t->filter, &bad))
        return pl_tracedb_fail(t, PL_INVALID, bad.expected);
    if (t->filter.kernel) t->filter.kernel = pl_arena_strdup(t->arena, t->filter.kernel);
    if (t->filter.cls) t->filter.cls = pl_arena_strdup(t->arena, t->filter.cls);
    return true;
}

pl_status pl_tracedb_open(pl_tracedb **out, const char *path, const pl_tracedb_options *o)
{
    pl_tracedb *t = calloc(1, sizeof *t);
    *out = t;
    if (!t) return PL_NOMEM;
    t->level = o->level;
    t->accesses = o->accesses || o->level != PL_TRACEDB_SUMMARY;
    t->packed = o->packed;
    t->force = o->force;
    t->source_dir = o->source_dir;
    t->nsource_dirs = o->nsource_dirs;
    t->no_source = o->no_source;
    /* Pages of 64 KiB suit millions of appended rows. With them a summary, a packed trace or a
     * size-limited one (some forty small tables) would take 3 MB instead of 0.2. */
    bool small =
        o->level == PL_TRACEDB_SUMMARY || o->packed || (o->max_bytes && o->max_bytes < 64 << 20);
    t->page_size = small ? PL_TRACEDB_SMALL_PAGE : 65536;
    t->max_bytes = o->max_bytes;
    /* Rows are about 60 bytes: the limit is exceeded by a sixteenth at most. */
    t->size_check = o->max_bytes / 1024;
    if (t->size_check < 16) t->size_check = 16;
    if (t->size_check > PL_TRACEDB_SIZE_CHECK) t->size_check = PL_TRACEDB_SIZE_CHECK;
    t->clock_mhz = o->clock_mhz;
    t->machine = 1;
    t->lanes = o->lanes ? o->lanes : PL_LANES;
    t->next_inst = t->next_mem = t->next_source = t->next_block = 1;
    t->path = concat(path ? path : ":memory:", "");
    char *part = concat(t->path ? t->path : "", ".part");
    t->arena = pl_arena_open();
    if (!t->path || !part || !t->arena) {
        free(part);
        pl_tracedb_fail(t, PL_NOMEM, "out of memory");
        return t->status;
    }
    t->part = part;
    if (!read_filter(t, &o->filter)) {
        free(t->part);
        t->part = NULL;
        return t->status;
    }
    pl_map_init(&t->modules, t->arena);
    pl_map_init(&t->sources, t->arena);
    pl_map_init(&t->lines, t->arena);
    pl_map_init(&t->forms, t->arena);
    if (path && !create_part_file(t)) {
        free(t->part);
        t->part = NULL; /* not created by this process */
        return t->status;
    }
    if (!path) {
        free(t->part);
        t->part = NULL;
    }
    const int code =
        pl_tracedb_open_file(t->part, path ? PL_TRACEDB_WRITE : PL_TRACEDB_MEMORY, &t->db);
    if (code == SQLITE_READONLY) pl_tracedb_fail(t, PL_IO, strerror(errno));
    if (pl_tracedb_succeeded(t, code)) create(t, o);
    return t->status;
}

pl_status pl_tracedb_begin(pl_tracedb *t, const pl_tracedb_kernel *k)
{
    if (t->status != PL_OK) return t->status;
    pl_tracedb_transaction(t);
    pl_tracedb_listing(t, k);
    sqlite3_stmt *s = pl_tracedb_prepare(
        t, "INSERT INTO kernel (id, run, machine, module, name, entry, mode, grid_x, grid_y, "
           "grid_z, block_x, block_y, block_z,"
           " cluster_x, cluster_y, cluster_z, blocks, warps, threads, registers, static_shared, "
           "dynamic_shared, local_bytes)"
           " VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    uint64_t blocks = (uint64_t)k->grid[0] * k->grid[1] * k->grid[2];
    uint64_t threads = (uint64_t)k->block[0] * k->block[1] * k->block[2],
             warps = (threads + t->lanes - 1) / t->lanes;
    t->kernel++;
    t->timing = k->timing;
    if (s) {
        sqlite3_bind_int64(s, 1, t->kernel);
        sqlite3_bind_int64(s, 2, t->machine);
        sqlite3_bind_int64(s, 3, t->module);
        pl_tracedb_text(s, 4, k->name ? k->name : k->entry);
        pl_tracedb_text(s, 5, k->entry);
        pl_tracedb_text(s, 6, k->timing ? "timing" : "functional");
        for (int i = 0; i < 3; i++) {
            sqlite3_bind_int64(s, 7 + i, k->grid[i]);
            sqlite3_bind_int64(s, 10 + i, k->block[i]);
            sqlite3_bind_int64(s, 13 + i, k->cluster[i]);
        }
        const uint64_t rest[] = {blocks,        blocks * warps,   blocks * threads,
                                 k->registers,  k->static_shared, k->dynamic_shared,
                                 k->local_bytes};
        for (int i = 0; i < 7; i++) sqlite3_bind_int64(s, 16 + i, (int64_t)rest[i]);
        pl_tracedb_step(t, s);
        sqlite3_finalize(s);
    }
    pl_tracedb_rows_begin(t, k);
    t->launched = t->status == PL_OK;
    return t->status;
}

const pl_sink *pl_tracedb_sink(const pl_tracedb *t)
{
    static const pl_sink counting = {0};
    if (!t->launched) return NULL;
    if (t->level != PL_TRACEDB_SUMMARY) return &t->sink;
    return t->accesses && !t->timing ? &counting : NULL;
}

static uint64_t all_stalls(const pl_pc_stat *p)
{
    uint64_t sum = 0;
    for (int i = PL_STALL_NONE + 1; i < PL_STALL_COUNT; i++) sum += p->stall[i];
    return sum;
}

/* The row of an instruction in pc_stat. */
static void write_pc_stat(pl_tracedb *t, sqlite3_stmt *s, size_t pc, const pl_pc_stat *p)
{
    /* Functional mode has no caches; it counts accesses if it reports them one by one. */
    enum { REQUESTS = 7, SECTORS, FROM_DRAM = 13 };
    const uint64_t column[] = {(uint64_t)t->kernel, pc,           (uint64_t)t->module,
                               p->issues,           p->executed,  p->lanes,
                               all_stalls(p),       p->requests,  p->sectors,
                               p->wavefronts,       p->conflicts, p->l1_hits,
                               p->from_l2,          p->from_dram, p->branches,
                               p->divergent,        p->latency};
    for (int c = 0; c < (int)(sizeof column / sizeof *column); c++)
        if (t->timing || c < REQUESTS || c > FROM_DRAM || (t->accesses && c <= SECTORS))
            sqlite3_bind_int64(s, c + 1, (int64_t)column[c]);
        else
            sqlite3_bind_null(s, c + 1);
    pl_tracedb_step(t, s);
}

/* Its rows in stall: cycles by reason. */
static void write_stalls(pl_tracedb *t, sqlite3_stmt *s, size_t pc, const pl_pc_stat *p)
{
    for (int i = 0; i < PL_STALL_COUNT; i++) {
        if (p->stall[i] == 0) continue;
        sqlite3_bind_int64(s, 1, t->kernel);
        sqlite3_bind_int64(s, 2, (int64_t)pc);
        sqlite3_bind_int(s, 3, i);
        sqlite3_bind_int64(s, 4, (int64_t)p->stall[i]);
        pl_tracedb_step(t, s);
    }
}

static void write_counters(pl_tracedb *t, const pl_tracedb_result *r)
{
    sqlite3_stmt *s =
        pl_tracedb_prepare(t, "INSERT OR REPLACE INTO counter VALUES (?, ?, ?, ?, ?)");
    for (size_t i = 0; s && i < r->ncounters; i++) {
        const pl_counter *c = &r->counter[i];
        sqlite3_bind_int64(s, 1, t->kernel);
        pl_tracedb_text(s, 2, c->name);
        pl_tracedb_text(s, 3, c->component ? c->component : "");
        pl_tracedb_text(s, 4, c->unit);
        sqlite3_bind_double(s, 5, c->value);
        pl_tracedb_step(t, s);
    }
    sqlite3_finalize(s);
}

/* Sums over the launch that most metrics need. They are stored as rows, so that listing 200 metrics
 * does not aggregate pc_stat 200 times. */
static void write_sums(pl_tracedb *t)
{
    static const char *const sums[] = {
        "INSERT INTO stall_sum SELECT s.kernel, r.name, sum(s.cycles) FROM stall s JOIN "
        "stall_reason r ON r.id = s.reason"
        " WHERE s.kernel = ? GROUP BY r.id",
        "INSERT INTO access SELECT s.kernel, iif(i.space = 'generic', 'global', i.space), "
        "i.access, sum(s.executed), sum(s.requests),"
        " sum(s.sectors), sum(s.wavefronts), sum(s.conflicts), sum(s.l1_hits), sum(s.from_l2), "
        "sum(s.from_dram),"
        " iif(count(i.bytes) = count(*), sum(s.lanes * s.executed / s.issues * i.bytes), NULL)"
        " FROM pc_stat s JOIN instruction i ON i.module = s.module AND i.pc = s.pc"
        " WHERE s.kernel = ? AND i.access IS NOT NULL AND s.issues > 0 GROUP BY 2, 3"};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        sqlite3_stmt *s = pl_tracedb_prepare(t, sums[i]);
        if (!s) return;
        sqlite3_bind_int64(s, 1, t->kernel);
        pl_tracedb_step(t, s);
        sqlite3_finalize(s);
    }
}

static void write_statistics(pl_tracedb *t, const pl_tracedb_result *r)
{
    sqlite3_stmt *stat = pl_tracedb_prepare(
        t, "INSERT INTO pc_stat VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    sqlite3_stmt *stall = pl_tracedb_prepare(t, "INSERT INTO stall VALUES (?, ?, ?, ?)");
    for (size_t pc = 0; stat && stall && pc < r->npc; pc++) {
        const pl_pc_stat *p = &r->pc_stat[pc];
        if (p->issues == 0 && p->executed == 0 && all_stalls(p) == 0) continue;
        write_pc_stat(t, stat, pc, p);
        write_stalls(t, stall, pc, p);
    }
    sqlite3_finalize(stat);
    sqlite3_finalize(stall);
    write_counters(t, r);
    write_sums(t);
}

static void write_event(pl_tracedb *t, const char *kind, const char *text)
{
    if (!t->add_event) return;
    sqlite3_bind_int64(t->add_event, 1, t->kernel);
    pl_tracedb_text(t->add_event, 2, kind);
    pl_tracedb_text(t->add_event, 3, text);
    pl_tracedb_step(t, t->add_event);
}

static void write_fault(pl_tracedb *t, const pl_tracedb_result *r)
{
    const pl_tracedb_fault *f = r->fault;
    sqlite3_stmt *s =
        pl_tracedb_prepare(t, "INSERT INTO fault SELECT NULL, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, "
                              "i.pc, i.ptx_line, f.name, i.src_line, i.cuda, ?10 "
                              "FROM (SELECT 1) LEFT JOIN instruction i ON i.module = ?11 AND i.pc "
                              "= ?12 LEFT JOIN source f ON f.id = i.src_source");
    if (!s) return;
    sqlite3_bind_int64(s, 1, t->kernel);
    pl_tracedb_text(s, 2, r->error);
    pl_tracedb_text(s, 3, r->error_text ? r->error_text : r->error);
    for (int i = 0; i < 3; i++) sqlite3_bind_int64(s, 4 + i, f->block[i]);
    for (int i = 0; i < 3; i++) sqlite3_bind_int64(s, 7 + i, f->thread[i]);
    const bool accessed = f->address || (r->error && strstr(r->error, "ADDRESS"));
    if (accessed) sqlite3_bind_int64(s, 10, (int64_t)f->address);
    sqlite3_bind_int64(s, 11, t->module);
    sqlite3_bind_int64(s, 12, f->pc);
    pl_tracedb_step(t, s);
    sqlite3_finalize(s);
}

static void write_events(pl_tracedb *t, const pl_tracedb_result *r)
{
    if (r->error) write_event(t, "fault", r->error_text ? r->error_text : r->error);
    if (r->error && r->fault) write_fault(t, r);
    for (const char *p = r->printed; p && *p;) {
        size_t n = strcspn(p, "\n");
        char *line = sqlite3_mprintf("%.*s", (int)n, p);
        if (line) write_event(t, "print", line);
        sqlite3_free(line);
        p += n + (p[n] == '\n');
    }
    if (t->dropped) {
        char text[100];
        snprintf(text, sizeof text, "%llu event%s left out: the file reached its size limit",
                 (unsigned long long)t->dropped, pl_plural(t->dropped));
        write_event(t, "dropped", text);
    }
}

pl_status pl_tracedb_end(pl_tracedb *t, const pl_tracedb_result *r)
{
    if (t->status != PL_OK || !t->launched) return t->status;
    t->launched = false;
    pl_tracedb_rows_end(t);
    write_statistics(t, r);
    write_events(t, r);
    sqlite3_stmt *s = pl_tracedb_prepare(
        t, "UPDATE kernel SET status = ?, error = ?, error_text = ?, cycles = ?, duration_us = ?, "
           "inst_executed = ?,"
           " thread_inst_executed = ?, theoretical_occupancy = ?, wall_seconds = ?, first_inst = "
           "?, filtered = ?, dropped = ?, registers = ?,"
           " static_shared = ?, dynamic_shared = ?, local_bytes = ? WHERE id = ?");
    if (s) {
        pl_tracedb_text(s, 1, r->status);
        pl_tracedb_text(s, 2, r->error);
        pl_tracedb_text(s, 3, r->error_text);
        if (t->timing && r->complete) {
            sqlite3_bind_int64(s, 4, (int64_t)r->cycles);
            if (t->clock_mhz > 0) sqlite3_bind_double(s, 5, (double)r->cycles / t->clock_mhz);
        }
        if (t->timing) sqlite3_bind_double(s, 8, r->theoretical_occupancy);
        sqlite3_bind_int64(s, 6, (int64_t)r->inst_executed);
        sqlite3_bind_int64(s, 7, (int64_t)r->thread_inst_executed);
        sqlite3_bind_double(s, 9, r->wall_seconds);
        if (t->inst_rows) sqlite3_bind_int64(s, 10, t->first_inst);
        const uint64_t rest[] = {t->filtered,        t->dropped,        r->registers,
                                 r->static_shared,   r->dynamic_shared, r->local_bytes,
                                 (uint64_t)t->kernel};
        for (int i = 0; i < 7; i++) sqlite3_bind_int64(s, 11 + i, (int64_t)rest[i]);
        pl_tracedb_step(t, s);
        sqlite3_finalize(s);
    }
    pl_tracedb_exec(t, "COMMIT");
    t->open = false;
    return t->status;
}

/* The index is created last: one sort of all rows instead of one tree descent per row. The version
 * is also written last; without it the file is not accepted as a complete trace under any name. */
static bool finish(pl_tracedb *t)
{
    char sql[120];
    if (!pl_tracedb_transaction(t)) return false;
    if (t->level == PL_TRACEDB_MEM && !t->packed &&
        !pl_tracedb_exec(t, "CREATE INDEX mem_inst ON mem (inst)"))
        return false;
    snprintf(sql, sizeof sql, "%sPRAGMA user_version = %d; COMMIT",
             t->level == PL_TRACEDB_SUMMARY ? "" : "PRAGMA analysis_limit = 400; ANALYZE; ",
             PL_TRACEDB_SCHEMA);
    return pl_tracedb_exec(t, sql);
}

static void close_file(pl_tracedb *t)
{
    pl_tracedb_packed_close(t);
    pl_tracedb_units_close(t);
    pl_tracedb_application_close(t);
    sqlite3_finalize(t->add_inst);
    sqlite3_finalize(t->add_mem);
    sqlite3_finalize(t->add_barrier);
    sqlite3_finalize(t->add_event);
    sqlite3_finalize(t->page_count);
    t->add_inst = t->add_mem = t->add_barrier = t->add_event = t->page_count = NULL;
    if (t->db) pl_tracedb_succeeded(t, sqlite3_close(t->db));
    t->db = NULL;
}

/* Renames the completed PATH.part. */
static bool publish(pl_tracedb *t)
{
    const int why = pl_outfile_publish(t->part, t->path);
    if (why) return pl_tracedb_fail(t, PL_IO, strerror(why));
    free(t->part);
    t->part = NULL;
    return true;
}

pl_status pl_tracedb_close(pl_tracedb *t, bool keep)
{
    if (!t) return PL_OK;
    if (keep && t->launched)
        pl_tracedb_fail(t, PL_INTERRUPTED, "it was closed in the middle of a launch");
    if (keep && t->status == PL_OK) finish(t);
    pl_tracedb_rows_free(t);
    close_file(t);
    if (keep && t->part && t->status == PL_OK) publish(t);
    if (t->part) unlink(t->part);
    pl_status status = keep ? t->status : PL_OK;
    if (status != PL_OK) {
        free(t->part);
        t->part = NULL;
        return status;
    }
    pl_arena_close(t->arena);
    free(t->path);
    free(t->part);
    free(t);
    return PL_OK;
}

const char *pl_tracedb_error(const pl_tracedb *t)
{
    return t && t->status != PL_OK ? t->error : NULL;
}

bool pl_tracedb_any_selected(const pl_tracedb *t)
{
    return t->any_selected;
}

uint64_t pl_tracedb_dropped(const pl_tracedb *t)
{
    return t->dropped_total;
}

pl_status pl_tracedb_metric_value(pl_tracedb *t, const pl_tracedb_metric *m, bool *known,
                                  double *value)
{
    int code = SQLITE_NOMEM;
    *known = false;
    /* See sql_texts.c. */
    if (!t->views_known) t->views_known = pl_tracedb_exec(t, "PRAGMA writable_schema = RESET");
    char *sql = sqlite3_mprintf("SELECT value FROM \"%w\" WHERE kernel = %lld", m->name,
                                (long long)t->kernel);
    sqlite3_stmt *s = sql ? pl_tracedb_prepare(t, sql) : NULL;
    if (s && (code = sqlite3_step(s)) == SQLITE_ROW && sqlite3_column_type(s, 0) != SQLITE_NULL) {
        *value = sqlite3_column_double(s, 0);
        *known = true;
    }
    if (!sql) pl_tracedb_fail(t, PL_NOMEM, "out of memory");
    if (s && code != SQLITE_ROW && code != SQLITE_DONE) pl_tracedb_succeeded(t, code);
    sqlite3_finalize(s);
    sqlite3_free(sql);
    return t->status;
}

const pl_tracedb_metric *pl_tracedb_metric_find(const char *name)
{
    for (const pl_tracedb_metric *m = pl_tracedb_metrics; m->name; m++)
        if (strcmp(m->name, name) == 0) return m;
    return NULL;
}
