/* units.h - the parts of an SM, a file each, in the order in which they call each other: the warp
 * scheduler calls the issue stage, that calls units, and units call nothing above them. */
#ifndef PL_EMU_SM_UNITS_H
#define PL_EMU_SM_UNITS_H

#include "emu/sm/sm.h"

/* warp_scheduler.c: one cycle of a sub-core. False: it has picked a warp, and stops until its turn
 * comes (pl_sm.may_stop); pl_warp_scheduler_end goes on from there. */
bool pl_warp_scheduler_cycle(pl_sm *s, pl_subcore *c, uint64_t now);
/* What is left of the cycle when a warp has been picked; `picked`: there was one. */
void pl_warp_scheduler_end(pl_sm *s, pl_subcore *c, bool picked, uint64_t now);

/* issue.c: the warp in this slot issues its next instruction. */
void pl_issue(pl_sm *s, pl_subcore *c, uint32_t warp, uint64_t now);

/* math_pipes.c: the arithmetic pipes and register banks take the instruction; *x gets `start` and
 * `latency`. */
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
/* The cycle at which a fence of gpu scope that the warp issues now is over. */
uint64_t pl_fence_gpu(pl_sm *s, pl_sm_warp *t, uint64_t now);

/* driver_calls.c: the cycle at which a warp has the answer of the driver's function that it has
 * called. */
uint64_t pl_driver_answer(const pl_sm *s, pl_warp *w, uint64_t now);

/* async_landing.c: --async timed, asynchronous operations that happen when they are complete. Those
 * that the warp has just started wait for the entry of their instruction. */
void pl_async_landing_start(pl_sm *s, const pl_sm_warp *t, uint64_t now);
/* Those that are complete by `now` happen. */
void pl_async_landing(pl_sm *s, uint64_t now);

/* completion.c: what units have left in the list of completions reaches the warps that wait. */
void pl_completions_apply(pl_sm *s, uint64_t now);

/* warp_progress.c: the warp's next instruction: executes what costs nothing on the way to it. */
void pl_warp_advance(pl_sm *s, pl_sm_warp *t, uint64_t now);
/* Warps of a block that the functional model has released from a barrier go on at cycle `at`; tells
 * whether there were any. Called after whatever a warp has executed: it may have arrived, or lanes
 * of it have ended. */
bool pl_warp_go_on(pl_sm *s, pl_sm_cta *b, uint64_t now, uint64_t at);
static inline bool pl_warp_release_barrier(pl_sm *s, pl_sm_cta *b, uint64_t now, uint64_t at)
{
    return b->cta && b->releases != b->cta->releases && pl_warp_go_on(s, b, now, at);
}
/* A wait for the phase of an mbarrier has failed, and is executed again and again without being
 * issued. False: no. */
bool pl_warp_retry(pl_sm *s, pl_sm_warp *t, const pl_decoded_insn *d, uint32_t pc, pl_lanes lanes,
                   uint64_t now);
/* Ends the warp: at once, or when its stores have left. */
void pl_warp_end(pl_sm *s, pl_sm_warp *t, uint64_t now);
/* Cycles until a warp's exit is resolved; from the exit until the warp has gone. */
uint32_t pl_warp_exit_resolved(const pl_sm *s);
uint64_t pl_warp_exit_drain(const pl_sm *s, const pl_sm_warp *t, uint64_t now);

/* scoreboard.c: works out when the instruction in t->next can issue, as far as scoreboards, groups
 * of copies, fences and its instruction line go. */
void pl_scoreboard_settle(pl_sm *s, pl_sm_warp *t, uint64_t now);
/* One of the results that a scoreboard counts is there. */
void pl_scoreboard_end_wait(pl_sm *s, pl_sm_warp *t, uint8_t scoreboard, uint64_t ready);
/* The same anew for a warp, for all that wait for `reason`. */
void pl_scoreboard_wake(pl_sm *s, uint32_t warp, uint64_t now);
void pl_scoreboard_wake_all(pl_sm *s, pl_wait_reason reason, uint64_t now);

/* lsu.c: cycle from which the queues of the sub-core take another instruction. */
uint64_t pl_lsu_accepts(const pl_sm *s, const pl_subcore *c, const pl_decoded_insn *d,
                        uint64_t now);
void pl_lsu_reply(pl_sm *s, const pl_mem_reply *r, uint64_t now);
/* An access that waited for room can go on; it does. */
bool pl_lsu_can_continue(const pl_sm *s, uint64_t now);
void pl_lsu_continue(pl_sm *s, uint64_t now);
/* When to look again whether one can, if no reply comes. */
uint64_t pl_lsu_retry_cycle(const pl_sm *s, uint64_t now);

/* lsu_shared.c, lsu_constant.c, lsu_global.c, mbarrier_unit.c, copy_engine.c: an access of each
 * kind; s->fx says what it touched. */
void pl_lsu_access_shared(pl_sm *s, pl_subcore *c, pl_sm_warp *t, const pl_decoded_insn *d,
                          uint32_t pc, uint64_t now, uint64_t seq);
void pl_lsu_access_constant(pl_sm *s, pl_subcore *c, pl_sm_warp *t, const pl_decoded_insn *d,
                            uint32_t pc, uint64_t now, uint64_t seq);
/* queued: it comes from the queue; NULL: the warp issues it now. */
void pl_lsu_access_global(pl_sm *s, pl_subcore *c, pl_sm_warp *t, const pl_decoded_insn *d,
                          uint32_t pc, uint64_t now, uint64_t seq, const pl_lsu_entry *queued);
void pl_lsu_cache_control(pl_sm *s, pl_subcore *c, pl_sm_warp *t, const pl_decoded_insn *d,
                          uint32_t pc, uint64_t now, uint64_t seq);
void pl_mbarrier_issue(pl_sm *s, pl_subcore *c, pl_sm_warp *t, const pl_decoded_insn *d,
                       uint32_t pc, uint64_t now, uint64_t seq);
/* The scoreboard of a wait for an mbarrier's phase, which has passed `now`: the bytes that it
 * counts may still be under way. */
void pl_mbarrier_passed(pl_sm *s, pl_sm_warp *t, const pl_decoded_insn *d, uint64_t now);
void pl_copy_engine_issue(pl_sm *s, pl_subcore *c, pl_sm_warp *t, const pl_decoded_insn *d,
                          uint32_t pc, uint64_t now, uint64_t seq);

/* lsu_common.c: a part of an entry is there: it may be the last one. */
void pl_lsu_part_done(pl_sm *s, uint32_t slot, uint64_t at);
static inline uint32_t pl_lsu_inflight_new(pl_sm *s, pl_sm_warp *t, uint32_t pc, uint64_t now,
                                           uint64_t seq, uint8_t kind)
{
    return pl_inflight_new(&s->inflight, t, (uint16_t)pl_warp_index(s, t), pc, now, seq, kind);
}
/* What accesses of all kinds share. Until Kepler an access of several passes is
 * issued again for each of them. */
void pl_lsu_replay(const pl_sm *s, pl_subcore *c, uint32_t passes, uint64_t now);
/* Cycles of the tags for the lines at hand. */
uint32_t pl_lsu_tag_cycles(const pl_sm *s);
/* Tells the listener about an access; with an entry that is not done yet, keeps that until it is.
 */
void pl_lsu_emit(pl_sm *s, const pl_sm_warp *t, uint32_t pc, uint64_t now, uint64_t seq,
                 uint32_t sectors, uint32_t passes, pl_level level, uint64_t latency,
                 uint32_t token);
/* When an access that leaves its queue at `start` has read its registers. */
uint64_t pl_lsu_registers_read(const pl_sm *s, uint64_t start);
void pl_lsu_read_registers(const pl_sm *s, pl_sm_warp *t, const pl_decoded_insn *d, uint64_t start,
                           uint8_t kind);
/* A copy into shared memory is part of its warp's open group. */
void pl_lsu_start_copy(pl_sm *s, pl_sm_warp *t, uint32_t slot);
/* Whether the L2 answers with what was there. */
bool pl_lsu_is_answered(const pl_memory_effect *fx, const pl_decoded_insn *d);
/* What the L2 is told about the place of a line. */
int8_t pl_lsu_l2_rank(const pl_decoded_insn *d, const pl_memory_effect *fx, uint64_t line);
/* Value of operand k of the instruction for one lane, addresses with their offset left out. */
uint64_t pl_lsu_operand(const pl_sm_warp *t, const pl_insn *i, uint32_t k, unsigned lane,
                        bool wide);

/* texture_unit.c: *further gets the cycles that the units of textures add to the latency of the
 * access that comes to them at `start`; returns when they have taken it. */
uint64_t pl_texture_unit_enter(pl_sm *s, pl_subcore *c, const pl_decoded_insn *d, uint64_t start,
                               uint64_t *further);

/* store_buffer.c: a store whose tags are looked up at `start` joins one that is there. lanes: whose
 * words of local memory it writes, else none. */
bool pl_store_buffer_merge(pl_sm *s, const pl_mem_req *r, uint64_t start, uint32_t lanes);
void pl_store_buffer_insert(pl_sm *s, const pl_mem_req *r, uint32_t lanes, uint32_t entries);
/* Stores that leave before this cycle go to the outbox. */
void pl_store_buffer_drain(pl_sm *s, uint64_t until);

/* instruction_cache.c: the cycle at which the instruction at `address` can issue, PL_NEVER while it
 * is fetched. */
uint64_t pl_icache_fetch(pl_sm *s, pl_subcore *c, uint64_t address, uint64_t now);
void pl_icache_reply(pl_sm *s, uint64_t line, uint64_t now);
/* A cache for the instructions of a program of so many bytes. */
void pl_icache_init(pl_icache *c, pl_arena *a, const pl_machine *m, uint64_t size, uint32_t ways,
                    uint64_t bytes);

/* constant_cache.c: a load from the constant bank: the cycle of its data; PL_NEVER when `token` now
 * waits for it. */
uint64_t pl_const_load(pl_sm *s, uint64_t address, uint32_t token, uint64_t now);
/* An instruction has a constant as its operand: the cycle at which it can issue as far as that
 * goes, PL_NEVER while the constant is fetched. */
uint64_t pl_const_operand_ready(pl_sm *s, uint64_t address, uint64_t now);
/* The cycle at which the sub-core of the warp has the word of the driver's constant bank that `d`
 * reads. */
uint64_t pl_const_bank_ready(pl_sm *s, pl_sm_warp *t, const pl_decoded_insn *d, uint64_t now);
void pl_const_reply(pl_sm *s, uint64_t first, uint64_t now);
void pl_const_init(pl_sm *s, pl_arena *a, const pl_const_l15 *shared);

/* The last request of the SM that counts as sent: as many as l1.exit_drain_limit may still be under
 * way. */
static inline uint64_t pl_sm_last_sent(const pl_sm *s)
{
    return s->requests - s->requests_out + s->m->l1.exit_drain_limit;
}

/* True if what the warp has stored has left the SM. */
static inline bool pl_warp_stores_sent(const pl_sm *s, const pl_sm_warp *t)
{
    return t->outstanding == 0 && t->last_request <= pl_sm_last_sent(s);
}

/* Occupation of the address unit, or of the banks, by so many passes. */
static inline uint64_t pl_lsu_cost(const pl_sm *s, uint32_t passes)
{
    return (uint64_t)(passes * s->m->op[PL_OP_MEM].interval * PL_SUBCYCLES);
}

/* Instructions that leave the queue of the LSU, or of the MIO, at this cycle. */
static inline void pl_lg_queue_push(const pl_sm *s, pl_subcore *c, uint64_t leaves)
{
    c->lg[c->lg_at++ % s->m->issue.lg_queue] = leaves;
}
static inline void pl_mio_queue_push(const pl_sm *s, pl_subcore *c, uint64_t leaves)
{
    c->mio[c->mio_at++ % s->m->issue.mio_queue] = leaves;
}

/* Cycles of the link to the sub-core that an access takes: those of its data. A store brings its
 * addresses and its registers through it (smem.csv: 4, 6 and 10 cycles for stores of 32, 64 and 128
 * bits without conflicts). */
static inline uint32_t pl_lsu_link_passes(const pl_memory_effect *fx, uint32_t passes)
{
    const uint32_t registers = fx->kind == PL_AC_STORE ? 1 + (fx->size + 3u) / 4 : 0;
    return registers > passes ? registers : passes;
}

/* Write-backs of a load beyond those that decode.c has counted for the width of its result. */
static inline void pl_lsu_count_writebacks(pl_sm *s, const pl_decoded_insn *d, uint32_t cycles)
{
    if (cycles > d->metric.writebacks) s->stat.writebacks += cycles - d->metric.writebacks;
}

/* Asks the L2 for code or constants. */
static inline void pl_sm_request_read_only(pl_sm *s, uint64_t address, uint64_t bytes,
                                           pl_mem_client client, uint64_t now)
{
    uint64_t line = address & ~(s->m->l1.line - 1);
    uint32_t first = (uint32_t)((address - line) / s->m->l1.sector),
             n = (uint32_t)((bytes + s->m->l1.sector - 1) / s->m->l1.sector);
    /* the driver has copied code and constants to the device just before: first reads take what an
     * L2 hit takes (metrics.tsv no_instruction, imc_miss) */
    pl_mem_req r = {.time = now,
                    .line = line,
                    .token = first,
                    .op = PL_MEM_READ,
                    .client = (uint8_t)client,
                    .held = true};
    r.sectors = (uint8_t)(((1u << n) - 1) << first);
    pl_sm_request(s, r);
}

/* Shared addresses without the cluster rank. */
static inline uint32_t pl_shared_offset(uint64_t address)
{
    return (uint32_t)(address & 0xffffff);
}

#endif
