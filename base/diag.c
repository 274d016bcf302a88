/* diag.c - collects diagnostics and renders them.
 *
 * Rendering shows the source line with a caret below the position. The line comes from the user's
 * file, so control characters are replaced (printable.h), tabs expanded and very long lines clipped
 * to a window around the position. */
#include "base/diag.h"
#include "base/printable.h"
#include <stdarg.h>
#include <string.h>

#define DEFAULT_LIMIT 100
#define TAB_WIDTH     8
#define WINDOW        120 /* most bytes of a source line that are shown */

static const struct {
    const char *code, *format, *explanation;
    pl_severity severity;
} row[] = {
#define DIAG(id, severity, format, explanation) {#id, format, explanation, severity},
#include "base/diag.def"
#undef DIAG
};

void pl_diags_init(pl_diags *d, pl_arena *arena)
{
    *d = (pl_diags){.arena = arena, .limit = DEFAULT_LIMIT};
}

uint32_t pl_diags_add_file(pl_diags *d, const char *name, const char *text, size_t size)
{
    uint32_t index = (uint32_t)d->file.n;
    *pl_push(d->arena, &d->file) = (struct pl_diag_file){.name = name, .text = text, .size = size};
    return index;
}

pl_diag *pl_report(pl_diags *d, pl_diag_id id, pl_loc at, ...)
{
    size_t kept_errors = d->errors < d->limit ? d->errors : d->limit;
    bool is_error = row[id].severity == PL_ERROR;
    bool keep = is_error ? d->errors < d->limit : d->list.n - kept_errors < d->limit;
    d->errors += is_error;
    if (!keep) {
        d->unstored = (pl_diag){.id = id, .severity = row[id].severity, .at = at, .text = ""};
        return &d->unstored;
    }
    va_list ap;
    va_start(ap, at);
    const char *text = pl_arena_vprintf(d->arena, row[id].format, ap);
    va_end(ap);
    pl_diag *m = pl_push(d->arena, &d->list);
    *m = (pl_diag){.id = id, .severity = row[id].severity, .at = at, .text = text ? text : ""};
    return m;
}

void pl_diags_drop(pl_diags *d, size_t from)
{
    d->list.n = from;
    d->errors = 0;
    for (size_t i = 0; i < from; i++) d->errors += d->list.at[i].severity == PL_ERROR;
}

const char *pl_diag_code(pl_diag_id id)
{
    return row[id].code;
}

const char *pl_diag_explanation(pl_diag_id id)
{
    return row[id].explanation;
}

const char *pl_diag_format(pl_diag_id id)
{
    return row[id].format;
}

bool pl_diag_by_code(const char *code, pl_diag_id *id)
{
    for (size_t i = 0; i < PL_DIAG_COUNT; i++) {
        if (strcmp(row[i].code, code) == 0) {
            *id = (pl_diag_id)i;
            return true;
        }
    }
    return false;
}

static int compare(const pl_diag *a, const pl_diag *b)
{
    const uint32_t x[] = {a->at.file, a->at.line, a->at.column, (uint32_t)a->id};
    const uint32_t y[] = {b->at.file, b->at.line, b->at.column, (uint32_t)b->id};
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) {
        if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    }
    return 0;
}

void pl_diags_sort(pl_diags *d)
{
    /* Insertion sort: stable; the list is short (limit) and nearly sorted. */
    size_t kept = 0;
    for (size_t i = 0; i < d->list.n; i++) {
        pl_diag m = d->list.at[i];
        size_t to = kept;
        while (to > 0 && compare(&m, &d->list.at[to - 1]) < 0) to--;
        bool duplicate = false;
        for (size_t j = to; j > 0 && compare(&m, &d->list.at[j - 1]) == 0; j--)
            duplicate |= strcmp(m.text, d->list.at[j - 1].text) == 0;
        if (duplicate) continue;
        memmove(&d->list.at[to + 1], &d->list.at[to], (kept - to) * sizeof m);
        d->list.at[to] = m;
        kept++;
    }
    d->list.n = kept;
}

/* A string built incrementally in the arena. */
typedef struct text_buffer {
    pl_arena *arena;
    char *at;
    size_t n, cap;
} text_buffer;

static void put(text_buffer *t, char c)
{
    *pl_push(t->arena, t) = c;
}

static void put_string(text_buffer *t, const char *s)
{
    while (*s) put(t, *s++);
}

/* Appends the character of the user's text at s; returns its length. */
static size_t put_character(text_buffer *t, const char *s, size_t n)
{
    char as;
    size_t length = pl_printable(s, n, &as);
    if (as) {
        put(t, as);
        return length;
    }
    for (size_t i = 0; i < length; i++) put(t, s[i]);
    return length;
}

static void put_user_string(text_buffer *t, const char *s)
{
    for (size_t n = strlen(s), i = 0; i < n;) i += put_character(t, s + i, n - i);
}

static bool find_line(const struct pl_diag_file *f, uint32_t line, const char **start, size_t *len)
{
    if (!f->text || line == 0) return false;
    const char *p = f->text, *end = f->text + f->size;
    for (uint32_t i = 1; i < line; i++) {
        const char *newline = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
        if (!newline) return false;
        p = newline + 1;
    }
    const char *newline = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
    *start = p;
    *len = (size_t)((newline ? newline : end) - p);
    if (*len > 0 && p[*len - 1] == '\r') --*len;
    return true;
}

static bool continues_character(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80; /* UTF-8 continuation byte */
}

/* Terminal columns of a character that starts at `column`. */
static size_t width(char c, size_t column)
{
    return c == '\t' ? TAB_WIDTH - column % TAB_WIDTH : 1;
}

static void put_excerpt(text_buffer *t, const char *line, size_t len, pl_loc at, bool colour)
{
    size_t caret = at.column > 0 ? at.column - 1 : 0, first = 0, last = len;
    if (caret > len) caret = len;
    if (len > WINDOW) {
        first = caret > WINDOW / 2 ? caret - WINDOW / 2 : 0;
        last = len - first > WINDOW ? first + WINDOW : len;
        for (int i = 0; i < 3 && first > 0 && continues_character(line[first]); i++) first--;
        for (int i = 0; i < 3 && last < len && continues_character(line[last]); i++) last--;
    }
    size_t mark = at.length > 0 ? at.length : 1, column = 0, from = 0, to = 0;
    put_string(t, pl_arena_printf(t->arena, "%6u | %s", at.line, first > 0 ? "..." : ""));
    if (first > 0) column = 3;
    for (size_t i = first; i < last;) {
        size_t w = width(line[i], column), length = 1;
        if (line[i] == '\t')
            for (size_t k = 0; k < w; k++) put(t, ' ');
        else
            length = put_character(t, line + i, last - i);
        if (i <= caret && caret < i + length) from = column;
        column += w;
        if (i + length > caret && i < caret + mark) to = column;
        i += length;
    }
    if (caret >= last) from = column;
    if (to <= from) to = from + 1;
    put_string(t, last < len ? "...\n" : "\n");
    if (at.column == 0) return;
    put_string(t, "       | ");
    for (size_t i = 0; i < from; i++) put(t, ' ');
    if (colour) put_string(t, "\033[32m");
    for (size_t i = from; i < to; i++) put(t, i == from ? '^' : '~');
    if (colour) put_string(t, "\033[0m");
    put(t, '\n');
}

const char *pl_diag_render(const pl_diags *d, const pl_diag *m, bool colour)
{
    static const char *const word[] = {"note", "warning", "error"};
    static const char *const tint[] = {"\033[36m", "\033[35m", "\033[31m"};
    text_buffer t = {.arena = d->arena};
    const struct pl_diag_file *f = m->at.file < d->file.n ? &d->file.at[m->at.file] : NULL;
    if (f && f->name) {
        if (colour) put_string(&t, "\033[1m");
        put_user_string(&t, f->name);
        if (m->at.line > 0) put_string(&t, pl_arena_printf(d->arena, ":%u", m->at.line));
        if (m->at.line > 0 && m->at.column > 0)
            put_string(&t, pl_arena_printf(d->arena, ":%u", m->at.column));
        put_string(&t, ": ");
        if (colour) put_string(&t, "\033[0m");
    }
    if (colour) put_string(&t, tint[m->severity]);
    put_string(&t, word[m->severity]);
    if (colour) put_string(&t, "\033[0m");
    put_string(&t, ": ");
    put_user_string(&t, m->text);
    put_string(&t, pl_arena_printf(d->arena, " [%s]\n", pl_diag_code(m->id)));
    const char *line;
    size_t len;
    if (f && find_line(f, m->at.line, &line, &len)) put_excerpt(&t, line, len, m->at, colour);
    if (m->source) {
        put_string(&t, "  at ");
        put_user_string(&t, m->source);
        put(&t, '\n');
    }
    if (m->help) {
        put_string(&t, "  help: ");
        put_user_string(&t, m->help);
        put(&t, '\n');
    }
    put(&t, '\0');
    return t.at;
}
