/* warp_state.h - a resident warp and a resident block as the issue stage sees them: scoreboards,
 * what the warp waits for, and the cycles from which it may issue. */
#ifndef PL_EMU_SM_WARP_STATE_H
#define PL_EMU_SM_WARP_STATE_H

#include "emu/exec/exec.h"
#include "compiler/codegen/control_codes.h"
#include "emu/sm/decode.h"

enum {
    PL_SM_WARPS = 64, /* most warps of an SM */
    PL_GROUPS = 16    /* groups of cp.async or wgmma that a warp may have open */
};
#define PL_NEVER UINT64_MAX

/* What kind of instruction made a result of variable latency. */
enum { PL_SB_SHORT, PL_SB_LONG, PL_SB_BANK };

/* One of the counters of a warp for results of variable latency (control_codes.h). */
typedef struct pl_scoreboard {
    uint64_t ready;   /* when the last of its results whose cycle is known is there */
    uint32_t pending; /* results whose cycle is not known yet */
    uint8_t kind;     /* PL_SB_* of the one that is there last, as far as that is known */
} pl_scoreboard;

struct pl_sm_cta;

/* What a warp waits for when its next instruction's cycle is not known. */
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

/* A resident warp as the scheduler sees it. */
typedef struct pl_sm_warp {
    pl_warp *w; /* NULL: slot is free */
    struct pl_sm_cta *cta;
    pl_scoreboard sb[PL_SB_COUNT];
    const pl_decoded_insn *next; /* instruction to issue, NULL while it is not known */
    uint64_t started;
    uint64_t issued;     /* cycle of the last issue */
    uint64_t stall;      /* until when the stall count of the last instruction holds it */
    uint64_t deps_ready; /* when `next` can issue as far as stall counts and scoreboards go */
    uint64_t not_before; /* earliest cycle by control flow, fetch, barriers */
    /* Of these cycles, those after a branch in which it fetches from there. */
    uint32_t refetch_cycles;
    uint64_t late_result[PL_PRODUCTS]; /* ring: when the results of its last wide products are there
                                      (products.tsv) */
    uint32_t nlate_results;            /* that it has issued */
    uint64_t reissue_at;   /* earliest cycle of an instruction for the unit that it has just used
                         (op.NAME.warp_reissue) */
    uint64_t awaited_copy; /* its mbarrier's bulk copy, whose end scoreboard awaited_copy_sb waits
                              for; 0: none */
    uint8_t awaited_copy_sb;
    uint64_t fetch_line; /* instruction line it fetched last */
    uint64_t wgmma_done, wgmma_group[PL_GROUPS];
    uint32_t outstanding; /* tokens under way, but for those of bulk copies: what comes back needs
                         the warp's registers, or its block's memory */
    uint32_t queued;      /* accesses that wait for room in the memory system (pl_lsu_entry) */
    uint32_t exit_pc;     /* PL_WAIT_QUEUED: instruction that ended it */
    uint64_t stores_sent_at; /* when the last of them has left the SM, if nothing is in the way */
    uint64_t last_request;   /* its number among those of the SM */
    uint64_t remote_done;    /* when its accesses to other SMs of the cluster are done */
    uint32_t age;            /* order of arrival on the SM */
    uint32_t copies[PL_GROUPS]; /* cp.async under way by group */
    uint64_t copied[PL_GROUPS]; /* when the last of a group that is no longer under way is there */
    uint32_t wgmma_open;
    uint8_t open_group; /* cp.async group being filled */
    /* pl_stall: of dependences, control flow, units. */
    uint8_t dep_reason, not_before_reason, structural_reason;
    uint8_t wait;        /* pl_wait_reason */
    uint64_t fence_from; /* when it came to the fence that is next and all that it did before had
                            room; 0: not yet */
    uint64_t fence_mark; /* requests of the SM that were made before */
    bool drained;        /* the fence has waited for them */
    uint64_t answered;   /* until then; 0: it has not, or does so still */
    bool copy_ended;     /* PL_WAIT_TRY: a copy has ended meanwhile */
    bool released; /* the fence of its next instruction, an access that releases, is over when that
                      can issue */
} pl_sm_warp;

/* A resident block. */
typedef struct pl_sm_cta {
    pl_cta *cta;   /* NULL: free */
    uint32_t live; /* warps not done */
    uint32_t age;  /* of its first warp */
    uint64_t started;
    bool accessed;     /* memory, since its last barrier */
    uint32_t releases; /* of pl_cta.releases, those that its warps know of */
    uint64_t fenced;   /* end of the last fence before an arrival at its cluster's barrier */
} pl_sm_cta;

/* Something that a scoreboard counts is there at cycle `ready`. */
static inline void pl_scoreboard_until(pl_scoreboard *sb, uint64_t ready, uint8_t kind)
{
    if (ready <= sb->ready) return;
    sb->ready = ready;
    if (!sb->pending) sb->kind = kind;
}

/* What d writes is there at cycle `ready`. */
static inline void pl_scoreboard_result(pl_sm_warp *t, const pl_decoded_insn *d, uint64_t ready,
                                        uint8_t kind)
{
    if (d->code.write_barrier == PL_SB_NONE) return;
    pl_scoreboard_until(&t->sb[d->code.write_barrier], ready, kind);
}

/* At cycle `at` d has read its registers. */
static inline void pl_scoreboard_read(pl_sm_warp *t, const pl_decoded_insn *d, uint64_t at,
                                      uint8_t kind)
{
    if (d->code.read_barrier == PL_SB_NONE) return;
    pl_scoreboard_until(&t->sb[d->code.read_barrier], at, kind);
}

#endif
