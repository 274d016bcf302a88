/* test_stalls.c - stalls of a warp for reasons other than operands and units, in cycles of whole
 * launches. */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "include/ptxloom.h"

/* Launches a block that runs `body`, in a module with `declarations`; its result is in %f0 or %r0.
 * *value: the launch's value of `counter`, if requested. */
static pl_result launch_counted(const char *declarations, const char *body, uint32_t threads,
                                const char *counter, double *value)
{
    static char text[16384];
    static const unsigned char zero[4096];
    snprintf(
        text, sizeof text,
        ".version 8.0\n.target sm_90a\n.address_size 64\n%s\n.visible .entry k(.param .u64 p)\n{\n"
        ".reg .b32 %%r<40>; .reg .b64 %%d<20>; .reg .f32 %%f<40>; .reg .pred %%p<9>;\n"
        "ld.param.u64 %%d0, [p]; mov.u32 %%r0, %%tid.x; cvt.rn.f32.u32 %%f0, %%r0;\n%s\n"
        "st.global.f32 [%%d0], %%f0; st.global.u32 [%%d0+4], %%r0; ret;\n}\n",
        declarations, body);
    pl_gpu *gpu = NULL;
    pl_module *m = NULL;
    pl_ptr out = 0;
    ck_assert_int_eq(pl_gpu_open(&gpu, "h200"), PL_OK);
    ck_assert_int_eq(pl_module_load(gpu, "k.ptx", text, strlen(text), NULL, &m), PL_OK);
    ck_assert_int_eq(pl_alloc_device(gpu, sizeof zero, "p", &out), PL_OK);
    ck_assert_int_eq(pl_copy_to_device(gpu, out, zero, sizeof zero), PL_OK);
    pl_launch l = {.kernel = "k",
                   .grid = {1, 1, 1},
                   .block = {threads, 1, 1},
                   .params = &out,
                   .param_bytes = sizeof out,
                   .mode = PL_MODE_TIMING,
                   .threads = 1};
    pl_result r = {.status = PL_INVALID};
    pl_trace *t = NULL;
    if (counter) ck_assert_int_eq(pl_trace_open(gpu, NULL, &(pl_trace_options){0}, &t), PL_OK);
    if (counter) l.sink = pl_trace_begin(t, m, &l, "k");
    ck_assert_int_eq(pl_launch_kernel(gpu, m, &l, &r), PL_OK);
    ck_assert_int_eq(r.status, PL_OK);
    if (counter) {
        const pl_metric *metric = NULL;
        size_t n = 0;
        ck_assert_int_eq(pl_trace_end(t, &r), PL_OK);
        ck_assert_int_eq(pl_trace_metrics(t, counter, &metric, &n), PL_OK);
        ck_assert_uint_eq(n, 1);
        *value = metric->value;
        pl_trace_close(t, false);
    }
    pl_module_close(m);
    pl_gpu_close(gpu);
    return r;
}

static pl_result launch(const char *declarations, const char *body, uint32_t threads)
{
    return launch_counted(declarations, body, threads, NULL, NULL);
}

/* Of one warp. */
static uint64_t cycles_of(const char *declarations, const char *body)
{
    return launch(declarations, body, 32).cycles;
}

/* A constant at a known offset is an operand; its first reader waits for its cache line
 * (metrics.tsv imc_miss of launches with and without __constant__ arrays: 300 to 600 cycles),
 * others do not. */
START_TEST(constant_cache_miss)
{
    static const char *const table = ".const .align 256 .b32 c[512] = {1, 2, 3};";
    uint64_t none = cycles_of(table, "add.f32 %f0, %f0, %f0;");
    uint64_t one = cycles_of(table, "ld.const.f32 %f1, [c]; add.f32 %f0, %f0, %f1;");
    uint64_t near = cycles_of(table, "ld.const.f32 %f1, [c]; add.f32 %f0, %f0, %f1; ld.const.f32 "
                                     "%f2, [c+60]; mul.f32 %f0, %f0, %f2;");
    uint64_t far = cycles_of(table, "ld.const.f32 %f1, [c]; add.f32 %f0, %f0, %f1; ld.const.f32 "
                                    "%f2, [c+1024]; mul.f32 %f0, %f0, %f2;");
    ck_assert_uint_ge(one, none + 200);
    ck_assert_uint_le(one, none + 600);
    ck_assert_uint_le(near, one + 20);
    ck_assert_uint_ge(far, one + 200);
}
END_TEST

/* The same holds for the address of a variable, which the driver keeps in the constant bank. */
START_TEST(variable_address_cache_miss)
{
    static const char *const variable = ".visible .global .align 4 .b32 v[64];";
    uint64_t parameter = cycles_of(variable, "ld.global.u32 %r1, [%d0+64]; add.u32 %r0, %r0, %r1;");
    uint64_t address = cycles_of(variable, "ld.global.u32 %r1, [v]; add.u32 %r0, %r0, %r1;");
    ck_assert_uint_ge(address, parameter + 200);
}
END_TEST

/* A cluster barrier makes the warp's writes visible. It begins with a fence (metrics.tsv membar of
 * cluster_reduce: 431 cycles for a barrier of 32 warps per SM), which waits for stores, unless
 * .relaxed makes that unnecessary. */
START_TEST(cluster_arrive_fence)
{
/* Parameters are loaded before a fence: here all warps have them by then. */
#define ASKED "ld.global.u32 %r1, [%d0+64]; setp.ne.u32 %p1, %r1, 0; @%p1 exit; "
    uint64_t relaxed = cycles_of("", ASKED "barrier.cluster.arrive.relaxed; barrier.cluster.wait;");
    uint64_t released =
        cycles_of("", ASKED "barrier.cluster.arrive.release; barrier.cluster.wait;");
    uint64_t fence = cycles_of(
        "", ASKED "fence.acq_rel.gpu; barrier.cluster.arrive.relaxed; barrier.cluster.wait;");
    uint64_t stored = cycles_of(
        "",
        ASKED "st.global.u32 [%d0+64], %r0; barrier.cluster.arrive.release; barrier.cluster.wait;");
    uint64_t unasked = cycles_of(
        "",
        ASKED "st.global.u32 [%d0+64], %r0; barrier.cluster.arrive.relaxed; barrier.cluster.wait;");
    ck_assert_uint_ge(released, relaxed + 350);
    ck_assert_uint_le(released, fence + 20);
    ck_assert_uint_ge(stored, released);
    ck_assert_uint_le(unasked + 250, stored);
#undef ASKED
}
END_TEST

/* A loop of 64 iterations around `body`, in which %p1 is true in every second lane; returns cycles
 * per iteration. */
static double round_of(const char *declarations, const char *body)
{
    static char text[8192];
    enum { MORE = 64 };
    uint64_t cycles[2];
    for (int k = 0; k < 2; k++) {
        snprintf(text, sizeof text,
                 "and.b32 %%r5, %%r0, 1; setp.eq.u32 %%p1, %%r5, 1; setp.lt.u32 %%p2, %%r0, 99; "
                 "mov.u32 %%r1, 0;\n"
                 "again: %s\nadd.u32 %%r1, %%r1, 1; setp.lt.u32 %%p3, %%r1, %d; @%%p3 bra again;\n",
                 body, MORE * (k + 1));
        cycles[k] = cycles_of(declarations, text);
    }
    return (double)(cycles[1] - cycles[0]) / MORE;
}

/* Cycles of flow.tsv parting, with nine instructions on each side: 85 or 94 per iteration if all
 * lanes take the same side, 152 if they diverge and each group executes the BSYNC. */
START_TEST(divergent_branch_cost)
{
#define TWICE    "xor.b32 %r0, %r0, %r6; add.u32 %r0, %r0, %r6;"
#define SIDE(at) TWICE TWICE TWICE TWICE "st.volatile.shared.u32 [v+" #at "], %r0;"
    static const char *const variable = ".shared .align 4 .b32 v[4];";
#define WAYS(p)                                                                                    \
    "mov.u32 %r6, %ntid.x; @" p                                                                    \
    " bra one; " SIDE(0) " bra two; one: " SIDE(4) " two: xor.b32 %r0, %r0, 9;"
    double alike = round_of(variable, WAYS("%p2")), apart = round_of(variable, WAYS("%p1"));
    ck_assert(alike >= 80 && alike <= 110);
    ck_assert(apart - alike >= 58 && apart - alike <= 76);
}
END_TEST

/* flow.tsv: a call through a pointer takes 151 cycles per iteration, of which the loop takes 31;
 * 109 for each further target. */
START_TEST(indirect_call_cost)
{
    static const char *const functions =
        ".func (.param .b32 r) f(.param .b32 a) { .reg .b32 %x; ld.param.u32 %x, [a]; xor.b32 %x, "
        "%x, 5; st.param.b32 [r], %x; ret; }\n"
        ".func (.param .b32 r) g(.param .b32 a) { .reg .b32 %x; ld.param.u32 %x, [a]; add.u32 %x, "
        "%x, 9; st.param.b32 [r], %x; ret; }\n"
        ".global .align 8 .u64 table[2] = {f, g};";
#define CALL(index)                                                                                \
    "{ .param .b32 a; .param .b32 r; .reg .b64 %t<4>; cvt.u64.u32 %t0, " index                     \
    "; shl.b64 %t0, %t0, 3; mov.u64 %t1, table;"                                                   \
    "add.u64 %t1, %t1, %t0; ld.global.u64 %t2, [%t1]; st.param.b32 [a], %r0; p: .callprototype "   \
    "(.param .b32 _) _ (.param .b32 _);"                                                           \
    "call (r), %t2, (a), p; ld.param.b32 %r0, [r]; }"
    /* lanes that also diverge elsewhere: otherwise ptxas lets them stay diverged */
#define ELSEWHERE                                                                                  \
    "mov.u32 %r6, %ntid.x; @%p1 bra on; " TWICE TWICE TWICE TWICE                                  \
    "st.volatile.global.u32 [%d0+128], %r0; on: "
    double one = round_of(functions, ELSEWHERE "and.b32 %r7, %r1, 0;" CALL("%r7"));
    double two = round_of(functions, ELSEWHERE CALL("%r5"));
    ck_assert(two - one >= 90 && two - one <= 130);
}
END_TEST

/* flow.tsv recurse: 242 cycles per level of a function that calls itself once. Its lanes reconverge
 * twice after a call that released their barrier. */
START_TEST(recursion_cost)
{
    static const char *const deep =
        ".func (.param .b32 r) f(.param .b32 a, .param .b32 b) { .reg .b32 %x<6>; .reg .pred %q; "
        "ld.param.u32 %x0, [a]; ld.param.u32 %x1, [b];\n"
        "setp.eq.u32 %q, %x1, 0; @%q bra last; add.u32 %x2, %x0, 1; add.u32 %x3, %x1, -1;\n"
        "{ .param .b32 m; .param .b32 n; .param .b32 s; st.param.b32 [m], %x2; st.param.b32 [n], "
        "%x3; call.uni (s), f, (m, n); ld.param.b32 %x4, [s]; }\n"
        "mad.lo.u32 %x4, %x4, 3, %x0; add.u32 %x4, %x4, %x1; bra.uni done; last: xor.b32 %x4, %x0, "
        "5; done: st.param.b32 [r], %x4; ret; }";
#define LEVELS(n)                                                                                  \
    "{ .param .b32 a; .param .b32 b; .param .b32 r; st.param.b32 [a], %r0; mov.b32 %r7, " #n       \
    "; st.param.b32 [b], %r7; call.uni (r), f, (a, b); ld.param.b32 %r0, [r]; }"
    double few = round_of(deep, LEVELS(4)), many = round_of(deep, LEVELS(12)),
           level = (many - few) / 8;
    ck_assert_msg(level >= 225 && level <= 259, "%.1f cycles a level", level);
}
END_TEST

/* yield.tsv: an iteration takes 46 cycles longer if it yields to other lanes (98 instead of 52),
 * with 32 warps 4 cycles of the SM each (128 instead of 56). */
START_TEST(yield_cost)
{
    static const char *const shared = ".shared .align 4 .b32 v[64];";
    static const uint32_t threads[] = {32, 1024};
    double cycles[2][2];
    for (int t = 0; t < 2; t++)
        for (int polls = 0; polls < 2; polls++) {
            uint64_t all[2];
            for (int k = 0; k < 2; k++) {
                char text[512];
                snprintf(text, sizeof text,
                         "and.b32 %%r1, %%r0, 31; sub.u32 %%r2, %d, %%r1; \nround: shl.b32 %%r3, "
                         "%%r2, 2; and.b32 %%r3, %%r3, 252; mov.u32 %%r5, v; add.u32 %%r3, %%r3, "
                         "%%r5; ld%s.shared.u32 %%r4, [%%r3]; add.u32 %%r2, %%r2, %%r4;\n"
                         "add.u32 %%r2, %%r2, -1; setp.ne.u32 %%p1, %%r2, 0; @%%p1 bra "
                         "round;\nadd.u32 %%r0, %%r0, %%r2;",
                         100 * (k + 1), polls ? ".volatile" : "");
                all[k] = launch(shared, text, threads[t]).cycles;
            }
            cycles[t][polls] = (double)(all[1] - all[0]) / 100;
        }
    ck_assert_msg(cycles[0][1] - cycles[0][0] >= 42 && cycles[0][1] - cycles[0][0] <= 50,
                  "%.1f cycles with, %.1f without", cycles[0][1], cycles[0][0]);
    ck_assert_msg(cycles[1][1] >= 118 && cycles[1][1] <= 148, "%.1f cycles with 32 warps",
                  cycles[1][1]);
}
END_TEST

/* groups.tsv, volatile_looped one_200: of four walks in a loop each is long for a different lane,
 * and lanes on a long walk execute together. That takes 19,417 cycles for 190 further steps. It
 * takes 67,679 cycles if each walk has its own code, because no two of them are at the same
 * instruction. */
START_TEST(loop_lanes_rejoin)
{
    uint64_t all[2];
    for (int k = 0; k < 2; k++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "and.b32 %%r1, %%r0, 31; mov.u32 %%r6, 0; mov.u32 %%r5, v;\nwalk: setp.eq.u32 "
                 "%%p1, %%r6, %%r1; selp.u32 %%r2, %d, 10, %%p1;\n"
                 "step: shl.b32 %%r3, %%r2, 2; and.b32 %%r3, %%r3, 252; add.u32 %%r3, %%r3, %%r5; "
                 "ld.volatile.shared.u32 %%r4, [%%r3]; add.u32 %%r2, %%r2, %%r4; add.u32 %%r2, "
                 "%%r2, -1;\n"
                 "setp.ne.u32 %%p1, %%r2, 0; @%%p1 bra step;\nadd.u32 %%r6, %%r6, 1; setp.ne.u32 "
                 "%%p1, %%r6, 4; @%%p1 bra walk;\nadd.u32 %%r0, %%r0, %%r2;",
                 k ? 200 : 10);
        all[k] = launch(".shared .align 4 .b32 v[64];", text, 32).cycles;
    }
    ck_assert_msg(all[1] - all[0] >= 17500 && all[1] - all[0] <= 21400, "%u cycles",
                  (unsigned)(all[1] - all[0]));
}
END_TEST

/* unseen/metrics.tsv.xz, panels_come_in_bulk_and_leave_in_bulk: each lane issues its own copy,
 * sequentially (54 cycles, 9 instructions). */
START_TEST(bulk_copy_per_lane)
{
    uint64_t cycles[2], instructions[2];
    double sectors[2];
    for (int all = 0; all < 2; all++) {
        char text[1024];
        const unsigned lanes = all ? 32 : 1;
        snprintf(text, sizeof text,
                 "mov.u32 %%r1, bar; setp.eq.u32 %%p1, %%r0, 0; @%%p1 mbarrier.init.shared.b64 "
                 "[%%r1], 1; bar.sync 0;\n"
                 "@%%p1 mbarrier.arrive.expect_tx.shared.b64 %%d1, [%%r1], %u; bar.warp.sync "
                 "0xffffffff; setp.lt.u32 %%p2, %%r0, %u;\n"
                 "mov.u32 %%r2, v; mad.lo.u32 %%r2, %%r0, 128, %%r2; mul.wide.u32 %%d2, %%r0, 128; "
                 "add.u64 %%d2, %%d0, %%d2;\n"
                 "@%%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%%r2], "
                 "[%%d2], 128, [%%r1];\n"
                 "wait: mbarrier.try_wait.parity.shared.b64 %%p3, [%%r1], 0; @!%%p3 bra wait;",
                 128 * lanes, lanes);
        pl_result r =
            launch_counted(".shared .align 128 .b8 v[4096]; .shared .align 8 .b64 bar;", text, 32,
                           "l1tex__m_xbar2l1tex_read_sectors.sum", &sectors[all]);
        cycles[all] = r.cycles;
        instructions[all] = r.inst_executed;
    }
    ck_assert_double_eq(sectors[1] - sectors[0], 31 * 4);
    ck_assert_uint_ge(cycles[1], cycles[0] + 31 * 48);
    ck_assert_uint_le(cycles[1], cycles[0] + 31 * 60);
    ck_assert_uint_eq(instructions[1], instructions[0] + 31 * 9);
}
END_TEST

/* st.release.gpu begins with a fence (MEMBAR in machine code for sm_90: behind.tsv.xz, messages
 * between two SMs take 430 cycles longer each); one of block scope does not. */
START_TEST(release_fence)
{
    uint64_t relaxed = cycles_of("", "st.relaxed.gpu.global.u32 [%d0+64], %r0;"),
             release = cycles_of("", "st.release.gpu.global.u32 [%d0+64], %r0;");
    uint64_t cta = cycles_of("", "st.release.cta.global.u32 [%d0+64], %r0;");
    ck_assert_uint_ge(release, relaxed + 200);
    ck_assert_uint_le(release, relaxed + 400);
    ck_assert_uint_le(cta, relaxed + 10);
}
END_TEST

/* A release beyond block scope begins with a fence in shared memory as well, and at an mbarrier
 * with two MEMBARs. An acquire there is followed by a CCTL (machine code of ptxas 13.0 for sm_90).
 * An arrival after a store to another block of the cluster takes 330 to 360 cycles (H200,
 * 2026-11). */
START_TEST(shared_release_fence)
{
    static const char *const shared = ".shared .align 8 .b64 bar;";
    static const char *const body[] = {
        "mbarrier.arrive.release.cta.shared::cta.b64 %s, [%a]; }",
        "mbarrier.arrive.release.cluster.shared::cta.b64 %s, [%a]; }",
        "mbarrier.test_wait.parity.acquire.cta.shared::cta.b64 %q, [%a], 1; }",
        "mbarrier.test_wait.parity.acquire.cluster.shared::cta.b64 %q, [%a], 1; }",
        "st.relaxed.gpu.shared.u32 [%a], %a; }",
        "st.release.gpu.shared.u32 [%a], %a; }"};
    uint64_t cycles[6], instructions[6];
    for (int k = 0; k < 6; k++) {
        char text[512];
        snprintf(text, sizeof text,
                 "{ .reg .b64 %%s; .reg .b32 %%a; .reg .pred %%q; mov.u32 %%a, bar; "
                 "mbarrier.init.shared.b64 [%%a], 40; %s",
                 body[k]);
        const pl_result r = launch(shared, text, 32);
        cycles[k] = r.cycles;
        instructions[k] = r.inst_executed;
    }
    ck_assert_uint_eq(instructions[1], instructions[0] + 4);
    ck_assert_uint_eq(instructions[3], instructions[2] + 1);
    ck_assert_uint_eq(instructions[5], instructions[4] + 3);
    /* Some of its 264 cycles overlap the wait of an arrival. */
    ck_assert_uint_ge(cycles[1], cycles[0] + 150);
    ck_assert_uint_le(cycles[1], cycles[0] + 450);
    ck_assert_uint_ge(cycles[5], cycles[4] + 150);
}
END_TEST

/* The longest wait of a warp of a block for a load of its own line after `n` stores of each warp to
 * 32 random lines. */
static uint64_t load_after_stores(unsigned warps, unsigned n)
{
    static char text[4096];
    static unsigned char zero[1 << 20];
    uint32_t cycles = 0;
    snprintf(
        text, sizeof text,
        ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p, .param "
        ".u32 n)\n{\n"
        ".reg .b32 %%r<20>; .reg .b64 %%d<9>; .reg .pred %%p<3>;\n"
        "ld.param.u64 %%d0, [p]; ld.param.u32 %%r1, [n]; mov.u32 %%r0, %%tid.x; mul.wide.u32 %%d1, "
        "%%r0, 4; add.u64 %%d2, %%d0, %%d1;\n"
        "ld.volatile.global.u32 %%r2, [%%d2+1044480]; mad.lo.u32 %%r2, %%r0, 0x9e3779b1, %%r2; "
        "bar.sync 0;\n" /* the line is cached */
        "setp.eq.u32 %%p1, %%r1, 0; @%%p1 bra done;\n"
        "again: mad.lo.u32 %%r2, %%r2, 1664525, 1013904223; shr.u32 %%r5, %%r2, 20; mul.wide.u32 "
        "%%d3, %%r5, 128; add.u64 %%d3, %%d3, %%d0; add.u32 %%r1, %%r1, -1;\n"
        "st.volatile.global.u32 [%%d3], %%r2; setp.ne.u32 %%p1, %%r1, 0; @%%p1 bra again;\n"
        "done: mov.u32 %%r3, %%clock; ld.volatile.global.u32 %%r4, [%%d2+1044480]; setp.eq.u32 "
        "%%p2, %%r4, 77; @%%p2 ret; mov.u32 %%r6, %%clock; sub.u32 %%r7, %%r6, %%r3;\n"
        "and.b32 %%r8, %%r0, 31; setp.eq.u32 %%p2, %%r8, 0; @%%p2 red.global.max.u32 "
        "[%%d0+1044476], %%r7; ret;\n}\n");
    pl_gpu *gpu = NULL;
    pl_module *m = NULL;
    struct {
        pl_ptr p;
        uint32_t n;
    } params = {.n = n};
    ck_assert_int_eq(pl_gpu_open(&gpu, "h200"), PL_OK);
    ck_assert_int_eq(pl_module_load(gpu, "k.ptx", text, strlen(text), NULL, &m), PL_OK);
    ck_assert_int_eq(pl_alloc_device(gpu, sizeof zero, "p", &params.p), PL_OK);
    ck_assert_int_eq(pl_copy_to_device(gpu, params.p, zero, sizeof zero), PL_OK);
    pl_launch l = {.kernel = "k",
                   .grid = {1, 1, 1},
                   .block = {warps * 32, 1, 1},
                   .params = &params,
                   .param_bytes = 12,
                   .mode = PL_MODE_TIMING,
                   .threads = 1};
    pl_result r = {.status = PL_INVALID};
    ck_assert_int_eq(pl_launch_kernel(gpu, m, &l, &r), PL_OK);
    ck_assert_int_eq(r.status, PL_OK);
    ck_assert_int_eq(pl_copy_from_device(gpu, &cycles, params.p + 1044476, sizeof cycles), PL_OK);
    pl_module_close(m);
    pl_gpu_close(gpu);
    return cycles;
}

/* A warp may issue stores that the SM cannot send yet: they wait before the L1, and later loads
 * wait after them. (behind.tsv.xz, one SM: 400 cycles for a load alone, 2305 after one store of
 * each of 32 warps. 3400 after any number of them: 50 fit; 2612 with eight warps.) */
START_TEST(loads_wait_for_earlier_stores)
{
    uint64_t alone = load_after_stores(32, 0), one = load_after_stores(32, 1),
             two = load_after_stores(32, 2), many = load_after_stores(32, 16),
             few = load_after_stores(8, 16);
    ck_assert_uint_ge(one, 4 * alone);
    ck_assert_uint_le(one, 2305);
    ck_assert_uint_ge(two, one + 400);
    ck_assert_uint_ge(many, two + 300);
    ck_assert_uint_ge(few, 2000);
    ck_assert_uint_le(few, 3402);
}
END_TEST

/* try_wait: the hardware suspends the warp until the phase has completed (metrics.tsv
 * inst_executed_op_branch of tma1d_pipeline, whose 31,680 waits fail three times at most);
 * test_wait returns immediately. */
START_TEST(mbarrier_wait_issues_nothing)
{
    enum { FEW = 16, MANY = 400 };
    static const char *const how[] = {"try_wait", "test_wait"};
    uint64_t more[2][2]; /* instructions, cycles */
    for (unsigned h = 0; h < 2; h++) {
        pl_result r[2];
        for (unsigned k = 0; k < 2; k++) {
            char text[1024];
            snprintf(
                text, sizeof text,
                "setp.ge.u32 %%p1, %%r0, 32; mov.u32 %%r1, 0; mov.u32 %%r3, 0; @%%p1 bra other;\n"
                "wait: mbarrier.%s.parity.shared.b64 %%p2, [bar], 0; @!%%p2 bra wait; bra both;\n"
                "other: ld.volatile.shared.u32 %%r2, [v]; mad.lo.u32 %%r1, %%r1, 7, %%r2; "
                "ld.volatile.shared.u32 %%r4, [v]; add.u32 %%r3, %%r3, 1; setp.lt.u32 %%p3, %%r3, "
                "%d; @%%p3 bra other;\n"
                "mbarrier.arrive.shared.b64 _, [bar];\nboth:\n",
                how[h], k ? MANY : FEW);
            char body[1200];
            snprintf(body, sizeof body, "mbarrier.init.shared.b64 [bar], 32; bar.sync 0;\n%s",
                     text);
            r[k] = launch(".shared .align 8 .b64 bar; .shared .align 4 .b32 v;", body, 64);
        }
        more[h][0] = r[1].inst_executed - r[0].inst_executed;
        more[h][1] = r[1].cycles - r[0].cycles;
    }
    ck_assert_uint_ge(more[0][1], 5 * (MANY - FEW));
    ck_assert_uint_le(more[0][0], 3 * (MANY - FEW)); /* those of the other warp */
    ck_assert_uint_le(more[0][0] + 300, more[1][0]);
    ck_assert_uint_le(more[0][1], more[1][1] + 100);
}
END_TEST

/* Sectors written from the SM by the stores of `body`, beyond those of every launch here. */
static double leaving(const char *body, uint32_t threads)
{
    static const char *const sectors = "l1tex__m_l1tex2xbar_write_sectors.sum";
    double with, without;
    launch_counted("", body, threads, sectors, &with);
    launch_counted("", "", threads, sectors, &without);
    return with - without;
}

/* Stores to one sector in close succession leave the SM as one write, whichever warps issue them.
 * (paths.tsv rows: of 16 words that each thread of a warp stores sequentially an eighth leaves, but
 * all if 145 cycles separate two of them. metrics.tsv l1tex__m_l1tex2xbar_write_sectors of
 * transpose_naive_row_b16.) */
START_TEST(store_merging)
{
    static const char *const row = "mul.wide.u32 %d1, %r0, 64; add.u64 %d1, %d1, %d0;";
    char near[512], far[1024];
    snprintf(near, sizeof near,
             "%s st.global.u32 [%%d1+32], %%r0; st.global.u32 [%%d1+36], %%r0; st.global.u32 "
             "[%%d1+40], %%r0; st.global.u32 [%%d1+44], %%r0;",
             row);
    snprintf(far, sizeof far,
             "%s st.global.u32 [%%d1+32], %%r0; ld.volatile.global.u32 %%r1, [%%d0+4000]; add.u32 "
             "%%r1, %%r1, %%r0; st.global.u32 [%%d1+36], %%r1; "
             "ld.volatile.global.u32 %%r2, [%%d0+4004]; add.u32 %%r2, %%r2, %%r1; st.global.u32 "
             "[%%d1+40], %%r2;",
             row);
    ck_assert_double_eq_tol(leaving(near, 32), 32, 0.5);
    ck_assert_double_eq_tol(leaving(far, 32), 96, 0.5);
    static const char *const both = "and.b32 %r1, %r0, 31; shr.u32 %r2, %r0, 5; mad.lo.u32 %r3, "
                                    "%r1, 8, %r2; mul.wide.u32 %d1, %r3, 4; "
                                    "add.u64 %d1, %d1, %d0; st.global.u32 [%d1+1024], %r0;";
    ck_assert_double_eq_tol(leaving(both, 64), 32, 0.5);
    /* eight stores of words in 15 lines leave as one, stores of bytes separately (joins.tsv) */
    char lines[2048],
        *at = lines + snprintf(lines, sizeof lines,
                               "mul.wide.u32 %%d1, %%r0, 128; add.u64 %%d1, %%d1, %%d0;");
    for (unsigned k = 0; k < 8; k++)
        at += snprintf(at, sizeof lines - (size_t)(at - lines), "st.global.u32 [%%d1+%u], %%r0;",
                       32 + 4 * k);
    ck_assert_double_eq_tol(leaving(lines, 15), 15, 0.5);
    at = lines +
         snprintf(lines, sizeof lines, "mul.wide.u32 %%d1, %%r0, 128; add.u64 %%d1, %%d1, %%d0;");
    for (unsigned k = 0; k < 8; k++)
        at += snprintf(at, sizeof lines - (size_t)(at - lines), "st.global.u8 [%%d1+%u], %%r0;",
                       32 + k);
    ck_assert_double_eq_tol(leaving(lines, 15), 120, 0.5);
    ck_assert_double_eq_tol(leaving(lines, 12), 12, 0.5);
}
END_TEST

/* The value of a counter for one launch. */
static double counted(const char *body, const char *counter)
{
    double value;
    launch_counted("", body, 32, counter, &value);
    return value;
}

/* A reduction on a generic address is an atomic without a destination register (machine code for
 * sm_90; l1tex__t_requests_pipe_lsu_mem_global_op_atom of half2_adds, weights_of_letters). A warp
 * exits when its requests have completed (stalled_drain of the same: 350 to 1300 cycles, 20 to 100
 * of those with reductions on global addresses). */
START_TEST(generic_reduction_drain)
{
    static const char *const atoms = "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
                             *const reds = "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
                             *const drain =
                                 "smsp__average_warps_issue_stalled_drain_per_issue_active.ratio";
    static const char *const generic = "red.add.f64 [%d0], %d0;",
                             *const global = "red.global.add.f64 [%d0], %d0;";
    ck_assert_double_eq_tol(counted(generic, atoms), 1, 0.5);
    ck_assert_double_eq_tol(counted(generic, reds), 0, 0.5);
    ck_assert_double_eq_tol(counted(global, atoms), 0, 0.5);
    ck_assert_double_eq_tol(counted(global, reds), 1, 0.5);
    const double waits[] = {counted(generic, drain), counted(global, drain)};
    ck_assert_double_ge(waits[0], waits[1] + 40);
}
END_TEST

/* The reason of most stall cycles, for instructions that each wait for one reason. */
START_TEST(stall_reasons)
{
    static const struct {
        const char *body, *reason;
    } row[] = {
        {"fence.proxy.async.shared::cta;", "short_scoreboard"},
        {"membar.gl;", "membar"},
        {"ld.global.u32 %r0, [%d0]; add.u32 %r0, %r0, %r0;", "long_scoreboard"},
        {"mad.lo.u32 %r0, %r0, %r0, %r0;", "wait"},
        {"nanosleep.u32 1000;", "sleeping"},
    };
    enum { ROWS = sizeof row / sizeof *row, COPIES = 16 };
    static char body[2048], metric[120];
    for (size_t k = 0; k < ROWS; k++) {
        double own = 0, others = 0;
        body[0] = '\0';
        for (unsigned n = 0; n < COPIES; n++) strcat(body, row[k].body);
        for (size_t r = 0; r < ROWS; r++) {
            snprintf(metric, sizeof metric,
                     "smsp__average_warps_issue_stalled_%s_per_issue_active.ratio", row[r].reason);
            const double stalled = counted(body, metric);
            if (r == k)
                own = stalled;
            else
                others = stalled > others ? stalled : others;
        }
        ck_assert_msg(own > others, "%s: %f %s, %f others", row[k].body, own, row[k].reason,
                      others);
    }
}
END_TEST

/* Lanes of inc, dec and exch on one address are serialised; for an addition one lane sends the sum
 * (inc.tsv: 32 lanes of one warp). */
START_TEST(increment_lanes_serialize)
{
    static const char *const body =
        "atom.global.%s.%s %%r1, [%%d0+1024], 7; xor.b32 %%r0, %%r0, %%r1;";
    static const char *const turns[][2] = {{"inc", "u32"}, {"dec", "u32"}, {"exch", "b32"}};
    char text[128];
    for (size_t k = 0; k < sizeof turns / sizeof *turns; k++) {
        snprintf(text, sizeof text, body, turns[k][0], turns[k][1]);
        ck_assert_uint_ge(launch("", text, 32).cycles, launch("", text, 1).cycles + 24);
    }
    snprintf(text, sizeof text, body, "add", "u32");
    ck_assert_uint_le(launch("", text, 32).cycles, launch("", text, 1).cycles + 8);
}
END_TEST

/* The values that a kernel writes to the memory its parameter points to. */
static void written_by(const char *text, uint32_t blocks, uint32_t threads, void *to, size_t bytes)
{
    pl_gpu *gpu = NULL;
    pl_module *m = NULL;
    pl_ptr out = 0;
    ck_assert_int_eq(pl_gpu_open(&gpu, "h200"), PL_OK);
    ck_assert_int_eq(pl_module_load(gpu, "k.ptx", text, strlen(text), NULL, &m), PL_OK);
    ck_assert_int_eq(pl_alloc_device(gpu, bytes, "p", &out), PL_OK);
    pl_launch l = {.kernel = "k",
                   .grid = {blocks, 1, 1},
                   .block = {threads, 1, 1},
                   .params = &out,
                   .param_bytes = sizeof out,
                   .mode = PL_MODE_TIMING,
                   .threads = 1};
    pl_result r = {.status = PL_INVALID};
    ck_assert_int_eq(pl_launch_kernel(gpu, m, &l, &r), PL_OK);
    ck_assert_int_eq(r.status, PL_OK);
    ck_assert_int_eq(pl_copy_from_device(gpu, to, out, bytes), PL_OK);
    pl_module_close(m);
    pl_gpu_close(gpu);
}

/* ATOMS.POPC.INC counts the lanes with the same word at once (wavefronts of hist_shared); lanes
 * that add other numbers to one word are serialised (atomics.csv atom.shared.add.u32 same). */
START_TEST(counting_lanes_at_once)
{
    static char text[8192];
    uint64_t cycles[2];
    for (unsigned addend = 1; addend <= 2; addend++) {
        size_t at = (size_t)snprintf(text, sizeof text,
                                     "mov.u32 %%r1, s; and.b32 %%r2, %%r0, 4; add.u32 %%r1, %%r1, "
                                     "%%r2;\n");
        for (unsigned k = 0; k < 64; k++)
            at += (size_t)snprintf(text + at, sizeof text - at, "red.shared.add.u32 [%%r1], %u;\n",
                                   addend);
        cycles[addend - 1] = launch(".shared .align 8 .b32 s[2];", text, 1024).cycles;
    }
    /* 2048 reductions of 16 lanes on each word */
    ck_assert_uint_ge(cycles[1], cycles[0] + 64 * 32 * 12);
}
END_TEST

/* Lanes of a reduction on one address are separate operands in transit, which are limited: the warp
 * waits for reductions that the L2 performs slowly (additions of numbers to one word: 3.28 cycles
 * each). The cycles in which a warp issues 128 of them. */
START_TEST(operands_in_transit)
{
    static const char *const types[][2] = {{"f32", "%f0"}, {"u32", "%r0"}};
    static char text[16384];
    uint64_t cycles[2][8];
    for (unsigned t = 0; t < 2; t++) {
        size_t at = (size_t)snprintf(text, sizeof text,
                                     ".version 8.0\n.target sm_90a\n.address_size 64\n.visible "
                                     ".entry k(.param .u64 p)\n{\n.reg .b32 %%r<9>; .reg .b64 "
                                     "%%d<9>; .reg .f32 %%f<9>;\nmov.u32 %%r0, %%tid.x; "
                                     "cvt.rn.f32.u32 %%f0, %%r0; ld.param.u64 %%d0, [p]; mov.u64 "
                                     "%%d1, %%clock64;\n");
        for (unsigned k = 0; k < 128; k++)
            at += (size_t)snprintf(text + at, sizeof text - at,
                                   "red.global.add.%s [%%d0+32], %s;\n", types[t][0], types[t][1]);
        snprintf(text + at, sizeof text - at,
                 "mov.u64 %%d2, %%clock64; sub.u64 %%d2, %%d2, %%d1; st.global.u64 [%%d0], %%d2; "
                 "ret;\n}\n");
        written_by(text, 1, 32, cycles[t], sizeof cycles[t]);
    }
    ck_assert_uint_ge(cycles[0][0], cycles[1][0] + 4000);
}
END_TEST

/* start.tsv: `n` dependent multiplications, by warps of `blocks` blocks; average cycles of a
 * warp. */
static double run_of(unsigned n, uint32_t blocks, uint32_t threads)
{
    static char text[16384];
    static uint64_t taken[4096];
    const uint32_t warps = blocks * threads / 32;
    ck_assert_uint_le(warps, sizeof taken / sizeof *taken);
    size_t at = (size_t)snprintf(text, sizeof text,
                                 ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry "
                                 "k(.param .u64 p)\n{\n.reg .b32 %%r<9>; .reg .b64 %%d<9>;\n"
                                 "mov.u64 %%d1, %%clock64; mov.u32 %%r0, %%tid.x; mov.u32 %%r1, "
                                 "%%ctaid.x; mov.u32 %%r2, %%ntid.x;\n"
                                 "mad.lo.u32 %%r1, %%r1, %%r2, %%r0; mov.u32 %%r3, %%r0;\n");
    for (unsigned k = 0; k < n; k++)
        at += (size_t)snprintf(text + at, sizeof text - at, "mad.lo.u32 %%r3, %%r3, %%r3, %u;\n",
                               77 * k + 1);
    snprintf(
        text + at, sizeof text - at,
        "ld.param.u64 %%d0, [p]; shr.u32 %%r1, %%r1, 5; mul.wide.u32 %%d2, %%r1, 8; add.u64 %%d0, "
        "%%d0, %%d2; st.global.u32 [%%d0], %%r3;\n"
        "mov.u64 %%d3, %%clock64; sub.u64 %%d3, %%d3, %%d1; st.global.u64 [%%d0], %%d3; ret;\n}\n");
    written_by(text, blocks, threads, taken, warps * sizeof *taken);
    double sum = 0;
    for (uint32_t k = 0; k < warps; k++) sum += (double)taken[k];
    return sum / warps;
}

/* The 32 warps of a block all run until the last has finished; of two blocks of eight warps those
 * of the younger one finish before the others. */
START_TEST(warp_scheduling_order)
{
    ck_assert_double_eq_tol(run_of(100, 1, 1024), 1685, 100);
    ck_assert_double_eq_tol(run_of(100, 264, 256), 696, 60);
}
END_TEST

/* Functions of the driver. (heap.tsv: 15,450 cycles of malloc of 16 bytes for one lane, 133,721 for
 * a warp; 13,220 and 37,617 of free. print.tsv: 51,842 cycles of the first printf of a launch,
 * 41,058 of the second, 45,492 of the second of a whole warp.) */
START_TEST(driver_function_cost)
{
    static const char *const extern_ =
        ".extern .func (.param .b64 r) malloc (.param .b64 n);\n.extern .func free (.param .b64 "
        "p);\n"
        ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n.global .align 1 "
        ".b8 text[4] = {104, 105, 10, 0};";
    static const char *const take = "{.param .b64 n; .param .b64 r; st.param.b64 [n], 16; call.uni "
                                    "(r), malloc, (n); ld.param.b64 %d5, [r];}";
    static const char *const give = "{.param .b64 q; st.param.b64 [q], %d5; call.uni free, (q);}";
    static const char *const say = "{.param .b64 f; .param .b64 a; .param .b32 r; mov.u64 %d6, "
                                   "text; cvta.global.u64 %d6, %d6; st.param.b64 [f], %d6; "
                                   "st.param.b64 [a], 0; call.uni (r), vprintf, (f, a);}";
    char both[1024], twice[1024];
    snprintf(both, sizeof both, "%s\n%s", take, give);
    snprintf(twice, sizeof twice, "%s\n%s", say, say);
    static const struct {
        uint32_t threads, alloc, free, first_print, next_print;
    } recorded[] = {{1, 15450, 13220, 51842, 41058}, {32, 133721, 37617, 0, 45492}};
    for (unsigned k = 0; k < 2; k++) {
        const uint32_t threads = recorded[k].threads;
        const double none = (double)launch(extern_, "", threads).cycles,
                     alloc = (double)launch(extern_, take, threads).cycles,
                     pair = (double)launch(extern_, both, threads).cycles,
                     print = (double)launch(extern_, say, threads).cycles,
                     prints = (double)launch(extern_, twice, threads).cycles;
        ck_assert_double_eq_tol(alloc - none, recorded[k].alloc, 0.1 * recorded[k].alloc);
        ck_assert_double_eq_tol(pair - alloc, recorded[k].free, 0.1 * recorded[k].free);
        if (recorded[k].first_print)
            ck_assert_double_eq_tol(print - none, recorded[k].first_print,
                                    0.05 * recorded[k].first_print);
        ck_assert_double_eq_tol(prints - print, recorded[k].next_print,
                                0.05 * recorded[k].next_print);
    }
}
END_TEST

/* SMs to which the blocks of a grid are assigned, by number of blocks per SM (place.tsv.xz), for
 * the last blocks if they are fewer than SMs. Eight go to the first SMs, successive ones of the
 * rest to different GPCs (here a row of 16 or 17 SMs). They go to the first SMs of TPCs before the
 * second ones. */
START_TEST(block_placement)
{
    enum { SMS = 132, AHEAD = 8, GROUPS = 8 };
    static const char *const text =
        ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg "
        ".b32 %r<9>; .reg .b64 %d<9>;\n"
        "ld.param.u64 %d0, [p]; mov.u32 %r0, %ctaid.x; mov.u32 %r1, %smid; mul.wide.u32 %d1, %r0, "
        "4; add.u64 %d0, %d0, %d1;\n"
        "st.global.u32 [%d0], %r1; ret;\n}\n";
    static const struct {
        uint32_t blocks, least, most, seconds;
    } grids[] = {{40, 4, 4, 0},  {48, 5, 5, 0},  {80, 6, 10, 8},
                 {144, 0, 1, 0}, {200, 5, 8, 0}, {264, 9, 17, 60}};
    for (size_t k = 0; k < sizeof grids / sizeof *grids; k++) {
        uint32_t sm[264], on[SMS] = {0}, of[GROUPS] = {0}, seconds = 0,
                          whole = (grids[k].blocks - 1) / SMS;
        written_by(text, grids[k].blocks, 32, sm, grids[k].blocks * sizeof *sm);
        for (uint32_t b = 0; b < grids[k].blocks; b++) on[sm[b]]++;
        for (uint32_t n = 0; n < AHEAD; n++) ck_assert_uint_eq(on[n], whole + 1);
        for (uint32_t n = AHEAD; n < SMS; n++) {
            const uint32_t g = n * GROUPS / SMS,
                           first = g ? (g * SMS + GROUPS - 1) / GROUPS : AHEAD;
            ck_assert_uint_ge(on[n], whole);
            ck_assert_uint_le(on[n], whole + 1);
            of[g] += on[n] - whole;
            seconds += (n - first) % 2 && on[n] > whole;
        }
        for (uint32_t g = 0; g < GROUPS; g++) {
            ck_assert_uint_ge(of[g], grids[k].least);
            ck_assert_uint_le(of[g], grids[k].most);
        }
        ck_assert_uint_eq(seconds, grids[k].seconds);
    }
}
END_TEST

/* Cycles per iteration of four loads that hit the L1, and of a store of a line if `stores` is set,
 * by 32 warps. */
static double round_beside(bool stores)
{
    enum { ROUNDS = 16 };
    static char text[8192];
    static uint32_t taken[4096]; /* those of the warps, then the stored ones */
    size_t at = (size_t)snprintf(
        text, sizeof text,
        ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg "
        ".b32 %%r<9>; .reg .b64 %%d<9>; .reg .f32 %%f<9>;\n"
        "ld.param.u64 %%d0, [p]; mov.u32 %%r0, %%tid.x; mul.wide.u32 %%d1, %%r0, 4; add.u64 %%d1, "
        "%%d1, %%d0;\n"
        "ld.global.f32 %%f0, [%%d0+128]; ld.global.f32 %%f1, [%%d0+256]; ld.global.f32 %%f2, "
        "[%%d0+384]; ld.global.f32 %%f3, [%%d0+512];\n"
        "add.f32 %%f0, %%f0, %%f1; add.f32 %%f2, %%f2, %%f3; add.f32 %%f0, %%f0, %%f2; "
        "st.global.f32 [%%d1+8192], %%f0; bar.sync 0; mov.u32 %%r1, %%clock;\n");
    for (unsigned k = 0; k < ROUNDS; k++)
        at += (size_t)snprintf(
            text + at, sizeof text - at,
            "ld.global.f32 %%f1, [%%d0+%u]; ld.global.f32 %%f2, [%%d0+%u]; ld.global.f32 %%f3, "
            "[%%d0+%u]; ld.global.f32 %%f4, [%%d0+%u];\n"
            "fma.rn.f32 %%f0, %%f1, %%f2, %%f0; fma.rn.f32 %%f0, %%f3, %%f4, %%f0;%s\n",
            128 + 4 * k, 256 + 4 * k, 384 + 4 * k, 512 + 4 * k,
            stores ? " st.volatile.global.f32 [%d1+4096], %f0;" : "");
    snprintf(text + at, sizeof text - at,
             "st.global.f32 [%%d1+8192], %%f0; mov.u32 %%r2, %%clock; sub.u32 %%r2, %%r2, %%r1; "
             "st.global.u32 [%%d1], %%r2; ret;\n}\n");
    written_by(text, 1, 1024, taken, sizeof taken);
    double sum = 0;
    for (unsigned k = 0; k < 1024; k++) sum += taken[k];
    return sum / 1024 / ROUNDS;
}

/* Cycles per fetch of `warps` warps from an image of 32-bit floats with `channels` components,
 * where lanes are `apart` texels from each other; or from a volume, between two of its planes. */
static double fetches_of(uint32_t warps, unsigned channels, unsigned apart, bool volume)
{
    enum { FETCHES = 64, SIDE = 512, PLANES = 4 };
    const char *const fetch = volume ? "tex.3d.v4.f32.f32" : "tex.2d.v4.f32.f32",
                      *const place = volume ? "{%f0, %f41, %f42, %f42}" : "{%f0, %f41}";
    static char text[16384];
    size_t at = (size_t)snprintf(
        text, sizeof text,
        ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p, .param "
        ".u64 t)\n{\n.reg .b32 %%r<9>; .reg .b64 %%d<9>; .reg .f32 %%f<49>;\n"
        "ld.param.u64 %%d0, [p]; ld.param.u64 %%d2, [t]; mov.u32 %%r0, %%tid.x; and.b32 %%r3, "
        "%%r0, 31; mul.lo.u32 %%r3, %%r3, %u; cvt.rn.f32.u32 %%f0, %%r3;\n"
        "mul.wide.u32 %%d1, %%r0, 4; add.u64 %%d1, %%d1, %%d0; mov.f32 %%f40, 0f00000000; mov.f32 "
        "%%f41, 0f3F000000; mov.f32 %%f42, 0f3FA00000;\n"
        "%s {%%f1, %%f2, %%f3, %%f4}, [%%d2, %s]; add.f32 %%f40, %%f40, %%f1; st.global.f32 "
        "[%%d1+8192], %%f40; bar.sync 0; mov.u32 %%r1, %%clock;\n",
        apart, fetch, place);
    for (unsigned k = 0; k < FETCHES; k += 8) {
        for (unsigned j = 0; j < 8; j++)
            at += (size_t)snprintf(text + at, sizeof text - at,
                                   "%s {%%f%u, %%f%u, %%f%u, %%f%u}, [%%d2, %s];\n", fetch,
                                   4 * j + 1, 4 * j + 2, 4 * j + 3, 4 * j + 4, place);
        for (unsigned j = 0; j < 32; j++)
            if (j % 4 < channels)
                at += (size_t)snprintf(text + at, sizeof text - at,
                                       "add.f32 %%f40, %%f40, %%f%u;\n", j + 1);
        at += (size_t)snprintf(text + at, sizeof text - at, "add.f32 %%f0, %%f0, %%f40;\n");
    }
    snprintf(text + at, sizeof text - at,
             "st.global.f32 [%%d1+8192], %%f40; mov.u32 %%r2, %%clock; sub.u32 %%r2, %%r2, %%r1; "
             "st.global.u32 [%%d1], %%r2; ret;\n}\n");
    static uint32_t taken[4096];
    pl_gpu *gpu = NULL;
    pl_module *m = NULL;
    uint64_t params[2] = {0}, array = 0;
    const pl_texel_format format = {
        .kind = PL_CHANNEL_FLOAT, .bits = 32, .channels = (uint8_t)channels};
    ck_assert_int_eq(pl_gpu_open(&gpu, "h200"), PL_OK);
    ck_assert_int_eq(pl_module_load(gpu, "k.ptx", text, strlen(text), NULL, &m), PL_OK);
    ck_assert_int_eq(pl_alloc_device(gpu, sizeof taken, "p", &params[0]), PL_OK);
    ck_assert_int_eq(pl_array_create(gpu,
                                     &(pl_array_desc){.width = SIDE,
                                                      .height = SIDE,
                                                      .depth = volume ? PLANES : 0,
                                                      .format = format},
                                     "a", &array),
                     PL_OK);
    const pl_texture_desc d = {
        .source = PL_TEXTURE_ARRAY,
        .array = array,
        .sampler = {.address = {PL_ADDRESS_CLAMP, PL_ADDRESS_CLAMP, PL_ADDRESS_CLAMP},
                    .linear = volume}};
    ck_assert_int_eq(pl_texture_create(gpu, &d, &params[1], NULL), PL_OK);
    const pl_launch l = {.kernel = "k",
                         .grid = {1, 1, 1},
                         .block = {32 * warps, 1, 1},
                         .params = params,
                         .param_bytes = sizeof params,
                         .mode = PL_MODE_TIMING,
                         .threads = 1};
    pl_result r = {.status = PL_INVALID};
    ck_assert_int_eq(pl_launch_kernel(gpu, m, &l, &r), PL_OK);
    ck_assert_int_eq(r.status, PL_OK);
    ck_assert_int_eq(pl_copy_from_device(gpu, taken, params[0], sizeof taken), PL_OK);
    pl_module_close(m);
    pl_gpu_close(gpu);
    uint32_t most = 0;
    for (uint32_t k = 0; k < 32 * warps; k++) most = taken[k] > most ? taken[k] : most;
    return (double)most / FETCHES / warps;
}

/* The texture units of an SM serve four lanes per cycle, fewer if texels are wide, if the lanes of
 * a quad access lines of one bank, or between planes. (tex.tsv: 8.0, 15.9 and 31.6 cycles per fetch
 * of eight warps; texmiss.tsv: 4 * 4.08.) */
START_TEST(texture_throughput)
{
    ck_assert_double_eq_tol(fetches_of(8, 1, 1, false), 8.0, 0.8);
    ck_assert_double_eq_tol(fetches_of(8, 4, 0, false), 15.9, 1.6);
    ck_assert_double_eq_tol(fetches_of(8, 1, 8, false), 31.6, 3.2);
    ck_assert_double_eq_tol(fetches_of(8, 1, 0, true), 16.3, 1.6);
}
END_TEST

/* Mean cycles of a fence of gpu scope after `before`. */
static double fence_behind(const char *before, unsigned warps)
{
    static char text[2048];
    static uint32_t taken[16384];
    snprintf(text, sizeof text,
             ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 "
             "p)\n{\n.reg .b32 %%r<9>; .reg .b64 %%d<9>;\n.shared .b8 s[2048];\n"
             "ld.param.u64 %%d0, [p]; mov.u32 %%r0, %%tid.x; mul.wide.u32 %%d1, %%r0, 4; add.u64 "
             "%%d1, %%d1, %%d0; mov.u32 %%r5, s; bar.sync 0;\n%s\n"
             "mov.u32 %%r1, %%clock; membar.gl; mov.u32 %%r2, %%clock; sub.u32 %%r2, %%r2, %%r1; "
             "st.global.u32 [%%d1], %%r2; ret;\n}\n",
             before);
    written_by(text, 1, 32 * warps, taken, sizeof taken);
    double sum = 0;
    for (uint32_t k = 0; k < 32 * warps; k++) sum += taken[k];
    return sum / (32 * warps);
}

/* A fence takes longer if the SM has sent a request to the L2 since the preceding fence, however
 * long ago. It also waits for the requests of other warps of the SM (fence.tsv: 264; 488 or 558 for
 * one line and for several). */
START_TEST(fence_targets)
{
    static const char *const stores = "st.volatile.global.u32 [%d1+8192], %r0;";
    static const char *const loads =
        "ld.volatile.global.u32 %r3, [%d1+8192]; ld.volatile.global.u32 %r4, [%d1+16384]; add.u32 "
        "%r3, %r3, %r4; bar.sync 0; st.shared.u32 [%r5], %r3; bar.sync 0;";
    ck_assert_double_eq_tol(fence_behind("", 1), 264, 5);
    char again[512];
    snprintf(again, sizeof again, "%s membar.gl; bar.sync 0; %s", stores, stores);
    /* On the path to the far partition the model is slower. */
    ck_assert_double_eq_tol(fence_behind(again, 4), 567, 130);
    ck_assert_double_eq_tol(fence_behind(loads, 4), 563, 40);
    char alone[512];
    snprintf(
        alone, sizeof alone,
        ".reg .pred q; setp.ne.u32 q, %%r0, 127; @q bra there; %s membar.gl; %s there: bar.sync 0;",
        stores, stores);
    ck_assert_double_eq_tol(fence_behind(alone, 4), 561, 130);
}
END_TEST

/* A store occupies the banks of the L1 longer than a load (beside.tsv: 129.0 and 201.9 cycles per
 * iteration). */
START_TEST(store_bank_occupancy)
{
    const double loads = round_beside(false), both = round_beside(true);
    ck_assert_double_eq_tol(both - loads, 72.9, 8);
}
END_TEST

/* Cycles per load of an SM whose `warps` warps load lines present in the L1: each lane its own
 * line, `step` lines from the next one's, and in another bank. One warp waits for each of its
 * loads, several have two outstanding. */
static double loads_of_lines(unsigned step, unsigned warps)
{
    enum { EACH = 8, ROUNDS = 32, AWAY = 131072 /* the same banks */ };
    static char text[4096];
    static uint32_t taken[1024];
    size_t at = (size_t)snprintf(
        text, sizeof text,
        ".version 8.0\n.target sm_90a\n.address_size 64\n.global .align 128 .b8 "
        "room[524288];\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %%r<20>; .reg .b64 %%d<9>; "
        ".reg .pred %%q;\n"
        "ld.param.u64 %%d0, [p]; mov.u32 %%r0, %%tid.x; mul.wide.u32 %%d1, %%r0, 4; add.u64 %%d1, "
        "%%d1, %%d0; and.b32 %%r3, %%r0, 31; mul.wide.u32 %%d3, %%r3, %u;\n"
        "mov.u64 %%d2, room; add.u64 %%d2, %%d2, %%d3; mov.u32 %%r9, 0; mov.u32 %%r4, 0; mov.u32 "
        "%%r5, 0;\n"
        "round: setp.ne.u32 %%q, %%r9, 1; @%%q bra go; bar.sync 0; mov.u32 %%r1, %%clock;\ngo:\n",
        128 * step + 4);
    for (unsigned k = 0; k < EACH; k++) {
        at += (size_t)snprintf(text + at, sizeof text - at, "ld.global.u32 %%r%u, [%%d2+%u];\n",
                               4 + k % 2, warps == 1 ? 0 : k % 2 * AWAY);
        if (warps == 1 || k % 2)
            at += (size_t)snprintf(
                text + at, sizeof text - at,
                "add.u32 %%r5, %%r5, %%r4; cvt.u64.u32 %%d3, %%r5; add.u64 %%d2, %%d2, %%d3;\n");
    }
    snprintf(text + at, sizeof text - at,
             "add.u32 %%r9, %%r9, 1; setp.le.u32 %%q, %%r9, %u; @%%q bra round;\n"
             "cvt.u32.u64 %%r4, %%d3; mov.u32 %%r2, %%clock; sub.u32 %%r2, %%r2, %%r1; add.u32 "
             "%%r2, %%r2, %%r4; st.global.u32 [%%d1], %%r2; ret;\n}\n",
             ROUNDS);
    written_by(text, 1, 32 * warps, taken, sizeof taken);
    double sum = 0;
    for (uint32_t k = 0; k < 32 * warps; k++) sum += taken[k];
    return sum / 32 / warps / warps / EACH / ROUNDS;
}

/* Each of the four tag banks looks up one line per cycle (sets.tsv): an access takes as long as the
 * bank with most of its lines. */
START_TEST(tag_bank_conflicts)
{
    /* Recorded, by step. */
    static const uint8_t turns[] = {8,  8, 11, 8,  10, 11, 14, 8,  14, 10, 14, 14, 9,  13,
                                    10, 8, 9,  11, 10, 9,  10, 11, 13, 11, 10, 9,  12, 13,
                                    10, 9, 16, 8,  16, 10, 9,  14, 13, 10, 10, 12};
    const double least = loads_of_lines(1, 1);
    for (unsigned step = 2; step <= sizeof turns; step++)
        ck_assert_double_eq_tol(loads_of_lines(step, 1) - least, turns[step - 1] - turns[0],
                                0.05 + 0.03 * (turns[step - 1] - turns[0]));
    ck_assert_double_eq_tol(loads_of_lines(1, 8), 8.13, 0.4);
    ck_assert_double_eq_tol(loads_of_lines(31, 8), 16.15, 0.8);
}
END_TEST

/* Cycles of a warp of `warps` for each of 64 dependent `operation`s. The lanes supply `values`
 * different numbers. */
static double exchanges_in_a_chain(const char *operation, unsigned values, unsigned warps)
{
    enum { EACH = 64 };
    static char text[16384];
    static uint32_t taken[1024];
    size_t at = (size_t)snprintf(
        text, sizeof text,
        ".version 8.0\n.target sm_90a\n.address_size 64\n.shared .align 4 .b32 s[32];\n.visible "
        ".entry k(.param .u64 p)\n{\n.reg .b32 %%r<20>; .reg .b64 %%d<9>; .reg .pred %%q;\n"
        "ld.param.u64 %%d0, [p]; mov.u32 %%r0, %%tid.x; mul.wide.u32 %%d1, %%r0, 4; add.u64 %%d1, "
        "%%d1, %%d0; ld.global.u32 %%r5, [%%d1];\n"
        "rem.u32 %%r3, %%r0, %u; mov.u32 %%r9, 0;\nround: bar.sync 0; mov.u32 %%r1, %%clock;\n",
        values);
    for (unsigned k = 0; k < EACH; k++)
        at +=
            (size_t)snprintf(text + at, sizeof text - at,
                             "%s and.b32 %%r4, %%r4, %%r5; xor.b32 %%r3, %%r3, %%r4;\n", operation);
    snprintf(text + at, sizeof text - at,
             "mov.u32 %%r2, %%clock; add.u32 %%r9, %%r9, 1; setp.lt.u32 %%q, %%r9, 2; @%%q bra "
             "round;\n" /* the second time with a warm cache */
             "sub.u32 %%r2, %%r2, %%r1; add.u32 %%r2, %%r2, %%r3; sub.u32 %%r2, %%r2, %%r3; "
             "st.global.u32 [%%d1], %%r2; ret;\n}\n");
    written_by(text, 1, 32 * warps, taken, sizeof taken);
    double sum = 0;
    for (uint32_t k = 0; k < warps; k++) sum += taken[32 * k];
    return sum / warps / EACH;
}

/* match.any looks up one value at a time, one warp of the SM after another; match.all does not
 * (match.tsv). */
START_TEST(match_any_lookup_cost)
{
    static const struct {
        const char *operation;
        uint32_t values, warps;
        double recorded;
    } rows[] = {{"match.any.sync.b32 %r4, %r3, -1;", 1, 1, 34.05},
                {"match.any.sync.b32 %r4, %r3, -1;", 2, 1, 45.05},
                {"match.any.sync.b32 %r4, %r3, -1;", 8, 1, 111.05},
                {"match.any.sync.b32 %r4, %r3, -1;", 32, 1, 375.05},
                {"match.any.sync.b32 %r4, %r3, -1;", 8, 32, 513.4},
                {"match.any.sync.b32 %r4, %r3, -1;", 32, 32, 2052},
                {"match.all.sync.b32 %r4|%q, %r3, -1;", 32, 1, 34.05},
                {"redux.sync.add.u32 %r4, %r3, -1;", 1, 32, 64.9}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        ck_assert_double_eq_tol(
            exchanges_in_a_chain(rows[k].operation, rows[k].values, rows[k].warps),
            rows[k].recorded, 0.06 * rows[k].recorded);
}
END_TEST

/* Exchanges between lanes use the banks of shared memory; special registers and comparisons do not
 * (pairs.tsv: 32 warps). */
START_TEST(shuffle_bank_contention)
{
    static const char *const shuffle = "shfl.sync.bfly.b32 %r4, %r3, 1, 31, -1;",
                             *const load = "and.b32 %r4, %r3, 124; mov.u32 %r6, s; add.u32 %r6, "
                                           "%r6, %r4; ld.volatile.shared.u32 %r4, [%r6];";
    char both[256];
    snprintf(both, sizeof both, "%s shfl.sync.bfly.b32 %%r4, %%r4, 1, 31, -1;", load);
    ck_assert_double_eq_tol(exchanges_in_a_chain(shuffle, 4, 32), 32.4, 2);
    ck_assert_double_eq_tol(exchanges_in_a_chain(both, 4, 32), 67, 4);
    ck_assert_double_eq_tol(exchanges_in_a_chain("shfl.sync.idx.b32 %r4, %r3, %r0, 31, -1;", 4, 1) -
                                exchanges_in_a_chain(shuffle, 4, 1),
                            1.93, 0.2);
}
END_TEST

/* Stall counts after a wide product are lower than its latency; its users wait nevertheless
 * (products.tsv: 8.9 cycles and 5 of the LOP3 after it). */
START_TEST(wide_product_latency)
{
    ck_assert_double_eq_tol(exchanges_in_a_chain("mul.hi.u32 %r4, %r3, %r0;", 7, 1), 13.94, 0.4);
    ck_assert_double_eq_tol(exchanges_in_a_chain("mul.lo.u32 %r4, %r3, %r0;", 7, 1), 9.97, 0.4);
}
END_TEST

UNIT_MAIN("stalls", constant_cache_miss, variable_address_cache_miss, cluster_arrive_fence,
          divergent_branch_cost, indirect_call_cost, recursion_cost, yield_cost, loop_lanes_rejoin,
          bulk_copy_per_lane, release_fence, shared_release_fence, loads_wait_for_earlier_stores,
          mbarrier_wait_issues_nothing, store_merging, generic_reduction_drain, stall_reasons,
          increment_lanes_serialize, counting_lanes_at_once, operands_in_transit,
          warp_scheduling_order, driver_function_cost, block_placement, texture_throughput,
          tag_bank_conflicts, fence_targets, store_bank_occupancy, match_any_lookup_cost,
          shuffle_bank_contention, wide_product_latency)
