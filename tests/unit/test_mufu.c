/* test_mufu.c - the approximate functions: recorded special values, and a sample of the recorded
 * hashes (tests/accuracy/mufu_all.c compares all of them).
 *
 * Values are register bits as recorded on the hardware (H200, driver 580.159.04, 2026-11). */
#include "tests/accuracy/mufu_recorded.h"
#include "tests/unit/unit.h"

#define INF  0x7f800000u
#define NAN_ 0x7fffffffu

/* Computes d with the function named in row i, of x. */
#define PICK(function, result)                                                                     \
    if (strcmp(row[i].name, #function) == 0) d = result;

/* Results of the unit for zeros, subnormals, ends of the range and NaN. */
START_TEST(specials)
{
    static const struct {
        const char *name;
        uint32_t in, out;
    } row[] = {
        {"rcp_approx_ftz_f32", 0x80000000, 0xff800000}, /* 1/-0 */
        {"rcp_approx_ftz_f32", 0x007fffff, INF},        /* a subnormal is treated as zero */
        {"rcp_approx_ftz_f32", 0x7e800000, 0x00800000}, /* 2^126 is the last before 0 */
        {"rcp_approx_ftz_f32", 0x7f000000, 0x00000000},
        {"rcp_approx_ftz_f32", 0xff800000, 0x80000000},
        {"rcp_approx_ftz_f32", 0x7f800001, NAN_},
        {"rcp_approx_f32", 0x007fffff, 0x7e800001},
        {"rcp_approx_f32", 0x7f7fffff, 0x00200000},
        {"rcp_approx_f32", 0x7f000000, 0x00400000},
        {"rsqrt_approx_ftz_f32", 0x80000001, 0xff800000},
        {"rsqrt_approx_ftz_f32", 0xbf800000, NAN_},
        {"rsqrt_approx_ftz_f32", 0x7f800000, 0x00000000},
        {"rsqrt_approx_ftz_f32", 0x3f800000, 0x3f800000}, /* exact, unlike its neighbours */
        {"rsqrt_approx_f32", 0x00000001, 0x64b504f2},
        {"sqrt_approx_ftz_f32", 0x80000000, 0x80000000},
        {"sqrt_approx_ftz_f32", 0x80800000, NAN_},
        {"sqrt_approx_f32", 0x00000001, 0x1a3504f3},
        {"ex2_approx_ftz_f32", 0xbf800000, 0x3f000000},
        {"ex2_approx_ftz_f32", 0x43000000, INF},
        {"ex2_approx_ftz_f32", 0xc2fc0000, 0x00800000}, /* 2^-126 */
        {"ex2_approx_ftz_f32", 0xc3150000, 0x00000000}, /* 2^-149 flushed, and preserved: */
        {"ex2_approx_f32", 0xc3150000, 0x00000001},
        {"ex2_approx_f32", 0xff800000, 0x00000000},
        {"lg2_approx_ftz_f32", 0x3f800000, 0x00000000},
        {"lg2_approx_ftz_f32", 0x00800000, 0xc2fbffff}, /* one unit more than -126 */
        {"lg2_approx_ftz_f32", 0x807fffff, 0xff800000},
        {"lg2_approx_ftz_f32", 0x80800000, NAN_},
        {"lg2_approx_f32", 0x00000001, 0xc3150000},
        {"sin_approx_ftz_f32", 0x80000001, 0x80000000},
        {"sin_approx_ftz_f32", 0x40490fdb, 0x00000000}, /* pi is exactly half a turn */
        {"sin_approx_f32", 0x7f800000, NAN_},
        {"cos_approx_f32", 0x40490fdb, 0xbf800000},
        {"cos_approx_f32", 0x7f7fffff, 0x3f800000},  /* whole turns */
        {"tanh_approx_f32", 0x807fffff, 0x807fffff}, /* subnormals are not flushed */
        {"tanh_approx_f32", 0xff800000, 0xbf800000},
        {"tanh_approx_f32", 0xbf800000, 0xbf42f848},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        uint32_t d = 0, x = row[i].in;
        MUFU_FUNCTIONS(PICK)
        ck_assert_msg(d == row[i].out, "%s(%08x) is %08x, not %08x", row[i].name, x, d, row[i].out);
    }
}
END_TEST

/* Compares every `step`-th block of the records whose blocks have 2^log2_block inputs. */
static int compare(uint32_t log2_block, uint32_t step)
{
    mufu_record r;
    uint64_t *hash;
    int compared = 0;
    FILE *in = mufu_open();
    ck_assert_msg(in != NULL, "cannot open tests/data/mufu/hashes.bin");
    for (; (hash = mufu_next(in, &r)) != NULL; free(hash)) {
        if (r.log2_block != log2_block) continue;
        mufu_block_fn *block = mufu_find(r.name);
        ck_assert_msg(block != NULL, "unknown function %s", r.name);
        for (uint32_t k = step / 2; k < r.count; k += step) {
            uint32_t first = r.first + (k << log2_block);
            ck_assert_msg(block(first, 1u << log2_block) == hash[k], "%s differs from %08x on",
                          r.name, first);
            compared++;
        }
    }
    fclose(in);
    return compared;
}

START_TEST(all_16_bit_inputs)
{
    ck_assert_int_eq(compare(10, 1), 4 * 64);
}
END_TEST

START_TEST(high_words_of_f64)
{
    ck_assert_int_eq(compare(12, 1), 3 * 256 + 5);
}
END_TEST

/* Every eighth block of the binades that hold all rows. */
START_TEST(every_row)
{
    ck_assert_int_eq(compare(15, 8), 26 * 32);
}
END_TEST

/* Ninety million inputs over the whole range. */
START_TEST(whole_range)
{
    ck_assert_int_eq(compare(20, 683), 15 * 6);
}
END_TEST

/* Packed halves are independent of each other. */
START_TEST(packed_forms)
{
    ck_assert_uint_eq(f16x2_ex2_approx(0xbc003c00), 0x38004000);
    ck_assert_uint_eq(bf16x2_ex2_approx_ftz(0xbf803f80), 0x3f004000);
    ck_assert_uint_eq(f16x2_tanh_approx(0x7c000000), 0x3c000000);
    ck_assert_uint_eq(bf16x2_tanh_approx(0xff800000), 0xbf800000);
}
END_TEST

/* Division multiplies by a reciprocal, which limits the divisor unless both are scaled. */
START_TEST(division)
{
    ck_assert_uint_eq(f32_div_approx(0x40400000, 0x3f800000, false), 0x40400000);
    ck_assert_uint_eq(f32_div_approx(0x7f000000, 0x7f000000, false), 0); /* divisor above 2^126 */
    ck_assert_uint_eq(f32_div_full(0x7f000000, 0x7f000000, false), 0x3f800000);
    ck_assert_uint_eq(f32_div_full(0x7f000000, 0x7f000000, true), 0x3f800000);
    ck_assert_uint_eq(f32_div_approx(0x00000003, 0x00000001, false), 0x40400000);
    ck_assert_uint_eq(f32_div_approx(0x00000003, 0x00000001, true), NAN_); /* 0 * Inf */
    ck_assert_uint_eq(f32_div_full(0x3f800000, 0x00000000, false), INF);
}
END_TEST

UNIT_MAIN("mufu", specials, all_16_bit_inputs, high_words_of_f64, every_row, whole_range,
          packed_forms, division)
