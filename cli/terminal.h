/* terminal.h - text that fits the terminal it is printed on. */
#ifndef PL_CLI_TERMINAL_H
#define PL_CLI_TERMINAL_H

#include <stdio.h>

/* Columns of the terminal that f is; 0: it is none, and lines have their full length. */
int cli_width(FILE *f);
/* Prints text. Lines that are longer than width (0: none is) are broken at blanks and go on behind
 * `hang` blanks; below 0: behind as many as they begin with. */
void cli_put_wrapped(FILE *f, const char *text, int width, int hang);

#endif
