/* format.h - PTX text in its standard layout (`ptxloom fmt`). */
#ifndef PL_PTX_FORMAT_H
#define PL_PTX_FORMAT_H

#include "base/arena.h"
#include "base/status.h"

/* Lays out the text anew, comments included: the tokens stay the same, so it assembles to the same
 * program, and laying out the result changes nothing. *out is NUL-terminated, in the arena. Text
 * that is no PTX comes back as well as it can; check it first. PL_NOMEM is the only failure. */
pl_status pl_ptx_format(pl_arena *arena, const char *text, size_t size, char **out, size_t *n);

#endif
