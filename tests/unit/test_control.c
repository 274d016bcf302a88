/* test_control.c - stall counts and scoreboards, compared with those that ptxas 13.0 generates for
 * sm_90a (read from its machine code, 2026-11). */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "include/ptxloom.h"

enum { MOST = 200 };

typedef struct program {
    unsigned n;
    char text[MOST][96];
    pl_control_info c[MOST];
} program;

/* A kernel with %r1..%r5 and %f1..%f5 loaded from memory, %g1, %g2 composed of them, and an address
 * in %d0; `body` follows a barrier. */
static program assemble(const char *body)
{
    static char text[8192];
    static program p;
    size_t at = (size_t)snprintf(
        text, sizeof text,
        ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
        ".reg .b32 %%r<60>; .reg .b64 %%d<40>; .reg .f32 %%f<60>; .reg .f64 %%g<40>; .reg .pred "
        "%%p<9>;\n"
        "ld.param.u64 %%d0, [p]; mov.u32 %%r0, %%tid.x; mul.wide.u32 %%d1, %%r0, 64; add.u64 %%d0, "
        "%%d0, %%d1;\n");
    for (int k = 1; k < 6; k++)
        at += (size_t)snprintf(text + at, sizeof text - at,
                               "ld.volatile.global.u32 %%r%d, [%%d0+%d]; mov.b32 %%f%d, %%r%d;\n",
                               k, k * 8, k, k);
    snprintf(text + at, sizeof text - at,
             "mov.b64 %%g1, {%%r1, %%r2}; mov.b64 %%g2, {%%r3, %%r4};\nbar.sync "
             "0;\n%s\nst.global.u32 [%%d0+256], %%r20; ret;\n}\n",
             body);
    pl_gpu *gpu = NULL;
    pl_module *m = NULL;
    ck_assert_int_eq(pl_gpu_open(&gpu, "h200"), PL_OK);
    ck_assert_int_eq(pl_module_load(gpu, "k.ptx", text, strlen(text), NULL, &m), PL_OK);
    p.n = 0;
    for (uint32_t pc = 0; pc < pl_module_code_size(m) && p.n < MOST; pc++) {
        ck_assert(pl_module_control(m, pc, &p.c[p.n]));
        snprintf(p.text[p.n++], sizeof p.text[0], "%.95s", pl_module_listing(m, pc).text);
    }
    pl_control_info none;
    ck_assert(!pl_module_control(m, (uint32_t)pl_module_code_size(m), &none));
    pl_module_close(m);
    pl_gpu_close(gpu);
    return p;
}

/* The first instruction at or after `from` whose text contains the words. */
static unsigned find(const program *p, unsigned from, const char *words)
{
    while (from < p->n && !strstr(p->text[from], words)) from++;
    ck_assert_msg(from < p->n, "no %s", words);
    return from;
}

static unsigned cycles_between(const program *p, unsigned writer, unsigned reader)
{
    unsigned sum = 0;
    for (unsigned k = writer; k < reader; k++)
        if (p->c[k].issues) sum += p->c[k].stall;
    return sum;
}

/* Cycles from a writer of %r10 to a reader of it. */
START_TEST(stall_counts_match_ptxas)
{
    static const struct {
        const char *ptx, *is;
    } writer[] = {
        {"and.b32 %r10, %r1, %r2;", "and.b32"},
        {"min.f32 %f10, %f1, %f2; mov.b32 %r10, %f10;", "min.f32"},
        {"shf.l.clamp.b32 %r10, %r1, %r2, %r3;", "shf"},
        {"mad.lo.u32 %r10, %r1, %r2, %r3;", "mad.lo"},
        {"fma.rn.f32 %f10, %f1, %f2, %f3; mov.b32 %r10, %f10;", "fma.rn.f32"},
        {"mul.wide.u32 %d10, %r1, %r2; mov.b64 {%r11, %r10}, %d10;", "mul.wide"},
    };
    static const struct {
        const char *ptx, *is;
        unsigned cycles[6];
    } reader[] = {
        {"min.u32 %r20, %r10, %r4;", "min.u32", {4, 4, 4, 5, 5, 5}},
        {"mov.b32 %f20, %r10; fma.rn.f32 %f21, %f20, %f4, %f5; mov.b32 %r20, %f21;",
         "fma.rn.f32",
         {5, 5, 5, 4, 4, 4}},
        {"mad.lo.u32 %r20, %r10, %r4, %r5;", "mad.lo", {5, 5, 5, 4, 4, 4}},
        {"mov.b32 %f20, %r10; ex2.approx.ftz.f32 %f21, %f20; mov.b32 %r20, %f21;",
         "ex2",
         {5, 5, 5, 5, 5, 6}},
        {"popc.b32 %r20, %r10;", "popc", {5, 5, 5, 5, 5, 6}},
        {"shfl.sync.bfly.b32 %r20, %r10, 1, 31, -1;", "shfl", {5, 5, 5, 5, 5, 6}},
        {"ld.shared.u32 %r20, [%r10];", "ld.shared", {5, 5, 5, 5, 5, 6}},
        {"mov.b64 %g20, {%r10, %r4}; add.f64 %g21, %g20, %g2; mov.b64 {%r21, %r22}, %g21; min.u32 "
         "%r20, %r21, %r22;",
         "add.f64",
         {6, 6, 6, 6, 6, 6}},
        {"setp.lt.u32 %p1, %r10, %r4; selp.b32 %r20, %r4, %r5, %p1;", "setp", {4, 4, 4, 5, 5, 5}},
    };
    char body[512];
    for (size_t w = 0; w < sizeof writer / sizeof *writer; w++)
        for (size_t r = 0; r < sizeof reader / sizeof *reader; r++) {
            snprintf(body, sizeof body, "%s\n%s", writer[w].ptx, reader[r].ptx);
            program p = assemble(body);
            unsigned from = find(&p, find(&p, 0, "bar.sync"), writer[w].is),
                     to = find(&p, from + 1, reader[r].is);
            ck_assert_msg(cycles_between(&p, from, to) == reader[r].cycles[w],
                          "%s to %s: %u cycles, ptxas %u", writer[w].is, reader[r].is,
                          cycles_between(&p, from, to), reader[r].cycles[w]);
        }
}
END_TEST

/* From ISETP to its guard 13 cycles, from DADD to DADD 8 and to other arithmetic 10, four cycles
 * between memory instructions, five after EXIT. From IADD3 to the user of the 64-bit sum as an
 * address 9: four to IADD3.X, five after it. */
START_TEST(guards_doubles_and_memory)
{
    program p = assemble(
        "setp.lt.u32 %p1, %r1, %r2;\n@%p1 ex2.approx.ftz.f32 %f1, %f2; mov.b32 %r20, %f1;");
    unsigned from = find(&p, find(&p, 0, "bar.sync"), "setp");
    ck_assert_uint_eq(cycles_between(&p, from, find(&p, from, "ex2")), 13);
    ck_assert_uint_eq(p.c[p.n - 1].stall, 5);
    p = assemble("add.f64 %g3, %g1, %g2; add.f64 %g4, %g3, %g1; mov.b64 {%r21, %r22}, %g4; min.u32 "
                 "%r20, %r21, %r22;");
    from = find(&p, find(&p, 0, "bar.sync"), "add.f64");
    unsigned second = find(&p, from + 1, "add.f64");
    ck_assert_uint_eq(cycles_between(&p, from, second), 8);
    ck_assert_uint_eq(cycles_between(&p, second, find(&p, second, "min.u32")), 10);
    p = assemble("ld.shared.u32 %r6, [%r1]; ld.shared.u32 %r7, [%r2]; add.u32 %r20, %r6, %r7;");
    from = find(&p, find(&p, 0, "bar.sync"), "ld.shared");
    ck_assert_uint_eq(cycles_between(&p, from, find(&p, from + 1, "ld.shared")), 4);
    p = assemble("mov.b64 %d9, {%r1, %r2}; mov.b64 %d10, {%r3, %r4}; add.u64 %d9, %d9, %d10; "
                 "ld.global.u32 %r20, [%d9];");
    from = find(&p, find(&p, 0, "bar.sync"), "add.u64");
    ck_assert_uint_eq(cycles_between(&p, from, find(&p, from, "ld.global")), 9);
}
END_TEST

/* Two loads for one sum share a scoreboard, and the sum waits for it; it issues at least two cycles
 * after the last load. */
START_TEST(loads_read_together_share_a_scoreboard)
{
    program p = assemble("ld.shared.u32 %r6, [%r1]; ld.shared.u32 %r7, [%r2]; ld.shared.u32 %r8, "
                         "[%r3]; add.u32 %r9, %r6, %r7; mul.lo.u32 %r20, %r9, %r8;");
    unsigned a = find(&p, find(&p, 0, "bar.sync"), "ld.shared"), b = find(&p, a + 1, "ld.shared"),
             c = find(&p, b + 1, "ld.shared");
    unsigned sum = find(&p, c, "add"), product = find(&p, sum + 1, "m");
    ck_assert_int_ge(p.c[a].scoreboard, 0);
    ck_assert_int_eq(p.c[a].scoreboard, p.c[b].scoreboard);
    ck_assert_int_ne(p.c[a].scoreboard, p.c[c].scoreboard);
    ck_assert_uint_eq(p.c[sum].waits, 1u << p.c[a].scoreboard);
    ck_assert_uint_eq(p.c[product].waits, 1u << p.c[c].scoreboard);
    ck_assert_uint_ge(cycles_between(&p, c, product), 2);
    ck_assert_int_eq(p.c[sum].scoreboard, -1);
}
END_TEST

/* Each of eight results has its own reader; there are six scoreboards. */
START_TEST(six_scoreboards_serve_eight_results)
{
    char body[1024];
    size_t at = 0;
    for (int k = 0; k < 8; k++)
        at += (size_t)snprintf(body + at, sizeof body - at,
                               "shfl.sync.bfly.b32 %%r%d, %%r%d, %d, 31, -1;\n", 30 + k, 1 + k % 5,
                               k + 1);
    at += (size_t)snprintf(body + at, sizeof body - at, "mov.u32 %%r20, %%r1;\n");
    for (int k = 0; k < 8; k++)
        at += (size_t)snprintf(body + at, sizeof body - at,
                               "mad.lo.u32 %%r20, %%r20, %%r2, %%r%d;\n", 30 + k);
    program p = assemble(body);
    unsigned used = 0, waited = 0, n = 0;
    for (unsigned k = find(&p, 0, "bar.sync"); k < p.n; k++) {
        if (strstr(p.text[k], "shfl")) {
            ck_assert_int_ge(p.c[k].scoreboard, 0);
            ck_assert_int_lt(p.c[k].scoreboard, 6);
            used |= 1u << p.c[k].scoreboard;
            /* %r20 may use the register of a value that is still to be read. */
            if (p.c[k].frees >= 0) used |= 1u << p.c[k].frees;
            n++;
        }
        if (strstr(p.text[k], "mad.lo")) waited |= p.c[k].waits;
    }
    ck_assert_uint_eq(n, 8);
    ck_assert_uint_eq(used, waited);
    ck_assert_int_ge(__builtin_popcount(used), 4);
}
END_TEST

/* A load in one loop iteration is waited for in the next. Operands in the constant bank, which cost
 * nothing, give no information. */
START_TEST(waits_cross_blocks)
{
    program p = assemble("mov.u32 %r20, 0; mov.u32 %r6, 0; mov.u32 %r8, %r1;\n"
                         "again: add.u32 %r20, %r20, %r6; ld.shared.u32 %r6, [%r8]; add.u32 %r8, "
                         "%r8, %r2; setp.lt.u32 %p1, %r8, %r3; @%p1 bra again;");
    unsigned load = find(&p, find(&p, 0, "bar.sync"), "ld.shared"), k = load;
    ck_assert_int_ge(p.c[load].scoreboard, 0);
    /* In the next iteration, the sum precedes the load. */
    while (k > 0 && !strstr(p.text[k], "add")) k--;
    ck_assert_msg(p.c[k].waits >> p.c[load].scoreboard & 1, "%s does not wait for %s", p.text[k],
                  p.text[load]);
    unsigned set = find(&p, load, "setp"), branch = find(&p, set, "bra");
    ck_assert_uint_eq(cycles_between(&p, set, branch), 13);
}
END_TEST

/* A store reads its registers after it has issued: a later writer of one of them waits, also in the
 * next iteration of the loop. */
START_TEST(write_after_read_of_store)
{
    program p = assemble("mov.u32 %r20, 0; mov.u32 %r8, %r1;\n"
                         "again: add.u32 %r20, %r20, %r2; st.shared.u32 [%r8], %r20; add.u32 %r8, "
                         "%r8, %r2; setp.lt.u32 %p1, %r8, %r3; @%p1 bra again;");
    unsigned store = find(&p, find(&p, 0, "bar.sync"), "st.shared"), next = find(&p, store, "add"),
             sum = store;
    ck_assert_int_eq(p.c[store].scoreboard, -1);
    ck_assert_int_ge(p.c[store].frees, 0);
    ck_assert_msg(p.c[next].waits >> p.c[store].frees & 1, "%s does not wait for %s", p.text[next],
                  p.text[store]);
    ck_assert_uint_ge(cycles_between(&p, store, next), 2);
    while (sum > 0 && !strstr(p.text[sum], "add")) sum--;
    /* The address was written before it, and has waited. */
    ck_assert_uint_eq(p.c[sum].waits >> p.c[store].frees & 1, 0);
}
END_TEST

/* No wait is required if the result has been waited for before, if the last of several results has
 * been waited for, or if no register is overwritten. */
START_TEST(no_scoreboard_for_early_reads)
{
    program p = assemble("ld.shared.u32 %r6, [%r1]; add.u32 %r1, %r6, 4; ld.shared.u32 %r7, [%r1]; "
                         "add.u32 %r20, %r6, %r7;");
    unsigned load = find(&p, find(&p, 0, "bar.sync"), "ld.shared");
    ck_assert_int_eq(p.c[load].frees, -1);
    p = assemble("mov.u32 %r8, %r1;\nagain: st.shared.u32 [%r8], %r2; st.shared.u32 [%r8+4], %r3; "
                 "add.u32 %r8, %r8, %r4; setp.lt.u32 %p1, %r8, %r3; @%p1 bra again;");
    unsigned first = find(&p, find(&p, 0, "bar.sync"), "st.shared"),
             second = find(&p, first + 1, "st.shared");
    ck_assert_int_eq(p.c[first].frees, -1);
    ck_assert_int_ge(p.c[second].frees, 0);
    ck_assert_int_eq(p.c[find(&p, second, "st.global")].frees, -1);
}
END_TEST

/* If scoreboards are scarce, a writer that waits until addresses have been read does not also wait
 * for load data. */
START_TEST(addresses_and_data_share_no_scoreboard)
{
    char body[4096];
    size_t at = (size_t)snprintf(body, sizeof body,
                                 "mov.u32 %%r8, %%r1; mov.f32 %%f6, 0f00000000;\nagain:\n");
    for (int k = 0; k < 16; k++)
        at += (size_t)snprintf(body + at, sizeof body - at,
                               "add.u32 %%r9, %%r8, %d; mul.wide.u32 %%d3, %%r9, 4; add.u64 %%d4, "
                               "%%d0, %%d3; ld.global.f32 %%f%d, [%%d4];\n",
                               k * 32, 10 + k);
    for (int k = 0; k < 16; k++)
        at += (size_t)snprintf(body + at, sizeof body - at, "add.f32 %%f6, %%f6, %%f%d;\n", 10 + k);
    snprintf(body + at, sizeof body - at,
             "add.u32 %%r8, %%r8, 512; setp.lt.u32 %%p1, %%r8, %%r3; @%%p1 bra again; mov.b32 "
             "%%r20, %%f6;");
    program p = assemble(body);
    unsigned data = 0, n = 0; /* scoreboards occupied by outstanding loads */
    for (unsigned k = find(&p, 0, "bar.sync"); k < p.n; k++) {
        const bool load = strstr(p.text[k], "ld.global") != NULL;
        data &= ~(unsigned)p.c[k].waits;
        if (load) data |= 1u << p.c[k].scoreboard;
        if (p.c[k].frees < 0) continue;
        ck_assert_msg(!(data >> p.c[k].frees & 1), "%s also waits for data", p.text[k]);
        n++;
    }
    ck_assert_uint_ge(n, 4);
}
END_TEST

/* No instruction after a load with acquire at gpu scope issues before the data has arrived (machine
 * code for sm_90: CCTL, which waits for it). */
START_TEST(acquire_delays_later_instructions)
{
    program p = assemble("ld.acquire.gpu.global.u32 %r6, [%d0+512]; mul.lo.u32 %r7, %r1, %r2; "
                         "st.volatile.global.u32 [%d0+516], %r7; mov.b32 %r20, %r6;");
    unsigned load = find(&p, find(&p, 0, "bar.sync"), "ld.acquire"), next = load + 1;
    while (next < p.n && !p.c[next].issues) next++;
    ck_assert_int_ge(p.c[load].scoreboard, 0);
    ck_assert_msg(p.c[next].waits >> p.c[load].scoreboard & 1, "%s does not wait", p.text[next]);
}
END_TEST

/* Two loads into one register, selected by a condition: the reader waits for both, which share a
 * scoreboard (ptxas 13.0 for sm_90a). */
START_TEST(scoreboard_guarded_loads)
{
    program p =
        assemble("setp.lt.u32 %p1, %r1, %r2;\n@%p1 bra A;\nld.global.u32 %r10, [%d0+64];\nbra.uni "
                 "B;\nA:\nld.global.u32 %r10, [%d0+96];\nB:\nadd.u32 %r20, %r10, %r3;");
    unsigned first = find(&p, 0, "+64]"), second = find(&p, 0, "+96]"),
             reader = find(&p, 0, "add.u32");
    ck_assert_int_ge(p.c[first].scoreboard, 0);
    ck_assert_int_eq(p.c[first].scoreboard, p.c[second].scoreboard);
    ck_assert_msg(p.c[reader].waits >> p.c[first].scoreboard & 1, "%s does not wait",
                  p.text[reader]);
}
END_TEST

/* Results started in a block are in their registers at its end, regardless of the successor. It
 * takes 7 cycles from arithmetic to BSYNC or past the branch to it, and to a call (ptxas 13.0 for
 * sm_90a); BSYNC itself has 5. */
START_TEST(results_complete_at_block_end)
{
#define FOUR(a, b)                                                                                 \
    "mad.lo.u32 %r10, %r10, %r" #a ", %r" #b "; xor.b32 %r10, %r10, %r" #a                         \
    "; mad.lo.u32 %r10, %r10, %r" #b ", %r" #a "; xor.b32 %r10, %r10, %r" #b ";\n"
    program p = assemble("mov.b32 %r10, %r5; setp.lt.u32 %p1, %r1, %r2;\n@%p1 bra A;\n" FOUR(1, 2)
                             FOUR(3, 4) FOUR(2, 3) "bra.uni B;\nA:\n" FOUR(2, 4) FOUR(1, 3)
                                 FOUR(1, 4) "B:\nadd.u32 %r20, %r10, %r3;");
    unsigned meet = find(&p, 0, "~bsync"), branch = find(&p, 0, "bra @"), last;
    for (branch++; !strstr(p.text[branch], "bra"); branch++) {
    }
    ck_assert_uint_eq(p.c[meet].stall, 5);
    for (last = meet; !strstr(p.text[last], "xor"); last--) {
    }
    ck_assert_uint_eq(cycles_between(&p, last, last < branch && branch < meet ? branch + 1 : meet),
                      7);
    for (last = branch; !strstr(p.text[last], "xor"); last--) {
    }
    ck_assert_uint_eq(cycles_between(&p, last, branch + 1), 7);
}
END_TEST

/* The scoreboards of all loads in program order, "2234": as assigned by ptxas 13.0 for sm_90a. */
START_TEST(scoreboards_match_ptxas)
{
#define FIRST_FIVE "mad.lo.u32 %r20, %r1, %r2, %r3; mad.lo.u32 %r20, %r4, %r5, %r20; bar.sync 1;\n"
#define EIGHT                                                                                      \
    "ld.volatile.global.u32 %r6, [%d0+64]; ld.volatile.global.u32 %r7, [%d0+72]; "                 \
    "ld.volatile.global.u32 %r8, [%d0+80];"                                                        \
    "ld.volatile.global.u32 %r9, [%d0+88]; ld.volatile.global.u32 %r10, [%d0+96]; "                \
    "ld.volatile.global.u32 %r11, [%d0+104];"                                                      \
    "ld.volatile.global.u32 %r12, [%d0+112]; ld.volatile.global.u32 %r13, [%d0+120];\n"
#define ONE(R)    "mad.lo.u32 %r20, " R ", %r0, %r20;"
#define TWO(A, B) "mad.lo.u32 %r20, " A ", " B ", %r20;"
    static const struct {
        const char *body, *is;
    } t[] = {
        /* memory has four, starting with the third; when they are in use, further loads share the
           one that is waited for last */
        {FIRST_FIVE EIGHT ONE("%r6") ONE("%r7") ONE("%r8") ONE("%r9") ONE("%r10") ONE("%r11")
             ONE("%r12") ONE("%r13"),
         "2223345555555"},
        /* two loads for one sum share; exchanges begin with the first scoreboard */
        {FIRST_FIVE EIGHT TWO("%r6", "%r7") TWO("%r8", "%r9") TWO("%r10", "%r11")
             TWO("%r12", "%r13") "ld.shared.u32 %r14, [%r20]; ld.shared.u32 %r15, [%r20+64]; "
                                 "mul.lo.u32 %r20, %r14, %r0; mad.lo.u32 %r20, %r15, %r0, %r20;",
         "222334455555501"},
        /* values that a later block waits for have the last one */
        {FIRST_FIVE "ld.volatile.global.u32 %r7, [%d0+72]; ld.volatile.global.u32 %r8, [%d0+80]; "
                    "mov.u32 %r21, 0;\n"
                    "again: ld.volatile.shared.u32 %r22, [%r21]; add.u32 %r20, %r20, %r22; add.u32 "
                    "%r21, %r21, 4; setp.lt.u32 %p2, %r21, %r1; @%p2 bra again;\n"
                    "mad.lo.u32 %r20, %r7, %r8, %r20;",
         "2334455"},
    };
#undef FIRST_FIVE
#undef EIGHT
#undef ONE
#undef TWO
    for (size_t k = 0; k < sizeof t / sizeof *t; k++) {
        program p = assemble(t[k].body);
        char is[MOST + 1];
        unsigned n = 0;
        for (unsigned pc = 0; pc < p.n && n < strlen(t[k].is); pc++)
            if (strstr(p.text[pc], "ld.volatile") || strstr(p.text[pc], "ld.shared"))
                is[n++] = (char)('0' + p.c[pc].scoreboard);
        is[n] = 0;
        ck_assert_str_eq(is, t[k].is);
    }
}
END_TEST

/* NOPs after each matrix instruction, starting with the first. */
START_TEST(long_stalls_need_nops)
{
#define C  "{%f20, %f21, %f22, %f23}"
#define K8 "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 " C ", {%r1, %r2}, {%r3}, " C ";\n"
#define K16                                                                                        \
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 " C                                         \
    ", {%r1, %r2, %r3, %r4}, {%r2, %r5}, " C ";\n"
#define F64(D, A)                                                                                  \
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {" D "}, {" A "}, {%g2}, {%g5, %g5};\n"
#define STORE "st.global.v4.f32 [%d0+64], " C ";\n"
    static const struct {
        const char *body, *empty;
    } t[] = {
        {K8 STORE, "0"},
        {K8 K8 K8 STORE, "110"},
        {K16 STORE, "1"},
        {K16 K16 STORE, "11"},
        {K16 "add.f32 %f20, %f20, %f1;\n" STORE, "1"},
        {F64("%g3, %g4", "%g1") "st.global.v2.f64 [%d0+64], {%g3, %g4};", "0"},
        {F64("%g3, %g4", "%g1") F64(
             "%g6, %g7",
             "%g2") "st.global.v2.f64 [%d0+64], {%g3, %g4}; st.global.v2.f64 [%d0+80], {%g6, %g7};",
         "10"},
    };
#undef C
#undef K8
#undef K16
#undef F64
#undef STORE
    for (size_t k = 0; k < sizeof t / sizeof *t; k++) {
        program p = assemble(t[k].body);
        char empty[MOST + 1];
        unsigned n = 0;
        for (unsigned pc = 0; pc < p.n; pc++)
            if (strstr(p.text[pc], "mma.sync")) empty[n++] = (char)('0' + p.c[pc].issues - 1);
        empty[n] = 0;
        ck_assert_str_eq(empty, t[k].empty);
    }
}
END_TEST

UNIT_MAIN("control", long_stalls_need_nops, scoreboards_match_ptxas, stall_counts_match_ptxas,
          guards_doubles_and_memory, loads_read_together_share_a_scoreboard,
          six_scoreboards_serve_eight_results, waits_cross_blocks, write_after_read_of_store,
          no_scoreboard_for_early_reads, addresses_and_data_share_no_scoreboard,
          acquire_delays_later_instructions, scoreboard_guarded_loads,
          results_complete_at_block_end)
