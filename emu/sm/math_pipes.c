/* math_pipes.c - the arithmetic pipes of a sub-core, those shared by sub-cores, and the register
 * banks read by instructions. */
#include "emu/sm/math_pipes.h"

enum {
    /* Instructions per lane of a bulk copy other than those of the ALU: UBLKCP, BRA. */
    BULK_OTHERS = 2
};

static inline void read_operands(const pl_issue_slot *x)
{
    pl_subcore *c = x->c;
    const uint8_t *reads = pl_bank_reads(c, x->d, x->pc, x->warp);
    for (uint32_t b = 0; b < x->s->m->sm.register_banks; b++) {
        if (!reads[b]) continue;
        c->bank_free[b] = (c->bank_free[b] > x->now ? c->bank_free[b] : x->now) +
                          ((uint64_t)reads[b] << x->both_halves);
    }
    c->read_warp = x->warp;
    c->read_pc = x->pc;
}

/* A port accepts the instruction for `cost`; it starts when all ports have accepted it. */
static inline uint64_t enter_port(pl_port *port, uint64_t now, uint64_t cost, uint64_t start)
{
    const uint64_t in = pl_port_enter(port, now, cost);
    return in > start ? in : start;
}

/* True if it goes through the address divergence unit although its cost does not include this;
 * instructions that wait there are counted where they wait. */
static bool passes_adu(const pl_decoded_insn *d)
{
    return d->metric.adu && d->kind != PL_KIND_BARRIER && d->kind != PL_KIND_BRANCH &&
           !d->division_path && d->kind != PL_KIND_MEMORY && d->kind != PL_KIND_MBARRIER &&
           d->kind != PL_KIND_MBARRIER_WAIT;
}

/* Half of the f32 lanes also multiply integers: they are used when the others are busy. */
static void count_lite(const pl_issue_slot *x, uint32_t f32)
{
    if (x->c->lite_free > x->now) return;
    x->c->lite_free = x->now + 2;
    x->s->stat.lite += f32;
}

void pl_math_pipes_issue(pl_issue_slot *x)
{
    pl_sm *s = x->s;
    pl_subcore *c = x->c;
    const pl_decoded_insn *d = x->d;
    const pl_price *p = d->price;
    const pl_const_config *adu = &s->m->constant;
    const uint64_t now = x->now;
    const bool twice = x->both_halves;
    uint64_t start = now;
    uint64_t second = 0;               /* cycles between the first pass and the second */
    uint64_t extra = d->extra_latency; /* latency of the result in addition to that of its class */
    uint32_t f32 = 0;
    bool heavy = false, addressed = false;
    /* match.any looks up value by value (match.tsv) */
    const uint32_t extra_values = x->t->w->match_values ? x->t->w->match_values - 1u : 0;
    x->t->w->match_values = 0;
    read_operands(x);
    for (uint32_t k = 0; k < p->npipes; k++) {
        const uint32_t pipe = pl_decoded_pipe(d, p->pipe[k].pipe), n = p->pipe[k].n;
        uint64_t pass = (uint64_t)p->pipe[k].cycles * d->scale;
        if (pipe == PL_PIPE_ADU) {
            addressed = true;
            extra += extra_values * (adu->pass_latency + (pass > adu->pass ? pass - adu->pass : 0));
            pass *= 1 + extra_values;
        }
        const uint64_t cost = pass * PL_SUBCYCLES << twice;
        if (twice && pass > second) second = pass;
        s->stat.pipe_inst[pipe] += n;
        /* IMAD.MOV, IMAD.IADD and similar instructions */
        if (pipe != p->pipe[k].pipe) s->stat.pipe_inst[PL_PIPE_FMA] += n;
        if (pipe == PL_PIPE_FMA) f32 = n;
        heavy |= pipe == PL_PIPE_HEAVY;
        if (pipe == PL_PIPE_TENSOR) s->stat.tensor_cycles += cost / PL_SUBCYCLES;
        if (pipe == PL_PIPE_LSU) continue; /* the LSU determines the time */
        start = enter_port(pipe >= PL_PIPE_FIRST_SHARED ? &s->pipe[pipe] : &c->pipe[pipe], now,
                           cost, start);
        /* data exchanged between lanes pass the banks of shared memory */
        if (pipe == PL_PIPE_MIO) start = enter_port(&s->data, now, cost, start);
    }
    if (p->warp_reissue) x->t->reissue_at = start + p->warp_reissue;
    if (pl_decoded_is_late(d))
        x->t->late_result[x->t->nlate_results++ % PL_PRODUCTS] = start + p->latency;
    if (!addressed && passes_adu(d))
        start = enter_port(&s->pipe[PL_PIPE_ADU], now, (uint64_t)adu->pass * PL_SUBCYCLES, start);
    x->start = start;
    x->latency = p->latency + second + extra;
    x->t->stall = now + d->code.stall + second + (uint64_t)x->rounds * s->m->async.bulk_lane;
    if (x->rounds && s->m->async.bulk_lane_issues > BULK_OTHERS)
        s->stat.pipe_inst[PL_PIPE_ALU] +=
            (uint64_t)x->rounds * (s->m->async.bulk_lane_issues - BULK_OTHERS);
    if (f32 && !heavy) count_lite(x, f32);
}
