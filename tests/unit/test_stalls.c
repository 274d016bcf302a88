/* test_stalls.c - what holds a warp beyond operands and units, in cycles of whole launches. */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "include/ptxloom.h"

/* Cycles of a launch of one warp that runs `body`, in a module with `declarations`; what it computes goes to %f0 or %r0. */
static uint64_t cycles_of(const char *declarations, const char *body)
{
    static char text[16384];
    static const unsigned char zero[4096];
    snprintf(text, sizeof text,
             ".version 8.0\n.target sm_90a\n.address_size 64\n%s\n.visible .entry k(.param .u64 p)\n{\n"
             ".reg .b32 %%r<40>; .reg .b64 %%d<20>; .reg .f32 %%f<40>; .reg .pred %%p<9>;\n"
             "ld.param.u64 %%d0, [p]; mov.u32 %%r0, %%tid.x; cvt.rn.f32.u32 %%f0, %%r0;\n%s\n"
             "st.global.f32 [%%d0], %%f0; st.global.u32 [%%d0+4], %%r0; ret;\n}\n", declarations, body);
    pl_gpu *gpu = NULL;
    pl_module *m = NULL;
    pl_ptr out = 0;
    ck_assert_int_eq(pl_gpu_open(&gpu, "h200"), PL_OK);
    ck_assert_int_eq(pl_module_load(gpu, "k.ptx", text, strlen(text), NULL, &m), PL_OK);
    ck_assert_int_eq(pl_alloc_device(gpu, sizeof zero, "p", &out), PL_OK);
    ck_assert_int_eq(pl_copy_to_device(gpu, out, zero, sizeof zero), PL_OK);
    pl_launch l = {.kernel = "k", .grid = {1, 1, 1}, .block = {32, 1, 1}, .params = &out, .param_bytes = sizeof out, .mode = PL_MODE_TIMING, .threads = 1};
    pl_result r = {.status = PL_INVALID};
    ck_assert_int_eq(pl_launch_kernel(gpu, m, &l, &r), PL_OK);
    ck_assert_int_eq(r.status, PL_OK);
    uint64_t cycles = r.cycles;
    pl_module_close(m);
    pl_gpu_close(gpu);
    return cycles;
}

/* A constant at a known place is an operand; the first reader of its neighbourhood waits for it (metrics.tsv imc_miss of launches with and without
 * __constant__ arrays: 300 to 600 cycles), others do not. */
START_TEST(the_first_constant_is_waited_for)
{
    static const char *const table = ".const .align 256 .b32 c[512] = {1, 2, 3};";
    uint64_t none = cycles_of(table, "add.f32 %f0, %f0, %f0;");
    uint64_t one = cycles_of(table, "ld.const.f32 %f1, [c]; add.f32 %f0, %f0, %f1;");
    uint64_t near = cycles_of(table, "ld.const.f32 %f1, [c]; add.f32 %f0, %f0, %f1; ld.const.f32 %f2, [c+60]; mul.f32 %f0, %f0, %f2;");
    uint64_t far = cycles_of(table, "ld.const.f32 %f1, [c]; add.f32 %f0, %f0, %f1; ld.const.f32 %f2, [c+1024]; mul.f32 %f0, %f0, %f2;");
    ck_assert_uint_ge(one, none + 200);
    ck_assert_uint_le(one, none + 600);
    ck_assert_uint_le(near, one + 20);
    ck_assert_uint_ge(far, one + 200);
}
END_TEST

/* So is the address of a variable, which the driver keeps among the constants. */
START_TEST(so_is_the_first_address)
{
    static const char *const variable = ".visible .global .align 4 .b32 v[64];";
    uint64_t parameter = cycles_of(variable, "ld.global.u32 %r1, [%d0+64]; add.u32 %r0, %r0, %r1;");
    uint64_t address = cycles_of(variable, "ld.global.u32 %r1, [v]; add.u32 %r0, %r0, %r1;");
    ck_assert_uint_ge(address, parameter + 200);
}
END_TEST

/* A cluster's barrier makes what the warp did visible: it begins with a fence (metrics.tsv membar of cluster_reduce: 431 cycles a barrier of 32
 * warps an SM), which waits for stores, unless .relaxed says that it need not. */
START_TEST(arriving_at_a_clusters_barrier_is_a_fence)
{
    uint64_t relaxed = cycles_of("", "barrier.cluster.arrive.relaxed; barrier.cluster.wait;");
    uint64_t released = cycles_of("", "barrier.cluster.arrive.release; barrier.cluster.wait;");
    uint64_t fence = cycles_of("", "fence.acq_rel.gpu; barrier.cluster.arrive.relaxed; barrier.cluster.wait;");
    uint64_t stored = cycles_of("", "st.global.u32 [%d0+64], %r0; barrier.cluster.arrive.release; barrier.cluster.wait;");
    uint64_t unasked = cycles_of("", "st.global.u32 [%d0+64], %r0; barrier.cluster.arrive.relaxed; barrier.cluster.wait;");
    ck_assert_uint_ge(released, relaxed + 250);
    ck_assert_uint_le(released, fence + 20);
    ck_assert_uint_ge(stored, released + 100);
    ck_assert_uint_le(unasked + 250, stored);
}
END_TEST

UNIT_MAIN("stalls", the_first_constant_is_waited_for, so_is_the_first_address, arriving_at_a_clusters_barrier_is_a_fence)
