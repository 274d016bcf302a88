/* db_template.c - the initial contents of every trace: the tables, the names of enumerated values,
 * the definitions of metrics, the rules and the named queries.
 *
 * The build runs this once (make_template.c), so that a new trace is created by copying some pages:
 * creating thirty tables costs more than a small launch. The views of metrics are not included,
 * because SQLite would parse them all whenever the copy is opened. */
#include "base/event.h"
#include "isa/program/insn.h"
#include "traces/tracedb.h"

static const char *const stall[][2] = {
#define X(name, word, text) {word, text},
    PL_STALLS(X)
#undef X
};
static const char *const kind[] = {
    [PL_AC_LOAD] = "load",           [PL_AC_STORE] = "store",       [PL_AC_ATOMIC] = "atomic",
    [PL_AC_REDUCTION] = "reduction", [PL_AC_PREFETCH] = "prefetch", [PL_AC_ASYNC] = "async"};
static const char *const level[] = {[PL_LV_NONE] = "none",
                                    [PL_LV_SHARED] = "shared",
                                    [PL_LV_L1] = "l1",
                                    [PL_LV_L2] = "l2",
                                    [PL_LV_DRAM] = "dram",
                                    [PL_LV_CONST] = "const",
                                    [PL_LV_REMOTE_SHARED] = "remote_shared"};

/* Inserts rows of numbers from 0, each with `columns` words; with 0 columns only the numbers. */
static int insert_names(sqlite3 *db, const char *sql, const char *const *word, int columns, int n)
{
    sqlite3_stmt *s = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &s, NULL);
    for (int i = 0; i < n && code == SQLITE_OK; i++) {
        sqlite3_bind_int(s, 1, i);
        for (int c = 0; c < columns; c++)
            sqlite3_bind_text(s, 2 + c, word[i * columns + c], -1, SQLITE_STATIC);
        sqlite3_step(s);
        code = sqlite3_reset(s);
    }
    sqlite3_finalize(s);
    return code;
}

int pl_tracedb_create_tables(sqlite3 *db)
{
    int code = sqlite3_exec(db, "BEGIN EXCLUSIVE", NULL, NULL, NULL);
    if (code == SQLITE_OK) code = sqlite3_exec(db, pl_tracedb_schema, NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = insert_names(db, "INSERT INTO stall_reason VALUES (?, ?, ?)", stall[0], 2,
                            PL_STALL_COUNT);
    if (code == SQLITE_OK)
        code = insert_names(db, "INSERT INTO access_kind VALUES (?, ?)", kind, 1,
                            (int)(sizeof kind / sizeof *kind));
    if (code == SQLITE_OK)
        code = insert_names(db, "INSERT INTO mem_level VALUES (?, ?)", level, 1,
                            (int)(sizeof level / sizeof *level));
    if (code == SQLITE_OK)
        code = insert_names(db, "INSERT INTO lane VALUES (?)", NULL, 0, PL_LANES);
    if (code == SQLITE_OK) code = pl_tracedb_put_texts(db, "main");
    return code == SQLITE_OK ? sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) : code;
}
