/* printable.h - characters of a text from a file that may be sent to a terminal.
 *
 * Names, source lines and strings come from untrusted files. Control characters in them move the
 * cursor, change colours or retitle the window; bidirectional control characters show a line in a
 * different order. Code that prints such text calls pl_printable() for each character. */
#ifndef PL_BASE_PRINTABLE_H
#define PL_BASE_PRINTABLE_H

#include <stddef.h>

/* Length in bytes of the UTF-8 character at s, which has n bytes; 0 if it is invalid. */
size_t pl_utf8_length(const char *s, size_t n);
/* Examines the character at s, where n > 0 bytes remain; returns its length in bytes. *as is 0 if
 * it may be printed unchanged, else the replacement character: ' ' for white space, '?' for other
 * control characters and for invalid UTF-8. */
size_t pl_printable(const char *s, size_t n, char *as);

#endif
