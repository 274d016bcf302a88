/* status.h - result codes of every function that can fail for a reason outside ptxloom.
 *
 * Three kinds of failure are distinguished everywhere: invalid user input (a diagnostic, see
 * diag.h, and PL_INVALID), a failure of the emulated program (PL_FAULT), or an environment failure
 * (the other codes). Bugs of ptxloom itself are asserts and have no code. */
#ifndef PL_BASE_STATUS_H
#define PL_BASE_STATUS_H

typedef enum pl_status {
    PL_OK = 0,
    PL_INVALID,     /* the input was rejected; diagnostics give the reason (exit status 2) */
    PL_FAULT,       /* the emulated program failed: bad address, trap, deadlock (exit status 1) */
    PL_NOMEM,       /* out of memory (exit status 3) */
    PL_IO,          /* a file could not be read or written (exit status 3) */
    PL_UNSUPPORTED, /* known, but not implemented in this version; a diagnostic names it (exit
                       status 2) */
    PL_INTERRUPTED, /* the caller's stop flag was set (exit status 3) */
    PL_WAITING      /* the launch is suspended: its threads wait for memory to change */
} pl_status;

#endif
