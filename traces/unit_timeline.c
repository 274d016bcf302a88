/* unit_timeline.c - sums of single units of the memory system over time: the table unit_time.
 *
 * Every sum has a row of windows for each of its units. When a launch exceeds its last window,
 * neighbouring windows are merged and their length doubles, as in event_rows.c. */
#include "traces/tracedb.h"
#include <stdlib.h>
#include <string.h>

static bool grow(pl_tracedb_units *u, uint32_t unit)
{
    uint32_t n = u->units * 2 > unit ? u->units * 2 : unit + 1;
    uint64_t(*more)[PL_TRACEDB_UNIT_WINDOWS] = realloc(u->sum, n * sizeof *more);
    if (!more) return false;
    memset(more + u->units, 0, (n - u->units) * sizeof *more);
    u->sum = more;
    u->units = n;
    return true;
}

static void merge_windows(pl_tracedb_units *u)
{
    for (uint32_t k = 0; k < u->units; k++) {
        for (size_t i = 0; i < PL_TRACEDB_UNIT_WINDOWS; i++) {
            const size_t from = 2 * i;
            u->sum[k][i] =
                from < PL_TRACEDB_UNIT_WINDOWS ? u->sum[k][from] + u->sum[k][from + 1] : 0;
        }
    }
}

void pl_tracedb_on_unit(void *ctx, pl_unit_sum sum, uint32_t unit, uint64_t cycle, uint32_t n)
{
    pl_tracedb *t = ctx;
    if (t->status != PL_OK) return;
    for (; cycle >> t->unit_shift >= PL_TRACEDB_UNIT_WINDOWS; t->unit_shift++)
        for (int k = 0; k < PL_US_COUNT; k++) merge_windows(&t->units[k]);
    pl_tracedb_units *u = &t->units[sum];
    if (unit >= u->units && !grow(u, unit)) {
        pl_tracedb_fail(t, PL_NOMEM, "out of memory for sums by unit");
        return;
    }
    u->sum[unit][cycle >> t->unit_shift] += n;
}

void pl_tracedb_units_begin(pl_tracedb *t)
{
    t->unit_shift = PL_TRACEDB_FIRST_WINDOW;
    for (int k = 0; k < PL_US_COUNT; k++)
        if (t->units[k].sum)
            memset(t->units[k].sum, 0, t->units[k].units * sizeof *t->units[k].sum);
}

void pl_tracedb_units_end(pl_tracedb *t)
{
    static const char *const word[][2] = {
#define X(name, component, what) {component, what},
        PL_UNIT_SUMS(X)
#undef X
    };
    sqlite3_stmt *s = pl_tracedb_prepare(t, "INSERT INTO unit_time VALUES (?, ?, ?, ?, ?, ?, ?)");
    for (int k = 0; s && k < PL_US_COUNT; k++) {
        for (uint32_t unit = 0; unit < t->units[k].units; unit++) {
            for (size_t i = 0; i < PL_TRACEDB_UNIT_WINDOWS; i++) {
                if (t->units[k].sum[unit][i] == 0) continue;
                sqlite3_bind_int64(s, 1, t->kernel);
                pl_tracedb_text(s, 2, word[k][0]);
                sqlite3_bind_int64(s, 3, unit);
                pl_tracedb_text(s, 4, word[k][1]);
                sqlite3_bind_int64(s, 5, (sqlite3_int64)i << t->unit_shift);
                sqlite3_bind_int64(s, 6, (sqlite3_int64)1 << t->unit_shift);
                sqlite3_bind_int64(s, 7, (sqlite3_int64)t->units[k].sum[unit][i]);
                pl_tracedb_step(t, s);
            }
        }
    }
    sqlite3_finalize(s);
}

void pl_tracedb_units_close(pl_tracedb *t)
{
    for (int k = 0; k < PL_US_COUNT; k++) free(t->units[k].sum);
    memset(t->units, 0, sizeof t->units);
}
