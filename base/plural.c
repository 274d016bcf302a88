/* plural.c - the plural of nouns after a number in messages. */
#include "base/plural.h"

const char *pl_plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}
