/* printable.h - which characters of a text from a file may go to a terminal.
 *
 * Names, source lines and strings come from files that somebody else may have written. Control
 * characters in them move the cursor, change colours or retitle the window; marks for the direction
 * of text show a line in another order than it has. Whatever prints such text asks pl_printable()
 * for each character. */
#ifndef PL_BASE_PRINTABLE_H
#define PL_BASE_PRINTABLE_H

#include <stddef.h>

/* Bytes of the UTF-8 character at s, which has n bytes; 0 when it is none. */
size_t pl_utf8_length(const char *s, size_t n);
/* The character at s, where n > 0 bytes are left: returns its length in bytes. *as is 0 when it may
 * be printed as it is, else the character to print in its place. That is ' ' for white space, '?'
 * for other control characters and for bytes that are no UTF-8. */
size_t pl_printable(const char *s, size_t n, char *as);

#endif
