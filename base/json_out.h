/* json_out.h - writes JSON to a file incrementally, for texts too large to build in memory first.
 *
 *     pl_json j = {.file = f};
 *     pl_json_open(&j, '{');
 *     pl_json_key(&j, "name"), pl_json_text(&j, "saxpy");
 *     pl_json_close(&j);
 *
 * Commas are inserted automatically. File errors are detected with ferror. */
#ifndef PL_BASE_JSON_OUT_H
#define PL_BASE_JSON_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { PL_JSON_DEPTH = 32 };

typedef struct pl_json {
    FILE *file;
    bool html; /* '<' is written as \u003c, so that the text may be embedded in <script> */
    int depth;
    char end[PL_JSON_DEPTH];         /* the closing bracket of each open level */
    bool has_element[PL_JSON_DEPTH]; /* the level has an element already */
    bool after_key;
} pl_json;

void pl_json_open(pl_json *j, char bracket); /* '{' or '[' */
void pl_json_close(pl_json *j);
void pl_json_key(pl_json *j, const char *key);
/* NULL: null; bytes that are not valid UTF-8 become '?'. */
void pl_json_text(pl_json *j, const char *text);
void pl_json_int(pl_json *j, int64_t v);
/* The shortest decimal that reads back as v; null if not finite. */
void pl_json_real(pl_json *j, double v);
void pl_json_null(pl_json *j);
void pl_json_bool(pl_json *j, bool v);
/* Base64 (RFC 4648): without quotes; and as a value. */
void pl_write_base64(FILE *f, const void *bytes, size_t n);
void pl_json_base64(pl_json *j, const void *bytes, size_t n);

#endif
