/* sm.h - one streaming multiprocessor: its warps, sub-cores, scoreboards, caches and what is under
 * way. Inside of emu/sm only.
 *
 *   sub-core 0..n: warp scheduler, arithmetic pipes, L0 instruction cache
 *        |  issue: one pl_warp_step, result times go to the scoreboard
 *   shared by all: address unit (LSU), exchange unit (MIO), unit of what concerns all lanes (ADU),
 *     shared memory, L1 + miss table, instruction and constant caches
 *        |  outbox (requests)            ^ replies
 *   memory system (memmodel/memsys.h)
 *
 * An SM is simulated up to a given cycle; nothing that happens elsewhere before that cycle can
 * reach it, because the crossbar takes longer. It skips cycles in which nothing can happen. Several
 * threads may simulate an SM each: all that an SM changes is its own but for the memory of the
 * program, and there whatever could order the accesses of two SMs (pl_decoded_insn.ordered) waits
 * its turn.
 */
#ifndef PL_EMU_SM_SM_H
#define PL_EMU_SM_SM_H

#include "emu/exec/exec.h"
#include "emu/sm/control_codes.h"
#include "emu/sm/decode.h"
#include "arch/machine.h"
#include "base/team.h"
#include "memmodel/coalescer.h"
#include "memmodel/l1.h"

enum {
    PL_SM_WARPS = 64,
    PL_SUBCORES = 8,
    PL_QUEUE = 64,
    PL_GROUPS = 16,
    PL_CONST_WAITS = 512,
    PL_BANK_LINES = 64,
    PL_WRITES = 64,
    PL_HEADERS = 16
};
#define PL_NEVER    UINT64_MAX
#define PL_NO_TOKEN UINT32_MAX

/* What kind of instruction made a result of variable latency. */
enum { PL_SB_SHORT, PL_SB_LONG, PL_SB_BANK };

/* One of the counters of a warp for results of variable latency (control_codes.h). */
typedef struct pl_scoreboard {
    uint64_t ready;   /* when the last of its results whose cycle is known is there */
    uint32_t pending; /* results whose cycle is not known yet */
    uint8_t kind;     /* PL_SB_* of the one that is there last, as far as that is known */
} pl_scoreboard;

/* Something whose end is not known when it starts: a load, an atomic, a copy. */
typedef struct pl_inflight {
    uint64_t id;          /* differs for each use of the slot; never 0 */
    uint64_t ready;       /* cycle of the result, once done */
    uint64_t base;        /* not before this cycle */
    uint64_t issued, seq; /* of the instruction, for events */
    uint32_t pc;
    uint32_t remaining; /* fills and replies still missing; 0: done */
    uint32_t barrier;   /* bulk copies: shared address of the mbarrier, UINT32_MAX: none */
    uint16_t warp;      /* timing warp that issued it */
    uint32_t age;       /* of that warp */
    uint8_t scoreboard; /* that it ends, PL_SB_NONE: none */
    uint8_t kind;       /* PL_SB_* */
    uint8_t level;      /* pl_level: slowest so far */
    uint8_t group;      /* cp.async: group it belongs to */
    uint8_t passes;     /* of a load through the banks, once its data have come; 0: none */
    bool copy, bulk;
    pl_warp *owner;  /* --async timed: whose operations happen when it is done, or NULL */
    bool told_later; /* pl_sm.late has its memory event, for when it is done */
    bool awaited;    /* its instruction's event has no latency yet */
} pl_inflight;

/* A memory event that waits for its token, because level and latency are not known before. */
typedef struct pl_pending_event {
    pl_mem_event event;
    uint64_t addr[PL_LANES];
} pl_pending_event;

/* An access to global or local memory that the warp has issued and the L1 has no room for: lsu.c
 * goes on with it when there is. */
typedef struct pl_lsu_entry {
    pl_effect fx;
    const pl_decoded_insn *d;
    uint64_t issued, seq;
    uint32_t pc, token; /* PL_NO_TOKEN: it returns nothing */
    uint16_t warp;
} pl_lsu_entry;

struct pl_sm_cta;

/* What a warp waits for when its next instruction's cycle is not known. */
typedef enum pl_wait_reason {
    PL_WAIT_NONE,
    PL_WAIT_TOKEN,
    PL_WAIT_BARRIER,
    PL_WAIT_SLEEP,
    PL_WAIT_STORES,
    PL_WAIT_QUEUED,
    PL_WAIT_COPIES,
    PL_WAIT_FETCH,
    PL_WAIT_CONSTANT,
    PL_WAIT_TRY,
    PL_WAIT_DONE
} pl_wait_reason;

/* A resident warp as the scheduler sees it. */
typedef struct pl_sm_warp {
    pl_warp *w; /* NULL: slot is free */
    struct pl_sm_cta *cta;
    pl_scoreboard sb[PL_SB_COUNT];
    const pl_decoded_insn *next; /* instruction to issue, NULL while it is not known */
    uint64_t started;
    uint64_t issued;     /* cycle of the last issue */
    uint64_t stall;      /* until when the stall count of the last instruction holds it */
    uint64_t deps_ready; /* when `next` can issue as far as stall counts and scoreboards go */
    uint64_t not_before; /* earliest cycle by control flow, fetch, barriers */
    uint32_t
        refetch_cycles; /* of these cycles, those behind a branch in which it fetches from there */
    uint64_t late_result[PL_PRODUCTS]; /* ring: when the results of its last wide products are there
                                      (products.tsv) */
    uint32_t nlate_results;            /* that it has issued */
    uint64_t reissue_at;   /* earliest cycle of an instruction for the unit that it has just used
                         (op.NAME.again) */
    uint64_t awaited_copy; /* its mbarrier's bulk copy, whose end scoreboard awaited_copy_sb waits
                              for; 0: none */
    uint8_t awaited_copy_sb;
    uint64_t fetch_line; /* instruction line it fetched last */
    uint64_t wgmma_done, wgmma_group[PL_GROUPS];
    uint32_t outstanding; /* tokens under way, but for those of bulk copies: what comes back needs
                         the warp's registers, or its block's memory */
    uint32_t queued;      /* accesses that wait for room in the memory system (pl_lsu_entry) */
    uint32_t exit_pc;     /* PL_WAIT_QUEUED: instruction that ended it */
    uint64_t stores_sent_at; /* when the last of them has left the SM, if nothing is in the way */
    uint64_t last_request;   /* its number among those of the SM */
    uint64_t remote_done;    /* when its accesses to other SMs of the cluster are done */
    uint32_t age;            /* order of arrival on the SM */
    uint32_t copies[PL_GROUPS]; /* cp.async under way by group */
    uint64_t copied[PL_GROUPS]; /* when the last of a group that is no longer under way is there */
    uint32_t wgmma_open;
    uint8_t open_group; /* cp.async group being filled */
    uint8_t dep_reason, not_before_reason,
        structural_reason; /* pl_stall: of dependences, control flow, units */
    uint8_t wait;          /* pl_wait_reason */
    uint64_t fence_from;   /* when it came to the fence that is next and all that it did before had
                              room; 0: not yet */
    uint64_t fence_mark;   /* requests of the SM that were made before */
    bool drained;          /* the fence has waited for them */
    uint64_t answered;     /* until then; 0: it has not, or does so still */
    bool copy_ended;       /* PL_WAIT_TRY: a copy has ended meanwhile */
    bool released; /* the fence of its next instruction, an access that releases, is over when that
                      can issue */
} pl_sm_warp;

/* A resident block. */
typedef struct pl_sm_cta {
    pl_cta *cta;   /* NULL: free */
    uint32_t live; /* warps not done */
    uint32_t age;  /* of its first warp */
    uint64_t started;
    bool accessed;     /* memory, since its last barrier */
    uint32_t releases; /* of pl_cta.releases, those that its warps know of */
    uint64_t fenced;   /* end of the last fence before an arrival at its cluster's barrier */
} pl_sm_cta;

/* A cache of instructions. A program that cannot push any of its own lines out is not looked up by
 * tags. */
typedef struct pl_icache {
    pl_cache tags;
    uint64_t *when; /* by entry, or by line of the program: when it is there, 0: never asked for,
                       PL_NEVER: not known */
    uint32_t lines; /* of the program, when it fits; 0: it does not */
    uint32_t shift; /* log2 of their bytes */
} pl_icache;

typedef struct pl_subcore {
    uint64_t ready[PL_SM_WARPS]; /* by position: earliest cycle at which the warp may issue,
                                    PL_NEVER when unknown */
    uint32_t n;    /* positions; position p of sub-core c is warp p * nsub + c of the SM */
    uint32_t last; /* position that issued last */
    uint64_t next; /* earliest cycle worth a look */
    uint64_t issue_free;
    pl_port pipe[PL_PIPE_COUNT];
    pl_port link;                         /* from shared memory and L1 */
    pl_port texels;                       /* from the texture units */
    pl_port fill;                         /* of the L0 */
    pl_port redirected;                   /* warps that fetch from where a branch has led them */
    uint64_t lg[PL_QUEUE], mio[PL_QUEUE]; /* rings: when the queued instructions leave the queue */
    uint32_t lg_at, mio_at;
    pl_lsu_entry *queue; /* ring of issue.lg_queue: accesses for which pl_sm.queue has no place;
                         they have not read their registers */
    uint32_t queue_at, nqueue;
    pl_icache l0;
    uint64_t bank_when[PL_BANK_LINES]; /* when this line of the driver's constant bank is there; 0:
                                          not asked for. Lines far apart share a place */
    uint64_t issues, active;
    uint64_t passed_over; /* cycles that its warps were ready and another one issued */
    uint64_t busy_since, cycles_active;    /* cycles with a warp */
    uint32_t live;                         /* warps */
    uint64_t bank_free[PL_REGISTER_BANKS]; /* when the reads of the registers that have issued are
                                              done */
    uint32_t read_pc, read_warp;           /* the instruction that read registers last */
    uint64_t lite_free; /* when the lanes that multiply no integers can take the next instruction */
} pl_subcore;

/* Sums of one SM; the launch adds them up. */
typedef struct pl_sm_stat {
    uint64_t inst, thread_inst, thread_on, issue_active, cycles_active, warp_cycles, blocks, warps;
    uint64_t branches, divergent;
    uint64_t targets, cbu, adu, lsu, writebacks; /* pl_metric_class */
    uint64_t tensor_cycles;                      /* that tensor units were held */
    uint64_t lite; /* f32 instructions in the lanes that multiply no integers */
    uint64_t loads, stores, atomics, reds; /* requests: global */
    uint64_t copies;                       /* of the loads, those into shared memory */
    uint64_t load_sectors, store_sectors, atomic_sectors, red_sectors, load_hits;
    uint64_t local_loads, local_stores, local_load_sectors, local_store_sectors, local_load_hits;
    uint64_t store_hits, local_store_hits; /* sectors of stores that L1 had */
    uint64_t shared_loads, shared_stores, shared_atomics, shared_passes, shared_load_passes,
        shared_store_passes;
    uint64_t exchanges, barriers, wgmma_halves;
    uint64_t conflicts, load_conflicts, store_conflicts;
    uint64_t const_requests, const_misses, code_requests, code_misses;
    uint64_t l1_read_sectors, l1_write_sectors;
    uint64_t pipe_inst[PL_PIPE_COUNT];
    uint64_t stall[PL_STALL_COUNT];
    uint64_t load_bytes, store_bytes; /* that lanes asked for, global */
} pl_sm_stat;

/* What the launch asks of an SM between two windows: kept together for all SMs, because what else
 * they consist of lies far apart. */
typedef struct pl_sm_status {
    _Alignas(64)
        uint64_t next; /* earliest cycle with something to do, but for replies; PL_NEVER: idle */
    bool starts;       /* blocks were placed */
    bool sends;        /* it has requests to send, or stores that others may still join */
    bool ended;        /* blocks have ended, or there was no memory for one */
} pl_sm_status;

typedef struct pl_sm {
    pl_sm_status *status;  /* not owned */
    const pl_machine *m;   /* not owned */
    const pl_decoded *dec; /* not owned */
    pl_grid *g;            /* not owned */
    pl_pc_stat *pc_stat;   /* the thread's that simulates it; NULL: nobody asks */
    pl_team *team;         /* NULL: one thread */
    uint32_t job;          /* of the team: the SM is part of it */
    uint32_t worker;       /* that does it */
    bool in_turn;          /* all jobs before it are done */
    bool may_stop;         /* it need not wait for its turn, but may stop until that has come */
    bool stopped;          /* it has, */
    uint32_t stopped_at;   /* at this sub-core, where the warp that issued last is to issue */
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
    bool no_memory; /* for one of them */
    uint32_t nsub;
    pl_subcore sub[PL_SUBCORES];
    pl_port pipe[PL_PIPE_COUNT]; /* those shared by the sub-cores */
    pl_port jump_port, barrier_port, fence_port, sleep_port;
    pl_port data;         /* the banks, behind the address unit */
    pl_port texture_port; /* the texture units */
    pl_port store_port;   /* stores and reductions on their way out */
    pl_up_costs xbar_cost;
    pl_port remote; /* accesses to the shared memory of other SMs */
    pl_l1 l1;
    pl_icache icache;
    pl_cache const_indexed, const_operand,
        const_l15; /* constants: indexed ones, operands of instructions, both */
    uint64_t *const_when, *operand_when, *const_l15_when;
    uint64_t loaded_when[PL_BANK_LINES]; /* as bank_when of a sub-core, for loads into registers,
                                            which have a cache of their own */
    pl_port const_bank_port,
        code_port; /* to the caches of constants and code that it shares with its neighbours */
    const uint32_t *sharers; /* of these SMs, itself among them, how many have blocks; not owned,
                                changes between windows */
    pl_inflight *token;
    pl_pending_event *late; /* by token; NULL when nobody listens */
    uint32_t ntoken, used_tokens;
    uint32_t fresh_token;  /* tokens from here on were never used */
    uint32_t *free_tokens; /* a stack: what was used last is still in the host's caches */
    uint32_t nfree_tokens;
    uint64_t generation;
    struct {
        uint64_t line;
        uint32_t token;
    } * const_wait; /* PL_CONST_WAITS entries */
    uint32_t nconst_wait;
    uint32_t last_token; /* the latest one */
    uint64_t answered;   /* when the access that was made last without a token is done; 0: there was
                            none */
    bool async_timed;    /* --async timed: operations happen when their tokens are done */
    uint64_t async_at;   /* when the next one does, PL_NEVER: not known */
    uint32_t requests_out; /* stores and atomics under way */
    uint64_t requests;     /* all of them so far */
    uint64_t leaves;       /* the first number that a warp's end waits for, PL_NEVER: none does */
    uint64_t fences;       /* the same of fences */
    bool l2_replied,
        far_l2_replied;  /* since the last fence of gpu scope was issued: the L2, its other half */
    uint64_t fence_end;  /* when that fence is over */
    pl_lsu_entry *queue; /* ring of l1.input: accesses that wait for room; NULL: those of a warp of
                         64 lanes do not issue */
    uint32_t queue_at, nqueue,
        queue_turn; /* queue_turn: sub-core whose turn it is when there is a place */
    uint64_t
        queue_next; /* when to look at it again if no reply comes, PL_NEVER: not before one does */
    uint64_t
        lsu_input[PL_QUEUE]; /* ring: when the accesses that the L1 took last have left its input */
    uint32_t lsu_input_at;
    uint64_t bulk_free; /* copy engine */
    struct {
        uint64_t object, since;
    } header[PL_HEADERS]; /* ring: textures and surfaces whose description is here, from when */
    uint32_t header_at;
    pl_mem_outbox out; /* requests of this window */
    pl_mem_req
        store_buffer[PL_WRITES]; /* ring: stores that others may still join; no sectors: free */
    uint32_t
        store_lanes[PL_WRITES]; /* of those to local memory: the lanes whose words they write */
    uint32_t lanes_of[PL_COALESCE_LINES]; /* of a store to local memory, by line: the same */
    uint32_t store_buffer_at;
    uint64_t store_buffer_until;     /* when the last of them leaves */
    pl_effect fx;                    /* what lsu.c works on */
    pl_effect halves[PL_MAX_HALVES]; /* a warp of 64 lanes: what each half has touched */
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
    uint64_t
        advances; /* signs of life of its blocks; the launch adds them up between two windows */
    bool fault;
} pl_sm;

/* The second-level caches of constants of all SMs: a launch uses few sets of each, which lie
 * together (pl_cache_init_all). */
typedef struct pl_const_l15 {
    pl_cache *tags; /* by SM */
    uint64_t *when; /* by line: when it is there */
} pl_const_l15;

/* sm.c */
bool pl_const_l15_init(pl_const_l15 *c, pl_arena *a, pl_arena *large, const pl_machine *m);
/* large, sparse: for arrays that need not be zero; of those in `sparse` mostly little is touched.
 */
bool pl_sm_init(pl_sm *s, pl_sm_status *status, pl_arena *a, pl_arena *large, pl_arena *sparse,
                const pl_machine *m, const pl_decoded *dec, pl_grid *g, uint32_t id,
                uint64_t l1_bytes, const pl_const_l15 *constants);
/* A block starts when pl_sm_begin is called next; its warps may issue from cycle `at`. False: no
 * room (the caller counts). */
bool pl_sm_place(pl_sm *s, pl_cta *c, uint64_t at);
/* Blocks that were placed get their storage and their slots: different SMs by different threads. */
void pl_sm_begin(pl_sm *s);
/* Simulates cycles before `until`. Replies are taken from `mem`. False: it has stopped until its
 * turn comes; the next call goes on. */
bool pl_sm_run(pl_sm *s, pl_memsys *mem, uint64_t until);
/* Says in its status how things stand. */
void pl_sm_report(pl_sm *s);
/* Looks again at warps that wait for other SMs (cluster barriers, the end of another grid); `now`
 * is the start of a window. */
void pl_sm_poll(pl_sm *s, uint64_t now);
/* Returns when what other SMs did before this one in the order of their numbers is done. */
void pl_sm_turn(pl_sm *s);
/* Something that a scoreboard counts is there at cycle `ready`. */
static inline void pl_sb_until(pl_scoreboard *sb, uint64_t ready, uint8_t kind)
{
    if (ready <= sb->ready) return;
    sb->ready = ready;
    if (!sb->pending) sb->kind = kind;
}

/* What d writes is there at cycle `ready`. */
static inline void pl_sm_result(pl_sm_warp *t, const pl_decoded_insn *d, uint64_t ready,
                                uint8_t kind)
{
    if (d->write_barrier == PL_SB_NONE) return;
    pl_sb_until(&t->sb[d->write_barrier], ready, kind);
}

/* What d writes is there when the token is done, which it is not yet. */
static inline void pl_sm_result_later(pl_sm_warp *t, const pl_decoded_insn *d, pl_inflight *k)
{
    if (d->write_barrier == PL_SB_NONE) return;
    k->scoreboard = d->write_barrier;
    t->sb[d->write_barrier].pending++;
    t->sb[d->write_barrier].kind = k->kind;
}

/* At cycle `at` d has read its registers. */
static inline void pl_sm_read(pl_sm_warp *t, const pl_decoded_insn *d, uint64_t at, uint8_t kind)
{
    if (d->read_barrier == PL_SB_NONE) return;
    pl_sb_until(&t->sb[d->read_barrier], at, kind);
}

/* One of the results that a scoreboard counts is there. */
void pl_sm_end_wait(pl_sm *s, pl_sm_warp *t, uint8_t scoreboard, uint64_t ready);
/* The last of its accesses in pl_sm.queue has gone on: it may be what the warp's end or a fence
 * waits for. */
void pl_sm_unqueued(pl_sm *s, pl_sm_warp *t, uint64_t now);
/* Ends warps whose stores have left. */
void pl_sm_leave(pl_sm *s, uint64_t now);
/* Wakes warps whose fences have waited for enough answers. */
void pl_sm_fences_answered(pl_sm *s, uint64_t now);
/* When the way that the SM shares with its neighbours takes a line that it asks for at `now`: each
 * of those that have blocks gets its turn. */
uint64_t pl_sm_shared_port(const pl_sm *s, pl_port *way, double turn, uint64_t now);
/* A warp's next instruction or wait is worked out anew (lsu.c and fetch.c call it when something
 * they waited for has come). */
void pl_sm_wake(pl_sm *s, uint32_t warp, uint64_t now);

/* lsu.c: the memory part of an instruction that warp `t` issues at `now`; s->fx says what it
 * touched, of a warp of 64 lanes s->halves. */
/* The scoreboard of a wait for an mbarrier's phase, which has passed `now`: the bytes that it
 * counts may still be under way. */
void pl_lsu_passed(pl_sm *s, pl_sm_warp *t, const pl_decoded_insn *d, uint64_t now);
void pl_lsu_issue(pl_sm *s, pl_subcore *c, pl_sm_warp *t, const pl_decoded_insn *d, uint32_t pc,
                  uint64_t now, uint64_t seq);
/* When the data of a load whose last sector has come at `at` are in registers. */
uint64_t pl_lsu_pass(pl_sm *s, const pl_inflight *k, uint64_t at);
void pl_lsu_reply(pl_sm *s, const pl_mem_reply *r, uint64_t now);
/* Whether what a warp has stored has left the SM. */
bool pl_lsu_left(const pl_sm *s, const pl_sm_warp *t);
/* Goes on with accesses that waited for room. */
void pl_lsu_pump(pl_sm *s, uint64_t now);
/* The memory event that was kept for this token; those of all tokens that never got done. */
void pl_lsu_tell(pl_sm *s, uint32_t token);
void pl_lsu_tell_rest(pl_sm *s);
/* Stores that leave before this cycle go to the outbox. */
void pl_lsu_let_go(pl_sm *s, uint64_t until);
/* Cycle from which the queues of the sub-core take another instruction. */
uint64_t pl_lsu_room(const pl_sm *s, const pl_subcore *c, const pl_decoded_insn *d, uint64_t now);
uint32_t pl_inflight_new(pl_sm *s, pl_sm_warp *t, uint32_t pc, uint64_t now, uint64_t seq,
                         uint8_t kind);
void pl_inflight_done(pl_sm *s, uint32_t slot, uint64_t now);

/* fetch.c: the cycle at which the instruction at `address` can issue, PL_NEVER while it is fetched.
 */
uint64_t pl_fetch(pl_sm *s, pl_subcore *c, uint64_t address, uint64_t now);
void pl_fetch_reply(pl_sm *s, uint64_t line, uint64_t now);
/* A read of the constant bank: the cycle of its data; PL_NEVER when `token` now waits for it. */
uint64_t pl_const_load(pl_sm *s, uint64_t address, uint32_t token, uint64_t now);
/* An instruction has a constant as its operand: the cycle at which it can issue as far as that
 * goes, PL_NEVER while the constant is fetched. */
uint64_t pl_const_operand_ready(pl_sm *s, uint64_t address, uint64_t now);
void pl_const_reply(pl_sm *s, uint64_t line, uint64_t now);

static inline uint32_t pl_warp_index(const pl_sm *s, const pl_sm_warp *t)
{
    return (uint32_t)(t - s->warp);
}

/* Where code, constants and local memory lie in the address space of the memory system; programs
 * never see these. */
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
