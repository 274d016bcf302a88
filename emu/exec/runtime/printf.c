/* printf.c - device printf. See printf.h. */
#include "emu/exec/runtime/printf.h"

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

static bool room(pl_print_buffer *b, size_t n)
{
    if (b->n + n + 1 > b->cap) {
        size_t cap = (b->n + n + 1) * 2 + 256;
        char *p = realloc(b->text, cap);
        if (!p) return false;
        b->text = p;
        b->cap = cap;
    }
    if (b->first + b->records == b->cap_records) {
        size_t cap = b->cap_records ? b->cap_records * 2 : 64;
        struct pl_print_record *p = realloc(b->record, cap * sizeof *p);
        if (!p) return false;
        b->record = p;
        b->cap_records = cap;
    }
    return true;
}

static uint64_t most(const pl_print_buffer *b)
{
    return b->most ? b->most : PL_PRINT_MOST;
}

void pl_print_add(pl_print_buffer *b, const char *text, size_t n, uint64_t cost)
{
    while (b->records && b->limit && b->held + cost > b->limit) { /* the oldest records are
                                                                     evicted */
        b->held -= b->record[b->first].cost;
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
    if (b->full || b->n - b->start + n > most(b)) {
        b->full = true;
        return;
    }
    if (!room(b, n)) {
        b->lost = true;
        return;
    }
    memcpy(b->text + b->n, text, n);
    b->n += n;
    b->ever += n;
    b->text[b->n] = '\0';
    b->record[b->first + b->records++] = (struct pl_print_record){n, cost};
    b->held += cost;
}

/* ---- one call ---- */

typedef struct line {
    char *at;
    size_t n, cap;
    uint64_t most; /* characters */
    bool full;     /* more characters were discarded */
    bool lost;     /* out of memory */
} line;

/* Space for n more characters; NULL: none. */
static char *space(line *t, size_t n)
{
    t->full |= t->n + n > t->most;
    if (t->full || t->lost) return NULL;
    if (t->n + n + 1 > t->cap) {
        size_t cap = t->n + n + (t->n + n) / 2 + 128;
        char *p = realloc(t->at, cap);
        t->lost = !p;
        if (!p) return NULL;
        t->at = p;
        t->cap = cap;
    }
    return t->at + t->n;
}

static void put(line *t, const char *s, size_t n)
{
    char *to = n ? space(t, n) : NULL;
    if (!to) return;
    memcpy(to, s, n);
    t->n += n;
}

static void putf(line *t, const char *format, ...) __attribute__((format(printf, 2, 0)));

static void putf(line *t, const char *format, ...)
{
    char small[512];
    va_list ap;
    if (t->full || t->lost) return;
    va_start(ap, format);
    int n = vsnprintf(small, sizeof small, format, ap);
    va_end(ap);
    if (n < 0) return;
    if ((size_t)n < sizeof small) {
        put(t, small, (size_t)n);
        return;
    }
    char *large = space(t, (size_t)n);
    if (!large) return;
    va_start(ap, format);
    vsnprintf(large, (size_t)n + 1, format, ap);
    va_end(ap);
    t->n += (size_t)n;
}

/* The arguments of a call: first the contents of the buffer, then parts of the format's text, which
 * follows in the record. */
typedef struct arguments {
    const pl_print_source *from;
    const char *format;
    uint64_t offset; /* in the buffer */
    size_t beyond;   /* offset in the format */
    int taken;
    bool failed;
} arguments;

static uint64_t next(arguments *a, size_t bytes, bool known)
{
    uint64_t v = 0;
    if (known && a->taken < PL_PRINT_ARGS) {
        a->offset = (a->offset + bytes - 1) & ~(uint64_t)(bytes - 1);
        a->failed |= !a->from->argument(a->from->ctx, a->offset, &v, bytes);
        a->offset += bytes;
        a->taken++;
        return v;
    }
    size_t n = strlen(a->format) + 1;
    if (a->beyond < n)
        memcpy(&v, a->format + a->beyond, n - a->beyond < bytes ? n - a->beyond : bytes);
    a->beyond += 8;
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
enum { WIDE = 4096 };

/* Widens the field that begins at `start` of the line to the requested width. It was formatted WIDE
 * characters wide, or is longer. */
static void widen(line *t, size_t start, uint64_t width, bool left, bool zeros)
{
    const size_t n = t->n - start;
    if (t->full || t->lost || width <= n) return;
    const size_t more = (size_t)(width - n);
    if (!space(t, more)) return;
    char *field = t->at + start;
    size_t place = 0; /* position of the padding */
    char fill = ' ';
    if (left) {
        place = n;
    } else if (zeros) {
        size_t first = strchr("+- ", field[0]) ? 1 : 0;
        first += field[first] == '0' && strchr("xX", field[first + 1]) ? 2 : 0;
        place = field[first] == '0' ? first : 0;
        fill = field[first] == '0' ? '0' : ' ';
    }
    memmove(field + place + more, field + place, n - place);
    memset(field + place, fill, more);
    t->n += more;
}

static void convert(line *t, const spec *s, arguments *a);

/* Formats a conversion of any width. */
static void convert_wide(line *t, const spec *s, arguments *a)
{
    const int64_t given = s->width == -2 ? (int32_t)next(a, 4, true) : s->width;
    /* A negative width argument means a '-' flag and a positive width. */
    const bool left = strchr(s->flags, '-') || (s->width == -2 && given < 0);
    const uint64_t width = given < 0 ? (uint64_t)(s->width == -2 ? -given : 0) : (uint64_t)given;
    spec plain = *s;
    const size_t start = t->n;
    plain.width = s->width == -1 ? -1 : width < WIDE ? (int)width : WIDE;
    plain.left = left;
    t->full |= width > t->most;
    convert(t, &plain, a);
    if (width > WIDE) widen(t, start, width, left, strchr(s->flags, '0') != NULL);
}

/* Formats a conversion with a width of at most WIDE. */
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
        uint64_t v = next(a, wide ? 8 : 4, known);
        if (wide)
            putf(t, f, (unsigned long long)v);
        else
            putf(t, f, (unsigned)v);
        break;
    }
    case 'c':
        snprintf(f + n, sizeof f - (size_t)n, "c");
        putf(t, f, (int)next(a, 4, known));
        break;
    case 's':
    case 'S': {
        char text[4096];
        uint64_t v = next(a, 8, known);
        const char *string = v ? a->from->string(a->from->ctx, v, text, sizeof text) : "(null)";
        snprintf(f + n, sizeof f - (size_t)n, "s");
        putf(t, f, string ? string : "(null)");
        break;
    }
    case 'p':
        snprintf(f + n, sizeof f - (size_t)n, "p");
        putf(t, f, (void *)(uintptr_t)next(a, 8, known));
        break;
    default: {
        snprintf(f + n, sizeof f - (size_t)n, "%c", s->type);
        uint64_t v = next(a, 8, known);
        double d;
        memcpy(&d, &v, sizeof d);
        putf(t, f, d);
        break;
    }
    }
}

#pragma GCC diagnostic pop

int pl_print_format(pl_print_buffer *b, const char *format, const pl_print_source *from)
{
    line t = {.most = most(b)};
    arguments a = {.from = from, .format = format};
    for (const char *p = format; *p && !t.full;) {
        size_t plain = strcspn(p, "%");
        put(&t, p, plain);
        p += plain;
        if (!*p) break;
        spec s;
        const char *end = parse(p + 1, &s);
        if (end) {
            convert_wide(&t, &s, &a);
            p = end;
        } else {
            put(&t, "%", 1);
            p += p[1] == '%' ? 2 : 1;
        }
    }
    /* size of a record: two words, the arguments, the text of the format */
    b->full |= t.full;
    b->lost |= t.lost;
    if (!a.failed && !t.full)
        pl_print_add(b, t.at ? t.at : "", t.n,
                     (16 + 8 * (uint64_t)a.taken + strlen(format) + 1 + 7) & ~7ull);
    free(t.at);
    return a.taken;
}
