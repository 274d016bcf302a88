/* json_out.c - writes JSON to a file incrementally. */
#include "base/json_out.h"
#include "base/printable.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Writes the separator before a value: a comma, unless it is the first of its level or follows a
 * key. */
static void separate(pl_json *j)
{
    if (j->after_key) {
        j->after_key = false;
        return;
    }
    if (j->depth == 0) return;
    if (j->has_element[j->depth - 1]) putc(',', j->file);
    j->has_element[j->depth - 1] = true;
}

void pl_json_open(pl_json *j, char bracket)
{
    separate(j);
    putc(bracket, j->file);
    j->end[j->depth] = bracket == '{' ? '}' : ']';
    j->has_element[j->depth++] = false;
}

void pl_json_close(pl_json *j)
{
    putc(j->end[--j->depth], j->file);
}

static void write_string(pl_json *j, const char *text)
{
    putc('"', j->file);
    size_t remaining = strlen(text);
    for (const unsigned char *s = (const unsigned char *)text; remaining > 0;) {
        size_t n = pl_utf8_length((const char *)s, remaining);
        if (n != 1) {
            if (n)
                fwrite(s, 1, n, j->file);
            else
                putc('?', j->file);
            s += n ? n : 1;
            remaining -= n ? n : 1;
            continue;
        }
        if (*s == '"' || *s == '\\')
            fprintf(j->file, "\\%c", *s);
        else if (*s == '\n')
            fputs("\\n", j->file);
        else if (*s == '\t')
            fputs("\\t", j->file);
        else if (*s < ' ' || (j->html && *s == '<'))
            fprintf(j->file, "\\u%04x", *s);
        else
            putc(*s, j->file);
        s++;
        remaining--;
    }
    putc('"', j->file);
}

void pl_json_key(pl_json *j, const char *key)
{
    separate(j);
    write_string(j, key);
    putc(':', j->file);
    j->after_key = true;
}

void pl_json_text(pl_json *j, const char *text)
{
    separate(j);
    if (text)
        write_string(j, text);
    else
        fputs("null", j->file);
}

void pl_json_int(pl_json *j, int64_t v)
{
    separate(j);
    fprintf(j->file, "%" PRId64, v);
}

void pl_json_real(pl_json *j, double v)
{
    char number[40];
    separate(j);
    if (!isfinite(v)) {
        fputs("null", j->file);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(number, sizeof number, "%.*g", digits, v);
        if (strtod(number, NULL) == v) break;
    }
    fputs(number, j->file);
}

void pl_json_null(pl_json *j)
{
    pl_json_text(j, NULL);
}

void pl_json_bool(pl_json *j, bool v)
{
    separate(j);
    fputs(v ? "true" : "false", j->file);
}

void pl_write_base64(FILE *f, const void *bytes, size_t n)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *p = bytes;
    for (size_t i = 0; i < n; i += 3) {
        size_t remaining = n - i;
        uint32_t v = (uint32_t)p[i] << 16 | (remaining > 1 ? (uint32_t)p[i + 1] << 8 : 0) |
                     (remaining > 2 ? p[i + 2] : 0);
        const char four[4] = {digit[v >> 18], digit[v >> 12 & 63],
                              remaining > 1 ? digit[v >> 6 & 63] : '=',
                              remaining > 2 ? digit[v & 63] : '='};
        fwrite(four, 1, 4, f);
    }
}

void pl_json_base64(pl_json *j, const void *bytes, size_t n)
{
    separate(j);
    putc('"', j->file);
    pl_write_base64(j->file, bytes, n);
    putc('"', j->file);
}
