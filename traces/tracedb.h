/* tracedb.h - the trace writer's own state, shared by writer.c (file), listing.c (program) and
 * event_rows.c (events). */
#ifndef PL_TRACES_TRACEDB_H
#define PL_TRACES_TRACEDB_H

#include "base/arena.h"
#include "base/guard.h"
#include "base/map.h"
#include "traces/db_open.h"
#include "traces/trace.h"
#include "traces/vtab.h"
#include <sqlite3.h>
#include <stddef.h>

/* What the build makes of schema.sql, metrics.list and queries/ (gen_sql.c). */
/* Of schema.sql, rows.sql, packed.sql, migrate.sql. */
extern const char pl_tracedb_schema[], pl_tracedb_rows[], pl_tracedb_packed[], pl_tracedb_migrate[];

/* A metric as a view, or the view `metric` over all of them. */
typedef struct pl_tracedb_view {
    const char *name, *sql;
} pl_tracedb_view;
extern const pl_tracedb_view pl_tracedb_views[]; /* ends with a NULL name */

/* The pages of an empty trace (make_template.c); 0 bytes where the build could not make them, for
 * another machine. */
enum { PL_TRACEDB_SMALL_PAGE = 4096 };
extern const unsigned char pl_tracedb_template[];
extern const size_t pl_tracedb_template_bytes;

/* Ranges with both ends in them; none: everything. */
typedef struct pl_tracedb_range {
    uint64_t first, last;
} pl_tracedb_range;
typedef struct pl_tracedb_ranges {
    pl_tracedb_range *at;
    size_t n, cap;
} pl_tracedb_ranges;

/* A filter as it is used. */
typedef struct pl_tracedb_choice {
    const char *kernel, *cls;
    pl_tracedb_ranges sm, block, warp, pc, line, cycle;
    uint32_t one_in;
    bool events, instructions; /* something depends on the event; on the instruction */
} pl_tracedb_choice;

/* Sums of one warp while its launch runs; written to warp and block at the end of the launch. */
typedef struct pl_tracedb_warp {
    uint64_t first_cycle, last_cycle, first_seq, last_seq;
    uint64_t executed, inst_executed, lanes, stall_cycles;
    uint64_t barrier_cycle;
    uint32_t barrier_pc; /* of the barrier it arrived at last ... */
    bool at_barrier;     /* ... and has not left yet */
    uint8_t subcore;
    uint16_t sm;
    uint16_t number[2]; /* packed: in the list of the block in the making, by stream ... */
    uint32_t epoch[2];  /* ... if that is still this block */
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
    PL_TRACEDB_UNIT_WINDOWS = 64, /* the same, of single units */
    PL_TRACEDB_FIRST_WINDOW = 4,  /* a window has 1 << 4 cycles at first */
    PL_TRACEDB_SIZE_CHECK = 8192, /* most rows between two looks at the size of the file */
    PL_TRACEDB_MOST_WAITING = 1 << 19, /* instructions that may wait for the result of an earlier
                                          one; packed: of their block */
    PL_TRACEDB_ROW_BYTES = 48,         /* of inst, at most as a rule */
    PL_TRACEDB_EFFECTS = 11            /* bits of pl_effect_bits */
};

/* What the event side needs to know about an instruction. */
enum { PL_TRACEDB_BARRIER = 1, PL_TRACEDB_WANTED = 2 };

typedef struct pl_tracedb_window {
    uint64_t sum[PL_SERIES_COUNT];
} pl_tracedb_window;

/* Packed: where the row of an instruction is whose result comes later. */
typedef struct pl_tracedb_late {
    uint64_t id;    /* of the row; 0: nothing here */
    uint32_t epoch; /* of its block */
    uint32_t place : 21, row : 11;
} pl_tracedb_late;

/* A sum by unit and window. */
typedef struct pl_tracedb_units {
    uint64_t (*sum)[PL_TRACEDB_UNIT_WINDOWS];
    uint32_t units;
} pl_tracedb_units;

/* A grid of the launch. */
typedef struct pl_tracedb_grid {
    uint32_t first_block, shape[3], warps; /* warps: of a block */
    uint64_t first_warp;                   /* in pl_tracedb.warp */
} pl_tracedb_grid;

struct pl_tracedb {
    sqlite3 *db;
    char *path, *part;
    bool force;                    /* path is replaced whatever it is */
    const char *const *source_dir; /* not owned */
    size_t nsource_dirs;
    bool no_source;
    pl_tracedb_level level;
    uint64_t max_bytes, size_check; /* rows between two looks at the size of the file */
    pl_tracedb_choice filter;
    pl_status status; /* of the first failure; everything stops then */
    char error[1024];
    pl_arena *arena; /* texts and maps of the whole file */
    int64_t machine;
    uint32_t lanes; /* of a warp */
    double clock_mhz;
    /* By digest, by name, by "source:line", by "row:class": what the file holds. */
    pl_map modules, sources, lines, forms;
    int64_t next_source;
    bool views_known; /* this connection has loaded the views of metrics */
    bool packed;
    pl_packer *packer; /* packed: ... */
    /* By stream and multiprocessor: the block in the making, or NULL. */
    pl_packed_block **bucket[2];
    size_t nbuckets[2];
    int64_t next_block;
    uint64_t packed_rows, packed_bytes, pending_rows; /* written, and in the making */
    pl_packed_block **block; /* all blocks of instructions, by their places */
    size_t nblocks, cap_blocks;
    pl_packed_block *spare, *waiting_block; /* lists of them: not in use; full, but some result is
                                               not there yet, the oldest first */
    size_t nfull;
    struct { /* by the low bits of the id, or behind; at most half of it in use, its capacity a
                power of two */
        pl_tracedb_late *at; /* owned */
        size_t n, cap;
    } late;
    uint32_t epoch; /* of the block in the making that was begun last */
    sqlite3_stmt *add_block, *add_data;
    sqlite3_stmt *add_inst, *add_mem, *add_barrier, *add_event, *page_count;
    sqlite3_stmt *add_application[6]; /* rows about the application, by table */
    bool open;                        /* a transaction is */
    uint64_t page_size;

    /* the launch between begin and end */
    bool launched;
    pl_sink sink;
    int64_t kernel, module, next_inst, next_mem, first_inst;
    bool timing, full, skip; /* skip: the filter asks for another kernel */
    struct {
        pl_tracedb_grid *at;
        size_t n, cap;
    } grid; /* in the order of their blocks; owned */
    uint64_t nwarps;
    pl_tracedb_warp *warp;  /* owned; NULL at PL_TRACEDB_SUMMARY */
    const uint8_t *insn_is; /* by pc: PL_TRACEDB_BARRIER and PL_TRACEDB_WANTED; in the arena */
    uint32_t ninsns;
    pl_tracedb_window *window; /* owned */
    pl_tracedb_units units[PL_US_COUNT];
    unsigned unit_shift;
    unsigned window_shift; /* a window has 1 << so many cycles */
    bool some_fit;         /* an event fitted the filter */
    uint64_t inst_rows, rows_since_check, filtered, dropped, dropped_total, last_seq;
    struct { /* instructions from the first one whose result is not there yet: a ring, its capacity
                a power of two */
        pl_inst_event *at; /* owned */
        size_t first, n, cap;
    } waiting;
};

/* Begins a transaction unless one is open. */
bool pl_tracedb_transaction(pl_tracedb *t);
/* application_rows.c: frees its statements. */
void pl_tracedb_application_close(pl_tracedb *t);
/* Keeps the first failure. False, so that `return pl_tracedb_fail(...)` reads well. */
bool pl_tracedb_fail(pl_tracedb *t, pl_status status, const char *why);
/* True if `code` is SQLITE_OK; else its failure is kept. */
bool pl_tracedb_succeeded(pl_tracedb *t, int code);
bool pl_tracedb_exec(pl_tracedb *t, const char *sql);
sqlite3_stmt *pl_tracedb_prepare(pl_tracedb *t, const char *sql); /* NULL after a failure */
/* Runs a statement that returns no rows, and makes it ready for the next use. */
bool pl_tracedb_step(pl_tracedb *t, sqlite3_stmt *s);
/* Binds text, or NULL when s is NULL. */
void pl_tracedb_text(sqlite3_stmt *stmt, int column, const char *s);

/* listing.c: source lines and machine instructions of k, unless the file holds them already; sets
 * t->module and t->insn_is. */
bool pl_tracedb_listing(pl_tracedb *t, const pl_tracedb_kernel *k);
/* sass_opcode.c: what an instruction's text says about the memory it touches. Words are NULL and
 * bytes 0 when it says nothing. */
typedef struct pl_tracedb_access {
    const char *kind, *space;
    uint32_t bytes; /* a lane */
} pl_tracedb_access;
pl_tracedb_access pl_tracedb_opcode(const char *text, uint32_t effects);

/* unit_timeline.c */
void pl_tracedb_units_begin(pl_tracedb *t);
void pl_tracedb_on_unit(void *ctx, pl_unit_sum sum, uint32_t unit, uint64_t cycle, uint32_t n);
void pl_tracedb_units_end(pl_tracedb *t);
void pl_tracedb_units_close(pl_tracedb *t);
/* sql_texts.c: metrics, rules and named queries of this program, in the file ("main"), or beside it
 * in tables and views of the connection
 * ("temp"). SQLite's code. The connection knows views in the file only once it loads the schema
 * again, so that writing loses no time with them. */
int pl_tracedb_put_texts(sqlite3 *db, const char *schema);
int pl_tracedb_put_views(sqlite3 *db, bool beside);
/* db_template.c: the tables of a new file, and all rows that do not depend on the run. SQLite's
 * code. */
int pl_tracedb_fill(sqlite3 *db);

/* filter.c */
extern const char *const pl_tracedb_effect_words[PL_TRACEDB_EFFECTS]; /* by bit */
/* The words of the filter taken apart; ranges in the arena. False with the first mistake. */
bool pl_tracedb_filter_read(pl_arena *a, const pl_tracedb_filter *f, pl_tracedb_choice *out,
                            pl_tracedb_mistake *bad);
/* The filter as run.filter has it, such as "sm 0:3, sample 1/10"; empty: none. */
void pl_tracedb_filter_words(const pl_tracedb_filter *f, char *buf, size_t size);
bool pl_tracedb_within(const pl_tracedb_ranges *r, uint64_t v);
bool pl_tracedb_wants_kernel(const pl_tracedb_choice *c, const char *name, const char *entry);
bool pl_tracedb_wants_insn(const pl_tracedb_choice *c, uint32_t pc, const pl_tracedb_insn *i);

/* Addresses of an access: of the first lane, and the distance between neighbours where there is
 * one. */
typedef struct pl_tracedb_lanes {
    bool known, regular;
    uint64_t first;
    int64_t stride;
} pl_tracedb_lanes;

/* The lanes of the warp that an access belongs to, for column mask. */
static inline uint64_t pl_tracedb_mask(const pl_mem_event *e)
{
    return (uint64_t)e->mask << (e->half * PL_LANES);
}

/* event_blocks.c: events of a packed trace. */
bool pl_tracedb_packed_open(pl_tracedb *t);
void pl_tracedb_packed_inst(pl_tracedb *t, const pl_inst_event *e);
void pl_tracedb_packed_done(pl_tracedb *t, uint64_t seq, uint32_t latency);
void pl_tracedb_packed_mem(pl_tracedb *t, const pl_mem_event *e, const pl_tracedb_lanes *l);
/* Bytes that the blocks in the making will take, from experience. */
uint64_t pl_tracedb_packed_pending(const pl_tracedb *t);
void pl_tracedb_packed_end(pl_tracedb *t); /* of a launch: writes the blocks in the making */
void pl_tracedb_packed_close(pl_tracedb *t);

/* event_rows.c: events. */
bool pl_tracedb_rows_open(pl_tracedb *t); /* statements, once a file */
/* The sums of a warp; NULL: there is no such warp. */
pl_tracedb_warp *pl_tracedb_warp_of(const pl_tracedb *t, uint32_t block, uint32_t warp);
bool pl_tracedb_rows_begin(pl_tracedb *t, const pl_tracedb_kernel *k);
bool pl_tracedb_rows_end(pl_tracedb *t); /* warps, blocks, windows */
void pl_tracedb_rows_free(pl_tracedb *t);

#endif
