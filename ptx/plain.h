/* plain.h - reads plain statements without the grammar; see plain.c. */
#ifndef PL_PTX_PLAIN_H
#define PL_PTX_PLAIN_H

#include "ptx/internal.h"

/* Reads statements of the function from `text` on, which ends with a NUL; returns how many bytes it
 * has read. */
size_t pl_plain_statements(pl_parse *p, const char *text);

#endif
