/* test_opt_schedule.c - limits of the scheduler: how far loads run ahead of their uses, and within
 * how many registers. */
#include "tests/unit/assembled.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

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

UNIT_MAIN("opt_schedule", schedule_predicate_pressure, schedule_late_constants,
          schedule_chains_with_global_loads, schedule_register_limit, schedule_register_headroom,
          schedule_shared_loads, schedule_narrow_lookahead, schedule_wide_loads)
