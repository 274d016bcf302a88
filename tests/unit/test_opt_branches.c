/* test_opt_branches.c - limits of the passes on branches: the length up to which bodies are
 * predicated and conditions merged, the loads that move above a branch, and reconvergence. */
#include "tests/unit/assembled.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

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

UNIT_MAIN("opt_branches", merge_branches_two_conditions, if_convert_both_arms, if_convert_body_cost,
          if_convert_surrounding_work, hoist_loads_above_branch, reconvergence_of_indirect_calls)
