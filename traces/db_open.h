/* db_open.h - the one place that opens SQLite connections.
 *
 * A trace may come from anywhere. Every connection is set up so that nothing in the file runs,
 * writes, or makes SQLite use more memory than a trace needs: see pl_tracedb_open_file. */
#ifndef PL_TRACES_DB_OPEN_H
#define PL_TRACES_DB_OPEN_H

#include "base/status.h"
#include <sqlite3.h>

typedef enum pl_tracedb_mode {
    PL_TRACEDB_READ,   /* an existing file, which stays as it is */
    PL_TRACEDB_WRITE,  /* an existing file of this process */
    PL_TRACEDB_CREATE, /* the same, made when it does not exist */
    PL_TRACEDB_MEMORY  /* no file */
} pl_tracedb_mode;

/* SQLite's result code, for SQLITE_READONLY with errno; *out is to be closed in any case. `path` is
 * taken as it is: no part of it is special. */
int pl_tracedb_open_file(const char *path, pl_tracedb_mode mode, sqlite3 **out);

/* What the latest failure of a connection was: PL_NOMEM; PL_IO, when the system failed, with its
 * error number in *why; or PL_INVALID, with 0 there: what SQLite says is about the statement or the
 * file. */
pl_status pl_tracedb_failure(sqlite3 *db, int *why);

#endif
