/* traces.c - the part of `make bench` about traces: the rate at which events are written, their
 * size in bytes, and the cost of a summary.
 *
 * The events of a real launch are kept in memory and passed to the trace writer, so that the
 * figure is the writer's alone. A slice of them is passed repeatedly, at increasing times, because
 * events of a running model are in the processor's cache as well. One core; the file is in a
 * scratch folder. With an argument, only launches whose names contain it, and no summaries. */
#include "include/ptxloom.h"
#include "isa/program/insn.h"
#include "ptx/ast.h"
#include "tests/harness.h"
#include "traces/trace.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

typedef struct access {
    pl_mem_event event;
    uint64_t addr[PL_LANES];
} access;

enum { SLICE = 40000 };

/* The result of an instruction. */
typedef struct answer {
    uint64_t seq;
    size_t before;
    uint32_t latency;
} answer;

/* All kinds of events, and their order of arrival: the number of instructions before each of the
 * others. */
typedef struct recording {
    pl_inst_event *inst;
    access *mem;
    answer *done;
    size_t *before;
    size_t ninst, nmem, ndone, cap_inst, cap_mem, cap_done;
} recording;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *grown(void *at, size_t n, size_t size)
{
    at = realloc(at, n * size);
    if (!at) exit(EXIT_FAILURE);
    return at;
}

static void keep_inst(void *ctx, const pl_inst_event *e)
{
    recording *r = ctx;
    if (r->ninst == r->cap_inst) {
        r->cap_inst = r->cap_inst * 2 + 65536;
        r->inst = grown(r->inst, r->cap_inst, sizeof *r->inst);
    }
    r->inst[r->ninst++] = *e;
}

static void keep_mem(void *ctx, const pl_mem_event *e)
{
    recording *r = ctx;
    if (r->nmem == r->cap_mem) {
        r->cap_mem = r->cap_mem * 2 + 65536;
        r->mem = grown(r->mem, r->cap_mem, sizeof *r->mem);
        r->before = grown(r->before, r->cap_mem, sizeof *r->before);
    }
    r->before[r->nmem] = r->ninst;
    r->mem[r->nmem].event = *e;
    memcpy(r->mem[r->nmem++].addr, e->addr, sizeof r->mem->addr);
}

static void keep_done(void *ctx, uint64_t seq, uint32_t latency)
{
    recording *r = ctx;
    if (r->ndone == r->cap_done) {
        r->cap_done = r->cap_done * 2 + 65536;
        r->done = grown(r->done, r->cap_done, sizeof *r->done);
    }
    r->done[r->ndone++] = (answer){seq, r->ninst, latency};
}

/* Keeps the events around the middle of the launch; results that arrive after it are available
 * immediately. */
static void keep_middle(recording *r)
{
    if (r->ninst <= SLICE) return;
    size_t first = (r->ninst - SLICE) / 2, n = 0;
    uint64_t from = r->inst[first].seq, to = from + SLICE;
    for (size_t i = 0; i < r->ndone; i++) {
        answer a = r->done[i];
        if (a.seq < from || a.seq >= to) continue;
        if (a.before > first + SLICE) {
            r->inst[first + (size_t)(a.seq - from)].latency = a.latency;
            continue;
        }
        a.before -= first;
        r->done[n++] = a;
    }
    r->ndone = n;
    n = 0;
    memmove(r->inst, r->inst + first, SLICE * sizeof *r->inst);
    r->ninst = SLICE;
    for (size_t i = 0; i < r->nmem; i++) {
        if (r->before[i] < first || r->before[i] > first + SLICE) continue;
        r->before[n] = r->before[i] - first;
        r->mem[n++] = r->mem[i];
    }
    r->nmem = n;
}

static void describe(void *ctx, uint32_t pc, pl_tracedb_insn *out)
{
    (void)ctx;
    (void)pc;
    *out = (pl_tracedb_insn){.text = "", .mnemonic = "", .syntax = "", .cls = ""};
}

/* Events per second and bytes per event of a launch that repeats the slice `times` times. */
static void write_trace(recording *r, const pl_case *c, const char *path, pl_tracedb_level level,
                        bool packed, int times)
{
    pl_tracedb *t;
    const pl_tracedb_options o = {
        .level = level, .packed = packed, .sms = 132, .subcores = 4, .max_warps = 64};
    pl_tracedb_kernel k = {
        .entry = "k", .timing = true, .module = "k", .ninsns = 4096, .insn = describe};
    static pl_pc_stat counts[4096];
    memcpy(k.grid, c->grid, sizeof k.grid);
    memcpy(k.block, c->block, sizeof k.block);
    for (size_t i = 0; i < 4096; i++) counts[i].executed = 1;
    const pl_tracedb_result result = {.status = "ok", .pc_stat = counts, .npc = 4096};
    if (pl_tracedb_open(&t, path, &o) != PL_OK) exit(EXIT_FAILURE);
    uint64_t events = 0, span = 0;
    for (size_t e = 0; e < r->ninst; e++)
        if (r->inst[e].cycle >= span) span = r->inst[e].cycle + 1;
    double begin = now();
    if (pl_tracedb_begin(t, &k) != PL_OK) exit(EXIT_FAILURE);
    const pl_sink *s = pl_tracedb_sink(t);
    for (int i = 0; i < times; i++) {
        const uint64_t seq = (uint64_t)i * r->ninst, cycle = (uint64_t)i * span;
        size_t mem = s->mem ? 0 : r->nmem, done = 0;
        for (size_t e = 0; e <= r->ninst; e++) {
            for (; mem < r->nmem && r->before[mem] <= e; mem++) {
                pl_mem_event m = r->mem[mem].event;
                m.addr = r->mem[mem].addr;
                m.seq += seq;
                m.cycle += cycle;
                s->mem(s->ctx, &m);
            }
            for (; done < r->ndone && r->done[done].before <= e; done++)
                s->done(s->ctx, r->done[done].seq + seq, r->done[done].latency);
            if (e == r->ninst) break;
            pl_inst_event x = r->inst[e];
            x.seq += seq;
            x.cycle += cycle;
            s->inst(s->ctx, &x);
        }
        events += r->ninst + (s->mem ? r->nmem : 0);
    }
    if (pl_tracedb_end(t, &result) != PL_OK) exit(EXIT_FAILURE);
    double seconds = now() - begin;
    if (pl_tracedb_close(t, true) != PL_OK) exit(EXIT_FAILURE);
    struct stat st;
    stat(path, &st);
    printf("  %-7s %-5s %10llu events %8.2f M events/s %7.2f bytes an event   (aim: %s)\n",
           packed ? "packed" : "rows", level == PL_TRACEDB_MEM ? "mem" : "inst",
           (unsigned long long)events, (double)events / seconds / 1e6,
           (double)st.st_size / (double)events, packed ? "10 M, at most 10 bytes" : "0.7 M");
}

static void record(const char *name, recording *r, pl_gpu *gpu, pl_case **c, pl_module **m)
{
    char *file = data_path(name);
    pl_sink sink = {.ctx = r, .inst = keep_inst, .mem = keep_mem, .done = keep_done};
    pl_launch l = {.mode = PL_MODE_TIMING, .sink = &sink};
    const pl_load_options load = {.opt_level = 2};
    pl_result result;
    if (pl_case_read(gpu, file, c) != PL_OK ||
        pl_module_load_file(gpu, (*c)->ptx, &load, m) != PL_OK ||
        pl_case_prepare(*c, *m, &l) != PL_OK || pl_launch_kernel(gpu, *m, &l, &result) != PL_OK) {
        fprintf(stderr, "%s does not run\n", file);
        exit(EXIT_FAILURE);
    }
    free(file);
}

/* Processor time of the programs run so far. */
static double spent(void)
{
    struct rusage u;
    getrusage(RUSAGE_CHILDREN, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

/* Seconds of processor time of one run. */
static double run_seconds(const char *file, const char *trace)
{
    const char *const with[] = {loom_path(), "run",           file,      "--trace",
                                trace,       "--trace-level", "summary", NULL};
    const char *const without[] = {loom_path(), "run", file, NULL};
    const double before = spent();
    run_result r = run_command(trace ? with : without, 300);
    if (r.status != 0) exit(EXIT_FAILURE);
    run_free(&r);
    return spent() - before;
}

/* The cost of a summary: the minimum of several runs, with and without it alternately, so that both
 * run under the same load. */
static void compare_summary(const char *name, const char *path)
{
    char *file = data_path(name);
    double plain = 1e9, traced = 1e9;
    for (int i = 0; i < 7; i++) {
        const double a = run_seconds(file, NULL), b = run_seconds(file, path);
        if (a < plain) plain = a;
        if (b < traced) traced = b;
    }
    printf("summary of %s: %.3f s, without a trace %.3f s: %+.1f %% (aim: 5)\n", name, traced,
           plain, 100 * (traced / plain - 1));
    free(file);
}

int main(int argc, char **argv)
{
    static const char *const cases[] = {"suite/cases/sgemm_tiled.json",
                                        "suite/cases/transpose_shared.json",
                                        "suite/cases/bfs_level.json"};
    char *folder = scratch_make(), path[400];
    snprintf(path, sizeof path, "%s/bench.db", folder);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (argc > 1 && !strstr(cases[i], argv[1])) continue;
        recording r = {0};
        pl_gpu *gpu;
        pl_case *c;
        pl_module *m;
        if (pl_gpu_open(&gpu, "h200") != PL_OK) return EXIT_FAILURE;
        record(cases[i], &r, gpu, &c, &m);
        keep_middle(&r);
        size_t n = r.ninst + r.nmem;
        printf("%s: %zu events\n", cases[i], n);
        for (int packed = 0; packed < 2; packed++)
            for (int level = PL_TRACEDB_INST; level <= PL_TRACEDB_MEM; level++)
                write_trace(&r, c, path, (pl_tracedb_level)level, packed,
                            1 + (int)((packed ? 20000000 : 1000000) / n));
        pl_case_close(c);
        pl_module_close(m);
        pl_gpu_close(gpu);
        free(r.inst);
        free(r.mem);
        free(r.done);
        free(r.before);
    }
    if (argc == 1) {
        compare_summary("suite/cases/sgemm_tiled_big.json", path);
        compare_summary("suite/cases/bfs_level.json", path);
    }
    scratch_remove(folder);
    return EXIT_SUCCESS;
}
