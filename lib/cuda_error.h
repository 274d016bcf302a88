/* cuda_error.h - CUDA errors by name, and their usual causes. */
#ifndef PL_CUDA_ERROR_H
#define PL_CUDA_ERROR_H
#include <stddef.h>

/* The number of an error of the runtime or driver, by its name in any case, or its digits; -1:
 * there is none. */
int pl_cuda_error_number(const char *topic);
const char *pl_cuda_error_cause(int number); /* and the remedy; NULL: none is listed */
/* The names, runtime first, k from 0; NULL at the end. */
const char *pl_cuda_error_name(size_t k);

#endif
