/* mbarrier.c - mbarrier objects.
 *
 * An mbarrier object is one 64-bit word in shared memory. The layout is that of sm_90 (H200, driver
 * 580.159.04, 2026-11, probes async.*: the tokens returned by arrive, and words read back by loads
 * after the object was evicted from the unit that processes it):
 *     bit 63      phase, flips at completion
 *     bits 62..43 pending arrivals, counted up from -count (20 bits)
 *     bits 41..21 transaction count, negated (21 bits, two's complement)
 *     bits 20..1  expected arrivals of a phase, as -count (20 bits)
 *     bit 0       .layout::v1 of PTX 9.3
 * The counts of .layout::v1 have 9 bits. The bits that it frees in the field of expected arrivals
 * hold the state described in the manual ("Phase Completion of the mbarrier object"); not recorded:
 *     bit 20      the conditional phase
 *     bit 19      a copy has reported in the current phase
 *     bit 18      a copy reported in the preceding phase
 *     bits 9..1   expected arrivals of a phase, as -count */
#include "emu/exec/async/async.h"

#include <string.h>

#include "isa/program/insn_query.h"

enum {
    TX_BITS = 21,
    PENDING_AT = 43,
    TX_AT = 21,
    CONDITIONAL_AT = 20,
    REPORT_AT = 19,
    REPORTED_AT = 18,
    EXPECTED_AT = 1,
    EXPECTED_BITS_V1 = 9
};

static uint64_t expected_mask(bool v1)
{
    return (1u << (v1 ? EXPECTED_BITS_V1 : PL_MBAR_COUNT_BITS)) - 1;
}

pl_mbar pl_mbar_unpack(uint64_t v)
{
    const uint32_t count = (1u << PL_MBAR_COUNT_BITS) - 1;
    pl_mbar b;
    b.v1 = v & 1;
    b.expected = (0u - (uint32_t)(v >> EXPECTED_AT)) & (uint32_t)expected_mask(b.v1);
    b.pending = (0u - (uint32_t)(v >> PENDING_AT)) & count;
    b.tx = -((int32_t)((uint32_t)(v >> TX_AT) << (32 - TX_BITS)) >> (32 - TX_BITS));
    b.phase = v >> 63;
    b.conditional = b.v1 ? v >> CONDITIONAL_AT & 1 : b.phase;
    b.report = b.v1 && (v >> REPORT_AT & 1);
    b.reported = b.v1 && (v >> REPORTED_AT & 1);
    return b;
}

uint64_t pl_mbar_pack(pl_mbar b)
{
    const uint64_t count = (1u << PL_MBAR_COUNT_BITS) - 1, tx = (1u << TX_BITS) - 1;
    return (uint64_t)b.phase << 63 | ((0ull - b.pending) & count) << PENDING_AT |
           ((uint64_t)(-(int64_t)b.tx) & tx) << TX_AT |
           ((0ull - b.expected) & expected_mask(b.v1)) << EXPECTED_AT | (uint64_t)b.v1 |
           (b.v1 ? (uint64_t)b.conditional << CONDITIONAL_AT | (uint64_t)b.report << REPORT_AT |
                       (uint64_t)b.reported << REPORTED_AT
                 : 0);
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
        if (!b.report) b.conditional = !b.conditional;
        b.reported = b.report;
        b.report = false;
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

void pl_mbar_report(uint8_t *p)
{
    pl_mbar b = pl_mbar_read(p);
    b.report = true;
    const uint64_t v = pl_mbar_pack(b);
    memcpy(p, &v, 8);
}

/* The first of two elements with fewer than 8 bits is in the lower half of the byte. */
bool pl_inspect_matches(pl_inspect how, const uint8_t *piece, unsigned n)
{
    switch (how) {
    case PL_INSPECT_NONE: return false;
    case PL_INSPECT_F32: return n >= 4 && !piece[0] && !piece[1] && !piece[2] && piece[3] == 0x80;
    case PL_INSPECT_F16: return n >= 2 && !piece[0] && piece[1] == 0x80;
    case PL_INSPECT_F8: return n && piece[0] == 0x80;
    case PL_INSPECT_F4: return n && (piece[0] & 0xf) == 8;
    case PL_INSPECT_BYTES: return memchr(piece, 0xff, n) != NULL;
    }
    return false;
}

pl_inspect pl_inspect_of(const pl_insn *i)
{
    switch (pl_mod(&pl_forms[i->form], i->mods, G_report)) {
    case W_mbarrier__report__validity__per_16bytes__80000000: return PL_INSPECT_F32;
    case W_mbarrier__report__validity__per_16bytes__8000: return PL_INSPECT_F16;
    case W_mbarrier__report__validity__per_16bytes__80: return PL_INSPECT_F8;
    case W_mbarrier__report__validity__per_16bytes__8: return PL_INSPECT_F4;
    case W_mbarrier__report__validity__per_element__ff: return PL_INSPECT_BYTES;
    default: return PL_INSPECT_NONE;
    }
}
