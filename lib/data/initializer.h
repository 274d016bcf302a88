/* initializer.h - initial contents of buffers: constants, counters, reproducible random numbers,
 * lists and files.
 *
 * The formulas are those of the runs recorded on hardware (tests/data), so that outputs can be
 * compared byte for byte. */
#ifndef PL_LIB_DATA_INITIALIZER_H
#define PL_LIB_DATA_INITIALIZER_H

#include "base/status.h"
#include "lib/data/element_type.h"

typedef enum pl_init_kind {
    PL_INIT_CONST,
    PL_INIT_IOTA,
    PL_INIT_HASH,
    PL_INIT_LIST,
    PL_INIT_FILE
} pl_init_kind;

typedef struct pl_init {
    pl_init_kind kind;
    uint64_t bits;        /* CONST: bits of one element */
    uint64_t seed;        /* HASH */
    bool limited;         /* HASH of integers: lo and span are given */
    int64_t lo;           /* HASH of integers */
    uint64_t span;        /* HASH of integers: hi - lo, not 0 */
    double flo, fhi;      /* HASH of floats */
    const uint64_t *list; /* LIST: bits of each element of the buffer */
    const char *path;     /* FILE */
    uint64_t offset;      /* FILE: offset of the first byte */
    bool part;            /* FILE: the buffer may take a part of the file */
} pl_init;

/* Returns 64 random bits for element i of a stream: splitmix64 started at seed. */
uint64_t pl_fill_hash(uint64_t seed, uint64_t i);
/* Writes elements first to end - 1 of the buffer that begins at `to`. Not for PL_INIT_FILE. */
void pl_fill(void *to, const pl_element *e, uint64_t first, uint64_t end, const pl_init *init);

#endif
