/* gpu_parts.h - the GPU of a launch, shared by gpu.c, block_scheduler.c and parallel_windows.c. */
#ifndef PL_EMU_SM_GPU_PARTS_H
#define PL_EMU_SM_GPU_PARTS_H

#include "base/team.h"
#include "emu/sm/timing.h"
#include "emu/sm/units.h"

/* A grid of the chain. */
typedef struct pl_sm_partition {
    pl_grid *g;
    pl_occupancy occupancy;
    uint32_t cluster; /* blocks per cluster, 1 without clusters */
    uint64_t share;   /* share of an SM that a block takes */
} pl_sm_partition;

/* A whole SM: the least common multiple of 1 to 32, so that blocks of any kernel take an exact
 * share of it. */
#define PL_WHOLE_SM 144403552893600ull

typedef struct pl_gpu_model {
    pl_grid *g; /* the first of the chain */
    const pl_machine *m;
    pl_arena *arena, *large, *sparse; /* large, sparse: memory that need not be zeroed; sparse:
                                         memory sized for the worst case */
    const pl_decoded *dec;            /* the grid's, or private to this launch */
    pl_sm_setup setup;
    pl_sm *sm;              /* undefined before their first block (pl_sm_status.open) */
    pl_sm_status *status;   /* per SM: state between two windows */
    pl_mem_outbox *sending; /* per SM: requests of the preceding window, in transit */
    pl_memsys *mem;
    pl_sm_partition *part; /* the chain */
    uint32_t nparts;
    uint64_t *used_shares;     /* shares in use, per SM */
    uint64_t *place_after;     /* per SM: earliest cycle for the next block */
    uint32_t *numbers, *round; /* SMs by number; SMs in the order in which they get one block
                                  each */
    uint32_t *sharers;         /* per group: number of SMs with blocks */
    pl_port *starting; /* per launch.sms_per_tpc SMs: the unit that starts the warps of blocks */
    pl_port retiring;  /* the unit that processes the ends of blocks */
    uint64_t last_retired;
    struct {
        uint64_t time, share;
        uint32_t sm;
    } * freed; /* slots that become free, with the cycle */
    uint32_t nfreed, cap_freed;
    uint64_t blocks, done;
    uint64_t advances, advanced; /* pl_grid.advances; cycle at which it changed last */
    bool distribution_ended;     /* no more blocks are distributed: the time limit has expired */
    bool *chosen;                /* per SM: it is among the first in this round */
    bool clusters;               /* some grid has clusters, which may have one block */
    /* the work of one window: job 0 is the memory system, the others are `sm_range` */
    pl_team *team;     /* NULL: one thread */
    pl_pc_stat **stat; /* per worker */
    struct {
        uint32_t first, last; /* SMs of the job */
    } * sm_range;
    uint32_t nranges;
    uint16_t *home_worker; /* per job: an SM's state stays with one worker, that of the memory
                       system with the worker that hands over */
    /* policies to distribute a window (`spread`: see simulate) */
    bool spread, preferred;
    uint32_t window, next_measurement; /* windows since the costs were measured, and the window of
                              the next measurement */
    double cost[2];                    /* cost of a job, by `spread`: nanoseconds, 0: unknown */
    uint64_t now, until, before;       /* before: the end of the last simulated window */
    bool unsent;                       /* the outboxes `sending` contain requests */
    uint64_t from;                     /* start of the window, or later */
} pl_gpu_model;

/* Initialises SM k before its first block. False: out of memory. */
bool pl_gpu_open_sm(pl_gpu_model *x, uint32_t k);
/* Number of SMs with blocks in the group of SM k. */
static inline uint32_t *pl_gpu_sharers_of(const pl_gpu_model *x, uint32_t k)
{
    return &x->sharers[k * x->m->mem.groups / x->m->sm.count];
}

/* Earliest cycle at which an SM can make progress, according to its present state. */
static inline uint64_t pl_gpu_sm_event(const pl_gpu_model *x, uint32_t k)
{
    uint64_t at = pl_memsys_reply_time(x->mem, k);
    return x->status[k].next < at ? x->status[k].next : at;
}

/* block_scheduler.c: distributes blocks that can start before `until`. */
pl_status pl_block_scheduler_run(pl_gpu_model *x, uint64_t now, uint64_t until);
/* Retires blocks that ended in the window just simulated. False: out of memory for a block that
 * started. */
bool pl_block_scheduler_retire(pl_gpu_model *x);
/* The grid whose blocks are distributed next; NULL: none at present. */
const pl_sm_partition *pl_block_scheduler_next_grid(const pl_gpu_model *x);
/* Free block slots of the SMs of one group, or of the whole GPU without clusters. */
uint64_t pl_block_scheduler_free_slots(const pl_gpu_model *x, const pl_sm_partition *p,
                                       uint32_t first, uint32_t last);

/* parallel_windows.c: simulates cycles x->now .. x->until. */
void pl_window_simulate(pl_gpu_model *x);
/* Runs only the memory system: accepts the requests of the preceding window, and processes the
 * events before the end of this one. */
void pl_window_memory(pl_gpu_model *x);
/* Between two windows: exchanges replies and requests. */
void pl_window_exchange(pl_gpu_model *x);
/* Starts several threads, if requested. */
pl_status pl_window_open_team(pl_gpu_model *x);
void pl_window_put_team(pl_gpu_model *x);
/* Adds up the counts of the workers. */
void pl_window_add_up(const pl_gpu_model *x);

#endif
