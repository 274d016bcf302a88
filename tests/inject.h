/* inject.h - faults of the system, injected into the process that calls it.
 *
 * Allocations (malloc and its kin, pages, threads) and system calls on files are counted from
 * inject_arm on; the chosen one fails. */
#ifndef PL_TESTS_INJECT_H
#define PL_TESTS_INJECT_H

#include <stdbool.h>

typedef enum inject_kind {
    INJECT_NONE,
    INJECT_MEMORY,      /* allocation n fails */
    INJECT_MEMORY_FROM, /* as do all after it */
    INJECT_ERROR,       /* call n fails with `code` */
    INJECT_ERROR_FROM,  /* as do all after it that write */
    INJECT_SHORT,       /* call n reads or writes one byte where it could more */
    INJECT_KILL         /* the process is killed at call n */
} inject_kind;

/* Counts of what could have failed; in memory that a parent shares with its children. */
typedef struct inject_counts {
    long allocations, calls;
    bool fired;
} inject_counts;

/* False: this system cannot inject that kind. */
bool inject_arm(inject_kind kind, long n, int code, inject_counts *counts);
void inject_fired(void); /* called at each fault */

#endif
