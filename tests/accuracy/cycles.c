/* cycles.c - `make accuracy`: accuracy of the modelled H200 compared with the real one.
 *
 *     cycles [--update]
 *
 * Runs the recorded suite in timing mode and prints modelled and measured cycles for each case.
 * Then follow the mean errors of cycles, instructions, registers and of every Nsight Compute
 * metric available on both sides. The same follows for the kernels of tests/data/corpus: one half,
 * whose errors may be examined, and the sums of the held-out half. Fails if a figure is worse than
 * the committed one (tests/data/accuracy.tsv). --update commits the current figures instead: that
 * file, the table in doc/accuracy.md, and the plot doc/accuracy.svg. Launches tagged noisy or spin
 * are nondeterministic; they are listed, not counted. */
#include "tests/accuracy/figures.h"
#include "tests/recorded.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Mean and maximum of a set of errors. */
typedef struct error_sum {
    const char *name; /* of a metric */
    double sum, worst;
    size_t n;
} error_sum;

typedef struct accuracy {
    const char *folder, *title; /* the title is a prefix of figure names */
    bool quiet;                 /* single launches are not printed */
    table results, metrics;
    error_sum cycles, instructions, registers;
    error_sum *metric; /* one per metric name, sorted by first appearance */
    size_t metrics_n;
    /* Cases within the spread of the four recorded launches; cases without a figure. */
    size_t inside, missing;
    size_t near, far; /* within 10 %, beyond 50 % */
    struct point {
        const char *name;
        double real, cycles, real_inst, inst;
        bool noisy;
    } * point;
    size_t points;
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

/* Metrics with a measured value of 0 have no relative error and are skipped. */
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

static bool is_noisy(const char *folder, const char *name)
{
    char relative[256];
    snprintf(relative, sizeof relative, "%s/cases/%s.json", folder, name);
    char *path = data_path(relative);
    json_t *file = json_load_file(path, 0, NULL), *tag;
    size_t i;
    bool noisy = false;
    json_array_foreach(json_object_get(file, "tags"), i, tag)
    {
        const char *t = json_string_value(tag);
        noisy |= t && (strcmp(t, "noisy") == 0 || strcmp(t, "spin") == 0);
    }
    json_decref(file);
    free(path);
    return noisy;
}

static void compare(void *ctx, size_t row, const json_t *result, const run_result *r)
{
    accuracy *a = ctx;
    const table *t = &a->results;
    const char *name = t->row[row][table_column(t, "case")];
    double cycles = recorded_number(result, "cycles"), real = measured(t, row, "cycles_cold");
    (void)r;
    if (cycles <= 0) {
        if (!a->quiet) printf("%-28s %10.0f           no figure\n", name, real);
        a->missing++;
        add(&a->cycles, 1);
        return;
    }
    double low = measured(t, row, "cycles_cold_min"), high = measured(t, row, "cycles_cold_max");
    double instructions =
        recorded_number(result, "inst_executed") / measured(t, row, "inst_executed");
    double registers = recorded_number(result, "registers"),
           real_registers = measured(t, row, "registers");
    double x = log(real), y = log(cycles), error = fabs(cycles / real - 1);
    bool noisy = is_noisy(a->folder, name);
    a->point[a->points++] = (struct point){name,
                                           real,
                                           cycles,
                                           measured(t, row, "inst_executed"),
                                           recorded_number(result, "inst_executed"),
                                           noisy};
    if (!a->quiet)
        printf("%-28s %10.0f %10.0f %+8.1f%%   instructions x%.2f   registers %.0f/%.0f%s\n", name,
               real, cycles, 100 * (cycles / real - 1), instructions, registers, real_registers,
               noisy ? "   noisy" : "");
    compare_metrics(a, name, result);
    if (noisy) return;
    a->near += error <= 0.1;
    a->far += error > 0.5;
    add(&a->cycles, error);
    add(&a->instructions, fabs(instructions - 1));
    add(&a->registers, fabs(registers / real_registers - 1));
    a->inside += cycles >= low && cycles <= high;
    a->sx += x;
    a->sy += y;
    a->sxx += x * x;
    a->syy += y * y;
    a->sxy += x * y;
}

/* The halves of tests/data/corpus, by the column "half". */
static void compare_halves(void *ctx, size_t row, const json_t *result, const run_result *r)
{
    accuracy *half = ctx;
    const table *t = &half[0].results;
    compare(strcmp(t->row[row][table_column(t, "half")], "tuning") == 0 ? &half[0] : &half[1], row,
            result, r);
}

static double correlation(const accuracy *a)
{
    double n = (double)(a->cycles.n - a->missing);
    double spread = sqrt((n * a->sxx - a->sx * a->sx) * (n * a->syy - a->sy * a->sy));
    return spread > 0 ? (n * a->sxy - a->sx * a->sy) / spread : 0;
}

/* The mean of every metric counts; for the held-out kernels, if there are enough launches. */
enum { ENOUGH = 20 };

static void report(const accuracy *a, figures *f)
{
    figures_add(f, 100 * mean(&a->cycles), "%scycles: mean error, %%", a->title);
    figures_add(f, (double)a->far, "%scycles: launches beyond 50 %%", a->title);
    figures_add(f, 100 * (1 - correlation(a)), "%scycles: 100 (1 - correlation of logarithms)",
                a->title);
    figures_add(f, 100 * mean(&a->instructions), "%sinstructions: mean error, %%", a->title);
    figures_add(f, 100 * mean(&a->registers), "%sregisters: mean error, %%", a->title);
    for (size_t i = 0; i < a->metrics_n; i++) {
        printf("%s%-72s mean error %6.1f%% over %zu\n", a->title, a->metric[i].name,
               100 * mean(&a->metric[i]), a->metric[i].n);
        if (!*a->title || a->metric[i].n >= ENOUGH)
            figures_add(f, 100 * mean(&a->metric[i]), "%s%s", a->title, a->metric[i].name);
    }
    printf("%scycles: mean absolute error %.1f%%, worst %.0f%%, %zu of %zu within 10%%, %zu within "
           "the spread of four launches, correlation of "
           "logarithms %.3f\n",
           a->title, 100 * mean(&a->cycles), 100 * a->cycles.worst, a->near, a->cycles.n, a->inside,
           correlation(a));
    printf("%sinstructions: mean absolute error %.1f%%\n%sregisters: mean absolute error %.1f%%\n",
           a->title, 100 * mean(&a->instructions), a->title, 100 * mean(&a->registers));
}

/* ---- output of --update ---- */

static FILE *open_doc(const char *name, char **path)
{
    char relative[64];
    snprintf(relative, sizeof relative, "../../doc/%s", name);
    *path = data_path(relative);
    return fopen(*path, "w");
}

/* Measured against modelled cycles, both axes logarithmic, with the diagonal and lines at 20 % on
 * both sides. */
static bool write_plot(const accuracy *a)
{
    const double low = log(2000.0), high = log(200000.0), size = 560, left = 70, top = 20;
    char *path;
    FILE *f = open_doc("accuracy.svg", &path);
    free(path);
    if (!f) return false;
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 660 650\" "
            "font-family=\"sans-serif\" font-size=\"13\">\n"
            "<title>Cycles of the recorded launches: measured on an H200 and modelled</title>\n"
            "<rect width=\"660\" height=\"650\" fill=\"white\"/>\n"
            "<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" fill=\"none\" stroke=\"black\"/>\n",
            left, top, size, size);
#define X(v) (left + (log(v) - low) / (high - low) * size)
#define Y(v) (top + size - (log(v) - low) / (high - low) * size)
    static const double tick[] = {2000, 5000, 10000, 20000, 50000, 100000, 200000};
    for (size_t i = 0; i < sizeof tick / sizeof *tick; i++)
        fprintf(f,
                "<text x=\"%.1f\" y=\"%g\" text-anchor=\"middle\">%.0f</text><text x=\"%g\" "
                "y=\"%.1f\" text-anchor=\"end\">%.0f</text>\n",
                X(tick[i]), top + size + 18, tick[i], left - 6, Y(tick[i]) + 4, tick[i]);
    static const double factor[] = {0.8, 1, 1.25};
    for (size_t i = 0; i < 3; i++) {
        double from = factor[i] < 1 ? 2000 / factor[i] : 2000,
               to = factor[i] > 1 ? 200000 / factor[i] : 200000;
        fprintf(f, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"gray\"%s/>\n",
                X(from), Y(from * factor[i]), X(to), Y(to * factor[i]),
                i == 1 ? "" : " stroke-dasharray=\"4\"");
    }
    for (size_t i = 0; i < a->points; i++) {
        const struct point *p = &a->point[i];
        fprintf(f,
                "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\" "
                "fill-opacity=\"0.6\"><title>%s: %.0f measured, %.0f modelled</title></circle>\n",
                X(p->real), Y(p->cycles), p->noisy ? "gray" : "steelblue", p->name, p->real,
                p->cycles);
    }
    fprintf(f,
            "<text x=\"%g\" y=\"640\" text-anchor=\"middle\">cycles on an H200</text>"
            "<text x=\"16\" y=\"%g\" text-anchor=\"middle\" transform=\"rotate(-90 16 "
            "%g)\">modelled cycles</text>\n</svg>\n",
            left + size / 2, top + size / 2, top + size / 2);
#undef X
#undef Y
    return fclose(f) == 0;
}

static void write_launches(FILE *f, const accuracy *a)
{
    fprintf(f, "\n| launch | cycles | recorded | error | instructions | recorded | difference |\n| "
               "--- | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for (size_t i = 0; i < a->points; i++) {
        const struct point *p = &a->point[i];
        fprintf(f, "| `%s`%s | %.0f | %.0f | %+.1f %% | %.0f | %.0f | %+.0f %% |\n", p->name,
                p->noisy ? " *" : "", p->cycles, p->real, 100 * (p->cycles / p->real - 1), p->inst,
                p->real_inst, 100 * (p->inst / p->real_inst - 1));
    }
}

/* Replaces the text after the heading "## Errors" of doc/accuracy.md. */
static bool write_page(const accuracy *a, const accuracy half[2], const figures *all)
{
    char *path = data_path("../../doc/accuracy.md");
    size_t size;
    char *text = read_whole(path, &size), *end = strstr(text, "## Errors");
    free(path);
    if (!end) return false;
    FILE *f = open_doc("accuracy.md", &path);
    free(path);
    if (!f) return false;
    fwrite(text, 1, (size_t)(end - text), f);
    free(text);
    fprintf(f,
            "## Errors\n\nWritten by `make accuracy-update`. Mean absolute error over %zu "
            "launches: **%.1f %%** (%zu within 10 %%, %zu beyond 50 %%). Launches that\n"
            "wait for other blocks (marked *) are not counted. Instructions are "
            "`smsp__inst_executed.sum`. A negative error means too few or too fast.\n\n"
            "![measured and modelled cycles](accuracy.svg)\n\n| figure | value |\n| --- | ---: |\n",
            a->cycles.n, 100 * mean(&a->cycles), a->near, a->far);
    for (size_t i = 0; i < all->n; i++)
        fprintf(f, "| `%s` | %.1f |\n", all->at[i].name, all->at[i].value);
    write_launches(f, a);
    fprintf(
        f,
        "\n## Errors on kernels that nothing was tuned for\n\nShort kernels as they occur in "
        "programs and exercises (`tests/data/corpus`).\n\n"
        "- Held out, only the mean is published: %.1f %% over %zu launches (%zu within 10 %%, "
        "%zu beyond 50 %%).\n"
        "- Tuning, whose errors may be examined to find what is wrong: %.1f %% over %zu launches "
        "(%zu within 10 %%, %zu beyond 50 %%).\n",
        100 * mean(&half[1].cycles), half[1].cycles.n, half[1].near, half[1].far,
        100 * mean(&half[0].cycles), half[0].cycles.n, half[0].near, half[0].far);
    write_launches(f, &half[0]);
    return fclose(f) == 0;
}

static accuracy begin(const char *folder, const char *title)
{
    char relative[64];
    accuracy a = {.folder = folder, .title = title, .results = recorded_results(folder)};
    a.point = calloc(a.results.rows, sizeof *a.point);
    if (!a.point) exit(EXIT_FAILURE);
    snprintf(relative, sizeof relative, "%s/metrics.tsv.xz", folder);
    char *path = data_path(relative);
    a.metrics = table_read(path);
    free(path);
    return a;
}

static void end(accuracy *a)
{
    free(a->point);
    free(a->metric);
    table_free(&a->results);
    table_free(&a->metrics);
}

int main(int argc, char **argv)
{
    bool update = argc > 1 && strcmp(argv[1], "--update") == 0;
    accuracy a = begin("suite", ""),
             half[2] = {begin("corpus", "corpus, tuning: "), begin("corpus", "corpus, holdout: ")};
    figures f = {0};
    half[1].quiet = true;
    printf("%-28s %10s %10s %9s\n", "case", "H200", "modelled", "error");
    static const char *const all_metrics[] = {"--metrics", "all", NULL};
    recorded_run_with(a.folder, &a.results, "timing", all_metrics, compare, &a);
    report(&a, &f);
    recorded_run(half[0].folder, &half[0].results, "timing", compare_halves, half);
    for (size_t i = 0; i < 2; i++) report(&half[i], &f);
    bool ok = update ? figures_update(&f) && write_plot(&a) && write_page(&a, half, &f)
                     : figures_check(&f) == 0;
    figures_free(&f);
    end(&a);
    for (size_t i = 0; i < 2; i++) end(&half[i]);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
