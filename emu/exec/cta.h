/* cta.h - a block: its warps, its shared memory, its barriers, and those of its cluster. */
#ifndef PL_EMU_EXEC_CTA_H
#define PL_EMU_EXEC_CTA_H

#include "base/team.h"
#include "emu/exec/warp.h"

/* A named barrier. A warp arrives when all its lanes that have not exited have reached it. Threads
 * that have exited count as arrived if no explicit thread count was given. */
typedef struct pl_barrier {
    uint32_t arrived;  /* threads of the warps that have arrived */
    uint32_t expected; /* 0: all live threads of the block */
    uint32_t popc;     /* bar.red: true predicates so far */
    bool all, any;     /* bar.red.and, .or */
    bool open;         /* lanes have reached it since it last completed */
    bool reduces;      /* used by bar.red */
} pl_barrier;

/* Blocks that may address each other's shared memory. */
typedef struct pl_cluster {
    struct pl_cta *cta[16]; /* by rank; NULL if it has not started or has ended */
    uint32_t size, blocks_ended;
    uint32_t arrived; /* threads that have arrived at the cluster barrier */
    uint64_t phase;   /* completed phases */
    uint32_t live;    /* threads of all its blocks that have not exited */
    bool used;
} pl_cluster;

typedef struct pl_cta {
    struct pl_grid *grid;
    uint32_t id[3], linear;
    uint32_t nwarps, warps_done;     /* warps_done: warps that have ended */
    uint32_t nthreads, live;         /* live: threads not exited */
    pl_warp *warp;                   /* nwarps */
    uint8_t *shared;                 /* from offset 0, where the system's part begins */
    uint8_t *storage;                /* from the pool: warps with their registers, shared memory */
    pl_split_storage *split_storage; /* from the pool, one per warp */
    bool filled;                     /* the storage has been partitioned */
    uint32_t shared_start;           /* offset of the first byte of the kernel's shared memory */
    uint32_t shared_first; /* offset of the first byte that it may access: includes the system's
                              part if the program queries its location */
    uint32_t shared_end;   /* offset one past the last byte */
    uint64_t shared_base;  /* shared address of offset 0: cluster rank times PL_SHARED_SLICE */
    pl_barrier barrier[PL_NAMED_BARRIERS];
    uint32_t cluster_rank;
    pl_cluster *cluster; /* NULL without clusters: for barriers the block is then a cluster of
                            its own */
    uint32_t local_cluster_arrived; /* without a cluster: threads that have arrived at the cluster
                               barrier */
    uint64_t local_cluster_phase;   /* completed phases */
    uint32_t releases;        /* number of times that warps of the block were released from one of
                                 its barriers */
    uint32_t sm;              /* SM on which it runs (timing), for %smid */
    uint64_t number;          /* number of the block among those of all grids of the launch, for
                                 events */
    uint32_t free_registers;  /* that warps have returned to the block (setmaxnreg) */
    bool launched_dependents; /* the next grid no longer has to wait for this block */
    struct pl_weak_cta *weak; /* weak consistency: the writes that its warps have observed; owned */
    struct pl_tmem *tmem;     /* tensor memory, allocated on first use; owned */
    void *check;              /* data of a checker (hooks.h) */
    pl_team_turn *turn;       /* of the job that runs it, if several host threads do; or NULL */
    pl_pc_stat *pc_stat;      /* counters of its instructions, or NULL */
    bool stops_at_ordered;    /* stops before ordered instructions (PL_IF_ORDERED) */
    bool holds_stores;        /* its warps use pl_store_hold */
    struct {
        uint64_t state, advances; /* a recorded state of its threads, and pl_grid.advances at that
                                     time */
        uint32_t rounds, limit;   /* rounds since then, and rounds until it is recorded again; 0: no
                                    state is recorded */
        bool recurs;              /* the state has recurred */
    } recurrence;
    uint64_t *advances; /* progress counter: pl_grid.advances, or in timing mode a counter of its SM
                           that is added later */
} pl_cta;

/* Completed phases of its cluster barrier. */
static inline uint64_t pl_cluster_phase(const pl_cta *c)
{
    return c->cluster ? c->cluster->phase : c->local_cluster_phase;
}

/* An arrival at a named barrier. */
typedef struct pl_arrival {
    uint32_t id, threads; /* threads: 0: all of the block */
    pl_lanes lanes;       /* lanes that arrive */
    bool wait, reduces;   /* bar.sync and bar.red; bar.red */
    pl_lanes value;       /* bar.red: predicates by lane */
} pl_arrival;
/* Lanes of the current split arrive at a barrier (barrier.c). */
void pl_bar_arrive(pl_warp *w, const pl_arrival *a);
/* Returns true if the barrier instruction may execute now for the current split; otherwise the
 * split waits or diverges. An aligned one executes when all lanes of the warp that have not exited
 * are at it. */
bool pl_bar_gathered(pl_warp *w, const pl_insn *i);
/* True for bar and barrier.aligned. */
bool pl_bar_is_aligned(const pl_insn *i);
void pl_cluster_arrive(pl_warp *w);
void pl_cluster_wait(pl_warp *w);
/* With several host threads: returns when all work that one thread would have done before has
 * completed. */
static inline void pl_cta_wait_turn(const pl_cta *c)
{
    if (c->turn) pl_team_turn_wait(c->turn);
}

#endif
