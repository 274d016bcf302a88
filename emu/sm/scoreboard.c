/* scoreboard.c - computes the cycle from which a warp can issue its next instruction.
 *
 * It is known as soon as the warp has issued: the latest of its stall count, its scoreboards, the
 * other events that the instruction waits for, the end of a branch or barrier, and its instruction
 * line. Otherwise it is unknown, and the awaited event wakes the warp. */
#include "emu/sm/units.h"

/* The warp waits for an event whose cycle is unknown. */
static void wait_for(pl_sm *s, pl_sm_warp *t, pl_wait_reason wait)
{
    t->wait = (uint8_t)wait;
    pl_warp_set_ready(s, pl_warp_index(s, t), PL_NEVER);
}

/* Dependences permit `next` to issue from cycle `at` on. */
static void depends_until(pl_sm_warp *t, uint64_t at, uint8_t reason)
{
    if (at <= t->deps_ready) return;
    t->deps_ready = at;
    t->dep_reason = reason;
}

/* False: its instruction line is being fetched. */
static bool fetch_ready(pl_sm *s, pl_sm_warp *t, uint64_t now)
{
    const uint64_t line = PL_FETCH_BASE + (t->next->address & ~(uint32_t)(s->m->fetch.line - 1));
    if (line == t->fetch_line) return true;
    const uint64_t at = pl_icache_fetch(s, pl_subcore_of(s, pl_warp_index(s, t)), line, now);
    if (at == PL_NEVER) {
        t->not_before_reason = PL_STALL_NO_INSTRUCTION;
        wait_for(s, t, PL_WAIT_FETCH);
        return false;
    }
    t->fetch_line = line;
    if (at > t->not_before) {
        t->not_before = at;
        t->not_before_reason = PL_STALL_NO_INSTRUCTION;
    }
    return true;
}

/* False: a result that it waits for has no known cycle yet. */
static bool results_ready(pl_sm *s, pl_sm_warp *t)
{
    /* by PL_SB_* */
    static const uint8_t reason[] = {PL_STALL_SHORT_SCOREBOARD, PL_STALL_LONG_SCOREBOARD,
                                     PL_STALL_IMC_MISS};
    t->deps_ready = t->stall;
    t->dep_reason = PL_STALL_WAIT;
    for (unsigned mask = t->next->code.wait_mask; mask; mask &= mask - 1) {
        const pl_scoreboard *sb = &t->sb[__builtin_ctz(mask)];
        if (sb->pending) {
            t->dep_reason = reason[sb->kind];
            wait_for(s, t, PL_WAIT_TOKEN);
            return false;
        }
        depends_until(t, sb->ready, reason[sb->kind]);
    }
    return true;
}

/* False: copies of the groups that it waits for are in flight. A proxy fence waits for all groups
 * (metrics.tsv membar of group_tiles_in_a_long_loop). */
static bool copies_ready(pl_sm *s, pl_sm_warp *t)
{
    const pl_decoded_insn *d = t->next;
    const uint8_t reason =
        d->kind == PL_KIND_COPY_WAIT ? PL_STALL_LONG_SCOREBOARD : PL_STALL_MEMBAR;
    uint32_t in_flight = d->wait_n == 0 ? t->copies[t->open_group] : 0;
    uint64_t copied = d->wait_n == 0 ? t->copies_done_at[t->open_group] : 0;
    for (uint32_t k = d->wait_n; k < PL_GROUPS; k++) {
        const uint32_t g = (t->open_group + 2u * PL_GROUPS - k - 1) % PL_GROUPS;
        in_flight += t->copies[g];
        if (t->copies_done_at[g] > copied) copied = t->copies_done_at[g];
    }
    depends_until(t, copied, reason);
    if (!in_flight) return true;
    t->dep_reason = reason;
    wait_for(s, t, PL_WAIT_COPIES);
    return false;
}

/* A wait for groups of wgmma. */
static void apply_wgmma_wait(pl_sm_warp *t)
{
    const uint32_t n = t->next->wait_n;
    const uint64_t done = n == 0 ? t->wgmma_done
                          : n < t->wgmma_open && n < PL_GROUPS
                              ? t->wgmma_group[(t->wgmma_open - 1 - n) % PL_GROUPS]
                              : 0;
    if (done > t->deps_ready) t->deps_ready = done;
    t->dep_reason = PL_STALL_MATH_PIPE;
}

/* A fence waits until all requests that its SM has sent before are answered (fence.tsv: including
 * stores of other warps). False: some are outstanding. */
static bool fence_ready(pl_sm *s, pl_sm_warp *t, uint64_t now)
{
    if (t->fence_answered_at) return true;
    if (!t->fence_from && !t->queued) {
        t->fence_mark = s->requests;
        t->fence_from = t->deps_ready > t->not_before ? t->deps_ready : t->not_before;
        if (t->fence_waited && now > t->fence_from) t->fence_from = now;
        if (t->stores_sent_at > t->fence_from) t->fence_from = t->stores_sent_at;
    }
    if (!t->queued && s->requests - s->requests_out >= t->fence_mark) {
        if (t->fence_waited) t->fence_answered_at = now;
        return true;
    }
    if (t->fence_from && t->fence_mark < s->fence_waits_for) s->fence_waits_for = t->fence_mark;
    t->fence_waited = true;
    t->dep_reason = PL_STALL_MEMBAR;
    wait_for(s, t, PL_WAIT_STORES);
    return false;
}

/* Checks the events it waits for in addition to scoreboards. False: one of them has no known cycle
 * yet. */
static bool async_ready(pl_sm *s, pl_sm_warp *t, uint64_t now)
{
    const pl_decoded_insn *d = t->next;
    switch ((pl_kind)d->kind) {
    case PL_KIND_COPY_WAIT:
    case PL_KIND_FENCE_PROXY: return copies_ready(s, t);
    case PL_KIND_WGMMA_WAIT: apply_wgmma_wait(t); return true;
    default: return !d->fence || t->release_fence_done || fence_ready(s, t, now);
    }
}

void pl_scoreboard_settle(pl_sm *s, pl_sm_warp *t, uint64_t now)
{
    const pl_decoded_insn *d = t->next;
    t->wait = PL_WAIT_NONE;
    if (!fetch_ready(s, t, now) || !results_ready(s, t) || !async_ready(s, t, now)) return;
    depends_until(t, t->fence_answered_at, PL_STALL_MEMBAR);
    uint64_t at = t->deps_ready > t->not_before ? t->deps_ready : t->not_before;
    if (at < t->issued + 1) at = t->issued + 1;
    if (d->price->warp_reissue && at < t->reissue_at) at = t->reissue_at;
    if (d->code.interlock && d->code.interlock <= t->nlate_results) {
        const uint64_t available =
            t->late_result[(t->nlate_results - d->code.interlock) % PL_PRODUCTS];
        if (at < available) {
            at = available;
            t->structural_reason = PL_STALL_DISPATCH;
        }
    }
    pl_warp_set_ready(s, pl_warp_index(s, t), at);
}

void pl_scoreboard_wake(pl_sm *s, uint32_t warp, uint64_t now)
{
    pl_sm_warp *t = &s->warp[warp];
    if (t->w && t->next) pl_scoreboard_settle(s, t, now);
}

void pl_scoreboard_wake_all(pl_sm *s, pl_wait_reason reason, uint64_t now)
{
    for (uint32_t k = 0; k < s->m->sm.warps; k++)
        if (s->warp[k].w && s->warp[k].wait == reason) pl_scoreboard_wake(s, k, now);
}

void pl_scoreboard_end_wait(pl_sm *s, pl_sm_warp *t, uint8_t scoreboard, uint64_t ready)
{
    pl_scoreboard *sb = &t->sb[scoreboard];
    sb->pending--;
    if (ready > sb->ready) sb->ready = ready;
    if (!sb->pending && t->wait == PL_WAIT_TOKEN) pl_scoreboard_settle(s, t, s->now);
}
