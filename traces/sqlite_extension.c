/* sqlite_extension.c - the loadable module ptxloom_trace.so: packed traces in other programs.
 *
 *     sqlite3: .load /usr/lib/ptxloom/ptxloom_trace
 *
 *     Python:  connection.load_extension("/usr/lib/ptxloom/ptxloom_trace") */
#ifndef PL_LOADABLE
#define PL_LOADABLE /* loaded by SQLite itself */
#endif
#include "traces/vtab.h"
SQLITE_EXTENSION_INIT1

/* SQLite derives this name from the file name by dropping everything except letters. */
int sqlite3_ptxloomtrace_init(sqlite3 *db, char **error, const sqlite3_api_routines *api);
int sqlite3_ptxloomtrace_init(sqlite3 *db, char **error, const sqlite3_api_routines *api)
{
    (void)error;
    SQLITE_EXTENSION_INIT2(api);
    return pl_tracedb_register(db);
}
