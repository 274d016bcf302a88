/* cmd_diff.c - `ptxloom diff`: compares two runs of a kernel line by line. */
#include "cli/query.h"
#include "cli/stop.h"
#include "cli/terminal.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { O_LAUNCH, O_ALL, O_LIMIT, O_JSON, O_TIMEOUT, O_COUNT };
static const cli_option option[O_COUNT] = {
    [O_LAUNCH] = {"launch", 'l', "N", "compare launch N of A.db only"},
    [O_ALL] = {"all", 'a', NULL, "print all lines in program order, not only those that changed"},
    [O_LIMIT] = {"limit", 0, "N", "print at most N lines per launch (20)"},
    [O_JSON] = {"json", 0, NULL, "print one JSON object"},
    [O_TIMEOUT] = CLI_TIMEOUT,
};

typedef struct line {
    char *text;           /* owned */
    pl_line_cost side[2]; /* the cuda strings are owned */
    size_t order;
} line;

typedef struct comparison {
    pl_gpu *gpu;
    const char *path[2];
    sqlite3 *db[2];
    bool all, json, failed;
    uint64_t launch, limit;
    line *line; /* of one launch */
    size_t n, cap;
    int compared; /* number of launches so far */
} comparison;

static uint64_t cost(const pl_line_cost *c)
{
    return c->issues + c->stall_cycles;
}

/* Returns the absolute change of the line's cost in warp cycles. */
static uint64_t absolute_change(const line *x)
{
    uint64_t a = cost(&x->side[0]), b = cost(&x->side[1]);
    return a > b ? a - b : b - a;
}

static int by_change(const void *a, const void *b)
{
    const line *x = a, *y = b;
    uint64_t p = absolute_change(x), q = absolute_change(y);
    return p != q ? (p < q) - (p > q) : (x->order > y->order) - (x->order < y->order);
}

static bool differs(const line *x)
{
    const pl_line_cost *a = &x->side[0], *b = &x->side[1];
    return a->issues != b->issues || a->stall_cycles != b->stall_cycles ||
           a->sectors != b->sectors || a->conflicts != b->conflicts;
}

static void add_line(void *ctx, const char *text, const pl_line_cost *a, const pl_line_cost *b)
{
    comparison *c = ctx;
    if (c->n == c->cap) {
        size_t cap = c->cap ? 2 * c->cap : 256;
        line *grown = realloc(c->line, cap * sizeof *grown);
        if (!grown) {
            c->failed = true;
            return;
        }
        c->line = grown;
        c->cap = cap;
    }
    line *x = &c->line[c->n++];
    *x = (line){.text = strdup(text), .side = {*a, *b}, .order = c->n - 1};
    c->failed |= !x->text;
    for (int k = 0; k < 2; k++) {
        const char *cuda = x->side[k].cuda;
        x->side[k].cuda = cuda ? strdup(cuda) : NULL;
        c->failed |= cuda && !x->side[k].cuda;
    }
}

static void free_lines(comparison *c)
{
    for (size_t i = 0; i < c->n; i++) {
        free(c->line[i].text);
        for (int k = 0; k < 2; k++) free((char *)c->line[i].side[k].cuda);
    }
    c->n = 0;
}

/* ---- output ---- */

/* Data of a launch other than its lines. */
enum { NAME_SIZE = 128 };
typedef struct launch {
    int64_t id;
    char name[NAME_SIZE], entry[NAME_SIZE], status[NAME_SIZE];
    bool functional;
    int64_t cycles, instructions; /* cycles -1: functional mode */
} launch;

static int sql_failed(const comparison *c, int side)
{
    return cli_sql_failed(c->gpu, c->db[side],
                          "the file may be damaged: PRAGMA integrity_check shows it");
}

static void copy_text(char to[NAME_SIZE], sqlite3_stmt *s, int column)
{
    const char *text = (const char *)sqlite3_column_text(s, column);
    cli_printable(to, NAME_SIZE, text ? text : "");
}

static bool read_launch(sqlite3 *db, int64_t id, launch *out)
{
    sqlite3_stmt *s = NULL;
    bool found = false;
    *out = (launch){.id = id, .cycles = -1};
    if (sqlite3_prepare_v2(db,
                           "SELECT name, cycles, inst_executed, entry, coalesce(status, "
                           "'incomplete'), mode = 'functional' FROM kernel WHERE id = ?",
                           -1, &s, NULL) == SQLITE_OK) {
        sqlite3_bind_int64(s, 1, id);
        found = sqlite3_step(s) == SQLITE_ROW;
        if (found) {
            copy_text(out->name, s, 0);
            if (sqlite3_column_type(s, 1) != SQLITE_NULL) out->cycles = sqlite3_column_int64(s, 1);
            out->instructions = sqlite3_column_int64(s, 2);
            copy_text(out->entry, s, 3);
            copy_text(out->status, s, 4);
            out->functional = sqlite3_column_int(s, 5) != 0;
        }
    }
    sqlite3_finalize(s);
    return found;
}

/* Prints why figures of one side cannot be compared with those of the other. */
static void print_limits(const comparison *c, const launch *a, const launch *b, int width)
{
    for (int k = 0; k < 2; k++) {
        const launch *x = k ? b : a;
        char text[2 * NAME_SIZE + 100], path[NAME_SIZE];
        cli_printable(path, sizeof path, c->path[k]);
        if (strcmp(x->status, "ok") != 0)
            snprintf(text, sizeof text,
                     "  %s: status '%s', its figures cover the part before it stopped\n", path,
                     x->status);
        else if (x->functional && !(k ? a : b)->functional)
            snprintf(text, sizeof text, "  %s: functional mode, it has no cycles and no stalls\n",
                     path);
        else
            continue;
        cli_put_wrapped(stdout, text, width, 4);
    }
}

static void print_head(const comparison *c, const launch *a, const launch *b)
{
    if (c->compared) putchar('\n');
    printf("%s (%s)  ->  %s (%s)\n", a->name, c->path[0], b->name, c->path[1]);
    if (strcmp(a->entry, b->entry) != 0)
        printf("  two kernels, '%s' and '%s': lines with equal text are paired\n", a->entry,
               b->entry);
    char text[2 * NAME_SIZE + 100];
    const int width = cli_width(stdout);
    print_limits(c, a, b, width);
    if (a->cycles > 0 && b->cycles > 0) {
        double ratio = (double)b->cycles / (double)a->cycles;
        int n = snprintf(text, sizeof text,
                         "  cycles        %12" PRId64 "  ->  %-12" PRId64 "  %+.1f %%", a->cycles,
                         b->cycles, 100 * (ratio - 1));
        snprintf(text + n, sizeof text - (size_t)n,
                 ratio < 0.995   ? ", %.2f times as fast\n"
                 : ratio > 1.005 ? ", %.2f times as slow\n"
                                 : "\n",
                 ratio < 1 ? 1 / ratio : ratio);
        cli_put_wrapped(stdout, text, width, 16);
    }
    snprintf(text, sizeof text, "  instructions  %12" PRId64 "  ->  %-12" PRId64 "  %+.1f %%\n",
             a->instructions, b->instructions,
             a->instructions ? 100 * ((double)b->instructions - (double)a->instructions) /
                                   (double)a->instructions
                             : 0.0);
    cli_put_wrapped(stdout, text, width, 16);
}

/* Column widths of the table: numbers, their changes, and the PTX. */
typedef struct layout {
    int value, change, text;
    bool two_lines; /* sectors and PTX are on a separate line */
} layout;

static int count_digits(uint64_t n)
{
    int k = 1;
    while (n >= 10) n /= 10, k++;
    return k;
}

/* On a terminal, numbers get the width that they require, and the PTX gets the remainder. */
static layout compute_layout(const comparison *c, size_t n)
{
    enum { LINES = 13, PAIRS = 3, MIN_TEXT = 16 };
    const int width = cli_width(stdout);
    layout l = {.value = 9, .change = 10, .text = 1000};
    if (width == 0) return l;
    l.value = 7;
    l.change = 1;
    for (size_t i = 0; i < n; i++) {
        const pl_line_cost *a = &c->line[i].side[0], *b = &c->line[i].side[1];
        const uint64_t before[PAIRS] = {a->issues, a->stall_cycles, a->sectors},
                       after[PAIRS] = {b->issues, b->stall_cycles, b->sectors};
        for (int k = 0; k < PAIRS; k++) {
            int chars = before[k] == after[k]
                            ? 0
                            : 1 + count_digits(before[k] > after[k] ? before[k] - after[k]
                                                                    : after[k] - before[k]);
            if (count_digits(after[k]) > l.value) l.value = count_digits(after[k]);
            if (chars > l.change) l.change = chars;
        }
    }
    l.text = width - LINES - PAIRS * (l.value + l.change + 3) - 2;
    l.two_lines = l.text < MIN_TEXT;
    if (l.two_lines) l.text = width - 4 - (l.value + l.change + 3) - 2;
    if (l.text < MIN_TEXT) l.text = MIN_TEXT;
    return l;
}

/* "1234 +56": the new value and its difference from the old one. */
static void print_pair(const layout *l, uint64_t before, uint64_t after)
{
    char delta[32] = "";
    if (after != before) snprintf(delta, sizeof delta, "%+" PRId64, (int64_t)(after - before));
    printf("  %*" PRIu64 " %-*s", l->value, after, l->change, delta);
}

/* Prints the first characters of a line. */
static void put_prefix(const char *text, int max)
{
    size_t size = strlen(text), bytes = 0;
    char replacement;
    for (int n = 0; n < max && bytes < size; n++)
        bytes += pl_printable(text + bytes, size - bytes, &replacement);
    cli_print(stdout, text, bytes);
}

/* Prints the line and its source position. */
static void print_text(const layout *l, const line *x)
{
    const char *cuda = x->side[1].cuda ? x->side[1].cuda : x->side[0].cuda;
    int cuda_width = cuda ? (int)strlen(cuda) + 2 : 0,
        width = l->text > cuda_width + 12 ? l->text - cuda_width : l->text;
    fputs("  ", stdout);
    put_prefix(x->text, width);
    if (cuda)
        fputs(width < l->text ? "  " : "\n    ", stdout), cli_print(stdout, cuda, strlen(cuda));
    putchar('\n');
}

static void print_table(const comparison *c, size_t n)
{
    size_t changed = 0;
    for (size_t i = 0; i < c->n; i++) changed += differs(&c->line[i]);
    printf("  %zu of %zu line%s%s\n", changed, c->n, c->n == 1 ? " differs" : "s differ",
           n < changed ? "; the largest changes:" : "");
    if (n == 0) return;
    const layout l = compute_layout(c, n);
    printf("\n  %5s %5s  %*s %-*s  %*s %-*s%s  %*s %-*s  PTX\n", "was", "now", l.value, "issues",
           l.change, "", l.value, "stalls", l.change, "", l.two_lines ? "\n  " : "", l.value,
           "sectors", l.change, "");
    for (size_t i = 0; i < n; i++) {
        const line *x = &c->line[i];
        for (int k = 0; k < 2; k++) {
            if (x->side[k].line)
                printf("%s%5" PRIu32, k ? " " : "  ", x->side[k].line);
            else
                printf("%s    -", k ? " " : "  ");
        }
        print_pair(&l, x->side[0].issues, x->side[1].issues);
        print_pair(&l, x->side[0].stall_cycles, x->side[1].stall_cycles);
        if (l.two_lines) printf("\n  ");
        print_pair(&l, x->side[0].sectors, x->side[1].sectors);
        print_text(&l, x);
    }
}

static void json_launch(const char *key, const launch *l, const char *path)
{
    printf("\"%s\": {\"file\": ", key);
    query_json_text(stdout, path);
    printf(", \"launch\": %" PRId64 ", \"name\": ", l->id);
    query_json_text(stdout, l->name);
    if (l->cycles >= 0)
        printf(", \"cycles\": %" PRId64, l->cycles);
    else
        printf(", \"cycles\": null");
    printf(", \"inst_executed\": %" PRId64 "}", l->instructions);
}

static void json_side(const char *key, const pl_line_cost *s)
{
    printf(", \"%s\": ", key);
    if (s->line && s->cuda) {
        printf("{\"source\": ");
        query_json_text(stdout, s->cuda);
        printf(", ");
    } else if (s->line) {
        putchar('{');
    }
    if (s->line)
        printf("\"line\": %" PRIu32 ", \"issues\": %" PRIu64 ", \"stall_cycles\": %" PRIu64
               ", \"warp_cycles\": %" PRIu64 ", \"sectors\": %" PRIu64 ", \"conflicts\": %" PRIu64
               "}",
               s->line, s->issues, s->stall_cycles, cost(s), s->sectors, s->conflicts);
    else
        printf("null");
}

static void print_json(const comparison *c, const launch *a, const launch *b, size_t n)
{
    printf("%s\n {", c->compared ? "," : "");
    json_launch("a", a, c->path[0]);
    printf(", ");
    json_launch("b", b, c->path[1]);
    printf(", \"lines\": [");
    for (size_t i = 0; i < n; i++) {
        printf("%s\n  {\"text\": ", i ? "," : "");
        query_json_text(stdout, c->line[i].text);
        json_side("a", &c->line[i].side[0]);
        json_side("b", &c->line[i].side[1]);
        putchar('}');
    }
    printf("]}");
}

/* ---- launches ---- */

static int compare(comparison *c, int64_t id)
{
    launch a, b;
    int64_t partner = pl_trace_partner(c->db[0], id, c->db[1]);
    if (partner == -2) return cli_no_memory();
    if (partner < 0) return sql_failed(c, sqlite3_errcode(c->db[1]) == SQLITE_OK ? 0 : 1);
    if (partner == 0) return CLI_OK;
    if (!read_launch(c->db[0], id, &a)) return sql_failed(c, 0);
    if (!read_launch(c->db[1], partner, &b)) return sql_failed(c, 1);
    cli_busy("diff");
    pl_status st = pl_trace_diff(c->gpu, c->db[0], id, c->db[1], partner, add_line, c);
    cli_busy_end();
    if (st != PL_OK || c->failed) {
        free_lines(c);
        return st == PL_INTERRUPTED ? cli_stopped(c->gpu)
               : c->failed          ? cli_no_memory()
                                    : cli_status(st);
    }
    size_t n = c->n;
    if (!c->all && c->n) {
        qsort(c->line, c->n, sizeof *c->line, by_change);
        for (n = 0; n < c->n && n < c->limit && differs(&c->line[n]);) n++;
    }
    if (c->json) {
        print_json(c, &a, &b, n);
    } else {
        print_head(c, &a, &b);
        print_table(c, n);
    }
    c->compared++;
    free_lines(c);
    return CLI_OK;
}

static int compare_all(comparison *c)
{
    sqlite3_stmt *s = NULL;
    int status = CLI_OK;
    if (sqlite3_prepare_v2(c->db[0], "SELECT id FROM kernel WHERE ?1 = 0 OR id = ?1 ORDER BY id",
                           -1, &s, NULL) != SQLITE_OK)
        return sql_failed(c, 0);
    sqlite3_bind_int64(s, 1, (int64_t)c->launch);
    if (c->json) printf("{\"launches\": [");
    int code = SQLITE_ROW;
    while (status == CLI_OK && (code = sqlite3_step(s)) == SQLITE_ROW)
        status = compare(c, sqlite3_column_int64(s, 0));
    if (status == CLI_OK && code != SQLITE_DONE) status = sql_failed(c, 0);
    if (c->json) printf("]}\n");
    sqlite3_finalize(s);
    if (status == CLI_OK && c->compared == 0) {
        char number[24];
        snprintf(number, sizeof number, "%" PRIu64, c->launch);
        pl_gpu_report(c->gpu, "E0707", c->path[c->launch ? 0 : 1],
                      c->launch ? number : "to compare with", NULL, NULL);
        status = CLI_INPUT;
    }
    return status;
}

static int parse(comparison *c, cli_args *a)
{
    static const char usage[] = "ptxloom diff A.db B.db\n"
                                "Launches of the same entry are compared, the first with the "
                                "first, and so on; when B.db has "
                                "none of that entry,\nlaunches at the same place. Equal PTX lines "
                                "are paired; their numbers, those of registers and labels, and "
                                "constants may differ.\n";
    int k;
    while ((k = cli_next(a, option, O_COUNT)) != CLI_END) {
        switch (k) {
        case O_LAUNCH:
            if (!cli_number(a, "--launch", 1, INT64_MAX, &c->launch)) return CLI_INPUT;
            break;
        case O_LIMIT:
            if (!cli_number(a, "--limit", 1, 1000000, &c->limit)) return CLI_INPUT;
            break;
        case O_TIMEOUT:
            if (!cli_timeout(a)) return CLI_INPUT;
            break;
        case O_ALL: c->all = true; break;
        case O_JSON: c->json = true; break;
        case CLI_HELP: cli_help(usage, option, O_COUNT); return CLI_HELP;
        case CLI_OPERAND:
            if (c->path[1]) {
                pl_gpu_report(a->gpu, "E0010", a->value, "two other traces", NULL, NULL);
                return CLI_INPUT;
            }
            c->path[c->path[0] ? 1 : 0] = a->value;
            break;
        default: return CLI_INPUT;
        }
    }
    if (c->path[1]) return CLI_OK;
    pl_gpu_report(a->gpu, "E0007", "diff", "two traces", NULL, "ptxloom diff before.db after.db");
    return CLI_INPUT;
}

int cmd_diff(int argc, char **argv)
{
    comparison c = {.limit = 20};
    if (pl_gpu_open(&c.gpu, NULL) != PL_OK) return CLI_SYSTEM;
    cli_args a = {.gpu = c.gpu, .argc = argc, .argv = argv, .at = 1};
    int status = parse(&c, &a);
    for (int i = 0; i < 2 && status == CLI_OK; i++)
        status = cli_status(pl_trace_connect(c.gpu, c.path[i], &c.db[i]));
    for (int i = 0; i < 2 && status == CLI_OK; i++) cli_make_interruptible(c.db[i]);
    if (status == CLI_OK) status = compare_all(&c);
    if (status == CLI_HELP) status = CLI_OK;
    for (int i = 0; i < 2; i++) sqlite3_close(c.db[i]);
    free(c.line);
    cli_flush();
    cli_messages(c.gpu, 0);
    pl_gpu_close(c.gpu);
    return status;
}
