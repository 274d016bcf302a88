/* detail.h - the large pictures of a report, made from the rows of inst and mem. A report of a few
 * megabytes stands for a trace of any size, so everything is summed up here, once for each scale at
 * which it is looked at. */
#ifndef PL_TRACES_REPORT_DETAIL_H
#define PL_TRACES_REPORT_DETAIL_H

#include "base/json_out.h"
#include <sqlite3.h>

/* One launch. */
typedef struct pl_report_launch {
    sqlite3 *db;
    int64_t kernel;
    /* Its rows of inst have ids from first to below end; both 0: none. */
    int64_t first_inst, end_inst;
    /* lanes: of a warp; code: machine instructions of the module. */
    uint64_t cycles, sms, reasons, lanes, code;
    uint64_t places, per_block; /* one place for each warp: block * per_block + warp */
    bool timing;
    uint64_t slots; /* issues that may be kept one by one */
} pl_report_launch;

/* Each writes one member of the object that is open; false when SQLite or memory failed.
 *
 * timeline: what every multiprocessor did in up to 512 windows of time, the life of every warp, and
 * single issues of as many multiprocessors as l->slots allows. lanes: how many lanes were active,
 * and which ones in the warps that diverged most. */
bool pl_report_timeline(const pl_report_launch *l, pl_json *j);
/* maps: sectors by address, time and level. samples: for each memory instruction its first and its
 * dearest access, lane by lane. */
bool pl_report_memory(const pl_report_launch *l, pl_json *j);

#endif
