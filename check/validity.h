/* validity.h - which bits of memory hold a value that somebody has written.
 *
 * One byte says it for each byte: a set bit is not defined. Memory is divided into pages. Most
 * pages are wholly defined, or nobody has written to them yet: such a page is a mark. Only a page
 * with both has bytes of its own, until all of it is defined. An undefined word that was stored has
 * an origin: where its value comes from. */
#ifndef PL_CHECK_VALIDITY_H
#define PL_CHECK_VALIDITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PL_VALIDITY_PAGE = 256 };

typedef struct pl_vpage {
    uint32_t undefined; /* bytes that are not wholly defined */
    uint8_t bits[PL_VALIDITY_PAGE];
    uint32_t origin[PL_VALIDITY_PAGE / 4]; /* 0: nobody has stored here */
} pl_vpage;

typedef struct pl_validity {
    struct pl_validity_leaf **leaf;
    size_t leaves;
    uint64_t undefined_pages; /* that are not wholly defined, as far as is known */
    bool fresh;               /* memory is undefined from the start, else defined */
} pl_validity;

/* The page of an address, NULL: all of it is defined. One that nobody has written to is read-only.
 */
const pl_vpage *pl_validity_page(const pl_validity *v, uint64_t address);
/* [address, address + bytes) holds these bits; origin: of the undefined ones. NULL: they are
 * defined. False: out of memory. */
bool pl_validity_set(pl_validity *v, uint64_t address, unsigned bytes, const uint8_t *bits,
                     uint32_t origin);
/* All of [address, address + bytes) is defined; or nobody has written to it. False: out of memory.
 */
bool pl_validity_all(pl_validity *v, uint64_t address, uint64_t bytes, bool defined);
/* Reads bits. True: some are undefined, with the origin of the first of them. */
bool pl_validity_get(const pl_validity *v, uint64_t address, unsigned bytes, uint8_t *bits,
                     uint32_t *origin);
void pl_validity_free(pl_validity *v);

#endif
