/* guard.h - where a thread goes on when an arena finds no memory.
 *
 * A function with PL_GUARD is a guard of all that it calls in its thread. An arena of which memory
 * is asked in vain jumps back into it, and the statement of the guard runs, which returns. So what
 * uses arenas between guard and request needs no test. Rules:
 *
 *   - What is between them holds nothing but memory of arenas, or is itself a guard that gives the
 *     rest back.
 *   - The guarded function changes no variable of its own that the statement uses: it is short,
 *     and calls another one that does the work.
 *   - No guard reaches into a job of a team (base/team.h) or into a callback of SQLite:
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
    bool open; /* PL_UNGUARDED: ends what is outside of it */
    jmp_buf at;
} pl_guard;

void pl_guard_enter(pl_guard *g, bool open);
void pl_guard_leave(pl_guard *g);
/* Jumps to the thread's guard. Returns when there is none. */
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
