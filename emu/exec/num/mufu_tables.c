/* mufu_tables.c - the coefficient rows of the special function unit, packed for mufu_unit.h. The
 * values are in mufu_tables.def. */
#include "mufu_unit.h"

/* C0 in units of 2^-6 u. In mufu_tables.def its unit is u/4, u/2, u/16 or u/8. */
#define RCP(c0, c1, c2)  (int32_t)((c0##u) << 4),
#define RSQ(c0, c1, c2)  (int32_t)((c0##u) << 4),
#define SQRT(c0, c1, c2) (int32_t)((c0##u) << 5),
#define EX2(c0, c1, c2)  (int32_t)((c0##u) << 4),
#define LG2(c0, c1, c2)  (int32_t)((c0##u) << 2),
#define SIN(c0, c1, c2)  (int32_t)((c0##u) << 3),
#define TANH(c0, c1, c2) (int32_t)((c0##u) << 5),
const int32_t pl_mufu_c0[] = {
#include "mufu_tables.def"
};
#undef RCP
#undef RSQ
#undef SQRT
#undef EX2
#undef LG2
#undef SIN
#undef TANH

#define PACK(c1, c2, bits) (c1) * (1 << (bits)) + ((c2) & ((1 << (bits)) - 1)),
#define RCP(c0, c1, c2)    PACK(c1, c2, MUFU_C2_BITS)
#define RSQ(c0, c1, c2)    PACK(c1, c2, MUFU_C2_BITS)
#define SQRT(c0, c1, c2)   PACK(c1, c2, MUFU_C2_BITS)
#define EX2(c0, c1, c2)    PACK(c1, c2, MUFU_C2_BITS)
#define LG2(c0, c1, c2)    PACK(c1, c2, MUFU_C2_BITS)
#define SIN(c0, c1, c2)    PACK(c1, c2, MUFU_C2_BITS)
#define TANH(c0, c1, c2)   PACK(c1, c2, MUFU_C2_BITS_TANH)
const int32_t pl_mufu_c12[] = {
#include "mufu_tables.def"
};
