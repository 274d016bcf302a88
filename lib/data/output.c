/* output.c - files that commands write for the user (base/outfile.h): the signature of each kind,
 * and messages. */
#include "base/outfile.h"
#include "lib/internal.h"
#include "traces/trace.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- kinds ---- */

static const char object[] = {'\177', 'E', 'L', 'F', 2, 1, 1, 0, 0, 0, 0, 0,
                              0,      0,   0,   0,   1, 0, 0, 0, 1, 0, 0, 0};

/* Signature of each kind: its first bytes, and text within its first PL_OUTFILE_HEAD bytes. */
static const struct {
    const char *what, *begins;
    size_t n;
    const char *contains;
} kinds[] = {
    [PL_OUTPUT_SOURCE] = {"a PTX file", NULL, 0, NULL},
    [PL_OUTPUT_OBJECT] = {"an object of ptxloom", object, sizeof object, NULL},
    [PL_OUTPUT_ASSEMBLY] = {"a machine program as text", ".ptxloom ", 9, NULL},
    [PL_OUTPUT_LISTING] = {"a listing of ptxloom", NULL, 0, NULL},
    [PL_OUTPUT_REPORT] = {"a report of ptxloom", "<!DOCTYPE html>", 15,
                          "<title>ptxloom report</title>"},
    [PL_OUTPUT_TRACE] = {"a trace of ptxloom", NULL, 0, NULL},
    [PL_OUTPUT_PERFETTO] = {"an export of ptxloom", "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[",
                            38, NULL},
    [PL_OUTPUT_TABLE] = {"this table", NULL, 0, NULL},
    [PL_OUTPUT_NPY] = {"a .npy file", "\x93NUMPY", 6, NULL},
    [PL_OUTPUT_RAW] = {"a file of the same size", NULL, 0, NULL},
};

/* True for "NAME:", followed in the next line by instruction 0. */
static bool is_listing(const unsigned char *head, size_t n)
{
    const unsigned char *line = memchr(head, '\n', n);
    if (!line || line == head || line[-1] != ':') return false;
    const size_t remaining = n - (size_t)(++line - head);
    size_t k = 0;
    while (k < remaining && line[k] == ' ') k++;
    while (k < remaining && isdigit(line[k])) k++;
    return k == 6 && remaining > 8 && line[6] == ' ' && line[7] == ' ';
}

static bool begins_with(const unsigned char *head, size_t n, const char *prefix, size_t length)
{
    if (length > n) length = n < PL_OUTFILE_HEAD ? length : n;
    return length <= n && memcmp(head, prefix, length) == 0;
}

static bool contains(const unsigned char *head, size_t n, const char *text)
{
    const size_t length = strlen(text);
    for (size_t i = 0; i + length <= n; i++)
        if (memcmp(head + i, text, length) == 0) return true;
    return false;
}

static bool ours(const void *ctx, const unsigned char *head, size_t n, uint64_t bytes)
{
    const pl_output_how *how = ctx;
    switch (how->kind) {
    case PL_OUTPUT_SOURCE: return true; /* the file that was read */
    case PL_OUTPUT_LISTING: return is_listing(head, n);
    case PL_OUTPUT_TRACE: return pl_tracedb_is_trace(NULL, head, n, bytes);
    case PL_OUTPUT_RAW: return bytes == how->bytes;
    case PL_OUTPUT_TABLE: return begins_with(head, n, how->begins, strlen(how->begins));
    case PL_OUTPUT_OBJECT:
    case PL_OUTPUT_ASSEMBLY:
    case PL_OUTPUT_REPORT:
    case PL_OUTPUT_PERFETTO:
    case PL_OUTPUT_NPY: break;
    }
    return begins_with(head, n, kinds[how->kind].begins, kinds[how->kind].n) &&
           (!kinds[how->kind].contains || contains(head, n, kinds[how->kind].contains));
}

static pl_outfile_rule rule_of(const pl_output_how *how)
{
    return (pl_outfile_rule){.force = how->force, .is_replaceable = ours, .ctx = how};
}

/* ---- files ---- */

struct pl_output {
    pl_gpu *gpu;
    pl_outfile *file;
    pl_output_kind kind;
    char path[]; /* for messages */
};

/* Reports that a file could not be written. why: an errno value, as from pl_outfile_close.
 * PL_INVALID: the path is wrong; PL_NOMEM; else PL_IO. */
static pl_status output_failed(pl_gpu *gpu, const char *path, int why, pl_output_kind kind)
{
    if (why == ENOMEM) return pl_gpu_no_memory(gpu, "while writing a file");
    PL_GUARD(return pl_gpu_no_memory(gpu, "while writing a file"))
    const pl_loc nowhere = {.file = UINT32_MAX};
    if (why == EEXIST)
        pl_report(&gpu->diags, PL_E0015, nowhere, path, kinds[kind].what)->help =
            "choose another name, or replace it with --force";
    else
        pl_report(&gpu->diags, PL_E0002, nowhere, path, strerror(why ? why : EIO));
    switch (why) { /* a wrong path is a user error, anything else a system error */
    case ENOENT:
    case ENOTDIR:
    case EACCES:
    case EISDIR:
    case EEXIST:
    case ELOOP:
    case ENAMETOOLONG: return PL_INVALID;
    default: return PL_IO;
    }
}

pl_status pl_output_check(pl_gpu *gpu, const char *path, const pl_output_how *how)
{
    const pl_outfile_rule rule = rule_of(how);
    const int why = pl_outfile_check(path, &rule);
    return why ? output_failed(gpu, path, why, how->kind) : PL_OK;
}

pl_status pl_output_open(pl_gpu *gpu, const char *path, const pl_output_how *how, pl_output **out)
{
    const pl_outfile_rule rule = rule_of(how);
    pl_output *o = malloc(sizeof *o + strlen(path) + 1);
    *out = NULL;
    if (!o) return pl_gpu_no_memory(gpu, "while writing a file");
    *o = (pl_output){.gpu = gpu, .kind = how->kind};
    strcpy(o->path, path);
    int why;
    while ((why = pl_outfile_open(&o->file, path, &rule)) == ENXIO && !pl_gpu_stopped(gpu))
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL); /* for the reader of a pipe */
    if (why == ENXIO) {
        free(o);
        return pl_gpu_interrupted(gpu, (pl_loc){.file = UINT32_MAX},
                                  pl_arena_printf(gpu->messages, "opening '%s'", path));
    }
    if (why) {
        free(o);
        return output_failed(gpu, path, why, how->kind);
    }
    *out = o;
    return PL_OK;
}

FILE *pl_output_stream(pl_output *o)
{
    return pl_outfile_stream(o->file);
}

pl_status pl_output_close(pl_output *o, pl_status st)
{
    if (!o) return st;
    const int write_error = st == PL_IO ? pl_outfile_error(o->file) : 0,
              why = pl_outfile_close(o->file, st == PL_OK);
    if (why || st == PL_IO) st = output_failed(o->gpu, o->path, why ? why : write_error, o->kind);
    free(o);
    return st;
}
