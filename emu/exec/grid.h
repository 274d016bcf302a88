/* grid.h - a launch, or several consecutive ones: its program, limits and results. */
#ifndef PL_EMU_EXEC_GRID_H
#define PL_EMU_EXEC_GRID_H

#include <sys/types.h>

#include "base/stop_flag.h"
#include "emu/exec/cta.h"

/* The reason why a launch was stopped early, and the location at that time. */
typedef enum pl_stop_cause {
    PL_STOP_NONE,
    PL_STOP_FLAG,
    PL_STOP_CYCLES,
    PL_STOP_INSTRUCTIONS,
    PL_STOP_OUTPUT
} pl_stop_cause;
typedef struct pl_stop {
    pl_stop_cause cause;
    bool has_location; /* the other fields are valid: they describe a thread that was running */
    uint32_t pc, block[3], thread[3];
    const char *kernel;
} pl_stop;

/* Resource limits of a launch; 0: no limit. */
typedef struct pl_limits {
    uint64_t cycles;       /* timing mode */
    uint64_t instructions; /* warp instructions */
    uint64_t memory;       /* host bytes for the storage of blocks */
} pl_limits;

/* Timing mode: after the deadline, blocks that have not started run without the timing model; after
 * the end, so do the remaining instructions of running blocks. */
typedef struct pl_time_limit {
    double deadline, end; /* seconds of the host's steady clock */
    bool expired;
    uint64_t cycles, instructions;    /* of the grid that was running at the deadline, up to it */
    uint64_t timed_instructions;      /* with the timing model: as it counts them, */
    uint64_t executed, lane_executed; /* and as functional mode does */
    uint64_t idle_cycles;             /* at the end of the model, while threads only polled */
} pl_time_limit;

/* One launch. Filled by lib/ before the launch, read afterwards.
 *
 * Several may run at once, in a chain: a grid with `before` starts when every block of that grid
 * has executed griddepcontrol.launch_dependents or has ended (programmatic dependent launch). The
 * first grid of the chain, `head`, holds the shared state: the fault, the event numbers, the
 * progress counter, the state of the random generator. */
typedef struct pl_grid {
    const pl_program *program; /* not owned */
    const pl_prog_func *entry;
    pl_memory *memory;                /* global and constant memory; not owned */
    const struct pl_objects *objects; /* textures and surfaces; not owned, may be NULL */
    struct pl_tlb *tlb;               /* timing mode: pages that launches have accessed; NULL: all
                                         translations are present; not owned */
    const struct pl_decoded *decoded; /* timing mode: the decoded program; NULL: the launch decodes
                                         it; not owned */
    uint32_t grid[3], block[3], cluster[3];
    uint32_t dynamic_shared;
    uint32_t entry_registers;   /* 1 + initial registers per thread, 1 if setmaxnreg is ignored; 0:
                                   not yet known */
    const uint8_t *params;      /* entry->param_bytes */
    uint32_t stack_limit;       /* bytes of local memory that a thread may use */
    uint32_t max_resident;      /* blocks that may be resident at once (functional mode can
                                   interleave them) */
    const pl_sink *sink;        /* or NULL */
    pl_pc_stat *pc_stat;        /* program->code.n entries, or NULL */
    pl_code_range counted;      /* the entries that this launch can change */
    const volatile int *cancel; /* or NULL: stop when it becomes non-zero */
    pl_limits limits;           /* only those of the head apply */
    /* Is notified of the progress of the launch; or NULL. */
    void (*progress)(void *ctx, uint64_t blocks_done, uint64_t blocks, uint64_t instructions);
    void *progress_ctx;
    uint32_t threads; /* host threads; the result does not depend on it unless the program races */
    uint32_t nsm;     /* %nsmid */
    const uint64_t *sm_mask; /* bits: SMs that blocks run on; NULL: all; not owned */
    uint32_t width;          /* lanes of a warp: PL_LANES, or twice as many */
    uint32_t warp_slots;     /* %nwarpid */
    /* Compute capability of the machine times ten; selects the arithmetic of the tensor cores. */
    uint32_t capability;
    uint32_t shared_reserved; /* bytes that the system reserves at the start of every block's shared
                                 memory */
    struct pl_launch_cache *launch_cache; /* where resources are taken from and returned to, or
                                      NULL; not owned */
    struct pl_system *system;             /* printf, heap, device-side launches; not owned */
    uint64_t driver_free;  /* cycle until which earlier requests of warps occupy the serialised part
                              of the driver */
    bool printed;          /* timing mode: a warp has called printf */
    bool cooperative;      /* blocks synchronise at the grid barrier */
    uint64_t workspace;    /* %envreg1, 2: device address of the grid barrier, 0 if there is none */
    uint64_t block_memory; /* device address of the blocks' private global memory,
                              pl_grid_block_memory bytes each; 0: none */
    uint32_t ticket;       /* of a launch by device code, for a checker; 0: none */
    uint64_t launch_id;    /* %gridid */
    uint64_t graph;        /* %current_graph_exec */
    uint32_t (*launch_graph)(void *ctx, uint64_t graph, uint64_t stream); /* pl_launch; or NULL */
    uint32_t (*update_node)(void *ctx, uint64_t node, uint32_t field, const void *value,
                            uint64_t offset, uint64_t bytes); /* the same */
    void *graph_ctx;
    uint64_t
        page_fault_cycles; /* timing mode: of the launch; its first block starts later by them */
    struct pl_page_faults *page_faults; /* timing mode: managed memory that may be absent from the
                                           GPU; NULL: none. Not owned */
    double global_time;                 /* ns: %globaltimer at clock 0 */
    double cycle_time;                  /* ns per cycle of %globaltimer */
    bool no_memory;        /* of the head: a thread could not allocate memory for its own data; the
                              launch ends with PL_NOMEM */
    int async_mode;        /* PL_ASYNC_* */
    bool has_timing_model; /* timing mode: a model determines latencies */
    pl_time_limit *time_limit; /* or NULL; not owned */
    bool resumed; /* some of its blocks have ended before it is opened: its counts continue */
    struct pl_cta **begun; /* blocks that have started before pl_grid_run, which continues them; the
                              grid is open then. Owned, NULL: none */
    size_t nbegun;
    bool may_wait; /* a launch whose threads only poll global memory is suspended (PL_WAITING); its
                      blocks are in `begun` then, and pl_grid_run continues them */
    bool patient;  /* it polls as often as one that may not wait, before it is suspended */
    bool waiting;  /* it has been suspended; */
    bool progressed; /* not only polled before that, */
    bool running;    /* and could have continued */
    uint64_t waited; /* instructions that only polled before it was suspended */
    bool simt_stack;
    bool random;          /* functional mode: warps and splits in random order */
    uint64_t rng;         /* state of the generator */
    uint64_t next_block;  /* blocks that have started or were cancelled, in the order of starting */
    uint32_t max_slice;   /* random: maximum instructions of a time slice, 0: default */
    struct pl_weak *weak; /* weak consistency, or NULL; not owned */
    const struct pl_hooks *hooks;    /* of a checker, or NULL; not owned */
    struct pl_grid *head;            /* of the chain; the grid itself if it runs alone */
    struct pl_grid *previous, *next; /* its neighbours in the chain, or NULL */
    uint64_t first_block;            /* number of blocks of the launch's grids created before */
    uint64_t early_launched;         /* blocks for which the next grid no longer has to wait */
    bool complete;                   /* it and all preceding grids have ended */
    /* results */
    pl_fault_info assertion; /* a failed assertion: the launch continues and fails at its end */
    pl_fault_info undefined; /* an operation with an undefined result: the launch continues */
    pl_fault_info fault;
    pl_stop stopped;       /* of the head */
    uint64_t instructions; /* of the head, functional mode: instructions so far */
    uint64_t grown_bytes; /* of the head: bytes by which the storage of its warps has grown; updated
                       by all host threads */
    uint64_t executed, lane_executed, cycles;
    uint64_t longest_warp; /* the largest clock of a warp at its end */
    uint64_t blocks_done;
    uint64_t cancelled; /* blocks that never start because another block took over their work
                           (clusterlaunchcontrol) */
    uint64_t seq;       /* next event number */
    uint64_t advances;  /* exited lanes, completed phases, writes to memory: the progress counter of
                           spinning launches */
    struct pl_exec_pool *pool; /* recycled block storage, owned by cta.c */
} pl_grid;

/* Resources that a launch leaves for later ones: memory whose pages the system has already
 * provided, and host threads. Their contents are undefined; each is NULL initially and while it is
 * in use. */
typedef struct pl_launch_cache {
    pl_arena *blocks, *rest;          /* storage of blocks (cta.c) */
    pl_arena *small, *large, *sparse; /* of the timing model (emu/sm/gpu.c) */
    pl_team *team;                    /* host threads, */
    uint32_t threads;                 /* as many as were requested, */
    pid_t process;                    /* by this process: a forked child does not have them */
} pl_launch_cache;

/* The kind of an arena: it returns zeroed memory, or memory with undefined contents, or the latter
 * from an arena of pl_arena_open_sparse. */
typedef enum pl_launch_cache_kind {
    PL_LAUNCH_CACHE_ZEROED,
    PL_LAUNCH_CACHE_ANY,
    PL_LAUNCH_CACHE_SPARSE
} pl_launch_cache_kind;
/* Takes the cached arena, or opens a new one. NULL: out of memory. */
pl_arena *pl_launch_cache_take(pl_arena **cached, pl_launch_cache_kind kind);
void pl_launch_cache_put(pl_arena **cached, pl_arena *a); /* NULL is allowed */
void pl_launch_cache_close(pl_launch_cache *s);
/* Takes the n cached threads, or starts new ones. NULL: out of memory. Without a cache they are
 * stopped when they are put back. */
pl_team *pl_launch_cache_take_team(pl_launch_cache *s, uint32_t n, pl_team_work *work, void *ctx);
void pl_launch_cache_put_team(pl_launch_cache *s, pl_team *t, uint32_t n); /* NULL is allowed */

/* Adds the counters of these instructions. */
static inline void pl_pc_stat_add(pl_pc_stat *to, const pl_pc_stat *from, pl_code_range at)
{
    _Static_assert(sizeof(pl_pc_stat) % sizeof(uint64_t) == 0, "64-bit sums only");
    uint64_t *a = (uint64_t *)(void *)(to + at.first);
    const uint64_t *b = (const uint64_t *)(const void *)(from + at.first);
    for (size_t k = 0; k < at.count * (sizeof *to / sizeof *a); k++) a[k] += b[k];
}

/* True if the launch has failed. Threads call this while another thread may set the fault. */
static inline bool pl_failed(const pl_grid *g)
{
    return __atomic_load_n(&g->head->fault.set, __ATOMIC_RELAXED);
}

static inline void pl_grid_set_no_memory(pl_grid *g)
{
    __atomic_store_n(&g->head->no_memory, true, __ATOMIC_RELAXED);
}

/* Bytes of global memory private to a block: .minperctamemory in units of 1024. */
static inline uint32_t pl_grid_block_memory(const pl_grid *g)
{
    return g->block_memory ? (g->entry->minperctamemory + 1023) & ~1023u : 0;
}

static inline uint64_t pl_grid_blocks(const pl_grid *g)
{
    return (uint64_t)g->grid[0] * g->grid[1] * g->grid[2];
}

/* The coordinates of thread number `t` of a block. */
static inline void pl_grid_thread(const pl_grid *g, uint32_t t, uint32_t thread[3])
{
    const uint32_t x = g->block[0], y = g->block[1];
    thread[0] = t % x;
    thread[1] = t / x % y;
    thread[2] = t / x / y;
}

/* --- blocks and grids (cta.c) --- */
pl_status pl_grid_open(pl_grid *g); /* checks the launch, prepares storage */
/* True if its blocks run on that SM. */
static inline bool pl_grid_uses_sm(const pl_grid *g, uint32_t sm)
{
    return !g->sm_mask || g->sm_mask[sm / 64] >> sm % 64 & 1;
}
/* %smid of a block where no timing model determines it. */
uint32_t pl_grid_block_sm(const pl_grid *g, uint64_t block);
uint64_t pl_grid_block_bytes(const pl_grid *g); /* bytes on the host that one of its blocks takes;
                                                   before pl_grid_open, too */
/* Must the launch stop now? cycles, instructions: so far. live: n of its blocks that run. Fills
 * g->stopped of the head. */
bool pl_grid_stop(pl_grid *head, uint64_t cycles, uint64_t instructions, pl_cta *const *live,
                  size_t n);
/* This lane is the location of the stop. */
void pl_grid_stop_at(pl_grid *head, const pl_warp *w, unsigned lane);
void pl_grid_close(pl_grid *g);
pl_cta *pl_cta_start(pl_grid *g, uint32_t linear, uint32_t sm); /* NULL: out of memory */
/* Cancels the next cluster (or block) that has not started. id: its first block. False: all have
 * started. */
bool pl_block_cancel(pl_grid *g, uint32_t id[3]);
/* pl_cta_start in two steps. Different threads may execute the second, which is most of the work,
 * for different blocks at once. The blocks of a cluster can see each other after the first step. */
pl_cta *pl_cta_acquire(pl_grid *g, uint32_t linear, uint32_t sm); /* NULL: out of memory */
bool pl_cta_begin(pl_cta *c);                                     /* false: out of memory */
void pl_cta_end(pl_cta *c); /* all warps have ended: the storage returns to the pool */
/* The first grid of the chain with blocks that have not started. NULL: there is none, or it has to
 * wait for the preceding grid. */
pl_grid *pl_grid_startable(pl_grid *head);
/* Number of blocks of the chain that have not ended. */
uint64_t pl_grid_blocks_remaining(const pl_grid *head);

/* griddepcontrol: the next grid no longer has to wait for this block (launch_dependents); the warp
 * waits until the preceding grid has ended (wait). */
void pl_grid_launch_dependents(pl_warp *w);
void pl_grid_wait(pl_warp *w);

/* --- waiting.c --- */
enum {
    PL_LONG_RUN = 1 << 22 /* instructions after which a launch that polls memory of the host is
                             suspended */
};
/* True if a thread of the blocks polls global memory; of_host: if a load polls memory that the host
 * accesses at the same address. */
bool pl_polls_memory(pl_cta *const *live, size_t n, bool of_host);
/* Called before blocks continue: allocations may have been freed meanwhile. */
void pl_forget_allocations(pl_cta *const *live, size_t n);

/* --- functional mode (functional.c) --- */
pl_status pl_grid_run(pl_grid *head);

#endif
