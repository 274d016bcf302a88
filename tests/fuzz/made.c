/* made.c - modules generated from the instruction table are assembled or rejected, without a
 * crash, a hang or a leak.
 *
 * Half of the modules have an error, so that both the checks and the later stages are reached:
 * every module is assembled at -O0 or -O2 and, if accepted, listed. In a build with
 * --enable-sanitizers a report stops the program.
 *
 *     tests/fuzz/made [MODULES [SEED]]     the same arguments give the same modules */
#include "ptxloom.h"
#include "tests/fuzz/grammar.h"
#include "tests/harness.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    static const struct {
        unsigned version;
        const char *target;
    } modules[] = {{90, "sm_90a"}, {90, "sm_100a"}, {90, "sm_120a"},
                   {78, "sm_80"},  {63, "sm_75"},   {42, "sm_53"}};
    unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 1500, taken = 0, refused = 0,
                  other = 0;
    grammar g = {.state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1};
    for (unsigned long k = 0; k < count; k++) {
        size_t m = grammar_below(&g, sizeof modules / sizeof *modules);
        pl_gpu *gpu = NULL;
        pl_module *module = NULL;
        g.n = 0;
        grammar_module(&g, modules[m].version, modules[m].target);
        if (getenv("PTXLOOM_SHOW_MADE")) fprintf(stderr, "%s\n", g.at);
        if (pl_gpu_open(&gpu, "h200") != PL_OK) return EXIT_FAILURE;
        pl_load_options o = {.opt_level = k % 2 ? 2 : 0};
        pl_status st = pl_module_load(gpu, "made.ptx", g.at, g.n, &o, &module);
        taken += st == PL_OK;
        refused += st != PL_OK && pl_gpu_diag_count(gpu) > 0;
        other += st != PL_OK && pl_gpu_diag_count(gpu) == 0;
        if (st != PL_OK && pl_gpu_diag_count(gpu) == 0)
            tap_note("refused without a message:\n%s", g.at);
        pl_module_close(module);
        pl_gpu_close(gpu);
    }
    grammar_free(&g);
    tap(other == 0 && taken > 0 && refused > 0,
        "%lu modules generated: %lu accepted, %lu rejected with a message", count, taken, refused);
    return tap_done();
}
