/* cmd_run.c - `ptxloom run`: runs the launches of launch files or of the command line, sequentially
 * in one process.
 *
 * A case that fails does not stop the next one: each gets its entry in the results, and the exit
 * status is that of the worst. */
#include "cli/run.h"
#include "cli/stop.h"
#include "cli/terminal.h"
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum option_id {
    O_KERNEL,
    O_GRID,
    O_BLOCK,
    O_SHARED,
    O_CLUSTER,
    O_STACK,
    O_ARCH,
    O_MODE,
    O_OPT,
    O_FORCE,
    O_TRACE,
    O_TRACE_LEVEL,
    O_SOURCE_DIR,
    O_NO_SOURCE,
    O_TRACE_FORMAT,
    O_TRACE_KERNEL,
    O_TRACE_SM,
    O_TRACE_BLOCK,
    O_TRACE_WARP,
    O_TRACE_PC,
    O_TRACE_CYCLES,
    O_TRACE_CLASS,
    O_TRACE_SAMPLE,
    O_TRACE_LIMIT,
    O_THREADS,
    O_ASYNC,
    O_SIMT,
    O_SCHEDULE,
    O_CONSISTENCY,
    O_COOPERATIVE,
    O_CHECK,
    O_CHECK_LIMIT,
    O_TRACK_ORIGINS,
    O_CHECK_FORMAT,
    O_CHECK_KERNEL,
    O_SUPPRESSIONS,
    O_ERROR_EXITCODE,
    O_SCHEDULES,
    O_TIMEOUT,
    O_MAX_CYCLES,
    O_MAX_INSTRUCTIONS,
    O_MAX_OUTPUT,
    O_PROGRESS,
    O_JSON,
    O_PRINT,
    O_SUMMARY,
    O_METRICS,
    O_SKIP_PASS,
    O_VERIFY_IR,
    O_COUNT
};
static const cli_option option[O_COUNT] = {
    [O_KERNEL] = {"kernel", 'k', "NAME", "entry point; required if the module has several"},
    [O_GRID] = {"grid", 'g', "X[,Y[,Z]]", "blocks of the grid"},
    [O_BLOCK] = {"block", 'b', "X[,Y[,Z]]", "threads of a block"},
    [O_SHARED] = {"shared", 0, "BYTES", "dynamic shared memory of a block"},
    [O_CLUSTER] = {"cluster", 0, "X[,Y[,Z]]", "blocks of a cluster"},
    [O_STACK] = {"stack", 0, "BYTES", "local memory that a thread may use for calls (1024)"},
    [O_ARCH] = {"arch", 0, "MACHINE", "GPU to model: a name, or the path of a .conf file (h200)"},
    [O_MODE] = {"mode", 0, "timing|functional", "simulate time, or only execute (timing)"},
    [O_OPT] =
        {"opt", 'O', "0|2",
         "-O0: one machine instruction per PTX instruction; -O2 (default): optimised like ptxas"},
    [O_TRACE] = {"trace", 0, "FILE.db", "write an SQLite file about the run"},
    [O_FORCE] = CLI_FORCE,
    [O_TRACE_LEVEL] = {"trace-level", 0, "summary|inst|mem",
                       "statistics, plus every instruction, plus every memory access (inst)"},
    [O_SOURCE_DIR] = {"source-dir", 0, "DIR",
                      "read CUDA source from this folder as well as from the folder of the PTX"},
    [O_NO_SOURCE] = {"no-source", 0, NULL, "store no CUDA source in the trace"},
    [O_TRACE_FORMAT] = {"trace-format", 0, "rows|packed",
                        "store events as rows, or packed in a tenth of the size (rows)"},
    [O_TRACE_KERNEL] = {"trace-kernel", 0, "NAME",
                        "events of this kernel or launch file only; * and ? are wildcards"},
    [O_TRACE_SM] = {"trace-sm", 0, "LIST", "events of these multiprocessors only: 0,4,8:11"},
    [O_TRACE_BLOCK] = {"trace-block", 0, "LIST", "events of these blocks only, by linear number"},
    [O_TRACE_WARP] = {"trace-warp", 0, "LIST", "events of these warps of a block only"},
    [O_TRACE_PC] = {"trace-pc", 0, "LIST",
                    "events of these machine instructions (10:20) or PTX lines (line:41:45) only"},
    [O_TRACE_CYCLES] = {"trace-cycles", 0, "A:B", "events of these cycles only"},
    [O_TRACE_CLASS] = {"trace-class", 0, "LIST",
                       "events of these kinds of instructions only: load,store,barrier,fma ..."},
    [O_TRACE_SAMPLE] = {"trace-sample", 0, "1/N", "events of one warp in N only, whole warps"},
    [O_TRACE_LIMIT] = {"trace-limit", 0, "SIZE",
                       "stop adding events when the trace has this size: 500K, 64MB, 2G; a plain "
                       "number counts MiB"},
    [O_THREADS] = {"threads", 0, "N",
                   "host threads of a launch; the result does not depend on their number (1)"},
    [O_ASYNC] = {"async", 0, "late|timed|eager",
                 "when asynchronous copies take effect: at the wait, at their modelled completion, "
                 "or at once (timing mode: timed, functional mode: eager)"},
    [O_SIMT] = {"simt", 0, "its|stack",
                "divergence: independent thread scheduling, or the stack before Volta (its)"},
    [O_SCHEDULE] = {"schedule", 0, "random:SEED",
                    "functional mode: warps and lanes run in an order drawn from SEED"},
    [O_CONSISTENCY] = {"consistency", 0, "strong|weak",
                       "memory model: writes visible to all threads at once, or the weakest "
                       "behaviour that PTX allows (strong)"},
    [O_COOPERATIVE] = {"cooperative", 0, NULL,
                       "a cooperative launch: the blocks may wait for each other"},
    [O_CHECK] = {"check", 0, "mem|race|init|sync|all",
                 "detect errors of the kernel; several: mem,race (doc/checkers.md)"},
    [O_CHECK_LIMIT] = {"check-limit", 0, "N", "maximum number of findings to show; 0: all (100)"},
    [O_TRACK_ORIGINS] = {"track-origins", 0, NULL,
                         "with --check init: show where undefined values come from; always on"},
    [O_CHECK_FORMAT] = {"check-format", 0, "ptxloom|compute-sanitizer",
                        "print findings as messages, or in the format of compute-sanitizer"},
    [O_CHECK_KERNEL] = {"check-kernel", 0, "NAME",
                        "findings in this kernel only; * and ? are wildcards"},
    [O_SUPPRESSIONS] = {"suppressions", 0, "FILE",
                        "suppress the findings listed in this file (doc/checkers.md)"},
    [O_ERROR_EXITCODE] = {"error-exitcode", 0, "N",
                          "exit status if there are errors among the findings (1; with "
                          "--check-format compute-sanitizer: that of the launch)"},
    [O_SCHEDULES] = {"schedules", 0, "N",
                     "with --check: run the launch N times, all but the first with random "
                     "schedules, and report the findings of all (1)"},
    [O_TIMEOUT] = {"timeout", 0, "SECONDS", "stop a launch after this time"},
    [O_MAX_CYCLES] = {"max-cycles", 0, "N", "stop a launch after N cycles (timing mode)"},
    [O_MAX_INSTRUCTIONS] = {"max-instructions", 0, "N", "stop a launch after N warp instructions"},
    [O_MAX_OUTPUT] = {"max-output", 0, "SIZE",
                      "stop a launch that prints more: 500K, 2G; a plain number is in MiB (256M)"},
    [O_PROGRESS] = {"progress", 0, NULL, "show progress even if standard error is not a terminal"},
    [O_JSON] = {"json", 0, NULL, "print one JSON object"},
    [O_PRINT] = {"print", 0, "N|all",
                 "print the first N elements of each output, also with --json"},
    [O_SUMMARY] = {"summary", 0, NULL,
                   "print tables and bars; with several launches, one line each"},
    [O_METRICS] = {"metrics", 0, "NAME,...|all",
                   "print these metrics, under the names of nvprof or Nsight Compute"},
    [O_SKIP_PASS] = {"skip-pass", 0, "PASS,...",
                     "skip these passes of the assembler; `ptxloom explain passes` lists them"},
    [O_VERIFY_IR] = {"verify-ir", 0, NULL, "verify each function after each pass of the assembler"},
};
static const char usage[] =
    "ptxloom run K.ptx ... | K.plo -g X[,Y[,Z]] -b X[,Y[,Z]] [OPTION ...] [ARG ...]\n"
    "ptxloom run CASE.json ... [OPTION ...]\n\n"
    "ARG, one for each kernel parameter: u32:1024  f32:2.5  f32[1024]=INIT "
    " out:f32[1024]  out=y.npy:f32[1024]\n"
    "and then variables of the module: var=NAME:f32[4]=INIT  var=NAME:out:u32[1]\n"
    "INIT: 0  iota  hash:SEED[,LO,HI]  [1,2,3]  @in.npy  @in.bin\n";

typedef struct options {
    bool given[O_COUNT];
    const char *kernel, *arch, *trace, *command, *metrics, *check, *check_kernel, *suppressions;
    bool sanitizer; /* findings in the format of compute-sanitizer */
    uint32_t grid[3], block[3], cluster[3];
    uint64_t seed, shared, stack, trace_limit, threads, timeout, max_cycles, max_instructions,
        max_output, check_limit, schedules, elements, error_exitcode;
    bool has_shared, has_stack, async_eager, async_late, async_timed, simt_stack, random, weak,
        cooperative, progress, json, summary, packed, force;
    int opt_level;
    pl_pass_control passes;
    pl_mode mode;
    pl_trace_level trace_level;
    pl_trace_filter filter;
    const char **operand, **source_dir;
    size_t noperands, nsource_dirs;
    bool no_source;
} options;

/* State across the cases. */
typedef struct session {
    const options *o;
    pl_gpu *gpu;
    pl_module *module; /* of the latest case: the next one often uses the same module */
    char *module_paths;
    pl_trace *trace;
    bool check_launched, check_fits; /* a launch ran; one of them fits --check-kernel */
    bool in_memory;                  /* the trace exists for --metrics only */
    pl_checks *checks;               /* of the case */
    run_report *json;
    run_style style;
    struct timespec launched, last_update; /* start of the launch; of the progress display */
    bool progress_drawn, interrupted;
    bool terminal;        /* standard error is a terminal */
    int status, exitcode; /* exitcode: requested exit status if there are findings; 0: none */
} session;

/* ---------------------------------------------------------------- progress */

static double seconds_since(const struct timespec *t)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - t->tv_sec) + (double)(now.tv_nsec - t->tv_nsec) * 1e-9;
}

/* "14 s", "3 min", "2.5 h" */
static const char *duration(double seconds, char buf[32])
{
    if (seconds < 100)
        snprintf(buf, 32, "%.0f s", seconds);
    else if (seconds < 6000)
        snprintf(buf, 32, "%.0f min", seconds / 60);
    else
        snprintf(buf, 32, "%.1f h", seconds / 3600);
    return buf;
}

static void progress(void *ctx, uint64_t done, uint64_t blocks, uint64_t instructions)
{
    session *s = ctx;
    bool terminal = s->terminal;
    if (seconds_since(&s->last_update) < (terminal ? 0.2 : 1.0)) return;
    clock_gettime(CLOCK_MONOTONIC, &s->last_update);
    s->progress_drawn = terminal;
    double elapsed = seconds_since(&s->launched), millions = (double)instructions * 1e-6;
    char left[32], line[200];
    size_t n = (size_t)snprintf(line, sizeof line,
                                "%3.0f %%  %" PRIu64 " of %" PRIu64
                                " blocks, %.1f M instructions, %.2f M/s",
                                blocks ? 100.0 * (double)done / (double)blocks : 0.0, done, blocks,
                                millions, elapsed > 0 ? millions / elapsed : 0.0);
    /* Blocks finish in waves, so an estimate requires some of them. */
    if (done > 0 && done < blocks && elapsed > 2)
        snprintf(line + n, sizeof line - n, ", about %s left",
                 duration(elapsed * (double)(blocks - done) / (double)done, left));
    /* A longer line would begin a new one at each update. */
    const int width = terminal ? cli_width(stderr) : 0;
    fprintf(stderr, terminal ? "\r%.*s\033[K" : "%.*s\n", width ? width - 1 : (int)sizeof line,
            line);
}

static void clear_progress(session *s)
{
    if (s->progress_drawn) fputs("\r\033[K", stderr);
    s->progress_drawn = false;
}

/* ---------------------------------------------------------------- options */

static bool read_choice(cli_args *a, const char *name, const char *first, const char *second,
                        bool *is_second)
{
    char expected[64];
    *is_second = strcmp(a->value, second) == 0;
    if (*is_second || strcmp(a->value, first) == 0) return true;
    snprintf(expected, sizeof expected, "it is %s or %s", first, second);
    pl_gpu_report(a->gpu, "E0005", a->value, name, expected, NULL);
    return false;
}

static bool read_level(cli_args *a, options *o)
{
    static const char *const words[] = {"summary", "inst", "mem"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(a->value, words[i]) != 0) continue;
        o->trace_level = (pl_trace_level)i;
        return true;
    }
    pl_gpu_report(a->gpu, "E0005", a->value, "--trace-level", "it is summary, inst or mem", NULL);
    return false;
}

static bool read_async(cli_args *a, options *o)
{
    o->async_late = strcmp(a->value, "late") == 0;
    o->async_timed = strcmp(a->value, "timed") == 0;
    o->async_eager = strcmp(a->value, "eager") == 0;
    if (o->async_late || o->async_timed || o->async_eager) return true;
    pl_gpu_report(a->gpu, "E0005", a->value, "--async", "it is late, timed or eager", NULL);
    return false;
}

static bool read_schedule(cli_args *a, options *o)
{
    char *end = NULL;
    o->random = strncmp(a->value, "random:", 7) == 0;
    if (o->random) o->seed = strtoull(a->value + 7, &end, 10);
    if (end && end != a->value + 7 && *end == '\0') return true;
    pl_gpu_report(a->gpu, "E0005", a->value, "--schedule", "it is random:SEED with a number", NULL);
    return false;
}

/* Reads an option of traces. */
static bool read_trace_option(cli_args *a, options *o, int k)
{
    switch (k) {
    case O_TRACE: o->trace = a->value; return true;
    case O_SOURCE_DIR: o->source_dir[o->nsource_dirs++] = a->value; return true;
    case O_NO_SOURCE: o->no_source = true; return true;
    case O_TRACE_LEVEL: return read_level(a, o);
    case O_TRACE_FORMAT: return read_choice(a, "--trace-format", "rows", "packed", &o->packed);
    case O_TRACE_KERNEL: o->filter.kernel = a->value; return true;
    case O_TRACE_SM: o->filter.sm = a->value; return true;
    case O_TRACE_BLOCK: o->filter.block = a->value; return true;
    case O_TRACE_WARP: o->filter.warp = a->value; return true;
    case O_TRACE_PC: o->filter.pc = a->value; return true;
    case O_TRACE_CYCLES: o->filter.cycles = a->value; return true;
    case O_TRACE_CLASS: o->filter.cls = a->value; return true;
    case O_TRACE_SAMPLE: o->filter.sample = a->value; return true;
    case O_TRACE_LIMIT: return cli_size(a, "--trace-limit", &o->trace_limit);
    default: return false;
    }
}

/* Reads an option of checkers. */
static bool read_check_option(cli_args *a, options *o, int k)
{
    switch (k) {
    case O_CHECK: o->check = a->value; return true;
    case O_CHECK_LIMIT: return cli_number(a, "--check-limit", 0, UINT32_MAX, &o->check_limit);
    case O_TRACK_ORIGINS: return true;
    case O_CHECK_FORMAT:
        return read_choice(a, "--check-format", "ptxloom", "compute-sanitizer", &o->sanitizer);
    case O_CHECK_KERNEL: o->check_kernel = a->value; return true;
    case O_SUPPRESSIONS: o->suppressions = a->value; return true;
    case O_ERROR_EXITCODE: return cli_number(a, "--error-exitcode", 0, 255, &o->error_exitcode);
    case O_SCHEDULES: return cli_number(a, "--schedules", 1, 1u << 20, &o->schedules);
    default: return false;
    }
}

static bool read_option(cli_args *a, options *o, int k)
{
    bool second;
    switch (k) {
    case O_KERNEL: o->kernel = a->value; return true;
    case O_GRID: return cli_shape(a, "-g", o->grid);
    case O_BLOCK: return cli_shape(a, "-b", o->block);
    case O_CLUSTER: return cli_shape(a, "--cluster", o->cluster);
    case O_SHARED:
        o->has_shared = true;
        return cli_number(a, "--shared", 0, UINT32_MAX, &o->shared);
    case O_STACK: o->has_stack = true; return cli_number(a, "--stack", 0, 512 * 1024, &o->stack);
    case O_ARCH: o->arch = a->value; return true;
    case O_MODE:
        if (!read_choice(a, "--mode", "timing", "functional", &second)) return false;
        o->mode = second ? PL_MODE_FUNCTIONAL : PL_MODE_TIMING;
        return true;
    case O_OPT: return cli_opt_level(a, &o->opt_level);
    case O_SKIP_PASS: return cli_pass_value(a, CLI_SKIP_PASS, &o->passes);
    case O_VERIFY_IR: return cli_pass_value(a, CLI_VERIFY_IR, &o->passes);
    case O_FORCE: o->force = true; return true;
    case O_THREADS: return cli_number(a, "--threads", 1, 256, &o->threads);
    case O_ASYNC: return read_async(a, o);
    case O_SIMT: return read_choice(a, "--simt", "its", "stack", &o->simt_stack);
    case O_CONSISTENCY: return read_choice(a, "--consistency", "strong", "weak", &o->weak);
    case O_COOPERATIVE: o->cooperative = true; return true;
    case O_SCHEDULE: return read_schedule(a, o);
    case O_TIMEOUT: return cli_number(a, "--timeout", 1, 1u << 30, &o->timeout);
    case O_MAX_CYCLES: return cli_number(a, "--max-cycles", 1, UINT64_MAX, &o->max_cycles);
    case O_MAX_INSTRUCTIONS:
        return cli_number(a, "--max-instructions", 1, UINT64_MAX, &o->max_instructions);
    case O_MAX_OUTPUT: return cli_size(a, "--max-output", &o->max_output);
    case O_PROGRESS: o->progress = true; return true;
    case O_PRINT:
        o->elements = UINT64_MAX;
        return strcmp(a->value, "all") == 0 ||
               cli_number(a, "--print", 1, UINT64_MAX, &o->elements);
    case O_JSON: o->json = true; return true;
    case O_SUMMARY: o->summary = true; return true;
    case O_METRICS: o->metrics = a->value; return true;
    default: return read_trace_option(a, o, k) || read_check_option(a, o, k);
    }
}

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

/* Rejects options that refine one that is missing. */
static bool check_dependent_options(cli_args *a, const options *o)
{
    static const struct {
        int first, last, needs;
    } dependences[] = {{O_TRACE_LEVEL, O_TRACE_LIMIT, O_TRACE},
                       {O_CHECK_LIMIT, O_SCHEDULES, O_CHECK}};
    for (size_t i = 0; i < sizeof dependences / sizeof *dependences; i++) {
        for (int k = dependences[i].first; k <= dependences[i].last; k++) {
            char name[32], needed[32];
            if (!o->given[k] || o->given[dependences[i].needs] || k == O_TRACK_ORIGINS) continue;
            snprintf(name, sizeof name, "--%s", option[k].name);
            snprintf(needed, sizeof needed, "--%s", option[dependences[i].needs].name);
            pl_gpu_report(a->gpu, "E0020", name, needed, NULL, NULL);
            return false;
        }
    }
    return true;
}

/* Rejects options that have no effect in this mode. */
static bool check_mode(cli_args *a, const options *o)
{
    const bool timing = o->mode == PL_MODE_TIMING;
    if (timing && o->random && !o->weak) {
        pl_gpu_report(a->gpu, "E0010", "--schedule", "--mode timing", NULL,
                      "the timing model selects the next warp: add --mode functional");
        return false;
    }
    if (!timing && o->max_cycles) {
        pl_gpu_report(a->gpu, "E0010", "--max-cycles", "--mode functional", NULL,
                      "there are no cycles: use --max-instructions");
        return false;
    }
    if (!timing && o->filter.cycles) {
        pl_gpu_report(a->gpu, "E0010", "--trace-cycles", "--mode functional", NULL,
                      "there are no cycles: use --trace-pc or --trace-warp");
        return false;
    }
    return true;
}

/* CLI_OK, CLI_INPUT, or CLI_HELP. */
static int read_options(cli_args *a, options *o)
{
    int k;
    bool ok = true;
    while ((k = cli_next(a, option, O_COUNT)) != CLI_END) {
        if (k == CLI_HELP) return CLI_HELP;
        if (k == CLI_OPERAND)
            o->operand[o->noperands++] = a->value;
        else
            ok &= k >= 0 && (o->given[k] = true) && read_option(a, o, k);
    }
    if (!ok || !check_mode(a, o) || !check_dependent_options(a, o)) return CLI_INPUT;
    if (o->noperands == 0) {
        pl_gpu_report(
            a->gpu, "E0007", "run", "a PTX file or launch files", NULL,
            "ptxloom run kernel.ptx -g BLOCKS -b THREADS ARG ..., or ptxloom run launch.json");
        return CLI_INPUT;
    }
    for (size_t i = 1; ends_with(o->operand[0], ".json") && i < o->noperands; i++) {
        if (ends_with(o->operand[i], ".json")) continue;
        pl_gpu_report(a->gpu, "E0010", o->operand[i], "launch files", NULL,
                      "arguments are given with a PTX file, or inside launch files");
        return CLI_INPUT;
    }
    return CLI_OK;
}

/* ---------------------------------------------------------------- cases */

/* Returns the paths of a case's files, one per line. */
static char *module_paths_of(const pl_case *c)
{
    size_t n = strlen(c->ptx) + 1;
    for (size_t i = 0; i < c->nlink; i++) n += strlen(c->link[i]) + 1;
    char *list = malloc(n);
    if (!list) return NULL;
    char *to = stpcpy(list, c->ptx);
    for (size_t i = 0; i < c->nlink; i++) to += sprintf(to, "\n%s", c->link[i]);
    return list;
}

/* Returns the module of a case: the latest one, with its variables reset, if it has the same files;
 * else it is loaded. */
static pl_status load_module(session *s, pl_case *c)
{
    char *paths = module_paths_of(c);
    if (!paths) return PL_NOMEM;
    if (s->module && strcmp(s->module_paths, paths) == 0) {
        free(paths);
        return pl_module_reset(s->module);
    }
    pl_module_close(s->module);
    s->module = NULL;
    free(s->module_paths);
    s->module_paths = paths;
    const pl_load_options load = {
        .opt_level = s->o->opt_level, .keep_loads = s->o->check != NULL, .passes = &s->o->passes};
    return pl_case_load(c, &load, &s->module);
}

/* Shape and kernel of the command line override those of a launch file. */
static void apply_overrides(const options *o, pl_case *c)
{
    if (o->kernel) c->entry = o->kernel;
    if (o->grid[0]) memcpy(c->grid, o->grid, sizeof c->grid);
    if (o->block[0]) memcpy(c->block, o->block, sizeof c->block);
    if (o->cluster[0]) memcpy(c->cluster, o->cluster, sizeof c->cluster);
    if (o->has_shared) c->dynamic_shared = (uint32_t)o->shared;
    if (o->has_stack) c->stack = (uint32_t)o->stack;
}

/* Discards a trace that cannot be written; the launches continue without it. */
static void discard_trace(session *s)
{
    pl_trace_close(s->trace, false);
    s->trace = NULL;
    s->status = cli_worse(s->status, CLI_SYSTEM);
}

/* After the launch: a file that cannot be written does not change its status. */
static void save_outputs(session *s, pl_case *c, run_case *r)
{
    pl_status st = PL_OK;
    for (size_t k = 0; k < c->nargs && st == PL_OK; k++)
        if (c->arg[k].save) st = pl_case_save(c, k, s->o->force);
    r->saved = st == PL_OK;
    s->interrupted |= st == PL_INTERRUPTED;
    s->status = cli_worse(s->status, cli_status(st));
}

/* Runs launches under random schedules: only their findings are used. */
static pl_status run_random_schedules(session *s, pl_case *c, const pl_launch *base)
{
    pl_status st = PL_OK;
    for (uint64_t seed = 1; seed < s->o->schedules && st == PL_OK; seed++) {
        pl_launch l = *base;
        pl_result result;
        l.mode = PL_MODE_FUNCTIONAL;
        l.random = true;
        l.seed = seed;
        st = load_module(s, c);
        if (st == PL_OK) st = pl_case_prepare(c, s->module, &l);
        if (st == PL_OK) st = pl_launch_kernel(s->gpu, s->module, &l, &result);
        pl_gpu_printed(s->gpu);
        pl_case_release(c);
    }
    return st;
}

static void compare_outputs(session *s, pl_case *c, run_case *r)
{
    for (size_t k = 0; k < c->nargs; k++) {
        const pl_status st = pl_case_compare(c, k);
        r->differs |= st == PL_FAULT;
        s->interrupted |= st == PL_INTERRUPTED;
        s->status = cli_worse(s->status, cli_status(st));
    }
}

static pl_status check_save(const session *s, pl_case *c, size_t k)
{
    if (s->o->trace && strcmp(s->o->trace, c->arg[k].save) == 0) {
        pl_gpu_report(s->gpu, "E0022", s->o->trace, NULL, NULL, NULL);
        return PL_INVALID;
    }
    return pl_case_check_save(c, k, s->o->force);
}

static pl_status launch(session *s, pl_case *c, run_case *r)
{
    const options *o = s->o;
    pl_launch l = {.mode = o->mode,
                   .threads = (int)o->threads,
                   .async_eager = o->async_eager,
                   .async_late = o->async_late,
                   .async_timed = o->async_timed,
                   .simt_stack = o->simt_stack,
                   .cooperative = o->cooperative,
                   .random = o->random,
                   .weak = o->weak,
                   .seed = o->seed,
                   .max_cycles = o->max_cycles,
                   .max_instructions = o->max_instructions,
                   .max_output = o->max_output,
                   .checks = s->checks,
                   .progress_ctx = s};
    if (o->progress || (s->terminal && !o->json)) l.progress = progress;
    cli_interrupt_waits(true);
    pl_status st = load_module(s, c);
    if (st == PL_OK) r->module = s->module;
    for (size_t k = 0; k < c->nargs && st == PL_OK; k++)
        if (c->arg[k].save) st = check_save(s, c, k);
    if (st == PL_OK && s->checks) st = run_random_schedules(s, c, &l);
    if (st == PL_OK && o->schedules > 1) st = load_module(s, c);
    clock_gettime(CLOCK_MONOTONIC, &s->launched);
    s->last_update = s->launched;
    if (st == PL_OK) st = pl_case_prepare(c, s->module, &l);
    cli_interrupt_waits(false);
    if (st != PL_OK) return st;
    r->entry = l.kernel;
    for (const pl_launch *next = &l; o->check_kernel && next; next = next->then)
        s->check_fits |= fnmatch(o->check_kernel, next->kernel, 0) == 0;
    s->check_launched = true;
    /* Without --kernel the name was that of the file. */
    if (c->name == o->operand[0]) c->name = r->name = l.kernel;
    memcpy(r->grid, l.grid, sizeof r->grid);
    memcpy(r->block, l.block, sizeof r->block);
    if (s->trace) l.sink = pl_trace_begin(s->trace, s->module, &l, c->name);
    st = pl_launch_kernel(s->gpu, s->module, &l, &r->result);
    clear_progress(s);
    if (s->trace && !s->in_memory && s->terminal && !s->json) cli_busy("writing the trace");
    r->launched = st == PL_OK || st == PL_FAULT || st == PL_INTERRUPTED;
    if (s->trace && (pl_trace_end(s->trace, &r->result) != PL_OK ||
                     (s->checks && pl_trace_add_findings(s->trace, s->checks) != PL_OK)))
        discard_trace(s);
    cli_busy_end();
    r->printed = pl_gpu_printed(s->gpu);
    if (s->trace && o->metrics && r->launched &&
        pl_trace_metrics(s->trace, o->metrics, &r->metric, &r->nmetrics) != PL_OK)
        r->nmetrics = 0;
    if (st == PL_OK) save_outputs(s, c, r);
    if (st == PL_OK) compare_outputs(s, c, r);
    return st;
}

/* Shows the findings as messages, or in the format of compute-sanitizer; *final_lines: its last
 * lines. Returns the number of errors among them. */
static uint64_t show_findings(session *s, const run_case *r, const char **final_lines)
{
    const char *lines;
    pl_sanitizer_sum sum = {0};
    if (!s->o->sanitizer || s->json) {
        pl_checks_report(s->checks, r->module);
        return pl_checks_errors(s->checks);
    }
    if (pl_checks_sanitizer(s->checks, r->module, &sum, &lines) == PL_OK) fputs(lines, stdout);
    pl_checks_sanitizer_end(s->checks, &sum, r->status == PL_FAULT, final_lines);
    return pl_sanitizer_errors(&sum);
}

/* Runs one case and shows its results. c may be NULL: it could not be read. */
static void run_one(session *s, pl_case *c, const char *name, pl_status st, size_t first_message)
{
    const char *final_lines = "";
    uint64_t errors = 0; /* among the findings */
    run_case r = {.gpu = s->gpu,
                  .name = name,
                  .arch = pl_gpu_name(s->gpu),
                  .mode = s->o->mode,
                  .launch = c,
                  .status = st,
                  .first_message = first_message};
    if (c) {
        apply_overrides(s->o, c);
        cli_set_timer(s->o->timeout);
        const pl_checks_options check = {.tools = s->o->check,
                                         .limit = s->o->check_limit,
                                         .kernel = s->o->check_kernel,
                                         .suppressions = s->o->suppressions};
        cli_interrupt_waits(true);
        if (check.tools) r.status = pl_checks_open(s->gpu, &check, &s->checks);
        cli_interrupt_waits(false);
        if (r.status == PL_OK) r.status = launch(s, c, &r);
        if (s->checks && r.module) errors = show_findings(s, &r, &final_lines);
        r.checks = s->checks;
    }
    cli_messages(s->gpu, first_message);
    const size_t nmessages = pl_gpu_diag_count(s->gpu);
    if (s->json)
        run_json_add(s->json, &r);
    else
        run_text(&r, &s->style);
    fputs(final_lines, stdout);
    cli_set_timer(0);
    cli_messages(s->gpu, nmessages);
    if (pl_gpu_diag_count(s->gpu) > nmessages) s->status = cli_worse(s->status, CLI_SYSTEM);
    s->interrupted |= r.status == PL_INTERRUPTED;
    s->status = cli_worse(s->status, cli_status(r.status));
    if (errors) {
        s->exitcode = (int)s->o->error_exitcode;
        if (!s->o->sanitizer) s->status = cli_worse(s->status, CLI_FAILED);
    }
    pl_checks_close(s->checks);
    s->checks = NULL;
    pl_case_close(c);
    pl_gpu_diag_clear(s->gpu);
}

static void run_launch_file(session *s, const char *path)
{
    pl_case *c;
    cli_set_timer(s->o->timeout);
    cli_interrupt_waits(true);
    pl_status st = pl_case_read(s->gpu, path, &c);
    cli_interrupt_waits(false);
    const char *slash = strrchr(path, '/');
    char name[256];
    snprintf(name, sizeof name, "%s", c ? c->name : slash ? slash + 1 : path);
    if (!c && ends_with(name, ".json")) name[strlen(name) - 5] = '\0';
    run_one(s, c, name, st, 0);
}

/* True for a further module rather than an argument: arguments contain a colon or brackets. */
static bool is_module(const char *word)
{
    return (ends_with(word, ".ptx") || ends_with(word, ".plo")) && !strpbrk(word, ":[=");
}

static void run_command_line(session *s)
{
    const options *o = s->o;
    pl_case *c;
    pl_status st = pl_case_open(s->gpu, &c);
    if (c) {
        size_t i = 1;
        c->ptx = o->operand[0];
        for (; i < o->noperands && is_module(o->operand[i]); i++)
            pl_case_add_file(c, o->operand[i]);
        for (; i < o->noperands; i++) {
            pl_status result = pl_case_add_arg(c, o->operand[i]);
            if (st == PL_OK) st = result;
        }
        if (st != PL_OK) {
            pl_case_close(c);
            c = NULL;
        }
    }
    if (c) c->name = o->kernel ? o->kernel : o->operand[0];
    run_one(s, c, o->kernel ? o->kernel : o->operand[0], st, 0);
}

static pl_status open_trace(session *s)
{
    const pl_trace_options t = {.level = s->o->trace_level,
                                .command = s->o->command,
                                .max_bytes = s->o->trace_limit,
                                .filter = s->o->filter,
                                .packed = s->o->packed,
                                .accesses = true,
                                .force = s->o->force,
                                .no_source = s->o->no_source,
                                .source_dir = s->o->source_dir,
                                .nsource_dirs = s->o->nsource_dirs};
    const pl_trace_options memory = {.level = PL_TRACE_SUMMARY, .accesses = true};
    const pl_metric *unused;
    size_t n;
    if (!s->o->trace && !s->o->metrics) return PL_OK;
    s->in_memory = !s->o->trace;
    pl_status st = pl_trace_open(s->gpu, s->o->trace, s->in_memory ? &memory : &t, &s->trace);
    if (st != PL_OK || !s->o->metrics) return st;
    st = pl_trace_metrics(s->trace, s->o->metrics, &unused, &n); /* validates the names */
    if (st != PL_OK) pl_trace_close(s->trace, false);
    if (st != PL_OK) s->trace = NULL;
    return st;
}

static int run_all(session *s)
{
    const options *o = s->o;
    pl_status trace_status = open_trace(s);
    if (trace_status != PL_OK) {
        cli_messages(s->gpu, 0);
        return cli_status(trace_status);
    }
    if (o->json && !(s->json = run_json_open(o->elements))) return CLI_SYSTEM;
    if (ends_with(o->operand[0], ".json")) {
        s->style.one_of_many = o->noperands > 1;
        if (o->summary && !o->json && s->style.one_of_many) run_summary_head();
        for (size_t i = 0; i < o->noperands && cli_stop != CLI_INTERRUPTED; i++) {
            /* A time limit ends one launch; the others have their own. */
            if (cli_stop == CLI_TIMED_OUT) cli_stop = CLI_CONTINUE;
            run_launch_file(s, o->operand[i]);
        }
    } else {
        run_command_line(s);
    }
    if (s->json && !run_json_close(s->json)) s->status = CLI_SYSTEM;
    const bool complete = !s->interrupted && cli_stop == CLI_CONTINUE && s->status != CLI_SYSTEM;
    if (s->terminal && !s->json) cli_busy("writing the trace");
    if (s->trace && pl_trace_close(s->trace, !s->in_memory && complete) != PL_OK)
        s->status = CLI_SYSTEM;
    cli_busy_end();
    if (o->check_kernel && s->check_launched && !s->check_fits)
        pl_gpu_report(s->gpu, "W1008", o->check_kernel, NULL, NULL, NULL);
    cli_messages(s->gpu, 0);
    pl_module_close(s->module);
    free(s->module_paths);
    return s->status;
}

/* Returns the command line as one string, for the trace. */
static char *join(int argc, char **argv)
{
    size_t n = sizeof "ptxloom";
    for (int i = 0; i < argc; i++) n += strlen(argv[i]) + 1;
    char *s = malloc(n), *to = s;
    if (!s) return NULL;
    to += sprintf(to, "ptxloom");
    for (int i = 0; i < argc; i++) to += sprintf(to, " %s", argv[i]);
    return s;
}

int cmd_run(int argc, char **argv)
{
    options o = {.arch = "h200",
                 .mode = PL_MODE_TIMING,
                 .opt_level = 2,
                 .trace_level = PL_TRACE_INST,
                 .threads = 1,
                 .schedules = 1,
                 .check_limit = 100};
    session s = {.o = &o, .terminal = isatty(STDERR_FILENO)};
    pl_gpu *early;
    cli_pass_defaults(&o.passes);
    if (pl_gpu_open(&early, NULL) != PL_OK) return CLI_SYSTEM;
    char *command = join(argc, argv);
    o.operand = calloc((size_t)argc, sizeof *o.operand);
    o.source_dir = calloc((size_t)argc, sizeof *o.source_dir);
    if (!o.operand || !o.source_dir || !command) {
        free(o.operand);
        free(o.source_dir);
        free(command);
        pl_gpu_close(early);
        return CLI_SYSTEM;
    }
    o.command = command;
    cli_args a = {.gpu = early, .argc = argc, .argv = argv, .at = 1};
    int status = read_options(&a, &o);
    cli_messages(early, 0);
    pl_gpu_close(early);
    if (status == CLI_HELP) {
        cli_help(usage, option, O_COUNT);
        status = CLI_OK;
    } else if (status == CLI_OK) {
        cli_catch_signals();
        cli_set_timer(o.timeout);
        cli_interrupt_waits(true); /* the machine file may be a pipe */
        pl_status st = pl_gpu_open(&s.gpu, o.arch);
        cli_interrupt_waits(false);
        if (st != PL_OK && s.gpu && cli_stop) {
            pl_gpu_diag_clear(s.gpu);
            pl_gpu_report(s.gpu, "E0420",
                          cli_stop == CLI_TIMED_OUT ? "the time limit" : "an interrupt",
                          "reading the machine", NULL, NULL);
            st = PL_INTERRUPTED;
        }
        s.style = (run_style){.brief = o.summary,
                              .elements = o.elements,
                              .colour = cli_colour(stdout),
                              .trace = o.trace};
        if (s.gpu) pl_gpu_stop_flag(s.gpu, &cli_stop);
        if (st == PL_OK) {
            status = run_all(&s);
            if (s.exitcode && status <= CLI_FAILED) status = s.exitcode;
        } else {
            if (s.gpu) cli_messages(s.gpu, 0);
            status = cli_status(st);
        }
        pl_gpu_close(s.gpu);
    }
    free(o.operand);
    free(o.source_dir);
    free(command);
    return status;
}
