/* run.h - declarations shared by the parts of `ptxloom run`: cmd_run.c launches, run_json.c and
 * run_text.c show the results. */
#ifndef PL_CLI_RUN_H
#define PL_CLI_RUN_H

#include "cli/cli.h"

/* One launch and its results. */
typedef struct run_case {
    pl_gpu *gpu;
    const char *name;  /* of the case */
    const char *entry; /* kernel; NULL if the launch failed earlier */
    const char *arch;
    pl_mode mode;
    pl_module *module;     /* NULL if loading was not reached */
    const pl_case *launch; /* NULL: the launch file could not be read */
    uint32_t grid[3], block[3];
    pl_status status;
    bool launched; /* result is valid */
    bool saved;    /* as are the output files */
    bool differs;  /* an output differs from the launch file's expectation */
    pl_result result;
    size_t first_message;    /* index of the case's first diagnostic */
    const char *printed;     /* by the kernel, or NULL */
    const pl_checks *checks; /* of --check, or NULL */
    const pl_metric *metric; /* of --metrics */
    size_t nmetrics;
} run_case;

typedef struct run_report run_report;

/* --json: cases are collected and printed at the end. */
/* elements: number of values of each output, 0: none. NULL: out of memory. */
run_report *run_json_open(uint64_t elements);
void run_json_add(run_report *r, const run_case *c);
/* Prints the object and frees it; false if memory was exhausted. */
bool run_json_close(run_report *r);

/* Text output. brief: tables and bars, or, for one of many cases, one line; trace: file name, or
 * NULL. */
typedef struct run_style {
    bool brief, one_of_many, colour;
    const char *trace;
    uint64_t elements; /* values shown per output; 0: a few */
} run_style;
void run_text(const run_case *c, const run_style *style);

void run_summary(const run_case *c, const run_style *style);
void run_summary_head(void); /* heading of the lines: */
void run_summary_line(const run_case *c);

/* Returns the value of a counter, or a negative number. */
double run_counter(const run_case *c, const char *name);
/* Formats "1,234,567". */
const char *run_grouped(uint64_t n, char buf[32]);

/* Hashes argument k; false if the stop flag was raised meanwhile, with a message unless the launch
 * had already been stopped. */
bool run_hash(const run_case *c, size_t k, char hex[65]);

/* Reports that the time limit or an interrupt ended work on argument k, "printing" for example,
 * unless the launch itself was stopped. */
void run_report_stop(const run_case *c, const char *doing, size_t k);

/* "ok", "fault", "differs", ... */
const char *run_status_word(const run_case *c);

#endif
