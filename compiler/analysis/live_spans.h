/* live_spans.h - at the end of which blocks things are live, for many things and many blocks. Time
 * and memory follow the blocks in which they are live, and the intervals of neighbouring blocks,
 * not blocks times things. */
#ifndef PL_COMPILER_ANALYSIS_LIVE_SPANS_H
#define PL_COMPILER_ANALYSIS_LIVE_SPANS_H

#include "base/arena.h"

#include <stdint.h>

/* A block touches a thing, and first of all needs what it was (read), or gives it a new value. */
typedef struct pl_access_point {
    uint32_t value, block;
    bool reads;
} pl_access_point;

/* The thing is live at the end of the blocks from `first` on and before `end`. */
typedef struct pl_live_span {
    uint32_t value, first, end;
} pl_live_span;

typedef struct pl_live_spans {
    pl_arena *a;
    uint32_t values, blocks;
    /* By block: predecessors are preds[pred .. pred + npred]. */
    const uint32_t *preds, *pred, *npred;
    struct {
        pl_access_point *at;
        size_t n, cap;
    } accesses; /* one for each thing and block */
    struct {
        pl_live_span *at;
        size_t n, cap;
    } spans;                /* what pl_live_spans_solve finds; those of one thing in order */
    uint32_t *first, *flip; /* pl_live_spans_index: by block, things that are live at its end and
                               not at that of the block before it, or vice versa */
    uint32_t at;            /* the block whose end was gone to last, UINT32_MAX: none */
} pl_live_spans;

static inline void pl_live_spans_access(pl_live_spans *s, uint32_t thing, uint32_t block,
                                        bool reads)
{
    *pl_push(s->a, &s->accesses) = (pl_access_point){thing, block, reads};
}

/* False: out of memory. */
bool pl_live_spans_solve(pl_live_spans *s);

/* For passes that go from block to block. False: out of memory. */
bool pl_live_spans_index(pl_live_spans *s);
/* Goes to the end of a block: `turn` hears of each thing that begins or ceases to be live on the
 * way. At first nothing is. */
void pl_live_spans_go_to(pl_live_spans *s, uint32_t block, void (*turn)(void *ctx, uint32_t thing),
                         void *ctx);

#endif
