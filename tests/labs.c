/* labs.c - runs the labs (labs/README.md) and checks the rows of their tables, labs/rows.tsv.
 *
 * A row compares a quantity of one or several runs (labs/runs.tsv) with a value. EXACT rows follow
 * from addresses and shapes alone and must match exactly; REL rows state an ordering. A row whose
 * state is "fail" must fail, so that a fixed defect is removed from the table. doc/labs.md lists
 * all rows; --update regenerates that list. Rows of long runs, marked with "accuracy" in
 * labs/runs.tsv, are checked with --all (make accuracy) only. */
#include "base/sha256.h"
#include "tests/harness.h"
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct lab_run {
    const char *name, *machine, *command;
    bool late; /* excluded from make check */
    bool done;
    int status;
    json_t *result;
    char *messages; /* standard error */
} lab_run;

typedef struct lab_set {
    table runs, rows, missing;
    lab_run *run;
    bool all;          /* includes the late runs */
    bool left_out;     /* the quantity being evaluated needs an excluded run */
    const char *wrong; /* description of the error */
} lab_set;

static const struct {
    const char *word, *metric;
} names[] = {{"ld_req", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"},
             {"ld_sec", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"},
             {"st_req", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"},
             {"st_sec", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"},
             {"gld_eff", "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct"},
             {"gst_eff", "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct"},
             {"divergent", "smsp__sass_branch_targets_threads_divergent.sum"},
             {"sh_ld", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"},
             {"sh_st", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"},
             {"sh_req", "smsp__sass_inst_executed_op_shared_ld.sum"},
             {"dram_read", "dram__bytes_read.sum"},
             {"inst", "smsp__inst_executed.sum"},
             {"warps", "smsp__warps_launched.sum"},
             {"limit_warps", "launch__occupancy_limit_warps"},
             {"limit_blocks", "launch__occupancy_limit_blocks"},
             {"limit_shared", "launch__occupancy_limit_shared_mem"}};

static char *lab_path(const char *file)
{
    const char *dir = getenv("srcdir");
    char *path = malloc(strlen(dir ? dir : ".") + strlen(file) + 16);
    if (!path) exit(EXIT_FAILURE);
    sprintf(path, "%s/%s", dir ? dir : ".", file);
    return path;
}

static table lab_table(const char *file)
{
    char *path = lab_path(file);
    table t = table_read(path);
    free(path);
    return t;
}

/* --- runs --- */

static void carry_out(lab_run *r)
{
    enum { MOST = 40 };
    const char *argv[MOST + 8] = {loom_path(), "run"};
    char *words = malloc(strlen(r->command) + 1), *path = NULL;
    size_t n = 2;
    if (!words) exit(EXIT_FAILURE);
    strcpy(words, r->command);
    for (char *w = strtok(words, " "); w && n < MOST; w = strtok(NULL, " ")) {
        if (n == 2) {
            char file[256];
            snprintf(file, sizeof file, "labs/%s", w);
            w = path = lab_path(file);
        }
        argv[n++] = w;
    }
    argv[n++] = "--arch";
    argv[n++] = r->machine;
    argv[n++] = "--json";
    argv[n] = NULL;
    run_result out = run_command(argv, 120);
    json_t *document = json_loads(out.out ? out.out : "", 0, NULL);
    r->result = json_incref(json_array_get(json_object_get(document, "cases"), 0));
    r->status = out.status;
    r->done = true;
    r->messages = out.err;
    out.err = NULL;
    json_decref(document);
    run_free(&out);
    free(path);
    free(words);
}

static lab_run *find_run(lab_set *x, const char *name, size_t n)
{
    for (size_t k = 0; k < x->runs.rows; k++) {
        lab_run *r = &x->run[k];
        if (strlen(r->name) != n || memcmp(r->name, name, n) != 0) continue;
        x->left_out |= r->late && !x->all;
        if (x->left_out) break;
        if (!r->done) carry_out(r);
        return r;
    }
    x->wrong = "no such run";
    return NULL;
}

/* --- quantities: numbers, RUN.NAME, + - * / and parentheses --- */

static double residence(const json_t *metrics)
{
    const char *key;
    json_t *v;
    double least = INFINITY;
    json_object_foreach((json_t *)metrics, key, v)
    {
        if (strncmp(key, "launch__occupancy_limit", 23) == 0 && json_number_value(v) < least)
            least = json_number_value(v);
    }
    return least;
}

static double figure(lab_set *x, const lab_run *r, const char *name)
{
    const json_t *metrics = json_object_get(r->result, "metrics"), *v = NULL;
    if (strcmp(name, "status") == 0) return r->status;
    if (strcmp(name, "resident") == 0) return residence(metrics);
    if (strcmp(name, "cycles") == 0 || strcmp(name, "shared") == 0)
        v = json_object_get(r->result, name);
    for (size_t k = 0; k < sizeof names / sizeof *names && !v; k++) {
        if (strcmp(name, names[k].word) == 0) v = json_object_get(metrics, names[k].metric);
    }
    if (!v) x->wrong = "the run has no such figure";
    return json_number_value(v);
}

static double sum(lab_set *x, const char **at);

static double factor(lab_set *x, const char **at)
{
    const char *p = *at;
    if (*p == '(') {
        *at = p + 1;
        double v = sum(x, at);
        if (**at == ')')
            ++*at;
        else
            x->wrong = "a parenthesis is missing";
        return v;
    }
    if (*p >= '0' && *p <= '9') {
        char *end;
        double v = strtod(p, &end);
        *at = end;
        return v;
    }
    size_t n = strcspn(p, ".+-*/() "), m = p[n] == '.' ? strcspn(p + n + 1, "+-*/() ") : 0;
    char name[128];
    lab_run *r = m && m < sizeof name ? find_run(x, p, n) : NULL;
    if (!r) {
        if (!x->wrong) x->wrong = "not a quantity";
        return 0;
    }
    memcpy(name, p + n + 1, m);
    name[m] = '\0';
    *at = p + n + 1 + m;
    return figure(x, r, name);
}

static double product(lab_set *x, const char **at)
{
    double v = factor(x, at);
    while (!x->wrong && (**at == '*' || **at == '/')) {
        char op = *(*at)++;
        double w = factor(x, at);
        v = op == '*' ? v * w : v / w;
    }
    return v;
}

static double sum(lab_set *x, const char **at)
{
    double v = product(x, at);
    while (!x->wrong && (**at == '+' || **at == '-')) {
        char op = *(*at)++;
        double w = product(x, at);
        v = op == '+' ? v + w : v - w;
    }
    return v;
}

static double quantity(lab_set *x, const char *text)
{
    const char *at = text;
    double v = sum(x, &at);
    if (*at && !x->wrong) x->wrong = "unexpected text after the quantity";
    return v;
}

/* --- rows --- */

/* True if output number k of the run holds the values of "list TYPE V V ...", bit for bit. */
static bool holds(const lab_run *r, int k, const char *list)
{
    char type[8], hex[65];
    int used = 0;
    if (sscanf(list, "list %7s%n", type, &used) != 1) return false;
    pl_sha256 h;
    pl_sha256_init(&h);
    for (const char *p = list + used; *p;) {
        char *end;
        double v = strtod(p, &end);
        if (end == p) break;
        p = end;
        int32_t i = (int32_t)v;
        float f = (float)v;
        if (type[0] != 'f')
            pl_sha256_add(&h, &i, sizeof i);
        else if (strcmp(type, "f64") == 0)
            pl_sha256_add(&h, &v, sizeof v);
        else
            pl_sha256_add(&h, &f, sizeof f);
    }
    pl_sha256_hex(&h, hex);
    size_t i;
    json_t *o;
    json_array_foreach(json_object_get(r->result, "outputs"), i, o)
    {
        const char *sum = json_string_value(json_object_get(o, "sha256"));
        if (json_integer_value(json_object_get(o, "arg")) == k) return sum && strcmp(sum, hex) == 0;
    }
    return false;
}

/* Number of times that the run printed a text or reported it in a message. */
static double count(const lab_run *r, const char *text, size_t n)
{
    double found = 0;
    const char *const place[] = {json_string_value(json_object_get(r->result, "printed")),
                                 r->messages};
    for (size_t k = 0; k < sizeof place / sizeof *place; k++)
        for (const char *p = place[k]; p && *p; p++) found += strncmp(p, text, n) == 0;
    return found;
}

/* Equal to the precision of the written value. */
static bool equal(double v, const char *value)
{
    const char *dot = strchr(value, '.');
    double unit = dot ? pow(10, -(double)strlen(dot + 1)) / 2 : 0;
    return fabs(v - strtod(value, NULL)) <= unit + 1e-9;
}

static bool true_row(lab_set *x, char *const *cell, double *got)
{
    const char *q = cell[3], *relation = cell[4], *value = cell[5], *dot = strchr(q, '.'),
               *open = strchr(q, '(');
    x->wrong = NULL;
    x->left_out = false;
    *got = 0;
    if (dot && strncmp(dot, ".count(", 7) == 0) {
        const lab_run *r = find_run(x, q, (size_t)(dot - q));
        if (r) *got = count(r, open + 1, strlen(open + 1) - 1);
        return r && equal(*got, value);
    }
    if (strncmp(value, "list", 4) == 0) {
        const lab_run *r = dot ? find_run(x, q, (size_t)(dot - q)) : NULL;
        return r && strncmp(dot, ".out", 4) == 0 && holds(r, atoi(dot + 4), value);
    }
    *got = quantity(x, q);
    if (x->wrong) return false;
    if (strcmp(relation, "=") == 0) return equal(*got, value);
    if (strcmp(relation, "in") == 0) {
        double low = 0, high = 0;
        return sscanf(value, "%lf %lf", &low, &high) == 2 && *got >= low && *got <= high;
    }
    double other = quantity(x, value);
    if (x->wrong) return false;
    return relation[0] == '<' ? *got < other : relation[0] == '>' && *got > other;
}

static void judge(lab_set *x, char *const *cell)
{
    double got;
    bool ok = true_row(x, cell, &got), listed = strcmp(cell[6], "fail") == 0;
    if (x->left_out) return;
    tap(ok != listed && !x->wrong, "%s %s %s: %s%s", cell[0], cell[1], cell[2], cell[7],
        listed ? " (known to fail)" : "");
    if (x->wrong)
        tap_note("%s: %s", cell[3], x->wrong);
    else if (ok == listed)
        tap_note("%s is %.6g; wanted: %s %.60s%s", cell[3], got, cell[4], cell[5],
                 listed ? ": remove the row's state fail" : "");
}

/* --- doc/labs.md --- */

static bool same_group(char *const *a, char *const *b)
{
    return !strcmp(a[0], b[0]) && !strcmp(a[1], b[1]) && !strcmp(a[2], b[2]);
}

/* The list between the marks of doc/labs.md, in a newly allocated buffer. */
static char *inventory(const lab_set *x)
{
    char *text = NULL;
    size_t size, total[2][2] = {{0}};
    FILE *f = open_memstream(&text, &size);
    if (!f) exit(EXIT_FAILURE);
    fprintf(f, "| lab | source | kind | rows | met |\n| --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < x->rows.rows; i++) {
        char **cell = x->rows.row[i];
        size_t n = 0, good = 0, k = 0;
        while (k < i && !same_group(x->rows.row[k], cell)) k++;
        total[strcmp(cell[2], "REL") == 0][0]++;
        total[strcmp(cell[2], "REL") == 0][1] += strcmp(cell[6], "pass") == 0;
        if (k < i) continue; /* already listed */
        for (k = i; k < x->rows.rows; k++) {
            if (!same_group(x->rows.row[k], cell)) continue;
            n++;
            good += strcmp(x->rows.row[k][6], "pass") == 0;
        }
        fprintf(f, "| %s | %s | %s | %zu | %zu |\n", cell[0], cell[1], cell[2], n, good);
    }
    fprintf(f,
            "\nEXACT: %zu of %zu. REL: %zu of %zu.\n\n| left out | kind | why |\n| --- | "
            "--- | --- |\n",
            total[0][1], total[0][0], total[1][1], total[1][0]);
    for (size_t i = 0; i < x->missing.rows; i++) {
        char **cell = x->missing.row[i];
        fprintf(f, "| %s | %s | %s |\n", cell[0], cell[1], cell[2]);
    }
    fclose(f);
    return text;
}

static void check_page(const lab_set *x, bool update)
{
    static const char mark[] = "<!-- inventory -->\n";
    char *path = lab_path("doc/labs.md"), *list = inventory(x);
    size_t size;
    char *page = read_whole(path, &size), *from = strstr(page, mark);
    if (!from) {
        tap(false, "doc/labs.md has the inventory marks");
        return;
    }
    from += sizeof mark - 1;
    bool same = strcmp(from, list) == 0;
    if (update && !same) {
        FILE *f = fopen(path, "w");
        if (!f) exit(EXIT_FAILURE);
        fwrite(page, 1, (size_t)(from - page), f);
        fputs(list, f);
        fclose(f);
        same = true;
    }
    tap(same, "doc/labs.md lists the current rows");
    if (!same) tap_note("regenerate with tests/labs --update");
    free(page);
    free(list);
    free(path);
}

int main(int argc, char **argv)
{
    bool update = argc > 1 && strcmp(argv[1], "--update") == 0;
    lab_set x = {.runs = lab_table("labs/runs.tsv"),
                 .rows = lab_table("labs/rows.tsv"),
                 .missing = lab_table("labs/missing.tsv"),
                 .all = argc > 1 && strcmp(argv[1], "--all") == 0};
    x.run = calloc(x.runs.rows, sizeof *x.run);
    if (!x.run) return EXIT_FAILURE;
    for (size_t k = 0; k < x.runs.rows; k++)
        x.run[k] = (lab_run){.name = x.runs.row[k][0],
                             .machine = x.runs.row[k][1],
                             .late = strcmp(x.runs.row[k][2], "accuracy") == 0,
                             .command = x.runs.row[k][3]};
    for (size_t i = 0; i < x.rows.rows && !update; i++) judge(&x, x.rows.row[i]);
    check_page(&x, update);
    for (size_t k = 0; k < x.runs.rows; k++) {
        json_decref(x.run[k].result);
        free(x.run[k].messages);
    }
    free(x.run);
    table_free(&x.runs);
    table_free(&x.rows);
    table_free(&x.missing);
    return tap_done();
}
