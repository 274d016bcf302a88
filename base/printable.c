/* printable.c - UTF-8 characters, and those that must not be sent to a terminal. */
#include "base/printable.h"
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

size_t pl_utf8_length(const char *s, size_t n)
{
    const unsigned char *p = (const unsigned char *)s;
    if (n == 0 || (p[0] >= 0x80 && p[0] < 0xc2) || p[0] >= 0xf5) return 0;
    size_t length = p[0] < 0x80 ? 1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    if (length > n) return 0;
    for (size_t i = 1; i < length; i++)
        if ((p[i] & 0xc0) != 0x80) return 0;
    /* Rejects overlong forms, surrogates, and values above U+10FFFF. */
    if (length == 3 && ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f))) return 0;
    if (length == 4 && ((p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))) return 0;
    return length;
}

static uint32_t code_point(const unsigned char *p, size_t length)
{
    uint32_t c = length == 1 ? p[0] : p[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) c = c << 6 | (p[i] & 0x3fu);
    return c;
}

/* True for C0, DEL and C1; line and paragraph separators; marks, embeddings, overrides and isolates
 * of bidirectional text. */
static bool is_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

size_t pl_printable(const char *s, size_t n, char *as)
{
    size_t length = pl_utf8_length(s, n);
    *as = 0;
    if (length == 0) {
        *as = '?';
        return 1;
    }
    if (is_control(code_point((const unsigned char *)s, length)))
        *as = strchr("\t\n\v\f\r", *s) && *s ? ' ' : '?';
    return length;
}
