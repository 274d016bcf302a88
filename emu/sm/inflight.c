/* inflight.c - the table of operations in flight; see inflight.h. */
#include "emu/sm/inflight.h"
#include "emu/exec/async/async.h"
#include <assert.h>

enum { OTHERS = 16 }; /* completions of one step that are not operations in flight */

uint64_t pl_inflight_bytes(uint32_t n, bool events)
{
    const uint64_t entry =
        sizeof(pl_inflight) + sizeof(uint32_t) + (events ? sizeof(pl_pending_event) : 0);
    return n * entry + (uint64_t)(n + OTHERS) * sizeof(pl_completion);
}

void pl_inflight_init(pl_inflight_table *x, pl_arena *sparse, uint32_t n, const pl_sink *sink)
{
    *x = (pl_inflight_table){.n = n, .last = PL_NO_TOKEN, .async_at = PL_NEVER, .sink = sink};
    x->at = pl_arena_array(sparse, pl_inflight, n);
    if (sink && sink->mem) x->pending_event = pl_arena_array(sparse, pl_pending_event, n);
    x->free = pl_arena_array(sparse, uint32_t, n);
    x->completed = pl_arena_array(sparse, pl_completion, n + OTHERS);
}

uint32_t pl_inflight_new(pl_inflight_table *x, pl_sm_warp *t, uint16_t warp, uint32_t pc,
                         uint64_t now, uint64_t seq, uint8_t kind)
{
    assert(x->used < x->n && "pl_lsu_accepts was asked before the instruction issued");
    uint32_t slot = x->nfree ? x->free[--x->nfree] : x->first_unused++;
    x->used++;
    x->last = slot;
    t->outstanding++;
    x->at[slot] = (pl_inflight){.id = ++x->generation << 16 | slot,
                                .issued = now,
                                .seq = seq,
                                .pc = pc,
                                .remaining = 1,
                                .barrier = UINT32_MAX,
                                .warp = warp,
                                .age = t->age,
                                .scoreboard = PL_SB_NONE,
                                .kind = kind,
                                .level = PL_LV_L1};
    return slot;
}

/* Emits the memory event that was deferred for this entry. */
static void emit_deferred_event(pl_inflight_table *x, uint32_t slot)
{
    pl_inflight *k = &x->at[slot];
    pl_mem_event *e = &x->pending_event[slot].event;
    k->event_deferred = false;
    if (k->level > e->level) e->level = k->level;
    if (k->remaining == 0) e->latency = (uint32_t)(k->ready - k->issued);
    x->sink->mem(x->sink->ctx, e);
}

void pl_inflight_emit_rest(pl_inflight_table *x)
{
    for (uint32_t k = 0; x->pending_event && k < x->first_unused; k++)
        if (x->at[k].event_deferred) emit_deferred_event(x, k);
}

void pl_inflight_complete(pl_inflight_table *x, uint32_t slot, uint64_t ready)
{
    pl_inflight *k = &x->at[slot];
    k->ready = ready;
    if (k->owner) {
        pl_async_done(k->owner, k->id, ready);
        if (ready < x->async_at) x->async_at = ready;
    }
    if (k->event_deferred) emit_deferred_event(x, slot);
    if (k->inst_event_pending) x->sink->done(x->sink->ctx, k->seq, (uint32_t)(ready - k->issued));
    x->free[x->nfree++] = slot;
    x->used--;
    pl_completion_add(x, (pl_completion){.ready = ready,
                                         .id = k->id,
                                         .age = k->age,
                                         .warp = k->warp,
                                         .what = PL_COMPLETED_INFLIGHT,
                                         .scoreboard = k->scoreboard,
                                         .group = k->group,
                                         .copy = k->copy,
                                         .bulk = k->bulk});
}
