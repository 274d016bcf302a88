/* db_open.c - opens SQLite connections.
 *
 * Every connection has these properties:
 *   - triggers do not run, extensions cannot be loaded, and expressions of the schema call
 *     harmless functions only;
 *   - no text or blob is longer than MAX_VALUE_BYTES, regardless of the file or of functions;
 *   - pages are checked as they are read, and are read rather than mapped, so that truncation of
 *     the file is reported as an error.
 * A connection for reading also
 *   - has no virtual tables except those of ptxloom and JSON, so that a file cannot reach the other
 *     modules of SQLite;
 *   - takes no locks and reads no journal, unless another program has one next to the file. */
#include "traces/db_open.h"
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_VALUE_BYTES = 64 << 20, MAX_SQL_BYTES = 4 << 20 };

/* True if a journal of the file exists: another program is modifying the file, or has terminated
 * while doing so. */
static int has_journal(const char *path)
{
    static const char *const suffix[] = {"-journal", "-wal"};
    int found = 0;
    for (int i = 0; i < 2; i++) {
        struct stat st;
        char *name = sqlite3_mprintf("%s%s", path, suffix[i]);
        found |= name && stat(name, &st) == 0 && st.st_size > 0;
        sqlite3_free(name);
    }
    return found;
}

/* The path as a URI, with all special characters escaped; NULL: out of memory. */
static char *uri_of(const char *path, pl_tracedb_mode mode)
{
    sqlite3_str *s = sqlite3_str_new(NULL);
    sqlite3_str_appendall(s, *path == '/' ? "file://" : "file:./");
    for (const char *p = path; *p; p++) {
        unsigned char c = (unsigned char)*p;
        if (c <= ' ' || c >= 0x7f || strchr("?#%&=", c))
            sqlite3_str_appendf(s, "%%%02X", c);
        else
            sqlite3_str_appendchar(s, 1, *p);
    }
    if (mode == PL_TRACEDB_READ && !has_journal(path)) sqlite3_str_appendall(s, "?immutable=1");
    return sqlite3_str_finish(s);
}

static void set_limits(sqlite3 *db)
{
    static const struct {
        int id, max;
    } limit[] = {{SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES},
                 {SQLITE_LIMIT_SQL_LENGTH, MAX_SQL_BYTES},
                 {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000},
                 {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
                 {SQLITE_LIMIT_WORKER_THREADS, 0}};
    for (size_t i = 0; i < sizeof limit / sizeof *limit; i++)
        sqlite3_limit(db, limit[i].id, limit[i].max);
}

static int set_options(sqlite3 *db)
{
    static const struct {
        int option, on;
    } option[] = {{SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                  {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                  {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
                  {SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0}};
    int code = SQLITE_OK;
    for (size_t i = 0; i < sizeof option / sizeof *option && code == SQLITE_OK; i++)
        code = sqlite3_db_config(db, option[i].option, option[i].on, NULL);
    return code == SQLITE_OK ? sqlite3_exec(db, "PRAGMA mmap_size = 0; PRAGMA cell_size_check = ON",
                                            NULL, NULL, NULL)
                             : code;
}

/* Removes the virtual table modules that a trace does not need. */
static int drop_other_modules(sqlite3 *db)
{
    const char *kept[] = {"json_each", "json_tree", NULL};
    int code = sqlite3_drop_modules(db, kept);
    return code == SQLITE_OK ? sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL) : code;
}

int pl_tracedb_open_file(const char *path, pl_tracedb_mode mode, sqlite3 **out)
{
    static const int flags[] = {[PL_TRACEDB_READ] = SQLITE_OPEN_READONLY,
                                [PL_TRACEDB_WRITE] = SQLITE_OPEN_READWRITE,
                                [PL_TRACEDB_CREATE] = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                                [PL_TRACEDB_MEMORY] = SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY};
    const int threads = mode == PL_TRACEDB_READ ? SQLITE_OPEN_FULLMUTEX : SQLITE_OPEN_NOMUTEX;
    *out = NULL;
    char *uri = mode == PL_TRACEDB_MEMORY ? sqlite3_mprintf(":memory:") : uri_of(path, mode);
    if (!uri) return SQLITE_NOMEM;
    errno = 0;
    int code = sqlite3_open_v2(uri, out, flags[mode] | SQLITE_OPEN_URI | threads, NULL);
    const int why = errno;
    sqlite3_free(uri);
    if (code != SQLITE_OK) return code;
    if ((mode == PL_TRACEDB_WRITE || mode == PL_TRACEDB_CREATE) &&
        sqlite3_db_readonly(*out, "main") == 1) {
        errno = why ? why : EACCES; /* SQLite falls back to read-only when the system denies write
                                       access */
        return SQLITE_READONLY;
    }
    set_limits(*out);
    code = set_options(*out);
    return code == SQLITE_OK && mode == PL_TRACEDB_READ ? drop_other_modules(*out) : code;
}

pl_status pl_tracedb_failure(sqlite3 *db, int *why)
{
    const int code = sqlite3_errcode(db) & 0xff;
    int file = 0;
    *why = 0;
    if (code == SQLITE_NOMEM || !db) return PL_NOMEM;
    if (code == SQLITE_FULL) *why = ENOSPC;
    if (code == SQLITE_CANTOPEN) *why = sqlite3_system_errno(db);
    /* SQLite reports "malformed" when the system cannot read a sector. */
    if (code == SQLITE_IOERR || code == SQLITE_CORRUPT) {
        sqlite3_file_control(db, "main", SQLITE_FCNTL_LAST_ERRNO, &file);
        *why = file                       ? file
               : code == SQLITE_CORRUPT   ? 0
               : sqlite3_system_errno(db) ? sqlite3_system_errno(db)
                                          : EIO;
    }
    /* A user error. */
    const bool path = *why == ENOENT || *why == ENOTDIR || *why == EACCES || *why == EISDIR;
    return *why && !path ? PL_IO : PL_INVALID;
}

const char pl_tracedb_damaged[] =
    "the file is damaged or incomplete: write it again with ptxloom run --trace FILE.db";

const char *pl_tracedb_remedy(sqlite3 *db)
{
    return (sqlite3_errcode(db) & 0xff) == SQLITE_CORRUPT ? pl_tracedb_damaged : NULL;
}
