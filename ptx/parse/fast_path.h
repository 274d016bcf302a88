/* fast_path.h - reads plain statements without the grammar; see fast_path.c. */
#ifndef PL_PTX_PARSE_FAST_PATH_H
#define PL_PTX_PARSE_FAST_PATH_H

#include "ptx/internal.h"

/* Reads statements of the function from `text` on, which ends with a NUL; returns how many bytes it
 * has read. */
size_t pl_plain_statements(pl_parse *p, const char *text);

#endif
