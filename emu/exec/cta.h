/* cta.h - a block: its warps, its shared memory, its barriers, and those of its cluster. */
#ifndef PL_EMU_EXEC_CTA_H
#define PL_EMU_EXEC_CTA_H

#include "emu/exec/warp.h"

/* A named barrier. Warps arrive at it: one arrives when all its lanes that have not ended have
 * come. Threads that have ended count as arrived when no explicit number of threads was given. */
typedef struct pl_barrier {
    uint32_t arrived;  /* threads of the warps that have arrived */
    uint32_t expected; /* 0: all live threads of the block */
    uint32_t popc;     /* bar.red: true predicates so far */
    bool all, any;     /* bar.red.and, .or */
    bool open;         /* a lane has come since it was last complete */
    bool reduces;      /* by bar.red */
} pl_barrier;

/* Blocks that may address each other's shared memory. */
typedef struct pl_cluster {
    struct pl_cta *cta[16]; /* by rank; NULL when it has not started or has ended */
    uint32_t size, ended;
    uint32_t arrived; /* threads at the cluster barrier */
    uint64_t phase;   /* completed phases */
    uint32_t live;    /* threads of all its blocks that have not exited */
    bool used;
} pl_cluster;

typedef struct pl_cta {
    struct pl_grid *grid;
    uint32_t id[3], linear;
    uint32_t nwarps, done;    /* done: warps finished */
    uint32_t nthreads, live;  /* live: threads not exited */
    pl_warp *warp;            /* nwarps */
    uint8_t *shared;          /* from offset 0: the system's part comes first */
    uint8_t *storage;         /* of the pool: warps with their registers, shared memory */
    pl_split_storage *parted; /* of the pool: for each warp */
    bool filled;              /* the storage has been divided */
    uint32_t shared_start;    /* offset of the first byte of the kernel's own */
    uint32_t shared_first;    /* of the first that it may use: the system's part too if the program
                                 asks where that lies */
    uint32_t shared_end;      /* offset after the last */
    uint64_t shared_base;     /* shared address of offset 0: cluster rank times PL_SHARED_SLICE */
    pl_barrier barrier[PL_NAMED_BARRIERS];
    uint32_t cluster_rank;
    pl_cluster *cluster;      /* NULL without clusters: then the block is one of its own, as far as
                                 barriers go */
    uint32_t alone_arrived;   /* threads at the cluster barrier */
    uint64_t alone_phase;     /* completed phases */
    uint32_t releases;        /* times that warps of the block were released from a barrier of it */
    uint32_t sm;              /* where it runs (timing), for %smid */
    uint64_t number;          /* of the block among those of all grids of the launch: for events */
    bool let_go;              /* the next grid need not wait for it to start */
    struct pl_weak_cta *weak; /* weak consistency: what its warps have seen; owned */
    struct pl_tmem *tmem;     /* tensor memory, made when it is first used; owned */
    void *check;              /* of a checker (hooks.h) */
    void *place;              /* with several threads: for pl_grid.in_order */
    pl_pc_stat *pc_stat;      /* where its instructions count, or NULL */
    bool asks;                /* stops before ordered instructions (PL_IF_ORDERED) */
    struct {
        uint64_t state, advances; /* a state of its threads, and pl_grid.advances then */
        uint32_t turns, limit;    /* since, and until it is renewed; 0: there is none */
        bool recurs;              /* it has come again */
    } still;
    uint64_t *advances; /* where its signs of life count: pl_grid.advances, or in timing mode a
                           counter of its SM, added up later */
} pl_cta;

/* Phases of its cluster barrier that are complete. */
static inline uint64_t pl_cluster_phase(const pl_cta *c)
{
    return c->cluster ? c->cluster->phase : c->alone_phase;
}

/* An arrival at a named barrier. */
typedef struct pl_arrival {
    uint32_t id, threads; /* threads: 0: all of the block */
    pl_lanes lanes;       /* that come */
    bool wait, reduces;   /* bar.sync and bar.red; bar.red */
    pl_lanes value;       /* bar.red: predicates by lane */
} pl_arrival;
/* Lanes of the current split come to a barrier (barrier.c). */
void pl_bar_arrive(pl_warp *w, const pl_arrival *a);
/* Whether the barrier instruction may execute now for the current split; otherwise that waits or
 * parts. An aligned one executes when all lanes of the warp that have not ended stand at it. */
bool pl_bar_gathered(pl_warp *w, const pl_insn *i);
/* bar and barrier.aligned. */
bool pl_bar_is_aligned(const pl_insn *i);
void pl_cluster_arrive(pl_warp *w);
void pl_cluster_wait(pl_warp *w);

#endif
