/* output.c - messages, colours, and the final check of standard output. */
#include "cli/cli.h"
#include "cli/terminal.h"
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
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
    case PL_INTERRUPTED:
    case PL_WAITING: break;
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
        char replacement;
        length = pl_printable(text + i, n - i, &replacement);
        if (replacement && !(text[i] && strchr(keep, text[i])))
            putc(replacement, f);
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
        char replacement;
        length = pl_printable(text + i, n - i, &replacement);
        size_t bytes = replacement ? 1 : length;
        if (used + bytes >= size) break;
        memcpy(to + used, replacement ? &replacement : text + i, bytes);
        used += bytes;
    }
    to[used] = '\0';
    return to;
}

/* printed_message: a message was printed; no_memory: one of them reported exhausted memory, so
 * later results may be incomplete. */
static bool printed_message, no_memory;

int cli_no_memory(void)
{
    if (!no_memory) fputs("error: out of memory [E0422]\n", stderr);
    printed_message = no_memory = true;
    return CLI_SYSTEM;
}

/* Prints a message. Its texts are wrapped to the terminal; lines of a source and the marks below
 * them are not. */
static void print_message(const char *text, int width)
{
    static const char help[] = "  help:";
    for (bool first = true; *text; first = false) {
        const size_t n = strcspn(text, "\n") + 1;
        if (width && (first || strncmp(text, help, sizeof help - 1) == 0)) {
            char *line = strndup(text, n);
            if (line) cli_put_wrapped(stderr, line, width, 4);
            if (!line) fwrite(text, 1, n, stderr);
            free(line);
        } else {
            fwrite(text, 1, n, stderr);
        }
        text += n;
    }
}

void cli_messages(pl_gpu *gpu, size_t first)
{
    bool colour = cli_colour(stderr);
    for (size_t i = first; i < pl_gpu_diag_count(gpu); i++) {
        const pl_message m = pl_gpu_diag(gpu, i, colour);
        print_message(m.rendered, cli_width(stderr));
        printed_message = true;
        no_memory |= strcmp(m.code, "E0422") == 0;
    }
    const size_t dropped = pl_gpu_diag_dropped(gpu);
    if (dropped && first < pl_gpu_diag_count(gpu))
        fprintf(stderr, "%zu more error%s; `ptxloom check --max-errors 0` shows all\n", dropped,
                pl_plural(dropped));
}

/* The first error of writing to standard output; 0: none. */
static int output_error;

void cli_flush(void)
{
    errno = 0;
    if ((fflush(stdout) == 0 && !ferror(stdout)) || output_error) return;
    if (!errno) { /* it was lost earlier: retry to get the error */
        clearerr(stdout);
        putchar('\n');
        fflush(stdout);
    }
    output_error = errno ? errno : EIO;
}

bool cli_reader_left(void)
{
    struct pollfd p = {.fd = STDOUT_FILENO};
    if (poll(&p, 1, 0) > 0 && p.revents & POLLERR) output_error = EPIPE;
    return output_error == EPIPE;
}

int cli_finish(int status)
{
    cli_flush();
    if (output_error == EPIPE) return CLI_SYSTEM; /* a reader that has enough, such as head */
    if (output_error) {
        fprintf(stderr, "error: cannot write to standard output: %s\n", strerror(output_error));
        return CLI_SYSTEM;
    }
    /* Every other system failure has a message. */
    if (status == CLI_SYSTEM && !printed_message) cli_no_memory();
    return no_memory ? CLI_SYSTEM : status;
}

void cli_standard_files(void)
{
    int fd;
    /* A closed pipe becomes a write error, so that a trace is still completed. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* file size limit: the write fails, with a message */
    /* A file that the command writes must not become its standard output. */
    do fd = open("/dev/null", O_RDONLY);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0) close(fd);
}

static bool write_bytes(void *to, const char *bytes, size_t n)
{
    return fwrite(bytes, 1, n, to) == n;
}

pl_status cli_write_file(pl_gpu *gpu, const char *path, const pl_output_how *how, const char *bytes,
                         size_t n)
{
    pl_output *o;
    pl_status st = pl_output_open(gpu, path, how, &o);
    return o ? pl_output_close(o, write_bytes(pl_output_stream(o), bytes, n) ? PL_OK : PL_IO) : st;
}

pl_status cli_write_object(pl_gpu *gpu, const char *path, bool force, pl_module *m)
{
    const pl_output_how how = {.kind = PL_OUTPUT_OBJECT, .force = force};
    pl_output *o;
    pl_status st = pl_output_open(gpu, path, &how, &o);
    return o ? pl_output_close(o, pl_module_send(m, write_bytes, pl_output_stream(o))) : st;
}

static bool is_utf8(const char *s)
{
    for (size_t n = strlen(s), i = 0, length; i < n; i += length) {
        char replacement;
        length = pl_printable(s + i, n - i, &replacement);
        if (replacement == '?' && (unsigned char)s[i] >= 0x80 && length == 1) return false;
    }
    return true;
}

static bool is_scalar(const json_t *v)
{
    return !json_is_object(v) && !json_is_array(v);
}

/* Prints members and elements on separate lines, but lists of numbers and words on one line. */
static bool print_value(const json_t *v, int depth)
{
    const char *key;
    json_t *member;
    size_t i, n = 0;
    bool ok = true, flat = true;
    if (json_is_real(v)) {
        char text[40];
        pl_print_real(json_real_value(v), text, sizeof text);
        fputs(text, stdout);
    } else if (is_scalar(v)) {
        ok = json_dumpf(v, stdout, JSON_ENCODE_ANY) == 0;
    } else if (json_is_array(v)) {
        json_array_foreach(v, i, member) flat &= is_scalar(member);
        putchar('[');
        json_array_foreach(v, i, member)
        {
            if (i) fputs(flat ? ", " : ",", stdout);
            if (!flat) printf("\n%*s", depth + 1, "");
            ok &= print_value(member, depth + 1);
        }
        if (!flat) printf("\n%*s", depth, "");
        putchar(']');
    } else {
        putchar('{');
        json_object_foreach((json_t *)(uintptr_t)v, key, member)
        {
            json_t *name = json_string(key);
            printf("%s\n%*s", n++ ? "," : "", depth + 1, "");
            ok &= name && json_dumpf(name, stdout, JSON_ENCODE_ANY) == 0;
            json_decref(name);
            fputs(": ", stdout);
            ok &= print_value(member, depth + 1);
        }
        if (n) printf("\n%*s", depth, "");
        putchar('}');
    }
    return ok;
}

bool cli_print_json(const json_t *root)
{
    const bool complete = root && print_value(root, 0);
    putchar('\n');
    if (!complete && !ferror(stdout)) cli_no_memory();
    return complete;
}

json_t *cli_json_text(const char *s)
{
    if (!s) return json_null();
    return json_string(is_utf8(s) ? s : "(not UTF-8)");
}
