/* micro.h - shared by the parts of the microbenchmark comparison: the device, the tables, a row of
 * a comparison. */
#ifndef PL_TESTS_MICRO_H
#define PL_TESTS_MICRO_H

#include "include/ptxloom.h"
#include "tests/accuracy/figures.h"
#include "tests/harness.h"
#include <stdbool.h>
#include <stdint.h>

enum { OUT_WORDS = 8192 };

typedef struct micro {
    pl_gpu *gpu;
    pl_ptr in, out;
    uint64_t big; /* bytes at `in` */
    uint64_t result[OUT_WORDS];
    char *text; /* PTX under construction */
    size_t n;
    bool verbose;
    unsigned shared;  /* bytes of shared memory declared by the next kernel */
    bool in_order;    /* the next kernel runs in source order (-O0) */
    const char *name; /* of the table */
    size_t rows, inside, failed, all_rows, all_inside;
    figures figures;
} micro;

/* PTX of one kernel: parameters and registers, followed by the text appended by put(); run()
 * assembles and runs it in timing mode. */
void put(micro *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void begin(micro *m);
void start_clock(micro *m);
void stop_clock(micro *m); /* the minimum of several measurements is kept in `best` */
void store_best(micro *m);
/* M->result has the stored values; false: it did not run. */
bool run(micro *m, unsigned blocks, unsigned threads, uint32_t n);

void open_table(micro *m, const char *name);
/* One figure, recorded and modelled; modelled <= 0: the kernel did not run. */
void row(micro *m, double recorded, double modelled, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void close_table(micro *m);

/* tests/data/micro/NAME.tsv.xz, and a field of its row i. */
table read_micro(const char *name);
const char *text_at(const table *t, size_t i, const char *column);
double number_at(const table *t, size_t i, const char *column);

/* The tables whose recording programs are run unchanged (micro_memory.c). */
void memory(micro *m);
void shared(micro *m);
void coalescing(micro *m);
void atomics(micro *m);
void bandwidths(micro *m);
void rates(micro *m);

#endif
