/* test_opt.c - what each pass of the optimising assembler makes of a few lines of PTX, by the
 * instructions that are left.
 *
 * That results stay the same is tested elsewhere, at both levels: tests/ptx/exec, the vectors and
 * the suite. */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "lib/internal.h"

static char listing[131072];
static uint32_t registers;    /* of a thread */
static unsigned permutations; /* `mov` that is a PRMT */
static unsigned constants;    /* fetches of constants */
static unsigned unpaid;       /* computations that a neighbour does on the way */
static unsigned roundings;    /* conversions to an integral value of the same type */
static unsigned by_unit; /* conversions between numbers with and without a point that the unit for
                            functions (XU) makes */
static unsigned short_zeros; /* ~mov of 64 bits that is one instruction */

/* The body of a kernel with parameters p (u64), q (u64), n (u32) and registers %r %d %f %p, behind
 * functions, assembled at -O2. */
static const char *assemble_behind(const char *functions, const char *body)
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
    permutations = constants = unpaid = roundings = by_unit = short_zeros = 0;
    registers = m->program->funcs.at[0].registers;
    for (uint32_t pc = 0; pc < m->program->code.n; pc++) {
        const pl_insn *i = &m->program->code.at[pc];
        permutations += pl_forms[i->form].mnem == M_mov && i->latency_class == C_alu;
        constants += pl_forms[i->form].mnem == M_ld && i->sel[PL_M_SPACE] == PL_SP_CONST &&
                     i->latency_class != C_free;
        short_zeros +=
            pl_forms[i->form].mnem == M__mov && i->latency_class == C_alu && pl_insn_has(i, W_b64);
        roundings += i->latency_class == C_cvt_rnd;
        by_unit += i->latency_class == C_cvt_f2i;
        unpaid += i->latency_class == C_free && !(i->flags & PL_IF_MEM) &&
                  pl_forms[i->form].mnem != M_mov && pl_forms[i->form].mnem != M_cvt;
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
    return assemble_behind("", body);
}

static unsigned count(const char *what)
{
    unsigned n = 0;
    for (const char *s = listing; (s = strstr(s, what)); s += strlen(what)) n++;
    return n;
}

/* The same of what stands in front of the first `end`, which there must be. */
static unsigned count_in_front_of(const char *what, const char *end)
{
    char *first = strstr(listing, end);
    ck_assert_ptr_nonnull(first);
    *first = 0;
    return count(what);
}

START_TEST(the_middle_of_two_registers_is_one_shift)
{
    assemble("ld.global.u32 %r3, [%d1];\nld.global.u32 %r4, [%d1+4];\nshl.b32 %r5, %r3, "
             "5;\nshr.u32 %r6, %r4, 27;\nor.b32 %r7, %r5, %r6;\nst.global.u32 [%d2], %r7;");
    ck_assert_uint_eq(count("shf.l.wrap.b32"), 1);
    ck_assert_uint_eq(count("shl.b32") + count("shr.u32") + count("or.b32"), 0);
    /* other bits, a sign, a shifted value that is needed elsewhere: left alone */
    assemble("ld.global.u32 %r3, [%d1];\nld.global.u32 %r4, [%d1+4];\nshl.b32 %r5, %r3, "
             "5;\nshr.u32 %r6, %r4, 26;\nor.b32 %r7, %r5, %r6;\nst.global.u32 [%d2], %r7;");
    ck_assert_uint_eq(count("shf.l.wrap.b32"), 0);
    assemble("ld.global.u32 %r3, [%d1];\nld.global.u32 %r4, [%d1+4];\nshl.b32 %r5, %r3, "
             "5;\nshr.s32 %r6, %r4, 27;\nor.b32 %r7, %r5, %r6;\nst.global.u32 [%d2], %r7;");
    ck_assert_uint_eq(count("shf.l.wrap.b32"), 0);
    assemble("ld.global.u32 %r3, [%d1];\nld.global.u32 %r4, [%d1+4];\nshl.b32 %r5, %r3, "
             "5;\nshr.u32 %r6, %r4, 27;\nor.b32 %r7, %r5, %r6;\nst.global.u32 [%d2], "
             "%r7;\nst.global.u32 [%d2+4], %r5;");
    ck_assert_uint_eq(count("shf.l.wrap.b32"), 0);
}
END_TEST

START_TEST(wide_logic_and_rotations_are_machine_steps)
{
    static const char *const load =
        "ld.global.u64 %d3, [%d1];\nld.global.u64 %d4, [%d1+8];\nld.global.u64 %d5, [%d1+16];\n";
    char body[512];
    snprintf(body, sizeof body,
             "%snot.b64 %%d6, %%d4;\nand.b64 %%d7, %%d6, %%d5;\nxor.b64 %%d8, %%d7, "
             "%%d3;\nst.global.u64 [%%d2], %%d8;",
             load);
    assemble(body);
    ck_assert_uint_eq(count("~lop3.b64"), 1);
    ck_assert_uint_eq(count("not.b64") + count("and.b64") + count("xor.b64"), 0);
    static const char *const join[] = {"or.b64", "xor.b64", "add.s64"};
    for (size_t k = 0; k < 3; k++) {
        snprintf(body, sizeof body,
                 "%sshl.b64 %%d6, %%d3, 13;\nshr.u64 %%d7, %%d3, 51;\n%s %%d8, %%d6, "
                 "%%d7;\nst.global.u64 [%%d2], %%d8;",
                 load, join[k]);
        assemble(body);
        const unsigned turns_it =
            k == 2; /* as nvcc writes a rotation; from the other two ptxas makes shifts and logic */
        ck_assert_uint_eq(count("~shf.b64"), turns_it);
        ck_assert_uint_eq(count("shl.b64") + count("shr.u64") + count("~lea"), turns_it ? 0 : 2);
    }
    /* a sign comes in; other distances; a shifted value that is needed elsewhere */
    snprintf(body, sizeof body,
             "%sshl.b64 %%d6, %%d3, 13;\nshr.s64 %%d7, %%d3, 51;\nor.b64 %%d8, %%d6, "
             "%%d7;\nst.global.u64 [%%d2], %%d8;",
             load);
    assemble(body);
    ck_assert_uint_eq(count("~shf.b64"), 0);
    snprintf(body, sizeof body,
             "%sshl.b64 %%d6, %%d3, 13;\nshr.u64 %%d7, %%d3, 52;\nadd.s64 %%d8, %%d6, "
             "%%d7;\nst.global.u64 [%%d2], %%d8;",
             load);
    assemble(body);
    ck_assert_uint_eq(count("~shf.b64"), 0);
    snprintf(body, sizeof body,
             "%sshl.b64 %%d6, %%d3, 13;\nshr.u64 %%d7, %%d3, 51;\nor.b64 %%d8, %%d6, "
             "%%d7;\nst.global.u64 [%%d2], %%d8;\nst.global.u64 [%%d2+8], %%d7;",
             load);
    assemble(body);
    ck_assert_uint_eq(count("~shf.b64"), 0);
}
END_TEST

START_TEST(what_counts_is_a_sum_and_a_guarded_copy)
{
    static const char *const load =
        "ld.global.u32 %r3, [%d1];\nld.global.u32 %r4, [%d1+4];\nsetp.lt.u32 %p1, %r3, "
        "%r4;\nsetp.lt.u32 %p2, %r4, 9;\n";
    char body[512];
    snprintf(body, sizeof body,
             "%sselp.u32 %%r5, 1, 0, %%p1;\nadd.s32 %%r6, %%r3, %%r5;\nselp.u32 %%r7, 1, 0, "
             "%%p2;\nadd.s32 %%r8, %%r6, %%r7;\nst.global.u32 [%%d2], %%r8;",
             load);
    assemble(body);
    ck_assert_uint_eq(count("selp") + count("~iadd3"), 0);
    ck_assert_uint_eq(count("add.s32"), 2);
    ck_assert_uint_eq(count("@!P0 ~mov.b32") + count("@!P1 ~mov.b32"), 2);
    snprintf(body, sizeof body,
             "%sselp.u32 %%r5, 5, 3, %%p1;\nadd.s32 %%r6, %%r3, %%r5;\nst.global.u32 [%%d2], %%r6;",
             load);
    assemble(body);
    ck_assert_uint_eq(count("selp"), 0);
    ck_assert_uint_eq(count("add.s32"), 2);
    /* a bound takes the other sum (ptxas 13.0), or none */
    snprintf(body, sizeof body,
             "%sselp.u32 %%r5, 1, 0, %%p1;\nadd.s32 %%r6, %%r3, %%r5;\nadd.s32 %%r7, %%r4, "
             "1;\nmin.s32 %%r8, %%r6, %%r7;\nst.global.u32 [%%d2], %%r8;",
             load);
    assemble(body);
    ck_assert_uint_eq(count("selp"), 0);
    ck_assert_uint_eq(count("~addmax"), 1);
    snprintf(body, sizeof body,
             "%sselp.u32 %%r5, 1, 0, %%p1;\nadd.s32 %%r6, %%r3, %%r5;\nmin.s32 %%r8, %%r6, "
             "%%r4;\nst.global.u32 [%%d2], %%r8;",
             load);
    assemble(body);
    ck_assert_uint_eq(count("selp") + count("~addmax"), 0);
    /* something else than a number, another reader, a difference */
    static const char *const kept[] = {
        "selp.u32 %r5, %r4, 0, %p1;\nadd.s32 %r6, %r3, %r5;",
        "selp.u32 %r5, 1, 0, %p1;\nadd.s32 %r6, %r3, %r5;\nst.global.u32 [%d2+4], %r5;",
        "selp.u32 %r5, 1, 0, %p1;\nsub.s32 %r6, %r3, %r5;"};
    for (size_t k = 0; k < 3; k++) {
        snprintf(body, sizeof body, "%s%s\nst.global.u32 [%%d2], %%r6;", load, kept[k]);
        assemble(body);
        ck_assert_uint_eq(count("selp"), 1);
    }
}
END_TEST

/* Products, sums and products with sums of f32 that are left. */
static void arithmetic(const char *body, unsigned products, unsigned sums, unsigned both)
{
    char text[2048];
    snprintf(text, sizeof text,
             "ld.global.f32 %%f1, [%%d1];\nld.global.f32 %%f2, [%%d1+4];\nld.global.f32 %%f3, "
             "[%%d1+8];\nld.global.f32 %%f4, [%%d1+12];\n"
             "setp.gt.f32 %%p1, %%f1, 0f00000000;\n%s",
             body);
    assemble(text);
    ck_assert_msg(count("mul.f32") == products && count("add.f32") + count("sub.f32") == sums &&
                      count("fma.rn.f32") + count("~fms.f32") + count("~fnma.f32") == both,
                  "%s\n%s", text, listing);
}

/* What ptxas 13.0 makes of the same lines for sm_90. */
START_TEST(products_go_into_sums)
{
#define KEEP(reg, at) "st.global.f32 [%d2+" #at "], %f" #reg ";\n"
#define PRODUCT       "mul.f32 %f5, %f1, %f2;\n"
#define SUM           "add.f32 %f6, %f5, %f3;\n" KEEP(6, 0)
#define APART         "@%p1 bra L;\n" KEEP(4, 64) "bar.sync 0;\n" KEEP(4, 68) "L:\n"
    static const struct {
        const char *body;
        unsigned products, sums, both;
    } cases[] = {
        {PRODUCT SUM, 0, 0, 1},
        {PRODUCT SUM "sub.f32 %f7, %f5, %f4;\n" KEEP(7, 4), 0, 0, 2},
        {PRODUCT SUM KEEP(5, 4), 1, 1, 0}, /* another reader */
        {PRODUCT SUM "mul.f32 %f7, %f3, %f4;\nsub.f32 %f8, %f5, %f7;\n" KEEP(8, 4), 1, 1,
         1}, /* the sum has something better */
        {PRODUCT "mul.f32 %f7, %f3, %f4;\nadd.f32 %f8, %f5, %f7;\n" KEEP(8, 0) KEEP(5, 4), 1, 0, 1},
        {PRODUCT "mul.f32 %f7, %f3, %f4;\nsub.f32 %f8, %f5, %f7;\nadd.f32 %f9, %f7, %f5;\n" KEEP(
             8, 0) KEEP(9, 4),
         1, 0, 2},
        {PRODUCT APART SUM, 1, 1, 0},
        {PRODUCT SUM APART "add.f32 %f7, %f5, %f4;\n" KEEP(7, 4), 1, 2, 0},
        {"mul.f32 %f5, %f1, 0f411CF5C3;\n" APART SUM, 0, 0, 1},
        {"cvt.rn.f32.u32 %f10, %r1;\nmul.f32 %f5, %f1, %f10;\n" APART SUM, 1, 1, 0},
        {"mov.b32 %f10, %r1;\nmul.f32 %f5, %f1, %f10;\n" APART SUM, 0, 0, 1}, /* a parameter */
        {PRODUCT "bra L;\nL:\n" SUM, 0, 0, 1},
        {PRODUCT "bar.sync 0;\n" SUM, 0, 0, 1},
        {PRODUCT "membar.gl;\n" SUM, 1, 1, 0},
        {PRODUCT "fence.proxy.async;\n" SUM, 0, 0, 1},
        {PRODUCT "div.rn.f32 %f9, %f3, %f4;\n" KEEP(9, 8) SUM, 1, 1, 0},
        {PRODUCT "div.full.f32 %f9, %f3, %f4;\n" KEEP(9, 8) SUM, 0, 0, 1},
        {PRODUCT "@%p1 st.global.f32 [%d2+8], %f4;\n" SUM, 1, 1, 0},
        {PRODUCT "@%p1 mov.f32 %f4, %f3;\n" KEEP(4, 8) SUM, 0, 0, 1},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        arithmetic(cases[k].body, cases[k].products, cases[k].sums, cases[k].both);
}
END_TEST

/* ptxas 13.0 does it for halves and bf16 as well, one and two at a time. */
START_TEST(differences_of_halves_take_products)
{
    static const char *const types[] = {"f16", "f16x2", "bf16", "bf16x2"};
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        const char *const r = k % 2 ? "r" : "h", *const t = types[k],
                          *const load = k % 2 ? "b32" : "b16";
        char body[1024], name[32];
        snprintf(body, sizeof body,
                 ".reg .b16 %%h<16>;\nld.global.%s %%%s3, [%%d1];\nld.global.%s %%%s4, "
                 "[%%d1+4];\nld.global.%s %%%s5, [%%d1+8];\n"
                 "mul.%s %%%s6, %%%s3, %%%s4;\nsub.%s %%%s7, %%%s6, %%%s5;\nmul.%s %%%s8, %%%s5, "
                 "%%%s4;\nsub.%s %%%s9, %%%s3, %%%s8;\n"
                 "st.global.%s [%%d2], %%%s7;\nst.global.%s [%%d2+4], %%%s9;",
                 load, r, load, r, load, r, t, r, r, r, t, r, r, r, t, r, r, r, t, r, r, r, load, r,
                 load, r);
        assemble(body);
        ck_assert_msg(count("mul.") + count(" sub.") == 0, "%s\n%s", t, listing);
        snprintf(name, sizeof name, "~fms.%s ", t);
        ck_assert_uint_eq(count(name), 1);
        snprintf(name, sizeof name, "~fnma.%s ", t);
        ck_assert_uint_eq(count(name), 1);
    }
}
END_TEST
/* Counts of ptxas 13.0 for sm_90a: what a wider access tells of its address, where it tells it, and
 * what keeps words apart. */
START_TEST(wider_accesses_tell_how_global_words_are_aligned)
{
    static const char *const load =
        "mul.wide.u32 %d3, %r2, 4;\nadd.s64 %d4, %d2, %d3;\nadd.s64 %d5, %d1, %d3;\n"
        "ld.global.f32 %f1, [%d5];\nld.global.f32 %f2, [%d5+64];\nld.global.f32 %f3, "
        "[%d5+128];\nld.global.f32 %f4, [%d5+192];\n";
    static const struct {
        const char *body;
        unsigned accesses;
    } cases[] = {
        {"st.global.f32 [%d4], %f1;\nst.global.f32 [%d4+4], %f2;\n", 2},
        {"st.global.f32 [%d4], %f1;\nst.global.f32 [%d4+4], %f2;\nst.global.v2.f32 [%d4+32], {%f3, "
         "%f4};\n",
         2},
        {"st.global.v2.f32 [%d4+32], {%f3, %f4};\nst.global.f32 [%d4+4], %f2;\nst.global.f32 "
         "[%d4], %f1;\n",
         2},
        {"st.global.f32 [%d4], %f1;\nst.global.f32 [%d4+4], %f2;\nst.global.v2.f32 [%d4+36], {%f3, "
         "%f4};\n",
         3},
        {"st.global.f32 [%d4], %f1;\nst.global.f32 [%d4+4], %f2;\nst.global.f32 [%d4+8], "
         "%f3;\nst.global.f32 [%d4+12], %f4;\nst.global.v2.f32 [%d4+32], {%f3, %f4};\n",
         3},
        {"st.global.f32 [%d4], %f1;\nst.global.f32 [%d4+4], %f2;\nst.global.f32 [%d4+8], "
         "%f3;\nst.global.f32 [%d4+12], %f4;\nst.global.v4.f32 [%d4+32], {%f3, %f4, %f1, %f2};\n",
         2},
        {"st.global.v2.f32 [%d4+32], {%f3, %f4};\nst.global.f32 [%d4], %f1;\nst.global.f32 "
         "[%d4+16], %f1;\nst.global.f32 [%d4+4], %f2;\n",
         4},
        {"st.global.v2.f32 [%d4+32], {%f3, %f4};\nst.global.f32 [%d4], %f1;\nbar.sync "
         "0;\nst.global.f32 [%d4+4], %f2;\n",
         3},
        {"setp.eq.u32 %p1, %r2, 0;\nst.global.f32 [%d4], %f1;\nst.global.f32 [%d4+4], %f2;\n@%p1 "
         "exit;\nst.global.v2.f32 [%d4+32], {%f3, %f4};\n",
         3},
        {"setp.eq.u32 %p1, %r2, 0;\nst.global.v2.f32 [%d4+32], {%f3, %f4};\n@%p1 "
         "exit;\nst.global.f32 [%d4], %f1;\nst.global.f32 [%d4+4], %f2;\n",
         2},
        {"and.b64 %d4, %d4, -8;\nst.global.f32 [%d4], %f1;\nst.global.f32 [%d4+4], "
         "%f2;\nst.global.f32 [%d4+12], %f3;\nst.global.f32 [%d4+16], %f4;\n",
         3},
        {"add.s64 %d4, %d4, %d3;\nst.global.v2.f32 [%d4], {%f1, %f2};\nadd.s64 %d4, %d4, "
         "256;\nst.global.f32 [%d4], %f3;\nst.global.f32 [%d4+4], %f4;\n",
         2},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char body[2048];
        snprintf(body, sizeof body, "%s%s", load, cases[k].body);
        assemble(body);
        ck_assert_uint_eq(count("st.global"), cases[k].accesses);
    }
}
END_TEST

/* Counts of ptxas 13.0 for sm_90a. */
START_TEST(loads_of_what_is_known_are_copies)
{
    static const char *const address =
        "mul.wide.u32 %d3, %r2, 4;\nadd.s64 %d4, %d2, %d3;\nadd.s64 %d5, %d1, %d3;\n";
    static const char *const use = "fma.rn.f32 %f9, %f1, %f2, %f2;\nst.global.f32 [%d4], %f9;\n";
    static const struct {
        const char *between;
        unsigned loads;
    } cases[] = {
        {"", 1},
        {"st.global.f32 [%d4+4], %f1;\n", 2},
        {"st.global.f32 [%d5+4], %f1;\n", 2}, /* another place, but ptxas does not look */
        {"st.shared.f32 [s], %f1;\n", 1},
        {"st.f32 [%d4+4], %f1;\n", 2},
        {"bar.sync 0;\n", 2},
        {"bar.warp.sync -1;\n", 2},
        {"membar.cta;\n", 2},
        {"atom.global.add.u32 %r3, [%d4+64], 1;\nst.shared.u32 [s], %r3;\n", 2},
        {"atom.shared.add.u32 %r3, [s], 1;\nst.shared.u32 [s+4], %r3;\n", 1},
        {"shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1;\nst.shared.u32 [s], %r3;\n", 1},
        {"mov.u32 %r3, %clock;\nst.shared.u32 [s], %r3;\n", 1},
        {"setp.eq.u32 %p1, %r2, 0;\n@%p1 exit;\n", 1}, /* one way on */
        {"L:\nadd.u32 %r2, %r2, 3;\nsetp.lt.u32 %p1, %r2, %r1;\n@%p1 bra L;\n",
         2}, /* ways meet at L */
        {"div.rn.f32 %f5, %f1, %f1;\nst.shared.f32 [s], %f5;\n", 2},
        {"div.full.f32 %f5, %f1, %f1;\nst.shared.f32 [s], %f5;\n", 1},
        {"add.s64 %d5, %d5, 64;\n", 2},
    };
    char body[2048];
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        snprintf(body, sizeof body,
                 "%sld.global.f32 %%f1, [%%d5];\n%sld.global.f32 %%f2, [%%d5];\n%s", address,
                 cases[k].between, use);
        assemble(body);
        ck_assert_uint_eq(count("ld.global"), cases[k].loads);
    }
    static const struct {
        const char *body;
        unsigned loads;
    } others[] = {
        {"ld.global.f32 %f1, [%d5];\nld.global.u32 %r3, [%d5];\nmov.b32 %f2, %r3;\n",
         1}, /* any type of one length */
        {"ld.global.f32 %f1, [%d5];\nld.global.cs.f32 %f2, [%d5];\n",
         2}, /* but not of another cache operator */
        {"ld.global.f32 %f1, [%d5];\nld.global.nc.f32 %f2, [%d5];\n", 2},
        {"ld.global.nc.f32 %f1, [%d5];\nbar.sync 0;\nld.global.nc.f32 %f2, [%d5];\n",
         1}, /* nobody writes it */
        {"ld.volatile.global.f32 %f1, [%d5];\nld.volatile.global.f32 %f2, [%d5];\n", 2},
        {"ld.global.v2.f32 {%f1, %f3}, [%d5];\nld.global.f32 %f2, [%d5+4];\n", 1},
        {"cvt.rn.f32.u32 %f1, %r2;\nst.global.f32 [%d5], %f1;\nld.global.f32 %f2, [%d5];\n",
         0}, /* what was stored */
        {"cvt.rn.f32.u32 %f1, %r2;\nst.global.f32 [%d5], %f1;\nst.global.f32 [%d5+4], "
         "%f1;\nld.global.f32 %f2, [%d5];\n",
         1},
        {"cvt.rn.f32.u32 %f1, %r2;\nst.shared.f32 [s], %f1;\nst.global.f32 [%d5+4], "
         "%f1;\nld.shared.f32 %f2, [s];\n",
         0},
    };
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        snprintf(body, sizeof body, "%s%s%s", address, others[k].body, use);
        assemble(body);
        ck_assert_uint_eq(count("ld.global") + count("ld.volatile") + count("ld.shared"),
                          others[k].loads);
    }
}
END_TEST

START_TEST(constant_vectors_take_uniform_registers)
{
    assemble("dp4a.s32.s32 %r3, %r2, 0x01020304, 0;\ndp4a.s32.s32 %r3, %r2, 0x01020305, "
             "%r3;\ndp4a.s32.s32 %r3, %r2, 0x01020304, %r3;\nst.global.u32 [%d2], %r3;");
    ck_assert_uint_eq(count("~umov.b32"), 2);
    ck_assert_uint_eq(count("~mov"), 0);
}
END_TEST

START_TEST(product_and_sum_are_one)
{
    assemble("mul.wide.u32 %d3, %r2, 4;\nadd.s64 %d4, %d1, %d3;\nadd.s64 %d5, %d2, "
             "%d3;\nld.global.f32 %f1, [%d4];\nst.global.f32 [%d5], %f1;");
    ck_assert_uint_eq(count("mad.wide.u32"), 2);
    ck_assert_uint_eq(count("mul.wide"), 0);
    ck_assert_uint_eq(count("add"), 0);
}
END_TEST

START_TEST(loops_keep_the_alignment_of_their_steps)
{
    assemble("mov.u32 %r3, s;\nmov.u32 %r4, 0;\nmov.f32 %f5, 0f00000000;\nL:\n"
             "ld.shared.f32 %f1, [%r3];\nld.shared.f32 %f2, [%r3+4];\nld.shared.f32 %f3, "
             "[%r3+8];\nld.shared.f32 %f4, [%r3+12];\n"
             "add.f32 %f5, %f5, %f1;\nadd.f32 %f5, %f5, %f2;\nadd.f32 %f5, %f5, %f3;\nadd.f32 %f5, "
             "%f5, %f4;\n"
             "add.u32 %r3, %r3, 16;\nadd.u32 %r4, %r4, 1;\nsetp.ne.u32 %p1, %r4, %r1;\n@%p1 bra "
             "L;\nst.global.f32 [%d2], %f5;");
    ck_assert_uint_eq(count("ld.shared.v4"), count("ld.shared"));
    ck_assert_uint_ge(count("ld.shared.v4"), 1);
    assemble("mov.u32 %r3, s;\nmov.u32 %r4, 0;\nmov.f32 %f5, 0f00000000;\nL:\n"
             "ld.shared.f32 %f1, [%r3];\nld.shared.f32 %f2, [%r3+4];\n"
             "add.f32 %f5, %f5, %f1;\nadd.f32 %f5, %f5, %f2;\n"
             "add.u32 %r3, %r3, 12;\nadd.u32 %r4, %r4, 1;\nsetp.ne.u32 %p1, %r4, %r1;\n@%p1 bra "
             "L;\nst.global.f32 [%d2], %f5;");
    ck_assert_uint_eq(count("ld.shared.v"), 0);
}
END_TEST

/* Kernels with tables of constants, ptxas 13.0 -O3 for sm_90a (2026-11): how many LDC read at an
 * index. */
START_TEST(neighbouring_constants_are_read_in_pairs)
{
    static const struct {
        const char *scale, *loads;
        unsigned reads;
    } cases[] = {
        {"8", "ld.const.f32 %f1, [%d5];\nld.const.f32 %f2, [%d5+4];\n", 1},
        {"8", "ld.const.f32 %f1, [%d5+4];\nld.const.f32 %f2, [%d5];\n", 1},
        {"8", "ld.const.f32 %f1, [%d5+4];\nld.const.f32 %f2, [%d5+8];\n", 2},
        {"8",
         "ld.const.f32 %f1, [%d5];\nbar.sync 0;\nst.global.f32 [%d2+64], %f1;\nld.const.f32 %f2, "
         "[%d5+4];\n",
         1}, /* nobody writes them */
        {"4", "ld.const.f32 %f1, [%d5];\nld.const.f32 %f2, [%d5+4];\n", 2},
        {"12", "ld.const.f32 %f1, [%d5];\nld.const.f32 %f2, [%d5+4];\n", 2},
        {"16",
         "ld.const.f32 %f1, [%d5];\nld.const.f32 %f2, [%d5+4];\nld.const.f32 %f3, "
         "[%d5+8];\nld.const.f32 %f4, [%d5+12];\n"
         "add.f32 %f1, %f1, %f3;\nadd.f32 %f2, %f2, %f4;\n",
         2},
    };
    char body[1024];
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        snprintf(body, sizeof body,
                 "mov.u64 %%d3, c;\nmul.wide.s32 %%d4, %%r2, %s;\nadd.s64 %%d5, %%d3, "
                 "%%d4;\n%sst.global.v2.f32 [%%d2], {%%f1, %%f2};",
                 cases[k].scale, cases[k].loads);
        assemble(body);
        ck_assert_uint_eq(count("ld.const"), cases[k].reads);
    }
}
END_TEST

START_TEST(long_doubles_go_into_uniform_registers)
{
    assemble(
        "ld.global.f64 %d3, [%d1];\nfma.rn.f64 %d4, %d3, 0d3fb999999999999a, 0d3ff0000000000000;\n"
        "mul.rn.f64 %d5, %d4, 0d3fb999999999999a;\nadd.rn.f64 %d6, %d5, "
        "0d4008000000000000;\nst.global.f64 [%d2], %d6;");
    ck_assert_uint_eq(count("~umov"), 1);
    ck_assert_uint_eq(count("~mov"), 0);
}
END_TEST

START_TEST(atomics_behind_a_parameter_share_a_sum)
{
    const char *arms = "and.b32 %r3, %r2, 31;\nsetp.ne.s32 %p1, %r3, 0;\n@%p1 bra "
                       "A;\nred.global.add.u32 [%d1+64], %r2;\nA:\nbar.warp.sync -1;\n"
                       "@%p1 bra B;\nred.global.add.u32 [%d1+72], %r1;\nB:\nbar.warp.sync "
                       "-1;\n@%p1 bra C;\nred.global.add.u32 [%d1], %r1;\nC:\nbar.warp.sync -1;";
    assemble(arms);
    ck_assert_uint_eq(count("red.global"), 3);
    ck_assert_uint_eq(count("add.s64"), 1); /* in front of all */
    ck_assert_uint_eq(count("+8]"), 1);
    assemble("ld.global.u32 %r3, [%d1+64];\nst.global.u32 [%d1+72], %r3;");
    ck_assert_uint_eq(count("add.s64"), 0);
}
END_TEST

START_TEST(chains_are_selected)
{
    assemble("mul.lo.u32 %r3, %r2, %r1;\nadd.u32 %r4, %r3, %r1;\n"
             "shl.b32 %r5, %r2, 3;\nadd.u32 %r6, %r5, %r4;\n"
             "add.u32 %r7, %r1, %r2;\nadd.u32 %r8, %r7, %r6;\n"
             "and.b32 %r9, %r8, %r1;\nxor.b32 %r10, %r9, %r2;\n"
             "st.global.u32 [%d1], %r10;");
    ck_assert_uint_eq(count("mad.lo.u32"), 1);
    ck_assert_uint_eq(count("~lea.u32"), 1);
    ck_assert_uint_eq(count("~iadd3.u32"), 1);
    ck_assert_uint_eq(count("lop3.b32"), 1);
    ck_assert_uint_eq(count("and.b32"), 0);
    ck_assert_uint_eq(count("xor.b32"), 0);
}
END_TEST

START_TEST(constants_are_folded)
{
    assemble("mov.u32 %r3, 5;\nadd.u32 %r4, %r3, 7;\nshl.b32 %r5, %r4, 2;\nmul.lo.u32 %r6, %r2, "
             "8;\nadd.u32 %r7, %r6, 0;\n"
             "add.u32 %r8, %r7, %r5;\nadd.u32 %r9, %r8, -40;\nst.global.u32 [%d1+4], %r9;");
    ck_assert_ptr_nonnull(strstr(listing, "~lea.u32"));
    ck_assert_uint_eq(count("3, #8"), 1); /* x << 3, and ((5 + 7) << 2) - 40 */
    ck_assert_uint_eq(count("mul"), 0);
    /* a product of numbers in a sum, also of 64 bits */
    assemble("mov.u32 %r3, 3;\nmad.lo.s32 %r4, %r3, 32, %r2;\nmad.wide.s32 %d3, %r3, 4, "
             "%d1;\nst.global.u32 [%d3], %r4;");
    ck_assert_uint_eq(count("mad"), 0);
    ck_assert_ptr_nonnull(strstr(listing, "R0:1+12]"));
}
END_TEST

START_TEST(equal_values_are_computed_once)
{
    assemble("mul.hi.u32 %r3, %r2, %r1;\nmul.hi.u32 %r4, %r2, %r1;\nst.global.u32 [%d1], "
             "%r3;\nst.global.u32 [%d2], %r4;");
    ck_assert_uint_eq(count("mul.hi"), 1);
    /* also the halves of a word, and the word that halves make */
    assemble(".reg .b16 %h<9>;\nld.global.b32 %r3, [%d1];\nmov.b32 {%h1, %h2}, %r3;\ncvt.f32.f16 "
             "%f1, %h2;\nst.global.f32 [%d1], %f1;\nbar.sync 0;\n"
             "mov.b32 {%h3, %h4}, %r3;\ncvt.f32.f16 %f2, %h4;\ncvt.f32.f16 %f3, %h3;\nadd.f32 %f1, "
             "%f2, %f3;\nst.global.f32 [%d1+4], %f1;\n"
             "mov.b32 %r4, {%h2, %h1};\nmov.b32 %r5, {%h4, %h3};\nadd.u32 %r4, %r4, "
             "%r5;\nst.global.u32 [%d1+8], %r4;");
    ck_assert_uint_eq(count("cvt.f32.f16"), 2);
    ck_assert_uint_eq(count("mov.b32"), 2);
}
END_TEST

/* As ptxas 13.0 does for sm_90 (2026-11): MOV, IMAD.MOV or HFMA2.MMA in front of the access. */
START_TEST(vectors_stand_in_neighbouring_registers)
{
    const char *loads = "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%d1];\nld.global.v4.f32 {%f5, "
                        "%f6, %f7, %f8}, [%d2];\n";
    static const struct {
        const char *rest;
        unsigned copies;
    } seats[] = {
        {"st.global.v4.f32 [%d1+64], {%f1, %f2, %f3, %f4};", 0},
        {"st.global.v4.f32 [%d1+64], {%f4, %f3, %f2, %f1};", 4},
        {"st.global.v2.f32 [%d1+64], {%f3, %f4};", 0},
        {"st.global.v4.f32 [%d1+64], {%f1, %f2, %f5, %f6};\nst.global.v4.f32 [%d1+80], {%f3, %f4, "
         "%f7, %f8};",
         6},
        {"st.global.v4.f32 [%d1+64], {%f1, %f5, %f2, %f6};\nst.global.v4.f32 [%d1+80], {%f3, %f7, "
         "%f4, %f8};",
         8},
        {"add.f32 %f9, %f1, %f5;\nst.global.v4.f32 [%d1+64], {%f9, %f2, %f3, %f4};",
         0}, /* where %f1 was */
        {"add.f32 %f9, %f1, %f5;\nadd.f32 %f10, %f2, %f6;\nst.global.v2.f32 [%d1+64], {%f9, "
         "%f10};\nst.global.v2.f32 [%d1+80], {%f9, %f10};",
         0},
        {"add.f32 %f9, %f1, %f5;\nadd.f32 %f10, %f2, %f6;\nst.global.v2.f32 [%d1+64], {%f9, "
         "%f10};\nst.global.v2.f32 [%d1+80], {%f10, %f9};",
         2},
        {"add.f32 %f9, %f1, %f5;\nst.global.v4.f32 [%d1+64], {%f9, %f9, %f9, %f9};", 3},
        {"add.f32 %f9, %f1, %f5;\nst.global.v2.f32 [%d1+64], {%f9, %f9};\nst.global.v2.f32 "
         "[%d1+80], {%f9, %f9};",
         1}, /* the copy is used again */
        {"add.f32 %f9, %f1, %f5;\nagain: .pragma \"nounroll\";\nst.global.v2.f32 [%d1+64], {%f9, "
         "%f9};\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, %r2;\n@%p1 bra again;",
         0}, /* one in front of the loop, which is not made */
    };
    for (size_t k = 0; k < sizeof seats / sizeof *seats; k++) {
        char text[1024];
        snprintf(text, sizeof text, "%s%s", loads, seats[k].rest);
        assemble(text);
        ck_assert_msg(count("~mov.b32") == seats[k].copies, "%s: %u copies", seats[k].rest,
                      count("~mov.b32"));
    }
}
END_TEST

START_TEST(unused_results_disappear)
{
    assemble("mul.hi.u32 %r3, %r2, %r1;\nld.global.u32 %r4, [%d1];\nadd.u32 %r5, %r4, %r3;");
    ck_assert_uint_eq(count("mul.hi"), 0);
    ck_assert_uint_eq(count("ld.global"), 0);
    ck_assert_uint_eq(count("ld.param"), 0);
}
END_TEST

START_TEST(numbers_go_into_addresses)
{
    assemble("add.s64 %d3, %d1, 256;\nadd.s64 %d4, %d3, 16;\nld.global.u32 %r3, "
             "[%d4+4];\nst.global.u32 [%d2], %r3;");
    ck_assert_ptr_nonnull(strstr(listing, "+276]"));
    ck_assert_uint_eq(count("add"), 0);
}
END_TEST

START_TEST(one_register_for_two_values_is_split)
{
    /* %r3 holds two unrelated values; both become operands */
    assemble("mov.u32 %r3, 4;\nmul.wide.u32 %d3, %r2, %r3;\nadd.s64 %d3, %d1, %d3;\nmov.u32 %r3, "
             "9;\nst.global.u32 [%d3], %r3;");
    ck_assert_uint_eq(count("mad.wide.u32"), 1);
    ck_assert_ptr_nonnull(strstr(listing, "#4"));
}
END_TEST

START_TEST(known_rounds_are_unrolled)
{
    assemble("mov.u32 %r3, 0;\nmov.u32 %r4, 0;\nL:\nmad.lo.u32 %r4, %r4, %r1, %r2;\nadd.u32 %r3, "
             "%r3, 1;\nsetp.lt.u32 %p1, %r3, 5;\n"
             "@%p1 bra L;\nst.global.u32 [%d1], %r4;");
    ck_assert_uint_eq(count("mad.lo.u32"), 5);
    ck_assert_uint_eq(count("bra"), 0);
    /* two loops count with one register, which is set once in front of both */
    assemble("mov.u32 %r3, 0;\nmov.u32 %r4, %r2;\nsetp.gt.u32 %p2, %r2, %r1;\n@%p2 bra "
             "M;\nL:\nmad.lo.u32 %r4, %r4, %r1, %r2;\nadd.u32 %r3, %r3, 1;\n"
             "setp.lt.u32 %p1, %r3, 20;\n@%p1 bra L;\nbra OUT;\nM:\nmul.lo.u32 %r5, %r4, "
             "%r1;\nxor.b32 %r4, %r5, %r3;\nadd.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 20;\n"
             "@%p1 bra M;\nOUT:\nst.global.u32 [%d1], %r4;");
    ck_assert_uint_eq(count("mad.lo.u32"), 20);
    ck_assert_uint_eq(count("mul.lo.u32"), 20);
    /* not where one of them goes on from what the other has counted */
    assemble("mov.u32 %r3, 0;\nmov.u32 %r4, %r2;\nL:\nmad.lo.u32 %r4, %r4, %r1, %r2;\nadd.u32 %r3, "
             "%r3, 1;\nsetp.lt.u32 %p1, %r3, %r1;\n@%p1 bra L;\n"
             "M:\nmul.lo.u32 %r5, %r4, %r1;\nxor.b32 %r4, %r5, %r3;\nadd.u32 %r3, %r3, "
             "1;\nsetp.lt.u32 %p1, %r3, 20;\n@%p1 bra M;\nst.global.u32 [%d1], %r4;");
    ck_assert_uint_lt(count("mul.lo.u32"), 20);
}
END_TEST

/* A loop of `rounds` (a register or a number), which compares with `test`, around `n`
 * multiplications and `more`. */
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

START_TEST(counted_loops_run_four_rounds_at_once)
{
    ck_assert_uint_eq(copies_of("lt.s32", "%r1", 1, ""), 4 + 2 + 1);
    ck_assert_uint_eq(copies_of("lt.u32", "%r1", 1, ""), 4 + 2 + 1 + 1);
    ck_assert_uint_eq(copies_of("ne.u32", "%r1", 1, ""), 4 + 2 + 1);
    /* a first round that may be beyond the bound, from any number */
    assemble("mov.u32 %r3, %r2;\nmov.u32 %r4, 0;\nL:\nmad.lo.u32 %r4, %r4, %r1, %r2;\nadd.u32 %r3, "
             "%r3, 1;\nsetp.lt.u32 %p1, %r3, %r1;\n@%p1 bra L;\n"
             "st.global.u32 [%d1], %r4;");
    ck_assert_uint_eq(count("mad.lo.u32"), 4 + 2 + 1 + 1);
}
END_TEST

/* Around an arm that only some lanes execute, as ptxas 13.0 does it for sm_90 (2026-11): the
 * counter must change in the block of the compare, if only by a copy. */
START_TEST(counters_change_where_they_are_compared)
{
    static const struct {
        const char *first, *last;
        bool unrolled;
    } forms[] = {
        {"", "add.s32 %r3, %r3, 1;\nsetp.lt.s32 %p1, %r3, %r1;\n", true},
        {"add.s32 %r3, %r3, 1;\n", "setp.lt.s32 %p1, %r3, %r1;\n", false},
        {"add.s32 %r10, %r3, 1;\n", "setp.lt.s32 %p1, %r10, %r1;\nmov.u32 %r3, %r10;\n", true},
        {"add.s32 %r10, %r3, 1;\n", "mov.u32 %r3, %r10;\nsetp.lt.s32 %p1, %r10, %r1;\n", true},
        {"", "add.s32 %r10, %r3, 1;\nmov.u32 %r3, %r10;\nsetp.lt.s32 %p1, %r3, %r1;\n", true}};
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
        char body[1024];
        snprintf(
            body, sizeof body,
            "mov.u32 %%r3, 0;\nmov.u32 %%r4, %%r2;\nL:\n%ssetp.gt.u32 %%p2, %%r4, %%r5;\n@%%p2 bra "
            "SKIP;\nmad.lo.u32 %%r4, %%r4, %%r1, %%r3;\nbrev.b32 %%r4, %%r4;\nSKIP:\n"
            "%s@%%p1 bra L;\nst.global.v2.u32 [%%d1], {%%r4, %%r3};",
            forms[k].first, forms[k].last);
        assemble(body);
        ck_assert_uint_eq(count("brev.b32"), forms[k].unrolled ? 4 + 2 + 1 : 1);
    }
}
END_TEST

/* Loops of 16 rounds or of a number that is not known, with another way out, or that go on while
 * something else holds, too, as ptxas 13.0 does it (2026-11). */
START_TEST(loops_with_several_ways_out_are_written_out)
{
    static const struct {
        const char *first, *last;
        bool unrolled;
    } forms[] = {
        {"setp.gt.u32 %p2, %r4, %r5;\n@%p2 bra OUT;\n", "@%p1 bra L;\n", true},
        {"", "setp.gt.u32 %p2, %r4, %r5;\nand.pred %p3, %p1, %p2;\n@%p3 bra L;\n", true},
        {"", "setp.gt.u32 %p2, %r4, %r5;\nor.pred %p3, %p1, %p2;\n@%p3 bra L;\n", false},
        {"setp.gt.u32 %p2, %r4, %r5;\n",
         "and.pred %p3, %p1, %p2;\nnot.pred %p3, %p3;\n@!%p3 bra L;\n", true},
        {"setp.gt.u32 %p2, %r4, %r5;\nsetp.lt.u32 %p4, %r4, 77;\nor.pred %p2, %p2, %p4;\n",
         "and.pred %p3, %p2, %p1;\n@%p3 bra L;\n", false},
        {"", "vote.sync.any.pred %p2, %p1, -1;\nand.pred %p3, %p1, %p2;\n@%p3 bra L;\n", false}};
    for (size_t k = 0; k < 2 * sizeof forms / sizeof *forms; k++) {
        char body[1024];
        snprintf(
            body, sizeof body,
            "mov.u32 %%r3, 0;\nmov.u32 %%r4, %%r2;\nL:\n%smad.lo.u32 %%r4, %%r4, %%r1, "
            "%%r3;\nbrev.b32 %%r4, %%r4;\nadd.s32 %%r3, %%r3, 1;\nsetp.lt.s32 %%p1, %%r3, %s;\n%s"
            "OUT:\nst.global.v2.u32 [%%d1], {%%r4, %%r3};",
            forms[k / 2].first, k % 2 ? "%r1" : "16", forms[k / 2].last);
        assemble(body);
        ck_assert_msg(count("brev.b32") == (forms[k / 2].unrolled && k % 2 == 0 ? 16 : 1),
                      "%u copies: %s%s", count("brev.b32"), forms[k / 2].first, forms[k / 2].last);
    }
}
END_TEST

/* How long a body may be, as ptxas 13.0 does it for sm_90 (2026-11). */
START_TEST(bodies_are_unrolled_up_to_a_length)
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
    ck_assert_uint_gt(copies_of("lt.s32", "%r1", 20, far), 1); /* the distance counts */
    ck_assert_uint_eq(copies_of("lt.s32", "%r1", 21, far), 1);
    ck_assert_uint_gt(copies_of("lt.s32", "%r1", 16, store), 1);
    ck_assert_uint_eq(copies_of("lt.s32", "%r1", 17, store), 1);
    ck_assert_uint_gt(copies_of("lt.s32", "%r1", 2, bar), 1); /* a parameter: the same for all */
    ck_assert_uint_eq(copies_of("lt.s32", "%r9", 2, bar), 1);
    ck_assert_uint_gt(copies_of("lt.s32", "%r9", 2, load), 1);
    /* counted down from what is the same for all, or is not */
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

/* What instructions that are several of the machine's, or none, add to the length of a body, as
 * ptxas 13.0 has it for sm_90 (2026-11). */
START_TEST(bodies_have_a_price)
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
        ck_assert_msg(copies_of("lt.s32", "%r1", 43 - cases[k].price, more) > 1, "%s is cheaper",
                      cases[k].text);
        ck_assert_msg(copies_of("lt.s32", "%r1", 44 - cases[k].price, more) == 1, "%s is dearer",
                      cases[k].text);
    }
}
END_TEST

/* All rounds of a known number, or as many as fill the loop with what is in front of it. */
START_TEST(known_rounds_are_divided)
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

/* What is a number in each round costs nothing where rounds are written out, and allows longer
 * ones, as ptxas 13.0 does it for sm_90 (2026-11). */
START_TEST(what_the_counter_tells_is_saved)
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
    ck_assert_uint_eq(copies_of("lt.s32", "16", 40, branch), 16); /* which is no branch any more */
    ck_assert_uint_eq(count("bra") + count("setp"), 0);
    /* so is what a variable becomes that starts with a number, whatever is computed of it, but not
     * one that starts with something else */
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
    /* bytes divided by seven, in 16 bits: numbers */
    const char *sevenths =
        ".reg .b16 %h<8>;\ncvt.u16.u32 %h1, %r3;\nand.b16 %h2, %h1, 255;\nmul.wide.u16 %r14, %h2, "
        "9363;\nshr.u32 %r15, %r14, 16;\ncvt.u16.u32 %h3, %r15;\n"
        "sub.s16 %h4, %h2, %h3;\nshr.u16 %h5, %h4, 1;\nadd.s16 %h6, %h5, %h3;\nshr.u16 %h7, %h6, "
        "2;\ncvt.u32.u16 %r16, %h7;\nadd.u32 %r6, %r6, %r16;";
    ck_assert_uint_eq(copies_of("lt.s32", "16", 52, sevenths), 16);
    ck_assert_uint_eq(count("shr") + count("mul") + count("cvt"), 0);
    /* a variable that starts with what is computed of a number */
    assemble("mov.u32 %r3, 3;\nmul.lo.u32 %r12, %r3, 5;\nmov.u32 %r6, %r2;\nL:\nxor.b32 %r6, %r6, "
             "%r12;\nadd.u32 %r6, %r6, %r1;\nadd.u32 %r3, %r3, 1;\nshl.b32 %r12, %r3, %r12;\n"
             "setp.lt.u32 %p1, %r3, 9;\n@%p1 bra L;\nst.global.u32 [%d1], %r6;");
    ck_assert_uint_eq(count("bra") + count("shl"), 0);
    /* the more of a round is saved, the more all rounds may come to: ptxas 13.0 writes out 164 and
     * 78 beside 49 that are */
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

/* Both loops of a nest, where what the inner one leaves fits. */
START_TEST(loops_in_loops_are_written_out)
{
    assemble(
        "mov.u32 %r4, 0;\nmov.u32 %r3, 0;\nO:\nmov.u32 %r5, 0;\nI:\nmad.lo.u32 %r4, %r4, %r1, "
        "%r2;\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 3;\n@%p1 bra I;\n"
        "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p2, %r3, 4;\n@%p2 bra O;\nst.global.u32 [%d1], %r4;");
    ck_assert_uint_eq(count("mad.lo.u32"), 12);
    ck_assert_uint_eq(count("bra"), 0);
}
END_TEST

/* What a body costs that only some lanes execute, and that such a body is not unrolled with a
 * barrier, as ptxas 13.0 does it for sm_90 (2026-11). */
START_TEST(bodies_that_only_some_execute_cost_more)
{
    const char *some = "setp.eq.u32 %p2, %r6, 9;\n@%p2 bra SKIP;\nadd.u32 %r9, %r9, "
                       "%r6;\nSKIP:\nxor.b32 %r6, %r6, %r9;\n";
    char barrier[256];
    snprintf(barrier, sizeof barrier, "bar.sync 0;\n%s", some);
    ck_assert_uint_gt(copies_of("lt.s32", "%r1", 14, some), 1);
    ck_assert_uint_eq(copies_of("lt.s32", "%r1", 15, some), 1);
    ck_assert_uint_eq(copies_of("lt.s32", "%r1", 2, barrier), 1);
    ck_assert_uint_eq(copies_of("lt.s32", "8", 2, barrier), 8);
}
END_TEST

/* A load that has to wait for a store of the round before, which waits for a load: not unrolled
 * where lanes may do different numbers of rounds, unless the store moves on by a number or
 * something can be loaded meanwhile, as ptxas 13.0 does it for sm_90 (2026-11). */
START_TEST(loops_that_wait_for_themselves_are_left)
{
    const char *fixed =
        "ld.global.u32 %r5, [%d1];\nadd.u32 %r5, %r5, %r1;\nst.global.u32 [%d2], %r5;";
    const char *moves = "ld.global.u32 %r5, [%d1];\nadd.u32 %r5, %r5, %r1;\nst.global.u32 [%d2], "
                        "%r5;\nadd.s64 %d2, %d2, 64;";
    const char *by_some = "ld.global.u32 %r5, [%d1];\nadd.u32 %r5, %r5, %r1;\nst.global.u32 [%d2], "
                          "%r5;\nadd.s64 %d2, %d2, %d3;";
    const char *other =
        "ld.global.u32 %r5, [%d1];\nst.global.u32 [%d2], %r6;\nxor.b32 %r9, %r9, %r5;";
    const char *meanwhile = "ld.global.u32 %r5, [%d1];\nst.global.u32 [%d2], %r5;\nld.shared.u32 "
                            "%r7, [%r2];\nxor.b32 %r6, %r6, %r7;";
    const char *two_places = "ld.global.u32 %r5, [%d1];\nst.shared.u32 [%r2], %r5;",
               *shared =
                   "ld.shared.u32 %r5, [%r2];\nadd.u32 %r5, %r5, 1;\nst.shared.u32 [%r2], %r5;";
    ck_assert_uint_gt(copies_of("lt.s32", "%r1", 2, fixed), 1);
    ck_assert_uint_eq(copies_of("lt.s32", "%r2", 2, fixed), 1);
    ck_assert_uint_gt(copies_of("lt.s32", "%r2", 2, moves), 1);
    ck_assert_uint_eq(copies_of("lt.s32", "%r2", 2, by_some), 1);
    ck_assert_uint_gt(copies_of("lt.s32", "%r2", 2, other), 1);
    ck_assert_uint_gt(copies_of("lt.s32", "%r2", 2, meanwhile), 1);
    ck_assert_uint_gt(copies_of("lt.s32", "%r2", 2, two_places), 1);
    ck_assert_uint_eq(copies_of("lt.s32", "%r2", 2, shared), 1);
}
END_TEST

/* A product and a sum are two, and a load of bytes, as ptxas 13.0 does it for sm_90 (2026-11). */
START_TEST(what_is_joined_counts_twice)
{
    char body[2048] = "mov.b32 %f2, %r6;\n";
    for (unsigned n = 1; n <= 10; n++) {
        char all[2048];
        strcat(body, "mul.f32 %f1, %f2, %f3;\nadd.f32 %f2, %f1, %f4;\n");
        snprintf(all, sizeof all, "%smov.b32 %%r6, %%f2;", body);
        const unsigned copies = copies_of("lt.s32", "%r1", 1, all);
        ck_assert_uint_eq(copies, n < 9 ? 4 + 2 + 1 : 1); /* with the multiplication of copies_of */
        ck_assert_uint_eq(count("fma.rn.f32"), copies * n);
    }
    const char *byte = "ld.global.u8 %r5, [%d2];\nxor.b32 %r6, %r6, %r5;";
    ck_assert_uint_gt(copies_of("lt.s32", "%r1", 42, byte), 1);
    ck_assert_uint_eq(copies_of("lt.s32", "%r1", 43, byte), 1);
}
END_TEST

/* A place in the constant bank is known when rounds are written out, one in shared memory is not:
 * nothing is saved by that, as ptxas 13.0 does it (2026-11). */
START_TEST(places_in_the_constant_bank_are_known)
{
    const char *shared = "mov.u32 %r7, s;\nmad.lo.u32 %r8, %r3, 4, %r7;\nld.shared.u32 %r5, "
                         "[%r8];\nxor.b32 %r6, %r6, %r5;";
    const char *bank = "mul.wide.u32 %d3, %r3, 4;\nmov.u64 %d4, c;\nadd.s64 %d5, %d4, "
                       "%d3;\nld.const.u32 %r5, [%d5];\nxor.b32 %r6, %r6, %r5;";
    ck_assert_uint_lt(copies_of("lt.s32", "24", 30, shared), 24);
    ck_assert_uint_eq(copies_of("lt.s32", "24", 30, bank), 24);
}
END_TEST

/* A 32-bit division is dear, but copied; what a subroutine does is not. */
START_TEST(divisions_are_unrolled_beside_loads)
{
    char body[1024];
    for (unsigned n = 1; n < 5; n++) {
        snprintf(
            body, sizeof body,
            "mov.u32 %%r3, 0;\nmov.u32 %%r4, 0;\nL:\nld.global.u32 %%r5, [%%d2];\nadd.s64 %%d2, "
            "%%d2, 4;\n%sadd.u32 %%r4, %%r4, %%r9;\nadd.u32 %%r3, %%r3, 1;\nsetp.lt.u32 %%p1, "
            "%%r3, %%r1;\n"
            "@%%p1 bra L;\nst.global.u32 [%%d1], %%r4;",
            n == 4
                ? "cvt.rn.f32.u32 %f1, %r5;\ndiv.rn.f32 %f2, %f1, %f1;\ncvt.rzi.u32.f32 %r9, %f2;\n"
            : n == 3 ? "rem.u32 %r6, %r5, %r2;\nrem.u32 %r7, %r6, %r5;\nrem.u32 %r9, %r7, %r6;\n"
            : n == 2 ? "rem.u32 %r6, %r5, %r2;\nrem.u32 %r9, %r6, %r5;\n"
                     : "rem.u32 %r9, %r5, %r2;\n");
        assemble(body);
        ck_assert_uint_eq(count("ld.global.u32"), n < 3 ? 4 + 2 + 1 + 1 : 1);
    }
}
END_TEST

/* Two rounds behind the loop of four are guarded where they are short. */
START_TEST(few_rounds_are_guarded)
{
    unsigned guarded = 0;
    copies_of("ne.u32", "%r1", 1, "");
    for (const char *at = listing; (at = strstr(at, "mad.lo.u32")); at++)
        guarded += at > listing + 3 && at[-1] == ' ' && at[-3] == 'P';
    ck_assert_uint_eq(guarded, 2);
}
END_TEST

/* Loops as ptxas 13.0 turns them round (2026-11): the test comes twice, and one branch a round is
 * left. */
START_TEST(loops_that_test_first_test_at_their_end)
{
    static const char *const tests[] = {"add.u32 %r5, %r5, %r3;\nsetp.gt.u32 %p1, %r5, %r1;",
                                        "vote.sync.any.pred %p1, %p2, -1;",
                                        "bar.sync 0;\nsetp.gt.u32 %p1, %r3, %r1;"};
    static const char *const names[] = {"add.u32", "vote", "bar.sync"};
    for (unsigned k = 0; k < 3; k++) {
        char body[1024];
        snprintf(body, sizeof body,
                 "ld.global.u32 %%r3, [%%d1];\nsetp.gt.u32 %%p2, %%r3, 3;\nmov.u32 %%r5, "
                 "0;\nL:\n%s\n@%%p1 bra OUT;\n"
                 "st.global.u32 [%%d2], %%r3;\nmul.lo.u32 %%r3, %%r3, %%r3;\nbra.uni "
                 "L;\nOUT:\nst.global.u32 [%%d2+4], %%r5;",
                 tests[k]);
        assemble(body);
        ck_assert_uint_eq(count(names[k]), 2);
        ck_assert_uint_eq(count("bra"), 2);
        ck_assert_uint_eq(count("bra.uni"), 0);
    }
    /* there is a test at the end, and the first one is of two blocks */
    assemble("ld.global.u32 %r3, [%d1];\nL:\nmul.hi.u32 %r3, %r3, %r1;\nsetp.gt.u32 %p1, %r3, "
             "%r1;\n@%p1 bra OUT;\nst.global.u32 [%d2], %r3;\n"
             "setp.lt.u32 %p2, %r3, 9;\n@%p2 bra L;\nOUT:\nst.global.u32 [%d2+4], %r3;");
    ck_assert_uint_eq(count("mul.hi"), 1);
    assemble("ld.global.u32 %r3, [%d1];\nL:\nsetp.gt.u32 %p2, %r3, 99;\n@%p2 bra "
             "ON;\nst.global.u32 [%d2], %r3;\nON:\nmul.hi.u32 %r3, %r3, %r1;\n"
             "setp.gt.u32 %p1, %r3, %r1;\n@%p1 bra OUT;\nst.global.u32 [%d2+8], %r3;\nbra.uni "
             "L;\nOUT:\nst.global.u32 [%d2+4], %r3;");
    ck_assert_uint_eq(count("mul.hi"), 1);
    /* it ends with a branch out of it and a jump back: one branch back is made of both, and it is
     * not unrolled */
    assemble("mov.u32 %r3, 0;\nmov.u32 %r4, %r2;\nL:\nmul.hi.u32 %r4, %r4, %r1;\nadd.u32 %r3, %r3, "
             "1;\nsetp.eq.u32 %p1, %r3, 16;\n@%p1 bra OUT;\nbra.uni L;\nOUT:\nst.global.u32 [%d2], "
             "%r4;");
    ck_assert_uint_eq(count("mul.hi"), 1);
    ck_assert_uint_eq(count("bra"), 1);
}
END_TEST

/* What the lanes of a warp decide together parts none of them. */
START_TEST(votes_part_no_lanes)
{
    static const struct {
        const char *ask;
        unsigned points;
    } cases[] = {{"vote.sync.any.pred %p1, %p2, -1;", 0},
                 {"vote.sync.any.pred %p1, %p2, %r1;", 0},
                 {"vote.sync.any.pred %p1, %p2, %r3;", 2}, /* of groups, and of the branch */
                 {"vote.sync.ballot.b32 %r5, %p2, -1;\nsetp.gt.u32 %p1, %r5, 99;", 0},
                 {"match.all.sync.b32 %r5|%p1, %r3, -1;", 0},
                 {"match.any.sync.b32 %r5, %r3, -1;\nsetp.gt.u32 %p1, %r5, 99;", 1},
                 {"redux.sync.add.u32 %r5, %r3, -1;\nsetp.gt.u32 %p1, %r5, 99;", 0},
                 {"shfl.sync.idx.b32 %r5, %r3, 0, 31, -1;\nsetp.gt.u32 %p1, %r5, 99;", 0},
                 {"shfl.sync.idx.b32 %r5, %r3, %r2, 31, -1;\nsetp.gt.u32 %p1, %r5, 99;", 1},
                 {"shfl.sync.down.b32 %r5, %r3, 1, 31, -1;\nsetp.gt.u32 %p1, %r5, 99;", 1}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char body[1024];
        snprintf(
            body, sizeof body,
            "mul.lo.u32 %%r3, %%r2, %%r2;\nsetp.gt.u32 %%p2, %%r3, %%r1;\n%s\n@%%p1 bra SKIP;\n"
            "bfind.u32 %%r9, %%r3;\nst.global.u32 [%%d2], %%r9;\nSKIP:\nst.global.u32 [%%d2+4], "
            "%%r3;",
            cases[k].ask);
        assemble(body);
        ck_assert_uint_eq(count("~bssy"), cases[k].points);
    }
}
END_TEST

START_TEST(the_pragma_is_obeyed)
{
    assemble("mov.u32 %r3, 0;\nmov.u32 %r4, 0;\nL:\n.pragma \"nounroll\";\nmad.lo.u32 %r4, %r4, "
             "%r1, %r2;\nadd.u32 %r3, %r3, 1;\n"
             "setp.lt.u32 %p1, %r3, 5;\n@%p1 bra L;\nst.global.u32 [%d1], %r4;");
    ck_assert_uint_eq(count("mad.lo.u32"), 1);
}
END_TEST

START_TEST(the_pragma_outlives_its_instruction) /* the product behind it becomes part of the sum */
{
    assemble("mov.u32 %r3, 0;\nmov.u32 %r4, 0;\nL:\n.pragma \"nounroll\";\nmul.lo.u32 %r5, %r4, "
             "%r1;\nadd.u32 %r4, %r5, %r2;\nadd.u32 %r3, %r3, 1;\n"
             "setp.lt.u32 %p1, %r3, %r1;\n@%p1 bra L;\nst.global.u32 [%d1], %r4;");
    ck_assert_uint_eq(count("mad.lo.u32"), 1);
}
END_TEST

/* Whole bodies of so many instructions, as ptxas 13.0 does it for sm_90 (2026-11): eight are
 * guarded, nine are not, FLO never. */
START_TEST(bodies_are_guarded_up_to_a_length)
{
    for (unsigned n = 7; n <= 10; n++) {
        char body[1024] = "ld.global.u32 %r3, [%d1];\nsetp.gt.s32 %p1, %r3, %r1;\n@%p1 bra L;\n";
        for (unsigned k = 0; k < n; k++) strcat(body, "mad.lo.s32 %r3, %r3, %r2, %r1;\n");
        strcat(body, "L:\nst.global.u32 [%d2], %r3;");
        assemble(body);
        ck_assert_uint_eq(count("bra"), n > 8);
    }
    assemble("ld.global.u32 %r3, [%d1];\nsetp.gt.s32 %p1, %r3, %r1;\n@%p1 bra L;\nclz.b32 %r3, "
             "%r3;\nL:\nst.global.u32 [%d2], %r3;");
    ck_assert_uint_eq(count("bra"), 1);
}
END_TEST

/* ptxas 13.0 for sm_90a, 2026-11: a guarded access is the body of a branch. */
START_TEST(guarded_accesses_are_bodies)
{
    assemble("setp.lt.u32 %p1, %r2, %r1;\n@%p1 atom.global.add.u32 %r3, [%d1], 1;\n@%p1 "
             "st.global.u32 [%d2], %r3;\nst.global.u32 [%d2+4], %r2;");
    ck_assert_uint_eq(count("bra"), 1);
    ck_assert_ptr_nonnull(strstr(listing, " st.global.u32 [R"));
    assemble("setp.lt.u32 %p1, %r2, %r1;\n@%p1 st.global.u32 [%d2], %r1;\n@%p1 st.global.u32 "
             "[%d2+4], %r2;");
    ck_assert_uint_eq(count("bra"), 0);
    ck_assert_uint_eq(count("ret"), 2);
    assemble("setp.lt.u32 %p1, %r2, %r1;\n@%p1 add.u32 %r3, %r1, %r2;\n@%p1 st.shared.u32 [s], "
             "%r3;\nbar.sync 0;\nld.shared.u32 %r4, [s+4];\nst.global.u32 [%d2], %r4;");
    ck_assert_uint_eq(count("bra"), 0);
    ck_assert_uint_eq(count("ret"), 1);
}
END_TEST

/* Branches that are left of two conditions in front of a long body, the second of which takes so
 * many instructions and a compare. */
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
START_TEST(two_conditions_are_one_branch)
{
    for (unsigned n = 1; n <= 7; n++) ck_assert_uint_eq(conditions(n, ""), n > 4 ? 2 : 1);
    ck_assert_ptr_nonnull((conditions(1, ""), strstr(listing, "setp.lt.or.s32")));
    ck_assert_uint_eq(conditions(1, "ld.shared.u32 %r5, [%r5];"), 2);
    ck_assert_uint_eq(conditions(1, "add.s32 %r4, %r4, %r5;"), 2); /* somebody else wants it */
}
END_TEST

/* Is the arm that loads guarded, with another of so many instructions? */
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

/* ptxas 13.0 for sm_90a, 2026-11: half of an arm is beside the load of the other one, which makes
 * room for as much as a load in front. */
START_TEST(arms_are_beside_each_other)
{
    for (unsigned n = 1; n <= 22; n++)
        ck_assert_msg(arms_are_guarded(n) == (n >= 4 && n <= 20), "%u", n);
}
END_TEST

/* How many sums beside `unit` a body may have until it is branched over. */
static unsigned room_beside(const char *unit)
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

/* ptxas 13.0 for sm_90a, bodies of one instruction and so many sums, 2026-11: what it counts for
 * one. */
START_TEST(bodies_count_what_they_become)
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
        ck_assert_msg(room_beside(units[k].unit) == 8 - units[k].count, "%s: room for %u",
                      units[k].unit, room_beside(units[k].unit));
}
END_TEST

/* ptxas 13.0 for sm_90a, 2026-11 (60 kernels): a parameter that a body reads is an instruction of
 * it, unless a block in front of it in the same loop has read it in the same way. */
static bool is_guarded(const char *head, const char *unit, unsigned sums)
{
    char body[2048];
    snprintf(body, sizeof body,
             "mov.u32 %%r3, %%tid.y;\nmov.u32 %%r4, %%tid.z;\nmov.u32 %%r5, %%laneid;\nmov.b64 "
             "%%d5, {%%r5, %%r4};\n%s\nsetp.gt.s32 %%p1, %%r5, %%r3;\n@%%p1 bra L;\n",
             head);
    for (unsigned n = 0; n < sums; n++)
        strcat(body, n % 2 ? "add.s32 %r3, %r3, %r4;\n" : "xor.b32 %r3, %r3, %r4;\n");
    snprintf(body + strlen(body), sizeof body - strlen(body), "%s\nL:\nst.global.u32 [%%d5], %%r3;",
             unit);
    assemble(body);
    return !count("bra");
}

/* ptxas 13.0 for sm_90a, 2026-11: lanes that have left the kernel are not apart from the others, so
 * the shift behind the body is work for the uniform datapath whether or not some have left; and
 * what is left beside the loads is too little. */
START_TEST(lanes_that_have_left_are_not_elsewhere)
{
    static const char *const leave[] = {"", "setp.ge.u32 %p2, %r2, %r1;\n@%p2 bra E;\n"};
    for (size_t k = 0; k < sizeof leave / sizeof *leave; k++) {
        char body[1024];
        snprintf(body, sizeof body,
                 "%smov.u32 %%r3, %%ntid.x;\nmul.wide.u32 %%d3, %%r2, 4;\nadd.s64 %%d3, %%d3, "
                 "%%d1;\nL1:\nsetp.ge.u32 %%p1, %%r2, %%r3;\n@%%p1 bra L2;\n"
                 "add.s32 %%r4, %%r3, %%r2;\nmul.wide.u32 %%d4, %%r4, 4;\nadd.s64 %%d4, %%d4, "
                 "%%d1;\nld.global.u32 %%r5, [%%d3];\nld.global.u32 %%r6, [%%d4];\n"
                 "add.s32 %%r5, %%r5, %%r6;\nst.global.u32 [%%d3], %%r5;\nL2:\nbar.sync "
                 "0;\nshr.u32 %%r3, %%r3, 1;\nsetp.ne.s32 %%p1, %%r3, 0;\n@%%p1 bra L1;\nE:",
                 leave[k]);
        assemble(body);
        ck_assert_uint_eq(count("bra"), 2);
    }
}
END_TEST

START_TEST(bodies_fetch_parameters)
{
    static const struct {
        const char *head, *unit;
        unsigned count;
    } rows[] = {{"", "mul.lo.s32 %r3, %r3, %r1;", 2},
                {"st.global.u32 [%d5+8], %r1;", "mul.lo.s32 %r3, %r3, %r1;", 1},
                {"", "st.global.u32 [%d1], %r4;", 2},
                {"st.global.u32 [%d1+8], %r4;", "st.global.u32 [%d1], %r4;", 1},
                {"st.global.u64 [%d5+8], %d1;", "st.global.u32 [%d1], %r4;", 2}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        ck_assert_msg(is_guarded(rows[k].head, rows[k].unit, 8 - rows[k].count) &&
                          !is_guarded(rows[k].head, rows[k].unit, 9 - rows[k].count),
                      "%zu", k);
}
END_TEST

/* As ptxas 13.0 does for sm_90 (2026-11): shared memory adds integers of 32 bits by itself. */
START_TEST(sums_of_floats_in_shared_memory_are_loops)
{
    static const struct {
        const char *op;
        unsigned casts, branches;
    } cases[] = {{"red.shared.add.u32 [s], %r1;", 0, 0},
                 {"red.shared.add.f32 [s], %f1;", 1, 1},
                 {"red.shared.max.s64 [s], %d2;", 1, 2}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        assemble(cases[k].op);
        ck_assert_uint_eq(count("~cast"), cases[k].casts);
        ck_assert_uint_eq(count("bra"), cases[k].branches);
    }
}
END_TEST

/* As ptxas 13.0 does for sm_90 (2026-11): copies to shared memory where the lanes of a warp agree
 * or something is loaded behind them, arrivals at a barrier object always. */
START_TEST(copies_and_arrivals_are_guarded)
{
    const char *copy =
        "%s\nsetp.gt.s32 %%p1, %%r4, %%r1;\n@%%p1 bra L;\n%s\nL:\n%sst.global.u32 [%%d2], %%r4;";
    const char *same = "mov.u32 %r4, %ctaid.x;", *other = "mov.u32 %r4, %tid.x;",
               *move = "cp.async.ca.shared.global [s], [%d1], 4;";
    const char *arrive = "mbarrier.arrive.shared.b64 _, [s];",
               *load = "bar.sync 0;\nld.shared.u32 %r4, [s];\n";
    static const struct {
        unsigned number, branches;
    } cases[] = {{0, 0}, {1, 1}, {2, 0}, {3, 0}, {5, 0}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char body[512];
        snprintf(body, sizeof body, copy, cases[k].number & 1 ? other : same,
                 cases[k].number & 2 ? arrive : move, cases[k].number & 4 ? load : "");
        assemble(body);
        ck_assert_uint_eq(count("bra"), cases[k].branches);
    }
}
END_TEST

/* As ptxas 13.0 does for sm_90 (2026-11): arrivals where the lanes of a warp agree, waits also
 * where they part. */
START_TEST(barriers_are_guarded_where_lanes_agree)
{
    assemble("mov.u32 %r4, %ctaid.x;\nsetp.gt.s32 %p1, %r4, %r1;\n@%p1 bra L;\nbar.arrive 1, "
             "64;\nL:\nst.global.u32 [%d2], %r4;");
    ck_assert_uint_eq(count("bra"), 0);
    ck_assert_uint_eq(count("@!P0 bar.arrive") + count("@!P1 bar.arrive"), 1);
    assemble("setp.gt.s32 %p1, %r2, %r1;\n@%p1 bra L;\nbar.arrive 1, 64;\nL:\nst.global.u32 [%d2], "
             "%r2;");
    ck_assert_uint_eq(count("bra"), 1);
    assemble(
        "setp.gt.s32 %p1, %r2, %r1;\n@%p1 bra L;\nbar.sync 1, 64;\nL:\nst.global.u32 [%d2], %r2;");
    ck_assert_uint_eq(count("bra"), 0);
}
END_TEST

/* As ptxas 13.0 does for sm_90 (2026-11): WARPSYNC in front of the first barrier, BRA.DIV of the
 * first shuffle, from where lanes part to where they meet; nothing where they are together, or have
 * just met. */
START_TEST(lanes_that_may_be_apart_are_asked_for)
{
    static const char *const shuffles =
        "shfl.sync.bfly.b32 %r4, %r2, 1, 31, -1;\nshfl.sync.bfly.b32 %r5, %r4, 2, 31, "
        "-1;\nst.global.u32 [%d1], %r5;\n";
    static const char *const barriers =
        "st.shared.u32 [s], %r2;\nbar.sync 0;\nst.shared.u32 [s+4], %r2;\nbar.sync 0;\n";
    static const struct {
        const char *skip;
        bool barrier;
        unsigned leaves, waits;
    } cases[] = {
        {"setp.gt.u32 %p1, %r2, %r1;", false, 1, 0},
        {"setp.gt.u32 %p1, %r2, %r1;", true, 0, 1},
        {"setp.gt.u32 %p1, %r1, 5;", false, 0, 0}, /* all lanes skip it, or none */
        {"setp.gt.u32 %p1, %r1, 5;", true, 0, 0},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char body[1024];
        snprintf(
            body, sizeof body,
            "%s\n@%%p1 bra L;\n%s%sL:\nld.global.u32 %%r6, [%%d2];\nst.global.u32 [%%d2+4], %%r6;",
            cases[k].skip, cases[k].barrier ? barriers : shuffles,
            cases[k].barrier ? "st.global.u32 [%d1], %r2;\n" : "");
        assemble(body);
        ck_assert_uint_eq(count("~apart"), cases[k].leaves);
        ck_assert_uint_eq(count("~warpsync"), cases[k].waits);
    }
    char own[512]; /* each half of the warp names itself */
    snprintf(own, sizeof own,
             "and.b32 %%r7, %%r2, 16;\nmov.u32 %%r8, 0xffff;\nshl.b32 %%r8, %%r8, %%r7;\n"
             "shfl.sync.bfly.b32 %%r4, %%r2, 1, 31, %%r8;\nshfl.sync.bfly.b32 %%r5, %%r4, 2, 31, "
             "%%r8;\nst.global.u32 [%%d1], %%r5;");
    assemble(own);
    ck_assert_uint_eq(count("~agree"), 1);
}
END_TEST

/* As ptxas 13.0 does for sm_90 (2026-11): where the lanes name different ones, groups of them part
 * for one exchange of a block, or two REDUX, or more by what MATCH has found, and meet behind it
 * but for a shuffle; for others it asks whether all name the same. */
START_TEST(lanes_that_name_different_ones_part)
{
#define OWN      "mul.lo.u32 %r8, %r2, 12345;\n"
#define FOUND    "match.any.sync.b32 %r8, %r2, -1;\n"
#define REDUX(n) "redux.sync.add.u32 %r" #n ", %r2, %r8;\nst.global.u32 [%d1+" #n "0], %r" #n ";\n"
#define VOTE(n)                                                                                    \
    "vote.sync.ballot.b32 %r" #n ", %p1, %r8;\n"                                                   \
    "st.global.u32 [%d1+" #n "0], %r" #n ";\n"
#define SHUFFLE "shfl.sync.bfly.b32 %r4, %r2, 1, 31, %r8;\nst.global.u32 [%d1], %r4;\n"
    static const struct {
        const char *body;
        unsigned groups, meets, asks;
    } cases[] = {
        {OWN SHUFFLE, 1, 0, 0},
        {OWN REDUX(4), 1, 1, 0},
        {OWN REDUX(4) REDUX(6), 2, 2, 0},
        {OWN REDUX(4) REDUX(5) REDUX(6), 0, 0, 1},
        {FOUND REDUX(4) REDUX(5) REDUX(6), 3, 3, 0},
        {OWN "setp.gt.u32 %p1, %r2, %r1;\n" VOTE(4), 1, 1, 0},
        {OWN "setp.gt.u32 %p1, %r2, %r1;\n" VOTE(4) VOTE(6), 0, 0, 1},
        {"mov.u32 %r8, -1;\n" REDUX(4), 0, 0, 0},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        assemble(cases[k].body);
        ck_assert_uint_eq(count("~groups"), cases[k].groups);
        ck_assert_uint_eq(count("~bssy"), cases[k].meets);
        ck_assert_uint_eq(count("~bsync"), cases[k].meets);
        ck_assert_uint_eq(count("~agree"), cases[k].asks);
    }
#undef OWN
#undef FOUND
#undef REDUX
#undef VOTE
#undef SHUFFLE
}
END_TEST

/* As ptxas 13.0 does for sm_90 (2026-11): in loops that end when memory says so, for lanes one by
 * one, and that do not sleep. */
START_TEST(loops_that_poll_yield)
{
    static const struct {
        const char *round;
        unsigned yields;
    } cases[] = {
        {"atom.global.add.u32 %r3, [%d1], 1;\nsetp.lt.u32 %p1, %r3, %r1;", 1},
        {"atom.global.add.u32 %r3, [%d1], 1;\nnanosleep.u32 20;\nsetp.lt.u32 %p1, %r3, %r1;", 0},
        {"atom.global.add.u32 %r3, [%d1], 1;\nst.global.u32 [%d2], %r3;\nadd.u32 %r4, %r4, "
         "1;\nsetp.lt.u32 %p1, %r4, %r2;",
         0},
        {"ld.volatile.global.u32 %r3, [%d3];\nsetp.lt.u32 %p1, %r3, %r1;", 1},
        {"ld.volatile.global.u32 %r3, [%d1];\nsetp.lt.u32 %p1, %r3, %r1;",
         0}, /* the same in all lanes */
        {"ld.global.u32 %r3, [%d3];\nst.global.u32 [%d2], %r2;\nsetp.lt.u32 %p1, %r3, %r1;", 0},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char body[512];
        snprintf(body, sizeof body,
                 "mov.u32 %%r4, 0;\nmad.wide.u32 %%d3, %%r2, 4, %%d1;\nL:\n%s\n@%%p1 bra "
                 "L;\nst.global.u32 [%%d2+8], %%r4;",
                 cases[k].round);
        assemble(body);
        ck_assert_uint_eq(count("~yield"), cases[k].yields);
    }
}
END_TEST

/* %r5 differs between lanes later on; %r6 never does. */
START_TEST(a_copy_of_a_number_is_the_number)
{
    assemble("mov.u32 %r5, 0;\nmov.u32 %r6, %r5;\nL:\nadd.u32 %r5, %r5, %r2;\nst.global.u32 [%d2], "
             "%r5;\nadd.u32 %r6, %r6, 1;\nsetp.lt.u32 %p1, %r6, %r1;\n"
             "@%p1 bra L;\nst.global.u32 [%d1], %r5;");
    ck_assert_uint_ge(count("bra"), 1);
    ck_assert_uint_eq(count("~bssy"), 0);
}
END_TEST

START_TEST(the_first_arm_is_guarded_around_a_long_one)
{
    char body[1024] = "ld.global.u32 %r3, [%d1];\nsetp.gt.s32 %p1, %r3, %r1;\n@%p1 bra "
                      "L;\nmad.lo.s32 %r3, %r3, %r2, %r1;\nbra M;\nL:\n";
    for (unsigned k = 0; k < 9; k++) strcat(body, "mad.lo.s32 %r3, %r2, %r3, 7;\n");
    strcat(body, "M:\nst.global.u32 [%d2], %r3;");
    assemble(body);
    ck_assert_uint_eq(count("bra"), 1);
    ck_assert_uint_eq(count("@!P0 mad") + count("@!P1 mad"), 1);
}
END_TEST

START_TEST(subroutines_keep_what_stands_around_them)
{
    assemble("ld.global.u64 %d3, [%d1];\nld.global.u64 %d4, [%d1+8];\ndiv.u64 %d5, %d3, "
             "%d4;\nmul.hi.u32 %r3, %r2, %r1;\n"
             "cvt.u64.u32 %d6, %r3;\nadd.s64 %d5, %d5, %d6;\nst.global.u64 [%d2], %d5;");
    ck_assert_ptr_nonnull(strstr(listing, "div.u64"));
    ck_assert_ptr_nonnull(strstr(strstr(listing, "div.u64"), "mul.hi"));
}
END_TEST

START_TEST(short_bodies_are_guarded)
{
    assemble("setp.lt.u32 %p1, %r2, %r1;\nmov.u32 %r3, 1;\n@%p1 bra L;\nadd.u32 %r3, %r2, "
             "3;\nL:\nst.global.u32 [%d1], %r3;");
    ck_assert_uint_eq(count("bra"), 0);
    ck_assert_ptr_nonnull(strstr(listing, "@!P"));
}
END_TEST

START_TEST(loading_bodies_are_guarded_where_they_join_loads)
{
    assemble("mul.wide.u32 %d3, %r2, 4;\nadd.u64 %d4, %d2, %d3;\nsetp.lt.u32 %p1, %r2, "
             "%r1;\nld.global.u32 %r3, [%d4+256];\n@%p1 bra L;\n"
             "ld.global.u32 %r4, [%d4];\nadd.u32 %r3, %r4, 3;\nmul.hi.u32 %r3, %r3, "
             "%r3;\nL:\nst.global.u32 [%d1], %r3;");
    ck_assert_uint_eq(count("bra"), 0);
    /* its join stores what comes of the load: nothing to do meanwhile */
    assemble("setp.lt.u32 %p1, %r2, %r1;\nmov.u32 %r3, 1;\n@%p1 bra L;\nld.global.u32 %r4, "
             "[%d2];\nsetp.ne.u32 %p2, %r4, 0;\nselp.u32 %r3, %r4, 3, %p2;\n"
             "L:\nmul.lo.u32 %r5, %r3, 7;\nst.global.u32 [%d1], %r5;");
    ck_assert_uint_eq(count("bra"), 1);
    assemble("setp.lt.u32 %p1, %r2, %r1;\nmov.u32 %r3, 1;\n@%p1 bra L;\nld.global.u32 %r4, "
             "[%d2];\nadd.u32 %r3, %r4, 3;\nmul.hi.u32 %r3, %r3, %r3;\n"
             "L:\nst.global.u32 [%d1], %r3;");
    ck_assert_uint_eq(count("bra"), 1);
    ck_assert_uint_eq(count("~bssy"), 1);
    ck_assert_uint_eq(count("~bsync"), 1);
    /* what is computed in front but read behind only goes there, however often it is read */
    assemble("mul.wide.u32 %d3, %r2, 4;\nadd.u64 %d4, %d2, %d3;\nsetp.lt.u32 %p1, %r2, "
             "%r1;\nmov.u32 %r3, 1;\n@%p1 bra L;\nld.global.u32 %r3, [%d1];\n"
             "L:\nmul.hi.u32 %r5, %r2, 1000003;\nst.global.u32 [%d4+4], %r5;\nst.global.u32 [%d4], "
             "%r3;");
    ck_assert_uint_eq(count("bra"), 0);
    /* a body that does not wait may be as long where the blocks in front and behind load, whatever
     * they need for that */
    for (unsigned loads = 0; loads < 2; loads++) {
        char body[2048] =
            "ld.global.u32 %r3, [%d1];\nbar.sync 0;\nsetp.gt.s32 %p1, %r3, %r1;\n@%p1 bra L;\n";
        for (unsigned k = 0; k < 12; k++) strcat(body, "mad.lo.s32 %r3, %r3, %r2, %r1;\n");
        strcat(body, "L:\nst.global.u32 [%d2], %r3;\n");
        if (loads)
            strcat(body, "mul.wide.u32 %d3, %r3, 4;\nadd.u64 %d4, %d1, %d3;\nld.global.u32 %r4, "
                         "[%d4];\nst.global.u32 [%d2+4], %r4;\n");
        assemble(body);
        ck_assert_uint_eq(count("bra"), !loads);
    }
}
END_TEST

/* Branches that ptxas 13.0 for sm_90a leaves of two bodies in a row and of what stands around one
 * (2026-11). */
START_TEST(guarded_bodies_have_something_beside_them)
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

/* Does the second load stand in front of the branch around `arm`? Its address and what is between
 * the arm and it: `join`. */
static bool goes_in_front(const char *arm, const char *join, const char *load)
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

/* ptxas 13.0 for sm_90a, kernels made for it, 2026-11. */
START_TEST(loads_behind_a_branch_are_asked_for_in_front_of_it)
{
    static const char *const load = "ld.global.u32 %r4, [%d4+512];",
                             *const constant = "ld.global.nc.u32 %r4, [%d4+512];";
    ck_assert(goes_in_front("", "", load));
    ck_assert(goes_in_front("ld.shared.u32 %r5, [%r3];\nst.shared.u32 [%r2], %r5;", "", load));
    ck_assert(!goes_in_front("st.global.u32 [%d1], %r3;", "", load));
    ck_assert(goes_in_front("st.global.u32 [%d1], %r3;", "", constant));
    ck_assert(!goes_in_front("red.global.add.u32 [%d1], %r3;", "", load));
    ck_assert(goes_in_front("red.shared.add.u32 [%r2], %r3;", "", load));
    ck_assert(!goes_in_front("atom.acquire.cta.shared.add.u32 %r5, [%r2], %r3;", "", load));
    ck_assert(!goes_in_front("bar.sync 0;", "", load));
    ck_assert(!goes_in_front("", "st.global.u32 [%d1], %r3;", load));
    ck_assert(!goes_in_front("mov.u64 %d4, %d1;", "", load));
    ck_assert(goes_in_front("", "mad.wide.u32 %d4, %r1, 4, %d4;", load));
    ck_assert(!goes_in_front(
        "", "xor.b32 %r5, %r2, %r1;\nadd.u32 %r5, %r5, 5;\nmad.wide.u32 %d4, %r5, 12, %d2;", load));
    ck_assert(!goes_in_front("", "setp.ne.s32 %p2, %r3, 7;\n@%p2 add.s32 %r3, %r3, 3;", load));
}
END_TEST

/* IMAD.WIDE has room for a number or for a word of the constant bank: ptxas 13.0 for sm_90a fetches
 * the address of a variable in each block (LDC.64). */
START_TEST(addresses_added_to_multiples_are_fetched)
{
    static const char *const table = ".global .align 4 .f32 t[64];\n";
#define ELEMENT(n)                                                                                 \
    "ld.global.u32 %r3, [%d1+" #n                                                                  \
    "];\nmov.u64 %d3, t;\nmul.wide.u32 %d4, %r3, 4;\nadd.s64 %d5, %d3, %d4;\nld.global.f32 %f" #n  \
    ", [%d5];\n"
    assemble_behind(table, ELEMENT(4) "st.global.f32 [%d2], %f4;");
    ck_assert_uint_eq(count("~ldc.u64"), 1);
    assemble_behind(table,
                    ELEMENT(4) ELEMENT(8) "add.f32 %f1, %f4, %f8;\nst.global.f32 [%d2], %f1;");
    ck_assert_uint_eq(count("~ldc.u64"), 1);
    assemble_behind(table,
                    "mov.u64 %d3, t;\nmul.wide.u32 %d4, %r1, %r2;\nadd.s64 %d5, %d3, "
                    "%d4;\nld.global.f32 %f4, [%d5];\nst.global.f32 [%d2], %f4;"); /* no number */
    ck_assert_uint_eq(count("~ldc.u64"), 0);
}
END_TEST

/* As ptxas does: nvcc-made kernels with a table of functions, ptxas 13.0, sm_90a, 2026-11. */
START_TEST(calls_through_pointers_have_a_meeting_point_where_lanes_part)
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
         "add.u32 %r9, %r9, 1;\nsetp.lt.u32 %p1, %r9, %r1;\n@%p1 bra round;\n"}, /* some may come
                                                                                    back for another
                                                                                    round before
                                                                                    others */
        {"setp.ge.u32 %p1, %r1, 7;\n@%p1 exit;\n", 0, ""}, /* all lanes leave, or none */
        {"setp.ge.u32 %p1, %r2, 7;\n@%p1 exit;\n", 1, ""}, /* some leave */
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
    assemble_behind(CALLED("add.u32 %x, %x, 3;"), call);
    ck_assert_uint_eq(count("~bssy"), 0);
    assemble_behind(
        CALLED(
            "again: shr.u32 %x, %x, 1; xor.b32 %x, %x, 3; setp.gt.u32 %q, %x, 9; @%q bra again;"),
        call); /* what may be called parts lanes */
    ck_assert_uint_eq(count("~bssy"), 1 + 1);
    char loop[2048]; /* what runs behind the call in other lanes at other times: two points, the
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

/* As ptxas 13.0 does for sm_90a (2026-11): where several ways lead to a block that some lanes pass
 * by, those who come to it meet. */
START_TEST(lanes_meet_on_the_way)
{
#define TEST(at, n)                                                                                \
    "ld.volatile.global.u32 %r1" #n ", [%d2+" #at "];\nsetp.gt.s32 %p" #n ", %r1" #n ", " #n ";\n"
#define WORK(at)                                                                                   \
    "red.global.add.u32 [%d2+" #at "], 5;\nld.volatile.global.u32 %r5, [%d2+" #at                  \
    "];\nadd.u32 %r6, %r6, %r5;\n"
    static const struct {
        const char *body;
        unsigned points, breaks;
    } cases[] = {
        {TEST(4, 1) "@!%p1 bra M;\n" TEST(8, 2) "@!%p2 bra M;\n" WORK(16) "M:\n", 1,
         0}, /* all of them */
        {TEST(4, 1) "@%p1 bra T;\n" TEST(8, 2) "@!%p2 bra M;\nT:\n" WORK(16) "M:\n", 2,
         1}, /* a || b */
        {TEST(4, 1) "@!%p1 bra E;\n" TEST(8, 2) "@!%p2 bra E;\n" WORK(16) "bra M;\nE:\n" WORK(
             20) "M:\n",
         2, 1}, /* a && b, else */
        {TEST(4, 1) "@!%p1 bra O;\n" TEST(8, 2) "@%p2 bra T;\nO:\n" TEST(
             12, 3) "@!%p3 bra M;\n" TEST(40, 4) "@!%p4 bra M;\nT:\n" WORK(16) "M:\n",
         2, 2}, /* only the last */
        {TEST(4, 1) "@!%p1 bra O;\n" TEST(8, 2) "@!%p2 bra E;\nT:\n" WORK(16) "bra M;\nO:\n" TEST(
             12, 3) "@%p3 bra T;\nE:\n" WORK(20) "M:\n",
         2, 2}, /* one of two */
        {TEST(4, 1) "@%p1 bra T;\n" TEST(8,
                                         2) "@!%p2 bra M;\nT:\nmad.lo.u32 %r6, %r6, %r6, 7;\nM:\n",
         1, 0}, /* no memory */
        {"L:\n" TEST(4, 1) "@%p1 bra T;\n" TEST(8, 2) "@%p2 bra L;\n" TEST(
             12, 3) "@%p3 bra L;\nT:\n" WORK(16) TEST(40, 4) "@%p4 bra L;\n",
         2, 1}, /* who goes round early, and who works meanwhile: at the end of the round */
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char body[2048];
        snprintf(body, sizeof body,
                 "mov.u32 %%r6, 0;\nmul.wide.u32 %%d3, %%r2, 128;\nadd.s64 %%d2, %%d2, "
                 "%%d3;\n%sst.global.u32 [%%d2], %%r6;\nst.global.u32 [%%d2+64], %%r6;",
                 cases[k].body);
        assemble(body);
        ck_assert_msg(count("~bssy") == cases[k].points && count("~bsync") == cases[k].points &&
                          count("~break") == cases[k].breaks,
                      "%s\n%s", cases[k].body, listing);
    }
#undef TEST
#undef WORK
}
END_TEST

/* As ptxas 13.0 does for sm_90 (2026-11): RED, in a function with a fence ATOMG, for a warp at once
 * where all lanes have one address. */
START_TEST(atomics_without_a_reader_are_reductions_where_nothing_fences)
{
    static const struct {
        const char *body;
        unsigned atoms, leaders;
    } cases[] = {
        {"mul.wide.u32 %d3, %r2, 4;\nadd.u64 %d3, %d3, %d1;\natom.global.add.u32 %r3, [%d3], 1;", 0,
         0},
        {"mul.wide.u32 %d3, %r2, 4;\nadd.u64 %d3, %d3, %d1;\natom.global.add.u32 %r3, [%d3], "
         "1;\nmembar.gl;",
         1, 0},
        {"membar.gl;\natom.global.add.u32 %r3, [%d1], 1;", 1, 1},
        {"atom.global.add.u32 %r3, [%d1], 1;\nfence.proxy.async;", 0, 1},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        assemble(cases[k].body);
        ck_assert_uint_eq(count("atom.global"), cases[k].atoms);
        ck_assert_uint_eq(count("red.global"), 1 - cases[k].atoms);
        ck_assert_uint_eq(count("~leader"), cases[k].leaders);
    }
}
END_TEST

START_TEST(shared_words_are_joined)
{
    assemble("shl.b32 %r3, %r2, 4;\nmov.u32 %r4, s;\nadd.u32 %r5, %r4, %r3;\n"
             "ld.shared.f32 %f1, [%r5];\nld.shared.f32 %f2, [%r5+4];\nld.shared.f32 %f3, "
             "[%r5+8];\nld.shared.f32 %f4, [%r5+12];\n"
             "add.f32 %f5, %f1, %f2;\nadd.f32 %f6, %f3, %f4;\nadd.f32 %f7, %f5, "
             "%f6;\nst.global.f32 [%d1], %f7;");
    ck_assert_uint_eq(count("ld.shared.v4"), 1);
    ck_assert_uint_eq(count("ld.shared"), 1);
}
END_TEST

START_TEST(unaligned_shared_words_are_not)
{
    assemble("shl.b32 %r3, %r2, 2;\nmov.u32 %r4, s;\nadd.u32 %r5, %r4, %r3;\nld.shared.f32 %f1, "
             "[%r5];\nld.shared.f32 %f2, [%r5+4];\n"
             "add.f32 %f5, %f1, %f2;\nst.global.f32 [%d1], %f5;");
    ck_assert_uint_eq(count("ld.shared.f32"), 2);
}
END_TEST

START_TEST(divisors_are_prepared_once)
{
    assemble("rem.u32 %r3, %r2, %r1;\ndiv.u32 %r4, %r3, %r1;\nrem.u32 %r5, %r4, "
             "%r1;\nst.global.u32 [%d1], %r5;");
    ck_assert_uint_eq(count("rcp.approx.ftz.f32"), 1);
    ck_assert_uint_eq(count("mul.hi.u32"), 3);
    ck_assert_uint_eq(count("sub.s32"), 5);
    ck_assert_uint_eq(count("selp.b32"), 3);
    ck_assert_uint_eq(count("not.b32"), 1);
}
END_TEST

/* Instructions of ptxas 13.0 (sm_90a) for one division of registers: what the divisor alone
 * decides, the division. */
START_TEST(divisions_are_multiplications)
{
    static const struct {
        const char *body;
        unsigned reciprocals, products, compares, guarded, inverses, selections;
    } cases[] = {
        {"div.u32 %r3, %r2, %r1;", 1, 1, 3, 4, 1, 0},
        {"rem.u32 %r3, %r2, %r1;", 1, 1, 3, 3, 1, 0},
        {"div.s32 %r3, %r2, %r1;", 1, 1, 4, 5, 1, 0},
        {"rem.s32 %r3, %r2, %r1;", 1, 1, 4, 4, 1, 0},
        {"div.u32 %r3, %r2, 7;", 1, 1, 2, 3, 0,
         0}, /* a number: it is not zero, but its reciprocal is made all the same */
        {"rem.u32 %r3, %r2, 7;", 1, 1, 2, 2, 0, 0},
        {"div.s32 %r3, %r2, -7;", 1, 1, 3, 4, 0, 0},
        {"rem.u32 %r3, %r2, %r1;\nrem.u32 %r4, %r3, %r1;\nxor.b32 %r3, %r3, %r4;", 1, 2, 5, 4, 1,
         2},
        {"div.u32 %r3, %r2, %r1;\nrem.u32 %r4, %r2, %r1;\nxor.b32 %r3, %r3, %r4;", 1, 1, 3, 4, 1,
         2}, /* both are one division */
        {"rem.s32 %r3, %r2, %r1;\ndiv.s32 %r4, %r2, %r1;\nxor.b32 %r3, %r3, %r4;", 1, 1, 6, 5, 1,
         3},
        {"rem.s32 %r3, %r2, 10;\ndiv.s32 %r4, %r2, 10;\nxor.b32 %r3, %r3, %r4;", 1, 1, 4, 5, 0, 1}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char body[256];
        snprintf(body, sizeof body, "%s\nst.global.u32 [%%d1], %%r3;", cases[k].body);
        assemble(body);
        ck_assert_uint_eq(count("rcp.approx.ftz.f32"), cases[k].reciprocals);
        ck_assert_uint_eq(count("mul.hi.u32"), cases[k].products);
        ck_assert_uint_eq(count("setp."), cases[k].compares);
        ck_assert_uint_eq(count("@"), cases[k].guarded);
        ck_assert_uint_eq(count("not.b32"), cases[k].inverses);
        ck_assert_uint_eq(count("selp.b32"), cases[k].selections);
    }
}
END_TEST

START_TEST(atomics_without_readers_are_reductions)
{
    assemble(
        "mul.wide.u32 %d3, %r2, 4;\nadd.s64 %d3, %d1, %d3;\natom.global.add.u32 %r3, [%d3], 1;");
    ck_assert_uint_eq(count("red.global.add.u32"), 1);
    ck_assert_uint_eq(count("~gather"), 0);
    assemble("atom.global.add.u32 %r3, [%d1], %r2;"); /* one address for the whole warp */
    ck_assert_uint_eq(count("~leader"), 1);
    ck_assert_uint_eq(count("~gather"), 1);
}
END_TEST

START_TEST(a_kernel_fetches_what_it_needs)
{
    assemble("mov.u32 %r3, %ntid.x;\nadd.u32 %r4, %r2, %r3;\nst.global.u32 [%d1], %r4;");
    ck_assert_uint_eq(count("~stack"), 1);
    ck_assert_uint_eq(count("~desc"), 1);
    ck_assert_uint_eq(count("~s2r"), 1);
    ck_assert_uint_eq(count("~ldc"), 1);
    ck_assert_uint_eq(count("ld.param"), 1);
}
END_TEST

/* compiler/opt/predicate_select.c: the sum goes to the other value's register where that one is not
 * needed any more.
 */
START_TEST(a_choice_is_a_guarded_computation)
{
    assemble("ld.global.u32 %r3, [%d1];\nld.global.u32 %r4, [%d1+4];\nsetp.lt.u32 %p1, %r3, "
             "%r1;\nmad.lo.u32 %r5, %r3, %r4, 7;\n"
             "selp.b32 %r6, %r5, %r4, %p1;\nst.global.u32 [%d2], %r6;");
    ck_assert_uint_eq(count("selp"), 0);
    ck_assert_uint_eq(count("@P0 mad.lo") + count("@P1 mad.lo"), 1);
}
END_TEST

START_TEST(a_choice_stays_where_the_other_value_does)
{
    assemble(
        "ld.global.u32 %r3, [%d1];\nld.global.u32 %r4, [%d1+4];\nsetp.lt.u32 %p1, %r3, "
        "%r1;\nmad.lo.u32 %r5, %r3, %r4, 7;\n"
        "selp.b32 %r6, %r5, %r4, %p1;\nst.global.u32 [%d2], %r6;\nst.global.u32 [%d2+4], %r4;");
    ck_assert_uint_eq(count("selp"), 1);
    assemble("ld.global.u32 %r3, [%d1];\nld.global.u32 %r4, [%d1+4];\nsetp.lt.u32 %p1, %r3, "
             "%r1;\nmad.lo.u32 %r5, %r3, %r4, 7;\n"
             "selp.b32 %r6, %r5, 9, %p1;\nst.global.u32 [%d2], %r6;"); /* a number */
    ck_assert_uint_eq(count("selp"), 1);
    assemble("ld.global.u32 %r3, [%d1];\nld.global.u32 %r4, [%d1+4];\nsetp.lt.u32 %p1, %r3, "
             "%r1;\nmad.lo.u32 %r5, %r3, %r4, 7;\n"
             "selp.b32 %r6, %r5, %r4, %p1;\nst.global.u32 [%d2], %r6;\nst.global.u32 [%d2+4], "
             "%r5;"); /* what is computed is wanted anyway */
    ck_assert_uint_eq(count("selp"), 1);
}
END_TEST

/* compiler/opt/uniform.c: what every reader can take from a uniform register is in no register of a
 * thread.
 */
START_TEST(parameters_of_arithmetic_take_no_register)
{
    assemble("ld.global.u32 %r3, [%d1];\nadd.u32 %r4, %r3, %r1;\nst.global.u32 [%d1], %r4;");
    uint32_t few = registers;
    assemble(
        "mul.lo.u32 %r5, %r1, %r1;\nadd.u32 %r6, %r5, 12;\nxor.b32 %r7, %r5, 5;\n" /* computed of
                                                                                      parameters
                                                                                      alone */
        "ld.global.u32 %r3, [%d1];\nadd.u32 %r4, %r3, %r6;\nmul.lo.u32 %r4, %r4, "
        "%r7;\nst.global.u32 [%d1], %r4;");
    ck_assert_uint_eq(registers, few);
}
END_TEST

/* ptxas 13.0 for sm_90 fetches parameters and constants in front of the barriers and fences that
 * stand before their readers (2026-11). */
START_TEST(the_bank_is_read_in_front_of_barriers)
{
    static const char *const walls[] = {"bar.sync", "membar.gl"};
    for (size_t k = 0; k < 2; k++) {
        char body[1024];
        snprintf(body, sizeof body,
                 "ld.global.u32 %%r3, [%%d1+8];\nst.shared.u32 [s], %%r3;\nld.volatile.shared.u32 "
                 "%%r3, [s+4];\n%s%s\n"
                 "mul.wide.u32 %%d4, %%r2, 4;\nmov.u64 %%d5, c;\nadd.u64 %%d5, %%d5, "
                 "%%d4;\nld.const.u32 %%r4, [%%d5];\nld.shared.u32 %%r5, [s+8];\n"
                 "mul.hi.u32 %%r4, %%r4, %%r4;\nmul.hi.u32 %%r4, %%r4, %%r2;\nmul.hi.u32 %%r4, "
                 "%%r4, %%r4;\nmul.hi.u32 %%r4, %%r4, %%r2;\nmul.hi.u32 %%r4, %%r4, %%r4;\n"
                 "mad.lo.u32 %%r5, %%r4, %%r3, %%r5;\nst.global.u32 [%%d2], %%r5;",
                 walls[k], k ? ";" : " 0;");
        assemble(body);
        const char *wall = strstr(listing, walls[k]);
        ck_assert_msg(wall && strstr(listing, "ld.const") < wall &&
                          strstr(listing, "ld.param.u64") < wall && !strstr(wall, "ld.param"),
                      "%s", listing);
        ck_assert(strstr(wall, "ld.shared"));
    }
}
END_TEST

START_TEST(what_differs_by_thread_takes_registers)
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

/* Registers of a loop that counts six things. */
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

/* Counts of loops are in uniform registers (UIADD3), unless lanes count or leave the loop
 * differently (ptxas 13.0 for sm_90, 2026-11). */
START_TEST(what_all_lanes_count_takes_no_register)
{
    static const char logic[] = "xor.b32 %%r5, %%r2, %%r%u;\n";
    const uint32_t few = counted("7", logic, "1000");
    ck_assert_uint_ge(counted("%r2", logic, "1000"), few + 5);
    ck_assert_uint_ge(counted("7", logic, "%r2"), few + 5);
}
END_TEST

/* DFMA and DADD name a uniform pair (ptxas 13.0 for sm_90, 2026-11): coefficients in the constant
 * bank cost nothing. */
START_TEST(constant_doubles_take_no_register)
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

/* compiler/codegen/lower_int64.c: the upper half of what is shifted down so far is RZ. ptxas 13.0
 * needs a register for each of the six. */
START_TEST(what_is_known_of_a_half_takes_no_register)
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

/* LDC takes 32 bits of an address, and the place of the variable beside them, LDL and STL 32 bits:
 * six indices are six registers, six addresses of global memory twelve. */
START_TEST(indices_of_near_memory_are_words)
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

/* (p + 64) + x is (p + x) + 64, of which the number goes into the access. */
START_TEST(addresses_a_number_apart_are_one)
{
    static const char *const first =
        "mul.wide.s32 %d5, %r2, 4;\nadd.s64 %d6, %d1, %d5;\nld.global.f32 %f1, [%d6];\nadd.s64 "
        "%d7, %d1, 64;\nadd.s64 %d8, %d7, %d5;\nld.global.f32 %f2, [%d8];\n";
    char body[1024];
    snprintf(body, sizeof body, "%sadd.f32 %%f1, %%f1, %%f2;\nst.global.f32 [%%d2], %%f1;", first);
    assemble(body);
    ck_assert_uint_eq(count("mad.wide"), 1);
    ck_assert_uint_eq(count("+64]"), 1);
    snprintf(
        body, sizeof body,
        "%sadd.f32 %%f1, %%f1, %%f2;\nst.global.f32 [%%d2], %%f1;\nst.global.u64 [%%d2+8], %%d8;",
        first); /* the sum itself is asked for */
    assemble(body);
    ck_assert_uint_eq(count("mad.wide"), 2);
    /* a pointer that has moved between them, though the sum with it looks the same */
    assemble("mul.wide.s32 %d5, %r2, 4;\nL:\nadd.s64 %d6, %d1, %d5;\nld.global.f32 %f1, "
             "[%d6];\nadd.s64 %d1, %d1, 64;\nadd.s64 %d8, %d1, %d5;\nld.global.f32 %f2, [%d8];\n"
             "st.global.f32 [%d2], %f1;\nst.global.f32 [%d2+4], %f2;\nsetp.lt.f32 %p1, %f2, "
             "%f1;\n@%p1 bra L;");
    ck_assert_uint_eq(count("mad.wide"), 2);
}
END_TEST

/* Constants at known places come by ULDC, two side by side by one unless lanes end between them. */
START_TEST(constants_side_by_side_are_fetched_together)
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

START_TEST(sine_and_cosine_share_the_turns)
{
    assemble("ld.global.f32 %f1, [%d1];\nsin.approx.f32 %f2, %f1;\ncos.approx.f32 %f3, "
             "%f1;\nst.global.f32 [%d2], %f2;\nst.global.f32 [%d2+4], %f3;");
    ck_assert_uint_eq(count("~scale"), 1);
    assemble(
        "ld.global.f32 %f1, [%d1];\nld.global.f32 %f4, [%d1+4];\nsin.approx.f32 %f2, "
        "%f1;\ncos.approx.f32 %f3, %f4;\nst.global.f32 [%d2], %f2;\nst.global.f32 [%d2+4], %f3;");
    ck_assert_uint_eq(count("~scale"), 2);
}
END_TEST

/* MUFU takes subnormal numbers for zeros: as ptxas 13.0 does for sm_90 (2026-11), the operand is
 * made larger in place where nobody else reads it, else beside it. */
START_TEST(small_operands_of_functions_are_scaled)
{
    static const struct {
        const char *function;
        unsigned asks, scales;
    } rows[] = {{"ex2.approx.f32 %f2, %f1;", 1, 2},     {"lg2.approx.f32 %f2, %f1;", 1, 2},
                {"rsqrt.approx.f32 %f2, %f1;", 1, 2},   {"sqrt.approx.f32 %f2, %f1;", 1, 2},
                {"ex2.approx.ftz.f32 %f2, %f1;", 0, 0}, {"rcp.approx.f32 %f2, %f1;", 0, 0},
                {"tanh.approx.f32 %f2, %f1;", 0, 0}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        for (unsigned kept = 0; kept < 2; kept++) {
            char body[512];
            snprintf(body, sizeof body,
                     "mul.wide.u32 %%d3, %%r2, 4;\nadd.s64 %%d4, %%d1, %%d3;\nld.global.f32 %%f1, "
                     "[%%d4];\n%s\nst.global.f32 [%%d2], %%f2;\n%s",
                     rows[k].function, kept ? "st.global.f32 [%d2+4], %f1;" : "");
            assemble(body);
            ck_assert_uint_eq(count("setp.lt.f32"), rows[k].asks);
            ck_assert_uint_eq(count("~scale"), rows[k].scales);
            ck_assert_uint_eq(count("selp.b32"), kept ? rows[k].asks : 0);
        }
}
END_TEST

/* PRMT puts two halves together, unless they are one word already, arithmetic takes them from where
 * they are, or their conversions are one instruction. */
START_TEST(halves_of_two_words_are_put_together)
{
    static const struct {
        const char *what;
        unsigned permutations;
    } rows[] = {
        {"{%h0, %h3};\nst.global.u32 [%d2], %r5;", 1},
        {"{%h1, %h0};\nadd.f16x2 %r6, %r5, %r4;\nst.global.u32 [%d2], %r6;", 1},
        {"{%h0, %h1};\nst.global.u32 [%d2], %r5;", 0},
        {"{%h1, %h1};\nst.global.u32 [%d2], %r5;", 1},
        {"{%h1, %h1};\nadd.f16x2 %r6, %r5, %r4;\nst.global.u32 [%d2], %r6;", 0},
        {"{%h5, %h6};\nst.global.u32 [%d2], %r5;", 0},
        {"{%h5, %h0};\nst.global.u32 [%d2], %r5;", 1},
        {"{%h7, %h8};\nst.global.u32 [%d2], %r5;", 0},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char body[2048];
        snprintf(body, sizeof body,
                 ".reg .b16 %%h<9>;\nld.global.u32 %%r3, [%%d1];\nld.global.u32 %%r4, "
                 "[%%d1+4];\nld.global.f32 %%f1, [%%d1+8];\nld.global.f32 %%f2, [%%d1+12];\n"
                 "mov.b32 {%%h0, %%h1}, %%r3;\nmov.b32 {%%h2, %%h3}, %%r4;\ncvt.rn.f16.f32 %%h5, "
                 "%%f1;\ncvt.rn.f16.f32 %%h6, %%f2;\n"
                 "cvt.rn.satfinite.e4m3x2.f32 %%h7, %%f1, %%f2;\ncvt.rn.satfinite.e4m3x2.f32 %%h8, "
                 "%%f2, %%f1;\nmov.b32 %%r5, %s",
                 rows[k].what);
        assemble(body);
        ck_assert_msg(permutations == rows[k].permutations, "%s: %u", rows[k].what, permutations);
    }
}
END_TEST

/* ATOMS.POPC.INC counts in shared memory without a register for the one that it adds; every other
 * number is in one. */
START_TEST(counting_takes_no_number)
{
    assemble("mov.u32 %r3, s;\nred.shared.add.u32 [%r3], 1;\nred.shared.inc.u32 [%r3], -1;");
    ck_assert_uint_eq(count("~mov"), 0);
    assemble("mov.u32 %r3, s;\nred.shared.add.u32 [%r3], 2;");
    ck_assert_uint_eq(count("~mov"), 1);
    assemble("red.global.add.u32 [%d1], 1;");
    ck_assert_uint_eq(count("~mov"), 1);
}
END_TEST

/* ptxas 13.0 leaves a product outside of the loop that adds it; a shift goes into the sum. */
START_TEST(products_of_other_blocks_stay_there)
{
    static const char loop[] = "L:\nmul.wide.u32 %d3, %r6, 4;\nadd.s64 %d4, %d1, "
                               "%d3;\nld.global.u32 %r7, [%d4];\nadd.u32 %r7, %r7, %r3;\n"
                               "st.global.u32 [%d4], %r7;\nadd.u32 %r6, %r6, %r5;\nsetp.lt.u32 "
                               "%p1, %r6, %r1;\n@%p1 bra L;";
    char body[1024];
    snprintf(body, sizeof body,
             "ld.global.u32 %%r3, [%%d1];\nld.global.u32 %%r4, [%%d1+4];\nmul.lo.u32 %%r5, %%r3, "
             "%%r4;\nmov.u32 %%r6, %%r2;\n%s",
             loop);
    assemble(body);
    ck_assert_uint_eq(count("mad.lo"), 0);
    ck_assert_uint_eq(count("mul.lo"), 1);
    snprintf(body, sizeof body,
             "ld.global.u32 %%r3, [%%d1];\nshl.b32 %%r5, %%r3, 3;\nmov.u32 %%r6, %%r2;\n%s", loop);
    assemble(body);
    ck_assert_uint_eq(count("~lea.u32"), 1);
}
END_TEST

/* A condition that was made a number and is compared with zero: ptxas 13.0 reads the condition, the
 * other way round if need be; an order of numbers stays a comparison. */
START_TEST(conditions_made_numbers_are_conditions)
{
    char body[1024];
    static const char *const form =
        ".reg .b16 %%h<9>;\nld.global.b16 %%h1, [%%d1];\nld.global.b16 %%h2, "
        "[%%d1+2];\nsetp.lt.f16 %%p1, %%h1, %%h2;\nselp.u16 %%h3, 1, 0, %%p1;\n"
        "setp.%s.s16 %%p2, %%h3, %d;\nselp.u32 %%r3, %%r1, %%r2, %%p2;\nst.global.u32 [%%d1], "
        "%%r3;";
    snprintf(body, sizeof body, form, "eq", 0);
    assemble(body);
    ck_assert_uint_eq(count("setp"), 1);
    ck_assert_uint_eq(count("selp"), 1);
    ck_assert_uint_eq(count("!P"), 1);
    snprintf(body, sizeof body, form, "eq", 1);
    assemble(body);
    ck_assert_uint_eq(count("setp") + count("!P"), 1);
    snprintf(body, sizeof body, form, "gt", 0);
    assemble(body);
    ck_assert_uint_eq(count("setp"), 2);
}
END_TEST

/* Conditions in other words, as nvcc writes `if (x & 1)`: turned, copied, joined with what is
 * known, a bit of a number made of one. ptxas 13.0 reads the condition itself; not in front of it
 * on the way, where it may be of another round. */
START_TEST(conditions_in_other_words_are_conditions)
{
    static const char *const words[] = {
        "not.pred %p2, %p1;",
        "mov.pred %p2, %p1;",
        "mov.pred %p3, 0;\nxor.pred %p2, %p1, %p3;",
        "mov.pred %p3, -1;\nxor.pred %p4, %p1, %p3;\nnot.pred %p2, %p4;",
        "mov.pred %p3, -1;\nand.pred %p2, %p3, %p1;",
        "mov.pred %p3, 0;\nor.pred %p2, %p1, %p3;",
        "selp.u32 %r4, 1, 0, %p1;\nand.b32 %r5, %r4, 1;\nsetp.eq.b32 %p2, %r5, 1;"};
    static const bool turned[] = {true, false, false, false, false, false, false};
    char body[1024];
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        snprintf(body, sizeof body,
                 "setp.gt.u32 %%p1, %%r1, %%r2;\n%s\nselp.b32 %%r3, %%r1, 7, %%p2;\nst.global.u32 "
                 "[%%d1], %%r3;",
                 words[k]);
        assemble(body);
        ck_assert_uint_eq(count("setp") + count(".pred") + count("selp") + count("and"), 2);
        ck_assert_uint_eq(count("!P"), turned[k]);
    }
    assemble("mov.u32 %r3, 0;\nmov.u32 %r4, 0;\nmov.pred %p2, 0;\nL:\nld.global.u32 %r5, "
             "[%d1];\nsetp.gt.u32 %p1, %r5, %r2;\n@%p2 add.u32 %r4, %r4, %r5;\n"
             "not.pred %p2, %p1;\nadd.u64 %d1, %d1, 4;\nsetp.lt.u32 %p3, %r5, %r1;\n@%p3 bra "
             "L;\nst.global.u32 [%d1], %r4;");
    ck_assert_uint_ge(count("not.pred"), 1);
}
END_TEST

/* A thread has seven predicates, and compares wait for one: these take fewer steps than the chain
 * that reads them. */
START_TEST(compares_wait_for_predicates)
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

/* Each of two compares together with each of two others: ptxas 13.0 has six ISETP, two of them
 * plain. 64-bit compares are two instructions each. */
START_TEST(compares_are_done_again_with_what_joins_them)
{
    static const struct {
        const char *type, *reg;
        unsigned compares, joins;
    } cases[] = {{"s32", "r", 6, 0}, {"u32", "r", 6, 0}, {"f32", "f", 6, 0}, {"s64", "d", 4, 4}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char body[2048];
        size_t n = 0;
        for (unsigned j = 0; j < 4; j++) {
            const char *number = cases[k].reg[0] == 'f' ? "0f40A00000" : "5";
            n += (size_t)snprintf(
                body + n, sizeof body - n,
                "ld.global.%s %%%s%u, [%%d1+%u];\nsetp.gt.%s %%p%u, %%%s%u, %s;\n", cases[k].type,
                cases[k].reg, 10 + j, 8 * j, cases[k].type, 1 + j, cases[k].reg, 10 + j, number);
        }
        for (unsigned j = 0; j < 4; j++)
            n += (size_t)snprintf(body + n, sizeof body - n,
                                  "and.pred %%p5, %%p%u, %%p%u;\nselp.b32 %%r5, %%r1, %%r2, "
                                  "%%p5;\nst.global.u32 [%%d2+%u], %%r5;\n",
                                  1 + j / 2, 3 + j % 2, 4 * j);
        assemble(body);
        ck_assert_uint_eq(count("setp"), cases[k].compares);
        ck_assert_uint_eq(count("and.pred"), cases[k].joins);
    }
}
END_TEST

/* A byte or half of a word is taken out of it by its conversion (ptxas 13.0: I2F), where nobody
 * else wants it; not of a mask of what was shifted. */
START_TEST(parts_of_words_become_floats)
{
    static const struct {
        const char *part, *type;
        unsigned unpaid;
    } cases[] = {{"and.b32 %r4, %r3, 255;", "u32", 1},
                 {"and.b32 %r4, %r3, 65535;", "u32", 1},
                 {"shr.u32 %r4, %r3, 24;", "u32", 1},
                 {"bfe.u32 %r4, %r3, 8, 8;", "u32", 1},
                 {"bfe.s32 %r4, %r3, 16, 8;", "s32", 1},
                 {"and.b32 %r4, %r3, 127;", "u32", 0},
                 {"and.b32 %r4, %r3, 255;", "s32", 0},
                 {"shr.u32 %r5, %r3, 8;\nand.b32 %r4, %r5, 255;", "u32", 0},
                 {"bfe.u32 %r4, %r3, 4, 8;", "u32", 0}};
    char body[512];
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        snprintf(body, sizeof body,
                 "ld.global.u32 %%r3, [%%d1];\n%s\ncvt.rn.f32.%s %%f1, %%r4;\nst.global.f32 "
                 "[%%d1], %%f1;",
                 cases[k].part, cases[k].type);
        assemble(body);
        ck_assert_uint_eq(unpaid, cases[k].unpaid);
    }
    assemble("ld.global.u32 %r3, [%d1];\nand.b32 %r4, %r3, 255;\ncvt.rn.f32.u32 %f1, "
             "%r4;\nst.global.f32 [%d1], %f1;\nst.global.u32 [%d1+4], %r4;");
    ck_assert_uint_eq(unpaid, 0);
}
END_TEST

/* What has fewer than 32 bits, or becomes a half, is converted by I2F; but I2FP reads what comes
 * without sign from where it has 32 bits (ptxas 13.0). */
START_TEST(numbers_of_few_bits_are_converted_by_i2f)
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
    ck_assert_uint_eq(by_unit, 1); /* another reader has it too */
    assemble(".reg .b16 %h<4>;\nld.global.u32 %r3, [%d1];\ncvt.rn.f16.s32 %h1, %r3;\nst.global.u16 "
             "[%d2], %h1;");
    ck_assert_uint_eq(by_unit, 1);
    assemble("ld.global.u32 %r3, [%d1];\ncvt.rn.f32.s32 %f1, %r3;\nst.global.f32 [%d2], %f1;");
    ck_assert_uint_eq(by_unit, 0);
}
END_TEST

/* Bytes that were loaded together are cut out for their conversions, which cut for themselves only
 * what has 32 bits, or a sign (ptxas 13.0). */
START_TEST(bytes_of_vectors_become_floats)
{
    assemble(".reg .b16 %h<8>;\nld.global.v4.u8 {%h1, %h2, %h3, %h4}, [%d1];\ncvt.rn.f32.u16 %f1, "
             "%h1;\ncvt.rn.f32.u16 %f2, %h3;\nadd.f32 %f3, %f1, %f2;\nst.global.f32 [%d1], %f3;");
    ck_assert_uint_eq(count("~cut"), 2);
    assemble("ld.global.v4.u8 {%r3, %r4, %r5, %r6}, [%d1];\ncvt.rn.f32.u32 %f1, "
             "%r3;\ncvt.rn.f32.u32 %f2, %r5;\nadd.f32 %f3, %f1, %f2;\nst.global.f32 [%d1], %f3;");
    ck_assert_uint_eq(count("~cut"), 0);
    assemble(".reg .b16 %h<8>;\nld.global.v4.s8 {%h1, %h2, %h3, %h4}, [%d1];\ncvt.rn.f32.s16 %f1, "
             "%h1;\ncvt.rn.f32.s16 %f2, %h3;\nadd.f32 %f3, %f1, %f2;\nst.global.f32 [%d1], %f3;");
    ck_assert_uint_eq(count("~cut"), 0);
    assemble(".reg .b16 %h<8>;\nld.global.v4.u16 {%h1, %h2, %h3, %h4}, [%d1];\ncvt.rn.f32.u16 %f1, "
             "%h1;\ncvt.rn.f32.u16 %f2, %h3;\nadd.f32 %f3, %f1, %f2;\nst.global.f32 [%d1], %f3;");
    ck_assert_uint_eq(count("~cut"), 0);
}
END_TEST

/* What computes a float that is held between 0 and 1 saturates it; what does not compute leaves a
 * sum to do it (ptxas 13.0: FADD.SAT). */
START_TEST(floats_are_held_between_zero_and_one)
{
    static const struct {
        const char *from;
        unsigned unpaid;
    } cases[] = {
        {"max.f32 %f3, %f1, 0f00000000;\nmin.f32 %f4, %f3, 0f3F800000;", 1},
        {"min.f32 %f3, %f1, 0f3F800000;\nmax.f32 %f4, %f3, 0f00000000;", 1},
        {"mul.f32 %f2, %f1, %f1;\nmax.f32 %f3, %f2, 0f00000000;\nmin.f32 %f4, %f3, 0f3F800000;", 2},
        {"max.f32 %f3, %f1, 0fBF800000;\nmin.f32 %f4, %f3, 0f3F800000;", 0},
        {"max.f32 %f3, %f1, 0f00000000;\nmin.f32 %f4, %f3, 0f3F800000;\nst.global.f32 [%d1+4], "
         "%f3;",
         0}};
    char body[512];
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        snprintf(body, sizeof body, "ld.global.f32 %%f1, [%%d1];\n%s\nst.global.f32 [%%d1], %%f4;",
                 cases[k].from);
        assemble(body);
        ck_assert_uint_eq(unpaid, cases[k].unpaid);
    }
}
END_TEST

/* 1 or 0 by a comparison of floats is FSET (ptxas 13.0); by one of integers, or other numbers, it
 * is not. */
START_TEST(truths_of_floats_are_one_step)
{
    static const struct {
        const char *text;
        unsigned unpaid;
    } cases[] = {{"setp.gt.f32 %p1, %f1, %f2;\nselp.f32 %f3, 0f3F800000, 0f00000000, %p1;", 1},
                 {"setp.gt.f32 %p1, %f1, %f2;\nselp.f32 %f3, 0f00000000, 0f3F800000, %p1;", 1},
                 {"setp.gt.s32 %p1, %r1, %r2;\nselp.f32 %f3, 0f3F800000, 0f00000000, %p1;", 0},
                 {"setp.gt.f32 %p1, %f1, %f2;\nselp.f32 %f3, 0f40000000, 0f00000000, %p1;", 0}};
    char body[512];
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        snprintf(body, sizeof body,
                 "ld.global.f32 %%f1, [%%d1];\nld.global.f32 %%f2, [%%d2];\n%s\nst.global.f32 "
                 "[%%d1], %%f3;",
                 cases[k].text);
        assemble(body);
        ck_assert_uint_eq(unpaid, cases[k].unpaid);
    }
}
END_TEST

/* Two roundings in a row are one F2I, which does the first; not where the integral value is needed
 * (ptxas 13.0). */
START_TEST(floors_to_integers_are_one_step)
{
    static const struct {
        const char *text;
        unsigned roundings;
    } cases[] = {
        {"cvt.rmi.f32.f32 %f2, %f1;\ncvt.rzi.s32.f32 %r3, %f2;", 0},
        {"cvt.rni.f32.f32 %f2, %f1;\ncvt.rzi.u32.f32 %r3, %f2;", 0},
        {"cvt.rmi.f32.f32 %f2, %f1;\ncvt.rni.s32.f32 %r3, %f2;", 1},
        {"cvt.rpi.f32.f32 %f2, %f1;\ncvt.rzi.s32.f32 %r3, %f2;\nst.global.f32 [%d1+8], %f2;", 1}};
    char body[512];
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        snprintf(body, sizeof body, "ld.global.f32 %%f1, [%%d1];\n%s\nst.global.u32 [%%d1], %%r3;",
                 cases[k].text);
        assemble(body);
        ck_assert_uint_eq(roundings, cases[k].roundings);
    }
}
END_TEST

/* 31 less the leading zeros is what FLO finds; of another number less them it is no part
 * (ptxas 13.0). */
START_TEST(places_of_highest_bits_are_one_step)
{
    assemble("ld.global.u32 %r3, [%d1];\nclz.b32 %r4, %r3;\nsub.s32 %r5, 31, %r4;\nst.global.u32 "
             "[%d1], %r5;");
    ck_assert_uint_eq(unpaid, 1);
    /* and no body for a guard */
    assemble("ld.global.u32 %r3, [%d1];\nmov.u32 %r5, 0;\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 bra "
             "N;\nclz.b32 %r4, %r3;\nsub.s32 %r5, 31, %r4;\nN:\nst.global.u32 [%d1], %r5;");
    ck_assert_uint_eq(count("bra"), 1);
    assemble("ld.global.u32 %r3, [%d1];\nclz.b32 %r4, %r3;\nsub.s32 %r5, 32, %r4;\nst.global.u32 "
             "[%d1], %r5;");
    ck_assert_uint_eq(unpaid, 0);
}
END_TEST

/* An integer chosen by a comparison with the other one is the greater or the lesser; floats, which
 * may be no numbers, and other values are chosen (ptxas 13.0). */
START_TEST(choices_by_order_are_bounds)
{
    static const struct {
        const char *text;
        unsigned max, min;
    } cases[] = {{"setp.gt.s32 %p1, %r3, %r4;\nselp.b32 %r5, %r3, %r4, %p1;", 1, 0},
                 {"setp.gt.s32 %p1, %r3, %r4;\nselp.b32 %r5, %r4, %r3, %p1;", 0, 1},
                 {"setp.le.u32 %p1, %r3, %r4;\nselp.b32 %r5, %r3, %r4, %p1;", 0, 1},
                 {"setp.le.u32 %p1, %r3, 7;\nselp.b32 %r5, 7, %r3, %p1;", 1, 0},
                 {"setp.gt.s32 %p1, %r3, %r4;\nselp.b32 %r5, %r3, %r2, %p1;", 0, 0},
                 {"setp.eq.s32 %p1, %r3, %r4;\nselp.b32 %r5, %r3, %r4, %p1;", 0, 0}};
    char body[512];
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        snprintf(body, sizeof body,
                 "ld.global.v2.u32 {%%r3, %%r4}, [%%d1];\n%s\nst.global.u32 [%%d1], %%r5;",
                 cases[k].text);
        assemble(body);
        ck_assert_uint_eq(count("max."), cases[k].max);
        ck_assert_uint_eq(count("min."), cases[k].min);
    }
    assemble("ld.global.v2.f32 {%f3, %f4}, [%d1];\nsetp.gt.f32 %p1, %f3, %f4;\nselp.f32 %f5, %f3, "
             "%f4, %p1;\nst.global.f32 [%d1], %f5;");
    ck_assert_uint_eq(count("max."), 0);
    /* a sign that a choice changes is part of it */
    assemble("ld.global.v2.f32 {%f3, %f4}, [%d1];\nsetp.gt.f32 %p1, %f3, %f4;\nneg.f32 %f6, "
             "%f4;\nselp.f32 %f5, %f6, %f4, %p1;\nst.global.f32 [%d1], %f5;");
    ck_assert_uint_eq(unpaid, 1);
    ck_assert_uint_eq(count("selp"), 1);
}
END_TEST

/* A counter that runs down by a subtraction counts: sixteen rounds are written out. */
START_TEST(counters_run_down)
{
    assemble(
        "mov.u32 %r3, 16;\nmov.u32 %r4, 0;\nL:\nld.global.u32 %r5, [%d1];\nadd.u32 %r4, %r4, "
        "%r5;\nadd.u64 %d1, %d1, 4096;\n"
        "sub.u32 %r3, %r3, 1;\nsetp.ne.u32 %p1, %r3, 0;\n@%p1 bra L;\nst.global.u32 [%d1], %r4;");
    ck_assert_uint_eq(count("ld.global"), 16);
    ck_assert_uint_eq(count("setp"), 0);
}
END_TEST

/* Questions to a warp are guarded where its lanes are together and go one way, and stay behind a
 * branch where they part; shuffles always do. */
START_TEST(questions_to_a_warp_are_guarded)
{
    static const char *const ask[] = {"vote.sync.ballot.b32 %r5, %p2, 0xffffffff;",
                                      "redux.sync.add.u32 %r5, %r3, 0xffffffff;",
                                      "shfl.sync.bfly.b32 %r5, %r3, 5, 31, 0xffffffff;"};
    char body[1024];
    for (unsigned k = 0; k < 6; k++) {
        snprintf(body, sizeof body,
                 "ld.global.u32 %%r3, [%%d1];\nmov.u32 %%r5, %%r3;\nsetp.gt.s32 %%p2, %%r3, "
                 "5;\nsetp.gt.u32 %%p1, %s, 3;\n@!%%p1 bra L;\n%s\nL:\n"
                 "st.global.u32 [%%d1], %%r5;",
                 k % 2 ? "%r2" : "%r1", ask[k / 2]);
        assemble(body);
        ck_assert_uint_eq(count("bra"), k % 2 || k >= 4);
    }
}
END_TEST

/* Two variables, one offset: one register, and the distance between them in the access. */
START_TEST(shared_variables_have_one_base)
{
    static const char *const both =
        ".shared .align 16 .b8 t[1024];\nmov.u32 %r3, s;\nmov.u32 %r4, t;\nshl.b32 %r5, %r2, 2;\n"
        "add.u32 %r6, %r3, %r5;\nadd.u32 %r7, %r4, %r5;\nst.shared.u32 [%r6], %r1;\nst.shared.u32 "
        "[%r7+4], %r1;\n";
    char body[1024];
    assemble(both);
    ck_assert_uint_eq(count("~lea.u32") + count("add.u32"), 1);
    ck_assert_uint_eq(count("+1028]"), 1);
    /* where the address itself is a result, it stays one */
    snprintf(body, sizeof body, "%sst.global.u32 [%%d1], %%r7;", both);
    assemble(body);
    ck_assert_uint_eq(count("+1028]"), 0);
}
END_TEST

/* What takes a register and is not needed before a load is there comes behind it: seven constants
 * for the sum of as many. */
START_TEST(what_is_needed_late_comes_late)
{
    char body[2048] = "ld.global.u32 %r3, [%d1];\nmov.u32 %r4, %r3;\n";
    for (unsigned k = 0; k < 7; k++)
        snprintf(body + strlen(body), sizeof body - strlen(body),
                 "add.u32 %%r%u, %%r2, %u;\nmul.hi.u32 %%r4, %%r4, %%r%u;\n", 10 + k,
                 77777 * (k + 1), 10 + k);
    strcat(body, "st.global.u32 [%d1], %r4;");
    assemble(body);
    ck_assert_uint_le(registers, 12); /* the address, tid, the product and a sum at a time */
}
END_TEST

/* Loads from shared memory in front of the first sum. In ptxas 13.0 for sm_90 (2026-11) 8 of 8 and
 * 10 of 16, whether or not a load from far away ends later than the chain. */
START_TEST(chains_beside_far_loads_begin_at_once)
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

/* A parameter is fetched in each of two blocks of which neither comes before the other, in one of
 * two of which one does. */
START_TEST(parameters_are_fetched_where_they_are_needed)
{
    static const char *const loop =
        "st.global.u32 [%%d1+8], %%r1;\nL%u:\nmul.wide.u32 %%d3, %%r3, 4;\nadd.s64 %%d4, %%d2, "
        "%%d3;\nld.global.u32 %%r3, [%%d4];\nsetp.ne.u32 %%p1, %%r3, 0;\n@%%p1 bra L%u;\n";
    char body[1024] = "ld.global.u32 %r3, [%d1];\nsetp.eq.u32 %p2, %r3, %r1;\n@%p2 bra E1;\n";
    size_t n = strlen(body);
    snprintf(body + n, sizeof body - n, loop, 1, 1);
    strcat(body, "bra D;\nE1:\n");
    n = strlen(body);
    snprintf(body + n, sizeof body - n, loop, 2, 2);
    strcat(body, "D:\nst.global.u32 [%d1], %r3;");
    assemble(body);
    ck_assert_uint_eq(count("[0x8]"), 2);
    ck_assert_uint_eq(count("[0x0]"), 1);
}
END_TEST

/* Thirty values live across a loop: what is computed of %tid for its end is computed again there.
 * With ten it is kept. */
/* A number that a loop reads once is moved into its register there; one that it reads four times in
 * front of it. */
START_TEST(numbers_stand_in_the_loop_that_reads_them)
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

/* What lives across a call through a pointer: R2, R16 to R19, and what is behind the return address
 * in R20 and R21; so do predicates (as ptxas 13.0). */
START_TEST(kernels_keep_registers_across_calls)
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

/* What such a statement makes of %tid, kept in %r3 across a loop in which so many values live, for
 * two blocks behind it. */
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

/* As ptxas 13.0 does for sm_90 (2026-11): once behind the place where registers are scarce; what is
 * made of two is kept. */
START_TEST(what_is_made_of_tid_is_made_again_where_registers_are_scarce)
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

/* The number of a shift is no register, whatever number it is: parameters are the first rows of a
 * kernel. */
START_TEST(numbers_of_shifts_are_no_readers)
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

/* Of the eight words of a 16 x 16 fragment of 16-bit factors four take registers, unless something
 * else looks at the others. */
/* A load or store of a fragment with the matrix at [%d1] or s, lines %r1 apart. */
static void fragment(const char *instruction, unsigned registers_of_it, const char *kind,
                     const char *address)
{
    char body[1024];
    size_t n = (size_t)snprintf(body, sizeof body, ".reg .%s %%v<8>;\n", kind);
    bool store = strstr(instruction, "store") != NULL;
    for (unsigned k = 0; k < registers_of_it && store; k++)
        n += (size_t)snprintf(body + n, sizeof body - n, "ld.global.%s %%v%u, [%%d2+%u];\n", kind,
                              k, 32 * k);
    n += (size_t)snprintf(body + n, sizeof body - n, "%s %s%s", instruction, store ? address : "",
                          store ? ", " : "");
    for (unsigned k = 0; k < registers_of_it; k++)
        n += (size_t)snprintf(body + n, sizeof body - n, "%s%%v%u", k ? ", " : "{", k);
    n += (size_t)snprintf(body + n, sizeof body - n, "}%s%s, %%r1;\n", store ? "" : ", ",
                          store ? "" : address);
    for (unsigned k = 0; k < registers_of_it && !store; k++)
        n += (size_t)snprintf(body + n, sizeof body - n, "st.global.%s [%%d2+%u], %%v%u;\n", kind,
                              32 * k, k);
    assemble(body);
    ck_assert_uint_eq(count("wmma"), 0);
}

/* Counts of ptxas 13.0 for sm_90. */
START_TEST(fragments_are_accesses_of_lanes)
{
    fragment("wmma.load.a.sync.aligned.row.m16n16k16.global.f16", 8, "b32", "[%d1]");
    ck_assert_uint_eq(count("ld.global.b32"), 4);
    ck_assert_uint_eq(count("movmatrix"), 0);
    fragment("wmma.load.b.sync.aligned.row.m16n16k16.global.f16", 8, "b32", "[%d1]");
    ck_assert_uint_eq(count("ld.global.b32"), 4);
    ck_assert_uint_eq(count("movmatrix"), 4);
    fragment("wmma.load.a.sync.aligned.row.m32n8k16.shared.bf16", 8, "b32", "[s]");
    ck_assert_uint_eq(count("ldmatrix.sync.aligned.m8n8.x4.shared"), 2);
    fragment("wmma.load.b.sync.aligned.row.m16n16k16.shared.f16", 8, "b32", "[s]");
    ck_assert_uint_eq(count("ldmatrix.sync.aligned.m8n8.x4.trans.shared"), 1);
    fragment("wmma.load.a.sync.aligned.row.m16n16k16.shared.s8", 2, "b32", "[s]");
    ck_assert_uint_eq(count("ldmatrix.sync.aligned.m8n8.x2.shared"), 1);
    fragment("wmma.load.a.sync.aligned.col.m16n16k16.global.s8", 2, "b32", "[%d1]");
    ck_assert_uint_eq(count("ld.global.u8"), 8);
    ck_assert_uint_eq(count("prmt"), 2);
    fragment("wmma.load.c.sync.aligned.row.m16n16k16.f32", 8, "f32", "[%d1]");
    ck_assert_uint_eq(count("ld.v2.b32"), 4);
    fragment("wmma.store.d.sync.aligned.row.m16n16k16.global.f32", 8, "f32", "[%d1]");
    ck_assert_uint_eq(count("st.global.v2.b32"), 4);
    fragment("wmma.store.d.sync.aligned.col.m16n16k16.global.f32", 8, "f32", "[%d1]");
    ck_assert_uint_eq(count("st.global.b32"), 8);
    fragment("wmma.store.d.sync.aligned.row.m8n8k4.global.f64", 2, "f64", "[%d1]");
    ck_assert_uint_eq(count("st.global.v2.b64"), 1);
}
END_TEST

/* What lanes share is computed once, outside of a loop, also where the base is a variable. */
START_TEST(addresses_of_fragments_are_shared)
{
    assemble(".reg .f64 %a<4>, %c<2>;\nmov.f64 %c0, 0d0000000000000000;\nmov.f64 %c1, %c0;\nL:\n"
             "wmma.load.a.sync.aligned.row.m8n8k4.f64 {%a0}, [%d1], "
             "%r1;\nwmma.load.b.sync.aligned.col.m8n8k4.f64 {%a1}, [%d2], %r1;\n"
             "wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64.rn {%c0, %c1}, {%a0}, {%a1}, "
             "{%c0, %c1};\n"
             "wmma.load.a.sync.aligned.row.m8n8k4.f64 {%a2}, [%d1+32], "
             "%r1;\nwmma.load.b.sync.aligned.col.m8n8k4.f64 {%a3}, [%d2+32], %r1;\n"
             "wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64.rn {%c0, %c1}, {%a2}, {%a3}, "
             "{%c0, %c1};\n"
             "add.s64 %d1, %d1, 64;\nadd.s64 %d2, %d2, 64;\nadd.s32 %r2, %r2, 1;\nsetp.lt.s32 %p1, "
             "%r2, 99;\n@%p1 bra L;\n"
             "st.global.f64 [%d1], %c0;\nst.global.f64 [%d2], %c1;");
    ck_assert_uint_eq(count("~lea.u64"), 2);
    ck_assert_uint_eq(count("mad.wide.u32"), 1);
    ck_assert_uint_eq(count("ld.b64"), 4);
}
END_TEST

START_TEST(second_halves_of_fragments_take_no_registers)
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

/* Counts of ptxas 13.0 for sm_90; not where the second product would read what the first wrote. */
START_TEST(products_of_fragments_come_apart)
{
    static const char *const eight =
        "wmma.mma.sync.aligned.row.col.%s {%%c0, %%c1, %%c2, %%c3, %%c4, %%c5, %%c6, %%c7}, {%s}, "
        "{%s}, {%%c0, %%c1, %%c2, %%c3, %%c4, %%c5, %%c6, %%c7};\n";
    static const struct {
        const char *words, *a, *b, *parts;
        unsigned n;
    } rows[] = {
        {"m16n16k16.f32.f32", "%a0, %a1, %a2, %a3, %a0, %a1, %a2, %a3",
         "%b0, %b1, %b2, %b3, %b0, %b1, %b2, %b3",
         "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 2},
        {"m8n32k16.f32.bf16.bf16.f32", "%a0, %a1", "%b0, %b1, %b2, %b3, %b4, %b5, %b6, %b7",
         "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 2},
        {"m32n8k16.s32.u8.u8.s32.satfinite", "%a0, %a1, %a2, %a3", "%b0",
         "mma.sync.aligned.m16n8k16.row.col.satfinite.s32.u8.u8.s32", 2},
        {"m16n16k8.f32.tf32.tf32.f32", "%a0, %a1, %a2, %a3", "%b0, %b1, %b2, %b3",
         "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", 4},
        {"m16n16k16.s32.s8.s8.s32", "%c0, %c7", "%b0, %b1", "mma.sync.aligned.m16n8k16", 0},
    };
    for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++) {
        char body[4096] = ".reg .b32 %a<8>, %b<8>, %c<8>;\n";
        for (unsigned r = 0; r < 24; r++)
            snprintf(body + strlen(body), sizeof body - strlen(body),
                     "ld.global.b32 %%%c%u, [%%d1+%u];\n", "abc"[r / 8], r % 8, 4 * r);
        snprintf(body + strlen(body), sizeof body - strlen(body), eight, rows[k].words, rows[k].a,
                 rows[k].b);
        for (unsigned r = 0; r < 8; r++)
            snprintf(body + strlen(body), sizeof body - strlen(body),
                     "st.global.b32 [%%d2+%u], %%c%u;\n", 4 * r, r);
        assemble(body);
        ck_assert_uint_eq(count(rows[k].parts), rows[k].n);
        ck_assert_uint_eq(count("wmma"), rows[k].n ? 0 : 1);
    }
}
END_TEST

/* Counts of ptxas 13.0 for sm_90 (2026-11): an address, a sum of IMAD.WIDE and one of a uniform
 * register are three fetches. */
START_TEST(pointers_are_fetched_for_each_way_of_reading)
{
    static const char *const load = "ld.global.u32 %r3, [%d2];\nld.global.u64 %d3, [%d2+8];\n";
    static const char *const wide =
        "mul.wide.u32 %d4, %r3, 4;\nadd.s64 %d5, %d1, %d4;\nst.global.u32 [%d5], %r2;\n";
    static const char *const uniform =
        "shl.b64 %d6, %d3, 2;\nadd.s64 %d7, %d1, %d6;\nst.global.u32 [%d7], %r2;\n";
    static const char *const address = "st.global.u32 [%d1], %r2;\n",
                             *const value = "st.global.u64 [%d2+16], %d1;\n";
    const struct {
        const char *a, *b;
        unsigned n;
    } rows[] = {{wide, "", 1},         {wide, uniform, 2}, {wide, address, 2},
                {uniform, address, 2}, {wide, value, 1},   {address, value, 2}};
    for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++) {
        char body[1024];
        snprintf(body, sizeof body, "%s%s%s", load, rows[k].a, rows[k].b);
        assemble(body);
        ck_assert_uint_eq(count("ld.param.u64") - (rows[k].b == value ? 1 : count("[0x8]")),
                          rows[k].n);
    }
}
END_TEST

START_TEST(guarded_bodies_fetch_for_themselves)
{
    static const char *const bodies =
        "ld.global.v2.u32 {%r3, %r4}, [%d2];\nsetp.lt.u32 %p1, %r3, 5;\nsetp.lt.u32 %p2, %r4, 7;\n"
        "@%p1 bra L1;\nmul.wide.u32 %d3, %r3, 4;\nadd.s64 %d4, %d1, %d3;\nst.global.u32 [%d4], "
        "%r2;\nL1:\n"
        "@%p2 bra L2;\nmul.wide.u32 %d5, %r4, 4;\nadd.s64 %d6, %d1, %d5;\nst.global.u32 [%d6], "
        "%r2;\nL2:\n";
    char body[1024];
    snprintf(body, sizeof body, "%sst.global.u32 [%%d2+8], %%r2;", bodies);
    assemble(body);
    ck_assert_uint_eq(count("P0 ld.param.u64") + count("P1 ld.param.u64"), 2);
    snprintf(
        body, sizeof body,
        "%smul.wide.u32 %%d7, %%r2, 4;\nadd.s64 %%d8, %%d1, %%d7;\nst.global.u32 [%%d8], %%r2;",
        bodies);
    assemble(body); /* what all lanes have need not be fetched again */
    ck_assert_uint_eq(count("P0 ld.param.u64") + count("P1 ld.param.u64"), 0);
}
END_TEST

START_TEST(the_window_is_made_where_it_is_needed)
{
    static const char *const body =
        "setp.eq.u32 %p1, %r2, 0;\n@%p1 bra L1;\nld.global.u32 %r3, [%d1];\nadd.u32 %r3, %r3, "
        "1;\nst.global.u32 [%d1], %r3;\nst.shared.u32 [s], %r3;\n"
        "bar.warp.sync -1;\nL1:\nbar.sync 0;\n";
    char text[1024];
    snprintf(text, sizeof text, "%sld.shared.u32 %%r4, [s];\nst.global.u32 [%%d2], %%r4;", body);
    assemble(text);
    ck_assert_uint_eq(count("~window"), 2);
    snprintf(text, sizeof text,
             "shl.b32 %%r5, %%r2, 2;\nmov.u32 %%r6, s;\nadd.u32 %%r7, %%r5, %%r6;\nst.shared.u32 "
             "[%%r7], %%r2;\n%sld.shared.u32 %%r4, [s];\nst.global.u32 [%%d2], %%r4;",
             body);
    assemble(text);
    ck_assert_uint_eq(count("~window"), 1);
    /* a loop has it in front */
    assemble("mov.u32 %r3, 0;\nL1:\nshl.b32 %r5, %r3, 2;\nmov.u32 %r6, s;\nadd.u32 %r7, %r5, "
             "%r6;\nst.shared.u32 [%r7], %r2;\nadd.u32 %r3, %r3, %r2;\nsetp.lt.u32 %p1, %r3, "
             "%r1;\n@%p1 bra L1;");
    ck_assert_uint_eq(count("~window"), 1);
    ck_assert(strstr(listing, "~window") < strstr(listing, "st.shared"));
}
END_TEST

/* compiler/opt/licm.c */
START_TEST(compares_go_in_front_of_loops)
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

/* Instructions with this name in the last loop of the listing. */
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

/* Loads that stand in the loop around `n` of them, each with a sum, an exchange between lanes and
 * `more`. */
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

/* Instructions with this name that stay in a loop of `first`, so many sums and `last`. */
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

/* compiler/opt/licm.c, against ptxas 13.0 for sm_90a: loops made for it, 2026-11. The first number
 * is one of sums beside which it moved values, the second one beside which it did not. */
START_TEST(values_go_in_front_of_loops)
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
    /* every round comes through it, and no subroutine may be called */
    snprintf(text, sizeof text, "setp.lt.f32 %%p2, %%f1, %%f9;\n@%%p2 bra L9;\n%s", least);
    ck_assert_uint_eq(left_of("min", text, 20, ""), 0);
    snprintf(text, sizeof text, "%sL2:\n%s", arm, least);
    ck_assert_uint_eq(left_of("min", text, 20, ""), 0);
    snprintf(text, sizeof text, "%s%ssin.approx.f32 %%f1, %%f1;\nbar.warp.sync -1;\nL2:\n", arm,
             least);
    ck_assert_uint_eq(left_of("min", text, 20, ""), 1);
    ck_assert_uint_eq(left_of("min", least, 20, "div.rn.f32 %f1, %f1, %f8;"), 1);
    /* all of a block or nothing: three instructions that take four registers leave one of 150 */
    static const char *const both =
        "min.u32 %r10, %r8, %r9;\npopc.b32 %r10, %r10;\nxor.b32 %r4, %r4, %r10;\nmul.wide.u32 %d6, "
        "%r8, %r9;\nadd.u64 %d6, %d6, %d2;\nxor.b64 %d5, %d5, %d6;\n";
    ck_assert_uint_eq(left_of("min", both, 130, ""), 0);
    ck_assert_uint_eq(left_of("mad", both, 130, ""), 0);
    ck_assert_uint_eq(left_of("min", both, 150, ""), 1);
    ck_assert_uint_eq(left_of("mad", both, 150, ""), 1);
    /* what a load of the same round needs does not wait with it */
    ck_assert_uint_eq(
        left_of("min", "min.u32 %r10, %r8, %r9;\nmax.u32 %r3, %r3, %r10;\n", 165, memory), 0);
    /* loads, what their addresses are made of, and what is made of them */
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

/* compiler/opt/licm_loads.c, against ptxas 13.0 for sm_90a: loops made for it, 2026-11. */
START_TEST(loads_go_in_front_of_loops)
{
    static const char *const far = "ld.global.f32", *const near = "ld.shared.f32";
    static const char *const another =
        "add.s64 %d2, %d2, 4;\nld.global.f32 %f4, [%d2];\nadd.f32 %f1, %f1, %f4;";
    ck_assert_uint_eq(left_in_loop(far, "%d3", 1, ""), 0);
    ck_assert_uint_eq(left_in_loop(far, "%d3", 120, ""), 0);
    ck_assert_uint_eq(left_in_loop(far, "%d3", 4, "st.shared.f32 [%r5], %f1;"), 0);
    ck_assert_uint_eq(left_in_loop("ld.global.nc.f32", "%d3", 4, "st.global.f32 [%d2+64], %f1;"),
                      0);
    ck_assert_uint_eq(left_in_loop("ld.global.nc.f32", "%d3", 4, "bar.sync 0;"), 0);
    ck_assert_uint_eq(left_in_loop(far, "%d3", 4, another), 1); /* that one */
    /* somebody may write it, its address changes, a subroutine may be called */
    ck_assert_uint_eq(left_in_loop(far, "%d3", 4, "st.global.f32 [%d2+64], %f1;"), 4);
    ck_assert_uint_eq(left_in_loop(far, "%d3", 4, "bar.sync 0;"), 4);
    ck_assert_uint_eq(left_in_loop(far, "%d3", 4, "bar.warp.sync -1;"), 4);
    ck_assert_uint_eq(left_in_loop(far, "%d3", 4, "red.global.add.u32 [%d2+64], %r6;"), 4);
    ck_assert_uint_eq(left_in_loop(far, "%d3", 4, "add.s64 %d3, %d3, 4;"), 4);
    ck_assert_uint_eq(left_in_loop(far, "%d3", 4, "div.rn.f32 %f1, %f1, %f2;"), 4);
    /* shared memory is near: in long loops, and beside loads from far away in those that are not
     * short, it is read each time */
    ck_assert_uint_eq(left_in_loop(near, "%r5", 97, ""), 0);
    ck_assert_uint_eq(left_in_loop(near, "%r5", 98, ""), 98);
    ck_assert_uint_eq(left_in_loop(near, "%r5", 8, another), 0);
    ck_assert_uint_eq(left_in_loop(near, "%r5", 16, another), 16);
}
END_TEST

/* An array of n words: some are written, `more` stands in front of a load at %r2, whose result is
 * kept. */
static void array(unsigned n, const char *writes, const char *more, const char *load)
{
    char body[8192];
    snprintf(body, sizeof body,
             ".local .align 16 .b8 a[%u];\nmov.u64 %%d3, a;\n%s%smul.wide.u32 %%d4, %%r2, "
             "4;\nadd.s64 %%d4, %%d3, %%d4;\n%s\nst.global.u32 [%%d2], %%r3;",
             4 * n, writes, more, load);
    assemble(body);
}

/* Of 60 loads ptxas 13.0 for sm_90 has as many under way as the limit that the kernel names allows.
 */
START_TEST(kernels_take_the_registers_that_they_ask_for)
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
        assemble_behind(text, "");
        ck_assert_uint_ge(registers, rows[k].least);
        ck_assert_uint_le(registers, rows[k].most);
    }
}
END_TEST

/* Loads in front of the first of 32 sums that go one after the other. */
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
    assemble_behind(text, "");
    return count_in_front_of("ld.global.nc.f32", "fma.rn.f32");
}

/* Of 32 registers a few are left while loads are under way (ptxas 13.0: 23 of 48 loads in front of
 * the first sum); eight go at once. */
START_TEST(loads_leave_registers)
{
    ck_assert_uint_eq(loads_ahead(8), 8);
    ck_assert_uint_eq(loads_ahead(16), 16);
    ck_assert_uint_ge(loads_ahead(48), 21);
    ck_assert_uint_le(loads_ahead(48), 24);
}
END_TEST

/* Of 24 loads from shared memory, behind each of which stand so many instructions that need the one
 * before: those in front of the first of these. */
static unsigned near_loads_ahead(unsigned chain)
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
    assemble_behind(text, "");
    return count_in_front_of("ld.shared.f32", "fma.rn.f32");
}

/* ptxas 13.0 for sm_90 (2026-11): ten beside chains of one FFMA a load, four of three. */
START_TEST(near_loads_come_when_they_are_needed)
{
    ck_assert_uint_eq(near_loads_ahead(1), 10);
    ck_assert_uint_eq(near_loads_ahead(3), 4);
}
END_TEST

/* A hash that rolls over a window of so many bytes, round by round: the loads in front of its first
 * product. Each byte lives until it leaves the window, and the place and the number of the rounds
 * that match go on beside the hash. */
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
    assemble_behind(text, "");
    return count_in_front_of("ld.global.nc.u8", "mad.lo");
}

/* Orders that look far ahead take more registers here than there are, unless they begin as if there
 * were a few less: a narrow view has 5 or 12 loads in front (ptxas 13.0: 18, 18, 18 and 16, within
 * 32 registers). */
START_TEST(loads_of_chains_start_together)
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

/* A loop of eight loads of 16 bytes beside so many sums: from 16 sums on (ptxas 13.0: 40 registers,
 * 16 sums and 32 loads of 4 bytes: 32), the registers of the next step let the loads run ahead. */
START_TEST(wide_loads_run_ahead)
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
        assemble_behind(text, "");
        ck_assert_uint_ge(registers, rows[k].least);
        ck_assert_uint_le(registers, rows[k].most);
    }
}
END_TEST

/* Who changes the number of its registers begins with as many as its limits allow and as it ever
 * asks for; without limits it cannot (ptxas 13.0 for sm_90a). */
START_TEST(kernels_that_change_their_registers_begin_with_most)
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
        assemble_behind(text, "");
        ck_assert_uint_eq(registers, rows[k].taken);
    }
}
END_TEST

/* A counter is needed by the instruction that counts. */
START_TEST(counters_stay_in_registers_across_calls)
{
    static const char *const twice =
        ".func (.param .b32 r) twice(.param .b32 a) {\n.reg .b32 %x;\nld.param.u32 %x, "
        "[a];\nshl.b32 %x, %x, 1;\nst.param.b32 [r], %x;\nret;\n}\n";
    assemble_behind(twice, "mov.u32 %r4, %r2;\nL1:\nmov.u32 %r3, 0;\nL2:\n{\n.param .b32 "
                           "v;\n.param .b32 w;\nst.param.b32 [v], %r4;\ncall.uni (w), twice, (v);\n"
                           "ld.param.b32 %r4, [w];\n}\nadd.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, "
                           "%r1;\n@%p1 bra L2;\nst.global.u32 [%d2], %r4;\n"
                           "add.u32 %r2, %r2, 64;\nsetp.lt.u32 %p2, %r2, %r1;\n@%p2 bra L1;");
    ck_assert_uint_eq(count("call.uni"), 1);
    ck_assert_uint_eq(count(".local."), 0);
}
END_TEST

START_TEST(small_arrays_live_in_registers)
{
    static const char *const first = "st.local.u32 [%d3], 7;\n", *const load =
                                                                     "ld.local.u32 %r3, [%d4];";
    static const char sums[] = "ld.global.u32 %r4, [%d1+4];\nst.global.u32 [%d2+4], %r4;\n";
    char more[1024] = "";
    array(5, first, "", load); /* the kernel costs more than five places */
    ck_assert_uint_eq(count(".local."), 0);
    ck_assert_uint_eq(count("setp.eq"), 5);
    array(40, first, "", load);
    ck_assert_uint_eq(count("ld.local"), 1);
    for (unsigned k = 0; k < 10; k++) /* in a longer kernel it is worth it */
        snprintf(more + strlen(more), sizeof more - strlen(more), "%s", sums);
    array(40, first, more, load);
    ck_assert_uint_eq(count(".local."), 0);
    ck_assert_uint_eq(count("setp.eq"), 40);
    array(40, first, more,
          "ld.local.v4.u32 {%r3, %r5, %r6, %r7}, [%d4];\nxor.b32 %r3, %r3, %r5;\nxor.b32 %r3, %r3, "
          "%r7;"); /* ten places of four words */
    ck_assert_uint_eq(count("setp.eq"), 10);
    array(4, "st.local.u32 [%d4], %r1;\n", more, load); /* no place is known */
    ck_assert_uint_eq(count(".local."), 2);
    array(4, "st.local.u64 [%d3], %d1;\n", more, load); /* not words alone */
    ck_assert_uint_eq(count(".local."), 2);
    array(4, "st.local.u32 [%d3], 7;\ncvta.local.u64 %d5, %d3;\nst.global.u64 [%d2+8], %d5;\n",
          more, load); /* somebody else knows where it is */
    ck_assert_uint_eq(count("st.local") + count("ld.local"), 2);
}
END_TEST

/* A product with its sign changed goes into a sum like one without: ptxas joins the first of both
 * products in each of these sums (fma with a changed sign), and so does the H200's result of
 * spectra_multiplied_with_symmetry. */
START_TEST(signs_of_products_go_into_sums)
{
    assemble("ld.global.f32 %f1, [%d1];\nld.global.f32 %f2, [%d1+4];\nmul.f32 %f3, %f1, "
             "0f3F000001;\nmul.f32 %f4, %f2, 0f3F000002;\nsub.f32 %f5, %f3, %f4;\n"
             "neg.f32 %f6, %f3;\nsub.f32 %f7, %f6, %f4;\nst.global.f32 [%d2], %f5;\nst.global.f32 "
             "[%d2+4], %f7;");
    ck_assert_uint_eq(count(" mul.f32") + count("\nmul.f32"), 1);
    ck_assert_uint_eq(count("#0x3f000002"), 1);
    ck_assert_uint_eq(count("#0x3f000001"), 2);
    ck_assert_uint_eq(count("~fms.f32"), 2);
}
END_TEST

/* A component of a texel that nobody reads takes no register: TEX says which it writes. */
START_TEST(components_that_nobody_reads_take_no_register)
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

/* What a program measures stays between its clocks, of 32 bits or of 64. */
START_TEST(nothing_moves_past_a_clock)
{
    static const char *const clock[] = {"mov.u32 %r7, %clock;",
                                        "mov.u64 %d3, %clock64;\ncvt.u32.u64 %r7, %d3;"};
    for (unsigned k = 0; k < 2; k++) {
        char body[512];
        snprintf(body, sizeof body,
                 "ld.global.u32 %%r3, [%%d1];\n%s\nld.global.u32 %%r4, [%%d1+64];\nxor.b32 %%r3, "
                 "%%r3, %%r4;\nadd.u32 %%r3, %%r3, %%r7;\nst.global.u32 [%%d2], %%r3;",
                 clock[k]);
        assemble(body);
        const char *first = strstr(listing, "ld.global"), *at = strstr(listing, "sreg"),
                   *second = strstr(listing, "+64]");
        ck_assert(first && at && second);
        ck_assert_msg(first < at && at < second, "%s", listing);
    }
}
END_TEST

/* An access has 24 bits for its offset: the nearest multiple of 2^24 is added to the address, once
 * for all that are near it. */
START_TEST(far_places_have_an_address_of_their_own)
{
    static const struct {
        const char *offset[2];
        unsigned sums;
    } cases[] = {{{"8388604", "-8388608"}, 0},
                 {{"8388608", "4"}, 1},
                 {{"8650752", "17301504"}, 1},
                 {{"8650752", "134603008"}, 2},
                 {{"-8388612", "-16777216"}, 1}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char body[256];
        snprintf(body, sizeof body,
                 "mul.wide.u32 %%d3, %%r2, 4;\nadd.s64 %%d3, %%d3, %%d1;\nld.global.u32 %%r3, "
                 "[%%d3+%s];\nst.global.u32 [%%d3+%s], %%r3;",
                 cases[k].offset[0], cases[k].offset[1]);
        assemble(body);
        ck_assert_msg(count("add.s64") == cases[k].sums, "%zu: %s", k, listing);
    }
}
END_TEST

/* Of an exchange that nobody reads only the meeting of the lanes is left, and that only where they
 * may be apart. */
START_TEST(exchanges_without_a_reader_are_dropped)
{
    static const char *const what[] = {
        "shfl.sync.bfly.b32 %r4, %r3, 1, 31, -1;", "vote.sync.ballot.b32 %r4, %p2, -1;",
        "match.any.sync.b32 %r4, %r3, -1;", "redux.sync.add.u32 %r4, %r3, -1;"};
    for (size_t k = 0; k < sizeof what / sizeof *what; k++) {
        char body[512];
        snprintf(body, sizeof body,
                 "ld.global.u32 %%r3, [%%d1];\nsetp.gt.u32 %%p2, %%r3, %%r2;\n%s\nst.global.u32 "
                 "[%%d2], %%r3;",
                 what[k]);
        assemble(body);
        ck_assert_uint_eq(count("sync") + count("setp"), 0);
        snprintf(body, sizeof body,
                 "ld.global.u32 %%r3, [%%d1];\nsetp.gt.u32 %%p2, %%r3, %%r2;\n@%%p2 bra "
                 "X;\nst.global.u32 [%%d1], %%r2;\n%s\nmembar.gl;\nX:\nst.global.u32 [%%d2], %%r3;",
                 what[k]);
        assemble(body);
        ck_assert_msg(count("bar.warp.sync") == 1 && !count("shfl") && !count("vote") &&
                          !count("match") && !count("redux"),
                      "%s", listing);
    }
    assemble("ld.global.u32 %r3, [%d1];\nshfl.sync.bfly.b32 %r4, %r3, 1, 31, -1;\nst.global.u32 "
             "[%d2], %r4;");
    ck_assert_uint_eq(count("shfl"), 1);
}
END_TEST

/* One lane has what elect.sync says: nothing is collected from the others. */
START_TEST(an_elected_lane_reduces_alone)
{
    assemble("elect.sync _|%p1, -1;\n@%p1 red.global.min.s32 [%d1], %r2;");
    ck_assert_uint_eq(count("~leader") + count("~gather"), 0);
    assemble("elect.sync _|%p1, -1;\n@!%p1 red.global.min.s32 [%d1], %r2;");
    ck_assert_uint_eq(count("~leader"), 1);
}
END_TEST

/* CS2R writes 64 bits of zero; another number takes two moves. */
START_TEST(a_wide_zero_is_one_move)
{
    static const struct {
        const char *number;
        unsigned moves;
    } cases[] = {{"0", 1}, {"5", 0}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char body[256];
        snprintf(body, sizeof body,
                 "mov.u64 %%d4, %s;\nsetp.gt.u32 %%p1, %%r2, %%r1;\n@%%p1 bra X;\nbar.sync "
                 "0;\nld.global.u64 %%d4, [%%d1];\nX:\nst.global.u64 [%%d2], %%d4;",
                 cases[k].number);
        assemble(body);
        ck_assert_uint_eq(count("~mov.b64"), 1);
        ck_assert_uint_eq(short_zeros, cases[k].moves);
    }
}
END_TEST

/* Sums, products, compares and conversions of floating-point numbers are numbers; fma is computed,
 * as is what only some operands get right. */
START_TEST(numbers_with_a_point_are_folded)
{
    assemble("mov.f32 %f1, 0f3FA00000;\nadd.f32 %f2, %f1, 0f40000000;\nmul.f32 %f2, %f2, "
             "%f1;\ncvt.rni.s32.f32 %r3, %f2;\ncvt.rn.f32.s32 %f3, %r3;\nsub.f32 %f3, %f3, %f2;\n"
             "setp.lt.f32 %p1, %f3, 0f00000000;\nselp.f32 %f3, %f3, 0f3F800000, "
             "%p1;\nst.global.f32 [%d2], %f3;"); /* 4.0625, rounded: 4 */
    ck_assert_uint_eq(count("add.f32") + count("mul.f32") + count("cvt") + count("sub.f32") +
                          count("setp") + count("selp"),
                      0);
    ck_assert_msg(count("0xbd800000") == 1 || count("-0.0625") == 1, "%s", listing);
    static const char *const kept[] = {
        "fma.rn.f32 %f2, %f1, 0f40000000, %f1;", "add.rz.f32 %f2, %f1, 0f40000000;",
        "mul.f32 %f2, %f1, 0f00800001;\nmul.f32 %f2, %f2, 0f3F000000;",
        "add.f32 %f2, %f1, 0f7F800000;"};
    for (size_t k = 0; k < sizeof kept / sizeof *kept; k++) {
        char body[256];
        snprintf(body, sizeof body, "mov.f32 %%f1, 0f3FA00000;\n%s\nst.global.f32 [%%d2], %%f2;",
                 kept[k]);
        assemble(body);
        ck_assert_msg(count("fma.rn") + count("add.") + count("mul.f32") == 1, "%s", listing);
    }
}
END_TEST

/* Equal products are computed once, equal quotients that may need a subroutine twice. */
START_TEST(quotients_are_computed_again)
{
    static const struct {
        const char *what, *name;
        unsigned times;
    } cases[] = {{"mul.f32 %s, %%f1, %%f2;\n", "mul.f32", 1},
                 {"div.full.f32 %s, %%f1, %%f2;\n", "div.full", 1},
                 {"div.rn.f32 %s, %%f1, %%f2;\n", "div.rn", 2},
                 {"sqrt.rn.f32 %s, %%f1;\n", "sqrt.rn", 2}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char one[64], two[64], body[512];
        snprintf(one, sizeof one, cases[k].what, "%f3");
        snprintf(two, sizeof two, cases[k].what, "%f4");
        snprintf(body, sizeof body,
                 "ld.global.f32 %%f1, [%%d1];\nld.global.f32 %%f2, [%%d1+64];\n%s%sst.global.f32 "
                 "[%%d2], %%f3;\nadd.f32 %%f4, %%f4, %%f1;\nst.global.f32 [%%d2+64], %%f4;",
                 one, two);
        assemble(body);
        ck_assert_msg(count(cases[k].name) == cases[k].times, "%s", listing);
    }
}
END_TEST

UNIT_MAIN(
    "opt", numbers_with_a_point_are_folded, quotients_are_computed_again,
    signs_of_products_go_into_sums, components_that_nobody_reads_take_no_register,
    far_places_have_an_address_of_their_own, exchanges_without_a_reader_are_dropped,
    an_elected_lane_reduces_alone, a_wide_zero_is_one_move, nothing_moves_past_a_clock,
    kernels_take_the_registers_that_they_ask_for, loads_leave_registers,
    near_loads_come_when_they_are_needed, loads_of_chains_start_together, wide_loads_run_ahead,
    kernels_that_change_their_registers_begin_with_most, counters_stay_in_registers_across_calls,
    small_arrays_live_in_registers, pointers_are_fetched_for_each_way_of_reading,
    guarded_bodies_fetch_for_themselves, the_window_is_made_where_it_is_needed,
    compares_go_in_front_of_loops, values_go_in_front_of_loops, loads_go_in_front_of_loops,
    numbers_stand_in_the_loop_that_reads_them, kernels_keep_registers_across_calls,
    parameters_are_fetched_where_they_are_needed,
    what_is_made_of_tid_is_made_again_where_registers_are_scarce, numbers_of_shifts_are_no_readers,
    second_halves_of_fragments_take_no_registers, products_of_fragments_come_apart,
    fragments_are_accesses_of_lanes, addresses_of_fragments_are_shared,
    products_of_other_blocks_stay_there, questions_to_a_warp_are_guarded, counters_run_down,
    conditions_made_numbers_are_conditions, conditions_in_other_words_are_conditions,
    compares_are_done_again_with_what_joins_them, compares_wait_for_predicates,
    parts_of_words_become_floats, numbers_of_few_bits_are_converted_by_i2f,
    bytes_of_vectors_become_floats, floats_are_held_between_zero_and_one,
    truths_of_floats_are_one_step, floors_to_integers_are_one_step,
    places_of_highest_bits_are_one_step, choices_by_order_are_bounds,
    shared_variables_have_one_base, what_is_needed_late_comes_late,
    chains_beside_far_loads_begin_at_once, the_middle_of_two_registers_is_one_shift,
    what_counts_is_a_sum_and_a_guarded_copy, wide_logic_and_rotations_are_machine_steps,
    lanes_meet_on_the_way, products_go_into_sums, differences_of_halves_take_products,
    product_and_sum_are_one, loops_keep_the_alignment_of_their_steps,
    neighbouring_constants_are_read_in_pairs, long_doubles_go_into_uniform_registers,
    chains_are_selected, constants_are_folded, equal_values_are_computed_once,
    vectors_stand_in_neighbouring_registers, unused_results_disappear, numbers_go_into_addresses,
    one_register_for_two_values_is_split, known_rounds_are_unrolled,
    counters_change_where_they_are_compared, loops_with_several_ways_out_are_written_out,
    counted_loops_run_four_rounds_at_once, bodies_are_unrolled_up_to_a_length, bodies_have_a_price,
    known_rounds_are_divided, what_the_counter_tells_is_saved, loops_in_loops_are_written_out,
    bodies_that_only_some_execute_cost_more, few_rounds_are_guarded,
    loops_that_wait_for_themselves_are_left, what_is_joined_counts_twice,
    places_in_the_constant_bank_are_known, divisions_are_unrolled_beside_loads,
    loops_that_test_first_test_at_their_end, votes_part_no_lanes, the_pragma_is_obeyed,
    the_pragma_outlives_its_instruction, bodies_are_guarded_up_to_a_length,
    guarded_accesses_are_bodies, arms_are_beside_each_other, two_conditions_are_one_branch,
    bodies_count_what_they_become, lanes_that_have_left_are_not_elsewhere, bodies_fetch_parameters,
    sums_of_floats_in_shared_memory_are_loops, copies_and_arrivals_are_guarded,
    the_first_arm_is_guarded_around_a_long_one, subroutines_keep_what_stands_around_them,
    a_choice_is_a_guarded_computation, a_choice_stays_where_the_other_value_does,
    parameters_of_arithmetic_take_no_register, what_all_lanes_count_takes_no_register,
    the_bank_is_read_in_front_of_barriers, what_differs_by_thread_takes_registers,
    constant_doubles_take_no_register, what_is_known_of_a_half_takes_no_register,
    indices_of_near_memory_are_words, halves_of_two_words_are_put_together,
    addresses_a_number_apart_are_one, constants_side_by_side_are_fetched_together,
    sine_and_cosine_share_the_turns, small_operands_of_functions_are_scaled,
    counting_takes_no_number, short_bodies_are_guarded, barriers_are_guarded_where_lanes_agree,
    lanes_that_may_be_apart_are_asked_for, lanes_that_name_different_ones_part,
    loops_that_poll_yield, a_copy_of_a_number_is_the_number,
    loading_bodies_are_guarded_where_they_join_loads, guarded_bodies_have_something_beside_them,
    loads_behind_a_branch_are_asked_for_in_front_of_it, shared_words_are_joined,
    loads_of_what_is_known_are_copies, constant_vectors_take_uniform_registers,
    wider_accesses_tell_how_global_words_are_aligned,
    calls_through_pointers_have_a_meeting_point_where_lanes_part,
    addresses_added_to_multiples_are_fetched,
    atomics_without_a_reader_are_reductions_where_nothing_fences, unaligned_shared_words_are_not,
    divisors_are_prepared_once, divisions_are_multiplications,
    atomics_without_readers_are_reductions, atomics_behind_a_parameter_share_a_sum,
    a_kernel_fetches_what_it_needs)
