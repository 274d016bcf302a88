/* cmd_check.c - `ptxloom check`: reports every error in PTX files, without assembling them. */
#include "cli/cli.h"
#include <jansson.h>
#include <stdlib.h>

enum { O_JSON, O_MAX_ERRORS, O_COUNT };
static const cli_option option[O_COUNT] = {
    [O_JSON] = {"json", 0, NULL, "print one JSON object"},
    [O_MAX_ERRORS] = {"max-errors", 0, "N",
                      "show at most N errors of a file (default 100; 0: all) and count the rest"}};

/* NULL: out of memory. */
static json_t *describe_file(pl_gpu *gpu, const char *path, pl_status st)
{
    json_t *list = json_array();
    bool complete = list != NULL;
    for (size_t i = 0; i < pl_gpu_diag_count(gpu); i++) {
        pl_message m = pl_gpu_diag(gpu, i, false);
        complete &=
            0 == json_array_append_new(
                     list, json_pack("{s:s, s:s, s:o, s:i, s:i, s:o, s:o}", "severity", m.severity,
                                     "code", m.code, "file", cli_json_text(m.file), "line",
                                     (int)m.line, "column", (int)m.column, "text",
                                     cli_json_text(m.text), "help", cli_json_text(m.help)));
    }
    if (!complete) {
        json_decref(list);
        return NULL;
    }
    return json_pack("{s:o, s:s, s:o, s:I}", "file", cli_json_text(path), "status",
                     st == PL_OK ? "ok" : "invalid", "diagnostics", list, "more_errors",
                     (json_int_t)pl_gpu_diag_dropped(gpu));
}

int cmd_check(int argc, char **argv)
{
    static const char usage[] = "ptxloom check K.ptx ... [--json] [--max-errors N]\n";
    const pl_load_options load = {.check_only = true};
    pl_gpu *gpu;
    if (pl_gpu_open(&gpu, NULL) != PL_OK) return CLI_SYSTEM;
    cli_args a = {.gpu = gpu, .argc = argc, .argv = argv, .at = 1};
    const char **file = calloc((size_t)argc, sizeof *file);
    int k, status = file ? CLI_OK : CLI_SYSTEM, n = 0;
    bool json = false;
    uint64_t max_errors;
    while (file && (k = cli_next(&a, option, O_COUNT)) != CLI_END) {
        if (k == CLI_HELP) {
            cli_help(usage, option, O_COUNT);
            goto done;
        }
        if (k == CLI_OPERAND)
            file[n++] = a.value;
        else if (k == O_JSON)
            json = true;
        else if (k == O_MAX_ERRORS && cli_number(&a, "--max-errors", 0, UINT32_MAX, &max_errors))
            pl_gpu_diag_limit(gpu, (size_t)max_errors);
        else
            status = CLI_INPUT;
    }
    if (status == CLI_OK && n == 0) {
        pl_gpu_report(gpu, "E0007", "check", "a PTX file", NULL, "ptxloom check kernel.ptx");
        status = CLI_INPUT;
    }
    cli_messages(gpu, 0);
    json_t *files = json && status == CLI_OK ? json_array() : NULL;
    if (json && status == CLI_OK && !files) status = cli_no_memory();
    for (int i = 0; status != CLI_SYSTEM && pl_gpu_diag_count(gpu) == 0 && i < n; i++) {
        pl_module *m;
        pl_status st = pl_module_load_file(gpu, file[i], &load, &m);
        status = cli_worse(status, cli_status(st));
        cli_messages(gpu, 0);
        if (files && json_array_append_new(files, describe_file(gpu, file[i], st)) != 0)
            status = cli_no_memory();
        pl_gpu_diag_clear(gpu);
    }
    if (files) {
        json_t *root = json_pack("{s:s, s:o}", "version", PTXLOOM_VERSION, "files", files);
        if (!cli_print_json(root)) status = CLI_SYSTEM;
        json_decref(root);
    }
done:
    free(file);
    pl_gpu_close(gpu);
    return status;
}
