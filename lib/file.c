/* file.c - reading whole files. */
#include "lib/internal.h"
#include "base/file.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_BLOCK = 65536, ZEROS = 2 /* behind the text, for who reads on (pl_ptx_parse) */ };

/* Reads to the end of f; false when memory is exhausted. Works for pipes too, whose size nobody
 * knows. */
static bool read_all(const pl_gpu *gpu, FILE *f, char **text, size_t *bytes)
{
    size_t cap = FIRST_BLOCK, n = 0;
    char *buf = malloc(cap + ZEROS);
    while (buf) {
        n += fread(buf + n, 1, cap - n, f);
        if (n < cap || pl_gpu_stopped(gpu)) break;
        char *larger = realloc(buf, cap * 2 + ZEROS);
        if (!larger) free(buf);
        buf = larger;
        cap *= 2;
    }
    if (!buf) return false;
    memset(buf + n, 0, ZEROS);
    *text = buf;
    *bytes = n;
    return true;
}

/* A device other than a terminal: some have no end. */
static bool is_device(FILE *f)
{
    struct stat st;
    return fstat(fileno(f), &st) == 0 && (S_ISBLK(st.st_mode) || (S_ISCHR(st.st_mode) && !isatty(fileno(f))));
}

static const char *opening(pl_gpu *gpu, const char *path)
{
    return pl_arena_printf(gpu->messages, "reading '%s'", path);
}

pl_status pl_file_read(pl_gpu *gpu, const char *path, char **text, size_t *bytes)
{
    const pl_loc nowhere = {.file = UINT32_MAX};
    FILE *f = fopen(path, "rb");
    if (!f) {
        int why = errno;
        if (why == EINTR && pl_gpu_stopped(gpu)) return pl_gpu_interrupted(gpu, nowhere, opening(gpu, path));
        pl_report(&gpu->diags, PL_E0001, nowhere, path, strerror(why));
        /* A wrong name is the user's mistake, anything else the system's. */
        return why == ENOENT || why == ENOTDIR || why == EACCES ? PL_INVALID : PL_IO;
    }
    if (is_device(f)) {
        fclose(f);
        pl_report(&gpu->diags, PL_E0001, nowhere, path, pl_file_error(EINVAL));
        return PL_INVALID;
    }
    errno = 0;
    bool ok = read_all(gpu, f, text, bytes);
    int why = ferror(f) ? errno : 0;
    fclose(f);
    if (!ok) return pl_gpu_no_memory(gpu, "while reading a file");
    if (pl_gpu_stopped(gpu)) {
        free(*text);
        *text = NULL;
        return pl_gpu_interrupted(gpu, nowhere, opening(gpu, path));
    }
    if (why == 0) return PL_OK;
    free(*text);
    *text = NULL;
    if (why == EISDIR) {
        pl_report(&gpu->diags, PL_E0009, nowhere, path);
        return PL_INVALID;
    }
    pl_report(&gpu->diags, PL_E0001, nowhere, path, strerror(why));
    return PL_IO;
}
