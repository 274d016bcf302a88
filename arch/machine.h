/* machine.h - a machine description as used by the timing model: the contents of arch/NAME.conf,
 * checked and converted.
 *
 * All numbers of the model come from there; nothing in emu/sm or memmodel depends on an
 * architecture. The keys of each section, with their units and meanings, are the tables in
 * machine_keys.c; `ptxloom explain SECTION.KEY` prints them. Cycles are SM cycles. */
#ifndef PL_ARCH_MACHINE_H
#define PL_ARCH_MACHINE_H

#include "base/arena.h"
#include "base/conf.h"
#include "memmodel/memsys.h"

/* Arithmetic and transfer units. X(NAME, word, shared by the sub-cores, explanation) */
#define PL_PIPES(X)                                                                                \
    X(ALU, "alu", false, "integer, logic, compare and conversion lanes")                           \
    X(FMA, "fma", false, "single-precision lanes")                                                 \
    X(HEAVY, "heavy", false, "lanes that also multiply integers")                                  \
    X(HALF, "half", false, "packed 16-bit lanes")                                                  \
    X(FP64, "fp64", false, "double-precision lanes")                                               \
    X(XU, "xu", false, "special functions and slow conversions")                                   \
    X(TENSOR, "tensor", false, "matrix unit")                                                      \
    X(UNIFORM, "uniform", false, "uniform datapath")                                               \
    X(BRANCH, "branch", false, "control flow")                                                     \
    X(LSU, "lsu", true, "address unit for loads, stores and atomics")                              \
    X(MIO, "mio", true, "exchange between lanes, barriers")                                        \
    X(ADU, "adu", true,                                                                            \
      "constants by address, special registers, reductions and comparisons of all lanes")

typedef enum pl_pipe {
#define X(name, word, shared, text) PL_PIPE_##name,
    PL_PIPES(X)
#undef X
        PL_PIPE_COUNT,
    PL_PIPE_FIRST_SHARED = PL_PIPE_LSU
} pl_pipe;

/* Hardware instructions of which prices are composed. X(NAME, word, explanation) */
#define PL_OPS(X)                                                                                  \
    X(ALU, "alu", "32-bit add, logic, shift, compare, select, min, max")                           \
    X(FMA, "fma", "f32 add, multiply, fused multiply-add")                                         \
    X(IMAD, "imad", "32-bit integer multiply-add")                                                 \
    X(WIDE, "wide", "32 x 32 to 64-bit multiply-add, high half of a product")                      \
    X(HALF, "half", "packed 16-bit arithmetic")                                                    \
    X(FP64, "fp64", "f64 add, multiply, fused multiply-add")                                       \
    X(XU, "xu", "one special function, count of bits, or slow conversion")                         \
    X(XU64, "xu64", "conversion to or from 64-bit types")                                          \
    X(SHFL, "shfl", "exchange between lanes")                                                      \
    X(VOTE, "vote", "vote")                                                                        \
    X(REDUX, "redux", "integer reduction or match over a warp")                                    \
    X(SREG, "sreg", "read of a special register")                                                  \
    X(CLOCK, "clock", "read of the cycle counter")                                                 \
    X(MEM, "mem", "address part of a load, store or atomic")                                       \
    X(BRANCH, "branch", "branch, call, return, exit")                                              \
    X(ISSUE, "issue", "an issue slot and nothing else")

typedef enum pl_op {
#define X(name, word, text) PL_OP_##name,
    PL_OPS(X)
#undef X
        PL_OP_COUNT
} pl_op;

/* The cost of an instruction of a class: the sum of its hardware instructions. */
typedef struct pl_price {
    uint32_t issues;  /* hardware instructions; 0: none */
    uint32_t latency; /* cycles to the result, unless a memory access determines it */
    bool ends; /* several instructions including a branch: the following code is another block and
                  cannot overlap it */
    uint32_t branches; /* branches among them: they change the control flow of lanes */
    uint32_t npipes;
    struct {
        uint8_t pipe;    /* pl_pipe */
        uint8_t n;       /* hardware instructions issued to it */
        uint16_t cycles; /* cycles for which it is occupied */
    } pipe[6];
    /* Cycles until the same warp can use the unit of its slowest part again. */
    uint32_t warp_reissue;
    uint32_t cross_pipe_latency; /* cycles to the result according to the stall counts of other
                                    classes */
    bool variable;               /* result signalled by scoreboard, not by fixed latency */
} pl_price;

typedef struct pl_op_cost {
    int pipe;
    double interval;
    uint32_t latency, cross_pipe_latency, warp_reissue, operand;
} pl_op_cost;

/* Most register banks of a sub-core. */
enum { PL_REGISTER_BANKS = 4 };

typedef struct pl_sm_config {
    uint32_t count, subcores, lanes, warps, blocks, threads, registers, register_unit,
        registers_thread, warp_unit, barriers, register_banks;
} pl_sm_config;

/* Selection of the ready warp that issues when the last one to issue cannot continue. */
typedef enum pl_policy {
    PL_POLICY_YOUNGEST,
    PL_POLICY_OLDEST,
    PL_POLICY_ROUND_ROBIN,
    PL_POLICY_YOUNGEST_BLOCK
} pl_policy;

typedef struct pl_issue_config {
    int policy; /* pl_policy; always greedy first */
    uint32_t width, interval, replay, guard_latency, cross, far, queued, high, drain, branch,
        max_stall, refetch, exit, jump, indirect_interval, reconverge_interval, rejoin, yield,
        divergence, memory, mio_queue, lg_queue, read;
} pl_issue_config;

typedef struct pl_fetch_config {
    uint32_t instruction, l0_ways, l0_latency, l0_fill, l0_prefetch, l1_ways, prefetch, l2_near;
    uint64_t l0_size, l1_size, line, launch;
    double l2_near_interval;
} pl_fetch_config;

typedef struct pl_const_config {
    uint64_t size, line, l15_size, l15_line;
    uint32_t ways, latency, pass, pass_latency, width, l15_ways, l15_latency, first_use,
        predicated_latency;
    double first_use_interval;
} pl_const_config;

typedef struct pl_shared_config {
    uint64_t per_sm, per_block, reserved, unit, carveout_half, carveout_idle;
    pl_conf_list carveouts;
    uint32_t carveout_room;
    uint32_t banks, bank, rows, latency, pass_latency, pass, link_pass, atomic_latency, atomic_pass,
        atomic_loop, atomic_loop_wide, cast_latency, cast_wide, cast_pass, remote_latency,
        remote_pass, matrix_latency;
} pl_shared_config;

/* Treatment of global loads in the L1: look-up by sectors; look-up by lines, where misses fetch
 * whole lines; or bypass. */
enum { PL_L1_SECTORS, PL_L1_LINES, PL_L1_BYPASS };

/* Accesses of global memory that allocate a line in the L1; or only loads allocate, and a store
 * evicts its line. */
enum { PL_L1_LOADS, PL_L1_ALL, PL_L1_EVICT };

typedef struct pl_l1_config {
    uint64_t size, reserved, line, sector;
    uint32_t ways, latency, miss, store_buffer_hold, local_hold, fill, mshr, mshr_sectors,
        outstanding_stores, backlog, exit_drain_limit, lsu_queue, store_buffer_lines,
        store_buffer_partial, tags, tag_bank_hash0, tag_bank_hash1, pass_latency, width, texture,
        header, texture_lanes, texture_width, texture_result, texture_component;
    double store_pass;  /* cycles */
    int global;         /* PL_L1_SECTORS ... */
    int allocate;       /* PL_L1_LOADS ... */
    uint32_t read_only; /* 1: loads known to read memory that is never written are cached even if
                           global loads bypass the L1 */
    /* Fraction of it that lines with the priority evict_last may occupy; 0: all. */
    double evict_last_share;
} pl_l1_config;

typedef struct pl_sync_config {
    uint32_t barrier, barrier_warp, barrier_reduce, cluster, fence_cta, fence_gpu, fence_near,
        fence_far, fence_drain, fence_sys, fence_proxy, sleep, mbarrier, mbarrier_arrive;
    double fence_cta_interval, fence_gpu_interval, fence_sys_interval, sleep_interval;
} pl_sync_config;

typedef struct pl_driver_config {
    uint32_t print, print_lane, print_first, print_interval, alloc, alloc_lane, alloc_interval,
        alloc_small, free, free_lane, free_interval;
    double alloc_byte, alloc_interval_byte;
} pl_driver_config;

typedef struct pl_async_config {
    uint32_t copy, bulk, bulk_line, bulk_store, bulk_store_line, bulk_store_end, bulk_lane,
        bulk_lane_issues, tensor;
} pl_async_config;

typedef struct pl_launch_config {
    uint32_t start, block_start, warp_end, block_end, end, l2_requests, l2_reads, l2_writes,
        code_reads, dram_sectors, grid_x, sms_per_tpc, first_gpc_bias;
    double warp_interval, warp_each, block_interval, end_each, retire_interval, l2_reply_overhead;
    pl_conf_list cluster_sms;
} pl_launch_config;

/* Properties of the device as seen by programs, and times of activities outside kernels. */
typedef struct pl_device_config {
    const char *name;
    uint64_t memory, context_memory;
    double memory_clock;
    uint32_t bus_width, copy_engines;
    double host_call, host_launch, host_copy, host_set, host_event, host_graph, host_graph_root,
        host_wait, host_alloc, host_free, error_report, launch, kernel_end, graph_start, graph_node,
        event, host_function, host_function_next, to_device_start, from_device_start, pinned_rate,
        duplex_rate, pageable_to_start, pageable_to_rate, pageable_from_start, pageable_from_rate,
        copy_start, copy_min, copy_rate, set_start, set_small, set_min, set_rate, host_peer,
        peer_start, peer_rate, staged_start, staged_rate, staged_duplex_rate, migrate_ramp,
        fault_start, fault_ramp_rate, fault_rate, fault_new_ramp_rate, fault_new_rate,
        host_prefetch, prefetch_start, prefetch_rate, prefetch_new_start, prefetch_new_ramp_rate,
        prefetch_new_rate, prefetch_host_start, prefetch_host_ramp_rate, prefetch_host_rate;
} pl_device_config;

/* Times of the driver in ns, for pl_fault_config. */
typedef struct pl_fault_times {
    double first, wake, batch, fault, block, new_block, host_block, chunk, host_chunk;
} pl_fault_times;

typedef struct pl_machine {
    const char *name, *title, *base, *like;
    const pl_conf *conf; /* the file's own lines, for displaying values with their origin */
    uint32_t capability; /* 90 */
    double clock_mhz;
    pl_sm_config sm;
    pl_issue_config issue;
    pl_fetch_config fetch;
    pl_const_config constant;
    pl_shared_config shared;
    pl_l1_config l1;
    pl_memsys_config mem;
    pl_sync_config sync;
    pl_driver_config driver;
    pl_async_config async;
    pl_launch_config launch;
    pl_device_config device;
    pl_fault_times page_faults;
    pl_op_cost op[PL_OP_COUNT];
    pl_price *price; /* by pl_class, C_count entries */
} pl_machine;

/* Loads a machine: `name` is a built-in name ("h200"), the name of a NAME.conf in a folder of
 * search_path (folders separated by ':', NULL: none), or the path of a file. Returns NULL with
 * diagnostics on an error. */
pl_machine *pl_machine_load(pl_arena *a, pl_diags *d, const char *name, const char *search_path);
/* The key tables, for explain: the number of keys, and key k of a section; NULL past the end. */
const pl_conf_key *pl_machine_keys(const char *section, size_t *n);

/* The number of blocks of a kernel that one SM holds, and the limits. */
typedef struct pl_occupancy {
    uint32_t blocks; /* resident on an SM; 0: cannot run at all */
    /* Limits by each resource. */
    uint32_t by_warps, by_blocks, by_registers, by_shared, by_barriers;
    uint32_t registers_per_warp, shared_per_block; /* as allocated */
    uint64_t carveout;                             /* shared memory configured on an SM, bytes */
    uint32_t warps;                                /* per block */
} pl_occupancy;

/* registers: per thread as the kernel declares; shared: static + dynamic bytes of a block;
 * barriers: used by a block. */
pl_occupancy pl_occupy(const pl_machine *m, uint32_t threads, uint32_t registers, uint64_t shared,
                       uint32_t barriers);
/* Returns the smallest configured carve-out with at least this many bytes, else the largest one. */
uint64_t pl_smallest_carveout(const pl_machine *m, uint64_t bytes);
/* Clusters of `size` blocks that run at once where an SM has room for `blocks` blocks. A cluster is
 * in one part of the GPU, each block on an SM of its own. */
uint32_t pl_clusters(const pl_machine *m, uint32_t blocks, uint32_t size);

#endif
