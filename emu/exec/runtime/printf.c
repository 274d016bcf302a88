/* printf.c - device printf. See printf.h. */
#include "emu/exec/runtime/printf.h"
#include "base/array.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the buffer ---- */

void pl_print_close(pl_print_buffer *b)
{
    free(b->text);
    free(b->record);
    memset(b, 0, sizeof *b);
}

static bool reserve(pl_print_buffer *b, size_t n)
{
    if (b->n + n + 1 > b->cap) {
        size_t cap = (b->n + n + 1) * 2 + 256;
        char *p = realloc(b->text, cap);
        if (!p) return false;
        b->text = p;
        b->cap = cap;
    }
    return b->first + b->records < b->cap_records ||
           pl_array_grow(&b->record, &b->cap_records, sizeof *b->record);
}

static uint64_t max_chars(const pl_print_buffer *b)
{
    return b->max_chars ? b->max_chars : PL_PRINT_MAX_CHARS;
}

void pl_print_add(pl_print_buffer *b, const char *text, size_t n, uint64_t cost)
{
    while (b->records && b->limit && b->total_cost + cost > b->limit) { /* the oldest records are
                                                                     evicted */
        b->total_cost -= b->record[b->first].cost;
        b->start += b->record[b->first].chars;
        b->first++;
        b->records--;
    }
    if (b->first > b->records) {
        memmove(b->record, b->record + b->first, b->records * sizeof *b->record);
        b->first = 0;
        memmove(b->text, b->text + b->start, b->n - b->start);
        b->n -= b->start;
        b->start = 0;
    }
    if (b->full || b->n - b->start + n > max_chars(b)) {
        b->full = true;
        return;
    }
    if (!reserve(b, n)) {
        b->out_of_memory = true;
        return;
    }
    memcpy(b->text + b->n, text, n);
    b->n += n;
    b->total_chars += n;
    b->text[b->n] = '\0';
    b->record[b->first + b->records++] = (struct pl_print_record){n, cost};
    b->total_cost += cost;
}

/* ---- one call ---- */

typedef struct line {
    char *at;
    size_t n, cap;
    uint64_t max_chars; /* characters */
    bool full;          /* more characters were discarded */
    bool out_of_memory; /* out of memory */
} line;

/* Space for n more characters; NULL: none. */
static char *reserve_chars(line *t, size_t n)
{
    t->full |= t->n + n > t->max_chars;
    if (t->full || t->out_of_memory) return NULL;
    if (t->n + n + 1 > t->cap) {
        size_t cap = t->n + n + (t->n + n) / 2 + 128;
        char *p = realloc(t->at, cap);
        t->out_of_memory = !p;
        if (!p) return NULL;
        t->at = p;
        t->cap = cap;
    }
    return t->at + t->n;
}

static void append(line *t, const char *s, size_t n)
{
    char *to = n ? reserve_chars(t, n) : NULL;
    if (!to) return;
    memcpy(to, s, n);
    t->n += n;
}

static void append_format(line *t, const char *format, ...) __attribute__((format(printf, 2, 0)));

static void append_format(line *t, const char *format, ...)
{
    char small[512];
    va_list ap;
    if (t->full || t->out_of_memory) return;
    va_start(ap, format);
    int n = vsnprintf(small, sizeof small, format, ap);
    va_end(ap);
    if (n < 0) return;
    if ((size_t)n < sizeof small) {
        append(t, small, (size_t)n);
        return;
    }
    char *large = reserve_chars(t, (size_t)n);
    if (!large) return;
    va_start(ap, format);
    vsnprintf(large, (size_t)n + 1, format, ap);
    va_end(ap);
    t->n += (size_t)n;
}

/* The arguments of a call: first the contents of the buffer, then parts of the format's text, which
 * follows in the record. */
typedef struct arguments {
    const pl_print_source *source;
    const char *format;
    uint64_t offset;      /* in the buffer */
    size_t format_offset; /* offset in the format */
    int consumed;
    bool failed;
} arguments;

static uint64_t next_argument(arguments *a, size_t bytes, bool known)
{
    uint64_t v = 0;
    if (known && a->consumed < PL_PRINT_ARGS) {
        a->offset = (a->offset + bytes - 1) & ~(uint64_t)(bytes - 1);
        a->failed |= !a->source->argument(a->source->ctx, a->offset, &v, bytes);
        a->offset += bytes;
        a->consumed++;
        return v;
    }
    size_t n = strlen(a->format) + 1;
    if (a->format_offset < n)
        memcpy(&v, a->format + a->format_offset,
               n - a->format_offset < bytes ? n - a->format_offset : bytes);
    a->format_offset += 8;
    return v;
}

/* A conversion in the source: "%[flags][width][.precision][size]type". */
typedef struct spec {
    char flags[8];
    int width, precision; /* -1: none, -2: width from an argument */
    bool left;            /* '-', or a negative width from an argument */
    int size;             /* 0, 'h', 'H' (hh), 'l', 'L' (ll) */
    char type;
} spec;

/* Parses a conversion after its '%'; returns its end, or NULL if it is invalid. */
static const char *parse(const char *p, spec *s)
{
    *s = (spec){.width = -1, .precision = -1};
    for (size_t n = 0; *p && strchr("#+- 0", *p); p++)
        if (n < sizeof s->flags - 1 && !strchr(s->flags, *p)) s->flags[n++] = *p;
    if (*p == '*') {
        s->width = -2;
        p++;
    } else if (*p >= '0' && *p <= '9')
        for (s->width = 0; *p >= '0' && *p <= '9'; p++)
            s->width = s->width < 100000 ? s->width * 10 + (*p - '0') : s->width;
    if (*p == '.') {
        p++;
        for (s->precision = 0; *p >= '0' && *p <= '9'; p++)
            s->precision = s->precision < 100000 ? s->precision * 10 + (*p - '0') : s->precision;
    }
    if (*p == 'h') {
        s->size = p[1] == 'h' ? 'H' : 'h';
        p += s->size == 'H' ? 2 : 1;
    } else if (*p == 'l') {
        s->size = p[1] == 'l' ? 'L' : 'l';
        p += s->size == 'L' ? 2 : 1;
    }
    s->type = *p;
    return *p && strchr("diouxXcsSpeEfFgGaA", *p) ? p + 1 : NULL;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

/* The C library takes seconds for fields of several hundred million characters. */
enum { MAX_FIELD = 4096 };

/* Widens the field that begins at `start` of the line to the requested width. It was formatted
 * MAX_FIELD characters wide, or is longer. */
static void widen(line *t, size_t start, uint64_t width, bool left, bool zeros)
{
    const size_t n = t->n - start;
    if (t->full || t->out_of_memory || width <= n) return;
    const size_t more = (size_t)(width - n);
    if (!reserve_chars(t, more)) return;
    char *field = t->at + start;
    size_t pad_at = 0; /* position of the padding */
    char fill = ' ';
    if (left) {
        pad_at = n;
    } else if (zeros) {
        size_t first = strchr("+- ", field[0]) ? 1 : 0;
        first += field[first] == '0' && strchr("xX", field[first + 1]) ? 2 : 0;
        pad_at = field[first] == '0' ? first : 0;
        fill = field[first] == '0' ? '0' : ' ';
    }
    memmove(field + pad_at + more, field + pad_at, n - pad_at);
    memset(field + pad_at, fill, more);
    t->n += more;
}

static void convert(line *t, const spec *s, arguments *a);

/* Formats a conversion of any width. */
static void convert_wide(line *t, const spec *s, arguments *a)
{
    const int64_t given = s->width == -2 ? (int32_t)next_argument(a, 4, true) : s->width;
    /* A negative width argument means a '-' flag and a positive width. */
    const bool left = strchr(s->flags, '-') || (s->width == -2 && given < 0);
    const uint64_t width = given < 0 ? (uint64_t)(s->width == -2 ? -given : 0) : (uint64_t)given;
    spec plain = *s;
    const size_t start = t->n;
    plain.width = s->width == -1 ? -1 : width < MAX_FIELD ? (int)width : MAX_FIELD;
    plain.left = left;
    t->full |= width > t->max_chars;
    convert(t, &plain, a);
    if (width > MAX_FIELD) widen(t, start, width, left, strchr(s->flags, '0') != NULL);
}

/* Formats a conversion with a width of at most MAX_FIELD. */
static void convert(line *t, const spec *s, arguments *a)
{
    char f[40];
    /* The device's parser does not support hh. */
    bool wide = s->size == 'l' || s->size == 'L', known = s->size != 'H';
    int n = snprintf(f, sizeof f, "%%%s%s", s->left ? "-" : "", s->flags);
    if (s->width >= 0) n += snprintf(f + n, sizeof f - (size_t)n, "%d", s->width);
    if (s->precision >= 0) n += snprintf(f + n, sizeof f - (size_t)n, ".%d", s->precision);
    const char *size = s->size == 'H' ? "hh" : s->size == 'h' ? "h" : wide ? "ll" : "";
    switch (s->type) {
    case 'd':
    case 'i':
    case 'o':
    case 'u':
    case 'x':
    case 'X': {
        snprintf(f + n, sizeof f - (size_t)n, "%s%c", size, s->type);
        uint64_t v = next_argument(a, wide ? 8 : 4, known);
        if (wide)
            append_format(t, f, (unsigned long long)v);
        else
            append_format(t, f, (unsigned)v);
        break;
    }
    case 'c':
        snprintf(f + n, sizeof f - (size_t)n, "c");
        append_format(t, f, (int)next_argument(a, 4, known));
        break;
    case 's':
    case 'S': {
        char text[4096];
        uint64_t v = next_argument(a, 8, known);
        const char *string = v ? a->source->string(a->source->ctx, v, text, sizeof text) : "(null)";
        snprintf(f + n, sizeof f - (size_t)n, "s");
        append_format(t, f, string ? string : "(null)");
        break;
    }
    case 'p':
        snprintf(f + n, sizeof f - (size_t)n, "p");
        append_format(t, f, (void *)(uintptr_t)next_argument(a, 8, known));
        break;
    default: {
        snprintf(f + n, sizeof f - (size_t)n, "%c", s->type);
        uint64_t v = next_argument(a, 8, known);
        double d;
        memcpy(&d, &v, sizeof d);
        append_format(t, f, d);
        break;
    }
    }
}

#pragma GCC diagnostic pop

int pl_print_format(pl_print_buffer *b, const char *format, const pl_print_source *from)
{
    line t = {.max_chars = max_chars(b)};
    arguments a = {.source = from, .format = format};
    for (const char *p = format; *p && !t.full;) {
        size_t plain = strcspn(p, "%");
        append(&t, p, plain);
        p += plain;
        if (!*p) break;
        spec s;
        const char *end = parse(p + 1, &s);
        if (end) {
            convert_wide(&t, &s, &a);
            p = end;
        } else {
            append(&t, "%", 1);
            p += p[1] == '%' ? 2 : 1;
        }
    }
    /* size of a record: two words, the arguments, the text of the format */
    b->full |= t.full;
    b->out_of_memory |= t.out_of_memory;
    if (!a.failed && !t.full)
        pl_print_add(b, t.at ? t.at : "", t.n,
                     (16 + 8 * (uint64_t)a.consumed + strlen(format) + 1 + 7) & ~7ull);
    free(t.at);
    return a.consumed;
}
