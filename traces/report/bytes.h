/* bytes.h - growing byte strings with numbers of variable length: seven bits per byte, the lowest
 * first, the top bit of a byte set when more follow. Reports carry their large arrays in this form
 * (as base64), because most of the numbers are small. */
#ifndef PL_TRACES_REPORT_BYTES_H
#define PL_TRACES_REPORT_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pl_bytes {
    unsigned char *at; /* owned; the caller frees it */
    size_t n, cap;
    uint64_t zeros; /* length of the pending run, see pl_bytes_sparse */
    bool failed;    /* memory was exhausted; `at` is incomplete */
} pl_bytes;

void pl_bytes_byte(pl_bytes *b, unsigned v);
void pl_bytes_number(pl_bytes *b, uint64_t v);
void pl_bytes_signed(pl_bytes *b, int64_t v); /* zigzag: 0, -1, 1, -2 ... become 0, 1, 2, 3 ... */
/* For mostly zero arrays: a run of zeros is encoded as a 0 and its length. pl_bytes_end writes the
 * last run. */
void pl_bytes_sparse(pl_bytes *b, uint64_t v);
void pl_bytes_end(pl_bytes *b);

#endif
