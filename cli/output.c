/* output.c - messages, colours, and the last look at standard output. */
#include "cli/cli.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cli_status(pl_status st)
{
    switch (st) {
    case PL_OK: return CLI_OK;
    case PL_FAULT: return CLI_FAILED;
    case PL_INVALID:
    case PL_UNSUPPORTED: return CLI_INPUT;
    case PL_NOMEM:
    case PL_IO:
    case PL_INTERRUPTED: break;
    }
    return CLI_SYSTEM;
}

int cli_worse(int a, int b)
{
    return a > b ? a : b;
}

bool cli_colour(FILE *f)
{
    const char *term = getenv("TERM"), *no_colour = getenv("NO_COLOR");
    return isatty(fileno(f)) && !(no_colour && *no_colour) && !(term && strcmp(term, "dumb") == 0);
}

void cli_messages(pl_gpu *gpu, size_t first)
{
    bool colour = cli_colour(stderr);
    for (size_t i = first; i < pl_gpu_diag_count(gpu); i++)
        fputs(pl_gpu_diag(gpu, i, colour).rendered, stderr);
    size_t more = pl_gpu_diag_dropped(gpu);
    if (more) fprintf(stderr, "%zu more error%s; `ptxloom check --max-errors 0` shows all\n", more, more == 1 ? "" : "s");
}

int cli_finish(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return status;
    fprintf(stderr, "error: cannot write to standard output: %s\n", strerror(errno));
    return CLI_SYSTEM;
}

pl_status cli_cannot_write(pl_gpu *gpu, const char *path)
{
    int why = errno;
    pl_gpu_report(gpu, "E0002", path, strerror(why), NULL, NULL);
    return why == ENOENT || why == ENOTDIR || why == EACCES || why == EISDIR ? PL_INVALID : PL_IO;
}

pl_status cli_write_file(pl_gpu *gpu, const char *path, const char *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    if (!f) return cli_cannot_write(gpu, path);
    bool good = fwrite(bytes, 1, n, f) == n;
    int why = errno;
    if (fclose(f) != 0) {
        why = good ? errno : why;
        good = false;
    }
    errno = why;
    if (good) return PL_OK;
    pl_status st = cli_cannot_write(gpu, path);
    remove(path); /* half an object is worse than none */
    return st;
}
