/* file.c - see file.h. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

FILE *pl_file_open(const char *path)
{
    struct stat st;
    /* O_NONBLOCK has no effect on ordinary files. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), why = EINVAL;
    if (fd < 0) return NULL;
    if (fstat(fd, &st) != 0)
        why = errno;
    else if (S_ISDIR(st.st_mode))
        why = EISDIR;
    FILE *f = why == EINVAL && S_ISREG(st.st_mode) ? fdopen(fd, "rb") : NULL;
    if (!f) {
        close(fd);
        errno = why;
    }
    return f;
}

const char *pl_file_error(int why)
{
    return why == EINVAL   ? "it is not an ordinary file"
           : why == EISDIR ? "it is a folder"
                           : strerror(why);
}
