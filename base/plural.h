/* plural.h - the plural of nouns after a number in messages. */
#ifndef PL_BASE_PLURAL_H
#define PL_BASE_PLURAL_H

#include <stdint.h>

/* The ending of a regular noun after the number n: "" for 1, else "s". */
const char *pl_plural(uint64_t n);

#endif
