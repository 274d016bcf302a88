/* machine.c - parses arch/NAME.conf into a pl_machine: key tables, prices, checks.
 *
 * To add a key: a member in machine.h, a row here, a line in every file of arch/. A missing or
 * unknown key is an error with a source position. */
#include "arch/machine.h"
#include "arch/builtin_machines.h"
#include "base/event.h"
#include "base/guard.h"
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
    {"constant", "first_turn", "first_use_turn"},
    {"constant", "guarded", "predicated_latency"},
    {"fetch", "near", "l2_near"},
    {"fetch", "near_turn", "l2_near_turn"},
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
};

static const pl_conf_key machine_keys[] = {
    KEY(pl_machine, title, "title", PL_CONF_TEXT, "", 0, 0, "name of the product"),
    KEY(pl_machine, capability, "capability", U32, "", 20, 200,
        "compute capability times ten: 90 for 9.0"),
    KEY(pl_machine, clock_mhz, "clock", F64, "MHz", 1, 100000,
        "SM clock; all cycles are cycles of this clock"),
    {.key = "like",
     .type = PL_CONF_TEXT,
     .unit = "",
     .offset = offsetof(pl_machine, base),
     .optional = true,
     .about = "a machine whose file says what this one leaves out"},
    {.key = "prices_like",
     .type = PL_CONF_TEXT,
     .unit = "",
     .offset = offsetof(pl_machine, like),
     .optional = true,
     .about = "machine whose [price] lines hold for classes that this file does not price"},
};
static const pl_conf_key sm_keys[] = {
    KEY(pl_sm_config, count, "count", U32, "", 1, 1024, "streaming multiprocessors of the GPU"),
    KEY(pl_sm_config, subcores, "subcores", U32, "", 1, 8,
        "sub-cores of an SM, each with a warp scheduler"),
    KEY(pl_sm_config, lanes, "lanes", U32, "", 1, 1024,
        "threads of a warp, which execute together"),
    KEY(pl_sm_config, warps, "warps", U32, "", 1, 64, "warps that an SM can hold"),
    KEY(pl_sm_config, blocks, "blocks", U32, "", 1, 64, "blocks that an SM can hold"),
    KEY(pl_sm_config, threads, "threads", U32, "", 32, 4096, "threads that an SM can hold"),
    KEY(pl_sm_config, registers, "registers", U32, "", 1024, 1048576, "32-bit registers of an SM"),
    KEY(pl_sm_config, register_unit, "register_unit", U32, "", 32, 4096,
        "registers are allocated to a warp in multiples of this"),
    KEY(pl_sm_config, registers_thread, "registers_thread", U32, "", 16, 512,
        "most registers of a thread"),
    KEY(pl_sm_config, warp_unit, "warp_unit", U32, "", 1, 8,
        "warps of a block are allocated in multiples of this"),
    KEY(pl_sm_config, barriers, "barriers", U32, "", 16, 1024, "block barriers that an SM has"),
    OPTIONAL(pl_sm_config, register_banks, "register_banks", U32, "", 0, PL_REGISTER_BANKS,
             "banks of a sub-core's registers, each read once a cycle; 0: instructions never wait "
             "for them"),
};
static const pl_conf_key issue_keys[] = {
    {.key = "policy",
     .type = PL_CONF_WORD,
     .unit = "",
     .offset = offsetof(pl_issue_config, policy),
     .words = "youngest oldest round_robin youngest_block",
     .about = "which ready warp issues when the one that issued last cannot continue: youngest, "
              "oldest, round_robin, or, of the youngest_block, the one "
              "that has not issued for longest"},
    KEY(pl_issue_config, width, "width", U32, "", 1, 4,
        "instructions a scheduler can issue in a cycle"),
    OPTIONAL(pl_issue_config, interval, "interval", U32, CY, 0, 16,
             "cycles between two issues of a scheduler; 0: one"),
    OPTIONAL(pl_issue_config, replay, "replay", U32, "", 0, 16,
             "issues of the scheduler that each further pass or line of a memory access takes "
             "(instruction replay, up to Kepler)"),
    KEY(pl_issue_config, guard_latency, "guard_latency", U32, CY, 0, 100,
        "further cycles before a computed predicate can guard an instruction or decide a branch"),
    KEY(pl_issue_config, cross, "cross", U32, CY, 0, 100,
        "further cycles from a result of the ALU to the multiply-add pipe, and back"),
    KEY(pl_issue_config, far, "far", U32, CY, 0, 100,
        "further cycles from the ALU and the multiply-add pipe to the packed and f64 pipes, and "
        "back"),
    KEY(pl_issue_config, queued, "queued", U32, CY, 0, 100,
        "further cycles before an instruction that waits in a queue (memory, exchange, special "
        "function) can take a result"),
    KEY(pl_issue_config, high, "high", U32, CY, 0, 100,
        "further cycles before such an instruction can take the high half of a result that is two "
        "instructions"),
    OPTIONAL(pl_issue_config, drain, "drain", U32, CY, 0, 100,
             "further cycles until a result is in its register: a block of code ends after that, "
             "a call and a reconvergence follow it; 0: they do not wait"),
    KEY(pl_issue_config, branch, "branch", U32, CY, 1, 100,
        "stall count of a branch: until the next instruction if it is not taken"),
    OPTIONAL(pl_issue_config, stall_most, "stall_most", U32, CY, 0, 100,
             "greatest stall count: after a matrix instruction whose reader has to wait longer "
             "stand empty ones; 0: none do"),
    OPTIONAL(pl_issue_config, exit, "exit", U32, CY, 0, 100,
             "cycles until a warp's exit is resolved; 0: as of a branch"),
    OPTIONAL(pl_issue_config, refetch, "refetch", U32, CY, 0, 100,
             "cycles in which a sub-core fetches the instructions of a warp that a branch has led "
             "elsewhere"),
    KEY(pl_issue_config, jump, "jump", U32, CY, 1, 1000,
        "cycles after the stall count of a branch, call or return to an address in a register"),
    KEY(pl_issue_config, jump_each, "jump_each", U32, CY, 1, 100,
        "cycles that such an address takes, one after the other on an SM"),
    OPTIONAL(pl_issue_config, join_each, "join_each", U32, CY, 0, 100,
             "cycles that a meeting of lanes takes there"),
    OPTIONAL(pl_issue_config, rejoin, "rejoin", U32, CY, 0, 1000,
             "cycles until lanes that meet find that a call has saved their barrier and given it "
             "back, and meet once more"),
    OPTIONAL(pl_issue_config, yield, "yield", U32, CY, 0, 1000,
             "cycles after the stall count until a warp that lets other lanes run continues"),
    KEY(pl_issue_config, divergence, "divergence", U32, CY, 0, 200,
        "further cycles when the lanes of a warp part at a branch"),
    KEY(pl_issue_config, memory, "memory", U32, CY, 1, 100,
        "cycles from a memory instruction of a warp to its next one"),
    KEY(pl_issue_config, mio_queue, "mio_queue", U32, "", 1, 64,
        "instructions of a sub-core that may wait for shared memory, special functions and "
        "exchanges"),
    KEY(pl_issue_config, lg_queue, "lg_queue", U32, "", 1, 64,
        "instructions of a sub-core that may wait for the global and local memory path"),
    OPTIONAL(pl_issue_config, read, "read", U32, CY, 0, 100,
             "cycles from leaving such a queue until an instruction has read its registers, less "
             "those of its way to the unit"),
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
        "cycles between two lines that enter the cache of a sub-core"),
    KEY(pl_fetch_config, l0_prefetch, "l0_prefetch", U32, "", 0, 64,
        "lines that are brought into the cache of a sub-core ahead of time"),
    KEY(pl_fetch_config, l1_size, "l1_size", U64, "B", 128, 16777216, "instruction cache of an SM"),
    KEY(pl_fetch_config, l1_ways, "l1_ways", U32, "", 1, 64, "its ways"),
    KEY(pl_fetch_config, prefetch, "prefetch", U32, "", 0, 64, "lines fetched ahead of a miss"),
    OPTIONAL(pl_fetch_config, launch, "launch", U64, "B", 0, 1048576,
             "code that the launch brings near to the SMs"),
    OPTIONAL(pl_fetch_config, l2_near, "l2_near", U32, CY, 0, 1000,
             "cycles from a miss until the instruction cache of an SM has such a line"),
    OPTIONAL(pl_fetch_config, l2_near_turn, "l2_near_turn", F64, CY, 0, 1000,
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
        "cycles of a pass of an indexed read, one of the whole SM at a time"),
    KEY(pl_const_config, pass_latency, "pass_latency", U32, CY, 0, 100,
        "further cycles of latency for each further pass"),
    KEY(pl_const_config, width, "width", U32, "B", 1, 256,
        "bytes that one pass of an indexed read serves"),
    KEY(pl_const_config, l15_size, "l15_size", U64, "B", 64, 16777216,
        "second-level constant cache of an SM"),
    KEY(pl_const_config, l15_line, "l15_line", U64, "B", 32, 4096,
        "bytes that it fetches together for an operand of an instruction"),
    KEY(pl_const_config, l15_ways, "l15_ways", U32, "", 1, 64, "its ways"),
    KEY(pl_const_config, l15_latency, "l15_latency", U32, CY, 1, 1000,
        "cycles of a load that hits there"),
    KEY(pl_const_config, predicated_latency, "predicated_latency", U32, CY, 1, 1000,
        "cycles of a parameter fetched under a guard, also when the guard is off"),
    KEY(pl_const_config, first_use, "first_use", U32, CY, 0, 10000,
        "cycles until a sub-core has a line of a kernel's parameters, from its first read of them"),
    OPTIONAL(pl_const_config, first_use_turn, "first_use_turn", F64, CY, 0, 1000,
             "cycles between two such lines for each SM of the group that has blocks"),
};
static const pl_conf_key shared_keys[] = {
    KEY(pl_shared_config, per_sm, "per_sm", U64, "B", 0, 1048576, "shared memory of an SM at most"),
    KEY(pl_shared_config, per_block, "per_block", U64, "B", 0, 1048576,
        "shared memory of a block at most"),
    KEY(pl_shared_config, reserved, "reserved", U64, "B", 0, 65536,
        "bytes of every block that the system keeps"),
    KEY(pl_shared_config, unit, "unit", U64, "B", 1, 65536,
        "shared memory is allocated in multiples of this"),
    KEY(pl_shared_config, carveouts, "carveouts", PL_CONF_LIST, "B", 0, 1048576,
        "sizes of shared memory that an SM can be set to; the rest of the storage is L1"),
    KEY(pl_shared_config, carveout_room, "carveout_room", U32, "", 1, 16,
        "an SM is set to hold shared memory for so many times the blocks that it holds"),
    KEY(pl_shared_config, carveout_half, "carveout_half", U64, "B", 0, 1048576,
        "but beyond this only to what they need"),
    KEY(pl_shared_config, carveout_idle, "carveout_idle", U64, "B", 0, 1048576,
        "the same for kernels that use no shared memory themselves"),
    KEY(pl_shared_config, banks, "banks", U32, "", 1, 64, "banks"),
    KEY(pl_shared_config, bank, "bank", U32, "B", 1, 16, "width of a bank"),
    KEY(pl_shared_config, rows, "rows", U32, "", 1, 4,
        "neighbouring rows of the banks that one pass opens: 2 on Kepler with banks of 4 bytes, "
        "where words n and n + 32 come together"),
    KEY(pl_shared_config, latency, "latency", U32, CY, 1, 500,
        "cycles of a conflict-free 32-bit load"),
    KEY(pl_shared_config, pass_latency, "pass_latency", U32, CY, 0, 100,
        "further cycles of latency for each further pass"),
    KEY(pl_shared_config, pass, "pass", U32, CY, 1, 100,
        "cycles that a pass holds the banks of the SM"),
    KEY(pl_shared_config, link_pass, "link_pass", U32, CY, 1, 100,
        "cycles that a pass, or a register of a store, holds the link to its sub-core"),
    KEY(pl_shared_config, atomic_latency, "atomic_latency", U32, CY, 1, 1000,
        "cycles of a conflict-free shared atomic"),
    KEY(pl_shared_config, atomic_pass, "atomic_pass", U32, CY, 1, 1000,
        "cycles for each lane that wants one and the same address"),
    KEY(pl_shared_config, atomic_loop, "atomic_loop", U32, CY, 1, 1000,
        "cycles of a round of the loop that atomics on 32-bit floats are, where it is one "
        "instruction (-O0)"),
    KEY(pl_shared_config, atomic_loop_wide, "atomic_loop_wide", U32, CY, 1, 1000,
        "the same for 64 bits"),
    KEY(pl_shared_config, cast_latency, "cast_latency", U32, CY, 1, 1000,
        "cycles of the compare-and-swap of such a loop"),
    KEY(pl_shared_config, cast_wide, "cast_wide", U32, CY, 1, 1000, "the same for 64 bits"),
    KEY(pl_shared_config, cast_pass, "cast_pass", U32, CY, 1, 100,
        "cycles of the banks for it; twice as many for 64 bits"),
    KEY(pl_shared_config, remote_latency, "remote_latency", U32, CY, 1, 5000,
        "cycles of a load from another SM of the cluster"),
    KEY(pl_shared_config, remote_pass, "remote_pass", U32, CY, 0, 100,
        "cycles of the link of an SM for one sector to or from another SM"),
    KEY(pl_shared_config, matrix_latency, "matrix_latency", U32, CY, 1, 500,
        "cycles of a conflict-free matrix load"),
};
static const pl_conf_key l1_keys[] = {
    KEY(pl_l1_config, size, "size", U64, "B", 1024, 4194304,
        "storage of an SM for L1 and shared memory together"),
    KEY(pl_l1_config, reserved, "reserved", U64, "B", 0, 1048576, "part of it that is neither"),
    KEY(pl_l1_config, line, "line", U64, "B", 32, 256, "line: one tag"),
    KEY(pl_l1_config, sector, "sector", U64, "B", 16, 128, "sector: smallest part that is fetched"),
    KEY(pl_l1_config, ways, "ways", U32, "", 1, 1024, "ways"),
    KEY(pl_l1_config, latency, "latency", U32, CY, 1, 1000, "cycles of a load that hits"),
    KEY(pl_l1_config, miss, "miss", U32, CY, 1, 1000,
        "cycles from issue until the request of a miss leaves the SM"),
    KEY(pl_l1_config, store_buffer_hold, "store_buffer_hold", U32, CY, 1, 1000,
        "cycles from issue until a store leaves the SM: others to its line join it until then"),
    OPTIONAL(pl_l1_config, store_buffer_partial, "store_buffer_partial", U32, "", 0, 64,
             "places among `store_buffer_lines` of a line to which bytes or halves are stored; 0: "
             "one, as of words"),
    KEY(pl_l1_config, local_hold, "local_hold", U32, CY, 1, 1000,
        "the same for a store to local memory"),
    KEY(pl_l1_config, fill, "fill", U32, CY, 1, 1000,
        "cycles from the arrival of data until the waiting warp can use it"),
    KEY(pl_l1_config, mshr, "mshr", U32, "", 1, 65536,
        "line requests of an SM that can be in flight"),
    OPTIONAL(pl_l1_config, mshr_sectors, "mshr_sectors", U32, "", 0, 65536,
             "sectors on their way to an SM with which another load may begin; 0: any"),
    KEY(pl_l1_config, outstanding_stores, "outstanding_stores", U32, "", 1, 65536,
        "store and atomic requests of an SM that can be in flight"),
    KEY(pl_l1_config, backlog, "backlog", U32, CY, 0, 65536,
        "cycles of stores and reductions that wait for the SM's port to the L2 before others wait "
        "before the tags"),
    KEY(pl_l1_config, exit_drain_limit, "exit_drain_limit", U32, "", 1, 65536,
        "of those, how many have left the SM at most: a warp ends when its own have"),
    KEY(pl_l1_config, lsu_queue, "lsu_queue", U32, "", 1, 64,
        "accesses that have read their registers and wait for the tags"),
    KEY(pl_l1_config, store_buffer_lines, "store_buffer_lines", U32, "", 1, 64,
        "lines that wait for further stores"),
    KEY(pl_l1_config, tags, "tags", U32, "", 1, 64,
        "lines of a warp's access that are looked up in a cycle"),
    OPTIONAL(pl_l1_config, tag_bank_hash0, "tag_bank_hash0", U32, "", 0, UINT32_MAX,
             "bits of the number of a line whose parity is the lower bit of the bank that its tag "
             "is in: of four, each looks up one in a cycle; 0: any four"),
    OPTIONAL(pl_l1_config, tag_bank_hash1, "tag_bank_hash1", U32, "", 0, UINT32_MAX,
             "bits of the number of a line whose parity is the upper bit of that bank"),
    OPTIONAL(pl_l1_config, store_pass, "store_pass", F64, CY, 0, 100,
             "cycles that a store holds the banks beyond a cycle for each pass"),
    KEY(pl_l1_config, pass_latency, "pass_latency", U32, CY, 0, 100,
        "further cycles of latency for each further pass through the banks"),
    KEY(pl_l1_config, width, "width", U32, "B/cycle", 1, 1024, "data that the L1 delivers"),
    KEY(pl_l1_config, texture, "texture", U32, CY, 0, 10000,
        "further cycles of latency of a fetch from a texture or surface"),
    OPTIONAL(pl_l1_config, texture_lanes, "texture_lanes", U32, "", 0, 32,
             "lanes that the SM's texture units serve in a cycle, twice as many where coordinates "
             "are whole; 0: any number"),
    OPTIONAL(pl_l1_config, texture_width, "texture_width", U32, "B/cycle", 0, 1024,
             "texels that they read, half of it where four components of 32 bits are filtered; 0: "
             "any number"),
    OPTIONAL(pl_l1_config, texture_result, "texture_result", U32, CY, 0, 100,
             "cycles from one result of a sub-core to the next, of up to two components; of more "
             "as many times that as there are"),
    OPTIONAL(pl_l1_config, texture_component, "texture_component", U32, CY, 0, 100,
             "further cycles of latency for each further component"),
    KEY(pl_l1_config, header, "header", U32, CY, 0, 100000,
        "cycles until an SM has the description of a texture or surface that it uses first"),
    {.key = "global",
     .type = PL_CONF_WORD,
     .unit = "",
     .offset = offsetof(pl_l1_config, global),
     .words = "sectors lines bypass",
     .about =
         "what an ordinary load of global memory does here: sectors: looks for its sectors; "
         "lines: looks for its lines, and a miss brings "
         "all of a line; bypass: continues to the L2, as .cg and volatile loads do everywhere"},
    {.key = "allocate",
     .type = PL_CONF_WORD,
     .unit = "",
     .offset = offsetof(pl_l1_config, allocate),
     .words = "loads all evict",
     .about = "which accesses of global memory give a line a place here: loads: only they, what is "
              "stored passes; all: what was stored is found by "
              "later loads (those of local memory always do); evict: only loads, and a store "
              "removes what is there of its line"},
    OPTIONAL(pl_l1_config, read_only, "read_only", U32, "", 0, 1,
             "1: where loads of global memory pass, loads of read-only data (ld.global.nc) do not "
             "(the read-only cache of Kepler)"),
    OPTIONAL(pl_l1_config, evict_last_share, "evict_last_share", F64, "", 0, 1,
             "part of it that lines with the priority evict_last may keep; 0: all"),
};
#define MEM(member, name, kind, unit_, lo, hi, text)                                               \
    KEY(pl_memsys_config, member, name, kind, unit_, lo, hi, text)
static const pl_conf_key xbar_keys[] = {
    MEM(groups, "groups", U32, "", 1, 64,
        "groups of SMs (GPCs) that share an output port of the crossbar"),
    MEM(coalescers, "coalescers", U32, "", 1, 1024,
        "sets of SMs within which a read merges with an equal one in flight; as many as SMs: "
        "none does"),
    OPTIONAL(pl_memsys_config, max_merged, "read_merge", U32, "", 0, 255,
             "most SMs that share such a read; 0: all of a set"),
    OPTIONAL(pl_memsys_config, max_code_merged, "code_joined", U32, "", 0, 255,
             "the same for reads of code and constants"),
    MEM(xbar_latency, "latency", U32, CY, 1, 1000, "cycles through the crossbar, one way"),
    MEM(far_latency, "partition_latency", U32, CY, 0, 1000,
        "cycles between the halves of the L2, one way"),
    MEM(slice_distance, "slice_distance", U32, CY, 0, 1000,
        "further cycles to the slice that is farthest away, there and back"),
    MEM(partitions, "partitions", U32, "", 1, 2, "halves of the L2"),
    MEM(far_atomic_bytes, "far_atomic", F64, "B/cycle", 1, 65536,
        "operands of atomics that go from one half to the other"),
    MEM(owner_bytes, "partition_interleave", U64, "B", 128, 1073741824,
        "neighbouring addresses that belong to one half together"),
    MEM(up_bytes, "sm_to_xbar", F64, "B/cycle", 1, 4096, "width from an SM into the crossbar"),
    MEM(down_bytes, "xbar_to_sm", F64, "B/cycle", 1, 4096, "width from the crossbar into an SM"),
    MEM(l1_down_bytes, "l1_down", F64, "B/cycle", 1, 4096,
        "width from the crossbar into the L1 of an SM"),
    MEM(partial_packet, "partial_packet", F64, CY, 0, 100,
        "least cycles of an SM's port for each sector that a store fills only in part, and for one "
        "more"),
    MEM(group_down_bytes, "group_down", F64, "B/cycle", 1, 65536,
        "width from the crossbar into a group"),
    MEM(header_bytes, "header", U32, "B", 1, 128, "size of a request without data"),
    MEM(up_atomic_bytes, "up_atomic", F64, "B/cycle", 1, 4096,
        "width from an SM into the crossbar for operands of atomics"),
    MEM(atomic_packet, "atomic_packet", F64, CY, 0, 100,
        "cycles of an SM's port for each turn of an atomic"),
    OPTIONAL(pl_memsys_config, atomic_bank_packet, "atomic_apart", F64, CY, 0, 100,
             "the same where the words of its lanes lie in different banks; 0: as elsewhere"),
    MEM(reduce_packet, "reduce_packet", F64, CY, 0, 100,
        "cycles of an SM's port for each turn of a reduction"),
};
static const pl_conf_key l2_keys[] = {
    MEM(l2_bytes, "size", U64, "B", 1024, 1073741824, "capacity"),
    MEM(slices, "slices", U32, "", 1, 512, "slices, each with a port of its own"),
    MEM(l2_ways, "ways", U32, "", 1, 64, "ways"),
    MEM(l2_latency, "latency", U32, CY, 1, 1000,
        "cycles from the arrival of a request at a slice until its data leave, when it hits"),
    MEM(slice_bytes, "slice", F64, "B/cycle", 1, 1024, "width of a slice"),
    MEM(slice_request, "request", F64, CY, 0, 1000, "least cycles of a slice for a request"),
    OPTIONAL(pl_memsys_config, write, "write", F64, CY, 0, 1000,
             "least cycles of a slice for each sector that is written; 0: as for reads"),
    OPTIONAL(pl_memsys_config, write_read_delay, "written", U32, CY, 0, 10000,
             "cycles from the arrival of a write at a slice until data of its line can leave it; "
             "0: as for any read"),
    OPTIONAL(pl_memsys_config, partial_next, "partial_next", F64, CY, 0, 1000,
             "further cycles for each sector of such a store but the first"),
    MEM(partial_write, "partial_write", F64, CY, 0, 1000,
        "least cycles of a slice for a store that fills its sectors only in part"),
    OPTIONAL(
        pl_memsys_config, l2_persisting, "persisting", U64, "B", 0, 1073741824,
        "bytes that lines with the priority evict_last may keep; 0: that priority does nothing"),
    MEM(l2_fill_sectors, "fill_sectors", U32, "", 1, 4,
        "sectors that are fetched together from memory"),
    MEM(atomic_sector[PL_ALU_INT], "atomic_int", F64, CY, 0, 1000,
        "cycles of a slice for each further sector of 32-bit integer atomics"),
    MEM(atomic_sector[PL_ALU_WIDE], "atomic_wide", F64, CY, 0, 1000,
        "the same for 64-bit integers and compare-and-swap"),
    MEM(atomic_sector[PL_ALU_FLOAT], "atomic_float", F64, CY, 0, 1000,
        "the same for floating-point numbers"),
    MEM(atomic_op_cost[PL_ALU_INT], "turn_int", F64, CY, 0, 1000,
        "cycles of a slice for a 32-bit integer atomic: for each operation on the busiest address"),
    MEM(atomic_op_cost[PL_ALU_WIDE], "turn_wide", F64, CY, 0, 1000,
        "the same for 64-bit integers and compare-and-swap"),
    MEM(atomic_op_cost[PL_ALU_FLOAT], "turn_float", F64, CY, 0, 1000,
        "the same for floating-point numbers"),
    OPTIONAL(pl_memsys_config, atomic_word_cost, "more_float", F64, CY, 0, 1000,
             "cycles for 4 bytes more that such an operation works on together with others"),
    OPTIONAL(pl_memsys_config, atomic_queue_limit, "atomic_wait", U32, CY, 0, 100000,
             "cycles of atomics that may wait in a slice before later requests wait for them; "
             "0: any"),
    OPTIONAL(pl_memsys_config, l2_fill, "fill", F64, CY, 0, 1000,
             "cycles of a slice for each sector that it is filled with"),
    MEM(atomic_line_interval, "atomic_line_reuse", F64, CY, 0, 1000,
        "cycles from the first operation of an atomic with a result on a line until the next one "
        "can change it"),
    MEM(atomic_address_interval[PL_ALU_INT], "same_int", F64, CY, 0, 1000,
        "cycles between 32-bit integer atomics on one address"),
    MEM(atomic_address_interval[PL_ALU_WIDE], "same_wide", F64, CY, 0, 1000,
        "the same for 64-bit integers and compare-and-swap"),
    MEM(atomic_address_interval[PL_ALU_FLOAT], "same_float", F64, CY, 0, 1000,
        "the same for floating-point numbers"),
};
static const pl_conf_key tlb_keys[] = {
    OPTIONAL(pl_memsys_config, page_bytes, "page", U64, "B", 0, 1099511627776,
             "memory that one translation covers"),
    OPTIONAL(pl_memsys_config, page_walk, "walk", U32, CY, 0, 1000000,
             "further cycles of the first access to a page under ptxloom exec; 0: none"),
};
static const pl_conf_key link_keys[] = {
    OPTIONAL(pl_memsys_config, link_latency, "latency", U32, CY, 0, 1000000,
             "further cycles of a read of pinned memory"),
    OPTIONAL(pl_memsys_config, link_read, "read", F64, "B/cycle", 0, 65536,
             "rate of reads of pinned memory; without it, it is as memory of the device"),
    OPTIONAL(pl_memsys_config, link_write, "write", F64, "B/cycle", 0, 65536, "rate of writes"),
    OPTIONAL(pl_memsys_config, link_min_bytes, "least", U32, "B", 0, 4096,
             "bytes that a read takes at least"),
};
static const pl_conf_key dram_keys[] = {
    MEM(dram.channels, "channels", U32, "", 1, 1024, "channels with a data bus each"),
    {.key = "map",
     .type = PL_CONF_WORD,
     .unit = "",
     .offset = offsetof(pl_memsys_config, dram.map),
     .words = "hashed turns",
     .optional = true,
     .about = "how addresses are spread over channels and slices of the L2: hashed; or they have "
              "256 bytes each in turn, so that strides of a "
              "multiple of that may meet few of them (partition camping)"},
    MEM(dram.banks, "banks", U32, "", 1, 1024, "banks of a channel"),
    MEM(dram.row_bytes, "row", U32, "B", 64, 65536, "size of a row"),
    MEM(dram.atom_bytes, "atom", U32, "B", 16, 256, "smallest transfer"),
    OPTIONAL(pl_memsys_config, dram.ecc_ratio, "check", U32, "B", 0, 1024,
             "data for each byte of check bits in the same memory, and a write of part "
             "of a sector reads it first (ECC); 0: none"),
    MEM(dram.bytes_per_cycle, "width", F64, "B/cycle", 0.1, 65536,
        "bandwidth of all channels together, per SM cycle"),
    MEM(dram.latency, "latency", U32, CY, 1, 5000,
        "cycles from a slice to the data of an open row and back"),
    MEM(dram.t_rp_rcd, "row_miss", U32, CY, 0, 1000, "further cycles to close and open a row"),
    MEM(dram.t_rc, "row_cycle", U32, CY, 0, 1000, "cycles between two openings in one bank"),
    MEM(dram.t_rrd, "activate", F64, CY, 0, 1000,
        "cycles between two openings of rows in one channel"),
    MEM(dram.refresh_interval, "refresh_interval", U32, CY, 0, 1000000,
        "cycles between refreshes of a bank; 0: none"),
    MEM(dram.refresh_time, "refresh_time", U32, CY, 0, 100000, "cycles of a refresh"),
    MEM(dram.refresh_free_bytes, "refresh_awake", U64, "B", 0, 1u << 30,
        "memory that a launch uses first: none of it rests then"),
    MEM(dram.turnaround, "turnaround", U32, CY, 0, 1000,
        "bus cycles lost between reading and writing"),
    OPTIONAL(pl_memsys_config, dram.row_lookahead, "planned", U32, "", 0, PL_DRAM_PLANNED,
             "openings of rows of a bank that an access to one of them can go with, the last ones; "
             "0: one, and no access to it waits"),
    OPTIONAL(pl_memsys_config, dram.write_batch, "writes", U32, "", 0, 1024,
             "accesses of a channel that are written together; 0: each as it arrives"),
};
static const pl_conf_key sync_keys[] = {
    KEY(pl_sync_config, barrier, "barrier", U32, CY, 1, 1000,
        "cycles from the last arrival at a block barrier to the next issue"),
    KEY(pl_sync_config, barrier_warp, "barrier_warp", U32, CY, 0, 100,
        "cycles that the barrier unit needs for a warp that arrives"),
    KEY(pl_sync_config, barrier_reduce, "barrier_reduce", U32, CY, 0, 1000,
        "further cycles of a barrier that returns a result"),
    KEY(pl_sync_config, cluster, "cluster", U32, CY, 1, 5000,
        "cycles from the last arrival at a cluster barrier, its fence over, to the next issue"),
    KEY(pl_sync_config, fence_cta, "fence_cta", U32, CY, 0, 5000,
        "cycles of a fence at block scope"),
    KEY(pl_sync_config, fence_gpu, "fence_gpu", U32, CY, 0, 5000,
        "cycles of a fence at cluster or gpu scope"),
    OPTIONAL(pl_sync_config, fence_near, "fence_near", U32, CY, 0, 5000,
             "the same where the SM has asked the L2 for something since the fence before"),
    OPTIONAL(pl_sync_config, fence_far, "fence_far", U32, CY, 0, 5000,
             "the same where it has asked its other half"),
    KEY(pl_sync_config, fence_drain, "fence_drain", U32, CY, 0, 5000,
        "cycles of such a fence from the answer to the last store it waits for"),
    KEY(pl_sync_config, fence_sys, "fence_sys", U32, CY, 0, 50000,
        "cycles of a fence at system scope"),
    KEY(pl_sync_config, fence_proxy, "fence_proxy", U32, CY, 0, 5000,
        "cycles of a fence between the generic and the asynchronous proxy"),
    KEY(pl_sync_config, sleep, "sleep", U32, CY, 1, 10000, "cycles of nanosleep with 0"),
    OPTIONAL(pl_sync_config, fence_cta_each, "fence_cta_each", F64, CY, 0, 1000,
             "cycles between two fences of an SM, at block scope"),
    OPTIONAL(pl_sync_config, fence_gpu_each, "fence_gpu_each", F64, CY, 0, 1000,
             "the same at GPU scope, where none has anywhere to go"),
    OPTIONAL(pl_sync_config, fence_sys_each, "fence_sys_each", F64, CY, 0, 1000,
             "the same at system scope"),
    OPTIONAL(pl_sync_config, sleep_each, "sleep_each", F64, CY, 0, 1000,
             "cycles between two warps of an SM that go to sleep"),
    KEY(pl_sync_config, mbarrier, "mbarrier", U32, CY, 1, 1000,
        "cycles of an operation on an mbarrier"),
    KEY(pl_sync_config, mbarrier_arrive, "mbarrier_arrive", U32, CY, 0, 1000,
        "cycles that an arrival at an mbarrier holds the shared memory"),
};
static const pl_conf_key driver_keys[] = {
    OPTIONAL(pl_driver_config, print, "print", U32, CY, 0, 1000000,
             "cycles of printf for a warp, in addition to its turn"),
    OPTIONAL(pl_driver_config, print_turn, "print_turn", U32, CY, 0, 1000000,
             "cycles between two warps of the GPU that print"),
    OPTIONAL(pl_driver_config, alloc, "alloc", U32, CY, 0, 1000000,
             "cycles of malloc for a warp, in addition to those of its lanes"),
    OPTIONAL(pl_driver_config, alloc_lane, "alloc_lane", U32, CY, 0, 1000000,
             "cycles for each lane: a warp's are served one after the other"),
    OPTIONAL(pl_driver_config, alloc_byte, "alloc_byte", F64, CY, 0, 1000,
             "further cycles for each byte that a lane asks for"),
    OPTIONAL(pl_driver_config, alloc_turn, "alloc_turn", U32, CY, 0, 1000000,
             "cycles between two lanes of the GPU that are served"),
    OPTIONAL(pl_driver_config, alloc_turn_byte, "alloc_turn_byte", F64, CY, 0, 1000,
             "further cycles for each byte"),
    OPTIONAL(pl_driver_config, alloc_small, "alloc_small", U32, "B", 0, 1048576,
             "larger requests get whole pages, which takes as long as 80 bytes"),
    OPTIONAL(pl_driver_config, free, "free", U32, CY, 0, 1000000,
             "cycles of free for a warp, in addition to those of its lanes"),
    OPTIONAL(pl_driver_config, free_lane, "free_lane", U32, CY, 0, 1000000, "cycles for each lane"),
    OPTIONAL(pl_driver_config, free_turn, "free_turn", U32, CY, 0, 1000000,
             "cycles between two lanes of the GPU that are served"),
};
static const pl_conf_key async_keys[] = {
    KEY(pl_async_config, copy, "copy", U32, CY, 0, 1000,
        "cycles of cp.async beyond those of a load"),
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
             "cycles from the copy of one lane to that of the next of its warp"),
    OPTIONAL(pl_async_config, bulk_lane_issues, "bulk_lane_issues", U32, "", 0, 100,
             "instructions for each lane but the first"),
    KEY(pl_async_config, tensor, "tensor", U32, CY, 0, 10000,
        "further cycles of a tensor copy, for its descriptor"),
};
/* Times and rates on the application's clock. */
#define DEVICE_NS(field, text) OPTIONAL(pl_device_config, field, #field, F64, "ns", 0, 1e9, text)
#define DEVICE_RATE(field, text)                                                                   \
    OPTIONAL(pl_device_config, field, #field, F64, "GB/s", 0, 1e9, text)
static const pl_conf_key device_keys[] = {
    OPTIONAL(pl_device_config, name, "name", PL_CONF_TEXT, "", 0, 0,
             "name of the device, as programs see it"),
    OPTIONAL(pl_device_config, memory, "memory", U64, "B", 0, 0, "global memory"),
    OPTIONAL(pl_device_config, memory_clock, "memory_clock", F64, "MHz", 0, 100000,
             "clock of the memory, as programs see it"),
    OPTIONAL(pl_device_config, bus_width, "bus_width", U32, "", 0, 65536,
             "bits of the memory bus, as programs see it"),
    OPTIONAL(pl_device_config, copy_engines, "copy_engines", U32, "", 0, 16,
             "copy engines that transfer between host and device while kernels run"),
    DEVICE_NS(host_call, "that a call takes on the host when nothing below says more"),
    DEVICE_NS(host_launch, "that putting a kernel into a stream takes on the host"),
    DEVICE_NS(host_copy, "the same for a copy that does not wait"),
    DEVICE_NS(host_set, "the same for a memset"),
    DEVICE_NS(host_event, "the same for the record of an event"),
    DEVICE_NS(host_graph, "the same for a graph"),
    DEVICE_NS(host_graph_root, "further time for each node but the first that waits for no other"),
    DEVICE_NS(host_wait, "from the end of what the host waits for until the host continues"),
    DEVICE_NS(host_alloc, "that an allocation takes on the host"),
    DEVICE_NS(host_free, "that giving memory back takes on the host"),
    DEVICE_NS(launch, "from the end of a kernel to the beginning of the next one in its stream"),
    DEVICE_NS(graph_start, "from the launch of a graph until its first node begins"),
    DEVICE_NS(graph_node, "from the end of a kernel to the beginning of the next one in a graph"),
    DEVICE_NS(event, "that the record of an event takes of its stream"),
    DEVICE_NS(host_function,
              "that a host function takes of its stream in addition to its own time"),
    DEVICE_NS(host_function_next, "the same for a function after another one"),
    DEVICE_NS(to_device_start,
              "time of a copy from pinned memory to the device in addition to that of its bytes"),
    DEVICE_NS(from_device_start, "the same in the other direction"),
    DEVICE_RATE(pinned_rate, "rate of such copies"),
    DEVICE_RATE(duplex_rate, "rate of such a copy while one of the other direction is in progress"),
    DEVICE_NS(pageable_to_start, "time of a copy from host memory that is not pinned to the device "
                                 "in addition to that of its bytes"),
    DEVICE_RATE(pageable_to_rate, "rate of such copies"),
    DEVICE_NS(pageable_from_start, "the same as pageable_to_start in the other direction"),
    DEVICE_RATE(pageable_from_rate, "rate of such copies"),
    DEVICE_NS(copy_start, "time of a copy within the device in addition to that of its bytes"),
    DEVICE_NS(copy_least, "least time of such a copy"),
    DEVICE_RATE(copy_rate, "rate of such copies"),
    DEVICE_NS(set_start, "time of a memset in addition to that of its bytes"),
    DEVICE_NS(set_small, "time of a memset of less than 16 KiB"),
    DEVICE_NS(set_least, "least time of a larger one"),
    DEVICE_RATE(set_rate, "rate of memsets"),
    DEVICE_NS(host_peer, "that giving access to the memory of another device takes on the host"),
    DEVICE_NS(peer_start, "time of a copy to another device over the link between them in addition "
                          "to that of its bytes"),
    DEVICE_RATE(peer_rate,
                "rate of such copies, each direction; without it devices do not reach each other"),
    DEVICE_NS(staged_start, "time of a copy to another device through memory of the host in "
                            "addition to that of its bytes"),
    DEVICE_RATE(staged_rate, "rate of such copies"),
    DEVICE_RATE(staged_duplex_rate,
                "rate of such a copy while one of the other direction is in progress"),
    OPTIONAL(pl_device_config, migrate_ramp, "migrate_ramp", F64, "B", 0, 1e9,
             "managed memory moves at a lower rate up to so many bytes; without it pages move in "
             "no time"),
    DEVICE_NS(fault_start,
              "time that a kernel takes longer by accesses to managed memory which is not on its "
              "device, in addition to that of its bytes"),
    DEVICE_RATE(fault_ramp_rate,
                "rate at which such accesses move what the host has written, up to migrate_ramp"),
    DEVICE_RATE(fault_rate, "the same beyond"),
    DEVICE_RATE(fault_new_ramp_rate,
                "rate at which they create pages that were never written, up to migrate_ramp"),
    DEVICE_RATE(fault_new_rate, "the same beyond"),
    DEVICE_NS(host_prefetch, "time of the host for a prefetch"),
    DEVICE_NS(prefetch_start, "time of a prefetch to a device in addition to that of its bytes"),
    DEVICE_RATE(prefetch_rate, "rate of such prefetches"),
    DEVICE_NS(prefetch_new_start, "the same for pages that were never written"),
    DEVICE_RATE(prefetch_new_ramp_rate, "rate of these up to migrate_ramp"),
    DEVICE_RATE(prefetch_new_rate, "the same beyond"),
    DEVICE_NS(prefetch_host_start,
              "time of a prefetch to the host in addition to that of its bytes"),
    DEVICE_RATE(prefetch_host_ramp_rate, "rate of such prefetches up to migrate_ramp"),
    DEVICE_RATE(prefetch_host_rate, "the same beyond"),
};
static const pl_conf_key launch_keys[] = {
    KEY(pl_launch_config, start, "start", U32, CY, 0, 1000000,
        "cycles from the launch until the first block can be placed"),
    KEY(pl_launch_config, block_start, "block_start", U32, CY, 1, 100000,
        "cycles from placing a block until its warps can issue"),
    KEY(pl_launch_config, warp_interval, "warp_interval", F64, CY, 0, 1000,
        "cycles between two warps that are started, whole GPU or SMs together, one block after the "
        "other"),
    OPTIONAL(pl_launch_config, block_interval, "block_interval", F64, CY, 0, 10000,
             "least cycles between two blocks that are started there"),
    OPTIONAL(pl_launch_config, warp_each, "warp_each", F64, CY, 0, 100,
             "cycles from a warp of a block until the next one can issue"),
    KEY(pl_launch_config, warp_end, "warp_end", U32, CY, 0, 10000,
        "cycles from an exit until the warp has gone"),
    KEY(pl_launch_config, block_end, "block_end", U32, CY, 0, 100000,
        "cycles from the exit of a block's last warp until its place is free"),
    KEY(pl_launch_config, retire_interval, "retire_interval", F64, CY, 0, 1000,
        "cycles between two blocks whose end is noted, whole GPU"),
    KEY(pl_launch_config, end, "end", U32, CY, 0, 1000000,
        "cycles from the retirement of the last block until the launch ends, unless its writes "
        "take longer"),
    OPTIONAL(pl_launch_config, end_each, "end_each", F64, CY, 0, 1000,
             "further cycles for each SM that had blocks"),
    KEY(pl_launch_config, l2_requests, "l2_requests", U32, "", 0, 1000000,
        "requests of one sector to the L2 that a launch costs beyond those of its program, for "
        "counters only"),
    OPTIONAL(pl_launch_config, l2_reads, "l2_reads", U32, "", 0, 1000000,
             "sectors that the L2 is asked for by a launch besides its code, for counters only"),
    OPTIONAL(pl_launch_config, l2_writes, "l2_writes", U32, "", 0, 1000000,
             "sectors that a launch itself writes to the L2, for counters only"),
    OPTIONAL(pl_launch_config, l2_reply_overhead, "l2_reply_overhead", F64, "", 0, 10,
             "such requests for each sector that the SMs ask the L2 for, two for each SM and slice "
             "at most, for counters only"),
    OPTIONAL(pl_launch_config, code_reads, "code_reads", U32, "", 0, 1000,
             "times that the L2 is asked for a kernel's code, for counters only"),
    OPTIONAL(pl_launch_config, dram_sectors, "dram_sectors", U32, "", 0, 1000000,
             "sectors that a launch reads from memory besides the kernel's code, for counters "
             "only; 0: neither is counted"),
    OPTIONAL(pl_launch_config, sms_per_tpc, "sms_per_tpc", U32, "", 0, 64,
             "SMs of a TPC: the last blocks of a grid, fewer than there are SMs, are spread over "
             "groups and TPCs; 0: they go to SMs in the order of their numbers"),
    OPTIONAL(pl_launch_config, first_gpc_bias, "first_gpc_bias", U32, "", 0, 4096,
             "SMs of the first group that get a block before others do"),
    OPTIONAL(pl_launch_config, cluster_sms, "cluster_sms", PL_CONF_LIST, "", 1, 4096,
             "SMs of the parts of the GPU that can hold a cluster, for how many clusters run at "
             "once; without it: of the groups"),
    KEY(pl_launch_config, grid_x, "grid_x", U32, "", 1, 2147483647, "most blocks of a grid in x"),
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
        "cycles that a warp's instruction holds the unit"),
    KEY(pl_op_cost, latency, "latency", U32, CY, 0, 10000, "cycles until its result can be used"),
    OPTIONAL(pl_op_cost, cross_pipe_latency, "cross_pipe_latency", U32, CY, 0, 10000,
             "cycles to the result by the stall counts of other kinds of instructions, which the "
             "hardware does not let go before it is there; 0: the latency"),
    OPTIONAL(pl_op_cost, warp_reissue, "warp_reissue", U32, CY, 0, 10000,
             "cycles until the warp that has used the unit can use it again; others can after the "
             "interval"),
    OPTIONAL(pl_op_cost, operand, "operand", U32, CY, 0, 255,
             "further cycles to the result where a second operand is in a register: of a shuffle, "
             "the lane"),
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
    bool ok = true;
    for (unsigned k = 0; k < C_count; k++) {
        const pl_conf_entry *e = pl_conf_find(c, "price", pl_class_text[k]);
        if (!e || priced[k]) continue;
        priced[k] = true;
        ok &= read_price_line(m, d, e, &m->price[k]);
    }
    const pl_conf_entry *sreg = pl_conf_find(c, "price", "sreg");
    if (sreg && !m->has_sreg) m->has_sreg = ok &= read_price_line(m, d, sreg, &m->sreg);
    if (!own) return ok;
    struct {
        pl_conf_key *at;
        size_t n, cap;
    } keys = {0};
    for (size_t k = 0; k < c->entry.n; k++) {
        const pl_conf_entry *e = &c->entry.at[k];
        pl_price unused;
        if (strcmp(e->section, "price") != 0) continue;
        ok &= read_price_line(m, d, e, &unused);
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
    for (uint32_t i = 0; i < m->shared.carveouts.n; i++)
        CHECK(m->shared.carveouts.at[i] + m->l1.reserved < m->l1.size, "shared", "carveouts",
              "some storage must remain for the L1")
    CHECK(m->mem.dram.map != PL_MAP_INTERLEAVED ||
              (m->mem.slices % m->mem.dram.channels == 0 && m->mem.partitions == 1 &&
               m->l1.line <= PL_CHANNEL_BYTES),
          "dram", "map",
          "channels that have addresses in turn have as many slices each, in one half")
    CHECK(!m->mem.page_walk || m->mem.page_bytes, "tlb", "page", "a translation covers memory")
    CHECK(m->mem.groups <= m->sm.count, "xbar", "groups", "a group has at least one SM")
    CHECK(m->launch.first_gpc_bias <= m->sm.count / (m->mem.groups ? m->mem.groups : 1), "launch",
          "first_gpc_bias", "they belong to the first group")
#undef CHECK
    return ok;
}

/* "NAME,SECTION.KEY=VALUE,...": these values override the file's, in the units of the file. */
static bool override_values(pl_arena *a, pl_diags *d, pl_conf *c, const char *name,
                            const char *changes)
{
    while (*changes) {
        const char *end = changes + strcspn(changes, ","),
                   *equal = memchr(changes, '=', (size_t)(end - changes));
        pl_conf_entry *found = NULL;
        for (size_t k = 0; equal && k < c->entry.n; k++) {
            pl_conf_entry *e = &c->entry.at[k];
            const char *key = pl_arena_printf(a, "%s.%s", e->section, e->key);
            if (strlen(key) == (size_t)(equal - changes) &&
                memcmp(key, changes, (size_t)(equal - changes)) == 0)
                found = e;
        }
        if (!found) {
            pl_diag *x = pl_report(d, PL_E0515, (pl_loc){0}, name);
            x->help = pl_arena_printf(a,
                                      "'%.*s' is no SECTION.KEY=VALUE of that machine; `ptxloom "
                                      "explain SECTION.KEY` knows them",
                                      (int)(end - changes), changes);
            return false;
        }
        found->value = pl_arena_strndup(a, equal + 1, (size_t)(end - equal - 1));
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
    if (ok && !m->has_sreg) pl_report(d, PL_E0514, (pl_loc){.file = c->file}, "sreg", m->name);
    ok &= m->has_sreg;
    for (unsigned k = 0; k < C_count; k++) ok &= priced[k];
    pl_conf_set_renames(c, renamed_keys, sizeof renamed_keys / sizeof *renamed_keys);
    if (!pl_conf_report_unknown(c)) ok = false;
    if (!ok) return NULL;
    if (!m->issue.interval) m->issue.interval = 1;
    m->mem.nodes = m->sm.count;
    m->mem.line_bytes = (uint32_t)m->l1.line;
    m->mem.sector_bytes = (uint32_t)m->l1.sector;
    m->mem.in_flight = m->sm.count * (m->l1.mshr + m->l1.outstanding_stores + 512);
    return m;
}
