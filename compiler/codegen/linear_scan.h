/* linear_scan.h - which registers of the machine the values of a function take: for the number that
 * a thread needs.
 *
 * A value has a width in registers and lives through intervals of code. Values that an instruction
 * names as one vector (a 128-bit load, a fragment of a matrix) stand in neighbouring registers. */
#ifndef PL_COMPILER_CODEGEN_LINEAR_SCAN_H
#define PL_COMPILER_CODEGEN_LINEAR_SCAN_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct pl_linear_scan pl_linear_scan;

/* How a thread gets registers. */
typedef struct pl_register_counts {
    /* So many may be used without need, since an SM holds all its warps with them. */
    uint32_t spread;
    uint32_t unit;  /* they come in units, of which values have in the first */
    uint32_t first; /* so many */
} pl_register_counts;

/* `values` is how many there are. NULL: out of memory. */
pl_linear_scan *pl_linear_scan_new(pl_arena *a, uint32_t values, const pl_register_counts *of);
void pl_linear_scan_value(pl_linear_scan *c, uint32_t value, uint32_t rows);
/* It is written by an instruction of this line of the text. */
void pl_linear_scan_written(pl_linear_scan *c, uint32_t value, uint32_t line);
/* These values are the parts of one vector, as far as none is part of another. */
void pl_linear_scan_vector(pl_linear_scan *c, const uint32_t *values, uint32_t n);
/* An instruction reads both: they had better be in different banks of the register file. */
void pl_linear_scan_bank_conflict(pl_linear_scan *c, uint32_t a, uint32_t b);
/* The value lives from position `from` to before `to`. */
void pl_linear_scan_live_range(pl_linear_scan *c, uint32_t value, uint32_t from, uint32_t to);
/* From `from` to before `to` its registers had better not be given to another value, which begins
 * there: an instruction that waits in a queue has still to read them. */
void pl_linear_scan_read_tail(pl_linear_scan *c, uint32_t value, uint32_t from, uint32_t to);
/* Registers needed, from 0 to the highest that is used; 0: out of memory. thorough: by several
 * orders, which takes longer. */
uint32_t pl_linear_scan_count(pl_linear_scan *c, bool thorough);

#endif
