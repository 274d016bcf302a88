/* run_text.c - the results of `ptxloom run` for people: outputs first, then what the launch cost,
 * then where to look further. */
#include "cli/run.h"
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { SHOWN_ELEMENTS = 8 };

static void output(const run_case *c, size_t k)
{
    const pl_case_arg *a = &c->launch->arg[k];
    char hex[65], element[64];
    printf("  argument %-2zu %s[%" PRIu64 "] =", k + 1, a->type, a->count);
    for (uint64_t i = 0; i < a->count && i < SHOWN_ELEMENTS; i++) {
        pl_case_element(c->launch, k, i, element, sizeof element);
        printf(" %s", element);
    }
    pl_case_sha256(c->launch, k, hex);
    printf("%s   sha256 %.16s\n", a->count > SHOWN_ELEMENTS ? " ..." : "", hex);
    if (a->save && c->status == PL_OK) {
        fputs("              saved as ", stdout);
        cli_print(stdout, a->save, strlen(a->save));
        putchar('\n');
    }
}

double run_counter(const run_case *c, const char *name)
{
    for (size_t i = 0; i < c->result.ncounters; i++) {
        if (strcmp(c->result.counter[i].name, name) == 0) return c->result.counter[i].value;
    }
    return -1;
}

const char *run_grouped(uint64_t n, char buf[32])
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%" PRIu64, n), to = 0;
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0) buf[to++] = ',';
        buf[to++] = digits[i];
    }
    buf[to] = '\0';
    return buf;
}

static void hit_rate(const run_case *c, const char *label, const char *hits, const char *all)
{
    double h = run_counter(c, hits), n = run_counter(c, all);
    char text[32];
    if (h >= 0 && n > 0)
        printf("  %-22s %5.1f %% of %s sectors\n", label, 100 * h / n, run_grouped((uint64_t)n, text));
}

static void cost(const run_case *c)
{
    const pl_result *r = &c->result;
    char a[32], b[32];
    if (c->mode == PL_MODE_TIMING) {
        printf("  %-22s %s\n", "cycles", run_grouped(r->cycles, a));
        double ipc = r->cycles ? (double)r->inst_executed / (double)r->cycles : 0;
        printf("  %-22s %s   (%s thread instructions; %.2f a cycle on the whole GPU)\n",
               "instructions", run_grouped(r->inst_executed, a), run_grouped(r->thread_inst_executed, b),
               ipc);
        double achieved = run_counter(c, "sm__warps_active.avg.pct_of_peak_sustained_active");
        printf("  %-22s %.0f %% possible", "occupancy", 100 * r->theoretical_occupancy);
        if (achieved >= 0) printf(", %.0f %% achieved", achieved);
        printf("\n");
        hit_rate(c, "L1 hits", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
                 "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum");
        hit_rate(c, "L2 hits", "lts__t_sectors_lookup_hit.sum", "lts__t_sectors.sum");
        double in = run_counter(c, "dram__sectors_read.sum"),
               out = run_counter(c, "dram__sectors_write.sum");
        if (in >= 0 && out >= 0)
            printf("  %-22s %s bytes read, %s written\n", "DRAM", run_grouped((uint64_t)in * 32, a),
                   run_grouped((uint64_t)out * 32, b));
    } else {
        printf("  %-22s %s   (%s thread instructions)\n", "instructions",
               run_grouped(r->inst_executed, a), run_grouped(r->thread_inst_executed, b));
    }
    printf("  %-22s %u registers, %u bytes shared, %u bytes local\n", "a thread / a block",
           r->registers, r->static_shared + r->dynamic_shared, r->local_bytes);
    printf("  %-22s %.3f s\n", "emulated in", r->wall_seconds);
}

/* What --metrics asks for. */
static void metrics(const run_case *c)
{
    for (size_t i = 0; i < c->nmetrics; i++) {
        const pl_metric *m = &c->metric[i];
        if (m->known)
            printf("  %-66s %.10g %s\n", m->name, m->value, m->unit);
        else
            printf("  %-66s -\n", m->name);
    }
}

/* What the kernel printed is the output of a program; a terminal gets it without control characters all the same, as the program came
 * from a file. */
static void printed(const char *text)
{
    if (isatty(STDOUT_FILENO))
        cli_print_lines(stdout, text, strlen(text));
    else
        fputs(text, stdout);
}

void run_text(const run_case *c, const run_style *style)
{
    const char *bold = style->colour ? "\033[1m" : "", *plain = style->colour ? "\033[0m" : "";
    char name[256];
    if (c->printed) printed(c->printed);
    if (style->brief) {
        if (style->one_of_many)
            run_summary_line(c);
        else
            run_summary(c, style);
        return;
    }
    if (!c->launched) {
        printf("%s%s%s: %s\n", bold, cli_printable(name, sizeof name, c->name), plain, run_status_word(c->status));
        return;
    }
    printf("%s%s%s on %s (%s): %s, grid %u,%u,%u block %u,%u,%u\n", bold, c->entry, plain, c->arch,
           c->mode == PL_MODE_TIMING ? "timing" : "functional", run_status_word(c->status),
           c->grid[0], c->grid[1], c->grid[2], c->block[0], c->block[1], c->block[2]);
    for (size_t k = 0; k < c->launch->nargs; k++) {
        if (c->launch->arg[k].output && c->launch->arg[k].address) output(c, k);
    }
    cost(c);
    metrics(c);
    if (style->trace)
        printf("look further: ptxloom query %s summary, or any SQLite client\n", style->trace);
    else
        printf(
            "look further: add --trace run.db, then ptxloom query run.db, or any SQLite client\n");
}
