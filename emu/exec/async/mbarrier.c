/* mbarrier.c - mbarrier objects.
 *
 * An mbarrier object is one 64-bit word in shared memory. The layout is that of sm_90 (H200,
 * driver 580.159.04, 2026-11, probes async.*: the tokens that arrive returns, and words read back
 * by loads after the object was evicted from the unit that works on it):
 *     bit 63      phase, flips at completion
 *     bits 62..43 pending arrivals, counted up from -count (20 bits)
 *     bits 41..21 transaction count, negated (21 bits, two's complement)
 *     bits 20..1  expected arrivals of a phase, as -count (20 bits)
 *     bit 0       the layout v1 of PTX 9.3; not recorded */
#include "emu/exec/async/async.h"

#include <string.h>

enum { TX_BITS = 21, PENDING_AT = 43, TX_AT = 21, EXPECTED_AT = 1 };

pl_mbar pl_mbar_unpack(uint64_t v)
{
    const uint32_t count = (1u << PL_MBAR_COUNT_BITS) - 1;
    pl_mbar b;
    b.expected = (0u - (uint32_t)(v >> EXPECTED_AT)) & count;
    b.pending = (0u - (uint32_t)(v >> PENDING_AT)) & count;
    b.tx = -((int32_t)((uint32_t)(v >> TX_AT) << (32 - TX_BITS)) >> (32 - TX_BITS));
    b.phase = v >> 63;
    b.reports = v & 1;
    return b;
}

uint64_t pl_mbar_pack(pl_mbar b)
{
    const uint64_t count = (1u << PL_MBAR_COUNT_BITS) - 1, tx = (1u << TX_BITS) - 1;
    return (uint64_t)b.phase << 63 | ((0ull - b.pending) & count) << PENDING_AT |
           ((uint64_t)(-(int64_t)b.tx) & tx) << TX_AT |
           ((0ull - b.expected) & count) << EXPECTED_AT | (uint64_t)b.reports;
}

pl_mbar pl_mbar_read(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
    return pl_mbar_unpack(v);
}

void pl_mbar_write(uint8_t *p, pl_mbar b)
{
    if (!b.pending && !b.tx) {
        b.pending = b.expected;
        b.phase = !b.phase;
    }
    uint64_t v = pl_mbar_pack(b);
    memcpy(p, &v, 8);
}

const char *pl_mbar_transact(uint8_t *p, int64_t bytes)
{
    pl_mbar b = pl_mbar_read(p);
    int64_t tx = b.tx + bytes;
    if (bytes > PL_MBAR_TX_MAX || bytes < -PL_MBAR_TX_MAX || tx > PL_MBAR_TX_MAX ||
        tx < -PL_MBAR_TX_MAX)
        return "the transaction count of an mbarrier leaves its range of -1048575 to 1048575";
    if (!bytes) return NULL;
    b.tx = (int32_t)tx;
    pl_mbar_write(p, b);
    return NULL;
}

const char *pl_mbar_arrive(uint8_t *p, uint32_t count, bool drop)
{
    pl_mbar b = pl_mbar_read(p);
    if (count > b.pending) return "more arrivals at an mbarrier than its phase expects";
    if (!count) return NULL;
    b.pending -= count;
    if (drop) b.expected -= count < b.expected ? count : b.expected;
    pl_mbar_write(p, b);
    return NULL;
}
