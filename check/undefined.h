/* undefined.h - uninitialised global memory, and the origins of undefined values.
 *
 * A checker has its own state for the launches that it observes. The checkers of a program, one for
 * each module and device, share one; the program's copies and sets record there what the host has
 * written. */
#ifndef PL_CHECK_UNDEFINED_H
#define PL_CHECK_UNDEFINED_H

#include "isa/program/insn.h"
#include "check/validity.h"

struct pl_check;

/* The origin of an undefined value. */
typedef struct pl_origin {
    uint32_t user;  /* number of the checker whose program read or stored it */
    uint32_t pc;    /* of the load, or of the store to global memory */
    uint32_t from;  /* stores: origin of the value; 0: a load */
    pl_space space; /* of the bytes */
    uint64_t address;
    uint32_t block[3], thread[3];
    const char *kernel; /* valid while that checker exists */
    char where[150];
} pl_origin;

typedef struct pl_undefined {
    pl_validity memory; /* by address, relative to `base` */
    uint64_t base, bytes;
    bool shared; /* by the checkers of a program */
    pl_origin *origin;
    uint32_t norigins, origins; /* used (number 0 is none), capacity */
    struct pl_check **user;     /* by number, from 1; NULL: closed */
    uint32_t users;
} pl_undefined;

/* Registers a checker and returns its number; 0: out of memory. */
uint32_t pl_undefined_add_user(pl_undefined *u, struct pl_check *k);
void pl_undefined_remove_user(pl_undefined *u, uint32_t number);
void pl_undefined_free(pl_undefined *u);
/* Returns a new origin. NULL: no memory, or too many. */
pl_origin *pl_origin_new(pl_undefined *u, bool *no_memory);
/* Returns the read of undefined bytes that is the root of an origin. */
const pl_origin *pl_origin_read(const pl_undefined *u, uint32_t origin);

/* Record operations of the host on bytes in [base, base + bytes); others are ignored. False: out of
 * memory. */
bool pl_undefined_set(pl_undefined *u, uint64_t address, uint64_t bytes, bool defined);
bool pl_undefined_copy(pl_undefined *u, uint64_t to, uint64_t from, uint64_t bytes);
/* State of memory that the host reads. */
typedef struct pl_undefined_read {
    uint64_t words, first; /* number of uninitialised words, and address of the first */
} pl_undefined_read;
/* Description of the memory. */
typedef struct pl_undefined_what {
    const char *name; /* "the output arg2" */
    uint64_t start;   /* address from which elements are counted */
    uint32_t element; /* element size in bytes; 0: words are counted */
} pl_undefined_what;
/* Undefined elements that a kernel has stored become findings of its checker. */
bool pl_undefined_scan(pl_undefined *u, uint64_t address, uint64_t bytes,
                       const pl_undefined_what *what, pl_undefined_read *out);

#endif
