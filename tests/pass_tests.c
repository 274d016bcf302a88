/* pass_tests.c - data-driven tests of single passes of the assembler: tests/passes/PASS/NAME.ptx.
 *
 *     // RUN: --print-after=PASS      options of `ptxloom as` for this file; --verify-ir is always
 *       on. RUN: dis --arch h200 gives options of `ptxloom dis`
 *     // CHECK: TEXT                  the output has a line with this text, after the line matched
 *       by the previous CHECK
 *     // CHECK-NOT: TEXT              no line between the adjacent CHECKs has this text
 *     // CHECK-COUNT-3: TEXT          the output has exactly three lines with this text
 *     // CHECK-LABEL: TEXT            the checks up to the next label examine only the lines from
 *       the one with this text to the one with the next label's
 *
 * Runs of blanks count as one. `{{.*}}` in a TEXT matches any text, `{{ }}` a blank. A file needs
 * a RUN and at least one CHECK line. Arguments: only the files of these passes, or these files
 * (if_convert, if_convert/short_body).
 *
 * The folder defines the tests, and `ptxloom explain passes` the passes. Each pass has at least
 * two tests: one that it changes and one that it must not change. */
#include "tests/harness.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPTIONS = 16, MAX_LINES = 100000, COMMAND = 1 /* its index in the arguments */ };

/* Copies a line, collapsing runs of blanks and trimming both ends. */
static char *squeeze(const char *s, size_t n)
{
    char *out = malloc(n + 1);
    size_t m = 0;
    for (size_t k = 0; k < n; k++)
        if (!isspace((unsigned char)s[k]))
            out[m++] = s[k];
        else if (m && out[m - 1] != ' ')
            out[m++] = ' ';
    out[m - (m && out[m - 1] == ' ')] = 0;
    return out;
}

typedef struct lines {
    char **at;
    size_t n;
} lines;

static lines split(const char *text)
{
    lines l = {.at = calloc(MAX_LINES, sizeof *l.at)};
    while (*text && l.n < MAX_LINES) {
        const size_t n = strcspn(text, "\n");
        l.at[l.n++] = squeeze(text, n);
        text += n + (text[n] == '\n');
    }
    return l;
}

static void drop(lines *l)
{
    for (size_t k = 0; k < l->n; k++) free(l->at[k]);
    free(l->at);
}

/* The text after `word` in a comment line, or NULL. */
static const char *text_after(const char *line, const char *word)
{
    const size_t n = strlen(word);
    if (strncmp(line, "// ", 3) != 0 || strncmp(line + 3, word, n) != 0) return NULL;
    return line + 3 + n + (line[3 + n] == ' ');
}

/* True if the line contains the text; {{.*}} matches any text and {{ }} a blank. */
static bool matches(const char *line, const char *text)
{
    static const char any[] = "{{.*}}", blank[] = "{{ }}";
    const char *gap = strstr(text, any);
    char piece[1024];
    size_t n = 0;
    for (const char *s = text; *s && s != gap && n + 1 < sizeof piece;) {
        const bool is_blank = strncmp(s, blank, strlen(blank)) == 0;
        piece[n++] = is_blank ? ' ' : *s;
        s += is_blank ? strlen(blank) : 1;
    }
    piece[n] = 0;
    const char *at = strstr(line, piece);
    return at && (!gap || matches(at + n, gap + strlen(any)));
}

/* Returns the first line from `from` to `to` with the text; `to`: none. */
static size_t find(const lines *out, size_t from, size_t to, const char *text)
{
    while (from < to && !matches(out->at[from], text)) from++;
    return from;
}

typedef struct checker {
    const lines *out;
    size_t first, end;   /* the lines examined by the checks of this label */
    size_t at;           /* the line after the latest CHECK */
    const char *no[256]; /* CHECK-NOT since then */
    size_t nno, checks;
    const char *file;
    bool good;
} checker;

static void wrong(checker *c, const char *what, const char *text)
{
    if (c->good) tap_note("%s: %s '%s', after output line %zu", c->file, what, text, c->at);
    c->good = false;
}

/* Fails if a CHECK-NOT text occurs before output line `end`. */
static void check_absent(checker *c, size_t end)
{
    for (size_t k = 0; k < c->nno; k++)
        if (find(c->out, c->at, end, c->no[k]) < end) wrong(c, "there is a line with", c->no[k]);
    c->nno = 0;
}

/* The following checks examine the lines from this label to the next one. */
static void check_label(checker *c, const char *text, const char *next)
{
    check_absent(c, c->end);
    c->first = find(c->out, c->first, c->out->n, text);
    if (c->first == c->out->n) wrong(c, "there is no line with", text);
    c->at = c->first;
    c->end = next ? find(c->out, c->first, c->out->n, next) : c->out->n;
}

static void check_count(checker *c, const char *counted)
{
    char *end;
    const unsigned long want = strtoul(counted, &end, 10);
    const char *text = end + (*end == ':') + (end[0] == ':' && end[1] == ' ');
    unsigned long is = 0;
    for (size_t k = c->first; (k = find(c->out, k, c->end, text)) < c->end; k++) is++;
    if (is != want) wrong(c, is < want ? "fewer lines with" : "more lines with", text);
}

static void check_line(checker *c, const char *line)
{
    const char *text = text_after(line, "CHECK:"), *none = text_after(line, "CHECK-NOT:"),
               *counted = text_after(line, "CHECK-COUNT-");
    c->checks += text || none || counted;
    if (none && c->nno < sizeof c->no / sizeof *c->no) c->no[c->nno++] = none;
    if (counted) check_count(c, counted);
    if (!text) return;
    const size_t at = find(c->out, c->at, c->end, text);
    check_absent(c, at);
    if (at == c->end)
        wrong(c, "there is no line with", text);
    else
        c->at = at + 1;
}

/* The next label of the source after line k, or NULL. */
static const char *next_label(const lines *source, size_t k)
{
    const char *label = NULL;
    while (++k < source->n && !label) label = text_after(source->at[k], "CHECK-LABEL:");
    return label;
}

static void check_output(checker *c, const lines *source)
{
    c->end = c->out->n;
    for (size_t k = 0; k < source->n; k++) {
        const char *label = text_after(source->at[k], "CHECK-LABEL:");
        if (label)
            check_label(c, label, next_label(source, k));
        else
            check_line(c, source->at[k]);
    }
    check_absent(c, c->end);
}

static size_t read_options(const lines *source, const char **argv, size_t n)
{
    for (size_t k = 0; k < source->n; k++) {
        const char *run = text_after(source->at[k], "RUN:");
        if (!run) continue;
        for (char *word = strtok(strdup(run), " "); word && n < MAX_OPTIONS;
             word = strtok(NULL, " "))
            if (strcmp(word, "dis") == 0)
                argv[COMMAND] = word;
            else
                argv[n++] = word;
        return n;
    }
    return n;
}

static void test_file(const char *path, const char *name)
{
    char *text = read_whole(path, NULL);
    lines source = split(text);
    const char *argv[MAX_OPTIONS + 1] = {loom_path(), "as", path, "--verify-ir"};
    const size_t fixed = 4, n = read_options(&source, argv, fixed);
    checker c = {.file = name, .good = n > fixed};
    if (!c.good) tap_note("%s has no RUN line", name);
    run_result r = run_command(argv, 60);
    lines out = split(r.out);
    c.out = &out;
    check_output(&c, &source);
    if (!c.checks) wrong(&c, "has no CHECK line", "");
    tap(c.good && r.status == 0, "%s", name);
    if (r.status != 0) tap_note("exit status %d: %s", r.status, r.err);
    drop(&out);
    drop(&source);
    run_free(&r);
    free(text);
}

static bool chosen(int argc, char **argv, const char *pass, const char *name)
{
    bool any = argc < 2;
    for (int k = 1; k < argc; k++) any |= strcmp(argv[k], pass) == 0 || strcmp(argv[k], name) == 0;
    return any;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Names in a folder, sorted; those that end in `suffix`, without it. */
static lines list(const char *folder, const char *suffix)
{
    lines l = {.at = calloc(MAX_LINES, sizeof *l.at)};
    DIR *d = opendir(folder);
    const struct dirent *e;
    while (d && (e = readdir(d)) && l.n < MAX_LINES) {
        const size_t n = strlen(e->d_name), s = strlen(suffix);
        if (e->d_name[0] != '.' && n > s && strcmp(e->d_name + n - s, suffix) == 0)
            l.at[l.n++] = squeeze(e->d_name, n - s);
    }
    if (d) closedir(d);
    qsort(l.at, l.n, sizeof *l.at, by_name);
    return l;
}

/* Every pass of `ptxloom explain passes` has a folder. */
static void test_list(const lines *passes)
{
    const char *argv[] = {loom_path(), "explain", "passes", NULL};
    run_result r = run_command(argv, 60);
    lines out = split(r.out);
    unsigned missing = 0;
    for (size_t k = 0; k < out.n; k++) {
        char *name = out.at[k], *end;
        if (strtoul(name, &end, 10) == 0 || *end != ' ') continue;
        name = end + 1;
        name[strcspn(name, " ")] = 0;
        bool there = false;
        for (size_t p = 0; p < passes->n; p++) there |= strcmp(passes->at[p], name) == 0;
        if (!there && ++missing) tap_note("no tests/passes/%s", name);
    }
    tap(r.status == 0 && !missing, "every pass has tests");
    drop(&out);
    run_free(&r);
}

/* The folder's name is a pass, and it has at least two tests. */
static void test_pass(const char *pass, const lines *tests)
{
    const char *argv[] = {loom_path(), "explain", pass, NULL};
    run_result r = run_command(argv, 60);
    tap(r.status == 0 && strstr(r.out, "pass of the assembler") && tests->n >= 2,
        "%s is a pass with tests", pass);
    run_free(&r);
}

int main(int argc, char **argv)
{
    char root[4096], path[8192], name[1024];
    snprintf(root, sizeof root, "%s/tests/passes", getenv("srcdir") ? getenv("srcdir") : ".");
    lines passes = list(root, "");
    if (argc < 2) test_list(&passes);
    for (size_t p = 0; p < passes.n; p++) {
        snprintf(path, sizeof path, "%s/%s", root, passes.at[p]);
        lines tests = list(path, ".ptx");
        if (chosen(argc, argv, passes.at[p], passes.at[p])) test_pass(passes.at[p], &tests);
        for (size_t t = 0; t < tests.n; t++) {
            snprintf(name, sizeof name, "%s/%s", passes.at[p], tests.at[t]);
            snprintf(path, sizeof path, "%s/%s.ptx", root, name);
            if (chosen(argc, argv, passes.at[p], name)) test_file(path, name);
        }
        drop(&tests);
    }
    drop(&passes);
    return tap_done();
}
