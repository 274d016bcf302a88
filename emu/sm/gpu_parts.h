/* gpu_parts.h - the GPU of a launch, which gpu.c, block_scheduler.c and parallel_windows.c share.
 */
#ifndef PL_EMU_SM_GPU_PARTS_H
#define PL_EMU_SM_GPU_PARTS_H

#include "base/team.h"
#include "emu/sm/timing.h"
#include "emu/sm/units.h"

/* A grid of the row. */
typedef struct pl_sm_partition {
    pl_grid *g;
    pl_occupancy occupancy;
    uint32_t cluster; /* blocks of a cluster, 1 without */
    uint64_t share;   /* of an SM that a block takes */
} pl_sm_partition;

/* An SM: the least common multiple of 1 to 32, so that blocks of any kernel take an exact share of
 * it. */
#define PL_WHOLE_SM 144403552893600ull

typedef struct pl_gpu_model {
    pl_grid *g; /* the first of the row */
    const pl_machine *m;
    pl_arena *arena, *large, *sparse; /* large, sparse: what need not be zero; sparse: what has room
                                         for the worst case */
    const pl_decoded *dec;            /* the grid's, else its own */
    pl_sm *sm;
    pl_sm_status *status;   /* by SM: how things stand between two windows */
    pl_mem_outbox *sending; /* by SM: requests of the window before, on their way */
    pl_memsys *mem;
    pl_sm_partition *part; /* the row */
    uint32_t nparts;
    uint64_t *used;            /* shares, by SM */
    uint64_t *place_after;     /* by SM: earliest cycle for the next block */
    uint32_t *numbers, *round; /* SMs in the order of their numbers; in that in which blocks come to
                                  them, one each */
    uint32_t *sharers;         /* by group: SMs with blocks */
    pl_port *starting; /* by launch.sms_per_tpc of SMs: the unit that starts the warps of blocks */
    pl_port retiring;  /* the unit that notes the ends of blocks */
    uint64_t last_retired;
    struct {
        uint64_t time, share;
        uint32_t sm;
    } * freed; /* places that become free, by time */
    uint32_t nfreed, cap_freed;
    uint64_t blocks, done;
    bool no_more;  /* blocks are handed out: the time limit is over */
    bool *chosen;  /* by SM: it is among the first in this iteration */
    bool clusters; /* a grid has some */
    /* one window's work: job 0 is the memory system, the others are `unit` */
    pl_team *team;     /* NULL: one thread */
    pl_pc_stat **stat; /* by worker */
    struct {
        uint32_t first, last; /* SMs of the job */
    } * unit;
    uint32_t nunit;
    uint16_t *home; /* of the jobs: an SM's state stays with one worker, the memory system's with
                       the one that hands over */
    /* ways to share a window (`spread`: see simulate) */
    bool spread, preferred;
    uint32_t window, look; /* windows since they were last measured, and the one from which they are
                              to be again */
    double cost[2];        /* of a job, by `spread`: nanoseconds, 0: not known */
    uint64_t now, until, before; /* before: the end of the last window that was simulated */
    bool unsent;                 /* the outboxes `sending` have requests */
    uint64_t from;               /* of a window that began here or later */
} pl_gpu_model;

/* How many SMs of the group of SM k have blocks. */
static inline uint32_t *pl_gpu_sharers_of(const pl_gpu_model *x, uint32_t k)
{
    return &x->sharers[k * x->m->mem.groups / x->m->sm.count];
}

/* Earliest cycle at which an SM can do something, with what it knows now. */
static inline uint64_t pl_gpu_sm_event(const pl_gpu_model *x, uint32_t k)
{
    uint64_t at = pl_memsys_reply_time(x->mem, k);
    return x->status[k].next < at ? x->status[k].next : at;
}

/* block_scheduler.c: hands out blocks whose time comes before `until`. */
pl_status pl_block_scheduler_run(pl_gpu_model *x, uint64_t now, uint64_t until);
/* Blocks that ended in the window just simulated. False: there was no memory for one that began. */
bool pl_block_scheduler_retire(pl_gpu_model *x);
/* Whose blocks are to be handed out; NULL: none for now. */
const pl_sm_partition *pl_block_scheduler_next_grid(const pl_gpu_model *x);
/* Free places of SMs of one group, or of the whole GPU without clusters. */
uint64_t pl_block_scheduler_free_slots(const pl_gpu_model *x, const pl_sm_partition *p,
                                       uint32_t first, uint32_t last);

/* parallel_windows.c: simulates cycles x->now .. x->until. */
void pl_window_simulate(pl_gpu_model *x);
/* The memory system alone: takes the requests of the window before, and plays the events before the
 * end of this one. */
void pl_window_memory(pl_gpu_model *x);
/* Between two windows: replies and requests change hands. */
void pl_window_exchange(pl_gpu_model *x);
/* Several threads, when asked for. */
pl_status pl_window_open_team(pl_gpu_model *x);
void pl_window_put_team(pl_gpu_model *x);
/* What the workers have counted comes together. */
void pl_window_add_up(const pl_gpu_model *x);

#endif
