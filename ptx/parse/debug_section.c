/* debug_section.c - .section: DWARF debugging data, which the assembler ignores (PTX ISA 9.0,
 * section 11.5).
 *
 * The lexer passes everything between `.section` and `}`. The data do not affect the program. They
 * are checked nevertheless, because a truncated or badly edited file is often detected here first.
 */
#include "ptx/internal.h"

#include <ctype.h>
#include <string.h>

typedef struct reader {
    pl_parse *p;
    const char *s, *end, *line_start;
    uint32_t line;
    bool wrong; /* reported once per section */
} reader;

/* A piece of text: a word, a number, or one character. */
typedef struct piece {
    const char *s;
    size_t n;
    pl_loc at;
} piece;

static void skip(reader *r)
{
    while (r->s < r->end) {
        size_t left = (size_t)(r->end - r->s);
        if (*r->s == '\n') {
            r->line++;
            r->line_start = ++r->s;
        } else if (isspace((unsigned char)*r->s))
            r->s++;
        else if (left > 1 && r->s[0] == '/' && r->s[1] == '/')
            while (r->s < r->end && *r->s != '\n') r->s++;
        else
            return;
    }
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '.' || c == '%';
}

static piece next(reader *r)
{
    skip(r);
    piece t = {.s = r->s};
    while (r->s < r->end && is_word(*r->s)) r->s++;
    if (r->s == t.s && r->s < r->end) r->s++;
    t.n = (size_t)(r->s - t.s);
    t.at = (pl_loc){.file = r->p->ast->file,
                    .line = r->line,
                    .column = (uint32_t)(t.s - r->line_start) + 1u,
                    .length = (uint32_t)(t.n ? t.n : 1)};
    return t;
}

static piece peek(const reader *r)
{
    reader copy = *r;
    return next(&copy);
}

static bool is(const piece *t, char c)
{
    return t->n == 1 && *t->s == c;
}

static bool is_label(const piece *t)
{
    return t->n && is_word(*t->s) && !isdigit((unsigned char)*t->s) && *t->s != '.';
}

static bool report_expected(reader *r, const piece *t, const char *expected)
{
    if (!r->wrong) pl_report(r->p->diags, PL_E0378, t->at, expected);
    r->wrong = true;
    return false;
}

/* [-] number, within the range of the type */
static bool number(reader *r, unsigned bits)
{
    piece t = next(r);
    bool negative = is(&t, '-');
    if (negative) t = next(r);
    pl_number n;
    if (!t.n || !isdigit((unsigned char)*t.s)) return report_expected(r, &t, "a number or a label");
    for (size_t k = 0; k < t.n; k++)
        if (!isxdigit((unsigned char)t.s[k]) && !(k == 1 && (t.s[1] | 32) == 'x') && t.s[k] != 'U')
            return report_expected(r, &t, "an integer");
    if (pl_parse_number(r->p, t.s, t.n, t.at, &n) && n.is_float)
        return report_expected(r, &t, "an integer");
    uint64_t max = UINT64_C(1) << (bits - 1);
    if (!negative) max += max - 1;
    if (bits < 32 && n.bits > max)
        return report_expected(r, &t, bits == 8 ? "a number of 8 bits" : "a number of 16 bits");
    return true;
}

/* A number, or (in a field of address size) a label or section, optionally plus a number or minus a
 * label. Nothing else is accepted (ptxas 13.0). */
static bool value(reader *r, unsigned bits)
{
    piece t = peek(r);
    if (!t.n || isdigit((unsigned char)*t.s) || !is_word(*t.s)) return number(r, bits);
    if (bits < 32) return report_expected(r, &t, "a number");
    if (t.n > 1 && memchr(t.s + 1, '.', t.n - 1))
        return report_expected(r, &t, "a name without '.' in it");
    next(r);
    t = peek(r);
    if (!is(&t, '+') && !is(&t, '-')) return true;
    bool add = is(&t, '+');
    next(r);
    t = peek(r);
    if (add)
        return t.n && isdigit((unsigned char)*t.s)
                   ? number(r, 64)
                   : report_expected(r, &t, "a number without a sign");
    if (!is_label(&t)) return report_expected(r, &t, "a label");
    next(r);
    return true;
}

static unsigned bits_of(const piece *t)
{
    static const struct {
        const char *name;
        unsigned bits;
    } types[] = {{".b8", 8}, {".b16", 16}, {".b32", 32}, {".b64", 64}};
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        if (t->n == strlen(types[k].name) && !memcmp(t->s, types[k].name, t->n))
            return types[k].bits;
    return 0;
}

static bool values(reader *r, unsigned bits)
{
    for (;;) {
        if (!value(r, bits)) return false;
        piece t = peek(r);
        if (!is(&t, ',')) return true;
        next(r);
    }
}

static bool label(reader *r, const piece *t, pl_map *own)
{
    piece colon = next(r);
    if (!is(&colon, ':')) return report_expected(r, &colon, "':' after a label");
    char *name = pl_arena_strndup(r->p->arena, t->s, t->n);
    if (pl_map_get(own, name, t->n)) {
        pl_report(r->p->diags, PL_E0301, t->at, name);
        return false;
    }
    pl_map_put(own, name, t->n, name);
    pl_map_put(&r->p->section_labels, name, t->n, name);
    return true;
}

void pl_section_check(pl_parse *p, const char *text, size_t n, const char *line_start,
                      uint32_t line)
{
    reader r = {.p = p, .s = text, .end = text + n, .line_start = line_start, .line = line};
    pl_map own;
    pl_map_init(&own, p->arena);
    piece name = next(&r), brace = name.n && *name.s == '.' ? next(&r) : name;
    if (name.n == 0 || *name.s != '.' || !is(&brace, '{')) {
        report_expected(&r, &brace,
                        name.n && *name.s == '.' ? "'{' after its name"
                                                 : "a name that begins with '.'");
        return;
    }
    p->debug_section |= (name.n == 11 && !memcmp(name.s, ".debug_info", 11)) ||
                        (name.n == 13 && !memcmp(name.s, ".debug_abbrev", 13));
    for (piece t = next(&r); t.n; t = next(&r)) {
        unsigned bits = bits_of(&t);
        if (bits           ? !values(&r, bits)
            : is_label(&t) ? !label(&r, &t, &own)
                           : !report_expected(&r, &t, ".b8, .b16, .b32, .b64 or a label"))
            return;
    }
}
