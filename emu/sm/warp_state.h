/* warp_state.h - a resident warp and a resident block as seen by the issue stage: scoreboards, the
 * events that the warp waits for, and the cycles from which it may issue. */
#ifndef PL_EMU_SM_WARP_STATE_H
#define PL_EMU_SM_WARP_STATE_H

#include "emu/exec/exec.h"
#include "compiler/codegen/control_codes.h"
#include "emu/sm/decode.h"

enum {
    PL_SM_WARPS = 64, /* maximum warps of an SM */
    PL_GROUPS = 16    /* maximum pending groups of cp.async or wgmma of a warp */
};
#define PL_NEVER UINT64_MAX

/* The kind of instruction that produced a result with variable latency. */
enum { PL_SB_SHORT, PL_SB_LONG, PL_SB_BANK };

/* One of the counters of a warp for results with variable latency (control_codes.h). */
typedef struct pl_scoreboard {
    uint64_t ready;   /* cycle at which the last of its results with a known cycle is available */
    uint32_t pending; /* results whose cycle is still unknown */
    uint8_t kind;     /* PL_SB_* of the latest one, as far as known */
} pl_scoreboard;

struct pl_sm_cta;

/* The event that a warp waits for when the cycle of its next instruction is unknown. */
typedef enum pl_wait_reason {
    PL_WAIT_NONE,
    PL_WAIT_TOKEN,
    PL_WAIT_BARRIER,
    PL_WAIT_SLEEP,
    PL_WAIT_STORES,
    PL_WAIT_QUEUED,
    PL_WAIT_COPIES,
    PL_WAIT_FETCH,
    PL_WAIT_CONSTANT,
    PL_WAIT_TRY,
    PL_WAIT_DONE
} pl_wait_reason;

/* A resident warp as seen by the scheduler. */
typedef struct pl_sm_warp {
    pl_warp *w; /* NULL: slot is free */
    struct pl_sm_cta *cta;
    pl_scoreboard sb[PL_SB_COUNT];
    const pl_decoded_insn *next; /* instruction to issue, NULL while it is unknown */
    uint64_t started;
    uint64_t issued;     /* cycle of the last issue */
    uint64_t stall;      /* cycle until which the stall count of the last instruction holds it */
    uint64_t deps_ready; /* cycle at which stall counts and scoreboards permit `next` to issue */
    uint64_t not_before; /* earliest cycle by control flow, fetch, barriers */
    /* Those of these cycles in which it refetches after a branch. */
    uint32_t refetch_cycles;
    uint64_t late_result[PL_PRODUCTS]; /* ring: cycles at which the results of its last wide
                                          products are available (products.tsv) */
    uint32_t nlate_results;            /* number of them issued */
    uint64_t reissue_at;   /* earliest cycle of an instruction for the unit that it last used
                              (op.NAME.warp_reissue) */
    uint64_t awaited_copy; /* the bulk copy of its mbarrier, for whose end scoreboard
                              awaited_copy_sb waits; 0: none */
    uint8_t awaited_copy_sb;
    uint64_t fetch_line; /* last fetched instruction line */
    uint64_t wgmma_done, wgmma_group[PL_GROUPS];
    uint32_t outstanding;    /* pending tokens, except those of bulk copies: their replies need the
                                warp's registers, or its block's memory */
    uint32_t queued;         /* accesses that wait for space in the memory system (pl_lsu_entry) */
    uint32_t exit_pc;        /* PL_WAIT_QUEUED: pc at which it exited */
    uint64_t stores_sent_at; /* cycle at which its last store leaves the SM, if it is not delayed */
    uint64_t last_request;   /* number of its last request among those of the SM */
    uint64_t remote_done;    /* cycle at which its accesses to other SMs of the cluster have
                                completed */
    uint32_t age;            /* order of arrival on the SM */
    uint32_t copies[PL_GROUPS];         /* cp.async operations in flight, by group */
    uint64_t copies_done_at[PL_GROUPS]; /* completion cycle of the last of a group that is no longer
                                   in flight */
    uint32_t wgmma_open;
    uint8_t open_group; /* open cp.async group */
    /* pl_stall: of dependences, control flow, units. */
    uint8_t dep_reason, not_before_reason, structural_reason;
    uint8_t wait;        /* pl_wait_reason */
    uint64_t fence_from; /* cycle at which it reached the fence that is next and all its preceding
                            accesses had space; 0: not yet */
    uint64_t fence_mark; /* requests of the SM issued before that */
    bool fence_waited;   /* the fence has waited for them */
    uint64_t
        fence_answered_at;   /* cycle at which they were answered; 0: no wait, or still waiting */
    bool copy_ended;         /* PL_WAIT_TRY: a copy has completed meanwhile */
    bool release_fence_done; /* the fence of its next instruction, a releasing access, has completed
                      when that can issue */
} pl_sm_warp;

/* A resident block. */
typedef struct pl_sm_cta {
    pl_cta *cta;   /* NULL: free */
    uint32_t live; /* number of warps that have not exited */
    uint32_t age;  /* of its first warp */
    uint64_t started;
    bool accessed;      /* it has accessed memory since its last barrier */
    uint32_t releases;  /* the value of pl_cta.releases known to its warps */
    uint64_t fence_end; /* end of the last fence before an arrival at its cluster barrier */
} pl_sm_cta;

/* An event counted by a scoreboard occurs at cycle `ready`. */
static inline void pl_scoreboard_until(pl_scoreboard *sb, uint64_t ready, uint8_t kind)
{
    if (ready <= sb->ready) return;
    sb->ready = ready;
    if (!sb->pending) sb->kind = kind;
}

/* The destination of d is written at cycle `ready`. */
static inline void pl_scoreboard_result(pl_sm_warp *t, const pl_decoded_insn *d, uint64_t ready,
                                        uint8_t kind)
{
    if (d->code.write_barrier == PL_SB_NONE) return;
    pl_scoreboard_until(&t->sb[d->code.write_barrier], ready, kind);
}

/* d has read its registers at cycle `at`. */
static inline void pl_scoreboard_read(pl_sm_warp *t, const pl_decoded_insn *d, uint64_t at,
                                      uint8_t kind)
{
    if (d->code.read_barrier == PL_SB_NONE) return;
    pl_scoreboard_until(&t->sb[d->code.read_barrier], at, kind);
}

#endif
