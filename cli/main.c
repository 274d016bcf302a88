/* main.c - the ptxloom command: finds the subcommand and calls it. */
#include "cli/cli.h"
#include "cli/gen_revision.h"
#include "cli/terminal.h"
#include <string.h>

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *usage, *about;
} command[] = {
    {"run", cmd_run, "run K.ptx ... -g GRID -b BLOCK [ARG ...] | CASE.json ...",
     "run a kernel and report its results and cost"},
    {"exec", cmd_exec, "exec [OPTION ...] [--] PROGRAM [ARGUMENT ...]",
     "run a CUDA program without a GPU"},
    {"check", cmd_check, "check K.ptx ...", "report every error in PTX files"},
    {"as", cmd_as, "as K.ptx ... [-o K.plo] [-v]",
     "assemble and link, and report the resources of every kernel"},
    {"dis", cmd_dis, "dis K.ptx ... | K.plo", "list the machine program next to the PTX"},
    {"fmt", cmd_fmt, "fmt K.ptx", "print PTX in its standard layout"},
    {"explain", cmd_explain, "explain TOPIC",
     "explain an instruction, a diagnostic, a machine key, a metric or a term"},
    {"occupancy", cmd_occupancy, "occupancy K.ptx -b BLOCK | -b BLOCK -r REGISTERS",
     "compute the occupancy: resident blocks of a multiprocessor"},
    {"litmus", cmd_litmus, "litmus T.litmus ...",
     "compare the outcomes of litmus tests with the memory model"},
    {"query", cmd_query, "query F.db \"SELECT ...\" | NAME", "query a trace"},
    {"report", cmd_report, "report F.db -o report.html [--baseline B.db]",
     "show a trace as one HTML page"},
    {"diff", cmd_diff, "diff A.db B.db", "compare two runs of a kernel line by line"},
    {"export", cmd_export, "export F.db --format perfetto|csv|ndjson -o OUT",
     "write a trace for other programs"},
    {"shell", cmd_shell, "shell F.db", "query a trace interactively"},
};
enum { COMMANDS = sizeof command / sizeof *command };

static void print_help(void)
{
    printf("ptxloom %s - a PTX assembler and GPU emulator\n\n", PTXLOOM_VERSION);
    const int width = cli_width(stdout);
    for (int i = 0; i < COMMANDS; i++) {
        char line[256];
        snprintf(line, sizeof line, "  ptxloom %-58s %s\n", command[i].usage, command[i].about);
        cli_put_wrapped(stdout, line, width, 12);
    }
    cli_put_wrapped(
        stdout,
        "\n'ptxloom COMMAND --help' lists the options of a command. Manual page: ptxloom(1).\n"
        "A first run, of a kernel with a number and a pointer as parameters:\n",
        width, 0);
    puts("  ptxloom run K.ptx -g 4 -b 256 u32:1000 'out:f32[1000]'");
}

static void print_version(void)
{
    const char *name;
    printf("ptxloom %s", PTXLOOM_VERSION);
    if (CLI_REVISION[0]) printf(" (revision %s)", CLI_REVISION);
    printf("\n");
    char line[512] = "machines:";
    for (size_t i = 0; (name = pl_gpu_builtin(i)); i++)
        snprintf(line + strlen(line), sizeof line - strlen(line), " %s", name);
    cli_put_wrapped(stdout, line, cli_width(stdout), 4);
    printf("\n");
}

/* What other tools and languages call a command of ptxloom. */
static const char *translated(const char *name)
{
    static const struct {
        const char *names, *command;
    } known[] = {{" build compile assemble ptxas nvcc link nvlink ", "ptxloom as kernel.ptx"},
                 {" disassemble disasm objdump nvdisasm cuobjdump ", "ptxloom dis kernel.ptx"},
                 {" profile prof nvprof ncu nsys ", "ptxloom exec --summary ./program"},
                 {" memcheck compute-sanitizer cuda-memcheck racecheck sanitize ",
                  "ptxloom exec --check all ./program"},
                 {" debug trace cuda-gdb ", "ptxloom run kernel.ptx ... --trace run.db"},
                 {" format ", "ptxloom fmt kernel.ptx"},
                 {" lint verify validate ", "ptxloom check kernel.ptx"},
                 {" machines gpus devices archs list nvidia-smi ", "ptxloom --version"},
                 {" sql sqlite3 ", "ptxloom query run.db"}};
    char word[40];
    const int n = snprintf(word, sizeof word, " %s ", name);
    for (size_t k = 0; k < sizeof known / sizeof *known && n < (int)sizeof word; k++)
        if (!strpbrk(name, " ") && strstr(known[k].names, word)) return known[k].command;
    return NULL;
}

static int report_unknown(const char *name)
{
    const char *names[COMMANDS], *near, *here = translated(name);
    char text[256];
    pl_gpu *gpu;
    if (pl_gpu_open(&gpu, NULL) != PL_OK) return cli_finish(CLI_SYSTEM);
    for (int i = 0; i < COMMANDS; i++) names[i] = command[i].name;
    near = pl_nearest(name, names, COMMANDS);
    snprintf(text, sizeof text, near ? "did you mean '%s'?" : "`ptxloom help` lists the commands",
             near);
    if (here) snprintf(text, sizeof text, "try `%s`; `ptxloom help` lists the commands", here);
    const char *hint = pl_file_hint(gpu, name);
    pl_gpu_report(gpu, "E0006", name, NULL, NULL, hint ? hint : text);
    cli_messages(gpu, 0);
    pl_gpu_close(gpu);
    return cli_finish(CLI_INPUT);
}

static int print_command_help(char *name)
{
    char option[] = "--help", *argv[] = {name, option, NULL};
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(name, command[i].name) == 0) return cli_finish(command[i].run(2, argv));
    return report_unknown(name);
}

int main(int argc, char **argv)
{
    cli_standard_files();
    if (argc < 2) {
        print_help();
        return CLI_INPUT;
    }
    const char *name = argv[1];
    if (strcmp(name, "help") == 0 && argc == 3) return print_command_help(argv[2]);
    if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        print_help();
        return cli_finish(CLI_OK);
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "version") == 0) {
        print_version();
        return cli_finish(CLI_OK);
    }
    for (int i = 0; i < COMMANDS; i++) {
        if (strcmp(name, command[i].name) == 0)
            return cli_finish(command[i].run(argc - 1, argv + 1));
    }
    return report_unknown(name);
}
