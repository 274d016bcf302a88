/* file.c - reading whole files. */
#include "lib/internal.h"
#include "base/file.h"
#include "base/nearest.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_BLOCK = 65536, ZEROS = 2 /* after the text, for pl_ptx_parse */ };

/* Reads to the end of f; false when memory is exhausted. Also works for pipes, whose size is
 * unknown. */
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

/* True for devices other than terminals: some never end. */
static bool is_device(FILE *f)
{
    struct stat st;
    return fstat(fileno(f), &st) == 0 &&
           (S_ISBLK(st.st_mode) || (S_ISCHR(st.st_mode) && !isatty(fileno(f))));
}

/* A wrong name is a user error, anything else a system error. */
static pl_status report_unreadable(pl_gpu *gpu, const char *path, int why)
{
    if (why == ENOMEM) return pl_gpu_no_memory(gpu, "while reading a file");
    PL_GUARD(return pl_gpu_no_memory(gpu, "while reading a file"))
    pl_diag *d = why == EISDIR
                     ? pl_report(&gpu->diags, PL_E0009, (pl_loc){.file = UINT32_MAX}, path)
                     : pl_report(&gpu->diags, PL_E0001, (pl_loc){.file = UINT32_MAX}, path,
                                 pl_file_error(why));
    const char *near = why == ENOENT ? pl_nearest_file(gpu->messages, path) : NULL;
    if (strcmp(path, "-") == 0)
        d->help = "standard input is named /dev/stdin";
    else if (near)
        d->help = pl_arena_printf(gpu->messages, "did you mean '%s'?", near);
    else if (why == EISDIR)
        d->help = "name a file inside the folder";
    return why == ENOENT || why == ENOTDIR || why == EACCES || why == EISDIR || why == EINVAL
               ? PL_INVALID
               : PL_IO;
}

static pl_status report_interrupted(pl_gpu *gpu, const char *path)
{
    PL_GUARD(return pl_gpu_no_memory(gpu, "while reading a file"))
    return pl_gpu_interrupted(gpu, (pl_loc){.file = UINT32_MAX},
                              pl_arena_printf(gpu->messages, "reading '%s'", path));
}

pl_status pl_file_read(pl_gpu *gpu, const char *path, char **text, size_t *bytes)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return errno == EINTR && pl_gpu_stopped(gpu) ? report_interrupted(gpu, path)
                                                     : report_unreadable(gpu, path, errno);
    if (is_device(f)) {
        fclose(f);
        return report_unreadable(gpu, path, EINVAL);
    }
    errno = 0;
    bool ok = read_all(gpu, f, text, bytes);
    int why = ferror(f) ? errno : 0;
    fclose(f);
    if (!ok) return pl_gpu_no_memory(gpu, "while reading a file");
    if (pl_gpu_stopped(gpu)) {
        free(*text);
        *text = NULL;
        return report_interrupted(gpu, path);
    }
    if (why == 0) return PL_OK;
    free(*text);
    *text = NULL;
    return report_unreadable(gpu, path, why);
}
