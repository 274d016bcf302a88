/* test_num.c - the number helpers compared with the host's floating point in every rounding mode,
 * with exact integer arithmetic, and with results observed on an H200 (driver 580.159.04, 2026-11).
 *
 * References share no code with the tested functions: fesetround with volatile operands, libm's
 * fma, __int128. */
#include "tests/unit/unit.h"
#include <fenv.h>
#include <math.h>
#include <stdint.h>

void num_lanes_fma(uint64_t *sum);
void num_lanes_here(uint64_t *sum);
#define LANES_NAME num_lanes_here
#include "tests/unit/num_lanes.h"

static const int host_mode[4] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

static uint32_t operand32(uint64_t *state)
{
    return (uint32_t)(lane_operand(state) >> (lane_operand(state) & 32));
}

static uint32_t canon32(float x)
{
    return x != x ? PL_F32_NAN : f32_bits(x);
}

START_TEST(f32_in_every_mode)
{
    uint64_t state = 7;
    for (int i = 0; i < 200000; i++) {
        uint32_t a = operand32(&state), b = operand32(&state), c = operand32(&state);
        volatile float x = f32_value(a), y = f32_value(b), z = f32_value(c), r[5];
        int rnd = i & 3;
        fesetround(host_mode[rnd]);
        r[0] = x + y;
        r[1] = x * y;
        r[2] = x / y;
        r[3] = sqrtf(x);
        r[4] = fmaf(x, y, z);
        fesetround(FE_TONEAREST);
        ck_assert_uint_eq(f32_add(a, b, rnd, false, false), canon32(r[0]));
        ck_assert_uint_eq(f32_mul(a, b, rnd, false, false), canon32(r[1]));
        ck_assert_uint_eq(f32_div(a, b, rnd, false), canon32(r[2]));
        ck_assert_uint_eq(f32_sqrt(a, rnd, false), canon32(r[3]));
        ck_assert_uint_eq(f32_fma(a, b, c, rnd, false, false), canon32(r[4]));
    }
}
END_TEST

START_TEST(f64_in_every_mode)
{
    uint64_t state = 11;
    for (int i = 0; i < 200000; i++) {
        uint64_t a = lane_operand(&state), b = lane_operand(&state), c = lane_operand(&state);
        if (i & 4) c = f64_bits(-f64_value(a) * f64_value(b)); /* massive cancellation */
        if (f64_is_nan(a) || f64_is_nan(b) || f64_is_nan(c)) continue;
        volatile double x = f64_value(a), y = f64_value(b), z = f64_value(c), r[5];
        int rnd = i & 3;
        fesetround(host_mode[rnd]);
        r[0] = x + y;
        r[1] = x * y;
        r[2] = x / y;
        r[3] = sqrt(x);
        r[4] = fma(x, y, z);
        fesetround(FE_TONEAREST);
        uint64_t got[5] = {f64_add(a, b, rnd), f64_mul(a, b, rnd), f64_div(a, b, rnd),
                           f64_sqrt(a, rnd), f64_fma(a, b, c, rnd)};
        for (int k = 0; k < 5; k++)
            ck_assert_uint_eq(got[k], r[k] != r[k] ? PL_F64_INVALID : f64_bits(r[k]));
        ck_assert(f64_is_nan(got[4]) || pl_soft_fma(a, b, c, rnd) == got[4]);
    }
}
END_TEST

START_TEST(conversions_in_every_mode)
{
    uint64_t state = 13;
    for (int i = 0; i < 200000; i++) {
        uint64_t a = lane_operand(&state);
        int rnd = i & 3;
        volatile double x = f64_value(a);
        volatile int64_t s = (int64_t)(a >> (a & 31));
        volatile uint64_t u = a >> (a & 31);
        fesetround(host_mode[rnd]);
        volatile float narrow = (float)x, from_s = (float)s, from_u = (float)u;
        volatile double wide_s = (double)s, wide_u = (double)u, integral = nearbyint(x);
        volatile float integral32 = nearbyintf(f32_value((uint32_t)a));
        fesetround(FE_TONEAREST);
        if (!f64_is_nan(a)) {
            ck_assert_uint_eq(f32_from_f64(a, rnd, false, false), f32_bits(narrow));
            ck_assert_uint_eq(f64_to_integral(a, rnd, false), f64_bits(integral));
            if (fabs(integral) < 0x1p63) ck_assert_int_eq(s64_from_f64(a, rnd), (int64_t)integral);
            if (fabs(integral) < 0x1p31) ck_assert_int_eq(s32_from_f64(a, rnd), (int32_t)integral);
        }
        if (!f32_is_nan((uint32_t)a))
            ck_assert_uint_eq(f32_to_integral((uint32_t)a, rnd, false, false),
                              f32_bits(integral32));
        if (u == 0) continue; /* clang 14 turns it into -0 when rounding down */
        ck_assert_uint_eq(f32_from_s64(s, rnd), f32_bits(from_s));
        ck_assert_uint_eq(f32_from_u64(u, rnd), f32_bits(from_u));
        ck_assert_uint_eq(f64_from_s64(s, rnd), f64_bits(wide_s));
        ck_assert_uint_eq(f64_from_u64(u, rnd), f64_bits(wide_u));
    }
}
END_TEST

/* Every f16 survives a round trip; numbers just below, at and above the midpoint of two neighbours
 * round correctly. */
START_TEST(f16_rounds_between_all_neighbours)
{
    for (uint32_t h = 0; h < 0x7c00; h++) {
        uint32_t a = f32_from_f16((uint16_t)h),
                 b = h == 0x7bff ? f32_bits(0x1p16f) : f32_from_f16((uint16_t)(h + 1));
        uint32_t middle = f32_bits(0.5f * (f32_value(a) + f32_value(b)));
        ck_assert_uint_eq(f16_from_f32(a, PL_RN), h);
        ck_assert_uint_eq(f16_from_f32(middle - 1, PL_RN), h);
        ck_assert_uint_eq(f16_from_f32(middle, PL_RN), h + (h & 1));
        ck_assert_uint_eq(f16_from_f32(middle + 1, PL_RN), h + 1);
        ck_assert_uint_eq(f16_from_f32(middle, PL_RZ), h);
        ck_assert_uint_eq(f16_from_f32(middle | PL_F32_SIGN, PL_RM), (h + 1) | 0x8000);
        ck_assert_uint_eq(f16_from_f32(middle, PL_RP), h + 1);
    }
    ck_assert_uint_eq(f16_from_f32(f32_bits(1e9f), PL_RZ), 0x7bff);
}
END_TEST

/* A product of two f16 and its sum with a third are exact in a double whenever it matters; bf16
 * needs the exact sum. */
START_TEST(half_fma_rounds_once)
{
    uint64_t state = 17;
    for (int i = 0; i < 300000; i++) {
        uint64_t r = lane_operand(&state);
        uint16_t a = (uint16_t)r, b = (uint16_t)(r >> 16), c = (uint16_t)(r >> 32);
        double p = (double)f16_value(a) * f16_value(b) + f16_value(c);
        uint16_t want = p != p ? PL_F16_NAN : f16_from_f64(f64_bits(p), PL_RN, false);
        ck_assert_uint_eq(f16_fma(a, b, c, false, false, false), want);
        uint64_t q = f64_bits(bf16_value(a) * bf16_value(b)), s = f64_bits(bf16_value(c));
        if (f64_is_nan(q) || f64_is_nan(s)) continue;
        double odd = f64_value(pl_soft_add(q, s, PL_RO));
        ck_assert_uint_eq(bf16_fma(a, b, c, false),
                          odd != odd ? PL_F16_NAN : bf16_from_f64(f64_bits(odd), PL_RN));
    }
}
END_TEST

/* The assignment of random bits to values is from third-party measurements on B200s: for rbits
 * 0x12345678 the four values of an fp8 conversion get 0x2c48 0x1234 0x1e6a 0x5678, those of e2m1x4
 * 0x6a48 0x1256 0x1e2c 0x3478. A value that lies (65536 - r) / 65536 of the way to the next number
 * is rounded up with r, and a value one 65536th less is not. */
START_TEST(stochastic_rounding)
{
    static const uint32_t fp8[4] = {0x2c48, 0x1234, 0x1e6a, 0x5678},
                          fp4[4] = {0x6a48, 0x1256, 0x1e2c, 0x3478};
    const uint32_t rbits = 0x12345678;
    uint32_t up[4], stay[4];
    for (int i = 0; i < 4; i++) {
        up[i] = f32_bits(1 + (float)(65536 - fp8[i]) / 65536 / 8);
        stay[i] = f32_bits(1 + (float)(65535 - fp8[i]) / 65536 / 8);
    }
    ck_assert_uint_eq(small_x4_stochastic(e4m3_from_f32, up, rbits, 8, 3, -6, false), 0x39393939);
    ck_assert_uint_eq(small_x4_stochastic(e4m3_from_f32, stay, rbits, 8, 3, -6, false), 0x38383838);
    for (int i = 0; i < 4; i++) {
        up[i] = f32_bits(-(1 + (float)(65536 - fp4[i]) / 65536 / 2));
        stay[i] = f32_bits(-(1 + (float)(65535 - fp4[i]) / 65536 / 2));
    }
    ck_assert_uint_eq(small_x4_stochastic(e2m1_from_f32, up, rbits, 4, 1, 0, false), 0xbbbb);
    ck_assert_uint_eq(small_x4_stochastic(e2m1_from_f32, stay, rbits, 4, 1, 0, false), 0xaaaa);
    ck_assert_uint_eq(small_x4_stochastic(e2m1_from_f32, up, rbits, 4, 1, 0, true), 0);
    for (int i = 0; i < 4;
         i++) { /* below the smallest subnormal of e4m3, 2^-9; above the largest number, 448 */
        up[i] = f32_bits((float)(65536 - fp8[i]) / 65536 * 0x1p-9f);
        stay[i] = f32_bits((float)(65535 - fp8[i]) / 65536 * 0x1p-9f);
    }
    ck_assert_uint_eq(small_x4_stochastic(e4m3_from_f32, up, rbits, 8, 3, -6, false), 0x01010101);
    ck_assert_uint_eq(small_x4_stochastic(e4m3_from_f32, stay, rbits, 8, 3, -6, false), 0);
    ck_assert_uint_eq(f32_stochastic(1, 0xffff, 16, 3, -6), 0);
    ck_assert_uint_eq(
        f16x2_stochastic(f32_bits(1 + 0x1p-11f), f32_bits(1 + 0x1p-11f), 0x10000fff, false, false),
        0x3c013c00);
    ck_assert_uint_eq(
        bf16x2_stochastic(f32_bits(1 + 0x1p-8f), f32_bits(1 + 0x1p-8f), 0x7fff8000, false, false),
        0x3f803f81);
    ck_assert_uint_eq(f16x2_stochastic(f32_bits(65535.0f), PL_F32_NAN, 0x1fff0000, false, false),
                      0x7c007fff);
    ck_assert_uint_eq(f16x2_stochastic(f32_bits(65535.0f), f32_bits(-1.0f), 0x1fff0000, true, true),
                      0x7bff0000);
}
END_TEST

START_TEST(small_floats_round_trip_and_saturate)
{
    static const struct {
        int ebits, mbits;
        uint32_t max;
    } format[5] = {{5, 2, 0x7b}, {4, 3, 0x7e}, {3, 2, 0x1f}, {2, 3, 0x1f}, {2, 1, 7}};
    for (int f = 0; f < 5; f++) {
        for (uint32_t h = 0; h <= format[f].max; h++) {
            uint32_t x = f32_from_small(h, format[f].ebits, format[f].mbits);
            ck_assert_uint_eq(
                small_from_f32(x, format[f].ebits, format[f].mbits, format[f].max, 0xff, false), h);
        }
        ck_assert_uint_eq(small_from_f32(PL_F32_INF, format[f].ebits, format[f].mbits,
                                         format[f].max, 0xff, false),
                          format[f].max);
    }
    ck_assert_uint_eq(e4m3_from_f32(f32_bits(448.0f), false), 0x7e);
    ck_assert_uint_eq(e4m3_from_f32(f32_bits(-1e9f), false), 0xfe);
    ck_assert_uint_eq(e4m3_from_f32(f32_bits(-1e9f), true), 0);
    ck_assert_uint_eq(e4m3_from_f32(PL_F32_NAN, true), 0x7f);
    ck_assert_uint_eq(f16_from_e4m3(0x7f), PL_F16_NAN);
    ck_assert_uint_eq(f16_from_e5m2(0xfc), 0xfc00);
    /* Between 2 and 3, rounds to the even code. */
    ck_assert_uint_eq(e2m1_from_f32(f32_bits(2.5f), false), 4);
}
END_TEST

START_TEST(nan_patterns_of_the_hardware)
{
    ck_assert_uint_eq(f32_add(PL_F32_INF, PL_F32_INF | PL_F32_SIGN, PL_RN, false, false),
                      0x7fffffff);
    ck_assert_uint_eq(f32_neg(0x7f800001, false), 0x7fffffff);
    ck_assert_uint_eq(f64_add(0x7ff0000000000001u, 0xfff8000000000000u, PL_RN),
                      0xfff8000000000000u);
    ck_assert_uint_eq(f64_fma(0x7ff8123456789abcu, PL_F64_ONE, 0x7ff0000000000001u, PL_RN),
                      0x7ff8000000000001u);
    ck_assert_uint_eq(f64_div(0x7ff0000000000001u, 0x7ff8123456789abcu, PL_RN),
                      0x7ff8000000000001u);
    ck_assert_uint_eq(f64_sub(0, 0xfff8000000000001u, PL_RN), 0xfff8000000000001u);
    ck_assert_uint_eq(f64_mul(0, PL_F64_INF, PL_RZ), 0xfff8000000000000u);
    ck_assert_uint_eq(f32_min(0x7f800001, 0x80000000, false, false, false), 0x80000000);
    ck_assert_uint_eq(f32_max(0, 0x80000000, false, false, false), 0);
    ck_assert_uint_eq(f32_max(0x7f800001, 1, false, true, false), 0x7fffffff);
    ck_assert_uint_eq(f32_from_f64(0xfff8000000000000u, PL_RN, false, false), 0xffc00000);
    ck_assert_uint_eq(f16_from_f64(0x7ff8123456789abcu, PL_RZ, false), 0x7e04);
    ck_assert_int_eq(s32_from_f32(0x7fc00000, PL_RZ, false), 0);
    ck_assert_int_eq(s32_from_f64(0x7ff8000000000000u, PL_RZ), INT32_MIN);
    ck_assert_uint_eq((uint32_t)narrow_from_f64(0x7ff8000000000000u, PL_RZ, 8, false), 0x80);
    ck_assert_int_eq(s64_from_f32(0x7fc00000, PL_RZ, false), INT64_MIN);
    ck_assert_uint_eq(tf32_from_f32(0x7fc12345, PL_RN, false), 0x7fffe000);
    ck_assert_uint_eq(tf32_from_f32_rna(0x7fc12345, false), 0x7fc12000);
    ck_assert_uint_eq(tf32_from_f32_rna(0x7fc00000, true), 0x7fbfe000);
    ck_assert(f32_testp(0x80000000, PL_TESTP_NORMAL));
}
END_TEST

START_TEST(flushing_and_saturation)
{
    /* Would round up to 2^-126. */
    ck_assert_uint_eq(f32_mul(0x3f7fffff, 0x00800000, PL_RN, true, false), 0);
    ck_assert_uint_eq(f32_mul(0x3f7fffff, 0x00800000, PL_RN, false, false), 0x00800000);
    ck_assert_uint_eq(f32_mul(0x3f7fffff, 0x00800000, PL_RP, true, false), 0);
    ck_assert_uint_eq(f32_add(0x80000001, 0x80000001, PL_RN, true, false), 0x80000000);
    ck_assert_uint_eq(f32_add(PL_F32_ONE, PL_F32_ONE | PL_F32_SIGN, PL_RM, false, false),
                      0x80000000);
    ck_assert_uint_eq(f32_fma(PL_F32_NAN, 0, 0, PL_RN, false, true), 0);
    ck_assert_uint_eq(f32_add(0x80000000, 0x80000000, PL_RN, false, true), 0);
    ck_assert_uint_eq(f16_add(0xbc00, 0x3800, false, true), 0);
    ck_assert_uint_eq(f16_fma(0xbc00, 0x3c00, 0, false, false, true), 0);
    ck_assert_uint_eq(half_oob(PL_OOB_NAN, 0x3c00, 0x7fff), 0);
}
END_TEST

START_TEST(integers)
{
    uint64_t state = 19;
    for (int i = 0; i < 100000; i++) {
        uint64_t a = lane_operand(&state), b = lane_operand(&state);
        __extension__ typedef unsigned __int128 u128;
        __extension__ typedef __int128 s128;
        ck_assert_uint_eq(u64_mulhi(a, b), (uint64_t)((u128)a * b >> 64));
        ck_assert_int_eq(s64_mulhi((int64_t)a, (int64_t)b),
                         (int64_t)((s128)(int64_t)a * (int64_t)b >> 64));
        ck_assert_uint_eq(b64_popc(a), (uint32_t)__builtin_popcountll(a));
        ck_assert_uint_eq(b64_clz(a | 1), (uint32_t)__builtin_clzll(a | 1));
        bool carry;
        u128 sum = (u128)a + b + 1;
        ck_assert_uint_eq(u64_addc(a, b, true, &carry), (uint64_t)sum);
        ck_assert_int_eq(carry, (int)(sum >> 64));
    }
    bool flag;
    /* 5 - 7: no carry, hence a borrow. */
    ck_assert_uint_eq(u32_addc(5, ~7u, true, &flag), (uint32_t)-2);
    ck_assert(!flag);
    ck_assert_uint_eq(u32_div(5, 0), UINT32_MAX);
    ck_assert_uint_eq(u64_rem(5, 0), UINT64_MAX);
    ck_assert_int_eq(s32_rem(5, 0), -1);
    ck_assert_int_eq(s32_div(INT32_MIN, -1), INT32_MIN);
    ck_assert_int_eq(s64_rem(INT64_MIN, -1), 0);
    ck_assert_int_eq(s32_add_sat(INT32_MIN, -1), INT32_MIN);
    ck_assert_int_eq(s32_sub_sat(INT32_MAX, -1), INT32_MAX);
    ck_assert_int_eq(s32_mul24(0xffffff, 0x800000, true), 0x80);
    ck_assert_uint_eq(u16x2_add(0xffff0001, 0x0001ffff), 0);
    ck_assert_uint_eq(b32_dp4a(0x80ff7f01, 0x02020202, 10, true, false),
                      (uint32_t)(10 + 2 * (1 + 127 - 1 - 128)));
}
END_TEST

START_TEST(bit_fields)
{
    ck_assert_uint_eq(u32_bfe(0x12345678, 4, 40), 0x1234567);
    ck_assert_int_eq(s32_bfe((int32_t)0x80000000, 40, 4), -1);
    ck_assert_int_eq(s32_bfe(0x00000f00, 8, 4), -1);
    ck_assert_uint_eq(u32_bfe(0x12345678, 0x104, 8), 0x67);    /* low byte of the position */
    ck_assert_uint_eq((uint32_t)u64_bfe(0xff00, 0x104, 8), 0); /* the whole word */
    ck_assert_uint_eq(b32_bfi(0xff, 0, 28, 8), 0xf0000000);
    ck_assert_uint_eq(u32_bfind(0, false), UINT32_MAX);
    ck_assert_uint_eq(s32_bfind(-2, false), 0);
    ck_assert_uint_eq(s32_bfind(-2, true), 31);
    ck_assert_uint_eq(b32_fns(0x000100f0, 6, 2), 7);
    ck_assert_uint_eq(b32_fns(0x000100f0, 6, -3), 4);
    ck_assert_uint_eq(b32_fns(0x000100f0, 3, 0), UINT32_MAX);
    ck_assert_uint_eq(b32_shf_r(1, 0x80000000, 40, false), 0x80000000);
    ck_assert_uint_eq(b32_shf_l(0x80000000, 1, 33, true), 3);
    ck_assert_int_eq(s32_szext(0x1ff, 8, false), -1);
    ck_assert_uint_eq(b32_bmsk(4, 40, false), 0xfffffff0);
    ck_assert_uint_eq(b32_lop3(0xf0f0f0f0, 0xcccccccc, 0xaaaaaaaa, 0x96), 0x96969696);
    ck_assert_uint_eq(b32_prmt(0x33221100, 0x77665584, 0xc4f0, PL_PRMT_INDEX), 0xff840000);
    ck_assert_uint_eq(b32_prmt(0x33221100, 0x77665544, 2, PL_PRMT_B4E), 0x77001122);
}
END_TEST

START_TEST(vector_and_scalar_code_agree)
{
    uint64_t here[LANE_SUMS] = {0}, fma_sums[LANE_SUMS] = {0};
    num_lanes_here(here);
#if defined __GNUC__ && defined __x86_64__
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return;
#endif
    num_lanes_fma(fma_sums);
    for (int k = 0; k < LANE_SUMS; k++) {
        ck_assert_uint_ne(here[k], 0);
        ck_assert_msg(here[k] == fma_sums[k], "checksum %d differs", k);
    }
}
END_TEST

UNIT_MAIN("num", f32_in_every_mode, f64_in_every_mode, conversions_in_every_mode,
          f16_rounds_between_all_neighbours, half_fma_rounds_once,
          small_floats_round_trip_and_saturate, stochastic_rounding, nan_patterns_of_the_hardware,
          flushing_and_saturation, integers, bit_fields, vector_and_scalar_code_agree)
