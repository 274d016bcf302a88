/* compare_swap.c - which lanes of a compare and swap do not write, because they find another value.
 */
#include <string.h>

#include "check/race.h"
#include "emu/exec/lane_loops.h"

/* The operand of a lane, as the bytes in memory. */
static void operand_bytes(const pl_warp *w, uint32_t row, unsigned lane, unsigned bytes,
                          uint64_t to[2])
{
    to[0] = to[1] = 0;
    if (bytes >= 8) {
        to[0] = pl_row64(w, row)[lane];
        if (bytes == 16) to[1] = pl_row64(w, row)[PL_LANES + lane];
        return;
    }
    memcpy(to, &pl_row32(w, row)[lane], bytes);
}

uint32_t pl_race_failing_lanes(const pl_warp *w, const pl_insn *i, uint32_t lanes,
                               const place at[PL_LANES], unsigned bytes)
{
    enum { COMPARED = 2, SWAPPED = 3 };
    uint64_t after[PL_LANES][2]; /* value that each lane leaves */
    unsigned done[PL_LANES], ndone = 0;
    uint32_t failing = 0;
    const unsigned first = pl_initial_lane(w);
    for (uint32_t m = pl_lanes_from(lanes, first); m; m &= m - 1) {
        const unsigned l = pl_lane_from(m, first);
        uint64_t compared[2];
        unsigned n = ndone;
        while (n && at[done[n - 1]].bytes != at[l].bytes) n--;
        memset(after[l], 0, sizeof after[l]);
        memcpy(after[l], n ? (const uint8_t *)after[done[n - 1]] : at[l].bytes, bytes);
        operand_bytes(w, i->op[COMPARED], l, bytes, compared);
        if (memcmp(compared, after[l], bytes) != 0)
            failing |= 1u << l;
        else
            operand_bytes(w, i->op[SWAPPED], l, bytes, after[l]);
        done[ndone++] = l;
    }
    return failing;
}
