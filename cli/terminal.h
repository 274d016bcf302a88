/* terminal.h - text wrapped to the width of the terminal. */
#ifndef PL_CLI_TERMINAL_H
#define PL_CLI_TERMINAL_H

#include <stdio.h>

/* Returns the terminal columns of f; 0: f is not a terminal, and lines have their full length. */
int cli_width(FILE *f);
/* Prints text. Lines longer than width (0: no limit) are wrapped at blanks and indented by `hang`
 * blanks; below 0: by the indentation of the line. */
void cli_put_wrapped(FILE *f, const char *text, int width, int hang);

/* On a terminal, standard error shows `what` and its seconds, from the first to cli_busy_end.
 * Nothing else may be printed in between. */
void cli_busy(const char *what);
void cli_busy_end(void);

#endif
