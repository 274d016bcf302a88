/* validity.h - the bits of memory that hold a defined value.
 *
 * One byte describes each byte: a set bit is undefined. Memory is divided into pages. Most pages
 * are wholly defined or wholly uninitialised: such a page is a shared marker. Only a mixed page has
 * its own bytes, until all of it is defined. A stored undefined word has an origin: the source of
 * its value. */
#ifndef PL_CHECK_VALIDITY_H
#define PL_CHECK_VALIDITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PL_VALIDITY_PAGE = 256 };

typedef struct pl_vpage {
    uint32_t undefined; /* bytes that are not wholly defined */
    uint8_t bits[PL_VALIDITY_PAGE];
    uint32_t origin[PL_VALIDITY_PAGE / 4]; /* 0: not stored */
} pl_vpage;

typedef struct pl_validity {
    struct pl_validity_leaf **leaf;
    size_t leaves;
    uint64_t undefined_pages; /* pages not known to be wholly defined */
    bool starts_undefined;    /* memory starts undefined, else defined */
} pl_validity;

/* Returns the page of an address, NULL: all of it is defined. A wholly uninitialised page is
 * read-only. */
const pl_vpage *pl_validity_page(const pl_validity *v, uint64_t address);
/* Sets the bits of [address, address + bytes); origin: of the undefined ones. bits NULL: they are
 * defined. False: out of memory. */
bool pl_validity_set(pl_validity *v, uint64_t address, unsigned bytes, const uint8_t *bits,
                     uint32_t origin);
/* Makes all of [address, address + bytes) defined or uninitialised. False: out of memory. */
bool pl_validity_all(pl_validity *v, uint64_t address, uint64_t bytes, bool defined);
/* Reads bits. True: some are undefined, with the origin of the first. */
bool pl_validity_get(const pl_validity *v, uint64_t address, unsigned bytes, uint8_t *bits,
                     uint32_t *origin);
void pl_validity_free(pl_validity *v);

#endif
