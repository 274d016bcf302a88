/* num_lanes_fma.c - the checksums of num_lanes.h compiled for AVX2 with FMA, regardless of the
 * target of the rest of the test. */
#if defined __GNUC__ && !defined __clang__ && defined __x86_64__
#pragma GCC target("avx2,fma")
#endif
#define LANES_NAME num_lanes_fma
#include <stdint.h>

void num_lanes_fma(uint64_t *sum);

#include "tests/unit/num_lanes.h"
