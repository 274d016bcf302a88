/* json_launch.c - reads a launch file: jansson parses the JSON, this file checks it and reports.
 *
 * jansson gives line and column of syntax errors only. For all other messages the path from the
 * root is known (args, 2, init, lo), and pl_lf_locate() walks the text along that path to find the
 * position. */
#include "lib/launch/json_launch.h"
#include "base/file.h"
#include "base/plural.h"
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* x, [x], [x, y] or [x, y, z]. */
static bool read_shape(const pl_lf_reader *r, const pl_lf_place *of, json_t *root, const char *key,
                       uint32_t out[3])
{
    pl_lf_place at;
    json_t *v = pl_lf_member(root, of, key, &at), *x;
    size_t i;
    if (!v) return true;
    out[0] = out[1] = out[2] = 1;
    if (json_is_number(v)) {
        uint64_t n;
        if (!pl_lf_integer(r, &at, v, 1, INT32_MAX, &n)) return false;
        out[0] = (uint32_t)n;
        return true;
    }
    if (!json_is_array(v) || json_array_size(v) < 1 || json_array_size(v) > 3)
        return pl_lf_wrong_type(r, &at, "a whole number, or a list of one to three");
    json_array_foreach(v, i, x)
    {
        const pl_lf_place element = {&at, NULL, i};
        uint64_t n;
        if (!pl_lf_integer(r, &element, x, 1, INT32_MAX, &n)) return false;
        out[i] = (uint32_t)n;
    }
    return true;
}

/* ---------------------------------------------------------------- arguments */

static bool scalar_arg(const pl_lf_reader *r, const pl_lf_place *at, json_t *v, json_t *type,
                       pl_case_arg *arg, pl_arg_more *a)
{
    const pl_lf_place type_at = {at, "scalar", 0};
    pl_lf_place value_at;
    json_t *value = pl_lf_member(v, at, "value", &value_at);
    if (!pl_lf_check_keys(r, at, v, PL_LF_SCALAR)) return false;
    if (!value) return pl_lf_missing(r, at, "a scalar argument", "value");
    a->element = pl_lf_element(r, &type_at, type);
    if (!a->element || !pl_lf_bits(r, &value_at, value, a->element, &a->value)) return false;
    arg->type = a->element->name;
    arg->count = 1;
    arg->bytes = a->element->bytes;
    return true;
}

/* Reads "count" of a buffer, which is optional with a list, a file or a variable. */
static bool read_count(const pl_lf_reader *r, const pl_lf_place *at, json_t *v, size_t k)
{
    pl_lf_place count_at;
    json_t *count = pl_lf_member(v, at, "count", &count_at), *init = json_object_get(v, "init");
    pl_case_arg *arg = &r->c->arg[k];
    const pl_init *values = &r->c->more->arg.at[k].init;
    if (count && !pl_lf_integer(r, &count_at, count, 0, INT64_MAX, &arg->count)) return false;
    if (values->kind == PL_INIT_LIST) {
        if (!count) arg->count = json_array_size(init);
        return arg->count == json_array_size(init) ||
               pl_lf_out_of_range(r, &count_at,
                                  pl_arena_printf(r->gpu->messages, "the list has %zu value%s",
                                                  json_array_size(init),
                                                  pl_plural(json_array_size(init))));
    }
    if (count) return true;
    if (values->kind == PL_INIT_FILE) return pl_case_count_file(r->c, k) == PL_OK;
    return arg->variable || pl_lf_missing(r, at, "a buffer argument", "count");
}

static bool read_tolerance(const pl_lf_reader *r, const pl_lf_place *at, json_t *v, const char *key,
                           double *out)
{
    pl_lf_place member_at;
    pl_number n;
    json_t *x = pl_lf_member(v, at, key, &member_at);
    if (!x) return true;
    if (!pl_lf_number(r, &member_at, x, &n)) return false;
    *out = n.real;
    return n.real >= 0 || pl_lf_out_of_range(r, &member_at, "0 and above");
}

/* Reads "expect", "atol" and "rtol". */
static bool read_expectation(const pl_lf_reader *r, const pl_lf_place *at, json_t *v, size_t k)
{
    pl_lf_place member_at;
    pl_case_arg *arg = &r->c->arg[k];
    pl_arg_more *a = &r->c->more->arg.at[k];
    json_t *x = pl_lf_member(v, at, "expect", &member_at);
    if (!read_tolerance(r, at, v, "atol", &a->atol) || !read_tolerance(r, at, v, "rtol", &a->rtol))
        return false;
    if (!x && (json_object_get(v, "atol") || json_object_get(v, "rtol")))
        return pl_lf_missing(r, at, "an argument with 'atol' or 'rtol'", "expect");
    if (!x) return true;
    a->expect = (pl_init){.kind = PL_INIT_CONST};
    if (!pl_lf_initialiser(r, &member_at, x, a->element, &a->expect)) return false;
    arg->expected = true;
    return a->expect.kind != PL_INIT_LIST || arg->count == json_array_size(x) ||
           (arg->variable && !arg->count && (arg->count = json_array_size(x)) > 0) ||
           pl_lf_out_of_range(r, &member_at,
                              pl_arena_printf(r->gpu->messages, "%" PRIu64 " value%s needed",
                                              arg->count, arg->count == 1 ? " is" : "s are"));
}

/* Reads a buffer, or with "struct" several elements passed by value. */
static bool buffer_arg(const pl_lf_reader *r, const pl_lf_place *at, json_t *v, size_t k,
                       const char *kind)
{
    pl_case_arg *arg = &r->c->arg[k];
    pl_arg_more *a = &r->c->more->arg.at[k];
    pl_lf_place type_at, init_at;
    json_t *type = pl_lf_member(v, at, kind, &type_at),
           *init = pl_lf_member(v, at, "init", &init_at);
    arg->buffer = strcmp(kind, "buffer") == 0;
    a->is_array = !arg->buffer;
    if (!pl_lf_check_keys(r, at, v, arg->buffer ? PL_LF_BUFFER : PL_LF_STRUCT) ||
        !(a->element = pl_lf_element(r, &type_at, type)))
        return false;
    arg->type = a->element->name;
    a->init = (pl_init){.kind = PL_INIT_CONST};
    a->initialised = init != NULL;
    if (init && !pl_lf_initialiser(r, &init_at, init, a->element, &a->init)) return false;
    return read_count(r, at, v, k) && read_expectation(r, at, v, k) && pl_lf_save(r, at, v, k) &&
           pl_case_sized(r->c, k);
}

/* Reads an earlier argument that is passed again. */
static bool same_arg(const pl_lf_reader *r, const pl_lf_place *at, json_t *v, pl_arg_more *a)
{
    pl_lf_place same_at;
    uint64_t n;
    json_t *same = pl_lf_member(v, at, "same", &same_at);
    if (!pl_lf_check_keys(r, at, v, PL_LF_SAME)) return false;
    if (!pl_lf_integer(r, &same_at, same, 1, r->c->nargs > 1 ? r->c->nargs - 1 : 1, &n))
        return false;
    if (n >= r->c->nargs) return pl_lf_out_of_range(r, &same_at, "no argument precedes this one");
    a->same_as = n;
    return true;
}

/* Reads an argument. variable: the module variable that it sets; NULL: it is a parameter. */
static bool read_argument(const pl_lf_reader *r, const pl_lf_place *at, json_t *v,
                          const char *variable)
{
    static const char *const kinds[] = {"scalar", "buffer", "struct"};
    pl_arg_more *a;
    pl_case_arg *arg = pl_case_push(r->c, &a);
    if (variable) arg->variable = pl_arena_strdup(r->c->more->arena, variable);
    if (r->is_argument) a->text = r->text;
    const pl_loc loc = pl_lf_locate(r, at, false);
    a->line = loc.line;
    a->column = loc.column;
    a->length = loc.length;
    if (!json_is_object(v))
        return pl_lf_wrong_type(r, at, "an object, such as {\"scalar\": \"u32\", \"value\": 8}");
    for (size_t i = 0; i < 3; i++) {
        json_t *type = json_object_get(v, kinds[i]);
        if (type)
            return i == 0 ? scalar_arg(r, at, v, type, arg, a)
                          : buffer_arg(r, at, v, r->c->nargs - 1, kinds[i]);
    }
    if (json_object_get(v, "same")) return same_arg(r, at, v, a);
    bool resource, ok = pl_lf_resource(r, at, v, r->c->nargs - 1, &resource);
    if (resource) return ok;
    return pl_lf_report_argument(r, at, v);
}

/* The text of a launch file or an argument, which jansson reads in pieces. */
typedef struct json_text {
    const pl_gpu *gpu;
    const char *text;
    size_t n;
} json_text;

static size_t next_piece(void *to, size_t bytes, void *ctx)
{
    json_text *t = ctx;
    const size_t n = bytes < t->n ? bytes : t->n;
    if (pl_gpu_stopped(t->gpu)) return (size_t)-1;
    memcpy(to, t->text, n);
    t->text += n;
    t->n -= n;
    return n;
}

static json_t *load_json(const pl_gpu *gpu, const char *text, size_t n, json_error_t *error)
{
    enum { FLAGS = JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL };
    json_text t = {gpu, text, n};
    return json_load_callback(next_piece, &t, FLAGS, error);
}

/* Returns NULL if the text is no JSON, as *error says, or if *st is PL_INTERRUPTED, or if memory is
 * exhausted (*st is PL_NOMEM). Without memory, jansson reports false errors and omits characters of
 * strings. So the text is parsed twice: if the results differ, or an error occurs while memory is
 * short, memory is exhausted. */
static json_t *parse_json(pl_gpu *gpu, const char *text, size_t n, json_error_t *error,
                          pl_status *st)
{
    enum { SPARE = 65536 };
    json_t *first = load_json(gpu, text, n, error), *v = load_json(gpu, text, n, error);
    void *probe = v ? NULL : malloc(n + SPARE);
    *st = v && first && json_equal(v, first) ? PL_OK
          : !v && !first && probe            ? PL_INVALID
                                             : PL_NOMEM;
    free(probe);
    json_decref(first);
    if (pl_gpu_stopped(gpu)) *st = PL_INTERRUPTED;
    if (*st == PL_OK) return v;
    json_decref(v);
    return NULL;
}

/* Calls `read` with a JSON value, which is released in any case. */
static pl_status read_json(const pl_lf_reader *r, json_t *v,
                           bool (*read)(const pl_lf_reader *, json_t *))
{
    PL_GUARD(return PL_NOMEM)
    return read(r, v) ? PL_OK : PL_INVALID;
}

static bool only_argument(const pl_lf_reader *r, json_t *v)
{
    return read_argument(r, NULL, v, NULL);
}

pl_status pl_lf_read_argument(pl_case *c, const char *text)
{
    pl_case_more *more = c->more;
    const char *copy = pl_arena_strdup(more->arena, text);
    pl_lf_memo memo = {.counted = NULL};
    const pl_lf_reader r = {.c = c,
                            .gpu = more->gpu,
                            .text = copy,
                            .end = copy + strlen(copy),
                            .is_argument = true,
                            .memo = &memo};
    json_error_t error;
    pl_status st;
    json_t *v = parse_json(more->gpu, copy, strlen(copy), &error, &st);
    if (st == PL_OK) st = read_json(&r, v, only_argument);
    json_decref(v);
    if (!v && st == PL_INVALID) {
        pl_arg_more *a;
        pl_case_push(c, &a);
        *a = (pl_arg_more){.text = copy,
                           .line = 1,
                           .column = error.column > 0 ? (uint32_t)error.column : 1,
                           .length = 1};
        pl_report(&more->gpu->diags, PL_E0401, pl_case_arg_at(c, c->nargs - 1), error.text);
    }
    if (st == PL_INTERRUPTED)
        return pl_gpu_interrupted(more->gpu, (pl_loc){.file = UINT32_MAX}, "reading arguments");
    return st == PL_NOMEM ? pl_gpu_no_memory(more->gpu, "while reading arguments") : st;
}

/* ---------------------------------------------------------------- the file */

/* Returns the file name without folder and ".json". */
static const char *name_from_path(pl_case *c)
{
    const char *slash = strrchr(c->more->path, '/'), *base = slash ? slash + 1 : c->more->path;
    size_t n = strlen(base);
    if (n > 5 && strcmp(base + n - 5, ".json") == 0) n -= 5;
    return pl_arena_strndup(c->more->arena, base, n);
}

/* Reading a pipe without a writer would block forever. */
static bool is_regular_file(const pl_lf_reader *r, const pl_lf_place *at, const char *path)
{
    struct stat st;
    /* Errors are reported when it is read. */
    if (stat(path, &st) != 0 || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) return true;
    pl_report(&r->gpu->diags, PL_E0001, pl_lf_locate(r, at, false), path, pl_file_error(EINVAL));
    return false;
}

/* Reads "k.ptx", or ["main.ptx", "helpers.ptx"]: files to be linked. */
static bool read_modules(const pl_lf_reader *r, const pl_lf_place *at, json_t *v)
{
    pl_case *c = r->c;
    const char *path;
    size_t i;
    json_t *x;
    if (!json_is_array(v)) {
        path = pl_lf_string(r, at, v);
        c->ptx = path ? pl_case_path(c, path) : NULL;
        return c->ptx && is_regular_file(r, at, c->ptx);
    }
    if (json_array_size(v) == 0)
        return pl_lf_wrong_type(r, at, "the path of a module, or a list of paths");
    json_array_foreach(v, i, x)
    {
        const pl_lf_place element_at = {at, NULL, i};
        path = pl_lf_string(r, &element_at, x);
        if (!path) return false;
        path = pl_case_path(c, path);
        if (!path || !is_regular_file(r, &element_at, path)) return false;
        if (i == 0)
            c->ptx = path;
        else
            pl_case_add_file(c, path);
    }
    return true;
}

/* Reads "variables" and "bind": contents of module variables. They follow the arguments. */
static bool read_bindings(const pl_lf_reader *r, json_t *root, const char *key, bool textures)
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
        const bool read = read_argument(r, &element, x, name);
        const size_t k = r->c->nargs - 1;
        const pl_arg_resource *res = r->c->more->arg.at[k].resource;
        ok &= read;
        if (!read) continue;
        if (textures && (!res || res->kind == PL_ARG_TENSORMAP))
            ok = pl_lf_wrong_type(r, &element, "a texture or a surface");
        if (!textures && !r->c->arg[k].buffer) ok = pl_lf_wrong_type(r, &element, "a buffer");
    }
    return ok;
}

static bool read_arguments(const pl_lf_reader *r, const pl_lf_place *of, json_t *object)
{
    pl_lf_place at;
    json_t *v = pl_lf_member(object, of, "args", &at), *x;
    size_t i;
    bool ok = true;
    if (v && !json_is_array(v)) return pl_lf_wrong_type(r, &at, "a list of arguments");
    json_array_foreach(v, i, x)
    {
        const pl_lf_place element_at = {&at, NULL, i};
        ok &= read_argument(r, &element_at, x, NULL);
    }
    return ok;
}

/* Reads the shared memory and stack sizes of a launch. */
static bool read_sizes(const pl_lf_reader *r, const pl_lf_place *of, json_t *object,
                       uint32_t *shared, uint32_t *stack)
{
    pl_lf_place at;
    uint64_t n;
    bool ok = true;
    json_t *v;
    if ((v = pl_lf_member(object, of, "dynamic_shared", &at))) {
        ok = pl_lf_integer(r, &at, v, 0, UINT32_MAX, &n);
        if (ok) *shared = (uint32_t)n;
    }
    if ((v = pl_lf_member(object, of, "stack", &at))) {
        if (pl_lf_integer(r, &at, v, 0, 512 * 1024, &n))
            *stack = (uint32_t)n;
        else
            ok = false;
    }
    return ok;
}

/* Reads "then": launches that follow in the same stream. */
static bool read_steps(const pl_lf_reader *r, json_t *root)
{
    pl_lf_place list, at;
    json_t *v = pl_lf_member(root, NULL, "then", &list), *x, *y;
    size_t i;
    bool ok = true;
    if (v && !json_is_array(v)) return pl_lf_wrong_type(r, &list, "a list of launches");
    json_array_foreach(v, i, x)
    {
        const pl_lf_place step_at = {&list, NULL, i};
        if (pl_gpu_stopped(r->gpu)) {
            r->memo->stopped = true;
            return false;
        }
        const pl_loc loc = pl_lf_locate(r, &step_at, false);
        pl_case_step s = {
            .first = r->c->nargs, .line = loc.line, .column = loc.column, .length = loc.length};
        if (!json_is_object(x)) return pl_lf_wrong_type(r, &step_at, "an object: a launch");
        ok &= pl_lf_check_keys(r, &step_at, x, PL_LF_LAUNCH);
        if ((y = pl_lf_member(x, &step_at, "entry", &at)) && !(s.entry = pl_lf_string(r, &at, y)))
            ok = false;
        ok &= read_shape(r, &step_at, x, "grid", s.grid) &&
              read_shape(r, &step_at, x, "block", s.block) &&
              read_shape(r, &step_at, x, "cluster", s.cluster);
        ok &= read_sizes(r, &step_at, x, &s.dynamic_shared, &s.stack);
        if ((y = pl_lf_member(x, &step_at, "dependent", &at)))
            ok &= pl_lf_boolean(r, &at, y, &s.dependent);
        if ((y = pl_lf_member(x, &step_at, "cooperative", &at)))
            ok &= pl_lf_boolean(r, &at, y, &s.cooperative);
        ok &= read_arguments(r, &step_at, x);
        s.count = r->c->nargs - s.first;
        *pl_push(r->c->more->arena, &r->c->more->step) = s;
    }
    return ok;
}

static bool read_root(const pl_lf_reader *r, json_t *root)
{
    pl_case *c = r->c;
    pl_lf_place at;
    json_t *v;
    if (!json_is_object(root)) {
        pl_report(&r->gpu->diags, PL_E0404, pl_lf_locate(r, NULL, false), "a launch file",
                  "an object: { \"ptx\": ..., \"args\": [ ... ] }");
        return false;
    }
    bool ok = pl_lf_check_keys(r, NULL, root, PL_LF_FILE);
    c->name = name_from_path(c);
    if ((v = pl_lf_member(root, NULL, "name", &at)) && !(c->name = pl_lf_string(r, &at, v)))
        ok = false;
    if ((v = pl_lf_member(root, NULL, "entry", &at)) && !(c->entry = pl_lf_string(r, &at, v)))
        ok = false;
    if (!(v = pl_lf_member(root, NULL, "ptx", &at))) {
        ok = pl_lf_missing(r, NULL, "the launch file", "ptx");
    } else {
        ok &= read_modules(r, &at, v);
    }
    ok &= read_shape(r, NULL, root, "grid", c->grid);
    ok &= read_shape(r, NULL, root, "block", c->block);
    ok &= read_shape(r, NULL, root, "cluster", c->cluster);
    ok &= read_sizes(r, NULL, root, &c->dynamic_shared, &c->stack);
    if ((v = pl_lf_member(root, NULL, "deterministic", &at)))
        ok &= pl_lf_boolean(r, &at, v, &c->deterministic);
    if ((v = pl_lf_member(root, NULL, "cooperative", &at)))
        ok &= pl_lf_boolean(r, &at, v, &c->more->cooperative);
    ok &= read_arguments(r, NULL, root) && read_steps(r, root);
    return ok && read_bindings(r, root, "variables", false) && read_bindings(r, root, "bind", true);
}

static pl_status reading_interrupted(const pl_lf_reader *r)
{
    PL_GUARD(return PL_NOMEM)
    return pl_gpu_interrupted(r->gpu, (pl_loc){.file = UINT32_MAX},
                              pl_arena_printf(r->gpu->messages, "reading '%s'", r->c->more->path));
}

static pl_status parse(const pl_lf_reader *r)
{
    json_error_t error;
    pl_case_more *more = r->c->more;
    pl_status st;
    json_t *root = parse_json(r->gpu, more->text, more->bytes, &error, &st);
    if (st == PL_NOMEM) return st;
    if (st == PL_INTERRUPTED) return reading_interrupted(r);
    if (!root) {
        pl_loc at = {.file = pl_gpu_source(r->gpu, more->path, more->text, more->bytes, &more->file,
                                           &more->epoch),
                     .line = error.line > 0 ? (uint32_t)error.line : 1,
                     .column = error.column > 0 ? (uint32_t)error.column : 1};
        pl_report(&r->gpu->diags, PL_E0401, at, error.text);
        return PL_INVALID;
    }
    st = read_json(r, root, read_root);
    json_decref(root);
    return st == PL_INVALID && r->memo->stopped ? reading_interrupted(r) : st;
}

static pl_status read_case(pl_case *c, const char *path, const char *text, size_t bytes)
{
    PL_GUARD(return PL_NOMEM)
    pl_case_more *more = c->more;
    more->path = pl_arena_strdup(more->arena, path);
    more->text = pl_arena_strndup(more->arena, text, bytes);
    more->bytes = bytes;
    pl_lf_memo memo = {.counted = NULL};
    const pl_lf_reader r = {
        .c = c, .gpu = more->gpu, .text = more->text, .end = more->text + bytes, .memo = &memo};
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
