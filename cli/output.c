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

static void print(FILE *f, const char *text, size_t n, const char *keep)
{
    for (size_t i = 0, length; i < n; i += length) {
        char as;
        length = pl_printable(text + i, n - i, &as);
        if (as && !(text[i] && strchr(keep, text[i])))
            putc(as, f);
        else
            fwrite(text + i, 1, length, f);
    }
}

void cli_print(FILE *f, const char *text, size_t n)
{
    print(f, text, n, "");
}

void cli_print_lines(FILE *f, const char *text, size_t n)
{
    print(f, text, n, "\t\n");
}

const char *cli_printable(char *to, size_t size, const char *text)
{
    size_t n = strlen(text), used = 0;
    for (size_t i = 0, length; i < n; i += length) {
        char as;
        length = pl_printable(text + i, n - i, &as);
        size_t bytes = as ? 1 : length;
        if (used + bytes >= size) break;
        memcpy(to + used, as ? &as : text + i, bytes);
        used += bytes;
    }
    to[used] = '\0';
    return to;
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

static bool put(void *to, const char *bytes, size_t n)
{
    return fwrite(bytes, 1, n, to) == n;
}

/* st: what came of filling it. */
static pl_status end_file(pl_gpu *gpu, const char *path, FILE *f, pl_status st)
{
    int why = errno;
    if (fclose(f) != 0 && st == PL_OK) {
        why = errno;
        st = PL_IO;
    }
    errno = why;
    if (st == PL_IO) cli_cannot_write(gpu, path);
    if (st != PL_OK) remove(path); /* half an object is worse than none */
    return st;
}

pl_status cli_write_file(pl_gpu *gpu, const char *path, const char *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    return f ? end_file(gpu, path, f, put(f, bytes, n) ? PL_OK : PL_IO) : cli_cannot_write(gpu, path);
}

pl_status cli_write_object(pl_gpu *gpu, const char *path, pl_module *m)
{
    FILE *f = fopen(path, "wb");
    return f ? end_file(gpu, path, f, pl_module_send(m, put, f)) : cli_cannot_write(gpu, path);
}
