/* cycles.c - `make accuracy`: how far the modelled H200 is from the real one.
 *
 * Runs the recorded suite in timing mode and prints, case by case, modelled and measured cycles, then the mean error of
 * cycles, instructions, registers and of every Nsight Compute metric that both sides have. It judges nothing: the figures
 * go into doc/accuracy.md. */
#include "tests/recorded.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Mean and largest of some errors. */
typedef struct error_sum {
    const char *name; /* of a metric */
    double sum, worst;
    size_t n;
} error_sum;

typedef struct accuracy {
    table results, metrics;
    error_sum cycles, instructions, registers;
    error_sum *metric; /* one for each metric name seen, sorted by first appearance */
    size_t metrics_n;
    size_t inside, missing; /* cases within the spread of the four recorded launches; cases without a figure */
    double sx, sy, sxx, syy, sxy; /* sums over logarithms of cycles */
} accuracy;

static void add(error_sum *e, double error)
{
    e->sum += error;
    if (error > e->worst) e->worst = error;
    e->n++;
}

static double mean(const error_sum *e)
{
    return e->n ? e->sum / (double)e->n : 0;
}

static double measured(const table *t, size_t row, const char *column)
{
    return strtod(t->row[row][table_column(t, column)], NULL);
}

static error_sum *metric_sum(accuracy *a, const char *name)
{
    for (size_t i = 0; i < a->metrics_n; i++)
        if (strcmp(a->metric[i].name, name) == 0) return &a->metric[i];
    a->metric = realloc(a->metric, (a->metrics_n + 1) * sizeof *a->metric);
    if (!a->metric) exit(EXIT_FAILURE);
    a->metric[a->metrics_n] = (error_sum){.name = name};
    return &a->metric[a->metrics_n++];
}

/* Metrics with a measured value of 0 have no relative error and are left out. */
static void compare_metrics(accuracy *a, const char *name, const json_t *result)
{
    const table *t = &a->metrics;
    const json_t *metrics = json_object_get(result, "metrics");
    size_t c = table_column(t, "case"), m = table_column(t, "metric"), v = table_column(t, "value");
    for (size_t i = 0; i < t->rows; i++) {
        if (strcmp(t->row[i][c], name) != 0) continue;
        const json_t *modelled = json_object_get(metrics, t->row[i][m]);
        double real = strtod(t->row[i][v], NULL);
        if (!json_is_number(modelled) || fabs(real) <= 0) continue;
        add(metric_sum(a, t->row[i][m]), fabs(json_number_value(modelled) / real - 1));
    }
}

static void compare(void *ctx, size_t row, const json_t *result, const run_result *r)
{
    accuracy *a = ctx;
    const table *t = &a->results;
    const char *name = t->row[row][table_column(t, "case")];
    double cycles = recorded_number(result, "cycles"), real = measured(t, row, "cycles_cold");
    (void)r;
    if (cycles <= 0) {
        printf("%-28s %10.0f           no figure\n", name, real);
        a->missing++;
        add(&a->cycles, 1);
        return;
    }
    double low = measured(t, row, "cycles_cold_min"), high = measured(t, row, "cycles_cold_max");
    double instructions = recorded_number(result, "inst_executed") / measured(t, row, "inst_executed");
    double registers = recorded_number(result, "registers"), real_registers = measured(t, row, "registers");
    double x = log(real), y = log(cycles);
    add(&a->cycles, fabs(cycles / real - 1));
    add(&a->instructions, fabs(instructions - 1));
    add(&a->registers, fabs(registers / real_registers - 1));
    a->inside += cycles >= low && cycles <= high;
    a->sx += x;
    a->sy += y;
    a->sxx += x * x;
    a->syy += y * y;
    a->sxy += x * y;
    printf("%-28s %10.0f %10.0f %+8.1f%%   instructions x%.2f   registers %.0f/%.0f\n", name, real, cycles,
           100 * (cycles / real - 1), instructions, registers, real_registers);
    compare_metrics(a, name, result);
}

int main(void)
{
    accuracy a = {.results = recorded_results()};
    char *path = data_path("suite/metrics.tsv.xz");
    a.metrics = table_read(path);
    free(path);
    printf("%-28s %10s %10s %9s\n", "case", "H200", "modelled", "error");
    recorded_run(&a.results, "timing", compare, &a);
    for (size_t i = 0; i < a.metrics_n; i++)
        printf("%-72s mean error %6.1f%% over %zu\n", a.metric[i].name, 100 * mean(&a.metric[i]), a.metric[i].n);
    double n = (double)(a.cycles.n - a.missing);
    double spread = sqrt((n * a.sxx - a.sx * a.sx) * (n * a.syy - a.sy * a.sy));
    printf("cycles: mean absolute error %.1f%%, worst %.0f%%, %zu of %zu within the spread of four launches, correlation of "
           "logarithms %.3f\n", 100 * mean(&a.cycles), 100 * a.cycles.worst, a.inside, a.cycles.n,
           spread > 0 ? (n * a.sxy - a.sx * a.sy) / spread : 0);
    printf("instructions: mean absolute error %.1f%%\nregisters: mean absolute error %.1f%%\n", 100 * mean(&a.instructions),
           100 * mean(&a.registers));
    free(a.metric);
    table_free(&a.results);
    table_free(&a.metrics);
    return EXIT_SUCCESS;
}
