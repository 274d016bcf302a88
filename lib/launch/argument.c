/* argument.c - kernel arguments in command-line notation.
 *
 *   u32:1024            a number, passed by value
 *   f32[1048576]=iota   a buffer: its elements start as 0, iota, hash:SEED[,LO,HI], [1,2,3],
 *                       @in.npy or @in.bin
 *   out:f32[100]        a buffer of zeros, shown after the launch
 *   out=y.npy:f32[100]  and saved
 *   out=-:f32[100]      and shown completely
 *   var=total:u32[1]=0  a variable of the module, after the arguments; without = it keeps its value
 *   struct:f32[4]=...   several elements passed by value
 *   {"texture": ...}    as in a launch file
 *
 * Messages show the argument with a caret, like a line of a file. */
#include "lib/launch/json_launch.h"
#include "base/plural.h"
#include <inttypes.h>
#include <string.h>

typedef struct parser {
    pl_case *c;
    pl_gpu *gpu;
    size_t k; /* index of the argument */
    pl_case_arg *arg;
    pl_arg_more *more;
    const char *text;
} parser;

/* Sets the position for messages: n characters at `at`. */
static void set_position(parser *p, const char *at, size_t n)
{
    p->more->line = 1;
    p->more->column = (uint32_t)(at - p->text) + 1;
    p->more->length = (uint32_t)n;
}

static pl_diag *report_error(parser *p, const char *at, size_t n, const char *why)
{
    set_position(p, at, n);
    enum { MOST = 60 };
    const char *text = strlen(p->text) <= MOST
                           ? p->text
                           : pl_arena_printf(p->gpu->messages, "%.*s...", MOST, p->text);
    return pl_report(&p->gpu->diags, PL_E0416, pl_case_arg_at(p->c, p->k), text, why);
}

static bool value(parser *p, const char *s, size_t n, uint64_t *bits)
{
    pl_number v;
    const pl_element *e = p->more->element;
    if (n == 0) return report_error(p, s, 1, "a value is missing"), false;
    if (!pl_number_parse(s, n, &v)) {
        pl_diag *d = report_error(p, s, n, "this is not a number that fits 64 bits");
        if (memchr(s, ',', n)) d->help = "the decimal separator is a point: 2.5";
        return false;
    }
    switch (pl_element_encode(e, &v, bits)) {
    case PL_FIT_OK: return true;
    case PL_FIT_FRACTION:
        report_error(p, s, n,
                     pl_arena_printf(p->gpu->messages, "%s holds whole numbers only", e->name));
        return false;
    case PL_FIT_KIND:
        report_error(
            p, s, n,
            pl_arena_printf(p->gpu->messages, "this bit pattern is not of type %s", e->name));
        return false;
    case PL_FIT_RANGE: break;
    }
    report_error(p, s, n,
                 pl_arena_printf(p->gpu->messages, "%s holds %s", e->name, pl_element_range(e)));
    return false;
}

static bool hash(parser *p, const char *s)
{
    const char *part[3];
    size_t n = 0, length[3];
    while (n < 3) {
        part[n] = s;
        length[n] = strcspn(s, ",");
        s += length[n++];
        if (*s != ',') break;
        s++;
    }
    pl_number v[3];
    if (*s != '\0' || n == 2)
        return report_error(p, part[0], strlen(part[0]), "a hash is hash:SEED or hash:SEED,LO,HI"),
               false;
    for (size_t i = 0; i < n; i++) {
        if (!pl_number_parse(part[i], length[i], &v[i]))
            return report_error(p, part[i], length[i] ? length[i] : 1, "this is not a number"),
                   false;
    }
    if (v[0].kind != PL_NUM_INT || v[0].negative)
        return report_error(p, part[0], length[0], "the seed is a whole number, not negative"),
               false;
    p->more->init.kind = PL_INIT_HASH;
    p->more->init.seed = v[0].magnitude;
    const char *problem = pl_init_limits(p->more->element, n == 3 ? &v[1] : NULL,
                                         n == 3 ? &v[2] : NULL, &p->more->init);
    if (problem) report_error(p, part[n - 1], length[n - 1], problem);
    return !problem;
}

/* Parses [1,2,3]: only commas separate, in the count and in the values. */
static bool list(parser *p, const char *s, uint64_t *n)
{
    size_t len = strlen(s), capacity = len > 2;
    if (s[len - 1] != ']') return report_error(p, s, len, "a list ends with ']'"), false;
    for (size_t i = 0; i < len; i++) capacity += s[i] == ',';
    uint64_t *bits = pl_arena_array(p->c->more->arena, uint64_t, capacity);
    const char *end = s + len - 1;
    for (*n = 0, s++; *n < capacity; s++) {
        const char *comma = memchr(s, ',', (size_t)(end - s));
        size_t width = (size_t)((comma ? comma : end) - s);
        if (!value(p, s, width, &bits[(*n)++])) return false;
        s += width;
    }
    p->more->init.kind = PL_INIT_LIST;
    p->more->init.list = bits;
    return true;
}

static bool initialiser(parser *p, const char *s, bool counted)
{
    static const char *const words[] = {"iota", "hash:"};
    pl_init *init = &p->more->init;
    if (strcmp(s, "iota") == 0) {
        init->kind = PL_INIT_IOTA;
        return true;
    }
    if (strncmp(s, "hash:", 5) == 0) return hash(p, s + 5);
    if (*s == '@') {
        if (s[1] == '\0') return report_error(p, s, 1, "a file name is missing"), false;
        init->kind = PL_INIT_FILE;
        init->path = s + 1;
        set_position(p, s, strlen(s));
        return counted || pl_case_count_file(p->c, p->k) == PL_OK;
    }
    if (*s == '[') {
        uint64_t n;
        if (!list(p, s, &n)) return false;
        if (!counted) p->arg->count = n;
        if (p->arg->count == n) return true;
        report_error(p, s, strlen(s),
                     pl_arena_printf(p->gpu->messages,
                                     "the list has %" PRIu64 " value%s, the buffer %" PRIu64, n,
                                     pl_plural(n), p->arg->count));
        return false;
    }
    pl_number unused;
    if (*s && !pl_number_parse(s, strlen(s), &unused)) {
        set_position(p, s, strlen(s));
        pl_diag *d = pl_report(&p->gpu->diags, PL_E0407, pl_case_arg_at(p->c, p->k), s);
        const char *nearest = pl_nearest(s, words, 2);
        d->help =
            nearest ? pl_arena_printf(p->gpu->messages, "did you mean '%s'?", nearest)
                    : "write 0, iota, hash:SEED, hash:SEED,LO,HI, [1,2,3], @file.npy or @file.bin";
        return false;
    }
    init->kind = PL_INIT_CONST;
    return value(p, s, strlen(s), &init->bits);
}

/* Parses TYPE[COUNT] or TYPE[COUNT]=INIT; s points past the '['. */
static bool buffer(parser *p, const char *s)
{
    size_t n = strcspn(s, "]=");
    if (s[n] != ']') return report_error(p, s, n ? n : 1, "the count ends with ']'"), false;
    pl_number count;
    if (n > 0) {
        if (!pl_number_parse(s, n, &count) || count.kind != PL_NUM_INT || count.negative ||
            count.magnitude > INT64_MAX)
            return report_error(p, s, n, "the count is a whole number"), false;
        p->arg->count = count.magnitude;
    }
    const char *init = s + n + 1;
    if (*init != '\0' && *init != '=')
        return report_error(p, init, strlen(init), "an '=' is expected before the initialiser"),
               false;
    if (*init == '=' && !initialiser(p, init + 1, n > 0)) return false;
    p->more->initialised = *init == '=';
    if (n == 0 && !p->more->initialised && p->arg->variable) return true; /* its length */
    bool open_ended = p->more->init.kind == PL_INIT_LIST || p->more->init.kind == PL_INIT_FILE;
    if (n == 0 && !open_ended)
        return report_error(p, s - 1, 2, "the count may be left out only before =@FILE and =[...]"),
               false;
    set_position(p, p->text, strlen(p->text));
    return pl_case_sized(p->c, p->k);
}

static bool type(parser *p, const char *s, size_t n)
{
    p->more->element = pl_element_find(s, n);
    if (p->more->element) {
        p->arg->type = p->more->element->name;
        return true;
    }
    p->more->element = pl_elements;
    char *word = pl_arena_strndup(p->gpu->messages, s, n);
    const char *nearest = pl_element_suggestion(word);
    set_position(p, s, n ? n : 1);
    pl_diag *d = pl_report(&p->gpu->diags, PL_E0406, pl_case_arg_at(p->c, p->k), word);
    d->help = nearest ? pl_arena_printf(p->gpu->messages, "did you mean '%s'?", nearest)
              : p->arg->output && strchr(word, '.')
                  ? pl_arena_printf(p->gpu->messages,
                                    "an output to a file is written out=%s:f32[1024]", word)
                  : pl_diag_explanation(PL_E0406);
    return false;
}

/* Parses out=FILE:REST. The file name may contain colons: REST is the part that starts with a type
 * and '['. */
static const char *save_path(parser *p, const char *s)
{
    for (const char *colon = strchr(s, ':'); colon; colon = strchr(colon + 1, ':')) {
        size_t n = strcspn(colon + 1, "[:");
        if (colon[1 + n] != '[' || !pl_element_find(colon + 1, n)) continue;
        if (colon == s) break;
        /* Standard output. */
        if (colon == s + 1 && *s == '-')
            p->arg->whole = true;
        else
            p->arg->save = pl_arena_strndup(p->c->more->arena, s, (size_t)(colon - s));
        return colon + 1;
    }
    report_error(p, s, strlen(s) ? strlen(s) : 1,
                 "out= is followed by a file or -, a colon and a buffer: out=y.npy:f32[100]=0");
    return NULL;
}

/* Parses var=NAME: before a buffer. */
static const char *variable(parser *p, const char *s)
{
    const size_t n = strcspn(s, ":[=");
    if (n && s[n] == ':') {
        p->arg->variable = pl_arena_strndup(p->c->more->arena, s, n);
        return s + n + 1;
    }
    report_error(
        p, s, n ? n : 1,
        "var= is followed by a variable of the module, a colon and a buffer: var=total:out:u32[1]");
    return NULL;
}

static bool parse(parser *p)
{
    const char *s = p->text;
    if (strncmp(s, "var=", 4) == 0) {
        if (!(s = variable(p, s + 4))) return false;
    } else if (p->k && p->c->arg[p->k - 1].variable) {
        return report_error(p, s, strlen(s),
                            "variables (var=...) follow the arguments of the kernel"),
               false;
    }
    bool by_value = strncmp(s, "struct:", 7) == 0;
    if (by_value) s += 7;
    if (strncmp(s, "out:", 4) == 0) {
        p->arg->output = true;
        s += 4;
    } else if (strncmp(s, "out=", 4) == 0) {
        p->arg->output = true;
        if (!(s = save_path(p, s + 4))) return false;
    }
    size_t n = strcspn(s, ":[");
    if (s[n] == '\0') {
        report_error(p, s, n ? n : 1, "a ':' or '[' is missing")->help =
            strchr(s, '@') || strstr(s, ".npy") || strstr(s, ".bin")
                ? "a buffer from a file is written f32[]=@in.npy"
                : "a number is written u32:1024, a buffer f32[1024]=0";
        return false;
    }
    if (!type(p, s, n)) return false;
    if (s[n] == '[') {
        p->arg->buffer = !by_value;
        p->more->is_array = by_value;
        return buffer(p, s + n + 1);
    }
    if (p->arg->output || by_value || p->arg->variable)
        return report_error(p, s, strlen(s),
                            "only a buffer can be an output, a struct or a variable"),
               false;
    p->arg->count = 1;
    p->arg->bytes = p->more->element->bytes;
    return value(p, s + n + 1, strlen(s + n + 1), &p->more->value);
}

pl_status pl_case_add_arg(pl_case *c, const char *text)
{
    PL_GUARD(return pl_gpu_no_memory(c->more->gpu, "while reading arguments"))
    if (text[0] == '{') return pl_lf_read_argument(c, text);
    parser p = {.c = c, .gpu = c->more->gpu, .k = c->nargs};
    p.arg = pl_case_push(c, &p.more);
    p.text = p.more->text = pl_arena_strdup(c->more->arena, text);
    set_position(&p, p.text, strlen(p.text));
    return parse(&p) ? PL_OK : PL_INVALID;
}
