/* real.h - human-readable text of floating-point numbers. */
#ifndef PL_BASE_REAL_H
#define PL_BASE_REAL_H

#include <stddef.h>

/* v with n significant digits, without trailing zeros, in common notation: 30, 0.05, 1.5e+20.
 * Returns the length. */
int pl_print_digits(double v, int n, char *buf, size_t size);
/* The shortest such text that reads back as v: 0.1, not 0.10000000000000001. */
int pl_print_real(double v, char *buf, size_t size);

#endif
