/* cmd_dis.c - `ptxloom as` and `ptxloom dis`: assemble a module, then report its resources or list
 * its machine program. */
#include "cli/cli.h"
#include <string.h>

enum { O_VERBOSE, O_OPT, O_OUTPUT, O_KERNEL, O_COUNT };
static const cli_option option[O_COUNT] = {
    [O_VERBOSE] = {"verbose", 'v', NULL,
                   "registers, shared, local and constant bytes of every kernel"},
    [O_OPT] =
        {"opt", 'O', "0|2",
         "-O0: one machine instruction per PTX instruction; -O2 (default): as an assembler would"},
    [O_OUTPUT] = {"output", 'o', "K.plo", "write the assembled program"},
    [O_KERNEL] = {"kernel", 'k', "NAME", "list this function only"},
};

typedef struct request {
    pl_gpu *gpu;
    const char *file, *kernel;
    bool verbose;
    pl_load_options load;
} request;

static bool read_option(cli_args *a, int k, request *r)
{
    switch (k) {
    case O_VERBOSE: r->verbose = true; return true;
    case O_KERNEL: r->kernel = a->value; return true;
    case O_OUTPUT: pl_gpu_report(a->gpu, "E0011", "-o", NULL, NULL, NULL); return false;
    case O_OPT:
        r->load.opt_level = a->value[0] == '0' ? 0 : 2;
        if (strcmp(a->value, "0") == 0 || strcmp(a->value, "2") == 0) return true;
        pl_gpu_report(a->gpu, "E0005", a->value, "-O", "it is 0 or 2", NULL);
        return false;
    case CLI_OPERAND:
        if (!r->file) {
            r->file = a->value;
            return true;
        }
        pl_gpu_report(a->gpu, "E0005", a->value, a->argv[0], "it takes one PTX file", NULL);
        return false;
    default: return false;
    }
}

static void resources(const pl_module *m, const char *name)
{
    pl_kernel_info k;
    if (pl_module_kernel(m, name, &k) != PL_OK) return;
    printf("kernel %s\n", name);
    printf("  %u registers, %u bytes shared, %u bytes local, %u bytes parameters, %u barriers\n",
           k.registers, k.static_shared, k.local_bytes, k.param_bytes, k.barriers);
    printf("  %u bytes spill stores, %u bytes spill loads\n", k.spill_stores, k.spill_loads);
    for (uint32_t i = 0; i < k.nparams; i++) {
        pl_kernel_param p = pl_module_param(m, name, i);
        printf("  parameter %-2u .%-5s %3u bytes at %3u  %s\n", i + 1, p.type, p.size, p.offset,
               p.name);
    }
}

static void listing(pl_module *m, const char *only)
{
    const char *function = NULL;
    uint32_t line = 0;
    size_t n = pl_module_code_size(m);
    for (uint32_t pc = 0; pc < n; pc++) {
        pl_listing l = pl_module_listing(m, pc);
        if (only && (!l.kernel || strcmp(l.kernel, only) != 0)) continue;
        if (l.kernel && l.kernel != function) {
            printf("%s%s:\n", function ? "\n" : "", l.kernel);
            function = l.kernel;
            line = 0;
        }
        printf("%6u  %-56s ", pc, l.text);
        if (l.ptx_line != line && l.ptx_text)
            printf("// %u: %.*s", l.ptx_line, (int)l.ptx_bytes, l.ptx_text);
        putchar('\n');
        line = l.ptx_line;
    }
}

static int assemble(int argc, char **argv, const char *usage, bool list)
{
    request r = {.load = {.opt_level = 2}};
    if (pl_gpu_open(&r.gpu, NULL) != PL_OK) return CLI_SYSTEM;
    cli_args a = {.gpu = r.gpu, .argc = argc, .argv = argv, .at = 1};
    int k, status = CLI_OK;
    bool help = false;
    while (!help && (k = cli_next(&a, option, O_COUNT)) != CLI_END) {
        help = k == CLI_HELP;
        if (!help && !read_option(&a, k, &r)) status = CLI_INPUT;
    }
    if (help) {
        cli_help(usage, option, O_COUNT);
    } else if (status == CLI_OK && !r.file) {
        pl_gpu_report(r.gpu, "E0007", argv[0], "a PTX file", NULL, NULL);
        status = CLI_INPUT;
    } else if (status == CLI_OK) {
        pl_module *m;
        status = cli_status(pl_module_load_file(r.gpu, r.file, &r.load, &m));
        if (m && list) listing(m, r.kernel);
        for (size_t i = 0; m && !list && i < pl_module_kernel_count(m); i++)
            resources(m, pl_module_kernel_name(m, i));
        cli_messages(r.gpu, 0);
        pl_module_close(m);
        pl_gpu_close(r.gpu);
        return status;
    }
    cli_messages(r.gpu, 0);
    pl_gpu_close(r.gpu);
    return status;
}

int cmd_as(int argc, char **argv)
{
    return assemble(argc, argv, "ptxloom as K.ptx [-v] [-O0]\n", false);
}

int cmd_dis(int argc, char **argv)
{
    return assemble(argc, argv, "ptxloom dis K.ptx [-O0] [-k NAME]\n", true);
}
