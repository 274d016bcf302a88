/* application_rows.c - rows that do not come from the launch itself: those about a CUDA program
 * (calls, activities of streams, memory, ranges), and the findings of checkers. */
#include "traces/tracedb.h"

enum { CALL, ACTIVITY, MOVE, ALLOCATION, NVTX_RANGE, FINDING };

/* The statement that adds a row to a table; prepared once. NULL after a failure. */
static sqlite3_stmt *insert_statement(pl_tracedb *t, int table)
{
    static const char *const sql[] = {
        [CALL] = "INSERT INTO api_call VALUES (?, ?, ?, ?, ?, ?, ?)",
        [ACTIVITY] =
            ("INSERT INTO activity VALUES (NULL, ?, ?, ?, ?, ?, ?, nullif(?, 0), "
             "nullif(?, 0), nullif(?, 0), nullif(?, -1), ?, ?, ?, iif(?14 < 0, NULL, ?14))"),
        [MOVE] = "UPDATE activity SET start_us = start_us + iif(start_us < ?3, 0, ?4), "
                 "end_us = end_us + ?4 WHERE id > (SELECT max(id) FROM activity) - 1000 AND "
                 "device = ?1 AND stream = ?2 AND end_us > ?3",
        [ALLOCATION] = "INSERT INTO allocation VALUES (NULL, ?, ?, ?, ?, ?, ?)",
        [NVTX_RANGE] = "INSERT INTO nvtx_range VALUES (NULL, ?, ?, ?, ?, ?)",
        [FINDING] =
            "INSERT INTO finding VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
            "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};
    if (t->status != PL_OK || !pl_tracedb_transaction(t)) return NULL;
    if (!t->add_application[table]) t->add_application[table] = pl_tracedb_prepare(t, sql[table]);
    return t->add_application[table];
}

void pl_tracedb_application_close(pl_tracedb *t)
{
    enum { TABLES = sizeof t->add_application / sizeof *t->add_application };
    for (int k = 0; k < TABLES; k++) sqlite3_finalize(t->add_application[k]);
    for (int k = 0; k < TABLES; k++) t->add_application[k] = NULL;
}

pl_status pl_tracedb_add_call(pl_tracedb *t, const pl_tracedb_call *c)
{
    sqlite3_stmt *s = insert_statement(t, CALL);
    if (!s) return t->status;
    sqlite3_bind_int64(s, 1, c->id);
    pl_tracedb_text(s, 2, c->name);
    sqlite3_bind_int64(s, 3, c->thread);
    sqlite3_bind_double(s, 4, c->start);
    sqlite3_bind_double(s, 5, c->end);
    sqlite3_bind_int(s, 6, c->result);
    pl_tracedb_text(s, 7, c->error);
    pl_tracedb_step(t, s);
    return t->status;
}

pl_status pl_tracedb_add_activity(pl_tracedb *t, const pl_tracedb_activity *a)
{
    sqlite3_stmt *s = insert_statement(t, ACTIVITY);
    if (!s) return t->status;
    pl_tracedb_text(s, 1, a->kind);
    pl_tracedb_text(s, 2, a->name);
    sqlite3_bind_int64(s, 3, a->device);
    sqlite3_bind_int64(s, 4, a->stream);
    sqlite3_bind_double(s, 5, a->start);
    sqlite3_bind_double(s, 6, a->end);
    sqlite3_bind_int64(s, 7, a->call);
    sqlite3_bind_int64(s, 8, a->launch ? t->kernel : 0);
    sqlite3_bind_int64(s, 9, a->graph);
    sqlite3_bind_int64(s, 10, a->bytes);
    pl_tracedb_text(s, 11, a->source);
    pl_tracedb_text(s, 12, a->destination);
    sqlite3_bind_int(s, 13, a->estimated);
    sqlite3_bind_double(s, 14, a->spread);
    pl_tracedb_step(t, s);
    return t->status;
}

pl_status pl_tracedb_move_activities(pl_tracedb *t, int device, int64_t stream, double from,
                                     double by)
{
    sqlite3_stmt *s = insert_statement(t, MOVE);
    if (!s) return t->status;
    sqlite3_bind_int(s, 1, device);
    sqlite3_bind_int64(s, 2, stream);
    sqlite3_bind_double(s, 3, from);
    sqlite3_bind_double(s, 4, by);
    pl_tracedb_step(t, s);
    return t->status;
}

pl_status pl_tracedb_add_allocation(pl_tracedb *t, const pl_tracedb_allocation *a)
{
    sqlite3_stmt *s = insert_statement(t, ALLOCATION);
    if (!s) return t->status;
    sqlite3_bind_int64(s, 1, (int64_t)a->address);
    sqlite3_bind_int64(s, 2, (int64_t)a->bytes);
    pl_tracedb_text(s, 3, a->memory);
    sqlite3_bind_int64(s, 4, a->device);
    sqlite3_bind_double(s, 5, a->start);
    if (a->end >= 0)
        sqlite3_bind_double(s, 6, a->end);
    else
        sqlite3_bind_null(s, 6);
    pl_tracedb_step(t, s);
    return t->status;
}

pl_status pl_tracedb_add_nvtx(pl_tracedb *t, const pl_tracedb_nvtx *r)
{
    sqlite3_stmt *s = insert_statement(t, NVTX_RANGE);
    if (!s) return t->status;
    pl_tracedb_text(s, 1, r->name);
    sqlite3_bind_int64(s, 2, r->thread);
    sqlite3_bind_int64(s, 3, r->depth);
    sqlite3_bind_double(s, 4, r->start);
    sqlite3_bind_double(s, 5, r->end);
    pl_tracedb_step(t, s);
    return t->status;
}

static void bind_dim3(sqlite3_stmt *s, int *at, const uint32_t v[3], bool known)
{
    for (int k = 0; k < 3; k++, ++*at)
        if (known) sqlite3_bind_int64(s, *at, v[k]);
}

int64_t pl_tracedb_last_kernel(const pl_tracedb *t)
{
    return t->kernel;
}

pl_status pl_tracedb_add_finding(pl_tracedb *t, const pl_tracedb_finding *f)
{
    const bool other = f->other_pc != UINT32_MAX;
    int at = 12;
    sqlite3_stmt *s = insert_statement(t, FINDING);
    if (!s) return t->status;
    sqlite3_clear_bindings(s); /* unbound parameters are NULL */
    sqlite3_bind_int64(s, 1, f->kernel);
    pl_tracedb_text(s, 2, f->tool);
    pl_tracedb_text(s, 3, f->kind);
    pl_tracedb_text(s, 4, f->severity);
    pl_tracedb_text(s, 5, f->space);
    sqlite3_bind_int64(s, 6, f->pc == UINT32_MAX ? -1 : (int64_t)f->pc);
    if (other) sqlite3_bind_int64(s, 7, f->other_pc);
    pl_tracedb_text(s, 8, f->file);
    sqlite3_bind_int64(s, 9, f->line);
    if (other) pl_tracedb_text(s, 10, f->other_file);
    if (other) sqlite3_bind_int64(s, 11, f->other_line);
    bind_dim3(s, &at, f->block, true);
    bind_dim3(s, &at, f->thread, true);
    bind_dim3(s, &at, f->other_block, other);
    bind_dim3(s, &at, f->other_thread, other);
    sqlite3_bind_int64(s, at++, (int64_t)f->address);
    sqlite3_bind_int64(s, at++, f->bytes);
    sqlite3_bind_int64(s, at++, (int64_t)f->count);
    if (f->seed) sqlite3_bind_int64(s, at, (int64_t)f->seed);
    pl_tracedb_text(s, ++at, f->text);
    pl_tracedb_text(s, ++at, f->help);
    pl_tracedb_step(t, s);
    return t->status;
}
