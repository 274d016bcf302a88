/* number.c - the value of a number literal (PTX ISA 9.0, section 4.5).
 *
 * Integers have 64 bits: decimal, octal (0...), hexadecimal (0x...) and binary (0b...), with an
 * optional U. Floating-point numbers are doubles; 0f and 0d specify the exact bits of a single or a
 * double. */
#include "ptx/internal.h"
#include "ptx/parse/parse.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int digit(char c)
{
    return c <= '9' ? c - '0' : (c | 32) - 'a' + 10;
}

static bool integer(const char *s, size_t n, unsigned base, uint64_t *out)
{
    uint64_t v = 0;
    for (size_t k = 0; k < n; k++) {
        uint64_t d = (uint64_t)digit(s[k]), max = (UINT64_MAX - d) / base;
        bool one_bit_more = k + 1 == n && base != 2 && v / 2 <= max; /* accepted by ptxas 13.0 */
        if (v > max && !one_bit_more) return false;
        v = v * base + d;
    }
    *out = v;
    return true;
}

/* strtod reads the decimal point of the caller's locale; PTX always has '.'. */
static double decimal(pl_parse *p, const char *text, size_t n)
{
    const char *point = localeconv()->decimal_point;
    const char *dot = memchr(text, '.', n);
    char *copy = dot && strcmp(point, ".")
                     ? pl_arena_printf(p->arena, "%.*s%s%.*s", (int)(dot - text), text, point,
                                       (int)(n - (size_t)(dot - text) - 1), dot + 1)
                     : pl_arena_strndup(p->arena, text, n);
    return strtod(copy, NULL);
}

/* True if the number has a nonzero digit before its exponent. */
static bool has_digits(const char *text, size_t n)
{
    for (size_t k = 0; k < n && (text[k] | 32) != 'e'; k++)
        if (text[k] >= '1' && text[k] <= '9') return true;
    return false;
}

int pl_parse_number(pl_parse *p, const char *text, size_t n, pl_loc at, pl_number *out)
{
    *out = (pl_number){.text = text, .len = (uint32_t)n};
    char second = n > 1 ? (char)(text[1] | 32) : 0;
    if (text[0] == '0' && (second == 'f' || second == 'd')) {
        integer(text + 2, n - 2, 16, &out->bits);
        out->is_float = out->bits_given = true;
        if (second == 'f') {
            float f;
            out->single = true;
            out->single_bits = (uint32_t)out->bits;
            memcpy(&f, &out->single_bits, sizeof f);
            double d = (double)f;
            memcpy(&out->bits, &d, sizeof d);
        }
        return T_FLOAT;
    }
    bool hex = text[0] == '0' && second == 'x';
    if (!hex && (memchr(text, '.', n) || memchr(text, 'e', n) || memchr(text, 'E', n))) {
        double d = decimal(p, text, n);
        if (isinf(d) || (fabs(d) < DBL_MIN && has_digits(text, n)))
            pl_report(p->diags, PL_E0386, at, (int)n, text, isinf(d) ? "too large" : "too small");
        memcpy(&out->bits, &d, sizeof d);
        out->is_float = true;
        return T_FLOAT;
    }
    size_t end = n;
    if (text[n - 1] == 'U') {
        out->is_unsigned = true;
        end--;
    }
    unsigned base = hex                               ? 16
                    : text[0] == '0' && second == 'b' ? 2
                    : text[0] == '0' && end > 1       ? 8
                                                      : 10;
    size_t start = base == 16 || base == 2 ? 2 : 0;
    if (base == 8)
        for (size_t k = 0; k < end; k++)
            if (text[k] > '7') {
                pl_report(p->diags, PL_E0104, at, (int)n, text)->help =
                    "a number that starts with 0 is octal: its digits are 0 to 7";
                return T_INT;
            }
    if (!integer(text + start, end - start, base, &out->bits))
        pl_report(p->diags, PL_E0105, at, (int)n, text);
    if (out->bits > INT64_MAX) out->is_unsigned = true;
    return T_INT;
}
