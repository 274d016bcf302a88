/* cmd_dis.c - `ptxloom dis`: lists a machine program next to its PTX, or as text that can be
 * assembled again. */
#include "cli/cli.h"
#include "cli/terminal.h"
#include <stdlib.h>
#include <string.h>

enum { O_OPT, O_KERNEL, O_ASM, O_OUTPUT, O_FORCE, O_ARCH, O_SKIP_PASS, O_VERIFY_IR, O_COUNT };
static const cli_option option[O_COUNT] = {
    [O_OPT] =
        {"opt", 'O', "0|2",
         "-O0: one machine instruction per PTX instruction; -O2 (default): optimised like ptxas"},
    [O_KERNEL] = {"kernel", 'k', "NAME", "list this function only"},
    [O_ASM] = {"asm", 0, NULL, "print the whole program as text that `ptxloom as` and `run` read"},
    [O_OUTPUT] = {"output", 'o', "FILE", "write to this file; - for standard output"},
    [O_FORCE] = CLI_FORCE,
    [O_ARCH] = {"arch", 0, "MACHINE",
                "print the scheduling information of each instruction for this machine: "
                "scoreboards, stall count"},
    [O_SKIP_PASS] = {"skip-pass", 0, "PASS,...",
                     "skip these passes; `ptxloom explain passes` lists them"},
    [O_VERIFY_IR] = {"verify-ir", 0, NULL, "verify each function after each pass"},
};
static const char usage[] = "ptxloom dis K.ptx ... | K.plo [-O0] [-k NAME] [--arch MACHINE]\n"
                            "ptxloom dis --asm K.ptx ... | K.plo [-o K.pla]\n";

typedef struct request {
    const char **file;
    size_t nfiles;
    const char *kernel, *output, *arch;
    bool as_text, force;
    pl_load_options load;
    pl_pass_control passes;
} request;

static bool read_option(cli_args *a, int k, request *r)
{
    switch (k) {
    case O_KERNEL: r->kernel = a->value; return true;
    case O_OUTPUT: r->output = strcmp(a->value, "-") == 0 ? NULL : a->value; return true;
    case O_ASM: r->as_text = true; return true;
    case O_FORCE: r->force = true; return true;
    case O_ARCH: r->arch = a->value; return true;
    case O_OPT: return cli_opt_level(a, &r->load.opt_level);
    case O_SKIP_PASS: return cli_pass_value(a, CLI_SKIP_PASS, &r->passes);
    case O_VERIFY_IR: return cli_pass_value(a, CLI_VERIFY_IR, &r->passes);
    case CLI_OPERAND: r->file[r->nfiles++] = a->value; return true;
    default: return false;
    }
}

/* True if the module has a function of this name; otherwise reports it. */
static bool check_function(pl_gpu *gpu, pl_module *m, const char *file, const char *name)
{
    size_t n = pl_module_code_size(m), count = 0;
    const char **names = calloc(n + 1, sizeof *names);
    bool found = false;
    for (uint32_t pc = 0; names && pc < n; pc++) {
        const char *function = pl_module_listing(m, pc).kernel;
        if (function && (count == 0 || names[count - 1] != function)) names[count++] = function;
        found |= function && strcmp(function, name) == 0;
    }
    if (names && !found) {
        const char *near = pl_nearest(name, names, count);
        char help[256];
        size_t at = 0;
        if (near)
            snprintf(help, sizeof help, "did you mean '%s'?", near);
        else
            at = (size_t)snprintf(help, sizeof help, "its functions:");
        for (size_t k = 0; !near && k < count && at + strlen(names[k]) + 2 < sizeof help; k++)
            at += (size_t)sprintf(help + at, " %s", names[k]);
        pl_gpu_report(gpu, "E0408", file, name, NULL, count ? help : NULL);
    }
    free(names);
    return found;
}

/* "B0--3--:R-:W2:S04": scoreboards that it waits for, those released when its registers have been
 * read and when its result is available, stall count. */
static void print_control(FILE *out, pl_module *m, uint32_t pc)
{
    enum { SCOREBOARDS = 6 };
    pl_control_info c;
    if (!pl_module_control(m, pc, &c) || !c.issues) {
        fprintf(out, "%19s", "");
        return;
    }
    char waits[SCOREBOARDS + 1] = "------";
    for (int k = 0; k < SCOREBOARDS; k++)
        if (c.waits >> k & 1) waits[k] = (char)('0' + k);
    fprintf(out, "B%s:R%c:W%c:S%02u  ", waits, c.frees < 0 ? '-' : '0' + c.frees,
            c.scoreboard < 0 ? '-' : '0' + c.scoreboard, c.stall);
}

/* Prints the PTX of an instruction as a comment of at most `width` columns; with_file: with its
 * file name. */
static void print_ptx(FILE *out, const pl_listing *l, bool with_file, size_t width)
{
    char number[16];
    size_t name_length = with_file ? strlen(l->ptx_file) + 1 : 0, n = l->ptx_bytes;
    size_t prefix = 3 + name_length + (size_t)snprintf(number, sizeof number, "%u: ", l->ptx_line);
    if (prefix > width) return;
    if (n > width - prefix) n = width - prefix;
    fputs("// ", out);
    if (with_file) {
        cli_print(out, l->ptx_file, strlen(l->ptx_file));
        putc(':', out);
    }
    fputs(number, out);
    cli_print(out, l->ptx_text, n);
}

static void print_listing(FILE *out, pl_module *m, const char *function_name, bool with_control)
{
    const char *function = NULL, *file = NULL;
    uint32_t line = 0;
    enum { PC = 8, CONTROL = 19, INSTRUCTION = 56, MIN_INSTRUCTION = 24 };
    bool multiple_files = pl_module_source_count(m) > 1;
    const int width = cli_width(out), prefix = PC + (with_control ? CONTROL : 0),
              width_left = width ? width - prefix - 1 : 1 << 20;
    /* Width of the instruction: on a narrow terminal, half of the available width. */
    const int insn_width = width_left / 2 > INSTRUCTION       ? INSTRUCTION
                           : width_left / 2 < MIN_INSTRUCTION ? MIN_INSTRUCTION
                                                              : width_left / 2;
    size_t n = pl_module_code_size(m);
    for (uint32_t pc = 0; pc < n; pc++) {
        pl_listing l = pl_module_listing(m, pc);
        if (function_name && (!l.kernel || strcmp(l.kernel, function_name) != 0)) continue;
        if (l.kernel && l.kernel != function) {
            fprintf(out, "%s%s:\n", function ? "\n" : "", l.kernel);
            function = l.kernel;
            line = 0;
        }
        fprintf(out, "%6u  ", pc);
        if (with_control) print_control(out, m, pc);
        int used = fprintf(out, "%-*.*s ", insn_width, width_left, l.text);
        if ((l.ptx_line != line || l.ptx_file != file) && l.ptx_text && used < width_left)
            print_ptx(out, &l, multiple_files, (size_t)(width_left - used));
        putc('\n', out);
        line = l.ptx_line;
        file = l.ptx_file;
    }
}

static pl_status write_listing(pl_gpu *gpu, const request *r, pl_module *m)
{
    const pl_output_how how = {.kind = PL_OUTPUT_LISTING, .force = r->force};
    pl_output *o = NULL;
    pl_status st = r->output ? pl_output_open(gpu, r->output, &how, &o) : PL_OK;
    if (st != PL_OK) return st;
    print_listing(o ? pl_output_stream(o) : stdout, m, r->kernel, r->arch != NULL);
    return pl_output_close(o, st);
}

static pl_status write_text(pl_gpu *gpu, const request *r, pl_module *m)
{
    const pl_output_how how = {.kind = PL_OUTPUT_ASSEMBLY, .force = r->force};
    const char *bytes;
    size_t n;
    pl_status st = pl_module_save(m, PL_SAVE_TEXT, &bytes, &n);
    if (st == PL_OK && r->output)
        st = cli_write_file(gpu, r->output, &how, bytes, n);
    else if (st == PL_OK)
        fwrite(bytes, 1, n, stdout);
    return st;
}

static int disassemble(pl_gpu *gpu, const request *r)
{
    pl_module *m;
    int status = cli_status(pl_module_load_files(gpu, r->file, r->nfiles, &r->load, &m));
    if (m && r->kernel && !check_function(gpu, m, r->file[0], r->kernel))
        status = CLI_INPUT;
    else if (m)
        status = cli_status(r->as_text ? write_text(gpu, r, m) : write_listing(gpu, r, m));
    cli_messages(gpu, 0);
    pl_module_close(m);
    return status;
}

/* The same for a given machine: the gpu that parsed the command line has none. */
static int disassemble_for(const request *r)
{
    pl_gpu *gpu = NULL;
    int status = cli_status(pl_gpu_open(&gpu, r->arch));
    if (status == CLI_OK)
        status = disassemble(gpu, r);
    else if (gpu)
        cli_messages(gpu, 0);
    pl_gpu_close(gpu);
    return status;
}

int cmd_dis(int argc, char **argv)
{
    request r = {.load = {.opt_level = 2}, .file = calloc((size_t)argc, sizeof *r.file)};
    pl_gpu *gpu;
    cli_pass_defaults(&r.passes);
    r.load.passes = &r.passes;
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
        pl_gpu_report(gpu, "E0007", argv[0], "a PTX file or an object", NULL,
                      "ptxloom dis kernel.ptx");
        status = CLI_INPUT;
    }
    if (help)
        cli_help(usage, option, O_COUNT);
    else if (status == CLI_OK)
        status = r.arch ? disassemble_for(&r) : disassemble(gpu, &r);
    else
        cli_messages(gpu, 0);
    free(r.file);
    pl_gpu_close(gpu);
    return status;
}
