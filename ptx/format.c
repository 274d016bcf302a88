/* format.c - formats PTX text: one statement per line, blocks indented, one space after a comma.
 *
 * The formatter works on tokens, not on the tree, because the tree records neither the spelling of
 * numbers nor the positions of comments. Its own scanner keeps comments and line breaks. Statements
 * end at ';', labels at ':', heads of functions at '{'. All other spacing depends on pairs of
 * adjacent tokens (space_between). Line breaks within a statement of the source are ignored, which
 * makes formatting idempotent. */
#include "ptx/format.h"

#include <stdbool.h>
#include <string.h>

enum { INDENT = 4, WIDTH = 100 };

typedef enum kind { END, WORD, DOTTED, STRING, PUNCT, LINE_COMMENT, BLOCK_COMMENT, RAW } kind;

typedef struct token {
    kind kind;
    const char *at;
    size_t n;
    unsigned breaks; /* line breaks before it, at most 2 */
} token;

typedef struct layout {
    pl_arena *arena;
    struct {
        token *at;
        size_t n, cap;
    } tokens;
    struct {
        char *at;
        size_t n, cap;
    } out;
    size_t line_start; /* offset of the current line */
    unsigned depth;
    bool line_empty; /* the current line is still empty */
    bool has_output; /* the output is not empty */
    bool gap;        /* a function has ended: insert a blank line */
} layout;

/* ---- tokens ---- */

static bool is_follow(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* True for a number, false for a modifier such as .2d or .64x128b. */
static bool starts_number(const char *s, const char *end)
{
    if (is_digit(*s)) return true;
    const char *p = s + 1;
    if (*s != '.' || p >= end || !is_digit(*p)) return false;
    while (p < end && is_digit(*p)) p++;
    const int letter = p < end ? *p | 32 : 0;
    return !(letter >= 'a' && letter <= 'z' && letter != 'e');
}

/* Length of the word at s: a name, a dotted word (such as shared::cta) or a number. */
static size_t word_length(const char *s, const char *end)
{
    const char *p = s;
    if (starts_number(s, end)) {
        bool hex = *p == '0' && p + 1 < end && strchr("xXfFdD", p[1]) && p[1];
        for (; p < end; p++)
            if (!is_follow(*p) && !(*p == '.' && !hex) &&
                !((*p == '+' || *p == '-') && !hex && (p[-1] | 32) == 'e' && p + 1 < end &&
                  is_digit(p[1])))
                break;
        return (size_t)(p - s);
    }
    p++;
    for (; p < end; p++)
        if (!is_follow(*p) &&
            !(*s == '.' && *p == ':' && p + 2 < end && p[1] == ':' && is_follow(p[2]) && ++p) &&
            !(p - s == 6 && !memcmp(s, ".sp::", 5) && p + 1 < end && *p == ':' && is_digit(p[1])))
            break;
    return (size_t)(p - s);
}

static size_t punct_length(const char *s, const char *end)
{
    static const char *const pairs[] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++)
        if (end - s >= 2 && s[0] == pairs[k][0] && s[1] == pairs[k][1]) return 2;
    return 1;
}

/* .section NAME { ... } is debugging information and is copied unchanged. */
static const char *section_end(const char *s, const char *end)
{
    while (s < end && *s != '}')
        if (*s == '"')
            for (s++; s < end && *s != '"' && *s != '\n'; s++)
                ;
        else if (*s == '/' && s + 1 < end && s[1] == '/')
            while (s < end && *s != '\n') s++;
        else
            s++;
    return s < end ? s + 1 : end;
}

/* .nv_intermediate_source_section { ... } is copied unchanged, too. The text between .source_begin
 * and .source_end is arbitrary. */
static const char *intermediate_end(const char *s, const char *end)
{
    static const char begin[] = ".source_begin", stop[] = ".source_end";
    unsigned open = 0;
    while (s < end)
        if (*s == '"' || (*s == '/' && s + 1 < end && s[1] == '/')) {
            const char close = *s == '"' ? '"' : '\n';
            for (s++; s < end && *s != close && *s != '\n'; s++)
                ;
            s += s < end && *s == '"';
        } else if ((size_t)(end - s) >= sizeof begin - 1 && !memcmp(s, begin, sizeof begin - 1)) {
            while ((size_t)(end - s) >= sizeof stop - 1 && memcmp(s, stop, sizeof stop - 1)) s++;
            if ((size_t)(end - s) < sizeof stop - 1) return end;
            s += sizeof stop - 1;
        } else {
            open += *s == '{';
            if (*s++ == '}' && --open == 0) return s;
        }
    return end;
}

/* Scans the token at s, which is not a blank. Returns the position after it. */
static const char *scan_token(token *t, const char *s, const char *end, bool line_start)
{
    static const char intermediate[] = ".nv_intermediate_source_section";
    if (*s == '/' && s + 1 < end && s[1] == '/') {
        t->kind = LINE_COMMENT;
        while (s < end && *s != '\n') s++;
        while (s[-1] == ' ' || s[-1] == '\t' || s[-1] == '\r') s--;
    } else if (*s == '/' && s + 1 < end && s[1] == '*') {
        t->kind = BLOCK_COMMENT;
        for (s += 2; s < end && !(s[0] == '*' && s + 1 < end && s[1] == '/'); s++)
            ;
        s = end - s >= 2 ? s + 2 : end;
    } else if (*s == '#' && line_start) {
        t->kind = RAW;
        while (s < end && *s != '\n') s++;
    } else if (*s == '"') {
        t->kind = STRING;
        for (s++; s < end && *s != '"' && *s != '\n'; s++)
            ;
        s += s < end && *s == '"';
    } else if (is_follow(*s) || ((*s == '%' || *s == '.') && s + 1 < end && is_follow(s[1]))) {
        size_t n = word_length(s, end);
        t->kind =
            *s == '.' && !(is_digit(s[1]) && n > 1 && strspn(s + 1, "0123456789eE+-") >= n - 1)
                ? DOTTED
                : WORD;
        s += n;
        if (n == 8 && !memcmp(t->at, ".section", 8)) {
            t->kind = RAW;
            s = section_end(s, end);
        } else if (n == sizeof intermediate - 1 && !memcmp(t->at, intermediate, n)) {
            t->kind = RAW;
            s = intermediate_end(s, end);
        }
    } else {
        t->kind = PUNCT;
        s += punct_length(s, end);
    }
    return s;
}

static void scan(layout *l, const char *s, const char *end)
{
    unsigned breaks = 0;
    while (s < end) {
        token t = {.at = s, .breaks = breaks > 2 ? 2 : breaks};
        const char *from = s;
        if (*s == '\n') {
            breaks++;
            s++;
            continue;
        }
        if (*s == ' ' || *s == '\t' || *s == '\r' || *s == '\f' || *s == 0x1a) {
            s++;
            continue;
        }
        s = scan_token(&t, s, end, breaks || !l->tokens.n);
        t.n = (size_t)(s - from);
        breaks = 0;
        *pl_push(l->arena, &l->tokens) = t;
    }
    *pl_push(l->arena, &l->tokens) = (token){.kind = END, .at = end};
}

static bool is(const token *t, const char *text)
{
    return t->n == strlen(text) && !memcmp(t->at, text, t->n);
}

static bool is_comment(const token *t)
{
    return t->kind == LINE_COMMENT || t->kind == BLOCK_COMMENT;
}

/* The next token that is not a comment. */
static const token *next(const token *t)
{
    do t++;
    while (is_comment(t));
    return t;
}

/* ---- output ---- */

static void put(layout *l, const char *s, size_t n)
{
    size_t need = l->out.n + n + 1;
    while (l->out.cap < need && pl_arena_ok(l->arena))
        l->out.at = pl_vec_grow_(l->arena, l->out.at, &l->out.cap, &l->out.n, 1);
    if (l->out.cap < need) return;
    memcpy(l->out.at + l->out.n, s, n);
    l->out.n += n;
    if (n) l->has_output = true;
}

static void new_line(layout *l)
{
    if (!l->line_empty) put(l, "\n", 1);
    l->line_empty = true;
    l->line_start = l->out.n;
}

static void indent(layout *l, unsigned columns)
{
    static const char blanks[] = "                                                                ";
    while (columns) {
        unsigned part = columns < sizeof blanks - 1 ? columns : (unsigned)sizeof blanks - 1;
        put(l, blanks, part);
        columns -= part;
    }
    l->line_empty = false;
}

/* Starts a line for t; preserves one blank line of the source. */
static void start_line(layout *l, const token *t, unsigned columns)
{
    new_line(l);
    if ((t->breaks > 1 || l->gap) && l->has_output) put(l, "\n", 1);
    l->gap = false;
    l->line_start = l->out.n;
    indent(l, columns);
}

static size_t column(const layout *l)
{
    return l->out.n - l->line_start;
}

/* Writes a comment: after the code if it followed code, else on its own line. A line comment ends
 * the line. */
static void comment(layout *l, const token *t, unsigned columns)
{
    bool several = t->kind == BLOCK_COMMENT && memchr(t->at, '\n', t->n);
    if (t->breaks || !l->has_output || l->line_empty)
        start_line(l, t, columns);
    else
        put(l, "  ", 2);
    put(l, t->at, t->n);
    if (t->kind == LINE_COMMENT || several || (t[1].breaks && t[1].kind != END)) new_line(l);
}

/* ---- statements ---- */

typedef struct statement {
    const token *opcode; /* of an instruction, otherwise NULL */
    bool head;           /* of a function or kernel */
    bool named;          /* its name has been written */
    bool list;           /* parameters are written on separate lines */
    unsigned nesting;
} statement;

static bool space_between(const statement *s, const token *a, const token *b, bool opcode_open)
{
    if (b->kind == PUNCT && strchr(",;)]}", *b->at)) return false;
    if (a->kind == PUNCT && a->n == 1 && strchr("([{!~@", *a->at)) return false;
    if (is(a, ",") || is(a, "=") || is(b, "=") || is(a, "?") || is(b, "?")) return true;
    if (is(a, "%") || is(b, "%") || is(a, ":") || (is(b, ":") && s->opcode)) return true;
    if (opcode_open) /* still within the opcode: add .f32 is add.f32 */
        return b->kind != DOTTED;
    if (b->kind == DOTTED && s->opcode) return false; /* %r1.x */
    if (a->kind == PUNCT || b->kind == PUNCT) {
        if (is(b, "(") && a->kind == DOTTED && !is(a, ".attribute") && !is(a, ".unified"))
            return true; /* .func (.param .b32 r) f(...) */
        if (a->kind == PUNCT && strchr(")]}>", *a->at) && b->kind != PUNCT && !s->opcode)
            return true;
        return is(a, ")") && is(b, "(") && s->head;
    }
    return true;
}

/* True if the parentheses that open at t contain a comma. */
static bool has_list_inside(const token *t)
{
    unsigned nesting = 0;
    for (; t->kind != END; t++) {
        if (t->kind != PUNCT) continue;
        nesting += strchr("([{", *t->at) != NULL;
        if (strchr(")]}", *t->at) && !--nesting) return false;
        if (nesting == 1 && is(t, ",")) return true;
        if (is(t, ";")) return false;
    }
    return false;
}

/* .version, .target, .address_size, .file, .loc and .loc_intermediate have no ';'. Returns the last
 * token of the directive that begins at t. */
static const token *directive_end(const token *t)
{
    unsigned words = is(t, ".loc") || is(t, ".loc_intermediate") ? 3 : is(t, ".file") ? 2 : 1;
    const token *last = t;
    for (; words && next(last)->kind != END; words--) last = next(last);
    while (is(next(last), ",")) {
        const token *after = next(next(last));
        last = after;
        if (is(after, "function_name") || is(after, "inlined_at"))
            for (unsigned k = is(after, "inlined_at") ? 3 : 1; k && next(last)->kind != END; k--)
                last = next(last);
        if (is(next(last), "+")) last = next(next(last));
    }
    return last->kind == END ? t : last;
}

static bool is_plain_directive(const token *t)
{
    return is(t, ".version") || is(t, ".target") || is(t, ".address_size") || is(t, ".file") ||
           is(t, ".loc") || is(t, ".loc_intermediate");
}

/* Writes the separator before a token: a newline and indentation, a blank, or nothing. after_guard:
 * the previous token is the predicate of a guard. */
static void place_token(layout *l, const statement *s, const token *previous, const token *t,
                        bool after_guard, bool opcode_open)
{
    const unsigned base = l->depth * INDENT;
    bool directive = s->named && !s->nesting && t->kind == DOTTED;
    if (l->line_empty) {
        indent(l, is(t, ")") && s->list ? base
                  : directive           ? base
                  : s->list             ? base + INDENT
                                        : base + 2 * INDENT);
    } else if (directive ||
               (s->list && s->nesting == 1 && (is(previous, "(") || is(previous, ","))) ||
               (s->list && s->nesting == 1 && is(t, ")"))) {
        new_line(l);
        indent(l, directive || is(t, ")") ? base : base + INDENT);
    } else if (previous) {
        bool space = space_between(s, previous, t, opcode_open);
        if (after_guard && previous->kind != PUNCT) space = true; /* @%p1 add */
        if (space && is(previous, ",") && column(l) + t->n + 2 > WIDTH) {
            new_line(l);
            indent(l, base + 2 * INDENT);
        } else if (space) {
            put(l, " ", 1);
        }
    }
}

static void update_nesting(statement *s, const token *t)
{
    if (t->kind == PUNCT && strchr("([{", *t->at)) {
        if (s->head && !s->nesting && is(t, "(")) s->list = has_list_inside(t);
        s->nesting++;
    } else if (t->kind == PUNCT && strchr(")]}", *t->at) && s->nesting) {
        s->nesting--;
        if (!s->nesting) s->list = false;
    }
}

/* Writes the tokens from t to last, or to the end of the statement if last is NULL. Returns the
 * next token. */
static const token *write_statement(layout *l, const token *t, const token *last)
{
    unsigned base = l->depth * INDENT;
    statement s = {0};
    const token *previous = NULL;
    bool opcode_open = false;
    start_line(l, t, base);
    const token *first = t;
    if (is(t, "@")) first = is(next(t), "!") ? next(next(next(t))) : next(next(t));
    /* name: .callprototype ... is a directive */
    const bool table = is(next(first), ":") && next(next(first))->kind == DOTTED;
    if (first->kind == WORD && !table) s.opcode = first;
    for (;; t++) {
        if (t->kind == END) return t;
        if (is_comment(t)) {
            comment(l, t, base + 2 * INDENT);
            if (last && t == last) return t + 1;
            continue;
        }
        s.head |= (is(t, ".entry") || is(t, ".func")) && !s.opcode;
        if (!last && s.head && !s.nesting && is(t, "{")) return t;
        place_token(l, &s, previous, t, previous == first - 1, opcode_open);
        put(l, t->at, t->n);
        opcode_open = t == s.opcode || (opcode_open && t->kind == DOTTED);
        s.named |= s.head && !s.nesting && t->kind == WORD;
        update_nesting(&s, t);
        previous = t;
        if (last ? t == last : is(t, ";")) return t + 1;
    }
}

pl_status pl_ptx_format(pl_arena *arena, const char *text, size_t size, char **out, size_t *n)
{
    layout l = {.arena = arena, .line_empty = true};
    scan(&l, text, text + size);
    if (!pl_arena_ok(arena)) return PL_NOMEM;
    for (const token *t = l.tokens.at; t->kind != END;) {
        unsigned base = l.depth * INDENT;
        const token *after = next(t);
        if (is_comment(t)) {
            comment(&l, t, base);
            t++;
        } else if (t->kind == RAW) {
            start_line(&l, t, 0);
            put(&l, t->at, t->n);
            t++;
        } else if (is(t, "{") || is(t, "}")) {
            if (*t->at == '}' && l.depth) l.depth--;
            start_line(&l, t, l.depth * INDENT);
            put(&l, t->at, 1);
            if (*t->at == '{') l.depth++;
            l.gap = !l.depth;
            t++;
        } else if (t->kind == WORD && is(after, ":") && after == t + 1) {
            const token *what = next(after);
            if (what->kind == DOTTED && (is(what, ".branchtargets") || is(what, ".calltargets") ||
                                         is(what, ".callprototype"))) {
                t = write_statement(&l, t, NULL);
            } else {
                start_line(&l, t, base >= INDENT ? base - INDENT : 0);
                put(&l, t->at, t->n);
                put(&l, ":", 1);
                t = after + 1;
            }
        } else {
            t = write_statement(&l, t, is_plain_directive(t) ? directive_end(t) : NULL);
        }
    }
    new_line(&l);
    put(&l, "", 0);
    if (!pl_arena_ok(arena)) return PL_NOMEM;
    if (l.out.at) l.out.at[l.out.n] = 0;
    *out = l.out.at ? l.out.at : pl_arena_strdup(arena, "");
    *n = l.out.n;
    return *out ? PL_OK : PL_NOMEM;
}
