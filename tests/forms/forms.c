/* forms.c - compares every scalar instruction and every mma on random operands with an H200:
 * digests of the results (forms.h).
 *
 * tests/data/forms.tsv.xz has a row for each of the instructions that list.py finds in the
 * instruction table and ptxas assembles for sm_90a. The digests were recorded by record.c (H200,
 * driver 580.159.04, 2026-11), twice with the same result. */
#include "tests/forms/forms.h"
#include "ptxloom.h"
#include "tests/harness.h"

#define CHUNK 256
#define SHOWN 400

static uint64_t in[FORMS_TUPLES * FORMS_OPERANDS], out[FORMS_TUPLES * FORMS_OPERANDS];

static bool run_entry(pl_gpu *gpu, pl_module *m, const forms_entry *e, size_t row)
{
    char name[32];
    pl_ptr params[2] = {0};
    pl_result r = {0};
    snprintf(name, sizeof name, "e%zu", row);
    pl_launch l = {.kernel = name,
                   .grid = {FORMS_TUPLES / FORMS_BLOCK, 1, 1},
                   .block = {FORMS_BLOCK, 1, 1},
                   .params = params,
                   .param_bytes = sizeof params,
                   .mode = PL_MODE_FUNCTIONAL};
    forms_inputs(in, e);
    memset(out, 0, sizeof out);
    const uint64_t in_bytes = FORMS_TUPLES * e->nin * 8, out_bytes = FORMS_TUPLES * e->nout * 8;
    bool ok = pl_alloc_device(gpu, in_bytes, "in", &params[0]) == PL_OK &&
              pl_alloc_device(gpu, out_bytes, "out", &params[1]) == PL_OK &&
              pl_copy_to_device(gpu, params[0], in, in_bytes) == PL_OK &&
              pl_copy_to_device(gpu, params[1], out, out_bytes) == PL_OK &&
              pl_launch_kernel(gpu, m, &l, &r) == PL_OK &&
              pl_copy_from_device(gpu, out, params[1], out_bytes) == PL_OK;
    for (int k = 0; k < 2; k++)
        if (params[k]) pl_free_device(gpu, params[k]);
    return ok;
}

/* Runs rows first to end - 1. Returns how many differ from the recording. */
static size_t run_chunk(const table *t, size_t first, size_t end, pl_host host, int level)
{
    static char text[CHUNK * 4096];
    const pl_load_options o = {.opt_level = level, .host = host};
    pl_gpu *gpu;
    pl_module *m = NULL;
    size_t bad = 0, at = (size_t)snprintf(text, sizeof text,
                                          ".version 8.8\n.target sm_90a\n.address_size 64\n");
    for (size_t row = first; row < end; row++) {
        forms_entry e = forms_read(t->row[row][0], t->row[row][1], t->row[row][2]);
        at += forms_kernel(text + at, sizeof text - at, &e, row);
    }
    if (pl_gpu_open(&gpu, "h200") != PL_OK) return end - first;
    if (pl_module_load(gpu, "forms.ptx", text, at, &o, &m) != PL_OK) {
        tap_note("%s", pl_gpu_diag_count(gpu) ? pl_gpu_diag(gpu, 0, false).rendered
                                              : "the module cannot be loaded");
        pl_gpu_close(gpu);
        return end - first;
    }
    for (size_t row = first; row < end; row++) {
        forms_entry e = forms_read(t->row[row][0], t->row[row][1], t->row[row][2]);
        const bool ran = run_entry(gpu, m, &e, row);
        const uint64_t digest = forms_digest(out, FORMS_TUPLES * e.nout);
        if (ran && digest == strtoull(t->row[row][3], NULL, 16)) continue;
        if (bad++ < SHOWN)
            tap_note("row %zu, %s: %s", row, e.text, ran ? "other results" : "the launch failed");
    }
    pl_module_close(m);
    pl_gpu_close(gpu);
    return bad;
}

static void run_all(const table *t, pl_host host, int level, const char *name)
{
    size_t bad = 0;
    for (size_t first = 0; first < t->rows; first += CHUNK)
        bad += run_chunk(t, first, first + CHUNK < t->rows ? first + CHUNK : t->rows, host, level);
    tap(bad == 0, "%zu instructions as recorded, %s", t->rows, name);
    if (bad) tap_note("%zu differ", bad);
}

/* Prints all operands and results of one row, like record.c --dump for the hardware. */
static void dump(const table *t, size_t row)
{
    forms_entry e = forms_read(t->row[row][0], t->row[row][1], t->row[row][2]);
    if (run_chunk(t, row, row + 1, PL_HOST_BEST, 2) == 0) printf("# as recorded\n");
    for (size_t i = 0; i < FORMS_TUPLES; i++) {
        for (unsigned j = 0; j < e.nin; j++) printf("%llx ", (unsigned long long)in[i * e.nin + j]);
        printf("->");
        for (unsigned j = 0; j < e.nout; j++)
            printf(" %llx", (unsigned long long)out[i * e.nout + j]);
        printf("\n");
    }
}

int main(int argc, char **argv)
{
    char *path = data_path("forms.tsv.xz");
    table t = table_read(path);
    free(path);
    if (argc == 3 && strcmp(argv[1], "--dump") == 0) {
        dump(&t, strtoul(argv[2], NULL, 10));
        table_free(&t);
        return 0;
    }
    tap(t.rows > 6000, "%zu rows", t.rows);
    run_all(&t, PL_HOST_BASELINE, 0, "generic lane loops, -O0");
    run_all(&t, PL_HOST_AVX2, 2, "with AVX2, -O2");
    run_all(&t, PL_HOST_AVX512, 2, "with AVX-512, -O2");
    table_free(&t);
    return tap_done();
}
