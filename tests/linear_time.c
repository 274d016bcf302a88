/* linear_time.c - assembling takes time and memory proportional to the function's size, for any
 * shape of function, and reading a launch file is linear in its size.
 *
 * Kernels of several shapes are generated in two sizes, one FACTOR times the other, and assembled
 * at -O2. The test compares the number of instructions executed by the processor, which does not
 * depend on the load of the machine; where no counter is available, processor time with a larger
 * tolerance. Quadratic behaviour anywhere exceeds the limit by nearly FACTOR times.
 *
 * The memory of a checker is compared with the bytes of the launch's buffers, and the cost of small
 * launches on a large machine with that on a small one, and exports of traces of many launches. */
#define _GNU_SOURCE /* syscall, wait4 */
#include "tests/harness.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/perf_event.h>
#include <sys/syscall.h>
#endif

enum { FACTOR = 4 };

static FILE *out;

static void line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void line(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vfprintf(out, fmt, ap);
    va_end(ap);
    fputc('\n', out);
}

/* ---- shapes ---- */

static void head(unsigned n)
{
    line(".visible .entry k(.param .u64 p, .param .u32 n)\n{\n.reg .b64 %%d<4>; .reg .b32 %%x<8>; "
         ".reg .b32 %%r<%u>; .reg .pred %%p<%u>;",
         n + 1, n + 1);
    line("ld.param.u64 %%d1, [p]; ld.param.u32 %%x1, [n]; mov.u32 %%x2, 0; mov.u32 %%x3, 1;");
}

static void tail(void)
{
    line("st.global.u32 [%%d1], %%x2;\nret;\n}");
}

/* Branches around a few instructions, which are if-converted: a single block remains. */
static void branches(unsigned n)
{
    head(n);
    for (unsigned k = 0; k < n; k++) {
        line("setp.gt.s32 %%p%u, %%x1, %u;\n@%%p%u bra L%u;", k, k, k, k);
        line("mul.lo.u32 %%x2, %%x2, %%x3; add.u32 %%x3, %%x3, %%x2; st.global.u32 [%%d1+%u], "
             "%%x3;\nL%u:",
             4 * k, k);
    }
    tail();
}

/* One block, in which accesses through one address do not overlap. */
static void straight(unsigned n)
{
    head(n);
    for (unsigned k = 0; k < n; k++) {
        line("ld.global.u32 %%r%u, [%%d1+%u];", k, 8 * k);
        line("add.u32 %%x2, %%r%u, %%x2; st.global.u32 [%%d1+%u], %%x2;", k, 8 * k + 4);
    }
    tail();
}

/* Many blocks in one loop, and variables live throughout it. */
static void blocks_in_a_loop(unsigned n)
{
    head(n);
    line("TOP:");
    for (unsigned k = 0; k < n; k++) {
        line("setp.eq.u32 %%p%u, %%x2, %u;\n@%%p%u bra L%u;\nld.global.u32 %%r%u, [%%d1+%u];", k, k,
             k, k, k, 4 * k);
        line("mul.lo.u32 %%x4, %%r%u, %%x3; add.u32 %%x3, %%x4, %%x2; st.global.u32 [%%d1+%u], "
             "%%x3;\nbar.sync 0;\nL%u:",
             k, 4 * k, k);
    }
    line("add.u32 %%x2, %%x2, 1; setp.lt.u32 %%p%u, %%x2, %%x1;\n@%%p%u bra TOP;", n, n);
    tail();
}

static void nested_branches(unsigned n)
{
    head(n);
    for (unsigned k = 0; k < n; k++) {
        line("ld.global.u32 %%r%u, [%%d1+%u]; setp.lt.u32 %%p%u, %%r%u, %%x1;\n@%%p%u bra E%u;", k,
             4 * k, k, k, k, k);
        line("add.u32 %%x2, %%x2, %%r%u; st.global.u32 [%%d1+%u], %%x2;", k, 4 * k);
    }
    for (unsigned k = n; k-- > 0;)
        line("add.u32 %%x2, %%x2, %%r%u; st.global.u32 [%%d1+%u], %%x2;\nE%u:", k, 4 * k, k);
    tail();
}

static void cases(unsigned n)
{
    head(n);
    fprintf(out, "ts: .branchtargets C0");
    for (unsigned k = 1; k < n; k++) fprintf(out, ", C%u", k);
    line(";\nTOP:\nbrx.idx %%x1, ts;");
    for (unsigned k = 0; k < n; k++)
        line("C%u:\nld.global.u32 %%r%u, [%%d1+%u]; add.u32 %%x2, %%r%u, %u; st.global.u32 "
             "[%%d1+%u], %%x2;\nbra.uni END;",
             k, k, 4 * k, k, k, 4 * k);
    line("END:\nadd.u32 %%x1, %%x1, %%x2; setp.lt.u32 %%p1, %%x1, 100;\n@%%p1 bra TOP;");
    tail();
}

/* More simultaneously live values than registers. */
static void values_at_once(unsigned n)
{
    head(n);
    for (unsigned k = 0; k < n; k++) line("ld.global.u32 %%r%u, [%%d1+%u];", k, 4 * k);
    line("bar.sync 0;");
    for (unsigned k = 0; k < n; k++)
        line("mad.lo.u32 %%x2, %%r%u, %%r%u, %%x2;", k, (unsigned)((k * UINT64_C(7919) + 3) % n));
    tail();
}

static void calls(unsigned n)
{
    line(".func (.param .b32 r) f(.param .b32 a)\n{\n.reg .b32 %%r<4>;\nld.param.u32 %%r1, [a]; "
         "mul.lo.u32 %%r2, %%r1, %%r1; st.param.b32 [r], %%r2;\nret;\n}");
    head(n);
    for (unsigned k = 0; k < n; k++)
        line("{ .param .b32 a; .param .b32 r; st.param.b32 [a], %%x2; call.uni (r), f, (a); "
             "ld.param.b32 %%x2, [r]; }");
    tail();
}

static void functions(unsigned n)
{
    for (unsigned k = 0; k < n; k++)
        line(
            ".visible .func (.param .b32 r) f%u(.param .b32 a)\n{\n.reg .b32 %%r<4>;\nld.param.u32 "
            "%%r1, [a]; add.u32 %%r2, %%r1, %u; st.param.b32 [r], %%r2;\nret;\n}",
            k, k);
}

/* Defined on one path and read on another, all in a loop: live everywhere. */
static void undefined_ways(unsigned n)
{
    head(2 * n);
    line("TOP:");
    for (unsigned k = 0; k < n; k++)
        line("setp.lt.u32 %%p%u, %%x1, %u;\n@%%p%u bra A%u;\nld.global.u32 %%r%u, [%%d1+%u]; "
             "bar.sync 0;\nA%u:",
             2 * k, k, 2 * k, k, k, 4 * k, k);
    for (unsigned k = 0; k < n; k++)
        line("setp.gt.u32 %%p%u, %%x1, %u;\n@%%p%u bra B%u;\nadd.u32 %%x2, %%x2, %%r%u; bar.sync "
             "0;\nB%u:",
             2 * k + 1, k, 2 * k + 1, k, k, k);
    line("add.u32 %%x1, %%x1, 1; setp.ne.u32 %%p%u, %%x1, %%x2;\n@%%p%u bra TOP;", 2 * n, 2 * n);
    tail();
}

/* Both arms of a branch end in a copy to the same register. */
static void diamonds(unsigned n)
{
    head(2 * n);
    for (unsigned k = 0; k < n; k++) {
        line("setp.lt.u32 %%p%u, %%x1, %u;\n@%%p%u bra A%u;\nld.global.u32 %%r%u, [%%d1+%u]; "
             "bar.sync 0;\nmov.u32 %%r%u, %%r%u;\nbra.uni B%u;",
             k, k, k, k, 2 * k, 4 * k, 2 * k + 1, 2 * k, k);
        line("A%u:\nld.global.u32 %%x4, [%%d1+%u]; bar.sync 1;\nmov.u32 %%r%u, "
             "%%x4;\nB%u:\nadd.u32 %%x2, %%r%u, %%x2;",
             k, 4 * k + 8, 2 * k + 1, k, 2 * k + 1);
    }
    tail();
}

/* Loops that each load the same address in every iteration: LICM hoists the loads. */
static void loads_in_loops(unsigned n)
{
    head(n);
    for (unsigned k = 0; k < n; k++)
        line("L%u:\nshfl.sync.bfly.b32 %%x4, %%x2, 1, 31, -1; ld.global.u32 %%r%u, [%%d1+%u]; "
             "mad.lo.u32 %%x2, %%x4, %%r%u, %%x2;\n"
             "setp.lt.u32 %%p%u, %%x2, %%x1; @%%p%u bra L%u;",
             k, k, 4 * k, k, k, k, k);
    tail();
}

/* Each instruction may branch to a distant one. */
static void scattered_labels(unsigned n)
{
    head(1);
    for (unsigned k = 0; k < n; k++) line("L%u: @%%p0 bra L%u;", k, k * 7919 % n);
    tail();
}

/* A kernel with this many parameters, and the launch file with their arguments. */
static void parameters(unsigned n)
{
    line(".visible .entry k(.param .u32 p0");
    for (unsigned k = 1; k < n; k++) line(", .param .u32 p%u", k);
    line(") { ret; }");
}

static void arguments(unsigned n)
{
    line("\"grid\": 1, \"block\": 1, \"args\": [{\"scalar\": \"u32\", \"value\": 0}");
    for (unsigned k = 1; k < n; k++) line(", {\"scalar\": \"u32\", \"value\": %u}", k);
    line("]");
}

/* Many launches, each with one argument. */
static void one_parameter(unsigned n)
{
    (void)n;
    parameters(1);
}

static void launches(unsigned n)
{
    line("\"grid\": 1, \"block\": 1, \"args\": [{\"scalar\": \"u32\", \"value\": 0}], \"then\": [");
    for (unsigned k = 1; k < n; k++)
        line("%s{\"grid\": 1, \"block\": 1, \"args\": [{\"scalar\": \"u32\", \"value\": %u}]}",
             k > 1 ? ", " : "", k);
    line("]");
}

static const struct {
    const char *name;
    void (*make)(unsigned n);
    unsigned n;
    void (*launch)(unsigned n); /* the keys of a launch file, which is run; NULL: assembled only */
} shapes[] = {{"short branches", branches, 2000, NULL},
              {"one long block", straight, 2000, NULL},
              {"many blocks in a loop", blocks_in_a_loop, 1500, NULL},
              {"nested branches", nested_branches, 1000, NULL},
              {"a switch", cases, 2000, NULL},
              {"many live values", values_at_once, 1500, NULL},
              {"many calls", calls, 2000, NULL},
              {"many functions", functions, 2000, NULL},
              {"values through undefined paths", undefined_ways, 1000, NULL},
              {"copies in both branches", diamonds, 1500, NULL},
              {"loads in loops", loads_in_loops, 1500, NULL},
              {"scattered labels", scattered_labels, 4000, NULL},
              {"many arguments", parameters, 2000, arguments},
              {"many launches", one_parameter, 2000, launches}};

/* ---- runs ---- */

typedef struct cost {
    double work;   /* instructions, or seconds of processor time */
    double memory; /* bytes */
    bool counted, good;
} cost;

/* Counts the instructions of this process and its children; -1: no counter is available. */
static int open_counter(void)
{
#ifdef __linux__
    struct perf_event_attr a = {.type = PERF_TYPE_HARDWARE,
                                .size = sizeof a,
                                .config = PERF_COUNT_HW_INSTRUCTIONS,
                                .inherit = 1,
                                .exclude_kernel = 1,
                                .exclude_hv = 1};
    return (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
#else
    return -1;
#endif
}

/* Runs a command of ptxloom. */
static cost execute(char *const argv[])
{
    struct rusage u;
    int status = 0, counter = open_counter();
    pid_t child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_WRONLY);
        if (null >= 0) dup2(null, 1);
        execvp(loom_path(), argv);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &u) != child) exit(EXIT_FAILURE);
    uint64_t n = 0;
    bool counted = counter >= 0 && read(counter, &n, sizeof n) == (ssize_t)sizeof n && n > 1000000;
    if (counter >= 0) close(counter);
    double seconds = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
                     1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
    return (cost){counted ? (double)n : seconds, 1024.0 * (double)u.ru_maxrss, counted,
                  status == 0};
}

/* Assembles PTX, or runs a launch file, with a checker or with tools == NULL. */
static cost assemble(char *path, bool run, char *tools)
{
    char *as[] = {"ptxloom", "as", "-O2", "-j", "1", path, NULL},
         *launch[] = {"ptxloom",   "run", "--mode", "functional",
                      "--threads", "1",   path,     tools ? "--check" : NULL,
                      tools,       NULL};
    return execute(run ? launch : as);
}

/* Writes PTX, and a launch file if the shape has one; returns the path of the latter, else of the
 * former. */
static char *generate(const char *folder, size_t shape, unsigned n)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%u.ptx", folder, n);
    out = fopen(path, "w");
    if (!out) exit(EXIT_FAILURE);
    line(".version 9.0\n.target sm_90a\n.address_size 64");
    shapes[shape].make(n);
    fclose(out);
    const bool run = shapes[shape].launch != NULL;
    if (run) {
        snprintf(path, sizeof path, "%s/%u.json", folder, n);
        out = fopen(path, "w");
        if (!out) exit(EXIT_FAILURE);
        line("{\"ptx\": \"%u.ptx\",", n);
        shapes[shape].launch(n);
        line("}");
        fclose(out);
    }
    return path;
}

/* The least of up to three runs: a run with at most `enough` work is the last. */
static cost measure(const char *folder, size_t shape, unsigned n, double enough)
{
    enum { RUNS = 3 };
    char *path = generate(folder, shape, n);
    const bool run = shapes[shape].launch != NULL;
    cost least = assemble(path, run, NULL);
    for (unsigned k = 1; k < RUNS && !least.counted && least.work > enough; k++) {
        cost c = assemble(path, run, NULL);
        least.work = c.work < least.work ? c.work : least.work;
    }
    return least;
}

/* 132 blocks synchronise eight times with fences, and write two buffers with volatile stores. */
__attribute__((unused)) static void checker(void)
{
    enum { BYTES = 2 * 33792 * 4, MOST = 100 };
    char *path = data_path("suite/cases/grid_barrier.json");
    const cost plain = assemble(path, true, NULL), checked = assemble(path, true, "race");
    const double each = (checked.memory - plain.memory) / BYTES;
    tap(plain.good && checked.good && each <= MOST, "memory of --check race with fences");
    tap_note("%.0f bytes for each byte of the buffers", each);
    free(path);
}

/* The same; if only processor time can be measured, the shortest of three runs, since other
 * processes evict this one from the caches. */
static cost execute_quietly(char *const argv[])
{
    cost least = execute(argv);
    for (unsigned again = 0; again < 2 && !least.counted; again++) {
        const cost c = execute(argv);
        least.good &= c.good;
        if (c.work < least.work) least.work = c.work;
    }
    return least;
}

/* In timing mode, a launch of one block costs little on a machine of 132 SMs: it uses one of them.
 * The other machine has two. */
static void small_launches(const char *folder)
{
    enum { LAUNCHES = 2000, MOST = 6 };
    size_t shape = 0;
    while (shapes[shape].launch != launches) shape++;
    char *path = generate(folder, shape, LAUNCHES), *machine[] = {"toy", "h200"};
    cost of[2];
    for (size_t k = 0; k < 2; k++) {
        char *argv[] = {"ptxloom",  "run",       "--mode", "timing", "--arch",
                        machine[k], "--threads", "1",      path,     NULL};
        of[k] = execute_quietly(argv);
    }
    const double ratio = of[1].work / of[0].work;
    tap(of[0].good && of[1].good && ratio <= MOST, "launches of one block on a large machine");
    tap_note("%.1f times the %s", ratio, of[0].counted ? "instructions" : "processor time");
}

/* Commands on the trace of many launches take time proportional to their number. */
static void traced_launches(const char *folder)
{
    enum { LAUNCHES = 300 };
    enum { COMMANDS = 3 };
    static const char *const what[COMMANDS] = {"export", "query advice", "query checks"};
    cost of[COMMANDS][2];
    for (unsigned k = 0; k < 2; k++) {
        char ptx[512], json[512], db[512], to[512],
            *run[FACTOR * LAUNCHES + 8] = {"ptxloom",   "run",     "--arch", "toy",
                                           "--summary", "--trace", db};
        const unsigned n = k ? FACTOR * LAUNCHES : LAUNCHES;
        snprintf(ptx, sizeof ptx, "%s/traced.ptx", folder);
        snprintf(json, sizeof json, "%s/traced.json", folder);
        snprintf(db, sizeof db, "%s/traced%u.db", folder, n);
        snprintf(to, sizeof to, "%s/traced%u.json", folder, n);
        out = fopen(ptx, "w");
        if (!out) exit(EXIT_FAILURE);
        line(".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k() {");
        for (unsigned b = 0; b < 40; b++) line("bar.sync 0;");
        line("ret; }");
        fclose(out);
        out = fopen(json, "w");
        if (!out) exit(EXIT_FAILURE);
        line("{\"ptx\": \"traced.ptx\", \"grid\": 1, \"block\": 128, \"args\": []}");
        fclose(out);
        for (unsigned l = 0; l < n; l++) run[7 + l] = json;
        char *command[COMMANDS][6] = {{"ptxloom", "export", db, "-o", to},
                                      {"ptxloom", "query", db, "advice"},
                                      {"ptxloom", "query", db, "checks"}};
        const cost traced = execute(run);
        for (unsigned c = 0; c < COMMANDS; c++) {
            of[c][k] = execute(command[c]);
            of[c][k].good &= traced.good;
        }
    }
    for (unsigned c = 0; c < COMMANDS; c++) {
        const cost *o = of[c];
        const double ratio = o[1].work / o[0].work;
        tap(o[0].good && o[1].good && ratio <= (o[0].counted ? 1.5 : 2.25) * FACTOR,
            "%s of a trace of many launches", what[c]);
        tap_note("%d times as many: %.1f times the %s", FACTOR, ratio,
                 o[0].counted ? "instructions" : "processor time");
    }
}

int main(void)
{
    char *folder = scratch_make();
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        const cost small = measure(folder, k, shapes[k].n, 0);
        const double most = small.counted ? 1.5 * FACTOR : 2.25 * FACTOR;
        const cost large = measure(folder, k, FACTOR * shapes[k].n, most * small.work);
        const double work = large.work / small.work, memory = large.memory / small.memory;
        tap(small.good && large.good && work <= most && memory <= 1.25 * FACTOR, "%s",
            shapes[k].name);
        tap_note("%d times as large: %.1f times the %s, %.1f times the memory", FACTOR, work,
                 large.counted ? "instructions" : "processor time", memory);
    }
#ifndef __SANITIZE_ADDRESS__ /* it quarantines freed memory */
    checker();
#endif
    small_launches(folder);
    traced_launches(folder);
    scratch_remove(folder);
    return tap_done();
}
