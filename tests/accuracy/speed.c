/* speed.c - `make bench`: speed of the emulator on the recorded suite: functional mode, timing
 * mode, and timing mode with two threads compared with one.
 *
 * Speed is emulated instructions per second of emulation (wall_seconds of --json, which excludes
 * reading files and assembling). */
#include "tests/recorded.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct bench {
    table results;
    double seconds, warp, thread; /* sums over all cases */
    size_t ran;
    double *wall; /* by row; 0: no figure */
} bench;

static void measure(void *ctx, size_t row, const json_t *result, const run_result *r)
{
    bench *b = ctx;
    const char *name = b->results.row[row][table_column(&b->results, "case")];
    double seconds = recorded_number(result, "wall_seconds"),
           warp = recorded_number(result, "inst_executed");
    double thread = recorded_number(result, "thread_inst_executed");
    if (seconds <= 0) {
        printf("%-28s no figure (exit status %d)\n", name, r->status);
        return;
    }
    b->seconds += seconds;
    b->warp += warp;
    b->thread += thread;
    b->ran++;
    b->wall[row] = seconds;
    printf("%-28s %8.3f s %10.2f M warp instructions/s %10.1f M thread instructions/s\n", name,
           seconds, warp / seconds / 1e6, thread / seconds / 1e6);
}

static const struct {
    const char *title, *mode;
    const char *options[3];
} part[] = {{"functional", "functional", {NULL}},
            {"timing", "timing", {NULL}},
            {"timing, two threads", "timing", {"--threads", "2", NULL}}};
enum { PARTS = sizeof part / sizeof *part };

int main(void)
{
    bench b[PARTS];
    for (size_t i = 0; i < PARTS; i++) {
        b[i] = (bench){.results = recorded_results("suite")};
        b[i].wall = calloc(b[i].results.rows, sizeof *b[i].wall);
        printf("%s\n", part[i].title);
        recorded_run_with("suite", &b[i].results, part[i].mode, part[i].options, measure, &b[i]);
        if (b[i].ran > 0)
            printf("%s: %zu cases in %.1f s, %.2f M warp instructions/s, %.1f M thread "
                   "instructions/s\n\n",
                   part[i].title, b[i].ran, b[i].seconds, b[i].warp / b[i].seconds / 1e6,
                   b[i].thread / b[i].seconds / 1e6);
    }
    double sum = 0;
    size_t n = 0;
    for (size_t row = 0; row < b[1].results.rows; row++) {
        if (b[1].wall[row] <= 0 || b[2].wall[row] <= 0) continue;
        sum += log(b[1].wall[row] / b[2].wall[row]);
        n++;
    }
    if (n > 0)
        printf("two threads: %.2f times the speed of one (geometric mean of %zu cases; %.2f times "
               "over all together; %ld processors)\n",
               exp(sum / (double)n), n, b[1].seconds / b[2].seconds, sysconf(_SC_NPROCESSORS_ONLN));
    for (size_t i = 0; i < PARTS; i++) {
        free(b[i].wall);
        table_free(&b[i].results);
    }
    return EXIT_SUCCESS;
}
