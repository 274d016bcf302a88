/* run_summary.c - `ptxloom run --summary`: the cost of a launch as tables and bars that fit 80
 * columns.
 *
 * Everything is computed from the result, so no trace is needed; a trace of the same launch
 * contains the same numbers. */
#include "cli/run.h"
#include "cli/terminal.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    BAR = 44,
    REASONS = 6,
    LINES = 6,
    TEXT_WIDTH = 44,
    MIN_WIDTH = 8,
    PREFIX = 36 /* columns before bars and PTX */
};

/* Returns the columns available for a bar or a line of PTX. */
static int available_width(int max)
{
    int width = cli_width(stdout);
    return width == 0 || width - PREFIX > max ? max
           : width - PREFIX < MIN_WIDTH       ? MIN_WIDTH
                                              : width - PREFIX;
}

/* Names of the reasons in Nsight Compute, by pl_stall. */
static const char *const reason_word[] = {
#define X(name, word, text) word,
    PL_STALLS(X)
#undef X
};

/* Prints a bar of BAR columns; block characters if the terminal uses UTF-8, else '#'. */
static void print_bar(double percent)
{
    static const char *const eighth[] = {"",
                                         "\xe2\x96\x8f",
                                         "\xe2\x96\x8e",
                                         "\xe2\x96\x8d",
                                         "\xe2\x96\x8c",
                                         "\xe2\x96\x8b",
                                         "\xe2\x96\x8a",
                                         "\xe2\x96\x89"};
    static const char *const variable[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *locale = NULL;
    for (int i = 0; i < 3 && (!locale || !*locale); i++) locale = getenv(variable[i]);
    bool utf8 = locale && (strstr(locale, "UTF-8") || strstr(locale, "utf8"));
    double max = available_width(BAR), length = percent < 0     ? 0
                                                : percent > 100 ? max
                                                                : percent / 100 * max;
    int full = (int)length, eighths = (int)((length - full) * 8);
    if (length > 0) fputs("  ", stdout);
    for (int i = 0; i < full; i++) fputs(utf8 ? "\xe2\x96\x88" : "#", stdout);
    if (utf8) fputs(eighth[eighths], stdout);
}

static void print_share(const char *label, double percent)
{
    printf("  %-22s %5.1f %%", label, percent);
    print_bar(percent);
    putchar('\n');
}

static void print_counter(const run_case *c, const char *label, const char *metric)
{
    double v = run_counter(c, metric);
    if (v >= 0) print_share(label, v);
}

static void print_hit_rate(const run_case *c, const char *label, const char *hits,
                           const char *total)
{
    double n = run_counter(c, hits), m = run_counter(c, total);
    if (n >= 0 && m > 0) print_share(label, 100 * n / m);
}

static void print_units(const run_case *c)
{
    const pl_result *r = &c->result;
    if (c->mode != PL_MODE_TIMING) return;
    print_counter(c, "issue slots, active", "smsp__issue_active.avg.pct_of_peak_sustained_active");
    print_share("occupancy, theoretical", 100 * r->theoretical_occupancy);
    print_counter(c, "occupancy, achieved", "sm__warps_active.avg.pct_of_peak_sustained_active");
    print_hit_rate(c, "L1 hits of loads",
                   "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
                   "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum");
    print_hit_rate(c, "L2 hits", "lts__t_sectors_srcunit_tex_lookup_hit.sum",
                   "lts__t_sectors_srcunit_tex.sum");
    print_counter(c, "DRAM busy", "dram__throughput.avg.pct_of_peak_sustained_elapsed");
}

/* ---- stalls ---- */

static void print_stalls(const run_case *c)
{
    uint64_t sum[PL_STALL_COUNT] = {0}, total = 0;
    char number[32];
    for (size_t pc = 0; pc < c->result.npc; pc++)
        for (int i = PL_STALL_NONE + 1; i < PL_STALL_COUNT; i++) {
            sum[i] += c->result.pc_stat[pc].stall[i];
            total += c->result.pc_stat[pc].stall[i];
        }
    if (total == 0) return;
    printf("\n  waiting, of %s cycles of all warps\n", run_grouped(total, number));
    for (int n = 0; n < REASONS; n++) {
        int largest = PL_STALL_NONE;
        for (int i = PL_STALL_NONE + 1; i < PL_STALL_COUNT; i++)
            if (sum[i] > (largest == PL_STALL_NONE ? 0 : sum[largest])) largest = i;
        if (largest == PL_STALL_NONE) return;
        print_share(reason_word[largest], 100.0 * (double)sum[largest] / (double)total);
        sum[largest] = 0;
    }
}

/* ---- lines ---- */

typedef struct line_cost {
    uint32_t line, bytes;
    const char *text; /* in the module's text */
    char cuda[64];    /* source position, or "" */
    uint64_t issues, stalls;
} line_cost;

static int by_line(const void *a, const void *b)
{
    const line_cost *x = a, *y = b;
    return (x->line > y->line) - (x->line < y->line);
}

static int by_cost(const void *a, const void *b)
{
    const line_cost *x = a, *y = b;
    uint64_t p = x->issues + x->stalls, q = y->issues + y->stalls;
    return p != q ? (p < q) - (p > q) : by_line(a, b);
}

/* Returns the PTX lines of the launch with their cost, most expensive first; *n: their number.
 * NULL: out of memory. */
static line_cost *line_costs(const run_case *c, size_t *n)
{
    line_cost *list = calloc(c->result.npc + 1, sizeof *list);
    size_t found = 0, merged = 0;
    for (size_t pc = 0; list && pc < c->result.npc; pc++) {
        const pl_pc_stat *s = &c->result.pc_stat[pc];
        if (s->executed == 0) continue;
        pl_listing l = pl_module_listing(c->module, (uint32_t)pc);
        line_cost *x = &list[found++];
        *x = (line_cost){
            .line = l.ptx_line, .text = l.ptx_text, .bytes = l.ptx_bytes, .issues = s->issues};
        snprintf(x->cuda, sizeof x->cuda, "%.*s", (int)sizeof x->cuda - 1, l.cuda);
        for (int i = PL_STALL_NONE + 1; i < PL_STALL_COUNT; i++) x->stalls += s->stall[i];
    }
    if (!list) return NULL;
    qsort(list, found, sizeof *list, by_line);
    for (size_t i = 0; i < found; i++) {
        if (merged && list[merged - 1].line == list[i].line) {
            list[merged - 1].issues += list[i].issues;
            list[merged - 1].stalls += list[i].stalls;
        } else {
            list[merged++] = list[i];
        }
    }
    qsort(list, merged, sizeof *list, by_cost);
    *n = merged;
    return list;
}

static void print_lines(const run_case *c)
{
    size_t n = 0;
    line_cost *list = line_costs(c, &n);
    if (n) printf("\n  %6s %11s %13s  %s\n", "line", "issues", "waiting", "PTX");
    for (size_t i = 0; i < n && i < LINES; i++) {
        char a[32], b[32], text[TEXT_WIDTH + 1];
        uint32_t from = 0, length = 0;
        const line_cost *x = &list[i];
        const int cuda_width = x->cuda[0] ? (int)strlen(x->cuda) + 2 : 0,
                  width = available_width(TEXT_WIDTH + cuda_width);
        const uint32_t max =
            width - cuda_width >= MIN_WIDTH ? (uint32_t)(width - cuda_width) : (uint32_t)width;
        while (from < x->bytes && (x->text[from] == ' ' || x->text[from] == '\t')) from++;
        for (; from + length < x->bytes && length < max && length < TEXT_WIDTH; length++) {
            char ch = x->text[from + length];
            if (ch == '/' && from + length + 1 < x->bytes && x->text[from + length + 1] == '/')
                break;
            text[length] = ch >= ' ' && ch < 127 ? ch : ' ';
        }
        while (length && text[length - 1] == ' ') length--;
        text[length] = '\0';
        printf("  %6" PRIu32 " %11s %13s  %s", x->line, run_grouped(x->issues, a),
               run_grouped(x->stalls, b), text);
        if (cuda_width) printf(width - cuda_width >= MIN_WIDTH ? "  %s" : "\n    %s", x->cuda);
        putchar('\n');
    }
    free(list);
}

void run_summary(const run_case *c, const run_style *style)
{
    const char *bold = style->colour ? "\033[1m" : "", *plain = style->colour ? "\033[0m" : "";
    const pl_result *r = &c->result;
    char a[32], name[256];
    printf("%s%s%s on %s: %s\n", bold, cli_printable(name, sizeof name, c->name), plain, c->arch,
           run_status_word(c));
    if (!c->launched) return;
    const uint32_t shared = r->static_shared + r->dynamic_shared;
    char shape[200];
    snprintf(shape, sizeof shape,
             "  %u x %u x %u blocks of %u x %u x %u threads, %u register%s, %u byte%s shared\n",
             c->grid[0], c->grid[1], c->grid[2], c->block[0], c->block[1], c->block[2],
             r->registers, pl_plural(r->registers), shared, pl_plural(shared));
    cli_put_wrapped(stdout, shape, cli_width(stdout), 4);
    bool complete = c->status == PL_OK;
    if (!complete)
        cli_put_wrapped(stdout,
                        "  the launch did not complete: counts until it stopped, and no rates\n",
                        cli_width(stdout), 4);
    if (c->mode == PL_MODE_TIMING)
        printf("  %-22s %s\n", complete ? "cycles" : "cycles until then",
               run_grouped(r->cycles, a));
    double lanes =
        r->inst_executed ? (double)r->thread_inst_executed / (double)r->inst_executed : 0;
    snprintf(shape, sizeof shape, "  %-22s %s   (%.1f lanes each)\n\n",
             complete ? "instructions" : "instructions until then",
             run_grouped(r->inst_executed, a), lanes);
    cli_put_wrapped(stdout, shape, cli_width(stdout), 25);
    if (complete) print_units(c);
    print_stalls(c);
    print_lines(c);
}

/* ---- several launches ---- */

/* Prints a row of the table of launches. A narrow terminal shortens the names. */
static void print_columns(const char *name, const char *status, const char *cycles,
                          const char *instructions, const char *ipc, const char *occupancy)
{
    enum { NAME = 22, OTHERS = 53 };
    const int width = cli_width(stdout);
    const int n = width == 0 || width - OTHERS > NAME ? NAME
                  : width - OTHERS < MIN_WIDTH        ? MIN_WIDTH
                                                      : width - OTHERS;
    char line[512];
    snprintf(line, sizeof line, "%-*.*s %-11s %12s %13s %7s %5s\n", n, n, name, status, cycles,
             instructions, ipc, occupancy);
    cli_put_wrapped(stdout, line, width, 2);
}

void run_summary_line(const run_case *c)
{
    char name[256], a[32] = "-", b[32] = "-", ipc[16] = "-", occupancy[16] = "-";
    bool timed = c->launched && c->mode == PL_MODE_TIMING && c->status == PL_OK;
    double achieved = run_counter(c, "sm__warps_active.avg.pct_of_peak_sustained_active");
    if (timed) run_grouped(c->result.cycles, a);
    if (c->launched) run_grouped(c->result.inst_executed, b);
    if (timed && c->result.cycles)
        snprintf(ipc, sizeof ipc, "%.2f",
                 (double)c->result.inst_executed / (double)c->result.cycles);
    if (timed && achieved >= 0) snprintf(occupancy, sizeof occupancy, "%.0f %%", achieved);
    print_columns(cli_printable(name, sizeof name, c->name), run_status_word(c), a, b, ipc,
                  occupancy);
}

void run_summary_head(void)
{
    print_columns("launch", "status", "cycles", "instructions", "a cycle", "warps");
}
