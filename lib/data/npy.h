/* npy.h - NumPy's .npy files: a text header with type and shape, then the elements (NumPy format
 * 1.0 to 3.0). */
#ifndef PL_LIB_DATA_NPY_H
#define PL_LIB_DATA_NPY_H

#include "lib/data/element_type.h"
#include <stdio.h>

typedef struct pl_npy {
    char dtype[16]; /* "<f4" */
    bool fortran;   /* column-major, and more than one dimension */
    uint64_t count; /* elements: product of all dimensions */
    uint64_t data;  /* offset of the first element in the file */
} pl_npy;

/* Reads the header at the start of an open file. Returns NULL, or the error text. */
const char *pl_npy_read(FILE *f, pl_npy *out);
/* True if elements of this dtype may be read as e: the same bytes, or a type of equal size that
 * NumPy uses where it lacks e. */
bool pl_npy_matches(const pl_npy *n, const pl_element *e);
/* Writes a header for a one-dimensional array. */
bool pl_npy_write(FILE *f, const pl_element *e, uint64_t count);

#endif
