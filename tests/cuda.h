/* cuda.h - CUDA's driver for the programs that record on a GPU. Not part of the build. */
#ifndef PL_TESTS_CUDA_H
#define PL_TESTS_CUDA_H

#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

/* Exits with a message if the driver call failed. */
static void need(CUresult r, const char *what)
{
    const char *name = "?";
    if (r == CUDA_SUCCESS) return;
    cuGetErrorName(r, &name);
    fprintf(stderr, "%s: %s\n", what, name);
    exit(1);
}

#endif
