/* live_spans.h - computes at the end of which blocks values are live, for many values and many
 * blocks. Time and memory are proportional to the blocks in which values are live, and to the
 * intervals of adjacent blocks, not to blocks times values. */
#ifndef PL_COMPILER_ANALYSIS_LIVE_SPANS_H
#define PL_COMPILER_ANALYSIS_LIVE_SPANS_H

#include "base/arena.h"
#include "isa/program/cfg.h"

#include <stdint.h>

/* A block accesses a value: the first access either reads the previous content or overwrites it. */
typedef struct pl_access_point {
    uint32_t value, block;
    bool reads;
} pl_access_point;

/* The value is live at the end of blocks `first` to `end` - 1. */
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
    } accesses; /* one for each value and block */
    struct {
        pl_live_span *at;
        size_t n, cap;
    } spans;                /* found by pl_live_spans_solve; the spans of one value are in order */
    uint32_t *first, *flip; /* pl_live_spans_index: by block, the values whose liveness at its end
                               differs from that at the end of the preceding block */
    uint32_t at;            /* the block visited last, UINT32_MAX: none */
} pl_live_spans;

static inline void pl_live_spans_access(pl_live_spans *s, uint32_t value, uint32_t block,
                                        bool reads)
{
    *pl_push(s->a, &s->accesses) = (pl_access_point){value, block, reads};
}

/* Initialises empty spans over the blocks of linear code, which stays open. Returns false when out
 * of memory. */
bool pl_live_spans_of_cfg(pl_live_spans *s, pl_arena *a, const pl_cfg *g);
/* Finds the spans from the accesses. Returns false when out of memory. */
bool pl_live_spans_solve(pl_live_spans *s);

/* For passes that move from block to block. Returns false when out of memory. */
bool pl_live_spans_index(pl_live_spans *s);
/* Moves to the end of a block, calling `toggle` for each value that becomes live or dead on the
 * way. Initially none is live. */
void pl_live_spans_go_to(pl_live_spans *s, uint32_t block,
                         void (*toggle)(void *ctx, uint32_t value), void *ctx);

#endif
