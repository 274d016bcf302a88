/* classes.c - classes.isa: the purpose of each latency class, and its properties for each compiler
 * decision. A column is one entry of `columns`; a row of the file lists those that differ from the
 * default. */
#include "isa/table/isagen/isagen.h"

typedef enum column_kind { NUMBER, FLAG, UNIT, CLASS, COST, KIND_OF_WORK, EXCHANGES } column_kind;

static const struct {
    const char *name, *about;
} kinds[] = {
#define KIND(name, about) {#name, about},
#include "isa/table/class_kinds.def"
};
enum { NKINDS = sizeof kinds / sizeof *kinds };

static const struct {
    const char *name;
    column_kind kind;
    const char *initial; /* value for classes that do not specify the column */
    const char *about;
} columns[] = {
    {"latency", NUMBER, "0", "schedule: latency to a use; default: sched.fixed_latency"},
    {"unit", UNIT, "NONE", "schedule: the unit that it occupies: alu, heavy, fp64, xu"},
    {"unit_cycles", NUMBER, "0", "schedule: cycles for which it occupies the unit"},
    {"region_end", FLAG, "0", "schedule: no instruction moves past it"},
    {"temporaries", NUMBER, "0",
     "temporary registers of its expansion, in addition to its operands"},
    {"reads_late", FLAG, "0",
     "register allocation: it waits in a queue before it reads its registers"},
    {"no_copy", FLAG, "0", "loop_unroll: a body that contains it is not unrolled"},
    {"unroll_cost", NUMBER, "0", "loop_unroll: cost added to a body; default: by its operands"},
    {"convert_cost", COST, "1", "if_convert: cost added to a body, or never"},
    {"sroa_cost", NUMBER, "1", "sroa: cost added to the function"},
    {"routine", CLASS, "count",
     "sroa: the class of its subroutine, of which a function has one copy"},
    {"routine_cost", NUMBER, "0", "sroa: cost of that subroutine"},
    {"place_cost", NUMBER, "1", "place_constant_loads: number of instructions"},
    {"price_as", CLASS, "count", "machines without a price for it use that of this class"},
    {"kind", KIND_OF_WORK, "math", "timing: its treatment by the issue stage; see below"},
    {"texture", FLAG, "0", "timing: the texture units execute the access"},
    {"exchanges", EXCHANGES, "by_pipes",
     "timing: data words of its warp that pass the exchange unit; default: 1 if its price "
     "has mio or adu"},
    {"counts_adu", FLAG, "0", "metrics: Nsight Compute counts it at the address divergence unit"},
    {"counts_cbu", FLAG, "0", "metrics: Nsight Compute counts it at the convergence barrier unit"},
    {"calls_routine", FLAG, "0",
     "metrics: the branches of its price are CALL and RET, not BSSY, BRA, BSYNC"},
    {"compiler_only", FLAG, NULL, "no form names it: passes assign it"},
};
enum { NCOLUMNS = sizeof columns / sizeof *columns };

static class_row rows[400];
static int nrows;
static char *section;

typedef struct page_text {
    int row; /* the text precedes this row */
    char *text;
} page_text;
static page_text page_texts[100];
static int npage_texts;

/* Consumes "TEXT" at the start of *p; NULL: there is none. */
static char *quoted(char **p)
{
    char *b = trim(*p), *e = *b == '"' ? strchr(b + 1, '"') : NULL;
    if (!e) return NULL;
    *p = e + 1;
    return copy(b + 1, (size_t)(e - b - 1));
}

static int column_find(const char *text)
{
    const size_t n = strcspn(text, "=");
    for (int k = 0; k < NCOLUMNS; k++)
        if (strlen(columns[k].name) == n && !strncmp(columns[k].name, text, n)) return k;
    return -1;
}

void read_class_line(char *rest)
{
    if (nrows == (int)(sizeof rows / sizeof *rows)) {
        fail(cur_file, cur_line, "too many classes");
        return;
    }
    class_row *r = &rows[nrows];
    char *q = rest + strcspn(rest, "\"");
    char *head = copy(rest, (size_t)(q - rest));
    list parts = {0};
    split_words(head, &parts);
    r->about = quoted(&q);
    r->sequence = quoted(&q);
    if (!parts.n || !r->about || !r->sequence) {
        fail(cur_file, cur_line, "class NAME COLUMN=VALUE... \"forms\" \"hardware instructions\"");
        return;
    }
    *r = (class_row){.name = parts.at[0],
                     .about = r->about,
                     .sequence = r->sequence,
                     .section = section,
                     .file = cur_file,
                     .line = cur_line};
    nrows++;
    for (int k = 0; k < nrows - 1; k++)
        if (!strcmp(rows[k].name, r->name)) fail(cur_file, cur_line, "class '%s' twice", r->name);
    for (int k = 1; k < parts.n; k++) {
        const int c = column_find(parts.at[k]);
        if (c < 0)
            fail(cur_file, cur_line, "'%s' is not a column of a class", parts.at[k]);
        else if ((columns[c].kind == FLAG) == (strchr(parts.at[k], '=') != NULL))
            fail(cur_file, cur_line,
                 columns[c].kind == FLAG ? "'%s': %s takes no value" : "'%s': %s needs a value",
                 parts.at[k], columns[c].name);
        else
            add(&r->columns, parts.at[k]);
    }
    if (find(&r->columns, "compiler_only") >= 0) intern(&classes, r->name);
}

static void read_page_text(char *text)
{
    if (npage_texts < (int)(sizeof page_texts / sizeof *page_texts))
        page_texts[npage_texts++] = (page_text){nrows, text};
    else
        fail(cur_file, cur_line, "too many sections and texts");
}

void read_section_line(char *rest)
{
    section = quoted(&rest);
    if (!section) fail(cur_file, cur_line, "section \"title\"");
    read_page_text(format("## %s", section ? section : ""));
}

void read_text_line(char *rest)
{
    char *text = quoted(&rest);
    if (!text) fail(cur_file, cur_line, "text \"a paragraph of the page\"");
    read_page_text(text ? text : dup(""));
}

static class_row *row_find(const char *name)
{
    for (int k = 0; k < nrows; k++)
        if (!strcmp(rows[k].name, name)) return &rows[k];
    return NULL;
}

static char *lower_case(const char *s)
{
    char *out = dup(s);
    for (char *p = out; *p; p++) *p = (char)tolower((unsigned char)*p);
    return out;
}

/* The value of a column as C, or NULL after a message. */
static char *column_value(const class_row *r, int c)
{
    const size_t n = strlen(columns[c].name);
    const char *v = columns[c].initial;
    for (int k = 0; r && k < r->columns.n; k++)
        if (!strncmp(r->columns.at[k], columns[c].name, n) && strchr("=", r->columns.at[k][n]))
            v = r->columns.at[k][n] ? r->columns.at[k] + n + 1 : "1";
    switch (columns[c].kind) {
    case UNIT: {
        char *u = dup(v);
        for (char *p = u; *p; p++) *p = (char)toupper((unsigned char)*p);
        if (!strcmp(u, "NONE") || !strcmp(u, "ALU") || !strcmp(u, "HEAVY") || !strcmp(u, "FP64") ||
            !strcmp(u, "XU"))
            return format("PL_SCHED_%s", u);
        break;
    }
    case CLASS:
        if (!strcmp(v, "count") || find(&classes, v) >= 0) return format("C_%s", cname(v));
        break;
    case KIND_OF_WORK:
        for (int k = 0; k < NKINDS; k++)
            if (!strcmp(v, lower_case(kinds[k].name))) return format("PL_KIND_%s", kinds[k].name);
        break;
    case EXCHANGES:
        if (!strcmp(v, "by_pipes")) return dup("PL_EXCHANGES_BY_PIPES");
        if (*v && strspn(v, "0123456789") == strlen(v) && strlen(v) < 3) return dup(v);
        break;
    case COST:
        if (!strcmp(v, "never")) return dup("PL_COST_NEVER");
        /* fallthrough */
    default:
        if (*v && strspn(v, "0123456789") == strlen(v) && strlen(v) < 5) return dup(v);
    }
    fail(r->file, r->line, "'%s' is not a value of %s", v, columns[c].name);
    return dup("0");
}

void check_classes(void)
{
    if (!nrows) return; /* a test table */
    for (int k = 0; k < classes.n; k++)
        if (!row_find(classes.at[k]))
            fail(rows[0].file, rows[0].line, "class '%s' of a form has no row", classes.at[k]);
    for (int k = 0; k < nrows; k++)
        if (find(&classes, rows[k].name) < 0)
            fail(rows[k].file, rows[k].line, "no form has class '%s'", rows[k].name);
}

void write_classes(FILE *o)
{
    fprintf(o, "const char *const pl_class_text[] = {\n");
    for (int k = 0; k < classes.n; k++) fprintf(o, "    \"%s\",\n", classes.at[k]);
    fprintf(o, "};\n\nconst pl_class_info pl_classes[] = {\n");
    for (int k = 0; k < classes.n; k++) {
        const class_row *r = row_find(classes.at[k]);
        fprintf(o, "    {");
        for (int c = 0; c < NCOLUMNS; c++)
            if (columns[c].initial) fprintf(o, ".%s = %s, ", columns[c].name, column_value(r, c));
        fprintf(o, "},\n");
    }
    fprintf(o, "};\n\n");
}

/* ---- the documentation page ---- */

static void write_columns(FILE *o)
{
    fprintf(o, "| column | says | default |\n| --- | --- | --- |\n");
    for (int c = 0; c < NCOLUMNS; c++)
        fprintf(o, "| `%s` | %s | %s |\n", columns[c].name, columns[c].about,
                columns[c].kind == FLAG || columns[c].kind == CLASS || columns[c].kind == EXCHANGES
                    ? "-"
                    : columns[c].initial);
    fprintf(o, "\n| kind | what it is |\n| --- | --- |\n");
    for (int k = 0; k < NKINDS; k++)
        fprintf(o, "| `%s` | %s |\n", lower_case(kinds[k].name), kinds[k].about);
}

static bool same_text(const class_row *a, const class_row *b)
{
    if (strcmp(a->about, b->about) || strcmp(a->sequence, b->sequence) ||
        a->columns.n != b->columns.n)
        return false;
    for (int k = 0; k < a->columns.n; k++)
        if (strcmp(a->columns.at[k], b->columns.at[k])) return false;
    return true;
}

/* Consecutive rows with the same text are combined into one line. Returns the next row. */
static int write_page_row(FILE *o, int k)
{
    int next = k + 1;
    fprintf(o, "| `%s`", rows[k].name);
    bool has_own_text = false;
    for (int t = 0; t < npage_texts; t++) has_own_text |= page_texts[t].row == next;
    while (next < nrows && !has_own_text && same_text(&rows[k], &rows[next])) {
        fprintf(o, " `%s`", rows[next++].name);
        for (int t = 0; t < npage_texts; t++) has_own_text |= page_texts[t].row == next;
    }
    fprintf(o, " | %s | %s |", rows[k].about, *rows[k].sequence ? rows[k].sequence : "-");
    for (int c = 0; c < rows[k].columns.n; c++) fprintf(o, " `%s`", rows[k].columns.at[c]);
    fprintf(o, "%s\n", rows[k].columns.n ? " |" : " - |");
    return next;
}

/* Writes classes.md; isa/table/classes.md is a copy of it. */
void write_class_page(void)
{
    if (!nrows) return;
    FILE *o = fopen(format("%s/classes.md", out_dir), "w");
    if (!o) {
        fprintf(stderr, "isagen: cannot write %s/classes.md\n", out_dir);
        exit(1);
    }
    fprintf(o, "# Latency classes\n\n<!-- Written by isagen from isa/table/classes.isa: `make "
               "classes-doc`. -->\n\n");
    bool table = false;
    for (int k = 0, t = 0; k < nrows || t < npage_texts;) {
        if (t < npage_texts && page_texts[t].row <= k) {
            fprintf(o, table ? "\n%s\n" : "%s\n", page_texts[t].text);
            if (!strcmp(page_texts[t].text, "## Columns")) {
                fprintf(o, "\n");
                write_columns(o);
            }
            table = true;
            t++;
            continue;
        }
        if (k == 0 || page_texts[t > 0 ? t - 1 : 0].row == k)
            fprintf(o,
                    "\n| class | forms | sm_90 sequence | columns |\n| --- | --- | --- | --- |\n");
        k = write_page_row(o, k);
    }
    if (fclose(o)) exit(1);
}
