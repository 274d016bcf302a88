/* real.h - human-readable text of numbers: floating-point numbers, and sizes. */
#ifndef PL_BASE_REAL_H
#define PL_BASE_REAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* v with n significant digits, without trailing zeros, in common notation: 30, 0.05, 1.5e+20.
 * Returns the length. */
int pl_print_digits(double v, int n, char *buf, size_t size);
/* The shortest such text that reads back as v: 0.1, not 0.10000000000000001. */
int pl_print_real(double v, char *buf, size_t size);
/* Reads a size in bytes: 500K, 64MB, 2GiB; a plain number counts MiB. False: it is none, is 0, or
 * is larger than 2^60. */
bool pl_read_size(const char *text, uint64_t *bytes);

#endif
