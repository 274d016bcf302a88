/* json_value.c - values of launch files: their positions in the text, types, and buffer
 * initialisers. */
#include "lib/launch/json_launch.h"
#include "base/file.h"
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---------------------------------------------------------------- positions */

static const char *skip_space(const char *p)
{
    return p + strspn(p, " \t\r\n");
}

/* Skips a string, number, word, list or object. The text is known to be well formed. */
static const char *skip_value(const char *p)
{
    int depth = 0;
    do {
        p = skip_space(p);
        if (*p == '"') {
            for (p++; *p && *p != '"'; p++) {
                if (*p == '\\' && p[1]) p++;
            }
            if (*p) p++;
        } else if (*p == '{' || *p == '[') {
            depth++;
            p++;
        } else if (*p == '}' || *p == ']') {
            depth--;
            p++;
        } else if (*p == ',' || *p == ':') {
            p++;
        } else {
            size_t n = strcspn(p, " \t\r\n,:{}[]\"");
            if (n == 0) return p; /* the end */
            p += n;
        }
    } while (depth > 0);
    return p;
}

/* Skips the comma after an element, if there is one. */
static const char *next_element(const char *p)
{
    p = skip_space(p);
    return *p == ',' ? skip_space(p + 1) : p;
}

/* Returns the key of an object, searching from p on; NULL: absent. */
static const char *find_key(const char *p, const char *key)
{
    const size_t n = strlen(key);
    while (*p && *p != '}') {
        const char *after = skip_value(p);
        if ((size_t)(after - p) == n + 2 && memcmp(p + 1, key, n) == 0) return p;
        p = next_element(skip_value(skip_space(skip_space(after) + 1)));
    }
    return NULL;
}

/* Returns the start of the value at a path, or of its key. */
static const char *find_value(const pl_lf_reader *r, const pl_lf_place *at, bool key)
{
    if (!at) return skip_space(r->text);
    unsigned depth = 0;
    for (const pl_lf_place *parent = at->parent; parent; parent = parent->parent) depth++;
    const char *start = find_value(r, at->parent, false),
               *first = *start ? skip_space(start + 1) : start;
    __typeof__(r->memo->level[0]) *cached = &r->memo->level[depth % 4];
    const bool hit = cached->from == start;
    const char *p = hit && (at->key || cached->index <= at->index) ? cached->at : first;
    size_t index = p == first ? 0 : cached->index;
    if (at->key) {
        const char *found = find_key(p, at->key);
        if (!found) found = find_key(first, at->key);
        if (!found) return first;
        p = found;
    } else {
        for (; index < at->index && *p && *p != ']'; index++) p = next_element(skip_value(p));
    }
    cached->from = start;
    cached->at = p;
    cached->index = index;
    return at->key && !key ? skip_space(skip_space(skip_value(p)) + 1) : p;
}

pl_loc pl_lf_locate(const pl_lf_reader *r, const pl_lf_place *at, bool key)
{
    const char *p = find_value(r, at, key);
    pl_lf_memo *m = r->memo;
    pl_case_more *more = r->c->more;
    if (!m->counted || m->counted > p) {
        m->counted = r->text;
        m->line = m->column = 1;
    }
    for (; m->counted < p; m->counted++) {
        m->column++;
        if (*m->counted == '\n') {
            m->line++;
            m->column = 1;
        }
    }
    pl_loc loc = {.line = m->line, .column = m->column};
    loc.file = r->is_argument ? pl_case_arg_at(r->c, r->c->nargs - 1).file
                              : pl_gpu_source(r->gpu, more->path, more->text, more->bytes,
                                              &more->file, &more->epoch);
    const size_t length = (size_t)(skip_value(p) - p);
    const char *newline = memchr(p, '\n', length);
    loc.length = (uint32_t)(newline ? (size_t)(newline - p) : length);
    return loc;
}

/* ---------------------------------------------------------------- values */

/* Returns the member of an object and its position; NULL if absent. */
json_t *pl_lf_member(json_t *object, const pl_lf_place *of, const char *key, pl_lf_place *at)
{
    *at = (pl_lf_place){of, key, 0};
    return json_object_get(object, key);
}

bool pl_lf_wrong_type(const pl_lf_reader *r, const pl_lf_place *at, const char *expected)
{
    const char *what = at->key ? pl_arena_printf(r->gpu->messages, "'%s'", at->key)
                               : pl_arena_printf(r->gpu->messages, "element %zu", at->index);
    pl_report(&r->gpu->diags, PL_E0404, pl_lf_locate(r, at, false), what, expected);
    return false;
}

bool pl_lf_out_of_range(const pl_lf_reader *r, const pl_lf_place *at, const char *range)
{
    const char *what = at->key ? pl_arena_printf(r->gpu->messages, "'%s'", at->key)
                               : pl_arena_printf(r->gpu->messages, "element %zu", at->index);
    pl_report(&r->gpu->diags, PL_E0405, pl_lf_locate(r, at, false), what, range);
    return false;
}

bool pl_lf_missing(const pl_lf_reader *r, const pl_lf_place *at, const char *what, const char *key)
{
    pl_report(&r->gpu->diags, PL_E0403, pl_lf_locate(r, at, false), what, key);
    return false;
}

static const char *const object_names[] = {
#define OBJECT(id, what) what,
#define KEY(object, key, needed, type, choices, about)
#include "lib/launch/launch_keys.def"
#undef OBJECT
#undef KEY
};
static const struct {
    pl_lf_object object;
    const char *key, *choices;
} key_table[] = {
#define OBJECT(id, what)
#define KEY(object, key, needed, type, choices, about) {PL_LF_##object, key, choices},
#include "lib/launch/launch_keys.def"
#undef OBJECT
#undef KEY
};
enum { KEYS = sizeof key_table / sizeof *key_table };

const char *pl_lf_choices(pl_lf_object kind, const char *key)
{
    size_t k = 0;
    while (k < KEYS && (key_table[k].object != kind || strcmp(key_table[k].key, key) != 0)) k++;
    assert(k < KEYS);
    return key_table[k].choices;
}

/* Returns the keys of a kind of object, and their number. */
static size_t keys_of(pl_lf_object kind, const char *keys[KEYS])
{
    size_t n = 0;
    for (size_t k = 0; k < KEYS; k++)
        if (key_table[k].object == kind) keys[n++] = key_table[k].key;
    return n;
}

static bool reject_key(const pl_lf_reader *r, const pl_lf_place *at, const char *key,
                       const char *what, const char *const *keys, size_t n)
{
    const pl_lf_place unknown = {at, key, 0};
    const char *near = pl_nearest(key, keys, n), *list = "";
    for (size_t i = 0; i < n && !near; i++)
        list = pl_arena_printf(r->gpu->messages, "%s%s%s", list, i ? ", " : "", keys[i]);
    pl_diag *d = pl_report(&r->gpu->diags, PL_E0402, pl_lf_locate(r, &unknown, true), key, what);
    d->help = near ? pl_arena_printf(r->gpu->messages, "did you mean '%s'?", near)
                   : pl_arena_printf(r->gpu->messages, "the keys are: %s", list);
    return false;
}

bool pl_lf_check_keys(const pl_lf_reader *r, const pl_lf_place *at, json_t *object,
                      pl_lf_object kind)
{
    const char *key, *keys[KEYS];
    const size_t n = keys_of(kind, keys);
    json_t *value;
    bool ok = true;
    json_object_foreach(object, key, value)
    {
        bool known = false;
        for (size_t i = 0; i < n && !known; i++) known = strcmp(key, keys[i]) == 0;
        if (!known) ok = reject_key(r, at, key, object_names[kind], keys, n);
    }
    return ok;
}

/* The kinds of arguments, each with the key that identifies it. */
static const pl_lf_object argument_kinds[] = {PL_LF_SCALAR,    PL_LF_BUFFER,  PL_LF_STRUCT,
                                              PL_LF_TENSORMAP, PL_LF_TEXTURE, PL_LF_SURFACE,
                                              PL_LF_SAME};

bool pl_lf_report_argument(const pl_lf_reader *r, const pl_lf_place *at, json_t *v)
{
    const char *key, *keys[KEYS], *object_keys[KEYS];
    size_t n = 0;
    json_t *value;
    bool ok = true;
    for (size_t k = 0; k < sizeof argument_kinds / sizeof *argument_kinds; k++)
        if (keys_of(argument_kinds[k], object_keys)) keys[n++] = object_keys[0];
    json_object_foreach(v, key, value)
    {
        bool known = false;
        for (size_t k = 0; k < KEYS; k++) known |= strcmp(key_table[k].key, key) == 0;
        if (!known) ok = reject_key(r, at, key, "an argument", keys, n);
    }
    return ok && pl_lf_missing(r, at, "an argument", "scalar' or 'buffer");
}

const char *pl_lf_string(const pl_lf_reader *r, const pl_lf_place *at, json_t *v)
{
    if (json_is_string(v)) return pl_arena_strdup(r->c->more->arena, json_string_value(v));
    pl_lf_wrong_type(r, at, "a string");
    return NULL;
}

bool pl_lf_boolean(const pl_lf_reader *r, const pl_lf_place *at, json_t *v, bool *out)
{
    if (!json_is_boolean(v)) return pl_lf_wrong_type(r, at, "true or false");
    *out = json_is_true(v);
    return true;
}

/* A number, or a string that holds one ("0xffff", "0f7fc00000", "inf"). */
bool pl_lf_number(const pl_lf_reader *r, const pl_lf_place *at, json_t *v, pl_number *out)
{
    if (json_is_string(v)) {
        const char *s = json_string_value(v);
        return pl_number_parse(s, strlen(s), out) || pl_lf_wrong_type(r, at, "a number");
    }
    if (!json_is_number(v)) return pl_lf_wrong_type(r, at, "a number");
    double d = json_number_value(v);
    if (fabs(d) < 0x1p53 && d == floor(d)) {
        *out = (pl_number){PL_NUM_INT, d < 0, (uint64_t)fabs(d), d};
    } else {
        /* Integers of more than 53 bits: parse the digits instead of using the double. */
        const char *text = find_value(r, at, false);
        if (!pl_number_parse(text, (size_t)(skip_value(text) - text), out))
            *out = (pl_number){PL_NUM_REAL, false, 0, d};
    }
    return true;
}

bool pl_lf_integer(const pl_lf_reader *r, const pl_lf_place *at, json_t *v, uint64_t min,
                   uint64_t max, uint64_t *out)
{
    pl_number n;
    if (!pl_lf_number(r, at, v, &n)) return false;
    if (n.kind == PL_NUM_INT && !n.negative && n.magnitude >= min && n.magnitude <= max) {
        *out = n.magnitude;
        return true;
    }
    if (n.kind != PL_NUM_INT) return pl_lf_wrong_type(r, at, "a whole number");
    return pl_lf_out_of_range(
        r, at, pl_arena_printf(r->gpu->messages, "%" PRIu64 " to %" PRIu64, min, max));
}

bool pl_lf_bits(const pl_lf_reader *r, const pl_lf_place *at, json_t *v, const pl_element *e,
                uint64_t *out)
{
    pl_number n;
    if (!pl_lf_number(r, at, v, &n)) return false;
    switch (pl_element_encode(e, &n, out)) {
    case PL_FIT_OK: return true;
    case PL_FIT_FRACTION:
        return pl_lf_wrong_type(
            r, at,
            pl_arena_printf(r->gpu->messages, "a whole number, because its type is %s", e->name));
    case PL_FIT_KIND:
        return pl_lf_wrong_type(r, at,
                                pl_arena_printf(r->gpu->messages, "a value of type %s", e->name));
    case PL_FIT_RANGE: break;
    }
    return pl_lf_out_of_range(
        r, at, pl_arena_printf(r->gpu->messages, "%s holds %s", e->name, pl_element_range(e)));
}

const pl_element *pl_lf_element(const pl_lf_reader *r, const pl_lf_place *at, json_t *v)
{
    const char *name = pl_lf_string(r, at, v);
    if (!name) return NULL;
    const pl_element *e = pl_element_find(name, strlen(name));
    if (e) return e;
    const char *near = pl_element_suggestion(name);
    pl_diag *d = pl_report(&r->gpu->diags, PL_E0406, pl_lf_locate(r, at, false), name);
    d->help = near ? pl_arena_printf(r->gpu->messages, "did you mean '%s'?", near)
                   : pl_diag_explanation(PL_E0406);
    return NULL;
}

/* ---------------------------------------------------------------- initialisers */

static bool hash_init(const pl_lf_reader *r, const pl_lf_place *of, json_t *v, const pl_element *e,
                      pl_init *out)
{
    pl_lf_place at, lo_at, hi_at;
    json_t *seed = pl_lf_member(v, of, "hash", &at), *lo = pl_lf_member(v, of, "lo", &lo_at),
           *hi = pl_lf_member(v, of, "hi", &hi_at);
    pl_number low, high;
    if (!pl_lf_check_keys(r, of, v, PL_LF_HASH)) return false;
    out->kind = PL_INIT_HASH;
    if (!pl_lf_integer(r, &at, seed, 0, UINT64_MAX, &out->seed)) return false;
    if ((lo && !pl_lf_number(r, &lo_at, lo, &low)) || (hi && !pl_lf_number(r, &hi_at, hi, &high)))
        return false;
    const char *problem = pl_init_limits(e, lo ? &low : NULL, hi ? &high : NULL, out);
    if (problem)
        pl_report(&r->gpu->diags, PL_E0405, pl_lf_locate(r, hi ? &hi_at : &lo_at, false),
                  "the hash", problem);
    return !problem;
}

static bool file_init(const pl_lf_reader *r, const pl_lf_place *of, json_t *v, pl_init *out)
{
    pl_lf_place at;
    if (!pl_lf_check_keys(r, of, v, PL_LF_DATA)) return false;
    json_t *path = pl_lf_member(v, of, "file", &at);
    const char *s = pl_lf_string(r, &at, path);
    if (!s) return false;
    out->kind = PL_INIT_FILE;
    out->path = pl_case_path(r->c, s);
    json_t *offset = pl_lf_member(v, of, "offset", &at);
    out->part = offset != NULL;
    return !offset || pl_lf_integer(r, &at, offset, 0, INT64_MAX, &out->offset);
}

static bool list_init(const pl_lf_reader *r, const pl_lf_place *of, json_t *v, const pl_element *e,
                      pl_init *out)
{
    size_t n = json_array_size(v), i;
    uint64_t *list = pl_arena_array(r->c->more->arena, uint64_t, n + 1);
    json_t *x;
    if (!list) return false;
    json_array_foreach(v, i, x)
    {
        const pl_lf_place at = {of, NULL, i};
        if (!pl_lf_bits(r, &at, x, e, &list[i])) return false;
    }
    out->kind = PL_INIT_LIST;
    out->list = list;
    return true;
}

static bool report_unknown_init(const pl_lf_reader *r, const pl_lf_place *at, const char *name)
{
    static const char *const words[] = {"iota", "const", "hash", "file"};
    const char *near = pl_nearest(name, words, 4);
    pl_diag *d = pl_report(&r->gpu->diags, PL_E0407, pl_lf_locate(r, at, false), name);
    d->help = near ? pl_arena_printf(r->gpu->messages, "did you mean '%s'?", near)
                   : "write {\"const\": 0}, \"iota\", {\"hash\": SEED, \"lo\": A, \"hi\": B}, "
                     "{\"file\": PATH, \"offset\": BYTES} or [1, 2, 3]";
    return false;
}

bool pl_lf_initialiser(const pl_lf_reader *r, const pl_lf_place *at, json_t *v, const pl_element *e,
                       pl_init *out)
{
    pl_lf_place c;
    if (json_is_array(v)) return list_init(r, at, v, e, out);
    if (json_is_string(v)) {
        if (strcmp(json_string_value(v), "iota") != 0)
            return report_unknown_init(r, at, json_string_value(v));
        out->kind = PL_INIT_IOTA;
        return true;
    }
    if (!json_is_object(v))
        return pl_lf_wrong_type(r, at, "\"iota\", a list, or an object such as {\"const\": 0}");
    if (json_object_get(v, "hash")) return hash_init(r, at, v, e, out);
    if (json_object_get(v, "file")) return file_init(r, at, v, out);
    json_t *value = pl_lf_member(v, at, "const", &c);
    if (!value) {
        const char *first = json_object_iter_key(json_object_iter(v));
        return report_unknown_init(r, at, first ? first : "{}");
    }
    out->kind = PL_INIT_CONST;
    return pl_lf_check_keys(r, at, v, PL_LF_CONST) && pl_lf_bits(r, &c, value, e, &out->bits);
}

bool pl_lf_save(const pl_lf_reader *r, const pl_lf_place *at, json_t *v, size_t k)
{
    pl_lf_place member_at;
    pl_case_arg *arg = &r->c->arg[k];
    json_t *output = pl_lf_member(v, at, "output", &member_at);
    if (output && !pl_lf_boolean(r, &member_at, output, &arg->output)) return false;
    json_t *save = pl_lf_member(v, at, "save", &member_at);
    if (!save) return true;
    const char *path = pl_lf_string(r, &member_at, save);
    if (!path) return false;
    arg->whole = strcmp(path, "-") == 0;
    arg->save = arg->whole ? NULL : pl_case_path(r->c, path);
    arg->output = true;
    return true;
}
