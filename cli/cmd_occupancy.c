/* cmd_occupancy.c - `ptxloom occupancy`: number of resident blocks of a shape per multiprocessor,
 * and the limiting resource.
 *
 * The resources come from a kernel of a PTX file or from the command line; --arch with several
 * names compares machines. */
#include "cli/cli.h"
#include "cli/terminal.h"
#include <stdlib.h>
#include <string.h>

enum { O_KERNEL, O_BLOCK, O_REGISTERS, O_SHARED, O_BARRIERS, O_ARCH, O_JSON, O_COUNT };
static const cli_option option[O_COUNT] = {
    [O_KERNEL] = {"kernel", 'k', "NAME", "the kernel; required if the file has several"},
    [O_BLOCK] = {"block", 'b', "X[,Y[,Z]]", "threads of a block"},
    [O_REGISTERS] = {"registers", 'r', "N", "registers of a thread, instead of the kernel's"},
    [O_SHARED] = {"shared", 0, "BYTES",
                  "shared memory of a block; with a kernel: its dynamic shared memory"},
    [O_BARRIERS] = {"barriers", 0, "N", "barriers of a block, instead of the kernel's (1)"},
    [O_ARCH] = {"arch", 0, "MACHINE", "machines, separated by commas (default: h200)"},
    [O_JSON] = {"json", 0, NULL, "print an array of objects"},
};
static const char usage[] = "ptxloom occupancy K.ptx [-k NAME] -b X[,Y[,Z]] [--shared BYTES] "
                            "[--barriers N] [--arch MACHINE,...] [--json]\n"
                            "ptxloom occupancy -b X[,Y[,Z]] -r REGISTERS [--shared BYTES] "
                            "[--barriers N] [--arch MACHINE,...] [--json]\n";

typedef struct request {
    const char *file, *kernel, *arch;
    uint32_t block[3];
    uint64_t registers, shared, barriers;
    bool json, with_barriers;
} request;

static bool read_option(cli_args *a, int k, request *r)
{
    switch (k) {
    case O_KERNEL: r->kernel = a->value; return true;
    case O_BLOCK: return cli_shape(a, "-b", r->block);
    case O_REGISTERS: return cli_number(a, "-r", 1, 255, &r->registers);
    case O_SHARED: return cli_number(a, "--shared", 0, 1 << 20, &r->shared);
    case O_BARRIERS:
        r->with_barriers = true;
        return cli_number(a, "--barriers", 0, 16, &r->barriers);
    case O_ARCH: r->arch = a->value; return true;
    case O_JSON: r->json = true; return true;
    case CLI_OPERAND: r->file = a->value; return true;
    default: return false;
    }
}

/* Reads registers, shared memory and barriers of the kernel in the file, for the machine of `gpu`.
 */
static int read_resources(pl_gpu *gpu, const request *r, uint64_t *registers, uint64_t *shared,
                          uint64_t *barriers)
{
    pl_module *m = NULL;
    const pl_load_options o = {.opt_level = 2};
    pl_kernel_info info;
    pl_status st = pl_module_load_file(gpu, r->file, &o, &m);
    const char *name = r->kernel;
    if (st == PL_OK && !name && pl_module_kernel_count(m) == 1) name = pl_module_kernel_name(m, 0);
    if (st == PL_OK && !name) {
        pl_gpu_report(gpu, "E0007", "occupancy", "-k NAME: the file has several kernels", NULL,
                      NULL);
        st = PL_INVALID;
    }
    if (st == PL_OK) st = pl_module_kernel(m, name, &info);
    if (st == PL_INVALID && m && name) pl_gpu_report(gpu, "E0408", r->file, name, NULL, NULL);
    if (st == PL_OK) {
        if (!*registers) *registers = info.registers;
        *shared += info.static_shared;
        if (!r->with_barriers) *barriers = info.barriers;
    }
    if (m) pl_module_close(m);
    return cli_status(st);
}

/* Prints the same as a row of the table, for a narrow terminal. */
static void print_list(const char *machine, uint64_t registers, uint64_t shared,
                       const pl_occupancy_info *o, const char *limit, int width)
{
    char text[600];
    const uint32_t warps = o->blocks * o->warps;
    snprintf(text, sizeof text,
             "%s: %.1f %% occupancy, limited by %s\n"
             "  %llu register%s per thread, %llu byte%s of shared memory per block\n"
             "  %u block%s, %u warp%s\n"
             "  most blocks by warps %u, by blocks %u, by registers %u, by shared memory %u, by "
             "barriers %u\n",
             machine, 100.0 * warps / o->most_warps, limit, (unsigned long long)registers,
             pl_plural(registers), (unsigned long long)shared, pl_plural(shared), o->blocks,
             pl_plural(o->blocks), warps, pl_plural(warps), o->by_warps, o->by_blocks,
             o->by_registers, o->by_shared, o->by_barriers);
    cli_put_wrapped(stdout, text, width, 4);
}

enum { TABLE_WIDTH = 94 };

static void print(const request *r, const char *machine, uint64_t registers, uint64_t shared,
                  const pl_occupancy_info *o, bool first)
{
    double percent = 100.0 * o->blocks * o->warps / o->most_warps;
    /* What the machine limits comes first: with full occupancy, fewer registers do not help. */
    const char *limit = o->blocks == o->by_warps       ? "warps"
                        : o->blocks == o->by_blocks    ? "blocks"
                        : o->blocks == o->by_registers ? "registers"
                        : o->blocks == o->by_shared    ? "shared memory"
                                                       : "barriers";
    if (r->json) {
        printf("%s{\"machine\": \"%s\", \"threads\": %u, \"registers\": %llu, \"shared\": %llu, "
               "\"blocks\": %u, \"warps\": %u, \"occupancy\": %.4f, "
               "\"limit\": \"%s\", \"limit_warps\": %u, \"limit_blocks\": %u, \"limit_registers\": "
               "%u, \"limit_shared\": %u, \"limit_barriers\": %u, "
               "\"registers_per_warp\": %u, \"shared_per_block\": %u, \"shared_setting\": %llu}",
               first ? "[" : ",\n ", machine, r->block[0] * r->block[1] * r->block[2],
               (unsigned long long)registers, (unsigned long long)shared, o->blocks,
               o->blocks * o->warps, percent / 100, limit, o->by_warps, o->by_blocks,
               o->by_registers, o->by_shared, o->by_barriers, o->registers_per_warp,
               o->shared_per_block, (unsigned long long)o->shared_setting);
        return;
    }
    const int width = cli_width(stdout);
    if (width && width < TABLE_WIDTH) {
        print_list(machine, registers, shared, o, limit, width);
        return;
    }
    if (first)
        printf("%-12s %9s %7s %6s %6s %9s   %-26s %s\n", "machine", "registers", "shared", "blocks",
               "warps", "occupancy", "most by w/b/r/s/barriers", "limited by");
    char limits[40];
    snprintf(limits, sizeof limits, "%u / %u / %u / %u / %u", o->by_warps, o->by_blocks,
             o->by_registers, o->by_shared, o->by_barriers);
    printf("%-12s %9llu %7llu %6u %6u %7.1f %%   %-26s %s\n", machine,
           (unsigned long long)registers, (unsigned long long)shared, o->blocks,
           o->blocks * o->warps, percent, limits, limit);
}

/* Returns the next of "NAME,NAME,SECTION.KEY=VALUE,NAME": changes belong to the name before them.
 * Used like strtok_r. */
static char *next_machine(char *names, char **save)
{
    char *name = names ? names : *save;
    if (!name || !*name) return NULL;
    char *end = name;
    do end += strcspn(end + (end != name), ",") + (end != name);
    while (*end && memchr(end + 1, '=', strcspn(end + 1, ",")));
    *save = *end ? end + 1 : end;
    *end = '\0';
    return name;
}

static int calculate(pl_gpu *messages, const request *r)
{
    char *names = strdup(r->arch ? r->arch : "h200");
    if (!names) return CLI_SYSTEM;
    int status = CLI_OK;
    bool first = true;
    char *save = NULL;
    for (char *name = next_machine(names, &save); name; name = next_machine(NULL, &save)) {
        pl_gpu *gpu = NULL;
        pl_status st = pl_gpu_open(&gpu, name);
        uint64_t registers = r->registers, shared = r->shared,
                 barriers = r->with_barriers || r->file ? r->barriers : 1;
        pl_occupancy_info o;
        int result = cli_status(st);
        if (st == PL_OK && r->file) result = read_resources(gpu, r, &registers, &shared, &barriers);
        if (result == CLI_OK &&
            pl_gpu_occupancy(gpu, r->block[0] * r->block[1] * r->block[2], (uint32_t)registers,
                             shared, (uint32_t)barriers, &o) == PL_OK) {
            print(r, name, registers, shared, &o, first);
            first = false;
        }
        if (gpu) cli_messages(gpu, 0);
        pl_gpu_close(gpu);
        status = cli_worse(status, result);
    }
    if (r->json && !first) printf("]\n");
    free(names);
    cli_messages(messages, 0);
    return status;
}

int cmd_occupancy(int argc, char **argv)
{
    request r = {0};
    pl_gpu *gpu;
    if (pl_gpu_open(&gpu, NULL) != PL_OK) return CLI_SYSTEM;
    cli_args a = {.gpu = gpu, .argc = argc, .argv = argv, .at = 1};
    int k, status = CLI_OK;
    bool help = false;
    while (!help && (k = cli_next(&a, option, O_COUNT)) != CLI_END) {
        help = k == CLI_HELP;
        if (!help && !read_option(&a, k, &r)) status = CLI_INPUT;
    }
    if (!help && status == CLI_OK && (!r.block[0] || (!r.file && !r.registers))) {
        pl_gpu_report(gpu, "E0007", argv[0],
                      r.block[0] ? "a PTX file or -r REGISTERS" : "-b, the threads of a block",
                      NULL,
                      "ptxloom occupancy kernel.ptx -b 256, or -b 256 -r 32 without a kernel");
        status = CLI_INPUT;
    }
    if (help)
        cli_help(usage, option, O_COUNT);
    else if (status == CLI_OK)
        status = calculate(gpu, &r);
    else
        cli_messages(gpu, 0);
    pl_gpu_close(gpu);
    return status;
}
