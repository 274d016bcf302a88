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
