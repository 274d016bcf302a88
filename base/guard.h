/* guard.h - where a thread continues when an arena is out of memory.
 *
 * A function with PL_GUARD guards all functions that it calls in its thread. When an arena cannot
 * allocate, it jumps back into the guarded function and executes the statement of the guard, which
 * must return. Code that uses arenas between guard and request therefore needs no checks. Rules:
 *
 *   - Frames in between own nothing but memory of arenas, or contain a guard that releases the
 *     other resources.
 *   - The guarded function modifies no local variable that the statement uses: it is short, and
 *     calls another function that does the work.
 *   - No guard extends into a job of a team (base/team.h) or into a callback of SQLite:
 *     PL_UNGUARDED in between ends it. Without a guard an arena returns NULL instead.
 *
 *     pl_status pl_thing_make(pl_gpu *gpu, thing **out)
 *     {
 *         PL_GUARD(return pl_gpu_no_memory(gpu, "while making a thing"));
 *         return make(gpu, out);
 *     } */
#ifndef PL_BASE_GUARD_H
#define PL_BASE_GUARD_H

#include <setjmp.h>
#include <stdbool.h>

typedef struct pl_guard {
    struct pl_guard *outer;
    bool unguarded; /* PL_UNGUARDED: hides the enclosing guards */
    jmp_buf at;
} pl_guard;

void pl_guard_enter(pl_guard *g, bool unguarded);
void pl_guard_leave(pl_guard *g);
/* Jumps to the thread's guard. Returns if there is none. */
void pl_guard_fail(void);

#define PL_GUARD(statement)                                                                        \
    __attribute__((cleanup(pl_guard_leave))) pl_guard guard_;                                      \
    pl_guard_enter(&guard_, false);                                                                \
    if (setjmp(guard_.at)) {                                                                       \
        pl_guard_leave(&guard_);                                                                   \
        statement;                                                                                 \
    }

#define PL_UNGUARDED                                                                               \
    __attribute__((cleanup(pl_guard_leave))) pl_guard unguarded_;                                  \
    pl_guard_enter(&unguarded_, true)

#endif
