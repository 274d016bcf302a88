/* op_mufu.c - approximate functions for a whole warp, where that is faster than lane by lane.
 *
 * A lane of ex2 reads a row of two words from a table of 64 (mufu_unit.h). Hosts read the 64 words
 * of a warp from memory sequentially, even with a gather. Half a kilobyte fits into eight AVX-512
 * registers, and a permutation selects the words of 16 lanes from two of them: a warp's ex2 takes
 * 45 % less time (tests/accuracy/rates.c). */
#include "emu/exec/lane_loops.h"

#ifdef __AVX512F__
#include <immintrin.h>
#endif

/* Lanes are processed in groups of one AVX-512 register, so that compilers keep intermediate values
 * in registers. */
enum { GROUP = 16 };

/* word[l] = table[row[l]], rows 0 to 63. */
PL_LANE_INLINE void words_of_rows(const int32_t table[64], const uint32_t row[GROUP],
                                  int32_t word[GROUP])
{
#ifdef __AVX512F__
    const __m512i r = _mm512_loadu_si512(row); /* permutations use its lower five bits */
    const __m512i low =
        _mm512_permutex2var_epi32(_mm512_loadu_si512(table), r, _mm512_loadu_si512(table + 16));
    const __m512i high = _mm512_permutex2var_epi32(_mm512_loadu_si512(table + 32), r,
                                                   _mm512_loadu_si512(table + 48));
    _mm512_storeu_si512(
        word, _mm512_mask_mov_epi32(low, _mm512_test_epi32_mask(r, _mm512_set1_epi32(32)), high));
#else
    /* Signed index: compilers then gather eight words. */
    for (unsigned l = 0; l < GROUP; l++) word[l] = table[(int32_t)row[l]];
#endif
}

PL_LANE_INLINE void ex2(pl_warp *w, const pl_insn *i, bool ftz)
{
    uint32_t v[PL_LANES];
    for (unsigned first = 0; first < PL_LANES; first += GROUP) {
        const uint32_t *a = pl_row32(w, i->op[1]) + first;
        uint32_t row[GROUP];
        int32_t c0[GROUP], c12[GROUP];
        for (unsigned l = 0; l < GROUP; l++)
            row[l] = mufu_ex2_row(mufu_ex2_fixed(f32_ex2_operand(a[l], ftz)));
        words_of_rows(pl_mufu_c0 + MUFU_ROW_EX2, row, c0);
        words_of_rows(pl_mufu_c12 + MUFU_ROW_EX2, row, c12);
        for (unsigned l = 0; l < GROUP; l++) {
            const uint32_t x = f32_ex2_operand(a[l], ftz);
            v[first + l] =
                f32_ex2_result(a[l], mufu_ex2_result(x, mufu_ex2_fixed(x), c0[l], c12[l]), ftz);
        }
    }
    pl_blend32(w, pl_row32(w, i->op[0]), v);
}

void exec_ex2_f32(pl_warp *w, const pl_insn *i, int ftz)
{
    if (ftz == W_ftz)
        ex2(w, i, true);
    else
        ex2(w, i, false);
}
