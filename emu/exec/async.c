/* async.c - the list of pending copies of a warp (async.h); op_async.c fills and applies it. */
#include "emu/exec/async.h"

#include <stdlib.h>

void pl_async_free(struct pl_async *a)
{
    if (a)
        free(a->at);
    free(a);
}

void pl_async_reset(struct pl_async *a)
{
    if (a)
        a->n = a->group = 0;
}
