/* sparse.h - selects the two of four elements that spcompress keeps.
 *
 * NaNs take precedence over numbers, -0 is below +0, and of equal elements those at lower positions
 * are kept; the manual leaves the last rule open. PTX manual, section "spcompress". Not recorded on
 * hardware. */
#ifndef PL_EMU_EXEC_NUM_SPARSE_H
#define PL_EMU_EXEC_NUM_SPARSE_H

#include <stdbool.h>
#include <stdint.h>

/* Maps a number in sign and magnitude to a key that compares as an integer. `inf` is the magnitude
 * above which it is a NaN; NaNs come first in both directions. */
static inline int64_t sparse_key(uint32_t magnitude, bool negative, uint32_t inf, bool abs,
                                 bool smallest)
{
    if (magnitude > inf) return INT64_MAX;
    const int64_t v = negative && !abs ? -(int64_t)magnitude - 1 : (int64_t)magnitude;
    return smallest ? -v : v;
}

/* The positions of the two largest keys: the lower one in bits 0 and 1, the other in bits 2 and
 * 3. */
static inline unsigned two_of_four(const int64_t key[4])
{
    unsigned first = 0, second = 4;
    for (unsigned i = 1; i < 4; i++)
        if (key[i] > key[first]) first = i;
    for (unsigned i = 0; i < 4; i++)
        if (i != first && (second == 4 || key[i] > key[second])) second = i;
    return first < second ? first | second << 2 : second | first << 2;
}

#endif
