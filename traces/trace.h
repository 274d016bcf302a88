/* trace.h - writes the events of a run to one SQLite file: the library's side of `--trace FILE.db`.
 *
 * The writer knows events and descriptions, but not their producers; lib/ fills the structs below
 * from a module, a launch and a result.
 *
 *     pl_tracedb_open(&t, "out.db", &options);
 *     pl_tracedb_begin(t, &kernel);       per launch: begins a transaction
 *                                         and writes the listing once per module
 *     ... events through pl_tracedb_sink(t) ...
 *     pl_tracedb_end(t, &result);         writes statistics and counters, commits
 *     pl_tracedb_close(t, true);          creates indexes, renames PATH.part to PATH
 *
 * Everything is written to PATH.part and renamed at the very end, so a process that terminates
 * early leaves no PATH. The first failure (disk full, ...) is kept. Later calls do nothing and
 * return it, so emitters need not check. Tables: schema.sql; pages for users: ptxloom-trace(5). */
#ifndef PL_TRACES_TRACE_H
#define PL_TRACES_TRACE_H

#include "base/diag.h"
#include "base/event.h"
#include "base/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PL_TRACEDB_SCHEMA =
        5, /* PRAGMA user_version of the files written; incremented by every change of schema.sql */
    PL_TRACEDB_APPLICATION =
        0x504c5452 /* "PLTR": PRAGMA application_id, so that other SQLite files are refused */
};

typedef enum pl_tracedb_level {
    PL_TRACEDB_SUMMARY, /* statistics and counters */
    PL_TRACEDB_INST,    /* and one row per executed warp instruction */
    PL_TRACEDB_MEM      /* and one row per memory access */
} pl_tracedb_level;

/* One line of the machine description. Texts may be NULL. */
typedef struct pl_tracedb_value {
    const char *section, *key, *value, *unit, *provenance, *source;
} pl_tracedb_value;

/* Selects the inst and mem rows to write, as specified by the user; NULL: all. A row must match
 * every part. Statistics, warps, blocks, barriers and time windows cover the whole execution in any
 * case. */
typedef struct pl_tracedb_filter {
    /* Launches of this kernel function or launch file; * and ? are wildcards. */
    const char *kernel;
    const char *sm, *block, *warp; /* numbers and ranges: "0,4,8:11" */
    const char *pc;                /* machine instructions "10:20", or PTX lines "line:41:45" */
    const char *cycles;            /* "1000:2000" */
    const char *cls;               /* effects, mnemonics or latency classes: "load,store" */
    const char *sample; /* "1/10": one warp in ten, chosen by a hash of block and warp, so that
                           whole warps are kept */
} pl_tracedb_filter;

/* A part of a filter that cannot be parsed; the fields match E0005. */
typedef struct pl_tracedb_filter_error {
    const char *value, *option, *expected;
} pl_tracedb_filter_error;

typedef struct pl_tracedb_options {
    pl_tracedb_level level;
    const char *const *source_dir; /* more folders for CUDA source, besides those of modules */
    size_t nsource_dirs;
    bool no_source;     /* do not read sources */
    bool force;         /* replace an existing file of any kind */
    bool packed;        /* inst and mem as packed columns behind virtual tables */
    bool accesses;      /* functional mode: counts accesses also at PL_TRACEDB_SUMMARY */
    uint64_t max_bytes; /* 0: no limit; beyond it inst and mem rows are counted (kernel.dropped) but
                           not written */
    pl_tracedb_filter filter;
    const char *version;               /* of ptxloom */
    const char *command;               /* command line, or NULL */
    const char *machine;               /* "h200" */
    uint32_t sms, subcores, max_warps; /* of the machine: multiprocessors, schedulers and warp slots
                                          of one; 0: unknown */
    uint32_t lanes;                    /* of a warp of the machine; 0: PL_LANES */
    double clock_mhz;                  /* SM clock; 0: unknown, metrics in seconds are then NULL */
    const pl_tracedb_value *value;
    size_t nvalues;
    /* Names of the numbers in pl_mem_event.space: "global", ...; NULL entries allowed. */
    const char *const *space;
    size_t nspaces;
} pl_tracedb_options;

/* PL_INVALID when the filter cannot be parsed, with the first reason in *bad. */
pl_status pl_tracedb_filter_check(const pl_tracedb_filter *f, pl_tracedb_filter_error *bad);

/* One machine instruction. Strings need to stay valid only until the callback's next call. */
typedef struct pl_tracedb_insn {
    const char *function; /* the function that contains it */
    const char *text;     /* disassembly: "@!%p1 ld.global.v4.f32 ..." */
    uint32_t ptx_line;    /* from 1; 0: none */
    const char *src_file; /* through .loc, or NULL */
    uint32_t src_line;
    const char *cuda; /* that position as text, including inlined calls; or NULL */
    uint32_t form;    /* row of the instruction table */
    const char *mnemonic, *syntax, *cls;
    uint32_t effects; /* pl_effect_bits of isa/table/form.h */
} pl_tracedb_insn;

typedef struct pl_tracedb_kernel {
    const char *name;                       /* of the case or launch file; NULL: the entry's */
    const char *entry;                      /* kernel function */
    bool timing;                            /* cycles are meaningful */
    uint32_t grid[3], block[3], cluster[3]; /* cluster 0,0,0: none */
    uint32_t static_shared, dynamic_shared, registers, local_bytes; /* as known before the launch */
    /* The module. Equal name, text and opt_level mean the same module: its source and listing are
     * written once. */
    const char *module;
    const char *const *path; /* its files: CUDA source is searched for next to them */
    size_t npaths;
    const char *text; /* PTX, or NULL */
    size_t text_bytes;
    const char *target; /* "sm_90a", or NULL */
    int opt_level;
    uint32_t ninsns;
    /* Called for pc = 0 .. ninsns - 1; *out is zeroed. */
    void (*insn)(void *ctx, uint32_t pc, pl_tracedb_insn *out);
    void *ctx;
} pl_tracedb_kernel;

/* Where a launch failed. */
typedef struct pl_tracedb_fault {
    uint32_t pc; /* UINT32_MAX: no instruction */
    uint32_t block[3], thread[3];
    uint64_t address;
} pl_tracedb_fault;

typedef struct pl_tracedb_result {
    const char *status;             /* "ok", "fault", ... */
    bool complete;                  /* it ran to completion; otherwise it has no cycles and no
                                       metrics */
    const char *error, *error_text; /* or NULL */
    const pl_tracedb_fault *fault;  /* or NULL */
    uint64_t cycles, inst_executed, thread_inst_executed;
    double wall_seconds, theoretical_occupancy;
    uint32_t registers, static_shared, dynamic_shared, local_bytes;
    const pl_pc_stat *pc_stat; /* by pc */
    size_t npc;
    const pl_counter *counter;
    size_t ncounters;
    const char *printed; /* text the kernel printed, or NULL */
} pl_tracedb_result;

/* Activities of a CUDA program other than its launches; times in microseconds on the application's
 * clock. */
typedef struct pl_tracedb_call {
    int64_t id; /* assigned by the caller, from 1 */
    const char *name;
    int64_t thread;
    double start, end;
    int result;
    const char *error; /* its name; NULL: success */
} pl_tracedb_call;
typedef struct pl_tracedb_activity {
    const char *kind, *name;
    int64_t device, stream, call, graph; /* call, graph: 0: none */
    double start, end;
    bool launch;                      /* it is the launch that ended last */
    int64_t bytes;                    /* -1: none */
    const char *source, *destination; /* or NULL */
    bool estimated;
    double spread; /* < 0: none */
} pl_tracedb_activity;
typedef struct pl_tracedb_allocation {
    uint64_t address, bytes;
    const char *memory;
    int64_t device;
    double start, end; /* end < 0: not freed */
} pl_tracedb_allocation;
typedef struct pl_tracedb_nvtx {
    const char *name;
    int64_t thread, depth;
    double start, end;
} pl_tracedb_nvtx;

typedef struct pl_tracedb pl_tracedb;

/* On failure *out still holds an object whose pl_tracedb_error returns the reason (close it),
 * unless memory was exhausted. An existing PATH is replaced at the end only if it is a ptxloom
 * trace; any other file is refused here. */
/* path NULL: the trace is held in memory and discarded when it is closed. */
pl_status pl_tracedb_open(pl_tracedb **out, const char *path, const pl_tracedb_options *o);
pl_status pl_tracedb_begin(pl_tracedb *t, const pl_tracedb_kernel *k);
/* The sink for the launch between begin and end. Callbacks beyond the level are NULL; at
 * PL_TRACEDB_SUMMARY the sink itself is NULL, unless it makes functional mode count accesses. */
const pl_sink *pl_tracedb_sink(const pl_tracedb *t);
pl_status pl_tracedb_end(pl_tracedb *t, const pl_tracedb_result *r);
/* The id of the launch that ended last. */
int64_t pl_tracedb_last_kernel(const pl_tracedb *t);
/* A finding of a checker, committed as the rows below are. */
typedef struct pl_tracedb_finding {
    int64_t kernel;                             /* id of the launch; 0: outside of kernels */
    const char *tool, *kind, *severity, *space; /* space: or NULL */
    uint32_t pc, other_pc;                      /* other_pc UINT32_MAX: no other access */
    const char *file, *other_file;
    uint32_t line, other_line;
    uint32_t block[3], thread[3], other_block[3], other_thread[3];
    uint64_t address;
    uint32_t bytes;
    uint64_t count, seed; /* seed 0: the plain schedule */
    const char *text, *help;
} pl_tracedb_finding;
pl_status pl_tracedb_add_finding(pl_tracedb *t, const pl_tracedb_finding *f);

/* Rows about the application, between launches. They are committed with the next launch, or at the
 * end. */
pl_status pl_tracedb_add_call(pl_tracedb *t, const pl_tracedb_call *c);
pl_status pl_tracedb_add_activity(pl_tracedb *t, const pl_tracedb_activity *a);
/* Delays the end of a stream's activities that end after `from` by `by`, and the start of those
 * that start at or after it. Covers the latest rows only. */
pl_status pl_tracedb_move_activities(pl_tracedb *t, int device, int64_t stream, double from,
                                     double by);
pl_status pl_tracedb_add_allocation(pl_tracedb *t, const pl_tracedb_allocation *a);
pl_status pl_tracedb_add_nvtx(pl_tracedb *t, const pl_tracedb_nvtx *r);
/* keep: complete the file and rename it to PATH; else remove it. Frees t (NULL is allowed) unless
 * it fails with keep: then the .part file is removed, the error can be read, and a second close
 * with keep = false frees t. */
pl_status pl_tracedb_close(pl_tracedb *t, bool keep);
/* The reason of the first failure, worded to follow "cannot write 'PATH': "; NULL: none. Valid
 * until t is freed. */
const char *pl_tracedb_error(const pl_tracedb *t);
/* True if the filter has let an event through, in all launches so far. */
bool pl_tracedb_any_selected(const pl_tracedb *t);
/* Events that were not written because of max_bytes, in all launches so far. */
uint64_t pl_tracedb_dropped(const pl_tracedb *t);

/* True if a file that begins like this is a trace (pl_outfile_rule). */
bool pl_tracedb_is_trace(const void *ctx, const unsigned char *head, size_t n, uint64_t bytes);

/* Opens a finished trace for reading. Returns PL_INVALID with a diagnostic when the file cannot be
 * read, is not a trace, is unfinished or has another schema, or PL_NOMEM; *out is then NULL. Close
 * it with sqlite3_close. */
struct sqlite3;
pl_status pl_tracedb_connect(pl_diags *diags, const char *path, struct sqlite3 **out);

/* The definition of a metric: a view of that name exists in every trace. For `ptxloom explain`. */
typedef struct pl_tracedb_metric {
    /* family: "nvprof", "ncu"; formula: SQL. */
    const char *name, *family, *unit, *meaning, *formula;
} pl_tracedb_metric;
extern const pl_tracedb_metric pl_tracedb_metrics[];               /* ends with a NULL name */
const pl_tracedb_metric *pl_tracedb_metric_find(const char *name); /* NULL: none */
/* The named queries of every trace, and the rules of the query advice. For `ptxloom explain`. */
typedef struct pl_tracedb_query {
    const char *name, *title, *sql;
} pl_tracedb_query;
extern const pl_tracedb_query pl_tracedb_queries[]; /* ends with a NULL name */
/* A rule: the total that its share refers to, the suggested remedy, and SQL that requires the
 * common part of the query advice. */
typedef struct pl_tracedb_rule {
    const char *name, *title, *of, *check, *sql;
} pl_tracedb_rule;
extern const pl_tracedb_rule pl_tracedb_rules[]; /* ends with a NULL name */

/* The value of a metric of the latest launch, if available. */
pl_status pl_tracedb_metric_value(pl_tracedb *t, const pl_tracedb_metric *m, bool *known,
                                  double *value);

#endif
