/* lsu_common.c - common to all kinds of accesses: replays, tags, register reads, the link to the
 * sub-core, events. */
#include "isa/program/cache_policy.h"
#include "emu/sm/units.h"
#include <string.h>

/* Up to Kepler an access with several passes or lines is replayed for each of them: the scheduler
 * issues nothing else meanwhile (Smith, Stack Overflow 35593124: "instruction replays use an
 * instruction issue slot"). */
void pl_lsu_replay(const pl_sm *s, pl_subcore *c, uint32_t passes, uint64_t now)
{
    if (!s->m->issue.replay || passes < 2) return;
    if (c->issue_free < now) c->issue_free = now;
    c->issue_free += (uint64_t)(passes - 1) * s->m->issue.replay * s->m->issue.interval;
}

/* Tag cycles for the current lines. */
uint32_t pl_lsu_tag_cycles(const pl_sm *s)
{
    const pl_l1_config *m = &s->m->l1;
    return pl_tag_cycles(&s->lines, (uint32_t)m->line, m->tags, m->tag_bank_hash0,
                         m->tag_bank_hash1);
}

/* The data of a load whose last sector arrives at `at` pass the banks, and the link to its
 * sub-core. Returns the cycle at which they are available (coalescing.tsv: 413 cycles if 32 sectors
 * are in one bank, 388 otherwise). */
static uint64_t return_data(pl_sm *s, const pl_inflight *k, uint64_t at)
{
    uint64_t start =
        pl_port_enter(&s->data, s->now, (uint64_t)k->passes * s->m->shared.pass * PL_SUBCYCLES);
    uint64_t link = pl_port_enter(&s->sub[k->warp % s->nsub].link, s->now,
                                  (uint64_t)k->passes * s->m->shared.link_pass * PL_SUBCYCLES);
    if (link > start) start = link;
    /* A load that misses is replayed when its data have arrived (Smith). */
    if (s->m->issue.replay) {
        uint64_t again =
            pl_port_enter(&s->unit[PL_UNIT_LSU].port, s->now, pl_lsu_cost(s, k->passes));
        if (again > start) start = again;
        pl_lsu_replay(s, &s->sub[k->warp % s->nsub], k->passes + 1u, s->now);
    }
    return (start > at ? start : at) + k->passes - 1u;
}

void pl_lsu_part_done(pl_sm *s, uint32_t slot, uint64_t at)
{
    const pl_inflight *k = &s->inflight.at[slot];
    if (!pl_inflight_arrive(&s->inflight.at[slot], at)) return;
    pl_inflight_complete(&s->inflight, slot,
                         k->passes ? return_data(s, k, k->earliest_ready) : k->earliest_ready);
}

/* Emits the event of an access; if its token is still pending, defers it until completion. */
void pl_lsu_emit(pl_sm *s, const pl_sm_warp *t, uint32_t pc, uint64_t now, uint64_t seq,
                 pl_access_event x)
{
    const pl_sink *sink = s->g->sink;
    if (!sink || !sink->mem) return;
    pl_mem_event e = {.seq = seq,
                      .cycle = now,
                      .block = (uint32_t)t->w->cta->number,
                      .warp = t->w->index,
                      .pc = pc,
                      .mask = s->fx.mask,
                      .half = t->w->half,
                      .sm = (uint16_t)s->id,
                      .space = s->fx.space,
                      .kind = s->fx.kind,
                      .size = s->fx.size,
                      .sectors = (uint16_t)x.sectors,
                      .wavefronts = (uint16_t)x.wavefronts,
                      .level = (uint16_t)x.level,
                      .latency = (uint32_t)x.latency,
                      .addr = s->fx.addr};
    if (x.token == PL_NO_TOKEN || s->inflight.at[x.token].remaining == 0) {
        sink->mem(sink->ctx, &e);
        return;
    }
    pl_pending_event *late = &s->inflight.pending_event[x.token];
    memcpy(late->addr, s->fx.addr, sizeof late->addr);
    e.addr = late->addr;
    late->event = e;
    s->inflight.at[x.token].event_deferred = true;
}

/* The cycle at which an access that leaves its queue at `start` has read its registers through the
 * link to its sub-core. */
uint64_t pl_lsu_registers_read(const pl_sm *s, uint64_t start)
{
    uint32_t registers = s->fx.kind == PL_AC_STORE ? 1 + (s->fx.size + 3u) / 4 : 1;
    return start + registers * s->m->shared.link_pass + s->m->issue.read;
}

void pl_lsu_read_registers(const pl_sm *s, pl_sm_warp *t, const pl_decoded_insn *d, uint64_t start,
                           uint8_t kind)
{
    pl_scoreboard_read(t, d, pl_lsu_registers_read(s, start), kind);
}

/* Adds a copy into shared memory to its warp's open group. */
void pl_lsu_start_copy(pl_sm *s, pl_sm_warp *t, uint32_t slot)
{
    s->inflight.at[slot].copy = true;
    s->inflight.at[slot].group = t->open_group;
    t->copies[t->open_group]++;
}

/* True if the L2 returns the old value: for atomics, and for reductions on generic addresses, which
 * the machine implements as atomics without a destination register (machine code for sm_90;
 * l1tex__t_requests_pipe_lsu_mem_global_op_atom of half2_adds, weights_of_letters). */
bool pl_lsu_returns_value(const pl_memory_effect *fx, const pl_decoded_insn *d)
{
    return fx->kind == PL_AC_ATOMIC || (fx->kind == PL_AC_REDUCTION && d->generic);
}

/* The replacement rank of a line that is passed to the L2. */
int8_t pl_lsu_l2_rank(const pl_decoded_insn *d, const pl_memory_effect *fx, uint64_t line)
{
    static const int8_t rank[] = {[PL_PRIORITY_UNCHANGED] = PL_RANK_UNCHANGED,
                                  [PL_PRIORITY_FIRST] = PL_RANK_FIRST,
                                  [PL_PRIORITY_LAST] = PL_RANK_LAST,
                                  [PL_PRIORITY_NORMAL] = PL_RANK_RESET};
    return fx->policy ? rank[policy_of_line(fx->policy, line)] : d->rank[1];
}

/* Value of operand k of the instruction for one lane; for addresses, without the offset. */
uint64_t pl_lsu_operand(const pl_sm_warp *t, const pl_insn *i, uint32_t k, unsigned lane, bool wide)
{
    if (k >= PL_INLINE_OPERANDS || i->op[k] == UINT32_MAX) return 0;
    const uint32_t *row = t->w->regs + (size_t)i->op[k] * PL_LANES;
    return wide ? ((const uint64_t *)(const void *)row)[lane] : row[lane];
}
