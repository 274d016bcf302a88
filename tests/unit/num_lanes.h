/* num_lanes.h - applies every kind of number helper to many operands and folds each into one
 * checksum.
 *
 * test_num.c includes it for the generic processor, num_lanes_fma.c for AVX2 with FMA: the
 * checksums must be equal for any code that the compiler generates for the loops. LANES_NAME is
 * the name of the function defined in the including file. */
#include "emu/exec/num/bits.h"
#include "emu/exec/num/convert_fp8.h"
#include "emu/exec/num/integer.h"
#include "emu/exec/num/video.h"

enum { LANE_SUMS = 40 };

/* Numbers of all magnitudes, including zeros, subnormals, infinities and NaN. */
static inline uint64_t lane_operand(uint64_t *state)
{
    static const uint32_t special[16] = {0,           0x80000000u, 1,           0x807fffffu,
                                         0x00800000u, 0x3f800000u, 0xbf800000u, 0x7f7fffffu,
                                         0x7f800000u, 0xff800000u, 0x7fc00001u, 0x3f7fffffu,
                                         0x33800000u, 0x7c007bffu, 0x00010400u, 0x4f000000u};
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    uint64_t x = *state ^ *state >> 29;
    if ((x >> 60) < 3) return (uint64_t)special[x >> 20 & 15] << 32 | special[x >> 10 & 15];
    if ((x >> 60) < 8)
        return (x & 0x800fffff807fffffu) | (0x3e8u + (x >> 52 & 31)) << 20 << 32 |
               (120 + (x >> 24 & 15)) << 23;
    return x;
}

#define LANE_SUM(k, expr)                                                                          \
    do {                                                                                           \
        uint64_t v[32];                                                                            \
        for (int l = 0; l < 32; l++) {                                                             \
            uint64_t A = x[l], B = y[l], C = z[l];                                                 \
            uint32_t a = (uint32_t)A, b = (uint32_t)B, c = (uint32_t)C;                            \
            (void)a, (void)b, (void)c, (void)A, (void)B, (void)C;                                  \
            v[l] = (uint64_t)(expr);                                                               \
        }                                                                                          \
        for (int l = 0; l < 32; l++) sum[k] = (sum[k] ^ v[l]) * 0x100000001b3u;                    \
    } while (0)

void LANES_NAME(uint64_t *sum)
{
    uint64_t x[32], y[32], z[32], state = 1;
    for (int round = 0; round < 2000; round++) {
        for (int l = 0; l < 32; l++) {
            x[l] = lane_operand(&state);
            y[l] = lane_operand(&state);
            z[l] = lane_operand(&state);
        }
        LANE_SUM(0, f32_add(a, b, PL_RN, true, false));
        LANE_SUM(1, f32_add(a, b, PL_RM, false, false));
        LANE_SUM(2, f32_mul(a, b, PL_RN, true, true));
        LANE_SUM(3, f32_mul(a, b, PL_RP, true, false));
        LANE_SUM(4, f32_fma(a, b, c, PL_RN, false, false));
        LANE_SUM(5, f32_fma(a, b, c, PL_RN, true, false));
        LANE_SUM(6, f32_fma(a, b, c, PL_RZ, false, false));
        LANE_SUM(7, f32_fma(a, b, c, PL_RM, true, true));
        LANE_SUM(8, f32_div(a, b, PL_RN, false));
        LANE_SUM(9, f32_sqrt(a, PL_RP, false));
        LANE_SUM(10, f64_add(A, B, PL_RN));
        LANE_SUM(11, f64_mul(A, B, PL_RZ));
        LANE_SUM(12, f64_fma(A, B, C, PL_RN));
        LANE_SUM(13, f64_fma(A, B, C, PL_RP));
        LANE_SUM(14, f64_div(A, B, PL_RM));
        LANE_SUM(15, f64_sqrt(A, PL_RN));
        LANE_SUM(16, f16x2_add(a, b, false, false));
        LANE_SUM(17, f16x2_fma(a, b, c, false, false, true));
        LANE_SUM(18, f16x2_fma(a, b, c, true, true, false));
        LANE_SUM(19, bf16x2_fma(a, b, c, false));
        LANE_SUM(20, bf16x2_mul(a, b));
        LANE_SUM(21, f16x2_max(a, b, false, true, true));
        LANE_SUM(22, f32_min(a, b, false, false, false));
        LANE_SUM(23, f32_to_integral(a, PL_RM, false, false));
        LANE_SUM(24, s32_from_f32(a, PL_RZ, false));
        LANE_SUM(25, u32_from_f32(a, PL_RN, true));
        LANE_SUM(26, s64_from_f64(A, PL_RN));
        LANE_SUM(27, u64_from_f64(A, PL_RP));
        LANE_SUM(28, f32_from_u64(A, PL_RM));
        LANE_SUM(29, f32_from_s32((int32_t)a, PL_RN));
        LANE_SUM(30, f32_from_f64(A, PL_RN, true, false));
        LANE_SUM(31, f16_from_f64(A, PL_RP, false));
        LANE_SUM(32, pair_from_f32(e4m3_from_f32, a, b, false));
        LANE_SUM(33, pair_from_f32(e5m2_from_f32, a, b, true));
        LANE_SUM(34, b64_popc(A) << 16 | b64_clz(B));
        LANE_SUM(35, s64_mulhi((int64_t)A, (int64_t)B));
        LANE_SUM(36, b32_prmt(a, b, c, PL_PRMT_INDEX));
        LANE_SUM(37, s32_bfe((int32_t)a, b, c));
        LANE_SUM(38, video_simd(PL_VAVRG, 8, a, b, c, 0x3210, 0x7654, 15, true, false, true, true,
                                false));
        LANE_SUM(39, f32_cmp(a, b, PL_CMP_LTU, true) | f64_cmp(A, B, PL_CMP_GE) << 1);
    }
}
