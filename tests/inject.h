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
    bool fired;
} inject_counts;

/* Returns false if this system cannot inject that kind. */
bool inject_arm(inject_kind kind, long n, int code, inject_counts *counts);
void inject_fired(void); /* called at each fault */

#endif
