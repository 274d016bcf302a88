/* units.h - the parts of an SM, a file each, in calling order: the warp scheduler calls the issue
 * stage, the issue stage calls units, and units do not call upwards. */
#ifndef PL_EMU_SM_UNITS_H
#define PL_EMU_SM_UNITS_H

#include "emu/sm/sm.h"

/* warp_scheduler.c: one cycle of a sub-core. False: it has selected a warp, and stops until the
 * preceding SMs have completed (pl_sm.may_stop); pl_warp_scheduler_end continues from there. */
bool pl_warp_scheduler_cycle(pl_sm *s, pl_subcore *c, uint64_t now);
/* The remainder of the cycle after the selection of a warp; `picked`: a warp was selected. */
void pl_warp_scheduler_end(pl_sm *s, pl_subcore *c, bool picked, uint64_t now);

/* issue.c: the warp in this slot issues its next instruction. */
void pl_issue(pl_sm *s, pl_subcore *c, uint32_t warp, uint64_t now);

/* math_pipes.c: the arithmetic pipes and register banks accept the instruction; sets x->start and
 * x->latency. */
void pl_math_pipes_issue(pl_issue_slot *x);

/* special_function_unit.c, tensor_unit.c, branch_unit.c, barrier_unit.c, constant_cache.c, lsu.c */
void pl_special_function_issue(pl_issue_slot *x);
void pl_tensor_issue(pl_issue_slot *x);
void pl_branch_issue(pl_issue_slot *x);
void pl_barrier_issue(pl_issue_slot *x);
void pl_constant_issue(pl_issue_slot *x);
void pl_lsu_issue(pl_issue_slot *x);

/* fence_unit.c */
void pl_fence_issue(pl_issue_slot *x);
void pl_sleep_issue(pl_issue_slot *x);
/* The fence of gpu scope before a releasing access: one or two MEMBAR, ERRBAR, CGAERRBAR. */
void pl_fence_issue_release(pl_sm *s, pl_subcore *c, pl_sm_warp *t, uint64_t now);
/* The cycle at which a fence of gpu scope issued by the warp now completes. */
uint64_t pl_fence_gpu(pl_sm *s, pl_sm_warp *t, uint64_t now);

/* driver_calls.c: the cycle at which a warp receives the response of a driver function that it has
 * called. */
uint64_t pl_driver_response_cycle(const pl_sm *s, pl_warp *w, uint64_t now);

/* async_landing.c: --async timed, asynchronous operations that take effect when they are complete.
 * Operations that the warp has just started wait for the entry of their instruction. */
void pl_async_landing_start(pl_sm *s, const pl_sm_warp *t, uint64_t now);
/* Applies the operations that are complete by `now`. */
void pl_async_landing(pl_sm *s, uint64_t now);

/* completion.c: reports the list of completions to the waiting warps. */
void pl_completions_apply(pl_sm *s, uint64_t now);

/* warp_progress.c: finds the warp's next instruction; executes zero-cost instructions on the
 * way. */
void pl_warp_advance(pl_sm *s, pl_sm_warp *t, uint64_t now);
/* Warps of a block that the functional model has released from a barrier continue at cycle `at`;
 * returns true if there were any. Called after every instruction of a warp: it may have arrived, or
 * some of its lanes may have exited. */
bool pl_warp_resume_released(pl_sm *s, pl_sm_cta *b, uint64_t now, uint64_t at);
static inline bool pl_warp_release_barrier(pl_sm *s, pl_sm_cta *b, uint64_t now, uint64_t at)
{
    return b->cta && b->releases != b->cta->releases && pl_warp_resume_released(s, b, now, at);
}
/* A wait for the phase of an mbarrier has failed, and is retried without being issued. False: it is
 * not retried. */
bool pl_warp_retry(pl_sm *s, pl_sm_warp *t, const pl_decoded_insn *d, uint32_t pc, pl_lanes lanes,
                   uint64_t now);
/* Ends the warp: at once, or when its stores have left the SM. */
void pl_warp_end(pl_sm *s, pl_sm_warp *t, uint64_t now);
/* Cycles until a warp's exit is resolved; from the exit until the warp has left the SM. */
uint32_t pl_warp_exit_resolved(const pl_sm *s);
uint64_t pl_warp_exit_drain(const pl_sm *s, const pl_sm_warp *t, uint64_t now);

/* scoreboard.c: computes when the instruction in t->next can issue with respect to scoreboards,
 * groups of copies, fences and its instruction line. */
void pl_scoreboard_settle(pl_sm *s, pl_sm_warp *t, uint64_t now);
/* One of the results counted by a scoreboard is available. */
void pl_scoreboard_end_wait(pl_sm *s, pl_sm_warp *t, uint8_t scoreboard, uint64_t ready);
/* Recomputes this for one warp, or for all that wait for `reason`. */
void pl_scoreboard_wake(pl_sm *s, uint32_t warp, uint64_t now);
void pl_scoreboard_wake_all(pl_sm *s, pl_wait_reason reason, uint64_t now);

/* lsu.c: the cycle from which the queues of the sub-core accept another instruction. */
uint64_t pl_lsu_accepts(const pl_sm *s, const pl_subcore *c, const pl_decoded_insn *d,
                        uint64_t now);
void pl_lsu_reply(pl_sm *s, const pl_mem_reply *r, uint64_t now);
/* True if an access that waited for space can continue; pl_lsu_continue continues it. */
bool pl_lsu_can_continue(const pl_sm *s, uint64_t now);
void pl_lsu_continue(pl_sm *s, uint64_t now);
/* The cycle of the next check whether one can, if no reply arrives. */
uint64_t pl_lsu_retry_cycle(const pl_sm *s, uint64_t now);

/* lsu_shared.c, lsu_constant.c, lsu_global.c, mbarrier_unit.c, copy_engine.c: an access of each
 * kind, described by s->fx. */
void pl_lsu_access_shared(pl_sm *s, pl_subcore *c, pl_sm_warp *t, const pl_decoded_insn *d,
                          uint32_t pc, uint64_t now, uint64_t seq);
void pl_lsu_access_constant(pl_sm *s, pl_subcore *c, pl_sm_warp *t, const pl_decoded_insn *d,
                            uint32_t pc, uint64_t now, uint64_t seq);
/* queued: its queue entry; NULL: the warp issues it now. */
void pl_lsu_access_global(pl_sm *s, pl_subcore *c, pl_sm_warp *t, const pl_decoded_insn *d,
                          uint32_t pc, uint64_t now, uint64_t seq, const pl_lsu_entry *queued);
void pl_lsu_cache_control(pl_sm *s, pl_subcore *c, pl_sm_warp *t, const pl_decoded_insn *d,
                          uint32_t pc, uint64_t now, uint64_t seq);
void pl_mbarrier_issue(pl_sm *s, pl_subcore *c, pl_sm_warp *t, const pl_decoded_insn *d,
                       uint32_t pc, uint64_t now, uint64_t seq);
/* Updates the scoreboard of a wait for an mbarrier's phase, which completed at `now`: the bytes
 * that it counts may still be in flight. */
void pl_mbarrier_passed(pl_sm *s, pl_sm_warp *t, const pl_decoded_insn *d, uint64_t now);
void pl_copy_engine_issue(pl_sm *s, pl_subcore *c, pl_sm_warp *t, const pl_decoded_insn *d,
                          uint32_t pc, uint64_t now, uint64_t seq);

/* lsu_common.c: a part of an entry has completed, possibly the last one. */
void pl_lsu_part_done(pl_sm *s, uint32_t slot, uint64_t at);
static inline uint32_t pl_lsu_inflight_new(pl_sm *s, pl_sm_warp *t, uint32_t pc, uint64_t now,
                                           uint64_t seq, uint8_t kind)
{
    return pl_inflight_new(&s->inflight, t, (uint16_t)pl_warp_index(s, t), pc, now, seq, kind);
}
/* Common to accesses of all kinds. Up to Kepler an access with several passes is replayed for each
 * of them. */
void pl_lsu_replay(const pl_sm *s, pl_subcore *c, uint32_t passes, uint64_t now);
/* Tag cycles for the current lines. */
uint32_t pl_lsu_tag_cycles(const pl_sm *s);
/* The figures of an access for its event. latency: 0 while it is pending; token: its entry in
 * `inflight`, or PL_NO_TOKEN. */
typedef struct pl_access_event {
    uint32_t sectors, wavefronts;
    pl_level level;
    uint64_t latency;
    uint32_t token;
} pl_access_event;

/* Emits the event of an access; if its entry is still pending, defers it until completion. */
void pl_lsu_emit(pl_sm *s, const pl_sm_warp *t, uint32_t pc, uint64_t now, uint64_t seq,
                 pl_access_event x);
/* The cycle at which an access that leaves its queue at `start` has read its registers. */
uint64_t pl_lsu_registers_read(const pl_sm *s, uint64_t start);
void pl_lsu_read_registers(const pl_sm *s, pl_sm_warp *t, const pl_decoded_insn *d, uint64_t start,
                           uint8_t kind);
/* Adds a copy into shared memory to its warp's open group. */
void pl_lsu_start_copy(pl_sm *s, pl_sm_warp *t, uint32_t slot);
/* True if the L2 returns the old value. */
bool pl_lsu_returns_value(const pl_memory_effect *fx, const pl_decoded_insn *d);
/* The replacement rank of a line that is passed to the L2. */
int8_t pl_lsu_l2_rank(const pl_decoded_insn *d, const pl_memory_effect *fx, uint64_t line);
/* Value of operand k of the instruction for one lane; for addresses, without the offset. */
uint64_t pl_lsu_operand(const pl_sm_warp *t, const pl_insn *i, uint32_t k, unsigned lane,
                        bool wide);

/* texture_unit.c: returns the cycle at which the texture units have accepted an access that arrives
 * at `start`; *further: the cycles that they add to its latency. */
uint64_t pl_texture_unit_enter(pl_sm *s, pl_subcore *c, const pl_decoded_insn *d, uint64_t start,
                               uint64_t *further);

/* store_buffer.c: returns true if a store whose tags are looked up at `start` was merged with an
 * existing one. lanes: those whose words of local memory it writes, else none. */
bool pl_store_buffer_merge(pl_sm *s, const pl_mem_req *r, uint64_t start, uint32_t lanes);
void pl_store_buffer_insert(pl_sm *s, const pl_mem_req *r, uint32_t lanes, uint32_t entries);
/* Moves stores that leave before this cycle to the outbox. */
void pl_store_buffer_drain(pl_sm *s, uint64_t until);

/* instruction_cache.c: the cycle at which the instruction at `address` can issue, PL_NEVER while it
 * is fetched. */
uint64_t pl_icache_fetch(pl_sm *s, pl_subcore *c, uint64_t address, uint64_t now);
void pl_icache_reply(pl_sm *s, uint64_t line, uint64_t now);
/* Initialises an instruction cache for a program of `bytes` bytes. */
void pl_icache_init(pl_icache *c, pl_arena *a, const pl_machine *m, uint64_t size, uint32_t ways,
                    uint64_t bytes);

/* constant_cache.c: a load from the constant bank. Returns the cycle of its data; PL_NEVER: `token`
 * now waits for it. */
uint64_t pl_const_load(pl_sm *s, uint64_t address, uint32_t token, uint64_t now);
/* An instruction has a constant as an operand. Returns the cycle at which the constant permits it
 * to issue, PL_NEVER while the constant is fetched. */
uint64_t pl_const_operand_ready(pl_sm *s, uint64_t address, uint64_t now);
/* The cycle at which the word of the driver's constant bank read by `d` is available in the
 * sub-core of the warp. */
uint64_t pl_const_bank_ready(pl_sm *s, pl_sm_warp *t, const pl_decoded_insn *d, uint64_t now);
void pl_const_reply(pl_sm *s, uint64_t first, uint64_t now);
void pl_const_init(pl_sm *s, pl_arena *a, const pl_const_l15 *shared);

/* The last request of the SM that counts as sent: up to l1.exit_drain_limit requests may still be
 * in flight. */
static inline uint64_t pl_sm_last_sent(const pl_sm *s)
{
    return s->requests - s->requests_out + s->m->l1.exit_drain_limit;
}

/* True if the warp's stores have left the SM. */
static inline bool pl_warp_stores_sent(const pl_sm *s, const pl_sm_warp *t)
{
    return t->outstanding == 0 && t->last_request <= pl_sm_last_sent(s);
}

/* Occupancy of the address unit, or of the banks, for `passes` passes. */
static inline uint64_t pl_lsu_cost(const pl_sm *s, uint32_t passes)
{
    return (uint64_t)(passes * s->m->op[PL_OP_MEM].interval * PL_SUBCYCLES);
}

/* Records the cycle at which an instruction leaves the queue of the LSU, or of the MIO. */
static inline void pl_lg_queue_push(const pl_sm *s, pl_subcore *c, uint64_t leaves)
{
    c->lg[c->lg_at++ % s->m->issue.lg_queue] = leaves;
}
static inline void pl_mio_queue_push(const pl_sm *s, pl_subcore *c, uint64_t leaves)
{
    c->mio[c->mio_at++ % s->m->issue.mio_queue] = leaves;
}

/* Cycles for which an access occupies the link to the sub-core: those of its data. A store
 * transfers its addresses and its registers over it (smem.tsv: 4, 6 and 10 cycles for stores of 32,
 * 64 and 128 bits without conflicts). */
static inline uint32_t pl_lsu_link_passes(const pl_memory_effect *fx, uint32_t passes)
{
    const uint32_t registers = fx->kind == PL_AC_STORE ? 1 + (fx->size + 3u) / 4 : 0;
    return registers > passes ? registers : passes;
}

/* Counts the write-backs of a load beyond those that decode.c has counted for the width of its
 * result. */
static inline void pl_lsu_count_writebacks(pl_sm *s, const pl_decoded_insn *d, uint32_t cycles)
{
    if (cycles > d->metric.writebacks) s->stat.writebacks += cycles - d->metric.writebacks;
}

/* Requests code or constants from the L2. */
static inline void pl_sm_request_read_only(pl_sm *s, uint64_t address, uint64_t bytes,
                                           pl_mem_client client, uint64_t now)
{
    uint64_t line = address & ~(s->m->l1.line - 1);
    uint32_t first = (uint32_t)((address - line) / s->m->l1.sector),
             n = (uint32_t)((bytes + s->m->l1.sector - 1) / s->m->l1.sector);
    /* the driver has just copied code and constants to the device: first reads take as long as an
     * L2 hit (metrics.tsv no_instruction, imc_miss) */
    pl_mem_req r = {.time = now,
                    .line = line,
                    .token = first,
                    .op = PL_MEM_READ,
                    .client = (uint8_t)client,
                    .preloaded = true};
    r.sectors = (uint8_t)(((1u << n) - 1) << first);
    pl_sm_request(s, r);
}

/* Shared addresses without the cluster rank. */
static inline uint32_t pl_shared_offset(uint64_t address)
{
    return (uint32_t)(address & 0xffffff);
}

#endif
