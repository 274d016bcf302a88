/* fast_path.h - parses plain statements without the grammar; see fast_path.c. */
#ifndef PL_PTX_PARSE_FAST_PATH_H
#define PL_PTX_PARSE_FAST_PATH_H

#include "ptx/internal.h"

/* Parses statements of the function from `text` on, which ends with a NUL. Returns the number of
 * bytes consumed. */
size_t pl_plain_statements(pl_parse *p, const char *text);

#endif
