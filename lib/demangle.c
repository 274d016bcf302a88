/* demangle.c - a demangler (Itanium C++ ABI) for functions, namespaces, templates, pointers and
 * builtin types. See demangle.h. */
#include "lib/demangle.h"

#include <stdbool.h>
#include <string.h>

/* MAX_TEXT: bytes; substitutions of substitutions grow exponentially. */
enum { MAX_SUBSTITUTIONS = 64, MAX_ARGUMENTS = 16, MAX_DEPTH = 16, MAX_TEXT = 4096 };

typedef struct reader {
    pl_arena *a;
    const char *at;
    const char *substitution[MAX_SUBSTITUTIONS]; /* what S_, S0_ ... refer to */
    unsigned n;
    const char *argument[MAX_ARGUMENTS]; /* of the function's template: what T_, T0_ ... refer to */
    unsigned arguments;
    unsigned depth;
    bool failed;
} reader;

static const char *read_type(reader *r);

static const char *fail(reader *r)
{
    r->failed = true;
    return "";
}

/* `first`, then `second` with `between` if both are not empty. */
static const char *joined(reader *r, const char *first, const char *between, const char *second)
{
    if (strlen(first) + strlen(second) > MAX_TEXT) return fail(r);
    const bool both = *first && *second;
    return pl_arena_printf(r->a, "%s%s%s", first, both ? between : "", second);
}

static bool next(reader *r, const char *text)
{
    const size_t n = strlen(text);
    if (r->failed || strncmp(r->at, text, n) != 0) return false;
    r->at += n;
    return true;
}

static const char *add_substitution(reader *r, const char *text)
{
    if (r->n >= MAX_SUBSTITUTIONS || strlen(text) > MAX_TEXT) return fail(r);
    return r->substitution[r->n++] = text;
}

static const char *read_identifier(reader *r)
{
    unsigned long n = 0;
    while (*r->at >= '0' && *r->at <= '9' && n < 1000) n = 10 * n + (unsigned long)(*r->at++ - '0');
    if (!n || n > strlen(r->at)) return fail(r);
    r->at += n;
    if (n > 10 && strncmp(r->at - n, "_GLOBAL__N", 10) == 0) return "<unnamed>";
    return pl_arena_strndup(r->a, r->at - n, n);
}

/* "_" is 0, "0_" is 1, "Z_" is 36. */
static unsigned read_sequence(reader *r)
{
    unsigned n = 0;
    bool any = false;
    for (; !next(r, "_") && !r->failed; r->at++, any = true) {
        const char c = *r->at;
        const bool digit = c >= '0' && c <= '9';
        if (n > 1000 || (!digit && (c < 'A' || c > 'Z'))) r->failed = true;
        n = 36 * n + (unsigned)(digit ? c - '0' : c - 'A' + 10);
        if (r->failed) break;
    }
    return any ? n + 1 : 0;
}

static const char *read_substitution(reader *r)
{
    const unsigned k = read_sequence(r);
    return !r->failed && k < r->n ? r->substitution[k] : fail(r);
}

static const char *read_parameter(reader *r)
{
    const unsigned k = read_sequence(r);
    return !r->failed && k < r->arguments ? r->argument[k] : fail(r);
}

/* After "L": "(bool)0". */
static const char *read_literal(reader *r)
{
    if (next(r, "_Z")) return fail(r);
    const char *type = read_type(r);
    const bool negative = next(r, "n");
    const char *digits = r->at;
    while (*r->at >= '0' && *r->at <= '9') r->at++;
    const char *value = pl_arena_strndup(r->a, digits, (size_t)(r->at - digits));
    if (r->at == digits || !next(r, "E")) return fail(r);
    return pl_arena_printf(r->a, "(%s)%s%s", type, negative ? "-" : "", value);
}

/* Adds the arguments up to "E" to *text; outermost ones also to the function's. */
static const char *read_arguments(reader *r, const char *text, bool of_function)
{
    while (!r->failed && !next(r, "E")) {
        const char *one = "";
        if (next(r, "J")) {
            if (++r->depth > MAX_DEPTH) fail(r);
            text = read_arguments(r, text, false);
            r->depth--;
        } else {
            one = next(r, "L") ? read_literal(r) : *r->at == 'X' ? fail(r) : read_type(r);
            text = joined(r, text, ", ", one);
        }
        if (of_function && r->arguments < MAX_ARGUMENTS) r->argument[r->arguments++] = one;
    }
    return text;
}

/* "I...E" after the name. */
static const char *with_arguments(reader *r, const char *name, bool of_function)
{
    if (of_function) r->arguments = 0;
    const char *list = read_arguments(r, "", of_function);
    return pl_arena_printf(r->a, "%s<%s>", name, list);
}

/* A constructor has the name of its class, without namespaces and arguments. */
static const char *constructor(reader *r, const char *of)
{
    const char *end = strchr(of, '<'), *name = of;
    if (!end) end = of + strlen(of);
    for (const char *p = of; p < end; p++)
        if (*p == ':') name = p + 1;
    return pl_arena_strndup(r->a, name, (size_t)(end - name));
}

/* After "N": prefixes up to "E". Every prefix can be referred to. *is_template: it ends with
 * arguments. */
static const char *read_nested(reader *r, bool of_function, bool *is_template)
{
    const char *text = "";
    while (*r->at == 'r' || *r->at == 'V' || *r->at == 'K') r->at++;
    *is_template = false;
    while (!r->failed && !next(r, "E")) {
        const char c = *r->at;
        if (c == 'I') {
            r->at++;
            text = with_arguments(r, text, of_function);
            *is_template = true;
        } else if (next(r, "St")) {
            text = "std";
            continue;
        } else if (next(r, "S")) {
            text = read_substitution(r);
            continue;
        } else {
            const char *one = next(r, "C1") || next(r, "C2") ? constructor(r, text)
                              : next(r, "T")                 ? read_parameter(r)
                                                             : read_identifier(r);
            text = joined(r, text, "::", one);
            *is_template = false;
        }
        if (*r->at != 'E') add_substitution(r, text);
    }
    return text;
}

static const char *read_name(reader *r, bool of_function, bool *is_template)
{
    *is_template = false;
    if (next(r, "N")) return read_nested(r, of_function, is_template);
    const char *text =
        next(r, "St") ? pl_arena_printf(r->a, "std::%s", read_identifier(r)) : read_identifier(r);
    if (*r->at != 'I') return text;
    r->at++;
    add_substitution(r, text);
    *is_template = true;
    return with_arguments(r, text, of_function);
}

static const char *builtin_type(char c)
{
    static const struct {
        char letter;
        const char *name;
    } type[] = {{'v', "void"},        {'b', "bool"},
                {'w', "wchar_t"},     {'c', "char"},
                {'a', "signed char"}, {'h', "unsigned char"},
                {'s', "short"},       {'t', "unsigned short"},
                {'i', "int"},         {'j', "unsigned int"},
                {'l', "long"},        {'m', "unsigned long"},
                {'x', "long long"},   {'y', "unsigned long long"},
                {'n', "__int128"},    {'o', "unsigned __int128"},
                {'f', "float"},       {'d', "double"},
                {'e', "long double"}};
    for (size_t k = 0; k < sizeof type / sizeof *type; k++)
        if (type[k].letter == c) return type[k].name;
    return NULL;
}

static bool ends_with_pointer(const char *type)
{
    const size_t n = strlen(type);
    return n && (type[n - 1] == '*' || type[n - 1] == '&');
}

static const char *read_qualified(reader *r, char c)
{
    const char *inner = read_type(r);
    const char *word = c == 'K' ? "const" : c == 'V' ? "volatile" : "__restrict__";
    const bool after = c == 'r' || ends_with_pointer(inner);
    return pl_arena_printf(r->a, "%s %s", after ? inner : word, after ? word : inner);
}

static const char *compound_type(reader *r, char c)
{
    if (strchr("rVK", c)) return add_substitution(r, read_qualified(r, c));
    const char *inner = read_type(r);
    return add_substitution(r, pl_arena_printf(r->a, "%s%s%s", inner,
                                               ends_with_pointer(inner) ? "" : " ",
                                               c == 'P'   ? "*"
                                               : c == 'R' ? "&"
                                                          : "&&"));
}

static const char *read_type(reader *r)
{
    const char c = *r->at, *builtin = builtin_type(c);
    bool is_template;
    if (r->failed || r->depth >= MAX_DEPTH || !c) return fail(r);
    if (builtin) return r->at++, builtin;
    if (next(r, "Dn")) return "decltype(nullptr)";
    const char *text;
    r->depth++;
    if (strchr("PROrVK", c)) {
        r->at++;
        text = compound_type(r, c);
    } else if (c == 'T') {
        r->at++;
        text = add_substitution(r, read_parameter(r));
    } else if (c == 'S' && r->at[1] != 't') {
        r->at++;
        text = read_substitution(r);
        if (next(r, "I")) text = add_substitution(r, with_arguments(r, text, false));
    } else if (c == 'N' || c == 'S' || (c >= '1' && c <= '9')) {
        text = add_substitution(r, read_name(r, false, &is_template));
    } else {
        text = fail(r);
    }
    r->depth--;
    return text;
}

const char *pl_demangle(pl_arena *a, const char *name)
{
    reader r = {.a = a, .at = name};
    bool is_template;
    if (!next(&r, "_Z")) return name;
    const char *text = read_name(&r, true, &is_template);
    const char *result = is_template ? read_type(&r) : NULL;
    const char *list = "";
    for (unsigned n = 0; !r.failed && *r.at; n++) {
        const char *t = read_type(&r);
        if (n || strcmp(t, "void") != 0) list = joined(&r, list, ", ", t);
    }
    if (r.failed) return name;
    return pl_arena_printf(a, "%s%s%s(%s)", result ? result : "", result ? " " : "", text, list);
}
