/* schema.c - doc/launch.schema.json matches the reader's table of keys, and every launch file of
 * the source tree conforms to it.
 *
 * Contains a small validator of JSON Schema with the keywords that the schema uses. An unknown
 * keyword fails. */
#define _XOPEN_SOURCE 700 /* nftw */
#include "tests/harness.h"
#include <ftw.h>
#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *schema;
static char where[256]; /* the first position that does not conform */

static bool follows(const json_t *s, const json_t *v, const char *at);

static bool wrong(const char *at, const char *what)
{
    if (!*where) snprintf(where, sizeof where, "%s: %s", at, what);
    return false;
}

static bool is_type(const json_t *v, const char *type)
{
    if (strcmp(type, "string") == 0) return json_is_string(v);
    if (strcmp(type, "boolean") == 0) return json_is_boolean(v);
    if (strcmp(type, "object") == 0) return json_is_object(v);
    if (strcmp(type, "array") == 0) return json_is_array(v);
    if (strcmp(type, "number") == 0) return json_is_number(v);
    if (strcmp(type, "integer") == 0)
        return json_is_integer(v) ||
               (json_is_real(v) && floor(json_real_value(v)) == json_real_value(v));
    printf("Bail out! the schema has the type %s\n", type);
    exit(EXIT_FAILURE);
}

static bool one_type(const json_t *types, const json_t *v)
{
    size_t i;
    json_t *type;
    if (json_is_string(types)) return is_type(v, json_string_value(types));
    json_array_foreach(types, i, type) if (is_type(v, json_string_value(type))) return true;
    return false;
}

static bool object_follows(const json_t *s, const json_t *v, const char *at)
{
    const json_t *known = json_object_get(s, "properties"),
                 *other = json_object_get(s, "additionalProperties"),
                 *required = json_object_get(s, "required");
    const char *key;
    json_t *member;
    size_t i;
    if (!json_is_object(v)) return true;
    json_array_foreach(
        required, i,
        member) if (!json_object_get(v,
                                     json_string_value(member))) return wrong(at,
                                                                              "a key is missing");
    json_object_foreach((json_t *)(uintptr_t)v, key, member)
    {
        const json_t *says = json_object_get(known, key);
        if (!says) says = other;
        if (json_is_false(says)) return wrong(key, "it is unknown");
        if (says && !follows(says, member, key)) return false;
    }
    return true;
}

static bool array_follows(const json_t *s, const json_t *v, const char *at)
{
    const json_t *items = json_object_get(s, "items"), *least = json_object_get(s, "minItems"),
                 *most = json_object_get(s, "maxItems");
    json_t *element;
    size_t i;
    if (!json_is_array(v)) return true;
    if (least && (json_int_t)json_array_size(v) < json_integer_value(least))
        return wrong(at, "it is too short");
    if (most && (json_int_t)json_array_size(v) > json_integer_value(most))
        return wrong(at, "it is too long");
    json_array_foreach(v, i, element) if (items && !follows(items, element, at)) return false;
    return true;
}

static bool among(const json_t *list, const json_t *v)
{
    size_t i;
    json_t *one;
    json_array_foreach(list, i, one) if (json_equal(one, v)) return true;
    return false;
}

static bool any_follows(const json_t *list, const json_t *v, const char *at)
{
    size_t i;
    json_t *one;
    json_array_foreach(list, i, one)
    {
        char before[sizeof where];
        strcpy(before, where);
        if (follows(one, v, at)) return true;
        strcpy(where, before);
    }
    return wrong(at, "it is none of the possible things");
}

static void only_known_keywords(const json_t *s)
{
    static const char *const known[] = {"type",        "properties", "additionalProperties",
                                        "required",    "items",      "minItems",
                                        "maxItems",    "enum",       "const",
                                        "anyOf",       "minimum",    "$ref",
                                        "$schema",     "$comment",   "$defs",
                                        "description", "title"};
    const char *key;
    json_t *member;
    json_object_foreach((json_t *)(uintptr_t)s, key, member)
    {
        bool is = false;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++) is |= strcmp(key, known[k]) == 0;
        if (is) continue;
        printf("Bail out! the schema has the keyword %s\n", key);
        exit(EXIT_FAILURE);
    }
}

static bool follows(const json_t *s, const json_t *v, const char *at)
{
    only_known_keywords(s);
    const json_t *ref = json_object_get(s, "$ref"), *type = json_object_get(s, "type"),
                 *words = json_object_get(s, "enum"), *any = json_object_get(s, "anyOf"),
                 *only = json_object_get(s, "const"), *least = json_object_get(s, "minimum");
    if (ref) {
        const json_t *target = json_object_get(json_object_get(schema, "$defs"),
                                               json_string_value(ref) + strlen("#/$defs/"));
        if (!target || !follows(target, v, at)) return wrong(at, json_string_value(ref));
    }
    if (type && !one_type(type, v)) return wrong(at, "it has another type");
    if (words && !among(words, v)) return wrong(at, "it is another word");
    if (only && !json_equal(only, v)) return wrong(at, "it is another value");
    if (least && json_is_number(v) && json_number_value(v) < json_number_value(least))
        return wrong(at, "it is too small");
    if (any && !any_follows(any, v, at)) return false;
    return object_follows(s, v, at) && array_follows(s, v, at);
}

/* ---- launch files of the tree ---- */

static int files, bad;

static int visit(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    const size_t n = strlen(path);
    (void)st, (void)ftw;
    if (kind != FTW_F || n < 5 || strcmp(path + n - 5, ".json") != 0) return 0;
    json_t *v = json_load_file(path, 0, NULL);
    if (json_object_get(v, "ptx")) {
        files++;
        *where = '\0';
        if (!follows(schema, v, "the file") && bad++ < 5) tap_note("%s: %s", path, where);
    }
    json_decref(v);
    return 0;
}

static void try_folder(const char *root, const char *folder, int least)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", root, folder);
    files = bad = 0;
    nftw(path, visit, 16, FTW_PHYS);
    tap(bad == 0 && files >= least, "%s: %d launch files conform to the schema", folder, files);
}

/* ---- nonconforming files ---- */

static void try_text(const char *text, bool good)
{
    json_t *v = json_loads(text, 0, NULL);
    *where = '\0';
    const bool found = v && follows(schema, v, "the file");
    tap(found == good, "%s: %s", good ? "good" : "bad", text);
    if (good && !found) tap_note("%s", where);
    json_decref(v);
}

static void try_generator(const char *root)
{
    char command[12000];
    snprintf(command, sizeof command,
             "awk -f '%s/doc/launch_schema.awk' '%s/lib/data/element_type.c' "
             "'%s/lib/launch/launch_keys.def' | cmp - '%s/doc/launch.schema.json'",
             root, root, root, root);
    tap(system(command) == 0,
        "doc/launch.schema.json is generated from the reader's keys (make schema)");
}

int main(void)
{
    const char *root = getenv("abs_srcdir");
    char path[4096];
    if (!root) root = ".";
    snprintf(path, sizeof path, "%s/doc/launch.schema.json", root);
    schema = json_load_file(path, 0, NULL);
    tap(schema != NULL, "the schema is valid JSON");
    try_generator(root);
    try_folder(root, "examples", 5);
    try_folder(root, "labs", 0);
    try_folder(root, "tests", 50);
    static const char *const good[] = {
        "{\"ptx\": \"k.ptx\"}",
        "{\"ptx\": [\"a.ptx\", \"b.ptx\"], \"grid\": 2, \"block\": [32, 2]}",
        "{\"ptx\": \"k.ptx\", \"variables\": {\"total\": {\"buffer\": \"u32\", \"expect\": [1], "
        "\"atol\": 0.5}}}",
        "{\"ptx\": \"k.ptx\", \"args\": [{\"same\": 1}, {\"scalar\": \"u64\", \"value\": "
        "\"0xffffffffffffffff\"}]}",
        "{\"ptx\": \"k.ptx\", \"args\": [{\"texture\": \"f32\", \"width\": 4, \"address\": "
        "[\"wrap\", \"clamp\"], \"init\": \"iota\"}]}"};
    static const char *const not_good[] = {
        "{}",
        "{\"ptx\": 7}",
        "{\"ptx\": \"k.ptx\", \"gird\": [1]}",
        "{\"ptx\": \"k.ptx\", \"grid\": [1, 1, 1, 1]}",
        "{\"ptx\": \"k.ptx\", \"grid\": 0}",
        "{\"ptx\": \"k.ptx\", \"args\": [{\"buffer\": \"f33\", \"count\": 4}]}",
        "{\"ptx\": \"k.ptx\", \"args\": [{\"scalar\": \"u32\"}]}",
        "{\"ptx\": \"k.ptx\", \"args\": [{\"buffer\": \"u32\", \"count\": 4, \"init\": \"itoa\"}]}",
        "{\"ptx\": \"k.ptx\", \"args\": [{\"tensormap\": \"f16\", \"dims\": [8], \"swizzle\": "
        "\"48B\"}]}",
        "{\"ptx\": \"k.ptx\", \"then\": [{\"ptx\": \"k.ptx\"}]}"};
    for (size_t k = 0; k < sizeof good / sizeof *good; k++) try_text(good[k], true);
    for (size_t k = 0; k < sizeof not_good / sizeof *not_good; k++) try_text(not_good[k], false);
    json_decref(schema);
    return tap_done();
}
