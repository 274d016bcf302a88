/* post_dominance.h - immediate post-dominators: the latest point where lanes that diverge at a
 * branch reconverge.
 *
 * They are the dominators of the reversed graph, with virtual block n after all exits. PL_IR_NONE:
 * no exit is reachable. Numbers increase towards the exits. */
#ifndef PL_COMPILER_ANALYSIS_POST_DOMINANCE_H
#define PL_COMPILER_ANALYSIS_POST_DOMINANCE_H

#include "compiler/ir/ir.h"

typedef struct pl_post_dominance {
    uint32_t *ipdom, *rpo_index; /* by block, including n */
    uint32_t n;
    uint32_t *rpo, nrpo;    /* the blocks that have a post-dominator */
    uint32_t *stack, *edge; /* working memory */
} pl_post_dominance;

/* Requires pl_ir_graph; allocates from the pass's arena. Returns false when out of memory. */
bool pl_post_dominance_find(pl_post_dominance *to, pl_ir *x);

/* The same within one iteration of a loop: for its blocks only, with n after the iteration. alloc
 * reserves memory; find computes the result for the loop with this header and discards the previous
 * one. */
bool pl_loop_post_dominance_alloc(pl_post_dominance *to, pl_ir *x);
void pl_loop_post_dominance_find(pl_post_dominance *to, pl_ir *x, uint32_t header);
bool pl_ir_loop_contains(const pl_ir *x, uint32_t b, uint32_t header);

#endif
