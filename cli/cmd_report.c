/* cmd_report.c - `ptxloom report`: writes one HTML file that shows the contents of a trace. */
#include "cli/stop.h"
#include <string.h>

enum { O_OUTPUT, O_FORCE, O_BASELINE, O_LAUNCH, O_SLOTS, O_TIMEOUT, O_COUNT };
static const cli_option option[O_COUNT] = {
    [O_OUTPUT] = {"output", 'o', "FILE.html",
                  "the file to write (report.html); - for standard output"},
    [O_FORCE] = CLI_FORCE,
    [O_BASELINE] = {"baseline", 0, "B.db", "compare with the same launches of another trace"},
    [O_LAUNCH] = {"launch", 'l', "N", "show launch N only (the longest twelve)"},
    [O_SLOTS] = {"issue-slots", 0, "N",
                 "maximum number of issues shown individually in the timeline (400000)"},
    [O_TIMEOUT] = CLI_TIMEOUT,
};

int cmd_report(int argc, char **argv)
{
    static const char usage[] =
        "ptxloom report F.db -o report.html [--baseline B.db]\n"
        "The page needs no network and no other file; any browser opens it.\n";
    pl_report_options o = {.cancel = &cli_stop};
    const char *trace = NULL, *output = "report.html";
    uint64_t n;
    pl_gpu *gpu;
    if (pl_gpu_open(&gpu, NULL) != PL_OK) return CLI_SYSTEM;
    cli_args a = {.gpu = gpu, .argc = argc, .argv = argv, .at = 1};
    int k, status = CLI_OK;
    bool to_stdout = false;
    while (status == CLI_OK && (k = cli_next(&a, option, O_COUNT)) != CLI_END) {
        switch (k) {
        case O_OUTPUT: output = a.value; break;
        case O_FORCE: o.force = true; break;
        case O_BASELINE: o.baseline = a.value; break;
        case O_LAUNCH:
            if (cli_number(&a, "--launch", 1, INT64_MAX, &n))
                o.launch = (int64_t)n;
            else
                status = CLI_INPUT;
            break;
        case O_SLOTS:
            if (!cli_number(&a, "--issue-slots", 1, 100000000, &o.issue_slots)) status = CLI_INPUT;
            break;
        case O_TIMEOUT:
            if (!cli_timeout(&a)) status = CLI_INPUT;
            break;
        case CLI_HELP:
            cli_help(usage, option, O_COUNT);
            pl_gpu_close(gpu);
            return CLI_OK;
        case CLI_OPERAND:
            if (trace) {
                pl_gpu_report(gpu, "E0010", a.value, trace, NULL,
                              "a report is about one trace; --baseline B.db compares with another");
                status = CLI_INPUT;
            }
            trace = a.value;
            break;
        default: status = CLI_INPUT;
        }
    }
    if (status == CLI_OK && !trace) {
        pl_gpu_report(gpu, "E0007", "report", "a trace", NULL,
                      "ptxloom report run.db -o report.html");
        status = CLI_INPUT;
    }
    if (status == CLI_OK) {
        cli_catch_signals();
        to_stdout = strcmp(output, "-") == 0;
        pl_status st = pl_trace_report(gpu, trace, to_stdout ? "/dev/stdout" : output, &o);
        status = st == PL_INTERRUPTED ? cli_stopped(gpu) : cli_status(st);
    }
    if (status == CLI_OK && !to_stdout) printf("%s\n", output);
    if (status != CLI_SYSTEM || !to_stdout || !cli_reader_left()) cli_messages(gpu, 0);
    pl_gpu_close(gpu);
    return status;
}
