/* outfile.h - files for the user: written beside their name, and named when they are complete.
 *
 * What is written goes to a file of another name in the same folder, which replaces PATH at the
 * end. So a disk that is full, a mistake or a kill never costs a file that was there, and no
 * partial file has a good name. What exists and is not of the kind that is written stays, unless it
 * is forced. Pipes, terminals and devices of characters are written to directly. */
#ifndef PL_BASE_OUTFILE_H
#define PL_BASE_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { PL_OUTFILE_HEAD = 1024 };

/* Which existing file may be replaced. An empty one always may. */
typedef struct pl_outfile_rule {
    bool force; /* any */
    /* Whether a file of so many bytes that begins with these n bytes (PL_OUTFILE_HEAD at most) is
     * of the kind that is written; NULL: none is. */
    bool (*ours)(const void *ctx, const unsigned char *head, size_t n, uint64_t bytes);
    const void *ctx;
} pl_outfile_rule;

typedef struct pl_outfile pl_outfile;

/* 0, or a number for strerror: EEXIST when PATH exists and the rule does not let it go. */
int pl_outfile_open(pl_outfile **out, const char *path, const pl_outfile_rule *rule);
/* The same without a file: whether one could be written. */
int pl_outfile_check(const char *path, const pl_outfile_rule *rule);
FILE *pl_outfile_stream(pl_outfile *o);
/* Why something of what was written is lost; 0: nothing is. */
int pl_outfile_error(pl_outfile *o);
/* Frees o (NULL is allowed). keep: the file gets its name; 0, or a number for strerror, and then
 * PATH is as it was. Else what was written is removed. */
int pl_outfile_close(pl_outfile *o, bool keep);

/* For a writer that makes its file itself, as SQLite does. The first: may PATH be replaced? 0 or a
 * number for strerror. The second: PART is complete; it gets the name PATH. */
int pl_outfile_may_replace(const char *path, const pl_outfile_rule *rule);
int pl_outfile_publish(const char *part, const char *path);

#endif
