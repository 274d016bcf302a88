/* lsu_shared.c - accesses to shared memory: passes through the banks, atomics, and the shared
 * memory of other SMs of the cluster. */
#include "emu/sm/units.h"

/* Lanes whose address lies in another block of the cluster. */
static uint32_t remote_lanes(const pl_sm *s, const pl_sm_warp *t)
{
    uint32_t lanes = 0;
    if (!t->w->cta->cluster) return 0;
    for (uint32_t m = s->fx.mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        if ((s->fx.addr[l] >> 24 & 0xff) != t->w->cta->cluster_rank) lanes |= 1u << l;
    }
    return lanes;
}

void pl_lsu_access_shared(pl_sm *s, pl_subcore *c, pl_sm_warp *t, const pl_decoded_insn *d,
                          uint32_t pc, uint64_t now, uint64_t seq)
{
    const pl_shared_config *m = &s->m->shared;
    const pl_effect *fx = &s->fx;
    bool atomic = fx->kind == PL_AC_ATOMIC || fx->kind == PL_AC_REDUCTION,
         store = fx->kind == PL_AC_STORE, loop = false;
    uint32_t away = remote_lanes(s, t), own = fx->mask & ~away;
    uint32_t extra, passes = pl_bank_passes(own, fx->addr, fx->size, m->banks, m->bank, m->rows,
                                            !store && !atomic, &extra);
    if (passes == 0) passes = 1;
    uint32_t turns = passes, each = m->pass_latency, rounds = 0, round = 0;
    if (atomic) {
        pl_coalesce_atomic(&s->lines, fx->mask, fx->addr, fx->size, (uint32_t)s->m->l1.line,
                           (uint32_t)s->m->l1.sector);
        uint32_t depth = 1;
        for (uint32_t k = 0; k < s->lines.n; k++) {
            if (s->lines.at[k].depth > depth) depth = s->lines.at[k].depth;
        }
        if (d->uniform) depth = 1; /* one lane for its warp, or ATOMS.POPC.INC */
        loop = d->alu != PL_ALU_INT && !d->compare && !d->cast;
        if (loop) { /* load, compute, compare-and-swap: a round for each lane with one address, or
                       with one bank */
            round = fx->size > 4 ? m->atomic_loop_wide : m->atomic_loop;
            rounds = pl_bank_lanes(own, fx->addr, fx->size, m->banks, m->bank);
            rounds = rounds > depth ? rounds : depth;
            turns = rounds * (1 + m->cast_pass);
        } else if (d->cast) {
            turns = m->cast_pass *
                    (fx->size > 4 ? 2 : 1); /* one lane a bank: lanes do not wait for each other,
                                               but 64 bits are two accesses */
        } else {                            /* a compare-and-swap is two accesses */
            turns += (depth - 1) * m->atomic_pass;
            turns *= d->compare ? 2 : 1;
            each *= d->compare ? 2 : 1;
        }
    }
    uint64_t start =
        pl_port_enter(&s->unit[PL_UNIT_LSU].port, now, (uint64_t)turns * m->pass * PL_SUBCYCLES);
    uint64_t data = pl_port_enter(&s->data, start, (uint64_t)turns * m->pass * PL_SUBCYCLES);
    if (data > start) start = data;
    uint64_t link = pl_port_enter(
        &c->link, start, (uint64_t)pl_lsu_link_passes(fx, passes) * m->link_pass * PL_SUBCYCLES);
    if (link > start) start = link;
    pl_mio_queue_push(s, c, start);
    pl_lsu_replay(s, c, turns, now);
    pl_lsu_read_registers(s, t, d, start, PL_SB_SHORT);
    uint64_t latency =
        d->cast  ? (fx->size > 4 ? m->cast_wide : m->cast_latency)
        : loop   ? m->atomic_latency + (uint64_t)rounds * round
        : atomic ? m->atomic_latency + (uint64_t)(d->compare ? turns / 2 : turns - 1) * each
                 : m->latency + (uint64_t)(passes - 1) * m->pass_latency;
    if (away) {
        pl_coalesce(&s->lines, away, fx->addr, fx->size, (uint32_t)s->m->l1.line,
                    (uint32_t)s->m->l1.sector);
        uint64_t out = pl_port_enter(&s->remote, start,
                                     (uint64_t)s->lines.sectors * m->remote_pass * PL_SUBCYCLES);
        latency =
            out - start + m->remote_latency + (uint64_t)(s->lines.sectors - 1) * m->remote_pass;
        if (start + latency > t->remote_done) t->remote_done = start + latency;
        const uint32_t ways = atomic ? 2 : 1; /* l1tex__m_l1tex2xbar_write_sectors of cluster_hist,
                                                 bins_of_a_cluster: two for each of an atomic's */
        s->stat.l1_read_sectors +=
            ways * s->lines.sectors; /* there and back through the crossbar */
        s->stat.l1_write_sectors += ways * s->lines.sectors;
    }
    uint64_t ready = start + latency;
    if (!store) s->answered = ready;
    pl_scoreboard_result(t, d, ready,
                         away ? PL_SB_LONG : PL_SB_SHORT); /* other SMs are waited for as memory is
                                                              (Nsight Compute: long scoreboard) */
    uint32_t waves = passes;
    if (atomic) { /* a lane at a time in each bank, whether others have the same word or not, but
                     for counting; a compare-and-swap reads two operands */
        const uint32_t groups = fx->size > 4 && (own & 0xffff) && own >> 16
                                    ? 2
                                    : 1; /* 64 bits: half a warp at a time */
        if (d->cast) {                   /* one lane a bank */
            waves = 2 * groups;
            extra = 0;
        } else if (loop) {
            waves = 3 * rounds * groups;
            extra = 0;
        } else if (!d->uniform && !d->increments) {
            const uint32_t turn = pl_bank_lanes(own, fx->addr, fx->size, m->banks, m->bank);
            extra = turn - 1;
            waves = turn * (d->compare ? 2 : 1) * groups;
        }
    }
    s->stat.shared_passes += waves;
    s->stat.conflicts += extra;
    pl_pc_stat *st = pl_sm_pc_stat(s, pc);
    if (st) {
        st->requests++;
        st->wavefronts += passes;
        st->conflicts += extra;
        st->latency += ready - now;
    }
    if (atomic) {
        s->stat.shared_atomics++;
    } else if (store) {
        s->stat.shared_stores++;
        s->stat.shared_store_passes += passes;
        s->stat.store_conflicts += extra;
    } else {
        s->stat.shared_loads +=
            d->kind != PL_KIND_MATRIX_MEMORY; /* flash_forward_64: ldmatrix makes wavefronts of
                                                 loads, but is none */
        s->stat.shared_load_passes += passes;
        pl_lsu_count_writebacks(
            s, d,
            passes < d->nwrite
                ? passes
                : d->nwrite); /* dgemm: two for 64 bits of different words, one for the same */
        s->stat.load_conflicts += extra;
    }
    pl_lsu_emit(s, t, pc, now, seq, 0, passes, away ? PL_LV_REMOTE_SHARED : PL_LV_SHARED,
                ready - now, PL_NO_TOKEN);
}
