/* json_launch.c - reads a launch file: JSON by the jansson library, meaning and messages here.
 *
 * jansson gives line and column of syntax errors only. For everything else a message knows its path
 * from the root (args, 2, init, lo), and pl_lf_locate() walks the text along that path to find the
 * place.
 */
#include "lib/launch/json_launch.h"
#include "base/file.h"
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---------------------------------------------------------------- places */

static const char *skip_space(const char *p)
{
    return p + strspn(p, " \t\r\n");
}

/* Past a string, number, word, list or object. The text is known to be well formed. */
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

/* Past the comma behind an element, if there is one. */
static const char *next_element(const char *p)
{
    p = skip_space(p);
    return *p == ',' ? skip_space(p + 1) : p;
}

/* The key of an object, from p on; NULL: it is not there. */
static const char *key_from(const char *p, const char *key)
{
    const size_t n = strlen(key);
    while (*p && *p != '}') {
        const char *after = skip_value(p);
        if ((size_t)(after - p) == n + 2 && memcmp(p + 1, key, n) == 0) return p;
        p = next_element(skip_value(skip_space(skip_space(after) + 1)));
    }
    return NULL;
}

/* Where the value at a place begins, or its key. */
static const char *find(const pl_lf_reader *r, const pl_lf_place *at, bool key)
{
    if (!at) return skip_space(r->text);
    unsigned depth = 0;
    for (const pl_lf_place *up = at->up; up; up = up->up) depth++;
    const char *from = find(r, at->up, false), *first = *from ? skip_space(from + 1) : from;
    __typeof__(r->memo->level[0]) *known = &r->memo->level[depth % 4];
    const bool same = known->from == from;
    const char *p = same && (at->key || known->index <= at->index) ? known->at : first;
    size_t index = p == first ? 0 : known->index;
    if (at->key) {
        const char *found = key_from(p, at->key);
        if (!found) found = key_from(first, at->key);
        if (!found) return first;
        p = found;
    } else {
        for (; index < at->index && *p && *p != ']'; index++) p = next_element(skip_value(p));
    }
    known->from = from;
    known->at = p;
    known->index = index;
    return at->key && !key ? skip_space(skip_space(skip_value(p)) + 1) : p;
}

pl_loc pl_lf_locate(const pl_lf_reader *r, const pl_lf_place *at, bool key)
{
    const char *p = find(r, at, key);
    pl_lf_memo *m = r->memo;
    pl_case_more *own = r->c->more;
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
    loc.file =
        r->alone ? pl_case_arg_at(r->c, r->c->nargs - 1).file
                 : pl_gpu_source(r->gpu, own->path, own->text, own->bytes, &own->file, &own->epoch);
    const size_t length = (size_t)(skip_value(p) - p);
    const char *newline = memchr(p, '\n', length);
    loc.length = (uint32_t)(newline ? (size_t)(newline - p) : length);
    return loc;
}

/* ---------------------------------------------------------------- values */

/* The member of an object, and its place; NULL when absent. */
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
} all_keys[] = {
#define OBJECT(id, what)
#define KEY(object, key, needed, type, choices, about) {PL_LF_##object, key, choices},
#include "lib/launch/launch_keys.def"
#undef OBJECT
#undef KEY
};
enum { KEYS = sizeof all_keys / sizeof *all_keys };

const char *pl_lf_choices(pl_lf_object kind, const char *key)
{
    size_t k = 0;
    while (k < KEYS && (all_keys[k].object != kind || strcmp(all_keys[k].key, key) != 0)) k++;
    assert(k < KEYS);
    return all_keys[k].choices;
}

/* The keys of such an object; returns how many there are. */
static size_t keys_of(pl_lf_object kind, const char *keys[KEYS])
{
    size_t n = 0;
    for (size_t k = 0; k < KEYS; k++)
        if (all_keys[k].object == kind) keys[n++] = all_keys[k].key;
    return n;
}

static bool refuse_key(const pl_lf_reader *r, const pl_lf_place *at, const char *key,
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

bool pl_lf_only_keys(const pl_lf_reader *r, const pl_lf_place *at, json_t *object,
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
        if (!known) ok = refuse_key(r, at, key, object_names[kind], keys, n);
    }
    return ok;
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
        /* Integers of more than 53 bits: the digits decide, not the double. */
        const char *text = find(r, at, false);
        if (!pl_number_parse(text, (size_t)(skip_value(text) - text), out))
            *out = (pl_number){PL_NUM_REAL, false, 0, d};
    }
    return true;
}

bool pl_lf_whole(const pl_lf_reader *r, const pl_lf_place *at, json_t *v, uint64_t least,
                 uint64_t most, uint64_t *out)
{
    pl_number n;
    if (!pl_lf_number(r, at, v, &n)) return false;
    if (n.kind == PL_NUM_INT && !n.negative && n.magnitude >= least && n.magnitude <= most) {
        *out = n.magnitude;
        return true;
    }
    if (n.kind != PL_NUM_INT) return pl_lf_wrong_type(r, at, "a whole number");
    return pl_lf_out_of_range(
        r, at, pl_arena_printf(r->gpu->messages, "%" PRIu64 " to %" PRIu64, least, most));
}

/* x, [x], [x, y] or [x, y, z]. */
static bool shape(const pl_lf_reader *r, const pl_lf_place *of, json_t *root, const char *key,
                  uint32_t out[3])
{
    pl_lf_place at;
    json_t *v = pl_lf_member(root, of, key, &at), *x;
    size_t i;
    if (!v) return true;
    out[0] = out[1] = out[2] = 1;
    if (json_is_number(v)) {
        uint64_t n;
        if (!pl_lf_whole(r, &at, v, 1, INT32_MAX, &n)) return false;
        out[0] = (uint32_t)n;
        return true;
    }
    if (!json_is_array(v) || json_array_size(v) < 1 || json_array_size(v) > 3)
        return pl_lf_wrong_type(r, &at, "a whole number, or a list of one to three");
    json_array_foreach(v, i, x)
    {
        const pl_lf_place element = {&at, NULL, i};
        uint64_t n;
        if (!pl_lf_whole(r, &element, x, 1, INT32_MAX, &n)) return false;
        out[i] = (uint32_t)n;
    }
    return true;
}

/* A value in an element type. */
static bool bits(const pl_lf_reader *r, const pl_lf_place *at, json_t *v, const pl_element *e,
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
    const char *name = pl_lf_string(r, at, v), *names[16];
    if (!name) return NULL;
    const pl_element *e = pl_element_find(name, strlen(name));
    if (e) return e;
    size_t n = 0;
    for (const pl_element *k = pl_elements; k->name && n < 16; k++) names[n++] = k->name;
    const char *near = pl_nearest(name, names, n);
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
    if (!pl_lf_only_keys(r, of, v, PL_LF_HASH)) return false;
    out->kind = PL_INIT_HASH;
    if (!pl_lf_whole(r, &at, seed, 0, UINT64_MAX, &out->seed)) return false;
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
    if (!pl_lf_only_keys(r, of, v, PL_LF_DATA)) return false;
    json_t *path = pl_lf_member(v, of, "file", &at);
    const char *s = pl_lf_string(r, &at, path);
    if (!s) return false;
    out->kind = PL_INIT_FILE;
    out->path = pl_case_path(r->c, s);
    json_t *offset = pl_lf_member(v, of, "offset", &at);
    return !offset || pl_lf_whole(r, &at, offset, 0, INT64_MAX, &out->offset);
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
        if (!bits(r, &at, x, e, &list[i])) return false;
    }
    out->kind = PL_INIT_LIST;
    out->list = list;
    return true;
}

static bool unknown_init(const pl_lf_reader *r, const pl_lf_place *at, const char *name)
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
            return unknown_init(r, at, json_string_value(v));
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
        return unknown_init(r, at, first ? first : "{}");
    }
    out->kind = PL_INIT_CONST;
    return pl_lf_only_keys(r, at, v, PL_LF_CONST) && bits(r, &c, value, e, &out->bits);
}

/* ---------------------------------------------------------------- arguments */

static bool scalar_arg(const pl_lf_reader *r, const pl_lf_place *at, json_t *v, json_t *type,
                       pl_case_arg *arg, pl_arg_more *a)
{
    const pl_lf_place type_at = {at, "scalar", 0};
    pl_lf_place value_at;
    json_t *value = pl_lf_member(v, at, "value", &value_at);
    if (!pl_lf_only_keys(r, at, v, PL_LF_SCALAR)) return false;
    if (!value) return pl_lf_missing(r, at, "a scalar argument", "value");
    a->element = pl_lf_element(r, &type_at, type);
    if (!a->element || !bits(r, &value_at, value, a->element, &a->value)) return false;
    arg->type = a->element->name;
    arg->count = 1;
    arg->bytes = a->element->bytes;
    return true;
}

/* "count" of a buffer, which a list, a file or a variable makes unnecessary. */
static bool count_of(const pl_lf_reader *r, const pl_lf_place *at, json_t *v, size_t k)
{
    pl_lf_place count_at;
    json_t *count = pl_lf_member(v, at, "count", &count_at), *init = json_object_get(v, "init");
    pl_case_arg *arg = &r->c->arg[k];
    const pl_init *values = &r->c->more->arg.at[k].init;
    if (count && !pl_lf_whole(r, &count_at, count, 0, INT64_MAX, &arg->count)) return false;
    if (values->kind == PL_INIT_LIST) {
        if (!count) arg->count = json_array_size(init);
        return arg->count == json_array_size(init) ||
               pl_lf_out_of_range(r, &count_at,
                                  pl_arena_printf(r->gpu->messages, "the list has %zu values",
                                                  json_array_size(init)));
    }
    if (count) return true;
    if (values->kind == PL_INIT_FILE) return pl_case_count_file(r->c, k) == PL_OK;
    return arg->variable || pl_lf_missing(r, at, "a buffer argument", "count");
}

static bool tolerance(const pl_lf_reader *r, const pl_lf_place *at, json_t *v, const char *key,
                      double *out)
{
    pl_lf_place here;
    pl_number n;
    json_t *x = pl_lf_member(v, at, key, &here);
    if (!x) return true;
    if (!pl_lf_number(r, &here, x, &n)) return false;
    *out = n.real;
    return n.real >= 0 || pl_lf_out_of_range(r, &here, "0 and above");
}

/* "expect", "atol" and "rtol". */
static bool expectation(const pl_lf_reader *r, const pl_lf_place *at, json_t *v, size_t k)
{
    pl_lf_place here;
    pl_case_arg *arg = &r->c->arg[k];
    pl_arg_more *a = &r->c->more->arg.at[k];
    json_t *x = pl_lf_member(v, at, "expect", &here);
    if (!tolerance(r, at, v, "atol", &a->atol) || !tolerance(r, at, v, "rtol", &a->rtol))
        return false;
    if (!x) return true;
    a->expect = (pl_init){.kind = PL_INIT_CONST};
    if (!pl_lf_initialiser(r, &here, x, a->element, &a->expect)) return false;
    arg->expected = true;
    return a->expect.kind != PL_INIT_LIST || arg->count == json_array_size(x) ||
           (arg->variable && !arg->count && (arg->count = json_array_size(x)) > 0) ||
           pl_lf_out_of_range(
               r, &here,
               pl_arena_printf(r->gpu->messages, "%" PRIu64 " values are needed", arg->count));
}

bool pl_lf_save(const pl_lf_reader *r, const pl_lf_place *at, json_t *v, size_t k)
{
    pl_lf_place here;
    pl_case_arg *arg = &r->c->arg[k];
    json_t *output = pl_lf_member(v, at, "output", &here);
    if (output && !pl_lf_boolean(r, &here, output, &arg->output)) return false;
    json_t *save = pl_lf_member(v, at, "save", &here);
    if (!save) return true;
    const char *path = pl_lf_string(r, &here, save);
    if (!path) return false;
    arg->whole = strcmp(path, "-") == 0;
    arg->save = arg->whole ? NULL : pl_case_path(r->c, path);
    arg->output = true;
    return true;
}

/* A buffer, or with "struct" several elements by value. */
static bool buffer_arg(const pl_lf_reader *r, const pl_lf_place *at, json_t *v, size_t k,
                       const char *kind)
{
    pl_case_arg *arg = &r->c->arg[k];
    pl_arg_more *a = &r->c->more->arg.at[k];
    pl_lf_place type_at, init_at;
    json_t *type = pl_lf_member(v, at, kind, &type_at),
           *init = pl_lf_member(v, at, "init", &init_at);
    arg->buffer = strcmp(kind, "buffer") == 0;
    a->several = !arg->buffer;
    if (!pl_lf_only_keys(r, at, v, arg->buffer ? PL_LF_BUFFER : PL_LF_STRUCT) ||
        !(a->element = pl_lf_element(r, &type_at, type)))
        return false;
    arg->type = a->element->name;
    a->init = (pl_init){.kind = PL_INIT_CONST};
    a->initialised = init != NULL;
    if (init && !pl_lf_initialiser(r, &init_at, init, a->element, &a->init)) return false;
    return count_of(r, at, v, k) && expectation(r, at, v, k) && pl_lf_save(r, at, v, k) &&
           pl_case_sized(r->c, k);
}

/* An argument of before, passed once more. */
static bool same_arg(const pl_lf_reader *r, const pl_lf_place *at, json_t *v, pl_arg_more *a)
{
    pl_lf_place same_at;
    uint64_t n;
    json_t *same = pl_lf_member(v, at, "same", &same_at);
    if (!pl_lf_only_keys(r, at, v, PL_LF_SAME)) return false;
    if (!pl_lf_whole(r, &same_at, same, 1, r->c->nargs > 1 ? r->c->nargs - 1 : 1, &n)) return false;
    if (n >= r->c->nargs)
        return pl_lf_out_of_range(r, &same_at, "no argument stands in front of this one");
    a->same = n;
    return true;
}

/* The kinds of arguments, each with the key that tells it. */
static const pl_lf_object argument_kinds[] = {PL_LF_SCALAR,    PL_LF_BUFFER,  PL_LF_STRUCT,
                                              PL_LF_TENSORMAP, PL_LF_TEXTURE, PL_LF_SURFACE,
                                              PL_LF_SAME};

/* Nothing tells which kind it is: a misspelt key, or none. */
static bool unknown_argument(const pl_lf_reader *r, const pl_lf_place *at, json_t *v)
{
    const char *key, *keys[KEYS], *own[KEYS];
    size_t n = 0;
    json_t *value;
    bool ok = true;
    for (size_t k = 0; k < sizeof argument_kinds / sizeof *argument_kinds; k++)
        if (keys_of(argument_kinds[k], own)) keys[n++] = own[0];
    json_object_foreach(v, key, value)
    {
        bool known = false;
        for (size_t k = 0; k < KEYS; k++) known |= strcmp(all_keys[k].key, key) == 0;
        if (!known) ok = refuse_key(r, at, key, "an argument", keys, n);
    }
    return ok && pl_lf_missing(r, at, "an argument", "scalar' or 'buffer");
}

/* variable: it is that of the module; NULL: a parameter. */
static bool argument(const pl_lf_reader *r, const pl_lf_place *at, json_t *v, const char *variable)
{
    static const char *const kinds[] = {"scalar", "buffer", "struct"};
    pl_arg_more *a;
    pl_case_arg *arg = pl_case_push(r->c, &a);
    if (variable) arg->variable = pl_arena_strdup(r->c->more->arena, variable);
    if (r->alone) a->text = r->text;
    const pl_loc loc = pl_lf_locate(r, at, false);
    a->line = loc.line;
    a->column = loc.column;
    a->length = loc.length;
    if (!json_is_object(v)) return pl_lf_wrong_type(r, at, "an object");
    for (size_t i = 0; i < 3; i++) {
        json_t *type = json_object_get(v, kinds[i]);
        if (type)
            return i == 0 ? scalar_arg(r, at, v, type, arg, a)
                          : buffer_arg(r, at, v, r->c->nargs - 1, kinds[i]);
    }
    if (json_object_get(v, "same")) return same_arg(r, at, v, a);
    bool resource, ok = pl_lf_resource(r, at, v, r->c->nargs - 1, &resource);
    if (resource) return ok;
    return unknown_argument(r, at, v);
}

/* NULL: it is no JSON, as *error says; or, with PL_NOMEM in *st, there is no memory. Without memory
 * jansson finds mistakes where there are none, and leaves out characters of strings. So the text is
 * read twice: what differs, or is wrong where memory is short, is no memory. */
static json_t *parse_json(const char *text, size_t n, json_error_t *error, pl_status *st)
{
    enum { FLAGS = JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, SPARE = 65536 };
    json_t *first = json_loadb(text, n, FLAGS, error), *v = json_loadb(text, n, FLAGS, error);
    void *enough = v ? NULL : malloc(n + SPARE);
    *st = v && first && json_equal(v, first) ? PL_OK
          : !v && !first && enough           ? PL_INVALID
                                             : PL_NOMEM;
    free(enough);
    json_decref(first);
    if (*st == PL_OK) return v;
    json_decref(v);
    return NULL;
}

/* Calls `read` with a JSON value, which is given back whatever becomes of that. */
static pl_status read_json(const pl_lf_reader *r, json_t *v,
                           bool (*read)(const pl_lf_reader *, json_t *))
{
    PL_GUARD(return PL_NOMEM)
    return read(r, v) ? PL_OK : PL_INVALID;
}

static bool only_argument(const pl_lf_reader *r, json_t *v)
{
    return argument(r, NULL, v, NULL);
}

pl_status pl_lf_read_argument(pl_case *c, const char *text)
{
    pl_case_more *own = c->more;
    const char *copy = pl_arena_strdup(own->arena, text);
    pl_lf_memo memo = {.counted = NULL};
    const pl_lf_reader r = {.c = c,
                            .gpu = own->gpu,
                            .text = copy,
                            .end = copy + strlen(copy),
                            .alone = true,
                            .memo = &memo};
    json_error_t error;
    pl_status st;
    json_t *v = parse_json(copy, strlen(copy), &error, &st);
    if (st == PL_OK) st = read_json(&r, v, only_argument);
    json_decref(v);
    if (!v && st == PL_INVALID) {
        pl_arg_more *a;
        pl_case_push(c, &a);
        *a = (pl_arg_more){.text = copy,
                           .line = 1,
                           .column = error.column > 0 ? (uint32_t)error.column : 1,
                           .length = 1};
        pl_report(&own->gpu->diags, PL_E0401, pl_case_arg_at(c, c->nargs - 1), error.text);
    }
    return st == PL_NOMEM ? pl_gpu_no_memory(own->gpu, "while reading arguments") : st;
}

/* ---------------------------------------------------------------- the file */

/* The file's name without folder and ".json". */
static const char *name_from_path(pl_case *c)
{
    const char *slash = strrchr(c->more->path, '/'), *base = slash ? slash + 1 : c->more->path;
    size_t n = strlen(base);
    if (n > 5 && strcmp(base + n - 5, ".json") == 0) n -= 5;
    return pl_arena_strndup(c->more->arena, base, n);
}

/* Reading a pipe that nobody writes to would not end. */
static bool ordinary(const pl_lf_reader *r, const pl_lf_place *at, const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0 || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
        return true; /* reading it tells */
    pl_report(&r->gpu->diags, PL_E0001, pl_lf_locate(r, at, false), path, pl_file_error(EINVAL));
    return false;
}

/* "k.ptx", or ["main.ptx", "helpers.ptx"]: files to be linked. */
static bool modules(const pl_lf_reader *r, const pl_lf_place *at, json_t *v)
{
    pl_case *c = r->c;
    const char *path;
    size_t i;
    json_t *x;
    if (!json_is_array(v)) {
        path = pl_lf_string(r, at, v);
        c->ptx = path ? pl_case_path(c, path) : NULL;
        return c->ptx && ordinary(r, at, c->ptx);
    }
    if (json_array_size(v) == 0)
        return pl_lf_wrong_type(r, at, "the path of a module, or a list of paths");
    json_array_foreach(v, i, x)
    {
        const pl_lf_place element_at = {at, NULL, i};
        path = pl_lf_string(r, &element_at, x);
        if (!path) return false;
        path = pl_case_path(c, path);
        if (!path || !ordinary(r, &element_at, path)) return false;
        if (i == 0)
            c->ptx = path;
        else
            pl_case_add_file(c, path);
    }
    return true;
}

/* "variables" and "bind": what variables of the module hold. They come behind the arguments. */
static bool bindings(const pl_lf_reader *r, json_t *root, const char *key, bool textures)
{
    pl_lf_place at;
    const char *name;
    json_t *v = pl_lf_member(root, NULL, key, &at), *x;
    bool ok = true;
    if (v && !json_is_object(v))
        return pl_lf_wrong_type(
            r, &at, textures ? "an object: names and textures" : "an object: names and buffers");
    json_object_foreach(v, name, x)
    {
        const pl_lf_place element = {&at, name, 0};
        const bool good = argument(r, &element, x, name);
        const size_t k = r->c->nargs - 1;
        const pl_arg_resource *res = r->c->more->arg.at[k].resource;
        ok &= good;
        if (!good) continue;
        if (textures && (!res || res->kind == PL_ARG_TENSORMAP))
            ok = pl_lf_wrong_type(r, &element, "a texture or a surface");
        if (!textures && !r->c->arg[k].buffer) ok = pl_lf_wrong_type(r, &element, "a buffer");
    }
    return ok;
}

static bool arguments(const pl_lf_reader *r, const pl_lf_place *of, json_t *object)
{
    pl_lf_place at;
    json_t *v = pl_lf_member(object, of, "args", &at), *x;
    size_t i;
    bool ok = true;
    if (v && !json_is_array(v)) return pl_lf_wrong_type(r, &at, "a list of arguments");
    json_array_foreach(v, i, x)
    {
        const pl_lf_place element_at = {&at, NULL, i};
        ok &= argument(r, &element_at, x, NULL);
    }
    return ok;
}

/* Shared memory and stack of a launch. */
static bool sizes(const pl_lf_reader *r, const pl_lf_place *of, json_t *object, uint32_t *shared,
                  uint32_t *stack)
{
    pl_lf_place at;
    uint64_t n;
    bool ok = true;
    json_t *v;
    if ((v = pl_lf_member(object, of, "dynamic_shared", &at))) {
        ok = pl_lf_whole(r, &at, v, 0, UINT32_MAX, &n);
        if (ok) *shared = (uint32_t)n;
    }
    if ((v = pl_lf_member(object, of, "stack", &at))) {
        if (pl_lf_whole(r, &at, v, 0, 512 * 1024, &n))
            *stack = (uint32_t)n;
        else
            ok = false;
    }
    return ok;
}

/* "then": launches that follow in the same stream. */
static bool steps(const pl_lf_reader *r, json_t *root)
{
    pl_lf_place list, at;
    json_t *v = pl_lf_member(root, NULL, "then", &list), *x, *y;
    size_t i;
    bool ok = true;
    if (v && !json_is_array(v)) return pl_lf_wrong_type(r, &list, "a list of launches");
    json_array_foreach(v, i, x)
    {
        const pl_lf_place here = {&list, NULL, i};
        const pl_loc loc = pl_lf_locate(r, &here, false);
        pl_case_step s = {
            .first = r->c->nargs, .line = loc.line, .column = loc.column, .length = loc.length};
        if (!json_is_object(x)) return pl_lf_wrong_type(r, &here, "an object: a launch");
        ok &= pl_lf_only_keys(r, &here, x, PL_LF_LAUNCH);
        if ((y = pl_lf_member(x, &here, "entry", &at)) && !(s.entry = pl_lf_string(r, &at, y)))
            ok = false;
        ok &= shape(r, &here, x, "grid", s.grid) && shape(r, &here, x, "block", s.block) &&
              shape(r, &here, x, "cluster", s.cluster);
        ok &= sizes(r, &here, x, &s.dynamic_shared, &s.stack);
        if ((y = pl_lf_member(x, &here, "dependent", &at)))
            ok &= pl_lf_boolean(r, &at, y, &s.dependent);
        if ((y = pl_lf_member(x, &here, "cooperative", &at)))
            ok &= pl_lf_boolean(r, &at, y, &s.cooperative);
        ok &= arguments(r, &here, x);
        s.count = r->c->nargs - s.first;
        *pl_push(r->c->more->arena, &r->c->more->step) = s;
    }
    return ok;
}

static bool top(const pl_lf_reader *r, json_t *root)
{
    pl_case *c = r->c;
    pl_lf_place at;
    json_t *v;
    if (!json_is_object(root)) {
        pl_report(&r->gpu->diags, PL_E0404, pl_lf_locate(r, NULL, false), "a launch file",
                  "an object: { \"ptx\": ..., \"args\": [ ... ] }");
        return false;
    }
    bool ok = pl_lf_only_keys(r, NULL, root, PL_LF_FILE);
    c->name = name_from_path(c);
    if ((v = pl_lf_member(root, NULL, "name", &at)) && !(c->name = pl_lf_string(r, &at, v)))
        ok = false;
    if ((v = pl_lf_member(root, NULL, "entry", &at)) && !(c->entry = pl_lf_string(r, &at, v)))
        ok = false;
    if (!(v = pl_lf_member(root, NULL, "ptx", &at))) {
        ok = pl_lf_missing(r, NULL, "the launch file", "ptx");
    } else {
        ok &= modules(r, &at, v);
    }
    ok &= shape(r, NULL, root, "grid", c->grid);
    ok &= shape(r, NULL, root, "block", c->block);
    ok &= shape(r, NULL, root, "cluster", c->cluster);
    ok &= sizes(r, NULL, root, &c->dynamic_shared, &c->stack);
    if ((v = pl_lf_member(root, NULL, "deterministic", &at)))
        ok &= pl_lf_boolean(r, &at, v, &c->deterministic);
    if ((v = pl_lf_member(root, NULL, "cooperative", &at)))
        ok &= pl_lf_boolean(r, &at, v, &c->more->cooperative);
    ok &= arguments(r, NULL, root) && steps(r, root);
    return ok && bindings(r, root, "variables", false) && bindings(r, root, "bind", true);
}

static pl_status parse(const pl_lf_reader *r)
{
    json_error_t error;
    pl_case_more *own = r->c->more;
    pl_status st;
    json_t *root = parse_json(own->text, own->bytes, &error, &st);
    if (st == PL_NOMEM) return st;
    if (!root) {
        pl_loc at = {.file = pl_gpu_source(r->gpu, own->path, own->text, own->bytes, &own->file,
                                           &own->epoch),
                     .line = error.line > 0 ? (uint32_t)error.line : 1,
                     .column = error.column > 0 ? (uint32_t)error.column : 1};
        pl_report(&r->gpu->diags, PL_E0401, at, error.text);
        return PL_INVALID;
    }
    st = read_json(r, root, top);
    json_decref(root);
    return st;
}

static pl_status read_case(pl_case *c, const char *path, const char *text, size_t bytes)
{
    PL_GUARD(return PL_NOMEM)
    pl_case_more *own = c->more;
    own->path = pl_arena_strdup(own->arena, path);
    own->text = pl_arena_strndup(own->arena, text, bytes);
    own->bytes = bytes;
    pl_lf_memo memo = {.counted = NULL};
    const pl_lf_reader r = {
        .c = c, .gpu = own->gpu, .text = own->text, .end = own->text + bytes, .memo = &memo};
    return parse(&r);
}

pl_status pl_case_read(pl_gpu *gpu, const char *path, pl_case **out)
{
    char *text;
    size_t bytes;
    pl_case *c;
    *out = NULL;
    pl_status st = pl_file_read(gpu, path, &text, &bytes);
    if (st == PL_OK && (st = pl_case_open(gpu, &c)) != PL_OK) free(text);
    if (st != PL_OK) return st;
    st = read_case(c, path, text, bytes);
    free(text);
    if (st == PL_NOMEM) pl_gpu_no_memory(gpu, "while reading a launch file");
    pl_diags_sort(&gpu->diags);
    if (st == PL_OK)
        *out = c;
    else
        pl_case_close(c);
    return st;
}
