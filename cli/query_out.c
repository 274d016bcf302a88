/* query_out.c - prints the rows of a query.
 *
 * A table needs column widths before its first line, so the first SAMPLE rows are buffered. They
 * determine widths and alignment (numbers right, text left), and later rows are printed
 * immediately. The other formats are printed row by row.
 *
 * Texts come from the trace. No format prints their control characters, or bytes that are not UTF-8
 * (pl_printable). */
#include "cli/cli.h"
#include "cli/query_out.h"
#include "cli/terminal.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE = 1000, SAMPLE_BYTES = 16 << 20, MIN_COLUMN = 8, NUMBER_CHARS = 40, HANG = 4 };

/* Returns the cell as text for a table; numbers are written to `number`, which has space for NUMBER
 * characters. */
static const char *cell_text(sqlite3_stmt *s, int c, char *number)
{
    double v;
    switch (sqlite3_column_type(s, c)) {
    case SQLITE_NULL: return "-";
    case SQLITE_FLOAT:
        v = sqlite3_column_double(s, c);
        snprintf(number, NUMBER_CHARS, v == floor(v) && fabs(v) < 1e15 ? "%.0f" : "%.6g", v);
        return number;
    case SQLITE_BLOB:
        snprintf(number, NUMBER_CHARS, "<%d byte%s>", sqlite3_column_bytes(s, c),
                 pl_plural((uint64_t)sqlite3_column_bytes(s, c)));
        return number;
    default: break;
    }
    const char *text = (const char *)sqlite3_column_text(s, c);
    return text ? text : "";
}

/* Returns the columns of text on a terminal: one per character. */
static int display_width(const char *s)
{
    int n = 0;
    char replacement;
    for (size_t remaining = strlen(s), length; remaining; remaining -= length, s += length, n++)
        length = pl_printable(s, remaining, &replacement);
    return n;
}

/* If memory is exhausted, SQLite returns no name; the next step then fails. */
static const char *column_name(sqlite3_stmt *s, int c)
{
    const char *name = sqlite3_column_name(s, c);
    return name ? name : "";
}

/* ---- tables ---- */

typedef struct table {
    FILE *f;
    sqlite3_stmt *s;
    int ncolumns, rows;
    size_t bytes;  /* of the buffered cells */
    bool *omitted; /* the column is not printed */
    bool *wraps;   /* a row that exceeds the terminal width continues on a new line with this
                         column */
    int *width;
    bool *text;      /* left-aligned: some cell holds text */
    bool truncated;  /* cells must fit their columns */
    char **buffered; /* cells of the first rows, row by row */
} table;

/* Returns the last column that is printed. */
static int last_column(const table *t)
{
    int c = t->ncolumns - 1;
    while (c > 0 && t->omitted[c]) c--;
    return c;
}

/* Prints the separator before a column. */
static void put_separator(const table *t, int c)
{
    if (t->wraps[c])
        fprintf(t->f, "\n%*s", HANG, "");
    else if (c)
        fputs("  ", t->f);
}

/* Prints the cell in its column; text that does not fit ends in an ellipsis. */
static void put_cell(const table *t, int c, const char *text)
{
    int width = t->width[c], length = display_width(text),
        visible = t->truncated && length > width ? width - 1 : length;
    int blanks = width > length ? width - length : 0;
    put_separator(t, c);
    if (!t->text[c]) fprintf(t->f, "%*s", blanks, "");
    size_t bytes = 0, size = strlen(text);
    char replacement;
    for (int n = 0; n < visible && bytes < size; n++)
        bytes += pl_printable(text + bytes, size - bytes, &replacement);
    cli_print(t->f, text, bytes);
    if (visible < length) fputs("\xe2\x80\xa6", t->f);
    if (t->text[c] && c < last_column(t)) fprintf(t->f, "%*s", blanks, "");
}

/* Narrows the widest text columns until a row fits the terminal. If that is not enough, the row
 * continues on further lines. */
static void fit_width(table *t, int terminal)
{
    for (;;) {
        int total = -2, widest = -1;
        for (int c = 0; c < t->ncolumns; c++) {
            if (t->omitted[c]) continue;
            total += t->width[c] + 2;
            if (t->text[c] && t->width[c] > MIN_COLUMN &&
                (widest < 0 || t->width[c] > t->width[widest]))
                widest = c;
        }
        if (total <= terminal) return;
        if (widest < 0) break;
        t->width[widest]--;
        t->truncated = true;
    }
    int column = 0;
    for (int c = 0; c < t->ncolumns; c++) {
        if (t->omitted[c]) continue;
        int gap = c ? 2 : 0;
        t->wraps[c] = column > 0 && column + gap + t->width[c] > terminal;
        column = t->wraps[c] ? HANG + t->width[c] : column + gap + t->width[c];
    }
}

/* Omits the column cuda, which is empty when the PTX has no .loc. */
static void omit_empty_cuda(table *t)
{
    for (int c = 1; c < t->ncolumns; c++)
        t->omitted[c] = strcmp(column_name(t->s, c), "cuda") == 0 && !t->text[c];
}

static void put_row(const table *t, const char *const *cell_of)
{
    for (int c = 0; c < t->ncolumns; c++)
        if (!t->omitted[c]) put_cell(t, c, cell_of[c]);
    putc('\n', t->f);
}

static void put_table_head(const table *t)
{
    for (int c = 0; c < t->ncolumns; c++)
        if (!t->omitted[c]) put_cell(t, c, column_name(t->s, c));
    putc('\n', t->f);
    for (int c = 0; c < t->ncolumns; c++) {
        if (t->omitted[c]) continue;
        put_separator(t, c);
        for (int i = 0; i < t->width[c]; i++) putc('-', t->f);
    }
    putc('\n', t->f);
    for (int r = 0; r < t->rows; r++)
        put_row(t, (const char *const *)&t->buffered[r * t->ncolumns]);
}

/* Buffers the current row; false when memory is exhausted. */
static bool buffer_row(table *t)
{
    char number[NUMBER_CHARS];
    for (int c = 0; c < t->ncolumns; c++) {
        int type = sqlite3_column_type(t->s, c);
        char *copy = strdup(cell_text(t->s, c, number));
        t->buffered[t->rows * t->ncolumns + c] = copy;
        if (!copy) return false;
        t->bytes += strlen(copy);
        int length = display_width(copy);
        if (length > t->width[c]) t->width[c] = length;
        if (type == SQLITE_TEXT || type == SQLITE_BLOB) t->text[c] = true;
    }
    t->rows++;
    return true;
}

static int print_table(FILE *f, sqlite3_stmt *s, int terminal)
{
    int n = sqlite3_column_count(s), code = SQLITE_NOMEM;
    table t = {.f = f, .s = s, .ncolumns = n};
    t.width = calloc((size_t)n, sizeof *t.width);
    t.text = calloc((size_t)n, sizeof *t.text);
    t.omitted = calloc((size_t)n, sizeof *t.omitted);
    t.wraps = calloc((size_t)n, sizeof *t.wraps);
    t.buffered = calloc((size_t)n * SAMPLE, sizeof *t.buffered);
    if (t.width && t.text && t.buffered && t.omitted && t.wraps) {
        for (int c = 0; c < n; c++) t.width[c] = display_width(column_name(s, c));
        while ((code = sqlite3_step(s)) == SQLITE_ROW && t.rows < SAMPLE - 1 &&
               t.bytes < SAMPLE_BYTES) {
            if (buffer_row(&t)) continue;
            code = SQLITE_NOMEM;
            break;
        }
        if (code == SQLITE_ROW || code == SQLITE_DONE) {
            if (code == SQLITE_DONE) omit_empty_cuda(&t);
            if (terminal) fit_width(&t, terminal);
            cli_busy_end();
            put_table_head(&t);
        }
        for (; code == SQLITE_ROW; code = sqlite3_step(s)) {
            char number[NUMBER_CHARS];
            for (int c = 0; c < n; c++) /* no column is omitted */
                put_cell(&t, c, cell_text(s, c, number));
            putc('\n', f);
        }
    }
    for (int i = 0; t.buffered && i < n * SAMPLE; i++) free(t.buffered[i]);
    free(t.buffered);
    free(t.omitted);
    free(t.wraps);
    free(t.text);
    free(t.width);
    return code;
}

/* ---- CSV (RFC 4180, lines end in LF) ---- */

static void put_csv(FILE *f, const char *text)
{
    bool quoted = strpbrk(text, ",\"\r\n") != NULL;
    if (quoted) putc('"', f);
    for (size_t n; *text; text += n) {
        n = strcspn(text, "\"");
        cli_print_lines(f, text, n);
        if (text[n] != '"') continue;
        fputs("\"\"", f);
        n++;
    }
    if (quoted) putc('"', f);
}

static void put_hex(FILE *f, sqlite3_stmt *s, int c)
{
    const unsigned char *p = sqlite3_column_blob(s, c);
    for (int i = 0, n = p ? sqlite3_column_bytes(s, c) : 0; i < n; i++) fprintf(f, "%02x", p[i]);
}

static void put_csv_head(FILE *f, sqlite3_stmt *s)
{
    for (int c = 0, n = sqlite3_column_count(s); c < n; c++) {
        if (c) putc(',', f);
        put_csv(f, column_name(s, c));
    }
    putc('\n', f);
}

static int print_csv(FILE *f, sqlite3_stmt *s)
{
    int n = sqlite3_column_count(s), code;
    put_csv_head(f, s);
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        for (int c = 0; c < n; c++) {
            char number[NUMBER_CHARS];
            int type = sqlite3_column_type(s, c);
            if (c) putc(',', f);
            if (type == SQLITE_FLOAT) {
                pl_print_real(sqlite3_column_double(s, c), number, sizeof number);
                fputs(number, f);
            } else if (type == SQLITE_BLOB) {
                put_hex(f, s, c);
            } else if (type != SQLITE_NULL) {
                put_csv(f, cell_text(s, c, number));
            }
        }
        putc('\n', f);
    }
    return code;
}

/* ---- JSON ---- */

/* Returns the code point of a character that is escaped: at most three bytes, or a byte that is not
 * UTF-8. */
static unsigned code_point(const char *s, size_t length)
{
    const unsigned char *p = (const unsigned char *)s;
    if (length == 1) return p[0] < 0x80 ? p[0] : 0xfffd;
    return length == 2 ? (p[0] & 0x1fu) << 6 | (p[1] & 0x3fu)
                       : (p[0] & 0xfu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
}

void query_json_text(FILE *f, const char *text)
{
    putc('"', f);
    char replacement;
    for (size_t remaining = strlen(text), length; remaining; remaining -= length, text += length) {
        unsigned char b = (unsigned char)*text;
        length = pl_printable(text, remaining, &replacement);
        if (b == '"' || b == '\\')
            fprintf(f, "\\%c", b);
        else if (b == '\n')
            fputs("\\n", f);
        else if (b == '\t')
            fputs("\\t", f);
        else if (replacement)
            fprintf(f, "\\u%04x", code_point(text, length));
        else
            fwrite(text, 1, length, f);
    }
    putc('"', f);
}

static void put_object(FILE *f, sqlite3_stmt *s)
{
    char number[NUMBER_CHARS];
    putc('{', f);
    for (int c = 0, n = sqlite3_column_count(s); c < n; c++) {
        if (c) fputs(", ", f);
        query_json_text(f, column_name(s, c));
        fputs(": ", f);
        switch (sqlite3_column_type(s, c)) {
        case SQLITE_NULL: fputs("null", f); break;
        case SQLITE_INTEGER: fprintf(f, "%lld", (long long)sqlite3_column_int64(s, c)); break;
        case SQLITE_FLOAT: /* JSON has no infinity */
            pl_print_real(sqlite3_column_double(s, c), number, sizeof number);
            fputs(isfinite(sqlite3_column_double(s, c)) ? number : "null", f);
            break;
        case SQLITE_BLOB:
            putc('"', f);
            put_hex(f, s, c);
            putc('"', f);
            break;
        default: query_json_text(f, cell_text(s, c, number));
        }
    }
    putc('}', f);
}

static int print_json(FILE *f, sqlite3_stmt *s, bool lines)
{
    int code, rows = 0;
    if (!lines) putc('[', f);
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        if (!lines) fputs(rows++ ? ",\n " : "\n ", f);
        put_object(f, s);
        if (lines) putc('\n', f);
    }
    if (!lines) fputs(rows ? "\n]\n" : "]\n", f);
    return code;
}

void query_head(FILE *f, sqlite3_stmt *s, query_format format)
{
    if (format == QUERY_CSV) {
        put_csv_head(f, s);
    } else if (format == QUERY_NDJSON) {
        putc('{', f);
        query_json_text(f, column_name(s, 0));
        putc(':', f);
    }
}

int query_print(FILE *f, sqlite3_stmt *s, query_format format, int width)
{
    switch (format) {
    case QUERY_CSV: return print_csv(f, s);
    case QUERY_JSON: return print_json(f, s, false);
    case QUERY_NDJSON: return print_json(f, s, true);
    case QUERY_TABLE: break;
    }
    return print_table(f, s, width);
}
