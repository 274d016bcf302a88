/* file.h - opens files named by an input. */
#ifndef PL_BASE_FILE_H
#define PL_BASE_FILE_H

#include <stdio.h>

/* Opens a regular file for reading. NULL with errno: EISDIR for a folder, EINVAL for anything else
 * that is not a regular file. It never blocks: a pipe without a writer is refused at once. */
FILE *pl_file_open(const char *path);
/* strerror for the errno of pl_file_open. */
const char *pl_file_error(int why);

#endif
