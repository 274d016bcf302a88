/* barrier.c - barriers between the warps of a block, and between the blocks of a cluster. */
#include "emu/exec/exec.h"
#include "base/plural.h"
#include "emu/exec/hooks.h"
#include "emu/exec/simt_splits.h"

/* Writes the result of bar.red for those lanes of a released split whose guard is true. */
static void write_result(pl_warp *w, pl_simt_split *s, const pl_barrier *b)
{
    const pl_insn *i = &w->code[s->pc - 1];
    const pl_form *f = &pl_forms[i->form];
    if (!f->noperands || !f->operand[0].written) return;
    const unsigned from = w->half;
    for (unsigned h = 0; h < w->halves; h++) {
        pl_warp_set_half(w, h);
        uint32_t *preds = pl_warp_preds(w, s), guard = preds[i->guard];
        const uint32_t lanes =
            pl_of_half(w, s->mask) & (i->flags & PL_IF_GUARD_NEG ? ~guard : guard);
        if (f->operand[0].type == W_pred) {
            bool v = pl_mod(f, i->mods, G_op) == W_and ? b->all : b->any;
            uint32_t *p = preds + i->op[0];
            *p = (*p & ~lanes) | (v ? lanes : 0u);
            continue;
        }
        uint32_t *d = pl_warp_frame(w, s) + (size_t)i->op[0] * PL_LANES;
        for (unsigned l = 0; l < PL_LANES; l++)
            if ((lanes >> l) & 1u) d[l] = b->popc;
    }
    pl_warp_set_half(w, from);
}

/* Lanes of warps that have arrived continue. If other lanes of a warp have not arrived yet, its
 * waiting lanes belong to the next phase. */
static void release(pl_cta *c, uint32_t id)
{
    ++*c->advances;
    c->releases++;
    const pl_barrier b = c->barrier[id];
    const pl_hooks *const hooks = c->grid->hooks;
    if (hooks) hooks->barrier_completes(hooks, c, id);
    c->barrier[id] = (pl_barrier){0};
    for (uint32_t n = 0; n < c->nwarps; n++) {
        pl_warp *w = &c->warp[n];
        w->arrived &= (uint16_t) ~(1u << id);
        if (c->holds_stores) w->store_hold = PL_HOLD_NEXT_STORE;
        if (w->nsplits > 1) pl_warp_reconverge(w, (uint8_t)id);
        for (unsigned k = 0; k < w->nsplits; k++) {
            pl_simt_split *s = &w->split[k];
            if (s->wait == PL_SPLIT_BARRIER && s->barrier == id && !(s->mask & w->reached[id])) {
                write_result(w, s, &b);
                s->wait = PL_SPLIT_READY;
                if (w->state == PL_WARP_BARRIER) w->state = PL_WARP_READY;
            }
        }
    }
}

static bool is_complete(const pl_cta *c, const pl_barrier *b)
{
    return b->arrived && b->arrived >= (b->expected ? b->expected : c->live);
}

/* The warp arrives at a barrier once all its lanes that have not exited have reached it. It counts
 * as a whole warp if threads are counted. (H100, tests/data/sync: half a warp never completes a
 * barrier of 32 threads while the other half runs.) */
static void count_warp(pl_warp *w, uint32_t id)
{
    pl_barrier *b = &w->cta->barrier[id];
    const pl_lanes left = w->lanes & ~w->exited;
    if (!w->reached[id] || left & ~w->reached[id]) return;
    b->arrived += b->expected ? w->grid->width : pl_count_lanes(left);
    w->reached[id] = 0;
    w->arrived |= (uint16_t)(1u << id);
    if (is_complete(w->cta, b)) release(w->cta, id);
}

/* Checks an arrival against those already at the barrier. True: it is compatible. */
static bool is_compatible(pl_warp *w, const pl_barrier *b, const pl_arrival *a)
{
    if (b->open && b->expected != a->threads)
        pl_fault(w, w->exec, 0, "CUDA_ERROR_ILLEGAL_INSTRUCTION",
                 "barrier %u for %u thread%s, but others wait there for %u (0: all)", a->id,
                 a->threads, pl_plural(a->threads), b->expected);
    else if (b->open && b->reduces != a->reduces)
        pl_fault(w, w->exec, 0, "CUDA_ERROR_ILLEGAL_INSTRUCTION",
                 "barrier %u is used by bar.red and by bar.sync or bar.arrive at once", a->id);
    else if (a->threads % w->grid->width)
        pl_fault(w, w->exec, 0, "CUDA_ERROR_ILLEGAL_INSTRUCTION",
                 "barrier %u: %u thread%s is not a multiple of the warp size", a->id, a->threads,
                 pl_plural(a->threads));
    else
        return true;
    return false;
}

void pl_bar_arrive(pl_warp *w, const pl_arrival *arrival)
{
    pl_arrival a = *arrival;
    a.id %= PL_NAMED_BARRIERS; /* the hardware ignores the other bits of the register (H200, driver
                                  580.159.04, 2026-11, probes async.barrier_faults) */
    a.threads %= 4096;
    pl_barrier *b = &w->cta->barrier[a.id];
    if (!is_compatible(w, b, &a)) return;
    if (!b->open)
        *b = (pl_barrier){.expected = a.threads, .all = true, .open = true, .reduces = a.reduces};
    b->popc += pl_count_lanes(a.value & w->all);
    b->any |= (a.value & w->all) != 0;
    b->all &= (a.value & w->all) == w->all;
    w->reached[a.id] |= a.lanes;
    if (w->grid->hooks) w->grid->hooks->barrier_arrives(w->grid->hooks, w, &a);
    w->split[w->current].synced = false;
    if (a.wait) {
        w->split[w->current].barrier = (uint8_t)a.id;
        pl_warp_wait(w, PL_SPLIT_BARRIER);
    }
    count_warp(w, a.id);
}

/* Without clusters the cluster barrier is local to the block. */
static void complete_local_cluster(pl_cta *c)
{
    if (!c->local_cluster_arrived || c->local_cluster_arrived < c->live) return;
    ++*c->advances;
    c->releases++;
    c->local_cluster_arrived = 0;
    c->local_cluster_phase++;
    for (uint32_t n = 0; n < c->nwarps; n++) {
        pl_warp *w = &c->warp[n];
        for (unsigned k = 0; k < w->nsplits; k++) {
            if (w->split[k].wait != PL_SPLIT_CLUSTER) continue;
            w->split[k].wait = PL_SPLIT_READY;
            w->split[k].cluster_arrived = false;
            if (w->state == PL_WARP_BARRIER) w->state = PL_WARP_READY;
        }
    }
}

void pl_warp_exit(pl_warp *w, pl_lanes lanes)
{
    pl_cta *c = w->cta;
    const uint32_t threads = pl_count_lanes(lanes);
    const pl_simt_split *s = &w->split[w->current];
    /* lanes that have arrived at the cluster barrier no longer count as arrived */
    const uint32_t arrived =
        s->cluster_arrived && s->cluster_phase == pl_cluster_phase(c) ? threads : 0;
    pl_split_exit(w, lanes);
    c->live -= threads;
    for (uint32_t id = 0; id < PL_NAMED_BARRIERS; id++)
        if (w->reached[id]) count_warp(w, id);
    if (c->cluster) {
        pl_cluster *k = c->cluster;
        k->live -= threads;
        k->arrived -= arrived;
        if (k->arrived && k->arrived >= k->live) {
            k->arrived = 0;
            k->phase++;
        }
    } else {
        c->local_cluster_arrived -= arrived;
        complete_local_cluster(c);
    }
    for (uint32_t id = 0; id < PL_NAMED_BARRIERS; id++)
        if (!c->barrier[id].expected && is_complete(c, &c->barrier[id])) release(c, id);
}

/* Records behaviour that the PTX manual leaves undefined and hardware accepts. */
static void note_undefined(pl_warp *w, const char *what)
{
    pl_grid *g = w->grid->head;
    if (g->undefined.set) return;
    /* With several host threads, the first one counts. */
    pl_cta_wait_turn(w->cta);
    pl_fault_note(w, &g->undefined, w->exec, NULL, "%s", what);
}

void pl_cluster_arrive(pl_warp *w)
{
    pl_cluster *k = w->cta->cluster;
    pl_simt_split *s = &w->split[w->current];
    if (s->cluster_arrived) {
        note_undefined(
            w, "barrier.cluster.arrive twice without a wait between, the second has no effect");
        return;
    }
    s->cluster_arrived = true;
    s->cluster_phase = pl_cluster_phase(w->cta);
    if (!k) {
        w->cta->local_cluster_arrived += (uint32_t)__builtin_popcountll(w->all);
        complete_local_cluster(w->cta);
        return;
    }
    k->arrived += (uint32_t)__builtin_popcountll(w->all);
    if (k->arrived >= k->live) {
        k->arrived = 0;
        k->phase++;
    }
}

void pl_cluster_wait(pl_warp *w)
{
    pl_simt_split *s = &w->split[w->current];
    if (!s->cluster_arrived) {
        note_undefined(w, "barrier.cluster.wait without an arrive before, it does not wait");
        return;
    }
    if (pl_cluster_phase(w->cta) > s->cluster_phase)
        s->cluster_arrived = false;
    else
        pl_warp_wait(w, PL_SPLIT_CLUSTER);
}
