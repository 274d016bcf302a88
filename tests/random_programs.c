/* random_programs.c - random programs compared with an H200: the outputs of 1,193 kernels with
 * all kinds of instructions, branches, calls and memory accesses.
 *
 * tests/data/programs/NAME.ptx.xz are modules of generate.py, digests.tsv their outputs on an H200
 * (record.c; ptxas 13.0 -O0, driver 580.159.04, 2026-11). With -O3 the hardware results are the
 * same except for the signs and payloads of NaN and for defects of ptxas. The modules j31 and j33
 * are of the profile "joined", products and sums that may be contracted to one operation, recorded
 * with -O3. Of their 200 kernels 7 are not listed: as far as could be determined, ptxas folded a
 * branch or unrolled a loop before contraction. The modules u1 to u5 are of the profile "partial":
 * registers uninitialised before loops, conditional definitions, early exits. They were recorded
 * with ptxas -O0 on an H100 with the same driver. Each kernel runs at both levels of optimisation,
 * in functional and in timing mode.
 *
 *     tests/random_programs PROFILE FIRST LAST [timing|threads]   compares -O0 and -O2 on new
 *       programs: a module of 20 kernels for each seed, without a recording. `timing` compares
 *       functional with timing mode, `threads` one host thread with two, both at -O2.
 *
 * PROFILE is an option of generate.py, "" for none. */
#include "tests/programs.h"
#include "ptxloom.h"
#include "tests/harness.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NEW_KERNELS = 20 };

/* Consecutive configurations with the same level share a module. */
static const struct way {
    int level;
    pl_mode mode;
    int threads;
    const char *name;
} ways[] = {{0, PL_MODE_FUNCTIONAL, 1, "-O0"},
            {2, PL_MODE_FUNCTIONAL, 1, "-O2"},
            {2, PL_MODE_TIMING, 1, "-O2, timing mode"}};
enum { WAYS = sizeof ways / sizeof *ways };

/* What new programs are compared with: the name on the command line, and two ways to run. */
static const struct comparison {
    const char *name;
    struct way way[2];
} comparisons[] = {
    {"levels", {{0, PL_MODE_FUNCTIONAL, 1, "-O0"}, {2, PL_MODE_FUNCTIONAL, 1, "-O2"}}},
    {"timing",
     {{2, PL_MODE_FUNCTIONAL, 1, "functional mode"}, {2, PL_MODE_TIMING, 1, "timing mode"}}},
    {"threads",
     {{2, PL_MODE_FUNCTIONAL, 1, "one thread"}, {2, PL_MODE_FUNCTIONAL, 2, "two threads"}}},
};

typedef uint64_t output[PROGRAMS_OUT / 8];

/* Outputs of a kernel; false if the launch failed. */
static bool run(pl_gpu *gpu, pl_module *m, const char *kernel, const struct way *way, output out)
{
    static uint32_t in[PROGRAMS_IN / 4];
    pl_ptr params[2] = {0};
    pl_result r = {0};
    const pl_launch l = {.kernel = kernel,
                         .grid = {PROGRAMS_BLOCKS, 1, 1},
                         .block = {PROGRAMS_THREADS, 1, 1},
                         .params = params,
                         .param_bytes = sizeof params,
                         .mode = way->mode,
                         .threads = way->threads};
    memset(out, 0, sizeof(output));
    programs_input(in);
    bool ok = pl_alloc_device(gpu, sizeof in, "in", &params[0]) == PL_OK &&
              pl_alloc_device(gpu, sizeof(output), "out", &params[1]) == PL_OK &&
              pl_copy_to_device(gpu, params[0], in, sizeof in) == PL_OK &&
              pl_copy_to_device(gpu, params[1], out, sizeof(output)) == PL_OK &&
              pl_launch_kernel(gpu, m, &l, &r) == PL_OK &&
              pl_copy_from_device(gpu, out, params[1], sizeof(output)) == PL_OK;
    if (params[0]) pl_free_device(gpu, params[0]);
    if (params[1]) pl_free_device(gpu, params[1]);
    return ok;
}

static void note_diagnostics(pl_gpu *gpu)
{
    for (size_t i = 0; i < pl_gpu_diag_count(gpu); i++)
        tap_note("%s", pl_gpu_diag(gpu, i, false).text);
}

static void check_way(const table *t, size_t from, size_t to, const struct way *way, pl_gpu *gpu,
                      pl_module *m)
{
    const char *name = t->row[from][0];
    size_t same = 0;
    for (size_t row = from; m && row < to; row++) {
        char kernel[32];
        output out;
        snprintf(kernel, sizeof kernel, "k%s", t->row[row][1]);
        bool ran = run(gpu, m, kernel, way, out);
        bool equal = ran && programs_digest(out) == strtoull(t->row[row][2], NULL, 16);
        if (!equal)
            printf("# %s of %s %s\n", kernel, name, ran ? "computes a different result" : "failed");
        same += equal;
    }
    tap(same == to - from && from < to, "%s, %s: %zu of %zu kernels match the H200", name,
        way->name, same, to - from);
}

static void check_module(const table *t, size_t from, size_t to)
{
    char file[64];
    size_t size;
    snprintf(file, sizeof file, "programs/%s.ptx.xz", t->row[from][0]);
    char *path = data_path(file), *text = read_whole(path, &size);
    for (size_t k = 0, next; k < WAYS; k = next) {
        const pl_load_options o = {.opt_level = ways[k].level};
        pl_gpu *gpu;
        pl_module *m = NULL;
        if (pl_gpu_open(&gpu, "h200") != PL_OK ||
            pl_module_load(gpu, path, text, size, &o, &m) != PL_OK)
            note_diagnostics(gpu);
        for (next = k; next < WAYS && ways[next].level == ways[k].level; next++)
            check_way(t, from, to, &ways[next], gpu, m);
        pl_module_close(m);
        pl_gpu_close(gpu);
    }
    free(text);
    free(path);
}

/* Runs one module in both ways; returns the number of equal kernels. */
static size_t compare_ways(const struct way *way, const char *text, size_t size, const char *name)
{
    static output out[2];
    pl_gpu *gpu[2];
    pl_module *m[2] = {NULL, NULL};
    size_t same = 0;
    bool loaded = true;
    for (int k = 0; k < 2; k++) {
        const pl_load_options o = {.opt_level = way[k].level};
        loaded &= pl_gpu_open(&gpu[k], "h200") == PL_OK &&
                  pl_module_load(gpu[k], name, text, size, &o, &m[k]) == PL_OK;
    }
    for (unsigned i = 0; loaded && i < NEW_KERNELS; i++) {
        char kernel[32];
        snprintf(kernel, sizeof kernel, "k%u", i);
        bool ran[2];
        for (int k = 0; k < 2; k++) ran[k] = run(gpu[k], m[k], kernel, &way[k], out[k]);
        size_t at = 0;
        while (at < PROGRAMS_OUT / 8 - 1 && out[0][at] == out[1][at]) at++;
        if (ran[0] && ran[1] && out[0][at] == out[1][at])
            same++;
        else if (ran[0] && ran[1])
            printf("# %s of %s: thread %zu, byte %zu: %016llx (%s), %016llx (%s)\n", kernel, name,
                   at / 64, at % 64 * 8, (unsigned long long)out[0][at], way[0].name,
                   (unsigned long long)out[1][at], way[1].name);
        else
            printf("# %s of %s failed\n", kernel, name);
    }
    for (int k = 0; k < 2; k++) {
        note_diagnostics(gpu[k]);
        pl_module_close(m[k]);
        pl_gpu_close(gpu[k]);
    }
    return same;
}

static void check_new(const struct comparison *c, const char *profile, unsigned seed)
{
    char number[16], count[16], name[32];
    snprintf(number, sizeof number, "%u", seed);
    snprintf(count, sizeof count, "%d", NEW_KERNELS);
    snprintf(name, sizeof name, "seed %u", seed);
    char *generator = data_path("programs/generate.py");
    const char *const argv[] = {"python3", generator, number, count, *profile ? profile : NULL,
                                NULL};
    run_result r = run_command(argv, 60);
    size_t same = r.status == 0 ? compare_ways(c->way, r.out, r.nout, name) : 0;
    tap(same == NEW_KERNELS, "%s: %zu of %d kernels compute the same (%s, %s)", name, same,
        NEW_KERNELS, c->way[0].name, c->way[1].name);
    if (r.status) tap_note("generate.py: exit status %d; %.500s", r.status, r.err ? r.err : "");
    fflush(stdout);
    run_free(&r);
    free(generator);
}

int main(int argc, char **argv)
{
    if (argc == 4 || argc == 5) {
        const struct comparison *c = comparisons;
        while (argc == 5 && strcmp(c->name, argv[4]) != 0)
            if (++c == comparisons + sizeof comparisons / sizeof *comparisons) return 2;
        for (unsigned long seed = strtoul(argv[2], NULL, 10), last = strtoul(argv[3], NULL, 10);
             seed <= last; seed++)
            check_new(c, argv[1], (unsigned)seed);
        return tap_done();
    }
    char *path = data_path("programs/digests.tsv");
    table t = table_read(path);
    for (size_t from = 0, to; from < t.rows; from = to) {
        for (to = from + 1; to < t.rows && strcmp(t.row[to][0], t.row[from][0]) == 0;) to++;
        check_module(&t, from, to);
    }
    table_free(&t);
    free(path);
    return tap_done();
}
