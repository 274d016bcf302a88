/* undefined.h - which global memory nobody has written, and where undefined values come from.
 *
 * A checker has one of its own, for the launches that it watches. Those of a program, with one
 * checker for each module and device, share one; the program's copies and sets say there what the
 * host has written. */
#ifndef PL_CHECK_UNDEFINED_H
#define PL_CHECK_UNDEFINED_H

#include "isa/program/insn.h"
#include "check/validity.h"

struct pl_check;

/* Where an undefined value comes from. */
typedef struct pl_origin {
    uint32_t user;  /* number of the checker whose program has read or stored it */
    uint32_t pc;    /* of the load, or of the store to global memory */
    uint32_t from;  /* stores: origin of the value; 0: a load */
    pl_space space; /* of the bytes */
    uint64_t address;
    uint32_t block[3], thread[3];
    const char *kernel; /* while that checker is there */
    char where[150];
} pl_origin;

typedef struct pl_undefined {
    pl_validity memory; /* by address from `base` on */
    uint64_t base, bytes;
    bool shared; /* between the checkers of a program */
    pl_origin *origin;
    uint32_t norigins, origins; /* used (number 0 is none), allocated */
    struct pl_check **user;     /* by number from 1 on; NULL: closed */
    uint32_t users;
} pl_undefined;

/* The number of a checker that uses it from now on; 0: out of memory. */
uint32_t pl_undefined_join(pl_undefined *u, struct pl_check *k);
void pl_undefined_leave(pl_undefined *u, uint32_t number);
void pl_undefined_free(pl_undefined *u);
/* Room for another origin. NULL: there is none. */
pl_origin *pl_origin_new(pl_undefined *u, bool *no_memory);
/* The read of undefined bytes that an origin goes back to. */
const pl_origin *pl_origin_read(const pl_undefined *u, uint32_t origin);

/* What the host does to bytes in [base, base + bytes); others are left alone. False: out of memory.
 */
bool pl_undefined_set(pl_undefined *u, uint64_t address, uint64_t bytes, bool defined);
bool pl_undefined_copy(pl_undefined *u, uint64_t to, uint64_t from, uint64_t bytes);
/* What a part of memory that the host reads holds. */
typedef struct pl_undefined_read {
    uint64_t never, first; /* words that nobody has written, and the first of them */
} pl_undefined_read;
/* What it is. */
typedef struct pl_undefined_what {
    const char *name; /* "the output arg2" */
    uint64_t start;   /* address from which elements are counted */
    uint32_t element; /* its bytes; 0: words are counted */
} pl_undefined_what;
/* Elements that a kernel has stored undefined are findings of its checker. */
bool pl_undefined_look(pl_undefined *u, uint64_t address, uint64_t bytes,
                       const pl_undefined_what *what, pl_undefined_read *out);

#endif
