/* test_opt_registers.c - the registers that a kernel takes: uniform registers, halves of 64-bit
 * values, constants, values live across calls. */
#include "tests/unit/assembled.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

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

/* A vector load writes all its elements: those that nobody reads keep their registers, also in a
 * kernel with textures. */
START_TEST(dead_vector_elements)
{
    unsigned at[4];
    assemble("ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%d1];\n"
             "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f5, %f5}];\n"
             "st.global.u32 [%d2], %r3;\nst.global.f32 [%d2+4], %f1;");
    const char *load = strstr(listing, "ld.global.v4.u32 {");
    ck_assert_ptr_nonnull(load);
    ck_assert_int_eq(
        sscanf(load, "ld.global.v4.u32 {R%u, R%u, R%u, R%u}", &at[0], &at[1], &at[2], &at[3]), 4);
    for (unsigned k = 1; k < 4; k++) ck_assert_uint_eq(at[k], at[0] + k);
}
END_TEST

/* Registers that nothing writes occupy none, in scalar operands and in matrix fragments. They are
 * neither spilled nor reloaded. ptxas 13.0 for sm_90 (2026-11): 8 registers for the first kernel,
 * also with a limit of 32. */
START_TEST(undefined_registers)
{
    enum { VALUES = 100 };
    static char body[16384];
    size_t at = (size_t)snprintf(body, sizeof body, ".reg .b32 %%u<%u>;\n", VALUES);
    for (unsigned k = 0; k < 2 * VALUES; k++) /* all are live before the first is read again */
        at += (size_t)snprintf(body + at, sizeof body - at, "mad.lo.u32 %%r2, %%r2, 5, %%u%u;\n",
                               k % VALUES);
    snprintf(body + at, sizeof body - at, "st.global.u32 [%%d1], %%r2;");
    assemble(body);
    ck_assert_uint_le(registers, 10);
    ck_assert_uint_eq(count("ld.local"), 0);
    assemble(".reg .b32 %a<8>, %b<4>, %c<8>, %s<4>;\n"
             "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%s0, %s1, %s2, %s3}, {%a0, %a1, "
             "%a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};\n"
             "st.global.v4.u32 [%d1], {%s0, %s1, %s2, %s3};");
    const uint32_t undefined = registers;
    assemble(".reg .b32 %a<8>, %b<4>, %c<8>, %s<4>;\n"
             "ld.global.v4.u32 {%a0, %a1, %a2, %a3}, [%d2];\n"
             "ld.global.v4.u32 {%c0, %c1, %c2, %c3}, [%d2+16];\n"
             "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%s0, %s1, %s2, %s3}, {%a0, %a1, "
             "%a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};\n"
             "st.global.v4.u32 [%d1], {%s0, %s1, %s2, %s3};");
    ck_assert_uint_ge(registers, undefined + 4);
}
END_TEST

UNIT_MAIN("opt_registers", uniform_regs_parameters, uniform_regs_divergent_values,
          uniform_regs_loop_counters, uniform_regs_f64_constants, lower_int64_zero_upper_half,
          narrow_int64_const_and_local_indices, place_constant_loads_pairs, i2f_or_i2fp,
          allocate_callee_saved_registers, rematerialize_tid, live_ranges_shift_immediates,
          lower_wmma_fragment_registers, setmaxnreg_initial_registers, dead_texel_components,
          dead_vector_elements, undefined_registers)
