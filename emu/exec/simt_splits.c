/* simt_splits.c - splits of a warp that diverge and reconverge.
 *
 * A warp holds one or more splits (lanes that share a pc). Lanes that diverge at a branch get a
 * convergence frame, which records its members and those that have arrived at the reconvergence
 * point. A split that arrives early waits. When all members have arrived (or exited) they continue
 * as one split.
 *
 * Volta's forward-progress guarantee requires one more rule. The running split may poll memory
 * while others wait at a reconvergence point (its loop contains a YIELD, or it has polled often
 * enough). Then the waiting splits are released, since one of them may hold the lock that is
 * polled. Splits that reach the same YIELD again continue as one split from there. */
#include <assert.h>
#include <string.h>

#include "emu/exec/hooks.h"
#include "emu/exec/simt_splits.h"

static void remove_split(pl_warp *w, unsigned k)
{
    w->nsplits--;
    if (k != w->nsplits) w->split[k] = w->split[w->nsplits];
    if (w->current == w->nsplits) w->current = (uint8_t)k;
}

/* Moves splits and frames to split_storage when the warp's own arrays become too small. */
static void grow_split_storage(pl_warp *w)
{
    memcpy(w->split_storage->split, w->few_splits, sizeof w->few_splits);
    memset(w->split_storage->conv, 0, sizeof w->split_storage->conv);
    memcpy(w->split_storage->conv, w->few_convs, sizeof w->few_convs);
    w->split = w->split_storage->split;
    w->conv = w->split_storage->conv;
}

static unsigned add_split(pl_warp *w, pl_lanes mask, uint32_t pc, uint16_t frame, uint16_t call)
{
    assert(w->nsplits < PL_MAX_SPLITS); /* every split holds at least one lane */
    if (w->nsplits == PL_FEW_SPLITS && w->split == w->few_splits) grow_split_storage(w);
    w->split[w->nsplits] =
        (pl_simt_split){.pc = pc,
                        .mask = mask,
                        .frame = frame,
                        .call = call,
                        .cluster_arrived = w->split[w->current].cluster_arrived,
                        .cluster_phase = w->split[w->current].cluster_phase,
                        .barriers = w->split[w->current].barriers,
                        .restored_barriers = w->split[w->current].restored_barriers,
                        .age = ++w->splits_created};
    return w->nsplits++;
}

/* True if frame a is the frame f or one of its ancestors. 0 is an ancestor of every frame. */
static bool encloses(const pl_warp *w, uint16_t a, uint16_t f)
{
    for (; f; f = w->conv[f].parent)
        if (f == a) return true;
    return a == 0;
}

static uint16_t new_frame(pl_warp *w, uint32_t pc, pl_lanes members, uint16_t parent, uint16_t call)
{
    for (unsigned k = 1; k < PL_MAX_FRAMES; k++) {
        if (k == PL_FEW_FRAMES && w->conv == w->few_convs) grow_split_storage(w);
        if (!w->conv[k].used) {
            w->conv[k] = (pl_reconv_frame){
                .pc = pc, .members = members, .parent = parent, .call = call, .used = true};
            if (k >= w->conv_used) w->conv_used = (uint16_t)(k + 1);
            return (uint16_t)k;
        }
    }
    return parent; /* too deep: the lanes reconverge at the enclosing point instead */
}

/* Merges the waiting splits into one when all members have arrived. */
static void merge_frame(pl_warp *w, uint16_t f)
{
    pl_reconv_frame *c = &w->conv[f];
    unsigned keep = PL_MAX_SPLITS;
    for (unsigned k = 0; k < w->nsplits; k++) {
        pl_simt_split *s = &w->split[k];
        if (s->frame != f || s->wait != PL_SPLIT_CONVERGE) continue;
        if (keep == PL_MAX_SPLITS) {
            keep = k;
            continue;
        }
        w->split[keep].mask |= s->mask;
        remove_split(w, k);
        k--;
    }
    if (keep < PL_MAX_SPLITS) {
        w->split[keep].wait = PL_SPLIT_READY;
        w->split[keep].frame = c->parent;
    }
    c->used = false;
    w->spins = 0;
}

/* After lanes have left (exit, release): handles frames that have become complete or empty. */
static void update_frames(pl_warp *w)
{
    for (uint16_t f = 1; f < w->conv_used; f++) {
        pl_reconv_frame *c = &w->conv[f];
        if (!c->used) continue;
        if (!c->members) {
            for (unsigned k = 0; k < w->nsplits; k++)
                if (w->split[k].frame == f) w->split[k].frame = c->parent;
            for (uint16_t g = 1; g < w->conv_used; g++)
                if (w->conv[g].used && w->conv[g].parent == f) w->conv[g].parent = c->parent;
            c->used = false;
        } else if (c->arrived == c->members)
            merge_frame(w, f);
    }
}

/* The frame with this reconvergence point among those that enclose a split; 0: none. */
static uint16_t frame_at(const pl_warp *w, uint16_t f, uint32_t pc, uint16_t call)
{
    while (f && (w->conv[f].pc != pc || w->conv[f].call != call)) f = w->conv[f].parent;
    return f;
}

/* Removes lanes from the frames between the split's own and `to`, so that these no longer wait for
 * them, and makes `to` the split's frame. */
static void remove_from_frames(pl_warp *w, pl_simt_split *s, pl_lanes lanes, uint16_t to)
{
    for (uint16_t f = s->frame; f != to; f = w->conv[f].parent) {
        w->conv[f].members &= ~lanes;
        w->conv[f].arrived &= ~lanes;
    }
    s->frame = to;
}

/* The current split has reached an outer reconvergence point without passing the inner ones, which
 * no longer wait for it. */
static void leave_frames(pl_warp *w, uint16_t to)
{
    pl_simt_split *s = &w->split[w->current];
    remove_from_frames(w, s, w->active, to);
    pl_split_save(w);
    update_frames(w);
}

/* Notifies the checker that split s continues from its reconvergence point without lanes that wait
 * at an aligned barrier. */
static void notify_checker(pl_warp *w, const pl_simt_split *s)
{
    const pl_hooks *h = w->grid->hooks;
    if (!h || !h->continues_without) return;
    for (unsigned k = 0; k < w->nsplits; k++) {
        const pl_simt_split *a = &w->split[k];
        const pl_lanes waiting = a->mask & w->conv[s->frame].members;
        if (a->wait == PL_SPLIT_ALIGNED && waiting)
            h->continues_without(h, w, s->pc, a->pc, waiting);
    }
}

/* Releases splits that wait at reconvergence points. */
bool pl_split_release_waiting(pl_warp *w)
{
    bool any = false;
    for (unsigned k = 0; k < w->nsplits; k++) {
        pl_simt_split *s = &w->split[k];
        if (s->wait != PL_SPLIT_CONVERGE) continue;
        notify_checker(w, s);
        remove_from_frames(w, s, s->mask, w->conv[s->frame].parent);
        s->wait = PL_SPLIT_READY;
        any = true;
    }
    if (any) update_frames(w);
    return any;
}

/* When all running splits have yielded, reconvergence points no longer wait for them. Lanes leave a
 * compare-and-swap loop one by one and execute the code after it, but reconverge at the next point
 * with others that have left it meanwhile (H200, 2026-11, tests/data/probes/parting). A patent of
 * the vendor describes it, "Execution of divergent threads using a convergence barrier". */
static bool release_if_all_yielded(pl_warp *w)
{
    pl_lanes yielded = 0;
    for (unsigned k = 0; k < w->nsplits; k++) {
        const pl_simt_split *s = &w->split[k];
        if (s->wait == PL_SPLIT_READY && !s->yielded) return false;
        yielded |= s->yielded ? s->mask : 0;
    }
    if (!yielded) return false;
    bool any = false;
    for (uint16_t f = 1; f < w->conv_used; f++) {
        pl_reconv_frame *c = &w->conv[f];
        if (!c->used || !c->arrived || c->members & ~c->arrived & ~yielded) continue;
        const pl_lanes rest = c->members & ~c->arrived;
        merge_frame(w, f);
        c->members = rest;
        c->arrived = 0;
        c->used = rest != 0;
        any = true;
    }
    for (unsigned k = 0; any && k < w->nsplits; k++) w->split[k].yielded = false;
    return any;
}

/* Adds the lanes of split k to the frames of split `with`, up to their common frame. */
static void add_to_frames(pl_warp *w, unsigned k, unsigned with)
{
    for (uint16_t f = w->split[with].frame; f != w->split[k].frame; f = w->conv[f].parent)
        w->conv[f].members |= w->split[k].mask;
    w->split[k].frame = w->split[with].frame;
}

/* The split that continues after a YIELD absorbs those at the same instruction: lanes that left a
 * loop at different times and returned to it iterate together (H200, 2026-11,
 * tests/data/micro/groups.tsv). */
void pl_split_merge_at_yield(pl_warp *w)
{
    if (!w->pc || pl_forms[w->code[w->pc - 1].form].mnem != M__yield) return;
    for (unsigned k = 0; k < w->nsplits; k++) {
        pl_simt_split *s = &w->split[w->current], *o = &w->split[k];
        if (k == w->current || o->wait != PL_SPLIT_READY || o->pc != s->pc || o->call != s->call ||
            o->synced != s->synced || o->barriers != s->barriers ||
            o->restored_barriers != s->restored_barriers ||
            o->cluster_arrived != s->cluster_arrived || o->cluster_phase != s->cluster_phase)
            continue;
        if (encloses(w, o->frame, s->frame))
            add_to_frames(w, k, w->current);
        else if (encloses(w, s->frame, o->frame))
            add_to_frames(w, w->current, k);
        else
            continue;
        s->mask |= o->mask;
        w->active = s->mask;
        remove_split(w, k);
        k--;
    }
}

void pl_warp_yield(pl_warp *w)
{
    if (w->nsplits == 1 || w->grid->simt_stack) return;
    pl_split_save(w);
    w->split[w->current].yielded = true;
    release_if_all_yielded(w);
    w->switch_pending = true;
}

/* The current split is at pc. If this is the reconvergence point of its frame, it waits or merges.
 * Returns false if it must wait. */
bool pl_split_converge(pl_warp *w)
{
    for (;;) {
        pl_simt_split *s = &w->split[w->current];
        uint16_t f = frame_at(w, s->frame, w->pc, s->call);
        if (!f) return true;
        if (f != s->frame) {
            leave_frames(w, f);
            continue;
        }
        pl_reconv_frame *c = &w->conv[f];
        c->arrived |= w->active;
        if (c->arrived == c->members && c->members == w->active) { /* no other split was waiting */
            s->frame = c->parent;
            c->used = false;
            continue;
        }
        pl_split_save(w);
        s->wait = PL_SPLIT_CONVERGE;
        w->stop = true;
        if (c->arrived == c->members)
            merge_frame(w, f);
        else
            release_if_all_yielded(w);
        return false;
    }
}

/* Creates frames for the reconvergence points of lanes that diverge now: those that leave a loop
 * meanwhile reconverge at an outer point. */
static uint16_t push_frames(pl_warp *w, uint16_t frame, uint32_t pc, uint16_t call)
{
    uint32_t point[8];
    unsigned n = 0;
    for (; n < 8 && pc != UINT32_MAX && !frame_at(w, frame, pc, call); n++) {
        point[n] = pc;
        const pl_insn *sync = pc ? &w->code[pc - 1] : NULL;
        pc = sync && pl_forms[sync->form].mnem == M__bsync ? sync->reconv : UINT32_MAX;
    }
    while (n--) frame = new_frame(w, point[n], w->active, frame, call);
    return frame;
}

/* Lanes that diverge join the frame at which others already wait or will wait. */
static uint16_t join_frame(pl_warp *w, uint16_t frame, uint32_t pc, uint16_t call)
{
    for (uint16_t f = 1; f < w->conv_used; f++)
        if (w->conv[f].used && w->conv[f].pc == pc && w->conv[f].call == call &&
            w->conv[f].parent == frame) {
            w->conv[f].members |= w->active;
            return f;
        }
    return push_frames(w, frame, pc, call);
}

/* `taken_first`: the lanes that take the branch run first. */
static void split_lanes(pl_warp *w, pl_lanes taken, uint32_t target, uint32_t fallthrough,
                        uint32_t reconv, bool taken_first)
{
    pl_simt_split *s = &w->split[w->current];
    pl_lanes rest = w->active & ~taken;
    uint16_t frame = s->frame, call = s->call, call_at_reconv = call;
    /* The lanes diverge until the function returns: they reconverge after the call. */
    if (reconv == UINT32_MAX && call) {
        reconv = w->call[call].ret_pc;
        call_at_reconv = w->call[call].parent;
    }
    if (reconv != UINT32_MAX && !frame_at(w, frame, reconv, call_at_reconv))
        frame = join_frame(w, frame, reconv, call_at_reconv);
    pl_lanes first = taken_first ? taken : rest, second = taken_first ? rest : taken;
    uint32_t first_pc = taken_first ? target : fallthrough,
             second_pc = taken_first ? fallthrough : target;
    s->frame = frame;
    w->active = s->mask = first;
    w->next = first_pc;
    add_split(w, second, second_pc, frame, call);
    w->split[w->current].age = ++w->splits_created; /* the lanes that run first are on top */
}

/* True if the lanes that continue at `fallthrough` are at the reconvergence point. Then the lanes
 * with more code to execute run first. */
static bool is_reconv_point(const pl_warp *w, uint32_t fallthrough, uint32_t reconv)
{
    return fallthrough == reconv ||
           (fallthrough + 1 == reconv && pl_forms[w->code[fallthrough].form].mnem == M__bsync);
}

void pl_warp_diverge(pl_warp *w, pl_lanes taken, uint32_t target, uint32_t fallthrough,
                     uint32_t reconv)
{
    split_lanes(w, taken, target, fallthrough, reconv, is_reconv_point(w, fallthrough, reconv));
}

void pl_warp_branch(pl_warp *w, pl_lanes taken, uint32_t target, uint32_t reconv)
{
    unsigned ntaken = (unsigned)__builtin_popcountll(taken),
             nfallthrough = (unsigned)__builtin_popcountll(w->active & ~taken);
    split_lanes(w, taken, target, w->pc + 1, reconv,
                w->grid->simt_stack ? is_reconv_point(w, w->pc + 1, reconv)
                                    : ntaken < nfallthrough);
}

void pl_split_exit(pl_warp *w, pl_lanes lanes)
{
    w->exited |= lanes;
    w->exit_pc = w->pc;
    ++*w->cta->advances;
    w->active &= ~lanes;
    w->split[w->current].mask = w->active;
    for (uint16_t f = 1; f < w->conv_used; f++)
        if (w->conv[f].used) {
            w->conv[f].members &= ~lanes;
            w->conv[f].arrived &= ~lanes;
        }
    for (unsigned k = 0; k < w->nsplits; k++) /* exited lanes are no longer waited for: check
                                                 again */
        if (w->split[k].wait == PL_SPLIT_WARP_SYNC || w->split[k].wait == PL_SPLIT_ALIGNED)
            w->split[k].wait = PL_SPLIT_READY;
    if (!w->active) {
        remove_split(w, w->current);
        w->stop = true;
    }
    update_frames(w);
}

void pl_warp_wait(pl_warp *w, uint8_t kind)
{
    pl_simt_split *s = &w->split[w->current];
    s->wait = kind;
    s->pc = w->next;
    s->mask = w->active;
    w->stop = true;
}

void pl_warp_note_undefined(pl_warp *w, uint32_t mask)
{
    pl_grid *g = w->grid->head;
    uint32_t left_out = w->exec & ~mask;
    if (left_out && w->grid->hooks &&
        w->grid->hooks->excluded_by_mask(w->grid->hooks, w, left_out, mask))
        return;
    if (!left_out || g->undefined.set) return;
    /* With several host threads, the first one counts. */
    pl_cta_wait_turn(w->cta);
    pl_fault_note(w, &g->undefined, left_out, NULL,
                  "lane %u executes %s with the mask 0x%08x, which does not include it",
                  pl_first_lane(w) + (uint32_t)__builtin_ctz(left_out),
                  pl_mnems[pl_forms[w->code[w->pc].form].mnem].name, mask);
}

/* True if split k waits in the given way at the same place as split `with`. */
static bool waits_at_same_point(const pl_warp *w, unsigned k, unsigned with, uint8_t wait,
                                uint8_t barrier, pl_lanes half_lanes)
{
    const pl_simt_split *s = &w->split[k], *o = &w->split[with];
    return k != with && s->wait == wait && (wait != PL_SPLIT_BARRIER || s->barrier == barrier) &&
           (wait != PL_SPLIT_WARP_SYNC || s->sync_mask == o->sync_mask) && s->pc == o->pc &&
           s->call == o->call && s->cluster_arrived == o->cluster_arrived &&
           s->cluster_phase == o->cluster_phase && s->mask & half_lanes;
}

/* Merges splits that wait at the same point into split `keep`. */
static void merge_waiting_splits(pl_warp *w, unsigned keep, uint8_t wait, uint8_t barrier,
                                 pl_lanes half_lanes)
{
    bool any = false;
    uint16_t frame = w->split[keep].frame;
    for (unsigned k = 0; k < w->nsplits; k++)
        if (waits_at_same_point(w, k, keep, wait, barrier, half_lanes))
            for (any = true; !encloses(w, frame, w->split[k].frame);) frame = w->conv[frame].parent;
    if (!any) return;
    for (unsigned k = 0; k < w->nsplits; k++) {
        pl_simt_split *o = &w->split[k];
        if (k != keep && !waits_at_same_point(w, k, keep, wait, barrier, half_lanes)) continue;
        remove_from_frames(w, o, o->mask, frame);
    }
    for (unsigned k = 0; k < w->nsplits; k++) {
        if (!waits_at_same_point(w, k, keep, wait, barrier, half_lanes)) continue;
        w->split[keep].mask |= w->split[k].mask;
        if (keep == w->nsplits - 1u) keep = k;
        remove_split(w, k);
        k--;
    }
    update_frames(w);
}

void pl_warp_reconverge(pl_warp *w, uint8_t barrier)
{
    for (unsigned k = 0; k < w->nsplits; k++)
        if (w->split[k].wait == PL_SPLIT_BARRIER && w->split[k].barrier == barrier)
            merge_waiting_splits(w, k, PL_SPLIT_BARRIER, barrier, ~(pl_lanes)0);
}

/* Lanes wait for each other only if they have the same mask. In nested divergent code lanes may
 * wait with several masks at once, of which one is complete. */
static bool waits_with_mask(const pl_warp *w, unsigned k, pl_lanes mask)
{
    const pl_simt_split *s = &w->split[k];
    return k != w->current && s->wait == PL_SPLIT_WARP_SYNC && s->sync_mask == mask;
}

bool pl_warp_sync(pl_warp *w, uint32_t member_mask)
{
    pl_simt_split *s = &w->split[w->current];
    uint32_t pc = w->pc;
    const pl_lanes mask = pl_from_half(w, member_mask & pl_alive(w)),
                   half_lanes = pl_from_half(w, UINT32_MAX);
    if (s->synced || !(mask & ~w->all)) {
        s->synced = false;
        return true;
    }
    /* Lanes whose guard is false continue; the others return to this instruction as a split. */
    if (w->all != w->active) {
        pl_warp_diverge(w, w->all, pc, pc + 1, UINT32_MAX);
        return false;
    }
    pl_lanes present = w->active;
    pl_split_save(w);
    w->split[w->current].sync_mask = mask;
    for (unsigned k = 0; k < w->nsplits; k++)
        if (waits_with_mask(w, k, mask)) present |= w->split[k].mask;
    if (mask & ~present) {
        w->next = pc;
        pl_warp_wait(w, PL_SPLIT_WARP_SYNC);
        return false;
    }
    /* all lanes are present: splits at the same instruction merge; others (bar.warp.sync elsewhere)
     * just continue */
    merge_waiting_splits(w, w->current, PL_SPLIT_WARP_SYNC, 0, half_lanes);
    for (unsigned k = 0; k < w->nsplits; k++) {
        if (!waits_with_mask(w, k, mask)) continue;
        w->split[k].wait = PL_SPLIT_READY;
        w->split[k].synced = true;
    }
    w->active = w->split[w->current].mask;
    w->split[w->current].synced = true;
    w->next = pc; /* execute it again, with all lanes */
    return false;
}

/* Returns true if all lanes of the warp that have not exited are here; otherwise the split
 * waits. */
static bool gather_alive_lanes(pl_warp *w)
{
    const pl_lanes alive = w->lanes & ~w->exited;
    if (w->active == alive || w->split[w->current].synced) return true;
    pl_lanes present = w->active;
    pl_split_save(w);
    for (unsigned k = 0; k < w->nsplits; k++)
        if (w->split[k].wait == PL_SPLIT_ALIGNED && w->split[k].pc == w->pc)
            present |= w->split[k].mask;
    w->next = w->pc;
    if (present != alive) {
        pl_warp_wait(w, PL_SPLIT_ALIGNED);
        return false;
    }
    merge_waiting_splits(w, w->current, PL_SPLIT_ALIGNED, 0, ~(pl_lanes)0);
    /* Lanes of other calls of the function stay divergent. */
    for (unsigned k = 0; k < w->nsplits; k++) {
        w->split[k].synced = true;
        w->split[k].wait = PL_SPLIT_READY;
    }
    w->active = w->split[w->current].mask;
    return false; /* execute it again, with all lanes */
}

bool pl_bar_is_aligned(const pl_insn *i)
{
    return pl_forms[i->form].mnem == M_bar || pl_insn_has(i, W_aligned);
}

bool pl_bar_gathered(pl_warp *w, const pl_insn *i)
{
    if (pl_bar_is_aligned(i)) return gather_alive_lanes(w);
    if (w->all == w->active) return true;
    /* Lanes whose guard is false continue. */
    pl_warp_diverge(w, w->all, w->pc, w->pc + 1, UINT32_MAX);
    return false;
}

/* The result of __match_any_sync or of a labelled partition of cooperative groups serves as the
 * mask: every group of lanes has its own. If all groups are complete they execute sequentially in
 * place; otherwise they diverge. */
bool pl_warp_split_by_mask(pl_warp *w, const pl_insn *i, unsigned k)
{
    const uint32_t *row = w->regs + (size_t)i->op[k] * PL_LANES, all = w->exec,
                   first = row[__builtin_ctz(all)], alive = pl_alive(w);
    uint32_t differ = 0, group[PL_LANES], n = 0;
    for (unsigned l = 0; l < PL_LANES; l++) differ |= (row[l] ^ first) & w->mask[l];
    if (!differ) return false;
    bool complete = true;
    for (uint32_t left = all; left; left &= ~group[n++]) {
        uint32_t mask = row[__builtin_ctz(left)];
        group[n] = pl_lanes_with(row, mask, left);
        complete &= group[n] == (mask & alive);
    }
    if (!complete) {
        /* Some lanes may be gathered; others at this instruction still wait for theirs. */
        w->split[w->current].synced = false;
        pl_warp_diverge(w, pl_from_half(w, group[0]), w->pc, w->pc, UINT32_MAX);
        return true;
    }
    for (uint32_t g = 0; g < n; g++) {
        pl_warp_set_exec(w, group[g]);
        i->exec(w, i);
    }
    pl_warp_set_exec(w, all);
    w->split[w->current].synced = false;
    return true;
}
