/* lex_support.c - functions called by the scanner of lex.l: memory, line markers, bytes in
 * messages. */
#include "ptx/internal.h"
#include "ptx/parse/parse.h"

#include <assert.h>
#include <string.h>

pl_parse *pl_ptx_yyget_extra(yyscan_t scanner); /* from lex.l */

/* PTX has no preprocessor; the line markers of one are ignored, everything else is an error. */
void pl_parse_hash_line(pl_parse *p, const char *text, size_t n, pl_loc at)
{
    size_t k = 0;
    while (k < n && (text[k] == ' ' || text[k] == '\t')) k++;
    at.column += (uint32_t)k++;
    at.length = (uint32_t)(n - k + 1);
    while (k < n && text[k] == ' ') k++;
    if (k < n &&
        ((text[k] >= '0' && text[k] <= '9') || (n - k > 4 && !memcmp(text + k, "line", 4))))
        return;
    pl_report(p->diags, PL_E0102, at);
}

const char *pl_parse_show_byte(pl_parse *p, unsigned char c)
{
    return c > 32 && c < 127 ? pl_arena_printf(p->arena, "'%c'", c)
                             : pl_arena_printf(p->arena, "byte 0x%02x", c);
}

/* Code point of the UTF-8 character at s, 0 if the bytes are not UTF-8. */
static uint32_t code_point(const char *s, const char *end, size_t *length)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char first = (unsigned char)*s;
    const size_t n = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || (size_t)(end - s) < n) return 0;
    uint32_t c = first & (0x7fu >> n);
    for (size_t k = 1; k < n; k++) {
        if (((unsigned char)s[k] & 0xc0) != 0x80) return 0;
        c = c << 6 | ((unsigned char)s[k] & 0x3f);
    }
    *length = n;
    return c < least[n] ? 0 : c;
}

const char *pl_parse_show_character(pl_parse *p, const char *s, const char *end)
{
    size_t n = 0;
    const uint32_t c = (unsigned char)*s >= 0x80 ? code_point(s, end, &n) : 0;
    if (!c) return pl_parse_show_byte(p, (unsigned char)*s);
    if (c == 0xfeff) return "the byte order mark (U+FEFF)";
    if (c == 0xa0 || c == 0x202f || (c >= 0x2000 && c <= 0x200a) || c == 0x3000)
        return pl_arena_printf(p->arena, "the space U+%04X", c);
    if (c < 0xa0 || c == 0xad || (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
        (c >= 0x2060 && c <= 0x206f))
        return pl_arena_printf(p->arena, "the invisible character U+%04X", c);
    return pl_arena_printf(p->arena, "'%.*s' (U+%04X)", (int)n, s, c);
}

/* The scanner allocates from the parse's arena, which frees the memory with the parse. */
void *pl_ptx_yyalloc(size_t bytes, yyscan_t scanner)
{
    pl_parse *p = pl_ptx_yyget_extra(scanner);
    return pl_arena_alloc(p->names, bytes);
}

void *pl_ptx_yyrealloc(void *at, size_t bytes, yyscan_t scanner)
{
    (void)at, (void)bytes, (void)scanner;
    assert(false && "the scanner reads one buffer, which does not grow");
    return NULL;
}

void pl_ptx_yyfree(void *at, yyscan_t scanner)
{
    (void)at, (void)scanner;
}
