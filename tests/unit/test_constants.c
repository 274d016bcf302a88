/* test_constants.c - constants of modules as seen by the host: addresses, copies, resets, two
 * modules at once. tests/ptx/exec/const tests what kernels see. */
#include "ptxloom.h"
#include "tests/unit/unit.h"
#include <string.h>

static const char text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".const .b32 a[4] = {1, 2, 3, 4};\n.const .b32 b = 5;\n.global .b32 g = 6;\n"
    ".entry k(.param .u64 o)\n{\n.reg .b32 %r<4>;\n.reg .b64 %d<4>;\n"
    "ld.param.u64 %d0, [o];\nmov.u64 %d1, b;\nld.const.u32 %r0, [%d1];\nld.const.u32 %r1, "
    "[%d1+-4];\n"
    "st.global.v2.u32 [%d0], {%r0, %r1};\n}\n";

static pl_gpu *gpu;

static pl_module *load(void)
{
    pl_module *m = NULL;
    if (!gpu) ck_assert_int_eq(pl_gpu_open(&gpu, "h200"), PL_OK);
    ck_assert_int_eq(pl_module_load(gpu, "k.ptx", text, strlen(text), NULL, &m), PL_OK);
    return m;
}

static pl_ptr address(const pl_module *m, const char *name, uint64_t size)
{
    pl_ptr at = 0;
    uint64_t bytes = 0;
    ck_assert_int_eq(pl_module_symbol(m, name, &at, &bytes), PL_OK);
    ck_assert_uint_eq(bytes, size);
    return at;
}

static void close_all(pl_module *m)
{
    pl_module_close(m);
    pl_gpu_close(gpu);
    gpu = NULL;
}

/* The kernel reads b, and the word before it. */
static void reads(pl_module *m, uint32_t b, uint32_t before)
{
    for (int mode = 0; mode < 2; mode++) {
        pl_ptr out;
        uint32_t seen[2] = {0, 0};
        pl_result r;
        ck_assert_int_eq(pl_alloc_device(gpu, sizeof seen, "out", &out), PL_OK);
        const pl_launch l = {.kernel = "k",
                             .grid = {1, 1, 1},
                             .block = {1, 1, 1},
                             .params = &out,
                             .param_bytes = sizeof out,
                             .mode = mode ? PL_MODE_TIMING : PL_MODE_FUNCTIONAL,
                             .threads = 1};
        ck_assert_int_eq(pl_launch_kernel(gpu, m, &l, &r), PL_OK);
        ck_assert_int_eq(pl_copy_from_device(gpu, seen, out, sizeof seen), PL_OK);
        ck_assert_uint_eq(seen[0], b);
        ck_assert_uint_eq(seen[1], before);
        ck_assert_int_eq(pl_free_device(gpu, out), PL_OK);
    }
}

START_TEST(host_copies_to_constants)
{
    pl_module *m = load();
    pl_ptr a = address(m, "a", 16), b = address(m, "b", 4), g = address(m, "g", 4);
    ck_assert_uint_eq(b, a + 16);
    ck_assert(g < a || g > b);
    reads(m, 5, 4);
    const uint32_t fresh[2] = {40, 50};
    ck_assert_int_eq(pl_copy_to_device(gpu, a + 12, fresh, sizeof fresh), PL_OK);
    reads(m, 50, 40);
    ck_assert_int_eq(pl_copy_to_device(gpu, b + 1, fresh, 4), PL_INVALID);
    ck_assert_int_eq(pl_module_reset(m), PL_OK);
    reads(m, 5, 4);
    close_all(m);
}
END_TEST

START_TEST(constants_are_freed_with_their_module)
{
    pl_module *m = load();
    pl_ptr a = address(m, "a", 16);
    ck_assert_int_eq(pl_free_device(gpu, a), PL_INVALID);
    reads(m, 5, 4);
    pl_module_close(m);
    ck_assert_ptr_null(pl_device_view(gpu, a, 4));
    close_all(NULL);
}
END_TEST

START_TEST(each_module_has_a_bank)
{
    pl_module *one = load(), *two = load();
    const uint32_t fresh = 9;
    ck_assert_int_eq(pl_copy_to_device(gpu, address(two, "b", 4), &fresh, 4), PL_OK);
    reads(one, 5, 4);
    reads(two, 9, 4);
    pl_module_close(one);
    reads(two, 9, 4);
    close_all(two);
}
END_TEST

/* The driver's rules for a text that is loaded alone. */
START_TEST(declared_variables_are_defined_and_shared_ones_may_be_large)
{
    static const char declared[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n.extern .global .b32 g;\n"
        ".entry k() { .shared .b8 s[60000]; st.shared.u8 [s], 1; st.global.u32 [g], 7; }\n";
    const pl_load_options options = {.opt_level = 2, .define = true};
    pl_module *m = NULL;
    pl_kernel_info info;
    if (!gpu) ck_assert_int_eq(pl_gpu_open(&gpu, "h200"), PL_OK);
    ck_assert_int_eq(pl_module_load(gpu, "k.ptx", declared, strlen(declared), NULL, &m),
                     PL_INVALID);
    pl_gpu_diag_clear(gpu);
    ck_assert_int_eq(pl_module_load(gpu, "k.ptx", declared, strlen(declared), &options, &m), PL_OK);
    const struct {
        const char *code;
        uint32_t line, column;
    } expected = {"W0437", 4, 22};
    const pl_message d = pl_gpu_diag(gpu, 0, false);
    ck_assert_str_eq(d.code, expected.code);
    ck_assert_uint_eq(d.line, expected.line);
    ck_assert_uint_eq(d.column, expected.column);
    (void)address(m, "g", 4);
    ck_assert_int_eq(pl_module_kernel(m, "k", &info), PL_OK);
    ck_assert_uint_eq(info.static_shared, 60000);
    close_all(m);
}
END_TEST

UNIT_MAIN("constants", declared_variables_are_defined_and_shared_ones_may_be_large,
          host_copies_to_constants, constants_are_freed_with_their_module, each_module_has_a_bank)
