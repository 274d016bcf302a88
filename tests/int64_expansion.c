/* int64_expansion.c - 64-bit integer operations expand to as many machine instructions as with
 * ptxas: compiler/codegen/lower_int64.c.
 *
 * tests/data/halves/sequences.tsv lists short sequences with the number of instructions that ptxas
 * 13.0 -O3 generates for a kernel containing them, for sm_90a (record.py there, 2026-11). One warp
 * executes each; the column `more` is the known difference of ptxloom. */
#include "ptxloom.h"
#include "tests/harness.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 32 * 256, TEXT = 4096 };

static uint64_t executed(const char *head, const char *sequence)
{
    char text[TEXT];
    int n = snprintf(text, sizeof text, "%s%s\nret;\n}\n", head, sequence);
    pl_gpu *gpu = NULL;
    pl_module *m = NULL;
    pl_ptr params[1] = {0};
    pl_result r = {0};
    const pl_load_options o = {.opt_level = 2};
    const pl_launch l = {.kernel = "k",
                         .grid = {1, 1, 1},
                         .block = {32, 1, 1},
                         .params = params,
                         .param_bytes = sizeof params,
                         .mode = PL_MODE_TIMING};
    bool ok = n > 0 && n < TEXT && pl_gpu_open(&gpu, "h200") == PL_OK;
    ok = ok && pl_module_load(gpu, "sequence", text, (size_t)n, &o, &m) == PL_OK &&
         pl_alloc_device(gpu, BYTES, "p", &params[0]) == PL_OK &&
         pl_launch_kernel(gpu, m, &l, &r) == PL_OK;
    if (m) pl_module_close(m);
    if (gpu) pl_gpu_close(gpu);
    return ok ? r.inst_executed : 0;
}

int main(void)
{
    size_t size;
    char *path = data_path("halves/sequences.tsv"), *head_path = data_path("halves/head.ptx"),
         *head = read_whole(head_path, &size);
    table t = table_read(path);
    size_t name = table_column(&t, "name"), sequence = table_column(&t, "sequence"),
           ptxas = table_column(&t, "ptxas"), more = table_column(&t, "more");
    for (size_t row = 0; row < t.rows; row++) {
        char **c = t.row[row];
        long want = strtol(c[ptxas], NULL, 10) + strtol(c[more], NULL, 10);
        uint64_t got = executed(head, c[sequence]);
        tap(got == (uint64_t)want, "%s: %llu instructions, expected %ld, ptxas %s", c[name],
            (unsigned long long)got, want, c[ptxas]);
    }
    table_free(&t);
    free(head);
    free(head_path);
    free(path);
    return tap_done();
}
