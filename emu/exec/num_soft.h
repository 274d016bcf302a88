/* num_soft.h - exact double precision arithmetic in integers, for every rounding mode.
 *
 * The host's own operations serve f64 in round to nearest. What it lacks - directed rounding, and a fused multiply-add
 * on machines without one - is computed here from significands in two 64-bit words. num_f64.h chooses between them.
 */
#ifndef PL_EMU_EXEC_NUM_SOFT_H
#define PL_EMU_EXEC_NUM_SOFT_H

#include "num.h"

/* All take and return bit patterns and never produce NaN themselves from finite or infinite operands except where
 * IEEE 754 says so; then the pattern is positive and quiet. The operands must not be NaN. */
uint64_t pl_soft_add(uint64_t a, uint64_t b, int rnd);
uint64_t pl_soft_mul(uint64_t a, uint64_t b, int rnd);
uint64_t pl_soft_fma(uint64_t a, uint64_t b, uint64_t c, int rnd);
uint64_t pl_soft_div(uint64_t a, uint64_t b, int rnd);
uint64_t pl_soft_sqrt(uint64_t a, int rnd);

/* sig * 2^exp, rounded to f64 or to f32 (which may be PL_RO). */
uint64_t pl_soft_f64_from_u64(bool negative, uint64_t sig, int exp, int rnd);
uint32_t pl_soft_f32_from_u64(bool negative, uint64_t sig, int exp, int rnd);

#endif
