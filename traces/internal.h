/* internal.h - the trace writer's own state, shared by writer.c (file), listing.c (program) and
 * rows.c (events). */
#ifndef PL_TRACES_INTERNAL_H
#define PL_TRACES_INTERNAL_H

#include "base/arena.h"
#include "base/map.h"
#include "traces/trace.h"
#include <sqlite3.h>

/* What the build makes of schema.sql, metrics.list and queries/ (gen_sql.c). */
typedef struct pl_tracedb_query {
    const char *name, *title, *sql;
} pl_tracedb_query;
extern const char pl_tracedb_schema[];
extern const pl_tracedb_query pl_tracedb_queries[]; /* ends with a NULL name */

/* Sums of one warp while its launch runs; written to warp and block at the end of the launch. */
typedef struct pl_tracedb_warp {
    uint64_t first_cycle, last_cycle, first_seq, last_seq;
    uint64_t executed, lanes, stall_cycles;
    uint64_t barrier_cycle;
    uint32_t barrier_pc; /* of the barrier it arrived at last ... */
    bool at_barrier;     /* ... and has not left yet */
    uint8_t subcore;
    uint16_t sm;
} pl_tracedb_warp;

/* Counters over time. X(name, component): one series of windows each. */
#define PL_TRACEDB_SERIES(X)                                                                       \
    X(inst_executed, "sm")                                                                         \
    X(thread_inst_executed, "sm")                                                                  \
    X(stall_cycles, "sm")                                                                          \
    X(requests, "memory")                                                                          \
    X(sectors, "memory")                                                                           \
    X(wavefronts, "memory")                                                                        \
    X(from_l1, "memory")                                                                           \
    X(from_l2, "memory")                                                                           \
    X(from_dram, "memory")

enum {
#define X(name, component) PL_SERIES_##name,
    PL_TRACEDB_SERIES(X)
#undef X
        PL_SERIES_COUNT
};

enum {
    PL_TRACEDB_WINDOWS = 256,     /* windows of a launch; a longer launch doubles their length */
    PL_TRACEDB_FIRST_WINDOW = 16, /* cycles of a window at first */
    PL_TRACEDB_SIZE_CHECK = 8192  /* rows between two looks at the size of the file */
};

typedef struct pl_tracedb_window {
    uint64_t sum[PL_SERIES_COUNT];
} pl_tracedb_window;

struct pl_tracedb {
    sqlite3 *db;
    char *path, *part;
    pl_tracedb_level level;
    uint64_t max_bytes;
    pl_tracedb_filter filter; /* entry: in the arena */
    pl_status status;         /* of the first failure; everything stops then */
    char error[1024];
    pl_arena *arena; /* texts and maps of the whole file */
    int64_t machine;
    double clock_mhz;
    pl_map modules, sources, lines,
        forms; /* by digest, by name, by "source:line", by "row:class": what the file holds */
    int64_t next_source;
    sqlite3_stmt *add_inst, *add_mem, *add_barrier, *add_event, *page_count;
    uint64_t page_size;

    /* the launch between begin and end */
    bool launched;
    pl_sink sink;
    int64_t kernel, module, next_inst, next_mem, first_inst;
    bool timing, full, skip; /* skip: the filter's entry is another */
    uint32_t grid[3], blocks_per_grid_x, warps_per_block;
    uint64_t nwarps;
    pl_tracedb_warp *warp;     /* owned; NULL at PL_TRACEDB_SUMMARY */
    const uint8_t *is_barrier; /* by pc: the instruction is a barrier; in the arena */
    uint32_t ninsns;
    pl_tracedb_window *window; /* owned */
    uint64_t window_cycles;
    uint64_t inst_rows, rows_since_check, filtered, dropped, dropped_total, last_seq;
};

/* Keeps the first failure. False, so that `return pl_tracedb_fail(...)` reads well. */
bool pl_tracedb_fail(pl_tracedb *t, pl_status status, const char *why);
bool pl_tracedb_exec(pl_tracedb *t, const char *sql);
sqlite3_stmt *pl_tracedb_prepare(pl_tracedb *t, const char *sql); /* NULL after a failure */
/* Runs a statement that returns no rows, and makes it ready for the next use. */
bool pl_tracedb_step(pl_tracedb *t, sqlite3_stmt *s);
/* Binds text, or NULL when s is NULL. */
void pl_tracedb_text(sqlite3_stmt *stmt, int column, const char *s);

/* listing.c: source lines and machine instructions of k, unless the file holds them already; sets
 * t->module and t->is_barrier. */
bool pl_tracedb_listing(pl_tracedb *t, const pl_tracedb_kernel *k);
/* opcode.c: what an instruction's text says about the memory it touches. Words are NULL and bytes 0
 * when it says nothing. */
typedef struct pl_tracedb_access {
    const char *kind, *space;
    uint32_t bytes; /* a lane */
} pl_tracedb_access;
pl_tracedb_access pl_tracedb_opcode(const char *text, uint32_t effects);

/* rows.c: events. */
bool pl_tracedb_rows_open(pl_tracedb *t); /* statements, once a file */
bool pl_tracedb_rows_begin(pl_tracedb *t, const pl_tracedb_kernel *k);
bool pl_tracedb_rows_end(pl_tracedb *t); /* warps, blocks, windows */
void pl_tracedb_rows_free(pl_tracedb *t);

#endif
