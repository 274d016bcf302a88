/* file.h - opening files that an input names. */
#ifndef PL_BASE_FILE_H
#define PL_BASE_FILE_H

#include <stdio.h>

/* Opens an ordinary file for reading. NULL with errno: a folder gives EISDIR, anything else that is
 * no ordinary file EINVAL. It never waits: a pipe without a writer is refused at once. */
FILE *pl_file_open(const char *path);
/* strerror for what pl_file_open leaves in errno. */
const char *pl_file_error(int why);

#endif
