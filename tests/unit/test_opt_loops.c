/* test_opt_loops.c - limits of the passes on loops: the length up to which a loop is unrolled, and
 * the values and loads that move out of it. */
#include "tests/unit/assembled.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

/* A loop with trip count `rounds` (a register or a number), whose comparison is `test`, around `n`
 * multiplications and `more`; returns the unroll factor. */
static unsigned copies_of(const char *test, const char *rounds, unsigned n, const char *more)
{
    char body[16384] = "mov.u32 %r3, 0;\nmov.u32 %r4, 0;\nmov.u32 %r6, %r2;\nadd.u32 %r9, %r1, "
                       "7;\nmov.u32 %r12, 5;\nmov.u32 %r13, %r2;\nL:\n";
    for (unsigned k = 0; k < n; k++) strcat(body, "mad.lo.u32 %r4, %r4, %r1, %r2;\n");
    sprintf(body + strlen(body),
            "%s\nadd.u32 %%r3, %%r3, 1;\nsetp.%s %%p1, %%r3, %s;\n@%%p1 bra L;\nst.global.v2.u32 "
            "[%%d1], {%%r4, %%r6};",
            more, test, rounds);
    assemble(body);
    return count("mad.lo.u32") / n;
}

/* Maximum body length, as in ptxas 13.0 for sm_90 (2026-11). */
START_TEST(loop_unroll_body_length)
{
    const char *load = "ld.global.u32 %r5, [%d2];\nxor.b32 %r6, %r6, %r5;",
               *shared = "ld.shared.u32 %r5, [%r2];\nxor.b32 %r6, %r6, %r5;";
    const char *bar = "bar.sync 0;", *store = "st.global.u32 [%d1+4], %r6;",
               *far = "ld.shared.u32 %r5, [%r2+4];\nxor.b32 %r6, %r6, %r5;";
    ck_assert_uint_gt(copies_of("lt.s32", "%r1", 18, ""), 1);
    ck_assert_uint_eq(copies_of("lt.s32", "%r1", 19, ""), 1);
    ck_assert_uint_gt(copies_of("lt.s32", "%r1", 43, load), 1);
    ck_assert_uint_eq(copies_of("lt.s32", "%r1", 44, load), 1);
    ck_assert_uint_gt(copies_of("lt.s32", "%r1", 21, shared), 1);
    ck_assert_uint_eq(copies_of("lt.s32", "%r1", 22, shared), 1);
    ck_assert_uint_gt(copies_of("lt.s32", "%r1", 20, far), 1); /* the offset counts */
    ck_assert_uint_eq(copies_of("lt.s32", "%r1", 21, far), 1);
    ck_assert_uint_gt(copies_of("lt.s32", "%r1", 16, store), 1);
    ck_assert_uint_eq(copies_of("lt.s32", "%r1", 17, store), 1);
    ck_assert_uint_gt(copies_of("lt.s32", "%r1", 2, bar), 1); /* a parameter: uniform */
    ck_assert_uint_eq(copies_of("lt.s32", "%r9", 2, bar), 1);
    ck_assert_uint_gt(copies_of("lt.s32", "%r9", 2, load), 1);
    /* counted down from a uniform value, or from a divergent one */
    static const char *const from[] = {"and.b32 %r3, %r1, -4;", "mov.u32 %r3, %ctaid.x;",
                                       "add.u32 %r3, %r1, %r2;"};
    for (size_t k = 0; k < 3; k++) {
        char body[512];
        snprintf(body, sizeof body,
                 "%s\nmov.u32 %%r4, 0;\nL:\nbar.sync 0;\nmad.lo.u32 %%r4, %%r4, %%r1, "
                 "%%r2;\nadd.s32 %%r3, %%r3, -1;\nsetp.ne.s32 %%p1, %%r3, 0;\n@%%p1 bra L;\n"
                 "st.global.u32 [%%d1], %%r4;",
                 from[k]);
        assemble(body);
        ck_assert_uint_eq(count("mad.lo.u32"), k == 2 ? 1 : 4 + 2 + 1);
    }
}
END_TEST

/* Contribution to the body length of PTX instructions that become several machine instructions, or
 * none, as in ptxas 13.0 for sm_90 (2026-11). */
START_TEST(loop_unroll_body_cost)
{
    static const struct {
        const char *text;
        unsigned price;
    } cases[] = {
        {"xor.b32 %r6, %r6, %r1;", 1},
        {"clz.b32 %r6, %r6;", 2},
        {"mov.b64 %d9, {%r6, %r2};\npopc.b64 %r6, %d9;", 1 + 5},
        {"cvt.u64.u32 %d9, %r6;\nshl.b64 %d9, %d9, %r2;\ncvt.u32.u64 %r6, %d9;", 1 + 2 + 1},
        {"cvt.u64.u32 %d9, %r6;\nmad.lo.u64 %d9, %d9, %d1, %d2;\ncvt.u32.u64 %r6, %d9;", 1 + 1 + 1},
        {"mov.b64 %d9, {%r6, %r2};\nbrev.b64 %d9, %d9;\nmov.b64 {%r7, %r8}, %d9;\nxor.b32 %r6, "
         "%r7, %r8;",
         1 + 5 + 2 + 1},
        {"mov.b32 %f1, %r6;\nneg.f32 %f1, %f1;\nmul.f32 %f1, %f1, %f1;\nmov.b32 %r6, %f1;", 1},
        {"mov.b32 %f1, %r6;\ndiv.approx.f32 %f1, %f1, %f1;\nmov.b32 %r6, %f1;", 7},
        {".reg .b16 %h<8>;\ncvt.u16.u32 %h1, %r6;\nmul.lo.u16 %h1, %h1, 77;\ncvt.u32.u16 %r6, %h1;",
         2 + 1},
        {"sub.s32 %r7, %r6, %r2;\nabs.s32 %r7, %r7;\nadd.s32 %r6, %r7, %r6;", 2},
        {"sub.s32 %r7, %r6, %r2;\nabs.s32 %r7, %r7;\nadd.s32 %r6, %r6, %r7;", 2},
        {"sub.s32 %r7, %r6, %r2;\nabs.s32 %r7, %r7;\nxor.b32 %r6, %r7, %r6;", 3},
        {".reg .b16 %h<8>;\ncvt.u16.u32 %h1, %r6;\nsetp.gt.u16 %p2, %h1, 9;\nselp.b32 %r6, %r6, "
         "%r2, %p2;",
         2 + 1},
        {"neg.f16x2 %r6, %r6;\nadd.f16x2 %r6, %r6, %r2;", 1 + 2},
        {"ld.global.s16 %r7, [%d1];\nxor.b32 %r6, %r6, %r7;", 1 + 1 + 1 + 1},
        {"ld.global.v2.u8 {%r7, %r8}, [%d1];\nxor.b32 %r6, %r6, %r7;\nxor.b32 %r6, %r6, %r8;",
         1 + 1 + 4 + 2}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char more[512];
        snprintf(more, sizeof more, "ld.global.u32 %%r5, [%%d2];\nxor.b32 %%r6, %%r6, %%r5;\n%s",
                 cases[k].text);
        ck_assert_msg(copies_of("lt.s32", "%r1", 43 - cases[k].price, more) > 1, "%s costs less",
                      cases[k].text);
        ck_assert_msg(copies_of("lt.s32", "%r1", 44 - cases[k].price, more) == 1, "%s costs more",
                      cases[k].text);
    }
}
END_TEST

/* Full unrolling with a known trip count, or up to the number of copies that fills the loop
 * together with the preceding code. */
START_TEST(loop_unroll_known_trip_count)
{
    static const struct {
        unsigned rounds, n, copies;
    } cases[] = {{64, 16, 64},       {64, 18, 16},     {100, 12, 100},    {100, 14, 25},
                 {100, 18, 14 + 2},  {128, 22, 9 + 2}, {256, 14, 21 + 4}, {512, 40, 8},
                 {1009, 24, 12 + 1}, {8, 57, 8},       {8, 64, 4},        {1000, 70, 5},
                 {1000, 72, 4},      {1000, 75, 1}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char n[16];
        sprintf(n, "%u", cases[k].rounds);
        ck_assert_uint_eq(copies_of("lt.s32", n, cases[k].n, ""), cases[k].copies);
        ck_assert_uint_eq(count("bra"), cases[k].copies < cases[k].rounds);
    }
}
END_TEST

/* Values that are constants in each iteration cost nothing in unrolled iterations, and allow longer
 * ones, as in ptxas 13.0 for sm_90 (2026-11). */
START_TEST(loop_unroll_folded_counter)
{
    const char *known = "mul.lo.u32 %r5, %r3, 77;\nxor.b32 %r7, %r5, 13;\nshr.u32 %r8, %r7, "
                        "3;\nadd.u32 %r10, %r8, %r3;\nxor.b32 %r6, %r6, %r10;";
    const char *branch =
        "setp.ge.u32 %p2, %r3, 9;\n@%p2 bra SKIP;\nxor.b32 %r6, %r6, %r1;\nSKIP:\n";
    ck_assert_uint_eq(copies_of("lt.s32", "16", 36, ""), 16);
    ck_assert_uint_lt(copies_of("lt.s32", "16", 40, ""), 16);
    ck_assert_uint_eq(copies_of("lt.s32", "16", 52, known), 16);
    ck_assert_uint_eq(count("shr.u32"), 0);
    ck_assert_uint_lt(copies_of("lt.s32", "16", 60, known), 16);
    ck_assert_uint_eq(copies_of("lt.s32", "16", 40, branch), 16); /* no longer a branch */
    ck_assert_uint_eq(count("bra") + count("setp"), 0);
    /* also the results computed from a variable with a constant start value, but not from one with
     * another start value */
    const char *table = "add.u32 %r12, %r12, 1;\nsetp.eq.u32 %p2, %r12, 17;\nselp.b32 %r12, 0, "
                        "%r12, %p2;\nshl.b32 %r14, %r12, 5;\nxor.b32 %r6, %r6, %r14;";
    const char *random = "shl.b32 %r14, %r12, 5;\nxor.b32 %r12, %r12, %r14;\nshr.u32 %r14, %r12, "
                         "9;\nadd.u32 %r12, %r14, %r12;\nxor.b32 %r6, %r6, %r12;";
    const char *other = "shl.b32 %r14, %r13, 5;\nxor.b32 %r13, %r13, %r14;\nshr.u32 %r14, %r13, "
                        "9;\nadd.u32 %r13, %r14, %r13;\nxor.b32 %r6, %r6, %r13;";
    ck_assert_uint_eq(copies_of("lt.s32", "16", 52, table), 16);
    ck_assert_uint_eq(count("selp") + count("setp") + count("shl"), 0);
    ck_assert_uint_eq(copies_of("lt.s32", "16", 52, random), 16);
    ck_assert_uint_eq(count("shl") + count("shr"), 0);
    ck_assert_uint_lt(copies_of("lt.s32", "16", 52, other), 16);
    /* bytes divided by seven, in 16 bits: constants */
    const char *sevenths =
        ".reg .b16 %h<8>;\ncvt.u16.u32 %h1, %r3;\nand.b16 %h2, %h1, 255;\nmul.wide.u16 %r14, %h2, "
        "9363;\nshr.u32 %r15, %r14, 16;\ncvt.u16.u32 %h3, %r15;\n"
        "sub.s16 %h4, %h2, %h3;\nshr.u16 %h5, %h4, 1;\nadd.s16 %h6, %h5, %h3;\nshr.u16 %h7, %h6, "
        "2;\ncvt.u32.u16 %r16, %h7;\nadd.u32 %r6, %r6, %r16;";
    ck_assert_uint_eq(copies_of("lt.s32", "16", 52, sevenths), 16);
    ck_assert_uint_eq(count("shr") + count("mul") + count("cvt"), 0);
    /* a variable whose start value is computed from a constant */
    assemble("mov.u32 %r3, 3;\nmul.lo.u32 %r12, %r3, 5;\nmov.u32 %r6, %r2;\nL:\nxor.b32 %r6, %r6, "
             "%r12;\nadd.u32 %r6, %r6, %r1;\nadd.u32 %r3, %r3, 1;\nshl.b32 %r12, %r3, %r12;\n"
             "setp.lt.u32 %p1, %r3, 9;\n@%p1 bra L;\nst.global.u32 [%d1], %r6;");
    ck_assert_uint_eq(count("bra") + count("shl"), 0);
    /* the more of an iteration is saved, the larger the total may be: ptxas 13.0 unrolls 164 and 78
     * besides 49 constant ones */
    char much[4096] = "mov.u32 %r7, %r3;\n";
    for (unsigned k = 0; k < 12; k++)
        sprintf(much + strlen(much),
                "mul.lo.u32 %%r7, %%r7, %u;\nxor.b32 %%r7, %%r7, %u;\nshr.u32 %%r8, %%r7, "
                "7;\nadd.u32 %%r7, %%r8, %%r7;\n",
                69069 + 8 * k, 12345 + 4 * k);
    strcat(much, "xor.b32 %r6, %r6, %r7;");
    ck_assert_uint_eq(copies_of("lt.s32", "16", 160, much), 16);
    ck_assert_uint_lt(copies_of("lt.s32", "16", 168, much), 16);
    ck_assert_uint_eq(copies_of("lt.s32", "64", 76, much), 64);
    ck_assert_uint_lt(copies_of("lt.s32", "64", 81, much), 64);
}
END_TEST

/* A product and a sum count as two, and so does a load of bytes, as in ptxas 13.0 for sm_90
 * (2026-11). */
START_TEST(loop_unroll_fused_instructions)
{
    char body[2048] = "mov.b32 %f2, %r6;\n";
    for (unsigned n = 1; n <= 10; n++) {
        char all[2048];
        strcat(body, "mul.f32 %f1, %f2, %f3;\nadd.f32 %f2, %f1, %f4;\n");
        snprintf(all, sizeof all, "%smov.b32 %%r6, %%f2;", body);
        const unsigned copies = copies_of("lt.s32", "%r1", 1, all);
        ck_assert_uint_eq(copies,
                          n < 9 ? 4 + 2 + 1 : 1); /* including the multiplication of copies_of */
        ck_assert_uint_eq(count("fma.rn.f32"), copies * n);
    }
    const char *byte = "ld.global.u8 %r5, [%d2];\nxor.b32 %r6, %r6, %r5;";
    ck_assert_uint_gt(copies_of("lt.s32", "%r1", 42, byte), 1);
    ck_assert_uint_eq(copies_of("lt.s32", "%r1", 43, byte), 1);
}
END_TEST

/* Two remainder iterations after the loop unrolled by four are predicated if they are short. */
START_TEST(loop_unroll_predicated_remainder)
{
    unsigned guarded = 0;
    copies_of("ne.u32", "%r1", 1, "");
    for (const char *at = listing; (at = strstr(at, "mad.lo.u32")); at++)
        guarded += at > listing + 3 && at[-1] == ' ' && at[-3] == 'P';
    ck_assert_uint_eq(guarded, 2);
}
END_TEST

/* compiler/opt/licm.c */
START_TEST(licm_compares)
{
    char body[2048];
    for (unsigned n = 1; n <= 8; n++) {
        strcpy(body, "mov.u32 %r3, 0;\nld.global.u32 %r5, [%d2];\nL1:\nadd.u32 %r3, %r3, %r5;\n");
        for (unsigned k = 0; k < n; k++)
            snprintf(body + strlen(body), sizeof body - strlen(body),
                     "setp.ne.u32 %%p%u, %%r2, %u;\n@%%p%u bra N%u;\nst.volatile.global.u32 "
                     "[%%d1+%u], %%r3;\nN%u:\n",
                     k % 7, k, k % 7, k, 4 * k, k);
        strcat(body, "setp.lt.u32 %p7, %r3, %r1;\n@%p7 bra L1;");
        assemble(body);
        unsigned inside = 0, line = 0, head = 0;
        ck_assert_int_eq(sscanf(strstr(listing, "bra @"), "bra @%u", &head), 1);
        for (const char *at = listing; *at; at = strchr(at, '\n') + 1, line++)
            inside += line >= head && strncmp(at, "setp.ne", 7) == 0;
        ck_assert_uint_eq(count("setp.ne"), n);
        ck_assert_uint_eq(inside, n > 6 ? n : 0);
    }
}
END_TEST

/* Counts instructions with this name in the last loop of the listing. */
static unsigned in_loop(const char *name)
{
    unsigned inside = 0, line = 0, head = 0, back = 0;
    for (const char *at = listing; *at; at = strchr(at, '\n') + 1, line++) {
        const char *branch = strstr(at, "bra @"), *end = strchr(at, '\n');
        unsigned to = 0;
        if (branch && branch < end && sscanf(branch, "bra @%u", &to) == 1 && to < line)
            head = to, back = line;
    }
    line = 0;
    for (const char *at = listing; *at; at = strchr(at, '\n') + 1, line++)
        inside += line >= head && line < back && strncmp(at, name, strlen(name)) == 0;
    return inside;
}

/* Loads that remain in the loop around `n` of them, each with an addition, an exchange between
 * lanes and `more`. */
static unsigned left_in_loop(const char *load, const char *address, unsigned n, const char *more)
{
    static char body[32768];
    strcpy(body, "mad.wide.u32 %d3, %r2, 4, %d1;\nmov.u32 %r5, s;\nmad.lo.u32 %r5, %r2, 4, "
                 "%r5;\nmov.f32 %f1, 0f3F800000;\nmov.u32 %r6, 0;\nL1:\n"
                 "mov.b32 %r3, %f1;\nshfl.sync.bfly.b32 %r4, %r3, 1, 31, -1;\nmov.b32 %f2, %r4;\n");
    for (unsigned k = 0; k < n; k++)
        snprintf(body + strlen(body), sizeof body - strlen(body),
                 "%s %%f3, [%s+%u];\nfma.rn.f32 %%f1, %%f2, %%f3, %%f1;\n", load, address, 4 * k);
    snprintf(body + strlen(body), sizeof body - strlen(body),
             "%s\nsetp.lt.f32 %%p1, %%f1, 0f44000000;\n@%%p1 bra L1;\nst.global.f32 [%%d2], %%f1;",
             more);
    assemble(body);
    return in_loop(load);
}

/* Instructions with this name that remain in a loop of `first`, this many additions and `last`. */
static unsigned left_of(const char *name, const char *first, unsigned sums, const char *last)
{
    static char body[32768];
    strcpy(body, "ld.global.u32 %r8, [%d2];\nld.global.u32 %r9, [%d2+128];\nld.global.f32 %f8, "
                 "[%d2+256];\nld.global.f32 %f9, [%d2+384];\nmov.f32 %f1, 0f3F800000;\n"
                 "mov.u32 %r3, 0;\nmov.u32 %r4, 0;\nmov.u64 %d5, 0;\nL1:\n.pragma \"nounroll\";\n");
    strcat(body, first);
    for (unsigned k = 0; k < sums; k++) strcat(body, "fma.rn.f32 %f1, %f1, %f8, %f9;\n");
    snprintf(body + strlen(body), sizeof body - strlen(body),
             "%s\nadd.u32 %%r3, %%r3, 1;\nsetp.lt.u32 %%p1, %%r3, %%r1;\n@%%p1 bra "
             "L1;\nL9:\nst.global.f32 [%%d2], %%f1;\n"
             "st.global.u32 [%%d2+128], %%r4;\nst.global.u64 [%%d2+256], %%d5;",
             last);
    assemble(body);
    return in_loop(name);
}

/* compiler/opt/licm.c, compared with ptxas 13.0 for sm_90a on purpose-built loops, 2026-11. The
 * first number is a number of additions with which it moved values, the second one with which it
 * did not. */
START_TEST(licm_values)
{
    static const char *const least = "min.u32 %r10, %r8, %r9;\nxor.b32 %r4, %r4, %r10;\n",
                             *const wide = "mul.wide.u32 %d6, %r8, %r9;\nxor.b64 %d5, %d5, %d6;\n";
    static const char *const pointer =
        "mul.wide.u32 %d6, %r8, %r9;\nadd.u64 %d6, %d6, %d2;\nxor.b64 %d5, %d5, %d6;\n";
    static const char *const bits =
        "min.u32 %r11, %r8, %r9;\npopc.b32 %r10, %r11;\nadd.u32 %r4, %r4, %r10;\n";
    static const char *const memory = "mul.wide.u32 %d7, %r3, 4;\nadd.u64 %d7, %d7, "
                                      "%d2;\nld.global.f32 %f5, [%d7];\nadd.f32 %f1, %f1, %f5;\n";
    static const char *const arm = "setp.lt.f32 %p2, %f1, %f9;\n@%p2 bra L2;\nbar.warp.sync "
                                   "-1;\nsin.approx.f32 %f1, %f1;\nbar.warp.sync -1;\n";
    char text[1024];
    ck_assert_uint_eq(left_of("min", least, 180, ""), 0);
    ck_assert_uint_eq(left_of("min", least, 200, ""), 1);
    ck_assert_uint_eq(left_of("mul", wide, 85, ""), 0);
    ck_assert_uint_eq(left_of("mul", wide, 100, ""), 1);
    ck_assert_uint_eq(left_of("mad", pointer, 50, ""), 0);
    ck_assert_uint_eq(left_of("mad", pointer, 62, ""), 1);
    ck_assert_uint_eq(left_of("popc", bits, 370, ""), 0);
    ck_assert_uint_eq(left_of("popc", bits, 400, ""), 1);
    /* a block that waits for memory costs more, another one does not count */
    ck_assert_uint_eq(left_of("min", least, 22, memory), 0);
    ck_assert_uint_eq(left_of("min", least, 30, memory), 1);
    ck_assert_uint_eq(left_of("popc", bits, 60, memory), 0);
    ck_assert_uint_eq(left_of("popc", bits, 75, memory), 1);
    snprintf(text, sizeof text, "%smembar.gl;\n", least);
    ck_assert_uint_eq(left_of("min", text, 300, memory), 0);
    /* every iteration passes through it, and no subroutine may be called */
    snprintf(text, sizeof text, "setp.lt.f32 %%p2, %%f1, %%f9;\n@%%p2 bra L9;\n%s", least);
    ck_assert_uint_eq(left_of("min", text, 20, ""), 0);
    snprintf(text, sizeof text, "%sL2:\n%s", arm, least);
    ck_assert_uint_eq(left_of("min", text, 20, ""), 0);
    snprintf(text, sizeof text, "%s%ssin.approx.f32 %%f1, %%f1;\nbar.warp.sync -1;\nL2:\n", arm,
             least);
    ck_assert_uint_eq(left_of("min", text, 20, ""), 1);
    ck_assert_uint_eq(left_of("min", least, 20, "div.rn.f32 %f1, %f1, %f8;"), 1);
    /* a block is moved entirely or not at all: three instructions that occupy four registers leave
     * one of 150 */
    static const char *const both =
        "min.u32 %r10, %r8, %r9;\npopc.b32 %r10, %r10;\nxor.b32 %r4, %r4, %r10;\nmul.wide.u32 %d6, "
        "%r8, %r9;\nadd.u64 %d6, %d6, %d2;\nxor.b64 %d5, %d5, %d6;\n";
    ck_assert_uint_eq(left_of("min", both, 130, ""), 0);
    ck_assert_uint_eq(left_of("mad", both, 130, ""), 0);
    ck_assert_uint_eq(left_of("min", both, 150, ""), 1);
    ck_assert_uint_eq(left_of("mad", both, 150, ""), 1);
    /* an instruction needed by a load of the same iteration does not wait with it */
    ck_assert_uint_eq(
        left_of("min", "min.u32 %r10, %r8, %r9;\nmax.u32 %r3, %r3, %r10;\n", 165, memory), 0);
    /* loads, their address computations, and the values computed from them */
    static const char *const loads =
        "mul.wide.u32 %d6, %r8, 4;\nadd.u64 %d6, %d6, %d2;\nld.global.f32 %f4, "
        "[%d6];\nld.global.f32 %f5, [%d2+64];\nsub.f32 %f4, %f4, %f5;\nadd.f32 %f1, %f1, %f4;\n";
    ck_assert_uint_eq(left_of("ld.global", loads, 700, ""), 0);
    ck_assert_uint_eq(left_of("mad", loads, 700, ""), 0);
    ck_assert_uint_eq(left_of("sub", loads, 700, ""), 0);
    ck_assert_uint_eq(left_of("ld.global", loads, 20, "st.global.f32 [%d1+64], %f1;"), 2);
    ck_assert_uint_eq(left_of("sub", loads, 20, "st.global.f32 [%d1+64], %f1;"), 1);
}
END_TEST

/* The loads that licm hoists, compared with ptxas 13.0 for sm_90a on purpose-built loops,
 * 2026-11. */
START_TEST(licm_loads)
{
    static const char *const global = "ld.global.f32", *const shared = "ld.shared.f32";
    static const char *const another =
        "add.s64 %d2, %d2, 4;\nld.global.f32 %f4, [%d2];\nadd.f32 %f1, %f1, %f4;";
    ck_assert_uint_eq(left_in_loop(global, "%d3", 1, ""), 0);
    ck_assert_uint_eq(left_in_loop(global, "%d3", 120, ""), 0);
    ck_assert_uint_eq(left_in_loop(global, "%d3", 4, "st.shared.f32 [%r5], %f1;"), 0);
    ck_assert_uint_eq(left_in_loop("ld.global.nc.f32", "%d3", 4, "st.global.f32 [%d2+64], %f1;"),
                      0);
    ck_assert_uint_eq(left_in_loop("ld.global.nc.f32", "%d3", 4, "bar.sync 0;"), 0);
    ck_assert_uint_eq(left_in_loop(global, "%d3", 4, another), 1); /* that one */
    /* it may be written, its address changes, a subroutine may be called */
    ck_assert_uint_eq(left_in_loop(global, "%d3", 4, "st.global.f32 [%d2+64], %f1;"), 4);
    ck_assert_uint_eq(left_in_loop(global, "%d3", 4, "bar.sync 0;"), 4);
    ck_assert_uint_eq(left_in_loop(global, "%d3", 4, "bar.warp.sync -1;"), 4);
    ck_assert_uint_eq(left_in_loop(global, "%d3", 4, "red.global.add.u32 [%d2+64], %r6;"), 4);
    ck_assert_uint_eq(left_in_loop(global, "%d3", 4, "add.s64 %d3, %d3, 4;"), 4);
    ck_assert_uint_eq(left_in_loop(global, "%d3", 4, "div.rn.f32 %f1, %f1, %f2;"), 4);
    /* shared memory has low latency: in long loops, and together with global loads in loops that
     * are not short, it is read in each iteration */
    ck_assert_uint_eq(left_in_loop(shared, "%r5", 97, ""), 0);
    ck_assert_uint_eq(left_in_loop(shared, "%r5", 98, ""), 98);
    ck_assert_uint_eq(left_in_loop(shared, "%r5", 8, another), 0);
    ck_assert_uint_eq(left_in_loop(shared, "%r5", 16, another), 16);
}
END_TEST

/* A constant that a loop reads once is materialised in the loop; one that it reads four times,
 * before the loop. */
START_TEST(materialize_constants_in_loops)
{
    static const char *const
        start = "$L:\n.pragma \"nounroll\";\nld.global.u32 %r3, [%d1];\nsetp.lt.u32 %p1, %r3, 5;\n",
        *const end = "st.global.u32 [%d2], %r4;\nadd.u32 %r1, %r1, -1;\nsetp.ne.u32 %p2, %r1, "
                     "0;\n@%p2 bra $L;\n";
    char body[1024];
    for (unsigned n = 1; n <= 4; n += 3) {
        size_t at = (size_t)snprintf(body, sizeof body, "%s", start);
        for (unsigned k = 0; k < n; k++)
            at += (size_t)snprintf(
                body + at, sizeof body - at,
                "selp.b32 %%r%u, 768, %u, %%p1;\nst.global.u32 [%%d2+%u], %%r%u;\n", 4 + k,
                16u << k, 64 * k, 4 + k);
        snprintf(body + at, sizeof body - at, "%s", end);
        assemble(body);
        ck_assert_uint_eq(count("~mov.b32"), 1);
        ck_assert_int_eq(strstr(listing, "~mov.b32") < strstr(listing, "ld.global"), n == 4);
    }
}
END_TEST

UNIT_MAIN("opt_loops", loop_unroll_body_length, loop_unroll_body_cost, loop_unroll_known_trip_count,
          loop_unroll_folded_counter, loop_unroll_fused_instructions,
          loop_unroll_predicated_remainder, licm_compares, licm_values, licm_loads,
          materialize_constants_in_loops)
