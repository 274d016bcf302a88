/* cmd_explain.c - `ptxloom explain`: describes an instruction, a special register, a directive,
 * a diagnostic, a key of a machine file, a metric, a query or a rule. */
#include "cli/cli.h"
#include "cli/terminal.h"

enum { O_UNSUPPORTED, O_COUNT };
static const cli_option option[O_COUNT] = {
    [O_UNSUPPORTED] = {"unsupported", 0, NULL,
                       "list the instruction forms that are checked but not executed"}};

int cmd_explain(int argc, char **argv)
{
    static const char usage[] =
        "ptxloom explain TOPIC ...\n"
        "TOPIC: add.f32 (an instruction), %tid (a special register), .maxntid (a directive),\n"
        "E0402 (a diagnostic), l1.latency "
        "(a key of a machine file),\n"
        "achieved_occupancy (a metric), hot_lines (a query), small_grid (a rule of advice),\n"
        "if_convert (a pass of the assembler), passes (all of them), long_scoreboard (a stall "
        "reason),\n"
        "race-raw (a kind of finding), race (all of that checker), warp (a term of the glossary),\n"
        "cudaErrorIllegalAddress, CUDA_ERROR_ASSERT or 700 (an error of CUDA programs)\n";
    pl_gpu *gpu;
    if (pl_gpu_open(&gpu, NULL) != PL_OK) return CLI_SYSTEM;
    cli_args a = {.gpu = gpu, .argc = argc, .argv = argv, .at = 1};
    int k, status = CLI_OK, shown = 0;
    while ((k = cli_next(&a, option, O_COUNT)) != CLI_END) {
        if (k == CLI_HELP) {
            cli_help(usage, option, O_COUNT);
            shown++;
            break;
        }
        const char *text = k == CLI_OPERAND     ? pl_explain(gpu, a.value)
                           : k == O_UNSUPPORTED ? pl_explain_unsupported(gpu)
                                                : NULL;
        if (text) {
            if (shown) putchar('\n');
            cli_put_wrapped(stdout, text, cli_width(stdout), -1);
        } else {
            status = CLI_INPUT;
        }
        shown++;
    }
    if (shown == 0) {
        pl_gpu_report(
            gpu, "E0007", "explain", "a topic", NULL,
            "an instruction (add.f32), a diagnostic (E0402), a machine key (l1.latency), a metric");
        status = CLI_INPUT;
    }
    cli_messages(gpu, 0);
    pl_gpu_close(gpu);
    return status;
}
