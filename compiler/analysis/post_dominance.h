/* post_dominance.h - immediate post-dominators: where lanes that diverge at a branch reconverge at
 * the latest.
 *
 * Dominators of the reversed graph, with block number n after all exits. PL_IR_NONE: no exit is
 * reached. Numbers increase towards the exits. */
#ifndef PL_COMPILER_ANALYSIS_POST_DOMINANCE_H
#define PL_COMPILER_ANALYSIS_POST_DOMINANCE_H

#include "compiler/ir/ir.h"

typedef struct pl_post_dominance {
    uint32_t *ipdom, *rpo_index; /* by block, and of n */
    uint32_t n;
    uint32_t *rpo, nrpo;    /* the blocks that have one */
    uint32_t *stack, *edge; /* working memory */
} pl_post_dominance;

/* After pl_ir_graph; memory comes from the pass's arena. False: out of memory. */
bool pl_post_dominance_find(pl_post_dominance *to, pl_ir *x);

/* The same for lanes that stay in a loop: of its blocks only, with n after an iteration of it. Room
 * for pl_loop_post_dominance_find, which finds those of the loop with this header, and forgets
 * those of the one before.
 */
bool pl_loop_post_dominance_alloc(pl_post_dominance *to, pl_ir *x);
void pl_loop_post_dominance_find(pl_post_dominance *to, pl_ir *x, uint32_t header);
bool pl_ir_loop_contains(const pl_ir *x, uint32_t b, uint32_t header);

#endif
