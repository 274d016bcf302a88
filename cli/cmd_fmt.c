/* cmd_fmt.c - `ptxloom fmt`: prints a PTX file in its standard layout, or rewrites it. */
#include "cli/cli.h"

enum { O_WRITE, O_COUNT };
static const cli_option option[O_COUNT] = {
    [O_WRITE] = {"write", 'w', NULL, "rewrite the file instead of printing it"},
};

int cmd_fmt(int argc, char **argv)
{
    pl_gpu *gpu;
    if (pl_gpu_open(&gpu, NULL) != PL_OK) return CLI_SYSTEM;
    cli_args a = {.gpu = gpu, .argc = argc, .argv = argv, .at = 1};
    const char *file = NULL, *text;
    size_t bytes;
    bool write = false, help = false;
    int k, status = CLI_OK;
    while (!help && (k = cli_next(&a, option, O_COUNT)) != CLI_END) {
        if (k == CLI_HELP)
            help = true;
        else if (k == O_WRITE)
            write = true;
        else if (k == CLI_OPERAND && !file)
            file = a.value;
        else
            status = CLI_INPUT;
        if (k == CLI_OPERAND && file != a.value)
            pl_gpu_report(gpu, "E0005", a.value, "fmt", "it takes one PTX file", NULL);
    }
    if (help) {
        cli_help("ptxloom fmt K.ptx [-w]\n", option, O_COUNT);
    } else if (status == CLI_OK && !file) {
        pl_gpu_report(gpu, "E0007", "fmt", "a PTX file", NULL, "ptxloom fmt kernel.ptx");
        status = CLI_INPUT;
    } else if (status == CLI_OK) {
        status = cli_status(pl_format_file(gpu, file, &text, &bytes));
        if (status == CLI_OK && write)
            status = cli_status(
                cli_write_file(gpu, file, &(pl_output_how){.kind = PL_OUTPUT_SOURCE}, text, bytes));
        else if (status == CLI_OK)
            fwrite(text, 1, bytes, stdout);
    }
    cli_messages(gpu, 0);
    pl_gpu_close(gpu);
    return status;
}
