/* fast_path.c - parses plain statements, the majority of a module, without the grammar.
 *
 * A statement is plain if it is an instruction whose operands are only names, numbers, vectors,
 * addresses and lists:
 *
 *     $L__BB0_2:
 *     @%p1 ld.global.v2.f32 {%f1, %f2}, [%rd4+-16];   // and a comment
 *
 * The grammar (parse.y) calls pl_plain_statements where a statement may begin. The fast path
 * creates the same nodes with the same positions as the grammar, in a third of the time. At
 * anything else - an expression, a directive, an error - it stops before that statement, and the
 * grammar parses it. The only diagnostics issued here are those of pl_stmt_insn about the
 * instruction. A statement is scanned to its end before it has any effect. The grammar alone
 * therefore defines the language. */
#include "ptx/parse/fast_path.h"

#include <string.h>

#include "ptx/parse/parse.h"

/* Classes of bytes. As in ptxas 13.0, 0x1a (the end of a file of DOS) is blank, '\v' is not. */
enum {
    FOLLOW = 1,
    WORD = 2,
    BLANK = 4,
    DIGIT = 8,
    HEX = 16,
    START = 32,
    CONNECTOR = 64 /* joins words */
};

#define DIGITS FOLLOW | WORD | DIGIT | HEX
#define LETTER FOLLOW | WORD | START
static const uint8_t kinds[256] = {
    ['.'] = CONNECTOR,      [':'] = CONNECTOR,    [' '] = BLANK,
    ['\t'] = BLANK,         ['\r'] = BLANK,       ['\f'] = BLANK,
    [0x1a] = BLANK,         ['0'] = DIGITS,       ['1'] = DIGITS,
    ['2'] = DIGITS,         ['3'] = DIGITS,       ['4'] = DIGITS,
    ['5'] = DIGITS,         ['6'] = DIGITS,       ['7'] = DIGITS,
    ['8'] = DIGITS,         ['9'] = DIGITS,       ['_'] = FOLLOW | WORD | START,
    ['$'] = FOLLOW | START, ['%'] = START,        ['A'] = LETTER | HEX,
    ['B'] = LETTER | HEX,   ['C'] = LETTER | HEX, ['D'] = LETTER | HEX,
    ['E'] = LETTER | HEX,   ['F'] = LETTER | HEX, ['G'] = LETTER,
    ['H'] = LETTER,         ['I'] = LETTER,       ['J'] = LETTER,
    ['K'] = LETTER,         ['L'] = LETTER,       ['M'] = LETTER,
    ['N'] = LETTER,         ['O'] = LETTER,       ['P'] = LETTER,
    ['Q'] = LETTER,         ['R'] = LETTER,       ['S'] = LETTER,
    ['T'] = LETTER,         ['U'] = LETTER,       ['V'] = LETTER,
    ['W'] = LETTER,         ['X'] = LETTER,       ['Y'] = LETTER,
    ['Z'] = LETTER,         ['a'] = LETTER | HEX, ['b'] = LETTER | HEX,
    ['c'] = LETTER | HEX,   ['d'] = LETTER | HEX, ['e'] = LETTER | HEX,
    ['f'] = LETTER | HEX,   ['g'] = LETTER,       ['h'] = LETTER,
    ['i'] = LETTER,         ['j'] = LETTER,       ['k'] = LETTER,
    ['l'] = LETTER,         ['m'] = LETTER,       ['n'] = LETTER,
    ['o'] = LETTER,         ['p'] = LETTER,       ['q'] = LETTER,
    ['r'] = LETTER,         ['s'] = LETTER,       ['t'] = LETTER,
    ['u'] = LETTER,         ['v'] = LETTER,       ['w'] = LETTER,
    ['x'] = LETTER,         ['y'] = LETTER,       ['z'] = LETTER,
};

enum { MAX_DEPTH = 4 };

typedef struct reader {
    pl_parse *p;
    const char *at, *line_start;
    uint32_t line;
} reader;

static bool is_class(char c, unsigned kind)
{
    return kinds[(unsigned char)c] & kind;
}

static const char *skip_class(const char *at, unsigned kind)
{
    while (is_class(*at, kind)) at++;
    return at;
}

/* Blanks, ends of lines and // comments. */
static void skip_blanks(reader *r)
{
    for (const char *s = r->at;; s++) {
        if (is_class(*s, BLANK)) continue;
        if (*s == '\n') {
            r->line++;
            r->line_start = s + 1;
        } else if (s[0] == '/' && s[1] == '/') {
            while (s[1] && s[1] != '\n') s++;
        } else {
            r->at = s;
            return;
        }
    }
}

/* The location of the n bytes at the reader. */
static pl_loc loc_at(const reader *r, size_t n)
{
    return (pl_loc){r->p->ast->file, r->line, (uint32_t)(r->at - r->line_start) + 1u, (uint32_t)n};
}

static pl_loc join_locs(pl_loc first, pl_loc last)
{
    if (last.line == first.line) first.length = last.column + last.length - first.column;
    return first;
}

/* Consumes the character; false if the next one is different. */
static bool take(reader *r, char c)
{
    if (*r->at != c) return false;
    r->at++;
    return true;
}

/* Consumes a name; NULL: none, or one that is left to the lexer. */
static pl_sym *take_name(reader *r, pl_loc *loc)
{
    const char *s = r->at, *end;
    if (!is_class(*s, START)) return NULL;
    end = skip_class(s + 1, FOLLOW);
    size_t n = (size_t)(end - s);
    if ((n == 1 && !is_class(*s, WORD)) || (n == 1 && *s == '_') ||
        (n == 7 && !memcmp(s, "WARP_SZ", 7)))
        return NULL;
    *loc = loc_at(r, n);
    r->at = end;
    return pl_sym_intern(r->p, s, n);
}

/* Consumes a modifier or type; NULL: the word is a directive, or a number. */
static pl_sym *take_word(reader *r, pl_loc *loc)
{
    const char *s = r->at, *end = s + 1;
    if (!is_class(*end, WORD)) return NULL;
    while (is_class(*end, DIGIT)) end++;
    if (end > s + 1 && (!is_class(*end, WORD) || *end == 'e' || *end == 'E')) return NULL;
    end = skip_class(end, WORD);
    while (end[0] == ':' && end[1] == ':' && is_class(end[2], WORD))
        end = skip_class(end + 2, WORD);
    size_t n = (size_t)(end - s);
    pl_sym *w = pl_sym_intern(r->p, s, n);
    switch (w->token) {
    case T_WORD:
    case T_CONST:
    case T_GLOBAL:
    case T_LOCAL:
    case T_PARAM:
    case T_SHARED:
    case T_TEX:
    case T_WEAK:
    case T_REG:
    case T_ALIAS: break;
    default: return NULL;
    }
    *loc = loc_at(r, n);
    r->at = end;
    return w;
}

/* Consumes an unambiguous integer, or the bits of a floating-point number. */
static bool take_number(reader *r, pl_number *n, pl_loc *loc)
{
    const char *s = r->at, *end;
    char second = (char)(s[1] | 32);
    if (!is_class(*s, DIGIT)) return false;
    if (*s == '0' && (second == 'x' || second == 'f' || second == 'd')) {
        end = skip_class(s + 2, HEX);
        ptrdiff_t digits = end - s - 2;
        if (second == 'x' ? digits < 1 || digits > 16 : digits != (second == 'f' ? 8 : 16))
            return false;
    } else {
        end = skip_class(s, DIGIT);
        if (end - s > 18 || (*s == '0' && end > s + 1)) return false;
    }
    if (is_class(*end, FOLLOW) || *end == '.') return false;
    *loc = loc_at(r, (size_t)(end - s));
    pl_parse_number(r->p, s, (size_t)(end - s), *loc, n);
    r->at = end;
    return true;
}

static uint32_t operand(reader *r, unsigned depth, pl_loc *loc);

/* a, b, c and the closing character. 0 and false: not plain. */
static bool list(reader *r, unsigned depth, char end, uint32_t *nodes)
{
    *nodes = 0;
    for (;;) {
        pl_loc loc;
        skip_blanks(r);
        uint32_t one = operand(r, depth, &loc);
        if (!one) return false;
        *nodes = pl_node_list(r->p, *nodes, one);
        skip_blanks(r);
        if (*r->at == end) return true;
        if (!take(r, ',')) return false;
    }
}

static uint32_t bracketed(reader *r, unsigned depth, char end, pl_node_kind kind, pl_loc *loc)
{
    uint32_t nodes = 0;
    if (depth == MAX_DEPTH) return 0;
    *loc = loc_at(r, 1);
    r->at++;
    skip_blanks(r);
    if (!(*r->at == end && kind == PL_N_LIST) && !list(r, depth + 1, end, &nodes)) return 0;
    *loc = join_locs(*loc, loc_at(r, 1));
    r->at++;
    return pl_node_close(r->p, kind, nodes, *loc);
}

/* A name or a register, optionally with a selector. */
static uint32_t name(reader *r, pl_loc *loc)
{
    pl_sym *s = take_name(r, loc), *part;
    if (!s) return 0;
    uint32_t n = pl_node_name(r->p, s, *loc);
    if (*r->at == '.') {
        pl_loc at;
        if (!(part = take_word(r, &at))) return 0;
        pl_node_select(r->p, n, part, at);
        *loc = join_locs(*loc, at);
    }
    return n;
}

/* An integer that may be negative. */
static uint32_t integer(reader *r, pl_loc *loc)
{
    pl_loc sign = loc_at(r, 1);
    bool minus = take(r, '-');
    pl_number n;
    if (!take_number(r, &n, loc) || (minus && n.is_float)) return 0;
    uint32_t node = pl_node_number(r->p, &n, *loc);
    if (!minus) return node;
    *loc = join_locs(sign, *loc);
    return pl_node_unary(r->p, '-', node, *loc);
}

/* NAME+4 */
static uint32_t with_offset(reader *r, uint32_t base, pl_loc *loc)
{
    pl_loc at;
    r->at++;
    skip_blanks(r);
    uint32_t offset = integer(r, &at);
    if (!offset || r->p->nodes.at[offset].kind != PL_N_INT) return 0;
    *loc = join_locs(*loc, at);
    return pl_node_binary(r->p, '+', base, offset, *loc);
}

/* a|b */
static uint32_t with_second(reader *r, uint32_t first, pl_loc *loc)
{
    pl_loc at;
    r->at++;
    skip_blanks(r);
    at = loc_at(r, 1);
    bool sink = *r->at == '_' && !is_class(r->at[1], FOLLOW);
    uint32_t second = sink ? pl_node_new(r->p, PL_N_SINK, at) : name(r, &at);
    if (!second) return 0;
    r->at += sink;
    *loc = join_locs(*loc, at);
    return pl_node_binary(r->p, '|', first, second, *loc);
}

/* Node of an operand; 0: not plain. */
static uint32_t operand(reader *r, unsigned depth, pl_loc *loc)
{
    uint32_t n;
    pl_loc sign;
    switch (*r->at) {
    case '{': return bracketed(r, depth, '}', PL_N_VEC, loc);
    case '[': return bracketed(r, depth, ']', PL_N_ADDR, loc);
    case '(': return bracketed(r, depth, ')', PL_N_LIST, loc);
    case '!':
        sign = loc_at(r, 1);
        r->at++;
        if (!(n = name(r, loc))) return 0;
        *loc = join_locs(sign, *loc);
        return pl_node_unary(r->p, '!', n, *loc);
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9': return integer(r, loc);
    case '_':
        if (!is_class(r->at[1], FOLLOW)) {
            *loc = loc_at(r, 1);
            n = pl_node_new(r->p, PL_N_SINK, *loc);
            r->at++;
            break;
        }
        /* fall through */
    default:
        if (!(n = name(r, loc))) return 0;
        if (is_class(*r->at, BLANK)) skip_blanks(r);
        if (*r->at == '+') return with_offset(r, n, loc);
    }
    if (is_class(*r->at, BLANK)) skip_blanks(r);
    return *r->at == '|' ? with_second(r, n, loc) : n;
}

/* NAME: as a label, unless a table of targets follows. */
static bool label(reader *r, pl_sym *s, pl_loc loc)
{
    r->at++;
    skip_blanks(r);
    if (*r->at == '.' || *r->at == '/' || !*r->at) return false;
    pl_label_define(r->p, s, loc);
    return true;
}

/* opcode.words operands ; */
static bool instruction(reader *r)
{
    pl_parse *p = r->p;
    pl_sym *guard = NULL, *opcode;
    pl_loc guard_at = {0}, at, loc;
    bool neg = false;
    uint32_t operands = 0;
    if (take(r, '@')) {
        neg = take(r, '!');
        if (!(guard = take_name(r, &guard_at))) return false;
        skip_blanks(r);
    }
    const char *start = r->at;
    size_t n = (size_t)(skip_class(start, FOLLOW | CONNECTOR) - start);
    if ((opcode = pl_stmt_cache_lookup(p, start, n)) != NULL) {
        at = loc_at(r, n);
        r->at += n;
        n = 0;
    } else {
        if (!(opcode = take_name(r, &at))) return false;
        if (*r->at == ':' && !guard) return label(r, opcode, at);
        if (opcode->mnem < 0) return false;
        pl_stmt_words(p);
        while (*r->at == '.') {
            pl_sym *w = take_word(r, &loc);
            if (!w || p->nwords == PL_MAX_WORDS) return false;
            pl_stmt_word(p, w, loc);
            at = join_locs(at, loc);
        }
        n = r->at == start + n ? n : 0;
    }
    skip_blanks(r);
    if (*r->at != ';' && !list(r, 0, ';', &operands)) return false;
    /* The lexer must have read the end of the file itself, because messages refer to it. */
    if (!*++r->at) return false;
    pl_stmt_insn(p, guard, neg, guard ? guard_at : at, opcode, at, operands);
    if (n) pl_stmt_cache_add(p, start, n, opcode);
    return true;
}

size_t pl_plain_statements(pl_parse *p, const char *text)
{
    reader r = {p, text, p->line_start, p->line};
    while (p->func && pl_parse_ok(p)) {
        const reader start = r; /* blanks before a statement left to the grammar are left to the
                                   lexer: the end of the file is after them */
        skip_blanks(&r);
        if (!instruction(&r)) {
            r = start;
            pl_nodes_reset(p);
            break;
        }
    }
    p->line = r.line;
    p->line_start = r.line_start;
    return (size_t)(r.at - text);
}
