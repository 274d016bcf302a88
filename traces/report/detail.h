/* detail.h - the large diagrams of a report, computed from the rows of inst and mem. A report of a
 * few megabytes represents a trace of any size, so all data are aggregated here, once for each
 * scale of display. */
#ifndef PL_TRACES_REPORT_DETAIL_H
#define PL_TRACES_REPORT_DETAIL_H

#include "base/json_out.h"
#include <sqlite3.h>

/* One launch. */
typedef struct pl_report_launch {
    sqlite3 *db;
    int64_t kernel;
    /* Range of the launch's ids in inst, from first to below end; both 0: none. */
    int64_t first_inst, end_inst;
    /* lanes: per warp; code: machine instructions of the module. */
    uint64_t cycles, sms, reasons, lanes, code;
    uint64_t warp_slots, per_block; /* one slot for each warp: block * per_block + warp */
    bool timing;
    uint64_t max_issues; /* most issues that are recorded individually */
} pl_report_launch;

/* Ends a statement whose last step returned `code`. True: all its rows were read. */
static inline bool pl_report_finalize(sqlite3_stmt *s, int code)
{
    return sqlite3_finalize(s) == SQLITE_OK && code == SQLITE_DONE;
}

/* Each writes one member of the current object; false when SQLite or memory failed.
 *
 * timeline: the activity of every multiprocessor in up to 512 time windows, the lifetime of every
 * warp, and single issues of as many multiprocessors as l->max_issues allows. lanes: the number of
 * active lanes, and the masks of the warps that diverged most. */
bool pl_report_timeline(const pl_report_launch *l, pl_json *j);
/* maps: sectors by address, time and level. samples: for each memory instruction its first and its
 * most expensive access, lane by lane. */
bool pl_report_memory(const pl_report_launch *l, pl_json *j);

#endif
