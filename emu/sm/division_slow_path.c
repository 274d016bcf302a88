/* division_slow_path.c - determines which operands of quotients and roots need the subroutine.
 *
 * The tests are those of the sequences that ptxas 13.0 emits for sm_90 (2026-11): FCHK checks the
 * exponents of dividend and divisor; the others compare the operand's upper bits. A zero dividend
 * is the usual reason. Recorded instruction counts of h200/suite/fft_radix2 agree: of its
 * divisions, those with a zero dividend execute 35 additional instructions. */
#include "emu/sm/division_slow_path.h"

#include "emu/exec/lane_loops.h"

pl_division_path pl_division_path_of(unsigned cls)
{
    switch (cls) {
    case C_slow_div_f32: return PL_DIVISION_DIV_F32;
    case C_slow_rcp_f32: return PL_DIVISION_RCP_F32;
    case C_slow_sqrt_f32: return PL_DIVISION_SQRT_F32;
    case C_slow_div_f64: return PL_DIVISION_DIV_F64;
    case C_slow_rcp_f64: return PL_DIVISION_RCP_F64;
    case C_slow_sqrt_f64: return PL_DIVISION_SQRT_F64;
    default: return PL_DIVISION_NEVER;
    }
}

uint32_t pl_division_path_length(unsigned slow)
{
    static const uint8_t length[PL_DIVISION_COUNT] = {
        [PL_DIVISION_DIV_F32] = 100, [PL_DIVISION_RCP_F32] = 52, [PL_DIVISION_SQRT_F32] = 24,
        [PL_DIVISION_DIV_F64] = 91,  [PL_DIVISION_RCP_F64] = 40, [PL_DIVISION_SQRT_F64] = 41};
    return slow < PL_DIVISION_COUNT ? length[slow] : 0; /* machine code for sm_90 */
}

static uint32_t high_word(uint64_t v)
{
    return (uint32_t)(v >> 32);
}

/* |high word|, read as a float, is at least this; false for NaN. */
static bool is_at_least(uint32_t word, uint32_t least)
{
    uint32_t v = word & 0x7fffffffu;
    return v >= least && v <= 0x7f800000u;
}

static bool lane_needs(const pl_warp *w, const pl_insn *i, pl_division_path test, unsigned l)
{
    switch (test) {
    /* Exponents: no zero, subnormal, infinity or NaN; neither quotient nor remainder is out of
     * range. */
    case PL_DIVISION_DIV_F32: {
        int a = (int)(pl_row32(w, i->op[2])[l] >> 23 & 255),
            b = (int)(pl_row32(w, i->op[3])[l] >> 23 & 255);
        return a < 24 || a == 255 || b < 1 || b > 252 || a - b > 126 || b - a > 125;
    }
    case PL_DIVISION_RCP_F32:
        return ((pl_row32(w, i->op[2])[l] + 0x1800000u) & 0x7f800000u) <= 0x1ffffffu;
    case PL_DIVISION_SQRT_F32: return pl_row32(w, i->op[2])[l] - 0x0d000000u > 0x727fffffu;
    case PL_DIVISION_DIV_F64: {
        uint64_t q = pl_row64(w, i->op[1])[l], a = pl_row64(w, i->op[2])[l],
                 b = pl_row64(w, i->op[3])[l];
        return !is_at_least(high_word(a), 0x03600000u) || !is_at_least(high_word(q), 0x00100001u) ||
               (high_word(b) & 0x7fffffffu) >= 0x7f800000u;
    }
    case PL_DIVISION_RCP_F64:
        return !is_at_least(high_word(pl_row64(w, i->op[2])[l]) + 0x300402u, 0x00400402u);
    case PL_DIVISION_SQRT_F64:
        return high_word(pl_row64(w, i->op[2])[l]) - 0x03500000u >= 0x7ca00000u;
    default: return false;
    }
}

bool pl_division_path_needed(pl_warp *w, const pl_insn *i, pl_division_path test)
{
    const pl_lanes lanes = pl_guarded(w, i);
    bool needed = false;
    for (unsigned h = 0; h < w->halves && !needed; h++) {
        pl_warp_set_half(w, h);
        for (uint32_t mask = pl_of_half(w, lanes); mask && !needed; mask &= mask - 1)
            needed = lane_needs(w, i, test, (unsigned)__builtin_ctz(mask));
    }
    pl_warp_set_half(w, 0);
    return needed;
}
