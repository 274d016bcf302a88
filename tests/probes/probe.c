/* probe.c - see probe.h. */
#include "tests/probes/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 6 }; /* unexpected differences that are printed in full */

static char *whole(const char *name, const char *end)
{
    char relative[256];
    snprintf(relative, sizeof relative, "probes/%s.%s.xz", name, end);
    char *path = data_path(relative), *text = read_whole(path, NULL);
    free(path);
    return text;
}

void probe_open(probe *p, const char *name, const char *module)
{
    memset(p, 0, sizeof *p);
    p->table = name;
    p->text = whole(name, "tsv");
    size_t cap = 1;
    for (const char *s = p->text; *s; s++) cap += *s == '\n';
    p->line = calloc(cap + 1, sizeof *p->line);
    for (char *s = p->line ? strtok(p->text, "\n") : NULL; s; s = strtok(NULL, "\n"))
        if (*s != '#') p->line[p->lines++] = s;
    if (!module) return;
    char *text = whole(module, "ptx");
    if (pl_gpu_open(&p->gpu, "h200") != PL_OK ||
        pl_module_load(p->gpu, module, text, strlen(text), NULL, &p->module) != PL_OK) {
        for (size_t k = 0; p->gpu && k < pl_gpu_diag_count(p->gpu); k++)
            printf("# %s\n", pl_gpu_diag(p->gpu, k, false).text);
        printf("Bail out! cannot load %s.ptx\n", module);
        exit(EXIT_FAILURE);
    }
    free(text);
}

void probe_close(probe *p)
{
    tap(p->lines > 0 && p->wrong == 0,
        "probe %s: %zu rows match, %zu differ for a known reason, %zu wrong", p->table, p->same,
        p->excepted, p->wrong);
    pl_module_close(p->module);
    pl_gpu_close(p->gpu);
    free(p->line);
    free(p->text);
}

void probe_kernel(probe *p, const char *name)
{
    p->kernel = NULL;
    for (size_t k = 0; k < pl_module_kernel_count(p->module) && !p->kernel; k++)
        if (strstr(pl_module_kernel_name(p->module, k), name))
            p->kernel = pl_module_kernel_name(p->module, k);
    pl_kernel_info info = {0};
    if (!p->kernel || pl_module_kernel(p->module, p->kernel, &info) != PL_OK ||
        info.param_bytes > sizeof p->params) {
        printf("Bail out! no kernel '%s' in %s\n", name, p->table);
        exit(EXIT_FAILURE);
    }
    memset(p->params, 0, sizeof p->params);
    p->launch = (pl_launch){.kernel = p->kernel,
                            .grid = {1, 1, 1},
                            .block = {1, 1, 1},
                            .params = p->params,
                            .param_bytes = info.param_bytes,
                            .mode = PL_MODE_FUNCTIONAL};
    pl_module_reset(p->module);
}

void probe_shape(probe *p, uint32_t grid, uint32_t block)
{
    p->launch.grid[0] = grid;
    p->launch.block[0] = block;
}

void probe_arg(probe *p, unsigned k, const void *value)
{
    pl_kernel_param a = pl_module_param(p->module, p->kernel, k);
    memcpy(p->params + a.offset, value, a.size);
}

void probe_arg32(probe *p, unsigned k, uint32_t value)
{
    uint64_t v = value;
    probe_arg(p, k, &v);
}

pl_ptr probe_buffer(probe *p, unsigned k, const void *from, uint64_t bytes)
{
    pl_ptr a = 0;
    if (p->buffers == PROBE_BUFFERS || pl_alloc_device(p->gpu, bytes, "buffer", &a) != PL_OK) {
        printf("Bail out! no device memory\n");
        exit(EXIT_FAILURE);
    }
    p->buffer[p->buffers++] = a;
    if (from) pl_copy_to_device(p->gpu, a, from, bytes);
    probe_arg(p, k, &a);
    return a;
}

bool probe_run(probe *p)
{
    return pl_launch_kernel(p->gpu, p->module, &p->launch, &p->result) == PL_OK;
}

void probe_read(probe *p, pl_ptr from, void *to, uint64_t bytes)
{
    pl_copy_from_device(p->gpu, to, from, bytes);
}

void probe_done(probe *p)
{
    while (p->buffers) pl_free_device(p->gpu, p->buffer[--p->buffers]);
    pl_gpu_diag_clear(p->gpu);
}

/* ---- comparison ---- */

/* '*' at the end of a pattern matches any text. */
static bool matches(const char *pattern, const char *row)
{
    size_t n = strlen(pattern);
    if (n && pattern[n - 1] == '*') return strncmp(pattern, row, n - 1) == 0;
    return strncmp(pattern, row, n) == 0 && (row[n] == '\t' || !row[n]);
}

static bool excepted(const probe *p, const char *row)
{
    static table list;
    if (!list.text) {
        char *path = data_path("probes/exceptions.tsv");
        list = table_read(path);
        free(path);
    }
    for (size_t k = 0; k < list.rows; k++)
        if (strcmp(list.row[k][0], p->table) == 0 && matches(list.row[k][1], row)) return true;
    return false;
}

void probe_verdict(probe *p, const char *row, bool same, const char *got)
{
    bool listed = excepted(p, row);
    if (same && !listed) {
        p->same++;
        return;
    }
    if (!same && listed) {
        p->excepted++;
        return;
    }
    if (p->wrong++ >= SHOWN) return;
    if (same)
        printf("# take it off exceptions.tsv: %.80s\n", row);
    else
        printf("# recorded: %.9000s\n# got:      %.9000s\n", row, got);
}

void probe_row(probe *p, const char *row, const char *got)
{
    probe_verdict(p, row, strcmp(row, got) == 0, got);
}

const char *probe_error(const char *name)
{
    static const char *const names[][2] = {
        {"CUDA_ERROR_ILLEGAL_ADDRESS", "700(cudaErrorIllegalAddress)"},
        {"CUDA_ERROR_MISALIGNED_ADDRESS", "716(cudaErrorMisalignedAddress)"},
        {"CUDA_ERROR_ILLEGAL_INSTRUCTION", "715(cudaErrorIllegalInstruction)"},
        {"CUDA_ERROR_INVALID_ADDRESS_SPACE", "717(cudaErrorInvalidAddressSpace)"},
        {"CUDA_ERROR_INVALID_PC", "718(cudaErrorInvalidPc)"},
        {"CUDA_ERROR_LAUNCH_FAILED", "719(cudaErrorLaunchFailure)"},
        {"CUDA_ERROR_ASSERT", "710(cudaErrorAssert)"},
        {"CUDA_ERROR_LAUNCH_TIMEOUT", "TIMEOUT"},
    };
    for (size_t k = 0; name && k < sizeof names / sizeof *names; k++)
        if (strcmp(names[k][0], name) == 0) return names[k][1];
    return name ? name : "none";
}

static char *next_text(size_t bytes)
{
    static char *ring[8];
    static unsigned at;
    char **t = &ring[at++ % 8];
    *t = realloc(*t, bytes);
    if (!*t) exit(EXIT_FAILURE);
    return *t;
}

const char *probe_words(const uint32_t *w, size_t n)
{
    char *t = next_text(9 * n + 1);
    *t = '\0';
    for (size_t k = 0; k < n; k++) sprintf(t + (k ? 9 * k - 1 : 0), k ? " %08x" : "%08x", w[k]);
    return t;
}

const char *probe_hex(const void *bytes, size_t n)
{
    char *t = next_text(2 * n + 1);
    *t = '\0';
    for (size_t k = 0; k < n; k++) sprintf(t + 2 * k, "%02x", ((const uint8_t *)bytes)[k]);
    return t;
}
