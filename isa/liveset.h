/* liveset.h - at the end of which blocks things are live, for many things and many blocks: time and memory follow the blocks in which they are
 * live, and the stretches of neighbouring blocks, not blocks times things. */
#ifndef PL_ISA_LIVESET_H
#define PL_ISA_LIVESET_H

#include "base/arena.h"

#include <stdint.h>

/* A block touches a thing, and first of all needs what it was (read), or gives it a new value. */
typedef struct pl_touch {
    uint32_t thing, block;
    bool reads;
} pl_touch;

/* The thing is live at the end of the blocks from `first` on and in front of `end`. */
typedef struct pl_span {
    uint32_t thing, first, end;
} pl_span;

typedef struct pl_liveset {
    pl_arena *a;
    uint32_t things, blocks;
    const uint32_t *preds, *pred, *npred; /* by block: predecessors are preds[pred .. pred + npred] */
    struct { pl_touch *at; size_t n, cap; } touches; /* one for each thing and block */
    struct { pl_span *at; size_t n, cap; } spans;    /* what pl_liveset_solve finds; those of one thing in order */
} pl_liveset;

static inline void pl_liveset_touch(pl_liveset *s, uint32_t thing, uint32_t block, bool reads)
{
    *pl_push(s->a, &s->touches) = (pl_touch){thing, block, reads};
}

/* False: out of memory. */
bool pl_liveset_solve(pl_liveset *s);

#endif
