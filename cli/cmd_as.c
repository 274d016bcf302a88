/* cmd_as.c - `ptxloom as`: assembles and links modules, writes an object, and reports the resources
 * of each kernel. */
#include "cli/cli.h"
#include <stdlib.h>
#include <string.h>

enum {
    DEFAULT_BLOCK = 256 /* threads, if the kernel does not specify them */,
    DEFAULT_ERRORS = 100
};

enum {
    O_VERBOSE,
    O_OPT,
    O_OUTPUT,
    O_FORCE,
    O_JOBS,
    O_ARCH,
    O_MAX_ERRORS,
    O_SKIP_PASS,
    O_PRINT_AFTER,
    O_VERIFY_IR,
    O_TIME_PASSES,
    O_TUNE,
    O_COUNT
};
static const cli_option option[O_COUNT] = {
    [O_VERBOSE] = {"verbose", 'v', NULL,
                   "report registers, stack, shared and constant memory of every kernel"},
    [O_OPT] =
        {"opt", 'O', "0|2",
         "-O0: one machine instruction per PTX instruction; -O2 (default): optimised like ptxas"},
    [O_OUTPUT] = {"output", 'o', "K.plo",
                  "write the linked program as an ELF object; - for standard output"},
    [O_FORCE] = CLI_FORCE,
    [O_JOBS] =
        {"jobs", 'j', "N",
         "host threads; the result does not depend on N (default: the number of processors)"},
    [O_ARCH] = {"arch", 0, "MACHINE", "with -v: also report the occupancy on this machine"},
    [O_MAX_ERRORS] = {"max-errors", 0, "N",
                      "show at most N errors (default 100; 0: all) and count the rest"},
    [O_SKIP_PASS] = {"skip-pass", 0, "PASS,...",
                     "skip these passes; `ptxloom explain passes` lists them"},
    [O_PRINT_AFTER] = {"print-after", 0, "PASS,...|all", "print each function after these passes"},
    [O_VERIFY_IR] = {"verify-ir", 0, NULL, "verify each function after each pass"},
    [O_TIME_PASSES] = {"time-passes", 0, NULL, "print the time of each pass"},
    [O_TUNE] = {"tune", 0, "SECTION.KEY=VALUE,...",
                "change heuristics of the passes; arch/sm_90.target has them"},
};
static const char usage[] =
    "ptxloom as K.ptx ... [-o K.plo] [-v] [-O0] [-j N] [--arch MACHINE] [--max-errors N]\n"
    "ptxloom as K.ptx ... [--print-after PASS|all] [--skip-pass PASS] [--verify-ir] "
    "[--time-passes] [--tune SECTION.KEY=VALUE]\n";

typedef struct request {
    const char **file;
    size_t nfiles;
    const char *output, *arch;
    bool verbose, force;
    uint64_t max_errors, jobs;
    pl_load_options load;
    pl_pass_control passes;
} request;

static bool read_option(cli_args *a, int k, request *r)
{
    switch (k) {
    case O_VERBOSE: r->verbose = true; return true;
    case O_OUTPUT: r->output = strcmp(a->value, "-") == 0 ? "/dev/stdout" : a->value; return true;
    case O_FORCE: r->force = true; return true;
    case O_ARCH: r->arch = a->value; return true;
    case O_OPT: return cli_opt_level(a, &r->load.opt_level);
    case O_JOBS: return cli_number(a, "-j", 1, 256, &r->jobs);
    case O_MAX_ERRORS: return cli_number(a, "--max-errors", 0, UINT32_MAX, &r->max_errors);
    case O_SKIP_PASS: return cli_pass_value(a, CLI_SKIP_PASS, &r->passes);
    case O_PRINT_AFTER: return cli_pass_value(a, CLI_PRINT_AFTER, &r->passes);
    case O_VERIFY_IR: return cli_pass_value(a, CLI_VERIFY_IR, &r->passes);
    case O_TIME_PASSES: return cli_pass_value(a, CLI_TIME_PASSES, &r->passes);
    case O_TUNE: return cli_pass_value(a, CLI_TUNE, &r->passes);
    case CLI_OPERAND: r->file[r->nfiles++] = a->value; return true;
    default: return false;
    }
}

/* In the format of `ptxas -v`, which many tools and users read. */
static void print_resources(const pl_gpu *gpu, const pl_module *m, const char *name)
{
    pl_kernel_info k;
    if (pl_module_kernel(m, name, &k) != PL_OK) return;
    printf("ptxloom info    : Compiling entry function '%s' for '%s'\n", name,
           pl_module_total(m).target);
    printf("ptxloom info    : Function properties for %s\n", name);
    printf("    %u bytes stack frame, %u bytes spill stores, %u bytes spill loads\n", k.local_bytes,
           k.spill_stores, k.spill_loads);
    printf("ptxloom info    : Used %u registers, used %u barriers", k.registers, k.barriers);
    if (k.stack_bytes) printf(", %u bytes cumulative stack size", k.stack_bytes);
    if (k.static_shared) printf(", %u bytes smem", k.static_shared);
    printf(", %u bytes cmem[0]\n", k.constant_bytes);
    if (!pl_gpu_name(gpu)) return;
    const uint32_t *shape = k.reqntid[0] ? k.reqntid : k.maxntid;
    uint32_t threads =
        shape[0] ? shape[0] * (shape[1] ? shape[1] : 1) * (shape[2] ? shape[2] : 1) : DEFAULT_BLOCK;
    double occupancy = 0;
    uint32_t blocks = pl_module_fit(m, name, threads, &occupancy);
    printf(
        "ptxloom info    : %u block%s of %u thread%s fit%s a multiprocessor of %s (%.0f %% of its "
        "warps)\n",
        blocks, pl_plural(blocks), threads, pl_plural(threads), blocks == 1 ? "s" : "",
        pl_gpu_name(gpu), occupancy * 100);
}

static void print_report(const pl_gpu *gpu, const pl_module *m)
{
    pl_module_totals t = pl_module_total(m);
    printf("ptxloom info    : %llu bytes gmem", (unsigned long long)t.global_bytes);
    if (t.const_bytes) printf(", %llu bytes cmem[3]", (unsigned long long)t.const_bytes);
    putchar('\n');
    for (size_t i = 0; i < pl_module_kernel_count(m); i++)
        print_resources(gpu, m, pl_module_kernel_name(m, i));
}

static int assemble(pl_gpu *gpu, const request *r)
{
    pl_module *m;
    pl_load_options load = r->load;
    load.threads = (int)r->jobs;
    load.passes = &r->passes;
    pl_gpu_diag_limit(gpu, (size_t)r->max_errors);
    pl_status st = PL_OK;
    if (r->output) {
        const pl_output_how how = {.kind = PL_OUTPUT_OBJECT, .force = r->force};
        st = pl_output_check(gpu, r->output, &how); /* before assembling */
    }
    m = NULL;
    if (st == PL_OK) st = pl_module_load_files(gpu, r->file, r->nfiles, &load, &m);
    int status = cli_status(st);
    if (m && r->verbose) print_report(gpu, m);
    if (m && r->output)
        status = cli_worse(status, cli_status(cli_write_object(gpu, r->output, r->force, m)));
    cli_messages(gpu, 0);
    pl_module_close(m);
    return status;
}

static int assemble_for(const request *r)
{
    pl_gpu *gpu;
    int status = cli_status(pl_gpu_open(&gpu, r->arch));
    if (status == CLI_OK)
        status = assemble(gpu, r);
    else if (gpu)
        cli_messages(gpu, 0);
    pl_gpu_close(gpu);
    return status;
}

int cmd_as(int argc, char **argv)
{
    request r = {.load = {.opt_level = 2},
                 .max_errors = DEFAULT_ERRORS,
                 .file = calloc((size_t)argc, sizeof *r.file)};
    pl_gpu *gpu;
    cli_pass_defaults(&r.passes);
    if (!r.file || pl_gpu_open(&gpu, NULL) != PL_OK) {
        free(r.file);
        return CLI_SYSTEM;
    }
    cli_args a = {.gpu = gpu, .argc = argc, .argv = argv, .at = 1};
    int k, status = CLI_OK;
    bool help = false;
    while (!help && (k = cli_next(&a, option, O_COUNT)) != CLI_END) {
        help = k == CLI_HELP;
        if (!help && !read_option(&a, k, &r)) status = CLI_INPUT;
    }
    if (!help && status == CLI_OK && r.nfiles == 0) {
        pl_gpu_report(gpu, "E0007", argv[0], "a PTX file", NULL, "ptxloom as kernel.ptx -v");
        status = CLI_INPUT;
    }
    if (help)
        cli_help(usage, option, O_COUNT);
    else if (status != CLI_OK)
        cli_messages(gpu, 0);
    else if (r.arch)
        status = assemble_for(&r);
    else
        status = assemble(gpu, &r);
    free(r.file);
    pl_gpu_close(gpu);
    return status;
}
