/* speed.c - `make bench`: how fast the emulator itself is, on the recorded suite, in both modes.
 *
 * Speed is emulated instructions in a second of emulation (wall_seconds of --json: without reading files and assembling). */
#include "tests/recorded.h"
#include <stdio.h>
#include <stdlib.h>

typedef struct bench {
    table results;
    double seconds, warp, thread; /* sums over all cases */
    size_t ran;
} bench;

static void measure(void *ctx, size_t row, const json_t *result, const run_result *r)
{
    bench *b = ctx;
    const char *name = b->results.row[row][table_column(&b->results, "case")];
    double seconds = recorded_number(result, "wall_seconds"), warp = recorded_number(result, "inst_executed");
    double thread = recorded_number(result, "thread_inst_executed");
    if (seconds <= 0) {
        printf("%-28s no figure (exit status %d)\n", name, r->status);
        return;
    }
    b->seconds += seconds;
    b->warp += warp;
    b->thread += thread;
    b->ran++;
    printf("%-28s %8.3f s %10.2f M warp instructions/s %10.1f M thread instructions/s\n", name, seconds, warp / seconds / 1e6,
           thread / seconds / 1e6);
}

int main(void)
{
    static const char *const mode[] = {"functional", "timing"};
    for (size_t i = 0; i < 2; i++) {
        bench b = {.results = recorded_results()};
        recorded_run(&b.results, mode[i], measure, &b);
        if (b.ran > 0)
            printf("%s: %zu cases in %.1f s, %.2f M warp instructions/s, %.1f M thread instructions/s\n\n", mode[i], b.ran,
                   b.seconds, b.warp / b.seconds / 1e6, b.thread / b.seconds / 1e6);
        table_free(&b.results);
    }
    return EXIT_SUCCESS;
}
