/* instruction_vectors.c - compares one-instruction kernels bit by bit with results of an H200
 * (tests/data/README.md).
 *
 * Each family of instructions is one module and runs in its own process, so that a crash affects
 * one family only. It runs once with the generic lane loops and once with those for each vector
 * instruction set. An entry that this version cannot run is listed in
 * tests/data/vectors/unsupported.tsv and must fail. */
#include "ptxloom.h"
#include "tests/harness.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCK          128
#define PADDING        0xAA
#define MAX_FAMILIES   32
#define FAMILY_SECONDS 600
#define SHOWN          20 /* differing entries that are described */

typedef struct vectors {
    table rows, unsupported;
    size_t family, entry, instruction, in_types, in_stride, out_stride, count, in_offset,
        out_offset;
    unsigned char *in, *out;
} vectors;

static uint64_t number(const vectors *v, size_t row, size_t column)
{
    return strtoull(v->rows.row[row][column], NULL, 10);
}

static bool is_unsupported(const vectors *v, const char *entry)
{
    size_t column = table_column(&v->unsupported, "entry");
    for (size_t i = 0; i < v->unsupported.rows; i++)
        if (strcmp(v->unsupported.row[i][column], entry) == 0) return true;
    return false;
}

static void hex(char *to, const unsigned char *bytes, uint64_t n)
{
    if (n > 64) n = 64;
    for (uint64_t i = 0; i < n; i++) sprintf(to + 2 * i, "%02x", bytes[i]);
}

static void describe(const vectors *v, size_t row, const unsigned char *got,
                     const unsigned char *want)
{
    uint64_t in_stride = number(v, row, v->in_stride), stride = number(v, row, v->out_stride);
    uint64_t count = number(v, row, v->count), different = 0, first = count;
    char operands[160], is[160], should[160];
    for (uint64_t i = 0; i < count; i++) {
        if (memcmp(got + i * stride, want + i * stride, stride) == 0) continue;
        if (different++ == 0) first = i;
    }
    hex(operands, v->in + number(v, row, v->in_offset) + first * in_stride, in_stride);
    hex(is, got + first * stride, stride);
    hex(should, want + first * stride, stride);
    printf("# %s: %u of %u differ; thread %u, operands (%s, bytes in memory order) %s: %s instead "
           "of %s\n",
           v->rows.row[row][v->instruction], (unsigned)different, (unsigned)count, (unsigned)first,
           v->rows.row[row][v->in_types], operands, is, should);
}

/* Runs one entry. Returns its output, which the caller frees; NULL: the launch failed. */
static unsigned char *run_entry(const vectors *v, size_t row, pl_gpu *gpu, pl_module *m)
{
    uint64_t count = number(v, row, v->count);
    uint64_t in_bytes = count * number(v, row, v->in_stride),
             out_bytes = count * number(v, row, v->out_stride);
    struct {
        pl_ptr in, out;
        uint32_t n;
    } params = {.n = (uint32_t)count};
    unsigned char *out = malloc(out_bytes);
    if (!out) return NULL;
    memset(out, PADDING, out_bytes);
    pl_result r = {0};
    pl_launch l = {.kernel = v->rows.row[row][v->entry],
                   .block = {BLOCK, 1, 1},
                   .params = &params,
                   .param_bytes = 20,
                   .mode = PL_MODE_FUNCTIONAL};
    l.grid[0] = (uint32_t)((count + BLOCK - 1) / BLOCK);
    l.grid[1] = l.grid[2] = 1;
    bool ok = pl_alloc_device(gpu, in_bytes, "in", &params.in) == PL_OK &&
              pl_alloc_device(gpu, out_bytes, "out", &params.out) == PL_OK &&
              pl_copy_to_device(gpu, params.in, v->in + number(v, row, v->in_offset), in_bytes) ==
                  PL_OK &&
              pl_copy_to_device(gpu, params.out, out, out_bytes) == PL_OK &&
              pl_launch_kernel(gpu, m, &l, &r) == PL_OK &&
              pl_copy_from_device(gpu, out, params.out, out_bytes) == PL_OK;
    if (params.in) pl_free_device(gpu, params.in);
    if (params.out) pl_free_device(gpu, params.out);
    if (ok) return out;
    free(out);
    return NULL;
}

/* In the child: runs all entries of a family. Returns how many deviate from the recording and the
 * list. */
static int run_family(const vectors *v, const char *family, pl_host host)
{
    char name[128];
    size_t size;
    int bad = 0;
    snprintf(name, sizeof name, "vectors/%s.ptx.xz", family);
    char *path = data_path(name), *text = read_whole(path, &size);
    pl_gpu *gpu;
    pl_module *m = NULL;
    const pl_load_options o = {.opt_level = 2, .host = host};
    alarm(FAMILY_SECONDS);
    if (pl_gpu_open(&gpu, "h200") != PL_OK ||
        pl_module_load(gpu, path, text, size, &o, &m) != PL_OK) {
        for (size_t i = 0; i < pl_gpu_diag_count(gpu); i++)
            printf("# %s\n", pl_gpu_diag(gpu, i, false).text);
        bad = 1;
    }
    for (size_t row = 0; m && row < v->rows.rows; row++) {
        if (strcmp(v->rows.row[row][v->family], family) != 0) continue;
        const unsigned char *want = v->out + number(v, row, v->out_offset);
        unsigned char *got = run_entry(v, row, gpu, m);
        bool same =
            got && memcmp(got, want, number(v, row, v->count) * number(v, row, v->out_stride)) == 0;
        if (same == is_unsupported(v, v->rows.row[row][v->entry]) && bad++ < SHOWN) {
            if (same)
                printf("# %s works: take it off unsupported.tsv\n", v->rows.row[row][v->entry]);
            else if (got)
                describe(v, row, got, want);
            else
                printf("# %s: the launch failed\n", v->rows.row[row][v->entry]);
        }
        free(got);
    }
    pl_module_close(m);
    pl_gpu_close(gpu);
    free(text);
    free(path);
    return bad;
}

/* The lane loops are compiled several times: results must not depend on the version selected for
 * the processor. */
static const struct host {
    pl_host level;
    const char *name;
} hosts[] = {{PL_HOST_BASELINE, "baseline"}, {PL_HOST_AVX2, "AVX2"}, {PL_HOST_AVX512, "AVX-512"}};

static void check_family(const vectors *v, const char *family, size_t entries, const struct host *h)
{
    int status = 0;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        int bad = run_family(v, family, h->level);
        fflush(stdout);
        _exit(bad > 0);
    }
    waitpid(pid, &status, 0);
    tap(pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0,
        "vectors of family %s (%zu entries, %s or below)", family, entries, h->name);
    if (WIFSIGNALED(status)) tap_note("killed by signal %d", WTERMSIG(status));
}

int main(void)
{
    vectors v = {0};
    const char *seen[MAX_FAMILIES];
    size_t families = 0;
    char *path = data_path("vectors/vectors.tsv");
    v.rows = table_read(path);
    free(path);
    path = data_path("vectors/unsupported.tsv");
    v.unsupported = table_read(path);
    free(path);
    path = data_path("vectors/in.bin.xz");
    v.in = (unsigned char *)read_whole(path, NULL);
    free(path);
    path = data_path("vectors/out.bin.xz");
    v.out = (unsigned char *)read_whole(path, NULL);
    free(path);
    v.family = table_column(&v.rows, "family");
    v.entry = table_column(&v.rows, "entry");
    v.instruction = table_column(&v.rows, "instruction");
    v.in_types = table_column(&v.rows, "in_types");
    v.in_stride = table_column(&v.rows, "in_stride");
    v.out_stride = table_column(&v.rows, "out_stride");
    v.count = table_column(&v.rows, "count");
    v.in_offset = table_column(&v.rows, "in_offset");
    v.out_offset = table_column(&v.rows, "out_offset");
    for (size_t row = 0; row < v.rows.rows; row++) {
        const char *family = v.rows.row[row][v.family];
        size_t i = 0;
        while (i < families && strcmp(seen[i], family) != 0) i++;
        if (i < families) continue;
        if (families == MAX_FAMILIES) break;
        seen[families++] = family;
        size_t entries = 0;
        for (size_t k = row; k < v.rows.rows; k++)
            entries += strcmp(v.rows.row[k][v.family], family) == 0;
        for (size_t h = 0; h < sizeof hosts / sizeof *hosts; h++)
            check_family(&v, family, entries, &hosts[h]);
    }
    tap(families > 5 && families < MAX_FAMILIES, "%zu families", families);
    table_free(&v.rows);
    table_free(&v.unsupported);
    free(v.in);
    free(v.out);
    return tap_done();
}
