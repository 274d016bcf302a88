/* cmd_litmus.c - `ptxloom litmus`: outcomes of small concurrent programs, observed and allowed by
 * the memory model. */
#include "cli/cli.h"
#include "cli/terminal.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { O_CONSISTENCY, O_RUNS, O_SEED, O_OPT, O_STRICT, O_QUIET, O_JSON, O_COUNT };
enum { STRICT_ROUNDS = 32 };
static const cli_option option[O_COUNT] = {
    [O_CONSISTENCY] = {"consistency", 0, "strong|weak|both",
                       "memory models to run the tests with (both)"},
    [O_RUNS] = {"runs", 0, "N", "runs of each test with each memory model (2000)"},
    [O_SEED] = {"seed", 0, "SEED",
                "seed of the random schedules, and of the values that loads return (1)"},
    [O_OPT] = {"opt", 'O', "0|2",
               "-O0 (default): instructions in source order; -O2: in the order of the optimising "
               "assembler"},
    [O_STRICT] = {"strict", 0, NULL,
                  "also fail if a permitted outcome is not observed in 32 times as many runs"},
    [O_QUIET] = {"quiet", 'q', NULL, "print one line per test"},
    [O_JSON] = {"json", 0, NULL, "print an array of objects"},
};
static const char usage[] = "ptxloom litmus T.litmus ... [OPTION ...]\n";

typedef struct options {
    bool strong, weak, strict, quiet, json;
    uint64_t runs, seed;
    int opt_level;
    const char **file;
    size_t files;
} options;

static bool read_option(cli_args *a, int k, options *o)
{
    switch (k) {
    case O_CONSISTENCY:
        o->strong = strcmp(a->value, "weak") != 0;
        o->weak = strcmp(a->value, "strong") != 0;
        if (o->strong != o->weak || strcmp(a->value, "both") == 0) return true;
        pl_gpu_report(a->gpu, "E0005", a->value, "--consistency", "it is strong, weak or both",
                      NULL);
        return false;
    case O_RUNS: return cli_number(a, "--runs", 0, 100000000, &o->runs);
    case O_SEED: return cli_number(a, "--seed", 0, UINT64_MAX, &o->seed);
    case O_OPT: return cli_opt_level(a, &o->opt_level);
    case O_STRICT: o->strict = true; return true;
    case O_QUIET: o->quiet = true; return true;
    case O_JSON: o->json = true; return true;
    case CLI_OPERAND: o->file[o->files++] = a->value; return true;
    default: return false;
    }
}

/* True if the observed outcomes are complete: with strong consistency only those of interleavings,
 * with weak consistency all that the axioms allow. */
static bool is_complete(const pl_litmus_report *r)
{
    for (size_t k = 0; k < r->n; k++) {
        const pl_litmus_row *x = &r->row[k];
        if (x->strong && !x->sequential) return false;
        if (r->runs_weak && x->allowed != (x->weak > 0) && (!x->allowed || !*r->unseen))
            return false;
    }
    return true;
}

/* Returns the verdict on the test; *failed: it is a failure. */
static const char *verdict(const options *o, const pl_litmus_report *r, bool *failed)
{
    bool exists = strncmp(r->condition, "exists", 6) == 0;
    *failed = r->forbidden || !r->agrees || (o->strict && !is_complete(r));
    if (r->forbidden) return "FORBIDDEN outcomes were observed";
    if (!r->agrees) return "contradicts the axioms";
    if (*failed) return "allowed outcomes were not observed";
    if (!exists) return "agrees with the axioms";
    if (!r->runs_weak) return "allowed";
    if (r->seen) return "allowed, and observed";
    return *r->unseen ? "allowed, but not observed, as the test says"
                      : "allowed, but never observed";
}

/* Writes the count of one kind of runs; blanks if there were none. */
static const char *count_text(uint64_t runs, uint64_t n, char text[24])
{
    if (!runs)
        text[0] = '\0';
    else if (!n)
        snprintf(text, 24, "-");
    else
        snprintf(text, 24, "%" PRIu64, n);
    return text;
}

/* Prints a line without blanks at its end, wrapped to the terminal. */
static void put_row(char *line, int columns)
{
    size_t n = strlen(line);
    while (n && line[n - 1] == ' ') line[--n] = '\0';
    cli_put_wrapped(stdout, line, columns, 4);
    putchar('\n');
}

static void print_table(const options *o, const pl_litmus_report *r, const char *verdict_text,
                        bool first)
{
    int width = 20;
    size_t seen[2] = {0, 0}, allowed = 0;
    char text[1024], name[256], line[1400], a[24], b[24];
    const int columns = cli_width(stdout);
    cli_printable(name, sizeof name, r->name);
    for (size_t k = 0; k < r->n; k++) {
        int n = (int)strlen(r->row[k].text);
        width = n > width ? n : width;
        seen[0] += r->row[k].strong > 0;
        seen[1] += r->row[k].weak > 0;
        allowed += r->row[k].allowed;
    }
    if (o->quiet) {
        printf("%-22s %2zu allowed, %2zu observed strong, %2zu observed weak: %s\n", name, allowed,
               seen[0], seen[1], verdict_text);
        return;
    }
    snprintf(line, sizeof line, "%s%s: %s\n  %-*s  %-9s  %-10s%8s%9s", first ? "" : "\n", name,
             cli_printable(text, sizeof text, r->title), width, "outcome", "axioms", "interleaved",
             r->runs_strong ? "strong" : "", r->runs_weak ? "weak" : "");
    put_row(line, columns);
    for (size_t k = 0; k < r->n; k++) {
        const pl_litmus_row *x = &r->row[k];
        const char *note = !x->allowed                ? "FORBIDDEN"
                           : r->runs_weak && !x->weak ? "never observed"
                           : x->holds                 ? "*"
                                                      : "";
        snprintf(line, sizeof line, "  %-*s  %-9s  %-10s%9s%9s  %s", width, x->text,
                 x->allowed ? "allowed" : "forbidden", x->sequential ? "yes" : "no",
                 count_text(r->runs_strong, x->strong, a), count_text(r->runs_weak, x->weak, b),
                 note);
        put_row(line, columns);
    }
    snprintf(line, sizeof line, "  %s: %s", cli_printable(text, sizeof text, r->condition),
             verdict_text);
    put_row(line, columns);
    if (!*r->unseen || r->seen || !r->runs_weak) return;
    snprintf(line, sizeof line, "  %s", cli_printable(text, sizeof text, r->unseen));
    put_row(line, columns);
}

/* Titles and conditions come from the test's file. */
static void print_string(const char *s)
{
    putchar('"');
    for (; *s; s++) {
        if (*s == '"' || *s == '\\') putchar('\\');
        if ((unsigned char)*s < ' ')
            putchar(' ');
        else
            putchar(*s);
    }
    putchar('"');
}

static void print_json(const pl_litmus_report *r, const char *file, const char *verdict_text,
                       bool failed, bool first)
{
    printf("%s{\"name\": ", first ? "[" : ",\n ");
    print_string(r->name);
    printf(", \"file\": ");
    print_string(file);
    printf(", \"title\": ");
    print_string(r->title);
    printf(", \"condition\": ");
    print_string(r->condition);
    printf(", \"verdict\": ");
    print_string(verdict_text);
    printf(", \"failed\": %s, \"runs_strong\": %" PRIu64 ", \"runs_weak\": %" PRIu64
           ", \"outcomes\": [",
           failed ? "true" : "false", r->runs_strong, r->runs_weak);
    for (size_t k = 0; k < r->n; k++) {
        const pl_litmus_row *x = &r->row[k];
        printf("%s\n   {\"outcome\": \"%s\", \"allowed\": %s, \"interleaved\": %s, \"condition\": "
               "%s, \"strong\": %" PRIu64 ", \"weak\": %" PRIu64 "}",
               k ? "," : "", x->text, x->allowed ? "true" : "false",
               x->sequential ? "true" : "false", x->holds ? "true" : "false", x->strong, x->weak);
    }
    printf("]}");
}

static int run_test(pl_gpu *gpu, const options *o, const char *file, bool *first)
{
    pl_litmus *l;
    pl_litmus_report r;
    bool failed = false;
    pl_status st = pl_litmus_load(gpu, file, o->opt_level, &l);
    if (st != PL_OK) return cli_status(st);
    for (int round = 0; round < (o->strict ? STRICT_ROUNDS : 1); round++) {
        if (st == PL_OK && o->strong) st = pl_litmus_run(l, false, o->runs, o->seed);
        if (st == PL_OK && o->weak) st = pl_litmus_run(l, true, o->runs, o->seed);
        if (st == PL_OK) st = pl_litmus_result(l, &r);
        if (st != PL_OK || is_complete(&r)) break;
    }
    if (st == PL_OK) {
        const char *verdict_text = verdict(o, &r, &failed);
        if (o->json)
            print_json(&r, file, verdict_text, failed, *first);
        else
            print_table(o, &r, verdict_text, *first);
        *first = false;
    }
    pl_litmus_close(l);
    return st != PL_OK ? cli_status(st) : failed ? CLI_FAILED : CLI_OK;
}

static int run_all(const options *o)
{
    pl_gpu *gpu = NULL;
    int status = cli_status(pl_gpu_open(&gpu, "h200"));
    bool first = true;
    for (size_t k = 0; status != CLI_SYSTEM && k < o->files; k++) {
        status = cli_worse(status, run_test(gpu, o, o->file[k], &first));
        cli_messages(gpu, 0);
        pl_gpu_diag_clear(gpu);
    }
    if (o->json && !first) printf("]\n");
    if (gpu) cli_messages(gpu, 0);
    pl_gpu_close(gpu);
    return status;
}

int cmd_litmus(int argc, char **argv)
{
    options o = {.strong = true, .weak = true, .runs = 2000, .seed = 1};
    pl_gpu *gpu;
    if (pl_gpu_open(&gpu, NULL) != PL_OK) return CLI_SYSTEM;
    cli_args a = {.gpu = gpu, .argc = argc, .argv = argv, .at = 1};
    int k, status = (o.file = calloc((size_t)argc, sizeof *o.file)) ? CLI_OK : CLI_SYSTEM;
    bool help = false;
    while (status != CLI_SYSTEM && !help && (k = cli_next(&a, option, O_COUNT)) != CLI_END) {
        help = k == CLI_HELP;
        if (!help && !read_option(&a, k, &o)) status = CLI_INPUT;
    }
    if (!help && status == CLI_OK && !o.files) {
        pl_gpu_report(gpu, "E0007", argv[0], "a litmus test", NULL, "ptxloom litmus test.litmus");
        status = CLI_INPUT;
    }
    cli_messages(gpu, 0);
    if (help)
        cli_help(usage, option, O_COUNT);
    else if (status == CLI_OK)
        status = run_all(&o);
    free(o.file);
    pl_gpu_close(gpu);
    return status;
}
