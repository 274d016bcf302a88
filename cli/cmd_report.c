/* cmd_report.c - `ptxloom report`: writes one HTML file that shows the contents of a trace. */
#include "cli/stop.h"
#include "cli/terminal.h"
#include <string.h>
#include <unistd.h>

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

static const char usage[] = "ptxloom report F.db -o report.html [--baseline B.db]\n"
                            "The page needs no network and no other file; any browser opens it.\n";

typedef struct request {
    const char *trace, *output; /* output: "-" is standard output */
    pl_report_options o;
} request;

/* Reads an option, or the trace. False: it is invalid, which is reported. */
static bool read_option(cli_args *a, int k, request *r)
{
    uint64_t launch = 0;
    switch (k) {
    case O_OUTPUT: r->output = a->value; return true;
    case O_FORCE: r->o.force = true; return true;
    case O_BASELINE: r->o.baseline = a->value; return true;
    case O_LAUNCH:
        if (!cli_number(a, "--launch", 1, INT64_MAX, &launch)) return false;
        r->o.launch = (int64_t)launch;
        return true;
    case O_SLOTS: return cli_number(a, "--issue-slots", 1, 100000000, &r->o.issue_slots);
    case O_TIMEOUT: return cli_timeout(a);
    case CLI_OPERAND:
        if (r->trace) {
            pl_gpu_report(a->gpu, "E0010", a->value, r->trace, NULL,
                          "a report is about one trace; --baseline B.db compares with another");
            return false;
        }
        r->trace = a->value;
        return true;
    default: return false;
    }
}

static int write_report(pl_gpu *gpu, const request *r)
{
    const bool to_stdout = strcmp(r->output, "-") == 0;
    cli_catch_signals();
    pl_gpu_stop_flag(gpu, &cli_stop);
    if (!to_stdout || !isatty(STDOUT_FILENO)) cli_busy("report");
    const pl_status st =
        pl_trace_report(gpu, r->trace, to_stdout ? "/dev/stdout" : r->output, &r->o);
    cli_busy_end();
    const int status = st == PL_INTERRUPTED ? cli_stopped(gpu) : cli_status(st);
    if (status == CLI_OK && !to_stdout) printf("%s\n", r->output);
    if (status != CLI_SYSTEM || !to_stdout || !cli_reader_left()) cli_messages(gpu, 0);
    return status;
}

int cmd_report(int argc, char **argv)
{
    request r = {.output = "report.html", .o = {.cancel = &cli_stop}};
    pl_gpu *gpu;
    if (pl_gpu_open(&gpu, NULL) != PL_OK) return CLI_SYSTEM;
    cli_args a = {.gpu = gpu, .argc = argc, .argv = argv, .at = 1};
    int k, status = CLI_OK;
    bool help = false;
    while (!help && status == CLI_OK && (k = cli_next(&a, option, O_COUNT)) != CLI_END) {
        help = k == CLI_HELP;
        if (!help && !read_option(&a, k, &r)) status = CLI_INPUT;
    }
    if (!help && status == CLI_OK && !r.trace) {
        pl_gpu_report(gpu, "E0007", "report", "a trace", NULL,
                      "ptxloom report run.db -o report.html");
        status = CLI_INPUT;
    }
    if (help)
        cli_help(usage, option, O_COUNT);
    else if (status == CLI_OK)
        status = write_report(gpu, &r);
    else
        cli_messages(gpu, 0);
    pl_gpu_close(gpu);
    return status;
}
