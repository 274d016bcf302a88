/* vtab.h - makes the tables inst and mem of packed traces readable on an SQLite connection. */
#ifndef PL_TRACES_VTAB_H
#define PL_TRACES_VTAB_H

#include "traces/pack/format.h"
#ifdef PL_LOADABLE
#include <sqlite3ext.h>
#else
#include <sqlite3.h>
#endif

/* Returns SQLite's result code. */
int pl_tracedb_register(sqlite3 *db);

#endif
