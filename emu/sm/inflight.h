/* inflight.h - operations in flight, whose completion time is not known when they issue (loads,
 * atomics, copies), and their completions.
 *
 * A unit allocates an entry with pl_inflight_new and ends it with pl_inflight_complete. Its
 * consequences for warps are recorded in the list of completions. Units never call the issue stage,
 * which processes the list when a unit has returned (completion.c). */
#ifndef PL_EMU_SM_INFLIGHT_H
#define PL_EMU_SM_INFLIGHT_H

#include "base/event.h"
#include "emu/sm/warp_state.h"

#define PL_NO_TOKEN UINT32_MAX

/* An operation whose completion time is not known when it starts: a load, an atomic, a copy. */
typedef struct pl_inflight {
    uint64_t id;             /* different for each use of the slot; never 0 */
    uint64_t ready;          /* cycle of the result, once complete */
    uint64_t earliest_ready; /* earliest cycle of the result */
    uint64_t issued, seq;    /* of the instruction, for events */
    uint32_t pc;
    uint32_t remaining; /* fills and replies still missing; 0: complete */
    uint32_t barrier;   /* bulk copies: shared address of the mbarrier, UINT32_MAX: none */
    uint16_t warp;      /* timing warp that issued it */
    uint32_t age;       /* of that warp */
    uint8_t scoreboard; /* the scoreboard that it releases, PL_SB_NONE: none */
    uint8_t kind;       /* PL_SB_* */
    uint8_t level;      /* pl_level: slowest so far */
    uint8_t group;      /* cp.async: its group */
    uint8_t passes;     /* of a load through the banks, once its data have arrived; 0: none */
    bool copy, bulk;
    pl_warp *owner; /* --async timed: the warp whose operations take effect on its completion, or
                       NULL */
    bool event_deferred;     /* its memory event is in pl_inflight_table.pending_event until it
                                completes */
    bool inst_event_pending; /* the event of its instruction has no latency yet */
} pl_inflight;

/* A memory event that waits for its token, because level and latency are not known earlier. */
typedef struct pl_pending_event {
    pl_mem_event event;
    uint64_t addr[PL_LANES];
} pl_pending_event;

typedef enum pl_completion_kind {
    PL_COMPLETED_INFLIGHT, /* an operation in flight */
    PL_COMPLETED_READ,     /* a queued access has read its registers */
    PL_COMPLETED_QUEUED,   /* a queued access has left the queue of the L1 */
    PL_COMPLETED_STORE     /* the L2 has answered a store or an atomic */
} pl_completion_kind;

/* A completion in a unit, for the warps that wait for it. */
typedef struct pl_completion {
    uint64_t ready; /* cycle of the result */
    uint64_t id;    /* of the operation */
    uint32_t age;   /* of the warp: another warp may occupy its slot by now */
    uint16_t warp;
    uint8_t what;       /* pl_completion_kind */
    uint8_t scoreboard; /* the scoreboard that it releases, PL_SB_NONE: none */
    uint8_t group;      /* cp.async */
    bool copy, bulk;
} pl_completion;

typedef struct pl_inflight_table {
    pl_inflight *at;
    pl_pending_event *pending_event; /* by entry; NULL without a listener */
    uint32_t n, used;
    uint32_t first_unused; /* entries from here on were never used */
    uint32_t *free;        /* a stack: recently used entries are still in the host's caches */
    uint32_t nfree;
    uint64_t generation;
    uint32_t last;       /* last allocated entry, PL_NO_TOKEN: none by the issuing instruction */
    uint64_t async_at;   /* --async timed: when the next operation takes effect, PL_NEVER:
                            unknown */
    const pl_sink *sink; /* not owned */
    pl_completion *completed;
    uint32_t ncompleted;
} pl_inflight_table;

/* Bytes that pl_inflight_init allocates; events: a listener receives memory events. */
uint64_t pl_inflight_bytes(uint32_t n, bool events);
/* `sparse`: an arena whose memory mostly stays untouched. */
void pl_inflight_init(pl_inflight_table *x, pl_arena *sparse, uint32_t n, const pl_sink *sink);
uint32_t pl_inflight_new(pl_inflight_table *x, pl_sm_warp *t, uint16_t warp, uint32_t pc,
                         uint64_t now, uint64_t seq, uint8_t kind);
/* Completes the entry; its result is available at cycle `ready`. */
void pl_inflight_complete(pl_inflight_table *x, uint32_t slot, uint64_t ready);
/* Emits the memory events of entries that never completed. */
void pl_inflight_emit_rest(pl_inflight_table *x);

/* A part of the operation completes at cycle `at`. True: it was the last one. */
static inline bool pl_inflight_arrive(pl_inflight *k, uint64_t at)
{
    if (at > k->earliest_ready) k->earliest_ready = at;
    return --k->remaining == 0;
}

static inline void pl_completion_add(pl_inflight_table *x, pl_completion c)
{
    x->completed[x->ncompleted++] = c;
}

/* The destination of d is written when the token, which is still pending, completes. */
static inline void pl_scoreboard_result_later(pl_sm_warp *t, const pl_decoded_insn *d,
                                              pl_inflight *k)
{
    if (d->code.write_barrier == PL_SB_NONE) return;
    k->scoreboard = d->code.write_barrier;
    t->sb[d->code.write_barrier].pending++;
    t->sb[d->code.write_barrier].kind = k->kind;
}

#endif
