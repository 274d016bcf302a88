/* fast_division.h - division by an invariant number as a multiplication. Addresses map to slices
 * and sets by quotients and remainders, several for each request.
 *
 * With m = floor(2^64 / d) + 1, n m / 2^64 is too large by n e / (d 2^64), where e = m d - 2^64 <=
 * d. The error is less than 1 / d, so that the floor is exact, as long as n d < 2^64. */
#ifndef PL_MEMMODEL_FAST_DIVISION_H
#define PL_MEMMODEL_FAST_DIVISION_H

#include <stdint.h>

typedef struct pl_divider {
    uint64_t by, reciprocal; /* reciprocal 0: divisor 1, whose reciprocal does not fit */
    uint64_t below;          /* exclusive upper bound of exact dividends */
} pl_divider;

static inline pl_divider pl_divider_of(uint64_t d)
{
    if (d < 2) return (pl_divider){.by = 1};
    return (pl_divider){.by = d, .reciprocal = UINT64_MAX / d + 1, .below = UINT64_MAX / d};
}

static inline uint64_t pl_divide(uint64_t n, const pl_divider *d)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 wide;
    if (n < d->below) return (uint64_t)((wide)n * d->reciprocal >> 64);
#endif
    return n / d->by;
}

static inline uint64_t pl_remainder(uint64_t n, const pl_divider *d)
{
    return n - pl_divide(n, d) * d->by;
}

#endif
