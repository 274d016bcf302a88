/* db_open.h - the only place that opens SQLite connections.
 *
 * A trace may come from an untrusted source. Every connection is configured so that nothing in the
 * file executes, writes, or makes SQLite use more memory than a trace needs: see
 * pl_tracedb_open_file. */
#ifndef PL_TRACES_DB_OPEN_H
#define PL_TRACES_DB_OPEN_H

#include "base/status.h"
#include <sqlite3.h>

typedef enum pl_tracedb_mode {
    PL_TRACEDB_READ,   /* an existing file, not modified */
    PL_TRACEDB_WRITE,  /* an existing file of this process */
    PL_TRACEDB_CREATE, /* the same, created if it does not exist */
    PL_TRACEDB_MEMORY  /* no file */
} pl_tracedb_mode;

/* Returns SQLite's result code, for SQLITE_READONLY with errno set. *out must be closed in any
 * case. `path` is taken literally. */
int pl_tracedb_open_file(const char *path, pl_tracedb_mode mode, sqlite3 **out);

/* Classifies the latest failure of a connection. PL_NOMEM; PL_IO for a system failure, with its
 * error number in *why; or PL_INVALID with *why 0, when SQLite's message concerns the statement or
 * the file. */
pl_status pl_tracedb_failure(sqlite3 *db, int *why);
/* The remedy for a damaged file. */
extern const char pl_tracedb_damaged[];
/* Returns the remedy if the latest failure was damage of the file; NULL: it was not. */
const char *pl_tracedb_remedy(sqlite3 *db);

#endif
