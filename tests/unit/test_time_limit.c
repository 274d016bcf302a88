/* test_time_limit.c - launches of which only some blocks, or only their beginning, run with the
 * timing model: memory, counts and the estimate are close to those of a complete run. */
#include "include/ptxloom.h"
#include "tests/unit/unit.h"
#include <math.h>
#include <string.h>

enum {
    BLOCKS = 6000,
    THREADS = 128,
    N = BLOCKS * THREADS,
    TURNS = 4000,
    FIRST_TURNS = 80,
    FEW = 32
};

/* out[i] += 3 i after a loop. */
static const char text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry add(.param .u64 out)\n{\n"
    ".reg .pred %p;\n.reg .b32 %r<8>;\n.reg .b64 %a<6>;\n"
    "ld.param.u64 %a1, [out];\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %tid.x;\n"
    "mad.lo.u32 %r1, %r1, 128, %r2;\nmul.wide.u32 %a2, %r1, 4;\nadd.u64 %a1, %a1, %a2;\n"
    "mov.u32 %r3, 8;\n$again:\nadd.u32 %r3, %r3, -1;\nsetp.ne.u32 %p, %r3, 0;\n@%p bra $again;\n"
    "rem.u32 %r5, %r1, %r2;\n"
    "ld.global.u32 %r4, [%a1];\nmad.lo.u32 %r4, %r1, 3, %r4;\nst.global.u32 [%a1], %r4;\nret;\n}\n";

/* Each thread adds its neighbour's value `turns` times, while a copy is always outstanding. */
static const char exchange[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry swap(.param .u64 out, .param "
    ".u32 turns)\n{\n.reg .pred %p;\n.reg .b32 %r<12>;\n.reg .b64 %a<6>;\n"
    ".shared .align 16 .b32 sum[128];\n.shared .align 16 .b32 copied[128];\n"
    "ld.param.u64 %a1, [out];\nld.param.u32 %r9, [turns];\n"
    "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %tid.x;\n"
    "mad.lo.u32 %r3, %r1, 128, %r2;\nmul.wide.u32 %a2, %r3, 4;\nadd.u64 %a1, %a1, %a2;\n"
    "shl.b32 %r4, %r2, 2;\nmov.u32 %r5, sum;\nadd.u32 %r4, %r4, %r5;\n"
    "add.u32 %r6, %r2, 1;\nand.b32 %r6, %r6, 127;\nshl.b32 %r6, %r6, 2;\n"
    "add.u32 %r6, %r6, %r5;\nmov.u32 %r7, %r3;\nmov.u32 %r5, copied;\nadd.u32 %r5, %r5, %r4;\n"
    "mov.u32 %r10, sum;\nsub.u32 %r5, %r5, %r10;\n"
    "$again:\ncp.async.ca.shared.global [%r5], [%a1], 4;\ncp.async.commit_group;\n"
    "st.shared.u32 [%r4], %r7;\nbar.sync 0;\nld.shared.u32 %r8, [%r6];\nbar.sync 0;\n"
    "mad.lo.u32 %r7, %r7, 5, %r8;\ncp.async.wait_group 0;\nld.shared.u32 %r8, [%r5];\n"
    "add.u32 %r7, %r7, %r8;\nadd.u32 %r9, %r9, -1;\nsetp.ne.u32 %p, %r9, 0;\n@%p bra $again;\n"
    "st.global.u32 [%a1], %r7;\nret;\n}\n";

static pl_gpu *gpu;
static pl_module *module;
static pl_ptr out;
static uint32_t data[N];

static pl_result launch(uint32_t blocks, uint32_t cluster, double timed_seconds)
{
    const pl_launch l = {.kernel = "add",
                         .grid = {blocks, 1, 1},
                         .block = {THREADS, 1, 1},
                         .cluster = {cluster, cluster > 0, cluster > 0},
                         .params = &out,
                         .param_bytes = sizeof out,
                         .mode = PL_MODE_TIMING,
                         .timed_seconds = timed_seconds};
    pl_result r;
    memset(data, 0, sizeof data);
    ck_assert_int_eq(pl_copy_to_device(gpu, out, data, sizeof data), PL_OK);
    ck_assert_int_eq(pl_launch_kernel(gpu, module, &l, &r), PL_OK);
    ck_assert_int_eq(pl_copy_from_device(gpu, data, out, sizeof data), PL_OK);
    uint32_t wrong = 0;
    for (uint32_t k = 0; k < N; k++) wrong += data[k] != (k < blocks * THREADS ? 3 * k : 0);
    ck_assert_uint_eq(wrong, 0);
    return r;
}

static void set_up(const char *machine)
{
    const pl_load_options options = {.opt_level = 0};
    ck_assert_int_eq(pl_gpu_open(&gpu, machine), PL_OK);
    ck_assert_int_eq(pl_module_load(gpu, "k.ptx", text, strlen(text), &options, &module), PL_OK);
    ck_assert_int_eq(pl_alloc_device(gpu, sizeof data, "out", &out), PL_OK);
}

static void tear_down(void)
{
    pl_module_close(module);
    pl_gpu_close(gpu);
}

/* Few blocks are resident on this machine, so that they end before the time limit of running
 * blocks, even on a busy host. */
static const char small[] = "h200,sm.count=16,xbar.groups=1";

static void compare(uint32_t cluster)
{
    set_up(small);
    const pl_result whole = launch(BLOCKS, cluster, 0), part = launch(BLOCKS, cluster, 1e-9);
    ck_assert_uint_eq(whole.timed_blocks, 0);
    ck_assert_uint_gt(part.timed_blocks, 0);
    ck_assert_uint_lt(part.timed_blocks, BLOCKS / 2);
    const double instructions = (double)part.inst_executed / (double)whole.inst_executed,
                 ratio = (double)part.cycles / (double)whole.cycles;
    ck_assert_msg(fabs(instructions - 1) < 0.001, "%g of the instructions", instructions);
    ck_assert_msg(ratio > 0.7 && ratio < 1.4, "%g of the cycles", ratio);
    tear_down();
}

START_TEST(remainder_runs_without_timing_model)
{
    compare(0);
}
END_TEST

START_TEST(remainder_has_complete_clusters)
{
    compare(2);
}
END_TEST

/* Concurrently running blocks may wait for each other. */
START_TEST(resident_blocks_all_start_with_timing_model)
{
    set_up("h200");
    ck_assert_uint_eq(launch(200, 0, 1e-9).timed_blocks, 0);
    tear_down();
}
END_TEST

static uint32_t copied[FEW * THREADS];

static pl_result swap(pl_module *m, int mode, uint32_t turns, uint32_t cluster,
                      double timed_seconds)
{
    struct {
        pl_ptr out;
        uint32_t turns;
    } params = {out, turns};
    const pl_launch l = {.kernel = "swap",
                         .grid = {FEW, 1, 1},
                         .block = {THREADS, 1, 1},
                         .cluster = {cluster, cluster > 0, cluster > 0},
                         .params = &params,
                         .param_bytes = 12,
                         .mode = mode,
                         .threads = cluster ? 1 : 3,
                         .timed_seconds = timed_seconds};
    pl_result r;
    for (uint32_t k = 0; k < FEW * THREADS; k++) copied[k] = k * 7;
    ck_assert_int_eq(pl_copy_to_device(gpu, out, copied, sizeof copied), PL_OK);
    ck_assert_int_eq(pl_launch_kernel(gpu, m, &l, &r), PL_OK);
    ck_assert_int_eq(pl_copy_from_device(gpu, copied, out, sizeof copied), PL_OK);
    return r;
}

static void check_long_blocks(uint32_t cluster)
{
    static uint32_t expected[FEW * THREADS];
    const pl_load_options options = {.opt_level = 0};
    pl_module *m;
    set_up("h200");
    ck_assert_int_eq(pl_module_load(gpu, "s.ptx", exchange, strlen(exchange), &options, &m), PL_OK);
    const pl_result first = swap(m, PL_MODE_TIMING, FIRST_TURNS, cluster, 0),
                    whole = swap(m, PL_MODE_FUNCTIONAL, TURNS, cluster, 0);
    memcpy(expected, copied, sizeof expected);
    const pl_result part = swap(m, PL_MODE_TIMING, TURNS, cluster, 1e-9);
    ck_assert_mem_eq(copied, expected, sizeof expected);
    ck_assert_uint_eq(part.timed_blocks, FEW);
    const double instructions = (double)part.inst_executed / (double)whole.inst_executed,
                 ratio = (double)part.cycles * FIRST_TURNS / ((double)first.cycles * TURNS);
    ck_assert_msg(fabs(instructions - 1) < 0.2, "%g of the instructions", instructions);
    ck_assert_msg(ratio > 0.8 && ratio < 1.1, "%g of the cycles", ratio);
    pl_module_close(m);
    tear_down();
}

START_TEST(long_blocks_end_without_timing_model)
{
    check_long_blocks(0);
}
END_TEST

START_TEST(long_cluster_blocks_end_without_timing_model)
{
    check_long_blocks(2);
}
END_TEST

UNIT_MAIN("time_limit", remainder_runs_without_timing_model, remainder_has_complete_clusters,
          resident_blocks_all_start_with_timing_model, long_blocks_end_without_timing_model,
          long_cluster_blocks_end_without_timing_model)
