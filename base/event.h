/* event.h - events of a run as emitted by the emulator: instruction and memory events,
 * per-instruction statistics, counters.
 *
 * Emitters (functional driver, SM model, memory model) hold a `const pl_sink *` that may be NULL
 * and test it once per event. Listeners (trace writer, profilers, tests) receive plain values;
 * addresses are valid only during the call. */
#ifndef PL_BASE_EVENT_H
#define PL_BASE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

/* Stall reasons: why a warp could not issue. X(name, Nsight Compute's name, explanation): the only
 * list. */
#define PL_STALLS(X)                                                                               \
    X(NONE, "selected", "the warp issued")                                                         \
    X(NOT_SELECTED, "not_selected", "ready, but the scheduler picked another warp")                \
    X(WAIT, "wait", "waits for the fixed latency of an earlier instruction of its own")            \
    X(LONG_SCOREBOARD, "long_scoreboard",                                                          \
      "waits for data from L1, L2 or DRAM (global, local, texture)")                               \
    X(SHORT_SCOREBOARD, "short_scoreboard",                                                        \
      "waits for shared memory, special functions or conversions")                                 \
    X(BARRIER, "barrier", "waits at a block barrier")                                              \
    X(MEMBAR, "membar", "waits for a memory fence")                                                \
    X(BRANCH, "branch_resolving", "waits for a branch target")                                     \
    X(MATH_PIPE, "math_pipe_throttle", "the arithmetic pipe is busy")                              \
    X(LG_THROTTLE, "lg_throttle", "the queue for global and local memory instructions is full")    \
    X(MIO_THROTTLE, "mio_throttle", "the queue for shared memory and special functions is full")   \
    X(TEX_THROTTLE, "tex_throttle", "the texture queue is full")                                   \
    X(NO_INSTRUCTION, "no_instruction", "waits for an instruction fetch")                          \
    X(SLEEPING, "sleeping", "nanosleep, or all lanes wait for others")                             \
    X(IMC_MISS, "imc_miss", "waits for the constant cache")                                        \
    X(DRAIN, "drain", "finished, waits for its stores")                                            \
    X(DISPATCH, "dispatch_stall", "the dispatcher is held up by another conflict")

typedef enum pl_stall {
#define X(name, word, text) PL_STALL_##name,
    PL_STALLS(X)
#undef X
        PL_STALL_COUNT
} pl_stall;

/* The level that served a memory access. */
typedef enum pl_level {
    PL_LV_NONE, /* not known: functional mode */
    PL_LV_SHARED,
    PL_LV_L1,
    PL_LV_L2,
    PL_LV_DRAM,
    PL_LV_CONST,        /* constant cache */
    PL_LV_REMOTE_SHARED /* shared memory of another block of the cluster */
} pl_level;

typedef enum pl_access_kind {
    PL_AC_LOAD,
    PL_AC_STORE,
    PL_AC_ATOMIC,    /* returns the old value */
    PL_AC_REDUCTION, /* returns nothing: red */
    PL_AC_PREFETCH,
    PL_AC_ASYNC /* asynchronous copies: cp.async and TMA */
} pl_access_kind;

/* A warp issues an instruction. */
typedef struct pl_inst_event {
    uint64_t seq; /* index of this issue in the launch, from 0: the key to which mem rows refer */
    /* Timing mode: SM cycle of issue; functional mode: the warp's instruction count. */
    uint64_t cycle;
    uint32_t block;  /* linear block index, counted over all grids of the launch */
    uint32_t warp;   /* in its block */
    uint32_t pc;     /* index of the machine instruction in the program */
    uint64_t mask;   /* lanes that executed it */
    uint32_t weight; /* hardware instructions that it represents: their sum over the launch is
                        inst_executed */
    uint8_t active;  /* active lanes, including those whose guard is false; 0: same as mask */
    uint16_t sm;     /* 0 in functional mode */
    uint8_t subcore; /* of the SM; 0 in functional mode */
    uint8_t stall;   /* pl_stall: main stall reason before this issue */
    uint32_t stall_cycles;
    uint32_t latency; /* cycles to the result; 0 if unknown (functional mode); PL_LATENCY_LATER:
                         reported later by pl_sink.done */
} pl_inst_event;

#define PL_LATENCY_LATER UINT32_MAX

/* An instruction accesses memory. */
typedef struct pl_mem_event {
    uint64_t seq;             /* of the instruction */
    uint64_t cycle;           /* as in pl_inst_event */
    uint32_t block, warp, pc; /* likewise */
    uint32_t mask;            /* lanes of the half */
    uint8_t half; /* of a warp with two halves; an instruction that both halves execute makes two
                     accesses */
    uint16_t sm;
    uint8_t space;        /* pl_space (isa/program/insn.h), generic addresses resolved */
    uint8_t kind;         /* pl_access_kind */
    uint16_t size;        /* bytes per lane */
    uint16_t sectors;     /* distinct 32-byte sectors (global, local) */
    uint16_t wavefronts;  /* passes through L1 or shared memory */
    uint16_t level;       /* pl_level that served the slowest part */
    uint32_t latency;     /* cycles until its last part is served; 0 in functional mode */
    const uint64_t *addr; /* PL_LANES addresses of the lanes of the half; entries of inactive lanes
                             are undefined */
} pl_mem_event;

/* Activity of single units of the memory system. X(NAME, component of the units, counted quantity)
 */
#define PL_UNIT_SUMS(X)                                                                            \
    X(L2_HITS, "l2 slice", "hit_sectors")                                                          \
    X(L2_MISSES, "l2 slice", "miss_sectors")                                                       \
    X(DRAM_READ, "dram channel", "read_sectors")                                                   \
    X(DRAM_WRITTEN, "dram channel", "write_sectors")

typedef enum pl_unit_sum {
#define X(name, component, word) PL_US_##name,
    PL_UNIT_SUMS(X)
#undef X
        PL_US_COUNT
} pl_unit_sum;

/* A further grid of the launch: launched by device code, or the next one in the stream. Its blocks
 * are numbered consecutively. */
typedef struct pl_grid_event {
    uint32_t first_block;       /* linear index of its first block */
    uint32_t grid[3], block[3]; /* blocks; threads per block */
} pl_grid_event;

/* Functions that receive the events, each with `ctx`. */
typedef struct pl_sink {
    void *ctx;
    void (*inst)(void *ctx, const pl_inst_event *e); /* or NULL */
    void (*mem)(void *ctx, const pl_mem_event *e);   /* or NULL */
    /* The result of an earlier instruction is available, this many cycles after its issue. NULL:
     * not reported, its latency is 0 */
    void (*done)(void *ctx, uint64_t seq, uint32_t latency);
    void (*grid)(void *ctx, const pl_grid_event *e); /* before its events; or NULL */
    /* Adds `n` to a sum of unit number `unit` at that cycle (timing mode); or NULL */
    void (*unit)(void *ctx, pl_unit_sum sum, uint32_t unit, uint64_t cycle, uint32_t n);
} pl_sink;

/* Sums for one machine instruction, maintained by both modes regardless of tracing. */
typedef struct pl_pc_stat {
    uint64_t issues;   /* machine instructions as the hardware would issue them (a priced sequence
                          counts with its length) */
    uint64_t executed; /* number of times a warp executed this instruction */
    uint64_t lanes;    /* sum of active lanes over issues */
    uint64_t stall[PL_STALL_COUNT];                    /* cycles by reason, timing mode */
    uint64_t requests, sectors, wavefronts, conflicts; /* memory instructions */
    uint64_t l1_hits;             /* sectors of loads that were present or pending in L1 */
    uint64_t from_l2, from_dram;  /* sectors served by L2 and by DRAM; one that waits for a pending
                                     fill counts as DRAM */
    uint64_t branches, divergent; /* branch instructions: executed, and divergent */
    uint64_t latency;             /* sum of latencies */
} pl_pc_stat;

/* A named sum: Nsight Compute's metric name where one exists ("smsp__inst_executed.sum"). */
typedef struct pl_counter {
    const char *component; /* "sm", "l1", "l2", "dram", "launch" */
    const char *name;
    const char *unit;
    double value;
} pl_counter;

#endif
