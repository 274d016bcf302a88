/* async.h - asynchronous copies of a warp: cp.async groups that have been issued and not yet applied.
 *
 * An asynchronous copy is a pending effect. Eager mode applies it at once; late mode keeps it until an instruction waits for it,
 * so that a program whose result differs between the two lacks a wait. */
#ifndef PL_EMU_ASYNC_H
#define PL_EMU_ASYNC_H

#include <stddef.h>
#include <stdint.h>

typedef struct pl_async_copy {
    uint8_t *to;
    const uint8_t *from;
    uint32_t bytes, fill; /* fill: zero bytes after the copied ones */
    uint32_t group;
} pl_async_copy;

struct pl_async {
    pl_async_copy *at;
    size_t n, cap;
    uint32_t group; /* number of the cp.async group being filled */
};

void pl_async_free(struct pl_async *a);  /* NULL is allowed */
void pl_async_reset(struct pl_async *a); /* forgets everything; NULL is allowed */

#endif
