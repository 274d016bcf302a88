/* lsu_shared.c - accesses to shared memory: passes through the banks, atomics, and the shared
 * memory of other SMs of the cluster. */
#include "emu/sm/units.h"

/* Lanes whose address is in another block of the cluster. */
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

/* An access in progress in the banks. */
typedef struct shared_access {
    pl_sm *s;
    const pl_decoded_insn *d;
    uint32_t own, remote;  /* lanes that access the block's shared memory, and that of other SMs */
    uint32_t passes;       /* through the banks */
    uint32_t extra;        /* those of them due to conflicts */
    uint32_t bank_passes;  /* passes for which the banks are occupied */
    uint32_t pass_latency; /* additional latency in cycles of a further pass */
    uint32_t iterations, iteration_cycles; /* iterations of an atomic implemented as a loop, and the
                               cycles of one iteration */
    bool atomic, store;
    bool loop; /* load, compute, compare-and-swap */
} shared_access;

/* Maximum number of lanes of an atomic with the same address. */
static uint32_t same_address(pl_sm *s, const pl_decoded_insn *d)
{
    uint32_t depth = 1;
    pl_coalesce_atomic(&s->lines, s->fx.mask, s->fx.addr, s->fx.size, (uint32_t)s->m->l1.line,
                       (uint32_t)s->m->l1.sector);
    for (uint32_t k = 0; k < s->lines.n; k++) {
        if (s->lines.at[k].max_same_address > depth) depth = s->lines.at[k].max_same_address;
    }
    return d->uniform || d->is_increment ? 1 : depth; /* one lane for the warp, ATOMS.POPC.INC */
}

/* Computes the passes for which an atomic occupies the banks. */
static void shared_atomic_cost(shared_access *x)
{
    const pl_shared_config *m = &x->s->m->shared;
    const pl_memory_effect *fx = &x->s->fx;
    const pl_decoded_insn *d = x->d;
    const uint32_t depth = same_address(x->s, d);
    x->loop = d->alu != PL_ALU_INT && !d->compare && !d->cast;
    if (x->loop) { /* one pass for each lane with the same address, or with the same bank */
        x->iteration_cycles = fx->size > 4 ? m->atomic_loop_wide : m->atomic_loop;
        x->iterations = pl_bank_lanes(x->own, fx->addr, fx->size, &x->s->banks);
        if (x->iterations < depth) x->iterations = depth;
        x->bank_passes = x->iterations * (1 + m->cast_pass);
    } else if (d->cast) { /* one lane per bank: lanes do not wait for each other, but 64 bits take
                             two accesses */
        x->bank_passes = m->cast_pass * (fx->size > 4 ? 2 : 1);
    } else { /* a compare-and-swap takes two accesses */
        x->bank_passes += (depth - 1) * m->atomic_pass;
        x->bank_passes *= d->compare ? 2 : 1;
        x->pass_latency *= d->compare ? 2 : 1;
    }
}

static uint64_t shared_latency(const shared_access *x)
{
    const pl_shared_config *m = &x->s->m->shared;
    if (x->d->cast) return x->s->fx.size > 4 ? m->cast_wide : m->cast_latency;
    if (x->loop) return m->atomic_latency + (uint64_t)x->iterations * x->iteration_cycles;
    if (x->atomic)
        return m->atomic_latency +
               (uint64_t)(x->d->compare ? x->bank_passes / 2 : x->bank_passes - 1) *
                   x->pass_latency;
    return m->latency + (uint64_t)(x->passes - 1) * m->pass_latency;
}

/* Cycles from `start` to the result for lanes that access the shared memory of other SMs: a round
 * trip through the crossbar, or two for an atomic (l1tex__m_l1tex2xbar_write_sectors of
 * cluster_hist, bins_of_a_cluster). */
static uint64_t remote_latency(const shared_access *x, pl_sm_warp *t, uint64_t start)
{
    pl_sm *s = x->s;
    const pl_shared_config *m = &s->m->shared;
    pl_coalesce(&s->lines, x->remote, s->fx.addr, s->fx.size, (uint32_t)s->m->l1.line,
                (uint32_t)s->m->l1.sector);
    const uint32_t sectors = s->lines.sectors, ways = x->atomic ? 2 : 1;
    const uint64_t out = pl_port_enter(&s->remote, start,
                                       (uint64_t)sectors * m->remote_pass * PL_SUBCYCLES),
                   latency =
                       out - start + m->remote_latency + (uint64_t)(sectors - 1) * m->remote_pass;
    if (start + latency > t->remote_done) t->remote_done = start + latency;
    s->stat.l1_read_sectors += ways * sectors;
    s->stat.l1_write_sectors += ways * sectors;
    return latency;
}

/* Wavefronts of an atomic: one lane at a time in each bank, even if several lanes have the same
 * word, except for counting; a compare-and-swap reads two operands. Sets x->extra to its
 * conflicts. */
static uint32_t atomic_wavefronts(shared_access *x)
{
    const pl_memory_effect *fx = &x->s->fx;
    /* 64 bits: half a warp at a time */
    const uint32_t groups = fx->size > 4 && (x->own & 0xffff) && x->own >> 16 ? 2 : 1;
    if (x->d->cast || x->loop) {
        x->extra = 0;
        return (x->d->cast ? 2 : 3 * x->iterations) * groups; /* cast: one lane per bank */
    }
    if (x->d->uniform || x->d->is_increment) return x->passes;
    const uint32_t lanes_per_bank = pl_bank_lanes(x->own, fx->addr, fx->size, &x->s->banks);
    x->extra = lanes_per_bank - 1;
    return lanes_per_bank * (x->d->compare ? 2 : 1) * groups;
}

static void count_shared(shared_access *x)
{
    pl_sm_stat *sum = &x->s->stat;
    const pl_decoded_insn *d = x->d;
    sum->shared_passes += x->atomic ? atomic_wavefronts(x) : x->passes;
    sum->conflicts += x->extra;
    if (x->atomic) {
        sum->shared_atomics++;
    } else if (x->store) {
        sum->shared_stores++;
        sum->shared_store_passes += x->passes;
        sum->store_conflicts += x->extra;
    } else {
        /* flash_forward_64: ldmatrix counts as wavefronts of loads, but not as a load */
        sum->shared_loads += d->kind != PL_KIND_MATRIX_MEMORY;
        sum->shared_load_passes += x->passes;
        /* dgemm: two for 64 bits of different words, one for the same word */
        pl_lsu_count_writebacks(x->s, d, x->passes < d->nwrite ? x->passes : d->nwrite);
        sum->load_conflicts += x->extra;
    }
}

/* The cycle at which all ports have accepted the access. */
static uint64_t pass_shared(const shared_access *x, pl_subcore *c, uint64_t now)
{
    pl_sm *s = x->s;
    const pl_shared_config *m = &s->m->shared;
    const uint64_t cost = (uint64_t)x->bank_passes * m->pass * PL_SUBCYCLES;
    uint64_t start = pl_port_enter(&s->unit[PL_UNIT_LSU].port, now, cost);
    const uint64_t data = pl_port_enter(&s->data, start, cost);
    if (data > start) start = data;
    const uint64_t link = pl_port_enter(&c->link, start,
                                        (uint64_t)pl_lsu_link_passes(&s->fx, x->passes) *
                                            m->link_pass * PL_SUBCYCLES);
    return link > start ? link : start;
}

void pl_lsu_access_shared(pl_sm *s, pl_subcore *c, pl_sm_warp *t, const pl_decoded_insn *d,
                          uint32_t pc, uint64_t now, uint64_t seq)
{
    const pl_shared_config *m = &s->m->shared;
    const pl_memory_effect *fx = &s->fx;
    shared_access x = {.s = s, .d = d, .pass_latency = m->pass_latency};
    x.atomic = fx->kind == PL_AC_ATOMIC || fx->kind == PL_AC_REDUCTION;
    x.store = fx->kind == PL_AC_STORE;
    x.remote = remote_lanes(s, t);
    x.own = fx->mask & ~x.remote;
    x.passes =
        pl_bank_passes(x.own, fx->addr, fx->size, &s->banks, !x.store && !x.atomic, &x.extra);
    if (x.passes == 0) x.passes = 1;
    x.bank_passes = x.passes;
    if (x.atomic) shared_atomic_cost(&x);
    const uint64_t start = pass_shared(&x, c, now);
    pl_mio_queue_push(s, c, start);
    pl_lsu_replay(s, c, x.bank_passes, now);
    pl_lsu_read_registers(s, t, d, start, PL_SB_SHORT);
    const uint64_t ready = start + (x.remote ? remote_latency(&x, t, start) : shared_latency(&x));
    if (!x.store) s->untracked_ready = ready;
    /* accesses to other SMs stall like memory accesses (Nsight Compute: long scoreboard) */
    pl_scoreboard_result(t, d, ready, x.remote ? PL_SB_LONG : PL_SB_SHORT);
    count_shared(&x);
    pl_pc_stat *st = pl_sm_pc_stat(s, pc);
    if (st) {
        st->requests++;
        st->wavefronts += x.passes;
        st->conflicts += x.extra;
        st->latency += ready - now;
    }
    pl_lsu_emit(s, t, pc, now, seq,
                (pl_access_event){.wavefronts = x.passes,
                                  .level = x.remote ? PL_LV_REMOTE_SHARED : PL_LV_SHARED,
                                  .latency = ready - now,
                                  .token = PL_NO_TOKEN});
}
