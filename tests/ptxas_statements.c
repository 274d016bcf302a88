/* ptxas_statements.c - accepts and rejects the same statements as ptxas.
 *
 * tests/data/ptxas holds some 40,000 statements with the verdict of ptxas 13.0, each for one
 * .version and .target. Those of statements.tsv and targets.tsv are inserted in frame.ptx at the
 * line @STATEMENT@. Those of generated.tsv, generated from the instruction table by
 * tests/fuzz/generate, use the frame written by grammar_frame(). Known disagreements are listed in
 * disagreements.tsv; the actual ones must match that list exactly. `tests/ptxas_statements --list`
 * prints the actual list. `tests/ptxas_statements FILE` prints verdicts for the rows of a file
 * (version, target, statement), for tools/ptxas/judge.py. */
#include "ptxloom.h"
#include "tests/fuzz/grammar.h"
#include "tests/harness.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_PER_GPU 500 /* diagnostics have the lifetime of their pl_gpu */
#define SHOWN        40

typedef struct frame {
    char *text;
    size_t size;
} frame;

/* Replaces every `from` in f by `to`. */
static void replace(frame *f, const char *from, const char *to)
{
    for (char *at = f->text; (at = strstr(at, from)) != NULL;) {
        size_t before = (size_t)(at - f->text), nfrom = strlen(from), nto = strlen(to);
        char *bigger = malloc(f->size + nto + 1);
        if (!bigger) exit(EXIT_FAILURE);
        memcpy(bigger, f->text, before);
        memcpy(bigger + before, to, nto);
        memcpy(bigger + before + nto, at + nfrom, f->size - before - nfrom + 1);
        free(f->text);
        f->text = bigger;
        f->size += nto - nfrom;
        at = bigger + before + nto;
    }
}

/* The module around a statement; without a pattern, the frame of generated statements. */
static frame make_module(const frame *pattern, const char *version, const char *target,
                         const char *statement)
{
    char line[128];
    if (!pattern) {
        grammar g = {0};
        grammar_frame(&g, (unsigned)(strtod(version, NULL) * 10 + 0.5), target);
        grammar_add(&g, "%s\nL9: ret;\n}\n", statement);
        return (frame){g.at, g.n};
    }
    frame f = {malloc(pattern->size + 1), pattern->size};
    if (!f.text) exit(EXIT_FAILURE);
    memcpy(f.text, pattern->text, pattern->size + 1);
    snprintf(line, sizeof line, ".version %s", version);
    replace(&f, ".version 9.0", line);
    snprintf(line, sizeof line, ".target %s", target);
    replace(&f, ".target sm_90a", line);
    if (strtod(version, NULL) < 8.25) replace(&f, " .reg .b128 %rq<10>;", "");
    replace(&f, "@STATEMENT@", statement);
    return f;
}

/* The text of a row without line breaks, "version\ttarget\taccepted\tstatement". */
static const char *key_of(const char *which, const char *version, const char *target,
                          const char *verdict, const char *statement, char *buffer, size_t size)
{
    snprintf(buffer, size, "%s\t%s\t%s\t%s\t%s", which, version, target, verdict, statement);
    return buffer;
}

static int compare_strings(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

typedef struct known {
    char **row;
    size_t n, used;
} known;

static known read_known(void)
{
    char *path = data_path("ptxas/disagreements.tsv"), *text = read_whole(path, NULL);
    known k = {0};
    free(path);
    size_t cap = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        if (*line == '#') continue;
        if (k.n == cap) k.row = realloc(k.row, (cap = cap * 2 + 256) * sizeof *k.row);
        if (!k.row) exit(EXIT_FAILURE);
        k.row[k.n++] = line;
    }
    if (k.n > 0) qsort(k.row, k.n, sizeof *k.row, compare_strings);
    return k; /* the text remains allocated until exit */
}

static void check_table(const char *which, const frame *pattern, known *k, bool list)
{
    char name[64], key[4096];
    snprintf(name, sizeof name, "ptxas/%s.tsv.xz", which);
    char *path = data_path(name);
    table t = table_read(path);
    free(path);
    bool by_target = strcmp(which, "statements") != 0;
    size_t statement = table_column(&t, "statement"), accepted = table_column(&t, "accepted");
    size_t version = by_target ? table_column(&t, "version") : 0,
           target = by_target ? table_column(&t, "target") : 0;
    size_t total[2] = {0}, agreed[2] = {0}, surprises = 0;
    pl_gpu *gpu = NULL;
    for (size_t i = 0; i < t.rows; i++) {
        const char *v = by_target ? t.row[i][version] : "9.0",
                   *g = by_target ? t.row[i][target] : "sm_90a";
        bool expected = t.row[i][accepted][0] == '1';
        frame f = make_module(pattern, v, g, t.row[i][statement]);
        if (i % ROWS_PER_GPU == 0) {
            if (gpu) pl_gpu_close(gpu);
            if (pl_gpu_open(&gpu, "h200") != PL_OK) exit(EXIT_FAILURE);
        }
        pl_load_options o = {.opt_level = 2, .check_only = true};
        pl_module *m = NULL;
        bool agrees =
            (pl_module_load(gpu, "frame.ptx", f.text, f.size, &o, &m) == PL_OK) == expected;
        free(f.text);
        total[expected]++;
        agreed[expected] += agrees;
        const char *row =
            key_of(which, v, g, t.row[i][accepted], t.row[i][statement], key, sizeof key);
        bool listed = k->n > 0 && bsearch(&row, k->row, k->n, sizeof *k->row, compare_strings);
        k->used += listed && !agrees;
        if (list && !agrees) puts(row);
        if (!list && agrees == listed && surprises++ < SHOWN) {
            if (listed)
                tap_note("agrees now, remove it from the list: %s", row);
            else
                tap_note(
                    "wrongly %s: %s%s%s", expected ? "refused" : "taken", row, expected ? ": " : "",
                    expected && pl_gpu_diag_count(gpu) > 0 ? pl_gpu_diag(gpu, 0, false).text : "");
        }
        pl_gpu_diag_clear(gpu);
    }
    if (gpu) pl_gpu_close(gpu);
    if (!list) {
        tap(surprises == 0,
            "%s: %zu of %zu accepted and %zu of %zu rejected as by ptxas, the others are listed",
            which, agreed[1], total[1], agreed[0], total[0]);
    }
    table_free(&t);
}

/* Prints a verdict for each row of a file, with the first message: "1<TAB>" or "0<TAB>message". */
static int judge(const char *path)
{
    char *text = read_whole(path, NULL);
    pl_gpu *gpu = NULL;
    size_t rows = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char *target = strchr(line, '\t'), *statement = target ? strchr(target + 1, '\t') : NULL;
        if (!statement) {
            fprintf(stderr, "%s: a row is version, target, statement\n", path);
            return EXIT_FAILURE;
        }
        *target++ = *statement++ = '\0';
        if (rows++ % ROWS_PER_GPU == 0) {
            if (gpu) pl_gpu_close(gpu);
            if (pl_gpu_open(&gpu, "h200") != PL_OK) exit(EXIT_FAILURE);
        }
        frame f = make_module(NULL, line, target, statement);
        pl_load_options o = {.opt_level = 2, .check_only = true};
        pl_module *m = NULL;
        bool good = pl_module_load(gpu, "frame.ptx", f.text, f.size, &o, &m) == PL_OK;
        printf("%d\t%s\n", good,
               good || !pl_gpu_diag_count(gpu) ? "" : pl_gpu_diag(gpu, 0, false).text);
        free(f.text);
        pl_gpu_diag_clear(gpu);
    }
    if (gpu) pl_gpu_close(gpu);
    free(text);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    bool list = argc == 2 && strcmp(argv[1], "--list") == 0;
    if (argc == 2 && !list) return judge(argv[1]);
    char *path = data_path("ptxas/frame.ptx");
    frame pattern;
    pattern.text = read_whole(path, &pattern.size);
    free(path);
    known k = read_known();
    if (list) puts("#table\tversion\ttarget\taccepted\tstatement");
    check_table("statements", &pattern, &k, list);
    check_table("targets", &pattern, &k, list);
    check_table("generated", NULL, &k, list);
    free(pattern.text);
    if (list) return EXIT_SUCCESS;
    tap(k.used == k.n, "every listed disagreement (%zu) belongs to a row", k.n);
    free(k.row);
    return tap_done();
}
