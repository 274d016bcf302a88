/* cache_policies.c - eviction priorities, prefetch sizes, L1 bypass, and the policy words created
 * by createpolicy, compared with recordings from an H200.
 *
 * tests/data/micro/policy.tsv.xz records the sectors that a thread found in a cache after other
 * sectors had been accessed in some way (policy.cu there); the same kernel runs here. Rows where
 * all or no sectors were found must match, except for one in 64. Rows where some were found depend
 * on the hash functions of the hardware; there some must be found. createpolicy.tsv.xz has the
 * policy words, which must be equal. */
#include "ptxloom.h"
#include "tests/harness.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BUFFER = 1 << 20,
    OUT = 256,
    STEPS = 6,
    MOST = 2400 /* sectors that a row accesses; larger rows take too long for a quick test */
};

typedef struct machine {
    pl_gpu *gpu;
    pl_module *module;
    pl_ptr buffer, out;
} machine;

static machine open_machine(void)
{
    machine m = {0};
    size_t n;
    char *path = data_path("micro/policy.ptx.xz"), *text = read_whole(path, &n);
    if (pl_gpu_open(&m.gpu, "h200") != PL_OK ||
        pl_module_load(m.gpu, path, text, n, NULL, &m.module) != PL_OK ||
        pl_alloc_device(m.gpu, BUFFER, "buffer", &m.buffer) != PL_OK ||
        pl_alloc_device(m.gpu, OUT, "out", &m.out) != PL_OK)
        exit(EXIT_FAILURE);
    free(text);
    free(path);
    return m;
}

static bool launch(machine *m, const char *kernel, unsigned threads, const void *params,
                   uint32_t bytes, uint64_t out[OUT / 8])
{
    const pl_launch l = {.kernel = kernel,
                         .grid = {1, 1, 1},
                         .block = {threads, 1, 1},
                         .dynamic_shared = threads * 16,
                         .params = params,
                         .param_bytes = bytes,
                         .mode = PL_MODE_TIMING,
                         .threads = 1};
    pl_result r = {.status = PL_INVALID};
    return pl_launch_kernel(m->gpu, m->module, &l, &r) == PL_OK && r.status == PL_OK &&
           pl_copy_from_device(m->gpu, out, m->out, OUT) == PL_OK;
}

/* ---- cache contents ---- */

typedef struct params {
    pl_ptr buffer;
    struct {
        uint32_t n;
        struct {
            uint32_t op, from, count, stride;
        } at[STEPS];
    } steps;
    uint32_t l1;
    pl_ptr out;
} params;

/* Parses "op,from,count,stride;..."; returns the number of sectors they access together, 0: syntax
 * error. */
static uint32_t read_steps(const char *code, params *p)
{
    uint32_t touched = 0, k = 0;
    for (; *code && k < STEPS; k++) {
        unsigned v[4];
        int used = 0;
        if (sscanf(code, "%u,%u,%u,%u%n", &v[0], &v[1], &v[2], &v[3], &used) != 4) return 0;
        p->steps.at[k].op = v[0];
        p->steps.at[k].from = v[1];
        p->steps.at[k].count = v[2];
        p->steps.at[k].stride = v[3];
        touched += v[2];
        code += used;
        if (*code == ';') code++;
    }
    p->steps.n = k - 1;
    return *code ? 0 : touched;
}

static bool alike(unsigned got, unsigned recorded, unsigned all)
{
    return recorded == 0     ? got * 64 <= all
           : recorded == all ? got * 64 >= all * 63
                             : got > 0 && got < all;
}

static void caches(machine *m)
{
    char *path = data_path("micro/policy.tsv.xz");
    table t = table_read(path);
    const size_t cache = table_column(&t, "cache"), threads = table_column(&t, "threads"),
                 steps = table_column(&t, "steps"), code = table_column(&t, "code"),
                 near = table_column(&t, "near");
    for (size_t i = 0; i < t.rows; i++) {
        char **c = t.row[i];
        params p = {.buffer = m->buffer, .l1 = strcmp(c[cache], "l1") == 0, .out = m->out};
        const uint32_t touched = read_steps(c[code], &p), all = p.steps.at[p.steps.n].count;
        const unsigned recorded = (unsigned)strtoul(c[near], NULL, 10),
                       n = (unsigned)strtoul(c[threads], NULL, 10);
        uint64_t out[OUT / 8];
        if (n != 1 || touched > MOST) continue;
        const bool ran = touched && launch(m, "sequence", n, &p, sizeof p, out);
        const unsigned got = (uint32_t)out[0];
        tap(ran && alike(got, recorded, all), "%s: %s: %u of %u found, recorded %u", c[cache],
            c[steps], ran ? got : 0, all, recorded);
    }
    table_free(&t);
    free(path);
}

/* ---- policy words ---- */

/* The results of kernel make_policies, in the order of the rows: eleven fractions, eleven ranges, a
 * converted word. */
static void words(machine *m)
{
    char *path = data_path("micro/createpolicy.tsv.xz");
    table t = table_read(path);
    const size_t kind = table_column(&t, "kind"), priorities = table_column(&t, "priorities"),
                 fraction = table_column(&t, "fraction"), address = table_column(&t, "address"),
                 some = table_column(&t, "primary_size"), total = table_column(&t, "total_size"),
                 word = table_column(&t, "policy");
    uint64_t out[OUT / 8] = {0};
    unsigned k = 0, wrong = 0, n = 0;
    for (size_t i = 0; i < t.rows; i++) {
        char **c = t.row[i];
        const bool fractional = strcmp(c[kind], "fractional") == 0,
                   convert = strcmp(c[kind], "cvt") == 0;
        if (!convert && strcmp(c[priorities], "last") == 0) { /* the first of eleven */
            const struct {
                pl_ptr out;
                uint64_t address;
                uint32_t some, total;
                float fraction;
                uint64_t converted;
            } p = {m->out,
                   strtoull(c[address], NULL, 16),
                   (uint32_t)strtoul(c[some], NULL, 10),
                   (uint32_t)strtoul(c[total], NULL, 10),
                   fractional ? strtof(c[fraction], NULL) : 1,
                   strtoull(c[address], NULL, 16)};
            if (!launch(m, "make_policies", 1, &p, sizeof p, out)) memset(out, 0, sizeof out);
            k = fractional ? 0 : 11;
        }
        const bool same = out[k] == strtoull(c[word], NULL, 16);
        if (!same)
            tap_note("%s %s %s %s %s %s: %016llx, recorded %s", c[kind], c[priorities], c[fraction],
                     c[address], c[some], c[total], (unsigned long long)out[k], c[word]);
        wrong += !same;
        n++;
        k++;
    }
    tap(n > 800 && wrong == 0, "%u of %u createpolicy words match the H200's", n - wrong, n);
    table_free(&t);
    free(path);
}

int main(void)
{
    machine m = open_machine();
    caches(&m);
    words(&m);
    pl_module_close(m.module);
    pl_gpu_close(m.gpu);
    return tap_done();
}
