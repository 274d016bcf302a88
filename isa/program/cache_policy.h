/* cache_policy.h - cache policies: creation by createpolicy, and the priority that a policy gives
 * to a line of the L2.
 *
 * A policy contains two eviction priorities, and selects the addresses with the first one: a share
 * of all lines, or those in a range. It is encoded in one 64-bit word (createpolicy.tsv: 836 words
 * that an H200 created from as many operands):
 *
 *     63..61  0
 *         60  1: a policy (createpolicy.cvt creates others)
 *         59  1: a range, 0: a share
 *     58..57  primary priority (pl_priority)
 *         56  secondary priority: unchanged or first
 *     55..52  share: sixteenths, minus one. Range: logarithm of the unit minus 12; the range
 *             considered is 128 units long
 *     50..44  range: its first unit, modulo 128 (address / unit)
 *     43..37  range: units with the primary priority */
#ifndef PL_ISA_PROGRAM_CACHE_POLICY_H
#define PL_ISA_PROGRAM_CACHE_POLICY_H

#include "isa/table/form.h"
#include <stdbool.h>
#include <stdint.h>

enum { PL_POLICY_UNIT = 12, PL_POLICY_UNITS = 128 };
typedef enum pl_priority {
    PL_PRIORITY_UNCHANGED,
    PL_PRIORITY_FIRST,
    PL_PRIORITY_LAST,
    PL_PRIORITY_NORMAL
} pl_priority;

static inline uint64_t policy_head(int primary, int secondary)
{
    const uint64_t first = primary == W_L2__evict_first    ? PL_PRIORITY_FIRST
                           : primary == W_L2__evict_last   ? PL_PRIORITY_LAST
                           : primary == W_L2__evict_normal ? PL_PRIORITY_NORMAL
                                                           : PL_PRIORITY_UNCHANGED;
    return 1ull << 60 | first << 57 | (uint64_t)(secondary == W_L2__evict_first) << 56;
}

static inline uint64_t policy_of_fraction(int primary, int secondary, float fraction)
{
    uint64_t share = 0;
    while (share < 15 && (float)(share + 1) < fraction * 16) share++;
    return policy_head(primary, secondary) | share << 52;
}

static inline uint64_t policy_of_range(int primary, int secondary, uint64_t address,
                                       uint32_t primary_size, uint32_t total_size)
{
    unsigned unit = PL_POLICY_UNIT;
    while ((uint64_t)PL_POLICY_UNITS << unit < total_size) unit++;
    uint64_t n = ((address + primary_size + (1ull << unit) - 1) >> unit) - (address >> unit);
    if (n >= PL_POLICY_UNITS) n = PL_POLICY_UNITS - 1;
    return policy_head(primary, secondary) | 1ull << 59 | (uint64_t)(unit - PL_POLICY_UNIT) << 52 |
           (address >> unit) % PL_POLICY_UNITS << 44 | n << 37;
}

/* The priority of the line at this address. The selection of the lines of a share is not known;
 * here it is by a hash of the address. */
static inline pl_priority policy_of_line(uint64_t policy, uint64_t line)
{
    bool chosen;
    if (!(policy >> 60 & 1)) return PL_PRIORITY_UNCHANGED;
    if (policy >> 59 & 1) {
        const unsigned unit = PL_POLICY_UNIT + (unsigned)(policy >> 52 & 15);
        chosen = ((line >> unit) - (policy >> 44 & 127)) % PL_POLICY_UNITS < (policy >> 37 & 127);
    } else {
        chosen = (line >> 7) * 0x9E3779B97F4A7C15ull >> 60 <= (policy >> 52 & 15);
    }
    return (pl_priority)(chosen ? policy >> 57 & 3 : policy >> 56 & 1);
}

#endif
