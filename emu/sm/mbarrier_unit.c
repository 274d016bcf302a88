/* mbarrier_unit.c - operations on mbarriers, and waits for the copies that they count. */
#include "emu/sm/units.h"

void pl_mbarrier_passed(pl_sm *s, pl_sm_warp *t, const pl_decoded_insn *d, uint64_t now)
{
    pl_scoreboard_result(t, d, now + s->m->sync.mbarrier, PL_SB_LONG);
    if (!s->fx.mask || t->awaited_copy || d->code.write_barrier == PL_SB_NONE) return;
    uint32_t barrier = pl_shared_offset(s->fx.addr[__builtin_ctz(s->fx.mask)]);
    /* The youngest copy counted by this barrier is still in flight. */
    for (uint32_t k = 0; k < s->inflight.first_unused && s->inflight.used; k++) {
        const pl_inflight *x = &s->inflight.at[k];
        if (x->bulk && x->remaining && x->barrier == barrier && x->id > t->awaited_copy &&
            s->warp[x->warp].cta == t->cta)
            t->awaited_copy = x->id;
    }
    if (!t->awaited_copy) return;
    t->awaited_copy_sb = d->code.write_barrier;
    t->sb[d->code.write_barrier].pending++;
    t->sb[d->code.write_barrier].kind = PL_SB_LONG;
}

void pl_mbarrier_issue(pl_sm *s, pl_subcore *c, pl_sm_warp *t, const pl_decoded_insn *d,
                       uint32_t pc, uint64_t now, uint64_t seq)
{
    bool wait = d->kind == PL_KIND_MBARRIER_WAIT;
    uint64_t hold = wait ? 1 : s->m->sync.mbarrier_arrive;
    uint64_t start = pl_port_enter(&s->unit[PL_UNIT_LSU].port, now, hold * PL_SUBCYCLES);
    pl_mio_queue_push(s, c, start);
    if (wait)
        pl_mbarrier_passed(s, t, d, start);
    else
        pl_scoreboard_result(t, d, start + s->m->sync.mbarrier, PL_SB_SHORT);
    if (!s->fx.mask) return;
    pl_pc_stat *st = pl_sm_pc_stat(s, pc);
    if (st) {
        st->requests++;
        st->wavefronts++;
    }
    pl_lsu_emit(s, t, pc, now, seq,
                (pl_access_event){.wavefronts = 1,
                                  .level = PL_LV_SHARED,
                                  .latency = s->m->sync.mbarrier,
                                  .token = PL_NO_TOKEN});
}
