/* programs.c - random programs against an H200: what 693 kernels of all kinds of instructions, branches, calls and memory wrote.
 *
 * tests/data/programs/NAME.ptx.xz are modules of generate.py, digests.tsv what they left on an H200 (record.c; ptxas 13.0 -O0,
 * driver 580.159.04, 2026-11). With -O3 the hardware computes the same but for the signs and payloads of NaN and for faults of
 * ptxas. The modules j31 and j33 are of the profile "joined", products and sums that may become one operation, recorded with -O3. Of their
 * 200 kernels 7 are not listed: where it could be told, ptxas has folded a branch or unrolled a loop before it joined them. Each kernel
 * runs at both levels of optimisation, in functional and in timing mode. */
#include "tests/programs.h"
#include "ptxloom.h"
#include "tests/harness.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct way {
    int level;
    pl_mode mode;
    const char *name;
} ways[] = {{0, PL_MODE_FUNCTIONAL, "-O0"}, {2, PL_MODE_FUNCTIONAL, "-O2"}, {2, PL_MODE_TIMING, "-O2, timing mode"}};

/* The digest of what a kernel wrote; false when the launch failed. */
static bool run(pl_gpu *gpu, pl_module *m, const char *kernel, pl_mode mode, uint64_t *digest)
{
    static uint32_t in[PROGRAMS_IN / 4];
    static uint64_t out[PROGRAMS_OUT / 8];
    pl_ptr params[2] = {0};
    pl_result r = {0};
    const pl_launch l = {.kernel = kernel, .grid = {PROGRAMS_BLOCKS, 1, 1}, .block = {PROGRAMS_THREADS, 1, 1},
                         .params = params, .param_bytes = sizeof params, .mode = mode};
    memset(out, 0, sizeof out);
    programs_input(in);
    bool ok = pl_alloc_device(gpu, sizeof in, "in", &params[0]) == PL_OK && pl_alloc_device(gpu, sizeof out, "out", &params[1]) == PL_OK &&
              pl_copy_to_device(gpu, params[0], in, sizeof in) == PL_OK && pl_copy_to_device(gpu, params[1], out, sizeof out) == PL_OK &&
              pl_launch_kernel(gpu, m, &l, &r) == PL_OK && pl_copy_from_device(gpu, out, params[1], sizeof out) == PL_OK;
    if (params[0]) pl_free_device(gpu, params[0]);
    if (params[1]) pl_free_device(gpu, params[1]);
    *digest = programs_digest(out);
    return ok;
}

static void check_module(const table *t, size_t from, size_t to, const struct way *way)
{
    const char *name = t->row[from][0];
    char file[64];
    size_t size, same = 0;
    snprintf(file, sizeof file, "programs/%s.ptx.xz", name);
    char *path = data_path(file), *text = read_whole(path, &size);
    const pl_load_options o = {.opt_level = way->level};
    pl_gpu *gpu;
    pl_module *m = NULL;
    if (pl_gpu_open(&gpu, "h200") != PL_OK || pl_module_load(gpu, path, text, size, &o, &m) != PL_OK)
        for (size_t i = 0; i < pl_gpu_diag_count(gpu); i++) tap_note("%s", pl_gpu_diag(gpu, i, false).text);
    for (size_t row = from; m && row < to; row++) {
        char kernel[32];
        uint64_t digest;
        snprintf(kernel, sizeof kernel, "k%s", t->row[row][1]);
        bool ran = run(gpu, m, kernel, way->mode, &digest);
        bool equal = ran && digest == strtoull(t->row[row][2], NULL, 16);
        if (!equal) printf("# %s of %s %s\n", kernel, name, ran ? "computes something else" : "failed");
        same += equal;
    }
    tap(same == to - from && from < to, "%s, %s: %zu of %zu kernels leave what they left on the H200", name, way->name, same, to - from);
    pl_module_close(m);
    pl_gpu_close(gpu);
    free(text);
    free(path);
}

int main(void)
{
    char *path = data_path("programs/digests.tsv");
    table t = table_read(path);
    for (size_t from = 0, to; from < t.rows; from = to) {
        for (to = from + 1; to < t.rows && strcmp(t.row[to][0], t.row[from][0]) == 0;) to++;
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) check_module(&t, from, to, &ways[i]);
    }
    table_free(&t);
    free(path);
    return tap_done();
}
