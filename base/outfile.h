/* outfile.h - output files for the user: written under a temporary name, and renamed when complete.
 *
 * The data are written to a file with another name in the same folder, which replaces PATH at the
 * end. A full disk, an error or a kill therefore never destroys an existing file, and no partial
 * file has the final name. An existing file that is not of the kind being written is kept, unless
 * the replacement is forced. Pipes, terminals and character devices are written to directly, and so
 * are open files that PATH names by their descriptor (/dev/stdout). */
#ifndef PL_BASE_OUTFILE_H
#define PL_BASE_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { PL_OUTFILE_HEAD = 1024 };

/* Rule for replacing an existing file. An empty one may always be replaced. */
typedef struct pl_outfile_rule {
    bool force; /* any file may be replaced */
    /* True if a file of this size that begins with these n bytes (PL_OUTFILE_HEAD at most) is of
     * the kind being written; NULL: none is. */
    bool (*is_replaceable)(const void *ctx, const unsigned char *head, size_t n, uint64_t bytes);
    const void *ctx;
} pl_outfile_rule;

typedef struct pl_outfile pl_outfile;

/* Returns 0, or a number for strerror: EEXIST if PATH exists and the rule does not allow replacing
 * it. */
int pl_outfile_open(pl_outfile **out, const char *path, const pl_outfile_rule *rule);
/* Checks whether a file could be written, without writing one. */
int pl_outfile_check(const char *path, const pl_outfile_rule *rule);
FILE *pl_outfile_stream(pl_outfile *o);
/* The error that caused loss of output; 0: none. */
int pl_outfile_error(pl_outfile *o);
/* Frees o (NULL is allowed). keep: renames the file to its final name and returns 0, or returns a
 * number for strerror and leaves PATH unchanged. Otherwise the output is removed. */
int pl_outfile_close(pl_outfile *o, bool keep);

/* For a writer that creates its file itself, such as SQLite. The first checks whether PATH may be
 * replaced: 0 or a number for strerror. The second renames the complete file PART to PATH. */
int pl_outfile_may_replace(const char *path, const pl_outfile_rule *rule);
int pl_outfile_publish(const char *part, const char *path);

#endif
