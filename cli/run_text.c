/* run_text.c - the text output of `ptxloom run`: outputs first, then the cost of the launch, then
 * hints. */
#include "cli/run.h"
#include "cli/stop.h"
#include "cli/terminal.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHOWN_ELEMENTS = 8 };

/* Prints "argument 4  f32[128] =". */
static int print_heading(const run_case *c, size_t k)
{
    const pl_case_arg *a = &c->launch->arg[k];
    if (!a->variable) return printf("  argument %-2zu %s[%" PRIu64 "] =", k + 1, a->type, a->count);
    int used = printf("  variable ");
    cli_print(stdout, a->variable, strlen(a->variable));
    return used + (int)strlen(a->variable) + printf(" %s[%" PRIu64 "] =", a->type, a->count);
}

/* Prints the first `most` elements. On a terminal they are wrapped to its width. */
static void print_elements(const run_case *c, size_t k, uint64_t max)
{
    const pl_case_arg *a = &c->launch->arg[k];
    const int width = cli_width(stdout);
    char element[64];
    int column = print_heading(c, k);
    uint64_t i = 0;
    for (; i < a->count && i < max; i++) {
        if (i % 4096 == 4095 && cli_stop != CLI_CONTINUE) {
            run_report_stop(c, "printing", k);
            break;
        }
        pl_case_element(c->launch, k, i, element, sizeof element);
        if (width && column + 1 + (int)strlen(element) > width) column = printf("\n    ") - 1;
        column += printf(" %s", element);
    }
    puts(a->count > i ? " ..." : "");
}

/* Prints the first few, on one line with the checksum. */
static void print_preview(const run_case *c, size_t k)
{
    enum { SUFFIX = 4 + 26 }; /* columns of the ellipsis and the checksum */
    const pl_case_arg *a = &c->launch->arg[k];
    const int width = cli_width(stdout);
    char hex[65], element[64];
    uint64_t i = 0;
    int column = print_heading(c, k);
    for (; i < a->count && i < SHOWN_ELEMENTS; i++) {
        pl_case_element(c->launch, k, i, element, sizeof element);
        if (width && i && column + 1 + (int)strlen(element) > width - SUFFIX) break;
        column += printf(" %s", element);
    }
    if (!run_hash(c, k, hex)) strcpy(hex, "not computed");
    const char *ellipsis = a->count > i ? " ..." : "";
    const bool fits = width == 0 || column + (int)strlen(ellipsis) + 26 <= width;
    printf("%s%*ssha256 %.16s\n",
           fits        ? ellipsis
           : *ellipsis ? " ...\n"
                       : "\n",
           fits ? 3 : 14, "", hex);
}

static void print_output(const run_case *c, size_t k, uint64_t elements)
{
    const pl_case_arg *a = &c->launch->arg[k];
    if (a->whole || elements)
        print_elements(c, k, a->whole ? UINT64_MAX : elements);
    else
        print_preview(c, k);
    if (a->save && c->saved) {
        fputs("              saved as ", stdout);
        cli_print(stdout, a->save, strlen(a->save));
        putchar('\n');
    }
}

/* Prints a row of the cost of a launch: on a narrow terminal it is wrapped below its value. */
static void print_row(const char *label, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void print_row(const char *label, const char *format, ...)
{
    enum { VALUE_COLUMN = 25 };
    char value[256], line[320];
    va_list ap;
    va_start(ap, format);
    vsnprintf(value, sizeof value, format, ap);
    va_end(ap);
    snprintf(line, sizeof line, "  %-22s %s\n", label, value);
    cli_put_wrapped(stdout, line, cli_width(stdout), VALUE_COLUMN);
}

static void print_hit_rate(const run_case *c, const char *label, const char *hits,
                           const char *total)
{
    double h = run_counter(c, hits), n = run_counter(c, total);
    char text[32];
    if (h >= 0 && n > 0)
        print_row(label, "%5.1f %% of %s sectors", 100 * h / n, run_grouped((uint64_t)n, text));
}

/* Prints the progress of a launch that did not complete. Rates of an incomplete launch have no
 * meaning. */
static void print_incomplete(const run_case *c)
{
    const pl_result *r = &c->result;
    char a[32], b[32], cycles[48] = "";
    if (c->mode == PL_MODE_TIMING)
        snprintf(cycles, sizeof cycles, "%s cycles, ", run_grouped(r->cycles, a));
    print_row("stopped after", "%s%s instructions (%s thread instructions)", cycles,
              run_grouped(r->inst_executed, a), run_grouped(r->thread_inst_executed, b));
}

static void print_cost(const run_case *c)
{
    const pl_result *r = &c->result;
    char a[32], b[32], d[32];
    if (c->status != PL_OK) {
        print_incomplete(c);
    } else if (c->mode == PL_MODE_TIMING) {
        print_row("cycles", "%s", run_grouped(r->cycles, a));
        double ipc = r->cycles ? (double)r->inst_executed / (double)r->cycles : 0;
        print_row("instructions", "%s   (%.2f per cycle on the whole GPU; %s thread instructions)",
                  run_grouped(r->inst_executed, a), ipc, run_grouped(r->thread_inst_executed, b));
        double achieved = run_counter(c, "sm__warps_active.avg.pct_of_peak_sustained_active");
        char part[32] = "";
        if (achieved >= 0) snprintf(part, sizeof part, ", %.0f %% achieved", achieved);
        print_row("occupancy", "%.0f %% theoretical%s", 100 * r->theoretical_occupancy, part);
        print_hit_rate(c, "L1 hits", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
                       "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum");
        print_hit_rate(c, "L2 hits", "lts__t_sectors_srcunit_tex_lookup_hit.sum",
                       "lts__t_sectors_srcunit_tex.sum");
        double other = run_counter(c, "ptxloom__l2_sectors_other.sum"),
               code = run_counter(c, "ptxloom__dram_sectors_code.sum");
        if (other > 0)
            print_row("L2, other", "%s sectors: code, constants, L2 partitions, launch overhead",
                      run_grouped((uint64_t)other, a));
        double in = run_counter(c, "dram__sectors_read.sum"),
               out = run_counter(c, "dram__sectors_write.sum");
        if (in >= 0 && out >= 0)
            print_row("DRAM",
                      code > 0 ? "%s bytes read (%s of them code), %s written"
                               : "%s bytes read%.0s, %s written",
                      run_grouped((uint64_t)in * 32, a),
                      run_grouped(code > 0 ? (uint64_t)code * 32 : 0, d),
                      run_grouped((uint64_t)out * 32, b));
    } else {
        print_row("instructions", "%s   (%s thread instructions)", run_grouped(r->inst_executed, a),
                  run_grouped(r->thread_inst_executed, b));
    }
    const uint32_t shared = r->static_shared + r->dynamic_shared;
    print_row("resources",
              "%u register%s and %u byte%s local per thread, %u byte%s shared per block",
              r->registers, pl_plural(r->registers), r->local_bytes, pl_plural(r->local_bytes),
              shared, pl_plural(shared));
    print_row("emulated in", "%.3f s", r->wall_seconds);
}

/* Prints the metrics of --metrics. On a narrow terminal the name column is as wide as the longest
 * name. */
static void print_metrics(const run_case *c)
{
    enum { NAMES = 66, VALUES = 30 };
    const int width = cli_width(stdout);
    int names = width && width < NAMES + VALUES ? 0 : NAMES;
    for (size_t i = 0; names < NAMES && i < c->nmetrics; i++) {
        int n = (int)strlen(c->metric[i].name);
        if (n > names) names = n < NAMES ? n : NAMES;
    }
    for (size_t i = 0; i < c->nmetrics; i++) {
        const pl_metric *m = &c->metric[i];
        char line[400];
        if (m->known)
            snprintf(line, sizeof line, "  %-*s %.10g %s\n", names, m->name, m->value, m->unit);
        else
            snprintf(line, sizeof line, "  %-*s -\n", names, m->name);
        cli_put_wrapped(stdout, line, width, 4);
    }
}

/* Prints the kernel's output. On a terminal, control characters are removed, since the program came
 * from a file. */
static void print_kernel_output(const char *text)
{
    if (isatty(STDOUT_FILENO))
        cli_print_lines(stdout, text, strlen(text));
    else
        fputs(text, stdout);
}

/* Prints how to see more. A stopped run has no trace. */
static void print_hint(const run_case *c, const run_style *style)
{
    const bool stopped = c->status == PL_INTERRUPTED;
    char hint[300] = "no trace: the run was stopped before its end\n";
    if (stopped && !style->trace) return;
    if (!stopped)
        snprintf(hint, sizeof hint,
                 style->trace ? "for details: ptxloom query %s summary, or any SQLite client\n"
                              : "for details: add --trace run.db, then ptxloom query run.db, or "
                                "any SQLite client\n",
                 style->trace);
    cli_put_wrapped(stdout, hint, cli_width(stdout), 2);
}

/* Prints the first line of a result; on a terminal it is wrapped. */
static void print_head(const char *bold, const char *entry, const char *plain, const char *machine,
                       const char *shape)
{
    const size_t size = strlen(entry) + strlen(machine) + strlen(shape) + 32;
    char *line = malloc(size);
    if (!line) {
        cli_no_memory();
        return;
    }
    snprintf(line, size, "%s%s%s on %s%s", bold, entry, plain, machine, shape);
    cli_put_wrapped(stdout, line, cli_width(stdout), 4);
    free(line);
}

void run_text(const run_case *c, const run_style *style)
{
    const char *bold = style->colour ? "\033[1m" : "", *plain = style->colour ? "\033[0m" : "";
    char name[256];
    if (c->printed) print_kernel_output(c->printed);
    if (style->brief) {
        if (style->one_of_many)
            run_summary_line(c);
        else
            run_summary(c, style);
        return;
    }
    if (!c->launched) {
        printf("%s%s%s: not run (%s)\n", bold, cli_printable(name, sizeof name, c->name), plain,
               c->status == PL_INVALID ? "invalid input" : run_status_word(c));
        return;
    }
    char shape[160];
    snprintf(shape, sizeof shape, " (%s): %s, grid %u,%u,%u block %u,%u,%u\n",
             c->mode == PL_MODE_TIMING ? "timing" : "functional", run_status_word(c), c->grid[0],
             c->grid[1], c->grid[2], c->block[0], c->block[1], c->block[2]);
    print_head(bold, c->entry, plain, c->arch, shape);
    for (size_t k = 0; k < c->launch->nargs; k++) {
        if (c->launch->arg[k].output && c->launch->arg[k].address)
            print_output(c, k, style->elements);
    }
    print_cost(c);
    print_metrics(c);
    print_hint(c, style);
}
