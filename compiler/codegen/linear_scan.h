/* linear_scan.h - linear-scan allocation of machine registers to the values of a function, which
 * determines the number of registers of a thread.
 *
 * A value has a width in registers and live intervals in the code. Values that an instruction
 * accesses as one vector (a 128-bit load, a matrix fragment) occupy adjacent registers. */
#ifndef PL_COMPILER_CODEGEN_LINEAR_SCAN_H
#define PL_COMPILER_CODEGEN_LINEAR_SCAN_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct pl_linear_scan pl_linear_scan;

/* Granularity of register allocation for a thread. */
typedef struct pl_register_counts {
    /* Registers that may be used without need, since an SM still holds all its warps. */
    uint32_t spread;
    uint32_t unit;  /* registers come in units of this size; in the first unit, */
    uint32_t first; /* this many hold values */
} pl_register_counts;

/* values: their number. Returns NULL when out of memory. */
pl_linear_scan *pl_linear_scan_new(pl_arena *a, uint32_t values, const pl_register_counts *of);
void pl_linear_scan_value(pl_linear_scan *c, uint32_t value, uint32_t rows);
/* The value is written by an instruction from this source line. */
void pl_linear_scan_written(pl_linear_scan *c, uint32_t value, uint32_t line);
/* Makes these values the elements of one vector, unless one is part of another vector. */
void pl_linear_scan_vector(pl_linear_scan *c, const uint32_t *values, uint32_t n);
/* An instruction reads both values, which should be in different register banks. */
void pl_linear_scan_bank_conflict(pl_linear_scan *c, uint32_t a, uint32_t b);
/* The value is live from position `from` up to `to`, exclusive. */
void pl_linear_scan_live_range(pl_linear_scan *c, uint32_t value, uint32_t from, uint32_t to);
/* From `from` up to `to`, exclusive, its registers should not be assigned to another value that
 * starts there: a queued instruction has not read them yet. */
void pl_linear_scan_read_tail(pl_linear_scan *c, uint32_t value, uint32_t from, uint32_t to);
/* The number of registers needed, from 0 to the highest one used; 0: out of memory. thorough: tries
 * several orders, which takes longer. */
uint32_t pl_linear_scan_count(pl_linear_scan *c, bool thorough);

#endif
