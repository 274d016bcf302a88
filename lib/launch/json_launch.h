/* json_launch.h - declarations shared by the readers of launch files: positions in the file, and
 * values with messages that point to them.
 *
 * Every function that returns bool has reported the error when it returns false. */
#ifndef PL_LIB_LAUNCH_JSON_LAUNCH_H
#define PL_LIB_LAUNCH_JSON_LAUNCH_H

#include "lib/internal.h"
#include <jansson.h>

/* A step from the root to a value: a key of an object, or (key NULL) an index of a list. */
typedef struct pl_lf_place {
    const struct pl_lf_place *parent;
    const char *key;
    size_t index;
} pl_lf_place;

/* Cache of the latest positions. The next ones mostly follow them, so that all lookups of a file
 * take a single walk over the text. */
typedef struct pl_lf_memo {
    struct {
        const char *from, *at; /* a list or an object; an element or a key of it */
        size_t index;
    } level[4];          /* by depth, modulo 4 */
    const char *counted; /* lines are counted up to this point */
    uint32_t line, column;
    bool stopped; /* reading was stopped */
} pl_lf_memo;

typedef struct pl_lf_reader {
    pl_case *c;
    pl_gpu *gpu;
    const char *text, *end;
    bool is_argument; /* the text is one argument of the command line */
    pl_lf_memo *memo;
} pl_lf_reader;

/* Returns the position of a value, or of its key, in the text. */
pl_loc pl_lf_locate(const pl_lf_reader *r, const pl_lf_place *at, bool key);
/* Returns the member of an object and its position; NULL if absent. */
json_t *pl_lf_member(json_t *object, const pl_lf_place *of, const char *key, pl_lf_place *at);

bool pl_lf_wrong_type(const pl_lf_reader *r, const pl_lf_place *at, const char *expected);
bool pl_lf_out_of_range(const pl_lf_reader *r, const pl_lf_place *at, const char *range);
bool pl_lf_missing(const pl_lf_reader *r, const pl_lf_place *at, const char *what, const char *key);
/* The objects of a launch file: launch_keys.def. */
typedef enum pl_lf_object {
#define OBJECT(id, what) PL_LF_##id,
#define KEY(object, key, needed, type, choices, about)
#include "lib/launch/launch_keys.def"
#undef OBJECT
#undef KEY
    PL_LF_OBJECTS
} pl_lf_object;
/* Rejects keys that this kind of object does not have. */
bool pl_lf_check_keys(const pl_lf_reader *r, const pl_lf_place *at, json_t *object,
                      pl_lf_object kind);
/* Reports an argument whose kind cannot be identified by a key: a misspelt key, or none. */
bool pl_lf_report_argument(const pl_lf_reader *r, const pl_lf_place *at, json_t *v);
/* Returns the permitted values of a key, separated by |. */
const char *pl_lf_choices(pl_lf_object kind, const char *key);

/* Reads a value as bits of an element type. */
bool pl_lf_bits(const pl_lf_reader *r, const pl_lf_place *at, json_t *v, const pl_element *e,
                uint64_t *out);
const char *pl_lf_string(const pl_lf_reader *r, const pl_lf_place *at, json_t *v);
bool pl_lf_boolean(const pl_lf_reader *r, const pl_lf_place *at, json_t *v, bool *out);
bool pl_lf_number(const pl_lf_reader *r, const pl_lf_place *at, json_t *v, pl_number *out);
bool pl_lf_integer(const pl_lf_reader *r, const pl_lf_place *at, json_t *v, uint64_t min,
                   uint64_t max, uint64_t *out);
const pl_element *pl_lf_element(const pl_lf_reader *r, const pl_lf_place *at, json_t *v);
bool pl_lf_initialiser(const pl_lf_reader *r, const pl_lf_place *at, json_t *v, const pl_element *e,
                       pl_init *out);

/* Reads "output" and "save" of argument k. */
bool pl_lf_save(const pl_lf_reader *r, const pl_lf_place *at, json_t *v, size_t k);

/* Adds the argument described by a separate text in launch-file notation. */
pl_status pl_lf_read_argument(pl_case *c, const char *text);

/* ---- json_resource.c ---- */

/* Reads argument k if it is a tensor map, a texture or a surface; *known: true if it is. */
bool pl_lf_resource(const pl_lf_reader *r, const pl_lf_place *at, json_t *v, size_t k, bool *known);

#endif
