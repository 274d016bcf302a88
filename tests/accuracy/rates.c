/* rates.c - part of `make bench`: cost of single warp instructions in functional mode, in
 * nanoseconds of processor time.
 *
 * A kernel of one warp repeats an instruction in a loop; the same loop without it is subtracted.
 * Rows with a limit are figures that exact arithmetic must not exceed (doc/numerics.md); a row
 * above its limit is marked. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ptxloom.h"

enum { COPIES = 16, ROUNDS = 4000 };

typedef struct rate {
    const char *name, *text;
    double limit; /* ns; 0: none */
} rate;

static const rate rates[] = {
    {"ex2.approx.ftz.f32", "ex2.approx.ftz.f32 %f0, %f0;", 60},
    {"sin.approx.ftz.f32", "sin.approx.ftz.f32 %f0, %f0;", 0},
    {"rcp.approx.ftz.f32", "rcp.approx.ftz.f32 %f0, %f0;", 0},
    {"tanh.approx.f32", "tanh.approx.f32 %f0, %f0;", 0},
    {"fma.rn.f32", "fma.rn.f32 %f0, %f0, %f1, %f2;", 0},
    {"div.rn.f32", "div.rn.f32 %f0, %f0, %f1;", 0},
    {"fma.rn.f64", "fma.rn.f64 %d0, %d0, %d1, %d1;", 0},
    {"fma.rn.f16x2", "fma.rn.f16x2 %r0, %r0, %r1, %r2;", 0},
    {"mad.lo.s32", "mad.lo.s32 %r0, %r0, %r1, %r2;", 0},
    {"shfl.sync.bfly.b32", "shfl.sync.bfly.b32 %r0, %r0, 1, 31, -1;", 0},
    {"mma.sync m16n8k16 f32.f16",
     "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, "
     "{%r4,%r5}, {%f0,%f1,%f2,%f3};",
     4000},
    {"mma.sync m16n8k16 f16.f16",
     "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r6,%r7}, {%r0,%r1,%r2,%r3}, "
     "{%r4,%r5}, {%r6,%r7};",
     4000},
    {"mma.sync m16n8k8 tf32",
     "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, "
     "{%r4,%r5}, {%f0,%f1,%f2,%f3};",
     0},
    {"mma.sync m16n8k32 s8",
     "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r6,%r7,%r8,%r9}, {%r0,%r1,%r2,%r3}, "
     "{%r4,%r5}, {%r6,%r7,%r8,%r9};",
     0},
};

/* Processor seconds of the loop around COUNT copies of TEXT; negative: it did not run. */
static double seconds(const char *text, int count)
{
    static char module[8192];
    size_t n = (size_t)snprintf(
        module, sizeof module,
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
        ".reg .b32 %%r<10>, %%i; .reg .f32 %%f<4>; .reg .f64 %%d<2>; .reg .b64 %%p; .reg .pred "
        "%%q;\n"
        "mov.u32 %%i, %%tid.x; ld.param.u64 %%p, [out];\n");
    for (int k = 0; k < 10; k++) /* as pairs of f16: numbers of both signs between 0.5 and 1 */
        n += (size_t)snprintf(module + n, sizeof module - n,
                              "mul.lo.u32 %%r%d, %%i, 0x9e37%04d; and.b32 %%r%d, %%r%d, "
                              "0x83ff83ff; or.b32 %%r%d, %%r%d, 0x38003800;\n",
                              k, 1000 + 7 * k, k, k, k, k);
    for (int k = 0; k < 4; k++)
        n +=
            (size_t)snprintf(module + n, sizeof module - n, "cvt.rn.f32.u32 %%f%d, %%r%d;\n", k, k);
    n += (size_t)snprintf(module + n, sizeof module - n,
                          "cvt.f64.f32 %%d0, %%f0; cvt.f64.f32 %%d1, %%f1;\nmov.u32 %%i, 0;\nL:\n");
    for (int k = 0; k < count; k++)
        n += (size_t)snprintf(module + n, sizeof module - n, "%s\n", text);
    n += (size_t)snprintf(module + n, sizeof module - n,
                          "add.u32 %%i, %%i, 1; setp.lt.u32 %%q, %%i, %d; @%%q bra L;\n", ROUNDS);
    for (int k = 0; k < 10; k++)
        n += (size_t)snprintf(module + n, sizeof module - n, "st.global.b32 [%%p+%d], %%r%d;\n",
                              4 * k, k);
    for (int k = 0; k < 4; k++)
        n += (size_t)snprintf(module + n, sizeof module - n, "st.global.f32 [%%p+%d], %%f%d;\n",
                              40 + 4 * k, k);
    n +=
        (size_t)snprintf(module + n, sizeof module - n, "st.global.f64 [%%p+56], %%d0;\nret;\n}\n");

    const pl_load_options options = {.opt_level = 0};
    pl_gpu *gpu;
    pl_module *m = NULL;
    pl_ptr out = 0;
    pl_result result = {0};
    double best = -1;
    if (pl_gpu_open(&gpu, "h200") != PL_OK) return -1;
    if (pl_module_load(gpu, "rates.ptx", module, n, &options, &m) == PL_OK &&
        pl_alloc_device(gpu, 64, "out", &out) == PL_OK) {
        const pl_launch l = {.kernel = "k",
                             .grid = {1, 1, 1},
                             .block = {32, 1, 1},
                             .params = &out,
                             .param_bytes = sizeof out,
                             .mode = PL_MODE_FUNCTIONAL};
        for (int round = 0; round < 5; round++) {
            const clock_t start = clock();
            if (pl_launch_kernel(gpu, m, &l, &result) != PL_OK) break;
            const double s = (double)(clock() - start) / CLOCKS_PER_SEC;
            if (best < 0 || s < best) best = s;
        }
    } else if (pl_gpu_diag_count(gpu)) {
        fprintf(stderr, "%s\n", pl_gpu_diag(gpu, 0, false).rendered);
    }
    if (m) pl_module_close(m);
    pl_gpu_close(gpu);
    return best;
}

int main(void)
{
    const double loop = seconds("", 0);
    int failed = loop < 0;
    printf("%-28s %10s %8s\n", "one warp instruction", "ns", "at most");
    for (size_t k = 0; k < sizeof rates / sizeof *rates; k++) {
        const double s = seconds(rates[k].text, COPIES),
                     ns = (s - loop) / ((double)COPIES * ROUNDS) * 1e9;
        failed |= s < 0;
        printf("%-28s %10.1f", rates[k].name, ns);
        if (rates[k].limit > 0)
            printf(" %8.0f%s", rates[k].limit, ns > rates[k].limit ? "  ABOVE" : "");
        printf("\n");
    }
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
