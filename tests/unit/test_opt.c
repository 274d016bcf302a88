/* test_opt.c - limits of the passes, with kernels generated for each length, number of values or
 * number of registers. A test name begins with the name of its pass. Results of passes on a few
 * lines are data: tests/passes/PASS/NAME.ptx.
 *
 * That results are unchanged is tested elsewhere, at both levels: tests/ptx/exec, the vectors and
 * the suite. */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "lib/internal.h"

static char listing[131072];
static uint32_t registers; /* per thread */
static unsigned constants; /* fetches of constants */
static unsigned by_unit;   /* conversions between integers and floating point executed by the XU */

/* Assembles a kernel with parameters p (u64), q (u64), n (u32), registers %r %d %f %p and this
 * body, after functions, at -O2. */
static const char *assemble_with_functions(const char *functions, const char *body)
{
    static char text[65536];
    snprintf(text, sizeof text,
             ".version 8.0\n.target sm_90a\n.address_size 64\n%s"
             ".visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n)\n{\n"
             ".reg .pred %%p<8>;\n.reg .b32 %%r<32>;\n.reg .b64 %%d<32>;\n.reg .f32 %%f<32>;\n"
             ".shared .align 16 .b8 s[1024];\n.const .align 8 .b8 c[96];\n"
             "ld.param.u64 %%d1, [p];\nld.param.u64 %%d2, [q];\nld.param.u32 %%r1, [n];\nmov.u32 "
             "%%r2, %%tid.x;\n%s\nret;\n}\n",
             functions, body);
    pl_gpu *gpu = NULL;
    pl_module *m = NULL;
    ck_assert_int_eq(pl_gpu_open(&gpu, "h200"), PL_OK);
    ck_assert_int_eq(pl_module_load(gpu, "k.ptx", text, strlen(text), NULL, &m), PL_OK);
    size_t at = 0;
    listing[0] = 0;
    constants = by_unit = 0;
    registers = m->program->funcs.at[0].registers;
    for (uint32_t pc = 0; pc < m->program->code.n; pc++) {
        const pl_insn *i = &m->program->code.at[pc];
        constants += pl_forms[i->form].mnem == M_ld && i->sel[PL_M_SPACE] == PL_SP_CONST &&
                     i->latency_class != C_free;
        by_unit += i->latency_class == C_cvt_f2i;
        pl_disasm(m->program, pc, listing + at, sizeof listing - at - 2);
        at = strlen(listing);
        listing[at++] = '\n';
        listing[at] = 0;
    }
    pl_module_close(m);
    pl_gpu_close(gpu);
    return listing;
}

static const char *assemble(const char *body)
{
    return assemble_with_functions("", body);
}

static unsigned count(const char *what)
{
    unsigned n = 0;
    for (const char *s = listing; (s = strstr(s, what)); s += strlen(what)) n++;
    return n;
}

/* The same for the text before the first `end`, which must exist. */
static unsigned count_before(const char *what, const char *end)
{
    char *first = strstr(listing, end);
    ck_assert_ptr_nonnull(first);
    *first = 0;
    return count(what);
}

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

/* Branches that remain of two conditions before a long body, where the second consists of this many
 * instructions and a comparison. */
static unsigned conditions(unsigned n, const char *also)
{
    char body[4096] = "ld.global.u32 %r3, [%d1];\nld.global.u32 %r4, [%d1+4];\nsetp.gt.s32 %p1, "
                      "%r3, %r1;\n@%p1 bra L;\nadd.s32 %r5, %r4, %r2;\n";
    for (unsigned k = 1; k < n; k++)
        strcat(body, k % 2 ? "mul.lo.s32 %r5, %r5, %r5;\n" : "xor.b32 %r5, %r5, %r2;\n");
    snprintf(body + strlen(body), sizeof body - strlen(body),
             "%s\nsetp.lt.s32 %%p2, %%r5, %%r4;\n@%%p2 bra L;\n", also);
    for (unsigned k = 0; k < 12; k++) strcat(body, "mad.lo.s32 %r3, %r3, %r2, %r1;\n");
    strcat(body, "L:\nst.global.u32 [%d2], %r3;\nst.global.u32 [%d2+4], %r4;");
    assemble(body);
    return count("bra");
}

/* ptxas 13.0 for sm_90a, 2026-11. */
START_TEST(merge_branches_two_conditions)
{
    for (unsigned n = 1; n <= 7; n++) ck_assert_uint_eq(conditions(n, ""), n > 4 ? 2 : 1);
    ck_assert_ptr_nonnull((conditions(1, ""), strstr(listing, "setp.lt.or.s32")));
    ck_assert_uint_eq(conditions(1, "ld.shared.u32 %r5, [%r5];"), 2);
    ck_assert_uint_eq(conditions(1, "add.s32 %r4, %r4, %r5;"), 2); /* it has another use */
}
END_TEST

/* True if the arm with the load is predicated, with another arm of this many instructions. */
static bool arms_are_guarded(unsigned n)
{
    char body[2048] =
        "mul.wide.u32 %d3, %r2, 4;\nadd.u64 %d4, %d2, %d3;\nsetp.lt.u32 %p1, %r2, %r1;\n@%p1 bra "
        "L;\nld.global.u32 %r3, [%d1];\nadd.u32 %r3, %r3, %r2;\nbra M;\n"
        "L:\nmul.hi.u32 %r3, %r2, %r1;\n";
    for (unsigned k = 1; k < n; k++)
        strcat(body, k % 2 ? "xor.b32 %r3, %r3, %r1;\n" : "add.u32 %r3, %r3, %r2;\n");
    strcat(body, "M:\nst.global.u32 [%d4], %r3;");
    assemble(body);
    return count("bra") == 0;
}

/* ptxas 13.0 for sm_90a, 2026-11: half of an arm overlaps the load of the other one, which permits
 * as many instructions as a preceding load. */
START_TEST(if_convert_both_arms)
{
    for (unsigned n = 1; n <= 22; n++)
        ck_assert_msg(arms_are_guarded(n) == (n >= 4 && n <= 20), "%u", n);
}
END_TEST

/* Returns the number of additions besides `unit` up to which a body is not branched over. */
static unsigned predicable_additions(const char *unit)
{
    for (unsigned n = 0;; n++) {
        char body[2048] = "ld.global.u32 %r3, [%d1];\nld.global.u32 %r4, [%d1+4];\nld.global.u64 "
                          "%d5, [%d1+8];\nbar.sync 0;\nsetp.gt.s32 %p1, %r3, %r1;\n@%p1 bra L;\n";
        for (unsigned k = 0; k < n; k++)
            strcat(body, k % 2 ? "add.s32 %r3, %r3, %r1;\n" : "xor.b32 %r3, %r3, %r2;\n");
        snprintf(body + strlen(body), sizeof body - strlen(body),
                 "%s\nL:\nst.global.u32 [%%d2], %%r3;\nst.global.u32 [%%d2+4], "
                 "%%r4;\nst.global.u64 [%%d2+8], %%d5;",
                 unit);
        assemble(body);
        if (count("bra")) return n - 1;
    }
}

/* ptxas 13.0 for sm_90a, bodies of one instruction and this many additions, 2026-11: the cost that
 * it assigns to the instruction. */
START_TEST(if_convert_body_cost)
{
    static const struct {
        const char *unit;
        unsigned count;
    } units[] = {
        {"add.s32 %r4, %r4, %r1;", 1},
        {"mov.b32 %r4, %r2;", 0},
        {"mov.b32 %r4, 7;", 1},
        {"mov.b64 %d5, %d1;", 0},
        {"mov.b64 {%r5, %r6}, %d5;\nxor.b32 %r7, %r6, 0x80000000;\nmov.b64 %d5, {%r5, %r7};", 2},
        {"xor.b64 %d5, %d5, %d1;", 3},
        {"and.b64 %d5, %d5, 0xffffffffffffff;", 1},
        {"mul.lo.s64 %d5, %d5, %d1;", 5},
        {"mul.lo.s64 %d5, %d5, 100;", 3},
        {"min.s64 %d5, %d5, %d1;", 5},
        {"shr.u64 %d5, %d5, 40;", 1},
        {"shr.u64 %d5, %d5, 7;", 2},
        {"mul.wide.u32 %d6, %r4, 0xaaaaaaab;\nshr.u64 %d7, %d6, 39;\ncvt.u32.u64 %r4, %d7;", 2},
        {"ld.shared.u32 %r4, [s+4];", 4},
        {"mad.lo.s32 %r4, %r4, 100, 7;", 2},
        {"st.global.u32 [%d2+64], 77;", 3}};
    for (size_t k = 0; k < sizeof units / sizeof *units; k++)
        ck_assert_msg(predicable_additions(units[k].unit) == 8 - units[k].count, "%s: room for %u",
                      units[k].unit, predicable_additions(units[k].unit));
}
END_TEST

/* Branches that ptxas 13.0 for sm_90a leaves of two consecutive bodies and of the code around one
 * (2026-11). */
START_TEST(if_convert_surrounding_work)
{
#define ADDED(r, at) "ld.global.u32 %r10, [%d3+" #at "];\nadd.u32 %r" #r ", %r" #r ", %r10;\n"
#define IF(n, body)  "@%p" #n " bra L" #n ";\n" body "L" #n ":\n"
#define STEP(r)      "mad.lo.s32 %r" #r ", %r" #r ", %r4, %r3;\n"
#define FOUR(r)      STEP(r) STEP(r) STEP(r) STEP(r)
#define TWELVE(r)    FOUR(r) FOUR(r) FOUR(r)
    static const struct {
        unsigned branches;
        const char *body;
    } rows[] = {
        {1, IF(1, ADDED(5, 128))},
        {0, IF(1, ADDED(5, 128)) IF(2, ADDED(5, 256))},
        {1, IF(1, ADDED(5, 128))
                IF(2, ADDED(5, 256)) "st.global.u32 [%d3+24], %r5;\n" IF(3, ADDED(5, 384))},
        {0, IF(1, ADDED(5, 128)) "bar.sync 0;\n" IF(2, ADDED(5, 256))},
        {2, IF(1, ADDED(5, 128)) "membar.gl;\n" IF(2, ADDED(5, 256))},
        {2, IF(1, ADDED(5, 128)) "mul.wide.u32 %d4, %r5, 4;\nadd.u64 %d4, %d2, %d4;\n" IF(
                2, "ld.global.u32 %r10, [%d4];\nadd.u32 %r5, %r5, %r10;\n")},
        {0, IF(1, ADDED(5, 128)) ADDED(5, 256)},
        {1, IF(1, ADDED(5, 128)) "st.global.u32 [%d3+24], %r5;\n" ADDED(6, 256)},
        {0, IF(1, ADDED(5, 128)) IF(2, TWELVE(6))},
        {2, IF(1, ADDED(5, 128)) IF(2, TWELVE(6) TWELVE(6))},
        {2, IF(1, ADDED(5, 128)) IF(2, TWELVE(5))},
        {0, FOUR(6) IF(1, ADDED(5, 128) "add.u32 %r5, %r5, %r6;\n")},
        {1, IF(1, ADDED(5, 128) "add.u32 %r5, %r5, %r4;\n")},
        {0,
         "@!%p2 " STEP(6) "@!%p2 " STEP(6) "@!%p2 " STEP(6) "@!%p2 " STEP(6) IF(1, ADDED(5, 128))},
        {0, "ld.global.u32 %r5, [%d3+512];\nst.global.u32 [%d3+28], %r5;\n" IF(1, TWELVE(5))
                ADDED(6, 256)},
        {1, IF(1, TWELVE(5)) ADDED(6, 256)},
        {0, "@!%p2 ld.global.u32 %r6, [%d3+128];\n" IF(1, TWELVE(5))},
        {2, "@!%p2 ld.global.u32 %r5, [%d3+128];\n" IF(1, TWELVE(5))},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char body[4096];
        snprintf(
            body, sizeof body,
            "mad.lo.s32 %%r3, %%r2, %%r2, %%r1;\nmul.wide.u32 %%d3, %%r3, 4;\nadd.u64 %%d3, %%d1, "
            "%%d3;\nmad.lo.s32 %%r4, %%r3, %%r3, %%r2;\n"
            "mov.u32 %%r5, 0;\nmov.u32 %%r6, 0;\nst.global.u32 [%%d3], %%r4;\nsetp.gt.u32 %%p1, "
            "%%r2, %%r1;\nsetp.gt.u32 %%p2, %%r3, 9;\nsetp.gt.u32 %%p3, %%r4, 5;\n"
            "selp.u32 %%r7, 1, 0, %%p1;\nselp.u32 %%r8, 1, 0, %%p2;\nselp.u32 %%r9, 1, 0, %%p3;\n"
            "st.global.u32 [%%d3+4], %%r7;\nst.global.u32 [%%d3+8], %%r8;\nst.global.u32 "
            "[%%d3+12], %%r9;\n"
            "%sst.global.u32 [%%d3+16], %%r5;\nst.global.u32 [%%d3+20], %%r6;\n",
            rows[k].body);
        assemble(body);
        ck_assert_msg(count("bra @") == rows[k].branches, "row %zu: %u branches", k,
                      count("bra @"));
    }
#undef ADDED
#undef IF
#undef STEP
#undef FOUR
#undef TWELVE
}
END_TEST

/* True if the second load precedes the branch around `arm`. `join` has its address
 * computation and the code between the arm and it. */
static bool is_hoisted(const char *arm, const char *join, const char *load)
{
    char body[2048] = "mul.wide.u32 %d3, %r2, 4;\nadd.u64 %d4, %d2, %d3;\nld.global.u32 %r3, "
                      "[%d4];\nsetp.gt.s32 %p1, %r3, %r1;\n@%p1 bra L;\n";
    for (unsigned k = 0; k < 24; k++) strcat(body, "mad.lo.s32 %r3, %r3, %r2, %r1;\n");
    snprintf(body + strlen(body), sizeof body - strlen(body),
             "%s\nL:\n%s\n%s\nadd.s32 %%r3, %%r3, %%r4;\nst.global.u32 [%%d4], %%r3;", arm, join,
             load);
    assemble(body);
    ck_assert_uint_eq(count("bra @"), 1);
    return strstr(strstr(listing, "bra @"), load[9] == 'n' ? "ld.global.nc" : "ld.global") == NULL;
}

/* ptxas 13.0 for sm_90a, purpose-built kernels, 2026-11. */
START_TEST(hoist_loads_above_branch)
{
    static const char *const load = "ld.global.u32 %r4, [%d4+512];",
                             *const constant = "ld.global.nc.u32 %r4, [%d4+512];";
    ck_assert(is_hoisted("", "", load));
    ck_assert(is_hoisted("ld.shared.u32 %r5, [%r3];\nst.shared.u32 [%r2], %r5;", "", load));
    ck_assert(!is_hoisted("st.global.u32 [%d1], %r3;", "", load));
    ck_assert(is_hoisted("st.global.u32 [%d1], %r3;", "", constant));
    ck_assert(!is_hoisted("red.global.add.u32 [%d1], %r3;", "", load));
    ck_assert(is_hoisted("red.shared.add.u32 [%r2], %r3;", "", load));
    ck_assert(!is_hoisted("atom.acquire.cta.shared.add.u32 %r5, [%r2], %r3;", "", load));
    ck_assert(!is_hoisted("bar.sync 0;", "", load));
    ck_assert(!is_hoisted("", "st.global.u32 [%d1], %r3;", load));
    ck_assert(!is_hoisted("mov.u64 %d4, %d1;", "", load));
    ck_assert(is_hoisted("", "mad.wide.u32 %d4, %r1, 4, %d4;", load));
    ck_assert(!is_hoisted(
        "", "xor.b32 %r5, %r2, %r1;\nadd.u32 %r5, %r5, 5;\nmad.wide.u32 %d4, %r5, 12, %d2;", load));
    ck_assert(!is_hoisted("", "setp.ne.s32 %p2, %r3, 7;\n@%p2 add.s32 %r3, %r3, 3;", load));
}
END_TEST

/* As in ptxas: kernels compiled by nvcc with a table of functions, ptxas 13.0, sm_90a, 2026-11. */
START_TEST(reconvergence_of_indirect_calls)
{
    static const char *const call =
        "binary: .callprototype (.param .b32 _) _ (.param .b32 _);\nld.global.u64 %d3, "
        "[%d1];\nmul.wide.u32 %d4, %r2, 8;\n"
        "add.u64 %d4, %d4, %d3;\nld.global.u64 %d5, [%d4];\n{ .param .b32 a; .param .b32 "
        "o;\nst.param.b32 [a], %r2;\n"
        "call (o), %d5, (a), binary;\nld.param.b32 %r3, [o]; }\nst.global.u32 [%d2], %r3;";
    static const struct {
        const char *before;
        unsigned points;
        const char *behind;
    } cases[] = {
        {"", 0, ""},
        {"mov.u32 %r9, 0;\nround:\n", 1,
         "add.u32 %r9, %r9, 1;\nsetp.lt.u32 %p1, %r9, %r1;\n@%p1 bra round;\n"}, /* some lanes may
                                                                                    start another
                                                                                    iteration before
                                                                                    others */
        {"setp.ge.u32 %p1, %r1, 7;\n@%p1 exit;\n", 0, ""}, /* all lanes exit, or none */
        {"setp.ge.u32 %p1, %r2, 7;\n@%p1 exit;\n", 1, ""}, /* some exit */
        {"ld.global.f32 %f1, [%d2];\ndiv.rn.f32 %f2, %f1, %f1;\nst.global.f32 [%d2], %f2;\n", 1,
         ""}, /* some take the slow path */
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char body[2048];
        snprintf(body, sizeof body, "%s%s%s", cases[k].before, call, cases[k].behind);
        assemble(body);
        ck_assert_uint_eq(count("call"), 1);
        ck_assert_uint_eq(count("~bssy"), cases[k].points);
        ck_assert_uint_eq(count("~bsync"), cases[k].points);
    }
    char uniform[2048]; /* all lanes have one address */
    snprintf(uniform, sizeof uniform,
             "setp.ge.u32 %%p1, %%r2, 7;\n@%%p1 exit;\nmov.u32 %%r2, %%ctaid.x;\n%s", call);
    assemble(uniform);
    ck_assert_uint_eq(count("~bssy"), 0);
#define CALLED(body)                                                                               \
    ".func (.param .b32 r) called(.param .b32 a) { .reg .b32 %x; .reg .pred %q; ld.param.u32 %x, " \
    "[a];\n" body "st.param.b32 [r], %x; ret; }\n"                                                 \
    ".global .align 8 .u64 addresses[1] = {called};\n"
    assemble_with_functions(CALLED("add.u32 %x, %x, 3;"), call);
    ck_assert_uint_eq(count("~bssy"), 0);
    /* Callees that may diverge. */
    assemble_with_functions(
        CALLED(
            "again: shr.u32 %x, %x, 1; xor.b32 %x, %x, 3; setp.gt.u32 %q, %x, 9; @%q bra again;"),
        call);
    ck_assert_uint_eq(count("~bssy"), 1 + 1);
    char loop[2048]; /* the code after the call runs in other lanes at other times: two points, the
                        loop's and the call's */
    snprintf(loop, sizeof loop,
             "mov.u32 %%r6, 0;\nL:\n%s\nadd.u32 %%r6, %%r6, 1;\nsetp.lt.u32 %%p1, %%r6, "
             "%%r1;\n@%%p1 bra L;\nst.global.u32 [%%d2+4], %%r6;",
             call);
    assemble(loop);
    ck_assert_uint_eq(count("~bssy"), 2);
    ck_assert_uint_eq(count("~bsync"), 2);
}
END_TEST

/* compiler/opt/uniform.c: a value that every reader can take from a uniform register occupies no
 * register of a thread. */
START_TEST(uniform_regs_parameters)
{
    assemble("ld.global.u32 %r3, [%d1];\nadd.u32 %r4, %r3, %r1;\nst.global.u32 [%d1], %r4;");
    uint32_t few = registers;
    assemble(
        "mul.lo.u32 %r5, %r1, %r1;\nadd.u32 %r6, %r5, 12;\nxor.b32 %r7, %r5, 5;\n" /* computed from
                                                                                      parameters
                                                                                      alone */
        "ld.global.u32 %r3, [%d1];\nadd.u32 %r4, %r3, %r6;\nmul.lo.u32 %r4, %r4, "
        "%r7;\nst.global.u32 [%d1], %r4;");
    ck_assert_uint_eq(registers, few);
}
END_TEST

START_TEST(uniform_regs_divergent_values)
{
    assemble("ld.global.u32 %r3, [%d1];\nadd.u32 %r4, %r3, %r1;\nst.global.u32 [%d1], %r4;");
    uint32_t few = registers;
    char body[1024] = "";
    for (unsigned k = 0; k < 6; k++)
        snprintf(body + strlen(body), sizeof body - strlen(body), "mul.hi.u32 %%r%u, %%r2, %u;\n",
                 10 + k, 77777 + k);
    strcat(body, "bar.sync 0;\nld.global.u32 %r3, [%d1];\n");
    for (unsigned k = 0; k < 6; k++)
        snprintf(body + strlen(body), sizeof body - strlen(body),
                 "mad.lo.u32 %%r3, %%r3, %%r3, %%r%u;\n", 10 + k);
    strcat(body, "st.global.u32 [%d1], %r3;");
    assemble(body);
    ck_assert_uint_gt(registers, few);
}
END_TEST

/* Registers of a loop that counts six variables. */
static uint32_t counted(const char *step, const char *use, const char *bound)
{
    char body[2048] = "mov.u32 %r4, 0;\n";
    for (unsigned k = 10; k < 16; k++)
        snprintf(body + strlen(body), sizeof body - strlen(body), "mov.u32 %%r%u, %u;\n", k, k);
    strcat(body, "lp: .pragma \"nounroll\";\nbar.sync 0;\nld.global.u32 %r3, [%d1];\n");
    for (unsigned k = 10; k < 16; k++) {
        snprintf(body + strlen(body), sizeof body - strlen(body), use, k);
        snprintf(body + strlen(body), sizeof body - strlen(body),
                 "mad.lo.u32 %%r3, %%r3, %%r5, %%r5;\nadd.u32 %%r%u, %%r%u, %s;\n", k, k, step);
    }
    snprintf(body + strlen(body), sizeof body - strlen(body),
             "st.global.u32 [%%d1], %%r3;\nadd.u32 %%r4, %%r4, 1;\nsetp.lt.u32 %%p1, %%r4, "
             "%s;\n@%%p1 bra lp;",
             bound);
    assemble(body);
    return registers;
}

/* Loop counters are in uniform registers (UIADD3), unless lanes count or leave the loop differently
 * (ptxas 13.0 for sm_90, 2026-11). */
START_TEST(uniform_regs_loop_counters)
{
    static const char logic[] = "xor.b32 %%r5, %%r2, %%r%u;\n";
    const uint32_t few = counted("7", logic, "1000");
    ck_assert_uint_ge(counted("%r2", logic, "1000"), few + 5);
    ck_assert_uint_ge(counted("7", logic, "%r2"), few + 5);
}
END_TEST

/* DFMA and DADD read a uniform pair (ptxas 13.0 for sm_90, 2026-11): coefficients in the constant
 * bank cost nothing. */
START_TEST(uniform_regs_f64_constants)
{
    char body[4096] = "ld.global.f64 %d3, [%d1];\nmov.f64 %d4, %d3;\n";
    for (unsigned k = 0; k < 12; k++)
        snprintf(body + strlen(body), sizeof body - strlen(body),
                 "ld.const.f64 %%d%u, [c+%u];\nfma.rn.f64 %%d4, %%d4, %%d3, %%d%u;\n", 10 + k,
                 8 * k, 10 + k);
    strcat(body, "st.global.f64 [%d1], %d4;");
    assemble(body);
    ck_assert_uint_eq(count("ld.const.f64"), 12);
    ck_assert_uint_le(registers, 14);
}
END_TEST

/* compiler/codegen/lower_int64.c: the upper half of a value shifted right this far is RZ.
 * ptxas 13.0 needs a register for each of the six. */
START_TEST(lower_int64_zero_upper_half)
{
    char narrow[2048] = "", wide[2048] = "";
    for (unsigned k = 0; k < 6; k++) {
        snprintf(narrow + strlen(narrow), sizeof narrow - strlen(narrow),
                 "mul.wide.u32 %%d%u, %%r2, %u;\nshr.u64 %%d%u, %%d%u, 40;\n", 10 + k, 77777 + k,
                 20 + k, 10 + k);
        snprintf(wide + strlen(wide), sizeof wide - strlen(wide),
                 "mul.wide.u32 %%d%u, %%r2, %u;\nshr.u64 %%d%u, %%d%u, 8;\n", 10 + k, 77777 + k,
                 20 + k, 10 + k);
    }
    static const char rest[] = "L:\nld.volatile.global.u32 %r3, [%d2];\nsetp.ne.u32 %p1, %r3, "
                               "0;\n@%p1 bra L;\nadd.s64 %d3, %d20, %d21;\nadd.s64 %d3, %d3, "
                               "%d22;\nadd.s64 %d3, %d3, %d23;\nadd.s64 %d3, %d3, %d24;\n"
                               "add.s64 %d3, %d3, %d25;\nst.global.u64 [%d2], %d3;";
    strcat(narrow, rest);
    strcat(wide, rest);
    assemble(narrow);
    uint32_t few = registers;
    assemble(wide);
    ck_assert_uint_gt(registers, few);
}
END_TEST

/* LDC takes a 32-bit address and the variable's offset, LDL and STL a 32-bit address: six indices
 * are six registers, six addresses of global memory twelve. */
START_TEST(narrow_int64_const_and_local_indices)
{
    static const char *const space[] = {"const", "local", "global"},
                             *const variable[] = {"", ".local .align 4 .b8 l[256];\n", ""},
                             *const place[] = {"c", "l", "c"};
    uint32_t taken[3];
    for (unsigned m = 0; m < 3; m++) {
        char body[2048];
        snprintf(body, sizeof body, "%smov.u64 %%d3, %s;\n", variable[m], place[m]);
        for (unsigned k = 0; k < 6; k++)
            snprintf(body + strlen(body), sizeof body - strlen(body),
                     "ld.global.s32 %%d%u, [%%d1+%u];\nadd.s64 %%d%u, %%d%u, %%d%u;\n", 10 + k,
                     4 * k, 20 + k, m == 2 ? 1u : 3u, 10 + k);
        strcat(body,
               "L:\nld.volatile.global.u32 %r3, [%d2];\nsetp.ne.u32 %p1, %r3, 0;\n@%p1 bra L;\n");
        for (unsigned k = 0; k < 6; k++)
            snprintf(body + strlen(body), sizeof body - strlen(body),
                     "ld.%s.u32 %%r4, [%%d%u];\nadd.u32 %%r3, %%r3, %%r4;\n", space[m], 20 + k);
        strcat(body, "st.global.u32 [%d2], %r3;");
        assemble(body);
        taken[m] = registers;
    }
    ck_assert_uint_le(taken[0] + 4, taken[2]);
    ck_assert_uint_le(taken[1] + 4, taken[2]);
}
END_TEST

/* Constants at known offsets are loaded by ULDC, two adjacent ones by a single ULDC unless lanes
 * exit between them. */
START_TEST(place_constant_loads_pairs)
{
    static const struct {
        const char *body;
        unsigned constants;
    } rows[] = {
        {"ld.const.f32 %f2, [c];\nfma.rn.f32 %f1, %f1, %f1, %f2;\n", 1},
        {"ld.const.f32 %f2, [c];\nld.const.f32 %f3, [c+4];\nfma.rn.f32 %f1, %f1, %f1, "
         "%f2;\nfma.rn.f32 %f1, %f1, %f1, %f3;\n",
         1},
        {"ld.const.f32 %f2, [c+4];\nld.const.f32 %f3, [c+8];\nfma.rn.f32 %f1, %f1, %f1, "
         "%f2;\nfma.rn.f32 %f1, %f1, %f1, %f3;\n",
         2},
        {"ld.const.f32 %f2, [c];\nfma.rn.f32 %f1, %f1, %f1, %f2;\nsetp.gt.f32 %p1, %f1, "
         "0f40000000;\n@%p1 ret;\n"
         "ld.const.f32 %f3, [c+4];\nfma.rn.f32 %f1, %f1, %f1, %f3;\n",
         2},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char body[1024];
        snprintf(body, sizeof body, "ld.global.f32 %%f1, [%%d1];\n%sst.global.f32 [%%d2], %%f1;",
                 rows[k].body);
        assemble(body);
        ck_assert_msg(constants == rows[k].constants, "%s: %u", rows[k].body, constants);
    }
}
END_TEST

/* A thread has seven predicates, and comparisons wait for a free one: these take fewer steps than
 * the chain that reads them. */
START_TEST(schedule_predicate_pressure)
{
    enum { COMPARES = 16, PREDICATES = 7 };
    char body[4096];
    size_t n = (size_t)snprintf(body, sizeof body,
                                ".reg .pred %%q<%d>;\nmov.f32 %%f1, 0f00000000;\n", COMPARES);
    for (unsigned k = 0; k < COMPARES; k++)
        n += (size_t)snprintf(body + n, sizeof body - n, "ld.global.u32 %%r%u, [%%d1+%u];\n",
                              10 + k, 4 * k);
    for (unsigned k = 0; k < COMPARES; k++)
        n += (size_t)snprintf(body + n, sizeof body - n,
                              "setp.gt.u32 %%q%u, %%r%u, %%r2;\nfma.rn.f32 %%f2, %%f1, %%f1, "
                              "0f3FC00000;\nselp.f32 %%f1, %%f2, %%f1, %%q%u;\n",
                              k, 10 + k, k);
    snprintf(body + n, sizeof body - n, "st.global.f32 [%%d2], %%f1;");
    assemble(body);
    ck_assert_uint_eq(count("setp"), COMPARES);
    int live = 0, most = 0;
    for (const char *line = listing; *line; line = strchr(line, '\n') + 1) {
        live += strncmp(line, "setp", 4) == 0;
        most = live > most ? live : most;
        live -= *line == '@' || strncmp(line, "selp", 4) == 0;
    }
    ck_assert_int_eq(live, 0);
    ck_assert_int_le(most, PREDICATES);
}
END_TEST

/* Sources of fewer than 32 bits, and conversions to half, use I2F; but unsigned sources that have
 * been extended to 32 bits use I2FP (ptxas 13.0). */
START_TEST(i2f_or_i2fp)
{
    static const struct {
        const char *load, *to;
        unsigned by_unit;
    } cases[] = {{"ld.global.s16", "f32.s16", 1}, {"ld.global.u16", "f32.s16", 1},
                 {"ld.global.s8", "f32.s16", 1},  {"ld.global.u16", "f32.u16", 0},
                 {"ld.global.u8", "f32.u16", 0},  {"ld.shared.u16", "f32.u16", 0}};
    char body[512];
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        snprintf(
            body, sizeof body,
            ".reg .b16 %%h<4>;\n%s %%h1, [%s];\ncvt.rn.%s %%f1, %%h1;\nst.global.f32 [%%d2], %%f1;",
            cases[k].load, strstr(cases[k].load, "shared") ? "%r2" : "%d1", cases[k].to);
        assemble(body);
        ck_assert_uint_eq(by_unit, cases[k].by_unit);
    }
    assemble(".reg .b16 %h<4>;\nld.global.u16 %h1, [%d1];\nst.global.u16 [%d2+4], "
             "%h1;\ncvt.rn.f32.u16 %f1, %h1;\nst.global.f32 [%d2], %f1;");
    ck_assert_uint_eq(by_unit, 1); /* it has another reader as well */
    assemble(".reg .b16 %h<4>;\nld.global.u32 %r3, [%d1];\ncvt.rn.f16.s32 %h1, %r3;\nst.global.u16 "
             "[%d2], %h1;");
    ck_assert_uint_eq(by_unit, 1);
    assemble("ld.global.u32 %r3, [%d1];\ncvt.rn.f32.s32 %f1, %r3;\nst.global.f32 [%d2], %f1;");
    ck_assert_uint_eq(by_unit, 0);
}
END_TEST

/* Instructions that occupy a register and are not needed before a load are scheduled after it:
 * seven constants for the sum of as many values. */
START_TEST(schedule_late_constants)
{
    char body[2048] = "ld.global.u32 %r3, [%d1];\nmov.u32 %r4, %r3;\n";
    for (unsigned k = 0; k < 7; k++)
        snprintf(body + strlen(body), sizeof body - strlen(body),
                 "add.u32 %%r%u, %%r2, %u;\nmul.hi.u32 %%r4, %%r4, %%r%u;\n", 10 + k,
                 77777 * (k + 1), 10 + k);
    strcat(body, "st.global.u32 [%d1], %r4;");
    assemble(body);
    ck_assert_uint_le(registers, 12); /* the address, tid, the product and one sum at a time */
}
END_TEST

/* Loads from shared memory before the first addition. In ptxas 13.0 for sm_90 (2026-11) 8 of 8 and
 * 10 of 16, whether or not a load from global memory completes later than the chain. */
START_TEST(schedule_chains_with_global_loads)
{
    static const struct {
        unsigned words, first;
        bool far;
    } cases[] = {{8, 8, false}, {8, 8, true}, {16, 10, true}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char body[4096] =
            "mov.u32 %r3, s;\nmad.lo.u32 %r3, %r2, 4, %r3;\nmov.f32 %f1, 0f3f800000;\n";
        for (unsigned w = 0; w < cases[k].words; w++)
            snprintf(body + strlen(body), sizeof body - strlen(body),
                     "ld.shared.f32 %%f2, [%%r3+%u];\nadd.f32 %%f1, %%f1, %%f2;\n", 132 * w);
        if (cases[k].far)
            strcat(body, "ld.global.f32 %f3, [%d1];\nfma.rn.f32 %f1, %f1, 0f40000000, %f3;\n");
        strcat(body, "st.global.f32 [%d2], %f1;");
        assemble(body);
        const char *sum = strstr(listing, "add.f32");
        unsigned loads = 0;
        for (const char *at = listing; (at = strstr(at, "ld.shared")) && at < sum; at++) loads++;
        ck_assert_uint_eq(loads, cases[k].first);
    }
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

/* Values live across a call through a pointer: R2, R16 to R19, and the registers after the return
 * address in R20 and R21; likewise predicates (as in ptxas 13.0). */
START_TEST(allocate_callee_saved_registers)
{
    char body[2048];
    for (unsigned n = 2; n <= 8; n++)
        for (unsigned tests = 0; tests <= 2; tests++) {
            size_t at = (size_t)snprintf(body, sizeof body, "ld.global.u64 %%d3, [%%d1];\n");
            for (unsigned k = 0; k < n + tests; k++)
                at += (size_t)snprintf(body + at, sizeof body - at,
                                       "ld.volatile.global.u32 %%r%u, [%%d1+%u];\n", 3 + k,
                                       16 + 4 * k);
            for (unsigned k = 0; k < tests; k++)
                at += (size_t)snprintf(body + at, sizeof body - at,
                                       "setp.ne.u32 %%p%u, %%r%u, 0;\n", 1 + k, 3 + n + k);
            at += (size_t)snprintf(body + at, sizeof body - at,
                                   "proto: .callprototype _ ();\ncall %%d3, proto;\n");
            for (unsigned k = 0; k < n; k++)
                at += (size_t)snprintf(body + at, sizeof body - at,
                                       "st.volatile.global.u32 [%%d2+%u], %%r%u;\n", 4 * k, 3 + k);
            for (unsigned k = 0; k < tests; k++)
                at += (size_t)snprintf(body + at, sizeof body - at,
                                       "@%%p%u st.volatile.global.u32 [%%d2+%u], %%r3;\n", 1 + k,
                                       256 + 4 * k);
            assemble(body);
            ck_assert_uint_eq(registers, n + tests > 5 ? 19 + n + tests : 24);
        }
}
END_TEST

/* Builds code that derives a value from %tid with this statement, kept in %r3 across a loop with
 * this many live values, for two later blocks. */
static void keep_tid(const char *made, unsigned values, char *body, size_t size)
{
    size_t n = (size_t)snprintf(body, size,
                                "mov.u32 %%r4, %%ctaid.x;\n%s\nmul.wide.u32 %%d3, %%r3, "
                                "4;\nadd.s64 %%d3, %%d3, %%d1;\n.reg .f32 %%v<200>;\n",
                                made);
    for (unsigned k = 0; k < values; k++)
        n += (size_t)snprintf(body + n, size - n, "ld.global.f32 %%v%u, [%%d3+%u];\n", k, 128 * k);
    n += (size_t)snprintf(body + n, size - n, "L1:\n");
    for (unsigned k = 0; k < values; k++)
        n += (size_t)snprintf(body + n, size - n, "fma.rn.f32 %%v%u, %%v%u, %%v%u, %%v%u;\n", k, k,
                              k, (k + 1) % values);
    n += (size_t)snprintf(body + n, size - n,
                          "setp.lt.f32 %%p1, %%v0, 0f40000000;\n@%%p1 bra L1;\n");
    for (unsigned k = 1; k < values; k++)
        n += (size_t)snprintf(body + n, size - n, "add.f32 %%v0, %%v0, %%v%u;\n", k);
    n += (size_t)snprintf(
        body + n, size - n,
        "bar.sync 0;\nsetp.gt.f32 %%p1, %%v0, 0f40000000;\n@%%p1 bra L2;\nL3:\natom.global.add.f32 "
        "%%v1, [%%d2], %%v0;\n"
        "add.f32 %%v0, %%v0, %%v1;\nsetp.lt.f32 %%p1, %%v0, 0f40000000;\n@%%p1 bra L3;\nL2:\n");
    for (unsigned block = 0; block < 2; block++)
        n += (size_t)snprintf(
            body + n, size - n,
            "mul.wide.u32 %%d4, %%r3, 4;\nadd.s64 %%d4, %%d4, %%d2;\nst.global.f32 [%%d4], "
            "%%v0;\n%s",
            block ? ""
                  : "setp.lt.f32 %p1, %v0, 0f3F800000;\n@%p1 bra L4;\nL5:\natom.global.add.f32 "
                    "%v1, [%d2], %v0;\nadd.f32 %v0, %v0, %v1;\n"
                    "setp.lt.f32 %p1, %v0, 0f40000000;\n@%p1 bra L5;\nL4:\n");
    assemble(body);
}

/* Thirty values are live across a loop: values computed from %tid for use after it are recomputed
 * there. With ten they are kept. As in ptxas 13.0 for sm_90 (2026-11): recomputed once, after the
 * region of high register pressure; values computed from two registers are kept. */
START_TEST(rematerialize_tid)
{
    static const struct {
        const char *made;
        unsigned values, times;
    } cases[] = {{"and.b32 %r3, %r2, 31;", 10, 1},
                 {"and.b32 %r3, %r2, 31;", 30, 2},
                 {"and.b32 %r3, %r2, 31;", 170, 2},
                 {"shl.b32 %r3, %r4, 7;\nadd.s32 %r3, %r3, %r2;", 30, 1},
                 {"shl.b32 %r3, %r4, 7;\nadd.s32 %r3, %r3, %r2;", 170, 1}};
    static char body[32768];
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        keep_tid(cases[k].made, cases[k].values, body, sizeof body);
        ck_assert_msg(count("%tid.x") == cases[k].times, "%s %u values: %u times", cases[k].made,
                      cases[k].values, count("%tid.x"));
    }
}
END_TEST

/* The immediate of a shift occupies no register, whatever its value: parameters are the first rows
 * of a kernel. */
START_TEST(live_ranges_shift_immediates)
{
    static const char *const sum = "ld.global.u64 %%d3, [%%d1];\nshl.b64 %%d4, %%d3, %u;\nadd.s64 "
                                   "%%d5, %%d4, %%d2;\nst.global.u64 [%%d1], %%d5;";
    char body[512];
    uint32_t least = UINT32_MAX, most = 0;
    for (unsigned n = 1; n < 12; n++) {
        snprintf(body, sizeof body, sum, n);
        assemble(body);
        least = registers < least ? registers : least;
        most = registers > most ? registers : most;
    }
    ck_assert_uint_eq(least, most);
}
END_TEST

/* Four of the eight words of a 16 x 16 fragment of 16-bit factors occupy registers, unless the
 * others are also used. */

START_TEST(lower_wmma_fragment_registers)
{
    char body[4096] = ".reg .b32 %a<8>, %b<8>;\n.reg .f32 %c<8>;\n";
    static const char *const eight = "{%%%c0, %%%c1, %%%c2, %%%c3, %%%c4, %%%c5, %%%c6, %%%c7}";
    char a[96], b[96], c[96];
    snprintf(a, sizeof a, eight, 'a', 'a', 'a', 'a', 'a', 'a', 'a', 'a');
    snprintf(b, sizeof b, eight, 'b', 'b', 'b', 'b', 'b', 'b', 'b', 'b');
    snprintf(c, sizeof c, eight, 'c', 'c', 'c', 'c', 'c', 'c', 'c', 'c');
    for (unsigned k = 0; k < 8; k++)
        snprintf(body + strlen(body), sizeof body - strlen(body), "mov.f32 %%c%u, 0f00000000;\n",
                 k);
    snprintf(body + strlen(body), sizeof body - strlen(body),
             "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 %s, [%%d1], "
             "%%r1;\nwmma.load.b.sync.aligned.row.m16n16k16.global.f16 %s, [%%d2], %%r1;\n",
             a, b);
    size_t n = strlen(body);
    static const char *const product =
        "wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32 %s, %s, %s, "
        "%s;\nwmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%%d1], %s, %%r1;\n";
    snprintf(body + n, sizeof body - n, product, c, a, b, c, c);
    assemble(body);
    uint32_t few = registers;
    strcat(body, "st.global.u32 [%d2], %a7;\nst.global.u32 [%d2+4], %a6;\nst.global.u32 [%d2+8], "
                 "%a5;\nst.global.u32 [%d2+12], %a4;");
    assemble(body);
    ck_assert_uint_gt(registers, few);
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

/* Of 60 loads ptxas 13.0 for sm_90 issues as many before their uses as the kernel's register limit
 * permits. */
START_TEST(schedule_register_limit)
{
    static const struct {
        const char *says;
        unsigned least, most;
    } rows[] = {{"", 25, 32},
                {".maxntid 256", 25, 32},
                {".maxntid 32", 57, 64},
                {".maxntid 256 .minnctapersm 2", 65, 128},
                {".maxntid 256 .minnctapersm 6", 33, 40},
                {".maxnreg 48", 41, 48},
                {".reqntid 64", 25, 32}};
    for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++) {
        char text[8192];
        snprintf(text, sizeof text,
                 ".visible .entry sums(.param .u64 p)\n%s\n{\n.reg .b64 %%d<3>;\n.reg .f32 "
                 "%%f<120>;\nld.param.u64 %%d1, [p];\nld.global.f32 %%f60, [%%d1];\n",
                 rows[k].says);
        for (unsigned n = 0; n < 60; n++)
            snprintf(text + strlen(text), sizeof text - strlen(text),
                     "ld.global.f32 %%f%u, [%%d1+%u];\nfma.rn.f32 %%f60, %%f%u, %%f60, %%f%u;\n", n,
                     128 * n, n, n);
        strcat(text, "st.global.f32 [%d1], %f60;\nret;\n}\n");
        assemble_with_functions(text, "");
        ck_assert_uint_ge(registers, rows[k].least);
        ck_assert_uint_le(registers, rows[k].most);
    }
}
END_TEST

/* Loads before the first of 32 dependent additions. */
static unsigned loads_ahead(unsigned loads)
{
    char text[8192] =
        ".visible .entry chain(.param .u64 p)\n{\n.reg .b64 %d<3>;\n.reg .b32 %r<3>;\n.reg .f32 "
        "%f<80>;\nld.param.u64 %d1, [p];\nmov.u32 %r2, %tid.x;\n"
        "mul.wide.u32 %d2, %r2, 516;\nadd.s64 %d2, %d1, %d2;\nmov.f32 %f60, 0f3F800000;\n";
    for (unsigned n = 0; n < loads; n++)
        snprintf(
            text + strlen(text), sizeof text - strlen(text),
            "ld.global.nc.f32 %%f%u, [%%d2+%u];\nfma.rn.f32 %%f60, %%f60, 0f3FC00000, %%f%u;\n", n,
            12 * n, n);
    strcat(text, "st.global.f32 [%d1], %f60;\nret;\n}\n");
    assemble_with_functions(text, "");
    return count_before("ld.global.nc.f32", "fma.rn.f32");
}

/* With 32 registers a few remain free while loads are outstanding (ptxas 13.0: 23 of 48 loads
 * before the first addition); eight loads issue together. */
START_TEST(schedule_register_headroom)
{
    ck_assert_uint_eq(loads_ahead(8), 8);
    ck_assert_uint_eq(loads_ahead(16), 16);
    ck_assert_uint_ge(loads_ahead(48), 21);
    ck_assert_uint_le(loads_ahead(48), 24);
}
END_TEST

/* Of 24 loads from shared memory, each followed by this many dependent instructions: the number
 * that precede the first of these. */
static unsigned shared_loads_ahead(unsigned chain)
{
    enum { LOADS = 24 };
    static char text[16384];
    size_t at =
        (size_t)snprintf(text, sizeof text,
                         ".shared .align 4 .b8 room[8192];\n.visible .entry near(.param .u64 "
                         "p)\n{\n.reg .b64 %%d<2>;\n.reg .b32 %%r<3>, %%v<%u>;\n.reg .f32 %%s;\n"
                         "ld.param.u64 %%d1, [p];\nmov.u32 %%r1, room;\nmov.u32 %%r2, "
                         "%%tid.x;\nmad.lo.u32 %%r1, %%r2, 4, %%r1;\nmov.f32 %%s, 0f3FC00000;\n",
                         LOADS);
    for (unsigned k = 0; k < LOADS; k++) {
        at += (size_t)snprintf(text + at, sizeof text - at, "ld.shared.f32 %%v%u, [%%r1+%u];\n", k,
                               256 * k);
        for (unsigned c = 0; c < chain; c++)
            at += (size_t)snprintf(text + at, sizeof text - at,
                                   "fma.rn.f32 %%s, %%s, 0f3FC00000, %%v%u;\n", k);
    }
    snprintf(text + at, sizeof text - at, "st.global.f32 [%%d1], %%s;\nret;\n}\n");
    assemble_with_functions(text, "");
    return count_before("ld.shared.f32", "fma.rn.f32");
}

/* ptxas 13.0 for sm_90 (2026-11): ten with chains of one FFMA per load, four with chains of
 * three. */
START_TEST(schedule_shared_loads)
{
    ck_assert_uint_eq(shared_loads_ahead(1), 10);
    ck_assert_uint_eq(shared_loads_ahead(3), 4);
}
END_TEST

/* A rolling hash over a window of this many bytes, unrolled: the loads before its first
 * multiplication. Each byte is live until it leaves the window; the position and the number of
 * matches are computed in parallel with the hash. */
static unsigned loads_ahead_of_hash(unsigned rounds, unsigned window)
{
    static char text[32768];
    size_t at = (size_t)snprintf(
        text, sizeof text,
        ".visible .entry hash(.param .u64 p)\n{\n.reg .b64 %%d<3>;\n.reg .b32 %%r<3>, %%v<80>, "
        "%%s<80>, %%m<80>, %%n<80>, %%l<80>;\n.reg .pred %%p<80>;\n"
        "ld.param.u64 %%d1, [p];\nmov.u32 %%r2, %%tid.x;\nmul.wide.u32 %%d2, %%r2, 516;\nadd.s64 "
        "%%d2, %%d1, %%d2;\nmov.u32 %%s0, 7;\nmov.u32 %%n0, 0;\nmov.u32 %%l0, 0;\n");
    for (unsigned k = 0; k < rounds; k++) {
        at += (size_t)snprintf(
            text + at, sizeof text - at,
            "ld.global.nc.u8 %%v%u, [%%d2+%u];\nmad.lo.u32 %%s%u, %%s%u, 16777619, %%v%u;\n", k, k,
            k + 1, k, k);
        if (k >= window)
            at += (size_t)snprintf(text + at, sizeof text - at,
                                   "mad.lo.u32 %%s%u, %%v%u, 3834828783, %%s%u;\n", k + 1,
                                   k - window, k + 1);
        at += (size_t)snprintf(
            text + at, sizeof text - at,
            "and.b32 %%m%u, %%s%u, 516096;\nsetp.eq.u32 %%p%u, %%m%u, 172032;\nadd.u32 %%n%u, "
            "%%n%u, 1;\nselp.u32 %%n%u, %%n%u, %%n%u, %%p%u;\nselp.u32 %%l%u, %u, %%l%u, %%p%u;\n",
            k, k + 1, k, k, k + 1, k, k + 1, k + 1, k, k, k + 1, k, k, k);
    }
    snprintf(text + at, sizeof text - at,
             "st.global.u32 [%%d1], %%s%u;\nst.global.u32 [%%d1+4], %%n%u;\nst.global.u32 "
             "[%%d1+8], %%l%u;\nret;\n}\n",
             rounds, rounds, rounds);
    assemble_with_functions(text, "");
    return count_before("ld.global.nc.u8", "mad.lo");
}

/* Schedules with a long lookahead need more registers here than available, unless they start as if
 * there were a few fewer. A narrow lookahead has 5 or 12 loads first (ptxas 13.0: 18, 18, 18 and
 * 16, within 32 registers). */
START_TEST(schedule_narrow_lookahead)
{
    static const struct {
        unsigned rounds, window;
    } rows[] = {{64, 17}, {48, 18}, {48, 16}, {32, 12}};
    for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++) {
        const unsigned loads = loads_ahead_of_hash(rows[k].rounds, rows[k].window);
        ck_assert_uint_ge(loads, 16);
        ck_assert_uint_le(loads, 24);
        ck_assert_uint_le(registers, 32);
    }
}
END_TEST

/* A loop of eight 16-byte loads with this many additions. From 16 additions on (ptxas 13.0: 40
 * registers, 16 additions and 32 loads of 4 bytes: 32), the registers of the next step let the
 * loads run ahead. */
START_TEST(schedule_wide_loads)
{
    static const struct {
        unsigned sums, words, least, most;
    } rows[] = {{12, 4, 25, 32}, {16, 4, 33, 40}, {24, 4, 41, 48}, {16, 1, 25, 32},
                {18, 1, 25, 32}, {28, 1, 33, 40}, {31, 1, 41, 48}};
    for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++) {
        const unsigned words = rows[k].words;
        char text[8192];
        snprintf(text, sizeof text,
                 ".visible .entry sums(.param .u64 p, .param .u32 n)\n{\n.reg .b64 %%d<3>;\n.reg "
                 ".b32 %%r<3>;\n.reg .f32 %%f<80>;\n.reg .pred %%p;\n"
                 "ld.param.u64 %%d1, [p];\nld.param.u32 %%r1, [n];\nmov.u32 %%r2, "
                 "%%tid.x;\nmul.wide.u32 %%d2, %%r2, 16;\nadd.s64 %%d2, %%d1, %%d2;\n");
        for (unsigned n = 0; n < rows[k].sums; n++)
            snprintf(text + strlen(text), sizeof text - strlen(text),
                     "ld.global.f32 %%f%u, [%%d1+%u];\n", n, 4 * n);
        strcat(text, "mov.u32 %r2, 0;\nL1:\n.pragma \"nounroll\";\n");
        for (unsigned n = 0; n < 8; n++) {
            strcat(text, words == 4 ? "ld.global.v4.f32 " : "ld.global.f32 ");
            for (unsigned w = n * words; w < (n + 1) * words; w++)
                snprintf(text + strlen(text), sizeof text - strlen(text), "%s%%f%u%s",
                         words == 1  ? ""
                         : w % words ? ""
                                     : "{",
                         40 + w,
                         words == 1       ? ""
                         : w % words == 3 ? "}"
                                          : ", ");
            snprintf(text + strlen(text), sizeof text - strlen(text), ", [%%d2+%u];\n", 2048 * n);
            for (unsigned w = n * words; w < (n + 1) * words; w++)
                snprintf(text + strlen(text), sizeof text - strlen(text),
                         "fma.rn.f32 %%f%u, %%f%u, %%f%u, %%f%u;\n", w % rows[k].sums, 40 + w,
                         40 + w, w % rows[k].sums);
        }
        strcat(text, "add.s64 %d2, %d2, 65536;\nadd.s32 %r2, %r2, 1;\nsetp.lt.u32 %p, %r2, "
                     "%r1;\n@%p bra L1;\n");
        for (unsigned n = 0; n < rows[k].sums; n++)
            snprintf(text + strlen(text), sizeof text - strlen(text),
                     "st.global.f32 [%%d1+%u], %%f%u;\n", 4 * n, n);
        strcat(text, "ret;\n}\n");
        assemble_with_functions(text, "");
        ck_assert_uint_ge(registers, rows[k].least);
        ck_assert_uint_le(registers, rows[k].most);
    }
}
END_TEST

/* A kernel that changes its number of registers starts with as many as its limits permit and as it
 * requests at most; without limits it cannot (ptxas 13.0 for sm_90a). */
START_TEST(setmaxnreg_initial_registers)
{
    static const struct {
        const char *says;
        unsigned less, more, taken;
    } rows[] = {{".maxntid 256 .minnctapersm 1", 40, 232, 232},
                {".maxntid 288 .minnctapersm 1", 40, 232, 168},
                {".maxntid 384 .minnctapersm 1", 24, 240, 168},
                {".maxntid 640 .minnctapersm 1", 40, 232, 96},
                {".maxntid 256 .minnctapersm 3", 24, 200, 80},
                {".maxntid 256 .minnctapersm 2", 24, 64, 64},
                {".maxntid 256 .minnctapersm 1", 24, 0, 255},
                {".maxntid 256 .maxnreg 100", 24, 200, 100},
                {".maxntid 256", 24, 200, 8},
                {"", 24, 200, 8}};
    for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++) {
        char text[1024], more[64] = "";
        if (rows[k].more)
            snprintf(more, sizeof more, "setmaxnreg.inc.sync.aligned.u32 %u;\n", rows[k].more);
        snprintf(text, sizeof text,
                 ".visible .entry gives(.param .u64 p)\n%s\n{\n.reg .b64 %%d<3>;\n.reg .b32 "
                 "%%r<3>;\n.reg .pred %%p;\nld.param.u64 %%d0, [p];\nmov.u32 %%r0, %%tid.x;\n"
                 "setp.lt.u32 %%p, %%r0, 128;\n@%%p bra A;\nsetmaxnreg.dec.sync.aligned.u32 "
                 "%u;\nbra B;\nA:\n%sB:\nmul.wide.u32 %%d1, %%r0, 4;\nadd.u64 %%d0, %%d0, %%d1;\n"
                 "st.global.u32 [%%d0], %%r0;\nret;\n}\n",
                 rows[k].says, rows[k].less, more);
        assemble_with_functions(text, "");
        ck_assert_uint_eq(registers, rows[k].taken);
    }
}
END_TEST

/* An unused component of a texel occupies no register: TEX specifies the components that it
 * writes. */
START_TEST(dead_texel_components)
{
    static char body[8192];
    uint32_t taken[2];
    for (unsigned all = 0; all < 2; all++) {
        size_t at = (size_t)snprintf(body, sizeof body, "cvt.rn.f32.u32 %%f30, %%r2;\n");
        for (unsigned k = 0; k < 6; k++) /* before anything is read */
            at += (size_t)snprintf(
                body + at, sizeof body - at,
                "tex.2d.v4.f32.f32 {%%f%u, %%f%u, %%f%u, %%f%u}, [%%d1, {%%f30, 0f%08X}];\n", 4 * k,
                4 * k + 1, 4 * k + 2, 4 * k + 3, 0x3f000000 + (k << 23));
        for (unsigned k = 1; k < 24; k++)
            if (all || k % 4 == 0)
                at += (size_t)snprintf(body + at, sizeof body - at, "add.f32 %%f0, %%f0, %%f%u;\n",
                                       k);
        snprintf(body + at, sizeof body - at, "st.global.f32 [%%d2], %%f0;");
        assemble(body);
        ck_assert_uint_eq(count("tex.2d"), 6);
        taken[all] = registers;
    }
    ck_assert_uint_ge(taken[1], taken[0] + 12);
}
END_TEST

UNIT_MAIN("opt", dead_texel_components, schedule_register_limit, schedule_register_headroom,
          schedule_shared_loads, schedule_narrow_lookahead, schedule_wide_loads,
          setmaxnreg_initial_registers, licm_compares, licm_values, licm_loads,
          materialize_constants_in_loops, allocate_callee_saved_registers, rematerialize_tid,
          live_ranges_shift_immediates, lower_wmma_fragment_registers, schedule_predicate_pressure,
          i2f_or_i2fp, schedule_late_constants, schedule_chains_with_global_loads,
          loop_unroll_body_length, loop_unroll_body_cost, loop_unroll_known_trip_count,
          loop_unroll_folded_counter, loop_unroll_predicated_remainder,
          loop_unroll_fused_instructions, if_convert_both_arms, merge_branches_two_conditions,
          if_convert_body_cost, uniform_regs_parameters, uniform_regs_loop_counters,
          uniform_regs_divergent_values, uniform_regs_f64_constants, lower_int64_zero_upper_half,
          narrow_int64_const_and_local_indices, place_constant_loads_pairs,
          if_convert_surrounding_work, hoist_loads_above_branch, reconvergence_of_indirect_calls)
