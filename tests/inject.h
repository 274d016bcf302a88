/* inject.h - injects system faults into the calling process.
 *
 * Allocations (malloc and related functions, pages, threads) and system calls on files are counted
 * after inject_arm; the selected one fails. */
#ifndef PL_TESTS_INJECT_H
#define PL_TESTS_INJECT_H

#include <stdbool.h>

typedef enum inject_kind {
    INJECT_NONE,
    INJECT_MEMORY,      /* allocation n fails */
    INJECT_MEMORY_FROM, /* and all after it */
    INJECT_ERROR,       /* call n fails with `code` */
    INJECT_ERROR_FROM,  /* and all later writes */
    INJECT_SHORT,       /* call n transfers one byte instead of more */
    INJECT_KILL         /* the process is killed at call n */
} inject_kind;

/* Counts of the calls that can fail, in memory that a parent shares with its children. */
typedef struct inject_counts {
    long allocations, calls;
    long later; /* allocations after the fault, in the child of a run that forks */
    bool fired;
} inject_counts;

/* Returns false if this system cannot inject that kind. */
bool inject_arm(inject_kind kind, long n, int code, inject_counts *counts);

/* Faults of one run at many allocations: the process forks at each, and the child gets the fault.
 * Thus everything before the fault runs once. */
typedef struct inject_forks {
    const long *at; /* ascending */
    long n;
    void (*before)(void); /* in the process, before it forks */
    void (*child)(void);  /* in the child, before the fault */
    void (*after)(long at,
                  int status); /* in the process: the child has ended with that status of waitpid */
} inject_forks;
/* Does not fork while other threads run, since they would not exist in the child. kind: of memory.
 */
void inject_fork(inject_kind kind, const inject_forks *forks, inject_counts *counts);

void inject_fired(void); /* called at each fault */

#endif
