/* status.h - result codes of every function that can fail for a reason outside ptxloom.
 *
 * Three kinds of failure are kept apart everywhere: the user's input is wrong (a diagnostic, see
 * diag.h, and PL_INVALID), the program under emulation failed (PL_FAULT), or the world failed (the
 * other codes). Our own mistakes are asserts and have no code. */
#ifndef PL_BASE_STATUS_H
#define PL_BASE_STATUS_H

typedef enum pl_status {
    PL_OK = 0,
    PL_INVALID,     /* the input was refused; diagnostics say why (exit status 2) */
    PL_FAULT,       /* the emulated program failed: bad address, trap, deadlock (exit status 1) */
    PL_NOMEM,       /* out of memory (exit status 3) */
    PL_IO,          /* a file could not be read or written (exit status 3) */
    PL_UNSUPPORTED, /* known, but this version cannot do it; a diagnostic names it (exit status 2)
                     */
    PL_INTERRUPTED  /* the caller's stop flag was raised (exit status 3) */
} pl_status;

#endif
