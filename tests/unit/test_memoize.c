/* test_memoize.c - launches that repeat an earlier one: which are skipped, and that memory and
 * counts equal those of executed launches. */
#include "include/ptxloom.h"
#include "tests/unit/unit.h"
#include <stdio.h>
#include <string.h>

enum { BLOCKS = 64, THREADS = 256, N = BLOCKS * THREADS };

/* copy: out[i] = 3 in[i]; add: out[i] += in[i]; time: out[i] = %globaltimer; all after a loop. */
static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
#define KERNEL(name, statements)                                                                   \
    ".visible .entry " name "(.param .u64 in, .param .u64 out)\n{\n.reg .pred %p;\n"               \
    ".reg .b32 %r<8>;\n.reg .b64 %a<6>;\n"                                                         \
    "ld.param.u64 %a1, [in];\nld.param.u64 %a2, [out];\nmov.u32 %r1, %ctaid.x;\n"                  \
    "mov.u32 %r2, %tid.x;\nmad.lo.u32 %r1, %r1, 256, %r2;\nmul.wide.u32 %a3, %r1, 4;\n"            \
    "add.u64 %a1, %a1, %a3;\nadd.u64 %a2, %a2, %a3;\nmov.u32 %r3, 100;\n"                          \
    "$again:\nadd.u32 %r3, %r3, -1;\nsetp.ne.u32 %p, %r3, 0;\n@%p bra $again;\n" statements        \
    "st.global.u32 [%a2], %r5;\nret;\n}\n"
    KERNEL("copy", "ld.global.u32 %r4, [%a1];\nmul.lo.u32 %r5, %r4, 3;\n") KERNEL(
        "add", "ld.global.u32 %r4, [%a1];\nld.global.u32 %r5, [%a2];\nadd.u32 %r5, %r5, %r4;\n")
        KERNEL("time", "mov.u64 %a4, %globaltimer;\ncvt.u32.u64 %r5, %a4;\n");

static pl_gpu *gpu;
static pl_module *module;
static pl_ptr in, out;
static uint32_t data[N];
static uint64_t reports; /* progress callbacks: 0 if a launch was not executed */

static void count(void *ctx, uint64_t blocks_done, uint64_t blocks, uint64_t instructions)
{
    (void)ctx, (void)blocks_done, (void)blocks, (void)instructions;
    reports++;
}

static void set_up(void)
{
    const pl_load_options options = {.opt_level = 0};
    ck_assert_int_eq(pl_gpu_open(&gpu, "h200"), PL_OK);
    ck_assert_int_eq(pl_module_load(gpu, "k.ptx", text, strlen(text), &options, &module), PL_OK);
    ck_assert_int_eq(pl_alloc_device(gpu, sizeof data, "in", &in), PL_OK);
    ck_assert_int_eq(pl_alloc_device(gpu, sizeof data, "out", &out), PL_OK);
    for (uint32_t k = 0; k < N; k++) data[k] = k;
    ck_assert_int_eq(pl_copy_to_device(gpu, in, data, sizeof data), PL_OK);
}

static void tear_down(void)
{
    pl_module_close(module);
    pl_gpu_close(gpu);
}

/* Returns true if the launch was executed. */
static bool launch(const char *kernel, pl_result *r)
{
    const pl_ptr params[] = {in, out};
    const pl_launch l = {.kernel = kernel,
                         .grid = {BLOCKS, 1, 1},
                         .block = {THREADS, 1, 1},
                         .params = params,
                         .param_bytes = sizeof params,
                         .memoize = true,
                         .progress = count};
    reports = 0;
    ck_assert_int_eq(pl_launch_kernel(gpu, module, &l, r), PL_OK);
    return reports > 0;
}

static void expect(uint32_t factor, uint32_t sum)
{
    ck_assert_int_eq(pl_copy_from_device(gpu, data, out, sizeof data), PL_OK);
    for (uint32_t k = 0; k < N; k++) ck_assert_uint_eq(data[k], factor * k + sum);
}

START_TEST(third_launch_is_skipped)
{
    set_up();
    pl_result first, later;
    ck_assert(launch("copy", &first));
    ck_assert(launch("copy", &later));
    expect(3, 0);
    ck_assert(!launch("copy", &later));
    expect(3, 0);
    ck_assert_uint_eq(first.inst_executed, later.inst_executed);
    ck_assert_uint_eq(first.thread_inst_executed, later.thread_inst_executed);
    ck_assert_uint_eq(first.pc_stat[0].executed, later.pc_stat[0].executed);
    tear_down();
}
END_TEST

START_TEST(input_memory_is_compared)
{
    set_up();
    pl_result r;
    static const uint32_t zero[N];
    for (int k = 0; k < 2; k++) {
        ck_assert_int_eq(pl_copy_to_device(gpu, out, zero, sizeof zero), PL_OK);
        ck_assert(launch("add", &r));
    }
    for (int k = 0; k < 3; k++) { /* from the same state: its outputs are copied */
        ck_assert_int_eq(pl_copy_to_device(gpu, out, zero, sizeof zero), PL_OK);
        ck_assert(!launch("add", &r));
        expect(1, 0);
    }
    ck_assert(launch("add", &r)); /* from a different state */
    expect(2, 0);
    ck_assert_int_eq(pl_copy_to_device(gpu, out, zero, sizeof zero), PL_OK);
    for (uint32_t k = 0; k < N; k++) data[k] = 5 * k + 1;
    ck_assert_int_eq(pl_copy_to_device(gpu, in, data, sizeof data), PL_OK);
    ck_assert(launch("add", &r));
    expect(5, 1);
    tear_down();
}
END_TEST

START_TEST(in_place_updates_are_executed)
{
    set_up();
    pl_result r;
    for (uint32_t k = 1; k <= 8; k++) {
        ck_assert(launch("add", &r));
        expect(k, 0);
    }
    tear_down();
}
END_TEST

START_TEST(readers_of_the_clock_are_executed)
{
    set_up();
    pl_result r;
    for (int k = 0; k < 4; k++) ck_assert(launch("time", &r));
    tear_down();
}
END_TEST

START_TEST(freed_memory_is_not_compared)
{
    set_up();
    pl_result r;
    for (int k = 0; k < 3; k++) launch("copy", &r);
    pl_free_device(gpu, out);
    ck_assert_int_eq(pl_alloc_device(gpu, sizeof data, "out", &out), PL_OK);
    ck_assert(launch("copy", &r));
    expect(3, 0);
    tear_down();
}
END_TEST

/* The contents of 60 buffers exceed the memory for copies: launches that have not been repeated for
 * long give theirs to new ones. */
START_TEST(old_launches_make_room)
{
    enum { BUFFERS = 60, BYTES = 9 << 20 };
    set_up();
    pl_result r;
    pl_ptr buffer[BUFFERS];
    for (unsigned k = 0; k < BUFFERS; k++) {
        ck_assert_int_eq(pl_alloc_device(gpu, BYTES, "buffer", &buffer[k]), PL_OK);
        out = buffer[k];
        ck_assert(launch("copy", &r));
        ck_assert(launch("copy", &r));
    }
    ck_assert(!launch("copy", &r));
    expect(3, 0);
    out = buffer[0];
    ck_assert(launch("copy", &r));
    tear_down();
}
END_TEST

UNIT_MAIN("memoize", third_launch_is_skipped, input_memory_is_compared,
          in_place_updates_are_executed, readers_of_the_clock_are_executed,
          freed_memory_is_not_compared, old_launches_make_room)
