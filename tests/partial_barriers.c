/* partial_barriers.c - unusual synchronisation: barriers with part of a warp, threads that exit
 * while others wait, different barriers on divergent paths. Each kernel of tests/data/sync behaves
 * on the emulator as on an H100, in both modes at -O0 and -O2. It ends, hangs or fails like the
 * recording, its threads make the same progress, and they store the same values.
 *
 *     tests/partial_barriers [--print]   --print: a line for each kernel and configuration, in the
 *       format of the recording
 *
 * Rows of tests/data/sync/exceptions.tsv (name, level of optimisation or "all", reason) are known
 * to differ; the test fails if one of them matches. */
#include <ptxloom.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"

enum { WORDS = 2048, HALF = 1024, BLOCK = 256, FLAGS = 64, LINE = 1 << 15 };

typedef struct way {
    const char *name;
    pl_mode mode;
    int opt;
} way;
static const way ways[] = {{"functional", PL_MODE_FUNCTIONAL, 2},
                           {"functional-O0", PL_MODE_FUNCTIONAL, 0},
                           {"timing", PL_MODE_TIMING, 2},
                           {"timing-O0", PL_MODE_TIMING, 0}};

/* Formats each run of equal words as "count*number". */
static size_t put_runs(char *text, size_t n, const uint32_t *word, uint32_t count)
{
    for (uint32_t k = 0, from = 0; k < count; k = from) {
        while (from < count && word[from] == word[k]) from++;
        n += (size_t)snprintf(text + n, LINE - n, "%s%u*%u", k ? " " : "", from - k, word[k]);
    }
    return n;
}

/* The kernel's behaviour, as a line of the recording without its name and last field. */
static void run(const way *how, const char *name, uint32_t grid, uint32_t block, uint32_t cluster,
                pl_gpu *gpu, pl_module *m, char *text)
{
    pl_ptr params[2];
    pl_result r;
    if (pl_alloc_device(gpu, WORDS * 4, "out", &params[0]) != PL_OK ||
        pl_alloc_device(gpu, FLAGS * 4, "g", &params[1]) != PL_OK)
        exit(EXIT_FAILURE);
    pl_launch l = {.kernel = name,
                   .grid = {grid, 1, 1},
                   .block = {block, 1, 1},
                   .cluster = {cluster, cluster > 0, cluster > 0},
                   .params = params,
                   .param_bytes = sizeof params,
                   .mode = how->mode};
    pl_launch_kernel(gpu, m, &l, &r);
    const bool hang = r.error && strcmp(r.error, "CUDA_ERROR_LAUNCH_TIMEOUT") == 0;
    const char *verdict = r.status == PL_OK ? "ok"
                          : hang            ? "hang"
                          : r.error         ? r.error
                                            : pl_gpu_diag(gpu, 0, false).text;
    size_t n = (size_t)snprintf(text, LINE, "%s", verdict);
    const uint32_t *out = pl_device_view(gpu, params[0], WORDS * 4);
    for (uint32_t part = 0; part < 2; part++)
        for (uint32_t b = 0; b < grid; b++) {
            n += (size_t)snprintf(text + n, LINE - n, "%s", b ? "; " : "\t");
            n = put_runs(text, n, out + part * HALF + b * BLOCK, block);
        }
    pl_free_device(gpu, params[0]);
    pl_free_device(gpu, params[1]);
    pl_gpu_diag_clear(gpu);
}

/* Returns the line of a file whose first field is `name`, from the end of that field; NULL:
 * none. */
static const char *line_of(const char *text, const char *name, size_t *length)
{
    const size_t n = strlen(name);
    for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n')
        if (strncmp(at, name, n) == 0 && at[n] == '\t') {
            *length = strcspn(at, "\n") - n - 1;
            return at + n + 1;
        }
    return NULL;
}

/* True if it matches the recording. For a failed launch only the error is compared, because the
 * progress of other threads varies. */
static bool same(const char *got, const char *recorded, size_t length)
{
    const size_t n = strlen(got), verdict = strcspn(got, "\t");
    const bool error = strncmp(got, "CUDA_", 5) == 0;
    return recorded && length > (error ? verdict : n) &&
           strncmp(got, recorded, error ? verdict : n) == 0 &&
           recorded[error ? verdict : n] == '\t';
}

static char *whole(const char *file)
{
    char *path = data_path(file);
    size_t size;
    char *text = read_whole(path, &size);
    free(path);
    return text;
}

int main(int argc, char **argv)
{
    const bool print = argc > 1 && strcmp(argv[1], "--print") == 0;
    char *rows = whole("sync/table.tsv"), *ptx = whole("sync/table.ptx"), got[LINE];
    char *recorded[2] = {print ? NULL : whole("sync/recorded.O3.tsv"),
                         print ? NULL : whole("sync/recorded.O0.tsv")};
    char *exceptions = print ? NULL : whole("sync/exceptions.tsv");
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        pl_gpu *gpu;
        pl_module *m;
        if (pl_gpu_open(&gpu, "h200") != PL_OK) return EXIT_FAILURE;
        const pl_load_options options = {.opt_level = ways[w].opt};
        if (pl_module_load(gpu, "table.ptx", ptx, strlen(ptx), &options, &m) != PL_OK)
            return EXIT_FAILURE;
        for (const char *at = rows; *at; at += strcspn(at, "\n"), at += *at == '\n') {
            char name[64];
            unsigned grid, block, cluster;
            if (sscanf(at, "%63s %u %u %u", name, &grid, &block, &cluster) != 4) continue;
            run(&ways[w], name, grid, block, cluster, gpu, m, got);
            if (print) {
                printf("%s\t%s\t%s\n", ways[w].name, name, got);
                continue;
            }
            size_t length[2] = {0}, more = 0;
            bool as_recorded = false;
            for (int k = 0; k < 2; k++) {
                const char *r = line_of(recorded[k], name, &length[k]);
                as_recorded |= same(got, r, length[k]);
            }
            const char *exception = line_of(exceptions, name, &more);
            const bool known = exception && (strncmp(exception, "all\t", 4) == 0 ||
                                             atoi(exception) == ways[w].opt);
            tap(as_recorded != known, "%s, %s", name, ways[w].name);
            if (as_recorded == known)
                tap_note("%s", known ? "it is in exceptions.tsv, but matches the recording" : got);
        }
        pl_module_close(m);
        pl_gpu_close(gpu);
    }
    free(rows);
    free(ptx);
    free(recorded[0]);
    free(recorded[1]);
    free(exceptions);
    return print ? 0 : tap_done();
}
