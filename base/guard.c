/* guard.c - the guards of a thread form a list, the innermost first. It is empty while the thread
 * is outside the library. */
#include "base/guard.h"
#include <stddef.h>

static _Thread_local pl_guard *innermost;

void pl_guard_enter(pl_guard *g, bool unguarded)
{
    g->outer = innermost;
    g->unguarded = unguarded;
    innermost = g;
}

void pl_guard_leave(pl_guard *g)
{
    if (innermost == g) innermost = g->outer;
}

void pl_guard_fail(void)
{
    if (innermost && !innermost->unguarded) longjmp(innermost->at, 1);
}
