/* lsu_constant.c - indexed loads from constant memory: one access for each distinct address. */
#include "emu/sm/units.h"

void pl_lsu_access_constant(pl_sm *s, pl_subcore *c, pl_sm_warp *t, const pl_decoded_insn *d,
                            uint32_t pc, uint64_t now, uint64_t seq)
{
    const pl_const_config *m = &s->m->constant;
    uint64_t unit[PL_LANES];
    /* bytes of one word are as distinct as words (idc__requests of present_light_blocks: 13.8 for
     * random ones of 16) */
    const uint32_t width = s->fx.size < m->width ? s->fx.size : m->width;
    for (uint32_t k = s->fx.mask; k; k &= k - 1)
        unit[__builtin_ctz(k)] = s->fx.addr[__builtin_ctz(k)] / width;
    uint32_t passes = pl_distinct(s->fx.mask, unit);
    s->stat.const_requests += passes;
    uint64_t start =
        pl_port_enter(&s->pipe[PL_PIPE_ADU], now, (uint64_t)passes * m->pass * PL_SUBCYCLES);
    uint64_t more = (uint64_t)(passes - 1) * m->pass_latency, ready = start + m->latency + more,
             misses = 0;
    uint64_t seen[PL_LANES];
    uint32_t nseen = 0;
    uint32_t slot = pl_lsu_inflight_new(s, t, pc, now, seq, PL_SB_SHORT);
    const uint64_t bank = t->w->program->bank.address;
    for (uint32_t mask = s->fx.mask; mask; mask &= mask - 1) {
        uint64_t line = (PL_CONST_BASE + ((bank + s->fx.addr[__builtin_ctz(mask)]) & 0xffffffff)) &
                        ~(m->line - 1);
        uint32_t k = 0;
        while (k < nseen && seen[k] != line) k++;
        if (k < nseen) continue;
        seen[nseen++] = line;
        s->inflight.at[slot].remaining++;
        uint64_t at = pl_const_load(s, line, slot, start);
        if (at == PL_NEVER) continue;
        s->inflight.at[slot].remaining--;
        misses += at - start; /* lines are fetched sequentially */
        at = start + misses + m->latency + more;
        if (at > ready) ready = at;
    }
    pl_mio_queue_push(s, c, start);
    pl_lsu_read_registers(s, t, d, start, PL_SB_SHORT);
    bool known = s->inflight.at[slot].remaining == 1;
    if (known)
        pl_scoreboard_result(t, d, ready, PL_SB_SHORT);
    else
        pl_scoreboard_result_later(t, d, &s->inflight.at[slot]);
    pl_lsu_part_done(s, slot, ready);
    pl_pc_stat *st = pl_sm_pc_stat(s, pc);
    if (st) {
        st->requests++;
        st->wavefronts += passes;
        if (known) st->latency += ready - now;
    }
    pl_lsu_emit(s, t, pc, now, seq,
                (pl_access_event){.wavefronts = passes,
                                  .level = PL_LV_CONST,
                                  .latency = known ? ready - now : 0,
                                  .token = slot});
}
