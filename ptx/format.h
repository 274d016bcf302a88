/* format.h - PTX text in its standard layout (`ptxloom fmt`). */
#ifndef PL_PTX_FORMAT_H
#define PL_PTX_FORMAT_H

#include "base/arena.h"
#include "base/status.h"

/* Formats the text, comments included. The tokens do not change, so it assembles to the same
 * program, and formatting is idempotent. *out is NUL-terminated, in the arena. Text that is not
 * valid PTX is formatted as far as possible; check it first. PL_NOMEM is the only failure. */
pl_status pl_ptx_format(pl_arena *arena, const char *text, size_t size, char **out, size_t *n);

#endif
