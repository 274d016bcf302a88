/* conf.c - parses machine descriptions and binds their keys to the members of structs.
 *
 * The parser knows only the syntax of a line. The existing keys, their units and their ranges are
 * defined by the tables that the timing model passes to pl_conf_bind. */
#include "base/conf.h"
#include "base/nearest.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { SHORT_NAME = 128 }; /* exceeds most section and key names combined */

static const struct {
    const char *word;
    bool needs_source;
} provenance[] = {
#define X(name, word, source, meaning) {word, source},
    PL_PROVENANCES(X)
#undef X
};

/* Units by dimension, with their size in terms of the first one. A unit that is not listed converts
 * only to itself. */
static const struct {
    const char *unit, *dimension;
    double scale;
} units[] = {
    {"cycles", "cycles", 1}, {"cycle", "cycles", 1},    {"B", "B", 1},
    {"KiB", "B", 1024},      {"MiB", "B", 1048576},     {"GiB", "B", 1073741824},
    {"MHz", "MHz", 1},       {"GHz", "MHz", 1000},      {"ns", "ns", 1},
    {"us", "ns", 1000},      {"B/cycle", "B/cycle", 1}, {"KiB/cycle", "B/cycle", 1024},
    {"GB/s", "GB/s", 1},     {"TB/s", "GB/s", 1000},
};

const char *pl_provenance_word(pl_provenance p)
{
    return provenance[p].word;
}

/* ---- tokens ---- */

typedef struct span {
    const char *at;
    size_t n;
} span;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' ||
           c == '.' || c == '-';
}

static span trim(span s)
{
    while (s.n > 0 && is_blank(s.at[0])) s.at++, s.n--;
    while (s.n > 0 && is_blank(s.at[s.n - 1])) s.n--;
    return s;
}

static bool is_name_text(span s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!is_name(s.at[i])) return false;
    return s.n > 0;
}

static bool equals(span s, const char *word)
{
    return strlen(word) == s.n && memcmp(s.at, word, s.n) == 0;
}

/* Removes the first word of *rest. */
static span next_word(span *rest)
{
    *rest = trim(*rest);
    span w = {rest->at, 0};
    while (w.n < rest->n && !is_blank(w.at[w.n])) w.n++;
    rest->at += w.n;
    rest->n -= w.n;
    return w;
}

/* ---- numbers ---- */

typedef struct number {
    double real;
    uint64_t whole; /* exact when is_whole */
    bool is_whole;
} number;

static int hex_digit(char c)
{
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* Parses 12, 0x3f, 2.5. Machine files must be read identically in every locale, so strtod is not
 * used. */
static bool parse_number(span s, number *out)
{
    uint64_t v = 0;
    double divisor = 1;
    bool point = false;
    bool hex = s.n > 2 && s.at[0] == '0' && (s.at[1] == 'x' || s.at[1] == 'X');
    unsigned base = hex ? 16 : 10;
    size_t digits = 0;
    for (size_t i = hex ? 2 : 0; i < s.n; i++) {
        if (s.at[i] == '.' && !hex && !point && i > 0) {
            point = true;
            continue;
        }
        int d = hex_digit(s.at[i]);
        if (d < 0 || (unsigned)d >= base) return false;
        if (v > (UINT64_MAX - (unsigned)d) / base) return false;
        v = v * base + (unsigned)d;
        if (point) divisor *= 10;
        digits++;
    }
    if (digits == 0) return false;
    *out = (number){.real = (double)v / divisor, .whole = v, .is_whole = divisor <= 1};
    return true;
}

/* ---- reading ---- */

typedef struct reader {
    pl_conf *c;
    const char *line; /* start of the current line */
    uint32_t number;
} reader;

static pl_loc loc_of(const reader *r, span s)
{
    return (pl_loc){r->c->file, r->number, (uint32_t)(s.at - r->line) + 1, (uint32_t)s.n};
}

static const char *copy(pl_conf *c, span s)
{
    return pl_arena_strndup(c->arena, s.at, s.n);
}

static void read_section(reader *r, span s)
{
    span name = trim((span){s.at + 1, s.n - 1});
    if (name.n == 0 || name.at[name.n - 1] != ']') {
        pl_report(r->c->diags, PL_E0501, loc_of(r, s), copy(r->c, s));
        return;
    }
    name.n--;
    name = trim(name);
    const char *text = copy(r->c, name);
    if (!is_name_text(name))
        pl_report(r->c->diags, PL_E0501, loc_of(r, s), copy(r->c, s));
    else if (pl_conf_has_section(r->c, text))
        pl_report(r->c->diags, PL_E0504, loc_of(r, name), "section", text);
    *pl_push(r->c->arena, &r->c->section) = (pl_conf_section){.name = text, .at = loc_of(r, name)};
}

/* Splits "0 8 16 KiB" into numbers and unit; a value that does not begin with a number has no unit.
 */
static void split_unit(span value, span *numbers, span *unit)
{
    number ignored;
    span rest = value, first = next_word(&rest), last = first;
    *numbers = value;
    *unit = (span){value.at + value.n, 0};
    if (!parse_number(first, &ignored)) return;
    for (span w = next_word(&rest); w.n > 0; w = next_word(&rest)) last = w;
    if (last.at == first.at || parse_number(last, &ignored)) return;
    *unit = last;
    *numbers = trim((span){value.at, (size_t)(last.at - value.at)});
}

static void read_provenance(reader *r, span s, span whole, pl_conf_entry *e)
{
    span rest = s, word = next_word(&rest);
    if (word.n == 0) {
        pl_report(r->c->diags, PL_E0505, loc_of(r, whole), e->key);
        return;
    }
    for (int p = 0; p < PL_PROVENANCE_COUNT; p++) {
        if (!equals(word, provenance[p].word)) continue;
        e->provenance = (pl_provenance)p;
        e->source = copy(r->c, trim(rest));
        if (provenance[p].needs_source && e->source[0] == '\0')
            pl_report(r->c->diags, PL_E0507, loc_of(r, word), provenance[p].word);
        return;
    }
    pl_report(r->c->diags, PL_E0506, loc_of(r, word), copy(r->c, word));
}

/* The look-up key of an entry; unambiguous, because no line contains both a section and a key. */
static const char *full_name(const pl_conf *c, const char *section, const char *key)
{
    return pl_arena_printf(c->arena, "%s\n%s", section, key);
}

static void add_entry(pl_conf *c, const pl_conf_entry *e)
{
    const char *full = full_name(c, e->section, e->key);
    *pl_push(c->arena, &c->entry) = *e;
    if (full) pl_map_put(&c->number, full, strlen(full), (void *)(uintptr_t)c->entry.n);
}

static void read_entry(reader *r, span s)
{
    pl_conf *c = r->c;
    const char *equal = memchr(s.at, '=', s.n);
    span key = trim((span){s.at, equal ? (size_t)(equal - s.at) : 0});
    if (!equal || !is_name_text(key)) {
        pl_report(c->diags, PL_E0501, loc_of(r, s), copy(c, s));
        return;
    }
    span rest = {equal + 1, s.n - (size_t)(equal + 1 - s.at)};
    const char *semicolon = memchr(rest.at, ';', rest.n);
    span value = trim((span){rest.at, semicolon ? (size_t)(semicolon - rest.at) : rest.n});
    span numbers, unit;
    if (value.n == 0) {
        pl_report(c->diags, PL_E0501, loc_of(r, s), copy(c, s));
        return;
    }
    if (c->section.n == 0) {
        pl_report(c->diags, PL_E0512, loc_of(r, key), copy(c, key));
        return;
    }
    split_unit(value, &numbers, &unit);
    pl_conf_entry e = {.section = c->section.at[c->section.n - 1].name,
                       .key = copy(c, key),
                       .value = copy(c, numbers),
                       .unit = copy(c, unit),
                       .provenance = PL_GUESSED,
                       .source = "",
                       .at = loc_of(r, key),
                       .value_at = loc_of(r, value)};
    if (pl_conf_find(c, e.section, e.key)) {
        pl_report(c->diags, PL_E0504, e.at, "key", e.key);
        return;
    }
    span kind = {s.at + s.n, 0};
    if (semicolon) kind = (span){semicolon + 1, (size_t)(s.at + s.n - (semicolon + 1))};
    read_provenance(r, kind, s, &e);
    add_entry(c, &e);
}

pl_status pl_conf_read(pl_arena *arena, pl_diags *diags, const char *name, const char *text,
                       size_t size, pl_conf **out)
{
    size_t errors_before = diags->errors;
    pl_conf *c = pl_arena_new(arena, pl_conf);
    *c = (pl_conf){
        .arena = arena, .diags = diags, .file = pl_diags_add_file(diags, name, text, size)};
    pl_map_init(&c->number, arena);
    reader r = {.c = c};
    for (const char *p = text, *end = text + size; p < end;) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        span s = trim((span){p, (size_t)((newline ? newline : end) - p)});
        r.line = p;
        r.number++;
        if (s.n > 0 && s.at[0] == '[')
            read_section(&r, s);
        else if (s.n > 0 && s.at[0] != '#')
            read_entry(&r, s);
        p = newline ? newline + 1 : end;
    }
    *out = c;
    if (!pl_arena_ok(arena)) return PL_NOMEM;
    return diags->errors > errors_before ? PL_INVALID : PL_OK;
}

/* ---- look-up ---- */

static pl_conf_section *find_section(const pl_conf *c, const char *name)
{
    for (size_t i = 0; i < c->section.n; i++)
        if (strcmp(c->section.at[i].name, name) == 0) return &c->section.at[i];
    return NULL;
}

static pl_conf_entry *find_entry(const pl_conf *c, const char *section, const char *key)
{
    char name[SHORT_NAME];
    size_t n = strlen(section) + 1 + strlen(key);
    const char *full = n < sizeof name ? name : full_name(c, section, key);
    if (full == name) snprintf(name, sizeof name, "%s\n%s", section, key);
    uintptr_t found = (uintptr_t)pl_map_get(&c->number, full, n);
    return found ? &c->entry.at[found - 1] : NULL;
}

bool pl_conf_has_section(const pl_conf *c, const char *section)
{
    return find_section(c, section) != NULL;
}

const pl_conf_entry *pl_conf_find(const pl_conf *c, const char *section, const char *key)
{
    return find_entry(c, section, key);
}

void pl_conf_complete(pl_conf *c, const pl_conf *from)
{
    for (size_t i = 0; i < from->section.n; i++)
        if (!find_section(c, from->section.at[i].name))
            *pl_push(c->arena, &c->section) = from->section.at[i];
    for (size_t i = 0; i < from->entry.n; i++) {
        const pl_conf_entry *e = &from->entry.at[i];
        if (!find_entry(c, e->section, e->key)) add_entry(c, e);
    }
}

/* ---- binding ---- */

static bool unit_scale(const char *unit, const char *dimension_of, double *scale)
{
    const char *dimension[2] = {NULL, NULL};
    double s[2] = {1, 1};
    const char *const u[2] = {unit, dimension_of};
    if (strcmp(unit, dimension_of) == 0) {
        *scale = 1;
        return true;
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        for (int k = 0; k < 2; k++) {
            if (strcmp(units[i].unit, u[k]) != 0) continue;
            dimension[k] = units[i].dimension;
            s[k] = units[i].scale;
        }
    }
    *scale = s[0] / s[1];
    return dimension[0] && dimension[1] && strcmp(dimension[0], dimension[1]) == 0;
}

static bool bad_value(pl_conf *c, const pl_conf_entry *e, const char *expected)
{
    pl_report(c->diags, PL_E0508, e->value_at, e->key, e->value, expected);
    return false;
}

bool pl_conf_value(const pl_conf_entry *e, const char *unit, double *out)
{
    number n;
    double scale;
    if (!parse_number((span){e->value, strlen(e->value)}, &n)) return false;
    if (!unit_scale(e->unit, unit, &scale)) return false;
    *out = n.real * scale;
    return true;
}

/* Converts one number to the key's unit, or reports an error. */
static bool convert(pl_conf *c, const pl_conf_entry *e, const pl_conf_key *k, span word,
                    number *out)
{
    double scale;
    bool whole = k->type != PL_CONF_F64;
    if (!parse_number(word, out)) return bad_value(c, e, whole ? "a whole number" : "a number");
    if (!unit_scale(e->unit, k->unit, &scale)) {
        pl_diag *m = pl_report(c->diags, PL_E0509, e->value_at, e->key,
                               k->unit[0] ? k->unit : "no unit", e->unit[0] ? e->unit : "none");
        if (k->unit[0])
            m->help = pl_arena_printf(c->arena, "write %s = %s %s", e->key, e->value, k->unit);
        return false;
    }
    if (scale < 1 || scale > 1) {
        out->real *= scale;
        out->is_whole = out->real < 0x1p53 && out->real == (double)(uint64_t)out->real;
        out->whole = out->is_whole ? (uint64_t)out->real : 0;
    }
    if (whole && !out->is_whole) return bad_value(c, e, "a whole number");
    bool ranged = k->min < 0 || k->min > 0 || k->max < 0 || k->max > 0;
    if ((ranged && (out->real < k->min || out->real > k->max)) ||
        (k->type == PL_CONF_U32 && out->whole > UINT32_MAX)) {
        const char *range = ranged ? pl_arena_printf(c->arena, "%.10g to %.10g", k->min, k->max)
                                   : "0 to 4294967295";
        pl_report(c->diags, PL_E0510, e->value_at, e->key, e->value, range);
        return false;
    }
    return true;
}

static bool bind_word(pl_conf *c, const pl_conf_entry *e, const char *words, int *out)
{
    span rest = {words, strlen(words)};
    int index = 0;
    for (span w = next_word(&rest); w.n > 0; w = next_word(&rest), index++) {
        if (!equals(w, e->value)) continue;
        *out = index;
        return true;
    }
    return bad_value(c, e, pl_arena_printf(c->arena, "one of: %s", words));
}

static bool bind_list(pl_conf *c, const pl_conf_entry *e, const pl_conf_key *k, pl_conf_list *out)
{
    span rest = {e->value, strlen(e->value)};
    pl_conf_list list = {0};
    for (span w = next_word(&rest); w.n > 0; w = next_word(&rest)) {
        number v;
        if (!convert(c, e, k, w, &v)) return false;
        if (list.n == PL_CONF_MAX_LIST)
            return bad_value(c, e,
                             pl_arena_printf(c->arena, "at most %d numbers", PL_CONF_MAX_LIST));
        list.at[list.n++] = v.whole;
    }
    *out = list;
    return true;
}

static bool bind_value(pl_conf *c, const pl_conf_entry *e, const pl_conf_key *k, void *member)
{
    number v = {0};
    int word;
    switch (k->type) {
    case PL_CONF_U32:
    case PL_CONF_U64:
    case PL_CONF_F64:
        if (!convert(c, e, k, (span){e->value, strlen(e->value)}, &v)) return false;
        if (k->type == PL_CONF_U32)
            *(uint32_t *)member = (uint32_t)v.whole;
        else if (k->type == PL_CONF_U64)
            *(uint64_t *)member = v.whole;
        else
            *(double *)member = v.real;
        return true;
    case PL_CONF_BOOL:
        if (!bind_word(c, e, "no yes", &word)) return false;
        *(bool *)member = word == 1;
        return true;
    case PL_CONF_WORD: return bind_word(c, e, k->words, member);
    case PL_CONF_TEXT: *(const char **)member = e->value; return true;
    case PL_CONF_LIST: return bind_list(c, e, k, member);
    }
    return false;
}

bool pl_conf_bind(pl_conf *c, const char *section, const pl_conf_key *keys, size_t n, void *out)
{
    pl_conf_section *s = find_section(c, section);
    bool ok = true;
    if (s) {
        s->keys = keys;
        s->nkeys = n;
    }
    for (size_t i = 0; i < n; i++) {
        pl_conf_entry *e = find_entry(c, section, keys[i].key);
        if (e) {
            e->used = true;
            ok &= bind_value(c, e, &keys[i], (char *)out + keys[i].offset);
        } else if (!keys[i].optional) {
            pl_diag *m = pl_report(c->diags, PL_E0503, s ? s->at : (pl_loc){.file = c->file},
                                   keys[i].key, section);
            m->help = pl_arena_printf(
                c->arena, "%s%s%s", keys[i].about ? keys[i].about : "add the key",
                keys[i].unit && keys[i].unit[0] ? "; in " : "", keys[i].unit ? keys[i].unit : "");
            ok = false;
        }
    }
    return ok;
}

/* ---- unknown keys ---- */

static const char *nearest(const pl_conf_section *s, const char *key)
{
    const char *found = NULL;
    unsigned best = pl_edit_limit(strlen(key)) + 1;
    for (size_t i = 0; i < s->nkeys; i++) {
        unsigned d =
            pl_edit_distance(key, strlen(key), s->keys[i].key, strlen(s->keys[i].key), best);
        if (d >= best) continue;
        best = d;
        found = s->keys[i].key;
    }
    return found;
}

const char *pl_conf_new_name(const pl_conf *c, const char *section, const char *key)
{
    for (size_t k = 0; k < c->nrenamed; k++) {
        const pl_conf_rename *r = &c->renamed[k];
        const size_t n = strlen(r->section);
        const bool in_section = n && r->section[n - 1] == '.' ? strncmp(r->section, section, n) == 0
                                                              : strcmp(r->section, section) == 0;
        if (in_section && strcmp(r->old_key, key) == 0) return r->new_key;
    }
    return NULL;
}

void pl_conf_set_renames(pl_conf *c, const pl_conf_rename *renamed, size_t n)
{
    c->renamed = renamed;
    c->nrenamed = n;
}

void pl_conf_skip(pl_conf *c, const char *section)
{
    static const pl_conf_key none;
    pl_conf_section *s = find_section(c, section);
    if (s) s->keys = &none;
    for (size_t i = 0; i < c->entry.n; i++)
        c->entry.at[i].used |= strcmp(c->entry.at[i].section, section) == 0;
}

bool pl_conf_report_unknown(pl_conf *c)
{
    bool ok = true;
    for (size_t i = 0; i < c->section.n; i++) {
        if (c->section.at[i].keys) continue;
        pl_report(c->diags, PL_E0511, c->section.at[i].at, c->section.at[i].name);
        ok = false;
    }
    for (size_t i = 0; i < c->entry.n; i++) {
        const pl_conf_entry *e = &c->entry.at[i];
        const pl_conf_section *s = find_section(c, e->section);
        if (e->used || !s->keys) continue;
        pl_diag *m = pl_report(c->diags, PL_E0502, e->at, e->key, e->section);
        const char *known = nearest(s, e->key), *new_key = pl_conf_new_name(c, e->section, e->key);
        if (new_key)
            m->help = pl_arena_printf(c->arena, "the key is now called '%s'", new_key);
        else if (known)
            m->help = pl_arena_printf(c->arena, "did you mean '%s'?", known);
        ok = false;
    }
    return ok;
}
