/* softfloat.h - exact double precision arithmetic in integers, for every rounding mode.
 *
 * The host's own operations serve f64 in round to nearest. The operations that it lacks (directed
 * rounding, and a fused multiply-add on machines without one) are computed here from significands
 * in two 64-bit words. f64.h selects between them and handles NaN: the operands here are numbers or
 * infinities. Where IEEE 754 requires a NaN, an unspecified NaN is returned. */
#ifndef PL_EMU_EXEC_NUM_SOFTFLOAT_H
#define PL_EMU_EXEC_NUM_SOFTFLOAT_H

#include "num.h"

uint64_t pl_soft_add(uint64_t a, uint64_t b, int rnd);
uint64_t pl_soft_mul(uint64_t a, uint64_t b, int rnd);
uint64_t pl_soft_fma(uint64_t a, uint64_t b, uint64_t c, int rnd);
uint64_t pl_soft_div(uint64_t a, uint64_t b, int rnd);
uint64_t pl_soft_sqrt(uint64_t a, int rnd);

/* A signed 64-bit integer, rounded to f64 or f32. */
uint64_t pl_soft_f64_from_int(bool negative, uint64_t magnitude, int rnd);
uint32_t pl_soft_f32_from_int(bool negative, uint64_t magnitude, int rnd);

#endif
