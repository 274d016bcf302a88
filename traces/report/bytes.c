/* bytes.c - growing byte strings with numbers of variable length. */
#include "traces/report/bytes.h"
#include <stdlib.h>

void pl_bytes_byte(pl_bytes *b, unsigned v)
{
    if (b->n == b->cap) {
        size_t cap = b->cap ? 2 * b->cap : 4096;
        unsigned char *more = b->failed ? NULL : realloc(b->at, cap);
        if (!more) {
            b->failed = true;
            return;
        }
        b->at = more;
        b->cap = cap;
    }
    b->at[b->n++] = (unsigned char)v;
}

void pl_bytes_number(pl_bytes *b, uint64_t v)
{
    for (; v >= 0x80; v >>= 7) pl_bytes_byte(b, 0x80 | (unsigned)(v & 0x7f));
    pl_bytes_byte(b, (unsigned)v);
}

void pl_bytes_signed(pl_bytes *b, int64_t v)
{
    pl_bytes_number(b, (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0));
}

void pl_bytes_end(pl_bytes *b)
{
    if (b->zeros == 0) return;
    pl_bytes_byte(b, 0);
    pl_bytes_number(b, b->zeros);
    b->zeros = 0;
}

void pl_bytes_sparse(pl_bytes *b, uint64_t v)
{
    if (v == 0) {
        b->zeros++;
        return;
    }
    pl_bytes_end(b);
    pl_bytes_number(b, v);
}
