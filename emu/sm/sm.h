/* sm.h - one streaming multiprocessor: its warps, sub-cores, units and caches. Internal to emu/sm.
 *
 *   sub-core 0..n: warp scheduler, arithmetic pipes, L0 instruction cache
 *        |
 *        |  issue: one pl_warp_step; the result's cycle goes to a scoreboard
 *        v
 *   units of the SM: load/store unit (LSU) with store buffer, shared memory and L1; texture unit;
 *   copy engine; exchange unit (MIO); address divergence unit (ADU); branch, barrier and fence
 *   unit; instruction and constant caches
 *        |                         ^
 *        | outbox (requests)       | replies
 *        v                         |
 *   memory system (memmodel/memsys.h)
 *
 * An SM is simulated up to a given cycle; no event elsewhere before that cycle can affect it,
 * because the crossbar takes longer. It skips cycles without events. Several threads may simulate
 * an SM each. An SM only modifies its own state, except for the memory of the program. Accesses
 * there that could order the accesses of two SMs (pl_decoded_insn.ordered) execute in SM order. */
#ifndef PL_EMU_SM_SM_H
#define PL_EMU_SM_SM_H

#include "arch/machine.h"
#include "base/team.h"
#include "emu/sm/subcore.h"
#include "memmodel/coalescer.h"
#include "memmodel/l1.h"

enum { PL_CONST_WAITS = 512, PL_STORE_BUFFER = 64, PL_TEXTURE_HEADERS = 16 };

struct pl_sm;

/* An issuing instruction, as seen by the units. */
typedef struct pl_issue_slot {
    struct pl_sm *s;
    pl_subcore *c;
    pl_sm_warp *t;
    const pl_decoded_insn *d;
    pl_pc_stat *st; /* of the instruction; NULL: not requested */
    pl_lanes mask;  /* executing lanes */
    uint32_t warp;  /* slot in the SM */
    uint32_t pc;
    uint32_t active;  /* active lanes of the warp */
    uint32_t lanes;   /* number of lanes in `mask` */
    uint32_t fences;  /* hardware instructions of its fence, which have already issued */
    uint32_t rounds;  /* additional issues of a bulk copy: one for each lane but the first */
    uint32_t issues;  /* hardware instructions */
    uint32_t nsplits; /* number of splits of the warp before its execution */
    bool both_halves; /* both halves of a warp of 64 lanes execute it: two passes */
    uint8_t reason;   /* pl_stall: the main reason for which the warp waited */
    uint64_t now, seq;
    uint64_t waited;  /* cycles since the warp's last issue */
    uint64_t start;   /* cycle at which all pipes have accepted it */
    uint64_t latency; /* from `start` to its result */
} pl_issue_slot;

/* A unit of the SM that receives issued instructions (pl_decoded_insn.unit). */
typedef struct pl_unit {
    const char *name;
    pl_port port;                    /* accepts instructions sequentially */
    void (*issue)(pl_issue_slot *x); /* NULL: reached through another unit */
} pl_unit;

/* Sums of one SM; the launch adds them up. */
typedef struct pl_sm_stat {
    uint64_t inst, thread_inst, thread_on, issue_active, cycles_active, warp_cycles, blocks, warps;
    uint64_t branches, divergent;
    uint64_t targets, cbu, adu, lsu, writebacks; /* pl_metric_class */
    uint64_t tensor_cycles;                      /* cycles in which tensor units were occupied */
    uint64_t lite; /* f32 instructions in the lanes that do not multiply integers */
    uint64_t loads, stores, atomics, reds; /* requests: global */
    uint64_t copies;                       /* those of the loads that copy into shared memory */
    uint64_t load_sectors, store_sectors, atomic_sectors, red_sectors, load_hits;
    uint64_t local_loads, local_stores, local_load_sectors, local_store_sectors, local_load_hits;
    uint64_t store_hits, local_store_hits; /* store sectors that hit in the L1 */
    uint64_t shared_loads, shared_stores, shared_atomics, shared_passes, shared_load_passes,
        shared_store_passes;
    uint64_t exchanges, barriers, wgmma_halves;
    uint64_t conflicts, load_conflicts, store_conflicts;
    uint64_t const_requests, const_misses, code_requests, code_misses;
    uint64_t l1_read_sectors, l1_write_sectors;
    uint64_t pipe_inst[PL_PIPE_COUNT];
    uint64_t stall[PL_STALL_COUNT];
    uint64_t load_bytes, store_bytes; /* requested by lanes, global */
} pl_sm_stat;

/* The state of an SM that the launch reads between two windows: stored together for all SMs, for
 * locality. */
typedef struct pl_sm_status {
    /* Earliest cycle of an event other than replies; PL_NEVER: idle. */
    _Alignas(64) uint64_t next;
    bool starts; /* blocks have been placed */
    bool sends;  /* it has requests to send, or stores that others may still be merged with */
    bool ended;  /* blocks have ended, or out of memory for a block */
    bool open;   /* the SM has had a block: until then its pl_sm is undefined */
} pl_sm_status;

typedef struct pl_sm {
    pl_sm_status *status;  /* not owned */
    const pl_machine *m;   /* not owned */
    const pl_decoded *dec; /* not owned */
    pl_grid *g;            /* not owned */
    pl_pc_stat *pc_stat;   /* of the host thread that simulates it; NULL: not requested */
    pl_team_turn turn;     /* of the job to which the SM belongs; reached: the preceding SMs, in the
                              order of their numbers, have completed */
    bool may_stop;         /* instead of waiting for the preceding jobs, it may stop until they have
                              completed */
    bool stopped;          /* it has stopped, */
    uint32_t stopped_at;   /* at this sub-core, whose selected warp is about to issue */
    uint32_t id;
    uint64_t now;
    pl_sm_warp warp[PL_SM_WARPS];
    pl_sm_cta *cta; /* sm.blocks entries */
    uint32_t ncta, live_warps, arrivals;
    struct {
        pl_cta *cta;
        uint64_t at;
    } * placed; /* blocks that start in the next window; sm.blocks entries */
    uint32_t nplaced;
    bool no_memory; /* out of memory for a placed block */
    uint32_t nsub;
    pl_subcore sub[PL_SUBCORES];
    pl_port pipe[PL_PIPE_COUNT]; /* pipes shared by the sub-cores */
    pl_unit unit[PL_UNIT_COUNT];
    pl_port data;         /* the banks, after the address unit */
    pl_banks banks;       /* of shared memory and the L1 */
    pl_port store_port;   /* outgoing stores and reductions */
    bool waits_for_pages; /* its requests have caused page faults: no access enters the L1 */
    pl_up_costs xbar_cost;
    pl_port remote; /* accesses to the shared memory of other SMs */
    pl_l1 l1;
    pl_icache icache;
    /* Constant caches: indexed constants, instruction operands, second level of both. */
    pl_cache const_indexed, const_operand, const_l15;
    uint64_t *const_available_at, *operand_available_at, *const_l15_available_at;
    uint64_t loaded_available_at[PL_BANK_LINES]; /* as bank_available_at of a sub-core, for loads
                                            into registers, which have a separate cache */
    pl_port code_port;       /* to the instruction cache shared with neighbouring SMs */
    const uint32_t *sharers; /* number of those SMs, including itself, that have blocks; not owned,
                                changes between windows */
    pl_inflight_table inflight;
    struct {
        uint64_t line;
        uint32_t token;
    } * const_wait; /* PL_CONST_WAITS entries */
    uint32_t nconst_wait;
    uint64_t untracked_ready; /* completion cycle of the last access without a token; 0: none */
    bool async_timed;         /* --async timed: operations take effect when their tokens complete */
    uint32_t requests_out;    /* stores and atomics in flight */
    uint32_t operands_out;    /* of these, further lanes of atomics with the address of another */
    uint64_t requests;        /* total number of them so far */
    uint64_t
        exit_waits_for; /* lowest request number that a warp's exit waits for, PL_NEVER: none */
    uint64_t fence_waits_for; /* the same for fences */
    /* Replies since the last fence of gpu scope was issued: from the L2, and from its far half. */
    bool l2_replied, far_l2_replied;
    uint64_t fence_end;  /* end of that fence */
    pl_lsu_entry *queue; /* ring of l1.lsu_queue: accesses that wait for space; NULL: a warp of 64
                            lanes does not issue then */
    /* queue_next_sub: the sub-core served next when there is a slot. */
    uint32_t queue_at, nqueue, queue_next_sub;
    /* Next check if no reply arrives, PL_NEVER: not before a reply. */
    uint64_t queue_next;
    /* Ring: cycles at which the accesses last accepted by the L1 leave its input. */
    uint64_t lsu_input[PL_QUEUE];
    uint32_t lsu_input_at;
    struct {
        uint64_t object, available_at;
    } header[PL_TEXTURE_HEADERS]; /* ring: textures and surfaces whose descriptors are cached, and
                                     since when */
    uint32_t header_at;
    pl_mem_outbox out;                        /* requests of the current window */
    pl_mem_req store_buffer[PL_STORE_BUFFER]; /* ring: stores that others may still be merged with;
                                                 no sectors: free */
    uint32_t store_lanes[PL_STORE_BUFFER]; /* for stores to local memory: the lanes whose words they
                                              write */
    uint32_t lanes_of[PL_COALESCE_LINES];  /* for a store to local memory, per line: the same */
    uint32_t store_buffer_at;
    uint64_t store_buffer_until;            /* cycle at which the last of them leaves */
    pl_memory_effect fx;                    /* the access processed by lsu.c */
    pl_memory_effect halves[PL_MAX_HALVES]; /* a warp of 64 lanes: the access of each half */
    pl_lines lines;
    pl_sm_stat stat;
    uint64_t busy_since;
    /* blocks that ended in this window, for the block scheduler */
    struct {
        uint64_t time;
        pl_cta *cta;
    } ended[PL_SM_WARPS];
    uint32_t nended;
    uint64_t last_exit;
    /* Progress counter of its blocks; the launch adds it up between two windows. */
    uint64_t advances;
    bool fault;
} pl_sm;

/* The second-level constant caches of all SMs: a launch uses few sets of each, which are adjacent
 * in memory (pl_cache_init_group). */
typedef struct pl_const_l15 {
    pl_cache tags;          /* a group, by SM */
    uint64_t *available_at; /* per line: cycle at which it is available */
} pl_const_l15;

bool pl_const_l15_init(pl_const_l15 *c, pl_arena *large, const pl_machine *m);
/* What the SMs of a launch have in common. large, sparse: for arrays that need not be zeroed; those
 * in `sparse` mostly stay untouched. */
typedef struct pl_sm_setup {
    pl_arena *arena, *large, *sparse;
    const pl_machine *m;
    const pl_decoded *dec;
    pl_grid *g;
    uint64_t l1_bytes;
    pl_up_costs up_costs;
    pl_const_l15 constants;
} pl_sm_setup;

/* What pl_sm_init and pl_gpu_open_sm allocate for an SM; events: a listener receives memory events.
 */
pl_model_bytes pl_sm_bytes(const pl_machine *m, bool events);
/* Initialises SM number `id`, before its first block. False: out of memory. */
bool pl_sm_init(pl_sm *s, pl_sm_status *status, uint32_t id, const pl_sm_setup *x);
/* Places a block, which starts at the next call of pl_sm_begin; its warps may issue from cycle `at`
 * on. False: no slot (the caller counts them). */
bool pl_sm_place(pl_sm *s, pl_cta *c, uint64_t at);
/* Allocates storage and slots for placed blocks; different threads may do this for different
 * SMs. */
void pl_sm_begin(pl_sm *s);
/* Simulates cycles before `until`. Replies are taken from `mem`. False: it has stopped until the
 * preceding SMs have completed; the next call continues. */
bool pl_sm_run(pl_sm *s, pl_memsys *mem, uint64_t until);
/* Updates its status. */
void pl_sm_update_status(pl_sm *s);
/* Re-examines warps that wait for other SMs (cluster barriers, the end of another grid); `now` is
 * the start of a window. */
void pl_sm_poll(pl_sm *s, uint64_t now);
/* The cycle at which a port that the SM shares with its neighbours accepts a line requested at
 * `now`: each SM with blocks is served once. */
static inline uint64_t pl_sm_shared_port(const pl_sm *s, pl_port *port, double service,
                                         uint64_t now)
{
    const double all = service * *s->sharers;
    return pl_port_enter(port, now, (uint64_t)(all * PL_SUBCYCLES)) + (uint64_t)(all - service);
}

static inline pl_subcore *pl_subcore_of(pl_sm *s, uint32_t warp)
{
    return &s->sub[warp % s->nsub];
}

/* The warp may issue from cycle `at` on; PL_NEVER: unknown. */
static inline void pl_warp_set_ready(pl_sm *s, uint32_t warp, uint64_t at)
{
    pl_subcore *c = pl_subcore_of(s, warp);
    c->ready[warp / s->nsub] = at;
    if (at < c->next) c->next = at;
}

static inline pl_pc_stat *pl_sm_pc_stat(const pl_sm *s, uint32_t pc)
{
    return s->pc_stat ? &s->pc_stat[pc] : NULL;
}

static inline uint32_t pl_warp_index(const pl_sm *s, const pl_sm_warp *t)
{
    return (uint32_t)(t - s->warp);
}

/* Locations of code, constants and local memory in the address space of the memory system; not
 * visible to programs. */
#define PL_FETCH_BASE  0x100000000000ull
#define PL_CONST_BASE  0x110000000000ull
#define PL_LOCAL_BASE  0x120000000000ull
#define PL_LOCAL_BYTES 0x10000000000ull

static inline void pl_sm_request(pl_sm *s, pl_mem_req r)
{
    r.node = (uint16_t)s->id;
    if (s->out.n < s->out.cap) s->out.at[s->out.n++] = r;
}

#endif
