/* machine.c - parses arch/NAME.conf into a pl_machine: key tables, prices, checks.
 *
 * To add a key: a member in machine.h, a row here, a line in every file of arch/. A missing or
 * unknown key is an error with a source position. */
#include "arch/machine.h"
#include "arch/builtin_machines.h"
#include "base/event.h"
#include "base/guard.h"
#include "base/nearest.h"
#include "isa/table/form.h"
#include "isa/program/insn.h"
#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY(struct_, member, name, kind, unit_, lo, hi, text)                                      \
    {                                                                                              \
        .key = name, .type = kind, .unit = unit_, .min = lo, .max = hi,                            \
        .offset = offsetof(struct_, member), .about = text                                         \
    }
#define OPTIONAL(struct_, member, name, kind, unit_, lo, hi, text)                                 \
    {                                                                                              \
        .key = name, .type = kind, .unit = unit_, .min = lo, .max = hi,                            \
        .offset = offsetof(struct_, member), .optional = true, .about = text                       \
    }
#define U32 PL_CONF_U32
#define U64 PL_CONF_U64
#define F64 PL_CONF_F64
#define CY  "cycles"

/* Keys with a different name until version 0.2: the error message gives the new one. */
static const pl_conf_rename renamed_keys[] = {
    {"l1", "hold", "store_buffer_hold"},
    {"l1", "writes", "store_buffer_lines"},
    {"l1", "part_places", "store_buffer_partial"},
    {"l1", "misses", "mshr"},
    {"l1", "fills", "mshr_sectors"},
    {"l1", "stores", "outstanding_stores"},
    {"l1", "sent", "exit_drain_limit"},
    {"l1", "input", "lsu_queue"},
    {"l1", "kept", "reserved"},
    {"l1", "last", "evict_last_share"},
    {"l1", "tag_low", "tag_bank_hash0"},
    {"l1", "tag_high", "tag_bank_hash1"},
    {"constant", "mid_size", "l15_size"},
    {"constant", "mid_line", "l15_line"},
    {"constant", "mid_ways", "l15_ways"},
    {"constant", "mid_latency", "l15_latency"},
    {"constant", "first", "first_use"},
    {"constant", "first_turn", "first_use_interval"},
    {"constant", "guarded", "predicated_latency"},
    {"fetch", "near", "l2_near"},
    {"fetch", "near_turn", "l2_near_interval"},
    {"xbar", "up", "sm_to_xbar"},
    {"xbar", "down", "xbar_to_sm"},
    {"xbar", "joined", "read_merge"},
    {"xbar", "spread", "slice_distance"},
    {"xbar", "far_latency", "partition_latency"},
    {"xbar", "owner_unit", "partition_interleave"},
    {"l2", "again", "atomic_line_reuse"},
    {"op.", "again", "warp_reissue"},
    {"op.", "others", "cross_pipe_latency"},
    {"launch", "pair", "sms_per_tpc"},
    {"launch", "ahead", "first_gpc_bias"},
    {"launch", "l2_told", "l2_reply_overhead"},
    {"issue", "stall_most", "max_stall"},
    {"issue", "jump_each", "indirect_interval"},
    {"issue", "join_each", "reconverge_interval"},
    {"fetch", "l2_near_turn", "l2_near_interval"},
    {"constant", "first_use_turn", "first_use_interval"},
    {"xbar", "code_joined", "code_merge"},
    {"xbar", "atomic_apart", "atomic_bank_packet"},
    {"l2", "written", "write_read_delay"},
    {"l2", "turn_int", "atomic_op_int"},
    {"l2", "turn_wide", "atomic_op_wide"},
    {"l2", "turn_float", "atomic_op_float"},
    {"l2", "same_int", "atomic_same_address_int"},
    {"l2", "same_wide", "atomic_same_address_wide"},
    {"l2", "same_float", "atomic_same_address_float"},
    {"l2", "more_float", "atomic_extra_word"},
    {"l2", "atomic_wait", "atomic_queue_limit"},
    {"link", "least", "min_read"},
    {"dram", "refresh_awake", "refresh_free"},
    {"dram", "planned", "row_lookahead"},
    {"dram", "writes", "write_batch"},
    {"dram", "check", "ecc_ratio"},
    {"device", "copy_least", "copy_min"},
    {"device", "set_least", "set_min"},
    {"driver", "print_turn", "print_interval"},
    {"driver", "alloc_turn", "alloc_interval"},
    {"driver", "alloc_turn_byte", "alloc_interval_byte"},
    {"driver", "free_turn", "free_interval"},
    {"sync", "fence_cta_each", "fence_cta_interval"},
    {"sync", "fence_gpu_each", "fence_gpu_interval"},
    {"sync", "fence_sys_each", "fence_sys_interval"},
    {"sync", "sleep_each", "sleep_interval"},
};

static const pl_conf_key machine_keys[] = {
    KEY(pl_machine, title, "title", PL_CONF_TEXT, "", 0, 0, "product name"),
    KEY(pl_machine, capability, "capability", U32, "", 20, 200,
        "compute capability times ten: 90 for 9.0"),
    KEY(pl_machine, clock_mhz, "clock", F64, "MHz", 1, 100000,
        "SM clock; all cycles are cycles of this clock"),
    {.key = "like",
     .type = PL_CONF_TEXT,
     .unit = "",
     .offset = offsetof(pl_machine, base),
     .optional = true,
     .about = "base machine: its file supplies the keys that this one omits"},
    {.key = "prices_like",
     .type = PL_CONF_TEXT,
     .unit = "",
     .offset = offsetof(pl_machine, like),
     .optional = true,
     .about = "machine whose [price] lines apply to classes without a price in this file"},
};
static const pl_conf_key sm_keys[] = {
    KEY(pl_sm_config, count, "count", U32, "", 1, 1024, "streaming multiprocessors of the GPU"),
    KEY(pl_sm_config, subcores, "subcores", U32, "", 1, 8,
        "sub-cores of an SM, each with a warp scheduler"),
    KEY(pl_sm_config, lanes, "lanes", U32, "", 1, 1024,
        "threads of a warp, which execute together"),
    KEY(pl_sm_config, warps, "warps", U32, "", 1, 64, "maximum resident warps of an SM"),
    KEY(pl_sm_config, blocks, "blocks", U32, "", 1, 64, "maximum resident blocks of an SM"),
    KEY(pl_sm_config, threads, "threads", U32, "", 32, 4096, "maximum resident threads of an SM"),
    KEY(pl_sm_config, registers, "registers", U32, "", 1024, 1048576, "32-bit registers of an SM"),
    KEY(pl_sm_config, register_unit, "register_unit", U32, "", 32, 4096,
        "registers are allocated to a warp in multiples of this"),
    KEY(pl_sm_config, registers_thread, "registers_thread", U32, "", 16, 512,
        "maximum registers of a thread"),
    KEY(pl_sm_config, warp_unit, "warp_unit", U32, "", 1, 8,
        "warps of a block are allocated in multiples of this"),
    KEY(pl_sm_config, barriers, "barriers", U32, "", 16, 1024, "block barriers of an SM"),
    OPTIONAL(pl_sm_config, register_banks, "register_banks", U32, "", 0, PL_REGISTER_BANKS,
             "register banks of a sub-core, with one read per cycle each; 0: no bank conflicts"),
};
static const pl_conf_key issue_keys[] = {
    {.key = "policy",
     .type = PL_CONF_WORD,
     .unit = "",
     .offset = offsetof(pl_issue_config, policy),
     .words = "youngest oldest round_robin youngest_block",
     .about = "selection of the ready warp that issues when the one that issued last cannot "
              "continue: youngest, oldest, round_robin, or youngest_block: the least recently "
              "issued warp of the youngest block"},
    KEY(pl_issue_config, width, "width", U32, "", 1, 4,
        "instructions that a scheduler can issue per cycle"),
    OPTIONAL(pl_issue_config, interval, "interval", U32, CY, 0, 16,
             "cycles between two issues of a scheduler; 0: 1"),
    OPTIONAL(pl_issue_config, replay, "replay", U32, "", 0, 16,
             "issue slots for each further pass or line of a memory access (instruction replay, up "
             "to Kepler)"),
    KEY(pl_issue_config, guard_latency, "guard_latency", U32, CY, 0, 100,
        "additional latency from a computed predicate to an instruction that it guards, or a "
        "branch"),
    KEY(pl_issue_config, cross, "cross", U32, CY, 0, 100,
        "additional latency from the ALU to the multiply-add pipe and vice versa"),
    KEY(pl_issue_config, far, "far", U32, CY, 0, 100,
        "additional latency from the ALU and the multiply-add pipe to the packed and f64 pipes and "
        "vice versa"),
    KEY(pl_issue_config, queued, "queued", U32, CY, 0, 100,
        "additional latency from a result to an instruction that waits in a queue (memory, "
        "exchange, special function)"),
    KEY(pl_issue_config, high, "high", U32, CY, 0, 100,
        "additional latency to such an instruction from the high half of a result of two "
        "instructions"),
    OPTIONAL(pl_issue_config, drain, "drain", U32, CY, 0, 100,
             "additional cycles until a result is in its register; the end of a basic block, a "
             "call and a reconvergence wait for it; 0: they do not"),
    KEY(pl_issue_config, branch, "branch", U32, CY, 1, 100,
        "stall count of a branch: cycles until the next instruction if it is not taken"),
    OPTIONAL(pl_issue_config, max_stall, "max_stall", U32, CY, 0, 100,
             "maximum stall count: NOPs fill a longer wait for the result of a matrix instruction; "
             "0: no NOPs"),
    OPTIONAL(pl_issue_config, exit, "exit", U32, CY, 0, 100,
             "cycles until a warp's exit is resolved; 0: as for a branch"),
    OPTIONAL(pl_issue_config, refetch, "refetch", U32, CY, 0, 100,
             "cycles of a sub-core to fetch the instructions of a warp after a taken branch"),
    KEY(pl_issue_config, jump, "jump", U32, CY, 1, 1000,
        "cycles of a branch, call or return to an address in a register, after its stall count"),
    KEY(pl_issue_config, indirect_interval, "indirect_interval", U32, CY, 1, 100,
        "cycles between two such targets in the branch unit of an SM"),
    OPTIONAL(pl_issue_config, reconverge_interval, "reconverge_interval", U32, CY, 0, 100,
             "cycles of a reconvergence in the branch unit of an SM"),
    OPTIONAL(
        pl_issue_config, rejoin, "rejoin", U32, CY, 0, 1000,
        "cycles to repeat a reconvergence whose convergence barrier a call has saved and restored"),
    OPTIONAL(pl_issue_config, yield, "yield", U32, CY, 0, 1000,
             "cycles after the stall count until a warp continues after it yields to other lanes"),
    KEY(pl_issue_config, divergence, "divergence", U32, CY, 0, 200,
        "additional cycles of a divergent branch"),
    KEY(pl_issue_config, memory, "memory", U32, CY, 1, 100,
        "cycles between two memory instructions of a warp"),
    KEY(pl_issue_config, mio_queue, "mio_queue", U32, "", 1, 64,
        "entries of a sub-core's queue for shared memory, special functions and exchanges"),
    KEY(pl_issue_config, lg_queue, "lg_queue", U32, "", 1, 64,
        "entries of a sub-core's queue for global and local memory"),
    OPTIONAL(pl_issue_config, read, "read", U32, CY, 0, 100,
             "cycles from leaving such a queue until an instruction has read its registers, "
             "excluding the transfer to the unit"),
};
static const pl_conf_key fetch_keys[] = {
    KEY(pl_fetch_config, instruction, "instruction", U32, "B", 4, 64,
        "size of a machine instruction"),
    KEY(pl_fetch_config, line, "line", U64, "B", 32, 256, "line of the instruction caches"),
    KEY(pl_fetch_config, l0_size, "l0_size", U64, "B", 128, 1048576,
        "instruction cache of a sub-core"),
    KEY(pl_fetch_config, l0_ways, "l0_ways", U32, "", 1, 64, "its ways"),
    KEY(pl_fetch_config, l0_latency, "l0_latency", U32, CY, 1, 500,
        "cycles to refill it from the instruction cache of the SM"),
    KEY(pl_fetch_config, l0_fill, "l0_fill", U32, CY, 1, 1000,
        "cycles between two line fills of a sub-core's cache"),
    KEY(pl_fetch_config, l0_prefetch, "l0_prefetch", U32, "", 0, 64,
        "lines prefetched into a sub-core's cache"),
    KEY(pl_fetch_config, l1_size, "l1_size", U64, "B", 128, 16777216, "instruction cache of an SM"),
    KEY(pl_fetch_config, l1_ways, "l1_ways", U32, "", 1, 64, "its ways"),
    KEY(pl_fetch_config, prefetch, "prefetch", U32, "", 0, 64,
        "lines prefetched into the instruction cache of an SM"),
    OPTIONAL(pl_fetch_config, launch, "launch", U64, "B", 0, 1048576,
             "initial code of a kernel that the launch prefetches close to the SMs"),
    OPTIONAL(pl_fetch_config, l2_near, "l2_near", U32, CY, 0, 1000,
             "latency of a miss of the SM's instruction cache on such a line"),
    OPTIONAL(pl_fetch_config, l2_near_interval, "l2_near_interval", F64, CY, 0, 1000,
             "cycles between two such lines for each SM of the group that has blocks"),
};
static const pl_conf_key const_keys[] = {
    KEY(pl_const_config, size, "size", U64, "B", 64, 1048576,
        "first-level constant cache of an SM"),
    KEY(pl_const_config, line, "line", U64, "B", 32, 256, "its line"),
    KEY(pl_const_config, ways, "ways", U32, "", 1, 64, "its ways"),
    KEY(pl_const_config, latency, "latency", U32, CY, 1, 500,
        "cycles of a constant load that hits"),
    KEY(pl_const_config, pass, "pass", U32, CY, 1, 100,
        "cycles of a pass of an indexed read; the passes of an SM are sequential"),
    KEY(pl_const_config, pass_latency, "pass_latency", U32, CY, 0, 100,
        "additional latency for each further pass"),
    KEY(pl_const_config, width, "width", U32, "B", 1, 256,
        "bytes that one pass of an indexed read serves"),
    KEY(pl_const_config, l15_size, "l15_size", U64, "B", 64, 16777216,
        "second-level constant cache of an SM"),
    KEY(pl_const_config, l15_line, "l15_line", U64, "B", 32, 4096,
        "bytes that it fetches at once for an operand of an instruction"),
    KEY(pl_const_config, l15_ways, "l15_ways", U32, "", 1, 64, "its ways"),
    KEY(pl_const_config, l15_latency, "l15_latency", U32, CY, 1, 1000,
        "cycles of a load that hits there"),
    KEY(pl_const_config, predicated_latency, "predicated_latency", U32, CY, 1, 1000,
        "latency of a guarded parameter load, even if the guard predicate is false"),
    KEY(pl_const_config, first_use, "first_use", U32, CY, 0, 10000,
        "cycles from a sub-core's first read of a line of kernel parameters until it has the line"),
    OPTIONAL(pl_const_config, first_use_interval, "first_use_interval", F64, CY, 0, 1000,
             "cycles between two such lines for each SM of the group that has blocks"),
};
static const pl_conf_key shared_keys[] = {
    KEY(pl_shared_config, per_sm, "per_sm", U64, "B", 0, 1048576, "maximum shared memory of an SM"),
    KEY(pl_shared_config, per_block, "per_block", U64, "B", 0, 1048576,
        "maximum shared memory of a block"),
    KEY(pl_shared_config, reserved, "reserved", U64, "B", 0, 65536,
        "bytes of each block that are reserved for the system"),
    KEY(pl_shared_config, unit, "unit", U64, "B", 1, 65536,
        "shared memory is allocated in multiples of this"),
    KEY(pl_shared_config, carveouts, "carveouts", PL_CONF_LIST, "B", 0, 1048576,
        "shared memory sizes that an SM can be configured to; the remaining storage is L1"),
    KEY(pl_shared_config, carveout_room, "carveout_room", U32, "", 1, 16,
        "the carve-out is selected for this many times the resident blocks"),
    KEY(pl_shared_config, carveout_half, "carveout_half", U64, "B", 0, 1048576,
        "the carve-out exceeds this size only if the resident blocks need it"),
    KEY(pl_shared_config, carveout_idle, "carveout_idle", U64, "B", 0, 1048576,
        "the same for kernels without shared memory"),
    KEY(pl_shared_config, banks, "banks", U32, "", 1, 64, "banks"),
    KEY(pl_shared_config, bank, "bank", U32, "B", 1, 16, "width of a bank"),
    KEY(pl_shared_config, rows, "rows", U32, "", 1, 4,
        "adjacent rows of the banks that one pass accesses: 2 on Kepler with 4-byte banks, where "
        "words n and n + 32 do not conflict"),
    KEY(pl_shared_config, latency, "latency", U32, CY, 1, 500,
        "cycles of a conflict-free 32-bit load"),
    KEY(pl_shared_config, pass_latency, "pass_latency", U32, CY, 0, 100,
        "additional latency for each further pass"),
    KEY(pl_shared_config, pass, "pass", U32, CY, 1, 100,
        "cycles that a pass occupies the banks of the SM"),
    KEY(pl_shared_config, link_pass, "link_pass", U32, CY, 1, 100,
        "cycles that a pass, or a register of a store, occupies the link to its sub-core"),
    KEY(pl_shared_config, atomic_latency, "atomic_latency", U32, CY, 1, 1000,
        "cycles of a conflict-free shared atomic"),
    KEY(pl_shared_config, atomic_pass, "atomic_pass", U32, CY, 1, 1000,
        "cycles for each lane with the same address"),
    KEY(pl_shared_config, atomic_loop, "atomic_loop", U32, CY, 1, 1000,
        "cycles of an iteration of the loop that implements atomics on 32-bit floats, where it is "
        "one instruction (-O0)"),
    KEY(pl_shared_config, atomic_loop_wide, "atomic_loop_wide", U32, CY, 1, 1000,
        "the same for 64 bits"),
    KEY(pl_shared_config, cast_latency, "cast_latency", U32, CY, 1, 1000,
        "cycles of the compare-and-swap of such a loop"),
    KEY(pl_shared_config, cast_wide, "cast_wide", U32, CY, 1, 1000, "the same for 64 bits"),
    KEY(pl_shared_config, cast_pass, "cast_pass", U32, CY, 1, 100,
        "cycles that it occupies the banks; twice as many for 64 bits"),
    KEY(pl_shared_config, remote_latency, "remote_latency", U32, CY, 1, 5000,
        "cycles of a load from another SM of the cluster"),
    KEY(pl_shared_config, remote_pass, "remote_pass", U32, CY, 0, 100,
        "cycles of an SM's link for each sector to or from another SM"),
    KEY(pl_shared_config, matrix_latency, "matrix_latency", U32, CY, 1, 500,
        "cycles of a conflict-free matrix load"),
};
static const pl_conf_key l1_keys[] = {
    KEY(pl_l1_config, size, "size", U64, "B", 1024, 4194304,
        "combined storage of an SM for L1 and shared memory"),
    KEY(pl_l1_config, reserved, "reserved", U64, "B", 0, 1048576,
        "part of it that is used for neither"),
    KEY(pl_l1_config, line, "line", U64, "B", 32, 256, "cache line, with one tag"),
    KEY(pl_l1_config, sector, "sector", U64, "B", 16, 128, "sector: smallest unit of a fill"),
    KEY(pl_l1_config, ways, "ways", U32, "", 1, 1024, "ways"),
    KEY(pl_l1_config, latency, "latency", U32, CY, 1, 1000, "cycles of a load that hits"),
    KEY(pl_l1_config, miss, "miss", U32, CY, 1, 1000,
        "cycles from issue until the request of a miss leaves the SM"),
    KEY(pl_l1_config, store_buffer_hold, "store_buffer_hold", U32, CY, 1, 1000,
        "cycles from issue until a store leaves the SM; other stores to its line are merged until "
        "then"),
    OPTIONAL(pl_l1_config, store_buffer_partial, "store_buffer_partial", U32, "", 0, 64,
             "entries of `store_buffer_lines` that a line with 8 or 16-bit stores takes; 0: one, "
             "as for words"),
    KEY(pl_l1_config, local_hold, "local_hold", U32, CY, 1, 1000,
        "the same for a store to local memory"),
    KEY(pl_l1_config, fill, "fill", U32, CY, 1, 1000,
        "cycles from the arrival of data until the waiting warp can use it"),
    KEY(pl_l1_config, mshr, "mshr", U32, "", 1, 65536, "maximum line requests of an SM in flight"),
    OPTIONAL(pl_l1_config, mshr_sectors, "mshr_sectors", U32, "", 0, 65536,
             "outstanding sectors of an SM below which another load can start; 0: unlimited"),
    KEY(pl_l1_config, outstanding_stores, "outstanding_stores", U32, "", 1, 65536,
        "maximum store and atomic requests of an SM in flight"),
    KEY(pl_l1_config, backlog, "backlog", U32, CY, 0, 65536,
        "cycles of queued stores and reductions at the SM's port to the L2 above which further "
        "accesses wait before the tag lookup"),
    KEY(pl_l1_config, exit_drain_limit, "exit_drain_limit", U32, "", 1, 65536,
        "outstanding requests of an SM that count as sent: a warp exits when all of its own do"),
    KEY(pl_l1_config, lsu_queue, "lsu_queue", U32, "", 1, 64,
        "accesses that have read their registers and wait for the tag lookup"),
    KEY(pl_l1_config, store_buffer_lines, "store_buffer_lines", U32, "", 1, 64,
        "lines that the store buffer holds for merging"),
    KEY(pl_l1_config, tags, "tags", U32, "", 1, 64, "tag lookups of a warp's access per cycle"),
    OPTIONAL(pl_l1_config, tag_bank_hash0, "tag_bank_hash0", U32, "", 0, UINT32_MAX,
             "mask of line number bits whose parity is the lower bit of the tag bank (four banks, "
             "one lookup per cycle each); 0: no bank conflicts"),
    OPTIONAL(pl_l1_config, tag_bank_hash1, "tag_bank_hash1", U32, "", 0, UINT32_MAX,
             "mask of line number bits whose parity is the upper bit of that bank"),
    OPTIONAL(pl_l1_config, store_pass, "store_pass", F64, CY, 0, 100,
             "cycles that a store occupies the banks in addition to one for each pass"),
    KEY(pl_l1_config, pass_latency, "pass_latency", U32, CY, 0, 100,
        "additional latency for each further pass through the banks"),
    KEY(pl_l1_config, width, "width", U32, "B/cycle", 1, 1024, "data bandwidth of the L1"),
    KEY(pl_l1_config, texture, "texture", U32, CY, 0, 10000,
        "additional latency of a texture or surface fetch"),
    OPTIONAL(pl_l1_config, texture_lanes, "texture_lanes", U32, "", 0, 32,
             "lanes that the SM's texture units serve per cycle, twice as many with integer "
             "coordinates; 0: unlimited"),
    OPTIONAL(pl_l1_config, texture_width, "texture_width", U32, "B/cycle", 0, 1024,
             "texel bandwidth of these units, half of it for filtered texels of four 32-bit "
             "components; 0: unlimited"),
    OPTIONAL(pl_l1_config, texture_result, "texture_result", U32, CY, 0, 100,
             "cycles between two results of a sub-core of up to two components; multiplied by the "
             "number of components if there are more"),
    OPTIONAL(pl_l1_config, texture_component, "texture_component", U32, CY, 0, 100,
             "additional latency for each further component"),
    KEY(pl_l1_config, header, "header", U32, CY, 0, 100000,
        "latency of an SM's first access to the descriptor of a texture or surface"),
    {.key = "global",
     .type = PL_CONF_WORD,
     .unit = "",
     .offset = offsetof(pl_l1_config, global),
     .words = "sectors lines bypass",
     .about = "treatment of ordinary loads from global memory: sectors: lookup by sectors; lines: "
              "lookup by lines, and a miss fills the whole line; bypass: not cached, as .cg and "
              "volatile loads are on all machines"},
    {.key = "allocate",
     .type = PL_CONF_WORD,
     .unit = "",
     .offset = offsetof(pl_l1_config, allocate),
     .words = "loads all evict",
     .about = "accesses to global memory that allocate a line: loads: only loads, not stores; all: "
              "later loads hit stored data, as always in local memory; evict: only loads, and a "
              "store evicts its line"},
    OPTIONAL(pl_l1_config, read_only, "read_only", U32, "", 0, 1,
             "1: read-only loads (ld.global.nc) are cached although global loads bypass the L1 "
             "(the read-only cache of Kepler)"),
    OPTIONAL(pl_l1_config, evict_last_share, "evict_last_share", F64, "", 0, 1,
             "fraction of it that lines with the priority evict_last may occupy; 0: all"),
};
#define MEM(member, name, kind, unit_, lo, hi, text)                                               \
    KEY(pl_memsys_config, member, name, kind, unit_, lo, hi, text)
static const pl_conf_key xbar_keys[] = {
    MEM(groups, "groups", U32, "", 1, 64,
        "groups of SMs (GPCs) that share an output port of the crossbar"),
    MEM(coalescers, "coalescers", U32, "", 1, 1024,
        "sets of SMs within which a read merges with an identical one in flight; as many as SMs: "
        "no merging"),
    OPTIONAL(pl_memsys_config, max_merged, "read_merge", U32, "", 0, 255,
             "maximum SMs that share a merged read; 0: all of a set"),
    OPTIONAL(pl_memsys_config, max_code_merged, "code_merge", U32, "", 0, 255,
             "the same for reads of code and constants"),
    MEM(xbar_latency, "latency", U32, CY, 1, 1000, "cycles through the crossbar, one way"),
    MEM(far_latency, "partition_latency", U32, CY, 0, 1000,
        "cycles between the halves of the L2, one way"),
    MEM(slice_distance, "slice_distance", U32, CY, 0, 1000,
        "additional cycles to the farthest slice, round trip"),
    MEM(partitions, "partitions", U32, "", 1, 2, "halves of the L2"),
    MEM(far_atomic_bytes, "far_atomic", F64, "B/cycle", 1, 65536,
        "bandwidth for operands of atomics from one half to the other"),
    MEM(owner_bytes, "partition_interleave", U64, "B", 128, 1073741824,
        "contiguous bytes that belong to the same half"),
    MEM(up_bytes, "sm_to_xbar", F64, "B/cycle", 1, 4096, "bandwidth from an SM into the crossbar"),
    MEM(down_bytes, "xbar_to_sm", F64, "B/cycle", 1, 4096,
        "bandwidth from the crossbar into an SM"),
    MEM(l1_down_bytes, "l1_down", F64, "B/cycle", 1, 4096,
        "bandwidth from the crossbar into the L1 of an SM"),
    MEM(partial_packet, "partial_packet", F64, CY, 0, 100,
        "minimum cycles of an SM's port for each sector that a store writes only in part, plus "
        "once more"),
    MEM(group_down_bytes, "group_down", F64, "B/cycle", 1, 65536,
        "bandwidth from the crossbar into a group"),
    MEM(header_bytes, "header", U32, "B", 1, 128, "size of a request without data"),
    MEM(up_atomic_bytes, "up_atomic", F64, "B/cycle", 1, 4096,
        "bandwidth from an SM into the crossbar for operands of atomics"),
    MEM(atomic_packet, "atomic_packet", F64, CY, 0, 100,
        "cycles of an SM's port for each serialised operation of an atomic"),
    OPTIONAL(pl_memsys_config, atomic_bank_packet, "atomic_bank_packet", F64, CY, 0, 100,
             "the same for lanes whose words are in different banks; 0: no distinction"),
    MEM(reduce_packet, "reduce_packet", F64, CY, 0, 100,
        "cycles of an SM's port for each serialised operation of a reduction"),
};
static const pl_conf_key l2_keys[] = {
    MEM(l2_bytes, "size", U64, "B", 1024, 1073741824, "capacity"),
    MEM(slices, "slices", U32, "", 1, 512, "slices, each with its own port"),
    MEM(l2_ways, "ways", U32, "", 1, 64, "ways"),
    MEM(l2_latency, "latency", U32, CY, 1, 1000,
        "cycles from the arrival of a request at a slice until its data leave, on a hit"),
    MEM(slice_bytes, "slice", F64, "B/cycle", 1, 1024, "bandwidth of a slice"),
    MEM(slice_request, "request", F64, CY, 0, 1000, "minimum cycles of a slice for a request"),
    OPTIONAL(pl_memsys_config, write, "write", F64, CY, 0, 1000,
             "minimum cycles of a slice for each sector written; 0: as for reads"),
    OPTIONAL(pl_memsys_config, write_read_delay, "write_read_delay", U32, CY, 0, 10000,
             "cycles from the arrival of a write at a slice until a read of its line can leave it; "
             "0: no extra delay"),
    OPTIONAL(pl_memsys_config, partial_next, "partial_next", F64, CY, 0, 1000,
             "additional cycles for each sector after the first of a store that writes its sectors "
             "only in part"),
    MEM(partial_write, "partial_write", F64, CY, 0, 1000,
        "minimum cycles of a slice for a store that writes its sectors only in part"),
    OPTIONAL(
        pl_memsys_config, l2_persisting, "persisting", U64, "B", 0, 1073741824,
        "bytes that lines with the priority evict_last may occupy; 0: the priority has no effect"),
    MEM(l2_fill_sectors, "fill_sectors", U32, "", 1, 4,
        "sectors that are fetched from memory at once"),
    MEM(atomic_sector[PL_ALU_INT], "atomic_int", F64, CY, 0, 1000,
        "cycles of a slice for each further sector of 32-bit integer atomics"),
    MEM(atomic_sector[PL_ALU_WIDE], "atomic_wide", F64, CY, 0, 1000,
        "the same for 64-bit integers and compare-and-swap"),
    MEM(atomic_sector[PL_ALU_FLOAT], "atomic_float", F64, CY, 0, 1000,
        "the same for floating-point numbers"),
    MEM(atomic_op_cost[PL_ALU_INT], "atomic_op_int", F64, CY, 0, 1000,
        "cycles of a slice for each operation of a 32-bit integer atomic on the most contended "
        "address"),
    MEM(atomic_op_cost[PL_ALU_WIDE], "atomic_op_wide", F64, CY, 0, 1000,
        "the same for 64-bit integers and compare-and-swap"),
    MEM(atomic_op_cost[PL_ALU_FLOAT], "atomic_op_float", F64, CY, 0, 1000,
        "the same for floating-point numbers"),
    OPTIONAL(pl_memsys_config, atomic_word_cost, "atomic_extra_word", F64, CY, 0, 1000,
             "cycles for each further 4 bytes of a floating-point operation"),
    OPTIONAL(pl_memsys_config, atomic_queue_limit, "atomic_queue_limit", U32, CY, 0, 100000,
             "cycles of queued atomics of a slice above which later requests wait for them; 0: "
             "unlimited"),
    OPTIONAL(pl_memsys_config, l2_fill, "fill", F64, CY, 0, 1000,
             "cycles of a slice for each sector of a fill"),
    MEM(atomic_line_interval, "atomic_line_reuse", F64, CY, 0, 1000,
        "cycles from the first operation of an atomic with a result on a line until the next one "
        "can modify it"),
    MEM(atomic_address_interval[PL_ALU_INT], "atomic_same_address_int", F64, CY, 0, 1000,
        "cycles between 32-bit integer atomics on the same address"),
    MEM(atomic_address_interval[PL_ALU_WIDE], "atomic_same_address_wide", F64, CY, 0, 1000,
        "the same for 64-bit integers and compare-and-swap"),
    MEM(atomic_address_interval[PL_ALU_FLOAT], "atomic_same_address_float", F64, CY, 0, 1000,
        "the same for floating-point numbers"),
};
static const pl_conf_key tlb_keys[] = {
    OPTIONAL(pl_memsys_config, page_bytes, "page", U64, "B", 0, 1099511627776,
             "memory that one translation covers"),
    OPTIONAL(pl_memsys_config, page_walk, "walk", U32, CY, 0, 1000000,
             "additional latency of the first access to a page under ptxloom exec; 0: none"),
};
static const pl_conf_key link_keys[] = {
    OPTIONAL(pl_memsys_config, link_latency, "latency", U32, CY, 0, 1000000,
             "additional latency of a read of pinned memory"),
    OPTIONAL(pl_memsys_config, link_read, "read", F64, "B/cycle", 0, 65536,
             "read bandwidth of pinned memory; if absent, it is treated as device memory"),
    OPTIONAL(pl_memsys_config, link_write, "write", F64, "B/cycle", 0, 65536, "write bandwidth"),
    OPTIONAL(pl_memsys_config, link_min_bytes, "min_read", U32, "B", 0, 4096,
             "minimum bytes of a read"),
};
static const pl_conf_key dram_keys[] = {
    MEM(dram.channels, "channels", U32, "", 1, 1024, "channels, each with its own data bus"),
    {.key = "map",
     .type = PL_CONF_WORD,
     .unit = "",
     .offset = offsetof(pl_memsys_config, dram.map),
     .words = "hashed interleaved",
     .optional = true,
     .about =
         "mapping of addresses to channels and slices of the L2: hashed; or interleaved: 256 bytes "
         "each in round-robin order, so that strides of a multiple of that may use only a few "
         "of them (partition camping)"},
    MEM(dram.banks, "banks", U32, "", 1, 1024, "banks of a channel"),
    MEM(dram.row_bytes, "row", U32, "B", 64, 65536, "size of a row"),
    MEM(dram.atom_bytes, "atom", U32, "B", 16, 256, "minimum transfer"),
    OPTIONAL(pl_memsys_config, dram.ecc_ratio, "ecc_ratio", U32, "B", 0, 1024,
             "bytes of data for each byte of check bits in the same memory (ECC); a write of part "
             "of a sector reads the sector first; 0: no ECC"),
    MEM(dram.bytes_per_cycle, "width", F64, "B/cycle", 0.1, 65536,
        "bandwidth of all channels together, per SM cycle"),
    MEM(dram.latency, "latency", U32, CY, 1, 5000,
        "cycles from a slice to the data of an open row, round trip"),
    MEM(dram.t_rp_rcd, "row_miss", U32, CY, 0, 1000,
        "additional cycles to close and open a row (precharge and activate)"),
    MEM(dram.t_rc, "row_cycle", U32, CY, 0, 1000, "cycles between two activations of one bank"),
    MEM(dram.t_rrd, "activate", F64, CY, 0, 1000, "cycles between two activations in one channel"),
    MEM(dram.refresh_interval, "refresh_interval", U32, CY, 0, 1000000,
        "cycles between refreshes of a bank; 0: none"),
    MEM(dram.refresh_time, "refresh_time", U32, CY, 0, 100000, "cycles of a refresh"),
    MEM(dram.refresh_free_bytes, "refresh_free", U64, "B", 0, 1u << 30,
        "bytes that a launch accesses first: their banks are not in refresh at first"),
    MEM(dram.turnaround, "turnaround", U32, CY, 0, 1000,
        "bus cycles lost between reads and writes"),
    OPTIONAL(pl_memsys_config, dram.row_lookahead, "row_lookahead", U32, "", 0, PL_DRAM_PLANNED,
             "row activations of a bank that an access can still use, the most recent ones; 0: "
             "one, and accesses to its row do not wait"),
    OPTIONAL(pl_memsys_config, dram.write_batch, "write_batch", U32, "", 0, 1024,
             "writes that a channel batches; 0: each on arrival"),
};
static const pl_conf_key sync_keys[] = {
    KEY(pl_sync_config, barrier, "barrier", U32, CY, 1, 1000,
        "cycles from the last arrival at a block barrier to the next issue"),
    KEY(pl_sync_config, barrier_warp, "barrier_warp", U32, CY, 0, 100,
        "cycles of the barrier unit for each arriving warp"),
    KEY(pl_sync_config, barrier_reduce, "barrier_reduce", U32, CY, 0, 1000,
        "additional cycles of a barrier that returns a result"),
    KEY(pl_sync_config, cluster, "cluster", U32, CY, 1, 5000,
        "cycles from the last arrival at a cluster barrier, after its fence, to the next issue"),
    KEY(pl_sync_config, fence_cta, "fence_cta", U32, CY, 0, 5000,
        "cycles of a fence at block scope"),
    KEY(pl_sync_config, fence_gpu, "fence_gpu", U32, CY, 0, 5000,
        "cycles of a fence at cluster or gpu scope"),
    OPTIONAL(pl_sync_config, fence_near, "fence_near", U32, CY, 0, 5000,
             "the same if the SM has accessed the L2 since the previous fence"),
    OPTIONAL(pl_sync_config, fence_far, "fence_far", U32, CY, 0, 5000,
             "the same if it has accessed the far half of the L2"),
    KEY(pl_sync_config, fence_drain, "fence_drain", U32, CY, 0, 5000,
        "minimum cycles from the last reply to preceding accesses to the end of such a fence"),
    KEY(pl_sync_config, fence_sys, "fence_sys", U32, CY, 0, 50000,
        "cycles of a fence at system scope"),
    KEY(pl_sync_config, fence_proxy, "fence_proxy", U32, CY, 0, 5000,
        "cycles of a fence between the generic and the asynchronous proxy"),
    KEY(pl_sync_config, sleep, "sleep", U32, CY, 1, 10000, "cycles of nanosleep with 0"),
    OPTIONAL(pl_sync_config, fence_cta_interval, "fence_cta_interval", F64, CY, 0, 1000,
             "cycles between two fences of an SM, at block scope"),
    OPTIONAL(pl_sync_config, fence_gpu_interval, "fence_gpu_interval", F64, CY, 0, 1000,
             "the same at GPU scope, if the SM has not accessed the L2 since the previous fence"),
    OPTIONAL(pl_sync_config, fence_sys_interval, "fence_sys_interval", F64, CY, 0, 1000,
             "the same at system scope"),
    OPTIONAL(pl_sync_config, sleep_interval, "sleep_interval", F64, CY, 0, 1000,
             "cycles between two warps of an SM that execute nanosleep"),
    KEY(pl_sync_config, mbarrier, "mbarrier", U32, CY, 1, 1000,
        "cycles of an operation on an mbarrier"),
    KEY(pl_sync_config, mbarrier_arrive, "mbarrier_arrive", U32, CY, 0, 1000,
        "cycles that an arrival at an mbarrier occupies the shared memory"),
};
static const pl_conf_key driver_keys[] = {
    OPTIONAL(pl_driver_config, print, "print", U32, CY, 0, 1000000,
             "cycles of printf for a warp, in addition to print_interval"),
    OPTIONAL(pl_driver_config, print_lane, "print_lane", U32, CY, 0, 100000,
             "additional cycles for each lane that prints"),
    OPTIONAL(pl_driver_config, print_first, "print_first", U32, CY, 0, 1000000,
             "additional cycles of the first printf of a launch: its code is not cached"),
    OPTIONAL(pl_driver_config, print_interval, "print_interval", U32, CY, 0, 1000000,
             "cycles between two warps of the GPU that print"),
    OPTIONAL(pl_driver_config, alloc, "alloc", U32, CY, 0, 1000000,
             "cycles of malloc for a warp, in addition to those of its lanes"),
    OPTIONAL(pl_driver_config, alloc_lane, "alloc_lane", U32, CY, 0, 1000000,
             "cycles for each lane; the lanes of a warp are served sequentially"),
    OPTIONAL(pl_driver_config, alloc_byte, "alloc_byte", F64, CY, 0, 1000,
             "additional cycles for each byte that a lane requests"),
    OPTIONAL(pl_driver_config, alloc_interval, "alloc_interval", U32, CY, 0, 1000000,
             "cycles between two lanes of the GPU that are served"),
    OPTIONAL(pl_driver_config, alloc_interval_byte, "alloc_interval_byte", F64, CY, 0, 1000,
             "additional cycles for each byte"),
    OPTIONAL(pl_driver_config, alloc_small, "alloc_small", U32, "B", 0, 1048576,
             "larger requests get whole pages, which takes as long as a request of 80 bytes"),
    OPTIONAL(pl_driver_config, free, "free", U32, CY, 0, 1000000,
             "cycles of free for a warp, in addition to those of its lanes"),
    OPTIONAL(pl_driver_config, free_lane, "free_lane", U32, CY, 0, 1000000, "cycles for each lane"),
    OPTIONAL(pl_driver_config, free_interval, "free_interval", U32, CY, 0, 1000000,
             "cycles between two lanes of the GPU that are served"),
};
static const pl_conf_key async_keys[] = {
    KEY(pl_async_config, copy, "copy", U32, CY, 0, 1000,
        "additional latency of cp.async over a load"),
    KEY(pl_async_config, bulk, "bulk", U32, CY, 0, 10000,
        "cycles before a bulk copy sends its first request"),
    KEY(pl_async_config, bulk_line, "bulk_line", U32, CY, 1, 1000,
        "cycles between line requests of a bulk copy"),
    KEY(pl_async_config, bulk_store, "bulk_store", U32, CY, 0, 10000,
        "cycles before a bulk copy out of shared memory sends its first line"),
    KEY(pl_async_config, bulk_store_line, "bulk_store_line", U32, CY, 1, 1000,
        "cycles between its lines"),
    KEY(pl_async_config, bulk_store_end, "bulk_store_end", U32, CY, 0, 10000,
        "cycles from its last line until it is complete"),
    OPTIONAL(pl_async_config, bulk_lane, "bulk_lane", U32, CY, 0, 1000,
             "cycles between the copies of two lanes of a warp"),
    OPTIONAL(pl_async_config, bulk_lane_issues, "bulk_lane_issues", U32, "", 0, 100,
             "instructions for each lane after the first"),
    KEY(pl_async_config, tensor, "tensor", U32, CY, 0, 10000,
        "additional cycles of a tensor copy, for its descriptor"),
};
/* Times and rates on the application's clock. */
#define DEVICE_NS(field, text) OPTIONAL(pl_device_config, field, #field, F64, "ns", 0, 1e9, text)
#define DEVICE_RATE(field, text)                                                                   \
    OPTIONAL(pl_device_config, field, #field, F64, "GB/s", 0, 1e9, text)
static const pl_conf_key device_keys[] = {
    OPTIONAL(pl_device_config, name, "name", PL_CONF_TEXT, "", 0, 0,
             "name of the device, as reported to programs"),
    OPTIONAL(pl_device_config, memory, "memory", U64, "B", 0, 0, "global memory"),
    OPTIONAL(pl_device_config, memory_clock, "memory_clock", F64, "MHz", 0, 100000,
             "clock of the memory, as reported to programs"),
    OPTIONAL(pl_device_config, bus_width, "bus_width", U32, "", 0, 65536,
             "bits of the memory bus, as reported to programs"),
    OPTIONAL(pl_device_config, copy_engines, "copy_engines", U32, "", 0, 16,
             "copy engines that transfer between host and device while kernels run"),
    DEVICE_NS(host_call, "host time of a call that no other key covers"),
    DEVICE_NS(host_launch, "host time of a kernel launch into a stream"),
    DEVICE_NS(host_copy, "the same for an asynchronous copy"),
    DEVICE_NS(host_set, "the same for a memset"),
    DEVICE_NS(host_event, "the same for recording an event"),
    DEVICE_NS(host_graph, "the same for a graph launch"),
    DEVICE_NS(host_graph_root, "additional time for each root node of the graph after the first"),
    DEVICE_NS(host_wait,
              "time from the completion of what the host waits for until the host continues"),
    DEVICE_NS(host_alloc, "host time of an allocation"),
    DEVICE_NS(host_free, "host time of freeing memory"),
    DEVICE_NS(launch, "time from the end of a kernel to the start of the next one in its stream"),
    DEVICE_NS(graph_start, "time from the launch of a graph until its first node starts"),
    DEVICE_NS(graph_node, "time from the end of a kernel to the start of the next one in a graph"),
    DEVICE_NS(event, "time of recording an event in its stream"),
    DEVICE_NS(host_function, "time of a host function in its stream, in addition to its own time"),
    DEVICE_NS(host_function_next, "the same for a host function that directly follows another one"),
    DEVICE_NS(to_device_start,
              "time of a copy from pinned memory to the device in addition to that of its bytes"),
    DEVICE_NS(from_device_start, "the same in the other direction"),
    DEVICE_RATE(pinned_rate, "rate of such copies"),
    DEVICE_RATE(duplex_rate, "rate of such a copy while one in the other direction is in progress"),
    DEVICE_NS(
        pageable_to_start,
        "time of a copy from pageable host memory to the device in addition to that of its bytes"),
    DEVICE_RATE(pageable_to_rate, "rate of such copies"),
    DEVICE_NS(pageable_from_start, "the same as pageable_to_start in the other direction"),
    DEVICE_RATE(pageable_from_rate, "rate of such copies"),
    DEVICE_NS(copy_start, "time of a copy within the device in addition to that of its bytes"),
    DEVICE_NS(copy_min, "minimum time of such a copy"),
    DEVICE_RATE(copy_rate, "rate of such copies"),
    DEVICE_NS(set_start, "time of a memset in addition to that of its bytes"),
    DEVICE_NS(set_small, "time of a memset of less than 16 KiB"),
    DEVICE_NS(set_min, "minimum time of a larger one"),
    DEVICE_RATE(set_rate, "rate of memsets"),
    DEVICE_NS(host_peer, "host time of enabling access to the memory of another device"),
    DEVICE_NS(peer_start, "time of a copy to another device over the link between them in addition "
                          "to that of its bytes"),
    DEVICE_RATE(peer_rate,
                "rate of such copies in each direction; if absent, devices have no peer access"),
    DEVICE_NS(staged_start, "time of a copy to another device staged through host memory in "
                            "addition to that of its bytes"),
    DEVICE_RATE(staged_rate, "rate of such copies"),
    DEVICE_RATE(staged_duplex_rate,
                "rate of such a copy while one in the other direction is in progress"),
    OPTIONAL(pl_device_config, migrate_ramp, "migrate_ramp", F64, "B", 0, 1e9,
             "managed memory migrates at a lower rate up to this many bytes; if absent, migration "
             "takes no time"),
    DEVICE_NS(fault_start, "additional time of a kernel that accesses managed memory not resident "
                           "on its device, in addition to that of its bytes"),
    DEVICE_RATE(
        fault_ramp_rate,
        "rate at which such accesses migrate pages that the host has written, up to migrate_ramp"),
    DEVICE_RATE(fault_rate, "the same above migrate_ramp"),
    DEVICE_RATE(fault_new_ramp_rate,
                "rate at which they create pages that were never written, up to migrate_ramp"),
    DEVICE_RATE(fault_new_rate, "the same above migrate_ramp"),
    DEVICE_NS(host_prefetch, "host time of a prefetch"),
    DEVICE_NS(prefetch_start, "time of a prefetch to a device in addition to that of its bytes"),
    DEVICE_RATE(prefetch_rate, "rate of such prefetches"),
    DEVICE_NS(prefetch_new_start, "the same for pages that were never written"),
    DEVICE_RATE(prefetch_new_ramp_rate, "rate of these up to migrate_ramp"),
    DEVICE_RATE(prefetch_new_rate, "the same above migrate_ramp"),
    DEVICE_NS(prefetch_host_start,
              "time of a prefetch to the host in addition to that of its bytes"),
    DEVICE_RATE(prefetch_host_ramp_rate, "rate of such prefetches up to migrate_ramp"),
    DEVICE_RATE(prefetch_host_rate, "the same above migrate_ramp"),
};
static const pl_conf_key launch_keys[] = {
    KEY(pl_launch_config, start, "start", U32, CY, 0, 1000000,
        "cycles from the launch until the first block can be placed"),
    KEY(pl_launch_config, block_start, "block_start", U32, CY, 1, 100000,
        "cycles from placing a block until its warps can issue"),
    KEY(pl_launch_config, warp_interval, "warp_interval", F64, CY, 0, 1000,
        "cycles between two warp starts of a TPC, whose blocks start sequentially; of the whole "
        "GPU without sms_per_tpc"),
    OPTIONAL(pl_launch_config, block_interval, "block_interval", F64, CY, 0, 10000,
             "minimum cycles between two block starts there"),
    OPTIONAL(pl_launch_config, warp_each, "warp_each", F64, CY, 0, 100,
             "cycles between two warps of a block that start to issue"),
    KEY(pl_launch_config, warp_end, "warp_end", U32, CY, 0, 10000,
        "cycles from an exit until the warp is removed"),
    KEY(pl_launch_config, block_end, "block_end", U32, CY, 0, 100000,
        "cycles from the exit of a block's last warp until its slot is free"),
    KEY(pl_launch_config, retire_interval, "retire_interval", F64, CY, 0, 1000,
        "cycles between two block retirements, whole GPU"),
    KEY(pl_launch_config, end, "end", U32, CY, 0, 1000000,
        "cycles from the retirement of the last block until the launch ends, unless its writes "
        "take longer"),
    OPTIONAL(pl_launch_config, end_each, "end_each", F64, CY, 0, 1000,
             "additional cycles for each SM that had blocks"),
    KEY(pl_launch_config, l2_requests, "l2_requests", U32, "", 0, 1000000,
        "single-sector L2 requests of a launch in addition to those of its program, for counters "
        "only"),
    OPTIONAL(pl_launch_config, l2_reads, "l2_reads", U32, "", 0, 1000000,
             "L2 sectors that a launch reads in addition to its code, for counters only"),
    OPTIONAL(pl_launch_config, l2_writes, "l2_writes", U32, "", 0, 1000000,
             "L2 sectors that a launch itself writes, for counters only"),
    OPTIONAL(pl_launch_config, l2_reply_overhead, "l2_reply_overhead", F64, "", 0, 10,
             "additional single-sector requests for each L2 sector that the SMs access, at most "
             "two for each SM and slice, for counters only"),
    OPTIONAL(pl_launch_config, code_reads, "code_reads", U32, "", 0, 1000,
             "L2 reads of a kernel's code by a launch, for counters only"),
    OPTIONAL(pl_launch_config, dram_sectors, "dram_sectors", U32, "", 0, 1000000,
             "sectors that a launch reads from memory in addition to the kernel's code, for "
             "counters only; 0: neither is counted"),
    OPTIONAL(pl_launch_config, sms_per_tpc, "sms_per_tpc", U32, "", 0, 64,
             "SMs of a TPC: the last blocks of a grid, fewer than there are SMs, are spread over "
             "groups and TPCs; 0: SMs are filled in the order of their numbers"),
    OPTIONAL(pl_launch_config, first_gpc_bias, "first_gpc_bias", U32, "", 0, 4096,
             "SMs of the first group that get blocks before all others"),
    OPTIONAL(pl_launch_config, cluster_sms, "cluster_sms", PL_CONF_LIST, "", 1, 4096,
             "SMs of each part of the GPU that can hold a cluster, for the number of clusters that "
             "run at once; if absent, the groups"),
    KEY(pl_launch_config, grid_x, "grid_x", U32, "", 1, 2147483647,
        "maximum blocks of a grid in x"),
};
#define PIPE_WORD(name, word, shared, text) word " "
static const pl_conf_key op_keys[] = {
    {.key = "pipe",
     .type = PL_CONF_WORD,
     .unit = "",
     .offset = offsetof(pl_op_cost, pipe),
     .words = PL_PIPES(PIPE_WORD) "none",
     .about = "unit that executes it"},
    KEY(pl_op_cost, interval, "interval", F64, CY, 0, 10000,
        "cycles that a warp instruction occupies the unit"),
    KEY(pl_op_cost, latency, "latency", U32, CY, 0, 10000, "cycles until its result can be used"),
    OPTIONAL(pl_op_cost, cross_pipe_latency, "cross_pipe_latency", U32, CY, 0, 10000,
             "latency that the stall counts of other kinds of instructions assume, although the "
             "hardware holds them until the result is available; 0: the latency"),
    OPTIONAL(
        pl_op_cost, warp_reissue, "warp_reissue", U32, CY, 0, 10000,
        "cycles until the same warp can use the unit again; other warps can after the interval"),
    OPTIONAL(pl_op_cost, operand, "operand", U32, CY, 0, 255,
             "additional latency if a second operand is in a register: for a shuffle, the lane"),
};

/* Sections, their keys, and their offsets in pl_machine. */
static const struct section {
    const char *name;
    const pl_conf_key *keys;
    size_t n, offset;
} sections[] = {
#define SECTION(name, keys, member)                                                                \
    {                                                                                              \
        name, keys, sizeof keys / sizeof *keys, offsetof(pl_machine, member)                       \
    }
    {"machine", machine_keys, sizeof machine_keys / sizeof *machine_keys, 0},
    SECTION("sm", sm_keys, sm),
    SECTION("issue", issue_keys, issue),
    SECTION("fetch", fetch_keys, fetch),
    SECTION("constant", const_keys, constant),
    SECTION("shared", shared_keys, shared),
    SECTION("l1", l1_keys, l1),
    SECTION("xbar", xbar_keys, mem),
    SECTION("l2", l2_keys, mem),
    SECTION("tlb", tlb_keys, mem),
    SECTION("link", link_keys, mem),
    SECTION("dram", dram_keys, mem),
    SECTION("sync", sync_keys, sync),
    SECTION("driver", driver_keys, driver),
    SECTION("async", async_keys, async),
    SECTION("launch", launch_keys, launch),
    SECTION("device", device_keys, device),
};
#define NSECTIONS (sizeof sections / sizeof *sections)

static const char *const op_words[] = {
#define X(name, word, text) word,
    PL_OPS(X)
#undef X
};
static const char *const pipe_words[] = {
#define X(name, word, shared, text) word,
    PL_PIPES(X)
#undef X
};

const pl_conf_key *pl_machine_keys(const char *section, size_t *n)
{
    for (size_t i = 0; i < NSECTIONS; i++) {
        if (strcmp(sections[i].name, section) != 0) continue;
        *n = sections[i].n;
        return sections[i].keys;
    }
    if (strncmp(section, "op.", 3) == 0) {
        *n = sizeof op_keys / sizeof *op_keys;
        return op_keys;
    }
    *n = 0;
    return NULL;
}

/* --- prices --- */

static int word_index(const char *const *words, size_t n, const char *s, size_t len)
{
    for (size_t i = 0; i < n; i++) {
        if (strlen(words[i]) == len && strncmp(words[i], s, len) == 0) return (int)i;
    }
    return -1;
}

static bool occupy_pipe(pl_price *p, int pipe, double cycles, uint32_t n)
{
    if (cycles <= 0) return true;
    for (uint32_t i = 0; i < p->npipes; i++) {
        if (p->pipe[i].pipe != pipe) continue;
        p->pipe[i].cycles = (uint16_t)(p->pipe[i].cycles + cycles + 0.5);
        p->pipe[i].n = (uint8_t)(p->pipe[i].n + n);
        return true;
    }
    if (p->npipes == sizeof p->pipe / sizeof *p->pipe) return false;
    p->pipe[p->npipes].pipe = (uint8_t)pipe;
    p->pipe[p->npipes].cycles = (uint16_t)(cycles + 0.5);
    p->pipe[p->npipes].n = (uint8_t)n;
    p->npipes++;
    return true;
}

/* "alu*9 imad*4 xu*3 @130": hardware instructions with their counts. "tensor:6" occupies a unit for
 * this many cycles without an instruction. "@130" is the total latency; without it, the latencies
 * are summed. "-" means nothing. Returns NULL, or a description of the error. */
static const char *read_price(const pl_machine *m, const char *s, pl_price *p)
{
    uint32_t sum = 0, issue_slots = 0, cross_latency = 0;
    long latency = -1;
    *p = (pl_price){0};
    while (*s) {
        while (isspace((unsigned char)*s)) s++;
        const char *word = s;
        while (*s && !isspace((unsigned char)*s) && *s != '*' && *s != ':') s++;
        size_t len = (size_t)(s - word);
        if (len == 0) break;
        if (len == 1 && *word == '-') continue;
        if (*word == '@') {
            latency = strtol(word + 1, NULL, 10);
            if (latency < 0 || latency > 100000) return "a latency is @ and a number of cycles";
            continue;
        }
        long n = 1;
        char kind = *s;
        if (kind == '*' || kind == ':') {
            char *end;
            n = strtol(s + 1, &end, 10);
            if (end == s + 1 || n < 0 || n > 10000) return "a count is a number from 0 to 10000";
            s = end;
        }
        if (kind == ':') {
            int pipe = word_index(pipe_words, PL_PIPE_COUNT, word, len);
            if (pipe < 0)
                return "the word before ':' must be a unit: alu fma heavy half fp64 xu tensor "
                       "uniform branch lsu mio adu";
            if (!occupy_pipe(p, pipe, (double)n, issue_slots ? issue_slots : 1))
                return "too many different units";
            continue;
        }
        int op = word_index(op_words, PL_OP_COUNT, word, len);
        if (op < 0)
            return "the words are hardware instructions: alu fma imad wide half fp64 xu xu64 shfl "
                   "vote redux sreg clock mem branch issue";
        const pl_op_cost *c = &m->op[op];
        p->issues += (uint32_t)n;
        if (op == PL_OP_ISSUE) issue_slots += (uint32_t)n; /* issues for units occupied by ':' */
        if (op == PL_OP_BRANCH) p->branches += (uint32_t)n;
        sum += (uint32_t)n * c->latency;
        if (c->pipe < PL_PIPE_COUNT &&
            !occupy_pipe(p, c->pipe, (double)n * c->interval, (uint32_t)n))
            return "too many different units";
        if (c->pipe == PL_PIPE_HEAVY && !occupy_pipe(p, PL_PIPE_FMA, (double)n, (uint32_t)n))
            return "too many different units";
        p->warp_reissue += (uint32_t)n * c->warp_reissue;
        cross_latency = c->cross_pipe_latency;
        if (c->pipe == PL_PIPE_XU || c->pipe == PL_PIPE_MIO || c->pipe == PL_PIPE_ADU ||
            c->pipe == PL_PIPE_LSU)
            p->variable = true;
    }
    p->latency = latency >= 0 ? (uint32_t)latency : sum;
    p->cross_pipe_latency =
        p->issues == 1 && latency < 0 && cross_latency ? cross_latency : p->latency;
    p->ends = p->branches > 0 && latency > 0;
    return NULL;
}

/* Parses one [price] line; false with a diagnostic. */
static bool read_price_line(const pl_machine *m, pl_diags *d, const pl_conf_entry *e, pl_price *out)
{
    const char *wrong = read_price(m, e->value, out);
    if (wrong) pl_report(d, PL_E0513, e->value_at, e->key, e->value, wrong);
    return !wrong;
}

/* Reads the [price] lines of one file for the classes that have no price yet. Lines for classes
 * that no row of the table uses (yet) are only checked for syntax; a misspelt name leaves a class
 * without a price. */
static bool read_prices(pl_machine *m, pl_conf *c, pl_diags *d, bool *priced, bool own)
{
    bool ok = true, *read = pl_arena_array(c->arena, bool, c->entry.n + 1); /* by entry */
    if (!read) return false;
    for (unsigned k = 0; k < C_count; k++) {
        const pl_conf_entry *e = pl_conf_find(c, "price", pl_class_text[k]);
        if (!e || priced[k]) continue;
        priced[k] = read[e - c->entry.at] = true;
        ok &= read_price_line(m, d, e, &m->price[k]);
    }
    if (!own) return ok;
    struct {
        pl_conf_key *at;
        size_t n, cap;
    } keys = {0};
    for (size_t k = 0; k < c->entry.n; k++) {
        const pl_conf_entry *e = &c->entry.at[k];
        pl_price unused;
        if (strcmp(e->section, "price") != 0) continue;
        if (!read[k]) ok &= read_price_line(m, d, e, &unused);
        *pl_push(c->arena, &keys) = (pl_conf_key){.key = e->key,
                                                  .type = PL_CONF_TEXT,
                                                  .unit = "",
                                                  .about = "hardware instructions of the class",
                                                  .offset = keys.n * sizeof(char *)};
    }
    const char **text = pl_arena_array(c->arena, const char *, keys.n + 1);
    if (!pl_arena_ok(c->arena)) return false;
    if (keys.n) ok &= pl_conf_bind(c, "price", keys.at, keys.n, text);
    return ok;
}

/* A class without a price uses that of the class named in its row of classes.isa. */
static void inherit_prices(pl_machine *m, bool *priced)
{
    for (unsigned k = 0; k < C_count; k++) {
        const uint16_t other = pl_classes[k].price_as;
        if (priced[k] || other == C_count || !priced[other]) continue;
        m->price[k] = m->price[other];
        priced[k] = true;
    }
}

/* --- files --- */

typedef struct text {
    const char *name, *text;
    size_t size;
} text;

static char *alloc_unguarded(pl_arena *a, size_t bytes)
{
    PL_UNGUARDED;
    return pl_arena_alloc(a, bytes);
}

static bool read_file(pl_arena *a, const char *path, text *out)
{
    FILE *f = fopen(path, "rb");
    if (!f) return false;
    size_t n = 0, cap = 1u << 20;
    char *buf = alloc_unguarded(a, cap);
    if (buf) n = fread(buf, 1, cap - 1, f);
    fclose(f);
    if (!buf) {
        pl_guard_fail();
        return false;
    }
    *out = (text){pl_arena_strdup(a, path), buf, n};
    return true;
}

/* Finds the text of a machine; reports an error if there is none. */
static bool find_text(pl_arena *a, pl_diags *d, const char *name, const char *search_path,
                      text *out)
{
    size_t len = strlen(name);
    if (strchr(name, '/') || (len > 5 && strcmp(name + len - 5, ".conf") == 0)) {
        if (read_file(a, name, out)) return true;
    } else {
        for (const char *p = search_path; p && *p;) {
            size_t n = strcspn(p, ":");
            if (n && read_file(a, pl_arena_printf(a, "%.*s/%s.conf", (int)n, p, name), out))
                return true;
            p += n + (p[n] == ':');
        }
        for (const pl_machine_text *t = pl_machine_texts; t->name; t++) {
            if (strcmp(t->name, name) != 0) continue;
            *out = (text){pl_arena_printf(a, "%s.conf", name), t->text, t->size};
            return true;
        }
    }
    pl_diag *x = pl_report(d, PL_E0515, (pl_loc){0}, name);
    char *known = pl_arena_strdup(a, "built-in machines are");
    for (const pl_machine_text *t = pl_machine_texts; t->name; t++)
        known = pl_arena_printf(a, "%s %s", known, t->name);
    x->help = known;
    return false;
}

/* Relations between keys that no single range can express. */
static bool check_consistency(const pl_machine *m, pl_diags *d, const pl_conf *c)
{
    bool ok = true;
#define CHECK(cond, section, key, why)                                                             \
    if (!(cond)) {                                                                                 \
        const pl_conf_entry *e = pl_conf_find(c, section, key);                                    \
        pl_report(d, PL_E0510, e ? e->value_at : (pl_loc){0}, key, e ? e->value : "", why);        \
        ok = false;                                                                                \
    }
    CHECK(m->sm.lanes == PL_LANES || m->sm.lanes == PL_MAX_HALVES * PL_LANES, "sm", "lanes",
          "a warp has 32 lanes, or 64 in two halves")
    CHECK(m->sm.warps % m->sm.subcores == 0, "sm", "warps",
          "every sub-core holds the same number of warps")
    CHECK(m->l1.line % m->l1.sector == 0 && m->l1.line / m->l1.sector <= 8, "l1", "sector",
          "a line has one to eight sectors")
    CHECK((m->l1.line & (m->l1.line - 1)) == 0, "l1", "line", "a line is a power of two")
    CHECK((m->fetch.line & (m->fetch.line - 1)) == 0, "fetch", "line", "a line is a power of two")
    CHECK(m->fetch.line <= m->l1.line, "fetch", "line",
          "an instruction line is not longer than a line of the L2")
    CHECK((m->constant.line & (m->constant.line - 1)) == 0, "constant", "line",
          "a line is a power of two")
    CHECK(m->constant.line <= m->l1.line, "constant", "line",
          "a constant line is not longer than a line of the L2")
    CHECK(m->shared.carveouts.n > 0, "shared", "carveouts", "at least one size is needed")
    uint64_t largest = 0;
    for (uint32_t i = 0; i < m->shared.carveouts.n; i++)
        if (m->shared.carveouts.at[i] > largest) largest = m->shared.carveouts.at[i];
    CHECK(largest + m->l1.reserved < m->l1.size, "shared", "carveouts",
          "some storage must remain for the L1")
    CHECK(m->mem.dram.map != PL_MAP_INTERLEAVED ||
              (m->mem.slices % m->mem.dram.channels == 0 && m->mem.partitions == 1 &&
               m->l1.line <= PL_CHANNEL_BYTES),
          "dram", "map",
          "with map = interleaved, each channel has the same number of slices, and the L2 is not "
          "split")
    CHECK(!m->mem.page_walk || m->mem.page_bytes, "tlb", "page", "a translation covers memory")
    CHECK(m->mem.groups <= m->sm.count, "xbar", "groups", "a group has at least one SM")
    CHECK(m->launch.first_gpc_bias <= m->sm.count / (m->mem.groups ? m->mem.groups : 1), "launch",
          "first_gpc_bias", "it cannot exceed the SMs of the first group")
#undef CHECK
    return ok;
}

/* Why "SECTION.KEY=VALUE" changes nothing; key: its part before '='. */
static const char *no_such_key(pl_arena *a, const pl_conf *c, const char *change, const char *key)
{
    const char *dot = strrchr(key, '.');
    const char *section = dot ? pl_arena_strndup(a, key, (size_t)(dot - key)) : "";
    const char *now = dot ? pl_conf_new_name(c, section, dot + 1) : NULL;
    const char **names = pl_arena_array(a, const char *, c->entry.n + 1);
    for (size_t k = 0; names && k < c->entry.n; k++)
        names[k] = pl_arena_printf(a, "%s.%s", c->entry.at[k].section, c->entry.at[k].key);
    const char *near = !now && names && pl_arena_ok(a) ? pl_nearest(key, names, c->entry.n) : NULL;
    if (near && strcmp(near, key) != 0) return pl_arena_printf(a, "did you mean '%s'?", near);
    return now ? pl_arena_printf(a, "the key '%s' is called '%s.%s' now", key, section, now)
               : pl_arena_printf(a,
                                 "'%s' is no SECTION.KEY=VALUE of that machine; `ptxloom explain "
                                 "SECTION.KEY` lists them",
                                 change);
}

/* "NAME,SECTION.KEY=VALUE,...": these values override the file's, in the units of the file. */
static bool override_values(pl_arena *a, pl_diags *d, pl_conf *c, const char *name,
                            const char *changes)
{
    while (*changes) {
        const char *end = changes + strcspn(changes, ","),
                   *equal = memchr(changes, '=', (size_t)(end - changes));
        const char *change = pl_arena_strndup(a, changes, (size_t)(end - changes)),
                   *key = equal ? pl_arena_strndup(a, changes, (size_t)(equal - changes)) : change;
        pl_conf_entry *found = NULL;
        for (size_t k = 0; equal && k < c->entry.n; k++) {
            pl_conf_entry *e = &c->entry.at[k];
            if (strcmp(pl_arena_printf(a, "%s.%s", e->section, e->key), key) == 0) found = e;
        }
        if (!found) {
            pl_diag *x = pl_report(d, PL_E0515, (pl_loc){.file = UINT32_MAX}, name);
            x->help = no_such_key(a, c, change, key);
            return false;
        }
        found->value = pl_arena_strndup(a, equal + 1, (size_t)(end - equal - 1));
        found->value_at =
            (pl_loc){.file = UINT32_MAX}; /* its place in the file has another value */
        found->provenance = PL_CHOSEN;
        found->source = "on the command line";
        changes = end + (*end == ',');
    }
    return true;
}

/* Reads the file of a machine, completed by the one that its key `like` names. */
static pl_conf *read_conf(pl_arena *a, pl_diags *d, const char *name, const char *search_path,
                          bool *ok)
{
    pl_conf *c = NULL, *base = NULL;
    text t;
    if (!find_text(a, d, name, search_path, &t)) return NULL;
    *ok = pl_conf_read(a, d, t.name, t.text, t.size, &c) == PL_OK;
    const pl_conf_entry *like = c ? pl_conf_find(c, "machine", "like") : NULL;
    if (!like) return c;
    if (!find_text(a, d, like->value, search_path, &t)) return NULL;
    *ok &= pl_conf_read(a, d, t.name, t.text, t.size, &base) == PL_OK;
    const pl_conf_entry *nested = base ? pl_conf_find(base, "machine", "like") : NULL;
    if (nested) {
        pl_report(d, PL_E0508, like->value_at, like->key, like->value,
                  "a machine that is not itself like another");
        return NULL;
    }
    if (base) pl_conf_complete(c, base);
    return c;
}

pl_machine *pl_machine_load(pl_arena *a, pl_diags *d, const char *name, const char *search_path)
{
    pl_conf *other = NULL;
    bool ok = true;
    size_t name_length = strcspn(name, ",");
    pl_conf *c = read_conf(a, d, pl_arena_strndup(a, name, name_length), search_path, &ok);
    if (c) pl_conf_set_renames(c, renamed_keys, sizeof renamed_keys / sizeof *renamed_keys);
    if (!c || !override_values(a, d, c, name, name + name_length + (name[name_length] == ',')))
        return NULL;
    pl_machine *m = pl_arena_new(a, pl_machine);
    m->price = pl_arena_array(a, pl_price, C_count);
    bool *priced = pl_arena_array(a, bool, C_count);
    if (!pl_arena_ok(a)) return NULL;
    m->name = pl_arena_strdup(a, name);
    m->conf = c;
    for (size_t i = 0; i < NSECTIONS; i++)
        ok &= pl_conf_bind(c, sections[i].name, sections[i].keys, sections[i].n,
                           (char *)m + sections[i].offset);
    for (unsigned k = 0; k < PL_OP_COUNT; k++) {
        m->op[k].pipe = PL_PIPE_COUNT;
        if (k == PL_OP_ISSUE) continue;
        ok &= pl_conf_bind(c, pl_arena_printf(a, "op.%s", op_words[k]), op_keys,
                           sizeof op_keys / sizeof *op_keys, &m->op[k]);
    }
    if (ok) {
        ok = check_consistency(m, d, c);
        ok &= read_prices(m, c, d, priced, true);
    } else {
        pl_conf_skip(c, "price");
    }
    if (ok && m->like) {
        text u;
        ok = find_text(a, d, m->like, search_path, &u) &&
             pl_conf_read(a, d, u.name, u.text, u.size, &other) == PL_OK &&
             read_prices(m, other, d, priced, false);
    }
    inherit_prices(m, priced);
    for (unsigned k = 0; ok && k < C_count; k++) {
        if (priced[k]) continue;
        pl_report(d, PL_E0514, (pl_loc){.file = c->file}, pl_class_text[k], m->name);
    }
    for (unsigned k = 0; k < C_count; k++) ok &= priced[k];
    if (!pl_conf_report_unknown(c)) ok = false;
    if (!ok) return NULL;
    if (!m->issue.interval) m->issue.interval = 1;
    m->mem.nodes = m->sm.count;
    m->mem.line_bytes = (uint32_t)m->l1.line;
    m->mem.sector_bytes = (uint32_t)m->l1.sector;
    m->mem.in_flight = m->sm.count * (m->l1.mshr + m->l1.outstanding_stores + 512);
    return m;
}
